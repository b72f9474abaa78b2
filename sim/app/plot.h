/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures by gnuplot, which reads result files and is run as a program of its own. */
#ifndef WEFT_SIM_APP_PLOT_H
#define WEFT_SIM_APP_PLOT_H

#include <glib.h>

#define PLOT_ERROR plot_error_quark()
GQuark plot_error_quark(void);
enum plot_error { PLOT_ERROR_NO_SCRIPT, PLOT_ERROR_NO_GNUPLOT, PLOT_ERROR_FAILED };

/*
 * Runs `script`, a file of the folder plots/ beside the ready scenarios (ready_roots()), on the
 * results in `folder`, once for each of `formats` ("png", "svg"; NULL at the end), with `title`
 * above. The script is started in the folder, is given folder (.), plots, format and title, and has
 * to write FOLDER/SCRIPT.FORMAT. The error says what to do.
 */
gboolean plot_draw(const char *script, const char *folder, const char *const *formats,
                   const char *title, GError **error);

#endif
