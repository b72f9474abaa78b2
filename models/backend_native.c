/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packet backends: the player on a fabric, moved by our event heap in the native one, and the
 * check at the end that no packet and no byte appeared or vanished: what hosts sent = what hosts
 * received + what wires and queues dropped, by cause + what is still on a wire, counted by walking
 * the ports; and the pool knows no others.
 */
#include "models/fabric.h"
#include "models/host.h"
#include "models/parallel.h"
#include "models/player.h"
#include "models/recovery.h"
#include "models/series.h"

#define EVENTS_BETWEEN_PROGRESS 32768

#define NOTES_MOST 1000

struct balance { /* sent, received: pause frames included */
    int64_t sent, received, dropped[SINK_N_DROPS], in_flight, queued;
    int64_t sent_bytes, received_bytes, dropped_bytes, in_flight_bytes;
};

static void count_balance(const struct fabric *fabric, struct balance *balance)
{
    *balance = (struct balance){0};
    for (uint32_t i = 0; i < fabric->engine.graph->n_hosts; i++) {
        const struct host *host = &fabric->engine.hosts[i];

        balance->sent += host->sent_packets;
        balance->sent_bytes += host->sent_bytes;
        balance->received += host->received_packets;
        balance->received_bytes += host->received_bytes;
        for (uint32_t nic = 0; nic < host->n_nics; nic++)
            balance->queued += host->nics[nic].n_control;
    }
    for (uint32_t number = 0; number < fabric->n_ports; number++) {
        const struct port *port = &fabric->ports[number];
        struct sink_port form = {0};

        fabric->form->report(fabric, port, &form);
        balance->sent += form.pauses_sent;
        balance->sent_bytes += form.pauses_sent * fabric->pfc.frame_bytes;
        balance->received += form.pauses_received;
        balance->received_bytes += form.pauses_received * fabric->pfc.frame_bytes;
        for (int cause = 0; cause < SINK_N_DROPS; cause++)
            balance->dropped[cause] += port_n_dropped(port, (enum sink_drop)cause);
        balance->dropped_bytes += port->rare ? port->rare->n_dropped_bytes : 0;
    }
    fabric_count_in_flight(fabric, &balance->in_flight, &balance->in_flight_bytes);
}

static gboolean check_balance(const struct fabric *fabric, const struct balance *b, GError **error)
{
    int64_t dropped = 0;

    for (int cause = 0; cause < SINK_N_DROPS; cause++)
        dropped += b->dropped[cause];
    if (b->sent == b->received + dropped + b->in_flight &&
        b->sent_bytes == b->received_bytes + b->dropped_bytes + b->in_flight_bytes &&
        fabric->engine.pool.n_live == b->in_flight + b->queued)
        return TRUE;
    g_set_error(error, GRAPH_ERROR, 1,
                "conservation is broken: %" G_GINT64_FORMAT " packets sent, %" G_GINT64_FORMAT
                " received, %" G_GINT64_FORMAT " dropped, %" G_GINT64_FORMAT
                " in flight; bytes %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                ", %" G_GINT64_FORMAT "; pool %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " queued",
                b->sent, b->received, dropped, b->in_flight, b->sent_bytes, b->received_bytes,
                b->dropped_bytes, b->in_flight_bytes, fabric->engine.pool.n_live, b->queued);
    return FALSE;
}

static void report_metric(const struct sink *sink, const char *name, const char *unit, double value)
{
    struct sink_metric metric = {name, unit, value};

    if (sink->ops->metric)
        sink->ops->metric(sink->data, &metric);
}

static void report_ports(const struct fabric *fabric, const struct sink *sink)
{
    const struct graph *graph = fabric->engine.graph;

    for (uint32_t number = 0; sink->ops->port && number < fabric->n_ports; number++) {
        const struct port *port = &fabric->ports[number];
        struct sink_port record = {.port = number,
                                   .node = graph_port_node(graph, number),
                                   .peer = port->peer,
                                   .plane = graph->links[number / 2].plane,
                                   .tier = graph->links[number / 2].tier,
                                   .packets = port->n_packets,
                                   .bytes = port->n_bytes,
                                   .marked_packets = port->n_marked,
                                   .max_queue_bytes = port->max_waiting_bytes};

        for (int cause = 0; cause < SINK_N_DROPS; cause++)
            record.dropped_packets[cause] = port_n_dropped(port, (enum sink_drop)cause);
        fabric->form->report(fabric, port, &record);
        sink->ops->port(sink->data, &record);
    }
}

