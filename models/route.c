/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/route.h"
#include <string.h>

struct builder {
    struct route *route;
    const struct graph *graph;
    const struct route *plan; /* NULL: this is the plan */
    const uint8_t *dead;      /* by link; NULL: all are alive */
    bool resilient;
    uint32_t *distance; /* of each node from the edge switch at hand */
    uint32_t *queue;
    uint32_t *scratch;
    GArray *spread; /* uint32_t: ports of a resilient set */
};

static inline bool is_dead(const struct builder *builder, uint32_t port)
{
    return builder->dead && builder->dead[port / 2];
}

/* Numbers the components of switches; hosts do not forward. */
static void find_components(struct route *route, uint32_t *queue, uint32_t *n_components)
{
    const struct graph *graph = route->graph;

    *n_components = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        route->component[i] = ROUTE_NONE;
    for (uint32_t start = graph->n_hosts; start < graph->n_nodes; start++) {
        uint32_t head = 0, tail = 0;

        if (route->component[start] != ROUTE_NONE)
            continue;
        route->component[start] = *n_components;
        queue[tail++] = start;
        while (head < tail) {
            uint32_t node = queue[head++];

            for (uint32_t i = 0; i < graph_n_ports(graph, node); i++) {
                uint32_t peer = graph_port_peer(graph, graph_port(graph, node, i));

                if (graph->nodes[peer].is_switch && route->component[peer] == ROUTE_NONE) {
                    route->component[peer] = *n_components;
                    queue[tail++] = peer;
                }
            }
        }
        (*n_components)++;
    }
}

/* Attaches each NIC port and numbers the edge switches of each component. */
static uint32_t *number_edges(struct route *route)
{
    const struct graph *graph = route->graph;
    uint32_t *edge_of = g_new(uint32_t, graph->n_nodes);

    memset(edge_of, 0xff, graph->n_nodes * sizeof *edge_of);
    route->n_attach = graph->first_port[graph->n_hosts];
    route->attach = g_new(struct route_attach, route->n_attach + 1);
    for (uint32_t to = 0; to < route->n_attach; to++) {
        uint32_t port = graph->port_list[to], peer = graph_port_peer(graph, port);
        struct route_attach *attach = &route->attach[to];

        *attach = (struct route_attach){ROUTE_NONE, port ^ 1, ROUTE_NONE};
        if (!graph->nodes[peer].is_switch)
            continue;
        if (edge_of[peer] == ROUTE_NONE)
            edge_of[peer] = route->n_edges[route->component[peer]]++;
        attach->switch_node = peer;
        attach->edge = edge_of[peer];
    }
    return edge_of;
}

static void measure_distances(struct builder *builder, uint32_t edge_switch)
{
    const struct graph *graph = builder->graph;
    uint32_t head = 0, tail = 0;

    builder->distance[edge_switch] = 0;
    builder->queue[tail++] = edge_switch;
    while (head < tail) {
        uint32_t node = builder->queue[head++];

        for (uint32_t i = 0; i < graph_n_ports(graph, node); i++) {
            uint32_t port = graph_port(graph, node, i), peer = graph_port_peer(graph, port);

            if (graph->nodes[peer].is_switch && builder->distance[peer] == ROUTE_NONE &&
                !is_dead(builder, port)) {
                builder->distance[peer] = builder->distance[node] + 1;
                builder->queue[tail++] = peer;
            }
        }
    }
}

/* The number of the set with these ports, made if the node has none like it. */
static uint32_t intern_set(struct route *route, uint32_t node, const uint32_t *ports, uint32_t n)
{
    GBytes *key = g_bytes_new(ports, n * sizeof(uint32_t));
    gpointer found;

    if (!route->known[node])
        route->known[node] =
            g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    if (g_hash_table_lookup_extended(route->known[node], key, NULL, &found)) {
        g_bytes_unref(key);
        return GPOINTER_TO_UINT(found);
    }
    struct route_set set = {route->port_array->len, n};

    g_array_append_vals(route->port_array, ports, n);
    g_array_append_val(route->set_array, set);
    g_hash_table_insert(route->known[node], key, GUINT_TO_POINTER(route->set_array->len - 1));
    return route->set_array->len - 1;
}

