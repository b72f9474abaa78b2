/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/partition.h"
#include "models/node.h"

#define NO_PART UINT32_MAX

/* --- what needs one thread -------------------------------------------------------------------- */

static const char *obstacle(const struct fabric *fabric)
{
    const struct backend_run *run = fabric->run;

    if (fabric->form != &port_fifo && fabric->form != &port_priority)
        return "whoever looks at packets (a capture, explain, trace) sees those of one";
    if (fabric->pfc.lossless && run->series_step_ps > 0)
        return "a series of a fabric with PFC is taken by one"; /* see parallel_stands_still() */
    if (fabric->drops)
        return "a drop list is read by one";
    if (node_list[run->model->host.node] != &node_plain)
        return "nodes of accelerators are played by one";
    return NULL;
}

/* --- which node is of which part -------------------------------------------------------------- */

static uint32_t root_of(uint32_t *parent, uint32_t node)
{
    while (parent[node] != node)
        node = parent[node] = parent[parent[node]];
    return node;
}

/* Sets of hosts and their switches: parent[] leads to each one's first node, a host. */
static void unite_hosts(const struct graph *graph, uint32_t *parent)
{
    for (uint32_t node = 0; node < graph->n_nodes; node++)
        parent[node] = node;
    for (uint32_t i = 0; i < graph->n_links; i++) {
        const struct graph_link *link = &graph->links[i];

        if (graph->nodes[link->a].is_switch && graph->nodes[link->b].is_switch)
            continue;
        uint32_t a = root_of(parent, link->a), b = root_of(parent, link->b);

        parent[MAX(a, b)] = MIN(a, b);
    }
}

/* The sets go to parts in order, each part getting its share of the hosts. */
static uint32_t deal_hosts(struct partition *partition, const struct graph *graph, uint32_t *parent,
                           uint32_t n_most)
{
    uint32_t n_dealt = 0, n_sets = 0, n = 0, last = NO_PART;
    g_autofree uint32_t *sizes = g_new0(uint32_t, graph->n_nodes + 1);

    for (uint32_t host = 0; host < graph->n_hosts; host++)
        n_sets += sizes[root_of(parent, host)]++ == 0;
    n_most = MIN(n_most, n_sets);
    for (uint32_t node = 0; node < graph->n_nodes; node++) {
        if (sizes[node] > 0) { /* the first of a set */
            uint32_t part = (uint32_t)((uint64_t)n_dealt * n_most / graph->n_hosts);

            n += part != last;
            last = part;
            partition->of[node] = n - 1;
            n_dealt += sizes[node];
        }
    }
    for (uint32_t node = 0; node < graph->n_nodes; node++)
        if (sizes[root_of(parent, node)] > 0)
            partition->of[node] = partition->of[root_of(parent, node)];
    return n;
}

/* The part of a switch's neighbours that have one; NO_PART if they differ or none has. */
static uint32_t part_of_neighbours(const struct partition *partition, const struct graph *graph,
                                   uint32_t node)
{
    uint32_t found = NO_PART;

    for (uint32_t i = 0; i < graph_n_ports(graph, node); i++) {
        uint32_t part = partition->of[graph_port_peer(graph, graph_port(graph, node, i))];

        if (part == NO_PART)
            continue;
        if (found != NO_PART && found != part)
            return NO_PART;
        found = part;
    }
    return found;
}

static void deal_switches(struct partition *partition, const struct graph *graph)
{
    uint32_t turn = 0;

    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++) {
        if (partition->of[node] != NO_PART)
            continue;
        partition->of[node] = part_of_neighbours(partition, graph, node);
        if (partition->of[node] == NO_PART)
            partition->of[node] = turn++ % partition->n;
    }
}

/* --- how far apart they are ------------------------------------------------------------------- */

static void find_lookahead(struct partition *partition, const struct fabric *fabric)
{
    const struct graph *graph = fabric->engine.graph;
    int64_t across_ps = EVENT_MOST_STEPS, up_ps = INT64_MAX / 4, down_ps = INT64_MAX / 4;

    for (uint32_t number = 0; number < fabric->n_ports; number++) {
        const struct port *port = &fabric->ports[number];

        if (partition_crosses(partition, graph, number)) {
            across_ps = MIN(across_ps, port->delay_ps);
            if (fabric->pfc.lossless) /* a pause does not wait for the switch's latency */
                across_ps =
                    MIN(across_ps, graph->links[number / 2].delay_ps + fabric->pfc.response_ps);
        }
        if (port->from_host)
            up_ps = MIN(up_ps, port->delay_ps);
        if (!port->peer_is_switch)
            down_ps = MIN(down_ps, port->delay_ps);
    }
    partition->lookahead_ps = MIN(across_ps, up_ps + down_ps);
}

/* --- whether operations wait for others far away ---------------------------------------------- */

static bool follows_at_home(const struct partition *partition, const struct schedule *schedule,
                            uint64_t index)
{
    struct schedule_op op, next_op;
    enum schedule_when when;
    uint64_t next;

    schedule_op(schedule, index, &op);
    for (uint32_t k = 0; (next = schedule_successor(schedule, index, k, &when)) != SCHEDULE_NONE;
         k++) {
        bool there = op.kind == SCHEDULE_MESSAGE && when == SCHEDULE_AT_RECEIVER;
        uint32_t home = schedule->rank_host[there ? op.peer : op.rank];

        schedule_op(schedule, next, &next_op);
        if (partition->of[home] != partition->of[schedule->rank_host[next_op.rank]])
            return false;
    }
    return true;
}

static bool all_follow_at_home(const struct partition *partition, const struct schedule *schedule)
{
    for (uint64_t index = 0; index < schedule->n_ops; index++)
        if (!follows_at_home(partition, schedule, index))
            return false;
    return true;
}

/* ---------------------------------------------------------------------------------------------- */

static const char *divide(struct partition *partition, const struct fabric *fabric, uint32_t n_most)
{
    const struct graph *graph = fabric->engine.graph;
    g_autofree uint32_t *parent = g_new(uint32_t, graph->n_nodes + 1);

    partition->of = g_new(uint32_t, graph->n_nodes + 1);
    for (uint32_t node = 0; node < graph->n_nodes; node++)
        partition->of[node] = NO_PART;
    unite_hosts(graph, parent);
    partition->n = deal_hosts(partition, graph, parent, n_most);
    if (partition->n < 2)
        return "all hosts hang on the same switches";
    deal_switches(partition, graph);
    find_lookahead(partition, fabric);
    if (partition->lookahead_ps <= 0)
        return "links between switches have no delay";
    if (!all_follow_at_home(partition, fabric->run->schedule))
        return "operations wait at once for operations of far hosts";
    return NULL;
}

void partition_make(struct partition *partition, const struct fabric *fabric, uint32_t n_most,
                    const char **why)
{
    *partition = (struct partition){.n = 1};
    *why = obstacle(fabric);
    if (!*why)
        *why = divide(partition, fabric, n_most);
    if (*why)
        partition->n = 1;
}

void partition_clear(struct partition *partition)
{
    g_clear_pointer(&partition->of, g_free);
}
