/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What transports make of faults: planes that die and return, single links, flapping; and the
 * users' cases of loss that are about a whole run (66, 67, 73, 77, 78, 80).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/random.h"
#include "tests/physics/play.h"
#include <math.h>
#include <stdio.h>

static void play_with(struct play *result, uint64_t seed, const char *const *base,
                      const char *const *more)
{
    const char *all[40];
    int n = 0;

    for (; *base; base++)
        all[n++] = *base;
    for (; more && *more; more++)
        all[n++] = *more;
    all[n] = NULL;
    assert_in_range(n, 1, 39);
    play(result, seed, all);
}

/* What arrived was delivered once: the player asserts it; here that all of it was. */
static void assert_all_delivered(const struct play *result)
{
    assert_int_equal(result->result.outcome, BACKEND_FINISHED);
    for (guint i = 0; i < result->flows->len; i++)
        assert_int_equal(play_flow_of(result, i)->status, SINK_FINISHED);
}

/* --- users' case 78: a plane dies and returns ------------------------------------------------ */

#define TWO_HOSTS                                                                                  \
    "topology.kind=line", "topology.link_rate=25Gbps", "workload.kind=list", "fault:a.at=2ms",     \
        "fault:a.until=5ms", "fault:a.object=plane:1"

static void metaroce_leaves_a_plane_and_returns(void **state)
{
    static const struct {
        const char *planes, *flow;
        double n;
    } cases[] = {{"topology.planes=4", "workload.flows=0>1 100MB", 4},
                 {"topology.planes=8", "workload.flows=0>1 200MB", 8}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *settings[] = {TWO_HOSTS, "transport.name=metaroce", cases[i].planes,
                                  cases[i].flow, NULL};
        struct play result;

        play_with(&result, 1, settings, NULL);
        assert_all_delivered(&result);
        assert_true(fabs(play_value(&result, "fault_a_reached") - (cases[i].n - 1) / cases[i].n) <
                    0.005);
        assert_true(fabs(play_value(&result, "fault_a_end_reached") - 1) < 0.005);
        /* two timeouts of 50 us and 100 us, then it is gone; it returns when probed, at 100 us,
         * after the switches have let it, at 1 ms */
        assert_in_range(play_value(&result, "fault_a_detection"), 40e6, 70e6);
        assert_true(play_value(&result, "fault_a_recovery") < 200e6);
        assert_in_range(play_value(&result, "fault_a_end_recovery"), 900e6, 1200e6);
        assert_true(play_value(&result, "metaroce_paths_declared_dead") == 16 / cases[i].n);
        assert_true(play_value(&result, "metaroce_paths_returned") == 16 / cases[i].n);
        /* what was on the dead plane is sent again once */
        assert_in_range(result.retransmitted, 1, 40);
        assert_true(result.spurious <= result.retransmitted / 4);
        play_clear(&result);
    }
}

/* The receiver's share counts in round trips of data: probes, which are small, do not shrink it. */
static void a_probe_does_not_shrink_the_share(void **state)
{
    static const char *const settings[] = {TWO_HOSTS,
                                           "transport.name=metaroce",
                                           "topology.planes=4",
                                           "workload.flows=0>1 150MB",
                                           "faults.convergence_time=0ps",
                                           NULL};
    struct play result;

    (void)state;
    play_with(&result, 1, settings, NULL);
    assert_true(play_value(&result, "fault_a_end_reached") > 0.995);
    play_clear(&result);
}

/* Four queue pairs, one a plane; 48 flows of 2 MB in turn over them: 7.8 ms on all planes. */
static void play_bonded(struct play *result, const char *const *more)
{
    static const char *const base[] = {TWO_HOSTS,
                                       "topology.planes=4",
                                       "transport.name=rocev2",
                                       "transport.queue_pairs=4",
                                       "transport.spread=rotate",
                                       "transport.rto=200us",
                                       "faults.convergence_time=0ps",
                                       NULL};
    g_autoptr(GString) flows = g_string_new("workload.flows=0>1 2MB");
    const char *all[10] = {flows->str};

    for (int i = 1; i < 48; i++)
        g_string_append(flows, "; 0>1 2MB");
    all[0] = flows->str;
    for (int n = 1; more && *more && n < 9; n++)
        all[n] = *more++;
    play_with(result, 1, base, all);
}

/* Without a bond the queue pair on that plane times out eight times and fails: its flows with it.
 */
