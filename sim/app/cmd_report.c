/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft report: a folder of results as one HTML page. */
#include "sim/app/command.h"
#include "sim/app/report.h"
#include "sim/stats/stats.h"
#include <stdio.h>

static int report(const char *folder, const char *out, GError **error)
{
    struct results *results = results_read(folder, error);
    g_autofree char *path = NULL;
    guint n_missing = 0;
    int code = COMMAND_DONE;

    if (!results)
        return COMMAND_WRONG;
    path = out ? g_strdup(out) : results_path(results, "report.html");
    if (!report_write(results, path, &n_missing, error))
        code = COMMAND_WRONG;
    else
        printf("%s\n", path);
    if (n_missing > 0)
        fprintf(stderr, "weft report: %u figures are not drawn; the page says why\n", n_missing);
    results_free(results);
    return code;
}

int command_report(int argc, char **argv)
{
    g_autofree char *out = NULL;
    const GOptionEntry entries[] = {{"out", 'o', 0, G_OPTION_ARG_FILENAME, &out,
                                     "The page; DIR/report.html unless given", "FILE.html"},
                                    G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context =
        g_option_context_new("DIR - a folder of results as one HTML page");
    GError *error = NULL;
    int code = COMMAND_WRONG;

    stats_init();
    g_option_context_set_summary(
        context,
        "DIR is what weft run, compare or sweep has left. The page needs no network and no "
        "file beside it: what was played,\nfigures, tables, every parameter that differs "
        "from its default, warnings, and how to make it all again.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (g_option_context_parse(context, &argc, &argv, &error)) {
        if (argc == 2)
            code = report(argv[1], out, &error);
        else
            g_set_error_literal(&error, COMMAND_ERROR, 1, "one folder of results is expected");
    }
    return error ? command_fail("report", error) : code;
}
