/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/fabric.h"
#include "models/port_wire.h"
#include "sim/core/units.h"
#include <stdlib.h>
#include <string.h>

#define FIRST_RING 8

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
    fabric->form->init(fabric, port);
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
    fabric->form = &port_fifo;
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
        fabric->form->clear(&fabric->ports[number]);
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
    for (uint32_t number = 0; number < fabric->n_ports; number++)
        fabric->form->count(&fabric->ports[number], n_packets, n_bytes);
}

struct fabric_look fabric_look(const struct fabric *fabric, uint32_t number, int64_t now_ps)
{
    const struct port *port = &fabric->ports[number];
    struct fabric_look look = {.n_marked = port->n_marked};

    fabric->form->look(port, now_ps, &look);
    for (int cause = 0; cause < SINK_N_DROPS; cause++)
        look.n_dropped += port->n_dropped[cause];
    return look;
}
