/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-packet spraying by the switch: each packet draws a port. Breaks the order within a 5-tuple;
 * here to see how transports that read gaps as losses bear it.
 */
#include "models/fabric.h"

static uint32_t choose(struct switch_state *state, uint32_t entropy, uint32_t n)
{
    (void)entropy;
    return (uint32_t)random_below(&state->spray, n);
}

const struct route_ops route_spray = {
    .name = "spray",
    .summary = "A uniform random port for each packet; reorders.",
    .source = "Dixit et al., INFOCOM 2013 (random packet spraying)",
    .choose = choose,
};
