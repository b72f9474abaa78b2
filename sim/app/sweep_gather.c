/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/sweep_gather.h"
#include "sim/core/table.h"
#include "sim/core/units.h"
#include "sim/stats/stats.h"
#include <math.h>
#include <string.h>

#define PRINTED_ROWS 60

/* The columns that are always there, and first. */
static const char *const first_metrics[] = {
    "throughput_bps",     "completion_p50_ps", "completion_p99_ps",
    "completion_p999_ps", "recovery_time_ps",
};
enum { THROUGHPUT, P50, P99, P999, RECOVERY, N_FIRST };

struct results {
    struct sweep *sweep;
    GPtrArray *metrics;   /* char *, in order of first appearance */
    GHashTable *index;    /* name of a column, or "metric|unit" of a row -> its place + 1 */
    GStringChunk *texts;  /* the values' */
    const char ***values; /* by point, then metric; NULL: no such number. rows may be short */
    guint *n_values;      /* by point */
};

struct row { /* the mean of a metric */
    struct stats_estimate estimate;
    double sd;
};

/* --- reading ---------------------------------------------------------------------------------- */

/* "bit/s" as the end of a column's name is "bps". */
static char *column_name(const char *metric, const char *unit)
{
    const char *last = strcmp(unit, "bit/s") == 0 ? "bps" : unit;
    g_auto(GStrv) words = g_strsplit(metric, "_", -1);

    if (*unit == '\0' || strcmp(unit, "count") == 0 ||
        g_strv_contains((const char *const *)words, last))
        return g_strdup(metric);
    return g_strdup_printf("%s_%s", metric, last);
}

static guint metric_index(struct results *results, const char *name)
{
    gpointer place = g_hash_table_lookup(results->index, name);

    if (!place) {
        g_ptr_array_add(results->metrics, g_strdup(name));
        place = GUINT_TO_POINTER(results->metrics->len);
        g_hash_table_insert(results->index, g_strdup(name), place);
    }
    return GPOINTER_TO_UINT(place) - 1;
}

/* The same for a row of a run's file; metric and unit as they stand there are remembered as well.
 */
static guint row_index(struct results *results, const char *metric, const char *unit)
{
    char as_read[128];
    gpointer place;

    g_snprintf(as_read, sizeof as_read, "%s|%s", metric, unit);
    place = g_hash_table_lookup(results->index, as_read);
    if (!place) {
        g_autofree char *column = column_name(metric, unit);

        place = GUINT_TO_POINTER(metric_index(results, column) + 1);
        if (strlen(as_read) == strlen(metric) + 1 + strlen(unit))
            g_hash_table_insert(results->index, g_strdup(as_read), place);
    }
    return GPOINTER_TO_UINT(place) - 1;
}

static void put_value(struct results *results, uint32_t point, guint metric, const char *text)
{
    guint n = results->n_values[point];

    if (metric >= n) {
        results->n_values[point] = MAX(metric + 1, 2 * n);
        results->values[point] =
            g_renew(const char *, results->values[point], results->n_values[point]);
        for (guint i = n; i < results->n_values[point]; i++)
            results->values[point][i] = NULL;
    }
    if (*text)
        results->values[point][metric] = g_string_chunk_insert_const(results->texts, text);
}

static const char *value_of(const struct results *results, uint32_t point, guint metric)
{
    return metric < results->n_values[point] ? results->values[point][metric] : NULL;
}

/* A file of rows metric,value,unit. */
static struct table *read_rows(const char *folder, const char *file, GError **error)
{
    g_autofree char *path = g_build_filename(folder, file, NULL);
    struct table *table = table_read(path, error);

    if (!table ||
        (table_n_columns(table) == 3 && strcmp(table_column_name(table, 0), "metric") == 0))
        return table;
    g_set_error(error, SWEEP_ERROR, 0, "%s: columns metric,value,unit are expected", path);
    table_free(table);
    return NULL;
}

