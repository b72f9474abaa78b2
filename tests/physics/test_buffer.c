/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Priorities, shared memory and marks: the event-driven form of a port against arithmetic, and
 * against the lazy form where both can do the same.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "tests/physics/lossless.h"

#define LENGTH(list_) (sizeof(list_) / sizeof *(list_))
#define FRAMES                                                                                     \
    "transport.name=example", "transport.payload=1000B", "transport.header=0B",                    \
        "transport.window=1000000", "workload.kind=list"

/* --- the two forms -------------------------------------------------------------------------- */

/*
 * A shared buffer that is never full, with a fixed limit for each queue, is what the lazy form has:
 * every record must be the same.
 */
static void test_forms_agree(void **state)
{
    static const char *const transports[] = {"transport.name=rocev2", "transport.name=metaroce",
                                             "transport.name=example"};
    static const char *const queues[] = {"queue.kind=red", "queue.kind=step",
                                         "queue.kind=droptail"};
    struct play lazy, driven;

    (void)state;
    for (size_t t = 0; t < LENGTH(transports); t++) {
        const char *settings[] = {"topology.kind=clos",
                                  "topology.hosts=16",
                                  "topology.hosts_per_leaf=4",
                                  "topology.spines=4",
                                  "workload.kind=alltoall",
                                  "workload.bytes=4MB",
                                  transports[t],
                                  queues[t],
                                  "loss.rate_per_link=0.1%",
                                  "host.clock_drift=100ppm",
                                  "queue.limit=20KB",
                                  "run.end=5ms",
                                  NULL,
                                  "buffer.threshold=fixed",
                                  "buffer.port_size=20KB",
                                  "buffer.size=1TB",
                                  NULL};

        play(&lazy, 3, settings);
        settings[12] = "buffer.kind=shared";
        play(&driven, 3, settings);
        assert_int_equal(lazy.flows->len, driven.flows->len);
        for (guint i = 0; i < lazy.flows->len; i++) {
            const struct sink_flow *a = play_flow_of(&lazy, i), *b = play_flow_of(&driven, i);

            assert_int_equal(a->end_receiver_ps, b->end_receiver_ps);
            assert_int_equal(a->end_sender_ps, b->end_sender_ps);
            assert_int_equal(a->packets, b->packets);
            assert_int_equal(a->marked_packets, b->marked_packets);
        }
        for (guint i = 0; i < lazy.ports->len; i++)
            assert_memory_equal(port_of(&lazy, i), port_of(&driven, i), sizeof(struct sink_port));
        assert_true(lazy.dropped_queue > 0);
        play_clear(&lazy);
        play_clear(&driven);
    }
}

/* --- priorities ----------------------------------------------------------------------------- */

/*
 * Hosts 1 and 2 fill the port to host 0, which sends one frame to host 1. Its acknowledgement comes
 * back through that queue: behind all of it in one queue, behind at most one frame of 1000 B
 * (80 ns) if acknowledgements come first. Unloaded, it takes 2 x (1000 + 5.12) ns.
 */
static int64_t acknowledged_after_ps(const char *priorities)
{
    g_autofree char *text = g_strdup_printf("queue.priorities=%s", priorities);
    const char *settings[] = {"topology.kind=star",
                              "topology.hosts=3",
                              "topology.link_rate=100Gbps",
                              "topology.link_delay=1us",
                              "topology.switch_latency=0ns",
                              FRAMES,
                              "workload.flows=1>0 500KB; 2>0 500KB; 0>1 1000B start=30us",
                              text,
                              NULL};
    struct play played;
    int64_t after_ps;

    play(&played, 1, settings);
    after_ps = play_flow_of(&played, 2)->end_sender_ps - play_flow_of(&played, 2)->end_receiver_ps;
    play_clear(&played);
    return after_ps;
}

static void test_strict_priority(void **state)
{
    int64_t first_ps = acknowledged_after_ps("0,7,7"), last_ps = acknowledged_after_ps("7,0,0");
    int64_t same_ps = acknowledged_after_ps("3,3,3");

    (void)state;
    /* host 1's own frame may be in the way too: one frame each at host and switch */
    assert_in_range(first_ps, 2 * 1005120, 2 * 1005120 + 2 * 80000);
    assert_true(same_ps > first_ps + 10 * 80000);
    /* data first: not before the last frame, which starts at 2160 + 998 x 80 ns or later */
    assert_true(last_ps > same_ps);
}

static void test_priorities_are_checked(void **state)
{
    static const char *const wrong[] = {"queue.priorities=0,8,0", "queue.priorities=0,1",
                                        "queue.priorities=", "pfc.priorities=x"};

    (void)state;
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        const char *settings[] = {"topology.kind=star", "workload.kind=incast", wrong[i], NULL};
        g_autofree char *message = refusal_of(settings);

        assert_non_null(strstr(message, "priorities = "));
    }
}

/* --- shared memory -------------------------------------------------------------------------- */

/*
 * Senders keep n queues full in lock step. A frame of p bytes is taken while its queue of k - 1
 * frames and itself are within alpha x free: k p <= alpha (B - n (k - 1) p), so that a queue ends
 * within a frame of alpha B / (1 + n alpha).
 */
