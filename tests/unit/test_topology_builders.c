/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of topologies/: list, tiers, clos, star, line, dumbbell, graph_csv, ready fabrics. */
#include "tests/unit/test_topology_common.h"

#define GBPS INT64_C(1000000000)
#define NS   1000

/* --- list.c ----------------------------------------------------------------------------------- */

static void list_names_each_kind_once(void **state)
{
    static const char *const names[] = {"clos",  "star", "line", "dumbbell", "graph",
                                        "htsim", "ns3",  "nccl", "rack"};
    size_t n = 0;

    (void)state;
    for (; topology_list[n]; n++) {
        assert_ptr_equal(topology_find(topology_list[n]->name), topology_list[n]);
        assert_string_equal(topology_list[n]->name, names[n]);
        assert_non_null(topology_list[n]->summary);
        assert_non_null(topology_list[n]->source);
    }
    assert_int_equal(n, G_N_ELEMENTS(names));
    assert_null(topology_find("torus"));
}

static void tables_are_complete_and_defaults_valid(void **state)
{
    (void)state;
    for (int i = 0; topology_list[i]; i++) {
        const struct topology_ops *ops = topology_list[i];
        void *config = g_malloc0(ops->config_size);

        param_defaults(ops->params, config);
        for (const struct param *param = ops->params; param->name; param++) {
            assert_non_null(param->help);
            assert_non_null(param->source);
            assert_true(param->offset < ops->config_size);
        }
        param_clear(ops->params, config);
        g_free(config);
    }
}

/* --- clos.c: two tiers ------------------------------------------------------------------------ */

static void hosts_alone_give_a_leaf_spine(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "clos", "");
    assert_int_equal(built.graph.n_hosts, 64);
    assert_int_equal(built.graph.n_planes, 1);
    assert_int_equal(count_tier(&built.graph, 1), 8);
    assert_int_equal(count_tier(&built.graph, 2), 8);
    assert_int_equal(built.graph.n_links, 64 + 64);
    assert_int_equal(built.facts.n_tiers, 2);
    assert_int_equal(built.facts.n_components, 1);
    assert_int_equal(built.facts.n_unused_switches, 0);
    assert_true(built.facts.oversubscription[1] == 1);
    assert_int_equal(built.facts.host_rate_bps_min, 400 * GBPS);
    assert_int_equal(bisection(&built.graph, 400 * GBPS), 32);
    assert_true(has_note(&built, "8 x 400Gbps down, 8 x 400Gbps up, oversubscription 1:1"));
    built_clear(&built);
}

/* Every number of hosts, primes too: one part, no blocking, all pairs of leaves alike. */
static void any_number_of_hosts_is_non_blocking(void **state)
{
    (void)state;
    for (int n = 2; n <= 150; n++) {
        g_autofree char *settings = g_strdup_printf("hosts=%d", n);
        struct built built;

        build_good(&built, "clos", settings);
        assert_int_equal(built.graph.n_hosts, n);
        assert_int_equal(built.facts.n_components, 1);
        assert_int_equal(built.facts.n_unused_switches, 0);
        assert_true(built.facts.oversubscription[1] <= 1);
        assert_int_equal(bisection(&built.graph, 400 * GBPS), n / 2);
        built_clear(&built);
    }
}

static void all_pairs_have_equally_many_paths_of_four_links(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "clos", "hosts=40 planes=2 hosts_per_leaf=8 spines=4 spine_links=3");
    for (uint32_t a = 0; a < 40; a++)
        for (uint32_t b = 0; b < 40; b++)
            for (uint16_t plane = 0; a != b && plane < 2; plane++) {
                struct paths paths = count_paths(&built.graph, a, b, plane);

                assert_int_equal(paths.length, a / 8 == b / 8 ? 2 : 4);
                assert_int_equal(paths.n, a / 8 == b / 8 ? 1 : 4 * 3 * 3);
            }
    built_clear(&built);
}

