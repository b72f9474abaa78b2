/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/trace.h"
#include "sim/core/table.h"
#include <inttypes.h>
#include <string.h>

#define MOST_OPS 200000 /* of a schedule that are drawn, one by one */

/* --- which packets ---------------------------------------------------------------------------- */

static bool is_asked(const GArray *ops, uint64_t op)
{
    for (guint i = 0; i < ops->len; i++)
        if (g_array_index(ops, uint64_t, i) == op)
            return true;
    return false;
}

/* Data of a message that is asked for, or an answer to such. */
static bool belongs(const struct journal_trip *trip, const GArray *ops)
{
    if (trip->lane)
        return is_asked(ops, trip->flow);
    return trip->cause_trip && trip->cause_trip->lane && is_asked(ops, trip->cause_trip->flow);
}

static gint by_making(gconstpointer a, gconstpointer b)
{
    const struct journal_trip *x = *(struct journal_trip *const *)a;
    const struct journal_trip *y = *(struct journal_trip *const *)b;

    if (x->made_ps != y->made_ps)
        return x->made_ps < y->made_ps ? -1 : 1;
    if (x->flow != y->flow)
        return x->flow < y->flow ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->hops[0].port < y->hops[0].port ? -1 : x->hops[0].port > y->hops[0].port;
}

/* Trips that ended and, as those never left the table, those that had not when the run did. */
static GPtrArray *trips_of(const struct replay *replay, const GArray *ops)
{
    const struct journal *journal = &replay->journal;
    GPtrArray *trips = g_ptr_array_new();
    GHashTableIter iter;
    gpointer live;

    for (guint i = 0; i < journal->trips->len; i++)
        if (belongs(g_ptr_array_index(journal->trips, i), ops))
            g_ptr_array_add(trips, g_ptr_array_index(journal->trips, i));
    g_hash_table_iter_init(&iter, journal->live);
    while (g_hash_table_iter_next(&iter, NULL, &live))
        if (belongs(live, ops) && ((struct journal_trip *)live)->n_hops > 0)
            g_ptr_array_add(trips, live);
    g_ptr_array_sort(trips, by_making);
    return trips;
}

static char *trip_name(const struct journal_trip *trip)
{
    static const char *const kinds[] = {[PACKET_DATA] = "data",
                                        [PACKET_ACK] = "answer",
                                        [PACKET_CONTROL] = "control packet",
                                        [PACKET_PFC] = "pause frame"};

    if (!trip->lane)
        return g_strdup_printf("%s to packet %u of flow %" PRIu64, kinds[trip->class],
                               trip->cause_trip->sequence, trip->cause_trip->flow);
    return trip->n_before > 0
               ? g_strdup_printf("packet %u of flow %" PRIu64 " (transmission %u)", trip->sequence,
                                 trip->flow, trip->n_before + 1)
               : g_strdup_printf("packet %u of flow %" PRIu64, trip->sequence, trip->flow);
}

/* --- text ------------------------------------------------------------------------------------- */

struct line {
    int64_t time_ps;
    guint order;
    char *text;
};

static void line_clear(void *data)
{
    g_free(((struct line *)data)->text);
}

