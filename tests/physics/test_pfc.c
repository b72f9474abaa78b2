/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PFC: pauses to the picosecond on a line, headroom to the byte, loss of pause frames, expiry,
 * deadlock, slow hosts, and the users' cases 70 and 71.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "tests/physics/lossless.h"

/* h0 -- 100G, 1 us -- s0 -- second link -- h1; frames of 1000 B: 80 ns at 100G */
#define LINE_TO(second_)                                                                           \
    "a,b,rate,delay,latency\nh0,s0,100Gbps,1us,0ns\nh1,s0," second_ ",1us,0ns\n"
#define FRAMES                                                                                     \
    "transport.name=example", "transport.payload=1000B", "transport.header=0B",                    \
        "transport.window=1000000", "workload.kind=list"
#define PAUSES "pfc.enable=on", "pfc.response_time=100ns"

#define LENGTH(list_) (sizeof(list_) / sizeof *(list_))

static void play_graph(struct play *played, const char *graph, const char *const *settings)
{
    g_autofree char *path = write_file(graph);
    g_autofree char *file = g_strdup_printf("topology.file=%s", path);
    g_autoptr(GPtrArray) all = g_ptr_array_new();

    g_ptr_array_add(all, (char *)(uintptr_t) "topology.kind=graph");
    g_ptr_array_add(all, file);
    for (; *settings; settings++)
        g_ptr_array_add(all, (char *)(uintptr_t)*settings);
    g_ptr_array_add(all, NULL);
    play(played, 1, (const char *const *)all->pdata);
    g_unlink(path);
}

/*
 * 60 frames, second link 50G (160 ns), Xoff 5000 B, Xon 3000 B. All in ns:
 *   frame k is at the switch at 1000 + 80 k, its transmission there starts at 1080 + 160 (k - 1);
 *   waiting with frame k: ceil((k - 1) / 2), which is 5 at k = 10: Xoff at 1800
 *   the pause works at 1800 + 5.12 + 1000 + 100 = 2905.12, within frame 37 (2880 to 2960)
 *   frame 37 arrives at 3960, when 19 have started: 18 wait, the most there ever are
 *   3 wait when frame 34 starts, at 6360: Xon, works at 7465.12; the port was silent for 4560
 *   frame 38 starts then, is at the switch at 8545.12, finds it idle; 47 makes 5 wait: 9265.12
 *   this pause works at 10370.24, when all has been sent; Xon at frame 57, 8545.12 + 19 x 160 =
 *   11585.12, works at 12690.24: silent for 2320
 *   frame 60 starts at 8545.12 + 22 x 160 and is at h1 1160 later: 13225.12
 * No acknowledgement is on the reverse wire at 1800, 6360, 9265.12 or 11585.12.
 */
static void test_pause_to_the_picosecond(void **state)
{
    static const char *const settings[] = {
        FRAMES, PAUSES, "workload.flows=0>1 60000B", "pfc.xoff=5000B", "pfc.xon_offset=2000B",
        NULL};
    struct play played;

    (void)state;
    play_graph(&played, LINE_TO("50Gbps"), settings);
    assert_int_equal(played.last_ps, 13225120);
    assert_int_equal(port_of(&played, 0)->paused_ps, 4560000 + 2320000);
    assert_int_equal(port_of(&played, 0)->pauses_received, 4);
    assert_int_equal(port_of(&played, 1)->pauses_sent, 4);
    assert_int_equal(port_of(&played, 3)->max_queue_bytes, 18000);
    assert_int_equal(all_dropped(&played), 0);
    play_clear(&played);
}

/*
 * The second link at 1 Mb/s takes one frame and no more. Xoff 5500 B: frames 2 to 6 below it, frame
 * 7 crosses it at 1560 ns; the pause works at 2665.12, within frame 34 (2640 to 2720). So frames 7
 * to 34, 28000 B, need headroom: what the formula asks for, less the frame that was not on the
 * reverse wire: 26250 + 3 x 1000 + 64 B are asked for.
 */
