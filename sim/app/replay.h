/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run that was, played again from what it left in its folder, with a journal (journal.h): the
 * same scenario, the same version of the program, the same bytes. That it was the same run is
 * checked by its end and its number of events.
 */
#ifndef WEFT_SIM_APP_REPLAY_H
#define WEFT_SIM_APP_REPLAY_H

#include "sim/app/journal.h"

#define REPLAY_ERROR replay_error_quark()
GQuark replay_error_quark(void);

struct replay {
    char *folder;
    struct scenario *scenario;
    struct experiment experiment;
    struct journal journal; /* of the last play */
    bool has_journal;
    struct backend_result result; /* of the last play */
    GHashTable *flows;            /* operation -> struct sink_flow *, of the last play */
};

/* Reads and builds. The error says what is missing or differs. replay_close() in any case. */
gboolean replay_open(struct replay *replay, const char *folder, GError **error);

/* A new journal, for which journal_want() is to be called, then replay_play(). */
void replay_prepare(struct replay *replay);
gboolean replay_play(struct replay *replay, GError **error);

/* What the sink was told of a message, without its pointers; NULL if there is none. */
const struct sink_flow *replay_flow(const struct replay *replay, uint64_t op);

/* The operation that `text` names, if it is a message. */
gboolean replay_find_flow(const struct replay *replay, const char *text, uint64_t *op,
                          GError **error);

/* Asks for a message's packets, between two instants. */
void replay_want(struct replay *replay, uint64_t op, int64_t from_ps, int64_t to_ps);

/* "host 3", "switch 17"; and "port 12 (host 6 -> switch 17)". g_free. */
char *replay_node_name(const struct replay *replay, uint32_t node);
char *replay_port_name(const struct replay *replay, uint32_t port);

void replay_close(struct replay *replay);

#endif
