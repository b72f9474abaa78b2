/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From layers of keys to typed configurations, by the parameter tables. */
#include "sim/app/kinds.h"
#include "sim/app/remote_ns3.h"
#include "sim/app/scenario.h"
#include "sim/app/scenario_private.h"
#include <string.h>

const struct param scenario_head_params[] = {
    PARAM(TEXT, struct scenario_head, title, "", NULL, NULL, NULL,
          "What the scenario shows, for tables and plots.", "our choice"),
    PARAM(TEXT, struct scenario_head, base, "", NULL, NULL, NULL,
          "Key files below this one, by ';': beside it, or names of ready scenarios; its own keys "
          "win over theirs.",
          "our choice"),
    PARAM_END,
};

const struct param scenario_run_params[] = {
    PARAM(NUMBER, struct run_config, seed, "1", "0", NULL, NULL,
          "Seed of every random stream; the same seed gives the same bytes.", "our choice"),
    PARAM(TIME, struct run_config, end, "10s", "1ps", NULL, NULL,
          "Simulated time at which the run stops, finished or not.",
          "our choice: far beyond any healthy run, near enough to end a sick one"),
    PARAM(CHOICE, struct run_config, backend, "native", NULL, NULL, "native|ns3:p2p|ns3:ip",
          "Which backend plays the schedule.", "our choice"),
    PARAM(BOOL, struct run_config, flows, "on", NULL, NULL, NULL,
          "Write flows.csv, one row a message.", "our choice"),
    PARAM(BOOL, struct run_config, ports, "on", NULL, NULL, NULL,
          "Write ports.csv, one row a direction of a link.", "our choice"),
    PARAM(TIME, struct run_config, series_step, "0ps", NULL, NULL, NULL,
          "Write series.csv: what happened in each step of this length; 0: not.",
          "our choice: the file is large"),
    PARAM(
        BOOL, struct run_config, series_file, "on", NULL, NULL, NULL,
        "Write series.csv where there is a series_step; off: only the rows of summary.csv that are "
        "measured on it.",
        "our choice"),
    PARAM(TEXT, struct run_config, series, "flow,port,plane,host", NULL, NULL, NULL,
          "Objects of series.csv: some of flow, port, plane, host, by commas.", "our choice: all"),
    PARAM(BOOL, struct run_config, json_lines, "off", NULL, NULL, NULL,
          "Write every .csv as .jsonl too: a JSON object a row.", "our choice"),
    PARAM(BOOL, struct run_config, fct, "off", NULL, NULL, NULL,
          "Write fct.txt: the completion times of flows as HPCC's ns-3 does.", "our choice"),
    PARAM(
        TEXT, struct run_config, pcap, "", NULL, NULL, NULL,
        "Write capture.pcap: the packets of these links, by commas, as their numbers or as faults "
        "name links; of weft run.",
        "our choice: none, the file is large"),
    PARAM(CHOICE, struct run_config, memory, "refuse", NULL, NULL, "refuse|ignore",
          "What to do with a run that would need more memory than there is, as estimated.",
          "our choice: better before the run than in it"),
    PARAM_END,
};

#define HOST_ROW(type_, name_, value_, most_, help_)                                               \
    {                                                                                              \
        .name = #name_, .type = PARAM_##type_,                                                     \
        .offset = offsetof(struct scenario_hosts_config, host.name_), .value = value_,             \
        .most = most_, .help = help_, .source = "as [host] has it"                                 \
    }

const struct param scenario_hosts_params[] = {
    PARAM(TEXT, struct scenario_hosts_config, ranks, "", NULL, NULL, NULL,
          "Hosts of the group, such as 0-31 or 0,2,4-7; a host is in one group at most.",
          "our choice: has to be said"),
    PARAM(TEXT, struct scenario_hosts_config, transport, "", NULL, NULL, NULL,
          "Which [transport:NAME], or transport, they use for flows that ask for none; empty: "
          "[transport].",
          "our choice: as all others"),
    PARAM(TIME, struct scenario_hosts_config, nic_delay, "0ps", NULL, "1s", NULL,
          "What the NIC adds to each packet on its way out, and again on its way in.",
          "our choice: the network alone"),
    PARAM(RATE, struct scenario_hosts_config, link_rate, "0bps", NULL, "100Tbps", NULL,
          "Rate of each of their links, both directions; 0: as the topology says.",
          "our choice: as all others"),
    PARAM(NUMBER, struct scenario_hosts_config, planes, "0", NULL, "16", NULL,
          "They use their NIC ports on this many planes, the first ones; 0: all.",
          "our choice: as all others"),
    HOST_ROW(TIME, issue_time, "0ps", "1s",
             "Time from an operation being ready to its message being handed to the transport."),
    HOST_ROW(TIME, notify_time, "0ps", "1s",
             "Time from the last byte placed to the receiving program knowing it."),
    HOST_ROW(RATE, reduce_rate, "0bps", NULL,
             "Speed of reductions, in bits of input per second; 0: they take no time."),
    PARAM_END,
};

