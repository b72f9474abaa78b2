/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of one run over time, from its series.csv: how the flows of an incast share, and sending
 * rates with the queues they make. Their tables have a row a bin of steps. A column is called by
 * its quantity and, behind a space, whose it is: "sent_gbps flow 0".
 */
#include "sim/app/figure_series.h"
#include "sim/app/lattice.h"
#include "sim/stats/stats.h"
#include <math.h>
#include <string.h>

#define MOST_FLOWS 64 /* drawn as a line each */
#define MOST_PORTS 4  /* those with the longest queues */

/* --- what they have in common ------------------------------------------------------------------
 */

struct series_table *figure_series_read(const char *folder, const GPtrArray *settings,
                                        const char *const *wanted, int64_t window_ps,
                                        GError **error)
{
    g_autofree char *path = g_build_filename(folder, "series.csv", NULL);
    const char *text = results_setting(settings, "run", "series_step"), *why;
    int64_t step_ps = 0;

    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        figure_no_data(error, "it needs the series.csv of a run (run.series_step)");
        return NULL;
    }
    if (!text || !units_parse(UNITS_TIME, text, &step_ps, &why) || step_ps <= 0) {
        g_set_error(error, FIGURE_ERROR, FIGURE_ERROR_DATA,
                    "%s/scenario.ini: [run] series_step: the step of series.csv is expected",
                    folder);
        return NULL;
    }
    return series_table_read(folder, step_ps, (guint)((window_ps + step_ps - 1) / step_ps), wanted,
                             error);
}

double figure_series_gbps(const struct series_table *series, const struct series_track *track,
                          guint bin)
{
    return track->sum[bin] * 8e-9 / series_table_length_s(series, bin);
}

double figure_series_flow_gbps(const struct series_table *series, const struct series_track *track,
                               guint bin)
{
    double there_s = track->n_rows[bin] * (double)series->step_ps * 1e-12;

    return track->n_rows[bin] == 0
               ? (double)NAN
               : track->sum[bin] * 8e-9 / fmin(there_s, series_table_length_s(series, bin));
}

void figure_series_note_step(GString *notes, const struct series_table *series)
{
    g_autofree char *step = units_format(UNITS_TIME, series->step_ps);

    if (series->steps_per_bin == 1)
        g_string_append_printf(notes, "each point is a step of %s\n", step);
    else
        g_string_append_printf(notes, "each point is the mean of %u steps of %s\n",
                               series->steps_per_bin, step);
}

/* Of the one run that the folder is. */
static struct series_table *read_series(const struct results *results, const char *const *wanted,
                                        int64_t window_ps, GError **error)
{
    if (results->kind == RESULTS_RUN)
        return figure_series_read(results->folder, results->settings, wanted, window_ps, error);
    figure_no_data(error, "it needs the series.csv of one run (run.series_step); of a sweep, the "
                          "folder of one of its points");
    return NULL;
}

/* Of a state: the mean over the steps that have it. */
static double mean_of(const struct series_track *track, guint bin)
{
    return track->n_rows[bin] ? track->sum[bin] / track->n_rows[bin] : (double)NAN;
}

/* The row of flows.csv of a flow, -1 if there is none. */
static int64_t flow_row(const struct table *flows, uint64_t id)
{
    g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, id);

    if (flows && id < table_n_rows(flows) && strcmp(table_field(flows, (uint32_t)id, 0), text) == 0)
        return (int64_t)id;
    for (uint32_t row = 0; flows && row < table_n_rows(flows); row++)
        if (strcmp(table_field(flows, row, 0), text) == 0)
            return row;
    return -1;
}

/* A field of flows.csv, "" where it is not to be had. */
static const char *flow_field(const struct table *flows, uint64_t id, const char *column)
{
    int64_t row = flow_row(flows, id);
    int index = flows ? table_column(flows, column) : -1;

    return row < 0 || index < 0 ? "" : table_field(flows, (uint32_t)row, (uint32_t)index);
}

static struct table *read_optional(const struct results *results, const char *file)
{
    g_autofree char *path = results_path(results, file);

    return results_has(results, file) ? table_read(path, NULL) : NULL;
}

static void free_table(struct table *table)
{
    if (table)
        table_free(table);
}

static void write_flow_name(struct table_writer *writer, const char *what,
                            const struct table *flows, uint64_t id)
{
    const char *src = flow_field(flows, id, "src"), *dst = flow_field(flows, id, "dst");

    if (*src && *dst)
        table_writer_printf(writer, "%s flow %" G_GUINT64_FORMAT ": host %s to %s", what, id, src,
                            dst);
    else
        table_writer_printf(writer, "%s flow %" G_GUINT64_FORMAT, what, id);
}

