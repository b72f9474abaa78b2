/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/observer.h"

/* A transport's ops that tell the engine's observer and call the real ones. */
struct told_transport {
    struct transport_ops ops; /* first */
    const struct transport_ops *real;
};

static const struct transport_ops *real_of(const struct connection *connection)
{
    return ((const struct told_transport *)(const void *)connection->ops)->real;
}

static void told_post(struct connection *connection, struct message *message)
{
    struct observer *observer = connection->engine->observer;

    OBSERVER_TELL(observer, posts, message);
    real_of(connection)->post(connection, message);
    OBSERVER_TELL(observer, accepted);
}

static struct packet *told_pull(struct connection *connection, struct sender *sender)
{
    struct packet *packet = real_of(connection)->pull(connection, sender);

    OBSERVER_TELL(connection->engine->observer, pulled, sender, packet);
    return packet;
}

static void told_receive(struct connection *connection, struct packet *packet)
{
    struct observer *observer = connection->engine->observer;

    OBSERVER_TELL(observer, receives, packet);
    real_of(connection)->receive(connection, packet);
    OBSERVER_TELL(observer, handled);
}

const struct transport_ops *observer_transport(struct observer *observer,
                                               const struct transport_ops *ops)
{
    struct told_transport *told;

    if (!observer)
        return ops;
    for (guint i = 0; i < observer->transports->len; i++) {
        told = g_ptr_array_index(observer->transports, i);
        if (told->real == ops)
            return &told->ops;
    }
    told = g_new(struct told_transport, 1);
    *told = (struct told_transport){*ops, ops};
    told->ops.post = told_post;
    told->ops.pull = told_pull;
    told->ops.receive = told_receive;
    g_ptr_array_add(observer->transports, told);
    return &told->ops;
}

static void told_delivered(struct message *message)
{
    struct observer *observer = message->connection->engine->observer;

    OBSERVER_TELL(observer, delivered, message);
    observer->up->delivered(message);
}

static void told_acknowledged(struct message *message)
{
    struct observer *observer = message->connection->engine->observer;

    OBSERVER_TELL(observer, acknowledged, message);
    observer->up->acknowledged(message);
}

static void told_failed(struct message *message, const char *reason)
{
    message->connection->engine->observer->up->failed(message, reason);
}

const struct engine_upcalls *observer_upcalls(struct observer *observer,
                                              const struct engine_upcalls *up)
{
    static const struct engine_upcalls told = {told_delivered, told_acknowledged, told_failed};

    if (!observer)
        return up;
    observer->up = up;
    return &told;
}

void observer_begin(struct observer *observer, struct engine *engine)
{
    if (!observer)
        return;
    observer->engine = engine;
    observer->transports = g_ptr_array_new_with_free_func(g_free);
    engine->observer = observer;
}

void observer_end(struct observer *observer)
{
    if (!observer)
        return;
    g_clear_pointer(&observer->transports, g_ptr_array_unref);
    observer->engine = NULL;
}
