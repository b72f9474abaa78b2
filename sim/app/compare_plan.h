/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a comparison scenario asks for beyond an ordinary scenario, as plain data.
 *
 *   [compare]              title, vary (a key such as loss.rate_end_to_end), values (by ';'),
 *                          seeds (run.seed, run.seed + 1, ...)
 *   [case:NAME]            what is played: keys that replace those of the scenario; a plot panel
 * each [variant:NAME]         what is compared: likewise [curve:NAME]           a closed form
 * behind the points: form, window (packets), rto, packet_time
 *
 * Points are numbered case by case, variant by variant, value by value; each is run once a seed.
 */
#ifndef WEFT_SIM_APP_COMPARE_PLAN_H
#define WEFT_SIM_APP_COMPARE_PLAN_H

#include "sim/stats/closed_form.h"
#include <glib.h>
#include <stdint.h>

#define COMPARE_ERROR compare_error_quark()
GQuark compare_error_quark(void);

struct compare_override {
    char *key; /* "group.key" */
    char *value;
};

/* A case or a variant: a name and what it replaces, in the order of the file. */
struct compare_choice {
    char *name;
    GArray *overrides; /* struct compare_override */
};

struct compare_curve {
    char *name;
    const struct closed_form *form;
    struct closed_form_input input;
};

struct compare_plan {
    char *title;
    char *vary;
    GPtrArray *values; /* char *, as typed */
    uint32_t n_seeds;
    GPtrArray *cases, *variants; /* struct compare_choice * */
    GPtrArray *curves;           /* struct compare_curve * */
};

void compare_plan_init(struct compare_plan *plan);
void compare_plan_clear(struct compare_plan *plan);

/* Whether `group` belongs to the comparison and not to the scenario. */
gboolean compare_plan_owns(const char *group);

/* Takes one line of a group that the comparison owns; the error names group, key and value. */
gboolean compare_plan_take(struct compare_plan *plan, const char *group, const char *key,
                           const char *value, GError **error);

/* Checks that all is there; a comparison without cases has one, which replaces nothing. */
gboolean compare_plan_finish(struct compare_plan *plan, GError **error);

/* The plan as compare_plan_take() would read it, appended to the text of a scenario. */
void compare_plan_write(const struct compare_plan *plan, GString *text);

/* A point's place on the three axes. */
struct compare_place {
    uint32_t case_, variant, value;
};

uint32_t compare_plan_n_points(const struct compare_plan *plan);
struct compare_place compare_plan_place(const struct compare_plan *plan, uint32_t point);
const struct compare_choice *compare_plan_case(const struct compare_plan *plan, uint32_t index);
const struct compare_choice *compare_plan_variant(const struct compare_plan *plan, uint32_t index);
const char *compare_plan_value(const struct compare_plan *plan, uint32_t index);

#endif
