/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/hccl_config.h"
#include "sim/core/random.h"
#include "sim/core/units.h"

struct hccl_call hccl_config_call(const struct hccl_config *config)
{
    return (struct hccl_call){.algorithm = (enum hccl_algorithm)config->algorithm,
                              .networks = (enum hccl_networks)config->networks,
                              .chunk_bytes = config->chunk,
                              .slice_bytes = config->slice,
                              .direct_bytes = config->direct_limit,
                              .both_bytes = config->both_limit,
                              .n_engines = (uint32_t)config->engines,
                              .depth = (uint32_t)config->depth,
                              .all_ports = config->spread == 1,
                              .sends_wait = config->ready != HCCL_READY_OFF,
                              .writes_wait = config->ready == HCCL_READY_ON};
}

gboolean hccl_config_begin(const struct hccl_config *config, const struct graph *graph,
                           uint32_t n_streams, struct hccl_layout *layout,
                           struct schedule *schedule, struct hccl_program *program, GError **error)
{
    uint32_t n = 0;
    g_autofree uint32_t *hosts = workload_ranks(config->ranks, graph, &n, error);

    if (!hosts)
        return FALSE;
    if (n < 2) {
        g_set_error(error, BUILD_ERROR, 0,
                    "ranks = '%s': a collective needs at least 2 ranks, and this names %u",
                    config->ranks, n);
        return FALSE;
    }
    if (!hccl_layout_init(layout, graph, hosts, n, error))
        return FALSE;
    schedule_init(schedule, n);
    for (uint32_t rank = 0; rank < n; rank++)
        schedule->rank_host[rank] = hosts[rank];
    hccl_program_init(program, schedule, n, n_streams);
    program->profile_up = schedule_profile(schedule, config->scale_up_transport);
    program->profile_out = schedule_profile(schedule, config->scale_out_transport);
    return TRUE;
}

uint32_t hccl_config_group(struct schedule *schedule, const struct hccl_call *call,
                           const char *name, uint32_t n_ranks, uint32_t n_calls,
                           uint32_t element_bytes)
{
    int64_t n = n_ranks;
    int64_t factor_n = call->kind == HCCL_BROADCAST   ? n
                       : call->kind == HCCL_ALLREDUCE ? 2 * (n - 1)
                                                      : n - 1;
    uint32_t number = schedule_add_group(schedule, name, call->bytes, n_ranks, factor_n, n);
    struct schedule_group *group = schedule_group(schedule, number);

    group->n_calls = n_calls;
    group->element_bytes = element_bytes;
    group->root = call->kind == HCCL_BROADCAST ? (int32_t)call->root : -1;
    return number;
}

int64_t *hccl_config_parts(int64_t bytes, uint32_t n, int64_t skew, uint64_t seed, uint64_t which)
{
    int64_t *parts = g_new(int64_t, (gsize)n * n);
    struct random_stream stream = random_stream(seed, RANDOM_WORKLOAD, which);

    for (uint32_t i = 0; i < n * n; i++) {
        int64_t u = (int64_t)random_below(&stream, 2000001) - 1000000; /* millionths */

        parts[i] = bytes / n + (int64_t)((__int128)(bytes / n) * skew / UNITS_PPT * u / 1000000);
    }
    return parts;
}
