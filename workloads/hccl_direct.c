/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Direct ("one-shot") exchange: every rank writes to every other one, and a flag says how many have
 * come. No receive is posted: the places are known. But a receiver's output is the user's, and may
 * still be in use, so the first WRITE into it waits for the receiver's word that it has begun the
 * call too (`ready`), a flag that each rank writes to all that will write to it. All-reduce and
 * reduce-scatter write into scratch first, which is the library's and taken to be kept twice; that
 * a peer has begun is then known by what came from it.
 *
 *   reduce-scatter  WRITE segment q of the input to rank q's scratch; when all have come, REDUCE
 *   all-gather      WRITE one's segment to all
 *   all-reduce      the one, then, from the lanes of each piece that is summed, the other
 *   all-to-all(v)   WRITE part q of the input to rank q, each of the size it has
 *   broadcast       the root WRITEs to all
 *
 * Lanes of a rank: one for each (distance, piece) of the first exchange; one for each piece that is
 * reduced; for all-reduce one for each (distance, piece) of the second; one that waits for the end.
 * Rank p at distance d writes to p + d, by NIC port and engine d + piece, so that not all begin
 * with the same receiver, and a receiver hears its peers by different ports. Source: HCCL's PUT
 * collectives (SOURCES.md 2.4); sizes of pieces are our choice.
 */
#include "workloads/hccl.h"

/* Flags of a rank: sums may begin (by piece), sums are done (by piece), all has come. */
struct direct {
    struct hccl_graph *graph;
    struct hccl_cut cut; /* of a segment */
    uint32_t n, n_pieces;
    int64_t widest; /* segment, for places in scratch */
};

static uint32_t flag_arrived(const struct direct *direct, uint32_t piece)
{
    (void)direct;
    return piece;
}

static uint32_t flag_summed(const struct direct *direct, uint32_t piece)
{
    return direct->n_pieces + piece;
}

static uint32_t flag_end(const struct direct *direct)
{
    return 2 * direct->n_pieces;
}

/* Of the rank at `distance` behind: that it is ready; and, among lanes, that this was heard. */
static uint32_t flag_ready(const struct direct *direct, uint32_t distance)
{
    return flag_end(direct) + distance;
}

static uint32_t flag_heard(const struct direct *direct, uint32_t distance)
{
    return flag_end(direct) + direct->n + distance;
}

/* In the lane that is open: rank p tells the one that is `distance` before it that it is ready. */
static void tell_ready(const struct direct *direct, uint32_t p, uint32_t distance)
{
    uint32_t before = (p + direct->n - distance) % direct->n;

    if (direct->graph->call.writes_wait)
        hccl_write(direct->graph, before, hccl_nic(direct->graph, p, before, distance),
                   (struct hccl_place){0}, (struct hccl_place){0}, 0, flag_ready(direct, distance));
}

/* In the first of `n_lanes` lanes to the rank at `distance`: its word; the others hear of it. */
static void await_ready(const struct direct *direct, uint32_t p, uint32_t distance, uint32_t lane,
                        uint32_t n_lanes)
{
    struct hccl_graph *graph = direct->graph;

    if (!graph->call.writes_wait)
        return;
    if (lane > 0) {
        hccl_wait(graph, p, flag_heard(direct, distance), 1);
        return;
    }
    hccl_wait(graph, (p + distance) % direct->n, flag_ready(direct, distance), 1);
    if (n_lanes > 1)
        hccl_set(graph, flag_heard(direct, distance));
}

static struct hccl_range piece_of(const struct direct *direct, uint32_t segment, uint32_t piece)
{
    struct hccl_range range;

    hccl_segment(direct->graph->call.bytes, direct->n, segment, &range.offset, &range.length);
    hccl_piece(direct->cut, piece, &range.offset, &range.length);
    return range;
}

/* Where the piece from the rank at `distance` before waits to be summed. */
static struct hccl_place in_scratch(const struct direct *direct, uint32_t distance,
                                    uint32_t segment, const struct hccl_range *range)
{
    int64_t offset, length;

    hccl_segment(direct->graph->call.bytes, direct->n, segment, &offset, &length);
    return (struct hccl_place){HCCL_SCRATCH,
                               (distance - 1) * direct->widest + range->offset - offset};
}

/* WRITEs of pieces that are to be summed at their receivers. */
static void scatter_lanes(const struct direct *direct, uint32_t p, uint32_t *number)
{
    struct hccl_graph *graph = direct->graph;

    for (uint32_t d = 1; d < direct->n; d++)
        for (uint32_t piece = 0; piece < direct->n_pieces; piece++) {
            uint32_t q = (p + d) % direct->n;
            struct hccl_range range = piece_of(direct, q, piece);

            hccl_lane_begin(graph, p, (*number)++, d + piece);
            if (range.length > 0)
                hccl_write(graph, q, hccl_nic(graph, p, q, d + piece),
                           (struct hccl_place){HCCL_INPUT, range.offset},
                           in_scratch(direct, d, q, &range), range.length,
                           flag_arrived(direct, piece));
        }
}

