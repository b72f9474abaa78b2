/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/fabric.h"
#include "models/host.h"
#include "sim/core/units.h"
#include <stdlib.h>
#include <string.h>

#define FIRST_RING 8

G_STATIC_ASSERT(offsetof(struct fabric, engine) == 0);
G_STATIC_ASSERT(offsetof(struct engine, events) == 0);

static inline struct fabric *fabric_of(struct event_queue *queue)
{
    return (struct fabric *)(void *)queue;
}

/* --- ports --------------------------------------------------------------------------------- */

static void ring_grow(struct port *port)
{
    uint32_t old = port->ring ? port->mask + 1 : 0, room = old ? 2 * old : FIRST_RING;
    struct wire_slot *ring = g_new(struct wire_slot, room);

    for (uint32_t i = port->head; i != port->tail; i++)
        ring[i & (room - 1)] = port->ring[i & port->mask];
    g_free(port->ring);
    port->ring = ring;
    port->mask = room - 1;
}

static int64_t transmission_ps(struct port *port, uint32_t bytes)
{
    int64_t ps = port->ps_per_byte ? port->ps_per_byte * (int64_t)bytes
                                   : units_transmission_ps(bytes, port->rate_bps);

    if (port->drift_ppt) { /* a slow clock takes longer; what is below a picosecond is kept */
        __int128 extra = (__int128)ps * port->drift_ppt + port->drift_rest;

        ps += (int64_t)(extra / UNITS_PPT);
        port->drift_rest = (int64_t)(extra % UNITS_PPT);
    }
    return ps;
}

/* When a packet in the ring began or begins to be sent. */
static inline int64_t slot_start_ps(const struct port *port, const struct wire_slot *slot)
{
    return slot->arrive_ps - port->delay_ps -
           (port->ps_per_byte ? port->ps_per_byte * (int64_t)slot->bytes
                              : units_transmission_ps(slot->bytes, port->rate_bps));
}

/* Counts as started what has started by now; transmitters come first within an instant. */
static inline void port_look(struct port *port, int64_t now_ps)
{
    while (port->started != port->tail) {
        const struct wire_slot *slot = &port->ring[port->started & port->mask];

        if (slot_start_ps(port, slot) > now_ps)
            return;
        port->waiting_bytes -= slot->bytes;
        port->started++;
    }
}

static inline void port_schedule_head(struct event_queue *queue, struct port *port)
{
    int64_t arrive_ps = port->ring[port->head & port->mask].arrive_ps;

    event_schedule_ordered(queue, &port->arrival, arrive_ps,
                           event_order_arrival(queue, arrive_ps, port->number));
}

/* Puts the packet behind what is there. Takes it. */
static inline void port_transmit(struct fabric *fabric, struct port *port,
                                 const struct wire_slot *arrived)
{
    int64_t now_ps = fabric->engine.events.now_ps;
    int64_t start_ps = port->busy_until_ps > now_ps ? port->busy_until_ps : now_ps;
    uint32_t bytes = arrived->bytes;

    if (port->tail - port->head > port->mask || !port->ring)
        ring_grow(port);
    port->busy_until_ps = start_ps + transmission_ps(port, bytes);
    struct wire_slot *slot = &port->ring[port->tail & port->mask];

    *slot = *arrived;
    slot->arrive_ps = port->busy_until_ps + port->delay_ps;
    port->tail++;
    if (start_ps == now_ps) {
        port->started = port->tail;
        port->waiting_bytes = 0;
    } else {
        port->waiting_bytes += bytes;
        if (port->waiting_bytes > port->max_waiting_bytes)
            port->max_waiting_bytes = port->waiting_bytes;
    }
    port->n_packets++;
    port->n_bytes += bytes;
    fabric->n_hops++;
    if (port->tail - port->head == 1)
        port_schedule_head(&fabric->engine.events, port);
}

static void drop(struct fabric *fabric, struct port *port, const struct wire_slot *slot,
                 enum sink_drop cause)
{
    port->n_dropped[cause]++;
    port->n_dropped_bytes += slot->bytes;
    packet_give(&fabric->engine.pool, slot->packet);
}

