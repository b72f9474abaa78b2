/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Topology files of the ns-3 family: HPCC, ConWeave, TLT, PowerTCP, ASTRA-sim's ns-3, SimAI.
 *
 *     first line   NODES SWITCHES LINKS                                           HPCC and most
 *                  NODES SWITCHES TORS LINKS                                      PowerTCP
 *                  NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS [GPU_TYPE]     SimAI
 *     then         the ids of the switches (SimAI: NVSwitches first), and LINKS times
 *                  SRC DST RATE DELAY ERROR_RATE
 *
 * RATE as ns-3 spells data rates ("100Gbps", "100Gb/s", "12.5GBps"; a bare number is bit/s), DELAY
 * as it spells times ("1us", "0.001ms"; a bare number is seconds), ERROR_RATE the chance that a
 * packet is lost, in each direction. What follows the last link is passed over: published files
 * hold prose there, or more links than they declare.
 *
 * Hosts are the nodes that are no switches, numbered from 0 in the order of their ids; switches
 * likewise. A flow file of the family names nodes by the ids: the graph keeps them. The family's
 * switches have no latency of their own, so theirs is 0 unless switch_latency says so. NVSwitches
 * and their links are no Ethernet: they are left out unless scale_up is on, and are then the last
 * NIC port of each GPU. Planes are seen from the wiring (shape.h).
 * Source: alibaba-edu/High-Precision-Congestion-Control, simulation/scratch/third.cc;
 * inet-tub/ns3-datacenter, powertcp-evaluation-burst.cc; aliyun/SimAI, common.h; 2026.
 */
#include "sim/core/reader.h"
#include "sim/core/units.h"
#include "topologies/shape.h"
#include "topologies/topology.h"
#include <string.h>

#define MOST_NODES (1u << 21)
#define MOST_LINKS (1u << 26)

struct ns3_config {
    char *file, *link_down;
    int64_t switch_latency, count, scale_up;
};

enum count { COUNT_DECLARED, COUNT_ALL };

static const struct param params[] = {
    PARAM(TEXT, struct ns3_config, file, "", NULL, NULL, NULL,
          "Topology file of the ns-3 family (HPCC, ConWeave, PowerTCP, ASTRA-sim, SimAI).",
          "our choice: no default can be meant"),
    PARAM(TIME, struct ns3_config, switch_latency, "0ns", "0ns", "1s", NULL,
          "Latency of the switches; the format has none.", "HPCC's ns-3: switches take no time"),
    PARAM(CHOICE, struct ns3_config, count, "declared", NULL, NULL, "declared|all",
          "How many links are taken: as many as the header declares (fewer are an error), or all "
          "that are there.",
          "the published reader takes what is declared; HPCC's own topology.txt holds more"),
    PARAM(BOOL, struct ns3_config, scale_up, "off", NULL, NULL, NULL,
          "SimAI: whether NVSwitches and their links are built, as the last port of each GPU.",
          "our choice: weft is about the Ethernet"),
    PARAM(TEXT, struct ns3_config, link_down, "", NULL, NULL, NULL,
          "TIME A B: the links between nodes A and B of the file go down then, for good.",
          "LINK_DOWN of HPCC's configuration; our choice: none"),
    PARAM_END};

struct row {
    uint32_t line, src, dst;
    int64_t rate_bps, delay_ps, loss_ppt;
};

struct ns3 {
    const struct ns3_config *config;
    struct reader reader;
    uint64_t n_nodes, n_switches, n_nvswitches, n_links, gpus_per_server;
    uint32_t header_line;
    char *gpu_type;       /* NULL: not SimAI's header */
    uint8_t *switch_kind; /* [id]: 0 host, 1 switch, 2 NVSwitch */
    GArray *rows;         /* struct row */
    uint32_t *node_of_id; /* UINT32_MAX: left out */
    uint32_t n_left_out;  /* links */
    struct build *build;
};

/* --- the header ------------------------------------------------------------------------------- */

static gboolean header_number(const struct ns3 *ns3, const char *text, const char *what,
                              uint64_t least, uint64_t most, uint64_t *value, GError **error)
{
    if (reader_is_whole(text, least, most, value))
        return TRUE;
    return reader_refuse(&ns3->reader, ns3->reader.line, error,
                         "'%.40s' in the first line: %s, %" G_GUINT64_FORMAT
                         " to %" G_GUINT64_FORMAT ", is expected",
                         text ? text : "", what, least, most);
}

