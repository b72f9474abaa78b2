/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/experiment.h"
#include "models/pfc.h"
#include "models/series.h"
#include "sim/app/scenario_private.h"
#include <string.h>

G_DEFINE_QUARK(weft - experiment, experiment_error)

static gboolean take_profiles(struct experiment *experiment, GError **error)
{
    const GPtrArray *names = experiment->schedule.profiles;

    experiment->profiles = g_new0(struct transport_profile, names->len);
    for (guint i = 0; i < names->len; i++) {
        const struct transport_profile *profile =
            scenario_profile(experiment->scenario, g_ptr_array_index(names, i), error);

        if (!profile)
            return FALSE;
        experiment->profiles[i] = *profile;
    }
    return TRUE;
}

/* Whether a message begins with the name of a file that the configuration names. */
static bool names_its_file(const char *message, const struct param *params, const void *config)
{
    for (const struct param *param = params; param->name; param++) {
        g_autofree char *path =
            scenario_param_is_path(param) ? param_get(param, config) : g_strdup("");

        if (path && *path && g_str_has_prefix(message, path))
            return true;
    }
    return false;
}

/* Puts in front of a builder's message where its kind was chosen. */
static void prefix_place(const struct scenario *scenario, const char *group,
                         const struct param *params, const void *config, GError **error)
{
    const struct scenario_entry *kind = scenario_entry(scenario, group, "kind");

    if (error && !names_its_file((*error)->message, params, config))
        g_prefix_error(error, "%s: ", kind->where);
}

static gboolean take_series(struct experiment *experiment, GError **error)
{
    const struct scenario *scenario = experiment->scenario;

    if (series_parse(scenario->run.series, &experiment->series_objects))
        return TRUE;
    g_set_error(error, EXPERIMENT_ERROR, 1,
                "[run] series = %s: some of flow, port, plane, host, by commas, are expected",
                scenario->run.series);
    return FALSE;
}

struct backend_run experiment_run(const struct experiment *experiment)
{
    const struct scenario *scenario = experiment->scenario;

    return (struct backend_run){.graph = &experiment->graph,
                                .schedule = &experiment->schedule,
                                .model = &scenario->model,
                                .profiles = experiment->profiles,
                                .hosts = experiment->hosts.by_host,
                                .seed = (uint64_t)scenario->run.seed,
                                .end_ps = scenario->run.end,
                                .series_step_ps = scenario->run.series_step,
                                .series_objects = experiment->series_objects};
}

/* A lossless class must have the memory that this takes. */
static gboolean check_headroom(struct experiment *experiment, GError **error)
{
    struct backend_run run = experiment_run(experiment);

    return pfc_headroom_check(&run, experiment->build.notes, error);
}

gboolean experiment_init(struct experiment *experiment, struct scenario *scenario, GError **error)
{
    *experiment = (struct experiment){.scenario = scenario};
    build_init(&experiment->build, 0, 0);
    graph_init(&experiment->graph);
    if (!scenario->profiles && !scenario_resolve(scenario, error))
        return FALSE;
    if (!take_series(experiment, error))
        return FALSE;
    experiment->build.seed = (uint64_t)scenario->run.seed;
    experiment->build.end_ps = scenario->run.end;
    if (!scenario->topology->build(scenario->topology_config, &experiment->build,
                                   &experiment->graph, error)) {
        prefix_place(scenario, "topology", scenario->topology->params, scenario->topology_config,
                     error);
        return FALSE;
    }
    if (!hosts_init(&experiment->hosts, scenario, &experiment->graph, &experiment->build, error))
        return FALSE;
    if (!scenario->workload->build(scenario->workload_config, &experiment->graph,
                                   &experiment->build, &experiment->schedule, error)) {
        prefix_place(scenario, "workload", scenario->workload->params, scenario->workload_config,
                     error);
        return FALSE;
    }
    experiment->schedule_built = true;
    return take_profiles(experiment, error) && check_headroom(experiment, error);
}

gboolean experiment_play(const struct experiment *experiment, const struct sink *sink,
                         experiment_progress *progress, void *progress_data,
                         struct backend_result *result, GError **error)
{
    const struct scenario *scenario = experiment->scenario;
    struct backend_run run = experiment_run(experiment);

    run.progress = progress;
    run.progress_data = progress_data;
    *result = (struct backend_result){0};
    return scenario_backends[scenario->run.backend]->play(&run, sink, result, error);
}

void experiment_clear(struct experiment *experiment)
{
    if (experiment->schedule_built)
        schedule_clear(&experiment->schedule);
    hosts_clear(&experiment->hosts);
    graph_clear(&experiment->graph);
    build_clear(&experiment->build);
    g_clear_pointer(&experiment->profiles, g_free);
    experiment->schedule_built = false;
}
