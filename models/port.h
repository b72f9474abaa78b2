/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directed port: queue, transmitter and wire in one. How packets wait at it is the port's form:
 *   fifo      lazy: the departure of a packet is known when it is admitted; one event a hop
 *   priority  event-driven: priorities, shared buffer, PFC, marks at dequeue, slow hosts
 * A run has one form, chosen once from its configuration (fabric.c); the events of a port are the
 * form's own functions, so that nothing on a packet's way asks which form it is, nor whether the
 * run is observed: each form has a second set of functions for that, compiled from the same code.
 */
#ifndef WEFT_MODELS_PORT_H
#define WEFT_MODELS_PORT_H

#include "models/loss.h"

struct fabric;
struct fabric_look;
struct port_lanes;

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

/* What few ports have: those that lose packets, have dropped some, or run on a slow clock. */
struct port_rare {
    loss_draw *lose; /* asked for the loss_classes */
    uint64_t loss_threshold;
    struct random_stream loss_draws;
    struct port_loss *loss;        /* NULL: by chance alone; owned */
    int64_t drift_ppt, drift_rest; /* of a NIC's clock */
    int64_t n_dropped[SINK_N_DROPS], n_dropped_bytes;
};

/*
 * Three cache lines: what the arrival of the ring's head touches, what a departure touches besides,
 * and what is needed now and then.
 */
struct port {
    _Alignas(64) struct event arrival;
    struct wire_slot *ring;
    uint32_t mask, head, tail, started; /* ring[head..tail) on the wire or waiting to start */
    uint32_t number, peer;              /* directed port of the graph; node at its end */
    uint32_t ps_per_byte;               /* 0: not a whole number, or a clock that drifts */
    uint8_t loss_classes;               /* bit set of packet classes that may be lost here */
    uint8_t markable_ecn;               /* enum packet_ecn of packets that may be marked here */
    uint8_t mark_rule;                  /* entry of the fabric's ecn_map */
    bool peer_is_switch : 1, from_host : 1;
    _Alignas(64) int64_t busy_until_ps;
    int64_t waiting_bytes; /* in the ring, transmission not started when last looked at */
    int64_t delay_ps;
    int64_t limit_bytes;
    int64_t n_packets, n_bytes;
    int64_t max_waiting_bytes;
    struct port_lanes *lanes; /* of the form `priority`; owned */
    _Alignas(64) struct random_stream mark_draws;
    int64_t n_marked;
    int64_t rate_bps;
    struct port_rare *rare; /* NULL: none; owned */
    struct event ready;     /* the transmitter becomes free; `fifo`: host ports only */
};

G_STATIC_ASSERT(sizeof(struct port) == 192);

/* The port's rare part, made if it has none; and its end. */
struct port_rare *port_rare(struct port *port);
void port_rare_free(struct port *port);

/* The faults that touch the port; NULL: none (models/faults.h). */
static inline struct port_faults *port_faults(const struct port *port)
{
    return port->rare && port->rare->loss ? port->rare->loss->faults : NULL;
}

static inline int64_t port_n_dropped(const struct port *port, enum sink_drop cause)
{
    return port->rare ? port->rare->n_dropped[cause] : 0;
}

struct port_ops {
    const char *name, *summary;
    size_t bytes; /* that a port has beside its struct */
    /* Sets the port's events; the rest of the port is set. */
    void (*init)(struct fabric *fabric, struct port *port);
    void (*clear)(struct port *port);
    /* What engine_send() and engine_port_idle() do at a host's port. */
    void (*send)(struct engine *engine, uint32_t port, struct packet *packet);
    bool (*idle)(struct engine *engine, uint32_t port);
    /* Adds what waits at the port or is on its wire, by walking it. */
    void (*count)(const struct port *port, int64_t *n_packets, int64_t *n_bytes);
    /* What its transmitter has sent and what waits, as of `now_ps`; changes nothing. */
    void (*look)(const struct port *port, int64_t now_ps, struct fabric_look *look);
    /*
     * Transmissions that have not begun have another rate; the end of the last one that has, or
     * now.
     */
    int64_t (*set_rate)(struct fabric *fabric, struct port *port, int64_t rate_bps);
    /* What the form alone knows of a port, at the end. */
    void (*report)(const struct fabric *fabric, const struct port *port, struct sink_port *record);
};

extern const struct port_ops port_fifo, port_priority;

/* The same, telling the engine's observer (observer.h). */
extern const struct port_ops port_fifo_observed, port_priority_observed;

#endif
