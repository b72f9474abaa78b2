/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/crosscheck.h"
#include "sim/app/records.h"
#include "sim/app/remote_ns3.h"
#include <string.h>
#include <sys/resource.h>

/* --- gathering -------------------------------------------------------------------------------- */

static void keep(struct crosscheck_side *side, GVariant *value)
{
    g_ptr_array_add(side->records, g_variant_ref_sink(value));
}

static void on_flow(void *data, const struct sink_flow *flow)
{
    summary_flow(&((struct crosscheck_side *)data)->summary, flow);
    keep(data, records_flow(flow));
}

static void on_port(void *data, const struct sink_port *port)
{
    summary_port(&((struct crosscheck_side *)data)->summary, port);
    keep(data, records_port(port));
}

static void on_group(void *data, const struct sink_group *group)
{
    summary_group(&((struct crosscheck_side *)data)->summary, group);
    keep(data, records_group(group));
}

static void on_metric(void *data, const struct sink_metric *metric)
{
    summary_metric(&((struct crosscheck_side *)data)->summary, metric);
    keep(data, records_metric(metric));
}

static void on_series(void *data, const struct sink_series *series)
{
    keep(data, records_series(series));
}

static const struct sink_ops gather = {
    .flow = on_flow, .port = on_port, .group = on_group, .metric = on_metric, .series = on_series};

/* --- playing ---------------------------------------------------------------------------------- */

static double cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void side_init(struct crosscheck_side *side, const char *engine, uint64_t first, uint64_t n)
{
    *side = (struct crosscheck_side){.engine = engine};
    recorder_init(&side->recorder, first, n);
    summary_init(&side->summary);
    side->records = g_ptr_array_new_with_free_func((GDestroyNotify)g_variant_unref);
}

void crosscheck_clear(struct crosscheck_side *side)
{
    if (!side->records)
        return;
    recorder_clear(&side->recorder);
    summary_clear(&side->summary);
    g_clear_pointer(&side->records, g_ptr_array_unref);
    backend_result_clear(&side->result);
}

gboolean crosscheck_play(struct crosscheck_side *side, const char *engine,
                         const struct experiment *experiment, uint64_t first, uint64_t n,
                         struct progress *progress, GError **error)
{
    struct sink sink = {&gather, side};
    struct backend_run run = experiment_run(experiment);
    g_autofree char *text = scenario_text(experiment->scenario, NULL);
    gboolean played;

    side_init(side, engine, first, n);
    run.recorder = &side->recorder;
    run.observer = &side->recorder.observer;
    run.progress = progress_report;
    run.progress_data = progress;
    run.text = text;
    if (strcmp(engine, "native") == 0) {
        double before_s = cpu_s();

        played = backend_native.play(&run, &sink, &side->result, error);
        side->cpu_s = cpu_s() - before_s;
    } else {
        played = remote_ns3_play(engine, &run, &sink, &side->result, &side->cpu_s, error);
    }
    if (played)
        summary_finish(&side->summary, &side->result);
    return played;
}

/* --- comparing -------------------------------------------------------------------------------- */

/* The first block after which the hashes differ; the last one may be short. */
static uint64_t first_block(const struct recorder *a, const struct recorder *b)
{
    guint n = MIN(a->blocks->len, b->blocks->len), i = 0;

    while (i < n && g_array_index(a->blocks, uint64_t, i) == g_array_index(b->blocks, uint64_t, i))
        i++;
    return i;
}

static guint first_record(const GPtrArray *a, const GPtrArray *b)
{
    guint n = MIN(a->len, b->len), i = 0;

    while (i < n && g_variant_equal(g_ptr_array_index(a, i), g_ptr_array_index(b, i)))
        i++;
    return i;
}

enum crosscheck_verdict crosscheck_compare(const struct crosscheck_side *native,
                                           const struct crosscheck_side *other, uint64_t *where)
{
    const struct recorder *a = &native->recorder, *b = &other->recorder;

    if (a->n != b->n || a->hash != b->hash) {
        *where = first_block(a, b);
        return CROSSCHECK_RECEPTIONS;
    }
    *where = first_record(native->records, other->records);
    if (*where < native->records->len || native->records->len != other->records->len)
        return CROSSCHECK_RECORDS;
    if (b->n_begun + b->n_waiting != (int64_t)native->result.n_hops ||
        native->result.outcome != other->result.outcome)
        return CROSSCHECK_TRANSMISSIONS;
    return CROSSCHECK_IDENTICAL;
}

static bool same(const struct reception *a, const struct reception *b)
{
    return a->time_ps == b->time_ps && a->flow == b->flow && a->sequence == b->sequence &&
           a->port == b->port && a->class == b->class && a->ecn == b->ecn;
}

guint crosscheck_first_difference(const struct crosscheck_side *a, const struct crosscheck_side *b)
{
    const GArray *x = a->recorder.window, *y = b->recorder.window;
    guint n = MIN(x->len, y->len), i = 0;

    while (i < n &&
           same(&g_array_index(x, struct reception, i), &g_array_index(y, struct reception, i)))
        i++;
    return i;
}
