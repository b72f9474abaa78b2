/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/compare_report.h"
#include "sim/core/table.h"
#include "sim/core/units.h"
#include <math.h>
#include <string.h>

#define N_COLUMNS    10
#define CURVE_POINTS 96

/* --- numbers ---------------------------------------------------------------------------------- */

static const struct compare_run *runs_of(const struct compare_results *results, uint32_t point)
{
    return &results->runs[(size_t)point * results->plan->n_seeds];
}

uint32_t compare_n_done(const struct compare_results *results, uint32_t point)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < results->plan->n_seeds; s++)
        n += runs_of(results, point)[s].state == COMPARE_DONE;
    return n;
}

struct stats_estimate compare_estimate(const struct compare_results *results, uint32_t point,
                                       enum compare_metric metric)
{
    g_autofree double *values = g_new(double, results->plan->n_seeds);
    size_t n = 0;

    for (uint32_t s = 0; s < results->plan->n_seeds; s++)
        if (runs_of(results, point)[s].state == COMPARE_DONE)
            values[n++] = runs_of(results, point)[s].sample.values[metric];
    return stats_estimate_mean(values, n);
}

/* "0", "0%", "0ps" */
static bool is_zero(const char *text)
{
    return strpbrk(text, "0123456789") && !strpbrk(text, "123456789");
}

struct stats_estimate compare_share(const struct compare_results *results, uint32_t point)
{
    const struct compare_plan *plan = results->plan;
    uint32_t first = point - compare_plan_place(plan, point).value, lossless = 0;
    g_autofree double *above = g_new(double, plan->n_seeds);
    g_autofree double *below = g_new(double, plan->n_seeds);
    size_t n = 0;

    while (lossless < plan->values->len && !is_zero(results->values[lossless]))
        lossless++;
    for (uint32_t s = 0; lossless < plan->values->len && s < plan->n_seeds; s++) {
        const struct compare_run *run = &runs_of(results, point)[s];
        const struct compare_run *base = &runs_of(results, first + lossless)[s];

        if (run->state != COMPARE_DONE || base->state != COMPARE_DONE)
            continue;
        above[n] = run->sample.values[COMPARE_BUSBW];
        below[n++] = base->sample.values[COMPARE_BUSBW];
    }
    if (n == 0 || stats_mean(below, n) <= 0)
        return (struct stats_estimate){(double)NAN, (double)NAN, n};
    return stats_estimate_ratio(above, below, n);
}

bool compare_varies_loss(const struct compare_plan *plan)
{
    return g_str_has_prefix(plan->vary, "loss.rate");
}

/* --- the table for people --------------------------------------------------------------------- */

/* "38.2 ± 0.1", with the decimals that the interval deserves */
static char *estimate_text(struct stats_estimate estimate, double scale)
{
    double value = estimate.value * scale, width = estimate.ci95 * scale;
    int decimals = fabs(value) >= 1000 ? 0 : fabs(value) >= 10 ? 1 : 2;

    if (!isfinite(value))
        return g_strdup("-");
    if (!isfinite(width))
        return g_strdup_printf("%.*f", decimals, value);
    return g_strdup_printf("%.*f ± %.*f", decimals, value, decimals, width);
}

static char *time_text(struct stats_estimate estimate_us)
{
    return isfinite(estimate_us.value) ? units_display(UNITS_TIME, estimate_us.value * 1e6)
                                       : g_strdup("never");
}

static char *count_text(struct stats_estimate estimate)
{
    bool whole = estimate.value >= 100 || estimate.value == floor(estimate.value);

    return g_strdup_printf(whole ? "%.0f" : "%.1f", estimate.value);
}

static char *value_text(const struct compare_results *results, uint32_t value)
{
    const char *text = results->values[value], *why;
    int64_t ratio;

    if (compare_varies_loss(results->plan) && units_parse(UNITS_RATIO, text, &ratio, &why))
        return g_strdup_printf("%.4g %%", (double)ratio / 1e10);
    return g_strdup(text);
}

/* The cells of one row; busbw is flagged where a flow did not finish. */
static void fill_row(const struct compare_results *results, uint32_t point, char **cells)
{
    struct compare_place place = compare_plan_place(results->plan, point);
    struct stats_estimate unfinished = compare_estimate(results, point, COMPARE_UNFINISHED);
    g_autofree char *busbw = estimate_text(compare_estimate(results, point, COMPARE_BUSBW), 1);

    cells[0] = g_strdup(compare_plan_variant(results->plan, place.variant)->name);
    cells[1] = value_text(results, place.value);
    cells[2] = g_strconcat(busbw, unfinished.value > 0 ? " !" : "", NULL);
    cells[3] = estimate_text(compare_share(results, point), 100);
    cells[4] = time_text(compare_estimate(results, point, COMPARE_COMPLETION_P50));
    cells[5] = time_text(compare_estimate(results, point, COMPARE_COMPLETION_P99));
    cells[6] = count_text(compare_estimate(results, point, COMPARE_RETRANSMITTED));
    cells[7] = count_text(compare_estimate(results, point, COMPARE_TIMEOUTS));
    cells[8] = count_text(compare_estimate(results, point, COMPARE_SPURIOUS));
    cells[9] = count_text(unfinished);
}

