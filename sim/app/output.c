/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/output.h"
#include "models/node.h"
#include "sim/app/fct.h"
#include "sim/app/nccl.h"
#include "sim/app/version.h"
#include "sim/core/file.h"
#include "sim/core/table.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

G_DEFINE_QUARK(weft - output, output_error)

struct output {
    char *folder;
    const struct scenario *scenario;
    struct summary summary;
    struct sink sink;
    struct sink_ops ops;
    /* open until finished; flows, ports and series are NULL where [run] switches them off */
    struct table_writer *flows, *ports, *series, *summary_writer;
    struct table_writer *steps;       /* NULL where no node accounts for its time */
    struct table_writer *collectives; /* opened by the first call that has a row */
    GError *fault;                    /* of opening that */
    struct fct fct;                   /* empty unless wanted */
};

static const char *const flow_columns[] = {
    "flow",
    "src",
    "dst",
    "transport",
    "bytes",
    "start_ps",
    "end_receiver_ps",
    "end_sender_ps",
    "ideal_ps",
    "slowdown",
    "packets",
    "retransmitted_packets",
    "spurious_retransmissions",
    "timeouts",
    "marked_packets",
    "status",
    "bytes_by_plane",
    "group",
    "goodput_bps",
    "reason",
};

static const char *const port_columns[] = {
    "port",    "node",  "peer",           "plane",           "tier",
    "packets", "bytes", "marked_packets", "max_queue_bytes",
};

static const char *const pause_columns[] = {"pauses_sent", "pauses_received", "paused_ps"};

/* --- records ---------------------------------------------------------------------------------- */

static void put_whole(struct table_writer *writer, int64_t value)
{
    table_writer_printf(writer, "%" G_GINT64_FORMAT, value);
}

static void put_slowdown(struct table_writer *writer, const struct sink_flow *flow)
{
    int64_t ppm = summary_slowdown_ppm(flow);

    if (ppm < 0)
        table_writer_field(writer, "");
    else
        table_writer_printf(writer, "%" G_GINT64_FORMAT ".%06d", ppm / 1000000,
                            (int)(ppm % 1000000));
}

static void put_planes(struct table_writer *writer, const struct sink_flow *flow)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (uint32_t plane = 0; plane < flow->n_planes; plane++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, plane ? ";" : "",
                               flow->bytes_by_plane[plane]);
    table_writer_field(writer, text->str);
}

/* Payload bits per second from start to the receiver's end, rounded down; empty if never. */
static void put_goodput(struct table_writer *writer, const struct sink_flow *flow)
{
    int64_t time_ps = flow->end_receiver_ps - flow->start_ps;

    if (flow->start_ps < 0 || flow->end_receiver_ps < 0 || time_ps <= 0)
        table_writer_field(writer, "");
    else
        put_whole(writer, (int64_t)((unsigned __int128)(uint64_t)flow->bytes *
                                    UINT64_C(8000000000000) / (uint64_t)time_ps));
}

static void write_flow(struct table_writer *writer, const struct sink_flow *flow)
{
    table_writer_printf(writer, "%" G_GUINT64_FORMAT, flow->flow);
    put_whole(writer, flow->src);
    put_whole(writer, flow->dst);
    table_writer_field(writer, flow->transport);
    put_whole(writer, flow->bytes);
    table_writer_time(writer, flow->start_ps);
    table_writer_time(writer, flow->end_receiver_ps);
    table_writer_time(writer, flow->end_sender_ps);
    table_writer_time(writer, flow->ideal_ps);
    put_slowdown(writer, flow);
    put_whole(writer, flow->packets);
    put_whole(writer, flow->retransmitted_packets);
    put_whole(writer, flow->spurious_retransmissions);
    put_whole(writer, flow->timeouts);
    put_whole(writer, flow->marked_packets);
    table_writer_field(writer, sink_status_name(flow->status));
    put_planes(writer, flow);
    if (flow->group == SCHEDULE_NO_GROUP)
        table_writer_field(writer, "");
    else
        put_whole(writer, flow->group);
    put_goodput(writer, flow);
    table_writer_field(writer, flow->reason ? flow->reason : "");
    table_writer_row(writer);
}

static void on_flow(void *data, const struct sink_flow *flow)
{
    struct output *output = data;

    summary_flow(&output->summary, flow);
    if (output->flows)
        write_flow(output->flows, flow);
    if (output->fct.text)
        fct_flow(&output->fct, flow);
}

