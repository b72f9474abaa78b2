/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The workload seam: a builder turns a configuration and a graph into a schedule. Pure: the same
 * configuration, graph and seed give the same schedule. A workload is one .c file whose only
 * external symbol is its ops, plus one line in workloads/list.c.
 */
#ifndef WEFT_WORKLOADS_WORKLOAD_H
#define WEFT_WORKLOADS_WORKLOAD_H

#include "sim/core/build.h"
#include "sim/core/graph.h"
#include "sim/core/param.h"
#include "sim/core/schedule.h"

struct workload_ops {
    const char *name;    /* as in workload.kind */
    const char *summary; /* one sentence */
    const char *source;  /* definition: paper, program, or "our choice" */
    size_t config_size;
    const struct param *params;
    /* Fills an untouched schedule: calls schedule_init() and schedule_finish(). When it fails,
     * there is nothing to clear. */
    gboolean (*build)(const void *config, const struct graph *graph, struct build *build,
                      struct schedule *schedule, GError **error);
};

/* All workloads, NULL at the end, and the one called `name` (NULL if there is none). */
extern const struct workload_ops *const workload_list[];
const struct workload_ops *workload_find(const char *name);

/* schedule_finish(), and nothing left behind when it fails; for the end of a builder. */
gboolean workload_finish(struct schedule *schedule, const struct graph *graph, GError **error);

/*
 * Ranks written as "0-63", "0,2,4-7" or "" (all hosts), for a collective over any set of hosts.
 * Their order is kept: rank r is the r-th host written. Returns n host numbers (g_free), NULL with
 * an error that names what is wrong.
 */
uint32_t *workload_ranks(const char *text, const struct graph *graph, uint32_t *n, GError **error);

/*
 * Sizes written as "1MB" or "1MB,2MB,64KB": flow k has the (k mod n)-th. `fallback` is the one size
 * where the text is empty. Returns n sizes (g_free), NULL with an error that names what is wrong.
 */
int64_t *workload_sizes(const char *text, int64_t fallback, uint32_t *n, GError **error);

#endif
