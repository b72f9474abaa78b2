/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users of ECMP run into: polarisation, one flow on one link, imbalance
 * and its indices in the summary, and no gain where nothing can collide.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "sim/app/summary.h"
#include "tests/physics/play.h"
#include <math.h>

#define DUMBBELL(hosts_, links_, flows_)                                                           \
    "topology.kind=dumbbell", "topology.hosts=" hosts_, "topology.bottleneck_links=" links_,       \
        "workload.kind=pairs", "workload.flows=" flows_

/* Links of a tier that carry something upwards, and all of them. */
static void count_up(const struct play *played, uint32_t tier, int *n_used, int *n_all)
{
    *n_used = *n_all = 0;
    for (guint p = 0; p < played->ports->len; p++) {
        const struct sink_port *port = &g_array_index(played->ports, struct sink_port, p);

        if (port->tier != tier || port->port & 1)
            continue;
        (*n_all)++;
        *n_used += port->packets > 0;
    }
}

/* 83: a tree of 4-port switches and all pairs: r = 2 uplinks, so equal seeds use half the cores. */
static void test_polarisation_has_a_switch(void **state)
{
    static const char *const seeds[] = {"route.seeds=equal", "route.seeds=per_switch"};
    static const int expected[] = {8, 16};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *settings[] = {"topology.kind=clos",
                                  "topology.tiers=3",
                                  "topology.hosts=16",
                                  "topology.hosts_per_leaf=2",
                                  "topology.pods=4",
                                  "topology.spines=8",
                                  "topology.cores=4",
                                  "workload.kind=alltoall",
                                  "workload.bytes=16KB",
                                  seeds[i],
                                  NULL};
        struct play played;
        int n_used, n_all;

        play(&played, 1, settings);
        count_up(&played, 3, &n_used, &n_all);
        assert_int_equal(n_all, 16);
        assert_int_equal(n_used, expected[i]);
        play_clear(&played);
    }
}

/* 84: many packets of one flow take one link. */
static void test_one_flow_is_one_link(void **state)
{
    const char *settings[] = {DUMBBELL("2", "4", "1"), "workload.bytes=2MB", NULL};
    struct play played;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        int n_used, n_all;

        play(&played, seed, settings);
        count_up(&played, 2, &n_used, &n_all);
        assert_true(n_used == 1 && n_all == 4);
        assert_true(played.packets > 400);
        play_clear(&played);
    }
}

/* 84: 64 flows of a packet on 4 links: mean of the largest 20.202 (exact sum), sd 2.076; 16 x 1.26.
 */
static void test_64_flows_on_4_links(void **state)
{
    const char *settings[] = {DUMBBELL("128", "4", "64"), "workload.bytes=100B", NULL};
    const int n_seeds = 200;
    double sum = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)n_seeds; seed++) {
        struct play played;
        int64_t most = 0;

        play(&played, seed, settings);
        for (guint p = 0; p < played.ports->len; p++) {
            const struct sink_port *port = &g_array_index(played.ports, struct sink_port, p);

            most = port->tier == 2 && !(port->port & 1) ? MAX(most, port->packets) : most;
        }
        sum += (double)most;
        play_clear(&played);
    }
    assert_true(fabs(sum / n_seeds - 20.202) < 3 * 2.076 / sqrt(n_seeds));
}

