/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/ns3/engine_ns3.h"
#include "models/host.h"
#include "models/ns3/ns3c.h"
#include "models/observer.h"
#include "models/port_wire.h"
#include "models/recorder.h"

struct ns3_port {
    bool wanted; /* the host asks to be told when the transmitter is free */
};

struct ns3_state {
    struct ns3_port *ports; /* by directed port, which is ns-3's device */
    enum sink_drop cause;   /* of the packet that the loss draw has just taken */
    bool planned;           /* play_instant() is the last event of this instant */
    int64_t wake_ps;        /* the next instant asked for because of a timer */
    const bool *stop;
    uint64_t n_fired, n_most; /* of this slice */
};

static struct ns3_state *state_of(const struct fabric *fabric)
{
    return fabric->driver_state;
}

/* --- instants ------------------------------------------------------------------------------- */

static void wake(void *data);

static void plan(struct fabric *fabric, int64_t delay_ps, ns3c_event *event)
{
    if (ns3c_schedule(delay_ps, event, fabric) != NS3C_DONE && !fabric->error)
        g_set_error(&fabric->error, GRAPH_ERROR, 0, "ns-3: %s", ns3c_error());
}

/* Sees to it that ns-3 has an event for weft's next one. */
static void plan_wake(struct fabric *fabric)
{
    struct ns3_state *state = state_of(fabric);
    int64_t next_ps = event_queue_next_ps(&fabric->engine.events);

    if (next_ps >= state->wake_ps)
        return;
    state->wake_ps = next_ps;
    plan(fabric, next_ps - ns3c_now(), wake);
}

/* The last event of an instant: weft's events of it, in weft's order. */
static void play_instant(void *data)
{
    struct fabric *fabric = data;
    struct ns3_state *state = state_of(fabric);

    state->planned = false;
    state->n_fired += event_queue_run(&fabric->engine.events, ns3c_now(), state->stop);
    plan_wake(fabric);
    if (*state->stop || fabric->error || state->n_fired >= state->n_most)
        ns3c_stop();
}

static void plan_instant(struct fabric *fabric)
{
    struct ns3_state *state = state_of(fabric);

    if (state->planned)
        return;
    state->planned = true;
    plan(fabric, 0, play_instant);
}

/* A timer's time has come, unless it was moved. */
static void wake(void *data)
{
    struct fabric *fabric = data;
    struct ns3_state *state = state_of(fabric);
    int64_t now_ps = ns3c_now();

    if (state->wake_ps == now_ps)
        state->wake_ps = INT64_MAX;
    if (event_queue_next_ps(&fabric->engine.events) <= now_ps)
        plan_instant(fabric);
    else
        plan_wake(fabric);
}

static uint64_t run_ns3(struct fabric *fabric, int64_t end_ps, const bool *stop, uint64_t n_most)
{
    struct ns3_state *state = state_of(fabric);

    if (fabric->error)
        return 0;
    state->stop = stop;
    state->n_fired = 0;
    state->n_most = n_most;
    plan_wake(fabric);
    if (ns3c_run(end_ps) != NS3C_DONE)
        g_set_error(&fabric->error, GRAPH_ERROR, 1, "ns-3: %s", ns3c_error());
    return fabric->error ? 0 : state->n_fired;
}

static bool is_over(struct fabric *fabric)
{
    int64_t n_packets, n_bytes;

    fabric_count_in_flight(fabric, &n_packets, &n_bytes);
    return n_packets == 0 && event_queue_next_ps(&fabric->engine.events) == INT64_MAX;
}

/* --- what ns-3 asks and tells --------------------------------------------------------------- */

static struct wire_slot slot_of(const struct ns3c_packet *told)
{
    struct wire_slot slot = port_slot(told->user);

    slot.ecn = told->ecn;
    return slot;
}

