/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/app/compare_plan.c, compare_sample.c and compare_report.c, in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/compare_plan.h"
#include "sim/app/compare_report.h"
#include "sim/app/compare_sample.h"
#include "sim/core/table.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- plan ------------------------------------------------------------------------------------- */

#define ENTRY(group_, key_, value_)                                                                \
    {                                                                                              \
        group_, key_, value_, "x.ini:7", NULL                                                      \
    }

static const struct scenario_entry good[] = {
    ENTRY("compare", "title", "A title; with, signs"),
    ENTRY("compare", "vary", "loss.rate_end_to_end"),
    ENTRY("compare", "values", "0; 0.01 ;0.1"),
    ENTRY("compare", "seeds", "2"),
    ENTRY("case:ring", "workload.kind", "allreduce"),
    ENTRY("case:direct", "workload.kind", "alltoall"),
    ENTRY("variant:one", "transport.name", "rocev2"),
    ENTRY("variant:one", "topology.planes", "1"),
    ENTRY("variant:two", "transport.name", "metaroce"),
    ENTRY("curve:go-back-N", "form", "nak_then_timeout"),
    ENTRY("curve:go-back-N", "window", "71.5"),
    ENTRY("curve:go-back-N", "rto", "4ms"),
    ENTRY("curve:go-back-N", "packet_time", "84ns"),
};

static void read_good(struct compare_plan *plan)
{
    compare_plan_init(plan);
    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        assert_true(compare_plan_take(plan, &good[i], NULL));
    }
    assert_true(compare_plan_finish(plan, NULL));
}

static void reads_a_plan(void **state)
{
    struct compare_plan plan;

    (void)state;
    read_good(&plan);
    assert_int_equal(plan.n_seeds, 2);
    assert_int_equal(plan.values->len, 3);
    assert_string_equal(compare_plan_value(&plan, 1), "0.01");
    assert_string_equal(compare_plan_case(&plan, 1)->name, "direct");
    assert_int_equal(compare_plan_variant(&plan, 0)->overrides->len, 2);
    assert_int_equal(compare_plan_n_points(&plan), 12);
    for (uint32_t point = 0; point < 12; point++) {
        struct compare_place place = compare_plan_place(&plan, point);

        assert_int_equal((place.case_ * 2 + place.variant) * 3 + place.value, point);
        assert_true(place.case_ < 2 && place.variant < 2 && place.value < 3);
    }
    compare_plan_clear(&plan);
}

static void writes_a_plan_with_every_key_of_its_groups(void **state)
{
    static const char *const ring[] = {"# c\n[workload]\nkind = ring\nbytes = 1\n",
                                       "[workload]\nkind = direct\n[queue]\nkind = red\n"};
    static const char *const two[] = {"[transport]\nname = rocev2\nqps = 4\n",
                                      "[topology]\nplanes = 2\n\n[transport]\nname = metaroce\n"};
    static const char base[] = "# resolved\n[run]\nseed = 1\n\n[workload]\nkind = ring\nbytes = 1\n"
                               "\n[transport]\nname = rocev2\nqps = 4\n[queue]\nlimit = 1\n";
    struct compare_plan plan;

    (void)state;
    read_good(&plan);
    g_autofree char *text = compare_plan_text(&plan, base, ring, two);

    assert_string_equal(text,
                        "# resolved\n\n[run]\nseed = 1\n\n[workload]\nkind = ring\n"
                        "\n[transport]\nname = rocev2\n\n[queue]\nlimit = 1\n"
                        "\n[compare]\ntitle = A title; with, signs\nvary = loss.rate_end_to_end\n"
                        "values = 0;0.01;0.1\nseeds = 2\n"
                        "\n[case:ring]\nworkload.kind = ring\nworkload.bytes = 1\n"
                        "\n[case:direct]\nworkload.kind = direct\n"
                        "\n[variant:one]\ntransport.name = rocev2\ntransport.qps = 4\n"
                        "\n[variant:two]\ntopology.planes = 2\ntransport.name = metaroce\n"
                        "\n[curve:go-back-N]\nform = nak_then_timeout\nwindow = 71.5\nrto = 4ms\n"
                        "packet_time = 84ns\n");
    compare_plan_clear(&plan);
}

