/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The [hosts:NAME] groups of a scenario, laid over its graph. */
#ifndef WEFT_SIM_APP_HOSTS_H
#define WEFT_SIM_APP_HOSTS_H

#include "sim/app/scenario.h"

struct hosts {
    struct host_setting *settings;       /* one a group */
    const struct host_setting **by_host; /* NULL where a host is of no group; NULL: no groups */
};

/*
 * Changes the links of the groups' hosts in `graph` and says who is in which group. The error names
 * the group. hosts_clear() in any case.
 */
gboolean hosts_init(struct hosts *hosts, struct scenario *scenario, struct graph *graph,
                    struct build *build, GError **error);
void hosts_clear(struct hosts *hosts);

/* The profile that `host` uses for an operation that asks for number `index` of `profiles`. */
const struct transport_profile *hosts_profile(const struct hosts *hosts, uint32_t host,
                                              const struct transport_profile *profiles,
                                              uint32_t index);

#endif
