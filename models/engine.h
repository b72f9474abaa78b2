/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine seam: all that hosts, transports and nodes may know of what moves packets. Clock and
 * timers are the event queue of sim/core in every engine; the two functions at the end are defined
 * once per program by the engine that is linked (models/fabric.c natively, the ns-3 engine, or a
 * test's two-ended wire), so the native engine pays nothing for the seam.
 */
#ifndef WEFT_MODELS_ENGINE_H
#define WEFT_MODELS_ENGINE_H

#include "models/packet.h"
#include "sim/core/event.h"
#include "sim/core/graph.h"

struct host;
struct message;
struct observer;

/* Who is told of a message's fate; filled by the backend, called by transports. */
struct engine_upcalls {
    void (*delivered)(struct message *message);    /* all of it placed at the receiver */
    void (*acknowledged)(struct message *message); /* the sender knows so */
    void (*failed)(struct message *message, const char *reason); /* fixed text */
};

struct engine {
    struct event_queue events; /* first: an event handler finds its engine by its queue */
    struct packet_pool pool;
    const struct graph *graph;
    struct host *hosts; /* graph->n_hosts of them */
    uint64_t seed;
    const struct engine_upcalls *up;
    struct observer *observer; /* NULL: nobody looks */
};

static inline struct engine *engine_of(struct event_queue *queue)
{
    return (struct engine *)(void *)queue;
}

static inline int64_t engine_now_ps(const struct engine *engine)
{
    return engine->events.now_ps;
}

/* Timers are made by host_timer_init(); they come last within an instant. */
static inline void engine_timer_set(struct engine *engine, struct event *timer, int64_t at_ps)
{
    event_schedule(&engine->events, timer, at_ps);
}

static inline void engine_timer_cancel(struct engine *engine, struct event *timer)
{
    event_cancel(&engine->events, timer);
}

/* Sends on the directed port of a host whose transmitter is idle. Takes the packet. */
void engine_send(struct engine *engine, uint32_t port, struct packet *packet);

/*
 * True if the port's transmitter is idle. If it is not, host_port_ready() is called for it at the
 * instant at which it becomes free, before any arrival of that instant.
 */
bool engine_port_idle(struct engine *engine, uint32_t port);

#endif