static void port_k_of_a_host_is_in_plane_k(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "clos", "hosts=24 planes=8 link_rate=100Gbps");
    assert_int_equal(built.graph.n_planes, 8);
    assert_int_equal(built.facts.host_rate_bps_max, 800 * GBPS);
    for (uint32_t host = 0; host < 24; host++) {
        assert_int_equal(graph_n_ports(&built.graph, host), 8);
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t port = graph_port(&built.graph, host, k);

            assert_int_equal(built.graph.links[port / 2].plane, k);
            assert_int_equal(built.graph.links[port / 2].a, host);
            assert_int_equal(built.graph.nodes[graph_port_peer(&built.graph, port)].plane, k);
        }
    }
    built_clear(&built);
    build_good(&built, "clos", "hosts=24 planes=2 nics_per_plane=3");
    for (uint32_t host = 0; host < 24; host++) {
        assert_int_equal(graph_n_ports(&built.graph, host), 6);
        for (uint32_t k = 0; k < 6; k++)
            assert_int_equal(built.graph.links[graph_port(&built.graph, host, k) / 2].plane, k / 3);
    }
    assert_true(built.facts.oversubscription[1] == 1);
    assert_int_equal(bisection(&built.graph, 400 * GBPS), 12 * 6);
    built_clear(&built);
}

static void links_have_the_rates_and_delays_of_their_tier(void **state)
{
    static const int64_t rates_bps[] = {0, 100 * GBPS, 200 * GBPS, 400 * GBPS};
    static const int64_t delays_ps[] = {0, 10 * NS, 20 * NS, 40 * NS};
    struct built built;

    (void)state;
    build_good(&built, "clos",
               "hosts=64 tiers=3 hosts_per_leaf=4 pods=4 link_rate=100Gbps tier2_rate=200Gbps "
               "tier3_rate=400Gbps link_delay=10ns tier2_delay=20ns tier3_delay=40ns "
               "switch_latency=7ns");
    for (uint32_t l = 0; l < built.graph.n_links; l++) {
        const struct graph_link *link = &built.graph.links[l];

        assert_int_equal(link->rate_bps, rates_bps[link->tier]);
        assert_int_equal(link->delay_ps, delays_ps[link->tier]);
        assert_int_equal(built.graph.nodes[link->a].tier, link->tier - 1);
        assert_int_equal(built.graph.nodes[link->b].tier, link->tier);
        assert_int_equal(link->queue_bytes_a, 0);
    }
    for (uint32_t node = 64; node < built.graph.n_nodes; node++)
        assert_int_equal(built.graph.nodes[node].latency_ps, 7 * NS);
    assert_true(built.facts.oversubscription[1] == 1); /* 4 x 100 over 2 x 200 */
    assert_true(built.facts.oversubscription[2] == 1); /* 4 x 200 over 2 x 400 */
    assert_int_equal(bisection(&built.graph, 100 * GBPS), 32);
    built_clear(&built);
}

static void oversubscription_thins_what_is_above(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "clos", "hosts=64 hosts_per_leaf=16 oversubscription=4");
    assert_int_equal(count_tier(&built.graph, 2), 4);
    assert_true(built.facts.oversubscription[1] == 4);
    assert_int_equal(bisection(&built.graph, 400 * GBPS), 8);
    assert_true(has_note(&built, "oversubscription 4:1"));
    built_clear(&built);
    build_good(&built, "clos", "hosts=60 oversubscription=3"); /* hosts a leaf: a multiple of 3 */
    assert_true(built.facts.oversubscription[1] == 3);
    built_clear(&built);
    build_good(&built, "clos", "hosts=64 hosts_per_leaf=8 spines=4");
    assert_true(built.facts.oversubscription[1] == 2);
    built_clear(&built);
    build_good(&built, "clos", "hosts=64 hosts_per_leaf=8 spines=4 oversubscription=1");
    assert_int_equal(count_links(&built.graph, 64, 64 + 8), 2);
    assert_true(built.facts.oversubscription[1] == 1);
    built_clear(&built);
    build_good(&built, "clos", "hosts=64 hosts_per_leaf=8 spine_links=4");
    assert_int_equal(count_tier(&built.graph, 2), 2);
    assert_true(built.facts.oversubscription[1] == 1);
    built_clear(&built);
}

static void radix_sizes_leaves(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "clos", "hosts=2048 radix=64");
    assert_int_equal(count_tier(&built.graph, 1), 64);
    assert_int_equal(count_tier(&built.graph, 2), 32);
    built_clear(&built);
    build_good(&built, "clos", "hosts=480 radix=64 oversubscription=4"); /* 48 + 12 of 64 */
    assert_int_equal(count_tier(&built.graph, 1), 10);
    assert_int_equal(count_tier(&built.graph, 2), 12);
    built_clear(&built);
    build_good(&built, "clos", "hosts=20 radix=64"); /* all on one leaf: said, not refused */
    assert_int_equal(count_tier(&built.graph, 1), 1);
    assert_true(has_note(&built, "all hosts are on one leaf"));
    assert_int_equal(built.facts.n_unused_switches, 20);
    built_clear(&built);
}

