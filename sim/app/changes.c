/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/changes.h"
#include "models/backend.h"
#include "sim/app/kinds.h"
#include "sim/app/scenario.h"
#include <string.h>

#define MOST_NAMED 6 /* choices named beside a value */

/* One resolved scenario and where it stands on the axes. */
struct setting {
    char **cells;       /* one a column of `all.columns`; the last tells all settings apart */
    GHashTable *values; /* "group\nkey" -> value */
};

struct all {
    GPtrArray *columns;  /* char *: names of axes; sweeps call keys so */
    GPtrArray *settings; /* struct setting * */
    GPtrArray *keys;     /* char *, "group\nkey" in order of first appearance */
    GHashTable *known;   /* the same as a set */
};

static void setting_free(void *data)
{
    struct setting *setting = data;

    g_strfreev(setting->cells);
    g_hash_table_unref(setting->values);
    g_free(setting);
}

static void all_init(struct all *all)
{
    all->columns = g_ptr_array_new_with_free_func(g_free);
    all->settings = g_ptr_array_new_with_free_func(setting_free);
    all->keys = g_ptr_array_new_with_free_func(g_free);
    all->known = g_hash_table_new(g_str_hash, g_str_equal);
}

static void all_clear(struct all *all)
{
    g_ptr_array_unref(all->columns);
    g_ptr_array_unref(all->settings);
    g_ptr_array_unref(all->keys);
    g_hash_table_unref(all->known);
}

static void put(struct all *all, struct setting *setting, const char *group, const char *key,
                const char *value)
{
    char *name = g_strconcat(group, "\n", key, NULL);

    g_hash_table_insert(setting->values, g_strdup(name), g_strdup(value));
    if (g_hash_table_contains(all->known, name)) {
        g_free(name);
        return;
    }
    g_ptr_array_add(all->keys, name);
    g_hash_table_add(all->known, name);
}

/* Takes `cells`. */
static struct setting *add_setting(struct all *all, char **cells)
{
    struct setting *setting = g_new(struct setting, 1);