static void rocev2_fails_by_the_retry_limit(void **state)
{
    struct play result;
    int64_t n_failed = 0;

    (void)state;
    play_bonded(&result, NULL);
    assert_int_equal(result.result.outcome, BACKEND_UNFINISHED);
    for (guint i = 0; i < result.flows->len; i++)
        n_failed += play_flow_of(&result, i)->status == SINK_FAILED;
    assert_in_range(n_failed, 8, 10); /* of 12 on that plane, three were over at 2 ms */
    assert_int_equal(result.timeouts, 8);
    play_clear(&result);
}

static void a_bonded_nic_moves_queue_pairs(void **state)
{
    static const char *const recoveries[] = {"transport.recovery=go_back_n",
                                             "transport.recovery=selective_repeat"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *more[] = {"transport.bond=on", "transport.bond_delay=500us", recoveries[i],
                              NULL};
        struct play result;

        play_bonded(&result, more);
        assert_all_delivered(&result);
        assert_true(play_value(&result, "rocev2_bond_moves") == 2); /* there and back */
        /* two timeouts of 200 us, then the port is left: 500 us of a third plane's work lost */
        assert_int_equal(result.timeouts, 2);
        assert_true(fabs(play_value(&result, "fault_a_reached") - 0.75) < 0.01);
        play_clear(&result);
    }
}

/* Delays: 0 loses what was on the wire alone; longer than eight timeouts comes too late. */
static void the_delay_of_a_bond(void **state)
{
    static const struct {
        const char *delay;
        int64_t n_timeouts;
        bool fails;
    } cases[] = {{"transport.bond_delay=0ps", 0, false},
                 {"transport.bond_delay=1500us", 7, false},
                 {"transport.bond_delay=1700us", 8, true}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *more[] = {"transport.bond=on", cases[i].delay, NULL};
        struct play result;

        play_bonded(&result, more);
        assert_int_equal(result.result.outcome == BACKEND_FINISHED, !cases[i].fails);
        assert_int_equal(result.timeouts, cases[i].n_timeouts);
        play_clear(&result);
    }
}

/* The far end's port: a NIC does not see it. Timeouts do, where they may. */
static void the_far_port_is_not_seen(void **state)
{
    static const struct {
        const char *timeouts;
        bool fails;
    } cases[] = {{"transport.bond_timeouts=0", true}, {"transport.bond_timeouts=3", false}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *settings[] = {"topology.kind=star",      "topology.hosts=3",
                                  "topology.planes=2",       "workload.kind=alltoall",
                                  "workload.bytes=30MB",     "transport.name=rocev2",
                                  "transport.queue_pairs=2", "transport.rto=100us",
                                  "transport.bond=on",       "transport.bond_delay=50us",
                                  "fault:a.object=nic:1.0",  "fault:a.at=100us",
                                  cases[i].timeouts,         NULL};
        struct play result;

        play_with(&result, 1, settings, NULL);
        assert_int_equal(result.result.outcome == BACKEND_FINISHED, !cases[i].fails);
        for (guint f = 0; f < result.flows->len; f++) {
            const struct sink_flow *flow = play_flow_of(&result, f);

            assert_int_equal(flow->status == SINK_FAILED, cases[i].fails && flow->dst == 1);
        }
        play_clear(&result);
    }
}

/* --- one link inside a plane ----------------------------------------------------------------- */

static const char *const leaf_spine[] = {
    "topology.kind=clos", "topology.hosts=16", "topology.hosts_per_leaf=4",  "topology.spines=4",
    "topology.planes=2",  "topology.tiers=2",  "topology.link_rate=100Gbps", NULL};

/* Nobody tells the switches: paths over the dead spine find other ports by themselves. */
static void metaroce_goes_round_a_dead_link(void **state)
{
    static const char *const more[] = {"workload.kind=permutation", "workload.bytes=20MB",
                                       "transport.name=metaroce",   "fault:a.object=switch:2.0.1",
                                       "fault:a.at=200us",          "faults.convergence_time=never",
                                       "faults.window=100us",       NULL};
    struct play result;

    (void)state;
    play_with(&result, 1, leaf_spine, more);
    assert_all_delivered(&result);
    assert_true(play_value(&result, "metaroce_path_rehashes") > 0);
    assert_true(play_value(&result, "metaroce_paths_returned") > 0);
    play_clear(&result);
}

/* --- anything, anywhere ----------------------------------------------------------------------- */

