/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/command.h"
#include <stdio.h>
#include <string.h>

#define MOST_THREADS 64

G_DEFINE_QUARK(weft - command, command_error)

static void add_entries(GOptionContext *context, struct command_line *line,
                        enum command_takes takes)
{
    const GOptionEntry common[] = {
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &line->sets,
         "Set one key of the scenario; repeatable, the last one wins", "group.key=value"},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &line->seed, "The same as --set run.seed=N", "N"},
        {"topology", 0, 0, G_OPTION_ARG_FILENAME, &line->topology,
         "Fabric: a file (weft list formats), a ready scenario or a kind", "[KIND:]FILE|NAME"},
        {"workload", 0, 0, G_OPTION_ARG_FILENAME, &line->workload,
         "Traffic: a file (weft list formats), a ready scenario or a kind", "[KIND:]FILE|NAME"},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &line->files, NULL, NULL},
        G_OPTION_ENTRY_NULL};
    const GOptionEntry output[] = {
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &line->out,
         "Folder for the results; results/NAME unless given", "DIR"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &line->quiet, "No progress and no table", NULL},
        G_OPTION_ENTRY_NULL};
    const GOptionEntry run[] = {
        {"engine", 0, 0, G_OPTION_ARG_STRING, &line->engine,
         "What plays it: native, or ns3:p2p (ns3 for short) or ns3:ip by weft-ns3", "NAME"},
        {"pcap", 0, 0, G_OPTION_ARG_STRING, &line->pcap, "The same as --set run.pcap=LINKS",
         "LINK[,LINK...]"},
        {"threads", 0, 0, G_OPTION_ARG_INT, &line->threads,
         "Threads that play the run together, 1 to 64; the results are those of one", "N"},
        G_OPTION_ENTRY_NULL};
    const GOptionEntry look[] = {{"paths", 0, 0, G_OPTION_ARG_STRING, &line->paths,
                                  "List all shortest paths between two hosts instead", "A B"},
                                 G_OPTION_ENTRY_NULL};
    const GOptionEntry draw[] = {
        {"dot", 0, 0, G_OPTION_ARG_NONE, &line->dot, "Print it for Graphviz (dot)", NULL},
        G_OPTION_ENTRY_NULL};

    g_option_context_add_main_entries(context, common, NULL);
    if (takes == COMMAND_TAKES_PATHS)
        g_option_context_add_main_entries(context, look, NULL);
    if (takes == COMMAND_TAKES_DOT)
        g_option_context_add_main_entries(context, draw, NULL);
    if (takes >= COMMAND_TAKES_OUT)
        g_option_context_add_main_entries(context, output, NULL);
    if (takes == COMMAND_TAKES_ENGINE)
        g_option_context_add_main_entries(context, run, NULL);
}

gboolean command_parse(struct command_line *line, int argc, char **argv, const char *text,
                       const char *summary, enum command_takes takes, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new(text);

    *line = (struct command_line){.threads = 1};
    g_option_context_set_summary(context, summary);
    add_entries(context, line, takes);
    if (!g_option_context_parse(context, &argc, &argv, error))
        return FALSE;
    if (line->files && line->files[0] && line->files[1]) {
        g_set_error(error, COMMAND_ERROR, 1, "'%s': one scenario is expected, and '%s' is it",
                    line->files[1], line->files[0]);
        return FALSE;
    }
    if (line->threads < 1 || line->threads > MOST_THREADS) {
        g_set_error(error, COMMAND_ERROR, 1, "--threads %d: 1 to %d is expected", line->threads,
                    MOST_THREADS);
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
    g_free(line->pcap);
    g_free(line->engine);
}

/* What an option says in the place of --set run.KEY=VALUE. */
static gboolean add_option(struct scenario *scenario, const char *option, const char *key,
                           const char *value, GError **error)
{
    g_autofree char *where = g_strdup_printf("--%s %s", option, value);

    return scenario_set_key(scenario, "run", key, value, where, NULL, error);
}

static gboolean add_settings(struct scenario *scenario, const struct command_line *line,
                             GError **error)
{
    const char *engine = g_strcmp0(line->engine, "ns3") == 0 ? "ns3:p2p" : line->engine;

    scenario_begin_layer(scenario);
    for (char **set = line->sets; set && *set; set++)
        if (!scenario_set(scenario, *set, error))
            return FALSE;
    return (!line->pcap || add_option(scenario, "pcap", "pcap", line->pcap, error)) &&
           (!line->seed || add_option(scenario, "seed", "seed", line->seed, error)) &&
           (!engine || add_option(scenario, "engine", "backend", engine, error));
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
