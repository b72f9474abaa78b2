/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/stats/stats.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

void stats_init(void)
{
    gsl_set_error_handler_off();
}

double stats_mean(const double *values, size_t n)
{
    return n > 0 ? gsl_stats_mean(values, 1, n) : (double)NAN;
}

double stats_sd(const double *values, size_t n)
{
    return n > 1 ? gsl_stats_sd(values, 1, n) : (double)NAN;
}

/* Half width for a standard error with `freedom` degrees of freedom. */
static double half_width(double standard_error, size_t freedom)
{
    return gsl_cdf_tdist_Pinv(0.975, (double)freedom) * standard_error;
}

struct stats_estimate stats_estimate_mean(const double *values, size_t n)
{
    struct stats_estimate estimate = {stats_mean(values, n), (double)NAN, n};

    if (n > 1)
        estimate.ci95 = half_width(stats_sd(values, n) / sqrt((double)n), n - 1);
    return estimate;
}

struct stats_estimate stats_estimate_ratio(const double *above, const double *below, size_t n)
{
    double mean_below = stats_mean(below, n);
    double ratio = stats_mean(above, n) / mean_below;
    struct stats_estimate estimate = {ratio, (double)NAN, n};
    double squares = 0;

    if (n < 2)
        return estimate;
    /* the residuals have mean 0 by the choice of the ratio */
    for (size_t i = 0; i < n; i++)
        squares += (above[i] - ratio * below[i]) * (above[i] - ratio * below[i]);
    estimate.ci95 =
        half_width(sqrt(squares / (double)(n - 1) / (double)n) / fabs(mean_below), n - 1);
    return estimate;
}

struct stats_estimate stats_estimate_interaction(const double *both, const double *first,
                                                 const double *second, const double *neither,
                                                 size_t n)
{
    double mean_both = stats_mean(both, n), mean_first = stats_mean(first, n);
    double mean_second = stats_mean(second, n), mean_neither = stats_mean(neither, n);
    double all = mean_both * mean_first * mean_second * mean_neither, squares = 0;
    struct stats_estimate estimate = {(double)NAN, (double)NAN, n};

    if (all == 0 || !isfinite(all))
        return estimate;
    estimate.value = mean_both / mean_first * (mean_neither / mean_second);
    if (n < 2)
        return estimate;
    for (size_t i = 0; i < n; i++) {
        double residual = both[i] / mean_both + neither[i] / mean_neither - first[i] / mean_first -
                          second[i] / mean_second;

        squares += residual * residual;
    }
    estimate.ci95 =
        half_width(sqrt(squares / (double)(n - 1) / (double)n) * fabs(estimate.value), n - 1);
    return estimate;
}

struct stats_estimate stats_estimate_ratio_unpaired(const double *above, size_t n_above,
                                                    const double *below, size_t n_below)
{
    double mean_above = stats_mean(above, n_above), mean_below = stats_mean(below, n_below);
    double ratio = mean_above / mean_below;
    size_t n = n_above < n_below ? n_above : n_below;
    struct stats_estimate estimate = {ratio, (double)NAN, n};

    if (n < 2)
        return estimate;
    double sd_above = stats_sd(above, n_above), sd_below = ratio * stats_sd(below, n_below);
    double variance = sd_above * sd_above / (double)n_above + sd_below * sd_below / (double)n_below;

    estimate.ci95 = half_width(sqrt(variance) / fabs(mean_below), n - 1);
    return estimate;
}

void stats_sort(double *values, size_t n)
{
    gsl_sort(values, 1, n);
}

double stats_percentile(const double *sorted, size_t n, unsigned per_mille)
{
    size_t rank = (n * per_mille + 999) / 1000; /* from 1 */

    if (n == 0)
        return (double)NAN;
    return sorted[rank > n ? n - 1 : rank > 0 ? rank - 1 : 0];
}

struct stats_line stats_fit_line(const double *x, const double *y, size_t n)
{
    struct stats_line line = {NAN, NAN, NAN, NAN, n};
    double variance, ignored, residual;

    if (n < 2 || gsl_stats_tss(x, 1, n) <= 0)
        return line;
    gsl_fit_linear(x, 1, y, 1, n, &line.intercept, &line.slope, &ignored, &ignored, &variance,
                   &residual);
    if (n > 2)
        line.slope_ci95 = half_width(sqrt(variance), n - 2);
    if (gsl_stats_tss(y, 1, n) > 0)
        line.r2 = 1 - residual / gsl_stats_tss(y, 1, n);
    return line;
}

double stats_jain(const double *values, size_t n)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    return squares > 0 ? sum * sum / ((double)n * squares) : (double)NAN;
}
