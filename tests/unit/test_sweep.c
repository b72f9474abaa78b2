/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/app/sweep_plan.c, sweep.c and sweep_gather.c; tests/golden/sweep.sh plays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/eta.h"
#include "sim/app/sweep.h"
#include "sim/app/sweep_gather.h"
#include "sim/app/sweep_plan.h"
#include "sim/core/table.h"
#include "tests/unit/scratch.h"
#include <string.h>
#include <unistd.h>

#define BASE                                                                                       \
    "[topology]\nkind = star\nhosts = 8\n[workload]\nkind = incast\n[transport]\nname = rocev2\n"

static void plan_of(struct sweep_plan *plan, const char *text, char **sets, const char *seeds)
{
    g_autofree char *path = scratch_write("s.ini", text, strlen(text));
    g_autoptr(GError) error = NULL;

    if (!sweep_plan_read(plan, path, sets, seeds, &error))
        fail_msg("%s", error->message);
    g_unlink(path);
}

static struct sweep *sweep_of(const char *text, char **sets, const char *seeds)
{
    struct sweep *sweep = sweep_new(scratch_folder);
    struct sweep_plan plan;
    g_autoptr(GError) error = NULL;

    plan_of(&plan, text, sets, seeds);
    if (!sweep_plan_expand(&plan, sweep, &error))
        fail_msg("%s", error->message);
    sweep_plan_clear(&plan);
    return sweep;
}

static void assert_cells(const struct sweep *sweep, uint32_t grid, const char *expected)
{
    g_autofree char *cells = g_strjoinv("|", sweep_grid(sweep, grid)->cells);

    assert_string_equal(cells, expected);
}

/* --- plan ------------------------------------------------------------------------------------- */

static void axes_are_crossed_and_the_last_runs_fastest(void **state)
{
    static const char text[] = BASE "[sweep]\nseeds = 3-4,9\n"
                                    "[variant:a]\ntransport.payload = 1000B\n[variant:b]\n"
                                    "[grid]\nloss.rate_per_link = 0;1%\n"
                                    "topology.hosts & workload.senders = 4 & 2; 6 & 5\n";
    struct sweep *sweep = sweep_of(text, NULL, NULL);

    (void)state;
    assert_int_equal(sweep->columns->len, 4);
    assert_string_equal(g_ptr_array_index(sweep->columns, 0), "variant");
    assert_string_equal(g_ptr_array_index(sweep->columns, 3), "workload.senders");
    assert_int_equal(sweep->grid->len, 8);
    assert_int_equal(sweep->points->len, 24);
    assert_cells(sweep, 0, "a|0|4|2");
    assert_cells(sweep, 1, "a|0|6|5");
    assert_cells(sweep, 2, "a|0.01|4|2"); /* as the scenario writes it */
    assert_cells(sweep, 7, "b|0.01|6|5");
    assert_int_equal(sweep_point(sweep, 23)->grid, 7);
    assert_int_equal(sweep_point(sweep, 21)->seed, 3);
    assert_int_equal(sweep_point(sweep, 23)->seed, 9);
    assert_non_null(strstr(sweep_grid(sweep, 0)->text, "\npayload = 1kB\n"));
    assert_non_null(strstr(sweep_grid(sweep, 7)->text, "\npayload = 4KiB\n"));
    assert_non_null(strstr(sweep_grid(sweep, 7)->text, "\nseed = 3\n"));
    assert_non_null(strstr(sweep_grid(sweep, 7)->text, "\nflows = off\n"));
    sweep_free(sweep);
}

static void strides_are_of_points(void **state)
{
    uint32_t strides[ETA_MOST_LEVELS];
    struct sweep_plan plan;

    (void)state;
    plan_of(&plan, BASE "[grid]\ntopology.hosts = 4;5;6\nloss.rate_per_link = 0;1%\n", NULL, "1-5");
    assert_int_equal(sweep_plan_strides(&plan, strides), 3);
    assert_int_equal(strides[0], 5);
    assert_int_equal(strides[1], 10);
    assert_int_equal(strides[2], 30);
    sweep_plan_clear(&plan);
}

static void changes_come_one_at_a_time(void **state)
{
    struct sweep *sweep = sweep_of(BASE "[change]\ntransport.payload = 1KiB; 4KiB\n"
                                        "topology.hosts & queue.limit = 9 & 1MB\n",
                                   NULL, "1-1");

    (void)state;
    assert_int_equal(sweep->grid->len, 4);
    assert_cells(sweep, 0, "|");
    assert_cells(sweep, 1, "transport.payload|1KiB");
    assert_cells(sweep, 3, "topology.hosts & queue.limit|9 & 1MB");
    /* a change to what it is anyway is the same point */
    assert_string_equal(sweep_point(sweep, 0)->name, sweep_point(sweep, 2)->name);
    assert_string_not_equal(sweep_point(sweep, 0)->name, sweep_point(sweep, 1)->name);
    sweep_free(sweep);
}

