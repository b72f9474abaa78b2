/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/summary.h"
#include "sim/core/units.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WHOLE 9007199254740992.0 /* 2^53: a double holds every whole number up to here */

static void row_clear(void *data)
{
    struct summary_row *row = data;

    g_free(row->metric);
    g_free(row->unit);
    g_free(row->value);
}

static void group_clear(void *data)
{
    struct sink_group *group = data;

    g_free((char *)(uintptr_t)group->name);
}

void summary_init(struct summary *summary)
{
    *summary = (struct summary){.start_ps = SINK_NEVER, .end_ps = SINK_NEVER};
    summary->rows = g_array_new(FALSE, FALSE, sizeof(struct summary_row));
    summary->metrics = g_array_new(FALSE, FALSE, sizeof(struct summary_row));
    summary->groups = g_array_new(FALSE, FALSE, sizeof(struct sink_group));
    summary->completion_ps = g_array_new(FALSE, FALSE, sizeof(int64_t));
    split_init(&summary->transports);
    split_init(&summary->reaches);
    g_array_set_clear_func(summary->rows, row_clear);
    g_array_set_clear_func(summary->metrics, row_clear);
    g_array_set_clear_func(summary->groups, group_clear);
}

void summary_clear(struct summary *summary)
{
    g_array_unref(summary->rows);
    g_array_unref(summary->metrics);
    g_array_unref(summary->groups);
    g_array_unref(summary->completion_ps);
    split_clear(&summary->transports);
    split_clear(&summary->reaches);
}

/* --- gathering -------------------------------------------------------------------------------- */

int64_t summary_slowdown_ppm(const struct sink_flow *flow)
{
    unsigned __int128 millionths;

    if (flow->start_ps < 0 || flow->end_receiver_ps < 0 || flow->ideal_ps <= 0)
        return -1;
    millionths = (unsigned __int128)(uint64_t)(flow->end_receiver_ps - flow->start_ps) * 1000000;
    return (int64_t)((millionths + (uint64_t)flow->ideal_ps / 2) / (uint64_t)flow->ideal_ps);
}

static void flow_times(struct summary *summary, const struct sink_flow *flow)
{
    int64_t completion_ps = flow->end_receiver_ps - flow->start_ps;

    if (flow->start_ps >= 0 && (summary->start_ps < 0 || flow->start_ps < summary->start_ps))
        summary->start_ps = flow->start_ps;
    if (flow->end_receiver_ps > summary->end_ps)
        summary->end_ps = flow->end_receiver_ps;
    if (flow->status != SINK_FINISHED)
        return;
    g_array_append_val(summary->completion_ps, completion_ps);
    summary->n_fast += completion_ps < flow->ideal_ps;
}

void summary_flow(struct summary *summary, const struct sink_flow *flow)
{
    summary->n_flows[flow->status]++;
    summary->packets += flow->packets;
    summary->retransmitted_packets += flow->retransmitted_packets;
    summary->spurious_retransmissions += flow->spurious_retransmissions;
    summary->timeouts += flow->timeouts;
    summary->marked_packets += flow->marked_packets;
    summary->offered_bytes += flow->bytes;
    for (uint32_t plane = 0; plane < flow->n_planes; plane++)
        summary->delivered_bytes += flow->bytes_by_plane[plane];
    flow_times(summary, flow);
    split_add(&summary->transports, flow->transport, flow);
    if (flow->reach != SINK_REACH_UNKNOWN)
        split_add(&summary->reaches, graph_reach_name((enum graph_reach)flow->reach), flow);
}

/* Links begin at the lower tier (graph.h), so that even ports lead up. */
static void add_load(struct summary *summary, const struct sink_port *port)
{
    struct summary_load *load =
        &summary->load[MIN(port->tier, SUMMARY_N_TIERS - 1)][port->port & 1];

    load->n++;
    load->bytes += port->bytes;
    load->most = MAX(load->most, port->bytes);
    load->squares += (double)port->bytes * (double)port->bytes;
}

void summary_port(struct summary *summary, const struct sink_port *port)
{
    add_load(summary, port);
    summary->port_marked_packets += port->marked_packets;
    summary->pauses_sent += port->pauses_sent;
    summary->pauses_received += port->pauses_received;
    summary->paused_ps += port->paused_ps;
    summary->max_queue_bytes = MAX(summary->max_queue_bytes, port->max_queue_bytes);
    for (int cause = 0; cause < SINK_N_DROPS; cause++)
        summary->dropped_packets[cause] += port->dropped_packets[cause];
}

void summary_group(struct summary *summary, const struct sink_group *group)
{
    struct sink_group copy = *group;

    copy.name = g_strdup(group->name);
    g_array_append_val(summary->groups, copy);
}

