/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fairly, and how soon, the flows of a contest (a group of messages that compete for one
 * receiver, schedule.h) share: from the rows of series.csv, so only where these are taken of flows.
 *
 * Looked at is the time from the last flow's start to the first flow's end, when all are there.
 *   allowance   what a sender may do: its paced rate or, where nothing is paced, its window
 *   goodput     what its receiver got, over a sliding window in which a fair share is 20 packets
 *               of 4 KiB or more, since less cannot be told from the grain of packets
 * Fair is a step in which every flow is within 10 % of the fair share (the mean). Told are, since
 * the last flow's start, the end of the first such step and of the first after which none is unfair
 * (settled), and the share of steps that are fair. All begin with the same allowance, so the first
 * fair step says nothing there, and a transport with a fixed window is settled from the start.
 * Shares within a step, and Jain's index of them, go into the series as rows of the group.
 */
#ifndef WEFT_SIM_APP_FAIRNESS_H
#define WEFT_SIM_APP_FAIRNESS_H

#include "sim/app/experiment.h"

#define FAIRNESS_TOLERANCE   0.1
#define FAIRNESS_GRAIN_BYTES (20 * 4096)

struct fairness;

/*
 * Stands between a run and `next`, which gets every record, the groups' rows after each step and
 * the metrics at the end. NULL where there is nothing to measure: no contest, no series of flows.
 */
struct fairness *fairness_new(const struct experiment *experiment, const struct sink *next);
void fairness_free(struct fairness *fairness); /* NULL is let pass */
const struct sink *fairness_sink(const struct fairness *fairness);

/* After the run: the last step, and what came out. */
void fairness_finish(struct fairness *fairness);

#endif
