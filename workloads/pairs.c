/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many equal flows from the first half of the hosts to the second half, to load every path of a
 * fabric and see how evenly ECMP spreads them.
 *
 * With h = hosts / 2, flow i goes from host i mod h to host h + (i mod h + i div h) mod h: the
 * first h flows join i to i + h, and h^2 flows join every left host to every right host once, so
 * that no two of them have the same addresses. With an odd number of hosts the last is idle.
 * Source: our choice, after the ECMP collisions of bobzhuyb/ns3-rdma issue 19.
 */
#include "workloads/mix.h"
#include "workloads/workload.h"

struct pairs_config {
    int64_t flows, bytes, start;
    char *transports;
};

static const struct param params[] = {
    PARAM(NUMBER, struct pairs_config, flows, "0", NULL, "10000000", NULL,
          "How many flows; 0: one for each left host.", "our choice"),
    PARAM(BYTES, struct pairs_config, bytes, "2MB", "1B", NULL, NULL, "Size of each flow.",
          "htsim's perm_*_2MB.cm"),
    PARAM(TIME, struct pairs_config, start, "0ps", NULL, NULL, NULL, "When all flows start.",
          "our choice"),
    MIX_PARAM(struct pairs_config), PARAM_END};

static void add_messages(const struct pairs_config *config, struct schedule *schedule,
                         struct mix *mix)
{
    uint32_t half = schedule->n_ranks / 2;
    uint32_t n_flows = config->flows ? (uint32_t)config->flows : half;

    for (uint32_t i = 0; i < n_flows; i++)
        schedule_add_op(schedule, &(struct schedule_op){.kind = SCHEDULE_MESSAGE,
                                                        .rank = i % half,
                                                        .peer = half + (i % half + i / half) % half,
                                                        .bytes = config->bytes,
                                                        .start_ps = config->start,
                                                        .profile = mix_next(mix),
                                                        .group = SCHEDULE_NO_GROUP});
}

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    const struct pairs_config *config = data;
    struct mix mix;

    if (graph->n_hosts < 2) {
        g_set_error(error, BUILD_ERROR, 0, "pairs need at least 2 hosts; there are %u",
                    graph->n_hosts);
        return FALSE;
    }
    schedule_init(schedule, graph->n_hosts);
    if (!mix_init(&mix, config->transports, schedule, error))
        return FALSE;
    add_messages(config, schedule, &mix);
    build_note(notes, "pairs: %" G_GUINT64_FORMAT " flows from hosts 0 to %u to hosts %u to %u",
               schedule->n_ops, graph->n_hosts / 2 - 1, graph->n_hosts / 2,
               graph->n_hosts / 2 * 2 - 1);
    return workload_finish(schedule, graph, error);
}

const struct workload_ops workload_pairs = {
    .name = "pairs",
    .summary = "Equal flows from the first half of the hosts to the second half.",
    .source = "our choice: loads every path of a fabric, for tests of ECMP",
    .config_size = sizeof(struct pairs_config),
    .params = params,
    .build = build};
