/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workloads played: computations between collectives, the victim of an incast, Poisson arrivals to
 * their end.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "tests/physics/play.h"

/* Three calls take 2 gaps longer, to the picosecond: nothing is carried over from call to call. */
static void test_gaps_add_to_the_run(void **state)
{
    static const char *const kinds[] = {"workload.kind=allreduce", "workload.kind=alltoall"};

    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
        int64_t last_ps[2], group_ps[2];

        for (int i = 0; i < 2; i++) {
            const char *settings[] = {"topology.kind=star",
                                      "topology.hosts=4",
                                      kinds[k],
                                      "workload.bytes=1MiB",
                                      "workload.iterations=3",
                                      i ? "workload.gap=1ms" : "workload.gap=50us",
                                      NULL};
            struct play played;

            play(&played, 1, settings);
            last_ps[i] = played.last_ps;
            group_ps[i] = played.group_ps;
            play_clear(&played);
        }
        assert_int_equal(last_ps[1] - last_ps[0], 2 * INT64_C(950000000));
        assert_int_equal(group_ps[0], group_ps[1]);
    }
}

/* Packets on the port from one node to another. */
static int64_t packets_between(const struct play *played, uint32_t node, uint32_t peer)
{
    for (guint p = 0; p < played->ports->len; p++) {
        const struct sink_port *port = &g_array_index(played->ports, struct sink_port, p);

        if (port->node == node && port->peer == peer)
            return port->packets;
    }
    return -1;
}

/*
 * Leaves of 4 hosts (16 to 19), one spine (20). Hosts 4, 5, 6 send 1 MB each to host 0; the victim
 * goes from 7, beside them, to 1. It shares the uplink of its leaf and the link into the receiver's
 * leaf, and not the receiver's link: 245 packets each, with a queue that drops nothing.
 */
static void test_the_victim_shares_all_but_the_last_link(void **state)
{
    int64_t time_ps[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *settings[] = {"topology.kind=clos",
                                  "topology.hosts=16",
                                  "topology.hosts_per_leaf=4",
                                  "topology.spines=1",
                                  "topology.spine_links=1",
                                  "queue.limit=1GB",
                                  "workload.kind=incast",
                                  "workload.first=4",
                                  "workload.bytes=1MB",
                                  "workload.victim=on",
                                  i ? "workload.senders=3" : "workload.senders=1",
                                  i ? "workload.victim_bytes=1MB" : "workload.victim_src=7",
                                  NULL};
        struct play played;

        play(&played, 1, settings);
        time_ps[i] = played.group_ps;
        if (i == 1) {
            assert_true(play_flow_of(&played, 3)->src == 7 && play_flow_of(&played, 3)->dst == 1);
            assert_int_equal(packets_between(&played, 17, 20), 4 * 245);
            assert_int_equal(packets_between(&played, 20, 16), 4 * 245);
            assert_int_equal(packets_between(&played, 16, 0), 3 * 245);
            assert_int_equal(packets_between(&played, 16, 1), 245);
        }
        play_clear(&played);
    }
    assert_true(time_ps[1] > time_ps[0] * 3 / 2); /* 4 share the uplink, not 2 */
}

static void test_poisson_arrivals_are_played(void **state)
{
    const char *settings[] = {"topology.kind=star",
                              "topology.hosts=16",
                              "workload.kind=poisson",
                              "workload.load=20%",
                              "workload.duration=1ms",
                              "workload.cdf=1kB 0; 10kB 0.5; 10kB 0.75; 1MB 1",
                              NULL};
    struct play played;
    int64_t bytes = 0;

    (void)state;
    play(&played, 4, settings);
    assert_int_equal(played.result.outcome, BACKEND_FINISHED);
    for (guint i = 0; i < played.flows->len; i++) {
        const struct sink_flow *flow = &g_array_index(played.flows, struct sink_flow, i);

        bytes += flow->bytes;
        assert_true(flow->end_receiver_ps - flow->start_ps >= flow->ideal_ps);
        assert_true(i == 0 || flow->start_ps >= flow[-1].start_ps);
    }
    /* 0.2 x 16 x 400 Gb/s x 1 ms = 160 MB in flows of 131.5 kB: 1217; sigma 35, and of sizes more
     */
    assert_in_range(played.flows->len, 1217 - 105, 1217 + 105);
    assert_true(bytes > 130000000 && bytes < 190000000);
    play_clear(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaps_add_to_the_run),
        cmocka_unit_test(test_the_victim_shares_all_but_the_last_link),
        cmocka_unit_test(test_poisson_arrivals_are_played),
    };

    return cmocka_run_group_tests_name("traffic", tests, NULL, NULL);
}
