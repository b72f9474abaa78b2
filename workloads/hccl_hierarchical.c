/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two levels: R domains of scale-up with m ranks each, rank p = (domain r, place i). Rings inside a
 * domain by the scale-up network, and across domains among the ranks of one place by the scale-out
 * network.
 *
 *   all-reduce      reduce-scatter inside (m segments); all-reduce across of what the place has;
 *                   all-gather inside
 *   reduce-scatter  inside, of all segments of each place; then across
 *   all-gather      across, of one's own segment; each that comes is passed around inside
 *
 * Where racks hold unlike numbers of ranks, m is the most that divides them all: a rack is then
 * several domains (16 + 16 + 8: five of 8), and hops across between two of one rack use scale-up.
 *
 * A lane takes one piece through all phases, so that the two networks work at the same time on
 * different pieces; in an all-gather the lanes inside wait by flag for those across.
 * Source: topology-aware forms for more than 16 ranks (SOURCES.md 2.4, 6); details our choice.
 */
#include "workloads/hccl.h"

struct two_levels {
    struct hccl_graph *graph;
    struct hccl_cut cut;
    uint32_t m, R, n_pieces;
};

static struct hccl_view inside(const struct two_levels *levels, uint32_t p)
{
    return (struct hccl_view){p / levels->m * levels->m, 1, levels->m, p % levels->m};
}

static struct hccl_view across(const struct two_levels *levels, uint32_t p)
{
    return (struct hccl_view){p % levels->m, levels->m, levels->R, p / levels->m};
}

static struct hccl_range piece_of(const struct two_levels *levels, uint64_t n, uint64_t segment,
                                  uint32_t piece)
{
    struct hccl_range range;

    hccl_segment(levels->graph->call.bytes, n, segment, &range.offset, &range.length);
    hccl_piece(levels->cut, piece, &range.offset, &range.length);
    return range;
}

static void all_reduce_lane(const struct two_levels *levels, uint32_t p, uint32_t piece)
{
    struct hccl_graph *graph = levels->graph;
    struct hccl_view in = inside(levels, p), out = across(levels, p);
    g_autofree struct hccl_range *wide = g_new(struct hccl_range, levels->m);
    g_autofree struct hccl_range *narrow = g_new(struct hccl_range, levels->R);
    uint32_t way = piece / levels->cut.n_chunks;

    for (uint32_t i = 0; i < levels->m; i++)
        wide[i] = piece_of(levels, levels->m, i, piece);
    for (uint32_t r = 0; r < levels->R; r++) {
        hccl_segment(wide[in.at].length, levels->R, r, &narrow[r].offset, &narrow[r].length);
        narrow[r].offset += wide[in.at].offset;
    }
    hccl_lane_begin(graph, p, piece, way);
    hccl_ready(graph, &in, piece, levels->n_pieces, 0, way);
    hccl_turn_begin(graph, levels->cut, p, piece, 2);
    hccl_ring_reduce(graph, &in, wide, HCCL_INPUT, way);
    hccl_ring_reduce(graph, &out, narrow, HCCL_OUTPUT, way);
    hccl_ring_gather(graph, &out, narrow, way);
    hccl_ring_gather(graph, &in, wide, way);
    hccl_turn_end(graph, levels->cut, piece, 2);
}

static void reduce_scatter_lane(const struct two_levels *levels, uint32_t p, uint32_t piece)
{
    struct hccl_graph *graph = levels->graph;
    struct hccl_view in = inside(levels, p), out = across(levels, p);
    g_autofree struct hccl_range *wide = g_new(struct hccl_range, levels->m);
    g_autofree struct hccl_range *narrow = g_new(struct hccl_range, levels->R);
    uint64_t n = graph->layout.n_ranks;
    uint32_t way = piece / levels->cut.n_chunks;

    hccl_lane_begin(graph, p, piece, way);
    hccl_ready(graph, &in, piece, levels->n_pieces, 0, way);
    hccl_turn_begin(graph, levels->cut, p, piece, 2);
    for (uint32_t r = 0; r < levels->R; r++) {
        for (uint32_t i = 0; i < levels->m; i++)
            wide[i] = piece_of(levels, n, r * levels->m + i, piece);
        hccl_ring_reduce(graph, &in, wide, HCCL_INPUT, way);
        narrow[r] = wide[in.at];
    }
    hccl_ring_reduce(graph, &out, narrow, HCCL_OUTPUT, way);
    hccl_turn_end(graph, levels->cut, piece, 2);
}

/* Flag of a piece of the segment of (domain r, this place) having come. */
static uint32_t flag_of(const struct two_levels *levels, uint32_t r, uint32_t piece)
{
    return 2 + r * levels->n_pieces + piece;
}