/* A packet fits into a device's queue: a host's own, or one that a switch sends on. */
static enum ns3c_verdict on_admit(void *data, int device, const struct ns3c_packet *told,
                                  int64_t waiting_bytes)
{
    struct fabric *fabric = data;
    struct port *port = &fabric->ports[device];
    enum queue_verdict verdict = QUEUE_ACCEPT;

    if (!port->from_host && told->ecn == port->markable_ecn)
        verdict = fabric->queue->admit(&fabric->marks.rules[port->mark_rule], &port->mark_draws,
                                       waiting_bytes);
    if (verdict == QUEUE_DROP)
        return NS3C_REFUSE;
    port->n_marked += verdict == QUEUE_MARK;
    port->n_packets++;
    port->n_bytes += told->bytes;
    fabric->n_hops++;
    return verdict == QUEUE_MARK ? NS3C_MARK : NS3C_ACCEPT;
}

static uint32_t on_choice(void *data, int node, const struct ns3c_packet *told, uint32_t n)
{
    struct fabric *fabric = data;
    uint32_t entropy = host_entropy(told->source, told->destination, told->source_port);

    return fabric->choice->choose(&fabric->switches[(uint32_t)node - fabric->engine.graph->n_hosts],
                                  entropy, n);
}

static bool on_loss(void *data, int device, const struct ns3c_packet *told)
{
    struct fabric *fabric = data;
    struct port *port = &fabric->ports[device];
    struct wire_slot slot = slot_of(told);
    enum sink_drop cause = SINK_N_DROPS;

    if (port_faults(port))
        cause = faults_lose(fabric, port, &slot);
    else if (port->loss_classes >> slot.class & 1)
        cause = port->rare->lose(fabric, port, &slot);
    state_of(fabric)->cause = cause;
    if (cause == SINK_N_DROPS)
        OBSERVER_TELL(fabric->engine.observer, arrived, port->number, slot.packet,
                      (enum packet_ecn)slot.ecn);
    return cause != SINK_N_DROPS;
}

static void on_drop(void *data, int device, const struct ns3c_packet *told, enum ns3c_drop drop)
{
    struct fabric *fabric = data;
    struct wire_slot slot = slot_of(told);
    const enum sink_drop causes[NS3C_N_DROPS] = {[NS3C_DROP_QUEUE] = SINK_DROP_QUEUE,
                                                 [NS3C_DROP_LOSS] = state_of(fabric)->cause,
                                                 [NS3C_DROP_DOWN] = SINK_DROP_LINK_DOWN,
                                                 [NS3C_DROP_NO_ROUTE] = SINK_DROP_NO_ROUTE};

    port_drop(fabric, &fabric->ports[device], &slot, causes[drop], fabric->engine.observer);
}

/* The last bit of a packet has crossed the wire of the device; weft's order says when it counts. */
static void on_hold(void *data, int device, const struct ns3c_packet *told)
{
    struct fabric *fabric = data;
    struct event_queue *events = &fabric->engine.events;
    int64_t now_ps = ns3c_now();

    (void)told;
    event_schedule_ordered(events, &fabric->ports[device].arrival, now_ps,
                           event_order_arrival(events, now_ps, (uint32_t)device));
    plan_instant(fabric);
}

static void on_receive(void *data, int device, const struct ns3c_packet *told)
{
    struct fabric *fabric = data;
    struct packet *packet = told->user;

    assert(packet->to == told->destination && packet->source_port == told->source_port);
    packet->ecn = told->ecn;
    host_receive(&fabric->engine, graph_port_node(fabric->engine.graph, (uint32_t)device), packet);
}

static void on_free(void *data, int device)
{
    struct fabric *fabric = data;
    struct ns3_port *own = &state_of(fabric)->ports[device];

    if (!own->wanted)
        return;
    own->wanted = false;
    event_schedule(&fabric->engine.events, &fabric->ports[device].ready, ns3c_now());
    plan_instant(fabric);
}

/* --- the form of port ----------------------------------------------------------------------- */

static void arrive(struct event_queue *queue, struct event *event)
{
    struct port *port = (struct port *)(void *)event;

    (void)queue;
    ns3c_release((int)port->number);
}

static void becomes_free(struct event_queue *queue, struct event *event)
{
    struct port *port = (struct port *)(void *)((char *)event - offsetof(struct port, ready));

    host_port_ready(engine_of(queue), port->number);
}

