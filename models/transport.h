/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transport seam. A transport is one .c file whose only external symbol is its ops, plus one
 * line in models/transport_list.c (docs/ADDING.md walks through it).
 *
 * A connection carries messages one way, from host `src` to host `dst`; acknowledgements come back.
 * Its two halves, sender and receiver, share the struct but no state: each learns only from packets
 * it receives and from its own timers.
 *
 * The host pulls: a transport queues no packet. It registers a `struct sender` for each NIC port it
 * may use, says when that sender may have something to send (host_ready), and is asked (pull) when
 * the port is idle.
 */
#ifndef WEFT_MODELS_TRANSPORT_H
#define WEFT_MODELS_TRANSPORT_H

#include "models/engine.h"
#include "sim/core/param.h"
#include "sim/core/sink.h"

struct transport_ops;
struct connection;

/* First member of each transport's configuration: what the rest of the program needs to know. */
struct transport_common {
    int64_t payload;   /* user bytes in a full packet */
    int64_t header;    /* wire bytes beside the payload, Ethernet's 38 included */
    int64_t ack_bytes; /* wire bytes of an acknowledgement */
};

#define TRANSPORT_COMMON_PARAM(struct_, name_, value_, least_, most_, help_, source_)              \
    {                                                                                              \
        .name = #name_, .type = PARAM_BYTES, .offset = offsetof(struct_, common.name_),            \
        .value = value_, .least = least_, .most = most_, .help = help_, .source = source_          \
    }
/* The rows of transport_common; each configuration calls its member `common`. */
#define TRANSPORT_COMMON_PARAMS(struct_, header_, header_source_, ack_, ack_source_)               \
    TRANSPORT_COMMON_PARAM(struct_, payload, "4096B", "1B", "65536B",                              \
                           "User bytes in a full packet.",                                         \
                           "SOURCES.md 1.5: 4096 is the largest RoCE MTU"),                        \
        TRANSPORT_COMMON_PARAM(struct_, header, header_, "0B", "4096B",                            \
                               "Wire bytes of a data packet beside its payload.", header_source_), \
        TRANSPORT_COMMON_PARAM(struct_, ack_bytes, ack_, "1B", "4096B",                            \
                               "Wire bytes of an acknowledgement.", ack_source_)

/* A named set of transport parameters, as a scenario has it. */
struct transport_profile {
    char *name; /* the profile's name; "" for [transport] */
    const struct transport_ops *ops;
    void *config; /* ops->config_size bytes */
};

/*
 * One message on its way; the backend owns it, transports count in it. When it is delivered and
 * acknowledged and no packet names it any more, it is gone.
 */
struct message {
    struct connection *connection;
    uint64_t op; /* of the schedule */
    int64_t bytes;
    uint32_t stream;
    uint32_t n_out; /* packets that name it and are queued or on their way */
    bool delivered, acknowledged, failed;
    bool closed; /* the backend's: counted as over */
    bool kept;   /* the backend's: it stays to the end, and nobody counts its packets */
    int64_t start_ps, end_receiver_ps, end_sender_ps;
    /* counters, by the side that can know */
    int64_t packets, retransmitted_packets, timeouts;                 /* sender */
    int64_t received_bytes, marked_packets, spurious_retransmissions; /* receiver */
    int64_t *bytes_by_plane;                                          /* receiver; n_planes */
    const char *reason;
    struct message *next; /* the transport's, while it holds the message */
    uint64_t mark[4];     /* the transport's */
};

/* A claim on one NIC port of the source host: a queue pair, or a connection's share of a plane. */
struct sender {
    struct sender *next, *previous; /* in the port's ring of ready senders */
    struct connection *connection;
    uint32_t nic;          /* which of the connection's NIC ports, 0 .. n_nics-1 */
    uint32_t index;        /* the transport's own number */
    bool ready;            /* in the ring */
    bool paced;            /* waits for its pacing time */
    int64_t not_before_ps; /* pacing: no packet before this instant */
    struct event pace;
};

struct connection {
    const struct transport_ops *ops;
    const void *config;
    struct engine *engine, *dst_engine; /* of its two halves: those of src and dst */
    struct host *src, *dst;
    uint64_t key; /* of its random streams: from (src, dst, profile), not from when it opened */
    /* NIC port pairs usable; number k here is NIC first_nic + k of src and of dst */
    uint32_t first_nic, n_nics;
    const char *profile;
    /* the transport's, for good once it is true: a message may fail without a timeout before */
    bool may_fail;
    struct connection *next; /* the backend's list */
};

/* How a connection's sending half stands, for series. */
struct transport_sample {
    int64_t window_bytes;    /* payload that may be in flight; 0: no window */
    int64_t rate_bps;        /* at which it is paced, all its senders together; 0: not paced */
    int64_t in_flight_bytes; /* payload sent, neither acknowledged nor known lost */
};