static int64_t most_waiting(const char *alpha, int n_queues, int64_t *dropped_queue)
{
    static const char *const flows[] = {"workload.flows=4>0 2MB; 5>0 2MB; 6>0 2MB",
                                        "workload.flows=4>0 2MB; 5>0 2MB; 4>1 2MB; 5>1 2MB; "
                                        "6>0 2MB; 6>1 2MB; 7>0 2MB; 7>1 2MB"};
    g_autofree char *text = g_strdup_printf("buffer.alpha=%s", alpha);
    const char *settings[] = {"topology.kind=star",
                              "topology.hosts=8",
                              "topology.link_rate=100Gbps",
                              "topology.link_delay=1us",
                              FRAMES,
                              "buffer.kind=shared",
                              "buffer.size=600KB",
                              flows[n_queues - 1],
                              text,
                              NULL};
    struct play played;
    int64_t most;

    play(&played, 1, settings);
    most = played.max_queue_bytes;
    *dropped_queue = dropped(&played, SINK_DROP_QUEUE);
    assert_int_equal(all_dropped(&played), *dropped_queue);
    play_clear(&played);
    return most;
}

static void test_dynamic_threshold(void **state)
{
    int64_t n_dropped;

    (void)state;
    /* one queue, whole frames of 1000 B: k <= alpha (600 - (k - 1)) */
    assert_int_equal(most_waiting("1", 1, &n_dropped), 300000); /* k <= 300.5 */
    assert_true(n_dropped > 0);
    assert_int_equal(most_waiting("2", 1, &n_dropped), 400000);    /* 3 k <= 1202 */
    assert_int_equal(most_waiting("0.125", 1, &n_dropped), 66000); /* 1.125 k <= 75.125 */
    assert_in_range(most_waiting("1", 2, &n_dropped), 198000, 202000);
    assert_in_range(most_waiting("0.5", 2, &n_dropped), 148000, 152000);
}

/* Fixed limits whose sum is above the memory: what the memory refuses has a cause of its own. */
static void test_full_memory(void **state)
{
    static const char *const settings[] = {"topology.kind=star",
                                           "topology.hosts=8",
                                           FRAMES,
                                           "buffer.kind=shared",
                                           "buffer.threshold=fixed",
                                           "buffer.port_size=200KB",
                                           "buffer.size=300KB",
                                           "workload.flows=4>0 2MB; 5>0 2MB; 6>1 2MB; 7>1 2MB",
                                           NULL};
    struct play played;

    (void)state;
    play(&played, 1, settings);
    assert_true(dropped(&played, SINK_DROP_BUFFER) > 0);
    assert_int_equal(play_value(&played, "max_switch_buffer"), 300000);
    assert_int_equal(all_dropped(&played),
                     dropped(&played, SINK_DROP_BUFFER) + dropped(&played, SINK_DROP_QUEUE));
    play_clear(&played);
}

/* --- marks ---------------------------------------------------------------------------------- */

/*
 * 60 frames of 1000 B back to back at 100G (80 ns) into a link of 50G (160 ns), step at 10 frames.
 * Frame k arrives at 80 k and starts at 80 + 160 (k - 1), all in ns after the first link's delay.
 *   at enqueue it finds ceil((k - 1) / 2) - 1 frames: marked from k = 22 on
 *   at dequeue it leaves min(2 k - 2, 60) - k behind it: marked from 12 to 50
 * The frames are 30 of flow 0 and then 30 of flow 1: 9 + 30 marks at enqueue, 19 + 20 at dequeue.
 */
static void marks(const char *setting, const char *other, int64_t marked[2])
{
    g_autofree char *path = write_file("a,b,rate,delay,latency\nh0,s0,100Gbps,1us,0ns\n"
                                       "h1,s0,50Gbps,1us,0ns\n");
    g_autofree char *file = g_strdup_printf("topology.file=%s", path);
    const char *settings[] = {"topology.kind=graph",
                              file,
                              FRAMES,
                              "queue.kind=step",
                              "queue.kmin=10000B",
                              "workload.flows=0>1 30000B; 0>1 30000B start=2400ns",
                              setting,
                              other,
                              NULL};
    struct play played;

    play(&played, 1, settings);
    marked[0] = play_flow_of(&played, 0)->marked_packets;
    marked[1] = play_flow_of(&played, 1)->marked_packets;
    g_unlink(path);
    play_clear(&played);
}

static void test_marks(void **state)
{
    int64_t marked[2];

    (void)state;
    marks("queue.mark_at=enqueue", NULL, marked);
    assert_int_equal(marked[0], 9);
    assert_int_equal(marked[1], 30);
    marks("queue.mark_at=enqueue", "queue.priorities=1,2,2", marked); /* the other form */
    assert_int_equal(marked[0], 9);
    assert_int_equal(marked[1], 30);
    marks("queue.mark_at=dequeue", NULL, marked);
    assert_int_equal(marked[0], 19);
    assert_int_equal(marked[1], 20);
}

/* The only queue of this line is on its last hop. */
static void test_no_marks_on_the_last_hop(void **state)
{
    int64_t marked[2];

    (void)state;
    marks("queue.mark_last_hop=off", NULL, marked);
    assert_int_equal(marked[0] + marked[1], 0);
    marks("queue.mark_last_hop=off", "queue.mark_at=dequeue", marked);
    assert_int_equal(marked[0] + marked[1], 0);
}

static void test_marks_before_the_last_hop(void **state)
{
    static const char *const settings[] = {"topology.kind=dumbbell",
                                           "topology.hosts=4",
                                           FRAMES,
                                           "queue.kind=step",
                                           "queue.kmin=10000B",
                                           "queue.mark_last_hop=off",
                                           "workload.flows=0>2 100KB; 1>3 100KB",
                                           NULL};
    struct play played;

    (void)state;
    play(&played, 1, settings);
    assert_true(played.marked > 100);
    play_clear(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_agree),
        cmocka_unit_test(test_strict_priority),
        cmocka_unit_test(test_priorities_are_checked),
        cmocka_unit_test(test_dynamic_threshold),
        cmocka_unit_test(test_full_memory),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_no_marks_on_the_last_hop),
        cmocka_unit_test(test_marks_before_the_last_hop),
    };

    return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
