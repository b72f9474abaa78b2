/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of workloads/list.c, permutation.c, incast.c, pairs.c, mix.c
 * and reader.c. */
#include "tests/unit/test_workload_player.h"

/* --- list.c ----------------------------------------------------------------------------------- */

static void every_workload_is_found_and_documented(void **state)
{
    (void)state;
    for (int i = 0; workload_list[i]; i++) {
        const struct workload_ops *ops = workload_list[i];

        assert_ptr_equal(workload_find(ops->name), ops);
        assert_true(*ops->summary && *ops->source && ops->build);
        for (const struct param *param = ops->params; param->name; param++) {
            assert_true(param->help && *param->help);
            assert_true(param->source && *param->source);
            assert_true(param->offset + sizeof(int64_t) <= ops->config_size);
        }
    }
    assert_null(workload_find("no such workload"));
}

static void check_ranks(const char *text, uint32_t n_hosts, const char *expected)
{
    struct graph graph;
    uint32_t n = 0;
    g_autofree uint32_t *ranks = NULL;
    GString *got = g_string_new(NULL);

    make_star(&graph, n_hosts);
    ranks = workload_ranks(text, &graph, &n, NULL);
    for (uint32_t i = 0; ranks && i < n; i++)
        g_string_append_printf(got, "%s%u", i ? " " : "", ranks[i]);
    assert_string_equal(got->str, expected);
    g_string_free(got, TRUE);
    graph_clear(&graph);
}

static void ranks_are_read_in_their_order(void **state)
{
    (void)state;
    check_ranks("", 4, "0 1 2 3");
    check_ranks("0-3", 8, "0 1 2 3");
    check_ranks("0,2,4-7", 8, "0 2 4 5 6 7");
    check_ranks("5 - 6, 1", 8, "5 6 1");
}

static void wrong_ranks_are_refused(void **state)
{
    static const char *const wrong[][2] = {{"0-8", "host 8 does not exist"},
                                           {"8", "0 to 7"},
                                           {"3-1", "rising range"},
                                           {"0,,1", "is expected"},
                                           {"a", "is expected"},
                                           {"0,1,0-2", "named twice"},
                                           {"-1", "is expected"},
                                           {"1-", "is expected"},
                                           {"99999999999999999999", "does not"},
                                           {"0-4294967295", "does not exist"}};
    struct graph graph;

    (void)state;
    make_star(&graph, 8);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        uint32_t n;

        assert_null(workload_ranks(wrong[i][0], &graph, &n, &error));
        assert_non_null(strstr(error->message, wrong[i][1]));
    }
    graph_clear(&graph);
}

/* --- permutation.c ---------------------------------------------------------------------------- */

static void check_permutation(const struct trial *trial, uint32_t n, int64_t bytes)
{
    g_autofree uint32_t *n_sent = g_new0(uint32_t, n), *n_received = g_new0(uint32_t, n);

    assert_true(trial->ok);
    assert_int_equal(trial->schedule.n_ops, n);
    for (uint32_t i = 0; i < n; i++) {
        struct schedule_op op = trial_op(trial, i);

        assert_int_not_equal(op.rank, op.peer);
        assert_int_equal(op.bytes, bytes);
        assert_int_equal(op.group, SCHEDULE_NO_GROUP);
        n_sent[op.rank]++;
        n_received[op.peer]++;
    }
    for (uint32_t i = 0; i < n; i++)
        assert_true(n_sent[i] == 1 && n_received[i] == 1);
}

static void random_permutations_are_derangements(void **state)
{
    static const uint32_t sizes[] = {2, 3, 16, 1000};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (uint64_t seed = 1; seed < 20; seed++) {
            struct trial trial;

            trial_init(&trial, "permutation", "bytes=3MB", sizes[i], seed);
            check_permutation(&trial, sizes[i], 3000000);
            trial_clear(&trial);
        }
}