/*
 * The n ports of builder->scratch as a set of plan.n x n: the place that a planned port has in the
 * plan becomes n places, its own where it is alive, else one for each live port. An index that is
 * a hash scaled to the set's size then falls on the same live port as in the plan.
 */
static uint32_t intern_resilient(struct builder *builder, uint32_t node, uint32_t edge, uint32_t n)
{
    const struct route *plan = builder->plan;
    struct route_set planned = plan->sets[plan->row[node][edge]];

    g_array_set_size(builder->spread, 0);
    for (uint32_t i = 0; i < planned.n; i++) {
        uint32_t port = plan->ports[planned.first + i];
        bool alive = false;

        for (uint32_t k = 0; k < n; k++)
            alive |= builder->scratch[k] == port;
        for (uint32_t k = 0; k < n; k++)
            g_array_append_vals(builder->spread, alive ? &port : &builder->scratch[k], 1);
    }
    return intern_set(builder->route, node, (uint32_t *)(void *)builder->spread->data,
                      builder->spread->len);
}

/* Whether the ports in builder->scratch are some, but not all, of the planned ones. */
static bool is_part_of_plan(const struct builder *builder, uint32_t node, uint32_t edge, uint32_t n)
{
    const struct route *plan = builder->plan;
    struct route_set planned = plan->sets[plan->row[node][edge]];

    for (uint32_t i = 0; n > 0 && n < planned.n && i < planned.n; i++)
        if (plan->ports[planned.first + i] == builder->scratch[0])
            return true;
    return false;
}

static void fill_column(struct builder *builder, uint32_t edge_switch, uint32_t edge)
{
    const struct graph *graph = builder->graph;

    measure_distances(builder, edge_switch);
    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++) {
        uint32_t n = 0;

        if (builder->route->component[node] != builder->route->component[edge_switch])
            continue;
        for (uint32_t i = 0; node != edge_switch && i < graph_n_ports(graph, node); i++) {
            uint32_t port = graph_port(graph, node, i), peer = graph_port_peer(graph, port);

            if (graph->nodes[peer].is_switch &&
                builder->distance[peer] + 1 == builder->distance[node] && !is_dead(builder, port))
                builder->scratch[n++] = port;
        }
        builder->route->row[node][edge] =
            builder->resilient && is_part_of_plan(builder, node, edge, n)
                ? intern_resilient(builder, node, edge, n)
                : intern_set(builder->route, node, builder->scratch, n);
    }
    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        builder->distance[node] = ROUTE_NONE;
}

static void fill_rows(struct route *route, const uint32_t *edge_of, struct builder *builder)
{
    const struct graph *graph = builder->graph;

    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        route->row[node] = g_new0(uint32_t, route->n_edges[route->component[node]] + 1);
    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        if (edge_of[node] != ROUTE_NONE)
            fill_column(builder, node, edge_of[node]);
}

static void builder_init(struct builder *builder, struct route *route)
{
    const struct graph *graph = route->graph;

    *builder = (struct builder){.route = route,
                                .graph = graph,
                                .distance = g_new(uint32_t, graph->n_nodes + 1),
                                .queue = g_new(uint32_t, graph->n_nodes + 1),
                                .scratch = g_new(uint32_t, 2 * (size_t)graph->n_links + 1)};
    memset(builder->distance, 0xff, graph->n_nodes * sizeof(uint32_t));
    if (!route->known)
        route->known = g_new0(GHashTable *, graph->n_nodes + 1);
}

static void builder_clear(struct builder *builder)
{
    struct route *route = builder->route;

    g_free(builder->distance);
    g_free(builder->queue);
    g_free(builder->scratch);
    if (builder->spread)
        g_array_unref(builder->spread);
    route->sets = (struct route_set *)(void *)route->set_array->data;
    route->ports = (uint32_t *)(void *)route->port_array->data;
}

