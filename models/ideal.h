/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a message takes on an idle fabric: the denominator of every slowdown. Exact for one path or
 * for equal planes whose NICs all may be used; a lower bound where planes differ.
 *
 * N packets, the last one shorter, through links 1 .. h with transmission times t_j (full) and u_j
 * (last): a permutation flow shop of identical jobs, whose last job ends at
 *   sum of delays + max over b of [ t_1 + ... + t_b + (N - 2) max(t_1 .. t_b) + u_b + ... + u_h ].
 */
#ifndef WEFT_MODELS_IDEAL_H
#define WEFT_MODELS_IDEAL_H

#include "models/route.h"
#include "models/transport.h"

#define IDEAL_MAX_LINKS 64

struct ideal_path {
    uint32_t n_links;
    int64_t delay_ps; /* of all links and switches on the way */
    uint8_t reach;    /* enum graph_reach: of its farthest link */
    int64_t rate_bps[IDEAL_MAX_LINKS];
};

/* The path from NIC port `from` to destination `to`; false if there is none. */
bool ideal_path_find(const struct route *route, uint32_t from, uint32_t to,
                     struct ideal_path *path);

/* n_packets of `packet_bytes` on the wire, the last of `last_bytes`, over one path. */
int64_t ideal_path_ps(const struct ideal_path *path, int64_t n_packets, int64_t packet_bytes,
                      int64_t last_bytes);

/* The same spread over `n_paths` paths, as evenly as can be. */
int64_t ideal_spread_ps(const struct ideal_path *paths, uint32_t n_paths, int64_t n_packets,
                        int64_t packet_bytes, int64_t last_bytes);

/*
 * From the first bit of a full packet of `common` sent by NIC `nic` of src to the last bit of its
 * acknowledgement, on the idle fabric; SINK_NEVER if there is no way.
 */
int64_t ideal_round_trip_ps(const struct route *route, uint32_t src, uint32_t dst, uint32_t nic,
                            const struct transport_common *common);

#endif
