/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/pfc.h"
#include "models/host.h"
#include "models/port_priority.h"
#include "models/port_wire.h"
#include <string.h>

#define QUANTUM_BYTES 64 /* 512 bit times */
#define ORDER_EFFECT  (EVENT_CLASS_TRANSMIT | UINT64_C(1) << 40)
#define ORDER_EXPIRY  (EVENT_CLASS_TRANSMIT | UINT64_C(2) << 40)
#define ORDER_REFRESH (EVENT_CLASS_TRANSMIT | UINT64_C(3) << 40)

struct pause_header { /* of a pause frame */
    int64_t effect_ps;
    uint32_t quanta;
    uint8_t priority;
};

G_STATIC_ASSERT(sizeof(struct pause_header) <= PACKET_HEADER_BYTES);

/* --- configuration -------------------------------------------------------------------------- */

static uint8_t lossless_priorities(const struct pfc_config *config)
{
    uint8_t bits = 0;
    bool valid;

    for (uint32_t priority = 0; config->enable && priority < PORT_N_PRIORITIES; priority++)
        if (fabric_list_has(config->priorities, priority, &valid))
            bits |= (uint8_t)(1 << priority);
    return bits;
}

static gboolean refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean refuse(GError **error, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    g_autofree char *text = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error_literal(error, GRAPH_ERROR, 0, text);
    return FALSE;
}

gboolean pfc_check(const struct model_config *model, GError **error)
{
    const struct pfc_config *config = &model->pfc;
    bool valid;

    fabric_list_has(config->priorities, 0, &valid);
    if (!valid || (config->enable && !lossless_priorities(config)))
        return refuse(error, "[pfc] priorities = %s: a list of 0 to 7, such as 0,3, is expected",
                      config->priorities);
    if (!config->enable)
        return TRUE;
    if (config->threshold == 1 && model->buffer.kind == 0)
        return refuse(error, "[pfc] threshold = dynamic: needs [buffer] kind = shared");
    if (config->threshold == 0 && config->xoff < config->xon_offset)
        return refuse(error,
                      "[pfc] xon_offset = %" G_GINT64_FORMAT "B: not above xoff (%" G_GINT64_FORMAT
                      "B) is expected",
                      config->xon_offset, config->xoff);
    return TRUE;
}

void pfc_derive(const struct pfc_config *config, struct pfc_rule *rule)
{
    *rule = (struct pfc_rule){.lossless = lossless_priorities(config),
                              .xoff_bytes = config->xoff,
                              .alpha_ppt = config->threshold == 1 ? config->alpha : 0,
                              .xon_offset_bytes = config->xon_offset,
                              .response_ps = config->response_time,
                              .refresh_ppt = config->refresh,
                              .quanta = (uint32_t)config->quanta,
                              .frame_bytes = (uint32_t)config->frame};
}

/* --- headroom, before the run --------------------------------------------------------------- */

int64_t pfc_headroom_needed(const struct graph *graph, const struct pfc_config *config,
                            uint32_t port, int64_t frame_bytes)
{
    const struct graph_link *link = &graph->links[port / 2];
    const struct graph_node *node = &graph->nodes[graph_port_peer(graph, port)];
    int64_t time_ps =
        2 * link->delay_ps + (node->is_switch ? node->latency_ps : 0) + config->response_time;
    __int128 wire = ((__int128)time_ps * link->rate_bps + 8 * UNITS_PPT - 1) / (8 * UNITS_PPT);
    int n_lossless = __builtin_popcount(lossless_priorities(config));

    return (int64_t)wire + 3 * frame_bytes + n_lossless * config->frame;
}

/* An error, or a note where only that is asked for. */
static gboolean object(const struct pfc_config *config, const char *text, GPtrArray *notes,
                       GError **error)
{
    if (config->headroom_check == 0)
        return refuse(error, "%s", text);
    g_ptr_array_add(notes, g_strdup_printf("WARNING: %s; packets may be lost", text));
    return TRUE;
}

