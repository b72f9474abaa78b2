/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/loss.h"
#include "models/fabric.h"
#include "sim/core/units.h"

#define ALL_CLASSES ((1 << PACKET_DATA) | (1 << PACKET_ACK) | (1 << PACKET_CONTROL))

/* --- chance and bursts ---------------------------------------------------------------------- */

static enum sink_drop lose_by_chance(struct fabric *fabric, struct port *port,
                                     const struct wire_slot *slot)
{
    (void)fabric;
    (void)slot;
    return random_next(&port->rare->loss_draws) < port->rare->loss_threshold ? SINK_DROP_LOSS
                                                                             : SINK_N_DROPS;
}

static bool burst_by_packets(struct loss_burst *burst, int64_t now_ps)
{
    (void)now_ps;
    burst->bad ^= random_next(&burst->states) < burst->leave_threshold[burst->bad];
    return burst->bad;
}

/* Exponential, at least a picosecond. */
static int64_t stay_ps(struct loss_burst *burst)
{
    unsigned __int128 product = (unsigned __int128)random_exponential(&burst->states) *
                                (uint64_t)burst->mean_ps[burst->bad];

    return MAX((int64_t)(product >> RANDOM_EXPONENTIAL_BITS), 1);
}

static bool burst_by_time(struct loss_burst *burst, int64_t now_ps)
{
    while (burst->until_ps <= now_ps) {
        burst->bad = !burst->bad;
        burst->until_ps += stay_ps(burst);
    }
    return burst->bad;
}

static enum sink_drop lose_by_all(struct fabric *fabric, struct port *port,
                                  const struct wire_slot *slot)
{
    struct port_loss *loss = port->rare->loss;
    bool lost = false;

    if (loss->list && slot->class == PACKET_DATA &&
        drop_list_hit(loss->list, slot->packet, port->from_host, port->number / 2))
        return SINK_DROP_LISTED;
    if (!(loss->random_classes >> slot->class & 1))
        return SINK_N_DROPS;
    if (loss->in_burst && loss->in_burst(&loss->burst, fabric->engine.events.now_ps))
        lost = random_next(&loss->burst.losses) < loss->burst.loss_threshold;
    if (port->rare->loss_threshold)
        lost |= random_next(&port->rare->loss_draws) < port->rare->loss_threshold;
    return lost ? SINK_DROP_LOSS : SINK_N_DROPS;
}

/* --- setting up ----------------------------------------------------------------------------- */

uint8_t loss_classes(const struct loss_config *config)
{
    static const uint8_t classes[] = {ALL_CLASSES, 1 << PACKET_DATA,
                                      ALL_CLASSES & ~(1 << PACKET_DATA), 1 << PACKET_CONTROL,
                                      1 << PACKET_PFC};

    return classes[config->class];
}

static gboolean check_burst(int64_t length, int64_t gap, const char *clock, GError **error)
{
    if ((length > 0) == (gap > 0))
        return TRUE;
    g_set_error(error, GRAPH_ERROR, 0,
                "[loss] burst_length_%s and burst_gap_%s: both or none are expected", clock, clock);
    return FALSE;
}

static gboolean check_list(const char *key, const char *list, const char *example, GError **error)
{
    bool valid;

    fabric_list_has(list, 0, &valid);
    if (!valid)
        g_set_error(error, GRAPH_ERROR, 0, "[loss] %s = %s: a list such as %s, or all, is expected",
                    key, list, example);
    return valid;
}

gboolean loss_check(const struct loss_config *config, GError **error)
{
    if (!check_list("tiers", config->tiers, "1,2 or 1-3", error) ||
        !check_list("planes", config->planes, "0,2-3", error) ||
        !check_burst(config->burst_length_packets, config->burst_gap_packets, "packets", error) ||
        !check_burst(config->burst_length_time, config->burst_gap_time, "time", error))
        return FALSE;
    if (config->burst_length_packets && config->burst_length_time) {
        g_set_error(error, GRAPH_ERROR, 0,
                    "[loss] burst_length_packets and burst_length_time: one clock is expected");
        return FALSE;
    }
    return TRUE;
}

