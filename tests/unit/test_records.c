/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run as a stream of records: what goes in comes out, and streams that break off are seen. */
#include "sim/app/records.h"
#include "sim/app/version.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct got { /* the last of each kind; texts are copied */
    struct sink_flow flow;
    struct sink_port port;
    struct sink_group group;
    struct sink_metric metric;
    struct sink_series series;
    struct sink_step step;
    struct backend_progress progress;
    char transport[16], reason[16], group_name[16], metric_name[16], object[16];
    int64_t planes[4];
    int n;
};

static void copy(char *to, const char *text)
{
    g_strlcpy(to, text, 16);
}

static void on_flow(void *data, const struct sink_flow *flow)
{
    struct got *got = data;

    got->flow = *flow;
    copy(got->transport, flow->transport);
    copy(got->reason, flow->reason);
    memcpy(got->planes, flow->bytes_by_plane, flow->n_planes * sizeof(int64_t));
    got->n++;
}

static void on_port(void *data, const struct sink_port *port)
{
    ((struct got *)data)->port = *port;
    ((struct got *)data)->n++;
}

static void on_group(void *data, const struct sink_group *group)
{
    ((struct got *)data)->group = *group;
    copy(((struct got *)data)->group_name, group->name);
    ((struct got *)data)->n++;
}

static void on_metric(void *data, const struct sink_metric *metric)
{
    ((struct got *)data)->metric = *metric;
    copy(((struct got *)data)->metric_name, metric->name);
    ((struct got *)data)->n++;
}

static void on_series(void *data, const struct sink_series *series)
{
    ((struct got *)data)->series = *series;
    copy(((struct got *)data)->object, series->object);
    ((struct got *)data)->n++;
}

static void on_progress(void *data, const struct backend_progress *progress)
{
    ((struct got *)data)->progress = *progress;
    ((struct got *)data)->n++;
}

static void on_step(void *data, const struct sink_step *step)
{
    ((struct got *)data)->step = *step;
    ((struct got *)data)->n++;
}

static const struct sink_ops ops = {.flow = on_flow,
                                    .port = on_port,
                                    .group = on_group,
                                    .metric = on_metric,
                                    .series = on_series,
                                    .step = on_step};

static const int64_t planes[] = {100, 0, 3};
static const struct sink_flow a_flow = {.flow = UINT64_C(1) << 40,
                                        .src = 3,
                                        .dst = 4,
                                        .transport = "rocev2",
                                        .bytes = 103,
                                        .start_ps = 5,
                                        .end_receiver_ps = SINK_NEVER,
                                        .end_sender_ps = SINK_NEVER,
                                        .ideal_ps = 6,
                                        .reach = 2,
                                        .packets = 7,
                                        .retransmitted_packets = 8,
                                        .spurious_retransmissions = 9,
                                        .timeouts = 10,
                                        .marked_packets = 11,
                                        .status = SINK_FAILED,
                                        .n_planes = 3,
                                        .bytes_by_plane = planes,
                                        .group = UINT32_MAX,
                                        .reason = "gave up"};
static const struct sink_port a_port = {.port = 1,
                                        .node = 2,
                                        .peer = 3,
                                        .plane = 4,
                                        .tier = 5,
                                        .packets = 6,
                                        .bytes = INT64_MAX,
                                        .marked_packets = 7,
                                        .dropped_packets = {[SINK_N_DROPS - 1] = 12},
                                        .max_queue_bytes = 8,
                                        .pauses_sent = 9,
                                        .pauses_received = 10,
                                        .paused_ps = 11};
static const struct sink_group a_group = {.name = "allreduce",
                                          .bytes = 1,
                                          .n_ranks = 2,
                                          .factor_n = 3,
                                          .factor_d = 4,
                                          .start_ps = 5,
                                          .end_ps = SINK_NEVER,
                                          .n_ops = 6,
                                          .n_ops_done = 7,
                                          .n_calls = 8,
                                          .element_bytes = 4,
                                          .root = -1};
static const struct sink_step a_step = {
    .rank = 1, .step = 2, .start_ps = 3, .end_ps = 18, .time_ps = {1, 2, 3, 4, 5}};
static const struct sink_metric a_metric = {"share", "ppm", 0.1};
static const struct sink_series a_series = {1, "plane", 2, "sent", -3, "bytes"};
static const struct backend_progress a_progress = {1, 2, 3, 4, 5, 6};

