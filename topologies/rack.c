/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Racks of accelerators with two networks. The scale-up network joins the accelerators of one rack:
 * `up_planes` single switches, `up_nics` ports of each accelerator on every one. The scale-out
 * network joins all: `out_planes` planes with `out_nics` ports each. An MTIA 300 rack has 16
 * accelerators and 5 or 6 network blades, each with two 800G ports of every accelerator (8 + 2:
 * four blades of scale-up and one of scale-out); a server of GPUs is a rack of 8 with one fast port
 * into its own switch and one NIC each.
 *
 * The scale-out network is one of two.
 *
 * scheduled: credits from the egress, cells sprayed over the fabric, in order at the end. To its
 * ports such a fabric is one switch without inner bottlenecks, whose packets wait for a credit
 * first; that is what is built: one switch a plane, latency `out_latency` (three times that if
 * there are several racks: leaf, spine, leaf) + `credit_time`. A stream asks for credits ahead of
 * time, so only its first packet is late by the credit's round trip, which the constant latency
 * does as well. What would wait at the ingress for credits waits at the egress, first come first
 * served, with as much room as queue.limit gives it.
 *
 * clos: a leaf a rack and `out_spines` spines: paths by ECMP, as any Ethernet.
 *
 * `fungible = on` gives the ports of the scale-out network to a second scale-up network: its planes
 * join the racks' accelerators as the first one's do, and nothing joins the racks.
 *
 * Planes of scale-up come first, so NIC ports do, too. graph.n_scale_up_planes says how many.
 * Leaves out, of a scheduled fabric, its request and grant messages, their pace and cells, turns
 * among ingresses, and a fabric that has lost links; cables of unequal length, second tiers of
 * scale-out, blades that fail. Source: SOURCES.md 2.3.
 */
#include "sim/core/units.h"
#include "topologies/topology.h"
#include <inttypes.h>

struct rack_config {
    int64_t racks, accelerators;
    int64_t up_planes, up_nics, up_rate, up_delay, up_latency;
    int64_t out_planes, out_nics, out_rate, out_delay, out_latency;
    int64_t out_fabric, credit_time;
    int64_t out_spines, spine_rate, spine_delay;
    int64_t fungible;
};

enum fabric { FABRIC_SCHEDULED, FABRIC_CLOS };

static const struct param params[] = {
    PARAM(NUMBER, struct rack_config, racks, "1", "1", "65536", NULL,
          "Racks (domains of scale-up).", "our choice: one"),
    PARAM(NUMBER, struct rack_config, accelerators, "16", "1", "4096", NULL,
          "Accelerators in a rack.", "SOURCES.md 2.3: 16 compute blades"),
    PARAM(NUMBER, struct rack_config, up_planes, "4", "0", "16", NULL,
          "Switches of the scale-up network, a plane each.",
          "SOURCES.md 2.3: 8 + 2 NICs are four blades and one"),
    PARAM(NUMBER, struct rack_config, up_nics, "2", "1", "16", NULL,
          "NIC ports of an accelerator on each of them.", "SOURCES.md 2.3"),
    PARAM(RATE, struct rack_config, up_rate, "800Gbps", "1Mbps", "100Tbps", NULL,
          "Rate of such a port.", "SOURCES.md 2.2"),
    PARAM(TIME, struct rack_config, up_delay, "5ns", "0ns", "1s", NULL, "Delay of its cable.",
          "our choice: 1 m of copper at 5 ns/m (SOURCES.md 5)"),
    PARAM(TIME, struct rack_config, up_latency, "250ns", "0ns", "1s", NULL,
          "Latency of a scale-up switch.",
          "SOURCES.md 2.3, guess: a switch of the kind of Tomahawk Ultra"),
    PARAM(NUMBER, struct rack_config, out_planes, "1", "0", "16", NULL,
          "Planes of the scale-out network.", "SOURCES.md 2.3: one blade in 8 + 2"),
    PARAM(NUMBER, struct rack_config, out_nics, "2", "1", "16", NULL,
          "NIC ports of an accelerator on each of them.", "SOURCES.md 2.3"),
    PARAM(RATE, struct rack_config, out_rate, "800Gbps", "1Mbps", "100Tbps", NULL,
          "Rate of such a port.", "SOURCES.md 2.2"),
    PARAM(TIME, struct rack_config, out_delay, "5ns", "0ns", "1s", NULL,
          "Delay of its cable to the rack's own scale-out switch.", "our choice: 1 m of copper"),
    PARAM(TIME, struct rack_config, out_latency, "600ns", "0ns", "1s", NULL,
          "Latency of a scale-out switch.", "SOURCES.md 5: Tomahawk 5, secondary source"),
    PARAM(
        CHOICE, struct rack_config, out_fabric, "scheduled", NULL, NULL, "scheduled|clos",
        "Scale-out: a scheduled fabric (credits, spray, in order), or leaves and spines with ECMP.",
        "SOURCES.md 2.3: MTIA 300's is scheduled"),
    PARAM(TIME, struct rack_config, credit_time, "2us", "0us", "1s", NULL,
          "scheduled: a credit's round trip.", "SOURCES.md 2.6, guess"),
    PARAM(NUMBER, struct rack_config, out_spines, "0", "0", "1048576", NULL,
          "clos: spines of each plane, where there are several racks; 0: as many as a rack has "
          "ports in the plane, one link to each: no oversubscription.",
          "SOURCES.md 2.3: DSF is non-blocking"),
    PARAM(RATE, struct rack_config, spine_rate, "0bps", "0bps", "100Tbps", NULL,
          "Rate of a link to a spine; 0bps: like out_rate.", "our choice"),
    PARAM(TIME, struct rack_config, spine_delay, "250ns", "0ns", "1s", NULL,
          "Delay of a link to a spine.", "SOURCES.md 5, guess: 50 m of fibre"),
    PARAM(BOOL, struct rack_config, fungible, "off", NULL, NULL, NULL,
          "The scale-out ports are a second scale-up network; nothing joins the racks.",
          "SOURCES.md 2.3: for inference"),
    PARAM_END};

