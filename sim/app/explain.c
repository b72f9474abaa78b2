/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/explain.h"

#define NOWHERE    UINT32_MAX
#define MOST_STEPS 64 /* of the walk in one instant */

/* Where the walk goes on when it has come back to the transmission before. */
struct floor {
    int64_t time_ps;
    const struct journal_trip *resume;
    enum explain_why why;
};

struct walk {
    struct explain *explain;
    const struct journal *journal;
    const struct graph *graph;
    uint64_t op;      /* whose chain */
    int64_t t_ps;     /* all later is told */
    int64_t begin_ps; /* of the chain */
    enum explain_why why;
    GArray *floors; /* struct floor */
    /* the place: a packet, at the instant at which it was handled, or sent */
    const struct journal_trip *trip;
    bool at_sent;
};

static const char *const part_names[] = {
    [EXPLAIN_SERIALISATION] = "serialisation",
    [EXPLAIN_PROPAGATION] = "propagation",
    [EXPLAIN_SWITCH] = "switch latency",
    [EXPLAIN_QUEUE] = "queueing",
    [EXPLAIN_NIC_OWN] = "NIC, own other messages",
    [EXPLAIN_NIC_OTHERS] = "NIC, other traffic",
    [EXPLAIN_PAUSE] = "pause",
    [EXPLAIN_PACING] = "pacing",
    [EXPLAIN_TIMEOUT] = "timeout wait",
    [EXPLAIN_TURN] = "wait for a later post",
    [EXPLAIN_ANSWER] = "receiver's timer",
    [EXPLAIN_INTAKE] = "receiving NIC",
    [EXPLAIN_IDLE] = "NIC idle",
    [EXPLAIN_ISSUE] = "node: issue",
    [EXPLAIN_NOTIFY] = "node: notify",
    [EXPLAIN_REDUCE] = "node: reduce",
    [EXPLAIN_COMPUTE] = "node: compute",
    [EXPLAIN_SCHEDULE] = "start time",
};
G_STATIC_ASSERT(G_N_ELEMENTS(part_names) == EXPLAIN_N_PARTS);

const char *explain_part_name(enum explain_part part)
{
    return part_names[part];
}

const char *explain_why_name(enum explain_why why)
{
    static const char *const names[] = {[EXPLAIN_DIRECT] = "on the way",
                                        [EXPLAIN_WINDOW] = "window wait",
                                        [EXPLAIN_RECOVERY] = "loss recovery"};

    return names[why];
}

/* --- segments --------------------------------------------------------------------------------- */

static const struct floor *top_floor(const struct walk *walk)
{
    return walk->floors->len > 0 ? &g_array_index(walk->floors, struct floor, walk->floors->len - 1)
                                 : NULL;
}

/* Back to where what is being told reaches at most. */
static int64_t bound_of(const struct walk *walk)
{
    const struct floor *floor = top_floor(walk);

    return floor ? MAX(floor->time_ps, walk->begin_ps) : walk->begin_ps;
}

/* All from `from_ps` on was this. */
static void add(struct walk *walk, int64_t from_ps, enum explain_part part, uint32_t port,
                const struct journal_trip *trip)
{
    struct explain *explain = walk->explain;
    struct explain_segment segment = {
        MAX(from_ps, bound_of(walk)), walk->t_ps, part, walk->why, port, walk->op, trip};

    if (segment.from_ps >= segment.to_ps)
        return;
    g_array_append_val(explain->segments, segment);
    explain->part_ps[part][walk->why] += segment.to_ps - segment.from_ps;
    explain->sum_ps += segment.to_ps - segment.from_ps;
    walk->t_ps = segment.from_ps;
}

/*
 * Of records in order of time, which is the first thing in each, how many come before `t_ps`; NULL
 * has none.
 */
