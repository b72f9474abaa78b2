/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collectives by direct exchange: every rank sends to every other one.
 *
 *                    segment sent by p to q      then
 *   reduce-scatter   q                           q sums what comes
 *   all-gather       p
 *   all-to-all       q of p's own send buffer
 *   all-reduce       reduce-scatter; when a place has all n - 1 pieces, its all-gather part starts
 *
 * A place sends to p + 1, p + 2, ... in this order, so that not all begin with the same receiver.
 * Pairwise, a place takes step d + 1 (to p + d + 2) when its message of step d is acknowledged and
 * the one from p - d - 1 has come, as MPI_Sendrecv in a loop does.
 *
 * Operations of one call, in this order: messages by (distance, place, chunk); reductions by the
 * message they follow; joins (all-reduce: by place; pairwise: by distance and place); messages of
 * the all-gather part; one join that ends the call, if another call follows.
 *
 * Not here: limits on how many peers are served at once, other than pairwise.
 * Source: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005), sections 4 (pairwise) and 5; AstraSim's
 * "direct" algorithm; sizes and bus bandwidth as nccl-tests PERFORMANCE.md.
 */
#include "workloads/collective.h"

struct direct {
    struct collective call;
    bool pairwise;
    bool spreads;        /* a second exchange, of what the first has summed */
    uint64_t n_wide;     /* messages of one distance: places x chunks */
    uint64_t n_exchange; /* messages of one exchange */
    uint64_t n_reduces, n_joins;
    uint64_t n_block; /* operations from one call to the next */
};

enum part { PART_FIRST, PART_REDUCE, PART_JOIN, PART_SECOND, PART_END };

/* An operation's number taken apart. */
struct at {
    enum part part;
    uint64_t iteration;
    uint64_t index; /* within the part */
    uint64_t distance, place, chunk;
};

static struct at locate(const struct direct *direct, uint64_t number)
{
    const uint64_t sizes[] = {direct->n_exchange, direct->n_reduces, direct->n_joins,
                              direct->spreads ? direct->n_exchange : 0, 1};
    struct at at = {PART_FIRST, number / direct->n_block, number % direct->n_block, 0, 0, 0};
    uint64_t n_chunks = direct->call.n_chunks;

    while (at.index >= sizes[at.part])
        at.index -= sizes[at.part++];
    if (at.part == PART_JOIN)
        n_chunks = 1;
    at.chunk = at.index % n_chunks;
    at.place = at.index / n_chunks % direct->call.n;
    at.distance = at.index / n_chunks / direct->call.n;
    return at;
}

static uint64_t number_of(const struct direct *direct, uint64_t iteration, enum part part,
                          uint64_t index)
{
    const uint64_t sizes[] = {direct->n_exchange, direct->n_reduces, direct->n_joins,
                              direct->spreads ? direct->n_exchange : 0};

    for (enum part before = PART_FIRST; before < part; before++)
        index += sizes[before];
    return iteration * direct->n_block + index;
}

static uint64_t receiver_of(const struct direct *direct, const struct at *at)
{
    return (at->place + at->distance + 1) % direct->call.n;
}

static int64_t bytes_at(const struct direct *direct, const struct at *at)
{
    bool own = at->part == PART_SECOND || direct->call.kind == COLLECTIVE_ALLGATHER;

    return collective_chunk_bytes(&direct->call, own ? at->place : receiver_of(direct, at),
                                  at->chunk);
}

static uint64_t n_roots(const struct direct *direct)
{
    return direct->pairwise ? direct->n_wide : direct->n_exchange;
}

/* Edges into a join. */
static uint64_t join_needs(const struct direct *direct)
{
    return direct->pairwise ? 2 * (uint64_t)direct->call.n_chunks
                            : (direct->call.n - UINT64_C(1)) * direct->call.n_chunks;
}

static void direct_op(const void *data, uint64_t number, struct schedule_op *op)
{
    const struct direct *direct = data;
    struct at at = locate(direct, number);

    *op = (struct schedule_op){.n_needed = 1, .group = (uint32_t)at.iteration};
    switch (at.part) {
    case PART_FIRST:
    case PART_SECOND:
        collective_set_message(op, at.place, receiver_of(direct, &at), bytes_at(direct, &at));
        if (number < n_roots(direct)) {
            op->n_needed = 0;
            op->start_ps = direct->call.start_ps;
        }
        return;
    case PART_REDUCE:
        collective_set_reduce(op, receiver_of(direct, &at), bytes_at(direct, &at));
        return;
    case PART_JOIN:
        op->kind = SCHEDULE_JOIN;
        op->rank = op->peer = (uint32_t)at.place;
        op->n_needed = (uint32_t)join_needs(direct);
        op->group = SCHEDULE_NO_GROUP;
        return;
    case PART_END:
        op->rank = op->peer = (uint32_t)at.place;
        collective_set_barrier(&direct->call, op, n_roots(direct));
        return;
    }
}

