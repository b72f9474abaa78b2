/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the connection matrices of htsim (.cm, .tm), as the loaders of csg-htsim and of the UEC's
 * uet-htsim understand them, with exact 64-bit sizes and times.
 *
 *   header    "Nodes" N | "Connections" C | "Triggers" T | "Failures" F
 *   flow      SRC "->" DST, then any of: id n, start t, size bytes, trigger n, send_done_trigger n,
 *             recv_done_trigger n, prio n, msg [n], addon
 *   trigger   "trigger", then id n, count n, and oneshot, multishot or barrier
 *   failure   "failure", then switch_type TOR|AGG|CORE, switch_id n, link_id n
 *
 * The unit of `start` is not fixed by the format (microseconds in htsim_uec and htsim_roce,
 * picoseconds in csg-htsim's htsim_ndp): it is the key start_unit, and is stated in a note.
 *
 * A trigger is activated by flows: by send_done_trigger when all is acknowledged, by
 * recv_done_trigger when all is delivered. oneshot: the first activation starts all flows that name
 * the trigger; multishot: each activation starts the next of them, in the order of the file;
 * barrier: `count` activations start all. Activations beyond are ignored (the peer stops there with
 * a failed assertion, except for multishot).
 *
 * A failure takes a link down from failures_at to failures_until; in htsim, which knows no time
 * here, for the whole run, and of AGG switches alone. switch_id counts the switches of the tier in
 * plane 0, link_id the switches above it; of a bundle the first link fails.
 *
 * Understood, counted and not played: prio (one class of traffic), addon (csg-htsim's re-arming of
 * barriers), the numbers of msg.
 * Source: csg-htsim sim/datacenter/connection_matrix.cpp and sim/trigger.cpp, 2026;
 * ultraethernet/uet-htsim 40ccb05.
 */
#include "sim/core/reader.h"
#include "sim/core/units.h"
#include "workloads/workload.h"
#include <string.h>

/* A multishot trigger costs an edge for each activation and flow; 48 bytes each. */
#define EDGES_MOST 4000000

struct htsim_config {
    char *file;
    int64_t start_unit, lenient;
    int64_t failures_at, failures_until;
};

static const struct param params[] = {
    PARAM(TEXT, struct htsim_config, file, "", NULL, NULL, NULL,
          "Connection matrix of htsim, .cm or .tm.", "our choice"),
    PARAM(CHOICE, struct htsim_config, start_unit, "us", NULL, NULL, "us|ps|ns|ms|s",
          "Unit of the file's start times; the format leaves it open.",
          "htsim_uec and htsim_roce read us; csg-htsim's htsim_ndp and gen_permutation.py use ps"),
    PARAM(BOOL, struct htsim_config, lenient, "off", NULL, NULL, NULL,
          "Take what the file holds where its header counts something else, and say so.",
          "our choice: htsim refuses such files"),
    PARAM(TIME, struct htsim_config, failures_at, "0ps", NULL, NULL, NULL,
          "When the links of the file's failure lines go down.", "htsim: from the start"),
    PARAM(TIME, struct htsim_config, failures_until, "never", NULL, NULL, "never",
          "When they come back.", "htsim: for good"),
    PARAM_END};

static const char *const unit_names[] = {"us", "ps", "ns", "ms", "s"};

enum trigger_kind { TRIGGER_ONESHOT = 1, TRIGGER_MULTISHOT, TRIGGER_BARRIER };
static const char *const trigger_kinds[] = {"", "oneshot", "multishot", "barrier"};

struct trigger {
    uint32_t line, id, count;
    enum trigger_kind kind; /* 0: not said yet */
    uint32_t n_activations; /* by flows of this file */
    GArray *targets;        /* uint32_t, flows in the order of the file */
    uint64_t join;          /* its operation; not for multishot */
};

struct flow {
    uint32_t line, src, dst;
    uint32_t id, trigger, send_done_trigger, recv_done_trigger, prio, msg;
    int64_t start_ps, bytes;
    uint32_t given; /* bits of attributes */
};

enum header { HEADER_NODES, HEADER_CONNECTIONS, HEADER_TRIGGERS, HEADER_FAILURES, N_HEADERS };
static const char *const header_names[] = {"Nodes", "Connections", "Triggers", "Failures"};

struct matrix {
    const struct htsim_config *config;
    const struct graph *graph;
    struct build *notes;
    uint32_t line;
    GPtrArray *tokens; /* char *, of the present line */
    uint32_t header_line[N_HEADERS], header[N_HEADERS];
    GArray *flows;          /* struct flow */
    GArray *triggers;       /* struct trigger */
    GHashTable *flow_of_id; /* id -> flow + 1; looked up, never walked */
    GHashTable *trigger_of; /* id -> trigger + 1; the same */
    uint32_t n_failures;    /* handed on to notes->faults */
};

/* Sets "FILE:LINE: what is wrong". */
static gboolean refuse(const struct matrix *reader, uint32_t line, GError **error,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);

static gboolean refuse(const struct matrix *reader, uint32_t line, GError **error,
                       const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list arguments;

    va_start(arguments, format);
    what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, BUILD_ERROR, 0, "%s:%u: %s", reader->config->file, line, what);
    return FALSE;
}

