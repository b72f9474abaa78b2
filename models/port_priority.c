/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queues by priority: see port_priority.h. */
#include "models/port_priority.h"
#include "models/host.h"
#include "models/port_wire.h"

#define FIRST_LANE 8

/* --- lanes ---------------------------------------------------------------------------------- */

static void lane_grow(struct lane *lane)
{
    uint32_t room = lane->ring ? 2 * (lane->mask + 1) : FIRST_LANE;
    struct waiting *ring = g_new(struct waiting, room);

    for (uint32_t i = lane->head; i != lane->tail; i++)
        ring[i & (room - 1)] = lane->ring[i & lane->mask];
    g_free(lane->ring);
    lane->ring = ring;
    lane->mask = room - 1;
}

static void lane_push(struct lane *lane, const struct wire_slot *slot, uint32_t in)
{
    if (!lane->ring || lane->tail - lane->head > lane->mask)
        lane_grow(lane);
    lane->ring[lane->tail++ & lane->mask] = (struct waiting){*slot, in};
    lane->bytes += slot->bytes;
}

static struct waiting lane_pop(struct lane *lane)
{
    struct waiting *first = &lane->ring[lane->head++ & lane->mask];

    lane->bytes -= first->slot.bytes;
    return *first;
}

static void lane_count(const struct lane *lane, int64_t *n_packets, int64_t *n_bytes)
{
    for (uint32_t i = lane->head; i != lane->tail; i++) {
        *n_packets += 1;
        *n_bytes += lane->ring[i & lane->mask].slot.bytes;
    }
}

/* --- marks ---------------------------------------------------------------------------------- */

static bool verdict_drops(struct fabric *fabric, struct port *port, struct wire_slot *slot,
                          int64_t waiting_bytes)
{
    enum queue_verdict verdict;

    if (slot->ecn != port->markable_ecn)
        return false;
    verdict = fabric->queue->admit(&fabric->marks.rules[port->mark_rule], &port->mark_draws,
                                   waiting_bytes);
    if (verdict == QUEUE_MARK) {
        slot->ecn = PACKET_CE;
        port->n_marked++;
    }
    return verdict == QUEUE_DROP;
}

/* --- sending -------------------------------------------------------------------------------- */

static struct buffer *buffer_of(struct fabric *fabric, uint32_t node)
{
    return &fabric->switches[node - fabric->engine.graph->n_hosts].buffer;
}

/* A packet leaves its queue for the wire. */
PORT_COMPILED_TWICE void send_first(struct fabric *fabric, struct port *port, uint32_t priority,
                                    struct observer *observer)
{
    struct port_lanes *lanes = port->lanes;
    struct lane *lane = &lanes->lanes[priority];
    struct waiting first = lane_pop(lane);
    struct buffer *buffer = buffer_of(fabric, fabric->ports[first.in].peer);
    int64_t bytes = first.slot.bytes;

    if (lane->head == lane->tail)
        lanes->backlog &= (uint8_t) ~(1 << priority);
    port->waiting_bytes -= bytes;
    if (fabric->mark_at_dequeue)
        verdict_drops(fabric, port, &first.slot, lane->bytes);
    port_put(fabric, port, &first.slot, fabric->engine.events.now_ps, observer);
    if (fabric->pfc.lossless >> priority & 1)
        pfc_give(fabric, buffer, &fabric->ports[first.in], priority, bytes);
    else
        buffer_give(buffer, bytes);
}

/* What the port could send: pause frames, or packets of priorities that are not paused. */
static uint32_t sendable(const struct port_lanes *lanes)
{
    return lanes->due | (lanes->backlog & (uint32_t)~lanes->paused);
}

static void ask_for_ready(struct fabric *fabric, struct port *port)
{
    if (!event_is_pending(&port->ready))
        event_schedule(&fabric->engine.events, &port->ready, port->busy_until_ps);
}

PORT_COMPILED_TWICE void kick_with(struct fabric *fabric, struct port *port,
                                   struct observer *observer)
{
    struct port_lanes *lanes = port->lanes;

