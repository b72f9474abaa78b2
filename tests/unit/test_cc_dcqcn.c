/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DCQCN's reaction point: traces worked out by hand, and its laziness against plain events. */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "models/cc.h"
#include "sim/core/random.h"
#include "sim/core/units.h"
#include <string.h>

#define US   INT64_C(1000000)
#define GBPS INT64_C(1000000000)
#define LINE (40 * GBPS)

struct holder { /* a transport's configuration, as far as congestion control goes */
    struct cc_config cc;
};
static const struct param table[] = {CC_PARAMS(struct holder), PARAM_END};

struct point {
    struct cc_rule rule;
    CC_WITH_STATE(CC_STATE_BYTES);
};

/* Starts a reaction point with parameters "key=value;...". */
static void begin(struct point *point, int64_t line_bps, const char *settings)
{
    g_auto(GStrv) all = g_strsplit(settings, ";", -1);
    struct holder holder;

    param_defaults(table, &holder);
    for (int i = 0; all[i]; i++) {
        g_auto(GStrv) pair = g_strsplit(all[i], "=", 2);

        if (!param_set(param_find(table, pair[0]), &holder, pair[1], NULL))
            fail_msg("%s", all[i]);
    }
    memset(point, 0, sizeof *point);
    point->rule.initial = 7 * CC_ONE;
    cc_dcqcn.derive(&holder.cc, line_bps, &point->rule);
    cc_dcqcn.start(&point->rule, &point->cc);
}

static int64_t rate_at(struct point *point, int64_t now_ps)
{
    cc_dcqcn.sent(&point->rule, &point->cc, now_ps, 0);
    return point->cc.rate_bps;
}

static void cnp(struct point *point, int64_t now_ps)
{
    cc_dcqcn.notified(&point->rule, &point->cc, now_ps);
}

static void starts_at_line_rate_and_stays_without_cnp(void **state)
{
    struct point point;

    (void)state;
    begin(&point, LINE, "dcqcn_set=connectx");
    assert_int_equal(point.cc.window, 7 * CC_ONE);
    assert_int_equal(rate_at(&point, 1000 * US), LINE);
    cc_dcqcn.sent(&point.rule, &point.cc, 2000 * US, 1 << 30);
    assert_int_equal(point.cc.rate_bps, LINE);
}

/*
 * sigcomm15 by hand at 40G, F = 5: alpha 1, so the first CNP halves at once: 20G, target 40G. Then
 * a timer tick every 55 us halves the distance (five times), the sixth adds 40M to a target that is
 * the line's already.
 */
static void fast_recovery_of_the_paper(void **state)
{
    static const int64_t rates[] = {30000000000, 35000000000, 37500000000, 38750000000,
                                    39375000000, 39687500000, 39843750000};
    struct point point;

    (void)state;
    begin(&point, LINE, "dcqcn_set=sigcomm15");
    cnp(&point, 10 * US);
    assert_int_equal(point.cc.rate_bps, 20 * GBPS);
    for (int64_t i = 0; i < (int64_t)G_N_ELEMENTS(rates); i++) {
        int64_t tick_ps = (10 + 55 * (i + 1)) * US;

        assert_int_equal(rate_at(&point, tick_ps), i ? rates[i - 1] : 20 * GBPS); /* not yet */
        assert_int_equal(rate_at(&point, tick_ps + 1), rates[i]);
    }
}

/*
 * A second CNP 50 us after the first: no alpha tick between (55 us), so alpha is 1 and 20G becomes
 * 10G; clamp sets the target to 20G. The alpha clock ticks at 55, 110 and 165 us: with a CNP (of
 * 50 us), without, without. A CNP at 170 us cuts with alpha = (255/256)^2 (1 exactly stays 1 with
 * g + (1 - g)): two increases have brought 10G to 15G (105 us) and 17.5G (160 us).
 */
