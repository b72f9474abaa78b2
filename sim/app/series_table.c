/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/series_table.h"
#include "sim/app/results.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FIELDS 6

/* A row; its texts are parts of the line. */
struct row {
    int64_t time_ps;
    uint64_t id;
    const char *object, *metric;
    double value;
};

struct reading {
    FILE *file;
    const char *path;
    char *line;
    size_t size;
    guint number; /* of the line */
};

/* series.csv is written by weft alone, which never has to quote there: a line is split at commas.
 */
static bool split(char *line, struct row *row)
{
    char *fields[N_FIELDS], *end;

    for (int i = 0; i < N_FIELDS; i++) {
        fields[i] = line;
        line += strcspn(line, ",\r\n");
        if ((*line == ',') != (i < N_FIELDS - 1) || (*line == '\0' && i < N_FIELDS - 1))
            return false;
        if (*line)
            *line++ = '\0';
    }
    row->time_ps = g_ascii_strtoll(fields[0], &end, 10);
    if (end == fields[0] || *end || row->time_ps < 0)
        return false;
    row->object = fields[1];
    row->id = g_ascii_strtoull(fields[2], &end, 10);
    if (end == fields[2] || *end)
        return false;
    row->metric = fields[3];
    row->value = g_ascii_strtod(fields[4], &end);
    return end != fields[4] && *end == '\0';
}

/* The next row; false at the end, and with an error at a line that is none. */
static gboolean next_row(struct reading *reading, struct row *row, GError **error)
{
    if (getline(&reading->line, &reading->size, reading->file) < 0)
        return FALSE;
    reading->number++;
    if (split(reading->line, row))
        return TRUE;
    g_set_error(error, RESULTS_ERROR, 0,
                "%s:%u: not a row of a series (time_ps,object,id,metric,value,unit)", reading->path,
                reading->number);
    return FALSE;
}

/* Goes to the first row. */
static gboolean rewind_to_rows(struct reading *reading, GError **error)
{
    rewind(reading->file);
    reading->number = 1;
    if (getline(&reading->line, &reading->size, reading->file) > 0 &&
        g_str_has_prefix(reading->line, "time_ps,object,id,metric,value"))
        return TRUE;
    g_set_error(error, RESULTS_ERROR, 0, "%s: no header time_ps,object,id,metric,value,unit",
                reading->path);
    return FALSE;
}

/* --- bins ------------------------------------------------------------------------------------- */

static gboolean find_end(struct series_table *table, struct reading *reading, GError **error)
{
    GError *fault = NULL;
    struct row row;

    while (next_row(reading, &row, &fault))
        table->end_ps = MAX(table->end_ps, row.time_ps);
    if (fault)
        g_propagate_error(error, fault);
    return fault == NULL;
}

static void set_bins(struct series_table *table)
{
    int64_t n_steps = (table->end_ps + table->step_ps - 1) / table->step_ps;

    table->steps_per_bin =
        (guint)MAX((n_steps + SERIES_TABLE_MOST_BINS - 1) / SERIES_TABLE_MOST_BINS,
                   MIN(table->steps_per_bin, n_steps / SERIES_TABLE_FEW_BINS));
    table->steps_per_bin = MAX(table->steps_per_bin, 1);
    table->n_bins = (guint)((n_steps + table->steps_per_bin - 1) / table->steps_per_bin);
}

guint series_table_steps(const struct series_table *table, guint bin)
{
    int64_t n_steps = (table->end_ps + table->step_ps - 1) / table->step_ps;

    return (guint)MIN(table->steps_per_bin, n_steps - (int64_t)bin * table->steps_per_bin);
}

static int64_t bin_start_ps(const struct series_table *table, guint bin)
{
    return (int64_t)bin * table->steps_per_bin * table->step_ps;
}

static int64_t bin_end_ps(const struct series_table *table, guint bin)
{
    return MIN(bin_start_ps(table, bin + 1), table->end_ps);
}

double series_table_middle_ms(const struct series_table *table, guint bin)
{
    return (double)(bin_start_ps(table, bin) + bin_end_ps(table, bin)) / 2 * 1e-9;
}

double series_table_length_s(const struct series_table *table, guint bin)
{
    return (double)(bin_end_ps(table, bin) - bin_start_ps(table, bin)) * 1e-12;
}

/* --- tracks ----------------------------------------------------------------------------------- */

