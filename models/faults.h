/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults (sim/core/fault.h) as the native engine plays them.
 *
 * Down: a packet is lost, as "link_down", if its link was down at any time between its first bit at
 * one end and its last bit at the other; the latency of the switch behind does not count. What is
 * over at the very instant of the change has made it. Ports drain as ever: nobody tells them. When
 * a link is down is known beforehand, so the question is put once, to a packet that arrives.
 * Rate: transmissions that begin after the change have the new one; a NIC knows its own rate.
 * Loss: asked of packets that arrive after the change, beside all other loss; those of loss.class.
 * Routes: convergence_time after a link goes down or comes back, all switches have the shortest
 * paths of what is alive (route.h), at once. Nobody at an endpoint is told; a NIC sees its own
 * link.
 *
 * Changes happen within an instant after transmitters that become free and before arrivals. Ports
 * that no fault touches are asked nothing. Left out: links that fail one way, detection by the
 * switch next to the fault before the rest, routes that change switch by switch.
 * Source: our choice; SOURCES.md 4.1 for times.
 */
#ifndef WEFT_MODELS_FAULTS_H
#define WEFT_MODELS_FAULTS_H

#include "models/backend.h"
#include "models/loss.h"

struct route;

/* A link is down from down_ps to before up_ps. */
struct fault_outage {
    int64_t down_ps, up_ps;
};

/* Transmissions that end up to then were sent at this rate. */
struct fault_rate {
    int64_t last_ps, rate_bps;
};

/* Of a port that faults touch; owned by its port_loss. */
struct port_faults {
    const struct fault_outage *outages; /* by time */
    uint32_t n_outages;
    int64_t latency_ps; /* of the switch behind, part of delay_ps */
    GArray *rates;      /* struct fault_rate: those before the present one */
    uint64_t loss_threshold;
    uint8_t loss_classes;
    struct random_stream losses;
    loss_draw *others; /* what else may lose; asked for these classes */
    uint8_t others_classes;
};

/* Of a fabric; all zero where nothing ever fails. */
struct faults {
    GArray *steps;          /* struct fault_step; NULL: no faults */
    guint done;             /* of them */
    guint routed;           /* of them, known to the switches */
    int64_t convergence_ps; /* PARAM_AUTO: never */
    bool resilient;
    struct event event;
    int64_t next_ps;    /* of it; INT64_MAX: never */
    struct route *plan; /* all links alive; owned */
    uint8_t *dead;      /* by link, as the switches know it */
    GArray *outages;    /* struct fault_outage, by link, then time */
};

/* After the ports are set up; FALSE with an error if the list does not fit the graph. */
gboolean faults_init(struct fabric *fabric, GError **error);
void faults_clear(struct fabric *fabric);

/* What loses a packet on a port that faults touch, if its link was not down; or SINK_N_DROPS. */
enum sink_drop faults_lose(struct fabric *fabric, struct port *port, const struct wire_slot *slot);

/* Routes on which everybody is alive: what endpoints may know of the fabric. */
const struct route *faults_plan(const struct fabric *fabric);

#endif
