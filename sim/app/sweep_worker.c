/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/sweep_worker.h"
#include "sim/app/commands.h"
#include "sim/app/experiment.h"
#include "sim/app/output.h"
#include "sim/app/sweep.h"
#include "sim/core/table.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct worker {
    const char *folder;
    char *version;
    char *identity;            /* of the grid point whose scenario is held */
    struct scenario *scenario; /* as in its file, not resolved */
};

/* What was asked for. */
struct order {
    char *identity, *seed, *name;
};

enum verdict { DONE, FAILED, CANNOT };

/* --- one point -------------------------------------------------------------------------------- */

/* The file and those that it names are what they were when the point got its name. */
static gboolean check_identity(const struct worker *worker, const char *identity,
                               const struct scenario *scenario, GError **error)
{
    g_autofree char *text = scenario_identity(scenario);
    g_autofree char *now = sweep_identity(worker->version, text);

    if (strcmp(now, identity) == 0)
        return TRUE;
    g_set_error(error, SWEEP_ERROR, 0,
                "%s/grid/%s.ini, a file that it names or the program (weft %s) has changed since "
                "the sweep began",
                worker->folder, identity, worker->version);
    return FALSE;
}

/* Seeds of a grid point come one after the other: its scenario is read once. */
static gboolean hold_scenario(struct worker *worker, const char *identity, GError **error)
{
    g_autofree char *path = sweep_grid_path(worker->folder, identity);
    struct scenario *scenario;
    gboolean ok;

    if (worker->identity && strcmp(worker->identity, identity) == 0)
        return TRUE;
    g_clear_pointer(&worker->identity, g_free);
    scenario_free(worker->scenario);
    worker->scenario = scenario_new();
    ok = scenario_load(worker->scenario, path, error);
    scenario = scenario_copy(worker->scenario);
    ok = ok && scenario_resolve(scenario, error) &&
         check_identity(worker, identity, scenario, error);
    scenario_free(scenario);
    if (ok)
        worker->identity = g_strdup(identity);
    return ok;
}

static void put_number(struct table_writer *writer, const char *metric, double value,
                       const char *unit)
{
    table_writer_field(writer, metric);
    table_writer_double(writer, value);
    table_writer_field(writer, unit);
    table_writer_row(writer);
}

static void put_text(struct table_writer *writer, const char *metric, const char *text,
                     const char *unit)
{
    table_writer_field(writer, metric);
    table_writer_field(writer, text);
    table_writer_field(writer, unit);
    table_writer_row(writer);
}

static void put_percentile(struct table_writer *writer, const char *metric,
                           const struct summary *summary, unsigned per_mille)
{
    table_writer_field(writer, metric);
    table_writer_time(writer, summary_percentile_ps(summary, per_mille));
    table_writer_field(writer, "ps");
    table_writer_row(writer);
}

/* "3 of 64 flows did not finish; " and what the first of them waits for. */
static char *unfinished_text(const struct backend_result *result)
{
    const char *first = result->waits && result->waits->len > 0
                            ? g_ptr_array_index(result->waits, 0)
                            : "no reason given";

    return g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                           " flows did not finish, %" G_GUINT64_FORMAT " of them failed; %s",
                           result->n_flows - result->n_flows_finished, result->n_flows,
                           result->n_flows_failed, first);
}

static gboolean write_point(const char *folder, const struct summary *summary,
                            const struct backend_result *result, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "point.csv", NULL);
    bool whole = result->outcome == BACKEND_FINISHED;
    g_autofree char *text = whole ? g_strdup("") : unfinished_text(result);
    struct table_writer *writer = table_writer_new(path, error);

    if (!writer)
        return FALSE;
    table_writer_field(writer, "metric");
    table_writer_field(writer, "value");
    table_writer_field(writer, "unit");
    table_writer_row(writer);
    put_text(writer, "status", sweep_status_name(whole ? SWEEP_DONE : SWEEP_UNFINISHED), "");
    put_text(writer, "error", text, "");
    put_number(writer, "throughput", summary_throughput_bps(summary, result), "bit/s");
    put_percentile(writer, "completion_p50", summary, 500);
    put_percentile(writer, "completion_p99", summary, 990);
    put_percentile(writer, "completion_p999", summary, 999);
    put_text(writer, "recovery_time", summary_recovery(summary), "ps");
    return table_writer_close(writer, error);
}

/* How the point can be played again by hand. */
static struct output_facts facts_of(char **words)
{
    return (struct output_facts){.argc = (int)g_strv_length(words), .argv = words};
}

