/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MetaRoCE, as far as it is published (one blog post, 2026-08-24; SOURCES.md 1).
 *
 * Published and modelled: a connection has many paths; a path is a UDP source port on one plane and
 * holds its RTT estimate, ECN state, window and an ordered sequence space with a 256-bit selective
 * acknowledgement; packets are sprayed over paths by window and state; Writes and Sends are placed
 * on arrival; messages of one ordered stream are delivered in order, streams are independent; a gap
 * in a path's sequence is a loss and is resent at once on that path; AIMD on ECN echo per path; the
 * receiver's share of inbound bandwidth in every acknowledgement caps the connection; a slow or
 * dead path moves to a new source port; a dead path is probed and returns.
 * Not published, so parameters ("our choice" in the table): every constant, whether loss cuts a
 * window, the acknowledgement policy, the wire sizes, and what keeps a re-hash from spurious
 * retransmissions. Left out: reads, atomics, memory registration, receiver-not-ready.
 *
 * Sequence numbers. Each transmission takes the next number of its path (sequence = fresh), and a
 * data packet carries the path's floor, the lowest number the sender has not settled, so that the
 * receiver never waits for a number that will not come. Placement and counting use the connection
 * sequence number (CSN), which a retransmission keeps.
 * Re-hash. A path that moves keeps its sequence space but enters a new epoch. An acknowledged
 * number proves older ones lost only within its own epoch, since the two routes are not one FIFO;
 * what was in flight on the old port is settled by its own acknowledgement or by the timeout.
 */
#include "models/cc.h"
#include "models/host.h"
#include "sim/core/units.h"
#include <string.h>

#define SACK_BITS  256
#define CSN_RANGE  65536u /* between the oldest unacknowledged CSN and the newest */
#define FIRST_PORT 49152u
#define N_PORTS    16384u
#define NO_CSN     UINT32_MAX
#define MAX_PATHS  4096
#define FIRST_SENT 8
#define FIRST_CSNS 64

enum { SPRAY_WINDOW, SPRAY_ROTATE, SPRAY_SINGLE };
enum { PRESET_TAIL, PRESET_CUT };
enum { SEQUENCE_FRESH, SEQUENCE_REUSE };
enum { PLACE_ARRIVAL, PLACE_IN_ORDER };

struct metaroce_config {
    struct transport_common common;
    int64_t paths, spray, choices, steer, ack_every, ack_delay;
    int64_t window_initial, window_min, window_max, increase, decrease, gain, ecn, preset;
    int64_t share, share_window, share_headroom;
    int64_t gap_recovery, sequence, placement, ordered_streams;
    int64_t rto_factor, rto_min, rto_max;
    int64_t rehash, rehash_timeouts, rehash_loss, rehash_slow, epoch;
    int64_t dead_timeouts, probe, probe_interval;
    int64_t verb, match_bytes;
};

enum sent_state { SENT_OUT, SENT_SETTLED };

struct sent { /* one number of a path */
    uint32_t csn;
    uint8_t state, epoch;
    bool resent; /* sequence = reuse: no gap can tell of it any more */
    bool probe;
};

struct path {
    /* sender, first cache line: what choosing a path and sending on it touches */
    struct sent *sent;       /* ring by number */
    int64_t marked_until_ps; /* passed over until then, if others are clear */
    uint32_t next, floor;    /* next number; lowest unsettled */
    uint32_t in_flight, window;
    uint32_t sent_mask, n_lost;
    uint32_t source_port;
    uint16_t number, nic;
    uint8_t epoch;
    bool dead;
    uint32_t n_timeouts; /* in a row */
    /* sender, on acknowledgements and timers */
    struct connection *connection;
    uint32_t lost_first, lost_last; /* CSNs to resend here, linked through csn.next */
    CC_WITH_STATE(CC_AIMD_STATE_BYTES);
    int64_t srtt_ps;
    int64_t deadline_ps, timer_ps;
    struct event timer;
    int64_t loss_ppt; /* moving average over about 64 packets */
    uint32_t n_since_rehash;
    uint32_t marks_heard;
    /* receiver */
    uint64_t bits[SACK_BITS / 64]; /* received, from `expected` on */
    int64_t echo_ps;
    uint32_t expected; /* all below are received or given up */
    uint32_t top;      /* behind the highest received */
    uint32_t n_unacknowledged, marks_seen;
    uint32_t reply_port;
    bool last_marked;
};

struct plane {                    /* sender: the paths of one NIC together */
    uint32_t first_path, n_paths; /* they are first_path, first_path + n_nics, ... */
    uint32_t turn;                /* where the next choice of a path begins */
    uint32_t n_lost;              /* packets in the lists of its paths */
};

enum csn_state { CSN_OUT, CSN_LOST, CSN_DONE };

struct csn { /* sender: a packet of the connection, until acknowledged */
    struct message *message;
    uint32_t payload, next;
    uint16_t path;
    uint8_t state;
    bool again;        /* has been sent before */
    bool listed;       /* stands in a list of lost packets */
    uint32_t number;   /* on its path, of the last transmission */
    uint32_t sequence; /* in its message */
};

struct arrival { /* receiver, placement = in_order: what waits in the reorder buffer */
    struct message *message;
    uint32_t payload, nic;
};

struct stream { /* receiver: ordered delivery */
    uint64_t delivered;
    struct message *waiting; /* whole, but not their turn; by number */
};

struct metaroce {
    struct connection connection;
    uint32_t n_paths, n_senders;
    struct path *paths;
    struct sender *senders; /* one for each NIC */
    struct cc_rule rule;
    /* sender */
    struct message *first, **last; /* with bytes not yet sent */
    int64_t first_sent_bytes;
    uint32_t first_sent_packets;
    struct csn *csns; /* ring by CSN */
    uint32_t csns_mask, una, next;
    uint32_t in_flight, cap;                /* packets; cap by the receiver's share */
    int64_t share_bps, rtt_min_ps, srtt_ps; /* srtt: of whichever path was heard last */
    uint32_t lost_first, lost_last, n_lost; /* of dead paths: may go anywhere */
    struct plane *planes;                   /* one for each NIC */
    bool capped;                            /* a sender was turned away by the cap */
    struct random_stream draws;
    uint64_t *posted; /* by stream: messages so far */
    uint32_t n_posted;
    /* receiver */
    uint32_t expected_csn;
    uint64_t *received; /* bits by CSN, ring */
    uint32_t received_mask;
    struct arrival *arrivals;
    struct host_activity activity;
    struct event ack_timer; /* acknowledgements that waited for more packets go out */
    struct stream *streams;
    uint32_t n_streams;
    /* counters */
    int64_t n_rehashes, n_dead, n_returned, n_probes, n_gaps, n_duplicates;
};

enum kind { KIND_DATA, KIND_PROBE, KIND_ACK };

struct ack_header {
    uint8_t kind; /* first in both headers */
    bool measured;
    uint16_t path;
    uint32_t expected, top, marks; /* next number expected; behind the highest; marks so far */
    uint32_t share_mbps;           /* receiver's share for this sender; 0: not stated */
    uint32_t spare;
    int64_t echo_ps;               /* when the packet that is answered was sent */
    uint64_t bits[SACK_BITS / 64]; /* received, from `expected` on */
};
G_STATIC_ASSERT(sizeof(struct ack_header) <= PACKET_HEADER_BYTES);

