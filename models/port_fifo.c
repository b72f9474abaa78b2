/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lazy form of a port: a FIFO queue, a transmitter and a wire in one. Because the queue is FIFO
 * and the rate constant, a packet's start of transmission and its arrival at the other end are
 * known when it is admitted; it goes into the wire's ring at once, and the port has a single
 * pending event, the arrival of the ring's head. Bytes waiting are those whose transmission has not
 * started, counted lazily when somebody looks. So a packet costs one event a hop, and the heap
 * holds ports.
 *
 * It knows no priorities, no shared buffer, no pause, and no mark at dequeue: see port_priority.c.
 */
#include "models/host.h"
#include "models/port_wire.h"

#define LEAST_PORTS_AHEAD 2048 /* fewer lie in the cache; our choice */

G_STATIC_ASSERT(offsetof(struct port, arrival) == 0);

/* When a packet in the ring began or begins to be sent. */
static inline int64_t start_of(const struct port *port, const struct wire_slot *slot)
{
    return slot->arrive_ps - port->delay_ps -
           (port->ps_per_byte ? (int64_t)port->ps_per_byte * slot->bytes
                              : units_transmission_ps(slot->bytes, port->rate_bps));
}

/* Counts as started what has started by now; transmitters come first within an instant. */
static inline void start_due(struct port *port, int64_t now_ps)
{
    while (port->started != port->tail) {
        const struct wire_slot *slot = &port->ring[port->started & port->mask];

        if (start_of(port, slot) > now_ps)
            return;
        port->waiting_bytes -= slot->bytes;
        port->started++;
    }
}

/* Puts the packet behind what is there. Takes it. */
PORT_COMPILED_TWICE void transmit(struct fabric *fabric, struct port *port,
                                  const struct wire_slot *slot, struct observer *observer)
{
    int64_t now_ps = fabric->engine.events.now_ps;
    int64_t start_ps = port->busy_until_ps > now_ps ? port->busy_until_ps : now_ps;

    port_put(fabric, port, slot, start_ps, observer);
    if (start_ps == now_ps) {
        port->started = port->tail;
        port->waiting_bytes = 0;
    } else {
        port->waiting_bytes += slot->bytes;
        if (port->waiting_bytes > port->max_waiting_bytes)
            port->max_waiting_bytes = port->waiting_bytes;
    }
}

/* A packet wants to leave a switch by `port`: limit, marks, then the queue. Takes the packet. */
PORT_COMPILED_TWICE void admit(struct fabric *fabric, struct port *port, struct wire_slot *slot,
                               struct observer *observer)
{
    start_due(port, fabric->engine.events.now_ps);
    if (port->busy_until_ps > fabric->engine.events.now_ps &&
        port->waiting_bytes + slot->bytes > port->limit_bytes) {
        port_drop(fabric, port, slot, SINK_DROP_QUEUE, observer);
        return;
    }
    if (slot->ecn == port->markable_ecn) {
        enum queue_verdict verdict = fabric->queue->admit(&fabric->marks.rules[port->mark_rule],
                                                          &port->mark_draws, port->waiting_bytes);

        if (verdict == QUEUE_DROP) {
            port_drop(fabric, port, slot, SINK_DROP_QUEUE, observer);
            return;
        }
        if (verdict == QUEUE_MARK) {
            slot->ecn = PACKET_CE;
            port->n_marked++;
        }
    }
    transmit(fabric, port, slot, observer);
}

PORT_COMPILED_TWICE void forward(struct fabric *fabric, struct port *in, struct wire_slot *slot,
                                 struct observer *observer)
{
    struct port *out = port_route(fabric, in, slot);

    if (out)
        admit(fabric, out, slot, observer);
    else
        port_drop(fabric, in, slot, SINK_DROP_NO_ROUTE, observer);
}

/* The head of a wire's ring has reached the other end. */
PORT_COMPILED_TWICE void arrive_with(struct event_queue *queue, struct event *event,
                                     struct observer *observer)
{
    struct fabric *fabric = fabric_of(queue);
    struct port *port = (struct port *)(void *)event;
    struct wire_slot slot = port->ring[port->head & port->mask];

