/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/ledger.h"
#include <assert.h>
#include <glib.h>

void ledger_init(struct ledger *ledger, uint32_t n_ranks, const struct sink *sink)
{
    *ledger = (struct ledger){.n_ranks = n_ranks, .sink = sink};
    ledger->ranks = g_new0(struct ledger_rank, n_ranks + 1);
}

void ledger_clear(struct ledger *ledger)
{
    g_clear_pointer(&ledger->ranks, g_free);
}

/* What the rank is at, by precedence. */
static enum sink_time class_of(const struct ledger_rank *rank)
{
    if (rank->n_active[LEDGER_COMPUTE] > 0)
        return SINK_TIME_COMPUTE;
    if (rank->n_active[LEDGER_COLLECTIVE] > 0)
        return SINK_TIME_COLLECTIVE;
    if (rank->n_active[LEDGER_NETWORK] == 0 && rank->n_active[LEDGER_HOST] > 0)
        return SINK_TIME_HOST;
    return SINK_TIME_NETWORK;
}

static void settle(struct ledger_rank *rank, int64_t now_ps)
{
    enum sink_time class = class_of(rank);
    int64_t time_ps = now_ps - rank->since_ps;

    rank->sums_ps[class] += time_ps;
    rank->since_ps = now_ps;
    if (class == SINK_TIME_NETWORK)
        rank->wait_ps += time_ps;
    else if (time_ps > 0)
        rank->wait_ps = 0;
}

void ledger_enter(struct ledger *ledger, uint32_t number, enum ledger_class class, int64_t now_ps)
{
    if (!ledger)
        return;
    settle(&ledger->ranks[number], now_ps);
    ledger->ranks[number].n_active[class]++;
}

void ledger_leave(struct ledger *ledger, uint32_t number, enum ledger_class class, int64_t now_ps)
{
    if (!ledger)
        return;
    settle(&ledger->ranks[number], now_ps);
    assert(ledger->ranks[number].n_active[class] > 0);
    ledger->ranks[number].n_active[class]--;
}

void ledger_late(struct ledger *ledger, uint32_t number, int64_t late_ps, int64_t now_ps)
{
    struct ledger_rank *rank;
    int64_t part_ps;

    if (!ledger || late_ps <= 0)
        return;
    rank = &ledger->ranks[number];
    settle(rank, now_ps);
    part_ps = MIN(late_ps, rank->wait_ps);
    rank->sums_ps[SINK_TIME_NETWORK] -= part_ps;
    rank->sums_ps[SINK_TIME_RECOVERY] += part_ps;
    rank->wait_ps -= part_ps;
}

static void hand_over(struct ledger *ledger, uint32_t number)
{
    struct ledger_rank *rank = &ledger->ranks[number];
    struct sink_step record = {
        .rank = number, .step = rank->step++, .start_ps = rank->begin_ps, .end_ps = rank->since_ps};

    for (int i = 0; i < SINK_N_TIMES; i++) {
        record.time_ps[i] = rank->sums_ps[i];
        ledger->sums_ps[i] += rank->sums_ps[i];
        rank->sums_ps[i] = 0;
    }
    ledger->step_ps += record.end_ps - record.start_ps;
    ledger->longest_ps = MAX(ledger->longest_ps, record.end_ps - record.start_ps);
    rank->begin_ps = rank->since_ps;
    rank->wait_ps = 0;
    if (ledger->sink->ops->step)
        ledger->sink->ops->step(ledger->sink->data, &record);
}

void ledger_step(struct ledger *ledger, uint32_t number, int64_t now_ps)
{
    if (!ledger)
        return;
    settle(&ledger->ranks[number], now_ps);
    hand_over(ledger, number);
}

void ledger_finish(struct ledger *ledger)
{
    for (uint32_t number = 0; number < ledger->n_ranks; number++)
        if (ledger->ranks[number].step == 0 && ledger->ranks[number].since_ps > 0)
            hand_over(ledger, number);
}
