/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/capture.h"
#include "models/host.h"
#include "sim/app/frame.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <pcap/pcap.h>
#include <string.h>

#define SNAP_BYTES 65535

G_DEFINE_QUARK(weft - capture, capture_error)

/* A frame that waits until no earlier one can come. */
struct pending {
    int64_t time_ps;
    GByteArray *bytes;
};

struct capture {
    struct observer observer; /* first */
    const struct graph *graph;
    char *path, *temporary;
    pcap_t *pcap;
    pcap_dumper_t *file;
    bool *links;     /* by number */
    int64_t most_ps; /* from a frame's last bit on the wire to when it is told */
    GArray *pending; /* struct pending, by time */
};

static void write_first(struct capture *capture)
{
    struct pending *first = &g_array_index(capture->pending, struct pending, 0);
    int64_t ns = first->time_ps / 1000;
    struct pcap_pkthdr head = {
        .ts = {.tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000}, /* nanoseconds, as opened */
        .caplen = MIN(first->bytes->len, SNAP_BYTES),
        .len = first->bytes->len};

    pcap_dump((u_char *)capture->file, &head, first->bytes->data);
    g_byte_array_unref(first->bytes);
    g_array_remove_index(capture->pending, 0);
}

static void write_until(struct capture *capture, int64_t time_ps)
{
    while (capture->pending->len > 0 &&
           g_array_index(capture->pending, struct pending, 0).time_ps <= time_ps)
        write_first(capture);
}

static void take(struct capture *capture, uint32_t port, const struct packet *packet,
                 enum packet_ecn ecn, int64_t time_ps)
{
    const struct graph *graph = capture->graph;
    bool frame = packet->class == PACKET_PFC;
    uint32_t to = frame ? 0 : graph_port_node(graph, graph->port_list[packet->to]);
    const struct connection *connection = packet->connection;
    struct frame_ends ends = {.node = graph_port_node(graph, port),
                              .peer = graph_port_peer(graph, port),
                              .to_host = to,
                              .plane = graph->links[port / 2].plane};
    struct pending pending = {time_ps, g_byte_array_new()};
    guint at = capture->pending->len;

    if (!frame)
        ends.from_host =
            to == connection->dst->number ? connection->src->number : connection->dst->number;
    frame_build(pending.bytes, packet, ecn, &ends);
    while (at > 0 && g_array_index(capture->pending, struct pending, at - 1).time_ps > time_ps)
        at--;
    g_array_insert_val(capture->pending, at, pending);
    write_until(capture, engine_now_ps(capture->observer.engine) - capture->most_ps - 1);
}

/* From the last bit on the wire to being taken in at the other end. */
static int64_t delay_of(const struct graph *graph, uint32_t port)
{
    const struct graph_node *peer = &graph->nodes[graph_port_peer(graph, port)];

    return graph->links[port / 2].delay_ps + (peer->is_switch ? peer->latency_ps : 0);
}

static void on_arrived(struct observer *observer, uint32_t port, const struct packet *packet,
                       enum packet_ecn ecn)
{
    struct capture *capture = (struct capture *)(void *)observer;

    if (capture->links[port / 2] && packet->class != PACKET_PFC)
        take(capture, port, packet, ecn,
             engine_now_ps(observer->engine) - delay_of(capture->graph, port));
}

static void on_dropped(struct observer *observer, uint32_t port, const struct packet *packet,
                       enum sink_drop cause)
{
    struct capture *capture = (struct capture *)(void *)observer;
    bool on_wire =
        cause == SINK_DROP_LOSS || cause == SINK_DROP_LISTED || cause == SINK_DROP_LINK_DOWN;

    if (capture->links[port / 2] && on_wire && packet->class != PACKET_PFC)
        take(capture, port, packet, packet->ecn,
             engine_now_ps(observer->engine) - delay_of(capture->graph, port));
}

/* Pause frames: their arrival is told after the response time. */
static void on_sent(struct observer *observer, uint32_t port, const struct packet *packet,
                    int64_t start_ps, int64_t end_ps, int64_t arrive_ps)
{
    struct capture *capture = (struct capture *)(void *)observer;

    (void)start_ps;
    (void)arrive_ps;
    if (capture->links[port / 2] && packet->class == PACKET_PFC)
        take(capture, port, packet, PACKET_NOT_ECT, end_ps);
}

/* --- which links ------------------------------------------------------------------------------ */

