/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weft fluid: DCQCN's fluid model behind a packet run of the same scenario. Leaves in its folder
 * fluid.csv (the model over time), packets.csv (the run over time), points.csv (fixed points),
 * scenario.ini and the plot dcqcn-fluid.png.
 */
#include "sim/app/command.h"
#include "sim/app/fluid.h"
#include "sim/app/plot.h"
#include "sim/core/table.h"
#include "sim/core/units.h"
#include "sim/stats/stats.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

#define MOST_END_PS INT64_C(1000000000000) /* 1 s: a state each microsecond */
#define N_ROWS      2000

struct point {
    const char *name, *meaning;
    struct dcqcn_fluid_point at;
    bool exists;
};

struct job {
    struct experiment experiment;
    struct fluid fluid;
    char *folder;
    GArray *steps; /* struct fluid_step */
    struct point points[2];
};

/* --- files ------------------------------------------------------------------------------------ */

static struct table_writer *open_table(const struct job *job, const char *file,
                                       const char *const *columns, GError **error)
{
    g_autofree char *path = g_build_filename(job->folder, file, NULL);
    struct table_writer *writer =
        table_writer_new_with(path, job->experiment.scenario->run.json_lines, error);

    if (!writer)
        return NULL;
    for (; *columns; columns++)
        table_writer_field(writer, *columns);
    table_writer_row(writer);
    return writer;
}

static void put(struct table_writer *writer, double value)
{
    table_writer_double(writer, value);
}

static gboolean write_packets(const struct job *job, GError **error)
{
    static const char *const columns[] = {"time_ps",        "queue_bytes",   "rate_mean_bps",
                                          "rate_least_bps", "rate_most_bps", NULL};
    struct table_writer *writer = open_table(job, "packets.csv", columns, error);

    for (guint i = 0; writer && i < job->steps->len; i++) {
        const struct fluid_step *step = &g_array_index(job->steps, struct fluid_step, i);

        table_writer_time(writer, step->time_ps);
        table_writer_printf(writer, "%" G_GINT64_FORMAT, step->queue_bytes);
        put(writer, step->n_flows ? (double)(step->rate_sum_bps / step->n_flows) : NAN);
        put(writer, step->n_flows ? (double)step->rate_least_bps : NAN);
        put(writer, step->n_flows ? (double)step->rate_most_bps : NAN);
        table_writer_row(writer);
    }
    return writer && table_writer_close(writer, error);
}

static gboolean write_states(const struct job *job, const struct dcqcn_fluid_state *states,
                             size_t n, GError **error)
{
    static const char *const columns[] = {"time_ps",    "queue_bytes", "rate_bps",
                                          "target_bps", "alpha",       NULL};
    struct table_writer *writer = open_table(job, "fluid.csv", columns, error);
    size_t stride = n / N_ROWS + 1;

    for (size_t i = 0; writer && i < n; i += stride) {
        table_writer_time(writer, (int64_t)(states[i].time_s * 1e12 + 0.5));
        put(writer, states[i].queue_bytes);
        put(writer, states[i].rate_bps);
        put(writer, states[i].target_bps);
        put(writer, states[i].alpha);
        table_writer_row(writer);
    }
    return writer && table_writer_close(writer, error);
}

static gboolean write_points(const struct job *job, GError **error)
{
    static const char *const columns[] = {"model",    "p",          "queue_bytes", "alpha",
                                          "rate_bps", "target_bps", "pinned",      NULL};
    struct table_writer *writer = open_table(job, "points.csv", columns, error);

    for (size_t i = 0; writer && i < G_N_ELEMENTS(job->points); i++) {
        const struct point *point = &job->points[i];

        if (!point->exists)
            continue;
        table_writer_field(writer, point->name);
        put(writer, point->at.p);
        put(writer, point->at.queue_bytes);
        put(writer, point->at.alpha);
        put(writer, point->at.rate_bps);
        put(writer, point->at.target_bps);
        table_writer_printf(writer, "%d", point->at.pinned);
        table_writer_row(writer);
    }
    return writer && table_writer_close(writer, error);
}

/* --- model ------------------------------------------------------------------------------------ */

/* From the start that the packets have: an empty queue, all at line rate, alpha 1. */
static gboolean solve(const struct job *job, GError **error)
{
    const struct dcqcn_fluid *model = &job->fluid.model;
    double end_s = (double)job->experiment.scenario->run.end * 1e-12;
    double step_s = MIN(model->delay_s / 2, 1e-6);
    size_t n = (size_t)(end_s / step_s) + 1;
    g_autofree struct dcqcn_fluid_state *states = g_new(struct dcqcn_fluid_state, n);

    states[0] = (struct dcqcn_fluid_state){
        .rate_bps = model->line_bps, .target_bps = model->line_bps, .alpha = 1};
    if (!dcqcn_fluid_solve(model, step_s, states, n)) {
        g_set_error_literal(error, FLUID_ERROR, 1, "GSL could not solve the fluid model");
        return FALSE;
    }
    return write_states(job, states, n, error);
}

