/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/journal.h"
#include "models/host.h"
#include <stdlib.h>
#include <string.h>

/* Instants between which something is asked for: spans, sorted and apart once it begins. */
struct windows {
    GArray *spans; /* struct journal_span */
};

/* What is known of a connection that is recorded. */
struct journal_connection {
    struct windows *windows;
    GHashTable *sent;                /* flow -> GPtrArray of last transmissions by sequence */
    struct journal_trip *last_sent;  /* data */
    struct journal_trip *last_at[2]; /* handled at src, at dst */
};

static struct journal *journal_of(struct observer *observer)
{
    return (struct journal *)(void *)observer;
}

static int64_t now_of(const struct journal *journal)
{
    return engine_now_ps(journal->observer.engine);
}

/* --- windows ---------------------------------------------------------------------------------- */

static gint by_start(gconstpointer a, gconstpointer b)
{
    const struct journal_span *x = a, *y = b;

    return x->from_ps < y->from_ps ? -1 : x->from_ps > y->from_ps;
}

static void windows_add(struct windows *windows, int64_t from_ps, int64_t to_ps)
{
    struct journal_span span = {from_ps, to_ps};
    guint n = 0;

    g_array_append_val(windows->spans, span);
    g_array_sort(windows->spans, by_start);
    for (guint i = 0; i < windows->spans->len; i++) {
        struct journal_span *next = &g_array_index(windows->spans, struct journal_span, i);
        struct journal_span *last =
            n ? &g_array_index(windows->spans, struct journal_span, n - 1) : NULL;

        if (last && next->from_ps <= last->to_ps)
            last->to_ps = MAX(last->to_ps, next->to_ps);
        else
            g_array_index(windows->spans, struct journal_span, n++) = *next;
    }
    g_array_set_size(windows->spans, n);
}