static struct flow *flow_at(const struct matrix *reader, uint32_t index)
{
    return &g_array_index(reader->flows, struct flow, index);
}

static struct trigger *trigger_at(const struct matrix *reader, uint32_t index)
{
    return &g_array_index(reader->triggers, struct trigger, index);
}

static struct trigger *find_trigger(const struct matrix *reader, uint32_t id)
{
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(reader->trigger_of, GUINT_TO_POINTER(id)));

    return found ? trigger_at(reader, found - 1) : NULL;
}

/* --- words and numbers ------------------------------------------------------------------------ */

static const char *token_at(const struct matrix *reader, uint32_t index)
{
    return index < reader->tokens->len ? g_ptr_array_index(reader->tokens, index) : NULL;
}

static bool is_number(const char *text)
{
    return text && *text && strspn(text, "0123456789") == strlen(text);
}

/* The number after the word at *index; moves on to it. */
static gboolean take_number(const struct matrix *reader, uint32_t *index, uint32_t least,
                            uint32_t *number, GError **error)
{
    const char *word = token_at(reader, *index), *text = token_at(reader, ++*index);
    guint64 value = 0;

    if (!is_number(text) || !g_ascii_string_to_unsigned(text, 10, least, UINT32_MAX, &value, NULL))
        return refuse(reader, reader->line, error,
                      "%s '%s': a whole number from %u to %u is expected", word, text ? text : "",
                      least, UINT32_MAX);
    *number = (uint32_t)value;
    return TRUE;
}

static gboolean take_start(const struct matrix *reader, uint32_t *index, int64_t *start_ps,
                           GError **error)
{
    const char *text = token_at(reader, ++*index), *why = "a time is expected";
    const char *unit = unit_names[reader->config->start_unit];
    g_autofree char *with_unit = g_strconcat(text ? text : "", unit, NULL);

    if (text && g_ascii_isdigit(*text) && units_parse(UNITS_TIME, with_unit, start_ps, &why))
        return TRUE;
    if (text && *text == '-')
        why = "a time of 0 or later is expected";
    return refuse(reader, reader->line, error,
                  "start '%s' (a number without unit, in %s by start_unit): %s", text ? text : "",
                  unit, why);
}

static gboolean take_size(const struct matrix *reader, uint32_t *index, int64_t *bytes,
                          GError **error)
{
    const char *text = token_at(reader, ++*index), *why = NULL;

    if (!units_parse(UNITS_NUMBER, text ? text : "", bytes, &why))
        return refuse(reader, reader->line, error, "size '%s': %s", text ? text : "", why);
    if (*bytes <= 0)
        return refuse(reader, reader->line, error, "size '%s': at least 1 byte is expected", text);
    return TRUE;
}

/* --- header ----------------------------------------------------------------------------------- */

static gboolean take_header(struct matrix *reader, enum header which, GError **error)
{
    uint32_t index = 0;

    if (reader->flows->len || reader->triggers->len || reader->n_failures)
        return refuse(reader, reader->line, error,
                      "%s comes after the first flow, trigger or failure; the header is expected "
                      "first",
                      header_names[which]);
    if (reader->header_line[which])
        return refuse(reader, reader->line, error, "%s is given twice, first on line %u",
                      header_names[which], reader->header_line[which]);
    if (!take_number(reader, &index, which == HEADER_NODES, &reader->header[which], error))
        return FALSE;
    if (reader->tokens->len > 2)
        return refuse(reader, reader->line, error, "'%s' after %s: nothing is expected",
                      token_at(reader, 2), header_names[which]);
    reader->header_line[which] = reader->line;
    if (which == HEADER_NODES && reader->header[which] > reader->graph->n_hosts)
        return refuse(reader, reader->line, error,
                      "Nodes %u, but the topology has only %u hosts; a topology of at least %u "
                      "hosts is expected",
                      reader->header[which], reader->graph->n_hosts, reader->header[which]);
    return TRUE;
}

