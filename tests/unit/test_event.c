/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/core/event.c: order, cancel, move, the calendar's days, and the verifier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/event.h"
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define N_EVENTS 3000

/* An event that writes its number down when it fires; the log is found through the queue. */
struct probe {
    struct event event;
    uint32_t number;
    struct log *log;
};

struct log {
    uint32_t fired[4 * N_EVENTS];
    int64_t at_ps[4 * N_EVENTS];
    uint32_t n;
};

static void note(struct event_queue *queue, struct event *event)
{
    struct probe *probe = (struct probe *)(void *)event;
    struct log *log = probe->log;

    assert_false(event_is_pending(event));
    assert_true(event_queue_verify(queue)); /* also while an event fires */
    log->fired[log->n] = probe->number;
    log->at_ps[log->n++] = queue->now_ps;
}

static void probe_init(struct probe *probe, uint32_t number, uint64_t order, struct log *log)
{
    event_init(&probe->event, note, order);
    probe->number = number;
    probe->log = log;
}

struct fixture {
    struct event_queue queue;
    struct log log;
    struct probe probes[N_EVENTS];
};

static int set_up(void **state)
{
    struct fixture *fixture = g_new0(struct fixture, 1);

    event_queue_init(&fixture->queue, 1);
    for (uint32_t i = 0; i < N_EVENTS; i++)
        probe_init(&fixture->probes[i], i, EVENT_CLASS_TIMER | i, &fixture->log);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    event_queue_clear(&fixture->queue);
    g_free(fixture);
    return 0;
}

static void starts_empty(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(event_queue_next_ps(&fixture->queue), INT64_MAX);
    assert_int_equal(event_queue_run(&fixture->queue, INT64_MAX, NULL), 0);
    assert_int_equal(fixture->queue.now_ps, 0);
    assert_true(event_queue_verify(&fixture->queue));
    assert_false(event_is_pending(&fixture->probes[0].event));
}

static void fires_in_order_of_time(void **state)
{
    struct fixture *fixture = *state;
    struct event_queue *queue = &fixture->queue;
    struct random_stream stream = random_stream(1, RANDOM_WORKLOAD, 0);
    uint64_t n_ties = 0;

    for (uint32_t i = 0; i < N_EVENTS; i++)
        event_schedule(queue, &fixture->probes[i].event, (int64_t)random_below(&stream, 500));
    assert_true(event_queue_verify(queue));
    assert_int_equal(event_queue_run(queue, INT64_MAX, NULL), N_EVENTS);
    for (uint32_t i = 1; i < N_EVENTS; i++) {
        bool tie = fixture->log.at_ps[i - 1] == fixture->log.at_ps[i];

        n_ties += tie;
        assert_true(fixture->log.at_ps[i - 1] <= fixture->log.at_ps[i]);
        assert_true(!tie || fixture->log.fired[i - 1] < fixture->log.fired[i]); /* by number */
    }
    assert_int_equal(queue->n_fired, N_EVENTS);
    assert_int_equal(queue->n_ties, n_ties + (fixture->log.at_ps[0] == 0));
}

/* Within an instant: transmitters by port, arrivals by hash, timers by number. */
static void classes_order_an_instant(void **state)
{
    struct fixture *fixture = *state;
    struct event_queue *queue = &fixture->queue;
    static const uint64_t classes[] = {EVENT_CLASS_TIMER, EVENT_CLASS_ARRIVAL,
                                       EVENT_CLASS_TRANSMIT};

    for (uint32_t i = 0; i < 30; i++) {
        struct probe *probe = &fixture->probes[i];
        uint64_t class = classes[i / 10];
        uint64_t order =
            class == EVENT_CLASS_ARRIVAL ? event_order_arrival(queue, 7, i) : class | (40 - i);

        event_schedule_ordered(queue, &probe->event, 7, order);
    }
    event_queue_run(queue, INT64_MAX, NULL);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(fixture->log.fired[i], 29 - i);
        assert_in_range(fixture->log.fired[10 + i], 10, 19);
        assert_int_equal(fixture->log.fired[20 + i], 9 - i);
    }
}

