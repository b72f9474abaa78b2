/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft check: builds graph and schedule, prints what was understood, runs nothing. */
#include "sim/app/command.h"
#include "sim/app/paths.h"
#include "sim/app/survey.h"
#include "sim/core/units.h"
#include <stdio.h>
#include <string.h>

static void print_quantity(const char *before, enum units_kind kind, double value)
{
    g_autofree char *text = units_display(kind, value);

    printf("%s%s", before, text);
}

/* "100 Gb/s" or, where links differ, "100 Gb/s to 400 Gb/s". */
static void print_span(const char *before, enum units_kind kind, int64_t least, int64_t most)
{
    print_quantity(before, kind, (double)least);
    if (most != least)
        print_quantity(" to ", kind, (double)most);
}

static void print_tier(const struct graph *graph, uint32_t tier)
{
    int64_t least_bps = INT64_MAX, most_bps = 0, least_ps = INT64_MAX, most_ps = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < graph->n_links; i++) {
        const struct graph_link *link = &graph->links[i];

        if (link->tier != tier)
            continue;
        n++;
        least_bps = MIN(least_bps, link->rate_bps);
        most_bps = MAX(most_bps, link->rate_bps);
        least_ps = MIN(least_ps, link->delay_ps);
        most_ps = MAX(most_ps, link->delay_ps);
    }
    if (n == 0)
        return;
    printf("links       tier %u: %u", tier, n);
    print_span(" of ", UNITS_RATE, least_bps, most_bps);
    print_span(", delay ", UNITS_TIME, least_ps, most_ps);
    printf("\n");
}

static void print_switches(const struct graph *graph, const struct graph_facts *facts)
{
    for (uint32_t tier = 1; tier < G_N_ELEMENTS(facts->oversubscription); tier++) {
        uint32_t n = 0;

        for (uint32_t i = graph->n_hosts; i < graph->n_nodes; i++)
            n += graph->nodes[i].tier == tier;
        if (n == 0)
            continue;
        printf("switches    tier %u: %u", tier, n);
        if (facts->oversubscription[tier] > 0)
            printf(", oversubscription %.3g : 1", facts->oversubscription[tier]);
        printf("\n");
    }
}

static void print_fabric(const struct experiment *experiment, const struct survey *survey)
{
    const struct graph *graph = &experiment->graph;
    const struct graph_facts *facts = &survey->facts;

    printf("scenario    %s\n", experiment->scenario->title);
    printf("topology    %s: %u hosts, %u plane%s, %u tier%s, %u switches (%u unused), %u links\n",
           experiment->scenario->topology->name, graph->n_hosts, graph->n_planes,
           graph->n_planes == 1 ? "" : "s", facts->n_tiers, facts->n_tiers == 1 ? "" : "s",
           facts->n_switches, facts->n_unused_switches, graph->n_links);
    print_span("host rate   ", UNITS_RATE, facts->host_rate_bps_min, facts->host_rate_bps_max);
    printf(" each, all planes together\n");
    print_switches(graph, facts);
    for (uint32_t tier = 0; tier < 8; tier++)
        print_tier(graph, tier);
}

static void print_groups(const struct schedule *schedule)
{
    for (guint i = 0; i < MIN(schedule->groups->len, 10); i++) {
        const struct schedule_group *group = schedule_group(schedule, i);

        printf("group       %s: ", group->name);
        print_quantity("", UNITS_BYTES, (double)group->bytes);
        printf(" over %u ranks, %" G_GUINT64_FORMAT " operations", group->n_ranks, group->n_ops);
        if (group->factor_n > 0)
            printf(", busbw = algbw x %" G_GINT64_FORMAT "/%" G_GINT64_FORMAT, group->factor_n,
                   group->factor_d);
        printf("\n");
    }
    if (schedule->groups->len > 10)
        printf("group       ... and %u more\n", schedule->groups->len - 10);
}

static void print_traffic(const struct experiment *experiment, const struct survey *survey)
{
    const struct schedule *schedule = &experiment->schedule;
    const char *about = survey->step > 1 ? "about " : "";
    int64_t fabric = 0;

    printf("workload    %s: %" G_GUINT64_FORMAT " operations over %u ranks, %s%" G_GUINT64_FORMAT
           " messages",
           experiment->scenario->workload->name, schedule->n_ops, schedule->n_ranks, about,
           survey->n_messages);
    print_quantity(" of ", UNITS_BYTES, (double)survey->payload_bytes);
    printf(" in all\n");
    if (survey->step > 1)
        printf("            (every %" G_GUINT64_FORMAT "th operation was looked at)\n",
               survey->step);
    print_groups(schedule);
    for (size_t tier = 0; tier < G_N_ELEMENTS(survey->tier_bytes); tier++) {
        fabric += survey->tier_bytes[tier];
        if (survey->tier_bytes[tier] == 0)
            continue;
        printf("bytes       tier %zu: %s", tier, about);
        print_quantity("", UNITS_BYTES, (double)survey->tier_bytes[tier]);
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
    print_span("unloaded    round trip ", UNITS_TIME, survey->least_rtt_ps, survey->most_rtt_ps);
    printf(" (a full packet, its acknowledgement)");
    print_quantity("; BDP ", UNITS_BYTES, (double)survey->bdp_bytes);
    printf(" a host\n");
}

static void print_count(const char *before, double count, const char *after)
{
    printf(count < 1e6 ? "%s%.0f%s" : "%s%.3g M%s", before, count < 1e6 ? count : count / 1e6,
           after);
}

static void print_need(const struct survey *survey)
{
    const struct need *need = &survey->need;

    print_quantity("estimate    ", UNITS_BYTES, need->bytes);
    print_count(" of memory, ", survey->n_packets, " packets, ");
    print_count("", survey->n_packet_hops, " packet-hops with acknowledgements, ");
    print_quantity("", UNITS_TIME, need->cpu_s * 1e12);
    printf(" of CPU without loss\n");
    print_quantity("memory      program ", UNITS_BYTES, need->program);
    print_quantity(", graph and schedule ", UNITS_BYTES, need->graph + need->schedule);
    print_quantity(", hosts ", UNITS_BYTES, need->hosts);
    print_quantity(", ports ", UNITS_BYTES, need->ports);
    print_quantity(", routes ", UNITS_BYTES, need->routes);
    print_quantity(", connections ", UNITS_BYTES, need->connections);
    print_quantity(", messages ", UNITS_BYTES, need->messages);
    print_quantity(", packets ", UNITS_BYTES, need->packets);
    print_quantity(", results ", UNITS_BYTES, need->results);
    printf("\n");
}

static void print_check(const struct experiment *experiment)
{
    struct survey survey;
    g_autoptr(GPtrArray) warnings = NULL;

    survey_make(&survey, experiment);
    warnings = survey_warnings(&survey, experiment);
    print_fabric(experiment, &survey);
    print_traffic(experiment, &survey);
    print_transports(experiment, &survey);
    print_need(&survey);
    for (guint i = 0; i < experiment->build.notes->len; i++)
        printf("note        %s\n", (char *)g_ptr_array_index(experiment->build.notes, i));
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
                      false, &error))
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
