/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of a comparison or a sweep over one axis: throughput kept against loss, and throughput
 * against planes with a line by least squares.
 */
#include "sim/app/compare_report.h"
#include "sim/app/figure.h"
#include "sim/app/lattice.h"
#include "sim/stats/stats.h"
#include <math.h>
#include <string.h>

#define MOST_CURVES 16 /* in a panel: more cannot be told apart */

static bool is_grid(const struct results *results)
{
    return results->kind == RESULTS_COMPARISON || results->kind == RESULTS_SWEEP;
}

/* The summary's lattice over x, if it has one that can be drawn. */
static gboolean take_lattice(struct lattice *lattice, const struct results *results, const char *x,
                             GError **error)
{
    g_autoptr(GHashTable) curves = NULL;

    if (!is_grid(results) || !lattice_init(lattice, results->summary, x, NULL))
        return figure_no_data(error, "it needs a comparison or a sweep over %s", x);
    curves = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (uint32_t row = 0; row < table_n_rows(results->summary); row++)
        g_hash_table_add(curves, lattice_label(lattice, row, false));
    if (g_hash_table_size(curves) <= MOST_CURVES)
        return TRUE;
    lattice_clear(lattice);
    return figure_no_data(error, "%u curves over %s in one panel, at most %d can be told apart",
                          g_hash_table_size(curves), x, MOST_CURVES);
}

/* points.csv as a lattice over the same x; NULL where there is none. */
static struct table *read_points(struct lattice *lattice, const struct results *results,
                                 const char *x)
{
    g_autofree char *path = results_path(results, "points.csv");
    struct table *points = results_has(results, "points.csv") ? table_read(path, NULL) : NULL;

    if (points && !lattice_init(lattice, points, x, NULL)) {
        table_free(points);
        return NULL;
    }
    return points;
}

static void drop_points(struct lattice *lattice, struct table *points)
{
    if (!points)
        return;
    lattice_clear(lattice);
    table_free(points);
}

static double throughput_of(const struct lattice *lattice, uint32_t row)
{
    return lattice->scale * lattice_number(lattice->table, row, lattice->throughput);
}

static double throughput_ci95(const struct lattice *lattice, uint32_t row)
{
    const char *name = table_column_name(lattice->table, (uint32_t)lattice->throughput);
    g_autofree char *column = g_strconcat(name, "_ci95", NULL);

    return lattice->scale *
           lattice_number(lattice->table, row, table_column(lattice->table, column));
}

/* What the rows of a curve have in common. g_free. */
static char *curve_key(const struct lattice *lattice, uint32_t row)
{
    g_autofree char *label = lattice_label(lattice, row, false);

    return g_strconcat(lattice_case(lattice, row), "\n", label, NULL);
}

/* "case, curve" for people; g_free. */
static char *curve_title(const struct lattice *lattice, uint32_t row)
{
    g_autofree char *label = lattice_label(lattice, row, false);
    const char *case_ = lattice_case(lattice, row);

    return g_strconcat(case_, *case_ ? ", " : "", label, NULL);
}

static void write_place(struct table_writer *writer, const struct lattice *lattice, uint32_t row)
{
    g_autofree char *label = lattice_label(lattice, row, false);

    table_writer_field(writer, lattice_case(lattice, row));
    table_writer_field(writer, label);
    table_writer_double(writer, lattice_x(lattice, row));
}

/* A row and where it is drawn: curve by curve in order of first appearance, x rising. */
struct place {
    uint32_t row;
    guint curve;
    double x;
};

static int by_place(const void *a, const void *b)
{
    const struct place *p = a, *q = b;

    if (p->curve != q->curve)
        return (p->curve > q->curve) - (p->curve < q->curve);
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->row > q->row) - (p->row < q->row);
}

/* All rows in that order: gnuplot joins what follows each other. struct place; g_array_unref. */
static GArray *ordered_rows(const struct lattice *lattice)
{
    g_autoptr(GHashTable) curves = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GArray *places = g_array_new(FALSE, FALSE, sizeof(struct place));

    for (uint32_t row = 0; row < table_n_rows(lattice->table); row++) {
        char *key = curve_key(lattice, row);
        struct place place = {row, g_hash_table_size(curves) + 1, lattice_x(lattice, row)};
        gpointer known = g_hash_table_lookup(curves, key);

        if (known) {
            place.curve = GPOINTER_TO_UINT(known);
            g_free(key);
        } else
            g_hash_table_insert(curves, key, GUINT_TO_POINTER(place.curve));
        g_array_append_val(places, place);
    }
    g_array_sort(places, by_place);
    return places;
}

