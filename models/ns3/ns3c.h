/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ns-3 3.37 from C: nodes, point-to-point links, queues with marks, routes with equal-cost choice,
 * loss, links that go down, events, packets that carry a pointer of yours. Plain C11; link with
 *   -lns3-point-to-point -lns3-internet -lns3-traffic-control -lns3-network -lns3-core -lstdc++
 * docs/examples/ns3c_example.c is a whole program.
 *
 * Two forms. NS3C_P2P: PointToPointNetDevice, and nodes that forward between devices without a
 * stack. NS3C_IP: ns-3's IPv4 on every node, a routing protocol and a UDP-like protocol (number 17)
 * of ours; marks travel in the IP header. In both a packet's size is what the wire carries: the
 * headers that ns-3 adds are part of it.
 *
 * ns-3's simulator is one per process, so these functions take no handle: one run is open at a time
 * and belongs to one thread. Runs may follow each other. Callbacks may use all but ns3c_run() and
 * ns3c_close(). Every function but ns3c_error() checks its
 * arguments and gives a number below zero for what is wrong, and then ns3c_error() says why. What
 * ns-3 itself holds to be fatal ends the process: no caller can reach that by these functions.
 *
 * Times are picoseconds, rates bit/s. Identifiers count from 0 in the order of making; link L has
 * the devices 2 L, at its first node, and 2 L + 1, at its second.
 */
#ifndef NS3C_H
#define NS3C_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ns3c_status {
    NS3C_DONE = 0,
    NS3C_STATE = -1,    /* nothing is open, or it is already, or not from a callback */
    NS3C_ARGUMENT = -2, /* an identifier, a number or a name is wrong */
    NS3C_FAILED = -3,   /* ns-3 refused */
};

enum ns3c_form { NS3C_P2P, NS3C_IP };

enum ns3c_ecn { NS3C_NOT_ECT, NS3C_ECT, NS3C_CE };

enum ns3c_drop {
    NS3C_DROP_QUEUE,    /* the device's queue */
    NS3C_DROP_LOSS,     /* on the wire: the loss callback, or ns-3's RateErrorModel */
    NS3C_DROP_DOWN,     /* the link was down between its first bit and its last */
    NS3C_DROP_NO_ROUTE, /* at the node where it arrived */
    NS3C_N_DROPS
};

/* What callbacks are told of a packet. */
struct ns3c_packet {
    void *user;
    uint32_t source, destination; /* addresses */
    uint16_t source_port;
    uint16_t ecn;
    int64_t bytes; /* on the wire */
};

struct ns3c_counts {                  /* of a device, from ns-3's traces and queue */
    int64_t sent_packets, sent_bytes; /* transmission begun */
    int64_t arrived_packets;          /* at the other end, lost ones included */
    int64_t wire_packets, wire_bytes; /* being sent or on the wire now */
    int64_t queue_packets, queue_bytes;
    int64_t max_queue_bytes; /* without the packet in service */
    int64_t marked_packets;
    int64_t dropped_packets[NS3C_N_DROPS]; /* loss and no route: where the packet was sent from */
};

/* Why the last call that failed did so; "" if none has. Valid until the next call. */
const char *ns3c_error(void);

/* `scheduler` is a TypeId of ns-3, such as "ns3::MapScheduler"; NULL: the fastest. */
int ns3c_open(enum ns3c_form form, const char *scheduler);
/* Ends the run and frees all of ns-3; packets under way are gone without a callback. */
int ns3c_close(void);

/* --- the network ------------------------------------------------------------------------------ */

/* The identifier of a new node. */
int ns3c_node(void);

/* How long the node holds a packet whose last bit has arrived before it handles it; 0 unless said.
 * For packets sent from now on. */
int ns3c_node_latency(int node, int64_t latency_ps);

/* The identifier of a new link a - b. */
int ns3c_link(int a, int b, int64_t rate_bps, int64_t delay_ps);

/* The device's node is where packets for `address` (below 2^24) are meant to go. */
int ns3c_address(int device, uint32_t address);

/* The node of a device. */
int ns3c_device_node(int device);

/* Packets for `address` may leave `node` by `device`, one of its own; equal-cost if called again.
 */
int ns3c_route(int node, uint32_t address, int device);
/* Forgets them all. */
int ns3c_route_clear(int node, uint32_t address);

