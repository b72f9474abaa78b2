/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what is written of a run: sim/app/summary.c, sim/app/output.c, sim/app/survey.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/experiment.h"
#include "sim/app/output.h"
#include "sim/app/summary.h"
#include "sim/app/survey.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

/* --- summary ---------------------------------------------------------------------------------- */

static struct sink_flow finished_flow(int64_t start_ps, int64_t end_ps, const int64_t *planes)
{
    return (struct sink_flow){.transport = "t",
                              .bytes = 1000,
                              .start_ps = start_ps,
                              .end_receiver_ps = end_ps,
                              .end_sender_ps = end_ps + 1,
                              .ideal_ps = 50,
                              .packets = 2,
                              .n_planes = 2,
                              .bytes_by_plane = planes,
                              .group = SCHEDULE_NO_GROUP,
                              .reason = ""};
}

static void slowdown_is_rounded_and_not_clamped(void **state)
{
    struct sink_flow flow = {.start_ps = 100, .end_receiver_ps = 300, .ideal_ps = 300};

    (void)state;
    assert_int_equal(summary_slowdown_ppm(&flow), 666667); /* 200 / 300 */
    flow.end_receiver_ps = 200;
    assert_int_equal(summary_slowdown_ppm(&flow), 333333);
    flow.start_ps = 0;
    flow.end_receiver_ps = INT64_C(4000000000000000000); /* 46 days: times 10^6 is beyond 64 bits */
    flow.ideal_ps = INT64_C(1000000000000000000);
    assert_int_equal(summary_slowdown_ppm(&flow), 4000000);
}

static void slowdown_needs_its_times(void **state)
{
    struct sink_flow flow = {.start_ps = SINK_NEVER, .end_receiver_ps = 3, .ideal_ps = 3};

    (void)state;
    assert_int_equal(summary_slowdown_ppm(&flow), -1);
    flow = (struct sink_flow){.start_ps = 0, .end_receiver_ps = SINK_NEVER, .ideal_ps = 3};
    assert_int_equal(summary_slowdown_ppm(&flow), -1);
    flow = (struct sink_flow){.start_ps = 0, .end_receiver_ps = 3, .ideal_ps = 0};
    assert_int_equal(summary_slowdown_ppm(&flow), -1);
}

/* Completions 1 .. n x 100 ps, given in another order. */
static void gather(struct summary *summary, int64_t n)
{
    static const int64_t planes[] = {400, 600};

    for (int64_t i = 0; i < n; i++) {
        struct sink_flow flow = finished_flow(7, 7 + 100 * ((i * 7) % n + 1), planes);

        summary_flow(summary, &flow);
    }
}

static void percentiles_are_by_nearest_rank(void **state)
{
    static const struct {
        int64_t n;
        double p50, p99;
    } cases[] = {{1, 100, 100},    {2, 100, 200},     {5, 300, 500},
                 {60, 3000, 6000}, {100, 5000, 9900}, {201, 10100, 19900}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct summary summary;

        summary_init(&summary);
        gather(&summary, cases[i].n);
        summary_finish(&summary, NULL);
        assert_true(summary_value(&summary, "completion_p50_nearest_rank") == cases[i].p50);
        assert_true(summary_value(&summary, "completion_p99_nearest_rank") == cases[i].p99);
        assert_true(summary_value(&summary, "completion_min") == 100);
        assert_true(summary_value(&summary, "completion_max") == 100 * (double)cases[i].n);
        summary_clear(&summary);
    }
}