/* A link's need against what it is given. */
static gboolean check_link(const struct backend_run *run, uint32_t port, int64_t needed,
                           GPtrArray *notes, GError **error)
{
    const struct pfc_config *config = &run->model->pfc;
    g_autofree char *text = g_strdup_printf(
        "[pfc] headroom = %" G_GINT64_FORMAT
        "B: link %u, from node %u to node %u, needs %" G_GINT64_FORMAT
        "B for the bits on the wire, a frame of each side, the pause, the response time and the "
        "packet that crosses Xoff",
        config->headroom, port / 2, graph_port_node(run->graph, port),
        graph_port_peer(run->graph, port), needed);

    return config->headroom == 0 || config->headroom >= needed ||
           object(config, text, notes, error);
}

/*
 * A pause must be repeated before it lapses: after `refresh` of its quanta a frame and the pause
 * frames may be ahead. In bytes of the link, whatever its rate.
 */
static gboolean check_refresh(const struct backend_run *run, int64_t frame_bytes, GPtrArray *notes,
                              GError **error)
{
    const struct pfc_config *config = &run->model->pfc;
    int64_t rest_ppt = config->refresh ? UNITS_PPT - config->refresh : 0;
    int64_t rest = (int64_t)((__int128)config->quanta * QUANTUM_BYTES * rest_ppt / UNITS_PPT);
    int64_t needed = frame_bytes + __builtin_popcount(lossless_priorities(config)) * config->frame;
    g_autofree char *text = g_strdup_printf(
        "[pfc] quanta = %" G_GINT64_FORMAT
        ": a pause may lapse before it is repeated: refresh leaves %" G_GINT64_FORMAT
        "B of it, a frame and the pauses take %" G_GINT64_FORMAT "B",
        config->quanta, rest, needed);

    return rest >= needed || object(config, text, notes, error);
}

static gboolean check_links(const struct backend_run *run, int64_t frame_bytes, GPtrArray *notes,
                            GError **error)
{
    const struct graph *graph = run->graph;
    const struct pfc_config *config = &run->model->pfc;
    int64_t given = config->headroom, least = INT64_MAX, most = 0;
    uint32_t worst = 0;
    g_autofree char *given_text = NULL;

    for (uint32_t port = 0; port < 2 * graph->n_links; port++) {
        int64_t needed = pfc_headroom_needed(graph, config, port, frame_bytes);

        if (!graph->nodes[graph_port_peer(graph, port)].is_switch)
            continue;
        least = MIN(least, needed);
        if (needed > most) {
            most = needed;
            worst = port;
        }
    }
    if (most == 0)
        return TRUE;
    given_text = given ? g_strdup_printf("%" G_GINT64_FORMAT " B", given) : g_strdup("its need");
    g_ptr_array_add(notes,
                    g_strdup_printf("pfc: headroom of a port and priority: need %" G_GINT64_FORMAT
                                    " to %" G_GINT64_FORMAT " B by link, given %s",
                                    least, most, given_text));
    return check_link(run, worst, most, notes, error);
}

static gboolean check_switches(const struct backend_run *run, int64_t frame_bytes, GError **error)
{
    const struct graph *graph = run->graph;
    const struct model_config *model = run->model;
    int n_lossless = __builtin_popcount(lossless_priorities(&model->pfc));

    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++) {
        int64_t sum = 0;

        for (uint32_t i = 0; i < graph_n_ports(graph, node); i++) {
            uint32_t in = graph_port(graph, node, i) ^ 1;

            sum += n_lossless * (model->pfc.headroom
                                     ? model->pfc.headroom
                                     : pfc_headroom_needed(graph, &model->pfc, in, frame_bytes));
        }
        if (model->buffer.kind == 1 && sum >= model->buffer.size)
            return refuse(error,
                          "[buffer] size = %" G_GINT64_FORMAT
                          "B: the headroom of the %u ports of node %u alone takes %" G_GINT64_FORMAT
                          "B",
                          model->buffer.size, graph_n_ports(graph, node), node, sum);
    }
    return TRUE;
}

