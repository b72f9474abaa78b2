/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wires a folded Clos from its counts: hosts to leaves, leaves to the spines of their pod, spines
 * to cores. A builder (clos, star, htsim) works out the counts; here they become a graph.
 *
 * In each plane host h is on leaf h / hosts_per_leaf, leaf l in pod l / leaves_per_pod, and a leaf
 * has `n_parallel` links to every spine of its pod. The spine at position s of its pod reaches the
 * cores s, s + spines_per_pod, s + 2 spines_per_pod ..., so each core has one neighbour in every
 * pod. Source of the shape: Al-Fares et al., SIGCOMM 2008, 3.1, with the numbering of htsim. Last
 * leaf and last pod may be partly filled.
 *
 * Order of nodes: hosts, then plane by plane leaves, spines, cores. Links are added plane by plane,
 * so port k of a host lies in plane k / n_parallel.
 */
#ifndef WEFT_TOPOLOGIES_TIERS_H
#define WEFT_TOPOLOGIES_TIERS_H

#include "sim/core/build.h"
#include "sim/core/graph.h"

#define TIERS_MOST       3
#define TIERS_MOST_LINKS (INT64_C(1) << 26) /* our choice: some 4 GB of graph */

struct tiers_links {
    int64_t n_parallel; /* links between two nodes that are wired */
    int64_t rate_bps, delay_ps;
    int64_t queue_up_bytes, queue_down_bytes; /* 0: as the scenario says */
};

struct tiers {
    const char *kind; /* of the topology; opens its notes */
    int64_t n_hosts, n_planes, n_tiers;
    int64_t hosts_per_leaf;
    int64_t leaves_per_pod, spines_per_pod; /* 2 tiers: one pod; 1 tier: unused */
    int64_t cores_per_spine;                /* 3 tiers: cores that one spine reaches */
    struct tiers_links links[TIERS_MOST];   /* [t]: above the nodes of tier t, 0 the hosts */
    int64_t switch_latency_ps[TIERS_MOST];  /* [t]: of the switches of tier t + 1 */
};

/* Switches of a tier in one plane, and pods. */
int64_t tiers_n_leaves(const struct tiers *tiers);
int64_t tiers_n_pods(const struct tiers *tiers);
int64_t tiers_n_spines(const struct tiers *tiers);
int64_t tiers_n_cores(const struct tiers *tiers);

/* Capacity below over capacity above a full switch of tier 1 or 2, such as "4:1"; g_free. */
char *tiers_ratio(const struct tiers *tiers, int tier);

/* Fills an initialised graph, finishes it and notes what was built; error if it is too large. */
gboolean tiers_build(const struct tiers *tiers, struct build *build, struct graph *graph,
                     GError **error);

#endif
