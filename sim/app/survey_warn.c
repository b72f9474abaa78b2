/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What looks wrong in a scenario though it is allowed. */
#include "models/ecn_map.h"
#include "sim/app/faults.h"
#include "sim/app/survey.h"
#include "sim/core/units.h"
#include <string.h>

#define TIMEOUT_UNIT_PS INT64_C(4096000) /* InfiniBand: 4.096 us x 2^exponent */

static void warn(GPtrArray *warnings, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void warn(GPtrArray *warnings, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    g_ptr_array_add(warnings, g_strdup_vprintf(format, list));
    va_end(list);
}

/* --- timeouts --------------------------------------------------------------------------------- */

/* A parameter of a transport by its name; 0 where it has none of that name and type. */
static int64_t value_of(const struct transport_profile *profile, const char *name,
                        enum param_type type)
{
    const struct param *param = param_find(profile->ops->params, name);
    int64_t value = 0;

    if (param && param->type == type)
        memcpy(&value, (const char *)profile->config + param->offset, sizeof value);
    return value;
}

/* "rto", "rto_low" or "timeout_exponent": what the timeout is set by, and how long it is. */
struct timeout {
    const char *key;
    int64_t ps;
};

/* The fixed timeout; one that follows the round trip is below it only if its largest is. */
static struct timeout timeout_of(const struct transport_profile *profile)
{
    struct timeout timeout = {"rto", value_of(profile, "rto", PARAM_TIME)};

    if (timeout.ps == 0 && param_find(profile->ops->params, "timeout_exponent"))
        timeout = (struct timeout){"timeout_exponent",
                                   TIMEOUT_UNIT_PS
                                       << value_of(profile, "timeout_exponent", PARAM_NUMBER)};
    return timeout;
}

static const char *name_of(const struct transport_profile *profile)
{
    return *profile->name ? profile->name : profile->ops->name;
}

static void warn_below(const struct survey_use *use, struct timeout timeout, GPtrArray *warnings)
{
    g_autofree char *rto = units_format(UNITS_TIME, timeout.ps);
    g_autofree char *rtt = units_display(UNITS_TIME, (double)use->most_rtt_ps);

    if (timeout.ps > 0 && timeout.ps < use->most_rtt_ps)
        warn(warnings, "%s: %s = %s is below the unloaded round trip of %s", name_of(use->profile),
             timeout.key, rto, rtt);
}

/* A fixed timeout below the idle round trip fires for every packet; one beyond the end, never. */
static void warn_of_timeouts(const struct survey *survey, const struct run_config *run,
                             GPtrArray *warnings)
{
    static const char *const others[] = {"rto_low", "rto_max"};

    for (uint32_t i = 0; i < survey->n_uses; i++) {
        const struct survey_use *use = &survey->uses[i];
        struct timeout timeout = timeout_of(use->profile);
        g_autofree char *text = units_format(UNITS_TIME, timeout.ps);
        g_autofree char *end = units_format(UNITS_TIME, run->end);

        warn_below(use, timeout, warnings);
        for (size_t k = 0; k < G_N_ELEMENTS(others); k++)
            warn_below(use,
                       (struct timeout){others[k], value_of(use->profile, others[k], PARAM_TIME)},
                       warnings);
        if (timeout.ps >= run->end)
            warn(warnings,
                 "%s: the run ends at %s, before its timeout of %s (%s) can come: a packet whose "
                 "loss only that would notice is never sent again",
                 name_of(use->profile), end, text, timeout.key);
    }
}

/* --- the fabric ------------------------------------------------------------------------------- */

static void warn_of_graph(const struct graph_facts *facts, GPtrArray *warnings)
{
    for (uint32_t tier = 0; tier < G_N_ELEMENTS(facts->oversubscription); tier++)
        if (facts->oversubscription[tier] > 1)
            warn(warnings, "tier %u is oversubscribed %.3g : 1", tier,
                 facts->oversubscription[tier]);
    if (facts->n_unused_switches > 0)
        warn(warnings, "%u switches lie on no shortest path between two hosts",
             facts->n_unused_switches);
    if (facts->n_components > 1)
        warn(warnings, "the hosts fall into %u sets that cannot reach each other",
             facts->n_components);
}

/* Switches that choose alike where a packet is given a choice twice. */
static void warn_of_polarisation(const struct survey *survey, const struct route_config *route,
                                 GPtrArray *warnings)
{
    if (route->seeds == 1 && route->kind == 0 && survey->facts.n_tiers >= 3)
        warn(warnings,
             "[route] seeds = equal: switches of tier 2 choose as those of tier 1 did, so that of "
             "the paths through %u tiers only some are used (polarisation)",
             survey->facts.n_tiers);
}

/* A faster port should not mark earlier than a slower one. */
static void warn_of_marks(const struct experiment *experiment, GPtrArray *warnings)
{
    const struct queue_config *config = &experiment->scenario->model.queue;
    g_autoptr(GError) error = NULL;
    struct ecn_map map;

    if (!ecn_map_init(&map, config, queue_list[config->kind], &experiment->graph, &error)) {
        warn(warnings, "%s", error->message);
        return;
    }
    for (uint32_t i = 1; i < map.n; i++)
        for (uint32_t k = 1; k < map.n; k++) {
            const struct queue_rule *slow = &map.rules[i], *fast = &map.rules[k];
            g_autofree char *slow_rate = units_format(UNITS_RATE, map.rate_bps[i]);
            g_autofree char *fast_rate = units_format(UNITS_RATE, map.rate_bps[k]);

            if (map.rate_bps[i] < map.rate_bps[k] &&
                (slow->kmin_bytes > fast->kmin_bytes || slow->kmax_bytes > fast->kmax_bytes))
                warn(warnings,
                     "[queue] ecn_map: thresholds are not monotone in speed: ports of %s mark from "
                     "%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                     " B, those of %s from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " B",
                     slow_rate, slow->kmin_bytes, slow->kmax_bytes, fast_rate, fast->kmin_bytes,
                     fast->kmax_bytes);
        }
}

/* --- the schedule ----------------------------------------------------------------------------- */

static void warn_of_schedule(const struct survey *survey, const struct schedule *schedule,
                             GPtrArray *warnings)
{
    if (survey->n_inner_groups > 0 && survey->facts.n_tiers > 1) {
        const struct schedule_group *group = schedule_group(schedule, survey->inner_group);

        warn(warnings,
             "%u of %u collectives, such as %s over %u ranks, never leave the switch that their "
             "hosts share: they say nothing of the fabric above it",
             survey->n_inner_groups, schedule->groups->len, group->name, group->n_ranks);
    }
    if (survey->n_late > 0)
        warn(warnings, "%" G_GUINT64_FORMAT " messages start after the end of the run",
             survey->n_late);
    if (survey->n_unreachable > 0)
        warn(warnings, "%" G_GUINT64_FORMAT " messages have no path", survey->n_unreachable);
    if (survey->n_messages == 0)
        warn(warnings, "the schedule has no messages");
}

GPtrArray *survey_warnings(const struct survey *survey, const struct experiment *experiment)
{
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    const struct scenario *scenario = experiment->scenario;

    warn_of_graph(&survey->facts, warnings);
    warn_of_polarisation(survey, &scenario->model.route, warnings);
    warn_of_marks(experiment, warnings);
    warn_of_timeouts(survey, &scenario->run, warnings);
    faults_warn(&experiment->build, warnings);
    warn_of_schedule(survey, &experiment->schedule, warnings);
    return warnings;
}
