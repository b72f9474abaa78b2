/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of workloads/collective*.c and alltoall.c. Schedules are played without time, in three
 * orders of completion, and looked at from outside: bytes that arrive, who waits for what, and,
 * with reductions on, which ranks' data a piece holds.
 */
#include "tests/unit/test_workload_player.h"
#include <malloc.h>

static const uint32_t rank_counts[] = {2, 3, 8, 16};
static const char *const sizes[] = {"bytes=1MiB|chunk=0", "bytes=1MiB|chunk=5kB",
                                    "bytes=1000003B|chunk=999B", "bytes=1000003B"};
static const int64_t sizes_bytes[] = {1 << 20, 1 << 20, 1000003, 1000003};

/* Bytes of segment i of S cut into n, as the header of collective.h defines it. */
static int64_t segment_bytes(int64_t bytes, int64_t n, int64_t i)
{
    return bytes * (i + 1) / n - bytes * i / n;
}

struct tally {
    int64_t received[64], sent[64];
    int64_t largest;
    uint64_t n_group_ops, n_messages, n_reduces;
};

static void count_op(struct player *player, uint64_t index, const struct schedule_op *op)
{
    struct tally *tally = player->data;

    (void)index;
    if (op->group == 0)
        tally->n_group_ops++;
    tally->n_reduces += op->kind == SCHEDULE_REDUCE;
    if (op->kind != SCHEDULE_MESSAGE)
        return;
    tally->n_messages++;
    tally->sent[op->rank] += op->bytes;
    tally->received[op->peer] += op->bytes;
    tally->largest = MAX(tally->largest, op->bytes);
}

static void play(const struct trial *trial, struct tally *tally, enum player_order order)
{
    struct player player;

    *tally = (struct tally){0};
    player_init(&player, &trial->schedule);
    player.data = tally;
    player.on_done = count_op;
    player_roots(&player);
    player_run(&player, order);
    assert_int_equal(player.n_done, trial->schedule.n_ops); /* acyclic, nothing left waiting */
    player_clear(&player);
}

/* --- bytes ------------------------------------------------------------------------------------ */

struct kind {
    const char *name, *keys;
    /* has a part that sums, a part that spreads; by direct exchange */
    bool summed, spread, exchanged;
};

static const struct kind kinds[] = {
    {"allreduce", "algorithm=ring|", true, true, false},
    {"allreduce", "algorithm=direct|", true, true, true},
    {"reducescatter", "algorithm=ring|", true, false, false},
    {"reducescatter", "algorithm=direct|", true, false, true},
    {"allgather", "algorithm=ring|", false, true, false},
    {"allgather", "algorithm=direct|", false, true, true},
    {"alltoall", "algorithm=direct|", true, false, true},
    {"alltoall", "algorithm=pairwise|", true, false, true},
};

/*
 * Rank r receives, to be summed, every segment but its left neighbour's (ring) or its own segment
 * n - 1 times (exchange); and, spread, every segment but its own.
 */
static int64_t expected_bytes(const struct kind *kind, int64_t bytes, int64_t n, int64_t r)
{
    int64_t own = segment_bytes(bytes, n, r), left = segment_bytes(bytes, n, (r + n - 1) % n);

    return (kind->summed ? (kind->exchanged ? (n - 1) * own : bytes - left) : 0) +
           (kind->spread ? bytes - own : 0);
}

static void every_rank_receives_its_bytes_exactly(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (size_t i = 0; i < G_N_ELEMENTS(rank_counts); i++)
            for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
                g_autofree char *keys = g_strconcat(kinds[k].keys, sizes[s], NULL);
                uint32_t n = rank_counts[i];
                int64_t bytes = sizes_bytes[s], sum = 0;
                struct trial trial;
                struct tally tally;

                trial_init(&trial, kinds[k].name, keys, n, 1);
                assert_true(trial.ok);
                play(&trial, &tally, (enum player_order)(s % 3));
                for (uint32_t r = 0; r < n; r++) {
                    assert_int_equal(tally.received[r], expected_bytes(&kinds[k], bytes, n, r));
                    sum += tally.received[r];
                }
                /* (n-1) S in all for one part, twice for all-reduce */
                assert_int_equal(sum, (n - 1) * bytes * (kinds[k].summed + kinds[k].spread));
                assert_int_equal(schedule_group(&trial.schedule, 0)->n_ops, tally.n_group_ops);
                trial_clear(&trial);
            }
}

