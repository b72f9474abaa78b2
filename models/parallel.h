/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run on several threads, with the results of one, to the byte.
 *
 * Each part of the fabric (partition.h) has an event queue, a packet pool, counters and a player of
 * its own. All parts play the same window of time, from the earliest event anywhere to a lookahead
 * later; then they meet, and what was sent across is handed over. Since nothing sent in a window
 * arrives within it, and since the order of events within an instant depends on nothing but their
 * numbers, each part does what it would do in a run of one thread.
 *
 * A window ends before a look of series or recovery, and before a fault: both are taken while all
 * parts stand still.
 *
 * A port whose wire crosses has a twin in the part of its far end: the port queues and sends, the
 * twin is where packets arrive. At the end the twin's state goes back to the port.
 *
 * The run ends at an instant that no part knows in advance. While some message is not delivered,
 * and its connection cannot fail, its acknowledgement cannot come within the window, and the run
 * cannot end in it; otherwise the window is played by one thread, event by event in the order of
 * one queue.
 */
#ifndef WEFT_MODELS_PARALLEL_H
#define WEFT_MODELS_PARALLEL_H

#include "models/partition.h"
#include "models/player.h"
#include "models/recovery.h"
#include "models/series.h"

struct parallel;

/*
 * Divides a fabric with its hosts; its own queue and pool become those of the first part. Players
 * are to be made by the caller, with parallel_engine() and parallel_part(), in this array.
 */
struct parallel *parallel_new(struct fabric *fabric, const struct partition *partition,
                              struct player *players);

/* Of part `part`. */
struct engine *parallel_engine(struct parallel *parallel, uint32_t part);
struct player_part parallel_part(struct parallel *parallel, uint32_t part);

/*
 * Plays to the end of the run, on a thread for each part, with the looks of series and recovery;
 * the series is finished. Then the fabric and the first player are as after a run of one thread.
 * False: progress() said stop.
 */
bool parallel_run(struct parallel *parallel, struct series *series, struct recovery *recovery);

/*
 * The run was given up since ports wait for each other in a circle of pauses: one thread stops
 * after a number of events that several cannot tell. Nothing was told to the sink; it is to be
 * played by one.
 */
bool parallel_stands_still(const struct parallel *parallel);

/* After the players are cleared and before the fabric is. */
void parallel_free(struct parallel *parallel);

#endif
