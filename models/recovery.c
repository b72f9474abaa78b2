/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/recovery.h"
#include "models/host.h"
#include "sim/core/units.h"
#include <math.h>
#include <string.h>

#define STEPS_A_WINDOW 50 /* our choice */
#define STEPS_A_DIP    5  /* our choice */
#define WINDOWS_BEFORE 2  /* our choice */
#define TOLERANCE      0.01

struct recovery_sample { /* since the start */
    int64_t placed_bytes, resent_packets, resent_bytes;
};

/* The begin or the end of a fault. */
struct change {
    int64_t time_ps;
    guint fault;
    bool end;
};

/* --- during the run ------------------------------------------------------------------------- */

static bool has_faults(const struct backend_run *run)
{
    for (guint i = 0; run->faults && i < run->faults->faults->len; i++)
        if (fault_at(run->faults, i)->at_ps <= run->end_ps)
            return true;
    return false;
}

void recovery_init(struct recovery *recovery, const struct backend_run *run,
                   const struct engine *engine)
{
    *recovery = (struct recovery){.run = run, .engine = engine, .next_ps = INT64_MAX};
    if (!has_faults(run))
        return;
    recovery->step_ps = MAX(run->model->faults.window / STEPS_A_WINDOW, 1);
    recovery->window_ps = recovery->step_ps * STEPS_A_WINDOW;
    recovery->next_ps = recovery->step_ps;
    recovery->samples = g_array_new(FALSE, FALSE, sizeof(struct recovery_sample));
    recovery->placed_bytes = g_new0(int64_t, run->graph->first_port[run->graph->n_hosts] + 1);
    recovery->last = g_new0(guint, run->graph->first_port[run->graph->n_hosts] + 1);
}

void recovery_clear(struct recovery *recovery)
{
    g_clear_pointer(&recovery->samples, g_array_unref);
    g_clear_pointer(&recovery->placed_bytes, g_free);
    g_clear_pointer(&recovery->last, g_free);
}

void recovery_step(struct recovery *recovery)
{
    struct recovery_sample sample = {0};

    for (uint32_t number = 0; number < recovery->run->graph->n_hosts; number++) {
        const struct host *host = &recovery->engine->hosts[number];

        for (uint32_t nic = 0; nic < host->n_nics; nic++) {
            uint32_t to = host->nics[nic].to;

            if (host->nics[nic].placed_bytes > recovery->placed_bytes[to])
                recovery->last[to] = recovery->samples->len;
            recovery->placed_bytes[to] = host->nics[nic].placed_bytes;
            sample.placed_bytes += host->nics[nic].placed_bytes;
        }
        sample.resent_packets += host->resent_packets;
        sample.resent_bytes += host->resent_bytes;
    }
    g_array_append_val(recovery->samples, sample);
    recovery->next_ps = recovery->next_ps < INT64_MAX - recovery->step_ps
                            ? recovery->next_ps + recovery->step_ps
                            : INT64_MAX;
}

/* --- afterwards ----------------------------------------------------------------------------- */

/* Sample number -1 is that of time 0, number k that of (k + 1) steps. */
static struct recovery_sample sample_at(const struct recovery *recovery, int64_t number)
{
    if (number < 0)
        return (struct recovery_sample){0};
    return g_array_index(recovery->samples, struct recovery_sample, (guint)number);
}

/* The first sample not before `time_ps`. */
static int64_t number_of(const struct recovery *recovery, int64_t time_ps)
{
    return (time_ps + recovery->step_ps - 1) / recovery->step_ps - 1;
}

static int64_t time_of(const struct recovery *recovery, int64_t number)
{
    return (number + 1) * recovery->step_ps;
}

/* Bytes per picosecond between two samples. */
static double rate_between(const struct recovery *recovery, int64_t from, int64_t to)
{
    return to > from ? (double)(sample_at(recovery, to).placed_bytes -
                                sample_at(recovery, from).placed_bytes) /
                           (double)((to - from) * recovery->step_ps)
                     : 0;
}

static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    if (x->end != y->end)
        return x->end ? -1 : 1;
    return (x->fault > y->fault) - (x->fault < y->fault);
}

static GArray *list_changes(const struct backend_run *run)
{
    GArray *changes = g_array_new(FALSE, FALSE, sizeof(struct change));

    for (guint i = 0; i < run->faults->faults->len; i++) {
        const struct fault *fault = fault_at(run->faults, i);

        if (fault->at_ps <= run->end_ps)
            g_array_append_vals(changes, &(struct change){fault->at_ps, i, false}, 1);
        if (fault->until_ps <= run->end_ps && fault->flap_period_ps == 0)
            g_array_append_vals(changes, &(struct change){fault->until_ps, i, true}, 1);
    }
    g_array_sort(changes, by_time);
    return changes;
}

