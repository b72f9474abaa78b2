/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/sweep.h"
#include "sim/app/version.h"
#include "sim/core/file.h"
#include "sim/core/table.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define NAME_LENGTH     20 /* hex digits: 80 bits, for some millions of points */
#define VERSION_LENGTH  12
#define ERROR_MAX_BYTES 500

G_DEFINE_QUARK(weft - sweep, sweep_error)

const char *sweep_status_name(enum sweep_status status)
{
    static const char *const names[] = {[SWEEP_WAITING] = "waiting",
                                        [SWEEP_DONE] = "done",
                                        [SWEEP_UNFINISHED] = "unfinished",
                                        [SWEEP_FAILED] = "failed"};

    return names[status];
}

/* --- the struct ------------------------------------------------------------------------------- */

static void grid_clear(void *data)
{
    struct sweep_grid *grid = data;

    g_strfreev(grid->cells);
    g_free(grid->identity);
    g_free(grid->text);
}

static void point_clear(void *data)
{
    struct sweep_point *point = data;

    g_free(point->name);
    g_free(point->error);
}

struct sweep *sweep_new(const char *folder)
{
    struct sweep *sweep = g_new0(struct sweep, 1);

    sweep->folder = g_strdup(folder);
    sweep->columns = g_ptr_array_new_with_free_func(g_free);
    sweep->grid = g_array_new(FALSE, TRUE, sizeof(struct sweep_grid));
    sweep->points = g_array_new(FALSE, TRUE, sizeof(struct sweep_point));
    g_array_set_clear_func(sweep->grid, grid_clear);
    g_array_set_clear_func(sweep->points, point_clear);
    return sweep;
}

void sweep_free(struct sweep *sweep)
{
    if (!sweep)
        return;
    g_ptr_array_unref(sweep->columns);
    g_array_unref(sweep->grid);
    g_array_unref(sweep->points);
    g_free(sweep->folder);
    g_free(sweep->version);
    g_free(sweep);
}

struct sweep_grid *sweep_grid(const struct sweep *sweep, uint32_t index)
{
    return &g_array_index(sweep->grid, struct sweep_grid, index);
}

struct sweep_point *sweep_point(const struct sweep *sweep, uint32_t index)
{
    return &g_array_index(sweep->points, struct sweep_point, index);
}

static char *cells_label(const struct sweep *sweep, char *const *cells)
{
    GString *text = g_string_new("");

    for (guint i = 0; i < sweep->columns->len; i++)
        g_string_append_printf(text, "%s = %s, ",
                               (const char *)g_ptr_array_index(sweep->columns, i), cells[i]);
    return g_string_free(text, FALSE);
}

char *sweep_point_label(const struct sweep *sweep, const struct sweep_point *point)
{
    g_autofree char *cells = cells_label(sweep, sweep_grid(sweep, point->grid)->cells);

    return g_strdup_printf("%sseed %" G_GUINT64_FORMAT, cells, point->seed);
}

/* --- names ------------------------------------------------------------------------------------ */

char *sweep_version(void)
{
    const char *version = version_text();
    g_autoptr(GMappedFile) program = NULL;

    if (!g_str_has_suffix(version, "-dirty") && strcmp(version, "unknown") != 0)
        return g_strdup(version);
    program = g_mapped_file_new("/proc/self/exe", FALSE, NULL);
    if (!program)
        return g_strdup(version);
    g_autoptr(GBytes) bytes = g_mapped_file_get_bytes(program);
    g_autofree char *digest = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, bytes);

    return g_strdup_printf("%s-%.*s", version, VERSION_LENGTH, digest);
}

char *sweep_program(void)
{
    static const char self[] = "/proc/self/exe";
    char *path = g_file_read_link(self, NULL);

    if (path && !g_str_has_suffix(path, " (deleted)"))
        return path;
    g_free(path);
    return g_strdup(self);
}

static char *short_hash(const char *text)
{
    char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);

    digest[NAME_LENGTH] = '\0';
    return digest;
}

