/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parameters that workloads with compiled collectives share; see hccl.h. */
#ifndef WEFT_WORKLOADS_HCCL_CONFIG_H
#define WEFT_WORKLOADS_HCCL_CONFIG_H

#include "workloads/hccl.h"

enum hccl_ready { HCCL_READY_ON, HCCL_READY_SENDS, HCCL_READY_OFF };

struct hccl_config { /* the user's; first member of a workload's configuration, called `hccl` */
    int64_t algorithm, networks, chunk, slice, direct_limit, both_limit, engines, depth, spread,
        ready;
    char *ranks, *scale_up_transport, *scale_out_transport;
};

#define HCCL_PARAM(type_, struct_, name_, value_, least_, most_, choices_, help_, source_)         \
    {                                                                                              \
        .name = #name_, .type = PARAM_##type_, .offset = offsetof(struct_, hccl.name_),            \
        .value = value_, .least = least_, .most = most_, .choices = choices_, .help = help_,       \
        .source = source_                                                                          \
    }
#define HCCL_PARAMS(struct_)                                                                       \
    HCCL_PARAM(CHOICE, struct_, algorithm, "auto", NULL, NULL, HCCL_ALGORITHMS,                    \
               "auto: direct up to direct_limit and for all-to-all; hierarchical over several "    \
               "racks; ring otherwise.",                                                           \
               "our choice: the real table is unpublished (SOURCES.md 2.4)"),                      \
        HCCL_PARAM(CHOICE, struct_, networks, "both", NULL, NULL, HCCL_NETWORKS,                   \
                   "Which networks ranks of one rack use with each other; both: the scale-out "    \
                   "ports, too, "                                                                  \
                   "if they are as fast as the others.",                                           \
                   "SOURCES.md 2.4: 940 GB/s is with both"),                                       \
        HCCL_PARAM(BYTES, struct_, chunk, "128KiB", "1B", NULL, NULL,                              \
                   "Bytes of a message at most; what follows one another as in a pipeline.",       \
                   "our choice; SOURCES.md 2.6 guesses 512 KB, one chunk a NIC up to 64 MiB"),     \
        HCCL_PARAM(BYTES, struct_, slice, "16KiB", "1B", NULL, NULL,                               \
                   "A segment is spread over NIC ports by so many bytes at least.",                \
                   "our choice: four packets"),                                                    \
        HCCL_PARAM(BYTES, struct_, direct_limit, "64MiB", "0B", NULL, NULL,                        \
                   "algorithm = auto: direct exchange up to this size S.",                         \
                   "our choice: there it is faster than a ring in a rack"),                        \
        HCCL_PARAM(                                                                                \
            BYTES, struct_, both_limit, "16MiB", "0B", NULL, NULL,                                 \
            "networks = both: smaller calls in a rack use scale-up alone.",                        \
            "our choice: from there on faster here; the scale-out fabric is slower to answer"),    \
        HCCL_PARAM(NUMBER, struct_, engines, "16", "1", "256", NULL,                               \
                   "Message engines over which lanes are spread.", "SOURCES.md 2.2"),              \
        HCCL_PARAM(NUMBER, struct_, depth, "16", "0", "65536", NULL,                               \
                   "Rings: chunks under way at a time on each NIC port; 0: all.",                  \
                   "our choice: as many as keep a port of 800G busy here"),                        \
        HCCL_PARAM(CHOICE, struct_, spread, "lanes", NULL, NULL, "lanes|transport",                \
                   "Who spreads a call over NIC ports: lanes are tied to one each, or a message "  \
                   "may use all ports of its network and the transport spreads it.",               \
                   "SOURCES.md 2.4: slices are spread over NICs"),                                 \
        HCCL_PARAM(CHOICE, struct_, ready, "on", NULL, NULL, "on|sends|off",                       \
                   "What waits for the receiver's word that it is ready: the first SEND of a "     \
                   "call and what "                                                                \
                   "it first WRITEs into an output; SENDs alone, where WRITEs go to buffers of "   \
                   "the library; nothing.",                                                        \
                   "SOURCES.md 2.2: SendSync, optimised form"),                                    \
        HCCL_PARAM(TEXT, struct_, ranks, "", NULL, NULL, NULL,                                     \
                   "Hosts that take part, in the order of ranks, such as 0-15; empty: all.",       \
                   "our choice: all hosts"),                                                       \
        HCCL_PARAM(TEXT, struct_, scale_up_transport, "", NULL, NULL, NULL,                        \
                   "Transport, or profile, of the scale-up network; empty: [transport].",          \
                   "our choice: one for all"),                                                     \
        HCCL_PARAM(TEXT, struct_, scale_out_transport, "", NULL, NULL, NULL,                       \
                   "The same of the scale-out network.", "our choice: one for all")

/* A call of the configuration, with what is particular to it still to be filled in. */
struct hccl_call hccl_config_call(const struct hccl_config *config);

/* Hosts and layout; starts the schedule and a program on it. Fails with nothing to clear. */
gboolean hccl_config_begin(const struct hccl_config *config, const struct graph *graph,
                           uint32_t n_streams, struct hccl_layout *layout,
                           struct schedule *schedule, struct hccl_program *program, GError **error);

/* A group for calls of this kind and size, with nccl-tests' factors. */
uint32_t hccl_config_group(struct schedule *schedule, const struct hccl_call *call,
                           const char *name, uint32_t n_ranks, uint32_t n_calls,
                           uint32_t element_bytes);

/*
 * Parts of an all-to-all-v: S / n x (1 + skew x u) with u uniform in [-1, 1], drawn by the stream.
 * g_free.
 */
int64_t *hccl_config_parts(int64_t bytes, uint32_t n, int64_t skew, uint64_t seed, uint64_t which);

#endif
