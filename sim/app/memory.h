/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory this process may still take: what the system has available, what its control
 * group allows (version 1 or 2; a Slurm job has one), and its own limit of address space.
 */
#ifndef WEFT_SIM_APP_MEMORY_H
#define WEFT_SIM_APP_MEMORY_H

#include "sim/app/survey.h"

/* Bytes that may be in use by this process, those it has already among them. */
double memory_available_bytes(void);

/* FALSE with the numbers if the run would not fit, and [run] memory = refuse. */
gboolean memory_check(const struct experiment *experiment, const struct survey *survey,
                      GError **error);

#endif