static void gaps_are_noted(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "clos", "hosts=50 hosts_per_leaf=8");
    assert_int_equal(count_tier(&built.graph, 1), 7);
    assert_true(has_note(&built, "the last leaf has 2 of 8 hosts"));
    built_clear(&built);
    build_good(&built, "clos", "hosts=8 tiers=3 pods=1");
    assert_true(has_note(&built, "all hosts are in one pod"));
    built_clear(&built);
    build_good(&built, "clos", "hosts=40 tiers=3 radix=8"); /* 10 leaves, 4 a pod */
    assert_true(has_note(&built, "the last pod has 2 of 4 leaves"));
    built_clear(&built);
}

/* --- clos.c: one and three tiers -------------------------------------------------------------- */

static void one_tier_is_a_switch_a_plane(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "clos", "hosts=16 tiers=1 planes=5 nics_per_plane=2");
    assert_int_equal(built.facts.n_switches, 5);
    assert_int_equal(built.graph.n_links, 16 * 5 * 2);
    assert_int_equal(built.facts.n_tiers, 1);
    assert_int_equal(count_paths(&built.graph, 3, 4, 2).length, 2);
    assert_int_equal(count_paths(&built.graph, 3, 4, 2).n, 4);
    built_clear(&built);
}

/* The fat tree of k = 8: k^3 / 4 hosts, k^2 / 2 leaves and spines, k^2 / 4 cores. */
static void three_tiers_are_a_fat_tree(void **state)
{
    static const char *const settings[] = {
        "hosts=128 tiers=3",
        "hosts=128 tiers=3 radix=8",
        "hosts=128 tiers=3 hosts_per_leaf=4 pods=8 spines=32 cores=16",
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
        struct built built;

        build_good(&built, "clos", settings[i]);
        assert_int_equal(count_tier(&built.graph, 1), 32);
        assert_int_equal(count_tier(&built.graph, 2), 32);
        assert_int_equal(count_tier(&built.graph, 3), 16);
        assert_int_equal(built.graph.n_links, 3 * 128);
        assert_true(built.facts.oversubscription[1] == 1);
        assert_true(built.facts.oversubscription[2] == 1);
        assert_int_equal(built.facts.n_unused_switches, 0);
        assert_int_equal(bisection(&built.graph, 400 * GBPS), 64);
        for (uint32_t b = 1; b < 128; b++) {
            struct paths paths = count_paths(&built.graph, 0, b, 0);

            assert_int_equal(paths.length, b < 4 ? 2 : b < 16 ? 4 : 6);
            assert_int_equal(paths.n, b < 4 ? 1 : b < 16 ? 4 : 16);
        }
        built_clear(&built);
    }
}

static void tier_two_is_oversubscribed_alone(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "clos",
               "hosts=128 tiers=3 hosts_per_leaf=4 pods=8 oversubscription_tier2=4");
    assert_int_equal(count_tier(&built.graph, 3), 4);
    assert_true(built.facts.oversubscription[1] == 1);
    assert_true(built.facts.oversubscription[2] == 4);
    assert_int_equal(bisection(&built.graph, 400 * GBPS), 16);
    built_clear(&built);
    build_good(&built, "clos", "hosts=128 tiers=3 hosts_per_leaf=4 pods=8 cores=8 core_links=3");
    assert_true(built.facts.oversubscription[2] == 4.0 / (2 * 3));
    built_clear(&built);
}

/* Rack switches with twice the capacity up, cluster switches 7:1 (SOURCES.md 3.5). */
static void under_subscription_comes_from_counts(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "clos",
               "hosts=224 tiers=3 hosts_per_leaf=16 pods=2 spines=16 spine_links=4 "
               "oversubscription_tier2=7 core_links=4");
    assert_true(built.facts.oversubscription[1] == 0.5);
    assert_true(built.facts.oversubscription[2] == 7);
    assert_int_equal(count_tier(&built.graph, 3), 8);
    assert_true(has_note(&built, "oversubscription 1:2"));
    built_clear(&built);
}