/* Of four flows three end, after 100, 200 and 300 ps: the 4th is longer than all. */
static void percentiles_of_all_count_the_unfinished_as_longest(void **state)
{
    static const int64_t planes[] = {400, 600};
    struct sink_flow flow = finished_flow(0, SINK_NEVER, planes);
    struct summary summary;

    (void)state;
    summary_init(&summary);
    assert_int_equal(summary_percentile_ps(&summary, 500), SINK_NEVER);
    gather(&summary, 3);
    flow.status = SINK_UNFINISHED;
    summary_flow(&summary, &flow);
    summary_finish(&summary, NULL);
    assert_int_equal(summary_percentile_ps(&summary, 250), 100);
    assert_int_equal(summary_percentile_ps(&summary, 500), 200);
    assert_int_equal(summary_percentile_ps(&summary, 750), 300);
    assert_int_equal(summary_percentile_ps(&summary, 751), SINK_NEVER);
    assert_int_equal(summary_percentile_ps(&summary, 999), SINK_NEVER);
    summary_clear(&summary);
}

/* 3 x 1000 bytes from 7 to 307 ps; or, with a flow that does not end, to the run's end at 1007. */
static void throughput_is_busbw_or_payload_over_time(void **state)
{
    static const int64_t planes[] = {400, 600};
    struct backend_result result = {.end_ps = 1007};
    struct sink_flow flow = finished_flow(7, SINK_NEVER, planes);
    struct sink_group group = {.name = "a",
                               .bytes = 1000,
                               .n_calls = 1,
                               .factor_n = 3,
                               .factor_d = 2,
                               .start_ps = 0,
                               .end_ps = 4000};
    struct summary summary;

    (void)state;
    summary_init(&summary);
    assert_true(summary_throughput_bps(&summary, &result) == 0);
    gather(&summary, 3);
    assert_true(fabs(summary_throughput_bps(&summary, &result) - 3000 * 8e12 / 300) < 1);
    flow.status = SINK_FAILED;
    summary_flow(&summary, &flow);
    assert_true(fabs(summary_throughput_bps(&summary, &result) - 4000 * 8e12 / 1000) < 1);
    summary_group(&summary, &group);
    group.end_ps = SINK_NEVER; /* one that does not end counts as 0 */
    summary_group(&summary, &group);
    group.factor_n = 0; /* one without busbw does not count */
    summary_group(&summary, &group);
    assert_true(fabs(summary_throughput_bps(&summary, &result) - 1000 * 8e12 / 4000 * 1.5 / 2) < 1);
    summary_clear(&summary);
}

static void counts_are_sums(void **state)
{
    struct summary summary;

    (void)state;
    summary_init(&summary);
    gather(&summary, 10);
    summary_finish(&summary, NULL);
    assert_string_equal(summary_text(&summary, "flows"), "10");
    assert_string_equal(summary_text(&summary, "delivered_bytes"), "10000");
    assert_string_equal(summary_text(&summary, "data_packets_sent"), "20");
    assert_string_equal(summary_text(&summary, "completion_mean"), "550");
    /* 10000 B from 7 ps to 1007 ps */
    assert_string_equal(summary_text(&summary, "goodput"), "80000000000000");
    assert_string_equal(summary_text(&summary, "flows_slowdown_below_1"), "0");
    assert_null(summary_text(&summary, "complete")); /* only where a result is known */
    summary_clear(&summary);
}

static void nothing_has_empty_values(void **state)
{
    struct summary summary;

    (void)state;
    summary_init(&summary);
    summary_finish(&summary, NULL);
    assert_string_equal(summary_text(&summary, "completion_p99_nearest_rank"), "");
    assert_true(isnan(summary_value(&summary, "completion_p99_nearest_rank")));
    assert_string_equal(summary_text(&summary, "goodput"), "0");
    assert_null(summary_text(&summary, "no such metric"));
    assert_true(isnan(summary_value(&summary, "no such metric")));
    summary_clear(&summary);
}

static void unfinished_flows_do_not_count_as_fast(void **state)
{
    static const int64_t planes[] = {0, 0};
    struct sink_flow flow = finished_flow(0, SINK_NEVER, planes);
    struct summary summary;

    (void)state;
    summary_init(&summary);
    flow.status = SINK_UNFINISHED;
    summary_flow(&summary, &flow);
    flow = finished_flow(0, 49, planes); /* one ps faster than its ideal */
    summary_flow(&summary, &flow);
    summary_finish(&summary, NULL);
    assert_string_equal(summary_text(&summary, "flows_unfinished"), "1");
    assert_string_equal(summary_text(&summary, "flows_slowdown_below_1"), "1");
    summary_clear(&summary);
}

