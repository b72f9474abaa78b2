/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock and the queue of pending events.
 *
 * A calendar: the near future is divided into days of equal length, and a day's events lie unsorted
 * in chunks of memory until the day begins; then they are sorted, once, and fired one after the
 * other. So it is known which events come next, and what they will read is fetched ahead
 * (`ahead`). What is scheduled into the day that has begun waits in a heap, `late`, and what lies
 * beyond the last day in another, `far`. Length and number of days follow the events: some 16 to a
 * day, and few that are far. An event is embedded in its owner and knows where it stands, so that
 * it can be moved and cancelled. Source: Brown, "Calendar queues", CACM 31(10), 1988, with the
 * sorted day of the ladder queue (Tang, Goh, Thng, TOMACS 15(3), 2005).
 *
 * Order within one instant does not depend on when an event was scheduled:
 *   1. transmitters that become free, by port number;
 *   2. arrivals, by a keyed hash of (seed, instant, receiving port), then by port number;
 *   3. timers, by their own number.
 * The three are told apart by the top two bits of the order word; see event_order_arrival().
 */
#ifndef WEFT_SIM_CORE_EVENT_H
#define WEFT_SIM_CORE_EVENT_H

#include "sim/core/random.h"
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define EVENT_IDLE UINT32_MAX

#define EVENT_CLASS_TRANSMIT (UINT64_C(0) << 62)
#define EVENT_CLASS_ARRIVAL  (UINT64_C(1) << 62)
#define EVENT_CLASS_TIMER    (UINT64_C(2) << 62)
#define EVENT_NUMBER_MASK    ((UINT64_C(1) << 62) - 1)

struct event;
struct event_queue;

/* Called when the clock has reached the event; the event is idle and may be scheduled again. */
typedef void event_fire(struct event_queue *queue, struct event *event);

struct event {
    event_fire *fire;
    uint64_t order; /* class and number; total over all events that can share an instant */
    uint32_t slot;  /* its place there, or EVENT_IDLE */
    uint32_t where; /* which part of the queue holds it, see event.c */
};

struct event_slot {
    int64_t time_ps;
    uint64_t order;
    struct event *event;
};

struct event_heap { /* 4-ary */
    struct event_slot *slots;
    uint32_t n, room;
    uint32_t where; /* of its events */
};

#define EVENT_CHUNK_SLOTS 5

struct event_chunk { /* two cache lines of a day's events */
    _Alignas(128) struct event_slot slots[EVENT_CHUNK_SLOTS];
    uint32_t next; /* full ones of the same day, or free ones; 0: none */
};

struct event_day {
    uint32_t chunk, n; /* the newest chunk and how many of its slots are in use */
};

struct event_queue {
    int64_t now_ps;
    uint64_t arrival_key;
    uint64_t n_fired;
    uint64_t n_ties; /* events that shared their instant with the one before */
    uint32_t n_pending;
    /* Told of arrivals before they fire, in stages 0 to 2 as they come nearer, to prefetch what
     * they will read. May be NULL; it changes nothing. */
    void (*ahead)(struct event_queue *queue, struct event *event, int stage);
    /* private: the day that has begun */
    struct event_slot *run, *scratch; /* sorted; those cancelled have no event */
    uint32_t run_at, run_n, run_room;
    struct event_heap late, far;
    /* the days after it, from day_end_ps to window_end_ps */
    uint64_t day_end_ps, window_end_ps;
    uint32_t shift;  /* a day has 2^shift ps */
    uint32_t n_days; /* power of two */
    struct event_day *days;
    uint64_t *busy, *busy_words; /* a bit for each day with events; for each word of those */
    struct event_chunk *chunks;
    uint32_t n_chunks, free_chunk;
    uint32_t n_in_days; /* events */
    /* since the last look at length and number of the days */
    uint64_t n_fired_before;
    uint32_t n_begun, n_far;
    uint32_t least_shift;
};

