/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A resolved scenario made ready to play: its graph, its schedule and the transports the schedule
 * asks for. No globals: any number of experiments may be built and played in different threads,
 * each with a scenario of its own.
 */
#ifndef WEFT_SIM_APP_EXPERIMENT_H
#define WEFT_SIM_APP_EXPERIMENT_H

#include "sim/app/hosts.h"
#include "sim/app/scenario.h"

#define EXPERIMENT_ERROR experiment_error_quark()
GQuark experiment_error_quark(void);

struct experiment {
    struct scenario *scenario; /* borrowed, resolved */
    struct build build;        /* its notes: what the builders understood */
    struct graph graph;
    struct schedule schedule;
    struct transport_profile *profiles; /* one for each of schedule.profiles; contents borrowed */
    struct hosts hosts;
    uint32_t series_objects;   /* a set of enum series_object */
    struct observer *observer; /* who looks at its packets (models/observer.h); NULL, or set */
    uint32_t n_threads;        /* that may play it together; 0, or set: one */
    bool schedule_built;
};

/*
 * Resolves the scenario if need be and builds; runs nothing. The error names the file, group and
 * key where they are known. experiment_clear() in any case.
 */
gboolean experiment_init(struct experiment *experiment, struct scenario *scenario, GError **error);

/* What a backend is asked to play; lives as long as the experiment does not change. */
struct backend_run experiment_run(const struct experiment *experiment);

typedef bool experiment_progress(void *data, const struct backend_progress *progress);

/*
 * Plays it into `sink`; `progress` may be NULL. May be called again: the same bytes come out.
 * backend_result_clear() in any case.
 */
gboolean experiment_play(const struct experiment *experiment, const struct sink *sink,
                         experiment_progress *progress, void *progress_data,
                         struct backend_result *result, GError **error);

void experiment_clear(struct experiment *experiment);

#endif