/* --- flows ------------------------------------------------------------------------------------ */

enum value { VALUE_NUMBER, VALUE_START, VALUE_SIZE, VALUE_MSG, VALUE_FLAG };

struct attribute {
    const char *name;
    enum value value;
    uint32_t least;
    size_t offset; /* in struct flow, of a uint32_t, for VALUE_NUMBER and VALUE_MSG */
};

enum { ID, START, SIZE, TRIGGER, SEND_DONE, RECV_DONE, PRIO, MSG, ADDON, N_ATTRIBUTES };

static const struct attribute attributes[] = {
    [ID] = {"id", VALUE_NUMBER, 1, offsetof(struct flow, id)},
    [START] = {"start", VALUE_START, 0, 0},
    [SIZE] = {"size", VALUE_SIZE, 0, 0},
    [TRIGGER] = {"trigger", VALUE_NUMBER, 1, offsetof(struct flow, trigger)},
    [SEND_DONE] = {"send_done_trigger", VALUE_NUMBER, 1, offsetof(struct flow, send_done_trigger)},
    [RECV_DONE] = {"recv_done_trigger", VALUE_NUMBER, 1, offsetof(struct flow, recv_done_trigger)},
    [PRIO] = {"prio", VALUE_NUMBER, 0, offsetof(struct flow, prio)},
    [MSG] = {"msg", VALUE_MSG, 1, offsetof(struct flow, msg)},
    [ADDON] = {"addon", VALUE_FLAG, 0, 0},
};

static bool has(const struct flow *flow, int attribute)
{
    return flow->given >> attribute & 1;
}

static int find_attribute(const char *name)
{
    for (int a = 0; a < N_ATTRIBUTES; a++)
        if (strcmp(attributes[a].name, name) == 0)
            return a;
    return -1;
}

static gboolean refuse_word(const struct matrix *reader, const char *word, GError **error)
{
    const char *names[N_ATTRIBUTES];

    for (int a = 0; a < N_ATTRIBUTES; a++)
        names[a] = attributes[a].name;
    const char *near = param_nearest(word, names, N_ATTRIBUTES);

    return refuse(reader, reader->line, error,
                  "'%s' is no attribute of a flow%s%s%s; id, start, size, trigger, "
                  "send_done_trigger, recv_done_trigger, prio, msg and addon are",
                  word, near ? ", is '" : "", near ? near : "", near ? "' meant?" : "");
}

static gboolean take_attribute(struct matrix *reader, struct flow *flow, uint32_t *index,
                               GError **error)
{
    const char *word = token_at(reader, *index);
    int a = find_attribute(word);

    if (a < 0)
        return refuse_word(reader, word, error);
    if (has(flow, a))
        return refuse(reader, reader->line, error, "'%s' is given twice", word);
    flow->given |= 1u << a;

    uint32_t *number = (uint32_t *)(void *)((char *)flow + attributes[a].offset);
    switch (attributes[a].value) {
    case VALUE_MSG:
        if (!is_number(token_at(reader, *index + 1)))
            return TRUE;
        return take_number(reader, index, attributes[a].least, number, error);
    case VALUE_NUMBER:
        return take_number(reader, index, attributes[a].least, number, error);
    case VALUE_START:
        return take_start(reader, index, &flow->start_ps, error);
    case VALUE_SIZE:
        return take_size(reader, index, &flow->bytes, error);
    case VALUE_FLAG:
        break;
    }
    return TRUE;
}

