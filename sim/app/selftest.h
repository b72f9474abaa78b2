/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The oracle table: answers to tiny scenarios that follow from first principles, and what a native
 * run gives for each, read from its sink.
 */
#ifndef WEFT_SIM_APP_SELFTEST_H
#define WEFT_SIM_APP_SELFTEST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* What is read from the sink. */
enum oracle_quantity {
    ORACLE_RECEIVER_US,   /* last bit at the receiver, the last of all flows */
    ORACLE_SENDER_US,     /* last acknowledgement at the sender, the last of all flows */
    ORACLE_GROUP_MS,      /* duration of the collective */
    ORACLE_GOODPUT,       /* payload per time, % of `scale` bit/s */
    ORACLE_RETRANSMITTED, /* packets, mean over seeds */
    ORACLE_LOSS,          /* data packets lost, % of those sent */
    ORACLE_EXTRA,         /* mean time above the ideal, in units of `scale` ps */
    ORACLE_MAX_LOAD,      /* packets on the busiest parallel link, mean over seeds */
    ORACLE_CORE_SHARE,    /* share of the links into the top tier that carry anything */
    ORACLE_FLOWS,         /* messages of the schedule, mean over seeds */
    ORACLE_KEPT,          /* goodput with the last setting / without it, % */
    ORACLE_RECOVERED,     /* goodput at the end / before [fault:a], % */
    ORACLE_RETURNED,      /* goodput at the end, [fault:a] undone / before it, % */
};

struct oracle {
    const char *id, *derivation;
    enum oracle_quantity quantity;
    double expected;
    double tolerance; /* absolute, in the quantity's unit; 0: to the picosecond */
    const char *tolerance_text;
    uint32_t n_seeds;
    double scale;
    bool quick;               /* part of --quick */
    const char *settings[20]; /* group.key=value, NULL at the end */
};

extern const struct oracle oracles[]; /* ends with id == NULL */

const char *oracle_unit(enum oracle_quantity quantity);

/*
 * Runs the oracle. `extra_delay_ps` lengthens the first link, to see that exact rows notice. Sets
 * *got; false with an error if the scenario cannot be run.
 */
gboolean oracle_run(const struct oracle *oracle, int64_t extra_delay_ps, double *got,
                    GError **error);

/* True if `got` is within the oracle's tolerance. */
bool oracle_holds(const struct oracle *oracle, double got);

#endif
