/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Equal-cost multipath: a hash of the packet's 5-tuple and the switch's own seed. Per flow: all
 * packets of one 5-tuple take one path. Equal seeds in all switches give the same index at each
 * tier (polarisation), as switches without seeds do.
 */
#include "models/fabric.h"

static uint32_t choose(struct switch_state *state, uint32_t entropy, uint32_t n)
{
    uint64_t hash = random_mix(state->hash_seed ^ entropy);

    return (uint32_t)((hash >> 32) * n >> 32);
}

const struct route_ops route_ecmp = {
    .name = "ecmp",
    .summary = "Hash of the 5-tuple and the switch's seed: one path per 5-tuple.",
    .source = "RFC 2992; per-switch seed as in HPCC's ns-3",
    .choose = choose,
    .repeatable = true,
};