const struct param scenario_fault_params[] = {
    PARAM(TEXT, struct scenario_fault_config, object, "", NULL, NULL, NULL,
          "What it happens to: link:N, link:NODE-NODE, nic:HOST.PORT, plane:N, switch:NODE, "
          "switch:sN, switch:TIER.PLANE.N or uplink:TIER.PLANE.N.K.",
          "our choice: has to be said"),
    PARAM(TEXT, struct scenario_fault_config, change, "down", NULL, NULL, NULL,
          "What happens: down, up, rate=100Gbps, rate=50% (of the topology's) or loss=0.01.",
          "our choice: the plain case"),
    PARAM(TIME, struct scenario_fault_config, at, "0ps", NULL, NULL, NULL, "When it happens.",
          "our choice: from the start"),
    PARAM(TIME, struct scenario_fault_config, until, "never", NULL, NULL, "never",
          "When it is undone.", "our choice: for good"),
    PARAM(TIME, struct scenario_fault_config, flap_period, "0ps", NULL, NULL, NULL,
          "It comes and goes: time from one coming to the next; 0: it stays.",
          "our choice: it stays"),
    PARAM(TIME, struct scenario_fault_config, flap_time, "0ps", NULL, NULL, NULL,
          "How long it holds in each flap_period.", "our choice: no default can be meant"),
    PARAM(NUMBER, struct scenario_fault_config, flap_count, "0", NULL, NULL, NULL,
          "How often it comes; 0: until `until`, or the run's end.", "our choice"),
    PARAM_END,
};

const struct backend_ops *const scenario_backends[] = {&backend_native, &remote_ns3_p2p,
                                                       &remote_ns3_ip, NULL};

/* --- one key ---------------------------------------------------------------------------------- */

bool scenario_param_is_path(const struct param *param)
{
    return param->type == PARAM_TEXT &&
           (strcmp(param->name, "file") == 0 || g_str_has_suffix(param->name, "_file"));
}

/* param_set()'s message begins with the value, which the place has named already. */
static void wrong_value(const struct scenario_entry *entry, const GError *why, GError **error)
{
    g_autofree char *quoted = g_strdup_printf("'%s': ", entry->value);
    const char *message = why->message;

    if (g_str_has_prefix(message, quoted))
        message += strlen(quoted);
    scenario_entry_error(entry, error, "%s%s", message,
                         strstr(entry->value, " #") ? " (a comment needs a line of its own)" : "");
}

static gboolean set_param(const struct param *param, void *config,
                          const struct scenario_entry *entry, GError **error)
{
    g_autoptr(GError) why = NULL;
    g_autofree char *path = NULL;
    const char *value = entry->value;

    if (scenario_param_is_path(param) && *value && !g_path_is_absolute(value) &&
        strcmp(entry->folder, ".") != 0)
        value = path = g_build_filename(entry->folder, value, NULL);
    if (param_set(param, config, value, &why))
        return TRUE;
    wrong_value(entry, why, error);
    return FALSE;
}

/* `extra` is the key that names the kind, or NULL. */
static void unknown_key(const struct scenario_entry *entry, const struct param *table,
                        const char *extra, const char *kind, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *near;

    if (extra)
        g_ptr_array_add(names, (char *)(uintptr_t)extra);
    for (const struct param *param = table; param->name; param++)
        g_ptr_array_add(names, (char *)(uintptr_t)param->name);
    near = param_nearest(entry->key, (const char *const *)names->pdata, names->len);
    scenario_entry_error(entry, error, "%s%s%s no key '%s'%s%s%s (weft params %s)",
                         kind ? "'" : "[", kind ? kind : entry->group, kind ? "' has" : "] has",
                         entry->key, near ? "; did you mean '" : "", near ? near : "",
                         near ? "'?" : "", kind ? kind : entry->group);
}

