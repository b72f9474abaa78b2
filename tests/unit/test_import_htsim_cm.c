/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of workloads/import_htsim.c: the files that people have ($WEFT_INPUTS/htsim_cm and
 * negative/cm_*, by default ../shared/inputs), equivalents of our own, and 3000 mutations.
 */
#include "tests/unit/scratch.h"
#include "tests/unit/test_workload_player.h"

/* A trial of `text`, written to a file; `keys` are more keys, "" or "name=value|...". */
static void trial_of_bytes(struct trial *trial, const char *text, size_t length, const char *keys,
                           uint32_t n_hosts)
{
    g_autofree char *path = scratch_write("own.cm", text, length);
    g_autofree char *all = g_strconcat("file=", path, "|", keys, NULL);

    trial_init(trial, "htsim", all, n_hosts, 1);
    g_unlink(path);
}

static void trial_of_text(struct trial *trial, const char *text, const char *keys)
{
    trial_of_bytes(trial, text, strlen(text), keys, 16);
}

static void check_refused(const char *text, const char *keys, const char *part)
{
    struct trial trial;

    trial_of_text(&trial, text, keys);
    if (trial.ok || !strstr(trial.error->message, part))
        fail_msg("'%s' is not in the error '%s' of\n%s", part,
                 trial.ok ? "(none)" : trial.error->message, text);
    trial_clear(&trial);
}

/* One flow 0->13 of `bytes` at `start_ps`, the answer for every spelling of the clean file. */
static void check_one_flow(const char *text, int64_t bytes, int64_t start_ps)
{
    struct trial trial;
    struct schedule_op op;

    trial_of_text(&trial, text, "");
    if (!trial.ok)
        fail_msg("%s: %s", text, trial.error->message);
    assert_int_equal(trial.schedule.n_ops, 1);
    op = trial_op(&trial, 0);
    assert_true(op.kind == SCHEDULE_MESSAGE && op.rank == 0 && op.peer == 13);
    assert_int_equal(op.bytes, bytes);
    assert_int_equal(op.start_ps, start_ps);
    assert_int_equal(op.n_needed, 0);
    trial_clear(&trial);
}

#define ONE "Nodes 16\nConnections 1\n"
#define TWO "Nodes 16\nConnections 2\n"

/* --- words and numbers ------------------------------------------------------------------------ */

static void spaces_and_line_ends_do_not_matter(void **state)
{
    static const char *const texts[] = {
        ONE "0->13 start 0 size 2000000\n",
        ONE "0->13 start 0 size 2000000",
        ONE "0->13  start 0   size 2000000 \n\n\n",
        ONE "0->13\tstart\t0\tsize\t2000000\n",
        "Nodes 16\r\nConnections 1\r\n0->13 start 0 size 2000000\r\n",
        "\xef\xbb\xbf" ONE "0->13 start 0 size 2000000\n",
        ("# made by hand\nConnections 1\nFailures 0\nTriggers 0\nNodes 16\n"
         "# a flow\n0->13 size 2000000 start 0\n")};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        check_one_flow(texts[i], 2000000, 0);
}

static void sizes_and_starts_are_exact(void **state)
{
    (void)state;
    check_one_flow(ONE "0->13 start 0 size 3000000000\n", INT64_C(3000000000), 0);
    check_one_flow(ONE "0->13 start 0 size 5000000000\n", INT64_C(5000000000), 0);
    check_one_flow(ONE "0->13 start 0 size 9223372036854775807\n", INT64_MAX, 0);
    check_one_flow(ONE "0->13 start 100000001 size 1\n", 1, INT64_C(100000001000000));
    check_one_flow(ONE "0->13 start 40.000001 size 1\n", 1, 40000001);
    check_refused(ONE "0->13 start 0.0000001 size 1\n", "", "own.cm:3: start '0.0000001'");
    check_refused(ONE "0->13 start 9300000000000 size 1\n", "", "too large");
    check_refused(ONE "0->13 start 0 size 9223372036854775808\n", "", "own.cm:3: size");
}

