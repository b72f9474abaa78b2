/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The native engine: ports, wires and switches on our event heap. Here is what all ports share; how
 * packets wait at a port is its form (port.h), what happens at both ends of a wire port_wire.h.
 *
 * The latency of a switch is added to the wires that lead into it.
 */
#ifndef WEFT_MODELS_FABRIC_H
#define WEFT_MODELS_FABRIC_H

#include "models/buffer.h"
#include "models/ecn_map.h"
#include "models/faults.h"
#include "models/pfc.h"
#include "models/port.h"
#include "models/queue.h"
#include "models/route.h"

struct switch_state {
    uint64_t hash_seed;
    struct random_stream spray;
    struct buffer buffer; /* kept by the form `priority` */
};

struct route_ops;

#define FABRIC_N_MET 2
/*
 * What moves a fabric's clock and, with it, its packets: our event heap alone, or another simulator
 * beneath it (models/ns3).
 */
struct fabric_driver {
    const struct port_ops *form; /* NULL: one of ours, by the configuration */
    /* Refuses what it cannot play; before there are ports. NULL: plays all. */
    gboolean (*check)(const struct fabric *fabric, GError **error);
    /* The fabric is set up, hosts are not. NULL: nothing to do. */
    gboolean (*begin)(struct fabric *fabric, GError **error);
    /* All is told, or begin() failed. NULL: nothing to do. */
    void (*end)(struct fabric *fabric);
    /* As event_queue_run_some(). */
    uint64_t (*run)(struct fabric *fabric, int64_t end_ps, const bool *stop, uint64_t n_most);
    bool (*is_over)(struct fabric *fabric); /* nothing is left to happen */
    /* Faults: a link goes down or up; fabric->route has changed. NULL: no need to know. */
    void (*set_link)(struct fabric *fabric, uint32_t link, bool up);
    void (*rerouted)(struct fabric *fabric);
};
extern const struct fabric_driver fabric_native;

struct fabric {
    struct engine engine; /* first */
    const struct backend_run *run;
    const struct model_config *model;
    struct route route;
    const struct port_ops *form;
    struct port *ports; /* by directed port number */
    uint32_t n_ports;
    struct switch_state *switches; /* by node - n_hosts */
    const struct queue_ops *queue;
    struct ecn_map marks; /* rules of the queues, by port->mark_rule */
    const struct route_ops *choice;
    uint64_t n_hops;
    const struct port *met[FABRIC_N_MET]; /* of the form `fifo`: ports lately looked ahead at */
    uint32_t n_met;
    int64_t n_dropped_class[PACKET_N_CLASSES];
    /* of the form `priority` */
    const struct buffer_ops *buffer;
    struct buffer_rule buffer_rule;
    struct pfc_rule pfc;
    uint8_t priority_of[PACKET_N_CLASSES];
    bool mark_at_dequeue;
    int64_t frame_bytes;     /* the largest packet of the run's transports */
    uint64_t n_pauses;       /* pause frames among the hops */
    struct drop_list *drops; /* NULL: none; owned */
    struct faults faults;
    const struct fabric_driver *driver;
    void *driver_state; /* the driver's own */
    GError *error;      /* the driver's: the run cannot go on */
    /*
     * Of a run on several threads (parallel.h): by directed port, its twin where packets arrive, or
     * NULL; by node, the queue of its part. NULL: one thread.
     */
    struct port **twins;
    struct event_queue **queues;
};

/* Where the packets of a port arrive, and what may be lost on its wire. */
static inline struct port *fabric_landing(const struct fabric *fabric, uint32_t number)
{
    return fabric->twins && fabric->twins[number] ? fabric->twins[number] : &fabric->ports[number];
}

/* The events of a node. */
static inline struct event_queue *fabric_queue(struct fabric *fabric, uint32_t node)
{
    return fabric->queues ? fabric->queues[node] : &fabric->engine.events;
}

/* Sets up ports, switches and routes; hosts are set up by the caller. fabric_clear() in any case.
 */
gboolean fabric_init(struct fabric *fabric, const struct backend_run *run,
                     const struct fabric_driver *driver, GError **error);
void fabric_clear(struct fabric *fabric);

/* The form that the ports of a run have. */
const struct port_ops *fabric_form(const struct backend_run *run);

/* Packets at ports and on wires now, by walking them. */
void fabric_count_in_flight(const struct fabric *fabric, int64_t *n_packets, int64_t *n_bytes);

/* A port at one instant: what its transmitter has begun to send so far, and what waits for it. */
struct fabric_look {
    int64_t sent_bytes, queue_bytes;
    int64_t n_marked, n_dropped; /* packets; dropped by the port, any cause */
    int64_t n_pauses;            /* times its transmitter was paused */
};

/*
 * Looks at a directed port at `now_ps`, all events up to which have happened, and changes nothing.
 */
struct fabric_look fabric_look(const struct fabric *fabric, uint32_t port, int64_t now_ps);

/* True if `number` is in `list`, such as "all" or "0,2-3"; *valid is false for other texts. */
bool fabric_list_has(const char *list, uint32_t number, bool *valid);

/* The choice among equal-cost ports: an index below n >= 2. */
struct route_ops {
    const char *name, *summary, *source;
    uint32_t (*choose)(struct switch_state *state, uint32_t entropy, uint32_t n);
    bool repeatable; /* asked again, it answers the same */
};
extern const struct route_ops route_ecmp, route_spray;
extern const struct route_ops *const route_list[]; /* in the order of the choice route.kind */

#endif