static gboolean take_ends(const struct matrix *reader, struct flow *flow, GError **error)
{
    const char *text = token_at(reader, 0), *arrow = strstr(text, "->");
    g_autofree char *src = g_strndup(text, (gsize)(arrow - text));
    uint32_t n =
        reader->header_line[HEADER_NODES] ? reader->header[HEADER_NODES] : reader->graph->n_hosts;
    guint64 a = 0, b = 0;

    if (!is_number(src) || !is_number(arrow + 2))
        return refuse(reader, reader->line, error, "'%s': two nodes are expected, such as 0->13",
                      text);
    if (!g_ascii_string_to_unsigned(src, 10, 0, n - 1, &a, NULL))
        return refuse(reader, reader->line, error,
                      "'%s': node %s does not exist; there are %u (0 to %u)", text, src, n, n - 1);
    if (!g_ascii_string_to_unsigned(arrow + 2, 10, 0, n - 1, &b, NULL))
        return refuse(reader, reader->line, error,
                      "'%s': node %s does not exist; there are %u (0 to %u)", text, arrow + 2, n,
                      n - 1);
    if (a == b)
        return refuse(reader, reader->line, error,
                      "'%s': a flow to its own node crosses no fabric; two nodes are expected",
                      text);
    flow->src = (uint32_t)a;
    flow->dst = (uint32_t)b;
    return TRUE;
}

static gboolean check_id(struct matrix *reader, const struct flow *flow, GError **error)
{
    gpointer key = GUINT_TO_POINTER(flow->id);
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(reader->flow_of_id, key));
    const struct flow *first = found ? flow_at(reader, found - 1) : NULL;

    if (!has(flow, ID))
        return TRUE;
    if (!first) {
        g_hash_table_insert(reader->flow_of_id, key, GUINT_TO_POINTER(reader->flows->len + 1));
        return TRUE;
    }
    if (!has(flow, MSG))
        return refuse(reader, reader->line, error,
                      "id %u is used on line %u already; only messages of one connection, marked "
                      "'msg', share an id",
                      flow->id, first->line);
    if (first->src != flow->src || first->dst != flow->dst)
        return refuse(reader, reader->line, error,
                      "id %u is the connection %u->%u of line %u, and this is %u->%u", flow->id,
                      first->src, first->dst, first->line, flow->src, flow->dst);
    return TRUE;
}

static gboolean take_flow(struct matrix *reader, GError **error)
{
    struct flow flow = {.line = reader->line};

    if (!take_ends(reader, &flow, error))
        return FALSE;
    for (uint32_t i = 1; i < reader->tokens->len; i++)
        if (!take_attribute(reader, &flow, &i, error))
            return FALSE;
    if (!has(&flow, SIZE))
        return refuse(reader, reader->line, error, "a flow without size; size BYTES is expected");
    if (has(&flow, START) && has(&flow, TRIGGER))
        return refuse(reader, reader->line, error,
                      "both start and trigger %u; one of them is expected", flow.trigger);
    if (!has(&flow, START) && !has(&flow, TRIGGER))
        return refuse(reader, reader->line, error,
                      "neither start nor trigger; one of them is expected");
    if (!check_id(reader, &flow, error))
        return FALSE;
    g_array_append_val(reader->flows, flow);
    return TRUE;
}

/* --- triggers and failures -------------------------------------------------------------------- */

static gboolean take_trigger_word(const struct matrix *reader, struct trigger *trigger,
                                  uint32_t *index, GError **error)
{
    const char *word = token_at(reader, *index);

    if (strcmp(word, "id") == 0 && !trigger->id)
        return take_number(reader, index, 1, &trigger->id, error);
    if (strcmp(word, "count") == 0 && !trigger->count)
        return take_number(reader, index, 1, &trigger->count, error);
    for (int kind = TRIGGER_ONESHOT; kind <= TRIGGER_BARRIER; kind++)
        if (strcmp(word, trigger_kinds[kind]) == 0 && !trigger->kind) {
            trigger->kind = (enum trigger_kind)kind;
            return TRUE;
        }
    return refuse(reader, reader->line, error,
                  "'%s' in a trigger; id N, count N and one of oneshot, multishot and barrier are "
                  "expected, each once",
                  word);
}

static gboolean take_trigger(struct matrix *reader, GError **error)
{
    struct trigger trigger = {.line = reader->line};
    const struct trigger *first;

    for (uint32_t i = 1; i < reader->tokens->len; i++)
        if (!take_trigger_word(reader, &trigger, &i, error))
            return FALSE;
    if (!trigger.id || !trigger.kind)
        return refuse(reader, reader->line, error, "a trigger without %s",
                      trigger.id ? "oneshot, multishot or barrier" : "id");
    if (trigger.kind == TRIGGER_BARRIER && !trigger.count)
        return refuse(reader, reader->line, error,
                      "barrier %u without count; the activations it waits for are expected",
                      trigger.id);
    first = find_trigger(reader, trigger.id);
    if (first)
        return refuse(reader, reader->line, error, "trigger %u is defined on line %u already",
                      trigger.id, first->line);
    trigger.targets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_array_append_val(reader->triggers, trigger);
    g_hash_table_insert(reader->trigger_of, GUINT_TO_POINTER(trigger.id),
                        GUINT_TO_POINTER(reader->triggers->len));
    return TRUE;
}

