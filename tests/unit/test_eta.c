/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/app/eta.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/eta.h"

/* Two groups of two runs: 10 and ? beside 30 and ?. */
static void the_nearest_that_are_over_say_how_long(void **state)
{
    static const uint32_t strides[] = {2};
    static const int64_t both[] = {10, 0, 30, 0}, one[] = {10, 0, 0, 0}, none[] = {0, 0, 0, 0};

    (void)state;
    assert_int_equal(eta_left_us(both, NULL, 4, strides, 1), 10 + 30);
    assert_int_equal(eta_left_us(one, NULL, 4, strides, 1), 3 * 10); /* of all, as a last resort */
    assert_int_equal(eta_left_us(none, NULL, 4, strides, 1), 0);
    assert_int_equal(eta_left_us(both, NULL, 4, NULL, 0), 2 * 20); /* all are alike */
    assert_int_equal(eta_left_us(both, NULL, 0, strides, 1), 0);
}

/* Runs 0, 5 and 7 of an order whose groups are 0-3 and 4-7. */
static void some_runs_of_an_order(void **state)
{
    static const uint32_t strides[] = {2, 4}, number[] = {0, 5, 7};
    static const int64_t cost_us[] = {100, 7, 0};

    (void)state;
    assert_int_equal(eta_left_us(cost_us, number, 3, strides, 2), 7);
    assert_int_equal(eta_left_us(cost_us, number, 3, strides, 1), 53); /* (100 + 7) / 2 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_that_are_over_say_how_long),
        cmocka_unit_test(some_runs_of_an_order),
    };

    return cmocka_run_group_tests_name("eta", tests, NULL, NULL);
}
