/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/stats/dcqcn_fluid.h"
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <stdint.h>

#define LEAST_P    1e-12
#define MOST_P     0.999
#define MOST_DRIFT 1e4
#define MOST_TICKS 100000

/* --- what marking with probability p does to a flow of `rate` packets/s ----------------------- */

struct pull {        /* all per flow */
    double cut;      /* share of CNP intervals with a mark */
    double alpha;    /* share of alpha intervals with a mark */
    double increase; /* increases per packet sent: b + t */
    double additive; /* of those, additive ones */
};

/* 1 - (1-p)^n */
static double some_of(double p, double n)
{
    return -expm1(n * log1p(-p));
}

/* Ticks per packet of a clock that ticks each `n` packets and is set back by a mark. */
static double ticks(double p, double n)
{
    return n > 0 ? p / expm1(-n * log1p(-p)) : 0;
}

static struct pull pull_of(const struct dcqcn_fluid *fluid, double p, double rate)
{
    double byte_packets = fluid->byte_counter_bytes / fluid->packet_bytes;
    double time_packets = fluid->increase_timer_s * rate;
    double limited = fmin(fmax(p, LEAST_P), MOST_P);
    double by_bytes = ticks(limited, byte_packets), by_time = ticks(limited, time_packets);

    return (struct pull){.cut = some_of(p < LEAST_P ? 0 : limited, fluid->notify_s * rate),
                         .alpha = some_of(p < LEAST_P ? 0 : limited, fluid->alpha_timer_s * rate),
                         .increase = by_bytes + by_time,
                         .additive =
                             by_bytes * (1 - some_of(limited, fluid->threshold * byte_packets)) +
                             by_time * (1 - some_of(limited, fluid->threshold * time_packets))};
}

static double packets_per_s(const struct dcqcn_fluid *fluid, double bps)
{
    return bps / (8 * fluid->packet_bytes);
}

/* --- fixed point ------------------------------------------------------------------------------ */

/* Target less rate, where the rate stands still; alpha stands still at pull->alpha. */
static double gap_of(const struct dcqcn_fluid *fluid, const struct pull *pull)
{
    return pull->alpha * pull->cut / (fluid->notify_s * pull->increase);
}

/*
 * dR_T/dt at R_C = C / N, with alpha and R_C standing still: the logarithm of what raises the
 * target over what lowers it, which falls as p rises and stays finite.
 */
static double target_drift(double log_p, void *data)
{
    const struct dcqcn_fluid *fluid = data;
    double rate = packets_per_s(fluid, fluid->capacity_bps) / fluid->n_flows;
    struct pull pull = pull_of(fluid, exp(log_p), rate);
    double raised = packets_per_s(fluid, fluid->ai_bps) * rate * pull.additive;
    double lowered = gap_of(fluid, &pull) / fluid->notify_s * pull.cut;

    return fmax(log(raised), -MOST_DRIFT) - fmin(log(lowered), MOST_DRIFT);
}

typedef double drift(double log_p, void *fluid);

static bool find_root(const struct dcqcn_fluid *fluid, drift *drift_at, double *p)
{
    gsl_function function = {drift_at, (void *)(uintptr_t)fluid};
    gsl_root_fsolver *solver;
    double low = log(LEAST_P * 2), high = log(MOST_P);
    int status = GSL_CONTINUE;

    if (!(drift_at(low, function.params) > 0) || !(drift_at(high, function.params) < 0))
        return false;
    solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    gsl_root_fsolver_set(solver, &function, low, high);
    for (int i = 0; i < 200 && status == GSL_CONTINUE; i++) {
        if (gsl_root_fsolver_iterate(solver) != GSL_SUCCESS)
            break;
        status = gsl_root_test_interval(gsl_root_fsolver_x_lower(solver),
                                        gsl_root_fsolver_x_upper(solver), 1e-10, 0);
    }
    *p = exp(gsl_root_fsolver_root(solver));
    gsl_root_fsolver_free(solver);
    return status == GSL_SUCCESS;
}

/* The queue that marks with point->p. */
static void find_queue(const struct dcqcn_fluid *fluid, struct dcqcn_fluid_point *point)
{
    double span_bytes = fluid->kmax_bytes - fluid->kmin_bytes;

    point->pinned = point->p > fluid->pmax;
    point->queue_bytes =
        point->pinned ? fluid->kmax_bytes : fluid->kmin_bytes + point->p / fluid->pmax * span_bytes;
}

