/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/parallel.h"
#include "models/host.h"
#include "models/port_priority.h"
#include "models/port_wire.h"
#include "sim/core/pages.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_BETWEEN_PROGRESS 32768
#define EVENTS_BETWEEN_LOOKS    64
#define N_WORDS                 (EVENT_MOST_STEPS / 64)
#define PACKETS_UNEVEN          65536 /* more free ones in one pool than in another: some move */

struct cross { /* a port whose wire leads into a part, and its twin there */
    struct port *port, *twin;
    uint32_t handed; /* of port->ring: those before it are the twin's */
};

struct part {
    _Alignas(128) struct fabric *fabric; /* shares ports, switches and routes with all others */
    struct cross *inbound;
    uint32_t n_inbound;
    struct event_notes notes;
    int64_t n_moved; /* packets that its pool got from others, less those it gave */
    struct parallel *parallel;
    GThread *thread;
};

struct parallel {
    struct fabric *fabric;
    const struct partition *partition;
    struct player *players;
    struct part *parts;
    uint32_t n;
    pthread_barrier_t barrier;
    struct series *series;
    struct recovery *recovery;
    int64_t base_ps, end_ps; /* of the window: events before end_order at end_ps */
    uint64_t end_order;
    bool over, whole;  /* the run is over; nobody stopped it */
    bool stands_still; /* ports wait in a circle */
    uint64_t n_moves;  /* packets that had entered a wire when that was last looked at */
    uint64_t n_told;   /* events when progress was last told */
    /* what one queue would have counted beside the events of all, see event_notes */
    uint64_t n_instants, n_follow_ups, n_shared;
};

/* --- wires that cross ------------------------------------------------------------------------- */

/*
 * One slot stays behind the head for good, so that the ring is never taken for empty and the port
 * does not schedule an arrival of its own. What the wire may lose is the twin's to know.
 */
static void cross_init(struct part *part, struct cross *cross, struct port *port)
{
    struct port *twin = pages_new(sizeof *twin);

    if (!twin)
        g_error("out of memory for a port");
    *twin = *port;
    port->rare = NULL;
    port_ring_grow(port);
    memset(port->ring, 0, (port->mask + 1) * sizeof *port->ring);
    port->tail = port->started = 1;
    part->fabric->twins[port->number] = twin;
    *cross = (struct cross){port, twin, 1};
}

/* What was put on the wire since the last time arrives in `part`. */
static void hand_over(struct part *part, struct cross *cross)
{
    struct port *port = cross->port, *twin = cross->twin;
    bool was_empty = twin->head == twin->tail;

    if (port->lanes && port->lanes->posted)
        pfc_hand_over(&part->fabric->engine.events, port);
    if (cross->handed == port->tail)
        return;
    for (; cross->handed != port->tail; cross->handed++) {
        if (twin->tail - twin->head > twin->mask || !twin->ring)
            port_ring_grow(twin);
        twin->ring[twin->tail++ & twin->mask] = port->ring[cross->handed & port->mask];
    }
    twin->started = twin->tail;
    if (port->lanes) /* of the form `priority`: what is in the ring has started */
        port->started = port->tail;
    port->head = port->started - 1;
    if (was_empty)
        port_schedule_head(&part->fabric->engine.events, twin);
}

static void hand_over_all(struct part *part)
{
    for (uint32_t i = 0; i < part->n_inbound; i++)
        hand_over(part, &part->inbound[i]);
}

/* The port is whole again: what is on its wire, and what was lost at both ends. */
static void cross_end(struct cross *cross)
{
    struct port *port = cross->port, *twin = cross->twin;
    struct port_rare *rare = port->rare;

    g_free(port->ring);
    port->ring = twin->ring;
    port->mask = twin->mask;
    port->head = twin->head;
    port->tail = port->started = twin->tail;
    port->rare = twin->rare;
    if (rare) {
        for (int cause = 0; cause < SINK_N_DROPS; cause++)
            port_rare(port)->n_dropped[cause] += rare->n_dropped[cause];
        port_rare(port)->n_dropped_bytes += rare->n_dropped_bytes;
    }
    g_free(rare);
    free(twin);
}

/* --- parts ------------------------------------------------------------------------------------ */

