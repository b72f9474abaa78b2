/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/event.h"
#include <glib.h>

#define ARITY        4
#define FIRST_SLOTS  1024
#define STREAM_ORDER UINT64_C(0x6f72646572)

/* Time and order as one number: a subtraction with borrow decides, without a branch. */
static inline unsigned __int128 slot_key(const struct event_slot *slot)
{
    return (unsigned __int128)(uint64_t)slot->time_ps << 64 | slot->order;
}

static inline bool slot_before(const struct event_slot *a, const struct event_slot *b)
{
    return slot_key(a) < slot_key(b);
}

/* The least of the four children from `first` on: two pairs, then their winners. */
static inline uint32_t least_of_four(const struct event_slot *slots, uint32_t first)
{
    uint32_t left = first + slot_before(&slots[first + 1], &slots[first]);
    uint32_t right = first + 2 + slot_before(&slots[first + 3], &slots[first + 2]);

    return slot_before(&slots[right], &slots[left]) ? right : left;
}

static inline uint32_t least_of(const struct event_slot *slots, uint32_t first, uint32_t end)
{
    uint32_t least = first;

    for (uint32_t child = first + 1; child < end; child++)
        least = slot_before(&slots[child], &slots[least]) ? child : least;
    return least;
}

static inline void slot_put(struct event_queue *queue, uint32_t index, struct event_slot slot)
{
    queue->slots[index] = slot;
    slot.event->slot = index;
}

void event_queue_init(struct event_queue *queue, uint64_t seed)
{
    *queue = (struct event_queue){.n_allocated = FIRST_SLOTS};
    queue->slots = g_new(struct event_slot, queue->n_allocated);
    queue->arrival_key = random_key(seed, STREAM_ORDER, 0);
}

void event_queue_clear(struct event_queue *queue)
{
    g_free(queue->slots);
    *queue = (struct event_queue){0};
}

static void sift_up(struct event_queue *queue, uint32_t index, struct event_slot slot)
{
    while (index > 0) {
        uint32_t parent = (index - 1) / ARITY;

        if (!slot_before(&slot, &queue->slots[parent]))
            break;
        slot_put(queue, index, queue->slots[parent]);
        index = parent;
    }
    slot_put(queue, index, slot);
}

static void sift_down(struct event_queue *queue, uint32_t index, struct event_slot slot)
{
    struct event_slot *slots = queue->slots;
    uint32_t n = queue->n_pending;

    for (;;) {
        uint32_t first = index * ARITY + 1, least;

        if (first + ARITY <= n)
            least = least_of_four(slots, first);
        else if (first < n)
            least = least_of(slots, first, n);
        else
            break;
        if (!slot_before(&slots[least], &slot))
            break;
        slot_put(queue, index, slots[least]);
        index = least;
    }
    slot_put(queue, index, slot);
}

/* The slot at `index` is free: the last slot takes its place, wherever order wants it. */
static void fill_from_last(struct event_queue *queue, uint32_t index)
{
    struct event_slot last = queue->slots[--queue->n_pending];

    if (index == queue->n_pending)
        return;
    if (index > 0 && slot_before(&last, &queue->slots[(index - 1) / ARITY]))
        sift_up(queue, index, last);
    else
        sift_down(queue, index, last);
}

static inline void close_hole(struct event_queue *queue)
{
    if (queue->hole) {
        queue->hole = false;
        fill_from_last(queue, 0);
    }
}

void event_schedule_ordered(struct event_queue *queue, struct event *event, int64_t time_ps,
                            uint64_t order)
{
    struct event_slot slot = {time_ps, order, event};

    assert(time_ps >= queue->now_ps);
    if (event->slot == EVENT_IDLE) {
        if (queue->hole) { /* the usual case: a fired event takes the root's slot again */
            queue->hole = false;
            sift_down(queue, 0, slot);
            return;
        }
        if (queue->n_pending == queue->n_allocated) {
            queue->n_allocated *= 2;
            queue->slots = g_renew(struct event_slot, queue->slots, queue->n_allocated);
        }
        sift_up(queue, queue->n_pending++, slot);
        return;
    }
    close_hole(queue);
    if (slot_before(&slot, &queue->slots[event->slot]))
        sift_up(queue, event->slot, slot);
    else
        sift_down(queue, event->slot, slot);
}

void event_cancel(struct event_queue *queue, struct event *event)
{
    if (event->slot == EVENT_IDLE)
        return;
    close_hole(queue);
    fill_from_last(queue, event->slot);
    event->slot = EVENT_IDLE;
}

int64_t event_queue_next_ps(struct event_queue *queue)
{
    close_hole(queue);
    return queue->n_pending > 0 ? queue->slots[0].time_ps : INT64_MAX;
}

uint64_t event_queue_run(struct event_queue *queue, int64_t end_ps, const bool *stop)
{
    return event_queue_run_some(queue, end_ps, stop, UINT64_MAX);
}

uint64_t event_queue_run_some(struct event_queue *queue, int64_t end_ps, const bool *stop,
                              uint64_t n_most)
{
    uint64_t n_before = queue->n_fired;

    while (queue->n_pending > 0 && queue->slots[0].time_ps <= end_ps &&
           queue->n_fired - n_before < n_most) {
        struct event *event = queue->slots[0].event;

        queue->n_ties += queue->slots[0].time_ps == queue->now_ps;
        queue->now_ps = queue->slots[0].time_ps;
        queue->n_fired++;
        event->slot = EVENT_IDLE;
        queue->hole = true;
        event->fire(queue, event);
        close_hole(queue);
        if (stop && *(const volatile bool *)stop)
            break;
    }
    return queue->n_fired - n_before;
}

bool event_queue_verify(const struct event_queue *queue)
{
    for (uint32_t i = queue->hole ? 1 : 0; i < queue->n_pending; i++) {
        const struct event_slot *slot = &queue->slots[i];

        if (slot->event->slot != i || slot->time_ps < queue->now_ps)
            return false;
        if (i > 0 && !(queue->hole && i <= ARITY) &&
            slot_before(slot, &queue->slots[(i - 1) / ARITY]))
            return false;
    }
    return true;
}
