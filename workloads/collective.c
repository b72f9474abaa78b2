/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/collective.h"
#include "sim/core/units.h"

enum order { ORDER_LINEAR, ORDER_STRIDED };

/* Part i of `bytes` cut into n: floor(bytes (i+1) / n) - floor(bytes i / n), without overflow. */
static int64_t part_bytes(int64_t bytes, uint64_t n, uint64_t i)
{
    uint64_t rest = (uint64_t)bytes % n;

    return bytes / (int64_t)n + (int64_t)(rest * (i + 1) / n - rest * i / n);
}

int64_t collective_chunk_bytes(const struct collective *call, uint64_t segment, uint64_t chunk)
{
    return part_bytes(part_bytes(call->bytes, call->n, segment), call->n_chunks, chunk);
}

void collective_set_message(struct schedule_op *op, uint64_t from, uint64_t to, int64_t bytes)
{
    op->kind = bytes > 0 ? SCHEDULE_MESSAGE : SCHEDULE_JOIN;
    op->rank = (uint32_t)from;
    op->peer = (uint32_t)to;
    op->bytes = bytes;
}

void collective_set_reduce(struct schedule_op *op, uint64_t rank, int64_t bytes)
{
    op->kind = bytes > 0 ? SCHEDULE_REDUCE : SCHEDULE_JOIN;
    op->rank = op->peer = (uint32_t)rank;
    op->bytes = bytes;
}

void collective_set_barrier(const struct collective *call, struct schedule_op *op,
                            uint64_t n_needed)
{
    op->kind = call->gap_ps > 0 ? SCHEDULE_COMPUTE : SCHEDULE_JOIN;
    op->duration_ps = call->gap_ps;
    op->n_needed = (uint32_t)n_needed;
    op->group = SCHEDULE_NO_GROUP;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Place p holds rank (p mod m) stride + p div m (mod n); m places are one round of the stride. */
static void put_places(const struct collective_config *config, const uint32_t *hosts,
                       struct schedule *schedule)
{
    uint64_t n = schedule->n_ranks;
    uint64_t stride = config->order == ORDER_STRIDED ? (uint64_t)config->stride % n : 1;
    uint64_t round = n / greatest_common_divisor(n, stride);

    for (uint64_t p = 0; p < n; p++)
        schedule->rank_host[p] = hosts[(p % round * stride + p / round) % n];
}

/* Messages a segment is cut into so that none is above `chunk`. */
static gboolean count_chunks(struct collective *call, int64_t chunk, GError **error)
{
    int64_t largest = call->bytes / call->n + (call->bytes % call->n != 0);
    int64_t n_chunks = chunk == 0 ? 1 : largest / chunk + (largest % chunk != 0);

    if (n_chunks <= UINT32_MAX) {
        call->n_chunks = (uint32_t)n_chunks;
        return TRUE;
    }
    g_set_error(error, BUILD_ERROR, 0,
                "chunk = %" G_GINT64_FORMAT " B cuts a segment of %" G_GINT64_FORMAT
                " B into more than %u messages; a larger chunk is expected",
                chunk, largest, UINT32_MAX);
    return FALSE;
}

static void factor_of(const struct collective *call, int64_t *factor_n, int64_t *factor_d)
{
    *factor_n = (int64_t)(call->n - 1) * (call->kind == COLLECTIVE_ALLREDUCE ? 2 : 1);
    *factor_d = call->n;
}

gboolean collective_init(struct collective *call, enum collective_kind kind, const char *name,
                         const struct collective_config *config, const struct graph *graph,
                         struct schedule *schedule, GError **error)
{
    g_autofree uint32_t *hosts = NULL;
    int64_t factor_n, factor_d;

    *call = (struct collective){.kind = kind,
                                .bytes = config->bytes,
                                .n_iterations = (uint32_t)config->iterations,
                                .start_ps = config->start,
                                .gap_ps = config->gap};
    hosts = workload_ranks(config->ranks, graph, &call->n, error);
    if (!hosts)
        return FALSE;
    if (call->n < 2) {
        g_set_error(error, BUILD_ERROR, 0,
                    "%s: a collective needs at least 2 ranks, and ranks = '%s' names %u; one rank "
                    "moves no bytes",
                    name, config->ranks, call->n);
        return FALSE;
    }
    if (!count_chunks(call, config->chunk, error))
        return FALSE;
    schedule_init(schedule, call->n);
    put_places(config, hosts, schedule);
    factor_of(call, &factor_n, &factor_d);
    for (uint32_t i = 0; i < call->n_iterations; i++)
        schedule_add_group(schedule, name, call->bytes, call->n, factor_n, factor_d);
    return TRUE;
}

static void note_content(const struct collective *call, const char *name, const char *algorithm,
                         struct build *notes)
{
    double sent = (double)call->bytes * (double)(call->n - 1);
    g_autofree char *size = units_display(UNITS_BYTES, (double)call->bytes);
    g_autofree char *sum =
        units_display(UNITS_BYTES, sent * (call->kind == COLLECTIVE_ALLREDUCE ? 2 : 1));

    build_note(notes,
               "%s, %s: S = %s (%" G_GINT64_FORMAT
               " B) on %u ranks, %u message%s a segment, %u call%s, %s over the fabric a call",
               name, algorithm, size, call->bytes, call->n, call->n_chunks,
               call->n_chunks == 1 ? "" : "s", call->n_iterations,
               call->n_iterations == 1 ? "" : "s", sum);
    if (call->gap_ps > 0 && call->n_iterations > 1) {
        g_autofree char *gap = units_format(UNITS_TIME, call->gap_ps);

        build_note(notes, "%s: all ranks compute for %s between calls", name, gap);
    }
    if (call->bytes < call->n)
        build_note(notes,
                   "%" G_GINT64_FORMAT " B over %u ranks: %" G_GINT64_FORMAT
                   " segments are empty and send no message",
                   call->bytes, call->n, call->n - call->bytes);
}

gboolean collective_finish(const struct collective *call, const struct collective_plan *plan,
                           const struct graph *graph, struct build *notes,
                           struct schedule *schedule, GError **error)
{
    uint32_t n_barriers = call->n_iterations - 1;
    unsigned __int128 n_ops = (plan->n_ops + plan->n_joins) * call->n_iterations + n_barriers;

    if (n_ops > INT64_MAX || plan->n_largest > UINT32_MAX) {
        g_set_error(error, BUILD_ERROR, 0,
                    "%u ranks x %u messages a segment x %u calls are more operations than can be "
                    "numbered; a larger chunk is expected",
                    call->n, call->n_chunks, call->n_iterations);
        schedule_clear(schedule);
        return FALSE;
    }
    for (uint32_t i = 0; i < call->n_iterations; i++)
        schedule_group(schedule, i)->n_ops = (uint64_t)plan->n_ops;
    schedule_set_source(schedule, plan->source, g_memdup2(plan->data, plan->size), (uint64_t)n_ops);
    note_content(call, schedule_group(schedule, 0)->name, plan->algorithm, notes);
    return workload_finish(schedule, graph, error);
}
