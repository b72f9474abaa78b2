/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/compare_sample.h"
#include "sim/stats/stats.h"
#include <math.h>

const char *compare_metric_name(enum compare_metric metric)
{
    static const char *const names[] = {
        [COMPARE_BUSBW] = "busbw_GBps",
        [COMPARE_COMPLETION_P50] = "completion_p50_us",
        [COMPARE_COMPLETION_P99] = "completion_p99_us",
        [COMPARE_RETRANSMITTED] = "retransmitted_packets",
        [COMPARE_TIMEOUTS] = "timeouts",
        [COMPARE_SPURIOUS] = "spurious_retransmissions",
        [COMPARE_UNFINISHED] = "unfinished_flows",
        [COMPARE_FAILED] = "failed_flows",
        [COMPARE_PACKETS] = "data_packets",
        [COMPARE_MARKED] = "marked_packets",
        [COMPARE_LOST] = "lost_packets",
        [COMPARE_DROPPED] = "dropped_packets",
        [COMPARE_DURATION] = "duration_us",
    };

    return names[metric];
}

void compare_gather_init(struct compare_gather *gather)
{
    *gather = (struct compare_gather){.first_start_ps = INT64_MAX};
    gather->completions_us = g_array_new(FALSE, FALSE, sizeof(double));
}

static void gather_flow(void *data, const struct sink_flow *flow)
{
    struct compare_gather *gather = data;
    double *values = gather->sample.values;
    double completion_us = (double)INFINITY;

    if (flow->status == SINK_FINISHED) {
        completion_us = (double)(flow->end_receiver_ps - flow->start_ps) * 1e-6;
        gather->last_end_ps = MAX(gather->last_end_ps, flow->end_receiver_ps);
    }
    if (flow->start_ps != SINK_NEVER)
        gather->first_start_ps = MIN(gather->first_start_ps, flow->start_ps);
    g_array_append_val(gather->completions_us, completion_us);
    gather->bytes += flow->bytes;
    values[COMPARE_UNFINISHED] += flow->status != SINK_FINISHED;
    values[COMPARE_FAILED] += flow->status == SINK_FAILED;
    values[COMPARE_RETRANSMITTED] += (double)flow->retransmitted_packets;
    values[COMPARE_TIMEOUTS] += (double)flow->timeouts;
    values[COMPARE_SPURIOUS] += (double)flow->spurious_retransmissions;
    values[COMPARE_PACKETS] += (double)flow->packets;
    values[COMPARE_MARKED] += (double)flow->marked_packets;
}

static void gather_port(void *data, const struct sink_port *port)
{
    double *values = ((struct compare_gather *)data)->sample.values;

    for (int cause = 0; cause < SINK_N_DROPS; cause++)
        values[cause == SINK_DROP_LOSS || cause == SINK_DROP_LISTED ? COMPARE_LOST
                                                                    : COMPARE_DROPPED] +=
            (double)port->dropped_packets[cause];
}

/* busbw = S / t x n / d (nccl-tests); bytes a ps are TB/s. */
static void gather_group(void *data, const struct sink_group *group)
{
    struct compare_gather *gather = data;

    if (group->factor_n == 0)
        return;
    gather->n_groups++;
    if (group->end_ps != SINK_NEVER && group->end_ps > group->start_ps)
        gather->busbw_sum += 1000.0 * (double)group->bytes /
                             (double)(group->end_ps - group->start_ps) * (double)group->factor_n /
                             (double)group->factor_d;
}

struct sink compare_gather_sink(struct compare_gather *gather)
{
    static const struct sink_ops ops = {
        .flow = gather_flow, .port = gather_port, .group = gather_group};

    return (struct sink){&ops, gather};
}

/* Where no collective says what busbw is: payload of all flows over the time of the run. */
static double throughput(const struct compare_gather *gather)
{
    if (gather->sample.values[COMPARE_UNFINISHED] > 0 ||
        gather->last_end_ps <= gather->first_start_ps)
        return 0;
    return 1000.0 * (double)gather->bytes / (double)(gather->last_end_ps - gather->first_start_ps);
}

struct compare_sample compare_gather_finish(struct compare_gather *gather)
{
    double *values = gather->sample.values;
    double *completions_us = (double *)(void *)gather->completions_us->data;
    size_t n = gather->completions_us->len;

    stats_sort(completions_us, n);
    values[COMPARE_COMPLETION_P50] = stats_percentile(completions_us, n, 500);
    values[COMPARE_COMPLETION_P99] = stats_percentile(completions_us, n, 990);
    values[COMPARE_BUSBW] =
        gather->n_groups > 0 ? gather->busbw_sum / gather->n_groups : throughput(gather);
    values[COMPARE_DURATION] = values[COMPARE_UNFINISHED] > 0
                                   ? (double)NAN
                                   : (double)(gather->last_end_ps - gather->first_start_ps) * 1e-6;
    g_array_unref(gather->completions_us);
    return gather->sample;
}
