/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drop-tail FIFO: no marks; what does not fit the byte limit is dropped by the port. */
#include "models/queue.h"

static void derive(const struct queue_config *config, struct queue_rule *rule)
{
    (void)config;
    *rule = (struct queue_rule){0};
}

static enum queue_verdict admit(const struct queue_rule *rule, struct random_stream *draws,
                                int64_t waiting_bytes)
{
    (void)rule;
    (void)draws;
    (void)waiting_bytes;
    return QUEUE_ACCEPT;
}

const struct queue_ops queue_droptail = {
    .name = "droptail",
    .summary = "FIFO with a byte limit, no marks.",
    .source = "textbook",
    .derive = derive,
    .admit = admit,
};
