/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The congestion-control seam: reads what an acknowledgement says, writes a window and a rate. One
 * `struct cc` per thing that is controlled: a RoCEv2 queue pair, a MetaRoCE path. The transport
 * obeys the window; the host's pacing obeys the rate.
 */
#ifndef WEFT_MODELS_CC_H
#define WEFT_MODELS_CC_H

#include "sim/core/param.h"
#include <stdbool.h>
#include <stdint.h>

#define CC_ONE (INT64_C(1) << 16) /* windows are kept in 1/65536 packet */

/* What one acknowledgement says about the packets it newly covers. */
struct cc_ack {
    int64_t now_ps;
    int64_t rtt_ps;   /* of the packet that caused it; 0: not measured */
    int64_t n_acked;  /* packets newly acknowledged */
    int64_t n_marked; /* of those that arrived since the last one, how many carried CE */
    bool was_limited; /* the window was what held the sender back */
};

/* Limits and gains, derived once from the transport's parameters. */
struct cc_rule {
    int64_t initial, least, most; /* window, in CC_ONE */
    int64_t increase;             /* per round trip, in CC_ONE */
    int64_t gain;                 /* of the mark average, parts per trillion */
    bool halve;                   /* a mark halves instead of cutting by alpha / 2 */
    bool loss_halves;
};

struct cc {
    int64_t window;            /* in CC_ONE packets */
    int64_t rate_bps;          /* 0: not paced */
    int64_t alpha;             /* parts per trillion */
    int64_t n_acked, n_marked; /* in the present observation window */
    int64_t window_packets;    /* length of the observation window, packets */
    int64_t hold;              /* acknowledged packets until the next cut is allowed */
};

struct cc_ops {
    const char *name, *summary, *source;
    void (*start)(const struct cc_rule *rule, struct cc *cc);
    void (*heard)(const struct cc_rule *rule, struct cc *cc, const struct cc_ack *ack);
    void (*lost)(const struct cc_rule *rule, struct cc *cc);    /* a packet, by a gap */
    void (*timeout)(const struct cc_rule *rule, struct cc *cc); /* nothing heard for an RTO */
};

extern const struct cc_ops cc_fixed, cc_aimd;

#endif