/* Whether anything of [from, to] is asked for. */
static bool windows_meet(const struct windows *windows, int64_t from_ps, int64_t to_ps)
{
    guint low = 0, high = windows->spans->len;

    while (low < high) { /* the first span that ends no earlier than `from_ps` */
        guint middle = (low + high) / 2;

        if (g_array_index(windows->spans, struct journal_span, middle).to_ps < from_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low < windows->spans->len &&
           g_array_index(windows->spans, struct journal_span, low).from_ps <= to_ps;
}

static void windows_free(void *data)
{
    struct windows *windows = data;

    g_array_unref(windows->spans);
    g_free(windows);
}

static struct windows *windows_new(struct journal *journal)
{
    struct windows *windows = g_new(struct windows, 1);

    windows->spans = g_array_new(FALSE, FALSE, sizeof(struct journal_span));
    g_ptr_array_add(journal->windows, windows);
    return windows;
}

/* --- trips ------------------------------------------------------------------------------------ */

static struct journal_trip *trip_hold(struct journal_trip *trip)
{
    if (trip)
        trip->n_holders++;
    return trip;
}

static void trip_release(struct journal_trip *trip)
{
    while (trip && --trip->n_holders == 0) {
        struct journal_trip *cause = trip->cause_trip;

        trip_release(trip->before);
        g_free(trip->hops);
        g_free(trip);
        trip = cause;
    }
}

static void trip_set(struct journal_trip **holder, struct journal_trip *trip)
{
    trip_hold(trip);
    trip_release(*holder);
    *holder = trip;
}

static void release_trip(void *trip)
{
    trip_release(trip);
}

static void release_trips(void *trips)
{
    g_ptr_array_unref(trips);
}

static struct journal_hop *add_hop(struct journal_trip *trip)
{
    if (trip->n_hops == trip->room) {
        trip->room = trip->room ? 2 * trip->room : 4;
        trip->hops = g_renew(struct journal_hop, trip->hops, trip->room);
    }
    return &trip->hops[trip->n_hops++];
}

static struct journal_trip *live_trip(const struct journal *journal, const struct packet *packet)
{
    return g_hash_table_lookup(journal->live, packet);
}

/* The packet is gone: its trip is kept if it ended when somebody asks. */
static void end_trip(struct journal *journal, const struct packet *packet,
                     struct journal_trip *trip)
{
    const struct journal_connection *connection =
        g_hash_table_lookup(journal->connections, trip->connection);

    trip->end_ps = now_of(journal);
    if (windows_meet(connection->windows, trip->made_ps, trip->end_ps))
        g_ptr_array_add(journal->trips, trip_hold(trip));
    g_hash_table_remove(journal->live, packet);
}

/* --- connections ------------------------------------------------------------------------------ */

static void connection_free(void *data)
{
    struct journal_connection *connection = data;

    g_hash_table_unref(connection->sent);
    trip_release(connection->last_sent);
    trip_release(connection->last_at[0]);
    trip_release(connection->last_at[1]);
    g_free(connection);
}

static guint64 pair_of(uint32_t src, uint32_t dst)
{
    return (guint64)src << 32 | dst;
}

/* NULL: it is not asked for. */
static struct journal_connection *connection_of(struct journal *journal,
                                                const struct connection *connection)
{
    struct journal_connection *known;
    guint64 pair;
    gpointer found;

    if (g_hash_table_lookup_extended(journal->connections, connection, NULL, &found))
        return found;
    pair = pair_of(connection->src->number, connection->dst->number);
    found = g_hash_table_lookup(journal->wanted, &pair);
    known = found ? g_new0(struct journal_connection, 1) : NULL;
    if (known) {
        known->windows = found;
        known->sent = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, release_trips);
    }
    g_hash_table_insert(journal->connections, (gpointer)(uintptr_t)connection, known);
    return known;
}

static struct journal_trip *new_trip(struct journal *journal, const struct packet *packet)
{
    struct journal_trip *trip = g_new0(struct journal_trip, 1);

    trip->n_holders = 1; /* the table of those on their way */
    trip->connection = packet->connection;
    trip->class = (uint8_t)packet->class;
    trip->ecn = (uint8_t)packet->ecn;
    trip->bytes = packet->bytes;
    trip->made_ps = now_of(journal);
    trip->end_ps = SINK_NEVER;
    g_hash_table_insert(journal->live, (gpointer)(uintptr_t)packet, trip);
    return trip;
}

/* Names the packet of a data trip, and finds the transmission before it. */
static void name_trip(struct journal_connection *connection, struct journal_trip *trip,
                      const struct packet *packet)
{
    gint64 flow = (gint64)packet->flow;
    GPtrArray *sent = g_hash_table_lookup(connection->sent, &flow);

    if (!sent) {
        sent = g_ptr_array_new_with_free_func(release_trip);
        g_hash_table_insert(connection->sent, g_memdup2(&flow, sizeof flow), sent);
    }
    if (sent->len <= packet->sequence)
        g_ptr_array_set_size(sent, (gint)packet->sequence + 1);
    trip->flow = packet->flow;
    trip->sequence = packet->sequence;
    trip->before = g_ptr_array_index(sent, packet->sequence); /* its hold goes over */
    trip->n_before = trip->before ? trip->before->n_before + 1 : 0;
    g_ptr_array_index(sent, packet->sequence) = trip_hold(trip);
}

/* --- senders ---------------------------------------------------------------------------------- */

static void period_clear(void *data)
{
    struct journal_period *period = data;

    trip_release(period->by);
    trip_release(period->last_sent);
}

static void lane_free(void *data)
{
    struct journal_lane *lane = data;

    g_array_unref(lane->periods);
    g_array_unref(lane->paced);
    g_free(lane);
}

static struct journal_lane *lane_of(struct journal *journal, const struct sender *sender)
{
    struct journal_lane *lane = g_hash_table_lookup(journal->lanes, sender);

    if (lane)
        return lane;
    lane = g_new0(struct journal_lane, 1);
    lane->sender = sender;
    lane->periods = g_array_new(FALSE, FALSE, sizeof(struct journal_period));
    g_array_set_clear_func(lane->periods, period_clear);
    lane->paced = g_array_new(FALSE, FALSE, sizeof(struct journal_span));
    g_hash_table_insert(journal->lanes, (gpointer)(uintptr_t)sender, lane);
    return lane;
}

static struct journal_period *last_period(const struct journal_lane *lane)
{
    return lane->periods->len > 0
               ? &g_array_index(lane->periods, struct journal_period, lane->periods->len - 1)
               : NULL;
}

static void on_ready(struct observer *observer, const struct sender *sender)
{
    struct journal *journal = journal_of(observer);
    struct journal_connection *connection = connection_of(journal, sender->connection);
    struct journal_period period = {.ready_ps = now_of(journal), .blocked_ps = INT64_MAX};
    struct journal_lane *lane;

    if (!connection)
        return;
    lane = lane_of(journal, sender);
    if (lane->is_ready) /* its pacing time has come */
        return;
    lane->is_ready = true;
    period.wake = journal->is_posting ? JOURNAL_POST
                  : journal->handling ? JOURNAL_PACKET
                                      : JOURNAL_TIMER;
    period.by = trip_hold(journal->handling);
    period.last_sent = trip_hold(connection->last_sent);
    /* nobody will walk back through what ended before anything is asked for */
    struct journal_period *before = last_period(lane);

    if (before && !windows_meet(connection->windows, before->ready_ps, period.ready_ps)) {
        trip_set(&before->by, NULL);
        trip_set(&before->last_sent, NULL);
    }
    g_array_append_val(lane->periods, period);
}

static void on_paced(struct observer *observer, const struct sender *sender)
{
    struct journal *journal = journal_of(observer);
    struct journal_connection *connection = connection_of(journal, sender->connection);
    struct journal_span span = {now_of(journal), sender->not_before_ps};

    if (connection && windows_meet(connection->windows, span.from_ps, span.to_ps))
        g_array_append_val(lane_of(journal, sender)->paced, span);
}

static void on_pulled(struct observer *observer, const struct sender *sender,
                      const struct packet *packet)
{
    struct journal *journal = journal_of(observer);
    struct journal_connection *connection = connection_of(journal, sender->connection);
    struct journal_lane *lane;
    struct journal_trip *trip;

    if (!connection)
        return;
    lane = lane_of(journal, sender);
    if (!packet) {
        lane->is_ready = false;
        last_period(lane)->blocked_ps = now_of(journal);
        return;
    }
    trip = new_trip(journal, packet);
    trip->lane = lane;
    trip->period = lane->periods->len - 1;
    name_trip(connection, trip, packet);
    trip_set(&connection->last_sent, trip);
}

/* --- packets ---------------------------------------------------------------------------------- */

static void on_answers(struct observer *observer, uint32_t port, const struct packet *packet)
{
    struct journal *journal = journal_of(observer);
    struct journal_connection *connection = connection_of(journal, packet->connection);
    struct journal_trip *trip;

    if (!connection)
        return;
    trip = new_trip(journal, packet);
    trip->waited = !journal->handling;
    bool at_dst =
        graph_port_node(journal->observer.engine->graph, port) == packet->connection->dst->number;

    trip->cause_trip = trip_hold(trip->waited ? connection->last_at[at_dst] : journal->handling);
}

/* What the ports of wanted hosts send, whoever's it is. */
static void note_sending(struct journal *journal, uint32_t port, const struct packet *packet,
                         int64_t start_ps, int64_t end_ps)
{
    const struct graph *graph = journal->observer.engine->graph;
    uint32_t node = graph_port_node(graph, port);
    bool frame = packet->class == PACKET_PFC;
    struct journal_sending sending = {start_ps, end_ps, frame ? NULL : packet->connection,
                                      packet->class == PACKET_DATA ? packet->flow : 0,
                                      (uint8_t)packet->class};

    if (node >= graph->n_hosts || !journal->hosts[node] ||
        !windows_meet(journal->hosts[node], start_ps, end_ps))
        return;
    if (!journal->sendings[port])
        journal->sendings[port] = g_array_new(FALSE, FALSE, sizeof sending);
    g_array_append_val(journal->sendings[port], sending);
}

static void on_sent(struct observer *observer, uint32_t port, const struct packet *packet,
                    int64_t start_ps, int64_t end_ps, int64_t arrive_ps)
{
    struct journal *journal = journal_of(observer);
    struct journal_trip *trip = live_trip(journal, packet);
    struct journal_hop *hop;

    note_sending(journal, port, packet, start_ps, end_ps);
    if (!trip)
        return;
    if (trip->lane && trip->n_hops == 0)
        trip->lane->port = port;
    hop = trip->n_hops > 0 ? &trip->hops[trip->n_hops - 1] : NULL;
    if (!hop || hop->there) { /* else it is moved */
        int64_t came_ps = hop ? hop->arrive_ps : trip->made_ps;

        hop = add_hop(trip);
        hop->came_ps = came_ps;
    }
    hop->port = port;
    hop->start_ps = start_ps;
    hop->end_ps = end_ps;
    hop->arrive_ps = arrive_ps;
    hop->there = false;
}

static void on_arrived(struct observer *observer, uint32_t port, const struct packet *packet,
                       enum packet_ecn ecn)
{
    struct journal_trip *trip = live_trip(journal_of(observer), packet);

    (void)port;
    if (!trip)
        return;
    trip->ecn = (uint8_t)ecn;
    trip->hops[trip->n_hops - 1].arrive_ps = now_of(journal_of(observer));
    trip->hops[trip->n_hops - 1].there = true;
}

static void on_dropped(struct observer *observer, uint32_t port, const struct packet *packet,
                       enum sink_drop cause)
{
    struct journal *journal = journal_of(observer);
    struct journal_trip *trip = live_trip(journal, packet);

    if (!trip)
        return;
    trip->fate = JOURNAL_LOST;
    trip->cause = cause;
    trip->lost_at = port;
    end_trip(journal, packet, trip);
}

static void on_paused(struct observer *observer, uint32_t port, uint32_t classes)
{
    struct journal *journal = journal_of(observer);
    struct journal_pause pause = {now_of(journal), classes};

    if (!journal->pauses[port])
        journal->pauses[port] = g_array_new(FALSE, FALSE, sizeof pause);
    g_array_append_val(journal->pauses[port], pause);
}

static void on_receives(struct observer *observer, const struct packet *packet)
{
    struct journal *journal = journal_of(observer);
    struct journal_trip *trip = live_trip(journal, packet);

    journal->is_handling = true;
    if (!trip)
        return;
    struct journal_connection *connection = connection_of(journal, packet->connection);
    uint32_t port = trip->hops[trip->n_hops - 1].port;
    bool at_dst = graph_port_peer(observer->engine->graph, port) == packet->connection->dst->number;

    trip->fate = JOURNAL_HANDLED;
    journal->handling = trip_hold(trip);
    trip_set(&connection->last_at[at_dst], trip);
    end_trip(journal, packet, trip);
}

static void on_handled(struct observer *observer)
{
    struct journal *journal = journal_of(observer);

    journal->is_handling = false;
    trip_set(&journal->handling, NULL);
}

/* --- operations ------------------------------------------------------------------------------- */

static void on_posts(struct observer *observer, const struct message *message)
{
    struct journal *journal = journal_of(observer);

    journal->is_posting = true;
    journal->ops[message->op].posted_ps = now_of(journal);
}

static void on_accepted(struct observer *observer)
{
    journal_of(observer)->is_posting = false;
}

static void on_enabled(struct observer *observer, uint64_t op, uint64_t by, enum schedule_when when)
{
    struct journal_op *record = &journal_of(observer)->ops[op];

    record->enabled_ps = now_of(journal_of(observer));
    record->by = by;
    record->when = when;
}

static void on_begun(struct observer *observer, uint64_t op)
{
    journal_of(observer)->ops[op].begun_ps = now_of(journal_of(observer));
}

static void on_delivered(struct observer *observer, const struct message *message)
{
    struct journal *journal = journal_of(observer);
    struct journal_op *op = &journal->ops[message->op];

    op->delivered_ps = now_of(journal);
    trip_set(&op->delivered_by, journal->handling);
}

static void on_acknowledged(struct observer *observer, const struct message *message)
{
    struct journal *journal = journal_of(observer);
    struct journal_op *op = &journal->ops[message->op];
    struct journal_connection *connection = connection_of(journal, message->connection);
    gint64 flow = (gint64)message->op;

    op->acknowledged_ps = now_of(journal);
    trip_set(&op->acknowledged_by, journal->handling);
    if (connection)
        g_hash_table_remove(connection->sent, &flow);
}

static void on_completed(struct observer *observer, uint64_t op)
{
    journal_of(observer)->ops[op].completed_ps = now_of(journal_of(observer));
}

/* --- the whole -------------------------------------------------------------------------------- */

void journal_init(struct journal *journal, struct experiment *experiment)
{
    static const struct observer_ops ops = {.sent = on_sent,
                                            .arrived = on_arrived,
                                            .dropped = on_dropped,
                                            .paused = on_paused,
                                            .receives = on_receives,
                                            .handled = on_handled,
                                            .posts = on_posts,
                                            .accepted = on_accepted,
                                            .pulled = on_pulled,
                                            .ready = on_ready,
                                            .paced = on_paced,
                                            .answers = on_answers,
                                            .enabled = on_enabled,
                                            .begun = on_begun,
                                            .delivered = on_delivered,
                                            .acknowledged = on_acknowledged,
                                            .completed = on_completed};
    uint64_t n_ops = experiment->schedule.n_ops;

    *journal = (struct journal){.observer.ops = &ops, .experiment = experiment};
    journal->ops = g_new(struct journal_op, n_ops + 1);
    for (uint64_t i = 0; i < n_ops; i++)
        journal->ops[i] = (struct journal_op){
            SINK_NEVER, SINK_NEVER,    SINK_NEVER,           SINK_NEVER, SINK_NEVER,
            SINK_NEVER, SCHEDULE_NONE, SCHEDULE_AT_RECEIVER, NULL,       NULL};
    journal->trips = g_ptr_array_new_with_free_func(release_trip);
    journal->sendings = g_new0(GArray *, 2 * experiment->graph.n_links + 1);
    journal->pauses = g_new0(GArray *, 2 * experiment->graph.n_links + 1);
    journal->hosts = g_new0(struct windows *, experiment->graph.n_hosts + 1);
    journal->windows = g_ptr_array_new_with_free_func(windows_free);
    journal->wanted = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    journal->live = g_hash_table_new_full(NULL, NULL, NULL, release_trip);
    journal->connections = g_hash_table_new(NULL, NULL);
    journal->lanes = g_hash_table_new_full(NULL, NULL, NULL, lane_free);
    experiment->observer = &journal->observer;
}

void journal_want(struct journal *journal, uint32_t src, uint32_t dst, int64_t from_ps,
                  int64_t to_ps)
{
    guint64 pair = pair_of(src, dst);
    struct windows *windows = g_hash_table_lookup(journal->wanted, &pair);
    const uint32_t hosts[] = {src, dst};

    if (!windows) {
        windows = windows_new(journal);
        g_hash_table_insert(journal->wanted, g_memdup2(&pair, sizeof pair), windows);
    }
    windows_add(windows, from_ps, to_ps);
    for (int i = 0; i < 2; i++) {
        if (!journal->hosts[hosts[i]])
            journal->hosts[hosts[i]] = windows_new(journal);
        windows_add(journal->hosts[hosts[i]], from_ps, to_ps);
    }
}

static void free_arrays(GArray **arrays, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (arrays[i])
            g_array_unref(arrays[i]);
    g_free(arrays);
}

void journal_clear(struct journal *journal)
{
    uint32_t n_ports = 2 * journal->experiment->graph.n_links;
    GHashTableIter iter;
    gpointer connection;

    for (uint64_t i = 0; i < journal->experiment->schedule.n_ops; i++) {
        trip_release(journal->ops[i].delivered_by);
        trip_release(journal->ops[i].acknowledged_by);
    }
    g_free(journal->ops);
    g_ptr_array_unref(journal->trips);
    g_hash_table_unref(journal->live);
    g_hash_table_iter_init(&iter, journal->connections);
    while (g_hash_table_iter_next(&iter, NULL, &connection))
        if (connection)
            connection_free(connection);
    g_hash_table_unref(journal->connections);
    g_hash_table_unref(journal->lanes);
    g_hash_table_unref(journal->wanted);
    g_ptr_array_unref(journal->windows);
    free_arrays(journal->sendings, n_ports);
    free_arrays(journal->pauses, n_ports);
    g_free(journal->hosts);
}
