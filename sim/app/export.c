/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/export.h"
#include "sim/core/table.h"
#include <string.h>

G_DEFINE_QUARK(weft - export, export_error)

static void put(struct table_writer *writer, enum units_kind kind, int64_t value)
{
    g_autofree char *text = units_format(kind, value);

    table_writer_field(writer, text);
}

static void put_header(struct table_writer *writer, const char *const *names)
{
    for (; *names; names++)
        table_writer_field(writer, *names);
    table_writer_row(writer);
}

/* --- graph ------------------------------------------------------------------------------------ */

static void put_node(struct table_writer *writer, const struct graph *graph, uint32_t node)
{
    bool is_switch = graph->nodes[node].is_switch;

    table_writer_printf(writer, "%c%u", is_switch ? 's' : 'h',
                        is_switch ? node - graph->n_hosts : node);
}

/* The latency of a switch is said where it is `b`; `said` keeps that once is enough. */
static void put_link(struct table_writer *writer, const struct graph *graph, uint32_t l, bool *said)
{
    const struct graph_link *link = &graph->links[l];
    const struct graph_node *a = &graph->nodes[link->a], *b = &graph->nodes[link->b];
    /* turned where an end that is a switch could not say its latency otherwise */
    bool turn = a->is_switch && !said[link->a] && (!b->is_switch || said[link->b]);
    uint32_t first = turn ? link->b : link->a, second = turn ? link->a : link->b;

    put_node(writer, graph, first);
    put_node(writer, graph, second);
    put(writer, UNITS_RATE, link->rate_bps);
    put(writer, UNITS_TIME, link->delay_ps);
    table_writer_printf(writer, "%u", link->plane);
    table_writer_printf(writer, "%u", link->tier);
    if (graph->nodes[second].is_switch)
        put(writer, UNITS_TIME, graph->nodes[second].latency_ps);
    else
        table_writer_field(writer, "");
    said[second] = true;
    put(writer, UNITS_RATIO, link->loss_ppt);
    put(writer, UNITS_BYTES, turn ? link->queue_bytes_b : link->queue_bytes_a);
    put(writer, UNITS_BYTES, turn ? link->queue_bytes_a : link->queue_bytes_b);
    table_writer_row(writer);
}

/* A node without a link cannot be written: a file of links knows none. */
static gboolean check_nodes(const struct graph *graph, GError **error)
{
    for (uint32_t node = 0; node < graph->n_nodes; node++)
        if (graph_n_ports(graph, node) == 0) {
            g_set_error(error, EXPORT_ERROR, 0, "%s %u has no link; a file of links cannot say so",
                        node < graph->n_hosts ? "host" : "switch",
                        node < graph->n_hosts ? node : node - graph->n_hosts);
            return FALSE;
        }
    return TRUE;
}

gboolean export_graph(const struct graph *graph, const char *path, GError **error)
{
    static const char *const names[] = {"a",       "b",    "rate",    "delay",   "plane", "tier",
                                        "latency", "loss", "queue_a", "queue_b", NULL};
    struct table_writer *writer = check_nodes(graph, error) ? table_writer_new(path, error) : NULL;
    g_autofree bool *said = g_new0(bool, graph->n_nodes + 1);

    if (!writer)
        return FALSE;
    put_header(writer, names);
    for (uint32_t l = 0; l < graph->n_links; l++)
        put_link(writer, graph, l, said);
    return table_writer_close(writer, error);
}

/* --- schedule --------------------------------------------------------------------------------- */

/* Which operations each one is after: edges by their end. */
struct edges {
    uint64_t *first; /* n_ops + 1 */
    struct before {
        uint64_t op;
        enum schedule_when when;
    } * before;
};

static void edges_init(struct edges *edges, const struct schedule *schedule)
{
    enum schedule_when when;
    uint64_t next;

    edges->first = g_new0(uint64_t, schedule->n_ops + 2);
    for (uint64_t i = 0; i < schedule->n_ops; i++)
        for (uint32_t k = 0; (next = schedule_successor(schedule, i, k, &when)) != SCHEDULE_NONE;
             k++)
            edges->first[next + 2]++;
    for (uint64_t i = 1; i <= schedule->n_ops + 1; i++)
        edges->first[i] += edges->first[i - 1];
    edges->before = g_new(struct before, edges->first[schedule->n_ops + 1] + 1);
    for (uint64_t i = 0; i < schedule->n_ops; i++)
        for (uint32_t k = 0; (next = schedule_successor(schedule, i, k, &when)) != SCHEDULE_NONE;
             k++)
            edges->before[edges->first[next + 1]++] = (struct before){i, when};
}

