/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A collective inside a stored schedule: what workloads/collective*.c computes for one call, copied
 * operation by operation and tied to its members. A member's operations begin after its `begin`,
 * and its `end` is done when all that arrives at it has been placed and reduced and all that it
 * sent is acknowledged. So members may come late and go early, as in a trace.
 */
#ifndef WEFT_WORKLOADS_EMBED_H
#define WEFT_WORKLOADS_EMBED_H

#include "workloads/workload.h"

#define EMBED_MOST_OPS (UINT64_C(1) << 26) /* of a schedule; our choice: some 10 GB */

struct embed_call {
    const char *kind;            /* "allreduce", "reducescatter", "allgather" or "alltoall" */
    const char *algorithm;       /* NULL: as the kind has it by default */
    int64_t bytes;               /* S, as nccl-tests means it */
    uint32_t n;                  /* members */
    const uint32_t *ranks;       /* of the schedule, each on the host of its number */
    const uint64_t *begin, *end; /* operations of the schedule, by member */
};

/* Adds one call and its group; the error says what of it is wrong. */
gboolean embed_collective(struct schedule *schedule, const struct graph *graph,
                          const struct embed_call *call, GError **error);

/* Adds a message of `bytes` (none if 0) from member to member of the call, tied in the same way. */
void embed_message(struct schedule *schedule, const struct embed_call *call, uint32_t from,
                   uint32_t to, int64_t bytes, uint32_t group);

/* No member ends before all have begun. */
void embed_barrier(struct schedule *schedule, const struct embed_call *call);

#endif
