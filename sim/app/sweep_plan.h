/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sweep scenario asks for beyond an ordinary scenario.
 *
 *   [sweep]         seeds (1-5, 8), points_per_task, tasks_at_once
 *   [case:NAME]     what is played: keys that replace those of the scenario; one axis
 *   [variant:NAME]  what is compared: likewise
 *   [grid]          group.key = values by ';': an axis a line. Keys that vary together are joined
 *                   by '&', and so are their values: a.x & b.y = 1 & 2; 3 & 4
 *   [change]        the same lines, but all on one axis: one change at a time, the first point has
 *                   none
 *
 * Every choice on every axis is a grid point; the last axis runs fastest. Above the layers of the
 * file lie, in this order, the case, the variant, [grid], [change], --set and the seed.
 */
#ifndef WEFT_SIM_APP_SWEEP_PLAN_H
#define WEFT_SIM_APP_SWEEP_PLAN_H

#include "sim/app/scenario.h"
#include "sim/app/sweep.h"

/* [sweep] */
struct sweep_config {
    char *seeds;
    int64_t points_per_task, tasks_at_once; /* of a Slurm array */
};
extern const struct param sweep_params[];

#define SWEEP_MOST_POINTS 10000000

struct sweep_plan {
    struct sweep_config config;
    struct scenario *file, *base; /* as the file says; with --set, from which the plan is read */
    char **sets;                  /* borrowed */
    GArray *seeds;                /* uint64_t */
    GPtrArray *axes;              /* struct sweep_axis * */
};

/* Reads file, --set and --seeds (NULL: those of [sweep]). `sets` has to outlive the plan. */
gboolean sweep_plan_read(struct sweep_plan *plan, const char *path, char **sets, const char *seeds,
                         GError **error);
void sweep_plan_clear(struct sweep_plan *plan);

uint32_t sweep_plan_n_grid(const struct sweep_plan *plan);

/* Grid points that agree when divided by strides[i] are alike on all but the last i + 1 axes;
 * returns how many strides there are, ETA_MOST_LEVELS at most. In points, not grid points. */
size_t sweep_plan_strides(const struct sweep_plan *plan, uint32_t *strides);

/* The scenario of a grid point with the first seed, resolved; NULL with an error. */
struct scenario *sweep_plan_scenario(const struct sweep_plan *plan, uint32_t grid, GError **error);

/* Fills columns, grid and points of a sweep whose folder is set. */
gboolean sweep_plan_expand(const struct sweep_plan *plan, struct sweep *sweep, GError **error);

#endif
