/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conservation is checked at the end of every run. Here are runs that break it: an endpoint that
 * forgets a packet, one that invents a reception, one that lies about bytes; each must end BROKEN.
 * And honest runs under every kind of loss, stopped in the middle, must hold.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "models/host.h"
#include "sim/app/experiment.h"
#include <string.h>

extern const struct transport_ops transport_example;

static const struct sink_ops nothing = {.flow = NULL};

static bool once(struct connection *connection, struct packet *packet)
{
    return packet->class == PACKET_DATA && connection->dst->received_packets == 5;
}

/* Keeps a packet: the pool has one more alive than wires and queues hold. */
static void forget(struct connection *connection, struct packet *packet)
{
    if (once(connection, packet))
        return;
    transport_example.receive(connection, packet);
}

/* Counts a reception that was none. */
static void invent(struct connection *connection, struct packet *packet)
{
    connection->dst->received_packets += once(connection, packet); /* once: 5 becomes 6 */
    transport_example.receive(connection, packet);
}

/* A packet grows on its way. */
static void grow(struct connection *connection, struct packet *packet)
{
    connection->dst->received_bytes += once(connection, packet);
    transport_example.receive(connection, packet);
}

static void honest(struct connection *connection, struct packet *packet)
{
    transport_example.receive(connection, packet);
}

static enum backend_outcome run(void (*receive)(struct connection *, struct packet *),
                                const char *const *more, char **message)
{
    struct transport_ops ops = transport_example;
    struct scenario *scenario = scenario_new();
    struct sink sink = {&nothing, NULL};
    struct experiment experiment;
    struct backend_result result;
    GError *error = NULL;

    ops.receive = receive;
    g_assert_true(scenario_set(scenario, "topology.kind=star", &error));
    g_assert_true(scenario_set(scenario, "workload.kind=incast", &error));
    g_assert_true(scenario_set(scenario, "transport.name=example", &error));
    g_assert_true(scenario_set(scenario, "queue.limit=64MiB", &error));
    for (; more && *more; more++)
        g_assert_true(scenario_set(scenario, *more, &error));
    g_assert_true(experiment_init(&experiment, scenario, &error));
    experiment.profiles[0].ops = &ops;
    bool fine = experiment_play(&experiment, &sink, NULL, NULL, &result, &error);
    enum backend_outcome outcome = result.outcome;

    assert_int_equal(fine, outcome != BACKEND_BROKEN);
    *message = error ? g_strdup(error->message) : NULL;
    g_clear_error(&error);
    backend_result_clear(&result);
    experiment_clear(&experiment);
    scenario_free(scenario);
    return outcome;
}

static void test_broken(void **state)
{
    void (*const faults[])(struct connection *, struct packet *) = {forget, invent, grow};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
        g_autofree char *message = NULL;

        assert_int_equal(run(faults[i], NULL, &message), BACKEND_BROKEN);
        assert_non_null(strstr(message, "conservation"));
    }
}

static void test_honest(void **state)
{
    static const char *const cases[][4] = {
        {NULL},
        {"loss.rate_per_link=0.05", NULL},
        {"loss.rate_end_to_end=0.5", "loss.class=ack", NULL},
        {"queue.limit=20KB", NULL},
        {"run.end=20us", NULL},
        {"run.end=77777ns", "queue.limit=20KB", "loss.rate_per_link=0.01", NULL},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *message = NULL;
        enum backend_outcome outcome = run(honest, cases[i], &message);

        assert_null(message);
        assert_int_equal(outcome, i == 0 ? BACKEND_FINISHED : BACKEND_UNFINISHED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_honest),
    };

    return cmocka_run_group_tests_name("conservation", tests, NULL, NULL);
}