char *sweep_identity(const char *version, const char *scenario_identity)
{
    g_autofree char *text = g_strdup_printf("weft %s\n%s", version, scenario_identity);

    return short_hash(text);
}

char *sweep_name(const char *identity, uint64_t seed)
{
    g_autofree char *text = g_strdup_printf("%s %" G_GUINT64_FORMAT, identity, seed);

    return short_hash(text);
}

char *sweep_path(const char *folder, const char *file)
{
    return g_build_filename(folder, file, NULL);
}

char *sweep_result_path(const char *folder, const char *name)
{
    return g_build_filename(folder, "points", name, NULL);
}

char *sweep_grid_path(const char *folder, const char *identity)
{
    g_autofree char *file = g_strconcat(identity, ".ini", NULL);

    return g_build_filename(folder, "grid", file, NULL);
}

/* Host and process, so that sweep_clean() sees whether it is still being written. */
char *sweep_temporary_path(const char *folder, const char *name)
{
    g_autofree char *file = g_strdup_printf(".%s.%s.%d", name, g_get_host_name(), (int)getpid());

    return g_build_filename(folder, "points", file, NULL);
}

static char *failure_path(const struct sweep *sweep, const struct sweep_point *point)
{
    return g_build_filename(sweep->folder, "failed", point->name, NULL);
}

/* --- points.csv as a list of points ----------------------------------------------------------- */

struct list_columns {
    uint32_t name, grid, seed;
};

static gboolean find_columns(const struct table *table, struct list_columns *columns,
                             GError **error)
{
    return table_need_column(table, "name", &columns->name, error) &&
           table_need_column(table, "grid", &columns->grid, error) &&
           table_need_column(table, "seed", &columns->seed, error);
}

/* A name becomes part of a path. */
static bool is_name(const char *text)
{
    return strlen(text) == NAME_LENGTH && strspn(text, "0123456789abcdef") == NAME_LENGTH;
}

static gboolean load_row(struct sweep *sweep, const struct table *table,
                         const struct list_columns *columns, uint32_t row, GError **error)
{
    const char *name = table_field(table, row, columns->name);
    guint64 grid, seed;

    if (!is_name(name) ||
        !g_ascii_string_to_unsigned(table_field(table, row, columns->grid), 10, 1,
                                    sweep->grid->len + 1, &grid, NULL) ||
        !g_ascii_string_to_unsigned(table_field(table, row, columns->seed), 10, 0, G_MAXUINT64,
                                    &seed, NULL)) {
        table_set_error(table, row, columns->name, error,
                        "no row of weft sweep: name, grid (in order) and seed are expected");
        return FALSE;
    }
    if (grid > sweep->grid->len) {
        struct sweep_grid fresh = {.cells = g_new0(char *, sweep->columns->len + 1)};

        for (guint i = 0; i < sweep->columns->len; i++)
            fresh.cells[i] = g_strdup(table_field(table, row, columns->grid + 1 + i));
        g_array_append_val(sweep->grid, fresh);
    }
    struct sweep_point point = {.grid = (uint32_t)grid - 1, .seed = seed, .name = g_strdup(name)};

    g_array_append_val(sweep->points, point);
    return TRUE;
}

gboolean sweep_load(struct sweep *sweep, GError **error)
{
    g_autofree char *path = sweep_path(sweep->folder, "points.csv");
    struct table *table = table_read(path, error);
    struct list_columns columns;
    gboolean ok = table && find_columns(table, &columns, error);

    for (uint32_t column = ok ? columns.grid + 1 : 0; ok && column < columns.seed; column++)
        g_ptr_array_add(sweep->columns, g_strdup(table_column_name(table, column)));
    for (uint32_t row = 0; ok && row < table_n_rows(table); row++)
        ok = load_row(sweep, table, &columns, row, error);
    if (table)
        table_free(table);
    return ok;
}

