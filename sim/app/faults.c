/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/faults.h"
#include "sim/core/units.h"

/* Sets "[fault:NAME] key = value: what would be right", with the place where it stands. */
static gboolean refuse(const struct scenario *scenario, const struct scenario_fault *group,
                       const char *key, const char *why, GError **error)
{
    g_autofree char *name = g_strdup_printf("fault:%s", group->name);
    const struct scenario_entry *entry = scenario_entry(scenario, name, key);

    if (entry)
        scenario_entry_error(entry, error, "%s", why);
    else
        g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_VALUE, "[%s] %s: %s", name, key, why);
    return FALSE;
}

static gboolean add_group(const struct scenario *scenario, const struct scenario_fault *group,
                          struct fault_list *list, GError **error)
{
    const struct scenario_fault_config *config = &group->config;
    g_autofree char *name = g_strdup_printf("fault:%s", group->name);
    struct fault fault = {.name = name,
                          .at_ps = config->at,
                          .until_ps = config->until == PARAM_AUTO ? FAULT_NEVER : config->until,
                          .flap_period_ps = config->flap_period,
                          .flap_time_ps = config->flap_time,
                          .flap_count = config->flap_count};
    const char *why = NULL;

    if (!fault_parse_object(config->object, &fault.object, &why))
        return refuse(scenario, group, "object", why, error);
    if (!fault_parse_change(config->change, &fault, &why))
        return refuse(scenario, group, "change", why, error);
    if (!fault_check(&fault, error))
        return FALSE;
    fault_list_add(list, &fault);
    return TRUE;
}

gboolean faults_add(const struct scenario *scenario, struct build *build, GError **error)
{
    for (guint i = 0; i < scenario->faults->len; i++)
        if (!add_group(scenario, g_ptr_array_index(scenario->faults, i), &build->faults, error))
            return FALSE;
    return !*scenario->model.faults.file ||
           fault_list_read(&build->faults, scenario->model.faults.file, error);
}

gboolean faults_check(const struct build *build, const struct graph *graph, GError **error)
{
    GArray *steps = fault_list_resolve(&build->faults, graph, build->end_ps, error);

    if (steps)
        g_array_unref(steps);
    return steps != NULL;
}

void faults_warn(const struct build *build, GPtrArray *warnings)
{
    for (guint i = 0; i < build->faults.faults->len; i++) {
        const struct fault *fault = fault_at(&build->faults, i);
        g_autofree char *what = fault_describe(fault), *end = NULL;

        if (fault->at_ps <= build->end_ps)
            continue;
        end = units_format(UNITS_TIME, build->end_ps);
        g_ptr_array_add(warnings, g_strdup_printf("%s: %s: after the end of the run (%s)",
                                                  fault->name, what, end));
    }
}