/* busbw of nccl-tests: S / t x 2 (n - 1) / n for an all-reduce. */
static void groups_have_bandwidths(void **state)
{
    struct sink_group group = {.name = "allreduce",
                               .bytes = 1000,
                               .n_ranks = 4,
                               .n_calls = 1,
                               .factor_n = 6,
                               .factor_d = 4,
                               .start_ps = 1000,
                               .end_ps = 9000};
    struct summary summary;

    (void)state;
    summary_init(&summary);
    summary_group(&summary, &group);
    group.name = "twice";
    summary_group(&summary, &group);
    group.end_ps = SINK_NEVER;
    summary_group(&summary, &group);
    summary_finish(&summary, NULL);
    assert_string_equal(summary_text(&summary, "group_allreduce_time"), "8000");
    assert_string_equal(summary_text(&summary, "group_allreduce_algbw"), "1000000000000");
    assert_string_equal(summary_text(&summary, "group_allreduce_busbw"), "1500000000000");
    assert_string_equal(summary_text(&summary, "group_twice_0_time"), "8000");
    assert_string_equal(summary_text(&summary, "group_twice_1_time"), ""); /* unfinished */
    assert_string_equal(summary_text(&summary, "group_twice_1_busbw"), "0");
    summary_clear(&summary);
}

static void metrics_keep_whole_numbers_whole(void **state)
{
    static const struct sink_metric metrics[] = {{"whole", "x", 123456789012.0},
                                                 {"third", "x", 1.0 / 3},
                                                 {"none", "x", NAN},
                                                 {"large", "x", 1e300}};
    struct summary summary;

    (void)state;
    summary_init(&summary);
    for (size_t i = 0; i < G_N_ELEMENTS(metrics); i++)
        summary_metric(&summary, &metrics[i]);
    summary_finish(&summary, NULL);
    assert_string_equal(summary_text(&summary, "whole"), "123456789012");
    assert_string_equal(summary_text(&summary, "third"), "0.333333333");
    assert_string_equal(summary_text(&summary, "none"), "");
    assert_string_equal(summary_text(&summary, "large"), "1e+300");
    summary_clear(&summary);
}

/* --- experiment and survey -------------------------------------------------------------------- */

static struct scenario *scenario_of(const char *const *settings)
{
    struct scenario *scenario = scenario_new();
    GError *error = NULL;

    for (; *settings; settings++)
        if (!scenario_set(scenario, *settings, &error))
            fail_msg("%s", error->message);
    return scenario;
}

/* Star of 4 hosts at 100 Gb/s, 500 ns, no latency: host 1 sends 2 packets' worth to host 0. */
static const char *const star[] = {"topology.kind=star",
                                   "topology.hosts=4",
                                   "topology.link_rate=100Gbps",
                                   "topology.link_delay=500ns",
                                   "topology.switch_latency=0ps",
                                   "workload.kind=list",
                                   "workload.flows=1>0 2000B; 0>1 1000B",
                                   "transport.name=rocev2",
                                   "transport.payload=1000B",
                                   "transport.header=100B",
                                   "transport.ack_bytes=50B",
                                   NULL};

