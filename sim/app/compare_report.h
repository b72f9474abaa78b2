/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of a comparison as a table for people and as files; see results/README.md. */
#ifndef WEFT_SIM_APP_COMPARE_REPORT_H
#define WEFT_SIM_APP_COMPARE_REPORT_H

#include "sim/app/compare_plan.h"
#include "sim/app/compare_sample.h"
#include "sim/stats/stats.h"
#include <stdbool.h>
#include <stdio.h>

enum compare_state { COMPARE_WAITING, COMPARE_DONE, COMPARE_BROKEN };

struct compare_run {
    uint32_t point;
    uint64_t seed;
    enum compare_state state;
    char *fault; /* why it is broken; owned */
    struct compare_sample sample;
};

struct compare_results {
    const struct compare_plan *plan;
    const char *const *values; /* of the varied key, as the scenario writes them back; by value */
    const struct compare_run *runs; /* n_points x n_seeds, by point, then seed */
    bool json_lines;                /* tables as lines of JSON too */
};

/* How many runs of a point are done. */
uint32_t compare_n_done(const struct compare_results *results, uint32_t point);

/* The mean of a metric over the seeds of a point that are done. */
struct stats_estimate compare_estimate(const struct compare_results *results, uint32_t point,
                                       enum compare_metric metric);

/*
 * busbw of a point over busbw of the same case and variant at value 0, over the seeds that both
 * have done: the ratio of means of pairs. NaN where there is no value 0, or nothing ended there.
 */
struct stats_estimate compare_share(const struct compare_results *results, uint32_t point);

/* Prints a table a case. */
void compare_report_print(const struct compare_results *results, FILE *out);

/* Writes summary.csv, points.csv and, where loss is varied, closed_form.csv into `folder`. */
gboolean compare_report_write(const struct compare_results *results, const char *folder,
                              GError **error);

/* closed_form.csv alone: the plan's curves from below the least of the losses to above the most. */
gboolean compare_report_write_curves(const struct compare_plan *plan, const double *losses,
                                     guint n_losses, const char *folder, GError **error);

/* Whether the varied key is a loss, for which there are closed forms and a plot. */
bool compare_varies_loss(const struct compare_plan *plan);

#endif
