/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays one scenario, given as group.key=value texts, and prints what it cost:
 *   packet-hops, CPU ns per hop, events per hop, CPU s per delivered GB, peak MB
 * A hop is a packet entering a wire, acknowledgements included. Set-up of graph and schedule is not
 * counted, that of the fabric is. Usage: bench SETTING...
 */
#include "sim/app/experiment.h"
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static const struct sink_ops nothing = {.flow = NULL};
    struct scenario *scenario = scenario_new();
    struct experiment experiment;
    struct backend_result result;
    struct sink sink = {&nothing, NULL};
    struct rusage usage;
    GError *error = NULL;

    for (int i = 1; i < argc; i++)
        if (!scenario_set(scenario, argv[i], &error))
            g_error("%s", error->message);
    if (!experiment_init(&experiment, scenario, &error))
        g_error("%s", error->message);
    double before = cpu_seconds();

    if (!experiment_play(&experiment, &sink, NULL, NULL, &result, &error))
        g_error("%s", error->message);
    double seconds = cpu_seconds() - before;

    getrusage(RUSAGE_SELF, &usage);
    printf("%llu %.1f %.3f %.3f %.1f\n", (unsigned long long)result.n_hops,
           1e9 * seconds / (double)result.n_hops, (double)result.n_events / (double)result.n_hops,
           1e9 * seconds / (double)result.delivered_bytes, (double)usage.ru_maxrss / 1024);
    backend_result_clear(&result);
    experiment_clear(&experiment);
    scenario_free(scenario);
    return 0;
}
