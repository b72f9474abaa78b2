/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layers of keys: files and their bases, --topology and --workload, --set. Here nothing is looked
 * up in a parameter table; see scenario_resolve.c. */
#include "sim/app/scenario.h"
#include "sim/app/formats.h"
#include "sim/app/keyfile.h"
#include "sim/app/kinds.h"
#include "sim/app/ready.h"
#include "sim/app/scenario_private.h"
#include "sim/app/settings_ns3.h"
#include <stdlib.h>
#include <string.h>

G_DEFINE_QUARK(weft - scenario, scenario_error)

/* --- entries ---------------------------------------------------------------------------------- */

static void entry_clear(void *data)
{
    struct scenario_entry *entry = data;

    g_free((char *)(uintptr_t)entry->group);
    g_free((char *)(uintptr_t)entry->key);
    g_free((char *)(uintptr_t)entry->value);
    g_free((char *)(uintptr_t)entry->where);
    g_free((char *)(uintptr_t)entry->folder);
}

static void entry_unref(void *data)
{
    g_atomic_rc_box_release_full(data, entry_clear);
}

static void *entry_ref(const void *data, void *unused)
{
    (void)unused;
    return g_atomic_rc_box_acquire((void *)(uintptr_t)data);
}

/* Takes `where`. */
static struct scenario_entry *entry_new(const char *group, const char *key, const char *value,
                                        char *where, const char *folder)
{
    struct scenario_entry *entry = g_atomic_rc_box_new0(struct scenario_entry);

    *entry = (struct scenario_entry){g_strdup(group), g_strdup(key), g_strdup(value), where,
                                     g_strdup(folder ? folder : ".")};
    return entry;
}

void scenario_entry_error(const struct scenario_entry *entry, GError **error, const char *format,
                          ...)
{
    va_list list;
    g_autofree char *what = NULL;

    va_start(list, format);
    what = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_VALUE, "%s: %s", entry->where, what);
}

/* --- the pile --------------------------------------------------------------------------------- */

static void layer_unref(void *layer)
{
    g_ptr_array_unref(layer);
}

struct scenario *scenario_new(void)
{
    struct scenario *scenario = g_new0(struct scenario, 1);

    scenario->layers = g_ptr_array_new_with_free_func(layer_unref);
    scenario->notes = g_ptr_array_new_with_free_func(g_free);
    return scenario;
}

void scenario_free(struct scenario *scenario)
{
    if (!scenario)
        return;
    scenario_unresolve(scenario);
    g_ptr_array_unref(scenario->layers);
    g_ptr_array_unref(scenario->notes);
    g_free(scenario->name);
    g_free(scenario);
}

struct scenario *scenario_copy(const struct scenario *scenario)
{
    struct scenario *copy = scenario_new();
    guint n = scenario->layers->len;

    copy->name = g_strdup(scenario->name);
    for (guint i = 0; i < scenario->notes->len; i++)
        g_ptr_array_add(copy->notes, g_strdup(g_ptr_array_index(scenario->notes, i)));
    copy->layer_open = scenario->layer_open;
    for (guint i = 0; i < n; i++) {
        GPtrArray *layer = g_ptr_array_index(scenario->layers, i);

        if (i + 1 == n && scenario->layer_open) { /* may still grow: not shared */
            GPtrArray *own = g_ptr_array_copy(layer, (GCopyFunc)entry_ref, NULL);

            g_ptr_array_add(copy->layers, own);
        } else {
            g_ptr_array_add(copy->layers, g_ptr_array_ref(layer));
        }
    }
    return copy;
}

void scenario_begin_layer(struct scenario *scenario)
{
    scenario->layer_open = false;
}

