/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds of ECN by the rate of a port, as fabrics of mixed speeds set them: "RATE KMIN KMAX
 * PMAX" with ';' between, such as "25Gbps 100KB 400KB 20%; 100Gbps 400KB 1600KB 20%". Source:
 * HPCC's KMIN_MAP, KMAX_MAP and PMAX_MAP, one list instead of three.
 */
#ifndef WEFT_MODELS_ECN_MAP_H
#define WEFT_MODELS_ECN_MAP_H

#include "models/queue.h"

#define ECN_MAP_MOST 64

/* Entry 0 is what [queue] says, the default of a port; the map's follow. */
struct ecn_map {
    uint32_t n;
    int64_t rate_bps[ECN_MAP_MOST + 1];
    struct queue_rule rules[ECN_MAP_MOST + 1];
};

/*
 * Derives the rules of `config`, and of its ecn_map if there is one; then every port of a switch in
 * `graph` must find its rate in it: the error names the link, its rate and the key.
 */
gboolean ecn_map_init(struct ecn_map *map, const struct queue_config *config,
                      const struct queue_ops *queue, const struct graph *graph, GError **error);

/* The entry for a port of this rate. */
uint8_t ecn_map_find(const struct ecn_map *map, int64_t rate_bps);

#endif
