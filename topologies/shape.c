/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "topologies/shape.h"

/* --- tiers ------------------------------------------------------------------------------------ */

/* Breadth first from all hosts together. */
void shape_node_tiers(struct graph *graph)
{
    g_autofree uint32_t *queue = g_new(uint32_t, graph->n_nodes);
    g_autofree bool *seen = g_new0(bool, graph->n_nodes);
    uint32_t tail = graph->n_hosts;

    for (uint32_t node = 0; node < graph->n_nodes; node++)
        graph->nodes[node].tier = node < graph->n_hosts ? 0 : SHAPE_MOST_TIER;
    for (uint32_t host = 0; host < graph->n_hosts; host++) {
        queue[host] = host;
        seen[host] = true;
    }
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t node = queue[head];

        for (uint32_t i = 0; i < graph_n_ports(graph, node); i++) {
            uint32_t peer = graph_port_peer(graph, graph_port(graph, node, i));

            if (seen[peer])
                continue;
            seen[peer] = true;
            graph->nodes[peer].tier = (uint8_t)MIN(graph->nodes[node].tier + 1, SHAPE_MOST_TIER);
            queue[tail++] = peer;
        }
    }
}

void shape_link_tiers(struct graph *graph)
{
    for (uint32_t l = 0; l < graph->n_links; l++) {
        struct graph_link *link = &graph->links[l];
        int low = MIN(graph->nodes[link->a].tier, graph->nodes[link->b].tier);

        link->tier = (uint8_t)MIN(low + 1, SHAPE_MOST_TIER);
    }
}

/* --- planes ----------------------------------------------------------------------------------- */

/* Numbers the sets of switches that reach each other, from 0; hosts have UINT32_MAX. */
static uint32_t find_sets(const struct graph *graph, uint32_t *set_of)
{
    g_autofree uint32_t *stack = g_new(uint32_t, graph->n_nodes + 1);
    uint32_t n_sets = 0, depth = 0;

    for (uint32_t node = 0; node < graph->n_nodes; node++)
        set_of[node] = UINT32_MAX;
    for (uint32_t first = graph->n_hosts; first < graph->n_nodes; first++) {
        if (set_of[first] != UINT32_MAX)
            continue;
        set_of[first] = n_sets;
        stack[depth++] = first;
        while (depth > 0) {
            uint32_t node = stack[--depth];

            for (uint32_t i = 0; i < graph_n_ports(graph, node); i++) {
                uint32_t peer = graph_port_peer(graph, graph_port(graph, node, i));

                if (peer < graph->n_hosts || set_of[peer] != UINT32_MAX)
                    continue;
                set_of[peer] = n_sets;
                stack[depth++] = peer;
            }
        }
        n_sets++;
    }
    return n_sets;
}

/* Gives the sets of a host, in the order of its ports, the planes 0, 1, ...; false if one has
 * another plane already or there are too many. */
static bool take_host(const struct graph *graph, uint32_t host, const uint32_t *set_of,
                      uint32_t *plane_of)
{
    uint32_t seen[SHAPE_MOST_PLANES], n_seen = 0;

    for (uint32_t i = 0; i < graph_n_ports(graph, host); i++) {
        uint32_t set = set_of[graph_port_peer(graph, graph_port(graph, host, i))], k = 0;

        while (k < n_seen && seen[k] != set)
            k++;
        if (k < n_seen)
            continue;
        if (set == UINT32_MAX || n_seen == SHAPE_MOST_PLANES)
            return false;
        if (plane_of[set] != UINT32_MAX && plane_of[set] != n_seen)
            return false;
        seen[n_seen] = set;
        plane_of[set] = n_seen++;
    }
    return true;
}

void shape_link_planes(struct graph *graph)
{
    g_autofree uint32_t *set_of = g_new(uint32_t, graph->n_nodes + 1);
    uint32_t n_sets = find_sets(graph, set_of);
    g_autofree uint32_t *plane_of = g_new(uint32_t, n_sets + 1);
    bool fits = true;

    for (uint32_t set = 0; set < n_sets; set++)
        plane_of[set] = UINT32_MAX;
    for (uint32_t host = 0; fits && host < graph->n_hosts; host++)
        fits = take_host(graph, host, set_of, plane_of);
    graph->n_planes = 1;
    for (uint32_t l = 0; l < graph->n_links; l++) {
        struct graph_link *link = &graph->links[l];
        uint32_t set = set_of[set_of[link->a] == UINT32_MAX ? link->b : link->a];

        link->plane =
            fits && set != UINT32_MAX && plane_of[set] != UINT32_MAX ? (uint16_t)plane_of[set] : 0;
        graph->n_planes = MAX(graph->n_planes, link->plane + 1u);
    }
}

void shape_switch_planes(struct graph *graph)
{
    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++) {
        uint32_t n_ports = graph_n_ports(graph, node);
        uint16_t plane =
            n_ports > 0 ? graph->links[graph_port(graph, node, 0) / 2].plane : GRAPH_NO_PLANE;

        for (uint32_t i = 0; i < n_ports; i++)
            if (graph->links[graph_port(graph, node, i) / 2].plane != plane)
                plane = GRAPH_NO_PLANE;
        graph->nodes[node].plane = plane;
    }
}

/* --- notes ------------------------------------------------------------------------------------ */

void shape_note(const struct graph *graph, const char *kind, const char *path, struct build *build)
{
    uint32_t n_switches[SHAPE_MOST_TIER + 1] = {0};
    g_autoptr(GString) tiers = g_string_new(NULL);

    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        n_switches[graph->nodes[node].tier]++;
    for (int tier = 1; tier <= SHAPE_MOST_TIER; tier++)
        if (n_switches[tier])
            g_string_append_printf(tiers, ", %u of tier %d", n_switches[tier], tier);
    build_note(build, "%s %s: %u nodes = %u hosts + %u switches%s; %u links; %u plane%s", kind,
               path, graph->n_nodes, graph->n_hosts, graph->n_nodes - graph->n_hosts, tiers->str,
               graph->n_links, graph->n_planes, graph->n_planes == 1 ? "" : "s");
}
