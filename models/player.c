/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/player.h"
#include "models/host.h"
#include "models/node_task.h"
#include "models/observer.h"
#include "sim/core/units.h"
#include <assert.h>
#include <string.h>

#define WAITS_LISTED    1000
#define LEAST_COMPACTED 1024

enum stage { STAGE_READY, STAGE_ISSUE, STAGE_COMPLETE, STAGE_SENDER_DONE, STAGE_POSTED };

struct step {
    uint64_t op;
    int64_t at_ps;
    enum stage stage;
};

struct task { /* a step that waits for its time */
    struct event event;
    struct player *player;
    struct step step;
};

struct played { /* a message and what the player knows of it */
    struct message message;
    struct player *player;
    struct schedule_op op;
    int64_t ideal_ps;
    uint8_t reach; /* enum graph_reach */
    int64_t planes[];
};

struct link_key {
    uint32_t src, dst, profile;
    uint32_t first_nic, n_nics; /* asked for; 0: all that reach */
};

static int64_t now_of(const struct player *player)
{
    return engine_now_ps(player->engine);
}

/* Who plays the operations of a host. */
static struct player *player_at(struct player *player, uint32_t host)
{
    return player->part.of ? &player->part.players[player->part.of[host]] : player;
}

static void call_flow(const struct sink *sink, const struct sink_flow *flow)
{
    if (sink->ops->flow)
        sink->ops->flow(sink->data, flow);
}

/* --- work: steps of this instant, done in order -------------------------------------------------
 */

static void push(struct player *player, uint64_t op, enum stage stage)
{
    struct step step = {op, now_of(player), stage};

    g_array_append_val(player->work, step);
    if (!event_is_pending(&player->follow_up))
        event_schedule(&player->engine->events, &player->follow_up, now_of(player));
}

static void task_fires(struct event_queue *queue, struct event *event)
{
    struct task *task = (struct task *)(void *)event;

    (void)queue;
    task->player->n_open_tasks--;
    push(task->player, task->step.op, task->step.stage);
    g_free(task);
}

/* The step comes after `wait_ps`; at once if that is 0. */
static void later(struct player *player, uint64_t op, enum stage stage, int64_t wait_ps)
{
    struct task *task;

    if (wait_ps <= 0) {
        push(player, op, stage);
        return;
    }
    task = g_new0(struct task, 1);
    task->player = player;
    task->step = (struct step){op, now_of(player) + wait_ps, stage};
    /* the number comes from the operation, so that order does not tell when it was scheduled */
    event_init(&task->event, task_fires,
               EVENT_CLASS_TIMER | UINT64_C(1) << 60 | (op << 2 | stage) >> 0);
    event_schedule(&player->engine->events, &task->event, task->step.at_ps);
    player->n_open_tasks++;
}

/* The same where the node may say when, itself. */
static void after_node(struct player *player, uint64_t op, enum stage stage, int64_t wait_ps)
{
    if (wait_ps == NODE_LATER)
        player->n_open_tasks++;
    else
        later(player, op, stage, wait_ps);
}

void node_proceed(struct node *node, uint64_t index, enum node_stage stage)
{
    static const enum stage stages[] = {
        [NODE_POSTED] = STAGE_POSTED, [NODE_ISSUED] = STAGE_ISSUE, [NODE_DONE] = STAGE_COMPLETE};

    if (stage != NODE_POSTED)
        node->player->n_open_tasks--;
    push(node->player, index, stages[stage]);
}

static bool is_started(const struct player *player, uint64_t op)
{
    return player->started[op / 8] >> (op % 8) & 1;
}

static void mark_started(struct player *player, uint64_t op)
{
    player->started[op / 8] |= (guint8)(1u << (op % 8));
}

G_STATIC_ASSERT(sizeof(gpointer) == sizeof(uint64_t));

static gpointer count_key(uint64_t op)
{
    return (gpointer)(uintptr_t)op;
}

/* Edges into a waiting operation that have fired, where it needs several. */
static guint count_of(const struct player *player, uint64_t op)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(player->counts, count_key(op)));
}

/* --- connections ---------------------------------------------------------------------------------
 */

static guint key_hash(gconstpointer key)
{
    const struct link_key *k = key;

    return (guint)random_mix(((uint64_t)k->src << 32 | k->dst) ^ (uint64_t)k->profile << 20 ^
                             (uint64_t)k->n_nics << 40 ^ (uint64_t)k->first_nic << 48);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(struct link_key)) == 0;
}

/* The group of a host, NULL if it is of none. */
static const struct host_setting *setting_of(const struct player *player, uint32_t host)
{
    return player->run->hosts ? player->run->hosts[host] : NULL;
}

/* The node of a host, made when it is first asked for. */
static struct node *node_of(struct player *player, uint32_t host)
{
    const struct host_setting *setting = setting_of(player, host);
    struct node *node = player->nodes[host];

    if (node)
        return node;
    node = g_malloc0(player->node_ops->size);
    *node = (struct node){.ops = player->node_ops,
                          .engine = player->engine,
                          .run = player->run,
                          .config = setting ? &setting->host : &player->run->model->host,
                          .host = host,
                          .ledger = player->ledger,
                          .player = player};
    player->nodes[host] = node;
    if (node->ops->open)
        node->ops->open(node);
    return node;
}

