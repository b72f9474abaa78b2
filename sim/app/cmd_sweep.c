/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft sweep: plays a grid of points times seeds, here or on a cluster. weft gather: makes their
 * tables. */
#include "sim/app/command.h"
#include "sim/app/eta.h"
#include "sim/app/experiment.h"
#include "sim/app/survey.h"
#include "sim/app/sweep_gather.h"
#include "sim/app/sweep_plan.h"
#include "sim/app/sweep_pool.h"
#include "sim/app/sweep_slurm.h"
#include "sim/app/sweep_worker.h"
#include "sim/core/units.h"
#include "sim/stats/stats.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_JOBS    1024
#define FAULTS_NAMED 10
#define GRID_PRINTED 60

struct options {
    char *scenario, *out, *seeds, *shard, *task;
    char **files, **sets, **filters, **slurm_options;
    int jobs;
    gboolean dry_run, retry_failed, slurm, quiet, worker;
    uint32_t shard_number, n_shards; /* 1 of 1 unless --shard */
};

/* --- which points ----------------------------------------------------------------------------- */

struct filter {
    int column; /* of the sweep's columns; -1: seed */
    char *pattern;
};

static void filter_clear(void *data)
{
    g_free(((struct filter *)data)->pattern);
}

static gboolean parse_filter(const struct sweep *sweep, const char *text, struct filter *filter,
                             GError **error)
{
    const char *equals = strchr(text, '=');
    g_autofree char *name = g_strstrip(g_strndup(text, equals ? (gsize)(equals - text) : 0));
    g_autoptr(GString) all = g_string_new("seed");

    filter->column = strcmp(name, "seed") == 0 ? -1 : -2;
    for (guint i = 0; i < sweep->columns->len; i++) {
        const char *column = g_ptr_array_index(sweep->columns, i);

        g_string_append_printf(all, ", %s", column);
        if (strcmp(name, column) == 0)
            filter->column = (int)i;
    }
    if (equals && filter->column >= -1) {
        filter->pattern = g_strstrip(g_strdup(equals + 1));
        return TRUE;
    }
    g_set_error(error, SWEEP_ERROR, 0, "--filter %s: COLUMN=PATTERN is expected, COLUMN one of %s",
                text, all->str);
    return FALSE;
}

static bool passes(const struct sweep *sweep, const struct sweep_point *point,
                   const GArray *filters)
{
    for (guint i = 0; i < filters->len; i++) {
        const struct filter *filter = &g_array_index(filters, struct filter, i);
        g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, point->seed);
        const char *text =
            filter->column < 0 ? seed : sweep_grid(sweep, point->grid)->cells[filter->column];

        if (!g_pattern_match_simple(filter->pattern, text))
            return false;
    }
    return true;
}

/* The points that are to be played now, each name once; NULL with an error. */
static GArray *choose(const struct sweep *sweep, const struct options *options, GError **error)
{
    g_autoptr(GArray) filters = g_array_new(FALSE, TRUE, sizeof(struct filter));
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GArray *todo = g_array_new(FALSE, FALSE, sizeof(uint32_t));

    g_array_set_clear_func(filters, filter_clear);
    for (char **text = options->filters; text && *text; text++) {
        struct filter filter = {0};

        if (!parse_filter(sweep, *text, &filter, error)) {
            g_array_unref(todo);
            return NULL;
        }
        g_array_append_val(filters, filter);
    }
    for (uint32_t i = 0; i < sweep->points->len; i++) {
        const struct sweep_point *point = sweep_point(sweep, i);

        if (point->status == SWEEP_WAITING && i % options->n_shards + 1 == options->shard_number &&
            passes(sweep, point, filters) && g_hash_table_add(seen, point->name))
            g_array_append_val(todo, i);
    }
    return todo;
}

static uint32_t n_jobs(const struct options *options)
{
    return options->jobs > 0 ? (uint32_t)options->jobs : g_get_num_processors();
}

/* --- dry run ---------------------------------------------------------------------------------- */

static gboolean survey_grid(const struct sweep_plan *plan, uint32_t grid, struct survey *survey,
                            GError **error)
{
    struct scenario *scenario = sweep_plan_scenario(plan, grid, error);
    struct experiment experiment;
    gboolean ok = scenario && experiment_init(&experiment, scenario, error);

    if (ok)
        survey_make(survey, &experiment);
    if (scenario)
        experiment_clear(&experiment);
    scenario_free(scenario);
    return ok;
}

static void print_grid(const struct sweep *sweep, uint32_t grid, uint32_t n,
                       const struct survey *survey)
{
    g_autofree char *time = units_display(UNITS_TIME, survey->need.cpu_s * 1e12);
    g_autofree char *memory = units_display(UNITS_BYTES, survey->need.bytes);

    printf("%4u ", grid + 1);
    for (guint i = 0; i < sweep->columns->len; i++)
        printf(" %s = %s;", (char *)g_ptr_array_index(sweep->columns, i),
               sweep_grid(sweep, grid)->cells[i]);
    printf(" %u to play, each about %s of CPU, %s\n", n, time, memory);
}

