/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/records.h"
#include "sim/app/version.h"
#include <string.h>

G_DEFINE_QUARK(weft - records, records_error)

enum kind {
    VERSION,
    FLOW,
    PORT,
    GROUP,
    METRIC,
    SERIES,
    STEP,
    PROGRESS,
    RECORDER,
    END,
    FAULT,
    N_KINDS
};

static const char *const types[N_KINDS] = {
    [VERSION] = "(s)",
    [FLOW] = "(tuusxxxxxxxxxxuaxusi)",
    [PORT] = "(uuuuuxxxaxxxxx)",
    [GROUP] = "(sxuxxxxttuui)",
    [METRIC] = "(ssd)",
    [SERIES] = "(xstsxs)",
    [STEP] = "(uuxxax)",
    [PROGRESS] = "(xxtttt)",
    [RECORDER] = "(ttatxxxa(xtuuqq))",
    [END] = "(uasastttttttxxd)",
    [FAULT] = "(s)",
};

#define MOST_RECORD (UINT32_C(1) << 31)

/* --- writing ---------------------------------------------------------------------------------- */

/* Takes a floating value. */
static void put(FILE *stream, enum kind kind, GVariant *value)
{
    uint32_t head[2] = {kind, (uint32_t)g_variant_get_size(value)};

    g_assert(g_variant_is_of_type(value, G_VARIANT_TYPE(types[kind])));
    g_variant_ref_sink(value);
    fwrite(head, sizeof head, 1, stream);
    fwrite(g_variant_get_data(value), head[1], 1, stream);
    g_variant_unref(value);
}

static GVariant *wholes(const int64_t *values, size_t n)
{
    return g_variant_new_fixed_array(G_VARIANT_TYPE_INT64, values, n, sizeof *values);
}

GVariant *records_flow(const struct sink_flow *flow)
{
    return g_variant_new(
        "(tuusxxxxxxxxxxu@axusi)", flow->flow, flow->src, flow->dst, flow->transport, flow->bytes,
        flow->start_ps, flow->end_receiver_ps, flow->end_sender_ps, flow->ideal_ps, flow->packets,
        flow->retransmitted_packets, flow->spurious_retransmissions, flow->timeouts,
        flow->marked_packets, (guint32)flow->status, wholes(flow->bytes_by_plane, flow->n_planes),
        flow->group, flow->reason ? flow->reason : "", flow->reach);
}

static void put_flow(void *data, const struct sink_flow *flow)
{
    put(data, FLOW, records_flow(flow));
}

GVariant *records_port(const struct sink_port *port)
{
    return g_variant_new("(uuuuuxxx@axxxxx)", port->port, port->node, port->peer, port->plane,
                         port->tier, port->packets, port->bytes, port->marked_packets,
                         wholes(port->dropped_packets, SINK_N_DROPS), port->max_queue_bytes,
                         port->pauses_sent, port->pauses_received, port->paused_ps);
}

static void put_port(void *data, const struct sink_port *port)
{
    put(data, PORT, records_port(port));
}

GVariant *records_group(const struct sink_group *group)
{
    return g_variant_new(types[GROUP], group->name, group->bytes, group->n_ranks, group->factor_n,
                         group->factor_d, group->start_ps, group->end_ps, group->n_ops,
                         group->n_ops_done, group->n_calls, group->element_bytes, group->root);
}

static void put_group(void *data, const struct sink_group *group)
{
    put(data, GROUP, records_group(group));
}

GVariant *records_metric(const struct sink_metric *metric)
{
    return g_variant_new(types[METRIC], metric->name, metric->unit, metric->value);
}

static void put_metric(void *data, const struct sink_metric *metric)
{
    put(data, METRIC, records_metric(metric));
}

GVariant *records_series(const struct sink_series *series)
{
    return g_variant_new(types[SERIES], series->time_ps, series->object, series->id, series->metric,
                         series->value, series->unit);
}

static void put_series(void *data, const struct sink_series *series)
{
    put(data, SERIES, records_series(series));
}

static void put_step(void *data, const struct sink_step *step)
{
    put(data, STEP,
        g_variant_new("(uuxx@ax)", step->rank, step->step, step->start_ps, step->end_ps,
                      wholes(step->time_ps, SINK_N_TIMES)));
}

struct sink records_sink(FILE *stream)
{
    static const struct sink_ops ops = {.flow = put_flow,
                                        .port = put_port,
                                        .group = put_group,
                                        .metric = put_metric,
                                        .series = put_series,
                                        .step = put_step};

    put(stream, VERSION, g_variant_new(types[VERSION], version_text()));
    return (struct sink){&ops, stream};
}

void records_progress(FILE *stream, const struct backend_progress *progress)
{
    put(stream, PROGRESS,
        g_variant_new(types[PROGRESS], progress->now_ps, progress->end_ps, progress->n_events,
                      progress->n_ops_done, progress->n_ops, progress->n_hops));
    fflush(stream);
}