/* Each object as a fault that would bring its links down at once. */
static gboolean choose_links(struct capture *capture, const char *links, GError **error)
{
    g_auto(GStrv) words = g_strsplit(links, ",", -1);
    struct fault_list list;
    GArray *steps = NULL;
    bool fine = true;

    fault_list_init(&list);
    for (char **word = words; *word && fine; word++) {
        const char *text = g_strstrip(*word), *why = NULL;
        bool number = *text && strspn(text, G_CSET_DIGITS) == strlen(text);
        g_autofree char *object = g_strconcat(number ? "link:" : "", text, NULL);
        struct fault fault = {.name = object, .change = FAULT_DOWN, .until_ps = FAULT_NEVER};

        fine = fault_parse_object(object, &fault.object, &why);
        if (fine)
            fault_list_add(&list, &fault);
        else
            g_set_error(error, CAPTURE_ERROR, 0,
                        "[run] pcap = %s: '%s': a link's number, or links as faults name them, are "
                        "expected: %s",
                        links, text, why);
    }
    if (fine)
        steps = fault_list_resolve(&list, capture->graph, 1, error);
    for (guint i = 0; steps && i < steps->len; i++)
        capture->links[g_array_index(steps, struct fault_step, i).link] = true;
    if (steps)
        g_array_unref(steps);
    else if (fine && error)
        g_prefix_error(error, "[run] pcap = %s: ", links);
    fault_list_clear(&list);
    return steps != NULL;
}

static gboolean check_transports(const struct experiment *experiment, GError **error)
{
    for (guint i = 0; i < experiment->schedule.profiles->len; i++)
        if (!experiment->profiles[i].ops->encode) {
            g_set_error(error, CAPTURE_ERROR, 0,
                        "[run] pcap: packets of transport %s have no format that could be "
                        "captured; rocev2 or metaroce is expected",
                        experiment->profiles[i].ops->name);
            return FALSE;
        }
    return TRUE;
}

/* --- the file --------------------------------------------------------------------------------- */

static gboolean open_file(struct capture *capture, GError **error)
{
    capture->pcap =
        pcap_open_dead_with_tstamp_precision(DLT_EN10MB, SNAP_BYTES, PCAP_TSTAMP_PRECISION_NANO);
    capture->file = capture->pcap ? pcap_dump_open(capture->pcap, capture->temporary) : NULL;
    if (capture->file)
        return TRUE;
    g_set_error(error, CAPTURE_ERROR, 0, "cannot write '%s': %s", capture->path,
                capture->pcap ? pcap_geterr(capture->pcap) : "out of memory");
    return FALSE;
}

static void capture_free(struct capture *capture)
{
    for (guint i = 0; i < capture->pending->len; i++)
        g_byte_array_unref(g_array_index(capture->pending, struct pending, i).bytes);
    g_array_unref(capture->pending);
    if (capture->file)
        pcap_dump_close(capture->file);
    if (capture->pcap)
        pcap_close(capture->pcap);
    g_free(capture->path);
    g_free(capture->temporary);
    g_free(capture->links);
    g_free(capture);
}

struct capture *capture_new(struct experiment *experiment, const char *links, const char *path,
                            GError **error)
{
    static const struct observer_ops ops = {
        .sent = on_sent, .arrived = on_arrived, .dropped = on_dropped};
    const struct backend_ops *backend = scenario_backends[experiment->scenario->run.backend];
    struct capture *capture;

    if (backend != &backend_native) {
        g_set_error(error, CAPTURE_ERROR, 0,
                    "[run] pcap: packets of the backend native can be captured, not those of %s",
                    backend->name);
        return NULL;
    }
    capture = g_new0(struct capture, 1);
    capture->observer.ops = &ops;
    capture->graph = &experiment->graph;
    capture->path = g_strdup(path);
    capture->temporary = g_strconcat(path, ".tmp", NULL);
    capture->links = g_new0(bool, experiment->graph.n_links + 1);
    capture->pending = g_array_new(FALSE, FALSE, sizeof(struct pending));
    if (!check_transports(experiment, error) || !choose_links(capture, links, error) ||
        !open_file(capture, error)) {
        capture_free(capture);
        return NULL;
    }
    for (uint32_t port = 0; port < 2 * experiment->graph.n_links; port++)
        if (capture->links[port / 2])
            capture->most_ps = MAX(capture->most_ps, delay_of(capture->graph, port));
    experiment->observer = &capture->observer;
    return capture;
}

gboolean capture_close(struct capture *capture, GError **error)
{
    bool written;

    write_until(capture, INT64_MAX);
    errno = 0;
    written =
        pcap_dump_flush(capture->file) == 0 && g_rename(capture->temporary, capture->path) == 0;
    if (!written) {
        g_set_error(error, CAPTURE_ERROR, 0, "cannot write '%s': %s", capture->path,
                    g_strerror(errno ? errno : EIO));
        g_unlink(capture->temporary);
    }
    capture_free(capture);
    return written;
}

void capture_abort(struct capture *capture)
{
    if (!capture)
        return;
    g_unlink(capture->temporary);
    capture_free(capture);
}
