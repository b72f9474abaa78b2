/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts on two switches, the first half (rounded up) left and the rest right, and one or more
 * parallel links between the switches: one shared bottleneck, or a choice among equal ones. Each
 * plane is such a dumbbell of its own.
 * Leaves out hosts of different rates; a graph file can say those.
 * Source: our choice; the common shape of congestion-control evaluations. Numbers: our choice.
 */
#include "sim/core/units.h"
#include "topologies/topology.h"
#include <inttypes.h>

struct dumbbell_config {
    struct topology_common common;
    int64_t bottleneck_links;
    int64_t bottleneck_rate;  /* bit/s; 0: like link_rate */
    int64_t bottleneck_delay; /* ps; 0: like link_delay */
};

static const struct param params[] = {
    TOPOLOGY_COMMON_PARAMS(struct dumbbell_config, "4"),
    PARAM(NUMBER, struct dumbbell_config, bottleneck_links, "1", "1", "4096", NULL,
          "Parallel links between the two switches, in each plane.", "our choice: one bottleneck"),
    PARAM(RATE, struct dumbbell_config, bottleneck_rate, "0bps", "0bps", "100Tbps", NULL,
          "Rate of each link between the switches; 0bps: like link_rate.",
          "our choice: all links alike"),
    PARAM(TIME, struct dumbbell_config, bottleneck_delay, "0ns", "0ns", "10s", NULL,
          "Delay of each link between the switches; 0ns: like link_delay.",
          "our choice: all links alike"),
    PARAM_END};

static void add_dumbbell(const struct dumbbell_config *config, struct graph *graph, uint16_t plane)
{
    const struct topology_common *common = &config->common;
    int64_t rate_bps = config->bottleneck_rate ? config->bottleneck_rate : common->link_rate;
    int64_t delay_ps = config->bottleneck_delay ? config->bottleneck_delay : common->link_delay;
    uint32_t n_left = (graph->n_hosts + 1) / 2;
    uint32_t left = graph_add_switch(graph, 1, plane, common->switch_latency);
    uint32_t right = graph_add_switch(graph, 1, plane, common->switch_latency);

    for (uint32_t host = 0; host < graph->n_hosts; host++)
        graph_add_link(graph, host, host < n_left ? left : right, common->link_rate,
                       common->link_delay, 1, plane);
    for (int64_t i = 0; i < config->bottleneck_links; i++)
        graph_add_link(graph, left, right, rate_bps, delay_ps, 2, plane);
}

static void note(const struct dumbbell_config *config, const struct graph *graph,
                 struct build *build)
{
    const struct topology_common *common = &config->common;
    uint32_t n_left = (graph->n_hosts + 1) / 2;
    int64_t rate_bps = config->bottleneck_rate ? config->bottleneck_rate : common->link_rate;
    g_autofree char *rate = units_format(UNITS_RATE, rate_bps);

    build_note(build,
               "dumbbell: %u hosts, %u left and %u right, %" PRId64
               " plane%s; 2 switches a plane with %" PRId64
               " x %s between them, oversubscription %.4g:1 from the left",
               graph->n_hosts, n_left, graph->n_hosts - n_left, common->planes,
               common->planes == 1 ? "" : "s", config->bottleneck_links, rate,
               (double)n_left * (double)common->link_rate /
                   ((double)config->bottleneck_links * (double)rate_bps));
}

static gboolean build_dumbbell(const void *data, struct build *build, struct graph *graph,
                               GError **error)
{
    const struct dumbbell_config *config = data;

    if (config->common.hosts < 2) {
        g_set_error(error, BUILD_ERROR, 0,
                    "hosts = %" PRId64 ": 2 or more are expected, so that each side has one",
                    config->common.hosts);
        return FALSE;
    }
    for (int64_t host = 0; host < config->common.hosts; host++)
        graph_add_host(graph);
    for (int64_t plane = 0; plane < config->common.planes; plane++)
        add_dumbbell(config, graph, (uint16_t)plane);
    note(config, graph, build);
    return graph_finish(graph, error) && topology_slow_plane(&config->common, build, graph, error);
}

const struct topology_ops topology_dumbbell = {
    .name = "dumbbell",
    .summary = "Hosts on two switches with one or more parallel links between them.",
    .source = "our choice: the common shape of congestion-control evaluations",
    .config_size = sizeof(struct dumbbell_config),
    .params = params,
    .build = build_dumbbell,
};
