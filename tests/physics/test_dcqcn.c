/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DCQCN with the paper's set, N flows of 1000 B packets through one port with RED, against its
 * fixed points (SOURCES.md 9.1). Packets are marked as they leave: the fluid model's feedback takes
 * a constant time, and a mark made on arrival comes a queue later, which at 40G and some 400 KB is
 * more than DCQCN bears (Zhu et al. say so of signals that wait in the queue they tell of).
 *
 * The queue is taken at the ends: from 150 ms on, a packet of 100 B a 97 us from a host of its own
 * waits behind the queue, end - start - idle time, times the rate; less the half packet that is in
 * service when it comes, as RED does not count that one. A quantity of the network, not of our
 * code, and as good as the time average: 97 us has no relation to any clock here.
 *
 * Two predictions, neither fitted. The fluid model's q* = Kmin + p* / Pmax (Kmax - Kmin) multiplies
 * means that belong together and its p* lies some 20 % low (sim/stats/dcqcn_fluid.h says why); the
 * balance of one cycle is made of the same constants without that.
 *
 * The slope of marking is the paper's, 195 KB a 1 %, in two places: from 600 KB on, where all seven
 * points of SOURCES.md 9.1 are within 10 % of q*, and from 5 KB on, where what is missing in p*
 * shows in full and the cycle is met within 10 %.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "sim/stats/dcqcn_fluid.h"
#include "sim/stats/stats.h"
#include "tests/physics/play.h"
#include <math.h>

#define PACKET_BYTES 1000
#define WARM_US      150000
#define PROBE_US     97
#define PROBE_BYTES  100

struct outcome {
    double mean, sd, least, most; /* queue in bytes */
    double fairness;              /* Jain's index of the flows' packets */
    int64_t marked;
};

static char *list_flows(int n_flows, int n_probes)
{
    GString *text = g_string_new("workload.flows=");

    for (int i = 1; i <= n_flows; i++)
        g_string_append_printf(text, "%d>0 1TB; ", i);
    for (int i = 0; i < n_probes; i++)
        g_string_append_printf(text, "%s%d>0 %dB start=%dus transport=probe", i ? "; " : "",
                               n_flows + 1, PROBE_BYTES, WARM_US + i * PROBE_US);
    return g_string_free(text, FALSE);
}

/* Waiting bytes that a probe met. */
static double queue_met(const struct sink_flow *flow, int64_t rate_bps)
{
    double waited_ps = (double)(flow->end_receiver_ps - flow->start_ps - flow->ideal_ps);

    return waited_ps * (double)rate_bps / 8e12 - PACKET_BYTES / 2.0;
}

static struct outcome digest(const struct play *played, int n_flows, int64_t rate_bps)
{
    g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(double));
    struct outcome outcome = {.least = INFINITY, .most = -INFINITY, .marked = played->marked};

    for (guint i = 0; i < played->flows->len; i++) {
        const struct sink_flow *flow = play_flow_of(played, i);
        double value = i < (guint)n_flows ? (double)flow->packets : queue_met(flow, rate_bps);

        if (i >= (guint)n_flows && flow->status != SINK_FINISHED)
            continue; /* a probe that was under way at the end */
        g_array_append_val(i < (guint)n_flows ? packets : queue, value);
        if (i >= (guint)n_flows) {
            outcome.least = fmin(outcome.least, value);
            outcome.most = fmax(outcome.most, value);
        }
    }
    outcome.mean = stats_mean((const double *)(void *)queue->data, queue->len);
    outcome.sd = stats_sd((const double *)(void *)queue->data, queue->len);
    outcome.fairness = stats_jain((const double *)(void *)packets->data, packets->len);
    return outcome;
}

struct marking { /* with the slope of the paper */
    double kmin_bytes, kmax_bytes, pmax;
};

static const struct marking near_empty = {5e3, 200e3, 0.01};
static const struct marking without_edge = {5e3, 785e3, 0.04};
static const struct marking deep = {600e3, 1380e3, 0.04};

static struct outcome run(int64_t gbps, int n_flows, int measured_ms, uint64_t seed,
                          const struct marking *marking)
{
    g_autofree char *hosts = g_strdup_printf("topology.hosts=%d", n_flows + 2);
    g_autofree char *rate = g_strdup_printf("topology.link_rate=%dGbps", (int)gbps);
    g_autofree char *flows = list_flows(n_flows, measured_ms * 1000 / PROBE_US);
    g_autofree char *end = g_strdup_printf("run.end=%dms", WARM_US / 1000 + measured_ms);
    g_autofree char *kmin = g_strdup_printf("queue.kmin=%.0fB", marking->kmin_bytes);
    g_autofree char *kmax = g_strdup_printf("queue.kmax=%.0fB", marking->kmax_bytes);
    g_autofree char *pmax = g_strdup_printf("queue.pmax=%g", marking->pmax);
    const char *settings[] = {"topology.kind=star",
                              hosts,
                              rate,
                              "topology.link_delay=1us",
                              "topology.switch_latency=0ns",
                              "workload.kind=list",
                              flows,
                              "transport.name=rocev2",
                              "transport.payload=918B",
                              "transport.header=82B",
                              "transport.window=0B",
                              "transport.cc=dcqcn",
                              "transport.dcqcn_set=sigcomm15",
                              "transport:probe.name=rocev2",
                              "transport:probe.header=0B",
                              "queue.kind=red",
                              "queue.mark_at=dequeue",
                              kmin,
                              kmax,
                              pmax,
                              "queue.limit=1GB",
                              end,
                              NULL};
    struct play played;

    play(&played, seed, settings);
    struct outcome outcome = digest(&played, n_flows, gbps * 1000000000);

    assert_int_equal(played.dropped_queue, 0);
    assert_int_equal(played.retransmitted, 0);
    play_clear(&played);
    return outcome;
}

