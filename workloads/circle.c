/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/circle.h"

struct search {
    const struct schedule *schedule;
    uint32_t *n_before; /* by operation: edges into it that have not fired */
    uint32_t *n_extra;  /* edges that it need not wait for */
    uint64_t *done;     /* operations in the order in which they end */
    uint64_t n_done;
};

static uint64_t next_of(const struct search *search, uint64_t op, uint32_t k)
{
    enum schedule_when when;

    return schedule_successor(search->schedule, op, k, &when);
}

static void count_edges(struct search *search)
{
    uint64_t next;

    for (uint64_t i = 0; i < search->schedule->n_ops; i++)
        for (uint32_t k = 0; (next = next_of(search, i, k)) != SCHEDULE_NONE; k++)
            search->n_before[next]++;
    for (uint64_t i = 0; i < search->schedule->n_ops; i++) {
        struct schedule_op op;

        schedule_op(search->schedule, i, &op);
        search->n_extra[i] =
            search->n_before[i] > op.n_needed ? search->n_before[i] - op.n_needed : 0;
    }
}

/* Kahn: ends all that can end. */
static void play(struct search *search)
{
    uint64_t next;

    for (uint64_t i = 0; i < search->schedule->n_ops; i++)
        if (search->n_before[i] <= search->n_extra[i])
            search->done[search->n_done++] = i;
    for (uint64_t d = 0; d < search->n_done; d++)
        for (uint32_t k = 0; (next = next_of(search, search->done[d], k)) != SCHEDULE_NONE; k++)
            if (search->n_before[next]-- == search->n_extra[next] + 1)
                search->done[search->n_done++] = next;
}

/* Every operation left has one before it that is left: going back from any runs into a circle. */
static GArray *walk(const struct search *search)
{
    uint64_t n_ops = search->schedule->n_ops, next;
    g_autofree bool *ended = g_new0(bool, n_ops);
    g_autofree uint64_t *before = g_new(uint64_t, n_ops);
    g_autofree uint32_t *step = g_new0(uint32_t, n_ops);
    GArray *circle = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    uint64_t at = SCHEDULE_NONE;
    uint32_t n_steps = 1;

    for (uint64_t d = 0; d < search->n_done; d++)
        ended[search->done[d]] = true;
    for (uint64_t i = 0; i < n_ops; i++)
        for (uint32_t k = 0; !ended[i] && (next = next_of(search, i, k)) != SCHEDULE_NONE; k++)
            if (!ended[next]) {
                before[next] = i;
                at = next;
            }
    for (; step[at] == 0; at = before[at])
        step[at] = n_steps++;
    uint64_t first = at;
    do {
        g_array_append_val(circle, at);
        at = before[at];
    } while (at != first);
    return circle;
}

GArray *circle_find(const struct schedule *schedule)
{
    struct search search = {.schedule = schedule,
                            .n_before = g_new0(uint32_t, schedule->n_ops + 1),
                            .n_extra = g_new0(uint32_t, schedule->n_ops + 1),
                            .done = g_new(uint64_t, schedule->n_ops + 1)};
    GArray *circle = NULL;

    count_edges(&search);
    play(&search);
    if (search.n_done < schedule->n_ops)
        circle = walk(&search);
    g_free(search.n_before);
    g_free(search.n_extra);
    g_free(search.done);
    return circle;
}
