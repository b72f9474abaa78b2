/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/report.h"
#include "sim/app/changes.h"
#include "sim/app/figure.h"
#include "sim/app/lattice.h"
#include "sim/app/plot.h"
#include "sim/app/version.h"
#include <math.h>
#include <string.h>

#define MOST_ROWS 400 /* of a table; the file is named for the rest */

static const char style[] =
    "body{font:16px/1.5 'Liberation Sans',Arial,Helvetica,sans-serif;color:#222;background:#fff;"
    "max-width:78rem;margin:2rem auto;padding:0 1.5rem}"
    "h1{font-size:1.7rem;line-height:1.25;margin:0 0 .3rem}"
    "h2{font-size:1.25rem;margin:2.2rem 0 .6rem;border-bottom:1px solid #bbb}"
    "h3{font-size:1.05rem;margin:1.4rem 0 .4rem}"
    "p,li{max-width:48rem}.of{color:#555;margin-top:0}"
    ".wide{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:.85rem;margin:.4rem 0 1rem}"
    "th,td{padding:.2rem .55rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}"
    "th{border-bottom:1px solid #ddd}thead th{border-bottom:2px solid #888}"
    "h3::first-letter{text-transform:uppercase}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "th.n{text-align:right}td.k{white-space:nowrap}td.v{white-space:pre-line}"
    "code,pre{font-family:'Liberation Mono',Consolas,monospace;font-size:.875rem}"
    "pre{background:#f4f4f4;padding:.6rem .8rem;overflow-x:auto}"
    "figure{margin:1.2rem 0 2rem}figure svg{width:100%;max-width:62rem;height:auto;display:block}"
    "figcaption{font-size:.9rem;color:#333}figcaption ul{margin:.3rem 0;padding-left:1.2rem}"
    ".warn{border-left:.3rem solid #d55e00;padding:.1rem 0 .1rem .9rem}ul.warn{padding-left:1.8rem}"
    "@media print{body{max-width:none;margin:0}figure,tr{break-inside:avoid}}";

/* --- text ------------------------------------------------------------------------------------- */

/* What is no UTF-8 or a control character becomes a question mark. */
static void add_text(GString *page, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autofree char *escaped = NULL;

    for (char *at = valid; *at; at++)
        if ((unsigned char)*at < ' ' && *at != '\n' && *at != '\t')
            *at = '?';
    escaped = g_markup_escape_text(valid, -1);
    g_string_append(page, escaped);
}

static void add_element(GString *page, const char *tag, const char *attributes, const char *text)
{
    g_string_append_printf(page, "<%s%s%s>", tag, *attributes ? " " : "", attributes);
    add_text(page, text);
    g_string_append_printf(page, "</%s>", tag);
}

static void start_table(GString *page, const char *const *heads, guint n_first_texts)
{
    g_string_append(page, "<div class=\"wide\"><table><thead><tr>");
    for (guint i = 0; heads[i]; i++)
        add_element(page, "th", i < n_first_texts ? "scope=\"col\"" : "scope=\"col\" class=\"n\"",
                    heads[i]);
    g_string_append(page, "</tr></thead><tbody>\n");
}

static void end_table(GString *page)
{
    g_string_append(page, "</tbody></table></div>\n");
}

/* --- what was played -------------------------------------------------------------------------- */

/* The text of a key of run.json, which weft writes one a line; NULL if it is not there. g_free. */
static char *json_text(const char *json, const char *key)
{
    g_autofree char *pattern = g_strdup_printf("\"%s\": \"((?:[^\"\\\\]|\\\\.)*)\"", key);
    g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    g_autofree char *found = NULL;

    if (!regex || !g_regex_match(regex, json, 0, &match))
        return NULL;
    found = g_match_info_fetch(match, 1);
    return g_strcompress(found);
}