static void allreduce_moves_twice_what_allgather_moves(void **state)
{
    static const char *const names[] = {"allgather", "reducescatter", "alltoall", "allreduce"};
    struct tally tally[4];

    (void)state;
    for (int k = 0; k < 4; k++) {
        struct trial trial;

        trial_init(&trial, names[k], "bytes=8MiB|chunk=64KiB", 8, 1);
        play(&trial, &tally[k], PLAYER_FIRST);
        for (uint32_t r = 0; r < 8; r++) {
            assert_int_equal(tally[k].received[r], (k == 3 ? 2 : 1) * (7 << 20));
            assert_int_equal(tally[k].sent[r], tally[k].received[r]);
        }
        assert_int_equal(tally[k].largest, 65536);
        trial_clear(&trial);
    }
    assert_int_equal(tally[3].n_messages, 2 * tally[0].n_messages);
}

static void groups_carry_the_factors_of_nccl_tests(void **state)
{
    static const char *const names[] = {"allgather", "reducescatter", "alltoall", "allreduce"};

    (void)state;
    for (int k = 0; k < 4; k++) {
        struct trial trial;
        const struct schedule_group *group;

        trial_init(&trial, names[k], "bytes=8MiB|iterations=3", 8, 1);
        assert_int_equal(trial.schedule.groups->len, 3);
        group = schedule_group(&trial.schedule, 2);
        assert_string_equal(group->name, names[k]);
        assert_int_equal(group->bytes, 8 << 20);
        assert_int_equal(group->n_ranks, 8);
        assert_int_equal(group->factor_n, k == 3 ? 14 : 7);
        assert_int_equal(group->factor_d, 8);
        trial_clear(&trial);
    }
}

static void sizes_from_one_byte_are_exact(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (int64_t bytes = 1; bytes > 0 && bytes <= INT64_C(1) << 40; bytes *= 3) {
            g_autofree char *keys =
                g_strdup_printf("%sbytes=%" G_GINT64_FORMAT "|iterations=2", kinds[k].keys, bytes);
            struct trial trial;
            struct tally tally;

            trial_init(&trial, kinds[k].name, keys, 7, 1);
            assert_true(trial.ok);
            assert_true(trial_notes(&trial, "segments are empty") == (bytes < 7));
            play(&trial, &tally, PLAYER_RANDOM);
            for (uint32_t r = 0; r < 7; r++)
                assert_int_equal(tally.received[r], 2 * expected_bytes(&kinds[k], bytes, 7, r));
            trial_clear(&trial);
        }
}

static void one_byte_chunks_leave_out_empty_messages(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
        g_autofree char *keys = g_strconcat(kinds[k].keys, "bytes=10|chunk=1B", NULL);
        struct trial trial;
        struct tally tally;

        trial_init(&trial, kinds[k].name, keys, 4, 1);
        play(&trial, &tally, PLAYER_LAST);
        assert_int_equal(tally.largest, 1);
        assert_int_equal(tally.n_messages, 30 * (kinds[k].summed + kinds[k].spread));
        trial_clear(&trial);
    }
}

/* --- data ------------------------------------------------------------------------------------- */

/*
 * What the ring carries. A root message holds its sender's own data; a reduction adds its rank's,
 * which must not be in it yet; a piece with the data of all is a result and is held by its rank. A
 * chain of operations is one chunk of one segment.
 */
struct carried {
    uint32_t *mask, *chain; /* of each operation */
    uint32_t n_ranks;
    GHashTable *held; /* chain * n_ranks + rank: full results */
};

static void ring_starts(struct player *player, uint64_t index, const struct schedule_op *op)
{
    struct carried *carried = player->data;

    if (op->n_needed > 0)
        return;
    carried->mask[index] = 1u << op->rank;
    carried->chain[index] = (uint32_t)index;
}

static void ring_done(struct player *player, uint64_t index, const struct schedule_op *op)
{
    struct carried *carried = player->data;
    uint32_t where = op->kind == SCHEDULE_MESSAGE ? op->peer : op->rank;

    if (op->kind == SCHEDULE_REDUCE) {
        assert_int_equal(carried->mask[index] >> op->rank & 1, 0);
        carried->mask[index] |= 1u << op->rank;
    }
    if (carried->mask[index] + 1 == 1u << carried->n_ranks)
        g_hash_table_add(carried->held,
                         GUINT_TO_POINTER(carried->chain[index] * carried->n_ranks + where + 1));
}

