/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The story of chosen messages from what a journal recorded: as text, an event a line in order of
 * time, or as a trace in the JSON of Chrome's about:tracing, which Perfetto reads too: messages
 * with their packets and each packet's waits and wires, what the ports they crossed sent and had
 * waiting, and of the whole schedule operations by rank, elements by message engine and
 * collectives.
 */
#ifndef WEFT_SIM_APP_TRACE_H
#define WEFT_SIM_APP_TRACE_H

#include "sim/app/replay.h"
#include <stdio.h>

/* `ops`: uint64_t, messages that were asked for. */
void trace_text(const struct replay *replay, const GArray *ops, FILE *out);
void trace_chrome(const struct replay *replay, const GArray *ops, FILE *out);

#endif