struct data_header {
    uint8_t kind;
    bool ack_request;
    uint16_t path;
    uint32_t csn, number, floor;
    struct message *message;
    int64_t sent_ps;
};
G_STATIC_ASSERT(sizeof(struct data_header) <= PACKET_HEADER_BYTES);

static inline const struct metaroce_config *config_of(const struct metaroce *meta)
{
    return meta->connection.config;
}

/* The sender's clock. */
static inline int64_t now_of(const struct metaroce *meta)
{
    return engine_now_ps(meta->connection.engine);
}

static inline struct csn *csn_at(struct metaroce *meta, uint32_t csn)
{
    return &meta->csns[csn & meta->csns_mask];
}

static inline struct sent *sent_at(struct path *path, uint32_t number)
{
    return &path->sent[number & path->sent_mask];
}

/* After congestion control has spoken. */
static inline void take_window(struct path *path)
{
    path->window = (uint32_t)(path->cc.window / CC_ONE);
}

static inline struct sender *sender_of(struct metaroce *meta, const struct path *path)
{
    return &meta->senders[path->nic];
}

/* --- sender: lists of lost packets ---------------------------------------------------------------
 */

static void lost_push(struct metaroce *meta, uint32_t *first, uint32_t *last, uint32_t csn)
{
    csn_at(meta, csn)->next = NO_CSN;
    csn_at(meta, csn)->listed = true;
    if (*first == NO_CSN)
        *first = csn;
    else
        csn_at(meta, *last)->next = csn;
    *last = csn;
}

/* The oldest CSN of the list that is still lost, NO_CSN if none; others leave the list. */
static uint32_t lost_head(struct metaroce *meta, uint32_t *first, uint32_t *n, uint32_t *total)
{
    while (*first != NO_CSN && csn_at(meta, *first)->state != CSN_LOST) {
        uint32_t done = *first;

        *first = csn_at(meta, done)->next;
        csn_at(meta, done)->listed = false;
        (*n)--;
        (*total)--;
    }
    return *first;
}

static uint32_t lost_pop(struct metaroce *meta, uint32_t *first, uint32_t *n, uint32_t *total)
{
    uint32_t csn = *first;

    *first = csn_at(meta, csn)->next;
    csn_at(meta, csn)->listed = false;
    (*n)--;
    (*total)--;
    return csn;
}

/* --- sender: timers
 * ------------------------------------------------------------------------------- */

static int64_t rto_of(const struct metaroce *meta, const struct path *path)
{
    const struct metaroce_config *config = config_of(meta);
    int64_t srtt_ps = path->srtt_ps ? path->srtt_ps : meta->srtt_ps;
    int64_t rto_ps = MAX(config->rto_factor * srtt_ps, config->rto_min);

    return MIN(rto_ps << MIN(path->n_timeouts, 20), config->rto_max);
}

static void look_at(struct metaroce *meta, struct path *path, int64_t at_ps)
{
    path->deadline_ps = at_ps;
    if (!event_is_pending(&path->timer) || path->timer_ps > at_ps) {
        path->timer_ps = at_ps;
        engine_timer_set(meta->connection.engine, &path->timer, at_ps);
    }
}

static void arm(struct metaroce *meta, struct path *path)
{
    look_at(meta, path, now_of(meta) + rto_of(meta, path));
}

/* --- sender: taking numbers
 * ----------------------------------------------------------------------- */

static void grow_sent(struct path *path)
{
    uint32_t room = path->sent ? 2 * (path->sent_mask + 1) : FIRST_SENT;
    struct sent *sent = g_new0(struct sent, room);

    for (uint32_t number = path->floor; number != path->next; number++)
        sent[number & (room - 1)] = *sent_at(path, number);
    g_free(path->sent);
    path->sent = sent;
    path->sent_mask = room - 1;
}

static inline bool has_room(const struct path *path)
{
    return !path->dead && path->in_flight < path->window && path->next - path->floor < SACK_BITS;
}

/* The same for a packet lost on this path, which may keep its number. */
static inline bool may_resend(const struct metaroce *meta, const struct path *path)
{
    return has_room(path) || (config_of(meta)->sequence == SEQUENCE_REUSE && !path->dead &&
                              path->in_flight < path->window);
}

/* Takes the next number of the path for `csn`, or for a probe. */
static uint32_t take_number(struct path *path, uint32_t csn, bool probe)
{
    if (!path->sent || path->next - path->floor > path->sent_mask)
        grow_sent(path);
    *sent_at(path, path->next) = (struct sent){csn, SENT_OUT, path->epoch, false, probe};
    return path->next++;
}

static void settle_floor(struct path *path)
{
    while (path->floor != path->next && sent_at(path, path->floor)->state == SENT_SETTLED)
        path->floor++;
}

static struct packet *make_data(struct metaroce *meta, struct path *path, uint32_t csn)
{
    const struct metaroce_config *config = config_of(meta);
    struct csn *entry = csn_at(meta, csn);
    bool reuse = entry->again && config->sequence == SEQUENCE_REUSE &&
                 entry->path == path->number &&
                 entry->number - path->floor < path->next - path->floor;
    uint32_t header_bytes =
        (uint32_t)(config->common.header + (config->verb ? config->match_bytes : 0));
    struct packet *packet = host_data_packet(&meta->connection, path->nic, path->source_port,
                                             entry->payload, header_bytes);
    struct data_header *header = TRANSPORT_HEADER(struct data_header, packet);

    host_name_packet(packet, entry->message, entry->sequence);
    entry->message->packets++;
    if (entry->again)
        host_resent(&meta->connection, entry->message, entry->payload);
    if (reuse)
        *sent_at(path, entry->number) = (struct sent){csn, SENT_OUT, path->epoch, true, false};
    else
        entry->number = take_number(path, csn, false);
    entry->path = (uint16_t)path->number;
    entry->state = CSN_OUT;
    entry->again = true;
    if (path->in_flight++ == 0)
        arm(meta, path);
    meta->in_flight++;
    *header = (struct data_header){.kind = KIND_DATA,
                                   .path = (uint16_t)path->number,
                                   .csn = csn,
                                   .number = entry->number,
                                   .floor = path->floor,
                                   .message = entry->message,
                                   .sent_ps = now_of(meta)};
    header->ack_request = !has_room(path) || (!meta->first && meta->n_lost + path->n_lost == 0) ||
                          meta->in_flight >= meta->cap;
    return packet;
}

static void grow_csns(struct metaroce *meta)
{
    uint32_t room = meta->csns ? 2 * (meta->csns_mask + 1) : FIRST_CSNS;
    struct csn *csns = g_new0(struct csn, room);

    for (uint32_t csn = meta->una; csn != meta->next; csn++)
        csns[csn & (room - 1)] = *csn_at(meta, csn);
    g_free(meta->csns);
    meta->csns = csns;
    meta->csns_mask = room - 1;
}

