/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/diff.h"
#include "sim/app/keyfile.h"
#include "sim/core/table.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define INTERVAL "_ci95"
#define SPREAD   "_sd"
#define SEPARATE "\n" /* between the parts of a key; in no name */

G_DEFINE_QUARK(weft - diff, diff_error)

/* What one folder has of one name. */
struct entry {
    char *where, *name, *unit, *value;
    double ci95;
};

struct entries {
    GPtrArray *list;   /* struct entry *, in the files' order */
    GHashTable *index; /* where + name -> struct entry * */
};

struct side {
    const char *folder;
    bool points; /* a row a point, not a row a metric */
    struct entries numbers;
    GHashTable *parameters; /* point's key, "" for all -> struct entries * */
    GPtrArray *order;       /* the keys of `parameters` */
};

/* --- entries ---------------------------------------------------------------------------------- */

static void entry_free(void *data)
{
    struct entry *entry = data;

    g_free(entry->where);
    g_free(entry->name);
    g_free(entry->unit);
    g_free(entry->value);
    g_free(entry);
}

static void entries_init(struct entries *entries)
{
    entries->list = g_ptr_array_new_with_free_func(entry_free);
    entries->index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void entries_clear(struct entries *entries)
{
    g_ptr_array_unref(entries->list);
    g_hash_table_unref(entries->index);
}

static void entries_free(void *data)
{
    entries_clear(data);
    g_free(data);
}

static void entries_add(struct entries *entries, const char *where, const char *name,
                        const char *unit, const char *value, double ci95)
{
    struct entry *entry = g_new(struct entry, 1);

    *entry = (struct entry){g_strdup(where), g_strdup(name), g_strdup(unit), g_strdup(value), ci95};
    g_ptr_array_add(entries->list, entry);
    g_hash_table_insert(entries->index, g_strconcat(where, SEPARATE, name, NULL), entry);
}

static const struct entry *entries_find(const struct entries *entries, const struct entry *like)
{
    g_autofree char *key = g_strconcat(like->where, SEPARATE, like->name, NULL);

    return g_hash_table_lookup(entries->index, key);
}

/* --- reading ---------------------------------------------------------------------------------- */

static gboolean read_scenario(struct side *side, const char *point, const char *file,
                              GError **error)
{
    g_autofree char *path = g_build_filename(side->folder, file, NULL);
    g_autoptr(GPtrArray) lines = keyfile_read(path, error);
    struct entries *entries;

    if (!lines)
        return FALSE;
    entries = g_new(struct entries, 1);
    entries_init(entries);
    for (guint i = 0; i < lines->len; i++) {
        const struct keyfile_line *line = g_ptr_array_index(lines, i);
        g_autofree char *group = g_strdup_printf("[%s]", line->group);

        if (line->key)
            entries_add(entries, group, line->key, "", line->value, (double)NAN);
    }
    g_ptr_array_add(side->order, g_strdup(point));
    g_hash_table_insert(side->parameters, g_strdup(point), entries);
    return TRUE;
}

static gboolean read_run(struct side *side, const struct table *table, GError **error)
{
    for (uint32_t row = 0; row < table_n_rows(table); row++)
        entries_add(&side->numbers, "", table_field(table, row, 0), table_field(table, row, 2),
                    table_field(table, row, 1), (double)NAN);
    return read_scenario(side, "", "scenario.ini", error);
}

/* "transport.name = rocev2, loss.rate = 0": the columns before `seeds`, but not the number. */
static char *place_of(const struct table *table, uint32_t row, uint32_t n_keys)
{
    GString *text = g_string_new(NULL);

    for (uint32_t column = 0; column < n_keys; column++)
        if (strcmp(table_column_name(table, column), "grid") != 0)
            g_string_append_printf(text, "%s%s = %s", text->len ? ", " : "",
                                   table_column_name(table, column),
                                   table_field(table, row, column));
    return g_string_free(text, FALSE);
}

static double interval_of(const struct table *table, uint32_t row, const char *name)
{
    g_autofree char *column = g_strconcat(name, INTERVAL, NULL);
    int found = table_column(table, column);
    const char *text = found >= 0 ? table_field(table, row, (uint32_t)found) : "";

    return *text ? g_ascii_strtod(text, NULL) : (double)NAN;
}

static void read_point(struct side *side, const struct table *table, uint32_t row, uint32_t n_keys)
{
    g_autofree char *place = place_of(table, row, n_keys);

    for (uint32_t column = n_keys; column < table_n_columns(table); column++) {
        const char *name = table_column_name(table, column);

        if (!g_str_has_suffix(name, INTERVAL) && !g_str_has_suffix(name, SPREAD))
            entries_add(&side->numbers, place, name, "", table_field(table, row, column),
                        interval_of(table, row, name));
    }
}

/* A comparison has one scenario.ini, a sweep a scenario for each grid point. */
static gboolean read_points(struct side *side, const struct table *table, uint32_t n_keys,
                            GError **error)
{
    int grid = table_column(table, "grid");

    for (uint32_t row = 0; row < table_n_rows(table); row++) {
        g_autofree char *place = place_of(table, row, n_keys);
        g_autofree char *file =
            grid < 0 ? NULL
                     : g_strdup_printf(
                           "grid/%04" G_GINT64_FORMAT ".ini",
                           g_ascii_strtoll(table_field(table, row, (uint32_t)grid), NULL, 10));

        read_point(side, table, row, n_keys);
        if (file && !read_scenario(side, place, file, error))
            return FALSE;
    }
    return grid >= 0 || read_scenario(side, "", "scenario.ini", error);
}

static gboolean read_side(struct side *side, const char *folder, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "summary.csv", NULL);
    struct table *table = table_read(path, error);
    gboolean ok = FALSE;
    int seeds;

    side->folder = folder;
    entries_init(&side->numbers);
    side->order = g_ptr_array_new_with_free_func(g_free);
    side->parameters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entries_free);
    if (!table)
        return FALSE;
    seeds = table_column(table, "seeds");
    side->points = seeds >= 0;
    if (side->points)
        ok = read_points(side, table, (uint32_t)seeds, error);
    else if (table_n_columns(table) == 3 && table_column(table, "metric") == 0 &&
             table_column(table, "value") == 1)
        ok = read_run(side, table, error);
    else
        g_set_error(error, DIFF_ERROR, 0,
                    "%s: columns metric,value,unit of a run, or a column seeds of a comparison or "
                    "sweep, are expected",
                    path);
    table_free(table);
    return ok;
}