static void settings_lie_above_and_change_the_grid(void **state)
{
    char *sets[] = {(char *)(uintptr_t) "transport.payload=2KiB",
                    (char *)(uintptr_t) "grid.topology.hosts=5", NULL};
    struct sweep *sweep = sweep_of(BASE "[variant:a]\ntransport.payload = 1KiB\n"
                                        "[grid]\ntopology.hosts = 4;6;7\n",
                                   sets, "1-2");

    (void)state;
    assert_int_equal(sweep->grid->len, 1);
    assert_cells(sweep, 0, "a|5");
    assert_non_null(strstr(sweep_grid(sweep, 0)->text, "\npayload = 2KiB\n"));
    sweep_free(sweep);
}

static void a_number_alone_counts_seeds_and_in_a_list_is_one(void **state)
{
    static const struct {
        const char *seeds;
        guint n_points;
        uint64_t first, last;
    } cases[] = {{"3", 3, 1, 3}, {" 1", 1, 1, 1}, {"7-7", 1, 7, 7}, {"9,4", 2, 9, 4}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct sweep *sweep = sweep_of(BASE, NULL, cases[i].seeds);

        assert_int_equal(sweep->points->len, cases[i].n_points);
        assert_int_equal(sweep_point(sweep, 0)->seed, cases[i].first);
        assert_int_equal(sweep_point(sweep, cases[i].n_points - 1)->seed, cases[i].last);
        sweep_free(sweep);
    }
}

