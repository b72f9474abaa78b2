/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topologies, flows and configurations of the ns-3 family; topologies of NCCL. */
#include "tests/unit/test_topology_common.h"

#include "sim/app/settings_ns3.h"
#include "sim/core/units.h"
#include "workloads/workload.h"

static void build_text(struct built *built, const char *kind, const char *text, const char *more)
{
    g_autofree char *path = write_file(text, strlen(text));
    g_autofree char *settings = g_strdup_printf("file=%s %s", path, more);

    build_kind(built, kind, settings);
    g_unlink(path);
}

static void build_refused(const char *kind, const char *text, const char *part)
{
    struct built built;

    build_text(&built, kind, text, "");
    if (!built.error || !strstr(built.error->message, part))
        fail_msg("'%s' is not in the error '%s' of: %s", part,
                 built.error ? built.error->message : "(none)", text);
    built_clear(&built);
}

/* --- topologies ------------------------------------------------------------------------------- */

static void hosts_and_switches_keep_their_ids(void **state)
{
    struct built built;
    const struct graph *graph = &built.graph;

    (void)state;
    build_text(&built, "ns3",
               "5 2 4\n0 3\n0 1 100Gbps 1us 0\n2 0 25Gb/s 0.002ms 0.01\n3 0 4e11 0 0\n"
               "4 3 12.5GBps 3ns 0\n",
               "switch_latency=5ns");
    assert_null(built.error);
    assert_int_equal(graph->n_hosts, 3);
    assert_int_equal(graph->n_ids, 5);
    static const uint32_t node_of[] = {3, 0, 1, 4, 2};
    assert_memory_equal(graph->node_of_id, node_of, sizeof node_of);
    assert_int_equal(graph->links[0].rate_bps, INT64_C(100000000000));
    assert_int_equal(graph->links[1].rate_bps, INT64_C(25000000000));
    assert_int_equal(graph->links[1].delay_ps, 2000000);
    assert_int_equal(graph->links[1].loss_ppt, UNITS_PPT / 100);
    assert_int_equal(graph->links[2].rate_bps, INT64_C(400000000000));
    assert_int_equal(graph->links[3].rate_bps, INT64_C(100000000000));
    assert_int_equal(graph->links[3].delay_ps, 3000);
    assert_int_equal(graph->links[2].tier, 2);
    assert_int_equal(graph->nodes[3].latency_ps, 5000);
    built_clear(&built);
}

/* SimAI's header; a dual-ToR server on two planes that no switch joins. */
#define SIMAI                                                                                      \
    "7 2 1 4 8 H100\n2 3 4 5 6\n0 2 2880Gbps 0.000025ms 0\n0 3 200Gbps 0.0005ms 0\n"               \
    "0 4 200Gbps 0.0005ms 0\n1 2 2880Gbps 0.000025ms 0\n1 3 200Gbps 0.0005ms 0\n"                  \
    "1 4 200Gbps 0.0005ms 0\n3 5 400Gbps 1us 0\n4 6 400Gbps 1us 0\n"

static void planes_are_seen_and_nvlink_left_out(void **state)
{
    struct built built;

    (void)state;
    build_text(&built, "ns3", SIMAI, "");
    assert_null(built.error);
    assert_int_equal(built.graph.n_hosts, 2);
    assert_int_equal(built.graph.n_nodes, 6);
    assert_int_equal(built.graph.n_links, 6);
    assert_int_equal(built.graph.n_planes, 2);
    assert_int_equal(built.graph.links[1].plane, 1);
    assert_int_equal(built.graph.nodes[3].plane, 1);
    assert_true(has_note(&built, "1 NVSwitches and their 2 links are left out"));
    assert_true(has_note(&built, "2 H100 GPUs, 2 a server"));
    built_clear(&built);

    build_text(&built, "ns3", SIMAI, "scale_up=on");
    assert_null(built.error);
    assert_int_equal(built.graph.n_links, 8);
    assert_int_equal(built.graph.n_planes, 3);
    assert_int_equal(built.graph.links[6].rate_bps, INT64_C(2880000000000)); /* the last ports */
    assert_int_equal(built.graph.links[6].plane, 2);
    assert_int_equal(built.graph.links[6].reach, GRAPH_SCALE_UP);
    built_clear(&built);
}

