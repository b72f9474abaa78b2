/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weft compare: plays every case, variant, value and seed of a comparison scenario on all cores and
 * reports the lot. Runs share nothing but the layers they are made of, and their results are
 * gathered by number, so the output is the same for any number of jobs.
 */
#include "sim/app/commands.h"
#include "sim/app/compare_plan.h"
#include "sim/app/compare_report.h"
#include "sim/app/eta.h"
#include "sim/app/experiment.h"
#include "sim/app/figure.h"
#include "sim/core/units.h"
#include <assert.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SCENARIO   "main-comparison"
#define POLL_MS            50
#define TERMINAL_UPDATE_MS 200
#define PLAIN_UPDATE_MS    5000

struct options {
    char *scenario, *out;
    char **sets;
    int jobs, seeds;
    gboolean quiet;
};

struct comparison {
    const struct options *options;
    struct scenario *base; /* file and --set: what holds for all; the plan borrows its entries */
    struct scenario *file; /* as the file says; case, variant, value, --set and seed go on top */
    struct compare_plan plan;
    uint64_t first_seed;
    char **values; /* of the varied key, written back */
    struct compare_run *runs;
    uint32_t n_runs;
    /* shared with the jobs */
    atomic_bool stop;
    GMutex lock;      /* of the states, samples and faults in runs, and of the rest below */
    int64_t *cost_us; /* of each run that is over; 0 before */
    uint32_t n_over;
};

/* --- one run ---------------------------------------------------------------------------------- */

static gboolean apply_key(struct scenario *scenario, const char *dotted, const char *value,
                          GError **error)
{
    g_autofree char *where = g_strdup_printf("the comparison's %s = %s", dotted, value);
    const char *dot = strrchr(dotted, '.');
    g_autofree char *group = g_strndup(dotted, (gsize)(dot - dotted));

    return scenario_set_key(scenario, group, dot + 1, value, where, NULL, error);
}

/* The scenario of one run, resolved; NULL with an error. */
static struct scenario *make_scenario(const struct comparison *comparison,
                                      const struct compare_run *run, GError **error)
{
    const struct compare_plan *plan = &comparison->plan;
    struct compare_place place = compare_plan_place(plan, run->point);
    struct scenario *scenario = scenario_copy(comparison->file);
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, run->seed);
    char **set = comparison->options->sets;

    scenario_begin_layer(scenario);
    gboolean ok = choice_apply(scenario, compare_plan_case(plan, place.case_), error) &&
                  choice_apply(scenario, compare_plan_variant(plan, place.variant), error) &&
                  apply_key(scenario, plan->vary, compare_plan_value(plan, place.value), error);

    for (; ok && set && *set; set++)
        ok = scenario_set(scenario, *set, error);
    if (ok && apply_key(scenario, "run.seed", seed, error) && scenario_resolve(scenario, error))
        return scenario;
    scenario_free(scenario);
    return NULL;
}

static bool go_on(void *data, const struct backend_progress *progress)
{
    struct comparison *comparison = data;

    (void)progress;
    return !atomic_load_explicit(&comparison->stop, memory_order_relaxed);
}

/* Plays one run; COMPARE_WAITING if it was stopped. */
static enum compare_state play(struct comparison *comparison, const struct compare_run *run,
                               struct compare_sample *sample, GError **error)
{
    struct scenario *scenario = make_scenario(comparison, run, error);
    struct experiment experiment;
    struct backend_result result = {0};
    struct compare_gather gather;

    if (!scenario)
        return COMPARE_BROKEN;
    compare_gather_init(&gather);
    const struct sink sink = compare_gather_sink(&gather);
    gboolean ok = experiment_init(&experiment, scenario, error) &&
                  experiment_play(&experiment, &sink, go_on, comparison, &result, error);

    *sample = compare_gather_finish(&gather);
    enum compare_state state = !ok || result.outcome == BACKEND_BROKEN ? COMPARE_BROKEN
                               : result.outcome == BACKEND_INTERRUPTED ? COMPARE_WAITING
                                                                       : COMPARE_DONE;

