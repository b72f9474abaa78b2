/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/packet.h"
#include "sim/core/pages.h"
#include <stdlib.h>

#define BLOCK_BYTES PAGES_HUGE_BYTES

void packet_pool_init(struct packet_pool *pool)
{
    *pool = (struct packet_pool){.blocks = g_ptr_array_new_with_free_func(free)};
}

void packet_pool_clear(struct packet_pool *pool)
{
    g_clear_pointer(&pool->blocks, g_ptr_array_unref);
    pool->free = pool->fresh = pool->fresh_end = NULL;
}

int64_t packet_pool_used(const struct packet_pool *pool)
{
    int64_t n_block = BLOCK_BYTES / sizeof(struct packet);

    return (int64_t)pool->blocks->len * n_block - (pool->fresh_end - pool->fresh);
}

void packet_pool_move(struct packet_pool *from, struct packet_pool *to, int64_t n)
{
    for (; n > 0 && from->free; n--) {
        struct packet *packet = from->free;

        from->free = packet->next;
        packet->next = to->free;
        to->free = packet;
    }
}

void packet_pool_grow(struct packet_pool *pool)
{
    struct packet *block = pages_new(BLOCK_BYTES);

    if (!block)
        g_error("out of memory for packets (%" G_GINT64_FORMAT " alive)", pool->n_live);
    g_ptr_array_add(pool->blocks, block);
    pool->fresh = block;
    pool->fresh_end = block + BLOCK_BYTES / sizeof *block;
}
