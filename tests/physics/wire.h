/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A two-ended wire: the third engine behind the seam of models/engine.h, for tests. Two hosts with
 * `n_nics` wires between them; packet number i of data (control) in the order of sending is lost if
 * bit i of the data (control) mask is set, after the 64th none. No fabric.
 * Include once per test program: it defines engine_send() and engine_port_idle().
 */
#ifndef WEFT_TESTS_PHYSICS_WIRE_H
#define WEFT_TESTS_PHYSICS_WIRE_H

#include "models/host.h"
#include "sim/core/units.h"
#include <string.h>

#define WIRE_MAX_NICS 8

struct wire_packet {
    struct event event; /* arrival */
    struct wire *wire;
    uint32_t to_host;
    struct packet *packet;
};

struct wire {
    struct engine engine;
    struct graph graph;
    int64_t rate_bps, delay_ps[WIRE_MAX_NICS];
    int64_t busy_until_ps[4 * WIRE_MAX_NICS];
    struct event ready[4 * WIRE_MAX_NICS];
    uint64_t lose_data, lose_control; /* masks */
    uint64_t mark_data;               /* likewise: arrives with a congestion mark */
    bool dead[WIRE_MAX_NICS];
    uint64_t n_data, n_control, n_lost, n_arrivals;
    struct connection *connection;
    struct transport_profile profile;
    int64_t n_delivered, n_acknowledged, n_failed;
    uint64_t delivered_order[64];
};

static void wire_ready(struct event_queue *queue, struct event *event)
{
    host_port_ready(engine_of(queue), (uint32_t)event->order);
}

static void wire_arrive(struct event_queue *queue, struct event *event)
{
    struct wire_packet *arrival = (struct wire_packet *)(void *)event;
    struct packet *packet = arrival->packet;
    uint32_t host = arrival->to_host;

    g_free(arrival);
    host_receive(engine_of(queue), host, packet);
}

bool engine_port_idle(struct engine *engine, uint32_t port)
{
    struct wire *wire = (struct wire *)(void *)engine;

    if (wire->busy_until_ps[port] <= engine->events.now_ps)
        return true;
    if (!event_is_pending(&wire->ready[port]))
        event_schedule(&engine->events, &wire->ready[port], wire->busy_until_ps[port]);
    return false;
}

void engine_send(struct engine *engine, uint32_t port, struct packet *packet)
{
    struct wire *wire = (struct wire *)(void *)engine;
    bool data = packet->class == PACKET_DATA;
    uint64_t number = data ? wire->n_data++ : wire->n_control++;
    uint64_t mask = data ? wire->lose_data : wire->lose_control;

    wire->busy_until_ps[port] =
        engine->events.now_ps + units_transmission_ps(packet->bytes, wire->rate_bps);
    if (data && number < 64 && wire->mark_data >> number & 1)
        packet->ecn = PACKET_CE;
    if ((number < 64 && mask >> number & 1) || wire->dead[port / 2]) {
        wire->n_lost++;
        packet_give(&engine->pool, packet);
        return;
    }
    struct wire_packet *arrival = g_new0(struct wire_packet, 1);

    arrival->to_host = graph_port_peer(&wire->graph, port);
    arrival->packet = packet;
    event_init(&arrival->event, wire_arrive,
               EVENT_CLASS_TIMER | UINT64_C(1) << 59 | wire->n_arrivals++);
    event_schedule(&engine->events, &arrival->event,
                   wire->busy_until_ps[port] + wire->delay_ps[port / 2]);
}

static struct wire *wire_of(struct message *message)
{
    return (struct wire *)(void *)message->connection->engine;
}

static void wire_delivered(struct message *message)
{
    struct wire *wire = wire_of(message);

    g_assert_false(message->delivered);
    g_assert_cmpint(message->received_bytes, ==, message->bytes);
    message->delivered = true;
    message->end_receiver_ps = engine_now_ps(&wire->engine);
    wire->delivered_order[wire->n_delivered++ % 64] = message->op;
}

static void wire_acknowledged(struct message *message)
{
    g_assert_false(message->acknowledged);
    message->acknowledged = true;
    message->end_sender_ps = engine_now_ps(message->connection->engine);
    wire_of(message)->n_acknowledged++;
}