static void print_need(uint32_t jobs, double time_s, double memory_bytes)
{
    g_autofree char *all = units_display(UNITS_TIME, time_s * 1e12);
    g_autofree char *share = units_display(UNITS_TIME, time_s / jobs * 1e12);
    g_autofree char *each = units_display(UNITS_BYTES, memory_bytes);
    g_autofree char *together = units_display(UNITS_BYTES, memory_bytes * jobs);

    printf("estimate    %s of CPU without loss, %s with %u jobs; up to %s of memory a point, %s "
           "with %u jobs\n",
           all, share, jobs, each, together, jobs);
}

static gboolean dry_run(const struct options *options, const struct sweep_plan *plan,
                        const struct sweep *sweep, const GArray *todo, GError **error)
{
    g_autofree uint32_t *n_todo = g_new0(uint32_t, sweep->grid->len);
    double time_s = 0, memory_bytes = 0;
    uint32_t n_over = 0, n_printed = 0;

    for (guint i = 0; i < todo->len; i++)
        n_todo[sweep_point(sweep, g_array_index(todo, uint32_t, i))->grid]++;
    for (uint32_t i = 0; i < sweep->points->len; i++)
        n_over += sweep_point(sweep, i)->status != SWEEP_WAITING;
    printf("points      %u: %u grid points x %u seeds; %u are over, %u to play\n",
           sweep->points->len, sweep->grid->len, plan->seeds->len, n_over, todo->len);
    for (uint32_t grid = 0; grid < sweep->grid->len; grid++) {
        struct survey survey;

        if (n_todo[grid] == 0)
            continue;
        if (!survey_grid(plan, grid, &survey, error)) {
            g_prefix_error(error, "grid point %u: ", grid + 1);
            return FALSE;
        }
        time_s += survey.need.cpu_s * n_todo[grid];
        memory_bytes = MAX(memory_bytes, survey.need.bytes);
        if (n_printed++ < GRID_PRINTED)
            print_grid(sweep, grid, n_todo[grid], &survey);
    }
    if (n_printed > GRID_PRINTED)
        printf("     ... and %u more grid points\n", n_printed - GRID_PRINTED);
    print_need(MIN(n_jobs(options), MAX(todo->len, 1)), time_s, memory_bytes);
    return TRUE;
}

/* --- playing ---------------------------------------------------------------------------------- */

static gboolean play_here(const struct options *options, const struct sweep_plan *plan,
                          struct sweep *sweep, const GArray *todo, bool *stopped, GError **error)
{
    uint32_t strides[ETA_MOST_LEVELS];
    struct sweep_pool_config config = {.n_jobs = n_jobs(options), .quiet = options->quiet};

    config.strides = strides;
    config.n_strides = sweep_plan_strides(plan, strides);
    return sweep_pool_play(sweep, todo, &config, stopped, error);
}

static gboolean play_on_cluster(const struct options *options, const struct sweep_plan *plan,
                                struct sweep *sweep, const GArray *todo, bool *left, GError **error)
{
    struct sweep_slurm_config config = {.name = plan->file->name,
                                        .options = options->slurm_options,
                                        .points_per_task = (uint32_t)plan->config.points_per_task,
                                        .tasks_at_once = options->jobs
                                                             ? (uint32_t)options->jobs
                                                             : (uint32_t)plan->config.tasks_at_once,
                                        .quiet = options->quiet};

    return sweep_slurm_play(sweep, todo, &config, left, error);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void name_faults(const char *command, const struct sweep *sweep)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < sweep->points->len; i++) {
        const struct sweep_point *point = sweep_point(sweep, i);
        g_autofree char *label = NULL;

        if (point->status != SWEEP_FAILED || n++ >= FAULTS_NAMED)
            continue;
        label = sweep_point_label(sweep, point);
        fprintf(stderr, "weft %s: point %u (%s): %s\n", command, i + 1, label, point->error);
    }
    if (n > FAULTS_NAMED)
        fprintf(stderr, "weft %s: %u more failures are in points.csv\n", command, n - FAULTS_NAMED);
    if (n > 0)
        fprintf(stderr, "weft %s: %u point%s failed; weft sweep --retry-failed plays %s again\n",
                command, n, n == 1 ? "" : "s", n == 1 ? "it" : "them");
}

