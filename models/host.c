/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/host.h"
#include "models/observer.h"
#include "sim/core/random.h"

/* --- who looks ------------------------------------------------------------------------------ */

static G_GNUC_NO_INLINE void tell_ready(const struct sender *sender)
{
    OBSERVER_TELL(sender->connection->engine->observer, ready, sender);
}

static G_GNUC_NO_INLINE void tell_answer(const struct host *host, const struct host_nic *nic,
                                         const struct packet *packet)
{
    OBSERVER_TELL(host->engine->observer, answers, nic->port, packet);
}

/* --- the ring of ready senders of a NIC port ------------------------------------------------ */

static void ring_insert(struct host_nic *nic, struct sender *sender)
{
    if (!nic->ready) {
        nic->ready = sender->next = sender->previous = sender;
    } else { /* at the end: just before the head */
        sender->next = nic->ready;
        sender->previous = nic->ready->previous;
        sender->previous->next = sender->next->previous = sender;
    }
    sender->ready = true;
    if (G_UNLIKELY(nic->observed))
        tell_ready(sender);
}

static void ring_remove(struct host_nic *nic, struct sender *sender)
{
    sender->ready = false;
    if (sender->next == sender) {
        nic->ready = NULL;
        return;
    }
    sender->previous->next = sender->next;
    sender->next->previous = sender->previous;
    if (nic->ready == sender)
        nic->ready = sender->next;
}

/* --- sending -------------------------------------------------------------------------------- */

static void send(struct host *host, const struct host_nic *nic, struct packet *packet)
{
    host->sent_packets++;
    host->sent_bytes += packet->bytes;
    engine_send(host->engine, nic->port, packet);
}

/* The next data packet: ready senders in turn, those before their pacing time put aside. */
static struct packet *pull(struct host *host, struct host_nic *nic)
{
    int64_t now_ps = engine_now_ps(host->engine);

    while (nic->ready) {
        struct sender *sender = nic->ready;

        if (sender->not_before_ps > now_ps) {
            ring_remove(nic, sender);
            sender->paced = true;
            OBSERVER_TELL(host->engine->observer, paced, sender);
            engine_timer_set(host->engine, &sender->pace, sender->not_before_ps);
            continue;
        }
        struct packet *packet = sender->connection->ops->pull(sender->connection, sender);

        if (packet) {
            if (nic->ready == sender)
                nic->ready = sender->next;
            return packet;
        }
        if (sender->ready)
            ring_remove(nic, sender);
    }
    return NULL;
}

/* Gives the port, if idle, its next packet; otherwise asks to be called when it is. */
static void serve(struct host *host, struct host_nic *nic)
{
    struct packet *packet;

    if (!nic->control_first && !nic->ready)
        return;
    if (!engine_port_idle(host->engine, nic->port))
        return;
    packet = nic->control_first;
    if (packet && !(nic->paused >> packet->class & 1)) {
        nic->control_first = packet->next;
        if (!nic->control_first)
            nic->control_last = &nic->control_first;
        nic->n_control--;
    } else {
        packet = nic->paused >> PACKET_DATA & 1 ? NULL : pull(host, nic);
    }
    if (!packet)
        return;
    send(host, nic, packet);
    if (nic->control_first || nic->ready)
        engine_port_idle(host->engine, nic->port);
}

void host_port_ready(struct engine *engine, uint32_t port)
{
    struct host *host = &engine->hosts[graph_port_node(engine->graph, port)];

    for (uint32_t i = 0; i < host->n_nics; i++)
        if (host->nics[i].port == port)
            serve(host, &host->nics[i]);
}

void host_pause(struct engine *engine, uint32_t port, uint32_t classes)
{
    struct host *host = &engine->hosts[graph_port_node(engine->graph, port)];

    for (uint32_t i = 0; i < host->n_nics; i++)
        if (host->nics[i].port == port) {
            host->nics[i].paused = classes;
            serve(host, &host->nics[i]);
        }
}

void host_watch_links(struct host *host, struct host_watch *watch)
{
    watch->here = &host->watches;
    watch->next = host->watches;
    if (watch->next)
        watch->next->here = &watch->next;
    host->watches = watch;
}