static void add_fact(GString *page, const char *name, const char *value)
{
    if (!value || *value == '\0')
        return;
    g_string_append(page, "<tr>");
    add_element(page, "th", "scope=\"row\"", name);
    add_element(page, "td", "", value);
    g_string_append(page, "</tr>\n");
}

static void add_run_facts(GString *page, const struct results *results)
{
    g_autofree char *path = results_path(results, "run.json"), *json = NULL;

    if (!g_file_get_contents(path, &json, NULL, NULL))
        return;
    g_autofree char *version = json_text(json, "version"), *command = json_text(json, "command");
    g_autofree char *outcome = json_text(json, "outcome");

    add_fact(page, "played by", version);
    add_fact(page, "command", command);
    add_fact(page, "outcome", outcome);
}

static void add_setting_fact(GString *page, const struct results *results, const char *name,
                             const char *group, const char *key)
{
    add_fact(page, name, results_setting(results->settings, group, key));
}

static void add_sweep_facts(GString *page, const struct results *results)
{
    g_autofree char *path = results_path(results, "version"), *version = NULL;
    g_autofree char *n_rows = g_strdup_printf("%u", table_n_rows(results->summary));
    struct lattice lattice;

    if (g_file_get_contents(path, &version, NULL, NULL))
        add_fact(page, "played by", g_strchomp(version));
    add_fact(page, results->kind == RESULTS_SWEEP ? "grid points" : "points", n_rows);
    if (!lattice_init(&lattice, results->summary, NULL, NULL))
        return;
    if (table_n_rows(results->summary) > 0) {
        g_auto(GStrv) axes = lattice_axes(&lattice, 0);
        GString *names = g_string_new("");

        for (char **axis = axes; *axis; axis += 2)
            g_string_append_printf(names, "%s%s", names->len ? ", " : "", axis[0]);
        add_fact(page, "axes", names->str);
        g_string_free(names, TRUE);
    }
    lattice_clear(&lattice);
}

static void add_played(GString *page, const struct results *results)
{
    g_string_append(page, "<h2 id=\"played\">What was played</h2>\n<table><tbody>\n");
    add_fact(page, "folder", results->folder);
    add_fact(page, "kind", results_kind_name(results->kind));
    add_setting_fact(page, results, "fabric", "topology", "kind");
    if (results->kind == RESULTS_RUN) {
        add_setting_fact(page, results, "traffic", "workload", "kind");
        add_setting_fact(page, results, "transport", "transport", "name");
        add_setting_fact(page, results, "seed", "run", "seed");
        add_run_facts(page, results);
    } else if (results->kind != RESULTS_RUNS) {
        add_setting_fact(page, results, "seeds", "compare", "seeds");
        add_sweep_facts(page, results);
    }
    g_string_append(page, "</tbody></table>\n");
}

/* --- what to beware of ------------------------------------------------------------------------ */

static void warn_of_run(GPtrArray *warnings, const struct results *results)
{
    static const struct {
        const char *metric, *text;
    } rows[] = {
        {"flows_unfinished", "flows did not finish by the end of the run"},
        {"flows_failed", "flows failed: their transport gave up"},
        {"flows_slowdown_below_1", "flows were faster than the ideal bound"},
    };
    const char *complete = results_metric(results->summary, "complete");

    if (complete && strcmp(complete, "0") == 0)
        g_ptr_array_add(warnings, g_strdup("The run was interrupted: the files hold what was done "
                                           "until then."));
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *value = results_metric(results->summary, rows[i].metric);

        if (value && strcmp(value, "0") != 0)
            g_ptr_array_add(warnings, g_strdup_printf("%s %s.", value, rows[i].text));
    }
}

/* Rows of a summary in which the column says more than "none". */
static void warn_of_rows(GPtrArray *warnings, const struct table *table, const char *column,
                         const char *fine, const char *text)
{
    int c = table_column(table, column);
    guint n = 0;

    for (uint32_t row = 0; c >= 0 && row < table_n_rows(table); row++)
        n += strcmp(table_field(table, row, (uint32_t)c), fine) != 0;
    if (n > 0)
        g_ptr_array_add(warnings,
                        g_strdup_printf("%u of %u rows %s.", n, table_n_rows(table), text));
}

