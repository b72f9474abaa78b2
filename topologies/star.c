/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One switch a plane with all hosts on it: the smallest fabric with contention at a receiver, and
 * the shape of a scale-up plane (MTIA 300: single-switch planes in a rack, SOURCES.md 2.3).
 * Leaves out the switch's number of ports: any number of hosts fits.
 * Source: our choice.
 */
#include "topologies/tiers.h"
#include "topologies/topology.h"

struct star_config {
    struct topology_common common;
};

static const struct param params[] = {TOPOLOGY_COMMON_PARAMS(struct star_config, "8"), PARAM_END};

static gboolean build_star(const void *data, struct build *build, struct graph *graph,
                           GError **error)
{
    const struct topology_common *common = &((const struct star_config *)data)->common;
    struct tiers tiers = {
        .kind = "star",
        .n_hosts = common->hosts,
        .n_planes = common->planes,
        .n_tiers = 1,
        .hosts_per_leaf = common->hosts,
        .links = {{.n_parallel = 1, .rate_bps = common->link_rate, .delay_ps = common->link_delay}},
        .switch_latency_ps = {common->switch_latency}};

    return tiers_build(&tiers, build, graph, error) &&
           topology_slow_plane(common, build, graph, error);
}

const struct topology_ops topology_star = {
    .name = "star",
    .summary = "All hosts on one switch, in each plane.",
    .source = "our choice",
    .config_size = sizeof(struct star_config),
    .params = params,
    .build = build_star,
};