static void the_unit_of_start_is_the_users(void **state)
{
    static const char text[] =
        "Nodes 16\nConnections 2\n1->0 start 0 size 5\n2->0 start 40 size 5\n";
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    int64_t worth = 1;

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++, worth *= 1000) {
        g_autofree char *keys = g_strconcat("start_unit=", units[i], NULL);
        g_autofree char *note = g_strdup_printf("are read in %s (start_unit)", units[i]);
        struct trial trial;

        trial_of_text(&trial, text, keys);
        assert_int_equal(trial_op(&trial, 1).start_ps, 40 * worth);
        assert_true(trial_notes(&trial, note));
        assert_true(trial_notes(&trial, "below 1 ns") == (i == 0));
        assert_true(trial_notes(&trial, "beyond the end of the run") == (i == 4)); /* end is 1 s */
        trial_clear(&trial);
    }
}

/* --- header ----------------------------------------------------------------------------------- */

static void nodes_are_compared_with_the_topology(void **state)
{
    struct trial trial;

    (void)state;
    check_refused("Nodes 17\nConnections 1\n0->13 start 0 size 5\n", "",
                  "own.cm:1: Nodes 17, but the topology has only 16 hosts");
    trial_of_text(&trial, "Nodes 15\nConnections 1\n0->13 start 0 size 5\n", "");
    assert_true(trial.ok && trial_notes(&trial, "Nodes 15 is below the topology's 16 hosts"));
    assert_int_equal(trial.schedule.n_ranks, 16);
    trial_clear(&trial);
    check_refused("Connections 1\n0->13 start 0 size 5\n", "", "no line 'Nodes N'");
    check_refused("Nodes 16\nNodes 16\nConnections 1\n0->13 start 0 size 5\n", "", "given twice");
    check_refused("Nodes 16\nConnections 1\n0->13 start 0 size 5\nTriggers 0\n", "",
                  "own.cm:4: Triggers comes after");
    check_refused("Nodes\nConnections 1\n0->13 start 0 size 5\n", "", "own.cm:1: Nodes ''");
    check_refused("Nodes 16 17\nConnections 1\n0->13 start 0 size 5\n", "", "nothing is expected");
    check_refused("Nodes 0\nConnections 1\n0->13 start 0 size 5\n", "", "from 1 to");
    check_refused("Nodes 4294967296\n", "", "own.cm:1: Nodes '4294967296'");
}

static void counts_must_match_unless_lenient(void **state)
{
    static const char flows[] = "Nodes 16\nConnections 3\n0->13 start 0 size 5\n";
    static const char triggers[] = "Nodes 16\nConnections 1\nTriggers 9\n0->13 start 0 size 5\n";
    static const char failures[] = "Nodes 16\nConnections 1\nFailures 2\n0->13 start 0 size 5\n";
    struct trial trial;

    (void)state;
    check_refused(flows, "", "own.cm:2: Connections 3 is declared, but the file holds 1");
    check_refused(triggers, "", "own.cm:3: Triggers 9 is declared, but the file holds 0");
    check_refused(failures, "", "own.cm:3: Failures 2 is declared, but the file holds 0");
    check_refused("Nodes 16\n0->13 start 0 size 5\n", "", "Connections 0 is declared");
    trial_of_text(&trial, flows, "lenient=on");
    assert_true(trial.ok && trial_notes(&trial, "Connections 3 is declared, the file holds 1"));
    trial_clear(&trial);
    trial_of_text(&trial, "0->13 start 0 size 5\n", "lenient=on");
    assert_true(trial.ok && trial_notes(&trial, "16 nodes, 1 flows"));
    trial_clear(&trial);
    check_refused("Nodes 16\nConnections 0\n", "lenient=on", "no flow in the file");
}

/* A declared count is never a size of memory. */
static void huge_counts_allocate_nothing(void **state)
{
    (void)state;
    check_refused("Nodes 16\nConnections 4294967295\nTriggers 4294967295\nFailures 4294967295\n"
                  "0->13 start 0 size 5\n",
                  "", "Connections 4294967295 is declared");
}

/* --- flows ------------------------------------------------------------------------------------ */