static bool same_list(const struct sweep *a, const struct sweep *b)
{
    bool same = a->points->len == b->points->len && a->columns->len == b->columns->len;

    for (guint i = 0; same && i < a->columns->len; i++)
        same = strcmp(g_ptr_array_index(a->columns, i), g_ptr_array_index(b->columns, i)) == 0;
    for (uint32_t i = 0; same && i < a->points->len; i++)
        same = strcmp(sweep_point(a, i)->name, sweep_point(b, i)->name) == 0 &&
               sweep_point(a, i)->grid == sweep_point(b, i)->grid;
    for (uint32_t g = 0; same && g < a->grid->len; g++)
        same = g_strv_equal((const char *const *)sweep_grid(a, g)->cells,
                            (const char *const *)sweep_grid(b, g)->cells);
    return same;
}

/* --- preparing -------------------------------------------------------------------------------- */

static gboolean make_folder(const struct sweep *sweep, const char *name, GError **error)
{
    g_autofree char *path = sweep_path(sweep->folder, name);

    if (g_mkdir_with_parents(path, 0777) == 0)
        return TRUE;
    g_set_error(error, SWEEP_ERROR, 0, "cannot make the folder '%s': %s", path, g_strerror(errno));
    return FALSE;
}

/* File systems that know no locks let everybody in; the renames keep order then. */
int sweep_lock(const struct sweep *sweep, bool shared, GError **error)
{
    if (!make_folder(sweep, "points", error))
        return -1;
    int fd = open(sweep->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) {
        g_set_error(error, SWEEP_ERROR, 0, "cannot open the folder '%s': %s", sweep->folder,
                    g_strerror(errno));
    } else if (flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        g_set_error(error, SWEEP_ERROR, 0, "%s: another weft sweep is at work in this folder",
                    sweep->folder);
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Writes a file unless it says so already. */
static gboolean write_file(const char *path, const char *text, GError **error)
{
    g_autofree char *there = NULL;

    return (g_file_get_contents(path, &there, NULL, NULL) && strcmp(there, text) == 0) ||
           file_write(path, text, error);
}

/* Calls for each name in a folder; nothing if it cannot be read. */
static void each_name(const char *path, void (*call)(const char *name, void *data), void *data)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir)))
        call(name, data);
    if (dir)
        g_dir_close(dir);
}

static void count_result(const char *name, void *data)
{
    *(uint32_t *)data += is_name(name);
}

static gboolean check_version(const struct sweep *sweep, GError **error)
{
    g_autofree char *path = sweep_path(sweep->folder, "version");
    g_autofree char *points = sweep_path(sweep->folder, "points");
    g_autofree char *line = g_strconcat(sweep->version, "\n", NULL), *there = NULL;
    uint32_t n = 0;

    each_name(points, count_result, &n);
    if (n > 0 && g_file_get_contents(path, &there, NULL, NULL) && strcmp(there, line) != 0) {
        g_set_error(error, SWEEP_ERROR, 0,
                    "%s: its %u finished points were played by weft %s; this is weft %s, and the "
                    "two are not mixed: give another --out, or remove the folder",
                    sweep->folder, n, g_strstrip(there), sweep->version);
        return FALSE;
    }
    return write_file(path, line, error);
}

/* "[topology] link_rate = 400Gbps": where two resolved scenarios differ first; NULL: nowhere. */
static char *first_difference(const char *before, const char *now)
{
    g_auto(GStrv) a = g_strsplit(before, "\n", -1), b = g_strsplit(now, "\n", -1);
    const char *group = "";

    for (guint i = 0; a[i] && b[i]; i++) {
        if (*a[i] == '[')
            group = a[i];
        if (strcmp(a[i], b[i]) != 0 && !g_str_has_prefix(a[i], "title = "))
            return g_strdup_printf("%s %s there, %s here", group, a[i], b[i]);
    }
    return NULL;
}