static struct fabric *copy_fabric(struct fabric *fabric)
{
    struct fabric *copy = pages_new(sizeof *copy);

    if (!copy)
        g_error("out of memory for a part of the fabric");
    *copy = *fabric;
    event_queue_init(&copy->engine.events, fabric->engine.seed);
    copy->engine.events.ahead = fabric->engine.events.ahead;
    packet_pool_init(&copy->engine.pool);
    return copy;
}

static void bits_init(struct event_bits *bits)
{
    *bits = (struct event_bits){g_new0(uint64_t, N_WORDS), g_new0(uint64_t, N_WORDS / 64)};
}

static void bits_clear(struct event_bits *bits)
{
    g_free(bits->words);
    g_free(bits->busy);
}

static void part_init(struct parallel *parallel, uint32_t number)
{
    struct part *part = &parallel->parts[number];
    const struct graph *graph = parallel->fabric->engine.graph;

    part->parallel = parallel;
    part->fabric = number == 0 ? parallel->fabric : copy_fabric(parallel->fabric);
    part->notes.last_ps = -1;
    bits_init(&part->notes.instants);
    bits_init(&part->notes.follow_ups);
    bits_init(&part->notes.shared);
    part->inbound = g_new(struct cross, parallel->fabric->n_ports + 1);
    for (uint32_t port = 0; port < parallel->fabric->n_ports; port++)
        if (partition_crosses(parallel->partition, graph, port) &&
            parallel->partition->of[graph_port_peer(graph, port)] == number)
            cross_init(part, &part->inbound[part->n_inbound++], &parallel->fabric->ports[port]);
    part->inbound = g_renew(struct cross, part->inbound, part->n_inbound + 1);
    for (uint32_t node = 0; node < graph->n_nodes; node++) {
        if (parallel->partition->of[node] != number)
            continue;
        part->fabric->queues[node] = &part->fabric->engine.events;
        if (node < graph->n_hosts)
            part->fabric->engine.hosts[node].engine = &part->fabric->engine;
    }
}

struct parallel *parallel_new(struct fabric *fabric, const struct partition *partition,
                              struct player *players)
{
    struct parallel *parallel = g_new0(struct parallel, 1);

    *parallel = (struct parallel){.fabric = fabric,
                                  .partition = partition,
                                  .players = players,
                                  .n = partition->n,
                                  .parts = pages_new(partition->n * sizeof(struct part)),
                                  .whole = true};
    if (!parallel->parts)
        g_error("out of memory for %u threads", parallel->n);
    memset(parallel->parts, 0, parallel->n * sizeof(struct part));
    fabric->twins = g_new0(struct port *, fabric->n_ports + 1);
    fabric->queues = g_new0(struct event_queue *, fabric->engine.graph->n_nodes + 1);
    if (pthread_barrier_init(&parallel->barrier, NULL, parallel->n))
        g_error("no barrier for %u threads", parallel->n);
    for (uint32_t number = 0; number < parallel->n; number++)
        part_init(parallel, number);
    return parallel;
}

struct engine *parallel_engine(struct parallel *parallel, uint32_t part)
{
    return &parallel->parts[part].fabric->engine;
}

struct player_part parallel_part(struct parallel *parallel, uint32_t part)
{
    return (struct player_part){parallel->partition->of, part, parallel->players};
}

void parallel_free(struct parallel *parallel)
{
    for (uint32_t number = 0; number < parallel->n; number++) {
        struct part *part = &parallel->parts[number];

        bits_clear(&part->notes.instants);
        bits_clear(&part->notes.follow_ups);
        bits_clear(&part->notes.shared);
        g_free(part->inbound);
        if (number == 0)
            continue;
        packet_pool_clear(&part->fabric->engine.pool);
        event_queue_clear(&part->fabric->engine.events);
        free(part->fabric);
    }
    pthread_barrier_destroy(&parallel->barrier);
    g_clear_pointer(&parallel->fabric->queues, g_free);
    free(parallel->parts);
    g_free(parallel);
}

/* --- counting as one -------------------------------------------------------------------------- */

static struct event_bits *bits_of(struct parallel *parallel, uint32_t part, size_t offset)
{
    return (struct event_bits *)(void *)((char *)&parallel->parts[part].notes + offset);
}

