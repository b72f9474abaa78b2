/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/event.h"
#include "sim/core/pages.h"
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define ARITY        4
#define STREAM_ORDER UINT64_C(0x6f72646572)

/* Where an event stands; days have numbers from IN_DAYS on. */
enum { IN_RUN, IN_LATE, IN_FAR, IN_DAYS };

/* Our choice, measured at 128 to 8,192 hosts. */
#define FIRST_SHIFT    13 /* 8 ns */
#define MOST_SHIFT     40
#define FIRST_DAYS     256
#define MOST_DAYS      32768
#define FEW_IN_A_DAY   6
#define MANY_IN_A_DAY  40
#define BETWEEN_LOOKS  1024 /* days */
#define MOST_HALVINGS  3
#define FAR_ONE_IN     8 /* as many of the events may be far before the days change */
#define SORTED_SINGLY  8 /* slots; longer runs are merged */
#define STAGE_0_AHEAD  7 /* events */
#define STAGE_1_AHEAD  4
#define STAGE_2_AHEAD  2
#define PREFETCH_WRITE 1

/* Time and order as one number: a subtraction with borrow decides, without a branch. */
static inline unsigned __int128 slot_key(const struct event_slot *slot)
{
    return (unsigned __int128)(uint64_t)slot->time_ps << 64 | slot->order;
}

static inline bool slot_before(const struct event_slot *a, const struct event_slot *b)
{
    return slot_key(a) < slot_key(b);
}

/*
 * Copies word by word. As a whole, a slot just written would be read by a wider load, which waits
 * until that write and all before it have reached the cache.
 */
static inline void slot_copy(struct event_slot *to, const struct event_slot *from)
{
    to->time_ps = from->time_ps;
    to->order = from->order;
    to->event = from->event;
}

/* --- heaps: what is late, what is far --------------------------------------------------------- */

static inline void heap_put(struct event_heap *heap, uint32_t index, struct event_slot slot)
{
    slot_copy(&heap->slots[index], &slot);
    slot.event->slot = index;
}

G_ALWAYS_INLINE static inline void sift_up(struct event_heap *heap, uint32_t index,
                                           struct event_slot slot)
{
    while (index > 0) {
        uint32_t parent = (index - 1) / ARITY;

        if (!slot_before(&slot, &heap->slots[parent]))
            break;
        heap_put(heap, index, heap->slots[parent]);
        index = parent;
    }
    heap_put(heap, index, slot);
}

static void sift_down(struct event_heap *heap, uint32_t index, struct event_slot slot)
{
    for (;;) {
        uint32_t first = index * ARITY + 1, least = first, end = MIN(first + ARITY, heap->n);

        if (first >= heap->n)
            break;
        for (uint32_t child = first + 1; child < end; child++)
            least = slot_before(&heap->slots[child], &heap->slots[least]) ? child : least;
        if (!slot_before(&heap->slots[least], &slot))
            break;
        heap_put(heap, index, heap->slots[least]);
        index = least;
    }
    heap_put(heap, index, slot);
}

G_ALWAYS_INLINE static inline void heap_push(struct event_heap *heap, struct event_slot slot)
{
    if (heap->n == heap->room) {
        heap->room = heap->room ? 2 * heap->room : 64;
        heap->slots = g_renew(struct event_slot, heap->slots, heap->room);
    }
    slot.event->where = heap->where;
    sift_up(heap, heap->n++, slot);
}

/* The slot at `index` goes: the last one takes its place, wherever order wants it. */
static void heap_remove(struct event_heap *heap, uint32_t index)
{
    struct event_slot last = heap->slots[--heap->n];

    if (index == heap->n)
        return;
    if (index > 0 && slot_before(&last, &heap->slots[(index - 1) / ARITY]))
        sift_up(heap, index, last);
    else
        sift_down(heap, index, last);
}

/* --- days ------------------------------------------------------------------------------------- */

