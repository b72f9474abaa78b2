/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/survey.h"
#include "models/ideal.h"
#include "sim/core/units.h"
#include <math.h>
#include <string.h>

struct pair { /* a connection */
    gint64 key;
    int64_t n_out; /* packets that may be in flight */
};

struct sending {              /* of a host, its connections together */
    double n_out, most_n_out; /* packets in flight, and of one of them */
    double n_packets, bytes;
    int64_t first_ps, last_ps; /* starts */
    uint32_t n_connections, n_inbound;
    const struct transport_profile *profile; /* of one of them */
};

struct look {
    struct survey *survey;
    const struct experiment *experiment;
    struct route route;
    GHashTable *pairs;       /* struct pair -> itself; counted, never walked */
    struct sending *sending; /* by host */
    uint64_t n_messages;     /* looked at */
    uint32_t most_inbound;   /* connections into one host */
    double work;             /* packet-hops by what each costs */
    uint8_t *top_tier;       /* by group: the highest of the links that its messages cross */
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

/* The connection of a message, and whether this is its first. */
static struct pair *find_pair(struct look *look, uint32_t src, uint32_t dst, uint32_t profile,
                              bool *is_new)
{
    gint64 key = (gint64)((guint64)profile << 48 ^ (guint64)src << 24 ^ dst);
    struct pair *pair = g_hash_table_lookup(look->pairs, &key);

    *is_new = !pair;
    if (pair)
        return pair;
    pair = g_new0(struct pair, 1);
    pair->key = key;
    g_hash_table_add(look->pairs, pair);
    look->sending[src].n_connections++;
    look->sending[dst].n_inbound++;
    return pair;
}

/* Messages that wait for nothing are out together, others one after the other. */
static void note_out(struct look *look, uint32_t src, struct pair *pair,
                     const struct transport_profile *profile, bool is_root, int64_t n_packets)
{
    struct sending *sending = &look->sending[src];
    struct transport_need need =
        transport_need(profile, graph_n_ports(&look->experiment->graph, src), 1, 1);
    int64_t n_out = is_root ? pair->n_out + n_packets : MAX(pair->n_out, n_packets);

    if (need.window_packets > 0)
        n_out = MIN(n_out, need.window_packets);
    sending->profile = profile;
    sending->n_out += (double)(n_out - pair->n_out);
    sending->most_n_out = MAX(sending->most_n_out, (double)n_out);
    pair->n_out = n_out;
}

static void note_sending(struct look *look, uint32_t src, const struct schedule_op *op,
                         int64_t n_packets)
{
    struct sending *sending = &look->sending[src];

    sending->first_ps = sending->bytes > 0 ? MIN(sending->first_ps, op->start_ps) : op->start_ps;
    sending->last_ps = MAX(sending->last_ps, op->start_ps);
    sending->bytes += (double)op->bytes * (double)look->survey->step;
    sending->n_packets += (double)n_packets * (double)look->survey->step;
}

static void look_at(struct look *look, const struct schedule_op *op)
{
    const struct experiment *experiment = look->experiment;
    struct survey *survey = look->survey;
    uint32_t src = experiment->schedule.rank_host[op->rank];
    const struct transport_profile *profile =
        hosts_profile(&experiment->hosts, src, experiment->profiles, op->profile);
    const struct transport_common *common = profile->config;
    uint32_t dst = experiment->schedule.rank_host[op->peer];
    uint32_t ports[IDEAL_MAX_LINKS], from, to, n_links;
    int64_t n = transport_n_packets(op->bytes, common->payload), step = (int64_t)survey->step;
    struct transport_need need;
    struct pair *pair;
    bool is_new;

    survey->n_messages += survey->step;
    survey->payload_bytes += op->bytes * step;
    survey->n_late += op->start_ps > experiment->scenario->run.end ? survey->step : 0;
    if (src == dst)
        return;
    n_links = find_path(look, src, dst, &from, &to, ports);
    survey->n_unreachable += n_links == 0 ? survey->step : 0;
    if (n_links == 0)
        return;
    pair = find_pair(look, src, dst, op->profile, &is_new);
    if (is_new)
        note_round_trip(look, src, dst, from, profile);
    note_out(look, src, pair, profile, op->n_needed == 0, n);
    note_sending(look, src, op, n);
    look->n_messages++;
    survey->n_packets += (double)(n * step);
    need = transport_need(profile, 1, 1, 1);
    survey->n_packet_hops += (1 + need.n_replies) * (double)(n * step) * n_links;
    look->work += need.work * (1 + need.n_replies) * (double)(n * step) * n_links;
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
    if (survey->n_connections > 0.9 * (double)look->n_messages) /* no pair comes twice */
        survey->n_connections *= survey->step;
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

/*
 * Messages that are there at once: all, where threads play parts. Otherwise those that are open:
 * those that wait for nothing. Where others follow them, some ranks are ahead of others, and their
 * messages wait for their turn to be reported.
 */
static uint64_t count_open(const struct schedule *schedule, uint32_t n_threads)
{
    uint64_t n = 0;

    if (n_threads > 1)
        return schedule->n_ops;
    while (schedule_root(schedule, n) != SCHEDULE_NONE)
        n++;
    return n < schedule->n_ops ? n * CLAMP(n / SURVEY_RANKS_A_STEP, 1, SURVEY_STEPS_AHEAD) : n;
}

/*
 * Packets of a host in flight at most. One connection that meets no other at its receiver has
 * something between a bandwidth-delay product and its window out: their geometric mean, as
 * measured. Several have their windows, up to what fits the host.
 */
static double packets_of(const struct look *look, uint32_t host, double host_bps, double bdp)
{
    const struct sending *sending = &look->sending[host];
    uint32_t n_ports = MAX(graph_n_ports(&look->experiment->graph, host), 1);
    struct transport_need need = transport_need(sending->profile, n_ports, 1, 1);
    double busy_ps = sending->bytes * 8e12 / host_bps;
    double span_ps = (double)(sending->last_ps - sending->first_ps);
    double busy = span_ps > busy_ps ? busy_ps / span_ps : 1;
    double own_bdp = bdp * (double)need.n_nics / n_ports;

    if (sending->n_connections == 1 && look->most_inbound <= 1 && sending->n_out > own_bdp)
        return busy * sqrt(own_bdp * sending->n_out);
    return busy * MIN(sending->n_out, need.share > 0
                                          ? MAX(sending->most_n_out, 2 * need.share * bdp)
                                          : SURVEY_HOST_WINDOWS * MAX(sending->most_n_out, bdp));
}

static struct need_load expect_load(const struct look *look)
{
    const struct survey *survey = look->survey;
    const struct graph *graph = &look->experiment->graph;
    struct backend_run run = experiment_run(look->experiment);
    double host_bps = (double)survey->facts.host_rate_bps_max;
    double bdp = (double)survey->bdp_bytes / (double)backend_frame_bytes(&run);
    double scale = (double)survey->n_connections / MAX(1, g_hash_table_size(look->pairs));
    struct need_load load = {.n_connections = (double)survey->n_connections,
                             .work = look->work,
                             .n_flows = (double)survey->n_messages};

    double each = 1.0 / (double)graph->n_hosts;

    load.n_messages = (double)MIN(survey->n_messages, count_open(run.schedule, run.n_threads));
    for (uint32_t host = 0; host < graph->n_hosts; host++) {
        const struct sending *sending = &look->sending[host];

        load.busy_hosts += sending->n_connections + sending->n_inbound > 0 ? each : 0;
        if (sending->n_connections == 0)
            continue;
        double n_out = packets_of(look, host, host_bps, bdp), n = sending->n_connections;
        struct transport_need need =
            transport_need(sending->profile, graph_n_ports(graph, host), (int64_t)(n_out / n) + 1,
                           (int64_t)(sending->n_packets / n) + 1);

        load.n_packets += n_out;
        load.connection_bytes += scale * n * need.bytes;
    }
    load.n_packets = MIN(load.n_packets, survey->n_packets);
    return load;
}

static void estimate(struct look *look)
{
    struct survey *survey = look->survey;
    struct backend_run run = experiment_run(look->experiment);
    struct need_load load;

    survey->bdp_bytes =
        (int64_t)((double)survey->facts.host_rate_bps_max * (double)survey->most_rtt_ps / 8e12);
    for (uint32_t host = 0; host < run.graph->n_hosts; host++)
        look->most_inbound = MAX(look->most_inbound, look->sending[host].n_inbound);
    load = expect_load(look);
    need_estimate(&survey->need, &run, &look->route, &load);
}

void survey_make(struct survey *survey, const struct experiment *experiment)
{
    struct look look = {.survey = survey, .experiment = experiment};

    *survey = (struct survey){0};
    graph_describe(&experiment->graph, &survey->facts);
    look.pairs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    look.sending = g_new0(struct sending, experiment->graph.n_hosts + 1);
    route_init(&look.route, &experiment->graph);
    look.top_tier = g_new0(uint8_t, experiment->schedule.groups->len + 1);
    look_at_schedule(&look);
    estimate(&look);
    note_inner_groups(&look);
    g_free(look.top_tier);
    route_clear(&look.route);
    g_hash_table_unref(look.pairs);
    g_free(look.sending);
}
