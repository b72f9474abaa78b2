/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collective calls as nccl-tests play them: for each size from `begin` to `end`, `warmup` calls and
 * then, all ranks together, `iterations` calls that the hosts enqueue one after the other. The time
 * of a call is that of the iterations over their number, from the first enqueue on.
 *
 * `compile = whole` makes one work packet of all iterations of a size: the host enqueues once. With
 * omit_set a SET is left out, to see how a graph that hangs is told: the run ends with exit code 3.
 * Source: nccl-tests (b, e, f, n, w); HCCL (SOURCES.md 2.4).
 */
#include "sim/core/units.h"
#include "workloads/hccl_config.h"

enum compile { COMPILE_CALLS, COMPILE_WHOLE };

struct calls_config {
    struct hccl_config hccl;
    int64_t collective, begin, end, factor, iterations, warmup, type_bytes, root, skew, compile;
    int64_t omit_set;
};

static const struct param params[] = {
    PARAM(CHOICE, struct calls_config, collective, "allreduce", NULL, NULL, HCCL_KINDS,
          "The collective.", "our choice"),
    PARAM(BYTES, struct calls_config, begin, "1MiB", "1B", NULL, NULL,
          "Smallest size S, as nccl-tests' -b.", "our choice"),
    PARAM(BYTES, struct calls_config, end, "0B", "0B", NULL, NULL,
          "Largest size, as -e; 0: the smallest alone.", "our choice"),
    PARAM(NUMBER, struct calls_config, factor, "2", "2", "1048576", NULL,
          "From a size to the next, as -f.", "nccl-tests"),
    PARAM(NUMBER, struct calls_config, iterations, "5", "1", "1000000", NULL,
          "Calls of a size that are timed, as -n.", "our choice: nccl-tests' 20 take longer"),
    PARAM(NUMBER, struct calls_config, warmup, "1", "0", "1000000", NULL,
          "Calls before them, as -w; after the first, the device has the work packet.",
          "our choice"),
    PARAM(NUMBER, struct calls_config, type_bytes, "4", "1", "8", NULL,
          "Bytes of a value, for the count in the table.", "nccl-tests: float"),
    PARAM(NUMBER, struct calls_config, root, "0", "0", NULL, NULL, "Root of a broadcast.",
          "nccl-tests"),
    PARAM(RATIO, struct calls_config, skew, "0", "0", "1", NULL,
          "All-to-all: parts differ by up to this share of S / n (all-to-all-v).",
          "our choice: equal parts"),
    PARAM(CHOICE, struct calls_config, compile, "calls", NULL, NULL, "calls|whole",
          "Each call a work packet, or all iterations of a size one.", "SOURCES.md 2.4"),
    PARAM(NUMBER, struct calls_config, omit_set, "-1", "-1", NULL, NULL,
          "Leave out this SET of the graph, from 0: it hangs; -1: none.", "our choice: whole"),
    HCCL_PARAMS(struct calls_config),
    PARAM_END};

struct calls {
    const struct calls_config *config;
    struct build *notes;
    struct hccl_layout layout;
    struct hccl_program program;
    struct schedule *schedule;
};

static const char *name_of(const struct calls_config *config)
{
    if (config->collective == HCCL_ALLTOALL && config->skew > 0)
        return "alltoallv";
    return hccl_kind_name((enum hccl_kind)config->collective);
}

static void note_graph(const struct calls *calls, const struct hccl_graph *graph)
{
    g_autofree char *size = units_display(UNITS_BYTES, (double)graph->call.bytes);

    build_note(calls->notes, "%s of %s: %s, %u lanes and %u elements on %u ranks",
               name_of(calls->config), size, hccl_algorithm_name(graph->call.algorithm),
               graph->lanes->len, graph->elements->len, graph->layout.n_ranks);
}

