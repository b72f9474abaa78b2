/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each transport without any fabric, over a two-ended wire whose losses are a 64-bit mask: whatever
 * is lost, everything is delivered exactly once and acknowledged, and nothing is left over.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "tests/physics/wire.h"

#define MS        INT64_C(1000000000)
#define N_PACKETS 8

struct setting {
    const char *transport;
    uint32_t n_nics;
    const char *keys[8];
};

static const struct setting settings[] = {
    {"rocev2", 1, {"rto=50us", "retry_limit=1000", "ack_every=1", NULL}},
    {"rocev2", 1, {"rto=50us", "retry_limit=1000", "ack_every=4", "window=12KiB", NULL}},
    {"rocev2", 1, {"rto=50us", "retry_limit=1000", "nak=descent", "window=0B", NULL}},
    {"rocev2", 1, {"rto=50us", "retry_limit=1000", "recovery=selective_repeat", NULL}},
    {"rocev2",
     1,
     {"rto=50us", "retry_limit=1000", "recovery=selective_repeat", "window=12KiB", NULL}},
    {"rocev2",
     2,
     {"rto=50us", "retry_limit=1000", "queue_pairs=4", "recovery=selective_repeat", NULL}},
    {"rocev2", 2, {"rto=50us", "retry_limit=1000", "queue_pairs=3", "spread=rotate", NULL}},
    {"rocev2", 1, {"rto=50us", "retry_limit=1000", "cc=dcqcn", "window=0B", NULL}},
    {"rocev2",
     2,
     {"rto=50us", "retry_limit=1000", "cc=dcqcn", "queue_pairs=4", "recovery=selective_repeat",
      "dcqcn_set=sigcomm15", NULL}},
    {"rocev2",
     1,
     {"rto=50us", "rto_low=20us", "retry_limit=1000", "recovery=selective_repeat", "window=24KiB",
      NULL}},
    {"rocev2",
     1,
     {"rto=50us", "rto_low=20us", "rto_low_packets=1", "retry_limit=1000", "ack_every=1", NULL}},
    {"rocev2",
     1,
     {"rto=50us", "retry_limit=1000", "recovery=selective_repeat", "window=12KiB",
      "window_counts=sequence", "lost_resent=timeout", NULL}},
    {"metaroce", 1, {"paths=1", NULL}},
    {"metaroce", 1, {"paths=4", "preset=cut", NULL}},
    {"metaroce", 4, {"paths=16", NULL}},
    {"metaroce", 2, {"paths=4", "ack_every=1", "window_initial=1", NULL}},
    {"metaroce", 2, {"paths=4", "sequence=reuse", NULL}},
    {"metaroce", 2, {"paths=4", "placement=in_order", NULL}},
    {"metaroce", 2, {"paths=4", "gap_recovery=off", NULL}},
    {"metaroce", 4, {"paths=4", "spray=single", NULL}},
    {"metaroce", 2, {"paths=4", "spray=rotate", "dead_timeouts=1", NULL}},
    {"metaroce",
     2,
     {"paths=4", "ordered_streams=off", "epoch=off", "rehash_timeouts=1", "dead_timeouts=1000",
      NULL}},
};

/* Two messages, the second one short; all masks over the first data and control packets. */
static void check_masks(const struct setting *setting, uint64_t data, uint64_t control)
{
    struct wire wire;

    wire_open(&wire, setting->transport, setting->n_nics, setting->keys);
    wire.lose_data = data;
    wire.lose_control = control;
    struct message *first = wire_message(&wire, 0, 6 * 4096, 0);
    struct message *second = wire_message(&wire, 1, 4097, 0);

    wire_post(&wire, first);
    wire_post(&wire, second);
    wire_run(&wire, 200 * MS);
    assert_int_equal(wire.n_delivered, 2);
    assert_int_equal(wire.n_acknowledged, 2);
    assert_int_equal(wire.n_failed, 0);
    assert_int_equal(first->packets - first->retransmitted_packets, 6);
    assert_int_equal(second->packets - second->retransmitted_packets, 2);
    assert_int_equal(first->packets + second->packets, wire.n_data);
    assert_int_equal(wire.engine.pool.n_live, 0);
    if (control == 0 && data == 0)
        assert_int_equal(wire.n_data, N_PACKETS);
    wire_close(&wire);
    message_free(first);
    message_free(second);
}