    if (port->started == port->head) { /* nobody looked since it started */
        port->waiting_bytes -= slot.bytes;
        port->started++;
    }
    port->head++;
    if (port->head != port->tail)
        port_schedule_head(queue, port);
    if (port->loss_classes >> slot.class & 1) {
        enum sink_drop cause = port->rare->lose(fabric, port, &slot);

        if (cause != SINK_N_DROPS) {
            port_drop(fabric, port, &slot, cause, observer);
            return;
        }
    }
    OBSERVER_TELL(observer, arrived, port->number, slot.packet, slot.ecn);
    if (port->peer_is_switch) {
        forward(fabric, port, &slot, observer);
    } else {
        slot.packet->ecn = slot.ecn;
        host_receive(&fabric->engine, port->peer, slot.packet);
    }
}

/*
 * Before an arrival: stage 0 fetches the packet's slot, stage 1 what the packet will meet, a port
 * or a host, and of the port met two arrivals ago its slots, whose place is known only then. Stage
 * 2 is for arrivals at hosts: what the transport will read, and the NIC by which the host answers
 * or sends on.
 */
static void look_ahead(struct event_queue *queue, struct event *event, int stage)
{
    struct fabric *fabric = fabric_of(queue);
    const struct port *port = (const struct port *)(const void *)event;
    const struct wire_slot *slot = &port->ring[port->head & port->mask];

    if (stage == 0) {
        __builtin_prefetch(slot);
        __builtin_prefetch(&port->busy_until_ps);
        return;
    }
    if (!port->peer_is_switch) {
        const struct connection *connection = slot->packet->connection;
        const struct port *back = &fabric->ports[port->number ^ 1];

        if (stage == 2) {
            __builtin_prefetch(fabric->engine.hosts[port->peer].nics, 1);
            __builtin_prefetch(&back->ring[back->tail & back->mask], 1);
            if (connection->ops->fetch)
                connection->ops->fetch(connection, slot->packet);
            return;
        }
        transport_fetch(back, sizeof *back);
        __builtin_prefetch(&fabric->engine.hosts[port->peer], 1);
        __builtin_prefetch((const char *)&fabric->engine.hosts[port->peer] + 64, 1);
        __builtin_prefetch(connection);
        __builtin_prefetch((const char *)connection + 64);
        return;
    }
    if (stage == 2)
        return;
    const struct port **met = &fabric->met[fabric->n_met++ % FABRIC_N_MET];
    const struct port *out = *met;

    if (out) {
        __builtin_prefetch(&out->ring[out->started & out->mask]);
        __builtin_prefetch(&out->ring[out->tail & out->mask], 1);
    }
    *met = out = port_route(fabric, port, slot);
    if (out) {
        __builtin_prefetch(out, 1);
        __builtin_prefetch(&out->busy_until_ps, 1);
    }
}

static void arrive(struct event_queue *queue, struct event *event)
{
    arrive_with(queue, event, NULL);
}

static void arrive_observed(struct event_queue *queue, struct event *event)
{
    arrive_with(queue, event, engine_of(queue)->observer);
}

static void becomes_free(struct event_queue *queue, struct event *event)
{
    struct port *port = (struct port *)(void *)((char *)event - offsetof(struct port, ready));

    host_port_ready(engine_of(queue), port->number);
}

static void init(struct fabric *fabric, struct port *port)
{
    if (fabric->n_ports >= LEAST_PORTS_AHEAD && fabric->choice->repeatable)
        fabric->engine.events.ahead = look_ahead;
    event_init(&port->arrival, fabric->engine.observer ? arrive_observed : arrive, 0);
    event_init(&port->ready, becomes_free, EVENT_CLASS_TRANSMIT | port->number);
}

static void clear(struct port *port)
{
    g_free(port->ring);
}

