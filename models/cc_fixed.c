/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fixed window: hears nothing, changes nothing. */
#include "models/cc.h"

static void derive(const struct cc_config *config, int64_t line_bps, struct cc_rule *rule)
{
    (void)config;
    (void)line_bps;
    (void)rule;
}

static void start(const struct cc_rule *rule, struct cc *cc)
{
    *cc = (struct cc){.window = rule->initial};
}

const struct cc_ops cc_fixed = {
    .name = "fixed",
    .summary = "A fixed window.",
    .source = "our choice",
    .derive = derive,
    .start = start,
};