/* The join that ends the call, if another call follows. */
static uint64_t end_of_call(const struct direct *direct, const struct at *at)
{
    if (at->iteration + 1 < direct->call.n_iterations)
        return number_of(direct, at->iteration, PART_END, 0);
    return SCHEDULE_NONE;
}

/* Pairwise: the joins of this step at the receiver and, acknowledged, at the sender. */
static uint64_t after_step(const struct direct *direct, const struct at *at, uint32_t k,
                           enum schedule_when *when)
{
    uint64_t place = k == 0 ? receiver_of(direct, at) : at->place;

    if (at->distance + 2 == direct->call.n) /* the last step */
        return k == 0 ? end_of_call(direct, at) : SCHEDULE_NONE;
    if (k > 1)
        return SCHEDULE_NONE;
    if (k == 1 && bytes_at(direct, at) > 0)
        *when = SCHEDULE_AT_SENDER;
    return number_of(direct, at->iteration, PART_JOIN, at->distance * direct->call.n + place);
}

/* After a message of the first exchange is at its receiver, and summed if it has to be. */
static uint64_t after_arrival(const struct direct *direct, const struct at *at)
{
    if (direct->spreads)
        return number_of(direct, at->iteration, PART_JOIN, receiver_of(direct, at));
    return end_of_call(direct, at);
}

/* What a join lets go: the all-gather part of a place, or its next step. */
static uint64_t after_join(const struct direct *direct, const struct at *at, uint32_t k)
{
    uint64_t n_chunks = direct->call.n_chunks;
    uint64_t distance = k / n_chunks, index = at->place * n_chunks + k % n_chunks;

    if (direct->pairwise)
        return k < n_chunks ? number_of(direct, at->iteration, PART_FIRST,
                                        (at->distance + 1) * direct->n_wide + index)
                            : SCHEDULE_NONE;
    return distance + 1 < direct->call.n
               ? number_of(direct, at->iteration, PART_SECOND, distance * direct->n_wide + index)
               : SCHEDULE_NONE;
}

static uint64_t direct_successor(const void *data, uint64_t number, uint32_t k,
                                 enum schedule_when *when)
{
    const struct direct *direct = data;
    struct at at = locate(direct, number);

    *when = SCHEDULE_AT_RECEIVER;
    switch (at.part) {
    case PART_FIRST:
        if (direct->pairwise)
            return after_step(direct, &at, k, when);
        if (k > 0)
            return SCHEDULE_NONE;
        return direct->n_reduces ? number_of(direct, at.iteration, PART_REDUCE, at.index)
                                 : after_arrival(direct, &at);
    case PART_REDUCE:
        return k == 0 ? after_arrival(direct, &at) : SCHEDULE_NONE;
    case PART_JOIN:
        return after_join(direct, &at, k);
    case PART_SECOND:
        return k == 0 ? end_of_call(direct, &at) : SCHEDULE_NONE;
    case PART_END:
        break;
    }
    if (k < n_roots(direct) && at.iteration + 1 < direct->call.n_iterations)
        return number_of(direct, at.iteration + 1, PART_FIRST, k);
    return SCHEDULE_NONE;
}

static uint64_t direct_root(const void *data, uint64_t k)
{
    return k < n_roots(data) ? k : SCHEDULE_NONE;
}

static const struct schedule_source source = {direct_op, direct_successor, direct_root, g_free};

gboolean collective_direct(const struct collective *call, bool pairwise, const struct graph *graph,
                           struct build *notes, struct schedule *schedule, GError **error)
{
    bool spreads = call->kind == COLLECTIVE_ALLREDUCE;
    bool again = call->n_iterations > 1;
    unsigned __int128 n_wide = (unsigned __int128)call->n * call->n_chunks;
    unsigned __int128 n_exchange = n_wide * (call->n - 1);
    struct direct direct = {.call = *call, .pairwise = pairwise, .spreads = spreads};
    struct collective_plan plan = {.algorithm = pairwise ? "pairwise" : "direct",
                                   .source = &source,
                                   .data = &direct,
                                   .size = sizeof direct};

    direct.n_wide = (uint64_t)n_wide;
    direct.n_exchange = (uint64_t)n_exchange;
    direct.n_reduces = call->reduce ? direct.n_exchange : 0;
    direct.n_joins = spreads ? call->n : pairwise ? (call->n - UINT64_C(2)) * call->n : 0;
    plan.n_ops = n_exchange * (spreads ? 2 : 1) + (call->reduce ? n_exchange : 0);
    plan.n_joins = direct.n_joins;
    plan.n_largest = again ? n_roots(&direct) : 0;
    plan.n_largest = MAX(plan.n_largest, direct.n_joins ? join_needs(&direct) : 0);
    direct.n_block = (uint64_t)(plan.n_ops + plan.n_joins) + again;
    return collective_finish(call, &plan, graph, notes, schedule, error);
}