static void note_left_out(GString *notes, guint n, guint most, const char *what)
{
    if (n > most)
        g_string_append_printf(notes, "drawn are %u of %u %s\n", most, n, what);
}

/* --- incast: convergence and fairness --------------------------------------------------------- */

/* The flows of a contest (fairness.h) and the rows of its group. */
struct contest {
    char *name;
    uint64_t group;
    GPtrArray *flows; /* struct series_track *: what they received */
};

static void contest_clear(struct contest *contest)
{
    g_free(contest->name);
    if (contest->flows)
        g_ptr_array_unref(contest->flows);
}

/* Names of contests, in the order of their numbers: the summary has rows of each. */
static GPtrArray *contest_names(const struct table *summary)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

    for (uint32_t row = 0; row < table_n_rows(summary); row++) {
        const char *metric = table_field(summary, row, 0);

        if (g_str_has_prefix(metric, "group_") && g_str_has_suffix(metric, "_base_rtt"))
            g_ptr_array_add(names, g_strndup(metric + strlen("group_"),
                                             strlen(metric) - strlen("group__base_rtt")));
    }
    return names;
}

static GPtrArray *flows_of(const struct series_table *series, const struct table *flows,
                           uint64_t group)
{
    g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, group);
    GPtrArray *all = series_table_tracks(series, "flow", "received");
    GPtrArray *own = g_ptr_array_new();

    for (guint i = 0; i < all->len; i++) {
        struct series_track *track = g_ptr_array_index(all, i);

        if (strcmp(flow_field(flows, track->id, "group"), number) == 0)
            g_ptr_array_add(own, track);
    }
    g_ptr_array_unref(all);
    return own;
}

/* The contest with most flows. */
static bool find_contest(struct contest *contest, const struct results *results,
                         const struct series_table *series, const struct table *flows)
{
    g_autoptr(GPtrArray) names = contest_names(results->summary);
    g_autoptr(GPtrArray) groups = series_table_tracks(series, "group", "jain");

    *contest = (struct contest){0};
    for (guint i = 0; i < MIN(names->len, groups->len); i++) {
        uint64_t group = ((struct series_track *)g_ptr_array_index(groups, i))->id;
        GPtrArray *own = flows_of(series, flows, group);

        if (own->len < 2 || (contest->flows && own->len <= contest->flows->len)) {
            g_ptr_array_unref(own);
            continue;
        }
        contest_clear(contest);
        *contest = (struct contest){g_strdup(g_ptr_array_index(names, i)), group, own};
    }
    return contest->flows != NULL;
}

/* How the flows that are there in every step of a bin share it; NaN where fewer than two are. */
struct sharing {
    double jain, least, most, mean_gbps;
};

