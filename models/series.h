/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens over time: at each step, for flows, ports, planes and hosts, what they did since the
 * step before (bytes, packets, marks, drops) and how they stand (queue, window, in flight).
 *
 * The native backend runs its events in slices that end at the steps and looks in between. A look
 * is no event: it is not counted, keeps no idle run alive, moves no clock and changes no state of
 * what it looks at, so a run is the same with and without it. A step covers what happened after the
 * step before, up to and including its own instant; the last one ends with the run. Objects that
 * did nothing in a step and hold nothing have no rows for it.
 */
#ifndef WEFT_MODELS_SERIES_H
#define WEFT_MODELS_SERIES_H

#include "models/fabric.h"
#include "models/player.h"

enum series_object { SERIES_FLOW, SERIES_PORT, SERIES_PLANE, SERIES_HOST, SERIES_N_OBJECTS };

/* "flow,port,plane,host" or a part of it as a set of 1 << enum series_object; false if wrong. */
bool series_parse(const char *text, uint32_t *objects);

struct series {
    const struct backend_run *run;
    const struct fabric *fabric;
    const struct player *players; /* one, or one for each part (parallel.h) */
    uint32_t n_players;
    const struct sink *sink;
    uint32_t objects; /* 0: no series */
    int64_t next_ps;  /* of the next look; INT64_MAX without series */
    /* private: what was there at the look before */
    GArray *flows;     /* of those that were not over */
    guint *n_messages; /* by player */
    struct fabric_look *ports;
    struct seen_host *hosts;
    int64_t *placed_bytes; /* by plane */
};

/* `sink` without a function for series, or a step of 0, switches it off. */
void series_init(struct series *series, const struct backend_run *run, const struct fabric *fabric,
                 const struct player *players, uint32_t n_players, const struct sink *sink);
void series_clear(struct series *series);

/* All events up to and including next_ps have happened: looks, and sets the next. */
void series_step(struct series *series);

/* The end of the run: what has happened since the last step. */
void series_finish(struct series *series);

#endif
