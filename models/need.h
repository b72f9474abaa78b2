/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run of the native backend will need: memory from the sizes of the structs and the counts
 * of what there is, time from the packet-hops and from how much memory they wander about in.
 *
 * Exact for what is known before the run (hosts, ports, routes, schedule). What is in flight is
 * known only afterwards: need_load is what a look at the traffic expects at most. Left out: what
 * loss makes a transport send again.
 */
#ifndef WEFT_MODELS_NEED_H
#define WEFT_MODELS_NEED_H

#include "models/backend.h"
#include "models/route.h"

/* Expected by whoever looked at the traffic. */
struct need_load {
    double connection_bytes, n_connections;
    double n_messages; /* posted and not yet released, at most at once */
    double n_packets;  /* queued or on their way, likewise */
    double busy_hosts; /* share of the hosts that send or receive */
    double work;       /* packet-hops of the whole run, by transport_need.work */
    double n_flows;    /* likewise */
};

struct need {
    /* bytes */
    double program, graph, schedule, hosts, ports, routes, connections, messages, packets, results;
    double bytes; /* their sum */
    double hop_ns;
    double set_up_s, cpu_s; /* cpu_s has the set-up in it */
};

void need_estimate(struct need *need, const struct backend_run *run, const struct route *route,
                   const struct need_load *load);

#endif
