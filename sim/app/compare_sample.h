/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one run (a point with a seed) says in a comparison: a few numbers, gathered by a sink.
 */
#ifndef WEFT_SIM_APP_COMPARE_SAMPLE_H
#define WEFT_SIM_APP_COMPARE_SAMPLE_H

#include "sim/core/sink.h"
#include <glib.h>

enum compare_metric {
    COMPARE_BUSBW,          /* mean over the collectives; 0 for one that did not end */
    COMPARE_COMPLETION_P50, /* of a message, sender's start to last byte at the receiver; */
    COMPARE_COMPLETION_P99, /* one that did not end counts as longer than all others */
    COMPARE_RETRANSMITTED,
    COMPARE_TIMEOUTS,
    COMPARE_SPURIOUS,
    COMPARE_UNFINISHED, /* flows that did not finish, failed ones included */
    COMPARE_FAILED,     /* flows that gave up */
    COMPARE_PACKETS,    /* data packets sent, retransmissions included */
    COMPARE_MARKED,
    COMPARE_LOST,     /* packets of any class lost on wires */
    COMPARE_DROPPED,  /* packets dropped by full queues or for want of a route */
    COMPARE_DURATION, /* first start to last end; NaN if something did not end */
    COMPARE_N_METRICS
};

/* The metric's name with its unit, as a column is called. */
const char *compare_metric_name(enum compare_metric metric);

struct compare_sample {
    double values[COMPARE_N_METRICS];
};

struct compare_gather {
    GArray *completions_us; /* double */
    double busbw_sum;
    uint32_t n_groups;
    int64_t first_start_ps, last_end_ps, bytes;
    struct compare_sample sample;
};

void compare_gather_init(struct compare_gather *gather);

/* The sink that fills `gather`, which has to outlive it. */
struct sink compare_gather_sink(struct compare_gather *gather);

/* Frees what gather holds and returns the sample. */
struct compare_sample compare_gather_finish(struct compare_gather *gather);

#endif
