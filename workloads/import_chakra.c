/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chakra execution traces (.et), one file a rank, NAME.RANK.et: a stream of protobuf messages, each
 * behind its length, GlobalMetadata first and then a Node each (et_def.proto of mlcommons/chakra).
 *
 *   compute, load, store   the rank is busy for duration_micros
 *   send, receive          of comm_size bytes to comm_dst, from comm_src, with comm_tag; matched
 *                          once, in the order of the files
 *   collective             comm_type over comm_size bytes: played as workloads/collective*.c play
 *                          theirs, within the ranks of pg_name, else all; the k-th call of a group
 *                          on one rank is the k-th on all
 *   other                  takes no time
 * A node begins when all its ctrl_deps and data_deps are done; a send is done for its rank when all
 * of it is acknowledged, a collective when the rank's part is.
 *
 * Values are taken from any integer field, or from digits in a text; traces use several. A node is
 * not passed over because is_cpu_op is absent. An attribute that a node needs and has not is an
 * error, not a zero; so is a send or receive that nobody answers, a dependency on a node that is
 * not there, and a circle of them.
 *
 * Groups of ranks: groups_file, JSON { "PG_NAME": [rank, ...], ... }, read here: it is one object
 * of arrays of whole numbers, which does not warrant a library.
 *
 * Left out: that a GPU runs one kernel at a time (nodes that are ready run side by side), num_ops
 * and tensor_size (no roofline: a duration that is absent is 0), start times, priorities.
 * Source: mlcommons/chakra, schema/protobuf/et_def.proto; astra-sim, workload layer, 2026.
 */
#include "sim/core/reader.h"
#include "sim/core/units.h"
#include "workloads/circle.h"
#include "workloads/embed.h"
#include "workloads/match.h"
#include "workloads/protobuf.h"
#include <string.h>

#define MOST_NODES  (UINT32_C(1) << 24) /* of all files */
#define MOST_RANKS  (UINT32_C(1) << 20)
#define MOST_GROUPS (UINT32_C(1) << 20)
#define NOTES_MOST  5

struct chakra_config {
    char *file, *groups_file;
    int64_t ranks, allgather_size, algorithm;
};

static const struct param params[] = {
    PARAM(TEXT, struct chakra_config, file, "", NULL, NULL, NULL,
          "One of the files NAME.RANK.et of a trace; the others lie beside it.",
          "our choice: no default can be meant"),
    PARAM(NUMBER, struct chakra_config, ranks, "0", "0", "1048576", NULL,
          "So many ranks play the one file; 0: each has its own.",
          "our choice: a trace is one file a rank"),
    PARAM(TEXT, struct chakra_config, groups_file, "", NULL, NULL, NULL,
          "JSON file of communicator groups, {\"PG_NAME\": [rank, ...]}.",
          "our choice: without groups a collective is over all ranks"),
    PARAM(CHOICE, struct chakra_config, allgather_size, "total", NULL, NULL, "total|per_rank",
          "What comm_size of an all-gather counts: all that is gathered, or what a rank gives.",
          "nccl-tests: the total"),
    PARAM(CHOICE, struct chakra_config, algorithm, "ring", NULL, NULL, "ring|direct",
          "Of all-reduce, reduce-scatter and all-gather.", "as workload.algorithm of these"),
    PARAM_END};

enum node_type {
    NODE_LOAD = 2,
    NODE_STORE,
    NODE_COMPUTE,
    NODE_SEND,
    NODE_RECEIVE,
    NODE_COLLECTIVE
};

enum collective_type {
    TYPE_ALLREDUCE,
    TYPE_REDUCE,
    TYPE_ALLGATHER,
    TYPE_GATHER,
    TYPE_SCATTER,
    TYPE_BROADCAST,
    TYPE_ALLTOALL,
    TYPE_REDUCESCATTER,
    TYPE_REDUCESCATTER_BLOCK,
    TYPE_BARRIER,
    N_TYPES
};

static const char *const type_names[] = {"allreduce",     "reduce",    "allgather", "gather",
                                         "scatter",       "broadcast", "alltoall",  "reducescatter",
                                         "reducescatter", "barrier"};

/* Attributes that are read; the order of attribute_names. */
enum attribute { COMM_TYPE, COMM_SIZE, COMM_SRC, COMM_DST, COMM_TAG, ROOT, N_NUMBERS };
static const char *const attribute_names[] = {"comm_type", "comm_size", "comm_src",
                                              "comm_dst",  "comm_tag",  "root_rank"};

struct chakra_node {
    uint64_t id;
    uint32_t rank;
    uint8_t type;
    uint8_t given; /* bit set of enum attribute */
    int64_t number[N_NUMBERS];
    uint32_t group; /* index into groups; 0: all ranks */
    uint32_t call;  /* of the group on this rank, from 0 */
    int64_t duration_us;
    uint64_t offset; /* of its message in the file */
    uint64_t begin;  /* of a collective: its operation that others come before */
};

struct dependency {
    uint32_t node;
    uint64_t on; /* id within the rank */
};

struct group {
    char *name;
    GArray *ranks;  /* uint32_t */
    GArray **calls; /* by member: uint32_t nodes; NULL: nobody called */
};

struct chakra {
    const struct chakra_config *config;
    const struct graph *graph;
    struct build *notes;
    struct schedule *schedule;
    uint32_t n_ranks;
    char **paths;         /* by rank; all the same where one file is for all */
    GArray *nodes;        /* struct chakra_node; ranks one after the other */
    GArray *dependencies; /* struct dependency */
    uint32_t *first;      /* by rank: its first node; n_ranks + 1 */
    GPtrArray *groups;    /* struct group *; [0]: all ranks */
    GHashTable *group_of; /* name -> index; looked up, never walked */
    uint64_t n_empty;     /* collectives of 0 B */
    uint64_t n_untimed;   /* computations without a duration */
};

