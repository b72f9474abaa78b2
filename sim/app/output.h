/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of one run: flows.csv, ports.csv, summary.csv, scenario.ini, which are the same bytes
 * for the same scenario and seed, and run.json, which alone holds what is not (time, memory, host,
 * version, command line). results/README.md says what each column means.
 *
 * Each file is written under a temporary name beside its own and renamed when whole.
 */
#ifndef WEFT_SIM_APP_OUTPUT_H
#define WEFT_SIM_APP_OUTPUT_H

#include "sim/app/experiment.h"
#include "sim/app/summary.h"

#define OUTPUT_ERROR output_error_quark()
GQuark output_error_quark(void);

struct output;

/* What run.json is told beside what the process knows of itself. */
struct output_facts {
    int argc;
    char *const *argv; /* the command line, from the command on */
    double wall_s;     /* of the play alone */
    double cpu_s;
};

/* Makes the folder and opens the files, so that a folder that cannot be written is seen before the
 * run; the error names it. */
struct output *output_new(const char *folder, const struct experiment *experiment, GError **error);

/* What experiment_play() is given; may be used once. */
const struct sink *output_sink(const struct output *output);

/* Writes all files; the first error is reported. Free with output_free() in any case. */
gboolean output_finish(struct output *output, const struct backend_result *result,
                       const struct output_facts *facts, GError **error);

/* The rows, after output_finish(). */
const struct summary *output_summary(const struct output *output);

/* Frees; files that were not finished leave nothing behind. NULL is let pass. */
void output_free(struct output *output);

#endif