/* Bits of a word that are set in any part's, which are cleared. */
static uint64_t take_word(struct parallel *parallel, size_t offset, int64_t word)
{
    uint64_t bits = 0;

    for (uint32_t part = 0; part < parallel->n; part++) {
        bits |= bits_of(parallel, part, offset)->words[word];
        bits_of(parallel, part, offset)->words[word] = 0;
    }
    return bits;
}

/* How many bits are set in any part's; all are cleared. */
static uint64_t count_bits(struct parallel *parallel, size_t offset)
{
    int64_t n_groups = (parallel->end_ps - parallel->base_ps) / 4096 + 1;
    uint64_t n = 0;

    for (int64_t group = 0; group < MIN(n_groups, N_WORDS / 64); group++) {
        uint64_t busy = 0;

        for (uint32_t part = 0; part < parallel->n; part++) {
            busy |= bits_of(parallel, part, offset)->busy[group];
            bits_of(parallel, part, offset)->busy[group] = 0;
        }
        for (; busy; busy &= busy - 1)
            n += (uint64_t)__builtin_popcountll(
                take_word(parallel, offset, 64 * group + __builtin_ctzll(busy)));
    }
    return n;
}

static void count_window(struct parallel *parallel)
{
    parallel->n_instants += count_bits(parallel, offsetof(struct event_notes, instants));
    parallel->n_follow_ups += count_bits(parallel, offsetof(struct event_notes, follow_ups));
    parallel->n_shared += count_bits(parallel, offsetof(struct event_notes, shared));
}

/* Events as one queue would have fired them: a follow-up comes after each shared timer. */
static uint64_t count_events(const struct parallel *parallel)
{
    uint64_t n = parallel->n_follow_ups + 2 * parallel->n_shared;

    for (uint32_t number = 0; number < parallel->n; number++) {
        const struct part *part = &parallel->parts[number];

        n += part->fabric->engine.events.n_fired - part->notes.n_follow_ups - part->notes.n_shared +
             part->notes.n_apart;
    }
    return n;
}

/* --- between windows, by one thread ----------------------------------------------------------- */

static int64_t n_free(const struct part *part)
{
    const struct packet_pool *pool = &part->fabric->engine.pool;

    return packet_pool_used(pool) - pool->n_live + part->n_moved;
}

/* Packets end in other pools than they come from: the fullest pool shares with the emptiest. */
static void even_pools(struct parallel *parallel)
{
    struct part *full = &parallel->parts[0], *empty = full;

    for (uint32_t number = 1; number < parallel->n; number++) {
        struct part *part = &parallel->parts[number];

        full = n_free(part) > n_free(full) ? part : full;
        empty = n_free(part) < n_free(empty) ? part : empty;
    }
    int64_t n = (n_free(full) - n_free(empty)) / 2;

    if (2 * n < PACKETS_UNEVEN)
        return;
    packet_pool_move(&full->fabric->engine.pool, &empty->fabric->engine.pool, n);
    full->n_moved -= n;
    empty->n_moved += n;
}

static bool tell_progress(struct parallel *parallel, int64_t now_ps)
{
    const struct backend_run *run = parallel->fabric->run;
    struct backend_progress progress = {
        .now_ps = now_ps, .end_ps = run->end_ps, .n_ops = run->schedule->n_ops};

    for (uint32_t number = 0; number < parallel->n; number++) {
        progress.n_events += parallel->parts[number].fabric->engine.events.n_fired;
        progress.n_hops += parallel->parts[number].fabric->n_hops;
        progress.n_ops_done += parallel->players[number].n_done;
    }
    if (!run->progress || progress.n_events - parallel->n_told < EVENTS_BETWEEN_PROGRESS)
        return true;
    parallel->n_told = progress.n_events;
    return run->progress(run->progress_data, &progress);
}

/* The part whose earliest event is the first of all; NULL: nothing is left to happen. */
static struct part *find_first(struct parallel *parallel, int64_t *first_ps, uint64_t *first_order)
{
    struct part *first = NULL;
    int64_t time_ps;
    uint64_t order;

