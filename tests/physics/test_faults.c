/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Physics of faults: what is lost on a link that goes down, to the picosecond; changes of rate and
 * loss; routes. The arithmetic is here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/physics/play.h"
#include <stdio.h>

/* Settings of a case behind those of a base, and perhaps the other form of port. */
static void play_with(struct play *result, const char *const *base, const char *const *more,
                      bool priorities)
{
    const char *all[40];
    int n = 0;

    for (; *base; base++)
        all[n++] = *base;
    for (; more && *more; more++)
        all[n++] = *more;
    if (priorities)
        all[n++] = "queue.priorities=0,7,7";
    all[n] = NULL;
    assert_in_range(n, 1, 39);
    play(result, 1, all);
}

static int64_t dropped(const struct play *play, uint32_t port, enum sink_drop cause)
{
    return g_array_index(play->ports, struct sink_port, port).dropped_packets[cause];
}

static int64_t sent(const struct play *play, uint32_t port)
{
    return g_array_index(play->ports, struct sink_port, port).packets;
}

/* --- down, to the picosecond ---------------------------------------------------------------- */

/*
 * A packet of 1048 B at 100 Gb/s takes 83.84 ns. Sent at 5 us, its last bit is through link 0 at
 * 6.08384 us; the switch takes 0.5 us; it is on link 1 from 6.58384 to 7.66768 us. Links lead up,
 * so the way from host 0 to host 1 is ports 0 and 3.
 */
static const char *const one_packet[] = {"topology.kind=line",
                                         "topology.links=2",
                                         "topology.link_rate=100Gbps",
                                         "topology.link_delay=1us",
                                         "topology.switch_latency=500ns",
                                         "workload.kind=list",
                                         "workload.flows=0>1 1000B start=5us",
                                         "transport.name=rocev2",
                                         "transport.payload=1000B",
                                         "transport.header=48B",
                                         "transport.rto=1ms",
                                         "run.end=900us",
                                         "faults.convergence_time=never",
                                         NULL};

static void link_down_is_exact(void **state)
{
    static const struct {
        const char *object, *at, *until;
        bool lost;
    } cases[] = {
        {"link:0", "0ps", "5us", false},
        {"link:0", "0ps", "5000001ps", true},
        {"link:0", "5us", "5000001ps", true},
        {"link:0", "4999999ps", "5us", false},
        {"link:0", "6083840ps", "7us", false},
        {"link:0", "6083839ps", "6083840ps", true},
        {"link:0", "6.084us", "20us", false},
        {"link:1", "0ps", "6583840ps", false},
        {"link:1", "0ps", "6583841ps", true},
        {"link:1", "7667679ps", "20us", true},
        {"link:1", "7667680ps", "7667690ps", false},
        {"link:1", "7us", "7000001ps", true},
        {"switch:s0", "6100000ps", "6500000ps", false},
        {"nic:1.0", "7us", "7.1us", true},
        {"plane:0", "5.01us", "5.02us", true},
    };

    (void)state;
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
        size_t c = i / 2;
        uint32_t port = strcmp(cases[c].object, "link:1") == 0 || cases[c].object[0] == 'n' ? 3 : 0;
        g_autofree char *object = g_strconcat("fault:a.object=", cases[c].object, NULL);
        g_autofree char *at = g_strconcat("fault:a.at=", cases[c].at, NULL);
        g_autofree char *until = g_strconcat("fault:a.until=", cases[c].until, NULL);
        const char *more[] = {object, at, until, NULL};
        struct play result;

        play_with(&result, one_packet, more, i % 2);
        if (dropped(&result, port, SINK_DROP_LINK_DOWN) != cases[c].lost)
            fail_msg("%s %s to %s: lost %" G_GINT64_FORMAT, cases[c].object, cases[c].at,
                     cases[c].until, dropped(&result, port, SINK_DROP_LINK_DOWN));
        play_clear(&result);
    }
}

/*
 * Outages of 5 ns, one each 4 us from 6 us on. Packet k of 100 is on the wire from 5 us + 83.84 ns
 * k for 1.08384 us. Nothing is resent; the port sends all the same.
 */
