/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/app/series_table.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/series_table.h"
#include "tests/unit/scratch.h"
#include <string.h>

#define HEADER "time_ps,object,id,metric,value,unit\n"

static const char *const wanted[] = {"flow received", "port queue", NULL};

/* Read from a file, in steps of 1000 ps. */
static struct series_table *read_text(const char *text, guint least_steps, GError **error)
{
    g_autofree char *path = scratch_write("series.csv", text, strlen(text));
    struct series_table *table =
        series_table_read(scratch_folder, 1000, least_steps, wanted, error);

    g_unlink(path);
    return table;
}

static void test_steps_and_the_last_one(void **state)
{
    /* three steps of 1000 ps, the last of which ends after 250 */
    struct series_table *table = read_text(HEADER "1000,flow,7,received,100,bytes\n"
                                                  "1000,port,1,queue,5,bytes\n"
                                                  "1000,flow,7,window,9,bytes\n"
                                                  "2250,flow,7,received,50,bytes\n",
                                           1, NULL);
    const struct series_track *flow = series_table_track(table, "flow", "received", 7);

    (void)state;
    assert_int_equal(table->n_bins, 3);
    assert_int_equal(table->end_ps, 2250);
    assert_int_equal(table->tracks->len, 2); /* the window was not asked for */
    assert_true(flow->sum[0] == 100 && flow->sum[1] == 0 && flow->sum[2] == 50);
    assert_int_equal(flow->n_rows[0], 1);
    assert_int_equal(flow->n_rows[1], 0); /* no row: nothing happened */
    assert_true(flow->total == 150 && flow->peak == 100);
    assert_true(series_table_length_s(table, 0) == 1000e-12);
    assert_true(series_table_length_s(table, 2) == 250e-12);
    assert_true(series_table_middle_ms(table, 2) == 2125e-9);
    assert_null(series_table_track(table, "flow", "received", 8));
    assert_null(series_table_track(table, "flow", "window", 7));
    series_table_free(table);
}

/* n steps, each with a value of 1 in the flow and a queue that rises by 1. */
static char *rising(int n)
{
    GString *text = g_string_new(HEADER);

    for (int i = 1; i <= n; i++)
        g_string_append_printf(text, "%d,flow,0,received,1,bytes\n%d,port,3,queue,%d,bytes\n",
                               1000 * i, 1000 * i, i);
    return g_string_free(text, FALSE);
}

static void test_many_steps_share_a_bin(void **state)
{
    g_autofree char *text = rising(1000);
    struct series_table *table = read_text(text, 1, NULL);
    const struct series_track *flow = series_table_track(table, "flow", "received", 0);
    const struct series_track *queue = series_table_track(table, "port", "queue", 3);
    double sum = 0;

    (void)state;
    assert_int_equal(table->steps_per_bin, 3); /* 1000 / 400, upwards */
    assert_int_equal(table->n_bins, 334);
    assert_int_equal(series_table_steps(table, 0), 3);
    assert_int_equal(series_table_steps(table, 333), 1);
    assert_true(queue->sum[0] == 1 + 2 + 3 && queue->most[0] == 3);
    for (guint bin = 0; bin < table->n_bins; bin++)
        sum += flow->sum[bin];
    assert_true(sum == 1000 && flow->total == 1000);
    series_table_free(table);
}

static void test_a_window_leaves_enough_bins(void **state)
{
    g_autofree char *text = rising(600);
    struct series_table *table = read_text(text, 5, NULL);

    (void)state;
    assert_int_equal(table->steps_per_bin, 5);
    series_table_free(table);
    table = read_text(text, 300, NULL); /* two bins would show nothing */
    assert_int_equal(table->steps_per_bin, 10);
    assert_int_equal(table->n_bins, SERIES_TABLE_FEW_BINS);
    series_table_free(table);
}

static void test_tracks_are_sorted_by_id(void **state)
{
    struct series_table *table = read_text(HEADER "1000,port,10,queue,1,bytes\n"
                                                  "1000,port,9,queue,1,bytes\n"
                                                  "1000,flow,1,received,1,bytes\n",
                                           1, NULL);
    g_autoptr(GPtrArray) queues = series_table_tracks(table, "port", "queue");

    (void)state;
    assert_int_equal(queues->len, 2);
    assert_int_equal(((struct series_track *)g_ptr_array_index(queues, 0))->id, 9);
    assert_int_equal(((struct series_track *)g_ptr_array_index(queues, 1))->id, 10);
    series_table_free(table);
}

static void refused(const char *text, const char *expected)
{
    g_autoptr(GError) error = NULL;

    assert_null(read_text(text, 1, &error));
    assert_non_null(error);
    if (!strstr(error->message, expected))
        fail_msg("'%s' is not in '%s'", expected, error->message);
}

static void test_what_is_no_series(void **state)
{
    (void)state;
    refused("time,object\n", "no header time_ps,object,id,metric,value,unit");
    refused("", "no header");
    refused(HEADER "1000,flow,7,received,100\n", "series.csv:2: not a row");
    refused(HEADER "1000,flow,7,received,100,bytes\n1000,flow,7,received,100,bytes,1\n",
            "series.csv:3: not a row");
    refused(HEADER "x,flow,7,received,100,bytes\n", "series.csv:2");
    refused(HEADER "1000,flow,seven,received,100,bytes\n", "series.csv:2");
    refused(HEADER "1000,flow,7,received,much,bytes\n", "series.csv:2");
    refused(HEADER "-1,flow,7,received,1,bytes\n", "series.csv:2");
}

static void test_a_series_without_rows(void **state)
{
    struct series_table *table = read_text(HEADER, 1, NULL);

    (void)state;
    assert_int_equal(table->n_bins, 0);
    assert_int_equal(table->tracks->len, 0);
    series_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_and_the_last_one),
        cmocka_unit_test(test_many_steps_share_a_bin),
        cmocka_unit_test(test_a_window_leaves_enough_bins),
        cmocka_unit_test(test_tracks_are_sorted_by_id),
        cmocka_unit_test(test_what_is_no_series),
        cmocka_unit_test(test_a_series_without_rows),
    };

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