    if (!sendable(lanes))
        return;
    if (port->busy_until_ps <= fabric->engine.events.now_ps) {
        uint32_t open = lanes->backlog & (uint32_t)~lanes->paused;

        if (lanes->due)
            pfc_send(fabric, port);
        else
            send_first(fabric, port, 31 - (uint32_t)__builtin_clz(open), observer);
    }
    if (sendable(lanes))
        ask_for_ready(fabric, port);
}

void port_priority_kick(struct fabric *fabric, struct port *port)
{
    kick_with(fabric, port, fabric->engine.observer);
}

PORT_COMPILED_TWICE void becomes_free_with(struct event_queue *queue, struct event *event,
                                           struct observer *observer)
{
    struct port *port = (struct port *)(void *)((char *)event - offsetof(struct port, ready));
    struct fabric *fabric = fabric_of(queue);

    kick_with(fabric, port, observer);
    if (!port->from_host)
        return;
    if (port->busy_until_ps > queue->now_ps)
        ask_for_ready(fabric, port); /* a pause frame came first */
    else
        host_port_ready(&fabric->engine, port->number);
}

static void becomes_free(struct event_queue *queue, struct event *event)
{
    becomes_free_with(queue, event, NULL);
}

static void becomes_free_observed(struct event_queue *queue, struct event *event)
{
    becomes_free_with(queue, event, engine_of(queue)->observer);
}

/* --- switches ------------------------------------------------------------------------------- */

/* Why a packet that has to wait may not, or SINK_N_DROPS. */
static enum sink_drop refusal(const struct fabric *fabric, const struct port *in,
                              const struct port *out, uint32_t priority, int64_t bytes)
{
    const struct buffer *buffer =
        &fabric->switches[in->peer - fabric->engine.graph->n_hosts].buffer;

    if (fabric->pfc.lossless >> priority & 1)
        return pfc_fits(fabric, buffer, in, priority, bytes) ? SINK_N_DROPS : SINK_DROP_HEADROOM;
    if (out->lanes->lanes[priority].bytes + bytes >
        fabric->buffer->limit_bytes(&fabric->buffer_rule, buffer, out->limit_bytes))
        return SINK_DROP_QUEUE;
    return buffer_has(buffer, bytes) ? SINK_N_DROPS : SINK_DROP_BUFFER;
}

PORT_COMPILED_TWICE void wait(struct fabric *fabric, struct port *in, struct port *out,
                              uint32_t priority, const struct wire_slot *slot,
                              struct observer *observer)
{
    struct port_lanes *lanes = out->lanes;
    struct buffer *buffer = buffer_of(fabric, in->peer);

    lane_push(&lanes->lanes[priority], slot, in->number);
    lanes->backlog |= (uint8_t)(1 << priority);
    out->waiting_bytes += slot->bytes;
    if (out->waiting_bytes > out->max_waiting_bytes)
        out->max_waiting_bytes = out->waiting_bytes;
    if (fabric->pfc.lossless >> priority & 1)
        pfc_take(fabric, buffer, in, priority, slot->bytes);
    else
        buffer_take(buffer, slot->bytes);
    kick_with(fabric, out, observer);
}

/* A packet wants to leave a switch by `out`. Takes it. */
PORT_COMPILED_TWICE void admit(struct fabric *fabric, struct port *in, struct port *out,
                               struct wire_slot *slot, struct observer *observer)
{
    uint32_t priority = fabric->priority_of[slot->class];
    struct port_lanes *lanes = out->lanes;
    int64_t now_ps = fabric->engine.events.now_ps;
    bool waits = out->busy_until_ps > now_ps || lanes->paused >> priority & 1;
    enum sink_drop cause = waits ? refusal(fabric, in, out, priority, slot->bytes) : SINK_N_DROPS;
    int64_t seen_bytes = fabric->mark_at_dequeue ? 0 : lanes->lanes[priority].bytes;

    if (cause == SINK_N_DROPS && (!waits || !fabric->mark_at_dequeue) &&
        verdict_drops(fabric, out, slot, seen_bytes))
        cause = SINK_DROP_QUEUE;
    if (cause != SINK_N_DROPS)
        port_drop(fabric, out, slot, cause, observer);
    else if (waits)
        wait(fabric, in, out, priority, slot, observer);
    else
        port_put(fabric, out, slot, now_ps, observer);
}

