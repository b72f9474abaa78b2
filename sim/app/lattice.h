/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a comparison's or a sweep's summary.csv or points.csv as places on axes. One axis may
 * be taken as x; a figure has a panel for each case and a curve for each choice on the other axes.
 */
#ifndef WEFT_SIM_APP_LATTICE_H
#define WEFT_SIM_APP_LATTICE_H

#include "sim/core/table.h"
#include <stdbool.h>

struct lattice {
    const struct table *table;
    int case_, x;   /* columns; -1: there is none */
    uint32_t seed;  /* column "seed" or "seeds", the first behind the axes */
    GArray *curve;  /* uint32_t, columns that tell curves apart, in order */
    int throughput; /* column */
    double scale;   /* throughput in bit/s is scale x field */
};

/*
 * `x` is the beginning of the name of the key on the x axis, such as "loss.rate"; NULL: none. An
 * axis that goes with x, or with an axis before it (it has one value for each value of the other),
 * and one on which all rows stand alike, tell no curves apart. An error where the table is neither
 * or has no such x.
 */
gboolean lattice_init(struct lattice *lattice, const struct table *table, const char *x,
                      GError **error);
void lattice_clear(struct lattice *lattice);

/* What tells the row's curve from others, "MetaRoCE; planes = 4", with the case in front if
 * `with_case`; "all" if nothing does. Without commas and quotes, which gnuplot reads as ends of
 * fields wherever they stand. g_free. */
char *lattice_label(const struct lattice *lattice, uint32_t row, bool with_case);

/* Names of all axes and the row's cells on them, in turn; g_strfreev. */
char **lattice_axes(const struct lattice *lattice, uint32_t row);

/* The row's case, or "" where there is none or the one of a comparison without cases. */
const char *lattice_case(const struct lattice *lattice, uint32_t row);

/* A field as a number; NaN if it is empty or none. lattice_x(): of the x axis, "1%" and "4" alike.
 */
double lattice_number(const struct table *table, uint32_t row, int column);
double lattice_x(const struct lattice *lattice, uint32_t row);

#endif
