/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workloads of SimAI, as AICB writes them: one training step (or inference) as layers.
 *
 *   line 1   POLICY "model_parallel_NPU_group:" n "ep:" n "pp:" n "vpp:" n "ga:" n "all_gpus:" n
 *            "checkpoints:" k id*k "checkpoint_initiates:" k id*k ["pp_comm" bytes]
 *   line 2   LAYERS
 *   a layer  NAME DEP FWD_NS FWD_COLL FWD_BYTES IG_NS IG_COLL IG_BYTES WG_NS WG_COLL WG_BYTES
 *            UPDATE_NS; COLL is NONE or ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, each alone
 * or with _EP or _DP_EP
 *
 * Played on every GPU (a host each): forward, the layers in their order, each its FWD_NS and then
 * its collective, which blocks; backward, the layers in reverse, each WG_NS, whose collective goes
 * on beside what follows, then IG_NS and its collective, which blocks; a layer's UPDATE_NS follows
 * its WG collective, and the step ends when all have ended. Policies MICRO and
 * DISTRIBUTED_INFERENCE go forward only.
 *
 * Ranks lie as in Megatron, tensor-parallel innermost: rank = ((stage x dp/ep + d) x ep + e) x tp +
 * t. A collective without suffix is over the tensor-parallel ranks in FWD and IG and over the
 * data-parallel ranks (dp = all_gpus / tp / pp) in WG; _EP is over the ranks that differ in e,
 * _DP_EP over those that differ in d; with MICRO it is over all. BYTES is S as nccl-tests means it.
 *
 * Left out: DEP, vpp and ga (the file has the micro-batches one by one), recomputation from
 * checkpoints, and pp_comm: all stages play the same layers.
 * Source: aliyun/SimAI, astra-sim-alibabacloud/astra-sim/workload/Workload.cc, 2026.
 */
#include "sim/core/reader.h"
#include "sim/core/units.h"
#include "workloads/embed.h"
#include <string.h>

#define MOST_LAYERS 1000000
#define MOST_OPS    (UINT64_C(1) << 24) /* of the schedule; our choice: some 3 GB */

struct simai_config {
    char *file;
    int64_t layers, algorithm;
};

static const struct param params[] = {
    PARAM(TEXT, struct simai_config, file, "", NULL, NULL, NULL,
          "Workload of SimAI, as AICB writes them; each GPU is a host.",
          "our choice: no default can be meant"),
    PARAM(NUMBER, struct simai_config, layers, "0", "0", "1000000", NULL,
          "Only the first so many layers; 0: all.", "our choice: the whole file"),
    PARAM(CHOICE, struct simai_config, algorithm, "ring", NULL, NULL, "ring|direct",
          "Of all-reduce, reduce-scatter and all-gather.", "as workload.algorithm of these"),
    PARAM_END};

enum phase { FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT, N_PHASES };
static const char *const phase_names[] = {"forward", "input gradient", "weight gradient"};

enum scope { SCOPE_PLAIN, SCOPE_EP, SCOPE_DP_EP };

/* In the order of the words; NULL: none. */
static const char *const kinds[] = {NULL, "allreduce", "allgather", "reducescatter", "alltoall"};
static const char *const words[] = {"NONE", "ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"};
#define N_KINDS G_N_ELEMENTS(words)

struct step {
    int64_t compute_ps, bytes;
    uint8_t kind, scope;
};

struct layer {
    struct step steps[N_PHASES];
    int64_t update_ps;
};

static const char *const policies[] = {"HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                       "HYBRID_TRANSFORMER",
                                       "DATA",
                                       "MODEL",
                                       "HYBRID_DATA_MODEL",
                                       "HYBRID_MODEL_DATA",
                                       "HYBRID_DLRM",
                                       "HYBRID_CUSTOMIZED",
                                       "MICRO",
                                       "DISTRIBUTED_INFERENCE"};