static void second_cut_clamps_the_target(void **state)
{
    struct point point;

    (void)state;
    begin(&point, LINE, "dcqcn_set=sigcomm15");
    cnp(&point, 0);
    cnp(&point, 50 * US);
    assert_int_equal(point.cc.rate_bps, 10 * GBPS);
    assert_int_equal(rate_at(&point, 161 * US), 17500000000);
    cnp(&point, 170 * US);
    /* 17.5e9 (1 - 65025/131072): alpha and the cut are exact in 2^-30, the rate in bit/s */
    assert_int_equal(point.cc.rate_bps, 17500000000 - (17500000000 * 65025) / 131072);
    /* the target is 17.5G now */
    int64_t cut_bps = point.cc.rate_bps;

    assert_int_equal(rate_at(&point, 226 * US), (cut_bps + 17500000000 + 1) / 2);
}

/* hpcc: F = 1, no byte counter: T = 0 recovers, T = 1 adds AI, T >= 2 adds HAI; 8M and 80M at 40G.
 * The cut waits for the look after 4 us, three alpha ticks and one at that instant later. */
static void stages_and_periodic_cuts_of_hpcc(void **state)
{
    struct point point;
    int64_t target = 40 * GBPS, rate;
    uint32_t alpha = 1 << 30;

    (void)state;
    begin(&point, LINE, "dcqcn_set=hpcc");
    assert_int_equal(point.rule.dcqcn.ai_bps, 8000000);
    assert_int_equal(point.rule.dcqcn.hai_bps, 80000000);
    cnp(&point, 0);
    cnp(&point, 3 * US); /* no second cut; the alpha tick at 3 us, which comes after, sees it */
    assert_int_equal(rate_at(&point, 4 * US), LINE);
    for (int i = 0; i < 4; i++)
        alpha = alpha - (alpha >> 8) + (i == 2 ? 1 << 22 : 0);
    rate = LINE - (int64_t)((unsigned __int128)LINE * alpha >> 31);
    assert_int_equal(rate_at(&point, 4 * US + 1), rate);
    assert_int_equal(rate_at(&point, 300 * US), rate);
    cnp(&point, 301 * US); /* the look at 304 us is also the increase's time: the cut comes first */
    for (int i = 4; i < 304; i++)
        alpha = alpha - (alpha >> 8) + (i == 300 ? 1 << 22 : 0);
    rate -= (int64_t)((unsigned __int128)rate * alpha >> 31);
    assert_int_equal(rate_at(&point, 305 * US), rate);
    /* no increase since the first cut and no clamp: the target is still the line's */
    rate = (rate + target + 1) / 2;
    assert_int_equal(rate_at(&point, 605 * US), rate);
    cnp(&point, 605 * US); /* cut at 608 us, after an increase: the target follows */
    for (int i = 304; i < 608; i++)
        alpha = alpha - (uint32_t)((uint64_t)alpha >> 8) + (i == 604 ? 1 << 22 : 0);
    target = rate;
    rate -= (int64_t)((unsigned __int128)rate * alpha >> 31);
    assert_int_equal(rate_at(&point, 609 * US), rate);
    for (int tick = 0; tick < 5; tick++) {
        target += tick == 0 ? 0 : tick == 1 ? 8000000 : 80000000;
        rate = (rate + target + 1) / 2;
        assert_int_equal(rate_at(&point, (608 + 300 * (tick + 1)) * US + 1), rate);
    }
}