static void warn_of_points(GPtrArray *warnings, const struct results *results)
{
    g_autofree char *path = results_path(results, "points.csv");
    struct table *points = results_has(results, "points.csv") ? table_read(path, NULL) : NULL;
    int status = points ? table_column(points, "status") : -1;
    int error = points ? table_column(points, "error") : -1;

    for (uint32_t row = 0; status >= 0 && row < table_n_rows(points); row++) {
        const char *state = table_field(points, row, (uint32_t)status);

        if (strcmp(state, "done") != 0 && warnings->len < MOST_ROWS)
            g_ptr_array_add(
                warnings,
                g_strdup_printf("Point %s is %s%s%s.", table_field(points, row, 0), state,
                                error >= 0 ? ": " : "",
                                error >= 0 ? table_field(points, row, (uint32_t)error) : ""));
    }
    if (points)
        table_free(points);
}

/* Few seeds make wide intervals, one seed makes none. */
static void warn_of_seeds(GPtrArray *warnings, const struct table *summary)
{
    int seeds = table_column(summary, "seeds");
    double least = INFINITY;

    for (uint32_t row = 0; seeds >= 0 && row < table_n_rows(summary); row++)
        least = fmin(least, lattice_number(summary, row, seeds));
    if (least < 2)
        g_ptr_array_add(warnings,
                        g_strdup("Some rows have fewer than two seeds: no interval is known for "
                                 "them."));
}

static void add_warnings(GString *page, const struct results *results)
{
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);

    if (results->kind == RESULTS_RUN)
        warn_of_run(warnings, results);
    if (results->kind == RESULTS_COMPARISON || results->kind == RESULTS_SWEEP) {
        warn_of_rows(warnings, results->summary, "complete", "yes", "lack seeds");
        warn_of_rows(warnings, results->summary,
                     results->kind == RESULTS_SWEEP ? "unfinished" : "unfinished_flows", "0",
                     "have runs in which a flow did not finish");
        warn_of_seeds(warnings, results->summary);
        warn_of_points(warnings, results);
    }
    g_string_append(page, "<h2 id=\"warnings\">What to beware of</h2>\n");
    if (warnings->len == 0) {
        g_string_append(page, "<p>Nothing: all is complete and every flow finished.</p>\n");
        return;
    }
    g_string_append(page, "<ul class=\"warn\">\n");
    for (guint i = 0; i < warnings->len; i++) {
        add_element(page, "li", "", g_ptr_array_index(warnings, i));
        g_string_append_c(page, '\n');
    }
    g_string_append(page, "</ul>\n");
}

/* --- figures ---------------------------------------------------------------------------------- */

/* Numbers of figures keep their ids apart on the page. */
static void add_ids(GString *page, const char *svg, const char *figure)
{
    static const char *const marks[] = {"id=\"", "id='", "href='#", "href=\"#", "url(#"};

    while (*svg) {
        bool found = false;

        for (size_t i = 0; !found && i < G_N_ELEMENTS(marks); i++)
            if (g_str_has_prefix(svg, marks[i])) {
                g_string_append_printf(page, "%s%s-", marks[i], figure);
                svg += strlen(marks[i]);
                found = true;
            }
        if (!found)
            g_string_append_c(page, *svg++);
    }
}