static GPtrArray *open_layer(struct scenario *scenario)
{
    if (!scenario->layer_open)
        g_ptr_array_add(scenario->layers, g_ptr_array_new_with_free_func(entry_unref));
    scenario->layer_open = true;
    return g_ptr_array_index(scenario->layers, scenario->layers->len - 1);
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Groups that belong to `compare` and `sweep`: kept as they are. */
static const char *const raw_groups[] = {"compare", "sweep",    "grid",  "change",
                                         "case:",   "variant:", "curve:"};

/* "hosts:NAME" and its like. */
static bool is_named_group(const char *group)
{
    static const char *const prefixes[] = {"transport:", "workload:", "hosts:", "fault:"};

    for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
        if (g_str_has_prefix(group, prefixes[i]) && group[strlen(prefixes[i])])
            return true;
    return false;
}

static bool group_is_known(const char *group)
{
    if (strcmp(group, "scenario") == 0 || strcmp(group, "run") == 0 || kinds_seam(group) ||
        is_named_group(group))
        return true;
    for (int i = 0; model_groups[i].name; i++)
        if (strcmp(group, model_groups[i].name) == 0)
            return true;
    return scenario_group_is_raw(group);
}

bool scenario_group_is_raw(const char *group)
{
    for (size_t i = 0; i < G_N_ELEMENTS(raw_groups); i++) {
        size_t length = strlen(raw_groups[i]);
        bool prefix = raw_groups[i][length - 1] == ':';

        if (prefix ? g_str_has_prefix(group, raw_groups[i]) && group[length]
                   : strcmp(group, raw_groups[i]) == 0)
            return true;
    }
    return false;
}

/* "transport:NAME" for people; the nearest to what was written. */
static gboolean check_group(const struct scenario_entry *entry, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *near;

    if (group_is_known(entry->group))
        return TRUE;
    g_ptr_array_add(names, (char *)(uintptr_t) "scenario");
    g_ptr_array_add(names, (char *)(uintptr_t) "run");
    for (int i = 0; i < KINDS_N_SEAMS; i++)
        g_ptr_array_add(names, (char *)(uintptr_t)kinds_seams[i].group);
    for (int i = 0; model_groups[i].name; i++)
        g_ptr_array_add(names, (char *)(uintptr_t)model_groups[i].name);
    for (size_t i = 0; i < G_N_ELEMENTS(raw_groups); i++)
        if (!strchr(raw_groups[i], ':'))
            g_ptr_array_add(names, (char *)(uintptr_t)raw_groups[i]);
    near = param_nearest(entry->group, (const char *const *)names->pdata, names->len);
    if (near) {
        scenario_entry_error(entry, error, "there is no group [%s]; did you mean [%s]?",
                             entry->group, near);
    } else {
        g_ptr_array_add(names, NULL);
        g_autofree char *all = g_strjoinv("] [", (char **)names->pdata);

        scenario_entry_error(entry, error,
                             "there is no group [%s]; there are [%s], "
                             "[transport:NAME], [workload:NAME], [hosts:NAME] and [fault:NAME]",
                             entry->group, all);
    }
    return FALSE;
}

/* --- files ------------------------------------------------------------------------------------ */

static gboolean load(struct scenario *scenario, const char *path, GPtrArray *chain, GError **error);

/* The file that `base = name` means: beside the including file, or a ready one. */
static char *find_base(const struct scenario_entry *base, const char *name, GError **error)
{
    char *path = g_path_is_absolute(name) || strcmp(base->folder, ".") == 0
                     ? g_strdup(name)
                     : g_build_filename(base->folder, name, NULL);

    if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return path;
    g_free(path);
    path = ready_find(NULL, name);
    if (!path)
        scenario_entry_error(base, error,
                             "there is no file '%s' beside this one and no ready scenario of that "
                             "name (weft list scenarios)",
                             name);
    return path;
}

static gboolean load_bases(struct scenario *scenario, const struct scenario_entry *base,
                           GPtrArray *chain, GError **error)
{
    g_auto(GStrv) names = g_strsplit(base->value, ";", -1);

    for (char **name = names; *name; name++) {
        if (*g_strstrip(*name) == '\0')
            continue;
        g_autofree char *path = find_base(base, *name, error);
        g_autofree char *real = path ? realpath(path, NULL) : NULL;

        if (!path)
            return FALSE;
        for (guint i = 0; real && i < chain->len; i++)
            if (strcmp(g_ptr_array_index(chain, i), real) == 0) {
                scenario_entry_error(base, error,
                                     "a cycle: '%s' is, through its bases, based on itself", path);
                return FALSE;
            }
        if (!load(scenario, path, chain, error))
            return FALSE;
    }
    return TRUE;
}

/* Makes the entries of a file; `base` is set to its [scenario] base, or NULL. */
static GPtrArray *read_layer(const char *path, const struct scenario_entry **base, GError **error)
{
    g_autoptr(GPtrArray) lines = keyfile_read(path, error);
    g_autofree char *folder = g_path_get_dirname(path);
    g_autoptr(GPtrArray) layer = g_ptr_array_new_with_free_func(entry_unref);

    *base = NULL;
    for (guint i = 0; lines && i < lines->len; i++) {
        const struct keyfile_line *line = g_ptr_array_index(lines, i);
        char *where = line->key ? g_strdup_printf("%s:%u: [%s] %s = %s", path, line->line,
                                                  line->group, line->key, line->value)
                                : g_strdup_printf("%s:%u", path, line->line);
        struct scenario_entry *entry =
            entry_new(line->group, line->key, line->value, where, folder);

        g_ptr_array_add(layer, entry);
        if (!check_group(entry, error))
            return NULL;
        if (line->key && strcmp(line->group, "scenario") == 0 && strcmp(line->key, "base") == 0)
            *base = entry;
    }
    return lines ? g_steal_pointer(&layer) : NULL;
}

static gboolean load(struct scenario *scenario, const char *path, GPtrArray *chain, GError **error)
{
    const struct scenario_entry *base = NULL;
    GPtrArray *layer = read_layer(path, &base, error);
    gboolean ok = layer != NULL;

    if (ok && base) {
        char *real = realpath(path, NULL);

        g_ptr_array_add(chain, real);
        ok = load_bases(scenario, base, chain, error);
        g_ptr_array_set_size(chain, (gint)chain->len - 1);
    }
    if (ok)
        g_ptr_array_add(scenario->layers, layer);
    else if (layer)
        g_ptr_array_unref(layer);
    scenario->layer_open = false;
    return ok;
}

/* --- settings of another simulator ------------------------------------------------------------ */

/* Where a file that settings name may lie: seen from their folder, from the one above (in which the
 * ns-3 family is started), or beside them. */
static char *find_beside(const char *folder, const char *name)
{
    g_autofree char *above = g_path_get_dirname(folder), *base = g_path_get_basename(name);
    char *paths[] = {g_build_filename(folder, name, NULL), g_build_filename(above, name, NULL),
                     g_build_filename(folder, base, NULL)};
    char *found = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
        if (!found && g_file_test(paths[i], G_FILE_TEST_IS_REGULAR))
            found = g_strdup(paths[i]);
        g_free(paths[i]);
    }
    return found ? found : g_strdup(name);
}

