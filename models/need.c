/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/need.h"
#include "models/fabric.h"
#include "models/host.h"
#include "models/player.h"

/*
 * Measured with `make bench` (docs/PERFORMANCE.md), where not said otherwise on a 2-core Xeon VM.
 * HOP_NS is for a run that fits the cache; each doubling of memory beyond CACHE_BYTES adds
 * DOUBLING_NS.
 */
#define PROGRAM_BYTES    (8.8 * 1048576) /* code, libraries, parameters, the calendar */
#define ALLOCATION_BYTES 16              /* what malloc() adds, about */
#define HASH_BYTES       64              /* of a connection in the player's table */
#define EVENT_BYTES      40              /* of a pending event in the calendar */
#define RING_SLOTS       1.5             /* rings grow by doubling: slots for each one used */
#define CACHE_BYTES      (4.0 * 1048576)
#define RESULT_BYTES     10   /* completion times, in an array that grows by doubling */
#define FLOW_NS          4000 /* a message from its posting to its row */
#define HOP_NS           140
#define DOUBLING_NS      60
#define PAGE_NS_BYTE     0.3 /* to get memory from the system */
#define ROUTE_STEP_NS    2.5 /* a port looked at for a row of the routing tables */

/* Slots that the wire of a link fills, rounded up as rings grow. */
static double wire_slots(const struct graph_link *link, double frame_bytes)
{
    double in_flight = 2 + (double)link->delay_ps * (double)link->rate_bps / 8e12 / frame_bytes;

    return (double)transport_ring(4, (int64_t)in_flight);
}

static double port_bytes(const struct backend_run *run, double busy)
{
    const struct graph *graph = run->graph;
    double frame_bytes = (double)backend_frame_bytes(run), slots = 0;

    for (uint32_t link = 0; link < graph->n_links; link++)
        slots += 2 * wire_slots(&graph->links[link], frame_bytes);
    return 2.0 * graph->n_links *
               ((double)(sizeof(struct port) + fabric_form(run)->bytes) +
                busy * (ALLOCATION_BYTES + EVENT_BYTES)) +
           busy * slots * sizeof(struct wire_slot);
}

static double route_bytes(const struct route *route)
{
    const struct graph *graph = route->graph;
    double bytes = (double)route->n_attach * sizeof(struct route_attach);

    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        bytes += (double)route->n_edges[route->component[node]] *
                     (sizeof(uint32_t) + sizeof(struct route_set)) +
                 sizeof(struct switch_state) + ALLOCATION_BYTES;
    return bytes;
}

/* Each edge switch looks at all ports of its component, twice. */
static double route_steps(const struct route *route)
{
    const struct graph *graph = route->graph;
    double steps = 0;

    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        steps += 2.0 * graph_n_ports(graph, node) * route->n_edges[route->component[node]];
    return steps;
}

void need_estimate(struct need *need, const struct backend_run *run, const struct route *route,
                   const struct need_load *load)
{
    const struct graph *graph = run->graph;

    *need = (struct need){.program = PROGRAM_BYTES};
    need->graph = (double)graph->n_links * (sizeof(struct graph_link) + 2 * sizeof(uint32_t)) +
                  (double)graph->n_nodes * (sizeof(struct graph_node) + sizeof(uint32_t));
    need->schedule = (double)schedule_bytes(run->schedule) + (double)run->schedule->n_ops / 8;
    need->hosts = (double)graph->n_hosts * (sizeof(struct host) + ALLOCATION_BYTES) +
                  (double)(route->n_attach + graph->n_hosts) * sizeof(struct host_nic);
    need->ports = port_bytes(run, load->busy_hosts);
    need->routes = route_bytes(route);
    need->connections =
        load->connection_bytes + load->n_connections * (4 * ALLOCATION_BYTES + HASH_BYTES);
    need->messages =
        load->n_messages * (double)(player_message_bytes(graph->n_planes) + ALLOCATION_BYTES);
    need->packets =
        load->n_packets * (sizeof(struct packet) + RING_SLOTS * sizeof(struct wire_slot));
    need->results = load->n_flows * RESULT_BYTES;
    need->bytes = need->program + need->graph + need->schedule + need->hosts + need->ports +
                  need->routes + need->connections + need->messages + need->packets + need->results;
    need->hop_ns = HOP_NS;
    for (double bytes = CACHE_BYTES; bytes < need->bytes; bytes *= 2)
        need->hop_ns += DOUBLING_NS * MIN(1, need->bytes / bytes - 1);
    need->set_up_s =
        (need->bytes * PAGE_NS_BYTE + route_steps(route) * ROUTE_STEP_NS) / 1e9 + 0.005;
    need->cpu_s = need->set_up_s + (load->work * need->hop_ns + load->n_flows * FLOW_NS) / 1e9;
}
