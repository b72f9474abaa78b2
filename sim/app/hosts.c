/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/hosts.h"
#include "sim/core/units.h"

/* --- links ------------------------------------------------------------------------------------ */

/* A cable between two hosts has the lower of the rates that they ask for. */
static void set_rate(struct graph *graph, uint32_t port, int64_t rate_bps)
{
    struct graph_link *link = &graph->links[port / 2];
    bool between_hosts = !graph->nodes[graph_port_peer(graph, port)].is_switch;

    if (rate_bps > 0)
        link->rate_bps = between_hosts ? MIN(link->rate_bps, rate_bps) : rate_bps;
}

static void change_links(const struct scenario_hosts_config *config, struct graph *graph,
                         uint32_t host)
{
    for (uint32_t i = 0; i < graph_n_ports(graph, host); i++) {
        uint32_t port = graph_port(graph, host, i);

        set_rate(graph, port, config->link_rate);
        graph->links[port / 2].delay_ps += config->nic_delay;
    }
}

/* --- groups ----------------------------------------------------------------------------------- */

static gboolean refuse(const struct scenario_hosts *group, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static gboolean refuse(const struct scenario_hosts *group, GError **error, const char *format, ...)
{
    va_list list;
    g_autofree char *what = NULL;

    va_start(list, format);
    what = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_VALUE, "[hosts:%s] %s", group->name, what);
    return FALSE;
}

static gboolean set_setting(struct scenario *scenario, const struct scenario_hosts *group,
                            const struct graph *graph, struct host_setting *setting, GError **error)
{
    const struct scenario_hosts_config *config = &group->config;

    *setting =
        (struct host_setting){.group = group->name, .host = config->host, .planes = config->planes};
    if (config->planes > graph->n_planes)
        return refuse(group, error, "planes = %" G_GINT64_FORMAT ": the topology has %u plane%s",
                      config->planes, graph->n_planes, graph->n_planes == 1 ? "" : "s");
    if (!config->transport || !*config->transport)
        return TRUE;
    setting->profile = scenario_profile(scenario, config->transport, error);
    if (!setting->profile)
        g_prefix_error(error, "[hosts:%s] transport = %s: ", group->name, config->transport);
    return setting->profile != NULL;
}

static gboolean place_hosts(struct hosts *hosts, const struct scenario_hosts *group,
                            struct graph *graph, const struct host_setting *setting, uint32_t *n,
                            GError **error)
{
    g_autofree uint32_t *members = NULL;

    if (!group->config.ranks || !*group->config.ranks)
        return refuse(group, error, "ranks: the group's hosts are expected, such as 0-31");
    members = workload_ranks(group->config.ranks, graph, n, error);
    if (!members) {
        g_prefix_error(error, "[hosts:%s] ", group->name);
        return FALSE;
    }
    for (uint32_t i = 0; i < *n; i++) {
        if (hosts->by_host[members[i]])
            return refuse(group, error, "ranks = %s: host %u is in [hosts:%s] already",
                          group->config.ranks, members[i], hosts->by_host[members[i]]->group);
        hosts->by_host[members[i]] = setting;
        change_links(&group->config, graph, members[i]);
    }
    return TRUE;
}

static void note(const struct scenario_hosts *group, const struct host_setting *setting, uint32_t n,
                 struct build *build)
{
    g_autofree char *delay = units_format(UNITS_TIME, group->config.nic_delay);
    g_autofree char *rate = units_format(UNITS_RATE, group->config.link_rate);
    g_autofree char *planes = g_strdup_printf("%" G_GINT64_FORMAT, setting->planes);

    build_note(build,
               "hosts:%s: %u hosts, transport %s, links %s, planes %s, NIC delay %s each way",
               group->name, n,
               !setting->profile         ? "as [transport]"
               : *setting->profile->name ? setting->profile->name
                                         : setting->profile->ops->name,
               group->config.link_rate ? rate : "as the topology", setting->planes ? planes : "all",
               delay);
}

gboolean hosts_init(struct hosts *hosts, struct scenario *scenario, struct graph *graph,
                    struct build *build, GError **error)
{
    *hosts = (struct hosts){0};
    if (scenario->hosts->len == 0)
        return TRUE;
    hosts->settings = g_new0(struct host_setting, scenario->hosts->len);
    hosts->by_host = g_new0(const struct host_setting *, graph->n_hosts + 1);
    for (guint i = 0; i < scenario->hosts->len; i++) {
        const struct scenario_hosts *group = g_ptr_array_index(scenario->hosts, i);
        struct host_setting *setting = &hosts->settings[i];
        uint32_t n = 0;

        if (!set_setting(scenario, group, graph, setting, error) ||
            !place_hosts(hosts, group, graph, setting, &n, error))
            return FALSE;
        note(group, setting, n, build);
    }
    return TRUE;
}

void hosts_clear(struct hosts *hosts)
{
    g_clear_pointer(&hosts->settings, g_free);
    g_clear_pointer(&hosts->by_host, g_free);
}

const struct transport_profile *hosts_profile(const struct hosts *hosts, uint32_t host,
                                              const struct transport_profile *profiles,
                                              uint32_t index)
{
    const struct host_setting *setting = hosts->by_host ? hosts->by_host[host] : NULL;

    return index == 0 && setting && setting->profile ? setting->profile : &profiles[index];
}
