/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/match.h"
#include <glib.h>
#include <stdbool.h>

struct key { /* what a receive asks for */
    int64_t dst, src, tag;
};

struct queue {
    struct key key;
    GArray *sends; /* uint32_t, in their order */
    guint next;
};

static guint key_hash(gconstpointer data)
{
    const struct key *key = data;
    uint64_t hash = (uint64_t)key->dst * UINT64_C(0x9e3779b97f4a7c15);

    hash = (hash ^ (uint64_t)key->src) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 31 ^ (uint64_t)key->tag) * UINT64_C(0x94d049bb133111eb);
    return (guint)(hash >> 32);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    const struct key *x = a, *y = b;

    return x->dst == y->dst && x->src == y->src && x->tag == y->tag;
}

static void queue_free(void *data)
{
    struct queue *queue = data;

    g_array_unref(queue->sends);
    g_free(queue);
}

/* Sends that are left, by what a receive of this kind sees of them. */
static GHashTable *queue_sends(const struct match_item *items, uint32_t n_items, bool any_source,
                               bool any_tag)
{
    GHashTable *queues = g_hash_table_new_full(key_hash, key_equal, NULL, queue_free);

    for (uint32_t i = 0; i < n_items; i++) {
        const struct match_item *item = &items[i];
        struct key key = {item->dst, any_source ? MATCH_ANY : item->src,
                          any_tag ? MATCH_ANY : item->tag};
        struct queue *queue;

        if (item->kind != MATCH_SEND || item->other)
            continue;
        queue = g_hash_table_lookup(queues, &key);
        if (!queue) {
            queue = g_new(struct queue, 1);
            *queue = (struct queue){key, g_array_new(FALSE, FALSE, sizeof(uint32_t)), 0};
            g_hash_table_insert(queues, &queue->key, queue);
        }
        g_array_append_val(queue->sends, i);
    }
    return queues;
}

/* Matches the receives that leave open just what is said. */
static void match_pass(struct match_item *items, uint32_t n_items, bool any_source, bool any_tag)
{
    GHashTable *queues = NULL;

    for (uint32_t i = 0; i < n_items; i++) {
        struct match_item *item = &items[i];
        struct key key = {item->dst, item->src, item->tag};
        struct queue *queue;

        if (item->kind != MATCH_RECEIVE || (item->src == MATCH_ANY) != any_source ||
            (item->tag == MATCH_ANY) != any_tag)
            continue;
        if (!queues)
            queues = queue_sends(items, n_items, any_source, any_tag);
        queue = g_hash_table_lookup(queues, &key);
        if (!queue || queue->next == queue->sends->len)
            continue;
        uint32_t send = g_array_index(queue->sends, uint32_t, queue->next++);

        item->other = send + 1;
        items[send].other = i + 1;
    }
    if (queues)
        g_hash_table_unref(queues);
}

void match_all(struct match_item *items, uint32_t n_items)
{
    match_pass(items, n_items, false, false);
    match_pass(items, n_items, false, true);
    match_pass(items, n_items, true, false);
    match_pass(items, n_items, true, true);
}