static void wrong_plans_are_refused(void **state)
{
    static const struct {
        const char *text, *seeds, *part;
    } cases[] = {
        {BASE, "0", "a count, a range or a list"},
        {BASE, "", "a count, a range or a list"},
        {BASE, "3-1", "a range or a list"},
        {BASE, "1-3,2", "without repetition"},
        {BASE, "1-x", "--seeds 1-x"},
        {BASE, "1-20000000", "a range or a list"},
        {BASE "[sweep]\nseeds = 7-6\n", NULL, ":9: [sweep] seeds = 7-6: seeds are"},
        {BASE "[grid]\nhosts = 4\n", NULL, ":9: [grid] hosts = 4: a key with its group"},
        {BASE "[grid]\ntopology.hosts = ;\n", NULL, "a list such as"},
        {BASE "[grid]\na.b & c.d = 1 & 2; 3\n", NULL, "as many values"},
        {BASE "[grid]\nrun.seed = 1;2\n", NULL, "[sweep] seeds"},
        {BASE "[grid]\na.b = 1\n[change]\na.b = 2\n", NULL, "on two axes"},
        {BASE "[compare]\nvary = a.b\n", NULL, "weft compare plays it"},
        {BASE "[sweep]\npoints_per_task = 0\n", NULL, "points_per_task = 0"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = scratch_write("s.ini", cases[i].text, strlen(cases[i].text));
        g_autoptr(GError) error = NULL;
        struct sweep_plan plan;

        assert_false(sweep_plan_read(&plan, path, NULL, cases[i].seeds, &error));
        if (!strstr(error->message, cases[i].part))
            fail_msg("'%s' lacks '%s'", error->message, cases[i].part);
        sweep_plan_clear(&plan);
        g_unlink(path);
    }
}

static void the_value_that_is_wrong_is_named(void **state)
{
    static const char text[] = BASE "[grid]\nloss.rate_per_link = 0; 2; 0.5\n";
    g_autofree char *path = scratch_write("s.ini", text, strlen(text));
    struct sweep *sweep = sweep_new(scratch_folder);
    g_autoptr(GError) error = NULL;
    struct sweep_plan plan;

    (void)state;
    assert_true(sweep_plan_read(&plan, path, NULL, NULL, NULL));
    assert_false(sweep_plan_expand(&plan, sweep, &error));
    assert_non_null(strstr(error->message, ":9: [grid] loss.rate_per_link = 2: "));
    sweep_plan_clear(&plan);
    sweep_free(sweep);
    g_unlink(path);
}

/* --- the folder ------------------------------------------------------------------------------- */

static void names_depend_on_version_scenario_and_seed(void **state)
{
    g_autofree char *a = sweep_identity("v1", "text"), *b = sweep_identity("v2", "text");
    g_autofree char *c = sweep_identity("v1", "other"), *again = sweep_identity("v1", "text");
    g_autofree char *one = sweep_name(a, 1), *two = sweep_name(a, 2), *version = sweep_version();

    (void)state;
    assert_string_equal(a, again);
    assert_string_not_equal(a, b);
    assert_string_not_equal(a, c);
    assert_string_not_equal(one, two);
    assert_int_equal(strlen(one), 20);
    assert_true(strlen(version) > 0);
}

static void empty_folder(const char *name)
{
    g_autofree char *path =
        name ? g_build_filename(scratch_folder, name, NULL) : g_strdup(scratch_folder);
    GDir *dir = g_dir_open(path, 0, NULL);
    const char *file;

    while (dir && (file = g_dir_read_name(dir))) {
        g_autofree char *inside = g_build_filename(path, file, NULL);

        if (g_unlink(inside) != 0)
            sweep_remove_folder(inside);
    }
    if (dir)
        g_dir_close(dir);
}

static int tidy_up(void **state)
{
    (void)state;
    empty_folder("points");
    empty_folder("failed");
    empty_folder("grid");
    empty_folder(NULL);
    return 0;
}

/* What a worker leaves, with as little in it as is read. */
static void put_result(const struct sweep *sweep, uint32_t index, const char *status,
                       const char *throughput, const char *extra)
{
    const struct sweep_point *point = sweep_point(sweep, index);
    g_autofree char *folder = sweep_result_path(sweep->folder, point->name);
    g_autofree char *point_path = g_build_filename(folder, "point.csv", NULL);
    g_autofree char *summary_path = g_build_filename(folder, "summary.csv", NULL);
    g_autofree char *text =
        g_strdup_printf("metric,value,unit\nstatus,%s,\nerror,%s,\nthroughput,%s,bit/s\n", status,
                        strcmp(status, "done") == 0 ? "" : "\"one waits, two\"", throughput);
    g_autofree char *more = g_strdup_printf("metric,value,unit\ncomplete,1,0|1\n%s", extra);

    assert_int_equal(g_mkdir(folder, 0777), 0);
    assert_true(g_file_set_contents(point_path, text, -1, NULL));
    assert_true(g_file_set_contents(summary_path, more, -1, NULL));
}

static struct sweep *prepared(const char *seeds)
{
    struct sweep *sweep = sweep_of(BASE "[grid]\ntopology.hosts = 4;5\n", NULL, seeds);
    g_autoptr(GError) error = NULL;
    int lock = sweep_lock(sweep, false, &error);

    assert_true(lock >= 0);
    assert_true(sweep_prepare(sweep, &error));
    close(lock);
    return sweep;
}

static void a_list_is_read_back(void **state)
{
    struct sweep *sweep = prepared("1-2"), *again = sweep_new(scratch_folder);
    g_autoptr(GError) error = NULL;

    (void)state;
    assert_true(sweep_load(again, &error));
    assert_int_equal(again->points->len, 4);
    assert_int_equal(again->grid->len, 2);
    assert_cells(again, 1, "5");
    assert_string_equal(sweep_point(again, 3)->name, sweep_point(sweep, 3)->name);
    assert_int_equal(sweep_point(again, 3)->seed, 2);
    sweep_free(again);
    sweep_free(sweep);
}

static void a_list_of_something_else_is_refused(void **state)
{
    static const char *const texts[] = {
        "name,grid,seed\n../../etc,1,1\n", "name,grid,seed\n0123456789abcdef0123,2,1\n",
        "name,grid,seed\n0123456789abcdef0123,1,x\n", "name,grid\n0123456789abcdef0123,1\n"};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *path = scratch_write("points.csv", texts[i], strlen(texts[i]));
        struct sweep *sweep = sweep_new(scratch_folder);
        g_autoptr(GError) error = NULL;

        assert_false(sweep_load(sweep, &error));
        assert_non_null(strstr(error->message, "points.csv"));
        sweep_free(sweep);
    }
}