static void add_row(GArray *rows, const char *metric, const char *unit, char *value)
{
    struct summary_row row = {g_strdup(metric), g_strdup(unit), value};

    g_array_append_val(rows, row);
}

static void add_whole(GArray *rows, const char *metric, const char *unit, int64_t value)
{
    add_row(rows, metric, unit, g_strdup_printf("%" G_GINT64_FORMAT, value));
}

static void add_time(GArray *rows, const char *metric, int64_t time_ps)
{
    if (time_ps < 0)
        add_row(rows, metric, "ps", g_strdup(""));
    else
        add_whole(rows, metric, "ps", time_ps);
}

/* Whole numbers as such, others by %.9g with a point in any locale. */
static void add_double(GArray *rows, const char *metric, const char *unit, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE] = "";

    if (value >= -MAX_WHOLE && value <= MAX_WHOLE && value == (double)(int64_t)value)
        g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, (int64_t)value);
    else if (isfinite(value))
        g_ascii_formatd(text, sizeof text, "%.9g", value);
    add_row(rows, metric, unit, g_strdup(text));
}

void summary_metric(struct summary *summary, const struct sink_metric *metric)
{
    add_double(summary->metrics, metric->name, metric->unit, metric->value);
}

static void on_flow(void *data, const struct sink_flow *flow)
{
    summary_flow(data, flow);
}

static void on_port(void *data, const struct sink_port *port)
{
    summary_port(data, port);
}

static void on_group(void *data, const struct sink_group *group)
{
    summary_group(data, group);
}

static void on_metric(void *data, const struct sink_metric *metric)
{
    summary_metric(data, metric);
}

struct sink summary_sink(struct summary *summary)
{
    static const struct sink_ops ops = {
        .flow = on_flow, .port = on_port, .group = on_group, .metric = on_metric};

    return (struct sink){&ops, summary};
}

/* --- rows ------------------------------------------------------------------------------------- */

double summary_algbw_bps(const struct sink_group *group)
{
    int64_t time_ps = group->end_ps - group->start_ps;

    if (group->end_ps < 0 || time_ps <= 0)
        return 0;
    return (double)group->bytes * (double)MAX(group->n_calls, 1) * 8e12 / (double)time_ps;
}

double summary_busbw_bps(const struct sink_group *group)
{
    return summary_algbw_bps(group) * (double)group->factor_n / (double)group->factor_d;
}

double summary_throughput_bps(const struct summary *summary, const struct backend_result *result)
{
    bool whole = summary->n_flows[SINK_UNFINISHED] == 0 && summary->n_flows[SINK_FAILED] == 0;
    int64_t duration_ps = (whole ? summary->end_ps : result->end_ps) - summary->start_ps;
    double sum_bps = 0;
    guint n = 0;

    for (guint i = 0; i < summary->groups->len; i++) {
        const struct sink_group *group = &g_array_index(summary->groups, struct sink_group, i);

        if (group->factor_n > 0) {
            sum_bps += summary_busbw_bps(group);
            n++;
        }
    }
    if (n > 0)
        return sum_bps / n;
    return duration_ps > 0 ? (double)summary->delivered_bytes * 8e12 / (double)duration_ps : 0;
}

int64_t summary_percentile_ps(const struct summary *summary, unsigned per_mille)
{
    const GArray *sorted = summary->completion_ps;
    int64_t n = summary->n_flows[SINK_FINISHED] + summary->n_flows[SINK_UNFINISHED] +
                summary->n_flows[SINK_FAILED];
    int64_t rank = MAX((n * per_mille + 999) / 1000, 1);

    return rank <= (int64_t)sorted->len ? g_array_index(sorted, int64_t, (guint)rank - 1)
                                        : SINK_NEVER;
}

static void add_completion(struct summary *summary, GArray *rows)
{
    GArray *sorted = summary->completion_ps;
    __int128 sum = 0;

    split_sort(sorted);
    for (guint i = 0; i < sorted->len; i++)
        sum += g_array_index(sorted, int64_t, i);
    add_time(rows, "completion_min", split_nearest_rank(sorted, 0));
    add_time(rows, "completion_mean",
             sorted->len ? (int64_t)((sum + sorted->len / 2) / sorted->len) : SINK_NEVER);
    add_time(rows, "completion_p50_nearest_rank", split_nearest_rank(sorted, 500));
    add_time(rows, "completion_p99_nearest_rank", split_nearest_rank(sorted, 990));
    add_time(rows, "completion_max", split_nearest_rank(sorted, 1000));
    add_whole(rows, "flows_slowdown_below_1", "flows", summary->n_fast);
}

