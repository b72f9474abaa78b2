/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run was said to need against what it took: peak memory of a process of its own, within
 * 20 % and what weft is larger than this program. The ring shows that messages leave when they are
 * over: 130,000 of 264 bytes would be 34 MB.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/survey.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif
#define PROGRAM_DIFFERS 3.5e6

/* Builds the experiment and, if it is to be played, plays it and returns 0. */
static double estimate(const char *const *settings, bool is_played)
{
    static const struct sink_ops nothing = {.flow = NULL};
    struct scenario *scenario = scenario_new();
    struct experiment experiment;
    struct backend_result result;
    struct sink sink = {&nothing, NULL};
    struct survey survey = {.need = {.bytes = 0}};
    GError *error = NULL;

    for (; *settings; settings++)
        if (!scenario_set(scenario, *settings, &error))
            g_error("%s", error->message);
    if (!experiment_init(&experiment, scenario, &error))
        g_error("%s", error->message);
    if (!is_played) {
        survey_make(&survey, &experiment);
    } else {
        if (!experiment_play(&experiment, &sink, NULL, NULL, &result, &error))
            g_error("%s", error->message);
        backend_result_clear(&result);
    }
    experiment_clear(&experiment);
    scenario_free(scenario);
    return survey.need.bytes - survey.need.results; /* nobody keeps them here */
}

static double measure(const char *const *settings)
{
    struct rusage usage;
    int status;
    pid_t child = fork();

    if (child == 0) {
        estimate(settings, true);
        _exit(0);
    }
    assert_true(wait4(child, &status, 0, &usage) == child);
    assert_int_equal(status, 0);
    return (double)usage.ru_maxrss * 1024;
}

static void check(const char *const *settings)
{
    double measured = measure(settings), estimated = estimate(settings, false);

    if (estimated < 0.8 * (measured + PROGRAM_DIFFERS) ||
        estimated > 1.2 * (measured + PROGRAM_DIFFERS))
        fail_msg("estimated %.1f MB, measured %.1f MB", estimated / 1e6, measured / 1e6);
}

#define CASE(name_, ...)                                                                           \
    static void name_(void **state)                                                                \
    {                                                                                              \
        static const char *const settings[] = {__VA_ARGS__, NULL};                                 \
                                                                                                   \
        (void)state;                                                                               \
        check(settings);                                                                           \
    }

#define FABRIC(hosts_) "topology.kind=clos", "topology.hosts=" #hosts_, "queue.kind=red"

CASE(permutation_of_rocev2, FABRIC(1024), "workload.kind=permutation", "workload.bytes=1MB",
     "transport.name=rocev2")
CASE(permutation_of_metaroce, FABRIC(1024), "workload.kind=permutation", "workload.bytes=1MB",
     "transport.name=metaroce")
CASE(many_messages_of_metaroce, FABRIC(1024), "workload.kind=permutation", "workload.bytes=20KB",
     "workload.count=20", "transport.name=metaroce")
CASE(incast, FABRIC(128), "workload.kind=incast", "workload.bytes=1MB", "queue.limit=64MiB",
     "transport.name=rocev2")
CASE(ring_of_rocev2, FABRIC(256), "workload.kind=allreduce", "workload.bytes=1MB",
     "transport.name=rocev2")
CASE(all_to_all_of_metaroce, FABRIC(64), "workload.kind=alltoall", "workload.bytes=16MB",
     "transport.name=metaroce")
CASE(idle_fabric, FABRIC(16384), "topology.planes=2", "workload.kind=incast", "workload.senders=1",
     "workload.bytes=4KB", "transport.name=rocev2")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permutation_of_rocev2),
        cmocka_unit_test(permutation_of_metaroce),
        cmocka_unit_test(many_messages_of_metaroce),
        cmocka_unit_test(incast),
        cmocka_unit_test(ring_of_rocev2),
        cmocka_unit_test(all_to_all_of_metaroce),
        cmocka_unit_test(idle_fabric),
    };

    if (SANITIZED) { /* its memory is another */
        puts("1..0 # SKIP memory with sanitizers");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
