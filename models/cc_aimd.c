/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Window AIMD on ECN echo.
 *   each acknowledged packet, if the window was what held the sender back: w += increase / w
 *   alpha = (1 - g) alpha + g F once per window, F the share of marked packets
 *   a mark, at most once per window: w = w (1 - alpha / 2), or w / 2
 *   a loss, if it counts as congestion, at most once per window: w = w / 2
 *   a timeout: w = least
 * The increase and the cut are conventional; MetaRoCE publishes "ECN-based AIMD" without constants.
 * Source: DCTCP (Alizadeh et al., SIGCOMM 2010), equations 1 and 2. Fixed point: window in 1/65536
 * packet, alpha in parts per trillion; no floating point.
 */
#include "models/cc.h"
#include "sim/core/units.h"

static void clamp(const struct cc_rule *rule, struct cc *cc)
{
    if (cc->window < rule->least)
        cc->window = rule->least;
    if (cc->window > rule->most)
        cc->window = rule->most;
}

static void begin_observation(struct cc *cc)
{
    cc->n_acked = cc->n_marked = 0;
    cc->window_packets = (cc->window + CC_ONE - 1) / CC_ONE;
}

static void start(const struct cc_rule *rule, struct cc *cc)
{
    *cc = (struct cc){.window = rule->initial, .alpha = UNITS_PPT};
    begin_observation(cc);
}

/* Cuts the window and lets one window of acknowledgements pass before the next cut. */
static void cut(const struct cc_rule *rule, struct cc *cc, int64_t share_ppt)
{
    if (cc->hold > 0)
        return;
    cc->hold = (cc->window + CC_ONE - 1) / CC_ONE;
    cc->window -= (int64_t)((__int128)cc->window * share_ppt / UNITS_PPT);
    clamp(rule, cc);
}

static void heard(const struct cc_rule *rule, struct cc *cc, const struct cc_ack *ack)
{
    cc->n_acked += ack->n_acked;
    cc->n_marked += ack->n_marked;
    cc->hold = cc->hold > ack->n_acked ? cc->hold - ack->n_acked : 0;
    if (cc->n_acked >= cc->window_packets && cc->n_acked > 0) {
        int64_t marked = cc->n_marked < cc->n_acked ? cc->n_marked : cc->n_acked;
        int64_t share = (int64_t)((__int128)marked * UNITS_PPT / cc->n_acked);

        cc->alpha += (int64_t)((__int128)(share - cc->alpha) * rule->gain / UNITS_PPT);
        begin_observation(cc);
    }
    if (ack->n_marked > 0) {
        cut(rule, cc, rule->halve ? UNITS_PPT / 2 : cc->alpha / 2);
    } else if (ack->was_limited) {
        cc->window += ack->n_acked * rule->increase * CC_ONE / cc->window;
        clamp(rule, cc);
    }
}

static void lost(const struct cc_rule *rule, struct cc *cc)
{
    if (rule->loss_halves)
        cut(rule, cc, UNITS_PPT / 2);
}

static void timeout(const struct cc_rule *rule, struct cc *cc)
{
    cc->window = rule->least;
    cc->hold = 0;
    begin_observation(cc);
}

const struct cc_ops cc_aimd = {
    .name = "aimd",
    .summary = "Additive increase, and a decrease by the average share of marked packets.",
    .source = "DCTCP, SIGCOMM 2010; constants: facts.md 1.5",
    .start = start,
    .heard = heard,
    .lost = lost,
    .timeout = timeout,
};