static void results_and_failures_are_seen(void **state)
{
    struct sweep *sweep = prepared("1-2");
    g_autoptr(GError) error = NULL;

    (void)state;
    assert_true(sweep_fail(sweep, sweep_point(sweep, 0), "two\nlines\t!", &error));
    assert_true(sweep_fail(sweep, sweep_point(sweep, 1), "was played again later", &error));
    put_result(sweep, 1, "done", "1", "");
    sweep_look(sweep);
    assert_int_equal(sweep_point(sweep, 0)->status, SWEEP_FAILED);
    assert_string_equal(sweep_point(sweep, 0)->error, "two lines !");
    assert_int_equal(sweep_point(sweep, 1)->status, SWEEP_DONE);
    assert_int_equal(sweep_point(sweep, 2)->status, SWEEP_WAITING);
    sweep_forget_failures(sweep);
    sweep_look(sweep);
    assert_int_equal(sweep_point(sweep, 0)->status, SWEEP_WAITING);
    assert_int_equal(sweep_point(sweep, 1)->status, SWEEP_DONE);
    sweep_free(sweep);
}

static void another_sweep_is_kept_out(void **state)
{
    struct sweep *sweep = prepared("1-2");
    g_autoptr(GError) error = NULL;
    int lock = sweep_lock(sweep, true, NULL), shared = sweep_lock(sweep, true, NULL);

    (void)state;
    assert_true(lock >= 0 && shared >= 0);
    assert_int_equal(sweep_lock(sweep, false, &error), -1);
    assert_non_null(strstr(error->message, "another weft sweep"));
    close(lock);
    close(shared);
    lock = sweep_lock(sweep, false, NULL);
    assert_true(lock >= 0);
    assert_int_equal(sweep_lock(sweep, true, NULL), -1);
    close(lock);
    sweep_free(sweep);
}

static void another_scenario_is_refused_once_something_is_played(void **state)
{
    struct sweep *sweep = prepared("1-2"), *other;
    char *sets[] = {(char *)(uintptr_t) "transport.payload=1KiB", NULL};
    g_autoptr(GError) error = NULL;

    (void)state;
    other = sweep_of(BASE "[grid]\ntopology.hosts = 4;5\n", sets, "1-2");
    assert_true(sweep_prepare(other, &error)); /* nothing is there to be mixed with */
    assert_true(sweep_prepare(sweep, &error));
    put_result(sweep, 2, "done", "1", "");
    assert_false(sweep_prepare(other, &error));
    assert_non_null(strstr(error->message, "topology.hosts = 5, seed 1"));
    assert_true(sweep_prepare(sweep, NULL));
    sweep_free(other);
    sweep_free(sweep);
}

static void what_the_dead_left_is_removed(void **state)
{
    struct sweep *sweep = prepared("1-2");
    const char *name = sweep_point(sweep, 0)->name;
    g_autofree char *own = sweep_temporary_path(sweep->folder, name);
    g_autofree char *dead =
        g_strdup_printf("%s/points/.%s.%s.%d", sweep->folder, name, g_get_host_name(), 0x3fffffff);
    g_autofree char *far = g_strdup_printf("%s/points/.%s.other-host.1", sweep->folder, name);
    g_autofree char *file = g_build_filename(dead, "summary.csv.x", NULL);

    (void)state;
    assert_int_equal(g_mkdir(own, 0777) + g_mkdir(dead, 0777) + g_mkdir(far, 0777), 0);
    assert_true(g_file_set_contents(file, "half", -1, NULL));
    sweep_clean(sweep, false);
    assert_true(g_file_test(own, G_FILE_TEST_IS_DIR)); /* this process lives */
    assert_false(g_file_test(dead, G_FILE_TEST_EXISTS));
    assert_true(g_file_test(far, G_FILE_TEST_IS_DIR)); /* who knows */
    sweep_clean(sweep, true);
    assert_false(g_file_test(own, G_FILE_TEST_EXISTS));
    assert_false(g_file_test(far, G_FILE_TEST_EXISTS));
    sweep_free(sweep);
}

/* --- gathering -------------------------------------------------------------------------------- */

static const char *field(const struct table *table, uint32_t row, const char *column)
{
    int index = table_column(table, column);

    if (index < 0)
        fail_msg("no column %s", column);
    return table_field(table, row, (uint32_t)index);
}

static struct table *read_back(const char *name)
{
    g_autofree char *path = g_build_filename(scratch_folder, name, NULL);
    struct table *table = table_read(path, NULL);

    assert_non_null(table);
    return table;
}

/*
 * Grid point 1: 1, 2 and 6, one of them unfinished; mean 3, sd sqrt((4 + 1 + 9) / 2) = 2.6457513,
 * t(0.975, 2) = 4.3026527, interval 4.3026527 x 2.6457513 / sqrt(3) = 6.5724106. One run lacks
 * `lag`. Grid point 2: 5, one failed, one waits.
 */
