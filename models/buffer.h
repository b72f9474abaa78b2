/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a switch behind its queues. What a packet in service holds is not counted: a queue
 * is what waits. A packet fits if its queue stays within its limit and the switch has the bytes:
 *   per port          limit = queue.limit (or the link's own), memory without bound
 *   shared, dynamic   limit = alpha x free (Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998)
 *   shared, fixed     limit = port_size
 * Free is the size without the headroom of PFC and without what waits.
 */
#ifndef WEFT_MODELS_BUFFER_H
#define WEFT_MODELS_BUFFER_H

#include "models/backend.h"

struct buffer { /* of a switch */
    int64_t pool_bytes, used_bytes, max_used_bytes;
};

/* Derived once from buffer_config. */
struct buffer_rule {
    int64_t alpha_ppt, port_bytes;
};

struct buffer_ops {
    const char *name, *summary;
    /* Bytes that may wait in a queue whose port has `port_limit_bytes` by itself. */
    int64_t (*limit_bytes)(const struct buffer_rule *rule, const struct buffer *buffer,
                           int64_t port_limit_bytes);
};

/* The one the configuration asks for, and its rule. */
const struct buffer_ops *buffer_choose(const struct buffer_config *config,
                                       struct buffer_rule *rule);

/* alpha x the bytes that are free. */
int64_t buffer_share_bytes(const struct buffer *buffer, int64_t alpha_ppt);

static inline bool buffer_has(const struct buffer *buffer, int64_t bytes)
{
    return buffer->used_bytes + bytes <= buffer->pool_bytes;
}

static inline void buffer_take(struct buffer *buffer, int64_t bytes)
{
    buffer->used_bytes += bytes;
    if (buffer->used_bytes > buffer->max_used_bytes)
        buffer->max_used_bytes = buffer->used_bytes;
}

static inline void buffer_give(struct buffer *buffer, int64_t bytes)
{
    buffer->used_bytes -= bytes;
}

#endif
