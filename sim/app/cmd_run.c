/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft run: plays one scenario and leaves its files. */
#include "sim/app/command.h"
#include "sim/app/experiment.h"
#include "sim/app/memory.h"
#include "sim/app/output.h"
#include "sim/app/progress.h"
#include "sim/core/units.h"
#include <stdio.h>
#include <sys/resource.h>

#define WAITS_PRINTED    10
#define NOTES_PRINTED    20
#define LEAST_HOPS_TIMED 100000 /* below, the cost of a hop is the cost of starting */

struct run {
    const struct command_line *line;
    char *folder;
    struct experiment *experiment;
    struct output *output;
    struct backend_result result;
    struct output_facts facts;
    double expected_hops;
};

static double cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* --- the table -------------------------------------------------------------------------------- */

static void print_quantity(const char *label, enum units_kind kind, double value)
{
    g_autofree char *text = units_display(kind, value);

    printf("%s%s", label, value == value ? text : "-");
}

static void print_head(const struct run *run)
{
    const struct experiment *experiment = run->experiment;
    const struct graph *graph = &experiment->graph;
    const struct scenario *scenario = experiment->scenario;

    printf("scenario    %s\n", scenario->title);
    printf("fabric      %s: %u hosts, %u switches, %u links, %u plane%s\n",
           scenario->topology->name, graph->n_hosts, graph->n_nodes - graph->n_hosts,
           graph->n_links, graph->n_planes, graph->n_planes == 1 ? "" : "s");
    for (guint i = 0; i < MIN(experiment->build.notes->len, NOTES_PRINTED); i++)
        printf("understood  %s\n", (char *)g_ptr_array_index(experiment->build.notes, i));
    printf("transport  ");
    for (guint i = 0; i < experiment->schedule.profiles->len; i++) {
        const struct transport_profile *profile = &experiment->profiles[i];

        printf(" %s%s%s", profile->name, *profile->name ? "=" : "", profile->ops->name);
    }
    printf("; seed %" G_GINT64_FORMAT "\n", scenario->run.seed);
}

static void print_groups(const struct summary *summary)
{
    for (guint i = 0; i < summary->groups->len; i++) {
        const struct sink_group *group = &g_array_index(summary->groups, struct sink_group, i);
        g_autofree char *bytes = units_display(UNITS_BYTES, (double)group->bytes);

        if (i == NOTES_PRINTED) {
            printf("            %u more groups are in summary.csv\n", summary->groups->len - i);
            break;
        }
        printf("%-11s %s over %u ranks", group->name, bytes, group->n_ranks);
        if (group->end_ps < 0) {
            printf(": UNFINISHED\n");
            continue;
        }
        print_quantity(": ", UNITS_TIME, (double)(group->end_ps - group->start_ps));
        print_quantity(", algbw ", UNITS_RATE, summary_algbw_bps(group));
        if (group->factor_n > 0)
            print_quantity(", busbw ", UNITS_RATE, summary_busbw_bps(group));
        printf("\n");
    }
}

static void print_counts(const struct summary *summary)
{
    printf("packets     %s data packets sent, %s retransmitted (%s spurious), %s timeouts, %s "
           "marked\n",
           summary_text(summary, "data_packets_sent"),
           summary_text(summary, "retransmitted_packets"),
           summary_text(summary, "spurious_retransmissions"), summary_text(summary, "timeouts"),
           summary_text(summary, "marked_packets"));
    printf("dropped    ");
    for (int cause = 0; cause < SINK_N_DROPS; cause++) /* rare causes only where they happened */
        if (cause <= SINK_DROP_NO_ROUTE || summary->dropped_packets[cause] > 0)
            printf("%s %" G_GINT64_FORMAT " %s", cause ? "," : "", summary->dropped_packets[cause],
                   sink_drop_name((enum sink_drop)cause));
    printf("; packets of any class\n");
    if (summary->pauses_sent > 0) {
        printf("pauses      %" G_GINT64_FORMAT " frames sent", summary->pauses_sent);
        print_quantity("; ports silent for ", UNITS_TIME, (double)summary->paused_ps);
        printf(" in sum\n");
    }
    print_quantity("bytes       ", UNITS_BYTES, (double)summary->delivered_bytes);
    print_quantity(" of payload delivered, ", UNITS_BYTES, summary_value(summary, "wire_bytes"));
    print_quantity(" over cables; goodput ", UNITS_RATE, summary_value(summary, "goodput"));
    printf("\n");
}

static void print_flows(const struct summary *summary)
{
    printf("flows       %s of %s finished, %s unfinished, %s failed\n",
           summary_text(summary, "flows_finished"), summary_text(summary, "flows"),
           summary_text(summary, "flows_unfinished"), summary_text(summary, "flows_failed"));
    print_quantity("completion  min ", UNITS_TIME, summary_value(summary, "completion_min"));
    print_quantity(", mean ", UNITS_TIME, summary_value(summary, "completion_mean"));
    print_quantity(", p50 ", UNITS_TIME, summary_value(summary, "completion_p50_nearest_rank"));
    print_quantity(", p99 ", UNITS_TIME, summary_value(summary, "completion_p99_nearest_rank"));
    print_quantity(", max ", UNITS_TIME, summary_value(summary, "completion_max"));
    printf(" (finished flows, at the receiver)\n");
    if (summary->n_fast > 0)
        printf("            %" G_GINT64_FORMAT " flows were faster than their ideal\n",
               summary->n_fast);
}

