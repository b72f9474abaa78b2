/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each published mechanism of MetaRoCE has a switch, and each test here sees the result move when
 * it is turned: the arithmetic is beside the check.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "tests/physics/play.h"
#include <glib/gstdio.h>

#define META   "transport.name=metaroce"
#define PAIR4  META, "topology.kind=line", "topology.planes=4", "topology.link_rate=100Gbps"
#define ONE(b) "workload.kind=list", "workload.flows=0>1 " b

/* Plays with one more setting; the run must have finished. */
static void play_with(struct play *played, const char *const *settings, const char *more)
{
    const char *all[24];
    guint n = 0;

    for (; settings[n]; n++)
        all[n] = settings[n];
    all[n++] = more;
    all[n] = NULL;
    play(played, 1, all);
    if (played->result.outcome != BACKEND_FINISHED)
        g_error("unfinished with %s", more);
}

/* 40 MB over 4 planes of 100G or over one path: 4 times the time. */
static void test_spraying(void **state)
{
    static const char *const settings[] = {PAIR4, ONE("40MB"), NULL};
    struct play on, off;

    (void)state;
    play_with(&on, settings, "transport.spray=window");
    play_with(&off, settings, "transport.spray=single");
    assert_true((double)off.last_ps > 3.5 * (double)on.last_ps);
    for (int plane = 1; plane < 4; plane++) /* even over planes: ports 0, 4, .. leave host 0 */
        assert_true(g_array_index(on.ports, struct sink_port, 4 * plane).packets > 2000);
    play_clear(&on);
    play_clear(&off);
}

/* 1 % loss: a gap is resent within a round trip; without, each loss waits 50 us or more. */
static void test_gap_is_loss(void **state)
{
    static const char *const settings[] = {PAIR4, ONE("40MB"), "loss.rate_end_to_end=0.01", NULL};
    struct play on, off;

    (void)state;
    play_with(&on, settings, "transport.gap_recovery=on");
    play_with(&off, settings, "transport.gap_recovery=off");
    assert_true(play_value(&on, "metaroce_losses_seen_by_gap") > 50);
    assert_true(play_value(&off, "metaroce_losses_seen_by_gap") == 0);
    assert_true(off.timeouts > 20 * (on.timeouts + 1));
    assert_true((double)off.last_ps > 1.2 * (double)on.last_ps);
    play_clear(&on);
    play_clear(&off);
}

/* A lost retransmission leaves a gap only if it has a number of its own: p^2 N = 100 of them. */
static void test_fresh_numbers(void **state)
{
    static const char *const settings[] = {PAIR4, ONE("40MB"), "loss.rate_end_to_end=0.1",
                                           "loss.class=data", NULL};
    struct play on, off;

    (void)state;
    play_with(&on, settings, "transport.sequence=fresh");
    play_with(&off, settings, "transport.sequence=reuse");
    assert_true(off.timeouts > on.timeouts + 20);
    play_clear(&on);
    play_clear(&off);
}

/*
 * Reading of the loss figure: halving on a loss keeps less of the rate than not halving. A path's
 * share of the BDP is 100 Gb/s x 21 us / 4 = 16 packets, sqrt(1.5 / 0.03) = 7 are left by halving.
 */
static void test_presets(void **state)
{
    static const char *const settings[] = {PAIR4, ONE("40MB"), "loss.rate_end_to_end=0.03",
                                           "topology.link_delay=5us", NULL};
    struct play tail, cut;

    (void)state;
    play_with(&tail, settings, "transport.preset=tail");
    play_with(&cut, settings, "transport.preset=cut");
    assert_true((double)cut.last_ps > 1.2 * (double)tail.last_ps);
    play_clear(&tail);
    play_clear(&cut);
}

#define INCAST                                                                                     \
    META, "topology.kind=star", "topology.hosts=17", "topology.link_rate=400Gbps",                 \
        "workload.kind=incast", "workload.bytes=4MB", "queue.limit=64MiB", "queue.kind=step",      \
        "queue.kmin=100KB"

static double mean_queue_share(const struct play *played)
{
    return (double)played->max_queue_bytes;
}

/* 16:1. The first windows are 16 x 512 KiB; what follows is share x RTT a sender, or grows. */
static void test_receivers_share(void **state)
{
    static const char *const settings[] = {INCAST, "transport.ecn=off",
                                           "transport.window_initial=1", NULL};
    struct play on, off;

    (void)state;
    play_with(&on, settings, "transport.share=on");
    play_with(&off, settings, "transport.share=off");
    assert_true(mean_queue_share(&off) > 2 * mean_queue_share(&on));
    play_clear(&on);
    play_clear(&off);
}

