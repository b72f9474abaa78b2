/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The [fault:NAME] groups and the [faults] file of a scenario, as one list with its builders'. */
#ifndef WEFT_SIM_APP_FAULTS_H
#define WEFT_SIM_APP_FAULTS_H

#include "sim/app/scenario.h"

/* Adds the scenario's faults to those of the builders. The error names group or file and line. */
gboolean faults_add(const struct scenario *scenario, struct build *build, GError **error);

/* Each object is in the graph, and there are not too many changes of links. */
gboolean faults_check(const struct build *build, const struct graph *graph, GError **error);

/* A warning (char *) for each fault that nothing can come of. */
void faults_warn(const struct build *build, GPtrArray *warnings);

#endif
