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
#include <glib/gstdio.h>

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
    {"transport.bond", {"off", "off", "on", NULL}},
    {"transport.bond_delay", {"5us", NULL}},
    {"transport.bond_timeouts", {"0", "1", NULL}},
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

/* --- arithmetic ---
 * Star at 100 Gb/s: a packet of 4178 B takes S = 334,240 ps a wire, an acknowledgement of 84 B
 * A = 6,720 ps; links of 500 ns, a switch of 600 ns: D = 1.6 us one way.
 */
#define S INT64_C(334240)
#define A INT64_C(6720)
#define STAR                                                                                       \
    "topology.kind=star", "topology.hosts=4", "topology.link_rate=100Gbps", "workload.kind=list",  \
        "transport.name=rocev2"
#define PROPAGATION INT64_C(1000000)
#define SWITCH      INT64_C(600000)

static void see_texts(struct seen *seen, const char *const *settings)
{
    see(seen, (char *const *)(uintptr_t)settings);
}

/* Ten packets one after the other, the last one over two wires. */
static void a_lone_message(void **state)
{
    static const char *const settings[] = {STAR, "workload.flows=0>1 40960B", NULL};
    struct seen seen;
    struct explain explain;

    (void)state;
    see_texts(&seen, settings);
    explain_message(&explain, &seen.journal, 0);
    check_sum(&explain);
    assert_int_equal(explain.part_ps[EXPLAIN_SERIALISATION][EXPLAIN_DIRECT], 11 * S);
    assert_int_equal(explain.part_ps[EXPLAIN_PROPAGATION][EXPLAIN_DIRECT], PROPAGATION);
    assert_int_equal(explain.part_ps[EXPLAIN_SWITCH][EXPLAIN_DIRECT], SWITCH);
    assert_int_equal(explain.sum_ps, 11 * S + PROPAGATION + SWITCH);
    assert_int_equal(explain.last->sequence, 9);
    assert_int_equal(explain.last->n_before, 0);
    explain_clear(&explain);
    forget(&seen);
}

/*
 * A window of two packets: four times the sender waits for the acknowledgement of the second, so
 * for the packet's way (2 S + D) and the answer's (2 A + D); the first of each two is no wait.
 */
static void a_window_of_two(void **state)
{
    static const char *const settings[] = {STAR, "workload.flows=0>1 40960B",
                                           "transport.window=8192B", NULL};
    struct seen seen;
    struct explain explain;

    (void)state;
    see_texts(&seen, settings);
    explain_message(&explain, &seen.journal, 0);
    check_sum(&explain);
    assert_int_equal(explain.part_ps[EXPLAIN_SERIALISATION][EXPLAIN_WINDOW], 4 * (2 * S + 2 * A));
    assert_int_equal(explain.part_ps[EXPLAIN_PROPAGATION][EXPLAIN_WINDOW], 8 * PROPAGATION);
    assert_int_equal(explain.part_ps[EXPLAIN_SWITCH][EXPLAIN_WINDOW], 8 * SWITCH);
    assert_int_equal(explain.part_ps[EXPLAIN_SERIALISATION][EXPLAIN_DIRECT], 7 * S);
    assert_int_equal(explain.part_ps[EXPLAIN_PROPAGATION][EXPLAIN_DIRECT], PROPAGATION);
    explain_clear(&explain);
    forget(&seen);
}

/*
 * The last packet is lost. It was sent at 9 S; the timeout of 100 us counts from the last
 * acknowledgement, that of packet 8, at 9 S + 2 D + 2 A, and the sender is silent from 10 S on.
 * It then sends packets 9 and 10 again, neither of which was acknowledged.
 */
