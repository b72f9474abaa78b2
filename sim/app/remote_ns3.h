/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ns-3 backends as weft sees them: the program weft-ns3, which plays the resolved scenario and
 * sends back what it tells its sink. So ns-3 and GSL meet in no program of ours, and a run on ns-3
 * writes its files by the same code as any other.
 *
 * weft-ns3 is what the environment's WEFT_NS3 names, or it lies beside this program or in a folder
 * above it (a test's).
 */
#ifndef WEFT_SIM_APP_REMOTE_NS3_H
#define WEFT_SIM_APP_REMOTE_NS3_H

#include "models/backend.h"

#define REMOTE_ERROR remote_error_quark()
GQuark remote_error_quark(void);

extern const struct backend_ops remote_ns3_p2p, remote_ns3_ip;

/*
 * Plays as these do, in `form` "p2p" or "ip", and says how much CPU time the play alone has taken.
 * run->recorder, if there is one, is filled.
 */
gboolean remote_ns3_play(const char *form, const struct backend_run *run, const struct sink *sink,
                         struct backend_result *result, double *cpu_s, GError **error);

#endif
