/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays a schedule: readiness of operations, node costs, messages handed to connections, and the
 * records of what became of them. Engine-neutral: it uses clock, timers and hosts through the seam.
 *
 * Follow-ups of an instant are collected and done in one event of that instant, after its arrivals,
 * so that a transport is never entered again while it is handling a packet.
 */
#ifndef WEFT_MODELS_PLAYER_H
#define WEFT_MODELS_PLAYER_H

#include "models/agreement.h"
#include "models/backend.h"
#include "models/ideal.h"
#include "models/node.h"

struct player_group {
    int64_t start_ps, end_ps;
    uint64_t n_done;
};

/* The part of the hosts whose operations a player plays; none: all of them. */
struct player_part {
    const uint32_t *of; /* by host: the number of its part; NULL: there is one */
    uint32_t number;
    struct player *players; /* by part, this one among them */
};

struct player {
    struct engine *engine;
    struct player_part part;
    const struct backend_run *run;
    const struct sink *sink;
    const struct route *route; /* for ideal times and for which NIC pairs can talk */
    const struct node_ops *node_ops;
    struct node **nodes;   /* by host; made when first asked */
    struct ledger *ledger; /* NULL if the nodes do not account for their time */
    /* where there are parts: messages whose ends are of several and that may be over */
    GPtrArray *touched;
    guint witness; /* of `messages`: those before it are delivered, or may fail */
    bool over;     /* nothing is left to do, or something went wrong; stops the engine */
    bool keeps;    /* messages stay to the end: somebody looks at them (models/series.h) */
    GError *error; /* input that cannot be played, found on the way */
    /* private */
    struct event follow_up, starter;
    GArray *work; /* struct step, in order */
    guint work_done;
    GArray *starts; /* roots that start later: struct step by time */
    guint starts_done;
    guint8 *started;         /* bit per operation */
    GHashTable *counts;      /* waiting operation -> edges fired, where more than one is needed */
    GHashTable *connections; /* by (src, dst, profile) */
    struct connection *first_connection;
    struct agreements agreements;
    GPtrArray *messages; /* by start, then by operation */
    guint n_released;    /* of them, at the front: reported and freed */
    struct player_group *groups;
    uint64_t n_open_messages, n_open_tasks;
    uint64_t n_done, n_flows, n_finished, n_failed;
    int64_t delivered_bytes;
};

/* Hosts must be set up. Starts the roots of its part; NULL: of the whole schedule. */
void player_init(struct player *player, struct engine *engine, const struct backend_run *run,
                 const struct sink *sink, const struct route *route,
                 const struct player_part *part);

/*
 * Players by part, between their turns. settle: counts what is over. may_end: whether all could be
 * over before an acknowledgement that is sent from now on has come to a host; no message is open
 * that is not delivered and whose connection cannot fail yet. is_over: nothing is left to do, or
 * something went wrong. join: the first one takes over what the others know, for player_report().
 */
void players_settle(struct player *players, uint32_t n);
bool players_may_end(struct player *players, uint32_t n);
bool players_are_over(const struct player *players, uint32_t n);
void players_join(struct player *players, uint32_t n);

/* Hands the records of unfinished flows, groups and totals to the sink; fills the result. */
void player_report(struct player *player, struct backend_result *result);

void player_clear(struct player *player);

/* What a message takes until it is released. */
size_t player_message_bytes(uint32_t n_planes);

#endif