static void writes_a_group_of_both_axes_as_given(void **state)
{
    static const struct scenario_entry both = ENTRY("case:ring", "transport.name", "meta");
    static const char *const texts[] = {"[transport]\nname = x\n", "[transport]\nname = x\n"};
    struct compare_plan plan;

    (void)state;
    read_good(&plan);
    assert_true(compare_plan_take(&plan, &both, NULL));
    g_autofree char *text =
        compare_plan_text(&plan, "[transport]\nname = x\nqps = 4\n", texts, texts);

    assert_true(g_str_has_prefix(text, "\n[transport]\nname = x\nqps = 4\n"));
    assert_non_null(strstr(text, "[case:ring]\ntransport.name = meta\n"));
    assert_non_null(strstr(text, "[variant:one]\ntransport.name = rocev2\n"));
    compare_plan_clear(&plan);
}

static void refuses_what_is_wrong(void **state)
{
    static const char *const lines[][4] = {
        {"compare", "vary", "loss", "a key with its group"},
        {"compare", "values", " ; ", "a list"},
        {"compare", "seeds", "0", "a number from 1"},
        {"compare", "seeds", "five", "a number from 1"},
        {"compare", "sedes", "5", "there is title vary values seeds; did you mean 'seeds'?"},
        {"variant:a,b", "transport.name", "x", "a name without comma"},
        {"variant:", "transport.name", "x", "a name without comma"},
        {"variant:a", "transport", "x", "the key needs its group"},
        {"curve:a", "form", "line", "one of selective_repeat"},
        {"curve:a", "window", "-1", "a positive number"},
        {"curve:a", "rto", "5", "a time with its unit"},
        {"curve:a", "windows", "5", "unknown key"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
        const struct scenario_entry entry = {lines[i][0], lines[i][1], lines[i][2], "x.ini:7",
                                             NULL};
        g_autoptr(GError) error = NULL;
        struct compare_plan plan;

        compare_plan_init(&plan);
        assert_false(compare_plan_take(&plan, &entry, &error));
        if (!g_str_has_prefix(error->message, "x.ini:7") || !strstr(error->message, lines[i][3]))
            fail_msg("says '%s'", error->message);
        compare_plan_clear(&plan);
    }
}

static void says_what_is_missing(void **state)
{
    (void)state;
    for (size_t left_out = 0; left_out < G_N_ELEMENTS(good); left_out++) {
        struct compare_plan plan;
        g_autoptr(GError) error = NULL;
        bool needed = left_out == 1 || left_out == 2 || left_out >= 9;

        compare_plan_init(&plan);
        for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
            if (i != left_out)
                compare_plan_take(&plan, &good[i], NULL);
        assert_int_equal(compare_plan_finish(&plan, &error), !needed);
        if (needed)
            assert_non_null(strstr(error->message, good[left_out].key));
        compare_plan_clear(&plan);
    }
}

/* --- sample ----------------------------------------------------------------------------------- */

/* Three messages of 1, 2 and 9 us, then one that never ends. */
static struct compare_sample play(bool with_unfinished, const struct sink_group *group)
{
    struct compare_gather gather;
    struct sink sink;
    const struct sink_port port = {.dropped_packets = {5, 2, 1}};

    compare_gather_init(&gather);
    sink = compare_gather_sink(&gather);
    for (int i = 0; i < 3 + with_unfinished; i++) {
        static const int64_t end_ps[] = {3000000, 4000000, 11000000, SINK_NEVER};
        const struct sink_flow flow = {.bytes = 1000000,
                                       .start_ps = 2000000,
                                       .end_receiver_ps = end_ps[i],
                                       .packets = 10,
                                       .retransmitted_packets = i,
                                       .timeouts = 1,
                                       .status = i < 3 ? SINK_FINISHED : SINK_FAILED};

        sink.ops->flow(sink.data, &flow);
    }
    sink.ops->port(sink.data, &port);
    if (group)
        sink.ops->group(sink.data, group);
    return compare_gather_finish(&gather);
}

static void gathers_a_run(void **state)
{
    const struct sink_group group = {
        .bytes = 1000, .factor_n = 3, .factor_d = 2, .start_ps = 0, .end_ps = 10000};
    const struct sink_group never = {.bytes = 1000, .factor_n = 3, .factor_d = 2, .end_ps = -1};
    struct compare_sample sample = play(false, &group);

    (void)state;
    assert_true(fabs(sample.values[COMPARE_BUSBW] - 150) < 1e-9); /* 1 kB / 10 ns x 3/2 */
    assert_true(sample.values[COMPARE_COMPLETION_P50] == 2);
    assert_true(sample.values[COMPARE_COMPLETION_P99] == 9);
    assert_true(sample.values[COMPARE_DURATION] == 9);
    assert_true(sample.values[COMPARE_RETRANSMITTED] == 3);
    assert_true(sample.values[COMPARE_LOST] == 5);
    assert_true(sample.values[COMPARE_DROPPED] == 3);
    assert_true(sample.values[COMPARE_UNFINISHED] == 0);

    sample = play(true, &never);
    assert_true(sample.values[COMPARE_BUSBW] == 0);
    assert_true(sample.values[COMPARE_COMPLETION_P50] == 2); /* rank 2 of 4 */
    assert_true(isinf(sample.values[COMPARE_COMPLETION_P99]));
    assert_true(isnan(sample.values[COMPARE_DURATION]));
    assert_true(sample.values[COMPARE_UNFINISHED] == 1);
    assert_true(sample.values[COMPARE_FAILED] == 1);

    sample = play(false, NULL); /* no collective: 3 MB in 9 us */
    assert_true(fabs(sample.values[COMPARE_BUSBW] - 1000.0 / 3) < 1e-9);
    assert_true(play(true, NULL).values[COMPARE_BUSBW] == 0);
}

/* --- report ----------------------------------------------------------------------------------- */

static const char *const values[] = {"0", "0.01", "0.1"};

/* busbw 100 and 110 without loss, half of it at 1 %; the last point has one seed, the one before
 * none */
static struct compare_run *make_runs(const struct compare_plan *plan)
{
    size_t n = (size_t)compare_plan_n_points(plan) * plan->n_seeds;
    struct compare_run *runs = g_new0(struct compare_run, n);

    for (size_t r = 0; r < n; r++) {
        struct compare_run *run = &runs[r];
        uint32_t value = compare_plan_place(plan, (uint32_t)(r / 2)).value;

        *run = (struct compare_run){
            .point = (uint32_t)(r / 2), .seed = 1 + r % 2, .state = COMPARE_DONE};
        run->sample.values[COMPARE_BUSBW] = (r % 2 ? 110 : 100) / (1.0 + value);
        if (r + 3 >= n && r + 2 != n)
            run->state = r + 1 == n ? COMPARE_BROKEN : COMPARE_WAITING;
    }
    return runs;
}

static void estimates_over_seeds(void **state)
{
    struct compare_plan plan;

    (void)state;
    read_good(&plan);
    g_autofree struct compare_run *runs = make_runs(&plan);
    const struct compare_results results = {&plan, values, runs, false};
    struct stats_estimate estimate = compare_estimate(&results, 0, COMPARE_BUSBW);

    assert_true(estimate.value == 105);
    assert_true(fabs(estimate.ci95 - 12.7062 * 5) < 1e-3); /* sd = 10 / sqrt(2), n = 2 */
    assert_true(compare_share(&results, 0).value == 1);
    assert_true(fabs(compare_share(&results, 1).value - 0.5) < 1e-12);
    assert_true(fabs(compare_share(&results, 1).ci95) < 1e-9); /* pairs: what they share cancels */
    assert_int_equal(compare_n_done(&results, 10), 1);
    assert_int_equal(compare_n_done(&results, 11), 1);
    assert_true(isnan(compare_estimate(&results, 11, COMPARE_BUSBW).ci95));
    compare_plan_clear(&plan);
}

static void files_have_the_promised_columns(void **state)
{
    g_autofree char *folder = g_dir_make_tmp("weft-compare-XXXXXX", NULL);
    struct compare_plan plan;

    (void)state;
    read_good(&plan);
    g_autofree struct compare_run *runs = make_runs(&plan);
    const struct compare_results results = {&plan, values, runs, false};

    assert_true(compare_report_write(&results, folder, NULL));
    g_autofree char *summary_path = g_build_filename(folder, "summary.csv", NULL);
    g_autofree char *points_path = g_build_filename(folder, "points.csv", NULL);
    g_autofree char *curve_path = g_build_filename(folder, "closed_form.csv", NULL);
    struct table *summary = table_read(summary_path, NULL);
    struct table *points = table_read(points_path, NULL);
    struct table *curve = table_read(curve_path, NULL);

    assert_int_equal(table_n_rows(summary), 12);
    assert_int_equal(table_n_rows(points), 22);
    assert_string_equal(table_column_name(summary, 2), "loss.rate_end_to_end");
    assert_string_equal(table_column_name(summary, 3), "seeds");
    assert_string_equal(table_column_name(summary, 4), "complete");
    for (uint32_t c = 5; c < table_n_columns(summary); c += 2) { /* metric, metric_ci95 pairs */
        g_autofree char *pair = g_strconcat(table_column_name(summary, c), "_ci95", NULL);

        assert_string_equal(table_column_name(summary, c + 1), pair);
    }
    assert_string_equal(table_field(summary, 0, 4), "yes");
    assert_string_equal(table_field(summary, 11, 3), "1");
    assert_string_equal(table_field(summary, 11, 4), "no");
    assert_string_equal(table_field(summary, 11, 6), ""); /* no interval of one */
    assert_string_equal(table_column_name(curve, 1), "go-back-N");
    table_free(summary);
    table_free(points);
    table_free(curve);
    g_unlink(summary_path);
    g_unlink(points_path);
    g_unlink(curve_path);
    g_rmdir(folder);
    compare_plan_clear(&plan);
}

static void prints_a_table(void **state)
{
    struct compare_plan plan;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    (void)state;
    read_good(&plan);
    g_autofree struct compare_run *runs = make_runs(&plan);
    runs[2].sample.values[COMPARE_UNFINISHED] = 3;
    const struct compare_results results = {&plan, values, runs, false};

    compare_report_print(&results, out);
    fclose(out);
    assert_non_null(strstr(text, "A title; with, signs\n\nring\n"));
    assert_non_null(strstr(text, "105.0 ± 63.5 "));
    assert_non_null(strstr(text, "52.5 ± 31.8 !"));
    assert_non_null(strstr(text, "50.0 ± 0.0"));
    assert_non_null(strstr(text, "(seeds missing)"));
    assert_non_null(strstr(text, "\n! flows did not finish"));
    assert_non_null(strstr(text, " 1 % "));
    free(text);
    compare_plan_clear(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_plan),
        cmocka_unit_test(writes_a_plan_with_every_key_of_its_groups),
        cmocka_unit_test(writes_a_group_of_both_axes_as_given),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(gathers_a_run),
        cmocka_unit_test(estimates_over_seeds),
        cmocka_unit_test(files_have_the_promised_columns),
        cmocka_unit_test(prints_a_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