/* Both clocks: fast recovery while max(T, BC) < F = 1, hyper only when min(T, BC) > 1. */
static void byte_counter_and_timer_together(void **state)
{
    struct point point;
    int64_t target = 10 * GBPS, rate;

    (void)state;
    begin(&point, 10 * GBPS,
          "dcqcn_set=connectx;dcqcn_byte_counter=1000B;dcqcn_initial_alpha=1;dcqcn_g=0;"
          "dcqcn_decrease_interval=0ps;dcqcn_ai=1kbps;dcqcn_hai=1Mbps;dcqcn_clamp_target=on");
    cnp(&point, 0);
    cnp(&point, 0); /* 2.5G, target 5G: room above it */
    target = 5 * GBPS;
    rate = target / 2;
    assert_int_equal(point.cc.rate_bps, rate);
    const int64_t adds[] = {0, 1000, 1000}; /* BC = 0, 1, 2 and T = 0 */

    for (int i = 0; i < 3; i++) {
        cc_dcqcn.sent(&point.rule, &point.cc, US, 1000);
        target += adds[i];
        rate = (rate + target + 1) / 2;
        assert_int_equal(point.cc.rate_bps, rate);
    }
    const int64_t by_time[] = {1000, 1000, 1000000}; /* BC = 3 and T = 0, 1, 2 */

    for (int i = 0; i < 3; i++) {
        target += by_time[i];
        rate = (rate + target + 1) / 2;
        assert_int_equal(rate_at(&point, 300 * US * (i + 1) + 1), rate);
    }
    /* 999 B and 1 B make one tick more, 2,500 B two; what is left over counts on */
    for (int i = 0; i < 3; i++) {
        target += 1000000;
        rate = (rate + target + 1) / 2;
    }
    cc_dcqcn.sent(&point.rule, &point.cc, 901 * US, 999);
    cc_dcqcn.sent(&point.rule, &point.cc, 901 * US, 1);
    cc_dcqcn.sent(&point.rule, &point.cc, 901 * US, 2500);
    assert_int_equal(point.cc.rate_bps, rate);
    cc_dcqcn.sent(&point.rule, &point.cc, 901 * US, 500);
    assert_int_equal(point.cc.rate_bps, (rate + target + 1000000 + 1) / 2);
}

static void least_and_most_rate(void **state)
{
    struct point point;

    (void)state;
    begin(&point, LINE, "dcqcn_set=sigcomm15;dcqcn_min_rate=3Gbps;dcqcn_hai=100Gbps");
    for (int i = 0; i < 10; i++)
        cnp(&point, i * US);
    assert_int_equal(point.cc.rate_bps, 3 * GBPS);
    assert_int_equal(rate_at(&point, 1000000 * US), LINE);
    begin(&point, LINE, "dcqcn_set=sigcomm15;dcqcn_min_rate=100Gbps");
    cnp(&point, 0); /* a least rate above the line's is the line's */
    assert_int_equal(point.cc.rate_bps, LINE);
}

/* --- sets ------------------------------------------------------------------------------------- */

static void sets_are_those_of_the_fact_sheet(void **state)
{
    struct point point;
    const struct cc_dcqcn_rule *rule = &point.rule.dcqcn;

    (void)state;
    begin(&point, 100 * GBPS, "dcqcn_set=hpcc"); /* SOURCES.md 3.2: AI/HAI 20/200 Mb/s at 100G */
    assert_int_equal(rule->ai_bps, 20000000);
    assert_int_equal(rule->hai_bps, 200000000);
    assert_int_equal(rule->min_bps, GBPS);
    assert_int_equal(rule->gain, 1 << 22);
    assert_int_equal(rule->byte_counter, 0);
    assert_int_equal(point.rule.notify_interval_ps, 0);
    begin(&point, 400 * GBPS, "dcqcn_set=hpcc");
    assert_int_equal(rule->ai_bps, 80000000);
    begin(&point, 1600 * GBPS, "dcqcn_set=connectx");
    assert_int_equal(rule->ai_bps, 5000000); /* not scaled */
    assert_int_equal(rule->byte_counter, 32767);
    assert_int_equal(rule->gain, (5 << 20)); /* 5 / 1024 */
    assert_int_equal(rule->initial_alpha, 1023 << 20);
    assert_int_equal(rule->alpha_timer_ps, US);
    assert_int_equal(rule->decrease_interval_ps, 4 * US);
    assert_int_equal(rule->increase_timer_ps, 300 * US);
    assert_int_equal(rule->threshold, 1);
    begin(&point, 40 * GBPS, "dcqcn_set=sigcomm15");
    assert_int_equal(rule->ai_bps, 40000000);
    assert_int_equal(rule->byte_counter, 10000000);
    assert_int_equal(rule->threshold, 5);
    assert_true(rule->clamp_target);
    assert_int_equal(point.rule.notify_interval_ps, 50 * US);
}