static void print_row(FILE *out, char *const *cells, const int *widths, bool incomplete)
{
    for (int c = 0; c < N_COLUMNS; c++) {
        int padding = widths[c] - (int)g_utf8_strlen(cells[c], -1);

        if (c == 0)
            fprintf(out, "%s%*s", cells[c], padding, "");
        else
            fprintf(out, "  %*s%s", padding, "", cells[c]);
    }
    fprintf(out, "%s\n", incomplete ? "  (seeds missing)" : "");
}

static void print_case(const struct compare_results *results, uint32_t case_, FILE *out)
{
    static const char *const titles[N_COLUMNS] = {"variant",  "value",     "busbw GB/s", "kept %",
                                                  "p50",      "p99",       "resent",     "timeouts",
                                                  "spurious", "unfinished"};
    const struct compare_plan *plan = results->plan;
    uint32_t n_rows = plan->variants->len * plan->values->len, first = case_ * n_rows;
    g_autofree char **cells = g_new0(char *, (size_t)(n_rows + 1) * N_COLUMNS);
    int widths[N_COLUMNS] = {0};

    for (int c = 0; c < N_COLUMNS; c++)
        cells[c] = g_strdup(c == 1 && compare_varies_loss(plan) ? "loss" : titles[c]);
    for (uint32_t row = 1; row <= n_rows; row++)
        if (compare_n_done(results, first + row - 1) > 0)
            fill_row(results, first + row - 1, &cells[(size_t)row * N_COLUMNS]);
    for (size_t i = 0; i < (size_t)(n_rows + 1) * N_COLUMNS; i++)
        if (cells[i])
            widths[i % N_COLUMNS] = MAX(widths[i % N_COLUMNS], (int)g_utf8_strlen(cells[i], -1));
    fprintf(out, "\n%s\n", compare_plan_case(plan, case_)->name);
    for (uint32_t row = 0; row <= n_rows; row++) {
        if (!cells[(size_t)row * N_COLUMNS])
            continue;
        if (row > 1 && (row - 1) % plan->values->len == 0)
            fputc('\n', out);
        print_row(out, &cells[(size_t)row * N_COLUMNS], widths,
                  row > 0 && compare_n_done(results, first + row - 1) < plan->n_seeds);
    }
    for (size_t i = 0; i < (size_t)(n_rows + 1) * N_COLUMNS; i++)
        g_free(cells[i]);
}

void compare_report_print(const struct compare_results *results, FILE *out)
{
    const struct compare_plan *plan = results->plan;
    bool unfinished = false;

    fprintf(out, "%s\n", plan->title);
    for (uint32_t c = 0; c < plan->cases->len; c++)
        print_case(results, c, out);
    fprintf(
        out,
        "\n%s varies; means over %u seeds ± 95 %% interval. busbw as nccl-tests counts it; kept: "
        "of the own busbw\nat 0, by pairs of equal seeds; p50, p99: completion of a message; "
        "resent to unfinished: packets and flows a run.\n",
        plan->vary, plan->n_seeds);
    for (uint32_t p = 0; p < compare_plan_n_points(plan); p++)
        unfinished |= compare_n_done(results, p) > 0 &&
                      compare_estimate(results, p, COMPARE_UNFINISHED).value > 0;
    if (unfinished)
        fprintf(out, "! flows did not finish by the end of the run; a collective that does not end "
                     "counts with busbw 0.\n");
}

/* --- files ------------------------------------------------------------------------------------ */

static struct table_writer *start_table(const struct compare_results *results, const char *folder,
                                        const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);

    return table_writer_new_with(path, results->json_lines, error);
}

static void write_place(struct table_writer *writer, const struct compare_results *results,
                        uint32_t point)
{
    struct compare_place place = compare_plan_place(results->plan, point);

    table_writer_field(writer, compare_plan_case(results->plan, place.case_)->name);
    table_writer_field(writer, compare_plan_variant(results->plan, place.variant)->name);
    table_writer_field(writer, results->values[place.value]);
}

static void write_place_header(struct table_writer *writer, const struct compare_plan *plan)
{
    table_writer_field(writer, "case");
    table_writer_field(writer, "variant");
    table_writer_field(writer, plan->vary);
}

static void write_estimate(struct table_writer *writer, struct stats_estimate estimate)
{
    table_writer_double(writer, estimate.value);
    table_writer_double(writer, estimate.ci95);
}

