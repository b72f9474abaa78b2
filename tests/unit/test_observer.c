/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * models/observer.c and who calls it: what an observer is told adds up to what the run counts, in
 * both forms of port, and a run that is observed is the same run.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "models/observer.h"
#include "sim/app/experiment.h"

struct count {
    struct observer observer; /* first */
    uint64_t n_sent, n_arrived, n_dropped, n_handled, n_pulled, n_answers, n_delivered;
    uint64_t n_acknowledged, n_completed, n_posts, n_ready, n_refused, n_open, n_paced, n_pauses;
    uint64_t n_frames_sent, n_frames_arrived; /* pause frames */
    int64_t sum_arrive_ps;
};

static struct count *count_of(struct observer *observer)
{
    return (struct count *)(void *)observer;
}

static int64_t now_of(const struct observer *observer)
{
    return engine_now_ps(observer->engine);
}

static void on_sent(struct observer *observer, uint32_t port, const struct packet *packet,
                    int64_t start_ps, int64_t end_ps, int64_t arrive_ps)
{
    (void)port;
    assert_true(start_ps >= now_of(observer) && end_ps > start_ps && arrive_ps >= end_ps);
    count_of(observer)->n_sent++;
    count_of(observer)->n_frames_sent += packet->class == PACKET_PFC;
    if (packet->class != PACKET_PFC)
        count_of(observer)->sum_arrive_ps += arrive_ps;
}

static void on_arrived(struct observer *observer, uint32_t port, const struct packet *packet,
                       enum packet_ecn ecn)
{
    (void)port;
    (void)ecn;
    count_of(observer)->n_arrived++;
    count_of(observer)->n_frames_arrived += packet->class == PACKET_PFC;
    if (packet->class != PACKET_PFC)
        count_of(observer)->sum_arrive_ps -= now_of(observer);
}

static void on_dropped(struct observer *observer, uint32_t port, const struct packet *packet,
                       enum sink_drop cause)
{
    (void)port;
    (void)packet;
    count_of(observer)->n_dropped++;
    if (cause == SINK_DROP_LOSS)
        count_of(observer)->sum_arrive_ps -= now_of(observer);
}

static void on_paused(struct observer *observer, uint32_t port, uint32_t classes)
{
    (void)port;
    (void)classes;
    count_of(observer)->n_pauses++;
}

static void on_receives(struct observer *observer, const struct packet *packet)
{
    (void)packet;
    assert_int_equal(count_of(observer)->n_open++, 0);
}

static void on_handled(struct observer *observer)
{
    assert_int_equal(--count_of(observer)->n_open, 0);
    count_of(observer)->n_handled++;
}

static void on_posts(struct observer *observer, const struct message *message)
{
    (void)message;
    count_of(observer)->n_posts++;
}

static void on_pulled(struct observer *observer, const struct sender *sender,
                      const struct packet *packet)
{
    assert_true(!packet || packet->connection == sender->connection);
    count_of(observer)->n_pulled += packet != NULL;
    count_of(observer)->n_refused += packet == NULL;
}

static void on_ready(struct observer *observer, const struct sender *sender)
{
    assert_true(sender->ready);
    count_of(observer)->n_ready++;
}

static void on_paced(struct observer *observer, const struct sender *sender)
{
    assert_true(sender->paced && sender->not_before_ps > now_of(observer));
    count_of(observer)->n_paced++;
}

static void on_answers(struct observer *observer, uint32_t port, const struct packet *packet)
{
    (void)port;
    assert_int_not_equal(packet->class, PACKET_DATA);
    count_of(observer)->n_answers++;
}

static void on_delivered(struct observer *observer, const struct message *message)
{
    assert_false(message->delivered);
    count_of(observer)->n_delivered++;
}

static void on_acknowledged(struct observer *observer, const struct message *message)
{
    assert_false(message->acknowledged);
    count_of(observer)->n_acknowledged++;
}

static void on_completed(struct observer *observer, uint64_t op)
{
    (void)op;
    count_of(observer)->n_completed++;
}

static const struct observer_ops ops = {.sent = on_sent,
                                        .arrived = on_arrived,
                                        .dropped = on_dropped,
                                        .paused = on_paused,
                                        .receives = on_receives,
                                        .handled = on_handled,
                                        .posts = on_posts,
                                        .pulled = on_pulled,
                                        .ready = on_ready,
                                        .paced = on_paced,
                                        .answers = on_answers,
                                        .delivered = on_delivered,
                                        .acknowledged = on_acknowledged,
                                        .completed = on_completed};

struct totals {
    double sent, received, dropped, in_flight, paused;
    uint64_t hash;
};

