/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/fairness.h"
#include "models/ideal.h"
#include "models/series.h"
#include "sim/stats/stats.h"
#include <math.h>
#include <string.h>

struct contender {
    struct contest *contest;
    guint place; /* in the rows of its contest */
};

/* A row of a contest has one value a flow; rows of all steps follow each other. */
struct contest {
    uint32_t group;
    const char *name;
    guint n;
    int64_t base_rtt_ps; /* the longest of its flows */
    int64_t last_start_ps, first_end_ps;
    GArray *times_ps;             /* int64_t, ends of the steps */
    GArray *received, *allowance; /* double: bytes of the step; bit/s or bytes as it stood */
    double *now_received, *now_window, *now_rate;
    bool seen; /* in the step at hand */
};

struct fairness {
    GArray *contests;  /* struct contest */
    GHashTable *flows; /* operation -> struct contender */
    int64_t time_ps;   /* of the step at hand */
    const struct sink *next;
    struct sink sink;
};

/* --- setting up ------------------------------------------------------------------------------- */

static void contest_clear(void *data)
{
    struct contest *contest = data;

    g_array_unref(contest->times_ps);
    g_array_unref(contest->received);
    g_array_unref(contest->allowance);
    g_free(contest->now_received);
    g_free(contest->now_window);
    g_free(contest->now_rate);
}

static void add_contests(struct fairness *fairness, const struct schedule *schedule)
{
    for (guint group = 0; group < schedule->groups->len; group++) {
        struct contest contest = {.group = group,
                                  .name = schedule_group(schedule, group)->name,
                                  .last_start_ps = SINK_NEVER,
                                  .first_end_ps = INT64_MAX};

        if (!schedule_group(schedule, group)->contest)
            continue;
        contest.times_ps = g_array_new(FALSE, FALSE, sizeof(int64_t));
        contest.received = g_array_new(FALSE, FALSE, sizeof(double));
        contest.allowance = g_array_new(FALSE, FALSE, sizeof(double));
        g_array_append_val(fairness->contests, contest);
    }
}

static struct contest *contest_of(const struct fairness *fairness, uint32_t group)
{
    for (guint i = 0; i < fairness->contests->len; i++) {
        struct contest *contest = &g_array_index(fairness->contests, struct contest, i);

        if (contest->group == group)
            return contest;
    }
    return NULL;
}

static void add_contender(struct fairness *fairness, const struct experiment *experiment,
                          const struct route *route, uint64_t index, const struct schedule_op *op)
{
    struct contest *contest = contest_of(fairness, op->group);
    const struct schedule *schedule = &experiment->schedule;
    struct contender *contender;

    if (op->kind != SCHEDULE_MESSAGE || !contest)
        return;
    uint32_t src = schedule->rank_host[op->rank], dst = schedule->rank_host[op->peer];
    const struct transport_profile *profile =
        hosts_profile(&experiment->hosts, src, experiment->profiles, op->profile);

    contender = g_new(struct contender, 1);
    *contender = (struct contender){contest, contest->n++};
    g_hash_table_insert(fairness->flows, g_memdup2(&index, sizeof index), contender);
    if (src != dst)
        contest->base_rtt_ps =
            MAX(contest->base_rtt_ps, ideal_round_trip_ps(route, src, dst, 0, profile->config));
}

static void add_contenders(struct fairness *fairness, const struct experiment *experiment)
{
    struct route route;

    route_init(&route, &experiment->graph);
    for (uint64_t index = 0; index < experiment->schedule.n_ops; index++) {
        struct schedule_op op;

        schedule_op(&experiment->schedule, index, &op);
        add_contender(fairness, experiment, &route, index, &op);
    }
    route_clear(&route);
    for (guint i = 0; i < fairness->contests->len; i++) {
        struct contest *contest = &g_array_index(fairness->contests, struct contest, i);

        contest->now_received = g_new0(double, contest->n + 1);
        contest->now_window = g_new0(double, contest->n + 1);
        contest->now_rate = g_new0(double, contest->n + 1);
    }
}

