/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of topologies/htsim.c. The published .topo files are looked for in
 * $WEFT_INPUTS/htsim_topo (by default ../shared/inputs); where they are absent, files of our own
 * with the same numbers stand in for them, and a line says so.
 */
#include "tests/unit/test_topology_common.h"

#include "sim/core/random.h"
#include <stdio.h>

#define GBPS INT64_C(1000000000)
#define NS   1000

static void build_text(struct built *built, const char *text, size_t length, const char *settings)
{
    g_autofree char *path = write_file(text, length);
    g_autofree char *all = g_strconcat("file=", path, " ", settings, NULL);

    build_kind(built, "htsim", all);
    g_unlink(path);
}

/* --- published files -------------------------------------------------------------------------- */

struct published {
    const char *name;
    uint32_t n_hosts, n_tiers, podsize;
    int64_t speed_gbps, latency_ns;
    uint32_t down[3], up[2]; /* ports of a switch, tier by tier */
    int said[2];             /* Oversubscribed; 0: not there */
    uint32_t n_tors, n_aggs, n_cores;
    double ratio[2];  /* oversubscription of the wiring */
    uint64_t n_paths; /* between the first and the last host */
};

static const struct published published[] = {
    {"csg_fat_tree_1024",
     1024,
     3,
     64,
     100,
     1000,
     {8, 8, 16},
     {8, 8},
     {1, 1},
     128,
     128,
     64,
     {1, 1},
     64},
    {"csg_leaf_spine_tiny", 32, 2, 32, 100, 1000, {8, 4}, {2}, {4}, 4, 2, 0, {4, 0}, 2},
    {"simllm_clos_64_400g", 64, 2, 64, 400, 1000, {8, 8}, {8}, {0}, 8, 8, 0, {1, 0}, 8},
    {"uet_fat_tree_1024_1os",
     1024,
     3,
     64,
     200,
     1000,
     {8, 8, 16},
     {8, 8},
     {1, 1},
     128,
     128,
     64,
     {1, 1},
     64},
    {"uet_fat_tree_128_1os",
     128,
     3,
     16,
     100,
     1000,
     {4, 4, 8},
     {4, 4},
     {1, 1},
     32,
     32,
     16,
     {1, 1},
     16},
    {"uet_fat_tree_128_4os",
     128,
     3,
     16,
     100,
     1000,
     {4, 4, 8},
     {4, 1},
     {1, 4},
     32,
     32,
     4,
     {1, 4},
     4},
    {"uet_fat_tree_8192_1os",
     8192,
     3,
     256,
     100,
     1000,
     {16, 16, 32},
     {16, 16},
     {1, 1},
     512,
     512,
     256,
     {1, 1},
     256},
    {"uet_fat_tree_8192_8os",
     8192,
     3,
     256,
     100,
     1000,
     {16, 16, 32},
     {4, 8},
     {4, 2},
     512,
     128,
     32,
     {4, 2},
     32},
    {"uet_leaf_spine_1024", 1024, 2, 1024, 100, 1000, {32, 32}, {32}, {0}, 32, 32, 0, {1, 0}, 32},
    {"uet_leaf_spine_1024_oversub",
     1024,
     2,
     1024,
     100,
     1000,
     {32, 32},
     {8},
     {4},
     32,
     8,
     0,
     {4, 0},
     8},
    {"uet_leaf_spine_1024_oversub_8-1",
     1024,
     2,
     1024,
     100,
     1000,
     {32, 32},
     {4},
     {8},
     32,
     4,
     0,
     {8, 0},
     4},
    {"uet_leaf_spine_8192_400g",
     8192,
     2,
     8192,
     400,
     1000,
     {64, 128},
     {64},
     {1},
     128,
     64,
     0,
     {1, 0},
     64},
    {"uet_leaf_spine_8192_400g_4_to_1",
     8192,
     2,
     8192,
     400,
     1000,
     {64, 128},
     {16},
     {4},
     128,
     16,
     0,
     {4, 0},
     16},
    {"uet_leaf_spine_8192_800g",
     8192,
     2,
     8192,
     800,
     1000,
     {64, 128},
     {64},
     {1},
     128,
     64,
     0,
     {1, 0},
     64},
    {"uno_fat_tree_100Gbps",
     128,
     3,
     16,
     100,
     1000,
     {4, 4, 8},
     {4, 4},
     {1, 1},
     32,
     32,
     16,
     {1, 1},
     16},
    {"uno_fat_tree_100Gbps_os",
     128,
     3,
     16,
     100,
     1000,
     {4, 4, 8},
     {1, 1},
     {4, 4},
     32,
     8,
     1,
     {4, 4},
     1},
    {"uno_fat_tree_1Gbps", 128, 3, 16, 1, 10000, {4, 4, 8}, {4, 4}, {1, 1}, 32, 32, 16, {1, 1}, 16},
};

