/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/core/graph.c, in its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/graph.h"
#include <string.h>

#define RATE INT64_C(100000000000)

/* Two planes; in each two leaves with two hosts a leaf and `n_spines` spines. */
static void build_planes(struct graph *graph, uint32_t n_spines, int64_t up_rate_bps)
{
    graph_init(graph);
    for (int i = 0; i < 4; i++)
        graph_add_host(graph);
    for (uint16_t plane = 0; plane < 2; plane++) {
        uint32_t leaves[] = {graph_add_switch(graph, 1, plane, 500000),
                             graph_add_switch(graph, 1, plane, 500000)};

        for (uint32_t host = 0; host < 4; host++)
            graph_add_link(graph, host, leaves[host / 2], RATE, 1000, 1, plane);
        for (uint32_t s = 0; s < n_spines; s++) {
            uint32_t spine = graph_add_switch(graph, 2, plane, 600000);

            for (int leaf = 0; leaf < 2; leaf++)
                graph_add_link(graph, leaves[leaf], spine, up_rate_bps, 2000, 2, plane);
        }
    }
}

static void numbers_nodes_links_and_planes(void **state)
{
    struct graph graph;

    (void)state;
    build_planes(&graph, 2, RATE);
    assert_int_equal(graph.n_hosts, 4);
    assert_int_equal(graph.n_nodes, 4 + 2 * 4);
    assert_int_equal(graph.n_links, 2 * 8);
    assert_int_equal(graph.n_planes, 2);
    assert_false(graph.nodes[3].is_switch);
    assert_int_equal(graph.nodes[3].plane, GRAPH_NO_PLANE);
    assert_true(graph.nodes[4].is_switch);
    assert_int_equal(graph.nodes[4].latency_ps, 500000);
    assert_int_equal(graph.links[0].queue_bytes_a, 0);
    graph_clear(&graph);
    assert_int_equal(graph.n_nodes, 0);
}

static void ports_follow_links(void **state)
{
    struct graph graph;
    uint32_t n_seen = 0;

    (void)state;
    build_planes(&graph, 2, RATE);
    assert_true(graph_finish(&graph, NULL));
    for (uint32_t node = 0; node < graph.n_nodes; node++) {
        for (uint32_t i = 0; i < graph_n_ports(&graph, node); i++) {
            uint32_t port = graph_port(&graph, node, i);

            assert_int_equal(graph_port_node(&graph, port), node);
            assert_int_equal(graph_port_peer(&graph, port), graph_port_node(&graph, port ^ 1));
            assert_true(i == 0 || graph_port(&graph, node, i - 1) < port);
            n_seen++;
        }
    }
    assert_int_equal(n_seen, 2 * graph.n_links);
    assert_int_equal(graph_n_ports(&graph, 0), 2); /* one NIC port a plane */
    assert_int_equal(graph_n_ports(&graph, 4), 4); /* a leaf: two down, two up */
    assert_int_equal(graph_port(&graph, 0, 0), 0); /* end a of link 0 */
    assert_int_equal(graph_port_peer(&graph, 0), 4);
    assert_int_equal(graph_port(&graph, 4, 0), 1); /* end b of link 0 */
    assert_true(graph_finish(&graph, NULL));       /* again is harmless */
    graph_clear(&graph);
}

static void many_nodes_and_links(void **state)
{
    struct graph graph;

    (void)state;
    graph_init(&graph);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(graph_add_host(&graph), i);
    uint32_t hub = graph_add_switch(&graph, 1, 0, 0);

    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(graph_add_link(&graph, i, hub, RATE, 0, 1, 0), i);
    assert_true(graph_finish(&graph, NULL));
    assert_int_equal(graph_n_ports(&graph, hub), 1000);
    assert_int_equal(graph_port(&graph, hub, 999), 1999);
    graph_clear(&graph);
}

