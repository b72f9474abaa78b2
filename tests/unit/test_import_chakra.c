/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chakra traces, written here byte by byte; workloads of SimAI; collectives inside a schedule. */
#include "tests/unit/test_workload_player.h"

#include "tests/unit/scratch.h"

/* --- writing protobuf ------------------------------------------------------------------------- */

static void varint(GByteArray *bytes, uint64_t value)
{
    do {
        guint8 byte = (guint8)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

        g_byte_array_append(bytes, &byte, 1);
        value >>= 7;
    } while (value);
}

static void number(GByteArray *bytes, uint32_t field, uint64_t value)
{
    varint(bytes, field << 3);
    varint(bytes, value);
}

static void span(GByteArray *bytes, uint32_t field, const void *data, size_t length)
{
    varint(bytes, field << 3 | 2);
    varint(bytes, length);
    g_byte_array_append(bytes, data, (guint)length);
}

/* An attribute whose value is an int64 (9), or a text. */
static void attribute(GByteArray *node, const char *name, int64_t value, const char *text)
{
    GByteArray *own = g_byte_array_new();

    span(own, 1, name, strlen(name));
    if (text)
        span(own, 29, text, strlen(text));
    else
        number(own, 9, (uint64_t)value);
    span(node, 10, own->data, own->len);
    g_byte_array_unref(own);
}

/* Takes the node. */
static void add(GByteArray *file, GByteArray *node)
{
    varint(file, node->len);
    g_byte_array_append(file, node->data, node->len);
    g_byte_array_unref(node);
}

static GByteArray *new_file(void)
{
    static const char metadata[] = "\n\0050.0.4";
    GByteArray *file = g_byte_array_new();

    varint(file, sizeof metadata - 1);
    g_byte_array_append(file, (const guint8 *)metadata, sizeof metadata - 1);
    return file;
}

static GByteArray *new_node(uint64_t id, uint32_t type)
{
    GByteArray *node = g_byte_array_new();

    number(node, 1, id);
    number(node, 3, type);
    return node;
}

enum { COMPUTE = 4, SEND, RECEIVE, COLLECTIVE };

static void add_compute(GByteArray *file, uint64_t id, uint64_t us, int64_t dependency)
{
    GByteArray *node = new_node(id, COMPUTE);

    number(node, 7, us);
    if (dependency >= 0)
        number(node, 5, (uint64_t)dependency);
    add(file, node);
}

static void add_peer(GByteArray *file, uint64_t id, uint32_t type, int64_t peer, int64_t bytes,
                     int64_t dependency)
{
    GByteArray *node = new_node(id, type);
    guint8 packed = (guint8)dependency;

    if (dependency >= 0)
        span(node, 4, &packed, 1); /* packed, a control dependency */
    attribute(node, type == SEND ? "comm_dst" : "comm_src", peer, NULL);
    attribute(node, "comm_size", bytes, NULL);
    attribute(node, "comm_tag", 3, NULL);
    add(file, node);
}

static void add_collective(GByteArray *file, uint64_t id, int64_t type, int64_t bytes,
                           const char *group)
{
    GByteArray *node = new_node(id, COLLECTIVE);

    attribute(node, "comm_type", type, NULL);
    attribute(node, "comm_size", bytes, NULL);
    if (group)
        attribute(node, "pg_name", 0, group);
    add(file, node);
}

/* Takes the files; plays them as NAME.0.et and up. */
static void trial_of_files(struct trial *trial, GByteArray **files, uint32_t n_files,
                           const char *more)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *keys = NULL;

    for (uint32_t i = 0; i < n_files; i++) {
        g_autofree char *name = g_strdup_printf("t.%u.et", i);

        if (files[i])
            g_ptr_array_add(paths,
                            scratch_write(name, (const char *)files[i]->data, files[i]->len));
        if (files[i])
            g_byte_array_unref(files[i]);
    }
    keys = g_strdup_printf("file=%s|%s", (char *)g_ptr_array_index(paths, paths->len - 1), more);
    trial_init(trial, "chakra", keys, 8, 1);
    for (guint i = 0; i < paths->len; i++)
        g_unlink(g_ptr_array_index(paths, i));
    g_ptr_array_unref(paths);
}

static void refused(GByteArray **files, uint32_t n_files, const char *more, const char *part)
{
    struct trial trial;

    trial_of_files(&trial, files, n_files, more);
    if (trial.ok || !strstr(trial.error->message, part))
        fail_msg("'%s' is not in the error '%s'", part, trial.ok ? "(none)" : trial.error->message);
    trial_clear(&trial);
}

/* --- bytes between pairs, and that all begins --------------------------------------------------
 */

static int64_t moved[8][8];