void records_recorder(FILE *stream, const struct recorder *recorder)
{
    GVariantBuilder window;

    g_variant_builder_init(&window, G_VARIANT_TYPE("a(xtuuqq)"));
    for (guint i = 0; i < recorder->window->len; i++) {
        const struct reception *kept = &g_array_index(recorder->window, struct reception, i);

        g_variant_builder_add(&window, "(xtuuqq)", kept->time_ps, kept->flow, kept->sequence,
                              kept->port, kept->class, kept->ecn);
    }
    put(stream, RECORDER,
        g_variant_new("(tt@atxxxa(xtuuqq))", recorder->n, recorder->hash,
                      g_variant_new_fixed_array(G_VARIANT_TYPE_UINT64, recorder->blocks->data,
                                                recorder->blocks->len, sizeof(uint64_t)),
                      recorder->n_begun, recorder->n_waiting, recorder->n_engine_events, &window));
}

static GVariant *lines(const GPtrArray *texts)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("as"));
    for (guint i = 0; texts && i < texts->len; i++)
        g_variant_builder_add(&builder, "s", g_ptr_array_index(texts, i));
    return g_variant_builder_end(&builder);
}

void records_end(FILE *stream, const struct backend_result *result, double cpu_s,
                 const GError *error)
{
    if (error)
        put(stream, FAULT, g_variant_new(types[FAULT], error->message));
    put(stream, END,
        g_variant_new("(u@as@astttttttxxd)", (guint32)result->outcome, lines(result->waits),
                      lines(result->notes), result->n_events, result->n_hops, result->n_ops_done,
                      result->n_flows, result->n_flows_finished, result->n_flows_failed,
                      result->n_flows_unfinished, result->end_ps, result->delivered_bytes, cpu_s));
    fflush(stream);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void take_flow(const struct sink *sink, GVariant *value)
{
    struct sink_flow flow = {0};
    guint32 status = 0;
    gsize n_planes = 0;
    g_autoptr(GVariant) planes = NULL;

    g_variant_get(value, "(tuu&sxxxxxxxxxxu@axu&si)", &flow.flow, &flow.src, &flow.dst,
                  &flow.transport, &flow.bytes, &flow.start_ps, &flow.end_receiver_ps,
                  &flow.end_sender_ps, &flow.ideal_ps, &flow.packets, &flow.retransmitted_packets,
                  &flow.spurious_retransmissions, &flow.timeouts, &flow.marked_packets, &status,
                  &planes, &flow.group, &flow.reason, &flow.reach);
    flow.status = (enum sink_status)MIN(status, (guint32)SINK_FAILED);
    flow.bytes_by_plane = g_variant_get_fixed_array(planes, &n_planes, sizeof(int64_t));
    flow.n_planes = (uint32_t)n_planes;
    if (sink->ops->flow)
        sink->ops->flow(sink->data, &flow);
}

static void take_port(const struct sink *sink, GVariant *value)
{
    struct sink_port port = {0};
    gsize n_drops = 0;
    g_autoptr(GVariant) drops = NULL;

    g_variant_get(value, "(uuuuuxxx@axxxxx)", &port.port, &port.node, &port.peer, &port.plane,
                  &port.tier, &port.packets, &port.bytes, &port.marked_packets, &drops,
                  &port.max_queue_bytes, &port.pauses_sent, &port.pauses_received, &port.paused_ps);
    const int64_t *dropped = g_variant_get_fixed_array(drops, &n_drops, sizeof(int64_t));

    memcpy(port.dropped_packets, dropped, MIN(n_drops, SINK_N_DROPS) * sizeof *dropped);
    if (sink->ops->port)
        sink->ops->port(sink->data, &port);
}

static void take_group(const struct sink *sink, GVariant *value)
{
    struct sink_group group = {0};

    g_variant_get(value, "(&sxuxxxxttuui)", &group.name, &group.bytes, &group.n_ranks,
                  &group.factor_n, &group.factor_d, &group.start_ps, &group.end_ps, &group.n_ops,
                  &group.n_ops_done, &group.n_calls, &group.element_bytes, &group.root);
    if (sink->ops->group)
        sink->ops->group(sink->data, &group);
}

static void take_metric(const struct sink *sink, GVariant *value)
{
    struct sink_metric metric = {0};

    g_variant_get(value, "(&s&sd)", &metric.name, &metric.unit, &metric.value);
    if (sink->ops->metric)
        sink->ops->metric(sink->data, &metric);
}

static void take_series(const struct sink *sink, GVariant *value)
{
    struct sink_series series = {0};

    g_variant_get(value, "(x&st&sx&s)", &series.time_ps, &series.object, &series.id, &series.metric,
                  &series.value, &series.unit);
    if (sink->ops->series)
        sink->ops->series(sink->data, &series);
}

static void take_step(const struct sink *sink, GVariant *value)
{
    struct sink_step step = {0};
    gsize n_times = 0;
    g_autoptr(GVariant) times = NULL;

    g_variant_get(value, "(uuxx@ax)", &step.rank, &step.step, &step.start_ps, &step.end_ps, &times);
    const int64_t *time_ps = g_variant_get_fixed_array(times, &n_times, sizeof(int64_t));

    memcpy(step.time_ps, time_ps, MIN(n_times, SINK_N_TIMES) * sizeof *time_ps);
    if (sink->ops->step)
        sink->ops->step(sink->data, &step);
}

static void take_progress(const struct records_reader *reader, GVariant *value)
{
    struct backend_progress progress = {0};

    g_variant_get(value, types[PROGRESS], &progress.now_ps, &progress.end_ps, &progress.n_events,
                  &progress.n_ops_done, &progress.n_ops, &progress.n_hops);
    if (reader->progress)
        reader->progress(reader->progress_data, &progress);
}

static void take_recorder(struct recorder *recorder, GVariant *value)
{
    g_autoptr(GVariant) blocks = NULL;
    g_autoptr(GVariantIter) window = NULL;
    struct reception kept = {0};
    gsize n;

    g_variant_get(value, "(tt@atxxxa(xtuuqq))", &recorder->n, &recorder->hash, &blocks,
                  &recorder->n_begun, &recorder->n_waiting, &recorder->n_engine_events, &window);
    const uint64_t *hashes = g_variant_get_fixed_array(blocks, &n, sizeof(uint64_t));

    g_array_set_size(recorder->blocks, 0);
    g_array_append_vals(recorder->blocks, hashes, (guint)n);
    g_array_set_size(recorder->window, 0);
    while (g_variant_iter_next(window, "(xtuuqq)", &kept.time_ps, &kept.flow, &kept.sequence,
                               &kept.port, &kept.class, &kept.ecn))
        g_array_append_val(recorder->window, kept);
}

static GPtrArray *texts(GVariantIter *lines)
{
    GPtrArray *array = g_ptr_array_new_with_free_func(g_free);
    char *line;

    while (g_variant_iter_next(lines, "s", &line))
        g_ptr_array_add(array, line);
    return array;
}

static void take_end(struct records_reader *reader, GVariant *value, struct backend_result *result)
{
    g_autoptr(GVariantIter) waits = NULL;
    g_autoptr(GVariantIter) notes = NULL;
    guint32 outcome = 0;

    g_variant_get(value, types[END], &outcome, &waits, &notes, &result->n_events, &result->n_hops,
                  &result->n_ops_done, &result->n_flows, &result->n_flows_finished,
                  &result->n_flows_failed, &result->n_flows_unfinished, &result->end_ps,
                  &result->delivered_bytes, &reader->cpu_s);
    result->outcome = (enum backend_outcome)MIN(outcome, (guint32)BACKEND_BROKEN);
    result->waits = texts(waits);
    result->notes = texts(notes);
}

/* The next record, or NULL: the stream has broken off. */
static GVariant *next_record(GInputStream *stream, enum kind *kind)
{
    uint32_t head[2];
    gsize n;

    if (!g_input_stream_read_all(stream, head, sizeof head, &n, NULL, NULL) || n < sizeof head ||
        head[0] >= N_KINDS || head[1] > MOST_RECORD)
        return NULL;
    g_autofree void *data = g_malloc(head[1] + 1);

    if (!g_input_stream_read_all(stream, data, head[1], &n, NULL, NULL) || n < head[1])
        return NULL;
    g_autoptr(GBytes) bytes = g_bytes_new_take(g_steal_pointer(&data), head[1]);

    *kind = (enum kind)head[0];
    return g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE(types[*kind]), bytes, FALSE));
}