static struct dcqcn_fluid fluid_of(int64_t gbps, int n_flows, const struct marking *marking)
{
    return (struct dcqcn_fluid){.capacity_bps = 1e9 * (double)gbps,
                                .least_bps = 10e6,
                                .line_bps = 1e9 * (double)gbps,
                                .n_flows = n_flows,
                                .packet_bytes = PACKET_BYTES,
                                .notify_s = 50e-6,
                                .alpha_timer_s = 55e-6,
                                .increase_timer_s = 55e-6,
                                .byte_counter_bytes = 10e6,
                                .threshold = 5,
                                .ai_bps = 40e6,
                                .gain = 1.0 / 256,
                                .kmin_bytes = marking->kmin_bytes,
                                .kmax_bytes = marking->kmax_bytes,
                                .pmax = marking->pmax,
                                .delay_s = 5e-6};
}

struct point {
    int64_t gbps;
    int n_flows, ms;
};

/* The mean queue over that of the fluid model and that of the cycle. */
static void compare(const struct point *point, const struct marking *marking, double *of_fluid,
                    double *of_cycle)
{
    struct dcqcn_fluid fluid = fluid_of(point->gbps, point->n_flows, marking);
    struct outcome outcome = run(point->gbps, point->n_flows, point->ms, 1, marking);
    struct dcqcn_fluid_point by_fluid, by_cycle;

    assert_true(dcqcn_fluid_fixed_point(&fluid, &by_fluid));
    assert_true(dcqcn_fluid_cycle_point(&fluid, &by_cycle));
    *of_fluid = outcome.mean / by_fluid.queue_bytes;
    *of_cycle = outcome.mean / by_cycle.queue_bytes;
    print_message("# %dG N %d: queue %.1f KB (sd %.1f), fluid %.1f (%.3f), cycle %.1f (%.3f); Jain "
                  "%.4f\n",
                  (int)point->gbps, point->n_flows, outcome.mean / 1e3, outcome.sd / 1e3,
                  by_fluid.queue_bytes / 1e3, *of_fluid, by_cycle.queue_bytes / 1e3, *of_cycle,
                  outcome.fairness);
    assert_true(outcome.fairness > 0.98);
}

static void the_queue_settles_at_the_fluid_fixed_point(void **state)
{
    static const struct point points[] = {{40, 2, 400},  {40, 8, 300},  {40, 16, 300},
                                          {100, 2, 300}, {100, 8, 150}, {400, 8, 100},
                                          {400, 64, 50}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(points); i++) {
        double of_fluid, of_cycle;

        compare(&points[i], &deep, &of_fluid, &of_cycle);
        assert_true(fabs(of_fluid - 1) < 0.10);
        assert_true(fabs(of_cycle - 1) < 0.06);
    }
}

static void near_an_empty_queue_the_balance_of_a_cycle_holds(void **state)
{
    static const struct point points[] = {
        {40, 2, 300}, {40, 4, 300}, {100, 2, 300}, {100, 8, 150}, {400, 8, 50}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(points); i++) {
        double of_fluid, of_cycle;

        compare(&points[i], &near_empty, &of_fluid, &of_cycle);
        assert_true(fabs(of_cycle - 1) < 0.10);
        assert_true(of_fluid > 1.0);
        assert_true(of_fluid < 1.3);
    }
}

/*
 * 40G, N = 8: with Kmax at 200 KB the queue swings between empty and above Kmax, and its mean is
 * below both points. The same slope without that edge (785 KB, 4 %) is near the cycle's point.
 */
static void eight_flows_at_40g_swing_about_kmax(void **state)
{
    struct outcome edge = run(40, 8, 300, 1, &near_empty);
    double of_fluid, of_cycle;

    (void)state;
    print_message("# 40G N 8: queue %.1f KB (sd %.1f); without the edge\n", edge.mean / 1e3,
                  edge.sd / 1e3);
    assert_true(edge.most > 200e3);
    assert_true(edge.least <= 0);
    compare(&(struct point){40, 8, 400}, &without_edge, &of_fluid, &of_cycle);
    assert_true(fabs(of_cycle - 1) < 0.10);
}

/* --- what the congestion control is for ------------------------------------------------------- */