static struct chakra_node *node_at(const struct chakra *chakra, uint32_t index)
{
    return &g_array_index(chakra->nodes, struct chakra_node, index);
}

/* Sets "FILE: byte N: node ID: what is wrong". */
static gboolean refuse(const struct chakra *chakra, const struct chakra_node *node, GError **error,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);

static gboolean refuse(const struct chakra *chakra, const struct chakra_node *node, GError **error,
                       const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list list;

    va_start(list, format);
    what = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, BUILD_ERROR, 0,
                "%s: byte %" G_GUINT64_FORMAT ": node %" G_GUINT64_FORMAT " (rank %u): %s",
                chakra->paths[node->rank], node->offset, node->id, node->rank, what);
    return FALSE;
}

/* --- groups of ranks -------------------------------------------------------------------------- */

static void group_free(void *data)
{
    struct group *group = data;

    for (guint i = 0; group->calls && i < group->ranks->len; i++)
        if (group->calls[i])
            g_array_unref(group->calls[i]);
    g_free(group->calls);
    g_array_unref(group->ranks);
    g_free(group->name);
    g_free(group);
}

/* Takes `name`; owns nothing else of the caller's. */
static struct group *add_group(struct chakra *chakra, char *name)
{
    struct group *group = g_new0(struct group, 1);

    group->name = name;
    group->ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_ptr_array_add(chakra->groups, group);
    return group;
}

static struct group *group_at(const struct chakra *chakra, uint32_t index)
{
    return g_ptr_array_index(chakra->groups, index);
}

struct json {
    struct reader reader;
    size_t at;
};

static char json_peek(struct json *json)
{
    const char *text = json->reader.text;

    while (g_ascii_isspace(text[json->at])) {
        json->reader.line += text[json->at] == '\n';
        json->at++;
    }
    return text[json->at];
}

static gboolean json_need(struct json *json, char wanted, GError **error)
{
    if (json_peek(json) == wanted) {
        json->at++;
        return TRUE;
    }
    return reader_refuse(&json->reader, json->reader.line, error,
                         "'%c' is expected: groups are written {\"NAME\": [rank, ...], ...}",
                         wanted);
}

/* A member of a list: true after a comma, or at the first; false at `end`, which is taken. */
static gboolean json_more(struct json *json, char end, bool first, bool *more, GError **error)
{
    *more = false;
    if (json_peek(json) == end) {
        json->at++;
        return TRUE;
    }
    *more = true;
    return first || json_need(json, ',', error);
}

static char *json_name(struct json *json, GError **error)
{
    size_t length;

    if (!json_need(json, '"', error))
        return NULL;
    length = strcspn(json->reader.text + json->at, "\"\\\n");
    if (json->reader.text[json->at + length] != '"') {
        reader_refuse(&json->reader, json->reader.line, error,
                      "a name in quotes, without escapes, is expected");
        return NULL;
    }
    json->at += length + 1;
    return g_strndup(json->reader.text + json->at - length - 1, length);
}

static gboolean json_rank(const struct chakra *chakra, struct json *json, GArray *ranks,
                          GError **error)
{
    char *end = NULL;
    uint32_t rank;
    guint64 value;

    json_peek(json);
    value = g_ascii_strtoull(json->reader.text + json->at, &end, 10);
    if (!g_ascii_isdigit(json->reader.text[json->at]) || value >= chakra->n_ranks)
        return reader_refuse(&json->reader, json->reader.line, error,
                             "a rank from 0 to %u is expected", chakra->n_ranks - 1);
    json->at = (size_t)(end - json->reader.text);
    rank = (uint32_t)value;
    for (guint i = 0; i < ranks->len; i++)
        if (g_array_index(ranks, uint32_t, i) == rank)
            return reader_refuse(&json->reader, json->reader.line, error, "rank %u is named twice",
                                 rank);
    g_array_append_val(ranks, rank);
    return TRUE;
}

static gboolean json_group(struct chakra *chakra, struct json *json, GError **error)
{
    char *name = json_name(json, error);
    struct group *group;
    bool more = true;

    if (!name)
        return FALSE;
    if (g_hash_table_contains(chakra->group_of, name) || chakra->groups->len >= MOST_GROUPS) {
        reader_refuse(&json->reader, json->reader.line, error, "group '%.40s' is given twice",
                      name);
        g_free(name);
        return FALSE;
    }
    group = add_group(chakra, name);
    g_hash_table_insert(chakra->group_of, name, GUINT_TO_POINTER(chakra->groups->len - 1));
    if (!json_need(json, ':', error) || !json_need(json, '[', error))
        return FALSE;
    for (bool first = true; more; first = false)
        if (!json_more(json, ']', first, &more, error) ||
            (more && !json_rank(chakra, json, group->ranks, error)))
            return FALSE;
    if (group->ranks->len == 0)
        return reader_refuse(&json->reader, json->reader.line, error, "group '%.40s' is empty",
                             name);
    return TRUE;
}

static gboolean read_groups(struct chakra *chakra, GError **error)
{
    struct json json = {0};
    bool more = true;
    gboolean ok;

    if (*chakra->config->groups_file == '\0')
        return TRUE;
    ok = reader_open_text(&json.reader, chakra->config->groups_file, "groups of ranks", error) &&
         json_need(&json, '{', error);
    for (bool first = true; ok && more; first = false)
        ok = json_more(&json, '}', first, &more, error) &&
             (!more || json_group(chakra, &json, error));
    reader_close(&json.reader);
    return ok;
}