static void one_parameter_overrides_its_set(void **state)
{
    struct point point;

    (void)state;
    begin(&point, LINE,
          "dcqcn_set=sigcomm15;dcqcn_threshold=0;dcqcn_clamp_target=off;dcqcn_ai=auto");
    assert_int_equal(point.rule.dcqcn.threshold, 0);
    assert_false(point.rule.dcqcn.clamp_target);
    assert_int_equal(point.rule.dcqcn.ai_bps, 40000000);
    assert_int_equal(point.rule.dcqcn.increase_timer_ps, 55 * US);
}

static void the_list_is_whole(void **state)
{
    g_auto(GStrv) names = g_strsplit(param_find(table, "cc")->choices, "|", -1);
    struct cc_ops broken = cc_dcqcn;
    int i;

    (void)state;
    for (i = 0; cc_list[i]; i++) {
        assert_null(cc_fault(cc_list[i]));
        assert_string_equal(cc_list[i]->name, names[i]);
    }
    assert_null(names[i]);
    broken.sent = NULL;
    assert_non_null(cc_fault(&broken));
    broken = cc_dcqcn;
    broken.derive = NULL;
    assert_non_null(cc_fault(&broken));
    broken = cc_dcqcn;
    broken.name = NULL;
    assert_non_null(cc_fault(&broken));
}

/* --- against plain events --------------------------------------------------------------------- */

struct plain { /* the same machine, one event per tick of each clock */
    const struct cc_dcqcn_rule *rule;
    int64_t rate, target, alpha_ps, decrease_ps, increase_ps, bytes;
    uint32_t alpha;
    int time_stage, byte_stage;
    bool begun, has_cut, cnp_alpha, cnp_cut;
};

static void plain_increase(struct plain *plain)
{
    const struct cc_dcqcn_rule *rule = plain->rule;
    int bytes = rule->byte_counter ? plain->byte_stage : plain->time_stage;
    int most = MAX(plain->time_stage, bytes), least = MIN(plain->time_stage, bytes);

    if (most >= (int)rule->threshold)
        plain->target += least > (int)rule->threshold ? rule->hai_bps : rule->ai_bps;
    plain->target = MIN(plain->target, rule->line_bps);
    plain->rate = (plain->rate + plain->target + 1) / 2;
}

static void plain_cut(struct plain *plain, int64_t now_ps)
{
    if (plain->rule->clamp_target || plain->time_stage > 0 || plain->byte_stage > 0)
        plain->target = plain->rate;
    plain->rate -= (int64_t)((unsigned __int128)plain->rate * plain->alpha / (UINT64_C(2) << 30));
    plain->rate = MAX(plain->rate, plain->rule->min_bps);
    plain->time_stage = plain->byte_stage = 0;
    plain->bytes = 0;
    plain->has_cut = true;
    plain->increase_ps = now_ps + plain->rule->increase_timer_ps;
}

static void plain_alpha(struct plain *plain)
{
    uint32_t less = (uint32_t)((uint64_t)plain->alpha * plain->rule->gain >> 30);

    plain->alpha += (plain->cnp_alpha ? plain->rule->gain : 0) - less;
    plain->cnp_alpha = false;
    plain->alpha_ps += plain->rule->alpha_timer_ps;
}

/* All timers before `now_ps`, one by one: alpha, decrease, increase within an instant. */
static void plain_run(struct plain *plain, int64_t now_ps)
{
    while (plain->begun) {
        bool cuts = plain->rule->decrease_interval_ps > 0;
        int64_t at_ps = MIN(plain->alpha_ps, plain->has_cut ? plain->increase_ps : INT64_MAX);

        at_ps = MIN(at_ps, cuts ? plain->decrease_ps : INT64_MAX);
        if (at_ps >= now_ps)
            return;
        if (at_ps == plain->alpha_ps) {
            plain_alpha(plain);
        } else if (cuts && at_ps == plain->decrease_ps) {
            if (plain->cnp_cut)
                plain_cut(plain, at_ps);
            plain->cnp_cut = false;
            plain->decrease_ps += plain->rule->decrease_interval_ps;
        } else {
            plain_increase(plain);
            plain->time_stage++;
            plain->increase_ps += plain->rule->increase_timer_ps;
        }
    }
}