static gint by_instant(gconstpointer a, gconstpointer b)
{
    const struct line *x = a, *y = b;

    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void say(GArray *lines, int64_t time_ps, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void say(GArray *lines, int64_t time_ps, const char *format, ...)
{
    struct line line = {time_ps, lines->len, NULL};
    va_list list;

    if (time_ps < 0)
        return;
    va_start(list, format);
    line.text = g_strdup_vprintf(format, list);
    va_end(list);
    g_array_append_val(lines, line);
}

static void say_hop(const struct replay *replay, GArray *lines, const struct journal_trip *trip,
                    uint32_t index, const char *name)
{
    const struct journal_hop *hop = &trip->hops[index];
    g_autofree char *port = replay_port_name(replay, hop->port);
    int64_t waits_ps = hop->start_ps - hop->came_ps;

    if (waits_ps > 0)
        say(lines, hop->came_ps, "%s waits %" PRId64 " ps for %s", name, waits_ps, port);
    say(lines, hop->start_ps, "%s, %u B, is sent by %s until %" PRId64 "%s", name, trip->bytes,
        port, hop->end_ps, trip->ecn == PACKET_CE && index + 1 == trip->n_hops ? ", marked" : "");
}

static void say_end(const struct replay *replay, GArray *lines, const struct journal_trip *trip,
                    const char *name)
{
    if (trip->fate == JOURNAL_LOST) {
        g_autofree char *port = replay_port_name(replay, trip->lost_at);

        say(lines, trip->end_ps, "%s is LOST at %s (%s)", name, port, sink_drop_name(trip->cause));
    } else if (trip->fate == JOURNAL_HANDLED) {
        g_autofree char *node = replay_node_name(
            replay, graph_port_peer(&replay->experiment.graph, trip->hops[trip->n_hops - 1].port));

        say(lines, trip->end_ps, "%s is taken by %s", name, node);
    }
}

static void say_trip(const struct replay *replay, GArray *lines, const struct journal_trip *trip)
{
    g_autofree char *name = trip_name(trip);

    for (uint32_t i = 0; i < trip->n_hops; i++)
        say_hop(replay, lines, trip, i, name);
    say_end(replay, lines, trip, name);
}

static void say_lane(const struct replay *replay, GArray *lines, const struct journal_lane *lane,
                     int64_t from_ps, int64_t to_ps)
{
    g_autofree char *port = replay_port_name(replay, lane->port);

    for (guint i = 0; i < lane->periods->len; i++) {
        const struct journal_period *period =
            &g_array_index(lane->periods, struct journal_period, i);

        if (period->ready_ps >= from_ps && period->ready_ps <= to_ps)
            say(lines, period->ready_ps, "the sender on %s is ready: %s", port,
                period->wake == JOURNAL_POST     ? "a message was posted"
                : period->wake == JOURNAL_PACKET ? "it heard from the receiver"
                                                 : "a timer");
        if (period->blocked_ps >= from_ps && period->blocked_ps <= to_ps)
            say(lines, period->blocked_ps, "the sender on %s has nothing it may send", port);
    }
    for (guint i = 0; i < lane->paced->len; i++) {
        const struct journal_span *span = &g_array_index(lane->paced, struct journal_span, i);

        if (span->from_ps >= from_ps && span->from_ps <= to_ps)
            say(lines, span->from_ps, "the sender on %s waits for its pace until %" PRId64, port,
                span->to_ps);
    }
}

static void say_op(const struct replay *replay, GArray *lines, uint64_t index)
{
    const struct journal_op *op = &replay->journal.ops[index];

    say(lines, op->enabled_ps, "flow %" PRIu64 ": operation %" PRIu64 " was what it waited for",
        index, op->by);
    say(lines, op->begun_ps, "flow %" PRIu64 " begins", index);
    say(lines, op->posted_ps, "flow %" PRIu64 " is handed to the transport", index);
    say(lines, op->delivered_ps, "flow %" PRIu64 " is DELIVERED", index);
    say(lines, op->acknowledged_ps, "flow %" PRIu64 " is acknowledged", index);
    say(lines, op->completed_ps, "flow %" PRIu64 " is complete", index);
}

void trace_text(const struct replay *replay, const GArray *ops, FILE *out)
{
    g_autoptr(GPtrArray) trips = trips_of(replay, ops);
    g_autoptr(GHashTable) lanes = g_hash_table_new(NULL, NULL);
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct line));
    int64_t from_ps = INT64_MAX, to_ps = 0;

    g_array_set_clear_func(lines, line_clear);
    for (guint i = 0; i < ops->len; i++)
        say_op(replay, lines, g_array_index(ops, uint64_t, i));
    for (guint i = 0; i < trips->len; i++) {
        const struct journal_trip *trip = g_ptr_array_index(trips, i);

        from_ps = MIN(from_ps, trip->made_ps);
        to_ps = MAX(to_ps, MAX(trip->end_ps, trip->made_ps));
    }
    for (guint i = 0; i < trips->len; i++) {
        const struct journal_trip *trip = g_ptr_array_index(trips, i);

        if (trip->lane && g_hash_table_add(lanes, trip->lane))
            say_lane(replay, lines, trip->lane, from_ps, to_ps);
    }
    for (guint i = 0; i < trips->len; i++)
        say_trip(replay, lines, g_ptr_array_index(trips, i));
    g_array_sort(lines, by_instant);
    for (guint i = 0; i < lines->len; i++)
        fprintf(out, "%16" PRId64 "  %s\n", g_array_index(lines, struct line, i).time_ps,
                g_array_index(lines, struct line, i).text);
    g_array_unref(lines);
}

