/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sink contract: what happened. A backend hands typed records to a sink; writers, tables and
 * tests are sinks. Records and the texts they point to live only during the call.
 */
#ifndef WEFT_SIM_CORE_SINK_H
#define WEFT_SIM_CORE_SINK_H

#include <stdint.h>

#define SINK_REACH_UNKNOWN (-1)
#define SINK_NEVER         (-1) /* a time that was not reached; written as an empty field */

enum sink_status { SINK_FINISHED, SINK_UNFINISHED, SINK_FAILED };

/* One message of the schedule, from its first byte at the sender to its end. */
struct sink_flow {
    uint64_t flow;         /* number of the operation in the schedule */
    uint32_t src, dst;     /* hosts */
    const char *transport; /* profile's name, or the transport's */
    int64_t bytes;
    int64_t start_ps;        /* handed to the transport; SINK_NEVER if it never became ready */
    int64_t end_receiver_ps; /* last byte placed (and in order, where the stream is ordered) */
    int64_t end_sender_ps;   /* last byte acknowledged */
    int64_t ideal_ps;        /* duration to the receiver on an idle fabric, no loss */
    int reach; /* enum graph_reach of its ends, or SINK_REACH_UNKNOWN where it never started */
    int64_t packets; /* data packets sent, retransmissions included */
    int64_t retransmitted_packets;
    int64_t spurious_retransmissions; /* retransmissions of what the receiver already had */
    int64_t timeouts;
    int64_t marked_packets; /* data packets that arrived with a congestion mark */
    enum sink_status status;
    uint32_t n_planes;
    const int64_t *bytes_by_plane; /* payload bytes received, by plane */
    uint32_t group;                /* of the schedule, or SCHEDULE_NO_GROUP */
    const char *reason;            /* why it is unfinished or failed; "" otherwise */
};

enum sink_drop {                      /* causes */
                 SINK_DROP_LOSS,      /* random loss on the wire (corruption) */
                 SINK_DROP_QUEUE,     /* tail drop: the queue's limit */
                 SINK_DROP_NO_ROUTE,  /* no next hop */
                 SINK_DROP_BUFFER,    /* the switch's shared memory is full */
                 SINK_DROP_HEADROOM,  /* a lossless class beyond its headroom */
                 SINK_DROP_LISTED,    /* lost on the wire because a drop list says so */
                 SINK_DROP_HOST,      /* the receiving NIC's buffer is full */
                 SINK_DROP_LINK_DOWN, /* the link was down before the packet was over */
                 SINK_N_DROPS
};

/* One direction of one link. */
struct sink_port {
    uint32_t port, node, peer, plane, tier;
    int64_t packets, bytes; /* sent on the wire, headers included */
    int64_t marked_packets;
    int64_t dropped_packets[SINK_N_DROPS];
    int64_t max_queue_bytes; /* without the packet in service */
    int64_t pauses_sent;     /* pause frames put on this wire */
    int64_t pauses_received; /* pause frames that silenced or released this port */
    int64_t paused_ps;       /* time in which at least one priority was paused */
};

/* One collective call, or what else the schedule groups. */
struct sink_group {
    const char *name;
    int64_t bytes;
    uint32_t n_ranks;
    int64_t factor_n, factor_d;
    int64_t start_ps, end_ps; /* first start, last receiver end; SINK_NEVER if unfinished */
    uint64_t n_ops, n_ops_done;
    uint32_t n_calls;       /* of `bytes` each; 0 means 1 */
    uint32_t element_bytes; /* of a value; 0: no row as nccl-tests print it */
    int32_t root;           /* -1: none */
};

enum sink_time { /* what the time of a rank goes into (models/ledger.h) */
                 SINK_TIME_COMPUTE,
                 SINK_TIME_COLLECTIVE,
                 SINK_TIME_HOST,
                 SINK_TIME_NETWORK,
                 SINK_TIME_RECOVERY,
                 SINK_N_TIMES
};

/* One step of one rank; the times add up to its duration. */
struct sink_step {
    uint32_t rank, step; /* rank: its host */
    int64_t start_ps, end_ps;
    int64_t time_ps[SINK_N_TIMES];
};

/* One number at one instant: what was done since the step before, or a state. */
struct sink_series {
    int64_t time_ps;
    const char *object; /* "flow", "port", "plane", "host" */
    uint64_t id;        /* number of the operation, directed port, plane, host */
    const char *metric;
    int64_t value;
    const char *unit;
};

/* One number that describes the whole run: exact integers where the quantity is one. */
struct sink_metric {
    const char *name, *unit;
    double value;
};

struct sink_ops {
    void (*flow)(void *data, const struct sink_flow *flow);
    void (*port)(void *data, const struct sink_port *port);
    void (*group)(void *data, const struct sink_group *group);
    void (*metric)(void *data, const struct sink_metric *metric);
    void (*series)(void *data, const struct sink_series *series);
    void (*step)(void *data, const struct sink_step *step);
};

/* Any of the functions may be NULL: not wanted. */
struct sink {
    const struct sink_ops *ops;
    void *data;
};

const char *sink_drop_name(enum sink_drop cause);
const char *sink_time_name(enum sink_time time);
const char *sink_status_name(enum sink_status status);

#endif
