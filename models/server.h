/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What serves one after the other, in the order of asking: a controller, a memory, a program on a
 * host. Its state is the instant from which it is free, so it needs no event of its own.
 */
#ifndef WEFT_MODELS_SERVER_H
#define WEFT_MODELS_SERVER_H

#include <stdint.h>

struct server {
    int64_t free_ps; /* from here on */
    int64_t busy_ps; /* sum of what was asked */
};

/* Takes the server for `time_ps` as soon as it is free; returns the end. */
static inline int64_t server_take(struct server *server, int64_t now_ps, int64_t time_ps)
{
    int64_t begin_ps = server->free_ps > now_ps ? server->free_ps : now_ps;

    server->free_ps = begin_ps + time_ps;
    server->busy_ps += time_ps;
    return server->free_ps;
}

/* The later of two instants. A macro would take a server twice. */
static inline int64_t server_later(int64_t a_ps, int64_t b_ps)
{
    return a_ps > b_ps ? a_ps : b_ps;
}

#endif
