/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GOAL schedules, as LogGOPSim and ATLAHS have them: text, and the binary that txt2bin makes.
 *
 *   text     num_ranks N, then for each rank   "rank" R "{" statement* "}"
 *            [LABEL ":"] "send" BYTES "b" "to" RANK ["tag" n] ["cpu" n] ["nic" n]
 *            [LABEL ":"] "recv" BYTES "b" "from" RANK|-1 ["tag" n|-1] ["cpu" n] ["nic" n]
 *            [LABEL ":"] "calc" NS ["cpu" n]
 *            LABEL "requires"|"irequires" LABEL          (irequires: once the other has begun)
 *            comments as in C; a tag not given is 0
 *   binary   little endian: u64 4223, u32 ranks, u8 cpus, u8 nics, (u64 start, u64 end) * ranks
 * from byte 8; of a rank: u32 nodes, u32 roots, u32 * roots, nodes of 39 bytes, u32 * appendix. A
 * node: u32 unmet, u8 type (1 send, 2 recv, 3 calc), u32 peer, u64 size, u32 tag, u8 cpu, u8 nic,
 * and twice u32 n, u32 first: those that require it, those that irequire it, as places in the
 * appendix
 *
 * A rank is a host. A send is a message and is complete for its own rank when all of it is
 * acknowledged; a receive is complete when its message is placed and what it requires is done; a
 * calc takes its nanoseconds. Receives are matched with sends once, here: those that name source
 * and tag first, then any-tag, any-source, and any of both, each in the order of the file, and each
 * takes the first send that is left. A receive without a send waits for ever: the run ends with
 * exit code 3 and says who waits for whom. A send without a receive moves its bytes, with a
 * warning.
 *
 * Left out: that a cpu does one thing at a time (calcs that are ready run side by side; cpu and nic
 * are ignored), and that a send may have to wait for its receive to be posted.
 * Source: spcl/LogGOPSim (txt2bin.re, Goal.hpp) and spcl/atlahs, 2026.
 */
#include "sim/core/reader.h"
#include "sim/core/units.h"
#include "workloads/circle.h"
#include "workloads/match.h"
#include "workloads/workload.h"
#include <string.h>

#define MAGIC      4223
#define NODE_BYTES 39
#define MOST_OPS   (1u << 28)
#define ANY        MATCH_ANY
#define NOTES_MOST 5 /* mismatched sizes and the like, one line each */

struct goal_config {
    char *file;
};

static const struct param params[] = {PARAM(TEXT, struct goal_config, file, "", NULL, NULL, NULL,
                                            "GOAL schedule, text or binary; rank r is host r.",
                                            "our choice: no default can be meant"),
                                      PARAM_END};

enum goal_type { GOAL_SEND = 1, GOAL_RECV, GOAL_CALC };

struct goal_op {
    enum goal_type type;
    uint32_t rank;
    int64_t peer, tag; /* ANY for any */
    int64_t size;      /* bytes, or ns of a calc */
    uint32_t where;    /* line of a text, number within the rank of a binary */
    uint32_t match;    /* the other operation + 1; 0: none */
    bool begun;        /* somebody waits for its begin */
};

struct goal_edge {
    uint32_t from, to;
    bool at_begin;
};

struct goal {
    struct reader reader;
    const struct graph *graph;
    struct build *notes;
    uint32_t n_ranks;
    bool binary;
    GArray *ops;   /* struct goal_op */
    GArray *edges; /* struct goal_edge */
    /* text */
    size_t at;
    uint32_t rank;
    GHashTable *labels; /* of the present rank: char * -> operation + 1; looked up, never walked */
    GStringChunk *names;
};

static struct goal_op *op_at(const struct goal *goal, uint32_t index)
{
    return &g_array_index(goal->ops, struct goal_op, index);
}

static gboolean add_op(struct goal *goal, const struct goal_op *op, GError **error)
{
    if (goal->ops->len >= MOST_OPS)
        return reader_refuse(&goal->reader, 0, error, "more than %u operations", MOST_OPS);
    g_array_append_val(goal->ops, *op);
    return TRUE;
}

