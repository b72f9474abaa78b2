/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Named choices of a comparison or a sweep: [case:NAME] and [variant:NAME], each a list of keys
 * that replace those of the scenario.
 */
#ifndef WEFT_SIM_APP_CHOICE_H
#define WEFT_SIM_APP_CHOICE_H

#include "sim/app/scenario.h"

/* A name and what it replaces, in the order of the file. */
struct choice {
    char *name;
    GPtrArray *overrides; /* const struct scenario_entry *, whose key is "group.key"; borrowed */
};

/* A list of them: struct choice *. */
GPtrArray *choices_new(void);
struct choice *choices_add(GPtrArray *choices, const char *name);

/* Takes one line of a group whose name ends with the choice's name. */
gboolean choices_take(GPtrArray *choices, const char *name, const struct scenario_entry *entry,
                      GError **error);

/* Lays the choice on top of a scenario. */
gboolean choice_apply(struct scenario *scenario, const struct choice *choice, GError **error);

#endif