static void a_survey_counts_before_the_run(void **state)
{
    struct scenario *scenario = scenario_of(star);
    struct experiment experiment;
    struct survey survey;
    GError *error = NULL;

    (void)state;
    assert_true(experiment_init(&experiment, scenario, &error));
    survey_make(&survey, &experiment);
    assert_int_equal(survey.n_messages, 2);
    assert_int_equal(survey.payload_bytes, 3000);
    assert_int_equal(survey.tier_bytes[1], 2 * 3300); /* 3 packets of 1100 B over 2 links */
    assert_true(survey.n_packets == 3);
    assert_true(survey.n_packet_hops == 3 * 2 * (1 + 0.25)); /* an acknowledgement every 4 */
    assert_int_equal(survey.n_connections, 2);
    /* 2 x (88 ns + 500 ns) + 2 x (4 ns + 500 ns) */
    assert_int_equal(survey.most_rtt_ps, 2184000);
    assert_int_equal(survey.least_rtt_ps, 2184000);
    assert_int_equal(survey.bdp_bytes, 27300);
    experiment_clear(&experiment);
    scenario_free(scenario);
}

static void an_experiment_can_be_played_again(void **state)
{
    struct scenario *scenario = scenario_of(star);
    struct experiment experiment;
    GError *error = NULL;

    (void)state;
    assert_true(experiment_init(&experiment, scenario, &error));
    for (int i = 0; i < 2; i++) {
        struct summary summary;
        struct backend_result result;

        summary_init(&summary);
        struct sink sink = summary_sink(&summary);
        assert_true(experiment_play(&experiment, &sink, NULL, NULL, &result, &error));
        summary_finish(&summary, &result);
        assert_int_equal(result.outcome, BACKEND_FINISHED);
        assert_string_equal(summary_text(&summary, "complete"), "1");
        /* two packets of 88 ns, two links: 3 x 88 + 2 x 500 ns */
        assert_string_equal(summary_text(&summary, "completion_max"), "1264000");
        assert_string_equal(summary_text(&summary, "wire_bytes_tier_1"),
                            summary_text(&summary, "wire_bytes"));
        backend_result_clear(&result);
        summary_clear(&summary);
    }
    experiment_clear(&experiment);
    scenario_free(scenario);
}

static void faults_of_builders_have_their_place(void **state)
{
    struct scenario *scenario = scenario_of(star);
    struct experiment experiment;
    GError *error = NULL;

    (void)state;
    assert_true(scenario_set(scenario, "workload.flows=9>0 1B", &error));
    assert_false(experiment_init(&experiment, scenario, &error));
    assert_true(g_str_has_prefix(error->message, "--set workload.kind=list: "));
    g_clear_error(&error);
    experiment_clear(&experiment);
    scenario_free(scenario);
}

/* --- output ----------------------------------------------------------------------------------- */

static void an_unfinished_output_leaves_nothing(void **state)
{
    g_autofree char *folder = g_dir_make_tmp("weft-output-XXXXXX", NULL);
    struct scenario *scenario = scenario_of(star);
    struct experiment experiment;
    struct output *output;
    GError *error = NULL;
    GDir *dir;

    (void)state;
    assert_true(experiment_init(&experiment, scenario, &error));
    output = output_new(folder, &experiment, &error);
    assert_non_null(output);
    output_free(output);
    dir = g_dir_open(folder, 0, NULL);
    assert_null(g_dir_read_name(dir));
    g_dir_close(dir);
    assert_int_equal(rmdir(folder), 0);
    experiment_clear(&experiment);
    scenario_free(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slowdown_is_rounded_and_not_clamped),
        cmocka_unit_test(slowdown_needs_its_times),
        cmocka_unit_test(percentiles_are_by_nearest_rank),
        cmocka_unit_test(percentiles_of_all_count_the_unfinished_as_longest),
        cmocka_unit_test(throughput_is_busbw_or_payload_over_time),
        cmocka_unit_test(counts_are_sums),
        cmocka_unit_test(nothing_has_empty_values),
        cmocka_unit_test(unfinished_flows_do_not_count_as_fast),
        cmocka_unit_test(groups_have_bandwidths),
        cmocka_unit_test(metrics_keep_whole_numbers_whole),
        cmocka_unit_test(a_survey_counts_before_the_run),
        cmocka_unit_test(an_experiment_can_be_played_again),
        cmocka_unit_test(faults_of_builders_have_their_place),
        cmocka_unit_test(an_unfinished_output_leaves_nothing),
    };

    return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