static void flapping_takes_what_is_on_the_wire(void **state)
{
    static const char *const base[] = {"topology.kind=line",
                                       "topology.links=2",
                                       "topology.link_rate=100Gbps",
                                       "topology.link_delay=1us",
                                       "workload.kind=list",
                                       "workload.flows=0>1 100kB start=5us",
                                       "transport.name=example",
                                       "transport.payload=1000B",
                                       "transport.header=48B",
                                       "transport.window=1000",
                                       "fault:a.object=link:0",
                                       "fault:a.at=6us",
                                       "fault:a.flap_time=5ns",
                                       "fault:a.flap_period=4us",
                                       "run.end=20us",
                                       NULL};
    int64_t expected = 0;

    (void)state;
    for (int64_t k = 0; k < 100; k++) {
        int64_t start_ps = 5000000 + 83840 * k, over_ps = start_ps + 1083840;
        bool lost = false;

        for (int64_t down_ps = 6000000; down_ps < 20000000; down_ps += 4000000)
            lost |= down_ps < over_ps && down_ps + 5000 > start_ps;
        expected += lost;
    }
    assert_in_range(expected, 20, 60);
    for (int form = 0; form < 2; form++) {
        struct play result;

        play_with(&result, base, NULL, form == 1);
        assert_int_equal(sent(&result, 0), 100);
        assert_int_equal(dropped(&result, 0, SINK_DROP_LINK_DOWN), expected);
        assert_int_equal(sent(&result, 3), 100 - expected);
        play_clear(&result);
    }
}

/* --- rates ---------------------------------------------------------------------------------- */

/*
 * Ten packets arrive at the switch's port from 6.58384 us on, one each 83.84 ns. Its rate is half
 * from 6.9 us on (the fourth is being sent then: it keeps its rate) and whole again at 7.5 us.
 */
static void rates_change_between_packets(void **state)
{
    static const char *const more[] = {"workload.flows=0>1 10kB start=5us",
                                       "transport.window=0B",
                                       "fault:a.object=link:1",
                                       "fault:a.change=rate=50%",
                                       "fault:a.at=6.9us",
                                       "fault:a.until=7.5us",
                                       "transport.ack_every=1000",
                                       NULL};
    int64_t free_ps = 0;

    (void)state;
    for (int64_t k = 0; k < 10; k++) {
        int64_t start_ps = MAX(6583840 + 83840 * k, free_ps);

        free_ps = start_ps + (start_ps > 6900000 && start_ps <= 7500000 ? 167680 : 83840);
    }
    assert_int_equal(free_ps, 6583840 + 10 * 83840 + 4 * 83840);
    for (int form = 0; form < 2; form++) {
        struct play result;

        play_with(&result, one_packet, more, form == 1);
        assert_int_equal(play_flow_of(&result, 0)->end_receiver_ps, free_ps + 1000000);
        play_clear(&result);
    }
}

/* A change at the very instant at which a packet in the queue begins comes behind it. */
static void a_rate_in_bits_and_at_an_instant(void **state)
{
    static const char *const more[] = {
        "workload.flows=0>1 3kB start=5us", "transport.window=0B",  "fault:a.object=link:0",
        "fault:a.change=rate=10Gbps",       "fault:a.at=5083840ps", NULL};

    (void)state;
    for (int form = 0; form < 2; form++) {
        struct play result;

        /* two packets at 100 Gb/s (the second begins at 5.08384 us), the third at 10 Gb/s */
        play_with(&result, one_packet, more, form == 1);
        assert_int_equal(play_flow_of(&result, 0)->end_receiver_ps,
                         5000000 + 2 * 83840 + 838400 + 1000000 + 500000 + 83840 + 1000000);
        play_clear(&result);
    }
}

/* The first bit of a packet that was sent at an earlier rate is found by that rate. */
static void down_and_rate_together_are_exact(void **state)
{
    static const struct {
        const char *until;
        bool lost;
    } cases[] = {{"fault:a.until=5us", false}, {"fault:a.until=5000001ps", true}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const char *more[] = {
            "fault:a.object=link:0",       cases[i / 2].until,     "fault:b.object=link:0",
            "fault:b.change=rate=1Gbps",   "fault:b.at=5000010ps", "fault:c.object=link:0",
            "fault:c.change=rate=400Gbps", "fault:c.at=5000020ps", NULL};
        struct play result;

        play_with(&result, one_packet, more, i % 2);
        assert_int_equal(dropped(&result, 0, SINK_DROP_LINK_DOWN), cases[i / 2].lost);
        play_clear(&result);
    }
}

/* --- loss ----------------------------------------------------------------------------------- */

/*
 * users' case 76. From 6 us to 8 us all data is lost that reaches the end of link 1: first bit
 * at 6.58384 us + 83.84 ns k, last one 1.08384 us later, so packets 0 to 3. Another seed loses the
 * same.
 */
