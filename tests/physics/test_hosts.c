/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of hosts: two vendors' settings of RoCEv2 in one run, each side's effect seen, and NICs
 * that differ. Hosts 0 and 1 are of group A, 2 and 3 of B, on a star; 1 MB is 977 packets of 1024 B
 * or 245 of 4096 B.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "tests/physics/play.h"

#define STAR                                                                                       \
    "topology.kind=star", "topology.hosts=4", "topology.link_rate=100Gbps",                        \
        "topology.link_delay=1us", "topology.switch_latency=0ps", "workload.kind=list"
#define GROUPS                                                                                     \
    "hosts:A.ranks=0-1", "hosts:A.transport=a", "hosts:B.ranks=2-3", "hosts:B.transport=b",        \
        "transport.name=rocev2"
#define VENDORS                                                                                    \
    GROUPS, "transport:a.payload=4096B", "transport:a.ack_every=1", "transport:a.rto=50us",        \
        "transport:a.queue_pairs=8", "transport:a.retry_limit=1000", "transport:b.payload=1024B",  \
        "transport:b.ack_every=16", "transport:b.rto=100us", "transport:b.queue_pairs=1",          \
        "transport:b.retry_limit=1000"

/* Packets that a host put on its links. */
static int64_t sent_by(const struct play *played, uint32_t host)
{
    int64_t n = 0;

    for (guint p = 0; p < played->ports->len; p++) {
        const struct sink_port *port = &g_array_index(played->ports, struct sink_port, p);

        n += port->node == host ? port->packets : 0;
    }
    return n;
}

static void run(struct play *played, const char *flows, const char *more)
{
    g_autofree char *text = g_strdup_printf("workload.flows=%s", flows);
    const char *settings[] = {STAR, VENDORS, text, more, NULL};

    play(played, 1, settings);
}

/* A receiver answers as its own settings say, whoever sends: 1 in 16 packets, or each. */
static void test_acknowledgements_are_the_receivers(void **state)
{
    struct play to_b, to_a, within_a, within_b;

    (void)state;
    run(&to_b, "0>2 1MB", "transport:a.queue_pairs=1");
    run(&to_a, "2>0 1MB", NULL);
    run(&within_a, "0>1 1MB", "transport:a.queue_pairs=1");
    run(&within_b, "2>3 1MB", NULL);
    assert_int_equal(sent_by(&to_b, 0), 977);
    assert_int_equal(sent_by(&to_b, 2), 62); /* 61 x 16 = 976, and the last */
    assert_int_equal(sent_by(&to_a, 2), 977);
    assert_int_equal(sent_by(&to_a, 0), 977);
    assert_int_equal(sent_by(&within_a, 0), 245);
    assert_int_equal(sent_by(&within_a, 1), 245);
    assert_int_equal(sent_by(&within_b, 2), 977);
    assert_int_equal(sent_by(&within_b, 3), 62);
    play_clear(&to_b);
    play_clear(&to_a);
    play_clear(&within_a);
    play_clear(&within_b);
}

/* So is their size: 62 of 200 B on their way to A, 977 of 84 B on their way to B. */
static void test_sizes_of_acknowledgements_are_the_receivers(void **state)
{
    struct play to_b, to_a;

    (void)state;
    run(&to_b, "0>2 1MB", "transport:b.ack_bytes=200B");
    run(&to_a, "2>0 1MB", "transport:b.ack_bytes=200B");
    for (guint p = 0; p < to_b.ports->len; p++) {
        const struct sink_port *b = &g_array_index(to_b.ports, struct sink_port, p);
        const struct sink_port *a = &g_array_index(to_a.ports, struct sink_port, p);

        if (b->node == 2)
            assert_int_equal(b->bytes, b->packets * 200);
        if (a->node == 0)
            assert_int_equal(a->bytes, 977 * 84);
    }
    play_clear(&to_b);
    play_clear(&to_a);
}

/*
 * DCQCN between vendors: the receiver paces its notifications as its own set says, one for each
 * marked packet (hpcc) or one in 50 us (sigcomm15); the rates that follow are the senders'.
 */
static void test_notifications_are_the_receivers(void **state)
{
    static const char *const sets[] = {"transport:b.dcqcn_set=hpcc",
                                       "transport:b.dcqcn_set=sigcomm15"};
    double n_cnps[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *settings[] = {STAR,
                                  GROUPS,
                                  "transport.cc=dcqcn",
                                  "transport:a.dcqcn_set=connectx",
                                  sets[i],
                                  "queue.kind=step",
                                  "queue.kmin=10KB",
                                  "queue.limit=1GB",
                                  "workload.flows=0>2 1MB; 1>2 1MB",
                                  NULL};
        struct play played;

        play(&played, 1, settings);
        n_cnps[i] = play_value(&played, "rocev2_cnps_sent");
        assert_true(played.marked > 20);
        if (i == 0)
            assert_true(n_cnps[i] == (double)played.marked);
        else
            assert_true(n_cnps[i] >= 2 && n_cnps[i] <= 2 * (1 + (double)played.last_ps / 5e7));
        play_clear(&played);
    }
    assert_true(n_cnps[0] > 3 * n_cnps[1]);
}

