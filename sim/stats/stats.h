/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of small samples (a value a seed) and of flows, by GSL.
 *
 * Where a quantity does not exist (the interval of one value, the mean of none) the answer is NaN,
 * which tables write as an empty field; nothing here stops the program.
 */
#ifndef WEFT_SIM_STATS_STATS_H
#define WEFT_SIM_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct stats_estimate {
    double value;
    double ci95; /* half width of the 95 % confidence interval; NaN if n < 2 */
    size_t n;
};

/* Tells GSL, once and before any thread, to return errors instead of ending the program. */
void stats_init(void);

double stats_mean(const double *values, size_t n);

/* Of the sample, n - 1 in the denominator; NaN if n < 2. */
double stats_sd(const double *values, size_t n);

/* The mean with Student's interval t(0.975, n - 1) sd / sqrt(n): n independent normal values. */
struct stats_estimate stats_estimate_mean(const double *values, size_t n);

/*
 * mean(above) / mean(below) for pairs (above[i], below[i]) of the same seed, with the interval of
 * the ratio estimator by linearisation: t(0.975, n - 1) sd(above - R below) / (sqrt(n)
 * mean(below)). What a pair has in common cancels. Source: Cochran, Sampling Techniques (1977),
 * section 6.4.
 */
struct stats_estimate stats_estimate_ratio(const double *above, const double *below, size_t n);

/*
 * What two changes do together beyond the product of what each does alone: mean(both)
 * mean(neither) / (mean(first) mean(second)), the four by equal seeds; 1 where neither knows of the
 * other. Linearised likewise, over each seed's sum of the four relative residuals. NaN where a mean
 * is 0.
 */
struct stats_estimate stats_estimate_interaction(const double *both, const double *first,
                                                 const double *second, const double *neither,
                                                 size_t n);

/*
 * The same as the ratio for two independent samples: relative variances of the two means add, and
 * the degrees of freedom are those of the smaller sample, which errs on the wide side.
 */
struct stats_estimate stats_estimate_ratio_unpaired(const double *above, size_t n_above,
                                                    const double *below, size_t n_below);

/* A straight line y = intercept + slope x by least squares. */
struct stats_line {
    double intercept, slope;
    double slope_ci95; /* half width of its 95 % interval, Student's t with n - 2; NaN if n < 3 */
    double r2;         /* coefficient of determination; NaN where all y are equal */
    size_t n;
};

/* NaN in all if x does not vary. */
struct stats_line stats_fit_line(const double *x, const double *y, size_t n);

/* Ascending, in place. */
void stats_sort(double *values, size_t n);

/*
 * Nearest rank: the smallest value that at least per_mille / 1000 of the sorted values do not
 * exceed. p99 is 990; 0 gives the least. Exact: always one of the values.
 */
double stats_percentile(const double *sorted, size_t n, unsigned per_mille);

/*
 * Jain's fairness index (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has all, NaN
 * when none has anything. Source: Jain, Chiu, Hawe, DEC-TR-301 (1984).
 */
double stats_jain(const double *values, size_t n);

#endif
