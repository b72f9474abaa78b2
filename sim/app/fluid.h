/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario as DCQCN's fluid model sees it: flows with RoCEv2 and cc = dcqcn into one host, on one
 * plane, with RED; and what of a packet run belongs beside the fluid.
 */
#ifndef WEFT_SIM_APP_FLUID_H
#define WEFT_SIM_APP_FLUID_H

#include "sim/app/experiment.h"
#include "sim/stats/dcqcn_fluid.h"

#define FLUID_ERROR fluid_error_quark()
GQuark fluid_error_quark(void);

struct fluid {
    struct dcqcn_fluid model;
    uint32_t receiver;   /* host */
    uint32_t port;       /* the bottleneck: directed port into the receiver */
    bool hyper_by_timer; /* the set has no byte counter: hyper increase, which the model lacks */
};

/* Fills `fluid` from an experiment; the error says what the model does not cover. */
gboolean fluid_init(struct fluid *fluid, const struct experiment *experiment, GError **error);

/* One step of a packet run: the bottleneck's queue, and the rates of the flows. */
struct fluid_step {
    int64_t time_ps, queue_bytes;
    int64_t n_flows, rate_sum_bps, rate_least_bps, rate_most_bps;
};

/* Plays the experiment, whose scenario has a run.series_step; struct fluid_step *, g_array_unref.
 * NULL with an error. */
GArray *fluid_play(const struct fluid *fluid, const struct experiment *experiment, GError **error);

#endif
