/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seams a scenario chooses from by name (topologies, workloads, transports) seen as one: what
 * is called how and has which parameters. Scenario, `list` and `params` walk them alike.
 */
#ifndef WEFT_SIM_APP_KINDS_H
#define WEFT_SIM_APP_KINDS_H

#include "sim/core/param.h"
#include <stdbool.h>

struct kind {
    const char *name, *summary, *source;
    size_t config_size;
    const struct param *params;
    const void *ops; /* struct topology_ops, workload_ops or transport_ops */
};

struct seam {
    const char *group;  /* of a scenario: "topology" */
    const char *plural; /* for people and for files: "topologies" */
    const char *key;    /* that names the kind: "kind" */
    /* Kind number `index`; false past the last. */
    bool (*at)(int index, struct kind *kind);
};

#define KINDS_N_SEAMS 3
extern const struct seam kinds_seams[KINDS_N_SEAMS]; /* topology, workload, transport */

/* The seam whose group is called so, or NULL. */
const struct seam *kinds_seam(const char *group);

bool kinds_find(const struct seam *seam, const char *name, struct kind *kind);

/* All names; g_free the array, not the names. */
const char **kinds_names(const struct seam *seam, size_t *n);

/* Whether any kind of the seam has such a parameter. */
bool kinds_any_has(const struct seam *seam, const char *key);

#endif