PORT_COMPILED_TWICE void send_with(struct engine *engine, uint32_t number, struct packet *packet,
                                   struct observer *observer)
{
    struct fabric *fabric = (struct fabric *)(void *)engine;
    struct wire_slot slot = port_slot(packet);

    assert(fabric->ports[number].busy_until_ps <= engine->events.now_ps);
    transmit(fabric, &fabric->ports[number], &slot, observer);
}

static void fifo_send(struct engine *engine, uint32_t number, struct packet *packet)
{
    send_with(engine, number, packet, NULL);
}

static void fifo_send_observed(struct engine *engine, uint32_t number, struct packet *packet)
{
    send_with(engine, number, packet, engine->observer);
}

static bool idle(struct engine *engine, uint32_t number)
{
    struct port *port = &((struct fabric *)(void *)engine)->ports[number];

    if (port->busy_until_ps <= engine->events.now_ps)
        return true;
    if (!event_is_pending(&port->ready))
        event_schedule(&engine->events, &port->ready, port->busy_until_ps);
    return false;
}

static void count(const struct port *port, int64_t *n_packets, int64_t *n_bytes)
{
    for (uint32_t i = port->head; i != port->tail; i++) {
        *n_packets += 1;
        *n_bytes += port->ring[i & port->mask].bytes;
    }
}

/* What has started is counted anew from the ring. */
static void look_at(const struct port *port, int64_t now_ps, struct fabric_look *look)
{
    look->queue_bytes = port->waiting_bytes;
    for (uint32_t i = port->started; i != port->tail; i++) {
        const struct wire_slot *slot = &port->ring[i & port->mask];

        if (start_of(port, slot) > now_ps)
            break;
        look->queue_bytes -= slot->bytes;
    }
    look->sent_bytes = port->n_bytes - look->queue_bytes;
}

/*
 * What waits gets new times, one packet after the other; where the wire has a twin, there too,
 * whose last slots are the same.
 */
static int64_t set_rate(struct fabric *fabric, struct port *port, int64_t rate_bps)
{
    struct port *landing = fabric_landing(fabric, port->number);
    uint32_t apart = landing->tail - port->tail; /* between numbers in the two rings */
    int64_t begun_ps = fabric->engine.events.now_ps;

    start_due(port, begun_ps);
    if (port->started + apart != landing->head)
        begun_ps =
            MAX(begun_ps, port->ring[(port->started - 1) & port->mask].arrive_ps - port->delay_ps);
    port_take_rate(port, rate_bps);
    if (port->started == port->tail)
        return begun_ps;
    port->busy_until_ps = begun_ps;
    for (uint32_t i = port->started; i != port->tail; i++) {
        struct wire_slot *slot = &port->ring[i & port->mask];
        int64_t start_ps = port->busy_until_ps;

        port->busy_until_ps += port_transmission_ps(port, slot->bytes);
        slot->arrive_ps = port->busy_until_ps + port->delay_ps;
        landing->ring[(i + apart) & landing->mask].arrive_ps = slot->arrive_ps;
        OBSERVER_TELL(fabric->engine.observer, sent, port->number, slot->packet, start_ps,
                      port->busy_until_ps, slot->arrive_ps);
    }
    if (port->started + apart == landing->head)
        port_schedule_head(fabric_queue(fabric, landing->peer), landing);
    return begun_ps;
}

static void report(const struct fabric *fabric, const struct port *port, struct sink_port *record)
{
    (void)fabric;
    (void)port;
    record->pauses_sent = record->pauses_received = record->paused_ps = 0;
}

#define FIFO_OPS(send_)                                                                            \
    {                                                                                              \
        .name = "fifo", .summary = "One FIFO queue a port; a packet costs one event a hop.",       \
        .init = init, .clear = clear, .send = send_, .idle = idle, .count = count,                 \
        .look = look_at, .set_rate = set_rate, .report = report,                                   \
    }

const struct port_ops port_fifo = FIFO_OPS(fifo_send);
const struct port_ops port_fifo_observed = FIFO_OPS(fifo_send_observed);