/* The order of an arrival keeps its class and its port, and the hash takes no side. */
static void arrival_order_is_fair_and_keyed(void **state)
{
    struct fixture *fixture = *state;
    struct event_queue other;
    int first = 0, changed = 0;

    event_queue_init(&other, 2);
    for (int64_t t = 0; t < 10000; t++) {
        uint64_t a = event_order_arrival(&fixture->queue, t, 4);
        uint64_t b = event_order_arrival(&fixture->queue, t, 5);

        assert_int_equal(a & ~EVENT_NUMBER_MASK, EVENT_CLASS_ARRIVAL);
        assert_int_equal(a & UINT32_MAX, 4);
        first += a < b;
        changed +=
            (a < b) != (event_order_arrival(&other, t, 4) < event_order_arrival(&other, t, 5));
    }
    assert_in_range(first, 4800, 5200); /* 4 sigma of a fair coin */
    assert_in_range(changed, 4800, 5200);
    event_queue_clear(&other);
}

/* Any order of scheduling, with moves and cancels on the way, fires in one and the same order. */
static void order_does_not_depend_on_scheduling(void **state)
{
    struct fixture *fixture = *state;
    uint32_t order[200], expected[200];

    for (uint32_t i = 0; i < 200; i++)
        order[i] = i;
    for (uint32_t trial = 0; trial < 50; trial++) {
        struct event_queue queue;
        struct random_stream stream = random_stream(3, RANDOM_WORKLOAD, trial);

        event_queue_init(&queue, 9);
        fixture->log.n = 0;
        random_shuffle(&stream, order, 200);
        for (uint32_t i = 0; i < 200; i++) {
            struct probe *probe = &fixture->probes[order[i]];
            int64_t time_ps = 10 + order[i] % 3;

            event_schedule_ordered(&queue, &probe->event, time_ps,
                                   event_order_arrival(&queue, time_ps, order[i]));
            if (random_below(&stream, 3) == 0)
                event_cancel(&queue, &fixture->probes[order[random_below(&stream, 200)]].event);
        }
        for (uint32_t i = 0; i < 200; i++) {
            int64_t time_ps = 10 + order[i] % 3;

            event_schedule_ordered(&queue, &fixture->probes[order[i]].event, time_ps,
                                   event_order_arrival(&queue, time_ps, order[i]));
        }
        assert_int_equal(event_queue_run(&queue, INT64_MAX, NULL), 200);
        if (trial == 0)
            memcpy(expected, fixture->log.fired, sizeof expected);
        assert_memory_equal(expected, fixture->log.fired, sizeof expected);
        event_queue_clear(&queue);
    }
}

static void cancel_and_move(void **state)
{
    struct fixture *fixture = *state;
    struct event_queue *queue = &fixture->queue;
    struct event *a = &fixture->probes[0].event, *b = &fixture->probes[1].event,
                 *c = &fixture->probes[2].event;

    event_cancel(queue, a); /* idle: nothing happens */
    event_schedule(queue, a, 10);
    event_schedule(queue, b, 20);
    event_schedule(queue, c, 30);
    event_schedule(queue, c, 5);  /* earlier */
    event_schedule(queue, a, 25); /* later */
    assert_int_equal(event_queue_next_ps(queue), 5);
    event_cancel(queue, b);
    event_cancel(queue, b);
    assert_false(event_is_pending(b));
    assert_int_equal(queue->n_pending, 2);
    assert_int_equal(event_queue_run(queue, INT64_MAX, NULL), 2);
    assert_int_equal(fixture->log.fired[0], 2);
    assert_int_equal(fixture->log.fired[1], 0);
    assert_int_equal(queue->now_ps, 25);
}

static void runs_to_its_end_and_goes_on(void **state)
{
    struct fixture *fixture = *state;
    struct event_queue *queue = &fixture->queue;
    const bool stop = true;

    for (uint32_t i = 0; i < 10; i++)
        event_schedule(queue, &fixture->probes[i].event, i * 10);
    assert_int_equal(event_queue_run(queue, 50, NULL), 6); /* the end itself is included */
    assert_int_equal(queue->now_ps, 50);
    assert_int_equal(event_queue_run(queue, 59, NULL), 0);
    assert_int_equal(event_queue_run(queue, INT64_MAX, &stop), 1);
    assert_int_equal(event_queue_next_ps(queue), 70);
    assert_int_equal(event_queue_run_some(queue, INT64_MAX, NULL, 0), 0);
    assert_int_equal(event_queue_run_some(queue, INT64_MAX, NULL, 2), 2);
    assert_int_equal(event_queue_next_ps(queue), 90);
    assert_int_equal(event_queue_run(queue, INT64_MAX, NULL), 1);
}

