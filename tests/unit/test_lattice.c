/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/app/lattice.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/lattice.h"
#include <math.h>
#include <string.h>

static struct table *parse(const char *text)
{
    struct table *table = table_parse("summary.csv", text, strlen(text), NULL);

    assert_non_null(table);
    return table;
}

static void labelled(const struct lattice *lattice, uint32_t row, bool with_case,
                     const char *expected)
{
    g_autofree char *label = lattice_label(lattice, row, with_case);

    assert_string_equal(label, expected);
}

/* planes and link_rate go together, the buffer is the same in all rows */
static const char sweep[] =
    "grid,variant,topology.planes,topology.link_rate,buffer.size,loss.rate_per_link,seeds,complete,"
    "throughput_bps\n"
    "1,A,1,400Gbps,1MB,0,3,yes,8e9\n"
    "2,A,1,400Gbps,1MB,1%,3,yes,4e9\n"
    "3,A,4,100Gbps,1MB,0,3,yes,\n"
    "4,A,4,100Gbps,1MB,1%,3,yes,2e9\n"
    "5,B,1,400Gbps,1MB,0,3,yes,1e9\n"
    "6,B,4,100Gbps,1MB,1%,3,yes,1e9\n";

static void test_axes_of_a_sweep(void **state)
{
    struct table *table = parse(sweep);
    struct lattice lattice;

    (void)state;
    assert_true(lattice_init(&lattice, table, "loss.rate", NULL));
    assert_int_equal(lattice.x, 5);
    assert_int_equal(lattice.seed, 6);
    assert_int_equal(lattice.case_, -1);
    assert_int_equal(lattice.curve->len, 2); /* variant, planes */
    labelled(&lattice, 0, true, "A; planes = 1");
    labelled(&lattice, 5, true, "B; planes = 4");
    assert_string_equal(lattice_case(&lattice, 0), "");
    assert_true(lattice_x(&lattice, 1) == 0.01);
    assert_true(lattice_number(table, 1, lattice.throughput) * lattice.scale == 4e9);
    assert_true(isnan(lattice_number(table, 2, lattice.throughput)));
    assert_true(isnan(lattice_number(table, 0, -1)));
    assert_true(isnan(lattice_number(table, 0, 1))); /* a word */
    lattice_clear(&lattice);

    assert_true(lattice_init(&lattice, table, "topology.planes", NULL));
    labelled(&lattice, 1, false, "A; rate_per_link = 1%");
    assert_true(lattice_x(&lattice, 2) == 4);
    lattice_clear(&lattice);
    table_free(table);
}

static void test_names_and_cells(void **state)
{
    struct table *table = parse(sweep);
    struct lattice lattice;

    (void)state;
    assert_true(lattice_init(&lattice, table, NULL, NULL));
    g_auto(GStrv) axes = lattice_axes(&lattice, 3);
    g_autofree char *all = g_strjoinv(" ", axes);
    assert_string_equal(all, "variant A topology.planes 4 topology.link_rate 100Gbps buffer.size "
                             "1MB loss.rate_per_link 1%");
    lattice_clear(&lattice);
    table_free(table);
}

static void test_axes_of_a_comparison(void **state)
{
    struct table *table = parse("case,variant,queue.priorities,seeds,complete,busbw_GBps\n"
                                "ring,A,\"0,7,7\",5,yes,2\n"
                                "direct,A,0,5,yes,1\n");
    struct lattice lattice;

    (void)state;
    assert_true(lattice_init(&lattice, table, NULL, NULL));
    assert_int_equal(lattice.case_, 0);
    assert_string_equal(lattice_case(&lattice, 1), "direct");
    labelled(&lattice, 0, true, "ring; priorities = 0 7 7"); /* gnuplot would split at the comma */
    assert_true(lattice_number(table, 0, lattice.throughput) * lattice.scale == 16e9);
    lattice_clear(&lattice);
    table_free(table);
}

static void test_nothing_that_tells_apart(void **state)
{
    struct table *table = parse("case,variant,loss.rate_end_to_end,seeds,complete,busbw_GBps\n"
                                "all,A,0,5,yes,2\n"
                                "all,A,0.1,5,yes,1\n");
    struct lattice lattice;

    (void)state;
    assert_true(lattice_init(&lattice, table, "loss.rate", NULL));
    assert_string_equal(lattice_case(&lattice, 0), ""); /* no case was asked for */
    labelled(&lattice, 0, true, "A");
    lattice_clear(&lattice);
    assert_true(lattice_init(&lattice, table, "variant", NULL));
    labelled(&lattice, 0, false, "rate_end_to_end = 0");
    lattice_clear(&lattice);
    table_free(table);
}

static void test_what_is_no_lattice(void **state)
{
    struct table *run = parse("metric,value,unit\ncomplete,1,\n");
    struct table *bare = parse("grid,loss.rate_per_link,seeds,complete\n1,0,3,yes\n");
    g_autoptr(GError) error = NULL;
    struct lattice lattice;

    (void)state;
    assert_false(lattice_init(&lattice, run, NULL, &error));
    assert_non_null(strstr(error->message, "no column seed"));
    g_clear_error(&error);
    assert_false(lattice_init(&lattice, bare, "loss.rate", &error)); /* no throughput */
    assert_non_null(error);
    g_clear_error(&error);
    assert_false(lattice_init(&lattice, bare, "topology.planes", &error));
    assert_non_null(strstr(error->message, "topology.planes"));
    table_free(run);
    table_free(bare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axes_of_a_sweep),
        cmocka_unit_test(test_names_and_cells),
        cmocka_unit_test(test_axes_of_a_comparison),
        cmocka_unit_test(test_nothing_that_tells_apart),
        cmocka_unit_test(test_what_is_no_lattice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
