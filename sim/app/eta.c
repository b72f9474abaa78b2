/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/eta.h"
#include <assert.h>
#include <glib.h>

struct cost {
    int64_t sum_us;
    uint32_t n;
};

int64_t eta_left_us(const int64_t *cost_us, const uint32_t *number, uint32_t n_runs,
                    const uint32_t *strides, size_t n_strides)
{
    struct cost *levels[ETA_MOST_LEVELS + 1];
    uint32_t n_numbers = 0;
    int64_t left_us = 0;

    assert(n_strides <= ETA_MOST_LEVELS);
    for (uint32_t r = 0; r < n_runs; r++)
        n_numbers = MAX(n_numbers, (number ? number[r] : r) + 1);
    for (size_t k = 0; k <= n_strides; k++)
        levels[k] = g_new0(struct cost, k < n_strides ? n_numbers / strides[k] + 1 : 1);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t r = 0; r < n_runs; r++)
            for (size_t k = 0; k <= n_strides; k++) {
                uint32_t group = k < n_strides ? (number ? number[r] : r) / strides[k] : 0;
                struct cost *cost = &levels[k][group];

                if (pass == 0 && cost_us[r] > 0) {
                    cost->sum_us += cost_us[r];
                    cost->n++;
                } else if (pass == 1 && cost_us[r] == 0 && cost->n > 0) {
                    left_us += cost->sum_us / cost->n;
                    break;
                }
            }
    for (size_t k = 0; k <= n_strides; k++)
        g_free(levels[k]);
    return left_us;
}