/* Of 4 ranks there are 9 derangements; over 900 seeds each is drawn 100 +- 5 sigma (47) times. */
static void all_derangements_are_equally_likely(void **state)
{
    uint32_t count[256] = {0}, n_seen = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 900; seed++) {
        struct trial trial;
        uint32_t code = 0;

        trial_init(&trial, "permutation", "", 4, seed);
        for (uint32_t i = 0; i < 4; i++)
            code = code * 4 + trial_op(&trial, i).peer;
        count[code]++;
        trial_clear(&trial);
    }
    for (uint32_t code = 0; code < 256; code++) {
        n_seen += count[code] > 0;
        if (count[code])
            assert_in_range(count[code], 53, 147);
    }
    assert_int_equal(n_seen, 9);
}

static void a_seed_always_gives_the_same_permutation(void **state)
{
    struct trial a, b, c;
    uint32_t n_equal = 0;

    (void)state;
    trial_init(&a, "permutation", "", 64, 5);
    trial_init(&b, "permutation", "", 64, 5);
    trial_init(&c, "permutation", "", 64, 6);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(trial_op(&a, i).peer, trial_op(&b, i).peer);
        n_equal += trial_op(&a, i).peer == trial_op(&c, i).peer;
    }
    assert_true(n_equal < 10);
    trial_clear(&a);
    trial_clear(&b);
    trial_clear(&c);
}

static void shift_count_start_and_ranks(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(&trial, "permutation", "pattern=shift|shift=10|ranks=8-15|count=3|start=5us", 16, 1);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ops, 24);
    assert_int_equal(trial.schedule.n_ranks, 8);
    for (uint32_t i = 0; i < 24; i++) {
        struct schedule_op op = trial_op(&trial, i);

        assert_int_equal(op.peer, (op.rank + 2) % 8);
        assert_int_equal(op.start_ps, 5000000);
        assert_int_equal(trial.schedule.rank_host[op.rank], 8 + op.rank);
    }
    trial_clear(&trial);
    assert_refused("permutation", "pattern=shift|shift=32", 16, "to itself");
    assert_refused("permutation", "ranks=3", 16, "at least 2 ranks");
    assert_refused("permutation", "ranks=16", 16, "host 16 does not exist");
}

/* --- incast.c --------------------------------------------------------------------------------- */

static void incast_takes_senders_after_the_receiver(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(&trial, "incast", "senders=3|receiver=6|bytes=64KB|start=1us|stagger=2ns", 8, 1);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ops, 3);
    for (uint32_t i = 0; i < 3; i++) {
        struct schedule_op op = trial_op(&trial, i);

        assert_int_equal(op.rank, (7 + i) % 8);
        assert_int_equal(op.peer, 6);
        assert_int_equal(op.bytes, 64000);
        assert_int_equal(op.start_ps, 1000000 + 2000 * i);
    }
    trial_clear(&trial);
}

