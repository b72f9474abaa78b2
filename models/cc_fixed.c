/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fixed window: hears nothing, changes nothing. Holds the place of DCQCN in RoCEv2. */
#include "models/cc.h"

static void start(const struct cc_rule *rule, struct cc *cc)
{
    *cc = (struct cc){.window = rule->initial};
}

static void heard(const struct cc_rule *rule, struct cc *cc, const struct cc_ack *ack)
{
    (void)rule;
    (void)cc;
    (void)ack;
}

static void unmoved(const struct cc_rule *rule, struct cc *cc)
{
    (void)rule;
    (void)cc;
}

const struct cc_ops cc_fixed = {
    .name = "fixed",
    .summary = "A fixed window.",
    .source = "our choice",
    .start = start,
    .heard = heard,
    .lost = unmoved,
    .timeout = unmoved,
};
