/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weft-ns3: plays a resolved scenario on ns-3 and writes what happened to standard output, as
 * records for weft, which starts it. No object of ours in it uses GSL.
 */
#include "models/ns3/engine_ns3.h"
#include "sim/app/commands.h"
#include "sim/app/experiment.h"
#include "sim/app/progress.h"
#include "sim/app/records.h"
#include "sim/app/version.h"
#include <locale.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct request {
    char *form, *record; /* --form, --record */
    char **files;
    gboolean version;
    const struct backend_ops *backend;
    uint64_t window_first, window_n;
};

static double cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* --- the command line ------------------------------------------------------------------------- */

static gboolean parse_form(struct request *request, GError **error)
{
    request->backend = g_strcmp0(request->form, "p2p") == 0  ? &backend_ns3_p2p
                       : g_strcmp0(request->form, "ip") == 0 ? &backend_ns3_ip
                                                             : NULL;
    if (!request->backend)
        g_set_error(error, EXPERIMENT_ERROR, 1, "--form=%s: p2p or ip is expected",
                    request->form ? request->form : "");
    return request->backend != NULL;
}

static gboolean parse_record(struct request *request, GError **error)
{
    char *end = NULL;

    if (!request->record)
        return TRUE;
    request->window_first = g_ascii_strtoull(request->record, &end, 10);
    if (*end == '+')
        request->window_n = g_ascii_strtoull(end + 1, &end, 10);
    if (*end == '\0')
        return TRUE;
    g_set_error(error, EXPERIMENT_ERROR, 1, "--record=%s: FIRST+COUNT is expected",
                request->record);
    return FALSE;
}

static gboolean parse(struct request *request, int argc, char **argv, GError **error)
{
    g_autoptr(GOptionContext) context =
        g_option_context_new("SCENARIO.ini - play a resolved scenario on ns-3 for weft");
    const GOptionEntry entries[] = {
        {"form", 0, 0, G_OPTION_ARG_STRING, &request->form, "Devices alone, or IPv4 on every node",
         "p2p|ip"},
        {"record", 0, 0, G_OPTION_ARG_STRING, &request->record,
         "Hash all receptions, and keep COUNT from number FIRST on", "FIRST+COUNT"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &request->version, "Which weft this is of", NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &request->files, NULL, NULL},
        G_OPTION_ENTRY_NULL};

    g_option_context_set_summary(context,
                                 "weft run --engine ns3:p2p and weft crosscheck start it; what it "
                                 "writes is for them.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, error))
        return FALSE;
    if (request->version)
        return TRUE;
    if (!request->files || !request->files[0] || request->files[1]) {
        g_set_error(error, EXPERIMENT_ERROR, 1, "one scenario is expected");
        return FALSE;
    }
    return parse_form(request, error) && parse_record(request, error);
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Tells weft, and stops where it or the terminal says so. */
static bool go_on(void *data, const struct backend_progress *now)
{
    records_progress(stdout, now);
    return progress_report(data, now);
}

static int play(const struct request *request, const struct experiment *experiment)
{
    struct sink sink = records_sink(stdout);
    struct backend_run run = experiment_run(experiment);
    struct backend_result result = {0};
    struct recorder recorder;
    struct progress progress;
    g_autoptr(GError) error = NULL;

    progress_begin(&progress, true, 0);
    recorder_init(&recorder, request->window_first, request->window_n);
    run.recorder = request->record ? &recorder : NULL;
    run.observer = request->record ? &recorder.observer : NULL;
    run.progress = go_on;
    run.progress_data = &progress;
    double before_s = cpu_s();
    gboolean played = request->backend->play(&run, &sink, &result, &error);

    if (request->record)
        records_recorder(stdout, &recorder);
    records_end(stdout, &result, cpu_s() - before_s, error);
    recorder_clear(&recorder);
    backend_result_clear(&result);
    return played ? COMMAND_DONE : COMMAND_WRONG;
}

static int play_file(const struct request *request)
{
    struct scenario *scenario = scenario_new();
    struct experiment experiment = {0};
    GError *error = NULL;
    int code = COMMAND_WRONG;

    if (scenario_load(scenario, request->files[0], &error)) {
        if (experiment_init(&experiment, scenario, &error))
            code = play(request, &experiment);
        experiment_clear(&experiment);
    }
    scenario_free(scenario);
    if (error)
        fprintf(stderr, "weft-ns3: %s\n", error->message);
    g_clear_error(&error);
    return code;
}

int main(int argc, char **argv)
{
    struct request request = {0};
    g_autoptr(GError) error = NULL;
    int code = COMMAND_WRONG;

    setlocale(LC_CTYPE, "");
    if (!parse(&request, argc, argv, &error))
        fprintf(stderr, "weft-ns3: %s\n", error->message);
    else if (request.version)
        code = printf("weft-ns3 %s (%s)\n", version_text(), version_build()) < 0;
    else if (isatty(STDOUT_FILENO))
        fprintf(stderr, "weft-ns3: what it writes is for weft run --engine ns3:p2p\n");
    else
        code = play_file(&request);
    g_free(request.form);
    g_free(request.record);
    g_strfreev(request.files);
    return code;
}
