/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ring all-reduce, reduce-scatter and all-gather; the choice of the direct exchange instead.
 *
 * In step k place p sends segment p - k - shift (mod n) to place p + 1, which sums it (in the
 * n - 1 reduce-scatter steps) and passes it on in step k + 1. So a segment travels once around to
 * be summed and once more to be spread:
 *
 *                    steps     shift   at the end
 *   reduce-scatter   n - 1     1       place p holds the sum of segment p
 *   all-gather       n - 1     0       every place holds every segment
 *   all-reduce       2(n - 1)  1       one after the other
 *
 * A message waits for one thing, the same chunk having come from the left, so chunks flow like a
 * pipeline and leave a place in the order in which they arrived. A call after the first waits for
 * all of the call before.
 *
 * Operations of one call, in this order: messages by (step, place, chunk); reductions by the
 * message they follow; one join that ends the call, if another call follows.
 *
 * Not here: several rings (channels), double trees, hierarchy. Time in the alpha-beta model:
 * 2(n-1) a + 2(n-1)/n S/B (half for the other two).
 * Source: Patarasuk and Yuan, JPDC 69 (2009); sizes and bus bandwidth as nccl-tests PERFORMANCE.md.
 */
#include "workloads/collective.h"

enum algorithm { ALGORITHM_RING, ALGORITHM_DIRECT };

struct ring {
    struct collective call;
    uint64_t shift;
    uint64_t n_steps;
    uint64_t n_wide;     /* messages of a step: places x chunks */
    uint64_t n_messages; /* of a call */
    uint64_t n_reduces;  /* of a call; they follow messages 0 .. n_reduces - 1 */
    uint64_t n_block;    /* operations from one call to the next */
};

/* An operation's number taken apart. */
struct at {
    uint64_t iteration, index; /* index within the call */
    uint64_t step, place, chunk;
};

static struct at locate(const struct ring *ring, uint64_t number)
{
    struct at at = {number / ring->n_block, number % ring->n_block, 0, 0, 0};
    uint64_t message = at.index < ring->n_messages ? at.index : at.index - ring->n_messages;

    at.step = message / ring->n_wide;
    at.place = message % ring->n_wide / ring->call.n_chunks;
    at.chunk = message % ring->call.n_chunks;
    return at;
}

static int64_t bytes_at(const struct ring *ring, const struct at *at)
{
    uint64_t n = ring->call.n;

    return collective_chunk_bytes(&ring->call, (at->place + 2 * n - at->step % n - ring->shift) % n,
                                  at->chunk);
}

static void ring_op(const void *data, uint64_t number, struct schedule_op *op)
{
    const struct ring *ring = data;
    struct at at = locate(ring, number);
    uint64_t right = (at.place + 1) % ring->call.n;

    *op = (struct schedule_op){.n_needed = 1, .group = (uint32_t)at.iteration};
    if (at.index < ring->n_messages) {
        collective_set_message(op, at.place, right, bytes_at(ring, &at));
        if (number < ring->n_wide) {
            op->n_needed = 0;
            op->start_ps = ring->call.start_ps;
        }
    } else if (at.index < ring->n_messages + ring->n_reduces) {
        collective_set_reduce(op, right, bytes_at(ring, &at));
    } else {
        collective_set_barrier(&ring->call, op, ring->n_wide);
    }
}

/* What follows when the piece of a message is at place + 1, and summed if it has to be. */
static uint64_t pass_on(const struct ring *ring, const struct at *at)
{
    uint64_t first = at->iteration * ring->n_block;

    if (at->step + 1 < ring->n_steps)
        return first + (at->step + 1) * ring->n_wide +
               (at->place + 1) % ring->call.n * ring->call.n_chunks + at->chunk;
    if (at->iteration + 1 < ring->call.n_iterations)
        return first + ring->n_block - 1;
    return SCHEDULE_NONE;
}

static uint64_t ring_successor(const void *data, uint64_t number, uint32_t k,
                               enum schedule_when *when)
{
    const struct ring *ring = data;
    struct at at = locate(ring, number);

    *when = SCHEDULE_AT_RECEIVER;
    if (at.index >= ring->n_messages + ring->n_reduces) { /* the join: roots of the next call */
        if (k < ring->n_wide && at.iteration + 1 < ring->call.n_iterations)
            return (at.iteration + 1) * ring->n_block + k;
        return SCHEDULE_NONE;
    }
    if (k > 0)
        return SCHEDULE_NONE;
    if (at.index < ring->n_reduces)
        return number + ring->n_messages;
    return pass_on(ring, &at);
}