/* The sender's timer: in 1 ms nothing gets through; 19 timeouts of 50 us, or 9 of 100 us. */
static void test_timeouts_are_the_senders(void **state)
{
    static const char *const ends[] = {"loss.rate_end_to_end=1", "run.end=999us"};
    struct play played;
    const char *settings[] = {STAR,    VENDORS, "workload.flows=0>2 1kB; 2>1 1kB",
                              ends[0], ends[1], NULL};

    (void)state;
    play(&played, 1, settings);
    assert_int_equal(play_flow_of(&played, 0)->timeouts, 19);
    assert_int_equal(play_flow_of(&played, 1)->timeouts, 9);
    play_clear(&played);
}

/* The sender's paths: 8 queue pairs lie on several of 4 planes, one on one. */
static void test_paths_are_the_senders(void **state)
{
    struct play from_a, from_b;
    int n_a = 0, n_b = 0;

    (void)state;
    run(&from_a, "0>2 1MB", "topology.planes=4");
    run(&from_b, "2>0 1MB", "topology.planes=4");
    for (guint p = 0; p < from_a.ports->len; p++) {
        n_a += g_array_index(from_a.ports, struct sink_port, p).node == 0 &&
               g_array_index(from_a.ports, struct sink_port, p).packets > 0;
        n_b += g_array_index(from_b.ports, struct sink_port, p).node == 2 &&
               g_array_index(from_b.ports, struct sink_port, p).packets > 0;
    }
    assert_int_equal(n_a, 4);
    assert_int_equal(n_b, 1);
    assert_int_equal(play_flow_of(&from_a, 0)->packets, 977);
    play_clear(&from_a);
    play_clear(&from_b);
}

/* A flow that asks for a transport has it at both ends, whatever the groups say. */
static void test_a_flow_wins_over_its_group(void **state)
{
    struct play played;

    (void)state;
    run(&played, "0>2 1MB; 0>2 1MB transport=metaroce start=1ms; 2>0 1MB transport=a start=2ms",
        NULL);
    assert_int_equal(play_flow_of(&played, 0)->packets, 977);
    assert_int_equal(play_flow_of(&played, 1)->packets, 245);
    assert_int_equal(play_flow_of(&played, 2)->packets, 245);
    play_clear(&played);
}

/* Two metaroce hosts of different groups: the receiver's ack_every. */
static void test_any_transport_may_differ(void **state)
{
    int64_t n[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *settings[] = {STAR,
                                  GROUPS,
                                  "transport.name=metaroce",
                                  "transport:a.ack_every=1",
                                  "transport:b.ack_every=64",
                                  "transport:b.ack_delay=1ms",
                                  i ? "workload.flows=2>0 1MB" : "workload.flows=0>2 1MB",
                                  NULL};
        struct play played;

        play(&played, 1, settings);
        n[i] = sent_by(&played, i ? 0 : 2);
        assert_int_equal(played.result.outcome, BACKEND_FINISHED);
        play_clear(&played);
    }
    assert_int_equal(n[1], 245);
    assert_true(n[0] < 150);
}

/*
 * 4096 B + 82 B at 100 Gb/s on two links of 1 us: 2 x 334.24 ns + 2 us = 2668.48 ns. B's NIC adds
 * 300 ns; at 50 Gb/s its link takes 668.48 ns. An answer waits 6.72 ns for the acknowledgement of
 * 84 B before it, unless issue or notify take longer than that.
 */
static void check_time(const char *flows, const char *more, uint64_t flow, int64_t start_ps,
                       int64_t end_ps)
{
    const char *settings[] = {STAR,
                              "hosts:A.ranks=0-1",
                              "hosts:B.ranks=2-3",
                              "hosts:B.planes=1",
                              flows,
                              "topology.planes=2",
                              more,
                              NULL};
    struct play played;

    play(&played, 1, settings);
    assert_int_equal(play_flow_of(&played, flow)->start_ps, start_ps);
    assert_int_equal(play_flow_of(&played, flow)->end_receiver_ps, end_ps);
    assert_int_equal(played.result.outcome, BACKEND_FINISHED);
    play_clear(&played);
}