static void loss_comes_and_goes(void **state)
{
    static const char *const more[] = {"workload.flows=0>1 100kB start=5us",
                                       "transport.window=0B",
                                       "fault:a.object=link:1",
                                       "fault:a.change=loss=1",
                                       "fault:a.at=6us",
                                       "fault:a.until=8us",
                                       "transport.recovery=selective_repeat",
                                       "loss.class=data",
                                       NULL};

    (void)state;
    for (int form = 0; form < 2; form++) {
        struct play result;

        play_with(&result, one_packet, more, form == 1);
        assert_int_equal(dropped(&result, 3, SINK_DROP_LOSS), 4);
        assert_int_equal(dropped(&result, 3, SINK_DROP_LINK_DOWN), 0);
        assert_int_equal(play_flow_of(&result, 0)->retransmitted_packets, 4);
        assert_int_equal(play_flow_of(&result, 0)->status, SINK_FINISHED);
        play_clear(&result);
    }
}

/* 3 sigma around N p; the draws of [loss] are not touched: its own losses stay what they were. */
static void loss_by_a_fault_is_beside_other_loss(void **state)
{
    static const char *const base[] = {"topology.kind=line",      "topology.links=1",
                                       "workload.kind=list",      "workload.flows=0>1 40MB",
                                       "transport.name=example",  "transport.payload=1000B",
                                       "transport.window=200000", "loss.class=data",
                                       "loss.rate_per_link=0.01", NULL};
    static const char *const more[] = {"fault:a.object=link:0", "fault:a.change=loss=0.02", NULL};
    struct play alone, both;
    double expected = 40000 * (0.01 + 0.99 * 0.02), sigma;

    (void)state;
    play_with(&alone, base, NULL, false);
    play_with(&both, base, more, false);
    sigma = 28; /* sqrt(40000 x 0.0298 x 0.97) is 34 */
    assert_true(dropped(&both, 1, SINK_DROP_LOSS) > dropped(&alone, 1, SINK_DROP_LOSS));
    assert_true((double)dropped(&both, 1, SINK_DROP_LOSS) > expected - 4 * sigma &&
                (double)dropped(&both, 1, SINK_DROP_LOSS) < expected + 4 * sigma);
    play_clear(&alone);
    play_clear(&both);
}

/* --- routes --------------------------------------------------------------------------------- */

/*
 * Two leaves with four hosts each and four spines. Links 0 to 7 to the hosts, then leaf 0 to spines
 * 0 to 3 (8 to 11) and leaf 1 (12 to 15); port 2l leads up.
 */
#define ALLTOALL "workload.kind=alltoall", "workload.bytes=32MB"
static const char *const leaf_spine[] = {"topology.kind=clos",
                                         "topology.hosts=8",
                                         "topology.hosts_per_leaf=4",
                                         "topology.spines=4",
                                         "topology.tiers=2",
                                         "transport.name=rocev2",
                                         "transport.queue_pairs=16",
                                         "transport.rto=100us",
                                         "transport.recovery=selective_repeat",
                                         NULL};

static void leaves_turn_from_a_spine_that_lost_its_link(void **state)
{
    static const char *const more[] = {ALLTOALL, "fault:a.object=uplink:1.0.0.0",
                                       "faults.convergence_time=0ps", NULL};
    struct play result;

    (void)state;
    play_with(&result, leaf_spine, more, false);
    assert_int_equal(result.result.outcome, BACKEND_FINISHED);
    assert_int_equal(sent(&result, 2 * 8), 0);     /* leaf 0 up to spine 0: dead */
    assert_int_equal(sent(&result, 2 * 8 + 1), 0); /* and down */
    assert_int_equal(sent(&result, 2 * 12), 0);    /* leaf 1 has no more reason to go there */
    assert_true(sent(&result, 2 * 13) > 0);
    assert_true(play_value(&result, "dropped_link_down") == 0);
    assert_true(play_value(&result, "dropped_no_route") == 0);
    play_clear(&result);
}

static void routes_follow_after_the_convergence_time(void **state)
{
    static const char *const times[] = {"0ps", "20us", "100us", "never"};
    double lost[4];
    int64_t used[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        g_autofree char *time = g_strconcat("faults.convergence_time=", times[i], NULL);
        const char *more[] = {ALLTOALL,
                              "fault:a.object=uplink:1.0.0.0",
                              "fault:a.at=50us",
                              "fault:a.until=300us",
                              time,
                              NULL};
        struct play result;

        play_with(&result, leaf_spine, more, false);
        assert_int_equal(result.result.outcome, BACKEND_FINISHED);
        lost[i] = play_value(&result, "dropped_link_down");
        used[i] = sent(&result, 2 * 8);
        assert_true(play_value(&result, "dropped_no_route") == 0);
        play_clear(&result);
    }
    /* at 0 only what was on the wire; then by how long the dead link was fed */
    assert_true(lost[0] > 0 && lost[0] < lost[1] && lost[1] < lost[2] && lost[2] < lost[3]);
    assert_true(used[0] > 0 && used[0] < used[3]); /* and used again */
}