/* What was played at the same values is another point: the scenario has changed. */
static void name_change(const struct sweep *sweep, const struct sweep_point *point,
                        const char *old_name, GError **error)
{
    g_autofree char *result = sweep_result_path(sweep->folder, old_name);
    g_autofree char *path = g_build_filename(result, "scenario.ini", NULL);
    g_autofree char *label = sweep_point_label(sweep, point), *before = NULL, *what = NULL;

    if (g_file_get_contents(path, &before, NULL, NULL)) {
        g_autofree char *seed = g_strdup_printf("\nseed = %" G_GUINT64_FORMAT "\n", point->seed);
        const char *text = sweep_grid(sweep, point->grid)->text;
        const char *line = strstr(text, "\nseed = "), *end = line ? strchr(line + 1, '\n') : NULL;
        g_autofree char *now =
            end ? g_strdup_printf("%.*s%s%s", (int)(line - text), text, seed, end + 1)
                : g_strdup(text);

        what = first_difference(before, now);
    }
    g_set_error(error, SWEEP_ERROR, 0,
                "%s: finished points were played with another scenario, and the two are not mixed "
                "(%s: %s): give another --out, or remove the folder",
                sweep->folder, label, what ? what : "a file that it names has other contents");
}

static char *point_key(const struct sweep *sweep, const struct sweep_point *point)
{
    return sweep_point_label(sweep, point);
}

static gboolean check_scenario(const struct sweep *sweep, const struct sweep *old, GError **error)
{
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    gboolean ok = TRUE;

    for (uint32_t i = 0; i < old->points->len; i++)
        g_hash_table_insert(names, point_key(old, sweep_point(old, i)), sweep_point(old, i));
    for (uint32_t i = 0; ok && i < sweep->points->len; i++) {
        const struct sweep_point *point = sweep_point(sweep, i);
        g_autofree char *key = point_key(sweep, point);
        const struct sweep_point *before = g_hash_table_lookup(names, key);

        ok = !before || strcmp(before->name, point->name) == 0 || !sweep_has_result(old, before);
        if (!ok)
            name_change(sweep, point, before->name, error);
    }
    return ok;
}

/* Leaves a list alone that says the same, for it may have been gathered. */
static gboolean write_list(const struct sweep *sweep, GError **error)
{
    g_autofree char *path = sweep_path(sweep->folder, "points.csv");
    struct table_writer *writer = table_writer_new(path, error);

    if (!writer)
        return FALSE;
    table_writer_field(writer, "point");
    table_writer_field(writer, "name");
    table_writer_field(writer, "grid");
    for (guint i = 0; i < sweep->columns->len; i++)
        table_writer_field(writer, g_ptr_array_index(sweep->columns, i));
    table_writer_field(writer, "seed");
    table_writer_row(writer);
    for (uint32_t i = 0; i < sweep->points->len; i++) {
        const struct sweep_point *point = sweep_point(sweep, i);

        table_writer_printf(writer, "%u", i + 1);
        table_writer_field(writer, point->name);
        table_writer_printf(writer, "%u", point->grid + 1);
        for (guint c = 0; c < sweep->columns->len; c++)
            table_writer_field(writer, sweep_grid(sweep, point->grid)->cells[c]);
        table_writer_printf(writer, "%" G_GUINT64_FORMAT, point->seed);
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}

gboolean sweep_prepare(struct sweep *sweep, GError **error)
{
    struct sweep *old = sweep_new(sweep->folder);
    gboolean known = sweep_load(old, NULL);
    gboolean ok = check_version(sweep, error) && (!known || check_scenario(sweep, old, error)) &&
                  make_folder(sweep, "grid", error) && make_folder(sweep, "failed", error);

    for (uint32_t g = 0; ok && g < sweep->grid->len; g++) {
        g_autofree char *path = sweep_grid_path(sweep->folder, sweep_grid(sweep, g)->identity);

        ok = write_file(path, sweep_grid(sweep, g)->text, error);
    }
    if (ok && !(known && same_list(old, sweep)))
        ok = write_list(sweep, error);
    sweep_free(old);
    return ok;
}

/* --- results ---------------------------------------------------------------------------------- */

bool sweep_has_result(const struct sweep *sweep, const struct sweep_point *point)
{
    g_autofree char *path = sweep_result_path(sweep->folder, point->name);

    return g_file_test(path, G_FILE_TEST_IS_DIR);
}

static void add_name(const char *name, void *data)
{
    g_hash_table_add(data, g_strdup(name));
}

static GHashTable *names_in(const struct sweep *sweep, const char *room)
{
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char *path = sweep_path(sweep->folder, room);

    each_name(path, add_name, names);
    return names;
}

/* A result wins over a failure: the point was played again. */
void sweep_look(struct sweep *sweep)
{
    g_autoptr(GHashTable) results = names_in(sweep, "points");
    g_autoptr(GHashTable) failures = names_in(sweep, "failed");

    for (uint32_t i = 0; i < sweep->points->len; i++) {
        struct sweep_point *point = sweep_point(sweep, i);
        g_autofree char *path = failure_path(sweep, point);

        g_clear_pointer(&point->error, g_free);
        if (g_hash_table_contains(results, point->name)) {
            point->status = SWEEP_DONE;
        } else if (g_hash_table_contains(failures, point->name) &&
                   g_file_get_contents(path, &point->error, NULL, NULL)) {
            point->status = SWEEP_FAILED;
            g_strstrip(point->error);
        } else {
            point->status = SWEEP_WAITING;
        }
    }
}

/* On one line, so that it fits into a table. */
static char *one_line(const char *text)
{
    char *line = g_strndup(text, ERROR_MAX_BYTES);
    char *valid = g_utf8_make_valid(line, -1);

    g_free(line);
    for (char *c = valid; *c; c++)
        if (g_ascii_iscntrl(*c))
            *c = ' ';
    return g_strstrip(valid);
}

gboolean sweep_fail(const struct sweep *sweep, struct sweep_point *point, const char *why,
                    GError **error)
{
    g_autofree char *path = failure_path(sweep, point);
    g_autofree char *line = one_line(why), *text = g_strconcat(line, "\n", NULL);

    point->status = SWEEP_FAILED;
    g_free(point->error);
    point->error = g_strdup(line);
    return file_write(path, text, error);
}

void sweep_forget_failures(struct sweep *sweep)
{
    for (uint32_t i = 0; i < sweep->points->len; i++) {
        struct sweep_point *point = sweep_point(sweep, i);
        g_autofree char *path = failure_path(sweep, point);

        if (point->status != SWEEP_FAILED)
            continue;
        g_unlink(path);
        g_clear_pointer(&point->error, g_free);
        point->status = SWEEP_WAITING;
    }
}

/* --- what is half done ------------------------------------------------------------------------ */

static void unlink_in(const char *name, void *folder)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);

    g_unlink(path);
}