static const struct change *change_at(const GArray *changes, guint index)
{
    return &g_array_index(changes, struct change, index);
}

/* --- what is left --------------------------------------------------------------------------- */

/* The capacity of the hosts' links as steps go by. */
struct capacity {
    const struct graph *graph;
    const GArray *steps;
    guint done;
    int64_t *rate_bps; /* by link; as it would be if it were up */
    uint8_t *down;
    double sum_bps;
};

static bool is_host_link(const struct graph *graph, uint32_t l)
{
    return graph->links[l].a < graph->n_hosts || graph->links[l].b < graph->n_hosts;
}

static void capacity_init(struct capacity *capacity, const struct graph *graph, const GArray *steps)
{
    *capacity = (struct capacity){.graph = graph, .steps = steps};
    capacity->rate_bps = g_new(int64_t, graph->n_links + 1);
    capacity->down = g_new0(uint8_t, graph->n_links + 1);
    for (uint32_t l = 0; l < graph->n_links; l++) {
        capacity->rate_bps[l] = graph->links[l].rate_bps;
        capacity->sum_bps += is_host_link(graph, l) ? (double)graph->links[l].rate_bps : 0;
    }
}

static void capacity_clear(struct capacity *capacity)
{
    g_free(capacity->rate_bps);
    g_free(capacity->down);
}

static double counted_bps(const struct capacity *capacity, uint32_t l)
{
    return is_host_link(capacity->graph, l) && !capacity->down[l] ? (double)capacity->rate_bps[l]
                                                                  : 0;
}

/* Takes the steps before `time_ps`, and those at it too if `with`; what is left then. */
static double capacity_at(struct capacity *capacity, int64_t time_ps, bool with)
{
    for (; capacity->done < capacity->steps->len; capacity->done++) {
        const struct fault_step *step =
            &g_array_index(capacity->steps, struct fault_step, capacity->done);

        if (step->time_ps > time_ps || (step->time_ps == time_ps && !with))
            break;
        capacity->sum_bps -= counted_bps(capacity, step->link);
        if (step->change == FAULT_RATE)
            capacity->rate_bps[step->link] = step->value;
        else if (step->change != FAULT_LOSS)
            capacity->down[step->link] = step->change == FAULT_DOWN;
        capacity->sum_bps += counted_bps(capacity, step->link);
    }
    return capacity->sum_bps;
}

/* --- measures ------------------------------------------------------------------------------- */

struct before {          /* the first fault */
    double rate;         /* bytes per picosecond */
    int64_t most_resent; /* packets in a step */
};

static struct before look_before(const struct recovery *recovery, int64_t first_ps)
{
    int64_t last = number_of(recovery, first_ps);
    struct before before = {0};

    if (time_of(recovery, last) > first_ps)
        last--;
    last = MIN(last, (int64_t)recovery->samples->len - 1);
    before.rate = rate_between(recovery, MAX(last - WINDOWS_BEFORE * STEPS_A_WINDOW, -1), last);
    for (int64_t k = 0; k <= last; k++)
        before.most_resent = MAX(before.most_resent, sample_at(recovery, k).resent_packets -
                                                         sample_at(recovery, k - 1).resent_packets);
    return before;
}

/* The last sample that counts. */
static int64_t last_sample(const struct recovery *recovery, const GArray *steps, bool finished)
{
    const struct graph *graph = recovery->run->graph;
    g_autofree uint8_t *touched = g_new0(uint8_t, graph->n_links + 1);
    int64_t last = (int64_t)recovery->samples->len - 1;

    for (guint i = 0; i < steps->len; i++)
        touched[g_array_index(steps, struct fault_step, i).link] = 1;
    for (uint32_t to = 0; finished && to < graph->first_port[graph->n_hosts]; to++)
        if (recovery->placed_bytes[to] > 0 && !touched[graph->port_list[to] / 2])
            last = MIN(last, (int64_t)recovery->last[to] - 1);
    return last;
}

static double detection_ps(const struct recovery *recovery, const struct before *before,
                           int64_t time_ps, int64_t first, int64_t last)
{
    for (int64_t k = first; k <= last; k++)
        if (sample_at(recovery, k).resent_packets - sample_at(recovery, k - 1).resent_packets >
            before->most_resent)
            return (double)(time_of(recovery, k) - time_ps);
    return (double)NAN;
}