static void incast_of_all_from_a_chosen_first(void **state)
{
    static const uint32_t expected[] = {5, 6, 7, 0, 1, 3, 4};
    struct trial trial;

    (void)state;
    trial_init(&trial, "incast", "receiver=2|first=5", 8, 1);
    assert_int_equal(trial.schedule.n_ops, 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(trial_op(&trial, i).rank, expected[i]);
    trial_clear(&trial);
    assert_refused("incast", "senders=8", 8, "(7)");
    assert_refused("incast", "receiver=8", 8, "below the number of hosts");
    assert_refused("incast", "first=8", 8, "below the number of hosts");
    assert_refused("incast", "", 1, "2 hosts");
    assert_refused("incast", "stagger=9000000s", 8, "2^63");
}

/* An incast is a contest with all its bytes; a permutation of the same hosts is none. */
static void incast_is_a_contest(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(&trial, "incast", "senders=3|sizes=1KB,2KB", 8, 1);
    assert_int_equal(trial.schedule.groups->len, 1);
    assert_true(schedule_group(&trial.schedule, 0)->contest);
    assert_int_equal(schedule_group(&trial.schedule, 0)->bytes, 1000 + 2000 + 1000);
    assert_int_equal(schedule_group(&trial.schedule, 0)->n_ops, 3);
    trial_clear(&trial);
}

/* --- mix.c ------------------------------------------------------------------------------------ */

/* One of four for the first transport, as early as its share is the most due. */
static void a_mix_is_held_by_every_run_of_flows(void **state)
{
    static const char *const kinds[] = {"permutation", "pairs"};
    static const char *const keys[] = {"transports=metaroce:1,rocev2:3|count=3",
                                       "transports=metaroce:1,rocev2:3|flows=48"};

    (void)state;
    for (size_t kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
        struct trial trial;
        uint64_t n_first = 0;

        trial_init(&trial, kinds[kind], keys[kind], 16, 1);
        assert_true(trial.ok);
        assert_int_equal(trial.schedule.n_ops, 48);
        for (uint64_t i = 0; i < trial.schedule.n_ops; i++) {
            const char *name =
                g_ptr_array_index(trial.schedule.profiles, trial_op(&trial, i).profile);

            assert_true(strcmp(name, "metaroce") == 0 || strcmp(name, "rocev2") == 0);
            n_first += strcmp(name, "metaroce") == 0;
            assert_in_range(n_first, (i + 1) / 4, (i + 4) / 4);
        }
        assert_int_equal(n_first, 12);
        trial_clear(&trial);
    }
}

static void a_share_of_nothing_gets_nothing(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(&trial, "permutation", "transports=metaroce:0, rocev2", 8, 1);
    for (uint64_t i = 0; i < 8; i++)
        assert_string_equal(g_ptr_array_index(trial.schedule.profiles, trial_op(&trial, i).profile),
                            "rocev2");
    trial_clear(&trial);
    trial_init(&trial, "permutation", "", 8, 1);
    assert_int_equal(trial_op(&trial, 3).profile, 0);
    trial_clear(&trial);
    assert_refused("permutation", "transports=a:0,b:0", 8, "transports = a:0,b:0: up to 16 names");
    assert_refused("permutation", "transports=a:x", 8, "names with shares");
    assert_refused("permutation", "transports=a,,b", 8, "names with shares");
    assert_refused("pairs", "transports=:2", 8, "names with shares");
    assert_refused("poisson", "transports=a:-1", 8, "names with shares");
}

/* --- reader.c --------------------------------------------------------------------------------- */

static void note_open(struct player *player, uint64_t index, const struct schedule_op *op)
{
    (void)op;
    if (index % 2 == 0)
        ++*(int *)player->data;
}

static void note_answer(struct player *player, uint64_t index, const struct schedule_op *op)
{
    (void)op;
    if (index % 2 == 1)
        --*(int *)player->data;
}

/* Two rounds over three servers, never more than two open; requests are the even operations. */
static void a_reader_keeps_its_requests_open(void **state)
{
    struct trial trial;
    struct player player;
    int n_open = 0;

    (void)state;
    trial_init(&trial, "reader", "servers=3|reader=6|rounds=2|outstanding=2|bytes=9KB", 8, 1);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ops, 12);
    for (uint32_t k = 0; k < 6; k++) {
        struct schedule_op request = trial_op(&trial, 2 * k), answer = trial_op(&trial, 2 * k + 1);

        assert_int_equal(request.rank, 6);
        assert_int_equal(request.peer, (7 + k % 3) % 8);
        assert_int_equal(request.bytes, 64);
        assert_int_equal(answer.rank, request.peer);
        assert_int_equal(answer.peer, 6);
        assert_int_equal(answer.bytes, 9000);
    }
    assert_true(schedule_group(&trial.schedule, 0)->contest);
    player_init(&player, &trial.schedule);
    player.data = &n_open;
    player.on_start = note_open;
    player.on_done = note_answer;
    player_roots(&player);
    while (player.ready->len > 0) {
        uint64_t next = g_array_index(player.ready, uint64_t, 0);

        assert_int_equal(n_open, player.n_done >= 9 ? n_open : 2);
        g_array_remove_index(player.ready, 0);
        player_deliver(&player, next);
    }
    assert_int_equal(player.n_done, 12);
    assert_int_equal(n_open, 0);
    player_clear(&player);
    trial_clear(&trial);
    assert_refused("reader", "servers=8", 8, "servers = 8");
    assert_refused("reader", "reader=8", 8, "reader = 8");
    assert_refused("reader", "rounds=1000000", 1001, "50000000 reads");
}