/* The tier of a type of switch, 0 if it is none. */
static uint32_t find_tier(const char *type)
{
    static const char *const types[] = {"TOR", "AGG", "CORE"};

    for (uint32_t t = 0; type && t < G_N_ELEMENTS(types); t++)
        if (strcmp(type, types[t]) == 0)
            return t + 1;
    return 0;
}

static void add_failure(struct matrix *reader, uint32_t tier, const uint32_t *ids)
{
    const struct htsim_config *config = reader->config;
    g_autofree char *name = g_strdup_printf("%s:%u", config->file, reader->line);
    struct fault fault = {
        .name = name,
        .object = {FAULT_UPLINK, tier, 0, ids[0], ids[1]},
        .change = FAULT_DOWN,
        .at_ps = config->failures_at,
        .until_ps = config->failures_until == PARAM_AUTO ? FAULT_NEVER : config->failures_until};

    fault_list_add(&reader->notes->faults, &fault);
    reader->n_failures++;
}

static gboolean take_failure(struct matrix *reader, GError **error)
{
    bool switch_id = false, link_id = false;
    uint32_t tier = 0, ids[2];

    for (uint32_t i = 1; i < reader->tokens->len; i++) {
        const char *word = token_at(reader, i), *next = token_at(reader, i + 1);

        uint32_t named = strcmp(word, "switch_type") == 0 && !tier ? find_tier(next) : 0;

        if (named) {
            tier = named;
            i++;
        } else if ((strcmp(word, "switch_id") == 0 && !switch_id) ||
                   (strcmp(word, "link_id") == 0 && !link_id)) {
            *(*word == 's' ? &switch_id : &link_id) = true;
            if (!take_number(reader, &i, 0, &ids[*word == 'l'], error))
                return FALSE;
        } else {
            return refuse(reader, reader->line, error,
                          "'%s %s' in a failure; switch_type TOR, AGG or CORE, switch_id N and "
                          "link_id N are expected, each once",
                          word, next ? next : "");
        }
    }
    if (!tier || !switch_id || !link_id)
        return refuse(reader, reader->line, error,
                      "a failure needs switch_type, switch_id and link_id");
    add_failure(reader, tier, ids);
    return TRUE;
}

/* --- lines ------------------------------------------------------------------------------------ */

static gboolean take_statement(struct matrix *reader, GError **error)
{
    const char *word = token_at(reader, 0);

    for (int which = 0; which < N_HEADERS; which++)
        if (strcmp(word, header_names[which]) == 0)
            return take_header(reader, (enum header)which, error);
    if (strstr(word, "->"))
        return take_flow(reader, error);
    if (strcmp(word, "trigger") == 0)
        return take_trigger(reader, error);
    if (strcmp(word, "failure") == 0)
        return take_failure(reader, error);
    return refuse(reader, reader->line, error,
                  "'%s' begins no statement; Nodes, Connections, Triggers, Failures, SRC->DST, "
                  "trigger and failure do",
                  word);
}

/* Cuts a line, in place, into words at spaces and tabs. */
static void tokenise(struct matrix *reader, char *line)
{
    g_ptr_array_set_size(reader->tokens, 0);
    for (;;) {
        line += strspn(line, " \t\r");
        if (*line == '\0')
            return;
        g_ptr_array_add(reader->tokens, line);
        line += strcspn(line, " \t\r");
        if (*line)
            *line++ = '\0';
    }
}