    backend_result_clear(&result);
    experiment_clear(&experiment);
    scenario_free(scenario);
    return state;
}

/* A job of the pool. `data` is the run's number + 1. */
static void job(gpointer data, gpointer user_data)
{
    struct comparison *comparison = user_data;
    uint32_t number = GPOINTER_TO_UINT(data) - 1;
    struct compare_run *run = &comparison->runs[number];
    g_autoptr(GError) error = NULL;
    struct compare_sample sample;
    int64_t start_us = g_get_monotonic_time();

    if (atomic_load_explicit(&comparison->stop, memory_order_relaxed))
        return;
    enum compare_state state = play(comparison, run, &sample, &error);

    g_mutex_lock(&comparison->lock);
    run->state = state;
    run->sample = sample;
    if (state == COMPARE_BROKEN)
        run->fault = g_strdup(error ? error->message : "packets are not conserved");
    comparison->cost_us[number] = MAX(g_get_monotonic_time() - start_us, 1);
    comparison->n_over++;
    g_mutex_unlock(&comparison->lock);
}

/* --- progress --------------------------------------------------------------------------------- */

/* By point, variant in its case, case, or all. */
static int64_t estimate_left_us(const struct comparison *comparison, int n_jobs)
{
    const struct compare_plan *plan = &comparison->plan;
    uint32_t point = plan->n_seeds, variant = point * plan->values->len;
    uint32_t strides[] = {point, variant, variant * plan->variants->len};

    return eta_left_us(comparison->cost_us, NULL, comparison->n_runs, strides,
                       G_N_ELEMENTS(strides)) /
           n_jobs;
}

static uint32_t count_points(const struct comparison *comparison)
{
    uint32_t n_seeds = comparison->plan.n_seeds, n = 0;

    for (uint32_t r = 0; r < comparison->n_runs; r += n_seeds) {
        uint32_t n_over = 0;

        for (uint32_t s = 0; s < n_seeds; s++)
            n_over += comparison->cost_us[r + s] > 0;
        n += n_over == n_seeds;
    }
    return n;
}

static void print_progress(struct comparison *comparison, int64_t start_us, int n_jobs,
                           bool terminal)
{
    double elapsed_s = (double)(g_get_monotonic_time() - start_us) * 1e-6;

    g_mutex_lock(&comparison->lock);
    uint32_t n_over = comparison->n_over, n_points = count_points(comparison);
    double left_s = (double)estimate_left_us(comparison, n_jobs) * 1e-6;
    g_mutex_unlock(&comparison->lock);

    fprintf(stderr, "%s%u of %u points, %u of %u runs; %.0f s", terminal ? "\r\033[K" : "",
            n_points, compare_plan_n_points(&comparison->plan), n_over, comparison->n_runs,
            elapsed_s);
    if (n_over > 0 && n_over < comparison->n_runs)
        fprintf(stderr, ", about %.0f s left", left_s);
    fputs(terminal ? "" : "\n", stderr);
    fflush(stderr);
}

/* --- the pool --------------------------------------------------------------------------------- */

/* Waits for the jobs, shows progress, and stops them when `signals` (blocked) say so. */
static void watch(struct comparison *comparison, const sigset_t *signals, int n_jobs)
{
    const struct timespec poll = {0, POLL_MS * 1000000L};
    bool terminal = isatty(STDERR_FILENO), over = false;
    int64_t start_us = g_get_monotonic_time(), shown_us = start_us;
    int64_t period_us = 1000 * (terminal ? TERMINAL_UPDATE_MS : PLAIN_UPDATE_MS);

    while (!over) {
        if (sigtimedwait(signals, NULL, &poll) > 0) {
            atomic_store(&comparison->stop, true);
            fprintf(stderr, "%sstopping; finished runs are kept\n", terminal ? "\n" : "");
            break;
        }
        g_mutex_lock(&comparison->lock);
        over = comparison->n_over == comparison->n_runs;
        g_mutex_unlock(&comparison->lock);
        if (!comparison->options->quiet &&
            (over || g_get_monotonic_time() - shown_us >= period_us)) {
            shown_us = g_get_monotonic_time();
            print_progress(comparison, start_us, n_jobs, terminal);
        }
    }
    if (over && terminal && !comparison->options->quiet)
        fputc('\n', stderr);
}

