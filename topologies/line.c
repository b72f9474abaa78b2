/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two hosts and `links` links in series between them, so links - 1 switches; one link joins the
 * hosts directly. A plane is a line of its own beside the others. For runs whose answer is a
 * formula: delays add up along the line.
 * Leaves out every choice of path within a plane.
 * Source: our choice.
 */
#include "topologies/topology.h"
#include <inttypes.h>

struct line_config {
    struct topology_common common;
    int64_t links;
};

static const struct param params[] = {
    TOPOLOGY_COMMON_PARAMS(struct line_config, "2"),
    PARAM(NUMBER, struct line_config, links, "2", "1", "250", NULL,
          "Links in series between the two hosts; switches are one fewer.",
          "our choice: two hosts on one switch; below 256 hops"),
    PARAM_END};

static void add_line(const struct line_config *config, struct graph *graph, uint16_t plane)
{
    const struct topology_common *common = &config->common;
    uint32_t before = 0;

    for (int64_t i = 1; i < config->links; i++) {
        uint32_t next = graph_add_switch(graph, 1, plane, common->switch_latency);

        graph_add_link(graph, before, next, common->link_rate, common->link_delay, i == 1 ? 1 : 2,
                       plane);
        before = next;
    }
    graph_add_link(graph, 1, before, common->link_rate, common->link_delay, 1, plane);
}

static gboolean build_line(const void *data, struct build *build, struct graph *graph,
                           GError **error)
{
    const struct line_config *config = data;
    int64_t n_switches = config->links - 1;

    if (config->common.hosts != 2) {
        g_set_error(error, BUILD_ERROR, 0,
                    "hosts = %" PRId64 ": a line has 2 hosts, one at each end",
                    config->common.hosts);
        return FALSE;
    }
    graph_add_host(graph);
    graph_add_host(graph);
    for (int64_t plane = 0; plane < config->common.planes; plane++)
        add_line(config, graph, (uint16_t)plane);
    build_note(build,
               "line: 2 hosts, %" PRId64 " plane%s, in each %" PRId64
               " links in series over %" PRId64 " switch%s, no oversubscription",
               config->common.planes, config->common.planes == 1 ? "" : "s", config->links,
               n_switches, n_switches == 1 ? "" : "es");
    return graph_finish(graph, error) && topology_slow_plane(&config->common, build, graph, error);
}

const struct topology_ops topology_line = {
    .name = "line",
    .summary = "Two hosts with a number of links in series between them.",
    .source = "our choice",
    .config_size = sizeof(struct line_config),
    .params = params,
    .build = build_line,
};
