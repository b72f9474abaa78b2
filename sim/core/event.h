/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock and the queue of pending events.
 *
 * A 4-ary heap whose slot holds the time and the order within the instant beside the pointer, so
 * that comparing never reads the event itself (libev's ANHE does the same; here a slot is 24 bytes
 * and the four children of a node lie in two cache lines). An event is embedded in its owner and
 * knows its slot, so that cancel and move cost O(log n).
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
    uint32_t slot;  /* place in the heap, or EVENT_IDLE */
};

struct event_slot {
    int64_t time_ps;
    uint64_t order;
    struct event *event;
};

struct event_queue {
    int64_t now_ps;
    struct event_slot *slots;
    uint32_t n_pending; /* slots in use; the root counts while it is a hole */
    uint32_t n_allocated;
    bool hole; /* the root was fired and its slot waits for the next event */
    uint64_t arrival_key;
    uint64_t n_fired;
    uint64_t n_ties; /* events that shared their instant with the one before */
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

/* Checks heap order, back pointers and times; false names a defect of ours. For tests. */
bool event_queue_verify(const struct event_queue *queue);

#endif