static void write_port(struct table_writer *writer, const struct sink_port *port)
{
    put_whole(writer, port->port);
    put_whole(writer, port->node);
    put_whole(writer, port->peer);
    put_whole(writer, port->plane);
    put_whole(writer, port->tier);
    put_whole(writer, port->packets);
    put_whole(writer, port->bytes);
    put_whole(writer, port->marked_packets);
    put_whole(writer, port->max_queue_bytes);
    for (int cause = 0; cause < SINK_N_DROPS; cause++)
        put_whole(writer, port->dropped_packets[cause]);
    put_whole(writer, port->pauses_sent);
    put_whole(writer, port->pauses_received);
    put_whole(writer, port->paused_ps);
    table_writer_row(writer);
}

static void on_port(void *data, const struct sink_port *port)
{
    struct output *output = data;

    summary_port(&output->summary, port);
    if (output->ports)
        write_port(output->ports, port);
}

static struct table_writer *open_table(const struct output *output, const char *file,
                                       const char *const *columns, size_t n_columns,
                                       GError **error);

/* A row as nccl-tests print it, with our units in the names; GB/s are 10^9 bytes a second. */
static void write_collective(struct output *output, const struct sink_group *group)
{
    static const char *const columns[] = {"size_bytes", "count",   "type",       "redop",
                                          "root",       "time_us", "algbw_GBps", "busbw_GBps",
                                          "collective", "ranks",   "calls"};
    struct table_writer *writer = output->collectives;
    struct nccl_row row = nccl_row(group);

    if (!writer && !output->fault) {
        writer =
            open_table(output, "collectives.csv", columns, G_N_ELEMENTS(columns), &output->fault);
        if (writer)
            table_writer_row(writer);
        output->collectives = writer;
    }
    if (!writer)
        return;
    put_whole(writer, group->bytes);
    put_whole(writer, row.count);
    table_writer_field(writer, row.type);
    table_writer_field(writer, row.redop);
    put_whole(writer, row.root);
    table_writer_double(writer, row.finished ? row.time_us : NAN);
    table_writer_double(writer, row.finished ? row.algbw : NAN);
    table_writer_double(writer, row.finished ? row.busbw : NAN);
    table_writer_field(writer, group->name);
    put_whole(writer, group->n_ranks);
    put_whole(writer, group->n_calls);
    table_writer_row(writer);
}

static void on_group(void *data, const struct sink_group *group)
{
    struct output *output = data;

    summary_group(&output->summary, group);
    if (group->element_bytes > 0)
        write_collective(output, group);
}

static void on_step(void *data, const struct sink_step *step)
{
    struct table_writer *writer = ((struct output *)data)->steps;

    put_whole(writer, step->rank);
    put_whole(writer, step->step);
    put_whole(writer, step->start_ps);
    put_whole(writer, step->end_ps);
    for (int i = 0; i < SINK_N_TIMES; i++)
        put_whole(writer, step->time_ps[i]);
    table_writer_row(writer);
}

static void on_metric(void *data, const struct sink_metric *metric)
{
    struct output *output = data;

    summary_metric(&output->summary, metric);
}

static void on_series(void *data, const struct sink_series *series)
{
    struct table_writer *writer = ((struct output *)data)->series;

    put_whole(writer, series->time_ps);
    table_writer_field(writer, series->object);
    table_writer_printf(writer, "%" G_GUINT64_FORMAT, series->id);
    table_writer_field(writer, series->metric);
    put_whole(writer, series->value);
    table_writer_field(writer, series->unit);
    table_writer_row(writer);
}

/* --- files ------------------------------------------------------------------------------------ */

static struct table_writer *open_table(const struct output *output, const char *file,
                                       const char *const *columns, size_t n_columns, GError **error)
{
    g_autofree char *path = g_build_filename(output->folder, file, NULL);
    struct table_writer *writer =
        table_writer_new_with(path, output->scenario->run.json_lines, error);

    if (writer)
        table_writer_fields(writer, columns, n_columns);
    return writer;
}

static gboolean open_flows(struct output *output, GError **error)
{
    output->flows =
        open_table(output, "flows.csv", flow_columns, G_N_ELEMENTS(flow_columns), error);
    if (output->flows)
        table_writer_row(output->flows);
    return output->flows != NULL;
}

static gboolean open_ports(struct output *output, GError **error)
{
    output->ports =
        open_table(output, "ports.csv", port_columns, G_N_ELEMENTS(port_columns), error);
    for (int cause = 0; output->ports && cause < SINK_N_DROPS; cause++)
        table_writer_printf(output->ports, "dropped_%s_packets",
                            sink_drop_name((enum sink_drop)cause));
    if (output->ports)
        table_writer_fields(output->ports, pause_columns, G_N_ELEMENTS(pause_columns));
    if (output->ports)
        table_writer_row(output->ports);
    return output->ports != NULL;
}

