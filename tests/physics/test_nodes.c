/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes: runs whose times are sums. A rack of two accelerators with one NIC each; wire(n) is a
 * message of n packets of 1000 + 82 B at 800 Gb/s over two links of 5 ns and a switch of 250 ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/physics/play.h"

#define US INT64_C(1000000)
#define NS INT64_C(1000)

#define PAIR                                                                                       \
    "topology.kind=rack", "topology.accelerators=2", "topology.up_planes=1", "topology.up_nics=1", \
        "topology.out_planes=0", "transport.name=rocev2", "transport.payload=1000B",               \
        "transport.window=0B", "queue.limit=1MiB"
#define ALLGATHER                                                                                  \
    "workload.kind=collective", "workload.collective=allgather", "workload.algorithm=direct",      \
        "workload.iterations=1", "workload.warmup=0", "workload.begin=2000B", "workload.ready=off"

/* One packet of 1000 B: stored once in the switch. */
static const int64_t wire_ps = 2 * 1082 * 10 + 2 * 5 * NS + 250 * NS;

static void call_takes(const char *start, const char *ready, int64_t expected_ps)
{
    g_autofree char *setting = g_strdup_printf("mtia300.start=%s", start);
    const char *const settings[] = {PAIR, ALLGATHER, "host.node=mtia300", setting, ready, NULL};
    struct play run;

    play(&run, 1, settings);
    assert_int_equal(run.result.outcome, BACKEND_FINISHED);
    if (run.group_ps != expected_ps)
        fail_msg("%s: %" G_GINT64_FORMAT " ps, not %" G_GINT64_FORMAT, start, run.group_ps,
                 expected_ps);
    play_clear(&run);
}

/*
 * Each rank writes its segment to the other and copies it into its own output; it ends when the
 * other's has come. From the enqueue: 17.1 us copy, 3.6 event, 2.9 dispatch, 1.1 start. Engine 1
 * takes 0.1 us for the WRITE; its NIC reads the request in 0.8 us; NICs 0.7 us each; engine 0 takes
 * 0.1 us for the WAIT.
 */
static void a_call_is_the_sum_of_its_parts(void **state)
{
    int64_t control_ps = 17100 * NS + 3600 * NS + 2900 * NS + 1100 * NS;
    int64_t transfer_ps = 1400 * NS + wire_ps;
    const char *const off = "workload.ready=off";

    (void)state;
    call_takes("express", off, control_ps + 100 * NS + transfer_ps + 100 * NS);
    call_takes("engine", off, control_ps + 100 * NS + 800 * NS + transfer_ps + 100 * NS);
    /* a PE posts in 0.45 us and sees the counter in 0.2; no host, no dispatcher */
    call_takes("pe_direct", off, 450 * NS + transfer_ps + 200 * NS);
    /* the host posts in 0.5 us, and is told by an event */
    call_takes("host", off, control_ps + 500 * NS + 800 * NS + transfer_ps + 3600 * NS);
}

/* The same where the other's word that it is ready, 8 B and 82 B of header, comes before. */
static void a_receiver_says_that_it_is_ready(void **state)
{
    int64_t control_ps = 17100 * NS + 3600 * NS + 2900 * NS + 1100 * NS;
    int64_t transfers_ps = 2 * 1400 * NS + wire_ps + wire_ps - 2 * 992 * 10;

    (void)state;
    call_takes("express", "workload.ready=on", control_ps + 4 * 100 * NS + transfers_ps);
    call_takes("pe_direct", "workload.ready=on", 2 * 450 * NS + 2 * 200 * NS + transfers_ps);
}

/* One work request at a time: the second message waits for the acknowledgement of the first. */
static void a_nic_holds_back_what_is_above_its_limit(void **state)
{
    static const char *const limits[] = {"mtia300.nic_work_requests=1",
                                         "mtia300.nic_work_requests=2"};
    int64_t begin_ps[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *const settings[] = {PAIR,
                                        ALLGATHER,
                                        "host.node=mtia300",
                                        "workload.begin=4000B",
                                        "workload.chunk=1000B",
                                        "workload.slice=1000B",
                                        "mtia300.start=pe_direct",
                                        limits[i],
                                        NULL};
        struct play run;

        play(&run, 1, settings);
        assert_int_equal(run.result.outcome, BACKEND_FINISHED);
        assert_int_equal(run.flows->len, 4); /* 0: first of rank 0; 1: its second */
        begin_ps[i] = play_flow_of(&run, 1)->start_ps;
        if (i == 0)
            assert_int_equal(begin_ps[0], play_flow_of(&run, 0)->end_sender_ps + 700 * NS);
        assert_true(play_value(&run, "mtia300_requests_waited") == (i == 0 ? 2 : 0));
        play_clear(&run);
    }
    /* read behind the first's 1000 B in the HBM, at 5.57 TB/s */
    assert_int_equal(begin_ps[1], 1150 * NS + 180);
}

