/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The topology seam: a builder turns a configuration into a graph. Pure: the same configuration and
 * seed give the same graph. A topology is one .c file whose only external symbol is its ops, plus
 * one line in topologies/list.c.
 */
#ifndef WEFT_TOPOLOGIES_TOPOLOGY_H
#define WEFT_TOPOLOGIES_TOPOLOGY_H

#include "sim/core/build.h"
#include "sim/core/graph.h"
#include "sim/core/param.h"

struct topology_ops {
    const char *name;    /* as in topology.kind */
    const char *summary; /* one sentence */
    const char *source;  /* where the shape is from, or "our choice" */
    size_t config_size;
    const struct param *params;
    /* Fills an initialised graph and calls graph_finish(). The error names key and value. */
    gboolean (*build)(const void *config, struct build *build, struct graph *graph, GError **error);
};

/* The keys of every topology that is not read from a file; first member of their configurations. */
struct topology_common {
    int64_t hosts, planes;
    int64_t link_rate;        /* bit/s of a host link; of every link unless a tier says otherwise */
    int64_t link_delay;       /* ps, of a host link; of every link unless a tier says otherwise */
    int64_t switch_latency;   /* ps */
    int64_t slow_plane;       /* -1: none */
    int64_t slow_plane_speed; /* ratio to the other planes */
};

/* The rows of topology_common; each configuration calls its member `common`. */
#define TOPOLOGY_COMMON_PARAM(type_, struct_, name_, value_, least_, most_, help_, source_)        \
    {                                                                                              \
        .name = #name_, .type = PARAM_##type_, .offset = offsetof(struct_, common.name_),          \
        .value = value_, .least = least_, .most = most_, .help = help_, .source = source_          \
    }
#define TOPOLOGY_COMMON_PARAMS(struct_, hosts_)                                                    \
    TOPOLOGY_COMMON_PARAM(NUMBER, struct_, hosts, hosts_, "1", "1048576", "Number of hosts.",      \
                          "our choice: small enough to try at once"),                              \
        TOPOLOGY_COMMON_PARAM(NUMBER, struct_, planes, "1", "1", "16",                             \
                              "Independent copies of the fabric; each host has NIC ports on all.", \
                              "our choice: one plane is the plain case"),                          \
        TOPOLOGY_COMMON_PARAM(RATE, struct_, link_rate, "400Gbps", "1Mbps", "100Tbps",             \
                              "Rate of each link, one direction, in one plane.",                   \
                              "SOURCES.md 1.3: 400G NICs"),                                        \
        TOPOLOGY_COMMON_PARAM(TIME, struct_, link_delay, "500ns", "0ns", "10s",                    \
                              "Propagation delay of each link.", "our choice: cable plus PHY"),    \
        TOPOLOGY_COMMON_PARAM(TIME, struct_, switch_latency, "600ns", "0ns", "1s",                 \
                              "Time from the last bit in to the first bit out of an idle switch.", \
                              "SOURCES.md 5: Tomahawk 5, secondary source"),                       \
        TOPOLOGY_COMMON_PARAM(NUMBER, struct_, slow_plane, "-1", "-1", "15",                       \
                              "A plane whose links are all slower than the others'; -1: none.",    \
                              "our choice: planes are equal"),                                     \
        TOPOLOGY_COMMON_PARAM(RATIO, struct_, slow_plane_speed, "0.5", "0.000001", "1",            \
                              "Rate of its links, as a share of what it would be.",                \
                              "NVIDIA/nccl issue 2192: a port that comes up at half its rate")

/*
 * Slows the links of common->slow_plane down; the last step of a builder. The error names key and
 * value.
 */
gboolean topology_slow_plane(const struct topology_common *common, struct build *build,
                             struct graph *graph, GError **error);

/* All topologies, NULL at the end, and the one called `name` (NULL if there is none). */
extern const struct topology_ops *const topology_list[];
const struct topology_ops *topology_find(const char *name);

#endif