static void test_nics_differ(void **state)
{
    static const char *const chain = "workload.flows=0>2 4096B id=x; 2>0 4096B after=x";

    (void)state;
    check_time("workload.flows=0>2 4096B", NULL, 0, 0, 2668480);
    check_time("workload.flows=0>2 4096B", "hosts:B.nic_delay=300ns", 0, 0, 2968480);
    check_time("workload.flows=2>3 4096B", "hosts:B.nic_delay=300ns", 0, 0, 3268480);
    check_time("workload.flows=0>1 4096B", "hosts:B.nic_delay=300ns", 0, 0, 2668480);
    check_time("workload.flows=0>2 4096B", "hosts:B.link_rate=50Gbps", 0, 0, 3002720);
    check_time("workload.flows=0>2 4096B", "hosts:A.issue_time=7ns", 0, 7000, 2675480);
    check_time(chain, NULL, 1, 2668480, 5343680);
    check_time(chain, "hosts:B.notify_time=11ns", 1, 2679480, 5347960);
    check_time(chain, "hosts:A.notify_time=11ns", 1, 2668480, 5343680);
    check_time(chain, "hosts:B.issue_time=11ns", 1, 2679480, 5347960);
}

/* Planes a group has not got carry nothing of it; hosts with both use both. */
static void test_planes_differ(void **state)
{
    const char *settings[] = {STAR,
                              "topology.planes=2",
                              "hosts:B.ranks=2-3",
                              "hosts:B.planes=1",
                              "transport.name=metaroce",
                              "workload.flows=0>2 1MB; 2>3 1MB start=1ms; 0>1 1MB start=2ms",
                              NULL};
    struct play played;

    (void)state;
    play(&played, 1, settings);
    for (guint p = 0; p < played.ports->len; p++) {
        const struct sink_port *port = &g_array_index(played.ports, struct sink_port, p);

        if (port->plane == 1 && (port->node == 2 || port->node == 3 || port->peer == 2))
            assert_int_equal(port->packets, 0);
        if (port->plane == 1 && port->node == 0)
            assert_true(port->packets > 100);
    }
    assert_int_equal(played.result.outcome, BACKEND_FINISHED);
    play_clear(&played);
}

/* The run is refused, and the error has `part` in it. */
static void check_refused(const char *const *settings, const char *part)
{
    static const struct sink_ops nothing = {.flow = NULL};
    struct scenario *scenario = scenario_new();
    struct experiment experiment;
    struct backend_result result = {0};
    struct sink sink = {&nothing, NULL};
    g_autoptr(GError) error = NULL;

    for (; *settings; settings++)
        assert_true(scenario_set(scenario, *settings, NULL));
    if (experiment_init(&experiment, scenario, &error))
        experiment_play(&experiment, &sink, NULL, NULL, &result, &error);
    if (!error || !strstr(error->message, part))
        fail_msg("'%s' is not in '%s'", part, error ? error->message : "(no error)");
    backend_result_clear(&result);
    experiment_clear(&experiment);
    scenario_free(scenario);
}

static void test_what_cannot_be_is_refused(void **state)
{
#define REFUSED(part_, ...) check_refused((const char *[]){STAR, __VA_ARGS__, NULL}, part_)
    (void)state;
    REFUSED("host 0 (hosts:A) uses transport rocev2 and host 2 (hosts:B) uses metaroce",
            "workload.flows=0>2 1MB", GROUPS, "transport:a.name=rocev2",
            "transport:b.name=metaroce");
    REFUSED("host 3 (no group) uses transport rocev2 and host 0 (hosts:A) uses metaroce",
            "workload.flows=3>0 1MB", "hosts:A.ranks=0", "hosts:A.transport=metaroce");
    REFUSED("[hosts:B] ranks = 1-2: host 1 is in [hosts:A] already", "workload.flows=0>2 1MB",
            "hosts:A.ranks=0-1", "hosts:B.ranks=1-2");
    REFUSED("[hosts:A] ranks '0-9': host 9 does not exist", "workload.flows=0>2 1MB",
            "hosts:A.ranks=0-9");
    REFUSED("[hosts:A] ranks: the group's hosts are expected", "workload.flows=0>2 1MB",
            "hosts:A.planes=1");
    REFUSED("[hosts:A] planes = 2: the topology has 1 plane", "workload.flows=0>2 1MB",
            "hosts:A.ranks=0", "hosts:A.planes=2");
    REFUSED("[hosts:A] transport = tcp: ", "workload.flows=0>2 1MB", "hosts:A.ranks=0",
            "hosts:A.transport=tcp");
    REFUSED("has no key 'nic_dely'; did you mean 'nic_delay'?", "workload.flows=0>2 1MB",
            "hosts:A.ranks=0", "hosts:A.nic_dely=1us");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_acknowledgements_are_the_receivers),
        cmocka_unit_test(test_sizes_of_acknowledgements_are_the_receivers),
        cmocka_unit_test(test_notifications_are_the_receivers),
        cmocka_unit_test(test_timeouts_are_the_senders),
        cmocka_unit_test(test_paths_are_the_senders),
        cmocka_unit_test(test_a_flow_wins_over_its_group),
        cmocka_unit_test(test_any_transport_may_differ),
        cmocka_unit_test(test_nics_differ),
        cmocka_unit_test(test_planes_differ),
        cmocka_unit_test(test_what_cannot_be_is_refused),
    };

    return cmocka_run_group_tests_name("hosts", tests, NULL, NULL);
}
