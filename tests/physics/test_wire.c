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

/* The only loss is the last packet: it waits exactly one timeout (users.md 69). */
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
static void test_metaroce_leaves_and_returns(void **state)
{
    static const char *const keys[] = {"paths=4", NULL};
    struct wire wire;
    const char *const *name = transport_find("metaroce")->totals;
    int64_t totals[TRANSPORT_MAX_TOTALS] = {0};

    (void)state;
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
    assert_true(message->bytes_by_plane[1] > before + 1000000);
    wire.connection->ops->report(wire.connection, totals);
    for (int i = 0; name[i]; i++)
        if (strstr(name[i], "dead") || strstr(name[i], "returned") || strstr(name[i], "probes"))
            assert_true(totals[i] >= 2);
    wire_close(&wire);
    message_free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_masks),   cmocka_unit_test(test_random_masks),
        cmocka_unit_test(test_psn_wrap),    cmocka_unit_test(test_tail_loss_waits_one_timeout),
        cmocka_unit_test(test_retry_limit), cmocka_unit_test(test_metaroce_leaves_and_returns),
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
