/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any comparison or sweep over one of its axes: throughput, completion, recovery and fairness, as
 * far as the results have them, a panel each, a curve for each choice on the other axes. Values of
 * the axis stand side by side in their order, so that sizes, times and words are drawn alike.
 */
#include "sim/app/figure.h"
#include "sim/app/lattice.h"
#include <math.h>
#include <string.h>

#define MOST_CURVES 16
#define MOST_VALUES 24
#define MOST_NOTED  8 /* curves whose values are told in words */

/* A panel, where the column has a number in any row. */
struct panel {
    const char *title;
    double scale;       /* from the column's unit to that in the title */
    const char *column; /* of summary.csv; a beginning with '_' is the end of any name */
};

static const struct panel panels[] = {
    {"throughput [Gb/s]", 1e-9, "throughput_bps"},
    {"bus bandwidth [Gb/s]", 8, "busbw_GBps"},
    {"median completion [us]", 1e-6, "completion_p50_ps"},
    {"median completion [us]", 1, "completion_p50_us"},
    {"completion of 99 % [us]", 1e-6, "completion_p99_ps"},
    {"completion of 99 % [us]", 1, "completion_p99_us"},
    {"recovery [us]", 1e-6, "recovery_time_ps"},
    {"longest step [us]", 1e-6, "longest_step_ps"},
    {"Jain's index", 1, "_jain_mean_ratio"},
};

static int column_of(const struct table *table, const struct panel *panel)
{
    if (*panel->column != '_')
        return table_column(table, panel->column);
    for (uint32_t c = 0; c < table_n_columns(table); c++)
        if (g_str_has_suffix(table_column_name(table, c), panel->column))
            return (int)c;
    return -1;
}

static bool has_numbers(const struct table *table, int column)
{
    for (uint32_t row = 0; column >= 0 && row < table_n_rows(table); row++)
        if (isfinite(lattice_number(table, row, column)))
            return true;
    return false;
}

static double ci95_of(const struct table *table, uint32_t row, int column)
{
    g_autofree char *name = g_strconcat(table_column_name(table, (uint32_t)column), "_ci95", NULL);

    return lattice_number(table, row, table_column(table, name));
}

/* --- the axis --------------------------------------------------------------------------------- */

/* Different cells of a column in order of appearance; borrowed. g_ptr_array_unref. */
static GPtrArray *values_of(const struct table *table, uint32_t column)
{
    GPtrArray *values = g_ptr_array_new();

    for (uint32_t row = 0; row < table_n_rows(table); row++) {
        const char *cell = table_field(table, row, column);

        if (!g_ptr_array_find_with_equal_func(values, cell, g_str_equal, NULL))
            g_ptr_array_add(values, (char *)(uintptr_t)cell);
    }
    return values;
}

/* The first key that takes more values than one; without any, variants or cases. */
static const char *find_axis(const struct table *table)
{
    const char *found = NULL;
    struct lattice lattice;

    if (!lattice_init(&lattice, table, NULL, NULL))
        return NULL;
    for (uint32_t c = 0; c < lattice.seed; c++) {
        const char *name = table_column_name(table, c);
        g_autoptr(GPtrArray) values = values_of(table, c);
        bool is_key = strchr(name, '.') != NULL;
        bool is_choice = strcmp(name, "variant") == 0 || strcmp(name, "case") == 0;

        if (values->len < 2 || values->len > MOST_VALUES || !(is_key || is_choice))
            continue;
        if (is_key || !found || strcmp(found, "case") == 0) /* cases are told apart by curves */
            found = name;
        if (is_key)
            break;
    }
    lattice_clear(&lattice);
    return found;
}

/* --- the table -------------------------------------------------------------------------------- */

static void write_row(struct table_writer *writer, const struct lattice *lattice, uint32_t row,
                      const struct panel *panel, int column)
{
    const struct table *table = lattice->table;
    const char *cell = table_field(table, row, (uint32_t)lattice->x);
    g_autofree char *label = lattice_label(lattice, row, true);
    g_autofree char *value = g_strdelimit(g_strdup(cell), ",\"", ' ');
    g_autoptr(GPtrArray) values = values_of(table, (uint32_t)lattice->x);
    guint place = 0;

    g_ptr_array_find_with_equal_func(values, cell, g_str_equal, &place);
    table_writer_field(writer, panel->title);
    table_writer_field(writer, label);
    table_writer_printf(writer, "%u", place + 1);
    table_writer_field(writer, value);
    table_writer_double(writer, panel->scale * lattice_number(table, row, column));
    table_writer_double(writer, panel->scale * ci95_of(table, row, column));
    table_writer_row(writer);
}

