/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of a fabric that threads of one run may play at a distance from each other. Hosts that hang
 * on the same switches, in any plane, are of one part, with those switches; a switch above them is
 * of the part of its neighbours below, or of any where they differ. So only links between switches
 * cross, and what is sent over one arrives no sooner than its delay: the lookahead.
 * Source: Chandy and Misra, "Distributed simulation", IEEE TSE 5(5), 1979; windows: Lubachevsky,
 * "Efficient distributed event-driven simulations", CACM 32(1), 1989.
 */
#ifndef WEFT_MODELS_PARTITION_H
#define WEFT_MODELS_PARTITION_H

#include "models/fabric.h"

struct partition {
    uint32_t n;
    uint32_t *of;         /* by node: its part */
    int64_t lookahead_ps; /* no part hears of another sooner; nor a sender of its receiver */
};

/*
 * At most `n_most` parts for the run of a fabric that is set up. If it cannot have two or more the
 * partition has one, and `*why` says so in words that follow "one thread: ". Clear it in any case.
 */
void partition_make(struct partition *partition, const struct fabric *fabric, uint32_t n_most,
                    const char **why);
void partition_clear(struct partition *partition);

/* True if the directed port leads from one part to another. */
static inline bool partition_crosses(const struct partition *partition, const struct graph *graph,
                                     uint32_t port)
{
    return partition->of[graph_port_node(graph, port)] !=
           partition->of[graph_port_peer(graph, port)];
}

#endif