static void means_are_over_what_has_a_result(void **state)
{
    struct sweep *sweep = prepared("1-3");
    struct sweep_counts counts;
    g_autoptr(GError) error = NULL;

    (void)state;
    put_result(sweep, 0, "done", "1", "goodput,10,bit/s\nlag,4,ps\nflows_failed,0,flows\n");
    put_result(sweep, 1, "unfinished", "2", "goodput,20,bit/s\n");
    put_result(sweep, 2, "done", "6", "goodput,30,bit/s\nlag,5,ps\n");
    put_result(sweep, 4, "done", "5", "goodput,9007199254740993,bit/s\nlag,5,ps\n");
    assert_true(sweep_fail(sweep, sweep_point(sweep, 3), "killed", &error));
    assert_true(sweep_gather(sweep, NULL, &counts, NULL, &error));
    assert_int_equal(counts.n_done, 3);
    assert_int_equal(counts.n_unfinished, 1);
    assert_int_equal(counts.n_failed, 1);
    assert_int_equal(counts.n_waiting, 1);

    struct table *table = read_back("summary.csv");
    assert_int_equal(table_n_rows(table), 2);
    assert_string_equal(field(table, 0, "topology.hosts"), "4");
    assert_string_equal(field(table, 0, "seeds"), "3");
    assert_string_equal(field(table, 0, "complete"), "yes");
    assert_string_equal(field(table, 0, "unfinished"), "1");
    assert_string_equal(field(table, 0, "throughput_bps"), "3");
    assert_string_equal(field(table, 0, "throughput_bps_sd"), "2.64575131");
    assert_string_equal(field(table, 0, "throughput_bps_ci95"), "6.57241061");
    assert_string_equal(field(table, 0, "goodput_bps"), "20");
    assert_string_equal(field(table, 0, "lag_ps"), "");
    assert_string_equal(field(table, 0, "recovery_time_ps"), "");
    assert_string_equal(field(table, 1, "seeds"), "1");
    assert_string_equal(field(table, 1, "complete"), "no");
    assert_string_equal(field(table, 1, "throughput_bps"), "5");
    assert_string_equal(field(table, 1, "throughput_bps_sd"), "");
    assert_true(table_column(table, "flows_failed") > 0); /* the unit is in the name */
    table_free(table);

    table = read_back("points.csv");
    assert_string_equal(field(table, 1, "status"), "unfinished");
    assert_string_equal(field(table, 1, "error"), "one waits, two");
    assert_string_equal(field(table, 3, "status"), "failed");
    assert_string_equal(field(table, 3, "error"), "killed");
    assert_string_equal(field(table, 4, "goodput_bps"), "9007199254740993"); /* every digit */
    assert_string_equal(field(table, 5, "status"), "waiting");
    table_free(table);
    sweep_free(sweep);
}

static void a_result_that_is_not_whole_is_named(void **state)
{
    struct sweep *sweep = prepared("1-2");
    struct sweep_counts counts;
    g_autofree char *folder = sweep_result_path(sweep->folder, sweep_point(sweep, 1)->name);
    g_autoptr(GError) error = NULL;

    (void)state;
    put_result(sweep, 0, "done", "1", "");
    assert_int_equal(g_mkdir(folder, 0777), 0);
    assert_false(sweep_gather(sweep, NULL, &counts, NULL, &error));
    assert_non_null(strstr(error->message, folder));
    assert_non_null(strstr(error->message, "is not whole"));
    sweep_free(sweep);
}

#define IN_FOLDER(function_) cmocka_unit_test_teardown(function_, tidy_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_crossed_and_the_last_runs_fastest),
        cmocka_unit_test(strides_are_of_points),
        cmocka_unit_test(changes_come_one_at_a_time),
        cmocka_unit_test(settings_lie_above_and_change_the_grid),
        cmocka_unit_test(a_number_alone_counts_seeds_and_in_a_list_is_one),
        cmocka_unit_test(wrong_plans_are_refused),
        cmocka_unit_test(the_value_that_is_wrong_is_named),
        cmocka_unit_test(names_depend_on_version_scenario_and_seed),
        IN_FOLDER(a_list_is_read_back),
        IN_FOLDER(a_list_of_something_else_is_refused),
        IN_FOLDER(results_and_failures_are_seen),
        IN_FOLDER(another_sweep_is_kept_out),
        IN_FOLDER(another_scenario_is_refused_once_something_is_played),
        IN_FOLDER(what_the_dead_left_is_removed),
        IN_FOLDER(means_are_over_what_has_a_result),
        IN_FOLDER(a_result_that_is_not_whole_is_named),
    };

    return cmocka_run_group_tests_name("sweep", tests, scratch_make, scratch_remove);
}
