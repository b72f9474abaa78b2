/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Poisson arrivals: every host begins flows at exponential intervals, to receivers drawn uniformly
 * from the other hosts, with sizes from a law; `load` is the payload that all hosts offer on
 * average as a share of the sum of their NICs' rates:
 *
 *   mean interval of a host = 8 mean size / (load x rate of the host)
 *
 * Each host draws intervals, receivers and sizes from streams of its own, so a flow depends on
 * nothing but the seed, its host and its place in the host's sequence (and, for the receiver, on
 * the number of hosts). Whole numbers only: the same list on every machine.
 * Left out: correlated arrivals, hosts of unequal popularity, closed loops.
 * Source: the load generators of HPCC (SIGCOMM 2019) and ConWeave (SIGCOMM 2023).
 */
#include "sim/core/random.h"
#include "sim/core/units.h"
#include "workloads/cdf.h"
#include "workloads/mix.h"
#include "workloads/workload.h"
#include <stdlib.h>
#include <string.h>

#define MOST_FLOWS       50000000 /* our choice: some 6 GB of schedule */
#define INTERVAL_BITS    16       /* mean intervals are kept in 1/65536 ps */
#define MOST_INTERVAL_PS (INT64_C(1) << 46)

struct poisson_config {
    int64_t load, duration, start, bytes, size_unit;
    char *cdf, *cdf_file, *ranks, *transports;
};

static const struct param params[] = {
    PARAM(RATIO, struct poisson_config, load, "0.3", "0.000001", "10", NULL,
          "Payload offered, as a share of the sum of the hosts' NIC rates; above 1 is an overload.",
          "our choice: HPCC and ConWeave show 30 % to 80 %"),
    PARAM(TIME, struct poisson_config, duration, "1ms", "1ps", NULL, NULL,
          "How long flows arrive; those that have begun go on to their end.",
          "our choice: small enough to try at once"),
    PARAM(TIME, struct poisson_config, start, "0ps", NULL, NULL, NULL, "When arrivals begin.",
          "our choice"),
    PARAM(TEXT, struct poisson_config, cdf_file, "", NULL, NULL, NULL,
          "File of flow sizes: lines SIZE SHARE, shares as fractions up to 1 or percentages up to "
          "100, linear between them.",
          "the form that HPCC, ConWeave and their heirs use"),
    PARAM(TEXT, struct poisson_config, cdf, "", NULL, NULL, NULL,
          "The same points in place, such as 0 0; 10KB 0.5; 1MB 1.", "our choice"),
    PARAM(BYTES, struct poisson_config, size_unit, "1B", "1B", "1GB", NULL,
          "What a size of 1 in cdf or cdf_file stands for; some files count kilobytes or packets.",
          "bytes in all published files but one"),
    PARAM(BYTES, struct poisson_config, bytes, "1MB", "1B", "1TiB", NULL,
          "Size of every flow where neither cdf nor cdf_file is given.", "our choice"),
    PARAM(TEXT, struct poisson_config, ranks, "", NULL, NULL, NULL,
          "Hosts that take part, such as 0-63 or 0,2,4-7; empty: all.", "our choice: all hosts"),
    MIX_PARAM(struct poisson_config),
    PARAM_END};

struct arrival {
    int64_t start_ps, bytes;
    uint32_t from, to, number; /* number: in the sequence of its sender */
};

struct process {
    const struct poisson_config *config;
    struct cdf cdf;
    uint64_t seed;
    uint32_t n; /* ranks */
    GArray *arrivals;
};

/* --- arrivals --------------------------------------------------------------------------------- */

enum draw { DRAW_INTERVAL, DRAW_SIZE, DRAW_RECEIVER };

static struct random_stream stream_of(const struct process *process, uint32_t host, enum draw what)
{
    return random_stream(process->seed, RANDOM_WORKLOAD,
                         UINT64_C(1) << 40 | (uint64_t)host << 2 | what);
}

