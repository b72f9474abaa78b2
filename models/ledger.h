/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger: where the time of each rank goes. Every instant of a step of a rank belongs to one of
 * five classes, so that they add up to the step exactly. The first that applies:
 *
 * compute: the rank's compute units work.
 *
 * collective: the rank's engines handle elements, reduce or copy (exposed work).
 *
 * network: a message to or from the rank is on its way, or nothing is going on at all: it waits for
 * the network or for the others.
 *
 * host: the host program or the device's dispatcher is at work, and no message is on its way.
 *
 * recovery: the part of a network wait by which a message that had to be sent again came later than
 * its ideal time.
 *
 * A step ends with an operation flagged SCHEDULE_ENDS_STEP; what is left over at the end of the run
 * is a step of its own, up to the last thing that the rank did. Source: our choice.
 */
#ifndef WEFT_MODELS_LEDGER_H
#define WEFT_MODELS_LEDGER_H

#include "sim/core/sink.h"
#include <stdint.h>

enum ledger_class { LEDGER_COMPUTE, LEDGER_COLLECTIVE, LEDGER_NETWORK, LEDGER_HOST };

struct ledger_rank {
    int64_t begin_ps, since_ps; /* of the step; of what is going on now */
    int64_t wait_ps;            /* length so far of the network wait that is going on */
    int64_t sums_ps[SINK_N_TIMES];
    uint32_t n_active[LEDGER_HOST + 1];
    uint32_t step;
};

struct ledger {
    uint32_t n_ranks;
    struct ledger_rank *ranks; /* by host */
    const struct sink *sink;
    int64_t sums_ps[SINK_N_TIMES], step_ps; /* over all ranks and steps */
    int64_t longest_ps;                     /* step of a rank */
};

void ledger_init(struct ledger *ledger, uint32_t n_ranks, const struct sink *sink);
void ledger_clear(struct ledger *ledger);

/* Something of the class begins or ends at a rank. A NULL ledger takes no notice. */
void ledger_enter(struct ledger *ledger, uint32_t rank, enum ledger_class class, int64_t now_ps);
void ledger_leave(struct ledger *ledger, uint32_t rank, enum ledger_class class, int64_t now_ps);

/* A message for which the rank waited came `late_ps` after its ideal time because of resends. */
void ledger_late(struct ledger *ledger, uint32_t rank, int64_t late_ps, int64_t now_ps);

/* The step of a rank is over; its record goes to the sink. */
void ledger_step(struct ledger *ledger, uint32_t rank, int64_t now_ps);

/* The end of the run: the step of ranks that never ended one. */
void ledger_finish(struct ledger *ledger);

#endif
