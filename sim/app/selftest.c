/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/selftest.h"
#include "sim/app/commands.h"
#include "sim/app/experiment.h"
#include "sim/core/units.h"
#include <stdio.h>
#include <string.h>

/* What one run leaves. */
struct seen {
    const struct graph *graph;
    int64_t last_receiver_ps, last_sender_ps, first_ps;
    int64_t bytes, packets, retransmitted, n_flows;
    int64_t extra_ps, group_ps;
    int64_t lost, core_links, core_links_used, max_load;
    double recovered, returned;
};

static void see_flow(void *data, const struct sink_flow *flow)
{
    struct seen *seen = data;

    seen->n_flows++;
    seen->packets += flow->packets;
    seen->retransmitted += flow->retransmitted_packets;
    if (flow->end_receiver_ps == SINK_NEVER)
        return;
    seen->last_receiver_ps = MAX(seen->last_receiver_ps, flow->end_receiver_ps);
    seen->last_sender_ps = MAX(seen->last_sender_ps, flow->end_sender_ps);
    seen->bytes += flow->bytes;
    seen->extra_ps += flow->end_receiver_ps - flow->start_ps - flow->ideal_ps;
}

/* Parallel links are those between the two switches of a dumbbell; core links lead to the top. */
static void see_port(void *data, const struct sink_port *port)
{
    struct seen *seen = data;
    const struct graph *graph = seen->graph;
    uint32_t n_switches = graph->n_nodes - graph->n_hosts;

    seen->lost += port->dropped_packets[SINK_DROP_LOSS];
    if (n_switches == 2 && port->node == graph->n_hosts && port->peer == graph->n_hosts + 1)
        seen->max_load = MAX(seen->max_load, port->packets);
    if (graph->nodes[port->peer].tier == 3) {
        seen->core_links++;
        seen->core_links_used += port->packets > 0;
    }
}

static void see_group(void *data, const struct sink_group *group)
{
    struct seen *seen = data;

    if (group->end_ps != SINK_NEVER)
        seen->group_ps = group->end_ps - group->start_ps;
}

static void see_metric(void *data, const struct sink_metric *metric)
{
    struct seen *seen = data;

    if (strcmp(metric->name, "fault_a_reached") == 0)
        seen->recovered = metric->value;
    if (strcmp(metric->name, "fault_a_end_reached") == 0)
        seen->returned = metric->value;
}

static const struct sink_ops seeing = {
    .flow = see_flow, .port = see_port, .group = see_group, .metric = see_metric};

static gboolean run_scenario(struct scenario *scenario, int64_t extra_delay_ps, struct seen *seen,
                             GError **error)
{
    struct experiment experiment;
    struct backend_result result = {0};
    struct sink sink = {&seeing, seen};
    gboolean fine = experiment_init(&experiment, scenario, error);

    if (fine) {
        experiment.graph.links[0].delay_ps += extra_delay_ps;
        *seen = (struct seen){.graph = &experiment.graph};
        fine = experiment_play(&experiment, &sink, NULL, NULL, &result, error);
        backend_result_clear(&result);
    }
    experiment_clear(&experiment);
    return fine;
}

/* One run with one seed and the first `n_settings` settings. */
static gboolean run_once(const struct oracle *oracle, uint32_t seed, guint n_settings,
                         int64_t extra_delay_ps, struct seen *seen, GError **error)
{
    struct scenario *scenario = scenario_new();
    g_autofree char *seed_text = g_strdup_printf("run.seed=%u", seed);
    gboolean fine = scenario_set(scenario, seed_text, error);

    for (guint i = 0; fine && i < n_settings; i++)
        fine = scenario_set(scenario, oracle->settings[i], error);
    fine = fine && run_scenario(scenario, extra_delay_ps, seen, error);
    scenario_free(scenario);
    return fine;
}

static double goodput_bps(const struct seen *seen)
{
    return seen->last_receiver_ps > 0 ? 8e12 * (double)seen->bytes / (double)seen->last_receiver_ps
                                      : 0;
}

static double read_quantity(const struct oracle *oracle, const struct seen *seen)
{
    switch (oracle->quantity) {
    case ORACLE_RECEIVER_US:
        return (double)seen->last_receiver_ps / 1e6;
    case ORACLE_SENDER_US:
        return (double)seen->last_sender_ps / 1e6;
    case ORACLE_GROUP_MS:
        return (double)seen->group_ps / 1e9;
    case ORACLE_GOODPUT:
        return 100 * goodput_bps(seen) / oracle->scale;
    case ORACLE_RETRANSMITTED:
        return (double)seen->retransmitted;
    case ORACLE_LOSS:
        return 100 * (double)seen->lost / (double)seen->packets;
    case ORACLE_EXTRA:
        return (double)seen->extra_ps / (double)seen->n_flows / oracle->scale;
    case ORACLE_MAX_LOAD:
        return (double)seen->max_load;
    case ORACLE_CORE_SHARE:
        return (double)seen->core_links_used / (double)seen->core_links;
    case ORACLE_FLOWS:
        return (double)seen->n_flows;
    case ORACLE_KEPT:
        return goodput_bps(seen);
    case ORACLE_RECOVERED:
        return 100 * seen->recovered;
    case ORACLE_RETURNED:
        return 100 * seen->returned;
    }
    return 0;
}

