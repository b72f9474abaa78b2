/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A resolved scenario as a key file: every value in its canonical spelling, no base. */
#include "sim/app/kinds.h"
#include "sim/app/scenario.h"
#include "sim/app/scenario_private.h"
#include "sim/core/file.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The path with links followed, or as good as can be had; never NULL. */
static char *real_path(const char *path)
{
    char *real = realpath(path, NULL), *copy;

    if (!real)
        return g_canonicalize_filename(path, NULL);
    copy = g_strdup(real);
    free(real);
    return copy;
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Both below the working folder: relative, so that the tree can be moved; absolute otherwise. */
static char *path_from(const char *folder, const char *path)
{
    g_autofree char *here = real_path("."), *from = folder ? real_path(folder) : NULL;
    g_autofree char *to = real_path(path);
    size_t common = 0;

    if (!from || !is_below(from, here) || !is_below(to, here))
        return g_steal_pointer(&to);
    for (size_t i = 0; to[i] && (from[i] == to[i] || from[i] == '\0'); i++) {
        if (to[i] == '/' && (from[i] == '/' || from[i] == '\0'))
            common = i + 1;
        if (from[i] == '\0')
            break;
    }

    GString *text = g_string_new(NULL);
    for (size_t i = common; common <= strlen(from) && from[i]; i++)
        if (i == common || from[i] == '/')
            g_string_append(text, "../");
    g_string_append(text, to + common);
    return g_string_free(text, FALSE);
}

/* How a text is to be written. */
struct style {
    const char *folder; /* where relative paths start */
    bool identity;      /* contents in the place of paths, no title, no seed */
};

/* Of a file's contents; what is no file that can be read is the one it is by its path. */
static char *digest_of_file(const char *path)
{
    g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);

    if (!file)
        return g_strdup(path);
    g_autoptr(GBytes) bytes = g_mapped_file_get_bytes(file);
    return g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, bytes);
}

static void add_values(GString *text, const struct param *table, const void *config,
                       const struct style *style)
{
    for (const struct param *param = table; param->name; param++) {
        g_autofree char *value = param_get(param, config);

        if (scenario_param_is_path(param) && value && *value) {
            char *path = style->identity ? digest_of_file(value) : path_from(style->folder, value);

            g_free(value);
            value = path;
        }
        if (!style->identity || table != scenario_run_params || strcmp(param->name, "seed") != 0)
            g_string_append_printf(text, "%s = %s\n", param->name, value ? value : "");
    }
}

static void add_kind(GString *text, const char *group, const char *key, const char *kind,
                     const struct param *table, const void *config, const struct style *style)
{
    g_string_append_printf(text, "\n[%s]\n%s = %s\n", group, key, kind);
    add_values(text, table, config, style);
}

static void add_profiles(GString *text, const struct scenario *scenario, const struct style *style)
{
    for (guint i = 0; i < scenario->profiles->len; i++) {
        const struct transport_profile *profile = g_ptr_array_index(scenario->profiles, i);
        g_autofree char *group =
            i == 0 ? g_strdup("transport") : g_strdup_printf("transport:%s", profile->name);

        add_kind(text, group, "name", profile->ops->name, profile->ops->params, profile->config,
                 style);
    }
}

static void add_hosts(GString *text, const struct scenario *scenario, const struct style *style)
{
    for (guint i = 0; i < scenario->hosts->len; i++) {
        const struct scenario_hosts *hosts = g_ptr_array_index(scenario->hosts, i);

        g_string_append_printf(text, "\n[hosts:%s]\n", hosts->name);
        add_values(text, scenario_hosts_params, &hosts->config, style);
    }
}

static void add_faults(GString *text, const struct scenario *scenario, const struct style *style)
{
    for (guint i = 0; i < scenario->faults->len; i++) {
        const struct scenario_fault *fault = g_ptr_array_index(scenario->faults, i);

        g_string_append_printf(text, "\n[fault:%s]\n", fault->name);
        add_values(text, scenario_fault_params, &fault->config, style);
    }
}

static char *write_text(const struct scenario *scenario, const struct style *style)
{
    GString *text = g_string_new("");

    if (!style->identity)
        g_string_append_printf(text,
                               "# A resolved scenario: every value, no base. Reading it back "
                               "gives the same run.\n[scenario]\ntitle = %s\n\n",
                               scenario->title);
    g_string_append(text, "[run]\n");
    add_values(text, scenario_run_params, &scenario->run, style);
    add_kind(text, "topology", "kind", scenario->topology->name, scenario->topology->params,
             scenario->topology_config, style);
    add_kind(text, "workload", "kind", scenario->workload->name, scenario->workload->params,
             scenario->workload_config, style);
    for (guint i = 0; i < scenario->beside->len; i++) {
        const struct scenario_workload *workload = g_ptr_array_index(scenario->beside, i);
        g_autofree char *group = g_strdup_printf("workload:%s", workload->name);

        add_kind(text, group, "kind", workload->ops->name, workload->ops->params, workload->config,
                 style);
    }
    add_profiles(text, scenario, style);
    for (const struct model_group *group = model_groups; group->name; group++) {
        g_string_append_printf(text, "\n[%s]\n", group->name);
        add_values(text, group->params, (const char *)&scenario->model + group->offset, style);
    }
    add_hosts(text, scenario, style);
    add_faults(text, scenario, style);
    return g_string_free(text, FALSE);
}

char *scenario_text(const struct scenario *scenario, const char *folder)
{
    return write_text(scenario, &(struct style){.folder = folder});
}

char *scenario_identity(const struct scenario *scenario)
{
    return write_text(scenario, &(struct style){.identity = true});
}

gboolean scenario_write(const struct scenario *scenario, const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *text = scenario_text(scenario, folder);

    return file_write(path, text, error);
}
