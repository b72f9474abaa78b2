/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Permutation traffic: every rank sends to one other rank and receives from one other rank, all at
 * once.
 *
 *   random   a derangement (no rank sends to itself), uniform over all of them: shuffles are drawn
 *            until one has no fixed point, e of them on average
 *   shift    rank i sends to rank i + shift mod n
 *
 * Not here: permutations that change over time, and arrival processes.
 * Source: the permutation matrix of htsim (csg-htsim, sim/datacenter/connection_matrix.cpp).
 */
#include "sim/core/random.h"
#include "workloads/mix.h"
#include "workloads/workload.h"
#include <string.h>

enum pattern { PATTERN_RANDOM, PATTERN_SHIFT };

struct permutation_config {
    int64_t bytes, pattern, shift, count, start;
    char *ranks, *sizes, *transports;
};

static const struct param params[] = {
    PARAM(BYTES, struct permutation_config, bytes, "2MB", "1B", NULL, NULL, "Size of each message.",
          "htsim's perm_*_2MB.cm"),
    PARAM(TEXT, struct permutation_config, sizes, "", NULL, NULL, NULL,
          "Unequal sizes, such as 1MB,4MB: rank i sends the (i mod n)-th; empty: bytes for all.",
          "our choice: equal sizes"),
    PARAM(CHOICE, struct permutation_config, pattern, "random", NULL, NULL, "random|shift",
          "random: a derangement drawn by run.seed; shift: rank i sends to rank i + shift.",
          "htsim's setPermutation()"),
    PARAM(NUMBER, struct permutation_config, shift, "1", "1", NULL, NULL,
          "Distance to the receiving rank, for pattern = shift; taken modulo the number of ranks.",
          "our choice: the next rank"),
    PARAM(NUMBER, struct permutation_config, count, "1", "1", "100000", NULL,
          "Messages from each sender, all posted at the start.", "our choice: one"),
    PARAM(TIME, struct permutation_config, start, "0ps", NULL, NULL, NULL,
          "When the messages are posted.", "our choice"),
    PARAM(TEXT, struct permutation_config, ranks, "", NULL, NULL, NULL,
          "Hosts that take part, such as 0-63 or 0,2,4-7; empty: all.", "our choice: all hosts"),
    MIX_PARAM(struct permutation_config),
    PARAM_END};

static bool has_fixed_point(const uint32_t *to, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (to[i] == i)
            return true;
    return false;
}

static void draw_derangement(uint64_t seed, uint32_t *to, uint32_t n)
{
    struct random_stream stream = random_stream(seed, RANDOM_WORKLOAD, n);

    for (uint32_t i = 0; i < n; i++)
        to[i] = i;
    do
        random_shuffle(&stream, to, n);
    while (has_fixed_point(to, n));
}

static gboolean choose_receivers(const struct permutation_config *config, uint64_t seed,
                                 uint32_t *to, uint32_t n, GError **error)
{
    if (n < 2) {
        g_set_error(error, BUILD_ERROR, 0, "a permutation needs at least 2 ranks; there is %u", n);
        return FALSE;
    }
    if (config->pattern == PATTERN_RANDOM) {
        draw_derangement(seed, to, n);
        return TRUE;
    }
    if (config->shift % n == 0) {
        g_set_error(error, BUILD_ERROR, 0,
                    "shift = %" G_GINT64_FORMAT
                    " sends each of %u ranks to itself; 1 to %u is possible",
                    config->shift, n, n - 1);
        return FALSE;
    }
    for (uint32_t i = 0; i < n; i++)
        to[i] = (uint32_t)((uint64_t)(i + config->shift % n) % n);
    return TRUE;
}

static void add_messages(const struct permutation_config *config, struct schedule *schedule,
                         const uint32_t *to, const int64_t *sizes, uint32_t n_sizes,
                         struct mix *mix)
{
    for (int64_t k = 0; k < config->count; k++)
        for (uint32_t i = 0; i < schedule->n_ranks; i++)
            schedule_add_op(schedule, &(struct schedule_op){.kind = SCHEDULE_MESSAGE,
                                                            .rank = i,
                                                            .peer = to[i],
                                                            .bytes = sizes[i % n_sizes],
                                                            .start_ps = config->start,
                                                            .profile = mix_next(mix),
                                                            .group = SCHEDULE_NO_GROUP});
}

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    const struct permutation_config *config = data;
    struct mix mix;
    uint32_t n = 0, n_sizes = 0;
    g_autofree uint32_t *hosts = workload_ranks(config->ranks, graph, &n, error);
    g_autofree uint32_t *to = g_new(uint32_t, (size_t)n + 1);
    g_autofree int64_t *sizes =
        hosts ? workload_sizes(config->sizes, config->bytes, &n_sizes, error) : NULL;

    if (!sizes || !choose_receivers(config, notes->seed, to, n, error))
        return FALSE;
    schedule_init(schedule, n);
    memcpy(schedule->rank_host, hosts, n * sizeof *hosts);
    if (!mix_init(&mix, config->transports, schedule, error))
        return FALSE;
    add_messages(config, schedule, to, sizes, n_sizes, &mix);
    build_note(notes, "permutation: %" G_GINT64_FORMAT " x %u messages of %s%" G_GINT64_FORMAT " B",
               config->count, n, n_sizes > 1 ? "unequal sizes, the first " : "", sizes[0]);
    return workload_finish(schedule, graph, error);
}

const struct workload_ops workload_permutation = {
    .name = "permutation",
    .summary = "Every rank sends to one other rank and receives from one.",
    .source = "htsim's permutation connection matrices",
    .config_size = sizeof(struct permutation_config),
    .params = params,
    .build = build};
