/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pool of worker processes (sweep_worker.h) on this machine, and what both ways of playing a
 * sweep show of it.
 */
#ifndef WEFT_SIM_APP_SWEEP_POOL_H
#define WEFT_SIM_APP_SWEEP_POOL_H

#include "sim/app/sweep.h"

struct sweep_pool_config {
    uint32_t n_jobs;
    bool quiet;
    const uint32_t *strides; /* of near points, for the estimate (eta.h) */
    size_t n_strides;
};

/*
 * Plays the points of `todo` (uint32_t: indices of points, each with the identity of its grid
 * point known). A process that dies takes its present point with it, which is recorded as failed;
 * the others go on. SIGINT and SIGTERM stop it: *stopped is set. FALSE if nothing could be played
 * any more: the folder cannot be written, say. What was finished is kept in all cases.
 */
gboolean sweep_pool_play(struct sweep *sweep, const GArray *todo,
                         const struct sweep_pool_config *config, bool *stopped, GError **error);

/* One line: on a terminal the line that is rewritten, elsewhere one more. `left_s` < 0: unknown. */
void sweep_show(uint32_t n_over, uint32_t n_all, uint32_t n_failed, double elapsed_s, double left_s,
                const char *more, bool terminal);

#define SWEEP_TERMINAL_UPDATE_MS 200
#define SWEEP_PLAIN_UPDATE_MS    5000

#endif