static void wire_failed(struct message *message, const char *reason)
{
    message->failed = true;
    message->reason = reason;
    wire_of(message)->n_failed++;
}

static const struct engine_upcalls wire_upcalls = {wire_delivered, wire_acknowledged, wire_failed};

/*
 * Opens a connection host 0 -> host 1 over n_nics wires of 100 Gb/s and 1 us. `settings` are
 * "key=value" texts of the transport, NULL at the end.
 */
static void wire_open(struct wire *wire, const char *transport, uint32_t n_nics,
                      const char *const *settings)
{
    const struct transport_ops *ops = transport_find(transport);

    memset(wire, 0, sizeof *wire);
    event_queue_init(&wire->engine.events, 1);
    packet_pool_init(&wire->engine.pool);
    graph_init(&wire->graph);
    graph_add_host(&wire->graph);
    graph_add_host(&wire->graph);
    wire->rate_bps = INT64_C(100000000000);
    for (uint32_t nic = 0; nic < n_nics; nic++) {
        wire->delay_ps[nic] = 1000000;
        graph_add_link(&wire->graph, 0, 1, wire->rate_bps, wire->delay_ps[nic], 1, (uint16_t)nic);
    }
    g_assert_true(graph_finish(&wire->graph, NULL));
    for (uint32_t port = 0; port < 2 * n_nics; port++)
        event_init(&wire->ready[port], wire_ready, EVENT_CLASS_TRANSMIT | port);
    wire->engine.graph = &wire->graph;
    wire->engine.seed = 1;
    wire->engine.up = &wire_upcalls;
    host_init_all(&wire->engine);
    wire->profile = (struct transport_profile){NULL, ops, g_malloc0(ops->config_size)};
    param_defaults(ops->params, wire->profile.config);
    for (; settings && *settings; settings++) {
        g_auto(GStrv) pair = g_strsplit(*settings, "=", 2);
        GError *error = NULL;

        if (!param_set(param_find(ops->params, pair[0]), wire->profile.config, pair[1], &error))
            g_error("%s: %s", *settings, error->message);
    }
    wire->connection = g_malloc0(ops->connection_size);
    *wire->connection = (struct connection){.ops = ops,
                                            .config = wire->profile.config,
                                            .engine = &wire->engine,
                                            .dst_engine = &wire->engine,
                                            .src = &wire->engine.hosts[0],
                                            .dst = &wire->engine.hosts[1],
                                            .key = 1,
                                            .n_nics = n_nics};
    ops->open(wire->connection);
}

static struct message *wire_message(struct wire *wire, uint64_t number, int64_t bytes,
                                    uint32_t stream)
{
    struct message *message = g_new0(struct message, 1);

    message->connection = wire->connection;
    message->op = number;
    message->bytes = bytes;
    message->stream = stream;
    message->bytes_by_plane = g_new0(int64_t, WIRE_MAX_NICS);
    return message;
}

static void wire_post(struct wire *wire, struct message *message)
{
    wire->connection->ops->post(wire->connection, message);
}

static void wire_run(struct wire *wire, int64_t end_ps)
{
    event_queue_run(&wire->engine.events, end_ps, NULL);
    g_assert_true(event_queue_verify(&wire->engine.events));
}

static void message_free(struct message *message)
{
    g_free(message->bytes_by_plane);
    g_free(message);
}

static void wire_free_arrival(struct event *event)
{
    struct wire_packet *arrival = (struct wire_packet *)(void *)event;

    g_free(arrival);
}

static void wire_note_arrival(struct event *event, void *arrivals)
{
    if (event->fire == wire_arrive)
        g_ptr_array_add(arrivals, event);
}

static void wire_close(struct wire *wire)
{
    g_autoptr(GPtrArray) arrivals = g_ptr_array_new();

    wire->connection->ops->close(wire->connection);
    g_free(wire->connection);
    event_queue_visit(&wire->engine.events, wire_note_arrival, arrivals);
    for (guint i = 0; i < arrivals->len; i++)
        wire_free_arrival(g_ptr_array_index(arrivals, i));
    param_clear(wire->profile.ops->params, wire->profile.config);
    g_free(wire->profile.config);
    host_clear_all(&wire->engine);
    packet_pool_clear(&wire->engine.pool);
    event_queue_clear(&wire->engine.events);
    graph_clear(&wire->graph);
}

#endif