    for (uint32_t number = 0; number < parallel->n; number++) {
        struct part *part = &parallel->parts[number];

        if (!event_queue_peek(&part->fabric->engine.events, &time_ps, &order))
            continue;
        if (!first || time_ps < *first_ps || (time_ps == *first_ps && order < *first_order)) {
            first = part;
            *first_ps = time_ps;
            *first_order = order;
        }
    }
    return first;
}

/* Fires events of the part that are in the window; false if there is none. */
static bool play_window(const struct parallel *parallel, struct part *part, uint64_t n_most)
{
    return event_queue_run_noting(&part->fabric->engine.events, parallel->end_ps,
                                  parallel->end_order, n_most, &part->notes) > 0;
}

/*
 * The window as one queue would play it, for the run may end in it. True as soon as it cannot: what
 * is left of the window is for all.
 */
static bool play_in_order(struct parallel *parallel)
{
    struct part *part;
    int64_t time_ps;
    uint64_t order;

    for (uint32_t n = 1; (part = find_first(parallel, &time_ps, &order)); n++) {
        if (!play_window(parallel, part, 1))
            return false;
        players_settle(parallel->players, parallel->n);
        parallel->over = players_are_over(parallel->players, parallel->n);
        if (parallel->over)
            return false;
        if (n % EVENTS_BETWEEN_LOOKS == 0 && !players_may_end(parallel->players, parallel->n))
            return true;
    }
    return false;
}

static int64_t next_look_ps(const struct parallel *parallel)
{
    int64_t look_ps = MIN(parallel->series->next_ps, parallel->recovery->next_ps);

    return look_ps < parallel->fabric->run->end_ps ? look_ps : INT64_MAX;
}

/* All events before `first_ps` have happened, where something is still to come. */
static void look(struct parallel *parallel, int64_t first_ps)
{
    for (int64_t look_ps; (look_ps = next_look_ps(parallel)) < first_ps;) {
        if (parallel->series->next_ps == look_ps)
            series_step(parallel->series);
        if (parallel->recovery->next_ps == look_ps)
            recovery_step(parallel->recovery);
    }
}

static void set_base(struct parallel *parallel, int64_t base_ps)
{
    parallel->base_ps = base_ps;
    for (uint32_t number = 0; number < parallel->n; number++)
        parallel->parts[number].notes.base_ps = base_ps;
}

/* A fault begins or ends, in the first part's queue: the clocks of all parts are at its instant. */
static void play_fault(struct parallel *parallel, int64_t time_ps)
{
    struct part *first = &parallel->parts[0];
    bool noted = false;

    for (uint32_t number = 0; number < parallel->n; number++)
        noted |= parallel->parts[number].fabric->engine.events.now_ps == time_ps;
    for (uint32_t number = noted ? 0 : 1; number < parallel->n; number++)
        parallel->parts[number].fabric->engine.events.now_ps = time_ps;
    set_base(parallel, time_ps);
    parallel->end_ps = time_ps + 1;
    event_queue_run_noting(&first->fabric->engine.events, INT64_MAX, UINT64_MAX, 1, &first->notes);
    for (uint32_t number = 1; number < parallel->n; number++)
        parallel->parts[number].fabric->route = first->fabric->route;
}

/* Ends the window at events that are not before this one, if it ends later. */
static void end_before(struct parallel *parallel, int64_t time_ps, uint64_t order)
{
    if (time_ps < parallel->end_ps ||
        (time_ps == parallel->end_ps && order < parallel->end_order)) {
        parallel->end_ps = time_ps;
        parallel->end_order = order;
    }
}

/* Looks and faults that are due, then the next window; false if there is none. */
static bool set_window(struct parallel *parallel)
{
    int64_t first_ps, last_ps;
    uint64_t order;
    const struct faults *faults = &parallel->fabric->faults;

    for (;;) {
        if (!find_first(parallel, &first_ps, &order))
            return false;
        look(parallel, first_ps);
        if (first_ps > parallel->fabric->run->end_ps)
            return false;
        if (!faults->steps || order != faults->event.order)
            break;
        play_fault(parallel, first_ps);
        count_window(parallel);
    }
    last_ps = MIN(parallel->fabric->run->end_ps, next_look_ps(parallel));
    set_base(parallel, first_ps);
    parallel->end_ps =
        MIN(last_ps - first_ps, parallel->partition->lookahead_ps - 1) + first_ps + 1;
    parallel->end_order = 0;
    if (faults->steps)
        end_before(parallel, faults->next_ps, faults->event.order);
    return true;
}

