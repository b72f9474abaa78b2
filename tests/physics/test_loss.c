/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loss on wires beyond independent chance: bursts by packets and by time, streams that are
 * independent from wire to wire (row CORR of the oracle table), drop lists to the packet.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "models/fabric.h"
#include "tests/physics/lossless.h"
#include <math.h>

#define LENGTH(list_) (sizeof(list_) / sizeof *(list_))
#define FRAMES                                                                                     \
    "transport.name=example", "transport.payload=1000B", "transport.header=0B",                    \
        "transport.window=1000000", "workload.kind=list"

/* --- bursts --------------------------------------------------------------------------------- */

struct wires { /* two parallel links between two hosts, as fabric.c sets them up */
    struct graph graph;
    struct fabric fabric;
    struct port ports[4];
};

static void wires_init(struct wires *wires, const struct loss_config *config, uint64_t seed)
{
    memset(wires, 0, sizeof *wires);
    graph_init(&wires->graph);
    graph_add_host(&wires->graph);
    graph_add_host(&wires->graph);
    for (uint16_t plane = 0; plane < 2; plane++)
        graph_add_link(&wires->graph, 0, 1, INT64_C(100000000000), 1000, 1, plane);
    assert_true(graph_finish(&wires->graph, NULL));
    for (uint32_t number = 0; number < 4; number++) {
        wires->ports[number].number = number;
        loss_init(&wires->ports[number], config, &wires->graph, seed, NULL);
    }
}

static void wires_clear(struct wires *wires)
{
    for (uint32_t number = 0; number < 4; number++)
        port_rare_free(&wires->ports[number]);
    graph_clear(&wires->graph);
}

static bool is_lost(struct wires *wires, uint32_t number)
{
    struct wire_slot slot = {.class = PACKET_DATA, .bytes = 1000};
    struct port *port = &wires->ports[number];

    return port->loss_classes >> PACKET_DATA & 1 &&
           port->rare->lose(&wires->fabric, port, &slot) == SINK_DROP_LOSS;
}

struct measured {
    double n_lost, n_bursts;
};

/* Packets `step_ps` apart; a burst is a run of lost ones. */
static struct measured measure(const struct loss_config *config, uint64_t seed, int64_t n,
                               int64_t step_ps)
{
    struct measured measured = {0};
    struct wires wires;
    bool before = false;

    wires_init(&wires, config, seed);
    for (int64_t i = 0; i < n; i++) {
        bool lost = is_lost(&wires, 0);

        wires.fabric.engine.events.now_ps += step_ps;
        measured.n_lost += lost;
        measured.n_bursts += lost && !before;
        before = lost;
    }
    wires_clear(&wires);
    return measured;
}

/*
 * Clock of packets, burst length L, gap G, all of a burst lost: the loss is p = L / (L + G); of N
 * packets N p are lost with variance N p (1 - p) (1 + r) / (1 - r), r = 1 - 1 / L - 1 / G. Lengths
 * of bursts are geometric: mean L, deviation L sqrt(1 - 1 / L). The number of bursts follows.
 */
static void test_bursts_by_packets(void **state)
{
    enum { L = 10, G = 190, N = 2000000 };
    const struct loss_config config = {.tiers = "all",
                                       .planes = "all",
                                       .burst_length_packets = L,
                                       .burst_gap_packets = G,
                                       .burst_loss = INT64_C(1000000000000)};
    double p = (double)L / (L + G), r = 1 - 1.0 / L - 1.0 / G;
    double deviation = sqrt(N * p * (1 - p) * (1 + r) / (1 - r));

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct measured measured = measure(&config, seed, N, 80000);
        double length = measured.n_lost / measured.n_bursts;

        assert_true(fabs(measured.n_lost - N * p) < 3 * deviation);
        assert_true(fabs(length - L) < 3 * L * sqrt((1 - 1.0 / L) / measured.n_bursts));
    }
}

/* The same with a half of a burst's packets lost: half the loss, and time does not count. */
static void test_bursts_with_survivors(void **state)
{
    enum { L = 10, G = 190, N = 2000000 };
    const struct loss_config config = {.tiers = "all",
                                       .planes = "all",
                                       .burst_length_packets = L,
                                       .burst_gap_packets = G,
                                       .burst_loss = INT64_C(500000000000)};
    double p = (double)L / (L + G), r = 1 - 1.0 / L - 1.0 / G;
    double variance = N * p * (1 - p) * (1 + r) / (1 - r) / 4 + N * p / 4;
    struct measured slow = measure(&config, 1, N, 80000), fast = measure(&config, 1, N, 1);

    (void)state;
    assert_true(fabs(slow.n_lost - N * p / 2) < 3 * sqrt(variance));
    assert_true(slow.n_lost == fast.n_lost && slow.n_bursts == fast.n_bursts);
}

/*
 * Clock of time: bursts of mean 800 ns every 19.2 us, exponential. Packets 80 ns apart see the loss
 * p = 0.8 / 20; seen at this step the states are a chain with r = exp(-80 / 800 - 80 / 19200). A
 * run of lost packets ends at a packet with probability a = (1 - p) (1 - r): its mean is 1 / a
 * packets.
 */