/* A slow host's port has Xoff and headroom in its own buffer. */
static gboolean check_host(const struct backend_run *run, uint32_t node, int64_t frame_bytes,
                           GError **error)
{
    const struct pfc_config *config = &run->model->pfc;
    const struct host_config *host = backend_host(run, node);
    int n_lossless = __builtin_popcount(lossless_priorities(config));

    for (uint32_t i = 0; host->receive_rate && i < graph_n_ports(run->graph, node); i++) {
        uint32_t in = graph_port(run->graph, node, i) ^ 1;
        int64_t needed = pfc_headroom_needed(run->graph, config, in, frame_bytes);
        int64_t sum = n_lossless * (config->xoff + MAX(needed, config->headroom));

        if (host->receive_buffer < sum)
            return refuse(error,
                          "[host] receive_buffer = %" G_GINT64_FORMAT
                          "B: Xoff and headroom of link %u take %" G_GINT64_FORMAT "B",
                          host->receive_buffer, in / 2, sum);
    }
    return TRUE;
}

gboolean pfc_headroom_check(const struct backend_run *run, GPtrArray *notes, GError **error)
{
    int64_t frame_bytes = backend_frame_bytes(run);

    if (!run->model->pfc.enable)
        return TRUE;
    if (!pfc_check(run->model, error) || !check_links(run, frame_bytes, notes, error) ||
        !check_refresh(run, frame_bytes, notes, error) || !check_switches(run, frame_bytes, error))
        return FALSE;
    for (uint32_t node = 0; node < run->graph->n_hosts; node++)
        if (!check_host(run, node, frame_bytes, error))
            return FALSE;
    return TRUE;
}

/* --- who is silent -------------------------------------------------------------------------- */

/* Packet classes that a host may not send while these priorities are paused. */
static uint32_t classes_of(const struct fabric *fabric, uint8_t paused)
{
    uint32_t classes = 0;

    for (uint32_t class = 0; class < PACKET_PFC; class ++)
        classes |= (uint32_t)(paused >> fabric->priority_of[class] & 1) << class;
    return classes;
}

static void plan_expiry(struct fabric *fabric, struct port_lanes *lanes)
{
    int64_t first_ps = INT64_MAX;

    for (uint32_t priority = 0; priority < PORT_N_PRIORITIES; priority++)
        if (lanes->paused >> priority & 1)
            first_ps = MIN(first_ps, lanes->paused_until_ps[priority]);
    if (first_ps == INT64_MAX)
        event_cancel(&fabric->engine.events, &lanes->expiry);
    else
        event_schedule(&fabric->engine.events, &lanes->expiry, first_ps);
}

/* The set of paused priorities changes to `paused`. */
static void set_paused(struct fabric *fabric, struct port_lanes *lanes, uint8_t paused)
{
    int64_t now_ps = fabric->engine.events.now_ps;
    uint8_t before = lanes->paused;

    if (!before && paused) {
        lanes->paused_since_ps = now_ps;
        lanes->n_silences++;
    }
    if (before && !paused)
        lanes->paused_ps += now_ps - lanes->paused_since_ps;
    lanes->paused = paused;
    plan_expiry(fabric, lanes);
    if (before == paused)
        return;
    OBSERVER_TELL(fabric->engine.observer, paused, lanes->port->number, classes_of(fabric, paused));
    if (lanes->port->from_host)
        host_pause(&fabric->engine, lanes->port->number, classes_of(fabric, paused));
    else
        port_priority_kick(fabric, lanes->port);
}

static int64_t quanta_ps(const struct port *port, uint32_t quanta)
{
    return units_transmission_ps((int64_t)quanta * QUANTUM_BYTES, port->rate_bps);
}