static void impossible_fabrics_are_refused(void **state)
{
    static const char *const cases[][2] = {
        {"tiers=1 spines=4", "spines = 4|tiers = 2|tiers is 1"},
        {"tiers=2 cores=4", "cores = 4|tiers = 3"},
        {"tiers=2 tier3_delay=1us", "tier3_delay|tiers = 3"},
        {"tiers=1 hosts=8 hosts_per_leaf=4", "hosts_per_leaf = 4|8 hosts"},
        {"hosts=8 hosts_per_leaf=9", "hosts_per_leaf = 9|8"},
        {"hosts=64 hosts_per_leaf=8 oversubscription=3", "oversubscription = 3|8 links|2.667|3"},
        {"hosts=64 hosts_per_leaf=8 tier2_rate=300Gbps", "oversubscription = 1|300Gbps|multiple"},
        {"hosts=64 hosts_per_leaf=8 spines=5 oversubscription=1", "spines = 5|8 links"},
        {"hosts=64 hosts_per_leaf=8 spine_links=3", "spine_links = 3|8 links|divisor"},
        {"hosts=64 hosts_per_leaf=8 spines=4 spine_links=3 oversubscription=2",
         "spines = 4|4 links up|make 12|at 0"},
        {"tiers=3 hosts=64 hosts_per_leaf=4 pods=3", "pods = 3|divisor|16"},
        {"tiers=3 hosts=64 hosts_per_leaf=4 pods=4 spines=6", "spines = 6|multiple|4"},
        {"tiers=3 hosts=64 hosts_per_leaf=4 pods=4 spines=8 cores=3", "cores = 3|multiple|2"},
        {"tiers=3 hosts=64 hosts_per_leaf=4 pods=4 spines=8 cores=6 oversubscription_tier2=1",
         "cores = 6|4 links"},
        {"tiers=3 hosts=64 hosts_per_leaf=4 pods=4 oversubscription_tier2=3",
         "oversubscription_tier2 = 3|4 links|a spine"},
        {"hosts=4096 radix=64", "radix = 64|128 ports|tiers"},
        {"hosts=8 hosts_per_leaf=8 radix=8", "radix = 8|tier 1 needs 16 ports"},
        {"hosts=8 radix=1", "radix = 1"},
        {"tiers=3 hosts=200 radix=8", "radix = 8|tier 3|200 hosts"},
        {"hosts=1048576 planes=16 nics_per_plane=4 hosts_per_leaf=1024",
         "clos|links in all|67108864"},
        {"hosts=1048576 hosts_per_leaf=1 spines=1048576 spine_links=65536", "links in all"},
        {"tiers=3 hosts=1024 hosts_per_leaf=1 pods=1024 spines=1048576 cores=1048576",
         "1074791424 links in all"},
        {"hosts=100 link_rate=99999999999999bps tier2_rate=99999999999997bps oversubscription=1024",
         "oversubscription = 1024|whole number"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        build_bad("clos", cases[i][0], cases[i][1]);
}

/* --- star.c, line.c, dumbbell.c --------------------------------------------------------------- */

static void star_has_one_switch_a_plane(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "star", "hosts=10000 planes=2 link_delay=3ns switch_latency=9ns");
    assert_int_equal(built.facts.n_switches, 2);
    assert_int_equal(built.graph.n_links, 20000);
    assert_int_equal(built.graph.links[77].delay_ps, 3 * NS);
    assert_int_equal(built.graph.nodes[10001].latency_ps, 9 * NS);
    assert_int_equal(count_paths(&built.graph, 0, 9999, 1).length, 2);
    assert_int_equal(built.facts.n_components, 1);
    assert_true(has_note(&built, "star: 10000 hosts, 2 planes"));
    built_clear(&built);
    build_good(&built, "star", "hosts=1");
    built_clear(&built);
}

static void line_has_links_in_series(void **state)
{
    (void)state;
    for (uint32_t links = 1; links <= 250; links += links < 8 ? 1 : 121) {
        g_autofree char *settings = g_strdup_printf("links=%u planes=3", links);
        struct built built;

        build_good(&built, "line", settings);
        assert_int_equal(built.facts.n_switches, 3 * (links - 1));
        assert_int_equal(built.graph.n_links, 3 * links);
        for (uint16_t plane = 0; plane < 3; plane++) {
            struct paths paths = count_paths(&built.graph, 0, 1, plane);

            assert_int_equal(paths.length, links);
            assert_int_equal(paths.n, 1);
            assert_int_equal(built.graph.links[graph_port(&built.graph, 1, plane) / 2].plane,
                             plane);
            assert_int_equal(built.graph.links[graph_port(&built.graph, 0, plane) / 2].tier, 1);
            assert_int_equal(built.graph.links[graph_port(&built.graph, 1, plane) / 2].tier, 1);
            for (uint32_t l = plane * links + 1; l < (plane + 1u) * links - 1; l++)
                assert_int_equal(built.graph.links[l].tier, 2);
        }
        assert_int_equal(built.facts.n_unused_switches, 0);
        built_clear(&built);
    }
    build_bad("line", "hosts=3", "hosts = 3|2 hosts");
}

static void dumbbell_has_a_bottleneck(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "dumbbell",
               "hosts=5 planes=2 bottleneck_links=3 bottleneck_rate=100Gbps bottleneck_delay=2us");
    assert_int_equal(built.facts.n_switches, 4);
    assert_int_equal(built.graph.n_links, 2 * (5 + 3));
    assert_int_equal(graph_n_ports(&built.graph, 5), 3 + 3); /* 3 hosts left */
    assert_int_equal(graph_n_ports(&built.graph, 6), 2 + 3);
    assert_int_equal(count_paths(&built.graph, 2, 3, 1).n, 3);
    assert_int_equal(count_paths(&built.graph, 2, 3, 1).length, 3);
    assert_int_equal(built.graph.links[5].rate_bps, 100 * GBPS);
    assert_int_equal(built.graph.links[5].delay_ps, 2000 * NS);
    assert_int_equal(built.graph.links[5].tier, 2);
    /* from hosts 0 and 1, in each plane: 4 to host 2 beside them, 3 over the bottleneck */
    assert_int_equal(bisection(&built.graph, 100 * GBPS), 2 * (4 + 3));
    assert_true(has_note(&built, "oversubscription 4:1"));
    built_clear(&built);
    build_good(&built, "dumbbell", "");
    assert_int_equal(built.graph.links[4].rate_bps, 400 * GBPS);
    assert_int_equal(built.graph.links[4].delay_ps, 500 * NS);
    built_clear(&built);
    build_bad("dumbbell", "hosts=1", "hosts = 1|2 or more");
}