/* 86: Jain's index and max / mean of the links between switches are those of the ports. */
static void test_balance_is_in_the_summary(void **state)
{
    static const char *const settings[] = {DUMBBELL("16", "8", "8"), "workload.bytes=1MB",
                                           "run.seed=1", NULL};
    struct scenario *scenario = scenario_new();
    struct experiment experiment;
    struct summary summary;
    struct backend_result result = {0};
    struct play played;
    double sum = 0, squares = 0, most = 0;

    (void)state;
    summary_init(&summary);
    struct sink sink = summary_sink(&summary);

    for (size_t i = 0; settings[i]; i++)
        assert_true(scenario_set(scenario, settings[i], NULL));
    assert_true(experiment_init(&experiment, scenario, NULL));
    assert_true(experiment_play(&experiment, &sink, NULL, NULL, &result, NULL));
    summary_finish(&summary, &result);

    play(&played, 1, settings);
    for (guint p = 0; p < played.ports->len; p++) {
        const struct sink_port *port = &g_array_index(played.ports, struct sink_port, p);

        if (port->tier != 2 || port->port & 1)
            continue;
        sum += (double)port->bytes;
        squares += (double)port->bytes * (double)port->bytes;
        most = MAX(most, (double)port->bytes);
    }
    assert_true(most > 1.9 * sum / 8); /* two flows met */
    assert_true(fabs(summary_value(&summary, "balance_tier_2_up_max_over_mean") - most * 8 / sum) <
                1e-8);
    assert_true(
        fabs(summary_value(&summary, "balance_tier_2_up_jain") - sum * sum / (8 * squares)) < 1e-8);
    /* each host of the left half sends the same: the left half alone uses its links upwards */
    assert_true(fabs(summary_value(&summary, "balance_tier_1_up_jain") - 0.5) < 0.01);
    assert_null(summary_text(&summary, "balance_tier_3_up_jain"));
    play_clear(&played);
    backend_result_clear(&result);
    experiment_clear(&experiment);
    scenario_free(scenario);
    summary_clear(&summary);
}

/* Completion of the last flow over that of a lone one; `paths` NULL: RoCEv2 with one. */
static double slowdown(uint64_t seed, const char *paths, const char *flows)
{
    const char *settings[] = {"topology.kind=clos",
                              "topology.hosts=16",
                              "topology.hosts_per_leaf=8",
                              "topology.spines=8",
                              "queue.limit=1GB",
                              "transport.window=0B",
                              "transport.ack_every=1024",
                              "workload.kind=permutation",
                              "workload.bytes=4MB",
                              "workload.pattern=shift",
                              flows,
                              NULL};
    const char *sprayed[] = {"topology.kind=clos",
                             "topology.hosts=16",
                             "topology.hosts_per_leaf=8",
                             "topology.spines=8",
                             "transport.name=metaroce",
                             "transport.window_initial=64",
                             "workload.kind=permutation",
                             "workload.bytes=4MB",
                             "workload.pattern=shift",
                             paths ? paths : "transport.paths=1",
                             flows,
                             NULL};
    struct play played;
    double ratio;

    play(&played, seed, paths ? sprayed : settings);
    ratio = (double)played.last_ps / (double)play_flow_of(&played, 0)->ideal_ps;
    assert_int_equal(played.result.outcome, BACKEND_FINISHED);
    play_clear(&played);
    return ratio;
}

/* 87: within a rack there is one path, and nothing to gain by more. */
static void test_no_gain_within_a_rack(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double one = slowdown(seed, "transport.paths=1", "workload.ranks=0-7");
        double many = slowdown(seed, "transport.paths=16", "workload.ranks=0-7");

        /* more paths, more acknowledgements: 1.3 % here, and no gain */
        assert_true(many >= one && many < one + 0.02);
        assert_true(slowdown(seed, NULL, "workload.ranks=0-7") < 1.0001);
    }
}

/*
 * 87: across, 8 flows each way on 8 links: the last one waits for the fullest link of 16, which has
 * 2.942 flows on average (sd 0.696; exact sum over two throws of 8 balls into 8 bins).
 */
static void test_gain_across_racks(void **state)
{
    double one = 0, many = 0;
    const int n_seeds = 40;

    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)n_seeds; seed++) {
        one += slowdown(seed, NULL, "workload.shift=8") / n_seeds;
        many += slowdown(seed, "transport.paths=64", "workload.shift=8") / n_seeds;
    }
    assert_true(fabs(one - 2.942) < 3 * 0.696 / sqrt(n_seeds));
    assert_true(many < 1.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polarisation_has_a_switch),
        cmocka_unit_test(test_one_flow_is_one_link),
        cmocka_unit_test(test_64_flows_on_4_links),
        cmocka_unit_test(test_balance_is_in_the_summary),
        cmocka_unit_test(test_no_gain_within_a_rack),
        cmocka_unit_test(test_gain_across_racks),
    };

    return cmocka_run_group_tests_name("ecmp", tests, NULL, NULL);
}