static void headers_of_powertcp_and_counts(void **state)
{
    struct built built;

    (void)state;
    build_text(&built, "ns3", "3 1 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", "");
    assert_null(built.error);
    assert_int_equal(built.graph.n_hosts, 2);
    built_clear(&built);
    build_text(&built, "ns3", "3 1 1\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", "");
    assert_int_equal(built.graph.n_links, 1);
    assert_true(has_note(&built, "more links than are declared"));
    built_clear(&built);
    build_text(&built, "ns3", "3 1 9\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", "count=all");
    assert_int_equal(built.graph.n_links, 2);
    built_clear(&built);
}

static void wrong_topologies_name_their_line(void **state)
{
    (void)state;
    build_refused("ns3", "", "0 words in the first line");
    build_refused("ns3", "3 1\n2\n", "2 words in the first line");
    build_refused("ns3", "1 2 3 4 5 6 7\n", "7 words in the first line");
    build_refused("ns3", "9999999999 1 1\n", "'9999999999' in the first line: a number of nodes");
    build_refused("ns3", "3 4 1\n", "'4' in the first line: a number of switches");
    build_refused("ns3", "2 2 0\n0 1\n", ":1: all 2 nodes are switches");
    build_refused("ns3", "3 2 0\n2 2\n", ":2: switch 2 is named twice");
    build_refused("ns3", "3 1 1\n3\n", ":2: '3': the id of a switch");
    build_refused("ns3", "3 1 1\n2\n0 2 1Gbps\n", "the file ends where the delay");
    build_refused("ns3", "3 1 1\n2\n0 2 fast 1us 0\n", ":3: the rate 'fast'");
    build_refused("ns3", "3 1 1\n2\n0 2 0Gbps 1us 0\n", ":3: the rate '0Gbps': out of range");
    build_refused("ns3", "3 1 1\n2\n0 2 1Gbps 1us 1.5\n", "an error rate above 1");
    build_refused("ns3", "3 1 1\n2\n2 2 1Gbps 1us 0\n", ":3: both ends are node 2");
    build_refused("ns3", "3 1 2\n2\n0 2 1Gbps 1us 0\n",
                  ":3: 2 links are declared, the file holds 1");
}

static void a_link_that_goes_down_is_a_fault(void **state)
{
    struct built built;
    const struct fault *fault;
    g_autofree char *text = NULL;

    (void)state;
    build_text(&built, "ns3", "3 1 2\n0\n0 1 1Gbps 1us 0\n0 2 1Gbps 1us 0\n", "");
    assert_int_equal(built.build.faults.faults->len, 0);
    built_clear(&built);
    g_autofree char *path = write_file("3 1 2\n0\n0 1 1Gbps 1us 0\n0 2 1Gbps 1us 0\n", 40);
    const struct topology_ops *ops = topology_find("ns3");
    void *config = g_malloc0(ops->config_size);

    param_defaults(ops->params, config);
    assert_true(param_set(param_find(ops->params, "file"), config, path, NULL));
    assert_true(param_set(param_find(ops->params, "link_down"), config, "2.1s 0 2", NULL));
    build_init(&built.build, 1, 0);
    graph_init(&built.graph);
    assert_true(ops->build(config, &built.build, &built.graph, NULL));
    fault = fault_at(&built.build.faults, 0);
    text = fault_describe(fault);
    assert_string_equal(text, "link:2-1 down at 2.1s");
    assert_true(param_set(param_find(ops->params, "link_down"), config, "2.1s 0 9", NULL));
    graph_clear(&built.graph);
    graph_init(&built.graph);
    assert_false(ops->build(config, &built.build, &built.graph, &built.error));
    assert_non_null(strstr(built.error->message, "link_down = 2.1s 0 9"));
    param_clear(ops->params, config);
    g_free(config);
    g_unlink(path);
    built_clear(&built);
}

