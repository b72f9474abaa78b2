/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends and receives of a file, matched once: receives that name source and tag first, then those
 * of any tag, of any source, and of any of both; each in their order, and each takes the first send
 * that is left. Linear in their number.
 */
#ifndef WEFT_WORKLOADS_MATCH_H
#define WEFT_WORKLOADS_MATCH_H

#include <stdint.h>

#define MATCH_ANY INT64_C(-1)

enum match_kind { MATCH_NEITHER, MATCH_SEND, MATCH_RECEIVE };

struct match_item {
    enum match_kind kind;
    int64_t src, dst, tag; /* MATCH_ANY: a receive of any source or tag */
    uint32_t other;        /* set: the item it is matched with + 1; 0: none */
};

void match_all(struct match_item *items, uint32_t n_items);

#endif