/* --- steps ------------------------------------------------------------------------------------ */

static void put(const struct sink *sink, const struct contest *contest, int64_t time_ps,
                const char *metric, double share)
{
    struct sink_series row = {time_ps,
                              "group",
                              contest->group,
                              metric,
                              isfinite(share) ? (int64_t)(share * 1e6 + 0.5) : 0,
                              "ppm"};

    if (sink->ops->series)
        sink->ops->series(sink->data, &row);
}

static void extremes(const double *values, guint n, double *least, double *most)
{
    double mean = stats_mean(values, n);

    *least = INFINITY;
    *most = 0;
    for (guint i = 0; i < n; i++) {
        *least = MIN(*least, values[i] / mean);
        *most = MAX(*most, values[i] / mean);
    }
}

/* What each may do: rates where there are any, windows otherwise. */
static const double *allowances(const struct contest *contest)
{
    for (guint i = 0; i < contest->n; i++)
        if (contest->now_rate[i] > 0)
            return contest->now_rate;
    return contest->now_window;
}

static void close_step(struct contest *contest, int64_t time_ps, const struct sink *sink)
{
    double least, most;

    if (!contest->seen)
        return;
    g_array_append_val(contest->times_ps, time_ps);
    g_array_append_vals(contest->received, contest->now_received, contest->n);
    g_array_append_vals(contest->allowance, allowances(contest), contest->n);
    put(sink, contest, time_ps, "jain", stats_jain(contest->now_received, contest->n));
    extremes(contest->now_received, contest->n, &least, &most);
    put(sink, contest, time_ps, "share_least", least);
    put(sink, contest, time_ps, "share_most", most);
    extremes(allowances(contest), contest->n, &least, &most);
    put(sink, contest, time_ps, "allowance_least", least);
    put(sink, contest, time_ps, "allowance_most", most);
    memset(contest->now_received, 0, contest->n * sizeof(double));
    memset(contest->now_window, 0, contest->n * sizeof(double));
    memset(contest->now_rate, 0, contest->n * sizeof(double));
    contest->seen = false;
}

static void close_steps(struct fairness *fairness)
{
    for (guint i = 0; i < fairness->contests->len; i++)
        close_step(&g_array_index(fairness->contests, struct contest, i), fairness->time_ps,
                   fairness->next);
}

static void note_series(struct fairness *fairness, const struct sink_series *row)
{
    const struct contender *contender;
    gint64 key = (gint64)row->id;

    if (row->time_ps != fairness->time_ps) {
        close_steps(fairness);
        fairness->time_ps = row->time_ps;
    }
    if (strcmp(row->object, "flow") != 0)
        return;
    contender = g_hash_table_lookup(fairness->flows, &key);
    if (!contender)
        return;
    contender->contest->seen = true;
    if (strcmp(row->metric, "received") == 0)
        contender->contest->now_received[contender->place] = (double)row->value;
    else if (strcmp(row->metric, "window") == 0)
        contender->contest->now_window[contender->place] = (double)row->value;
    else if (strcmp(row->metric, "rate") == 0)
        contender->contest->now_rate[contender->place] = (double)row->value;
}

/* Every flow of the run has an end or none; its rows came before. */
static void note_flow(struct fairness *fairness, const struct sink_flow *flow)
{
    gint64 key = (gint64)flow->flow;
    const struct contender *contender = g_hash_table_lookup(fairness->flows, &key);
    struct contest *contest;

    if (!contender)
        return;
    contest = contender->contest;
    contest->last_start_ps =
        MAX(contest->last_start_ps, flow->start_ps == SINK_NEVER ? INT64_MAX : flow->start_ps);
    if (flow->end_receiver_ps != SINK_NEVER)
        contest->first_end_ps = MIN(contest->first_end_ps, flow->end_receiver_ps);
}

/* --- between the run and its sink ------------------------------------------------------------- */