void sweep_remove_folder(const char *path)
{
    each_name(path, unlink_in, (void *)(uintptr_t)path);
    g_rmdir(path);
}

/* A process that has ended and waits for nobody to fetch its status has no program any more. */
static bool is_alive(pid_t pid)
{
    g_autofree char *program = g_strdup_printf("/proc/%d/exe", (int)pid);
    char path[1];

    if (kill(pid, 0) != 0 && errno == ESRCH)
        return false;
    return readlink(program, path, sizeof path) >= 0 || errno != ENOENT;
}

struct cleaning {
    const char *points;
    bool all;
};

static void clean_one(const char *name, void *data)
{
    const struct cleaning *cleaning = data;
    g_autofree char *path = g_build_filename(cleaning->points, name, NULL);
    g_autofree char *host = NULL;
    const char *process = strrchr(name, '.');

    if (*name != '.' || strlen(name) < NAME_LENGTH + 4 || name[NAME_LENGTH + 1] != '.' ||
        process < name + NAME_LENGTH + 2)
        return;
    host = g_strndup(name + NAME_LENGTH + 2, (gsize)(process - name) - NAME_LENGTH - 2);
    pid_t pid = (pid_t)g_ascii_strtoll(process + 1, NULL, 10);
    bool mine = strcmp(host, g_get_host_name()) == 0;

    if (!cleaning->all && (!mine || pid <= 0 || is_alive(pid)))
        return;
    sweep_remove_folder(path);
}

void sweep_clean(const struct sweep *sweep, bool all)
{
    g_autofree char *points = sweep_path(sweep->folder, "points");
    struct cleaning cleaning = {points, all};

    each_name(points, clean_one, &cleaning);
}