/* What a connection needs; for estimates. */
struct transport_need {
    /* given */
    int64_t n_ports;  /* NIC ports of its source */
    int64_t n_out;    /* data packets in flight at most, over time */
    int64_t n_posted; /* data packets in all */
    /* told; begins as what suits a transport that does not tell */
    double bytes;           /* of memory, packets left out */
    double n_replies;       /* acknowledgements and the like for each data packet */
    double work;            /* CPU time of a packet-hop, that of RoCEv2's go-back-N being 1 */
    int64_t window_packets; /* that it may soon have in flight; 0: no limit */
    int64_t n_nics;         /* that it sends by at once */
    double share;           /* bandwidth-delay products that senders to one host share; 0: any */
};

#define TRANSPORT_WIRE_ROOM 128 /* bytes that encode() may write */

/* How a transport's packet goes over the wire, for captures. */
struct transport_wire {
    uint16_t port; /* UDP destination */
    bool ipv6;
    bool icrc;         /* InfiniBand's: 4 bytes at the end, the payload padded to whole words */
    uint32_t n_header; /* bytes written: what stands between the UDP header and the payload */
};

struct transport_ops {
    const char *name;    /* as in transport.name */
    const char *summary; /* one sentence */
    const char *source;  /* publication, or "our choice" */
    size_t config_size;
    const struct param *params;
    size_t connection_size; /* of the struct that begins with struct connection; zeroed by us */

    /* Relations between parameters that ranges cannot say; may be NULL. */
    gboolean (*check)(const void *config, GError **error);
    /* Sets up both halves. Random draws come from streams keyed by connection->key. */
    void (*open)(struct connection *connection);
    void (*close)(struct connection *connection);
    /* Takes charge of a message until acknowledged or failed is called. */
    void (*post)(struct connection *connection, struct message *message);
    /* The next packet for that sender's port, or NULL: not ready until host_ready() again. */
    struct packet *(*pull)(struct connection *connection, struct sender *sender);
    /* A packet of this connection has arrived at one of its ends. Takes the packet. */
    void (*receive)(struct connection *connection, struct packet *packet);
    /* Fetches into the cache what receive() will soon touch, and changes nothing; may be NULL. */
    void (*fetch)(const struct connection *connection, const struct packet *packet);
    /* Names of the transport's own counters, NULL at the end, and the function that adds a
     * connection's to the run's totals, in that order; both may be NULL. */
    const char *const *totals;
    void (*report)(const struct connection *connection, int64_t *totals);
    /* Names of the parameters by which a receiver behaves, NULL at the end; may be NULL. Between
     * hosts with different settings they are the receiver's (models/agreement.h). */
    const char *const *receiver_params;
    /* Takes over what the receiver derives from its other settings; after the above; may be NULL */
    void (*agree)(const void *receiver, void *config);
    /* Fills a sample, changing nothing; may be NULL. */
    void (*sample)(const struct connection *connection, struct transport_sample *sample);
    /* Wire bytes of the largest packet; NULL: payload and header. */
    int64_t (*frame_bytes)(const void *config);
    /* Tells what a connection needs; may be NULL. */
    void (*need)(const void *config, struct transport_need *need);
    /*
     * Writes what a packet of this transport has behind its UDP header, TRANSPORT_WIRE_ROOM bytes
     * at most; NULL: there is no such format, and packets cannot be captured.
     */
    void (*encode)(const struct packet *packet, uint8_t *bytes, struct transport_wire *wire);
};

/* Asks for the cache lines of `bytes` bytes from `at` on. */
static inline void transport_fetch(const void *at, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += 64)
        __builtin_prefetch((const char *)at + line, 1);
}

/* A number in network order. */
static inline uint8_t *transport_put(uint8_t *bytes, uint64_t value, int n_bytes)
{
    for (int i = n_bytes - 1; i >= 0; i--, value >>= 8)
        bytes[i] = (uint8_t)value;
    return bytes + n_bytes;
}

/* What a connection of a profile needs, whether or not its transport tells. */
struct transport_need transport_need(const struct transport_profile *profile, int64_t n_ports,
                                     int64_t n_out, int64_t n_posted);

/* Elements of a ring that has grown by doubling from `first` until it holds n. */
static inline int64_t transport_ring(int64_t first, int64_t n)
{
    while (first < n)
        first *= 2;
    return first;
}

/* Wire bytes of the largest packet that a profile sends. */
int64_t transport_frame_bytes(const struct transport_profile *profile);

#define TRANSPORT_MAX_TOTALS 16

/* All transports, NULL at the end, and the one called `name` (NULL if there is none). */
extern const struct transport_ops *const transport_list[];
const struct transport_ops *transport_find(const char *name);

/*
 * NULL if `ops` is whole; otherwise what is missing. A list that holds an incomplete transport is
 * refused at start and by a test.
 */
const char *transport_fault(const struct transport_ops *ops);

/*
 * The path to a transport's header in a packet; the size is checked where it is used.
 */
#define TRANSPORT_HEADER(type_, packet_) ((type_ *)(void *)(packet_)->header)

/* What a message's packets look like: n packets, the last with the rest of the bytes. */
static inline int64_t transport_n_packets(int64_t bytes, int64_t payload)
{
    return (bytes + payload - 1) / payload;
}

#endif