static void play_headroom(struct play *played, const char *headroom)
{
    g_autofree char *text = g_strdup_printf("pfc.headroom=%s", headroom);
    const char *settings[] = {FRAMES,
                              PAUSES,
                              "workload.flows=0>1 60000B",
                              "pfc.xoff=5500B",
                              "pfc.headroom_check=warn",
                              "run.end=20us",
                              text,
                              NULL};

    play_graph(played, LINE_TO("1Mbps"), settings);
}

static void test_headroom_to_the_byte(void **state)
{
    struct play played;

    (void)state;
    play_headroom(&played, "28000B");
    assert_int_equal(all_dropped(&played), 0);
    assert_int_equal(port_of(&played, 3)->max_queue_bytes, 33000);
    play_clear(&played);
    play_headroom(&played, "27999B");
    assert_int_equal(dropped(&played, SINK_DROP_HEADROOM), 1);
    assert_int_equal(all_dropped(&played), 1);
    play_clear(&played);
}

static void test_small_headroom_is_refused(void **state)
{
    static const char *const small[] = {"topology.kind=line",
                                        "topology.link_rate=100Gbps",
                                        "topology.link_delay=1us",
                                        "topology.links=2",
                                        "topology.switch_latency=0ns",
                                        "pfc.headroom=29313B",
                                        FRAMES,
                                        "workload.flows=0>1 60000B",
                                        PAUSES,
                                        NULL};
    static const char *const enough[] = {"topology.kind=line",
                                         "topology.link_rate=100Gbps",
                                         "topology.link_delay=1us",
                                         "topology.links=2",
                                         "topology.switch_latency=0ns",
                                         "pfc.headroom=29314B",
                                         FRAMES,
                                         "workload.flows=0>1 60000B",
                                         PAUSES,
                                         NULL};
    static const char *const buffer[] = {"topology.kind=star",
                                         "topology.hosts=8",
                                         "buffer.kind=shared",
                                         "buffer.size=100KB",
                                         "workload.kind=incast",
                                         "pfc.enable=on",
                                         NULL};
    static const char *const dynamic[] = {"topology.kind=star", "workload.kind=incast",
                                          "pfc.enable=on", "pfc.threshold=dynamic", NULL};
    /* half of 34 x 64 B is 1088 B: a frame of 1000 B and a pause of 64 B; half of 33 is 1056 B */
    static const char *const short_pause[] = {"topology.kind=line",        FRAMES,          PAUSES,
                                              "workload.flows=0>1 60000B", "pfc.quanta=33", NULL};
    static const char *const long_pause[] = {"topology.kind=line",        FRAMES,          PAUSES,
                                             "workload.flows=0>1 60000B", "pfc.quanta=34", NULL};
    g_autofree char *refused = refusal_of(small), *accepted = refusal_of(enough);
    g_autofree char *full = refusal_of(buffer), *unshared = refusal_of(dynamic);
    g_autofree char *lapses = refusal_of(short_pause), *holds = refusal_of(long_pause);

    (void)state;
    assert_non_null(strstr(refused, "headroom = 29313B: link "));
    assert_non_null(strstr(refused, "needs 29314B"));
    assert_string_equal(accepted, "");
    assert_non_null(strstr(full, "[buffer] size = 100000B"));
    assert_non_null(strstr(unshared, "[pfc] threshold = dynamic"));
    assert_non_null(strstr(lapses, "[pfc] quanta = 33: a pause may lapse"));
    assert_string_equal(holds, "");
}

/* A pause without refresh lasts for its quanta: 100 x 512 bit at 100G are 512 ns. */
static void test_expiry(void **state)
{
    static const char *const settings[] = {FRAMES,
                                           PAUSES,
                                           "workload.flows=0>1 1MB",
                                           "pfc.quanta=100",
                                           "pfc.headroom_check=warn",
                                           "pfc.refresh=0",
                                           "run.end=100us",
                                           NULL};
    static const char *const refreshed[] = {
        FRAMES, PAUSES, "workload.flows=0>1 1MB", "pfc.quanta=100", "run.end=100us", NULL};
    struct play played;

    (void)state;
    play_graph(&played, LINE_TO("1Mbps"), settings);
    assert_int_equal(port_of(&played, 1)->pauses_sent, 1);
    assert_int_equal(port_of(&played, 0)->paused_ps, 512000);
    assert_true(dropped(&played, SINK_DROP_HEADROOM) > 0);
    play_clear(&played);
    play_graph(&played, LINE_TO("1Mbps"), refreshed);
    assert_true(port_of(&played, 1)->pauses_sent > 300);
    assert_int_equal(all_dropped(&played), 0);
    play_clear(&played);
}