static void find_points(struct job *job)
{
    struct point *points = job->points;

    points[0] = (struct point){.name = "fluid", .meaning = "fixed point of the fluid model"};
    points[0].exists = dcqcn_fluid_fixed_point(&job->fluid.model, &points[0].at);
    points[1] = (struct point){.name = "cycle", .meaning = "balance of one cycle"};
    points[1].exists = dcqcn_fluid_cycle_point(&job->fluid.model, &points[1].at);
}

/* --- for people ------------------------------------------------------------------------------- */

static double late_queue_bytes(const struct job *job)
{
    guint first = job->steps->len / 2;
    double sum = 0;

    for (guint i = first; i < job->steps->len; i++)
        sum += (double)g_array_index(job->steps, struct fluid_step, i).queue_bytes;
    return sum / (job->steps->len - first);
}

static void print_table(const struct job *job)
{
    const struct dcqcn_fluid *model = &job->fluid.model;

    printf("flows       %g of at most %g Gb/s into host %u at %g Gb/s; feedback after %.3g us\n",
           model->n_flows, model->line_bps / 1e9, job->fluid.receiver, model->capacity_bps / 1e9,
           model->delay_s * 1e6);
    for (size_t i = 0; i < G_N_ELEMENTS(job->points); i++) {
        const struct point *point = &job->points[i];

        printf("%-11s ", point->name);
        if (!point->exists)
            printf("%s: there is none\n", point->meaning);
        else if (point->at.pinned)
            printf("p %.3g is above pmax: the queue swings about kmax (%s)\n", point->at.p,
                   point->meaning);
        else
            printf("queue %.1f KB, p %.3g, alpha %.3g (%s)\n", point->at.queue_bytes / 1e3,
                   point->at.p, point->at.alpha, point->meaning);
    }
    printf("%-11s queue %.1f KB (mean of the second half)\n", "packets",
           late_queue_bytes(job) / 1e3);
    if (job->fluid.hyper_by_timer)
        printf(
            "note        no byte counter: hyper increase goes by the timer alone, and the models "
            "leave it out\n");
}

static void draw(const struct job *job)
{
    static const char *const formats[] = {"png", NULL};
    g_autoptr(GError) error = NULL;

    if (plot_draw("dcqcn-fluid.gp", job->folder, formats, job->experiment.scenario->title, &error))
        printf("plot        %s/dcqcn-fluid.png\n", job->folder);
    else
        printf("no plot     %s\n", error->message);
}

/* --- the command ------------------------------------------------------------------------------ */

static gboolean make_folder(const struct job *job, GError **error)
{
    g_autofree char *path = g_build_filename(job->folder, "scenario.ini", NULL);

    if (g_mkdir_with_parents(job->folder, 0777) != 0) {
        g_set_error(error, FLUID_ERROR, 1, "%s: cannot make the folder for results: %s",
                    job->folder, g_strerror(errno));
        return FALSE;
    }
    return scenario_write(job->experiment.scenario, path, error);
}

static gboolean check_end(struct run_config *run, GError **error)
{
    if (run->end > MOST_END_PS) {
        g_set_error_literal(error, FLUID_ERROR, 1,
                            "[run] end: the time to look at, such as 200ms, is expected; 1s at "
                            "most");
        return FALSE;
    }
    if (run->series_step == 0)
        run->series_step = MAX(run->end / N_ROWS, 1);
    return TRUE;
}

static gboolean work(struct job *job, struct scenario *scenario, GError **error)
{
    if (!check_end(&scenario->run, error) || !experiment_init(&job->experiment, scenario, error) ||
        !fluid_init(&job->fluid, &job->experiment, error) || !make_folder(job, error))
        return FALSE;
    find_points(job);
    if (!solve(job, error) || !write_points(job, error))
        return FALSE;
    job->steps = fluid_play(&job->fluid, &job->experiment, error);
    return job->steps && write_packets(job, error);
}

int command_fluid(int argc, char **argv)
{
    struct command_line line;
    struct scenario *scenario = NULL;
    struct job job = {0};
    GError *error = NULL;
    int code = COMMAND_DONE;

    stats_init();
    if (command_parse(&line, argc, argv, "[SCENARIO] - DCQCN's fluid model behind a packet run",
                      "For RoCEv2 with cc = dcqcn, all into one host, RED, run.end up to 1 s. "
                      "Writes fluid.csv, packets.csv,\npoints.csv and draws dcqcn-fluid.png.",
                      COMMAND_TAKES_OUT, &error))
        scenario = command_scenario(&line, &error);
    if (scenario) {
        job.folder =
            line.out ? g_strdup(line.out)
                     : g_strdup_printf("results/%s-fluid", scenario->name ? scenario->name : "run");
        if (work(&job, scenario, &error) && !line.quiet)
            print_table(&job);
        if (!error)
            draw(&job);
        experiment_clear(&job.experiment);
    }
    if (error)
        code = command_fail("fluid", error);
    if (job.steps)
        g_array_unref(job.steps);
    g_free(job.folder);
    scenario_free(scenario);
    command_clear(&line);
    return code;
}
