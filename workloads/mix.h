/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several transports in one workload: "metaroce:1,rocev2:3" gives a quarter of the flows to the
 * first. Which flow has which follows from its number alone: each takes the transport that lags
 * most behind its share, so every run of consecutive flows holds the mix as nearly as it can.
 * Source: our choice.
 */
#ifndef WEFT_WORKLOADS_MIX_H
#define WEFT_WORKLOADS_MIX_H

#include "sim/core/param.h"
#include "sim/core/schedule.h"

#define MIX_MOST 16

struct mix {
    uint32_t n, sum;
    uint32_t profile[MIX_MOST], weight[MIX_MOST];
    uint64_t given[MIX_MOST], n_given;
};

#define MIX_PARAM(struct_)                                                                         \
    PARAM(TEXT, struct_, transports, "", NULL, NULL, NULL,                                         \
          "Transports or profiles and their shares of the flows, such as metaroce:1,rocev2:3; "    \
          "empty: all flows use [transport].",                                                     \
          "our choice: one transport")

/* Reads `text` and names its transports in the schedule; "" is the default alone. Clears the
 * schedule when it fails. */
gboolean mix_init(struct mix *mix, const char *text, struct schedule *schedule, GError **error);

/* The profile of the next flow. */
uint32_t mix_next(struct mix *mix);

#endif