/* The two directions of a link at full speed: pauses wait behind frames, and nothing is lost. */
static void test_both_ways(void **state)
{
    static const char *const settings[] = {"topology.kind=star",
                                           "topology.hosts=8",
                                           "topology.link_rate=100Gbps",
                                           FRAMES,
                                           "workload.kind=alltoall",
                                           "workload.bytes=8MB",
                                           "pfc.enable=on",
                                           "pfc.xoff=6000B",
                                           "host.clock_drift=100ppm",
                                           NULL};
    struct play played;

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        play(&played, seed, settings);
        assert_int_equal(played.result.outcome, BACKEND_FINISHED);
        assert_int_equal(all_dropped(&played), 0);
        assert_true(play_value(&played, "max_switch_buffer") > 6000);
        play_clear(&played);
    }
}

/* Pause frames are lost when the class is named, and by no other name. */
static void test_lost_pauses(void **state)
{
    static const char *const named[] = {
        FRAMES,         PAUSES, "workload.flows=0>1 1MB", "loss.class=pfc", "loss.rate_per_link=1",
        "run.end=50us", NULL};
    static const char *const all[] = {FRAMES,
                                      PAUSES,
                                      "workload.flows=0>1 1MB",
                                      "pfc.quanta=100",
                                      "loss.rate_per_link=0.1",
                                      "run.end=50us",
                                      NULL};
    struct play played;

    (void)state;
    play_graph(&played, LINE_TO("10Gbps"), named);
    assert_int_equal(dropped(&played, SINK_DROP_LOSS), port_of(&played, 1)->pauses_sent);
    assert_int_equal(port_of(&played, 0)->pauses_received, 0);
    assert_true(dropped(&played, SINK_DROP_HEADROOM) > 0);
    play_clear(&played);
    play_graph(&played, LINE_TO("10Gbps"), all);
    assert_true(dropped(&played, SINK_DROP_LOSS) > 0);
    assert_int_equal(dropped(&played, SINK_DROP_HEADROOM), 0);
    assert_true(port_of(&played, 1)->pauses_sent > 100); /* those on the wire at the end: 5 */
    assert_in_range(port_of(&played, 1)->pauses_sent - port_of(&played, 0)->pauses_received, 0, 5);
    play_clear(&played);
}

/* --- any mixture of options: a lossless class loses nothing, and conservation holds --- */

static const char *pick(struct random_stream *draws, const char *const *choices)
{
    uint32_t n = 0;

    while (choices[n])
        n++;
    return choices[random_below(draws, n)];
}

static void test_mixtures(void **state)
{
    static const char *const choices[][6] = {
        {"transport.name=rocev2", "transport.name=metaroce", "transport.name=example"},
        {"workload.kind=alltoall", "workload.kind=incast", "workload.kind=permutation"},
        {"workload.bytes=64KB", "workload.bytes=500KB", "workload.bytes=2MB"},
        {"topology.planes=1", "topology.planes=2"},
        {"queue.priorities=0,0,0", "queue.priorities=0,7,7", "queue.priorities=3,0,7"},
        {"queue.mark_at=enqueue", "queue.mark_at=dequeue"},
        {"queue.kind=droptail", "queue.kind=red", "queue.kind=step"},
        {"buffer.threshold=dynamic", "buffer.threshold=fixed"},
        {"pfc.threshold=static", "pfc.threshold=dynamic"},
        {"pfc.xoff=5KB", "pfc.xoff=40KB"},
        {"pfc.quanta=150", "pfc.quanta=1000", "pfc.quanta=65535"},
        {"pfc.response_time=0ns", "pfc.response_time=500ns"},
        {"loss.rate_per_link=0", "loss.rate_per_link=1%"},
        {"host.receive_rate=0bps", "host.receive_rate=200Gbps"},
        {"host.clock_drift=0", "host.clock_drift=100ppm"},
        {"run.end=30us", "run.end=300us", "run.end=50ms"}};
    enum { N = 60, N_CHOICES = LENGTH(choices) };
    int64_t n_pauses = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= N; seed++) {
        const char *settings[N_CHOICES + 9] = {
            "topology.kind=clos", "topology.hosts=16",  "topology.hosts_per_leaf=4",
            "topology.spines=2",  "buffer.kind=shared", "buffer.size=32MB",
            "pfc.enable=on",      "pfc.priorities=all", NULL};
        struct random_stream draws = random_stream(seed, RANDOM_WORKLOAD, 70);
        struct play played;

        for (int i = 0; i < N_CHOICES; i++)
            settings[8 + i] = pick(&draws, choices[i]);
        play(&played, seed, settings);
        assert_int_equal(all_dropped(&played), dropped(&played, SINK_DROP_LOSS));
        for (guint i = 0; i < played.ports->len; i++)
            n_pauses += port_of(&played, i)->pauses_sent;
        play_clear(&played);
    }
    assert_true(n_pauses > 1000);
}

