/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RED marking on the instantaneous queue, as DCQCN's congestion point:
 *   q <= kmin: never;  kmin < q < kmax: pmax (q - kmin) / (kmax - kmin);  q >= kmax: always.
 * No averaging, and packets that cannot carry a mark are not dropped early.
 * Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, 3.1.
 */
#include "models/queue.h"

static void derive(const struct queue_config *config, struct queue_rule *rule)
{
    int64_t span = config->kmax - config->kmin;

    *rule = (struct queue_rule){.kmin_bytes = config->kmin, .kmax_bytes = config->kmax};
    rule->slope = span > 0 ? random_threshold(config->pmax) / (uint64_t)span : 0;
}

static enum queue_verdict admit(const struct queue_rule *rule, struct random_stream *draws,
                                int64_t waiting_bytes)
{
    if (waiting_bytes <= rule->kmin_bytes)
        return QUEUE_ACCEPT;
    if (waiting_bytes >= rule->kmax_bytes)
        return QUEUE_MARK;
    return random_next(draws) < rule->slope * (uint64_t)(waiting_bytes - rule->kmin_bytes)
               ? QUEUE_MARK
               : QUEUE_ACCEPT;
}

const struct queue_ops queue_red = {
    .name = "red",
    .summary = "FIFO with a byte limit; marks with a probability that rises from kmin to kmax.",
    .source = "DCQCN, SIGCOMM 2015, 3.1",
    .derive = derive,
    .admit = admit,
};