static void write_tier(GString *text, const struct published *file, uint32_t tier)
{
    g_string_append_printf(text,
                           "\nTier %u\nDownlink_speed_Gbps %d\nRadix_Down %u\n"
                           "Downlink_Latency_ns %d\nSwitch_Latency_ns 0\n",
                           tier, (int)file->speed_gbps, file->down[tier], (int)file->latency_ns);
    if (tier + 1 < file->n_tiers)
        g_string_append_printf(text, "Radix_Up %u\n", file->up[tier]);
    if (tier + 1 < file->n_tiers && file->said[tier])
        g_string_append_printf(text, "Oversubscribed %d\n", file->said[tier]);
}

/* A file with the same numbers; g_free. */
static char *equivalent(const struct published *file)
{
    GString *text = g_string_new(NULL);

    g_string_append_printf(text, "Nodes %u\nTiers %u\nPodsize %u\n", file->n_hosts, file->n_tiers,
                           file->podsize);
    for (uint32_t tier = 0; tier < file->n_tiers; tier++)
        write_tier(text, file, tier);
    return g_string_free(text, FALSE);
}

static void check_published(const struct published *file, const struct built *built)
{
    const struct graph *graph = &built->graph;
    uint32_t n_uplinks = file->n_tors * file->up[0] + file->n_aggs * file->up[1];
    uint32_t pod = file->n_tiers == 3 ? file->podsize : file->n_hosts;
    struct paths near, far;

    assert_int_equal(graph->n_hosts, file->n_hosts);
    assert_int_equal(graph->n_planes, 1);
    assert_int_equal(count_tier(graph, 1), file->n_tors);
    assert_int_equal(count_tier(graph, 2), file->n_aggs);
    assert_int_equal(count_tier(graph, 3), file->n_cores);
    assert_int_equal(graph->n_links, file->n_hosts + n_uplinks);
    assert_int_equal(built->facts.n_components, 1);
    assert_int_equal(built->facts.n_unused_switches, 0);
    assert_true(built->facts.oversubscription[1] == file->ratio[0]);
    assert_true(built->facts.oversubscription[2] == file->ratio[1]);
    assert_false(has_note(built, "but the counts"));
    for (uint32_t l = 0; l < graph->n_links; l++) {
        assert_int_equal(graph->links[l].rate_bps, file->speed_gbps * GBPS);
        assert_int_equal(graph->links[l].delay_ps, file->latency_ns * NS);
    }
    near = count_paths(graph, 0, pod - 1, 0);
    assert_int_equal(near.length, 4);
    assert_int_equal(near.n, file->up[0]);
    far = count_paths(graph, 0, file->n_hosts - 1, 0);
    assert_int_equal(far.length, 2 * file->n_tiers);
    assert_int_equal(far.n, file->n_paths);
}

static void published_files_are_what_they_say(void **state)
{
    const char *inputs = g_getenv("WEFT_INPUTS") ? g_getenv("WEFT_INPUTS") : "../shared/inputs";
    bool absent = false;

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(published); i++) {
        g_autofree char *text = equivalent(&published[i]);
        g_autofree char *path = g_strdup_printf("%s/htsim_topo/%s.topo", inputs, published[i].name);
        g_autofree char *settings = g_strconcat("file=", path, NULL);
        struct built built;

        build_text(&built, text, strlen(text), "");
        if (built.error)
            fail_msg("%s", built.error->message);
        check_published(&published[i], &built);
        built_clear(&built);
        if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
            absent = true;
            continue;
        }
        build_good(&built, "htsim", settings);
        check_published(&published[i], &built);
        built_clear(&built);
    }
    if (absent)
        printf("# SKIP inputs absent, own equivalents used\n");
}

/* --- grammar ---------------------------------------------------------------------------------- */

#define HEADER3 "Nodes 16\nTiers 3\nPodsize 4\n"

#define TOR "Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 10\n"
#define AGG "Tier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 20\n"