/* Sums a piece of one's own segment: each that came is added. */
static void sum_lanes(const struct direct *direct, uint32_t p, uint32_t *number)
{
    struct hccl_graph *graph = direct->graph;

    for (uint32_t piece = 0; piece < direct->n_pieces; piece++) {
        struct hccl_range range = piece_of(direct, p, piece);
        struct hccl_place output = {HCCL_OUTPUT, range.offset};

        hccl_lane_begin(graph, p, (*number)++, piece);
        if (range.length == 0)
            continue;
        hccl_wait(graph, (p + 1) % direct->n, flag_arrived(direct, piece), direct->n - 1);
        for (uint32_t d = 1; d < direct->n; d++)
            hccl_reduce(graph, d == 1 ? (struct hccl_place){HCCL_INPUT, range.offset} : output,
                        in_scratch(direct, d, p, &range), output, range.length);
        if (graph->call.kind == HCCL_ALLREDUCE)
            hccl_set(graph, flag_summed(direct, piece));
    }
}

/* WRITEs of one's own segment to all, which for all-reduce wait for its sum. */
static void gather_lanes(const struct direct *direct, uint32_t p, uint32_t *number)
{
    struct hccl_graph *graph = direct->graph;
    bool sums = graph->call.kind == HCCL_ALLREDUCE;

    for (uint32_t d = 1; d < direct->n; d++)
        for (uint32_t piece = 0; piece < direct->n_pieces; piece++) {
            uint32_t q = (p + d) % direct->n;
            struct hccl_range range = piece_of(direct, p, piece);
            int64_t offset, length;

            hccl_segment(graph->call.bytes, direct->n, p, &offset, &length);
            hccl_lane_begin(graph, p, (*number)++, d + piece);
            if (!sums && piece == 0)
                tell_ready(direct, p, d);
            if (range.length == 0)
                continue;
            if (sums)
                hccl_wait(graph, p, flag_summed(direct, piece), 1);
            else
                await_ready(direct, p, d, piece, direct->n_pieces);
            hccl_write(graph, q, hccl_nic(graph, p, q, d + piece),
                       sums ? (struct hccl_place){HCCL_OUTPUT, range.offset}
                            : (struct hccl_place){HCCL_INPUT, range.offset - offset},
                       (struct hccl_place){HCCL_OUTPUT, range.offset}, range.length,
                       flag_end(direct));
        }
    if (sums)
        return;
    struct hccl_range own;

    hccl_segment(graph->call.bytes, direct->n, p, &own.offset, &own.length);
    hccl_lane_begin(graph, p, (*number)++, 0);
    hccl_copy(graph, (struct hccl_place){HCCL_INPUT, 0},
              (struct hccl_place){HCCL_OUTPUT, own.offset}, own.length);
}

/* Pieces, of all others, that are not empty. */
static uint32_t n_gathered(const struct direct *direct, uint32_t p)
{
    uint32_t n = 0;

    for (uint32_t q = 0; q < direct->n; q++)
        for (uint32_t piece = 0; q != p && piece < direct->n_pieces; piece++)
            n += piece_of(direct, q, piece).length > 0;
    return n;
}

static void reduce_and_gather(const struct direct *direct)
{
    struct hccl_graph *graph = direct->graph;
    enum hccl_kind kind = graph->call.kind;

    for (uint32_t p = 0; p < direct->n; p++) {
        uint32_t number = 0;

        if (kind != HCCL_ALLGATHER) {
            scatter_lanes(direct, p, &number);
            sum_lanes(direct, p, &number);
        }
        if (kind == HCCL_REDUCESCATTER)
            continue;
        gather_lanes(direct, p, &number);
        hccl_lane_begin(graph, p, number, 0);
        hccl_wait(graph, (p + 1) % direct->n, flag_end(direct), n_gathered(direct, p));
    }
}

