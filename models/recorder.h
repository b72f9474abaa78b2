/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an engine's wires have brought, reception by reception, so that two engines can be compared:
 * every packet that reached a node, at each hop, lost ones left out, in the order in which they
 * were played. Kept is a hash over all of them, the hash after every block, and those of one
 * window: the first reception that differs is found by a second run with a window on the first
 * block that does.
 *
 * A recorder is an observer (observer.h): a run without one pays nothing.
 */
#ifndef WEFT_MODELS_RECORDER_H
#define WEFT_MODELS_RECORDER_H

#include "models/observer.h"

#define RECORDER_BLOCK 1024

struct reception {
    int64_t time_ps;
    uint64_t flow;     /* data: operation of the schedule; else the connection's key */
    uint32_t sequence; /* data: number of the packet in its message; else its source port */
    uint32_t port;     /* directed port whose wire it has crossed */
    uint16_t class, ecn;
};

struct recorder {
    struct observer observer; /* first */
    uint64_t n, hash;
    GArray *blocks;        /* uint64_t: the hash after each RECORDER_BLOCK receptions */
    uint64_t window_first; /* number of the first reception kept */
    uint64_t window_n;
    GArray *window; /* struct reception */
    /* of an engine that counts what its transmitters do; 0 otherwise */
    int64_t n_begun, n_waiting; /* transmissions begun; packets in queues at the end */
    int64_t n_engine_events;
};

void recorder_init(struct recorder *recorder, uint64_t window_first, uint64_t window_n);
void recorder_clear(struct recorder *recorder);

#endif
