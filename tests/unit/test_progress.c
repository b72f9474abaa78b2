/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/app/progress.c: the time left, before and after the first operation has ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/progress.h"

static void left_by_hops_then_by_operations(void **state)
{
    struct backend_progress now = {.n_ops = 100};

    (void)state;
    assert_true(progress_left_s(&now, 1000, 5) < 0); /* nothing has moved */
    now.n_hops = 250;
    assert_true(progress_left_s(&now, 1000, 5) == 15);
    assert_true(progress_left_s(&now, 0, 5) < 0); /* no survey, no operation */
    now.n_ops_done = 50;
    assert_true(progress_left_s(&now, 0, 5) == 5);
    now.n_hops = 1200; /* loss: more than was expected */
    assert_true(progress_left_s(&now, 1000, 5) == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(left_by_hops_then_by_operations)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
