/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between two folders of results of one kind: runs, comparisons or sweeps. Parameters
 * come from the resolved scenarios (scenario.ini, or grid/NNNN.ini of a sweep), numbers from
 * summary.csv.
 *
 * A number with an interval (mean, half width of its 95 % interval) differs where the interval of
 * the difference of two independent means, the root of the sum of the squared half widths, leaves
 * out 0. Any other number differs where |a - b| is above `threshold` x max(|a|, |b|).
 */
#ifndef WEFT_SIM_APP_DIFF_H
#define WEFT_SIM_APP_DIFF_H

#include <glib.h>

#define DIFF_ERROR diff_error_quark()
GQuark diff_error_quark(void);

/* One number or parameter; texts as the files have them, NULL where only the other folder has it.
 */
struct diff_item {
    char *where; /* parameter: "[group]"; number of a point: "key = value, ..."; else "" */
    char *name, *unit;
    char *a, *b;
    double a_ci95, b_ci95; /* NAN: no interval */
    guint n_points;        /* parameters of a sweep: grid points in which this is so */
};

struct diff {
    GPtrArray *parameters, *numbers; /* struct diff_item *: those that differ */
    guint n_parameters_same, n_numbers_same;
    const char *kind; /* "runs" or "points": what was compared */
};

/* Reads both folders; FALSE with an error that names the file. diff_clear() in any case. */
gboolean diff_make(struct diff *diff, const char *a, const char *b, double threshold,
                   GError **error);
void diff_clear(struct diff *diff);

#endif
