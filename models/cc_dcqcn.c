/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DCQCN's reaction point, as ConnectX NICs have it. Nothing happens before the first CNP: the rate
 * is the line's.
 *
 *   first CNP          alpha = initial_alpha, target = rate; the alpha and decrease clocks start
 *   every alpha_timer  alpha = (1 - g) alpha, and + g if a CNP has come since the last time
 *   every decrease_interval, if a CNP has come since the last time (0: at each CNP at once)
 *                      target = rate, rate = rate (1 - alpha / 2), T = BC = 0, increase clocks anew
 *   every increase_timer and every byte_counter bytes sent, T or BC counting those since the cut
 *                      target += 0 while max(T, BC) < F (fast recovery); else
 *                                HAI if min(T, BC) > F (hyper increase); else AI (additive)
 *                      rate = (rate + target) / 2; then T or BC counts one more
 *
 * Without byte counter max and min are T. F increases are fast recovery, as in HPCC's code and in
 * the fluid model (the paper's prose counts before it compares: one less). Without clamp_target a
 * cut sets the target only if the rate was increased since the one before.
 *
 * No event per tick: what has elapsed is applied when the rate is next read or a CNP comes, tick by
 * tick in the order of time; alpha matters to cuts alone and is brought up to date for them. A tick
 * of this very instant has not happened yet, since timers come last within an instant; of one
 * instant's ticks alpha is first and the increase last. Rates are whole bit/s, alpha is in 2^-30.
 *
 * Leaves out: rpg_gd, rate_on_first_cnp, the hold of the target in the first cycles of QCN.
 * Source: Zhu et al., SIGCOMM 2015, 3.1 and algorithm 1; HPCC's rdma-hw.cc (SOURCES.md 3.1, 3.2).
 */
#include "models/cc.h"
#include "sim/core/units.h"

#define ALPHA_BITS 30
#define ALPHA_ONE  (UINT32_C(1) << ALPHA_BITS)
#define NEVER      INT64_MAX
#define STAGE_MOST 65535 /* stages count no further: far above any threshold */

struct dcqcn {
    int64_t target_bps;
    int64_t alpha_due_ps, decrease_due_ps, increase_due_ps; /* next ticks */
    int64_t n_bytes;                                        /* since the byte counter's last */
    uint32_t alpha;
    uint16_t time_stage, byte_stage;
    bool cnp_for_alpha, cnp_for_cut; /* one has come since the last tick of that clock */
};
G_STATIC_ASSERT(sizeof(struct dcqcn) <= CC_STATE_BYTES);

/* --- increase --------------------------------------------------------------------------------- */

static void increase(const struct cc_dcqcn_rule *rule, struct cc *cc, struct dcqcn *state)
{
    uint32_t bytes = rule->byte_counter ? state->byte_stage : state->time_stage;
    uint32_t most = MAX(state->time_stage, bytes), least = MIN(state->time_stage, bytes);

    if (most >= rule->threshold)
        state->target_bps += least > rule->threshold ? rule->hai_bps : rule->ai_bps;
    if (state->target_bps > rule->line_bps)
        state->target_bps = rule->line_bps;
    cc->rate_bps = (cc->rate_bps + state->target_bps + 1) / 2;
}

/* The timer's ticks before `now_ps`. */
static void increase_by_time(const struct cc_dcqcn_rule *rule, struct cc *cc, struct dcqcn *state,
                             int64_t now_ps)
{
    while (state->increase_due_ps < now_ps) {
        if (cc->rate_bps == rule->line_bps) { /* nothing moves any more: all of them at once */
            int64_t n = (now_ps - 1 - state->increase_due_ps) / rule->increase_timer_ps + 1;

            state->increase_due_ps += n * rule->increase_timer_ps;
            state->time_stage = (uint16_t)MIN(state->time_stage + n, STAGE_MOST);
            return;
        }
        increase(rule, cc, state);
        if (state->time_stage < STAGE_MOST)
            state->time_stage++;
        state->increase_due_ps += rule->increase_timer_ps;
    }
}

static void increase_by_bytes(const struct cc_dcqcn_rule *rule, struct cc *cc, struct dcqcn *state,
                              int64_t bytes)
{
    state->n_bytes += bytes;
    while (state->n_bytes >= rule->byte_counter) {
        state->n_bytes -= rule->byte_counter;
        increase(rule, cc, state);
        if (state->byte_stage < STAGE_MOST)
            state->byte_stage++;
    }
}

/* --- alpha and decrease ----------------------------------------------------------------------- */

static inline uint32_t part_of(uint32_t alpha, uint32_t gain)
{
    return (uint32_t)((uint64_t)alpha * gain >> ALPHA_BITS);
}

/* The alpha clock's ticks before `now_ps`; those that change nothing are passed over. */
static void update_alpha(const struct cc_dcqcn_rule *rule, struct dcqcn *state, int64_t now_ps)
{
    while (state->alpha_due_ps < now_ps) {
        uint32_t less = part_of(state->alpha, rule->gain);

        if (less == 0 && !state->cnp_for_alpha) {
            state->alpha_due_ps += ((now_ps - 1 - state->alpha_due_ps) / rule->alpha_timer_ps + 1) *
                                   rule->alpha_timer_ps;
            return;
        }
        state->alpha -= less;
        if (state->cnp_for_alpha)
            state->alpha += rule->gain;
        state->cnp_for_alpha = false;
        state->alpha_due_ps += rule->alpha_timer_ps;
    }
}

static void cut(const struct cc_dcqcn_rule *rule, struct cc *cc, struct dcqcn *state,
                int64_t now_ps)
{
    if (rule->clamp_target || state->time_stage + state->byte_stage > 0)
        state->target_bps = cc->rate_bps;
    cc->rate_bps -=
        (int64_t)((unsigned __int128)(uint64_t)cc->rate_bps * state->alpha >> (ALPHA_BITS + 1));
    if (cc->rate_bps < rule->min_bps)
        cc->rate_bps = rule->min_bps;
    state->time_stage = state->byte_stage = 0;
    state->n_bytes = 0;
    state->increase_due_ps = now_ps + rule->increase_timer_ps;
}

/* Rate and target as they are at `now_ps`. */
static void catch_up(const struct cc_dcqcn_rule *rule, struct cc *cc, struct dcqcn *state,
                     int64_t now_ps)
{
    int64_t cut_ps = state->decrease_due_ps;

    if (state->cnp_for_cut && cut_ps < now_ps) {
        increase_by_time(rule, cc, state, cut_ps);
        update_alpha(rule, state, cut_ps + 1);
        cut(rule, cc, state, cut_ps);
        state->cnp_for_cut = false;
        state->decrease_due_ps += rule->decrease_interval_ps;
    }
    increase_by_time(rule, cc, state, now_ps);
}

/* --- the seam --------------------------------------------------------------------------------- */

static void first_cnp(const struct cc_dcqcn_rule *rule, struct cc *cc, struct dcqcn *state,
                      int64_t now_ps)
{
    state->alpha = rule->initial_alpha;
    state->target_bps = cc->rate_bps;
    state->alpha_due_ps = now_ps + rule->alpha_timer_ps;
    state->decrease_due_ps = now_ps + rule->decrease_interval_ps;
}

static void notified(const struct cc_rule *cc_rule, struct cc *cc, int64_t now_ps)
{
    const struct cc_dcqcn_rule *rule = &cc_rule->dcqcn;
    struct dcqcn *state = CC_STATE(struct dcqcn, cc);

    if (state->alpha_due_ps == NEVER) {
        first_cnp(rule, cc, state, now_ps);
    } else {
        catch_up(rule, cc, state, now_ps);
        update_alpha(rule, state, now_ps);
        state->cnp_for_alpha = true;
    }
    if (rule->decrease_interval_ps == 0) {
        cut(rule, cc, state, now_ps);
        return;
    }
    if (state->decrease_due_ps < now_ps) /* looks that found nothing */
        state->decrease_due_ps +=
            ((now_ps - 1 - state->decrease_due_ps) / rule->decrease_interval_ps + 1) *
            rule->decrease_interval_ps;
    state->cnp_for_cut = true;
}

static void sent(const struct cc_rule *cc_rule, struct cc *cc, int64_t now_ps, int64_t bytes)
{
    const struct cc_dcqcn_rule *rule = &cc_rule->dcqcn;
    struct dcqcn *state = CC_STATE(struct dcqcn, cc);

    if (state->alpha_due_ps == NEVER)
        return;
    catch_up(rule, cc, state, now_ps);
    if (rule->byte_counter && state->increase_due_ps != NEVER)
        increase_by_bytes(rule, cc, state, bytes);
}

static void start(const struct cc_rule *rule, struct cc *cc)
{
    *cc = (struct cc){.window = rule->initial, .rate_bps = rule->dcqcn.line_bps};
    *CC_STATE(struct dcqcn, cc) = (struct dcqcn){.target_bps = rule->dcqcn.line_bps,
                                                 .alpha_due_ps = NEVER,
                                                 .decrease_due_ps = NEVER,
                                                 .increase_due_ps = NEVER};
}

/* --- parameter sets; their sources are in the rows of CC_PARAMS ------------------------------- */

#define US   INT64_C(1000000) /* in ps */
#define MBPS INT64_C(1000000)

struct set {
    int64_t cnp_interval, alpha_timer, g, initial_alpha, decrease_interval;
    int64_t increase_timer, byte_counter, threshold, ai, hai, min_rate, clamp_target;
    bool scaled; /* AI and HAI are those of 25 Gb/s */
};

static const struct set sets[] = {
    {/* sigcomm15 */
     .cnp_interval = 50 * US,
     .alpha_timer = 55 * US,
     .g = UNITS_PPT / 256,
     .initial_alpha = UNITS_PPT,
     .decrease_interval = 0,
     .increase_timer = 55 * US,
     .byte_counter = 10000000,
     .threshold = 5,
     .ai = 40 * MBPS,
     .hai = 200 * MBPS,
     .min_rate = 10 * MBPS,
     .clamp_target = 1},
    {/* hpcc */
     .cnp_interval = 0,
     .alpha_timer = 1 * US,
     .g = UNITS_PPT / 256,
     .initial_alpha = UNITS_PPT,
     .decrease_interval = 4 * US,
     .increase_timer = 300 * US,
     .byte_counter = 0,
     .threshold = 1,
     .ai = 5 * MBPS,
     .hai = 50 * MBPS,
     .min_rate = 1000 * MBPS,
     .clamp_target = 0,
     .scaled = true},
    {/* connectx */
     .cnp_interval = 4 * US,
     .alpha_timer = 1 * US,
     .g = UNITS_PPT / 1024 * 5,
     .initial_alpha = UNITS_PPT / 1024 * 1023,
     .decrease_interval = 4 * US,
     .increase_timer = 300 * US,
     .byte_counter = 32767,
     .threshold = 1,
     .ai = 5 * MBPS,
     .hai = 50 * MBPS,
     .min_rate = 1 * MBPS,
     .clamp_target = 0},
};

static int64_t or_set(int64_t value, int64_t of_set)
{
    return value == PARAM_AUTO ? of_set : value;
}

static int64_t scale(const struct set *set, int64_t rate_bps, int64_t line_bps)
{
    return set->scaled ? (int64_t)((__int128)rate_bps * line_bps / INT64_C(25000000000)) : rate_bps;
}

static uint32_t to_alpha(int64_t ratio)
{
    return (uint32_t)(((__int128)ratio * ALPHA_ONE + UNITS_PPT / 2) / UNITS_PPT);
}

static void derive(const struct cc_config *config, int64_t line_bps, struct cc_rule *cc_rule)
{
    const struct set *set = &sets[config->dcqcn_set];

    cc_rule->notify_interval_ps = or_set(config->cnp_interval, set->cnp_interval);
    cc_rule->dcqcn = (struct cc_dcqcn_rule){
        .line_bps = line_bps,
        .min_bps = MIN(or_set(config->dcqcn_min_rate, set->min_rate), line_bps),
        .ai_bps = or_set(config->dcqcn_ai, scale(set, set->ai, line_bps)),
        .hai_bps = or_set(config->dcqcn_hai, scale(set, set->hai, line_bps)),
        .alpha_timer_ps = or_set(config->dcqcn_alpha_timer, set->alpha_timer),
        .decrease_interval_ps = or_set(config->dcqcn_decrease_interval, set->decrease_interval),
        .increase_timer_ps = or_set(config->dcqcn_increase_timer, set->increase_timer),
        .byte_counter = or_set(config->dcqcn_byte_counter, set->byte_counter),
        .gain = to_alpha(or_set(config->dcqcn_g, set->g)),
        .initial_alpha = to_alpha(or_set(config->dcqcn_initial_alpha, set->initial_alpha)),
        .threshold = (uint32_t)or_set(config->dcqcn_threshold, set->threshold),
        .clamp_target = or_set(config->dcqcn_clamp_target, set->clamp_target) != 0,
    };
}

const struct cc_ops cc_dcqcn = {
    .name = "dcqcn",
    .summary = "DCQCN: a rate cut by congestion notifications, regained by timer and byte counter.",
    .source = "Zhu et al., SIGCOMM 2015; HPCC's rdma-hw.cc",
    .derive = derive,
    .start = start,
    .notified = notified,
    .sent = sent,
};