static void forget_known(struct route *route)
{
    for (uint32_t node = 0; route->known && node < route->graph->n_nodes; node++)
        if (route->known[node])
            g_hash_table_unref(route->known[node]);
    g_clear_pointer(&route->known, g_free);
}

void route_init(struct route *route, const struct graph *graph)
{
    uint32_t n_components;

    *route = (struct route){.graph = graph};
    route->component = g_new(uint32_t, graph->n_nodes + 1);
    route->row = g_new0(uint32_t *, graph->n_nodes + 1);

    struct builder builder;
    struct route_set none = {0, 0};

    route->set_array = g_array_new(FALSE, FALSE, sizeof(struct route_set));
    route->port_array = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_array_append_val(route->set_array, none);
    builder_init(&builder, route);
    find_components(route, builder.queue, &n_components);
    route->n_edges = g_new0(uint32_t, n_components + 1);
    uint32_t *edge_of = number_edges(route);
    fill_rows(route, edge_of, &builder);
    g_free(edge_of);
    builder_clear(&builder);
    forget_known(route);
}

/* A NIC whose link is dead: its switch finds no way, for its own column has none. */
static void update_attach(struct route *route, const struct route *plan, const uint8_t *dead)
{
    for (uint32_t to = 0; to < route->n_attach; to++)
        route->attach[to].switch_node =
            dead[plan->attach[to].egress / 2] ? ROUTE_NONE : plan->attach[to].switch_node;
}

void route_update(struct route *route, const struct route *plan, const uint8_t *dead,
                  const uint32_t *links, uint32_t n, bool resilient)
{
    const struct graph *graph = route->graph;
    g_autofree uint8_t *touched = g_new0(uint8_t, graph->n_nodes + 1); /* by component */
    g_autofree uint8_t *filled = g_new0(uint8_t, graph->n_nodes + 1);
    struct builder builder;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t end = 0; end < 2; end++) {
            uint32_t node = graph_port_node(graph, 2 * links[i] + end);

            if (graph->nodes[node].is_switch)
                touched[route->component[node]] = 1;
        }
    builder_init(&builder, route);
    builder.plan = plan;
    builder.dead = dead;
    builder.resilient = resilient;
    builder.spread = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t to = 0; to < plan->n_attach; to++) {
        const struct route_attach *attach = &plan->attach[to];

        if (attach->switch_node == ROUTE_NONE || filled[attach->switch_node] ||
            !touched[plan->component[attach->switch_node]])
            continue;
        filled[attach->switch_node] = 1;
        fill_column(&builder, attach->switch_node, attach->edge);
    }
    builder_clear(&builder);
    update_attach(route, plan, dead);
}

void route_clear(struct route *route)
{
    for (uint32_t node = 0; route->row && node < route->graph->n_nodes; node++)
        g_free(route->row[node]);
    g_free(route->row);
    g_free(route->attach);
    g_free(route->component);
    g_free(route->n_edges);
    forget_known(route);
    g_array_unref(route->set_array);
    g_array_unref(route->port_array);
    *route = (struct route){0};
}

bool route_reaches(const struct route *route, uint32_t from, uint32_t to)
{
    uint32_t next = graph_port_peer(route->graph, from);
    const struct route_attach *attach = &route->attach[to];

    if (attach->switch_node == ROUTE_NONE)
        return (route->graph->port_list[to] ^ 1) == from;
    return route->graph->nodes[next].is_switch &&
           route->component[next] == route->component[attach->switch_node];
}

uint32_t route_path(const struct route *route, uint32_t from, uint32_t to, uint32_t *path,
                    uint32_t n_max)
{
    const struct route_attach *attach = &route->attach[to];
    uint32_t n = 0, port = from;

    if (!route_reaches(route, from, to))
        return 0;
    for (;;) {
        uint32_t node = graph_port_peer(route->graph, port);

        if (n < n_max)
            path[n] = port;
        n++;
        if (!route->graph->nodes[node].is_switch)
            return n;
        if (node == attach->switch_node) {
            port = attach->egress;
        } else {
            struct route_set set = route_lookup(route, node, to);

            if (set.n == 0)
                return 0;
            port = route->ports[set.first];
        }
    }
}