static void add_settings(struct scenario *scenario, const struct settings *settings,
                         const char *folder)
{
    scenario_begin_layer(scenario);
    for (guint i = 0; i < settings->list->len; i++) {
        const struct setting *setting = g_ptr_array_index(settings->list, i);
        g_autofree char *path =
            strcmp(setting->key, "file") == 0 ? find_beside(folder, setting->value) : NULL;

        g_ptr_array_add(open_layer(scenario),
                        entry_new(setting->group, setting->key, path ? path : setting->value,
                                  g_strdup(setting->where), NULL));
    }
    for (guint i = 0; i < settings->notes->len; i++)
        g_ptr_array_add(scenario->notes, g_strdup(g_ptr_array_index(settings->notes, i)));
    scenario_begin_layer(scenario);
}

static gboolean load_settings(struct scenario *scenario, const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    struct settings settings;
    gboolean ok = settings_ns3_read(&settings, path, error);

    if (ok)
        add_settings(scenario, &settings, folder);
    settings_clear(&settings);
    return ok;
}

/* Whether the file is one of another simulator that says how to run it. */
static bool is_settings(const char *path)
{
    const struct format *format = format_recognise(path, NULL);

    return format && format->role == FORMAT_SETTINGS;
}

/* --- files by name ---------------------------------------------------------------------------- */

static gboolean load_path(struct scenario *scenario, const char *path, GError **error)
{
    g_autoptr(GPtrArray) chain = g_ptr_array_new_with_free_func(free);

    if (!scenario->name)
        scenario->name = ready_name(path);
    if (is_settings(path))
        return load_settings(scenario, path, error);
    return load(scenario, path, chain, error);
}

