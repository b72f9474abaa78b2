/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What files say of single links: losses, and ECN thresholds by the rate of a port.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/physics/play.h"
#include <glib/gstdio.h>

static char *topology;

static int write_topology(void **state)
{
    /* two senders and their receivers on one switch: 100G and 25G; packets into host 3 are lost, 1
     * in 5, and none on the other links */
    static const char text[] = "a,b,rate,delay,loss\nh0,s0,400Gbps,1us,0\nh1,s0,400Gbps,1us,0\n"
                               "h2,s0,100Gbps,1us,0\nh3,s0,25Gbps,1us,0\nh4,s0,100Gbps,1us,0.2\n";
    int file = g_file_open_tmp("weft-links-XXXXXX", &topology, NULL);

    (void)state;
    return file < 0 || write(file, text, sizeof text - 1) < 0 || close(file) != 0;
}

static int remove_topology(void **state)
{
    (void)state;
    g_unlink(topology);
    g_free(topology);
    return 0;
}

/* 4 MB at 1000 B: 4000 packets over the lossy link and back; p = 0.2 there, each way. */
static void a_link_loses_what_its_file_says(void **state)
{
    g_autofree char *file = g_strdup_printf("topology.file=%s", topology);
    const char *const settings[] = {"topology.kind=graph",
                                    file,
                                    "workload.kind=list",
                                    "workload.flows=0>4 4MB; 1>2 4MB",
                                    "transport.recovery=selective_repeat",
                                    "transport.payload=1000B",
                                    "transport.retry_limit=1000",
                                    NULL};
    struct play played;
    int64_t lost[5] = {0}, sent[5] = {0};

    (void)state;
    play(&played, 1, settings);
    for (guint i = 0; i < played.ports->len; i++) {
        const struct sink_port *port = &g_array_index(played.ports, struct sink_port, i);

        lost[port->port / 2] += port->dropped_packets[SINK_DROP_LOSS];
        sent[port->port / 2] += port->packets;
    }
    for (int link = 0; link < 4; link++)
        assert_int_equal(lost[link], 0);
    /* 5 standard deviations of a binomial of n > 5000, p = 0.2: 0.028 */
    assert_true(sent[4] > 5000);
    assert_in_range(lost[4] * 1000 / sent[4], 172, 228);
    play_clear(&played);
}

/*
 * A sender at 400G with an open window fills either queue: marks begin where the port's own
 * threshold says, so that the highest queue without a mark tells it apart.
 */
static int64_t marked_to(const char *flow, const char *map)
{
    g_autofree char *file = g_strdup_printf("topology.file=%s", topology);
    g_autofree char *flows = g_strdup_printf("workload.flows=%s", flow);
    g_autofree char *ecn = g_strdup_printf("queue.ecn_map=%s", map);
    const char *const settings[] = {
        "topology.kind=graph", file, "workload.kind=list",  flows,
        "queue.kind=step",     ecn,  "transport.window=0B", "transport.payload=1000B",
        "queue.limit=10MB",    NULL};
    struct play played;
    int64_t marked;

    play(&played, 1, settings);
    marked = played.marked;
    play_clear(&played);
    return marked;
}

/*
 * 400 packets of 1082 B arrive at 400G and leave at r: packet k finds about k (1 - r / 400G)
 * waiting, so those from (kmin / 1082 B) / (1 - r / 400G) on are marked. 100G, kmin 54.1 KB: 400 -
 * 50 / 0.75 = 333; 25G, kmin 216.4 KB: 400 - 200 / 0.9375 = 187. The packet in service and the end
 * of the queue move this by 2 or 3.
 */
static void thresholds_follow_the_ports_rate(void **state)
{
    static const char map[] =
        "25Gbps 216400B 216400B 1; 100Gbps 54100B 54100B 1; 400Gbps 1MB 1MB 1";

    (void)state;
    assert_in_range(marked_to("0>2 400KB", map), 330, 336);
    assert_in_range(marked_to("0>3 400KB", map), 184, 190);
}

static void wrong_maps_are_refused(void **state)
{
    static const struct {
        const char *map, *part;
    } maps[] = {{"25Gbps 1KB 2KB 1; 100Gbps 1KB 2KB 1", "no entry for 400Gbps, the rate of link 0"},
                {"25Gbps 1KB 2KB", "RATE KMIN KMAX PMAX are expected"},
                {"25Gbps 2KB 1KB 1", "kmax not below kmin"},
                {"25Gbps 1KB 2KB 1; 25Gbps 1KB 2KB 1", "given twice"},
                {"fast 1KB 2KB 1", "a rate with its unit"}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(maps); i++) {
        struct scenario *scenario = scenario_new();
        struct experiment experiment;
        struct backend_result result;
        static const struct sink_ops none;
        struct sink sink = {&none, NULL};
        g_autofree char *file = g_strdup_printf("topology.file=%s", topology);
        g_autofree char *ecn = g_strdup_printf("queue.ecn_map=%s", maps[i].map);
        GError *error = NULL;

        assert_true(scenario_set(scenario, "topology.kind=graph", NULL));
        assert_true(scenario_set(scenario, file, NULL));
        assert_true(scenario_set(scenario, "workload.kind=permutation", NULL));
        assert_true(scenario_set(scenario, "queue.kind=red", NULL));
        assert_true(scenario_set(scenario, ecn, NULL));
        assert_true(experiment_init(&experiment, scenario, NULL));
        assert_false(experiment_play(&experiment, &sink, NULL, NULL, &result, &error));
        if (!strstr(error->message, maps[i].part))
            fail_msg("'%s' is not in '%s'", maps[i].part, error->message);
        g_clear_error(&error);
        backend_result_clear(&result);
        experiment_clear(&experiment);
        scenario_free(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_loses_what_its_file_says),
        cmocka_unit_test(thresholds_follow_the_ports_rate),
        cmocka_unit_test(wrong_maps_are_refused),
    };

    return cmocka_run_group_tests(tests, write_topology, remove_topology);
}