static gboolean open_series(struct output *output, GError **error)
{
    static const char *const columns[] = {"time_ps", "object", "id", "metric", "value", "unit"};

    output->series = open_table(output, "series.csv", columns, G_N_ELEMENTS(columns), error);
    if (output->series)
        table_writer_row(output->series);
    return output->series != NULL;
}

static gboolean open_steps(struct output *output, GError **error)
{
    static const char *const columns[] = {"rank", "step", "start_ps", "end_ps"};

    output->steps = open_table(output, "steps.csv", columns, G_N_ELEMENTS(columns), error);
    for (int i = 0; output->steps && i < SINK_N_TIMES; i++)
        table_writer_printf(output->steps, "%s_ps", sink_time_name((enum sink_time)i));
    if (output->steps)
        table_writer_row(output->steps);
    return output->steps != NULL;
}

static gboolean open_summary(struct output *output, GError **error)
{
    static const char *const columns[] = {"metric", "value", "unit"};

    output->summary_writer =
        open_table(output, "summary.csv", columns, G_N_ELEMENTS(columns), error);
    if (output->summary_writer)
        table_writer_row(output->summary_writer);
    return output->summary_writer != NULL;
}

struct output *output_new(const char *folder, const struct experiment *experiment, GError **error)
{
    struct output *output;
    const struct run_config *run = &experiment->scenario->run;
    bool series = run->series_step > 0 && run->series_file;
    bool accounts = node_list[experiment->scenario->model.host.node]->accounts;

    if (g_mkdir_with_parents(folder, 0777) != 0) {
        g_set_error(error, OUTPUT_ERROR, 1, "%s: cannot make the folder for results: %s", folder,
                    g_strerror(errno));
        return NULL;
    }
    output = g_new0(struct output, 1);
    output->folder = g_strdup(folder);
    output->scenario = experiment->scenario;
    output->ops = (struct sink_ops){.flow = on_flow,
                                    .port = on_port,
                                    .group = on_group,
                                    .metric = on_metric,
                                    .series = series ? on_series : NULL,
                                    .step = accounts ? on_step : NULL};
    output->sink = (struct sink){&output->ops, output};
    summary_init(&output->summary);
    if (run->fct)
        fct_init(&output->fct);
    if (!open_summary(output, error) || (run->flows && !open_flows(output, error)) ||
        (run->ports && !open_ports(output, error)) || (series && !open_series(output, error)) ||
        (accounts && !open_steps(output, error))) {
        output_free(output);
        return NULL;
    }
    return output;
}

const struct sink *output_sink(const struct output *output)
{
    return &output->sink;
}

const struct summary *output_summary(const struct output *output)
{
    return &output->summary;
}

void output_free(struct output *output)
{
    if (!output)
        return;
    table_writer_abort(output->flows);
    table_writer_abort(output->ports);
    table_writer_abort(output->series);
    table_writer_abort(output->summary_writer);
    table_writer_abort(output->steps);
    table_writer_abort(output->collectives);
    g_clear_error(&output->fault);
    summary_clear(&output->summary);
    fct_clear(&output->fct);
    g_free(output->folder);
    g_free(output);
}

static void remove_file(const struct output *output, const char *file)
{
    g_autofree char *path = g_build_filename(output->folder, file, NULL);

    g_unlink(path);
}

/* Writes a text, whole or not at all; NULL removes what an earlier run left. */
static gboolean write_text(const struct output *output, const char *file, const char *text,
                           GError **error)
{
    g_autofree char *path = g_build_filename(output->folder, file, NULL);

    if (text)
        return file_write(path, text, error);
    remove_file(output, file);
    return TRUE;
}

/* --- run.json --------------------------------------------------------------------------------- */

static void add_string(GString *json, const char *name, const char *text)
{
    g_string_append_printf(json, "  \"%s\": ", name);
    table_json_string(json, text);
    g_string_append(json, ",\n");
}

static void add_number(GString *json, const char *name, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    g_string_append_printf(json, "  \"%s\": %s,\n", name,
                           g_ascii_formatd(text, sizeof text, "%.15g", value));
}

