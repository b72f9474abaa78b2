/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much a result hangs on one parameter: of a sweep with [change], each row against the one of
 * its case in which nothing is changed, seed by seed. The result is the recovery time where the
 * unchanged runs have one, otherwise the throughput. Parameters stand in the order of their largest
 * effect, and behind them pairs of such that are changed as well alone, beside what the two would
 * do if neither knew of the other, and with what they do beyond that, seed by seed.
 */
#include "sim/app/figure.h"
#include "sim/app/lattice.h"
#include "sim/stats/stats.h"
#include <math.h>
#include <string.h>

#define MOST_SEEDS 1000
#define MOST_NOTED 3 /* parameters of a case that are told in words */

static const char *const metrics[] = {"recovery_time_ps",
                                      "throughput_bps"}; /* the first there is */

struct effects {
    struct table *points;
    int case_, key, value, seed; /* columns; case_: -1 if there is none */
};

struct effect { /* of one value of one parameter in one case */
    const char *case_, *key, *value;
    const char *metric;
    double reference, mean; /* of the metric */
    struct stats_estimate ratio;
    bool pair;    /* its parts are changed alone as well */
    double alone; /* of a pair: the product of the ratios of its parts; NaN: there is none */
    struct stats_estimate beyond; /* of a pair: its ratio over `alone`; NaN: there is none */
    double strongest;             /* of its parameter in its case, |ratio - 1| */
    guint place;                  /* of its parameter in its case, from 1 */
    guint end;                    /* which value of its parameter, from 1 */
    guint order;                  /* as in the file */
};

/* --- reading ---------------------------------------------------------------------------------- */

static const char *case_of(const struct effects *effects, uint32_t row)
{
    return effects->case_ < 0 ? "" : table_field(effects->points, row, (uint32_t)effects->case_);
}

static bool is_row_of(const struct effects *effects, uint32_t row, const char *case_,
                      const char *key, const char *value)
{
    return strcmp(case_of(effects, row), case_) == 0 &&
           strcmp(table_field(effects->points, row, (uint32_t)effects->key), key) == 0 &&
           strcmp(table_field(effects->points, row, (uint32_t)effects->value), value) == 0;
}

/* The number of a point in the row of `seed`, NaN if it has none. */
static double number_of(const struct effects *effects, const char *case_, const char *key,
                        const char *value, const char *seed, int column)
{
    for (uint32_t row = 0; row < table_n_rows(effects->points); row++)
        if (is_row_of(effects, row, case_, key, value) &&
            strcmp(table_field(effects->points, row, (uint32_t)effects->seed), seed) == 0)
            return lattice_number(effects->points, row, column);
    return (double)NAN;
}

/* The first metric that every unchanged run of the case has; -1 if none. */
static int metric_of(const struct effects *effects, const char *case_)
{
    for (size_t i = 0; i < G_N_ELEMENTS(metrics); i++) {
        int column = table_column(effects->points, metrics[i]);
        bool all = column >= 0;

        for (uint32_t row = 0; all && row < table_n_rows(effects->points); row++)
            if (is_row_of(effects, row, case_, "", ""))
                all = isfinite(lattice_number(effects->points, row, column));
        if (all)
            return column;
    }
    return -1;
}

/* --- one effect ------------------------------------------------------------------------------- */

/* The numbers of a change with what is unchanged, by equal seeds; how many there are. */
static size_t numbers_of(const struct effects *effects, const struct effect *effect,
                         double above[static MOST_SEEDS], double below[static MOST_SEEDS])
{
    int column = table_column(effects->points, effect->metric);
    size_t n = 0;

    for (uint32_t row = 0; row < table_n_rows(effects->points) && n < MOST_SEEDS; row++) {
        if (!is_row_of(effects, row, effect->case_, effect->key, effect->value))
            continue;
        above[n] = lattice_number(effects->points, row, column);
        below[n] = number_of(effects, effect->case_, "", "",
                             table_field(effects->points, row, (uint32_t)effects->seed), column);
        n++;
    }
    return n;
}

static void estimate(const struct effects *effects, struct effect *effect)
{
    double above[MOST_SEEDS], below[MOST_SEEDS];
    size_t n = numbers_of(effects, effect, above, below);

    effect->mean = stats_mean(above, n);
    effect->reference = stats_mean(below, n);
    effect->ratio = stats_estimate_ratio(above, below, n);
}

static bool is_known(const GArray *list, const struct effect *effect)
{
    for (guint i = 0; i < list->len; i++) {
        const struct effect *other = &g_array_index(list, struct effect, i);

        if (strcmp(other->case_, effect->case_) == 0 && strcmp(other->key, effect->key) == 0 &&
            strcmp(other->value, effect->value) == 0)
            return true;
    }
    return false;
}

