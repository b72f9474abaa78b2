/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/ecn_map.h"
#include "sim/core/units.h"
#include <string.h>

static gboolean refuse(const struct queue_config *config, GError **error, const char *part,
                       const char *why)
{
    g_set_error(error, GRAPH_ERROR, 0, "[queue] ecn_map = %s: '%s': %s", config->ecn_map, part,
                why);
    return FALSE;
}

/* "100Gbps 400KB 1600KB 20%" */
static gboolean take_entry(struct ecn_map *map, const struct queue_config *config,
                           const struct queue_ops *queue, const char *part, GError **error)
{
    static const enum units_kind kinds[] = {UNITS_RATE, UNITS_BYTES, UNITS_BYTES, UNITS_RATIO};
    g_auto(GStrv) words = g_strsplit_set(part, " \t", -1);
    struct queue_config own = *config;
    int64_t values[4];
    const char *why = NULL;
    unsigned n = 0;

    for (int i = 0; words[i]; i++) {
        if (*words[i] == '\0')
            continue;
        if (n < 4 && !units_parse(kinds[n], words[i], &values[n], &why))
            return refuse(config, error, part, why);
        n++;
    }
    if (n != 4 || map->n > ECN_MAP_MOST)
        return refuse(config, error, part,
                      n == 4
                          ? "64 entries are the most"
                          : "RATE KMIN KMAX PMAX are expected, such as 100Gbps 400KB 1600KB 20%");
    if (values[0] <= 0 || values[1] < 0 || values[2] < values[1] || values[3] < 0 ||
        values[3] > UNITS_PPT)
        return refuse(config, error, part,
                      "kmax not below kmin and a probability from 0 to 1 are expected");
    for (uint32_t i = 1; i < map->n; i++)
        if (map->rate_bps[i] == values[0])
            return refuse(config, error, part, "this rate is given twice");
    own.kmin = values[1];
    own.kmax = values[2];
    own.pmax = values[3];
    map->rate_bps[map->n] = values[0];
    queue->derive(&own, &map->rules[map->n++]);
    return TRUE;
}

uint8_t ecn_map_find(const struct ecn_map *map, int64_t rate_bps)
{
    for (uint32_t i = 1; i < map->n; i++)
        if (map->rate_bps[i] == rate_bps)
            return (uint8_t)i;
    return 0;
}

static gboolean check_ports(const struct ecn_map *map, const struct graph *graph, GError **error)
{
    for (uint32_t port = 0; map->n > 1 && port < 2 * graph->n_links; port++) {
        const struct graph_link *link = &graph->links[port / 2];

        if (!graph->nodes[graph_port_node(graph, port)].is_switch ||
            ecn_map_find(map, link->rate_bps))
            continue;
        g_autofree char *rate = units_format(UNITS_RATE, link->rate_bps);

        g_set_error(error, GRAPH_ERROR, 0,
                    "[queue] ecn_map: no entry for %s, the rate of link %u (nodes %u and %u)", rate,
                    port / 2, link->a, link->b);
        return FALSE;
    }
    return TRUE;
}

gboolean ecn_map_init(struct ecn_map *map, const struct queue_config *config,
                      const struct queue_ops *queue, const struct graph *graph, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(config->ecn_map ? config->ecn_map : "", ";", -1);

    map->n = 1;
    queue->derive(config, &map->rules[0]);
    for (int i = 0; parts[i]; i++)
        if (*g_strstrip(parts[i]) && !take_entry(map, config, queue, parts[i], error))
            return FALSE;
    return check_ports(map, graph, error);
}
