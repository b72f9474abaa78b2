/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a file is told by, failures of SimGrid, and files that weft writes and reads again. */
#include "tests/unit/test_workload_player.h"

#include "sim/app/export.h"
#include "sim/app/formats.h"
#include "sim/app/import_faults.h"
#include "sim/core/units.h"
#include "tests/unit/scratch.h"
#include "topologies/topology.h"

/* --- recognising ------------------------------------------------------------------------------ */

static void files_are_told_by_their_content(void **state)
{
    static const struct {
        const char *text, *format;
    } files[] = {
        {"# c\nNodes 16\nConnections 1\n0->1 start 0 size 1\n", "htsim-matrix"},
        {"Nodes 16\nTiers 2\nPodsize 16\n", "htsim-topology"},
        {"# c\nnodes 16\ntiers 3\n", "htsim-topology"},
        {"num_ranks 3\n", "goal-text"},
        {"// c\n/* d\n */ num_ranks 3\n", "goal-text"},
        {"3 1 2\n2\n0 2 1Gbps 1us 0\n", "ns3-topology"},
        {"7 2 1 4 8 H100\n2 3 4\n", "ns3-topology"},
        {"138 10 4 144\n128 129\n0 128 25000000000.0 1us 0\n", "ns3-topology"},
        {"2\n0 1 3 100 1000 2\n", "ns3-flows"},
        {"2\n0 1\n", "ns3-trace"},
        {"CC_MODE 1\n", "ns3-config"},
        {"CC_MOOD 1\nPACKET_PAYLOAD_SIZE 1000\n", "ns3-config"},
        {"0 0\n1000 50\n2000 90\n", "flow-sizes"},
        {"100 1 0.5\n200 2 1\n", "flow-sizes"},
        {"13 0\n14 1\n15 0\n", "simgrid-profile"},
        {"2 2000000\n4 3000000\nLOOPAFTER 6\n", "simgrid-profile"},
        {"<?xml version='1.0'?>\n<!-- <system> -->\n<!DOCTYPE x>\n<platform version=\"4\">",
         "simgrid-platform"},
        {"<system version=\"1\">", "nccl-topology"},
        {"<algo name=\"a\">", "msccl"},
        {"MICRO model_parallel_NPU_group: 1 all_gpus: 1\n1\n", "simai-workload"},
        {"a,b,rate,delay\n", "links-csv"},
        {"bytes,src,dst\n", "messages-csv"},
        {"time,object,change\n", "faults-csv"},
        {"# c\n[scenario]\n", "scenario"},
        {"{\"a\": 1}", "json"},
        {"\n", NULL},
        {"hello\n", NULL},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = scratch_write("file", files[i].text, strlen(files[i].text));
        g_autoptr(GError) error = NULL;
        const struct format *format = format_recognise(path, &error);

        if (g_strcmp0(format ? format->name : NULL, files[i].format) != 0)
            fail_msg("'%s' is taken for %s", files[i].text, format ? format->name : "nothing");
        assert_true(format || strstr(error->message, "no known file"));
        g_unlink(path);
    }
}

static void a_kind_may_be_given(void **state)
{
    g_autofree char *path = scratch_write("file", "num_ranks 3\n", 12), *found = NULL;
    g_autofree char *asked = g_strconcat("htsim:", path, NULL);
    const char *kind = NULL, *key = NULL;
    GError *error = NULL;
    gboolean no_file;

    (void)state;
    assert_true(format_choose("workload", asked, &kind, &key, &found, &no_file, NULL));
    assert_string_equal(kind, "htsim");
    assert_string_equal(found, path);
    g_clear_pointer(&found, g_free);
    assert_true(format_choose("workload", path, &kind, &key, &found, &no_file, NULL));
    assert_string_equal(kind, "goal");
    g_clear_pointer(&found, g_free);
    assert_false(format_choose("topology", path, &kind, &key, &found, &no_file, &error));
    assert_false(no_file);
    assert_non_null(strstr(error->message, "a workload; a topology is expected"));
    g_clear_error(&error);
    assert_false(format_choose("workload", "nothing", &kind, &key, &found, &no_file, &error));
    assert_true(no_file && !error);
    g_unlink(path);
}