/* --- rack.c --------------------------------------------------------------------------------------
 */

/* Ports of scale-up come first, racks share no switch of it, and all share those of scale-out. */
static void racks_have_two_networks(void **state)
{
    struct built built;

    (void)state;
    build_good(&built, "rack", "racks=2 accelerators=16");
    assert_int_equal(built.graph.n_hosts, 32);
    assert_int_equal(built.graph.n_planes, 5);
    assert_int_equal(built.graph.n_scale_up_planes, 4);
    assert_int_equal(built.facts.n_switches, 2 * 4 + 1);
    assert_int_equal(built.facts.host_rate_bps_max, 8000 * GBPS);
    for (uint32_t host = 0; host < 32; host++)
        for (uint32_t i = 0; i < 10; i++) {
            uint32_t port = graph_port(&built.graph, host, i);
            uint32_t other = graph_port(&built.graph, (host + 16) % 32, i);

            assert_int_equal(built.graph.links[port / 2].plane, i / 2);
            assert_int_equal(graph_port_peer(&built.graph, port) ==
                                 graph_port_peer(&built.graph, other),
                             i >= 8);
        }
    /* three switches of 600 ns and a credit's round trip of 2 us */
    assert_int_equal(built.graph.nodes[built.graph.n_nodes - 1].latency_ps, 3800 * NS);
    built_clear(&built);
    build_good(&built, "rack", "racks=4 accelerators=8 out_fabric=clos");
    assert_int_equal(count_tier(&built.graph, 2), 16);
    built_clear(&built);
}

static void splits_are_counts_of_blades(void **state)
{
    static const struct {
        const char *settings;
        uint32_t n_ports, n_up;
    } splits[] = {{"up_planes=4", 10, 4},
                  {"up_planes=5", 12, 5},
                  {"up_planes=6 out_planes=0", 12, 6},
                  {"up_planes=4 fungible=on", 10, 5}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(splits); i++) {
        struct built built;

        build_good(&built, "rack", splits[i].settings);
        assert_int_equal(graph_n_ports(&built.graph, 7), splits[i].n_ports);
        assert_int_equal(built.graph.n_scale_up_planes, splits[i].n_up);
        built_clear(&built);
    }
    struct built built;

    build_kind(&built, "rack", "up_planes=0 out_planes=0");
    assert_non_null(built.error);
    assert_non_null(strstr(built.error->message, "0 NIC ports an accelerator"));
    built_clear(&built);
}

