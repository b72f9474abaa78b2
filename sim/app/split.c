/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/split.h"
#include <stdlib.h>
#include <string.h>

static void class_clear(void *data)
{
    struct split_class *class = data;

    g_free(class->name);
    g_array_unref(class->completion_ps);
}

void split_init(struct split *split)
{
    split->classes = g_array_new(FALSE, FALSE, sizeof(struct split_class));
    g_array_set_clear_func(split->classes, class_clear);
}

void split_clear(struct split *split)
{
    g_array_unref(split->classes);
}

static struct split_class *class_of(struct split *split, const char *name)
{
    for (guint i = 0; i < split->classes->len; i++) {
        struct split_class *class = &g_array_index(split->classes, struct split_class, i);

        if (strcmp(class->name, name) == 0)
            return class;
    }
    struct split_class class = {.name = g_strdup(name),
                                .start_ps = SINK_NEVER,
                                .end_ps = SINK_NEVER,
                                .completion_ps = g_array_new(FALSE, FALSE, sizeof(int64_t))};

    g_array_append_val(split->classes, class);
    return &g_array_index(split->classes, struct split_class, split->classes->len - 1);
}

void split_add(struct split *split, const char *name, const struct sink_flow *flow)
{
    struct split_class *class = class_of(split, name);
    int64_t completion_ps = flow->end_receiver_ps - flow->start_ps;

    class->n_flows++;
    class->offered_bytes += flow->bytes;
    class->retransmitted_packets += flow->retransmitted_packets;
    for (uint32_t plane = 0; plane < flow->n_planes; plane++)
        class->delivered_bytes += flow->bytes_by_plane[plane];
    if (flow->start_ps >= 0 && (class->start_ps < 0 || flow->start_ps < class->start_ps))
        class->start_ps = flow->start_ps;
    class->end_ps = MAX(class->end_ps, flow->end_receiver_ps);
    if (flow->status != SINK_FINISHED)
        return;
    class->n_finished++;
    if (completion_ps > 0)
        class->goodput_sum_bps += (double)flow->bytes * 8e12 / (double)completion_ps;
    g_array_append_val(class->completion_ps, completion_ps);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

void split_sort(GArray *times_ps)
{
    if (times_ps->len > 0)
        qsort(times_ps->data, times_ps->len, sizeof(int64_t), by_size);
}

int64_t split_nearest_rank(const GArray *sorted_ps, guint per_mille)
{
    guint64 rank = ((guint64)sorted_ps->len * per_mille + 999) / 1000;

    if (sorted_ps->len == 0)
        return SINK_NEVER;
    return g_array_index(sorted_ps, int64_t, (guint)MAX(rank, 1) - 1);
}