static void faulty_links_are_named(void **state)
{
    static const struct {
        uint32_t b;
        int64_t rate_bps, delay_ps;
        const char *says;
    } cases[] = {
        {9, RATE, 0, "link 1 between nodes 0 and 9 has an end that is no node (3 nodes)"},
        {0, RATE, 0, "link 1 between nodes 0 and 0 has both ends at one node"},
        {2, 0, 0, "link 1 between nodes 0 and 2 has no rate"},
        {2, -1, 0, "link 1 between nodes 0 and 2 has no rate"},
        {2, RATE, -1, "link 1 between nodes 0 and 2 has a negative delay"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        struct graph graph;

        graph_init(&graph);
        graph_add_host(&graph);
        graph_add_host(&graph);
        graph_add_switch(&graph, 1, 0, 0);
        graph_add_link(&graph, 1, 2, RATE, 0, 1, 0);
        graph_add_link(&graph, 0, cases[i].b, cases[i].rate_bps, cases[i].delay_ps, 1, 0);
        assert_false(graph_finish(&graph, &error));
        if (!g_str_has_prefix(error->message, cases[i].says))
            fail_msg("says '%s'", error->message);
        graph_clear(&graph);
    }
}

static void describes_a_healthy_fabric(void **state)
{
    struct graph graph;
    struct graph_facts facts;

    (void)state;
    build_planes(&graph, 2, RATE);
    assert_true(graph_finish(&graph, NULL));
    graph_describe(&graph, &facts);
    assert_int_equal(facts.n_switches, 8);
    assert_int_equal(facts.n_tiers, 2);
    assert_int_equal(facts.n_unused_switches, 0);
    assert_int_equal(facts.n_components, 1);
    assert_true(facts.oversubscription[1] == 1.0);
    assert_true(facts.oversubscription[2] == 0.0);
    assert_int_equal(facts.host_rate_bps_min, 2 * RATE);
    assert_int_equal(facts.host_rate_bps_max, 2 * RATE);
    graph_clear(&graph);
    /* one spine at half the rate: 2 x 100G down, 1 x 50G up is 4:1 */
    build_planes(&graph, 1, RATE / 2);
    assert_true(graph_finish(&graph, NULL));
    graph_describe(&graph, &facts);
    assert_true(facts.oversubscription[1] == 4.0);
    graph_clear(&graph);
}

static void describes_a_broken_fabric(void **state)
{
    struct graph graph;
    struct graph_facts facts;

    (void)state;
    graph_init(&graph);
    for (int i = 0; i < 5; i++)
        graph_add_host(&graph);
    uint32_t a = graph_add_switch(&graph, 1, 0, 0), b = graph_add_switch(&graph, 1, 0, 0);
    uint32_t lone = graph_add_switch(&graph, 2, 0, 0);
    uint32_t tail = graph_add_switch(&graph, 3, 0, 0);

    graph_add_link(&graph, 0, a, RATE, 0, 1, 0);
    graph_add_link(&graph, 1, a, RATE, 0, 1, 0);
    graph_add_link(&graph, 2, b, RATE, 0, 1, 0);
    graph_add_link(&graph, 3, b, 2 * RATE, 0, 1, 0);
    graph_add_link(&graph, a, lone, RATE, 0, 2, 0); /* leads nowhere, nor does what is above it */
    graph_add_link(&graph, lone, tail, RATE, 0, 3, 0);
    assert_true(graph_finish(&graph, NULL));
    graph_describe(&graph, &facts);
    assert_int_equal(facts.n_components, 3); /* {0, 1}, {2, 3}, and host 4 without a cable */
    assert_int_equal(facts.n_unused_switches, 2);
    assert_int_equal(facts.host_rate_bps_min, 0);
    assert_int_equal(facts.host_rate_bps_max, 2 * RATE);
    graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_nodes_links_and_planes),
        cmocka_unit_test(ports_follow_links),
        cmocka_unit_test(many_nodes_and_links),
        cmocka_unit_test(faulty_links_are_named),
        cmocka_unit_test(describes_a_healthy_fabric),
        cmocka_unit_test(describes_a_broken_fabric),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
