/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/series.h"
#include "models/host.h"
#include <string.h>

struct seen_flow { /* a message, as it was at the look before */
    const struct message *message;
    int64_t received_bytes, packets, retransmitted_packets, timeouts, marked_packets;
};

struct seen_host { /* a host, the same; in_flight_bytes: of its connections, now */
    int64_t sent_bytes, received_bytes, placed_bytes, resent_packets, in_flight_bytes;
};

static const char *const names[SERIES_N_OBJECTS] = {"flow", "port", "plane", "host"};

bool series_parse(const char *text, uint32_t *objects)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);

    *objects = 0;
    for (char **part = parts; *part; part++) {
        int object = 0;

        g_strstrip(*part);
        while (object < SERIES_N_OBJECTS && strcmp(names[object], *part) != 0)
            object++;
        if (object == SERIES_N_OBJECTS)
            return false;
        *objects |= 1u << object;
    }
    return *objects != 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

struct row {
    const struct series *series;
    int64_t time_ps;
    enum series_object object;
    uint64_t id;
};

static void put(const struct row *row, const char *metric, const char *unit, int64_t value)
{
    struct sink_series record = {row->time_ps, names[row->object], row->id, metric, value, unit};

    row->series->sink->ops->series(row->series->sink->data, &record);
}

static bool wants(const struct series *series, enum series_object object)
{
    return series->objects >> object & 1;
}

/* --- flows ------------------------------------------------------------------------------------ */