/* --- throughput kept against loss ------------------------------------------------------------- */

/* Throughput of the points without loss, by curve and seed. */
static GHashTable *lossless_points(const struct lattice *points)
{
    GHashTable *lossless = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

    for (uint32_t row = 0; row < table_n_rows(points->table); row++) {
        g_autofree char *key = curve_key(points, row);
        double throughput = throughput_of(points, row);

        if (lattice_x(points, row) == 0 && isfinite(throughput))
            g_hash_table_insert(
                lossless,
                g_strconcat(key, "\n", table_field(points->table, row, points->seed), NULL),
                g_memdup2(&throughput, sizeof throughput));
    }
    return lossless;
}

/* By pairs of equal seeds, as a comparison has it. */
static struct stats_estimate share_of(const struct lattice *points, GHashTable *lossless,
                                      const char *key, double loss)
{
    g_autofree double *above = g_new(double, table_n_rows(points->table) + 1);
    g_autofree double *below = g_new(double, table_n_rows(points->table) + 1);
    size_t n = 0;

    for (uint32_t row = 0; row < table_n_rows(points->table); row++) {
        g_autofree char *own = curve_key(points, row), *pair = NULL;
        const double *base;

        if (strcmp(own, key) != 0 || lattice_x(points, row) != loss)
            continue;
        pair = g_strconcat(own, "\n", table_field(points->table, row, points->seed), NULL);
        base = g_hash_table_lookup(lossless, pair);
        if (!base || !isfinite(throughput_of(points, row)))
            continue;
        above[n] = throughput_of(points, row);
        below[n++] = *base;
    }
    if (n == 0 || stats_mean(below, n) <= 0)
        return (struct stats_estimate){(double)NAN, (double)NAN, n};
    return stats_estimate_ratio(above, below, n);
}

/* A comparison's summary has the shares; a sweep's points give them. */
struct shares {
    const struct lattice *summary;
    struct lattice points;
    struct table *table;
    GHashTable *lossless;
    int column; /* of the summary, or -1 */
};

static struct stats_estimate share_at(const struct shares *shares, uint32_t row)
{
    const struct table *table = shares->summary->table;
    g_autofree char *key = curve_key(shares->summary, row);

    if (shares->column >= 0)
        return (struct stats_estimate){lattice_number(table, row, shares->column),
                                       lattice_number(table, row, shares->column + 1), 0};
    return share_of(&shares->points, shares->lossless, key, lattice_x(shares->summary, row));
}

static void string_free(void *data)
{
    g_string_free(data, TRUE);
}

/* A line a curve: "MetaRoCE: 0.1 % loss: 88 ± 1.5 %; 1 %: ..." */
static void note_share(GHashTable *lines, GPtrArray *order, const struct shares *shares,
                       uint32_t row, struct stats_estimate share)
{
    char *title = curve_title(shares->summary, row);
    GString *line = g_hash_table_lookup(lines, title);
    double loss = lattice_x(shares->summary, row);

    if (!line) {
        line = g_string_new(title);
        g_string_append(line, " keeps");
        g_ptr_array_add(order, line);
        g_hash_table_insert(lines, title, line);
    } else
        g_free(title);
    if (loss == 0 || !isfinite(share.value))
        return;
    g_string_append_printf(line, "%s %.3g", strstr(line->str, " %") ? "," : "", 100 * share.value);
    if (isfinite(share.ci95))
        g_string_append_printf(line, " ± %.3g", 100 * share.ci95);
    g_string_append_printf(line, " %% at %g %%", 100 * loss);
}

static gboolean write_shares(const struct results *results, const struct shares *shares,
                             GString *notes, GError **error)
{
    const struct lattice *summary = shares->summary;
    struct table_writer *writer = figure_table(results, "throughput-loss.csv", error);
    g_autoptr(GHashTable) lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GArray) rows = ordered_rows(summary);
    g_autoptr(GPtrArray) order = g_ptr_array_new_with_free_func(string_free);
    uint32_t n = 0;

    if (!writer)
        return FALSE;
    table_writer_field(writer, "case");
    table_writer_field(writer, "variant");
    table_writer_field(writer, table_column_name(summary->table, (uint32_t)summary->x));
    table_writer_field(writer, "share_of_lossless");
    table_writer_field(writer, "share_of_lossless_ci95");
    table_writer_row(writer);
    for (guint i = 0; i < rows->len; i++) {
        uint32_t row = g_array_index(rows, struct place, i).row;
        struct stats_estimate share = share_at(shares, row);

        n += isfinite(share.value) && lattice_x(summary, row) > 0;
        note_share(lines, order, shares, row, share);
        write_place(writer, summary, row);
        table_writer_double(writer, share.value);
        table_writer_double(writer, share.ci95);
        table_writer_row(writer);
    }
    for (guint i = 0; i < order->len; i++)
        g_string_append_printf(notes, "%s\n", ((GString *)g_ptr_array_index(order, i))->str);
    if (n > 0)
        return table_writer_close(writer, error);
    table_writer_abort(writer);
    return figure_no_data(error, "it needs results at loss 0 and at another loss");
}