/* Gathers, tells, and judges. */
static int report(const char *command, struct sweep *sweep, char **others, bool quiet)
{
    struct sweep_counts counts;
    GError *error = NULL;

    if (!sweep_gather(sweep, others, &counts, quiet ? NULL : stdout, &error)) {
        command_fail(command, error);
        return COMMAND_BROKEN;
    }
    if (!quiet)
        printf("files: %s/summary.csv (a row a grid point), points.csv (a row a point)\n",
               sweep->folder);
    fflush(stdout);
    name_faults(command, sweep);
    if (counts.n_unfinished > 0 && !quiet)
        fprintf(stderr,
                "weft %s: in %u points a flow did not finish; points.csv says which, and they "
                "count\n",
                command, counts.n_unfinished);
    if (counts.n_waiting > 0)
        fprintf(stderr, "weft %s: %u of %u points are not played yet\n", command, counts.n_waiting,
                sweep->points->len);
    return counts.n_failed + counts.n_waiting > 0 ? COMMAND_BROKEN : COMMAND_DONE;
}

static int play(const struct options *options, const struct sweep_plan *plan, struct sweep *sweep,
                const GArray *todo)
{
    GError *error = NULL;
    bool stopped = false;
    gboolean ok = options->slurm ? play_on_cluster(options, plan, sweep, todo, &stopped, &error)
                                 : play_here(options, plan, sweep, todo, &stopped, &error);

    if (!ok) {
        sweep_look(sweep);
        command_fail("sweep", error);
        fprintf(stderr, "weft sweep: what is finished is kept; the same command plays the rest\n");
        return COMMAND_BROKEN;
    }
    if (stopped && !options->slurm)
        fprintf(stderr, "weft sweep: stopped; what is finished is kept, the same command goes "
                        "on\n");
    if (options->shard && !stopped) {
        if (!options->quiet)
            printf("shard %s is played; weft gather %s makes the tables when all shards are\n",
                   options->shard, sweep->folder);
        sweep_look(sweep);
        name_faults("sweep", sweep);
        return COMMAND_DONE;
    }
    int code = report("sweep", sweep, NULL, options->quiet);

    return stopped ? COMMAND_BROKEN : code;
}

/* Makes the folder and chooses the points to play; `lock` holds others out until it is closed. */
static GArray *prepare(const struct options *options, struct sweep *sweep, int *lock,
                       GError **error)
{
    if (!options->dry_run) {
        *lock = sweep_lock(sweep, options->shard != NULL, error);
        if (*lock < 0 || !sweep_prepare(sweep, error))
            return NULL;
        sweep_clean(sweep, false);
    }
    sweep_look(sweep);
    if (options->retry_failed && !options->dry_run)
        sweep_forget_failures(sweep);
    return choose(sweep, options, error);
}

static int sweep_scenario(const struct options *options)
{
    struct sweep_plan plan;
    struct sweep *sweep = NULL;
    GError *error = NULL;
    g_autoptr(GArray) todo = NULL;
    int lock = -1, code = COMMAND_WRONG;

    if (sweep_plan_read(&plan, options->scenario, options->sets, options->seeds, &error)) {
        g_autofree char *folder = options->out ? g_strdup(options->out)
                                               : g_build_filename("results", plan.file->name, NULL);

        sweep = sweep_new(folder);
        if (sweep_plan_expand(&plan, sweep, &error))
            todo = prepare(options, sweep, &lock, &error);
    }
    if (todo && options->dry_run)
        code = dry_run(options, &plan, sweep, todo, &error) ? COMMAND_DONE : COMMAND_WRONG;
    else if (todo)
        code = play(options, &plan, sweep, todo);
    if (error)
        code = command_fail("sweep", error);
    if (lock >= 0)
        close(lock);
    sweep_free(sweep);
    sweep_plan_clear(&plan);
    return code;
}

/* --- command lines ---------------------------------------------------------------------------- */

static gboolean parse_shard(struct options *options, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(options->shard ? options->shard : "1/1", "/", -1);
    guint64 number, n;

    if (g_strv_length(parts) == 2 &&
        g_ascii_string_to_unsigned(parts[1], 10, 1, 1000000, &n, NULL) &&
        g_ascii_string_to_unsigned(parts[0], 10, 1, n, &number, NULL)) {
        options->shard_number = (uint32_t)number;
        options->n_shards = (uint32_t)n;
        return TRUE;
    }
    g_set_error(error, SWEEP_ERROR, 0, "--shard %s: K/N is expected, such as 1/4 to 4/4",
                options->shard);
    return FALSE;
}

static gboolean check(struct options *options, GError **error)
{
    guint n_files = options->files ? g_strv_length(options->files) : 0;
    bool inner = options->worker || options->task;

    if (inner ? !options->out : n_files != 1)
        g_set_error(error, SWEEP_ERROR, 0, "one scenario is expected, not %u", n_files);
    else if (options->jobs < 0 || options->jobs > MOST_JOBS)
        g_set_error(error, SWEEP_ERROR, 0, "--jobs %d: 1 to %d are possible", options->jobs,
                    MOST_JOBS);
    else if (options->slurm && options->shard)
        g_set_error(error, SWEEP_ERROR, 0, "--slurm and --shard exclude each other");
    else if (options->slurm_options && !options->slurm)
        g_set_error(error, SWEEP_ERROR, 0, "--slurm-option needs --slurm");
    else
        return parse_shard(options, error);
    return FALSE;
}

