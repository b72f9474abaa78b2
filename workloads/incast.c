/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * N:1 incast: N hosts send one message each to one receiver, at once or `stagger` apart.
 *
 * The senders are the hosts first, first + 1, ... (modulo the number of hosts, without the
 * receiver), so near or far senders are chosen by `first`: hosts of one leaf have neighbouring
 * numbers in every builder. Their messages are a group, `incast`, whose fairness is measured.
 *
 * The victim, on request, is one flow more that goes into the receiver's leaf but not to the
 * receiver: it shares the links into that leaf with the incast (and the uplinks of a sender's leaf,
 * where a host beside a sender is free), and whatever slows it down is the incast's doing. It is a
 * group of its own, `victim`.
 * Source: csg-htsim, sim/datacenter/connection_matrix.cpp, setIncast(). The
 * victim: Zhu et al., SIGCOMM 2015, section 2.2, and the victim flows of csg-htsim.
 */
#include "workloads/workload.h"

struct incast_config {
    int64_t senders, receiver, first, bytes, start, stagger;
    int64_t victim, victim_src, victim_dst, victim_bytes;
    char *sizes;
};

struct incast {
    const struct incast_config *config;
    const struct graph *graph;
    const int64_t *sizes;
    uint32_t n_sizes, group;
    bool *sends; /* by host */
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
    PARAM(TEXT, struct incast_config, sizes, "", NULL, NULL, NULL,
          "Unequal sizes, such as 1MB,4MB: sender k sends the (k mod n)-th; empty: bytes for all.",
          "our choice: equal sizes"),
    PARAM(BOOL, struct incast_config, victim, "off", NULL, NULL, NULL,
          "Add a flow into the receiver's leaf that is not for the receiver.",
          "our choice: the incast alone"),
    PARAM(
        NUMBER, struct incast_config, victim_src, "-1", "-1", NULL, NULL,
        "The victim's sender; -1: a host that sends nothing else, beside a sender of another leaf "
        "where there is one.",
        "our choice"),
    PARAM(NUMBER, struct incast_config, victim_dst, "-1", "-1", NULL, NULL,
          "The victim's receiver; -1: a host on the receiver's leaf that does nothing else.",
          "our choice"),
    PARAM(BYTES, struct incast_config, victim_bytes, "0B", NULL, NULL, NULL,
          "Size of the victim; 0: bytes.", "our choice"),
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

/* --- the senders ------------------------------------------------------------------------------ */

static void add_message(struct schedule *schedule, uint32_t from, uint32_t to, int64_t bytes,
                        int64_t start_ps, uint32_t group)
{
    schedule_add_op(schedule, &(struct schedule_op){.kind = SCHEDULE_MESSAGE,
                                                    .rank = from,
                                                    .peer = to,
                                                    .bytes = bytes,
                                                    .start_ps = start_ps,
                                                    .group = group});
}

static void add_senders(const struct incast *incast, struct schedule *schedule)
{
    const struct incast_config *config = incast->config;
    uint32_t n = schedule->n_ranks, receiver = (uint32_t)config->receiver;
    uint32_t host = config->first < 0 ? (receiver + 1) % n : (uint32_t)config->first;
    int64_t n_senders = config->senders ? config->senders : n - 1;

    for (int64_t k = 0; k < n_senders; host = (host + 1) % n) {
        if (host == receiver)
            continue;
        add_message(schedule, host, receiver, incast->sizes[k % incast->n_sizes],
                    config->start + k * config->stagger, incast->group);
        incast->sends[host] = true;
        k++;
    }
}

/* --- the victim ------------------------------------------------------------------------------- */

/* The node that a host's first port leads to. */
static uint32_t leaf_of(const struct graph *graph, uint32_t host)
{
    return graph_port_peer(graph, graph_port(graph, host, 0));
}

/* Whether a host that sends stands on this leaf. */
static bool has_sender(const struct incast *incast, uint32_t leaf)
{
    for (uint32_t host = 0; host < incast->graph->n_hosts; host++)
        if (incast->sends[host] && leaf_of(incast->graph, host) == leaf)
            return true;
    return false;
}

/* An idle host on the receiver's leaf; n_hosts if there is none. */
static uint32_t find_victim_dst(const struct incast *incast)
{
    uint32_t n = incast->graph->n_hosts, receiver = (uint32_t)incast->config->receiver;

    for (uint32_t host = 0; host < n; host++)
        if (host != receiver && !incast->sends[host] && host != incast->config->victim_src &&
            leaf_of(incast->graph, host) == leaf_of(incast->graph, receiver))
            return host;
    return n;
}

/* An idle host, best on another leaf with a sender, then on any other leaf, then on this one. */
static uint32_t find_victim_src(const struct incast *incast, uint32_t dst)
{
    const struct graph *graph = incast->graph;
    uint32_t n = graph->n_hosts, best = n, home = leaf_of(graph, dst);
    int best_grade = -1;

    for (uint32_t host = 0; host < n; host++) {
        uint32_t leaf = leaf_of(graph, host);
        int grade = (leaf != home) + (leaf != home && has_sender(incast, leaf));

        if (host == dst || host == incast->config->receiver || incast->sends[host] ||
            grade <= best_grade)
            continue;
        best = host;
        best_grade = grade;
    }
    return best;
}

static gboolean check_victim(const struct incast *incast, uint32_t src, uint32_t dst,
                             GError **error)
{
    uint32_t n = incast->graph->n_hosts;

    if (dst < n && src < n && src != dst && dst != incast->config->receiver)
        return TRUE;
    if (dst >= n || dst == incast->config->receiver)
        g_set_error(error, BUILD_ERROR, 0,
                    incast->config->victim_dst < 0
                        ? "victim = on: no host on the receiver's leaf is idle; fewer senders, "
                          "another first or a victim_dst is expected"
                        : "victim_dst = %u: a host other than the receiver is expected, below %u",
                    dst, n);
    else
        g_set_error(error, BUILD_ERROR, 0,
                    incast->config->victim_src < 0
                        ? "victim = on: no idle host is left to send it; fewer senders or a "
                          "victim_src is expected"
                        : "victim_src = %u: a host other than victim_dst is expected, below %u",
                    src, n);
    return FALSE;
}

static gboolean add_victim(const struct incast *incast, struct schedule *schedule,
                           struct build *notes, GError **error)
{
    const struct incast_config *config = incast->config;
    const struct graph *graph = incast->graph;
    uint32_t n = graph->n_hosts, group;
    uint32_t dst = config->victim_dst < 0 ? find_victim_dst(incast)
                                          : (uint32_t)MIN(config->victim_dst, (int64_t)n);
    uint32_t src = config->victim_src >= 0 ? (uint32_t)MIN(config->victim_src, (int64_t)n)
                   : dst < n               ? find_victim_src(incast, dst)
                                           : n;

