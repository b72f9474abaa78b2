/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what is said of flows that compete (sim/app/fairness.c) and of classes of flows
 * (sim/app/split.c), on records made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/fairness.h"
#include "sim/app/summary.h"
#include <math.h>
#include <string.h>

#define STEP_PS INT64_C(10000000)
#define PACKET  4096

/* Two senders into host 0 of a star; a round trip on it is 4 links of 1 us and four packets. */
struct stage {
    struct scenario *scenario;
    struct experiment experiment;
    struct fairness *fairness;
    struct summary summary;
    struct sink next;
    int64_t jain_ppm[16]; /* as the series got them */
    int n_jain;
};

static void keep_series(void *data, const struct sink_series *row)
{
    struct stage *stage = data;

    if (strcmp(row->object, "group") == 0 && strcmp(row->metric, "jain") == 0)
        stage->jain_ppm[stage->n_jain++] = row->value;
}

static void keep_metric(void *data, const struct sink_metric *metric)
{
    summary_metric(&((struct stage *)data)->summary, metric);
}

static void set_stage(struct stage *stage, const char *more)
{
    static const struct sink_ops ops = {.series = keep_series, .metric = keep_metric};
    static const char *const settings[] = {
        "topology.kind=star",      "topology.hosts=3",           "topology.link_rate=100Gbps",
        "topology.link_delay=1us", "workload.kind=incast",       "workload.senders=2",
        "run.series_step=10us",    "topology.switch_latency=0ns"};

    *stage = (struct stage){.scenario = scenario_new()};
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
        assert_true(scenario_set(stage->scenario, settings[i], NULL));
    assert_true(scenario_set(stage->scenario, more, NULL));
    assert_true(experiment_init(&stage->experiment, stage->scenario, NULL));
    summary_init(&stage->summary);
    stage->next = (struct sink){&ops, stage};
    stage->fairness = fairness_new(&stage->experiment, &stage->next);
}

static void clear_stage(struct stage *stage)
{
    fairness_free(stage->fairness);
    summary_clear(&stage->summary);
    experiment_clear(&stage->experiment);
    scenario_free(stage->scenario);
}

static void row(struct stage *stage, int step, uint64_t flow, const char *metric, int64_t value)
{
    const struct sink *sink = fairness_sink(stage->fairness);
    struct sink_series record = {step * STEP_PS, "flow", flow, metric, value, "bytes"};

    sink->ops->series(sink->data, &record);
}

static void end_flow(struct stage *stage, uint64_t flow, int64_t end_ps)
{
    const struct sink *sink = fairness_sink(stage->fairness);
    struct sink_flow record = {
        .flow = flow, .transport = "t", .end_receiver_ps = end_ps, .status = SINK_FINISHED};

    sink->ops->flow(sink->data, &record);
}

static double finish(struct stage *stage, const char *metric)
{
    g_autofree char *name = g_strdup_printf("group_incast_%s", metric);

    if (stage->summary.rows->len == 0) {
        fairness_finish(stage->fairness);
        summary_finish(&stage->summary, NULL);
    }
    assert_non_null(summary_text(&stage->summary, name));
    return summary_value(&stage->summary, name);
}

/* Windows 3:1 for two steps, then 1:1; goodput 60:20 packets, then 40:40, each step of 80. */
static void settles_when_the_last_unfair_step_is_over(void **state)
{
    static const int64_t first[] = {60, 60, 40, 40, 40, 40};
    struct stage stage;
    /* 4 us, a packet twice and an acknowledgement twice at 80 ps a byte */
    double rtt_ps;

    (void)state;
    set_stage(&stage, "run.series=flow");
    for (int step = 0; step < 6; step++) {
        row(&stage, step + 1, 0, "received", first[step] * PACKET);
        row(&stage, step + 1, 0, "window", first[step] * 1000);
        row(&stage, step + 1, 1, "received", (80 - first[step]) * PACKET);
        row(&stage, step + 1, 1, "window", (80 - first[step]) * 1000);
    }
    end_flow(&stage, 0, 6 * STEP_PS);
    end_flow(&stage, 1, 6 * STEP_PS);
    rtt_ps = finish(&stage, "base_rtt");
    assert_true(rtt_ps > 4e6 && rtt_ps < 5e6);
    assert_true(finish(&stage, "allowance_settled") == 3.0 * STEP_PS);
    assert_true(fabs(finish(&stage, "allowance_settled_base_rtts") - 3.0 * STEP_PS / rtt_ps) <
                1e-6);
    assert_true(finish(&stage, "goodput_window") == 1.0 * STEP_PS); /* 40 packets are enough */
    assert_true(finish(&stage, "goodput_fair") == 3.0 * STEP_PS);
    assert_true(finish(&stage, "goodput_settled") == 3.0 * STEP_PS);
    assert_true(fabs(finish(&stage, "goodput_fair_share") - 4.0 / 6) < 1e-6);
    assert_int_equal(stage.n_jain, 6);
    assert_int_equal(stage.jain_ppm[0], 800000); /* 80^2 / (2 (60^2 + 20^2)) */
    assert_int_equal(stage.jain_ppm[5], 1000000);
    assert_true(fabs(finish(&stage, "jain_mean") - (2 * 0.8 + 4) / 6) < 1e-6);
    clear_stage(&stage);
}

