/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which parameters differ from their defaults in one or many resolved scenarios, as key files hold
 * them. The defaults are those of the parameter tables of this program.
 */
#ifndef WEFT_SIM_APP_CHANGES_H
#define WEFT_SIM_APP_CHANGES_H

#include "sim/app/results.h"
#include "sim/core/param.h"

/* A parameter that differs in one scenario or more. */
struct change {
    char *group, *key;
    const struct param
        *param;     /* its row; NULL: the key that chooses a kind, or none that is known */
    char *standard; /* the default as scenarios write it back; "" where there is none */
    char *values;   /* a line each: "400Gbps", or "64KB (MetaRoCE)" where scenarios differ */
};

/*
 * All of them in the order of the files, those that were chosen (kinds, names of transports)
 * included: struct change *; g_ptr_array_unref. Of a sweep, one point of each grid point is read,
 * of those whose folders are there. NULL with an error.
 */
GPtrArray *changes_of(const struct results *results, GError **error);

#endif