/* As a shell would take it. */
static char *command_line(const struct output_facts *facts)
{
    GString *text = g_string_new("weft");

    for (int i = 0; i < facts->argc; i++) {
        bool plain = strspn(facts->argv[i], G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_./:=,+%@") ==
                     strlen(facts->argv[i]);
        g_autofree char *quoted =
            plain && *facts->argv[i] ? g_strdup(facts->argv[i]) : g_shell_quote(facts->argv[i]);

        g_string_append_printf(text, " %s", quoted);
    }
    return g_string_free(text, FALSE);
}

static const char *outcome_name(enum backend_outcome outcome)
{
    static const char *const names[] = {[BACKEND_FINISHED] = "finished",
                                        [BACKEND_UNFINISHED] = "unfinished",
                                        [BACKEND_INTERRUPTED] = "interrupted",
                                        [BACKEND_BROKEN] = "broken"};

    return names[outcome];
}

static gboolean write_facts(const struct output *output, const struct backend_result *result,
                            const struct output_facts *facts, GError **error)
{
    g_autofree char *command = command_line(facts);
    g_autoptr(GString) json = g_string_new("{\n");
    double n_hops = (double)MAX(result->n_hops, 1);
    struct rusage usage, children;
    bool complete = result->outcome == BACKEND_FINISHED || result->outcome == BACKEND_UNFINISHED;

    getrusage(RUSAGE_SELF, &usage);
    getrusage(RUSAGE_CHILDREN, &children);
    add_string(json, "program", "weft");
    add_string(json, "version", version_text());
    add_string(json, "build", version_build());
    add_string(json, "command", command);
    add_string(json, "host", g_get_host_name());
    add_string(json, "outcome", outcome_name(result->outcome));
    add_number(json, "wall_s", facts->wall_s);
    add_number(json, "cpu_s", facts->cpu_s);
    add_number(json, "peak_memory_bytes", (double)MAX(usage.ru_maxrss, children.ru_maxrss) * 1024);
    add_number(json, "simulated_ps", (double)result->end_ps);
    add_number(json, "events", (double)result->n_events);
    add_number(json, "packet_hops", (double)result->n_hops);
    add_number(json, "events_per_hop", (double)result->n_events / n_hops);
    add_number(json, "cpu_ns_per_hop", facts->cpu_s * 1e9 / n_hops);
    g_string_append_printf(json, "  \"complete\": %s\n}\n", complete ? "true" : "false");
    return write_text(output, "run.json", json->str, error);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void write_summary(struct output *output)
{
    for (guint i = 0; i < output->summary.rows->len; i++) {
        const struct summary_row *row = &g_array_index(output->summary.rows, struct summary_row, i);

        table_writer_field(output->summary_writer, row->metric);
        table_writer_field(output->summary_writer, row->value);
        table_writer_field(output->summary_writer, row->unit);
        table_writer_row(output->summary_writer);
    }
}

/* Closes a table, and removes what an earlier run left where this one writes none. */
static gboolean close_table(const struct output *output, struct table_writer **writer,
                            const char *file, GError **error)
{
    struct table_writer *open = g_steal_pointer(writer);
    g_autofree char *lines = table_json_lines_path(file);

    if (!open)
        remove_file(output, file);
    if (!open || !output->scenario->run.json_lines)
        remove_file(output, lines);
    return open ? table_writer_close(open, error) : TRUE;
}

/* What tools of others read. */
static gboolean write_foreign(const struct output *output, GError **error)
{
    const GArray *groups = output->summary.groups;
    bool collectives = nccl_has(groups);
    g_autofree char *table = collectives ? nccl_table(groups) : NULL;
    g_autofree char *json = collectives ? nccl_json(groups) : NULL;

    return write_text(output, "nccl.txt", table, error) &&
           write_text(output, "nccl.json", json, error) &&
           write_text(output, "fct.txt", output->fct.text ? output->fct.text->str : NULL, error);
}

gboolean output_finish(struct output *output, const struct backend_result *result,
                       const struct output_facts *facts, GError **error)
{
    g_autofree char *scenario = g_build_filename(output->folder, "scenario.ini", NULL);

    if (output->fault) {
        g_propagate_error(error, g_steal_pointer(&output->fault));
        return FALSE;
    }
    summary_finish(&output->summary, result);
    write_summary(output);
    return close_table(output, &output->flows, "flows.csv", error) &&
           close_table(output, &output->ports, "ports.csv", error) &&
           close_table(output, &output->series, "series.csv", error) &&
           close_table(output, &output->steps, "steps.csv", error) &&
           close_table(output, &output->collectives, "collectives.csv", error) &&
           write_foreign(output, error) && scenario_write(output->scenario, scenario, error) &&
           write_facts(output, result, facts, error) &&
           close_table(output, &output->summary_writer, "summary.csv", error);
}