static void side_clear(struct side *side)
{
    if (!side->order)
        return;
    entries_clear(&side->numbers);
    g_ptr_array_unref(side->order);
    g_hash_table_unref(side->parameters);
}

/* --- comparing -------------------------------------------------------------------------------- */

static void item_free(void *data)
{
    struct diff_item *item = data;

    g_free(item->where);
    g_free(item->name);
    g_free(item->unit);
    g_free(item->a);
    g_free(item->b);
    g_free(item);
}

static bool as_number(const char *text, double *value)
{
    char *end;

    *value = g_ascii_strtod(text, &end);
    return *text && !*end && isfinite(*value);
}

static bool differs(const struct entry *a, const struct entry *b, double threshold)
{
    double x, y;

    if (strcmp(a->value, b->value) == 0)
        return false;
    if (!as_number(a->value, &x) || !as_number(b->value, &y))
        return true;
    if (isfinite(a->ci95) && isfinite(b->ci95))
        return fabs(x - y) > hypot(a->ci95, b->ci95);
    return fabs(x - y) > threshold * MAX(fabs(x), fabs(y));
}

/* One of the two may be NULL. */
static struct diff_item *item_new(const struct entry *a, const struct entry *b)
{
    const struct entry *any = a ? a : b;
    struct diff_item *item = g_new(struct diff_item, 1);

