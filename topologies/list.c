/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of topologies. A new topology is one line here. */
#include "sim/core/units.h"
#include "topologies/topology.h"
#include <inttypes.h>
#include <string.h>

extern const struct topology_ops topology_clos, topology_star, topology_line, topology_dumbbell,
    topology_graph_csv, topology_htsim, topology_ns3, topology_nccl, topology_rack;

const struct topology_ops *const topology_list[] = {
    &topology_clos,  &topology_star, &topology_line, &topology_dumbbell, &topology_graph_csv,
    &topology_htsim, &topology_ns3,  &topology_nccl, &topology_rack,     NULL};

const struct topology_ops *topology_find(const char *name)
{
    for (int i = 0; topology_list[i]; i++)
        if (strcmp(topology_list[i]->name, name) == 0)
            return topology_list[i];
    return NULL;
}

gboolean topology_slow_plane(const struct topology_common *common, struct build *build,
                             struct graph *graph, GError **error)
{
    g_autofree char *speed = units_format(UNITS_RATIO, common->slow_plane_speed);

    if (common->slow_plane < 0)
        return TRUE;
    if (common->slow_plane >= graph->n_planes) {
        g_set_error(error, BUILD_ERROR, 0,
                    "slow_plane = %" PRId64 ": below the number of planes (%u) is expected",
                    common->slow_plane, graph->n_planes);
        return FALSE;
    }
    for (uint32_t i = 0; i < graph->n_links; i++) {
        struct graph_link *link = &graph->links[i];
        __int128 rate = (__int128)link->rate_bps * common->slow_plane_speed / UNITS_PPT;

        if (link->plane == common->slow_plane)
            link->rate_bps = MAX((int64_t)rate, 1);
    }
    build_note(build, "plane %" PRId64 " is slow: its links have %s of their rate",
               common->slow_plane, speed);
    return TRUE;
}