/* As an engine tells of it. */
static void tell(struct recorder *recorder, const struct reception *reception)
{
    struct engine engine = {.events.now_ps = reception->time_ps};
    struct connection connection = {.key = reception->flow};
    struct packet packet = {.connection = &connection,
                            .class = reception->class,
                            .flow = reception->flow,
                            .sequence = reception->sequence,
                            .source_port = reception->sequence};

    recorder->observer.engine = &engine;
    recorder->observer.ops->arrived(&recorder->observer, reception->port, &packet,
                                    (enum packet_ecn)reception->ecn);
}

/* A whole stream; free() it. */
static char *write_stream(size_t *size, const GError *error)
{
    char *bytes = NULL;
    FILE *stream = open_memstream(&bytes, size);
    struct sink sink = records_sink(stream);
    struct backend_result result = {.outcome = BACKEND_UNFINISHED,
                                    .waits = g_ptr_array_new(),
                                    .n_events = 20,
                                    .n_hops = 21,
                                    .n_ops_done = 22,
                                    .n_flows = 23,
                                    .n_flows_finished = 24,
                                    .n_flows_failed = 25,
                                    .n_flows_unfinished = 26,
                                    .end_ps = 27,
                                    .delivered_bytes = 28};
    struct recorder recorder;

    g_ptr_array_add(result.waits, (char *)(uintptr_t) "host 1 waits");
    sink.ops->flow(sink.data, &a_flow);
    sink.ops->port(sink.data, &a_port);
    sink.ops->group(sink.data, &a_group);
    sink.ops->metric(sink.data, &a_metric);
    sink.ops->series(sink.data, &a_series);
    sink.ops->step(sink.data, &a_step);
    records_progress(stream, &a_progress);
    recorder_init(&recorder, 2, 1);
    for (uint32_t i = 0; i < RECORDER_BLOCK + 1; i++)
        tell(&recorder, &(struct reception){i, 1, i, 3, PACKET_DATA, PACKET_CE});
    recorder.n_begun = 30;
    records_recorder(stream, &recorder);
    recorder_clear(&recorder);
    records_end(stream, &result, 1.5, error);
    fclose(stream);
    g_ptr_array_unref(result.waits);
    return bytes;
}

static gboolean read_stream(const void *bytes, size_t size, struct got *got,
                            struct recorder *recorder, struct backend_result *result, double *cpu_s,
                            GError **error)
{
    g_autoptr(GInputStream) stream = g_memory_input_stream_new_from_data(bytes, (gssize)size, NULL);
    struct sink sink = {&ops, got};
    struct records_reader reader = {
        .sink = &sink, .recorder = recorder, .progress = on_progress, .progress_data = got};
    gboolean whole = records_read(&reader, stream, result, error);

    *cpu_s = reader.cpu_s;
    return whole;
}

static void test_round_trip(void **state)
{
    size_t size;
    char *bytes = write_stream(&size, NULL);
    struct got got = {0};
    struct recorder recorder;
    struct backend_result result;
    double cpu_s;

    (void)state;
    recorder_init(&recorder, 0, 0);
    assert_true(read_stream(bytes, size, &got, &recorder, &result, &cpu_s, NULL));
    assert_int_equal(got.n, 7);
    assert_string_equal(got.transport, "rocev2");
    assert_string_equal(got.reason, "gave up");
    assert_memory_equal(got.planes, planes, sizeof planes);
    got.flow.transport = a_flow.transport;
    got.flow.reason = a_flow.reason;
    got.flow.bytes_by_plane = planes;
    assert_memory_equal(&got.flow, &a_flow, sizeof a_flow);
    assert_memory_equal(&got.port, &a_port, sizeof a_port);
    assert_string_equal(got.group_name, "allreduce");
    assert_int_equal(got.group.end_ps, SINK_NEVER);
    assert_int_equal(got.group.n_ops_done, 7);
    assert_int_equal(got.group.n_calls, 8);
    assert_int_equal(got.group.element_bytes, 4);
    assert_int_equal(got.group.root, -1);
    assert_memory_equal(&got.step, &a_step, sizeof a_step);
    assert_string_equal(got.metric_name, "share");
    assert_true(got.metric.value == 0.1);
    assert_string_equal(got.object, "plane");
    assert_int_equal(got.series.value, -3);
    assert_memory_equal(&got.progress, &a_progress, sizeof a_progress);
    assert_int_equal(recorder.n, RECORDER_BLOCK + 1);
    assert_int_equal(recorder.blocks->len, 1);
    assert_int_not_equal(recorder.hash, g_array_index(recorder.blocks, uint64_t, 0));
    assert_int_equal(recorder.window->len, 1);
    assert_int_equal(g_array_index(recorder.window, struct reception, 0).sequence, 2);
    assert_int_equal(recorder.n_begun, 30);
    assert_int_equal(result.outcome, BACKEND_UNFINISHED);
    assert_int_equal(result.n_events, 20);
    assert_int_equal(result.n_flows_unfinished, 26);
    assert_int_equal(result.delivered_bytes, 28);
    assert_string_equal(g_ptr_array_index(result.waits, 0), "host 1 waits");
    assert_int_equal(result.notes->len, 0);
    assert_true(cpu_s == 1.5);
    backend_result_clear(&result);
    recorder_clear(&recorder);
    free(bytes);
}