static void wrong_flows_name_their_line(void **state)
{
    static const char *const wrong[][2] = {
        {ONE "0->13 start 0\n", "own.cm:3: a flow without size"},
        {ONE "0->13 start 0 size 0\n", "own.cm:3: size '0': at least 1 byte"},
        {ONE "0->13 start 0 size -5\n", "own.cm:3: size '-5'"},
        {ONE "0->13 start 0 size\n", "own.cm:3: size ''"},
        {ONE "0->13 start -1 size 5\n", "own.cm:3: start '-1'"},
        {ONE "0->13 start 5us size 5\n", "own.cm:3: start '5us'"},
        {ONE "0->13 size 5\n", "own.cm:3: neither start nor trigger"},
        {ONE "0->16 start 0 size 5\n", "own.cm:3: '0->16': node 16 does not exist"},
        {ONE "99999999999999999999->1 start 0 size 5\n", "does not exist"},
        {ONE "7->7 start 0 size 5\n", "own.cm:3: '7->7': a flow to its own node"},
        {ONE "->7 start 0 size 5\n", "two nodes are expected"},
        {ONE "-1->7 start 0 size 5\n", "two nodes are expected"},
        {ONE "1-> 7 start 0 size 5\n", "two nodes are expected"},
        {ONE "0->13 start 0 start 1 size 5\n", "'start' is given twice"},
        {ONE "0->13 start 0 sise 5\n", "is 'size' meant?"},
        {ONE "0->13 id 0 start 0 size 5\n", "id '0': a whole number from 1"},
        {ONE "0->13 id 4294967296 start 0 size 5\n", "id '4294967296'"},
        {TWO "0->13 id 1 start 0 size 5\n1->13 id 1 start 0 size 5\n", "own.cm:4: id 1 is used on"},
        {TWO "0->13 id 1 start 0 size 5\n1->13 id 1 msg start 0 size 5\n",
         "own.cm:4: id 1 is the connection 0->13 of line 3"},
        {ONE "0 13 start 0 size 5\n", "own.cm:3: '0' begins no statement"},
        {ONE "0->13 start 0 size 5 # why\n", "'#' is no attribute"},
        {"nodes 16\n", "own.cm:1: 'nodes' begins no statement"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        check_refused(wrong[i][0], "", wrong[i][1]);
    check_refused("Nodes 8\nConnections 1\n0->8 start 0 size 5\n", "", "node 8 does not exist");
    assert_refused("htsim", "file=/nowhere/a.cm", 16, "/nowhere/a.cm");
    assert_refused("htsim", "", 16, "file is not given");
}

static void messages_of_one_connection_share_an_id(void **state)
{
    struct trial trial;

    (void)state;
    trial_of_text(&trial,
                  TWO "0->1 id 1 msg start 0 size 4086\n0->1 id 1 msg 2 start 0 size 4086\n", "");
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ops, 2);
    assert_true(trial_notes(&trial, "2 flows (2 as messages)"));
    trial_clear(&trial);
}

static void what_is_ignored_is_said(void **state)
{
    struct trial trial;

    (void)state;
    trial_of_text(&trial, "Nodes 16\nConnections 1\n0->13 start 0 size 5 prio 3 addon\n", "");
    assert_true(trial.ok);
    assert_true(trial_notes(&trial, "prio of 1 flows is ignored"));
    assert_true(trial_notes(&trial, "addon of 1 flows is ignored"));
    trial_clear(&trial);
}

/* users' case 80: failures are faults of links, which whoever plays them looks up in the graph. */
static void failures_are_faults(void **state)
{
    static const char text[] = "Nodes 16\nConnections 1\nFailures 2\n0->13 start 0 size 5\n"
                               "failure switch_type AGG switch_id 3 link_id 1\n"
                               "failure link_id 0 switch_id 2 switch_type TOR\n";
    struct trial trial;

    (void)state;
    trial_of_text(&trial, text, "failures_at=5us|failures_until=7us");
    assert_true(trial.ok && trial_notes(&trial, "2 failure lines: links that go down at 5us"));
    assert_int_equal(trial.build.faults.faults->len, 2);
    for (guint i = 0; i < 2; i++) {
        const struct fault *fault = fault_at(&trial.build.faults, i);
        g_autofree char *what = fault_describe(fault);

        assert_string_equal(what, i == 0 ? "uplink:2.0.3.1 down at 5us until 7us"
                                         : "uplink:1.0.2.0 down at 5us until 7us");
        assert_true(g_str_has_suffix(fault->name, i == 0 ? "own.cm:5" : "own.cm:6"));
    }
    trial_clear(&trial);
}

/* --- triggers and failures -------------------------------------------------------------------- */

static void wrong_triggers_and_failures_are_refused(void **state)
{
    static const char *const wrong[][2] = {
        {"trigger id 1\n", "own.cm:3: a trigger without oneshot"},
        {"trigger oneshot\n", "a trigger without id"},
        {"trigger id 0 oneshot\n", "id '0'"},
        {"trigger id 1 oneshot multishot\n", "'multishot' in a trigger"},
        {"trigger id 1 id 2 oneshot\n", "'id' in a trigger"},
        {"trigger id 1 twoshot\n", "'twoshot' in a trigger"},
        {"trigger id 1 barrier\n", "barrier 1 without count"},
        {"trigger id 1 count 0 barrier\n", "count '0'"},
        {"trigger id 1 oneshot\ntrigger id 1 oneshot\n",
         "own.cm:4: trigger 1 is defined on line 3"},
        {"failure switch_type HUB switch_id 0 link_id 0\n", "'switch_type HUB' in a failure"},
        {"failure switch_type AGG switch_id 0\n", "needs switch_type, switch_id and link_id"},
        {"failure switch_type AGG switch_id x link_id 0\n", "switch_id 'x'"},
        {"failure switch_type\n", "'switch_type ' in a failure"},
        {"0->13 id 1 start 0 size 5 send_done_trigger 7\n", "own.cm:3: trigger 7 is not defined"},
        {"0->13 id 1 trigger 7 size 5\n", "own.cm:3: trigger 7 is not defined"},
        {"0->13 start 5 trigger 1 size 5\ntrigger id 1 oneshot\n",
         "own.cm:3: both start and trigger 1"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *text = g_strconcat(ONE, wrong[i][0], NULL);

        check_refused(text, "lenient=on", wrong[i][1]);
    }
}

/* A matrix with three flows 0, 1, 2 that activate trigger 1 and three, 3, 4, 5, that it starts. */
static void start_of_six(struct trial *trial, struct player *player, const char *trigger)
{
    g_autofree char *text = g_strconcat("Nodes 16\nConnections 6\nTriggers 1\n", trigger,
                                        "\n0->1 id 1 start 0 size 5 recv_done_trigger 1\n"
                                        "1->2 id 2 start 0 size 5 recv_done_trigger 1\n"
                                        "2->3 id 3 start 0 size 5 send_done_trigger 1\n"
                                        "3->4 id 4 trigger 1 size 5\n4->5 id 5 trigger 1 size 5\n"
                                        "5->6 id 6 trigger 1 size 5\n",
                                        NULL);

    trial_of_text(trial, text, "");
    assert_true(trial->ok);
    player_init(player, &trial->schedule);
    player_roots(player);
    assert_int_equal(player->ready->len, 3);
}

static void end_of_six(struct trial *trial, struct player *player)
{
    player_clear(player);
    trial_clear(trial);
}

/* Completes the join of the trigger, if it has become ready. */
static void pass_join(struct player *player)
{
    if (player->schedule->n_ops > 6 && player->started[6] && !player->delivered[6])
        player_complete(player, 6);
}

static void check_started(struct player *player, bool a, bool b, bool c)
{
    pass_join(player);
    assert_true(player->started[3] == a && player->started[4] == b && player->started[5] == c);
}

static void oneshot_starts_all_at_the_first_activation(void **state)
{
    struct trial trial;
    struct player player;

    (void)state;
    start_of_six(&trial, &player, "trigger id 1 oneshot");
    check_started(&player, false, false, false);
    player_deliver(&player, 1);
    check_started(&player, true, true, true);
    player_complete(&player, 0); /* ignored */
    player_complete(&player, 2);
    check_started(&player, true, true, true);
    end_of_six(&trial, &player);
}

static void send_done_fires_at_the_senders_end(void **state)
{
    struct trial trial;
    struct player player;

    (void)state;
    start_of_six(&trial, &player, "trigger id 1 oneshot");
    player_deliver(&player, 2);
    check_started(&player, false, false, false);
    player_fire(&player, 2, SCHEDULE_AT_SENDER);
    check_started(&player, true, true, true);
    end_of_six(&trial, &player);
}

static void multishot_starts_the_next_in_file_order(void **state)
{
    struct trial trial;
    struct player player;

    (void)state;
    start_of_six(&trial, &player, "trigger id 1 multishot");
    player_deliver(&player, 1);
    check_started(&player, true, false, false);
    player_complete(&player, 2);
    check_started(&player, true, true, false);
    player_deliver(&player, 0);
    check_started(&player, true, true, true);
    end_of_six(&trial, &player);
}

static void barrier_waits_for_its_count(void **state)
{
    struct trial trial;
    struct player player;

    (void)state;
    start_of_six(&trial, &player, "trigger id 1 count 2 barrier");
    player_deliver(&player, 1);
    check_started(&player, false, false, false);
    player_complete(&player, 2);
    check_started(&player, true, true, true);
    player_complete(&player, 0);
    end_of_six(&trial, &player);
}

static void a_trigger_that_never_fires_builds_and_is_said(void **state)
{
    static const char *const triggers[] = {"oneshot", "multishot", "count 3 barrier"};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(triggers); i++) {
        g_autofree char *text =
            g_strdup_printf("Nodes 16\nConnections 1\nTriggers 1\n1->13 id 2 trigger 1 size 1000\n"
                            "trigger id 1 %s\n",
                            triggers[i]);
        struct trial trial;

        trial_of_text(&trial, text, "");
        assert_true(trial.ok && trial_notes(&trial, "flows will never start"));
        assert_true(trial_notes(&trial, "nothing will ever begin"));
        assert_int_equal(schedule_root(&trial.schedule, 0), SCHEDULE_NONE);
        trial_clear(&trial);
    }
}

/* n activations of one multishot trigger that starts n flows: refused before it fills the memory */
static void a_multishot_of_thousands_is_bounded(void **state)
{
    GString *text =
        g_string_new("Nodes 16\nConnections 6000\nTriggers 1\ntrigger id 1 multishot\n");

    (void)state;
    for (int i = 0; i < 3000; i++)
        g_string_append(text, "0->1 start 0 size 1 send_done_trigger 1\n1->2 trigger 1 size 1\n");
    check_refused(text->str, "", "has 3000 activations for 3000 flows");
    g_string_free(text, TRUE);
}

/* --- the files that people have --------------------------------------------------------------- */

struct expected {
    const char *name;
    uint32_t n_hosts;
    const char *error; /* NULL: it loads */
    uint32_t n_flows;
    int64_t bytes; /* of all flows */
};

static const struct expected files[] = {
    {"htsim_cm/csg_one.cm", 16, NULL, 1, 2000000},
    {"htsim_cm/csg_bidir.cm", 16, NULL, 2, 4000000},
    {"htsim_cm/csg_incast.cm", 16, NULL, 15, 30000000},
    {"htsim_cm/csg_incast_128.cm", 128, NULL, 127, 254000000},
    {"htsim_cm/csg_perm_16n_16c_2MB.cm", 16, NULL, 16, 32000000},
    {"htsim_cm/csg_perm_1024n_1024c_0u_2000000b.cm", 1024, NULL, 1024, 2048000000},
    {"htsim_cm/uet_test_cr_1f1m10p.cm", 2, NULL, 1, 40860},
    {"htsim_cm/uet_test_cr_1f10m1p.cm", 2, NULL, 10, 40860},
    {"htsim_cm/uet_incast_2-1.tm", 16, NULL, 2, 4000000},
    {"htsim_cm/uet_incast_3-1_overlapped.tm", 128, NULL, 3, 2500000},
    {"htsim_cm/uet_perm_16n_16c_2MB.cm", 16, NULL, 16, 32000000},
    {"htsim_cm/uet_perm_128n_128c_2MB.cm", 128, NULL, 128, 256000000},
    {"htsim_cm/uet_a2a.cm", 16, ":2: Connections 3600 is declared, but the file holds 240", 0, 0},
    {"htsim_cm/uet_alltoall_serial_16n.cm", 16, NULL, 240, 480000000},
    {"htsim_cm/uet_incast_1024_100K.cm", 1024, NULL, 1023, 102300000},
    {"htsim_cm/uet_incast_2to1_size4194304B.cm", 128, NULL, 2, 8388608},
    {"htsim_cm/uet_gen_remote_incast_8192n_32c_16us_64Ms.cm", 8192, NULL, 32,
     INT64_C(32) * 67108864},
    {"htsim_cm/uet_gen_random_incast_8192n_128c_16us_16Ms.cm", 8192, NULL, 128,
     INT64_C(128) * 16777216},
    {"htsim_cm/uno_0_4_200MB.cm", 256, ":3: '0->240': node 240 does not exist", 0, 0},
    {"negative/cm_crlf.cm", 16, NULL, 1, 2000000},
    {"negative/cm_double_space.cm", 16, NULL, 1, 2000000},
    {"negative/cm_no_final_newline.cm", 16, NULL, 1, 2000000},
    {"negative/cm_size_over_2g.cm", 16, NULL, 1, INT64_C(3000000000)},
    {"negative/cm_size_over_4g.cm", 16, NULL, 1, INT64_C(5000000000)},
    {"negative/cm_start_float.cm", 16, NULL, 1, 2000000},
    {"negative/cm_failure_ok.cm", 16, NULL, 1, 2000000},
    {"negative/cm_trigger_never_fires.cm", 16, NULL, 1, 1000},
    {"negative/cm_no_size.cm", 16, ":3: a flow without size", 0, 0},
    {"negative/cm_duplicate_id.cm", 16, ":4: id 1 is used on line 3", 0, 0},
    {"negative/cm_start_and_trigger.cm", 16, ":5: both start and trigger 1", 0, 0},
    {"negative/cm_trigger_undefined.cm", 16, ":4: trigger 7 is not defined", 0, 0},
};

static void check_file(const char *path, const struct expected *expected)
{
    g_autofree char *keys = g_strconcat("file=", path, NULL);
    struct trial trial;
    uint32_t n_flows = 0;
    int64_t bytes = 0;

    trial_init(&trial, "htsim", keys, expected->n_hosts, 1);
    if (expected->error ? trial.ok || !strstr(trial.error->message, expected->error) : !trial.ok)
        fail_msg("%s: %s", path, trial.ok ? "loads" : trial.error->message);
    for (uint64_t i = 0; trial.ok && i < trial.schedule.n_ops; i++) {
        n_flows += trial_op(&trial, i).kind == SCHEDULE_MESSAGE;
        bytes += trial_op(&trial, i).bytes;
    }
    assert_int_equal(n_flows, expected->n_flows);
    assert_int_equal(bytes, expected->bytes);
    trial_clear(&trial);
}

static char *input(const char *name)
{
    const char *inputs = g_getenv("WEFT_INPUTS");

    return g_build_filename(inputs && *inputs ? inputs : "../shared/inputs", name, NULL);
}

static void files_that_people_have_load_or_are_refused(void **state)
{
    uint32_t n_absent = 0;

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = input(files[i].name);

        if (g_file_test(path, G_FILE_TEST_EXISTS))
            check_file(path, &files[i]);
        else
            n_absent++;
    }
    if (n_absent)
        print_message("# SKIP %u of %u inputs absent, own equivalents used\n", n_absent,
                      (unsigned)G_N_ELEMENTS(files));
}