static guint n_before(const GArray *records, int64_t t_ps)
{
    guint low = 0, high = records ? records->len : 0;
    guint size = records ? g_array_get_element_size((GArray *)(uintptr_t)records) : 0;

    while (low < high) {
        guint middle = (low + high) / 2;

        if (*(const int64_t *)(const void *)(records->data + (size_t)middle * size) < t_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
G_STATIC_ASSERT(offsetof(struct journal_pause, time_ps) == 0);
G_STATIC_ASSERT(offsetof(struct journal_sending, start_ps) == 0);
G_STATIC_ASSERT(offsetof(struct journal_span, from_ps) == 0);

/* A wait at a port, from `from_ps` on: paused or, where it was not, `part`. */
static void add_wait(struct walk *walk, int64_t from_ps, enum explain_part part, uint32_t port,
                     const struct journal_trip *trip, uint8_t class)
{
    const GArray *pauses = walk->journal->pauses[port];

    for (guint i = n_before(pauses, walk->t_ps); i > 0 && walk->t_ps > from_ps; i--) {
        const struct journal_pause *pause = &g_array_index(pauses, struct journal_pause, i - 1);

        add(walk, MAX(pause->time_ps, from_ps), pause->classes >> class & 1 ? EXPLAIN_PAUSE : part,
            port, trip);
        if (walk->t_ps <= bound_of(walk))
            return;
    }
    add(walk, from_ps, part, port, trip);
}

/* --- a packet's way --------------------------------------------------------------------------- */

static bool is_data(const struct journal_trip *trip)
{
    return trip->lane != NULL;
}

static void add_hop(struct walk *walk, const struct journal_trip *trip, uint32_t index)
{
    const struct journal_hop *hop = &trip->hops[index];
    int64_t delay_ps = walk->graph->links[hop->port / 2].delay_ps;

    add(walk, hop->end_ps + delay_ps, EXPLAIN_SWITCH, hop->port, trip);
    add(walk, hop->end_ps, EXPLAIN_PROPAGATION, hop->port, trip);
    add(walk, hop->start_ps, EXPLAIN_SERIALISATION, hop->port, trip);
    add_wait(walk, hop->came_ps, index == 0 ? EXPLAIN_NIC_OTHERS : EXPLAIN_QUEUE, hop->port, trip,
             trip->class);
}

/* From where the packet was handled back to where it was made. */
static void walk_way(struct walk *walk)
{
    const struct journal_trip *trip = walk->trip;

    if (trip->n_hops > 0)
        add(walk, trip->hops[trip->n_hops - 1].arrive_ps, EXPLAIN_INTAKE,
            trip->hops[trip->n_hops - 1].port, trip);
    for (uint32_t i = trip->n_hops; i > 0; i--)
        add_hop(walk, trip, i - 1);
    if (walk->t_ps <= bound_of(walk))
        return;
    if (is_data(trip)) {
        walk->at_sent = true;
        walk->why = top_floor(walk) ? EXPLAIN_RECOVERY : EXPLAIN_DIRECT;
        return;
    }
    walk->trip = trip->cause_trip;
    add(walk, walk->trip ? walk->trip->end_ps : bound_of(walk), EXPLAIN_ANSWER, NOWHERE, trip);
}

/* --- a sender --------------------------------------------------------------------------------- */

/* A piece in which the NIC did not send for the chain: pacing, and `part` where it was not paced.
 */
static void add_unsent(struct walk *walk, const struct journal_lane *lane, int64_t from_ps,
                       enum explain_part part)
{
    uint32_t port = walk->trip->hops[0].port;

    for (guint i = n_before(lane->paced, walk->t_ps); i > 0 && walk->t_ps > from_ps; i--) {
        const struct journal_span *span = &g_array_index(lane->paced, struct journal_span, i - 1);

        if (span->to_ps <= from_ps)
            break;
        if (span->to_ps < walk->t_ps)
            add_wait(walk, span->to_ps, part, port, walk->trip, PACKET_DATA);
        add(walk, MAX(span->from_ps, from_ps), EXPLAIN_PACING, port, walk->trip);
    }
    add_wait(walk, from_ps, part, port, walk->trip, PACKET_DATA);
}

static void add_sending(struct walk *walk, const struct journal_sending *sending, int64_t from_ps)
{
    const struct journal_trip *trip = walk->trip;
    bool same = sending->connection == trip->connection && sending->class == PACKET_DATA;

    if (same && sending->flow == walk->op)
        add(walk, from_ps, EXPLAIN_SERIALISATION, trip->hops[0].port, NULL);
    else
        add_unsent(walk, trip->lane, from_ps, same ? EXPLAIN_NIC_OWN : EXPLAIN_NIC_OTHERS);
}

/* Back to `from_ps`, through what the NIC did. */
static void walk_nic(struct walk *walk, int64_t from_ps)
{
    const struct journal_lane *lane = walk->trip->lane;
    const GArray *sendings = walk->journal->sendings[walk->trip->hops[0].port];
    guint i = n_before(sendings, walk->t_ps);

    while (walk->t_ps > from_ps) {
        const struct journal_sending *sending =
            i > 0 ? &g_array_index(sendings, struct journal_sending, i - 1) : NULL;
        int64_t end_ps = sending ? MAX(sending->end_ps, from_ps) : from_ps;

        if (end_ps < walk->t_ps)
            add_unsent(walk, lane, end_ps, EXPLAIN_IDLE);
        if (!sending || walk->t_ps <= from_ps)
            break;
        add_sending(walk, sending, MAX(sending->start_ps, from_ps));
        i--;
    }
}

/* The sender had nothing to send until then: `part`, back to the connection's last packet. */
static void walk_silence(struct walk *walk, const struct journal_period *period,
                         enum explain_part part)
{
    const struct journal_trip *last = period->last_sent;

    if (!last) {
        add(walk, bound_of(walk), part, NOWHERE, NULL);
        return;
    }
    if (last->n_hops > 0)
        add(walk, MIN(last->hops[0].end_ps, walk->t_ps), part, NOWHERE, NULL);
    add(walk, last->made_ps, last->n_hops > 0 ? EXPLAIN_SERIALISATION : part,
        last->n_hops > 0 ? last->hops[0].port : NOWHERE, last);
    walk->trip = last;
}

/* Why the packet was sent when it was. */
static void walk_sent(struct walk *walk)
{
    const struct journal_trip *trip = walk->trip;
    const struct journal_period *period =
        &g_array_index(trip->lane->periods, struct journal_period, trip->period);

    if (trip->before) {
        struct floor floor = {trip->before->made_ps, trip->before, walk->why};

        if (floor.time_ps > bound_of(walk))
            g_array_append_val(walk->floors, floor);
        walk->why = EXPLAIN_RECOVERY;
    }
    walk_nic(walk, MAX(period->ready_ps, bound_of(walk)));
    if (walk->t_ps <= bound_of(walk))
        return;
    if (period->wake == JOURNAL_PACKET && period->by) {
        walk->at_sent = false;
        walk->trip = period->by;
        walk->why = top_floor(walk) ? EXPLAIN_RECOVERY : EXPLAIN_WINDOW;
    } else {
        walk_silence(walk, period, period->wake == JOURNAL_POST ? EXPLAIN_TURN : EXPLAIN_TIMEOUT);
    }
}

/* --- a message -------------------------------------------------------------------------------- */

/* The walk is back at the transmission before the one that it came from. */
static void resume(struct walk *walk)
{
    struct floor floor = *top_floor(walk);

    g_array_set_size(walk->floors, walk->floors->len - 1);
    walk->trip = floor.resume;
    walk->why = floor.why;
    walk->at_sent = true;
}

/* From `trip`, handled at walk->t_ps, back to begin_ps. */
static void walk_message(struct walk *walk, const struct journal_trip *trip)
{
    int64_t before_ps = walk->t_ps;
    int n_still = 0;

    walk->trip = trip;
    walk->at_sent = false;
    walk->why = EXPLAIN_DIRECT;
    while (walk->t_ps > walk->begin_ps) {
        if (!walk->trip || n_still > MOST_STEPS) {
            walk->explain->broken = "what came before was not recorded";
            break;
        }
        if (top_floor(walk) && walk->t_ps <= top_floor(walk)->time_ps)
            resume(walk);
        else if (walk->at_sent)
            walk_sent(walk);
        else
            walk_way(walk);
        n_still = walk->t_ps < before_ps ? 0 : n_still + 1;
        before_ps = walk->t_ps;
    }
    g_array_set_size(walk->floors, 0);
    walk->why = EXPLAIN_DIRECT;
}

static void explain_init(struct explain *explain, struct walk *walk, const struct journal *journal,
                         int64_t from_ps, int64_t to_ps)
{
    *explain = (struct explain){.journal = journal, .from_ps = from_ps, .to_ps = to_ps};
    explain->segments = g_array_new(FALSE, FALSE, sizeof(struct explain_segment));
    explain->chain = g_array_new(FALSE, FALSE, sizeof(struct explain_link));
    *walk = (struct walk){.explain = explain,
                          .journal = journal,
                          .graph = &journal->experiment->graph,
                          .t_ps = to_ps,
                          .begin_ps = from_ps,
                          .floors = g_array_new(FALSE, FALSE, sizeof(struct floor))};
}

void explain_message(struct explain *explain, const struct journal *journal, uint64_t op)
{
    const struct journal_op *record = &journal->ops[op];
    struct walk walk;

    explain_init(explain, &walk, journal, record->posted_ps, record->delivered_ps);
    walk.op = op;
    explain->last = record->delivered_by;
    if (record->delivered_ps < 0)
        explain->broken = record->posted_ps < 0 ? "it was never posted" : "it was not delivered";
    else
        walk_message(&walk, record->delivered_by);
    g_array_unref(walk.floors);
}

void explain_clear(struct explain *explain)
{
    g_array_unref(explain->segments);
    g_array_unref(explain->chain);
}

/* --- operations ------------------------------------------------------------------------------- */

/* A message: what came after it was handed to its transport, if the chain reaches so far. */
static void walk_posted(struct walk *walk, const struct journal_op *op, enum schedule_when when)
{
    int64_t begin_ps = walk->begin_ps;

    if (op->posted_ps < 0 || walk->t_ps <= op->posted_ps) /* what waited for it to be issued */
        return;
    if (when == SCHEDULE_AT_RECEIVER)
        add(walk, op->delivered_ps, EXPLAIN_NOTIFY, NOWHERE, NULL);
    walk->begin_ps = MAX(op->posted_ps, begin_ps);
    if (walk->explain->with_packets)
        walk_message(walk, when == SCHEDULE_AT_RECEIVER ? op->delivered_by : op->acknowledged_by);
    else
        walk->t_ps = MIN(walk->t_ps, walk->begin_ps);
    walk->begin_ps = begin_ps;
}

/* The operation itself, from walk->t_ps back to when it began. */
static void walk_op(struct walk *walk, const struct schedule_op *is, enum schedule_when when)
{
    const struct journal_op *op = &walk->journal->ops[walk->op];

    switch (is->kind) {
    case SCHEDULE_MESSAGE:
        walk_posted(walk, op, when);
        add(walk, op->begun_ps, EXPLAIN_ISSUE, NOWHERE, NULL);
        break;
    case SCHEDULE_REDUCE:
        add(walk, op->begun_ps, EXPLAIN_REDUCE, NOWHERE, NULL);
        break;
    case SCHEDULE_COMPUTE:
    case SCHEDULE_GEMM:
        add(walk, op->begun_ps, EXPLAIN_COMPUTE, NOWHERE, NULL);
        break;
    case SCHEDULE_CONTROL: /* what an engine, a host or a device does to get things going */
    case SCHEDULE_ENQUEUE:
    case SCHEDULE_DISPATCH:
    case SCHEDULE_RETIRE:
        add(walk, op->begun_ps, EXPLAIN_ISSUE, NOWHERE, NULL);
        break;
    case SCHEDULE_JOIN:
        break;
    }
}

static void walk_ops(struct walk *walk, uint64_t last)
{
    enum schedule_when when = SCHEDULE_AT_RECEIVER;
    const struct journal_op *op;

    for (uint64_t index = last; index != SCHEDULE_NONE && !walk->explain->broken;
         when = op->when, index = op->by) {
        struct schedule_op is;
        struct explain_link link = {index, walk->begin_ps, walk->t_ps};

        op = &walk->journal->ops[index];
        schedule_op(&walk->journal->experiment->schedule, index, &is);
        walk->op = index;
        walk_op(walk, &is, when);
        add(walk, op->by == SCHEDULE_NONE ? walk->begin_ps : op->enabled_ps, EXPLAIN_SCHEDULE,
            NOWHERE, NULL);
        link.from_ps = walk->t_ps;
        g_array_append_val(walk->explain->chain, link);
        if (walk->t_ps <= walk->begin_ps)
            break;
    }
}

static void explain_ops(struct explain *explain, const struct journal *journal, uint32_t group,
                        bool all, bool with_packets)
{
    const struct schedule *schedule = &journal->experiment->schedule;
    int64_t first_ps = INT64_MAX, last_ps = -1;
    uint64_t last = SCHEDULE_NONE, n_open = 0;
    struct walk walk;

    for (uint64_t i = 0; i < schedule->n_ops; i++) {
        const struct journal_op *op = &journal->ops[i];
        struct schedule_op is;

        schedule_op(schedule, i, &is);
        if (!all && is.group != group)
            continue;
        if (op->begun_ps >= 0)
            first_ps = MIN(first_ps, op->begun_ps);
        n_open += op->completed_ps < 0;
        if (op->completed_ps > last_ps) {
            last_ps = op->completed_ps;
            last = i;
        }
    }
    explain_init(explain, &walk, journal, last == SCHEDULE_NONE ? 0 : first_ps, MAX(last_ps, 0));
    explain->with_packets = with_packets;
    explain->n_open = n_open;
    if (last == SCHEDULE_NONE)
        explain->broken = "no operation ended";
    else
        walk_ops(&walk, last);
    g_array_unref(walk.floors);
}

void explain_group(struct explain *explain, const struct journal *journal, uint32_t group,
                   bool with_packets)
{
    explain_ops(explain, journal, group, false, with_packets);
}

void explain_run(struct explain *explain, const struct journal *journal, bool with_packets)
{
    explain_ops(explain, journal, SCHEDULE_NO_GROUP, true, with_packets);
}