static void track_free(void *data)
{
    struct series_track *track = data;

    g_free(track->sum);
    g_free(track->most);
    g_free(track->n_rows);
    g_free(track);
}

static struct series_track *find_track(struct series_table *table, const struct row *row)
{
    g_autofree char *key =
        g_strdup_printf("%s %s %" G_GUINT64_FORMAT, row->object, row->metric, row->id);
    struct series_track *track = g_hash_table_lookup(table->index, key);

    if (track)
        return track;
    track = g_new0(struct series_track, 1);
    track->object = g_intern_string(row->object);
    track->metric = g_intern_string(row->metric);
    track->id = row->id;
    track->sum = g_new0(double, table->n_bins);
    track->most = g_new0(double, table->n_bins);
    track->n_rows = g_new0(guint32, table->n_bins);
    g_hash_table_insert(table->index, g_steal_pointer(&key), track);
    g_ptr_array_add(table->tracks, track);
    return track;
}

static void take_row(struct series_table *table, const struct row *row)
{
    struct series_track *track = find_track(table, row);
    int64_t step = (row->time_ps + table->step_ps - 1) / table->step_ps - 1;
    guint bin = (guint)(MAX(step, 0) / table->steps_per_bin);

    bin = MIN(bin, table->n_bins - 1);
    track->sum[bin] += row->value;
    track->most[bin] = MAX(track->most[bin], row->value);
    track->n_rows[bin]++;
    track->total += row->value;
    track->peak = MAX(track->peak, row->value);
}

static bool is_wanted(const struct row *row, const char *const *wanted)
{
    size_t length = strlen(row->object);

    for (; *wanted; wanted++)
        if (strncmp(*wanted, row->object, length) == 0 && (*wanted)[length] == ' ' &&
            strcmp(*wanted + length + 1, row->metric) == 0)
            return true;
    return false;
}

static gboolean read_all(struct series_table *table, struct reading *reading,
                         const char *const *wanted, GError **error)
{
    GError *fault = NULL;
    struct row row;

    if (!rewind_to_rows(reading, error) || !find_end(table, reading, error))
        return FALSE;
    set_bins(table);
    if (!rewind_to_rows(reading, error))
        return FALSE;
    while (next_row(reading, &row, &fault))
        if (is_wanted(&row, wanted))
            take_row(table, &row);
    if (fault)
        g_propagate_error(error, fault);
    return fault == NULL;
}

struct series_table *series_table_read(const char *folder, int64_t step_ps, guint least_steps,
                                       const char *const *wanted, GError **error)
{
    struct series_table *table = g_new0(struct series_table, 1);
    g_autofree char *path = g_build_filename(folder, "series.csv", NULL);
    struct reading reading = {.file = fopen(path, "r"), .path = path};
    gboolean ok = FALSE;

    table->step_ps = step_ps;
    table->steps_per_bin = MAX(least_steps, 1);
    table->tracks = g_ptr_array_new_with_free_func(track_free);
    table->index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (reading.file) {
        ok = read_all(table, &reading, wanted, error);
        fclose(reading.file);
    } else
        g_set_error(error, RESULTS_ERROR, 0, "%s: %s", path, g_strerror(errno));
    free(reading.line);
    if (!ok) {
        series_table_free(table);
        return NULL;
    }
    return table;
}

void series_table_free(struct series_table *table)
{
    g_hash_table_unref(table->index);
    g_ptr_array_unref(table->tracks);
    g_free(table);
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = (*(const struct series_track *const *)a)->id;
    uint64_t y = (*(const struct series_track *const *)b)->id;

    return (x > y) - (x < y);
}

GPtrArray *series_table_tracks(const struct series_table *table, const char *object,
                               const char *metric)
{
    GPtrArray *tracks = g_ptr_array_new();

    for (guint i = 0; i < table->tracks->len; i++) {
        struct series_track *track = g_ptr_array_index(table->tracks, i);

        if (strcmp(track->object, object) == 0 && strcmp(track->metric, metric) == 0)
            g_ptr_array_add(tracks, track);
    }
    g_ptr_array_sort(tracks, by_id);
    return tracks;
}

const struct series_track *series_table_track(const struct series_table *table, const char *object,
                                              const char *metric, uint64_t id)
{
    g_autofree char *key = g_strdup_printf("%s %s %" G_GUINT64_FORMAT, object, metric, id);

    return g_hash_table_lookup(table->index, key);
}