static void on_flow(void *data, const struct sink_flow *flow)
{
    struct fairness *fairness = data;

    note_flow(fairness, flow);
    if (fairness->next->ops->flow)
        fairness->next->ops->flow(fairness->next->data, flow);
}

static void on_port(void *data, const struct sink_port *port)
{
    const struct sink *next = ((struct fairness *)data)->next;

    if (next->ops->port)
        next->ops->port(next->data, port);
}

static void on_group(void *data, const struct sink_group *group)
{
    const struct sink *next = ((struct fairness *)data)->next;

    if (next->ops->group)
        next->ops->group(next->data, group);
}

static void on_metric(void *data, const struct sink_metric *metric)
{
    const struct sink *next = ((struct fairness *)data)->next;

    if (next->ops->metric)
        next->ops->metric(next->data, metric);
}

static void on_series(void *data, const struct sink_series *row)
{
    struct fairness *fairness = data;

    note_series(fairness, row);
    if (fairness->next->ops->series)
        fairness->next->ops->series(fairness->next->data, row);
}

struct fairness *fairness_new(const struct experiment *experiment, const struct sink *next)
{
    static const struct sink_ops ops = {.flow = on_flow,
                                        .port = on_port,
                                        .group = on_group,
                                        .metric = on_metric,
                                        .series = on_series};
    struct fairness *fairness;

    if (experiment->scenario->run.series_step <= 0 ||
        !(experiment->series_objects >> SERIES_FLOW & 1))
        return NULL;
    fairness = g_new0(struct fairness, 1);
    fairness->next = next;
    fairness->sink = (struct sink){&ops, fairness};
    fairness->contests = g_array_new(FALSE, FALSE, sizeof(struct contest));
    g_array_set_clear_func(fairness->contests, contest_clear);
    fairness->flows = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    add_contests(fairness, &experiment->schedule);
    if (fairness->contests->len == 0) {
        fairness_free(fairness);
        return NULL;
    }
    add_contenders(fairness, experiment);
    return fairness;
}

void fairness_free(struct fairness *fairness)
{
    if (!fairness)
        return;
    g_array_unref(fairness->contests);
    g_hash_table_unref(fairness->flows);
    g_free(fairness);
}

const struct sink *fairness_sink(const struct fairness *fairness)
{
    return &fairness->sink;
}

/* --- what came out ---------------------------------------------------------------------------- */

static int64_t time_of(const struct contest *contest, guint step)
{
    return g_array_index(contest->times_ps, int64_t, step);
}

/* Steps in which all flows were there: [*first, *last). */
static void common_steps(const struct contest *contest, guint *first, guint *last)
{
    *first = 0;
    while (*first < contest->times_ps->len && time_of(contest, *first) <= contest->last_start_ps)
        ++*first;
    *last = *first;
    while (*last < contest->times_ps->len && time_of(contest, *last) <= contest->first_end_ps)
        ++*last;
}

static bool is_fair(const double *values, guint n)
{
    double least, most;

    extremes(values, n, &least, &most);
    return least >= 1 - FAIRNESS_TOLERANCE && most <= 1 + FAIRNESS_TOLERANCE;
}

static const double *row_of(const struct contest *contest, const GArray *rows, guint step)
{
    return &g_array_index(rows, double, (gsize)step * contest->n);
}

/* Ends of the first step that is fair and of the first from which on all are; or SINK_NEVER. */
struct fair {
    int64_t first_ps, settled_ps;
    guint n, n_fair; /* steps */
};

static void note_step(struct fair *fair, const double *values, const struct contest *contest,
                      guint step)
{
    fair->n++;
    if (!is_fair(values, contest->n)) {
        fair->settled_ps = SINK_NEVER;
        return;
    }
    fair->n_fair++;
    if (fair->first_ps == SINK_NEVER)
        fair->first_ps = time_of(contest, step);
    if (fair->settled_ps == SINK_NEVER)
        fair->settled_ps = time_of(contest, step);
}

static struct fair judge_allowance(const struct contest *contest, guint first, guint last)
{
    struct fair fair = {SINK_NEVER, SINK_NEVER, 0, 0};