/* The least goodput from sample `first` to `last`, in any STEPS_A_DIP steps in a row. */
static double least_rate(const struct recovery *recovery, int64_t first, int64_t last)
{
    double least = (double)INFINITY;

    for (int64_t k = first - 1; k + STEPS_A_DIP <= last; k++) {
        double rate = rate_between(recovery, k, k + STEPS_A_DIP);

        least = rate < least ? rate : least;
    }
    return isfinite(least) ? least : (double)NAN;
}

/* From the last window back to one that is too low; recovery is one step behind its begin. */
static double recovery_ps(const struct recovery *recovery, double expected, int64_t time_ps,
                          int64_t first, int64_t last)
{
    int64_t k = last - STEPS_A_WINDOW;

    if (k < first - 1 || rate_between(recovery, k, k + STEPS_A_WINDOW) < (1 - TOLERANCE) * expected)
        return (double)NAN;
    while (k >= first - 1 &&
           rate_between(recovery, k, k + STEPS_A_WINDOW) >= (1 - TOLERANCE) * expected)
        k--;
    return (double)MAX(time_of(recovery, k + 1) - time_ps, 0);
}

char *recovery_name(const struct fault_list *list, guint index)
{
    const char *name = fault_at(list, index)->name;

    return g_str_has_prefix(name, "fault:") ? g_strdup(name + strlen("fault:"))
                                            : g_strdup_printf("%u", index);
}

static void put(const struct sink *sink, const char *name, const char *what, const char *unit,
                double value)
{
    g_autofree char *metric = g_strdup_printf("fault_%s_%s", name, what);

    sink->ops->metric(sink->data, &(struct sink_metric){metric, unit, value});
}

/* Between the change and `last`, which may be before it: then there is nothing to say. */
static void report_change(const struct recovery *recovery, const struct change *change,
                          const struct before *before, double share, int64_t last,
                          const struct sink *sink)
{
    g_autofree char *fault = recovery_name(recovery->run->faults, change->fault);
    g_autofree char *name = g_strconcat(fault, change->end ? "_end" : "", NULL);
    int64_t first = number_of(recovery, change->time_ps + 1);
    bool known = before->rate > 0 && first <= last;
    double expected = before->rate * share;

    put(sink, name, "time", "ps", (double)change->time_ps);
    put(sink, name, "detection", "ps",
        known && !change->end ? detection_ps(recovery, before, change->time_ps, first, last)
                              : (double)NAN);
    put(sink, name, "dip", "ratio",
        known ? 1 - least_rate(recovery, first, last) / before->rate : (double)NAN);
    put(sink, name, "expected", "ratio", before->rate > 0 ? share : (double)NAN);
    put(sink, name, "reached", "ratio",
        known ? rate_between(recovery, MAX(last - STEPS_A_WINDOW, first - 1), last) / before->rate
              : (double)NAN);
    put(sink, name, "recovery", "ps",
        known ? recovery_ps(recovery, expected, change->time_ps, first, last) : (double)NAN);
    put(sink, name, "retransmitted", "bytes",
        first <= last ? (double)(sample_at(recovery, last).resent_bytes -
                                 sample_at(recovery, first - 1).resent_bytes)
                      : (double)NAN);
}

/* The last sample before the change that follows number `i`, at another time. */
static int64_t last_before_next(const struct recovery *recovery, const GArray *changes, guint i,
                                int64_t last)
{
    for (guint next = i + 1; next < changes->len; next++)
        if (change_at(changes, next)->time_ps > change_at(changes, i)->time_ps)
            return MIN(last, change_at(changes, next)->time_ps / recovery->step_ps - 1);
    return last;
}

void recovery_report(const struct recovery *recovery, bool finished, const struct sink *sink)
{
    const struct backend_run *run = recovery->run;
    struct capacity capacity;

    if (!recovery->samples || !sink->ops->metric)
        return;
    GArray *changes = list_changes(run);
    GArray *steps = fault_list_resolve(run->faults, run->graph, run->end_ps, NULL);
    struct before before = look_before(recovery, change_at(changes, 0)->time_ps);
    int64_t last = last_sample(recovery, steps, finished);

    capacity_init(&capacity, run->graph, steps);
    double capacity_before = capacity_at(&capacity, change_at(changes, 0)->time_ps, false);

    for (guint i = 0; i < changes->len; i++) {
        double share =
            capacity_at(&capacity, change_at(changes, i)->time_ps, true) / capacity_before;

        report_change(recovery, change_at(changes, i), &before, share,
                      last_before_next(recovery, changes, i, last), sink);
    }
    capacity_clear(&capacity);
    g_array_unref(steps);
    g_array_unref(changes);
}