static void test_ecn_reaction(void **state)
{
    static const char *const settings[] = {INCAST, "transport.share=off",
                                           "transport.window_initial=1", NULL};
    struct play on, off;

    (void)state;
    play_with(&on, settings, "transport.ecn=on");
    play_with(&off, settings, "transport.ecn=off");
    assert_true(mean_queue_share(&off) > 1.5 * mean_queue_share(&on));
    assert_true(on.marked < off.marked);
    play_clear(&on);
    play_clear(&off);
}

/*
 * Writes a graph: two leaves and two spines; the way over spine 1 is `slow_delay` longer. Hosts 0
 * and 1 are on the first leaf, 2 and 3 on the second.
 */
static char *write_graph(const char *host_rate, const char *slow_delay)
{
    char *path = g_strdup_printf("%s/weft-test-%d.csv", g_get_tmp_dir(), (int)getpid());
    g_autofree char *text = g_strdup_printf("a,b,rate,delay\n"
                                            "h0,s0,%s,500ns\nh1,s0,400Gbps,500ns\n"
                                            "h2,s1,400Gbps,500ns\nh3,s1,400Gbps,500ns\n"
                                            "s0,s2,200Gbps,500ns\ns1,s2,200Gbps,500ns\n"
                                            "s0,s3,200Gbps,%s\ns1,s3,200Gbps,500ns\n",
                                            host_rate, slow_delay);

    assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

/* A path 100 us slower than the others moves to a new port; with epochs the move costs nothing. */
static void test_rehash_and_epochs(void **state)
{
    g_autofree char *path = write_graph("400Gbps", "100us");
    g_autofree char *file = g_strdup_printf("topology.file=%s", path);
    const char *const settings[] = {"topology.kind=graph",
                                    file,
                                    META,
                                    "workload.kind=list",
                                    "workload.flows=0>2 200MB",
                                    "queue.limit=64MiB",
                                    "transport.share=off",
                                    "transport.rto_min=1ms",
                                    "queue.kind=step",
                                    NULL};
    struct play on, off, no_epoch;

    (void)state;
    play_with(&on, settings, "transport.rehash=on");
    play_with(&off, settings, "transport.rehash=off");
    play_with(&no_epoch, settings, "transport.epoch=off");
    assert_true(play_value(&on, "metaroce_path_rehashes") > 0);
    assert_true(play_value(&off, "metaroce_path_rehashes") == 0);
    assert_int_equal(on.spurious, 0);
    assert_int_equal(off.spurious, 0);
    assert_true(no_epoch.spurious > 10);
    play_clear(&on);
    play_clear(&off);
    play_clear(&no_epoch);
    g_unlink(path);
}

/*
 * A NIC of 100G with windows to spare may choose; another host fills one of the two spines. Paths
 * whose marks were echoed are passed over: fewer packets arrive marked.
 */
static void test_steering(void **state)
{
    g_autofree char *path = write_graph("100Gbps", "500ns");
    g_autofree char *file = g_strdup_printf("topology.file=%s", path);
    const char *const settings[] = {"topology.kind=graph",
                                    file,
                                    META,
                                    "workload.kind=list",
                                    "workload.flows=0>2 20MB; 1>3 20MB transport=rocev2",
                                    "queue.kind=step",
                                    "queue.kmin=50KB",
                                    "queue.limit=64MiB",
                                    "transport.decrease=halve",
                                    "transport.gain=0",
                                    "transport.window_min=8",
                                    "transport.window_max=8",
                                    NULL};
    struct play on, off;

    (void)state;
    play_with(&on, settings, "transport.steer=on");
    play_with(&off, settings, "transport.steer=off");
    assert_true(play_flow_of(&on, 0)->marked_packets * 10 <
                play_flow_of(&off, 0)->marked_packets * 9);
    play_clear(&on);
    play_clear(&off);
    g_unlink(path);
}

/* Placement on arrival: a hole in the first message does not hold back the second. */
static void test_placement(void **state)
{
    static const char *const settings[] = {PAIR4, "workload.kind=list",
                                           "workload.flows=0>1 2MB; 0>1 8KB stream=1",
                                           "loss.rate_end_to_end=0.02", NULL};
    int64_t sooner = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const char *const *s = settings;
        const char *arrival[] = {
            s[0], s[1], s[2], s[3], s[4], s[5], s[6], "transport.placement=arrival", NULL};
        const char *in_order[] = {
            s[0], s[1], s[2], s[3], s[4], s[5], s[6], "transport.placement=in_order", NULL};
        struct play on, off;

        play(&on, seed, arrival);
        play(&off, seed, in_order);
        sooner += play_flow_of(&off, 1)->end_receiver_ps > play_flow_of(&on, 1)->end_receiver_ps;
        assert_true(play_flow_of(&off, 1)->end_receiver_ps >=
                    play_flow_of(&off, 0)->end_receiver_ps);
        play_clear(&on);
        play_clear(&off);
    }
    assert_true(sooner >= 3);
}