/* Towards a NIC whose link is down: into the wire while nobody knows, then "no route". */
static void a_dead_nic_has_no_route(void **state)
{
    static const char *const times[] = {"never", "0ps"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        g_autofree char *time = g_strconcat("faults.convergence_time=", times[i], NULL);
        const char *more[] = {"workload.kind=list",
                              "workload.flows=0>1 1MB; 4>1 1MB; 0>5 1MB",
                              "transport.retry_limit=2",
                              "fault:a.object=nic:1.0",
                              time,
                              NULL};
        struct play result;

        play_with(&result, leaf_spine, more, false);
        assert_int_equal(result.result.outcome, BACKEND_UNFINISHED);
        assert_int_equal(result.result.n_flows_failed, 2);
        assert_int_equal(play_flow_of(&result, 2)->status, SINK_FINISHED);
        assert_true((play_value(&result, "dropped_link_down") > 0) == (i == 0));
        assert_true((play_value(&result, "dropped_no_route") > 0) == (i == 1));
        assert_true((sent(&result, 2 * 1 + 1) > 0) == (i == 0));
        play_clear(&result);
    }
}

/* A spine that goes down takes its four links along. */
static void a_switch_takes_its_links_along(void **state)
{
    static const char *const more[] = {ALLTOALL, "fault:a.object=switch:2.0.3", "fault:a.at=50us",
                                       "faults.convergence_time=10us", NULL};
    struct play result;

    (void)state;
    for (int form = 0; form < 2; form++) {
        play_with(&result, leaf_spine, more, form == 1);
        assert_int_equal(result.result.outcome, BACKEND_FINISHED);
        for (uint32_t leaf = 0; leaf < 2; leaf++)
            for (uint32_t way = 0; way < 2; way++)
                assert_true(dropped(&result, 2 * (11 + 4 * leaf) + way, SINK_DROP_LINK_DOWN) > 0);
        assert_int_equal(dropped(&result, 2 * 10, SINK_DROP_LINK_DOWN), 0);
        play_clear(&result);
    }
}

/* --- pauses --------------------------------------------------------------------------------- */

/* Pause frames die with their link; a pause lapses, so nothing stands still afterwards. */
static void pauses_do_not_wedge(void **state)
{
    static const char *const more[] = {"workload.kind=incast",
                                       "pfc.enable=on",
                                       "queue.limit=1GB",
                                       "fault:a.object=switch:2.0.1",
                                       "fault:a.at=20us",
                                       "fault:a.flap_period=20us",
                                       "fault:a.flap_time=7us",
                                       "fault:a.flap_count=30",
                                       "fault:b.object=nic:3.0",
                                       "fault:b.at=50us",
                                       "fault:b.until=90us",
                                       "workload.bytes=4MB",
                                       "transport.retry_limit=1000",
                                       "faults.convergence_time=5us",
                                       NULL};
    struct play result;
    int64_t n_sent = 0, n_heard = 0;

    (void)state;
    play_with(&result, leaf_spine, more, false);
    assert_int_equal(result.result.outcome, BACKEND_FINISHED);
    assert_true(play_value(&result, "dropped_link_down") > 0);
    for (guint i = 0; i < result.ports->len; i++) {
        const struct sink_port *port = &g_array_index(result.ports, struct sink_port, i);

        n_sent += port->pauses_sent;
        n_heard += port->pauses_received;
    }
    assert_true(n_sent > 0 && n_heard > 0 && n_heard < n_sent);
    play_clear(&result);
}

/* --- the whole ------------------------------------------------------------------------------ */

/* users' case 64: the only path dies; the run ends, and says so. */
static void the_only_path_dies(void **state)
{
    static const char *const transports[] = {"transport.name=rocev2", "transport.name=metaroce",
                                             "transport.name=example"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *settings[] = {"topology.kind=star",
                                  "topology.hosts=2",
                                  "workload.kind=list",
                                  "workload.flows=0>1 10MB; 1>0 1kB",
                                  "run.end=100ms",
                                  "fault:a.object=nic:1.0",
                                  "fault:a.at=50us",
                                  transports[i],
                                  NULL};
        struct play result;

        play(&result, 1, settings);
        assert_int_equal(result.result.outcome, BACKEND_UNFINISHED);
        assert_int_equal(play_flow_of(&result, 0)->status, i == 0 ? SINK_FAILED : SINK_UNFINISHED);
        assert_int_equal(play_flow_of(&result, 1)->status, SINK_FINISHED);
        assert_true(result.result.waits->len > 0);
        play_clear(&result);
    }
}