static void put_after(struct table_writer *writer, const struct edges *edges, uint64_t op)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (uint64_t e = edges->first[op]; e < edges->first[op + 1]; e++)
        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT "%s", text->len ? ";" : "",
                               edges->before[e].op,
                               edges->before[e].when == SCHEDULE_AT_SENDER ? "@sent" : "");
    table_writer_field(writer, text->str);
}

static void put_op(struct table_writer *writer, const struct schedule *schedule,
                   const struct edges *edges, uint64_t index)
{
    static const char *const names[] = {"message", "compute", "reduce", "join"};
    uint64_t n_after = edges->first[index + 1] - edges->first[index];
    struct schedule_op op;

    schedule_op(schedule, index, &op);
    table_writer_field(writer, names[op.kind]);
    table_writer_printf(writer, "%u", schedule->rank_host[op.rank]);
    if (op.kind == SCHEDULE_MESSAGE)
        table_writer_printf(writer, "%u", schedule->rank_host[op.peer]);
    else
        table_writer_field(writer, "");
    if (op.kind == SCHEDULE_MESSAGE || op.kind == SCHEDULE_REDUCE)
        table_writer_printf(writer, "%" G_GINT64_FORMAT, op.bytes);
    else
        table_writer_field(writer, "");
    put(writer, UNITS_TIME, op.start_ps);
    table_writer_field(writer, g_ptr_array_index(schedule->profiles, op.profile));
    table_writer_printf(writer, "%u", op.stream);
    put_after(writer, edges, index);
    if (op.kind == SCHEDULE_COMPUTE)
        put(writer, UNITS_TIME, op.duration_ps);
    else
        table_writer_field(writer, "");
    if (op.n_needed == n_after)
        table_writer_field(writer, "");
    else
        table_writer_printf(writer, "%u", op.n_needed);
    table_writer_row(writer);
}

gboolean export_schedule(const struct schedule *schedule, const char *path, GError **error)
{
    static const char *const names[] = {"op",       "src",       "dst",    "bytes",
                                        "start",    "transport", "stream", "after",
                                        "duration", "needs",     NULL};
    struct table_writer *writer;
    struct edges edges;

    if (schedule->n_ops > EXPORT_MOST_OPS) {
        g_set_error(error, EXPORT_ERROR, 0,
                    "%" G_GUINT64_FORMAT " operations; up to %d are written to a file",
                    schedule->n_ops, EXPORT_MOST_OPS);
        return FALSE;
    }
    writer = table_writer_new(path, error);
    if (!writer)
        return FALSE;
    edges_init(&edges, schedule);
    put_header(writer, names);
    for (uint64_t i = 0; i < schedule->n_ops; i++)
        put_op(writer, schedule, &edges, i);
    g_free(edges.first);
    g_free(edges.before);
    return table_writer_close(writer, error);
}

/* --- faults ----------------------------------------------------------------------------------- */

gboolean export_faults(const struct fault_list *faults, const char *path, GError **error)
{
    static const char *const names[] = {"time", "object", "change", "until", NULL};
    struct table_writer *writer = table_writer_new(path, error);

    if (!writer)
        return FALSE;
    put_header(writer, names);
    for (guint i = 0; i < faults->faults->len; i++) {
        const struct fault *fault = fault_at(faults, i);
        g_autofree char *what = fault_what(fault);
        char *space = strchr(what, ' ');

        *space = '\0';
        put(writer, UNITS_TIME, fault->at_ps);
        table_writer_field(writer, what);
        table_writer_field(writer, space + 1);
        if (fault->until_ps == FAULT_NEVER)
            table_writer_field(writer, "");
        else
            put(writer, UNITS_TIME, fault->until_ps);
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}
