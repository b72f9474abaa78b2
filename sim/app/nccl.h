/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collectives as the nccl-tests print them: nccl.txt, their table, and nccl.json, their report
 * (option -J), so that scripts that read the one or the other read a run of weft.
 *
 * Times are in microseconds, algbw and busbw in GB/s (10^9 B), size in bytes, count in elements of
 * `float`, or of the type that a group names: of the whole buffer or, where size counts the shares
 * of all ranks (busbw factor (n-1)/n), of one share. out-of-place and in-place are the same: a
 * simulation has no buffers. Nothing is validated, so #wrong is N/A. Source: SOURCES.md 6
 * (definitions of the bandwidths); the layout is that of nccl-tests 2.17.
 */
#ifndef WEFT_SIM_APP_NCCL_H
#define WEFT_SIM_APP_NCCL_H

#include "sim/app/summary.h"

/* What they print of a group; a time is that of one call. */
struct nccl_row {
    int64_t count;
    const char *type, *redop;
    int root; /* -1: the collective has none */
    double time_us, algbw, busbw;
    bool finished;
};
struct nccl_row nccl_row(const struct sink_group *group);

/* Whether any of the groups (struct sink_group) is a collective: has a busbw. */
bool nccl_has(const GArray *groups);

/* Both files as text; g_free. */
char *nccl_table(const GArray *groups);
char *nccl_json(const GArray *groups);

#endif