static struct sharing share(const struct series_table *series, const struct contest *contest,
                            guint bin)
{
    g_autofree double *rates = g_new(double, contest->flows->len + 1);
    struct sharing sharing = {(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    size_t n = 0;

    for (guint i = 0; i < contest->flows->len; i++) {
        const struct series_track *track = g_ptr_array_index(contest->flows, i);

        if (track->n_rows[bin] == series_table_steps(series, bin))
            rates[n++] = figure_series_gbps(series, track, bin);
    }
    stats_sort(rates, n);
    if (n < 2 || rates[n - 1] <= 0)
        return sharing;
    sharing.mean_gbps = stats_mean(rates, n);
    sharing.jain = stats_jain(rates, n);
    sharing.least = rates[0] / sharing.mean_gbps;
    sharing.most = rates[n - 1] / sharing.mean_gbps;
    return sharing;
}

static gboolean write_contest(const struct results *results, const struct series_table *series,
                              const struct contest *contest, const struct table *flows,
                              GError **error)
{
    static const char *const columns[] = {"time_ms", "jain", "share_least", "share_most",
                                          "mean_gbps"};
    struct table_writer *writer = figure_table(results, "fairness.csv", error);
    guint n_flows = MIN(contest->flows->len, MOST_FLOWS);

    if (!writer)
        return FALSE;
    table_writer_fields(writer, columns, G_N_ELEMENTS(columns));
    for (guint i = 0; i < n_flows; i++)
        write_flow_name(writer, "received_gbps", flows,
                        ((struct series_track *)g_ptr_array_index(contest->flows, i))->id);
    table_writer_row(writer);
    for (guint bin = 0; bin < series->n_bins; bin++) {
        struct sharing sharing = share(series, contest, bin);

        table_writer_double(writer, series_table_middle_ms(series, bin));
        table_writer_double(writer, sharing.jain);
        table_writer_double(writer, sharing.least);
        table_writer_double(writer, sharing.most);
        table_writer_double(writer, sharing.mean_gbps);
        for (guint i = 0; i < n_flows; i++) {
            const struct series_track *track = g_ptr_array_index(contest->flows, i);

            table_writer_double(writer, figure_series_flow_gbps(series, track, bin));
        }
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}

/* The window in which shares can be told from the grain of packets (fairness.h), of any contest. */
static int64_t window_ps(const struct results *results)
{
    int64_t most_ps = 0;

    for (uint32_t row = 0; results->summary && row < table_n_rows(results->summary); row++) {
        const char *metric = table_field(results->summary, row, 0);

        if (g_str_has_prefix(metric, "group_") && g_str_has_suffix(metric, "_goodput_window"))
            most_ps = MAX(most_ps, (int64_t)fmax(lattice_number(results->summary, row, 1), 0));
    }
    return most_ps;
}

static void note_contest(GString *notes, const struct results *results,
                         const struct contest *contest)
{
    static const struct {
        const char *metric, *text;
        bool is_time;
    } rows[] = {
        {"goodput_fair", "all flows within 10 % of the fair share, first after:", true},
        {"goodput_settled", "the same, for good after:", true},
        {"jain_mean", "Jain's index, mean over the steps:", false},
    };

    g_string_append_printf(notes, "%s: %u flows\n", contest->name, contest->flows->len);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = g_strdup_printf("group_%s_%s", contest->name, rows[i].metric);
        const char *value = results_metric(results->summary, name);
        double number = value ? g_ascii_strtod(value, NULL) : 0;
        g_autofree char *text =
            rows[i].is_time ? units_display(UNITS_TIME, number) : g_strdup_printf("%.3f", number);

        g_string_append_printf(notes, "%s %s\n", rows[i].text, value ? text : "never in this run");
    }
}

static gboolean write_fairness(const struct results *results, GString *notes, GError **error)
{
    static const char *const wanted[] = {"flow received", "group jain", NULL};
    struct series_table *series = read_series(results, wanted, window_ps(results), error);
    struct table *flows = read_optional(results, "flows.csv");
    struct contest contest = {0};
    gboolean ok = series != NULL;

    if (ok && !find_contest(&contest, results, series, flows))
        ok =
            figure_no_data(error, "it needs flows that compete for one receiver (workload incast), "
                                  "with series of flows and flows.csv");
    if (ok) {
        note_contest(notes, results, &contest);
        note_left_out(notes, contest.flows->len, MOST_FLOWS, "flows");
        figure_series_note_step(notes, series);
        ok = write_contest(results, series, &contest, flows, error);
    }
    contest_clear(&contest);
    free_table(flows);
    if (series)
        series_table_free(series);
    return ok;
}

const struct figure figure_fairness = {
    "fairness", "what each flow of an incast gets over time, and how fairly they share",
    write_fairness};

/* --- sending rates and queues ----------------------------------------------------------------- */

/* Payload of a full packet of the flow, by its transport's settings. */
static double payload_of(const struct results *results, const struct table *flows, uint64_t id)
{
    g_autofree char *group = g_strconcat("transport:", flow_field(flows, id, "transport"), NULL);
    const char *text = results_setting(results->settings, group, "payload"), *why;
    int64_t bytes;

    if (!text)
        text = results_setting(results->settings, "transport", "payload");
    return text && units_parse(UNITS_BYTES, text, &bytes, &why) ? (double)bytes : (double)NAN;
}

/* The rate at which it is paced, where anything is; else what it sent: a flow its payload, a host
 * all that its NICs put on the wire. */
static double rate_gbps(const struct series_table *series, const struct series_track *track,
                        double payload_bytes, guint bin)
{
    if (strcmp(track->metric, "rate") == 0)
        return mean_of(track, bin) * 1e-9;
    if (strcmp(track->metric, "sent") == 0)
        return figure_series_gbps(series, track, bin);
    return payload_bytes * figure_series_flow_gbps(series, track, bin);
}

static int by_peak(const void *a, const void *b)
{
    const struct series_track *x = *(const struct series_track *const *)a;
    const struct series_track *y = *(const struct series_track *const *)b;

    return x->peak != y->peak ? (x->peak < y->peak) - (x->peak > y->peak)
                              : (x->id > y->id) - (x->id < y->id);
}

/* The ports with the longest queues, longest first; or planes, where there is no series of ports.
 */
static GPtrArray *find_queues(const struct series_table *series)
{
    GPtrArray *queues = series_table_tracks(series, "port", "queue");

    if (queues->len == 0) {
        g_ptr_array_unref(queues);
        queues = series_table_tracks(series, "plane", "queue");
    }
    g_ptr_array_sort(queues, by_peak);
    while (queues->len > 0 &&
           (queues->len > MOST_PORTS ||
            ((struct series_track *)g_ptr_array_index(queues, queues->len - 1))->peak == 0))
        g_ptr_array_remove_index(queues, queues->len - 1);
    return queues;
}

/* "queue_kb port 1: node 10 to 0", nodes as ports.csv has them */
static void write_queue_name(struct table_writer *writer, const struct table *ports,
                             const struct series_track *queue)
{
    int node = ports ? table_column(ports, "node") : -1;
    int peer = ports ? table_column(ports, "peer") : -1;

    if (strcmp(queue->object, "port") == 0 && node >= 0 && peer >= 0 &&
        queue->id < table_n_rows(ports))
        table_writer_printf(writer, "queue_kb port %" G_GUINT64_FORMAT ": node %s to %s", queue->id,
                            table_field(ports, (uint32_t)queue->id, (uint32_t)node),
                            table_field(ports, (uint32_t)queue->id, (uint32_t)peer));
    else
        table_writer_printf(writer, "queue_kb %s %" G_GUINT64_FORMAT, queue->object, queue->id);
}

static gboolean write_rates(const struct results *results, const struct series_table *series,
                            const GPtrArray *rates, const GPtrArray *queues, GError **error)
{
    struct table_writer *writer = figure_table(results, "rates-queues.csv", error);
    guint n_rates = MIN(rates->len, MOST_FLOWS);
    g_autofree double *payload = g_new0(double, n_rates + 1);
    struct table *flows = read_optional(results, "flows.csv");
    struct table *ports = read_optional(results, "ports.csv");

    if (writer)
        table_writer_field(writer, "time_ms");
    for (guint i = 0; writer && i < n_rates; i++) {
        const struct series_track *rate = g_ptr_array_index(rates, i);

        payload[i] = payload_of(results, flows, rate->id);
        if (strcmp(rate->object, "host") == 0)
            table_writer_printf(writer, "wire_gbps host %" G_GUINT64_FORMAT, rate->id);
        else
            write_flow_name(writer, strcmp(rate->metric, "rate") == 0 ? "paced_gbps" : "sent_gbps",
                            flows, rate->id);
    }
    for (guint i = 0; writer && i < queues->len; i++)
        write_queue_name(writer, ports, g_ptr_array_index(queues, i));
    free_table(flows);
    free_table(ports);
    if (!writer)
        return FALSE;
    table_writer_row(writer);
    for (guint bin = 0; bin < series->n_bins; bin++) {
        table_writer_double(writer, series_table_middle_ms(series, bin));
        for (guint i = 0; i < n_rates; i++)
            table_writer_double(writer,
                                rate_gbps(series, g_ptr_array_index(rates, i), payload[i], bin));
        for (guint i = 0; i < queues->len; i++)
            table_writer_double(
                writer, ((struct series_track *)g_ptr_array_index(queues, i))->most[bin] * 1e-3);
        table_writer_row(writer);
    }
    return table_writer_close(writer, error);
}

static bool any_above_zero(const GPtrArray *tracks)
{
    for (guint i = 0; i < tracks->len; i++)
        if (((struct series_track *)g_ptr_array_index(tracks, i))->peak > 0)
            return true;
    return false;
}

static gboolean write_rates_queues(const struct results *results, GString *notes, GError **error)
{
    static const char *const wanted[] = {"flow rate",  "flow sent_packets", "host sent",
                                         "port queue", "plane queue",       NULL};
    struct series_table *series = read_series(results, wanted, 0, error);
    g_autoptr(GPtrArray) rates = NULL, queues = NULL;
    gboolean ok;

    if (!series)
        return FALSE;
    rates = series_table_tracks(series, "flow", "rate");
    if (!any_above_zero(rates)) {
        g_ptr_array_unref(rates);
        rates = series_table_tracks(series, "flow", "sent_packets");
    }
    if (rates->len == 0) {
        g_ptr_array_unref(rates);
        rates = series_table_tracks(series, "host", "sent");
    }
    queues = find_queues(series);
    if (rates->len == 0)
        ok = figure_no_data(error, "it needs a series of flows or hosts (run.series = flow)");
    else {
        note_left_out(notes, rates->len, MOST_FLOWS, "curves");
        for (guint i = 0; i < queues->len; i++) {
            const struct series_track *queue = g_ptr_array_index(queues, i);

            g_string_append_printf(notes,
                                   "queue of %s %" G_GUINT64_FORMAT ": %.4g KB at most at the end "
                                   "of a step\n",
                                   queue->object, queue->id, queue->peak * 1e-3);
        }
        figure_series_note_step(notes, series);
        ok = write_rates(results, series, rates, queues, error);
    }
    series_table_free(series);
    return ok;
}

const struct figure figure_rates_queues = {
    "rates-queues", "sending rates of flows and depths of the longest queues over time",
    write_rates_queues};
