/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/fabric.h"
#include "models/observer.h"
#include "models/port_priority.h"
#include "models/port_wire.h"
#include "sim/core/pages.h"
#include "sim/core/units.h"
#include <stdlib.h>
#include <string.h>

#define FIRST_RING 4

G_STATIC_ASSERT(offsetof(struct fabric, engine) == 0);
G_STATIC_ASSERT(offsetof(struct engine, events) == 0);

/* --- ports --------------------------------------------------------------------------------- */

void port_ring_grow(struct port *port)
{
    uint32_t old = port->ring ? port->mask + 1 : 0, room = old ? 2 * old : FIRST_RING;
    struct wire_slot *ring = g_new(struct wire_slot, room);

    for (uint32_t i = port->head; i != port->tail; i++)
        ring[i & (room - 1)] = port->ring[i & port->mask];
    g_free(port->ring);
    port->ring = ring;
    port->mask = room - 1;
}

struct port_rare *port_rare(struct port *port)
{
    if (!port->rare)
        port->rare = g_new0(struct port_rare, 1);
    return port->rare;
}

void port_rare_free(struct port *port)
{
    if (port->rare)
        g_free(port->rare->loss);
    g_clear_pointer(&port->rare, g_free);
}

int64_t port_odd_transmission_ps(struct port *port, uint32_t bytes)
{
    int64_t ps = units_transmission_ps(bytes, port->rate_bps);

    if (port->rare && port->rare->drift_ppt) { /* what is below a picosecond is kept */
        __int128 extra = (__int128)ps * port->rare->drift_ppt + port->rare->drift_rest;

        ps += (int64_t)(extra / UNITS_PPT);
        port->rare->drift_rest = (int64_t)(extra % UNITS_PPT);
    }
    return ps;
}

void port_take_rate(struct port *port, int64_t rate_bps)
{
    int64_t ps = 8 * UNITS_PPT / rate_bps;
    bool whole = ps * rate_bps == 8 * UNITS_PPT && ps <= UINT32_MAX;

    port->rate_bps = rate_bps;
    port->ps_per_byte = whole && !(port->rare && port->rare->drift_ppt) ? (uint32_t)ps : 0;
}

void port_count_drop(struct fabric *fabric, struct port *port, const struct wire_slot *slot,
                     enum sink_drop cause)
{
    struct port_rare *rare = port_rare(port);

    rare->n_dropped[cause]++;
    rare->n_dropped_bytes += slot->bytes;
    fabric->n_dropped_class[slot->class]++;
    packet_give(&fabric->engine.pool, slot->packet);
}

/* --- the engine seam ----------------------------------------------------------------------- */

void engine_send(struct engine *engine, uint32_t port, struct packet *packet)
{
    ((struct fabric *)(void *)engine)->form->send(engine, port, packet);
}

bool engine_port_idle(struct engine *engine, uint32_t port)
{
    return ((struct fabric *)(void *)engine)->form->idle(engine, port);
}

/* --- setting up ---------------------------------------------------------------------------- */

bool fabric_list_has(const char *list, uint32_t number, bool *valid)
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

/* "0,7,7": priorities of data, acknowledgements and control. */
static bool parse_priorities(const char *text, uint8_t *priority_of)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);

    if (g_strv_length(parts) != PACKET_PFC)
        return false;
    for (int class = 0; class < PACKET_PFC; class ++) {
        const char *part = g_strstrip(parts[class]);

        if (part[0] < '0' || part[0] > '7' || part[1])
            return false;
        priority_of[class] = (uint8_t)(part[0] - '0');
    }
    return true;
}

static gboolean check_config(const struct model_config *model, GError **error)
{
    uint8_t priorities[PACKET_N_CLASSES];

    if (queue_list[model->queue.kind] == &queue_red && model->queue.kmax < model->queue.kmin) {
        g_set_error(error, GRAPH_ERROR, 0,
                    "[queue] kmax = %" G_GINT64_FORMAT "B: not below kmin (%" G_GINT64_FORMAT
                    "B) is expected",
                    model->queue.kmax, model->queue.kmin);
        return FALSE;
    }
    if (!parse_priorities(model->queue.priorities, priorities)) {
        g_set_error(error, GRAPH_ERROR, 0,
                    "[queue] priorities = %s: those of data, acknowledgements and control are "
                    "expected, each 0 to 7, such as 0,7,7",
                    model->queue.priorities);
        return FALSE;
    }
    return loss_check(&model->loss, error) && pfc_check(model, error);
}

