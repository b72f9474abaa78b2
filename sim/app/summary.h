/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink that keeps what describes a run as a whole: counts, times and rates by name, the rows of
 * summary.csv. results/README.md says what each means. Eight bytes are kept for each flow.
 *
 * Percentiles are by nearest rank: p99 of n values is the one at rank ceil(0.99 n).
 */
#ifndef WEFT_SIM_APP_SUMMARY_H
#define WEFT_SIM_APP_SUMMARY_H

#include "models/backend.h"
#include "sim/app/split.h"

struct summary_row {
    char *metric, *unit;
    char *value; /* "" where the quantity does not exist; integers whole, others by %.9g */
};

/* Wire bytes of the links of a tier in one direction, for how evenly they are used. */
struct summary_load {
    int64_t n, bytes, most;
    double squares;
};

#define SUMMARY_N_TIERS 8

struct summary {
    GArray *rows; /* struct summary_row, after summary_finish() */
    /* gathered */
    GArray *completion_ps;            /* int64_t, one a finished flow */
    GArray *groups;                   /* struct sink_group, names owned */
    struct split transports, reaches; /* the flows by class */
    GArray *metrics;                  /* struct summary_row, from the sink */
    int64_t n_flows[3];               /* by enum sink_status */
    int64_t n_fast;                   /* slowdown < 1 */
    int64_t packets, retransmitted_packets, spurious_retransmissions, timeouts, marked_packets;
    int64_t delivered_bytes, offered_bytes; /* payload; of all flows seen */
    int64_t start_ps, end_ps;               /* first start, last end at a receiver; or SINK_NEVER */
    struct summary_load load[SUMMARY_N_TIERS][2]; /* by tier of the link; 0 up, 1 down */
    int64_t dropped_packets[SINK_N_DROPS];
    int64_t port_marked_packets, max_queue_bytes;
    int64_t pauses_sent, pauses_received, paused_ps;
};

void summary_init(struct summary *summary);
void summary_clear(struct summary *summary);

/* What experiment_play() is given. */
struct sink summary_sink(struct summary *summary);

/* The same records, for a sink that does more. */
void summary_flow(struct summary *summary, const struct sink_flow *flow);
void summary_port(struct summary *summary, const struct sink_port *port);
void summary_group(struct summary *summary, const struct sink_group *group);
void summary_metric(struct summary *summary, const struct sink_metric *metric);

/* Makes the rows. `result` may be NULL. */
void summary_finish(struct summary *summary, const struct backend_result *result);

/* A row's value as text, NULL if there is no such metric; "" if it has none in this run. */
const char *summary_text(const struct summary *summary, const char *metric);

/* The same as a number; NAN in both cases. */
double summary_value(const struct summary *summary, const char *metric);

/*
 * Over all flows, unlike the rows: the completion time at rank ceil(per_mille n / 1000), one that
 * did not finish counting as longer than all others; SINK_NEVER where the rank falls on such a one.
 * After summary_finish().
 */
int64_t summary_percentile_ps(const struct summary *summary, unsigned per_mille);

/*
 * Mean busbw of the groups that have one, 0 for one that did not end; without such groups the
 * payload delivered over first start to last end or, if a flow did not finish, to the run's end.
 */
double summary_throughput_bps(const struct summary *summary, const struct backend_result *result);

/*
 * How long recovery from the run's first fault took, as its row says; "" where there was no fault
 * or no recovery. After summary_finish().
 */
const char *summary_recovery(const struct summary *summary);

/* end_receiver - start over ideal in millionths, to the nearest; -1 where there is none. */
int64_t summary_slowdown_ppm(const struct sink_flow *flow);

/* Bytes per second of a group, times factor_n / factor_d for busbw, in bit/s; 0 if unfinished. */
double summary_algbw_bps(const struct sink_group *group);
double summary_busbw_bps(const struct sink_group *group);

#endif
