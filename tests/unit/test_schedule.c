/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/core/schedule.c, in its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/schedule.h"
#include <string.h>

static uint64_t add_message(struct schedule *schedule, uint32_t from, uint32_t to, int64_t bytes)
{
    const struct schedule_op op = {
        .rank = from, .peer = to, .bytes = bytes, .group = SCHEDULE_NO_GROUP};

    return schedule_add_op(schedule, &op);
}

static uint64_t add_join(struct schedule *schedule)
{
    const struct schedule_op op = {.kind = SCHEDULE_JOIN, .group = SCHEDULE_NO_GROUP};

    return schedule_add_op(schedule, &op);
}

/*
 * Plays a schedule without time, as the contract reads: an operation is ready when n_needed edges
 * have fired; further edges are ignored. Returns how many operations ran; order[] in turn.
 */
static uint64_t play(const struct schedule *schedule, uint64_t *order)
{
    uint32_t *n_fired = g_new0(uint32_t, schedule->n_ops + 1);
    uint64_t n = 0;

    for (uint64_t k = 0; schedule_root(schedule, k) != SCHEDULE_NONE; k++)
        order[n++] = schedule_root(schedule, k);
    for (uint64_t i = 0; i < n; i++) {
        enum schedule_when when;
        uint64_t to;

        for (uint32_t k = 0;
             (to = schedule_successor(schedule, order[i], k, &when)) != SCHEDULE_NONE; k++) {
            struct schedule_op op;

            schedule_op(schedule, to, &op);
            if (++n_fired[to] == op.n_needed)
                order[n++] = to;
        }
    }
    g_free(n_fired);
    return n;
}

static void starts_with_ranks_on_their_hosts(void **state)
{
    struct schedule schedule;

    (void)state;
    schedule_init(&schedule, 3);
    for (uint32_t rank = 0; rank < 3; rank++)
        assert_int_equal(schedule.rank_host[rank], rank);
    assert_int_equal(schedule.profiles->len, 1);
    assert_string_equal(g_ptr_array_index(schedule.profiles, 0), "");
    assert_true(schedule_finish(&schedule, 3, NULL));
    assert_true(schedule_root(&schedule, 0) == SCHEDULE_NONE);
    schedule_clear(&schedule);
}

static void edges_keep_origin_order_and_when(void **state)
{
    struct schedule schedule;
    enum schedule_when when;

    (void)state;
    schedule_init(&schedule, 4);
    uint64_t a = add_message(&schedule, 0, 1, 10), b = add_message(&schedule, 1, 2, 20);
    uint64_t c = add_message(&schedule, 2, 3, 30), d = add_message(&schedule, 3, 0, 40);
    struct schedule_op op;

    schedule_add_edge(&schedule, b, d, SCHEDULE_AT_RECEIVER, false);
    schedule_add_edge(&schedule, a, d, SCHEDULE_AT_SENDER, false);
    schedule_add_edge(&schedule, a, c, SCHEDULE_AT_RECEIVER, false);
    schedule_add_edge(&schedule, a, b, SCHEDULE_AT_RECEIVER, false);
    assert_true(schedule_finish(&schedule, 4, NULL));
    assert_int_equal(schedule_successor(&schedule, a, 0, &when), d);
    assert_int_equal(when, SCHEDULE_AT_SENDER);
    assert_int_equal(schedule_successor(&schedule, a, 1, &when), c);
    assert_int_equal(when, SCHEDULE_AT_RECEIVER);
    assert_int_equal(schedule_successor(&schedule, a, 2, &when), b);
    assert_true(schedule_successor(&schedule, a, 3, &when) == SCHEDULE_NONE);
    assert_int_equal(schedule_successor(&schedule, b, 0, &when), d);
    assert_true(schedule_successor(&schedule, d, 0, &when) == SCHEDULE_NONE);
    schedule_op(&schedule, d, &op);
    assert_int_equal(op.n_needed, 2);
    assert_int_equal(op.bytes, 40);
    assert_int_equal(schedule_root(&schedule, 0), a);
    assert_true(schedule_root(&schedule, 1) == SCHEDULE_NONE);
    schedule_clear(&schedule);
}

/* n messages into a join that needs k of them, and what follows the join. */
static void a_join_waits_for_all_any_or_k(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 5; k++) {
        struct schedule schedule;
        struct schedule_op op;
        uint64_t order[16];

        schedule_init(&schedule, 6);
        for (uint32_t i = 0; i < 5; i++)
            add_message(&schedule, i, 5, 1);
        uint64_t join = add_join(&schedule), after = add_message(&schedule, 5, 0, 1);

        for (uint32_t i = 0; i < 5; i++)
            schedule_add_edge(&schedule, i, join, SCHEDULE_AT_RECEIVER, k < 5);
        if (k < 5)
            schedule_set_needed(&schedule, join, k);
        schedule_add_edge(&schedule, join, after, SCHEDULE_AT_RECEIVER, false);
        assert_true(schedule_finish(&schedule, 6, NULL));
        schedule_op(&schedule, join, &op);
        assert_int_equal(op.n_needed, k);
        assert_int_equal(play(&schedule, order), 7); /* each once, the surplus is ignored */
        assert_int_equal(order[5], join);
        assert_int_equal(order[6], after);
        schedule_clear(&schedule);
    }
}