    for (guint step = first; step < last; step++)
        note_step(&fair, row_of(contest, contest->allowance, step), contest, step);
    return fair;
}

/* How many steps it takes a fair share to be more than the grain of packets; 0: never. */
static guint window_steps(const struct contest *contest, guint first, guint last)
{
    double sum = 0;

    for (guint step = first; step < last; step++)
        sum += stats_mean(row_of(contest, contest->received, step), contest->n);
    return sum > 0 ? (guint)ceil(FAIRNESS_GRAIN_BYTES * (double)(last - first) / sum) : 0;
}

/* The same of the bytes of `width` steps, that one and those before. */
static struct fair judge_goodput(const struct contest *contest, guint first, guint last,
                                 guint width)
{
    g_autofree double *sums = g_new0(double, contest->n + 1);
    struct fair fair = {SINK_NEVER, SINK_NEVER, 0, 0};

    for (guint step = first; width > 0 && step < last; step++) {
        for (guint i = 0; i < contest->n; i++) {
            sums[i] += row_of(contest, contest->received, step)[i];
            if (step >= first + width)
                sums[i] -= row_of(contest, contest->received, step - width)[i];
        }
        if (step + 1 >= first + width)
            note_step(&fair, sums, contest, step);
    }
    return fair;
}

static void metric(const struct sink *sink, const struct contest *contest, const char *what,
                   const char *unit, double value)
{
    g_autofree char *name = g_strdup_printf("group_%s_%s", contest->name, what);
    struct sink_metric record = {name, unit, value};

    if (sink->ops->metric)
        sink->ops->metric(sink->data, &record);
}

static double since_start(const struct contest *contest, int64_t time_ps)
{
    return time_ps == SINK_NEVER ? (double)NAN : (double)(time_ps - contest->last_start_ps);
}

/* Over the steps in which anything arrived. */
static double jain_of(const struct contest *contest, guint first, guint last)
{
    double sum = 0;
    guint n = 0;

    for (guint step = first; step < last; step++) {
        double jain = stats_jain(row_of(contest, contest->received, step), contest->n);

        if (isfinite(jain)) {
            sum += jain;
            n++;
        }
    }
    return n > 0 ? sum / n : (double)NAN;
}

/* A time since the last start, and the same in base round trips. */
static void report_time(const struct contest *contest, const struct sink *sink, const char *what,
                        int64_t at_ps)
{
    g_autofree char *ratio = g_strdup_printf("%s_base_rtts", what);
    double wait_ps = since_start(contest, at_ps);

    metric(sink, contest, what, "ps", wait_ps);
    metric(sink, contest, ratio, "base RTTs", wait_ps / (double)contest->base_rtt_ps);
}

static void report(const struct contest *contest, const struct sink *sink)
{
    guint first, last, width;
    struct fair fair;

    common_steps(contest, &first, &last);
    width = window_steps(contest, first, last);
    metric(sink, contest, "base_rtt", "ps", (double)contest->base_rtt_ps);
    fair = judge_allowance(contest, first, last);
    report_time(contest, sink, "allowance_settled", fair.settled_ps);
    fair = judge_goodput(contest, first, last, width);
    report_time(contest, sink, "goodput_fair", fair.first_ps);
    report_time(contest, sink, "goodput_settled", fair.settled_ps);
    metric(sink, contest, "goodput_fair_share", "ratio",
           fair.n > 0 ? (double)fair.n_fair / fair.n : (double)NAN);
    metric(sink, contest, "goodput_window", "ps",
           contest->times_ps->len > 1
               ? (double)width * (double)(time_of(contest, 1) - time_of(contest, 0))
               : (double)NAN);
    metric(sink, contest, "jain_mean", "ratio", jain_of(contest, first, last));
}

void fairness_finish(struct fairness *fairness)
{
    close_steps(fairness);
    for (guint i = 0; i < fairness->contests->len; i++)
        report(&g_array_index(fairness->contests, struct contest, i), fairness->next);
}
