/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flow completion times as the ns-3 family (HPCC and what came of it) writes them, for the scripts
 * that read them: a line a finished flow, fields by blanks:
 *
 *     sip dip sport dport size start_ns fct_ns standalone_fct_ns
 *
 * Addresses are 8 hexadecimal digits, 11.x.y.1 of host x * 256 + y. sport counts the flows of a
 * pair of hosts from 10000 on, dport is 100, by which those scripts know user flows. The times are
 * those of the receiver, to the nearest nanosecond: fct is end_receiver - start, standalone_fct
 * ideal_ps. (The ns-3 family takes both at the sender, with the way back of the last
 * acknowledgement.)
 */
#ifndef WEFT_SIM_APP_FCT_H
#define WEFT_SIM_APP_FCT_H

#include "sim/core/sink.h"
#include <glib.h>

struct fct {
    GString *text;
    GHashTable *flows; /* of a pair of hosts: how many */
};

void fct_init(struct fct *fct);
void fct_clear(struct fct *fct);

/* Adds the line of a flow, if it has ended. */
void fct_flow(struct fct *fct, const struct sink_flow *flow);

#endif
