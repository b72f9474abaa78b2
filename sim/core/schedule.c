/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/schedule.h"
#include <assert.h>
#include <string.h>

struct edge {
    uint64_t from, to;
    enum schedule_when when;
};

struct schedule_store {
    GArray *ops;          /* struct schedule_op */
    GArray *edges;        /* struct edge, by (from, order of adding) once finished */
    GArray *roots;        /* uint64_t */
    uint64_t *first_edge; /* n_ops + 1, once finished */
};

G_DEFINE_QUARK(weft - schedule, schedule_error)

static void group_clear(void *group)
{
    g_free(((struct schedule_group *)group)->name);
}

static void store_op(const void *data, uint64_t index, struct schedule_op *op)
{
    const struct schedule_store *store = data;

    *op = g_array_index(store->ops, struct schedule_op, index);
}

static uint64_t store_successor(const void *data, uint64_t index, uint32_t k,
                                enum schedule_when *when)
{
    const struct schedule_store *store = data;
    uint64_t e = store->first_edge[index] + k;

    if (e >= store->first_edge[index + 1])
        return SCHEDULE_NONE;
    *when = g_array_index(store->edges, struct edge, e).when;
    return g_array_index(store->edges, struct edge, e).to;
}

static uint64_t store_root(const void *data, uint64_t k)
{
    const struct schedule_store *store = data;

    return k < store->roots->len ? g_array_index(store->roots, uint64_t, k) : SCHEDULE_NONE;
}

static void store_free(void *data)
{
    struct schedule_store *store = data;

    g_array_unref(store->ops);
    g_array_unref(store->edges);
    g_array_unref(store->roots);
    g_free(store->first_edge);
    g_free(store);
}

static const struct schedule_source stored = {store_op, store_successor, store_root, store_free};

void schedule_init(struct schedule *schedule, uint32_t n_ranks)
{
    *schedule = (struct schedule){.n_ranks = n_ranks, .source = &stored};
    schedule->rank_host = g_new(uint32_t, n_ranks + 1);
    for (uint32_t rank = 0; rank < n_ranks; rank++)
        schedule->rank_host[rank] = rank;
    schedule->groups = g_array_new(FALSE, FALSE, sizeof(struct schedule_group));
    g_array_set_clear_func(schedule->groups, group_clear);
    schedule->profiles = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(schedule->profiles, g_strdup(""));
    schedule->gemms = g_array_new(FALSE, FALSE, sizeof(struct schedule_gemm));

    struct schedule_store *store = g_new0(struct schedule_store, 1);
    store->ops = g_array_new(FALSE, FALSE, sizeof(struct schedule_op));
    store->edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
    store->roots = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    schedule->store = schedule->data = store;
}

void schedule_clear(struct schedule *schedule)
{
    if (schedule->source && schedule->source->free)
        schedule->source->free(schedule->data);
    g_free(schedule->rank_host);
    g_clear_pointer(&schedule->groups, g_array_unref);
    g_clear_pointer(&schedule->sayings, g_hash_table_unref);
    g_clear_pointer(&schedule->profiles, g_ptr_array_unref);
    g_clear_pointer(&schedule->gemms, g_array_unref);
    *schedule = (struct schedule){0};
}

uint64_t schedule_add_op(struct schedule *schedule, const struct schedule_op *op)
{
    assert(schedule->store);
    if (op->group != SCHEDULE_NO_GROUP)
        schedule_group(schedule, op->group)->n_ops++;
    schedule->elements |= op->element != SCHEDULE_NO_ELEMENT;
    g_array_append_val(schedule->store->ops, *op);
    return schedule->n_ops++;
}

void schedule_add_edge(struct schedule *schedule, uint64_t from, uint64_t to,
                       enum schedule_when when, bool optional)
{
    struct edge edge = {from, to, when};

    assert(schedule->store && from < schedule->n_ops && to < schedule->n_ops);
    g_array_append_val(schedule->store->edges, edge);
    schedule->issue_edges |= when == SCHEDULE_AT_ISSUE;
    if (!optional)
        g_array_index(schedule->store->ops, struct schedule_op, to).n_needed++;
}

void schedule_set_needed(struct schedule *schedule, uint64_t op, uint32_t n_needed)
{
    assert(schedule->store && op < schedule->n_ops);
    g_array_index(schedule->store->ops, struct schedule_op, op).n_needed = n_needed;
}

void schedule_say(struct schedule *schedule, uint64_t op, const char *text)
{
    gint64 key = (gint64)op;

    if (!schedule->sayings)
        schedule->sayings = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    g_hash_table_replace(schedule->sayings, g_memdup2(&key, sizeof key), g_strdup(text));
}

