/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/progress.h"
#include "sim/core/units.h"
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define TERMINAL_EVERY_US 250000
#define PLAIN_EVERY_US    5000000

static void stop_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

void progress_begin(struct progress *progress, bool quiet, double expected_hops)
{
    sigset_t set;

    stop_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    *progress = (struct progress){
        .quiet = quiet, .terminal = isatty(STDERR_FILENO), .expected_hops = expected_hops};
    progress->start_us = g_get_monotonic_time();
    progress->next_us =
        progress->start_us + (progress->terminal ? TERMINAL_EVERY_US : PLAIN_EVERY_US);
}

static bool stopped(struct progress *progress)
{
    static const struct timespec at_once = {0, 0};
    sigset_t set;

    stop_signals(&set);
    if (progress->signal == 0)
        progress->signal = MAX(sigtimedwait(&set, NULL, &at_once), 0);
    return progress->signal != 0;
}

double progress_left_s(const struct backend_progress *now, double expected_hops, double elapsed_s)
{
    if (now->n_hops > 0 && (double)now->n_hops < expected_hops)
        return elapsed_s * (expected_hops - (double)now->n_hops) / (double)now->n_hops;
    if (now->n_ops_done == 0)
        return -1;
    return elapsed_s * (double)(now->n_ops - now->n_ops_done) / (double)now->n_ops_done;
}

static void show(struct progress *progress, const struct backend_progress *now, double elapsed_s)
{
    g_autofree char *time = units_display(UNITS_TIME, (double)now->now_ps);
    double left = progress_left_s(now, progress->expected_hops, elapsed_s);

    fprintf(stderr,
            "%s%s simulated, %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
            " operations done, %.1f M events/s",
            progress->terminal ? "\r\033[K" : "", time, now->n_ops_done, now->n_ops,
            (double)now->n_events / elapsed_s / 1e6);
    if (left >= 0)
        fprintf(stderr, ", about %.0f s left", left);
    fputs(progress->terminal ? "" : "\n", stderr);
    fflush(stderr);
    progress->shown = true;
}

bool progress_report(void *data, const struct backend_progress *now)
{
    struct progress *progress = data;
    int64_t now_us;

    if (stopped(progress))
        return false;
    if (progress->quiet)
        return true;
    now_us = g_get_monotonic_time();
    if (now_us < progress->next_us)
        return true;
    show(progress, now, (double)(now_us - progress->start_us) / 1e6);
    progress->next_us = now_us + (progress->terminal ? TERMINAL_EVERY_US : PLAIN_EVERY_US);
    return true;
}

void progress_end(struct progress *progress)
{
    if (progress->shown && progress->terminal)
        fputs("\r\033[K", stderr);
}