static char *any_object(struct random_stream *draws)
{
    switch (random_below(draws, 5)) {
    case 0:
        return g_strdup_printf("link:%u", (unsigned)random_below(draws, 64));
    case 1:
        return g_strdup_printf("nic:%u.%u", (unsigned)random_below(draws, 16),
                               (unsigned)random_below(draws, 2));
    case 2:
        return g_strdup_printf("switch:s%u", (unsigned)random_below(draws, 16));
    case 3:
        return g_strdup_printf("uplink:1.%u.%u.%u", (unsigned)random_below(draws, 2),
                               (unsigned)random_below(draws, 4), (unsigned)random_below(draws, 4));
    default:
        return g_strdup_printf("plane:%u", (unsigned)random_below(draws, 2));
    }
}

static const char *any_change(struct random_stream *draws)
{
    static const char *const changes[] = {"down",       "down",      "down",  "rate=10%",
                                          "rate=3Gbps", "loss=0.05", "loss=1"};

    return changes[random_below(draws, G_N_ELEMENTS(changes))];
}

/* Three faults that are over after 3 ms at the latest. */
static void add_faults(struct random_stream *draws, GPtrArray *settings)
{
    for (char name = 'a'; name <= 'c'; name++) {
        uint64_t at = random_below(draws, 1500), flap = random_below(draws, 2);
        g_autofree char *object = any_object(draws);

        g_ptr_array_add(settings, g_strdup_printf("fault:%c.object=%s", name, object));
        g_ptr_array_add(settings, g_strdup_printf("fault:%c.change=%s", name, any_change(draws)));
        g_ptr_array_add(settings, g_strdup_printf("fault:%c.at=%uus", name, (unsigned)at));
        g_ptr_array_add(settings, g_strdup_printf("fault:%c.until=%uus", name,
                                                  (unsigned)(at + 1 + random_below(draws, 1400))));
        if (!flap)
            continue;
        g_ptr_array_add(settings, g_strdup_printf("fault:%c.flap_period=97us", name));
        g_ptr_array_add(settings, g_strdup_printf("fault:%c.flap_time=%uus", name,
                                                  1 + (unsigned)random_below(draws, 90)));
    }
}

/*
 * Random faults on random objects, every transport, both forms of port, all ways of rerouting: when
 * they are over, all that was asked for arrives once (conservation and delivery are checked in the
 * run), and nothing stands still.
 */
static void all_arrives_when_faults_are_over(void **state)
{
    static const char *const transports[][4] = {
        {"transport.name=metaroce"},
        {"transport.name=metaroce", "transport.preset=cut", "transport.sequence=reuse"},
        {"transport.name=metaroce", "transport.placement=in_order"},
        {"transport.name=rocev2", "transport.rto=200us", "transport.retry_limit=1000000",
         "transport.queue_pairs=4"},
        {"transport.name=rocev2", "transport.rto=200us", "transport.retry_limit=1000000",
         "transport.recovery=selective_repeat"},
    };
    static const char *const forms[] = {"queue.kind=red", "queue.priorities=0,7,7", "pfc.enable=on",
                                        "buffer.kind=shared"};
    static const char *const times[] = {"0ps", "50us", "never"};
    struct random_stream draws = random_stream(1, RANDOM_WORKLOAD, 80);

    (void)state;
    for (uint64_t i = 0; i < 60; i++) {
        g_autoptr(GPtrArray) settings = g_ptr_array_new_with_free_func(g_free);
        struct play result;
        bool is_roce = i % 5 >= 3;

        g_ptr_array_add(settings,
                        g_strdup(i % 2 ? "workload.kind=permutation" : "workload.kind=alltoall"));
        g_ptr_array_add(settings, g_strdup(i % 2 ? "workload.bytes=8MB" : "workload.bytes=16MB"));
        for (int k = 0; k < 4 && transports[i % 5][k]; k++)
            g_ptr_array_add(settings, g_strdup(transports[i % 5][k]));
        if (is_roce && random_below(&draws, 2))
            g_ptr_array_add(settings, g_strdup("transport.bond=on"));
        if (is_roce)
            g_ptr_array_add(settings, g_strdup("transport.bond_delay=150us"));
        g_ptr_array_add(settings, g_strdup(forms[random_below(&draws, 4)]));
        g_ptr_array_add(settings, g_strdup_printf("faults.convergence_time=%s",
                                                  times[random_below(&draws, 3)]));
        g_ptr_array_add(settings,
                        g_strdup(i % 3 ? "faults.rehash=modulo" : "faults.rehash=resilient"));
        g_ptr_array_add(settings, g_strdup("run.end=200ms"));
        add_faults(&draws, settings);
        g_ptr_array_add(settings, NULL);
        play_with(&result, i, leaf_spine, (const char *const *)settings->pdata);
        if (result.result.outcome != BACKEND_FINISHED) {
            g_autofree char *all = g_strjoinv(" --set ", (char **)settings->pdata);

            fail_msg("%s: %s", (char *)g_ptr_array_index(result.result.waits, 0), all);
        }
        assert_all_delivered(&result);
        play_clear(&result);
    }
}