struct network {
    int64_t n_planes, n_nics, rate_bps, delay_ps, latency_ps;
};

/* The planes of a network inside each rack; nothing above them. */
static void wire_up(const struct rack_config *config, const struct network *network,
                    uint16_t first_plane, struct graph *graph)
{
    for (int64_t plane = 0; plane < network->n_planes; plane++)
        for (int64_t rack = 0; rack < config->racks; rack++) {
            uint16_t number = (uint16_t)(first_plane + plane);
            uint32_t at = graph_add_switch(graph, 1, number, network->latency_ps);

            for (int64_t i = 0; i < config->accelerators * network->n_nics; i++)
                graph_add_link(graph, (uint32_t)(rack * config->accelerators + i / network->n_nics),
                               at, network->rate_bps, network->delay_ps, 1, number);
        }
}

/* The spines of a scale-out plane, each with one link to every rack's leaf. */
static void wire_spines(const struct rack_config *config, uint32_t first_leaf, uint16_t plane,
                        struct graph *graph)
{
    int64_t n_spines =
        config->out_spines ? config->out_spines : config->accelerators * config->out_nics;
    int64_t rate_bps = config->spine_rate ? config->spine_rate : config->out_rate;

    for (int64_t spine = 0; spine < n_spines; spine++) {
        uint32_t at = graph_add_switch(graph, 2, plane, config->out_latency);

        for (int64_t rack = 0; rack < config->racks; rack++)
            graph_add_link(graph, first_leaf + (uint32_t)rack, at, rate_bps, config->spine_delay, 2,
                           plane);
    }
}

/* One switch for all racks. */
static void wire_scheduled(const struct rack_config *config, const struct network *network,
                           uint16_t plane, struct graph *graph)
{
    int64_t n_hops = config->racks > 1 ? 3 : 1;
    uint32_t at =
        graph_add_switch(graph, 1, plane, n_hops * network->latency_ps + config->credit_time);

    for (uint32_t host = 0; host < graph->n_hosts; host++)
        for (int64_t i = 0; i < network->n_nics; i++)
            graph_add_link(graph, host, at, network->rate_bps, network->delay_ps, 1, plane);
}

static void wire_out(const struct rack_config *config, const struct network *network,
                     uint16_t first_plane, struct graph *graph)
{
    for (int64_t i = 0; i < network->n_planes; i++) {
        uint16_t plane = (uint16_t)(first_plane + i);
        struct network one = *network;
        uint32_t first_leaf = graph->n_nodes;

        if (config->out_fabric == FABRIC_SCHEDULED) {
            wire_scheduled(config, network, plane, graph);
            continue;
        }
        one.n_planes = 1;
        wire_up(config, &one, plane, graph);
        if (config->racks > 1)
            wire_spines(config, first_leaf, plane, graph);
    }
}

static void note(const struct rack_config *config, struct build *build)
{
    g_autofree char *up = units_format(UNITS_RATE, config->up_rate);
    g_autofree char *out = units_format(UNITS_RATE, config->out_rate);

    build_note(build,
               "rack: %" PRId64 " x %" PRId64 " accelerators; scale-up %" PRId64
               " x %s, %s %" PRId64 " x %s each",
               config->racks, config->accelerators, config->up_planes * config->up_nics, up,
               config->fungible ? "second scale-up" : "scale-out",
               config->out_planes * config->out_nics, out);
}

static gboolean build_rack(const void *data, struct build *build, struct graph *graph,
                           GError **error)
{
    const struct rack_config *config = data;
    const struct network up = {config->up_planes, config->up_nics, config->up_rate,
                               config->up_delay, config->up_latency};
    struct network out = {config->out_planes, config->out_nics, config->out_rate, config->out_delay,
                          config->out_latency};
    int64_t n_ports = up.n_planes * up.n_nics + out.n_planes * out.n_nics;

    if (n_ports == 0 || n_ports > UINT8_MAX) {
        g_set_error(error, BUILD_ERROR, 0,
                    "up_planes = %" PRId64 ", out_planes = %" PRId64 ": %" PRId64
                    " NIC ports an accelerator; 1 to %d are expected",
                    up.n_planes, out.n_planes, n_ports, UINT8_MAX);
        return FALSE;
    }
    for (int64_t i = 0; i < config->racks * config->accelerators; i++)
        graph_add_host(graph);
    wire_up(config, &up, 0, graph);
    graph->n_scale_up_planes = (uint32_t)up.n_planes;
    if (config->fungible) {
        out.delay_ps = config->up_delay;
        out.latency_ps = config->up_latency;
        wire_up(config, &out, (uint16_t)up.n_planes, graph);
        graph->n_scale_up_planes += (uint32_t)out.n_planes;
    } else {
        wire_out(config, &out, (uint16_t)up.n_planes, graph);
    }
    note(config, build);
    return graph_finish(graph, error);
}

const struct topology_ops topology_rack = {
    .name = "rack",
    .summary = "Racks of accelerators: a scale-up network in each, a scale-out network over all.",
    .source = "MTIA 300, ISCA 2026 (SOURCES.md 2.3)",
    .config_size = sizeof(struct rack_config),
    .params = params,
    .build = build_rack,
};