void host_unwatch_links(struct host_watch *watch)
{
    if (!watch->here)
        return;
    *watch->here = watch->next;
    if (watch->next)
        watch->next->here = watch->here;
    watch->here = NULL;
}

void host_set_link(struct engine *engine, uint32_t port, bool down)
{
    struct host *host = &engine->hosts[graph_port_node(engine->graph, port)];

    for (uint32_t i = 0; i < host->n_nics; i++)
        if (host->nics[i].port == port) {
            host->nics[i].down = down;
            host->nics[i].changed_ps = engine_now_ps(engine);
        }
    for (struct host_watch *watch = host->watches; watch; watch = watch->next)
        watch->changed(watch);
}

void host_set_rate(struct engine *engine, uint32_t port, int64_t rate_bps)
{
    struct host *host = &engine->hosts[graph_port_node(engine->graph, port)];

    for (uint32_t i = 0; i < host->n_nics; i++)
        if (host->nics[i].port == port) {
            host->rate_bps += host->nics[i].unused ? 0 : rate_bps - host->nics[i].rate_bps;
            host->nics[i].rate_bps = rate_bps;
        }
}

static inline struct host_nic *nic_at(const struct connection *connection, const struct host *host,
                                      uint32_t nic)
{
    return &host->nics[connection->first_nic + nic];
}

static void mark_ready(struct connection *connection, struct sender *sender)
{
    if (!sender->ready && !sender->paced)
        ring_insert(nic_at(connection, connection->src, sender->nic), sender);
}

void host_ready(struct connection *connection, struct sender *sender)
{
    mark_ready(connection, sender);
    serve(connection->src, nic_at(connection, connection->src, sender->nic));
}

void host_ready_all(struct connection *connection, struct sender *senders, uint32_t n_senders)
{
    struct host *host = connection->src;
    uint32_t first = host->first_nic;

    for (uint32_t i = 0; i < n_senders; i++)
        mark_ready(connection, &senders[i]);
    host->first_nic = first + 1 < host->n_nics ? first + 1 : 0;
    for (uint32_t i = 0; i < host->n_nics; i++)
        serve(host, &host->nics[first + i < host->n_nics ? first + i : first + i - host->n_nics]);
}

void host_control(struct connection *connection, struct host *host, uint32_t nic_number,
                  struct packet *packet)
{
    struct host_nic *nic = nic_at(connection, host, nic_number);

    if (G_UNLIKELY(nic->observed))
        tell_answer(host, nic, packet);
    packet->next = NULL;
    *nic->control_last = packet;
    nic->control_last = &packet->next;
    nic->n_control++;
    serve(host, nic);
}

void host_receive(struct engine *engine, uint32_t number, struct packet *packet)
{
    struct host *host = &engine->hosts[number];

    host->received_packets++;
    host->received_bytes += packet->bytes;
    packet->connection->ops->receive(packet->connection, packet);
}

/* --- packets -------------------------------------------------------------------------------- */

uint32_t host_entropy(uint32_t from, uint32_t to, uint32_t source_port)
{
    return (uint32_t)(random_mix(((uint64_t)from << 32 | to) ^ (uint64_t)source_port << 17) >> 32);
}

static struct packet *make_packet(struct packet_pool *pool, struct connection *connection,
                                  const struct host_nic *from, const struct host_nic *to,
                                  uint32_t source_port)
{
    struct packet *packet = packet_take(pool);

    packet->connection = connection;
    packet->entropy = host_entropy(from->to, to->to, source_port);
    packet->source_port = source_port;
    packet->to = to->to;
    return packet;
}

struct packet *host_data_packet(struct connection *connection, uint32_t nic, uint32_t source_port,
                                uint32_t payload, uint32_t header)
{
    struct packet *packet =
        make_packet(&connection->engine->pool, connection, nic_at(connection, connection->src, nic),
                    nic_at(connection, connection->dst, nic), source_port);

    packet->bytes = payload + header;
    packet->payload = payload;
    packet->class = PACKET_DATA;
    packet->ecn = PACKET_ECT;
    return packet;
}

