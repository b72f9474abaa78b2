/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/graph.h"
#include <assert.h>
#include <string.h>

G_DEFINE_QUARK(weft - graph, graph_error)

void graph_init(struct graph *graph)
{
    *graph = (struct graph){.n_planes = 1};
}

void graph_clear(struct graph *graph)
{
    g_free(graph->nodes);
    g_free(graph->links);
    g_free(graph->first_port);
    g_free(graph->port_list);
    g_free(graph->node_of_id);
    *graph = (struct graph){0};
}

static uint32_t add_node(struct graph *graph, struct graph_node node)
{
    if (graph->n_nodes == graph->nodes_room) {
        graph->nodes_room = graph->nodes_room ? 2 * graph->nodes_room : 64;
        graph->nodes = g_renew(struct graph_node, graph->nodes, graph->nodes_room);
    }
    graph->nodes[graph->n_nodes] = node;
    return graph->n_nodes++;
}

uint32_t graph_add_host(struct graph *graph)
{
    assert(graph->n_hosts == graph->n_nodes);
    graph->n_hosts++;
    return add_node(graph, (struct graph_node){.plane = GRAPH_NO_PLANE});
}

uint32_t graph_add_switch(struct graph *graph, uint8_t tier, uint16_t plane, int64_t latency_ps)
{
    return add_node(graph, (struct graph_node){true, tier, plane, latency_ps});
}

const char *graph_reach_name(enum graph_reach reach)
{
    static const char *const names[GRAPH_N_REACHES] = {"scale_up", "scale_out", "long_distance"};

    return names[reach];
}

uint32_t graph_add_link(struct graph *graph, uint32_t a, uint32_t b, int64_t rate_bps,
                        int64_t delay_ps, uint8_t tier, uint16_t plane)
{
    if (graph->n_links == graph->links_room) {
        graph->links_room = graph->links_room ? 2 * graph->links_room : 64;
        graph->links = g_renew(struct graph_link, graph->links, graph->links_room);
    }
    graph->links[graph->n_links] = (struct graph_link){
        .a = a,
        .b = b,
        .rate_bps = rate_bps,
        .delay_ps = delay_ps,
        .tier = tier,
        .plane = plane,
        .reach = delay_ps >= GRAPH_LONG_DISTANCE_PS ? GRAPH_LONG_DISTANCE : GRAPH_SCALE_OUT};
    if (plane != GRAPH_NO_PLANE && plane >= graph->n_planes)
        graph->n_planes = plane + 1u;
    return graph->n_links++;
}

static gboolean check_link(const struct graph *graph, uint32_t l, GError **error)
{
    const struct graph_link *link = &graph->links[l];
    const char *fault = NULL;

    if (link->a >= graph->n_nodes || link->b >= graph->n_nodes)
        fault = "an end that is no node";
    else if (link->a == link->b)
        fault = "both ends at one node";
    else if (link->rate_bps <= 0)
        fault = "no rate";
    else if (link->delay_ps < 0)
        fault = "a negative delay";
    else if (link->plane >= graph->n_planes)
        fault = "a plane out of range";
    if (!fault)
        return TRUE;
    g_set_error(error, GRAPH_ERROR, 0, "link %u between nodes %u and %u has %s (%u nodes)", l,
                link->a, link->b, fault, graph->n_nodes);
    return FALSE;
}

gboolean graph_finish(struct graph *graph, GError **error)
{
    if (graph->n_links >= INT32_MAX) {
        g_set_error(error, GRAPH_ERROR, 0, "%u links are too many", graph->n_links);
        return FALSE;
    }
    for (uint32_t l = 0; l < graph->n_links; l++)
        if (!check_link(graph, l, error))
            return FALSE;
    g_free(graph->first_port);
    g_free(graph->port_list);
    graph->first_port = g_new0(uint32_t, graph->n_nodes + 1);
    graph->port_list = g_new(uint32_t, 2 * (size_t)graph->n_links + 1);
    for (uint32_t port = 0; port < 2 * graph->n_links; port++)
        graph->first_port[graph_port_node(graph, port) + 1]++;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        graph->first_port[i + 1] += graph->first_port[i];

    uint32_t *next = g_memdup2(graph->first_port, (graph->n_nodes + 1) * sizeof(uint32_t));
    for (uint32_t port = 0; port < 2 * graph->n_links; port++)
        graph->port_list[next[graph_port_node(graph, port)]++] = port;
    g_free(next);
    return TRUE;
}

