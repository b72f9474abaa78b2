/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft: finds the command and hands it its arguments. */
#include "sim/app/commands.h"
#include "sim/app/version.h"
#include "sim/core/param.h"
#include <locale.h>
#include <stdio.h>
#include <string.h>

struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
    {"compare", "play a comparison: cases x variants x values x seeds", command_compare},
    {"run", "play one scenario", command_run},
    {"sweep", "play every point of a grid, times seeds, here or on a cluster", command_sweep},
    {"gather", "make the tables of a sweep that was played in shards", command_gather},
    {"check", "build a scenario and say what was understood; run nothing", command_check},
    {"graph", "print the operations of a scenario, and what waits for what", command_graph},
    {"import", "say what a file of another tool holds, and write it as weft's own", command_import},
    {"list", "names: transports, topologies, workloads, ready scenarios, ...", command_list},
    {"params", "parameters with unit, default, range, meaning and source", command_params},
    {"plot", "draw figures of results", command_plot},
    {"diff", "what changed between two results", command_diff},
    {"explain", "where the time of a run went", command_explain},
    {"trace", "the story of a message, packet by packet", command_trace},
    {"report", "a folder of results as one HTML page", command_report},
    {"fluid", "DCQCN's fluid model behind a packet run of the same scenario", command_fluid},
    {"crosscheck", "play a scenario here and on ns-3, and compare every reception",
     command_crosscheck},
    {"selftest", "compare with answers from first principles", command_selftest},
};

static int help(FILE *stream)
{
    fprintf(stream, "Usage: weft COMMAND [OPTION...]\n\n"
                    "A discrete-event packet simulator of AI Ethernet fabrics.\n\n");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        fprintf(stream, "  weft %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(stream,
            "\nweft COMMAND --help tells the options, weft --version which weft this is.\n");
    return stream == stdout ? COMMAND_DONE : COMMAND_WRONG;
}

static int unknown(const char *word)
{
    const char *names[G_N_ELEMENTS(commands)], *near;

    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        names[i] = commands[i].name;
    near = param_nearest(word, names, G_N_ELEMENTS(names));
    fprintf(stderr, "weft: there is no command '%s'%s%s%s; see weft --help\n", word,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return COMMAND_WRONG;
}

/* GLib's --help begins with the program's name. */
static int start(const struct command *command, int argc, char **argv)
{
    g_autofree char *name = g_strdup_printf("weft %s", command->name);

    g_set_prgname(name);
    return command->run(argc, argv);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;

    setlocale(LC_CTYPE, ""); /* how arguments are spelt; numbers keep their point */
    if (!word)
        return help(stderr);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return help(stdout);
    if (strcmp(word, "--version") == 0) {
        printf("weft %s (%s)\n", version_text(), version_build());
        return COMMAND_DONE;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (strcmp(commands[i].name, word) == 0)
            return start(&commands[i], argc - 1, argv + 1);
    return unknown(word);
}
