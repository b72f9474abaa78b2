/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sweep on a Slurm cluster: one job array, several points a task, by sbatch and squeue. Slurm's
 * word on a task counts for nothing but "still there"; what is finished is what has a result. So
 * lost nodes, requeued tasks and tasks that run twice do no harm, and what is missing when the
 * array is gone is submitted again.
 */
#ifndef WEFT_SIM_APP_SWEEP_SLURM_H
#define WEFT_SIM_APP_SWEEP_SLURM_H

#include "sim/app/sweep.h"

struct sweep_slurm_config {
    const char *name; /* of the job */
    char **options;   /* for sbatch, as they are; NULL: none */
    uint32_t points_per_task, tasks_at_once;
    bool quiet;
};

/*
 * Plays the points of `todo` (uint32_t: indices). An array that an earlier call has left at work in
 * the folder is joined. *left is set if SIGINT or SIGTERM ended the watching; the array goes on.
 */
gboolean sweep_slurm_play(struct sweep *sweep, const GArray *todo,
                          const struct sweep_slurm_config *config, bool *left, GError **error);

/* What a task of the array does; `task` is "LIST:NUMBER". Returns an exit code. */
int sweep_slurm_task(const char *folder, const char *task, uint32_t n_jobs);

#endif