static gboolean check_ranks(struct goal *goal, uint64_t n_ranks, uint32_t line, GError **error)
{
    if (n_ranks > goal->graph->n_hosts)
        return reader_refuse(&goal->reader, line, error,
                             "%" G_GUINT64_FORMAT
                             " ranks, but the topology has only %u hosts; a topology of at least "
                             "%" G_GUINT64_FORMAT " is expected",
                             n_ranks, goal->graph->n_hosts, n_ranks);
    goal->n_ranks = (uint32_t)n_ranks;
    return TRUE;
}

/* --- text: words ------------------------------------------------------------------------------ */

/* Past blanks and comments. */
static void skip(struct goal *goal)
{
    const char *text = goal->reader.text;

    for (;;) {
        char c = text[goal->at];

        if (c == '/' && text[goal->at + 1] == '/') {
            goal->at += strcspn(text + goal->at, "\n");
        } else if (c == '/' && text[goal->at + 1] == '*') {
            const char *end = strstr(text + goal->at + 2, "*/");
            size_t stop = end ? (size_t)(end - text) + 2 : goal->reader.length;

            for (; goal->at < stop; goal->at++)
                goal->reader.line += text[goal->at] == '\n';
        } else if (g_ascii_isspace(c)) {
            goal->reader.line += c == '\n';
            goal->at++;
        } else {
            return;
        }
    }
}

/* The next word: letters, digits and '_', or a number with its sign, or one other character. Its
 * length is 0 at the end of the text. */
static const char *peek(struct goal *goal, size_t *length)
{
    const char *text = goal->reader.text;
    size_t end;

    skip(goal);
    end = goal->at;
    if (text[end] == '-')
        end++;
    while (g_ascii_isalnum(text[end]) || text[end] == '_')
        end++;
    if (end == goal->at && text[end])
        end++;
    *length = end - goal->at;
    return text + goal->at;
}

static bool is_next(struct goal *goal, const char *word)
{
    size_t length;
    const char *text = peek(goal, &length);

    return length == strlen(word) && strncmp(text, word, length) == 0;
}

static bool take_if(struct goal *goal, const char *word)
{
    bool is = is_next(goal, word);

    goal->at += is ? strlen(word) : 0;
    return is;
}

static gboolean refuse_next(struct goal *goal, GError **error, const char *expected)
{
    size_t length;
    const char *text = peek(goal, &length);

    if (length == 0)
        return reader_refuse(&goal->reader, goal->reader.line, error,
                             "the file ends where %s is expected", expected);
    return reader_refuse(&goal->reader, goal->reader.line, error, "'%.*s': %s is expected",
                         (int)MIN(length, 40), text, expected);
}

static gboolean need(struct goal *goal, const char *word, GError **error)
{
    g_autofree char *quoted = g_strdup_printf("'%s'", word);

    return take_if(goal, word) || refuse_next(goal, error, quoted);
}

/* A whole number to `most`, or -1 where `any`; `unit` stands behind it in the same word. */
static gboolean take_number(struct goal *goal, const char *what, bool any, const char *unit,
                            int64_t most, int64_t *number, GError **error)
{
    size_t length;
    const char *text = peek(goal, &length);
    size_t n_unit = strlen(unit);
    g_autofree char *digits = NULL;
    uint64_t value;

    if (any && length == 2 && strncmp(text, "-1", 2) == 0) {
        *number = ANY;
        goal->at += length;
        return TRUE;
    }
    if (length <= n_unit || strncmp(text + length - n_unit, unit, n_unit) != 0)
        return refuse_next(goal, error, what);
    digits = g_strndup(text, length - n_unit);
    if (!reader_is_whole(digits, 0, (uint64_t)most, &value))
        return refuse_next(goal, error, what);
    *number = (int64_t)value;
    goal->at += length;
    return TRUE;
}

/* --- text: statements ------------------------------------------------------------------------- */

static gboolean take_peer(struct goal *goal, bool any, int64_t *peer, GError **error)
{
    g_autofree char *what =
        g_strdup_printf("a rank from 0 to %u%s", goal->n_ranks - 1, any ? ", or -1 for any," : "");

    return take_number(goal, what, any, "", goal->n_ranks - 1, peer, error);
}

