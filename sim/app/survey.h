/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be said of an experiment before it is run: who talks to whom over how many links, what
 * that weighs on each tier, and what the run will need.
 *
 * Every message is followed along one shortest path; of schedules with more than SURVEY_MOST_OPS
 * operations only every n-th operation is looked at and the counts are multiplied by n.
 */
#ifndef WEFT_SIM_APP_SURVEY_H
#define WEFT_SIM_APP_SURVEY_H

#include "models/need.h"
#include "sim/app/experiment.h"

#define SURVEY_MOST_OPS 200000

/*
 * How many packets are in flight at once is guessed: a connection fills its first window or its
 * message, a host has at most SURVEY_HOST_WINDOWS windows or bandwidth-delay products out, and
 * hosts whose messages begin one after the other are busy for their share of the time.
 */
#define SURVEY_HOST_WINDOWS 4
#define SURVEY_RANKS_A_STEP 16 /* a ring's ranks are a step ahead for so many; measured */
#define SURVEY_STEPS_AHEAD  64 /* at most */

#define SURVEY_MOST_USES 32

/* A setting of a transport, by the scenario or a group of hosts, that messages use. */
struct survey_use {
    const struct transport_profile *profile;
    int64_t most_rtt_ps;
};

struct survey {
    struct graph_facts facts;
    uint64_t n_messages, n_looked_at, step;
    uint64_t n_unreachable, n_late; /* messages without a path; starting after the end */
    int64_t payload_bytes;
    int64_t tier_bytes[8]; /* wire bytes of data, each packet once per link, by the link's tier */
    double n_packets, n_packet_hops;
    uint64_t n_connections;
    int64_t least_rtt_ps, most_rtt_ps; /* a full packet there, its acknowledgement back; idle */
    int64_t bdp_bytes;                 /* of the longest round trip and the fastest host */
    struct need need;
    struct survey_use uses[SURVEY_MOST_USES];
    uint32_t n_uses;
    uint32_t n_inner_groups, inner_group; /* collectives on links of hosts only; one of them */
};

void survey_make(struct survey *survey, const struct experiment *experiment);

/* What looks wrong though it is allowed, one line each: char *; g_ptr_array_unref. */
GPtrArray *survey_warnings(const struct survey *survey, const struct experiment *experiment);

#endif