#define CORE  "Tier 2\nDownlink_speed_Gbps 400\nRadix_Down 4\nDownlink_Latency_ns 30\n"
#define THREE HEADER3 TOR AGG CORE

#define HEADER2 "Nodes 16\nTiers 2\nPodsize 16\n"
#define SPINE   "Tier 1\nDownlink_speed_Gbps 200\nRadix_Down 8\nDownlink_Latency_ns 20\n"
#define TWO     HEADER2 TOR SPINE

static bool same_link(const struct graph_link *a, const struct graph_link *b)
{
    return a->a == b->a && a->b == b->b && a->rate_bps == b->rate_bps &&
           a->delay_ps == b->delay_ps && a->tier == b->tier && a->plane == b->plane &&
           a->queue_bytes_a == b->queue_bytes_a && a->queue_bytes_b == b->queue_bytes_b;
}

static bool same_graph(const struct graph *a, const struct graph *b)
{
    bool same = a->n_hosts == b->n_hosts && a->n_nodes == b->n_nodes && a->n_links == b->n_links;

    for (uint32_t l = 0; same && l < a->n_links; l++)
        same = same_link(&a->links[l], &b->links[l]);
    return same;
}

static void spelling_does_not_matter(void **state)
{
    static const char *const spellings[] = {
        "\xef\xbb\xbf" TWO,
        "# a comment\n\n#Nodes 99\n" TWO "\n\n",
        "nodes 16\nTIERS 2\nPodSize 16\ntier 0\ndownlink_SPEED_gbps 100\nradix_down 2\nRADIX_UP 2\n"
        "downlink_latency_ns 10\n" SPINE,
        "  Nodes\t16\nTiers  2\nPodsize \t 16  \n" TOR SPINE,
        "Nodes 16\r\nTiers 2\r\nPodsize 16\r\n\r\n" TOR SPINE "\r\n",
        HEADER2 TOR "Tier 1\nDownlink_Latency_ns 20\nRadix_Down 8\nDownlink_speed_Gbps 200",
        HEADER2 SPINE TOR,
        HEADER2 SPINE "Tier 0 # ToR\nDownlink_speed_Gbps 100\n#\nRadix_Down 2\nRadix_Up 2\n"
                      "Downlink_Latency_ns 10 \t",
        HEADER2 TOR "Switch_Latency_ns 0\nBundle 1 # one\n" SPINE,
    };
    struct built plain;

    (void)state;
    build_text(&plain, TWO, strlen(TWO), "");
    assert_null(plain.error);
    for (size_t i = 0; i < G_N_ELEMENTS(spellings); i++) {
        struct built built;

        build_text(&built, spellings[i], strlen(spellings[i]), "");
        if (built.error)
            fail_msg("spelling %d: %s", (int)i, built.error->message);
        assert_true(same_graph(&plain.graph, &built.graph));
        built_clear(&built);
    }
    built_clear(&plain);
}

static void values_reach_their_links(void **state)
{
    static const int64_t rates_bps[] = {100 * GBPS, 200 * GBPS, 400 * GBPS};
    static const int64_t delays_ps[] = {10 * NS, 20 * NS, 30 * NS};
    static const int64_t up_bytes[] = {0, 1000, 3000}, down_bytes[] = {2000, 4000, 5000};
    static const int64_t latencies_ps[] = {0, 500 * NS, 600 * NS};
    struct built built;
    const char *text = HEADER3 TOR "Queue_Up 1000\nQueue_Down 2000\n" AGG
                                   "Queue_Up 3000\nQueue_Down 4000\nSwitch_Latency_ns 500\n" CORE
                                   "Queue_Down 5000\nSwitch_Latency_ns 600\n";

    (void)state;
    build_text(&built, text, strlen(text), "");
    assert_null(built.error);
    for (uint32_t l = 0; l < built.graph.n_links; l++) {
        const struct graph_link *link = &built.graph.links[l];
        int below = link->tier - 1;

        assert_int_equal(built.graph.nodes[link->a].tier, below);
        assert_int_equal(built.graph.nodes[link->b].tier, below + 1);
        assert_int_equal(link->rate_bps, rates_bps[below]);
        assert_int_equal(link->delay_ps, delays_ps[below]);
        assert_int_equal(link->queue_bytes_a, up_bytes[below]);
        assert_int_equal(link->queue_bytes_b, down_bytes[below]);
    }
    for (uint32_t node = 16; node < built.graph.n_nodes; node++)
        assert_int_equal(built.graph.nodes[node].latency_ps,
                         latencies_ps[built.graph.nodes[node].tier - 1]);
    built_clear(&built);
}