/* --- graph_csv.c ------------------------------------------------------------------------------ */

static void build_csv(struct built *built, const char *text)
{
    g_autofree char *path = write_file(text, strlen(text));
    g_autofree char *settings = g_strconcat("file=", path, NULL);

    build_kind(built, "graph", settings);
    g_unlink(path);
}

static void csv_says_everything(void **state)
{
    struct built built;

    (void)state;
    build_csv(&built, "a,b,rate,delay,plane,tier,latency\r\n"
                      "h0,s0,400Gbps,15ns,0,,600ns\r\n"
                      "h1,s1,400Gbps,15ns,0,,\r\n"
                      "s0,s2,800Gbps,250ns,0,5,700ns\r\n"
                      "s1,s2,800Gbps,250ns,0,,700ns\r\n"
                      "s1,s2,800Gbps,250ns,0,,\r\n"
                      "h0,h1,100Gbps,1us,1,,\r\n"
                      "h1,s3,100Gbps,1us,1,,\r\n"
                      "h0,s3,100Gbps,1us,2,,");
    assert_null(built.error);
    assert_int_equal(built.graph.n_hosts, 2);
    assert_int_equal(built.graph.n_nodes, 6);
    assert_int_equal(built.graph.n_links, 8);
    assert_int_equal(built.graph.n_planes, 3);
    assert_int_equal(built.graph.nodes[2].latency_ps, 600 * NS);
    assert_int_equal(built.graph.nodes[3].latency_ps, 600 * NS); /* the default of the key */
    assert_int_equal(built.graph.nodes[4].latency_ps, 700 * NS);
    assert_int_equal(built.graph.nodes[2].tier, 1);
    assert_int_equal(built.graph.nodes[4].tier, 2);
    assert_int_equal(built.graph.nodes[4].plane, 0);
    assert_int_equal(built.graph.nodes[5].plane, GRAPH_NO_PLANE);
    assert_int_equal(built.graph.links[0].tier, 1);
    assert_int_equal(built.graph.links[2].tier, 5); /* as said */
    assert_int_equal(built.graph.links[3].tier, 2);
    assert_int_equal(built.graph.links[5].tier, 1);
    assert_int_equal(built.graph.links[3].rate_bps, 800 * GBPS);
    assert_int_equal(built.graph.links[3].delay_ps, 250 * NS);
    assert_int_equal(count_paths(&built.graph, 0, 1, 0).n, 2);
    assert_int_equal(count_paths(&built.graph, 0, 1, 1).length, 1);
    assert_true(has_note(&built, "6 nodes = 2 hosts + 4 switches, 3 of tier 1, 1 of tier 2"));
    built_clear(&built);
}

static void csv_columns_come_in_any_order(void **state)
{
    struct built built;

    (void)state;
    build_csv(&built, "delay,rate,b,a\n0ns,12.5GBps,s1,s0\n\n1ps,100Gb/s,s0,h0\n1ps,1Tbps,s1,h1\n");
    assert_null(built.error);
    assert_int_equal(built.graph.links[0].rate_bps, 100 * GBPS);
    assert_int_equal(built.graph.links[0].tier, 2); /* between equals, as in a dumbbell */
    assert_int_equal(built.facts.n_components, 1);
    assert_true(has_note(&built, "4 nodes = 2 hosts + 2 switches, 2 of tier 1; 3 links; 1 plane"));
    built_clear(&built);
}

/* Parts that do not reach each other are a fact, not a fault; a flow may not need them. */
static void csv_may_be_in_parts(void **state)
{
    struct built built;

    (void)state;
    build_csv(&built, "a,b,rate,delay\nh0,s0,1Gbps,0ns\nh1,s1,1Gbps,0ns\ns2,s3,1Gbps,0ns\n");
    assert_null(built.error);
    assert_int_equal(built.facts.n_components, 2);
    assert_int_equal(built.facts.n_unused_switches, 4);
    assert_int_equal(built.graph.nodes[4].tier, 7); /* no host reaches it */
    built_clear(&built);
}