static struct node *node_of_rank(struct player *player, uint32_t rank)
{
    return node_of(player, player->run->schedule->rank_host[rank]);
}

/* What a host uses for a flow: what the flow asks for or, if that is nothing, its group's. */
static const struct transport_profile *profile_of(const struct player *player, uint32_t host,
                                                  uint32_t profile)
{
    const struct host_setting *setting = setting_of(player, host);

    return profile == 0 && setting && setting->profile ? setting->profile
                                                       : &player->run->profiles[profile];
}

static const char *profile_name(const struct transport_profile *profile)
{
    return profile->name && *profile->name ? profile->name : profile->ops->name;
}

/* NIC ports that a host uses: the first ones, as far as their planes are its group's. */
static uint32_t used_nics(const struct player *player, uint32_t host)
{
    const struct graph *graph = player->run->graph;
    const struct host_setting *setting = setting_of(player, host);
    uint32_t n = graph_n_ports(graph, host), used = 0;

    if (!setting || setting->planes == 0)
        return n;
    while (used < n && graph->links[graph_port(graph, host, used) / 2].plane < setting->planes)
        used++;
    return used;
}

/* How many pairs of NICs can talk, of those asked for and behind one another. */
static uint32_t usable_nics(const struct player *player, const struct link_key *key)
{
    const struct graph *graph = player->run->graph;
    uint32_t n = MIN(used_nics(player, key->src), used_nics(player, key->dst));
    uint32_t first = key->first_nic, nic = first;

    n = key->n_nics > 0 ? MIN(n, first + key->n_nics) : n;
    while (nic < n && route_reaches(player->route, graph_port(graph, key->src, nic),
                                    graph->first_port[key->dst] + nic))
        nic++;
    return nic - first;
}

/* The settings for a connection between two hosts; NULL, with player->error, if there are none. */
static const void *agree(struct player *player, const struct link_key *key)
{
    const struct transport_profile *from = profile_of(player, key->src, key->profile);
    const struct transport_profile *to = profile_of(player, key->dst, key->profile);

    if (from->ops == to->ops)
        return agreements_find(&player->agreements, from, to, &player->error);
    const struct host_setting *src = setting_of(player, key->src);
    const struct host_setting *dst = setting_of(player, key->dst);

    g_set_error(&player->error, PARAM_ERROR, PARAM_ERROR_VALUE,
                "host %u (%s%s) uses transport %s and host %u (%s%s) uses %s, and the workload "
                "lets them talk; one transport for both, or flows that ask for one, are expected",
                key->src, src ? "hosts:" : "no group", src ? src->group : "", from->ops->name,
                key->dst, dst ? "hosts:" : "no group", dst ? dst->group : "", to->ops->name);
    return NULL;
}

static struct connection *open_connection(struct player *player, const struct link_key *key,
                                          uint32_t n_nics, const void *config)
{
    const struct transport_profile *profile = profile_of(player, key->src, key->profile);
    struct connection *connection = g_malloc0(profile->ops->connection_size);

    connection->ops = observer_transport(player->engine->observer, profile->ops);
    connection->config = config;
    connection->src = &player->engine->hosts[key->src];
    connection->dst = &player->engine->hosts[key->dst];
    connection->engine = connection->src->engine;
    connection->dst_engine = connection->dst->engine;
    connection->key =
        random_mix(((uint64_t)key->src << 32 | key->dst) + (uint64_t)key->profile * RANDOM_GOLDEN +
                   ((uint64_t)key->n_nics << 40 | (uint64_t)key->first_nic << 48));
    connection->first_nic = key->first_nic;
    connection->n_nics = n_nics;
    connection->profile = profile_name(profile);
    connection->next = player->first_connection;
    player->first_connection = connection;
    profile->ops->open(connection);
    g_hash_table_insert(player->connections, g_memdup2(key, sizeof *key), connection);
    return connection;
}

static struct connection *connect(struct player *player, const struct link_key *key)
{
    struct connection *connection = g_hash_table_lookup(player->connections, key);
    const void *config;

    if (connection)
        return connection;
    uint32_t n_nics = usable_nics(player, key);

    if (n_nics == 0)
        g_set_error(&player->error, GRAPH_ERROR, 0,
                    "topology: no path between host %u and host %u, which the workload needs",
                    key->src, key->dst);
    config = n_nics > 0 ? agree(player, key) : NULL;
    player->over |= !config;
    return config ? open_connection(player, key, n_nics, config) : NULL;
}

/* --- messages ------------------------------------------------------------------------------------
 */

/* Sets `reach` too. */
static int64_t ideal_of(const struct player *player, const struct connection *connection,
                        int64_t bytes, uint8_t *reach)
{
    const struct graph *graph = player->run->graph;
    const struct transport_common *common = connection->config;
    struct ideal_path paths[16];
    uint32_t n_paths = MIN(connection->n_nics, G_N_ELEMENTS(paths));
    int64_t n = transport_n_packets(bytes, common->payload);

    for (uint32_t nic = 0; nic < n_paths; nic++)
        if (!ideal_path_find(player->route, connection->src->nics[connection->first_nic + nic].port,
                             graph->first_port[connection->dst->number] + connection->first_nic +
                                 nic,
                             &paths[nic]))
            return SINK_NEVER;
    *reach = paths[0].reach;
    return ideal_spread_ps(paths, n_paths, n, common->payload + common->header,
                           bytes - (n - 1) * common->payload + common->header);
}