/* SimAI: NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS [GPU_TYPE]. */
static gboolean take_simai_header(struct ns3 *ns3, const char *const *words, uint32_t n,
                                  GError **error)
{
    ns3->gpu_type = g_strdup(n > 5 ? words[5] : "");
    return header_number(ns3, words[1], "GPUs a server", 1, MOST_NODES, &ns3->gpus_per_server,
                         error) &&
           header_number(ns3, words[2], "a number of NVSwitches", 0, ns3->n_nodes,
                         &ns3->n_nvswitches, error) &&
           header_number(ns3, words[3], "a number of switches", 0, ns3->n_nodes - ns3->n_nvswitches,
                         &ns3->n_switches, error) &&
           header_number(ns3, words[4], "a number of links", 0, MOST_LINKS, &ns3->n_links, error);
}

static gboolean take_header(struct ns3 *ns3, GError **error)
{
    const char *words[7];
    uint32_t n = 0;
    const char *word = reader_word(&ns3->reader);

    ns3->header_line = ns3->reader.line;
    for (; word && n < G_N_ELEMENTS(words); word = reader_word_in_line(&ns3->reader))
        words[n++] = word;
    if (n < 3 || n > 6)
        return reader_refuse(&ns3->reader, ns3->header_line, error,
                             "%u words in the first line; NODES SWITCHES LINKS, NODES SWITCHES "
                             "TORS LINKS or NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS "
                             "GPU_TYPE are expected",
                             n);
    if (!header_number(ns3, words[0], "a number of nodes", 1, MOST_NODES, &ns3->n_nodes, error))
        return FALSE;
    if (n >= 5)
        return take_simai_header(ns3, words, n, error);
    if (!header_number(ns3, words[1], "a number of switches", 0, ns3->n_nodes, &ns3->n_switches,
                       error) ||
        !header_number(ns3, words[n - 1], "a number of links", 0, MOST_LINKS, &ns3->n_links, error))
        return FALSE;
    if (n == 4)
        build_note(ns3->build, "a header of four numbers, PowerTCP's: %s of the switches are ToRs",
                   words[2]);
    return TRUE;
}

static gboolean take_switches(struct ns3 *ns3, GError **error)
{
    ns3->switch_kind = g_new0(uint8_t, ns3->n_nodes);
    for (uint64_t i = 0; i < ns3->n_nvswitches + ns3->n_switches; i++) {
        uint64_t id;

        if (!reader_whole(&ns3->reader, "the id of a switch", 0, ns3->n_nodes - 1, &id, error))
            return FALSE;
        if (ns3->switch_kind[id])
            return reader_refuse(&ns3->reader, ns3->reader.line, error,
                                 "switch %" G_GUINT64_FORMAT " is named twice", id);
        ns3->switch_kind[id] = i < ns3->n_nvswitches ? 2 : 1;
    }
    if (ns3->n_nvswitches + ns3->n_switches == ns3->n_nodes)
        return reader_refuse(&ns3->reader, ns3->header_line, error,
                             "all %" G_GUINT64_FORMAT " nodes are switches; hosts are expected",
                             ns3->n_nodes);
    return TRUE;
}

/* --- links ------------------------------------------------------------------------------------ */

/* A quantity; `bare` is the unit of a number without one. */
static gboolean take_quantity(struct ns3 *ns3, const char *what, enum units_kind kind,
                              const char *bare, int64_t least, int64_t *value, GError **error)
{
    const char *text = reader_word(&ns3->reader), *why = NULL;
    g_autofree char *full = NULL;

    if (!text)
        return reader_refuse(&ns3->reader, ns3->reader.line, error,
                             "the file ends where %s of a link is expected", what);
    full = g_strconcat(text, g_ascii_isdigit(text[strlen(text) - 1]) ? bare : "", NULL);
    if (!units_parse(kind, full, value, &why))
        return reader_refuse(&ns3->reader, ns3->reader.line, error, "%s '%.40s': %s", what, text,
                             why);
    if (*value < least)
        return reader_refuse(&ns3->reader, ns3->reader.line, error,
                             "%s '%.40s': out of range, it is too small", what, text);
    return TRUE;
}

static gboolean take_end(struct ns3 *ns3, const char *text, uint32_t *node, GError **error)
{
    uint64_t id;

    if (!reader_is_whole(text, 0, ns3->n_nodes - 1, &id))
        return reader_refuse(&ns3->reader, ns3->reader.line, error,
                             "'%.40s': an end of a link; nodes are 0 to %" G_GUINT64_FORMAT,
                             text ? text : "", ns3->n_nodes - 1);
    *node = (uint32_t)id;
    return TRUE;
}