static void test_all_masks(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
        for (uint64_t data = 0; data < 1 << N_PACKETS; data++)
            for (uint64_t control = 0; control < 8; control++)
                check_masks(&settings[i], data, control);
}

/* Long messages under random masks: the recoveries of retransmissions too. */
static void test_random_masks(void **state)
{
    struct random_stream draws = random_stream(7, RANDOM_LOSS, 0);

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
        for (int round = 0; round < 100; round++) {
            uint64_t data = random_next(&draws) & random_next(&draws);

            check_masks(&settings[i], data, random_next(&draws) & random_next(&draws));
        }
}

/* 24-bit PSNs wrap: more packets than 2^24 on one queue pair, a loss around the wrap. */
static void test_psn_wrap(void **state)
{
    static const char *const keys[] = {
        "payload=1B", "header=1B", "ack_bytes=1B", "window=64B", "ack_every=16", "rto=50us", NULL};
    struct wire wire;

    (void)state;
    wire_open(&wire, "rocev2", 1, keys);
    wire.delay_ps[0] = 100;
    struct message *message = wire_message(&wire, 0, (1 << 24) + 1000, 0);

    wire_post(&wire, message);
    wire_run(&wire, 100000 * MS);
    assert_int_equal(wire.n_delivered, 1);
    assert_int_equal(message->retransmitted_packets, 0);
    wire_close(&wire);
    message_free(message);
}

/* The only loss is the last packet: it waits exactly one timeout. */
static void test_tail_loss_waits_one_timeout(void **state)
{
    static const char *const keys[] = {"rto=100us", "header=0B", NULL};
    struct wire wire;

    (void)state;
    wire_open(&wire, "rocev2", 1, keys);
    wire.lose_data = 1;
    struct message *message = wire_message(&wire, 0, 4096, 0);

    wire_post(&wire, message);
    wire_run(&wire, 100 * MS);
    assert_int_equal(message->end_receiver_ps, 100000000 + 4096 * 80 + 1000000);
    assert_int_equal(message->timeouts, 1);
    assert_int_equal(message->retransmitted_packets, 1);
    assert_int_equal(message->spurious_retransmissions, 0);
    wire_close(&wire);
    message_free(message);
}

/* Sends `bytes` under `keys`, the first `n_lost` data packets lost; returns the receiver's end. */
static int64_t end_with_losses(const char *const *keys, int64_t bytes, int n_lost,
                               int64_t *timeouts)
{
    struct wire wire;

    wire_open(&wire, "rocev2", 1, keys);
    wire.lose_data = (UINT64_C(1) << n_lost) - 1;
    struct message *message = wire_message(&wire, 0, bytes, 0);

    wire_post(&wire, message);
    wire_run(&wire, 100 * MS);
    assert_int_equal(wire.n_acknowledged, 1);
    int64_t end_ps = message->end_receiver_ps;

    *timeouts = message->timeouts;
    wire_close(&wire);
    message_free(message);
    return end_ps;
}

/*
 * IRN: the timeout runs from the first packet (nothing was acknowledged). Up to 3 packets in flight
 * wait 100 us, more wait 320 us, however many there were when it was set. All are lost once; then
 * n x 4096 B at 80 ps a byte and 1 us.
 */
static void test_two_timeouts(void **state)
{
    static const char *const keys[] = {"rto=320us", "rto_low=100us", "header=0B",
                                       "recovery=selective_repeat", NULL};
    static const char *const by_one[] = {"rto=320us", "rto_low=100us", "rto_low_packets=10",
                                         "header=0B", NULL};
    int64_t timeouts;

    (void)state;
    for (int n = 1; n <= 10; n++) {
        int64_t rto_ps = n <= 3 ? 100000000 : 320000000;

        assert_int_equal(end_with_losses(keys, n * 4096, n, &timeouts),
                         rto_ps + n * 4096 * 80 + 1000000);
        assert_int_equal(timeouts, 1);
    }
    assert_int_equal(end_with_losses(by_one, 40960, 10, &timeouts),
                     100000000 + 10 * 4096 * 80 + 1000000);
}