static void hear(struct fabric *fabric, struct port *port, const struct pause_header *pause)
{
    struct port_lanes *lanes = port->lanes;
    uint8_t bit = (uint8_t)(1 << pause->priority), paused = lanes->paused;

    lanes->n_pauses_received++;
    lanes->paused_until_ps[pause->priority] =
        fabric->engine.events.now_ps + quanta_ps(port, pause->quanta);
    paused = (uint8_t)(pause->quanta ? paused | bit : paused & ~bit);
    set_paused(fabric, lanes, paused);
}

static void expire(struct event_queue *queue, struct event *event)
{
    struct port_lanes *lanes =
        (struct port_lanes *)(void *)((char *)event - offsetof(struct port_lanes, expiry));
    uint8_t paused = lanes->paused;

    for (uint32_t priority = 0; priority < PORT_N_PRIORITIES; priority++)
        if (lanes->paused_until_ps[priority] <= queue->now_ps)
            paused &= (uint8_t) ~(1 << priority);
    set_paused(fabric_of(queue), lanes, paused);
}

/* --- pause frames --------------------------------------------------------------------------- */

static void make_due(struct fabric *fabric, const struct pfc_ingress *ingress)
{
    struct port *reverse = &fabric->ports[ingress->port->number ^ 1];

    reverse->lanes->due |= (uint8_t)(1 << ingress->priority);
    port_priority_kick(fabric, reverse);
}

static void refresh(struct event_queue *queue, struct event *event)
{
    make_due(fabric_of(queue), (struct pfc_ingress *)(void *)event);
}

static void plan_refresh(struct fabric *fabric, struct pfc_ingress *ingress)
{
    const struct pfc_rule *rule = &fabric->pfc;
    int64_t after_ps =
        (int64_t)((__int128)quanta_ps(ingress->port, rule->quanta) * rule->refresh_ppt / UNITS_PPT);

    if (ingress->paused && after_ps > 0)
        event_schedule(&fabric->engine.events, &ingress->refresh,
                       fabric->engine.events.now_ps + after_ps);
    else
        event_cancel(&fabric->engine.events, &ingress->refresh);
}

/* Puts a frame behind those on the wire. */
static void put_frame(struct event_queue *queue, struct port_lanes *lanes, struct packet *frame)
{
    frame->next = NULL;
    if (!lanes->frames)
        event_schedule(queue, &lanes->effect,
                       ((struct pause_header *)(void *)frame->header)->effect_ps);
    *lanes->last_frame = frame;
    lanes->last_frame = &frame->next;
}

void pfc_hand_over(struct event_queue *queue, struct port *port)
{
    struct packet *next;

    for (struct packet *frame = port->lanes->posted; frame; frame = next) {
        next = frame->next;
        put_frame(queue, port->lanes, frame);
    }
    port->lanes->posted = NULL;
    port->lanes->last_posted = &port->lanes->posted;
}

void pfc_send(struct fabric *fabric, struct port *port)
{
    struct port_lanes *lanes = port->lanes;
    uint32_t priority = 31 - (uint32_t)__builtin_clz(lanes->due);
    struct pfc_ingress *ingress = &fabric->ports[port->number ^ 1].lanes->ingress[priority];
    struct packet *frame = packet_take(&fabric->engine.pool);
    struct pause_header *header = (struct pause_header *)(void *)frame->header;

    lanes->due &= (uint8_t) ~(1 << priority);
    frame->next = NULL;
    frame->bytes = fabric->pfc.frame_bytes;
    frame->class = PACKET_PFC;
    port->busy_until_ps =
        fabric->engine.events.now_ps + port_transmission_ps(port, fabric->pfc.frame_bytes);
    *header = (struct pause_header){.effect_ps = port->busy_until_ps + lanes->link_delay_ps +
                                                 fabric->pfc.response_ps,
                                    .quanta = ingress->paused ? fabric->pfc.quanta : 0,
                                    .priority = (uint8_t)priority};
    if (fabric_landing(fabric, port->number) == port) {
        put_frame(&fabric->engine.events, lanes, frame);
    } else {
        *lanes->last_posted = frame;
        lanes->last_posted = &frame->next;
    }
    lanes->n_pauses_sent++;
    OBSERVER_TELL(fabric->engine.observer, sent, port->number, frame, fabric->engine.events.now_ps,
                  port->busy_until_ps, port->busy_until_ps + lanes->link_delay_ps);
    port->n_packets++;
    port->n_bytes += frame->bytes;
    fabric->n_hops++;
    fabric->n_pauses++;
    plan_refresh(fabric, ingress);
}