/* Which of n >= 2 equal-cost devices, in the order of ns3c_route(); a number of n or more is a
 * drop. Without the callback a hash of addresses, port and node decides. */
typedef uint32_t ns3c_choose(void *data, int node, const struct ns3c_packet *packet, uint32_t n);
int ns3c_on_choice(ns3c_choose *choose, void *data);

/* --- queues ----------------------------------------------------------------------------------- */

/* Bytes that may wait at a device, without the packet in service; 2^32 - 1 at most. */
int ns3c_queue_limit(int device, int64_t bytes);

/* Packets that can carry a mark get one if they find `bytes` or more waiting. */
int ns3c_queue_threshold(int device, int64_t bytes);

/* The same by a callback for all devices: asked once for every packet that fits, of hosts, too. */
enum ns3c_verdict { NS3C_ACCEPT, NS3C_MARK, NS3C_REFUSE };
typedef enum ns3c_verdict ns3c_admit(void *data, int device, const struct ns3c_packet *packet,
                                     int64_t waiting_bytes);
int ns3c_on_admit(ns3c_admit *admit, void *data);

/* --- what goes wrong -------------------------------------------------------------------------- */

/* True: this packet, which has crossed the wire of `device`, is lost. */
typedef bool ns3c_lose(void *data, int device, const struct ns3c_packet *packet);
int ns3c_on_loss(ns3c_lose *lose, void *data);

/* ns-3's RateErrorModel, per packet, on what `device` sends; `stream` numbers its random stream. */
int ns3c_loss_rate(int device, double rate, int64_t stream);

/*
 * Both directions. A packet is lost if its link was down at any time after its first bit has left
 * and before its last has arrived; it is dropped when its node would have handled it. Devices go on
 * sending, routes stay.
 */
int ns3c_link_set(int link, bool up);

/* The rate of transmissions that begin from now on, both directions. */
int ns3c_link_rate(int link, int64_t rate_bps);

/* A packet is gone and its `user` with it. */
typedef void ns3c_dropped(void *data, int device, const struct ns3c_packet *packet,
                          enum ns3c_drop cause);
int ns3c_on_drop(ns3c_dropped *dropped, void *data);

/* --- packets ---------------------------------------------------------------------------------- */

/* Sends from the node of `device`, which has an address. Least size: 2 B (P2P), 30 B (IP). */
int ns3c_send(int device, uint32_t destination, uint16_t source_port, enum ns3c_ecn ecn,
              int64_t bytes, void *user);

/* A packet has reached the node of its destination, by `device` of that node. */
typedef void ns3c_received(void *data, int device, const struct ns3c_packet *packet);
int ns3c_on_receive(ns3c_received *received, void *data);

/* A transmission has ended and nothing waits at the device. */
typedef void ns3c_freed(void *data, int device);
int ns3c_on_free(ns3c_freed *freed, void *data);

/* False while a packet is being sent, or below zero. */
int ns3c_is_free(int device);

/*
 * Takes the order within an instant into your hands: a packet whose last bit has crossed the wire
 * of `device` is held there until ns3c_release(device), at the same instant. No wire holds two.
 */
typedef void ns3c_held(void *data, int device, const struct ns3c_packet *packet);
int ns3c_on_hold(ns3c_held *held, void *data);
int ns3c_release(int device);

/* --- time ------------------------------------------------------------------------------------- */

/* Picoseconds since the beginning, or below zero. */
int64_t ns3c_now(void);

typedef void ns3c_event(void *data);
/* Calls `event` after `delay_ps`, behind all that is planned for that instant by now. */
int ns3c_schedule(int64_t delay_ps, ns3c_event *event, void *data);

/*
 * Up to and including `until_ps`, where the clock then stands, or INT64_MAX: until nothing is left;
 * or until ns3c_stop(). May be called again.
 */
int ns3c_run(int64_t until_ps);
/* No further event after this one. */
int ns3c_stop(void);

/* --- numbers ---------------------------------------------------------------------------------- */

int ns3c_count(int device, struct ns3c_counts *counts);

/* Events that ns-3 has executed, or below zero. */
int64_t ns3c_events(void);

#ifdef __cplusplus
}
#endif

#endif
