/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/route.h"
#include <string.h>

struct builder {
    struct route *route;
    const struct graph *graph;
    uint32_t *distance; /* of each node from the edge switch at hand */
    uint32_t *queue;
    GArray *sets, *ports;
    GHashTable **known; /* by node: GBytes of ports -> set number */
    uint32_t *scratch;
};

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
            uint32_t peer = graph_port_peer(graph, graph_port(graph, node, i));

            if (graph->nodes[peer].is_switch && builder->distance[peer] == ROUTE_NONE) {
                builder->distance[peer] = builder->distance[node] + 1;
                builder->queue[tail++] = peer;
            }
        }
    }
}

/* The number of the set with these ports, made if the node has none like it. */
static uint32_t intern_set(struct builder *builder, uint32_t node, uint32_t n)
{
    GBytes *key = g_bytes_new(builder->scratch, n * sizeof(uint32_t));
    gpointer found;

    if (!builder->known[node])
        builder->known[node] =
            g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    if (g_hash_table_lookup_extended(builder->known[node], key, NULL, &found)) {
        g_bytes_unref(key);
        return GPOINTER_TO_UINT(found);
    }
    struct route_set set = {builder->ports->len, n};

    g_array_append_vals(builder->ports, builder->scratch, n);
    g_array_append_val(builder->sets, set);
    g_hash_table_insert(builder->known[node], key, GUINT_TO_POINTER(builder->sets->len - 1));
    return builder->sets->len - 1;
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
                builder->distance[peer] + 1 == builder->distance[node])
                builder->scratch[n++] = port;
        }
        builder->route->row[node][edge] = intern_set(builder, node, n);
    }
    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        builder->distance[node] = ROUTE_NONE;
}

static void fill_rows(struct builder *builder, const uint32_t *edge_of)
{
    struct route *route = builder->route;
    const struct graph *graph = builder->graph;

    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        route->row[node] = g_new0(uint32_t, route->n_edges[route->component[node]] + 1);
    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        builder->distance[node] = ROUTE_NONE;
    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        if (edge_of[node] != ROUTE_NONE)
            fill_column(builder, node, edge_of[node]);
}

void route_init(struct route *route, const struct graph *graph)
{
    uint32_t n_components;

    *route = (struct route){.graph = graph};
    route->component = g_new(uint32_t, graph->n_nodes + 1);
    route->row = g_new0(uint32_t *, graph->n_nodes + 1);

    struct builder builder = {.route = route,
                              .graph = graph,
                              .distance = g_new(uint32_t, graph->n_nodes + 1),
                              .queue = g_new(uint32_t, graph->n_nodes + 1),
                              .sets = g_array_new(FALSE, FALSE, sizeof(struct route_set)),
                              .ports = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                              .known = g_new0(GHashTable *, graph->n_nodes + 1),
                              .scratch = g_new(uint32_t, 2 * (size_t)graph->n_links + 1)};
    struct route_set none = {0, 0};

    g_array_append_val(builder.sets, none);
    find_components(route, builder.queue, &n_components);
    route->n_edges = g_new0(uint32_t, n_components + 1);
    uint32_t *edge_of = number_edges(route);
    fill_rows(&builder, edge_of);
    g_free(edge_of);
    g_free(builder.distance);
    g_free(builder.queue);
    g_free(builder.scratch);
    for (uint32_t node = 0; node < graph->n_nodes; node++)
        if (builder.known[node])
            g_hash_table_unref(builder.known[node]);
    g_free(builder.known);
    route->sets = (struct route_set *)(void *)g_array_free(builder.sets, FALSE);
    route->ports = (uint32_t *)(void *)g_array_free(builder.ports, FALSE);
}

void route_clear(struct route *route)
{
    for (uint32_t node = 0; route->row && node < route->graph->n_nodes; node++)
        g_free(route->row[node]);
    g_free(route->row);
    g_free(route->attach);
    g_free(route->component);
    g_free(route->n_edges);
    g_free(route->sets);
    g_free(route->ports);
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