static uint32_t chunk_take(struct event_queue *queue)
{
    uint32_t taken = queue->free_chunk;

    if (taken == 0) {
        uint32_t old = queue->n_chunks, n = old ? 2 * old : 64;
        struct event_chunk *chunks = pages_new(n * sizeof *chunks);

        if (!chunks)
            g_error("out of memory for events (%u pending)", queue->n_pending);
        if (old)
            memcpy(chunks, queue->chunks, old * sizeof *chunks);
        free(queue->chunks);
        queue->chunks = chunks;
        queue->n_chunks = n;
        for (uint32_t i = n - 1; i >= MAX(old, 1); i--) { /* number 0 says none */
            chunks[i].next = queue->free_chunk;
            queue->free_chunk = i;
        }
        taken = queue->free_chunk;
    }
    queue->free_chunk = queue->chunks[taken].next;
    return taken;
}

static void chunk_give(struct event_queue *queue, uint32_t chunk)
{
    queue->chunks[chunk].next = queue->free_chunk;
    queue->free_chunk = chunk;
}

static inline uint32_t day_of(const struct event_queue *queue, int64_t time_ps)
{
    return (uint32_t)((uint64_t)time_ps >> queue->shift) & (queue->n_days - 1);
}

G_ALWAYS_INLINE static inline void day_add(struct event_queue *queue, struct event_slot slot)
{
    uint32_t number = day_of(queue, slot.time_ps);
    struct event_day *day = &queue->days[number];

    if (day->n == EVENT_CHUNK_SLOTS) {
        uint32_t chunk = chunk_take(queue);

        queue->chunks[chunk].next = day->chunk;
        queue->busy[number / 64] |= UINT64_C(1) << (number % 64);
        queue->busy_words[number / 4096] |= UINT64_C(1) << (number / 64 % 64);
        *day = (struct event_day){chunk, 0};
    }
    slot.event->where = IN_DAYS + number;
    slot.event->slot = day->chunk * EVENT_CHUNK_SLOTS + day->n;
    slot_copy(&queue->chunks[day->chunk].slots[day->n++], &slot);
    queue->n_in_days++;
}

static void day_is_empty(struct event_queue *queue, uint32_t number)
{
    queue->days[number] = (struct event_day){0, EVENT_CHUNK_SLOTS};
    queue->busy[number / 64] &= ~(UINT64_C(1) << (number % 64));
    if (queue->busy[number / 64] == 0)
        queue->busy_words[number / 4096] &= ~(UINT64_C(1) << (number / 64 % 64));
}

/* The day's last slot takes the place of the one that goes. */
static void day_remove(struct event_queue *queue, uint32_t number, uint32_t place)
{
    struct event_day *day = &queue->days[number];
    struct event_chunk *newest = &queue->chunks[day->chunk];
    struct event_slot last = newest->slots[--day->n];

    queue->n_in_days--;
    queue->chunks[place / EVENT_CHUNK_SLOTS].slots[place % EVENT_CHUNK_SLOTS] = last;
    last.event->slot = place;
    if (day->n > 0)
        return;
    uint32_t next = newest->next;

    chunk_give(queue, day->chunk);
    *day = (struct event_day){next, EVENT_CHUNK_SLOTS};
    if (next == 0)
        day_is_empty(queue, number);
}

/* The first day with events from day `from` on, going round; there is one. */
static uint32_t find_busy(const struct event_queue *queue, uint32_t from)
{
    uint32_t n_words = queue->n_days / 64, word = from / 64;
    uint64_t bits = queue->busy[word] & ~UINT64_C(0) << (from % 64);

    if (bits)
        return word * 64 + (uint32_t)__builtin_ctzll(bits);
    for (uint32_t i = 1;;) {
        uint32_t at = (word + i) & (n_words - 1);
        uint64_t words = queue->busy_words[at / 64] >> (at % 64);

        if (words & 1)
            return at * 64 + (uint32_t)__builtin_ctzll(queue->busy[at]);
        i += words ? (uint32_t)__builtin_ctzll(words) : MIN(64 - at % 64, n_words - at);
    }
}

