/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A graph of elements becomes operations of a schedule, one an element, in the order of the graph,
 * and around them on each rank what the host and the device have to do with the call:
 *
 *   ENQUEUE -> DISPATCH -> lanes -> RETIRE
 *
 * The host enqueues ahead of time; the dispatch waits for what is last on the stream. A call
 * retires when all lanes of the rank have ended; that the last messages it sent have arrived is not
 * waited for. A flag alone crosses the network as FLAG_BYTES.
 */
#include "workloads/hccl.h"

#define FLAG_BYTES 8 /* our choice */

struct lowering {
    struct hccl_program *program;
    const struct hccl_graph *graph;
    enum hccl_start start;
    uint32_t group;
    uint64_t *begin, *end; /* by rank */
    uint64_t first;        /* operation of element 0 */
};

static const struct hccl_element *element_at(const struct hccl_graph *graph, uint32_t index)
{
    return &g_array_index(graph->elements, struct hccl_element, index);
}

void hccl_program_init(struct hccl_program *program, struct schedule *schedule, uint32_t n_ranks,
                       uint32_t n_streams)
{
    *program = (struct hccl_program){
        .schedule = schedule, .n_ranks = n_ranks, .n_streams = n_streams, .gate = SCHEDULE_NONE};
    program->last = g_new(uint64_t, (gsize)n_ranks * n_streams);
    for (uint32_t i = 0; i < n_ranks * n_streams; i++)
        program->last[i] = SCHEDULE_NONE;
}

void hccl_program_clear(struct hccl_program *program)
{
    g_clear_pointer(&program->last, g_free);
}

void hccl_barrier(struct hccl_program *program)
{
    uint64_t join =
        schedule_add_op(program->schedule,
                        &(struct schedule_op){.kind = SCHEDULE_JOIN, .group = SCHEDULE_NO_GROUP});

    for (uint32_t i = 0; i < program->n_ranks * program->n_streams; i++) {
        if (program->last[i] != SCHEDULE_NONE)
            schedule_add_edge(program->schedule, program->last[i], join, SCHEDULE_AT_RECEIVER,
                              false);
        program->last[i] = SCHEDULE_NONE;
    }
    program->gate = join;
}

static uint64_t add(const struct lowering *lowering, enum schedule_kind kind, uint32_t rank)
{
    bool ahead = kind == SCHEDULE_ENQUEUE && !lowering->program->timed_enqueue;
    struct schedule_op op = {.kind = kind,
                             .rank = rank,
                             .peer = rank,
                             .group = ahead ? SCHEDULE_NO_GROUP : lowering->group,
                             .flags = lowering->start == HCCL_CACHED ? SCHEDULE_CACHED : 0};

    return schedule_add_op(lowering->program->schedule, &op);
}

static void edge(const struct lowering *lowering, uint64_t from, uint64_t to,
                 enum schedule_when when)
{
    if (from != SCHEDULE_NONE)
        schedule_add_edge(lowering->program->schedule, from, to, when, false);
}

/* What stands before the lanes of a rank. */
static void begin_rank(struct lowering *lowering, uint32_t rank, uint64_t last, uint64_t after)
{
    bool launched = lowering->start == HCCL_LAUNCHED || lowering->start == HCCL_CACHED;
    uint64_t enqueue = launched ? add(lowering, SCHEDULE_ENQUEUE, rank) : SCHEDULE_NONE;

    lowering->begin[rank] = add(lowering, launched ? SCHEDULE_DISPATCH : SCHEDULE_JOIN, rank);
    edge(lowering, lowering->program->gate, launched ? enqueue : lowering->begin[rank],
         SCHEDULE_AT_RECEIVER);
    edge(lowering, enqueue, lowering->begin[rank], SCHEDULE_AT_RECEIVER);
    edge(lowering, last, lowering->begin[rank], SCHEDULE_AT_RECEIVER);
    edge(lowering, after, lowering->begin[rank], SCHEDULE_AT_RECEIVER);
}

/* The ports of the network to which the element's port belongs. */
static void use_all_ports(const struct hccl_layout *layout, struct schedule_op *op)
{
    bool out = layout->n_out > 0 && op->first_nic >= layout->first_out;

    op->first_nic = (uint8_t)(out ? layout->first_out : layout->first_up);
    op->n_nics = (uint8_t)(out ? layout->n_out : layout->n_up);
}

static struct schedule_op operation(const struct lowering *lowering, uint32_t index)
{
    const struct hccl_graph *graph = lowering->graph;
    const struct hccl_element *element = element_at(graph, index);
    const struct hccl_lane *lane = &g_array_index(graph->lanes, struct hccl_lane, element->lane);
    struct schedule_op op = {.kind = SCHEDULE_CONTROL,
                             .rank = lane->rank,
                             .peer = lane->rank,
                             .bytes = element->bytes,
                             .group = lowering->group,
                             .engine = (uint8_t)lane->engine,
                             .peer_engine = (uint8_t)lane->engine,
                             .element = (uint8_t)element->kind,
                             .lane = (uint16_t)lane->number};

    switch (element->kind) {
    case SCHEDULE_SEND:
    case SCHEDULE_WRITE:
        op.kind = SCHEDULE_MESSAGE;
        op.peer = element->peer;
        op.bytes = element->bytes > 0 ? element->bytes : FLAG_BYTES;
        op.first_nic = element->nic;
        op.n_nics = 1;
        if (graph->call.all_ports)
            use_all_ports(&graph->layout, &op);
        op.profile = graph->layout.n_out > 0 && element->nic >= graph->layout.first_out
                         ? lowering->program->profile_out
                         : lowering->program->profile_up;
        if (lowering->start == HCCL_FUSED && index == lane->first)
            op.flags = SCHEDULE_FUSED;
        break;
    case SCHEDULE_REDUCED:
    case SCHEDULE_COPIED:
        op.kind = SCHEDULE_REDUCE;
        break;
    case SCHEDULE_RECV:
        op.peer = element->peer;
        break;
    default: /* WAIT, SET */
        op.peer = element->peer;
        op.bytes = element->flag;
        break;
    }
    return op;
}

