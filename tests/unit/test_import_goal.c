/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GOAL schedules: what a text means, what is wrong with it, and that binaries are bounded. */
#include "tests/unit/test_workload_player.h"

#include "tests/unit/scratch.h"

static void trial_of_text(struct trial *trial, const char *text, uint32_t n_hosts)
{
    g_autofree char *path = scratch_write("x.goal", text, strlen(text));
    g_autofree char *keys = g_strconcat("file=", path, NULL);

    trial_init(trial, "goal", keys, n_hosts, 1);
    g_unlink(path);
}

static void refused(const char *text, const char *part)
{
    struct trial trial;

    trial_of_text(&trial, text, 4);
    if (trial.ok || !strstr(trial.error->message, part))
        fail_msg("'%s' is not in the error '%s' of: %s", part,
                 trial.ok ? "(none)" : trial.error->message, text);
    trial_clear(&trial);
}

/* Operations that begin when all that can begin has: a bit each. */
static uint64_t begun(const struct trial *trial)
{
    struct player player;
    uint64_t bits = 0;

    player_init(&player, &trial->schedule);
    player_roots(&player);
    player_run(&player, PLAYER_FIRST);
    for (uint64_t i = 0; i < MIN(trial->schedule.n_ops, 64); i++)
        bits |= (uint64_t)player.started[i] << i;
    player_clear(&player);
    return bits;
}

static void statements_become_operations(void **state)
{
    struct trial trial;
    struct schedule_op op;

    (void)state;
    trial_of_text(&trial,
                  "/* c\n */ num_ranks 2 // two\nrank 1{ r: recv 100b from 0 tag 5 nic 1 cpu 2 }\n"
                  "rank 0 { s: send 100b to 1 cpu 1 tag 5\nc: calc 250\nc requires s\n"
                  "send 0b to 1 recv 7b from 0 send 7b to 0 }",
                  3);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ops, 6);
    op = trial_op(&trial, 1);
    assert_true(op.kind == SCHEDULE_MESSAGE && op.rank == 0 && op.peer == 1 && op.bytes == 100);
    op = trial_op(&trial, 2);
    assert_true(op.kind == SCHEDULE_COMPUTE && op.duration_ps == 250000 && op.n_needed == 1);
    assert_int_equal(trial_op(&trial, 3).bytes, 1);         /* a message of nothing is one byte */
    assert_true(trial_op(&trial, 5).kind == SCHEDULE_JOIN); /* to itself */
    assert_true(trial_op(&trial, 0).kind == SCHEDULE_JOIN && trial_op(&trial, 0).n_needed == 1);
    assert_int_equal(begun(&trial), 63);
    assert_true(trial_notes(&trial, "nobody receives 1 of the sends"));
    assert_int_equal(trial.build.n_hosts_named, 2);
    trial_clear(&trial);
}

/* `requires` waits for the sender's end of a send, `irequires` for its begin. */
static void requires_and_irequires(void **state)
{
    struct trial trial;
    struct player player;

    (void)state;
    trial_of_text(
        &trial,
        "num_ranks 2\nrank 0 {\ns: send 9b to 1\nafter: calc 5\nafter requires s\nbeside: "
        "calc 5\nbeside irequires s\nlast: calc 1\nlast irequires beside\n}\n"
        "rank 1 {\nrecv 9b from 0\n}\n",
        2);
    assert_true(trial.ok);
    player_init(&player, &trial.schedule);
    player_roots(&player);
    for (guint i = 0; i < player.ready->len; i++) { /* all but the message */
        uint64_t op = g_array_index(player.ready, uint64_t, i);

        if (op != 0)
            player_complete(&player, op);
    }
    assert_true(player.started[0] && player.started[2] && player.started[3]);
    assert_false(player.started[1]);
    player_deliver(&player, 0);
    assert_false(player.started[1]);
    player_fire(&player, 0, SCHEDULE_AT_SENDER);
    assert_true(player.started[1]);
    player_clear(&player);
    trial_clear(&trial);
}

static void deadlocks_are_said(void **state)
{
    struct trial trial;

    (void)state;
    trial_of_text(&trial,
                  "num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 3\nrecv 5b from -1 tag -1\n}\n", 2);
    assert_true(trial.ok);
    assert_int_equal(begun(&trial), 0);
    assert_non_null(strstr(schedule_saying(&trial.schedule, 0),
                           "rank 0 waits for 8 B from rank 1, tag 3: nobody sends it"));
    assert_non_null(strstr(schedule_saying(&trial.schedule, 1), "from any rank, any tag"));
    trial_clear(&trial);

    trial_of_text(
        &trial, "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n", 2);
    assert_true(trial.ok);
    assert_true(trial_notes(&trial, "a circle of 2 operations"));
    trial_clear(&trial);
}