    *item = (struct diff_item){.where = g_strdup(any->where),
                               .name = g_strdup(any->name),
                               .unit = g_strdup(any->unit),
                               .a = a ? g_strdup(a->value) : NULL,
                               .b = b ? g_strdup(b->value) : NULL,
                               .a_ci95 = a ? a->ci95 : (double)NAN,
                               .b_ci95 = b ? b->ci95 : (double)NAN,
                               .n_points = 1};
    return item;
}

/* Appends what differs to `found`; returns how many are the same. */
static guint compare(const struct entries *a, const struct entries *b, double threshold,
                     GPtrArray *found)
{
    guint n_same = 0;

    for (guint i = 0; i < a->list->len; i++) {
        const struct entry *ours = g_ptr_array_index(a->list, i);
        const struct entry *theirs = entries_find(b, ours);

        if (theirs && !differs(ours, theirs, threshold))
            n_same++;
        else
            g_ptr_array_add(found, item_new(ours, theirs));
    }
    for (guint i = 0; i < b->list->len; i++) {
        const struct entry *theirs = g_ptr_array_index(b->list, i);

        if (!entries_find(a, theirs))
            g_ptr_array_add(found, item_new(NULL, theirs));
    }
    return n_same;
}

/* A parameter that changes in the same way in many points of a sweep is said once. */
static void join_equal(GPtrArray *items)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (guint i = 0; i < items->len;) {
        struct diff_item *item = g_ptr_array_index(items, i), *first;
        g_autofree char *key = g_strconcat(item->where, SEPARATE, item->name, SEPARATE,
                                           item->a ? "=" : "-", item->a ? item->a : "", SEPARATE,
                                           item->b ? "=" : "-", item->b ? item->b : "", NULL);

        first = g_hash_table_lookup(seen, key);
        if (first) {
            first->n_points++;
            g_ptr_array_remove_index(items, i);
        } else {
            g_hash_table_insert(seen, g_steal_pointer(&key), item);
            i++;
        }
    }
}

/* Points that only one side has are told by their numbers. */
static void compare_parameters(struct diff *diff, const struct side *a, const struct side *b)
{
    for (guint i = 0; i < a->order->len; i++) {
        const char *point = g_ptr_array_index(a->order, i);
        const struct entries *ours = g_hash_table_lookup(a->parameters, point);
        const struct entries *theirs = g_hash_table_lookup(b->parameters, point);

        if (theirs)
            diff->n_parameters_same += compare(ours, theirs, 0, diff->parameters);
    }
    join_equal(diff->parameters);
}

gboolean diff_make(struct diff *diff, const char *a, const char *b, double threshold,
                   GError **error)
{
    struct side sides[2] = {0};
    gboolean ok = read_side(&sides[0], a, error) && read_side(&sides[1], b, error);

    *diff = (struct diff){.parameters = g_ptr_array_new_with_free_func(item_free),
                          .numbers = g_ptr_array_new_with_free_func(item_free),
                          .kind = sides[0].points ? "points" : "runs"};
    if (ok && sides[0].points != sides[1].points) {
        g_set_error(error, DIFF_ERROR, 0, "%s is a %s and %s a %s; two of a kind are expected", a,
                    sides[0].points ? "comparison or sweep" : "run", b,
                    sides[1].points ? "comparison or sweep" : "run");
        ok = FALSE;
    }
    if (ok) {
        compare_parameters(diff, &sides[0], &sides[1]);
        diff->n_numbers_same =
            compare(&sides[0].numbers, &sides[1].numbers, threshold, diff->numbers);
    }
    side_clear(&sides[0]);
    side_clear(&sides[1]);
    return ok;
}

void diff_clear(struct diff *diff)
{
    g_ptr_array_unref(diff->parameters);
    g_ptr_array_unref(diff->numbers);
}
