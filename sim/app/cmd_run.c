/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft run: plays one scenario and leaves its files. */
#include "models/recovery.h"
#include "sim/app/capture.h"
#include "sim/app/command.h"
#include "sim/app/experiment.h"
#include "sim/app/memory.h"
#include "sim/app/nccl.h"
#include "sim/app/output.h"
#include "sim/app/progress.h"
#include "sim/core/units.h"
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define WAITS_PRINTED       10
#define NOTES_PRINTED       20
#define COLLECTIVES_PRINTED 64
#define LEAST_HOPS_TIMED    100000 /* below, the cost of a hop is the cost of starting */

struct run {
    const struct command_line *line;
    char *folder;
    struct experiment *experiment;
    struct output *output;
    struct backend_result result;
    struct output_facts facts;
    double expected_hops;
};

static double used_s(int who)
{
    struct rusage usage;

    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Of this process and of a program that it had play. */
static double cpu_s(void)
{
    return used_s(RUSAGE_SELF) + used_s(RUSAGE_CHILDREN);
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

/* The table of nccl-tests (out-of-place part): for calls that have a row in it. */
static void print_collectives(const struct summary *summary)
{
    guint n = 0;

    for (guint i = 0; i < summary->groups->len; i++) {
        const struct sink_group *group = &g_array_index(summary->groups, struct sink_group, i);

        struct nccl_row row = nccl_row(group);

        if (group->element_bytes == 0 || n++ >= COLLECTIVES_PRINTED)
            continue;
        if (n == 1)
            printf("# %-13s %12s %12s %8s %6s %5s %10s %8s %8s\n#%15s %12s %12s %8s %6s %5s %10s "
                   "%8s %8s\n",
                   "collective", "size", "count", "type", "redop", "root", "time", "algbw", "busbw",
                   "", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)");
        printf("%-15s %12" G_GINT64_FORMAT " %12" G_GINT64_FORMAT " %8s %6s %5d ", group->name,
               group->bytes, row.count, row.type, row.redop, row.root);
        if (group->end_ps < 0)
            printf(" UNFINISHED\n");
        else
            printf("%11.2f %8.2f %8.2f\n", row.time_us, row.algbw, row.busbw);
    }
    if (n > COLLECTIVES_PRINTED)
        printf("            %u more rows are in collectives.csv\n", n - COLLECTIVES_PRINTED);
}

/* Of a contest: when its flows had their fair shares. */
static void print_fairness(const struct summary *summary, const char *group)
{
    static const struct {
        const char *label, *metric;
    } times[] = {{"fair after ", "goodput_fair"},
                 {", for good after ", "goodput_settled"},
                 {"; windows or rates settled after ", "allowance_settled"}};
    g_autofree char *jain = g_strdup_printf("group_%s_jain_mean", group);

    if (!summary_text(summary, jain))
        return;
    printf("fairness    %s: goodput ", group);
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++) {
        g_autofree char *time = g_strdup_printf("group_%s_%s", group, times[i].metric);
        g_autofree char *ratio = g_strdup_printf("%s_base_rtts", time);
        double wait_ps = summary_value(summary, time);

        print_quantity(times[i].label, UNITS_TIME, wait_ps);
        if (wait_ps == wait_ps)
            printf(" (%.1f base RTTs)", summary_value(summary, ratio));
    }
    printf("; Jain's index %.3f\n", summary_value(summary, jain));
}

static void print_groups(const struct summary *summary)
{
    guint n = 0;

    for (guint i = 0; i < summary->groups->len; i++) {
        const struct sink_group *group = &g_array_index(summary->groups, struct sink_group, i);
        g_autofree char *bytes = units_display(UNITS_BYTES, (double)group->bytes);

        if (group->element_bytes > 0)
            continue;
        if (n++ == NOTES_PRINTED) {
            printf("            %u more groups are in summary.csv\n", summary->groups->len - i);
            break;
        }
        printf("%-11s %s%s%u ranks", group->name, group->bytes > 0 ? bytes : "",
               group->bytes > 0 ? " over " : "", group->n_ranks);
        if (group->end_ps < 0) {
            printf(": UNFINISHED\n");
            print_fairness(summary, group->name);
            continue;
        }
        print_quantity(": ", UNITS_TIME, (double)(group->end_ps - group->start_ps));
        if (group->n_calls > 1)
            printf(", %u times", group->n_calls);
        if (group->bytes > 0)
            print_quantity(", algbw ", UNITS_RATE, summary_algbw_bps(group));
        if (group->factor_n > 0)
            print_quantity(", busbw ", UNITS_RATE, summary_busbw_bps(group));
        printf("\n");
        print_fairness(summary, group->name);
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

/* One measure of a change; '-' where it does not exist. */
static void print_measure(const struct summary *summary, const char *before, const char *name,
                          const char *what, bool is_share)
{
    g_autofree char *metric = g_strdup_printf("fault_%s_%s", name, what);
    double value = summary_value(summary, metric);
    enum units_kind kind = strcmp(what, "retransmitted") == 0 ? UNITS_BYTES : UNITS_TIME;

    if (is_share)
        printf(value == value ? "%s%.1f %%" : "%s-", before, 100 * value);
    else
        print_quantity(before, kind, value);
}

static void print_change(const struct summary *summary, const char *name, bool end)
{
    g_autofree char *reached = g_strdup_printf("fault_%s_reached", name);

    printf("            %s", end ? "undone: " : "");
    if (*summary_text(summary, reached) == '\0') {
        printf("no traffic before, or none left, to compare\n");
        return;
    }
    if (!end)
        print_measure(summary, "resending after ", name, "detection", false);
    print_measure(summary, end ? "goodput down by " : "; goodput down by ", name, "dip", true);
    print_measure(summary, ", for good within 1 % of ", name, "expected", true);
    print_measure(summary, " after ", name, "recovery", false);
    print_measure(summary, ", at the end ", name, "reached", true);
    print_measure(summary, "; ", name, "retransmitted", false);
    printf(" sent again\n");
}

static void print_faults(const struct run *run)
{
    const struct fault_list *list = &run->experiment->build.faults;
    const struct summary *summary = output_summary(run->output);

    for (guint i = 0; i < MIN(list->faults->len, NOTES_PRINTED); i++) {
        g_autofree char *name = recovery_name(list, i), *end = g_strconcat(name, "_end", NULL);
        g_autofree char *what = fault_describe(fault_at(list, i));
        g_autofree char *time = g_strdup_printf("fault_%s_time", name);
        g_autofree char *end_time = g_strdup_printf("fault_%s_time", end);

        printf("fault       %s: %s\n", fault_at(list, i)->name, what);
        if (summary_text(summary, time))
            print_change(summary, name, false);
        if (summary_text(summary, end_time))
            print_change(summary, end, true);
    }
    if (list->faults->len > NOTES_PRINTED)
        printf("fault       ... %u more are in summary.csv\n", list->faults->len - NOTES_PRINTED);
}

static void print_table(const struct run *run)
{
    const struct summary *summary = output_summary(run->output);
    double n_hops = (double)run->result.n_hops;

    print_head(run);
    print_flows(summary);
    print_groups(summary);
    print_collectives(summary);
    print_counts(summary);
    print_faults(run);
    print_quantity("simulated   ", UNITS_TIME, (double)run->result.end_ps);
    printf(" in %.2f s: %" G_GUINT64_FORMAT " packet-hops", run->facts.wall_s, run->result.n_hops);
    if (n_hops >= LEAST_HOPS_TIMED)
        printf(", %.0f ns of CPU each", run->facts.cpu_s * 1e9 / n_hops);
    printf("\nresults     %s\n", run->folder);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void print_waits(const struct run *run)
{
    const struct backend_result *result = &run->result;
    guint n = result->waits ? result->waits->len : 0;
    bool deadlock =
        result->end_ps < run->experiment->scenario->run.end && result->n_flows_failed == 0;
    g_autofree char *at = units_format(UNITS_TIME, result->end_ps);

    if (deadlock)
        fprintf(stderr, "weft run: deadlock at %s: what is left waits for what will not come\n",
                at);
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
        print_waits(run);
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

/* What links carry goes beside the tables, where that is asked for. */
static gboolean begin_capture(const struct run *run, struct capture **capture, GError **error)
{
    const char *links = run->experiment->scenario->run.pcap;
    g_autofree char *path = g_build_filename(run->folder, "capture.pcap", NULL);

    g_unlink(path); /* of an earlier run */
    if (!*links)
        return TRUE;
    *capture = capture_new(run->experiment, links, path, error);
    return *capture != NULL;
}

static int play_captured(struct run *run)
{
    struct capture *capture = NULL;
    GError *error = NULL;
    int code;

    if (!begin_capture(run, &capture, &error))
        return command_fail("run", error);
    code = play(run);
    if (code == COMMAND_WRONG)
        capture_abort(capture);
    else if (capture && !capture_close(capture, &error))
        code = command_fail("run", error);
    return code;
}

static int run_scenario(struct run *run, struct scenario *scenario)
{
    struct experiment experiment;
    struct survey survey = {0};
    GError *error = NULL;
    int code;

    run->experiment = &experiment;
    if (experiment_init(&experiment, scenario, &error)) {
        experiment.n_threads = (uint32_t)run->line->threads;
        survey_make(&survey, &experiment);
    }
    run->expected_hops = survey.n_packet_hops;
    if (!error && memory_check(&experiment, &survey, &error))
        run->output = output_new(run->folder, &experiment, &error);
    code = run->output ? play_captured(run) : command_fail("run", error);
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
                      COMMAND_TAKES_ENGINE, &error))
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