/* `first` is the first word of the row. */
static gboolean take_row(struct ns3 *ns3, const char *first, GError **error)
{
    struct row row = {.line = ns3->reader.line};

    if (!take_end(ns3, first, &row.src, error) ||
        !take_end(ns3, reader_word(&ns3->reader), &row.dst, error) ||
        !take_quantity(ns3, "the rate", UNITS_RATE, "bps", 1, &row.rate_bps, error) ||
        !take_quantity(ns3, "the delay", UNITS_TIME, "s", 0, &row.delay_ps, error) ||
        !take_quantity(ns3, "the error rate", UNITS_RATIO, "", 0, &row.loss_ppt, error))
        return FALSE;
    if (row.loss_ppt > UNITS_PPT)
        return reader_refuse(&ns3->reader, row.line, error,
                             "an error rate above 1; a probability is expected");
    if (row.src == row.dst)
        return reader_refuse(&ns3->reader, row.line, error,
                             "both ends are node %u; two different nodes are expected", row.src);
    g_array_append_val(ns3->rows, row);
    return TRUE;
}

static gboolean take_links(struct ns3 *ns3, GError **error)
{
    bool all = ns3->config->count == COUNT_ALL;
    uint32_t last = ns3->reader.line;
    const char *word = NULL;

    while (all || ns3->rows->len < ns3->n_links) {
        word = reader_word(&ns3->reader);
        if (!word || !g_ascii_isdigit(*word))
            break;
        if (!take_row(ns3, word, error))
            return FALSE;
        last = ns3->reader.line;
        word = NULL;
    }
    if (ns3->rows->len < ns3->n_links && !all)
        return reader_refuse(&ns3->reader, last, error,
                             "%" G_GUINT64_FORMAT
                             " links are declared, the file holds %u (count = all takes what is "
                             "there)",
                             ns3->n_links, ns3->rows->len);
    if (ns3->rows->len != ns3->n_links)
        build_note(ns3->build,
                   "warning: %s: %" G_GUINT64_FORMAT " links are declared, %u are taken",
                   ns3->reader.path, ns3->n_links, ns3->rows->len);
    if (!word)
        word = reader_word(&ns3->reader);
    if (word)
        build_note(ns3->build, "%s:%u: what follows the last link is passed over: %s",
                   ns3->reader.path, ns3->reader.line,
                   g_ascii_isdigit(*word) ? "more links than are declared (count = all takes them)"
                                          : "prose");
    return TRUE;
}

/* --- the graph -------------------------------------------------------------------------------- */

static void add_nodes(struct ns3 *ns3, struct graph *graph)
{
    ns3->node_of_id = g_new(uint32_t, ns3->n_nodes);
    for (uint64_t id = 0; id < ns3->n_nodes; id++) {
        ns3->node_of_id[id] = UINT32_MAX;
        if (ns3->switch_kind[id] == 0)
            ns3->node_of_id[id] = graph_add_host(graph);
    }
    for (uint64_t id = 0; id < ns3->n_nodes; id++)
        if (ns3->switch_kind[id] == 1)
            ns3->node_of_id[id] = graph_add_switch(graph, SHAPE_MOST_TIER, GRAPH_NO_PLANE,
                                                   ns3->config->switch_latency);
    for (uint64_t id = 0; ns3->config->scale_up && id < ns3->n_nodes; id++)
        if (ns3->switch_kind[id] == 2)
            ns3->node_of_id[id] = graph_add_switch(graph, SHAPE_MOST_TIER, GRAPH_NO_PLANE, 0);
}

static bool is_scale_up(const struct ns3 *ns3, const struct row *row)
{
    return ns3->switch_kind[row->src] == 2 || ns3->switch_kind[row->dst] == 2;
}

/* Ports of a host are paired by their order: those to NVSwitches come last. */
static void add_links(struct ns3 *ns3, struct graph *graph, bool scale_up)
{
    for (uint32_t i = 0; i < ns3->rows->len; i++) {
        const struct row *row = &g_array_index(ns3->rows, struct row, i);
        uint32_t a = ns3->node_of_id[row->src], b = ns3->node_of_id[row->dst], link;

        if (is_scale_up(ns3, row) != scale_up)
            continue;
        if (a == UINT32_MAX || b == UINT32_MAX) {
            ns3->n_left_out++;
            continue;
        }
        link = graph_add_link(graph, MIN(a, b), MAX(a, b), row->rate_bps, row->delay_ps, 0, 0);
        graph->links[link].loss_ppt = row->loss_ppt;
        if (scale_up)
            graph->links[link].reach = GRAPH_SCALE_UP;
    }
}