static gboolean fill(const struct scenario *scenario, const char *group, const struct param *table,
                     void *config, GError **error)
{
    struct scenario_walk walk = {.group = group};
    const struct scenario_entry *entry;

    while ((entry = scenario_next(scenario, &walk))) {
        const struct param *param = param_find(table, entry->key);

        if (!param)
            unknown_key(entry, table, NULL, NULL, error);
        if (!param || !set_param(param, config, entry, error))
            return FALSE;
    }
    return TRUE;
}

gboolean scenario_fill(const struct scenario *scenario, const char *group,
                       const struct param *table, void *config, GError **error)
{
    param_defaults(table, config);
    return fill(scenario, group, table, config, error);
}

/* --- groups with a kind ----------------------------------------------------------------------- */

/* Finds the kind that an entry names. */
static gboolean named_kind(const struct seam *seam, const struct scenario_entry *entry,
                           struct kind *kind, GError **error)
{
    g_autofree const char **names = NULL;
    g_autofree char *all = NULL;
    size_t n;
    const char *near;

    if (kinds_find(seam, entry->value, kind))
        return TRUE;
    names = kinds_names(seam, &n);
    near = param_nearest(entry->value, names, n);
    names = g_renew(const char *, names, n + 1);
    names[n] = NULL;
    all = g_strjoinv(", ", (char **)(uintptr_t)names);
    scenario_entry_error(entry, error, "no %s is called so; there are %s%s%s%s", seam->group, all,
                         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return FALSE;
}

/*
 * Sets the keys of a group that has a kind. Keys from below `kind_layer`, where the kind was
 * chosen, may belong to the kind that was chosen before: those are dropped.
 */
static gboolean fill_kind(const struct scenario *scenario, const char *group,
                          const struct seam *seam, const struct kind *kind, guint kind_layer,
                          void *config, GError **error)
{
    struct scenario_walk walk = {.group = group};
    const struct scenario_entry *entry;

    while ((entry = scenario_next(scenario, &walk))) {
        const struct param *param = param_find(kind->params, entry->key);

        if (strcmp(entry->key, seam->key) == 0)
            continue;
        if (!param && walk.layer < kind_layer && kinds_any_has(seam, entry->key))
            continue;
        if (!param)
            unknown_key(entry, kind->params, seam->key, kind->name, error);
        if (!param || !set_param(param, config, entry, error))
            return FALSE;
    }
    return TRUE;
}

/*
 * [topology], [workload] and [workload:NAME], which must name their kind. `config` is set with
 * `kind`.
 */
static gboolean resolve_kind(const struct scenario *scenario, const char *group,
                             const struct seam *seam, struct kind *kind, void **config,
                             GError **error)
{
    guint layer = 0;
    const struct scenario_entry *entry = scenario_last(scenario, group, seam->key, &layer);

    if (!entry) {
        g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_VALUE,
                    "no %s: [%s] %s is missing; give it in the scenario, or --%s NAME (weft list "
                    "%s)",
                    seam->group, group, seam->key, seam->group, seam->plural);
        return FALSE;
    }
    if (!named_kind(seam, entry, kind, error))
        return FALSE;
    *config = g_malloc0(kind->config_size);
    param_defaults(kind->params, *config);
    return fill_kind(scenario, group, seam, kind, layer, *config, error);
}

static void release_config(const struct param *params, void *config)
{
    if (config)
        param_clear(params, config);
    g_free(config);
}

/* --- transports ------------------------------------------------------------------------------- */

static void profile_free(void *data)
{
    struct transport_profile *profile = data;

    release_config(profile->ops->params, profile->config);
    g_free(profile->name);
    g_free(profile);
}

static struct transport_profile *profile_new(struct scenario *scenario, const char *name,
                                             const struct transport_ops *ops)
{
    struct transport_profile *profile = g_new(struct transport_profile, 1);

    *profile = (struct transport_profile){g_strdup(name), ops, g_malloc0(ops->config_size)};
    param_defaults(ops->params, profile->config);
    g_ptr_array_add(scenario->profiles, profile);
    return profile;
}

static void inherit(struct transport_profile *profile, const struct transport_profile *from)
{
    param_clear(profile->ops->params, profile->config);
    param_copy(from->ops->params, from->config, profile->config, from->ops->config_size);
}

