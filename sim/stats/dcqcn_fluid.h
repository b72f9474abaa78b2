/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DCQCN as a fluid: N equal flows through one bottleneck with RED, as delay-differential equations
 * and by their fixed point. The curve behind a packet trace.
 *
 * With R_C the rate, R_T the target (packets/s), C the capacity, B the byte counter in packets, T
 * the increase timer, tau the time between CNPs, tau' the alpha timer, p the marking probability,
 * and everything marked ' taken a feedback delay earlier:
 *   dq/dt     = N R_C - C
 *   dalpha/dt = g / tau' (1 - (1-p')^(tau' R_C') - alpha)
 *   dR_T/dt   = - (R_T - R_C) / tau (1 - (1-p')^(tau R_C'))
 *               + R_AI R_C' [(1-p')^(F B) b + (1-p')^(F T R_C') t]
 *   dR_C/dt   = - R_C alpha / (2 tau) (1 - (1-p')^(tau R_C')) + (R_T - R_C) / 2 R_C' [b + t]
 *   b = p' / ((1-p')^-B - 1),  t = p' / ((1-p')^(-T R_C') - 1): increases per packet sent
 * It leaves out: hyper increase, the start (all flows are equal always), packets as such (marks are
 * a rate), the clocks' phases.
 * Source: Zhu et al., "ECN or Delay", CoNEXT 2016, restated in SOURCES.md 9.1 [M].
 */
#ifndef WEFT_SIM_STATS_DCQCN_FLUID_H
#define WEFT_SIM_STATS_DCQCN_FLUID_H

#include <stdbool.h>
#include <stddef.h>

struct dcqcn_fluid {
    double capacity_bps;        /* of the bottleneck */
    double least_bps, line_bps; /* of a flow: its rate and target stay between */
    double n_flows;
    double packet_bytes;                              /* on the wire */
    double notify_s, alpha_timer_s, increase_timer_s; /* tau, tau', T */
    double byte_counter_bytes;                        /* 0: none */
    double threshold;                                 /* F */
    double ai_bps, gain;                              /* R_AI, g */
    double kmin_bytes, kmax_bytes, pmax;
    double delay_s; /* from a mark to the rate that answers it */
};

struct dcqcn_fluid_point {
    double p;
    double queue_bytes;
    double alpha;
    double rate_bps, target_bps;
    /* p is above pmax, where no queue gives it: the queue swings about kmax; queue_bytes is kmax */
    bool pinned;
};

/* The exact root of the equations, by Brent's method; false if there is none (no increase, or no
 * feedback). */
bool dcqcn_fluid_fixed_point(const struct dcqcn_fluid *fluid, struct dcqcn_fluid_point *point);

/*
 * The fixed point cycle by cycle, without the fluid's closure. The fluid multiplies the mean
 * distance to the target by the mean number of increases; in truth the two belong together: a tick
 * halves the distance, so the first ticks after a cut do most, and a cut of rate R that is followed
 * by n ticks costs but R alpha / 2 / 2^n. A cycle is a CNP, tau without one, then an exponential
 * time of mean 1 / (p R); the timer's n-th tick is reached with probability exp(-p R max(0, n T -
 * tau)); ticks above F gain R_AI (k - 1 + 2^-k), k = n - F. p is where a cycle's loss is its gain.
 * Leaves out: the byte counter (its 10 MB take longer than a cycle), hyper increase, fluctuations
 * of the queue and of the rate within a cycle. Source: our own.
 */
bool dcqcn_fluid_cycle_point(const struct dcqcn_fluid *fluid, struct dcqcn_fluid_point *point);

/* What the root is for small p: cube root of R_AI N^2 / (tau' C^2) (1/B + N/(T C))^2. */
double dcqcn_fluid_small_p(const struct dcqcn_fluid *fluid);

struct dcqcn_fluid_state {
    double time_s, queue_bytes, rate_bps, target_bps, alpha;
};

/*
 * From `states[0]`, which the caller fills, on by fixed steps of `step_s` (at most the delay):
 * fills states[1 .. n_states - 1]. Before states[0] all was as there. Runge-Kutta of fourth order;
 * what lies between two steps of the past is interpolated linearly. False if GSL fails.
 */
bool dcqcn_fluid_solve(const struct dcqcn_fluid *fluid, double step_s,
                       struct dcqcn_fluid_state *states, size_t n_states);

#endif
