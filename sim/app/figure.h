/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures that results can be drawn as. Each has a name, a function that reduces results to the
 * table it is drawn from, FOLDER/NAME.csv, and a script plots/NAME.gp that draws that table. What
 * is reduced how is said in results/README.md.
 */
#ifndef WEFT_SIM_APP_FIGURE_H
#define WEFT_SIM_APP_FIGURE_H

#include "sim/app/results.h"

#define FIGURE_ERROR figure_error_quark()
GQuark figure_error_quark(void);
enum figure_error {
    FIGURE_ERROR_NO_DATA, /* the results have nothing for this figure; the text says what it needs
                           */
    FIGURE_ERROR_DATA,    /* they have, but it is wrong */
};

struct figure {
    const char *name;
    const char *summary; /* what is to be seen */
    /* Writes the table, and appends to `notes` lines of what it says, for people who do not see the
     * figure. */
    gboolean (*write)(const struct results *results, GString *notes, GError **error);
};

/* Figure number `index`; NULL past the last. */
const struct figure *figure_at(size_t index);

/* The figure called so; an error names the nearest. */
const struct figure *figure_find(const char *name, GError **error);

/*
 * Writes the table and draws FOLDER/NAME.FORMAT for each of `formats` ("png", "svg"; NULL at the
 * end). Where results have no data for the table, but the table is there, it is drawn as it is.
 */
gboolean figure_draw(const struct figure *figure, const struct results *results,
                     const char *const *formats, GString *notes, GError **error);

/* --- for the files that implement them -------------------------------------------------------- */

/* FOLDER/NAME as a table to write. */
struct table_writer *figure_table(const struct results *results, const char *file, GError **error);

/* Sets FIGURE_ERROR_NO_DATA; returns FALSE. */
gboolean figure_no_data(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

extern const struct figure figure_throughput_loss, figure_plane_scaling, figure_completion_cdf,
    figure_fairness, figure_plane_failure, figure_rates_queues, figure_sweep, figure_effects;

#endif