/* `entry` names the transport, or is NULL. */
static gboolean check_profile(const struct transport_profile *profile,
                              const struct scenario_entry *entry, GError **error)
{
    const char *fault = transport_fault(profile->ops);

    if (fault) {
        g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_VALUE, "transport '%s' is not whole: %s",
                    profile->ops->name, fault);
        return FALSE;
    }
    if (profile->ops->check && !profile->ops->check(profile->config, error)) {
        if (entry)
            g_prefix_error(error, "%s: ", entry->where);
        else
            g_prefix_error(error, "transport '%s': ", profile->ops->name);
        return FALSE;
    }
    return TRUE;
}

/*
 * [transport] (name "") or [transport:NAME]. A profile of the same transport begins with the values
 * of [transport]; one without a name of its own takes that of [transport].
 */
static gboolean resolve_profile(struct scenario *scenario, const char *group, const char *name,
                                GError **error)
{
    const struct seam *seam = kinds_seam("transport");
    const struct transport_profile *main_profile =
        scenario->profiles->len > 0 ? g_ptr_array_index(scenario->profiles, 0) : NULL;
    guint layer = 0;
    const struct scenario_entry *entry = scenario_last(scenario, group, seam->key, &layer);
    struct transport_profile *profile;
    struct kind kind;

    if (!entry)
        entry = scenario_last(scenario, seam->group, seam->key, &layer);
    if (entry ? !named_kind(seam, entry, &kind, error) : !seam->at(0, &kind))
        return FALSE;
    profile = profile_new(scenario, name, kind.ops);
    if (main_profile && main_profile->ops == profile->ops)
        inherit(profile, main_profile);
    return fill_kind(scenario, group, seam, &kind, layer, profile->config, error) &&
           check_profile(profile, entry, error);
}

static gboolean resolve_profiles(struct scenario *scenario, GError **error)
{
    g_autoptr(GPtrArray) groups = scenario_groups(scenario, "transport:");

    scenario->profiles = g_ptr_array_new_with_free_func(profile_free);
    if (!resolve_profile(scenario, "transport", "", error))
        return FALSE;
    for (guint i = 0; i < groups->len; i++) {
        const char *group = g_ptr_array_index(groups, i);

        if (!resolve_profile(scenario, group, group + strlen("transport:"), error))
            return FALSE;
    }
    return TRUE;
}

const struct transport_profile *scenario_profile(struct scenario *scenario, const char *name,
                                                 GError **error)
{
    struct transport_profile *first = g_ptr_array_index(scenario->profiles, 0);
    const struct transport_ops *ops;

    for (guint i = 0; i < scenario->profiles->len; i++) {
        struct transport_profile *profile = g_ptr_array_index(scenario->profiles, i);

        if (strcmp(profile->name, name) == 0)
            return profile;
    }
    if (strcmp(first->ops->name, name) == 0)
        return first;
    ops = transport_find(name);
    if (ops)
        return profile_new(scenario, name, ops);
    g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_VALUE,
                "the workload asks for transport '%s': there is no [transport:%s] in the scenario "
                "and no transport of that name (weft list transports)",
                name, name);
    return NULL;
}

/* --- groups of hosts -------------------------------------------------------------------------- */

static void hosts_free(void *data)
{
    struct scenario_hosts *hosts = data;

    param_clear(scenario_hosts_params, &hosts->config);
    g_free(hosts->name);
    g_free(hosts);
}

/* Begins with the values of [host], which has been filled. */
static gboolean resolve_hosts(struct scenario *scenario, GError **error)
{
    g_autoptr(GPtrArray) groups = scenario_groups(scenario, "hosts:");

    for (guint i = 0; i < groups->len; i++) {
        const char *group = g_ptr_array_index(groups, i);
        struct scenario_hosts *hosts = g_new0(struct scenario_hosts, 1);

        hosts->name = g_strdup(group + strlen("hosts:"));
        param_defaults(scenario_hosts_params, &hosts->config);
        hosts->config.host = scenario->model.host;
        g_ptr_array_add(scenario->hosts, hosts);
        if (!fill(scenario, group, scenario_hosts_params, &hosts->config, error))
            return FALSE;
    }
    return TRUE;
}

/* --- faults ----------------------------------------------------------------------------------- */

static void fault_free(void *data)
{
    struct scenario_fault *fault = data;

    param_clear(scenario_fault_params, &fault->config);
    g_free(fault->name);
    g_free(fault);
}

