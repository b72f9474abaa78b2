/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/packet.h"
#include <stdlib.h>

#define BLOCK_PACKETS 1024

void packet_pool_init(struct packet_pool *pool)
{
    *pool = (struct packet_pool){.blocks = g_ptr_array_new_with_free_func(free)};
}

void packet_pool_clear(struct packet_pool *pool)
{
    g_clear_pointer(&pool->blocks, g_ptr_array_unref);
    pool->free = NULL;
}

void packet_pool_grow(struct packet_pool *pool)
{
    struct packet *block = aligned_alloc(64, BLOCK_PACKETS * sizeof(struct packet));

    if (!block)
        g_error("out of memory for packets (%" G_GINT64_FORMAT " alive)", pool->n_live);
    g_ptr_array_add(pool->blocks, block);
    for (int i = BLOCK_PACKETS - 1; i >= 0; i--) {
        block[i].next = pool->free;
        pool->free = &block[i];
    }
}
