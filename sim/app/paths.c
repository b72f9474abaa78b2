/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/paths.h"
#include "models/route.h"
#include "sim/core/units.h"
#include <stdio.h>

#define MOST_LINKS   64
#define MOST_PRINTED 64 /* paths of one NIC port */

struct walk {
    const struct graph *graph;
    const struct route *route;
    uint32_t to; /* destination NIC port */
    uint32_t ports[MOST_LINKS];
    guint n_found;
};

static void print_path(const struct walk *walk, guint n)
{
    const struct graph *graph = walk->graph;
    int64_t delay_ps = 0;

    if (walk->n_found > MOST_PRINTED)
        return;
    printf("  host %u", graph_port_node(graph, walk->ports[0]));
    for (guint i = 0; i < n; i++) {
        const struct graph_link *link = &graph->links[walk->ports[i] / 2];
        uint32_t node = graph_port_peer(graph, walk->ports[i]);
        const struct graph_node *facts = &graph->nodes[node];

        delay_ps += link->delay_ps + (facts->is_switch ? facts->latency_ps : 0);
        if (facts->is_switch)
            printf(" [%u] switch %u (tier %u)", walk->ports[i], node, facts->tier);
        else
            printf(" [%u] host %u", walk->ports[i], node);
    }
    g_autofree char *delay = units_display(UNITS_TIME, (double)delay_ps);

    printf("  %u links, %s of delay and latency\n", n, delay);
}

/* Goes on from directed port `port`, the n-th of the path. */
static void follow(struct walk *walk, uint32_t port, guint n)
{
    const struct route_attach *attach = &walk->route->attach[walk->to];
    uint32_t node = graph_port_peer(walk->graph, port);

    if (n == MOST_LINKS)
        return;
    walk->ports[n] = port;
    if (!walk->graph->nodes[node].is_switch) {
        walk->n_found++;
        print_path(walk, n + 1);
        return;
    }
    if (node == attach->switch_node) {
        follow(walk, attach->egress, n + 1);
        return;
    }
    struct route_set set = route_lookup(walk->route, node, walk->to);

    for (uint32_t i = 0; i < set.n; i++)
        follow(walk, walk->route->ports[set.first + i], n + 1);
}

static void print_nic(const struct route *route, uint32_t src, uint32_t dst, uint32_t nic)
{
    const struct graph *graph = route->graph;
    uint32_t port = graph_port(graph, src, nic);
    struct walk walk = {.graph = graph, .route = route, .to = graph->first_port[dst] + nic};

    printf("plane %u, NIC port %u of both:\n", graph->links[port / 2].plane, nic);
    if (route_reaches(route, port, walk.to))
        follow(&walk, port, 0);
    if (walk.n_found > MOST_PRINTED)
        printf("  ... and %u more\n", walk.n_found - MOST_PRINTED);
    printf("  %u shortest path%s\n", walk.n_found, walk.n_found == 1 ? "" : "s");
}

static gboolean parse(const char *text, const struct graph *graph, uint32_t *src, uint32_t *dst,
                      GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    guint64 host[2] = {0};
    bool fine = g_strv_length(parts) == 2;

    for (int i = 0; fine && i < 2; i++)
        fine = g_ascii_string_to_unsigned(g_strstrip(parts[i]), 10, 0, graph->n_hosts - 1, &host[i],
                                          NULL);
    *src = (uint32_t)host[0];
    *dst = (uint32_t)host[1];
    if (fine && *src != *dst)
        return TRUE;
    g_set_error(error, EXPERIMENT_ERROR, 1,
                "--paths %s: two different hosts are expected, 0 to %u, such as --paths 0 %u", text,
                graph->n_hosts - 1, graph->n_hosts - 1);
    return FALSE;
}

gboolean paths_print(const struct experiment *experiment, const char *text, GError **error)
{
    const struct graph *graph = &experiment->graph;
    struct route route;
    uint32_t src, dst;

    if (!parse(text, graph, &src, &dst, error))
        return FALSE;
    route_init(&route, graph);
    for (uint32_t nic = 0; nic < MIN(graph_n_ports(graph, src), graph_n_ports(graph, dst)); nic++)
        print_nic(&route, src, dst, nic);
    route_clear(&route);
    printf("[n] is directed port n of ports.csv.\nECMP hashes source, destination and UDP source "
           "port: a flow (a queue pair, a path of a "
           "spraying transport)\nkeeps one of them; only route.kind = spray chooses for each "
           "packet.\n");
    return TRUE;
}
