/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings. A segment is cut into ways, one NIC port and one engine each, and a way into chunks; every
 * (way, chunk) is a lane that takes its piece through all steps, so that chunks follow one another
 * as in a pipeline: while one is reduced, the next arrives.
 *
 *   reduce-scatter, step k of n - 1:  SEND piece of segment p - 1 - k; RECV that of p - 2 - k into
 *                                     scratch; REDUCE it with one's own
 *   all-gather, step k:               SEND piece of segment p - k; RECV that of p - k - 1
 *   all-reduce                        the one, then the other
 *   broadcast                         the whole, from the root around, chunk behind chunk
 *
 * Source: Patarasuk and Yuan, JPDC 69 (2009); HCCL's worked example (SOURCES.md 2.4).
 */
#include "workloads/hccl.h"

static uint32_t rank_at(const struct hccl_view *view, uint32_t place)
{
    return view->base + place % view->n * view->stride;
}

static struct hccl_place in_output(const struct hccl_range *range)
{
    return (struct hccl_place){HCCL_OUTPUT, range->offset};
}

void hccl_ring_reduce(struct hccl_graph *graph, const struct hccl_view *view,
                      const struct hccl_range *ranges, enum hccl_buffer own, uint32_t index)
{
    uint32_t n = view->n, p = view->at, me = rank_at(view, p);
    uint32_t next = rank_at(view, p + 1), before = rank_at(view, p + n - 1);

    for (uint32_t k = 0; k + 1 < n; k++) {
        const struct hccl_range *out = &ranges[(p + 2 * n - 1 - k) % n];
        const struct hccl_range *in = &ranges[(p + 2 * n - 2 - k) % n];
        struct hccl_place from = {k == 0 ? own : HCCL_OUTPUT, out->offset};
        struct hccl_place scratch = {HCCL_SCRATCH, in->offset};

        hccl_send(graph, next, hccl_nic(graph, me, next, index), from, out->length);
        hccl_recv(graph, before, scratch, in->length);
        hccl_reduce(graph, (struct hccl_place){own, in->offset}, scratch, in_output(in),
                    in->length);
    }
}

void hccl_ring_gather(struct hccl_graph *graph, const struct hccl_view *view,
                      const struct hccl_range *ranges, uint32_t index)
{
    uint32_t n = view->n, p = view->at, me = rank_at(view, p);
    uint32_t next = rank_at(view, p + 1), before = rank_at(view, p + n - 1);

    for (uint32_t k = 0; k + 1 < n; k++) {
        const struct hccl_range *out = &ranges[(p + n - k) % n];
        const struct hccl_range *in = &ranges[(p + 2 * n - k - 1) % n];

        hccl_send(graph, next, hccl_nic(graph, me, next, index), in_output(out), out->length);
        hccl_recv(graph, before, in_output(in), in->length);
    }
}

void hccl_ready(struct hccl_graph *graph, const struct hccl_view *view, uint32_t number,
                uint32_t n_lanes, uint32_t first_flag, uint32_t index)
{
    uint32_t me = rank_at(view, view->at), next = rank_at(view, view->at + 1);
    uint32_t before = rank_at(view, view->at + view->n - 1);

    if (!graph->call.sends_wait || view->n < 2)
        return;
    if (number > 0) {
        hccl_wait(graph, me, first_flag + 1, 1);
        return;
    }
    hccl_write(graph, before, hccl_nic(graph, me, before, index), (struct hccl_place){0},
               (struct hccl_place){0}, 0, first_flag);
    hccl_wait(graph, next, first_flag, 1);
    if (n_lanes > 1)
        hccl_set(graph, first_flag + 1);
}

void hccl_turn_begin(struct hccl_graph *graph, struct hccl_cut cut, uint32_t rank, uint32_t piece,
                     uint32_t first_flag)
{
    if (graph->call.depth > 0 && piece % cut.n_chunks >= graph->call.depth)
        hccl_wait(graph, rank, first_flag + piece, 1);
}

