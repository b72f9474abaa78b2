/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/survey.h"
#include "models/ideal.h"
#include "sim/core/units.h"
#include <string.h>

struct look {
    struct survey *survey;
    const struct experiment *experiment;
    struct route route;
    uint8_t *top_tier; /* by group: the highest of the links that its messages cross */
    GHashTable *pairs; /* (src, dst, profile) -> itself; counted, never walked */
};

/* --- messages --------------------------------------------------------------------------------- */

/* The first pair of NIC ports of the two hosts that are connected; 0 links if none is. */
static uint32_t find_path(const struct look *look, uint32_t src, uint32_t dst, uint32_t *from,
                          uint32_t *to, uint32_t *ports)
{
    const struct graph *graph = &look->experiment->graph;
    uint32_t n_nics = MIN(graph_n_ports(graph, src), graph_n_ports(graph, dst)), n_links = 0;

    for (uint32_t nic = 0; nic < n_nics && n_links == 0; nic++) {
        *from = nic;
        *to = nic;
        n_links = route_path(&look->route, graph_port(graph, src, nic),
                             graph->first_port[dst] + nic, ports, IDEAL_MAX_LINKS);
    }
    return MIN(n_links, IDEAL_MAX_LINKS);
}

/* The longest round trip of each transport setting that messages use. */
static void note_use(struct survey *survey, const struct transport_profile *profile, int64_t rtt_ps)
{
    uint32_t i = 0;

    while (i < survey->n_uses && survey->uses[i].profile != profile)
        i++;
    if (i == SURVEY_MOST_USES)
        return;
    if (i == survey->n_uses)
        survey->uses[survey->n_uses++] = (struct survey_use){.profile = profile};
    survey->uses[i].most_rtt_ps = MAX(survey->uses[i].most_rtt_ps, rtt_ps);
}

static void note_round_trip(struct look *look, uint32_t src, uint32_t dst, uint32_t nic,
                            const struct transport_profile *profile)
{
    const struct transport_common *common = profile->config;
    struct survey *survey = look->survey;
    int64_t rtt_ps = ideal_round_trip_ps(&look->route, src, dst, nic, common);

    if (rtt_ps == SINK_NEVER)
        return;
    survey->most_rtt_ps = MAX(survey->most_rtt_ps, rtt_ps);
    survey->least_rtt_ps = survey->least_rtt_ps ? MIN(survey->least_rtt_ps, rtt_ps) : rtt_ps;
    note_use(survey, profile, rtt_ps);
}

static void note_pair(struct look *look, uint32_t src, uint32_t dst, uint32_t nic, uint32_t profile)
{
    guint64 key = (guint64)profile << 48 ^ (guint64)src << 24 ^ dst;
    gint64 *kept;

    if (g_hash_table_contains(look->pairs, &key))
        return;
    kept = g_new(gint64, 1);
    *kept = (gint64)key;
    g_hash_table_add(look->pairs, kept);
    note_round_trip(
        look, src, dst, nic,
        hosts_profile(&look->experiment->hosts, src, look->experiment->profiles, profile));
}

static void look_at(struct look *look, const struct schedule_op *op)
{
    const struct experiment *experiment = look->experiment;
    struct survey *survey = look->survey;
    uint32_t src = experiment->schedule.rank_host[op->rank];
    const struct transport_common *common =
        hosts_profile(&experiment->hosts, src, experiment->profiles, op->profile)->config;
    uint32_t dst = experiment->schedule.rank_host[op->peer];
    uint32_t ports[IDEAL_MAX_LINKS], from, to, n_links;
    int64_t n = transport_n_packets(op->bytes, common->payload), step = (int64_t)survey->step;

    survey->n_messages += survey->step;
    survey->payload_bytes += op->bytes * step;
    survey->n_late += op->start_ps > experiment->scenario->run.end ? survey->step : 0;
    if (src == dst)
        return;
    n_links = find_path(look, src, dst, &from, &to, ports);
    survey->n_unreachable += n_links == 0 ? survey->step : 0;
    if (n_links == 0)
        return;
    note_pair(look, src, dst, from, op->profile);
    survey->n_packets += (double)(n * step);
    survey->n_packet_hops += 2.0 * (double)(n * step) * n_links;
    for (uint32_t i = 0; i < n_links; i++) {
        uint8_t tier = experiment->graph.links[ports[i] / 2].tier;

        survey->tier_bytes[MIN(tier, G_N_ELEMENTS(survey->tier_bytes) - 1)] +=
            (op->bytes + n * common->header) * step;
        if (op->group != SCHEDULE_NO_GROUP)
            look->top_tier[op->group] = MAX(look->top_tier[op->group], tier);
    }
}

