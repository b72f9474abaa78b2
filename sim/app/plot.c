/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/plot.h"
#include "sim/app/ready.h"
#include <glib/gstdio.h>
#include <string.h>

G_DEFINE_QUARK(weft - plot, plot_error)

/* What gnuplot complained of, on one line: the last line that says anything. */
static char *last_line(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    const char *last = "it said nothing";

    for (char **line = lines; *line; line++)
        if (*g_strstrip(*line) != '\0')
            last = *line;
    return g_strdup(last);
}

static gboolean draw_one(const char *program, const char *plots, const char *script,
                         const char *folder, const char *format, const char *title, GError **error)
{
    g_autofree char *path = g_build_filename(plots, script, NULL);
    g_autofree char *stem = g_strndup(script, strcspn(script, "."));
    g_autofree char *name = g_strconcat(stem, ".", format, NULL);
    g_autofree char *picture = g_build_filename(folder, name, NULL);
    g_autofree char *said = NULL;
    g_autofree char *script_path = g_canonicalize_filename(path, NULL);
    g_autofree char *plots_path = g_canonicalize_filename(plots, NULL);
    char *arguments[] = {(char *)program, "-c",           script_path,   ".",
                         plots_path,      (char *)format, (char *)title, NULL};
    GStatBuf facts;
    int status;

    g_unlink(picture);
    /* from within the folder: scripts may ask the shell about files of a name that has quotes */
    if (!g_spawn_sync(folder, arguments, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said,
                      &status, error))
        return FALSE;
    if (g_spawn_check_wait_status(status, NULL) && g_stat(picture, &facts) == 0 &&
        facts.st_size > 0)
        return TRUE;
    g_autofree char *line = last_line(said);

    g_set_error(error, PLOT_ERROR, PLOT_ERROR_FAILED, "%s did not draw %s: %s", path, picture,
                line);
    return FALSE;
}

/* The folder plots/ that has `script`, or NULL. */
static char *find_plots(const char *script)
{
    g_auto(GStrv) roots = ready_roots();

    for (char **root = roots; *root; root++) {
        g_autofree char *path = g_build_filename(*root, "plots", script, NULL);

        if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
            return g_path_get_dirname(path);
    }
    return NULL;
}

gboolean plot_draw(const char *script, const char *folder, const char *const *formats,
                   const char *title, GError **error)
{
    g_autofree char *program = g_find_program_in_path("gnuplot");
    g_autofree char *plots = find_plots(script);

    if (!plots) {
        g_set_error(error, PLOT_ERROR, PLOT_ERROR_NO_SCRIPT,
                    "plots/%s is not found; run from weft's folder or name it in WEFT_DATA",
                    script);
        return FALSE;
    }
    if (!program) {
        g_set_error(error, PLOT_ERROR, PLOT_ERROR_NO_GNUPLOT,
                    "gnuplot is not installed (make deps brings it); later: gnuplot -c %s/%s %s %s "
                    "png '%s'",
                    plots, script, folder, plots, title);
        return FALSE;
    }
    for (; *formats; formats++)
        if (!draw_one(program, plots, script, folder, *formats, title, error))
            return FALSE;
    return TRUE;
}
