/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What figures over time share. */
#ifndef WEFT_SIM_APP_FIGURE_SERIES_H
#define WEFT_SIM_APP_FIGURE_SERIES_H

#include "sim/app/figure.h"
#include "sim/app/series_table.h"

/*
 * The quantities in `wanted` (series_table.h) of a run whose scenario has the lines `settings`, in
 * bins of `window_ps` or longer. NULL with an error, FIGURE_ERROR_NO_DATA where there is no series.
 */
struct series_table *figure_series_read(const char *folder, const GPtrArray *settings,
                                        const char *const *wanted, int64_t window_ps,
                                        GError **error);

/* Bytes of a bin as Gb/s. */
double figure_series_gbps(const struct series_table *series, const struct series_track *track,
                          guint bin);

/* The same of a flow, over those steps of the bin in which it was there; NaN if it was in none. */
double figure_series_flow_gbps(const struct series_table *series, const struct series_track *track,
                               guint bin);

/* Says what a point of the figure stands for. */
void figure_series_note_step(GString *notes, const struct series_table *series);

#endif