/* --- flows ------------------------------------------------------------------------------------ */

struct flows {
    struct schedule schedule;
    struct build build;
    GError *error;
};

static void flows_on(struct flows *flows, const struct graph *graph, const char *text,
                     const char *key, const char *value)
{
    const struct workload_ops *ops = workload_find("ns3");
    g_autofree char *path = write_file(text, strlen(text));
    void *config = g_malloc0(ops->config_size);

    *flows = (struct flows){.error = NULL};
    param_defaults(ops->params, config);
    assert_true(param_set(param_find(ops->params, "file"), config, path, NULL));
    if (key)
        assert_true(param_set(param_find(ops->params, key), config, value, NULL));
    build_init(&flows->build, 1, INT64_C(10000000000000));
    ops->build(config, graph, &flows->build, &flows->schedule, &flows->error);
    param_clear(ops->params, config);
    g_free(config);
    g_unlink(path);
}

static void flows_clear(struct flows *flows)
{
    if (!flows->error)
        schedule_clear(&flows->schedule);
    build_clear(&flows->build);
    g_clear_error(&flows->error);
}

static void flows_refused(const struct graph *graph, const char *text, const char *part)
{
    struct flows flows;

    flows_on(&flows, graph, text, NULL, NULL);
    if (!flows.error || !strstr(flows.error->message, part))
        fail_msg("'%s' is not in the error '%s' of: %s", part,
                 flows.error ? flows.error->message : "(none)", text);
    flows_clear(&flows);
}

static void flows_name_the_topologys_nodes(void **state)
{
    struct built built;
    struct flows flows;
    struct schedule_op op;

    (void)state;
    build_text(&built, "ns3", "3 1 2\n0\n0 1 1Gbps 1us 0\n0 2 1Gbps 1us 0\n", "");
    flows_on(&flows, &built.graph, "2\n2 1 3 100 5000000000 2.5\n1 2 3 100 7 0.000001\nwords\n",
             NULL, NULL);
    assert_null(flows.error);
    schedule_op(&flows.schedule, 0, &op);
    assert_true(op.rank == 1 && op.peer == 0 && op.bytes == INT64_C(5000000000));
    assert_int_equal(op.start_ps, INT64_C(2500000000000));
    schedule_op(&flows.schedule, 1, &op);
    assert_int_equal(op.start_ps, 1000000);
    flows_clear(&flows);
    flows_on(&flows, &built.graph, "1\n2 1 3 100 7 0\n", "size_unit", "1000B");
    schedule_op(&flows.schedule, 0, &op);
    assert_int_equal(op.bytes, 7000);
    flows_clear(&flows);
    flows_on(&flows, &built.graph, "1\n2 1 3 100 7 0\n1 2 3 100 7 0\n", "count", "declared");
    assert_int_equal(flows.schedule.n_ops, 1);
    flows_clear(&flows);
    flows_on(&flows, &built.graph, "9\n2 1 3 100 7 0\n1 2 3 100 7 0\n", "count", "all");
    assert_int_equal(flows.schedule.n_ops, 2);
    flows_clear(&flows);
    flows_refused(&built.graph, "1\n1 0 3 100 7 0\n", ":2: node 0 is a switch");
    flows_refused(&built.graph, "1\n1 3 3 100 7 0\n", ":2: node '3' does not exist");
    flows_refused(&built.graph, "1\n1 1 3 100 7 0\n", ":2: a flow to its own node");
    flows_refused(&built.graph, "1\n1 2 3 100 0 0\n", ":2: '0': a size");
    flows_refused(&built.graph, "1\n1 2 3 100 7 -1\n", ":2: start '-1'");
    flows_refused(&built.graph, "1\n1 2 3 100\n", "the file ends where a size");
    flows_refused(&built.graph, "2\n1 2 3 100 7 0\n", ":1: 2 flows are declared, the file holds 1");
    flows_refused(&built.graph, "0\n", "no flow");
    built_clear(&built);
}

