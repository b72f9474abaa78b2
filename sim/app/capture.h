/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of chosen links as a capture file that tcpdump, Wireshark and tshark read: an observer
 * that writes them through libpcap with nanosecond stamps, both directions, as if the tap were at
 * the sending end: stamped when the last bit enters the wire, also if the wire loses it then.
 */
#ifndef WEFT_SIM_APP_CAPTURE_H
#define WEFT_SIM_APP_CAPTURE_H

#include "models/observer.h"
#include "sim/app/experiment.h"

#define CAPTURE_ERROR capture_error_quark()
GQuark capture_error_quark(void);

struct capture;

/*
 * A capture of the links that `links` names, by commas: numbers, or objects of links as faults have
 * them (nic:5.0, link:3-17, switch:70, plane:1). Writes to `path` with a temporary name until it is
 * closed. It becomes the experiment's observer. NULL with an error.
 */
struct capture *capture_new(struct experiment *experiment, const char *links, const char *path,
                            GError **error);

/* Writes what is left and gives the file its name. Frees it in any case. */
gboolean capture_close(struct capture *capture, GError **error);

/* Removes the file; NULL is let pass. */
void capture_abort(struct capture *capture);

#endif