struct packet *host_reply_packet(struct connection *connection, uint32_t nic, uint32_t source_port,
                                 uint32_t bytes)
{
    struct packet *packet = make_packet(&connection->dst_engine->pool, connection,
                                        nic_at(connection, connection->dst, nic),
                                        nic_at(connection, connection->src, nic), source_port);

    packet->bytes = bytes;
    packet->payload = 0;
    packet->class = PACKET_ACK;
    packet->ecn = PACKET_NOT_ECT;
    return packet;
}

bool host_place(struct connection *connection, struct message *message, uint32_t nic,
                uint32_t payload)
{
    struct host_nic *to = nic_at(connection, connection->dst, nic);

    message->received_bytes += payload;
    message->bytes_by_plane[to->plane] += payload;
    to->placed_bytes += payload;
    return message->received_bytes == message->bytes;
}

/* --- pacing and set-up ----------------------------------------------------------------------- */

static void pace_over(struct event_queue *queue, struct event *event)
{
    struct sender *sender =
        (struct sender *)(void *)((char *)event - offsetof(struct sender, pace));

    (void)queue;
    sender->paced = false;
    host_ready(sender->connection, sender);
}

void host_sender_init(struct connection *connection, struct sender *sender, uint32_t nic,
                      uint32_t index)
{
    *sender = (struct sender){.connection = connection, .nic = nic, .index = index};
    host_timer_init(connection->src, &sender->pace, pace_over);
}

void host_sender_clear(struct connection *connection, struct sender *sender)
{
    if (sender->ready)
        ring_remove(nic_at(connection, connection->src, sender->nic), sender);
    engine_timer_cancel(connection->engine, &sender->pace);
}

void host_sender_move(struct connection *connection, struct sender *sender, uint32_t nic)
{
    if (sender->ready)
        ring_remove(&connection->src->nics[sender->nic], sender);
    sender->nic = nic;
}

void host_init_all(struct engine *engine)
{
    const struct graph *graph = engine->graph;

    engine->hosts = g_new0(struct host, graph->n_hosts + 1);
    for (uint32_t number = 0; number < graph->n_hosts; number++) {
        struct host *host = &engine->hosts[number];

        host->engine = engine;
        host->number = number;
        host->n_nics = graph_n_ports(graph, number);
        host->nics = g_new0(struct host_nic, host->n_nics + 1);
        for (uint32_t i = 0; i < host->n_nics; i++) {
            host->nics[i].port = graph_port(graph, number, i);
            host->nics[i].to = graph->first_port[number] + i;
            host->nics[i].rate_bps = graph->links[host->nics[i].port / 2].rate_bps;
            host->nics[i].plane = graph->links[host->nics[i].port / 2].plane;
            host->rate_bps += host->nics[i].rate_bps;
            host->nics[i].control_last = &host->nics[i].control_first;
            host->nics[i].observed = engine->observer != NULL;
        }
    }
}

void host_clear_all(struct engine *engine)
{
    for (uint32_t number = 0; engine->hosts && number < engine->graph->n_hosts; number++)
        g_free(engine->hosts[number].nics);
    g_clear_pointer(&engine->hosts, g_free);
}

/* --- receiver's share ------------------------------------------------------------------------ */

static void activity_remove(struct host *host, struct host_activity *activity)
{
    if (activity->previous)
        activity->previous->next = activity->next;
    else
        host->active_first = activity->next;
    if (activity->next)
        activity->next->previous = activity->previous;
    else
        host->active_last = activity->previous;
    activity->listed = false;
    host->n_inbound--;
}

int64_t host_active(struct host *host, struct host_activity *activity, int64_t window_ps)
{
    int64_t now_ps = engine_now_ps(host->engine);

    if (activity->listed)
        activity_remove(host, activity);
    activity->last_ps = now_ps;
    activity->listed = true;
    activity->next = NULL;
    activity->previous = host->active_last;
    if (host->active_last)
        host->active_last->next = activity;
    else
        host->active_first = activity;
    host->active_last = activity;
    host->n_inbound++;
    while (host->active_first->last_ps < now_ps - window_ps)
        activity_remove(host, host->active_first);
    return host->n_inbound;
}