static void add_row(const struct effects *effects, GArray *list, uint32_t row)
{
    const struct table *points = effects->points;
    struct effect effect = {.case_ = case_of(effects, row),
                            .key = table_field(points, row, (uint32_t)effects->key),
                            .value = table_field(points, row, (uint32_t)effects->value),
                            .order = list->len};
    int column = *effect.key && !is_known(list, &effect) ? metric_of(effects, effect.case_) : -1;

    if (column < 0)
        return;
    effect.metric = table_column_name(points, (uint32_t)column);
    estimate(effects, &effect);
    g_array_append_val(list, effect);
}

/* --- order ------------------------------------------------------------------------------------ */

static bool same_parameter(const struct effect *a, const struct effect *b)
{
    return strcmp(a->case_, b->case_) == 0 && strcmp(a->key, b->key) == 0;
}

static double size_of(const struct effect *effect)
{
    return isfinite(effect->ratio.value) ? fabs(effect->ratio.value - 1) : 0;
}

static gint by_strength(gconstpointer a, gconstpointer b, gpointer data)
{
    const struct effect *x = a, *y = b;
    const GPtrArray *cases = data;
    guint case_x = 0, case_y = 0;

    g_ptr_array_find_with_equal_func((GPtrArray *)(uintptr_t)cases, x->case_, g_str_equal, &case_x);
    g_ptr_array_find_with_equal_func((GPtrArray *)(uintptr_t)cases, y->case_, g_str_equal, &case_y);
    if (case_x != case_y)
        return case_x < case_y ? -1 : 1;
    if (x->pair != y->pair)
        return x->pair ? 1 : -1;
    if (x->strongest != y->strongest)
        return x->strongest > y->strongest ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void rank(GArray *list)
{
    g_autoptr(GPtrArray) cases = g_ptr_array_new();

    for (guint i = 0; i < list->len; i++) {
        struct effect *effect = &g_array_index(list, struct effect, i);

        if (!g_ptr_array_find_with_equal_func(cases, effect->case_, g_str_equal, NULL))
            g_ptr_array_add(cases, (char *)(uintptr_t)effect->case_);
        for (guint k = 0; k < list->len; k++) {
            const struct effect *other = &g_array_index(list, struct effect, k);

            if (same_parameter(effect, other))
                effect->strongest = fmax(effect->strongest, size_of(other));
        }
    }
    g_array_sort_with_data(list, by_strength, cases);
    for (guint i = 0; i < list->len; i++) {
        struct effect *effect = &g_array_index(list, struct effect, i);
        const struct effect *before = i ? &g_array_index(list, struct effect, i - 1) : NULL;
        bool first = !before || strcmp(before->case_, effect->case_) != 0;

        effect->place = first ? 1 : before->place + !same_parameter(before, effect);
        effect->end = before && same_parameter(before, effect) ? before->end + 1 : 1;
    }
}

/* --- what two parameters would do if neither knew of the other -------------------------------- */

static const struct effect *find(const GArray *list, const char *case_, const char *key,
                                 const char *value)
{
    for (guint i = 0; i < list->len; i++) {
        const struct effect *effect = &g_array_index(list, struct effect, i);

        if (strcmp(effect->case_, case_) == 0 && strcmp(effect->key, key) == 0 &&
            strcmp(effect->value, value) == 0)
            return effect;
    }
    return NULL;
}

static bool is_changed(const GArray *list, const char *case_, const char *key)
{
    for (guint i = 0; i < list->len; i++)
        if (strcmp(g_array_index(list, struct effect, i).case_, case_) == 0 &&
            strcmp(g_array_index(list, struct effect, i).key, key) == 0)
            return true;
    return false;
}

static bool is_pair(const GArray *list, const struct effect *effect)
{
    g_auto(GStrv) keys = g_strsplit(effect->key, " & ", -1);

    for (guint i = 0; keys[i]; i++)
        if (!keys[1] || !is_changed(list, effect->case_, keys[i]))
            return false;
    return true;
}

/* The product of the ratios of "a & b" changed alone; NaN where the sweep has not both. */
static double alone_of(const GArray *list, const struct effect *effect)
{
    g_auto(GStrv) keys = g_strsplit(effect->key, " & ", -1);
    g_auto(GStrv) values = g_strsplit(effect->value, " & ", -1);
    double product = 1;

    if (g_strv_length(keys) < 2 || g_strv_length(keys) != g_strv_length(values))
        return (double)NAN;
    for (guint i = 0; keys[i]; i++) {
        const struct effect *one = find(list, effect->case_, keys[i], values[i]);

        product *= one ? one->ratio.value : (double)NAN;
    }
    return product;
}

/* Of two parameters; NaN where the sweep has not both alone, for each seed of the two together. */
static struct stats_estimate beyond_of(const struct effects *effects, const GArray *list,
                                       const struct effect *effect)
{
    double both[MOST_SEEDS], neither[MOST_SEEDS], alone[2][MOST_SEEDS], unchanged[MOST_SEEDS];
    struct stats_estimate none = {(double)NAN, (double)NAN, 0};
    g_auto(GStrv) keys = g_strsplit(effect->key, " & ", -1);
    g_auto(GStrv) values = g_strsplit(effect->value, " & ", -1);
    size_t n = numbers_of(effects, effect, both, neither);

    if (!isfinite(effect->alone) || g_strv_length(keys) != 2)
        return none;
    for (guint i = 0; i < 2; i++)
        if (numbers_of(effects, find(list, effect->case_, keys[i], values[i]), alone[i],
                       unchanged) != n)
            return none;
    return stats_estimate_interaction(both, alone[0], alone[1], neither, n);
}

/* --- the table -------------------------------------------------------------------------------- */

static gboolean write_table(const struct results *results, const GArray *list, GError **error)
{
    static const char *const columns[] = {
        "case",          "place",       "end",       "pair",         "changed_key",
        "changed_value", "metric",      "reference", "mean",         "change_ratio",
        "change_ci95",   "alone_ratio", "seeds",     "beyond_ratio", "beyond_ci95"};
    struct table_writer *writer = figure_table(results, "effects.csv", error);

    if (!writer)
        return FALSE;
    table_writer_fields(writer, columns, G_N_ELEMENTS(columns));
    table_writer_row(writer);
    for (guint i = 0; i < list->len; i++) {
        const struct effect *effect = &g_array_index(list, struct effect, i);
        g_autofree char *case_ = g_strdelimit(g_strdup(effect->case_), ",\"", ' ');
        g_autofree char *value = g_strdelimit(g_strdup(effect->value), ",\"", ' ');

        table_writer_field(writer, case_);
        table_writer_printf(writer, "%u", effect->place);
        table_writer_printf(writer, "%u", effect->end);
        table_writer_field(writer, effect->pair ? "yes" : "no");
        table_writer_field(writer, effect->key);
        table_writer_field(writer, value);
        table_writer_field(writer, effect->metric);
        table_writer_double(writer, effect->reference);
        table_writer_double(writer, effect->mean);
        table_writer_double(writer, effect->ratio.value - 1);
        table_writer_double(writer, effect->ratio.ci95);
        table_writer_double(writer, effect->alone - 1);
        table_writer_printf(writer, "%zu", effect->ratio.n);
        table_writer_double(writer, effect->beyond.value - 1);
        table_writer_double(writer, effect->beyond.ci95);
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}

/* "1 MB incast, throughput_bps: transport.paths = 4 -31 %, ..." */
static void note(GString *notes, const GArray *list)
{
    for (guint i = 0; i < list->len; i++) {
        const struct effect *effect = &g_array_index(list, struct effect, i);

        if (effect->pair || effect->place > MOST_NOTED || size_of(effect) < effect->strongest)
            continue;
        if (effect->place == 1)
            g_string_append_printf(notes, "%s%s%s:", effect->case_, *effect->case_ ? ", " : "",
                                   effect->metric);
        g_string_append_printf(notes, "%s %s = %s %+.1f %%", effect->place > 1 ? "," : "",
                               effect->key, effect->value, 100 * (effect->ratio.value - 1));
        if (effect->place == MOST_NOTED)
            g_string_append_c(notes, '\n');
    }
}

static gboolean reduce(const struct results *results, const struct effects *effects, GString *notes,
                       GError **error)
{
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct effect));

    for (uint32_t row = 0; row < table_n_rows(effects->points); row++)
        add_row(effects, list, row);
    if (list->len == 0)
        return figure_no_data(error, "it needs points that are played, changed and unchanged");
    for (guint i = 0; i < list->len; i++) {
        struct effect *effect = &g_array_index(list, struct effect, i);

        effect->pair = is_pair(list, effect);
        effect->alone = alone_of(list, effect);
        effect->beyond = beyond_of(effects, list, effect);
    }
    rank(list);
    note(notes, list);
    return write_table(results, list, error);
}

static gboolean write_effects(const struct results *results, GString *notes, GError **error)
{
    g_autofree char *path = results_path(results, "points.csv");
    struct effects effects = {0};
    gboolean ok;

    if (results->kind != RESULTS_SWEEP || table_column(results->summary, "changed_key") < 0 ||
        !results_has(results, "points.csv"))
        return figure_no_data(error, "it needs a sweep with [change] and its points.csv");
    effects.points = table_read(path, error);
    if (!effects.points)
        return FALSE;
    effects.case_ = table_column(effects.points, "case");
    effects.key = table_column(effects.points, "changed_key");
    effects.value = table_column(effects.points, "changed_value");
    effects.seed = table_column(effects.points, "seed");
    if (effects.key < 0 || effects.value < 0 || effects.seed < 0)
        ok = figure_no_data(error, "%s: columns changed_key, changed_value and seed are expected",
                            path);
    else
        ok = reduce(results, &effects, notes, error);
    table_free(effects.points);
    return ok;
}

const struct figure figure_effects = {
    "effects", "how much each changed parameter moves the result, strongest first", write_effects};