/* --- deadlock: five switches in a ring, each host sends two switches on, all clockwise --- */

#define RING                                                                                       \
    "a,b,rate,delay,latency\n"                                                                     \
    "h0,s0,100Gbps,100ns,0ns\nh1,s1,100Gbps,100ns,0ns\nh2,s2,100Gbps,100ns,0ns\n"                  \
    "h3,s3,100Gbps,100ns,0ns\nh4,s4,100Gbps,100ns,0ns\ns0,s1,100Gbps,100ns,0ns\n"                  \
    "s1,s2,100Gbps,100ns,0ns\ns2,s3,100Gbps,100ns,0ns\ns3,s4,100Gbps,100ns,0ns\n"                  \
    "s4,s0,100Gbps,100ns,0ns\n"
#define CLOCKWISE "workload.flows=0>2 4MB; 1>3 4MB; 2>4 4MB; 3>0 4MB; 4>1 4MB"

static void test_deadlock_is_named(void **state)
{
    static const char *const paused[] = {FRAMES, CLOCKWISE, "pfc.enable=on", NULL};
    static const char *const lossy[] = {FRAMES, CLOCKWISE, "queue.limit=100MB", NULL};
    static const char *const straight[] = {FRAMES, "workload.flows=0>2 4MB; 1>2 4MB; 3>2 4MB",
                                           "pfc.enable=on", NULL};
    struct play played;

    (void)state;
    play_graph(&played, RING, paused);
    assert_int_equal(played.result.outcome, BACKEND_UNFINISHED);
    assert_int_equal(all_dropped(&played), 0);
    assert_true(played.result.waits->len >= 6);
    assert_string_equal(g_ptr_array_index(played.result.waits, 0),
                        "deadlock: 5 ports wait for each other in a circle of pauses, priority 0");
    for (guint i = 1; i <= 5; i++)
        assert_non_null(strstr(g_ptr_array_index(played.result.waits, i), " is paused by node "));
    assert_true(played.result.end_ps < INT64_C(10000000000000)); /* not at run.end */
    play_clear(&played);
    play_graph(&played, RING, lossy);
    assert_int_equal(played.result.outcome, BACKEND_FINISHED);
    play_clear(&played);
    play_graph(&played, RING, straight); /* pauses, but no circle */
    assert_int_equal(played.result.outcome, BACKEND_FINISHED);
    assert_true(port_of(&played, 0)->pauses_received > 0);
    play_clear(&played);
}

/* --- a host that receives at half of its link's rate ---
 * One link of 100G and 1 us: frame 1 has arrived at 1080 ns, and as the NIC is never idle then,
 * frame N is taken in at 1080 + 160 N. */