/* tag, cpu, nic; in any order, each once at most. */
static gboolean take_options(struct goal *goal, struct goal_op *op, GError **error)
{
    int64_t ignored;
    unsigned taken = 0;

    for (;;) {
        unsigned which = take_if(goal, "tag")   ? 1
                         : take_if(goal, "cpu") ? 2
                         : take_if(goal, "nic") ? 4
                                                : 0;

        if (which == 0)
            return TRUE;
        if (taken & which || (which == 1 && op->type == GOAL_CALC))
            return reader_refuse(
                &goal->reader, goal->reader.line, error,
                "tag, cpu and nic are expected once at most, and no tag of a calc");
        taken |= which;
        if (!take_number(goal, which == 1 ? "a tag" : "a number", which == 1, "", UINT32_MAX,
                         which == 1 ? &op->tag : &ignored, error))
            return FALSE;
    }
}

/* What follows "send", "recv" or "calc". */
static gboolean take_operation(struct goal *goal, enum goal_type type, GError **error)
{
    struct goal_op op = {.type = type, .rank = goal->rank, .peer = ANY, .where = goal->reader.line};
    bool calc = type == GOAL_CALC;

    if (!take_number(goal, calc ? "a whole number of ns" : "a size such as 100b", false,
                     calc ? "" : "b", calc ? INT64_MAX / 1000 : INT64_MAX / 8000, &op.size, error))
        return FALSE;
    if (type == GOAL_SEND && (!need(goal, "to", error) || !take_peer(goal, false, &op.peer, error)))
        return FALSE;
    if (type == GOAL_RECV &&
        (!need(goal, "from", error) || !take_peer(goal, true, &op.peer, error)))
        return FALSE;
    return take_options(goal, &op, error) && add_op(goal, &op, error);
}

static enum goal_type type_of(struct goal *goal)
{
    return take_if(goal, "send")   ? GOAL_SEND
           : take_if(goal, "recv") ? GOAL_RECV
           : take_if(goal, "calc") ? GOAL_CALC
                                   : 0;
}

/* A label; the copy lives as long as the reading. */
static const char *take_label(struct goal *goal, GError **error)
{
    size_t length;
    const char *text = peek(goal, &length);

    if (!g_ascii_isalpha(*text)) {
        refuse_next(goal, error, "a label, send, recv, calc or '}'");
        return NULL;
    }
    goal->at += length;
    return g_string_chunk_insert_len(goal->names, text, (gssize)length);
}

static gboolean find_label(struct goal *goal, const char *label, uint32_t *op, GError **error)
{
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(goal->labels, label));

    if (found == 0)
        return reader_refuse(&goal->reader, goal->reader.line, error,
                             "label '%.40s' is not defined in rank %u up to here", label,
                             goal->rank);
    *op = found - 1;
    return TRUE;
}

static gboolean take_requires(struct goal *goal, const char *label, GError **error)
{
    struct goal_edge edge = {.at_begin = take_if(goal, "irequires")};
    const char *other;

    if (!edge.at_begin && !take_if(goal, "requires"))
        return refuse_next(goal, error, "':', requires or irequires behind a label");
    other = take_label(goal, error);
    if (!other || !find_label(goal, label, &edge.to, error) ||
        !find_label(goal, other, &edge.from, error))
        return FALSE;
    if (edge.from == edge.to)
        return reader_refuse(&goal->reader, goal->reader.line, error,
                             "'%.40s' requires itself; it could never begin", label);
    g_array_append_val(goal->edges, edge);
    return TRUE;
}

static gboolean take_statement(struct goal *goal, GError **error)
{
    enum goal_type type = type_of(goal);
    const char *label;

    if (type)
        return take_operation(goal, type, error);
    label = take_label(goal, error);
    if (!label)
        return FALSE;
    if (!take_if(goal, ":"))
        return take_requires(goal, label, error);
    if (g_hash_table_contains(goal->labels, label))
        return reader_refuse(&goal->reader, goal->reader.line, error,
                             "label '%.40s' is defined twice in rank %u", label, goal->rank);
    type = type_of(goal);
    if (!type)
        return refuse_next(goal, error, "send, recv or calc behind a label");
    g_hash_table_insert(goal->labels, (char *)(uintptr_t)label,
                        GUINT_TO_POINTER(goal->ops->len + 1));
    return take_operation(goal, type, error);
}

