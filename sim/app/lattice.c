/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/lattice.h"
#include "sim/app/results.h"
#include <math.h>
#include <string.h>

/* Columns before the axes: number and name of a point. */
static bool is_axis(const char *name)
{
    static const char *const others[] = {"point", "name", "grid", NULL};

    return !g_strv_contains(others, name);
}

/* Whether the column has one value for each value of `other` (-1: one for all). */
static bool goes_with(const struct table *table, uint32_t column, int other)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

    for (uint32_t row = 0; row < table_n_rows(table); row++) {
        const char *key = other < 0 ? "" : table_field(table, row, (uint32_t)other);
        const char *value = table_field(table, row, column);
        const char *before = g_hash_table_lookup(seen, key);

        if (before && strcmp(before, value) != 0)
            return false;
        g_hash_table_insert(seen, (char *)(uintptr_t)key, (char *)(uintptr_t)value);
    }
    return true;
}

/* Whether the axis tells curves apart that the axes before it do not. */
static bool tells(const struct lattice *lattice, uint32_t column)
{
    const struct table *table = lattice->table;

    if (!is_axis(table_column_name(table, column)) || (int)column == lattice->case_ ||
        (int)column == lattice->x || goes_with(table, column, -1) ||
        (lattice->x >= 0 && goes_with(table, column, lattice->x)))
        return false;
    for (guint i = 0; i < lattice->curve->len; i++)
        if (goes_with(table, column, (int)g_array_index(lattice->curve, uint32_t, i)))
            return false;
    return true;
}

static void take_axes(struct lattice *lattice, const char *x)
{
    for (uint32_t c = 0; c < lattice->seed; c++) {
        const char *name = table_column_name(lattice->table, c);

        if (x && lattice->x < 0 && g_str_has_prefix(name, x))
            lattice->x = (int)c;
        else if (strcmp(name, "case") == 0)
            lattice->case_ = (int)c;
    }
    for (uint32_t c = 0; c < lattice->seed; c++)
        if (tells(lattice, c))
            g_array_append_val(lattice->curve, c);
}

gboolean lattice_init(struct lattice *lattice, const struct table *table, const char *x,
                      GError **error)
{
    int seed = MAX(table_column(table, "seed"), table_column(table, "seeds"));

    *lattice = (struct lattice){.table = table, .case_ = -1, .x = -1, .scale = 1};
    if (seed < 0) {
        g_set_error(error, RESULTS_ERROR, 0, "no column seed or seeds: not of a sweep");
        return FALSE;
    }
    lattice->seed = (uint32_t)seed;
    lattice->curve = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    take_axes(lattice, x);
    lattice->throughput = table_column(table, "throughput_bps");
    if (lattice->throughput < 0) {
        lattice->throughput = table_column(table, "busbw_GBps");
        lattice->scale = 8e9;
    }
    if (!x || (lattice->x >= 0 && lattice->throughput >= 0))
        return TRUE;
    g_set_error(error, RESULTS_ERROR, 0, "no axis %s and throughput", x);
    lattice_clear(lattice);
    return FALSE;
}

void lattice_clear(struct lattice *lattice)
{
    g_array_unref(lattice->curve);
}

const char *lattice_case(const struct lattice *lattice, uint32_t row)
{
    const char *name =
        lattice->case_ < 0 ? "" : table_field(lattice->table, row, (uint32_t)lattice->case_);

    return strcmp(name, "all") == 0 ? "" : name; /* what a comparison without cases has */
}

/* Names of variants speak for themselves, values need their key. */
static void add_part(GString *label, const char *name, const char *value)
{
    const char *dot = strrchr(name, '.');

    if (*value == '\0')
        return;
    if (label->len > 0)
        g_string_append(label, "; ");
    if (dot)
        g_string_append_printf(label, "%s = ", dot + 1);
    g_string_append(label, value);
}

char *lattice_label(const struct lattice *lattice, uint32_t row, bool with_case)
{
    GString *label = g_string_new("");

    if (with_case && lattice->case_ >= 0 &&
        !goes_with(lattice->table, (uint32_t)lattice->case_, -1))
        add_part(label, "case", lattice_case(lattice, row));
    for (guint i = 0; i < lattice->curve->len; i++) {
        uint32_t column = g_array_index(lattice->curve, uint32_t, i);

        add_part(label, table_column_name(lattice->table, column),
                 table_field(lattice->table, row, column));
    }
    if (label->len == 0) {
        int variant = table_column(lattice->table, "variant");

        g_string_append(label, variant >= 0 && variant != lattice->x
                                   ? table_field(lattice->table, row, (uint32_t)variant)
                                   : "all");
    }
    return g_strdelimit(g_string_free(label, FALSE), ",\"", ' ');
}

char **lattice_axes(const struct lattice *lattice, uint32_t row)
{
    GPtrArray *axes = g_ptr_array_new();

    for (uint32_t c = 0; c < lattice->seed; c++) {
        if (!is_axis(table_column_name(lattice->table, c)))
            continue;
        g_ptr_array_add(axes, g_strdup(table_column_name(lattice->table, c)));
        g_ptr_array_add(axes, g_strdup(table_field(lattice->table, row, c)));
    }
    g_ptr_array_add(axes, NULL);
    return (char **)g_ptr_array_free(axes, FALSE);
}

double lattice_number(const struct table *table, uint32_t row, int column)
{
    const char *text = column < 0 ? "" : table_field(table, row, (uint32_t)column);
    char *rest;
    double value = g_ascii_strtod(text, &rest);

    return *text == '\0' || *rest != '\0' ? (double)NAN : value;
}

double lattice_x(const struct lattice *lattice, uint32_t row)
{
    const char *text = table_field(lattice->table, row, (uint32_t)lattice->x), *why;
    int64_t ratio;

    if (units_parse(UNITS_RATIO, text, &ratio, &why))
        return (double)ratio / (double)UNITS_PPT;
    return lattice_number(lattice->table, row, lattice->x);
}