/* --- users' case 80 ----------------------------------------------------------------------------
 */

/*
 * A failure line of an htsim matrix. The one flow of 2 MB takes 170 us at 100 Gb/s. It is sprayed
 * over the aggregation switches, so a dead link of one of them up to the cores shows while the
 * switches do not know.
 */
static void failure_lines_of_htsim_are_played(void **state)
{
    static const char matrix[] = "Nodes 16\nConnections 1\nTriggers 0\nFailures 1\n"
                                 "0->13 id 1 start 0 size 2000000\n"
                                 "failure switch_type AGG switch_id 0 link_id 0\n";
    static const char *const times[] = {"workload.failures_at=0ps", "workload.failures_at=50us",
                                        "workload.failures_at=9s"};
    g_autofree char *folder = g_dir_make_tmp("weft-test-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "own.cm", NULL);
    g_autofree char *file = g_strconcat("workload.file=", path, NULL);
    double lost[3];

    (void)state;
    assert_true(g_file_set_contents(path, matrix, -1, NULL));
    for (int i = 0; i < 3; i++) {
        const char *settings[] = {"topology.kind=clos",
                                  "topology.tiers=3",
                                  "topology.hosts=16",
                                  "topology.hosts_per_leaf=2",
                                  "topology.pods=4",
                                  "topology.spines=8",
                                  "topology.cores=4",
                                  "topology.link_rate=100Gbps",
                                  "workload.kind=htsim",
                                  file,
                                  "transport.name=metaroce",
                                  "route.kind=spray",
                                  times[i],
                                  "faults.convergence_time=never",
                                  NULL};
        struct play result;

        play_with(&result, 1, settings, NULL);
        assert_all_delivered(&result);
        lost[i] = play_value(&result, "dropped_link_down");
        play_clear(&result);
    }
    assert_true(lost[0] > 0 && lost[1] > 0 && lost[2] == 0);
    remove(path);
    remove(folder);
}

/* --- users' cases of loss ----------------------------------------------------------------------
 */

static const char *const transports[] = {"transport.name=metaroce", "transport.name=rocev2"};

/* Case 66: one lossy link, 64 ranks: it finishes, and not much later. */
static void one_lossy_link(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *settings[] = {"topology.kind=clos",
                                  "topology.hosts=64",
                                  "topology.hosts_per_leaf=8",
                                  "workload.kind=allreduce",
                                  "workload.bytes=4MB",
                                  transports[i],
                                  i ? "transport.rto=200us" : "transport.rto_min=50us",
                                  NULL};
        static const char *const lossy[] = {"fault:a.object=link:0", "fault:a.change=loss=0.001",
                                            NULL};
        struct play clean, result;

        play_with(&clean, 1, settings, NULL);
        play_with(&result, 1, settings, lossy);
        assert_all_delivered(&result);
        assert_true(play_value(&result, "dropped_loss") > 0);
        assert_true(result.group_ps < 5 * clean.group_ps);
        play_clear(&clean);
        play_clear(&result);
    }
}

/* Case 67: 1 % on all links, acknowledgements and NAKs included: it finishes; lost ones count. */
static void loss_of_answers_too(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *settings[] = {"topology.kind=clos",
                                  "topology.hosts=32",
                                  "topology.hosts_per_leaf=8",
                                  "workload.kind=permutation",
                                  "workload.bytes=4MB",
                                  transports[i],
                                  "loss.rate_per_link=0.01",
                                  i ? "transport.rto=200us" : "transport.rto_min=50us",
                                  NULL};
        struct play result;

        play_with(&result, 1, settings, NULL);
        assert_all_delivered(&result);
        assert_true(play_value(&result, "dropped_data") > 0);
        assert_true(play_value(&result, "dropped_ack") > 0);
        assert_true(play_value(&result, "dropped_data") + play_value(&result, "dropped_ack") +
                        play_value(&result, "dropped_control") ==
                    play_value(&result, "dropped_loss") + play_value(&result, "dropped_queue"));
        if (i)
            assert_true(play_value(&result, "rocev2_naks_sent") > 0);
        play_clear(&result);
    }
}