/*
 * SIGINT and SIGTERM are blocked in all threads and fetched by the one that watches, so no handler
 * and no global flag is needed.
 */
static gboolean run_all(struct comparison *comparison, GError **error)
{
    int n_jobs =
        comparison->options->jobs ? comparison->options->jobs : (int)g_get_num_processors();
    sigset_t signals, before;
    GThreadPool *pool;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    pool = g_thread_pool_new(job, comparison, n_jobs, TRUE, error);
    for (uint32_t r = 0; pool && r < comparison->n_runs; r++)
        g_thread_pool_push(pool, GUINT_TO_POINTER(r + 1), NULL);
    if (pool) {
        watch(comparison, &signals, n_jobs);
        g_thread_pool_free(pool, FALSE, TRUE);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool != NULL;
}

/* --- before and after ------------------------------------------------------------------------- */

static gboolean refuse_set_of_varied(const struct comparison *comparison, GError **error)
{
    g_autofree char *prefix = g_strconcat(comparison->plan.vary, "=", NULL);

    for (char **set = comparison->options->sets; set && *set; set++)
        if (g_str_has_prefix(*set, prefix)) {
            g_set_error(error, COMPARE_ERROR, 0,
                        "--set %s: the comparison varies this key; set compare.values instead",
                        *set);
            return FALSE;
        }
    return TRUE;
}

/* Reads file and command line. */
static gboolean read_scenario(struct comparison *comparison, GError **error)
{
    const struct options *options = comparison->options;
    struct scenario *base = comparison->base;
    char **set = options->sets;

    if (!scenario_load(comparison->file, options->scenario, error) ||
        !scenario_load(base, options->scenario, error))
        return FALSE;
    for (; set && *set; set++)
        if (!scenario_set(base, *set, error))
            return FALSE;
    if (!scenario_resolve(base, error) || !compare_plan_read(&comparison->plan, base, error))
        return FALSE;
    if (options->seeds)
        comparison->plan.n_seeds = (uint32_t)options->seeds;
    comparison->first_seed = (uint64_t)base->run.seed;
    return refuse_set_of_varied(comparison, error);
}

static void number_runs(struct comparison *comparison)
{
    const struct compare_plan *plan = &comparison->plan;

    comparison->n_runs = compare_plan_n_points(plan) * plan->n_seeds;
    comparison->runs = g_new0(struct compare_run, comparison->n_runs);
    comparison->cost_us = g_new0(int64_t, comparison->n_runs);
    for (uint32_t r = 0; r < comparison->n_runs; r++) {
        comparison->runs[r].point = r / plan->n_seeds;
        comparison->runs[r].seed = comparison->first_seed + r % plan->n_seeds;
    }
    comparison->values = g_new0(char *, plan->values->len + 1);
    for (uint32_t v = 0; v < plan->values->len; v++) {
        const char *text = compare_plan_value(plan, v), *why;
        int64_t ratio;

        comparison->values[v] =
            compare_varies_loss(plan) && units_parse(UNITS_RATIO, text, &ratio, &why)
                ? units_format(UNITS_RATIO, ratio)
                : g_strdup(text);
    }
}

static char *point_name(const struct comparison *comparison, uint32_t point)
{
    struct compare_place place = compare_plan_place(&comparison->plan, point);

    return g_strdup_printf("%s, %s, %s = %s",
                           compare_plan_case(&comparison->plan, place.case_)->name,
                           compare_plan_variant(&comparison->plan, place.variant)->name,
                           comparison->plan.vary, comparison->values[place.value]);
}

/* Resolves every point, and builds each variant of each case once, before any is played. */
static gboolean check_points(const struct comparison *comparison, GError **error)
{
    const struct compare_plan *plan = &comparison->plan;

    for (uint32_t point = 0; point < compare_plan_n_points(plan); point++) {
        struct scenario *scenario =
            make_scenario(comparison, &comparison->runs[point * plan->n_seeds], error);
        gboolean ok = scenario != NULL;

        if (ok && point % plan->values->len == 0) {
            struct experiment experiment;

            ok = experiment_init(&experiment, scenario, error);
            experiment_clear(&experiment);
        }
        if (scenario)
            scenario_free(scenario);
        if (!ok) {
            g_autofree char *name = point_name(comparison, point);

            g_prefix_error(error, "%s: ", name);
            return FALSE;
        }
    }
    return TRUE;
}

/* Resolved scenarios: one a case with the first variant, or one a variant with the first case. */
static char **resolved_texts(const struct comparison *comparison, uint32_t n, uint32_t stride)
{
    char **texts = g_new0(char *, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        const struct compare_run *run =
            &comparison->runs[(size_t)i * stride * comparison->plan.n_seeds];
        struct scenario *scenario = make_scenario(comparison, run, NULL);

        assert(scenario); /* check_points() has made it before */
        texts[i] = scenario_text(scenario, comparison->options->out);
        scenario_free(scenario);
    }
    return texts;
}

static gboolean write_scenario(const struct comparison *comparison, GError **error)
{
    const struct compare_plan *plan = &comparison->plan;
    uint32_t n_values = plan->values->len, n_variants = plan->variants->len;
    g_auto(GStrv) cases = resolved_texts(comparison, plan->cases->len, n_values * n_variants);
    g_auto(GStrv) variants = resolved_texts(comparison, n_variants, n_values);
    g_autofree char *path = g_build_filename(comparison->options->out, "scenario.ini", NULL);
    g_autofree char *base = scenario_text(comparison->base, comparison->options->out);
    g_autofree char *text =
        compare_plan_text(plan, base, (const char *const *)cases, (const char *const *)variants);

    return g_file_set_contents(path, text, -1, error);
}

static gboolean prepare(struct comparison *comparison, GError **error)
{
    const char *out = comparison->options->out;
    gboolean ok = read_scenario(comparison, error);

    if (ok) {
        number_runs(comparison);
        ok = check_points(comparison, error);
    }
    if (ok && g_mkdir_with_parents(out, 0777) != 0) {
        g_set_error(error, COMPARE_ERROR, 0, "cannot make the folder '%s': %s", out,
                    g_strerror(errno));
        ok = FALSE;
    }
    return ok && write_scenario(comparison, error);
}

/* A figure that cannot be drawn is said, and costs nothing else. */
static void draw(const struct comparison *comparison)
{
    static const char *const formats[] = {"png", "svg", NULL};
    const char *out = comparison->options->out;
    g_autoptr(GString) notes = g_string_new("");
    g_autoptr(GError) error = NULL;
    struct results *results;

    if (!compare_varies_loss(&comparison->plan))
        return;
    results = results_read(out, &error);
    if (results && figure_draw(&figure_throughput_loss, results, formats, notes, &error))
        printf("plot: %s/throughput-loss.png, %s/throughput-loss.svg\n", out, out);
    else
        printf("no plot: %s\n", error->message);
    results_free(results);
}

/* Prints, writes and draws what there is; FALSE if a file could not be written. */
static gboolean report(const struct comparison *comparison, GError **error)
{
    const struct compare_results results = {&comparison->plan,
                                            (const char *const *)comparison->values,
                                            comparison->runs, comparison->base->run.json_lines};
    const char *out = comparison->options->out;

    compare_report_print(&results, stdout);
    if (!compare_report_write(&results, out, error))
        return FALSE;
    printf("\nfiles: %s/summary.csv (a row a point), points.csv (a row a run), closed_form.csv, "
           "scenario.ini\n",
           out);
    draw(comparison);
    return fflush(stdout) == 0;
}

/* Names the runs that broke, the first of each point; the exit code of the whole. */
static int verdict(const struct comparison *comparison)
{
    uint32_t named = UINT32_MAX;
    int code = atomic_load(&comparison->stop) ? COMMAND_BROKEN : COMMAND_DONE;

    for (uint32_t r = 0; r < comparison->n_runs; r++) {
        const struct compare_run *run = &comparison->runs[r];

        if (run->state == COMPARE_BROKEN && run->point != named) {
            g_autofree char *name = point_name(comparison, run->point);

            fprintf(stderr, "weft compare: %s, seed %" G_GUINT64_FORMAT ": %s\n", name, run->seed,
                    run->fault);
            named = run->point;
            code = COMMAND_BROKEN;
        }
    }
    if (atomic_load(&comparison->stop))
        fprintf(stderr, "weft compare: stopped; points marked complete = no lack seeds\n");
    return code;
}

static int compare(const struct options *options)
{
    struct comparison comparison = {
        .options = options, .base = scenario_new(), .file = scenario_new()};
    g_autoptr(GError) error = NULL;
    int code = COMMAND_WRONG;

    stats_init();
    g_mutex_init(&comparison.lock);
    compare_plan_init(&comparison.plan);
    if (prepare(&comparison, &error) && run_all(&comparison, &error))
        code = report(&comparison, &error) ? verdict(&comparison) : COMMAND_BROKEN;
    if (error)
        fprintf(stderr, "weft compare: %s\n", error->message);
    for (uint32_t r = 0; r < comparison.n_runs; r++)
        g_free(comparison.runs[r].fault);
    g_free(comparison.runs);
    g_free(comparison.cost_us);
    g_strfreev(comparison.values);
    compare_plan_clear(&comparison.plan);
    scenario_free(comparison.base);
    scenario_free(comparison.file);
    g_mutex_clear(&comparison.lock);
    return code;
}

/* --- command line ----------------------------------------------------------------------------- */

static gboolean parse(struct options *options, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out,
         "Folder for the results (default results/compare)", "DIR"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &options->jobs, "Runs at a time (default: all cores)",
         "N"},
        {"seeds", 0, 0, G_OPTION_ARG_INT, &options->seeds,
         "Seeds a point, run.seed and up (default: as the scenario says)", "N"},
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options->sets,
         "Replace a key in all points, above cases and variants", "GROUP.KEY=VALUE"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "No progress on stderr", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context =
        g_option_context_new("[SCENARIO] - play a comparison: cases x variants x values x seeds");

    g_option_context_set_summary(
        context, "SCENARIO is a key file with the groups [compare] and [variant:NAME] "
                 "(docs/SCENARIOS.md).\nWithout one, " DEFAULT_SCENARIO " is played. Unfinished "
                 "flows are data; the exit code is 1\nif a run breaks or the comparison is "
                 "interrupted, 2 if the scenario is wrong.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, argc, argv, error))
        return FALSE;
    if (*argc > 2 || options->jobs < 0 || options->jobs > 1024 || options->seeds < 0 ||
        options->seeds > COMPARE_MAX_SEEDS) {
        g_set_error(error, COMPARE_ERROR, 0,
                    "one scenario, 1 to 1024 jobs and 1 to %d seeds are possible",
                    COMPARE_MAX_SEEDS);
        return FALSE;
    }
    options->scenario = g_strdup(*argc == 2 ? (*argv)[1] : DEFAULT_SCENARIO);
    if (!options->out)
        options->out = g_strdup("results/compare");
    return TRUE;
}

int command_compare(int argc, char **argv)
{
    struct options options = {0};
    g_autoptr(GError) error = NULL;
    int code = COMMAND_WRONG;

    if (parse(&options, &argc, &argv, &error))
        code = compare(&options);
    else
        fprintf(stderr, "weft compare: %s\n", error->message);
    g_free(options.scenario);
    g_free(options.out);
    g_strfreev(options.sets);
    return code;
}