static double cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Plays into a folder. The verdict tells a point that is broken from a folder that is. */
static enum verdict play(struct experiment *experiment, const char *folder, char **words,
                         GError **error)
{
    struct output *output = output_new(folder, experiment, error);
    struct backend_result result = {0};
    struct output_facts facts = facts_of(words);
    double cpu_before = cpu_s();
    int64_t start_us = g_get_monotonic_time();
    enum verdict verdict = CANNOT;

    if (!output)
        return CANNOT;
    gboolean ok = experiment_play(experiment, output_sink(output), NULL, NULL, &result, error);
    facts.wall_s = (double)(g_get_monotonic_time() - start_us) / 1e6;
    facts.cpu_s = cpu_s() - cpu_before;
    if (!ok || (result.outcome != BACKEND_FINISHED && result.outcome != BACKEND_UNFINISHED)) {
        verdict = FAILED;
        if (error && !*error)
            g_set_error(error, SWEEP_ERROR, 0, "packets are not conserved");
    } else if (output_finish(output, &result, &facts, error) &&
               write_point(folder, output_summary(output), &result, error)) {
        verdict = DONE;
    }
    output_free(output);
    backend_result_clear(&result);
    return verdict;
}

/* Puts the folder into its place, unless another process was faster. */
static enum verdict keep(const char *temporary, const char *path, GError **error)
{
    if (g_rename(temporary, path) == 0)
        return DONE;
    int code = errno;

    sweep_remove_folder(temporary);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return DONE;
    g_set_error(error, SWEEP_ERROR, 0, "cannot write '%s': %s", path, g_strerror(code));
    return CANNOT;
}

static enum verdict play_order(struct worker *worker, const struct order *order, GError **error)
{
    g_autofree char *path = sweep_result_path(worker->folder, order->name);
    g_autofree char *temporary = sweep_temporary_path(worker->folder, order->name);
    g_autofree char *grid = sweep_grid_path(worker->folder, order->identity);
    char *words[] = {(char *)(uintptr_t) "run", grid, (char *)(uintptr_t) "--seed", order->seed,
                     NULL};
    struct scenario *scenario = NULL;
    struct experiment experiment;
    enum verdict verdict = FAILED;

    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return DONE;
    if (!hold_scenario(worker, order->identity, error))
        return CANNOT;
    scenario = scenario_copy(worker->scenario);
    if (scenario_set_key(scenario, "run", "seed", order->seed, "the sweep's seed", NULL, error) &&
        scenario_resolve(scenario, error)) {
        if (experiment_init(&experiment, scenario, error)) {
            if (g_file_test(temporary, G_FILE_TEST_EXISTS)) /* of a process with our number */
                sweep_remove_folder(temporary);
            verdict = play(&experiment, temporary, words, error);
            if (verdict == DONE)
                verdict = keep(temporary, path, error);
            else
                sweep_remove_folder(temporary);
        }
        experiment_clear(&experiment);
    }
    scenario_free(scenario);
    return verdict;
}

/* --- serving ---------------------------------------------------------------------------------- */

/* An answer is one line; where the sweep's folder is has no place in what is kept. */
static void answer(const struct worker *worker, enum verdict verdict, const GError *error)
{
    static const char *const words[] = {
        [DONE] = SWEEP_WORKER_DONE, [FAILED] = SWEEP_WORKER_FAILED, [CANNOT] = SWEEP_WORKER_CANNOT};
    g_autofree char *folder = g_strconcat(worker->folder, "/", NULL);
    g_autoptr(GString) text = g_string_new(verdict == DONE ? "" : error->message);

    if (verdict == FAILED)
        g_string_replace(text, folder, "", 0);
    printf("%s%s\n", words[verdict], g_strdelimit(text->str, "\n\r", ' '));
    fflush(stdout);
}

static gboolean read_order(struct order *order, char *line)
{
    char *rest = NULL;

    order->identity = strtok_r(line, " \n", &rest);
    order->seed = strtok_r(NULL, " \n", &rest);
    order->name = strtok_r(NULL, " \n", &rest);
    return order->name != NULL;
}

/*
 * It goes with its parent, so that a sweep that was killed leaves nothing that plays on; the
 * keyboard's signals are the parent's business.
 */
static void follow_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN);
}

int sweep_worker(const char *folder)
{
    struct worker worker = {.folder = folder, .version = sweep_version()};
    g_autofree char *line = NULL; /* getline() allocates; GLib's free is the system's */
    size_t size = 0;
    int code = COMMAND_DONE;

    follow_parent();
    while (code == COMMAND_DONE && getline(&line, &size, stdin) > 0) {
        g_autoptr(GError) error = NULL;
        struct order order;

        if (read_order(&order, line)) {
            enum verdict verdict = play_order(&worker, &order, &error);

            answer(&worker, verdict, error);
        } else {
            code = COMMAND_WRONG;
        }
    }
    g_free(worker.version);
    g_free(worker.identity);
    scenario_free(worker.scenario);
    return code;
}