/* --- hosts that receive slowly -------------------------------------------------------------- */

static void plan_taken(struct event_queue *queue, struct port *port)
{
    struct lane *intake = &port->lanes->intake;
    int64_t done_ps = intake->ring[intake->head & intake->mask].slot.arrive_ps;

    /* an arrival of its own kind: numbers of ports end where these begin */
    event_schedule_ordered(
        queue, &port->lanes->taken, done_ps,
        event_order_arrival(queue, done_ps, fabric_of(queue)->n_ports + port->number));
}

/* Behind what the NIC has not taken in yet; a packet that does not fit is lost. Takes it. */
static void take_slowly(struct fabric *fabric, struct port *port, struct wire_slot *slot)
{
    struct lane *intake = &port->lanes->intake;
    uint32_t priority = fabric->priority_of[slot->class];
    bool lossless = fabric->pfc.lossless >> priority & 1;
    int64_t begin_ps = MAX(port->lanes->taken_until_ps, fabric->engine.events.now_ps);

    if (lossless ? !pfc_fits(fabric, NULL, port, priority, slot->bytes)
                 : intake->bytes + slot->bytes > port->lanes->intake_limit_bytes) {
        port_drop(fabric, port, slot, lossless ? SINK_DROP_HEADROOM : SINK_DROP_HOST,
                  fabric->engine.observer);
        return;
    }
    slot->arrive_ps = begin_ps + units_transmission_ps(slot->bytes, port->lanes->intake_rate_bps);
    port->lanes->taken_until_ps = slot->arrive_ps;
    lane_push(intake, slot, port->number);
    if (intake->tail - intake->head == 1)
        plan_taken(&fabric->engine.events, port);
    if (lossless)
        pfc_take(fabric, NULL, port, priority, slot->bytes);
}

static void deliver(struct fabric *fabric, const struct port *port, const struct wire_slot *slot)
{
    slot->packet->ecn = slot->ecn;
    host_receive(&fabric->engine, port->peer, slot->packet);
}

static void taken(struct event_queue *queue, struct event *event)
{
    struct port_lanes *lanes =
        (struct port_lanes *)(void *)((char *)event - offsetof(struct port_lanes, taken));
    struct fabric *fabric = fabric_of(queue);
    struct wire_slot slot = lane_pop(&lanes->intake).slot;
    uint32_t priority = fabric->priority_of[slot.class];

    if (lanes->intake.head != lanes->intake.tail)
        plan_taken(queue, lanes->port);
    if (fabric->pfc.lossless >> priority & 1)
        pfc_give(fabric, NULL, lanes->port, priority, slot.bytes);
    deliver(fabric, lanes->port, &slot);
}

/* --- arrivals ------------------------------------------------------------------------------- */

/* The head of a wire's ring has reached the other end. */
PORT_COMPILED_TWICE void arrive_with(struct event_queue *queue, struct event *event,
                                     struct observer *observer)
{
    struct fabric *fabric = fabric_of(queue);
    struct port *port = (struct port *)(void *)event;
    struct wire_slot slot = port->ring[port->head & port->mask];
    struct port *out;

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
    if (!port->peer_is_switch) {
        if (port->lanes->intake_rate_bps)
            take_slowly(fabric, port, &slot);
        else
            deliver(fabric, port, &slot);
        return;
    }
    out = port_route(fabric, port, &slot);
    if (out)
        admit(fabric, port, out, &slot, observer);
    else
        port_drop(fabric, port, &slot, SINK_DROP_NO_ROUTE, observer);
}

static void arrive(struct event_queue *queue, struct event *event)
{
    arrive_with(queue, event, NULL);
}

static void arrive_observed(struct event_queue *queue, struct event *event)
{
    arrive_with(queue, event, engine_of(queue)->observer);
}

G_STATIC_ASSERT(offsetof(struct port, arrival) == 0);

/* --- the form ------------------------------------------------------------------------------- */