bool dcqcn_fluid_fixed_point(const struct dcqcn_fluid *fluid, struct dcqcn_fluid_point *point)
{
    double rate = packets_per_s(fluid, fluid->capacity_bps) / fluid->n_flows;

    *point = (struct dcqcn_fluid_point){.rate_bps = fluid->capacity_bps / fluid->n_flows};
    if (!find_root(fluid, target_drift, &point->p))
        return false;
    struct pull pull = pull_of(fluid, point->p, rate);

    point->alpha = pull.alpha;
    point->target_bps = point->rate_bps + gap_of(fluid, &pull) * 8 * fluid->packet_bytes;
    find_queue(fluid, point);
    return true;
}

double dcqcn_fluid_small_p(const struct dcqcn_fluid *fluid)
{
    double c = packets_per_s(fluid, fluid->capacity_bps), n = fluid->n_flows;
    double per_byte =
        fluid->byte_counter_bytes > 0 ? fluid->packet_bytes / fluid->byte_counter_bytes : 0;
    double increase = per_byte + n / (fluid->increase_timer_s * c);

    return cbrt(packets_per_s(fluid, fluid->ai_bps) * n * n / (fluid->alpha_timer_s * c * c) *
                increase * increase);
}

/* --- cycle by cycle --------------------------------------------------------------------------- */

struct cycle {    /* between two cuts of a flow */
    double per_s; /* cycles a second */
    double kept;  /* mean of 2^-n: what is left of a cut's distance at the next */
    double added; /* mean additive increase, in R_AI */
};

static struct cycle cycle_of(const struct dcqcn_fluid *fluid, double marks_per_s)
{
    struct cycle cycle = {.per_s = 1 / (fluid->notify_s + 1 / marks_per_s)};
    double reached = 1;

    for (double n = 0; reached > 1e-12 && n < MOST_TICKS; n++) {
        double exposed_s = (n + 1) * fluid->increase_timer_s - fluid->notify_s;
        double next = exp(-marks_per_s * fmax(exposed_s, 0)), k = n - fluid->threshold;

        cycle.kept += (reached - next) * exp2(-n);
        cycle.added += k > 0 ? (reached - next) * (k - 1 + exp2(-k)) : 0;
        reached = next;
    }
    return cycle;
}

static double alpha_of(const struct dcqcn_fluid *fluid, const struct cycle *cycle)
{
    return fmin(fluid->alpha_timer_s * cycle->per_s, 1);
}

/* Gain of a cycle over its loss, as a logarithm. */
static double cycle_drift(double log_p, void *data)
{
    const struct dcqcn_fluid *fluid = data;
    double rate_bps = fluid->capacity_bps / fluid->n_flows;
    struct cycle cycle = cycle_of(fluid, exp(log_p) * packets_per_s(fluid, rate_bps));
    double gained = fluid->ai_bps * cycle.added;
    double lost = rate_bps * alpha_of(fluid, &cycle) / 2 * cycle.kept;

    return fmax(log(gained), -MOST_DRIFT) - fmax(log(lost), -MOST_DRIFT);
}

bool dcqcn_fluid_cycle_point(const struct dcqcn_fluid *fluid, struct dcqcn_fluid_point *point)
{
    *point = (struct dcqcn_fluid_point){.rate_bps = fluid->capacity_bps / fluid->n_flows};
    if (!find_root(fluid, cycle_drift, &point->p))
        return false;
    struct cycle cycle = cycle_of(fluid, point->p * packets_per_s(fluid, point->rate_bps));

    point->alpha = alpha_of(fluid, &cycle);
    point->target_bps = point->rate_bps * (1 + point->alpha / 2 * cycle.kept);
    find_queue(fluid, point);
    return true;
}

/* --- over time -------------------------------------------------------------------------------- */

enum { QUEUE, ALPHA, TARGET, RATE, N_VARIABLES }; /* packets, 1, packets/s, packets/s */

struct run {
    const struct dcqcn_fluid *fluid;
    const struct dcqcn_fluid_state *states; /* the past: states[0 .. n_past) , one each step */
    size_t n_past;
    double step_s;
};