static void plain_cnp(struct plain *plain, int64_t now_ps)
{
    plain_run(plain, now_ps);
    if (!plain->begun) {
        plain->begun = true;
        plain->alpha = plain->rule->initial_alpha;
        plain->target = plain->rate;
        plain->alpha_ps = now_ps + plain->rule->alpha_timer_ps;
        plain->decrease_ps = now_ps + plain->rule->decrease_interval_ps;
    } else {
        plain->cnp_alpha = true;
    }
    if (plain->rule->decrease_interval_ps == 0)
        plain_cut(plain, now_ps);
    else
        plain->cnp_cut = true;
}

static void plain_sent(struct plain *plain, int64_t now_ps, int64_t bytes)
{
    plain_run(plain, now_ps);
    if (!plain->has_cut || !plain->rule->byte_counter)
        return;
    for (plain->bytes += bytes; plain->bytes >= plain->rule->byte_counter;) {
        plain->bytes -= plain->rule->byte_counter;
        plain_increase(plain);
        plain->byte_stage++;
    }
}

/* Random packets and CNPs, often on the very instants of ticks; gaps from ns to tens of ms. */
static void compare_with_plain_events(const char *settings, uint64_t seed)
{
    struct random_stream draws = random_stream(seed, RANDOM_LOSS, 0);
    struct point point;
    struct plain plain = {0};
    int64_t now_ps = 0;

    begin(&point, LINE, settings);
    plain.rule = &point.rule.dcqcn;
    plain.rate = plain.rule->line_bps;
    for (int i = 0; i < 3000; i++) {
        uint64_t kind = random_below(&draws, 100);
        int64_t step_ps = kind < 2 ? 20000 * US : kind < 20 ? 300 * US : 5 * US;

        if (kind & 1) /* whole microseconds fall together with ticks */
            now_ps =
                ((now_ps + US - 1) / US + (int64_t)random_below(&draws, (uint64_t)(step_ps / US))) *
                US;
        else
            now_ps += (int64_t)random_below(&draws, (uint64_t)step_ps);
        if (random_below(&draws, 8) == 0) {
            cnp(&point, now_ps);
            plain_cnp(&plain, now_ps);
        } else {
            int64_t bytes = (int64_t)random_below(&draws, 9000);

            cc_dcqcn.sent(&point.rule, &point.cc, now_ps, bytes);
            plain_sent(&plain, now_ps, bytes);
            assert_int_equal(point.cc.rate_bps, plain.rate);
        }
    }
}

static void lazy_clocks_equal_events(void **state)
{
    static const char *const settings[] = {
        "dcqcn_set=sigcomm15",
        "dcqcn_set=hpcc",
        "dcqcn_set=connectx",
        "dcqcn_set=connectx;dcqcn_decrease_interval=0ps",
        "dcqcn_set=connectx;dcqcn_increase_timer=4us;dcqcn_byte_counter=3000B;dcqcn_hai=1Gbps",
        "dcqcn_set=hpcc;dcqcn_increase_timer=2us;dcqcn_alpha_timer=3us;dcqcn_g=0.5",
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
        for (uint64_t seed = 1; seed <= 10; seed++)
            compare_with_plain_events(settings[i], seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_at_line_rate_and_stays_without_cnp),
        cmocka_unit_test(fast_recovery_of_the_paper),
        cmocka_unit_test(second_cut_clamps_the_target),
        cmocka_unit_test(stages_and_periodic_cuts_of_hpcc),
        cmocka_unit_test(byte_counter_and_timer_together),
        cmocka_unit_test(least_and_most_rate),
        cmocka_unit_test(sets_are_those_of_the_fact_sheet),
        cmocka_unit_test(one_parameter_overrides_its_set),
        cmocka_unit_test(the_list_is_whole),
        cmocka_unit_test(lazy_clocks_equal_events),
    };

    return cmocka_run_group_tests_name("cc_dcqcn", tests, NULL, NULL);
}
