/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder of results as one HTML page that needs nothing beside it: what was played, figures as
 * SVG with a text each, tables, every parameter that differs from its default, what to beware of,
 * and the commands that make it all again. It says the same for the same folder and program.
 */
#ifndef WEFT_SIM_APP_REPORT_H
#define WEFT_SIM_APP_REPORT_H

#include "sim/app/results.h"

/*
 * Writes the page to `path`, whole or not at all; draws each figure that the results allow into
 * their folder. Figures that could not be drawn are told on the page and counted in `n_missing`.
 */
gboolean report_write(const struct results *results, const char *path, guint *n_missing,
                      GError **error);

#endif
