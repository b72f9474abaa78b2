/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far a run is, on standard error: one line that is rewritten on a terminal, a line at most
 * every five seconds elsewhere. SIGINT and SIGTERM are blocked and looked for here, so that no
 * handler and no global is needed: one of them stops the run.
 */
#ifndef WEFT_SIM_APP_PROGRESS_H
#define WEFT_SIM_APP_PROGRESS_H

#include "models/backend.h"

struct progress {
    bool quiet, terminal;
    int64_t start_us, next_us; /* monotonic */
    int signal;                /* that stopped the run; 0: none */
    bool shown;
    double expected_hops; /* of the whole run, from a survey */
};

/* Blocks the two signals for this thread and those it starts. */
void progress_begin(struct progress *progress, bool quiet, double expected_hops);

/* The time left, from the packet-hops that a survey expects or, when there were more of them, from
 * the operations that are done; negative if neither can tell. */
double progress_left_s(const struct backend_progress *now, double expected_hops, double elapsed_s);

/* What experiment_play() is given, with the struct as data. */
bool progress_report(void *data, const struct backend_progress *now);

/* Takes the line from the terminal. */
void progress_end(struct progress *progress);

#endif
