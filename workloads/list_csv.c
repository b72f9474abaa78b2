/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of messages, from a CSV file or written in the scenario itself.
 *
 *   file    a header row and one message a row: src,dst,bytes[,start][,transport][,stream][,after]
 *           [,id][,op][,duration][,needs], in any order of columns and rows
 *   flows   "0>1 1MiB; 2>1 64KB start=5us transport=b stream=1 id=x after=y,z"
 *
 * `transport` names a profile of the scenario; `after` names messages (by id, joined by ';', or ','
 * in `flows`) that must be delivered before this one starts; without an id of its own a message is
 * known by its number, from 0. `start` is not before, so start and after may be combined. `ID@sent`
 * waits only until the sender of that message has all of it acknowledged.
 *
 * So that any stored schedule can be a file (`weft import` writes them), a row may be something
 * else than a message: op = compute (src is busy for `duration`), reduce (src reduces `bytes`) or
 * join (takes no time). needs = k starts a row when k of those that it is after are done.
 *
 * Not here: arrival processes, and the groups by which collectives report themselves.
 * Source: our choice, after the flow lists of HPCC's ns-3 and htsim, with units and ids.
 */
#include "sim/core/table.h"
#include "workloads/workload.h"
#include <string.h>

struct list_config {
    char *file, *flows;
};

static const struct param params[] = {
    PARAM(TEXT, struct list_config, file, "", NULL, NULL, NULL,
          "CSV file with the columns src,dst,bytes and, if wanted, "
          "start,transport,stream,after,id,op,duration,needs.",
          "our choice"),
    PARAM(TEXT, struct list_config, flows, "", NULL, NULL, NULL,
          "The messages themselves, instead of a file: 0>1 1MiB; 2>1 64KB start=5us.",
          "our choice"),
    PARAM_END};

enum field { SRC, DST, BYTES, START, TRANSPORT, STREAM, AFTER, ID, OP, DURATION, NEEDS, N_FIELDS };

static const char *const field_names[] = {"src",       "dst",      "bytes", "start",
                                          "transport", "stream",   "after", "id",
                                          "op",        "duration", "needs"};

/* In the order of enum schedule_kind. */
static const char *const op_names[] = {"message", "compute", "reduce", "join"};

struct entry {
    uint32_t number; /* line of the file, or which of the flows, from 1 */
    struct schedule_op op;
    uint32_t n_after, needs; /* needs: 0: all that it is after; more than that: it never starts */
    const char *after;       /* owned by `texts` */
};

struct list {
    const char *name; /* of the file; NULL: `flows` */
    uint32_t n_hosts;
    struct schedule *schedule;
    GArray *entries;      /* struct entry */
    GHashTable *index_of; /* id -> entry + 1; looked up, never walked */
    GStringChunk *texts;
};

/* Sets "FILE:LINE: column 'bytes', value '12x': what is right". */
static gboolean refuse(const struct list *list, uint32_t number, enum field field,
                       const char *value, GError **error, const char *format, ...)
    G_GNUC_PRINTF(6, 7);

static gboolean refuse(const struct list *list, uint32_t number, enum field field,
                       const char *value, GError **error, const char *format, ...)
{
    g_autofree char *where = list->name ? g_strdup_printf("%s:%u: column", list->name, number)
                                        : g_strdup_printf("flows: message %u:", number);
    g_autofree char *what = NULL;
    va_list arguments;

    va_start(arguments, format);
    what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, BUILD_ERROR, 0, "%s %s, value '%s': %s", where, field_names[field],
                value ? value : "", what);
    return FALSE;
}

/* --- one message ------------------------------------------------------------------------------ */