static void report_balance(const struct balance *balance, const struct sink *sink)
{
    report_metric(sink, "host_sent_packets", "packets", (double)balance->sent);
    report_metric(sink, "host_received_packets", "packets", (double)balance->received);
    report_metric(sink, "dropped_loss", "packets", (double)balance->dropped[SINK_DROP_LOSS]);
    report_metric(sink, "dropped_queue", "packets", (double)balance->dropped[SINK_DROP_QUEUE]);
    report_metric(sink, "dropped_no_route", "packets",
                  (double)balance->dropped[SINK_DROP_NO_ROUTE]);
    report_metric(sink, "in_flight_at_end", "packets", (double)balance->in_flight);
}

/* Rows of later models, behind all others so that the earlier ones keep their places. */
static void report_buffers(const struct fabric *fabric, const struct balance *balance,
                           const struct sink *sink)
{
    const struct graph *graph = fabric->engine.graph;
    int64_t most = 0;

    for (int cause = SINK_DROP_NO_ROUTE + 1; cause < SINK_N_DROPS; cause++) {
        g_autofree char *name =
            g_strdup_printf("dropped_%s", sink_drop_name((enum sink_drop)cause));

        report_metric(sink, name, "packets", (double)balance->dropped[cause]);
    }
    for (int class = 0; class < PACKET_N_CLASSES; class ++) {
        static const char *const names[] = {"dropped_data", "dropped_ack", "dropped_control",
                                            "dropped_pfc"};

        report_metric(sink, names[class], "packets", (double)fabric->n_dropped_class[class]);
    }
    for (uint32_t i = 0; i < graph->n_nodes - graph->n_hosts; i++)
        most = MAX(most, fabric->switches[i].buffer.max_used_bytes);
    report_metric(sink, "max_switch_buffer", "bytes", (double)most);
}

/* Each row of a drop list loses one packet: as many are gone as rows were used. */
static gboolean check_drops(const struct fabric *fabric, const struct balance *balance,
                            const struct sink *sink, GPtrArray *notes, GError **error)
{
    int64_t n_rows, n_used;

    if (!fabric->drops)
        return TRUE;
    drop_list_count(fabric->drops, &n_rows, &n_used);
    report_metric(sink, "drop_list_rows", "packets", (double)n_rows);
    report_metric(sink, "drop_list_unused", "packets", (double)(n_rows - n_used));
    drop_list_unused(fabric->drops, notes, NOTES_MOST);
    if (balance->dropped[SINK_DROP_LISTED] == n_used)
        return TRUE;
    g_set_error(error, GRAPH_ERROR, 1,
                "drop list: %" G_GINT64_FORMAT " packets lost for %" G_GINT64_FORMAT " rows",
                balance->dropped[SINK_DROP_LISTED], n_used);
    return FALSE;
}

/* Nothing but pause frames and timers since `*n_moves`, and the ports wait in a circle. */
static bool stands_still(const struct fabric *fabric, uint64_t *n_moves)
{
    uint64_t n_before = *n_moves;

    *n_moves = fabric->n_hops - fabric->n_pauses;
    return *n_moves == n_before && pfc_deadlock(fabric, NULL);
}

/*
 * Runs events up to `until_ps` in slices, with a look at progress() between them; false: it said
 * stop. Ends early in a deadlock: pauses would be repeated to the end.
 */
