/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/describe.h"
#include <stdio.h>

void describe_quantity(const char *before, enum units_kind kind, double value)
{
    g_autofree char *text = units_display(kind, value);

    printf("%s%s", before, text);
}

void describe_span(const char *before, enum units_kind kind, int64_t least, int64_t most)
{
    describe_quantity(before, kind, (double)least);
    if (most != least)
        describe_quantity(" to ", kind, (double)most);
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
    describe_span(" of ", UNITS_RATE, least_bps, most_bps);
    describe_span(", delay ", UNITS_TIME, least_ps, most_ps);
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

void describe_graph(const struct graph *graph, const struct graph_facts *facts, const char *kind)
{
    printf("topology    %s: %u hosts, %u plane%s, %u tier%s, %u switches (%u unused), %u links\n",
           kind, graph->n_hosts, graph->n_planes, graph->n_planes == 1 ? "" : "s", facts->n_tiers,
           facts->n_tiers == 1 ? "" : "s", facts->n_switches, facts->n_unused_switches,
           graph->n_links);
    describe_span("host rate   ", UNITS_RATE, facts->host_rate_bps_min, facts->host_rate_bps_max);
    printf(" each, all planes together\n");
    print_switches(graph, facts);
    for (uint32_t tier = 0; tier < 8; tier++)
        print_tier(graph, tier);
}

void describe_groups(const struct schedule *schedule)
{
    for (guint i = 0; i < MIN(schedule->groups->len, 10); i++) {
        const struct schedule_group *group = schedule_group(schedule, i);

        printf("group       %s: ", group->name);
        describe_quantity("", UNITS_BYTES, (double)group->bytes);
        printf(" over %u ranks, %" G_GUINT64_FORMAT " operations", group->n_ranks, group->n_ops);
        if (group->factor_n > 0)
            printf(", busbw = algbw x %" G_GINT64_FORMAT "/%" G_GINT64_FORMAT, group->factor_n,
                   group->factor_d);
        printf("\n");
    }
    if (schedule->groups->len > 10)
        printf("group       ... and %u more\n", schedule->groups->len - 10);
}

void describe_notes(const struct build *build)
{
    for (guint i = 0; i < build->notes->len; i++)
        printf("note        %s\n", (char *)g_ptr_array_index(build->notes, i));
}