/* --- failures --------------------------------------------------------------------------------- */

/* Times and changes of a profile, "2s down, 3s up", or the error. */
static char *faults_of(const char *text, const char *object, const char *end)
{
    g_autofree char *path = scratch_write("x.profile", text, strlen(text));
    GString *said = g_string_new(NULL);
    struct build build;
    GError *error = NULL;

    build_init(&build, 1, 0);
    if (!import_faults(path, object, end, &build, &error))
        g_string_append(said, error->message);
    for (guint i = 0; !error && i < build.faults.faults->len; i++) {
        g_autofree char *one = fault_describe(fault_at(&build.faults, i));

        g_string_append_printf(said, "%s%s", i ? ", " : "", one);
    }
    g_clear_error(&error);
    build_clear(&build);
    g_unlink(path);
    return g_string_free(said, FALSE);
}

static void assert_faults(const char *text, const char *object, const char *end, const char *part)
{
    g_autofree char *said = faults_of(text, object, end);

    if (!strstr(said, part))
        fail_msg("'%s' is not in '%s'", part, said);
}

static void profiles_become_faults(void **state)
{
    (void)state;
    assert_faults("# c\n1.5 0\n2 1\n", "link:7", NULL, "link:7 down at 1.5s, link:7 up at 2s");
    assert_faults("2 125000000\n3 0\n", "plane:1", NULL,
                  "plane:1 rate=1Gbps at 2s, plane:1 down at 3s");
    assert_faults("1 0\n2 1\nLOOPAFTER 3\n", NULL, "6s",
                  "down at 1s, link:0 up at 2s, link:0 down at 5s");
    assert_faults("PERIODICITY 5\n1 0\n2 1\n", NULL, "8s",
                  "up at 2s, link:0 down at 6s, link:0 up at 7s");
    assert_faults("1 0\n2 1\nLOOPAFTER 0\n", NULL, NULL, ":3: a loop longer than its points span");
    assert_faults("2 0\n1 1\n", NULL, NULL, ":2: times that rise are expected");
    assert_faults("1\n", NULL, NULL, ":1: '': 0, 1 or bytes a second");
    assert_faults("x 1\n", NULL, NULL, ":1: 'x': a time in seconds");
    assert_faults("# nothing\n", NULL, NULL, "no point");
    assert_faults("1 0\n", "lnk:1", NULL, "--object lnk:1: an object is expected");
    assert_faults("1 0\n", NULL, "soon", "--end soon: a time");
    assert_faults("0.000001 0\n0.000002 1\nLOOPAFTER 0.000001\n", NULL, "100s",
                  "an earlier --end is expected");
}

/* --- what is written is read again ------------------------------------------------------------ */

static void schedules_survive_their_file(void **state)
{
    static const char text[] = "op,src,dst,bytes,start,after,duration,needs\n"
                               "message,0,1,1000,5us,,,\ncompute,1,,,,0,7us,\n"
                               "message,1,2,500,,\"0@sent;1\",,\njoin,,,,,0;1;2,,2\n"
                               "reduce,2,,500,,2,,\nmessage,3,0,1,,,,9\n";
    g_autofree char *path = scratch_write("in.csv", text, sizeof text - 1), *keys = NULL;
    g_autofree char *out = g_build_filename(scratch_folder, "out.csv", NULL), *again = NULL;
    g_autofree char *first = NULL, *second = NULL;
    struct trial trial;

    (void)state;
    keys = g_strconcat("file=", path, NULL);
    trial_init(&trial, "list", keys, 4, 1);
    assert_true(trial.ok);
    assert_true(trial_op(&trial, 1).kind == SCHEDULE_COMPUTE);
    assert_int_equal(trial_op(&trial, 1).duration_ps, 7000000);
    assert_int_equal(trial_op(&trial, 2).n_needed, 2);
    assert_int_equal(trial_op(&trial, 3).n_needed, 2);
    assert_int_equal(trial_op(&trial, 5).n_needed, 9); /* never starts, and is no circle */
    assert_true(export_schedule(&trial.schedule, out, NULL));
    assert_true(g_file_get_contents(out, &first, NULL, NULL));
    trial_clear(&trial);
    again = g_strconcat("file=", out, NULL);
    trial_init(&trial, "list", again, 4, 1);
    assert_true(trial.ok);
    assert_true(export_schedule(&trial.schedule, out, NULL));
    assert_true(g_file_get_contents(out, &second, NULL, NULL));
    assert_string_equal(first, second);
    assert_non_null(strstr(second, "0@sent;1"));
    trial_clear(&trial);
    g_unlink(path);
    g_unlink(out);
}

