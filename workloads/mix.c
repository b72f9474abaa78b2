/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/mix.h"
#include "sim/core/build.h"
#include <string.h>

#define MOST_WEIGHT 1000000

/* "rocev2:3" or "rocev2", which is a share of 1. */
static bool parse_part(struct mix *mix, struct schedule *schedule, char *part)
{
    char *colon = strrchr(part, ':'), *end = NULL;
    guint64 weight = 1;

    if (colon) {
        *colon = '\0';
        g_strstrip(colon + 1);
        weight = g_ascii_isdigit(colon[1]) ? g_ascii_strtoull(colon + 1, &end, 10) : MOST_WEIGHT;
        if (!end || *end || weight >= MOST_WEIGHT)
            return false;
    }
    g_strstrip(part);
    if (!*part)
        return false;
    mix->profile[mix->n] = schedule_profile(schedule, part);
    mix->weight[mix->n] = (uint32_t)weight;
    mix->sum += (uint32_t)weight;
    mix->n++;
    return true;
}

gboolean mix_init(struct mix *mix, const char *text, struct schedule *schedule, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text ? text : "", ",", -1);
    bool valid = g_strv_length(parts) <= MIX_MOST;

    *mix = (struct mix){0};
    for (char **part = parts; valid && *part; part++)
        valid = parse_part(mix, schedule, *part);
    if (g_strv_length(parts) == 0)
        *mix = (struct mix){.n = 1, .sum = 1, .weight = {1}};
    if (valid && mix->sum > 0)
        return TRUE;
    g_set_error(error, BUILD_ERROR, 0,
                "transports = %s: up to %d names with shares are expected, not all 0, such as "
                "metaroce:1,rocev2:3",
                text, MIX_MOST);
    schedule_clear(schedule);
    return FALSE;
}

/* After k flows a transport of weight w is due k w / sum of them. */
uint32_t mix_next(struct mix *mix)
{
    uint32_t best = 0;
    int64_t most = INT64_MIN;

    mix->n_given++;
    for (uint32_t i = 0; i < mix->n; i++) {
        int64_t lag =
            (int64_t)(mix->n_given * mix->weight[i]) - (int64_t)(mix->given[i] * mix->sum);

        if (mix->weight[i] > 0 && lag > most) {
            most = lag;
            best = i;
        }
    }
    mix->given[best]++;
    return mix->profile[best];
}
