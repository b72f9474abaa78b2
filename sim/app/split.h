/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flows of a run by class: what each transport, or each reach (scale-up, scale-out, long
 * distance), got of it. Rows of summary.csv; only where a run has more than one class.
 * Percentiles are by nearest rank, as in summary.h.
 */
#ifndef WEFT_SIM_APP_SPLIT_H
#define WEFT_SIM_APP_SPLIT_H

#include "sim/core/sink.h"
#include <glib.h>

struct split_class {
    char *name;
    int64_t n_flows, n_finished;
    int64_t offered_bytes, delivered_bytes; /* payload */
    int64_t retransmitted_packets;
    int64_t start_ps, end_ps; /* first start, last end at a receiver; or SINK_NEVER */
    double goodput_sum_bps;   /* over finished flows: bytes / completion */
    GArray *completion_ps;    /* int64_t, one a finished flow */
};

struct split {
    GArray *classes; /* struct split_class, in the order of their first flow */
};

void split_init(struct split *split);
void split_clear(struct split *split);
void split_add(struct split *split, const char *name, const struct sink_flow *flow);

/* Ascending; and the value at rank ceil(per_mille n / 1000), SINK_NEVER of none. */
void split_sort(GArray *times_ps);
int64_t split_nearest_rank(const GArray *sorted_ps, guint per_mille);

#endif
