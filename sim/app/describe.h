/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `check` and `import` say of a graph and a schedule, on standard output. */
#ifndef WEFT_SIM_APP_DESCRIBE_H
#define WEFT_SIM_APP_DESCRIBE_H

#include "sim/core/build.h"
#include "sim/core/graph.h"
#include "sim/core/schedule.h"
#include "sim/core/units.h"

void describe_quantity(const char *before, enum units_kind kind, double value);

/* "100 Gb/s" or, where they differ, "100 Gb/s to 400 Gb/s". */
void describe_span(const char *before, enum units_kind kind, int64_t least, int64_t most);

/* Hosts, planes, tiers, links, oversubscription; `kind` is what built it. */
void describe_graph(const struct graph *graph, const struct graph_facts *facts, const char *kind);

/* The first groups: size, ranks, busbw's factor. */
void describe_groups(const struct schedule *schedule);

/* The builders' notes, one line each. */
void describe_notes(const struct build *build);

#endif