/* The group that a node names, all ranks for "" and for "0" where no such group is given. */
static gboolean find_group(struct chakra *chakra, struct chakra_node *node, const char *name,
                           GError **error)
{
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(chakra->group_of, name));
    const struct group *group;

    node->group = found;
    if (found == 0 && *chakra->config->groups_file && *name)
        return refuse(chakra, node, error, "group '%.40s' is not in %s", name,
                      chakra->config->groups_file);
    group = group_at(chakra, found);
    for (guint i = 0; i < group->ranks->len; i++)
        if (g_array_index(group->ranks, uint32_t, i) == node->rank)
            return TRUE;
    return refuse(chakra, node, error, "rank %u is no member of its group '%.40s'", node->rank,
                  name);
}

/* --- attributes ------------------------------------------------------------------------------- */

struct value {
    bool is_number;
    int64_t number;
    struct protobuf_span text; /* of a string or bytes value */
};

/* The fields of AttributeProto that hold one value. */
static void take_value(const struct protobuf_field *field, struct value *value)
{
    switch (field->number) {
    case 7:  /* int32, as 64 bits when negative */
    case 9:  /* int64 */
    case 11: /* uint32 */
    case 13: /* uint64 */
    case 21: /* fixed64 */
    case 25: /* sfixed64 */
    case 27: /* bool */
        *value = (struct value){.is_number = true, .number = (int64_t)field->value};
        break;
    case 15: /* sint32 */
    case 17: /* sint64 */
        *value = (struct value){.is_number = true, .number = protobuf_zigzag(field->value)};
        break;
    case 19: /* fixed32 */
        *value = (struct value){.is_number = true, .number = (int64_t)field->value};
        break;
    case 23: /* sfixed32 */
        *value = (struct value){.is_number = true, .number = (int32_t)(uint32_t)field->value};
        break;
    case 29: /* string */
    case 31: /* bytes */
        *value = (struct value){.text = field->bytes};
        break;
    default:
        break;
    }
}

static bool span_is(struct protobuf_span span, const char *text)
{
    size_t length = (size_t)(span.end - span.at);

    return length == strlen(text) && memcmp(span.at, text, length) == 0;
}

/* Whether the wire type is that of the value field. */
static bool fits_wire(const struct protobuf_field *field)
{
    switch (field->number) {
    case 19:
    case 23:
    case 5:
        return field->wire == PROTOBUF_FIXED32;
    case 3:
    case 21:
    case 25:
        return field->wire == PROTOBUF_FIXED64;
    case 7:
    case 9:
    case 11:
    case 13:
    case 15:
    case 17:
    case 27:
        return field->wire == PROTOBUF_VARINT;
    default:
        return field->wire == PROTOBUF_BYTES;
    }
}

static gboolean take_number(const struct chakra *chakra, struct chakra_node *node,
                            enum attribute which, const struct value *value, GError **error)
{
    int64_t number = value->number;

    if (!value->is_number) {
        g_autofree char *text =
            g_strndup((const char *)value->text.at, (size_t)(value->text.end - value->text.at));
        uint64_t whole;

        if (!reader_is_whole(text, 0, INT64_MAX, &whole))
            return refuse(chakra, node, error, "%s '%.40s': a whole number is expected",
                          attribute_names[which], text);
        number = (int64_t)whole;
    }
    if (number < 0 && which != COMM_TAG)
        return refuse(chakra, node, error, "%s %" G_GINT64_FORMAT ": 0 or more is expected",
                      attribute_names[which], number);
    node->number[which] = number;
    node->given |= (uint8_t)(1u << which);
    return TRUE;
}

/* `group` is set to the value of pg_name, if this is it; g_free. */
static gboolean take_attribute(const struct chakra *chakra, struct chakra_node *node,
                               struct protobuf_span span, char **group, GError **error)
{
    struct protobuf_span name = {0};
    struct value value = {0};
    struct protobuf_field field;
    bool fault, any = false;