/* --- operations from within an event ---------------------------------------------------------- */

struct actor {
    struct event event;
    void (*act)(struct event_queue *queue, struct actor *actor);
    struct fixture *fixture;
    int n_fired;
};

static void act(struct event_queue *queue, struct event *event)
{
    struct actor *actor = (struct actor *)(void *)event;

    actor->n_fired++;
    actor->act(queue, actor);
    assert_true(event_queue_verify(queue));
}

static void act_again_at_once(struct event_queue *queue, struct actor *actor)
{
    if (actor->n_fired < 3)
        event_schedule(queue, &actor->event, queue->now_ps);
}

static void act_schedule_two(struct event_queue *queue, struct actor *actor)
{
    event_schedule(queue, &actor->fixture->probes[50].event, queue->now_ps + 1);
    event_schedule(queue, &actor->fixture->probes[51].event, queue->now_ps);
}

static void act_cancel_another(struct event_queue *queue, struct actor *actor)
{
    event_cancel(queue, &actor->fixture->probes[3].event);
    event_cancel(queue, &actor->event); /* itself is idle */
}

static void act_cancel_all(struct event_queue *queue, struct actor *actor)
{
    for (uint32_t i = 0; i < 10; i++)
        event_cancel(queue, &actor->fixture->probes[i].event);
    assert_int_equal(queue->n_pending, 0);
}

static void act_move_another(struct event_queue *queue, struct actor *actor)
{
    event_schedule(queue, &actor->fixture->probes[9].event, queue->now_ps);
}

static void act_schedule_then_cancel(struct event_queue *queue, struct actor *actor)
{
    event_schedule(queue, &actor->event, queue->now_ps + 5);
    event_cancel(queue, &actor->event);
}

static void act_look_ahead(struct event_queue *queue, struct actor *actor)
{
    assert_int_equal(event_queue_next_ps(queue), 10);
    event_schedule(queue, &actor->event, 1000);
    actor->act = act_cancel_another;
}

static void operations_from_within(void **state)
{
    static const struct {
        void (*act)(struct event_queue *queue, struct actor *actor);
        uint32_t n_fired; /* of the ten probes at 10, 20, .. 100 and those added */
    } cases[] = {{act_again_at_once, 10},       {act_schedule_two, 12}, {act_cancel_another, 9},
                 {act_cancel_all, 0},           {act_move_another, 10}, {act_look_ahead, 10},
                 {act_schedule_then_cancel, 10}};
    struct fixture *fixture = *state;

    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        struct actor actor = {.act = cases[k].act, .fixture = fixture};
        struct event_queue queue;

        event_queue_init(&queue, 1);
        fixture->log.n = 0;
        event_init(&actor.event, act, EVENT_CLASS_TIMER | 99999);
        for (uint32_t i = 0; i < 10; i++)
            event_schedule(&queue, &fixture->probes[i].event, 10 * (i + 1));
        event_schedule(&queue, &actor.event, 5);
        event_queue_run(&queue, INT64_MAX, NULL);
        assert_int_equal(fixture->log.n, cases[k].n_fired);
        for (uint32_t i = 1; i < fixture->log.n; i++)
            assert_true(fixture->log.at_ps[i - 1] <= fixture->log.at_ps[i]);
        assert_int_equal(queue.n_pending, 0);
        event_queue_clear(&queue);
    }
    assert_int_equal(fixture->log.fired[9], 9);
}

/* --- random operations against a sorted list -------------------------------------------------- */

struct entry {
    bool pending;
    int64_t time_ps;
    uint64_t order;
};