/* Rank p's lanes to the rank at distance d, and its word to the one before it by d. */
static void exchange_lanes(const struct direct *direct, uint32_t p, uint32_t d, uint32_t *number)
{
    struct hccl_graph *graph = direct->graph;
    uint32_t q = (p + d) % direct->n, before = (p + direct->n - d) % direct->n;
    int64_t from, to;
    bool hears = hccl_part(graph, before, p, &from, &to) > 0;
    int64_t bytes = hccl_part(graph, p, q, &from, &to);
    struct hccl_cut cut = hccl_cut(graph, bytes);
    uint32_t n_lanes = bytes > 0 ? cut.n_ways : hears;

    for (uint32_t way = 0; way < n_lanes; way++) {
        hccl_lane_begin(graph, p, (*number)++, d + way);
        if (hears && way == 0)
            tell_ready(direct, p, d);
        if (bytes > 0)
            await_ready(direct, p, d, way, n_lanes);
        for (uint32_t chunk = 0; bytes > 0 && chunk < cut.n_chunks; chunk++) {
            struct hccl_range range = {0, bytes};

            hccl_piece(cut, way * cut.n_chunks + chunk, &range.offset, &range.length);
            if (range.length > 0)
                hccl_write(graph, q, hccl_nic(graph, p, q, d + way),
                           (struct hccl_place){HCCL_INPUT, from + range.offset},
                           (struct hccl_place){HCCL_OUTPUT, to + range.offset}, range.length, 0);
        }
    }
}

/* Parts of their own sizes, each cut as its size says; the receiver's flag is 0. */
static void exchange(const struct direct *direct)
{
    struct hccl_graph *graph = direct->graph;
    g_autofree uint32_t *n_writes = g_new0(uint32_t, direct->n);
    int64_t from, to, bytes;

    for (uint32_t p = 0; p < direct->n; p++)
        for (uint32_t d = 1; d < direct->n; d++) {
            uint32_t q = (p + d) % direct->n;

            if ((bytes = hccl_part(graph, p, q, &from, &to)) > 0) {
                struct hccl_cut cut = hccl_cut(graph, bytes);

                for (uint32_t piece = 0; piece < cut.n_ways * cut.n_chunks; piece++) {
                    struct hccl_range range = {0, bytes};

                    hccl_piece(cut, piece, &range.offset, &range.length);
                    n_writes[q] += range.length > 0;
                }
            }
        }
    for (uint32_t p = 0; p < direct->n; p++) {
        uint32_t number = 0;

        for (uint32_t d = 1; d < direct->n; d++)
            exchange_lanes(direct, p, d, &number);
        bytes = hccl_part(graph, p, p, &from, &to);
        hccl_lane_begin(graph, p, number++, 0);
        hccl_copy(graph, (struct hccl_place){HCCL_INPUT, from},
                  (struct hccl_place){HCCL_OUTPUT, to}, bytes);
        hccl_lane_begin(graph, p, number, 0);
        hccl_wait(graph, (p + 1) % direct->n, 0, n_writes[p]);
    }
}

static void broadcast(const struct direct *direct)
{
    struct hccl_graph *graph = direct->graph;
    struct hccl_cut cut = hccl_cut(graph, graph->call.bytes);
    uint32_t root = graph->call.root, n_pieces = cut.n_ways * cut.n_chunks, number = 0;

    for (uint32_t rank = 0; rank < direct->n; rank++) {
        if (rank != root) {
            hccl_lane_begin(graph, rank, 0, 0);
            tell_ready(direct, rank, (rank + direct->n - root) % direct->n);
            hccl_wait(graph, root, 0, n_pieces);
            continue;
        }
        for (uint32_t d = 1; d < direct->n; d++)
            for (uint32_t piece = 0; piece < n_pieces; piece++) {
                uint32_t q = (root + d) % direct->n;
                struct hccl_range range = {0, graph->call.bytes};

                hccl_piece(cut, piece, &range.offset, &range.length);
                hccl_lane_begin(graph, root, number++, d + piece);
                await_ready(direct, root, d, piece, n_pieces);
                hccl_write(graph, q, hccl_nic(graph, root, q, d + piece),
                           (struct hccl_place){HCCL_INPUT, range.offset},
                           (struct hccl_place){HCCL_OUTPUT, range.offset}, range.length, 0);
            }
        hccl_lane_begin(graph, root, number, 0);
        hccl_copy(graph, (struct hccl_place){HCCL_INPUT, 0}, (struct hccl_place){HCCL_OUTPUT, 0},
                  graph->call.bytes);
    }
}

gboolean hccl_direct(struct hccl_graph *graph, GError **error)
{
    uint32_t n = graph->layout.n_ranks;
    int64_t widest = (graph->call.bytes + n - 1) / n;
    struct direct direct = {graph, hccl_cut(graph, widest), n, 0, widest};

    (void)error; /* it can always be had */
    direct.n_pieces = direct.cut.n_ways * direct.cut.n_chunks;
    if (graph->call.kind == HCCL_ALLTOALL)
        exchange(&direct);
    else if (graph->call.kind == HCCL_BROADCAST)
        broadcast(&direct);
    else
        reduce_and_gather(&direct);
    return TRUE;
}