static gboolean take_file(struct results *results, uint32_t point, const char *folder,
                          const char *file, GError **error)
{
    struct sweep_point *own = sweep_point(results->sweep, point);
    struct table *table = read_rows(folder, file, error);

    for (uint32_t row = 0; table && row < table_n_rows(table); row++) {
        const char *metric = table_field(table, row, 0), *text = table_field(table, row, 1);

        if (strcmp(metric, "status") == 0)
            own->status = strcmp(text, sweep_status_name(SWEEP_UNFINISHED)) == 0 ? SWEEP_UNFINISHED
                                                                                 : SWEEP_DONE;
        else if (strcmp(metric, "error") == 0)
            own->error = *text ? g_strdup(text) : NULL;
        else if (strcmp(metric, "complete") != 0) /* what is kept is complete */
            put_value(results, point, row_index(results, metric, table_field(table, row, 2)), text);
    }
    if (!table)
        return FALSE;
    table_free(table);
    return TRUE;
}

/* Where the point's result is: in the sweep's folder or another's; NULL: nowhere. g_free. */
static char *find_result(const struct sweep *sweep, const char *name, char **others)
{
    char *path = sweep_result_path(sweep->folder, name);

    while (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
        g_free(path);
        if (!others || !*others)
            return NULL;
        path = sweep_result_path(*others++, name);
    }
    return path;
}

static gboolean take_point(struct results *results, uint32_t index, char **others, GError **error)
{
    struct sweep_point *point = sweep_point(results->sweep, index);
    g_autofree char *folder = find_result(results->sweep, point->name, others);

    if (!folder)
        return TRUE;
    g_clear_pointer(&point->error, g_free);
    if (take_file(results, index, folder, "point.csv", error) &&
        take_file(results, index, folder, "summary.csv", error))
        return TRUE;
    g_prefix_error(error, "%s is not whole; remove it and play the point again: ", folder);
    return FALSE;
}

static gboolean read_all(struct results *results, char **others, GError **error)
{
    for (int i = 0; i < N_FIRST; i++)
        metric_index(results, first_metrics[i]);
    for (uint32_t i = 0; i < results->sweep->points->len; i++)
        if (!take_point(results, i, others, error))
            return FALSE;
    return TRUE;
}

/* --- statistics ------------------------------------------------------------------------------- */

static bool counts(const struct sweep_point *point)
{
    return point->status == SWEEP_DONE || point->status == SWEEP_UNFINISHED;
}

/* The points of a grid point: from `first` up to the one returned. */
static uint32_t grid_end(const struct sweep *sweep, uint32_t first)
{
    uint32_t end = first;

    while (end < sweep->points->len &&
           sweep_point(sweep, end)->grid == sweep_point(sweep, first)->grid)
        end++;
    return end;
}

/* NaN where a run that counts has no such number: a mean of the others would flatter. */
static struct row mean_of(const struct results *results, uint32_t first, uint32_t end, guint metric)
{
    const struct row none = {{(double)NAN, (double)NAN, 0}, (double)NAN};
    g_autofree double *values = g_new(double, end - first);
    size_t n = 0;

    for (uint32_t i = first; i < end; i++) {
        const char *text = value_of(results, i, metric);
        char *rest = NULL;

        if (!counts(sweep_point(results->sweep, i)))
            continue;
        if (!text)
            return none;
        values[n++] = g_ascii_strtod(text, &rest);
        if (*rest != '\0')
            return none;
    }
    return (struct row){stats_estimate_mean(values, n), stats_sd(values, n)};
}

/* --- files ------------------------------------------------------------------------------------ */

/* Whether the points write their tables as lines of JSON too: one of them tells for all. */
static bool wants_json_lines(const struct sweep *sweep)
{
    g_autofree char *folder = sweep_path(sweep->folder, "grid");
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GKeyFile) file = g_key_file_new();
    const char *name = dir ? g_dir_read_name(dir) : NULL;
    g_autofree char *path = name ? g_build_filename(folder, name, NULL) : NULL;

    if (!path || !g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL))
        return false;
    g_autofree char *value = g_key_file_get_string(file, "run", "json_lines", NULL);

    return g_strcmp0(value, "on") == 0;
}

static struct table_writer *start(const struct sweep *sweep, const char *file, GError **error)
{
    g_autofree char *path = sweep_path(sweep->folder, file);

    return table_writer_new_with(path, wants_json_lines(sweep), error);
}