/* Cuts the next packet off the first unsent message. */
static uint32_t next_csn(struct metaroce *meta)
{
    struct message *message = meta->first;
    int64_t payload = MIN(config_of(meta)->common.payload, message->bytes - meta->first_sent_bytes);

    if (!meta->csns || meta->next - meta->una > meta->csns_mask)
        grow_csns(meta);
    *csn_at(meta, meta->next) = (struct csn){.message = message,
                                             .payload = (uint32_t)payload,
                                             .next = NO_CSN,
                                             .sequence = meta->first_sent_packets++};
    meta->first_sent_bytes += payload;
    if (meta->first_sent_bytes == message->bytes) {
        meta->first_sent_bytes = 0;
        meta->first_sent_packets = 0;
        meta->first = message->next;
        if (!meta->first)
            meta->last = &meta->first;
    }
    return meta->next++;
}

/* --- sender: which path next
 * ---------------------------------------------------------------------- */

/* Better: not lately marked (if steering), then more room in the window; ties by rotation. */
static bool better(const struct metaroce *meta, const struct path *a, const struct path *b)
{
    int64_t now_ps = now_of(meta);
    bool clear_a = a->marked_until_ps <= now_ps, clear_b = b->marked_until_ps <= now_ps;

    if (config_of(meta)->steer && clear_a != clear_b)
        return clear_a;
    return a->window - a->in_flight > b->window - b->in_flight;
}

/*
 * A path of this NIC with room for new data, NULL if there is none: the best of the next few in
 * rotation, so that the cost does not grow with the number of paths.
 */
static struct path *choose_path(struct metaroce *meta, uint32_t nic)
{
    struct plane *plane = &meta->planes[nic];
    uint32_t stride = meta->connection.n_nics, n = plane->n_paths;
    uint32_t n_choices =
        config_of(meta)->spray == SPRAY_WINDOW ? (uint32_t)config_of(meta)->choices : 1;
    struct path *best = NULL;
    uint32_t turn = plane->turn;

    for (uint32_t i = 0, at = plane->turn; i < n && (i < n_choices || !best); i++, at++) {
        at = at < n ? at : 0;
        struct path *path = &meta->paths[plane->first_path + stride * at];

        if (has_room(path) && (!best || better(meta, path, best))) {
            best = path;
            turn = at + 1;
        }
    }
    plane->turn = turn;
    return best;
}

/* Something lost on a path of this NIC and its window lets it go again: the path, else NULL. */
static struct path *path_with_lost(struct metaroce *meta, uint32_t nic)
{
    for (uint32_t p = meta->planes[nic].first_path;
         meta->planes[nic].n_lost > 0 && p < meta->n_paths; p += meta->connection.n_nics) {
        struct path *path = &meta->paths[p];

        if (path->n_lost > 0 && may_resend(meta, path) &&
            lost_head(meta, &path->lost_first, &path->n_lost, &meta->planes[nic].n_lost) != NO_CSN)
            return path;
    }
    return NULL;
}

static struct packet *pull(struct connection *connection, struct sender *sender)
{
    struct metaroce *meta = (struct metaroce *)connection;
    struct path *path = path_with_lost(meta, sender->nic);
    uint32_t unused = 0;
    bool moved;

    if (path)
        return make_data(
            meta, path,
            lost_pop(meta, &path->lost_first, &path->n_lost, &meta->planes[sender->nic].n_lost));
    moved =
        meta->n_lost > 0 && lost_head(meta, &meta->lost_first, &meta->n_lost, &unused) != NO_CSN;
    if (!moved && (!meta->first || meta->next - meta->una >= CSN_RANGE))
        return NULL;
    if (meta->in_flight >= meta->cap) {
        meta->capped = true;
        return NULL;
    }
    path = choose_path(meta, sender->nic);
    if (!path)
        return NULL;
    return make_data(meta, path,
                     moved ? lost_pop(meta, &meta->lost_first, &meta->n_lost, &unused)
                           : next_csn(meta));
}

static void post(struct connection *connection, struct message *message)
{
    struct metaroce *meta = (struct metaroce *)connection;
    const struct metaroce_config *config = connection->config;

    message->mark[0] = (uint64_t)transport_n_packets(message->bytes, config->common.payload);
    if (message->stream >= meta->n_posted) {
        meta->posted = g_renew(uint64_t, meta->posted, message->stream + 1);
        memset(&meta->posted[meta->n_posted], 0,
               (message->stream + 1 - meta->n_posted) * sizeof(uint64_t));
        meta->n_posted = message->stream + 1;
    }
    message->mark[1] = meta->posted[message->stream]++; /* number within the stream */
    message->next = NULL;
    *meta->last = message;
    meta->last = &message->next;
    host_ready_all(connection, meta->senders, meta->n_senders);
}

/* --- sender: settling
 * ----------------------------------------------------------------------------- */

static void settle(struct metaroce *meta, struct path *path, struct sent *sent)
{
    sent->state = SENT_SETTLED;
    if (!sent->probe) {
        path->in_flight--;
        meta->in_flight--;
    }
}

static void csn_acknowledged(struct metaroce *meta, uint32_t number)
{
    struct csn *csn = csn_at(meta, number);

    if (number - meta->una >= meta->next - meta->una || csn->state == CSN_DONE)
        return;
    csn->state = CSN_DONE;
    if (--csn->message->mark[0] == 0)
        meta->connection.engine->up->acknowledged(csn->message);
    while (meta->una != meta->next && csn_at(meta, meta->una)->state == CSN_DONE &&
           !csn_at(meta, meta->una)->listed)
        meta->una++;
}

/* The path lost this number: its packet goes out again, on this path. */
static void number_lost(struct metaroce *meta, struct path *path, struct sent *sent)
{
    struct csn *csn = csn_at(meta, sent->csn);

    settle(meta, path, sent);
    if (sent->probe || csn->state != CSN_OUT)
        return;
    csn->state = CSN_LOST;
    if (config_of(meta)->sequence == SEQUENCE_REUSE) /* the number stays in use */
        sent->state = SENT_OUT, sent->resent = true;
    if (!csn->listed) {
        lost_push(meta, &path->lost_first, &path->lost_last, sent->csn);
        path->n_lost++;
        meta->planes[path->nic].n_lost++;
    }
}

static bool is_received(const struct ack_header *ack, uint32_t number)
{
    uint32_t offset = number - ack->expected;

    if ((int32_t)offset < 0)
        return true;
    return offset < SACK_BITS && (ack->bits[offset / 64] >> (offset % 64) & 1);
}

/* Settles what the acknowledgement covers; returns the number of packets newly acknowledged. */
static int64_t settle_received(struct metaroce *meta, struct path *path,
                               const struct ack_header *ack)
{
    int64_t n = 0;

    for (uint32_t number = path->floor; number != path->next && (int32_t)(number - ack->top) < 0;
         number++) {
        struct sent *sent = sent_at(path, number);

        if (sent->state == SENT_SETTLED || !is_received(ack, number))
            continue;
        if (!sent->resent || csn_at(meta, sent->csn)->state == CSN_OUT)
            settle(meta, path, sent);
        sent->state = SENT_SETTLED;
        if (!sent->probe)
            csn_acknowledged(meta, sent->csn);
        path->loss_ppt -= path->loss_ppt / 64;
        path->n_since_rehash++;
        n++;
    }
    return n;
}