/* Curve by curve, for gnuplot joins what follows each other; along a curve, rows are in the order
 * of the axis as they are in the file. */
static void write_panel(struct table_writer *writer, const struct lattice *lattice,
                        const GPtrArray *curves, const struct panel *panel, int column)
{
    for (guint curve = 0; curve < curves->len; curve++)
        for (uint32_t row = 0; row < table_n_rows(lattice->table); row++) {
            g_autofree char *label = lattice_label(lattice, row, true);

            if (strcmp(label, g_ptr_array_index(curves, curve)) == 0)
                write_row(writer, lattice, row, panel, column);
        }
}

/* Labels of curves in order of appearance; g_ptr_array_unref. */
static GPtrArray *curves_of(const struct lattice *lattice)
{
    GPtrArray *curves = g_ptr_array_new_with_free_func(g_free);

    for (uint32_t row = 0; row < table_n_rows(lattice->table); row++) {
        g_autofree char *label = lattice_label(lattice, row, true);

        if (!g_ptr_array_find_with_equal_func(curves, label, g_str_equal, NULL))
            g_ptr_array_add(curves, g_steal_pointer(&label));
    }
    return curves;
}

/* "throughput [Gb/s], MetaRoCE: 92.1 at 2, 94.8 at 4", if there are few curves. */
static void note_panel(GString *notes, const struct lattice *lattice, const GPtrArray *curves,
                       const struct panel *panel, int column)
{
    if (curves->len > MOST_NOTED) {
        g_string_append_printf(notes, "%s: %u curves\n", panel->title, curves->len);
        return;
    }
    for (guint curve = 0; curve < curves->len; curve++) {
        const char *name = g_ptr_array_index(curves, curve);

        g_string_append_printf(notes, "%s%s%s", panel->title, curves->len > 1 ? ", " : "",
                               curves->len > 1 ? name : "");
        for (uint32_t row = 0, n = 0; row < table_n_rows(lattice->table); row++) {
            g_autofree char *label = lattice_label(lattice, row, true);
            double value = panel->scale * lattice_number(lattice->table, row, column);

            if (strcmp(label, name) == 0 && isfinite(value))
                g_string_append_printf(notes, "%s %.4g at %s", n++ ? "," : ":", value,
                                       table_field(lattice->table, row, (uint32_t)lattice->x));
        }
        g_string_append_c(notes, '\n');
    }
}

static gboolean write_panels(const struct results *results, const struct lattice *lattice,
                             const GPtrArray *curves, GString *notes, GError **error)
{
    struct table_writer *writer = figure_table(results, "sweep.csv", error);

    if (!writer)
        return FALSE;
    table_writer_field(writer, "quantity");
    table_writer_field(writer, "variant");
    table_writer_field(writer, "place");
    table_writer_field(writer, table_column_name(lattice->table, (uint32_t)lattice->x));
    table_writer_field(writer, "value");
    table_writer_field(writer, "ci95");
    table_writer_row(writer);
    for (size_t i = 0; i < G_N_ELEMENTS(panels); i++) {
        int column = column_of(lattice->table, &panels[i]);

        if (!has_numbers(lattice->table, column))
            continue;
        write_panel(writer, lattice, curves, &panels[i], column);
        note_panel(notes, lattice, curves, &panels[i], column);
    }
    return table_writer_close(writer, error);
}

static gboolean write_sweep(const struct results *results, GString *notes, GError **error)
{
    bool is_grid = results->kind == RESULTS_COMPARISON || results->kind == RESULTS_SWEEP;
    const char *axis = is_grid ? find_axis(results->summary) : NULL;
    g_autoptr(GPtrArray) curves = NULL;
    struct lattice lattice;
    gboolean ok;

    if (!axis || !lattice_init(&lattice, results->summary, axis, NULL))
        return figure_no_data(
            error, "it needs a comparison or a sweep with 2 to %d values on an axis", MOST_VALUES);
    curves = curves_of(&lattice);
    if (curves->len > MOST_CURVES)
        ok = figure_no_data(error, "%u curves over %s, at most %d can be told apart", curves->len,
                            axis, MOST_CURVES);
    else
        ok = write_panels(results, &lattice, curves, notes, error);
    lattice_clear(&lattice);
    return ok;
}

const struct figure figure_sweep = {
    "sweep", "throughput, completion, recovery and fairness over the first axis", write_sweep};