gboolean oracle_run(const struct oracle *oracle, int64_t extra_delay_ps, double *got,
                    GError **error)
{
    guint n = 0;
    double sum = 0, before = 0;
    struct seen seen;

    while (oracle->settings[n])
        n++;
    for (uint32_t seed = 1; seed <= oracle->n_seeds; seed++) {
        if (!run_once(oracle, seed, n, extra_delay_ps, &seen, error))
            return FALSE;
        sum += read_quantity(oracle, &seen);
    }
    *got = sum / oracle->n_seeds;
    if (oracle->quantity == ORACLE_KEPT) {
        if (!run_once(oracle, 1, n - 1, 0, &seen, error))
            return FALSE;
        before = goodput_bps(&seen);
        *got = before > 0 ? 100 * *got / before : 0;
    }
    return TRUE;
}

bool oracle_holds(const struct oracle *oracle, double got)
{
    double distance = got > oracle->expected ? got - oracle->expected : oracle->expected - got;

    /* "exact" in microseconds: within half a picosecond */
    return distance <= (oracle->tolerance > 0 ? oracle->tolerance : 0.5e-6);
}

const char *oracle_unit(enum oracle_quantity quantity)
{
    static const char *const units[] = {[ORACLE_RECEIVER_US] = "us",
                                        [ORACLE_SENDER_US] = "us",
                                        [ORACLE_GROUP_MS] = "ms",
                                        [ORACLE_GOODPUT] = "%",
                                        [ORACLE_RETRANSMITTED] = "packets",
                                        [ORACLE_LOSS] = "%",
                                        [ORACLE_EXTRA] = "RTO",
                                        [ORACLE_MAX_LOAD] = "flows",
                                        [ORACLE_CORE_SHARE] = "share",
                                        [ORACLE_FLOWS] = "flows",
                                        [ORACLE_KEPT] = "%",
                                        [ORACLE_RECOVERED] = "%",
                                        [ORACLE_RETURNED] = "%"};

    return units[quantity];
}

/* --- the command -------------------------------------------------------------------------------
 */

struct options {
    gboolean quick, scenarios;
    char *extra_delay, *only;
};

static void print_scenario(const struct oracle *oracle)
{
    printf("    %s\n    weft run", oracle->derivation);
    for (guint i = 0; oracle->settings[i]; i++)
        printf(" --set '%s'", oracle->settings[i]);
    printf("\n");
}

/* Runs and prints one row; 1 if it failed. */
static int show(const struct oracle *oracle, const struct options *options, int64_t extra_ps)
{
    GError *error = NULL;
    double got = 0;
    gboolean fine = oracle_run(oracle, extra_ps, &got, &error);
    bool holds = fine && oracle_holds(oracle, got);

    printf("%-10s %14.7g %14.7g %-8s %-22s %s\n", oracle->id, oracle->expected, got,
           oracle_unit(oracle->quantity), oracle->tolerance_text, holds ? "pass" : "FAIL");
    if (!fine) {
        fprintf(stderr, "weft selftest: %s: %s\n", oracle->id, error->message);
        g_clear_error(&error);
    }
    if (options->scenarios)
        print_scenario(oracle);
    fflush(stdout);
    return holds ? 0 : 1;
}

static int run_table(const struct options *options, int64_t extra_ps)
{
    int n_failed = 0, n_run = 0;

    printf("%-10s %14s %14s %-8s %-22s %s\n", "id", "expected", "got", "unit", "tolerance",
           "verdict");
    for (const struct oracle *oracle = oracles; oracle->id; oracle++) {
        if (options->only ? strcmp(options->only, oracle->id) != 0
                          : options->quick && !oracle->quick)
            continue;
        n_failed += show(oracle, options, extra_ps);
        n_run++;
    }
    if (n_run == 0) {
        fprintf(stderr, "weft selftest: --only %s: no such row; see weft selftest\n",
                options->only);
        return COMMAND_WRONG;
    }
    printf("%d of %d rows hold\n", n_run - n_failed, n_run);
    return n_failed == 0 ? COMMAND_DONE : COMMAND_BROKEN;
}

int command_selftest(int argc, char **argv)
{
    struct options options = {0};
    const GOptionEntry entries[] = {
        {"quick", 0, 0, G_OPTION_ARG_NONE, &options.quick, "The rows that take under 5 s together",
         NULL},
        {"only", 0, 0, G_OPTION_ARG_STRING, &options.only, "One row", "ID"},
        {"scenarios", 0, 0, G_OPTION_ARG_NONE, &options.scenarios,
         "Also print derivation and scenario of each row", NULL},
        {"extra-delay", 0, 0, G_OPTION_ARG_STRING, &options.extra_delay,
         "Lengthen the first link, to see that exact rows fail (such as 1ps)", "TIME"},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new("- compare with first principles");
    GError *error = NULL;
    int64_t extra_ps = 0;
    const char *why = NULL;
    int status;

    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc > 1) {
        fprintf(stderr, "weft selftest: %s\n", error ? error->message : "takes no arguments");
        g_clear_error(&error);
        return COMMAND_WRONG;
    }
    if (options.extra_delay && !units_parse(UNITS_TIME, options.extra_delay, &extra_ps, &why)) {
        fprintf(stderr, "weft selftest: --extra-delay %s: %s\n", options.extra_delay, why);
        status = COMMAND_WRONG;
    } else {
        status = run_table(&options, extra_ps);
    }
    g_free(options.extra_delay);
    g_free(options.only);
    return status;
}