/* The number of the least entry by linear search: the slow, obvious queue. */
static uint32_t least(const struct entry *entries)
{
    uint32_t best = N_EVENTS;

    for (uint32_t i = 0; i < N_EVENTS; i++) {
        const struct entry *entry = &entries[i];

        if (!entry->pending)
            continue;
        if (best == N_EVENTS || entry->time_ps < entries[best].time_ps ||
            (entry->time_ps == entries[best].time_ps && entry->order < entries[best].order))
            best = i;
    }
    return best;
}

static void fire_one(struct fixture *fixture, struct entry *entries)
{
    const bool stop = true;
    uint32_t expected = least(entries);

    fixture->log.n = 0;
    event_queue_run(&fixture->queue, INT64_MAX, &stop);
    assert_int_equal(fixture->log.n, expected < N_EVENTS ? 1 : 0);
    if (expected < N_EVENTS) {
        assert_int_equal(fixture->log.fired[0], expected);
        entries[expected].pending = false;
    }
}

/* Near and far, with many equal instants: all parts of the calendar. */
static int64_t draw_step_ps(struct random_stream *stream)
{
    static const uint64_t spans_ps[] = {64, 64, 1 << 14, 1 << 20, UINT64_C(1) << 34};

    return (int64_t)random_below(stream, spans_ps[random_below(stream, 5)]);
}

static void random_operations_match_a_list(void **state)
{
    struct fixture *fixture = *state;
    struct event_queue *queue = &fixture->queue;
    struct random_stream stream = random_stream(5, RANDOM_WORKLOAD, 0);
    struct entry *entries = g_new0(struct entry, N_EVENTS);

    for (uint32_t step = 0; step < 30000; step++) {
        uint32_t i = (uint32_t)random_below(&stream, N_EVENTS);
        struct event *event = &fixture->probes[i].event;
        uint64_t what = random_below(&stream, 10);

        if (what < 6) { /* schedule or move */
            int64_t time_ps = queue->now_ps + draw_step_ps(&stream);
            uint64_t order = random_below(&stream, 3) << 62 | random_below(&stream, 4) << 32 | i;

            event_schedule_ordered(queue, event, time_ps, order);
            entries[i] = (struct entry){true, time_ps, order};
        } else if (what < 8) {
            event_cancel(queue, event);
            entries[i].pending = false;
        } else {
            fire_one(fixture, entries);
        }
        assert_int_equal(event_is_pending(event), entries[i].pending);
        if (step % 64 == 0)
            assert_true(event_queue_verify(queue));
    }
    while (least(entries) < N_EVENTS)
        fire_one(fixture, entries);
    assert_int_equal(queue->n_pending, 0);
    g_free(entries);
}

/* --- days ------------------------------------------------------------------------------------- */

struct walker { /* fires again and again, in steps up to most_step_ps; shown ahead of that */
    struct event event;
    struct random_stream stream;
    int64_t most_step_ps;
    struct walk *walk;
    int n_shown[3];
};

struct walk {
    int64_t last_ps;
    uint64_t last_order;
    uint32_t n_left, n_unseen;
};

static void walk_on(struct event_queue *queue, struct event *event)
{
    struct walker *walker = (struct walker *)(void *)event;
    struct walk *walk = walker->walk;

    assert_true(queue->now_ps > walk->last_ps ||
                (queue->now_ps == walk->last_ps && event->order > walk->last_order));
    walk->last_ps = queue->now_ps;
    walk->last_order = event->order;
    for (int stage = 0; stage < 3; stage++)
        if (walker->n_shown[stage] != 1) {
            walk->n_unseen++;
            break;
        }
    memset(walker->n_shown, 0, sizeof walker->n_shown);
    if (walk->n_left == 0)
        return;
    walk->n_left--;
    event_schedule(queue, event, /* never now: order within an instant is then as scheduled */
                   queue->now_ps + 1 +
                       (int64_t)random_below(&walker->stream, (uint64_t)walker->most_step_ps));
}

static void show(struct event_queue *queue, struct event *event, int stage)
{
    (void)queue;
    ((struct walker *)(void *)event)->n_shown[stage]++;
}

