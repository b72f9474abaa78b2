/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event-driven form of a port: a queue for each priority, served strictly by priority; shared
 * buffer, marks at enqueue or dequeue, and pauses. A packet goes from its queue to the wire when
 * its transmission starts, so what waits is known at any time; the price is an event for each
 * transmission that something waits for. A packet that finds the transmitter idle and its priority
 * open never waits, and is not counted anywhere.
 */
#ifndef WEFT_MODELS_PORT_PRIORITY_H
#define WEFT_MODELS_PORT_PRIORITY_H

#include "models/fabric.h"

#define PORT_N_PRIORITIES 8

struct waiting {
    struct wire_slot slot;
    uint32_t in; /* directed port by which it came to the switch */
};

struct lane { /* a FIFO queue */
    struct waiting *ring;
    uint32_t mask, head, tail;
    int64_t bytes;
};

/* What came in by one port at one priority and waits in the node; see pfc.h. */
struct pfc_ingress {
    struct event refresh;
    struct port *port;
    uint8_t priority;
    bool paused; /* its sender has been told to be silent */
    int64_t shared_bytes, headroom_bytes;
};

struct port_lanes {
    struct port *port;
    struct lane lanes[PORT_N_PRIORITIES];
    uint8_t backlog; /* bit set of priorities: something waits */
    uint8_t paused;  /* the other end wants silence */
    uint8_t due;     /* pause frames to be sent before anything else */
    /* pauses heard */
    int64_t paused_until_ps[PORT_N_PRIORITIES];
    struct event expiry;
    int64_t paused_since_ps, paused_ps;
    int64_t n_pauses_received;
    int64_t n_silences; /* times the port became silent */
    /* pause frames on this port's wire, in order */
    struct packet *frames, **last_frame;
    struct event effect;
    struct packet *posted, **last_posted; /* those not handed over to another part yet */
    int64_t link_delay_ps;
    int64_t n_pauses_sent;
    /* the node at the other end */
    struct pfc_ingress ingress[PORT_N_PRIORITIES];
    int64_t headroom_limit_bytes; /* of each priority */
    struct lane intake;           /* a slow host's: what arrived and is not taken in */
    int64_t intake_rate_bps, intake_limit_bytes;
    struct event taken;
    int64_t taken_until_ps; /* when the last of it will be taken in */
};

/* Sends what may be sent, now or when the transmitter becomes free. */
void port_priority_kick(struct fabric *fabric, struct port *port);

extern const struct port_ops port_priority;

#endif
