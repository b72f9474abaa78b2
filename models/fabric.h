/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The native engine: ports, wires and switches on our event heap.
 *
 * A directed port is a FIFO queue, a transmitter and a wire in one. Because the queue is FIFO and
 * the rate constant, a packet's start of transmission and its arrival at the other end are known
 * when it is admitted; it goes into the wire's ring at once, and the port has a single pending
 * event, the arrival of the ring's head. Bytes waiting are those whose transmission has not
 * started, counted lazily when somebody looks. So a packet costs one event a hop, and the heap
 * holds ports.
 *
 * The latency of a switch is added to the wires that lead into it.
 */
#ifndef WEFT_MODELS_FABRIC_H
#define WEFT_MODELS_FABRIC_H

#include "models/engine.h"
#include "models/queue.h"
#include "models/route.h"

/*
 * A packet on a wire or waiting for it. It carries what switches need, so that a packet's own
 * memory is touched only where it is made, marked for its receiver, and received.
 */
struct wire_slot {
    int64_t arrive_ps; /* last bit at the other end, plus the switch's latency */
    struct packet *packet;
    uint32_t bytes, to, entropy;
    uint16_t class;
    uint16_t ecn;
};

struct port {
    /* first cache line: what the arrival of the ring's head touches */
    _Alignas(64) struct event arrival;
    struct wire_slot *ring;
    uint32_t mask, head, tail, started; /* ring[head..tail) on the wire or waiting to start */
    uint32_t number, peer;              /* directed port of the graph; node at its end */
    uint8_t loss_classes;               /* bit set of packet classes */
    bool peer_is_switch;
    bool from_host;
    /* second: what a departure touches */
    _Alignas(64) int64_t busy_until_ps;
    int64_t waiting_bytes; /* in the ring, transmission not started when last looked at */
    int64_t ps_per_byte;   /* 0 where the rate gives no whole number */
    int64_t delay_ps;
    int64_t limit_bytes;
    int64_t n_packets, n_bytes;
    int64_t max_waiting_bytes;
    /* now and then */
    uint64_t loss_threshold;
    struct random_stream loss_draws, mark_draws;
    int64_t rate_bps;
    int64_t drift_ppt, drift_rest; /* of a NIC's clock */
    int64_t n_marked;
    int64_t n_dropped[SINK_N_DROPS], n_dropped_bytes;
    struct event ready; /* the transmitter becomes free; host ports only */
};

struct switch_state {
    uint64_t hash_seed;
    struct random_stream spray;
};

struct route_ops;

struct fabric {
    struct engine engine; /* first */
    const struct model_config *model;
    struct route route;
    struct port *ports; /* by directed port number */
    uint32_t n_ports;
    struct switch_state *switches; /* by node - n_hosts */
    const struct queue_ops *queue;
    struct queue_rule queue_rule;
    const struct route_ops *choice;
    uint64_t n_hops;
};

/* Sets up ports, switches and routes; hosts are set up by the caller. */
gboolean fabric_init(struct fabric *fabric, const struct graph *graph,
                     const struct model_config *model, uint64_t seed, GError **error);
void fabric_clear(struct fabric *fabric);

/* Packets in rings now, by walking them. */
void fabric_count_in_flight(const struct fabric *fabric, int64_t *n_packets, int64_t *n_bytes);

/* A port at one instant: what its transmitter has begun to send so far, and what waits for it. */
struct fabric_look {
    int64_t sent_bytes, queue_bytes;
    int64_t n_marked, n_dropped; /* packets; dropped by the port, any cause */
    int64_t n_pauses;            /* times its transmitter was paused */
};

/*
 * Looks at a directed port at `now_ps`, all events up to which have happened, and changes nothing:
 * what has started is counted anew from the ring, as port_look() would.
 */
struct fabric_look fabric_look(const struct fabric *fabric, uint32_t port, int64_t now_ps);

/* The choice among equal-cost ports: an index below n >= 2. */
struct route_ops {
    const char *name, *summary, *source;
    uint32_t (*choose)(struct switch_state *state, uint32_t entropy, uint32_t n);
};
extern const struct route_ops route_ecmp, route_spray;
extern const struct route_ops *const route_list[]; /* in the order of the choice route.kind */

#endif