/* A packet wants to leave a switch by `port`: limit, marks, then the queue. Takes the packet. */
static inline void port_admit(struct fabric *fabric, struct port *port, struct wire_slot *slot)
{
    port_look(port, fabric->engine.events.now_ps);
    if (port->busy_until_ps > fabric->engine.events.now_ps &&
        port->waiting_bytes + slot->bytes > port->limit_bytes) {
        drop(fabric, port, slot, SINK_DROP_QUEUE);
        return;
    }
    if (slot->ecn == PACKET_ECT) {
        enum queue_verdict verdict =
            fabric->queue->admit(&fabric->queue_rule, &port->mark_draws, port->waiting_bytes);

        if (verdict == QUEUE_DROP) {
            drop(fabric, port, slot, SINK_DROP_QUEUE);
            return;
        }
        if (verdict == QUEUE_MARK) {
            slot->ecn = PACKET_CE;
            port->n_marked++;
        }
    }
    port_transmit(fabric, port, slot);
}

/* --- switches ------------------------------------------------------------------------------ */

static inline void switch_receive(struct fabric *fabric, struct port *in, struct wire_slot *slot)
{
    const struct route_attach *attach = &fabric->route.attach[slot->to];
    uint32_t out = attach->egress;

    if (in->peer != attach->switch_node) {
        struct route_set set = route_lookup(&fabric->route, in->peer, slot->to);
        uint32_t choice = 0;

        if (set.n == 0) {
            drop(fabric, in, slot, SINK_DROP_NO_ROUTE);
            return;
        }
        if (set.n > 1)
            choice = fabric->choice->choose(
                &fabric->switches[in->peer - fabric->engine.graph->n_hosts], slot->entropy, set.n);
        out = fabric->route.ports[set.first + choice];
    }
    port_admit(fabric, &fabric->ports[out], slot);
}

/* The head of a wire's ring has reached the other end. */
static void arrive(struct event_queue *queue, struct event *event)
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
    if (port->loss_classes >> slot.class & 1 &&
        random_next(&port->loss_draws) < port->loss_threshold) {
        drop(fabric, port, &slot, SINK_DROP_LOSS);
        return;
    }
    if (port->peer_is_switch) {
        switch_receive(fabric, port, &slot);
    } else {
        slot.packet->ecn = slot.ecn;
        host_receive(&fabric->engine, port->peer, slot.packet);
    }
}

G_STATIC_ASSERT(offsetof(struct port, arrival) == 0);

/* --- the engine seam ----------------------------------------------------------------------- */

static void port_becomes_free(struct event_queue *queue, struct event *event)
{
    struct port *port = (struct port *)(void *)((char *)event - offsetof(struct port, ready));

    host_port_ready(engine_of(queue), port->number);
}

void engine_send(struct engine *engine, uint32_t port, struct packet *packet)
{
    struct fabric *fabric = (struct fabric *)(void *)engine;

    struct wire_slot slot = {.packet = packet,
                             .bytes = packet->bytes,
                             .to = packet->to,
                             .entropy = packet->entropy,
                             .class = packet->class,
                             .ecn = packet->ecn};

    assert(fabric->ports[port].busy_until_ps <= engine->events.now_ps);
    port_transmit(fabric, &fabric->ports[port], &slot);
}

bool engine_port_idle(struct engine *engine, uint32_t number)
{
    struct port *port = &((struct fabric *)(void *)engine)->ports[number];

    if (port->busy_until_ps <= engine->events.now_ps)
        return true;
    if (!event_is_pending(&port->ready))
        event_schedule(&engine->events, &port->ready, port->busy_until_ps);
    return false;
}

/* --- setting up ---------------------------------------------------------------------------- */