/* A gap is a loss: numbers below a received one, if both were sent by the same route. */
static void settle_gaps(struct metaroce *meta, struct path *path, const struct ack_header *ack)
{
    bool proof = false;
    uint8_t epoch = 0;
    uint32_t number = ack->top;

    if ((int32_t)(number - path->next) > 0)
        number = path->next;
    while ((int32_t)(--number - path->floor) >= 0) {
        struct sent *sent = sent_at(path, number);

        if (is_received(ack, number)) {
            proof = true;
            epoch = sent->epoch;
        } else if (proof && sent->state == SENT_OUT && !sent->resent &&
                   (epoch == sent->epoch || !config_of(meta)->epoch)) {
            number_lost(meta, path, sent);
            path->loss_ppt += (UNITS_PPT - path->loss_ppt) / 64;
            path->n_since_rehash++;
            meta->n_gaps++;
            cc_aimd.lost(&meta->rule, &path->cc);
        }
    }
}

static void rehash(struct metaroce *meta, struct path *path)
{
    path->source_port = FIRST_PORT + (uint32_t)random_below(&meta->draws, N_PORTS);
    path->epoch++;
    path->loss_ppt = 0;
    path->srtt_ps = 0;
    path->n_since_rehash = 0;
    meta->n_rehashes++;
}

/* A path is bad if it loses much more, or takes much longer, than the connection's others. */
static bool is_bad(const struct metaroce *meta, const struct path *path)
{
    const struct metaroce_config *config = config_of(meta);
    int64_t losses = 0, least_ps = INT64_MAX;

    for (uint32_t p = 0; p < meta->n_paths; p++) {
        losses += meta->paths[p].loss_ppt;
        if (meta->paths[p].srtt_ps > 0 && !meta->paths[p].dead)
            least_ps = MIN(least_ps, meta->paths[p].srtt_ps);
    }
    if (path->loss_ppt > config->rehash_loss && path->loss_ppt > 2 * (losses / meta->n_paths))
        return true;
    return path->srtt_ps / config->rehash_slow > least_ps;
}

static void update_cap(struct metaroce *meta)
{
    const struct metaroce_config *config = config_of(meta);

    if (!config->share || meta->share_bps == 0 || meta->rtt_min_ps == 0)
        return;
    unsigned __int128 bytes =
        (unsigned __int128)(uint64_t)meta->share_bps * (uint64_t)meta->rtt_min_ps / 8000000;
    uint64_t packets = (uint64_t)(bytes * (uint64_t)config->share_headroom / UNITS_PPT / 1000000) /
                       (uint64_t)(config->common.payload + config->common.header);

    meta->cap = (uint32_t)CLAMP(packets, 1, UINT32_MAX / 2);
}

static void measure(struct metaroce *meta, struct path *path, const struct ack_header *ack)
{
    int64_t share_bps = (int64_t)ack->share_mbps * 1000000;
    bool changed = share_bps != meta->share_bps;

    if (ack->measured) {
        int64_t rtt_ps = now_of(meta) - ack->echo_ps;

        path->srtt_ps = path->srtt_ps ? path->srtt_ps + (rtt_ps - path->srtt_ps) / 8 : rtt_ps;
        meta->srtt_ps = path->srtt_ps;
        if (meta->rtt_min_ps == 0 || rtt_ps < meta->rtt_min_ps) {
            meta->rtt_min_ps = rtt_ps;
            changed = true;
        }
    }
    meta->share_bps = share_bps;
    if (changed)
        update_cap(meta);
}

static void adapt_window(struct metaroce *meta, struct path *path, const struct ack_header *ack,
                         int64_t n_acked, bool was_limited)
{
    struct cc_ack record = {.now_ps = now_of(meta),
                            .n_acked = n_acked,
                            .n_marked = (int64_t)(int32_t)(ack->marks - path->marks_heard),
                            .was_limited = was_limited};

    if (record.n_marked < 0) /* an older acknowledgement */
        record.n_marked = 0;
    else
        path->marks_heard = ack->marks;
    if (!config_of(meta)->ecn)
        record.n_marked = 0;
    if (record.n_marked > 0)
        path->marked_until_ps = record.now_ps + path->srtt_ps;
    cc_aimd.heard(&meta->rule, &path->cc, &record);
}

static void wake(struct metaroce *meta, struct path *path)
{
    if (meta->n_lost > 0 || (meta->capped && meta->in_flight < meta->cap)) {
        meta->capped = false;
        host_ready_all(&meta->connection, meta->senders, meta->n_senders);
    } else {
        host_ready(&meta->connection, sender_of(meta, path));
    }
}

/* All that was posted is acknowledged: rings that have grown are given back. */
static void rest(struct metaroce *meta)
{
    if (meta->csns_mask < FIRST_CSNS)
        return;
    for (uint32_t p = 0; p < meta->n_paths; p++)
        if (meta->paths[p].floor != meta->paths[p].next)
            return; /* a number that was not heard of, or a probe */
    for (uint32_t p = 0; p < meta->n_paths; p++) {
        if (meta->paths[p].sent_mask < FIRST_SENT)
            continue;
        g_clear_pointer(&meta->paths[p].sent, g_free);
        meta->paths[p].sent_mask = 0;
    }
    g_clear_pointer(&meta->csns, g_free);
    meta->csns_mask = 0;
}

static void hear(struct metaroce *meta, const struct ack_header *ack)
{
    const struct metaroce_config *config = config_of(meta);
    struct path *path = &meta->paths[ack->path];
    bool was_limited = 2 * path->in_flight >= path->window;

    if (path->dead) {
        path->dead = false;
        meta->n_returned++;
        cc_aimd.start(&meta->rule, &path->cc);
    }
    path->n_timeouts = 0;
    measure(meta, path, ack);
    int64_t n_acked = settle_received(meta, path, ack);

    adapt_window(meta, path, ack, n_acked, was_limited);
    if (config->gap_recovery && ack->top != ack->expected) /* else there is no gap */
        settle_gaps(meta, path, ack);
    take_window(path);
    settle_floor(path);
    if (meta->una == meta->next && !meta->first)
        rest(meta);
    if (path->in_flight > 0)
        arm(meta, path);
    if (config->rehash && path->n_since_rehash >= 64 && is_bad(meta, path))
        rehash(meta, path);
    wake(meta, path);
}

/* --- sender: timeouts, dead paths, probes
 * --------------------------------------------------------- */

static void lose_all(struct metaroce *meta, struct path *path)
{
    for (uint32_t number = path->floor; number != path->next; number++) {
        struct sent *sent = sent_at(path, number);

        if (sent->state == SENT_OUT && !(sent->resent && csn_at(meta, sent->csn)->state != CSN_OUT))
            number_lost(meta, path, sent);
    }
    settle_floor(path);
}

/* Leaves the path: what it lost may go anywhere. */
static void declare_dead(struct metaroce *meta, struct path *path)
{
    uint32_t csn, *n_lost = &meta->planes[path->nic].n_lost;

    path->dead = true;
    meta->n_dead++;
    while ((csn = lost_head(meta, &path->lost_first, &path->n_lost, n_lost)) != NO_CSN) {
        lost_pop(meta, &path->lost_first, &path->n_lost, n_lost);
        lost_push(meta, &meta->lost_first, &meta->lost_last, csn);
        meta->n_lost++;
    }
    for (uint32_t number = path->floor; number != path->next; number++)
        sent_at(path, number)->state = SENT_SETTLED;
    path->floor = path->next;
}

