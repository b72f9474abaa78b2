/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands that take a scenario share: --set, --seed, --topology, --workload, and how a
 * fault is told.
 */
#ifndef WEFT_SIM_APP_COMMAND_H
#define WEFT_SIM_APP_COMMAND_H

#include "sim/app/commands.h"
#include "sim/app/scenario.h"

#define COMMAND_ERROR command_error_quark()
GQuark command_error_quark(void);

/* Which options a command takes beside --set, --seed, --topology and --workload. */
enum command_takes {
    COMMAND_TAKES_NO_MORE,
    COMMAND_TAKES_PATHS,
    COMMAND_TAKES_DOT,
    COMMAND_TAKES_OUT,    /* --out and --quiet */
    COMMAND_TAKES_ENGINE, /* these, --engine, --pcap and --threads */
};

struct command_line {
    char **sets, **files; /* --set; what is no option */
    char *seed, *topology, *workload, *out, *paths, *engine, *pcap;
    gboolean quiet, dot;
    int threads; /* 1 unless given */
};

/*
 * Parses `argv` (argv[0] is the command's name). `text` is the line for --help and `summary` what
 * stands below it.
 */
gboolean command_parse(struct command_line *line, int argc, char **argv, const char *text,
                       const char *summary, enum command_takes takes, GError **error);
void command_clear(struct command_line *line);

/* The scenario that the line asks for, resolved; NULL with an error. scenario_free(). */
struct scenario *command_scenario(const struct command_line *line, GError **error);

/* Prints "weft COMMAND: what is wrong", one line, frees the error, returns COMMAND_WRONG. */
int command_fail(const char *command, GError *error);

#endif