/* Position a of each pod reaches the cores a, a + A, a + 2A ...; A aggregation switches a pod. */
static void cores_are_shared_by_position(void **state)
{
    struct built built;
    const uint32_t n_aggs = 2, aggs = 16 + 8, cores = aggs + 8;

    (void)state;
    build_text(&built, THREE, strlen(THREE), "");
    assert_null(built.error);
    assert_int_equal(built.graph.n_nodes, cores + 4);
    for (uint32_t agg = 0; agg < 8; agg++)
        for (uint32_t core = 0; core < 4; core++)
            assert_int_equal(count_links(&built.graph, aggs + agg, cores + core),
                             core % n_aggs == agg % n_aggs);
    for (uint32_t tor = 0; tor < 8; tor++)
        for (uint32_t agg = 0; agg < 8; agg++)
            assert_int_equal(count_links(&built.graph, 16 + tor, aggs + agg), tor / 2 == agg / 2);
    for (uint32_t host = 0; host < 16; host++)
        assert_int_equal(count_links(&built.graph, host, 16 + host / 2), 1);
    built_clear(&built);
}

static void bundles_are_parallel_links(void **state)
{
    const char *text =
        "Nodes 16\nTiers 3\nPodsize 8\n"
        "Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 10\n"
        "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 6\nDownlink_Latency_ns 10\n"
        "Bundle 2\n"
        "Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 6\nDownlink_Latency_ns 10\nBundle 3\n";
    struct built built;

    (void)state;
    build_text(&built, text, strlen(text), "");
    assert_null(built.error);
    assert_int_equal(count_tier(&built.graph, 1), 4);
    assert_int_equal(count_tier(&built.graph, 2), 4);
    assert_int_equal(count_tier(&built.graph, 3), 4);
    assert_int_equal(count_links(&built.graph, 16, 20), 2);
    assert_int_equal(count_links(&built.graph, 20, 24), 3);
    assert_int_equal(count_paths(&built.graph, 0, 7, 0).n, 2 * 2 * 2);
    assert_int_equal(count_paths(&built.graph, 0, 15, 0).n, (2 * 2) * (2 * 3) * (3 * 2));
    assert_true(built.facts.oversubscription[2] == 4.0 / 6);
    built_clear(&built);
}

static void planes_repeat_the_fabric(void **state)
{
    struct built built;

    (void)state;
    build_text(&built, TWO, strlen(TWO), "planes=3");
    assert_null(built.error);
    assert_int_equal(built.graph.n_planes, 3);
    assert_int_equal(built.graph.n_nodes, 16 + 3 * (8 + 2));
    assert_int_equal(built.facts.host_rate_bps_min, 300 * GBPS);
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(built.graph.links[graph_port(&built.graph, 9, k) / 2].plane, k);
    built_clear(&built);
}

/* What the file says cannot be set beside it: the keys do not exist, so setting them is an error.
 */
static void keys_of_the_file_cannot_be_set(void **state)
{
    const struct topology_ops *ops = topology_find("htsim");

    (void)state;
    assert_null(param_find(ops->params, "hosts"));
    assert_null(param_find(ops->params, "link_rate"));
    assert_null(param_find(ops->params, "link_delay"));
    assert_null(param_find(ops->params, "switch_latency"));
}

static void disagreement_is_noted(void **state)
{
    static const char *const texts[] = {HEADER2 TOR "Oversubscribed 4\n" SPINE,
                                        HEADER2 TOR SPINE "Oversubscribed 1\n", TWO CORE,
                                        HEADER2 TOR "Oversubscribed 1\n" SPINE};
    static const char *const notes[] = {
        ":9: Oversubscribed 4 in Tier 0, but the counts of ports give 1:2",
        ":13: Oversubscribed in Tier 1 is ignored", ":13: Tier 2 is ignored: Tiers is 2",
        ":9: Oversubscribed 1 in Tier 0, but the counts of ports give 1:2"};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        struct built built;

        build_text(&built, texts[i], strlen(texts[i]), "");
        assert_null(built.error);
        assert_true(has_note(&built, notes[i]));
        assert_true(has_note(&built, "oversubscription 1:2")); /* 2 x 100 over 2 x 200 */
        assert_true(built.facts.oversubscription[1] == 0.5);
        built_clear(&built);
    }
}