/* rto_low above the other timeout is refused. */
static void test_timeouts_in_order(void **state)
{
    const struct transport_ops *ops = transport_find("rocev2");
    g_autofree void *config = g_malloc0(ops->config_size);
    g_autoptr(GError) error = NULL;

    (void)state;
    param_defaults(ops->params, config);
    assert_true(ops->check(config, NULL));
    assert_true(param_set(param_find(ops->params, "rto_low"), config, "5ms", NULL));
    assert_false(ops->check(config, &error)); /* 4.096 us x 2^10 = 4.2 ms */
    assert_non_null(strstr(error->message, "rto_low"));
}

static int64_t total(const struct wire *wire, const char *wanted)
{
    int64_t totals[TRANSPORT_MAX_TOTALS] = {0};

    wire->connection->ops->report(wire->connection, totals);
    for (int i = 0; wire->connection->ops->totals[i]; i++)
        if (strcmp(wire->connection->ops->totals[i], wanted) == 0)
            return totals[i];
    fail_msg("no total %s", wanted);
    return 0;
}

/*
 * The gap after a packet is its wire bytes at the rate of then. Packet 0 is marked; it arrives at
 * 334.24 + 1000 ns, its CNP of 98 B at 2342.08 ns, and halves the rate. Packets are 334.24 ns apart
 * until then: number 7 leaves at 2339.68, and number 8 at 2673.92 is the first behind which the gap
 * is 668.48 ns. So the last of 20 has arrived at 2673.92 + 11 x 668.48 + 334.24 + 1000 ns. A CNP
 * that is lost cuts nothing.
 */
static void test_gap_is_wire_bytes_at_the_rate(void **state)
{
    static const char *const keys[] = {"window=0B", "cc=dcqcn", "dcqcn_set=sigcomm15", NULL};

    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        struct wire wire;

        wire_open(&wire, "rocev2", 1, keys);
        wire.mark_data = 1;
        wire.lose_control = (uint64_t)lost;
        struct message *message = wire_message(&wire, 0, 20 * 4096, 0);

        wire_post(&wire, message);
        wire_run(&wire, 100 * MS);
        assert_int_equal(wire.n_acknowledged, 1);
        assert_int_equal(message->end_receiver_ps,
                         lost ? 20 * 334240 + 1000000 : 2673920 + 11 * 668480 + 334240 + 1000000);
        assert_int_equal(message->marked_packets, 1);
        assert_int_equal(total(&wire, "cnps_sent"), 1);
        wire_close(&wire);
        message_free(message);
    }
}

/* 64 marked packets of 334.24 ns arrive within 21.1 us: CNPs at 0, 4, 8 ... 20 us after the first
 * arrival if not held back, one for each, or one alone. */
static void test_cnp_interval(void **state)
{
    static const struct {
        const char *interval;
        int64_t n;
    } rows[] = {{"dcqcn_cnp_interval=4us", 6},
                {"dcqcn_cnp_interval=0ps", 64},
                {"dcqcn_cnp_interval=50us", 1}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *keys[] = {"window=0B",      "cc=dcqcn", "dcqcn_g=0", "dcqcn_initial_alpha=0",
                              rows[i].interval, NULL};
        struct wire wire;

        wire_open(&wire, "rocev2", 1, keys);
        wire.mark_data = UINT64_MAX;
        struct message *message = wire_message(&wire, 0, 64 * 4096, 0);

        wire_post(&wire, message);
        wire_run(&wire, 100 * MS);
        assert_int_equal(message->marked_packets, 64);
        assert_int_equal(message->end_receiver_ps, 64 * 334240 + 1000000); /* alpha 0: no cut */
        assert_int_equal(total(&wire, "cnps_sent"), rows[i].n);
        wire_close(&wire);
        message_free(message);
    }
}

/* At the least rate, 1 Mb/s, a packet takes 33 ms, far more than the timeout of 4.2 ms: none fires,
 * since each packet asks for its acknowledgement. */
static void test_a_slow_sender_does_not_time_out(void **state)
{
    static const char *const keys[] = {"window=0B",
                                       "cc=dcqcn",
                                       "dcqcn_cnp_interval=0ps",
                                       "dcqcn_decrease_interval=0ps",
                                       "dcqcn_g=0",
                                       "dcqcn_increase_timer=10s",
                                       "dcqcn_byte_counter=0B",
                                       NULL};
    struct wire wire;

    (void)state;
    wire_open(&wire, "rocev2", 1, keys);
    wire.mark_data = UINT64_MAX;
    struct message *message = wire_message(&wire, 0, 70 * 4096, 0);

    wire_post(&wire, message);
    wire_run(&wire, 10000 * MS);
    assert_int_equal(wire.n_acknowledged, 1);
    assert_true(message->end_receiver_ps > 100 * MS);
    assert_int_equal(message->timeouts, 0);
    assert_int_equal(message->retransmitted_packets, 0);
    wire_close(&wire);
    message_free(message);
}

