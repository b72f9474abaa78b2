/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/ideal.h"
#include "models/backend.h"
#include "sim/core/units.h"

bool ideal_path_find(const struct route *route, uint32_t from, uint32_t to, struct ideal_path *path)
{
    uint32_t ports[IDEAL_MAX_LINKS];
    const struct graph *graph = route->graph;

    *path = (struct ideal_path){.n_links = route_path(route, from, to, ports, IDEAL_MAX_LINKS)};
    if (path->n_links == 0 || path->n_links > IDEAL_MAX_LINKS)
        return false;
    for (uint32_t i = 0; i < path->n_links; i++) {
        const struct graph_node *end = &graph->nodes[graph_port_peer(graph, ports[i])];

        path->rate_bps[i] = graph->links[ports[i] / 2].rate_bps;
        path->delay_ps += graph->links[ports[i] / 2].delay_ps;
        path->reach = MAX(path->reach, graph->links[ports[i] / 2].reach);
        path->delay_ps += end->is_switch ? end->latency_ps : 0;
    }
    return true;
}

int64_t ideal_path_ps(const struct ideal_path *path, int64_t n_packets, int64_t packet_bytes,
                      int64_t last_bytes)
{
    int64_t full = 0, slowest = 0, rest = 0, most = 0;

    for (uint32_t i = 0; i < path->n_links; i++)
        rest += units_transmission_ps(last_bytes, path->rate_bps[i]);
    if (n_packets <= 1)
        return path->delay_ps + rest;
    for (uint32_t i = 0; i < path->n_links; i++) {
        int64_t t = units_transmission_ps(packet_bytes, path->rate_bps[i]);

        full += t;
        slowest = MAX(slowest, t);
        most = MAX(most, full + (n_packets - 2) * slowest + rest);
        rest -= units_transmission_ps(last_bytes, path->rate_bps[i]);
    }
    return path->delay_ps + most;
}

static bool all_equal(const struct ideal_path *paths, uint32_t n_paths)
{
    for (uint32_t p = 1; p < n_paths; p++) {
        if (paths[p].n_links != paths[0].n_links || paths[p].delay_ps != paths[0].delay_ps)
            return false;
        for (uint32_t i = 0; i < paths[0].n_links; i++)
            if (paths[p].rate_bps[i] != paths[0].rate_bps[i])
                return false;
    }
    return true;
}

/* Full packets that can be over by `end_ps`. */
static int64_t n_done_by(const struct ideal_path *path, int64_t packet_bytes, int64_t end_ps)
{
    int64_t first = ideal_path_ps(path, 1, packet_bytes, packet_bytes);
    int64_t next = ideal_path_ps(path, 2, packet_bytes, packet_bytes) - first;

    return end_ps < first ? 0 : 1 + (end_ps - first) / MAX(next, 1);
}

/* Unequal paths: the least time in which all but the short packet can be over. */
static int64_t unequal_ps(const struct ideal_path *paths, uint32_t n_paths, int64_t n_packets,
                          int64_t packet_bytes, int64_t last_bytes)
{
    int64_t low = INT64_MAX, high = 0;

    for (uint32_t p = 0; p < n_paths; p++) {
        low = MIN(low, ideal_path_ps(&paths[p], 1, last_bytes, last_bytes));
        high = MAX(high, ideal_path_ps(&paths[p], n_packets, packet_bytes, last_bytes));
    }
    while (low < high) {
        int64_t middle = low + (high - low) / 2, n = 0;

        for (uint32_t p = 0; p < n_paths; p++)
            n += n_done_by(&paths[p], packet_bytes, middle);
        if (n >= n_packets - 1)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t ideal_spread_ps(const struct ideal_path *paths, uint32_t n_paths, int64_t n_packets,
                        int64_t packet_bytes, int64_t last_bytes)
{
    int64_t most, n_at_most;

    if (n_paths == 1)
        return ideal_path_ps(paths, n_packets, packet_bytes, last_bytes);
    if (!all_equal(paths, n_paths))
        return unequal_ps(paths, n_paths, n_packets, packet_bytes, last_bytes);
    most = (n_packets + n_paths - 1) / n_paths;
    n_at_most = n_packets - (most - 1) * n_paths; /* paths that must carry `most` */
    return ideal_path_ps(paths, most, packet_bytes, n_at_most > 1 ? packet_bytes : last_bytes);
}

int64_t ideal_round_trip_ps(const struct route *route, uint32_t src, uint32_t dst, uint32_t nic,
                            const struct transport_common *common)
{
    const struct graph *graph = route->graph;
    int64_t packet = common->payload + common->header;
    struct ideal_path there, back;

    if (!ideal_path_find(route, graph_port(graph, src, nic), graph->first_port[dst] + nic,
                         &there) ||
        !ideal_path_find(route, graph_port(graph, dst, nic), graph->first_port[src] + nic, &back))
        return SINK_NEVER;
    return ideal_path_ps(&there, 1, packet, packet) +
           ideal_path_ps(&back, 1, common->ack_bytes, common->ack_bytes);
}

int64_t ideal_message_ps(const struct graph *graph, uint32_t src, uint32_t dst, int64_t bytes,
                         const struct transport_profile *profile)
{
    const struct transport_common *common = profile->config;
    int64_t n = transport_n_packets(bytes, common->payload), ps = -1;
    uint32_t n_nics = MIN(graph_n_ports(graph, src), graph_n_ports(graph, dst)), n_paths = 0;
    struct ideal_path *paths = g_new(struct ideal_path, n_nics + 1);
    struct route route;

    route_init(&route, graph);
    for (uint32_t nic = 0; nic < n_nics; nic++)
        n_paths += ideal_path_find(&route, graph_port(graph, src, nic),
                                   graph->first_port[dst] + nic, &paths[n_paths]);
    if (n_paths > 0)
        ps = ideal_spread_ps(paths, n_paths, n, common->payload + common->header,
                             bytes - (n - 1) * common->payload + common->header);
    route_clear(&route);
    g_free(paths);
    return ps;
}