/* The drawing without its prologue, with a title and a description in the place of gnuplot's. */
static gboolean add_svg(GString *page, const struct results *results, const struct figure *figure,
                        const char *notes, GError **error)
{
    g_autofree char *file = g_strconcat(figure->name, ".svg", NULL);
    g_autofree char *path = results_path(results, file), *text = NULL;
    const char *start, *body;

    if (!g_file_get_contents(path, &text, NULL, error))
        return FALSE;
    start = strstr(text, "<svg");
    body = start ? strstr(start, "</desc>") : NULL;
    if (!body) {
        g_set_error(error, FIGURE_ERROR, FIGURE_ERROR_DATA, "%s: not a drawing by gnuplot", path);
        return FALSE;
    }
    g_string_append_printf(page, "<svg role=\"img\" aria-labelledby=\"%s-title %s-desc\"",
                           figure->name, figure->name);
    g_string_append_len(page, start + strlen("<svg"),
                        (gssize)(strcspn(start, ">") - strlen("<svg")));
    g_string_append_printf(page, ">\n<title id=\"%s-title\">", figure->name);
    add_text(page, results->title);
    g_string_append(page, ": ");
    add_text(page, figure->summary);
    g_string_append_printf(page, "</title>\n<desc id=\"%s-desc\">", figure->name);
    add_text(page, *notes ? notes : figure->summary);
    g_string_append(page, "</desc>");
    add_ids(page, body + strlen("</desc>"), figure->name);
    return TRUE;
}

static void add_caption(GString *page, const struct results *results, const struct figure *figure,
                        const char *notes)
{
    g_auto(GStrv) lines = g_strsplit(notes, "\n", -1);

    g_string_append(page, "<figcaption>");
    if (lines[0] && *lines[0]) {
        g_string_append(page, "<ul>");
        for (char **line = lines; *line; line++)
            if (**line)
                add_element(page, "li", "", *line);
        g_string_append(page, "</ul>");
    }
    g_string_append(page, "Drawn from ");
    g_string_append_printf(page, "<code>%s.csv</code> by <code>weft plot ", figure->name);
    add_text(page, results->folder);
    g_string_append_printf(page, " --figure %s</code></figcaption>\n", figure->name);
}

/* FALSE: the figure is not on the page, and `error` says why. */
static gboolean add_figure(GString *page, const struct results *results,
                           const struct figure *figure, GError **error)
{
    static const char *const formats[] = {"svg", NULL};
    g_autoptr(GString) notes = g_string_new("");
    gsize before = page->len;

    if (!figure_draw(figure, results, formats, notes, error))
        return FALSE;
    g_strchomp(notes->str);
    g_string_append(page, "<h3>");
    add_text(page, figure->summary);
    g_string_append(page, "</h3>\n<figure>\n");
    if (add_svg(page, results, figure, notes->str, error)) {
        add_caption(page, results, figure, notes->str);
        g_string_append(page, "</figure>\n");
        return TRUE;
    }
    g_string_truncate(page, before);
    return FALSE;
}

static guint add_figures(GString *page, const struct results *results)
{
    g_autoptr(GString) why = g_string_new("");
    const struct figure *figure;
    guint n = 0, n_missing = 0;

    g_string_append(page, "<h2 id=\"figures\">Figures</h2>\n");
    for (size_t i = 0; (figure = figure_at(i)) != NULL; i++) {
        g_autoptr(GError) error = NULL;

        if (add_figure(page, results, figure, &error)) {
            n++;
        } else if (!g_error_matches(error, FIGURE_ERROR, FIGURE_ERROR_NO_DATA)) {
            g_string_append_printf(
                page, "<p class=\"warn\"><code>%s</code> is not drawn: ", figure->name);
            add_text(page, error->message);
            g_string_append(page, "</p>\n");
            n_missing++;
        } else {
            g_autofree char *text = g_strdup_printf("%s: %s", figure->name, error->message);

            add_element(why, "li", "", text);
        }
    }
    if (n + n_missing == 0) {
        g_string_append(page, "<p>These results have data for none of weft's figures:</p>\n<ul>");
        g_string_append_len(page, why->str, (gssize)why->len);
        g_string_append(page, "</ul>\n");
    }
    return n_missing;
}

/* --- tables ----------------------------------------------------------------------------------- */