/* Puts an event where its time belongs; it is idle and counted. */
G_ALWAYS_INLINE static inline void insert(struct event_queue *queue, struct event_slot slot)
{
    if ((uint64_t)slot.time_ps < queue->day_end_ps) {
        heap_push(&queue->late, slot);
    } else if ((uint64_t)slot.time_ps < queue->window_end_ps) {
        day_add(queue, slot);
    } else {
        heap_push(&queue->far, slot);
        queue->n_far++;
    }
}

/* The days from day_end_ps on: sets where they end, and takes in what is not far any more. */
static void set_window(struct event_queue *queue)
{
    queue->window_end_ps = ((queue->day_end_ps >> queue->shift) + queue->n_days) << queue->shift;
    while (queue->far.n > 0 && (uint64_t)queue->far.slots[0].time_ps < queue->window_end_ps) {
        struct event_slot slot = queue->far.slots[0];

        heap_remove(&queue->far, 0);
        insert(queue, slot);
    }
}

/* --- the length and number of days ------------------------------------------------------------ */

static void make_days(struct event_queue *queue)
{
    queue->n_in_days = 0;
    queue->days = g_renew(struct event_day, queue->days, queue->n_days);
    queue->busy = g_renew(uint64_t, queue->busy, queue->n_days / 64);
    memset(queue->busy, 0, queue->n_days / 8);
    memset(queue->busy_words, 0, MOST_DAYS / 4096 * sizeof(uint64_t));
    for (uint32_t day = 0; day < queue->n_days; day++)
        queue->days[day] = (struct event_day){0, EVENT_CHUNK_SLOTS};
}

static void change_days(struct event_queue *queue, uint32_t shift, uint32_t n_days)
{
    g_autofree struct event_slot *slots = g_new(struct event_slot, queue->n_pending + 1);
    uint32_t n = 0;

    for (uint32_t number = 0; number < queue->n_days; number++) {
        struct event_day *day = &queue->days[number];

        for (uint32_t chunk = day->chunk, next; chunk; chunk = next) {
            uint32_t n_here = chunk == day->chunk ? day->n : EVENT_CHUNK_SLOTS;

            memcpy(&slots[n], queue->chunks[chunk].slots, n_here * sizeof *slots);
            n += n_here;
            next = queue->chunks[chunk].next;
            chunk_give(queue, chunk);
        }
    }
    queue->shift = shift;
    queue->n_days = n_days;
    make_days(queue);
    set_window(queue);
    for (uint32_t i = 0; i < n; i++)
        insert(queue, slots[i]);
}

/*
 * Many events are far: more days or, when there are most of them, longer ones. Many in a day:
 * shorter ones, but never so short again that many are far. Few: longer ones.
 */
static void look_at_days(struct event_queue *queue)
{
    uint32_t shift = queue->shift, n_days = queue->n_days;
    uint64_t n_fired = queue->n_fired - queue->n_fired_before;

    if (queue->n_far > n_fired / FAR_ONE_IN && queue->n_far > BETWEEN_LOOKS / FAR_ONE_IN) {
        if (n_days < MOST_DAYS && n_days < 4 * queue->n_pending)
            n_days *= 2;
        else
            queue->least_shift = ++shift;
    } else if (n_fired < FEW_IN_A_DAY * queue->n_begun) {
        shift += shift < MOST_SHIFT;
    } else {
        for (uint64_t many = MANY_IN_A_DAY * (uint64_t)queue->n_begun;
             n_fired > many && shift > queue->least_shift && shift + MOST_HALVINGS > queue->shift;
             many *= 2)
            shift--;
    }
    queue->n_fired_before = queue->n_fired;
    queue->n_begun = queue->n_far = 0;
    if (shift != queue->shift || n_days != queue->n_days)
        change_days(queue, shift, n_days);
}