static bool run_until(struct fabric *fabric, struct player *player, const struct backend_run *run,
                      int64_t until_ps)
{
    struct event_queue *events = &fabric->engine.events;
    uint64_t n_moves = 0, n;

    while (!player->over && (n = fabric->driver->run(fabric, until_ps, &player->over,
                                                     EVENTS_BETWEEN_PROGRESS)) > 0) {
        struct backend_progress progress = {events->now_ps, run->end_ps,          events->n_fired,
                                            player->n_done, run->schedule->n_ops, fabric->n_hops};

        if (run->progress && !run->progress(run->progress_data, &progress))
            return false;
        if (n == EVENTS_BETWEEN_PROGRESS && stands_still(fabric, &n_moves))
            player->over = true;
    }
    return true;
}

/* Runs to the end of the run, of work or of events, and looks for series and faults in between. */
static bool run_events(struct fabric *fabric, struct player *player, struct series *series,
                       struct recovery *recovery)
{
    const struct backend_run *run = series->run;

    while (MIN(series->next_ps, recovery->next_ps) < run->end_ps) {
        int64_t look_ps = MIN(series->next_ps, recovery->next_ps);

        if (!run_until(fabric, player, run, look_ps))
            return false;
        if (player->over || fabric->driver->is_over(fabric))
            return true;
        if (series->next_ps == look_ps)
            series_step(series);
        if (recovery->next_ps == look_ps)
            recovery_step(recovery);
    }
    return run_until(fabric, player, run, run->end_ps);
}

static void finish(struct fabric *fabric, struct player *player, const struct sink *sink,
                   bool interrupted, struct backend_result *result, GError **error)
{
    struct balance balance;

    pfc_deadlock(fabric, result->waits);
    player_report(player, result);
    report_ports(fabric, sink);
    count_balance(fabric, &balance);
    report_balance(&balance, sink);
    report_metric(sink, "events", "events", (double)fabric->engine.events.n_fired);
    report_metric(sink, "packet_hops", "packets", (double)fabric->n_hops);
    report_metric(sink, "ties", "events", (double)fabric->engine.events.n_ties);
    report_buffers(fabric, &balance, sink);
    result->n_events = fabric->engine.events.n_fired;
    result->n_hops = fabric->n_hops;
    result->end_ps = fabric->engine.events.now_ps;
    if (!check_balance(fabric, &balance, error) ||
        !check_drops(fabric, &balance, sink, result->notes, error))
        result->outcome = BACKEND_BROKEN;
    else if (interrupted)
        result->outcome = BACKEND_INTERRUPTED;
    else if (result->n_ops_done == player->run->schedule->n_ops &&
             result->n_flows_finished == result->n_flows)
        result->outcome = BACKEND_FINISHED;
    else
        result->outcome = BACKEND_UNFINISHED;
}

/* --- players, on one thread or several -------------------------------------------------------- */

struct crew {
    struct player *players;
    struct partition partition;
    struct parallel *parallel; /* NULL: one thread */
};

/* The player that reports. */
static struct player *crew_init(struct crew *crew, struct fabric *fabric,
                                const struct backend_run *run, const struct sink *sink,
                                GPtrArray *notes)
{
    const struct route *route = faults_plan(fabric);
    const char *why = NULL;

    *crew = (struct crew){.partition = {.n = 1}};
    if (run->n_threads > 1)
        partition_make(&crew->partition, fabric, run->n_threads, &why);
    if (why)
        g_ptr_array_add(notes, g_strdup_printf("one thread: %s", why));
    crew->players = g_new0(struct player, crew->partition.n);
    if (crew->partition.n == 1) {
        player_init(crew->players, &fabric->engine, run, sink, route, NULL);
        return crew->players;
    }
    crew->parallel = parallel_new(fabric, &crew->partition, crew->players);
    for (uint32_t part = 0; part < crew->partition.n; part++) {
        struct player_part place = parallel_part(crew->parallel, part);

        player_init(&crew->players[part], parallel_engine(crew->parallel, part), run, sink, route,
                    &place);
    }
    return crew->players;
}

static void crew_clear(struct crew *crew)
{
    for (uint32_t part = 0; part < crew->partition.n; part++)
        player_clear(&crew->players[part]);
    if (crew->parallel)
        parallel_free(crew->parallel);
    partition_clear(&crew->partition);
    g_free(crew->players);
}

