/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weft plot: draws the figures that a folder of results has data for. Beside each figure NAME.png
 * and NAME.svg it leaves the table it is drawn from, NAME.csv.
 */
#include "sim/app/command.h"
#include "sim/app/figure.h"
#include "sim/stats/stats.h"
#include <stdio.h>
#include <string.h>

struct options {
    char *figure, *format;
    gboolean list;
};

/* "png,svg" as a list; NULL with an error. g_strfreev. */
static char **parse_formats(const char *text, GError **error)
{
    static const char *const known[] = {"png", "svg", NULL};
    char **formats = g_strsplit(text, ",", -1);
    bool fine = formats[0] != NULL;

    for (char **format = formats; fine && *format; format++)
        fine = g_strv_contains(known, g_strstrip(*format));
    if (fine)
        return formats;
    g_set_error(error, COMMAND_ERROR, 1, "--format %s: png, svg or both by a comma are expected",
                text);
    g_strfreev(formats);
    return NULL;
}

static gboolean draw(const struct figure *figure, const struct results *results, char **formats,
                     GError **error)
{
    g_autoptr(GString) notes = g_string_new("");
    g_auto(GStrv) lines = NULL;

    if (!figure_draw(figure, results, (const char *const *)formats, notes, error))
        return FALSE;
    printf("%s/%s.%s", results->folder, figure->name, formats[0]);
    for (char **format = formats + 1; *format; format++)
        printf(", .%s", *format);
    printf(": %s\n", figure->summary);
    lines = g_strsplit(g_strchomp(notes->str), "\n", -1);
    for (char **line = lines; *line && **line; line++)
        printf("  %s\n", *line);
    return TRUE;
}

/* Every figure for which there is data; an error if there is none. */
static gboolean draw_all(const struct results *results, char **formats, GError **error)
{
    g_autoptr(GString) why = g_string_new(NULL);
    const struct figure *figure;
    guint n = 0;

    for (size_t i = 0; (figure = figure_at(i)) != NULL; i++) {
        g_autoptr(GError) fault = NULL;

        if (draw(figure, results, formats, &fault)) {
            n++;
            continue;
        }
        if (!g_error_matches(fault, FIGURE_ERROR, FIGURE_ERROR_NO_DATA)) {
            g_propagate_error(error, g_steal_pointer(&fault));
            return FALSE;
        }
        g_string_append_printf(why, "%s%s: %s", why->len ? "; " : "", figure->name, fault->message);
    }
    if (n == 0)
        g_set_error(error, FIGURE_ERROR, FIGURE_ERROR_NO_DATA,
                    "%s: this %s has nothing to draw (%s)", results->folder,
                    results_kind_name(results->kind), why->str);
    return n > 0;
}

static gboolean plot(const struct options *options, const char *folder, GError **error)
{
    g_auto(GStrv) formats = parse_formats(options->format ? options->format : "png,svg", error);
    const struct figure *figure = NULL;
    struct results *results = NULL;
    gboolean ok = formats != NULL;

    if (ok && options->figure)
        ok = (figure = figure_find(options->figure, error)) != NULL;
    if (ok)
        ok = (results = results_read(folder, error)) != NULL;
    if (ok && figure) {
        ok = draw(figure, results, formats, error);
        if (!ok && error && g_error_matches(*error, FIGURE_ERROR, FIGURE_ERROR_NO_DATA))
            g_prefix_error(error, "%s: this %s has no data for %s: ", folder,
                           results_kind_name(results->kind), figure->name);
    } else if (ok)
        ok = draw_all(results, formats, error);
    results_free(results);
    return ok;
}

static void list_figures(void)
{
    const struct figure *figure;

    for (size_t i = 0; (figure = figure_at(i)) != NULL; i++)
        printf("%-16s %s\n", figure->name, figure->summary);
}

int command_plot(int argc, char **argv)
{
    struct options options = {0};
    const GOptionEntry entries[] = {
        {"figure", 0, 0, G_OPTION_ARG_STRING, &options.figure, "Only this figure; see --list",
         "NAME"},
        {"format", 0, 0, G_OPTION_ARG_STRING, &options.format, "png, svg or both (png,svg)",
         "FORMAT"},
        {"list", 0, 0, G_OPTION_ARG_NONE, &options.list, "Names of figures, one a line", NULL},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new("DIR - draw figures of results");
    GError *error = NULL;
    int code = COMMAND_DONE;

    stats_init();
    g_option_context_set_summary(
        context,
        "DIR is what weft run, compare or sweep has left. Every figure that its data allow "
        "is drawn there by gnuplot, from the table\nNAME.csv that is left beside it.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (g_option_context_parse(context, &argc, &argv, &error)) {
        if (options.list)
            list_figures();
        else if (argc != 2)
            g_set_error_literal(&error, COMMAND_ERROR, 1, "one folder of results is expected");
        else
            plot(&options, argv[1], &error);
    }
    if (error)
        code = command_fail("plot", error);
    g_free(options.figure);
    g_free(options.format);
    return code;
}