static void init(struct fabric *fabric, struct port *port)
{
    (void)fabric;
    event_init(&port->arrival, arrive, 0);
    event_init(&port->ready, becomes_free, EVENT_CLASS_TRANSMIT | port->number);
}

static void clear(struct port *port)
{
    (void)port;
}

static void ns3_send(struct engine *engine, uint32_t number, struct packet *packet)
{
    struct fabric *fabric = (struct fabric *)(void *)engine;

    if (ns3c_send((int)number, packet->to, (uint16_t)packet->source_port,
                  (enum ns3c_ecn)packet->ecn, packet->bytes, packet) == NS3C_DONE)
        return;
    if (!fabric->error)
        g_set_error(&fabric->error, GRAPH_ERROR, 0,
                    "ns-3 cannot send a packet of this transport: %s", ns3c_error());
    packet_give(&engine->pool, packet);
}

static bool idle(struct engine *engine, uint32_t number)
{
    bool is_free = ns3c_is_free((int)number) == 1;

    state_of((struct fabric *)(void *)engine)->ports[number].wanted |= !is_free;
    return is_free;
}

static void count(const struct port *port, int64_t *n_packets, int64_t *n_bytes)
{
    struct ns3c_counts counts = {0};

    ns3c_count((int)port->number, &counts);
    *n_packets += counts.wire_packets + counts.queue_packets;
    *n_bytes += counts.wire_bytes + counts.queue_bytes;
}

static void look_at(const struct port *port, int64_t now_ps, struct fabric_look *look)
{
    struct ns3c_counts counts = {0};

    (void)now_ps;
    ns3c_count((int)port->number, &counts);
    look->queue_bytes = counts.queue_bytes;
    look->sent_bytes = counts.sent_bytes;
}

/* Both directions change, and each is asked for; what the others return is of no use here. */
static int64_t set_rate(struct fabric *fabric, struct port *port, int64_t rate_bps)
{
    (void)fabric;
    port_take_rate(port, rate_bps);
    ns3c_link_rate((int)port->number / 2, rate_bps);
    return 0;
}

static void report(const struct fabric *fabric, const struct port *port, struct sink_port *record)
{
    struct ns3c_counts counts = {0};

    (void)fabric;
    ns3c_count((int)port->number, &counts);
    record->pauses_sent = record->pauses_received = record->paused_ps = 0;
    record->max_queue_bytes = counts.max_queue_bytes;
}

static const struct port_ops port_ns3 = {
    .name = "ns3",
    .summary = "A device and a channel of ns-3.",
    .init = init,
    .clear = clear,
    .send = ns3_send,
    .idle = idle,
    .count = count,
    .look = look_at,
    .set_rate = set_rate,
    .report = report,
};

/* --- what it cannot play -------------------------------------------------------------------- */

G_GNUC_PRINTF(2, 3)
static gboolean refuse(GError **error, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    g_autofree char *what = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, GRAPH_ERROR, 0, "%s; the native backend plays it", what);
    return FALSE;
}

static gboolean check_hosts(const struct fabric *fabric, GError **error)
{
    if (fabric->model->host.clock_drift > 0)
        return refuse(error, "[host] clock_drift: a device of ns-3 has one rate and no clock");
    for (uint32_t host = 0; host < fabric->engine.graph->n_hosts; host++)
        if (backend_host(fabric->run, host)->receive_rate > 0)
            return refuse(error,
                          "[host] receive_rate of host %u: devices of ns-3 take in what "
                          "arrives at once",
                          host);
    return TRUE;
}

static gboolean check_rate(uint32_t link, int64_t rate_bps, GError **error)
{
    if (INT64_C(8000000000000) % rate_bps == 0)
        return TRUE;
    return refuse(
        error,
        "link %u of %" G_GINT64_FORMAT
        " bit/s: a byte takes no whole number of picoseconds, and ns-3 rounds halves down",
        link, rate_bps);
}