    if (!check_victim(incast, src, dst, error))
        return FALSE;
    int64_t bytes = config->victim_bytes ? config->victim_bytes : config->bytes;

    group = schedule_add_group(schedule, "victim", bytes, 2, 0, 1);
    add_message(schedule, src, dst, bytes, config->start, group);
    build_note(notes, "incast: victim of %" G_GINT64_FORMAT " B from host %u to host %u, %s", bytes,
               src, dst,
               leaf_of(graph, src) == leaf_of(graph, dst) ? "on one leaf"
               : incast->sends[src]                       ? "from a sender's own NIC"
               : has_sender(incast, leaf_of(graph, src))  ? "from a sender's leaf"
                                                          : "from a leaf without senders");
    return TRUE;
}

/* --- the whole -------------------------------------------------------------------------------- */

static gboolean fill(struct incast *incast, struct build *notes, struct schedule *schedule,
                     GError **error)
{
    const struct incast_config *config = incast->config;
    int64_t bytes = 0;

    schedule_init(schedule, incast->graph->n_hosts);
    incast->group = schedule_add_group(schedule, "incast", 0, incast->graph->n_hosts, 0, 1);
    schedule_group(schedule, incast->group)->contest = true;
    add_senders(incast, schedule);
    build_note(notes,
               "incast: %" G_GUINT64_FORMAT ":1 into host %" G_GINT64_FORMAT
               ", messages of %s%" G_GINT64_FORMAT " B",
               schedule->n_ops, config->receiver,
               incast->n_sizes > 1 ? "unequal sizes, the first " : "", incast->sizes[0]);
    for (uint64_t k = 0; k < schedule->n_ops; k++)
        bytes += incast->sizes[k % incast->n_sizes];
    schedule_group(schedule, incast->group)->bytes = bytes;
    if (!config->victim || add_victim(incast, schedule, notes, error))
        return TRUE;
    schedule_clear(schedule);
    return FALSE;
}

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    struct incast incast = {.config = data, .graph = graph};
    g_autofree int64_t *sizes = NULL;
    g_autofree bool *sends = g_new0(bool, graph->n_hosts + 1);

    if (!check(data, graph->n_hosts, error))
        return FALSE;
    sizes = workload_sizes(incast.config->sizes, incast.config->bytes, &incast.n_sizes, error);
    if (!sizes)
        return FALSE;
    incast.sizes = sizes;
    incast.sends = sends;
    return fill(&incast, notes, schedule, error) && workload_finish(schedule, graph, error);
}

const struct workload_ops workload_incast = {
    .name = "incast",
    .summary = "Many hosts send to one; a victim beside them on request.",
    .source = "htsim's incast connection matrices",
    .config_size = sizeof(struct incast_config),
    .params = params,
    .build = build};