/* The curves behind, of a comparison that names some: if it has not left them itself. */
static gboolean write_closed_forms(const struct results *results, const struct lattice *summary,
                                   GError **error)
{
    uint32_t n = table_n_rows(results->summary);
    g_autofree double *losses = g_new(double, n + 1);
    g_autofree char *path = results_path(results, "scenario.ini");
    struct scenario *scenario;
    struct compare_plan plan;
    gboolean ok;

    if (results->kind != RESULTS_COMPARISON || results_has(results, "closed_form.csv") ||
        !results->settings)
        return TRUE;
    for (uint32_t row = 0; row < n; row++)
        losses[row] = lattice_x(summary, row);
    scenario = scenario_new();
    compare_plan_init(&plan);
    ok = scenario_load(scenario, path, error) && compare_plan_read(&plan, scenario, error) &&
         (plan.curves->len == 0 ||
          compare_report_write_curves(&plan, losses, n, results->folder, error));
    compare_plan_clear(&plan);
    scenario_free(scenario);
    return ok;
}

static gboolean write_throughput_loss(const struct results *results, GString *notes, GError **error)
{
    struct lattice summary;
    struct shares shares = {.summary = &summary};
    gboolean ok;

    if (!take_lattice(&summary, results, "loss.rate", error))
        return FALSE;
    shares.column = table_column(results->summary, "share_of_lossless");
    if (shares.column < 0 &&
        (shares.table = read_points(&shares.points, results, "loss.rate")) != NULL)
        shares.lossless = lossless_points(&shares.points);
    if (shares.column < 0 && !shares.table)
        ok = figure_no_data(error, "it needs the sweep's points.csv");
    else
        ok = write_shares(results, &shares, notes, error) &&
             write_closed_forms(results, &summary, error);
    if (shares.lossless)
        g_hash_table_unref(shares.lossless);
    drop_points(&shares.points, shares.table);
    lattice_clear(&summary);
    return ok;
}

const struct figure figure_throughput_loss = {
    "throughput-loss", "throughput kept against packet loss, with 95 % intervals over seeds",
    write_throughput_loss};

/* --- throughput against planes ---------------------------------------------------------------- */

struct scaling {
    char *key; /* of the curve */
    uint32_t first_row;
    double least_planes;                     /* where the ideal line begins */
    double least_throughput, least_capacity; /* there */
    struct stats_line line;
};

/* What the ideal line is proportional to: planes, or planes x rate where links are given another
 * rate with the planes. */
static double capacity_of(const struct lattice *lattice, uint32_t row)
{
    int column = table_column(lattice->table, "topology.link_rate");
    const char *why;
    int64_t rate_bps;

    if (column >= 0 && units_parse(UNITS_RATE, table_field(lattice->table, row, (uint32_t)column),
                                   &rate_bps, &why))
        return lattice_x(lattice, row) * (double)rate_bps;
    return lattice_x(lattice, row);
}

static struct stats_line fit(const struct lattice *lattice, const char *key)
{
    uint32_t n_rows = table_n_rows(lattice->table);
    g_autofree double *x = g_new(double, n_rows + 1), *y = g_new(double, n_rows + 1);
    size_t n = 0;

    for (uint32_t row = 0; row < n_rows; row++) {
        g_autofree char *own = curve_key(lattice, row);

        if (strcmp(own, key) != 0 || !isfinite(throughput_of(lattice, row)))
            continue;
        x[n] = lattice_x(lattice, row);
        y[n++] = throughput_of(lattice, row);
    }
    return stats_fit_line(x, y, n);
}

static void scaling_clear(void *data)
{
    g_free(((struct scaling *)data)->key);
}

static struct scaling *find_scaling(GArray *curves, const char *key)
{
    for (guint i = 0; i < curves->len; i++)
        if (strcmp(g_array_index(curves, struct scaling, i).key, key) == 0)
            return &g_array_index(curves, struct scaling, i);
    return NULL;
}

/* The line goes through the points, a value a seed, or through the means if that is all there is.
 */