/* Marks what a breadth-first search from `start` reaches; hosts do not forward. */
static void mark_component(const struct graph *graph, uint32_t start, uint32_t component,
                           uint32_t *component_of, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;

    component_of[start] = component;
    queue[tail++] = start;
    while (head < tail) {
        uint32_t node = queue[head++];

        for (uint32_t i = 0; i < graph_n_ports(graph, node); i++) {
            uint32_t peer = graph_port_peer(graph, graph_port(graph, node, i));

            if (component_of[peer] == 0) {
                component_of[peer] = component;
                queue[tail++] = peer;
            }
        }
    }
}

static void count_components(const struct graph *graph, struct graph_facts *facts)
{
    uint32_t *component_of = g_new0(uint32_t, graph->n_nodes);
    uint32_t *queue = g_new(uint32_t, graph->n_nodes + 1);

    for (uint32_t i = 0; i < graph->n_hosts; i++)
        if (component_of[i] == 0)
            mark_component(graph, i, ++facts->n_components, component_of, queue);
    g_free(component_of);
    g_free(queue);
}

/*
 * A switch is used if it carries hosts, or joins two switches that lead down to different hosts.
 * Counted by peeling: a switch with fewer than two used neighbours is on no path.
 */
static void count_unused(const struct graph *graph, struct graph_facts *facts)
{
    bool *unused = g_new0(bool, graph->n_nodes);
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++) {
            uint32_t first = UINT32_MAX;
            bool joins = false;

            if (unused[node])
                continue;
            for (uint32_t i = 0; i < graph_n_ports(graph, node); i++) {
                uint32_t peer = graph_port_peer(graph, graph_port(graph, node, i));

                if (unused[peer] || peer == first)
                    continue;
                joins |= first != UINT32_MAX;
                first = peer;
            }
            if (!joins) {
                unused[node] = changed = true;
                facts->n_unused_switches++;
            }
        }
    }
    g_free(unused);
}

void graph_describe(const struct graph *graph, struct graph_facts *facts)
{
    double below[8] = {0}, above[8] = {0};

    *facts = (struct graph_facts){.n_switches = graph->n_nodes - graph->n_hosts,
                                  .host_rate_bps_min = INT64_MAX};
    for (uint32_t port = 0; port < 2 * graph->n_links; port++) {
        const struct graph_node *node = &graph->nodes[graph_port_node(graph, port)];
        const struct graph_node *peer = &graph->nodes[graph_port_peer(graph, port)];
        double rate = (double)graph->links[port / 2].rate_bps;
        uint8_t tier = node->tier & 7;

        facts->n_tiers = MAX(facts->n_tiers, node->tier);
        if (peer->tier > node->tier)
            above[tier] += rate;
        else if (peer->tier < node->tier)
            below[tier] += rate;
    }
    for (int tier = 1; tier < 8; tier++)
        facts->oversubscription[tier] = above[tier] > 0 ? below[tier] / above[tier] : 0;
    for (uint32_t host = 0; host < graph->n_hosts; host++) {
        int64_t rate = 0;

        for (uint32_t i = 0; i < graph_n_ports(graph, host); i++)
            rate += graph->links[graph_port(graph, host, i) / 2].rate_bps;
        facts->host_rate_bps_min = MIN(facts->host_rate_bps_min, rate);
        facts->host_rate_bps_max = MAX(facts->host_rate_bps_max, rate);
    }
    count_components(graph, facts);
    count_unused(graph, facts);
}