/* Every .cm and .tm that is there is in the table above. */
static void no_file_is_forgotten(void **state)
{
    static const char *const folders[] = {"htsim_cm", "negative"};

    (void)state;
    for (int f = 0; f < 2; f++) {
        g_autofree char *path = input(folders[f]);
        GDir *dir = g_dir_open(path, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
            bool found = !g_str_has_suffix(name, ".cm") && !g_str_has_suffix(name, ".tm");

            for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
                found |= g_str_has_suffix(files[i].name, name);
            if (!found)
                fail_msg("%s/%s is not in the table", folders[f], name);
        }
        if (dir)
            g_dir_close(dir);
    }
}

/* The serial all-to-all in small, and as the file where it is: every flow starts in the end. */
static void a_serial_all_to_all_runs_to_its_end(void **state)
{
    GString *text = g_string_new("Nodes 16\nConnections 240\nTriggers 224\n");
    struct trial trial;
    struct player player;

    (void)state;
    for (int src = 0, id = 1, trigger = 0; src < 16; src++)
        for (int step = 1; step < 16; step++, id++) {
            g_string_append_printf(text, "%d->%d id %d ", src, (src + step) % 16, id);
            if (step == 1)
                g_string_append(text, "start 0 ");
            else
                g_string_append_printf(text, "trigger %d ", trigger);
            g_string_append(text, "size 2000000");
            if (step < 15)
                g_string_append_printf(text, " send_done_trigger %d", ++trigger);
            g_string_append_c(text, '\n');
        }
    for (int trigger = 1; trigger <= 224; trigger++)
        g_string_append_printf(text, "trigger id %d oneshot\n", trigger);
    trial_of_text(&trial, text->str, "");
    assert_true(trial.ok && trial_notes(&trial, "triggers: 224 oneshot"));
    player_init(&player, &trial.schedule);
    player_roots(&player);
    assert_int_equal(player.ready->len, 16);
    player_run(&player, PLAYER_RANDOM);
    assert_int_equal(player.n_done, 240 + 224);
    player_clear(&player);
    trial_clear(&trial);
    g_string_free(text, TRUE);
}