/* Those of one instant by operation: their order does not tell in which they were posted. */
static void add_message(struct player *player, struct played *played)
{
    GPtrArray *messages = player->messages;
    guint at = messages->len;

    g_ptr_array_add(messages, played);
    for (; at > player->n_released; at--) {
        struct played *before = g_ptr_array_index(messages, at - 1);

        if (before->message.start_ps < played->message.start_ps ||
            before->message.op < played->message.op)
            break;
        g_ptr_array_index(messages, at) = before;
    }
    g_ptr_array_index(messages, at) = played;
}

static void post(struct player *player, uint64_t index, const struct schedule_op *op)
{
    const struct schedule *schedule = player->run->schedule;
    struct link_key key = {schedule->rank_host[op->rank], schedule->rank_host[op->peer],
                           op->profile, op->first_nic, op->n_nics};
    struct connection *connection = connect(player, &key);

    if (!connection)
        return;
    uint32_t n_planes = player->run->graph->n_planes;
    struct played *played = g_malloc0(sizeof *played + n_planes * sizeof(int64_t));

    played->player = player;
    played->op = *op;
    played->ideal_ps = ideal_of(player, connection, op->bytes, &played->reach);
    played->message = (struct message){.connection = connection,
                                       .op = index,
                                       .bytes = op->bytes,
                                       .stream = op->stream,
                                       .start_ps = now_of(player),
                                       .end_receiver_ps = SINK_NEVER,
                                       .end_sender_ps = SINK_NEVER,
                                       .kept = player->touched != NULL,
                                       .bytes_by_plane = played->planes};
    add_message(player, played);
    player->n_open_messages++;
    player->n_flows++;
    ledger_enter(player->ledger, key.src, LEDGER_NETWORK, now_of(player));
    ledger_enter(player->ledger, key.dst, LEDGER_NETWORK, now_of(player));
    connection->ops->post(connection, &played->message);
}

static void report_flow(struct player *player, struct played *played)
{
    const struct message *message = &played->message;
    enum sink_status status = message->failed                               ? SINK_FAILED
                              : message->delivered && message->acknowledged ? SINK_FINISHED
                                                                            : SINK_UNFINISHED;
    struct sink_flow flow = {.flow = message->op,
                             .src = message->connection->src->number,
                             .dst = message->connection->dst->number,
                             .transport = message->connection->profile,
                             .bytes = message->bytes,
                             .start_ps = message->start_ps,
                             .end_receiver_ps = message->end_receiver_ps,
                             .end_sender_ps = message->end_sender_ps,
                             .ideal_ps = played->ideal_ps,
                             .reach = played->reach,
                             .packets = message->packets,
                             .retransmitted_packets = message->retransmitted_packets,
                             .spurious_retransmissions = message->spurious_retransmissions,
                             .timeouts = message->timeouts,
                             .marked_packets = message->marked_packets,
                             .status = status,
                             .n_planes = player->run->graph->n_planes,
                             .bytes_by_plane = message->bytes_by_plane,
                             .group = played->op.group,
                             .reason = message->reason ? message->reason : ""};

    player->n_finished += status == SINK_FINISHED;
    player->n_failed += status == SINK_FAILED;
    call_flow(player->sink, &flow);
}

static bool is_finished(const struct message *message)
{
    return message->delivered && message->acknowledged && !message->failed;
}

/*
 * Reports and frees, in the order of posting, messages that are finished and that no packet names:
 * nothing can happen to them any more. So memory grows with what is open, and not with the run,
 * but for what waits behind an older message.
 */
static void release_messages(struct player *player)
{
    GPtrArray *messages = player->messages;

    while (!player->keeps && player->n_released < messages->len) {
        struct played *played = g_ptr_array_index(messages, player->n_released);

        if (!is_finished(&played->message) || played->message.n_out > 0)
            break;
        report_flow(player, played);
        g_free(played);
        player->n_released++;
    }
    if (player->n_released > messages->len / 2 && player->n_released >= LEAST_COMPACTED) {
        g_ptr_array_remove_range(messages, 0, player->n_released);
        player->n_released = 0;
    }
}

static void close_message(struct played *played)
{
    struct message *message = &played->message;

    if (message->closed || (!message->failed && !is_finished(message)))
        return;
    message->closed = true;
    played->player->n_open_messages--;
}

/* Something has happened to a message at a host of `player`, which may have closed it. */
static void touch(struct player *player, struct played *played)
{
    if (player->touched)
        g_ptr_array_add(player->touched, played);
    else
        close_message(played);
}

/* Its ends wait no longer for it; how much later it came than it would have without resends. */
static void account_delivery(struct player *player, const struct played *played)
{
    const struct message *message = &played->message;
    uint32_t src = message->connection->src->number, dst = message->connection->dst->number;

    if (!player->ledger)
        return;
    if (message->retransmitted_packets > 0)
        ledger_late(player->ledger, dst, now_of(player) - message->start_ps - played->ideal_ps,
                    now_of(player));
    ledger_leave(player->ledger, src, LEDGER_NETWORK, now_of(player));
    ledger_leave(player->ledger, dst, LEDGER_NETWORK, now_of(player));
}

