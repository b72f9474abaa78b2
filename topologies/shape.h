/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a graph read from a file does not say of itself: tiers and planes, seen from its links. For
 * finished graphs.
 */
#ifndef WEFT_TOPOLOGIES_SHAPE_H
#define WEFT_TOPOLOGIES_SHAPE_H

#include "sim/core/build.h"
#include "sim/core/graph.h"

#define SHAPE_MOST_TIER   7
#define SHAPE_MOST_PLANES 16

/* A switch's tier is its distance from the nearest host; one that no host reaches has the top. */
void shape_node_tiers(struct graph *graph);

/* A link's tier is one above its lower end's. */
void shape_link_tiers(struct graph *graph);

/*
 * Sets of switches that reach each other without a host between are planes, if the i-th set of
 * every host is the same; otherwise all links are in plane 0. Sets the links' planes.
 */
void shape_link_planes(struct graph *graph);

/* A switch is in the plane of its links, in none if they differ. */
void shape_switch_planes(struct graph *graph);

/* "graph FILE: 4 nodes = 3 hosts + 1 switches, 1 of tier 1; 3 links; 1 plane" */
void shape_note(const struct graph *graph, const char *kind, const char *path, struct build *build);

#endif