static gboolean check_links(const struct fabric *fabric, GError **error)
{
    const struct graph *graph = fabric->engine.graph;

    for (uint32_t i = 0; i < graph->n_links; i++)
        if (!check_rate(i, graph->links[i].rate_bps, error))
            return FALSE;
    return TRUE;
}

static gboolean check(const struct fabric *fabric, GError **error)
{
    const struct model_config *model = fabric->model;
    const uint8_t *priority = fabric->priority_of;

    if (model->pfc.enable)
        return refuse(error, "[pfc] enable = on: point-to-point devices of ns-3 know no pauses");
    if (model->buffer.kind != 0)
        return refuse(error, "[buffer] kind: queues of ns-3's devices share no memory");
    if (priority[PACKET_DATA] != priority[PACKET_ACK] ||
        priority[PACKET_DATA] != priority[PACKET_CONTROL])
        return refuse(error, "[queue] priorities = %s: a device of ns-3 has one queue",
                      model->queue.priorities);
    if (model->queue.mark_at != 0)
        return refuse(error, "[queue] mark_at = dequeue: the queue here marks what it takes in");
    return check_hosts(fabric, error) && check_links(fabric, error);
}

/* --- beginning and end ---------------------------------------------------------------------- */

static gboolean ns3_error(GError **error)
{
    g_set_error(error, GRAPH_ERROR, 0, "ns-3: %s", ns3c_error());
    return FALSE;
}

static bool build_links(const struct fabric *fabric)
{
    const struct graph *graph = fabric->engine.graph;

    for (uint32_t node = 0; node < graph->n_nodes; node++)
        if (ns3c_node() < 0 || ns3c_node_latency((int)node, graph->nodes[node].latency_ps) < 0)
            return false;
    for (uint32_t i = 0; i < graph->n_links; i++)
        if (ns3c_link((int)graph->links[i].a, (int)graph->links[i].b, graph->links[i].rate_bps,
                      graph->links[i].delay_ps) < 0)
            return false;
    for (uint32_t to = 0; to < fabric->route.n_attach; to++)
        if (ns3c_address((int)graph->port_list[to], to) < 0)
            return false;
    return true;
}

/* The ports by which a switch sends to a NIC; one whose link is dead is lost at its own switch. */
static bool build_route(const struct fabric *fabric, uint32_t node, uint32_t to)
{
    const struct route *route = &fabric->route;
    uint32_t edge_switch = faults_plan(fabric)->attach[to].switch_node;

    if (ns3c_route_clear((int)node, to) != NS3C_DONE)
        return false;
    if (route->attach[to].switch_node == node)
        return ns3c_route((int)node, to, (int)route->attach[to].egress) == NS3C_DONE;
    if (edge_switch == ROUTE_NONE || route->component[edge_switch] != route->component[node])
        return true;
    struct route_set set = route_lookup(route, node, to);

    for (uint32_t i = 0; i < set.n; i++)
        if (ns3c_route((int)node, to, (int)route->ports[set.first + i]) != NS3C_DONE)
            return false;
    return true;
}

static bool build_routes(const struct fabric *fabric)
{
    const struct graph *graph = fabric->engine.graph;

    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        for (uint32_t to = 0; to < fabric->route.n_attach; to++)
            if (!build_route(fabric, node, to))
                return false;
    return true;
}

/* The tables of all switches anew: rare, and simple. */
static void rerouted(struct fabric *fabric)
{
    if (!build_routes(fabric) && !fabric->error)
        ns3_error(&fabric->error);
}

static void set_link(struct fabric *fabric, uint32_t link, bool up)
{
    (void)fabric;
    ns3c_link_set((int)link, up);
}

/* Limits of switch ports; ns-3's queue refuses what does not fit, busy or not. */
static gboolean build_queues(const struct fabric *fabric, GError **error)
{
    for (uint32_t number = 0; number < fabric->n_ports; number++) {
        const struct port *port = &fabric->ports[number];

        if (port->from_host)
            continue;
        if (port->limit_bytes < fabric->frame_bytes)
            return refuse(error,
                          "[queue] limit = %" G_GINT64_FORMAT "B: below a packet (%" G_GINT64_FORMAT
                          "B) a queue of ns-3 lets nothing pass",
                          port->limit_bytes, fabric->frame_bytes);
        if (ns3c_queue_limit((int)number, port->limit_bytes) != NS3C_DONE)
            return ns3_error(error);
    }
    return TRUE;
}