static void add_more(GString *page, guint n_rows, const char *file)
{
    if (n_rows > MOST_ROWS)
        g_string_append_printf(page,
                               "<p>The first %d of %u rows; all are in <code>%s</code>.</p>\n",
                               MOST_ROWS, n_rows, file);
}

/* 1234500000 ps as "1.23 ms" beside the number itself, which is what tables are searched for. */
static char *readable(const char *value, const char *unit)
{
    static const struct {
        const char *unit;
        enum units_kind kind;
    } kinds[] = {{"ps", UNITS_TIME}, {"bytes", UNITS_BYTES}, {"bit/s", UNITS_RATE}};

    for (size_t i = 0; *value && i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(unit, kinds[i].unit) == 0)
            return units_display(kinds[i].kind, g_ascii_strtod(value, NULL));
    return g_strdup("");
}

static void add_run_table(GString *page, const struct table *summary)
{
    static const char *const heads[] = {"metric", "", "value", "unit", NULL};

    start_table(page, heads, 1);
    for (uint32_t row = 0; row < table_n_rows(summary) && row < MOST_ROWS; row++) {
        g_autofree char *text =
            readable(table_field(summary, row, 1), table_field(summary, row, 2));

        g_string_append(page, "<tr>");
        add_element(page, "td", "class=\"k\"", table_field(summary, row, 0));
        add_element(page, "td", "class=\"n\"", text);
        add_element(page, "td", "class=\"n\"", table_field(summary, row, 1));
        add_element(page, "td", "", table_field(summary, row, 2));
        g_string_append(page, "</tr>\n");
    }
    end_table(page);
    add_more(page, table_n_rows(summary), "summary.csv");
}

/* A mean and its interval, in a unit for people. */
struct column {
    const char *name, *head;
    double scale;
};

static const struct column comparison_columns[] = {
    {"busbw_GBps", "busbw [GB/s]", 1},
    {"share_of_lossless", "of lossless [%]", 100},
    {"completion_p50_us", "p50 [us]", 1},
    {"completion_p99_us", "p99 [us]", 1},
    {"retransmitted_packets", "sent again [packets]", 1},
    {"timeouts", "timeouts", 1},
    {"unfinished_flows", "unfinished flows", 1},
    {NULL, NULL, 0},
};

static const struct column sweep_columns[] = {
    {"throughput_bps", "throughput [Gb/s]", 1e-9}, {"completion_p50_ps", "p50 [us]", 1e-6},
    {"completion_p99_ps", "p99 [us]", 1e-6},       {"completion_p999_ps", "p99.9 [us]", 1e-6},
    {"recovery_time_ps", "recovery [us]", 1e-6},   {NULL, NULL, 0},
};

/* With as many decimals as two digits of the interval need. g_free. */
static char *estimate_text(double value, double ci95)
{
    int decimals = ci95 > 0 ? (int)fmax(0, fmin(6, 1 - floor(log10(ci95)))) : 0;

    if (!(ci95 > 0))
        return g_strdup_printf("%.5g", value);
    return g_strdup_printf("%.*f ± %.*f", decimals, value, decimals, ci95);
}

static void add_estimate(GString *page, const struct table *summary, uint32_t row,
                         const struct column *column)
{
    g_autofree char *interval = g_strconcat(column->name, "_ci95", NULL);
    double value = lattice_number(summary, row, table_column(summary, column->name));
    double ci95 = lattice_number(summary, row, table_column(summary, interval));
    g_autofree char *text = NULL;

    text = isfinite(value) ? estimate_text(value * column->scale, ci95 * column->scale)
                           : g_strdup("–");
    add_element(page, "td", "class=\"n\"", text);
}

