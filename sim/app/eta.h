/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long what is left of many runs will take. */
#ifndef WEFT_SIM_APP_ETA_H
#define WEFT_SIM_APP_ETA_H

#include <stddef.h>
#include <stdint.h>

#define ETA_MOST_LEVELS 16

/*
 * CPU time that the runs not yet over will take: each as long as the mean of those that are over
 * and near it. `cost_us` of a run that is over is above 0; `number` is its place in an order in
 * which near runs are alike. Runs whose numbers agree when divided by strides[0] are nearest, then
 * by strides[1], and so on; the last resort are all runs. `number` NULL: 0, 1, 2, ...
 */
int64_t eta_left_us(const int64_t *cost_us, const uint32_t *number, uint32_t n_runs,
                    const uint32_t *strides, size_t n_strides);

#endif