void hccl_turn_end(struct hccl_graph *graph, struct hccl_cut cut, uint32_t piece,
                   uint32_t first_flag)
{
    if (graph->call.depth > 0 && piece % cut.n_chunks + graph->call.depth < cut.n_chunks)
        hccl_set(graph, first_flag + piece + graph->call.depth);
}

/* The pieces of all segments that a lane takes around. */
static struct hccl_range *ranges_of(const struct hccl_graph *graph, struct hccl_cut cut,
                                    uint32_t piece)
{
    uint32_t n = graph->layout.n_ranks;
    struct hccl_range *ranges = g_new(struct hccl_range, n);

    for (uint32_t k = 0; k < n; k++) {
        hccl_segment(graph->call.bytes, n, k, &ranges[k].offset, &ranges[k].length);
        hccl_piece(cut, piece, &ranges[k].offset, &ranges[k].length);
    }
    return ranges;
}

/* The rank's own segment comes from its input, which holds nothing else. */
static void copy_own(struct hccl_graph *graph, uint32_t rank, const struct hccl_range *range)
{
    int64_t offset, length;

    hccl_segment(graph->call.bytes, graph->layout.n_ranks, rank, &offset, &length);
    hccl_copy(graph, (struct hccl_place){HCCL_INPUT, range->offset - offset}, in_output(range),
              range->length);
}

static void ring_lane(struct hccl_graph *graph, uint32_t rank, uint32_t piece, struct hccl_cut cut)
{
    struct hccl_view view = {0, 1, graph->layout.n_ranks, rank};
    g_autofree struct hccl_range *ranges = ranges_of(graph, cut, piece);
    uint32_t way = piece / cut.n_chunks;
    enum hccl_kind kind = graph->call.kind;

    hccl_lane_begin(graph, rank, piece, way);
    hccl_ready(graph, &view, piece, cut.n_ways * cut.n_chunks, 0, way);
    hccl_turn_begin(graph, cut, rank, piece, 2);
    if (kind == HCCL_ALLGATHER)
        copy_own(graph, rank, &ranges[rank]);
    else
        hccl_ring_reduce(graph, &view, ranges, HCCL_INPUT, way);
    if (kind != HCCL_REDUCESCATTER)
        hccl_ring_gather(graph, &view, ranges, way);
    hccl_turn_end(graph, cut, piece, 2);
}

/* A piece of the whole, from the root to the last. */
static void broadcast_lane(struct hccl_graph *graph, uint32_t rank, uint32_t piece,
                           struct hccl_cut cut)
{
    uint32_t n = graph->layout.n_ranks, place = (rank + n - graph->call.root) % n;
    uint32_t way = piece / cut.n_chunks, next = (rank + 1) % n, before = (rank + n - 1) % n;
    struct hccl_range range = {0, graph->call.bytes};
    struct hccl_place input, output;

    hccl_piece(cut, piece, &range.offset, &range.length);
    input = (struct hccl_place){HCCL_INPUT, range.offset};
    output = in_output(&range);
    hccl_lane_begin(graph, rank, piece, way);
    if (place > 0)
        hccl_recv(graph, before, output, range.length);
    if (place + 1 < n)
        hccl_send(graph, next, hccl_nic(graph, rank, next, way), place == 0 ? input : output,
                  range.length);
    if (place == 0)
        hccl_copy(graph, input, output, range.length);
}

gboolean hccl_ring(struct hccl_graph *graph, GError **error)
{
    uint32_t n = graph->layout.n_ranks;
    bool whole = graph->call.kind == HCCL_BROADCAST;
    struct hccl_cut cut =
        hccl_cut(graph, whole ? graph->call.bytes : (graph->call.bytes + n - 1) / n);

    if (graph->call.kind == HCCL_ALLTOALL) {
        g_set_error(error, BUILD_ERROR, 0,
                    "algorithm = ring: an all-to-all has no ring; direct is expected");
        return FALSE;
    }
    for (uint32_t rank = 0; rank < n; rank++)
        for (uint32_t piece = 0; piece < cut.n_ways * cut.n_chunks; piece++) {
            if (whole)
                broadcast_lane(graph, rank, piece, cut);
            else
                ring_lane(graph, rank, piece, cut);
        }
    return TRUE;
}
