/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/embed.h"
#include "sim/core/units.h"
#include <string.h>

/* Where the operation of the call that is number `index` stands in the schedule. */
struct copy {
    struct schedule *to;
    const struct schedule *from;
    const struct embed_call *call;
    uint64_t first; /* operation 0 of the call */
    uint32_t group;
};

static bool set(const struct workload_ops *ops, void *config, const char *key, const char *value,
                GError **error)
{
    const struct param *param = param_find(ops->params, key);

    return !param || param_set(param, config, value, error);
}

/* The collective alone, over the hosts of its members. */
static gboolean build_call(const struct embed_call *call, const struct graph *graph,
                           struct schedule *out, GError **error)
{
    const struct workload_ops *ops = workload_find(call->kind);
    void *config = g_malloc0(ops->config_size);
    g_autofree char *bytes = units_format(UNITS_BYTES, call->bytes);
    g_autoptr(GString) ranks = g_string_new(NULL);
    struct build notes;
    gboolean ok;

    for (uint32_t i = 0; i < call->n; i++)
        g_string_append_printf(ranks, "%s%u", i ? "," : "", call->ranks[i]);
    param_defaults(ops->params, config);
    build_init(&notes, 0, 0);
    ok = set(ops, config, "bytes", bytes, error) && set(ops, config, "ranks", ranks->str, error) &&
         (!call->algorithm || set(ops, config, "algorithm", call->algorithm, error)) &&
         ops->build(config, graph, &notes, out, error);
    build_clear(&notes);
    param_clear(ops->params, config);
    g_free(config);
    return ok;
}

/* Ties an operation to the members that it belongs to. */
static void tie(const struct copy *copy, uint64_t number, const struct schedule_op *op)
{
    const struct embed_call *call = copy->call;

    schedule_add_edge(copy->to, call->begin[op->rank], number, SCHEDULE_AT_RECEIVER, false);
    if (op->kind == SCHEDULE_MESSAGE) {
        schedule_add_edge(copy->to, number, call->end[op->peer], SCHEDULE_AT_RECEIVER, false);
        schedule_add_edge(copy->to, number, call->end[op->rank], SCHEDULE_AT_SENDER, false);
    } else {
        schedule_add_edge(copy->to, number, call->end[op->rank], SCHEDULE_AT_RECEIVER, false);
    }
}

/* Members by their places: rank p of the collective is member p, as orders are linear. */
static void copy_ops(const struct copy *copy)
{
    for (uint64_t i = 0; i < copy->from->n_ops; i++) {
        struct schedule_op op, out;

        schedule_op(copy->from, i, &op);
        out = op;
        out.rank = copy->call->ranks[op.rank];
        out.peer = op.kind == SCHEDULE_MESSAGE ? copy->call->ranks[op.peer] : out.rank;
        out.group = op.group == SCHEDULE_NO_GROUP ? SCHEDULE_NO_GROUP : copy->group;
        out.n_needed = 0;
        out.start_ps = 0;
        schedule_add_op(copy->to, &out);
    }
    for (uint64_t i = 0; i < copy->from->n_ops; i++) {
        struct schedule_op op;
        enum schedule_when when;
        uint64_t next;

        schedule_op(copy->from, i, &op);
        tie(copy, copy->first + i, &op);
        for (uint32_t k = 0; (next = schedule_successor(copy->from, i, k, &when)) != SCHEDULE_NONE;
             k++)
            schedule_add_edge(copy->to, copy->first + i, copy->first + next, when, false);
    }
}

gboolean embed_collective(struct schedule *schedule, const struct graph *graph,
                          const struct embed_call *call, GError **error)
{
    struct schedule own;
    struct copy copy = {.to = schedule, .from = &own, .call = call, .first = schedule->n_ops};
    const struct schedule_group *group;
    gboolean ok;

    if (!build_call(call, graph, &own, error))
        return FALSE;
    ok = own.n_ops <= EMBED_MOST_OPS && schedule->n_ops + own.n_ops <= EMBED_MOST_OPS;
    if (ok) {
        group = schedule_group(&own, 0);
        copy.group = schedule_add_group(schedule, group->name, group->bytes, group->n_ranks,
                                        group->factor_n, group->factor_d);
        copy_ops(&copy);
    } else {
        g_set_error(error, BUILD_ERROR, 0,
                    "%s over %u ranks: more than %" G_GUINT64_FORMAT
                    " operations in all; fewer ranks or calls are expected",
                    call->kind, call->n, EMBED_MOST_OPS);
    }
    schedule_clear(&own);
    return ok;
}

void embed_message(struct schedule *schedule, const struct embed_call *call, uint32_t from,
                   uint32_t to, int64_t bytes, uint32_t group)
{
    struct schedule_op op = {.kind = bytes > 0 ? SCHEDULE_MESSAGE : SCHEDULE_JOIN,
                             .rank = call->ranks[from],
                             .peer = call->ranks[to],
                             .bytes = bytes,
                             .group = bytes > 0 ? group : SCHEDULE_NO_GROUP};
    uint64_t number = schedule_add_op(schedule, &op);

    schedule_add_edge(schedule, call->begin[from], number, SCHEDULE_AT_RECEIVER, false);
    schedule_add_edge(schedule, number, call->end[to], SCHEDULE_AT_RECEIVER, false);
    schedule_add_edge(schedule, number, call->end[from],
                      bytes > 0 ? SCHEDULE_AT_SENDER : SCHEDULE_AT_RECEIVER, false);
}

void embed_barrier(struct schedule *schedule, const struct embed_call *call)
{
    struct schedule_op op = {.kind = SCHEDULE_JOIN,
                             .rank = call->ranks[0],
                             .peer = call->ranks[0],
                             .group = SCHEDULE_NO_GROUP};
    uint64_t join = schedule_add_op(schedule, &op);

    for (uint32_t i = 0; i < call->n; i++) {
        schedule_add_edge(schedule, call->begin[i], join, SCHEDULE_AT_RECEIVER, false);
        schedule_add_edge(schedule, join, call->end[i], SCHEDULE_AT_RECEIVER, false);
    }
}