/* "2.0001s 3 17" */
static gboolean take_link_down(struct ns3 *ns3, const struct graph *graph, GError **error)
{
    const char *text = ns3->config->link_down, *why = NULL;
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    struct fault fault = {.name = "link_down", .change = FAULT_DOWN, .until_ps = FAULT_NEVER};
    uint64_t a, b;

    if (!*text)
        return TRUE;
    if (g_strv_length(words) != 3 || !units_parse(UNITS_TIME, words[0], &fault.at_ps, &why) ||
        fault.at_ps < 0 || !reader_is_whole(words[1], 0, graph->n_ids - 1, &a) ||
        !reader_is_whole(words[2], 0, graph->n_ids - 1, &b) || graph->node_of_id[a] == UINT32_MAX ||
        graph->node_of_id[b] == UINT32_MAX) {
        g_set_error(error, READER_ERROR, 0,
                    "link_down = %s: a time and two nodes of the file are expected, such as 2.1s 3 "
                    "17; nodes are 0 to %u",
                    text, graph->n_ids - 1);
        return FALSE;
    }
    fault.object = (struct fault_object){
        .kind = FAULT_BETWEEN, .number = graph->node_of_id[a], .second = graph->node_of_id[b]};
    fault_list_add(&ns3->build->faults, &fault);
    return TRUE;
}

static void note_content(const struct ns3 *ns3, const struct graph *graph)
{
    uint32_t n_lossy = 0;

    shape_note(graph, ns3->gpu_type ? "SimAI topology" : "ns-3 topology", ns3->reader.path,
               ns3->build);
    if (ns3->gpu_type)
        build_note(ns3->build,
                   "%" G_GUINT64_FORMAT " %s GPUs, %" G_GUINT64_FORMAT " a server; each is a host",
                   (uint64_t)graph->n_hosts, ns3->gpu_type, ns3->gpus_per_server);
    if (ns3->n_left_out)
        build_note(ns3->build,
                   "%" G_GUINT64_FORMAT
                   " NVSwitches and their %u links are left out: no Ethernet (scale_up = on builds "
                   "them); GPUs of a server reach each other over the fabric",
                   ns3->n_nvswitches, ns3->n_left_out);
    for (uint32_t l = 0; l < graph->n_links; l++)
        n_lossy += graph->links[l].loss_ppt > 0;
    if (n_lossy)
        build_note(ns3->build, "%u links lose packets, as their error rates say", n_lossy);
}

static gboolean fill_graph(struct ns3 *ns3, struct graph *graph, GError **error)
{
    if (!take_header(ns3, error) || !take_switches(ns3, error) || !take_links(ns3, error))
        return FALSE;
    add_nodes(ns3, graph);
    add_links(ns3, graph, false);
    add_links(ns3, graph, true);
    if (!graph_finish(graph, error))
        return FALSE;
    shape_node_tiers(graph);
    shape_link_tiers(graph);
    shape_link_planes(graph);
    shape_switch_planes(graph);
    graph->node_of_id = g_steal_pointer(&ns3->node_of_id);
    graph->n_ids = (uint32_t)ns3->n_nodes;
    note_content(ns3, graph);
    return take_link_down(ns3, graph, error);
}

static gboolean build_graph(const void *config, struct build *build, struct graph *graph,
                            GError **error)
{
    struct ns3 ns3 = {.config = config, .build = build};
    gboolean ok =
        reader_open_text(&ns3.reader, ns3.config->file, "a topology of the ns-3 family", error);

    ns3.rows = g_array_new(FALSE, FALSE, sizeof(struct row));
    ok = ok && fill_graph(&ns3, graph, error);
    g_array_unref(ns3.rows);
    g_free(ns3.switch_kind);
    g_free(ns3.node_of_id);
    g_free(ns3.gpu_type);
    reader_close(&ns3.reader);
    return ok;
}

const struct topology_ops topology_ns3 = {
    .name = "ns3",
    .summary = "A topology file of the ns-3 family: HPCC, ConWeave, PowerTCP, ASTRA-sim, SimAI.",
    .source = "HPCC's simulation/scratch/third.cc and its descendants",
    .config_size = sizeof(struct ns3_config),
    .params = params,
    .build = build_graph,
};