static void send_probe(struct metaroce *meta, struct path *path)
{
    const struct metaroce_config *config = config_of(meta);
    struct packet *packet;

    path->floor = path->next; /* an earlier probe is given up */
    packet = host_data_packet(&meta->connection, path->nic, path->source_port, 0,
                              (uint32_t)config->common.ack_bytes);
    packet->class = PACKET_CONTROL;
    *TRANSPORT_HEADER(struct data_header, packet) =
        (struct data_header){.kind = KIND_PROBE,
                             .ack_request = true,
                             .path = (uint16_t)path->number,
                             .csn = NO_CSN,
                             .number = take_number(path, NO_CSN, true),
                             .floor = path->floor,
                             .sent_ps = now_of(meta)};
    meta->n_probes++;
    look_at(meta, path, now_of(meta) + config->probe_interval);
    host_control(&meta->connection, meta->connection.src, path->nic, packet);
}

static void time_out(struct metaroce *meta, struct path *path)
{
    const struct metaroce_config *config = config_of(meta);
    struct sent *oldest = sent_at(path, path->floor);

    if (oldest->csn != NO_CSN)
        csn_at(meta, oldest->csn)->message->timeouts++;
    path->n_timeouts++;
    lose_all(meta, path);
    cc_aimd.timeout(&meta->rule, &path->cc);
    take_window(path);
    if (path->n_timeouts >= config->dead_timeouts && meta->n_paths > 1) {
        declare_dead(meta, path);
        if (config->probe)
            send_probe(meta, path);
        host_ready_all(&meta->connection, meta->senders, meta->n_senders);
        return;
    }
    if (config->rehash && path->n_timeouts >= config->rehash_timeouts)
        rehash(meta, path);
    host_ready(&meta->connection, sender_of(meta, path));
}

static void timer_fires(struct event_queue *queue, struct event *event)
{
    struct path *path = (struct path *)(void *)((char *)event - offsetof(struct path, timer));
    struct metaroce *meta = (struct metaroce *)(void *)path->connection;

    (void)queue;
    if (!path->dead && path->in_flight == 0)
        return;
    if (now_of(meta) < path->deadline_ps) {
        look_at(meta, path, path->deadline_ps);
        return;
    }
    if (!path->dead) {
        time_out(meta, path);
        return;
    }
    path->n_timeouts++;
    if (config_of(meta)->rehash && path->n_timeouts >= config_of(meta)->rehash_timeouts)
        rehash(meta, path);
    send_probe(meta, path);
}

/* --- receiver
 * ------------------------------------------------------------------------------------- */

static void shift_bits(struct path *path, uint32_t n)
{
    path->expected += n;
    if (n >= SACK_BITS) {
        memset(path->bits, 0, sizeof path->bits);
        return;
    }
    for (; n >= 64; n -= 64) {
        memmove(&path->bits[0], &path->bits[1], 3 * sizeof(uint64_t));
        path->bits[3] = 0;
    }
    for (int word = 0; n > 0 && word < 4; word++)
        path->bits[word] =
            path->bits[word] >> n | (word < 3 ? path->bits[word + 1] << (64 - n) : 0);
}

/* Takes note of a number; true if it opened a gap. */
static bool note_number(struct path *path, uint32_t number, uint32_t floor)
{
    bool gap;

    if ((int32_t)(floor - path->expected) > 0)
        shift_bits(path, floor - path->expected);
    if ((int32_t)(path->top - path->expected) < 0)
        path->top = path->expected;
    if (number == path->expected && number == path->top) { /* in order, and no bit is set */
        path->expected = path->top = number + 1;
        return false;
    }
    gap = (int32_t)(number - path->top) > 0;
    if ((int32_t)(number - path->top) >= 0)
        path->top = number + 1;
    uint32_t offset = number - path->expected;

    if (offset < SACK_BITS)
        path->bits[offset / 64] |= UINT64_C(1) << (offset % 64);
    while (path->bits[0] & 1)
        shift_bits(path, ~path->bits[0] ? (uint32_t)__builtin_ctzll(~path->bits[0]) : 64);
    return gap;
}

static void acknowledge(struct metaroce *meta, struct path *path, bool measured)
{
    const struct metaroce_config *config = config_of(meta);
    struct host *host = meta->connection.dst;
    struct packet *packet = host_reply_packet(&meta->connection, path->nic, path->reply_port,
                                              (uint32_t)config->common.ack_bytes);
    struct ack_header *ack = TRANSPORT_HEADER(struct ack_header, packet);
    int64_t share_mbps = host->n_inbound > 0 ? host->rate_bps / host->n_inbound / 1000000 : 0;

    *ack = (struct ack_header){.kind = KIND_ACK,
                               .measured = measured,
                               .path = (uint16_t)path->number,
                               .expected = path->expected,
                               .top = path->top,
                               .marks = path->marks_seen,
                               .share_mbps = (uint32_t)CLAMP(share_mbps, 1, UINT32_MAX),
                               .echo_ps = path->echo_ps};
    if (path->top != path->expected) /* else no bit is set */
        memcpy(ack->bits, path->bits, sizeof ack->bits);
    path->n_unacknowledged = 0;
    host_control(&meta->connection, host, path->nic, packet);
}

static void flush(struct metaroce *meta)
{
    for (uint32_t p = 0; p < meta->n_paths; p++)
        if (meta->paths[p].n_unacknowledged > 0)
            acknowledge(meta, &meta->paths[p], false);
}

static void ack_timer_fires(struct event_queue *queue, struct event *event)
{
    (void)queue;
    flush((struct metaroce *)(void *)((char *)event - offsetof(struct metaroce, ack_timer)));
}

static struct stream *stream_of(struct metaroce *meta, uint32_t number)
{
    if (number >= meta->n_streams) {
        meta->streams = g_renew(struct stream, meta->streams, number + 1);
        memset(&meta->streams[meta->n_streams], 0,
               (number + 1 - meta->n_streams) * sizeof(struct stream));
        meta->n_streams = number + 1;
    }
    return &meta->streams[number];
}

/* All of the message is placed: it is delivered in its stream's order, where there is one. */
static void message_whole(struct metaroce *meta, struct message *message)
{
    if (!config_of(meta)->ordered_streams) {
        meta->connection.dst_engine->up->delivered(message);
        return;
    }
    struct stream *stream = stream_of(meta, message->stream);
    struct message **place = &stream->waiting;

    while (*place && (*place)->mark[1] < message->mark[1])
        place = &(*place)->next;
    message->next = *place;
    *place = message;
    while (stream->waiting && stream->waiting->mark[1] == stream->delivered) {
        struct message *first = stream->waiting;

        stream->waiting = first->next;
        stream->delivered++;
        meta->connection.dst_engine->up->delivered(first);
    }
}

static void grow_received(struct metaroce *meta)
{
    uint32_t room = meta->received ? 2 * (meta->received_mask + 1) : 256;
    uint64_t *received = g_new0(uint64_t, room / 64);
    struct arrival *arrivals =
        config_of(meta)->placement == PLACE_IN_ORDER ? g_new0(struct arrival, room) : NULL;

    for (uint32_t i = 0; meta->received && i <= meta->received_mask; i++) {
        uint32_t csn = meta->expected_csn + i, old = csn & meta->received_mask;
        uint64_t bit = meta->received[old / 64] >> (old % 64) & 1;

        received[(csn & (room - 1)) / 64] |= bit << (csn % 64);
        if (arrivals)
            arrivals[csn & (room - 1)] = meta->arrivals[old];
    }
    g_free(meta->received);
    g_free(meta->arrivals);
    meta->received = received;
    meta->arrivals = arrivals;
    meta->received_mask = room - 1;
}