/* --- Chrome ----------------------------------------------------------------------------------- */

enum process {
    PROCESS_FLOWS = 1,
    PROCESS_PORTS,
    PROCESS_COLLECTIVES,
    PROCESS_RANKS,
    PROCESS_ENGINES
};

struct chrome {
    FILE *out;
    bool begun;
};

/* ts and dur are microseconds; six decimals are picoseconds. */
static void put_us(FILE *out, const char *key, int64_t ps)
{
    fprintf(out, ",\"%s\":%" PRId64 ".%06d", key, ps / 1000000, (int)(ps % 1000000));
}

/* The head of an event; what is particular to it and the closing brace follow. */
static void begin_event(struct chrome *chrome, const char *phase, enum process process,
                        uint64_t thread, const char *name)
{
    g_autoptr(GString) quoted = g_string_new(NULL);

    table_json_string(quoted, name);
    fprintf(chrome->out, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRIu64 ",\"name\":%s",
            chrome->begun ? ",\n" : "", phase, (int)process, thread, quoted->str);
    chrome->begun = true;
}

static void put_span(struct chrome *chrome, enum process process, uint64_t thread, const char *name,
                     int64_t from_ps, int64_t to_ps)
{
    if (from_ps < 0 || to_ps < from_ps)
        return;
    begin_event(chrome, "X", process, thread, name);
    put_us(chrome->out, "ts", from_ps);
    put_us(chrome->out, "dur", to_ps - from_ps);
    fprintf(chrome->out, "}");
}

/* A span that may overlap others of its thread; those of one id nest. */
static void put_async(struct chrome *chrome, enum process process, uint64_t thread,
                      const char *category, const char *id, const char *name, int64_t from_ps,
                      int64_t to_ps)
{
    if (from_ps < 0 || to_ps < from_ps)
        return;
    for (int end = 0; end < 2; end++) {
        begin_event(chrome, end ? "e" : "b", process, thread, name);
        fprintf(chrome->out, ",\"cat\":\"%s\",\"id\":\"%s\"", category, id);
        put_us(chrome->out, "ts", end ? to_ps : from_ps);
        fprintf(chrome->out, "}");
    }
}

static void put_name(struct chrome *chrome, enum process process, uint64_t thread, const char *what,
                     const char *name)
{
    g_autoptr(GString) quoted = g_string_new(NULL);

    table_json_string(quoted, name);
    begin_event(chrome, "M", process, thread, what);
    fprintf(chrome->out, ",\"args\":{\"name\":%s}}", quoted->str);
}

static void draw_trip(struct chrome *chrome, const struct replay *replay,
                      const struct journal_trip *trip, guint number)
{
    g_autofree char *name = trip_name(trip), *id = g_strdup_printf("p%u", number);
    uint64_t flow = trip->lane ? trip->flow : trip->cause_trip->flow;

    put_async(chrome, PROCESS_FLOWS, flow, "packet", id, name, trip->made_ps, trip->end_ps);
    for (uint32_t i = 0; i < trip->n_hops; i++) {
        const struct journal_hop *hop = &trip->hops[i];
        g_autofree char *port = replay_port_name(replay, hop->port);
        g_autofree char *wait = g_strdup_printf("waits for %s", port);
        g_autofree char *wire = g_strdup_printf("on the wire of %s", port);

        if (hop->start_ps > hop->came_ps)
            put_async(chrome, PROCESS_FLOWS, flow, "packet", id, wait, hop->came_ps, hop->start_ps);
        if (hop->there)
            put_async(chrome, PROCESS_FLOWS, flow, "packet", id, wire, hop->start_ps,
                      hop->arrive_ps);
        put_span(chrome, PROCESS_PORTS, hop->port, name, hop->start_ps, hop->end_ps);
    }
}