/* Mean time between two flows of a host, in 2^-16 ps; 0 if it is too long to matter. */
static uint64_t mean_interval(const struct process *process, int64_t rate_bps)
{
    /* 8 x 10^12 ps/s x mean / CDF_MEAN_UNIT / (load / 10^12 x rate), shortened by 2 x 10^12 */
    unsigned __int128 above = cdf_mean(&process->cdf) * UINT64_C(4000000000000);
    unsigned __int128 below =
        (unsigned __int128)(uint64_t)process->config->load * (uint64_t)rate_bps;
    unsigned __int128 whole = above / below, rest = above % below;

    if (whole >= (unsigned __int128)MOST_INTERVAL_PS)
        return 0;
    return (uint64_t)((whole << INTERVAL_BITS) + (rest << INTERVAL_BITS) / below);
}

/* Flows of one host, until the end of arrivals or of room. */
static void add_arrivals(struct process *process, uint32_t rank, uint32_t host, uint64_t interval)
{
    const struct poisson_config *config = process->config;
    struct random_stream intervals = stream_of(process, host, DRAW_INTERVAL);
    struct random_stream sizes = stream_of(process, host, DRAW_SIZE);
    struct random_stream receivers = stream_of(process, host, DRAW_RECEIVER);
    unsigned __int128 end = (unsigned __int128)(uint64_t)config->duration << 64, at = 0;

    for (uint32_t number = 0; process->arrivals->len <= MOST_FLOWS; number++) {
        struct arrival arrival = {.from = rank, .number = number};

        at += (unsigned __int128)random_exponential(&intervals) * interval; /* 2^-64 ps */
        if (at >= end)
            return;
        arrival.start_ps = config->start + (int64_t)(at >> 64);
        arrival.bytes = cdf_draw(&process->cdf, &sizes);
        arrival.to = (uint32_t)random_below(&receivers, process->n - UINT64_C(1));
        arrival.to += arrival.to >= rank;
        g_array_append_val(process->arrivals, arrival);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int64_t host_rate_bps(const struct graph *graph, uint32_t host)
{
    int64_t rate_bps = 0;

    for (uint32_t i = 0; i < graph_n_ports(graph, host); i++)
        rate_bps += graph->links[graph_port(graph, host, i) / 2].rate_bps;
    return rate_bps;
}

/* All flows, by time; FALSE if there would be too many. Sets the sum of the hosts' rates. */
static gboolean draw_arrivals(struct process *process, const struct graph *graph,
                              const uint32_t *hosts, double *rate_bps, GError **error)
{
    for (uint32_t rank = 0; rank < process->n; rank++) {
        int64_t rate = host_rate_bps(graph, hosts[rank]);
        uint64_t interval = rate > 0 ? mean_interval(process, rate) : 0;

        *rate_bps += (double)rate;
        if (interval > 0)
            add_arrivals(process, rank, hosts[rank], interval);
    }
    if (process->arrivals->len > MOST_FLOWS) {
        g_set_error(error, BUILD_ERROR, 0,
                    "duration = %" G_GINT64_FORMAT
                    "ps: more than %d flows would arrive; a shorter duration or a lower load is "
                    "expected",
                    process->config->duration, MOST_FLOWS);
        return FALSE;
    }
    if (process->arrivals->len > 0)
        qsort(process->arrivals->data, process->arrivals->len, sizeof(struct arrival), by_time);
    return TRUE;
}

/* --- the schedule ----------------------------------------------------------------------------- */

static gboolean read_law(struct process *process, GError **error)
{
    const struct poisson_config *config = process->config;
    bool file = config->cdf_file && *config->cdf_file, text = config->cdf && *config->cdf;
    gboolean fine = TRUE;

    if (file && text) {
        g_set_error(error, BUILD_ERROR, 0,
                    "cdf and cdf_file are both given; one law of sizes is expected");
        return FALSE;
    }
    if (file)
        fine = cdf_read(&process->cdf, config->cdf_file, config->size_unit, error);
    else if (text)
        fine = cdf_parse(&process->cdf, "cdf", config->cdf, config->size_unit, error);
    else
        cdf_constant(&process->cdf, config->bytes);
    if (!fine)
        return FALSE;
    if (cdf_mean(&process->cdf) == 0) {
        g_set_error(error, BUILD_ERROR, 0, "all flows have 0 bytes; a law with a mean is expected");
        return FALSE;
    }
    return TRUE;
}

static void note_law(const struct process *process, struct build *notes)
{
    const struct poisson_config *config = process->config;
    bool file = config->cdf_file && *config->cdf_file;

    if (!file && !(config->cdf && *config->cdf))
        return;
    build_note(notes,
               "poisson: sizes from %s, %u points, shares as %s, a size of 1 is %" G_GINT64_FORMAT
               " B",
               file ? config->cdf_file : "cdf", process->cdf.points->len,
               process->cdf.percent ? "percentages" : "fractions", config->size_unit);
}

/* What was drawn beside what was asked for. */
static void note_load(const struct process *process, double rate_bps, struct build *notes)
{
    const struct poisson_config *config = process->config;
    double sum = 0, n = process->arrivals->len, law = (double)cdf_mean(&process->cdf) / 2e12;

    for (guint i = 0; i < process->arrivals->len; i++)
        sum += (double)g_array_index(process->arrivals, struct arrival, i).bytes;
    build_note(notes,
               "poisson: %u flows from %u hosts in %.6g us; mean size %.1f B (law %.1f B); "
               "realised load %.3f %% of %.6g Gb/s (asked %.3f %%, %.1f flows expected)",
               process->arrivals->len, process->n, (double)config->duration / 1e6,
               n > 0 ? sum / n : 0, law, 800e12 * sum / (double)config->duration / rate_bps,
               rate_bps / 1e9, (double)config->load / 1e10,
               (double)config->load / 1e12 * rate_bps * (double)config->duration / 8e12 / law);
}

static void add_messages(const struct process *process, struct schedule *schedule, struct mix *mix)
{
    for (guint i = 0; i < process->arrivals->len; i++) {
        const struct arrival *arrival = &g_array_index(process->arrivals, struct arrival, i);

        schedule_add_op(schedule, &(struct schedule_op){.kind = SCHEDULE_MESSAGE,
                                                        .rank = arrival->from,
                                                        .peer = arrival->to,
                                                        .bytes = arrival->bytes,
                                                        .start_ps = arrival->start_ps,
                                                        .profile = mix_next(mix),
                                                        .group = SCHEDULE_NO_GROUP});
    }
}

static gboolean check(const struct poisson_config *config, uint32_t n, GError **error)
{
    if (n < 2) {
        g_set_error(error, BUILD_ERROR, 0, "ranks = %s: at least 2 hosts are expected; there is %u",
                    config->ranks, n);
        return FALSE;
    }
    if (config->start > INT64_MAX - config->duration) {
        g_set_error(error, BUILD_ERROR, 0, "start + duration is beyond 2^63 ps");
        return FALSE;
    }
    return TRUE;
}

static gboolean fill(struct process *process, const struct graph *graph, const uint32_t *hosts,
                     struct build *notes, struct schedule *schedule, GError **error)
{
    double rate_bps = 0;
    struct mix mix;

    if (!draw_arrivals(process, graph, hosts, &rate_bps, error))
        return FALSE;
    note_law(process, notes);
    note_load(process, rate_bps, notes);
    schedule_init(schedule, process->n);
    memcpy(schedule->rank_host, hosts, process->n * sizeof *hosts);
    if (!mix_init(&mix, process->config->transports, schedule, error))
        return FALSE;
    add_messages(process, schedule, &mix);
    return workload_finish(schedule, graph, error);
}

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    struct process process = {.config = data, .seed = notes->seed};
    g_autofree uint32_t *hosts = workload_ranks(process.config->ranks, graph, &process.n, error);
    gboolean fine;

    if (!hosts || !check(process.config, process.n, error) || !read_law(&process, error))
        return FALSE;
    process.arrivals = g_array_new(FALSE, FALSE, sizeof(struct arrival));
    fine = fill(&process, graph, hosts, notes, schedule, error);
    g_array_unref(process.arrivals);
    cdf_clear(&process.cdf);
    return fine;
}

const struct workload_ops workload_poisson = {
    .name = "poisson",
    .summary = "Poisson arrivals at a share of the hosts' rate, with sizes from a law.",
    .source = "HPCC (SIGCOMM 2019) and ConWeave (SIGCOMM 2023) load generators",
    .config_size = sizeof(struct poisson_config),
    .params = params,
    .build = build};