static void test_bursts_by_time(void **state)
{
    enum { N = 2000000 };
    const struct loss_config config = {.tiers = "all",
                                       .planes = "all",
                                       .burst_length_time = 800000,
                                       .burst_gap_time = 19200000,
                                       .burst_loss = INT64_C(1000000000000)};
    double p = 0.8 / 20, r = exp(-80.0 / 800 - 80.0 / 19200), a = (1 - p) * (1 - r);
    double deviation = sqrt(N * p * (1 - p) * (1 + r) / (1 - r));

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct measured measured = measure(&config, seed, N, 80000);
        double length = measured.n_lost / measured.n_bursts;

        assert_true(fabs(measured.n_lost - N * p) < 3 * deviation);
        assert_true(fabs(length - 1 / a) < 3 / a * sqrt((1 - a) / measured.n_bursts));
    }
    /* packets ten times as far apart: the same share of them, runs that are almost single */
    struct measured sparse = measure(&config, 1, N, 800000);

    assert_true(fabs(sparse.n_lost / N - p) < 0.002);
    assert_true(sparse.n_lost / sparse.n_bursts < 2);
}

/* In a run: the loss that the ports count is that of the wire, and one clock is asked for. */
static void test_bursts_in_a_run(void **state)
{
    static const char *const settings[] = {"topology.kind=line",
                                           "topology.links=1",
                                           FRAMES,
                                           "workload.flows=0>1 200MB",
                                           "loss.class=data",
                                           "loss.burst_length_packets=4",
                                           "loss.burst_gap_packets=396",
                                           NULL};
    static const char *const both[] = {"topology.kind=line",
                                       "workload.kind=incast",
                                       "loss.burst_length_packets=4",
                                       "loss.burst_gap_packets=396",
                                       "loss.burst_gap_time=1us",
                                       "loss.burst_length_time=1us",
                                       NULL};
    static const char *const half[] = {"topology.kind=line", "workload.kind=incast",
                                       "loss.burst_length_time=1us", NULL};
    double n = 200000, p = 0.01, r = 1 - 1.0 / 4 - 1.0 / 396;
    g_autofree char *two_clocks = refusal_of(both), *no_gap = refusal_of(half);
    struct play played;

    (void)state;
    play(&played, 1, settings);
    assert_true(fabs((double)dropped(&played, SINK_DROP_LOSS) - n * p) <
                3 * sqrt(n * p * (1 - p) * (1 + r) / (1 - r)));
    play_clear(&played);
    assert_non_null(strstr(two_clocks, "one clock"));
    assert_non_null(strstr(no_gap, "burst_gap_time"));
}

/* --- CORR ------------------------------------------------------------------------------------ */

static void check_joint(double joint, double n, double p)
{
    assert_true(fabs(joint - n * p * p) <= 3 * sqrt(n * p * p));
}

/* Row CORR: p = 0.01, N packets on each of two links; both lose packet i: N p^2, not N p. */
static void test_joint_losses(void **state)
{
    enum { N = 1000000 };
    const struct loss_config config = {
        .tiers = "all", .planes = "all", .rate_per_link = INT64_C(10000000000)};
    double joint[2] = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct wires wires;

        joint[0] = joint[1] = 0;
        wires_init(&wires, &config, seed);
        for (int i = 0; i < N; i++) {
            bool lost[4];

            for (uint32_t number = 0; number < 4; number++)
                lost[number] = is_lost(&wires, number);
            joint[0] += lost[0] && lost[2]; /* two links */
            joint[1] += lost[0] && lost[1]; /* two directions */
        }
        check_joint(joint[0], N, 0.01);
        check_joint(joint[1], N, 0.01);
        wires_clear(&wires);
    }
}

/* The same in a run: two pairs of hosts, each with a link of its own, send message i together. */
static void test_joint_losses_in_a_run(void **state)
{
    enum { N = 10000 };
    g_autofree char *path = write_file("a,b,rate,delay\nh0,h1,100Gbps,1us\nh2,h3,100Gbps,1us\n");
    g_autofree char *file = g_strdup_printf("topology.file=%s", path);
    GString *flows = g_string_new("workload.flows=");
    double joint = 0, single = 0;
    struct play played;

    (void)state;
    for (int i = 0; i < N; i++)
        g_string_append_printf(flows, "%s0>1 1kB; 2>3 1kB", i ? "; " : "");
    const char *settings[] = {"topology.kind=graph",     file,       FRAMES, "loss.class=data",
                              "loss.rate_per_link=0.05", flows->str, NULL};

    play(&played, 1, settings);
    for (uint64_t i = 0; i < N; i++) {
        bool a = play_flow_of(&played, 2 * i)->end_receiver_ps == SINK_NEVER;
        bool b = play_flow_of(&played, 2 * i + 1)->end_receiver_ps == SINK_NEVER;

        single += a + b;
        joint += a && b;
    }
    assert_true(fabs(single - 2 * N * 0.05) <= 3 * sqrt(2 * N * 0.05 * 0.95));
    check_joint(joint, N, 0.05);
    play_clear(&played);
    g_string_free(flows, TRUE);
    g_unlink(path);
}