/* Bytes of the traced packets that wait at a port, as they come and go. */
struct change {
    uint32_t port;
    int64_t time_ps, bytes;
};

static gint by_port_and_time(gconstpointer a, gconstpointer b)
{
    const struct change *x = a, *y = b;

    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static void draw_queues(struct chrome *chrome, const struct replay *replay, const GPtrArray *trips)
{
    g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(struct change));
    int64_t bytes = 0;

    for (guint i = 0; i < trips->len; i++) {
        const struct journal_trip *trip = g_ptr_array_index(trips, i);

        for (uint32_t k = 0; k < trip->n_hops; k++) {
            struct change in = {trip->hops[k].port, trip->hops[k].came_ps, trip->bytes};
            struct change out = {trip->hops[k].port, trip->hops[k].start_ps, -(int64_t)trip->bytes};

            if (in.time_ps == out.time_ps)
                continue;
            g_array_append_val(changes, in);
            g_array_append_val(changes, out);
        }
    }
    g_array_sort(changes, by_port_and_time);
    for (guint i = 0; i < changes->len; i++) {
        const struct change *change = &g_array_index(changes, struct change, i);
        g_autofree char *port = replay_port_name(replay, change->port);
        g_autofree char *name = g_strdup_printf("waiting for %s", port);

        bytes += change->bytes;
        begin_event(chrome, "C", PROCESS_PORTS, change->port, name);
        put_us(chrome->out, "ts", change->time_ps);
        fprintf(chrome->out, ",\"args\":{\"bytes\":%" PRId64 "}}", bytes);
    }
}

static void name_ports(struct chrome *chrome, const struct replay *replay, const GPtrArray *trips)
{
    g_autoptr(GHashTable) named = g_hash_table_new(NULL, NULL);

    for (guint i = 0; i < trips->len; i++) {
        const struct journal_trip *trip = g_ptr_array_index(trips, i);

        for (uint32_t k = 0; k < trip->n_hops; k++) {
            g_autofree char *port = replay_port_name(replay, trip->hops[k].port);

            if (g_hash_table_add(named, GUINT_TO_POINTER(trip->hops[k].port)))
                put_name(chrome, PROCESS_PORTS, trip->hops[k].port, "thread_name", port);
        }
    }
}

static char *op_name(const struct schedule_op *op, uint64_t index)
{
    if (op->kind == SCHEDULE_MESSAGE)
        return g_strdup_printf("message %" PRIu64 " to rank %u, %" PRId64 " B", index, op->peer,
                               op->bytes);
    return g_strdup_printf("%s %" PRIu64,
                           op->kind == SCHEDULE_REDUCE    ? "reduce"
                           : op->kind == SCHEDULE_COMPUTE ? "compute"
                                                          : "operation",
                           index);
}

/* An element of a message engine's work queue, in that engine's track. */
static void draw_element(struct chrome *chrome, const struct schedule_op *op, const char *id,
                         const struct journal_op *record, GHashTable *named)
{
    const char *name = schedule_element_name(op->element);
    uint64_t thread = (uint64_t)op->rank << 8 | op->engine;
    gint64 key = (gint64)thread;

    if (record->begun_ps < 0)
        return;
    if (!g_hash_table_contains(named, &key)) {
        g_autofree char *track = g_strdup_printf("rank %u, engine %u", op->rank, op->engine);

        g_hash_table_add(named, g_memdup2(&key, sizeof key));
        put_name(chrome, PROCESS_ENGINES, thread, "thread_name", track);
    }
    put_async(chrome, PROCESS_ENGINES, thread, "element", id, name, record->begun_ps,
              op->kind == SCHEDULE_MESSAGE ? record->posted_ps : record->completed_ps);
}