static void ring_edge(struct player *player, uint64_t from, uint64_t to)
{
    struct carried *carried = player->data;
    struct schedule_op before, after;

    schedule_op(player->schedule, from, &before);
    schedule_op(player->schedule, to, &after);
    carried->mask[to] = carried->mask[from];
    carried->chain[to] = carried->chain[from];
    /* goes on where it came to, with the bytes it had */
    assert_int_equal(after.rank, before.kind == SCHEDULE_MESSAGE ? before.peer : before.rank);
    assert_int_equal(after.bytes, before.bytes);
}

/* Pieces that are held in full at the end: pairs of (chain, rank). */
static guint count_held(const struct trial *trial, uint32_t n)
{
    struct carried carried = {g_new0(uint32_t, trial->schedule.n_ops),
                              g_new0(uint32_t, trial->schedule.n_ops), n,
                              g_hash_table_new(NULL, NULL)};
    struct player player;
    guint n_held;

    player_init(&player, &trial->schedule);
    player.data = &carried;
    player.on_start = ring_starts;
    player.on_done = ring_done;
    player.on_edge = ring_edge;
    player_roots(&player);
    player_run(&player, PLAYER_RANDOM);
    assert_int_equal(player.n_done, trial->schedule.n_ops);
    player_clear(&player);
    n_held = g_hash_table_size(carried.held);
    g_hash_table_unref(carried.held);
    g_free(carried.mask);
    g_free(carried.chain);
    return n_held;
}

static void every_rank_ends_with_the_full_sum(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(rank_counts); i++)
        for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
            uint32_t n = rank_counts[i];
            struct trial trial;
            guint n_chains = 0;
            int64_t bytes = 0;

            trial_init(&trial, "allreduce", sizes[s], n, 1);
            for (uint64_t root; (root = schedule_root(&trial.schedule, n_chains)) != SCHEDULE_NONE;
                 n_chains++)
                bytes += trial_op(&trial, root).bytes;
            assert_int_equal(bytes, sizes_bytes[s]); /* the chains are the buffer, once */
            assert_int_equal(count_held(&trial, n), n_chains * n);
            trial_clear(&trial);

            trial_init(&trial, "reducescatter", sizes[s], n, 1);
            assert_int_equal(count_held(&trial, n), n_chains); /* each sum at one rank */
            trial_clear(&trial);
        }
}

/* Gathering: the chains of an all-gather visit every other rank once. */
static void every_segment_visits_every_rank(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(rank_counts); i++) {
        uint32_t n = rank_counts[i];
        struct trial trial;

        trial_init(&trial, "allgather", "bytes=1000003B|chunk=9999B", n, 1);
        for (uint64_t k = 0, root; (root = schedule_root(&trial.schedule, k)) != SCHEDULE_NONE;
             k++) {
            uint32_t visited = 1u << trial_op(&trial, root).rank;
            enum schedule_when when;

            for (uint64_t at = root; at != SCHEDULE_NONE;
                 at = schedule_successor(&trial.schedule, at, 0, &when)) {
                assert_int_equal(visited >> trial_op(&trial, at).peer & 1, 0);
                visited |= 1u << trial_op(&trial, at).peer;
            }
            assert_true(visited + 1 == 1u << n);
        }
        trial_clear(&trial);
    }
}

/* The direct all-reduce: what starts later may start only when all contributions are there. */
struct direct_data {
    int64_t from[16][16];
    int64_t bytes;
    uint32_t n;
    uint32_t n_spread;
};

static void direct_starts(struct player *player, uint64_t index, const struct schedule_op *op)
{
    struct direct_data *data = player->data;

    (void)index;
    if (op->kind != SCHEDULE_MESSAGE || op->n_needed == 0)
        return;
    for (uint32_t p = 0; p < data->n; p++)
        if (p != op->rank)
            assert_int_equal(data->from[p][op->rank],
                             segment_bytes(data->bytes, data->n, op->rank));
    data->n_spread++;
}

static void direct_done(struct player *player, uint64_t index, const struct schedule_op *op)
{
    struct direct_data *data = player->data;

    (void)index;
    if (op->kind == SCHEDULE_MESSAGE && op->n_needed == 0)
        data->from[op->rank][op->peer] += op->bytes;
}

static void direct_allreduce_spreads_only_full_sums(void **state)
{
    (void)state;
    for (int reduce = 0; reduce < 2; reduce++)
        for (int order = PLAYER_FIRST; order <= PLAYER_RANDOM; order++) {
            struct direct_data data = {.bytes = 1000003, .n = 8};
            struct trial trial;
            struct player player;

            trial_init(&trial, "allreduce",
                       reduce ? "algorithm=direct|bytes=1000003B|chunk=50kB|reduce=on"
                              : "algorithm=direct|bytes=1000003B|chunk=50kB|reduce=off",
                       8, 1);
            player_init(&player, &trial.schedule);
            player.data = &data;
            player.on_start = direct_starts;
            player.on_done = direct_done;
            player_roots(&player);
            player_run(&player, (enum player_order)order);
            assert_int_equal(player.n_done, trial.schedule.n_ops);
            assert_int_equal(data.n_spread, 8 * 7 * 3);
            player_clear(&player);
            trial_clear(&trial);
        }
}

