/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shortest paths between two hosts, for people: weft check --paths A,B. */
#ifndef WEFT_SIM_APP_PATHS_H
#define WEFT_SIM_APP_PATHS_H

#include "sim/app/experiment.h"

/* Prints them, plane by plane; the error says which host there is not. `text` is "A,B". */
gboolean paths_print(const struct experiment *experiment, const char *text, GError **error);

#endif