/* The row's name: "group_NAME_what", with a number where several groups share a name. */
static char *group_metric(const struct summary *summary, guint index, const char *what)
{
    const struct sink_group *group = &g_array_index(summary->groups, struct sink_group, index);
    guint n_same = 0, number = 0;

    for (guint i = 0; i < summary->groups->len; i++) {
        bool same =
            strcmp(g_array_index(summary->groups, struct sink_group, i).name, group->name) == 0;

        n_same += same;
        number += same && i < index;
    }
    return n_same > 1 ? g_strdup_printf("group_%s_%u_%s", group->name, number, what)
                      : g_strdup_printf("group_%s_%s", group->name, what);
}

static void add_group(struct summary *summary, GArray *rows, guint index)
{
    const struct sink_group *group = &g_array_index(summary->groups, struct sink_group, index);
    g_autofree char *time = group_metric(summary, index, "time");
    g_autofree char *bytes = group_metric(summary, index, "bytes");
    g_autofree char *algbw = group_metric(summary, index, "algbw");
    g_autofree char *busbw = group_metric(summary, index, "busbw");
    g_autofree char *ops = group_metric(summary, index, "operations");
    g_autofree char *done = group_metric(summary, index, "operations_done");

    add_whole(rows, bytes, "bytes", group->bytes);
    add_time(rows, time, group->end_ps < 0 ? SINK_NEVER : group->end_ps - group->start_ps);
    if (group->n_calls > 1) {
        g_autofree char *calls = group_metric(summary, index, "calls");

        add_whole(rows, calls, "calls", group->n_calls);
    }
    add_double(rows, algbw, "bit/s", summary_algbw_bps(group));
    if (group->factor_n > 0)
        add_double(rows, busbw, "bit/s", summary_busbw_bps(group));
    add_whole(rows, ops, "operations", (int64_t)group->n_ops);
    add_whole(rows, done, "operations", (int64_t)group->n_ops_done);
}

static void add_counts(const struct summary *summary, GArray *rows)
{
    add_whole(rows, "data_packets_sent", "packets", summary->packets);
    add_whole(rows, "retransmitted_packets", "packets", summary->retransmitted_packets);
    add_whole(rows, "spurious_retransmissions", "packets", summary->spurious_retransmissions);
    add_whole(rows, "timeouts", "timeouts", summary->timeouts);
    add_whole(rows, "marked_packets", "packets", summary->marked_packets);
    for (int cause = 0; cause < SINK_N_DROPS; cause++) {
        g_autofree char *name =
            g_strdup_printf("ports_dropped_%s", sink_drop_name((enum sink_drop)cause));

        add_whole(rows, name, "packets", summary->dropped_packets[cause]);
    }
    add_whole(rows, "ports_marked_packets", "packets", summary->port_marked_packets);
    add_whole(rows, "max_queue", "bytes", summary->max_queue_bytes);
}

/* Wire bytes, in both directions; fabric_bytes leaves out nothing that crossed a cable. */
static void add_bytes(const struct summary *summary, GArray *rows)
{
    int64_t duration_ps = summary->end_ps - summary->start_ps, all = 0;

    add_whole(rows, "offered_bytes", "bytes", summary->offered_bytes);
    add_whole(rows, "delivered_bytes", "bytes", summary->delivered_bytes);
    add_double(rows, "goodput", "bit/s",
               summary->end_ps >= 0 && duration_ps > 0
                   ? (double)summary->delivered_bytes * 8e12 / (double)duration_ps
                   : 0);
    for (size_t tier = 0; tier < SUMMARY_N_TIERS; tier++) {
        g_autofree char *name = g_strdup_printf("wire_bytes_tier_%zu", tier);
        int64_t bytes = summary->load[tier][0].bytes + summary->load[tier][1].bytes;

        all += bytes;
        if (bytes > 0)
            add_whole(rows, name, "bytes", bytes);
    }
    add_whole(rows, "wire_bytes", "bytes", all);
}

/* Jain's index (sum x)^2 / (n sum x^2) and max / mean, over all links of the tier. */
static void add_balance(const struct summary *summary, GArray *rows)
{
    static const char *const directions[] = {"up", "down"};

    for (size_t tier = 0; tier < SUMMARY_N_TIERS; tier++)
        for (int way = 0; way < 2; way++) {
            const struct summary_load *load = &summary->load[tier][way];
            double sum = (double)load->bytes, n = (double)load->n;
            g_autofree char *jain =
                g_strdup_printf("balance_tier_%zu_%s_jain", tier, directions[way]);
            g_autofree char *peak =
                g_strdup_printf("balance_tier_%zu_%s_max_over_mean", tier, directions[way]);

            if (load->bytes == 0)
                continue;
            add_double(rows, jain, "ratio", sum * sum / (n * load->squares));
            add_double(rows, peak, "ratio", (double)load->most * n / sum);
        }
}