static gboolean take_rank(struct goal *goal, bool *seen, GError **error)
{
    int64_t rank;

    if (!need(goal, "rank", error) || !take_peer(goal, false, &rank, error))
        return FALSE;
    if (seen[rank])
        return reader_refuse(&goal->reader, goal->reader.line, error,
                             "rank %" G_GINT64_FORMAT " is given twice", rank);
    seen[rank] = true;
    goal->rank = (uint32_t)rank;
    g_hash_table_remove_all(goal->labels);
    g_string_chunk_clear(goal->names);
    if (!need(goal, "{", error))
        return FALSE;
    while (!take_if(goal, "}"))
        if (!take_statement(goal, error))
            return FALSE;
    return TRUE;
}

static gboolean take_text(struct goal *goal, GError **error)
{
    g_autofree bool *seen = NULL;
    int64_t n_ranks;
    size_t length;

    if (strlen(goal->reader.text) != goal->reader.length)
        return reader_refuse(&goal->reader, 0, error,
                             "a zero byte at offset %zu: neither a text nor a binary of GOAL",
                             strlen(goal->reader.text));
    goal->at = g_str_has_prefix(goal->reader.text, "\xef\xbb\xbf") ? 3 : 0;
    if (!need(goal, "num_ranks", error) ||
        !take_number(goal, "a number of ranks", false, "", UINT32_MAX, &n_ranks, error))
        return FALSE;
    if (n_ranks == 0)
        return reader_refuse(&goal->reader, goal->reader.line, error, "no rank");
    if (!check_ranks(goal, (uint64_t)n_ranks, goal->reader.line, error))
        return FALSE;
    seen = g_new0(bool, goal->n_ranks);
    for (peek(goal, &length); length > 0; peek(goal, &length))
        if (!take_rank(goal, seen, error))
            return FALSE;
    return TRUE;
}

/* --- binary ----------------------------------------------------------------------------------- */

struct part { /* of the file: one rank's */
    const unsigned char *bytes;
    uint64_t length, offset; /* offset of its first byte in the file */
    uint32_t rank;
};