/* What a user may have meant by `name`: ready scenarios and, if there is a seam, its kinds. */
static void no_such_name(const char *group, const char *name, GError **error)
{
    const struct seam *seam = group ? kinds_seam(group) : NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) ready = ready_list(seam ? seam->plural : NULL);
    struct kind kind;
    const char *near;

    for (guint i = 0; i < ready->len; i++)
        g_ptr_array_add(names, ready_name(g_ptr_array_index(ready, i)));
    for (int i = 0; seam && seam->at(i, &kind); i++)
        g_ptr_array_add(names, g_strdup(kind.name));
    near = param_nearest(name, (const char *const *)names->pdata, names->len);
    g_autofree char *hint = near ? g_strdup_printf("; did you mean '%s'?", near) : g_strdup("");
    if (seam)
        g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_FILE,
                    "--%s %s: no file, kind or ready scenario of that name%s (weft list %s)", group,
                    name, hint, seam->plural);
    else
        g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_FILE,
                    "%s: no file and no ready scenario of that name%s (weft list scenarios)", name,
                    hint);
}

gboolean scenario_load(struct scenario *scenario, const char *path, GError **error)
{
    g_autofree char *ready = NULL;

    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return load_path(scenario, path, error);
    ready = ready_find(NULL, path);
    if (ready)
        return load_path(scenario, ready, error);
    no_such_name(NULL, path, error);
    return FALSE;
}

/* --- --topology and --workload ---------------------------------------------------------------- */

/* "--topology a.topo" is short for --set topology.kind=htsim --set topology.file=a.topo. */
static gboolean choose_kind(struct scenario *scenario, const char *group, const char *what,
                            const char *kind, const char *key, const char *file, GError **error)
{
    g_autofree char *where = g_strdup_printf("--%s %s", group, what);

    scenario_begin_layer(scenario);
    if (!scenario_set_key(scenario, group, "kind", kind, where, NULL, error) ||
        (file && !scenario_set_key(scenario, group, key, file, where, NULL, error)))
        return FALSE;
    scenario_begin_layer(scenario);
    return TRUE;
}

gboolean scenario_choose(struct scenario *scenario, const char *group, const char *what,
                         GError **error)
{
    const struct seam *seam = kinds_seam(group);
    g_autofree char *ready = NULL, *path = NULL;
    const char *name = NULL, *key = NULL;
    gboolean no_file;
    struct kind kind;

    if (kinds_find(seam, what, &kind))
        return choose_kind(scenario, group, what, what, NULL, NULL, error);
    if (format_choose(group, what, &name, &key, &path, &no_file, error))
        return name ? choose_kind(scenario, group, what, name, key, path, error)
                    : load_path(scenario, path, error);
    if (!no_file)
        return FALSE;
    ready = ready_find(seam->plural, what);
    if (ready)
        return load_path(scenario, ready, error);
    no_such_name(group, what, error);
    return FALSE;
}

/* --- --set ------------------------------------------------------------------------------------ */

static bool has_control(const char *text)
{
    for (; *text; text++)
        if (g_ascii_iscntrl(*text))
            return true;
    return false;
}

gboolean scenario_set_key(struct scenario *scenario, const char *group, const char *key,
                          const char *value, const char *where, const char *folder, GError **error)
{
    g_autofree char *stripped = g_strstrip(g_strdup(value));
    struct scenario_entry *entry = entry_new(group, key, stripped, g_strdup(where), folder);
    gboolean ok = FALSE;

    if (has_control(stripped) || !g_utf8_validate(stripped, -1, NULL))
        scenario_entry_error(entry, error, "a value is one line of UTF-8 text");
    else if (strcmp(group, "scenario") == 0 && strcmp(key, "base") == 0)
        scenario_entry_error(entry, error, "a base is named in a file");
    else
        ok = check_group(entry, error);
    if (ok)
        g_ptr_array_add(open_layer(scenario), entry);
    else
        entry_unref(entry);
    return ok;
}

/*
 * Splits "group.key": at the last point, for a profile's name may have one; but the keys of [grid]
 * and [change] are such pairs themselves.
 */