/* What could not be played comes back as the same error. */
static void test_fault(void **state)
{
    g_autoptr(GError) said = g_error_new(RECORDS_ERROR, 0, "link 3: no"), error = NULL;
    size_t size;
    char *bytes = write_stream(&size, said);
    struct got got = {0};
    struct backend_result result;
    double cpu_s;

    (void)state;
    assert_false(read_stream(bytes, size, &got, NULL, &result, &cpu_s, &error));
    assert_string_equal(error->message, "link 3: no");
    backend_result_clear(&result);
    free(bytes);
}

/* Cut anywhere, it is an error and no crash. */
static void test_broken_off(void **state)
{
    size_t size;
    char *bytes = write_stream(&size, NULL);

    (void)state;
    for (size_t cut = 0; cut < size; cut += cut < 400 ? 1 : 97) {
        struct got got = {0};
        struct backend_result result;
        g_autoptr(GError) error = NULL;
        g_autofree char *part = g_memdup2(bytes, MAX(cut, 1)); /* so that a look beyond is seen */
        double cpu_s;

        assert_false(read_stream(part, cut, &got, NULL, &result, &cpu_s, &error));
        assert_non_null(strstr(error->message, "broken off"));
        backend_result_clear(&result);
    }
    free(bytes);
}

/* The version is the text in the first record. */
static void test_other_version(void **state)
{
    size_t size;
    char *bytes = write_stream(&size, NULL);
    struct got got = {0};
    struct backend_result result;
    g_autoptr(GError) error = NULL;
    double cpu_s;

    (void)state;
    assert_true(strlen(version_text()) > 0);
    bytes[2 * sizeof(uint32_t)] ^= 1;
    assert_false(read_stream(bytes, size, &got, NULL, &result, &cpu_s, &error));
    assert_non_null(strstr(error->message, "make both"));
    assert_int_equal(got.n, 0);
    backend_result_clear(&result);
    free(bytes);
}

/* Every field of a reception is in the hash, and so is their order. */
static void test_recorder(void **state)
{
    static const struct reception receptions[] = {
        {1, 2, 3, 4, PACKET_DATA, PACKET_ECT}, {2, 2, 3, 4, PACKET_DATA, PACKET_ECT},
        {1, 3, 3, 4, PACKET_DATA, PACKET_ECT}, {1, 2, 4, 4, PACKET_DATA, PACKET_ECT},
        {1, 2, 3, 5, PACKET_DATA, PACKET_ECT}, {1, 2, 3, 4, PACKET_ACK, PACKET_ECT},
        {1, 2, 3, 4, PACKET_DATA, PACKET_CE}};
    uint64_t hashes[G_N_ELEMENTS(receptions) + 1];

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(hashes); i++) {
        struct recorder recorder;
        bool both = i == G_N_ELEMENTS(receptions);

        recorder_init(&recorder, 0, 0);
        tell(&recorder, &receptions[both ? 1 : i]);
        tell(&recorder, &receptions[both ? i - 1 : 1]);
        hashes[i] = recorder.hash;
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(hashes[i], hashes[k]);
        recorder_clear(&recorder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_fault),
        cmocka_unit_test(test_broken_off), cmocka_unit_test(test_other_version),
        cmocka_unit_test(test_recorder),
    };

    return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