static GArray *fit_curves(const struct lattice *summary, const struct lattice *points)
{
    GArray *curves = g_array_new(FALSE, FALSE, sizeof(struct scaling));

    g_array_set_clear_func(curves, scaling_clear);
    for (uint32_t row = 0; row < table_n_rows(summary->table); row++) {
        g_autofree char *key = curve_key(summary, row);
        struct scaling *curve = find_scaling(curves, key);
        double planes = lattice_x(summary, row), throughput = throughput_of(summary, row);

        if (!curve) {
            struct scaling scaling = {g_strdup(key), row, INFINITY,
                                      (double)NAN,   1,   fit(points ? points : summary, key)};

            g_array_append_val(curves, scaling);
            curve = find_scaling(curves, key);
        }
        if (isfinite(throughput) && planes < curve->least_planes) {
            curve->least_planes = planes;
            curve->least_throughput = throughput;
            curve->least_capacity = capacity_of(summary, row);
        }
    }
    return curves;
}

static gboolean write_fits(const struct results *results, const struct lattice *summary,
                           const GArray *curves, GString *notes, GError **error)
{
    static const char *const columns[] = {"case",      "variant",        "n",  "intercept_bps",
                                          "slope_bps", "slope_ci95_bps", "r2", "ideal_slope_bps"};
    struct table_writer *writer = figure_table(results, "fit.csv", error);

    if (!writer)
        return FALSE;
    table_writer_fields(writer, columns, G_N_ELEMENTS(columns));
    table_writer_row(writer);
    for (guint i = 0; i < curves->len; i++) {
        const struct scaling *curve = &g_array_index(curves, struct scaling, i);
        const struct stats_line *line = &curve->line;
        double ideal = curve->least_throughput / curve->least_planes;
        g_autofree char *title = curve_title(summary, curve->first_row);
        g_autofree char *label = lattice_label(summary, curve->first_row, false);

        table_writer_field(writer, lattice_case(summary, curve->first_row));
        table_writer_field(writer, label);
        table_writer_printf(writer, "%zu", line->n);
        table_writer_double(writer, line->intercept);
        table_writer_double(writer, line->slope);
        table_writer_double(writer, line->slope_ci95);
        table_writer_double(writer, line->r2);
        table_writer_double(writer, ideal);
        table_writer_row(writer);
        if (isfinite(line->slope))
            g_string_append_printf(
                notes,
                "%s: %.4g Gb/s a plane ± %.3g (95 %%), R^2 %.4f; the fewest, %g, give "
                "%.4g a plane\n",
                title, line->slope * 1e-9, line->slope_ci95 * 1e-9, line->r2, curve->least_planes,
                ideal * 1e-9);
    }
    return table_writer_close(writer, error);
}

static gboolean write_scaling(const struct results *results, const struct lattice *summary,
                              GArray *curves, GError **error)
{
    static const char *const columns[] = {"case",      "variant",    "planes",  "throughput_gbps",
                                          "ci95_gbps", "ideal_gbps", "fit_gbps"};
    struct table_writer *writer = figure_table(results, "plane-scaling.csv", error);
    g_autoptr(GArray) rows = ordered_rows(summary);

    if (!writer)
        return FALSE;
    table_writer_fields(writer, columns, G_N_ELEMENTS(columns));
    table_writer_row(writer);
    for (guint i = 0; i < rows->len; i++) {
        uint32_t row = g_array_index(rows, struct place, i).row;
        g_autofree char *key = curve_key(summary, row);
        const struct scaling *curve = find_scaling(curves, key);
        double planes = lattice_x(summary, row);

        write_place(writer, summary, row);
        table_writer_double(writer, throughput_of(summary, row) * 1e-9);
        table_writer_double(writer, throughput_ci95(summary, row) * 1e-9);
        table_writer_double(writer, curve->least_throughput / curve->least_capacity *
                                        capacity_of(summary, row) * 1e-9);
        table_writer_double(writer, (curve->line.intercept + curve->line.slope * planes) * 1e-9);
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}

static gboolean write_plane_scaling(const struct results *results, GString *notes, GError **error)
{
    struct lattice summary, points;
    struct table *table;
    GArray *curves;
    gboolean ok;

    if (!take_lattice(&summary, results, "topology.planes", error))
        return FALSE;
    table = read_points(&points, results, "topology.planes");
    curves = fit_curves(&summary, table ? &points : NULL);
    ok = write_fits(results, &summary, curves, notes, error) &&
         write_scaling(results, &summary, curves, error);
    g_array_unref(curves);
    drop_points(&points, table);
    lattice_clear(&summary);
    return ok;
}

const struct figure figure_plane_scaling = {
    "plane-scaling", "throughput against planes, with the ideal line and one by least squares",
    write_plane_scaling};
