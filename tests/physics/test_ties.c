/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two equal senders into one full queue. Each sends N packets without recovery at line rate, so the
 * queue drops about half of all. With equal starts the hash of (seed, instant, port) decides anew
 * at each instant, so the losses of one sender are about binomial(N, 1/2): sigma = sqrt(N) / 2.
 *
 * With a constant phase and perfect clocks the earlier sender always finds the free place: that is
 * physics, not a tie, and no random tie-break cures it. NIC clocks that drift turn the phase, once
 * in 1 / (difference) packets; the losses then come in runs of thousands of packets, so sigma is
 * not that of single packets but is taken over seeds: the mean difference of 40 seeds lies within 3
 * standard errors of 0, and over them neither sender starves.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "tests/physics/play.h"

#define COMMON                                                                                     \
    "topology.kind=star", "topology.hosts=3", "topology.link_rate=100Gbps",                        \
        "topology.link_delay=1us", "transport.name=example", "transport.window=1000000",           \
        "queue.limit=50KB", "workload.kind=list"

/* Packets that arrived from each sender; bytes_by_plane is gone, so by ports into the switch. */
static void losses(struct play *played, int64_t lost[2])
{
    for (int i = 0; i < 2; i++) {
        const struct sink_flow *flow = play_flow_of(played, (uint64_t)i);

        lost[i] = flow->packets;
    }
}

struct outcome {
    int64_t sent[2], arrived[2], dropped;
};

/* Acknowledgements tell what arrived: one for each data packet, sent to its sender's port. */
static struct outcome run(uint64_t seed, const char *flows, const char *drift)
{
    g_autofree char *flows_text = g_strdup_printf("workload.flows=%s", flows);
    g_autofree char *drift_text = g_strdup_printf("host.clock_drift=%s", drift);
    const char *settings[] = {COMMON, flows_text, drift_text, NULL};
    struct play played;
    struct outcome outcome = {0};
    int64_t sent[2];

    play(&played, seed, settings);
    losses(&played, sent);
    for (int i = 0; i < 2; i++)
        outcome.sent[i] = sent[i];
    for (guint p = 0; p < played.ports->len; p++) {
        const struct sink_port *port = &g_array_index(played.ports, struct sink_port, p);

        if (port->node == 3 && port->peer < 2) /* the switch's ports towards the senders */
            outcome.arrived[port->peer] += port->packets;
    }
    outcome.dropped = played.dropped_queue;
    play_clear(&played);
    return outcome;
}

static void check_fair(const struct outcome *outcome)
{
    double n = (double)(outcome->sent[0] + outcome->sent[1] - outcome->dropped);
    double difference = (double)(outcome->arrived[0] - outcome->arrived[1]);

    assert_true(outcome->dropped > outcome->sent[0] / 3); /* the queue was full */
    assert_true(difference * difference <= 9 * n);
}

static void test_equal_starts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct outcome outcome = run(seed, "0>2 20MB; 1>2 20MB", "0");

        check_fair(&outcome);
    }
}

static void test_ids_swapped(void **state)
{
    struct outcome one, other;

    (void)state;
    one = run(5, "0>2 4MB; 1>2 4MB", "0");
    other = run(5, "1>2 4MB; 0>2 4MB", "0");
    /* the flows swap numbers, the hosts keep their luck */
    assert_int_equal(one.arrived[0], other.arrived[0]);
    assert_int_equal(one.arrived[1], other.arrived[1]);
    assert_int_not_equal(one.arrived[0], one.arrived[1]);
}

static void test_constant_phase_is_no_tie(void **state)
{
    struct outcome outcome;

    (void)state;
    outcome = run(1, "0>2 4MB; 1>2 4MB start=100ns", "0");
    assert_true(outcome.arrived[0] > 10 * outcome.arrived[1]);
}

/* The difference of the two over many seeds, which draw the two clocks. */
static void check_drift(const char *flows)
{
    double sum = 0, sum_squares = 0;
    int64_t arrived[2] = {0};
    enum { N = 40 };

    for (uint64_t seed = 1; seed <= N; seed++) {
        struct outcome outcome = run(seed, flows, "1000ppm");
        double difference = (double)(outcome.arrived[0] - outcome.arrived[1]);

        for (int i = 0; i < 2; i++)
            arrived[i] += outcome.arrived[i];
        sum += difference;
        sum_squares += difference * difference;
    }
    double variance = (sum_squares - sum * sum / N) / (N - 1);

    assert_true(sum * sum / N <= 9 * variance);
    assert_true(arrived[0] > arrived[1] / 2 && arrived[1] > arrived[0] / 2);
}

static void test_constant_phase_with_drift(void **state)
{
    (void)state;
    check_drift("0>2 100MB; 1>2 100MB start=100ns");
}

static void test_drift_alone(void **state)
{
    (void)state;
    check_drift("0>2 100MB; 1>2 100MB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_starts),
        cmocka_unit_test(test_ids_swapped),
        cmocka_unit_test(test_constant_phase_is_no_tie),
        cmocka_unit_test(test_constant_phase_with_drift),
        cmocka_unit_test(test_drift_alone),
    };

    return cmocka_run_group_tests_name("ties", tests, NULL, NULL);
}
