/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the collectives share: their parameters, who is at which place, and how a buffer is cut.
 *
 * S is the size of nccl-tests: the whole buffer of a rank (all-reduce, and a rank's whole send
 * buffer in an all-to-all), the whole input of a reduce-scatter, the whole gathered output of an
 * all-gather. It is cut into n segments, segment i = floor(S (i+1) / n) - floor(S i / n) bytes, and
 * a segment into n_chunks messages by the same rule, so that every byte is moved exactly once
 * whatever S is. A piece of no bytes is no message: a join stands in its place.
 *
 * Operations are computed from their number, so a schedule takes O(n) memory.
 */
#ifndef WEFT_WORKLOADS_COLLECTIVE_H
#define WEFT_WORKLOADS_COLLECTIVE_H

#include "workloads/workload.h"

struct collective_config { /* the user's */
    int64_t algorithm, bytes, chunk, iterations, gap, order, stride, reduce, start;
    char *ranks;
};

/* The rows that all collectives have; in their parameter tables. */
#define COLLECTIVE_PARAMS                                                                          \
    PARAM(BYTES, struct collective_config, bytes, "16MiB", "1B", NULL, NULL,                       \
          "Size S as nccl-tests means it, per rank: the whole buffer.",                            \
          "our choice: plays in seconds; Meta's own size is not published"),                       \
        PARAM(BYTES, struct collective_config, chunk, "0B", NULL, NULL, NULL,                      \
              "Bytes of a message at most; 0: a whole segment, S / n.",                            \
              "our choice: one message a step"),                                                   \
        PARAM(NUMBER, struct collective_config, iterations, "1", "1", "100000", NULL,              \
              "Calls in a row; each starts when the one before is complete on all ranks.",         \
              "our choice: one"),                                                                  \
        PARAM(TIME, struct collective_config, gap, "0ps", NULL, "1000s", NULL,                     \
              "Time that all ranks compute between the end of a call and the start of the next.",  \
              "our choice: communication alone"),                                                  \
        PARAM(CHOICE, struct collective_config, order, "linear", NULL, NULL, "linear|strided",     \
              "Place i holds rank i, or, strided, ranks 0, stride, 2 stride, ... then 1, 1 + "     \
              "stride, ...",                                                                       \
              "our choice: linear keeps ring neighbours on one leaf, as NCCL's ordering does"),    \
        PARAM(NUMBER, struct collective_config, stride, "1", "1", NULL, NULL,                      \
              "Distance of neighbours, for order = strided.", "our choice"),                       \
        PARAM(TIME, struct collective_config, start, "0ps", NULL, NULL, NULL,                      \
              "When the first call starts.", "our choice"),                                        \
        PARAM(TEXT, struct collective_config, ranks, "", NULL, NULL, NULL,                         \
              "Hosts that take part, in the order of ranks, such as 0-63 or 0,2,4-7; empty: all.", \
              "our choice: all hosts")

#define COLLECTIVE_REDUCE_PARAM                                                                    \
    PARAM(                                                                                         \
        BOOL, struct collective_config, reduce, "on", NULL, NULL, NULL,                            \
        "Each piece that arrives to be summed is a reduction on its rank before it goes on; its "  \
        "duration is the node's.",                                                                 \
        "our choice: takes no time unless the node says so")

enum collective_kind {
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_REDUCESCATTER,
    COLLECTIVE_ALLGATHER,
    COLLECTIVE_ALLTOALL
};

/* How a call is cut; derived. A place is a position in the order; it is the schedule's rank. */
struct collective {
    enum collective_kind kind;
    int64_t bytes;     /* S */
    uint32_t n;        /* places, 2 or more */
    uint32_t n_chunks; /* messages a segment is cut into, 1 or more */
    uint32_t n_iterations;
    bool reduce;
    int64_t start_ps, gap_ps;
};

/* Bytes of chunk `chunk` of segment `segment`; 0 is possible. */
int64_t collective_chunk_bytes(const struct collective *call, uint64_t segment, uint64_t chunk);

/* Makes `op` a message, or a join where there is nothing to send. */
void collective_set_message(struct schedule_op *op, uint64_t from, uint64_t to, int64_t bytes);
void collective_set_reduce(struct schedule_op *op, uint64_t rank, int64_t bytes);

/*
 * Makes `op` what stands between two calls and waits for `n_needed` edges: a join or, with a gap, a
 * computation. One stands for all ranks, as they begin it together and take the same time.
 */
void collective_set_barrier(const struct collective *call, struct schedule_op *op,
                            uint64_t n_needed);

/*
 * Starts a schedule: places on hosts, one group an iteration. Fails, with nothing to clear, for
 * ranks that do not exist, fewer than two, or chunks without number.
 */
gboolean collective_init(struct collective *call, enum collective_kind kind, const char *name,
                         const struct collective_config *config, const struct graph *graph,
                         struct schedule *schedule, GError **error);

/* What an algorithm makes of one call. */
struct collective_plan {
    const char *algorithm;
    unsigned __int128 n_ops;     /* that belong to the call */
    unsigned __int128 n_joins;   /* beside them, without the barrier between calls */
    unsigned __int128 n_largest; /* edges into one operation */
    const struct schedule_source *source;
    const void *data; /* of the source, copied */
    size_t size;
};

/* Ends it. Fails, with nothing to clear, if numbers do not fit 64 bits (32 for n_largest). */
gboolean collective_finish(const struct collective *call, const struct collective_plan *plan,
                           const struct graph *graph, struct build *notes,
                           struct schedule *schedule, GError **error);

/* Every pair of ranks exchanges at once (or step by step): collective_direct.c. */
gboolean collective_direct(const struct collective *call, bool pairwise, const struct graph *graph,
                           struct build *notes, struct schedule *schedule, GError **error);

#endif