static gboolean take_host(const struct list *list, uint32_t number, enum field field,
                          const char *text, uint32_t *host, GError **error)
{
    const char *why = NULL;
    int64_t value = 0;

    if (!units_parse(UNITS_NUMBER, text ? text : "", &value, &why))
        return refuse(list, number, field, text, error, "%s", why);
    if (value < 0 || value >= list->n_hosts)
        return refuse(list, number, field, text, error, "the topology has hosts 0 to %u",
                      list->n_hosts - 1);
    *host = (uint32_t)value;
    return TRUE;
}

static gboolean take_bytes(const struct list *list, uint32_t number, const char *text,
                           int64_t *bytes, GError **error)
{
    const char *why = NULL;

    if (!units_parse(UNITS_BYTES, text ? text : "", bytes, &why))
        return refuse(list, number, BYTES, text, error, "%s", why);
    if (*bytes <= 0)
        return refuse(list, number, BYTES, text, error, "a size of at least 1 byte is expected");
    return TRUE;
}

static gboolean take_time(const struct list *list, uint32_t number, enum field field,
                          const char *text, int64_t *time_ps, GError **error)
{
    const char *why = NULL;

    *time_ps = 0;
    if (!text || strcmp(text, "") == 0 || strcmp(text, "0") == 0)
        return TRUE;
    if (!units_parse(UNITS_TIME, text, time_ps, &why))
        return refuse(list, number, field, text, error, "%s", why);
    if (*time_ps < 0)
        return refuse(list, number, field, text, error, "a time of 0 or later is expected");
    return TRUE;
}

/* A whole number, 0 where nothing is said. */
static gboolean take_number(const struct list *list, uint32_t number, enum field field,
                            const char *text, uint32_t *result, GError **error)
{
    const char *why = NULL;
    int64_t value = 0;

    if (text && *text && !units_parse(UNITS_NUMBER, text, &value, &why))
        return refuse(list, number, field, text, error, "%s", why);
    if (value < 0 || value > UINT32_MAX)
        return refuse(list, number, field, text, error, "0 to %u is possible", UINT32_MAX);
    *result = (uint32_t)value;
    return TRUE;
}

static gboolean take_op(const struct list *list, uint32_t number, const char *text,
                        enum schedule_kind *kind, GError **error)
{
    if (!text || *text == '\0')
        text = op_names[SCHEDULE_MESSAGE];
    for (size_t k = 0; k < G_N_ELEMENTS(op_names); k++)
        if (strcmp(text, op_names[k]) == 0) {
            *kind = (enum schedule_kind)k;
            return TRUE;
        }
    return refuse(list, number, OP, text, error, "message, compute, reduce or join is expected");
}

/* Fields that a kind of operation has. */
static gboolean take_fields(const struct list *list, uint32_t number, const char *const *fields,
                            struct schedule_op *op, GError **error)
{
    bool sized = op->kind == SCHEDULE_MESSAGE || op->kind == SCHEDULE_REDUCE;
    static const enum field of_messages[] = {DST, BYTES};

    if (op->kind != SCHEDULE_JOIN || (fields[SRC] && *fields[SRC]))
        if (!take_host(list, number, SRC, fields[SRC], &op->rank, error))
            return FALSE;
    op->peer = op->rank;
    if (op->kind == SCHEDULE_MESSAGE &&
        !take_host(list, number, DST, fields[DST], &op->peer, error))
        return FALSE;
    for (int i = op->kind == SCHEDULE_MESSAGE ? 2 : 0; i < 2 - (op->kind == SCHEDULE_REDUCE); i++)
        if (fields[of_messages[i]] && *fields[of_messages[i]])
            return refuse(list, number, of_messages[i], fields[of_messages[i]], error,
                          "a %s has none", op_names[op->kind]);
    if (fields[DURATION] && *fields[DURATION] && op->kind != SCHEDULE_COMPUTE)
        return refuse(list, number, DURATION, fields[DURATION], error, "only a compute has one");
    return (!sized || take_bytes(list, number, fields[BYTES], &op->bytes, error)) &&
           take_time(list, number, DURATION, fields[DURATION], &op->duration_ps, error);
}

