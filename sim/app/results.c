/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/results.h"
#include "sim/app/lattice.h"
#include <string.h>

G_DEFINE_QUARK(weft - results, results_error)

const char *results_kind_name(enum results_kind kind)
{
    static const char *const names[] = {"run", "set of runs", "comparison", "sweep"};

    return names[kind];
}

char *results_path(const struct results *results, const char *file)
{
    return g_build_filename(results->folder, file, NULL);
}

bool results_has(const struct results *results, const char *file)
{
    g_autofree char *path = results_path(results, file);

    return g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

const char *results_setting(const GPtrArray *lines, const char *group, const char *key)
{
    for (guint i = 0; lines && i < lines->len; i++) {
        const struct keyfile_line *line = g_ptr_array_index(lines, i);

        if (line->key && strcmp(line->group, group) == 0 && strcmp(line->key, key) == 0)
            return line->value;
    }
    return NULL;
}

const char *results_metric(const struct table *summary, const char *metric)
{
    for (uint32_t row = 0; row < table_n_rows(summary); row++)
        if (strcmp(table_field(summary, row, 0), metric) == 0)
            return *table_field(summary, row, 1) ? table_field(summary, row, 1) : NULL;
    return NULL;
}

/* --- runs in folders below -------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of folders below that hold the summary of a run, sorted. */
static GPtrArray *runs_below(const char *folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *summary = g_build_filename(folder, name, "summary.csv", NULL);

        if (*name != '.' && g_file_test(summary, G_FILE_TEST_IS_REGULAR))
            g_ptr_array_add(names, g_strdup(name));
    }
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(names, by_text);
    return names;
}

/* --- the folder ------------------------------------------------------------------------------- */

static gboolean find_kind(struct results *results, GError **error)
{
    const struct table *summary = results->summary;
    const char *first = table_column_name(summary, 0);
    const char *second = table_n_columns(summary) > 1 ? table_column_name(summary, 1) : "";

    if (strcmp(first, "metric") == 0 && strcmp(second, "value") == 0)
        results->kind = RESULTS_RUN;
    else if (strcmp(first, "case") == 0 && strcmp(second, "variant") == 0)
        results->kind = RESULTS_COMPARISON;
    else if (strcmp(first, "grid") == 0)
        results->kind = RESULTS_SWEEP;
    else {
        g_set_error(error, RESULTS_ERROR, 0,
                    "%s/summary.csv: not of a run (metric,value,unit), a comparison "
                    "(case,variant,...) or a sweep (grid,...)",
                    results->folder);
        return FALSE;
    }
    return TRUE;
}

static gboolean read_summary(struct results *results, GError **error)
{
    g_autofree char *path = results_path(results, "summary.csv");

    if (results_has(results, "summary.csv")) {
        results->summary = table_read(path, error);
        return results->summary && find_kind(results, error);
    }
    g_autoptr(GPtrArray) below = runs_below(results->folder);

    results->kind = RESULTS_RUNS;
    if (below->len > 0)
        return TRUE;
    if (!g_file_test(results->folder, G_FILE_TEST_IS_DIR))
        g_set_error(error, RESULTS_ERROR, 0,
                    "%s: there is no such folder; one that weft run, compare or sweep has left is "
                    "expected",
                    results->folder);
    else
        g_set_error(error, RESULTS_ERROR, 0,
                    "%s: no results: the summary.csv of a run, a comparison or a sweep is expected",
                    results->folder);
    return FALSE;
}

/* A sweep's own title stands in each of its points. */
static char *sweep_title(const struct results *results)
{
    g_autoptr(GPtrArray) runs = results_runs(results, NULL), lines = NULL;
    g_autofree char *path = NULL;

    if (!runs || runs->len == 0)
        return NULL;
    path = g_build_filename(((struct results_run *)g_ptr_array_index(runs, 0))->folder,
                            "scenario.ini", NULL);
    lines = keyfile_read(path, NULL);
    return g_strdup(results_setting(lines, "scenario", "title"));
}

static gboolean read_settings(struct results *results, GError **error)
{
    g_autofree char *path = results_path(results, "scenario.ini");

    if (results_has(results, "scenario.ini")) {
        results->settings = keyfile_read(path, error);
        if (!results->settings)
            return FALSE;
        results->title = g_strdup(results_setting(results->settings, "compare", "title"));
        if (!results->title)
            results->title = g_strdup(results_setting(results->settings, "scenario", "title"));
    } else if (results->kind == RESULTS_SWEEP)
        results->title = sweep_title(results);
    if (!results->title)
        results->title = g_path_get_basename(results->folder);
    return TRUE;
}

struct results *results_read(const char *folder, GError **error)
{
    struct results *results = g_new0(struct results, 1);

    results->folder = g_strdup(folder);
    for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
        results->folder[n - 1] = '\0';
    if (read_summary(results, error) && read_settings(results, error))
        return results;
    results_free(results);
    return NULL;
}

void results_free(struct results *results)
{
    if (!results)
        return;
    if (results->summary)
        table_free(results->summary);
    if (results->settings)
        g_ptr_array_unref(results->settings);
    g_free(results->title);
    g_free(results->folder);
    g_free(results);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void run_free(void *data)
{
    struct results_run *run = data;

    g_free(run->label);
    g_free(run->seed);
    g_free(run->folder);
    g_strfreev(run->axes);
    g_free(run);
}

/* Takes label, folder and axes. */
static void add_run(GPtrArray *runs, char *label, const char *seed, char *folder, char **axes)
{
    struct results_run *run = g_new(struct results_run, 1);

    *run = (struct results_run){label, g_strdup(seed), folder, axes};
    g_ptr_array_add(runs, run);
}

static gboolean add_points(const struct results *results, GPtrArray *runs, GError **error)
{
    g_autofree char *path = results_path(results, "points.csv");
    struct table *points = table_read(path, error);
    struct lattice lattice;
    uint32_t name = 0;
    gboolean ok = points && table_need_column(points, "name", &name, error) &&
                  lattice_init(&lattice, points, NULL, error);

    for (uint32_t row = 0; ok && row < table_n_rows(points); row++) {
        char *folder =
            g_build_filename(results->folder, "points", table_field(points, row, name), NULL);

        if (g_file_test(folder, G_FILE_TEST_IS_DIR))
            add_run(runs, lattice_label(&lattice, row, true),
                    table_field(points, row, lattice.seed), folder, lattice_axes(&lattice, row));
        else
            g_free(folder);
    }
    if (ok)
        lattice_clear(&lattice);
    if (points)
        table_free(points);
    return ok;
}

GPtrArray *results_runs(const struct results *results, GError **error)
{
    GPtrArray *runs = g_ptr_array_new_with_free_func(run_free);

    if (results->kind == RESULTS_RUN)
        add_run(runs, g_strdup(""), NULL, g_strdup(results->folder), g_new0(char *, 1));
    if (results->kind == RESULTS_RUNS) {
        g_autoptr(GPtrArray) names = runs_below(results->folder);

        for (guint i = 0; i < names->len; i++) {
            const char *name = g_ptr_array_index(names, i);

            add_run(runs, g_strdup(name), NULL, g_build_filename(results->folder, name, NULL),
                    g_new0(char *, 1));
        }
    }
    if (results->kind == RESULTS_SWEEP && results_has(results, "points.csv") &&
        !add_points(results, runs, error))
        g_clear_pointer(&runs, g_ptr_array_unref);
    return runs;
}