/* --- beginning a day -------------------------------------------------------------------------- */

static void merge(const struct event_slot *from, uint32_t begin, uint32_t middle, uint32_t end,
                  struct event_slot *to)
{
    uint32_t a = begin, b = middle;

    for (uint32_t i = begin; i < end; i++) {
        bool take_a = b == end || (a < middle && slot_before(&from[a], &from[b]));

        slot_copy(&to[i], &from[take_a ? a : b]);
        a += take_a;
        b += !take_a;
    }
}

/* Sorts the run from `begin` on: by insertion in short pieces, which are merged. */
static void sort_run(struct event_queue *queue, uint32_t begin)
{
    uint32_t n = queue->run_n;

    for (uint32_t first = begin; first < n; first += SORTED_SINGLY)
        for (uint32_t i = first + 1; i < MIN(first + SORTED_SINGLY, n); i++) {
            struct event_slot slot = queue->run[i];
            uint32_t at = i;

            for (; at > first && slot_before(&slot, &queue->run[at - 1]); at--)
                slot_copy(&queue->run[at], &queue->run[at - 1]);
            slot_copy(&queue->run[at], &slot);
        }
    for (uint32_t width = SORTED_SINGLY; width < n - begin; width *= 2) {
        struct event_slot *from = queue->run, *to = queue->scratch;

        memcpy(to, from, begin * sizeof *to);
        for (uint32_t first = begin; first < n; first += 2 * width)
            merge(from, first, MIN(first + width, n), MIN(first + 2 * width, n), to);
        queue->run = to;
        queue->scratch = from;
    }
}

static void run_add(struct event_queue *queue, const struct event_slot *slots, uint32_t n)
{
    if (queue->run_n + n > queue->run_room) {
        queue->run_room = MAX(2 * queue->run_room, queue->run_n + n);
        queue->run = g_renew(struct event_slot, queue->run, queue->run_room);
        queue->scratch = g_renew(struct event_slot, queue->scratch, queue->run_room);
    }
    for (uint32_t i = 0; i < n; i++) {
        __builtin_prefetch(slots[i].event, PREFETCH_WRITE);
        slot_copy(&queue->run[queue->run_n + i], &slots[i]);
    }
    queue->run_n += n;
}

/* What is left of the run moves to its front. */
static void shift_run(struct event_queue *queue)
{
    uint32_t n = 0;

    for (uint32_t i = queue->run_at; i < queue->run_n; i++)
        if (queue->run[i].event) {
            queue->run[n] = queue->run[i];
            queue->run[n].event->slot = n;
            n++;
        }
    queue->run_at = 0;
    queue->run_n = n;
}

/* The number of the first day that has events; false if there is none. */
static bool find_day(struct event_queue *queue, uint64_t *day)
{
    uint64_t first = queue->day_end_ps >> queue->shift;
    uint32_t mask = queue->n_days - 1;

    if (queue->n_in_days == 0) { /* all that is pending is far */
        if (queue->far.n == 0)
            return false;
        *day = (uint64_t)queue->far.slots[0].time_ps >> queue->shift;
        queue->day_end_ps = *day << queue->shift;
        set_window(queue);
        return true;
    }
    *day = first + ((find_busy(queue, (uint32_t)first & mask) - first) & mask);
    return true;
}

