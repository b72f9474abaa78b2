/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recursive doubling for 2^k ranks: in step s, rank p exchanges with p xor 2^s.
 *
 *   all-reduce  both send all they have summed, and add what comes: log2 n steps of S bytes each.
 *               Each step's sum goes to a place of its own, so that nothing is overwritten that may
 *               still be on its way out.
 *   all-gather  both send all segments they have: steps of 1, 2, 4, ... segments.
 *
 * Lanes are pieces of the whole (all-reduce) or of every segment (all-gather).
 * Source: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005).
 */
#include "workloads/hccl.h"

/* Where the sum lies after `step` steps of `n_steps`. */
static struct hccl_place sum_after(const struct hccl_graph *graph, uint32_t step, uint32_t n_steps,
                                   int64_t offset)
{
    if (step == 0)
        return (struct hccl_place){HCCL_INPUT, offset};
    if (step == n_steps)
        return (struct hccl_place){HCCL_OUTPUT, offset};
    return (struct hccl_place){HCCL_SCRATCH, (2 * step - 1) * graph->call.bytes + offset};
}

static void reduce_lane(struct hccl_graph *graph, uint32_t p, uint32_t piece, struct hccl_cut cut,
                        uint32_t n_steps)
{
    struct hccl_range range = {0, graph->call.bytes};
    uint32_t way = piece / cut.n_chunks;

    hccl_piece(cut, piece, &range.offset, &range.length);
    hccl_lane_begin(graph, p, piece, way);
    for (uint32_t step = 0; step < n_steps; step++) {
        uint32_t peer = p ^ 1u << step;
        struct hccl_place from = sum_after(graph, step, n_steps, range.offset);
        struct hccl_place came = {HCCL_SCRATCH, 2 * step * graph->call.bytes + range.offset};

        hccl_send(graph, peer, hccl_nic(graph, p, peer, way), from, range.length);
        hccl_recv(graph, peer, came, range.length);
        hccl_reduce(graph, from, came, sum_after(graph, step + 1, n_steps, range.offset),
                    range.length);
    }
}

static struct hccl_range piece_of(const struct hccl_graph *graph, struct hccl_cut cut,
                                  uint32_t piece, uint32_t segment)
{
    struct hccl_range range;

    hccl_segment(graph->call.bytes, graph->layout.n_ranks, segment, &range.offset, &range.length);
    hccl_piece(cut, piece, &range.offset, &range.length);
    return range;
}

static void gather_lane(struct hccl_graph *graph, uint32_t p, uint32_t piece, struct hccl_cut cut,
                        uint32_t n_steps)
{
    struct hccl_range own = piece_of(graph, cut, piece, p);
    uint32_t way = piece / cut.n_chunks;
    int64_t offset, length;

    hccl_segment(graph->call.bytes, graph->layout.n_ranks, p, &offset, &length);
    hccl_lane_begin(graph, p, piece, way);
    hccl_copy(graph, (struct hccl_place){HCCL_INPUT, own.offset - offset},
              (struct hccl_place){HCCL_OUTPUT, own.offset}, own.length);
    for (uint32_t step = 0; step < n_steps; step++) {
        uint32_t peer = p ^ 1u << step, mine = p >> step << step, theirs = peer >> step << step;

        for (uint32_t k = 0; k < 1u << step; k++) {
            struct hccl_range range = piece_of(graph, cut, piece, mine + k);

            hccl_send(graph, peer, hccl_nic(graph, p, peer, way),
                      (struct hccl_place){HCCL_OUTPUT, range.offset}, range.length);
        }
        for (uint32_t k = 0; k < 1u << step; k++) {
            struct hccl_range range = piece_of(graph, cut, piece, theirs + k);

            hccl_recv(graph, peer, (struct hccl_place){HCCL_OUTPUT, range.offset}, range.length);
        }
    }
}

gboolean hccl_doubling(struct hccl_graph *graph, GError **error)
{
    uint32_t n = graph->layout.n_ranks, n_steps = 0;
    bool reduces = graph->call.kind == HCCL_ALLREDUCE;
    struct hccl_cut cut =
        hccl_cut(graph, reduces ? graph->call.bytes : (graph->call.bytes + n - 1) / n);

    if (!reduces && graph->call.kind != HCCL_ALLGATHER) {
        g_set_error(error, BUILD_ERROR, 0,
                    "algorithm = recursive_doubling: for allreduce and allgather, not for %s",
                    hccl_kind_name(graph->call.kind));
        return FALSE;
    }
    if (n & (n - 1)) {
        g_set_error(error, BUILD_ERROR, 0,
                    "algorithm = recursive_doubling: a power of two of ranks is expected, not %u",
                    n);
        return FALSE;
    }
    while (1u << n_steps < n)
        n_steps++;
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t piece = 0; piece < cut.n_ways * cut.n_chunks; piece++) {
            if (reduces)
                reduce_lane(graph, p, piece, cut, n_steps);
            else
                gather_lane(graph, p, piece, cut, n_steps);
        }
    return TRUE;
}