#define SMALL                                                                                      \
    "topology.kind=star", "topology.hosts=9", "topology.link_rate=100Gbps",                        \
        "topology.link_delay=1us", "queue.kind=red", "queue.limit=64MB", "transport.name=rocev2",  \
        "transport.window=0B"

static const char *const controls[] = {"transport.cc=fixed", "transport.dcqcn_set=sigcomm15",
                                       "transport.dcqcn_set=hpcc", "transport.dcqcn_set=connectx"};

static void play_control(struct play *played, size_t control, const char *workload, uint64_t seed)
{
    const char *settings[] = {SMALL,
                              "workload.kind=list",
                              workload,
                              control ? "transport.cc=dcqcn" : "transport.cc=fixed",
                              controls[control],
                              NULL};

    play(played, seed, settings);
    assert_int_equal(played->result.outcome, BACKEND_FINISHED);
}

#define INCAST                                                                                     \
    "workload.flows=1>0 2MB; 2>0 2MB; 3>0 2MB; 4>0 2MB; 5>0 2MB; 6>0 2MB; 7>0 2MB; 8>0 2MB"

/* Where no link is shared all are equal, to the picosecond; in an incast none is, and
 * each with DCQCN holds a smaller queue than the one without. */
static void equal_when_idle_and_different_in_an_incast(void **state)
{
    struct play idle[4], incast[4];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        play_control(&idle[i], i, "workload.flows=1>0 10MB; 2>3 10MB", 1);
        play_control(&incast[i], i, INCAST, 1);
        assert_int_equal(idle[i].last_ps, idle[0].last_ps);
        assert_int_equal(idle[i].marked, 0);
        assert_true(incast[i].marked > 0);
        assert_int_equal(play_value(&idle[i], "rocev2_cnps_sent") > 0, false);
        assert_int_equal(play_value(&incast[i], "rocev2_cnps_sent") > 0, i > 0);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(incast[i].last_ps, incast[j].last_ps);
        if (i > 0)
            assert_true(incast[i].max_queue_bytes < incast[0].max_queue_bytes);
    }
    for (size_t i = 0; i < 4; i++) {
        play_clear(&idle[i]);
        play_clear(&incast[i]);
    }
}

static int64_t pauses(const char *control, const char *window)
{
    const char *settings[] = {SMALL,
                              "workload.kind=list",
                              "workload.flows=1>0 2MB; 2>0 2MB; 3>0 2MB",
                              "pfc.enable=on",
                              control,
                              window,
                              NULL};
    struct play played;

    play(&played, 1, settings);
    assert_int_equal(played.result.outcome, BACKEND_FINISHED);
    assert_int_equal(played.dropped_queue, 0);
    int64_t n = 0;

    for (guint i = 0; i < played.ports->len; i++)
        n += g_array_index(played.ports, struct sink_port, i).pauses_sent;
    play_clear(&played);
    return n;
}

/*
 * 3:1 at 100G with PFC at 37,888 B an ingress port. A window of 24 KiB (6 packets of
 * 4178 B, 25 KB) can never fill that, so nothing pauses. Without a window each sender leaves 2/3 of
 * what it sends behind until the first CNP is back, about 5 us x 100 Gb/s x 2/3 = 42 KB: it pauses,
 * with DCQCN too.
 */
static void dcqcn_pauses_without_a_window(void **state)
{
    (void)state;
    assert_true(pauses("transport.cc=dcqcn", "transport.window=0B") > 0);
    assert_true(pauses("transport.cc=fixed", "transport.window=0B") > 0);
    assert_int_equal(pauses("transport.cc=dcqcn", "transport.window=24KiB"), 0);
    assert_int_equal(pauses("transport.cc=fixed", "transport.window=24KiB"), 0);
}

/* The same seed gives the same run, another seed another (RED's draws). */
static void the_same_seed_gives_the_same_run(void **state)
{
    struct play a, b, c;

    (void)state;
    play_control(&a, 3, INCAST, 5);
    play_control(&b, 3, INCAST, 5);
    play_control(&c, 3, INCAST, 6);
    for (uint64_t flow = 0; flow < 8; flow++) {
        assert_int_equal(play_flow_of(&a, flow)->end_sender_ps,
                         play_flow_of(&b, flow)->end_sender_ps);
        assert_int_equal(play_flow_of(&a, flow)->marked_packets,
                         play_flow_of(&b, flow)->marked_packets);
    }
    assert_int_equal(a.result.n_events, b.result.n_events);
    assert_int_not_equal(a.last_ps, c.last_ps);
    play_clear(&a);
    play_clear(&b);
    play_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_settles_at_the_fluid_fixed_point),
        cmocka_unit_test(near_an_empty_queue_the_balance_of_a_cycle_holds),
        cmocka_unit_test(eight_flows_at_40g_swing_about_kmax),
        cmocka_unit_test(equal_when_idle_and_different_in_an_incast),
        cmocka_unit_test(dcqcn_pauses_without_a_window),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
    };

    stats_init();
    return cmocka_run_group_tests_name("dcqcn", tests, NULL, NULL);
}