/* True if `number` is in `list`, such as "all" or "0,2-3"; *valid is false for other texts. */
static bool list_has(const char *list, uint32_t number, bool *valid)
{
    g_auto(GStrv) parts = g_strsplit(list, ",", -1);
    bool found = false;

    *valid = *list != '\0';
    if (strcmp(list, "all") == 0)
        return true;
    for (int i = 0; parts[i]; i++) {
        char *end;
        guint64 first = g_ascii_strtoull(parts[i], &end, 10), last = first;

        if (*end == '-')
            last = g_ascii_strtoull(end + 1, &end, 10);
        if (end == parts[i] || *end || last < first)
            *valid = false;
        found |= number >= first && number <= last;
    }
    return found;
}

static gboolean check_config(const struct model_config *model, GError **error)
{
    bool valid;

    list_has(model->loss.tiers, 0, &valid);
    if (!valid) {
        g_set_error(error, GRAPH_ERROR, 0,
                    "[loss] tiers = %s: a list such as 1,2 or 1-3, or all, is expected",
                    model->loss.tiers);
        return FALSE;
    }
    list_has(model->loss.planes, 0, &valid);
    if (!valid) {
        g_set_error(error, GRAPH_ERROR, 0,
                    "[loss] planes = %s: a list such as 0,2-3, or all, is expected",
                    model->loss.planes);
        return FALSE;
    }
    if (queue_list[model->queue.kind] == &queue_red && model->queue.kmax < model->queue.kmin) {
        g_set_error(error, GRAPH_ERROR, 0,
                    "[queue] kmax = %" G_GINT64_FORMAT "B: not below kmin (%" G_GINT64_FORMAT
                    "B) is expected",
                    model->queue.kmax, model->queue.kmin);
        return FALSE;
    }
    return TRUE;
}

/* Chance of loss at this port: per link where selected, and end to end on the last link. */
static int64_t loss_ppt(const struct loss_config *loss, const struct graph *graph, uint32_t number)
{
    const struct graph_link *link = &graph->links[number / 2];
    uint32_t node = graph_port_node(graph, number), peer = graph_port_peer(graph, number);
    bool up = graph->nodes[peer].tier > graph->nodes[node].tier, valid;
    int64_t each = loss->rate_per_link, last = loss->rate_end_to_end;

    if (!list_has(loss->planes, link->plane, &valid))
        return 0;
    if (!list_has(loss->tiers, link->tier, &valid) || (loss->direction == 1 && !up) ||
        (loss->direction == 2 && up))
        each = 0;
    if (graph->nodes[peer].is_switch)
        last = 0;
    return each + last - (int64_t)((__int128)each * last / UNITS_PPT);
}

static void port_init(struct fabric *fabric, uint32_t number, uint64_t seed)
{
    static const uint32_t classes[] = {(1 << PACKET_N_CLASSES) - 1, 1 << PACKET_DATA,
                                       ((1 << PACKET_N_CLASSES) - 1) & ~(1 << PACKET_DATA)};
    const struct graph *graph = fabric->engine.graph;
    const struct graph_link *link = &graph->links[number / 2];
    const struct graph_node *peer = &graph->nodes[graph_port_peer(graph, number)];
    struct port *port = &fabric->ports[number];
    int64_t ppt = loss_ppt(&fabric->model->loss, graph, number);
    int64_t queue = number & 1 ? link->queue_bytes_b : link->queue_bytes_a;

    event_init(&port->arrival, arrive, 0);
    event_init(&port->ready, port_becomes_free, EVENT_CLASS_TRANSMIT | number);
    port->number = number;
    port->peer = graph_port_peer(graph, number);
    port->peer_is_switch = peer->is_switch;
    port->from_host = !graph->nodes[graph_port_node(graph, number)].is_switch;
    port->rate_bps = link->rate_bps;
    port->ps_per_byte =
        INT64_C(8000000000000) % link->rate_bps == 0 ? INT64_C(8000000000000) / link->rate_bps : 0;
    port->delay_ps = link->delay_ps + (peer->is_switch ? peer->latency_ps : 0);
    port->limit_bytes = queue ? queue : fabric->model->queue.limit;
    port->loss_classes = ppt ? (uint8_t)classes[fabric->model->loss.class] : 0;
    port->loss_threshold = random_threshold(ppt);
    port->loss_draws = random_stream(seed, RANDOM_LOSS, number);
    port->mark_draws = random_stream(seed, RANDOM_MARK, number);
    if (port->from_host && fabric->model->host.clock_drift) {
        struct random_stream draws = random_stream(seed, RANDOM_DRIFT, number);

        port->drift_ppt =
            (int64_t)random_below(&draws, (uint64_t)fabric->model->host.clock_drift + 1);
    }
}