static gboolean parse(struct options *options, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out,
         "Folder for the results; results/NAME unless given", "DIR"},
        {"seeds", 0, 0, G_OPTION_ARG_STRING, &options->seeds,
         "Seeds of each grid point, such as 1-30 or 30, instead of those of [sweep]", "LIST"},
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options->sets,
         "Set one key in all points; grid.KEY and sweep.KEY change the sweep", "group.key=value"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &options->jobs,
         "Points at a time (default: all cores); with --slurm tasks at a time", "N"},
        {"dry-run", 'n', 0, G_OPTION_ARG_NONE, &options->dry_run,
         "Say how many points there are, and what time and memory they need; play none", NULL},
        {"filter", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->filters,
         "Play only points whose column matches, such as 'variant=RoCE*'; repeatable: all must",
         "COLUMN=PATTERN"},
        {"retry-failed", 0, 0, G_OPTION_ARG_NONE, &options->retry_failed, "Play again what failed",
         NULL},
        {"shard", 0, 0, G_OPTION_ARG_STRING, &options->shard,
         "Play every N-th point, from the K-th; weft gather makes the tables", "K/N"},
        {"slurm", 0, 0, G_OPTION_ARG_NONE, &options->slurm,
         "Play on a Slurm cluster, as one job array", NULL},
        {"slurm-option", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->slurm_options,
         "Option for sbatch, such as --slurm-option=--partition=long; repeatable", "OPTION"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "No progress and no table", NULL},
        {"worker", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options->worker, NULL, NULL},
        {"task", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &options->task, NULL, NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->files, NULL, NULL},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context =
        g_option_context_new("SCENARIO - play every point of a grid, times seeds");

    g_option_context_set_summary(
        context, "SCENARIO is a key file with the groups [sweep], [grid], [change], [case:NAME], "
                 "[variant:NAME]\n(docs/SCENARIOS.md). Finished points are never played again: the "
                 "same command goes on where it was\nended, and new seeds and values are added to "
                 "what is there. Unfinished flows are data; ends with\n1 if points failed or are "
                 "missing, 2 if the scenario is wrong or the folder holds another sweep.");
    g_option_context_add_main_entries(context, entries, NULL);
    return g_option_context_parse(context, argc, argv, error) && check(options, error);
}

static void options_clear(struct options *options)
{
    g_free(options->out);
    g_free(options->seeds);
    g_free(options->shard);
    g_free(options->task);
    g_strfreev(options->files);
    g_strfreev(options->sets);
    g_strfreev(options->filters);
    g_strfreev(options->slurm_options);
}

/* A task plays as many points at a time as Slurm gave it processors. */
static uint32_t task_jobs(void)
{
    const char *text = g_getenv("SLURM_CPUS_PER_TASK");
    gint64 n = text ? g_ascii_strtoll(text, NULL, 10) : 1;

    return (uint32_t)CLAMP(n, 1, MOST_JOBS);
}

int command_sweep(int argc, char **argv)
{
    struct options options = {0};
    GError *error = NULL;
    int code;

    stats_init();
    if (!parse(&options, &argc, &argv, &error)) {
        code = command_fail("sweep", error);
    } else if (options.worker) {
        code = sweep_worker(options.out);
    } else if (options.task) {
        code = sweep_slurm_task(options.out, options.task, task_jobs());
    } else {
        options.scenario = options.files[0];
        code = sweep_scenario(&options);
    }
    options_clear(&options);
    return code;
}

int command_gather(int argc, char **argv)
{
    gboolean quiet = FALSE;
    const GOptionEntry entries[] = {{"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "No table", NULL},
                                    G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context =
        g_option_context_new("DIR [DIR...] - make the tables of a sweep");
    struct sweep *sweep = NULL;
    GError *error = NULL;
    int code;

    stats_init();
    g_option_context_set_summary(
        context, "Writes summary.csv and points.csv into the first folder, from the points in all: "
                 "shards may have been\nplayed in folders of their own. Ends with 1 if points "
                 "failed or are missing.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (g_option_context_parse(context, &argc, &argv, &error) && argc < 2)
        g_set_error(&error, SWEEP_ERROR, 0, "the folder of a sweep is expected");
    if (!error) {
        sweep = sweep_new(argv[1]);
        sweep_load(sweep, &error);
    }
    if (error)
        code = command_fail("gather", error);
    else
        code = report("gather", sweep, argv + 2, quiet);
    sweep_free(sweep);
    return code;
}