static void print_table(const struct run *run)
{
    const struct summary *summary = output_summary(run->output);
    double n_hops = (double)run->result.n_hops;

    print_head(run);
    print_flows(summary);
    print_groups(summary);
    print_counts(summary);
    print_quantity("simulated   ", UNITS_TIME, (double)run->result.end_ps);
    printf(" in %.2f s: %" G_GUINT64_FORMAT " packet-hops", run->facts.wall_s, run->result.n_hops);
    if (n_hops >= LEAST_HOPS_TIMED)
        printf(", %.0f ns of CPU each", run->facts.cpu_s * 1e9 / n_hops);
    printf("\nresults     %s\n", run->folder);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void print_waits(const struct backend_result *result)
{
    guint n = result->waits ? result->waits->len : 0;

    fprintf(stderr,
            "weft run: unfinished: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
            " flows finished, %" G_GUINT64_FORMAT " failed\n",
            result->n_flows_finished, result->n_flows, result->n_flows_failed);
    for (guint i = 0; i < MIN(n, WAITS_PRINTED); i++)
        fprintf(stderr, "  %s\n", (char *)g_ptr_array_index(result->waits, i));
    if (n > WAITS_PRINTED)
        fprintf(stderr, "  ... more are in flows.csv\n");
}

static void print_notes(const struct backend_result *result)
{
    guint n = result->notes ? result->notes->len : 0;

    for (guint i = 0; i < MIN(n, WAITS_PRINTED); i++)
        fprintf(stderr, "weft run: %s\n", (char *)g_ptr_array_index(result->notes, i));
    if (n > WAITS_PRINTED)
        fprintf(stderr, "  ... and %u more\n", n - WAITS_PRINTED);
}

static int report(struct run *run, GError *broken)
{
    GError *error = NULL;
    int code = COMMAND_DONE;

    if (!output_finish(run->output, &run->result, &run->facts, &error))
        code = command_fail("run", error);
    else if (!run->line->quiet)
        print_table(run);
    fflush(stdout);
    print_notes(&run->result);
    if (broken) {
        command_fail("run", broken);
        return COMMAND_BROKEN;
    }
    if (run->result.outcome == BACKEND_INTERRUPTED) {
        fprintf(stderr, "weft run: stopped; what was done so far is in %s, marked incomplete\n",
                run->folder);
        return COMMAND_BROKEN;
    }
    if (run->result.outcome == BACKEND_UNFINISHED) {
        print_waits(&run->result);
        return code == COMMAND_DONE ? COMMAND_UNFINISHED : code;
    }
    return code;
}

static int play(struct run *run)
{
    struct progress progress;
    GError *error = NULL;
    double cpu_before = cpu_s();
    gboolean played;

    progress_begin(&progress, run->line->quiet, run->expected_hops);
    played = experiment_play(run->experiment, output_sink(run->output), progress_report, &progress,
                             &run->result, &error);
    progress_end(&progress);
    run->facts.wall_s = (double)(g_get_monotonic_time() - progress.start_us) / 1e6;
    run->facts.cpu_s = cpu_s() - cpu_before;
    if (!played && run->result.outcome != BACKEND_BROKEN)
        return command_fail("run", error);
    return report(run, error);
}

static char *default_folder(const struct scenario *scenario)
{
    return g_build_filename("results", scenario->name ? scenario->name : "run", NULL);
}

static int run_scenario(struct run *run, struct scenario *scenario)
{
    struct experiment experiment;
    struct survey survey = {0};
    GError *error = NULL;
    int code;

    run->experiment = &experiment;
    if (experiment_init(&experiment, scenario, &error))
        survey_make(&survey, &experiment);
    run->expected_hops = survey.n_packet_hops;
    if (!error && memory_check(&experiment, &survey, &error))
        run->output = output_new(run->folder, &experiment, &error);
    code = run->output ? play(run) : command_fail("run", error);
    output_free(run->output);
    backend_result_clear(&run->result);
    experiment_clear(&experiment);
    return code;
}

int command_run(int argc, char **argv)
{
    struct command_line line;
    struct run run = {.line = &line};
    struct scenario *scenario = NULL;
    GError *error = NULL;
    g_autofree char **given = g_memdup2(argv, sizeof *argv * (size_t)argc);
    int code;

    run.facts = (struct output_facts){.argc = argc, .argv = given};
    if (command_parse(&line, argc, argv, "[SCENARIO] - play one scenario",
                      "Writes flows.csv, ports.csv, summary.csv, scenario.ini and run.json. Ends "
                      "with 0, with 1 when it was\nstopped, 2 when something was wrong before the "
                      "run, 3 when a flow did not finish or failed.",
                      true, &error))
        scenario = command_scenario(&line, &error);
    if (scenario) {
        run.folder = line.out ? g_strdup(line.out) : default_folder(scenario);
        code = run_scenario(&run, scenario);
    } else {
        code = command_fail("run", error);
    }
    g_free(run.folder);
    scenario_free(scenario);
    command_clear(&line);
    return code;
}
