/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Apart from experiment.c because its statistics use GSL, and weft-ns3 plays without them. */
#include "sim/app/experiment.h"
#include "sim/app/fairness.h"

gboolean experiment_play(const struct experiment *experiment, const struct sink *sink,
                         experiment_progress *progress, void *progress_data,
                         struct backend_result *result, GError **error)
{
    const struct scenario *scenario = experiment->scenario;
    const struct backend_ops *backend = scenario_backends[scenario->run.backend];
    g_autofree char *text = backend->elsewhere ? scenario_text(scenario, NULL) : NULL;
    struct backend_run run = experiment_run(experiment);
    struct fairness *fairness;
    gboolean played;

    run.progress = progress;
    run.progress_data = progress_data;
    run.text = text;
    *result = (struct backend_result){0};
    fairness = fairness_new(experiment, sink);
    played = backend->play(&run, fairness ? fairness_sink(fairness) : sink, result, error);
    if (fairness)
        fairness_finish(fairness);
    fairness_free(fairness);
    return played;
}
