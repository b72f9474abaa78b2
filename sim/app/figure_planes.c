/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Goodput by plane over time, while planes fail and return: of one run, or of each choice of a
 * sweep or a set of runs, by its first seed. Needs series.csv with planes.
 */
#include "sim/app/figure_series.h"
#include "sim/core/fault.h"
#include <string.h>

#define MOST_PANELS 8   /* choices */
#define MOST_MARKS  100 /* of one fault */

/* One run that is drawn. */
struct panel {
    char *label, *folder;
    GPtrArray *settings;
    struct series_table *series;
    GPtrArray *goodput; /* struct series_track *, by plane */
};

static void panel_free(void *data)
{
    struct panel *panel = data;

    if (panel->goodput)
        g_ptr_array_unref(panel->goodput);
    if (panel->series)
        series_table_free(panel->series);
    if (panel->settings)
        g_ptr_array_unref(panel->settings);
    g_free(panel->label);
    g_free(panel->folder);
    g_free(panel);
}

/* NULL with an error. */
static struct panel *read_panel(const struct results_run *run, GError **error)
{
    static const char *const wanted[] = {"plane goodput", "plane dropped_packets", NULL};
    g_autofree char *scenario = g_build_filename(run->folder, "scenario.ini", NULL);
    g_autofree char *series = g_build_filename(run->folder, "series.csv", NULL);
    struct panel *panel;

    if (!g_file_test(series, G_FILE_TEST_IS_REGULAR)) {
        figure_no_data(error, "no series.csv");
        return NULL;
    }
    panel = g_new0(struct panel, 1);
    panel->label = g_strdup(run->label);
    panel->folder = g_strdup(run->folder);
    panel->settings = keyfile_read(scenario, error);
    if (panel->settings)
        panel->series = figure_series_read(run->folder, panel->settings, wanted, 0, error);
    if (panel->series) {
        panel->goodput = series_table_tracks(panel->series, "plane", "goodput");
        return panel;
    }
    panel_free(panel);
    return NULL;
}

/* Those with a series of two planes or more, the first seed of each choice; NULL with an error. */
static GPtrArray *read_panels(const struct results *results, GError **error)
{
    g_autoptr(GPtrArray) runs = results_runs(results, error);
    g_autoptr(GPtrArray) panels = g_ptr_array_new_with_free_func(panel_free);
    const char *before = NULL;

    for (guint i = 0; runs && i < runs->len; i++) {
        const struct results_run *run = g_ptr_array_index(runs, i);
        g_autoptr(GError) fault = NULL;
        struct panel *panel;

        if (before && strcmp(before, run->label) == 0)
            continue;
        before = run->label;
        panel = read_panel(run, &fault);
        if (panel && panel->goodput->len >= 2)
            g_ptr_array_add(panels, panel);
        else if (panel)
            panel_free(panel);
        else if (!g_error_matches(fault, FIGURE_ERROR, FIGURE_ERROR_NO_DATA)) {
            g_propagate_error(error, g_steal_pointer(&fault));
            return NULL;
        }
        if (panels->len > MOST_PANELS) {
            figure_no_data(error, "more than %d runs with a series, a panel each", MOST_PANELS);
            return NULL;
        }
    }
    if (!runs)
        return NULL;
    if (panels->len > 0)
        return g_steal_pointer(&panels);
    figure_no_data(error, "it needs a series.csv with two planes or more (run.series_step, "
                          "run.series = plane)");
    return NULL;
}

/* --- faults ----------------------------------------------------------------------------------- */

struct marks {
    struct table_writer *writer;
    const char *label; /* of the run */
    int64_t end_ps;    /* of its series */
};

static void put_mark(const struct marks *marks, int64_t time_ps, const char *what)
{
    struct table_writer *writer = marks->writer;

    table_writer_field(writer, marks->label);
    table_writer_double(writer, (double)time_ps * 1e-9);
    table_writer_field(writer, what);
    table_writer_row(writer);
}