static void csv_faults_name_file_and_line(void **state)
{
    static const char *const cases[][2] = {
        {"", ":1:|header"},
        {"a,b,rate,delay\n", "no link has h0"},
        {"a,b,rate\nh0,h1,1Gbps\n", "no column 'delay'"},
        {"a,b,rate,delay,plain\nh0,h1,1Gbps,0ns,0\n", ":1:|'plain'|is 'plane' meant?"},
        {"a,b,rate,delay\nh0,h1,1Gbps\n", ":2:"},
        {"a,b,rate,delay\nh0,h1,1Gbps,0ns\nh0,x1,1Gbps,0ns\n", ":3:|column 'b'|'x1'|h0"},
        {"a,b,rate,delay\nh,h1,1Gbps,0ns\n", ":2:|column 'a'|'h'"},
        {"a,b,rate,delay\nh-1,h1,1Gbps,0ns\n", ":2:|'h-1'"},
        {"a,b,rate,delay\nh0,h1z,1Gbps,0ns\n", ":2:|'h1z'"},
        {"a,b,rate,delay\nh0,h99999999999999999999,1Gbps,0ns\n", ":2:|1048575"},
        {"a,b,rate,delay\nh0,h1,fast,0ns\n", ":2:|column 'rate'|'fast'|400Gbps"},
        {"a,b,rate,delay\nh0,h1,0bps,0ns\n", ":2:|column 'rate'|out of range"},
        {"a,b,rate,delay\nh0,h1,,0ns\n", ":2:|column 'rate'"},
        {"a,b,rate,delay\nh0,h1,1Gbps,-1ns\n", ":2:|column 'delay'"},
        {"a,b,rate,delay\nh0,h1,1Gbps,5\n", ":2:|column 'delay'|'5'|unit"},
        {"a,b,rate,delay,plane\nh0,h1,1Gbps,0ns,16\n", ":2:|column 'plane'|0 to 15"},
        {"a,b,rate,delay,tier\nh0,h1,1Gbps,0ns,0\n", ":2:|column 'tier'|1 to 7"},
        {"a,b,rate,delay\nh0,h1,1Gbps,0ns\nh1,h1,1Gbps,0ns\n", ":3:|both ends are h1"},
        {"a,b,rate,delay,latency\ns0,h0,1Gbps,0ns,1ns\n", ":2:|column 'latency'|host h0"},
        {"a,b,rate,delay,latency\nh0,s0,1Gbps,0ns,1ns\nh1,s0,1Gbps,0ns,2ns\n",
         ":3:|column 'latency'|'2ns'|s0|1ns"},
        {"a,b,rate,delay\nh0,h2,1Gbps,0ns\n", "no link has h1|without gaps|3"},
        {"a,b,rate,delay\nh0,s1,1Gbps,0ns\n", "no link has s0"},
        {"a,b,rate,delay\ns0,s1,1Gbps,0ns\n", "no link has h0"},
        {"a,b,rate,delay\nh0,\"s0,1Gbps,0ns\n", "quote"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = write_file(cases[i][0], strlen(cases[i][0]));
        g_autofree char *settings = g_strconcat("file=", path, NULL);
        g_autofree char *words = g_strconcat(path, "|", cases[i][1], NULL);

        build_bad("graph", settings, words);
        g_unlink(path);
    }
    build_bad("graph", "file=/nonexistent/links.csv", "/nonexistent/links.csv");
    build_bad("graph", "", "file = ''|CSV");
}

/* --- ready fabrics ---------------------------------------------------------------------------- */

/* The settings of a ready fabric, "key=value" words; its kind is returned. Both g_free. */
static char *read_fabric(const char *name, char **settings)
{
    g_autofree char *path = g_strconcat("topologies/", name, ".ini", NULL);
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GString) words = g_string_new(NULL);
    GError *error = NULL;

    if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &error))
        fail_msg("%s: %s", path, error->message);
    g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
    g_auto(GStrv) keys = g_key_file_get_keys(file, "topology", NULL, NULL);

    assert_int_equal(g_strv_length(groups), 1);
    for (int i = 0; keys[i]; i++) {
        g_autofree char *value = g_key_file_get_string(file, "topology", keys[i], NULL);

        if (strcmp(keys[i], "kind") != 0)
            g_string_append_printf(words, "%s=%s ", keys[i], value);
    }
    *settings = g_strdup(words->str);
    return g_key_file_get_string(file, "topology", "kind", NULL);
}