/* Nothing but pause frames and timers in a window, and ports wait in a circle. */
static bool stands_still(struct parallel *parallel)
{
    uint64_t n_before = parallel->n_moves;

    parallel->n_moves = 0;
    for (uint32_t number = 0; number < parallel->n; number++) {
        const struct fabric *fabric = parallel->parts[number].fabric;

        parallel->n_moves += fabric->n_hops - fabric->n_pauses;
    }
    return parallel->n_moves == n_before && pfc_deadlock(parallel->fabric, NULL);
}

/* Looks at what the window left and sets the next one that all can play, or says that all is over.
 */
static void meet(struct parallel *parallel)
{
    for (;;) {
        count_window(parallel);
        players_settle(parallel->players, parallel->n);
        parallel->over |= players_are_over(parallel->players, parallel->n);
        if (!tell_progress(parallel, parallel->base_ps))
            parallel->whole = false;
        parallel->stands_still = !parallel->over && stands_still(parallel);
        if (parallel->over || !parallel->whole || parallel->stands_still || !set_window(parallel)) {
            parallel->over = true;
            return;
        }
        if (!players_may_end(parallel->players, parallel->n) || play_in_order(parallel)) {
            even_pools(parallel);
            return;
        }
        for (uint32_t number = 0; number < parallel->n; number++)
            hand_over_all(&parallel->parts[number]);
    }
}

/* --- the threads ------------------------------------------------------------------------------ */

static void *play_part(void *data)
{
    struct part *part = data;
    struct parallel *parallel = part->parallel;

    for (;;) {
        hand_over_all(part);
        pthread_barrier_wait(&parallel->barrier);
        if (part == &parallel->parts[0])
            meet(parallel);
        pthread_barrier_wait(&parallel->barrier);
        if (parallel->over)
            return NULL;
        play_window(parallel, part, UINT64_MAX);
        pthread_barrier_wait(&parallel->barrier);
    }
}

/* The first part's fabric counts for all. */
static void join(struct parallel *parallel)
{
    struct fabric *fabric = parallel->fabric;
    struct event_queue *events = &fabric->engine.events;

    events->n_fired = count_events(parallel);
    events->n_ties = events->n_fired - parallel->n_instants;
    for (uint32_t number = 0; number < parallel->n; number++)
        for (uint32_t i = 0; i < parallel->parts[number].n_inbound; i++)
            cross_end(&parallel->parts[number].inbound[i]);
    g_clear_pointer(&fabric->twins, g_free);
    for (uint32_t number = 1; number < parallel->n; number++) {
        const struct fabric *other = parallel->parts[number].fabric;

        fabric->engine.pool.n_live += other->engine.pool.n_live;
        fabric->n_hops += other->n_hops;
        fabric->n_pauses += other->n_pauses;
        for (int class = 0; class < PACKET_N_CLASSES; class ++)
            fabric->n_dropped_class[class] += other->n_dropped_class[class];
    }
    players_join(parallel->players, parallel->n);
}

bool parallel_run(struct parallel *parallel, struct series *series, struct recovery *recovery)
{
    struct event_queue *events = &parallel->fabric->engine.events;

    parallel->series = series;
    parallel->recovery = recovery;
    for (uint32_t number = 1; number < parallel->n; number++)
        parallel->parts[number].thread = g_thread_new("weft", play_part, &parallel->parts[number]);
    play_part(&parallel->parts[0]);
    for (uint32_t number = 1; number < parallel->n; number++)
        g_thread_join(parallel->parts[number].thread);
    for (uint32_t number = 1; number < parallel->n; number++)
        events->now_ps = MAX(events->now_ps, parallel->parts[number].fabric->engine.events.now_ps);
    series_finish(series);
    join(parallel);
    return parallel->whole;
}

bool parallel_stands_still(const struct parallel *parallel)
{
    return parallel->stands_still;
}