    while (protobuf_next(&span, &field, &fault)) {
        if (!fits_wire(&field))
            return refuse(chakra, node, error, "field %u of an attribute has wire type %d",
                          field.number, field.wire);
        if (field.number == 1)
            name = field.bytes;
        take_value(&field, &value);
        any |= field.number > 2;
    }
    if (fault)
        return refuse(chakra, node, error, "an attribute that is no protobuf");
    for (int a = 0; a < N_NUMBERS; a++)
        if (any && name.at && span_is(name, attribute_names[a]))
            return take_number(chakra, node, (enum attribute)a, &value, error);
    if (name.at && span_is(name, "pg_name")) {
        g_free(*group);
        *group = value.is_number ? g_strdup_printf("%" G_GINT64_FORMAT, value.number)
                                 : g_strndup((const char *)value.text.at,
                                             (size_t)(value.text.end - value.text.at));
    }
    return TRUE;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static gboolean add_dependency(struct chakra *chakra, const struct chakra_node *node, uint64_t on,
                               GError **error)
{
    struct dependency dependency = {chakra->nodes->len, on};

    if (chakra->dependencies->len >= 4 * (uint64_t)MOST_NODES)
        return refuse(chakra, node, error, "too many dependencies");
    g_array_append_val(chakra->dependencies, dependency);
    return TRUE;
}

/* Ids of nodes, packed or one by one. */
static gboolean take_dependencies(struct chakra *chakra, const struct chakra_node *node,
                                  const struct protobuf_field *field, GError **error)
{
    struct protobuf_span span = field->bytes;
    uint64_t on;

    if (field->wire == PROTOBUF_VARINT)
        return add_dependency(chakra, node, field->value, error);
    if (field->wire != PROTOBUF_BYTES)
        return refuse(chakra, node, error, "dependencies of wire type %d", field->wire);
    while (span.at < span.end)
        if (!protobuf_varint(&span, &on))
            return refuse(chakra, node, error, "a dependency is cut short");
        else if (!add_dependency(chakra, node, on, error))
            return FALSE;
    return TRUE;
}

static gboolean take_field(struct chakra *chakra, struct chakra_node *node,
                           const struct protobuf_field *field, char **group, GError **error)
{
    bool varint = field->wire == PROTOBUF_VARINT;

    switch (field->number) {
    case 3:
        if (!varint || field->value > UINT8_MAX)
            return refuse(chakra, node, error, "its type is no small number");
        node->type = (uint8_t)field->value;
        return TRUE;
    case 4:
    case 5:
        return take_dependencies(chakra, node, field, error);
    case 7:
        if (!varint || field->value > (uint64_t)INT64_MAX / 1000000)
            return refuse(chakra, node, error, "its duration is out of range");
        node->duration_us = (int64_t)field->value;
        return TRUE;
    case 10:
        if (field->wire != PROTOBUF_BYTES)
            return refuse(chakra, node, error, "an attribute of wire type %d", field->wire);
        return take_attribute(chakra, node, field->bytes, group, error);
    default:
        return TRUE;
    }
}

/* Attributes that a node of its type must have. */
static gboolean check_node(struct chakra *chakra, struct chakra_node *node, GError **error)
{
    static const uint8_t needed[] = {[NODE_SEND] = 1 << COMM_SIZE | 1 << COMM_DST,
                                     [NODE_RECEIVE] = 1 << COMM_SIZE | 1 << COMM_SRC,
                                     [NODE_COLLECTIVE] = 1 << COMM_TYPE};
    uint8_t must = node->type < G_N_ELEMENTS(needed) ? needed[node->type] : 0;
    int64_t peer = node->number[node->type == NODE_SEND ? COMM_DST : COMM_SRC];

    if (node->type == NODE_COLLECTIVE && node->number[COMM_TYPE] != TYPE_BARRIER)
        must |= 1 << COMM_SIZE;
    for (int a = 0; a < N_NUMBERS; a++)
        if ((must & ~node->given) >> a & 1)
            return refuse(chakra, node, error, "it has no %s", attribute_names[a]);
    if (node->type == NODE_COLLECTIVE && node->number[COMM_TYPE] >= N_TYPES)
        return refuse(chakra, node, error, "comm_type %" G_GINT64_FORMAT "; 0 to %d are known",
                      node->number[COMM_TYPE], N_TYPES - 1);
    if (node->number[COMM_SIZE] > INT64_MAX / 8000)
        return refuse(chakra, node, error, "comm_size %" G_GINT64_FORMAT " is too large",
                      node->number[COMM_SIZE]);
    if ((node->type == NODE_SEND || node->type == NODE_RECEIVE) && peer >= chakra->n_ranks)
        return refuse(chakra, node, error, "rank %" G_GINT64_FORMAT "; ranks are 0 to %u", peer,
                      chakra->n_ranks - 1);
    if (node->type >= NODE_LOAD && node->type <= NODE_COMPUTE)
        chakra->n_untimed += node->duration_us == 0;
    return TRUE;
}

static gboolean take_node(struct chakra *chakra, struct protobuf_span span, uint32_t rank,
                          uint64_t offset, GError **error)
{
    struct chakra_node node = {.rank = rank, .offset = offset};
    struct protobuf_span again = span;
    struct protobuf_field field;
    g_autofree char *group = NULL;
    bool fault;

    while (protobuf_next(&again, &field, &fault)) /* first, so that faults name the node */
        if (field.number == 1 && field.wire == PROTOBUF_VARINT)
            node.id = field.value;
    if (fault)
        return refuse(chakra, &node, error, "no protobuf, or cut short");
    while (protobuf_next(&span, &field, &fault))
        if (!take_field(chakra, &node, &field, &group, error))
            return FALSE;
    if (!check_node(chakra, &node, error) ||
        (node.type == NODE_COLLECTIVE && !find_group(chakra, &node, group ? group : "", error)))
        return FALSE;
    if (chakra->nodes->len >= MOST_NODES)
        return refuse(chakra, &node, error, "more than %u nodes", MOST_NODES);
    g_array_append_val(chakra->nodes, node);
    return TRUE;
}

/* --- files ------------------------------------------------------------------------------------ */

static gboolean take_messages(struct chakra *chakra, uint32_t rank, const struct reader *reader,
                              GError **error)
{
    const unsigned char *start = (const unsigned char *)reader->text;
    struct protobuf_span span = {start, start + reader->length};

    for (bool first = true; span.at < span.end; first = false) {
        uint64_t offset = (uint64_t)(span.at - start), length;

        if (!protobuf_varint(&span, &length))
            return reader_refuse(reader, 0, error,
                                 "byte %" G_GUINT64_FORMAT ": the length of a message is cut short",
                                 offset);
        if (length > (uint64_t)(span.end - span.at))
            return reader_refuse(reader, 0, error,
                                 "byte %" G_GUINT64_FORMAT ": a message of %" G_GUINT64_FORMAT
                                 " B, but only %" G_GUINT64_FORMAT " B follow: cut short",
                                 offset, length, (uint64_t)(span.end - span.at));
        struct protobuf_span message = {span.at, span.at + length};

        span.at += length;
        /* GlobalMetadata begins with a text or an attribute, a node with its number */
        if (first && (length == 0 || *message.at != 0x08))
            continue;
        if (!take_node(chakra, message, rank, offset, error))
            return FALSE;
    }
    if (chakra->nodes->len > chakra->first[rank])
        return TRUE;
    return reader_refuse(reader, 0, error,
                         "byte %zu: the file ends without a node; a Chakra trace is expected",
                         reader->length);
}

static gboolean take_rank(struct chakra *chakra, uint32_t rank, GError **error)
{
    struct reader reader;
    gboolean ok;

    chakra->first[rank] = chakra->nodes->len;
    ok = reader_open(&reader, chakra->paths[rank], error) &&
         take_messages(chakra, rank, &reader, error);
    reader_close(&reader);
    return ok;
}

/* Splits "NAME.RANK.et" at RANK; false if the path is called otherwise. */
static bool split_path(const char *path, char **before, uint64_t *rank)
{
    g_autofree char *stem = NULL;
    const char *point;

    if (!g_str_has_suffix(path, ".et"))
        return false;
    stem = g_strndup(path, strlen(path) - strlen(".et"));
    point = strrchr(stem, '.');
    if (!point || !reader_is_whole(point + 1, 0, MOST_RANKS - 1, rank))
        return false;
    *before = g_strndup(stem, (gsize)(point - stem));
    return true;
}

/* The highest rank whose file lies beside the given one. */
static uint64_t last_rank(const char *before, uint64_t rank)
{
    g_autofree char *folder = g_path_get_dirname(before), *name = g_path_get_basename(before);
    g_autoptr(GDir) entries = g_dir_open(folder, 0, NULL);
    const char *entry;

    while (entries && (entry = g_dir_read_name(entries))) {
        g_autofree char *other = NULL;
        uint64_t found;

        if (split_path(entry, &other, &found) && strcmp(other, name) == 0)
            rank = MAX(rank, found);
    }
    return rank;
}

static gboolean find_files(struct chakra *chakra, GError **error)
{
    const char *file = chakra->config->file;
    g_autofree char *before = NULL;
    uint64_t rank = 0;
    bool one = chakra->config->ranks > 0 || !split_path(file, &before, &rank);

    if (!*file) {
        g_set_error(error, BUILD_ERROR, 0, "file is not given; a Chakra trace is expected");
        return FALSE;
    }
    chakra->n_ranks =
        (uint32_t)(one ? MAX(chakra->config->ranks, 1) : (int64_t)last_rank(before, rank) + 1);
    if (chakra->n_ranks > chakra->graph->n_hosts) {
        g_set_error(error, BUILD_ERROR, 0,
                    "%s: %u ranks, but the topology has only %u hosts; a topology of at least %u "
                    "is expected",
                    file, chakra->n_ranks, chakra->graph->n_hosts, chakra->n_ranks);
        return FALSE;
    }
    chakra->paths = g_new0(char *, chakra->n_ranks + 1);
    for (uint32_t r = 0; r < chakra->n_ranks; r++) {
        chakra->paths[r] = one ? g_strdup(file) : g_strdup_printf("%s.%u.et", before, r);
        if (!one && !g_file_test(chakra->paths[r], G_FILE_TEST_EXISTS)) {
            g_set_error(error, BUILD_ERROR, 0,
                        "%s: the trace lacks the file of rank %u, %s (ranks = N lets N ranks play "
                        "the one file)",
                        file, r, chakra->paths[r]);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean take_files(struct chakra *chakra, GError **error)
{
    struct group *all = add_group(chakra, g_strdup(""));

    for (uint32_t r = 0; r < chakra->n_ranks; r++)
        g_array_append_val(all->ranks, r);
    if (!read_groups(chakra, error))
        return FALSE;
    chakra->first = g_new0(uint32_t, chakra->n_ranks + 1);
    for (uint32_t r = 0; r < chakra->n_ranks; r++)
        if (!take_rank(chakra, r, error))
            return FALSE;
    chakra->first[chakra->n_ranks] = chakra->nodes->len;
    return TRUE;
}

/* --- the schedule: nodes ---------------------------------------------------------------------- */

static bool is_message(const struct chakra_node *node)
{
    return node->type == NODE_SEND && node->number[COMM_DST] != node->rank;
}

/* Operation i is node i; of a collective it is the end of the rank's part. */
static void add_nodes(struct chakra *chakra)
{
    for (uint32_t i = 0; i < chakra->nodes->len; i++) {
        const struct chakra_node *node = node_at(chakra, i);
        struct schedule_op op = {.kind = SCHEDULE_JOIN,
                                 .rank = node->rank,
                                 .peer = node->rank,
                                 .group = SCHEDULE_NO_GROUP};

        if (is_message(node)) {
            op.kind = SCHEDULE_MESSAGE;
            op.peer = (uint32_t)node->number[COMM_DST];
            op.bytes = MAX(node->number[COMM_SIZE], 1);
        } else if (node->type >= NODE_LOAD && node->type <= NODE_COMPUTE && node->duration_us > 0) {
            op.kind = SCHEDULE_COMPUTE;
            op.duration_ps = node->duration_us * 1000000;
        }
        schedule_add_op(chakra->schedule, &op);
    }
    for (uint32_t i = 0; i < chakra->nodes->len; i++) {
        struct chakra_node *node = node_at(chakra, i);

        node->begin = i;
        if (node->type == NODE_COLLECTIVE)
            node->begin = schedule_add_op(chakra->schedule,
                                          &(struct schedule_op){.kind = SCHEDULE_JOIN,
                                                                .rank = node->rank,
                                                                .peer = node->rank,
                                                                .group = SCHEDULE_NO_GROUP});
    }
}

/* Nodes of one rank by their ids; -1 for an id that occurs twice is an error. */
static GHashTable *index_rank(const struct chakra *chakra, uint32_t rank, GError **error)
{
    GHashTable *index = g_hash_table_new(g_int64_hash, g_int64_equal);

    for (uint32_t i = chakra->first[rank]; i < chakra->first[rank + 1]; i++) {
        struct chakra_node *node = node_at(chakra, i);

        if (g_hash_table_contains(index, &node->id)) {
            refuse(chakra, node, error, "an earlier node has this id");
            g_hash_table_unref(index);
            return NULL;
        }
        g_hash_table_insert(index, &node->id, GUINT_TO_POINTER(i + 1));
    }
    return index;
}

/* Dependencies stand in the order of the nodes, so those of a rank are together. */
static gboolean add_dependencies(struct chakra *chakra, GError **error)
{
    uint32_t d = 0;

    for (uint32_t rank = 0; rank < chakra->n_ranks; rank++) {
        g_autoptr(GHashTable) index = index_rank(chakra, rank, error);

        if (!index)
            return FALSE;
        for (; d < chakra->dependencies->len; d++) {
            const struct dependency *dependency =
                &g_array_index(chakra->dependencies, struct dependency, d);
            const struct chakra_node *node = node_at(chakra, dependency->node);
            guint found;

            if (dependency->node >= chakra->first[rank + 1])
                break;
            found = GPOINTER_TO_UINT(g_hash_table_lookup(index, &dependency->on));
            if (found == 0)
                return refuse(chakra, node, error,
                              "it depends on node %" G_GUINT64_FORMAT ", which is not in the file",
                              dependency->on);
            schedule_add_edge(chakra->schedule, found - 1, node->begin,
                              is_message(node_at(chakra, found - 1)) ? SCHEDULE_AT_SENDER
                                                                     : SCHEDULE_AT_RECEIVER,
                              false);
        }
    }
    return TRUE;
}

static gboolean match_nodes(struct chakra *chakra, GError **error)
{
    g_autofree struct match_item *items = g_new0(struct match_item, chakra->nodes->len + 1);

    for (uint32_t i = 0; i < chakra->nodes->len; i++) {
        const struct chakra_node *node = node_at(chakra, i);
        bool send = node->type == NODE_SEND;

        if (send || node->type == NODE_RECEIVE)
            items[i] = (struct match_item){.kind = send ? MATCH_SEND : MATCH_RECEIVE,
                                           .src = send ? node->rank : node->number[COMM_SRC],
                                           .dst = send ? node->number[COMM_DST] : node->rank,
                                           .tag = MAX(node->number[COMM_TAG], 0)};
    }
    match_all(items, chakra->nodes->len);
    for (uint32_t i = 0; i < chakra->nodes->len; i++) {
        const struct chakra_node *node = node_at(chakra, i);
        bool send = items[i].kind == MATCH_SEND;

        if (items[i].kind != MATCH_NEITHER && !items[i].other)
            return refuse(chakra, node, error,
                          "a %s of %" G_GINT64_FORMAT " B %s rank %" G_GINT64_FORMAT
                          ", tag %" G_GINT64_FORMAT ", that rank does not %s",
                          send ? "send" : "receive", node->number[COMM_SIZE], send ? "to" : "from",
                          node->number[send ? COMM_DST : COMM_SRC], node->number[COMM_TAG],
                          send ? "receive" : "send");
        if (items[i].kind == MATCH_RECEIVE)
            schedule_add_edge(chakra->schedule, items[i].other - 1, i, SCHEDULE_AT_RECEIVER, false);
    }
    return TRUE;
}

/* --- the schedule: collectives ---------------------------------------------------------------- */

static uint32_t member_of(const struct group *group, uint32_t rank)
{
    for (guint i = 0; i < group->ranks->len; i++)
        if (g_array_index(group->ranks, uint32_t, i) == rank)
            return i;
    return 0;
}

/* Files the calls with their groups and members, in the order of the files. */
static void file_calls(struct chakra *chakra)
{
    for (uint32_t i = 0; i < chakra->nodes->len; i++) {
        struct chakra_node *node = node_at(chakra, i);
        struct group *group = group_at(chakra, node->group);
        uint32_t member;

        if (node->type != NODE_COLLECTIVE)
            continue;
        member = node->group == 0 ? node->rank : member_of(group, node->rank);
        if (!group->calls)
            group->calls = g_new0(GArray *, group->ranks->len);
        if (!group->calls[member])
            group->calls[member] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        node->call = group->calls[member]->len;
        g_array_append_val(group->calls[member], i);
    }
}

/* The node of call `call` at `member`; NULL if it does not make it. */
static const struct chakra_node *call_at(const struct chakra *chakra, const struct group *group,
                                         uint32_t member, uint32_t call)
{
    const GArray *calls = group->calls[member];

    return calls && call < calls->len ? node_at(chakra, g_array_index(calls, uint32_t, call))
                                      : NULL;
}

/* All members make the call, and the same one. */
static gboolean check_call(const struct chakra *chakra, const struct group *group,
                           const struct chakra_node *first, GError **error)
{
    for (guint member = 0; member < group->ranks->len; member++) {
        const struct chakra_node *node = call_at(chakra, group, member, first->call);
        uint32_t rank = g_array_index(group->ranks, uint32_t, member);

        if (!node)
            return refuse(chakra, first, error,
                          "call %u of group '%s' (%s) waits for rank %u, which makes no such call",
                          first->call, group->name, type_names[first->number[COMM_TYPE]], rank);
        if (node->number[COMM_TYPE] != first->number[COMM_TYPE] ||
            node->number[COMM_SIZE] != first->number[COMM_SIZE])
            return refuse(chakra, node, error,
                          "call %u of group '%s': %s of %" G_GINT64_FORMAT
                          " B, but node %" G_GUINT64_FORMAT " of rank %u makes it %s of "
                          "%" G_GINT64_FORMAT " B",
                          node->call, group->name, type_names[node->number[COMM_TYPE]],
                          node->number[COMM_SIZE], first->id, first->rank,
                          type_names[first->number[COMM_TYPE]], first->number[COMM_SIZE]);
    }
    return TRUE;
}

/* Part i of `bytes` cut into n. */
static int64_t part_of(int64_t bytes, uint32_t n, uint32_t i)
{
    int64_t rest = bytes % n;

    return bytes / n + (rest * (i + 1) / n - rest * i / n);
}

/* Broadcast, scatter: from the root to all; reduce, gather: from all to the root. */
static gboolean add_rooted(struct chakra *chakra, const struct embed_call *call,
                           const struct chakra_node *node, GError **error)
{
    int64_t type = node->number[COMM_TYPE];
    bool out = type == TYPE_BROADCAST || type == TYPE_SCATTER;
    bool whole = type == TYPE_BROADCAST || type == TYPE_REDUCE;
    uint32_t root = 0, group;

    while (node->given >> ROOT & 1 && root < call->n && call->ranks[root] != node->number[ROOT])
        root++;
    if (root == call->n)
        return refuse(chakra, node, error, "root_rank %" G_GINT64_FORMAT " is not in its group",
                      node->number[ROOT]);
    group = schedule_add_group(chakra->schedule, type_names[type], call->bytes, call->n, 1, 1);
    for (uint32_t i = 0; i < call->n; i++)
        if (i != root)
            embed_message(chakra->schedule, call, out ? root : i, out ? i : root,
                          whole ? call->bytes : part_of(call->bytes, call->n, i), group);
    return TRUE;
}

static gboolean add_call(struct chakra *chakra, struct embed_call *call,
                         const struct chakra_node *node, GError **error)
{
    static const char *const algorithms[] = {"ring", "direct"};
    int64_t type = node->number[COMM_TYPE];
    g_autoptr(GError) fault = NULL;

    if (type == TYPE_BARRIER || call->bytes == 0) {
        embed_barrier(chakra->schedule, call);
        return TRUE;
    }
    if (type == TYPE_REDUCE || type == TYPE_GATHER || type == TYPE_SCATTER ||
        type == TYPE_BROADCAST)
        return add_rooted(chakra, call, node, error);
    call->kind = type_names[type];
    call->algorithm = type == TYPE_ALLTOALL ? NULL : algorithms[chakra->config->algorithm];
    if (type == TYPE_ALLGATHER && chakra->config->allgather_size == 1) {
        if (call->bytes > INT64_MAX / 8000 / call->n)
            return refuse(chakra, node, error, "its size is too large");
        call->bytes *= call->n;
    }
    if (embed_collective(chakra->schedule, chakra->graph, call, &fault))
        return TRUE;
    return refuse(chakra, node, error, "%s", fault->message);
}

/* One call of a group, by all its members. */
static gboolean add_members(struct chakra *chakra, const struct group *group,
                            const struct chakra_node *node, GError **error)
{
    uint32_t n = group->ranks->len;
    g_autofree uint64_t *begin = g_new(uint64_t, n), *end = g_new(uint64_t, n);
    struct embed_call call = {.bytes = node->number[COMM_SIZE],
                              .n = n,
                              .ranks = (const uint32_t *)(void *)group->ranks->data,
                              .begin = begin,
                              .end = end};

    if (!check_call(chakra, group, node, error))
        return FALSE;
    for (uint32_t member = 0; member < n; member++) {
        begin[member] = call_at(chakra, group, member, node->call)->begin;
        end[member] = g_array_index(group->calls[member], uint32_t, node->call);
        /* a part of a call is not done before it has begun */
        schedule_add_edge(chakra->schedule, begin[member], end[member], SCHEDULE_AT_RECEIVER,
                          false);
    }
    chakra->n_empty += call.bytes == 0 && node->number[COMM_TYPE] != TYPE_BARRIER;
    if (n == 1 && call.bytes > 0)
        return refuse(chakra, node, error,
                      "a collective over 1 rank moves no bytes; the files of all ranks, or ranks = "
                      "N, are expected");
    return add_call(chakra, &call, node, error);
}

/* Each call once: where its first maker stands. */
static gboolean add_collectives(struct chakra *chakra, GError **error)
{
    g_autofree uint32_t *n_added = g_new0(uint32_t, chakra->groups->len);

    file_calls(chakra);
    for (uint32_t i = 0; i < chakra->nodes->len; i++) {
        const struct chakra_node *node = node_at(chakra, i);

        if (node->type != NODE_COLLECTIVE || node->call < n_added[node->group])
            continue;
        n_added[node->group] = node->call + 1;
        if (!add_members(chakra, group_at(chakra, node->group), node, error))
            return FALSE;
    }
    return TRUE;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* A circle is an error that names a node of it. */
static gboolean check_circle(const struct chakra *chakra, GError **error)
{
    GArray *circle = circle_find(chakra->schedule);
    const struct chakra_node *node = NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    uint32_t n = 0;

    for (guint i = 0; circle && i < circle->len; i++) {
        uint64_t op = g_array_index(circle, uint64_t, i);

        if (op >= chakra->nodes->len || n++ >= NOTES_MOST)
            continue;
        if (!node)
            node = node_at(chakra, (uint32_t)op);
        g_string_append_printf(text, "%snode %" G_GUINT64_FORMAT " of rank %u",
                               text->len ? ", " : "", node_at(chakra, (uint32_t)op)->id,
                               node_at(chakra, (uint32_t)op)->rank);
    }
    if (!circle)
        return TRUE;
    g_array_unref(circle);
    return refuse(chakra, node ? node : node_at(chakra, 0), error,
                  "it waits, over others, for itself: %s%s", text->str,
                  n > NOTES_MOST ? ", ..." : "");
}

static gboolean fill_schedule(struct chakra *chakra, GError **error)
{
    schedule_init(chakra->schedule, chakra->n_ranks);
    add_nodes(chakra);
    if (!add_dependencies(chakra, error) || !match_nodes(chakra, error) ||
        !add_collectives(chakra, error)) {
        schedule_clear(chakra->schedule);
        return FALSE;
    }
    if (!workload_finish(chakra->schedule, chakra->graph, error))
        return FALSE;
    if (check_circle(chakra, error))
        return TRUE;
    schedule_clear(chakra->schedule);
    return FALSE;
}

static void note_content(const struct chakra *chakra)
{
    uint64_t n_of[NODE_COLLECTIVE + 1] = {0};
    double sent = 0, collected = 0, busy_ps = 0;

    for (uint32_t i = 0; i < chakra->nodes->len; i++) {
        const struct chakra_node *node = node_at(chakra, i);

        n_of[node->type <= NODE_COLLECTIVE ? node->type : 0]++;
        if (node->type == NODE_SEND)
            sent += (double)node->number[COMM_SIZE];
        if (node->type == NODE_COLLECTIVE)
            collected += (double)node->number[COMM_SIZE];
        if (node->type >= NODE_LOAD && node->type <= NODE_COMPUTE)
            busy_ps += (double)node->duration_us * 1e6;
    }
    g_autofree char *bytes = units_display(UNITS_BYTES, sent);
    g_autofree char *sizes = units_display(UNITS_BYTES, collected);
    g_autofree char *busy = units_display(UNITS_TIME, busy_ps);

    build_note(chakra->notes,
               "Chakra %s: %u ranks, %u nodes: %" G_GUINT64_FORMAT " computations (%s in sum), "
               "%" G_GUINT64_FORMAT " sends of %s in all, %" G_GUINT64_FORMAT
               " receives, %" G_GUINT64_FORMAT
               " collective nodes with a comm_size of %s in sum; %u "
               "dependencies, %u groups",
               chakra->config->file, chakra->n_ranks, chakra->nodes->len,
               n_of[NODE_LOAD] + n_of[NODE_STORE] + n_of[NODE_COMPUTE], busy, n_of[NODE_SEND],
               bytes, n_of[NODE_RECEIVE], n_of[NODE_COLLECTIVE], sizes, chakra->dependencies->len,
               chakra->groups->len - 1);
    if (chakra->config->ranks)
        build_note(chakra->notes, "all %u ranks play the one file", chakra->n_ranks);
    if (chakra->n_empty)
        build_note(chakra->notes,
                   "warning: %" G_GUINT64_FORMAT " collectives have a comm_size of 0: they move no "
                   "bytes and only join their ranks",
                   chakra->n_empty);
    if (chakra->n_untimed)
        build_note(chakra->notes,
                   "%" G_GUINT64_FORMAT " computations have no duration and take no time: there is "
                   "no roofline for num_ops and tensor_size",
                   chakra->n_untimed);
    if (chakra->n_ranks < chakra->graph->n_hosts)
        build_note(chakra->notes, "%u ranks on %u hosts: the others are idle", chakra->n_ranks,
                   chakra->graph->n_hosts);
}

static gboolean build(const void *config, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    struct chakra chakra = {.config = config, .graph = graph, .notes = notes, .schedule = schedule};
    gboolean ok;

    chakra.nodes = g_array_new(FALSE, FALSE, sizeof(struct chakra_node));
    chakra.dependencies = g_array_new(FALSE, FALSE, sizeof(struct dependency));
    chakra.groups = g_ptr_array_new_with_free_func(group_free);
    chakra.group_of = g_hash_table_new(g_str_hash, g_str_equal);
    ok = find_files(&chakra, error) && take_files(&chakra, error) && fill_schedule(&chakra, error);
    if (ok) {
        note_content(&chakra);
        notes->n_hosts_named = chakra.n_ranks;
    }
    g_hash_table_unref(chakra.group_of);
    g_ptr_array_unref(chakra.groups);
    g_array_unref(chakra.nodes);
    g_array_unref(chakra.dependencies);
    g_strfreev(chakra.paths);
    g_free(chakra.first);
    return ok;
}

const struct workload_ops workload_chakra = {
    .name = "chakra",
    .summary = "A Chakra execution trace (.et), one file a rank, with its collectives.",
    .source = "mlcommons/chakra, et_def.proto",
    .config_size = sizeof(struct chakra_config),
    .params = params,
    .build = build};