static double mark_probability(const struct dcqcn_fluid *fluid, double queue_bytes)
{
    if (queue_bytes <= fluid->kmin_bytes)
        return 0;
    if (queue_bytes >= fluid->kmax_bytes)
        return 1;
    return fluid->pmax * (queue_bytes - fluid->kmin_bytes) /
           (fluid->kmax_bytes - fluid->kmin_bytes);
}

/* Queue and rate as they were at `time_s`, which lies in the past. */
static void recall(const struct run *run, double time_s, double *queue_bytes, double *rate_bps)
{
    double place = (time_s - run->states[0].time_s) / run->step_s;
    double last = (double)(run->n_past - 1);

    place = fmin(fmax(place, 0), last);
    size_t before = (size_t)place, after = before + 1 < run->n_past ? before + 1 : before;
    double share = place - (double)before;

    *queue_bytes =
        (1 - share) * run->states[before].queue_bytes + share * run->states[after].queue_bytes;
    *rate_bps = (1 - share) * run->states[before].rate_bps + share * run->states[after].rate_bps;
}

static int derivatives(double time_s, const double y[], double dydt[], void *data)
{
    const struct run *run = data;
    const struct dcqcn_fluid *fluid = run->fluid;
    double queue_bytes, rate_bps, gap = y[TARGET] - y[RATE];

    recall(run, time_s - fluid->delay_s, &queue_bytes, &rate_bps);
    double rate = packets_per_s(fluid, rate_bps);
    struct pull pull = pull_of(fluid, mark_probability(fluid, queue_bytes), rate);

    dydt[QUEUE] = fluid->n_flows * y[RATE] - packets_per_s(fluid, fluid->capacity_bps);
    if (y[QUEUE] <= 0 && dydt[QUEUE] < 0)
        dydt[QUEUE] = 0;
    dydt[ALPHA] = fluid->gain / fluid->alpha_timer_s * (pull.alpha - y[ALPHA]);
    dydt[TARGET] = packets_per_s(fluid, fluid->ai_bps) * rate * pull.additive -
                   gap / fluid->notify_s * pull.cut;
    dydt[RATE] =
        gap / 2 * rate * pull.increase - y[RATE] * y[ALPHA] / (2 * fluid->notify_s) * pull.cut;
    return GSL_SUCCESS;
}

/* A queue is not negative, and no flow is faster than its line or slower than the least rate. */
static void keep_in_bounds(const struct dcqcn_fluid *fluid, double y[])
{
    double least = packets_per_s(fluid, fluid->least_bps);
    double line = packets_per_s(fluid, fluid->line_bps);

    y[QUEUE] = fmax(y[QUEUE], 0);
    y[TARGET] = fmax(fmin(y[TARGET], line), least);
    y[RATE] = fmax(fmin(y[RATE], line), least);
}

bool dcqcn_fluid_solve(const struct dcqcn_fluid *fluid, double step_s,
                       struct dcqcn_fluid_state *states, size_t n_states)
{
    struct run run = {fluid, states, 1, step_s};
    gsl_odeiv2_system system = {derivatives, NULL, N_VARIABLES, &run};
    gsl_odeiv2_step *stepper = gsl_odeiv2_step_alloc(gsl_odeiv2_step_rk4, N_VARIABLES);
    double bits = 8 * fluid->packet_bytes, start_s = states[0].time_s;
    double y[N_VARIABLES] = {states[0].queue_bytes / fluid->packet_bytes, states[0].alpha,
                             states[0].target_bps / bits, states[0].rate_bps / bits};
    double y_error[N_VARIABLES];
    bool ok = stepper != NULL;

    for (; ok && run.n_past < n_states; run.n_past++) {
        double time_s = start_s + (double)(run.n_past - 1) * step_s;

        ok = gsl_odeiv2_step_apply(stepper, time_s, step_s, y, y_error, NULL, NULL, &system) ==
             GSL_SUCCESS;
        keep_in_bounds(fluid, y);
        states[run.n_past] =
            (struct dcqcn_fluid_state){.time_s = start_s + (double)run.n_past * step_s,
                                       .queue_bytes = y[QUEUE] * fluid->packet_bytes,
                                       .rate_bps = y[RATE] * bits,
                                       .target_bps = y[TARGET] * bits,
                                       .alpha = y[ALPHA]};
    }
    gsl_odeiv2_step_free(stepper);
    return ok;
}