/* Whether rate_per_link and bursts are meant for this port. */
static bool is_selected(const struct loss_config *loss, const struct graph *graph, uint32_t number)
{
    const struct graph_link *link = &graph->links[number / 2];
    uint32_t node = graph_port_node(graph, number), peer = graph_port_peer(graph, number);
    bool up = graph->nodes[peer].tier > graph->nodes[node].tier, valid;

    return fabric_list_has(loss->planes, link->plane, &valid) &&
           fabric_list_has(loss->tiers, link->tier, &valid) && !(loss->direction == 1 && !up) &&
           !(loss->direction == 2 && up);
}

/* Chance of at least one of two independent losses. */
static int64_t either_ppt(int64_t a, int64_t b)
{
    return a + b - (int64_t)((__int128)a * b / UNITS_PPT);
}

/* Chance of loss at this port: per link where selected, the link's own, and end to end on the last
 * link. */
static int64_t loss_ppt(const struct loss_config *loss, const struct graph *graph, uint32_t number)
{
    const struct graph_link *link = &graph->links[number / 2];
    bool valid;
    int64_t each = is_selected(loss, graph, number) ? loss->rate_per_link : 0;
    int64_t last = graph->nodes[graph_port_peer(graph, number)].is_switch ||
                           !fabric_list_has(loss->planes, link->plane, &valid)
                       ? 0
                       : loss->rate_end_to_end;

    return either_ppt(either_ppt(each, link->loss_ppt), last);
}

static void burst_init(struct port_loss *loss, const struct loss_config *config, uint64_t seed,
                       uint32_t number)
{
    struct loss_burst *burst = &loss->burst;
    bool by_packets = config->burst_length_packets > 0;
    int64_t length = by_packets ? config->burst_length_packets : config->burst_length_time;
    int64_t gap = by_packets ? config->burst_gap_packets : config->burst_gap_time;

    *burst = (struct loss_burst){.states = random_stream(seed, RANDOM_BURST, number),
                                 .losses = random_stream(seed, RANDOM_ELLIOTT, number),
                                 .loss_threshold = random_threshold(config->burst_loss),
                                 .mean_ps = {gap, length}};
    burst->leave_threshold[0] = UINT64_MAX / (uint64_t)gap;
    burst->leave_threshold[1] = UINT64_MAX / (uint64_t)length;
    burst->bad = random_below(&burst->states, (uint64_t)length + (uint64_t)gap) < (uint64_t)length;
    burst->until_ps = by_packets ? 0 : stay_ps(burst);
    loss->in_burst = by_packets ? burst_by_packets : burst_by_time;
}

void loss_init(struct port *port, const struct loss_config *config, const struct graph *graph,
               uint64_t seed, struct drop_list *list)
{
    int64_t ppt = loss_ppt(config, graph, port->number);
    bool bursts = (config->burst_length_packets || config->burst_length_time) &&
                  is_selected(config, graph, port->number);

    port->loss_classes = ppt || bursts ? loss_classes(config) : 0;
    if (!port->loss_classes && !list)
        return;
    struct port_rare *rare = port_rare(port);

    rare->loss_threshold = random_threshold(ppt);
    rare->loss_draws = random_stream(seed, RANDOM_LOSS, port->number);
    rare->lose = lose_by_chance;
    if (!bursts && !list)
        return;
    rare->loss = g_new0(struct port_loss, 1);
    rare->loss->random_classes = port->loss_classes;
    rare->loss->list = list;
    rare->lose = lose_by_all;
    if (bursts)
        burst_init(rare->loss, config, seed, port->number);
    if (list)
        port->loss_classes |= 1 << PACKET_DATA;
}
