/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What became of the traffic at each fault: measured from the hosts' counters alone, so it serves
 * any engine.
 *
 * Goodput is the payload that all hosts place, looked at 50 times in a window (faults.window).
 * Before: its average over the two windows (fewer near the start) in front of the first fault.
 * Expected: before x the share of the hosts' link capacity that is up, over the share that was up
 * before. Each change is measured until the next one or the end:
 *   detection      of a fault that begins: to the first step in which hosts send more packets again
 *                  than in any step before the first fault; senders have noticed
 *   dip            1 - the least goodput / before, in a tenth of a window
 *   recovery       to the first t from which no window, t + window and so on, has a goodput of more
 *                  than 1 % below what is expected; so it is early by 1 % of a window over the
 *                  depth of the dip at most
 *   reached        goodput of the last window / before
 *   retransmitted  payload sent again
 * Changes are the begin of each fault and, unless it flaps, its end. In a run that finished, the
 * end is when the first NIC port that no fault touches has received all it will: what comes after
 * is no more the traffic of before. A quantity that does not exist (no traffic before, no recovery,
 * less than a window to look at) is left empty. Source: our choice.
 */
#ifndef WEFT_MODELS_RECOVERY_H
#define WEFT_MODELS_RECOVERY_H

#include "models/backend.h"

struct recovery {
    const struct backend_run *run;
    const struct engine *engine;
    int64_t next_ps; /* of the next look; INT64_MAX without faults */
    /* private */
    int64_t window_ps, step_ps;
    GArray *samples;       /* struct recovery_sample, one a step */
    int64_t *placed_bytes; /* by NIC port (index in graph.port_list), at the last look */
    guint *last;           /* by NIC port: the last sample in which it placed anything */
};

/* Off unless the run has faults that begin within it. */
void recovery_init(struct recovery *recovery, const struct backend_run *run,
                   const struct engine *engine);
void recovery_clear(struct recovery *recovery);

/* All events up to and including next_ps have happened: looks, and sets the next. */
void recovery_step(struct recovery *recovery);

/* Hands the measures of each change to the sink, as metrics fault_NAME_... */
void recovery_report(const struct recovery *recovery, bool finished, const struct sink *sink);

/* "NAME" of a fault in metrics: its group's, or its number in the list from 0; g_free. */
char *recovery_name(const struct fault_list *list, guint index);

#endif