/* The operations, each behind the one before it in its lane; the first behind the rank's begin. */
static void add_elements(struct lowering *lowering)
{
    const struct hccl_graph *graph = lowering->graph;
    struct schedule *schedule = lowering->program->schedule;

    lowering->first = schedule->n_ops;
    for (uint32_t i = 0; i < graph->elements->len; i++) {
        struct schedule_op op = operation(lowering, i);

        schedule_add_op(schedule, &op);
    }
    for (uint32_t l = 0; l < graph->lanes->len; l++) {
        const struct hccl_lane *lane = &g_array_index(graph->lanes, struct hccl_lane, l);

        for (uint32_t i = 0; i < lane->n; i++)
            edge(lowering,
                 i == 0 ? lowering->begin[lane->rank] : lowering->first + lane->first + i - 1,
                 lowering->first + lane->first + i,
                 i == 0 ? SCHEDULE_AT_RECEIVER : SCHEDULE_AT_ISSUE);
    }
}

/* By (rank, flag): the waits. */
static GHashTable *index_waits(const struct lowering *lowering)
{
    const struct hccl_graph *graph = lowering->graph;
    GHashTable *waits =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)g_array_unref);

    for (uint32_t i = 0; i < graph->elements->len; i++) {
        const struct hccl_element *element = element_at(graph, i);
        const struct hccl_lane *lane =
            &g_array_index(graph->lanes, struct hccl_lane, element->lane);
        gint64 key = (gint64)lane->rank << 32 | element->flag;
        GArray *list;

        if (element->kind != SCHEDULE_WAIT)
            continue;
        list = g_hash_table_lookup(waits, &key);
        if (!list) {
            list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
            g_hash_table_insert(waits, g_memdup2(&key, sizeof key), list);
        }
        g_array_append_val(list, i);
    }
    return waits;
}

static void add_flag_edges(struct lowering *lowering)
{
    const struct hccl_graph *graph = lowering->graph;
    g_autoptr(GHashTable) waits = index_waits(lowering);

    for (uint32_t i = 0; i < graph->elements->len; i++) {
        const struct hccl_element *element = element_at(graph, i);
        const struct hccl_lane *lane =
            &g_array_index(graph->lanes, struct hccl_lane, element->lane);
        bool writes = element->kind == SCHEDULE_WRITE;
        gint64 key = (gint64)(writes ? element->peer : lane->rank) << 32 | element->flag;
        const GArray *list;

        if ((!writes && element->kind != SCHEDULE_SET) || element->flag == HCCL_NO_FLAG)
            continue;
        list = g_hash_table_lookup(waits, &key);
        for (guint k = 0; list && k < list->len; k++)
            edge(lowering, lowering->first + i, lowering->first + g_array_index(list, uint32_t, k),
                 SCHEDULE_AT_RECEIVER);
    }
}

/* A RECV needs its SEND; a WAIT as many as it asks for, even if not so many come. */
static void add_needs(struct lowering *lowering)
{
    const struct hccl_graph *graph = lowering->graph;

    for (uint32_t i = 0; i < graph->elements->len; i++) {
        const struct hccl_element *element = element_at(graph, i);

        if (element->kind == SCHEDULE_RECV && element->match != UINT32_MAX)
            edge(lowering, lowering->first + element->match, lowering->first + i,
                 SCHEDULE_AT_RECEIVER);
        if (element->kind == SCHEDULE_WAIT)
            schedule_set_needed(lowering->program->schedule, lowering->first + i,
                                1 + element->value);
    }
}

static void end_ranks(struct lowering *lowering)
{
    const struct hccl_graph *graph = lowering->graph;
    bool launched = lowering->start == HCCL_LAUNCHED || lowering->start == HCCL_CACHED;

    for (uint32_t rank = 0; rank < graph->layout.n_ranks; rank++) {
        lowering->end[rank] = add(lowering, launched ? SCHEDULE_RETIRE : SCHEDULE_JOIN, rank);
        edge(lowering, lowering->begin[rank], lowering->end[rank], SCHEDULE_AT_RECEIVER);
    }
    for (uint32_t l = 0; l < graph->lanes->len; l++) {
        const struct hccl_lane *lane = &g_array_index(graph->lanes, struct hccl_lane, l);

        if (lane->n > 0)
            edge(lowering, lowering->first + lane->first + lane->n - 1, lowering->end[lane->rank],
                 SCHEDULE_AT_ISSUE);
    }
}

void hccl_lower(struct hccl_program *program, const struct hccl_graph *graph, uint32_t group,
                uint32_t stream, enum hccl_start start, const uint64_t *after)
{
    uint32_t n = graph->layout.n_ranks;
    g_autofree uint64_t *begin = g_new(uint64_t, n), *end = g_new(uint64_t, n);
    struct lowering lowering = {.program = program,
                                .graph = graph,
                                .start = start,
                                .group = group,
                                .begin = begin,
                                .end = end};
    uint64_t *last = &program->last[(gsize)stream * program->n_ranks];

    for (uint32_t rank = 0; rank < n; rank++)
        begin_rank(&lowering, rank, last[rank], after ? after[rank] : SCHEDULE_NONE);
    add_elements(&lowering);
    add_flag_edges(&lowering);
    add_needs(&lowering);
    end_ranks(&lowering);
    for (uint32_t rank = 0; rank < n; rank++)
        last[rank] = end[rank];
}