/* Moves past what has come without a hole; in-order placement places it only now. */
static void pass_received(struct metaroce *meta)
{
    for (;;) {
        uint32_t index = meta->expected_csn & meta->received_mask;

        if (!(meta->received[index / 64] >> (index % 64) & 1))
            return;
        meta->received[index / 64] &= ~(UINT64_C(1) << (index % 64));
        meta->expected_csn++;
        if (meta->arrivals) {
            struct arrival arrival = meta->arrivals[index];

            if (host_place(&meta->connection, arrival.message, arrival.nic, arrival.payload))
                message_whole(meta, arrival.message);
        }
    }
}

/* Places a packet's payload if it is new; true if a message is whole by it. */
static bool place(struct metaroce *meta, const struct path *path, const struct data_header *header,
                  uint32_t payload)
{
    uint32_t offset = header->csn - meta->expected_csn, index;
    int64_t before = header->message->received_bytes;

    while (!meta->received || ((int32_t)offset >= 0 && offset > meta->received_mask))
        grow_received(meta);
    index = header->csn & meta->received_mask;
    if ((int32_t)offset < 0 || meta->received[index / 64] >> (index % 64) & 1) {
        header->message->spurious_retransmissions++;
        meta->n_duplicates++;
        return false;
    }
    meta->received[index / 64] |= UINT64_C(1) << (index % 64);
    if (meta->arrivals)
        meta->arrivals[index] = (struct arrival){header->message, payload, path->nic};
    bool whole =
        !meta->arrivals && host_place(&meta->connection, header->message, path->nic, payload);

    if (whole)
        flush(meta);
    if (whole)
        message_whole(meta, header->message);
    pass_received(meta);
    return whole || (meta->arrivals && before < header->message->bytes &&
                     header->message->received_bytes == header->message->bytes);
}

static void take(struct metaroce *meta, struct packet *packet)
{
    const struct metaroce_config *config = config_of(meta);
    struct data_header header = *TRANSPORT_HEADER(struct data_header, packet);
    struct path *path = &meta->paths[header.path];
    bool marked = packet->ecn == PACKET_CE;
    uint32_t payload = packet->payload;

    path->reply_port = packet->source_port;
    path->echo_ps = header.sent_ps;
    packet_give(&meta->connection.dst_engine->pool, packet);
    bool old = (int32_t)(header.number - path->expected) < 0;
    bool gap = note_number(path, header.number, header.floor);
    bool edge = marked != path->last_marked;

    path->last_marked = marked;
    path->marks_seen += marked;
    path->n_unacknowledged++;
    host_active(meta->connection.dst, &meta->activity, config->share_window);
    if (header.kind == KIND_DATA)
        header.message->marked_packets += marked;
    if (gap || edge || old || header.ack_request || path->n_unacknowledged >= config->ack_every)
        acknowledge(meta, path, header.kind == KIND_DATA); /* a probe's is no packet's time */
    else if (!event_is_pending(&meta->ack_timer))
        engine_timer_set(meta->connection.dst_engine, &meta->ack_timer,
                         engine_now_ps(meta->connection.dst_engine) + config->ack_delay);
    if (header.kind == KIND_DATA && place(meta, path, &header, payload) && meta->arrivals)
        flush(meta);
}

static void receive(struct connection *connection, struct packet *packet)
{
    struct metaroce *meta = (struct metaroce *)connection;

    if (packet->header[0] == KIND_ACK) {
        struct ack_header ack = *TRANSPORT_HEADER(struct ack_header, packet);

        packet_give(&connection->engine->pool, packet);
        hear(meta, &ack);
        return;
    }
    take(meta, packet);
}

/* Reads only what does not change while the connection is open: the halves may run in two threads.
 */
static void fetch(const struct connection *connection, const struct packet *packet)
{
    const struct metaroce *meta = (const struct metaroce *)connection;
    const struct data_header *header = (const void *)packet->header;
    const struct path *path = &meta->paths[header->path]; /* at the same place in both headers */

    if (header->kind == KIND_ACK) {
        transport_fetch(path, offsetof(struct path, bits));
        transport_fetch(&meta->rule.increase, offsetof(struct metaroce, draws) -
                                                  offsetof(struct metaroce, rule.increase));
    } else {
        transport_fetch(path->bits, sizeof *path - offsetof(struct path, bits));
        transport_fetch(&meta->expected_csn,
                        sizeof *meta - offsetof(struct metaroce, expected_csn));
        transport_fetch(header->message, sizeof *header->message);
    }
}

/* --- set-up
 * --------------------------------------------------------------------------------------- */

static void derive_rule(struct metaroce *meta)
{
    const struct metaroce_config *config = config_of(meta);

    meta->rule = (struct cc_rule){.initial = config->window_initial * CC_ONE,
                                  .least = config->window_min * CC_ONE,
                                  .most = config->window_max * CC_ONE,
                                  .increase = config->increase / (UNITS_PPT / CC_ONE),
                                  .gain = config->gain,
                                  .halve = config->decrease == 1,
                                  .loss_halves = config->preset == PRESET_CUT};
}

static void open(struct connection *connection)
{
    struct metaroce *meta = (struct metaroce *)connection;
    const struct metaroce_config *config = connection->config;

    meta->n_paths = (uint32_t)config->paths;
    meta->n_senders = connection->n_nics;
    meta->last = &meta->first;
    meta->lost_first = NO_CSN;
    meta->cap = UINT32_MAX / 2;
    meta->draws = random_stream(connection->engine->seed, RANDOM_PATH, connection->key);
    derive_rule(meta);
    host_timer_init(connection->src, &meta->ack_timer, ack_timer_fires);
    meta->senders = g_new0(struct sender, meta->n_senders);
    meta->planes = g_new0(struct plane, meta->n_senders);
    for (uint32_t nic = 0; nic < meta->n_senders; nic++)
        host_sender_init(connection, &meta->senders[nic], nic, nic);
    uint32_t first = config->spray == SPRAY_SINGLE
                         ? (uint32_t)random_below(&meta->draws, connection->n_nics)
                         : 0;

    if (config->spray == SPRAY_SINGLE)
        meta->n_paths = 1;
    meta->paths = g_new0(struct path, meta->n_paths);
    for (uint32_t p = 0; p < meta->n_paths; p++) {
        struct path *path = &meta->paths[p];

        path->connection = connection;
        path->number = (uint16_t)p;
        path->nic = (uint16_t)((first + p) % connection->n_nics);
        path->lost_first = NO_CSN;
        path->source_port = FIRST_PORT + (uint32_t)random_below(&meta->draws, N_PORTS);
        if (meta->planes[path->nic].n_paths++ == 0)
            meta->planes[path->nic].first_path = p;
        cc_aimd.start(&meta->rule, &path->cc);
        take_window(path);
        host_timer_init(connection->src, &path->timer, timer_fires);
    }
}