/* Stars have one leaf: the victim starts and ends beside the receiver, on hosts that are idle. */
static void a_victim_misses_the_receiver_alone(void **state)
{
    struct trial trial;
    struct schedule_op op;

    (void)state;
    trial_init(&trial, "incast", "senders=3|receiver=6|victim=on|victim_bytes=5kB|sizes=1kB, 2kB",
               8, 1);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ops, 4);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(trial_op(&trial, i).bytes, i % 2 ? 2000 : 1000);
    op = trial_op(&trial, 3);
    assert_true(op.rank == 3 && op.peer == 2 && op.bytes == 5000);
    assert_string_equal(schedule_group(&trial.schedule, op.group)->name, "victim");
    assert_int_equal(schedule_group(&trial.schedule, 0)->n_ops, 3);
    assert_int_equal(schedule_group(&trial.schedule, 0)->bytes, 4000);
    assert_int_equal(schedule_group(&trial.schedule, 1)->n_ops, 1);
    trial_clear(&trial);

    trial_init(&trial, "incast", "senders=6|receiver=0|victim=on|victim_src=3", 8, 1);
    assert_true(trial.ok && trial_op(&trial, 6).rank == 3 && trial_op(&trial, 6).peer == 7);
    trial_clear(&trial);
    assert_refused("incast", "senders=7|victim=on", 8, "no host on the receiver's leaf is idle");
    assert_refused("incast", "senders=6|victim=on", 8, "no idle host is left to send");
    assert_refused("incast", "senders=2|victim=on|victim_dst=0", 8, "other than the receiver");
    assert_refused("incast", "senders=2|victim=on|victim_dst=8", 8, "below 8");
    assert_refused("incast", "senders=2|victim=on|victim_src=8", 8, "below 8");
    assert_refused("incast", "sizes=1kB,none", 8, "sizes 'none'");
    assert_refused("incast", "sizes=0B", 8, "sizes '0B'");
}

static void permutations_may_be_unequal(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(&trial, "permutation", "sizes=1kB,2kB,4kB|count=2", 4, 1);
    assert_true(trial.ok && trial.schedule.n_ops == 8);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(trial_op(&trial, i).bytes, 1000 << (i % 4 % 3));
    assert_true(trial_notes(&trial, "unequal sizes, the first 1000 B"));
    trial_clear(&trial);
}

/* --- pairs.c ---------------------------------------------------------------------------------- */

static void pairs_cross_from_half_to_half(void **state)
{
    bool seen[4][4] = {{false}};
    struct trial trial;

    (void)state;
    trial_init(&trial, "pairs", "", 9, 1);
    assert_int_equal(trial.schedule.n_ops, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(trial_op(&trial, i).rank == i && trial_op(&trial, i).peer == i + 4);
    trial_clear(&trial);

    trial_init(&trial, "pairs", "flows=16", 8, 1);
    for (uint32_t i = 0; i < 16; i++) {
        struct schedule_op op = trial_op(&trial, i);

        assert_true(op.rank < 4 && op.peer >= 4 && op.peer < 8);
        assert_false(seen[op.rank][op.peer - 4]);
        seen[op.rank][op.peer - 4] = true;
    }
    trial_clear(&trial);
    assert_refused("pairs", "", 1, "at least 2 hosts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_is_found_and_documented),
        cmocka_unit_test(ranks_are_read_in_their_order),
        cmocka_unit_test(wrong_ranks_are_refused),
        cmocka_unit_test(random_permutations_are_derangements),
        cmocka_unit_test(all_derangements_are_equally_likely),
        cmocka_unit_test(a_seed_always_gives_the_same_permutation),
        cmocka_unit_test(shift_count_start_and_ranks),
        cmocka_unit_test(incast_takes_senders_after_the_receiver),
        cmocka_unit_test(incast_of_all_from_a_chosen_first),
        cmocka_unit_test(incast_is_a_contest),
        cmocka_unit_test(a_mix_is_held_by_every_run_of_flows),
        cmocka_unit_test(a_share_of_nothing_gets_nothing),
        cmocka_unit_test(a_reader_keeps_its_requests_open),
        cmocka_unit_test(a_victim_misses_the_receiver_alone),
        cmocka_unit_test(permutations_may_be_unequal),
        cmocka_unit_test(pairs_cross_from_half_to_half),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
