/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of packets to lose: the file, and the question whether a packet is on it. */
#include "models/loss.h"
#include "models/packet.h"
#include "sim/core/table.h"
#include <string.h>

struct drop_row {
    uint64_t flow;
    uint32_t sequence, transmission, link;
    uint32_t line;
    bool used;
};

struct seen { /* a packet of which rows speak */
    uint64_t flow;
    uint32_t sequence;
    uint32_t n_transmissions;
};

struct drop_list {
    char *path;
    GArray *rows;      /* struct drop_row */
    GHashTable *known; /* struct drop_row * by all four */
    GHashTable *seen;  /* struct seen * by flow and sequence */
};

enum column { FLOW, SEQUENCE, TRANSMISSION, LINK, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {"flow", "sequence", "transmission", "link"};

static guint row_hash(gconstpointer data)
{
    const struct drop_row *row = data;

    return (guint)random_mix(row->flow ^ (uint64_t)row->sequence << 24 ^
                             (uint64_t)row->transmission << 48 ^ (uint64_t)row->link << 52);
}

static gboolean row_equal(gconstpointer a, gconstpointer b)
{
    const struct drop_row *x = a, *y = b;

    return x->flow == y->flow && x->sequence == y->sequence && x->transmission == y->transmission &&
           x->link == y->link;
}

static guint seen_hash(gconstpointer data)
{
    const struct seen *seen = data;

    return (guint)random_mix(seen->flow ^ (uint64_t)seen->sequence << 32);
}

static gboolean seen_equal(gconstpointer a, gconstpointer b)
{
    const struct seen *x = a, *y = b;

    return x->flow == y->flow && x->sequence == y->sequence;
}

/* --- reading -------------------------------------------------------------------------------- */

static gboolean read_row(const struct table *table, uint32_t row, const uint32_t *columns,
                         const struct graph *graph, struct drop_row *out, GError **error)
{
    int64_t values[N_COLUMNS];

    for (int i = 0; i < N_COLUMNS; i++) {
        if (!table_quantity(table, row, columns[i], UNITS_NUMBER, &values[i], error))
            return FALSE;
        if (values[i] < (i == TRANSMISSION) || (i != FLOW && values[i] >= UINT32_MAX)) {
            table_set_error(table, row, columns[i], error, "%" G_GINT64_FORMAT ": %s is expected",
                            values[i], i == TRANSMISSION ? "1 or more" : "0 or more");
            return FALSE;
        }
    }
    if (values[LINK] >= graph->n_links) {
        table_set_error(table, row, columns[LINK], error,
                        "%" G_GINT64_FORMAT ": the links are 0 to %u", values[LINK],
                        graph->n_links - 1);
        return FALSE;
    }
    *out = (struct drop_row){(uint64_t)values[FLOW],         (uint32_t)values[SEQUENCE],
                             (uint32_t)values[TRANSMISSION], (uint32_t)values[LINK],
                             table_line(table, row),         false};
    return TRUE;
}

static void index_rows(struct drop_list *list)
{
    for (guint i = 0; i < list->rows->len; i++) {
        struct drop_row *row = &g_array_index(list->rows, struct drop_row, i);
        struct seen *seen = g_new0(struct seen, 1);

        *seen = (struct seen){row->flow, row->sequence, 0};
        g_hash_table_add(list->known, row);
        g_hash_table_add(list->seen, seen);
    }
}

static gboolean read_rows(struct drop_list *list, const struct table *table,
                          const struct graph *graph, GError **error)
{
    uint32_t columns[N_COLUMNS];

    for (int i = 0; i < N_COLUMNS; i++)
        if (!table_need_column(table, column_names[i], &columns[i], error))
            return FALSE;
    for (uint32_t row = 0; row < table_n_rows(table); row++) {
        struct drop_row read;

        if (!read_row(table, row, columns, graph, &read, error))
            return FALSE;
        g_array_append_val(list->rows, read);
    }
    index_rows(list);
    if (g_hash_table_size(list->known) < list->rows->len) {
        g_set_error(error, GRAPH_ERROR, 0, "%s: a row stands there twice; one packet is lost once",
                    list->path);
        return FALSE;
    }
    return TRUE;
}

struct drop_list *drop_list_read(const char *path, const struct graph *graph, GError **error)
{
    struct table *table = table_read(path, error);
    struct drop_list *list;

    if (!table)
        return NULL;
    list = g_new0(struct drop_list, 1);
    list->path = g_strdup(path);
    list->rows = g_array_new(FALSE, FALSE, sizeof(struct drop_row));
    list->known = g_hash_table_new(row_hash, row_equal);
    list->seen = g_hash_table_new_full(seen_hash, seen_equal, g_free, NULL);
    if (!read_rows(list, table, graph, error)) {
        drop_list_free(list);
        list = NULL;
    }
    table_free(table);
    return list;
}

void drop_list_free(struct drop_list *list)
{
    if (!list)
        return;
    g_hash_table_unref(list->known);
    g_hash_table_unref(list->seen);
    g_array_unref(list->rows);
    g_free(list->path);
    g_free(list);
}

/* --- the question --------------------------------------------------------------------------- */

bool drop_list_hit(struct drop_list *list, struct packet *packet, bool from_host, uint32_t link)
{
    struct drop_row key = {.flow = packet->flow, .sequence = packet->sequence, .link = link};

    if (from_host) {
        struct seen *seen =
            g_hash_table_lookup(list->seen, &(struct seen){packet->flow, packet->sequence, 0});

        packet->transmission = seen ? ++seen->n_transmissions : 0;
    }
    if (packet->transmission == 0)
        return false;
    key.transmission = packet->transmission;
    struct drop_row *row = g_hash_table_lookup(list->known, &key);

    if (row)
        row->used = true;
    return row != NULL;
}

void drop_list_count(const struct drop_list *list, int64_t *n_rows, int64_t *n_used)
{
    *n_rows = list->rows->len;
    *n_used = 0;
    for (guint i = 0; i < list->rows->len; i++)
        *n_used += g_array_index(list->rows, struct drop_row, i).used;
}

void drop_list_unused(const struct drop_list *list, GPtrArray *lines, guint n_most)
{
    for (guint i = 0; i < list->rows->len && lines->len < n_most; i++) {
        const struct drop_row *row = &g_array_index(list->rows, struct drop_row, i);

        if (!row->used)
            g_ptr_array_add(lines, g_strdup_printf("%s:%u: not used: flow %" G_GUINT64_FORMAT
                                                   ", sequence %u, transmission %u, link %u",
                                                   list->path, row->line, row->flow, row->sequence,
                                                   row->transmission, row->link));
    }
}