/* When it comes and goes, up to the end of the series. */
static void mark_fault(const struct marks *marks, const struct fault *fault)
{
    g_autofree char *what = fault_what(fault), *undone = g_strconcat("end of ", what, NULL);
    int64_t until_ps = MIN(fault->until_ps, marks->end_ps);
    bool flaps = fault->flap_period_ps > 0;

    for (int64_t i = 0; i < (flaps ? MOST_MARKS : 1); i++) {
        int64_t at_ps = fault->at_ps + i * fault->flap_period_ps;
        int64_t gone_ps = flaps ? at_ps + fault->flap_time_ps : fault->until_ps;

        if (at_ps > until_ps || (fault->flap_count > 0 && i >= fault->flap_count))
            return;
        put_mark(marks, at_ps, what);
        if (gone_ps <= marks->end_ps)
            put_mark(marks, gone_ps, undone);
    }
}

/* A [fault:NAME] group of the resolved scenario; false if it is none that can be read. */
static bool parse_fault(const GPtrArray *settings, const char *group, struct fault *fault)
{
    static const char *const keys[] = {"at", "until", "flap_period", "flap_time"};
    const char *object = results_setting(settings, group, "object"), *why;
    const char *change = results_setting(settings, group, "change");
    const char *count = results_setting(settings, group, "flap_count");
    int64_t times_ps[] = {0, FAULT_NEVER, 0, 0};

    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        const char *text = results_setting(settings, group, keys[i]);

        if (text && strcmp(text, "never") != 0 &&
            !units_parse(UNITS_TIME, text, &times_ps[i], &why))
            return false;
    }
    *fault = (struct fault){.at_ps = times_ps[0],
                            .until_ps = times_ps[1],
                            .flap_period_ps = times_ps[2],
                            .flap_time_ps = times_ps[3],
                            .flap_count = count ? g_ascii_strtoll(count, NULL, 10) : 0};
    return object && change && fault_parse_object(object, &fault->object, &why) &&
           fault_parse_change(change, fault, &why);
}

static void mark_groups(const struct marks *marks, const GPtrArray *settings)
{
    for (guint i = 0; settings && i < settings->len; i++) {
        const struct keyfile_line *line = g_ptr_array_index(settings, i);
        struct fault fault;

        if (!line->key && g_str_has_prefix(line->group, "fault:") &&
            parse_fault(settings, line->group, &fault))
            mark_fault(marks, &fault);
    }
}

/* The list of faults that the scenario names: a path from its folder. */
static void mark_file(const struct marks *marks, const GPtrArray *settings, const char *folder)
{
    const char *file = results_setting(settings, "faults", "file");
    g_autofree char *path = NULL;
    struct fault_list list;

    if (!file || *file == '\0')
        return;
    path = g_canonicalize_filename(file, folder);
    fault_list_init(&list);
    if (fault_list_read(&list, path, NULL))
        for (guint i = 0; i < list.faults->len && i < MOST_MARKS; i++)
            mark_fault(marks, fault_at(&list, i));
    fault_list_clear(&list);
}

static gboolean write_marks(const struct results *results, const GPtrArray *panels, GError **error)
{
    struct table_writer *writer = figure_table(results, "plane-failure-faults.csv", error);

    if (!writer)
        return FALSE;
    table_writer_field(writer, "variant");
    table_writer_field(writer, "time_ms");
    table_writer_field(writer, "fault");
    table_writer_row(writer);
    for (guint i = 0; i < panels->len; i++) {
        const struct panel *panel = g_ptr_array_index(panels, i);
        const struct marks marks = {writer, panel->label, panel->series->end_ps};

        mark_groups(&marks, panel->settings);
        mark_file(&marks, panel->settings, panel->folder);
    }
    return table_writer_close(writer, error);
}

/* --- planes ----------------------------------------------------------------------------------- */

