/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/sweep_plan.h"
#include "sim/app/choice.h"
#include "sim/app/eta.h"
#include <string.h>

const struct param sweep_params[] = {
    PARAM(TEXT, struct sweep_config, seeds, "1-5", NULL, NULL, NULL,
          "Seeds of each grid point, such as 1-30 or 1-5,8; N alone: the seeds 1 to N.",
          "our choice: the fewest with an interval worth drawing"),
    PARAM(NUMBER, struct sweep_config, points_per_task, "10", "1", "1000000", NULL,
          "Points that one task of a Slurm array plays.",
          "our choice: a wave of tasks costs Slurm about a second"),
    PARAM(NUMBER, struct sweep_config, tasks_at_once, "100", "1", "1000000", NULL,
          "Tasks of a Slurm array that may run at a time.", "our choice: leaves room for others"),
    PARAM_END,
};

/* One place on an axis. */
struct value {
    GPtrArray *entries; /* const struct scenario_entry *, keys "group.key"; not owned */
    char **cells;       /* one a column; as typed */
};

enum axis_kind {
    AXIS_NAMES,   /* a column of names */
    AXIS_KEYS,    /* a column a key, cells as the scenario writes them back */
    AXIS_CHANGES, /* two columns: which key, and its value */
};

struct sweep_axis {
    enum axis_kind kind;
    char **columns;
    GPtrArray *values; /* struct value * */
    GPtrArray *own;    /* struct scenario_entry * that the axis has made */
};

static void own_free(void *data)
{
    struct scenario_entry *entry = data;

    g_free((char *)(uintptr_t)entry->key);
    g_free((char *)(uintptr_t)entry->value);
    g_free((char *)(uintptr_t)entry->where);
    g_free(entry);
}

static void value_free(void *data)
{
    struct value *value = data;

    g_ptr_array_unref(value->entries);
    g_strfreev(value->cells);
    g_free(value);
}

static void axis_free(void *data)
{
    struct sweep_axis *axis = data;

    g_strfreev(axis->columns);
    g_ptr_array_unref(axis->values);
    g_ptr_array_unref(axis->own);
    g_free(axis);
}

static struct sweep_axis *add_axis(struct sweep_plan *plan, enum axis_kind kind, char **columns)
{
    struct sweep_axis *axis = g_new0(struct sweep_axis, 1);

    *axis = (struct sweep_axis){.kind = kind,
                                .columns = columns,
                                .values = g_ptr_array_new_with_free_func(value_free),
                                .own = g_ptr_array_new_with_free_func(own_free)};
    g_ptr_array_add(plan->axes, axis);
    return axis;
}

static struct value *add_value(struct sweep_axis *axis, char **cells)
{
    struct value *value = g_new0(struct value, 1);

    *value = (struct value){g_ptr_array_new(), cells};
    g_ptr_array_add(axis->values, value);
    return value;
}

static char **words(const char *first, const char *second)
{
    char **list = g_new0(char *, 3);

    list[0] = g_strdup(first);
    list[1] = g_strdup(second);
    return list;
}

/* --- seeds ------------------------------------------------------------------------------------ */

static bool parse_range(const char *text, uint64_t *first, uint64_t *last)
{
    const char *dash = strchr(text, '-');
    g_autofree char *low = g_strndup(text, dash ? (gsize)(dash - text) : strlen(text));
    guint64 a, b;

    if (!g_ascii_string_to_unsigned(g_strstrip(low), 10, 0, G_MAXINT64, &a, NULL))
        return false;
    b = a;
    if (dash) {
        g_autofree char *high = g_strstrip(g_strdup(dash + 1));

        if (!g_ascii_string_to_unsigned(high, 10, a, G_MAXINT64, &b, NULL))
            return false;
    }
    *first = a;
    *last = b;
    return b - a < SWEEP_MOST_POINTS;
}

