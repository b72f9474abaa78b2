/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A resolved scenario as a key file: every value in its canonical spelling, no base. */
#include "sim/app/kinds.h"
#include "sim/app/scenario.h"
#include "sim/app/scenario_private.h"
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

static void add_values(GString *text, const struct param *table, const void *config,
                       const char *folder)
{
    for (const struct param *param = table; param->name; param++) {
        g_autofree char *value = param_get(param, config);

        if (scenario_param_is_path(param) && value && *value) {
            char *path = path_from(folder, value);

            g_free(value);
            value = path;
        }
        g_string_append_printf(text, "%s = %s\n", param->name, value ? value : "");
    }
}

static void add_kind(GString *text, const char *group, const char *key, const char *kind,
                     const struct param *table, const void *config, const char *folder)
{
    g_string_append_printf(text, "\n[%s]\n%s = %s\n", group, key, kind);
    add_values(text, table, config, folder);
}

static void add_profiles(GString *text, const struct scenario *scenario, const char *folder)
{
    for (guint i = 0; i < scenario->profiles->len; i++) {
        const struct transport_profile *profile = g_ptr_array_index(scenario->profiles, i);
        g_autofree char *group =
            i == 0 ? g_strdup("transport") : g_strdup_printf("transport:%s", profile->name);

        add_kind(text, group, "name", profile->ops->name, profile->ops->params, profile->config,
                 folder);
    }
}

static void add_hosts(GString *text, const struct scenario *scenario, const char *folder)
{
    for (guint i = 0; i < scenario->hosts->len; i++) {
        const struct scenario_hosts *hosts = g_ptr_array_index(scenario->hosts, i);

        g_string_append_printf(text, "\n[hosts:%s]\n", hosts->name);
        add_values(text, scenario_hosts_params, &hosts->config, folder);
    }
}

static void add_faults(GString *text, const struct scenario *scenario, const char *folder)
{
    for (guint i = 0; i < scenario->faults->len; i++) {
        const struct scenario_fault *fault = g_ptr_array_index(scenario->faults, i);

        g_string_append_printf(text, "\n[fault:%s]\n", fault->name);
        add_values(text, scenario_fault_params, &fault->config, folder);
    }
}

char *scenario_text(const struct scenario *scenario, const char *folder)
{
    GString *text = g_string_new("# A resolved scenario: every value, no base. Reading it back "
                                 "gives the same run.\n");

    g_string_append_printf(text, "[scenario]\ntitle = %s\n\n[run]\n", scenario->title);
    add_values(text, scenario_run_params, &scenario->run, folder);
    add_kind(text, "topology", "kind", scenario->topology->name, scenario->topology->params,
             scenario->topology_config, folder);
    add_kind(text, "workload", "kind", scenario->workload->name, scenario->workload->params,
             scenario->workload_config, folder);
    for (guint i = 0; i < scenario->beside->len; i++) {
        const struct scenario_workload *workload = g_ptr_array_index(scenario->beside, i);
        g_autofree char *group = g_strdup_printf("workload:%s", workload->name);

        add_kind(text, group, "kind", workload->ops->name, workload->ops->params, workload->config,
                 folder);
    }
    add_profiles(text, scenario, folder);
    for (const struct model_group *group = model_groups; group->name; group++) {
        g_string_append_printf(text, "\n[%s]\n", group->name);
        add_values(text, group->params, (const char *)&scenario->model + group->offset, folder);
    }
    add_hosts(text, scenario, folder);
    add_faults(text, scenario, folder);
    return g_string_free(text, FALSE);
}

gboolean scenario_write(const struct scenario *scenario, const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *text = scenario_text(scenario, folder);

    return g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0666, error);
}