static void switch_init(struct fabric *fabric, uint32_t index, uint64_t seed)
{
    uint64_t object = fabric->model->route.seeds == 1 ? 0 : index + 1;

    fabric->switches[index].hash_seed = random_key(seed, RANDOM_ECMP, object);
    fabric->switches[index].spray = random_stream(seed, RANDOM_SPRAY, index);
}

gboolean fabric_init(struct fabric *fabric, const struct graph *graph,
                     const struct model_config *model, uint64_t seed, GError **error)
{
    *fabric = (struct fabric){.model = model, .n_ports = 2 * graph->n_links};
    if (!check_config(model, error))
        return FALSE;
    event_queue_init(&fabric->engine.events, seed);
    packet_pool_init(&fabric->engine.pool);
    fabric->engine.graph = graph;
    fabric->engine.seed = seed;
    route_init(&fabric->route, graph);
    fabric->queue = queue_list[model->queue.kind];
    fabric->queue->derive(&model->queue, &fabric->queue_rule);
    fabric->choice = route_list[model->route.kind];
    fabric->ports = aligned_alloc(128, (fabric->n_ports + 1) * sizeof(struct port));
    if (!fabric->ports)
        g_error("out of memory for %u ports", fabric->n_ports);
    memset(fabric->ports, 0, (fabric->n_ports + 1) * sizeof(struct port));
    for (uint32_t number = 0; number < fabric->n_ports; number++)
        port_init(fabric, number, seed);
    fabric->switches = g_new0(struct switch_state, graph->n_nodes - graph->n_hosts + 1);
    for (uint32_t index = 0; index < graph->n_nodes - graph->n_hosts; index++)
        switch_init(fabric, index, seed);
    return TRUE;
}

void fabric_clear(struct fabric *fabric)
{
    for (uint32_t number = 0; fabric->ports && number < fabric->n_ports; number++)
        g_free(fabric->ports[number].ring);
    g_clear_pointer(&fabric->ports, free);
    g_clear_pointer(&fabric->switches, g_free);
    if (fabric->route.graph)
        route_clear(&fabric->route);
    if (fabric->engine.pool.blocks)
        packet_pool_clear(&fabric->engine.pool);
    event_queue_clear(&fabric->engine.events);
}

void fabric_count_in_flight(const struct fabric *fabric, int64_t *n_packets, int64_t *n_bytes)
{
    *n_packets = *n_bytes = 0;
    for (uint32_t number = 0; number < fabric->n_ports; number++) {
        const struct port *port = &fabric->ports[number];

        for (uint32_t i = port->head; i != port->tail; i++) {
            *n_packets += 1;
            *n_bytes += port->ring[i & port->mask].bytes;
        }
    }
}

struct fabric_look fabric_look(const struct fabric *fabric, uint32_t number, int64_t now_ps)
{
    const struct port *port = &fabric->ports[number];
    struct fabric_look look = {.queue_bytes = port->waiting_bytes, .n_marked = port->n_marked};

    for (uint32_t i = port->started; i != port->tail; i++) {
        const struct wire_slot *slot = &port->ring[i & port->mask];

        if (slot_start_ps(port, slot) > now_ps)
            break;
        look.queue_bytes -= slot->bytes;
    }
    look.sent_bytes = port->n_bytes - look.queue_bytes;
    for (int cause = 0; cause < SINK_N_DROPS; cause++)
        look.n_dropped += port->n_dropped[cause];
    return look;
}
