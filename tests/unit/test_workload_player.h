/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of workloads: a graph of bare hosts, a configuration from key = value pairs, and a
 * player without time, which completes operations in an order the test chooses.
 */
#ifndef WEFT_TESTS_UNIT_TEST_WORKLOAD_PLAYER_H
#define WEFT_TESTS_UNIT_TEST_WORKLOAD_PLAYER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/random.h"
#include "workloads/workload.h"
#include <stdio.h>
#include <string.h>

/* n hosts on one switch. */
static inline void make_star(struct graph *graph, uint32_t n)
{
    graph_init(graph);
    for (uint32_t i = 0; i < n; i++)
        graph_add_host(graph);
    graph_add_switch(graph, 1, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        graph_add_link(graph, i, n, INT64_C(400000000000), 1000000, 1, 0);
    assert_true(graph_finish(graph, NULL));
}

/* A build of one workload: everything a test looks at. */
struct trial {
    struct graph graph;
    struct build build;
    struct schedule schedule;
    gboolean ok;
    GError *error;
};

/* `keys` is "name=value|name=value"; a bad key or value fails the test. */
static inline void trial_init(struct trial *trial, const char *kind, const char *keys,
                              uint32_t n_hosts, uint64_t seed)
{
    const struct workload_ops *ops = workload_find(kind);
    g_auto(GStrv) parts = g_strsplit(keys, "|", -1);
    void *config;

    assert_non_null(ops);
    config = g_malloc0(ops->config_size);
    param_defaults(ops->params, config);
    for (int i = 0; parts[i]; i++) {
        char *value = strchr(parts[i], '=');

        if (!value)
            continue;
        *value++ = '\0';
        assert_non_null(param_find(ops->params, parts[i]));
        assert_true(param_set(param_find(ops->params, parts[i]), config, value, NULL));
    }
    *trial = (struct trial){0};
    make_star(&trial->graph, n_hosts);
    build_init(&trial->build, seed, INT64_C(1000000000000));
    trial->ok = ops->build(config, &trial->graph, &trial->build, &trial->schedule, &trial->error);
    assert_true(trial->ok == (trial->error == NULL));
    param_clear(ops->params, config);
    g_free(config);
}

static inline void trial_clear(struct trial *trial)
{
    if (trial->ok)
        schedule_clear(&trial->schedule);
    build_clear(&trial->build);
    graph_clear(&trial->graph);
    g_clear_error(&trial->error);
}

static inline bool trial_notes(const struct trial *trial, const char *part)
{
    for (guint i = 0; i < trial->build.notes->len; i++)
        if (strstr(g_ptr_array_index(trial->build.notes, i), part))
            return true;
    return false;
}

static inline struct schedule_op trial_op(const struct trial *trial, uint64_t index)
{
    struct schedule_op op;

    schedule_op(&trial->schedule, index, &op);
    return op;
}

/* The build fails and the error has `part` in it. */
static inline void assert_refused(const char *kind, const char *keys, uint32_t n_hosts,
                                  const char *part)
{
    struct trial trial;

    trial_init(&trial, kind, keys, n_hosts, 1);
    if (trial.ok || !strstr(trial.error->message, part))
        fail_msg("%s with %s: '%s' is not in the error '%s'", kind, keys, part,
                 trial.ok ? "(none)" : trial.error->message);
    trial_clear(&trial);
}

/* --- player ----------------------------------------------------------------------------------- */

struct player {
    const struct schedule *schedule;
    uint32_t *n_fired; /* edges into each operation */
    bool *started, *delivered;
    GArray *ready; /* uint64_t, started and not complete */
    uint64_t n_done;
    void *data;
    /* called when an operation starts and when it is complete (before its edges fire) */
    void (*on_start)(struct player *player, uint64_t index, const struct schedule_op *op);
    void (*on_done)(struct player *player, uint64_t index, const struct schedule_op *op);
    /* called for each edge that fires, after on_done */
    void (*on_edge)(struct player *player, uint64_t from, uint64_t to);
};

static inline void player_start(struct player *player, uint64_t index)
{
    struct schedule_op op;

    assert_true(index < player->schedule->n_ops);
    assert_false(player->started[index]);
    player->started[index] = true;
    schedule_op(player->schedule, index, &op);
    if (op.kind == SCHEDULE_MESSAGE) {
        assert_true(op.rank < player->schedule->n_ranks && op.peer < player->schedule->n_ranks);
        assert_true(op.rank != op.peer && op.bytes > 0);
    }
    if (player->on_start)
        player->on_start(player, index, &op);
    g_array_append_val(player->ready, index);
}

static inline void player_init(struct player *player, const struct schedule *schedule)
{
    *player = (struct player){.schedule = schedule};
    player->n_fired = g_new0(uint32_t, schedule->n_ops + 1);
    player->started = g_new0(bool, schedule->n_ops + 1);
    player->delivered = g_new0(bool, schedule->n_ops + 1);
    player->ready = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

static inline void player_clear(struct player *player)
{
    g_free(player->n_fired);
    g_free(player->started);
    g_free(player->delivered);
    g_array_unref(player->ready);
}

static inline void player_roots(struct player *player)
{
    uint64_t root;

    for (uint64_t k = 0; (root = schedule_root(player->schedule, k)) != SCHEDULE_NONE; k++) {
        struct schedule_op op;

        schedule_op(player->schedule, root, &op);
        assert_int_equal(op.n_needed, 0);
        player_start(player, root);
    }
}

static inline void player_fire(struct player *player, uint64_t index, enum schedule_when which)
{
    enum schedule_when when;
    uint64_t next;

    for (uint32_t k = 0;
         (next = schedule_successor(player->schedule, index, k, &when)) != SCHEDULE_NONE; k++) {
        struct schedule_op op;

        if (when != which)
            continue;
        assert_true(next < player->schedule->n_ops);
        schedule_op(player->schedule, next, &op);
        assert_true(op.n_needed > 0);
        if (player->on_edge)
            player->on_edge(player, index, next);
        if (++player->n_fired[next] == op.n_needed)
            player_start(player, next);
    }
}

static inline void player_deliver(struct player *player, uint64_t index)
{
    struct schedule_op op;

    assert_true(player->started[index] && !player->delivered[index]);
    schedule_op(player->schedule, index, &op);
    player->delivered[index] = true;
    player->n_done++;
    if (player->on_done)
        player->on_done(player, index, &op);
    player_fire(player, index, SCHEDULE_AT_RECEIVER);
}

/* Delivered and acknowledged. */
static inline void player_complete(struct player *player, uint64_t index)
{
    player_deliver(player, index);
    player_fire(player, index, SCHEDULE_AT_SENDER);
}

enum player_order { PLAYER_FIRST, PLAYER_LAST, PLAYER_RANDOM };

/* Completes what is ready until nothing is. */
static inline void player_run(struct player *player, enum player_order order)
{
    struct random_stream stream = random_stream(7, RANDOM_WORKLOAD, order);
    uint64_t head = 0;

    while (head < player->ready->len) {
        uint64_t *ready = &g_array_index(player->ready, uint64_t, 0);
        uint64_t n = player->ready->len, index;

        if (order == PLAYER_FIRST) {
            index = ready[head++];
        } else {
            uint64_t i = order == PLAYER_LAST ? n - 1 : random_below(&stream, n);

            index = ready[i];
            ready[i] = ready[n - 1];
            g_array_set_size(player->ready, (guint)(n - 1));
        }
        player_complete(player, index);
    }
}

#endif
