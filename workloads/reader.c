/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many servers answer one reader: storage that reads a striped object, or an inference host that
 * fetches a key-value cache from where its blocks lie.
 *
 * The reader asks `servers` hosts in turn for one block each, `rounds` times over: a request of
 * `request` bytes, and the block of `bytes` as the answer. At most `outstanding` requests are open:
 * the k-th waits for answer k - outstanding to be there. The servers are the hosts after the
 * reader, modulo the number of hosts. The blocks are a group, `reader`, whose fairness is measured.
 *
 * Left out: the server's own time to find a block (host.issue_time stands for it), and blocks that
 * are lost and asked for again.
 * Source: our choice; the pattern is that of Phanishayee et al., FAST 2008 (striped reads).
 */
#include "workloads/workload.h"

struct reader_config {
    int64_t servers, reader, request, bytes, rounds, outstanding, start;
};

static const struct param params[] = {
    PARAM(NUMBER, struct reader_config, servers, "0", NULL, "1000000", NULL,
          "How many servers answer; 0: all hosts but the reader.", "our choice: all"),
    PARAM(NUMBER, struct reader_config, reader, "0", NULL, NULL, NULL, "The host that reads.",
          "our choice: the first"),
    PARAM(BYTES, struct reader_config, request, "64B", "1B", NULL, NULL, "Size of a request.",
          "our choice: a work request and an address"),
    PARAM(BYTES, struct reader_config, bytes, "256KB", "1B", NULL, NULL, "Size of a block.",
          "Phanishayee et al., FAST 2008: server request units up to 256 KB"),
    PARAM(NUMBER, struct reader_config, rounds, "1", "1", "1000000", NULL,
          "How often each server is asked.", "our choice: once"),
    PARAM(NUMBER, struct reader_config, outstanding, "0", NULL, NULL, NULL,
          "Most requests open at a time; 0: all at once.", "our choice: the hardest incast"),
    PARAM(TIME, struct reader_config, start, "0ps", NULL, NULL, NULL, "When the reader begins.",
          "our choice"),
    PARAM_END};

static gboolean check(const struct reader_config *config, const struct graph *graph, GError **error)
{
    if (config->reader >= graph->n_hosts) {
        g_set_error(error, BUILD_ERROR, 0,
                    "reader = %" G_GINT64_FORMAT ": a host is expected, below %u", config->reader,
                    graph->n_hosts);
        return FALSE;
    }
    if (graph->n_hosts < 2 || config->servers >= graph->n_hosts) {
        g_set_error(error, BUILD_ERROR, 0,
                    "servers = %" G_GINT64_FORMAT ": at most all hosts but the reader, of %u hosts",
                    config->servers, graph->n_hosts);
        return FALSE;
    }
    return TRUE;
}

static uint64_t add_message(struct schedule *schedule, uint32_t from, uint32_t to, int64_t bytes,
                            int64_t start_ps, uint32_t group)
{
    return schedule_add_op(schedule, &(struct schedule_op){.kind = SCHEDULE_MESSAGE,
                                                           .rank = from,
                                                           .peer = to,
                                                           .bytes = bytes,
                                                           .start_ps = start_ps,
                                                           .group = group});
}

static void add_reads(const struct reader_config *config, struct schedule *schedule,
                      uint32_t n_servers)
{
    uint32_t reader = (uint32_t)config->reader, n = schedule->n_ranks;
    uint64_t n_reads = (uint64_t)n_servers * (uint64_t)config->rounds;
    uint64_t n_open = config->outstanding ? (uint64_t)config->outstanding : n_reads;
    uint32_t group = schedule_add_group(schedule, "reader", config->bytes * (int64_t)n_reads,
                                        n_servers + 1, 0, 1);

    schedule_group(schedule, group)->contest = true;
    for (uint64_t k = 0; k < n_reads; k++) {
        uint32_t server = (reader + 1 + (uint32_t)(k % n_servers)) % n;
        uint64_t request = add_message(schedule, reader, server, config->request, config->start,
                                       SCHEDULE_NO_GROUP);
        uint64_t answer = add_message(schedule, server, reader, config->bytes, 0, group);

        schedule_add_edge(schedule, request, answer, SCHEDULE_AT_RECEIVER, false);
        if (k >= n_open) /* operations of read k are 2k and 2k + 1 */
            schedule_add_edge(schedule, 2 * (k - n_open) + 1, request, SCHEDULE_AT_RECEIVER, false);
    }
}

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    const struct reader_config *config = data;
    uint32_t n_servers;

    if (!check(config, graph, error))
        return FALSE;
    n_servers = config->servers ? (uint32_t)config->servers : graph->n_hosts - 1;
    if (config->rounds > 50000000 / n_servers) { /* our choice: some 12 GB of schedule */
        g_set_error(error, BUILD_ERROR, 0,
                    "rounds = %" G_GINT64_FORMAT ": at most 50000000 reads are possible",
                    config->rounds);
        return FALSE;
    }
    schedule_init(schedule, graph->n_hosts);
    add_reads(config, schedule, n_servers);
    build_note(notes,
               "reader: host %" G_GINT64_FORMAT " reads %" G_GINT64_FORMAT " x %u blocks of "
               "%" G_GINT64_FORMAT " B, %" G_GINT64_FORMAT " open at a time",
               config->reader, config->rounds, n_servers, config->bytes,
               config->outstanding ? config->outstanding : config->rounds * n_servers);
    return workload_finish(schedule, graph, error);
}

const struct workload_ops workload_reader = {
    .name = "reader",
    .summary = "Many servers answer one reader: storage, key-value cache.",
    .source = "our choice; the pattern of Phanishayee et al., FAST 2008",
    .config_size = sizeof(struct reader_config),
    .params = params,
    .build = build};
