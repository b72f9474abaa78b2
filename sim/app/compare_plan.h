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

#include "sim/app/choice.h"
#include "sim/stats/closed_form.h"

#define COMPARE_ERROR compare_error_quark()
GQuark compare_error_quark(void);

struct compare_curve {
    char *name;
    const struct closed_form *form;
    struct closed_form_input input;
};

#define COMPARE_MAX_SEEDS 1000

struct compare_plan {
    char *title;
    char *vary;
    GPtrArray *values; /* char *, as typed */
    uint32_t n_seeds;
    GPtrArray *cases, *variants; /* struct choice * */
    GPtrArray *curves;           /* struct compare_curve * */
};

void compare_plan_init(struct compare_plan *plan);
void compare_plan_clear(struct compare_plan *plan);

/* Reads the groups above from a scenario, which has to outlive the plan, and checks that all is
 * there. A comparison without cases has one, which replaces nothing. */
gboolean compare_plan_read(struct compare_plan *plan, const struct scenario *scenario,
                           GError **error);

/* The two halves of that: takes one line of a group of the comparison, and checks the whole. */
gboolean compare_plan_take(struct compare_plan *plan, const struct scenario_entry *entry,
                           GError **error);
gboolean compare_plan_finish(struct compare_plan *plan, GError **error);

/*
 * The whole as a key file in which nothing is left to defaults; compare_plan_read() reads it back.
 * `base`, `cases` and `variants` are resolved scenarios (scenario_text()): what holds for all, one
 * a case (with the first variant) and one a variant (with the first case). A group that one axis
 * touches goes, with every key, into each choice of that axis, and of the base's there remains the
 * kind; a group that both axes touch is written as it was given. g_free.
 */
char *compare_plan_text(const struct compare_plan *plan, const char *base, const char *const *cases,
                        const char *const *variants);

/* A point's place on the three axes. */
struct compare_place {
    uint32_t case_, variant, value;
};

uint32_t compare_plan_n_points(const struct compare_plan *plan);
struct compare_place compare_plan_place(const struct compare_plan *plan, uint32_t point);
const struct choice *compare_plan_case(const struct compare_plan *plan, uint32_t index);
const struct choice *compare_plan_variant(const struct compare_plan *plan, uint32_t index);
const char *compare_plan_value(const struct compare_plan *plan, uint32_t index);

#endif