static gboolean take_id(struct list *list, uint32_t number, const char *text, GError **error)
{
    char own[16];

    g_snprintf(own, sizeof own, "%u", list->entries->len);
    if (!text || *text == '\0')
        text = own;
    if (g_hash_table_contains(list->index_of, text))
        return refuse(list, number, ID, text, error,
                      "an earlier message has this id (or this number, from 0, and no id)");
    g_hash_table_insert(list->index_of, g_string_chunk_insert(list->texts, text),
                        GUINT_TO_POINTER(list->entries->len + 1));
    return TRUE;
}

static gboolean take_message(struct list *list, uint32_t number, const char *const *fields,
                             GError **error)
{
    struct entry entry = {.number = number,
                          .op = {.kind = SCHEDULE_MESSAGE, .group = SCHEDULE_NO_GROUP}};
    struct schedule_op *op = &entry.op;

    if (!take_op(list, number, fields[OP], &op->kind, error) ||
        !take_fields(list, number, fields, op, error) ||
        !take_time(list, number, START, fields[START], &op->start_ps, error) ||
        !take_number(list, number, STREAM, fields[STREAM], &op->stream, error) ||
        !take_number(list, number, NEEDS, fields[NEEDS], &entry.needs, error) ||
        !take_id(list, number, fields[ID], error))
        return FALSE;
    if (op->kind == SCHEDULE_MESSAGE && op->rank == op->peer)
        return refuse(list, number, DST, fields[DST], error,
                      "the receiver must be another host than the sender");
    op->profile = schedule_profile(list->schedule, fields[TRANSPORT]);
    entry.after = fields[AFTER] ? g_string_chunk_insert(list->texts, fields[AFTER]) : "";
    g_array_append_val(list->entries, entry);
    return TRUE;
}

/* --- from a file ------------------------------------------------------------------------------ */

static gboolean find_columns(const struct table *table, const char *name, int *column_of,
                             GError **error)
{
    uint32_t needed;

    for (uint32_t c = 0; c < table_n_columns(table); c++) {
        const char *title = table_column_name(table, c);
        bool known = false;

        for (int f = 0; f < N_FIELDS; f++)
            known |= strcmp(field_names[f], title) == 0;
        if (!known) {
            const char *near = param_nearest(title, field_names, N_FIELDS);

            g_set_error(error, BUILD_ERROR, 0,
                        "%s: unknown column '%s'%s%s%s; the columns are "
                        "src,dst,bytes,start,transport,stream,after,id,op,duration,needs",
                        name, title, near ? ", is '" : "", near ? near : "",
                        near ? "' meant?" : "");
            return FALSE;
        }
    }
    for (int f = 0; f < N_FIELDS; f++)
        column_of[f] = table_column(table, field_names[f]);
    return table_need_column(table, "src", &needed, error) &&
           table_need_column(table, "dst", &needed, error) &&
           table_need_column(table, "bytes", &needed, error);
}