/* Nothing gets through: retry_limit timeouts, then FAILED. */
static void test_retry_limit(void **state)
{
    static const char *const keys[] = {"rto=100us", "retry_limit=3", NULL};
    struct wire wire;

    (void)state;
    wire_open(&wire, "rocev2", 1, keys);
    wire.dead[0] = true;
    struct message *message = wire_message(&wire, 0, 40960, 0);

    wire_post(&wire, message);
    wire_run(&wire, 100 * MS);
    assert_int_equal(wire.n_failed, 1);
    assert_int_equal(message->timeouts, 4);
    assert_int_equal(wire.n_delivered, 0);
    assert_int_equal(event_queue_next_ps(&wire.engine.events), INT64_MAX);
    wire_close(&wire);
    message_free(message);
}

/* A wire dies and heals: MetaRoCE leaves its paths, resends, probes and returns. */
static void leave_and_return(const char *probe)
{
    const char *keys[] = {"paths=4", probe, NULL};
    bool probing = strcmp(probe, "probe=on") == 0;
    struct wire wire;
    const char *const *name = transport_find("metaroce")->totals;
    int64_t totals[TRANSPORT_MAX_TOTALS] = {0};

    wire_open(&wire, "metaroce", 2, keys);
    struct message *message = wire_message(&wire, 0, 100000000, 0);

    wire_post(&wire, message);
    wire_run(&wire, MS);
    wire.dead[1] = true;
    wire_run(&wire, 3 * MS);
    int64_t before = message->bytes_by_plane[1];

    wire.dead[1] = false;
    wire_run(&wire, 100 * MS);
    assert_int_equal(wire.n_delivered, 1);
    assert_int_equal(message->bytes_by_plane[1] > before + 1000000, probing);
    assert_int_equal(message->bytes_by_plane[1] == before, !probing);
    wire.connection->ops->report(wire.connection, totals);
    for (int i = 0; name[i]; i++) {
        if (strstr(name[i], "dead"))
            assert_true(totals[i] >= 2);
        if (strstr(name[i], "returned") || strstr(name[i], "probes"))
            assert_int_equal(totals[i] >= 2, probing);
    }
    wire_close(&wire);
    message_free(message);
}

static void test_metaroce_leaves_and_returns(void **state)
{
    (void)state;
    leave_and_return("probe=on");
}

/* Without probing a dead plane stays left, though it healed. */
static void test_metaroce_without_probing(void **state)
{
    (void)state;
    leave_and_return("probe=off");
}

/* A number that will not come again does not hold the 256-bit bitmap: the floor moves it on. */
static void test_metaroce_floor_moves_the_bitmap(void **state)
{
    static const char *const keys[] = {"paths=1", NULL};
    struct wire wire;

    (void)state;
    wire_open(&wire, "metaroce", 1, keys);
    wire.lose_data = 1 << 3;
    struct message *message = wire_message(&wire, 0, 1000 * 4096, 0);

    wire_post(&wire, message);
    wire_run(&wire, 100 * MS);
    assert_int_equal(wire.n_acknowledged, 1);
    assert_int_equal(message->retransmitted_packets, 1);
    assert_int_equal(message->timeouts, 0);
    assert_int_equal(message->spurious_retransmissions, 0);
    wire_close(&wire);
    message_free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_masks),
        cmocka_unit_test(test_random_masks),
        cmocka_unit_test(test_psn_wrap),
        cmocka_unit_test(test_tail_loss_waits_one_timeout),
        cmocka_unit_test(test_two_timeouts),
        cmocka_unit_test(test_timeouts_in_order),
        cmocka_unit_test(test_gap_is_wire_bytes_at_the_rate),
        cmocka_unit_test(test_cnp_interval),
        cmocka_unit_test(test_a_slow_sender_does_not_time_out),
        cmocka_unit_test(test_retry_limit),
        cmocka_unit_test(test_metaroce_leaves_and_returns),
        cmocka_unit_test(test_metaroce_without_probing),
        cmocka_unit_test(test_metaroce_floor_moves_the_bitmap),
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