/* users' case 81: links that fail, from a file; the same as from groups. */
static void faults_from_a_file(void **state)
{
    static const char rows[] = "time,object,change,until\n5us,link:1,down,7us\n"
                               "6us,link:0,rate=50%,\n9us,link:0,rate=100%,\n";
    static const char *const groups[] = {"workload.flows=0>1 50kB start=5us",
                                         "fault:a.object=link:1",
                                         "fault:a.at=5us",
                                         "fault:a.until=7us",
                                         "fault:b.object=link:0",
                                         "fault:b.change=rate=50%",
                                         "fault:b.at=6us",
                                         "fault:b.until=9us",
                                         NULL};
    g_autofree char *folder = g_dir_make_tmp("weft-test-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "faults.csv", NULL);
    g_autofree char *file = g_strconcat("faults.file=", path, NULL);
    const char *more[] = {"workload.flows=0>1 50kB start=5us", file, NULL};
    struct play a, b;

    (void)state;
    assert_true(g_file_set_contents(path, rows, -1, NULL));
    play_with(&a, one_packet, more, false);
    play_with(&b, one_packet, groups, false);
    assert_true(dropped(&a, 3, SINK_DROP_LINK_DOWN) > 0);
    assert_int_equal(a.result.n_events, b.result.n_events);
    assert_int_equal(a.last_ps, b.last_ps);
    assert_true(play_value(&a, "fault_0_time") == 5e6 && play_value(&b, "fault_a_time") == 5e6);
    play_clear(&a);
    play_clear(&b);
    remove(path);
    remove(folder);
}

/* The same faults and seed give the same run; none of it moves when the faults come to nothing. */
static void runs_repeat(void **state)
{
    static const char *const more[] = {ALLTOALL,
                                       "fault:a.object=switch:2.0.1",
                                       "fault:a.at=20us",
                                       "fault:a.flap_period=20us",
                                       "fault:a.flap_time=7us",
                                       "fault:b.object=plane:0",
                                       "fault:b.change=loss=0.01",
                                       "faults.rehash=resilient",
                                       "faults.convergence_time=3us",
                                       "run.end=10ms",
                                       NULL};
    static const char *const nothing[] = {ALLTOALL, "fault:a.object=plane:0", "fault:a.at=9s",
                                          NULL};
    static const char *const idle_only[] = {ALLTOALL, NULL};
    struct play a, b, plain, idle;

    (void)state;
    play_with(&a, leaf_spine, more, false);
    play_with(&b, leaf_spine, more, false);
    play_with(&plain, leaf_spine, idle_only, false);
    play_with(&idle, leaf_spine, nothing, false);
    assert_int_equal(a.result.n_events, b.result.n_events);
    assert_int_equal(plain.result.n_events, idle.result.n_events);
    for (guint i = 0; i < a.flows->len; i++) {
        assert_int_equal(play_flow_of(&a, i)->end_sender_ps, play_flow_of(&b, i)->end_sender_ps);
        assert_int_equal(play_flow_of(&plain, i)->end_sender_ps,
                         play_flow_of(&idle, i)->end_sender_ps);
    }
    play_clear(&a);
    play_clear(&b);
    play_clear(&plain);
    play_clear(&idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(link_down_is_exact),
        cmocka_unit_test(flapping_takes_what_is_on_the_wire),
        cmocka_unit_test(rates_change_between_packets),
        cmocka_unit_test(a_rate_in_bits_and_at_an_instant),
        cmocka_unit_test(down_and_rate_together_are_exact),
        cmocka_unit_test(loss_comes_and_goes),
        cmocka_unit_test(loss_by_a_fault_is_beside_other_loss),
        cmocka_unit_test(leaves_turn_from_a_spine_that_lost_its_link),
        cmocka_unit_test(routes_follow_after_the_convergence_time),
        cmocka_unit_test(a_dead_nic_has_no_route),
        cmocka_unit_test(a_switch_takes_its_links_along),
        cmocka_unit_test(pauses_do_not_wedge),
        cmocka_unit_test(the_only_path_dies),
        cmocka_unit_test(faults_from_a_file),
        cmocka_unit_test(runs_repeat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