/* --- order ------------------------------------------------------------------------------------ */

/* Pairwise: a rank is in one step at a time, and waits for both its own message and its peer's. */
static void pairwise_goes_step_by_step(void **state)
{
    struct trial trial;
    struct player player;
    uint64_t root[5];

    (void)state;
    trial_init(&trial, "alltoall", "algorithm=pairwise|bytes=5kB", 5, 1);
    player_init(&player, &trial.schedule);
    player_roots(&player);
    assert_int_equal(player.ready->len, 5);
    for (uint32_t p = 0; p < 5; p++) {
        root[p] = g_array_index(player.ready, uint64_t, p);
        assert_true(trial_op(&trial, root[p]).rank == p);
        assert_true(trial_op(&trial, root[p]).peer == (p + 1) % 5);
    }
    player_deliver(&player, root[1]);  /* 1 -> 2 has come, but is not acknowledged */
    player_complete(&player, root[0]); /* 0 -> 1: the join of 1 lacks its own acknowledgement */
    assert_int_equal(player.ready->len, 5);
    player_fire(&player, root[1], SCHEDULE_AT_SENDER);
    assert_int_equal(player.ready->len, 6); /* the join of rank 1, and of no other */
    player_complete(&player, g_array_index(player.ready, uint64_t, 5));
    assert_int_equal(player.ready->len, 7);
    uint64_t next = g_array_index(player.ready, uint64_t, 6);
    assert_true(trial_op(&trial, next).rank == 1 && trial_op(&trial, next).peer == 3);
    player_clear(&player);
    trial_clear(&trial);
}

static void first_done(struct player *player, uint64_t index, const struct schedule_op *op)
{
    uint64_t *n_done = player->data; /* by group */

    (void)index;
    if (op->group != SCHEDULE_NO_GROUP)
        n_done[op->group]++;
}

static void first_start(struct player *player, uint64_t index, const struct schedule_op *op)
{
    const uint64_t *n_done = player->data;

    (void)index;
    if (op->group != SCHEDULE_NO_GROUP && op->group > 0)
        assert_int_equal(n_done[op->group - 1],
                         schedule_group(player->schedule, op->group - 1)->n_ops);
}

static void iterations_wait_for_the_whole_call_before(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (int order = PLAYER_FIRST; order <= PLAYER_RANDOM; order++) {
            g_autofree char *keys =
                g_strconcat(kinds[k].keys, "bytes=12345|chunk=1kB|iterations=4", NULL);
            uint64_t n_done[4] = {0};
            struct trial trial;
            struct player player;

            trial_init(&trial, kinds[k].name, keys, 5, 1);
            player_init(&player, &trial.schedule);
            player.data = n_done;
            player.on_start = first_start;
            player.on_done = first_done;
            player_roots(&player);
            player_run(&player, (enum player_order)order);
            assert_int_equal(player.n_done, trial.schedule.n_ops);
            assert_int_equal(n_done[3], schedule_group(&trial.schedule, 3)->n_ops);
            player_clear(&player);
            trial_clear(&trial);
        }
}

/* The barrier before each call after the first becomes a computation; all else stays. */
static void gaps_are_computations_between_calls(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
        g_autofree char *keys = g_strconcat(kinds[k].keys, "bytes=12345|iterations=4", NULL);
        g_autofree char *with = g_strconcat(keys, "|gap=30us", NULL);
        struct trial plain, gaps;
        uint32_t n_computations = 0;

        trial_init(&plain, kinds[k].name, keys, 5, 1);
        trial_init(&gaps, kinds[k].name, with, 5, 1);
        assert_int_equal(plain.schedule.n_ops, gaps.schedule.n_ops);
        for (uint64_t i = 0; i < gaps.schedule.n_ops; i++) {
            struct schedule_op a = trial_op(&plain, i), b = trial_op(&gaps, i);

            if (b.kind == SCHEDULE_COMPUTE) {
                assert_true(a.kind == SCHEDULE_JOIN && a.n_needed == b.n_needed);
                assert_int_equal(b.duration_ps, 30000000);
                n_computations++;
            } else {
                assert_true(a.kind == b.kind && a.bytes == b.bytes && a.n_needed == b.n_needed);
            }
        }
        assert_int_equal(n_computations, 3);
        assert_true(trial_notes(&gaps, "compute for 30us between calls"));
        trial_clear(&plain);
        trial_clear(&gaps);
    }
}

