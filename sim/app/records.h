/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run as a stream of records, from the process that plays it to the one that asked for it: what
 * goes into a sink, how far it is, what the recorder saw, how it ended. Each record is its kind,
 * its length and a GVariant of that kind's type; both processes must be of one version, which the
 * first record says.
 */
#ifndef WEFT_SIM_APP_RECORDS_H
#define WEFT_SIM_APP_RECORDS_H

#include "models/backend.h"
#include "models/recorder.h"
#include <gio/gio.h>
#include <stdio.h>

#define RECORDS_ERROR records_error_quark()
GQuark records_error_quark(void);

/* --- what a sink is told, as values: floating --- */

GVariant *records_flow(const struct sink_flow *flow);
GVariant *records_port(const struct sink_port *port);
GVariant *records_group(const struct sink_group *group);
GVariant *records_metric(const struct sink_metric *metric);
GVariant *records_series(const struct sink_series *series);

/* --- writing; write errors end the process by SIGPIPE or are seen at the end --- */

/* Writes the version; then what the sink is told goes to `stream`. */
struct sink records_sink(FILE *stream);

/* A progress function, `data` is the stream; never stops the run. */
void records_progress(FILE *stream, const struct backend_progress *progress);

void records_recorder(FILE *stream, const struct recorder *recorder);

/* The last record: how it ended, or why it could not be played (`error`). */
void records_end(FILE *stream, const struct backend_result *result, double cpu_s,
                 const GError *error);

/* --- reading --- */

struct records_reader {
    const struct sink *sink;
    struct recorder *recorder; /* is filled; NULL: none was asked for */
    void (*progress)(void *data, const struct backend_progress *progress);
    void *progress_data;
    /* given back */
    double cpu_s; /* of the play */
};

/*
 * Reads to the end. FALSE with an error if the stream breaks off, is of another version, or says
 * that the run could not be played or broke; the outcome is in `result` in any case.
 */
gboolean records_read(struct records_reader *reader, GInputStream *stream,
                      struct backend_result *result, GError **error);

#endif