const char *schedule_saying(const struct schedule *schedule, uint64_t op)
{
    gint64 key = (gint64)op;

    return schedule->sayings ? g_hash_table_lookup(schedule->sayings, &key) : NULL;
}

void schedule_set_source(struct schedule *schedule, const struct schedule_source *source,
                         void *data, uint64_t n_ops)
{
    store_free(schedule->store);
    schedule->store = NULL;
    schedule->source = source;
    schedule->data = data;
    schedule->n_ops = n_ops;
}

uint32_t schedule_add_group(struct schedule *schedule, const char *name, int64_t bytes,
                            uint32_t n_ranks, int64_t factor_n, int64_t factor_d)
{
    struct schedule_group group = {.name = g_strdup(name),
                                   .bytes = bytes,
                                   .n_ranks = n_ranks,
                                   .factor_n = factor_n,
                                   .factor_d = factor_d,
                                   .n_calls = 1,
                                   .root = -1};

    g_array_append_val(schedule->groups, group);
    return schedule->groups->len - 1;
}

struct schedule_group *schedule_group(const struct schedule *schedule, uint32_t index)
{
    return &g_array_index(schedule->groups, struct schedule_group, index);
}

uint32_t schedule_profile(struct schedule *schedule, const char *name)
{
    if (!name)
        return 0;
    for (uint32_t i = 0; i < schedule->profiles->len; i++)
        if (strcmp(g_ptr_array_index(schedule->profiles, i), name) == 0)
            return i;
    g_ptr_array_add(schedule->profiles, g_strdup(name));
    return schedule->profiles->len - 1;
}

uint32_t schedule_gemm(struct schedule *schedule, const struct schedule_gemm *gemm)
{
    for (uint32_t i = 0; i < schedule->gemms->len; i++)
        if (memcmp(&g_array_index(schedule->gemms, struct schedule_gemm, i), gemm, sizeof *gemm) ==
            0)
            return i;
    g_array_append_val(schedule->gemms, *gemm);
    return schedule->gemms->len - 1;
}

const char *schedule_element_name(enum schedule_element element)
{
    static const char *const names[] = {
        [SCHEDULE_NO_ELEMENT] = "",    [SCHEDULE_SEND] = "SEND",  [SCHEDULE_WRITE] = "WRITE",
        [SCHEDULE_RECV] = "RECV",      [SCHEDULE_WAIT] = "WAIT",  [SCHEDULE_SET] = "SET",
        [SCHEDULE_REDUCED] = "REDUCE", [SCHEDULE_COPIED] = "COPY"};

    return names[element];
}

/* The groups of `from` in `into`: number there = number here + what is returned. */
static uint32_t append_groups(struct schedule *into, const struct schedule *from)
{
    uint32_t first = into->groups->len;

    for (uint32_t i = 0; i < from->groups->len; i++) {
        struct schedule_group group = *schedule_group(from, i);

        group.name = g_strdup(group.name);
        group.n_ops = 0; /* counted as operations are added */
        g_array_append_val(into->groups, group);
    }
    return first;
}

static void append_op(struct schedule *into, const struct schedule *from, uint64_t index,
                      uint32_t first_rank, uint32_t first_group, uint32_t rest)
{
    struct schedule_op op;

    schedule_op(from, index, &op);
    op.rank += first_rank;
    if (op.kind == SCHEDULE_GEMM)
        op.peer = schedule_gemm(into, &g_array_index(from->gemms, struct schedule_gemm, op.peer));
    else if (op.kind == SCHEDULE_MESSAGE || op.kind == SCHEDULE_CONTROL)
        op.peer += first_rank;
    if (op.group == SCHEDULE_NO_GROUP && rest != SCHEDULE_NO_GROUP && op.kind == SCHEDULE_MESSAGE)
        schedule_group(into, rest)->bytes += op.bytes;
    op.group = op.group == SCHEDULE_NO_GROUP ? rest : op.group + first_group;
    op.profile = schedule_profile(into, g_ptr_array_index(from->profiles, op.profile));
    schedule_add_op(into, &op);
}

void schedule_append(struct schedule *into, const struct schedule *from, uint32_t first_rank,
                     const char *name)
{
    uint64_t first_op = into->n_ops, next;
    uint32_t first_group = append_groups(into, from);
    uint32_t rest =
        name ? schedule_add_group(into, name, 0, from->n_ranks, 0, 1) : SCHEDULE_NO_GROUP;
    enum schedule_when when;

    assert(into->store && first_rank + from->n_ranks <= into->n_ranks);
    memcpy(into->rank_host + first_rank, from->rank_host, from->n_ranks * sizeof(uint32_t));
    for (uint64_t i = 0; i < from->n_ops; i++) {
        append_op(into, from, i, first_rank, first_group, rest);
        if (schedule_saying(from, i))
            schedule_say(into, first_op + i, schedule_saying(from, i));
    }
    for (uint64_t i = 0; i < from->n_ops; i++) /* n_needed came with the operation */
        for (uint32_t k = 0; (next = schedule_successor(from, i, k, &when)) != SCHEDULE_NONE; k++)
            schedule_add_edge(into, first_op + i, first_op + next, when, true);
}

