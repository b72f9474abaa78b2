/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened to chosen flows of a run, kept for questions afterwards (explain.h, trace.h): an
 * observer (models/observer.h) that records operations, all of them, and, of the connections that
 * are asked for, every packet with its way, the states of their senders, and what the NICs of their
 * hosts sent. Kept is what may matter between the instants that are asked for; pauses of all ports
 * are kept always.
 */
#ifndef WEFT_SIM_APP_JOURNAL_H
#define WEFT_SIM_APP_JOURNAL_H

#include "models/observer.h"
#include "sim/app/experiment.h"

/* One wire that a packet crossed, or was to cross. */
struct journal_hop {
    uint32_t port;
    int64_t came_ps;          /* to the node at which the port is; at a host: made */
    int64_t start_ps, end_ps; /* first and last bit enter the wire */
    int64_t arrive_ps;        /* taken in at the other end */
    bool there;               /* it did arrive: not lost, the run not over */
};

enum journal_fate { JOURNAL_ON_ITS_WAY, JOURNAL_HANDLED, JOURNAL_LOST };

/* One packet, from the host that made it to its end; one transmission. */
struct journal_trip {
    guint n_holders; /* who points here */
    const void *connection;
    uint64_t flow;      /* data: operation of the schedule */
    uint32_t sequence;  /* data: number of the packet in its message */
    uint32_t n_before;  /* data: transmissions of it before this one */
    uint32_t bytes;     /* on the wire */
    uint8_t class, ecn; /* ecn as it arrived, or last seen */
    enum journal_fate fate;
    enum sink_drop cause;        /* if lost */
    uint32_t lost_at;            /* port, if lost */
    int64_t made_ps, end_ps;     /* end: handled, lost; or SINK_NEVER */
    struct journal_trip *before; /* data: the transmission before, or NULL */
    /* control: the packet whose arrival made the transport answer; or, if `waited`, the last one
     * that had come when a timer made it speak; NULL: none */
    struct journal_trip *cause_trip;
    bool waited;
    struct journal_lane *lane; /* data: the sender it was pulled from */
    uint32_t period;           /* data: in which of the lane's periods */
    uint32_t n_hops, room;
    struct journal_hop *hops;
};

enum journal_wake { JOURNAL_POST, JOURNAL_PACKET, JOURNAL_TIMER };

/* Time in which a sender had, or may have had, something to send. */
struct journal_period {
    int64_t ready_ps, blocked_ps; /* blocked: INT64_MAX while it lasts */
    enum journal_wake wake;
    struct journal_trip *by;        /* JOURNAL_PACKET */
    struct journal_trip *last_sent; /* data of the connection, before ready_ps; NULL: none */
};

struct journal_span {
    int64_t from_ps, to_ps;
};

/* A sender: a claim on one NIC port. */
struct journal_lane {
    const struct sender *sender; /* a name, not to be followed after the run */
    uint32_t port;
    GArray *periods; /* struct journal_period */
    GArray *paced;   /* struct journal_span */
    bool is_ready;
};

/* What the port of a host put on its wire. */
struct journal_sending {
    int64_t start_ps, end_ps;
    const void *connection; /* NULL: a pause frame */
    uint64_t flow;          /* data */
    uint8_t class;
};

struct journal_pause {
    int64_t time_ps;
    uint32_t classes; /* that may not be sent from then on */
};

/* An operation's instants, SINK_NEVER where it did not get there. */
struct journal_op {
    int64_t enabled_ps; /* its dependencies were met; roots: SINK_NEVER */
    int64_t begun_ps;   /* its start_ps had come as well */
    int64_t posted_ps;  /* message: handed to the transport */
    int64_t delivered_ps, acknowledged_ps, completed_ps;
    uint64_t by; /* the operation whose edge came last; SCHEDULE_NONE: a root */
    enum schedule_when when;
    struct journal_trip *delivered_by, *acknowledged_by; /* of connections asked for; else NULL */
};

struct journal {
    struct observer observer; /* first */
    const struct experiment *experiment;
    struct journal_op *ops; /* of the schedule, n_ops */
    GPtrArray *trips;  /* struct journal_trip *, those kept, in the order in which they ended */
    GArray **sendings; /* by directed port: struct journal_sending; NULL: none kept */
    GArray **pauses;   /* by directed port: struct journal_pause; NULL: none */
    /* while it records */
    GHashTable *wanted;            /* pair of hosts -> struct windows * */
    struct windows **hosts;        /* by host, NULL: not wanted */
    GHashTable *live;              /* struct packet * -> struct journal_trip * */
    GHashTable *connections;       /* struct connection * -> struct journal_connection * */
    GHashTable *lanes;             /* struct sender * -> struct journal_lane * */
    GPtrArray *windows;            /* all of them, for freeing */
    struct journal_trip *handling; /* what a transport is being given, if it is recorded */
    bool is_handling, is_posting;
};

/* Before the run: the journal becomes the experiment's observer. journal_clear() at the end. */
void journal_init(struct journal *journal, struct experiment *experiment);

/* Records the connections from host `src` to host `dst` between two instants. */
void journal_want(struct journal *journal, uint32_t src, uint32_t dst, int64_t from_ps,
                  int64_t to_ps);

void journal_clear(struct journal *journal);

#endif