static void count_bytes(struct player *player, uint64_t index, const struct schedule_op *op)
{
    (void)player;
    (void)index;
    if (op->kind == SCHEDULE_MESSAGE)
        moved[op->rank][op->peer] += op->bytes;
}

static void play_all(const struct trial *trial)
{
    struct player player;

    if (!trial->ok)
        fail_msg("%s", trial->error->message);
    memset(moved, 0, sizeof moved);
    player_init(&player, &trial->schedule);
    player.on_done = count_bytes;
    player_roots(&player);
    player_run(&player, PLAYER_RANDOM);
    assert_int_equal(player.n_done, trial->schedule.n_ops);
    player_clear(&player);
}

/* --- Chakra ----------------------------------------------------------------------------------- */

static void nodes_become_operations(void **state)
{
    GByteArray *files[] = {new_file(), new_file()};
    struct trial trial;
    struct schedule_op op;

    (void)state;
    add_compute(files[0], 5, 7, -1);
    add_peer(files[0], 6, SEND, 1, 1000, 5);
    add_compute(files[0], 9, 0, 6);
    add_peer(files[1], 0, RECEIVE, 0, 1000, -1);
    add_compute(files[1], 1, 2, 0);
    trial_of_files(&trial, files, 2, "");
    play_all(&trial);
    assert_int_equal(trial.schedule.n_ops, 5);
    op = trial_op(&trial, 0);
    assert_true(op.kind == SCHEDULE_COMPUTE && op.duration_ps == 7000000);
    op = trial_op(&trial, 1);
    assert_true(op.kind == SCHEDULE_MESSAGE && op.peer == 1 && op.bytes == 1000 &&
                op.n_needed == 1);
    assert_true(trial_op(&trial, 2).kind == SCHEDULE_JOIN); /* no duration */
    assert_true(trial_notes(&trial, "1 computations have no duration"));
    trial_clear(&trial);
}

static void groups_say_who_takes_part(void **state)
{
    static const char json[] = "{ \"a\": [0, 2],\n\"b\" : [1,3] }";
    GByteArray *files[4];
    g_autofree char *path = scratch_write("groups.json", json, sizeof json - 1);
    g_autofree char *more = g_strdup_printf("groups_file=%s", path);
    struct trial trial;

    (void)state;
    for (int i = 0; i < 4; i++) {
        files[i] = new_file();
        add_collective(files[i], 0, 0, 1000, i % 2 ? "b" : "a");
        add_collective(files[i], 1, 2, 400, NULL); /* all-gather over all */
    }
    trial_of_files(&trial, files, 4, more);
    play_all(&trial);
    assert_int_equal(moved[0][2], 1000); /* 2 (n - 1) / n of 1000 B */
    assert_int_equal(moved[2][0], 1000);
    assert_int_equal(moved[0][1], 300); /* ring of four: three quarters */
    assert_int_equal(moved[1][3], 1000);
    assert_int_equal(moved[1][2], 300);
    assert_int_equal(trial.schedule.groups->len, 3);
    trial_clear(&trial);
    g_unlink(path);
}

static void groups_refused(const char *json, const char *part)
{
    GByteArray *files[] = {new_file(), new_file()};
    g_autofree char *path = scratch_write("groups.json", json, strlen(json));
    g_autofree char *more = g_strdup_printf("groups_file=%s", path);

    for (int i = 0; i < 2; i++)
        add_collective(files[i], 0, 0, 1000, "a");
    refused(files, 2, more, part);
    g_unlink(path);
}

static void wrong_groups_are_refused(void **state)
{
    (void)state;
    groups_refused("[]", "groups.json:1: '{' is expected");
    groups_refused("{\"a\": [0, 1}", "',' is expected");
    groups_refused("{\"a\": [0, 2]}", "a rank from 0 to 1 is expected");
    groups_refused("{\"a\": [0, -1]}", "a rank from 0 to 1 is expected");
    groups_refused("{\"a\": [0, 0]}", "rank 0 is named twice");
    groups_refused("{\"a\": []}", "group 'a' is empty");
    groups_refused("{\"a\": [0],\n\"a\": [1]}", ":2: group 'a' is given twice");
    groups_refused("{\"b\": [0, 1]}", "group 'a' is not in");
    groups_refused("{\"a\": [0]}", "rank 1 is no member of its group 'a'");
    groups_refused("{\"a", "a name in quotes");
}