static gboolean take_lines(struct matrix *reader, char *text, GError **error)
{
    while (*text) {
        char *next = text + strcspn(text, "\n");

        if (*next)
            *next++ = '\0';
        reader->line++;
        tokenise(reader, text);
        text = next;
        if (reader->tokens->len == 0 || *token_at(reader, 0) == '#')
            continue;
        if (!take_statement(reader, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean take_file(struct matrix *reader, GError **error)
{
    struct reader file;
    gboolean ok =
        reader_open_text(&file, reader->config->file, "a connection matrix of htsim", error) &&
        take_lines(reader, file.text + file.next, error);

    reader_close(&file);
    return ok;
}

/* --- checks of the whole ---------------------------------------------------------------------- */

/* A count of the header against what the file holds; lenient takes what is there. */
static gboolean check_count(struct matrix *reader, enum header which, uint32_t found,
                            GError **error)
{
    uint32_t line = reader->header_line[which] ? reader->header_line[which] : 1;

    if (reader->header[which] == found)
        return TRUE;
    if (!reader->config->lenient)
        return refuse(reader, line, error,
                      "%s %u is declared, but the file holds %u (lenient = on takes what is there)",
                      header_names[which], reader->header[which], found);
    build_note(reader->notes,
               "warning: %s:%u: %s %u is declared, the file holds %u; taken as it is",
               reader->config->file, line, header_names[which], reader->header[which], found);
    return TRUE;
}

static gboolean check_header(struct matrix *reader, GError **error)
{
    if (!reader->header_line[HEADER_NODES] && !reader->config->lenient)
        return refuse(reader, 1, error, "no line 'Nodes N' (lenient = on takes the topology's %u)",
                      reader->graph->n_hosts);
    if (!reader->header_line[HEADER_NODES])
        reader->header[HEADER_NODES] = reader->graph->n_hosts;
    if (!check_count(reader, HEADER_CONNECTIONS, reader->flows->len, error) ||
        !check_count(reader, HEADER_TRIGGERS, reader->triggers->len, error) ||
        !check_count(reader, HEADER_FAILURES, reader->n_failures, error))
        return FALSE;
    if (reader->flows->len > 0)
        return TRUE;
    return refuse(reader, reader->line, error, "no flow in the file");
}

/* Files a flow with the triggers it names. */
static gboolean resolve_flow(struct matrix *reader, uint32_t index, GError **error)
{
    const struct flow *flow = flow_at(reader, index);
    const uint32_t ids[] = {flow->trigger, flow->send_done_trigger, flow->recv_done_trigger};

    for (int i = 0; i < 3; i++) {
        struct trigger *trigger = ids[i] ? find_trigger(reader, ids[i]) : NULL;

        if (ids[i] && !trigger)
            return refuse(reader, flow->line, error,
                          "trigger %u is not defined; a line 'trigger id %u oneshot' (or "
                          "multishot, or barrier count N) is expected",
                          ids[i], ids[i]);
        if (trigger && i == 0)
            g_array_append_val(trigger->targets, index);
        else if (trigger)
            trigger->n_activations++;
    }
    return TRUE;
}

static gboolean check_edges(const struct matrix *reader, GError **error)
{
    uint64_t n_edges = 0;

    for (uint32_t i = 0; i < reader->triggers->len; i++) {
        const struct trigger *trigger = trigger_at(reader, i);

        if (trigger->kind != TRIGGER_MULTISHOT)
            continue;
        n_edges += (uint64_t)trigger->n_activations * trigger->targets->len;
        if (n_edges > EDGES_MOST)
            return refuse(reader, trigger->line, error,
                          "multishot trigger %u has %u activations for %u flows; their product, "
                          "over all multishot triggers, may be %d",
                          trigger->id, trigger->n_activations, trigger->targets->len, EDGES_MOST);
    }
    return TRUE;
}

static gboolean check_all(struct matrix *reader, GError **error)
{
    if (!check_header(reader, error))
        return FALSE;
    for (uint32_t i = 0; i < reader->flows->len; i++)
        if (!resolve_flow(reader, i, error))
            return FALSE;
    return check_edges(reader, error);
}

/* --- the schedule ----------------------------------------------------------------------------- */

static void add_flow(struct schedule *schedule, const struct flow *flow)
{
    schedule_add_op(schedule, &(struct schedule_op){.kind = SCHEDULE_MESSAGE,
                                                    .rank = flow->src,
                                                    .peer = flow->dst,
                                                    .bytes = flow->bytes,
                                                    .start_ps = flow->start_ps,
                                                    .group = SCHEDULE_NO_GROUP});
}

/* oneshot and barrier: one join; multishot: flow k needs k + 1 activations. */
static void add_trigger(struct schedule *schedule, struct trigger *trigger)
{
    bool together = trigger->kind != TRIGGER_MULTISHOT;

    if (together)
        trigger->join = schedule_add_op(
            schedule,
            &(struct schedule_op){.kind = SCHEDULE_JOIN,
                                  .n_needed = trigger->kind == TRIGGER_BARRIER ? trigger->count : 1,
                                  .group = SCHEDULE_NO_GROUP});
    for (uint32_t k = 0; k < trigger->targets->len; k++) {
        uint32_t target = g_array_index(trigger->targets, uint32_t, k);

        if (together)
            schedule_add_edge(schedule, trigger->join, target, SCHEDULE_AT_RECEIVER, false);
        else
            schedule_set_needed(schedule, target, k + 1);
    }
}

static void add_activation(const struct matrix *reader, struct schedule *schedule, uint64_t flow,
                           uint32_t id, enum schedule_when when)
{
    const struct trigger *trigger = id ? find_trigger(reader, id) : NULL;

    if (!trigger)
        return;
    if (trigger->kind != TRIGGER_MULTISHOT)
        schedule_add_edge(schedule, flow, trigger->join, when, true);
    else
        for (uint32_t k = 0; k < trigger->targets->len; k++)
            schedule_add_edge(schedule, flow, g_array_index(trigger->targets, uint32_t, k), when,
                              true);
}

/* Operations 0 to n_flows - 1 are the flows in the order of the file. */
static void fill_schedule(const struct matrix *reader, struct schedule *schedule)
{
    for (uint32_t i = 0; i < reader->flows->len; i++)
        add_flow(schedule, flow_at(reader, i));
    for (uint32_t i = 0; i < reader->triggers->len; i++)
        add_trigger(schedule, trigger_at(reader, i));
    for (uint32_t i = 0; i < reader->flows->len; i++) {
        const struct flow *flow = flow_at(reader, i);

        add_activation(reader, schedule, i, flow->send_done_trigger, SCHEDULE_AT_SENDER);
        add_activation(reader, schedule, i, flow->recv_done_trigger, SCHEDULE_AT_RECEIVER);
    }
}

/* --- notes ------------------------------------------------------------------------------------ */

struct sums {
    double bytes;
    uint32_t n_with[N_ATTRIBUTES];
    int64_t first_ps, last_ps; /* starts; INT64_MAX and -1 where all flows wait for triggers */
    uint32_t n_late;           /* starts beyond the end of the run */
};

static void sum_flows(const struct matrix *reader, struct sums *sums)
{
    *sums = (struct sums){.first_ps = INT64_MAX, .last_ps = -1};
    for (uint32_t i = 0; i < reader->flows->len; i++) {
        const struct flow *flow = flow_at(reader, i);

        sums->bytes += (double)flow->bytes;
        for (int a = 0; a < N_ATTRIBUTES; a++)
            sums->n_with[a] += has(flow, a);
        if (!has(flow, START))
            continue;
        sums->first_ps = MIN(sums->first_ps, flow->start_ps);
        sums->last_ps = MAX(sums->last_ps, flow->start_ps);
        sums->n_late += flow->start_ps > reader->notes->end_ps;
    }
}

static void note_starts(const struct matrix *reader, const struct sums *sums)
{
    const char *unit = unit_names[reader->config->start_unit];
    g_autofree char *first = units_format(UNITS_TIME, sums->first_ps);
    g_autofree char *last = units_format(UNITS_TIME, sums->last_ps);

    if (sums->last_ps < 0) {
        build_note(reader->notes, "warning: no flow has a start, so nothing will ever begin");
        return;
    }
    build_note(reader->notes, "start times are read in %s (start_unit): %s to %s", unit, first,
               last);
    if (sums->n_late)
        build_note(reader->notes,
                   "warning: %u flow%s start%s beyond the end of the run, the last at %s; is "
                   "start_unit = %s right? Some htsim programs write ps",
                   sums->n_late, sums->n_late == 1 ? "" : "s", sums->n_late == 1 ? "s" : "", last,
                   unit);
    if (sums->last_ps > 0 && sums->last_ps < 1000)
        build_note(reader->notes,
                   "warning: every start is below 1 ns; is start_unit = %s right? htsim_uec reads "
                   "us",
                   unit);
}

static void note_triggers(const struct matrix *reader)
{
    uint32_t n_of[TRIGGER_BARRIER + 1] = {0}, n_never = 0, n_idle = 0;

    for (uint32_t i = 0; i < reader->triggers->len; i++) {
        const struct trigger *trigger = trigger_at(reader, i);
        uint32_t needs = trigger->kind == TRIGGER_BARRIER     ? trigger->count
                         : trigger->kind == TRIGGER_MULTISHOT ? trigger->targets->len
                                                              : 1;

        n_of[trigger->kind]++;
        n_never += trigger->targets->len > 0 && trigger->n_activations < needs;
        n_idle += trigger->targets->len == 0;
    }
    if (reader->triggers->len)
        build_note(reader->notes, "triggers: %u oneshot, %u multishot, %u barrier",
                   n_of[TRIGGER_ONESHOT], n_of[TRIGGER_MULTISHOT], n_of[TRIGGER_BARRIER]);
    if (n_never)
        build_note(reader->notes,
                   "warning: %u trigger%s fewer activations in the file than needed: flows "
                   "will never start",
                   n_never, n_never == 1 ? " has" : "s have");
    if (n_idle)
        build_note(reader->notes, "%u trigger%s no flow", n_idle,
                   n_idle == 1 ? " starts" : "s start");
}

static void note_ignored(const struct matrix *reader, const struct sums *sums)
{
    if (sums->n_with[PRIO])
        build_note(reader->notes, "prio of %u flows is ignored: one class of traffic",
                   sums->n_with[PRIO]);
    if (sums->n_with[ADDON])
        build_note(reader->notes,
                   "addon of %u flows is ignored: a barrier is not armed again after it fired",
                   sums->n_with[ADDON]);
}

static void note_content(const struct matrix *reader)
{
    struct sums sums;

    sum_flows(reader, &sums);
    g_autofree char *bytes = units_display(UNITS_BYTES, sums.bytes);
    g_autofree char *at = units_format(UNITS_TIME, reader->config->failures_at);

    build_note(reader->notes, "htsim matrix %s: %u nodes, %u flows (%u as messages), %s in all",
               reader->config->file, reader->header[HEADER_NODES], reader->flows->len,
               sums.n_with[MSG], bytes);
    if (reader->header[HEADER_NODES] < reader->graph->n_hosts)
        build_note(reader->notes, "Nodes %u is below the topology's %u hosts: the others are idle",
                   reader->header[HEADER_NODES], reader->graph->n_hosts);
    reader->notes->n_hosts_named = reader->header[HEADER_NODES];
    note_starts(reader, &sums);
    note_triggers(reader);
    if (reader->n_failures)
        build_note(reader->notes, "%u failure line%s: links that go down at %s", reader->n_failures,
                   reader->n_failures == 1 ? "" : "s", at);
    note_ignored(reader, &sums);
}

/* --- the builder ------------------------------------------------------------------------------ */

static void trigger_clear(void *trigger)
{
    g_array_unref(((struct trigger *)trigger)->targets);
}

static void reader_init(struct matrix *reader, const struct htsim_config *config,
                        const struct graph *graph, struct build *notes)
{
    *reader = (struct matrix){.config = config, .graph = graph, .notes = notes};
    reader->tokens = g_ptr_array_new();
    reader->flows = g_array_new(FALSE, FALSE, sizeof(struct flow));
    reader->triggers = g_array_new(FALSE, FALSE, sizeof(struct trigger));
    g_array_set_clear_func(reader->triggers, trigger_clear);
    reader->flow_of_id = g_hash_table_new(NULL, NULL);
    reader->trigger_of = g_hash_table_new(NULL, NULL);
}

static void reader_clear(struct matrix *reader)
{
    g_ptr_array_unref(reader->tokens);
    g_array_unref(reader->flows);
    g_array_unref(reader->triggers);
    g_hash_table_unref(reader->flow_of_id);
    g_hash_table_unref(reader->trigger_of);
}

static gboolean build(const void *config, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    struct matrix reader;
    gboolean ok;

    reader_init(&reader, config, graph, notes);
    ok = take_file(&reader, error) && check_all(&reader, error);
    if (ok) {
        schedule_init(schedule, graph->n_hosts);
        fill_schedule(&reader, schedule);
        note_content(&reader);
        ok = workload_finish(schedule, graph, error);
    }
    reader_clear(&reader);
    return ok;
}

const struct workload_ops workload_htsim = {
    .name = "htsim",
    .summary = "A connection matrix of htsim (.cm, .tm), with its triggers.",
    .source = "csg-htsim and uet-htsim, sim/datacenter/connection_matrix.cpp",
    .config_size = sizeof(struct htsim_config),
    .params = params,
    .build = build};
