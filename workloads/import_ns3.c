/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flow files of the ns-3 family: HPCC, ConWeave, TLT, PowerTCP, ASTRA-sim's ns-3.
 *
 *     COUNT, then COUNT times   SRC DST PG DPORT SIZE START
 *
 * SRC and DST are nodes of the topology file: on a graph read from one they are its ids, on any
 * other they are hosts. SIZE is bytes (the oldest files of ns3-rdma count packets: size_unit),
 * START seconds. Rows need not be sorted. What follows the last row and does not begin with a
 * number is prose and passed over.
 *
 * Ignored: PG, for there is one class of data, and DPORT, for each transport draws its own ports.
 * Source: alibaba-edu/High-Precision-Congestion-Control, simulation/scratch/third.cc, 2026. The
 * published reader keeps sizes in 32 bits; here they are exact.
 */
#include "sim/core/reader.h"
#include "sim/core/units.h"
#include "workloads/workload.h"
#include <string.h>

#define MOST_FLOWS UINT64_C(200000000)
#define N_WORDS    6 /* of a row */

struct ns3_config {
    char *file;
    int64_t size_unit, count;
};

enum count { COUNT_STRICT, COUNT_DECLARED, COUNT_ALL };

static const struct param params[] = {
    PARAM(TEXT, struct ns3_config, file, "", NULL, NULL, NULL,
          "Flow file of the ns-3 family: COUNT, then SRC DST PG DPORT SIZE START a flow.",
          "our choice: no default can be meant"),
    PARAM(BYTES, struct ns3_config, size_unit, "1B", "1B", "1MiB", NULL,
          "What a SIZE of 1 stands for.",
          "HPCC and later count bytes; bobzhuyb/ns3-rdma counts packets, of 1000 B there"),
    PARAM(CHOICE, struct ns3_config, count, "strict", NULL, NULL, "strict|declared|all",
          "Where COUNT is another number than the file holds: an error, the first so many, or all "
          "that are there.",
          "our choice: the published reader takes what is declared, whatever follows"),
    PARAM_END};

struct flows {
    const struct ns3_config *config;
    struct reader reader;
    const struct graph *graph;
    struct build *notes;
    struct schedule *schedule;
    uint64_t n_declared, n_flows, n_unsorted, n_late;
    uint32_t highest; /* host */
    int64_t first_ps, last_ps;
    uint64_t first_group, n_other_groups; /* PG of the first flow; flows with another */
    double bytes;
};

/* --- one flow --------------------------------------------------------------------------------- */

static gboolean take_node(struct flows *flows, const char *text, uint32_t *host, GError **error)
{
    const struct graph *graph = flows->graph;
    uint32_t n = graph->node_of_id ? graph->n_ids : graph->n_hosts;
    uint64_t id;

    if (!reader_is_whole(text, 0, n - 1, &id))
        return reader_refuse(&flows->reader, flows->reader.line, error,
                             "node '%.40s' does not exist; the topology has %s 0 to %u",
                             text ? text : "", graph->node_of_id ? "nodes" : "hosts", n - 1);
    *host = graph->node_of_id ? graph->node_of_id[id] : (uint32_t)id;
    if (*host >= graph->n_hosts)
        return reader_refuse(&flows->reader, flows->reader.line, error,
                             "node %s is a switch; a host is expected", text);
    flows->highest = MAX(flows->highest, *host);
    return TRUE;
}

static gboolean take_size(struct flows *flows, int64_t *bytes, GError **error)
{
    uint64_t size;

    if (!reader_whole(&flows->reader, "a size", 1,
                      (uint64_t)INT64_MAX / 8000 / (uint64_t)flows->config->size_unit, &size,
                      error))
        return FALSE;
    *bytes = (int64_t)size * flows->config->size_unit;
    return TRUE;
}

static gboolean take_start(struct flows *flows, int64_t *start_ps, GError **error)
{
    const char *text = reader_word(&flows->reader), *why = "a time in seconds is expected";
    g_autofree char *seconds = g_strconcat(text ? text : "", "s", NULL);

    if (text && g_ascii_isdigit(*text) && units_parse(UNITS_TIME, seconds, start_ps, &why))
        return TRUE;
    return reader_refuse(&flows->reader, flows->reader.line, error, "start '%.40s': %s",
                         text ? text : "", why);
}

static void count_flow(struct flows *flows, const struct schedule_op *op, uint64_t priority_group)
{
    if (flows->n_flows == 0) {
        flows->first_ps = op->start_ps;
        flows->first_group = priority_group;
    }
    flows->n_unsorted += op->start_ps < flows->last_ps;
    flows->first_ps = MIN(flows->first_ps, op->start_ps);
    flows->last_ps = MAX(flows->last_ps, op->start_ps);
    flows->n_late += op->start_ps > flows->notes->end_ps;
    flows->n_other_groups += priority_group != flows->first_group;
    flows->bytes += (double)op->bytes;
    flows->n_flows++;
}

