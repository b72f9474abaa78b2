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

void packet_pool_grow(struct packet_pool *pool)
{
    struct packet *block = pages_new(BLOCK_BYTES);

    if (!block)
        g_error("out of memory for packets (%" G_GINT64_FORMAT " alive)", pool->n_live);
    g_ptr_array_add(pool->blocks, block);
    pool->fresh = block;
    pool->fresh_end = block + BLOCK_BYTES / sizeof *block;
}