/* Operations by rank, and what their groups span. */
static void draw_schedule(struct chrome *chrome, const struct replay *replay)
{
    const struct schedule *schedule = &replay->experiment.schedule;
    g_autoptr(GHashTable) named =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL); /* engines */
    guint n_groups = schedule->groups->len;
    g_autofree struct journal_span *spans = g_new(struct journal_span, n_groups + 1);

    for (guint i = 0; i < n_groups; i++)
        spans[i] = (struct journal_span){INT64_MAX, SINK_NEVER};
    for (uint64_t i = 0; i < schedule->n_ops; i++) {
        const struct journal_op *record = &replay->journal.ops[i];
        struct schedule_op op;

        schedule_op(schedule, i, &op);
        if (op.group != SCHEDULE_NO_GROUP && record->begun_ps >= 0) {
            spans[op.group].from_ps = MIN(spans[op.group].from_ps, record->begun_ps);
            spans[op.group].to_ps = MAX(spans[op.group].to_ps, record->completed_ps);
        }
        if (i < MOST_OPS) {
            g_autofree char *name = op_name(&op, i), *id = g_strdup_printf("o%" PRIu64, i);

            put_async(chrome, PROCESS_RANKS, op.rank, "operation", id, name, record->begun_ps,
                      record->completed_ps);
            if (op.element != SCHEDULE_NO_ELEMENT)
                draw_element(chrome, &op, id, record, named);
            if (op.kind == SCHEDULE_MESSAGE && record->posted_ps > record->begun_ps)
                put_async(chrome, PROCESS_RANKS, op.rank, "operation", id, "issue",
                          record->begun_ps, record->posted_ps);
            if (op.kind == SCHEDULE_MESSAGE && record->completed_ps > record->delivered_ps)
                put_async(chrome, PROCESS_RANKS, op.rank, "operation", id, "notify",
                          record->delivered_ps, record->completed_ps);
        }
    }
    for (guint i = 0; i < n_groups; i++) {
        put_name(chrome, PROCESS_COLLECTIVES, i, "thread_name", schedule_group(schedule, i)->name);
        put_span(chrome, PROCESS_COLLECTIVES, i, schedule_group(schedule, i)->name,
                 spans[i].from_ps, spans[i].to_ps);
    }
}

static void draw_flow(struct chrome *chrome, const struct replay *replay, uint64_t index)
{
    const struct journal_op *op = &replay->journal.ops[index];
    g_autofree char *name = g_strdup_printf("flow %" PRIu64, index);

    put_name(chrome, PROCESS_FLOWS, index, "thread_name", name);
    put_span(chrome, PROCESS_FLOWS, index, name, op->posted_ps, op->delivered_ps);
}

void trace_chrome(const struct replay *replay, const GArray *ops, FILE *out)
{
    g_autoptr(GPtrArray) trips = trips_of(replay, ops);
    struct chrome chrome = {.out = out};

    fprintf(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    put_name(&chrome, PROCESS_FLOWS, 0, "process_name", "flows");
    put_name(&chrome, PROCESS_PORTS, 0, "process_name", "ports and queues");
    put_name(&chrome, PROCESS_COLLECTIVES, 0, "process_name", "collectives");
    put_name(&chrome, PROCESS_RANKS, 0, "process_name", "ranks");
    put_name(&chrome, PROCESS_ENGINES, 0, "process_name", "message engines");
    name_ports(&chrome, replay, trips);
    for (guint i = 0; i < ops->len; i++)
        draw_flow(&chrome, replay, g_array_index(ops, uint64_t, i));
    for (guint i = 0; i < trips->len; i++)
        draw_trip(&chrome, replay, g_ptr_array_index(trips, i), i);
    draw_queues(&chrome, replay, trips);
    draw_schedule(&chrome, replay);
    fprintf(out, "\n]}\n");
}