/* --- drop lists ------------------------------------------------------------------------------ */

static void play_list(struct play *played, const char *list, const char *const *settings)
{
    g_autofree char *path = write_file(list);
    g_autofree char *file = g_strdup_printf("loss.drop_file=%s", path);
    g_autoptr(GPtrArray) all = g_ptr_array_new();

    g_ptr_array_add(all, file);
    for (; *settings; settings++)
        g_ptr_array_add(all, (char *)(uintptr_t)*settings);
    g_ptr_array_add(all, NULL);
    play(played, 1, (const char *const *)all->pdata);
    g_unlink(path);
}

/*
 * Links 0 and 1 in a line. Flow 0 loses packet 3 twice, on either link, flow 1 its first and its
 * last packet. With selective repeat nothing else is sent again.
 */
#define LIST   "flow,sequence,transmission,link\n0,3,1,0\n0,3,2,1\n1,0,1,1\n1,24,1,0\n"
#define UNUSED "0,3,9,0\n7,0,1,0\n"

static void test_exact_losses(void **state)
{
    static const char *const transports[] = {"transport.name=rocev2", "transport.name=metaroce"};
    struct play played;

    (void)state;
    for (size_t t = 0; t < LENGTH(transports); t++) {
        const char *settings[] = {"topology.kind=line",
                                  "topology.links=2",
                                  transports[t],
                                  "workload.flows=0>1 102400B; 0>1 102400B",
                                  "workload.kind=list",
                                  t == 0 ? "transport.recovery=selective_repeat" : "run.seed=1",
                                  t == 0 ? "transport.queue_pairs=4" : "run.seed=1",
                                  NULL};

        play_list(&played, LIST, settings);
        assert_int_equal(played.result.outcome, BACKEND_FINISHED);
        assert_int_equal(dropped(&played, SINK_DROP_LISTED), 4);
        assert_int_equal(all_dropped(&played), 4);
        assert_int_equal(play_flow_of(&played, 0)->retransmitted_packets, 2);
        assert_int_equal(play_flow_of(&played, 1)->retransmitted_packets, 2);
        assert_int_equal(port_of(&played, 0)->dropped_packets[SINK_DROP_LISTED], 2);
        assert_int_equal(play_value(&played, "drop_list_unused"), 0);
        assert_int_equal(played.result.notes->len, 0);
        play_clear(&played);
        play_list(&played, LIST UNUSED, settings);
        assert_int_equal(dropped(&played, SINK_DROP_LISTED), 4);
        assert_int_equal(play_value(&played, "drop_list_unused"), 2);
        assert_int_equal(played.result.notes->len, 2);
        assert_non_null(strstr(g_ptr_array_index(played.result.notes, 1),
                               ":7: not used: flow 7, sequence 0, transmission 1, link 0"));
        play_clear(&played);
    }
}

/* Beside random loss of another class; both are counted by their causes. */
static void test_list_beside_chance(void **state)
{
    static const char *const settings[] = {"topology.kind=line",
                                           "topology.links=2",
                                           FRAMES,
                                           "workload.flows=0>1 25000B; 0>1 25000B",
                                           "loss.class=ack",
                                           "loss.rate_per_link=1",
                                           NULL};
    struct play played;

    (void)state;
    play_list(&played, "flow,sequence,transmission,link\n0,3,1,0\n1,24,1,1\n", settings);
    assert_int_equal(dropped(&played, SINK_DROP_LISTED), 2);
    assert_int_equal(dropped(&played, SINK_DROP_LOSS), 48);
    play_clear(&played);
}

static void test_wrong_lists(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {{"flow,sequence,transmission\n0,0,1\n", "link"},
                 {"flow,sequence,transmission,link\n0,0,0,0\n", ":2:"},
                 {"flow,sequence,transmission,link\n0,0,1,9\n", "the links are 0 to 1"},
                 {"flow,sequence,transmission,link\n0,0,1,1\n0,0,1,1\n", "twice"},
                 {"flow,sequence,transmission,link\n0,-1,1,1\n", ":2:"}};

    (void)state;
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        g_autofree char *path = write_file(wrong[i].text);
        g_autofree char *file = g_strdup_printf("loss.drop_file=%s", path);
        const char *settings[] = {"topology.kind=line", "topology.links=2", "workload.kind=incast",
                                  file, NULL};
        g_autofree char *message = refusal_of(settings);

        assert_non_null(strstr(message, wrong[i].says));
        g_unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bursts_by_packets), cmocka_unit_test(test_bursts_with_survivors),
        cmocka_unit_test(test_bursts_by_time),    cmocka_unit_test(test_bursts_in_a_run),
        cmocka_unit_test(test_joint_losses),      cmocka_unit_test(test_joint_losses_in_a_run),
        cmocka_unit_test(test_exact_losses),      cmocka_unit_test(test_list_beside_chance),
        cmocka_unit_test(test_wrong_lists),
    };

    return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
