/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * N:1 incast: N hosts send one message each to one receiver, at once or `stagger` apart.
 *
 * The senders are the hosts first, first + 1, ... (modulo the number of hosts, without the
 * receiver), so near or far senders are chosen by `first`: hosts of one leaf have neighbouring
 * numbers in every builder.
 * Source: csg-htsim, sim/datacenter/connection_matrix.cpp, setIncast().
 */
#include "workloads/workload.h"

struct incast_config {
    int64_t senders, receiver, first, bytes, start, stagger;
};

static const struct param params[] = {
    PARAM(NUMBER, struct incast_config, senders, "0", NULL, NULL, NULL,
          "How many hosts send; 0: all but the receiver.", "our choice: the largest incast"),
    PARAM(NUMBER, struct incast_config, receiver, "0", NULL, NULL, NULL, "The host that receives.",
          "htsim's setIncast() sends to host 0"),
    PARAM(NUMBER, struct incast_config, first, "-1", "-1", NULL, NULL,
          "The first sending host; the next ones follow in number; -1: the receiver's number + 1.",
          "our choice: the nearest hosts, which share the receiver's leaf, come first"),
    PARAM(BYTES, struct incast_config, bytes, "2MB", "1B", NULL, NULL, "Size of each message.",
          "htsim's incast.cm"),
    PARAM(TIME, struct incast_config, start, "0ps", NULL, NULL, NULL,
          "When the first sender starts.", "our choice"),
    PARAM(TIME, struct incast_config, stagger, "0ps", NULL, NULL, NULL,
          "Time from one sender's start to the next one's.", "htsim's incast.cm: all at once"),
    PARAM_END};

static gboolean refuse(GError **error, const char *key, int64_t value, const char *right,
                       uint32_t limit)
{
    g_set_error(error, BUILD_ERROR, 0, "%s = %" G_GINT64_FORMAT ": %s (%u)", key, value, right,
                limit);
    return FALSE;
}

static gboolean check(const struct incast_config *config, uint32_t n_hosts, GError **error)
{
    int64_t last = config->senders ? config->senders - 1 : (int64_t)n_hosts - 2;

    if (n_hosts < 2)
        return refuse(error, "receiver", config->receiver, "an incast needs 2 hosts; there are",
                      n_hosts);
    if (config->receiver >= n_hosts)
        return refuse(error, "receiver", config->receiver, "must be below the number of hosts",
                      n_hosts);
    if (config->first >= n_hosts)
        return refuse(error, "first", config->first, "must be below the number of hosts", n_hosts);
    if (config->senders >= n_hosts)
        return refuse(error, "senders", config->senders, "at most all hosts but the receiver can",
                      n_hosts - 1);
    if (last > 0 && config->stagger > (INT64_MAX - config->start) / last)
        return refuse(error, "stagger", config->stagger, "the last start is beyond 2^63 ps; hosts",
                      n_hosts);
    return TRUE;
}

static void add_messages(const struct incast_config *config, struct schedule *schedule)
{
    uint32_t n = schedule->n_ranks, receiver = (uint32_t)config->receiver;
    uint32_t host = config->first < 0 ? (receiver + 1) % n : (uint32_t)config->first;
    int64_t n_senders = config->senders ? config->senders : n - 1;

    for (int64_t k = 0; k < n_senders; host = (host + 1) % n) {
        if (host == receiver)
            continue;
        schedule_add_op(schedule,
                        &(struct schedule_op){.kind = SCHEDULE_MESSAGE,
                                              .rank = host,
                                              .peer = receiver,
                                              .bytes = config->bytes,
                                              .start_ps = config->start + k * config->stagger,
                                              .group = SCHEDULE_NO_GROUP});
        k++;
    }
}

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    const struct incast_config *config = data;

    if (!check(config, graph->n_hosts, error))
        return FALSE;
    schedule_init(schedule, graph->n_hosts);
    add_messages(config, schedule);
    build_note(notes,
               "incast: %" G_GUINT64_FORMAT ":1 into host %" G_GINT64_FORMAT
               ", messages of %" G_GINT64_FORMAT " B",
               schedule->n_ops, config->receiver, config->bytes);
    return workload_finish(schedule, graph, error);
}

const struct workload_ops workload_incast = {.name = "incast",
                                             .summary = "Many hosts send to one.",
                                             .source = "htsim's incast connection matrices",
                                             .config_size = sizeof(struct incast_config),
                                             .params = params,
                                             .build = build};
