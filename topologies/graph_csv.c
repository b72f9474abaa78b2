/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any graph, from a CSV file with one link a row and a header row:
 *
 *     a,b,rate,delay                    needed
 *     plane,tier,latency,loss,queue_a,queue_b    optional, also row by row (empty: not said)
 *
 * a and b are the ends, the lower one first: hosts h0, h1 ... and switches s0, s1 ..., each
 * numbered without gaps. plane: from 0, default 0. tier: of the link, 1 to 7; by default 1 at a
 * host, 2 from a switch with hosts to one without or to its like, and so on up. latency: of the
 * switch b; those of which no row says it have switch_latency. loss: of a packet on this link, in
 * each direction, beside what [loss] says. queue_a, queue_b: bytes that may wait at either end,
 * where queue.limit shall not hold. Rows may repeat a pair: parallel links. The ports of a node are
 * in the order of its rows.
 *
 * A switch's tier is its distance from the nearest host. A switch is in the plane of its links, in
 * none if they differ. That all hosts reach each other is not asked for here.
 * Source: our choice.
 */
#include "sim/core/table.h"
#include "topologies/shape.h"
#include "topologies/topology.h"
#include <string.h>

#define MOST_NUMBER 1048575
#define NOT_SAID    (-1)

struct graph_config {
    char *file;
    int64_t switch_latency;
};

static const struct param params[] = {
    PARAM(TEXT, struct graph_config, file, "", NULL, NULL, NULL,
          "CSV file of links: a,b,rate,delay and optionally plane,tier,latency,loss,queue_a,"
          "queue_b.",
          "our choice: no default can be meant"),
    PARAM(TIME, struct graph_config, switch_latency, "600ns", "0ns", "1s", NULL,
          "Latency of the switches of which the file says none.",
          "SOURCES.md 5: Tomahawk 5, secondary source"),
    PARAM_END};

enum column { A, B, RATE, DELAY, PLANE, TIER, LATENCY, LOSS, QUEUE_A, QUEUE_B, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {
    "a", "b", "rate", "delay", "plane", "tier", "latency", "loss", "queue_a", "queue_b"};

struct node {
    bool is_switch;
    uint32_t number;
};

struct row {
    struct node a, b;
    int64_t rate_bps, delay_ps, plane, tier, latency_ps, loss_ppt, queue_a,
        queue_b; /* tier, latency: or NOT_SAID */
};

struct reading {
    const struct table *table;
    int column_of[N_COLUMNS]; /* -1: not there */
    struct row *rows;
    uint32_t n_rows, n_hosts, n_switches;
};

/* --- reading rows ----------------------------------------------------------------------------- */

static gboolean find_columns(struct reading *reading, const char *path, GError **error)
{
    uint32_t needed;

    for (uint32_t c = 0; c < table_n_columns(reading->table); c++) {
        const char *name = table_column_name(reading->table, c);
        bool known = false;

        for (int i = 0; i < N_COLUMNS; i++)
            known |= strcmp(name, column_names[i]) == 0;
        if (!known) {
            const char *near = param_nearest(name, column_names, N_COLUMNS);

            g_set_error(error, BUILD_ERROR, 0,
                        "%s:1: unknown column '%s'%s%s%s; the columns are "
                        "a,b,rate,delay,plane,tier,latency,loss,queue_a,queue_b",
                        path, name, near ? ", is '" : "", near ? near : "", near ? "' meant?" : "");
            return FALSE;
        }
    }
    for (int i = 0; i < N_COLUMNS; i++) {
        reading->column_of[i] = table_column(reading->table, column_names[i]);
        if (i <= DELAY && !table_need_column(reading->table, column_names[i], &needed, error))
            return FALSE;
    }
    return TRUE;
}

/* The field, or NULL where the file does not have it. */
static const char *field(const struct reading *reading, uint32_t row, enum column column)
{
    int at = reading->column_of[column];
    const char *text = at < 0 ? "" : table_field(reading->table, row, (uint32_t)at);

    return *text || column <= DELAY ? text : NULL;
}

static gboolean take_node(struct reading *reading, uint32_t row, enum column column,
                          struct node *node, GError **error)
{
    const char *text = field(reading, row, column);
    gint64 number = -1;
    char *end = NULL;

