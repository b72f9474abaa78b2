/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of weft. Each takes its own arguments (argv[0] is its name) and gives an exit code.
 */
#ifndef WEFT_SIM_APP_COMMANDS_H
#define WEFT_SIM_APP_COMMANDS_H

enum command_exit {
    COMMAND_DONE = 0,
    COMMAND_BROKEN = 1,     /* interrupted, a check failed, or two results differ */
    COMMAND_WRONG = 2,      /* the command line, a file or a value is wrong; nothing was run */
    COMMAND_UNFINISHED = 3, /* run to the end, but a flow is unfinished or failed */
};

int command_run(int argc, char **argv);
int command_check(int argc, char **argv);
int command_graph(int argc, char **argv);
int command_import(int argc, char **argv);
int command_list(int argc, char **argv);
int command_params(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_gather(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_trace(int argc, char **argv);
int command_crosscheck(int argc, char **argv);
int command_fluid(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_report(int argc, char **argv);
int command_selftest(int argc, char **argv);

#endif