static void test_slow_host(void **state)
{
    static const char *const lossless[] = {"topology.kind=line",
                                           "topology.links=1",
                                           "topology.link_rate=100Gbps",
                                           "topology.link_delay=1us",
                                           FRAMES,
                                           PAUSES,
                                           "host.receive_rate=50Gbps",
                                           "workload.flows=0>1 1MB",
                                           NULL};
    static const char *const lossy[] = {"topology.kind=line",
                                        "topology.links=1",
                                        "topology.link_rate=100Gbps",
                                        "topology.link_delay=1us",
                                        FRAMES,
                                        "host.receive_rate=50Gbps",
                                        "host.receive_buffer=100KB",
                                        "workload.flows=0>1 1MB",
                                        NULL};
    struct play played;

    (void)state;
    play(&played, 1, lossless);
    assert_int_equal(played.last_ps, 1080000 + 1000 * 160000);
    assert_int_equal(all_dropped(&played), 0);
    assert_true(port_of(&played, 0)->pauses_received > 0 ||
                port_of(&played, 1)->pauses_received > 0);
    play_clear(&played);
    play(&played, 1, lossy);
    /* about half of all, less the buffer: 1000 sent in 80 us, 500 taken in, 100 kept */
    assert_in_range(dropped(&played, SINK_DROP_HOST), 398, 402);
    assert_int_equal(all_dropped(&played), dropped(&played, SINK_DROP_HOST));
    play_clear(&played);
}

/* --- users' cases --- */

/* 1000 flows of 8 packets, host i % 143 + 1 to host 0; g_free. */
static char *thousand_flows(void)
{
    GString *text = g_string_new("workload.flows=");

    for (int i = 0; i < 1000; i++)
        g_string_append_printf(text, "%s%d>0 32768B", i ? "; " : "", i % 143 + 1);
    return g_string_free(text, FALSE);
}

static void test_case_70(void **state)
{
    g_autofree char *flows = thousand_flows();
    const char *settings[] = {"topology.kind=star",
                              "topology.hosts=144",
                              "topology.link_rate=100Gbps",
                              "topology.link_delay=1us",
                              "workload.kind=list",
                              flows,
                              "buffer.kind=shared",
                              "buffer.size=8MB",
                              "transport.name=rocev2",
                              "transport.window=0B",
                              "pfc.enable=on",
                              NULL,
                              NULL,
                              NULL};
    struct play played;
    g_autofree char *message = NULL;

    (void)state;
    for (int dynamic = 0; dynamic <= 1; dynamic++) {
        settings[11] = "pfc.xoff=16KB";
        settings[12] = dynamic ? "pfc.threshold=dynamic" : "pfc.threshold=static";
        play(&played, 1, settings);
        assert_int_equal(played.result.outcome, BACKEND_FINISHED);
        assert_int_equal(played.flows->len, 1000);
        assert_int_equal(all_dropped(&played), 0);
        assert_int_equal(played.retransmitted, 0);
        play_clear(&played);
    }
    settings[12] = "pfc.headroom=10KB";
    message = refusal_of(settings);
    assert_non_null(strstr(message, "[pfc] headroom = 10000B: link"));
    settings[10] = "pfc.enable=off"; /* the same without PFC loses */
    play(&played, 1, settings);
    assert_true(dropped(&played, SINK_DROP_QUEUE) > 1000);
    play_clear(&played);
}

static void test_case_71(void **state)
{
    static const char *const transports[] = {"transport.name=rocev2", "transport.name=metaroce"};
    struct play played;

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *settings[] = {
            "topology.kind=clos",        "topology.planes=4",     "topology.hosts=16",
            "topology.hosts_per_leaf=4", "topology.spines=2",     "topology.link_rate=100Gbps",
            "workload.kind=incast",      "workload.bytes=1MB",    "pfc.enable=on",
            "buffer.kind=shared",        "pfc.threshold=dynamic", "queue.priorities=3,7,7",
            "pfc.priorities=3",          transports[i],           NULL};

        play(&played, 1, settings);
        assert_int_equal(played.result.outcome, BACKEND_FINISHED);
        assert_int_equal(all_dropped(&played), 0);
        assert_int_equal(played.retransmitted, played.spurious); /* by timeouts in long pauses */
        play_clear(&played);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pause_to_the_picosecond),
        cmocka_unit_test(test_headroom_to_the_byte),
        cmocka_unit_test(test_small_headroom_is_refused),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_lost_pauses),
        cmocka_unit_test(test_mixtures),
        cmocka_unit_test(test_deadlock_is_named),
        cmocka_unit_test(test_slow_host),
        cmocka_unit_test(test_case_70),
        cmocka_unit_test(test_case_71),
    };

    return cmocka_run_group_tests_name("pfc", tests, NULL, NULL);
}
