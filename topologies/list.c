/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of topologies. A new topology is one line here. */
#include "topologies/topology.h"
#include <string.h>

extern const struct topology_ops topology_clos, topology_star, topology_line, topology_dumbbell,
    topology_graph_csv, topology_htsim;

const struct topology_ops *const topology_list[] = {&topology_clos,
                                                    &topology_star,
                                                    &topology_line,
                                                    &topology_dumbbell,
                                                    &topology_graph_csv,
                                                    &topology_htsim,
                                                    NULL};

const struct topology_ops *topology_find(const char *name)
{
    for (int i = 0; topology_list[i]; i++)
        if (strcmp(topology_list[i]->name, name) == 0)
            return topology_list[i];
    return NULL;
}