/* The lazy form where it can do what is asked for. */
const struct port_ops *fabric_form(const struct backend_run *run)
{
    const struct model_config *model = run->model;
    uint8_t priority_of[PACKET_N_CLASSES] = {0};
    bool slow_host = false;

    parse_priorities(model->queue.priorities, priority_of);
    bool one_queue = priority_of[PACKET_DATA] == priority_of[PACKET_ACK] &&
                     priority_of[PACKET_DATA] == priority_of[PACKET_CONTROL];

    for (uint32_t host = 0; host < run->graph->n_hosts; host++)
        slow_host |= backend_host(run, host)->receive_rate > 0;
    if (one_queue && model->queue.mark_at == 0 && model->buffer.kind == 0 && !model->pfc.enable &&
        !slow_host)
        return run->observer ? &port_fifo_observed : &port_fifo;
    return run->observer ? &port_priority_observed : &port_priority;
}

/* A NIC's clock is slow by a draw. */
static void drift_init(struct port *port, int64_t most_ppt, uint64_t seed)
{
    struct random_stream draws = random_stream(seed, RANDOM_DRIFT, port->number);
    int64_t drift_ppt = (int64_t)random_below(&draws, (uint64_t)most_ppt + 1);

    if (drift_ppt == 0)
        return;
    port_rare(port)->drift_ppt = drift_ppt;
    port->ps_per_byte = 0;
}

static void port_init(struct fabric *fabric, uint32_t number, uint64_t seed)
{
    const struct graph *graph = fabric->engine.graph;
    const struct graph_link *link = &graph->links[number / 2];
    const struct graph_node *peer = &graph->nodes[graph_port_peer(graph, number)];
    struct port *port = &fabric->ports[number];
    int64_t queue = number & 1 ? link->queue_bytes_b : link->queue_bytes_a;

    port->number = number;
    port->peer = graph_port_peer(graph, number);
    port->peer_is_switch = peer->is_switch;
    port->from_host = !graph->nodes[graph_port_node(graph, number)].is_switch;
    port->mark_rule = ecn_map_find(&fabric->marks, link->rate_bps);
    port_take_rate(port, link->rate_bps);
    port->delay_ps = link->delay_ps + (peer->is_switch ? peer->latency_ps : 0);
    port->limit_bytes = queue ? queue : fabric->model->queue.limit;
    port->markable_ecn =
        peer->is_switch || fabric->model->queue.mark_last_hop ? PACKET_ECT : PACKET_N_ECN;
    loss_init(port, &fabric->model->loss, graph, seed, fabric->drops);
    port->mark_draws = random_stream(seed, RANDOM_MARK, number);
    if (port->from_host && fabric->model->host.clock_drift)
        drift_init(port, fabric->model->host.clock_drift, seed);
    fabric->form->init(fabric, port);
}

static void switch_init(struct fabric *fabric, uint32_t index, uint64_t seed)
{
    uint64_t object = fabric->model->route.seeds == 1 ? 0 : index + 1;

    fabric->switches[index].hash_seed = random_key(seed, RANDOM_ECMP, object);
    fabric->switches[index].spray = random_stream(seed, RANDOM_SPRAY, index);
}

/* What is derived from the configuration alone. */
static void derive(struct fabric *fabric, const struct backend_run *run)
{
    const struct model_config *model = run->model;

    fabric->queue = queue_list[model->queue.kind];
    fabric->choice = route_list[model->route.kind];
    parse_priorities(model->queue.priorities, fabric->priority_of);
    fabric->form = fabric->driver->form ? fabric->driver->form : fabric_form(run);
    fabric->buffer = buffer_choose(&model->buffer, &fabric->buffer_rule);
    pfc_derive(&model->pfc, &fabric->pfc);
    fabric->mark_at_dequeue = model->queue.mark_at == 1;
    fabric->frame_bytes = backend_frame_bytes(run);
}

