/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Laws of chance that ns-3 has by itself, against ours, over 30 seeds: the mean difference is
 * within three of its standard errors. Neither side knows the other's code or random numbers.
 *
 * RED: with probability p a packet of ours is marked, whatever happened to those before it (DCQCN's
 * rule). ns-3's is Floyd and Jacobson's RED of 1993 with their second method, which spaces marks:
 * the k-th packet after a mark is marked with p / (1 - k p), so the distance of two marks is
 * uniform on 1 to 1/p - 1, its mean is 1 / (2 p), and the rate is 2 p. Half of ns-3's rate is
 * compared with ours.
 */
#include "models/fabric.h"
#include "models/loss.h"
#include "models/ns3/ns3c.h"
#include "models/port_wire.h"
#include "tests/xval/ns3_red.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define N_SEEDS      30
#define PACKET_BYTES 1000
#define N_PACKETS    10000

/* |mean| of the differences in units of its standard error. */
static double sigmas(const double *differences)
{
    double sum = 0, squares = 0;

    for (int i = 0; i < N_SEEDS; i++)
        sum += differences[i];
    for (int i = 0; i < N_SEEDS; i++)
        squares += pow(differences[i] - sum / N_SEEDS, 2);
    return fabs(sum / N_SEEDS) / sqrt(squares / (N_SEEDS - 1) / N_SEEDS);
}

/* --- RED -------------------------------------------------------------------------------------- */

#define KMIN 10
#define KMAX 30
#define PMAX 0.2

static double our_red_rate(uint64_t seed, int64_t waiting)
{
    struct queue_config config = {
        .kmin = KMIN * PACKET_BYTES, .kmax = KMAX * PACKET_BYTES, .pmax = (int64_t)(PMAX * 1e12)};
    struct random_stream draws = random_stream(seed, RANDOM_MARK, 0);
    struct queue_rule rule;
    int n = 0;

    queue_red.derive(&config, &rule);
    for (int i = 0; i < N_PACKETS; i++)
        n += queue_red.admit(&rule, &draws, waiting * PACKET_BYTES) == QUEUE_MARK;
    return (double)n / N_PACKETS;
}

/* Ours sees `ours` packets waiting and ns-3 `theirs`. */
static double red_sigmas(uint32_t ours, uint32_t theirs)
{
    double differences[N_SEEDS];

    for (uint32_t i = 0; i < N_SEEDS; i++)
        differences[i] =
            (double)ns3_red_marks(i + 1, KMIN, KMAX, PMAX, theirs, N_PACKETS) / N_PACKETS / 2 -
            our_red_rate(i + 1, ours);
    return sigmas(differences);
}

/* Where 1/p is whole: p = 0.02, 0.05, 0.1. */
static void test_red(void **state)
{
    (void)state;
    assert_true(red_sigmas(12, 12) < 3);
    assert_true(red_sigmas(15, 15) < 3);
    assert_true(red_sigmas(20, 20) < 3);
    assert_true(red_sigmas(20, 21) > 3); /* one packet more would be seen */
    assert_true(red_sigmas(21, 20) > 3);
}

/* At the thresholds there is no chance: none up to Kmin, all from Kmax on. */
static void test_red_ends(void **state)
{
    (void)state;
    assert_int_equal(ns3_red_marks(1, KMIN, KMAX, PMAX, KMIN, 1000), 0);
    assert_true(our_red_rate(1, KMIN) == 0);
    assert_int_equal(ns3_red_marks(1, KMIN, KMAX, PMAX, KMAX, 1000), 1000);
    assert_true(our_red_rate(1, KMAX) == 1);
}

/* --- loss ------------------------------------------------------------------------------------- */

static double our_loss_rate(uint64_t seed, double rate)
{
    struct loss_config config = {.rate_per_link = (int64_t)(rate * 1e12),
                                 .tiers = (char *)(uintptr_t) "all",
                                 .planes = (char *)(uintptr_t) "all"};
    struct packet packet = {.class = PACKET_DATA};
    struct wire_slot slot = port_slot(&packet);
    struct port port = {.number = 0};
    struct graph graph;
    int n = 0;

    graph_init(&graph);
    graph_add_host(&graph);
    graph_add_host(&graph);
    graph_add_link(&graph, 0, 1, 1000, 0, 1, 0);
    assert_true(graph_finish(&graph, NULL));
    loss_init(&port, &config, &graph, seed, NULL);
    for (int i = 0; i < N_PACKETS; i++)
        n += port.rare->lose(NULL, &port, &slot) != SINK_N_DROPS;
    port_rare_free(&port);
    graph_clear(&graph);
    return (double)n / N_PACKETS;
}

static void count_drop(void *data, int device, const struct ns3c_packet *packet,
                       enum ns3c_drop cause)
{
    (void)device;
    (void)packet;
    *(int *)data += cause == NS3C_DROP_LOSS;
}

/* Packets over one link of ns-3's, through its device, channel and RateErrorModel. */
static double ns3_loss_rate(int64_t stream, double rate)
{
    int n = 0;

    assert_int_equal(ns3c_open(NS3C_P2P, NULL), NS3C_DONE);
    ns3c_node();
    ns3c_node();
    ns3c_link(0, 1, INT64_C(100000000000), 1000);
    ns3c_address(0, 0);
    ns3c_address(1, 1);
    ns3c_on_drop(count_drop, &n);
    assert_int_equal(ns3c_loss_rate(0, rate, stream), NS3C_DONE);
    for (int i = 0; i < N_PACKETS; i++)
        assert_int_equal(ns3c_send(0, 1, 1, NS3C_ECT, PACKET_BYTES, NULL), NS3C_DONE);
    assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
    assert_int_equal(ns3c_close(), NS3C_DONE);
    return (double)n / N_PACKETS;
}

static double loss_sigmas(double ours, double theirs)
{
    double differences[N_SEEDS];

    for (int i = 0; i < N_SEEDS; i++)
        differences[i] = ns3_loss_rate(i + 1, theirs) - our_loss_rate((uint64_t)i + 1, ours);
    return sigmas(differences);
}

static void test_loss(void **state)
{
    (void)state;
    assert_true(loss_sigmas(0.01, 0.01) < 3);
    assert_true(loss_sigmas(0.1, 0.1) < 3);
    assert_true(loss_sigmas(0.1, 0.105) > 3); /* a twentieth more would be seen */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_red),
        cmocka_unit_test(test_red_ends),
        cmocka_unit_test(test_loss),
    };

    return cmocka_run_group_tests_name("ns3_laws", tests, NULL, NULL);
}