/* 5 packets a step and flow: windows of four steps; the unfair step 5 spoils those that have it. */
static void small_shares_take_a_wider_window(void **state)
{
    struct stage stage;

    (void)state;
    set_stage(&stage, "run.series=flow");
    for (int step = 1; step <= 9; step++) {
        row(&stage, step, 0, "received", (step == 5 ? 10 : 5) * PACKET);
        row(&stage, step, 1, "received", (step == 5 ? 0 : 5) * PACKET);
    }
    end_flow(&stage, 0, 9 * STEP_PS);
    end_flow(&stage, 1, 9 * STEP_PS);
    assert_true(finish(&stage, "goodput_window") == 4.0 * STEP_PS);
    assert_true(finish(&stage, "goodput_fair") == 4.0 * STEP_PS);
    assert_true(finish(&stage, "goodput_settled") == 9.0 * STEP_PS);
    assert_true(fabs(finish(&stage, "goodput_fair_share") - 2.0 / 6) < 1e-6);
    clear_stage(&stage);
}

/* Paced rates count before windows; what comes after the first flow's end does not. */
static void rates_are_the_allowance_where_there_are_any(void **state)
{
    struct stage stage;

    (void)state;
    set_stage(&stage, "run.series=flow");
    for (int step = 1; step <= 4; step++)
        for (uint64_t flow = 0; flow < 2; flow++) {
            row(&stage, step, flow, "received", 40 * PACKET);
            row(&stage, step, flow, "window", 1000 * (int64_t)(flow + 1));
            row(&stage, step, flow, "rate", step == 4 && flow == 0 ? 1 : 5000);
        }
    end_flow(&stage, 0, 3 * STEP_PS);
    end_flow(&stage, 1, 4 * STEP_PS);
    assert_true(finish(&stage, "allowance_settled") == 1.0 * STEP_PS);
    clear_stage(&stage);
}

static void without_series_of_flows_there_is_nothing(void **state)
{
    struct stage stage;

    (void)state;
    set_stage(&stage, "run.series=port");
    assert_null(stage.fairness);
    clear_stage(&stage);
    set_stage(&stage, "run.series_step=0ps");
    assert_null(stage.fairness);
    clear_stage(&stage);
}

/* Flows of 1000 B in 100 ps each, one class in sequence, the other unfinished. */
static void classes_have_rows_where_there_are_several(void **state)
{
    static const int64_t planes[] = {400, 600};
    struct summary summary;
    struct sink_flow flow = {.transport = "a",
                             .bytes = 1000,
                             .end_receiver_ps = 100,
                             .n_planes = 2,
                             .bytes_by_plane = planes,
                             .group = SCHEDULE_NO_GROUP,
                             .reach = GRAPH_SCALE_OUT};

    (void)state;
    summary_init(&summary);
    summary_flow(&summary, &flow);
    flow.start_ps = 100;
    flow.end_receiver_ps = 300;
    summary_flow(&summary, &flow);
    flow.transport = "b";
    flow.status = SINK_UNFINISHED;
    flow.end_receiver_ps = SINK_NEVER;
    summary_flow(&summary, &flow);
    summary_finish(&summary, NULL);
    assert_string_equal(summary_text(&summary, "transport_a_flows"), "2");
    assert_string_equal(summary_text(&summary, "transport_a_delivered_bytes"), "2000");
    assert_true(fabs(summary_value(&summary, "transport_a_goodput") / (2000 * 8e12 / 300) - 1) <
                1e-6);
    assert_true(
        fabs(summary_value(&summary, "transport_a_flow_goodput_mean") / (1000 * 8e12 / 400 * 3) -
             1) < 1e-6); /* mean of 1000 B in 100 and in 200 ps */
    assert_string_equal(summary_text(&summary, "transport_a_completion_max"), "200");
    assert_string_equal(summary_text(&summary, "transport_b_flows_finished"), "0");
    assert_string_equal(summary_text(&summary, "transport_b_completion_max"), "");
    assert_null(summary_text(&summary, "reach_scale_out_flows")); /* all are of one reach */
    summary_clear(&summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settles_when_the_last_unfair_step_is_over),
        cmocka_unit_test(small_shares_take_a_wider_window),
        cmocka_unit_test(rates_are_the_allowance_where_there_are_any),
        cmocka_unit_test(without_series_of_flows_there_is_nothing),
        cmocka_unit_test(classes_have_rows_where_there_are_several),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