/* --- mutations -------------------------------------------------------------------------------- */

static void no_mutation_crashes(void **state)
{
    static const char valid[] =
        "Nodes 16\nConnections 4\nTriggers 2\nFailures 1\n"
        "0->1 id 1 start 0 size 2000000 send_done_trigger 1 recv_done_trigger 2\n"
        "2->3 id 2 msg start 40 size 5 prio 3\n2->3 id 2 msg 7 trigger 1 size 6 addon\n"
        "4->5 id 3 trigger 2 size 7\ntrigger id 1 oneshot\ntrigger id 2 count 1 barrier\n"
        "failure switch_type AGG switch_id 0 link_id 0\n";
    static const char odd[] = "->#\n\r\t .0123456789edgirstz\xff";
    struct random_stream stream = random_stream(1, RANDOM_WORKLOAD, 2);
    uint32_t n_ok = 0;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        char text[sizeof valid];
        size_t length = sizeof valid - 1;
        struct trial trial;

        memcpy(text, valid, sizeof valid);
        length = scratch_mutate(&stream, text, length, odd, sizeof odd);
        trial_of_bytes(&trial, text, length, i % 2 ? "lenient=on" : "", 16);
        n_ok += (uint32_t)trial.ok;
        trial_clear(&trial);
    }
    assert_in_range(n_ok, 100, 2900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_and_line_ends_do_not_matter),
        cmocka_unit_test(sizes_and_starts_are_exact),
        cmocka_unit_test(the_unit_of_start_is_the_users),
        cmocka_unit_test(nodes_are_compared_with_the_topology),
        cmocka_unit_test(counts_must_match_unless_lenient),
        cmocka_unit_test(huge_counts_allocate_nothing),
        cmocka_unit_test(wrong_flows_name_their_line),
        cmocka_unit_test(messages_of_one_connection_share_an_id),
        cmocka_unit_test(what_is_ignored_is_said),
        cmocka_unit_test(failures_are_faults),
        cmocka_unit_test(wrong_triggers_and_failures_are_refused),
        cmocka_unit_test(oneshot_starts_all_at_the_first_activation),
        cmocka_unit_test(send_done_fires_at_the_senders_end),
        cmocka_unit_test(multishot_starts_the_next_in_file_order),
        cmocka_unit_test(barrier_waits_for_its_count),
        cmocka_unit_test(a_trigger_that_never_fires_builds_and_is_said),
        cmocka_unit_test(a_multishot_of_thousands_is_bounded),
        cmocka_unit_test(files_that_people_have_load_or_are_refused),
        cmocka_unit_test(no_file_is_forgotten),
        cmocka_unit_test(a_serial_all_to_all_runs_to_its_end),
        cmocka_unit_test(no_mutation_crashes),
    };

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