static gboolean check_version(GVariant *value, GError **error)
{
    const char *version;

    g_variant_get(value, "(&s)", &version);
    if (strcmp(version, version_text()) == 0)
        return TRUE;
    g_set_error(error, RECORDS_ERROR, 0, "its version is %s, and this is %s: make both", version,
                version_text());
    return FALSE;
}

static void take(struct records_reader *reader, enum kind kind, GVariant *value)
{
    if (kind == PROGRESS) {
        take_progress(reader, value);
    } else if (kind == RECORDER) {
        if (reader->recorder)
            take_recorder(reader->recorder, value);
    } else {
        static void (*const takers[N_KINDS])(const struct sink *, GVariant *) = {
            [FLOW] = take_flow,     [PORT] = take_port,     [GROUP] = take_group,
            [METRIC] = take_metric, [SERIES] = take_series, [STEP] = take_step};

        takers[kind](reader->sink, value);
    }
}

gboolean records_read(struct records_reader *reader, GInputStream *stream,
                      struct backend_result *result, GError **error)
{
    g_autofree char *fault = NULL;
    enum kind kind;
    bool first = true;

    *result = (struct backend_result){0};
    for (;;) {
        g_autoptr(GVariant) value = next_record(stream, &kind);

        if (!value || first != (kind == VERSION)) {
            g_set_error(error, RECORDS_ERROR, 1, "its records have broken off");
            return FALSE;
        }
        if (first && !check_version(value, error))
            return FALSE;
        if (kind == END) {
            take_end(reader, value, result);
            break;
        }
        if (kind == FAULT)
            g_variant_get(value, types[FAULT], &fault);
        else if (!first)
            take(reader, kind, value);
        first = false;
    }
    if (fault)
        g_set_error(error, RECORDS_ERROR, 0, "%s", fault);
    return !fault;
}