static gboolean take_rows(struct list *list, const struct table *table, GError **error)
{
    int column_of[N_FIELDS];

    if (!find_columns(table, list->name, column_of, error))
        return FALSE;
    for (uint32_t row = 0; row < table_n_rows(table); row++) {
        const char *fields[N_FIELDS] = {NULL};

        for (int f = 0; f < N_FIELDS; f++)
            if (column_of[f] >= 0)
                fields[f] = table_field(table, row, (uint32_t)column_of[f]);
        if (!take_message(list, table_line(table, row), fields, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean take_file(struct list *list, GError **error)
{
    struct table *table = table_read(list->name, error);
    gboolean ok = table && take_rows(list, table, error);

    table_free(table);
    return ok;
}

/* --- from the scenario ------------------------------------------------------------------------ */

/* Splits "start=5us" and files it; the words of a flow stay in `words`. */
static gboolean take_option(const struct list *list, uint32_t number, char *word,
                            const char **fields, GError **error)
{
    char *value = strchr(word, '=');

    if (value)
        *value++ = '\0';
    for (int f = START; value && f < N_FIELDS; f++)
        if (strcmp(word, field_names[f]) == 0) {
            if (fields[f])
                return refuse(list, number, (enum field)f, value, error, "given twice");
            fields[f] = value;
            return TRUE;
        }
    g_set_error(error, BUILD_ERROR, 0,
                "flows: message %u: '%s' is not understood; SRC>DST BYTES and then start=, "
                "transport=, stream=, after= or id= are expected",
                number, word);
    return FALSE;
}

static gboolean take_flow(struct list *list, uint32_t number, char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit_set(text, " \t\r\n", -1);
    const char *fields[N_FIELDS] = {NULL};
    int n_words = 0;

    for (int i = 0; words[i]; i++) {
        char *arrow = strchr(words[i], '>');

        if (words[i][0] == '\0')
            continue;
        n_words++;
        if (n_words == 1 && arrow) {
            *arrow = '\0';
            if (arrow > words[i] && arrow[-1] == '-')
                arrow[-1] = '\0';
            fields[SRC] = words[i];
            fields[DST] = arrow + 1;
        } else if (n_words == 2) {
            fields[BYTES] = words[i];
        } else if (!take_option(list, number, words[i], fields, error)) {
            return FALSE;
        }
    }
    return take_message(list, number, fields, error);
}

static gboolean take_flows(struct list *list, const char *flows, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(flows, ";", -1);

    for (uint32_t i = 0; parts[i]; i++)
        if (*g_strstrip(parts[i]) && !take_flow(list, i + 1, parts[i], error))
            return FALSE;
    return TRUE;
}

/* --- the schedule ----------------------------------------------------------------------------- */

static gboolean add_edges(const struct list *list, uint32_t index, GError **error)
{
    struct entry *entry = &g_array_index(list->entries, struct entry, index);
    g_auto(GStrv) ids = g_strsplit_set(entry->after, ";,", -1);
    uint32_t n_after = 0;

    for (int i = 0; ids[i]; i++) {
        guint before;

        enum schedule_when when = SCHEDULE_AT_RECEIVER;

        if (*g_strstrip(ids[i]) == '\0')
            continue;
        if (g_str_has_suffix(ids[i], "@sent")) {
            ids[i][strlen(ids[i]) - strlen("@sent")] = '\0';
            when = SCHEDULE_AT_SENDER;
        }
        before = GPOINTER_TO_UINT(g_hash_table_lookup(list->index_of, ids[i]));
        if (before == 0)
            return refuse(list, entry->number, AFTER, ids[i], error, "no message has this id");
        schedule_add_edge(list->schedule, before - 1, index, when, false);
        n_after++;
    }
    entry->n_after = n_after;
    if (entry->needs)
        schedule_set_needed(list->schedule, index, entry->needs);
    return TRUE;
}

/* Edges that let an operation start here: one that needs more than it has is no circle. */
static uint32_t least_edges(const struct list *list, uint64_t op, uint32_t n_needed)
{
    uint32_t n_after = g_array_index(list->entries, struct entry, op).n_after;

    return MIN(n_needed, MAX(n_after, 1));
}

/* Plays the finished schedule without time (Kahn); a message never reached waits for a circle. */
static gboolean check_circles(const struct list *list, GError **error)
{
    const struct schedule *schedule = list->schedule;
    g_autofree uint32_t *n_fired = g_new0(uint32_t, schedule->n_ops + 1);
    g_autofree uint64_t *ready = g_new(uint64_t, schedule->n_ops + 1);
    uint64_t n_ready = 0, next;
    enum schedule_when when;

    for (; (next = schedule_root(schedule, n_ready)) != SCHEDULE_NONE; n_ready++)
        ready[n_ready] = next;
    for (uint64_t done = 0; done < n_ready; done++)
        for (uint32_t k = 0;
             (next = schedule_successor(schedule, ready[done], k, &when)) != SCHEDULE_NONE; k++) {
            struct schedule_op op;

            schedule_op(schedule, next, &op);
            if (++n_fired[next] == least_edges(list, next, op.n_needed))
                ready[n_ready++] = next;
        }
    for (uint32_t i = 0; n_ready < schedule->n_ops && i < list->entries->len; i++) {
        const struct entry *entry = &g_array_index(list->entries, struct entry, i);
        struct schedule_op op;

        schedule_op(schedule, i, &op);
        if (entry->n_after > 0 && n_fired[i] < least_edges(list, i, op.n_needed))
            return refuse(list, entry->number, AFTER, entry->after, error,
                          "a circle: this message waits, over others, for one that waits for "
                          "itself");
    }
    return TRUE;
}

static gboolean fill_schedule(const struct list *list, const struct graph *graph, GError **error)
{
    if (list->entries->len == 0) {
        g_set_error(error, BUILD_ERROR, 0, "%s: no message in it",
                    list->name ? list->name : "flows");
        return FALSE;
    }
    for (uint32_t i = 0; i < list->entries->len; i++)
        schedule_add_op(list->schedule, &g_array_index(list->entries, struct entry, i).op);
    for (uint32_t i = 0; i < list->entries->len; i++)
        if (!add_edges(list, i, error))
            return FALSE;
    return schedule_finish(list->schedule, graph->n_hosts, error) && check_circles(list, error);
}

static void note_content(const struct list *list, struct build *notes)
{
    int64_t last_ps = 0;
    double bytes = 0;

    for (uint32_t i = 0; i < list->entries->len; i++) {
        const struct schedule_op *op = &g_array_index(list->entries, struct entry, i).op;

        notes->n_hosts_named = MAX(notes->n_hosts_named, MAX(op->rank, op->peer) + 1);
        last_ps = MAX(last_ps, op->start_ps);
        bytes += (double)op->bytes;
    }
    g_autofree char *sum = units_display(UNITS_BYTES, bytes);
    g_autofree char *last = units_format(UNITS_TIME, last_ps);

    build_note(notes, "list: %u messages, %s in all, the last start at %s", list->entries->len, sum,
               last);
    if (last_ps > notes->end_ps)
        build_note(notes, "warning: starts up to %s are beyond the end of the run", last);
}

static gboolean check_keys(const struct list_config *config, GError **error)
{
    bool file = config->file && *config->file, flows = config->flows && *config->flows;

    if (file != flows)
        return TRUE;
    g_set_error(error, BUILD_ERROR, 0,
                file ? "file and flows are both given; one of them is expected"
                     : "neither file nor flows is given; one is expected");
    return FALSE;
}

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    const struct list_config *config = data;
    struct list list = {.n_hosts = graph->n_hosts, .schedule = schedule};
    gboolean ok;

    if (!check_keys(config, error))
        return FALSE;
    list.name = *config->file ? config->file : NULL;
    list.entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
    list.index_of = g_hash_table_new(g_str_hash, g_str_equal);
    list.texts = g_string_chunk_new(4096);
    schedule_init(schedule, graph->n_hosts);
    ok = (list.name ? take_file(&list, error) : take_flows(&list, config->flows, error)) &&
         fill_schedule(&list, graph, error);
    if (ok)
        note_content(&list, notes);
    else
        schedule_clear(schedule);
    g_array_unref(list.entries);
    g_hash_table_unref(list.index_of);
    g_string_chunk_free(list.texts);
    return ok;
}

const struct workload_ops workload_list_csv = {
    .name = "list",
    .summary = "Messages from a CSV file, or written in the scenario.",
    .source = "our choice",
    .config_size = sizeof(struct list_config),
    .params = params,
    .build = build};