static void add_flows(const struct summary *summary, GArray *rows)
{
    int64_t n = 0;

    for (int status = 0; status <= SINK_FAILED; status++)
        n += summary->n_flows[status];
    add_whole(rows, "flows", "flows", n);
    add_whole(rows, "flows_finished", "flows", summary->n_flows[SINK_FINISHED]);
    add_whole(rows, "flows_unfinished", "flows", summary->n_flows[SINK_UNFINISHED]);
    add_whole(rows, "flows_failed", "flows", summary->n_flows[SINK_FAILED]);
}

/* One class: KIND_NAME_what. */
static void add_class(GArray *rows, const char *kind, struct split_class *class)
{
    int64_t time_ps = class->end_ps - class->start_ps;
    double goodput = class->end_ps >= 0 && time_ps > 0
                         ? (double)class->delivered_bytes * 8e12 / (double)time_ps
                         : 0;
    const struct {
        const char *what, *unit;
        int64_t value;
    } counts[] = {{"flows", "flows", class->n_flows},
                  {"flows_finished", "flows", class->n_finished},
                  {"offered_bytes", "bytes", class->offered_bytes},
                  {"delivered_bytes", "bytes", class->delivered_bytes},
                  {"retransmitted_packets", "packets", class->retransmitted_packets}};
    static const struct {
        const char *what;
        guint per_mille;
    } ranks[] = {{"completion_p50_nearest_rank", 500},
                 {"completion_p99_nearest_rank", 990},
                 {"completion_max", 1000}};

    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
        g_autofree char *name = g_strdup_printf("%s_%s_%s", kind, class->name, counts[i].what);

        add_whole(rows, name, counts[i].unit, counts[i].value);
    }
    g_autofree char *rate = g_strdup_printf("%s_%s_goodput", kind, class->name);
    g_autofree char *mean = g_strdup_printf("%s_%s_flow_goodput_mean", kind, class->name);

    add_double(rows, rate, "bit/s", goodput);
    add_double(rows, mean, "bit/s",
               class->n_finished ? class->goodput_sum_bps / (double)class->n_finished
                                 : (double)NAN);
    split_sort(class->completion_ps);
    for (size_t i = 0; i < G_N_ELEMENTS(ranks); i++) {
        g_autofree char *name = g_strdup_printf("%s_%s_%s", kind, class->name, ranks[i].what);

        add_time(rows, name, split_nearest_rank(class->completion_ps, ranks[i].per_mille));
    }
}

/* Where all flows are of one class, the run's own rows say it. */
static void add_split(GArray *rows, const char *kind, const struct split *split)
{
    for (guint i = 0; split->classes->len > 1 && i < split->classes->len; i++)
        add_class(rows, kind, &g_array_index(split->classes, struct split_class, i));
}

void summary_finish(struct summary *summary, const struct backend_result *result)
{
    GArray *rows = summary->rows;

    if (result) { /* first, for whoever reads only the top */
        bool whole = result->outcome == BACKEND_FINISHED || result->outcome == BACKEND_UNFINISHED;

        add_whole(rows, "complete", "0|1", whole);
    }
    add_flows(summary, rows);
    add_time(rows, "first_start", summary->start_ps);
    add_time(rows, "last_end_receiver", summary->end_ps);
    if (result)
        add_time(rows, "run_end", result->end_ps);
    add_completion(summary, rows);
    for (guint i = 0; i < summary->groups->len; i++)
        add_group(summary, rows, i);
    add_split(rows, "transport", &summary->transports);
    add_split(rows, "reach", &summary->reaches);
    add_counts(summary, rows);
    add_bytes(summary, rows);
    add_balance(summary, rows);
    for (guint i = 0; i < summary->metrics->len; i++) {
        const struct summary_row *row = &g_array_index(summary->metrics, struct summary_row, i);

        add_row(rows, row->metric, row->unit, g_strdup(row->value));
    }
    add_whole(rows, "pauses_sent", "frames", summary->pauses_sent);
    add_whole(rows, "pauses_received", "frames", summary->pauses_received);
    add_time(rows, "ports_paused", summary->paused_ps);
}

const char *summary_text(const struct summary *summary, const char *metric)
{
    for (guint i = 0; i < summary->rows->len; i++) {
        const struct summary_row *row = &g_array_index(summary->rows, struct summary_row, i);

        if (strcmp(row->metric, metric) == 0)
            return row->value;
    }
    return NULL;
}

double summary_value(const struct summary *summary, const char *metric)
{
    const char *text = summary_text(summary, metric);

    return text && *text ? g_ascii_strtod(text, NULL) : (double)NAN;
}

/* The backend reports changes in their order in time. */
const char *summary_recovery(const struct summary *summary)
{
    for (guint i = 0; i < summary->rows->len; i++) {
        const struct summary_row *row = &g_array_index(summary->rows, struct summary_row, i);

        if (g_str_has_prefix(row->metric, "fault_") && g_str_has_suffix(row->metric, "_recovery"))
            return row->value;
    }
    return "";
}
