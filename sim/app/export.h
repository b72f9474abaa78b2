/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A graph, a schedule and a list of faults as files that weft reads again: the CSV of
 * topologies/graph_csv.c, that of workloads/list_csv.c, and time,object,change. Reading them back
 * gives the same run, but for the groups by which collectives report themselves.
 */
#ifndef WEFT_SIM_APP_EXPORT_H
#define WEFT_SIM_APP_EXPORT_H

#include "sim/core/build.h"
#include "sim/core/graph.h"
#include "sim/core/schedule.h"

#define EXPORT_ERROR export_error_quark()
GQuark export_error_quark(void);

#define EXPORT_MOST_OPS 20000000 /* rows of a schedule; our choice: some GB */

gboolean export_graph(const struct graph *graph, const char *path, GError **error);
gboolean export_schedule(const struct schedule *schedule, const char *path, GError **error);
gboolean export_faults(const struct fault_list *faults, const char *path, GError **error);

#endif
