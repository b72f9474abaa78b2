/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of buffers, pauses and losses share: small graphs in files, sums over ports. */
#ifndef WEFT_TESTS_PHYSICS_LOSSLESS_H
#define WEFT_TESTS_PHYSICS_LOSSLESS_H

#include "tests/physics/play.h"
#include <glib/gstdio.h>

/* A file with this text, removed by the caller; the path is g_free'd by the caller. */
static inline char *write_file(const char *text)
{
    char *path = NULL;
    int fd = g_file_open_tmp("weft-XXXXXX.csv", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static inline int64_t dropped(const struct play *play, enum sink_drop cause)
{
    int64_t sum = 0;

    for (guint i = 0; i < play->ports->len; i++)
        sum += g_array_index(play->ports, struct sink_port, i).dropped_packets[cause];
    return sum;
}

static inline int64_t all_dropped(const struct play *play)
{
    int64_t sum = 0;

    for (int cause = 0; cause < SINK_N_DROPS; cause++)
        sum += dropped(play, (enum sink_drop)cause);
    return sum;
}

static inline const struct sink_port *port_of(const struct play *play, uint32_t number)
{
    return &g_array_index(play->ports, struct sink_port, number);
}

/* The message with which a scenario is refused, before or at the begin of its run; g_free. */
static inline char *refusal_of(const char *const *settings)
{
    static const struct sink_ops nothing = {.flow = NULL};
    struct scenario *scenario = scenario_new();
    struct experiment experiment;
    struct backend_result result = {0};
    struct sink sink = {&nothing, NULL};
    GError *error = NULL;
    char *message;

    for (; *settings; settings++)
        g_assert_true(scenario_set(scenario, *settings, NULL));
    if (experiment_init(&experiment, scenario, &error))
        experiment_play(&experiment, &sink, NULL, NULL, &result, &error);
    message = g_strdup(error ? error->message : "");
    g_clear_error(&error);
    backend_result_clear(&result);
    experiment_clear(&experiment);
    scenario_free(scenario);
    return message;
}

#endif
