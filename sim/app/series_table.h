/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series.csv as curves over time for figures: values of a step are gathered in bins of whole steps,
 * few enough to be drawn. results/README.md describes the file; a quantity that has no row in a
 * step was 0 in it.
 */
#ifndef WEFT_SIM_APP_SERIES_TABLE_H
#define WEFT_SIM_APP_SERIES_TABLE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SERIES_TABLE_MOST_BINS 400
#define SERIES_TABLE_FEW_BINS  60 /* no window makes them fewer */

/* One object's quantity. */
struct series_track {
    const char *object, *metric; /* owned by the table */
    uint64_t id;
    double *sum;     /* over the steps of each bin */
    double *most;    /* of one step of each bin */
    guint32 *n_rows; /* steps of each bin that have a row */
    double total, peak;
};

struct series_table {
    int64_t step_ps, end_ps; /* of a step; of the last one */
    guint n_bins, steps_per_bin;
    GPtrArray *tracks; /* struct series_track *, in order of first appearance */
    GHashTable *index; /* by "object metric id" */
};

/*
 * Reads of FOLDER/series.csv, whose steps are `step_ps` long, the quantities in `wanted` ("flow
 * received", "port queue"; NULL at the end) into bins of `least_steps` or more, unless that made
 * fewer than SERIES_TABLE_FEW_BINS. The error names file and line.
 */
struct series_table *series_table_read(const char *folder, int64_t step_ps, guint least_steps,
                                       const char *const *wanted, GError **error);
void series_table_free(struct series_table *table);

/* Those of an object's metric, by id: struct series_track * const; g_ptr_array_unref. */
GPtrArray *series_table_tracks(const struct series_table *table, const char *object,
                               const char *metric);
const struct series_track *series_table_track(const struct series_table *table, const char *object,
                                              const char *metric, uint64_t id);

/* Middle of a bin, and how long it is; the last one may be shorter. */
double series_table_middle_ms(const struct series_table *table, guint bin);
double series_table_length_s(const struct series_table *table, guint bin);

/* Steps in a bin. */
guint series_table_steps(const struct series_table *table, guint bin);

#endif