/*
 * Queue pairs of a NIC: each of four ranks talks to three others by its one NIC, so three are
 * enough, and six where the transport opens two a connection; one fewer and nothing is played.
 */
static void a_run_that_needs_more_queue_pairs_is_refused(void **state)
{
    static const struct {
        int each, has;
        bool fine;
    } cases[] = {{1, 3, true}, {1, 2, false}, {2, 6, true}, {2, 5, false}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *each = g_strdup_printf("transport.queue_pairs=%d", cases[i].each);
        g_autofree char *has = g_strdup_printf("mtia300.nic_queue_pairs=%d", cases[i].has);
        const char *const settings[] = {
            PAIR, ALLGATHER, "topology.accelerators=4", "host.node=mtia300", each, has, NULL};
        struct play run;

        if (cases[i].fine) {
            play(&run, 1, settings);
            assert_int_equal(run.result.outcome, BACKEND_FINISHED);
            play_clear(&run);
        } else {
            g_autoptr(GError) why = NULL;

            assert_false(play_try(&run, 1, settings, &why));
            assert_non_null(strstr(why->message, "nic_queue_pairs"));
            assert_non_null(strstr(why->message, "host 0 needs more on its NIC port 0"));
            play_clear(&run);
        }
    }
}

/*
 * Products. MTIA: 2 x 4096^3 / 200 Tflop/s = 687194767 ps. GPU: 32 x 16 tiles of 128 x 256 on 132
 * SMs are 4 waves; a tile takes 2 x 128 x 256 x 4096 / (395 T / 132) s. A collective that takes 24
 * SMs for all the time leaves 108: 5 waves.
 */
static void products_take_their_time(void **state)
{
    static const char *const program = "workload.program=gemm 4096x4096x4096 tf32";
    const char *const mtia[] = {PAIR, "workload.kind=step", program, "host.node=mtia300", NULL};
    const char *const gpu[] = {
        PAIR, "workload.kind=step", program, "host.node=gpu", "gpu.gemm_tf32=395000", NULL};
    const char *const shared[] = {
        PAIR, "workload.kind=step",
        /* it is under way when the product begins, and ends after it */
        "workload.program=compute 10us id=later; gemm 4096x4096x4096 tf32; "
        "allreduce 64MiB x3 stream=1",
        "host.node=gpu", "gpu.gemm_tf32=395000", NULL};
    const char *const thin[] = {PAIR, "workload.kind=step",
                                "workload.program=gemm 64x8192x8192 bf16", "host.node=gpu", NULL};
    int64_t tile_ps = INT64_C(2) * 128 * 256 * 4096 * 1000 / 395000 * 132;
    struct play run;

    (void)state;
    play(&run, 1, mtia);
    assert_int_equal(run.group_ps, INT64_C(2) * 4096 * 4096 * 4096 * 1000 / 200000);
    play_clear(&run);
    play(&run, 1, gpu);
    assert_true(ABS(run.group_ps - 4 * tile_ps) < 1 * NS);
    assert_true(play_value(&run, "gpu_waves") == 2 * 4);
    play_clear(&run);
    /* 32 tiles, split in 4: one wave, for which the HBM is slower than the SMs */
    play(&run, 1, thin);
    assert_true(ABS(run.group_ps - 136314880 * INT64_C(8000) / 26800) <= 1);
    assert_true(play_value(&run, "gpu_waves") == 2);
    play_clear(&run);
    play(&run, 1, shared);
    assert_true(play_value(&run, "gpu_waves") == 2 * 5);
    play_clear(&run);
}

