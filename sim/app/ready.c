/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/ready.h"
#include <string.h>

#define LEVELS_ABOVE_PROGRAM 4 /* build/tests/unit/test_x is three below the tree */

static const char *const folders[] = {"topologies", "workloads"};

static gboolean has_folders(const char *root)
{
    g_autofree char *topologies = g_build_filename(root, "topologies", NULL);
    g_autofree char *workloads = g_build_filename(root, "workloads", NULL);

    return g_file_test(topologies, G_FILE_TEST_IS_DIR) &&
           g_file_test(workloads, G_FILE_TEST_IS_DIR);
}

/* The tree in which the program was built, share/weft beside an installed one, or NULL. */
static char *program_root(void)
{
    g_autofree char *path = g_file_read_link("/proc/self/exe", NULL);

    for (int level = 0; path && level < LEVELS_ABOVE_PROGRAM; level++) {
        char *above = g_path_get_dirname(path);
        g_autofree char *share = g_build_filename(above, "share", "weft", NULL);

        g_free(path);
        path = above;
        if (has_folders(path))
            return g_steal_pointer(&path);
        if (has_folders(share))
            return g_steal_pointer(&share);
    }
    return NULL;
}

char **ready_roots(void)
{
    GPtrArray *roots = g_ptr_array_new();
    char *program = program_root();
    const char *data = g_getenv("WEFT_DATA");

    g_ptr_array_add(roots, g_strdup("."));
    if (program)
        g_ptr_array_add(roots, program);
    if (data && *data)
        g_ptr_array_add(roots, g_strdup(data));
    g_ptr_array_add(roots, NULL);
    return (char **)g_ptr_array_free(roots, FALSE);
}

char *ready_find(const char *plural, const char *name)
{
    g_auto(GStrv) roots = ready_roots();
    g_autofree char *stem = ready_name(name);

    if (strchr(name, '/') || *name == '\0')
        return NULL;
    for (char **root = roots; *root; root++)
        for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
            g_autofree char *file = g_strconcat(stem, ".ini", NULL);
            char *path = strcmp(*root, ".") == 0 ? g_build_filename(folders[i], file, NULL)
                                                 : g_build_filename(*root, folders[i], file, NULL);

            if ((!plural || strcmp(plural, folders[i]) == 0) &&
                g_file_test(path, G_FILE_TEST_IS_REGULAR))
                return path;
            g_free(path);
        }
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names found in an earlier root hide those of later ones, as in ready_find(). */
static void add_folder(GPtrArray *paths, const char *root, const char *folder)
{
    g_autofree char *path = g_build_filename(root, folder, NULL);
    GDir *dir = g_dir_open(path, 0, NULL);
    guint first = paths->len;
    const char *file;

    while (dir && (file = g_dir_read_name(dir))) {
        g_autofree char *wanted = g_build_filename(path, file, NULL);
        g_autofree char *found = ready_find(folder, file);
        g_autofree char *found_path = found ? g_canonicalize_filename(found, NULL) : NULL;
        g_autofree char *wanted_path = g_canonicalize_filename(wanted, NULL);

        if (g_str_has_suffix(file, ".ini") && g_strcmp0(found_path, wanted_path) == 0)
            g_ptr_array_add(paths, g_steal_pointer(&wanted));
    }
    if (dir)
        g_dir_close(dir);
    if (paths->len > first)
        qsort(&paths->pdata[first], paths->len - first, sizeof(char *), by_text);
}

GPtrArray *ready_list(const char *plural)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) roots = ready_roots();

    for (char **root = roots; *root; root++)
        for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
            g_autofree char *here = g_canonicalize_filename(*root, NULL);
            gboolean again = FALSE;

            for (char **other = roots; other < root; other++) {
                g_autofree char *before = g_canonicalize_filename(*other, NULL);

                again |= strcmp(before, here) == 0;
            }
            if (!again && (!plural || strcmp(plural, folders[i]) == 0))
                add_folder(paths, *root, folders[i]);
        }
    return paths;
}

char *ready_name(const char *path)
{
    char *name = g_path_get_basename(path);

    if (g_str_has_suffix(name, ".ini"))
        name[strlen(name) - strlen(".ini")] = '\0';
    return name;
}
