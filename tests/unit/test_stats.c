/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/stats/stats.c and sim/stats/closed_form.c, in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/random.h"
#include "sim/stats/closed_form.h"
#include "sim/stats/stats.h"
#include <math.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void assert_near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%.9g instead of %.9g", got, expected);
}

/* Near enough to a normal: twelve uniforms (Irwin-Hall), mean 0, variance 1. */
static double normal(struct random_stream *stream)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += (double)random_next(stream) * 0x1p-64;
    return sum;
}

static void mean_and_sd(void **state)
{
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};

    (void)state;
    assert_near(stats_mean(values, N(values)), 5, 1e-12);
    assert_near(stats_sd(values, N(values)), sqrt(32.0 / 7), 1e-12);
    assert_true(isnan(stats_mean(values, 0)));
    assert_true(isnan(stats_sd(values, 1)));
}

/* t(0.975, 4) = 2.776445 (any table of Student's t); sd of 1..5 = sqrt(2.5). */
static void interval_of_the_mean(void **state)
{
    const double values[] = {1, 2, 3, 4, 5};
    const double same[] = {7, 7, 7};
    struct stats_estimate estimate = stats_estimate_mean(values, N(values));

    (void)state;
    assert_near(estimate.value, 3, 1e-12);
    assert_near(estimate.ci95, 2.776445 * sqrt(2.5 / 5), 1e-5);
    assert_int_equal(estimate.n, 5);
    assert_near(stats_estimate_mean(same, 3).ci95, 0, 0);
    assert_near(stats_estimate_mean(values, 1).value, 1, 0);
    assert_true(isnan(stats_estimate_mean(values, 1).ci95));
}

static void ratio_of_pairs(void **state)
{
    const double above[] = {5, 10, 15, 20}, below[] = {10, 20, 30, 40};
    const double noisy[] = {5, 11, 15, 19}; /* R = 1/2; residuals 0 1 0 -1; sd = sqrt(2/3) */
    struct stats_estimate exact = stats_estimate_ratio(above, below, 4);
    struct stats_estimate estimate = stats_estimate_ratio(noisy, below, 4);

    (void)state;
    /* one ratio in every pair: no uncertainty, however much the pairs differ */
    assert_near(exact.value, 0.5, 1e-12);
    assert_near(exact.ci95, 0, 1e-12);
    assert_near(estimate.value, 0.5, 1e-12);
    assert_near(estimate.ci95, 3.182446 * sqrt(2.0 / 3 / 4) / 25, 1e-6);
    assert_true(isnan(stats_estimate_ratio(above, below, 1).ci95));
    /* a value against itself is 1 for sure */
    assert_near(stats_estimate_ratio(below, below, 4).ci95, 0, 0);
}

static void two_changes_beyond_each_alone(void **state)
{
    double neither[] = {10, 12, 11}, first[] = {20, 24, 22}, second[] = {5, 6, 5.5};
    double as_alone[] = {10, 12, 11}, more[] = {11, 12, 16};
    struct stats_estimate none = stats_estimate_interaction(as_alone, first, second, neither, 3);
    struct stats_estimate some = stats_estimate_interaction(more, first, second, neither, 3);

    (void)state;
    /* twice and half: together nothing, in every seed */
    assert_near(none.value, 1, 1e-12);
    assert_near(none.ci95, 0, 1e-12);
    /* 13 11 / (22 5.5); relative residuals 11/13 - 10/11, 12/13 - 12/11 and 16/13 - 1, t = 4.303 */
    assert_near(some.value, 1.1818182, 1e-6);
    assert_near(
        some.ci95,
        4.302653 * 1.1818182 *
            sqrt((0.0629371 * 0.0629371 + 0.1678322 * 0.1678322 + 0.2307692 * 0.2307692) / 6),
        1e-5);
    assert_true(isnan(stats_estimate_interaction(more, first, second, neither, 1).ci95));
    assert_true(
        isnan(stats_estimate_interaction(more, (double[]){1, -1, 0}, second, neither, 3).value));
}

static void ratio_of_independent_samples(void **state)
{
    const double above[] = {4, 6}, below[] = {9, 10, 11};
    struct stats_estimate estimate = stats_estimate_ratio_unpaired(above, 2, below, 3);

    (void)state;
    assert_near(estimate.value, 0.5, 1e-12);
    /* var = 2/2 + 0.25 x 1/3; t(0.975, 1) = 12.7062 */
    assert_near(estimate.ci95, 12.7062 * sqrt(1 + 0.25 / 3) / 10, 1e-4);
}

/* The truth lies inside 95 of 100 intervals: 4000 trials, sd of the count 13.8, asked 4.5 sd. */
static void intervals_cover_the_truth(void **state)
{
    struct random_stream stream = random_stream(1, RANDOM_WORKLOAD, 1);
    int mean_covers = 0, ratio_covers = 0;

    (void)state;
    for (int trial = 0; trial < 4000; trial++) {
        double above[5], below[5];

        for (int i = 0; i < 5; i++) {
            double common = normal(&stream);

            below[i] = 100 + 5 * common;
            above[i] = 60 + 3 * common + 2 * normal(&stream);
        }
        struct stats_estimate mean = stats_estimate_mean(below, 5);
        struct stats_estimate ratio = stats_estimate_ratio(above, below, 5);

        mean_covers += fabs(mean.value - 100) <= mean.ci95;
        ratio_covers += fabs(ratio.value - 0.6) <= ratio.ci95;
    }
    assert_in_range(mean_covers, 3738, 3862);
    assert_in_range(ratio_covers, 3738, 3862);
}

