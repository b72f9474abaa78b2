/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schedules of failures of other tools, as one list of faults: SimGrid's state and bandwidth
 * profiles, alone or as a platform names them; and weft's own CSV.
 *
 *   profile     lines TIME VALUE, in seconds; then "LOOPAFTER d": again, d after the last; or a
 *               first line "PERIODICITY d": again every d. VALUE 0 is down and 1 is up where all
 *               are 0 or 1, otherwise bytes a second.
 *   platform    XML; host and link elements with state_file and bandwidth_file
 *
 * A profile alone does not say what it is about: `object`. Of a platform, link k (from 0, in the
 * order of the file) is link:k and host k is nic:k.0; its routes are a fluid model's and are not
 * read. Source: simgrid/simgrid, docs/source/XML_reference.rst and src/kernel/resource/profile.
 */
#ifndef WEFT_SIM_APP_IMPORT_FAULTS_H
#define WEFT_SIM_APP_IMPORT_FAULTS_H

#include "sim/core/build.h"

#define IMPORT_ERROR import_error_quark()
GQuark import_error_quark(void);

/*
 * Adds the file's faults to build->faults and says in its notes what was understood. `object`
 * (NULL: "link:0") is for a profile alone; loops are unrolled until `end` (NULL: "10s").
 */
gboolean import_faults(const char *path, const char *object, const char *end, struct build *build,
                       GError **error);

#endif