/* What the queues share: the memory without the headroom of lossless priorities. */
static void buffers_init(struct fabric *fabric)
{
    const struct graph *graph = fabric->engine.graph;
    const struct buffer_config *config = &fabric->model->buffer;
    int n_lossless = __builtin_popcount(fabric->pfc.lossless);

    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++) {
        struct buffer *buffer = &fabric->switches[node - graph->n_hosts].buffer;

        buffer->pool_bytes = config->kind == 0 ? INT64_MAX / 2 : config->size;
        for (uint32_t i = 0; config->kind != 0 && i < graph_n_ports(graph, node); i++)
            buffer->pool_bytes -=
                n_lossless *
                fabric->ports[graph_port(graph, node, i) ^ 1].lanes->headroom_limit_bytes;
    }
}

gboolean fabric_init(struct fabric *fabric, const struct backend_run *run,
                     const struct fabric_driver *driver, GError **error)
{
    const struct graph *graph = run->graph;

    *fabric = (struct fabric){
        .run = run, .model = run->model, .n_ports = 2 * graph->n_links, .driver = driver};
    if (!check_config(run->model, error) ||
        !ecn_map_init(&fabric->marks, &run->model->queue, queue_list[run->model->queue.kind], graph,
                      error))
        return FALSE;
    if (*run->model->loss.drop_file) {
        fabric->drops = drop_list_read(run->model->loss.drop_file, graph, error);
        if (!fabric->drops)
            return FALSE;
    }
    event_queue_init(&fabric->engine.events, run->seed);
    packet_pool_init(&fabric->engine.pool);
    fabric->engine.graph = graph;
    fabric->engine.seed = run->seed;
    observer_begin(run->observer, &fabric->engine);
    route_init(&fabric->route, graph);
    derive(fabric, run);
    if (driver->check && !driver->check(fabric, error))
        return FALSE;
    fabric->ports = pages_new((fabric->n_ports + 1) * sizeof(struct port));
    if (!fabric->ports)
        g_error("out of memory for %u ports", fabric->n_ports);
    memset(fabric->ports, 0, (fabric->n_ports + 1) * sizeof(struct port));
    for (uint32_t number = 0; number < fabric->n_ports; number++)
        port_init(fabric, number, run->seed);
    fabric->switches = g_new0(struct switch_state, graph->n_nodes - graph->n_hosts + 1);
    for (uint32_t index = 0; index < graph->n_nodes - graph->n_hosts; index++)
        switch_init(fabric, index, run->seed);
    buffers_init(fabric);
    return faults_init(fabric, error);
}

void fabric_clear(struct fabric *fabric)
{
    if (fabric->driver->end)
        fabric->driver->end(fabric);
    g_clear_error(&fabric->error);
    faults_clear(fabric);
    for (uint32_t number = 0; fabric->ports && number < fabric->n_ports; number++) {
        fabric->form->clear(&fabric->ports[number]);
        port_rare_free(&fabric->ports[number]);
    }
    g_clear_pointer(&fabric->drops, drop_list_free);
    g_clear_pointer(&fabric->ports, free);
    g_clear_pointer(&fabric->switches, g_free);
    if (fabric->route.graph)
        route_clear(&fabric->route);
    if (fabric->engine.pool.blocks)
        packet_pool_clear(&fabric->engine.pool);
    event_queue_clear(&fabric->engine.events);
    observer_end(fabric->engine.observer);
}

void fabric_count_in_flight(const struct fabric *fabric, int64_t *n_packets, int64_t *n_bytes)
{
    *n_packets = *n_bytes = 0;
    for (uint32_t number = 0; number < fabric->n_ports; number++)
        fabric->form->count(&fabric->ports[number], n_packets, n_bytes);
}

struct fabric_look fabric_look(const struct fabric *fabric, uint32_t number, int64_t now_ps)
{
    const struct port *port = &fabric->ports[number];
    struct fabric_look look = {.n_marked = port->n_marked};

    const struct port *landing = fabric_landing(fabric, number);

    fabric->form->look(port, now_ps, &look);
    for (int cause = 0; cause < SINK_N_DROPS; cause++) {
        look.n_dropped += port_n_dropped(port, (enum sink_drop)cause);
        look.n_dropped += landing == port ? 0 : port_n_dropped(landing, (enum sink_drop)cause);
    }
    return look;
}