/* All types, each over four ranks of 4096 B. */
static void collectives_move_what_they_should(void **state)
{
    static const struct {
        int64_t type, bytes; /* of all messages together */
    } types[] = {{0, 2 * 3 * 4096}, {1, 3 * 4096}, {2, 3 * 4096}, {3, 3 * 1024}, {4, 3 * 1024},
                 {5, 3 * 4096},     {6, 3 * 4096}, {7, 3 * 4096}, {8, 3 * 4096}, {9, 0}};

    (void)state;
    for (size_t t = 0; t < G_N_ELEMENTS(types); t++) {
        GByteArray *files[4];
        struct trial trial;
        int64_t sum = 0;

        for (int i = 0; i < 4; i++) {
            files[i] = new_file();
            add_compute(files[i], 7, 1, -1);
            add_collective(files[i], 8, types[t].type, types[t].type == 9 ? 0 : 4096, NULL);
            add_compute(files[i], 9, 1, 8);
        }
        trial_of_files(&trial, files, 4, "");
        play_all(&trial);
        for (int i = 0; i < 16; i++)
            sum += moved[i / 4][i % 4];
        assert_int_equal(sum, types[t].bytes);
        trial_clear(&trial);
    }
}

/* A rank that comes late holds the ring up at its place, and nobody ends before it came. */
static void a_late_rank_is_waited_for(void **state)
{
    GByteArray *files[4];
    struct trial trial;
    struct player player;

    (void)state;
    for (int i = 0; i < 4; i++) {
        files[i] = new_file();
        if (i == 2)
            add_compute(files[i], 0, 1, -1);
        GByteArray *node = new_node(1, COLLECTIVE);

        if (i == 2)
            number(node, 5, 0);
        attribute(node, "comm_type", 0, NULL);
        attribute(node, "comm_size", 4096, NULL);
        add(files[i], node);
    }
    trial_of_files(&trial, files, 4, "");
    assert_true(trial.ok);
    player_init(&player, &trial.schedule);
    player_roots(&player);
    for (guint i = 0; i < player.ready->len; i++) {
        uint64_t op = g_array_index(player.ready, uint64_t, i);

        if (trial_op(&trial, op).kind != SCHEDULE_COMPUTE)
            player_complete(&player, op);
    }
    for (uint64_t op = 0; op < trial.schedule.n_ops; op++)
        if (player.started[op] && trial_op(&trial, op).kind == SCHEDULE_MESSAGE)
            assert_int_not_equal(trial_op(&trial, op).rank, 2);
    for (uint64_t op = 0; op < 5; op++) /* the ends of the four */
        assert_true(!player.started[op] || trial_op(&trial, op).kind == SCHEDULE_COMPUTE);
    player_clear(&player);
    trial_clear(&trial);
}

static void wrong_traces_name_their_node(void **state)
{
    GByteArray *files[2];
    GByteArray *node;

    (void)state;
#define TWO() (files[0] = new_file(), files[1] = new_file(), add_compute(files[1], 0, 1, -1))
    TWO();
    add_peer(files[0], 4, SEND, 1, 10, -1);
    refused(files, 2, "",
            "node 4 (rank 0): a send of 10 B to rank 1, tag 3, that rank does not receive");
    TWO();
    add_peer(files[0], 4, RECEIVE, 1, 10, -1);
    refused(files, 2, "",
            "node 4 (rank 0): a receive of 10 B from rank 1, tag 3, that rank does not send");
    TWO();
    add_peer(files[0], 4, SEND, 7, 10, -1);
    refused(files, 2, "", "rank 7; ranks are 0 to 1");
    TWO();
    add_compute(files[0], 4, 1, 5);
    add_compute(files[0], 5, 1, 4);
    refused(files, 2, "", "waits, over others, for itself");
    TWO();
    add_compute(files[0], 4, 1, -1);
    add_compute(files[0], 4, 1, -1);
    refused(files, 2, "", "node 4 (rank 0): an earlier node has this id");
    TWO();
    add_collective(files[0], 4, 0, 10, NULL);
    refused(files, 2, "", "waits for rank 1, which makes no such call");
    TWO();
    add_collective(files[0], 4, 0, 10, NULL);
    add_collective(files[1], 6, 0, 20, NULL);
    refused(files, 2, "",
            "node 6 (rank 1): call 0 of group '': allreduce of 20 B, but node 4 of rank 0");
    TWO();
    add_collective(files[0], 4, 10, 10, NULL);
    refused(files, 2, "", "comm_type 10; 0 to 9 are known");
    TWO();
    node = new_node(4, COLLECTIVE);
    attribute(node, "comm_type", 0, NULL);
    add(files[0], node);
    refused(files, 2, "", "node 4 (rank 0): it has no comm_size");
    TWO();
    node = new_node(4, COLLECTIVE);
    attribute(node, "comm_size", 0, "12x");
    add(files[0], node);
    refused(files, 2, "", "comm_size '12x': a whole number");
    TWO();
    g_byte_array_set_size(files[0], 0);
    refused(files, 2, "", "byte 0: the file ends without a node");
    files[0] = NULL;
    files[1] = new_file();
    add_compute(files[1], 0, 1, -1);
    refused(files, 2, "", "lacks the file of rank 0");
#undef TWO
}