/* The next day begins: its events are sorted behind what is left of the run. */
static bool begin_day(struct event_queue *queue)
{
    uint32_t number, left;
    uint64_t day;

    if (queue->n_begun >= BETWEEN_LOOKS ||
        queue->n_fired - queue->n_fired_before >= MANY_IN_A_DAY * BETWEEN_LOOKS)
        look_at_days(queue);
    if (!find_day(queue, &day))
        return false;
    number = (uint32_t)day & (queue->n_days - 1);
    shift_run(queue);
    left = queue->run_n;
    for (uint32_t chunk = queue->days[number].chunk, n = queue->days[number].n, next; chunk;
         chunk = next, n = EVENT_CHUNK_SLOTS) {
        run_add(queue, queue->chunks[chunk].slots, n);
        next = queue->chunks[chunk].next;
        chunk_give(queue, chunk);
    }
    day_is_empty(queue, number);
    queue->n_begun++;
    queue->n_in_days -= queue->run_n - left;
    queue->day_end_ps = (day + 1) << queue->shift;
    set_window(queue);
    sort_run(queue, left);
    for (uint32_t i = left; i < queue->run_n; i++) {
        queue->run[i].event->where = IN_RUN;
        queue->run[i].event->slot = i;
    }
    return true;
}

/* --- the queue -------------------------------------------------------------------------------- */

void event_queue_init(struct event_queue *queue, uint64_t seed)
{
    *queue = (struct event_queue){.shift = FIRST_SHIFT, .n_days = FIRST_DAYS};
    queue->late.where = IN_LATE;
    queue->far.where = IN_FAR;
    queue->busy_words = g_new(uint64_t, MOST_DAYS / 4096);
    make_days(queue);
    set_window(queue);
    queue->arrival_key = random_key(seed, STREAM_ORDER, 0);
}

void event_queue_clear(struct event_queue *queue)
{
    g_free(queue->run);
    g_free(queue->scratch);
    g_free(queue->late.slots);
    g_free(queue->far.slots);
    g_free(queue->days);
    g_free(queue->busy);
    g_free(queue->busy_words);
    free(queue->chunks);
    *queue = (struct event_queue){0};
}

static void take_out(struct event_queue *queue, struct event *event)
{
    if (event->where == IN_RUN)
        queue->run[event->slot].event = NULL;
    else if (event->where == IN_LATE)
        heap_remove(&queue->late, event->slot);
    else if (event->where == IN_FAR)
        heap_remove(&queue->far, event->slot);
    else
        day_remove(queue, event->where - IN_DAYS, event->slot);
    event->slot = EVENT_IDLE;
    queue->n_pending--;
}

void event_schedule_ordered(struct event_queue *queue, struct event *event, int64_t time_ps,
                            uint64_t order)
{
    assert(time_ps >= queue->now_ps);
    if (event->slot != EVENT_IDLE)
        take_out(queue, event);
    queue->n_pending++;
    insert(queue, (struct event_slot){time_ps, order, event});
}

void event_cancel(struct event_queue *queue, struct event *event)
{
    if (event->slot != EVENT_IDLE)
        take_out(queue, event);
}

/* The earliest slot, whose day has begun; NULL if nothing is pending. */
static inline const struct event_slot *first_slot(struct event_queue *queue)
{
    for (;;) {
        const struct event_slot *late = queue->late.n > 0 ? queue->late.slots : NULL;

        while (queue->run_at < queue->run_n && !queue->run[queue->run_at].event)
            queue->run_at++;
        if (queue->run_at < queue->run_n) {
            const struct event_slot *head = &queue->run[queue->run_at];

            return late && slot_before(late, head) ? late : head;
        }
        if (late)
            return late;
        if (!begin_day(queue))
            return NULL;
    }
}

int64_t event_queue_next_ps(struct event_queue *queue)
{
    const struct event_slot *first = first_slot(queue);

    return first ? first->time_ps : INT64_MAX;
}

uint64_t event_queue_run(struct event_queue *queue, int64_t end_ps, const bool *stop)
{
    return event_queue_run_some(queue, end_ps, stop, UINT64_MAX);
}

static inline void show_ahead(struct event_queue *queue, uint32_t at, int stage)
{
    if (at < queue->run_n && queue->run[at].event &&
        (queue->run[at].order & ~EVENT_NUMBER_MASK) == EVENT_CLASS_ARRIVAL)
        queue->ahead(queue, queue->run[at].event, stage);
}