static void close_connection(struct connection *connection)
{
    struct metaroce *meta = (struct metaroce *)connection;

    engine_timer_cancel(connection->dst_engine, &meta->ack_timer);
    for (uint32_t p = 0; p < meta->n_paths; p++) {
        engine_timer_cancel(connection->engine, &meta->paths[p].timer);
        g_free(meta->paths[p].sent);
    }
    for (uint32_t nic = 0; nic < meta->n_senders; nic++)
        host_sender_clear(connection, &meta->senders[nic]);
    g_free(meta->paths);
    g_free(meta->senders);
    g_free(meta->planes);
    g_free(meta->csns);
    g_free(meta->received);
    g_free(meta->arrivals);
    g_free(meta->posted);
    g_free(meta->streams);
}

/* --- on the wire -------------------------------------------------------------------------------
 * No format is published: this one is ours, for captures. docs/metaroce.lua takes it apart.
 */
#define UDP_PORT 47910
#define PS_IN_NS 1000

static uint8_t *put_head(uint8_t *bytes, enum kind kind, bool flag, uint16_t path)
{
    bytes = transport_put(bytes, kind, 1);
    bytes = transport_put(bytes, flag, 1);
    return transport_put(bytes, path, 2);
}

static uint8_t *put_ack(uint8_t *bytes, const struct ack_header *ack)
{
    bytes = put_head(bytes, KIND_ACK, ack->measured, ack->path);
    bytes = transport_put(bytes, ack->expected, 4);
    bytes = transport_put(bytes, ack->top - ack->expected, 2);
    bytes = transport_put(bytes, ack->marks, 4);
    bytes = transport_put(bytes, ack->share_mbps, 4);
    bytes = transport_put(bytes, (uint64_t)(ack->echo_ps / PS_IN_NS), 4);
    for (int word = SACK_BITS / 64 - 1; word >= 0; word--) /* as one number: bit 0 is `expected` */
        bytes = transport_put(bytes, ack->bits[word], 8);
    return bytes;
}

static uint8_t *put_data(uint8_t *bytes, const struct packet *packet,
                         const struct data_header *data)
{
    bool probe = data->kind == KIND_PROBE;

    bytes = put_head(bytes, (enum kind)data->kind, data->ack_request, data->path);
    bytes = transport_put(bytes, data->csn, 4);
    bytes = transport_put(bytes, data->number, 4);
    bytes = transport_put(bytes, data->floor, 4);
    bytes = transport_put(bytes, (uint64_t)(data->sent_ps / PS_IN_NS), 4);
    bytes = transport_put(bytes, probe ? 0 : data->message->stream, 4);
    bytes = transport_put(bytes, probe ? 0 : packet->flow, 8);
    bytes = transport_put(bytes, probe ? 0 : packet->sequence, 4);
    return transport_put(bytes, probe ? 0 : (uint64_t)data->message->bytes, 8);
}

static void encode(const struct packet *packet, uint8_t *bytes, struct transport_wire *wire)
{
    const void *header = packet->header;
    const uint8_t *end = *(const uint8_t *)header == KIND_ACK ? put_ack(bytes, header)
                                                              : put_data(bytes, packet, header);

    *wire = (struct transport_wire){
        .port = UDP_PORT, .ipv6 = true, .n_header = (uint32_t)(end - bytes)};
}

static const char *const totals[] = {"losses_seen_by_gap",
                                     "path_rehashes",
                                     "paths_declared_dead",
                                     "paths_returned",
                                     "probes_sent",
                                     "duplicate_arrivals",
                                     NULL};

static void report(const struct connection *connection, int64_t *sums)
{
    const struct metaroce *meta = (const struct metaroce *)connection;

    sums[0] += meta->n_gaps;
    sums[1] += meta->n_rehashes;
    sums[2] += meta->n_dead;
    sums[3] += meta->n_returned;
    sums[4] += meta->n_probes;
    sums[5] += meta->n_duplicates;
}

/* The window is that of all live paths, or the receiver's share where that is less. */
static void sample(const struct connection *connection, struct transport_sample *sample_out)
{
    const struct metaroce *meta = (const struct metaroce *)connection;
    int64_t payload = config_of(meta)->common.payload, window = 0;

    for (uint32_t p = 0; p < meta->n_paths; p++)
        window += meta->paths[p].dead ? 0 : meta->paths[p].window;
    sample_out->window_bytes = MIN(window, (int64_t)meta->cap) * payload;
    sample_out->in_flight_bytes = (int64_t)meta->in_flight * payload;
}

static gboolean check(const void *data, GError **error)
{
    const struct metaroce_config *config = data;
    const char *fault = NULL;

    if (config->window_min > config->window_max)
        fault = "window_min is above window_max";
    else if (config->window_initial > config->window_max ||
             config->window_initial < config->window_min)
        fault = "window_initial is outside window_min to window_max";
    else if (config->rto_min > config->rto_max)
        fault = "rto_min is above rto_max";
    if (!fault)
        return TRUE;
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "metaroce: %s", fault);
    return FALSE;
}

#define ROW(type_, member_, value_, least_, most_, choices_, help_, source_)                       \
    PARAM(type_, struct metaroce_config, member_, value_, least_, most_, choices_, help_, source_)