/* One stream delivers in order; two streams do not wait for each other. */
static void test_ordered_streams(void **state)
{
    int overtaken = 0, overtaken_off = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const char *flows[] = {"workload.flows=0>1 2MB; 0>1 8KB",
                               "workload.flows=0>1 2MB; 0>1 8KB stream=1",
                               "workload.flows=0>1 2MB; 0>1 8KB"};

        for (int i = 0; i < 3; i++) {
            const char *settings[] = {PAIR4,
                                      "workload.kind=list",
                                      flows[i],
                                      "loss.rate_end_to_end=0.02",
                                      i == 2 ? "transport.ordered_streams=off"
                                             : "transport.ordered_streams=on",
                                      NULL};
            struct play played;

            play(&played, seed, settings);
            bool second_first = play_flow_of(&played, 1)->end_receiver_ps <
                                play_flow_of(&played, 0)->end_receiver_ps;

            if (i == 0)
                assert_false(second_first);
            overtaken += i == 1 && second_first;
            overtaken_off += i == 2 && second_first;
            play_clear(&played);
        }
    }
    assert_true(overtaken > 5);
    assert_int_equal(overtaken, overtaken_off);
}

/* An acknowledgement for every packet: four times as many as for every fourth, near enough. */
static void test_ack_coalescing(void **state)
{
    static const char *const settings[] = {PAIR4, ONE("40MB"), "transport.ack_delay=100us", NULL};
    struct play each, fourth;

    (void)state;
    play_with(&each, settings, "transport.ack_every=1");
    play_with(&fourth, settings, "transport.ack_every=4");
    double acks_each = play_value(&each, "host_sent_packets") - (double)each.packets;
    double acks_fourth = play_value(&fourth, "host_sent_packets") - (double)fourth.packets;

    assert_true(acks_each == (double)each.packets);
    assert_true(acks_fourth < 0.5 * acks_each);
    play_clear(&each);
    play_clear(&fourth);
}

/* A Send carries 16 B more in each packet: 9766 packets x 16 B at 400G = 3.1 us. */
static void test_send_carries_its_match(void **state)
{
    static const char *const settings[] = {PAIR4, ONE("40MB"), NULL};
    struct play write, send;

    (void)state;
    play_with(&write, settings, "transport.verb=write");
    play_with(&send, settings, "transport.verb=send");
    assert_true(send.last_ps > write.last_ps + 2000000 && send.last_ps < write.last_ps + 5000000);
    play_clear(&write);
    play_clear(&send);
}

/* Switches that spray break the order of paths: gaps that are no losses, yet all finishes. */
static void test_finishes_where_switches_spray(void **state)
{
    static const char *const settings[] = {META,
                                           "topology.kind=clos",
                                           "topology.hosts=32",
                                           "workload.kind=permutation",
                                           "workload.bytes=2MB",
                                           NULL};
    struct play ecmp, spray;

    (void)state;
    play_with(&ecmp, settings, "route.kind=ecmp");
    play_with(&spray, settings, "route.kind=spray");
    assert_int_equal(ecmp.spurious, 0);
    assert_true(spray.spurious > 0);
    play_clear(&ecmp);
    play_clear(&spray);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spraying),
        cmocka_unit_test(test_gap_is_loss),
        cmocka_unit_test(test_fresh_numbers),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_receivers_share),
        cmocka_unit_test(test_ecn_reaction),
        cmocka_unit_test(test_rehash_and_epochs),
        cmocka_unit_test(test_steering),
        cmocka_unit_test(test_placement),
        cmocka_unit_test(test_ordered_streams),
        cmocka_unit_test(test_ack_coalescing),
        cmocka_unit_test(test_send_carries_its_match),
        cmocka_unit_test(test_finishes_where_switches_spray),
    };

    return cmocka_run_group_tests_name("metaroce", tests, NULL, NULL);
}