/* --- configurations --------------------------------------------------------------------------- */

static const char *setting_of(const struct settings *settings, const char *group, const char *key)
{
    const char *value = NULL;

    for (guint i = 0; i < settings->list->len; i++) {
        const struct setting *setting = g_ptr_array_index(settings->list, i);

        if (strcmp(setting->group, group) == 0 && strcmp(setting->key, key) == 0)
            value = setting->value;
    }
    return value;
}

static gboolean read_settings(struct settings *settings, const char *text, GError **error)
{
    g_autofree char *path = write_file(text, strlen(text));
    gboolean ok = settings_ns3_read(settings, path, error);

    g_unlink(path);
    return ok;
}

#define MAPS                                                                                       \
    "KMIN_MAP 2 25000000000 100 100000000000 400 {prose}\n"                                        \
    "KMAX_MAP 2 100000000000 1600 25000000000 400\nPMAX_MAP 2 25000000000 0.2 100000000000 0.1\n"

static void keys_become_settings(void **state)
{
    struct settings settings;

    (void)state;
    assert_true(read_settings(&settings,
                              "# words\n" MAPS "CC_MODE 1\nRP_TIMER 900 {x}\nRATE_AI 50Mb/s\n"
                              "EWMA_GAIN 0.00390625\nHAS_WIN 0\nBUFFER_SIZE 32\nLINK_DOWN 100 0 3\n"
                              "SIMULATOR_STOP_TIME 4.00\nACK_HIGH_PRIO 1\nENABLE_TRACE 1\n",
                              NULL));
    assert_string_equal(setting_of(&settings, "queue", "ecn_map"),
                        "25Gbps 100KB 400KB 0.2; 100Gbps 400KB 1600KB 0.1");
    assert_string_equal(setting_of(&settings, "transport", "cc"), "dcqcn");
    assert_string_equal(setting_of(&settings, "transport", "dcqcn_increase_timer"), "900us");
    assert_string_equal(setting_of(&settings, "transport", "dcqcn_ai"), "50Mb/s");
    assert_string_equal(setting_of(&settings, "transport", "window"), "0B");
    assert_string_equal(setting_of(&settings, "buffer", "size"), "32MiB");
    assert_string_equal(setting_of(&settings, "topology", "link_down"), "2000.1ms 0 3");
    assert_string_equal(setting_of(&settings, "run", "end"), "4.00s");
    assert_string_equal(setting_of(&settings, "pfc", "enable"), "on");
    assert_string_equal(setting_of(&settings, "queue", "priorities"), "0,1,1");
    settings_clear(&settings);
    assert_true(read_settings(&settings, MAPS "ENABLE_QCN 0\nENABLE_PFC 0\n", NULL));
    assert_string_equal(setting_of(&settings, "queue", "kind"), "droptail");
    assert_string_equal(setting_of(&settings, "pfc", "enable"), "off");
    settings_clear(&settings);
}