static void init(struct fabric *fabric, struct port *port)
{
    const struct pfc_config *config = &fabric->model->pfc;
    int64_t headroom = config->headroom;
    bool observed = fabric->engine.observer != NULL;

    port->lanes = g_new0(struct port_lanes, 1);
    port->lanes->port = port;
    event_init(&port->arrival, observed ? arrive_observed : arrive, 0);
    event_init(&port->ready, observed ? becomes_free_observed : becomes_free,
               EVENT_CLASS_TRANSMIT | port->number);
    event_init(&port->lanes->taken, taken, 0);
    if (!headroom || !port->peer_is_switch)
        headroom = MAX(headroom, pfc_headroom_needed(fabric->engine.graph, config, port->number,
                                                     fabric->frame_bytes));
    pfc_port_init(fabric, port, headroom);
    if (!port->peer_is_switch) {
        const struct host_config *host = backend_host(fabric->run, port->peer);

        port->lanes->intake_rate_bps = host->receive_rate;
        port->lanes->intake_limit_bytes = host->receive_buffer;
    }
}

static void clear(struct port *port)
{
    g_free(port->ring);
    for (uint32_t priority = 0; port->lanes && priority < PORT_N_PRIORITIES; priority++)
        g_free(port->lanes->lanes[priority].ring);
    if (port->lanes)
        g_free(port->lanes->intake.ring);
    g_free(port->lanes);
}

static void priority_send(struct engine *engine, uint32_t number, struct packet *packet)
{
    struct fabric *fabric = (struct fabric *)(void *)engine;
    struct wire_slot slot = port_slot(packet);

    assert(fabric->ports[number].busy_until_ps <= engine->events.now_ps);
    port_put(fabric, &fabric->ports[number], &slot, engine->events.now_ps, NULL);
}

static void priority_send_observed(struct engine *engine, uint32_t number, struct packet *packet)
{
    struct fabric *fabric = (struct fabric *)(void *)engine;
    struct wire_slot slot = port_slot(packet);

    assert(fabric->ports[number].busy_until_ps <= engine->events.now_ps);
    port_put(fabric, &fabric->ports[number], &slot, engine->events.now_ps, engine->observer);
}

static bool idle(struct engine *engine, uint32_t number)
{
    struct fabric *fabric = (struct fabric *)(void *)engine;
    struct port *port = &fabric->ports[number];

    if (port->busy_until_ps <= engine->events.now_ps)
        return true;
    ask_for_ready(fabric, port);
    return false;
}

static void count(const struct port *port, int64_t *n_packets, int64_t *n_bytes)
{
    for (uint32_t i = port->head; i != port->tail; i++) {
        *n_packets += 1;
        *n_bytes += port->ring[i & port->mask].bytes;
    }
    for (uint32_t priority = 0; priority < PORT_N_PRIORITIES; priority++)
        lane_count(&port->lanes->lanes[priority], n_packets, n_bytes);
    lane_count(&port->lanes->intake, n_packets, n_bytes);
    pfc_count(port, n_packets, n_bytes);
}

static void look_at(const struct port *port, int64_t now_ps, struct fabric_look *look)
{
    (void)now_ps;
    look->queue_bytes = port->waiting_bytes;
    look->sent_bytes = port->n_bytes;
    look->n_pauses = port->lanes->n_silences;
}

static int64_t set_rate(struct fabric *fabric, struct port *port, int64_t rate_bps)
{
    port_take_rate(port, rate_bps);
    return MAX(port->busy_until_ps, fabric->engine.events.now_ps);
}

static void report(const struct fabric *fabric, const struct port *port, struct sink_port *record)
{
    record->pauses_sent = port->lanes->n_pauses_sent;
    record->pauses_received = port->lanes->n_pauses_received;
    record->paused_ps = pfc_paused_ps(fabric, port);
}

#define PRIORITY_OPS(send_)                                                                        \
    {                                                                                              \
        .name = "priority",                                                                        \
        .summary = "A queue for each priority; shared buffer, pauses, marks at dequeue.",          \
        .bytes = sizeof(struct port_lanes), .init = init, .clear = clear, .send = send_,           \
        .idle = idle, .count = count, .look = look_at, .set_rate = set_rate, .report = report,     \
    }

const struct port_ops port_priority = PRIORITY_OPS(priority_send);
const struct port_ops port_priority_observed = PRIORITY_OPS(priority_send_observed);