/* An optional edge alone makes nothing wait: "the first of several" must be asked for. */
static void optional_edges_do_not_count(void **state)
{
    struct schedule schedule;

    (void)state;
    schedule_init(&schedule, 2);
    uint64_t a = add_message(&schedule, 0, 1, 1), b = add_message(&schedule, 1, 0, 1);

    schedule_add_edge(&schedule, a, b, SCHEDULE_AT_RECEIVER, true);
    assert_true(schedule_finish(&schedule, 2, NULL));
    assert_int_equal(schedule_root(&schedule, 1), b);
    schedule_clear(&schedule);
}

static void a_cycle_never_starts(void **state)
{
    struct schedule schedule;
    uint64_t order[4];

    (void)state;
    schedule_init(&schedule, 2);
    uint64_t a = add_message(&schedule, 0, 1, 1), b = add_message(&schedule, 1, 0, 1);

    schedule_add_edge(&schedule, a, b, SCHEDULE_AT_RECEIVER, false);
    schedule_add_edge(&schedule, b, a, SCHEDULE_AT_RECEIVER, false);
    assert_true(schedule_finish(&schedule, 2, NULL));
    assert_int_equal(play(&schedule, order), 0);
    schedule_clear(&schedule);
}

/* --- computed --------------------------------------------------------------------------------- */

struct chain {
    uint64_t length;
    int *n_freed;
};

static void chain_op(const void *data, uint64_t index, struct schedule_op *op)
{
    (void)data;
    *op = (struct schedule_op){.rank = (uint32_t)(index % 2),
                               .peer = (uint32_t)((index + 1) % 2),
                               .bytes = 1,
                               .n_needed = index > 0,
                               .group = SCHEDULE_NO_GROUP};
}

static uint64_t chain_successor(const void *data, uint64_t index, uint32_t k,
                                enum schedule_when *when)
{
    const struct chain *chain = data;

    *when = SCHEDULE_AT_RECEIVER;
    return k == 0 && index + 1 < chain->length ? index + 1 : SCHEDULE_NONE;
}

static uint64_t chain_root(const void *data, uint64_t k)
{
    (void)data;
    return k == 0 ? 0 : SCHEDULE_NONE;
}

static void chain_free(void *data)
{
    ++*((struct chain *)data)->n_freed;
    g_free(data);
}

static void a_source_computes_its_operations(void **state)
{
    static const struct schedule_source source = {chain_op, chain_successor, chain_root,
                                                  chain_free};
    struct schedule schedule;
    struct chain *chain = g_new0(struct chain, 1);
    uint64_t *order = g_new(uint64_t, 1000);
    int n_freed = 0;

    (void)state;
    *chain = (struct chain){1000, &n_freed};
    schedule_init(&schedule, 2);
    schedule_set_source(&schedule, &source, chain, chain->length);
    assert_true(schedule_finish(&schedule, 2, NULL));
    assert_int_equal(play(&schedule, order), 1000);
    assert_int_equal(order[999], 999);
    g_free(order);
    schedule_clear(&schedule);
    assert_int_equal(n_freed, 1);
}

static void groups_count_their_operations(void **state)
{
    struct schedule schedule;

    (void)state;
    schedule_init(&schedule, 2);
    uint32_t first = schedule_add_group(&schedule, "warm-up", 1, 2, 0, 1);
    uint32_t second = schedule_add_group(&schedule, "allreduce", 1 << 20, 2, 2, 2);

    for (int i = 0; i < 3; i++) {
        const struct schedule_op op = {.peer = 1, .bytes = 5, .group = i == 0 ? first : second};

        schedule_add_op(&schedule, &op);
    }
    add_message(&schedule, 0, 1, 1); /* in no group */
    assert_int_equal(schedule_group(&schedule, first)->n_ops, 1);
    assert_int_equal(schedule_group(&schedule, second)->n_ops, 2);
    assert_string_equal(schedule_group(&schedule, second)->name, "allreduce");
    assert_int_equal(schedule_group(&schedule, second)->bytes, 1 << 20);
    schedule_clear(&schedule);
}

static void profiles_have_one_number_a_name(void **state)
{
    struct schedule schedule;

    (void)state;
    schedule_init(&schedule, 1);
    assert_int_equal(schedule_profile(&schedule, NULL), 0);
    assert_int_equal(schedule_profile(&schedule, ""), 0);
    assert_int_equal(schedule_profile(&schedule, "a"), 1);
    assert_int_equal(schedule_profile(&schedule, "b"), 2);
    assert_int_equal(schedule_profile(&schedule, "a"), 1);
    schedule_clear(&schedule);
}