static void percentiles_by_nearest_rank(void **state)
{
    double values[] = {50, 15, 40, 20, 35}; /* the example of every textbook */
    double hundred[100];

    (void)state;
    stats_sort(values, N(values));
    assert_near(values[0], 15, 0);
    assert_near(values[4], 50, 0);
    assert_near(stats_percentile(values, 5, 50), 15, 0);
    assert_near(stats_percentile(values, 5, 300), 20, 0);
    assert_near(stats_percentile(values, 5, 400), 20, 0);
    assert_near(stats_percentile(values, 5, 500), 35, 0);
    assert_near(stats_percentile(values, 5, 1000), 50, 0);
    assert_near(stats_percentile(values, 5, 0), 15, 0);
    assert_near(stats_percentile(values, 1, 990), 15, 0);
    assert_true(isnan(stats_percentile(values, 0, 500)));
    for (int i = 0; i < 100; i++)
        hundred[i] = i + 1;
    for (unsigned p = 1; p <= 100; p++)
        assert_near(stats_percentile(hundred, 100, 10 * p), p, 0);
    assert_near(stats_percentile(hundred, 100, 991), 100, 0);
}

static void jain_index(void **state)
{
    const double equal[] = {3, 3, 3, 3}, one[] = {0, 9, 0, 0}, two[] = {1, 2, 3};

    (void)state;
    assert_near(stats_jain(equal, 4), 1, 1e-12);
    assert_near(stats_jain(one, 4), 0.25, 1e-12);
    assert_near(stats_jain(two, 3), 36.0 / 42, 1e-12);
    assert_true(isnan(stats_jain(one, 1)));
}

/* y = 2x + 1 exactly; then 1, 2, 2 over 0, 1, 2: slope 1/2, intercept 7/6, residual 1/6 of 2/3. */
static void line_by_least_squares(void **state)
{
    static const double x[] = {0, 1, 2, 3}, y[] = {1, 3, 5, 7}, other[] = {1, 2, 2};
    struct stats_line line = stats_fit_line(x, y, 4);

    (void)state;
    assert_near(line.slope, 2, 1e-12);
    assert_near(line.intercept, 1, 1e-12);
    assert_near(line.r2, 1, 1e-12);
    assert_near(line.slope_ci95, 0, 1e-12);
    line = stats_fit_line(x, other, 3);
    assert_near(line.slope, 0.5, 1e-12);
    assert_near(line.intercept, 7.0 / 6, 1e-12);
    assert_near(line.r2, 0.75, 1e-12);
    assert_near(line.slope_ci95, 12.7062047 * sqrt(1.0 / 6 / 2), 1e-6); /* t(0.975, 1) */
    assert_true(isnan(stats_fit_line(x, y, 1).slope));
    assert_true(isnan(stats_fit_line(x, y, 2).slope_ci95));
    line = stats_fit_line((const double[]){1, 1}, y, 2);
    assert_true(isnan(line.slope) && isnan(line.r2));
}

static void forms_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(closed_form_find("go_back_n"), &closed_forms[1]);
    assert_null(closed_form_find("go_back"));
}

/* SOURCES.md 9.2: the table of go-back-N, and the three timeouts at 400G, 4 KB, 10 us, 1 %. */
static void forms_give_the_known_values(void **state)
{
    static const struct {
        double p, w, share;
    } rows[] = {{1e-4, 30, 0.997},  {1e-4, 120, 0.988}, {1e-4, 250, 0.976}, {1e-3, 30, 0.971},
                {1e-3, 120, 0.893}, {1e-3, 250, 0.800}, {1e-2, 30, 0.767},  {1e-2, 120, 0.452},
                {1e-2, 250, 0.284}, {1e-1, 30, 0.231},  {1e-1, 120, 0.070}, {1e-1, 250, 0.035}};
    const struct closed_form_input n01_400 = {143.6, 0, 0}, n01_100 = {35.9, 0, 0};
    struct closed_form_input input = {119, 4e9, 84e3};

    (void)state;
    for (size_t i = 0; i < N(rows); i++) {
        const struct closed_form_input row = {rows[i].w, 0, 0};

        assert_near(closed_form_go_back_n(&row, rows[i].p), rows[i].share, 0.002);
    }
    /* oracles N0.01_400 and N0.01_100 */
    assert_near(closed_form_go_back_n(&n01_400, 0.01), 0.4081, 5e-4);
    assert_near(closed_form_go_back_n(&n01_100, 0.01), 0.7339, 5e-4);
    assert_near(closed_form_nak_then_timeout(&input, 0.01), 0.14, 0.005);
    input.rto_ps = 67e9;
    assert_near(closed_form_nak_then_timeout(&input, 0.01), 0.012, 5e-4);
    input.rto_ps = 100e6;
    assert_near(closed_form_nak_then_timeout(&input, 0.01), 0.43, 0.01);
    assert_near(closed_form_selective_repeat(&input, 0.1), 0.9, 1e-12);
    for (const struct closed_form *form = closed_forms; form->name; form++)
        assert_near(form->share(&input, 0), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_and_sd),
        cmocka_unit_test(interval_of_the_mean),
        cmocka_unit_test(ratio_of_pairs),
        cmocka_unit_test(two_changes_beyond_each_alone),
        cmocka_unit_test(ratio_of_independent_samples),
        cmocka_unit_test(intervals_cover_the_truth),
        cmocka_unit_test(percentiles_by_nearest_rank),
        cmocka_unit_test(jain_index),
        cmocka_unit_test(line_by_least_squares),
        cmocka_unit_test(forms_are_found_by_name),
        cmocka_unit_test(forms_give_the_known_values),
    };

    stats_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
