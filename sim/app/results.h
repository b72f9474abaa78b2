/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder of results, as `weft plot` and `weft report` read it: which of the four kinds it is, its
 * tables and its settings. results/README.md describes the files. They are all that is read;
 * nothing is played or built.
 */
#ifndef WEFT_SIM_APP_RESULTS_H
#define WEFT_SIM_APP_RESULTS_H

#include "sim/app/keyfile.h"
#include "sim/core/table.h"
#include <stdbool.h>

#define RESULTS_ERROR results_error_quark()
GQuark results_error_quark(void);

enum results_kind {
    RESULTS_RUN,        /* summary.csv of metric,value,unit */
    RESULTS_RUNS,       /* no summary.csv, but folders below that are runs */
    RESULTS_COMPARISON, /* a row a point: case,variant,KEY,... */
    RESULTS_SWEEP,      /* a row a grid point: grid,... */
};

struct results {
    char *folder; /* as given, without a slash at its end */
    enum results_kind kind;
    char *title;
    struct table *summary; /* NULL for RESULTS_RUNS */
    GPtrArray *settings; /* struct keyfile_line *, of a run's or a comparison's scenario.ini; NULL:
                            there is none */
};

/* Reads summary.csv and scenario.ini. NULL with an error that says what is missing. */
struct results *results_read(const char *folder, GError **error);
void results_free(struct results *results);

const char *results_kind_name(enum results_kind kind); /* "run", "set of runs", ... */

/* FOLDER/FILE; g_free. */
char *results_path(const struct results *results, const char *file);

/* Whether the folder has the file. */
bool results_has(const struct results *results, const char *file);

/* The value of a key in lines of a key file, or NULL. */
const char *results_setting(const GPtrArray *lines, const char *group, const char *key);

/* The value of a metric in a run's summary, or NULL where it is absent or empty. */
const char *results_metric(const struct table *summary, const char *metric);

/* One run of those that the folder holds. */
struct results_run {
    char *
        label; /* what it is beside the others: choices of a sweep, name of a folder; "" if alone */
    char *seed; /* NULL: not known; runs of one label follow each other */
    char *folder;
    char **axes; /* of a sweep, name and cell in turn, NULL at the end; otherwise empty */
};

/* The run itself, the folders below, or the finished points of a sweep whose folders are there,
 * none where it has no points.csv; a comparison keeps none. struct results_run *;
 * g_ptr_array_unref. NULL with an error. */
GPtrArray *results_runs(const struct results *results, GError **error);

#endif
