/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft check: builds graph and schedule, prints what was understood, runs nothing. */
#include "sim/app/command.h"
#include "sim/app/describe.h"
#include "sim/app/paths.h"
#include "sim/app/survey.h"
#include "sim/core/units.h"
#include <stdio.h>
#include <string.h>

#define FAULTS_PRINTED 20

static void print_traffic(const struct experiment *experiment, const struct survey *survey)
{
    const struct schedule *schedule = &experiment->schedule;
    const char *about = survey->step > 1 ? "about " : "";
    int64_t fabric = 0;

    printf("workload    %s: %" G_GUINT64_FORMAT " operations over %u ranks, %s%" G_GUINT64_FORMAT
           " messages",
           experiment->scenario->workload->name, schedule->n_ops, schedule->n_ranks, about,
           survey->n_messages);
    describe_quantity(" of ", UNITS_BYTES, (double)survey->payload_bytes);
    printf(" in all\n");
    if (survey->step > 1)
        printf("            (every %" G_GUINT64_FORMAT "th operation was looked at)\n",
               survey->step);
    describe_groups(schedule);
    for (size_t tier = 0; tier < G_N_ELEMENTS(survey->tier_bytes); tier++) {
        fabric += survey->tier_bytes[tier];
        if (survey->tier_bytes[tier] == 0)
            continue;
        printf("bytes       tier %zu: %s", tier, about);
        describe_quantity("", UNITS_BYTES, (double)survey->tier_bytes[tier]);
        printf(" (%" G_GINT64_FORMAT " B; data with headers, shortest paths, no resends)\n",
               survey->tier_bytes[tier]);
    }
    if (fabric == 0)
        printf("bytes       over the fabric: 0\n");
}

static void print_transports(const struct experiment *experiment, const struct survey *survey)
{
    for (guint i = 0; i < experiment->schedule.profiles->len; i++) {
        const struct transport_profile *profile = &experiment->profiles[i];
        const struct transport_common *common = profile->config;

        printf("transport   %s%s%s: payload %" G_GINT64_FORMAT " B, header %" G_GINT64_FORMAT
               " B, acknowledgement %" G_GINT64_FORMAT " B\n",
               profile->name, *profile->name ? " = " : "", profile->ops->name, common->payload,
               common->header, common->ack_bytes);
    }
    if (survey->most_rtt_ps == 0)
        return;
    describe_span("unloaded    round trip ", UNITS_TIME, survey->least_rtt_ps, survey->most_rtt_ps);
    printf(" (a full packet, its acknowledgement)");
    describe_quantity("; BDP ", UNITS_BYTES, (double)survey->bdp_bytes);
    printf(" a host\n");
}

static void print_faults(const struct experiment *experiment)
{
    const struct fault_list *list = &experiment->build.faults;
    const struct faults_config *config = &experiment->scenario->model.faults;
    g_autofree char *time = config->convergence_time == PARAM_AUTO
                                ? g_strdup("never")
                                : units_format(UNITS_TIME, config->convergence_time);

    for (guint i = 0; i < MIN(list->faults->len, FAULTS_PRINTED); i++) {
        g_autofree char *text = fault_describe(fault_at(list, i));

        printf("fault       %s: %s\n", fault_at(list, i)->name, text);
    }
    if (list->faults->len > FAULTS_PRINTED)
        printf("fault       ... and %u more\n", list->faults->len - FAULTS_PRINTED);
    if (list->faults->len > 0)
        printf("            new routes after %s%s\n", time,
               config->convergence_time == PARAM_AUTO ? ""
               : config->rehash                       ? ", flows on live ports stay"
                                                      : ", all flows choose anew");
}

static void print_count(const char *before, double count, const char *after)
{
    printf(count < 1e6 ? "%s%.0f%s" : "%s%.3g M%s", before, count < 1e6 ? count : count / 1e6,
           after);
}

static void print_need(const struct survey *survey)
{
    const struct need *need = &survey->need;

    describe_quantity("estimate    ", UNITS_BYTES, need->bytes);
    print_count(" of memory, ", survey->n_packets, " packets, ");
    print_count("", survey->n_packet_hops, " packet-hops with acknowledgements, ");
    describe_quantity("", UNITS_TIME, need->cpu_s * 1e12);
    printf(" of CPU without loss\n");
    describe_quantity("memory      program ", UNITS_BYTES, need->program);
    describe_quantity(", graph and schedule ", UNITS_BYTES, need->graph + need->schedule);
    describe_quantity(", hosts ", UNITS_BYTES, need->hosts);
    describe_quantity(", ports ", UNITS_BYTES, need->ports);
    describe_quantity(", routes ", UNITS_BYTES, need->routes);
    describe_quantity(", connections ", UNITS_BYTES, need->connections);
    describe_quantity(", messages ", UNITS_BYTES, need->messages);
    describe_quantity(", packets ", UNITS_BYTES, need->packets);
    describe_quantity(", results ", UNITS_BYTES, need->results);
    printf("\n");
}

static void print_check(const struct experiment *experiment)
{
    struct survey survey;
    g_autoptr(GPtrArray) warnings = NULL;

    survey_make(&survey, experiment);
    warnings = survey_warnings(&survey, experiment);
    printf("scenario    %s\n", experiment->scenario->title);
    describe_graph(&experiment->graph, &survey.facts, experiment->scenario->topology->name);
    print_traffic(experiment, &survey);
    print_transports(experiment, &survey);
    print_faults(experiment);
    print_need(&survey);
    describe_notes(&experiment->build);
    for (guint i = 0; i < warnings->len; i++)
        printf("WARNING     %s\n", (char *)g_ptr_array_index(warnings, i));
}

static bool is_number(const char *text)
{
    return *text && strspn(text, G_CSET_DIGITS) == strlen(text);
}

/* "--paths A B" as the one argument that GLib lets an option have: "--paths A,B". */
static char **join_paths(int *argc, char **argv)
{
    GPtrArray *joined = g_ptr_array_new_with_free_func(g_free);

    for (int i = 0; i < *argc; i++) {
        bool two = i > 0 && strcmp(argv[i - 1], "--paths") == 0 && i + 1 < *argc &&
                   is_number(argv[i]) && is_number(argv[i + 1]);

        g_ptr_array_add(joined,
                        two ? g_strdup_printf("%s,%s", argv[i], argv[i + 1]) : g_strdup(argv[i]));
        i += two;
    }
    *argc = (int)joined->len;
    g_ptr_array_add(joined, NULL);
    return (char **)g_ptr_array_free(joined, FALSE);
}

int command_check(int argc, char **argv)
{
    g_auto(GStrv) joined = join_paths(&argc, argv);
    g_autofree char **arguments = g_memdup2(joined, sizeof *joined * ((size_t)argc + 1));
    struct command_line line;
    struct scenario *scenario = NULL;
    struct experiment experiment;
    GError *error = NULL;
    int code = COMMAND_DONE;

    if (command_parse(&line, argc, arguments, "[SCENARIO] - say what a scenario means, run nothing",
                      "Prints hosts, planes, tiers, oversubscription, bytes by tier, unloaded "
                      "round trip, bandwidth-delay\nproduct, what a run will need, and warnings.",
                      COMMAND_TAKES_PATHS, &error))
        scenario = command_scenario(&line, &error);
    if (scenario) {
        if (experiment_init(&experiment, scenario, &error)) {
            if (line.paths)
                paths_print(&experiment, line.paths, &error);
            else
                print_check(&experiment);
        }
        experiment_clear(&experiment);
    }
    if (error)
        code = command_fail("check", error);
    scenario_free(scenario);
    command_clear(&line);
    return code;
}