/* Across: one's own segment, then the others' as they come; each is told to the lanes inside. */
static void gather_across(const struct two_levels *levels, uint32_t p, uint32_t piece)
{
    struct hccl_graph *graph = levels->graph;
    struct hccl_view view = across(levels, p);
    uint32_t R = levels->R, m = levels->m, i = p % m, way = piece / levels->cut.n_chunks;
    uint32_t first_turn = flag_of(levels, R, 0);
    uint32_t next = (p + m) % graph->layout.n_ranks;
    uint32_t before = (p + graph->layout.n_ranks - m) % graph->layout.n_ranks;
    struct hccl_range own = piece_of(levels, graph->layout.n_ranks, p, piece);
    int64_t offset, length;

    hccl_segment(graph->call.bytes, graph->layout.n_ranks, p, &offset, &length);
    hccl_lane_begin(graph, p, piece, way);
    hccl_ready(graph, &view, piece, levels->n_pieces, 0, way);
    hccl_turn_begin(graph, levels->cut, p, piece, first_turn);
    hccl_copy(graph, (struct hccl_place){HCCL_INPUT, own.offset - offset},
              (struct hccl_place){HCCL_OUTPUT, own.offset}, own.length);
    hccl_set(graph, flag_of(levels, view.at, piece));
    for (uint32_t k = 0; k + 1 < R; k++) {
        uint32_t sent = (view.at + R - k) % R, came = (view.at + 2 * R - k - 1) % R;
        struct hccl_range out = piece_of(levels, graph->layout.n_ranks, sent * m + i, piece);
        struct hccl_range in = piece_of(levels, graph->layout.n_ranks, came * m + i, piece);

        hccl_send(graph, next, hccl_nic(graph, p, next, way),
                  (struct hccl_place){HCCL_OUTPUT, out.offset}, out.length);
        hccl_recv(graph, before, (struct hccl_place){HCCL_OUTPUT, in.offset}, in.length);
        hccl_set(graph, flag_of(levels, came, piece));
    }
    hccl_turn_end(graph, levels->cut, piece, first_turn);
}

static void gather_inside(const struct two_levels *levels, uint32_t p, uint32_t r, uint32_t piece)
{
    struct hccl_graph *graph = levels->graph;
    struct hccl_view view = inside(levels, p);
    g_autofree struct hccl_range *ranges = g_new(struct hccl_range, levels->m);
    uint32_t way = piece / levels->cut.n_chunks;

    for (uint32_t i = 0; i < levels->m; i++)
        ranges[i] = piece_of(levels, graph->layout.n_ranks, r * levels->m + i, piece);
    hccl_lane_begin(graph, p, levels->n_pieces * (1 + r) + piece, levels->cut.n_ways + way);
    hccl_wait(graph, p, flag_of(levels, r, piece), 1);
    hccl_ring_gather(graph, &view, ranges, way);
}

static void all_gather_rank(const struct two_levels *levels, uint32_t p)
{
    for (uint32_t piece = 0; piece < levels->n_pieces; piece++)
        gather_across(levels, p, piece);
    for (uint32_t r = 0; r < levels->R; r++)
        for (uint32_t piece = 0; piece < levels->n_pieces; piece++)
            gather_inside(levels, p, r, piece);
}

static gboolean check(const struct hccl_graph *graph, GError **error)
{
    const struct hccl_layout *layout = &graph->layout;
    enum hccl_kind kind = graph->call.kind;

    if (kind == HCCL_ALLTOALL || kind == HCCL_BROADCAST) {
        g_set_error(error, BUILD_ERROR, 0,
                    "algorithm = hierarchical: for allreduce, reducescatter and allgather, not for "
                    "%s",
                    hccl_kind_name(kind));
        return FALSE;
    }
    if (layout->n_domain == layout->n_ranks || layout->n_domain == 1) {
        g_set_error(
            error, BUILD_ERROR, 0,
            "algorithm = hierarchical: several racks, whose ranks have a common divisor, are "
            "expected (%u ranks, in racks of a multiple of %u)",
            layout->n_ranks, layout->n_domain);
        return FALSE;
    }
    return TRUE;
}

gboolean hccl_hierarchical(struct hccl_graph *graph, GError **error)
{
    uint32_t n = graph->layout.n_ranks, m = graph->layout.n_domain;
    int64_t n_segments = graph->call.kind == HCCL_ALLREDUCE ? m : n;
    struct two_levels levels = {.graph = graph, .m = m, .R = n / m};

    if (!check(graph, error))
        return FALSE;
    levels.cut = hccl_cut(graph, (graph->call.bytes + n_segments - 1) / n_segments);
    levels.n_pieces = levels.cut.n_ways * levels.cut.n_chunks;
    for (uint32_t p = 0; p < n; p++) {
        if (graph->call.kind == HCCL_ALLGATHER)
            all_gather_rank(&levels, p);
        for (uint32_t piece = 0; graph->call.kind != HCCL_ALLGATHER && piece < levels.n_pieces;
             piece++) {
            if (graph->call.kind == HCCL_ALLREDUCE)
                all_reduce_lane(&levels, p, piece);
            else
                reduce_scatter_lane(&levels, p, piece);
        }
    }
    return TRUE;
}
