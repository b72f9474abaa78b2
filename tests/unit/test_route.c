/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of models/route.c: shortest paths with links taken out of service. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/route.h"
#include "sim/core/random.h"
#include <string.h>

#define N_LEAVES 3u
#define N_SPINES 4u

/*
 * Two planes of three leaves, one host each, and four spines. In a plane: leaves, then spines; the
 * link of leaf l to spine s is first + 3 + 4 l + s, where `first` is the first of the plane.
 */
static void build(struct graph *graph)
{
    graph_init(graph);
    for (uint32_t i = 0; i < N_LEAVES; i++)
        graph_add_host(graph);
    for (uint16_t plane = 0; plane < 2; plane++) {
        uint32_t leaves = graph->n_nodes, spines = leaves + N_LEAVES;

        for (uint32_t i = 0; i < N_LEAVES; i++)
            graph_add_switch(graph, 1, plane, 0);
        for (uint32_t i = 0; i < N_SPINES; i++)
            graph_add_switch(graph, 2, plane, 0);
        for (uint32_t i = 0; i < N_LEAVES; i++)
            graph_add_link(graph, i, leaves + i, 1000, 1, 1, plane);
        for (uint32_t i = 0; i < N_LEAVES; i++)
            for (uint32_t s = 0; s < N_SPINES; s++)
                graph_add_link(graph, leaves + i, spines + s, 1000, 1, 2, plane);
    }
    assert_true(graph_finish(graph, NULL));
}

struct world {
    struct graph graph;
    struct route plan, route;
    uint8_t *dead;
};

static void make(struct world *world)
{
    build(&world->graph);
    route_init(&world->plan, &world->graph);
    route_init(&world->route, &world->graph);
    world->dead = g_new0(uint8_t, world->graph.n_links);
}

static void unmake(struct world *world)
{
    route_clear(&world->plan);
    route_clear(&world->route);
    graph_clear(&world->graph);
    g_free(world->dead);
}

static void set(struct world *world, uint32_t link, bool dead, bool resilient)
{
    world->dead[link] = dead;
    route_update(&world->route, &world->plan, world->dead, &link, 1, resilient);
}

static uint32_t link_of(uint32_t plane, uint32_t leaf, uint32_t spine)
{
    return plane * (N_LEAVES + N_LEAVES * N_SPINES) + N_LEAVES + N_SPINES * leaf + spine;
}

static uint32_t leaf_of(uint32_t plane, uint32_t leaf)
{
    return N_LEAVES + plane * (N_LEAVES + N_SPINES) + leaf;
}

/* NIC port `plane` of host `host` as a destination. */
static uint32_t nic(const struct world *world, uint32_t host, uint32_t plane)
{
    return world->graph.first_port[host] + plane;
}

static bool same_sets(const struct world *world)
{
    for (uint32_t node = N_LEAVES; node < world->graph.n_nodes; node++)
        for (uint32_t to = 0; to < world->plan.n_attach; to++) {
            if (world->plan.component[node] !=
                world->plan.component[world->plan.attach[to].switch_node])
                continue;
            struct route_set a = route_lookup(&world->plan, node, to);
            struct route_set b = route_lookup(&world->route, node, to);

            if (a.n != b.n || memcmp(world->plan.ports + a.first, world->route.ports + b.first,
                                     a.n * sizeof(uint32_t)) != 0)
                return false;
        }
    return true;
}

static uint32_t n_ways(const struct world *world, uint32_t node, uint32_t to)
{
    return route_lookup(&world->route, node, to).n;
}

static bool leads_by(const struct world *world, uint32_t node, uint32_t to, uint32_t link)
{
    struct route_set ways = route_lookup(&world->route, node, to);

    for (uint32_t i = 0; i < ways.n; i++)
        if (world->route.ports[ways.first + i] / 2 == link)
            return true;
    return false;
}

