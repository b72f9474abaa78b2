/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smallest transport that works: a fixed window, an acknowledgement a packet, no recovery. It
 * is the example of docs/ADDING.md. A lost packet leaves its message unfinished. Source: none; our
 * choice.
 */
#include "models/host.h"

struct example_config {
    struct transport_common common;
    int64_t window; /* packets */
};

struct example {
    struct connection connection;
    struct sender sender;
    struct message *first, **last; /* messages that still have bytes to send */
    int64_t sent_bytes;            /* of the first of them */
    int64_t n_in_flight;
};

struct example_header {
    struct message *message;
    uint32_t payload; /* acknowledged, in an acknowledgement */
};

static void example_open(struct connection *connection)
{
    struct example *example = (struct example *)connection;

    example->last = &example->first;
    host_sender_init(connection, &example->sender, 0, 0);
}

static void example_close(struct connection *connection)
{
    host_sender_clear(connection, &((struct example *)connection)->sender);
}

static void example_post(struct connection *connection, struct message *message)
{
    struct example *example = (struct example *)connection;

    message->next = NULL;
    *example->last = message;
    example->last = &message->next;
    host_ready(connection, &example->sender);
}

static struct packet *example_pull(struct connection *connection, struct sender *sender)
{
    struct example *example = (struct example *)connection;
    const struct example_config *config = connection->config;
    struct message *message = example->first;

    if (!message || example->n_in_flight >= config->window)
        return NULL;
    int64_t payload = MIN(config->common.payload, message->bytes - example->sent_bytes);
    struct packet *packet = host_data_packet(connection, sender->nic, 49152, (uint32_t)payload,
                                             (uint32_t)config->common.header);

    host_name_packet(packet, message, (uint32_t)(example->sent_bytes / config->common.payload));
    TRANSPORT_HEADER(struct example_header, packet)->message = message;
    message->packets++;
    example->n_in_flight++;
    example->sent_bytes += payload;
    if (example->sent_bytes == message->bytes) {
        example->sent_bytes = 0;
        example->first = message->next;
        if (!example->first)
            example->last = &example->first;
    }
    return packet;
}

/* Data at the receiver is placed and acknowledged; an acknowledgement opens the window. */
static void example_receive(struct connection *connection, struct packet *packet)
{
    struct example *example = (struct example *)connection;
    const struct example_config *config = connection->config;
    struct example_header header = *TRANSPORT_HEADER(struct example_header, packet);
    struct message *message = header.message;
    bool is_data = packet->class == PACKET_DATA;
    uint32_t payload = packet->payload;

    if (is_data)
        message->marked_packets += packet->ecn == PACKET_CE;
    packet_give(is_data ? &connection->dst_engine->pool : &connection->engine->pool, packet);
    if (is_data) {
        struct packet *reply =
            host_reply_packet(connection, 0, 49152, (uint32_t)config->common.ack_bytes);

        *TRANSPORT_HEADER(struct example_header, reply) = (struct example_header){message, payload};
        host_control(connection, connection->dst, 0, reply);
        if (host_place(connection, message, 0, payload))
            connection->dst_engine->up->delivered(message);
        return;
    }
    example->n_in_flight--;
    message->mark[0] += header.payload; /* bytes acknowledged */
    if ((int64_t)message->mark[0] == message->bytes)
        connection->engine->up->acknowledged(message);
    host_ready(connection, &example->sender);
}

static void example_sample(const struct connection *connection, struct transport_sample *sample)
{
    const struct example_config *config = connection->config;

    sample->window_bytes = config->window * config->common.payload;
    sample->in_flight_bytes =
        ((const struct example *)connection)->n_in_flight * config->common.payload;
}

static const struct param example_params[] = {
    TRANSPORT_COMMON_PARAMS(struct example_config, "82B",
                            "Ethernet 38, IPv4 20, UDP 8, BTH 12, ICRC 4 (SOURCES.md 9.7)", "64B",
                            "our choice: the smallest Ethernet frame"),
    PARAM(NUMBER, struct example_config, window, "64", "1", "1048576", NULL,
          "Packets that may be unacknowledged.", "our choice"),
    PARAM_END,
};

const struct transport_ops transport_example = {
    .name = "example",
    .summary = "Fixed window, an acknowledgement a packet, no recovery: the example for authors.",
    .source = "our choice",
    .config_size = sizeof(struct example_config),
    .params = example_params,
    .connection_size = sizeof(struct example),
    .open = example_open,
    .close = example_close,
    .post = example_post,
    .pull = example_pull,
    .receive = example_receive,
    .sample = example_sample,
};