/* *still: it has to be played again, by one thread; nothing was told. */
static gboolean play_once(const struct fabric_driver *driver, const struct backend_run *run,
                          const struct sink *sink, struct backend_result *result, bool *still,
                          GError **error)
{
    struct fabric fabric;
    struct crew crew;
    struct series series;
    struct recovery recovery;
    gboolean playable;

    if (!fabric_init(&fabric, run, driver, error) ||
        (driver->begin && !driver->begin(&fabric, error))) {
        fabric_clear(&fabric);
        return FALSE;
    }
    host_init_all(&fabric.engine);
    struct player *player = crew_init(&crew, &fabric, run, sink, result->notes);

    series_init(&series, run, &fabric, player, crew.partition.n, sink);
    player->keeps |= series.objects >> SERIES_FLOW & 1;
    recovery_init(&recovery, run, &fabric.engine);
    bool whole = crew.parallel ? parallel_run(crew.parallel, &series, &recovery)
                               : run_events(&fabric, player, &series, &recovery);

    *still = crew.parallel && parallel_stands_still(crew.parallel);
    if (!crew.parallel)
        series_finish(&series);
    series_clear(&series);
    playable = !player->error && !fabric.error && !*still;
    if (player->error)
        g_propagate_error(error, g_steal_pointer(&player->error));
    else if (fabric.error)
        g_propagate_error(error, g_steal_pointer(&fabric.error));
    else if (playable)
        finish(&fabric, player, sink, !whole, result, error);
    if (playable)
        recovery_report(&recovery, result->outcome == BACKEND_FINISHED, sink);
    recovery_clear(&recovery);
    crew_clear(&crew);
    host_clear_all(&fabric.engine);
    fabric_clear(&fabric);
    return playable && result->outcome != BACKEND_BROKEN;
}

gboolean backend_play(const struct fabric_driver *driver, const struct backend_run *run,
                      const struct sink *sink, struct backend_result *result, GError **error)
{
    struct backend_run alone = *run;
    bool still = false;
    gboolean played;

    *result = (struct backend_result){.waits = g_ptr_array_new_with_free_func(g_free),
                                      .notes = g_ptr_array_new_with_free_func(g_free)};
    played = play_once(driver, run, sink, result, &still, error);
    if (!still)
        return played;
    g_ptr_array_add(result->notes,
                    g_strdup("one thread: ports wait for each other in a circle of pauses"));
    alone.n_threads = 1;
    return play_once(driver, &alone, sink, result, &still, error);
}

const struct host_config *backend_host(const struct backend_run *run, uint32_t host)
{
    return run->hosts && run->hosts[host] ? &run->hosts[host]->host : &run->model->host;
}

int64_t backend_frame_bytes(const struct backend_run *run)
{
    int64_t most = 0;

    for (guint i = 0; i < run->schedule->profiles->len; i++)
        most = MAX(most, transport_frame_bytes(&run->profiles[i]));
    for (uint32_t host = 0; run->hosts && host < run->graph->n_hosts; host++)
        if (run->hosts[host] && run->hosts[host]->profile)
            most = MAX(most, transport_frame_bytes(run->hosts[host]->profile));
    return most;
}

void backend_result_clear(struct backend_result *result)
{
    g_clear_pointer(&result->waits, g_ptr_array_unref);
    g_clear_pointer(&result->notes, g_ptr_array_unref);
}

/* --- our event heap ------------------------------------------------------------------------------
 */

static uint64_t run_heap(struct fabric *fabric, int64_t end_ps, const bool *stop, uint64_t n_most)
{
    return event_queue_run_some(&fabric->engine.events, end_ps, stop, n_most);
}

static bool heap_is_over(struct fabric *fabric)
{
    return event_queue_next_ps(&fabric->engine.events) == INT64_MAX;
}

const struct fabric_driver fabric_native = {.run = run_heap, .is_over = heap_is_over};

static gboolean play(const struct backend_run *run, const struct sink *sink,
                     struct backend_result *result, GError **error)
{
    return backend_play(&fabric_native, run, sink, result, error);
}

const struct backend_ops backend_native = {
    .name = "native",
    .summary = "Packet models on weft's own event heap.",
    .play = play,
};