static void write_pair_header(struct table_writer *writer, const char *name)
{
    table_writer_field(writer, name);
    table_writer_printf(writer, "%s_ci95", name);
}

/* One row a point; rows whose seeds are not all done say so in the column `complete`. */
static gboolean write_summary(const struct compare_results *results, const char *folder,
                              GError **error)
{
    const struct compare_plan *plan = results->plan;
    struct table_writer *writer = start_table(results, folder, "summary.csv", error);

    if (!writer)
        return FALSE;
    write_place_header(writer, plan);
    table_writer_field(writer, "seeds");
    table_writer_field(writer, "complete");
    for (enum compare_metric m = 0; m < COMPARE_N_METRICS; m++) {
        write_pair_header(writer, compare_metric_name(m));
        if (m == COMPARE_BUSBW)
            write_pair_header(writer, "share_of_lossless");
    }
    table_writer_row(writer);
    for (uint32_t point = 0; point < compare_plan_n_points(plan); point++) {
        uint32_t n_done = compare_n_done(results, point);

        write_place(writer, results, point);
        table_writer_printf(writer, "%u", n_done);
        table_writer_field(writer, n_done == plan->n_seeds ? "yes" : "no");
        for (enum compare_metric m = 0; m < COMPARE_N_METRICS; m++) {
            write_estimate(writer, compare_estimate(results, point, m));
            if (m == COMPARE_BUSBW)
                write_estimate(writer, compare_share(results, point));
        }
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}

/* One row a run that is done. */
static gboolean write_points(const struct compare_results *results, const char *folder,
                             GError **error)
{
    const struct compare_plan *plan = results->plan;
    size_t n_runs = (size_t)compare_plan_n_points(plan) * plan->n_seeds;
    struct table_writer *writer = start_table(results, folder, "points.csv", error);

    if (!writer)
        return FALSE;
    write_place_header(writer, plan);
    table_writer_field(writer, "seed");
    for (enum compare_metric m = 0; m < COMPARE_N_METRICS; m++)
        table_writer_field(writer, compare_metric_name(m));
    table_writer_row(writer);
    for (size_t r = 0; r < n_runs; r++) {
        const struct compare_run *run = &results->runs[r];

        if (run->state != COMPARE_DONE)
            continue;
        write_place(writer, results, run->point);
        table_writer_printf(writer, "%" G_GUINT64_FORMAT, run->seed);
        for (enum compare_metric m = 0; m < COMPARE_N_METRICS; m++)
            table_writer_double(writer, run->sample.values[m]);
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}

/* The range of the closed forms: a little beyond the losses compared, below one half. */
static void loss_range(const double *losses, guint n, double *least, double *most)
{
    *least = 1;
    *most = 0;
    for (guint i = 0; i < n; i++) {
        double loss = losses[i];

        if (loss > 0) {
            *least = MIN(*least, loss);
            *most = MAX(*most, loss);
        }
    }
    if (*most == 0) {
        *least = 0.001;
        *most = 0.1;
    }
    *least /= 2.5;
    *most = MIN(*most * 1.6, 0.5);
}

gboolean compare_report_write_curves(const struct compare_plan *plan, const double *losses,
                                     guint n_losses, const char *folder, GError **error)
{
    const GPtrArray *curves = plan->curves;
    g_autofree char *path = g_build_filename(folder, "closed_form.csv", NULL);
    struct table_writer *writer = table_writer_new(path, error);
    double least, most;

    if (!writer)
        return FALSE;
    loss_range(losses, n_losses, &least, &most);
    table_writer_field(writer, plan->vary);
    for (guint c = 0; c < curves->len; c++)
        table_writer_field(writer, ((struct compare_curve *)g_ptr_array_index(curves, c))->name);
    table_writer_row(writer);
    for (int i = 0; i <= CURVE_POINTS; i++) {
        double p = least * pow(most / least, (double)i / CURVE_POINTS);

        table_writer_double(writer, p);
        for (guint c = 0; c < curves->len; c++) {
            const struct compare_curve *curve = g_ptr_array_index(curves, c);

            table_writer_double(writer, curve->form->share(&curve->input, p));
        }
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}

static gboolean write_closed_forms(const struct compare_results *results, const char *folder,
                                   GError **error)
{
    guint n = results->plan->values->len;
    g_autofree double *losses = g_new(double, n + 1);

    for (guint v = 0; v < n; v++)
        losses[v] = g_ascii_strtod(results->values[v], NULL);
    return compare_report_write_curves(results->plan, losses, n, folder, error);
}

gboolean compare_report_write(const struct compare_results *results, const char *folder,
                              GError **error)
{
    return write_points(results, folder, error) && write_summary(results, folder, error) &&
           (!compare_varies_loss(results->plan) || write_closed_forms(results, folder, error));
}