/* Case 73: two transports in a run, each with its own settings, under loss: both are what they are
 * alone, by name. */
static void two_transports_under_loss(void **state)
{
    static const char *const settings[] = {"topology.kind=star",
                                           "topology.hosts=4",
                                           "workload.kind=list",
                                           "workload.flows=0>1 2MB; 2>3 2MB transport=other",
                                           "transport.name=rocev2",
                                           "transport.cc=dcqcn",
                                           "transport.rto=100us",
                                           "transport:other.name=metaroce",
                                           "transport:other.payload=1024B",
                                           "loss.rate_per_link=0.01",
                                           NULL};
    struct play result;

    (void)state;
    play_with(&result, 1, settings, NULL);
    assert_all_delivered(&result);
    /* 489 packets of 4096 B, 1954 of 1024 B, and what was lost on two links */
    assert_int_equal(
        play_flow_of(&result, 0)->packets - play_flow_of(&result, 0)->retransmitted_packets, 489);
    assert_int_equal(
        play_flow_of(&result, 1)->packets - play_flow_of(&result, 1)->retransmitted_packets, 1954);
    assert_true(play_value(&result, "rocev2_naks_sent") > 0);
    assert_true(play_value(&result, "metaroce_losses_seen_by_gap") > 0);
    assert_in_range(play_flow_of(&result, 1)->retransmitted_packets, 20, 70); /* N p = 39 */
    play_clear(&result);
}

/* Case 77: causes apart; their sum is what was sent and neither arrived nor is on its way. */
static void causes_add_up(void **state)
{
    static const char *const more[] = {
        "workload.kind=incast",  "workload.senders=12",           "workload.bytes=3MB",
        "transport.name=rocev2", "transport.rto=200us",           "transport.retry_limit=3",
        "queue.limit=64KiB",     "loss.rate_per_link=0.001",      "fault:a.object=nic:3.0",
        "fault:a.at=100us",      "fault:b.object=uplink:1.0.1.0", "fault:b.at=120us",
        "fault:b.until=300us",   "fault:c.object=nic:0.0",        "fault:c.at=400us",
        "fault:c.until=600us",   "faults.convergence_time=50us",  NULL};
    static const char *const causes[] = {"loss",     "queue",  "no_route", "buffer",
                                         "headroom", "listed", "host",     "link_down"};
    static const char *const classes[] = {"data", "ack", "control", "pfc"};
    struct play result;
    double by_cause = 0, by_class = 0, by_port = 0;

    (void)state;
    play_with(&result, 1, leaf_spine, more);
    for (size_t i = 0; i < G_N_ELEMENTS(causes); i++) {
        g_autofree char *name = g_strconcat("dropped_", causes[i], NULL);

        by_cause += play_value(&result, name);
        assert_int_equal(play_value(&result, name) > 0, i < 3 || i == 7);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(classes); i++) {
        g_autofree char *name = g_strconcat("dropped_", classes[i], NULL);

        by_class += play_value(&result, name);
    }
    for (guint i = 0; i < result.ports->len; i++)
        for (int cause = 0; cause < SINK_N_DROPS; cause++)
            by_port +=
                (double)g_array_index(result.ports, struct sink_port, i).dropped_packets[cause];
    assert_true(by_cause == by_class && by_cause == by_port);
    assert_true(play_value(&result, "host_sent_packets") ==
                play_value(&result, "host_received_packets") + by_cause +
                    play_value(&result, "in_flight_at_end"));
    play_clear(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metaroce_leaves_a_plane_and_returns),
        cmocka_unit_test(a_probe_does_not_shrink_the_share),
        cmocka_unit_test(rocev2_fails_by_the_retry_limit),
        cmocka_unit_test(a_bonded_nic_moves_queue_pairs),
        cmocka_unit_test(the_delay_of_a_bond),
        cmocka_unit_test(the_far_port_is_not_seen),
        cmocka_unit_test(metaroce_goes_round_a_dead_link),
        cmocka_unit_test(all_arrives_when_faults_are_over),
        cmocka_unit_test(failure_lines_of_htsim_are_played),
        cmocka_unit_test(one_lossy_link),
        cmocka_unit_test(loss_of_answers_too),
        cmocka_unit_test(two_transports_under_loss),
        cmocka_unit_test(causes_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