static const struct param metaroce_params[] = {
    TRANSPORT_COMMON_PARAMS(
        struct metaroce_config, "130B",
        "our choice: Ethernet 38, IPv6 40, UDP 8, transport 44 (SOURCES.md 1.5); "
        "no wire format is published",
        "140B", "our choice: Ethernet 38, IPv6 40, UDP 8, transport 22, bitmap 32"),
    ROW(NUMBER, paths, "16", "1", "4096", NULL,
        "Paths of a connection, spread evenly over its planes.",
        "our choice: 4 a plane at 4 planes (SOURCES.md 1.5)"),
    ROW(CHOICE, spray, "window", NULL, NULL, "window|rotate|single",
        "Next path: the clearest with most room, each in turn, or one path for all (spraying off).",
        "published: by window and state; the score is our choice"),
    ROW(NUMBER, choices, "4", "1", "4096", NULL,
        "spray = window: how many paths, next in rotation, are compared for each packet.",
        "our choice: the cost of a packet does not grow with the number of paths"),
    ROW(BOOL, steer, "on", NULL, NULL, NULL,
        "A path whose mark was echoed within its last round trip is passed over for clear ones.",
        "published; the duration is our choice"),
    ROW(NUMBER, ack_every, "4", "1", "64", NULL,
        "Packets of a path per acknowledgement; also on a gap, a change of marking, on request, "
        "and for all paths when a message is whole.",
        "our choice (SOURCES.md 1.5: every packet or every 4)"),
    ROW(TIME, ack_delay, "2us", "0ps", "1ms", NULL,
        "The longest that an acknowledgement waits for more packets.",
        "our choice: a fifth of a round trip of 10 us"),
    ROW(NUMBER, window_initial, "8", "1", "256", NULL, "First window of a path, packets.",
        "our choice: 16 paths x 8 x 4 KiB = 512 KiB, one BDP at 400G and 10 us"),
    ROW(NUMBER, window_min, "1", "1", "256", NULL, "Least window of a path, packets.",
        "our choice (SOURCES.md 1.5)"),
    ROW(NUMBER, window_max, "256", "1", "256", NULL, "Largest window of a path, packets.",
        "the bitmap has 256 bits"),
    ROW(RATIO, increase, "1", "0", "100", NULL,
        "Packets a path's window grows each round trip without a mark.",
        "our choice (SOURCES.md 1.5)"),
    ROW(CHOICE, decrease, "dctcp", NULL, NULL, "dctcp|halve",
        "Cut on a mark, once a window: by half the average share of marks, or by half.",
        "our choice; published: conventional ECN-based AIMD"),
    ROW(RATIO, gain, "0.0625", "0", "1", NULL, "g of the average share of marks.",
        "our choice: DCTCP's 1/16"),
    ROW(BOOL, ecn, "on", NULL, NULL, NULL, "React to echoed marks (windows and steering).",
        "published"),
    ROW(CHOICE, preset, "tail", NULL, NULL, "tail|cut",
        "Reading of the published loss figure: a loss cuts no window and only the tail waits, or a "
        "loss halves the path's window.",
        "our choice: unpublished; SOURCES.md 1.4 derives both"),
    ROW(BOOL, share, "on", NULL, NULL, NULL,
        "Obey the receiver's share: in flight at most share x least RTT x headroom.", "published"),
    ROW(TIME, share_window, "20us", "1ns", "1s", NULL,
        "A sender counts as active for this long after its last data.",
        "our choice: 2 RTT of 10 us (SOURCES.md 1.5)"),
    ROW(RATIO, share_headroom, "1.5", "0.1", "100", NULL,
        "Room above share x least RTT, for acknowledgements that wait for more packets.",
        "our choice: 16 paths hold back 24 packets, a fifth of a BDP of 119"),
    ROW(BOOL, gap_recovery, "on", NULL, NULL, NULL,
        "A gap is a loss, resent at once; off: only the timeout resends.", "published"),
    ROW(CHOICE, sequence, "fresh", NULL, NULL, "fresh|reuse",
        "A retransmission takes a fresh path number, or its old one (whose loss only the timeout "
        "finds).",
        "our choice: unpublished"),
    ROW(CHOICE, placement, "arrival", NULL, NULL, "arrival|in_order",
        "Place data on arrival, or hold it in a reorder buffer until all before it is there.",
        "published: on arrival"),
    ROW(BOOL, ordered_streams, "on", NULL, NULL, NULL,
        "Deliver the messages of one stream in order; off: each when it is whole.", "published"),
    ROW(NUMBER, rto_factor, "3", "1", "100", NULL, "Timeout of a path in smoothed RTTs.",
        "our choice (SOURCES.md 1.5)"),
    ROW(TIME, rto_min, "50us", "1us", "10s", NULL, "Least timeout of a path.",
        "our choice (SOURCES.md 1.5)"),
    ROW(TIME, rto_max, "10ms", "1us", "100s", NULL, "Largest timeout of a path, doubling included.",
        "our choice"),
    ROW(BOOL, rehash, "on", NULL, NULL, NULL, "Move a bad path to a new source port.", "published"),
    ROW(NUMBER, rehash_timeouts, "3", "1", "1000", NULL,
        "Timeouts or unanswered probes in a row after which a path takes a new source port.",
        "our choice (SOURCES.md 1.5)"),
    ROW(RATIO, rehash_loss, "0.1", "0", "1", NULL,
        "Loss of a path, averaged over about 64 packets, above which it moves, if it is also twice "
        "the connection's average.",
        "our choice (SOURCES.md 1.5); the second half keeps uniform loss from moving every path"),
    ROW(NUMBER, rehash_slow, "4", "1", "1000", NULL,
        "A path moves when its smoothed RTT is above this many times the least of all paths.",
        "our choice: published is only that a slow path moves"),
    ROW(BOOL, epoch, "on", NULL, NULL, NULL,
        "After a move, numbers sent by the old port are not proved lost by the new one.",
        "our choice: what Meta does is unpublished (SOURCES.md 1.4)"),
    ROW(NUMBER, dead_timeouts, "2", "1", "1000", NULL,
        "Timeouts in a row after which a path is dead and what it lost goes elsewhere.",
        "our choice (SOURCES.md 1.5)"),
    ROW(BOOL, probe, "on", NULL, NULL, NULL, "Probe dead paths, and return to those that answer.",
        "published"),
    ROW(TIME, probe_interval, "100us", "1us", "10s", NULL, "Time between probes of a dead path.",
        "our choice (SOURCES.md 1.5)"),
    ROW(CHOICE, verb, "write", NULL, NULL, "write|send",
        "Write carries its address; Send carries its match to a posted receive in each packet.",
        "published"),
    ROW(BYTES, match_bytes, "16B", "0B", "256B", NULL,
        "Wire bytes of that match in each packet of a Send.", "our choice"),
    PARAM_END,
};

static const char *const receiver_params[] = {"ack_every", "ack_delay",       "share_window",
                                              "placement", "ordered_streams", NULL};

static int64_t frame_bytes(const void *configuration)
{
    const struct metaroce_config *config = configuration;

    return config->common.payload + config->common.header +
           (config->verb ? config->match_bytes : 0);
}

/*
 * Windows begin at window_initial, and the receiver's share soon caps what they grow to. A path
 * seldom gets ack_every packets within ack_delay: 0.7 to 1 replies a packet were measured. Rings
 * span more than is in flight, since some paths are late.
 */
static void tell_need(const void *values, struct transport_need *need)
{
    const struct metaroce_config *config = values;
    int64_t n_paths = config->spray == SPRAY_SINGLE ? 1 : config->paths;
    int64_t n_each = MIN(4 * (need->n_out / n_paths + 1), SACK_BITS);
    int64_t n_csns = MIN(5 * need->n_out / 2, need->n_posted);

    need->bytes = (double)(sizeof(struct metaroce) + sizeof(struct stream) + SACK_BITS / 8) +
                  (double)need->n_ports * (sizeof(struct sender) + sizeof(struct plane)) +
                  (double)n_paths * sizeof(struct path) +
                  (double)(MIN(n_paths, need->n_posted) * transport_ring(FIRST_SENT, n_each)) *
                      sizeof(struct sent) +
                  (double)transport_ring(FIRST_CSNS, n_csns) * sizeof(struct csn);
    need->n_replies = n_paths > 1 ? 0.9 : 1.0 / (double)config->ack_every;
    need->work = 1.3;
    need->window_packets = n_paths * config->window_initial;
    need->n_nics = MIN(n_paths, need->n_ports);
    need->share = config->share ? (double)config->share_headroom / (double)UNITS_PPT : 0;
}

const struct transport_ops transport_metaroce = {
    .name = "metaroce",
    .summary = "MetaRoCE: many paths, gap is loss, window per path, receiver's share, probing.",
    .source = "Meta Engineering, 2026-08-24 (SOURCES.md 1); unpublished constants are our choice",
    .config_size = sizeof(struct metaroce_config),
    .params = metaroce_params,
    .connection_size = sizeof(struct metaroce),
    .check = check,
    .open = open,
    .close = close_connection,
    .post = post,
    .pull = pull,
    .receive = receive,
    .fetch = fetch,
    .totals = totals,
    .report = report,
    .receiver_params = receiver_params,
    .sample = sample,
    .frame_bytes = frame_bytes,
    .need = tell_need,
    .encode = encode,
};