/* `src` is the first word of the row. */
static gboolean take_flow(struct flows *flows, const char *src, GError **error)
{
    struct schedule_op op = {.kind = SCHEDULE_MESSAGE, .group = SCHEDULE_NO_GROUP};
    uint32_t line = flows->reader.line;
    uint64_t priority_group, port;

    if (!take_node(flows, src, &op.rank, error) ||
        !take_node(flows, reader_word(&flows->reader), &op.peer, error) ||
        !reader_whole(&flows->reader, "a priority group", 0, 255, &priority_group, error) ||
        !reader_whole(&flows->reader, "a port", 0, UINT32_MAX, &port, error) ||
        !take_size(flows, &op.bytes, error) || !take_start(flows, &op.start_ps, error))
        return FALSE;
    if (op.rank == op.peer)
        return reader_refuse(&flows->reader, line, error,
                             "a flow to its own node crosses no fabric; two nodes are expected");
    schedule_add_op(flows->schedule, &op);
    count_flow(flows, &op, priority_group);
    return TRUE;
}

/* --- the file --------------------------------------------------------------------------------- */

static gboolean check_count(struct flows *flows, uint32_t line, GError **error)
{
    int64_t count = flows->config->count;

    if (flows->n_flows == flows->n_declared && flows->n_flows > 0)
        return TRUE;
    if (flows->n_flows == 0)
        return reader_refuse(&flows->reader, line, error, "no flow in the file");
    if (count == COUNT_STRICT || (count == COUNT_DECLARED && flows->n_flows < flows->n_declared))
        return reader_refuse(&flows->reader, line, error,
                             "%" G_GUINT64_FORMAT
                             " flows are declared, the file holds %" G_GUINT64_FORMAT
                             " (count = all takes what is there, count = declared the first so "
                             "many)",
                             flows->n_declared, flows->n_flows);
    build_note(flows->notes,
               "warning: %s: %" G_GUINT64_FORMAT " flows are declared, %" G_GUINT64_FORMAT
               " are taken",
               flows->reader.path, flows->n_declared, flows->n_flows);
    return TRUE;
}

/* More rows than declared stand in the file; `line` declares them. Words are counted, not read. */
static gboolean refuse_more(struct flows *flows, uint32_t line, GError **error)
{
    uint64_t n_words = 1;
    const char *word;

    while ((word = reader_word(&flows->reader)) && g_ascii_isdigit(*word))
        n_words++;
    flows->n_flows += (n_words + N_WORDS - 1) / N_WORDS;
    return check_count(flows, line, error);
}

static gboolean take_file(struct flows *flows, GError **error)
{
    bool declared = flows->config->count == COUNT_DECLARED;
    bool strict = flows->config->count == COUNT_STRICT;
    const char *word = NULL;
    uint32_t line;

    if (!reader_whole(&flows->reader, "the number of flows", 0, MOST_FLOWS, &flows->n_declared,
                      error))
        return FALSE;
    line = flows->reader.line;
    while (!(declared && flows->n_flows == flows->n_declared)) {
        word = reader_word(&flows->reader);
        if (!word || !g_ascii_isdigit(*word))
            break;
        if (strict && flows->n_flows == flows->n_declared)
            return refuse_more(flows, line, error);
        if (!take_flow(flows, word, error))
            return FALSE;
        word = NULL;
    }
    if (word)
        build_note(flows->notes, "%s:%u: what follows the last flow is passed over: prose",
                   flows->reader.path, flows->reader.line);
    return check_count(flows, line, error);
}

static void note_content(const struct flows *flows)
{
    g_autofree char *bytes = units_display(UNITS_BYTES, flows->bytes);
    g_autofree char *first = units_format(UNITS_TIME, flows->first_ps);
    g_autofree char *last = units_format(UNITS_TIME, flows->last_ps);

    build_note(flows->notes,
               "ns-3 flows %s: %" G_GUINT64_FORMAT " flows, %s in all, starts from %s to %s",
               flows->reader.path, flows->n_flows, bytes, first, last);
    build_note(flows->notes,
               "nodes are %s; sizes are in %s; priority group%s and ports are ignored: one class "
               "of data, and transports draw their ports",
               flows->graph->node_of_id ? "the topology file's" : "taken as hosts",
               flows->config->size_unit == 1 ? "bytes" : "units of size_unit",
               flows->n_other_groups ? "s" : "");
    if (flows->n_unsorted)
        build_note(flows->notes,
                   "%" G_GUINT64_FORMAT " flows start before one above them; they are sorted",
                   flows->n_unsorted);
    if (flows->n_late)
        build_note(flows->notes,
                   "warning: %" G_GUINT64_FORMAT
                   " flows start beyond the end of the run, the last at %s",
                   flows->n_late, last);
}

static gboolean build(const void *config, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    struct flows flows = {.config = config, .graph = graph, .notes = notes, .schedule = schedule};
    gboolean ok = reader_open_text(&flows.reader, flows.config->file,
                                   "a flow file of the ns-3 family", error);

    if (ok) {
        schedule_init(schedule, graph->n_hosts);
        ok = take_file(&flows, error);
        if (ok) {
            note_content(&flows);
            notes->n_hosts_named = flows.highest + 1;
            ok = workload_finish(schedule, graph, error);
        } else {
            schedule_clear(schedule);
        }
    }
    reader_close(&flows.reader);
    return ok;
}

const struct workload_ops workload_ns3 = {
    .name = "ns3",
    .summary = "A flow file of the ns-3 family: HPCC, ConWeave, PowerTCP, ASTRA-sim.",
    .source = "HPCC's simulation/scratch/third.cc and its descendants",
    .config_size = sizeof(struct ns3_config),
    .params = params,
    .build = build};
