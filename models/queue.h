/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue seam: what a switch port does with a packet that arrives, seeing the bytes that wait
 * (without the packet in service and without the arriving one). FIFO disciplines only: they let the
 * port compute a packet's departure when it arrives, without an event for it.
 * A discipline is one queue_NAME.c and one line in models/queue_list.c.
 */
#ifndef WEFT_MODELS_QUEUE_H
#define WEFT_MODELS_QUEUE_H

#include "models/backend.h"
#include "sim/core/random.h"

enum queue_verdict { QUEUE_ACCEPT, QUEUE_MARK, QUEUE_DROP };

/* Derived once from queue_config. */
struct queue_rule {
    int64_t kmin_bytes, kmax_bytes;
    uint64_t slope; /* marking threshold (2^64 = certain) per byte above kmin */
};

struct queue_ops {
    const char *name, *summary, *source;
    void (*derive)(const struct queue_config *config, struct queue_rule *rule);
    /* Called for packets that can carry a mark; the byte limit has been checked already. */
    enum queue_verdict (*admit)(const struct queue_rule *rule, struct random_stream *draws,
                                int64_t waiting_bytes);
};

extern const struct queue_ops queue_droptail, queue_red, queue_step;
extern const struct queue_ops *const queue_list[]; /* in the order of the choice queue.kind */

#endif