/* The axes but for the case, which stands above. */
static void start_grid(GString *page, const struct lattice *lattice, uint32_t row, char **axes,
                       const struct column *columns)
{
    g_autoptr(GPtrArray) heads = g_ptr_array_new();
    guint n_axes = 0;

    if (*lattice_case(lattice, row))
        add_element(page, "h3", "", lattice_case(lattice, row));
    for (char **axis = axes; *axis; axis += 2)
        if (strcmp(axis[0], "case") != 0) {
            g_ptr_array_add(heads, axis[0]);
            n_axes++;
        }
    g_ptr_array_add(heads, (char *)(uintptr_t) "seeds");
    for (; columns->name; columns++)
        g_ptr_array_add(heads, (char *)(uintptr_t)columns->head);
    g_ptr_array_add(heads, NULL);
    start_table(page, (const char *const *)heads->pdata, n_axes);
}

static void add_grid_row(GString *page, const struct lattice *lattice, uint32_t row, char **axes,
                         const struct column *columns)
{
    g_string_append(page, "<tr>");
    for (char **axis = axes; *axis; axis += 2)
        if (strcmp(axis[0], "case") != 0)
            add_element(page, "td", "class=\"k\"", axis[1]);
    add_element(page, "td", "class=\"n\"", table_field(lattice->table, row, lattice->seed));
    for (; columns->name; columns++)
        add_estimate(page, lattice->table, row, columns);
    g_string_append(page, "</tr>\n");
}

static void add_grid_table(GString *page, const struct results *results)
{
    const struct column *columns =
        results->kind == RESULTS_SWEEP ? sweep_columns : comparison_columns;
    const struct table *summary = results->summary;
    uint32_t n_rows = MIN(table_n_rows(summary), MOST_ROWS);
    struct lattice lattice;

    if (n_rows == 0 || !lattice_init(&lattice, summary, NULL, NULL))
        return;
    for (uint32_t row = 0; row < n_rows; row++) {
        g_auto(GStrv) axes = lattice_axes(&lattice, row);
        const char *case_ = lattice_case(&lattice, row);

        if (row == 0 || strcmp(case_, lattice_case(&lattice, row - 1)) != 0) {
            if (row > 0)
                end_table(page);
            start_grid(page, &lattice, row, axes, columns);
        }
        add_grid_row(page, &lattice, row, axes, columns);
    }
    end_table(page);
    g_string_append(page,
                    "<p>Means over seeds ± half the width of the 95 % interval; – where there "
                    "is none. All columns are in <code>summary.csv</code>, every run in "
                    "<code>points.csv</code>.</p>\n");
    add_more(page, table_n_rows(summary), "summary.csv");
    lattice_clear(&lattice);
}

static gboolean add_tables(GString *page, const struct results *results, GError **error)
{
    g_autoptr(GPtrArray) runs = NULL;

    g_string_append(page, "<h2 id=\"numbers\">Numbers</h2>\n");
    if (results->kind == RESULTS_RUN)
        add_run_table(page, results->summary);
    else if (results->kind != RESULTS_RUNS)
        add_grid_table(page, results);
    else {
        runs = results_runs(results, error);
        for (guint i = 0; runs && i < runs->len; i++) {
            const struct results_run *run = g_ptr_array_index(runs, i);
            g_autofree char *path = g_build_filename(run->folder, "summary.csv", NULL);
            struct table *summary = table_read(path, error);

            if (!summary)
                return FALSE;
            add_element(page, "h3", "", run->label);
            add_run_table(page, summary);
            table_free(summary);
        }
        return runs != NULL;
    }
    return TRUE;
}

/* --- parameters ------------------------------------------------------------------------------- */

