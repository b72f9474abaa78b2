/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The native backend: the player on our own engine, and the check at the end that no packet and no
 * byte appeared or vanished: what hosts sent = what hosts received + what wires and queues dropped,
 * by cause + what is still on a wire, counted by walking the ports; and the pool knows no others.
 */
#include "models/fabric.h"
#include "models/host.h"
#include "models/player.h"
#include "models/series.h"

#define EVENTS_BETWEEN_PROGRESS 32768

struct balance {
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
        for (int cause = 0; cause < SINK_N_DROPS; cause++)
            balance->dropped[cause] += fabric->ports[number].n_dropped[cause];
        balance->dropped_bytes += fabric->ports[number].n_dropped_bytes;
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
            record.dropped_packets[cause] = port->n_dropped[cause];
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

/*
 * Runs events up to `until_ps` in slices, with a look at progress() between them; false: it said
 * stop.
 */
static bool run_until(struct fabric *fabric, struct player *player, const struct backend_run *run,
                      int64_t until_ps)
{
    struct event_queue *events = &fabric->engine.events;

    while (!player->over &&
           event_queue_run_some(events, until_ps, &player->over, EVENTS_BETWEEN_PROGRESS) > 0) {
        struct backend_progress progress = {events->now_ps, run->end_ps, events->n_fired,
                                            player->n_done, run->schedule->n_ops};

        if (run->progress && !run->progress(run->progress_data, &progress))
            return false;
    }
    return true;
}

/* Runs to the end of the run, of work or of events, and looks for series in between. */
static bool run_events(struct fabric *fabric, struct player *player, struct series *series)
{
    const struct backend_run *run = series->run;

    while (series->next_ps < run->end_ps) {
        if (!run_until(fabric, player, run, series->next_ps))
            return false;
        if (player->over || event_queue_next_ps(&fabric->engine.events) == INT64_MAX)
            return true;
        series_step(series);
    }
    return run_until(fabric, player, run, run->end_ps);
}

static void finish(struct fabric *fabric, struct player *player, const struct sink *sink,
                   bool interrupted, struct backend_result *result, GError **error)
{
    struct balance balance;

    player_report(player, result);
    report_ports(fabric, sink);
    count_balance(fabric, &balance);
    report_balance(&balance, sink);
    report_metric(sink, "events", "events", (double)fabric->engine.events.n_fired);
    report_metric(sink, "packet_hops", "packets", (double)fabric->n_hops);
    report_metric(sink, "ties", "events", (double)fabric->engine.events.n_ties);
    result->n_events = fabric->engine.events.n_fired;
    result->n_hops = fabric->n_hops;
    result->end_ps = fabric->engine.events.now_ps;
    if (!check_balance(fabric, &balance, error))
        result->outcome = BACKEND_BROKEN;
    else if (interrupted)
        result->outcome = BACKEND_INTERRUPTED;
    else if (result->n_ops_done == player->run->schedule->n_ops &&
             result->n_flows_finished == result->n_flows)
        result->outcome = BACKEND_FINISHED;
    else
        result->outcome = BACKEND_UNFINISHED;
}

static gboolean play(const struct backend_run *run, const struct sink *sink,
                     struct backend_result *result, GError **error)
{
    struct fabric fabric;
    struct player player;
    struct series series;
    gboolean playable;

    *result = (struct backend_result){.waits = g_ptr_array_new_with_free_func(g_free)};
    if (!fabric_init(&fabric, run->graph, run->model, run->seed, error)) {
        fabric_clear(&fabric);
        return FALSE;
    }
    host_init_all(&fabric.engine);
    player_init(&player, &fabric.engine, run, sink, &fabric.route);
    series_init(&series, run, &fabric, &player, sink);
    bool whole = run_events(&fabric, &player, &series);

    series_finish(&series);
    series_clear(&series);
    playable = player.error == NULL;
    if (playable)
        finish(&fabric, &player, sink, !whole, result, error);
    else
        g_propagate_error(error, g_steal_pointer(&player.error));
    player_clear(&player);
    host_clear_all(&fabric.engine);
    fabric_clear(&fabric);
    return playable && result->outcome != BACKEND_BROKEN;
}

void backend_result_clear(struct backend_result *result)
{
    g_clear_pointer(&result->waits, g_ptr_array_unref);
}

const struct backend_ops backend_native = {
    .name = "native",
    .summary = "Packet models on weft's own event heap.",
    .play = play,
};