static void dead_links_are_left_at_both_ends(void **state)
{
    struct world world;

    (void)state;
    make(&world);
    assert_true(same_sets(&world));
    set(&world, link_of(0, 1, 2), true, false);
    for (uint32_t from = 0; from < N_LEAVES; from++)
        for (uint32_t to = 0; to < N_LEAVES; to++) {
            bool hit = from != to && (from == 1 || to == 1);

            assert_int_equal(n_ways(&world, leaf_of(0, from), nic(&world, to, 0)),
                             from == to ? 0 : N_SPINES - hit);
            assert_int_equal(
                leads_by(&world, leaf_of(0, from), nic(&world, to, 0), link_of(0, from, 2)),
                from != to && !hit);
            /* the other plane knows nothing of it */
            assert_int_equal(n_ways(&world, leaf_of(1, from), nic(&world, to, 1)),
                             from == to ? 0 : N_SPINES);
        }
    set(&world, link_of(0, 1, 2), false, false);
    assert_true(same_sets(&world));
    unmake(&world);
}

/* A leaf without spines is not reached; with one, by that one. */
static void a_leaf_may_be_cut_off(void **state)
{
    struct world world;

    (void)state;
    make(&world);
    for (uint32_t s = 0; s < N_SPINES; s++) {
        set(&world, link_of(1, 0, s), true, s % 2);
        assert_int_equal(n_ways(&world, leaf_of(1, 0), nic(&world, 2, 1)) > 0, s < 3);
        assert_int_equal(n_ways(&world, leaf_of(1, 2), nic(&world, 0, 1)) > 0, s < 3);
        assert_int_equal(leads_by(&world, leaf_of(1, 2), nic(&world, 0, 1), link_of(1, 2, 3)),
                         s < 3);
    }
    assert_int_equal(n_ways(&world, leaf_of(1, 1), nic(&world, 2, 1)), N_SPINES);
    unmake(&world);
}

static void a_nic_without_its_link_is_not_sent_to(void **state)
{
    struct world world;

    (void)state;
    make(&world);
    uint32_t to = nic(&world, 1, 0);

    set(&world, world.graph.port_list[to] / 2, true, false);
    assert_int_equal(world.route.attach[to].switch_node, ROUTE_NONE);
    assert_int_equal(n_ways(&world, leaf_of(0, 1), to), 0);
    assert_int_equal(n_ways(&world, leaf_of(0, 0), to), N_SPINES); /* its leaf drops it */
    set(&world, world.graph.port_list[to] / 2, false, false);
    assert_int_equal(world.route.attach[to].switch_node, leaf_of(0, 1));
    unmake(&world);
}

/* The port that a hash, scaled to the set as switches do, chooses. */
static uint32_t choice(const struct route *route, uint32_t node, uint32_t to, uint64_t hash)
{
    struct route_set ways = route_lookup(route, node, to);

    return route->ports[ways.first + (uint32_t)((hash >> 32) * ways.n >> 32)];
}

/*
 * With k of 4 links dead, of many hashes: resilient moves those of the dead links and no others,
 * evenly; modulo moves half of all for one dead link.
 */
static void resilient_leaves_the_others_alone(void **state)
{
    enum { N = 40000 };

    (void)state;
    for (uint32_t k = 1; k <= 3; k++)
        for (int resilient = 0; resilient < 2; resilient++) {
            struct world world;
            uint32_t n_moved = 0, n_of_dead = 0, on[N_SPINES] = {0};

            make(&world);
            for (uint32_t s = 0; s < k; s++)
                set(&world, link_of(0, 0, 2 * s % 4 + s / 2), true, resilient);
            for (uint64_t i = 0; i < N; i++) {
                uint64_t hash = random_mix(i);
                uint32_t before = choice(&world.plan, leaf_of(0, 0), nic(&world, 2, 0), hash) / 2;
                uint32_t now = choice(&world.route, leaf_of(0, 0), nic(&world, 2, 0), hash) / 2;

                assert_false(world.dead[now]);
                n_of_dead += world.dead[before];
                n_moved += before != now;
                on[now - link_of(0, 0, 0)]++;
            }
            assert_in_range(n_of_dead, N * k / 4 - 400, N * k / 4 + 400);
            if (resilient)
                assert_int_equal(n_moved, n_of_dead);
            else
                assert_true(k > 1 || n_moved > n_of_dead + N / 5);
            for (uint32_t s = 0; s < N_SPINES; s++)
                if (on[s])
                    assert_in_range(on[s], N / (4 - k) - 400, N / (4 - k) + 400);
            unmake(&world);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dead_links_are_left_at_both_ends),
        cmocka_unit_test(a_leaf_may_be_cut_off),
        cmocka_unit_test(a_nic_without_its_link_is_not_sent_to),
        cmocka_unit_test(resilient_leaves_the_others_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