static void add_metric(void *data, const struct sink_metric *metric)
{
    struct totals *totals = data;

    if (g_str_equal(metric->name, "host_sent_packets"))
        totals->sent = metric->value;
    if (g_str_equal(metric->name, "host_received_packets"))
        totals->received = metric->value;
    if (g_str_equal(metric->name, "in_flight_at_end"))
        totals->in_flight = metric->value;
}

static void add_port(void *data, const struct sink_port *port)
{
    struct totals *totals = data;

    for (int cause = 0; cause < SINK_N_DROPS; cause++)
        totals->dropped += (double)port->dropped_packets[cause];
}

static void add_flow(void *data, const struct sink_flow *flow)
{
    struct totals *totals = data;

    totals->hash = (totals->hash ^ (uint64_t)flow->end_receiver_ps) * RANDOM_GOLDEN;
    totals->hash = (totals->hash ^ (uint64_t)flow->end_sender_ps) * RANDOM_GOLDEN;
}

static void play(const char *const *settings, struct observer *observer,
                 struct backend_result *result, struct totals *totals)
{
    static const struct sink_ops sink_ops = {
        .flow = add_flow, .port = add_port, .metric = add_metric};
    struct scenario *scenario = scenario_new();
    struct sink sink = {&sink_ops, totals};
    struct experiment experiment;
    GError *error = NULL;

    *totals = (struct totals){0};
    for (; *settings; settings++)
        g_assert_true(scenario_set(scenario, *settings, &error));
    g_assert_true(experiment_init(&experiment, scenario, &error));
    experiment.observer = observer;
    g_assert_true(experiment_play(&experiment, &sink, NULL, NULL, result, &error));
    experiment_clear(&experiment);
    scenario_free(scenario);
}

#define FABRIC "topology.kind=clos", "topology.hosts=16", "topology.hosts_per_leaf=4"
#define INCAST "workload.kind=incast", "workload.bytes=200KB"

/* Every hop is told once, and arrives when it was said to, or is lost; every handled packet too. */
static void what_is_told_adds_up(void **state)
{
    static const char *const cases[][14] = {
        {FABRIC, INCAST, NULL},
        {FABRIC, INCAST, "loss.rate_per_link=2%", "transport.name=metaroce", NULL},
        {FABRIC, INCAST, "queue.limit=40KB", "transport.cc=dcqcn", "queue.kind=red",
         "queue.kmin=5KB", "queue.kmax=20KB", NULL},
        {FABRIC, INCAST, "pfc.enable=on", "transport.window=0B", NULL},
        {FABRIC, INCAST, "queue.priorities=0,7,7", "loss.rate_per_link=2%", NULL},
        {FABRIC, "workload.kind=allreduce", "workload.bytes=100KB", "transport.name=metaroce",
         "topology.planes=2", NULL},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct count count = {.observer.ops = &ops};
        struct backend_result plain, seen;
        struct totals totals, others;

        play(cases[i], NULL, &plain, &others);
        play(cases[i], &count.observer, &seen, &totals);
        assert_int_equal(plain.n_events, seen.n_events);
        assert_int_equal(plain.n_hops, seen.n_hops);
        assert_int_equal(plain.end_ps, seen.end_ps);
        assert_true(totals.hash == others.hash);
        assert_int_equal(count.n_sent, seen.n_hops);
        assert_int_equal(count.n_dropped, (uint64_t)totals.dropped);
        assert_int_equal(count.n_handled + count.n_frames_arrived, (uint64_t)totals.received);
        assert_int_equal(count.n_posts, seen.n_flows);
        assert_int_equal(count.n_delivered, seen.n_flows);
        assert_int_equal(count.n_acknowledged, seen.n_flows);
        assert_int_equal(count.n_completed, seen.n_ops_done);
        assert_true(count.n_ready >= count.n_posts && count.n_refused > 0);
        count.n_answers += count.n_frames_sent;
        assert_true(count.n_answers + count.n_pulled >= (uint64_t)totals.sent);
        if (totals.in_flight == 0) {
            assert_int_equal(count.n_answers + count.n_pulled, (uint64_t)totals.sent);
            assert_int_equal(count.sum_arrive_ps, 0);
        }
        assert_true((count.n_pauses > 0) == (i == 3));
        assert_true((count.n_paced > 0) == (i == 2));
        backend_result_clear(&plain);
        backend_result_clear(&seen);
    }
}

/* Functions that are not wanted are not called. */
static void an_observer_may_want_nothing(void **state)
{
    static const struct observer_ops none = {.sent = NULL};
    static const char *const settings[] = {FABRIC, INCAST, "pfc.enable=on", NULL};
    struct observer observer = {.ops = &none};
    struct backend_result result;
    struct totals totals;

    (void)state;
    play(settings, &observer, &result, &totals);
    assert_int_equal(result.outcome, BACKEND_FINISHED);
    backend_result_clear(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_adds_up),
        cmocka_unit_test(an_observer_may_want_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