/* Classes add up to each step, steps follow one another, and every element was handled once. */
static void time_adds_up(void **state)
{
    static const char *const nodes[] = {"host.node=mtia300", "host.node=gpu"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        const char *const settings[] = {
            "topology.kind=rack",
            "topology.accelerators=4",
            "topology.racks=2",
            "transport.name=rocev2",
            "transport.rto=100us",
            "transport.retry_limit=1000",
            "queue.limit=16MiB",
            "workload.kind=step",
            "workload.program=gemm 2048x2048x2048 bf16 x3 id=g; allreduce 1MiB x3 stream=1 after=g;"
            " alltoallv 10KB-1MB x3; compute 5us",
            "workload.steps=3",
            "host.nic_watts=20",
            nodes[i % 2],
            i < 2 ? "loss.rate_end_to_end=0" : "loss.rate_end_to_end=1%",
            NULL};
        struct play run;
        int64_t end_ps[8] = {0}, recovery_ps = 0, compute_ps = 0;
        uint32_t n_steps[8] = {0};

        play(&run, 1, settings);
        assert_int_equal(run.result.outcome, BACKEND_FINISHED);
        assert_int_equal(run.steps->len, 8 * 3);
        for (guint k = 0; k < run.steps->len; k++) {
            const struct sink_step *step = &g_array_index(run.steps, struct sink_step, k);
            int64_t sum_ps = 0;

            for (int class = 0; class < SINK_N_TIMES; class ++) {
                assert_true(step->time_ps[class] >= 0);
                sum_ps += step->time_ps[class];
            }
            assert_int_equal(sum_ps, step->end_ps - step->start_ps);
            assert_int_equal(step->start_ps, end_ps[step->rank]);
            assert_int_equal(step->step, n_steps[step->rank]++);
            end_ps[step->rank] = step->end_ps;
            recovery_ps += step->time_ps[SINK_TIME_RECOVERY];
            compute_ps += step->time_ps[SINK_TIME_COMPUTE];
        }
        assert_true((recovery_ps > 0) == (i >= 2));
        assert_true(compute_ps > 8 * 3 * 5 * US);
        /* sums over ranks and steps, in seconds; 8 ranks with 10 NIC ports of 20 W */
        double all_s = play_value(&run, "accelerator_time");
        double sum_s = play_value(&run, "accelerator_compute_time") +
                       play_value(&run, "accelerator_collective_time") +
                       play_value(&run, "accelerator_host_time") +
                       play_value(&run, "accelerator_network_time") +
                       play_value(&run, "accelerator_recovery_time");

        assert_true(ABS(sum_s - all_s) < 1e-12);
        assert_true(ABS(play_value(&run, "accelerator_compute_time") - (double)compute_ps / 1e12) <
                    1e-12);
        assert_true(ABS(play_value(&run, "nic_energy") - 20 * 10 * all_s) < 1e-12);
        /* the messages are the SENDs and WRITEs */
        assert_true(play_value(&run, i % 2 ? "gpu_sends" : "mtia300_sends") +
                        play_value(&run, i % 2 ? "gpu_writes" : "mtia300_writes") ==
                    run.flows->len);
        play_clear(&run);
    }
}

/* In a step whose all-reduce waits for the product nothing else goes on: compute is the product. */
static void classes_are_what_they_say(void **state)
{
    const char *const settings[] = {PAIR,
                                    "workload.kind=step",
                                    "workload.program=compute 50us id=c; allgather 2000B after=c "
                                    "stream=1",
                                    "workload.algorithm=direct",
                                    "workload.ready=off",
                                    "host.node=mtia300",
                                    "mtia300.start=express",
                                    NULL};
    struct play run;

    (void)state;
    play(&run, 1, settings);
    assert_int_equal(run.steps->len, 2);
    for (guint k = 0; k < 2; k++) {
        const struct sink_step *step = &g_array_index(run.steps, struct sink_step, k);

        assert_int_equal(step->time_ps[SINK_TIME_COMPUTE], 50 * US);
        /* event, dispatch, start; the enqueue was hidden behind the computation */
        assert_int_equal(step->time_ps[SINK_TIME_HOST], 7600 * NS);
        /* controller of the WRITE, the copy beside it, and of the WAIT */
        assert_true(step->time_ps[SINK_TIME_COLLECTIVE] >= 200 * NS &&
                    step->time_ps[SINK_TIME_COLLECTIVE] < 300 * NS);
        assert_int_equal(step->time_ps[SINK_TIME_RECOVERY], 0);
    }
    play_clear(&run);
}

/* Ring all-reduce, per byte on the wire and rank: 5 to or from the HBM while reducing, 2 after. */
static void hbm_traffic_is_counted(void **state)
{
    const char *const settings[] = {PAIR,
                                    "host.node=mtia300",
                                    "workload.kind=collective",
                                    "workload.algorithm=ring",
                                    "workload.begin=1MiB",
                                    "workload.iterations=1",
                                    "workload.warmup=0",
                                    "workload.ready=off",
                                    "mtia300.start=express",
                                    NULL};
    struct play run;

    (void)state;
    play(&run, 1, settings);
    /* each of 2 ranks: half a MiB sent in either phase. Reads: send, 2 operands; send. Writes:
     * came, result; came. */
    assert_true(play_value(&run, "mtia300_hbm_read_bytes") == 2 * 4 * 524288.0);
    assert_true(play_value(&run, "mtia300_hbm_written_bytes") == 2 * 3 * 524288.0);
    play_clear(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_the_sum_of_its_parts),
        cmocka_unit_test(a_receiver_says_that_it_is_ready),
        cmocka_unit_test(a_nic_holds_back_what_is_above_its_limit),
        cmocka_unit_test(a_run_that_needs_more_queue_pairs_is_refused),
        cmocka_unit_test(products_take_their_time),
        cmocka_unit_test(time_adds_up),
        cmocka_unit_test(classes_are_what_they_say),
        cmocka_unit_test(hbm_traffic_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