/* --- SimAI ------------------------------------------------------------------------------------ */

static void simai_of(struct trial *trial, const char *text)
{
    g_autofree char *path = scratch_write("w.txt", text, strlen(text));
    g_autofree char *keys = g_strconcat("file=", path, NULL);

    trial_init(trial, "simai", keys, 8, 1);
    g_unlink(path);
}

#define HEAD(policy_, tp_, ep_, pp_, n_)                                                           \
    policy_ " model_parallel_NPU_group: " tp_ " ep: " ep_ " pp: " pp_                              \
            " vpp: 1 ga: 1 all_gpus: " n_ " checkpoints: 0 checkpoint_initiates: 0\n"

/* Eight GPUs, tensor 2, expert 2, so data 4: who talks to whom. */
static void simai_groups_lie_as_in_megatron(void **state)
{
    struct trial trial;

    (void)state;
    simai_of(&trial,
             HEAD("HYBRID_TRANSFORMER", "2", "2", "1",
                  "8") "1\na -1 10 ALLTOALL_EP 200 5 ALLGATHER 20 3 REDUCESCATTER_DP_EP 2000 7\n");
    play_all(&trial);
    assert_int_equal(moved[0][2], 100);  /* e differs: the expert ranks */
    assert_int_equal(moved[0][1], 10);   /* t differs */
    assert_int_equal(moved[0][4], 1000); /* d differs */
    assert_int_equal(moved[0][3] + moved[0][5] + moved[0][6] + moved[0][7], 0);
    trial_clear(&trial);
    simai_of(&trial, HEAD("HYBRID_TRANSFORMER", "2", "1", "2",
                          "8") "1\na -1 10 NONE 0 5 NONE 0 3 ALLREDUCE 2000 7\n");
    play_all(&trial);
    assert_int_equal(moved[0][2], 2000); /* data 2, within a stage */
    assert_int_equal(moved[0][4], 0);
    trial_clear(&trial);
    simai_of(&trial, HEAD("MICRO", "2", "1", "1", "4") "1\na -1 10 ALLTOALL 400 5 ALLREDUCE 9 3 "
                                                       "ALLREDUCE 2000 7\n");
    play_all(&trial); /* all, forward only */
    assert_int_equal(moved[0][1], 100);
    assert_int_equal(moved[0][3], 100);
    trial_clear(&trial);
}

static void simai_refused(const char *text, const char *part)
{
    struct trial trial;

    simai_of(&trial, text);
    if (trial.ok || !strstr(trial.error->message, part))
        fail_msg("'%s' is not in the error '%s'", part, trial.ok ? "(none)" : trial.error->message);
    trial_clear(&trial);
}

static void wrong_workloads_of_simai_are_refused(void **state)
{
    (void)state;
    simai_refused("HYBRID model_parallel_NPU_group: 1\n", "'HYBRID' is no policy");
    simai_refused(HEAD("MICRO", "2", "1", "1", "16") "1\n", "the topology has only 8 hosts");
    simai_refused(HEAD("MICRO", "3", "1", "1", "8") "1\n", "is no multiple of");
    simai_refused(HEAD("MICRO", "2", "3", "1", "8") "1\n", "ep: 3 does not divide the 4");
    simai_refused(HEAD("MICRO", "0", "1", "1", "8") "1\n", "of 1 or more are expected");
    simai_refused(HEAD("MICRO", "2", "1", "1", "8") "2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
                  ":2: 2 layers are declared, the file holds 1");
    simai_refused(HEAD("MICRO", "2", "1", "1", "8") "1\na -1 1 NONE 0 1 NONE\n0 1 NONE 0 1\n",
                  "a layer of 12 columns");
    simai_refused(
        HEAD("MICRO", "2", "1", "1", "8") "1\na -1 1 ALLREDUCE_TP 0 1 NONE 0 1 NONE 0 1\n",
        ":3: 'ALLREDUCE_TP'");
    simai_refused(HEAD("MICRO", "2", "1", "1", "8") "1\na -1 x NONE 0 1 NONE 0 1 NONE 0 1\n",
                  ":3: 'x': a time in ns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_become_operations),
        cmocka_unit_test(groups_say_who_takes_part),
        cmocka_unit_test(wrong_groups_are_refused),
        cmocka_unit_test(collectives_move_what_they_should),
        cmocka_unit_test(a_late_rank_is_waited_for),
        cmocka_unit_test(wrong_traces_name_their_node),
        cmocka_unit_test(simai_groups_lie_as_in_megatron),
        cmocka_unit_test(wrong_workloads_of_simai_are_refused),
    };

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
