/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/keyfile.h"
#include <string.h>

G_DEFINE_QUARK(weft - keyfile, keyfile_error)

struct scan {
    const char *path;
    const char *group; /* the present one, or NULL */
    guint line;
    GPtrArray *lines;
    GHashTable *seen; /* "group" and "group\nkey" -> line; looked up, never walked */
};

static void line_free(void *data)
{
    struct keyfile_line *line = data;

    g_free(line->group);
    g_free(line->key);
    g_free(line->value);
    g_free(line);
}

static gboolean refuse(const struct scan *scan, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static gboolean refuse(const struct scan *scan, GError **error, const char *format, ...)
{
    va_list list;
    g_autofree char *what = NULL;

    va_start(list, format);
    what = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, KEYFILE_ERROR, KEYFILE_ERROR_FORMAT, "%s:%u: %s", scan->path, scan->line,
                what);
    return FALSE;
}

/* The line on which `name` was seen before, 0 if it was not; from now on it was. */
static guint seen_before(struct scan *scan, char *name)
{
    guint line = GPOINTER_TO_UINT(g_hash_table_lookup(scan->seen, name));

    if (line == 0)
        g_hash_table_insert(scan->seen, name, GUINT_TO_POINTER(scan->line));
    else
        g_free(name);
    return line;
}

static void add_line(struct scan *scan, const char *group, char *key, char *value)
{
    struct keyfile_line *line = g_new(struct keyfile_line, 1);

    *line = (struct keyfile_line){g_strdup(group), key, value, scan->line};
    g_ptr_array_add(scan->lines, line);
    scan->group = line->group;
}

static gboolean scan_group(struct scan *scan, char *text, GError **error)
{
    size_t length = strlen(text);
    guint first;

    if (length < 3 || text[length - 1] != ']' || strcspn(text + 1, "[]") != length - 2)
        return refuse(scan, error, "'%s': a group is written [name], on a line of its own", text);
    text[length - 1] = '\0';
    first = seen_before(scan, g_strdup(text + 1));
    if (first > 0)
        return refuse(scan, error,
                      "[%s]: the group is repeated; it began on line %u, put its keys there",
                      text + 1, first);
    add_line(scan, text + 1, NULL, NULL);
    return TRUE;
}

static gboolean scan_key(struct scan *scan, const char *text, GError **error)
{
    const char *equals = strchr(text, '=');
    g_autofree char *key = NULL;
    guint first;

    if (!equals || equals == text)
        return refuse(scan, error, "'%s': 'key = value', '[group]' or '# comment' is expected",
                      text);
    key = g_strchomp(g_strndup(text, (size_t)(equals - text)));
    if (!scan->group)
        return refuse(scan, error, "'%s': the key stands before the first [group]", text);
    if (strpbrk(key, "[]"))
        return refuse(scan, error, "[%s] %s: a key has no brackets", scan->group, key);
    first = seen_before(scan, g_strconcat(scan->group, "\n", key, NULL));
    if (first > 0)
        return refuse(scan, error, "[%s] %s: the key is repeated; it stands on line %u already",
                      scan->group, key, first);
    add_line(scan, scan->group, g_steal_pointer(&key), NULL);
    return TRUE;
}

static gboolean scan_text(struct scan *scan, const char *text, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    for (char **line = lines; *line; line++) {
        scan->line++;
        g_strstrip(*line);
        if (**line == '\0' || **line == '#')
            continue;
        if (**line == '[' ? !scan_group(scan, *line, error) : !scan_key(scan, *line, error))
            return FALSE;
    }
    return TRUE;
}

/* GLib's reading gives the values; it refuses what is not UTF-8. */
static gboolean take_values(struct scan *scan, const char *text, size_t length, GError **error)
{
    g_autoptr(GKeyFile) file = g_key_file_new();

    if (length > 0 && !g_key_file_load_from_data(file, text, length, G_KEY_FILE_NONE, error)) {
        g_prefix_error(error, "%s: ", scan->path);
        return FALSE;
    }
    for (guint i = 0; i < scan->lines->len; i++) {
        struct keyfile_line *line = g_ptr_array_index(scan->lines, i);

        if (!line->key)
            continue;
        line->value = g_key_file_get_value(file, line->group, line->key, error);
        if (!line->value) {
            g_prefix_error(error, "%s:%u: ", scan->path, line->line);
            return FALSE;
        }
        g_strchomp(line->value); /* GLib strips the front alone */
    }
    return TRUE;
}

static gboolean read_text(const char *path, char **text, size_t *length, GError **error)
{
    g_autoptr(GError) why = NULL;

    if (g_file_test(path, G_FILE_TEST_EXISTS) &&
        !g_file_test(path, G_FILE_TEST_IS_REGULAR | G_FILE_TEST_IS_DIR)) {
        g_set_error(error, KEYFILE_ERROR, KEYFILE_ERROR_FILE, "%s: no regular file", path);
        return FALSE;
    }
    if (!g_file_get_contents(path, text, length, &why)) {
        g_set_error(error, KEYFILE_ERROR, KEYFILE_ERROR_FILE, "%s: cannot be read: %s", path,
                    why->code == G_FILE_ERROR_NOENT   ? "no such file"
                    : why->code == G_FILE_ERROR_ISDIR ? "it is a folder"
                    : why->code == G_FILE_ERROR_ACCES ? "no permission"
                                                      : why->message);
        return FALSE;
    }
    if (memchr(*text, '\0', *length)) {
        g_set_error(error, KEYFILE_ERROR, KEYFILE_ERROR_FORMAT, "%s: not a text file", path);
        return FALSE;
    }
    if (*length >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) { /* byte order mark */
        *length -= 3;
        memmove(*text, *text + 3, *length + 1);
    }
    return TRUE;
}

GPtrArray *keyfile_read(const char *path, GError **error)
{
    struct scan scan = {.path = path};
    g_autofree char *text = NULL;
    size_t length = 0;

    if (!read_text(path, &text, &length, error))
        return NULL;
    scan.lines = g_ptr_array_new_with_free_func(line_free);
    scan.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (!scan_text(&scan, text, error) || !take_values(&scan, text, length, error))
        g_clear_pointer(&scan.lines, g_ptr_array_unref);
    g_hash_table_unref(scan.seen);
    return scan.lines;
}