/* The sender's node has its work request back. */
static void tell_sender(struct player *player, const struct played *played)
{
    struct node *node;

    if (!player->node_ops->sent)
        return;
    node = node_of_rank(player, played->op.rank);
    node->ops->sent(node, played->message.op, &played->op);
}

static void delivered(struct message *message)
{
    struct played *played = (struct played *)message;
    struct player *player = player_at(played->player, message->connection->dst->number);

    assert(!message->delivered && message->received_bytes == message->bytes);
    message->delivered = true;
    message->end_receiver_ps = now_of(player);
    player->delivered_bytes += message->bytes;
    account_delivery(player, played);
    struct node *node = node_of_rank(player, played->op.peer);

    after_node(player, message->op, STAGE_COMPLETE,
               node->ops->notify(node, message->op, &played->op));
    touch(player, played);
}

static void acknowledged(struct message *message)
{
    struct played *played = (struct played *)message;

    assert(!message->acknowledged);
    message->acknowledged = true;
    message->end_sender_ps = now_of(played->player);
    push(played->player, message->op, STAGE_SENDER_DONE);
    tell_sender(played->player, played);
    touch(played->player, played);
}

static void failed(struct message *message, const char *reason)
{
    struct played *played = (struct played *)message;

    message->failed = true;
    message->reason = reason;
    push(played->player, message->op, STAGE_SENDER_DONE);
    tell_sender(played->player, played);
    touch(played->player, played);
}

static const struct engine_upcalls upcalls = {delivered, acknowledged, failed};

/* --- operations
 * ----------------------------------------------------------------------------------- */

static void note_group_start(struct player *player, const struct schedule_op *op)
{
    struct player_group *group;

    if (op->group == SCHEDULE_NO_GROUP)
        return;
    group = &player->groups[op->group];
    if (group->start_ps == SINK_NEVER)
        group->start_ps = now_of(player);
}

static void become_ready(struct player *player, uint64_t index, const struct schedule_op *op)
{
    struct node *node;

    if (op->start_ps > now_of(player)) {
        later(player, index, STAGE_READY, op->start_ps - now_of(player));
        return;
    }
    note_group_start(player, op);
    OBSERVER_TELL(player->engine->observer, begun, index);
    if (op->kind == SCHEDULE_JOIN) {
        push(player, index, STAGE_COMPLETE);
        return;
    }
    node = node_of_rank(player, op->rank);
    if (op->kind == SCHEDULE_MESSAGE)
        after_node(player, index, STAGE_ISSUE, node->ops->issue(node, index, op));
    else
        after_node(player, index, STAGE_COMPLETE, node->ops->perform(node, index, op));
}

/* An edge from `by` to `index`. */
static void edge_fires(struct player *player, uint64_t index, uint64_t by, enum schedule_when when)
{
    struct schedule_op op;

    if (is_started(player, index)) /* the first of several edges, say, has fired before */
        return;
    schedule_op(player->run->schedule, index, &op);
    if (op.n_needed > 1) {
        guint count = count_of(player, index) + 1;

        if (count < op.n_needed) {
            g_hash_table_insert(player->counts, count_key(index), GUINT_TO_POINTER(count));
            return;
        }
        g_hash_table_remove(player->counts, count_key(index));
    }
    mark_started(player, index);
    OBSERVER_TELL(player->engine->observer, enabled, index, by, when);
    push(player, index, STAGE_READY);
}

static void fire_edges(struct player *player, uint64_t index, enum schedule_when which)
{
    enum schedule_when when;
    uint64_t next;

    for (uint32_t k = 0;
         (next = schedule_successor(player->run->schedule, index, k, &when)) != SCHEDULE_NONE; k++)
        if (when == which)
            edge_fires(player, next, index, when);
}

static void complete(struct player *player, uint64_t index, const struct schedule_op *op)
{
    player->n_done++;
    OBSERVER_TELL(player->engine->observer, completed, index);
    if (op->group != SCHEDULE_NO_GROUP) {
        player->groups[op->group].n_done++;
        player->groups[op->group].end_ps = now_of(player);
    }
    if (op->flags & SCHEDULE_ENDS_STEP)
        ledger_step(player->ledger, player->run->schedule->rank_host[op->rank], now_of(player));
    fire_edges(player, index, SCHEDULE_AT_RECEIVER);
    if (op->kind == SCHEDULE_MESSAGE)
        return;
    fire_edges(player, index, SCHEDULE_AT_SENDER);
    if (player->run->schedule->issue_edges)
        fire_edges(player, index, SCHEDULE_AT_ISSUE);
}

static void take_step(struct player *player, struct step step)
{
    struct schedule_op op;

    schedule_op(player->run->schedule, step.op, &op);
    switch (step.stage) {
    case STAGE_READY:
        become_ready(player, step.op, &op);
        break;
    case STAGE_ISSUE:
        post(player, step.op, &op);
        if (player->run->schedule->issue_edges && !player->node_ops->posts)
            fire_edges(player, step.op, SCHEDULE_AT_ISSUE);
        break;
    case STAGE_POSTED:
        fire_edges(player, step.op, SCHEDULE_AT_ISSUE);
        break;
    case STAGE_COMPLETE:
        complete(player, step.op, &op);
        break;
    case STAGE_SENDER_DONE:
        fire_edges(player, step.op, SCHEDULE_AT_SENDER);
        break;
    }
}

