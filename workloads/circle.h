/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the operations of a schedule that a file describes wait for themselves: without it, the
 * run would only say at its end that they never began.
 */
#ifndef WEFT_WORKLOADS_CIRCLE_H
#define WEFT_WORKLOADS_CIRCLE_H

#include "sim/core/schedule.h"

/*
 * One circle of a finished, stored schedule: uint64_t operations, each waits for the one after it
 * and the last for the first; g_array_unref. NULL: there is none. Operations that can never begin
 * for lack of an edge (n_needed above their edges) are no circle and are taken as done.
 */
GArray *circle_find(const struct schedule *schedule);

#endif
