/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet: 128 bytes, two cache lines. The first is what the fabric touches at each hop; the
 * second belongs to the transport that made the packet and is read again only by its peer. Packets
 * come from a pool of the engine and go back to it where they end.
 */
#ifndef WEFT_MODELS_PACKET_H
#define WEFT_MODELS_PACKET_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Classes of packets, told apart by loss rules, priorities and counters. PFC is pause frames, which
 * live on one link and never reach a transport.
 */
enum packet_class { PACKET_DATA, PACKET_ACK, PACKET_CONTROL, PACKET_PFC, PACKET_N_CLASSES };

enum packet_ecn { PACKET_NOT_ECT, PACKET_ECT, PACKET_CE, PACKET_N_ECN };

#define PACKET_HEADER_BYTES 64

struct connection;

struct packet {
    struct packet *next;           /* in the pool's free list or in a host's control queue */
    struct connection *connection; /* whose packet it is */
    uint32_t bytes;                /* on the wire, with every overhead */
    uint32_t entropy;              /* hash of the 5-tuple, made by the sender */
    uint32_t to;                   /* destination: index of the NIC port in graph.port_list */
    uint32_t payload;              /* bytes of user data */
    uint16_t class;                /* enum packet_class */
    uint16_t ecn;                  /* enum packet_ecn */
    uint32_t source_port;          /* UDP source port, part of the 5-tuple */
    uint64_t flow;                 /* data: operation of the schedule */
    uint32_t sequence;             /* data: number of the packet in its message, from 0 */
    uint32_t transmission;         /* counted by a drop list that speaks of this packet; else 0 */
    uint32_t *n_out;               /* data: where its message counts packets; NULL: of none */
    _Alignas(8) unsigned char header[PACKET_HEADER_BYTES]; /* the transport's own */
};

_Static_assert(sizeof(struct packet) == 128, "a packet is two cache lines");

struct packet_pool {
    struct packet *free;
    struct packet *fresh, *fresh_end; /* of the newest block, never used yet */
    GPtrArray *blocks;
    int64_t n_live; /* taken and not given back */
    int64_t n_made; /* ever taken */
};

void packet_pool_init(struct packet_pool *pool);
void packet_pool_clear(struct packet_pool *pool);
void packet_pool_grow(struct packet_pool *pool);

/* Packets of its own blocks that have ever been taken. */
int64_t packet_pool_used(const struct packet_pool *pool);

/* Moves n free packets, as many as there are at most, to another pool; blocks stay. */
void packet_pool_move(struct packet_pool *from, struct packet_pool *to, int64_t n);

/* A packet with undefined content but for n_out, which is NULL; never NULL. */
static inline struct packet *packet_take(struct packet_pool *pool)
{
    struct packet *packet = pool->free;

    if (packet) {
        pool->free = packet->next;
    } else {
        if (pool->fresh == pool->fresh_end)
            packet_pool_grow(pool);
        packet = pool->fresh++;
    }
    packet->n_out = NULL;
    pool->n_live++;
    pool->n_made++;
    return packet;
}

static inline void packet_give(struct packet_pool *pool, struct packet *packet)
{
    if (packet->n_out)
        --*packet->n_out;
    packet->next = pool->free;
    pool->free = packet;
    pool->n_live--;
}

#endif