static uint64_t number_at(const unsigned char *bytes, int n_bytes)
{
    uint64_t value = 0;

    for (int i = n_bytes - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

static gboolean refuse_bytes(const struct goal *goal, uint64_t offset, GError **error,
                             const char *format, ...) G_GNUC_PRINTF(4, 5);

static gboolean refuse_bytes(const struct goal *goal, uint64_t offset, GError **error,
                             const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list list;

    va_start(list, format);
    what = g_strdup_vprintf(format, list);
    va_end(list);
    return reader_refuse(&goal->reader, 0, error, "byte %" G_GUINT64_FORMAT ": %s", offset, what);
}

/* Dependents of node `index`: n places from `first` in the appendix. */
static gboolean take_dependents(struct goal *goal, const struct part *part, uint32_t index,
                                const unsigned char *node, uint64_t appendix, uint64_t *n_left,
                                bool at_begin, GError **error)
{
    uint64_t n = number_at(node, 4), first = number_at(node + 4, 4);
    uint32_t n_nodes = (uint32_t)number_at(part->bytes, 4);
    uint32_t base = goal->ops->len - 1 - index;

    if (n > *n_left || first + n > (part->length - appendix) / 4)
        return refuse_bytes(goal, part->offset + (uint64_t)(node - part->bytes), error,
                            "rank %u, node %u: its dependents lie outside the appendix", part->rank,
                            index);
    *n_left -= n;
    for (uint64_t i = first; i < first + n; i++) {
        uint64_t to = number_at(part->bytes + appendix + 4 * i, 4);
        struct goal_edge edge = {base + index, base + (uint32_t)to, at_begin};

        if (to >= n_nodes || to == index)
            return refuse_bytes(goal, part->offset + appendix + 4 * i, error,
                                "rank %u: dependent %" G_GUINT64_FORMAT " of node %u; other nodes "
                                "from 0 to %u are expected",
                                part->rank, to, index, n_nodes - 1);
        g_array_append_val(goal->edges, edge);
    }
    return TRUE;
}

static gboolean take_node(struct goal *goal, const struct part *part, uint32_t index,
                          uint64_t offset, GError **error)
{
    const unsigned char *node = part->bytes + offset;
    uint32_t peer = (uint32_t)number_at(node + 5, 4), tag = (uint32_t)number_at(node + 17, 4);
    uint64_t size = number_at(node + 9, 8);
    struct goal_op op = {.type = node[4],
                         .rank = part->rank,
                         .peer = peer == UINT32_MAX ? ANY : peer,
                         .tag = tag == UINT32_MAX ? ANY : tag,
                         .where = index};

    if (op.type < GOAL_SEND || op.type > GOAL_CALC)
        return refuse_bytes(goal, part->offset + offset + 4, error,
                            "rank %u, node %u: type %u; 1 (send), 2 (recv) or 3 (calc) is expected",
                            part->rank, index, node[4]);
    if (op.type != GOAL_CALC && op.peer >= goal->n_ranks)
        return refuse_bytes(goal, part->offset + offset + 5, error,
                            "rank %u, node %u: peer %u; ranks are 0 to %u", part->rank, index, peer,
                            goal->n_ranks - 1);
    if (op.type == GOAL_SEND && op.peer == ANY)
        return refuse_bytes(goal, part->offset + offset + 5, error,
                            "rank %u, node %u: a send to any rank", part->rank, index);
    if (size > (uint64_t)INT64_MAX / (op.type == GOAL_CALC ? 1000 : 8000))
        return refuse_bytes(goal, part->offset + offset + 9, error,
                            "rank %u, node %u: size %" G_GUINT64_FORMAT " is too large", part->rank,
                            index, size);
    op.size = (int64_t)size;
    return add_op(goal, &op, error);
}

static gboolean take_part(struct goal *goal, const struct part *part, GError **error)
{
    uint64_t n_nodes, n_roots, nodes, appendix, n_left;
    uint32_t base = goal->ops->len;

    if (part->length < 8)
        return refuse_bytes(goal, part->offset, error, "rank %u: its part is too short",
                            part->rank);
    n_nodes = number_at(part->bytes, 4);
    n_roots = number_at(part->bytes + 4, 4);
    nodes = 8 + 4 * n_roots;
    appendix = nodes + NODE_BYTES * n_nodes;
    if (appendix > part->length)
        return refuse_bytes(goal, part->offset, error,
                            "rank %u: %" G_GUINT64_FORMAT " nodes and %" G_GUINT64_FORMAT
                            " roots do not fit its %" G_GUINT64_FORMAT " B",
                            part->rank, n_nodes, n_roots, part->length);
    n_left = (part->length - appendix) / 4;
    for (uint32_t i = 0; i < n_nodes; i++) {
        const unsigned char *node = part->bytes + nodes + (uint64_t)NODE_BYTES * i;

        if (!take_node(goal, part, i, nodes + (uint64_t)NODE_BYTES * i, error) ||
            !take_dependents(goal, part, i, node + 23, appendix, &n_left, false, error) ||
            !take_dependents(goal, part, i, node + 31, appendix, &n_left, true, error))
            return FALSE;
    }
    g_assert(goal->ops->len == base + n_nodes);
    return TRUE;
}

static gboolean take_binary(struct goal *goal, GError **error)
{
    const unsigned char *bytes = (const unsigned char *)goal->reader.text;
    uint64_t length = goal->reader.length, n_ranks;

    if (length < 14)
        return refuse_bytes(goal, length, error, "the header is cut short");
    n_ranks = number_at(bytes + 8, 4);
    if (n_ranks == 0 || 14 + 16 * n_ranks > length)
        return refuse_bytes(goal, 8, error,
                            "%" G_GUINT64_FORMAT " ranks do not fit %" G_GUINT64_FORMAT " B",
                            n_ranks, length);
    if (!check_ranks(goal, n_ranks, 0, error))
        return FALSE;
    uint64_t used = 0;

    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        const unsigned char *entry = bytes + 14 + (uint64_t)16 * rank;
        uint64_t start = number_at(entry, 8), end = number_at(entry + 8, 8);

        if (start > end || end > length - 8 || end - start > length - used)
            return refuse_bytes(goal, 14 + (uint64_t)16 * rank, error,
                                "rank %u lies from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                                ", which is not in the file or overlaps another rank",
                                rank, start, end);
        used += end - start;
        struct part part = {bytes + 8 + start, end - start, 8 + start, rank};

        if (!take_part(goal, &part, error))
            return FALSE;
    }
    return TRUE;
}

/* --- matching --------------------------------------------------------------------------------- */

static void match_ops(struct goal *goal)
{
    g_autofree struct match_item *items = g_new0(struct match_item, goal->ops->len + 1);

    for (uint32_t i = 0; i < goal->ops->len; i++) {
        const struct goal_op *op = op_at(goal, i);
        bool send = op->type == GOAL_SEND;

        if (op->type != GOAL_CALC)
            items[i] = (struct match_item){.kind = send ? MATCH_SEND : MATCH_RECEIVE,
                                           .src = send ? op->rank : op->peer,
                                           .dst = send ? op->peer : op->rank,
                                           .tag = op->tag};
    }
    match_all(items, goal->ops->len);
    for (uint32_t i = 0; i < goal->ops->len; i++)
        op_at(goal, i)->match = items[i].other;
}

/* --- the schedule ----------------------------------------------------------------------------- */

static char *place(const struct goal *goal, const struct goal_op *op)
{
    return goal->binary
               ? g_strdup_printf("%s, rank %u, node %u", goal->reader.path, op->rank, op->where)
               : g_strdup_printf("%s:%u", goal->reader.path, op->where);
}

static bool is_message(const struct goal_op *op)
{
    return op->type == GOAL_SEND && op->peer != op->rank;
}

/* Operation i of the schedule is operation i of the file; a send of nothing is one byte. */
static void add_ops(const struct goal *goal, struct schedule *schedule)
{
    for (uint32_t i = 0; i < goal->ops->len; i++) {
        const struct goal_op *op = op_at(goal, i);
        struct schedule_op out = {
            .kind = SCHEDULE_JOIN, .rank = op->rank, .peer = op->rank, .group = SCHEDULE_NO_GROUP};

        if (is_message(op)) {
            out.kind = SCHEDULE_MESSAGE;
            out.peer = (uint32_t)op->peer;
            out.bytes = MAX(op->size, 1);
        } else if (op->type == GOAL_CALC && op->size > 0) {
            out.kind = SCHEDULE_COMPUTE;
            out.duration_ps = op->size * 1000;
        }
        schedule_add_op(schedule, &out);
    }
}

/* A join for each operation whose begin somebody waits for; [op]: its number, or op itself. */
static uint64_t *add_begins(struct goal *goal, struct schedule *schedule)
{
    uint64_t *begin = g_new(uint64_t, goal->ops->len + 1);

    for (uint32_t e = 0; e < goal->edges->len; e++) {
        const struct goal_edge *edge = &g_array_index(goal->edges, struct goal_edge, e);

        op_at(goal, edge->from)->begun |= edge->at_begin;
    }
    for (uint32_t i = 0; i < goal->ops->len; i++) {
        const struct goal_op *op = op_at(goal, i);

        begin[i] = i;
        if (!op->begun)
            continue;
        begin[i] = schedule_add_op(schedule, &(struct schedule_op){.kind = SCHEDULE_JOIN,
                                                                   .rank = op->rank,
                                                                   .peer = op->rank,
                                                                   .group = SCHEDULE_NO_GROUP});
        schedule_add_edge(schedule, begin[i], i, SCHEDULE_AT_RECEIVER, false);
    }
    return begin;
}

static void add_edges(const struct goal *goal, const uint64_t *begin, struct schedule *schedule)
{
    for (uint32_t e = 0; e < goal->edges->len; e++) {
        const struct goal_edge *edge = &g_array_index(goal->edges, struct goal_edge, e);
        bool sent = !edge->at_begin && is_message(op_at(goal, edge->from));

        schedule_add_edge(schedule, edge->at_begin ? begin[edge->from] : edge->from,
                          begin[edge->to], sent ? SCHEDULE_AT_SENDER : SCHEDULE_AT_RECEIVER, false);
    }
    for (uint32_t i = 0; i < goal->ops->len; i++) {
        const struct goal_op *op = op_at(goal, i);

        if (op->type == GOAL_RECV && op->match)
            schedule_add_edge(schedule, op->match - 1, i, SCHEDULE_AT_RECEIVER, false);
    }
}

/* A receive that nobody serves needs an edge that there is not. */
static void block(const struct goal *goal, struct schedule *schedule, uint32_t index)
{
    const struct goal_op *op = op_at(goal, index);
    g_autofree char *where = place(goal, op), *source = NULL, *tag = NULL, *text = NULL;
    struct schedule_op out;

    source = op->peer == ANY ? g_strdup("any rank")
                             : g_strdup_printf("rank %" G_GINT64_FORMAT, op->peer);
    tag = op->tag == ANY ? g_strdup("any tag") : g_strdup_printf("tag %" G_GINT64_FORMAT, op->tag);
    text = g_strdup_printf("rank %u waits for %" G_GINT64_FORMAT
                           " B from %s, %s: nobody sends it (%s)",
                           op->rank, op->size, source, tag, where);
    schedule_op(schedule, index, &out);
    schedule_set_needed(schedule, index, out.n_needed + 1);
    schedule_say(schedule, index, text);
}

static void say_circle(const struct goal *goal, struct schedule *schedule)
{
    GArray *circle = circle_find(schedule);
    g_autoptr(GString) text = g_string_new(NULL);
    uint32_t n = 0;

    for (guint i = 0; circle && i < circle->len && n < NOTES_MOST; i++) {
        uint64_t op = g_array_index(circle, uint64_t, i);

        if (op >= goal->ops->len)
            continue;
        g_autofree char *where = place(goal, op_at(goal, (uint32_t)op));

        g_string_append_printf(text, "%srank %u (%s)", n++ ? ", which waits for " : "",
                               op_at(goal, (uint32_t)op)->rank, where);
    }
    if (circle) {
        g_string_append_printf(text, "%s: a circle of %u operations, none of which can begin",
                               n == NOTES_MOST ? ", ..." : ", which waits for the first",
                               circle->len);
        build_note(goal->notes, "warning: deadlock: %s", text->str);
        schedule_say(schedule, g_array_index(circle, uint64_t, 0), text->str);
        g_array_unref(circle);
    }
}

static gboolean fill_schedule(struct goal *goal, struct schedule *schedule, GError **error)
{
    g_autofree uint64_t *begin = NULL;

    schedule_init(schedule, goal->n_ranks);
    add_ops(goal, schedule);
    begin = add_begins(goal, schedule);
    add_edges(goal, begin, schedule);
    for (uint32_t i = 0; i < goal->ops->len; i++)
        if (op_at(goal, i)->type == GOAL_RECV && !op_at(goal, i)->match)
            block(goal, schedule, i);
    if (!workload_finish(schedule, goal->graph, error))
        return FALSE;
    say_circle(goal, schedule);
    return TRUE;
}

/* --- notes ------------------------------------------------------------------------------------ */

struct sums {
    uint64_t n_of[GOAL_CALC + 1], n_any, n_unmatched[GOAL_CALC + 1], n_empty, n_self, n_sizes;
    double bytes, calc_ps;
};

static void note_size(const struct goal *goal, const struct goal_op *send,
                      const struct goal_op *receive, struct sums *sums)
{
    g_autofree char *where = place(goal, receive);

    if (send->size != receive->size && ++sums->n_sizes <= NOTES_MOST)
        build_note(goal->notes,
                   "warning: %s: rank %u receives %" G_GINT64_FORMAT
                   " B where rank %u sends %" G_GINT64_FORMAT " B; what is sent counts",
                   where, receive->rank, receive->size, send->rank, send->size);
}

static void sum_op(const struct goal *goal, const struct goal_op *op, struct sums *sums)
{
    sums->n_of[op->type]++;
    sums->n_unmatched[op->type] += op->type != GOAL_CALC && !op->match;
    if (op->type == GOAL_CALC)
        sums->calc_ps += (double)op->size * 1000;
    if (op->type == GOAL_RECV) {
        sums->n_any += op->peer == ANY || op->tag == ANY;
        if (op->match)
            note_size(goal, op_at(goal, op->match - 1), op, sums);
    }
    if (op->type == GOAL_SEND) {
        sums->bytes += (double)op->size;
        sums->n_empty += op->size == 0;
        sums->n_self += !is_message(op);
    }
}

static void note_content(const struct goal *goal)
{
    struct sums sums = {0};

    for (uint32_t i = 0; i < goal->ops->len; i++)
        sum_op(goal, op_at(goal, i), &sums);
    g_autofree char *bytes = units_display(UNITS_BYTES, sums.bytes);
    g_autofree char *calc = units_display(UNITS_TIME, sums.calc_ps);

    build_note(goal->notes,
               "GOAL %s, %s: %u ranks, %" G_GUINT64_FORMAT " sends of %s in all, %" G_GUINT64_FORMAT
               " receives (%" G_GUINT64_FORMAT " of any source or tag), %" G_GUINT64_FORMAT
               " calcs of %s in sum, %u dependencies",
               goal->reader.path, goal->binary ? "binary" : "text", goal->n_ranks,
               sums.n_of[GOAL_SEND], bytes, sums.n_of[GOAL_RECV], sums.n_any, sums.n_of[GOAL_CALC],
               calc, goal->edges->len);
    if (goal->n_ranks < goal->graph->n_hosts)
        build_note(goal->notes, "%u ranks on %u hosts: the others are idle", goal->n_ranks,
                   goal->graph->n_hosts);
    if (sums.n_sizes > NOTES_MOST)
        build_note(goal->notes, "warning: %" G_GUINT64_FORMAT " receives differ in size in all",
                   sums.n_sizes);
    if (sums.n_unmatched[GOAL_SEND])
        build_note(goal->notes,
                   "warning: nobody receives %" G_GUINT64_FORMAT
                   " of the sends; their bytes move all the same",
                   sums.n_unmatched[GOAL_SEND]);
    if (sums.n_unmatched[GOAL_RECV])
        build_note(goal->notes,
                   "warning: nobody sends what %" G_GUINT64_FORMAT
                   " receives wait for: the run will end in a deadlock",
                   sums.n_unmatched[GOAL_RECV]);
    if (sums.n_empty)
        build_note(goal->notes, "%" G_GUINT64_FORMAT " sends of 0 B are played as 1 B",
                   sums.n_empty);
    if (sums.n_self)
        build_note(goal->notes, "%" G_GUINT64_FORMAT " sends of a rank to itself take no time",
                   sums.n_self);
    build_note(goal->notes, "cpu and nic are ignored: calcs that are ready run side by side");
}

/* --- the builder ------------------------------------------------------------------------------ */

static gboolean take_file(struct goal *goal, const char *path, GError **error)
{
    if (!path || !*path) {
        g_set_error(error, READER_ERROR, 0, "file is not given; a GOAL schedule is expected");
        return FALSE;
    }
    if (!reader_open(&goal->reader, path, error))
        return FALSE;
    goal->binary =
        goal->reader.length >= 8 && number_at((const unsigned char *)goal->reader.text, 8) == MAGIC;
    if (!(goal->binary ? take_binary(goal, error) : take_text(goal, error)))
        return FALSE;
    if (goal->ops->len > 0)
        return TRUE;
    return reader_refuse(&goal->reader, 0, error, "no operation in it");
}

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    const struct goal_config *config = data;
    struct goal goal = {.graph = graph, .notes = notes};
    gboolean ok;

    goal.ops = g_array_new(FALSE, FALSE, sizeof(struct goal_op));
    goal.edges = g_array_new(FALSE, FALSE, sizeof(struct goal_edge));
    goal.labels = g_hash_table_new(g_str_hash, g_str_equal);
    goal.names = g_string_chunk_new(4096);
    ok = take_file(&goal, config->file, error);
    if (ok) {
        match_ops(&goal);
        note_content(&goal);
        notes->n_hosts_named = goal.n_ranks;
        ok = fill_schedule(&goal, schedule, error);
    }
    g_array_unref(goal.ops);
    g_array_unref(goal.edges);
    g_hash_table_unref(goal.labels);
    g_string_chunk_free(goal.names);
    reader_close(&goal.reader);
    return ok;
}

const struct workload_ops workload_goal = {
    .name = "goal",
    .summary = "A GOAL schedule of LogGOPSim or ATLAHS, text or binary.",
    .source = "spcl/LogGOPSim, txt2bin and its binary; spcl/atlahs",
    .config_size = sizeof(struct goal_config),
    .params = params,
    .build = build};