static int by_seed(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static bool has_repetition(const GArray *seeds)
{
    g_autoptr(GArray) sorted = g_array_copy((GArray *)(uintptr_t)seeds);

    g_array_sort(sorted, by_seed);
    for (guint i = 1; i < sorted->len; i++)
        if (g_array_index(sorted, uint64_t, i) == g_array_index(sorted, uint64_t, i - 1))
            return true;
    return false;
}

/* A bare number is a count, as it is in [compare]; in a list it is a seed. */
static gboolean parse_seeds(GArray *seeds, const char *text, const char *where, GError **error)
{
    bool is_count = strpbrk(text, "-,") == NULL;
    g_autofree char *list = is_count ? g_strconcat("1-", text, NULL) : g_strdup(text);
    g_auto(GStrv) parts = g_strsplit(list, ",", -1);
    bool fine = true;
    uint64_t first, last;

    for (char **part = parts; fine && *part; part++)
        if ((fine = parse_range(*part, &first, &last)))
            for (uint64_t seed = first; seed <= last; seed++)
                g_array_append_val(seeds, seed);
    fine = fine && !has_repetition(seeds);
    if (!fine)
        g_set_error(error, SWEEP_ERROR, 0,
                    "%s: seeds are a count, a range or a list without repetition, such as 30, 1-30 "
                    "or 1-5,8 (7-7: seed 7 alone)",
                    where);
    return fine;
}

static gboolean take_seeds(struct sweep_plan *plan, const char *option, GError **error)
{
    const struct scenario_entry *entry = scenario_entry(plan->base, "sweep", "seeds");
    g_autofree char *where = option ? g_strdup_printf("--seeds %s", option)
                                    : g_strdup(entry ? entry->where : "[sweep] seeds");

    return parse_seeds(plan->seeds, option ? option : plan->config.seeds, where, error);
}

/* --- choices ---------------------------------------------------------------------------------- */

static gboolean take_choices(struct sweep_plan *plan, const char *column, GError **error)
{
    g_autofree char *prefix = g_strconcat(column, ":", NULL);
    g_autoptr(GPtrArray) groups = scenario_groups(plan->base, prefix);
    g_autoptr(GPtrArray) choices = choices_new();

    for (guint i = 0; i < groups->len; i++) {
        const char *group = g_ptr_array_index(groups, i);
        g_autoptr(GPtrArray) entries = scenario_group_entries(plan->base, group);

        choices_add(choices,
                    group + strlen(prefix)); /* one without keys is the scenario as it is */
        for (guint k = 0; k < entries->len; k++)
            if (!choices_take(choices, group + strlen(prefix), g_ptr_array_index(entries, k),
                              error))
                return FALSE;
    }
    if (choices->len == 0)
        return TRUE;

    struct sweep_axis *axis = add_axis(plan, AXIS_NAMES, words(column, NULL));
    for (guint i = 0; i < choices->len; i++) {
        const struct choice *choice = g_ptr_array_index(choices, i);
        struct value *value = add_value(axis, words(choice->name, NULL));

        for (guint k = 0; k < choice->overrides->len; k++)
            g_ptr_array_add(value->entries, g_ptr_array_index(choice->overrides, k));
    }
    return TRUE;
}

/* --- [grid] and [change] ---------------------------------------------------------------------- */

static gboolean refuse(const struct scenario_entry *entry, const char *what, GError **error)
{
    scenario_entry_error(entry, error, "%s", what);
    return FALSE;
}

static char **split(const char *text, const char *separator)
{
    char **parts = g_strsplit(text, separator, -1);

    for (char **part = parts; *part; part++)
        g_strstrip(*part);
    return parts;
}

/* Of the key and value that the entry lists among others. */
static void add_entry(struct sweep_axis *axis, struct value *value,
                      const struct scenario_entry *entry, const char *key, const char *text)
{
    struct scenario_entry *own = g_new0(struct scenario_entry, 1);
    const char *list = g_strrstr(entry->where, entry->key); /* and the values that follow it */
    size_t length = list ? (size_t)(list - entry->where) : strlen(entry->where);

    *own = (struct scenario_entry){
        .group = entry->group,
        .key = g_strdup(key),
        .value = g_strdup(text),
        .where = g_strdup_printf("%.*s%s = %s", (int)length, entry->where, key, text),
        .folder = entry->folder};
    g_ptr_array_add(axis->own, own);
    g_ptr_array_add(value->entries, own);
}

static gboolean check_keys(const struct scenario_entry *entry, char *const *keys, GError **error)
{
    for (char *const *key = keys; *key; key++) {
        if (!strchr(*key, '.'))
            return refuse(entry, "a key with its group is expected, such as loss.rate_per_link",
                          error);
        if (strcmp(*key, "run.seed") == 0)
            return refuse(entry, "seeds belong into [sweep] seeds", error);
    }
    return TRUE;
}

/* Adds the values of one line. */
static gboolean take_values(struct sweep_axis *axis, const struct scenario_entry *entry,
                            char *const *keys, GError **error)
{
    g_auto(GStrv) values = split(entry->value, ";");
    guint before = axis->values->len;

    for (char **text = values; *text; text++) {
        g_auto(GStrv) parts = split(*text, "&");

        if (**text == '\0')
            continue;
        if (g_strv_length(parts) != g_strv_length((char **)(uintptr_t)keys))
            return refuse(entry, "as many values joined by & as there are keys are expected",
                          error);
        struct value *value = add_value(axis, axis->kind == AXIS_CHANGES ? words(entry->key, *text)
                                                                         : g_strdupv(parts));
        for (guint k = 0; keys[k]; k++)
            add_entry(axis, value, entry, keys[k], parts[k]);
    }
    return axis->values->len > before ||
           refuse(entry, "a list such as 0; 0.01; 0.1 is expected", error);
}

static gboolean take_grid(struct sweep_plan *plan, GError **error)
{
    g_autoptr(GPtrArray) entries = scenario_group_entries(plan->base, "grid");

    for (guint i = 0; i < entries->len; i++) {
        const struct scenario_entry *entry = g_ptr_array_index(entries, i);
        char **keys = split(entry->key, "&");
        struct sweep_axis *axis = add_axis(plan, AXIS_KEYS, keys);

        if (!check_keys(entry, keys, error) || !take_values(axis, entry, keys, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean take_changes(struct sweep_plan *plan, GError **error)
{
    g_autoptr(GPtrArray) entries = scenario_group_entries(plan->base, "change");

    if (entries->len == 0)
        return TRUE;
    struct sweep_axis *axis = add_axis(plan, AXIS_CHANGES, words("changed_key", "changed_value"));

    add_value(axis, words("", ""));
    for (guint i = 0; i < entries->len; i++) {
        const struct scenario_entry *entry = g_ptr_array_index(entries, i);
        g_auto(GStrv) keys = split(entry->key, "&");

        if (!check_keys(entry, keys, error) || !take_values(axis, entry, keys, error))
            return FALSE;
    }
    return TRUE;
}

/* A key on two axes, or on an axis and in --set, would be set by one of them in vain. */
static gboolean check_twice(const struct sweep_plan *plan, GError **error)
{
    g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint a = 0; a < plan->axes->len; a++) {
        const struct sweep_axis *axis = g_ptr_array_index(plan->axes, a);

        for (guint i = 0; i < axis->own->len; i++) {
            const struct scenario_entry *entry = g_ptr_array_index(axis->own, i);
            gpointer other = g_hash_table_lookup(keys, entry->key);

            if (other && other != axis)
                return refuse(entry, "the key is on two axes", error);
            g_hash_table_insert(keys, (gpointer)(uintptr_t)entry->key, (gpointer)axis);
        }
    }
    for (char **set = plan->sets; set && *set; set++) {
        g_autofree char *key = g_strstrip(g_strndup(*set, strcspn(*set, "=")));

        if (g_hash_table_contains(keys, key)) {
            g_set_error(error, SWEEP_ERROR, 0,
                        "--set %s: the sweep varies this key; --set grid.%s='...' gives other "
                        "values",
                        *set, key);
            return FALSE;
        }
    }
    return TRUE;
}

/* --- reading ---------------------------------------------------------------------------------- */

static gboolean refuse_comparison(const struct sweep_plan *plan, const char *path, GError **error)
{
    g_autoptr(GPtrArray) comparison = scenario_groups(plan->base, "compare");
    g_autoptr(GPtrArray) sweep = scenario_groups(plan->base, "sweep");

    if (comparison->len == 0 || sweep->len > 0)
        return TRUE;
    g_set_error(error, SWEEP_ERROR, 0, "%s: it has [compare] and no [sweep]: weft compare plays it",
                path);
    return FALSE;
}

static gboolean check_size(const struct sweep_plan *plan, GError **error)
{
    double n = plan->seeds->len;

    for (guint a = 0; a < plan->axes->len; a++)
        n *= ((const struct sweep_axis *)g_ptr_array_index(plan->axes, a))->values->len;
    if (n <= SWEEP_MOST_POINTS)
        return TRUE;
    g_set_error(error, SWEEP_ERROR, 0, "%.3g points; up to %d are possible", n, SWEEP_MOST_POINTS);
    return FALSE;
}

/* Of a thousand points nobody reads flows.csv: a sweep writes it only where its file says so. */
static gboolean load(struct scenario *scenario, const char *path, GError **error)
{
    static const char *const tables[] = {"flows", "ports"};

    scenario_begin_layer(scenario);
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
        if (!scenario_set_key(scenario, "run", tables[i], "off", "weft sweep", NULL, error))
            return FALSE;
    scenario_begin_layer(scenario);
    return scenario_load(scenario, path, error);
}

gboolean sweep_plan_read(struct sweep_plan *plan, const char *path, char **sets, const char *seeds,
                         GError **error)
{
    *plan = (struct sweep_plan){.file = scenario_new(), .base = scenario_new(), .sets = sets};
    plan->seeds = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    plan->axes = g_ptr_array_new_with_free_func(axis_free);
    param_defaults(sweep_params, &plan->config);
    if (!load(plan->file, path, error) || !load(plan->base, path, error))
        return FALSE;
    scenario_begin_layer(plan->base);
    for (char **set = sets; set && *set; set++)
        if (!scenario_set(plan->base, *set, error))
            return FALSE;
    param_clear(sweep_params, &plan->config);
    return scenario_fill(plan->base, "sweep", sweep_params, &plan->config, error) &&
           refuse_comparison(plan, path, error) && take_seeds(plan, seeds, error) &&
           take_choices(plan, "case", error) && take_choices(plan, "variant", error) &&
           take_grid(plan, error) && take_changes(plan, error) && check_twice(plan, error) &&
           check_size(plan, error);
}

void sweep_plan_clear(struct sweep_plan *plan)
{
    param_clear(sweep_params, &plan->config);
    g_ptr_array_unref(plan->axes);
    g_array_unref(plan->seeds);
    scenario_free(plan->file);
    scenario_free(plan->base);
}

/* --- grid points ------------------------------------------------------------------------------ */

static uint32_t axis_length(const struct sweep_plan *plan, guint axis)
{
    return ((const struct sweep_axis *)g_ptr_array_index(plan->axes, axis))->values->len;
}

uint32_t sweep_plan_n_grid(const struct sweep_plan *plan)
{
    uint32_t n = 1;

    for (guint a = 0; a < plan->axes->len; a++)
        n *= axis_length(plan, a);
    return n;
}

size_t sweep_plan_strides(const struct sweep_plan *plan, uint32_t *strides)
{
    uint32_t stride = plan->seeds->len;
    size_t n = 0;

    strides[n++] = stride;
    for (guint a = plan->axes->len; a > 0 && n < ETA_MOST_LEVELS; a--)
        strides[n++] = stride *= axis_length(plan, a - 1);
    return n;
}

static const struct value *value_at(const struct sweep_plan *plan, uint32_t grid, guint axis)
{
    const struct sweep_axis *wanted = g_ptr_array_index(plan->axes, axis);

    for (guint a = plan->axes->len - 1; a > axis; a--)
        grid /= axis_length(plan, a);
    return g_ptr_array_index(wanted->values, grid % wanted->values->len);
}

static gboolean apply(const struct sweep_plan *plan, uint32_t grid, struct scenario *scenario,
                      GError **error)
{
    for (guint a = 0; a < plan->axes->len; a++) {
        const struct value *value = value_at(plan, grid, a);

        for (guint i = 0; i < value->entries->len; i++) {
            const struct scenario_entry *entry = g_ptr_array_index(value->entries, i);
            bool is_base = strcmp(entry->key, "scenario.base") == 0;

            if (!(is_base ? scenario_apply_base(scenario, entry, error)
                          : scenario_apply(scenario, entry, error)))
                return FALSE;
        }
    }
    for (char **set = plan->sets; set && *set; set++)
        if (!scenario_set(scenario, *set, error))
            return FALSE;
    return TRUE;
}

static gboolean set_seed(const struct sweep_plan *plan, struct scenario *scenario, GError **error)
{
    g_autofree char *seed =
        g_strdup_printf("%" G_GUINT64_FORMAT, g_array_index(plan->seeds, uint64_t, 0));

    return scenario_set_key(scenario, "run", "seed", seed, "the sweep's seed", NULL, error);
}

struct scenario *sweep_plan_scenario(const struct sweep_plan *plan, uint32_t grid, GError **error)
{
    struct scenario *scenario = scenario_copy(plan->file);

    scenario_begin_layer(scenario);
    if (apply(plan, grid, scenario, error) && set_seed(plan, scenario, error) &&
        scenario_resolve(scenario, error))
        return scenario;
    scenario_free(scenario);
    return NULL;
}

/* The value of "group.key" in a resolved scenario's text, or NULL; g_free. */
static char *written_value(const char *text, const char *dotted)
{
    const char *point = strrchr(dotted, '.');
    g_autofree char *head =
        g_strdup_printf("\n[%.*s]\n", (int)(point ? point - dotted : 0), dotted);
    g_autofree char *key = g_strdup_printf("\n%s = ", point ? point + 1 : "");
    const char *group = strstr(text, head);
    const char *end = group ? strstr(group + 1, "\n[") : NULL;
    const char *line = group ? strstr(group + strlen(head) - 1, key) : NULL;

    if (!line || (end && line > end))
        return NULL;
    line += strlen(key);
    return g_strndup(line, strcspn(line, "\n"));
}

static char *written_or_typed(const char *text, const char *dotted, const char *typed)
{
    char *written = written_value(text, dotted);

    return written ? written : g_strdup(typed);
}

/* What the columns of an axis say: keys as the scenario writes them back, names as they are. */
static void add_cells(GPtrArray *cells, const struct sweep_axis *axis, const struct value *value,
                      const char *text)
{
    if (axis->kind == AXIS_CHANGES && value->entries->len > 0) {
        g_autoptr(GString) written = g_string_new("");

        for (guint i = 0; i < value->entries->len; i++) {
            const struct scenario_entry *entry = g_ptr_array_index(value->entries, i);
            g_autofree char *part = written_or_typed(text, entry->key, entry->value);

            g_string_append_printf(written, "%s%s", i ? " & " : "", part);
        }
        g_ptr_array_add(cells, g_strdup(value->cells[0]));
        g_ptr_array_add(cells, g_strdup(written->str));
        return;
    }
    for (guint i = 0; axis->columns[i]; i++)
        g_ptr_array_add(cells, axis->kind == AXIS_KEYS
                                   ? written_or_typed(text, axis->columns[i], value->cells[i])
                                   : g_strdup(value->cells[i]));
}

static char **grid_cells(const struct sweep_plan *plan, uint32_t grid, const char *text)
{
    GPtrArray *cells = g_ptr_array_new();

    for (guint a = 0; a < plan->axes->len; a++)
        add_cells(cells, g_ptr_array_index(plan->axes, a), value_at(plan, grid, a), text);
    g_ptr_array_add(cells, NULL);
    return (char **)g_ptr_array_free(cells, FALSE);
}

static gboolean add_grid(const struct sweep_plan *plan, struct sweep *sweep, uint32_t index,
                         GError **error)
{
    struct scenario *scenario = sweep_plan_scenario(plan, index, error);
    g_autofree char *folder = sweep_path(sweep->folder, "grid"), *identity = NULL;
    struct sweep_grid grid;

    if (!scenario)
        return FALSE;
    identity = scenario_identity(scenario);
    grid = (struct sweep_grid){.identity = sweep_identity(sweep->version, identity),
                               .text = scenario_text(scenario, folder)};
    grid.cells = grid_cells(plan, index, grid.text);
    g_array_append_val(sweep->grid, grid);
    for (guint s = 0; s < plan->seeds->len; s++) {
        struct sweep_point point = {.grid = index, .seed = g_array_index(plan->seeds, uint64_t, s)};

        point.name = sweep_name(grid.identity, point.seed);
        g_array_append_val(sweep->points, point);
    }
    scenario_free(scenario);
    return TRUE;
}

gboolean sweep_plan_expand(const struct sweep_plan *plan, struct sweep *sweep, GError **error)
{
    sweep->version = sweep_version();
    for (guint a = 0; a < plan->axes->len; a++) {
        const struct sweep_axis *axis = g_ptr_array_index(plan->axes, a);

        for (char **column = axis->columns; *column; column++)
            g_ptr_array_add(sweep->columns, g_strdup(*column));
    }
    for (uint32_t grid = 0; grid < sweep_plan_n_grid(plan); grid++)
        if (!add_grid(plan, sweep, grid, error))
            return FALSE;
    return TRUE;
}
