/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/experiment.h"
#include "models/pfc.h"
#include "models/series.h"
#include "sim/app/faults.h"
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
                                .faults = &experiment->build.faults,
                                .seed = (uint64_t)scenario->run.seed,
                                .n_threads = experiment->n_threads,
                                .end_ps = scenario->run.end,
                                .series_step_ps = scenario->run.series_step,
                                .series_objects = experiment->series_objects,
                                .observer = experiment->observer};
}

/* A lossless class must have the memory that this takes. */
static gboolean check_headroom(struct experiment *experiment, GError **error)
{
    struct backend_run run = experiment_run(experiment);

    return pfc_headroom_check(&run, experiment->build.notes, error);
}

/* One workload; its streams are other ones than those of the same kind in another group. */
static gboolean build_workload(struct experiment *experiment, const char *group,
                               const struct workload_ops *ops, const void *config, uint64_t number,
                               struct schedule *schedule, GError **error)
{
    const struct scenario *scenario = experiment->scenario;

    experiment->build.seed = (uint64_t)scenario->run.seed + number * RANDOM_GOLDEN;
    if (ops->build(config, &experiment->graph, &experiment->build, schedule, error))
        return TRUE;
    prefix_place(scenario, group, ops->params, config, error);
    return FALSE;
}

/* Puts what the groups [workload:NAME] say beside what there is. */
static gboolean build_beside(struct experiment *experiment, struct schedule *all,
                             const struct schedule *main, GError **error)
{
    const GPtrArray *beside = experiment->scenario->beside;
    g_autofree struct schedule *parts = g_new0(struct schedule, beside->len);
    guint n_built = 0;
    uint32_t n_ranks = main->n_ranks;
    gboolean fine = TRUE;

    for (; fine && n_built < beside->len; n_built += fine ? 1 : 0) {
        const struct scenario_workload *workload = g_ptr_array_index(beside, n_built);
        g_autofree char *group = g_strdup_printf("workload:%s", workload->name);

        fine = build_workload(experiment, group, workload->ops, workload->config, n_built + 1,
                              &parts[n_built], error);
        n_ranks += fine ? parts[n_built].n_ranks : 0;
    }
    schedule_init(all, n_ranks);
    schedule_append(all, main, 0, NULL);
    n_ranks = main->n_ranks;
    for (guint i = 0; i < n_built; i++) {
        schedule_append(all, &parts[i], n_ranks,
                        ((struct scenario_workload *)g_ptr_array_index(beside, i))->name);
        n_ranks += parts[i].n_ranks;
        schedule_clear(&parts[i]);
    }
    if (fine && schedule_finish(all, experiment->graph.n_hosts, error))
        return TRUE;
    schedule_clear(all);
    return FALSE;
}

static gboolean build_schedule(struct experiment *experiment, GError **error)
{
    const struct scenario *scenario = experiment->scenario;
    struct schedule main = {0};
    gboolean fine;

    if (!build_workload(experiment, "workload", scenario->workload, scenario->workload_config, 0,
                        &main, error))
        return FALSE;
    if (scenario->beside->len == 0) {
        experiment->schedule = main;
        experiment->schedule_built = true;
        return TRUE;
    }
    fine = build_beside(experiment, &experiment->schedule, &main, error);
    schedule_clear(&main);
    experiment->schedule_built = fine;
    return fine;
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
    for (guint i = 0; i < scenario->notes->len; i++)
        build_note(&experiment->build, "%s", (char *)g_ptr_array_index(scenario->notes, i));
    if (!scenario->topology->build(scenario->topology_config, &experiment->build,
                                   &experiment->graph, error)) {
        prefix_place(scenario, "topology", scenario->topology->params, scenario->topology_config,
                     error);
        return FALSE;
    }
    if (!hosts_init(&experiment->hosts, scenario, &experiment->graph, &experiment->build, error))
        return FALSE;
    if (!build_schedule(experiment, error))
        return FALSE;
    return faults_add(scenario, &experiment->build, error) &&
           faults_check(&experiment->build, &experiment->graph, error) &&
           take_profiles(experiment, error) && check_headroom(experiment, error);
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