static gboolean resolve_faults(struct scenario *scenario, GError **error)
{
    g_autoptr(GPtrArray) groups = scenario_groups(scenario, "fault:");

    for (guint i = 0; i < groups->len; i++) {
        const char *group = g_ptr_array_index(groups, i);
        struct scenario_fault *fault = g_new0(struct scenario_fault, 1);

        fault->name = g_strdup(group + strlen("fault:"));
        g_ptr_array_add(scenario->faults, fault);
        if (!scenario_fill(scenario, group, scenario_fault_params, &fault->config, error))
            return FALSE;
    }
    return TRUE;
}

/* --- traffic beside --------------------------------------------------------------------------- */

static void workload_free(void *data)
{
    struct scenario_workload *workload = data;

    if (workload->ops)
        release_config(workload->ops->params, workload->config);
    g_free(workload->name);
    g_free(workload);
}

static gboolean resolve_beside(struct scenario *scenario, GError **error)
{
    g_autoptr(GPtrArray) groups = scenario_groups(scenario, "workload:");

    for (guint i = 0; i < groups->len; i++) {
        const char *group = g_ptr_array_index(groups, i);
        struct scenario_workload *workload = g_new0(struct scenario_workload, 1);
        struct kind kind = {0};
        gboolean ok;

        workload->name = g_strdup(group + strlen("workload:"));
        g_ptr_array_add(scenario->beside, workload);
        ok = resolve_kind(scenario, group, kinds_seam("workload"), &kind, &workload->config, error);
        workload->ops = kind.ops;
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void *group_config(struct scenario *scenario, const struct model_group *group)
{
    return (char *)&scenario->model + group->offset;
}

void scenario_unresolve(struct scenario *scenario)
{
    if (scenario->topology)
        release_config(scenario->topology->params, scenario->topology_config);
    if (scenario->workload)
        release_config(scenario->workload->params, scenario->workload_config);
    for (const struct model_group *group = model_groups; scenario->profiles && group->name; group++)
        param_clear(group->params, group_config(scenario, group));
    param_clear(scenario_run_params, &scenario->run);
    g_clear_pointer(&scenario->profiles, g_ptr_array_unref);
    g_clear_pointer(&scenario->hosts, g_ptr_array_unref);
    g_clear_pointer(&scenario->beside, g_ptr_array_unref);
    g_clear_pointer(&scenario->faults, g_ptr_array_unref);
    g_clear_pointer(&scenario->title, g_free);
    scenario->topology = NULL;
    scenario->workload = NULL;
    scenario->topology_config = scenario->workload_config = NULL;
    memset(&scenario->model, 0, sizeof scenario->model);
}

/* A scenario without a title is called after its file, or after what it plays on what. */
static gboolean resolve_head(struct scenario *scenario, GError **error)
{
    struct scenario_head head;
    gboolean ok = scenario_fill(scenario, "scenario", scenario_head_params, &head, error);

    if (ok && *head.title)
        scenario->title = g_strdup(head.title);
    else if (ok && scenario->name)
        scenario->title = g_strdup(scenario->name);
    else if (ok)
        scenario->title =
            g_strdup_printf("%s on %s", scenario->workload->name, scenario->topology->name);
    param_clear(scenario_head_params, &head);
    return ok;
}

static gboolean resolve_kinds(struct scenario *scenario, GError **error)
{
    struct kind topology = {0}, workload = {0};
    gboolean ok = resolve_kind(scenario, "topology", kinds_seam("topology"), &topology,
                               &scenario->topology_config, error) &&
                  resolve_kind(scenario, "workload", kinds_seam("workload"), &workload,
                               &scenario->workload_config, error);

    scenario->topology = topology.ops;
    scenario->workload = workload.ops;
    return ok;
}

gboolean scenario_resolve(struct scenario *scenario, GError **error)
{
    scenario_unresolve(scenario);
    scenario->hosts = g_ptr_array_new_with_free_func(hosts_free);
    scenario->beside = g_ptr_array_new_with_free_func(workload_free);
    scenario->faults = g_ptr_array_new_with_free_func(fault_free);
    for (const struct model_group *group = model_groups; group->name; group++)
        param_defaults(group->params, group_config(scenario, group));
    if (!resolve_profiles(scenario, error) ||
        !scenario_fill(scenario, "run", scenario_run_params, &scenario->run, error) ||
        !resolve_kinds(scenario, error) || !resolve_beside(scenario, error) ||
        !resolve_head(scenario, error))
        return FALSE;
    for (const struct model_group *group = model_groups; group->name; group++)
        if (!fill(scenario, group->name, group->params, group_config(scenario, group), error))
            return FALSE;
    return resolve_hosts(scenario, error) && resolve_faults(scenario, error);
}