void pfc_encode(const struct packet *frame, uint8_t *bytes)
{
    const struct pause_header *pause = (const struct pause_header *)(const void *)frame->header;

    bytes = transport_put(bytes, 0x0101, 2);
    bytes = transport_put(bytes, UINT64_C(1) << pause->priority, 2);
    for (uint8_t priority = 0; priority < PORT_N_PRIORITIES; priority++)
        bytes = transport_put(bytes, priority == pause->priority ? pause->quanta : 0, 2);
}

/* The response time after the arrival of a pause frame is over. */
static void take_effect(struct event_queue *queue, struct event *event)
{
    struct port_lanes *lanes =
        (struct port_lanes *)(void *)((char *)event - offsetof(struct port_lanes, effect));
    struct fabric *fabric = fabric_of(queue);
    struct port *port = fabric_landing(fabric, lanes->port->number);
    struct packet *frame = lanes->frames;
    struct pause_header pause = *(struct pause_header *)(void *)frame->header;
    struct wire_slot slot = {.packet = frame,
                             .bytes = frame->bytes,
                             .class = PACKET_PFC,
                             .arrive_ps = pause.effect_ps - fabric->pfc.response_ps -
                                          lanes->link_delay_ps + port->delay_ps};
    enum sink_drop cause = SINK_N_DROPS;

    lanes->frames = frame->next;
    if (lanes->frames)
        event_schedule(queue, event,
                       ((struct pause_header *)(void *)lanes->frames->header)->effect_ps);
    else
        lanes->last_frame = &lanes->frames;
    if (port->loss_classes >> PACKET_PFC & 1)
        cause = port->rare->lose(fabric, port, &slot);
    if (cause != SINK_N_DROPS) {
        port_drop(fabric, port, &slot, cause, fabric->engine.observer);
        return;
    }
    OBSERVER_TELL(fabric->engine.observer, arrived, port->number, frame, PACKET_NOT_ECT);
    packet_give(&fabric->engine.pool, frame);
    hear(fabric, &fabric->ports[port->number ^ 1], &pause);
}

void pfc_count(const struct port *port, int64_t *n_packets, int64_t *n_bytes)
{
    for (const struct packet *frame = port->lanes->frames; frame; frame = frame->next) {
        *n_packets += 1;
        *n_bytes += frame->bytes;
    }
}

int64_t pfc_paused_ps(const struct fabric *fabric, const struct port *port)
{
    const struct port_lanes *lanes = port->lanes;

    return lanes->paused_ps +
           (lanes->paused ? fabric->engine.events.now_ps - lanes->paused_since_ps : 0);
}

/* --- what waits ----------------------------------------------------------------------------- */

static int64_t xoff_bytes(const struct fabric *fabric, const struct buffer *buffer)
{
    return buffer && fabric->pfc.alpha_ppt ? buffer_share_bytes(buffer, fabric->pfc.alpha_ppt)
                                           : fabric->pfc.xoff_bytes;
}

static bool fits_shared(const struct fabric *fabric, const struct buffer *buffer,
                        const struct pfc_ingress *ingress, int64_t bytes)
{
    return ingress->shared_bytes + bytes <= xoff_bytes(fabric, buffer) &&
           (!buffer || buffer_has(buffer, bytes));
}