static uint64_t ring_root(const void *data, uint64_t k)
{
    const struct ring *ring = data;

    return k < ring->n_wide ? k : SCHEDULE_NONE;
}

static const struct schedule_source source = {ring_op, ring_successor, ring_root, g_free};

static gboolean build_ring(const struct collective *call, const struct graph *graph,
                           struct build *notes, struct schedule *schedule, GError **error)
{
    bool both = call->kind == COLLECTIVE_ALLREDUCE;
    struct ring ring = {.call = *call, .shift = call->kind != COLLECTIVE_ALLGATHER};
    struct collective_plan plan = {
        .algorithm = "ring", .source = &source, .data = &ring, .size = sizeof ring};
    unsigned __int128 n_wide = (unsigned __int128)call->n * call->n_chunks;
    unsigned __int128 n_half = n_wide * (call->n - 1);

    ring.n_steps = (call->n - UINT64_C(1)) * (both ? 2 : 1);
    ring.n_wide = (uint64_t)n_wide;
    ring.n_messages = (uint64_t)(both ? 2 * n_half : n_half);
    ring.n_reduces = call->reduce ? (uint64_t)n_half : 0;
    ring.n_block = ring.n_messages + ring.n_reduces + (call->n_iterations > 1);
    plan.n_ops = (both ? 2 * n_half : n_half) + (call->reduce ? n_half : 0);
    plan.n_largest = call->n_iterations > 1 ? n_wide : 1;
    return collective_finish(call, &plan, graph, notes, schedule, error);
}

static gboolean build_kind(enum collective_kind kind, const char *name, const void *data,
                           const struct graph *graph, struct build *notes,
                           struct schedule *schedule, GError **error)
{
    const struct collective_config *config = data;
    struct collective call;

    if (!collective_init(&call, kind, name, config, graph, schedule, error))
        return FALSE;
    call.reduce = kind != COLLECTIVE_ALLGATHER && config->reduce;
    if (config->algorithm == ALGORITHM_DIRECT)
        return collective_direct(&call, false, graph, notes, schedule, error);
    return build_ring(&call, graph, notes, schedule, error);
}

static gboolean build_allreduce(const void *config, const struct graph *graph, struct build *notes,
                                struct schedule *schedule, GError **error)
{
    return build_kind(COLLECTIVE_ALLREDUCE, "allreduce", config, graph, notes, schedule, error);
}

static gboolean build_reducescatter(const void *config, const struct graph *graph,
                                    struct build *notes, struct schedule *schedule, GError **error)
{
    return build_kind(COLLECTIVE_REDUCESCATTER, "reducescatter", config, graph, notes, schedule,
                      error);
}

static gboolean build_allgather(const void *config, const struct graph *graph, struct build *notes,
                                struct schedule *schedule, GError **error)
{
    return build_kind(COLLECTIVE_ALLGATHER, "allgather", config, graph, notes, schedule, error);
}

#define ALGORITHM_PARAM                                                                            \
    PARAM(CHOICE, struct collective_config, algorithm, "ring", NULL, NULL, "ring|direct",          \
          "ring: neighbours in n - 1 steps; direct: every pair at once.",                          \
          "NCCL's ring is its algorithm for large sizes")

static const struct param reducing_params[] = {ALGORITHM_PARAM, COLLECTIVE_PARAMS,
                                               COLLECTIVE_REDUCE_PARAM, PARAM_END};
static const struct param gathering_params[] = {ALGORITHM_PARAM, COLLECTIVE_PARAMS, PARAM_END};

const struct workload_ops workload_allreduce = {
    .name = "allreduce",
    .summary = "All-reduce: every rank ends with the sum of all buffers of S bytes.",
    .source = "Patarasuk and Yuan 2009; nccl-tests all_reduce_perf",
    .config_size = sizeof(struct collective_config),
    .params = reducing_params,
    .build = build_allreduce};

const struct workload_ops workload_reducescatter = {
    .name = "reducescatter",
    .summary = "Reduce-scatter: rank i ends with the sum of segment i of buffers of S bytes.",
    .source = "Patarasuk and Yuan 2009; nccl-tests reduce_scatter_perf",
    .config_size = sizeof(struct collective_config),
    .params = reducing_params,
    .build = build_reducescatter};

const struct workload_ops workload_allgather = {
    .name = "allgather",
    .summary = "All-gather: every rank ends with all n segments, S bytes in total.",
    .source = "Patarasuk and Yuan 2009; nccl-tests all_gather_perf",
    .config_size = sizeof(struct collective_config),
    .params = gathering_params,
    .build = build_allgather};
