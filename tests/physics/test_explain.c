/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What explain.h says of a message's time adds up, to the picosecond, in random scenarios: lossy
 * ones, incast, planes, all transports, pauses, slow hosts, faults. And scenarios whose parts are
 * arithmetic.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "sim/app/explain.h"
#include "sim/core/random.h"

struct seen {
    struct scenario *scenario;
    struct experiment experiment;
    struct journal journal;
    struct backend_result result;
};

/* Plays and records everything. */
static void see(struct seen *seen, char *const *settings)
{
    static const struct sink_ops nothing = {.flow = NULL};
    struct sink sink = {&nothing, NULL};
    GError *error = NULL;

    seen->scenario = scenario_new();
    for (; *settings; settings++)
        if (!scenario_set(seen->scenario, *settings, &error))
            g_error("%s", error->message);
    if (!experiment_init(&seen->experiment, seen->scenario, &error))
        g_error("%s", error->message);
    const struct schedule *schedule = &seen->experiment.schedule;

    journal_init(&seen->journal, &seen->experiment);
    for (uint64_t i = 0; i < schedule->n_ops; i++) {
        struct schedule_op op;

        schedule_op(schedule, i, &op);
        if (op.kind == SCHEDULE_MESSAGE)
            journal_want(&seen->journal, schedule->rank_host[op.rank], schedule->rank_host[op.peer],
                         0, INT64_MAX);
    }
    if (!experiment_play(&seen->experiment, &sink, NULL, NULL, &seen->result, &error))
        g_error("%s", error->message);
}

static void forget(struct seen *seen)
{
    backend_result_clear(&seen->result);
    journal_clear(&seen->journal);
    experiment_clear(&seen->experiment);
    scenario_free(seen->scenario);
}

/* Segments follow one another from the end to the beginning, and parts are their sums. */
static void check_sum(const struct explain *explain)
{
    int64_t t_ps = explain->to_ps, sum_ps = 0;

    assert_null(explain->broken);
    for (guint i = 0; i < explain->segments->len; i++) {
        const struct explain_segment *segment =
            &g_array_index(explain->segments, struct explain_segment, i);

        assert_int_equal(segment->to_ps, t_ps);
        assert_true(segment->from_ps < segment->to_ps);
        t_ps = segment->from_ps;
    }
    assert_int_equal(t_ps, explain->from_ps);
    for (int part = 0; part < EXPLAIN_N_PARTS; part++)
        for (int why = 0; why < EXPLAIN_N_WHYS; why++)
            sum_ps += explain->part_ps[part][why];
    assert_int_equal(sum_ps, explain->to_ps - explain->from_ps);
    assert_int_equal(sum_ps, explain->sum_ps);
    for (int why = 0; why < EXPLAIN_N_WHYS; why++)
        assert_int_equal(explain->part_ps[EXPLAIN_IDLE][why], 0);
}

/* All messages, groups and the run; returns what all messages waited for each part. */
static guint check_all(const struct seen *seen, int64_t *part_ps)
{
    const struct schedule *schedule = &seen->experiment.schedule;
    struct explain explain;
    guint n = 0;

    for (uint64_t i = 0; i < schedule->n_ops; i++) {
        if (seen->journal.ops[i].delivered_ps < 0)
            continue;
        explain_message(&explain, &seen->journal, i);
        check_sum(&explain);
        for (int part = 0; part < EXPLAIN_N_PARTS; part++)
            for (int why = 0; why < EXPLAIN_N_WHYS; why++)
                part_ps[part] += explain.part_ps[part][why];
        explain_clear(&explain);
        n++;
    }
    if (seen->result.outcome != BACKEND_FINISHED)
        return n;
    for (guint group = 0; group < schedule->groups->len; group++) {
        explain_group(&explain, &seen->journal, group, true);
        check_sum(&explain);
        explain_clear(&explain);
    }
    explain_run(&explain, &seen->journal, true);
    check_sum(&explain);
    explain_clear(&explain);
    return n;
}

/* --- random scenarios --- */

struct choices {
    const char *key;
    const char *values[9];
};