bool pfc_fits(const struct fabric *fabric, const struct buffer *buffer, const struct port *in,
              uint32_t priority, int64_t bytes)
{
    const struct pfc_ingress *ingress = &in->lanes->ingress[priority];

    return fits_shared(fabric, buffer, ingress, bytes) ||
           ingress->headroom_bytes + bytes <= in->lanes->headroom_limit_bytes;
}

void pfc_take(struct fabric *fabric, struct buffer *buffer, struct port *in, uint32_t priority,
              int64_t bytes)
{
    struct pfc_ingress *ingress = &in->lanes->ingress[priority];

    if (!fits_shared(fabric, buffer, ingress, bytes)) {
        ingress->headroom_bytes += bytes;
    } else {
        ingress->shared_bytes += bytes;
        if (buffer)
            buffer_take(buffer, bytes);
    }
    if (ingress->paused ||
        (ingress->headroom_bytes == 0 && ingress->shared_bytes < xoff_bytes(fabric, buffer)))
        return;
    ingress->paused = true;
    make_due(fabric, ingress);
}

/* Whether so much may wait while the sender sends. */
static bool below_xon(const struct fabric *fabric, const struct buffer *buffer,
                      int64_t shared_bytes, int64_t headroom_bytes)
{
    return headroom_bytes == 0 &&
           (shared_bytes == 0 ||
            shared_bytes + fabric->pfc.xon_offset_bytes <= xoff_bytes(fabric, buffer));
}

void pfc_give(struct fabric *fabric, struct buffer *buffer, struct port *in, uint32_t priority,
              int64_t bytes)
{
    struct pfc_ingress *ingress = &in->lanes->ingress[priority];
    int64_t from_headroom = MIN(bytes, ingress->headroom_bytes);

    ingress->headroom_bytes -= from_headroom;
    ingress->shared_bytes -= bytes - from_headroom;
    if (buffer)
        buffer_give(buffer, bytes - from_headroom);
    if (!ingress->paused ||
        !below_xon(fabric, buffer, ingress->shared_bytes, ingress->headroom_bytes))
        return;
    ingress->paused = false;
    make_due(fabric, ingress);
}

/* --- setting up ----------------------------------------------------------------------------- */

void pfc_port_init(struct fabric *fabric, struct port *port, int64_t headroom_bytes)
{
    struct port_lanes *lanes = port->lanes;

    lanes->link_delay_ps = fabric->engine.graph->links[port->number / 2].delay_ps;
    lanes->headroom_limit_bytes = headroom_bytes;
    lanes->last_frame = &lanes->frames;
    lanes->last_posted = &lanes->posted;
    event_init(&lanes->effect, take_effect, ORDER_EFFECT | port->number);
    event_init(&lanes->expiry, expire, ORDER_EXPIRY | port->number);
    for (uint32_t priority = 0; priority < PORT_N_PRIORITIES; priority++) {
        lanes->ingress[priority] =
            (struct pfc_ingress){.port = port, .priority = (uint8_t)priority};
        event_init(&lanes->ingress[priority].refresh, refresh,
                   ORDER_REFRESH | (uint64_t)port->number * PORT_N_PRIORITIES | priority);
    }
}

G_STATIC_ASSERT(offsetof(struct pfc_ingress, refresh) == 0);

/* --- deadlock ------------------------------------------------------------------------------- */

/* What came by `in` at this priority and waits at ports that are stuck; one of them in *next. */
static int64_t stuck_bytes(const struct fabric *fabric, const bool *stuck, uint32_t in,
                           uint32_t priority, uint32_t *next)
{
    const struct graph *graph = fabric->engine.graph;
    uint32_t node = fabric->ports[in].peer;
    int64_t bytes = 0;

    for (uint32_t i = 0; i < graph_n_ports(graph, node); i++) {
        uint32_t out = graph_port(graph, node, i);
        const struct lane *lane = &fabric->ports[out].lanes->lanes[priority];

        if (!stuck[out * PORT_N_PRIORITIES + priority])
            continue;
        for (uint32_t k = lane->head; k != lane->tail; k++)
            if (lane->ring[k & lane->mask].in == in) {
                bytes += lane->ring[k & lane->mask].slot.bytes;
                *next = out;
            }
    }
    return bytes;
}