struct simai {
    const struct simai_config *config;
    struct reader reader;
    const struct graph *graph;
    struct build *notes;
    struct schedule *schedule;
    bool micro, forward_only;
    uint64_t tp, ep, pp, n_gpus, dp, n_checkpoints, pp_comm_bytes;
    GArray *layers;            /* struct layer */
    uint64_t *at;              /* by GPU: the operation that the next one is after */
    uint64_t *ends;            /* by GPU: the step's end, which waits for all that goes on beside */
    uint64_t n_empty, n_alone; /* collectives of 0 B; over one rank */
    uint64_t n_calls[N_KINDS];
};

/* --- header ----------------------------------------------------------------------------------- */

static gboolean take_policy(struct simai *simai, GError **error)
{
    const char *word = reader_word(&simai->reader);
    size_t i = 0;

    while (word && i < G_N_ELEMENTS(policies) && strcmp(policies[i], word) != 0)
        i++;
    if (!word || i == G_N_ELEMENTS(policies)) {
        const char *near = word ? param_nearest(word, policies, i) : NULL;

        return reader_refuse(&simai->reader, simai->reader.line, error,
                             "'%.40s' is no policy%s%s%s", word ? word : "",
                             near ? "; did you mean '" : " of SimAI", near ? near : "",
                             near ? "'?" : "");
    }
    simai->micro = strcmp(word, "MICRO") == 0;
    simai->forward_only = simai->micro || strcmp(word, "DISTRIBUTED_INFERENCE") == 0;
    return TRUE;
}

/* Passes over the ids of a list: "checkpoints: 2 3 17". */
static gboolean skip_ids(struct simai *simai, uint64_t n, GError **error)
{
    uint64_t id;

    for (uint64_t i = 0; i < n; i++)
        if (!reader_whole(&simai->reader, "the number of a layer", 0, MOST_LAYERS, &id, error))
            return FALSE;
    return TRUE;
}

