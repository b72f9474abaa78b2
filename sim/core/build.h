/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a builder (topology or workload) is given besides its own parameters, and where it says what
 * it understood.
 */
#ifndef WEFT_SIM_CORE_BUILD_H
#define WEFT_SIM_CORE_BUILD_H

#include "sim/core/fault.h"
#include <glib.h>
#include <stdint.h>

#define BUILD_ERROR build_error_quark()
GQuark build_error_quark(void);

struct build {
    uint64_t seed;
    int64_t end_ps;   /* of the run; for warnings such as "starts after the end" */
    GPtrArray *notes; /* char *, one line each: what was understood, what was ignored and why */
    uint32_t n_hosts_named;   /* hosts that a file speaks of; 0: it names none */
    struct fault_list faults; /* what a builder's file says of links that fail; it may add to it */
};

void build_init(struct build *build, uint64_t seed, int64_t end_ps);
void build_clear(struct build *build);

/* Adds a line, formatted as by printf. */
void build_note(struct build *build, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