    *setting =
        (struct setting){cells, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
    g_ptr_array_add(all->settings, setting);
    return setting;
}

/* Groups that say how a comparison is made up, not what is played. */
static bool is_plan(const char *group)
{
    return strcmp(group, "scenario") == 0 || strcmp(group, "compare") == 0 ||
           g_str_has_prefix(group, "case:") || g_str_has_prefix(group, "variant:") ||
           g_str_has_prefix(group, "curve:");
}

static void take_lines(struct all *all, struct setting *setting, const GPtrArray *lines)
{
    for (guint i = 0; i < lines->len; i++) {
        const struct keyfile_line *line = g_ptr_array_index(lines, i);

        if (line->key && !is_plan(line->group))
            put(all, setting, line->group, line->key, line->value);
    }
}

/* --- where resolved scenarios are ------------------------------------------------------------- */

/* A [case:NAME] or [variant:NAME]: lines "group.key = value". */
static void take_choice(struct all *all, struct setting *setting, const GPtrArray *lines,
                        const char *group)
{
    for (guint i = 0; i < lines->len; i++) {
        const struct keyfile_line *line = g_ptr_array_index(lines, i);
        const char *dot = line->key ? strrchr(line->key, '.') : NULL;

        if (!dot || strcmp(line->group, group) != 0)
            continue;
        g_autofree char *target = g_strndup(line->key, (gsize)(dot - line->key));

        put(all, setting, target, dot + 1, line->value);
    }
}

/* Names behind the colon of groups that begin with `prefix`; "" alone if there is none. */
static GPtrArray *choices_of(const GPtrArray *lines, const char *prefix)
{
    GPtrArray *names = g_ptr_array_new();

    for (guint i = 0; i < lines->len; i++) {
        const struct keyfile_line *line = g_ptr_array_index(lines, i);

        if (!line->key && g_str_has_prefix(line->group, prefix))
            g_ptr_array_add(names, line->group + strlen(prefix));
    }
    if (names->len == 0)
        g_ptr_array_add(names, (char *)(uintptr_t) "");
    return names;
}

/* Every case with every variant; the key that is varied has its values beside. */
static void add_comparison(struct all *all, const GPtrArray *lines)
{
    g_autoptr(GPtrArray) cases = choices_of(lines, "case:");
    g_autoptr(GPtrArray) variants = choices_of(lines, "variant:");
    const char *vary = results_setting(lines, "compare", "vary");
    const char *text = results_setting(lines, "compare", "values");
    g_auto(GStrv) values = g_strsplit(text ? text : "", ";", -1);
    const char *dot = vary ? strrchr(vary, '.') : NULL;
    g_autofree char *group = dot ? g_strndup(vary, (gsize)(dot - vary)) : NULL;

    g_ptr_array_add(all->columns, g_strdup("case"));
    g_ptr_array_add(all->columns, g_strdup("variant"));
    g_ptr_array_add(all->columns, g_strdup(vary ? vary : ""));
    g_ptr_array_add(all->columns, g_strdup(""));
    for (guint c = 0; c < cases->len; c++)
        for (guint v = 0; v < variants->len; v++)
            for (char **value = values; *value; value++) {
                const char *case_ = g_ptr_array_index(cases, c);
                const char *variant = g_ptr_array_index(variants, v);
                g_autofree char *case_group = g_strconcat("case:", case_, NULL);
                g_autofree char *variant_group = g_strconcat("variant:", variant, NULL);
                g_autofree char *label = g_strdup_printf("%s with %s", variant, case_);
                const char *cells[] = {case_, variant, g_strstrip(*value), label, NULL};
                struct setting *setting = add_setting(all, g_strdupv((char **)(uintptr_t)cells));

                take_lines(all, setting, lines);
                take_choice(all, setting, lines, case_group);
                take_choice(all, setting, lines, variant_group);
                if (group)
                    put(all, setting, group, dot + 1, *value);
            }
}

/* Cells on the axes, and the label of all together behind them. */
static void add_run(struct all *all, const struct results_run *run, const GPtrArray *lines)
{
    GPtrArray *cells = g_ptr_array_new();
    bool first = all->columns->len == 0;

    for (char **axis = run->axes; *axis; axis += 2) {
        if (first)
            g_ptr_array_add(all->columns, g_strdup(axis[0]));
        g_ptr_array_add(cells, g_strdup(axis[1]));
    }
    if (first)
        g_ptr_array_add(all->columns, g_strdup(""));
    g_ptr_array_add(cells, g_strdup(run->label));
    g_ptr_array_add(cells, NULL);
    take_lines(all, add_setting(all, (char **)g_ptr_array_free(cells, FALSE)), lines);
}

/* One point of each choice. */
static gboolean add_runs(struct all *all, const struct results *results, GError **error)
{
    g_autoptr(GPtrArray) runs = results_runs(results, error);
    const char *before = NULL;

    for (guint i = 0; runs && i < runs->len; i++) {
        const struct results_run *run = g_ptr_array_index(runs, i);
        g_autofree char *path = g_build_filename(run->folder, "scenario.ini", NULL);
        g_autoptr(GPtrArray) lines = NULL;

        if ((before && strcmp(before, run->label) == 0) ||
            !g_file_test(path, G_FILE_TEST_IS_REGULAR))
            continue;
        before = run->label;
        lines = keyfile_read(path, error);
        if (!lines)
            return FALSE;
        add_run(all, run, lines);
    }
    return runs != NULL;
}

/* --- what a key is ---------------------------------------------------------------------------- */

static const char *value_of(const struct setting *setting, const char *name)
{
    return g_hash_table_lookup(setting->values, name);
}

/* The table of a group in one scenario; `kind_key` is the key that chooses it, or NULL. */
static const struct param *table_of(const struct setting *setting, const char *group,
                                    const char **kind_key)
{
    g_autofree char *base = g_strndup(group, strcspn(group, ":"));
    const struct seam *seam = kinds_seam(base);

    *kind_key = NULL;
    if (seam) {
        g_autofree char *name = g_strconcat(group, "\n", seam->key, NULL);
        const char *value = value_of(setting, name);
        struct kind kind;

        *kind_key = seam->key;
        return value && kinds_find(seam, value, &kind) ? kind.params : NULL;
    }
    if (strcmp(base, "run") == 0)
        return scenario_run_params;
    if (strcmp(base, "hosts") == 0)
        return scenario_hosts_params;
    if (strcmp(base, "fault") == 0)
        return scenario_fault_params;
    for (const struct model_group *model = model_groups; model->name; model++)
        if (strcmp(model->name, base) == 0)
            return model->params;
    return NULL;
}

/* The default as param_get() spells it; g_free. */
static char *standard_of(const struct param *param)
{
    union {
        int64_t number;
        char *text;
    } value = {0};
    struct param row = *param;
    struct param table[] = {*param, PARAM_END};
    char *text;

    row.offset = table[0].offset = 0;
    param_defaults(table, &value);
    text = param_get(&row, &value);
    param_clear(table, &value);
    return text ? text : g_strdup("");
}

/* --- differences ------------------------------------------------------------------------------ */

/* Whether the key's value, or that it is not there, follows from the cell of a column. */
static bool follows(const struct all *all, const char *name, guint column)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < all->settings->len; i++) {
        const struct setting *setting = g_ptr_array_index(all->settings, i);
        const char *value = value_of(setting, name), *before;

        if (!value)
            value = "\n"; /* no value of a key file: the key is not there */
        before = g_hash_table_lookup(seen, setting->cells[column]);
        if (before && strcmp(before, value) != 0)
            return false;
        g_hash_table_insert(seen, setting->cells[column], (char *)(uintptr_t)value);
    }
    return true;
}

