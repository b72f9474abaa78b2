/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bare event loop that `make bench` runs beside weft: a 2-tier Clos, a permutation (or an
 * incast), packets sprayed over the spines, a fixed window, one acknowledgement every 4 packets,
 * ECN marks, one operation of a 4-ary heap a hop - and nothing else: no recovery, no statistics, no
 * configuration. It shows what the machine allows. The pending events are packets, as in the peers.
 * Usage: bare LEAVES HOSTS_PER_LEAF SPINES BYTES permutation|incast
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAYLOAD   4096
#define HEADER    82
#define ACK       84
#define PS_BYTE   20 /* 400 Gb/s */
#define DELAY_PS  500000
#define KMIN      100000
#define ACK_EVERY 4

struct packet {
    struct packet *next;
    uint32_t bytes, src, dst;
    uint16_t hop;
    bool ack, marked;
    uint8_t n_acked;
    char pad[96]; /* as long as weft's */
};

struct slot {
    int64_t time;
    uint64_t order;
    struct packet *packet;
};

struct port {
    int64_t busy_until;
    int64_t bytes;
};

struct flow {
    uint32_t dst, left, in_flight, unacknowledged;
};

struct bare {
    struct slot *heap;
    uint32_t n, room, leaves, width, spines, hosts;
    struct port *up, *down, *leaf_up, *spine_down; /* host->leaf, leaf->host, ... */
    struct flow *flows;
    struct packet *free;
    int64_t now;
    uint64_t hops, draws;
};

static bool before(const struct slot *a, const struct slot *b)
{
    return (a->time < b->time) | ((a->time == b->time) & (a->order < b->order));
}

static void push(struct bare *b, struct slot slot)
{
    uint32_t i = b->n++;

    if (b->n > b->room) {
        b->room = b->room ? 2 * b->room : 1024;
        b->heap = realloc(b->heap, b->room * sizeof *b->heap);
        if (!b->heap)
            abort();
    }
    for (; i > 0 && before(&slot, &b->heap[(i - 1) / 4]); i = (i - 1) / 4)
        b->heap[i] = b->heap[(i - 1) / 4];
    b->heap[i] = slot;
}

static struct slot pop(struct bare *b)
{
    struct slot top = b->heap[0], last = b->heap[--b->n];
    uint32_t i = 0;

    for (;;) {
        uint32_t first = 4 * i + 1, least = first, end = first + 4 < b->n ? first + 4 : b->n;

        if (first >= b->n)
            break;
        for (uint32_t c = first + 1; c < end; c++)
            least = before(&b->heap[c], &b->heap[least]) ? c : least;
        if (!before(&b->heap[least], &last))
            break;
        b->heap[i] = b->heap[least];
        i = least;
    }
    b->heap[i] = last;
    return top;
}

static void cross(struct bare *b, struct port *port, struct packet *packet)
{
    int64_t start = port->busy_until > b->now ? port->busy_until : b->now;

    if (!packet->ack && (start - b->now) / PS_BYTE > KMIN)
        packet->marked = true;
    port->busy_until = start + PS_BYTE * (int64_t)packet->bytes;
    port->bytes += packet->bytes;
    push(b, (struct slot){port->busy_until + DELAY_PS, b->hops++, packet});
}

static struct packet *make(struct bare *b, uint32_t src, uint32_t dst, uint32_t bytes, bool ack)
{
    struct packet *packet = b->free;

    if (packet)
        b->free = packet->next;
    else if (!(packet = malloc(sizeof *packet)))
        abort();
    memset(packet, 0, 32);
    packet->bytes = bytes;
    packet->src = src;
    packet->dst = dst;
    packet->ack = ack;
    return packet;
}

static void fill(struct bare *b, uint32_t host, uint32_t window)
{
    struct flow *flow = &b->flows[host];

    while (flow->left > 0 && flow->in_flight < window) {
        flow->left--;
        flow->in_flight++;
        cross(b, &b->up[host], make(b, host, flow->dst, PAYLOAD + HEADER, false));
    }
}

static uint32_t draw(struct bare *b)
{
    uint64_t x = ++b->draws * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(x >> 32);
}

static void arrive(struct bare *b, struct packet *packet, uint32_t window)
{
    uint32_t leaf = packet->dst / b->width, from = packet->src / b->width, spine;

    switch (packet->hop++) {
    case 0:
        if (leaf == from) {
            packet->hop = 2;
        } else {
            spine = (uint32_t)((uint64_t)draw(b) * b->spines >> 32);
            packet->hop = 1;
            cross(b, &b->leaf_up[from * b->spines + spine], packet);
            packet->n_acked = packet->n_acked ? packet->n_acked : 0;
            packet->pad[0] = (char)spine;
            return;
        }
        cross(b, &b->down[packet->dst], packet);
        packet->hop = 3;
        return;
    case 1:
        cross(b, &b->spine_down[(uint8_t)packet->pad[0] * b->leaves + leaf], packet);
        return;
    case 2:
        cross(b, &b->down[packet->dst], packet);
        return;
    default:
        break;
    }
    if (packet->ack) {
        b->flows[packet->dst].in_flight -= packet->n_acked;
        fill(b, packet->dst, window);
    } else if (++b->flows[packet->src].unacknowledged == ACK_EVERY) {
        struct packet *ack = make(b, packet->dst, packet->src, ACK, true);

        ack->n_acked = ACK_EVERY;
        b->flows[packet->src].unacknowledged = 0;
        cross(b, &b->up[packet->dst], ack);
    }
    packet->next = b->free;
    b->free = packet;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: bare LEAVES HOSTS_PER_LEAF SPINES BYTES permutation|incast\n");
        return 2;
    }
    struct bare b = {.leaves = (uint32_t)atoi(argv[1]),
                     .width = (uint32_t)atoi(argv[2]),
                     .spines = (uint32_t)atoi(argv[3])};
    uint32_t n_packets = (uint32_t)(atoll(argv[4]) / PAYLOAD / ACK_EVERY * ACK_EVERY), window = 128;
    bool incast = strcmp(argv[5], "incast") == 0;
    struct timespec t0, t1;

    b.hosts = b.leaves * b.width;
    b.up = calloc(b.hosts, sizeof(struct port));
    b.down = calloc(b.hosts, sizeof(struct port));
    b.leaf_up = calloc((size_t)b.leaves * b.spines, sizeof(struct port));
    b.spine_down = calloc((size_t)b.leaves * b.spines, sizeof(struct port));
    b.flows = calloc(b.hosts, sizeof(struct flow));
    if (!b.up || !b.down || !b.leaf_up || !b.spine_down || !b.flows)
        abort();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    for (uint32_t host = incast; host < b.hosts; host++) {
        b.flows[host] = (struct flow){.dst = incast ? 0 : (host + b.hosts / 2 + 3) % b.hosts,
                                      .left = n_packets};
        fill(&b, host, window);
    }
    while (b.n > 0) {
        struct slot top = pop(&b);

        b.now = top.time;
        arrive(&b, top.packet, window);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    double ns = 1e9 * (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec);

    printf("%llu %.1f\n", (unsigned long long)b.hops, ns / (double)b.hops);
    return 0;
}
