/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each row of the oracle table is a test, and each can fail: one picosecond more on one link breaks
 * every row that is exact.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "sim/app/selftest.h"
#include <string.h>

static double run(const struct oracle *oracle, int64_t extra_ps)
{
    GError *error = NULL;
    double got = 0;

    if (!oracle_run(oracle, extra_ps, &got, &error))
        g_error("%s: %s", oracle->id, error->message);
    return got;
}

static void test_row(void **state)
{
    const struct oracle *oracle = *state;
    double got = run(oracle, 0);

    if (!oracle_holds(oracle, got))
        fail_msg("%s: expected %.7g, got %.7g", oracle->id, oracle->expected, got);
    if (strcmp(oracle->tolerance_text, "exact") == 0)
        assert_false(oracle_holds(oracle, run(oracle, 1)));
}

int main(void)
{
    struct CMUnitTest tests[64];
    size_t n = 0;

    for (const struct oracle *oracle = oracles; oracle->id && n < G_N_ELEMENTS(tests); oracle++)
        tests[n++] = (struct CMUnitTest){oracle->id, test_row, NULL, NULL, (void *)oracle};
    g_assert_cmpuint(n, >=, 39);
    return _cmocka_run_group_tests("oracles", tests, n, NULL, NULL);
}