static void ready_fabrics_are_as_they_say(void **state)
{
    static const struct {
        const char *name;
        uint32_t n_hosts, n_planes, n_switches, n_links;
        int64_t host_rate_bps;
        double oversubscription[2];
    } fabrics[] = {
        {"leaf-spine-64", 64, 1, 16, 128, 400 * GBPS, {1, 0}},
        {"planes4-64", 64, 4, 4 * 16, 4 * 128, 400 * GBPS, {1, 0}},
        {"planes8-64", 64, 8, 8 * 16, 8 * 128, 400 * GBPS, {1, 0}},
        {"fat-tree-128", 128, 1, 32 + 32 + 16, 3 * 128, 100 * GBPS, {1, 1}},
        {"openai-8plane-small", 128, 8, 8 * (8 + 16), 8 * 256, 800 * GBPS, {1, 0}},
        {"meta-ctsw-small", 224, 1, 14 + 16 + 8, 224 + 14 * 32 + 16 * 4, 400 * GBPS, {0.5, 7}},
        {"mtia300-rack", 16, 5, 5, 160, 8000 * GBPS, {0, 0}},
    };
    uint32_t n_files = 0;
    GDir *folder = g_dir_open("topologies", 0, NULL);

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(fabrics); i++) {
        g_autofree char *settings = NULL;
        g_autofree char *kind = read_fabric(fabrics[i].name, &settings);
        struct built built;

        build_good(&built, kind, settings);
        assert_int_equal(built.graph.n_hosts, fabrics[i].n_hosts);
        assert_int_equal(built.graph.n_planes, fabrics[i].n_planes);
        assert_int_equal(built.facts.n_switches, fabrics[i].n_switches);
        assert_int_equal(built.graph.n_links, fabrics[i].n_links);
        assert_int_equal(built.facts.host_rate_bps_min, fabrics[i].host_rate_bps);
        assert_int_equal(built.facts.host_rate_bps_max, fabrics[i].host_rate_bps);
        assert_true(built.facts.oversubscription[1] == fabrics[i].oversubscription[0]);
        assert_true(built.facts.oversubscription[2] == fabrics[i].oversubscription[1]);
        assert_int_equal(built.facts.n_unused_switches, 0);
        assert_int_equal(built.facts.n_components, 1);
        built_clear(&built);
    }
    assert_non_null(folder);
    for (const char *name; (name = g_dir_read_name(folder));)
        n_files += g_str_has_suffix(name, ".ini") ? 1 : 0;
    g_dir_close(folder);
    assert_int_equal(n_files, G_N_ELEMENTS(fabrics));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_names_each_kind_once),
        cmocka_unit_test(tables_are_complete_and_defaults_valid),
        cmocka_unit_test(hosts_alone_give_a_leaf_spine),
        cmocka_unit_test(any_number_of_hosts_is_non_blocking),
        cmocka_unit_test(all_pairs_have_equally_many_paths_of_four_links),
        cmocka_unit_test(port_k_of_a_host_is_in_plane_k),
        cmocka_unit_test(links_have_the_rates_and_delays_of_their_tier),
        cmocka_unit_test(oversubscription_thins_what_is_above),
        cmocka_unit_test(radix_sizes_leaves),
        cmocka_unit_test(gaps_are_noted),
        cmocka_unit_test(one_tier_is_a_switch_a_plane),
        cmocka_unit_test(three_tiers_are_a_fat_tree),
        cmocka_unit_test(tier_two_is_oversubscribed_alone),
        cmocka_unit_test(under_subscription_comes_from_counts),
        cmocka_unit_test(impossible_fabrics_are_refused),
        cmocka_unit_test(star_has_one_switch_a_plane),
        cmocka_unit_test(line_has_links_in_series),
        cmocka_unit_test(dumbbell_has_a_bottleneck),
        cmocka_unit_test(racks_have_two_networks),
        cmocka_unit_test(splits_are_counts_of_blades),
        cmocka_unit_test(csv_says_everything),
        cmocka_unit_test(csv_columns_come_in_any_order),
        cmocka_unit_test(csv_may_be_in_parts),
        cmocka_unit_test(csv_faults_name_file_and_line),
        cmocka_unit_test(ready_fabrics_are_as_they_say),
    };

    return cmocka_run_group_tests_name("topology_builders", tests, NULL, NULL);
}
