/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completion times as a cumulative distribution: a curve a transport of a run, or a curve a choice
 * of a sweep, its seeds together. From flows.csv. A message that did not finish counts among all,
 * so that its curve ends below 100 %.
 */
#include "sim/app/figure.h"
#include "sim/stats/stats.h"
#include <math.h>
#include <string.h>

#define MOST_CURVES 16
#define CURVE_STEPS 400 /* of the finished flows of a curve; fewer flows have a step each */

struct curve {
    char *label;
    GArray *times_us; /* double, of finished flows */
    guint n_flows;
};

static void curve_clear(void *data)
{
    struct curve *curve = data;

    g_free(curve->label);
    g_array_unref(curve->times_us);
}

static struct curve *find_curve(GArray *curves, const char *label)
{
    for (guint i = 0; i < curves->len; i++)
        if (strcmp(g_array_index(curves, struct curve, i).label, label) == 0)
            return &g_array_index(curves, struct curve, i);

    struct curve curve = {g_strdup(label), g_array_new(FALSE, FALSE, sizeof(double)), 0};

    g_array_append_val(curves, curve);
    return &g_array_index(curves, struct curve, curves->len - 1);
}

static gboolean take_flows(GArray *curves, const struct table *flows, const char *label,
                           GError **error)
{
    uint32_t start, end, transport;

    if (!table_need_column(flows, "start_ps", &start, error) ||
        !table_need_column(flows, "end_receiver_ps", &end, error) ||
        !table_need_column(flows, "transport", &transport, error))
        return FALSE;
    for (uint32_t row = 0; row < table_n_rows(flows); row++) {
        struct curve *curve =
            find_curve(curves, *label ? label : table_field(flows, row, transport));
        int64_t start_ps, end_ps;
        double time_us;

        curve->n_flows++;
        if (*table_field(flows, row, end) == '\0')
            continue;
        if (!table_quantity(flows, row, start, UNITS_NUMBER, &start_ps, error) ||
            !table_quantity(flows, row, end, UNITS_NUMBER, &end_ps, error))
            return FALSE;
        time_us = (double)(end_ps - start_ps) * 1e-6;
        g_array_append_val(curve->times_us, time_us);
    }
    return TRUE;
}

static gboolean read_curves(GArray *curves, const struct results *results, GError **error)
{
    g_autoptr(GPtrArray) runs = results_runs(results, error);

    for (guint i = 0; runs && i < runs->len; i++) {
        const struct results_run *run = g_ptr_array_index(runs, i);
        g_autofree char *path = g_build_filename(run->folder, "flows.csv", NULL);
        struct table *flows;
        gboolean ok;

        if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
            continue;
        flows = table_read(path, error);
        ok = flows && take_flows(curves, flows, run->label, error);
        if (flows)
            table_free(flows);
        if (!ok)
            return FALSE;
    }
    return runs != NULL;
}

static void write_step(struct table_writer *writer, const struct curve *curve, double time_us,
                       double share)
{
    table_writer_field(writer, curve->label);
    table_writer_double(writer, time_us);
    table_writer_double(writer, share);
    table_writer_row(writer);
}

/* From 0 at the first end. */
static void write_curve(struct table_writer *writer, const struct curve *curve)
{
    guint n = curve->times_us->len, n_steps = MIN(n, CURVE_STEPS);
    const double *times_us = (const double *)(const void *)curve->times_us->data;

    if (n > 0)
        write_step(writer, curve, times_us[0], 0);
    for (guint step = 0; step < n_steps; step++) {
        guint rank = n_steps > 1 ? (guint)((guint64)step * (n - 1) / (n_steps - 1)) : 0;

        write_step(writer, curve, times_us[rank], (rank + 1.0) / curve->n_flows);
    }
}

static void note_curve(GString *notes, const struct curve *curve)
{
    const double *times_us = (const double *)(const void *)curve->times_us->data;
    guint n = curve->times_us->len;

    g_string_append_printf(notes, "%s: %u of %u flows finished", curve->label, n, curve->n_flows);
    if (n > 0) {
        g_autofree char *median =
            units_display(UNITS_TIME, 1e6 * stats_percentile(times_us, n, 500));
        g_autofree char *tail = units_display(UNITS_TIME, 1e6 * stats_percentile(times_us, n, 990));

        g_string_append_printf(notes, ", p50 %s, p99 %s", median, tail);
    }
    g_string_append_c(notes, '\n');
}

static gboolean write_curves(const struct results *results, const GArray *curves, GString *notes,
                             GError **error)
{
    struct table_writer *writer = figure_table(results, "completion-cdf.csv", error);

    if (!writer)
        return FALSE;
    table_writer_field(writer, "variant");
    table_writer_field(writer, "completion_us");
    table_writer_field(writer, "share");
    table_writer_row(writer);
    for (guint i = 0; i < curves->len; i++) {
        const struct curve *curve = &g_array_index(curves, struct curve, i);

        stats_sort((double *)(void *)curve->times_us->data, curve->times_us->len);
        write_curve(writer, curve);
        note_curve(notes, curve);
    }
    return table_writer_close(writer, error);
}

static gboolean write_completion_cdf(const struct results *results, GString *notes, GError **error)
{
    g_autoptr(GArray) curves = g_array_new(FALSE, FALSE, sizeof(struct curve));
    guint n_finished = 0;

    g_array_set_clear_func(curves, curve_clear);
    if (!read_curves(curves, results, error))
        return FALSE;
    for (guint i = 0; i < curves->len; i++)
        n_finished += g_array_index(curves, struct curve, i).times_us->len;
    if (n_finished == 0)
        return figure_no_data(error, "it needs the flows.csv of runs (run.flows = on)");
    if (curves->len > MOST_CURVES)
        return figure_no_data(error, "%u curves, at most %d can be told apart", curves->len,
                              MOST_CURVES);
    return write_curves(results, curves, notes, error);
}

const struct figure figure_completion_cdf = {
    "completion-cdf", "completion times of messages, cumulative", write_completion_cdf};