static gboolean check_op(const struct schedule *schedule, uint64_t index, GError **error)
{
    struct schedule_op op;
    const char *fault = NULL;

    schedule_op(schedule, index, &op);
    if (op.rank >= schedule->n_ranks)
        fault = "its rank does not exist";
    else if (op.kind == SCHEDULE_MESSAGE && op.peer >= schedule->n_ranks)
        fault = "its peer does not exist";
    else if (op.kind == SCHEDULE_MESSAGE && op.bytes <= 0)
        fault = "its size is not positive";
    else if (op.kind == SCHEDULE_MESSAGE && op.rank == op.peer)
        fault = "it sends to itself";
    else if (op.kind == SCHEDULE_GEMM && op.peer >= schedule->gemms->len)
        fault = "its matrices are not described";
    else if (op.duration_ps < 0 || op.start_ps < 0)
        fault = "a time is negative";
    if (!fault)
        return TRUE;
    g_set_error(error, SCHEDULE_ERROR, 0,
                "operation %" G_GUINT64_FORMAT " (rank %u to %u, %" G_GINT64_FORMAT
                " bytes) is wrong: %s (%u ranks)",
                index, op.rank, op.peer, op.bytes, fault, schedule->n_ranks);
    return FALSE;
}

/* Counting sort by origin, so that equal edges keep the order in which they were added. */
static void index_edges(struct schedule_store *store, uint64_t n_ops)
{
    GArray *sorted = g_array_sized_new(FALSE, FALSE, sizeof(struct edge), store->edges->len);
    uint64_t *next;

    g_array_set_size(sorted, store->edges->len);
    store->first_edge = g_new0(uint64_t, n_ops + 1);
    for (uint32_t e = 0; e < store->edges->len; e++)
        store->first_edge[g_array_index(store->edges, struct edge, e).from + 1]++;
    for (uint64_t i = 0; i < n_ops; i++)
        store->first_edge[i + 1] += store->first_edge[i];
    next = g_memdup2(store->first_edge, (n_ops + 1) * sizeof(uint64_t));
    for (uint32_t e = 0; e < store->edges->len; e++) {
        struct edge edge = g_array_index(store->edges, struct edge, e);

        g_array_index(sorted, struct edge, next[edge.from]++) = edge;
    }
    g_free(next);
    g_array_unref(store->edges);
    store->edges = sorted;
}

gboolean schedule_finish(struct schedule *schedule, uint32_t n_hosts, GError **error)
{
    for (uint32_t rank = 0; rank < schedule->n_ranks; rank++)
        if (schedule->rank_host[rank] >= n_hosts) {
            g_set_error(error, SCHEDULE_ERROR, 0,
                        "rank %u is on host %u, but the topology has %u hosts (0 to %u)", rank,
                        schedule->rank_host[rank], n_hosts, n_hosts - 1);
            return FALSE;
        }
    if (!schedule->store)
        return TRUE;
    for (uint64_t i = 0; i < schedule->n_ops; i++) {
        if (!check_op(schedule, i, error))
            return FALSE;
        if (g_array_index(schedule->store->ops, struct schedule_op, i).n_needed == 0)
            g_array_append_val(schedule->store->roots, i);
    }
    index_edges(schedule->store, schedule->n_ops);
    return TRUE;
}

size_t schedule_bytes(const struct schedule *schedule)
{
    const struct schedule_store *store = schedule->store;

    if (!store)
        return 0;
    return store->ops->len * sizeof(struct schedule_op) + store->edges->len * sizeof(struct edge) +
           (store->roots->len + schedule->n_ops) * sizeof(uint64_t);
}

void schedule_op(const struct schedule *schedule, uint64_t index, struct schedule_op *op)
{
    schedule->source->op(schedule->data, index, op);
}

uint64_t schedule_successor(const struct schedule *schedule, uint64_t index, uint32_t k,
                            enum schedule_when *when)
{
    return schedule->source->successor(schedule->data, index, k, when);
}

uint64_t schedule_root(const struct schedule *schedule, uint64_t k)
{
    return schedule->source->root(schedule->data, k);
}