/* Events of every density fire in order, and most are shown ahead; the days change on the way. */
static void days_follow_the_events(void **state)
{
    static const int64_t steps_ps[] = {1000, 1000000, INT64_C(1000000000), 3};
    struct walker *walkers = g_new0(struct walker, N_EVENTS);

    (void)state;
    for (uint32_t n = 3; n <= N_EVENTS; n *= 10)
        for (size_t k = 0; k < G_N_ELEMENTS(steps_ps); k++) {
            struct walk walk = {.last_ps = -1, .n_left = 200000};
            struct event_queue queue;

            event_queue_init(&queue, 1);
            queue.ahead = show;
            for (uint32_t i = 0; i < n; i++) {
                walkers[i] = (struct walker){.stream = random_stream(7, RANDOM_WORKLOAD, i),
                                             .most_step_ps = steps_ps[k],
                                             .walk = &walk};
                event_init(&walkers[i].event, walk_on, EVENT_CLASS_ARRIVAL | i);
                event_schedule(&queue, &walkers[i].event, i % 7);
            }
            while (event_queue_run_some(&queue, INT64_MAX, NULL, 5000) > 0)
                assert_true(event_queue_verify(&queue));
            assert_int_equal(queue.n_fired, n + 200000);
            assert_int_equal(queue.n_pending, 0);
            if (n == N_EVENTS && k == 1) /* 0.33 ns from one event to the next */
                assert_in_range(queue.shift, 11, 13);
            if (n == N_EVENTS && (k == 1 || k == 2))
                assert_in_range(walk.n_unseen, 1, 5000);
            event_queue_clear(&queue);
        }
    g_free(walkers);
}

/* --- the verifier ----------------------------------------------------------------------------- */

static struct event_slot *day_slot(struct event_queue *queue, const struct event *event)
{
    return &queue->chunks[event->slot / EVENT_CHUNK_SLOTS].slots[event->slot % EVENT_CHUNK_SLOTS];
}

#define SPOILT(queue_, place_, value_)                                                             \
    do {                                                                                           \
        __typeof__(place_) kept = (place_);                                                        \
        assert_true(event_queue_verify(queue_));                                                   \
        (place_) = (value_);                                                                       \
        assert_false(event_queue_verify(queue_));                                                  \
        (place_) = kept;                                                                           \
        assert_true(event_queue_verify(queue_));                                                   \
    } while (0)

static void verify_sees_defects(void **state)
{
    struct fixture *fixture = *state;
    struct event_queue *queue = &fixture->queue;
    struct event *event = &fixture->probes[50].event;

    for (uint32_t i = 0; i < 100; i++)
        event_schedule(queue, &fixture->probes[i].event, 100 + i);
    SPOILT(queue, day_slot(queue, event)->time_ps, INT64_C(1) << 20); /* of another day */
    SPOILT(queue, event->slot, event->slot + 1);
    SPOILT(queue, event->where, event->where + 1);
    SPOILT(queue, queue->n_pending, 99);
    SPOILT(queue, queue->now_ps, 101); /* an event in the past */

    assert_int_equal(event_queue_run(queue, 100, NULL), 1); /* the day has begun */
    assert_ptr_equal(queue->run[50].event, event);
    SPOILT(queue, queue->run[50].time_ps, 1000); /* behind its successor */
    SPOILT(queue, event->slot, event->slot + 1);

    for (uint32_t i = 100; i < 200; i++) { /* late, and far */
        event_schedule(queue, &fixture->probes[i].event, 100 + i);
        event_schedule(queue, &fixture->probes[i + 100].event, (INT64_C(1) << 40) + i);
    }
    assert_int_equal(queue->late.n, 100);
    assert_int_equal(queue->far.n, 100);
    SPOILT(queue, queue->late.slots[50].time_ps, 101); /* before its parent */
    SPOILT(queue, queue->far.slots[50].time_ps, queue->now_ps);
    SPOILT(queue, queue->far.slots[7].event->slot, 8);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(starts_empty),
        TEST(fires_in_order_of_time),
        TEST(classes_order_an_instant),
        TEST(arrival_order_is_fair_and_keyed),
        TEST(order_does_not_depend_on_scheduling),
        TEST(cancel_and_move),
        TEST(runs_to_its_end_and_goes_on),
        TEST(operations_from_within),
        TEST(random_operations_match_a_list),
        TEST(days_follow_the_events),
        TEST(verify_sees_defects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