/* "NAME: n", in any order. */
static gboolean take_settings(struct simai *simai, GError **error)
{
    uint64_t ignored, n;
    const struct {
        const char *name;
        uint64_t *value;
        bool list;
    } settings[] = {{"model_parallel_NPU_group:", &simai->tp, false},
                    {"ep:", &simai->ep, false},
                    {"pp:", &simai->pp, false},
                    {"vpp:", &ignored, false},
                    {"ga:", &ignored, false},
                    {"all_gpus:", &simai->n_gpus, false},
                    {"checkpoints:", &simai->n_checkpoints, true},
                    {"checkpoint_initiates:", &n, true},
                    {"pp_comm:", &simai->pp_comm_bytes, false},
                    {"pp_comm", &simai->pp_comm_bytes, false}};
    const char *word;

    while ((word = reader_word_in_line(&simai->reader))) {
        size_t i = 0;

        while (i < G_N_ELEMENTS(settings) && strcmp(settings[i].name, word) != 0)
            i++;
        if (i == G_N_ELEMENTS(settings))
            return reader_refuse(&simai->reader, simai->reader.line, error,
                                 "'%.40s': a setting such as all_gpus: is expected", word);
        if (!reader_whole(&simai->reader, settings[i].name, 0, (uint64_t)INT64_MAX / 8000,
                          settings[i].value, error))
            return FALSE;
        if (settings[i].list && !skip_ids(simai, *settings[i].value, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean check_settings(struct simai *simai, GError **error)
{
    const struct reader *reader = &simai->reader;
    uint64_t n = simai->n_gpus, tp = simai->tp, ep = simai->ep, pp = simai->pp;

    if (n == 0 || tp == 0 || ep == 0 || pp == 0)
        return reader_refuse(reader, reader->line, error,
                             "all_gpus, model_parallel_NPU_group, ep and pp of 1 or more are "
                             "expected");
    if (n > simai->graph->n_hosts)
        return reader_refuse(reader, reader->line, error,
                             "all_gpus: %" G_GUINT64_FORMAT
                             ", but the topology has only %u hosts; a topology of at least "
                             "%" G_GUINT64_FORMAT " is expected",
                             n, simai->graph->n_hosts, n);
    if (tp > n || pp > n || ep > n || n % (tp * pp) != 0)
        return reader_refuse(reader, reader->line, error,
                             "all_gpus: %" G_GUINT64_FORMAT " is no multiple of "
                             "model_parallel_NPU_group x pp = %" G_GUINT64_FORMAT,
                             n, tp * pp);
    simai->dp = n / (tp * pp);
    if (simai->dp % ep == 0)
        return TRUE;
    return reader_refuse(reader, reader->line, error,
                         "ep: %" G_GUINT64_FORMAT " does not divide the %" G_GUINT64_FORMAT
                         " data-parallel ranks",
                         ep, simai->dp);
}

/* --- layers ----------------------------------------------------------------------------------- */

static gboolean take_collective(struct simai *simai, struct step *step, GError **error)
{
    static const char *const suffixes[] = {"", "_EP", "_DP_EP"};
    const char *word = reader_word_in_line(&simai->reader);

    for (size_t kind = 0; word && kind < N_KINDS; kind++)
        for (size_t scope = 0; scope < (kind ? G_N_ELEMENTS(suffixes) : 1); scope++)
            if (g_str_has_prefix(word, words[kind]) &&
                strcmp(word + strlen(words[kind]), suffixes[scope]) == 0) {
                step->kind = (uint8_t)kind;
                step->scope = (uint8_t)scope;
                return TRUE;
            }
    return reader_refuse(&simai->reader, simai->reader.line, error,
                         "'%.40s': NONE, or ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, alone "
                         "or with _EP or _DP_EP, is expected",
                         word ? word : "");
}

static gboolean take_ns(struct simai *simai, int64_t *time_ps, GError **error)
{
    uint64_t ns;

    if (!reader_whole(&simai->reader, "a time in ns", 0, (uint64_t)INT64_MAX / 1000000, &ns, error))
        return FALSE;
    *time_ps = (int64_t)ns * 1000;
    return TRUE;
}

static gboolean take_layer(struct simai *simai, GError **error)
{
    struct layer layer = {0};
    uint32_t line = simai->reader.line;
    uint64_t bytes;

    if (!reader_word_in_line(&simai->reader)) /* DEP */
        return reader_refuse(&simai->reader, line, error, "a layer of 12 columns is expected");
    for (int phase = 0; phase < N_PHASES; phase++) {
        struct step *step = &layer.steps[phase];

        if (!take_ns(simai, &step->compute_ps, error) || !take_collective(simai, step, error) ||
            !reader_whole(&simai->reader, "a size in bytes", 0, (uint64_t)INT64_MAX / 8000, &bytes,
                          error))
            return FALSE;
        step->bytes = (int64_t)bytes;
    }
    if (!take_ns(simai, &layer.update_ps, error))
        return FALSE;
    if (simai->reader.line != line)
        return reader_refuse(&simai->reader, line, error, "a layer of 12 columns is expected");
    reader_skip_line(&simai->reader);
    g_array_append_val(simai->layers, layer);
    return TRUE;
}

static gboolean take_file(struct simai *simai, GError **error)
{
    uint64_t n_layers, wanted = (uint64_t)simai->config->layers, line;

    if (!take_policy(simai, error) || !take_settings(simai, error) ||
        !check_settings(simai, error) ||
        !reader_whole(&simai->reader, "the number of layers", 1, MOST_LAYERS, &n_layers, error))
        return FALSE;
    line = simai->reader.line;
    while (reader_word(&simai->reader))
        if (!take_layer(simai, error))
            return FALSE;
    if (simai->layers->len != n_layers)
        return reader_refuse(&simai->reader, (uint32_t)line, error,
                             "%" G_GUINT64_FORMAT " layers are declared, the file holds %u",
                             n_layers, simai->layers->len);
    if (wanted > 0 && wanted < simai->layers->len) {
        build_note(simai->notes, "the first %" G_GUINT64_FORMAT " of %u layers are played", wanted,
                   simai->layers->len);
        g_array_set_size(simai->layers, (guint)wanted);
    }
    return TRUE;
}

/* --- groups of ranks -------------------------------------------------------------------------- */

/* Ranks of a group: first, first + stride, ... */
struct span {
    uint64_t n, stride;
};

static struct span span_of(const struct simai *simai, enum phase phase, enum scope scope)
{
    if (simai->micro)
        return (struct span){simai->n_gpus, 1};
    if (scope == SCOPE_EP)
        return (struct span){simai->ep, simai->tp};
    if (scope == SCOPE_DP_EP)
        return (struct span){simai->dp / simai->ep, simai->tp * simai->ep};
    if (phase == WEIGHT_GRADIENT)
        return (struct span){simai->dp, simai->tp};
    return (struct span){simai->tp, 1};
}

/* Whether a rank is the first of its group. */
static bool is_first(const struct span *span, uint64_t rank)
{
    return rank / span->stride % span->n == 0;
}

/* Operations of a collective over n ranks, at most. */
static double count_ops(uint8_t kind, double n)
{
    static const double pairs[] = {0, 3, 1, 2, 1};

    return pairs[kind] * n * (n - 1);
}

static gboolean check_size(const struct simai *simai, GError **error)
{
    double n_ops = 0;

    for (uint32_t i = 0; i < simai->layers->len; i++)
        for (int phase = 0; phase < (simai->forward_only ? 1 : N_PHASES); phase++) {
            const struct step *step = &g_array_index(simai->layers, struct layer, i).steps[phase];
            struct span span = span_of(simai, (enum phase)phase, (enum scope)step->scope);
            double n_groups = (double)(simai->n_gpus / span.n);

            n_ops += 3 * (double)simai->n_gpus;
            if (step->bytes > 0)
                n_ops += n_groups * count_ops(step->kind, (double)span.n);
        }
    if (n_ops <= (double)MOST_OPS)
        return TRUE;
    return reader_refuse(&simai->reader, 0, error,
                         "%u layers on %" G_GUINT64_FORMAT " GPUs are about %.3g operations; up to "
                         "%" G_GUINT64_FORMAT " are played (layers = N plays the first N)",
                         simai->layers->len, simai->n_gpus, n_ops, MOST_OPS);
}

/* --- the schedule ----------------------------------------------------------------------------- */

static uint64_t add_op(struct simai *simai, uint64_t rank, int64_t duration_ps)
{
    struct schedule_op op = {.kind = duration_ps > 0 ? SCHEDULE_COMPUTE : SCHEDULE_JOIN,
                             .rank = (uint32_t)rank,
                             .peer = (uint32_t)rank,
                             .duration_ps = duration_ps,
                             .group = SCHEDULE_NO_GROUP};

    return schedule_add_op(simai->schedule, &op);
}

static void after(struct simai *simai, uint64_t from, uint64_t to)
{
    schedule_add_edge(simai->schedule, from, to, SCHEDULE_AT_RECEIVER, false);
}

static void add_compute(struct simai *simai, int64_t duration_ps)
{
    for (uint64_t rank = 0; duration_ps > 0 && rank < simai->n_gpus; rank++) {
        uint64_t op = add_op(simai, rank, duration_ps);

        after(simai, simai->at[rank], op);
        simai->at[rank] = op;
    }
}

/* One call of one group; begins after simai->at, ends at `ends`, by GPU. */
static gboolean add_call(struct simai *simai, const struct step *step, const struct span *span,
                         uint64_t first, const uint64_t *ends, GError **error)
{
    static const char *const algorithms[] = {"ring", "direct"};
    g_autofree uint32_t *ranks = g_new(uint32_t, span->n);
    g_autofree uint64_t *begin = g_new(uint64_t, span->n), *end = g_new(uint64_t, span->n);
    struct embed_call call = {.kind = kinds[step->kind],
                              .algorithm = strcmp(kinds[step->kind], "alltoall") == 0
                                               ? NULL
                                               : algorithms[simai->config->algorithm],
                              .bytes = step->bytes,
                              .n = (uint32_t)span->n,
                              .ranks = ranks,
                              .begin = begin,
                              .end = end};

    for (uint64_t i = 0; i < span->n; i++) {
        ranks[i] = (uint32_t)(first + i * span->stride);
        begin[i] = simai->at[ranks[i]];
        end[i] = ends[ranks[i]];
    }
    return embed_collective(simai->schedule, simai->graph, &call, error);
}

/* A collective on all GPUs. `ends`, by GPU, is set to the operation that it ends with. */
static gboolean add_collective(struct simai *simai, const struct step *step, enum phase phase,
                               uint64_t *ends, GError **error)
{
    struct span span = span_of(simai, phase, (enum scope)step->scope);
    bool moves = step->kind != 0 && step->bytes > 0 && span.n > 1;

    simai->n_empty += step->kind != 0 && step->bytes == 0;
    simai->n_alone += step->kind != 0 && step->bytes > 0 && span.n == 1;
    simai->n_calls[step->kind] += moves;
    for (uint64_t rank = 0; rank < simai->n_gpus; rank++) {
        ends[rank] = simai->at[rank];
        if (moves) {
            ends[rank] = add_op(simai, rank, 0);
            after(simai, simai->at[rank], ends[rank]);
        }
    }
    for (uint64_t rank = 0; moves && rank < simai->n_gpus; rank++)
        if (is_first(&span, rank) && !add_call(simai, step, &span, rank, ends, error))
            return FALSE;
    return TRUE;
}

/* Compute, then a collective that blocks. */
static gboolean add_blocking(struct simai *simai, const struct step *step, enum phase phase,
                             uint64_t *ends, GError **error)
{
    add_compute(simai, step->compute_ps);
    if (!add_collective(simai, step, phase, ends, error))
        return FALSE;
    memcpy(simai->at, ends, sizeof *ends * simai->n_gpus);
    return TRUE;
}

/* Compute; its collective and the update go on beside what follows. */
static gboolean add_beside(struct simai *simai, const struct layer *layer, uint64_t *ends,
                           GError **error)
{
    const struct step *step = &layer->steps[WEIGHT_GRADIENT];

    add_compute(simai, step->compute_ps);
    if (!add_collective(simai, step, WEIGHT_GRADIENT, ends, error))
        return FALSE;
    for (uint64_t rank = 0; rank < simai->n_gpus; rank++) {
        uint64_t last = ends[rank];

        if (layer->update_ps > 0) {
            last = add_op(simai, rank, layer->update_ps);
            after(simai, ends[rank], last);
        }
        if (last != simai->at[rank])
            after(simai, last, simai->ends[rank]);
    }
    return TRUE;
}

static gboolean add_layers(struct simai *simai, uint64_t *ends, GError **error)
{
    for (uint32_t i = 0; i < simai->layers->len; i++) {
        const struct layer *layer = &g_array_index(simai->layers, struct layer, i);

        if (!add_blocking(simai, &layer->steps[FORWARD], FORWARD, ends, error)) {
            g_prefix_error(error, "%s: layer %u, %s: ", simai->reader.path, i,
                           phase_names[FORWARD]);
            return FALSE;
        }
    }
    for (uint32_t i = simai->layers->len; !simai->forward_only && i-- > 0;) {
        const struct layer *layer = &g_array_index(simai->layers, struct layer, i);

        if (!add_beside(simai, layer, ends, error) ||
            !add_blocking(simai, &layer->steps[INPUT_GRADIENT], INPUT_GRADIENT, ends, error)) {
            g_prefix_error(error, "%s: layer %u, backward: ", simai->reader.path, i);
            return FALSE;
        }
    }
    for (uint64_t rank = 0; rank < simai->n_gpus; rank++)
        after(simai, simai->at[rank], simai->ends[rank]);
    return TRUE;
}

static gboolean fill_schedule(struct simai *simai, GError **error)
{
    g_autofree uint64_t *ends = g_new(uint64_t, simai->n_gpus);
    gboolean ok;

    simai->at = g_new(uint64_t, simai->n_gpus);
    simai->ends = g_new(uint64_t, simai->n_gpus);
    schedule_init(simai->schedule, (uint32_t)simai->n_gpus);
    for (uint64_t rank = 0; rank < simai->n_gpus; rank++) {
        simai->at[rank] = add_op(simai, rank, 0);
        simai->ends[rank] = add_op(simai, rank, 0);
    }
    ok = add_layers(simai, ends, error);
    if (!ok)
        schedule_clear(simai->schedule);
    return ok && workload_finish(simai->schedule, simai->graph, error);
}

static void note_content(const struct simai *simai)
{
    double compute_ps = 0;

    for (uint32_t i = 0; i < simai->layers->len; i++) {
        const struct layer *layer = &g_array_index(simai->layers, struct layer, i);

        for (int phase = 0; phase < (simai->forward_only ? 1 : N_PHASES); phase++)
            compute_ps += (double)layer->steps[phase].compute_ps;
    }
    g_autofree char *compute = units_display(UNITS_TIME, compute_ps);

    build_note(simai->notes,
               "SimAI workload %s: %u layers on %" G_GUINT64_FORMAT
               " GPUs (tensor %" G_GUINT64_FORMAT ", expert %" G_GUINT64_FORMAT
               ", pipeline %" G_GUINT64_FORMAT ", data %" G_GUINT64_FORMAT
               "), %s of computing a GPU%s",
               simai->reader.path, simai->layers->len, simai->n_gpus, simai->tp, simai->ep,
               simai->pp, simai->dp, compute, simai->forward_only ? ", forward only" : "");
    build_note(simai->notes,
               "calls: %" G_GUINT64_FORMAT " allreduce, %" G_GUINT64_FORMAT
               " allgather, %" G_GUINT64_FORMAT " reducescatter, %" G_GUINT64_FORMAT
               " alltoall, each in all its groups at once",
               simai->n_calls[1], simai->n_calls[2], simai->n_calls[3], simai->n_calls[4]);
    if (simai->n_empty)
        build_note(simai->notes, "%" G_GUINT64_FORMAT " collectives of 0 B are passed over",
                   simai->n_empty);
    if (simai->n_alone)
        build_note(simai->notes,
                   "%" G_GUINT64_FORMAT " collectives have groups of one rank: no bytes",
                   simai->n_alone);
    if (simai->n_checkpoints)
        build_note(simai->notes, "checkpoints are ignored: nothing is computed again");
    if (simai->pp > 1 || simai->pp_comm_bytes)
        build_note(simai->notes,
                   "pipeline messages (pp_comm) are not played: all stages play the same layers");
}

static gboolean build(const void *config, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    struct simai simai = {
        .config = config, .graph = graph, .notes = notes, .schedule = schedule, .ep = 1, .pp = 1};
    gboolean ok = reader_open_text(&simai.reader, simai.config->file, "a workload of SimAI", error);

    simai.layers = g_array_new(FALSE, FALSE, sizeof(struct layer));
    ok = ok && take_file(&simai, error);
    if (ok) {
        notes->n_hosts_named = (uint32_t)simai.n_gpus;
        ok = check_size(&simai, error) && fill_schedule(&simai, error);
    }
    if (ok)
        note_content(&simai);
    g_array_unref(simai.layers);
    g_free(simai.at);
    g_free(simai.ends);
    reader_close(&simai.reader);
    return ok;
}

const struct workload_ops workload_simai = {
    .name = "simai",
    .summary = "A workload of SimAI (AICB): the layers of a training step.",
    .source = "aliyun/SimAI, workload/Workload.cc",
    .config_size = sizeof(struct simai_config),
    .params = params,
    .build = build};