static gboolean add_parameters(GString *page, const struct results *results, GError **error)
{
    static const char *const heads[] = {
        "key", "value", "default", "meaning", "source of the default", NULL};
    g_autoptr(GPtrArray) changes = changes_of(results, error);

    if (!changes)
        return FALSE;
    g_string_append(page,
                    "<h2 id=\"parameters\">Parameters that differ from their defaults</h2>\n");
    if (changes->len == 0) {
        g_string_append(page, "<p>No resolved scenario is kept with these results.</p>\n");
        return TRUE;
    }
    start_table(page, heads, G_N_ELEMENTS(heads));
    for (guint i = 0; i < changes->len; i++) {
        const struct change *change = g_ptr_array_index(changes, i);
        g_autofree char *key = g_strconcat(change->group, ".", change->key, NULL);

        g_string_append(page, "<tr><td class=\"k\"><code>");
        add_text(page, key);
        g_string_append(page, "</code></td>");
        add_element(page, "td", "class=\"v\"", change->values);
        add_element(page, "td", "", change->standard);
        add_element(page, "td", "", change->param ? change->param->help : "chooses what is played");
        add_element(page, "td", "", change->param ? change->param->source : "");
        g_string_append(page, "</tr>\n");
    }
    end_table(page);
    g_string_append(page, "<p>All other parameters have the defaults of docs/PARAMETERS.md.</p>\n");
    return TRUE;
}

/* --- again ------------------------------------------------------------------------------------ */

static void add_command(GString *page, const char *text)
{
    add_element(page, "pre", "", text);
    g_string_append_c(page, '\n');
}

static void add_again(GString *page, const struct results *results)
{
    g_autofree char *scenario = results_path(results, "scenario.ini");
    g_autofree char *plot = g_strdup_printf("weft plot %s", results->folder);
    g_autofree char *report = g_strdup_printf("weft report %s", results->folder);
    g_autofree char *play = NULL;

    g_string_append(page, "<h2 id=\"again\">How to make it again</h2>\n");
    if (results->kind == RESULTS_RUN && results->settings)
        play = g_strdup_printf("weft run %s", scenario);
    if (results->kind == RESULTS_COMPARISON && results->settings)
        play = g_strdup_printf("weft compare %s", scenario);
    if (play) {
        g_string_append(page,
                        "<p>The resolved scenario gives the same results, to the byte, with the "
                        "same version of weft:</p>\n");
        add_command(page, play);
    } else if (results->kind == RESULTS_SWEEP)
        g_string_append(page,
                        "<p>The sweep is played by <code>weft sweep</code> with its file; one "
                        "of its points by <code>weft run</code> with the scenario.ini of its "
                        "folder in <code>points/</code>.</p>\n");
    g_string_append(page, "<p>Figures and this page:</p>\n");
    add_command(page, plot);
    add_command(page, report);
    if (results->settings) {
        g_autofree char *text = NULL;

        if (!g_file_get_contents(scenario, &text, NULL, NULL))
            return;
        g_string_append(page, "<details><summary>The resolved scenario</summary>\n");
        add_command(page, text);
        g_string_append(page, "</details>\n");
    }
}

/* --- the page --------------------------------------------------------------------------------- */

static void start_page(GString *page, const struct results *results)
{
    g_string_append(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                          "<meta name=\"viewport\" content=\"width=device-width, "
                          "initial-scale=1\">\n<title>");
    add_text(page, results->title);
    g_string_append_printf(page, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", style);
    add_text(page, results->title);
    g_string_append(page, "</h1>\n<p class=\"of\">A ");
    g_string_append_printf(page,
                           "%s of weft, reported by weft %s. Nothing on this page is loaded "
                           "from elsewhere.</p>\n",
                           results_kind_name(results->kind), version_text());
}

gboolean report_write(const struct results *results, const char *path, guint *n_missing,
                      GError **error)
{
    g_autoptr(GString) page = g_string_new("");

    start_page(page, results);
    add_played(page, results);
    add_warnings(page, results);
    *n_missing = add_figures(page, results);
    if (!add_tables(page, results, error) || !add_parameters(page, results, error))
        return FALSE;
    add_again(page, results);
    g_string_append(page, "</body>\n</html>\n");
    return g_file_set_contents_full(path, page->str, (gssize)page->len,
                                    G_FILE_SET_CONTENTS_CONSISTENT, 0666, error);
}
