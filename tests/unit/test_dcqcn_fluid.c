/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fluid model of DCQCN: its fixed points against the table of SOURCES.md 9.1, and its course.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "sim/stats/dcqcn_fluid.h"
#include "sim/stats/stats.h"
#include <glib.h>
#include <math.h>

/* The setting of SOURCES.md 9.1: 1000 B packets, tau 50 us, tau' and T 55 us, B 10 MB, F 5, 40
 * Mb/s.
 */
static struct dcqcn_fluid paper(double capacity_bps, double n_flows)
{
    return (struct dcqcn_fluid){.capacity_bps = capacity_bps,
                                .least_bps = 10e6,
                                .line_bps = capacity_bps,
                                .n_flows = n_flows,
                                .packet_bytes = 1000,
                                .notify_s = 50e-6,
                                .alpha_timer_s = 55e-6,
                                .increase_timer_s = 55e-6,
                                .byte_counter_bytes = 10e6,
                                .threshold = 5,
                                .ai_bps = 40e6,
                                .gain = 1.0 / 256,
                                .kmin_bytes = 5e3,
                                .kmax_bytes = 200e3,
                                .pmax = 0.01,
                                .delay_s = 5e-6};
}

static void fixed_points_of_the_table(void **state)
{
    static const struct {
        double capacity_bps, n, exact, cube_root;
    } rows[] = {
        {40e9, 2, 7.77e-4, 9.25e-4},   {40e9, 8, 4.55e-3, 5.83e-3},  {40e9, 16, 1.09e-2, 1.47e-2},
        {100e9, 2, 2.39e-4, 2.76e-4},  {100e9, 8, 1.42e-3, 1.73e-3}, {400e9, 8, 2.39e-4, 2.76e-4},
        {400e9, 64, 3.43e-3, 4.33e-3},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct dcqcn_fluid fluid = paper(rows[i].capacity_bps, rows[i].n);
        struct dcqcn_fluid_point point;

        assert_true(dcqcn_fluid_fixed_point(&fluid, &point));
        assert_true(fabs(point.p / rows[i].exact - 1) < 0.01);
        assert_true(fabs(dcqcn_fluid_small_p(&fluid) / rows[i].cube_root - 1) < 0.01);
        assert_int_equal(point.pinned, rows[i].exact > 0.01);
        if (!point.pinned)
            assert_true(fabs(point.queue_bytes - (5e3 + 195e3 * point.p / 0.01)) < 1);
    }
}

/* At the fixed point nothing moves. */
static void the_fixed_point_rests(void **state)
{
    struct dcqcn_fluid fluid = paper(40e9, 8);
    struct dcqcn_fluid_state states[1001];
    struct dcqcn_fluid_point point;

    (void)state;
    assert_true(dcqcn_fluid_fixed_point(&fluid, &point));
    states[0] = (struct dcqcn_fluid_state){0, point.queue_bytes, point.rate_bps, point.target_bps,
                                           point.alpha};
    assert_true(dcqcn_fluid_solve(&fluid, 1e-6, states, G_N_ELEMENTS(states)));
    for (size_t i = 1; i < G_N_ELEMENTS(states); i++) {
        assert_true(fabs(states[i].queue_bytes / point.queue_bytes - 1) < 1e-6);
        assert_true(fabs(states[i].rate_bps / point.rate_bps - 1) < 1e-6);
        assert_true(fabs(states[i].alpha / point.alpha - 1) < 1e-6);
    }
}

static double last_queue(const struct dcqcn_fluid *fluid, double step_s, size_t n)
{
    g_autofree struct dcqcn_fluid_state *states = g_new(struct dcqcn_fluid_state, n);

    states[0] = (struct dcqcn_fluid_state){0, 0, fluid->line_bps, fluid->line_bps, 1};
    if (!dcqcn_fluid_solve(fluid, step_s, states, n))
        return NAN;
    for (size_t i = 0; i < n; i++) {
        assert_true(states[i].queue_bytes >= 0);
        assert_true(states[i].rate_bps <= fluid->line_bps);
    }
    return states[n - 1].queue_bytes;
}

/* From line rate it comes to the fixed point, by whatever step. */
static void it_settles_at_the_fixed_point(void **state)
{
    struct dcqcn_fluid fluid = paper(40e9, 8);
    struct dcqcn_fluid_point point;

    (void)state;
    assert_true(dcqcn_fluid_fixed_point(&fluid, &point));
    double coarse = last_queue(&fluid, 2e-6, 100001), fine = last_queue(&fluid, 1e-6, 200001);

    assert_true(fabs(coarse / point.queue_bytes - 1) < 0.01);
    assert_true(fabs(fine / coarse - 1) < 0.001);
}

/*
 * By hand at 40G, N = 8: R = 625,000 packets/s. With p = 5.73e-3 a mark comes each 279.2 us: a
 * cycle is 329.2 us, alpha 55 / 329.2 = 0.1671; q = exp(-55 / 279.2) = 0.8212 a tick, the first
 * with exp(-5 / 279.2) = 0.9823. Lost: 5G 0.1671 / 2 x [0.0177 + 0.9823 x 0.1788 x 0.5 / (1 -
 * 0.4106)] = 5G 0.0836 x 0.1667 = 69.6 Mb/s. Gained: 40M x 0.9823 x 0.8212^4 x 0.1788 x [0.8212^2 /
 * 0.1788^2 + 0.4106 / (1 - 0.4106)] = 40M x 0.07988 x 21.79 = 69.6 Mb/s.
 */
static void the_cycle_point_by_hand(void **state)
{
    struct dcqcn_fluid fluid = paper(40e9, 8);
    struct dcqcn_fluid_point point;

    (void)state;
    assert_true(dcqcn_fluid_cycle_point(&fluid, &point));
    assert_true(fabs(point.p / 5.73e-3 - 1) < 0.001);
    assert_true(fabs(point.alpha / 0.1671 - 1) < 0.001);
    assert_true(fabs(point.queue_bytes - (5e3 + 195e3 * point.p / 0.01)) < 1);
    fluid.ai_bps = 0;
    assert_false(dcqcn_fluid_cycle_point(&fluid, &point));
}

static void without_increase_there_is_no_point(void **state)
{
    struct dcqcn_fluid fluid = paper(40e9, 8);
    struct dcqcn_fluid_point point;

    (void)state;
    fluid.ai_bps = 0;
    assert_false(dcqcn_fluid_fixed_point(&fluid, &point));
}

/* No byte counter: its terms are gone, and p* falls. */
static void a_byte_counter_of_zero_is_none(void **state)
{
    struct dcqcn_fluid with = paper(40e9, 2), without = with, endless = with;
    struct dcqcn_fluid_point a, b, c;

    (void)state;
    without.byte_counter_bytes = 0;
    endless.byte_counter_bytes = 1e15;
    assert_true(dcqcn_fluid_fixed_point(&with, &a));
    assert_true(dcqcn_fluid_fixed_point(&without, &b));
    assert_true(dcqcn_fluid_fixed_point(&endless, &c));
    assert_true(b.p < a.p);
    assert_true(fabs(c.p / b.p - 1) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_points_of_the_table),
        cmocka_unit_test(the_fixed_point_rests),
        cmocka_unit_test(it_settles_at_the_fixed_point),
        cmocka_unit_test(the_cycle_point_by_hand),
        cmocka_unit_test(without_increase_there_is_no_point),
        cmocka_unit_test(a_byte_counter_of_zero_is_none),
    };

    stats_init();
    return cmocka_run_group_tests_name("dcqcn_fluid", tests, NULL, NULL);
}
