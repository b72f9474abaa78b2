/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every form of port does with its wire, and what a switch does with a packet before it
 * reaches a port. Functions of a packet's way, inline: each form compiles them into its own.
 */
#ifndef WEFT_MODELS_PORT_WIRE_H
#define WEFT_MODELS_PORT_WIRE_H

#include "models/fabric.h"
#include "models/observer.h"
#include "sim/core/units.h"

static inline struct fabric *fabric_of(struct event_queue *queue)
{
    return (struct fabric *)(void *)queue;
}

void port_ring_grow(struct port *port);

/* The same where the rate gives no whole number of ps a byte, or the clock drifts. */
int64_t port_odd_transmission_ps(struct port *port, uint32_t bytes);

static inline int64_t port_transmission_ps(struct port *port, uint32_t bytes)
{
    return port->ps_per_byte ? (int64_t)port->ps_per_byte * bytes
                             : port_odd_transmission_ps(port, bytes);
}

void port_take_rate(struct port *port, int64_t rate_bps);

static inline void port_schedule_head(struct event_queue *queue, struct port *port)
{
    const struct wire_slot *slot = &port->ring[port->head & port->mask];
    int64_t arrive_ps = slot->arrive_ps;

    if (!port->peer_is_switch) { /* the host will read a packet that nobody touched on its way */
        __builtin_prefetch(slot->packet);
        __builtin_prefetch((const char *)slot->packet + 64);
    }
    event_schedule_ordered(queue, &port->arrival, arrive_ps,
                           event_order_arrival(queue, arrive_ps, port->number));
}

/*
 * Functions of a packet's way are compiled twice, for runs with an observer and for those without,
 * which pass NULL: all that they would tell it is then not there.
 */
#define PORT_COMPILED_TWICE G_ALWAYS_INLINE static inline

/* The packet's transmission starts at `start_ps`, behind what is on the wire. Takes the packet. */
PORT_COMPILED_TWICE void port_put(struct fabric *fabric, struct port *port,
                                  const struct wire_slot *arrived, int64_t start_ps,
                                  struct observer *observer)
{
    if (port->tail - port->head > port->mask || !port->ring)
        port_ring_grow(port);
    port->busy_until_ps = start_ps + port_transmission_ps(port, arrived->bytes);
    struct wire_slot *slot = &port->ring[port->tail & port->mask];

    /* one by one: read as a whole, a slot just made waits until its parts have reached the cache */
    slot->arrive_ps = port->busy_until_ps + port->delay_ps;
    slot->packet = arrived->packet;
    slot->bytes = arrived->bytes;
    slot->to = arrived->to;
    slot->entropy = arrived->entropy;
    slot->class = arrived->class;
    slot->ecn = arrived->ecn;
    port->tail++;
    port->n_packets++;
    port->n_bytes += arrived->bytes;
    fabric->n_hops++;
    if (port->tail - port->head == 1)
        port_schedule_head(&fabric->engine.events, port);
    OBSERVER_TELL(observer, sent, port->number, slot->packet, start_ps, port->busy_until_ps,
                  slot->arrive_ps);
}

/* Counts the drop. Takes the packet. */
void port_count_drop(struct fabric *fabric, struct port *port, const struct wire_slot *slot,
                     enum sink_drop cause);

PORT_COMPILED_TWICE void port_drop(struct fabric *fabric, struct port *port,
                                   const struct wire_slot *slot, enum sink_drop cause,
                                   struct observer *observer)
{
    OBSERVER_TELL(observer, dropped, port->number, slot->packet, cause);
    port_count_drop(fabric, port, slot, cause);
}

/* The port by which a switch sends on what came in by `in`; NULL: it has no way there. */
static inline struct port *port_route(struct fabric *fabric, const struct port *in,
                                      const struct wire_slot *slot)
{
    const struct route_attach *attach = &fabric->route.attach[slot->to];
    uint32_t out = attach->egress;

    if (in->peer != attach->switch_node) {
        struct route_set set = route_lookup(&fabric->route, in->peer, slot->to);
        uint32_t choice = 0;

        if (set.n == 0)
            return NULL;
        if (set.n > 1)
            choice = fabric->choice->choose(
                &fabric->switches[in->peer - fabric->engine.graph->n_hosts], slot->entropy, set.n);
        out = fabric->route.ports[set.first + choice];
    }
    return &fabric->ports[out];
}

/* What a host hands to its port. */
static inline struct wire_slot port_slot(struct packet *packet)
{
    return (struct wire_slot){.packet = packet,
                              .bytes = packet->bytes,
                              .to = packet->to,
                              .entropy = packet->entropy,
                              .class = packet->class,
                              .ecn = packet->ecn};
}

#endif