/*
 * The run's first event is about to fire: others come nearer. So that enough of them are known the
 * next day begins before this one is over.
 */
static inline void look_ahead(struct event_queue *queue)
{
    if (queue->run_n - queue->run_at < STAGE_0_AHEAD && queue->n_in_days > 0)
        begin_day(queue);
    show_ahead(queue, queue->run_at + STAGE_0_AHEAD - 1, 0);
    show_ahead(queue, queue->run_at + STAGE_1_AHEAD - 1, 1);
    show_ahead(queue, queue->run_at + STAGE_2_AHEAD - 1, 2);
}

/* Takes the first event out of the queue. */
static inline struct event *take_first(struct event_queue *queue, const struct event_slot *first)
{
    struct event *event = first->event;

    if (event->where == IN_LATE) {
        heap_remove(&queue->late, 0);
    } else {
        queue->run_at++;
        if (queue->ahead)
            look_ahead(queue);
    }
    event->slot = EVENT_IDLE;
    queue->n_pending--;
    return event;
}

uint64_t event_queue_run_some(struct event_queue *queue, int64_t end_ps, const bool *stop,
                              uint64_t n_most)
{
    uint64_t n_before = queue->n_fired;
    const struct event_slot *first;

    while (queue->n_fired - n_before < n_most && (first = first_slot(queue)) &&
           first->time_ps <= end_ps) {
        queue->n_ties += first->time_ps == queue->now_ps;
        queue->now_ps = first->time_ps;
        queue->n_fired++;
        struct event *event = take_first(queue, first);

        event->fire(queue, event);
        if (stop && *(const volatile bool *)stop)
            break;
    }
    return queue->n_fired - n_before;
}

bool event_queue_peek(struct event_queue *queue, int64_t *time_ps, uint64_t *order)
{
    const struct event_slot *first = first_slot(queue);

    if (!first)
        return false;
    *time_ps = first->time_ps;
    *order = first->order;
    return true;
}

static inline void set_bit(struct event_bits *bits, int64_t number)
{
    bits->words[number / 64] |= UINT64_C(1) << (number % 64);
    bits->busy[number / 4096] |= UINT64_C(1) << (number / 64 % 64);
}

static inline bool is_timer(uint64_t order)
{
    return (order & ~EVENT_NUMBER_MASK) == EVENT_CLASS_TIMER;
}

/* What is noted of a timer, shared ones and follow-ups; the rest leaves no note. */
static void note_timer(struct event_notes *notes, const struct event_slot *slot)
{
    bool after_timer = notes->last_ps == slot->time_ps && is_timer(notes->last_order);

    if (slot->order & EVENT_SHARED) {
        set_bit(&notes->shared, slot->time_ps - notes->base_ps);
        notes->n_shared++;
    } else if (slot->order == EVENT_FOLLOW_UP) {
        notes->n_follow_ups++;
        if (!after_timer)
            set_bit(&notes->follow_ups, slot->time_ps - notes->base_ps);
        else if (!(notes->last_order & EVENT_SHARED))
            notes->n_apart++;
    }
}

uint64_t event_queue_run_noting(struct event_queue *queue, int64_t end_ps, uint64_t order,
                                uint64_t n_most, struct event_notes *notes)
{
    const struct event_slot end = {end_ps, order, NULL}, *first;
    uint64_t n_before = queue->n_fired;

    while (queue->n_fired - n_before < n_most && (first = first_slot(queue)) &&
           slot_before(first, &end)) {
        if (first->time_ps != queue->now_ps)
            set_bit(&notes->instants, first->time_ps - notes->base_ps);
        if (is_timer(first->order))
            note_timer(notes, first);
        notes->last_ps = queue->now_ps = first->time_ps;
        notes->last_order = first->order;
        queue->n_fired++;
        struct event *event = take_first(queue, first);

        event->fire(queue, event);
    }
    return queue->n_fired - n_before;
}

