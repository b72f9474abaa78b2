/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that plays points of a sweep, one after the other, for the process that started it: a
 * start of weft costs more than a small point, and what a point does to its process must not hurt
 * the others.
 *
 * It reads a line "IDENTITY SEED NAME" a point from standard input and answers each with one line
 * on standard output; at the end of its input it ends. Standard error is the models' last word.
 *
 *   done                played, whole, in its place
 *   failed WHY          this point has no result
 *   cannot WHY          no point could be written, or the scenario is not the one that was meant
 */
#ifndef WEFT_SIM_APP_SWEEP_WORKER_H
#define WEFT_SIM_APP_SWEEP_WORKER_H

#define SWEEP_WORKER_DONE   "done"
#define SWEEP_WORKER_FAILED "failed "
#define SWEEP_WORKER_CANNOT "cannot "

/* Serves until the input ends; an exit code. */
int sweep_worker(const char *folder);

#endif
