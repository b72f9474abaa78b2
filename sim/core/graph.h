/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The graph contract: who is wired to whom. Plain data, built by a topology, checked here, and read
 * by the backends; it knows nothing of queues, routes or transports.
 *
 * Nodes: hosts first, numbered 0 .. n_hosts-1, then switches. A link is a full-duplex cable; link l
 * has two directed ports, 2l (at end a, sending to b) and 2l+1 (at end b, sending to a), so that
 * the other direction of port p is p ^ 1. The ports of a node are listed in the order of its links.
 */
#ifndef WEFT_SIM_CORE_GRAPH_H
#define WEFT_SIM_CORE_GRAPH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define GRAPH_NO_PLANE UINT16_MAX

struct graph_node {
    bool is_switch;
    uint8_t tier;       /* 0 host, 1 leaf, 2, 3; 1 where a topology has no tiers */
    uint16_t plane;     /* of a switch; GRAPH_NO_PLANE for a host or where it has no meaning */
    int64_t latency_ps; /* of a switch, from last bit in to first bit out on an idle port */
};

/* Which kind of network a link is part of; of a path: the farthest of its links. */
enum graph_reach { GRAPH_SCALE_UP, GRAPH_SCALE_OUT, GRAPH_LONG_DISTANCE, GRAPH_N_REACHES };

/* A link of at least this delay is long distance: 10 km of fibre, more than a campus (our choice)
 */
#define GRAPH_LONG_DISTANCE_PS INT64_C(50000000)

struct graph_link {
    uint32_t a, b; /* nodes; the lower tier is a, by custom */
    int64_t rate_bps;
    int64_t delay_ps;
    uint8_t tier;   /* 1 host links, 2 leaf to spine, 3 spine to core */
    uint8_t reach;  /* enum graph_reach; by its delay, unless the builder says scale-up */
    uint16_t plane; /* 0 .. n_planes-1 */
    int64_t queue_bytes_a, queue_bytes_b; /* limit asked for by a file; 0: as the scenario says */
    int64_t loss_ppt; /* of a packet, in each direction, that a file asks for; beside [loss] */
};

struct graph {
    uint32_t n_nodes, n_hosts, n_links, n_planes;
    /* the first so many planes are a network of their own that joins neighbours (scale-up), the
     * others the one that joins all (scale-out); 0: one network */
    uint32_t n_scale_up_planes;
    struct graph_node *nodes;
    struct graph_link *links;
    /* filled by graph_finish(): ports of node i are port_list[first_port[i] .. first_port[i+1]-1]
     */
    uint32_t *first_port;
    uint32_t *port_list;
    /* numbers that the file of another tool gives its nodes; NULL: it had none of its own */
    uint32_t *node_of_id;
    uint32_t n_ids;
    /* room, private to graph.c */
    uint32_t nodes_room, links_room;
};

#define GRAPH_ERROR graph_error_quark()
GQuark graph_error_quark(void);

void graph_init(struct graph *graph);
void graph_clear(struct graph *graph);

/* Hosts come before any switch. Returns the node's number. */
uint32_t graph_add_host(struct graph *graph);
uint32_t graph_add_switch(struct graph *graph, uint8_t tier, uint16_t plane, int64_t latency_ps);

const char *graph_reach_name(enum graph_reach reach); /* "scale_up", ... */

/* Returns the link's number; queue limits are 0 and may be set afterwards, as may its reach. */
uint32_t graph_add_link(struct graph *graph, uint32_t a, uint32_t b, int64_t rate_bps,
                        int64_t delay_ps, uint8_t tier, uint16_t plane);

/* Lists the ports of each node and checks ends, rates, delays and planes; error names the link. */
gboolean graph_finish(struct graph *graph, GError **error);

static inline uint32_t graph_port_node(const struct graph *graph, uint32_t port)
{
    const struct graph_link *link = &graph->links[port / 2];

    return port & 1 ? link->b : link->a;
}

static inline uint32_t graph_port_peer(const struct graph *graph, uint32_t port)
{
    return graph_port_node(graph, port ^ 1);
}

static inline uint32_t graph_n_ports(const struct graph *graph, uint32_t node)
{
    return graph->first_port[node + 1] - graph->first_port[node];
}

/* Port number `index` of `node`. */
static inline uint32_t graph_port(const struct graph *graph, uint32_t node, uint32_t index)
{
    return graph->port_list[graph->first_port[node] + index];
}

/* What a reader of the graph wants to know, for `weft check`. */
struct graph_facts {
    uint32_t n_switches;
    uint32_t n_tiers;
    uint32_t n_unused_switches; /* on no shortest path between two hosts */
    uint32_t n_components;      /* sets of hosts that can reach each other; 1 is healthy */
    double oversubscription[8]; /* [t]: capacity below / above switches of tier t; 0 at the top */
    int64_t host_rate_bps_min, host_rate_bps_max; /* sum over a host's ports */
};

void graph_describe(const struct graph *graph, struct graph_facts *facts);

#endif
