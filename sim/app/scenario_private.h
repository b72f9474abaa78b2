/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of scenario (layers, resolving, writing) share. */
#ifndef WEFT_SIM_APP_SCENARIO_PRIVATE_H
#define WEFT_SIM_APP_SCENARIO_PRIVATE_H

#include "sim/app/scenario.h"

/* [scenario]: title and base. */
struct scenario_head {
    char *title, *base;
};
extern const struct param scenario_head_params[];

struct scenario_walk {
    const char *group; /* only its keys; NULL: all entries, heads of groups (key NULL) included */
    guint layer, next;
};

/* The next entry, from the lowest layer up, or NULL; walk->layer is then its layer. */
const struct scenario_entry *scenario_next(const struct scenario *scenario,
                                           struct scenario_walk *walk);

/* scenario_entry() with the layer in which it stands. */
const struct scenario_entry *scenario_last(const struct scenario *scenario, const char *group,
                                           const char *key, guint *layer);

/* Whether the group belongs to `compare` or `sweep`. */
bool scenario_group_is_raw(const char *group);

/* Whether a parameter is the path of a file: called `file` or `..._file`. */
bool scenario_param_is_path(const struct param *param);

/* Frees what scenario_resolve() made. */
void scenario_unresolve(struct scenario *scenario);

#endif