static void rows_that_cannot_be(const char *row, const char *part)
{
    g_autofree char *text =
        g_strconcat("op,src,dst,bytes,start,after,duration,needs\n", row, "\n", NULL);
    g_autofree char *path = scratch_write("in.csv", text, strlen(text));
    g_autofree char *keys = g_strconcat("file=", path, NULL);

    assert_refused("list", keys, 4, part);
    g_unlink(path);
}

static void wrong_rows_are_refused(void **state)
{
    (void)state;
    rows_that_cannot_be("send,0,1,5,,,,", "message, compute, reduce or join");
    rows_that_cannot_be("compute,0,1,,,,5us,", "column dst, value '1': a compute has none");
    rows_that_cannot_be("compute,0,,9,,,5us,", "column bytes, value '9': a compute has none");
    rows_that_cannot_be("reduce,0,1,9,,,,", "column dst, value '1': a reduce has none");
    rows_that_cannot_be("reduce,0,,,,,,", "column bytes");
    rows_that_cannot_be("message,0,1,5,,,5us,", "only a compute has one");
    rows_that_cannot_be("message,0,1,5,,0,,", "a circle");
    rows_that_cannot_be("message,0,1,5,,7@sent,,", "no message has this id");
}

static void graphs_survive_their_file(void **state)
{
    g_autofree char *out = g_build_filename(scratch_folder, "links.csv", NULL);
    const struct topology_ops *ops = topology_find("graph");
    void *config = g_malloc0(ops->config_size);
    struct graph graph, again;
    struct build build;

    (void)state;
    graph_init(&graph);
    graph_init(&again);
    build_init(&build, 1, 0);
    graph_add_host(&graph);
    graph_add_host(&graph);
    graph_add_switch(&graph, 2, 0, 7000); /* above the other, and numbered before it */
    graph_add_switch(&graph, 1, 0, 5000);
    graph_add_link(&graph, 0, 3, 1000000000, 1000, 1, 0);
    graph_add_link(&graph, 1, 3, 1000000000, 1000, 1, 0);
    graph_add_link(&graph, 2, 3, 2000000000, 2000, 2, 0);
    graph.links[0].loss_ppt = UNITS_PPT / 8;
    graph.links[2].queue_bytes_a = 77;
    assert_true(graph_finish(&graph, NULL));
    assert_true(export_graph(&graph, out, NULL));
    param_defaults(ops->params, config);
    assert_true(param_set(param_find(ops->params, "file"), config, out, NULL));
    assert_true(ops->build(config, &build, &again, NULL));
    assert_int_equal(again.n_links, 3);
    assert_int_equal(again.links[0].loss_ppt, UNITS_PPT / 8);
    assert_int_equal(again.nodes[2].latency_ps, 7000);
    assert_int_equal(again.nodes[3].latency_ps, 5000);
    assert_int_equal(
        again.links[2].a == 2 ? again.links[2].queue_bytes_a : again.links[2].queue_bytes_b, 77);
    param_clear(ops->params, config);
    g_free(config);
    graph_clear(&graph);
    graph_clear(&again);
    build_clear(&build);
    g_unlink(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_told_by_their_content),
        cmocka_unit_test(a_kind_may_be_given),
        cmocka_unit_test(profiles_become_faults),
        cmocka_unit_test(schedules_survive_their_file),
        cmocka_unit_test(wrong_rows_are_refused),
        cmocka_unit_test(graphs_survive_their_file),
    };

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