static void set_callbacks(struct fabric *fabric)
{
    ns3c_on_admit(on_admit, fabric);
    ns3c_on_choice(on_choice, fabric);
    ns3c_on_loss(on_loss, fabric);
    ns3c_on_drop(on_drop, fabric);
    ns3c_on_hold(on_hold, fabric);
    ns3c_on_receive(on_receive, fabric);
    ns3c_on_free(on_free, fabric);
}

/* Rates that come later. */
static gboolean check_faults(const struct fabric *fabric, GError **error)
{
    const GArray *steps = fabric->faults.steps;

    for (guint i = 0; steps && i < steps->len; i++) {
        const struct fault_step *step = &g_array_index(steps, struct fault_step, i);

        if (step->change == FAULT_RATE && !check_rate(step->link, step->value, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean begin(struct fabric *fabric, enum ns3c_form form, GError **error)
{
    struct ns3_state *state;

    if (!check_faults(fabric, error))
        return FALSE;
    if (ns3c_open(form, NULL) != NS3C_DONE)
        return ns3_error(error);
    fabric->driver_state = state = g_new0(struct ns3_state, 1);
    state->ports = g_new0(struct ns3_port, fabric->n_ports + 1);
    state->wake_ps = INT64_MAX;
    set_callbacks(fabric);
    if (!build_links(fabric) || !build_routes(fabric))
        return ns3_error(error);
    return build_queues(fabric, error);
}

static gboolean begin_p2p(struct fabric *fabric, GError **error)
{
    return begin(fabric, NS3C_P2P, error);
}

static gboolean begin_ip(struct fabric *fabric, GError **error)
{
    return begin(fabric, NS3C_IP, error);
}

/* What ns-3's devices did, for comparison with what the run says. */
static void tell_recorder(const struct fabric *fabric, struct recorder *recorder)
{
    for (uint32_t number = 0; number < fabric->n_ports; number++) {
        struct ns3c_counts counts = {0};

        ns3c_count((int)number, &counts);
        recorder->n_begun += counts.sent_packets;
        recorder->n_waiting += counts.queue_packets;
    }
    recorder->n_engine_events = ns3c_events();
}

static void end(struct fabric *fabric)
{
    struct ns3_state *state = state_of(fabric);

    if (!state)
        return;
    if (fabric->run->recorder)
        tell_recorder(fabric, fabric->run->recorder);
    ns3c_close();
    g_free(state->ports);
    g_clear_pointer(&fabric->driver_state, g_free);
}

/* --- the backends --------------------------------------------------------------------------- */

#define DRIVER(begin_)                                                                             \
    {                                                                                              \
        .form = &port_ns3, .check = check, .begin = begin_, .end = end, .run = run_ns3,            \
        .is_over = is_over, .set_link = set_link, .rerouted = rerouted                             \
    }

static const struct fabric_driver driver_p2p = DRIVER(begin_p2p), driver_ip = DRIVER(begin_ip);

static gboolean play_p2p(const struct backend_run *run, const struct sink *sink,
                         struct backend_result *result, GError **error)
{
    return backend_play(&driver_p2p, run, sink, result, error);
}

static gboolean play_ip(const struct backend_run *run, const struct sink *sink,
                        struct backend_result *result, GError **error)
{
    return backend_play(&driver_ip, run, sink, result, error);
}

const struct backend_ops backend_ns3_p2p = {
    .name = "ns3:p2p",
    .summary = "ns-3's simulator, point-to-point devices and channels.",
    .play = play_p2p,
};

const struct backend_ops backend_ns3_ip = {
    .name = "ns3:ip",
    .summary = "The same with ns-3's IPv4 on every node.",
    .play = play_ip,
};