static void wrong_texts_name_their_line(void **state)
{
    (void)state;
    refused("", "the file ends where 'num_ranks' is expected");
    refused("num_ranks 0", "no rank");
    refused("num_ranks 5", "5 ranks, but the topology has only 4 hosts");
    refused("num_ranks 99999999999", "'99999999999': a number of ranks");
    refused("num_ranks 1\nrank 0 {", ":2: the file ends where a label");
    refused("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n", ":4: rank 0 is given twice");
    refused("num_ranks 1\nrank 1 {\n}\n", ":2: '1': a rank from 0 to 0");
    refused("num_ranks 2\nrank 0 {\nsend 18446744073709551616b to 1\n}",
            ":3: '18446744073709551616b'");
    refused("num_ranks 2\nrank 0 {\nsend 18446744073709551615b to 1\n}",
            ":3: '18446744073709551615b'");
    refused("num_ranks 2\nrank 0 {\nsend 5 to 1\n}", ":3: '5': a size such as 100b");
    refused("num_ranks 2\nrank 0 {\nsend 5b to -1\n}", "a rank from 0 to 1 is expected");
    refused("num_ranks 2\nrank 0 {\nsend 5b to 2\n}", "a rank from 0 to 1 is expected");
    refused("num_ranks 2\nrank 0 {\nsend 5b from 1\n}", "'to' is expected");
    refused("num_ranks 2\nrank 0 {\nsend 5b to 1 tag 1 tag 2\n}", "once at most");
    refused("num_ranks 2\nrank 0 {\nx: y\n}", "send, recv or calc behind a label");
    refused("num_ranks 2\nrank 0 {\nx y\n}", "':', requires or irequires");
    refused("num_ranks 2\nrank 0 {\nx: calc 1\nx: calc 2\n}", ":4: label 'x' is defined twice");
    refused("num_ranks 2\nrank 0 {\nx: calc 1\n}\nrank 1 {\ny: calc 1\ny requires x\n}",
            ":7: label 'x' is not defined in rank 1");
    refused("num_ranks 2\nrank 0 {\nx: calc 1\nx requires x\n}", "requires itself");
    refused("num_ranks 2\nrank 0 {\n}\n", "no operation");
    refused("num_ranks 2\n/* open", "no operation");
}

/* --- binaries --------------------------------------------------------------------------------- */

static void put(GByteArray *bytes, uint64_t value, int n)
{
    for (int i = 0; i < n; i++) {
        guint8 byte = (guint8)(value >> (8 * i));

        g_byte_array_append(bytes, &byte, 1);
    }
}

/* One rank: `n_nodes` calcs of 5 ns, each with `n_dependents` in an appendix of one entry. */
static GByteArray *one_rank(uint32_t n_nodes, uint32_t n_dependents, uint32_t dependent)
{
    GByteArray *bytes = g_byte_array_new();
    uint64_t start = 6 + 16;

    put(bytes, 4223, 8);
    put(bytes, 1, 4);
    put(bytes, 1, 1);
    put(bytes, 1, 1);
    put(bytes, start, 8);
    put(bytes, start + 12 + (uint64_t)39 * n_nodes + 4, 8);
    put(bytes, n_nodes, 4);
    put(bytes, 1, 4);
    put(bytes, 0, 4);
    for (uint32_t i = 0; i < n_nodes; i++) {
        put(bytes, 0, 4);
        put(bytes, 3, 1);
        put(bytes, 0, 4);
        put(bytes, 5, 8);
        put(bytes, 0, 6);
        put(bytes, i == 0 ? n_dependents : 0, 4);
        put(bytes, 0, 4);
        put(bytes, 0, 8);
    }
    put(bytes, dependent, 4);
    return bytes;
}

static void trial_of_bytes(struct trial *trial, GByteArray *bytes, size_t length)
{
    g_autofree char *path = scratch_write("x.bin", (const char *)bytes->data, length);
    g_autofree char *keys = g_strconcat("file=", path, NULL);

    trial_init(trial, "goal", keys, 2, 1);
    g_unlink(path);
    g_byte_array_unref(bytes);
}

static void binaries_are_read_and_bounded(void **state)
{
    struct trial trial;
    GByteArray *whole = one_rank(2, 1, 1);
    guint length = whole->len;

    (void)state;
    trial_of_bytes(&trial, whole, length);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ops, 2);
    assert_int_equal(trial_op(&trial, 0).duration_ps, 5000);
    assert_int_equal(trial_op(&trial, 1).n_needed, 1);
    trial_clear(&trial);
    for (guint cut = 8; cut < length; cut++) { /* every length short of it is refused */
        trial_of_bytes(&trial, one_rank(2, 1, 1), cut);
        assert_false(trial.ok);
        assert_non_null(strstr(trial.error->message, "byte "));
        trial_clear(&trial);
    }
    trial_of_bytes(&trial, one_rank(2, 2, 1), length); /* more dependents than the appendix has */
    assert_false(trial.ok);
    assert_non_null(strstr(trial.error->message, "outside the appendix"));
    trial_clear(&trial);
    trial_of_bytes(&trial, one_rank(2, 1, 2), length);
    assert_false(trial.ok);
    assert_non_null(strstr(trial.error->message, "other nodes from 0 to 1"));
    trial_clear(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_become_operations),
        cmocka_unit_test(requires_and_irequires),
        cmocka_unit_test(deadlocks_are_said),
        cmocka_unit_test(wrong_texts_name_their_line),
        cmocka_unit_test(binaries_are_read_and_bounded),
    };

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
