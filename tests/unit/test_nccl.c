/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/app/nccl.c and sim/app/fct.c: what tools of others read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/fct.h"
#include "sim/app/nccl.h"
#include "sim/core/schedule.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static GArray *groups_of(const struct sink_group *groups, guint n)
{
    GArray *array = g_array_new(FALSE, FALSE, sizeof *groups);

    g_array_append_vals(array, groups, n);
    return array;
}

/*
 * 1 GiB over 8 ranks in 8 ms: algbw 1073741824 / 8e-3 = 134.217728 GB/s; all-reduce x 7/4 =
 * 234.88; reduce-scatter in 4 ms: 268.44 x 7/8 = 234.88, and 1 GiB / 8 / 4 elements a rank.
 */
#define CALL(name_, bytes_, ranks_, n_, d_, start_, end_, done_)                                   \
    {                                                                                              \
        .name = name_, .bytes = bytes_, .n_ranks = ranks_, .factor_n = n_, .factor_d = d_,         \
        .start_ps = start_, .end_ps = end_, .n_ops = 9, .n_ops_done = done_, .n_calls = 1,         \
        .root = -1                                                                                 \
    }
static const struct sink_group calls[] = {
    CALL("incast", 5, 9, 0, 1, 0, 10, 9),
    CALL("allreduce", 1 << 30, 8, 14, 8, 1000, 8000001000, 9),
    CALL("allreduce", 1 << 20, 8, 14, 8, 5000, -1, 3),
    CALL("reducescatter", 1 << 30, 8, 7, 8, 0, 4000000000, 9),
};

/* The columns as scripts cut them: by blanks, lines of '#' left out. */
static void the_table_has_the_columns_that_scripts_read(void **state)
{
    g_autoptr(GArray) groups = groups_of(calls, G_N_ELEMENTS(calls));
    g_autofree char *text = nccl_table(groups);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    long long size, count;
    char type[16], redop[16];
    int root, n_rows = 0;
    double numbers[6];

    (void)state;
    for (char **line = lines; *line; line++) {
        if (**line == '#' || !**line)
            continue;
        assert_int_equal(sscanf(*line, "%lld %lld %15s %15s %d %lf %lf %lf N/A %lf %lf %lf N/A",
                                &size, &count, type, redop, &root, &numbers[0], &numbers[1],
                                &numbers[2], &numbers[3], &numbers[4], &numbers[5]),
                         11);
        assert_int_equal(size, 1 << 30);
        assert_int_equal(count, (1 << 30) / 4 / (n_rows ? 8 : 1));
        assert_string_equal(type, "float");
        assert_string_equal(redop, "sum");
        assert_int_equal(root, -1);
        assert_true(fabs(numbers[0] - (n_rows ? 4000 : 8000)) < 0.05);
        assert_true(fabs(numbers[1] - (n_rows ? 268.44 : 134.22)) < 1e-9);
        assert_true(fabs(numbers[2] - (234.88)) < 1e-9);
        assert_memory_equal(numbers, numbers + 3, sizeof numbers / 2);
        n_rows++;
    }
    assert_int_equal(n_rows, 2);
    assert_non_null(strstr(text, "# 1048576 B: unfinished\n"));
    assert_non_null(strstr(text, "# Avg bus bandwidth    : 234.881\n"));
    assert_null(strstr(text, "incast"));
}

static void the_report_has_the_keys_of_the_original(void **state)
{
    g_autoptr(GArray) groups = groups_of(calls + 2, 2);
    g_autofree char *text = nccl_json(groups);

    (void)state;
    assert_string_equal(
        text,
        "{\n  \"version\": \"weft\",\n  \"results\": [\n"
        "    {\"size\": 1048576, \"count\": 262144, \"type\": \"float\", \"redop\": \"sum\", "
        "\"root\": \"-1\",\n     \"out_of_place\": null,\n     \"in_place\": null,\n"
        "     \"ranks\": 8, \"actual_iterations\": 1, \"experiment_name\": \"allreduce\"},\n"
        "    {\"size\": 1073741824, \"count\": 33554432, \"type\": \"float\", \"redop\": \"sum\", "
        "\"root\": \"-1\",\n"
        "     \"out_of_place\": {\"time\": 4000, \"alg_bw\": 268.435456, \"bus_bw\": 234.881024, "
        "\"nwrong\": null},\n"
        "     \"in_place\": {\"time\": 4000, \"alg_bw\": 268.435456, \"bus_bw\": 234.881024, "
        "\"nwrong\": null},\n"
        "     \"ranks\": 8, \"actual_iterations\": 1, \"experiment_name\": \"reducescatter\"}\n"
        "  ],\n  \"out_of_bounds\": {\"count\": 0, \"okay\": true},\n"
        "  \"average_bus_bandwidth\": {\"bandwidth\": 234.881024, \"okay\": \"unchecked\"}\n}\n");
}

/* Two decimals, or as many as seven places leave room for. */
static void times_keep_their_column(void **state)
{
    static const struct {
        int64_t end_ps;
        const char *text;
    } cases[] = {{1234567890, "  1234.57  "},
                 {12345678900, "  12345.7  "},
                 {123456789000, "   123457  "},
                 {1230000, "     1.23  "}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct sink_group call = CALL("allreduce", 4, 8, 14, 8, 0, cases[i].end_ps, 9);
        g_autoptr(GArray) groups = groups_of(&call, 1);
        g_autofree char *text = nccl_table(groups);

        assert_non_null(strstr(text, cases[i].text));
    }
}

static void groups_without_busbw_are_no_collectives(void **state)
{
    g_autoptr(GArray) none = groups_of(calls, 1), one = groups_of(calls, 2);

    (void)state;
    assert_false(nccl_has(none));
    assert_true(nccl_has(one));
}

/* Host 258 is 11.1.2.1; a flow that did not end has a port but no line. */
static void a_flow_is_a_line_of_hpcc(void **state)
{
    struct sink_flow flow = {.src = 0,
                             .dst = 258,
                             .bytes = 4490,
                             .start_ps = 2000000499,
                             .end_receiver_ps = 2002462739,
                             .ideal_ps = 2462240,
                             .group = SCHEDULE_NO_GROUP};
    struct sink_flow late = flow;
    struct fct fct;

    (void)state;
    late.end_receiver_ps = SINK_NEVER;
    fct_init(&fct);
    fct_flow(&fct, &flow);
    fct_flow(&fct, &late);
    fct_flow(&fct, &flow);
    flow.src = 7;
    fct_flow(&fct, &flow);
    assert_string_equal(fct.text->str, "0b000001 0b010201 10000 100 4490 2000000 2462 2462\n"
                                       "0b000001 0b010201 10002 100 4490 2000000 2462 2462\n"
                                       "0b000701 0b010201 10000 100 4490 2000000 2462 2462\n");
    fct_clear(&fct);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_the_columns_that_scripts_read),
        cmocka_unit_test(the_report_has_the_keys_of_the_original),
        cmocka_unit_test(times_keep_their_column),
        cmocka_unit_test(groups_without_busbw_are_no_collectives),
        cmocka_unit_test(a_flow_is_a_line_of_hpcc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