/* Cells of `column` where the key has this value, "" where they would say the value again. */
static char *where(const struct all *all, const char *name, const char *value, guint column)
{
    g_autoptr(GPtrArray) cells = g_ptr_array_new();
    GString *text = g_string_new("");

    for (guint i = 0; i < all->settings->len; i++) {
        const struct setting *setting = g_ptr_array_index(all->settings, i);

        if (g_strcmp0(value_of(setting, name), value) == 0 &&
            !g_ptr_array_find_with_equal_func(cells, setting->cells[column], g_str_equal, NULL))
            g_ptr_array_add(cells, setting->cells[column]);
    }
    for (guint i = 0; i < MIN(cells->len, MOST_NAMED); i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "",
                               (const char *)g_ptr_array_index(cells, i));
    if (cells->len > MOST_NAMED)
        g_string_append_printf(text, " and %u more", cells->len - MOST_NAMED);
    return g_string_free(text, FALSE);
}

/* A line a value: "400Gbps", or "64KB (MetaRoCE)" and "1MB (RoCEv2)". g_free. */
static char *values_text(const struct all *all, const char *name)
{
    g_autoptr(GPtrArray) values = g_ptr_array_new();
    g_auto(GStrv) parts = g_strsplit(name, "\n", 2);
    g_autofree char *key = g_strconcat(parts[0], ".", parts[1], NULL);
    GString *text = g_string_new("");
    const char *dot;
    guint column = 0;
    bool everywhere = true, axis;

    for (guint i = 0; i < all->settings->len; i++) {
        const char *value = value_of(g_ptr_array_index(all->settings, i), name);

        everywhere &= value != NULL;
        if (value && !g_ptr_array_find_with_equal_func(values, value, g_str_equal, NULL))
            g_ptr_array_add(values, (char *)(uintptr_t)value);
    }
    while (column + 1 < all->columns->len && !follows(all, name, column))
        column++;
    dot = strrchr(g_ptr_array_index(all->columns, column), '.');
    axis = strcmp(g_ptr_array_index(all->columns, column), key) == 0;
    for (guint i = 0; i < values->len; i++) {
        const char *value = g_ptr_array_index(values, i);
        g_autofree char *there = where(all, name, value, column);

        g_string_append_printf(text, "%s%s", i ? "\n" : "", *value ? value : "empty");
        if ((values->len > 1 || !everywhere) && !axis && *there)
            g_string_append_printf(text, " (%s%s%s)", dot ? dot + 1 : "", dot ? " = " : "", there);
    }
    return g_string_free(text, FALSE);
}

static void change_free(void *data)
{
    struct change *change = data;

    g_free(change->group);
    g_free(change->key);
    g_free(change->standard);
    g_free(change->values);
    g_free(change);
}

/* The key if it differs in a scenario, or chooses what is played; NULL if not. */
static struct change *find_change(const struct all *all, const char *name)
{
    g_auto(GStrv) parts = g_strsplit(name, "\n", 2);
    struct change *change = g_new0(struct change, 1);
    bool differs = false;

    for (guint i = 0; i < all->settings->len; i++) {
        const struct setting *setting = g_ptr_array_index(all->settings, i);
        const char *value = value_of(setting, name), *kind_key;
        const struct param *table = table_of(setting, parts[0], &kind_key);
        const struct param *param = table ? param_find(table, parts[1]) : NULL;
        g_autofree char *standard = param ? standard_of(param) : NULL;

        if (!value)
            continue;
        differs |= !standard || strcmp(standard, value) != 0;
        if (param && !change->param) {
            change->param = param;
            change->standard = g_steal_pointer(&standard);
        }
    }
    change->group = g_strdup(parts[0]);
    change->key = g_strdup(parts[1]);
    if (!change->standard)
        change->standard = g_strdup("");
    if (differs) {
        change->values = values_text(all, name);
        return change;
    }
    change_free(change);
    return NULL;
}

GPtrArray *changes_of(const struct results *results, GError **error)
{
    GPtrArray *changes = g_ptr_array_new_with_free_func(change_free);
    struct all all;
    gboolean ok = TRUE;

    all_init(&all);
    if (results->kind == RESULTS_COMPARISON) {
        if (results->settings)
            add_comparison(&all, results->settings);
    } else
        ok = add_runs(&all, results, error);
    for (guint i = 0; ok && i < all.keys->len; i++) {
        struct change *change = find_change(&all, g_ptr_array_index(all.keys, i));

        if (change)
            g_ptr_array_add(changes, change);
    }
    all_clear(&all);
    if (!ok)
        g_clear_pointer(&changes, g_ptr_array_unref);
    return changes;
}