static void settings_refused(const char *text, const char *part)
{
    struct settings settings;
    GError *error = NULL;

    if (read_settings(&settings, text, &error) || !strstr(error->message, part))
        fail_msg("'%s' is not in the error '%s' of: %s", part, error ? error->message : "(none)",
                 text);
    g_clear_error(&error);
    settings_clear(&settings);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    settings_refused("CC_MODE 1\nCC_MOOD 1\n",
                     ":2: unknown key 'CC_MOOD'; did you mean 'CC_MODE'?");
    settings_refused("CC_MODE\n", ":1: CC_MODE without a value");
    settings_refused("CC_MODE one\n", ":1: CC_MODE one: a whole number");
    settings_refused("ENABLE_QCN 2\n", "ENABLE_QCN 2: a whole number from 0 to 1");
    settings_refused("KMIN_MAP 2 25000000000 100\n", "KMIN_MAP without a value");
    settings_refused("KMIN_MAP 100 1 1\n", "a whole number from 0 to 64");
    settings_refused("KMIN_MAP 1 25000000000 100\nKMAX_MAP 1 25000000000 400\n",
                     "PMAX_MAP has no entry for 25Gbps");
    settings_refused("LINK_DOWN 1 2\n", "LINK_DOWN without a value");
}

/* --- NCCL ------------------------------------------------------------------------------------- */

#define GPU    "<pci class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\"/>"
#define NIC    "<pci class=\"0x020700\" link_speed=\"16 GT/s\" link_width=\"16\"/>"
#define BRIDGE "<pci class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">"

static void servers_of_nccl(void **state)
{
    struct built built;

    (void)state;
    /* two GPUs, four NICs near them: two ports each, PCIe of 252,061 Mb/s for both of a GPU */
    build_text(&built, "nccl",
               "<system><cpu>" BRIDGE GPU NIC GPU NIC NIC NIC "</pci></cpu></system>", "servers=3");
    assert_null(built.error);
    assert_int_equal(built.graph.n_hosts, 6);
    assert_int_equal(built.graph.n_planes, 2);
    assert_int_equal(built.graph.links[0].rate_bps, INT64_C(252061000000) / 2);
    built_clear(&built);
    /* four GPUs, one NIC of 100 Gb/s elsewhere: a quarter each */
    build_text(&built, "nccl",
               "<system><cpu>" GPU GPU "</cpu><cpu>" GPU GPU
               "<nic><net speed=\"100000\"/></nic></cpu></system>",
               "");
    assert_null(built.error);
    assert_int_equal(built.graph.n_hosts, 8);
    assert_int_equal(built.graph.links[0].rate_bps, INT64_C(25000000000));
    built_clear(&built);
    /* a dump: the device is named by what is in it */
    build_text(
        &built, "nccl",
        "<system><cpu>" BRIDGE "<pci link_speed=\"32 GT/s\" link_width=\"16\"><gpu dev=\"0\"/>"
        "</pci><pci link_speed=\"32 GT/s\" link_width=\"16\"><nic><net speed=\"400000\"/></nic>"
        "</pci></pci></cpu></system>",
        "servers=2");
    assert_null(built.error);
    assert_int_equal(built.graph.n_hosts, 2);
    assert_int_equal(built.graph.links[0].rate_bps, INT64_C(400000000000));
    built_clear(&built);
    build_text(&built, "nccl", "<system><cpu>" BRIDGE GPU NIC "</pci></cpu></system>",
               "nic_rate=200Gbps");
    assert_int_equal(built.graph.links[0].rate_bps, INT64_C(200000000000));
    built_clear(&built);
    build_refused("nccl", "<system><cpu>" GPU "</cpu></system>", "no NIC");
    build_refused("nccl", "<platform/>", "no <system>");
    build_refused("nccl", "<system><cpu>", "a topology of NCCL is expected");
    build_refused("nccl", "<system><cpu><pci class=\"0x02\"/></cpu></system>",
                  "nic_rate is expected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_and_switches_keep_their_ids),
        cmocka_unit_test(planes_are_seen_and_nvlink_left_out),
        cmocka_unit_test(headers_of_powertcp_and_counts),
        cmocka_unit_test(wrong_topologies_name_their_line),
        cmocka_unit_test(a_link_that_goes_down_is_a_fault),
        cmocka_unit_test(flows_name_the_topologys_nodes),
        cmocka_unit_test(keys_become_settings),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(servers_of_nccl),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
