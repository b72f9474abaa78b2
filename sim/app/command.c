/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/command.h"
#include <stdio.h>
#include <string.h>

G_DEFINE_QUARK(weft - command, command_error)

static void add_entries(GOptionContext *context, struct command_line *line,
                        enum command_purpose purpose)
{
    const GOptionEntry common[] = {
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &line->sets,
         "Set one key of the scenario; repeatable, the last one wins", "group.key=value"},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &line->seed, "The same as --set run.seed=N", "N"},
        {"topology", 0, 0, G_OPTION_ARG_FILENAME, &line->topology,
         "Fabric: a key file, .topo, .csv, a ready scenario or a kind", "FILE|NAME"},
        {"workload", 0, 0, G_OPTION_ARG_FILENAME, &line->workload,
         "Traffic: a key file, .cm, .tm, .csv, a ready scenario or a kind", "FILE|NAME"},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &line->files, NULL, NULL},
        G_OPTION_ENTRY_NULL};
    const GOptionEntry output[] = {
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &line->out,
         "Folder for the results; results/NAME unless given", "DIR"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &line->quiet, "No progress and no table", NULL},
        G_OPTION_ENTRY_NULL};

    const GOptionEntry look[] = {{"paths", 0, 0, G_OPTION_ARG_STRING, &line->paths,
                                  "List all shortest paths between two hosts instead", "A B"},
                                 G_OPTION_ENTRY_NULL};
    const GOptionEntry draw[] = {
        {"dot", 0, 0, G_OPTION_ARG_NONE, &line->dot, "Print it for Graphviz (dot)", NULL},
        G_OPTION_ENTRY_NULL};
    const GOptionEntry *const particular[] = {
        [COMMAND_LOOKS] = look, [COMMAND_WRITES] = output, [COMMAND_DRAWS] = draw};

    g_option_context_add_main_entries(context, common, NULL);
    g_option_context_add_main_entries(context, particular[purpose], NULL);
}

gboolean command_parse(struct command_line *line, int argc, char **argv, const char *text,
                       const char *summary, enum command_purpose purpose, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new(text);

    *line = (struct command_line){0};
    g_option_context_set_summary(context, summary);
    add_entries(context, line, purpose);
    if (!g_option_context_parse(context, &argc, &argv, error))
        return FALSE;
    if (line->files && line->files[0] && line->files[1]) {
        g_set_error(error, COMMAND_ERROR, 1, "'%s': one scenario is expected, and '%s' is it",
                    line->files[1], line->files[0]);
        return FALSE;
    }
    return TRUE;
}

void command_clear(struct command_line *line)
{
    g_strfreev(line->sets);
    g_strfreev(line->files);
    g_free(line->seed);
    g_free(line->topology);
    g_free(line->workload);
    g_free(line->out);
    g_free(line->paths);
}

static gboolean add_settings(struct scenario *scenario, const struct command_line *line,
                             GError **error)
{
    scenario_begin_layer(scenario);
    for (char **set = line->sets; set && *set; set++)
        if (!scenario_set(scenario, *set, error))
            return FALSE;
    if (line->seed) {
        g_autofree char *where = g_strdup_printf("--seed %s", line->seed);

        return scenario_set_key(scenario, "run", "seed", line->seed, where, NULL, error);
    }
    return TRUE;
}

struct scenario *command_scenario(const struct command_line *line, GError **error)
{
    struct scenario *scenario = scenario_new();

    if ((!line->files || scenario_load(scenario, line->files[0], error)) &&
        (!line->topology || scenario_choose(scenario, "topology", line->topology, error)) &&
        (!line->workload || scenario_choose(scenario, "workload", line->workload, error)) &&
        add_settings(scenario, line, error) && scenario_resolve(scenario, error))
        return scenario;
    scenario_free(scenario);
    return NULL;
}

int command_fail(const char *command, GError *error)
{
    fprintf(stderr, "weft %s: %s\n", command, error->message);
    g_error_free(error);
    return COMMAND_WRONG;
}