/* Paused with something waiting, by a node that wants silence. */
static bool seems_stuck(const struct fabric *fabric, uint32_t number, uint32_t priority)
{
    const struct port *port = &fabric->ports[number];

    return port->peer_is_switch && port->lanes->paused >> priority & 1 &&
           port->lanes->backlog >> priority & 1 && port->lanes->ingress[priority].paused;
}

/* Whether the node at the other end stays above Xon when all that can leave it has left. */
static bool stays_stuck(const struct fabric *fabric, const bool *stuck, uint32_t number,
                        uint32_t priority)
{
    const struct port *port = &fabric->ports[number];
    const struct pfc_ingress *ingress = &port->lanes->ingress[priority];
    const struct buffer *buffer =
        &fabric->switches[port->peer - fabric->engine.graph->n_hosts].buffer;
    uint32_t next;
    int64_t rest = stuck_bytes(fabric, stuck, number, priority, &next);
    int64_t leaves = ingress->shared_bytes + ingress->headroom_bytes - rest;
    int64_t headroom = MAX(ingress->headroom_bytes - leaves, 0);

    return rest > 0 && !below_xon(fabric, buffer, rest - headroom, headroom);
}

static void add_circle(const struct fabric *fabric, const bool *stuck, uint32_t first,
                       uint32_t priority, GPtrArray *lines)
{
    uint32_t at = first, n = 0, number = first;

    for (uint32_t i = 0; i < fabric->n_ports; i++) /* into the circle */
        stuck_bytes(fabric, stuck, at, priority, &at);
    number = at;
    do {
        n++;
        stuck_bytes(fabric, stuck, number, priority, &number);
    } while (number != at);
    g_ptr_array_add(lines, g_strdup_printf("deadlock: %u ports wait for each other in a circle of "
                                           "pauses, priority %u",
                                           n, priority));
    do {
        uint32_t next = number;
        int64_t bytes = stuck_bytes(fabric, stuck, number, priority, &next);

        g_ptr_array_add(
            lines, g_strdup_printf(
                       "port %u (node %u to node %u) is paused by node %u, where %" G_GINT64_FORMAT
                       " B from it wait at port %u",
                       number, graph_port_node(fabric->engine.graph, number),
                       fabric->ports[number].peer, fabric->ports[number].peer, bytes, next));
        number = next;
    } while (number != at);
}

bool pfc_deadlock(const struct fabric *fabric, GPtrArray *lines)
{
    uint32_t n = fabric->n_ports * PORT_N_PRIORITIES, first = UINT32_MAX;
    g_autofree bool *stuck = NULL;
    bool changed = true;

    if (!fabric->pfc.lossless)
        return false;
    stuck = g_new0(bool, n);
    for (uint32_t i = 0; i < n; i++)
        stuck[i] = seems_stuck(fabric, i / PORT_N_PRIORITIES, i % PORT_N_PRIORITIES);
    while (changed) {
        changed = false;
        first = UINT32_MAX;
        for (uint32_t i = 0; i < n; i++) {
            if (stuck[i] &&
                !stays_stuck(fabric, stuck, i / PORT_N_PRIORITIES, i % PORT_N_PRIORITIES)) {
                stuck[i] = false;
                changed = true;
            }
            if (stuck[i] && first == UINT32_MAX)
                first = i;
        }
    }
    if (first != UINT32_MAX && lines)
        add_circle(fabric, stuck, first / PORT_N_PRIORITIES, first % PORT_N_PRIORITIES, lines);
    return first != UINT32_MAX;
}
