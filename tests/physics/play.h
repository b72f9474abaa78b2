/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays a scenario given as "group.key=value" texts and keeps what a physics test looks at: the
 * records of flows and ports, and the run's metrics by name.
 */
#ifndef WEFT_TESTS_PHYSICS_PLAY_H
#define WEFT_TESTS_PHYSICS_PLAY_H

#include "sim/app/experiment.h"
#include <string.h>

struct play {
    struct backend_result result;
    GArray *flows;       /* struct sink_flow, by operation; its pointers are gone */
    GArray *ports;       /* struct sink_port */
    GArray *steps;       /* struct sink_step, in the order of their ends */
    GHashTable *metrics; /* name -> double */
    int64_t group_ps;    /* of the last group; -1 if unfinished */
    int64_t last_ps;     /* last receiver end */
    int64_t packets, retransmitted, spurious, timeouts, marked, dropped_queue, max_queue_bytes;
};

static void play_flow(void *data, const struct sink_flow *flow)
{
    struct play *play = data;

    g_array_append_val(play->flows, *flow);
    play->last_ps = MAX(play->last_ps, flow->end_receiver_ps);
    play->packets += flow->packets;
    play->retransmitted += flow->retransmitted_packets;
    play->spurious += flow->spurious_retransmissions;
    play->timeouts += flow->timeouts;
    play->marked += flow->marked_packets;
}

static void play_port(void *data, const struct sink_port *port)
{
    struct play *play = data;

    g_array_append_val(play->ports, *port);
    play->dropped_queue += port->dropped_packets[SINK_DROP_QUEUE];
    play->max_queue_bytes = MAX(play->max_queue_bytes, port->max_queue_bytes);
}

static void play_group(void *data, const struct sink_group *group)
{
    struct play *play = data;

    play->group_ps = group->end_ps == SINK_NEVER ? -1 : group->end_ps - group->start_ps;
}

static void play_metric(void *data, const struct sink_metric *metric)
{
    struct play *play = data;
    double *value = g_new(double, 1);

    *value = metric->value;
    g_hash_table_insert(play->metrics, g_strdup(metric->name), value);
}

static void play_step(void *data, const struct sink_step *step)
{
    g_array_append_val(((struct play *)data)->steps, *step);
}

static gint play_by_flow(gconstpointer a, gconstpointer b)
{
    const struct sink_flow *x = a, *y = b;

    return x->flow < y->flow ? -1 : x->flow > y->flow;
}

/* FALSE with an error if the settings are wrong or cannot be played. play_clear() either way. */
static gboolean play_try(struct play *play, uint64_t seed, const char *const *settings,
                         GError **error)
{
    static const struct sink_ops ops = {.flow = play_flow,
                                        .port = play_port,
                                        .group = play_group,
                                        .metric = play_metric,
                                        .step = play_step};
    struct scenario *scenario = scenario_new();
    struct experiment experiment;
    struct sink sink = {&ops, play};
    g_autofree char *seed_text = g_strdup_printf("run.seed=%" G_GUINT64_FORMAT, seed);
    gboolean ok;

    *play =
        (struct play){.flows = g_array_new(FALSE, FALSE, sizeof(struct sink_flow)),
                      .ports = g_array_new(FALSE, FALSE, sizeof(struct sink_port)),
                      .steps = g_array_new(FALSE, FALSE, sizeof(struct sink_step)),
                      .metrics = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
    ok = scenario_set(scenario, seed_text, error);
    for (; ok && *settings; settings++)
        ok = scenario_set(scenario, *settings, error);
    if (ok && (ok = experiment_init(&experiment, scenario, error))) {
        ok = experiment_play(&experiment, &sink, NULL, NULL, &play->result, error);
        experiment_clear(&experiment);
    }
    g_array_sort(play->flows, play_by_flow);
    scenario_free(scenario);
    return ok;
}

/* Settings end with NULL; the test stops if they are wrong. play_clear() afterwards. */
static void play(struct play *play, uint64_t seed, const char *const *settings)
{
    GError *error = NULL;

    if (!play_try(play, seed, settings, &error))
        g_error("%s", error->message);
}

static inline const struct sink_flow *play_flow_of(const struct play *play, uint64_t flow)
{
    return &g_array_index(play->flows, struct sink_flow, flow);
}

static inline double play_value(const struct play *play, const char *metric)
{
    const double *value = g_hash_table_lookup(play->metrics, metric);

    if (!value)
        g_error("no metric %s", metric);
    return *value;
}

static void play_clear(struct play *play)
{
    backend_result_clear(&play->result);
    g_array_unref(play->flows);
    g_array_unref(play->ports);
    g_array_unref(play->steps);
    g_hash_table_unref(play->metrics);
}

#endif