static void faults_name_file_and_line(void **state)
{
    static const char *const cases[][2] = {
        {"", "no Nodes"},
        {"Nodes 16\nTiers 2\n" TOR SPINE, "no Podsize"},
        {"Nodes 16\nPodsize 16\n" TOR SPINE, "no Tiers"},
        {HEADER2 TOR, "no 'Tier 1'|Tiers 2"},
        {HEADER3 TOR SPINE, "Tier 1 has no Radix_Up|:9:"},
        {HEADER3 TOR AGG, "no 'Tier 2'"},
        {"Nodes 0\n", ":1: Nodes 0: out of range; 1 to 1048576"},
        {"Nodes -5\n", ":1: Nodes -5: out of range"},
        {"Nodes 1048577\n", ":1: Nodes 1048577: out of range"},
        {"Nodes 99999999999999999999999\n", ":1: Nodes|out of range"},
        {"Nodes 16.5\n", ":1: Nodes '16.5': a whole number"},
        {"Nodes 16 17\n", ":1: Nodes '16 17': a whole number"},
        {"Nodes sixteen\n", ":1: Nodes 'sixteen'"},
        {"\n\nNodes\n", ":3: Nodes has no value"},
        {"Tiers 4\n", ":1: Tiers 4: out of range; 2 to 3"},
        {"Nodes 16\nNodes 16\n", ":2: Nodes is given twice; first in line 1"},
        {"Node 16\n", ":1: unknown key 'Node', is 'Nodes' meant?"},
        {"Zzzzzzzzzzzzzz 16\n", ":1: unknown key 'Zzzzzzzzzzzzzz'; keys are Nodes"},
        {"Radix_Up 4\n", ":1: Radix_Up belongs to a tier"},
        {HEADER2 "Tier 3\n", ":4: Tier 3: out of range; 0 to 2"},
        {HEADER2 TOR "Nodes 16\n", ":9: Nodes belongs in front of the first Tier"},
        {HEADER2 TOR "Radix_Up 2\n" SPINE,
         ":9: Radix_Up is given twice for one tier; first in line 7"},
        {HEADER2 TOR "Switch_Latency_ns 0\nSWITCH_LATENCY_NS 0\n" SPINE,
         ":10: Switch_Latency_ns is given twice"},
        {HEADER2 TOR "Tier 0\n" SPINE, ":9: Tier is given twice"},
        {HEADER2 TOR "Radix_Dwn 2\n", ":9: unknown key 'Radix_Dwn', is 'Radix_Down' meant?"},
        {HEADER2 "Tier 0\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1\n" SPINE,
         ":4: Tier 0 has no Downlink_speed_Gbps"},
        {HEADER2 "Tier 0\nDownlink_speed_Gbps 1\nRadix_Up 2\nDownlink_Latency_ns 1\n" SPINE,
         ":4: Tier 0 has no Radix_Down"},
        {HEADER2 "Tier 0\nDownlink_speed_Gbps 1\nRadix_Up 2\nRadix_Down 2\n" SPINE,
         ":4: Tier 0 has no Downlink_Latency_ns"},
        {TWO "Radix_Up 2\n", ":13: Radix_Up in Tier 1: nothing is above"},
        {TWO "Queue_Up 2\n", ":13: Queue_Up in Tier 1: nothing is above"},
        {HEADER2 TOR "Bundle 2\n" SPINE, ":9: Bundle 2 in Tier 0|1 is expected"},
        {"Nodes 16\nTiers 2\nPodsize 8\n" TOR SPINE, ":3: Podsize 8: two tiers|16"},
        {"Nodes 16\nTiers 3\nPodsize 5\n" TOR AGG CORE, ":3: Podsize 5: a divisor of Nodes 16"},
        {"Nodes 15\nTiers 3\nPodsize 5\n" TOR AGG CORE, ":6: Radix_Down 2 in Tier 0: a divisor"},
        {HEADER2 TOR "Tier 1\nDownlink_speed_Gbps 1\nRadix_Down 7\nDownlink_Latency_ns 1\n",
         ":11: Radix_Down 7 in Tier 1: 8 ToRs below with 1 link each need 8"},
        {HEADER2 TOR SPINE "Bundle 4\n", ":7: Radix_Up 2 in Tier 0: a multiple of Bundle 4"},
        {HEADER2 TOR SPINE "Bundle 2\n", ":11: Radix_Down 8 in Tier 1|2 links each need 16"},
        {"Nodes 12\nTiers 3\nPodsize 4\n" TOR AGG CORE,
         ":16: Radix_Down 4 in Tier 2: 3 pods below with 1 link each need 3"},
        {"Nodes 1048576\nTiers 2\nPodsize 1048576\nTier 0\nDownlink_speed_Gbps 1\nRadix_Down 16\n"
         "Radix_Up 65536\nDownlink_Latency_ns 1\nTier 1\nDownlink_speed_Gbps 1\nRadix_Down 65536\n"
         "Downlink_Latency_ns 1\n",
         "htsim|links in all|67108864"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = write_file(cases[i][0], strlen(cases[i][0]));
        g_autofree char *settings = g_strconcat("file=", path, NULL);
        g_autofree char *words = g_strconcat(path, "|", cases[i][1], NULL);

        build_bad("htsim", settings, strstr(words, "links in all") ? cases[i][1] : words);
        g_unlink(path);
    }
    build_bad("htsim", "", "file is not given|.topo");
    build_bad("htsim", "file=/nonexistent/a.topo", "/nonexistent/a.topo");
}

static void zero_bytes_are_refused(void **state)
{
    static const char text[] = "Nodes 16\n\0" TWO;
    struct built built;

    (void)state;
    build_text(&built, text, sizeof text - 1, "");
    assert_non_null(built.error);
    assert_non_null(strstr(built.error->message, "zero byte"));
    built_clear(&built);
}

/* --- mutations -------------------------------------------------------------------------------- */

/* Changes, removes, doubles or inserts: a byte, or (doubling) a stretch of up to 40. */
static void mutate(GString *text, struct random_stream *draws)
{
    static const char alphabet[] = "0123456789 \t\r\n#-_.TierRadxBundleNosQup\xff\0";
    gsize at = (gsize)random_below(draws, text->len);
    char byte = alphabet[random_below(draws, sizeof alphabet)];

    switch (random_below(draws, 4)) {
    case 0:
        text->str[at] = byte;
        break;
    case 1:
        g_string_erase(text, (gssize)at, 1);
        break;
    case 2: {
        gsize wanted = 1 + (gsize)random_below(draws, 40);
        gsize length = MIN(wanted, text->len - at);
        g_autofree char *copy = g_memdup2(text->str + at, length);

        g_string_insert_len(text, (gssize)random_below(draws, text->len + 1), copy, (gssize)length);
        break;
    }
    default:
        g_string_insert_len(text, (gssize)at, &byte, 1);
    }
}

/* Whatever the bytes, there is a graph or an error, and the error names the file. */
static void mutated_files_give_a_graph_or_an_error(void **state)
{
    struct random_stream draws = random_stream(1, RANDOM_WORKLOAD, 0);
    int n_good = 0;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        GString *text =
            g_string_new(i % 2 ? THREE : "# two tiers, named as in the README\n" TWO "\n\n");
        struct built built;

        for (uint64_t n = 1 + random_below(&draws, 3); n > 0; n--)
            mutate(text, &draws);
        build_text(&built, text->str, text->len, "");
        n_good += built.error == NULL;
        if (built.error)
            assert_true(strstr(built.error->message, "weft-topology-") ||
                        strstr(built.error->message, "links in all"));
        else
            assert_true(built.graph.n_hosts >= 1 && built.graph.n_links >= built.graph.n_hosts);
        built_clear(&built);
        g_string_free(text, TRUE);
    }
    assert_true(n_good > 20 && n_good < 1500); /* both sides are seen */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_files_are_what_they_say),
        cmocka_unit_test(spelling_does_not_matter),
        cmocka_unit_test(values_reach_their_links),
        cmocka_unit_test(cores_are_shared_by_position),
        cmocka_unit_test(bundles_are_parallel_links),
        cmocka_unit_test(planes_repeat_the_fabric),
        cmocka_unit_test(keys_of_the_file_cannot_be_set),
        cmocka_unit_test(disagreement_is_noted),
        cmocka_unit_test(faults_name_file_and_line),
        cmocka_unit_test(zero_bytes_are_refused),
        cmocka_unit_test(mutated_files_give_a_graph_or_an_error),
    };

    return cmocka_run_group_tests_name("topology_htsim", tests, NULL, NULL);
}