/* Two ranks in a group, then three without one: numbers move, edges and what they need stay. */
static void schedules_are_put_side_by_side(void **state)
{
    struct schedule first, second, all;
    struct schedule_op op;
    enum schedule_when when;

    (void)state;
    schedule_init(&first, 2);
    schedule_add_group(&first, "one", 5, 2, 0, 1);
    add_message(&first, 0, 1, 5);
    assert_true(schedule_finish(&first, 8, NULL));
    schedule_init(&second, 3);
    second.rank_host[2] = 7;
    schedule_profile(&second, "metaroce");
    schedule_add_op(&second, &(struct schedule_op){
                                 .peer = 2, .bytes = 10, .group = SCHEDULE_NO_GROUP, .profile = 1});
    schedule_add_op(&second, &(struct schedule_op){
                                 .rank = 2, .peer = 1, .bytes = 20, .group = SCHEDULE_NO_GROUP});
    schedule_add_edge(&second, 0, 1, SCHEDULE_AT_SENDER, false);
    assert_true(schedule_finish(&second, 8, NULL));

    schedule_init(&all, 5);
    schedule_append(&all, &first, 0, NULL);
    schedule_append(&all, &second, 2, "beside");
    assert_true(schedule_finish(&all, 8, NULL));
    assert_int_equal(all.n_ops, 3);
    assert_int_equal(all.groups->len, 2);
    assert_string_equal(schedule_group(&all, 1)->name, "beside");
    assert_int_equal(schedule_group(&all, 1)->bytes, 30);
    assert_int_equal(schedule_group(&all, 1)->n_ops, 2);
    schedule_op(&all, 1, &op);
    assert_int_equal(op.rank, 2);
    assert_int_equal(op.peer, 4);
    assert_int_equal(op.group, 1);
    assert_string_equal(g_ptr_array_index(all.profiles, op.profile), "metaroce");
    assert_int_equal(all.rank_host[4], 7);
    schedule_op(&all, 2, &op);
    assert_int_equal(op.n_needed, 1);
    assert_int_equal(op.profile, 0);
    assert_int_equal(schedule_successor(&all, 1, 0, &when), 2);
    assert_int_equal(when, SCHEDULE_AT_SENDER);
    assert_int_equal(schedule_root(&all, 1), 1);
    assert_true(schedule_root(&all, 2) == SCHEDULE_NONE);
    schedule_clear(&first);
    schedule_clear(&second);
    schedule_clear(&all);
}

static void faults_name_the_operation(void **state)
{
    static const struct {
        struct schedule_op op;
        const char *says;
    } cases[] = {
        {{.rank = 5, .peer = 1, .bytes = 1}, "its rank does not exist"},
        {{.rank = 0, .peer = 5, .bytes = 1}, "its peer does not exist"},
        {{.rank = 0, .peer = 1, .bytes = 0}, "its size is not positive"},
        {{.rank = 0, .peer = 1, .bytes = -1}, "its size is not positive"},
        {{.rank = 1, .peer = 1, .bytes = 1}, "it sends to itself"},
        {{.rank = 0, .peer = 1, .bytes = 1, .start_ps = -1}, "a time is negative"},
        {{.kind = SCHEDULE_COMPUTE, .rank = 0, .duration_ps = -1}, "a time is negative"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        struct schedule_op op = cases[i].op;
        struct schedule schedule;

        op.group = SCHEDULE_NO_GROUP;
        schedule_init(&schedule, 2);
        add_message(&schedule, 0, 1, 1);
        schedule_add_op(&schedule, &op);
        assert_false(schedule_finish(&schedule, 2, &error));
        assert_true(g_str_has_prefix(error->message, "operation 1 "));
        if (!strstr(error->message, cases[i].says))
            fail_msg("says '%s'", error->message);
        schedule_clear(&schedule);
    }

    g_autoptr(GError) error = NULL;
    struct schedule schedule;

    schedule_init(&schedule, 3);
    assert_false(schedule_finish(&schedule, 2, &error));
    assert_string_equal(error->message,
                        "rank 2 is on host 2, but the topology has 2 hosts (0 to 1)");
    schedule_clear(&schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_with_ranks_on_their_hosts),
        cmocka_unit_test(edges_keep_origin_order_and_when),
        cmocka_unit_test(a_join_waits_for_all_any_or_k),
        cmocka_unit_test(optional_edges_do_not_count),
        cmocka_unit_test(a_cycle_never_starts),
        cmocka_unit_test(a_source_computes_its_operations),
        cmocka_unit_test(groups_count_their_operations),
        cmocka_unit_test(profiles_have_one_number_a_name),
        cmocka_unit_test(schedules_are_put_side_by_side),
        cmocka_unit_test(faults_name_the_operation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