    if ((text[0] == 'h' || text[0] == 's') && g_ascii_isdigit(text[1]))
        number = g_ascii_strtoll(text + 1, &end, 10);
    if (number < 0 || number > MOST_NUMBER || *end) {
        table_set_error(reading->table, row, (uint32_t)reading->column_of[column], error,
                        "'%s': a host such as h0 or a switch such as s3 is expected, numbered from "
                        "0 to %d",
                        text, MOST_NUMBER);
        return FALSE;
    }
    *node = (struct node){text[0] == 's', (uint32_t)number};
    uint32_t *n = node->is_switch ? &reading->n_switches : &reading->n_hosts;

    *n = MAX(*n, node->number + 1);
    return TRUE;
}

static gboolean take_quantity(const struct reading *reading, uint32_t row, enum column column,
                              enum units_kind kind, int64_t least, int64_t most, int64_t *value,
                              GError **error)
{
    uint32_t at = (uint32_t)reading->column_of[column];

    if (!field(reading, row, column))
        return TRUE;
    if (!table_quantity(reading->table, row, at, kind, value, error))
        return FALSE;
    if (*value >= least && *value <= most)
        return TRUE;
    g_autofree char *from = units_format(kind, least), *to = units_format(kind, most);

    table_set_error(reading->table, row, at, error, "'%s': out of range; %s to %s is possible",
                    field(reading, row, column), from, to);
    return FALSE;
}

static gboolean take_row(struct reading *reading, uint32_t number, GError **error)
{
    struct row *row = &reading->rows[number];

    *row = (struct row){.tier = NOT_SAID, .latency_ps = NOT_SAID};
    if (!take_node(reading, number, A, &row->a, error) ||
        !take_node(reading, number, B, &row->b, error) ||
        !take_quantity(reading, number, RATE, UNITS_RATE, 1000000, INT64_C(100000000000000),
                       &row->rate_bps, error) ||
        !take_quantity(reading, number, DELAY, UNITS_TIME, 0, INT64_C(10000000000000),
                       &row->delay_ps, error) ||
        !take_quantity(reading, number, PLANE, UNITS_NUMBER, 0, 15, &row->plane, error) ||
        !take_quantity(reading, number, TIER, UNITS_NUMBER, 1, SHAPE_MOST_TIER, &row->tier,
                       error) ||
        !take_quantity(reading, number, LATENCY, UNITS_TIME, 0, INT64_C(1000000000000),
                       &row->latency_ps, error) ||
        !take_quantity(reading, number, LOSS, UNITS_RATIO, 0, UNITS_PPT, &row->loss_ppt, error) ||
        !take_quantity(reading, number, QUEUE_A, UNITS_BYTES, 0, INT64_C(1) << 50, &row->queue_a,
                       error) ||
        !take_quantity(reading, number, QUEUE_B, UNITS_BYTES, 0, INT64_C(1) << 50, &row->queue_b,
                       error))
        return FALSE;
    if (row->a.is_switch == row->b.is_switch && row->a.number == row->b.number) {
        table_set_error(reading->table, number, (uint32_t)reading->column_of[B], error,
                        "both ends are %s; two different nodes are expected",
                        field(reading, number, B));
        return FALSE;
    }
    if (row->latency_ps != NOT_SAID && !row->b.is_switch) {
        table_set_error(reading->table, number, (uint32_t)reading->column_of[LATENCY], error,
                        "b is the host %s; a latency belongs to a switch",
                        field(reading, number, B));
        return FALSE;
    }
    return TRUE;
}

/* --- the graph -------------------------------------------------------------------------------- */

static uint32_t node_index(const struct reading *reading, struct node node)
{
    return node.is_switch ? reading->n_hosts + node.number : node.number;
}

/* Each number below the largest must occur, or a host or switch would have no link. */
static gboolean check_gaps(const struct reading *reading, const char *path, GError **error)
{
    uint32_t n_nodes = reading->n_hosts + reading->n_switches, index = 0;
    g_autofree bool *seen = g_new0(bool, n_nodes + 1);

    for (uint32_t i = 0; i < reading->n_rows; i++)
        seen[node_index(reading, reading->rows[i].a)] =
            seen[node_index(reading, reading->rows[i].b)] = true;
    while (seen[index] && reading->n_hosts > 0)
        index++;
    if (index == n_nodes && reading->n_hosts > 0)
        return TRUE;
    bool is_switch = reading->n_hosts > 0 && index >= reading->n_hosts;

    g_set_error(error, BUILD_ERROR, 0,
                "%s: no link has %c%u; %s are numbered from 0 without gaps, and %u are there", path,
                is_switch ? 's' : 'h', is_switch ? index - reading->n_hosts : index,
                is_switch ? "switches" : "hosts",
                is_switch ? reading->n_switches : reading->n_hosts);
    return FALSE;
}

static void add_nodes(const struct reading *reading, const struct graph_config *config,
                      struct graph *graph)
{
    for (uint32_t i = 0; i < reading->n_hosts; i++)
        graph_add_host(graph);
    for (uint32_t i = 0; i < reading->n_switches; i++)
        graph_add_switch(graph, SHAPE_MOST_TIER, GRAPH_NO_PLANE, config->switch_latency);
}

static gboolean set_latencies(const struct reading *reading, struct graph *graph, GError **error)
{
    g_autofree bool *said = g_new0(bool, graph->n_nodes);

    for (uint32_t i = 0; i < reading->n_rows; i++) {
        const struct row *row = &reading->rows[i];
        uint32_t node = node_index(reading, row->b);

        if (row->latency_ps == NOT_SAID)
            continue;
        if (said[node] && graph->nodes[node].latency_ps != row->latency_ps) {
            g_autofree char *other = units_format(UNITS_TIME, graph->nodes[node].latency_ps);

            table_set_error(reading->table, i, (uint32_t)reading->column_of[LATENCY], error,
                            "'%s': an earlier row gives %s %s; a switch has one latency",
                            field(reading, i, LATENCY), field(reading, i, B), other);
            return FALSE;
        }
        said[node] = true;
        graph->nodes[node].latency_ps = row->latency_ps;
    }
    return TRUE;
}

static void add_links(const struct reading *reading, struct graph *graph)
{
    for (uint32_t i = 0; i < reading->n_rows; i++) {
        const struct row *row = &reading->rows[i];

        uint32_t link =
            graph_add_link(graph, node_index(reading, row->a), node_index(reading, row->b),
                           row->rate_bps, row->delay_ps, 0, (uint16_t)row->plane);

        graph->links[link].loss_ppt = row->loss_ppt;
        graph->links[link].queue_bytes_a = row->queue_a;
        graph->links[link].queue_bytes_b = row->queue_b;
    }
}

/* Tiers of links that rows give. */
static void set_said_tiers(const struct reading *reading, struct graph *graph)
{
    for (uint32_t l = 0; l < graph->n_links; l++)
        if (reading->rows[l].tier != NOT_SAID)
            graph->links[l].tier = (uint8_t)reading->rows[l].tier;
}

static gboolean fill_graph(struct reading *reading, const struct graph_config *config,
                           struct build *build, struct graph *graph, GError **error)
{
    if (!find_columns(reading, config->file, error))
        return FALSE;
    for (uint32_t row = 0; row < reading->n_rows; row++)
        if (!take_row(reading, row, error))
            return FALSE;
    if (!check_gaps(reading, config->file, error))
        return FALSE;
    add_nodes(reading, config, graph);
    add_links(reading, graph);
    if (!set_latencies(reading, graph, error) || !graph_finish(graph, error))
        return FALSE;
    shape_node_tiers(graph);
    shape_link_tiers(graph);
    set_said_tiers(reading, graph);
    shape_switch_planes(graph);
    shape_note(graph, "graph", config->file, build);
    return TRUE;
}

static gboolean build_graph(const void *data, struct build *build, struct graph *graph,
                            GError **error)
{
    const struct graph_config *config = data;
    struct table *table;
    struct reading reading;
    gboolean ok;

    if (!config->file || !*config->file) {
        g_set_error(error, BUILD_ERROR, 0, "file = '': a CSV file of links is expected");
        return FALSE;
    }
    table = table_read(config->file, error);
    if (!table)
        return FALSE;
    reading = (struct reading){.table = table, .n_rows = table_n_rows(table)};
    reading.rows = g_new0(struct row, reading.n_rows + 1);
    ok = fill_graph(&reading, config, build, graph, error);
    g_free(reading.rows);
    table_free(table);
    return ok;
}

const struct topology_ops topology_graph_csv = {
    .name = "graph",
    .summary = "Any graph of hosts and switches, from a CSV file of links.",
    .source = "our choice",
    .config_size = sizeof(struct graph_config),
    .params = params,
    .build = build_graph,
};