static gboolean split_key(const char *text, const char *where, char **group, const char **key,
                          GError **error)
{
    bool pairs = g_str_has_prefix(text, "grid.") || g_str_has_prefix(text, "change.");
    const char *point = pairs ? strchr(text, '.') : strrchr(text, '.');

    if (!point || point == text || point[1] == '\0') {
        g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_FORMAT,
                    "%s: group.key is expected, such as transport.name", where);
        return FALSE;
    }
    *group = g_strndup(text, (size_t)(point - text));
    *key = point + 1;
    return TRUE;
}

gboolean scenario_set(struct scenario *scenario, const char *text, GError **error)
{
    g_autofree char *where = g_strdup_printf("--set %s", text), *group = NULL, *name = NULL;
    const char *equals = strchr(text, '='), *key;

    if (!equals) {
        g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_FORMAT,
                    "%s: group.key=value is expected, such as transport.name=rocev2", where);
        return FALSE;
    }
    name = g_strstrip(g_strndup(text, (size_t)(equals - text)));
    return split_key(name, where, &group, &key, error) &&
           scenario_set_key(scenario, group, key, equals + 1, where, NULL, error);
}

gboolean scenario_apply(struct scenario *scenario, const struct scenario_entry *entry,
                        GError **error)
{
    g_autofree char *group = NULL;
    const char *key;

    return split_key(entry->key, entry->where, &group, &key, error) &&
           scenario_set_key(scenario, group, key, entry->value, entry->where, entry->folder, error);
}

gboolean scenario_apply_base(struct scenario *scenario, const struct scenario_entry *entry,
                             GError **error)
{
    g_autoptr(GPtrArray) chain = g_ptr_array_new_with_free_func(free);

    return load_bases(scenario, entry, chain, error);
}

/* --- what was read ---------------------------------------------------------------------------- */

/* Walks entries that have a key from the lowest layer up; see scenario_private.h. */
const struct scenario_entry *scenario_next(const struct scenario *scenario,
                                           struct scenario_walk *walk)
{
    while (walk->layer < scenario->layers->len) {
        GPtrArray *layer = g_ptr_array_index(scenario->layers, walk->layer);

        while (walk->next < layer->len) {
            const struct scenario_entry *entry = g_ptr_array_index(layer, walk->next++);

            if (!walk->group || (entry->key && strcmp(entry->group, walk->group) == 0))
                return entry;
        }
        walk->layer++;
        walk->next = 0;
    }
    return NULL;
}

const struct scenario_entry *scenario_last(const struct scenario *scenario, const char *group,
                                           const char *key, guint *layer)
{
    struct scenario_walk walk = {.group = group};
    const struct scenario_entry *entry, *last = NULL;

    while ((entry = scenario_next(scenario, &walk)))
        if (strcmp(entry->key, key) == 0) {
            last = entry;
            *layer = walk.layer;
        }
    return last;
}

const struct scenario_entry *scenario_entry(const struct scenario *scenario, const char *group,
                                            const char *key)
{
    guint layer;

    return scenario_last(scenario, group, key, &layer);
}

GPtrArray *scenario_groups(const struct scenario *scenario, const char *prefix)
{
    GPtrArray *groups = g_ptr_array_new();
    struct scenario_walk walk = {0};
    const struct scenario_entry *entry;

    while ((entry = scenario_next(scenario, &walk)))
        if (g_str_has_prefix(entry->group, prefix) &&
            !g_ptr_array_find_with_equal_func(groups, entry->group, g_str_equal, NULL))
            g_ptr_array_add(groups, (char *)(uintptr_t)entry->group);
    return groups;
}

static gboolean same_key(const void *a, const void *b)
{
    return strcmp(((const struct scenario_entry *)a)->key,
                  ((const struct scenario_entry *)b)->key) == 0;
}

GPtrArray *scenario_group_entries(const struct scenario *scenario, const char *group)
{
    GPtrArray *entries = g_ptr_array_new();
    struct scenario_walk walk = {.group = group};
    const struct scenario_entry *entry;
    guint index;

    while ((entry = scenario_next(scenario, &walk)))
        if (g_ptr_array_find_with_equal_func(entries, entry, same_key, &index))
            entries->pdata[index] = (void *)(uintptr_t)entry;
        else
            g_ptr_array_add(entries, (void *)(uintptr_t)entry);
    return entries;
}