/* --- for tests -------------------------------------------------------------------------------- */

void event_queue_visit(const struct event_queue *queue,
                       void (*visit)(struct event *event, void *data), void *data)
{
    for (uint32_t i = queue->run_at; i < queue->run_n; i++)
        if (queue->run[i].event)
            visit(queue->run[i].event, data);
    for (uint32_t i = 0; i < queue->late.n; i++)
        visit(queue->late.slots[i].event, data);
    for (uint32_t number = 0; number < queue->n_days; number++) {
        const struct event_day *day = &queue->days[number];
        uint32_t n = day->n;

        for (uint32_t chunk = day->chunk; chunk;
             chunk = queue->chunks[chunk].next, n = EVENT_CHUNK_SLOTS)
            for (uint32_t i = 0; i < n; i++)
                visit(queue->chunks[chunk].slots[i].event, data);
    }
    for (uint32_t i = 0; i < queue->far.n; i++)
        visit(queue->far.slots[i].event, data);
}

static bool verify_heap(const struct event_queue *queue, const struct event_heap *heap,
                        uint64_t from_ps, uint64_t end_ps)
{
    for (uint32_t i = 0; i < heap->n; i++) {
        const struct event_slot *slot = &heap->slots[i];

        if (slot->event->slot != i || slot->event->where != heap->where ||
            slot->time_ps < queue->now_ps || (uint64_t)slot->time_ps < from_ps ||
            (uint64_t)slot->time_ps >= end_ps)
            return false;
        if (i > 0 && slot_before(slot, &heap->slots[(i - 1) / ARITY]))
            return false;
    }
    return true;
}

static bool verify_run(const struct event_queue *queue, uint32_t *n)
{
    const struct event_slot *before = NULL;

    for (uint32_t i = queue->run_at; i < queue->run_n; i++) {
        const struct event_slot *slot = &queue->run[i];

        if (!slot->event)
            continue;
        if (slot->event->slot != i || slot->event->where != IN_RUN ||
            slot->time_ps < queue->now_ps || (before && slot_before(slot, before)))
            return false;
        before = slot;
        (*n)++;
    }
    return true;
}

static bool verify_day(const struct event_queue *queue, uint32_t number, uint32_t *n)
{
    const struct event_day *day = &queue->days[number];

    if ((queue->busy[number / 64] >> (number % 64) & 1) != (day->chunk != 0))
        return false;
    for (uint32_t chunk = day->chunk, here = day->n; chunk;
         chunk = queue->chunks[chunk].next, here = EVENT_CHUNK_SLOTS)
        for (uint32_t i = 0; i < here; i++, (*n)++) {
            const struct event_slot *slot = &queue->chunks[chunk].slots[i];

            if (slot->event->slot != chunk * EVENT_CHUNK_SLOTS + i ||
                slot->event->where != IN_DAYS + number || day_of(queue, slot->time_ps) != number ||
                slot->time_ps < queue->now_ps || (uint64_t)slot->time_ps < queue->day_end_ps ||
                (uint64_t)slot->time_ps >= queue->window_end_ps)
                return false;
        }
    return true;
}

bool event_queue_verify(const struct event_queue *queue)
{
    uint32_t n = queue->late.n + queue->far.n, n_in_days = 0;

    if (!verify_heap(queue, &queue->late, 0, queue->day_end_ps) ||
        !verify_heap(queue, &queue->far, queue->window_end_ps, UINT64_MAX) ||
        !verify_run(queue, &n))
        return false;
    for (uint32_t number = 0; number < queue->n_days; number++)
        if (!verify_day(queue, number, &n_in_days))
            return false;
    n += n_in_days;
    return n == queue->n_pending && n_in_days == queue->n_in_days;
}