static gint by_start(gconstpointer a, gconstpointer b)
{
    const struct message *x = ((const struct seen_flow *)a)->message;
    const struct message *y = ((const struct seen_flow *)b)->message;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* In the order in which one player lists them. */
static void add_new_flows(struct series *series)
{
    g_autoptr(GArray) flows = g_array_new(FALSE, FALSE, sizeof(struct seen_flow));

    for (uint32_t i = 0; i < series->n_players; i++) {
        const GPtrArray *messages = series->players[i].messages;

        for (; series->n_messages[i] < messages->len; series->n_messages[i]++) {
            struct seen_flow seen = {.message = g_ptr_array_index(messages, series->n_messages[i])};

            g_array_append_val(flows, seen);
        }
    }
    g_array_sort(flows, by_start);
    g_array_append_vals(series->flows, flows->data, flows->len);
}

static void look_at_connection(const struct row *row, const struct connection *connection)
{
    struct transport_sample sample = {0};

    if (!connection->ops->sample)
        return;
    connection->ops->sample(connection, &sample);
    put(row, "window", "bytes", sample.window_bytes);
    put(row, "rate", "bit/s", sample.rate_bps);
    put(row, "in_flight", "bytes", sample.in_flight_bytes);
}

static void look_at_flow(const struct row *row, struct seen_flow *seen)
{
    const struct message *message = seen->message;

    put(row, "received", "bytes", message->received_bytes - seen->received_bytes);
    put(row, "sent_packets", "packets", message->packets - seen->packets);
    put(row, "retransmitted_packets", "packets",
        message->retransmitted_packets - seen->retransmitted_packets);
    put(row, "timeouts", "timeouts", message->timeouts - seen->timeouts);
    put(row, "marked_packets", "packets", message->marked_packets - seen->marked_packets);
    *seen = (struct seen_flow){message,           message->received_bytes,
                               message->packets,  message->retransmitted_packets,
                               message->timeouts, message->marked_packets};
    look_at_connection(row, message->connection);
}

/* Flows that are over have their last rows now, and leave. */
static void look_at_flows(struct series *series, int64_t time_ps)
{
    guint kept = 0;

    add_new_flows(series);
    for (guint i = 0; i < series->flows->len; i++) {
        struct seen_flow *seen = &g_array_index(series->flows, struct seen_flow, i);
        const struct message *message = seen->message;
        struct row row = {series, time_ps, SERIES_FLOW, message->op};

        look_at_flow(&row, seen);
        if (!message->failed && !(message->delivered && message->acknowledged))
            g_array_index(series->flows, struct seen_flow, kept++) = *seen;
    }
    g_array_set_size(series->flows, kept);
}

/* --- ports and planes ------------------------------------------------------------------------- */

static void put_port(const struct row *row, const struct fabric_look *did)
{
    put(row, "sent", "bytes", did->sent_bytes);
    put(row, "queue", "bytes", did->queue_bytes);
    put(row, "marked_packets", "packets", did->n_marked);
    put(row, "dropped_packets", "packets", did->n_dropped);
    put(row, "pauses", "pauses", did->n_pauses);
}

/* What a port did since the look before; its queue as it is. */
static struct fabric_look look_at_port(struct series *series, uint32_t number, int64_t time_ps)
{
    struct fabric_look now = fabric_look(series->fabric, number, time_ps);
    struct fabric_look before = series->ports[number];

    series->ports[number] = now;
    return (struct fabric_look){.sent_bytes = now.sent_bytes - before.sent_bytes,
                                .queue_bytes = now.queue_bytes,
                                .n_marked = now.n_marked - before.n_marked,
                                .n_dropped = now.n_dropped - before.n_dropped,
                                .n_pauses = now.n_pauses - before.n_pauses};
}

static bool is_quiet(const struct fabric_look *did)
{
    return !did->sent_bytes && !did->queue_bytes && !did->n_marked && !did->n_dropped &&
           !did->n_pauses;
}

/* A plane sums its ports; `sent` is what hosts put into it. */
static void add_to_plane(struct fabric_look *plane, const struct fabric_look *did, bool from_host)
{
    plane->sent_bytes += from_host ? did->sent_bytes : 0;
    plane->queue_bytes += did->queue_bytes;
    plane->n_marked += did->n_marked;
    plane->n_dropped += did->n_dropped;
    plane->n_pauses += did->n_pauses;
}

/* Payload that hosts placed from each plane since the look before. */
static void look_at_goodput(struct series *series, int64_t *placed_bytes)
{
    for (uint32_t number = 0; number < series->run->graph->n_hosts; number++) {
        const struct host *host = &series->fabric->engine.hosts[number];

        for (uint32_t nic = 0; nic < host->n_nics; nic++)
            placed_bytes[host->nics[nic].plane] += host->nics[nic].placed_bytes;
    }
    for (uint32_t plane = 0; plane < series->run->graph->n_planes; plane++) {
        int64_t before = series->placed_bytes[plane];

        series->placed_bytes[plane] = placed_bytes[plane];
        placed_bytes[plane] -= before;
    }
}

static void look_at_ports(struct series *series, int64_t time_ps)
{
    const struct graph *graph = series->run->graph;
    g_autofree struct fabric_look *planes = g_new0(struct fabric_look, graph->n_planes + 1);
    g_autofree int64_t *placed_bytes = g_new0(int64_t, graph->n_planes + 1);

    for (uint32_t number = 0; number < series->fabric->n_ports; number++) {
        struct fabric_look did = look_at_port(series, number, time_ps);
        struct row row = {series, time_ps, SERIES_PORT, number};

        add_to_plane(&planes[graph->links[number / 2].plane], &did,
                     !graph->nodes[graph_port_node(graph, number)].is_switch);
        if (wants(series, SERIES_PORT) && !is_quiet(&did))
            put_port(&row, &did);
    }
    look_at_goodput(series, placed_bytes);
    for (uint32_t plane = 0; wants(series, SERIES_PLANE) && plane < graph->n_planes; plane++) {
        struct row row = {series, time_ps, SERIES_PLANE, plane};

        if (is_quiet(&planes[plane]) && placed_bytes[plane] == 0)
            continue;
        put_port(&row, &planes[plane]);
        put(&row, "goodput", "bytes", placed_bytes[plane]);
    }
}

/* --- hosts ------------------------------------------------------------------------------------ */

static int64_t in_flight_bytes(const struct connection *connection)
{
    struct transport_sample sample = {0};

    if (connection->ops->sample)
        connection->ops->sample(connection, &sample);
    return sample.in_flight_bytes;
}

static struct seen_host see_host(const struct host *host)
{
    struct seen_host seen = {.sent_bytes = host->sent_bytes,
                             .received_bytes = host->received_bytes,
                             .resent_packets = host->resent_packets};

    for (uint32_t nic = 0; nic < host->n_nics; nic++)
        seen.placed_bytes += host->nics[nic].placed_bytes;
    return seen;
}

static void look_at_host(struct series *series, uint32_t number, int64_t time_ps)
{
    struct row row = {series, time_ps, SERIES_HOST, number};
    struct seen_host now = see_host(&series->fabric->engine.hosts[number]);
    struct seen_host before = series->hosts[number];

    series->hosts[number] = now;
    if (now.sent_bytes == before.sent_bytes && now.received_bytes == before.received_bytes &&
        before.in_flight_bytes == 0)
        return;
    put(&row, "sent", "bytes", now.sent_bytes - before.sent_bytes);
    put(&row, "received", "bytes", now.received_bytes - before.received_bytes);
    put(&row, "goodput", "bytes", now.placed_bytes - before.placed_bytes);
    put(&row, "in_flight", "bytes", before.in_flight_bytes);
    put(&row, "retransmitted_packets", "packets", now.resent_packets - before.resent_packets);
}

static void look_at_hosts(struct series *series, int64_t time_ps)
{
    for (uint32_t i = 0; i < series->n_players; i++)
        for (const struct connection *c = series->players[i].first_connection; c; c = c->next)
            series->hosts[c->src->number].in_flight_bytes += in_flight_bytes(c);
    for (uint32_t number = 0; number < series->run->graph->n_hosts; number++)
        look_at_host(series, number, time_ps);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void look(struct series *series, int64_t time_ps)
{
    if (wants(series, SERIES_FLOW))
        look_at_flows(series, time_ps);
    if (wants(series, SERIES_PORT) || wants(series, SERIES_PLANE))
        look_at_ports(series, time_ps);
    if (wants(series, SERIES_HOST))
        look_at_hosts(series, time_ps);
}

void series_init(struct series *series, const struct backend_run *run, const struct fabric *fabric,
                 const struct player *players, uint32_t n_players, const struct sink *sink)
{
    *series = (struct series){.run = run,
                              .fabric = fabric,
                              .players = players,
                              .n_players = n_players,
                              .sink = sink,
                              .next_ps = INT64_MAX};
    if (run->series_step_ps <= 0 || !sink->ops->series)
        return;
    series->objects = run->series_objects;
    series->next_ps = run->series_step_ps;
    series->n_messages = g_new0(guint, n_players);
    series->flows = g_array_new(FALSE, FALSE, sizeof(struct seen_flow));
    series->ports = g_new0(struct fabric_look, fabric->n_ports + 1);
    series->hosts = g_new0(struct seen_host, run->graph->n_hosts + 1);
    series->placed_bytes = g_new0(int64_t, run->graph->n_planes + 1);
}

void series_clear(struct series *series)
{
    g_clear_pointer(&series->n_messages, g_free);
    g_clear_pointer(&series->flows, g_array_unref);
    g_clear_pointer(&series->ports, g_free);
    g_clear_pointer(&series->hosts, g_free);
    g_clear_pointer(&series->placed_bytes, g_free);
}

void series_step(struct series *series)
{
    look(series, series->next_ps);
    series->next_ps = series->next_ps < INT64_MAX - series->run->series_step_ps
                          ? series->next_ps + series->run->series_step_ps
                          : INT64_MAX;
}

void series_finish(struct series *series)
{
    int64_t now_ps = series->fabric->engine.events.now_ps;

    if (series->objects && now_ps > series->next_ps - series->run->series_step_ps)
        look(series, now_ps);
}