static const struct choices fabrics[] = {
    {"topology.planes", {"1", "1", "2", "4", NULL}},
    {"topology.hosts_per_leaf", {"4", "8", "16", NULL}},
    {"topology.link_rate", {"100Gbps", "400Gbps", NULL}},
    {"transport.name", {"rocev2", "metaroce", "rocev2", "metaroce", "example", NULL}},
    {"transport.payload", {"4096B", "1000B", NULL}},
    {"queue.kind", {"droptail", "red", "step", NULL}},
    {"queue.kmin", {"5KB", "20KB", NULL}},
    {"queue.kmax", {"40KB", NULL}},
    {"queue.limit", {"30KB", "200KB", "64MiB", NULL}},
    {"queue.priorities", {"0,0,0", "0,7,7", NULL}},
    {"loss.rate_per_link", {"0", "0", "0.1%", "1%", "5%", NULL}},
    {"loss.class", {"all", "all", "data", "ack", NULL}},
    {"host.clock_drift", {"0", "0", "1e-4", NULL}},
    {"host.issue_time", {"0ps", "700ns", NULL}},
    {"host.notify_time", {"0ps", "300ns", NULL}},
    {"host.receive_rate", {"0bps", "0bps", "90Gbps", NULL}},
    {"host.receive_buffer", {"4MB", NULL}},
    {"route.kind", {"ecmp", "spray", NULL}},
    {"pfc.enable", {"off", "off", "on", NULL}},
    {"run.end", {"300ms", NULL}},
};
static const struct choices roce[] = {
    {"transport.recovery", {"go_back_n", "selective_repeat", NULL}},
    {"transport.queue_pairs", {"1", "1", "4", NULL}},
    {"transport.window", {"0B", "16KiB", "64KiB", "512KiB", NULL}},
    {"transport.cc", {"fixed", "dcqcn", NULL}},
    {"transport.rto", {"50us", "500us", NULL}},
    {"transport.nak", {"once", "descent", NULL}},
    {"transport.ack_every", {"1", "4", NULL}},
};
static const struct choices workloads[] = {
    {"workload.kind",
     {"incast", "permutation", "allreduce", "alltoall", "reducescatter", "allgather", NULL}},
    {"workload.bytes", {"1B", "5000B", "64KiB", "300KB", NULL}},
};

static void choose(GPtrArray *settings, struct random_stream *draws, const struct choices *choices,
                   size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t n_values = 0;

        while (choices[i].values[n_values])
            n_values++;
        g_ptr_array_add(settings,
                        g_strdup_printf("%s=%s", choices[i].key,
                                        choices[i].values[random_below(draws, n_values)]));
    }
}

static bool says(const GPtrArray *settings, const char *text)
{
    for (guint i = 0; i < settings->len; i++)
        if (g_str_equal(g_ptr_array_index(settings, i), text))
            return true;
    return false;
}

static GPtrArray *random_settings(struct random_stream *draws, uint64_t number)
{
    GPtrArray *settings = g_ptr_array_new_with_free_func(g_free);

    g_ptr_array_add(settings, g_strdup("topology.kind=clos"));
    g_ptr_array_add(settings, g_strdup("topology.hosts=16"));
    g_ptr_array_add(settings, g_strdup_printf("run.seed=%" G_GUINT64_FORMAT, number));
    choose(settings, draws, fabrics, G_N_ELEMENTS(fabrics));
    choose(settings, draws, workloads, G_N_ELEMENTS(workloads));
    if (says(settings, "transport.name=rocev2"))
        choose(settings, draws, roce, G_N_ELEMENTS(roce));
    if (random_below(draws, 5) == 0) {
        g_ptr_array_add(settings, g_strdup("fault:x.object=link:1"));
        g_ptr_array_add(settings, g_strdup("fault:x.at=3us"));
        g_ptr_array_add(settings, g_strdup("fault:x.until=50us"));
        g_ptr_array_add(settings, g_strdup(random_below(draws, 2) ? "fault:x.change=rate=50%"
                                                                  : "fault:x.change=down"));
    }
    g_ptr_array_add(settings, NULL);
    return settings;
}

static void every_sum_is_exact(void **state)
{
    struct random_stream draws = random_stream(2026, RANDOM_WORKLOAD, 7);
    int64_t part_ps[EXPLAIN_N_PARTS] = {0};
    guint n = 0, n_finished = 0;
    const char *asked = g_getenv("WEFT_EXPLAIN_CASES");
    uint64_t n_cases = asked ? g_ascii_strtoull(asked, NULL, 10) : 120;

    (void)state;
    for (uint64_t i = 0; i < n_cases; i++) {
        g_autoptr(GPtrArray) settings = random_settings(&draws, i + 1);
        struct seen seen;

        if (g_getenv("WEFT_EXPLAIN_SHOW"))
            for (guint k = 0; k + 1 < settings->len; k++)
                print_message("%s%s", (char *)g_ptr_array_index(settings, k),
                              k + 2 < settings->len ? " " : "\n");
        see(&seen, (char *const *)settings->pdata);
        n += check_all(&seen, part_ps);
        n_finished += seen.result.outcome == BACKEND_FINISHED;
        forget(&seen);
    }
    print_message("%u messages of %d runs, %u finished\n", n, (int)n_cases, n_finished);
    for (int part = 0; part < EXPLAIN_ISSUE; part++) {
        print_message("%-24s %.6f s\n", explain_part_name(part), (double)part_ps[part] / 1e12);
        /* each part has been met, but for the one that never is */
        if (!asked)
            assert_true((part_ps[part] > 0) == (part != EXPLAIN_IDLE));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sum_is_exact),
    };

    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
