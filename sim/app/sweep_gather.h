/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the folders of finished points to points.csv, a row a point, and summary.csv, a row a grid
 * point with means over seeds; results/README.md has their columns. Both depend on nothing but the
 * points' files.
 */
#ifndef WEFT_SIM_APP_SWEEP_GATHER_H
#define WEFT_SIM_APP_SWEEP_GATHER_H

#include "sim/app/sweep.h"
#include <stdio.h>

struct sweep_counts {
    uint32_t n_done, n_unfinished, n_failed, n_waiting;
};

/*
 * Reads the results in the sweep's folder and in those of `others` (NULL: none), sets status and
 * error of every point, and writes both files into the sweep's folder. `table`: where to print a
 * table for people, or NULL.
 */
gboolean sweep_gather(struct sweep *sweep, char **others, struct sweep_counts *counts, FILE *table,
                      GError **error);

#endif