/* Starts an empty queue at time 0. The seed keys the order of arrivals within an instant. */
void event_queue_init(struct event_queue *queue, uint64_t seed);

/* Frees the queue's own memory; the events belong to their owners. */
void event_queue_clear(struct event_queue *queue);

/* Makes an idle event. `order` is one of the classes above plus a number unique within it. */
static inline void event_init(struct event *event, event_fire *fire, uint64_t order)
{
    event->fire = fire;
    event->order = order;
    event->slot = EVENT_IDLE;
}

static inline bool event_is_pending(const struct event *event)
{
    return event->slot != EVENT_IDLE;
}

/* The order of an arrival at `port` at `time_ps`: class, 30 bits of hash, 32 bits of port. */
static inline uint64_t event_order_arrival(const struct event_queue *queue, int64_t time_ps,
                                           uint32_t port)
{
    uint64_t hash = random_mix(queue->arrival_key ^ (uint64_t)time_ps ^ ((uint64_t)port << 40));

    return EVENT_CLASS_ARRIVAL | (hash >> 34) << 32 | port;
}

/* Puts an idle event at `time_ps` (not before now), or moves a pending one there. */
void event_schedule_ordered(struct event_queue *queue, struct event *event, int64_t time_ps,
                            uint64_t order);

static inline void event_schedule(struct event_queue *queue, struct event *event, int64_t time_ps)
{
    event_schedule_ordered(queue, event, time_ps, event->order);
}

/* Takes a pending event out; an idle one is left as it is. */
void event_cancel(struct event_queue *queue, struct event *event);

/* Calls `visit` with each pending event, in no order; it must not change the queue. */
void event_queue_visit(const struct event_queue *queue,
                       void (*visit)(struct event *event, void *data), void *data);

/* The time of the earliest pending event, INT64_MAX when none is pending. */
int64_t event_queue_next_ps(struct event_queue *queue);

/*
 * Fires events in order until none is left at or before `end_ps`, or until `stop` becomes true
 * (looked at after each event). The clock ends at the last event fired. Returns the number fired.
 */
uint64_t event_queue_run(struct event_queue *queue, int64_t end_ps, const bool *stop);

/* The same, but at most `n_most` events. */
uint64_t event_queue_run_some(struct event_queue *queue, int64_t end_ps, const bool *stop,
                              uint64_t n_most);

/*
 * Several queues that are one run: what they must note so that it can be counted as if there were
 * one. Orders with EVENT_SHARED are those that one queue would have once at an instant where
 * several may have one each; the one numbered 0 follows others of its instant and comes again
 * after a timer.
 */
#define EVENT_SHARED     (UINT64_C(1) << 61) /* among timers */
#define EVENT_FOLLOW_UP  EVENT_CLASS_TIMER
#define EVENT_MOST_STEPS (1 << 23)

struct event_bits {
    uint64_t *words; /* a bit for each ps from base_ps on, EVENT_MOST_STEPS of them */
    uint64_t *busy;  /* a bit for each word that is not 0 */
};

struct event_notes {
    int64_t base_ps;
    /* when something happened; a follow-up of arrivals; a shared timer */
    struct event_bits instants, follow_ups, shared;
    uint64_t n_apart;                /* follow-ups of timers that are not shared */
    uint64_t n_follow_ups, n_shared; /* all of them */
    int64_t last_ps;                 /* of the event before, and its order */
    uint64_t last_order;
};

/*
 * As event_queue_run_some(), without `stop`, from notes->base_ps on, and only events that come
 * before `order` at `end_ps`.
 */
uint64_t event_queue_run_noting(struct event_queue *queue, int64_t end_ps, uint64_t order,
                                uint64_t n_most, struct event_notes *notes);

/* The time and order of the earliest pending event; false if none is. */
bool event_queue_peek(struct event_queue *queue, int64_t *time_ps, uint64_t *order);

/* Checks order, back pointers, times and counts; false names a defect of ours. For tests. */
bool event_queue_verify(const struct event_queue *queue);

#endif
