/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time of a message or of a collective went: its critical chain, walked backwards through
 * what a journal has recorded, and cut into segments that follow one another without gap or
 * overlap. Each lies between instants that were recorded; nothing is a remainder.
 *
 * The chain of a message ends when it is delivered (or acknowledged) and begins when it is handed
 * to the transport. Backwards from its end:
 * - the packet whose arrival ended it: what its NIC took to take it in, and for each wire from the
 *   last to the first: switch latency, propagation, serialisation, the wait before it (as far as
 *   the port was paused: pause, else queueing);
 * - why that packet was sent at that time. If it was a retransmission, the time since the
 *   transmission before counts as recovery, and within it the chain goes on as below; then it goes
 *   on at that transmission. If it was not, back through the time in which its sender had something
 *   to send without a break: what the NIC sent meanwhile (bytes of the message: serialisation;
 * other messages of the connection, other traffic: queueing at the NIC), pacing, pauses;
 * - what made the sender ready then. The post of the message: the end. A packet (an acknowledgement
 *   that opened the window): its way back, likewise, to the receiver, and from there the packet
 * that it answers. All between such a packet's sending and the acknowledgement's arrival counts as
 *   waiting for the window. A timer: all since the connection's last packet was sent is a timeout.
 * A segment that would begin before the message was posted is cut there.
 *
 * The chain of a collective goes from its last operation through what each waited for: the message
 * as above, what the node took to issue it and to tell of it, reductions, computations, times given
 * by the schedule.
 */
#ifndef WEFT_SIM_APP_EXPLAIN_H
#define WEFT_SIM_APP_EXPLAIN_H

#include "sim/app/journal.h"

enum explain_part {
    EXPLAIN_SERIALISATION, /* onto a wire */
    EXPLAIN_PROPAGATION,
    EXPLAIN_SWITCH,     /* latency of switches */
    EXPLAIN_QUEUE,      /* in a port of a switch */
    EXPLAIN_NIC_OWN,    /* behind other messages of the connection */
    EXPLAIN_NIC_OTHERS, /* behind other traffic of the NIC */
    EXPLAIN_PAUSE,
    EXPLAIN_PACING,
    EXPLAIN_TIMEOUT, /* nothing sent until a timer of the sender */
    EXPLAIN_TURN,    /* a sender had nothing to send until another message was posted */
    EXPLAIN_ANSWER,  /* an answer waited for a timer of the receiver */
    EXPLAIN_INTAKE,  /* the receiving NIC */
    EXPLAIN_IDLE,    /* the NIC sent nothing though it could have: does not happen */
    EXPLAIN_ISSUE,   /* of the node */
    EXPLAIN_NOTIFY,  /* of the node */
    EXPLAIN_REDUCE,
    EXPLAIN_COMPUTE,
    EXPLAIN_SCHEDULE, /* not before a time that the schedule gives */
    EXPLAIN_N_PARTS
};

/* Under which heading a segment lies. */
enum explain_why { EXPLAIN_DIRECT, EXPLAIN_WINDOW, EXPLAIN_RECOVERY, EXPLAIN_N_WHYS };

struct explain_segment {
    int64_t from_ps, to_ps;
    enum explain_part part;
    enum explain_why why;
    uint32_t port;                   /* directed, where it is at one; UINT32_MAX elsewhere */
    uint64_t op;                     /* of which operation's chain */
    const struct journal_trip *trip; /* the packet, or NULL */
};

/* An operation of a chain, and the part of it that lies in the chain. */
struct explain_link {
    uint64_t op;
    int64_t from_ps, to_ps;
};

struct explain {
    const struct journal *journal;
    GArray *segments; /* struct explain_segment, the latest first */
    GArray *chain;    /* of operations: struct explain_link, the last first */
    int64_t from_ps, to_ps;
    int64_t part_ps[EXPLAIN_N_PARTS][EXPLAIN_N_WHYS];
    int64_t sum_ps;                  /* of all segments; to - from if nothing is broken */
    const struct journal_trip *last; /* of a message: the packet that ended it; NULL: none */
    const char *broken;              /* why the walk did not come to its beginning; NULL: it did */
    bool with_packets;               /* false: messages of the chain have no segments */
    uint64_t n_open;                 /* operations that did not end */
};

/* One message, from its post to its delivery. Free with explain_clear(). */
void explain_message(struct explain *explain, const struct journal *journal, uint64_t op);

/*
 * From the first start of a group's operations to the end of its last one. Without packets only
 * its chain is found: what has to be recorded to explain it.
 */
void explain_group(struct explain *explain, const struct journal *journal, uint32_t group,
                   bool with_packets);

/* The same from the first operation's start to the last one's end. */
void explain_run(struct explain *explain, const struct journal *journal, bool with_packets);

void explain_clear(struct explain *explain);

const char *explain_part_name(enum explain_part part);
const char *explain_why_name(enum explain_why why);

#endif
