/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One scenario played by two engines, and what tells them apart: every reception, every record of
 * flows, ports, groups and numbers, and whether the second engine's own count of transmissions is
 * the first one's count of packet-hops.
 */
#ifndef WEFT_SIM_APP_CROSSCHECK_H
#define WEFT_SIM_APP_CROSSCHECK_H

#include "models/recorder.h"
#include "sim/app/experiment.h"
#include "sim/app/progress.h"
#include "sim/app/summary.h"

struct crosscheck_side {
    const char *engine; /* "native", "p2p", "ip" */
    struct recorder recorder;
    struct summary summary;
    GPtrArray *records; /* GVariant *, in the order of the sink */
    struct backend_result result;
    double cpu_s; /* of the play */
};

/* Plays; keeps the receptions from number `first` on, `n` of them. Clear in any case. */
gboolean crosscheck_play(struct crosscheck_side *side, const char *engine,
                         const struct experiment *experiment, uint64_t first, uint64_t n,
                         struct progress *progress, GError **error);
void crosscheck_clear(struct crosscheck_side *side);

enum crosscheck_verdict {
    CROSSCHECK_IDENTICAL,
    CROSSCHECK_RECEPTIONS,    /* a reception differs: of block *where */
    CROSSCHECK_RECORDS,       /* all receptions are alike, record number *where is not */
    CROSSCHECK_TRANSMISSIONS, /* the engine's own counts contradict what was played */
};

enum crosscheck_verdict crosscheck_compare(const struct crosscheck_side *native,
                                           const struct crosscheck_side *other, uint64_t *where);

/* The first reception in which two windows differ, counted from their beginning. */
guint crosscheck_first_difference(const struct crosscheck_side *a, const struct crosscheck_side *b);

#endif
