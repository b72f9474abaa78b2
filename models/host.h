/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host: NIC ports that pull packets from ready senders in turn, control packets first; pacing;
 * and the delivery of arrived packets to their transport.
 */
#ifndef WEFT_MODELS_HOST_H
#define WEFT_MODELS_HOST_H

#include "models/transport.h"

struct host_nic {
    uint32_t port; /* directed port of the graph, leaving the host */
    uint32_t to;   /* this NIC as a destination: index in graph.port_list */
    int64_t rate_bps;
    uint32_t plane;
    struct sender *ready; /* ring of senders that may have something; its head is next */
    struct packet *control_first, **control_last;
    int64_t n_control;    /* queued control packets */
    bool unused;          /* its host keeps off this plane */
    bool observed;        /* there is an observer to tell */
    bool down;            /* its link is; seen here, not at the other end of the fabric */
    int64_t changed_ps;   /* when its link last went down or came back */
    uint32_t paused;      /* bit set of packet classes that the link does not take now */
    int64_t placed_bytes; /* payload that came in by it and was placed */
};

struct host {
    struct engine *engine; /* whose clock and timers are its own */
    uint32_t number, n_nics;
    uint32_t n_timers; /* that it has made */
    struct host_nic *nics;
    uint32_t first_nic; /* where the next kick starts, so that lone packets use all planes */
    int64_t rate_bps;   /* sum over its NICs */
    int64_t sent_packets, sent_bytes;         /* data and control handed to the wire */
    int64_t received_packets, received_bytes; /* taken from it */
    int64_t n_inbound; /* length of the list below: connections with recent inbound data */
    struct host_activity *active_first, *active_last;
    struct host_watch *watches;           /* who is told of its links */
    int64_t resent_packets, resent_bytes; /* data packets sent again; their payload */
};

/* Somebody at a host who wants to know when one of its links goes down or comes back. */
struct host_watch {
    struct host_watch *next, **here; /* here: NULL while it does not watch */
    void (*changed)(struct host_watch *watch);
};

/* Puts a watch at a host; takes it away, if it is at one. */
void host_watch_links(struct host *host, struct host_watch *watch);
void host_unwatch_links(struct host_watch *watch);

/* Sets up the hosts of engine->graph; host_clear frees what they own and queued control packets. */
void host_init_all(struct engine *engine);
void host_clear_all(struct engine *engine);

/*
 * Makes a timer. Within an instant timers come by the host that made them, then as it made them: no
 * order depends on what other hosts did before.
 */
static inline void host_timer_init(struct host *host, struct event *timer, event_fire *fire)
{
    event_init(timer, fire, EVENT_CLASS_TIMER | (uint64_t)host->number << 32 | ++host->n_timers);
}

/* Prepares a sender for NIC `nic` of its connection (0 .. n_nics-1), at its source host. */
void host_sender_init(struct connection *connection, struct sender *sender, uint32_t nic,
                      uint32_t index);
/* Takes a sender out of ring and timers; before its connection is freed. */
void host_sender_clear(struct connection *connection, struct sender *sender);

/* The sender goes to another NIC port of its host. host_ready() is to follow. */
void host_sender_move(struct connection *connection, struct sender *sender, uint32_t nic);

/* The sender may have something to send: it is asked as soon as its port is idle. */
void host_ready(struct connection *connection, struct sender *sender);

/* Several senders became ready at once: idle NICs are served in an order that rotates. */
void host_ready_all(struct connection *connection, struct sender *senders, uint32_t n_senders);

/*
 * Sends a control packet (acknowledgement, NAK, CNP) from `host`, an end of the connection, by the
 * connection's NIC `nic`, before any data. Takes it.
 */
void host_control(struct connection *connection, struct host *host, uint32_t nic,
                  struct packet *packet);

/* For engines: the transmitter of `port` (a host's) is free; a packet has arrived at a host. */
void host_port_ready(struct engine *engine, uint32_t port);
void host_receive(struct engine *engine, uint32_t host, struct packet *packet);

/* For engines: the link does not take packets of these classes (a bit set) until told otherwise. */
void host_pause(struct engine *engine, uint32_t port, uint32_t classes);

/* For engines: a host's link has another rate; it has gone down or come back. */
void host_set_rate(struct engine *engine, uint32_t port, int64_t rate_bps);
void host_set_link(struct engine *engine, uint32_t port, bool down);

/* A new data packet of `connection` for NIC `nic`, with addresses, class and sizes filled in. */
struct packet *host_data_packet(struct connection *connection, uint32_t nic, uint32_t source_port,
                                uint32_t payload, uint32_t header);
/* The same backwards: a control packet from dst to src of `connection`. */
struct packet *host_reply_packet(struct connection *connection, uint32_t nic, uint32_t source_port,
                                 uint32_t bytes);

/*
 * Says which packet of which message it is: for drop lists, and so that the message stays while the
 * packet is on its way. Data packets only.
 */
static inline void host_name_packet(struct packet *packet, struct message *message,
                                    uint32_t sequence)
{
    if (!message->kept) {
        packet->n_out = &message->n_out;
        message->n_out++;
    }
    packet->flow = message->op;
    packet->sequence = sequence;
    packet->transmission = 0;
}

/* A data packet of `payload` bytes is sent once more: counted for its message and its host. */
static inline void host_resent(struct connection *connection, struct message *message,
                               int64_t payload)
{
    message->retransmitted_packets++;
    connection->src->resent_packets++;
    connection->src->resent_bytes += payload;
}

/*
 * Places a data packet that the receiver did not have: counts its payload for the message. True if
 * the message is whole now. `nic` is the one it came in by.
 */
bool host_place(struct connection *connection, struct message *message, uint32_t nic,
                uint32_t payload);

/* The hash of the 5-tuple; destination port 4791 and protocol UDP are common to all. */
uint32_t host_entropy(uint32_t from, uint32_t to, uint32_t source_port);

/* --- receiver's share: how many connections have sent data to a host of late --- */
struct host_activity {
    struct host_activity *next, *previous;
    int64_t last_ps;
    bool listed;
};

/* Notes that data arrived now; returns the number of activities not older than `window_ps`. */
int64_t host_active(struct host *host, struct host_activity *activity, int64_t window_ps);

#endif
