/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Step marking: every packet that finds kmin bytes or more waiting is marked.
 * Source: DCTCP (Alizadeh et al., SIGCOMM 2010), section 3.1.
 */
#include "models/queue.h"

static void derive(const struct queue_config *config, struct queue_rule *rule)
{
    *rule = (struct queue_rule){.kmin_bytes = config->kmin};
}

static enum queue_verdict admit(const struct queue_rule *rule, struct random_stream *draws,
                                int64_t waiting_bytes)
{
    (void)draws;
    return waiting_bytes >= rule->kmin_bytes ? QUEUE_MARK : QUEUE_ACCEPT;
}

const struct queue_ops queue_step = {
    .name = "step",
    .summary = "FIFO with a byte limit; marks every packet that finds kmin bytes waiting.",
    .source = "DCTCP, SIGCOMM 2010, 3.1",
    .derive = derive,
    .admit = admit,
};