static void a_ring_waits_for_one_thing_only(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(&trial, "allreduce", "bytes=1MiB|chunk=10kB|start=3us", 16, 1);
    for (uint64_t i = 0; i < trial.schedule.n_ops; i++) {
        struct schedule_op op = trial_op(&trial, i);

        assert_true(op.n_needed <= 1);
        assert_int_equal(op.start_ps, op.n_needed ? 0 : 3000000);
    }
    trial_clear(&trial);
}

static void check_order(const char *keys, const uint32_t *hosts, uint32_t n)
{
    struct trial trial;

    trial_init(&trial, "allgather", keys, 12, 1);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ranks, n);
    for (uint32_t p = 0; p < n; p++)
        assert_int_equal(trial.schedule.rank_host[p], hosts[p]);
    trial_clear(&trial);
}

static void places_follow_order_and_stride(void **state)
{
    (void)state;
    check_order("ranks=4-7", (const uint32_t[]){4, 5, 6, 7}, 4);
    check_order("ranks=7,4,5", (const uint32_t[]){7, 4, 5}, 3);
    check_order("ranks=0-7|order=strided|stride=4", (const uint32_t[]){0, 4, 1, 5, 2, 6, 3, 7}, 8);
    check_order("ranks=0-7|order=strided|stride=3", (const uint32_t[]){0, 3, 6, 1, 4, 7, 2, 5}, 8);
    check_order("ranks=0-3|order=strided|stride=4", (const uint32_t[]){0, 1, 2, 3}, 4);
    check_order("ranks=0-5|order=strided|stride=4", (const uint32_t[]){0, 4, 2, 1, 5, 3}, 6);
    check_order("ranks=0-3|order=linear|stride=2", (const uint32_t[]){0, 1, 2, 3}, 4);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    assert_refused("allreduce", "ranks=3", 8, "at least 2 ranks");
    assert_refused("alltoall", "ranks=3", 8, "at least 2 ranks");
    assert_refused("allgather", "ranks=0-8", 8, "host 8 does not exist");
    assert_refused("allreduce", "bytes=1TiB|chunk=1B", 8, "larger chunk");
    assert_refused("allreduce", "bytes=1TiB|chunk=300B|iterations=100000|algorithm=direct", 8,
                   "larger chunk");
}

/* --- size ------------------------------------------------------------------------------------- */

/* 2 (n-1) n = 134,201,344 messages; the schedule is two arrays of one number a rank. */
static void a_ring_of_8192_ranks_takes_no_memory(void **state)
{
    static const char *const algorithms[] = {"algorithm=ring|reduce=off",
                                             "algorithm=direct|reduce=off"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
        struct trial trial;
        struct schedule_op op;

        trial_init(&trial, "allreduce", algorithms[i], 8192, 1);
        assert_true(trial.ok);
        assert_true(mallinfo2().uordblks + mallinfo2().hblkhd - before < 10000000);
        assert_int_equal(schedule_group(&trial.schedule, 0)->n_ops, 134201344);
        schedule_op(&trial.schedule, trial.schedule.n_ops - 1, &op);
        assert_int_equal(op.kind, SCHEDULE_MESSAGE);
        assert_int_equal(op.bytes, 2048);
        trial_clear(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_receives_its_bytes_exactly),
        cmocka_unit_test(allreduce_moves_twice_what_allgather_moves),
        cmocka_unit_test(groups_carry_the_factors_of_nccl_tests),
        cmocka_unit_test(sizes_from_one_byte_are_exact),
        cmocka_unit_test(one_byte_chunks_leave_out_empty_messages),
        cmocka_unit_test(every_rank_ends_with_the_full_sum),
        cmocka_unit_test(every_segment_visits_every_rank),
        cmocka_unit_test(direct_allreduce_spreads_only_full_sums),
        cmocka_unit_test(pairwise_goes_step_by_step),
        cmocka_unit_test(iterations_wait_for_the_whole_call_before),
        cmocka_unit_test(gaps_are_computations_between_calls),
        cmocka_unit_test(a_ring_waits_for_one_thing_only),
        cmocka_unit_test(places_follow_order_and_stride),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_ring_of_8192_ranks_takes_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
