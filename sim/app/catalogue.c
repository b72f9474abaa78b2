/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/catalogue.h"
#include "models/cc.h"
#include "models/fabric.h"
#include "models/node.h"
#include "models/queue.h"
#include "sim/app/formats.h"
#include "sim/app/scenario.h"
#include "sim/app/settings_ns3.h"

/* A function that hands out number `index` of a list that ends with NULL. */
#define CATALOGUE_AT(function_, type_, list_)                                                      \
    static bool function_(int index, struct kind *kind)                                            \
    {                                                                                              \
        const type_ *ops = list_[index];                                                           \
                                                                                                   \
        if (ops)                                                                                   \
            *kind = (struct kind){.name = ops->name, .summary = ops->summary, .ops = ops};         \
        return ops != NULL;                                                                        \
    }

CATALOGUE_AT(transport_at, struct transport_ops, transport_list)
CATALOGUE_AT(topology_at, struct topology_ops, topology_list)
CATALOGUE_AT(workload_at, struct workload_ops, workload_list)
CATALOGUE_AT(queue_at, struct queue_ops, queue_list)
CATALOGUE_AT(route_at, struct route_ops, route_list)
CATALOGUE_AT(node_at, struct node_ops, node_list)
CATALOGUE_AT(cc_at, struct cc_ops, cc_list)
CATALOGUE_AT(backend_at, struct backend_ops, scenario_backends)

static bool format_at(int index, struct kind *kind)
{
    const struct format *format = &formats[index];

    if (format->name)
        *kind = (struct kind){.name = format->name, .summary = format->summary};
    return format->name != NULL;
}

static bool setting_at(int index, struct kind *kind)
{
    *kind = (struct kind){0};
    return settings_ns3_at(index, &kind->name, &kind->summary);
}

const struct catalogue catalogue_list[] = {
    {"transports", "transport.name", transport_at},
    {"topologies", "topology.kind", topology_at},
    {"workloads", "workload.kind", workload_at},
    {"queues", "queue.kind", queue_at},
    {"routes", "route.kind", route_at},
    {"nodes", "host.node", node_at},
    {"congestion controls", "transport.cc", cc_at},
    {"backends", "run.backend", backend_at},
    {"formats", "weft import FILE, --topology FILE, --workload FILE", format_at},
    {"settings", "keys of a configuration of the ns-3 family: weft run CONFIG", setting_at},
    {NULL, NULL, NULL},
};