static void write_point(struct table_writer *writer, const struct panel *panel, guint bin,
                        const char *plane, double goodput_gbps, double lost_packets)
{
    table_writer_field(writer, panel->label);
    table_writer_field(writer, plane);
    table_writer_double(writer, series_table_middle_ms(panel->series, bin));
    table_writer_double(writer, goodput_gbps);
    table_writer_double(writer, lost_packets);
    table_writer_row(writer);
}

static void write_plane(struct table_writer *writer, const struct panel *panel,
                        const struct series_track *goodput)
{
    const struct series_track *lost =
        series_table_track(panel->series, "plane", "dropped_packets", goodput->id);
    g_autofree char *plane = g_strdup_printf("%" G_GUINT64_FORMAT, goodput->id);

    for (guint bin = 0; bin < panel->series->n_bins; bin++)
        write_point(writer, panel, bin, plane, figure_series_gbps(panel->series, goodput, bin),
                    lost ? lost->sum[bin] : 0);
}

static void write_all(struct table_writer *writer, const struct panel *panel)
{
    g_autoptr(GPtrArray) lost = series_table_tracks(panel->series, "plane", "dropped_packets");

    for (guint bin = 0; bin < panel->series->n_bins; bin++) {
        double goodput_gbps = 0, lost_packets = 0;

        for (guint i = 0; i < panel->goodput->len; i++)
            goodput_gbps +=
                figure_series_gbps(panel->series, g_ptr_array_index(panel->goodput, i), bin);
        for (guint i = 0; i < lost->len; i++)
            lost_packets += ((struct series_track *)g_ptr_array_index(lost, i))->sum[bin];
        write_point(writer, panel, bin, "all", goodput_gbps, lost_packets);
    }
}

static gboolean write_planes(const struct results *results, const GPtrArray *panels, GError **error)
{
    static const char *const columns[] = {"variant", "plane", "time_ms", "goodput_gbps",
                                          "lost_packets"};
    struct table_writer *writer = figure_table(results, "plane-failure.csv", error);

    if (!writer)
        return FALSE;
    table_writer_fields(writer, columns, G_N_ELEMENTS(columns));
    table_writer_row(writer);
    for (guint i = 0; i < panels->len; i++) {
        const struct panel *panel = g_ptr_array_index(panels, i);

        write_all(writer, panel);
        for (guint k = 0; k < panel->goodput->len; k++)
            write_plane(writer, panel, g_ptr_array_index(panel->goodput, k));
    }
    return table_writer_close(writer, error);
}

static void note_panel(GString *notes, const struct panel *panel)
{
    for (guint i = 0; i < panel->goodput->len; i++) {
        const struct series_track *plane = g_ptr_array_index(panel->goodput, i);

        g_string_append_printf(notes, "%s%splane %" G_GUINT64_FORMAT ": %.4g MB delivered",
                               i == 0 ? panel->label : "",
                               i > 0           ? ", "
                               : *panel->label ? ": "
                                               : "",
                               plane->id, plane->total * 1e-6);
    }
    g_string_append_c(notes, '\n');
}

static gboolean write_plane_failure(const struct results *results, GString *notes, GError **error)
{
    g_autoptr(GPtrArray) panels = read_panels(results, error);

    if (!panels)
        return FALSE;
    for (guint i = 0; i < panels->len; i++) {
        const struct panel *panel = g_ptr_array_index(panels, i), *before = NULL;

        if (i > 0)
            before = g_ptr_array_index(panels, i - 1);
        note_panel(notes, panel);
        if (!before || before->series->step_ps != panel->series->step_ps ||
            before->series->steps_per_bin != panel->series->steps_per_bin)
            figure_series_note_step(notes, panel->series);
    }
    return write_planes(results, panels, error) && write_marks(results, panels, error);
}

const struct figure figure_plane_failure = {
    "plane-failure",
    "goodput by plane over time, and what each plane loses, with the faults marked",
    write_plane_failure};
