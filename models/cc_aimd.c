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

struct aimd {
    int64_t alpha;             /* parts per trillion */
    int64_t n_acked, n_marked; /* in the present observation window */
    int64_t window_packets;    /* length of the observation window, packets */
    int64_t hold;              /* acknowledged packets until the next cut is allowed */
};
G_STATIC_ASSERT(sizeof(struct aimd) <= CC_AIMD_STATE_BYTES);

static void clamp(const struct cc_rule *rule, struct cc *cc)
{
    if (cc->window < rule->least)
        cc->window = rule->least;
    if (cc->window > rule->most)
        cc->window = rule->most;
}

static void begin_observation(const struct cc *cc, struct aimd *state)
{
    state->n_acked = state->n_marked = 0;
    state->window_packets = (cc->window + CC_ONE - 1) / CC_ONE;
}

static void start(const struct cc_rule *rule, struct cc *cc)
{
    *cc = (struct cc){.window = rule->initial};
    *CC_STATE(struct aimd, cc) = (struct aimd){.alpha = UNITS_PPT};
    begin_observation(cc, CC_STATE(struct aimd, cc));
}

/* Cuts the window and lets one window of acknowledgements pass before the next cut. */
static void cut(const struct cc_rule *rule, struct cc *cc, int64_t share_ppt)
{
    struct aimd *state = CC_STATE(struct aimd, cc);

    if (state->hold > 0)
        return;
    state->hold = (cc->window + CC_ONE - 1) / CC_ONE;
    cc->window -= (int64_t)((__int128)cc->window * share_ppt / UNITS_PPT);
    clamp(rule, cc);
}

static void heard(const struct cc_rule *rule, struct cc *cc, const struct cc_ack *ack)
{
    struct aimd *state = CC_STATE(struct aimd, cc);

    state->n_acked += ack->n_acked;
    state->n_marked += ack->n_marked;
    state->hold = state->hold > ack->n_acked ? state->hold - ack->n_acked : 0;
    if (state->n_acked >= state->window_packets && state->n_acked > 0) {
        int64_t marked = state->n_marked < state->n_acked ? state->n_marked : state->n_acked;
        int64_t share = (int64_t)((__int128)marked * UNITS_PPT / state->n_acked);

        state->alpha += (int64_t)((__int128)(share - state->alpha) * rule->gain / UNITS_PPT);
        begin_observation(cc, state);
    }
    if (ack->n_marked > 0) {
        cut(rule, cc, rule->halve ? UNITS_PPT / 2 : state->alpha / 2);
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
    CC_STATE(struct aimd, cc)->hold = 0;
    begin_observation(cc, CC_STATE(struct aimd, cc));
}

const struct cc_ops cc_aimd = {
    .name = "aimd",
    .summary = "Additive increase, and a decrease by the average share of marked packets.",
    .source = "DCTCP, SIGCOMM 2010; constants: SOURCES.md 1.5",
    .start = start,
    .heard = heard,
    .lost = lost,
    .timeout = timeout,
};
