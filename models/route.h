/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routing: for each switch and each edge switch (one that carries hosts), the set of ports on
 * shortest paths. State grows with switches x edge switches of a plane, not with hosts squared.
 * A destination is a host's NIC port, named by its index in graph.port_list.
 *
 * Links may be taken out of service: route_update() gives every switch the shortest paths that are
 * left. They may lead down and up again, where nothing shorter is left. A switch sends nothing
 * towards a NIC whose link is out of service.
 */
#ifndef WEFT_MODELS_ROUTE_H
#define WEFT_MODELS_ROUTE_H

#include "sim/core/graph.h"
#include <stdbool.h>
#include <stdint.h>

#define ROUTE_NONE UINT32_MAX

struct route_set {
    uint32_t first, n; /* ports sets[first .. first + n - 1]; n = 0: unreachable */
};

struct route_attach {     /* of a NIC port as destination */
    uint32_t switch_node; /* ROUTE_NONE: the NIC is wired to a host */
    uint32_t egress;      /* the switch's port towards the NIC */
    uint32_t edge;        /* the switch's number among the edge switches of its component */
};

struct route {
    const struct graph *graph;
    struct route_attach *attach; /* by index in graph.port_list; hosts come first in it */
    uint32_t n_attach;
    uint32_t **row;      /* [node][edge]: index into sets; NULL for hosts */
    uint32_t *component; /* [node]; switches that reach each other share one */
    uint32_t *n_edges;   /* [component] */
    struct route_set *sets;
    uint32_t *ports;
    /* private */
    GArray *set_array, *port_array; /* sets and ports are theirs */
    GHashTable **known;             /* by node, for route_update(): GBytes of ports -> set number */
};

void route_init(struct route *route, const struct graph *graph);
void route_clear(struct route *route);

/*
 * Shortest paths without the links that are `dead` (a byte each), in the components of switches to
 * which `links` (n of them) belong; elsewhere nothing changes. `plan` is the same route with all
 * links alive. resilient: as long as planned ports are left, a choice by hash that falls on one of
 * them stays as planned, and the choices of dead ones are spread evenly over those that are left.
 */
void route_update(struct route *route, const struct route *plan, const uint8_t *dead,
                  const uint32_t *links, uint32_t n, bool resilient);

/* The equal-cost ports of `node` towards destination `to`; an empty set if there is no way. */
static inline struct route_set route_lookup(const struct route *route, uint32_t node, uint32_t to)
{
    const struct route_attach *attach = &route->attach[to];

    return route->sets[route->row[node][attach->edge]];
}

/* True if a packet that leaves through directed port `from` (a host's) can reach `to`. */
bool route_reaches(const struct route *route, uint32_t from, uint32_t to);

/*
 * One shortest path as directed ports, from the NIC port `from` to destination `to`; at most
 * `n_max` ports are written. Returns the number of links, 0 if there is no way.
 */
uint32_t route_path(const struct route *route, uint32_t from, uint32_t to, uint32_t *path,
                    uint32_t n_max);

#endif