static void follow_up(struct event_queue *queue, struct event *event)
{
    struct player *player =
        (struct player *)(void *)((char *)event - offsetof(struct player, follow_up));

    (void)queue;
    while (player->work_done < player->work->len && !player->error)
        take_step(player, g_array_index(player->work, struct step, player->work_done++));
    g_array_set_size(player->work, 0);
    player->work_done = 0;
    release_messages(player);
    event_cancel(queue, &player->follow_up);
    if (player->n_open_messages + player->n_open_tasks == 0 &&
        player->starts_done == player->starts->len)
        player->over = true;
}

/* Roots that start later, in one event of their own. */
static void start_due(struct event_queue *queue, struct event *event)
{
    struct player *player =
        (struct player *)(void *)((char *)event - offsetof(struct player, starter));

    for (; player->starts_done < player->starts->len; player->starts_done++) {
        struct step step = g_array_index(player->starts, struct step, player->starts_done);

        if (step.at_ps > now_of(player)) {
            event_schedule(queue, event, step.at_ps);
            return;
        }
        push(player, step.op, STAGE_READY);
    }
}

static gint by_start(gconstpointer a, gconstpointer b)
{
    const struct step *x = a, *y = b;

    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static void start_roots(struct player *player)
{
    const struct schedule *schedule = player->run->schedule;
    uint64_t index;

    for (uint64_t k = 0; (index = schedule_root(schedule, k)) != SCHEDULE_NONE; k++) {
        struct schedule_op op;

        schedule_op(schedule, index, &op);
        if (player_at(player, schedule->rank_host[op.rank]) != player)
            continue;
        mark_started(player, index);
        if (op.start_ps > 0) {
            struct step step = {index, op.start_ps, STAGE_READY};

            g_array_append_val(player->starts, step);
        } else {
            push(player, index, STAGE_READY);
        }
    }
    g_array_sort(player->starts, by_start);
    if (player->starts->len > 0)
        event_schedule(&player->engine->events, &player->starter,
                       g_array_index(player->starts, struct step, 0).at_ps);
    else if (player->work->len == 0)
        player->over = true;
}

/* --- set-up and end
 * -------------------------------------------------------------------------------- */

/* The rate that a host shares among its senders is that of the NICs it uses. */
static void limit_hosts(struct player *player)
{
    for (uint32_t number = 0; player->run->hosts && number < player->run->graph->n_hosts;
         number++) {
        struct host *host = &player->engine->hosts[number];

        host->rate_bps = 0;
        for (uint32_t nic = 0; nic < host->n_nics; nic++) {
            host->nics[nic].unused = nic >= used_nics(player, number);
            host->rate_bps += host->nics[nic].unused ? 0 : host->nics[nic].rate_bps;
        }
    }
}

void player_init(struct player *player, struct engine *engine, const struct backend_run *run,
                 const struct sink *sink, const struct route *route, const struct player_part *part)
{
    guint n_groups = run->schedule->groups->len;

    *player = (struct player){.engine = engine,
                              .run = run,
                              .sink = sink,
                              .route = route,
                              .node_ops = node_list[run->model->host.node]};
    event_init(&player->follow_up, follow_up, EVENT_FOLLOW_UP);
    event_init(&player->starter, start_due, EVENT_CLASS_TIMER | EVENT_SHARED);
    player->work = g_array_new(FALSE, FALSE, sizeof(struct step));
    player->starts = g_array_new(FALSE, FALSE, sizeof(struct step));
    player->started = g_malloc0(run->schedule->n_ops / 8 + 1);
    player->counts = g_hash_table_new(NULL, NULL);
    player->connections = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
    player->messages = g_ptr_array_new();
    player->groups = g_new0(struct player_group, n_groups + 1);
    for (guint i = 0; i < n_groups; i++)
        player->groups[i].start_ps = player->groups[i].end_ps = SINK_NEVER;
    agreements_init(&player->agreements);
    if (part) {
        player->part = *part;
        player->touched = g_ptr_array_new();
        player->keeps = true;
    }
    player->nodes = g_new0(struct node *, run->graph->n_hosts + 1);
    if (player->node_ops->accounts) {
        player->ledger = g_new0(struct ledger, 1);
        ledger_init(player->ledger, run->graph->n_hosts, sink);
    }
    limit_hosts(player);
    engine->up = observer_upcalls(engine->observer, &upcalls);
    if (player->node_ops->check && !player->node_ops->check(run, &player->error))
        player->over = true;
    else
        start_roots(player);
}

static void add_wait(struct backend_result *result, char *line)
{
    if (result->waits->len < WAITS_LISTED)
        g_ptr_array_add(result->waits, line);
    else
        g_free(line);
}

static void report_messages(struct player *player, struct backend_result *result)
{
    for (guint i = player->n_released; i < player->messages->len; i++) {
        struct played *played = g_ptr_array_index(player->messages, i);
        const struct message *message = &played->message;

        report_flow(player, played);
        if (message->failed)
            add_wait(result,
                     g_strdup_printf("flow %" G_GUINT64_FORMAT ": host %u to host %u FAILED: %s",
                                     message->op, message->connection->src->number,
                                     message->connection->dst->number, message->reason));
        else if (!message->delivered)
            add_wait(result, g_strdup_printf("flow %" G_GUINT64_FORMAT
                                             ": host %u waits for %" G_GINT64_FORMAT
                                             " of %" G_GINT64_FORMAT " B from host %u",
                                             message->op, message->connection->dst->number,
                                             message->bytes - message->received_bytes,
                                             message->bytes, message->connection->src->number));
        else if (!message->acknowledged)
            add_wait(result, g_strdup_printf("flow %" G_GUINT64_FORMAT
                                             ": host %u waits for acknowledgements from host %u",
                                             message->op, message->connection->src->number,
                                             message->connection->dst->number));
    }
}

/* Whether the element before it in its lane, the operation before it, has begun. */
static bool its_turn(const struct player *player, uint64_t index, const struct schedule_op *op)
{
    struct schedule_op before;

    if (index == 0)
        return true;
    schedule_op(player->run->schedule, index - 1, &before);
    return before.rank != op->rank || before.lane != op->lane || is_started(player, index - 1);
}

/* Engines whose turn it is at a wait that nothing ends: what holds up all that follows. */
static void report_engines(struct player *player, struct backend_result *result)
{
    const struct schedule *schedule = player->run->schedule;

    for (uint64_t index = 0; schedule->elements && index < schedule->n_ops; index++) {
        struct schedule_op op;
        guint count = count_of(player, index);

        if (is_started(player, index) || count == 0)
            continue;
        schedule_op(schedule, index, &op);
        if (op.element == SCHEDULE_WAIT && its_turn(player, index, &op))
            add_wait(result, g_strdup_printf("rank %u: engine %u, lane %u, waits for flag "
                                             "%" G_GINT64_FORMAT ": %u of %u sets have come",
                                             op.rank, op.engine, op.lane, op.bytes, count - 1,
                                             op.n_needed - 1));
    }
}

/* What a file says of operations that never began comes before all else: it names the cause. */
static void report_sayings(struct player *player, struct backend_result *result)
{
    const struct schedule *schedule = player->run->schedule;

    for (uint64_t index = 0; schedule->sayings && index < schedule->n_ops; index++)
        if (!is_started(player, index) && schedule_saying(schedule, index))
            add_wait(result, g_strdup_printf("operation %" G_GUINT64_FORMAT ": %s", index,
                                             schedule_saying(schedule, index)));
}

/* Messages that never became ready: their records have no times. */
static void report_unstarted(struct player *player, struct backend_result *result)
{
    const struct schedule *schedule = player->run->schedule;
    int64_t *planes = g_new0(int64_t, player->run->graph->n_planes + 1);

    for (uint64_t index = 0; index < schedule->n_ops; index++) {
        struct schedule_op op;

        if (is_started(player, index))
            continue;
        schedule_op(schedule, index, &op);
        if (schedule_saying(schedule, index) && op.kind != SCHEDULE_MESSAGE)
            continue;
        char *line =
            op.n_needed == 0
                ? g_strdup_printf("operation %" G_GUINT64_FORMAT
                                  ": rank %u begins at %" G_GINT64_FORMAT " ps, after the end",
                                  index, op.rank, op.start_ps)
                : g_strdup_printf("operation %" G_GUINT64_FORMAT
                                  ": rank %u never began (%u of %u dependencies met)",
                                  index, op.rank, count_of(player, index), op.n_needed);

        add_wait(result, line);
        if (op.kind != SCHEDULE_MESSAGE)
            continue;
        const struct transport_profile *profile =
            profile_of(player, schedule->rank_host[op.rank], op.profile);
        struct sink_flow flow = {.flow = index,
                                 .src = schedule->rank_host[op.rank],
                                 .dst = schedule->rank_host[op.peer],
                                 .transport = profile_name(profile),
                                 .bytes = op.bytes,
                                 .start_ps = SINK_NEVER,
                                 .end_receiver_ps = SINK_NEVER,
                                 .end_sender_ps = SINK_NEVER,
                                 .ideal_ps = SINK_NEVER,
                                 .reach = SINK_REACH_UNKNOWN,
                                 .status = SINK_UNFINISHED,
                                 .n_planes = player->run->graph->n_planes,
                                 .bytes_by_plane = planes,
                                 .group = op.group,
                                 .reason = "never started"};
        player->n_flows++;
        call_flow(player->sink, &flow);
    }
    g_free(planes);
}

/* Roots whose time had not come, and operations that were waiting for theirs. */
static void report_pending(struct player *player, struct backend_result *result)
{
    for (guint i = player->starts_done; i < player->starts->len; i++) {
        struct step step = g_array_index(player->starts, struct step, i);

        player->started[step.op / 8] &= (guint8) ~(1u << (step.op % 8));
    }
    report_engines(player, result);
    report_unstarted(player, result);
}

static void report_groups(struct player *player)
{
    const struct schedule *schedule = player->run->schedule;

    for (guint i = 0; i < schedule->groups->len; i++) {
        const struct schedule_group *group = schedule_group(schedule, i);
        bool done = player->groups[i].n_done == group->n_ops;
        struct sink_group record = {group->name,
                                    group->bytes,
                                    group->n_ranks,
                                    group->factor_n,
                                    group->factor_d,
                                    player->groups[i].start_ps,
                                    done ? player->groups[i].end_ps : SINK_NEVER,
                                    group->n_ops,
                                    player->groups[i].n_done,
                                    group->n_calls,
                                    group->element_bytes,
                                    group->root};

        if (player->sink->ops->group)
            player->sink->ops->group(player->sink->data, &record);
    }
}

/* The counters of one transport, if a connection uses it. */
static void report_transport(struct player *player, const struct transport_ops *ops)
{
    int64_t sums[TRANSPORT_MAX_TOTALS] = {0};
    bool used = false;

    for (const struct connection *c = player->first_connection; c; c = c->next)
        if (c->ops->report == ops->report && ops->report) {
            ops->report(c, sums);
            used = true;
        }
    for (guint k = 0; used && ops->totals[k] && player->sink->ops->metric; k++) {
        g_autofree char *name = g_strdup_printf("%s_%s", ops->name, ops->totals[k]);
        struct sink_metric metric = {name, "count", (double)sums[k]};

        player->sink->ops->metric(player->sink->data, &metric);
    }
}

static void report_totals(struct player *player)
{
    for (guint t = 0; transport_list[t]; t++)
        report_transport(player, transport_list[t]);
}

static void report_metric(const struct player *player, const char *name, const char *unit,
                          double value)
{
    struct sink_metric metric = {name, unit, value};

    if (player->sink->ops->metric)
        player->sink->ops->metric(player->sink->data, &metric);
}

/* What the time of accelerators and their NICs went into; idle is without compute. */
static void report_accounts(const struct player *player)
{
    static const char *const names[SINK_N_TIMES] = {"compute", "collective", "host", "network",
                                                    "recovery"};
    const struct graph *graph = player->run->graph;
    const struct ledger *ledger = player->ledger;
    double rate_bps = 0, n = 0, n_ports = 0, all_s = (double)ledger->step_ps / 1e12;
    double idle_s = all_s - (double)ledger->sums_ps[SINK_TIME_COMPUTE] / 1e12;

    for (uint32_t host = 0; host < graph->n_hosts; host++) {
        n += player->nodes[host] != NULL;
        n_ports += player->nodes[host] ? graph_n_ports(graph, host) : 0;
        for (uint32_t i = 0; player->nodes[host] && i < graph_n_ports(graph, host); i++)
            rate_bps += (double)graph->links[graph_port(graph, host, i) / 2].rate_bps;
    }
    report_metric(player, "accelerator_time", "s", all_s);
    report_metric(player, "accelerator_idle_time", "s", idle_s);
    report_metric(player, "accelerator_idle_cost", "price",
                  idle_s / 3600 * (double)player->run->model->host.price / (double)UNITS_PPT);
    for (int i = 0; i < SINK_N_TIMES; i++) {
        g_autofree char *name = g_strdup_printf("accelerator_%s_time", names[i]);

        report_metric(player, name, "s", (double)ledger->sums_ps[i] / 1e12);
    }
    if (n > 0) /* of the mean accelerator's NICs */
        report_metric(player, "nic_energy", "J",
                      n_ports / n * all_s * (double)player->run->model->host.nic_watts /
                          (double)UNITS_PPT);
    report_metric(player, "longest_step", "ps", (double)ledger->longest_ps);
    if (all_s > 0 && rate_bps > 0)
        report_metric(player, "nic_idle_share", "ratio",
                      1 - 8 * (double)player->delivered_bytes / (rate_bps / n * all_s));
}

/* At the end each element of the schedule has been handled once, by the nodes' own counters. */
static void check_elements(const struct player *player, const int64_t *handled)
{
    const struct schedule *schedule = player->run->schedule;
    int64_t n[SCHEDULE_N_ELEMENTS] = {0};
    struct schedule_op op;

    if (!schedule->elements || player->n_done < schedule->n_ops)
        return;
    for (uint64_t index = 0; index < schedule->n_ops; index++) {
        schedule_op(schedule, index, &op);
        n[op.element]++;
    }
    for (int kind = SCHEDULE_NO_ELEMENT + 1; kind < SCHEDULE_N_ELEMENTS; kind++)
        assert(handled[kind - 1] == n[kind]);
}

/* Counters of the nodes, summed; and what the time of their ranks went into. */
static void report_nodes(struct player *player)
{
    const struct node_ops *ops = player->node_ops;
    int64_t sums[NODE_MAX_TOTALS] = {0};

    for (uint32_t host = 0; ops->report && host < player->run->graph->n_hosts; host++)
        if (player->nodes[host])
            ops->report(player->nodes[host], sums);
    for (guint k = 0; ops->totals && ops->totals[k]; k++) {
        g_autofree char *name = g_strdup_printf("%s_%s", ops->name, ops->totals[k]);

        report_metric(player, name, "count", (double)sums[k]);
    }
    if (ops->report)
        check_elements(player, sums);
    if (!player->ledger)
        return;
    ledger_finish(player->ledger);
    report_accounts(player);
}

void player_report(struct player *player, struct backend_result *result)
{
    report_sayings(player, result);
    report_messages(player, result);
    report_pending(player, result);
    report_groups(player);
    report_totals(player);
    report_nodes(player);
    result->n_ops_done = player->n_done;
    result->n_flows = player->n_flows;
    result->n_flows_finished = player->n_finished;
    result->n_flows_failed = player->n_failed;
    result->n_flows_unfinished = player->n_flows - player->n_finished - player->n_failed;
    result->delivered_bytes = player->delivered_bytes;
}

size_t player_message_bytes(uint32_t n_planes)
{
    return sizeof(struct played) + n_planes * sizeof(int64_t) + sizeof(gpointer);
}

/* --- players by part ---------------------------------------------------------------------------
 */

void players_settle(struct player *players, uint32_t n)
{
    for (uint32_t part = 0; part < n; part++) {
        for (guint i = 0; i < players[part].touched->len; i++)
            close_message(g_ptr_array_index(players[part].touched, i));
        g_ptr_array_set_size(players[part].touched, 0);
    }
}

bool players_may_end(struct player *players, uint32_t n)
{
    for (uint32_t part = 0; part < n; part++) {
        struct player *player = &players[part];

        for (; player->witness < player->messages->len; player->witness++) {
            struct played *played = g_ptr_array_index(player->messages, player->witness);

            if (!played->message.delivered && !played->message.failed &&
                !played->message.connection->may_fail)
                return false;
        }
    }
    return true;
}

bool players_are_over(const struct player *players, uint32_t n)
{
    uint64_t n_left = 0;

    for (uint32_t part = 0; part < n; part++) {
        if (players[part].error)
            return true;
        n_left += players[part].n_open_messages + players[part].n_open_tasks +
                  players[part].work->len + players[part].starts->len - players[part].starts_done;
    }
    return n_left == 0;
}

static gint by_place(gconstpointer a, gconstpointer b)
{
    const struct message *x = *(struct message *const *)a, *y = *(struct message *const *)b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static void take_groups(struct player *player, const struct player *other)
{
    for (guint i = 0; i < player->run->schedule->groups->len; i++) {
        struct player_group *group = &player->groups[i];
        const struct player_group *more = &other->groups[i];

        if (more->start_ps != SINK_NEVER)
            group->start_ps = group->start_ps == SINK_NEVER ? more->start_ps
                                                            : MIN(group->start_ps, more->start_ps);
        if (more->end_ps != SINK_NEVER)
            group->end_ps = MAX(group->end_ps, more->end_ps);
        group->n_done += more->n_done;
    }
}

static void take_operations(struct player *player, struct player *other)
{
    GHashTableIter iter;
    gpointer key, value;

    for (uint64_t i = 0; i < player->run->schedule->n_ops / 8 + 1; i++)
        player->started[i] |= other->started[i];
    g_hash_table_iter_init(&iter, other->counts);
    while (g_hash_table_iter_next(&iter, &key, &value))
        g_hash_table_insert(player->counts, key, value);
    g_array_append_vals(player->starts,
                        &g_array_index(other->starts, struct step, other->starts_done),
                        other->starts->len - other->starts_done);
    other->starts_done = other->starts->len;
}

static void take_connections(struct player *player, struct player *other)
{
    struct connection **last = &player->first_connection;

    while (*last)
        last = &(*last)->next;
    *last = other->first_connection;
    other->first_connection = NULL;
}

static void take_over(struct player *player, struct player *other)
{
    take_groups(player, other);
    take_operations(player, other);
    take_connections(player, other);
    for (guint i = 0; i < other->messages->len; i++)
        g_ptr_array_add(player->messages, g_ptr_array_index(other->messages, i));
    g_ptr_array_set_size(other->messages, 0);
    for (uint32_t host = 0; host < player->run->graph->n_hosts; host++)
        if (other->nodes[host])
            player->nodes[host] = g_steal_pointer(&other->nodes[host]);
    player->n_done += other->n_done;
    player->n_flows += other->n_flows;
    player->delivered_bytes += other->delivered_bytes;
    if (!player->error)
        player->error = g_steal_pointer(&other->error);
}

void players_join(struct player *players, uint32_t n)
{
    g_array_remove_range(players[0].starts, 0, players[0].starts_done);
    players[0].starts_done = 0;
    for (uint32_t part = 1; part < n; part++)
        take_over(&players[0], &players[part]);
    g_ptr_array_sort(players[0].messages, by_place);
}

void player_clear(struct player *player)
{
    struct connection *next;

    for (struct connection *c = player->first_connection; c; c = next) {
        next = c->next;
        c->ops->close(c);
        g_free(c);
    }
    for (uint32_t host = 0; host < player->run->graph->n_hosts; host++)
        if (player->nodes[host]) {
            if (player->node_ops->close)
                player->node_ops->close(player->nodes[host]);
            node_task_clear(player->nodes[host]);
            g_free(player->nodes[host]);
        }
    g_free(player->nodes);
    if (player->ledger)
        ledger_clear(player->ledger);
    g_free(player->ledger);
    agreements_clear(&player->agreements);
    g_array_unref(player->work);
    g_array_unref(player->starts);
    g_free(player->started);
    g_hash_table_unref(player->counts);
    g_hash_table_unref(player->connections);
    for (guint i = player->n_released; i < player->messages->len; i++)
        g_free(g_ptr_array_index(player->messages, i));
    g_ptr_array_unref(player->messages);
    g_clear_pointer(&player->touched, g_ptr_array_unref);
    g_free(player->groups);
    g_clear_error(&player->error);
}