static void a_lost_tail(void **state)
{
    g_autofree char *folder = g_dir_make_tmp("weft-test-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "drops.csv", NULL);
    g_autofree char *drop = g_strdup_printf("loss.drop_file=%s", path);
    const char *settings[] = {STAR, "workload.flows=0>1 40960B", "transport.rto=100us", drop, NULL};
    struct seen seen;
    struct explain explain;

    (void)state;
    assert_true(g_file_set_contents(path, "flow,sequence,transmission,link\n0,9,1,0\n", -1, NULL));
    see_texts(&seen, settings);
    explain_message(&explain, &seen.journal, 0);
    check_sum(&explain);
    assert_int_equal(explain.part_ps[EXPLAIN_TIMEOUT][EXPLAIN_RECOVERY],
                     100000000 + 2 * (PROPAGATION + SWITCH) + 2 * A - S);
    assert_int_equal(explain.part_ps[EXPLAIN_SERIALISATION][EXPLAIN_RECOVERY], 2 * S);
    assert_int_equal(explain.part_ps[EXPLAIN_SERIALISATION][EXPLAIN_DIRECT], 11 * S);
    assert_int_equal(explain.last->n_before, 1);
    assert_int_equal(explain.last->before->fate, JOURNAL_LOST);
    assert_int_equal(explain.last->before->cause, SINK_DROP_LISTED);
    explain_clear(&explain);
    forget(&seen);
    g_unlink(path);
    g_rmdir(folder);
}

/* Two packets for one port: one of them waits while the other is sent, there and nowhere else. */
static void two_for_one_port(void **state)
{
    static const char *const settings[] = {STAR, "workload.flows=0>3 4096B; 1>3 4096B", NULL};
    struct seen seen;
    int64_t waits_ps = 0;

    (void)state;
    see_texts(&seen, settings);
    for (uint64_t op = 0; op < 2; op++) {
        struct explain explain;

        explain_message(&explain, &seen.journal, op);
        check_sum(&explain);
        waits_ps += explain.part_ps[EXPLAIN_QUEUE][EXPLAIN_DIRECT];
        for (guint i = 0; i < explain.segments->len; i++) {
            const struct explain_segment *segment =
                &g_array_index(explain.segments, struct explain_segment, i);

            if (segment->part == EXPLAIN_QUEUE)
                assert_int_equal(graph_port_peer(&seen.experiment.graph, segment->port), 3);
        }
        explain_clear(&explain);
    }
    assert_int_equal(waits_ps, S);
    forget(&seen);
}

/* Two messages of one host to two others share its NIC: packets go in turn. */
static void two_from_one_nic(void **state)
{
    static const char *const settings[] = {STAR, "workload.flows=0>1 40960B; 0>2 40960B", NULL};
    struct seen seen;
    struct explain explain;

    (void)state;
    see_texts(&seen, settings);
    explain_message(&explain, &seen.journal, 1);
    check_sum(&explain);
    assert_int_equal(explain.part_ps[EXPLAIN_NIC_OTHERS][EXPLAIN_DIRECT], 10 * S);
    assert_int_equal(explain.part_ps[EXPLAIN_SERIALISATION][EXPLAIN_DIRECT], 11 * S);
    explain_clear(&explain);
    forget(&seen);
}

/*
 * A ring of four ranks: the chain has 6 steps, each issued in 1 us, told in 2 us and, in the first
 * three, reduced at 100 Gb/s: 16 KiB in 1,310,720 ps.
 */
static void a_ring_waits_for_its_nodes(void **state)
{
    static const char *const settings[] = {
        "topology.kind=star",      "topology.hosts=4",         "topology.link_rate=100Gbps",
        "workload.kind=allreduce", "workload.bytes=64KiB",     "host.issue_time=1us",
        "host.notify_time=2us",    "host.reduce_rate=100Gbps", NULL};
    struct seen seen;
    struct explain explain;

    (void)state;
    see_texts(&seen, settings);
    explain_group(&explain, &seen.journal, 0, true);
    check_sum(&explain);
    assert_int_equal(explain.part_ps[EXPLAIN_ISSUE][EXPLAIN_DIRECT], 6000000);
    assert_int_equal(explain.part_ps[EXPLAIN_NOTIFY][EXPLAIN_DIRECT], 12000000);
    assert_int_equal(explain.part_ps[EXPLAIN_REDUCE][EXPLAIN_DIRECT], 3 * 1310720);
    assert_int_equal(explain.part_ps[EXPLAIN_SERIALISATION][EXPLAIN_DIRECT], 6 * 5 * S);
    explain_clear(&explain);
    forget(&seen);
}

/* Message engines, flags, host and device: the chains of calls are exact there as well. */
static void calls_of_message_engines(void **state)
{
    static const char *const cases[][9] = {
        {"topology.kind=rack", "host.node=mtia300", "workload.kind=collective",
         "workload.begin=4KiB", "workload.end=256KiB", "workload.iterations=2", NULL},
        {"topology.kind=rack", "host.node=mtia300", "workload.kind=collective",
         "workload.begin=4KiB", "workload.end=256KiB", "loss.rate_per_link=1%",
         "transport.rto=50us", "run.seed=3", NULL},
    };
    int64_t part_ps[EXPLAIN_N_PARTS] = {0};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct seen seen;

        see_texts(&seen, cases[i]);
        assert_int_equal(seen.result.outcome, BACKEND_FINISHED);
        assert_true(check_all(&seen, part_ps) > 0);
        forget(&seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_message),
        cmocka_unit_test(a_window_of_two),
        cmocka_unit_test(a_lost_tail),
        cmocka_unit_test(two_for_one_port),
        cmocka_unit_test(two_from_one_nic),
        cmocka_unit_test(a_ring_waits_for_its_nodes),
        cmocka_unit_test(calls_of_message_engines),
        cmocka_unit_test(every_sum_is_exact),
    };

    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