static void look_at_schedule(struct look *look)
{
    const struct schedule *schedule = &look->experiment->schedule;
    struct survey *survey = look->survey;

    survey->step = schedule->n_ops / SURVEY_MOST_OPS + 1;
    for (uint64_t index = 0; index < schedule->n_ops; index += survey->step) {
        struct schedule_op op;

        schedule_op(schedule, index, &op);
        survey->n_looked_at++;
        if (op.kind == SCHEDULE_MESSAGE)
            look_at(look, &op);
    }
    survey->n_connections = g_hash_table_size(look->pairs);
}

/* Collectives whose messages were seen, and on links of hosts only. */
static void note_inner_groups(struct look *look)
{
    const struct schedule *schedule = &look->experiment->schedule;

    for (guint i = 0; i < schedule->groups->len; i++) {
        if (look->top_tier[i] != 1 || schedule_group(schedule, i)->factor_n == 0)
            continue;
        if (look->survey->n_inner_groups++ == 0)
            look->survey->inner_group = i;
    }
}

/* --- the need --------------------------------------------------------------------------------- */

static size_t largest_connection(const struct experiment *experiment)
{
    size_t largest = 0;

    for (guint i = 0; i < experiment->schedule.profiles->len; i++)
        largest = MAX(largest, experiment->profiles[i].ops->connection_size);
    return largest;
}

static void estimate(struct survey *survey, const struct experiment *experiment)
{
    const struct graph *graph = &experiment->graph;
    const struct transport_common *common = experiment->profiles[0].config;
    double stored = experiment->schedule.source ? 0.25 : SURVEY_OP_BYTES;

    survey->bdp_bytes =
        (int64_t)((double)survey->facts.host_rate_bps_max * (double)survey->most_rtt_ps / 8e12);
    survey->time_s = survey->n_packet_hops * SURVEY_HOP_NS / 1e9;
    survey->memory_bytes =
        SURVEY_BASE_BYTES + (double)graph->n_hosts * SURVEY_HOST_BYTES +
        2.0 * graph->n_links * SURVEY_PORT_BYTES + (double)experiment->schedule.n_ops * stored +
        (double)survey->n_messages * SURVEY_MESSAGE_BYTES +
        (double)survey->n_connections *
            (double)(largest_connection(experiment) + SURVEY_CONNECTION_BYTES) +
        (double)MIN(graph->n_hosts, survey->n_connections) * SURVEY_PACKET_BYTES *
            (double)survey->bdp_bytes / (double)(common->payload + common->header);
}

void survey_make(struct survey *survey, const struct experiment *experiment)
{
    struct look look = {.survey = survey, .experiment = experiment};

    *survey = (struct survey){0};
    graph_describe(&experiment->graph, &survey->facts);
    look.pairs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    route_init(&look.route, &experiment->graph);
    look.top_tier = g_new0(uint8_t, experiment->schedule.groups->len + 1);
    look_at_schedule(&look);
    note_inner_groups(&look);
    g_free(look.top_tier);
    route_clear(&look.route);
    g_hash_table_unref(look.pairs);
    estimate(survey, experiment);
}