static void lower_all(struct calls *calls, const struct hccl_graph *graph)
{
    const struct calls_config *config = calls->config;
    bool whole = config->compile == COMPILE_WHOLE;
    bool known = false; /* to the device */
    uint32_t group;

    for (int64_t i = 0; i < config->warmup; i++, known = true)
        hccl_lower(&calls->program, graph, SCHEDULE_NO_GROUP, 0,
                   known ? HCCL_CACHED : HCCL_LAUNCHED, NULL);
    hccl_barrier(&calls->program);
    group = hccl_config_group(calls->schedule, &graph->call, name_of(config), graph->layout.n_ranks,
                              (uint32_t)config->iterations, (uint32_t)config->type_bytes);
    for (int64_t i = 0; i < config->iterations; i++, known = true)
        hccl_lower(&calls->program, graph, group, 0,
                   whole && i > 0 ? HCCL_INLINE
                   : known        ? HCCL_CACHED
                                  : HCCL_LAUNCHED,
                   NULL);
    hccl_barrier(&calls->program);
}

static gboolean add_size(struct calls *calls, int64_t bytes, uint64_t seed, GError **error)
{
    const struct calls_config *config = calls->config;
    struct hccl_call call = hccl_config_call(&config->hccl);
    g_autofree int64_t *parts = NULL;
    struct hccl_graph graph;
    gboolean ok;

    call.kind = (enum hccl_kind)config->collective;
    call.bytes = bytes;
    call.root = (uint32_t)config->root;
    if (call.kind == HCCL_ALLTOALL && config->skew > 0)
        call.parts = parts =
            hccl_config_parts(bytes, calls->layout.n_ranks, config->skew, seed, (uint64_t)bytes);
    if (!hccl_compile(&graph, &calls->layout, &call, error))
        return FALSE;
    ok = hccl_check(&graph, error);
    if (ok && config->omit_set >= 0 && !hccl_omit_set(&graph, (uint32_t)config->omit_set)) {
        g_set_error(error, BUILD_ERROR, 0,
                    "omit_set = %" G_GINT64_FORMAT ": the graph has fewer SETs", config->omit_set);
        ok = FALSE;
    }
    if (ok) {
        note_graph(calls, &graph);
        lower_all(calls, &graph);
    }
    hccl_clear(&graph);
    return ok;
}

static gboolean check(const struct calls_config *config, const struct hccl_layout *layout,
                      GError **error)
{
    if (config->end > 0 && config->end < config->begin) {
        g_set_error(error, BUILD_ERROR, 0, "end = %" G_GINT64_FORMAT " B: below begin",
                    config->end);
        return FALSE;
    }
    if (config->root >= layout->n_ranks) {
        g_set_error(error, BUILD_ERROR, 0, "root = %" G_GINT64_FORMAT ": there are %u ranks",
                    config->root, layout->n_ranks);
        return FALSE;
    }
    return TRUE;
}

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    struct calls calls = {.config = data, .notes = notes, .schedule = schedule};
    const struct calls_config *config = calls.config;
    int64_t last = MAX(config->end, config->begin);
    gboolean ok;

    if (!hccl_config_begin(&config->hccl, graph, 1, &calls.layout, schedule, &calls.program, error))
        return FALSE;
    calls.program.timed_enqueue = true;
    ok = check(config, &calls.layout, error);
    for (int64_t bytes = config->begin; ok && bytes <= last; bytes *= config->factor) {
        ok = add_size(&calls, bytes, notes->seed, error);
        if (bytes > last / config->factor)
            break;
    }
    hccl_program_clear(&calls.program);
    hccl_layout_clear(&calls.layout);
    if (ok)
        return workload_finish(schedule, graph, error);
    schedule_clear(schedule);
    return FALSE;
}

const struct workload_ops workload_collective = {
    .name = "collective",
    .summary = "Collective calls compiled into work packets, over a range of sizes.",
    .source = "nccl-tests; HCCL, arXiv 2608.00358",
    .config_size = sizeof(struct calls_config),
    .params = params,
    .build = build,
};
