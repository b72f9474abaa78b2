/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All-to-all: rank p sends segment q of its own send buffer of S bytes to rank q. The segment it
 * keeps moves no bytes, so (n - 1)/n S leave each rank.
 *
 *   direct     all pairs at once:              a + (n-1) o + (n-1)/n S/B
 *   pairwise   one peer at a time, n-1 steps:  (n-1) a + (n-1)/n S/B
 *
 * Not here: unequal segments (all-to-all-v).
 * Source: nccl-tests alltoall_perf; the exchange itself is in collective_direct.c.
 */
#include "workloads/collective.h"

enum algorithm { ALGORITHM_DIRECT, ALGORITHM_PAIRWISE };

static const struct param params[] = {
    PARAM(CHOICE, struct collective_config, algorithm, "direct", NULL, NULL, "direct|pairwise",
          "direct: every pair at once; pairwise: each rank sends to one other rank at a time.",
          "NCCL's grouped send and receive post all pairs at once"),
    COLLECTIVE_PARAMS, PARAM_END};

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    const struct collective_config *config = data;
    struct collective call;

    if (!collective_init(&call, COLLECTIVE_ALLTOALL, "alltoall", config, graph, schedule, error))
        return FALSE;
    return collective_direct(&call, config->algorithm == ALGORITHM_PAIRWISE, graph, notes, schedule,
                             error);
}

const struct workload_ops workload_alltoall = {
    .name = "alltoall",
    .summary = "All-to-all: rank p sends segment q of its S bytes to rank q.",
    .source = "nccl-tests alltoall_perf",
    .config_size = sizeof(struct collective_config),
    .params = params,
    .build = build};