static void write_columns(struct table_writer *writer, const struct sweep *sweep)
{
    table_writer_field(writer, "grid");
    for (guint i = 0; i < sweep->columns->len; i++)
        table_writer_field(writer, g_ptr_array_index(sweep->columns, i));
}

static void write_cells(struct table_writer *writer, const struct sweep *sweep, uint32_t grid)
{
    table_writer_printf(writer, "%u", grid + 1);
    for (guint i = 0; i < sweep->columns->len; i++)
        table_writer_field(writer, sweep_grid(sweep, grid)->cells[i]);
}

static gboolean write_points(const struct results *results, GError **error)
{
    const struct sweep *sweep = results->sweep;
    struct table_writer *writer = start(sweep, "points.csv", error);

    if (!writer)
        return FALSE;
    table_writer_field(writer, "point");
    table_writer_field(writer, "name");
    write_columns(writer, sweep);
    table_writer_field(writer, "seed");
    table_writer_field(writer, "status");
    table_writer_field(writer, "error");
    for (guint m = 0; m < results->metrics->len; m++)
        table_writer_field(writer, g_ptr_array_index(results->metrics, m));
    table_writer_row(writer);
    for (uint32_t i = 0; i < sweep->points->len; i++) {
        const struct sweep_point *point = sweep_point(sweep, i);

        table_writer_printf(writer, "%u", i + 1);
        table_writer_field(writer, point->name);
        write_cells(writer, sweep, point->grid);
        table_writer_printf(writer, "%" G_GUINT64_FORMAT, point->seed);
        table_writer_field(writer, sweep_status_name(point->status));
        table_writer_field(writer, point->error ? point->error : "");
        for (guint m = 0; m < results->metrics->len; m++) {
            const char *text = value_of(results, i, m);

            table_writer_field(writer, text ? text : "");
        }
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}

static void write_means(struct table_writer *writer, const struct results *results, uint32_t first,
                        uint32_t end)
{
    for (guint m = 0; m < results->metrics->len; m++) {
        struct row row = mean_of(results, first, end, m);

        table_writer_double(writer, row.estimate.value);
        table_writer_double(writer, row.sd);
        table_writer_double(writer, row.estimate.ci95);
    }
}

static gboolean write_summary(const struct results *results, GError **error)
{
    const struct sweep *sweep = results->sweep;
    struct table_writer *writer = start(sweep, "summary.csv", error);

    if (!writer)
        return FALSE;
    write_columns(writer, sweep);
    table_writer_field(writer, "seeds");
    table_writer_field(writer, "complete");
    table_writer_field(writer, "unfinished");
    for (guint m = 0; m < results->metrics->len; m++) {
        const char *metric = g_ptr_array_index(results->metrics, m);

        table_writer_field(writer, metric);
        table_writer_printf(writer, "%s_sd", metric);
        table_writer_printf(writer, "%s_ci95", metric);
    }
    table_writer_row(writer);
    for (uint32_t first = 0, end; first < sweep->points->len; first = end) {
        uint32_t n = 0, n_unfinished = 0;

        end = grid_end(sweep, first);
        for (uint32_t i = first; i < end; i++) {
            n += counts(sweep_point(sweep, i));
            n_unfinished += sweep_point(sweep, i)->status == SWEEP_UNFINISHED;
        }
        write_cells(writer, sweep, sweep_point(sweep, first)->grid);
        table_writer_printf(writer, "%u", n);
        table_writer_field(writer, n == end - first ? "yes" : "no");
        table_writer_printf(writer, "%u", n_unfinished);
        write_means(writer, results, first, end);
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}

/* --- the table for people --------------------------------------------------------------------- */

/* "38.2 Gb/s ± 1.2 %" */
static char *cell_text(struct row row, enum units_kind kind)
{
    g_autofree char *value = NULL;

    if (!isfinite(row.estimate.value))
        return g_strdup("-");
    value = units_display(kind, row.estimate.value);
    if (!isfinite(row.estimate.ci95) || row.estimate.value == 0)
        return g_steal_pointer(&value);
    return g_strdup_printf("%s ± %.2g %%", value,
                           100 * row.estimate.ci95 / fabs(row.estimate.value));
}

static void add_cells(GPtrArray *cells, const struct results *results, uint32_t first)
{
    const struct sweep *sweep = results->sweep;
    uint32_t end = grid_end(sweep, first), n = 0;

    for (guint i = 0; i < sweep->columns->len; i++)
        g_ptr_array_add(cells,
                        g_strdup(sweep_grid(sweep, sweep_point(sweep, first)->grid)->cells[i]));
    for (uint32_t i = first; i < end; i++)
        n += counts(sweep_point(sweep, i));
    g_ptr_array_add(cells, g_strdup_printf("%u/%u", n, end - first));
    for (guint m = 0; m < N_FIRST; m++)
        g_ptr_array_add(cells, cell_text(mean_of(results, first, end, m),
                                         m == THROUGHPUT ? UNITS_RATE : UNITS_TIME));
}

static void print_cells(const GPtrArray *cells, guint n_columns, FILE *out)
{
    g_autofree int *width = g_new0(int, n_columns);

    for (guint i = 0; i < cells->len; i++)
        width[i % n_columns] =
            MAX(width[i % n_columns], (int)g_utf8_strlen(g_ptr_array_index(cells, i), -1));
    for (guint i = 0; i < cells->len; i++) {
        const char *cell = g_ptr_array_index(cells, i);
        bool last = i % n_columns == n_columns - 1;

        fprintf(out, "%s%*s", cell,
                last ? 0 : width[i % n_columns] - (int)g_utf8_strlen(cell, -1) + 2, "");
        if (last)
            fputc('\n', out);
    }
}

static void print_table(const struct results *results, FILE *out)
{
    static const char *const titles[] = {"seeds", "throughput", "p50", "p99", "p99.9", "recovery"};
    const struct sweep *sweep = results->sweep;
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
    guint n_columns = sweep->columns->len + G_N_ELEMENTS(titles), n_rows = 0;

    for (guint i = 0; i < sweep->columns->len; i++)
        g_ptr_array_add(cells, g_strdup(g_ptr_array_index(sweep->columns, i)));
    for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
        g_ptr_array_add(cells, g_strdup(titles[i]));
    for (uint32_t i = 0; i < sweep->points->len; i = grid_end(sweep, i))
        if (n_rows++ < PRINTED_ROWS)
            add_cells(cells, results, i);
    print_cells(cells, n_columns, out);
    if (n_rows > PRINTED_ROWS)
        fprintf(out, "... %u more rows are in summary.csv\n", n_rows - PRINTED_ROWS);
    fprintf(out, "means over seeds ± 95 %% interval; completion of all messages, - where there is "
                 "none or not all end\n");
}

/* --- the whole -------------------------------------------------------------------------------- */

static struct sweep_counts count(const struct sweep *sweep)
{
    struct sweep_counts n = {0};

    for (uint32_t i = 0; i < sweep->points->len; i++) {
        enum sweep_status status = sweep_point(sweep, i)->status;

        n.n_done += status == SWEEP_DONE;
        n.n_unfinished += status == SWEEP_UNFINISHED;
        n.n_failed += status == SWEEP_FAILED;
        n.n_waiting += status == SWEEP_WAITING;
    }
    return n;
}

gboolean sweep_gather(struct sweep *sweep, char **others, struct sweep_counts *counts_out,
                      FILE *table, GError **error)
{
    uint32_t n = sweep->points->len;
    struct results results = {.sweep = sweep,
                              .metrics = g_ptr_array_new_with_free_func(g_free),
                              .index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                              .texts = g_string_chunk_new(4096),
                              .values = g_new0(const char **, n + 1),
                              .n_values = g_new0(guint, n + 1)};

    sweep_look(sweep);
    gboolean ok = read_all(&results, others, error) && write_points(&results, error) &&
                  write_summary(&results, error);

    if (ok && table)
        print_table(&results, table);
    *counts_out = count(sweep);
    for (uint32_t i = 0; i < n; i++)
        g_free(results.values[i]);
    g_free(results.values);
    g_free(results.n_values);
    g_string_chunk_free(results.texts);
    g_hash_table_unref(results.index);
    g_ptr_array_unref(results.metrics);
    return ok;
}
