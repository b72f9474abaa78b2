/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCEv2 reliable connections.
 *
 * Modelled: queue pairs with 24-bit PSNs; a message split over the pairs or given to them in
 * rotation; a queue pair stays on one plane and one UDP source port; go-back-N with a NAK per
 * sequence error, duplicates, ACK coalescing; selective repeat as an option; the timeout
 * 4.096 us x 2^t with a retry limit, and IRN's short one for few packets in flight; a window per
 * connection and, by `cc`, a rate per queue pair, with congestion notifications (CNP) from the
 * receiver, at most one an interval and queue pair; a bonded NIC, as an option.
 * Left out: reads and atomics, receiver-not-ready NAKs, end-to-end credits, the cost of queue pair
 * and work-request processing.
 *
 * Go-back-N: the receiver takes packets in order only. On a gap it sends one NAK with the expected
 * PSN, and no other until that PSN has come (InfiniBand Architecture 1.x, 9.7.5; so a lost head of
 * a retransmission waits for the timeout). nak = descent answers whenever a PSN arrives that is not
 * above the one before, which is the receiver of the closed form (1-p)/(1-p+pW).
 *
 * Selective repeat: the receiver takes any packet and answers a gap with the PSNs it has (256
 * bits). A queue pair's path is FIFO, so whatever was transmitted before a packet that has arrived,
 * and has not itself arrived, is lost - also a retransmission (order of transmissions, as in RACK,
 * RFC 8985). Known lost packets do not count as in flight. Source: SOURCES.md 3.3, 3.6 and 9.2.
 */
#include "models/cc.h"
#include "models/host.h"
#include "sim/core/units.h"
#include <string.h>

#define PSN_MASK    0xffffffu
#define MAX_QPS     32
#define SACK_BITS   256
#define SR_RANGE    4096 /* PSNs between the oldest unacknowledged and the newest; power of two */
#define FIRST_SLOTS 32
#define OPEN_WINDOW (INT64_C(1) << 22) /* "no window": half the PSN space bounds it */
#define FIRST_PORT  49152u
#define N_PORTS     16384u

enum { GO_BACK_N, SELECTIVE_REPEAT };
enum { NAK_ONCE, NAK_DESCENT };
enum { SPLIT, ROTATE };
enum { COUNTS_FLIGHT, COUNTS_SEQUENCE };
enum { RESENT_BY_ORDER, RESENT_BY_TIMEOUT };

struct rocev2_config {
    struct transport_common common;
    int64_t queue_pairs, spread, window, recovery, nak, ack_every;
    int64_t timeout_exponent, rto, rto_low, rto_low_packets, rto_backoff, retry_limit;
    int64_t window_counts, lost_resent; /* selective repeat */
    int64_t bond, bond_delay, bond_timeouts;
    struct cc_config cc;
};

/*
 * A bonded NIC: bond_delay after the link of a NIC port has gone down, the queue pairs at home
 * there go to the ports that are up, in turn, and send again what was on its way; bond_delay after
 * it has come back they return. Of the far end a NIC sees nothing: for a fault there, or in
 * between, a queue pair may leave its port for good after bond_timeouts timeouts in a row. What is
 * on its way when a queue pair moves arrives out of order, and is taken for lost.
 */
struct bond {
    struct host_watch watch;
    struct rocev2 *roce;
    struct event timer;
    bool down[]; /* by NIC, as the bond has it */
};

/* A run of PSNs that carries (a part of) one message. */
struct segment {
    struct message *message;
    uint64_t first; /* PSN, not wrapped */
    uint64_t n_packets;
    int64_t bytes;
    uint64_t sequence; /* of its first packet in the message */
};

struct ring64 { /* a growing FIFO of numbers */
    uint64_t *items;
    uint32_t mask, head, tail;
};

enum slot_state { SLOT_OUT, SLOT_LOST, SLOT_DONE };

struct slot {       /* selective repeat: one PSN that was sent */
    uint64_t order; /* of its last transmission */
    enum slot_state state;
    bool resent; /* more than once transmitted */
};

/* Selective repeat's part of a queue pair. */
struct repeat {
    /* sender */
    struct slot *slots; /* ring by PSN */
    uint32_t slots_mask;
    struct ring64 sent, lost; /* PSN by order of transmission; PSNs to send again */
    uint64_t first_order;     /* order of the head of `sent` */
    /* receiver */
    uint64_t highest_received;
    uint64_t received[SR_RANGE / 64]; /* bits by PSN */
};

struct qp {
    /* sender */
    uint64_t una, next, end; /* oldest unacknowledged, next to send, behind the last posted */
    uint64_t highest;        /* behind the highest ever sent */
    int64_t in_flight;
    struct segment *segments;                              /* unacknowledged ones, oldest first */
    uint32_t n_segments, segments_room, first_segment, at; /* at: that of `next` */
    struct event timer;
    int64_t deadline_ps, timer_ps; /* when the timeout is due; when the timer event looks */
    int64_t n_retries;             /* timeouts in a row */
    const struct cc_rule *rule;
    CC_WITH_STATE(CC_STATE_BYTES);
    uint32_t source_port;
    bool failed;
    uint16_t home; /* NIC port on which it would be */
    /* receiver */
    uint64_t expected;
    int64_t last_offset; /* of the previous arrival from `expected` at that time, made absolute */
    bool nak_sent;
    int64_t n_unacknowledged;
    int64_t notify_after_ps; /* no CNP before this instant */
    struct repeat *repeat;   /* NULL: go-back-N */
};

struct rocev2 {
    struct connection connection;
    uint32_t n_qps, turn;
    struct sender *senders;
    struct qp *qps;
    const struct cc_ops *cc;
    struct cc_rule *rules; /* by NIC, or one for all that are alike */
    uint32_t n_rules;
    int64_t rto_ps;
    int64_t rto_less_ps; /* by how much the timeout for few packets in flight is shorter */
    struct bond *bond;   /* NULL: off */
    int64_t n_naks, n_nak_rewinds, n_cnps, n_moves;
};

enum kind { KIND_DATA, KIND_ACK, KIND_NAK, KIND_SACK, KIND_CNP };

struct header {
    struct message *message;
    uint32_t psn;  /* data: this one; answers: the next expected */
    uint32_t base; /* first PSN of the bits */
    uint16_t qp;
    uint8_t kind;
    bool ack_request;
    uint16_t nic; /* data: by which it was sent, and is answered */
    uint64_t bits[SACK_BITS / 64];
};
G_STATIC_ASSERT(sizeof(struct header) <= PACKET_HEADER_BYTES);

/* The whole PSN nearest to `reference` whose low 24 bits are `psn`. */
static inline uint64_t psn_unwrap(uint32_t psn, uint64_t reference)
{
    uint32_t distance = (psn - (uint32_t)reference) & PSN_MASK;

    return reference + distance - (distance & 0x800000 ? 0x1000000 : 0);
}

/* --- FIFO of numbers -------------------------------------------------------------------------- */

static void ring_push(struct ring64 *ring, uint64_t item)
{
    if (!ring->items || ring->tail - ring->head > ring->mask) {
        uint32_t room = ring->items ? 2 * (ring->mask + 1) : 16;
        uint64_t *items = g_new(uint64_t, room);

        for (uint32_t i = ring->head; i != ring->tail; i++)
            items[i & (room - 1)] = ring->items[i & ring->mask];
        g_free(ring->items);
        ring->items = items;
        ring->mask = room - 1;
    }
    ring->items[ring->tail++ & ring->mask] = item;
}

static inline bool ring_empty(const struct ring64 *ring)
{
    return ring->head == ring->tail;
}

static inline uint64_t ring_pop(struct ring64 *ring)
{
    return ring->items[ring->head++ & ring->mask];
}

/* --- sender ----------------------------------------------------------------------------------- */

static inline const struct rocev2_config *config_of(const struct rocev2 *roce)
{
    return roce->connection.config;
}

static const struct cc_rule *rule_of(const struct rocev2 *roce, uint32_t nic)
{
    return &roce->rules[nic < roce->n_rules ? nic : 0];
}

static inline struct segment *segment_at(struct qp *qp, uint32_t index)
{
    return &qp->segments[(qp->first_segment + index) & (qp->segments_room - 1)];
}

static inline int64_t window_packets(const struct qp *qp)
{
    return qp->cc.window / CC_ONE;
}

/* IRN: the timeout is due earlier, but not before now, while few packets are in flight. */
static int64_t due_by_flight_ps(const struct rocev2 *roce, const struct qp *qp)
{
    const struct rocev2_config *config = config_of(roce);
    int64_t in_flight =
        config->recovery == SELECTIVE_REPEAT ? qp->in_flight : (int64_t)(qp->next - qp->una);

    if (in_flight > config->rto_low_packets)
        return qp->deadline_ps;
    return MAX(qp->deadline_ps - roce->rto_less_ps, engine_now_ps(roce->connection.engine));
}

/* When the timeout is due, as things are. */
static inline int64_t due_ps(const struct rocev2 *roce, const struct qp *qp)
{
    return roce->rto_less_ps ? due_by_flight_ps(roce, qp) : qp->deadline_ps;
}

/* The timer looks at the timeout no later than it is due. */
static inline void set_timer(struct rocev2 *roce, struct qp *qp)
{
    int64_t at_ps = due_ps(roce, qp);

    if (!event_is_pending(&qp->timer) || qp->timer_ps > at_ps) {
        qp->timer_ps = at_ps;
        engine_timer_set(roce->connection.engine, &qp->timer, at_ps);
    }
}

static void arm(struct rocev2 *roce, struct qp *qp)
{
    qp->deadline_ps = engine_now_ps(roce->connection.engine) + roce->rto_ps;
    if (config_of(roce)->rto_backoff)
        qp->deadline_ps += (roce->rto_ps << MIN(qp->n_retries, 6)) - roce->rto_ps;
    set_timer(roce, qp);
}

static void add_segment(struct qp *qp, struct message *message, uint64_t sequence,
                        uint64_t n_packets, int64_t bytes)
{
    if (qp->n_segments == qp->segments_room) {
        uint32_t room = qp->segments_room ? 2 * qp->segments_room : 1;
        struct segment *segments = g_new(struct segment, room);

        for (uint32_t i = 0; i < qp->n_segments; i++)
            segments[i] = *segment_at(qp, i);
        g_free(qp->segments);
        qp->segments = segments;
        qp->segments_room = room;
        qp->first_segment = 0;
    }
    *segment_at(qp, qp->n_segments++) =
        (struct segment){message, qp->end, n_packets, bytes, sequence};
    qp->end += n_packets;
}

static void fail_qp(struct rocev2 *roce, struct qp *qp)
{
    qp->failed = true;
    engine_timer_cancel(roce->connection.engine, &qp->timer);
    for (uint32_t i = 0; i < qp->n_segments; i++) {
        struct message *message = segment_at(qp, i)->message;

        if (!message->failed)
            roce->connection.engine->up->failed(message, "retry limit reached");
    }
    qp->n_segments = 0;
    qp->next = qp->una = qp->end;
    if (qp->repeat)
        qp->repeat->lost.head = qp->repeat->lost.tail;
}

static void post(struct connection *connection, struct message *message)
{
    struct rocev2 *roce = (struct rocev2 *)connection;
    const struct rocev2_config *config = connection->config;
    int64_t n_packets = transport_n_packets(message->bytes, config->common.payload);
    int64_t n_parts = config->spread == ROTATE ? 1 : MIN(n_packets, (int64_t)roce->n_qps);
    bool failed = false;

    message->mark[0] = (uint64_t)n_parts; /* segments not yet acknowledged */
    for (int64_t part = 0; part < n_parts; part++) {
        int64_t first = n_packets * part / n_parts, last = n_packets * (part + 1) / n_parts;
        int64_t bytes =
            MIN(last * config->common.payload, message->bytes) - first * config->common.payload;
        struct qp *qp = &roce->qps[(roce->turn + part) % roce->n_qps];

        failed |= qp->failed;
        if (!qp->failed)
            add_segment(qp, message, (uint64_t)first, (uint64_t)(last - first), bytes);
    }
    roce->turn = (roce->turn + 1) % roce->n_qps;
    if (failed) {
        connection->engine->up->failed(message, "queue pair in error state");
        return;
    }
    host_ready_all(connection, roce->senders, roce->n_qps);
}

/* Builds the packet of PSN `psn`, which lies in `segment`. */
static struct packet *make_data(struct rocev2 *roce, struct qp *qp, const struct sender *sender,
                                const struct segment *segment, uint64_t psn, bool ack_request)
{
    const struct rocev2_config *config = config_of(roce);
    uint64_t index = psn - segment->first;
    int64_t payload = index + 1 < segment->n_packets
                          ? config->common.payload
                          : segment->bytes - (int64_t)index * config->common.payload;
    struct packet *packet = host_data_packet(&roce->connection, sender->nic, qp->source_port,
                                             (uint32_t)payload, (uint32_t)config->common.header);
    struct header *header = TRANSPORT_HEADER(struct header, packet);

    host_name_packet(packet, segment->message, (uint32_t)(segment->sequence + index));
    header->message = segment->message;
    header->psn = (uint32_t)psn & PSN_MASK;
    header->qp = (uint16_t)sender->index;
    header->nic = (uint16_t)sender->nic;
    header->kind = KIND_DATA;
    header->ack_request = ack_request;
    segment->message->packets++;
    if (psn < qp->highest)
        host_resent(&roce->connection, segment->message, payload);
    else
        qp->highest = psn + 1;
    return packet;
}

/* The segment of a PSN not below una: near the cursor, or searched from the oldest. */
static struct segment *find_segment(struct qp *qp, uint64_t psn)
{
    struct segment *segment;

    if (qp->at >= qp->n_segments || segment_at(qp, qp->at)->first > psn)
        qp->at = 0;
    segment = segment_at(qp, qp->at);
    while (psn >= segment->first + segment->n_packets)
        segment = segment_at(qp, ++qp->at);
    return segment;
}

static struct packet *pull_go_back_n(struct rocev2 *roce, struct qp *qp, struct sender *sender)
{
    if (qp->next == qp->end || (int64_t)(qp->next - qp->una) >= window_packets(qp))
        return NULL;
    struct segment *segment = find_segment(qp, qp->next);
    bool last = qp->next + 1 == segment->first + segment->n_packets;
    bool full = (int64_t)(qp->next + 1 - qp->una) >= window_packets(qp);

    if (qp->next == qp->una)
        arm(roce, qp);
    return make_data(roce, qp, sender, segment, qp->next++, last || full);
}

static struct slot *slot_of(struct qp *qp, uint64_t psn)
{
    return &qp->repeat->slots[psn & qp->repeat->slots_mask];
}

static void grow_slots(struct qp *qp)
{
    struct repeat *repeat = qp->repeat;
    uint32_t room = repeat->slots ? 2 * (repeat->slots_mask + 1) : FIRST_SLOTS;
    struct slot *slots = g_new0(struct slot, room);

    for (uint64_t psn = qp->una; psn < qp->next; psn++)
        slots[psn & (room - 1)] = *slot_of(qp, psn);
    g_free(repeat->slots);
    repeat->slots = slots;
    repeat->slots_mask = room - 1;
}

/* The next PSN to send: a lost one first, then a new one; false if there is none. */
static bool choose_psn(const struct rocev2 *roce, struct qp *qp, uint64_t *psn)
{
    struct repeat *repeat = qp->repeat;

    while (!ring_empty(&repeat->lost)) {
        *psn = repeat->lost.items[repeat->lost.head & repeat->lost.mask];
        if (*psn >= qp->una && slot_of(qp, *psn)->state == SLOT_LOST)
            break;
        ring_pop(&repeat->lost);
    }
    if (qp->in_flight >= window_packets(qp))
        return false;
    if (!ring_empty(&repeat->lost)) {
        ring_pop(&repeat->lost);
        return true;
    }
    if (qp->next == qp->end || qp->next - qp->una >= SR_RANGE)
        return false;
    if (config_of(roce)->window_counts == COUNTS_SEQUENCE &&
        (int64_t)(qp->next - qp->una) >= window_packets(qp))
        return false;
    *psn = qp->next++;
    return true;
}

static struct packet *pull_selective(struct rocev2 *roce, struct qp *qp, struct sender *sender)
{
    struct repeat *repeat = qp->repeat;
    uint64_t psn;

    if (qp->next - qp->una >= (uint64_t)(repeat->slots ? repeat->slots_mask + 1 : 0))
        grow_slots(qp);
    if (!choose_psn(roce, qp, &psn))
        return NULL;
    struct segment *segment = find_segment(qp, psn);
    bool last = psn + 1 == segment->first + segment->n_packets;

    if (qp->in_flight++ == 0)
        arm(roce, qp);
    *slot_of(qp, psn) = (struct slot){repeat->first_order + (repeat->sent.tail - repeat->sent.head),
                                      SLOT_OUT, psn < qp->highest};
    ring_push(&repeat->sent, psn);
    return make_data(roce, qp, sender, segment, psn,
                     last || psn + 1 < qp->highest || qp->in_flight >= window_packets(qp));
}

static inline struct packet *pull_by_recovery(struct rocev2 *roce, struct qp *qp,
                                              struct sender *sender)
{
    return config_of(roce)->recovery == SELECTIVE_REPEAT ? pull_selective(roce, qp, sender)
                                                         : pull_go_back_n(roce, qp, sender);
}

/*
 * The gap after a packet: its wire bytes at the rate of now. A sender so slow that coalesced
 * acknowledgements would come after its timeout asks for one with each packet. Out of the way of
 * those unpaced.
 */
static G_GNUC_NO_INLINE struct packet *pull_paced(struct rocev2 *roce, struct qp *qp,
                                                  struct sender *sender)
{
    int64_t now_ps = engine_now_ps(roce->connection.engine);
    struct packet *packet = pull_by_recovery(roce, qp, sender);

    if (!packet)
        return NULL;
    roce->cc->sent(qp->rule, &qp->cc, now_ps, packet->bytes);
    int64_t gap_ps = units_transmission_ps(packet->bytes, qp->cc.rate_bps);

    if (gap_ps * config_of(roce)->ack_every > (roce->rto_ps - roce->rto_less_ps) / 2)
        TRANSPORT_HEADER(struct header, packet)->ack_request = true;
    sender->not_before_ps = now_ps + gap_ps;
    return packet;
}

static struct packet *pull(struct connection *connection, struct sender *sender)
{
    struct rocev2 *roce = (struct rocev2 *)connection;
    struct qp *qp = &roce->qps[sender->index];

    return qp->cc.rate_bps ? pull_paced(roce, qp, sender) : pull_by_recovery(roce, qp, sender);
}

/* Drops segments that lie wholly below una; messages without a segment left are acknowledged. */
static void settle_segments(struct rocev2 *roce, struct qp *qp)
{
    while (qp->n_segments > 0) {
        struct segment segment = *segment_at(qp, 0);

        if (segment.first + segment.n_packets > qp->una)
            return;
        qp->first_segment = (qp->first_segment + 1) & (qp->segments_room - 1);
        qp->n_segments--;
        qp->at = qp->at > 0 ? qp->at - 1 : 0;
        if (--segment.message->mark[0] == 0 && !segment.message->failed)
            roce->connection.engine->up->acknowledged(segment.message);
    }
}

/* All that was posted is acknowledged: rings that have grown are given back. */
static void rest(struct repeat *repeat)
{
    if (repeat->slots_mask < FIRST_SLOTS)
        return;
    repeat->first_order += repeat->sent.tail - repeat->sent.head;
    g_free(repeat->slots);
    g_free(repeat->sent.items);
    g_free(repeat->lost.items);
    repeat->slots = NULL;
    repeat->slots_mask = 0;
    repeat->sent = repeat->lost = (struct ring64){NULL, 0, 0, 0};
}

/* Everything below `cumulative` has arrived. */
static void advance(struct rocev2 *roce, struct qp *qp, uint64_t cumulative)
{
    if (roce->cc->heard) {
        struct cc_ack ack = {.now_ps = engine_now_ps(roce->connection.engine),
                             .n_acked = (int64_t)(cumulative - qp->una)};

        roce->cc->heard(qp->rule, &qp->cc, &ack);
    }
    qp->una = cumulative;
    if (qp->next < cumulative)
        qp->next = cumulative;
    qp->n_retries = 0;
    arm(roce, qp);
    settle_segments(roce, qp);
}

static void mark_done(struct qp *qp, uint64_t psn, uint64_t *newest)
{
    struct slot *slot = slot_of(qp, psn);

    if (slot->state == SLOT_DONE)
        return;
    qp->in_flight -= slot->state == SLOT_OUT;
    slot->state = SLOT_DONE;
    if (slot->order >= *newest)
        *newest = slot->order + 1;
}

/* What was transmitted before `newest` and has not arrived is lost: the path is FIFO. */
static void mark_lost_before(const struct rocev2 *roce, struct qp *qp, uint64_t newest)
{
    struct repeat *repeat = qp->repeat;

    while (repeat->first_order < newest && !ring_empty(&repeat->sent)) {
        uint64_t psn = ring_pop(&repeat->sent), order = repeat->first_order++;
        struct slot *slot = slot_of(qp, psn);

        if (psn < qp->una || slot->state != SLOT_OUT || slot->order != order)
            continue;
        if (slot->resent && config_of(roce)->lost_resent == RESENT_BY_TIMEOUT)
            continue; /* stays in flight until it is heard of or the timeout */
        slot->state = SLOT_LOST;
        qp->in_flight--;
        ring_push(&repeat->lost, psn);
    }
}

static void hear_selective(struct rocev2 *roce, struct qp *qp, const struct header *header)
{
    uint64_t cumulative = psn_unwrap(header->psn, qp->una), newest = 0;
    uint64_t base = psn_unwrap(header->base, cumulative);

    for (uint64_t psn = qp->una; psn < cumulative && psn < qp->next; psn++)
        mark_done(qp, psn, &newest);
    for (int word = 0; header->kind == KIND_SACK && word < SACK_BITS / 64; word++)
        for (uint64_t bits = header->bits[word]; bits; bits &= bits - 1) {
            uint64_t psn = base + (uint64_t)(64 * word + __builtin_ctzll(bits));

            if (psn >= qp->una && psn < qp->next)
                mark_done(qp, psn, &newest);
        }
    mark_lost_before(roce, qp, newest);
    if (cumulative > qp->una)
        advance(roce, qp, cumulative);
    if (qp->una == qp->end)
        rest(qp->repeat);
}

static void hear_go_back_n(struct rocev2 *roce, struct qp *qp, const struct header *header)
{
    uint64_t cumulative = psn_unwrap(header->psn, qp->una);

    if (cumulative > qp->una && cumulative <= qp->highest)
        advance(roce, qp, cumulative);
    if (header->kind == KIND_NAK && cumulative == qp->una && qp->next > cumulative) {
        roce->n_nak_rewinds++;
        qp->next = cumulative;
        arm(roce, qp);
    }
}

static void hear(struct rocev2 *roce, const struct header *header)
{
    struct qp *qp = &roce->qps[header->qp];

    if (qp->failed)
        return;
    if (header->kind == KIND_CNP) {
        roce->cc->notified(qp->rule, &qp->cc, engine_now_ps(roce->connection.engine));
        return;
    }
    if (config_of(roce)->recovery == SELECTIVE_REPEAT)
        hear_selective(roce, qp, header);
    else
        hear_go_back_n(roce, qp, header);
    if (roce->rto_less_ps && event_is_pending(&qp->timer))
        set_timer(roce, qp);
    host_ready(&roce->connection, &roce->senders[header->qp]);
}

static void rewind_all(struct qp *qp)
{
    struct repeat *repeat = qp->repeat;

    for (uint64_t psn = qp->una; psn < qp->next; psn++) {
        struct slot *slot = slot_of(qp, psn);

        if (slot->state == SLOT_OUT) {
            slot->state = SLOT_LOST;
            ring_push(&repeat->lost, psn);
        }
    }
    qp->in_flight = 0;
    repeat->first_order += repeat->sent.tail - repeat->sent.head;
    repeat->sent.head = repeat->sent.tail;
}

/* What is on its way counts as lost. */
static void send_again(struct rocev2 *roce, struct qp *qp)
{
    if (config_of(roce)->recovery == SELECTIVE_REPEAT)
        rewind_all(qp);
    else
        qp->next = qp->una;
    arm(roce, qp);
}

static void move_qp(struct rocev2 *roce, struct qp *qp, uint32_t nic)
{
    struct sender *sender = &roce->senders[qp - roce->qps];

    if (qp->failed || sender->nic == nic)
        return;
    host_sender_move(&roce->connection, sender, nic);
    qp->rule = rule_of(roce, nic);
    roce->n_moves++;
}

/* The port for a queue pair at home on `home`: that, or of those that are up one by its number. */
static uint32_t port_for(const struct rocev2 *roce, uint32_t home, uint32_t number)
{
    uint32_t n_nics = roce->connection.n_nics, n_up = 0;

    for (uint32_t nic = 0; nic < n_nics; nic++)
        n_up += !roce->bond->down[nic];
    if (!roce->bond->down[home] || n_up == 0)
        return home;
    for (uint32_t nic = home + 1, turn = number % n_up;; nic++)
        if (!roce->bond->down[nic % n_nics] && turn-- == 0)
            return nic % n_nics;
}

/* Takes over the state of links that has lasted; looks again when that of others will have. */
static void bond_look(struct bond *bond)
{
    struct connection *connection = &bond->roce->connection;
    int64_t now_ps = engine_now_ps(connection->engine), next_ps = INT64_MAX;

    for (uint32_t nic = 0; nic < connection->n_nics; nic++) {
        const struct host_nic *port = &connection->src->nics[nic];
        int64_t lasted_ps = port->changed_ps + config_of(bond->roce)->bond_delay;

        if (lasted_ps <= now_ps)
            bond->down[nic] = port->down;
        else if (port->down != bond->down[nic])
            next_ps = MIN(next_ps, lasted_ps);
    }
    if (next_ps < INT64_MAX)
        engine_timer_set(connection->engine, &bond->timer, next_ps);
}

/* Takes no step itself: the fabric is in the middle of one. */
static void bond_changed(struct host_watch *watch)
{
    struct bond *bond = (struct bond *)(void *)watch;
    struct engine *engine = bond->roce->connection.engine;
    int64_t at_ps = engine_now_ps(engine) + config_of(bond->roce)->bond_delay;

    if (!event_is_pending(&bond->timer))
        engine_timer_set(engine, &bond->timer, at_ps);
}

static void bond_fires(struct event_queue *queue, struct event *event)
{
    struct bond *bond = (struct bond *)(void *)((char *)event - offsetof(struct bond, timer));
    struct rocev2 *roce = bond->roce;

    (void)queue;
    bond_look(bond);
    for (uint32_t index = 0; index < roce->n_qps; index++) {
        struct qp *qp = &roce->qps[index];
        uint32_t before = roce->senders[index].nic;

        move_qp(roce, qp, port_for(roce, qp->home, index));
        if (roce->senders[index].nic == before)
            continue;
        if (bond->down[before] && qp->una < qp->next)
            send_again(roce, qp);
        host_ready(&roce->connection, &roce->senders[index]);
    }
}

/* After timeouts in a row a queue pair tries the next port, and has its home there. */
static void bond_timed_out(struct rocev2 *roce, struct qp *qp)
{
    const struct rocev2_config *config = config_of(roce);
    uint32_t index = (uint32_t)(qp - roce->qps), nic = roce->senders[index].nic;

    if (!config->bond_timeouts || qp->n_retries % config->bond_timeouts != 0)
        return;
    qp->home = (uint16_t)((nic + 1) % roce->connection.n_nics);
    move_qp(roce, qp, port_for(roce, qp->home, index));
}

static void timer_fires(struct event_queue *queue, struct event *event)
{
    struct qp *qp = (struct qp *)(void *)((char *)event - offsetof(struct qp, timer));
    struct engine *engine = engine_of(queue);

    if (qp->una >= qp->highest) /* all acknowledged */
        return;
    struct rocev2 *roce = (struct rocev2 *)segment_at(qp, 0)->message->connection;

    if (engine_now_ps(engine) < due_ps(roce, qp)) { /* progress since it was set */
        set_timer(roce, qp);
        return;
    }

    segment_at(qp, 0)->message->timeouts++;
    roce->connection.may_fail = true;
    if (++qp->n_retries > config_of(roce)->retry_limit) {
        fail_qp(roce, qp);
        return;
    }
    if (roce->cc->timeout)
        roce->cc->timeout(qp->rule, &qp->cc);
    if (roce->bond)
        bond_timed_out(roce, qp);
    send_again(roce, qp);
    host_ready(&roce->connection, &roce->senders[qp - roce->qps]);
}

/* --- receiver --------------------------------------------------------------------------------- */

/* The bits of a SACK: from the expected PSN on, or so that they end with the one that came. */
static void fill_bits(const struct qp *qp, struct header *header, uint64_t arrived)
{
    const struct repeat *repeat = qp->repeat;
    uint64_t base = qp->expected;

    if (arrived >= base + SACK_BITS)
        base = arrived - SACK_BITS + 1;
    header->base = (uint32_t)base & PSN_MASK;
    for (uint64_t i = 0; i < SACK_BITS && base + i <= repeat->highest_received; i++) {
        uint64_t bit = (base + i) & (SR_RANGE - 1);

        header->bits[i / 64] |= (repeat->received[bit / 64] >> (bit % 64) & 1) << (i % 64);
    }
}

static void answer(struct rocev2 *roce, const struct qp *qp, uint32_t nic, uint16_t index,
                   enum kind kind, uint64_t arrived)
{
    struct packet *packet = host_reply_packet(&roce->connection, nic, qp->source_port,
                                              (uint32_t)config_of(roce)->common.ack_bytes);
    struct header *header = TRANSPORT_HEADER(struct header, packet);

    memset(header, 0, sizeof *header);
    header->psn = (uint32_t)qp->expected & PSN_MASK;
    header->qp = index;
    header->kind = (uint8_t)kind;
    if (kind == KIND_SACK)
        fill_bits(qp, header, arrived);
    roce->n_naks += kind == KIND_NAK;
    host_control(&roce->connection, roce->connection.dst, nic, packet);
}

/* ACK coalescing: every ack_every packets, when asked, and never two for one packet. */
static void acknowledge(struct rocev2 *roce, struct qp *qp, uint32_t nic, uint16_t index, bool now,
                        enum kind kind, uint64_t arrived)
{
    qp->n_unacknowledged++;
    if (!now && qp->n_unacknowledged < config_of(roce)->ack_every)
        return;
    qp->n_unacknowledged = 0;
    answer(roce, qp, nic, index, kind, arrived);
}

static void take_go_back_n(struct rocev2 *roce, struct qp *qp, uint32_t nic,
                           const struct header *header, uint32_t payload)
{
    uint64_t psn = psn_unwrap(header->psn, qp->expected);
    bool descent = (int64_t)psn <= qp->last_offset;

    qp->last_offset = (int64_t)psn;
    if (psn < qp->expected) {
        header->message->spurious_retransmissions++;
        acknowledge(roce, qp, nic, header->qp, true, KIND_ACK, psn);
        return;
    }
    if (psn > qp->expected) {
        if (!qp->nak_sent || (config_of(roce)->nak == NAK_DESCENT && descent))
            answer(roce, qp, nic, header->qp, KIND_NAK, psn);
        qp->nak_sent = true;
        return;
    }
    qp->expected++;
    qp->nak_sent = false;
    bool whole = host_place(&roce->connection, header->message, nic, payload);

    acknowledge(roce, qp, nic, header->qp, header->ack_request, KIND_ACK, psn);
    if (whole)
        roce->connection.dst_engine->up->delivered(header->message);
}

static void take_selective(struct rocev2 *roce, struct qp *qp, uint32_t nic,
                           const struct header *header, uint32_t payload)
{
    struct repeat *repeat = qp->repeat;
    uint64_t psn = psn_unwrap(header->psn, qp->expected), bit = psn & (SR_RANGE - 1);

    if (psn < qp->expected || repeat->received[bit / 64] >> (bit % 64) & 1) {
        header->message->spurious_retransmissions++;
        acknowledge(roce, qp, nic, header->qp, true, KIND_SACK, psn);
        return;
    }
    assert(psn - qp->expected < SR_RANGE);
    repeat->received[bit / 64] |= UINT64_C(1) << (bit % 64);
    if (psn > repeat->highest_received)
        repeat->highest_received = psn;
    bool gap = psn != qp->expected;

    for (bit = qp->expected & (SR_RANGE - 1); repeat->received[bit / 64] >> (bit % 64) & 1;
         bit = ++qp->expected & (SR_RANGE - 1))
        repeat->received[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
    bool whole = host_place(&roce->connection, header->message, nic, payload);
    bool holes = qp->expected <= repeat->highest_received;

    acknowledge(roce, qp, nic, header->qp, header->ack_request || gap || holes,
                holes ? KIND_SACK : KIND_ACK, psn);
    if (whole)
        roce->connection.dst_engine->up->delivered(header->message);
}

/*
 * Notification point: a marked packet of this queue pair has arrived. The interval is that of all
 * rules; the queue pair's own rule is its sender's, which may move it to another NIC meanwhile.
 */
static G_GNUC_NO_INLINE void notify(struct rocev2 *roce, struct qp *qp, uint32_t nic,
                                    uint16_t index)
{
    int64_t now_ps = engine_now_ps(roce->connection.dst_engine);

    if (now_ps < qp->notify_after_ps)
        return;
    struct packet *packet = host_reply_packet(&roce->connection, nic, qp->source_port,
                                              (uint32_t)config_of(roce)->cc.cnp_bytes);
    struct header *header = TRANSPORT_HEADER(struct header, packet);

    packet->class = PACKET_CONTROL;
    memset(header, 0, sizeof *header);
    header->qp = index;
    header->kind = KIND_CNP;
    qp->notify_after_ps = now_ps + roce->rules->notify_interval_ps;
    roce->n_cnps++;
    host_control(&roce->connection, roce->connection.dst, nic, packet);
}

/* Reads only what does not change while the connection is open: the halves may run in two threads.
 */
static void fetch(const struct connection *connection, const struct packet *packet)
{
    const struct rocev2 *roce = (const struct rocev2 *)connection;
    const struct header *header = (const void *)packet->header;
    const struct qp *qp = &roce->qps[header->qp];

    if (header->kind == KIND_DATA) {
        transport_fetch(&qp->expected, sizeof *qp - offsetof(struct qp, expected));
        transport_fetch(header->message, sizeof *header->message);
    } else {
        transport_fetch(qp, offsetof(struct qp, expected));
    }
}

static void receive(struct connection *connection, struct packet *packet)
{
    struct rocev2 *roce = (struct rocev2 *)connection;
    const struct header *carried = TRANSPORT_HEADER(struct header, packet);
    struct header header;
    bool marked = packet->ecn == PACKET_CE;
    uint32_t payload = packet->payload;

    memcpy(&header, carried, offsetof(struct header, bits));
    if (header.kind == KIND_SACK)
        memcpy(header.bits, carried->bits, sizeof header.bits);
    if (header.kind != KIND_DATA) {
        packet_give(&connection->engine->pool, packet);
        hear(roce, &header);
        return;
    }
    packet_give(&connection->dst_engine->pool, packet);
    struct qp *qp = &roce->qps[header.qp];
    uint32_t nic = header.nic;

    header.message->marked_packets += marked;
    if (marked && roce->cc->notified)
        notify(roce, qp, nic, header.qp);
    if (config_of(roce)->recovery == SELECTIVE_REPEAT)
        take_selective(roce, qp, nic, &header, payload);
    else
        take_go_back_n(roce, qp, nic, &header, payload);
}

/* --- set-up ----------------------------------------------------------------------------------- */

static int64_t rto_of(const struct rocev2_config *config)
{
    return config->rto ? config->rto : INT64_C(4096000) << config->timeout_exponent;
}

static gboolean check(const void *values, GError **error)
{
    const struct rocev2_config *config = values;

    if (config->rto_low <= rto_of(config))
        return TRUE;
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                "rto_low: is the timeout for few packets in flight and at most the other one "
                "(rto, or 4.096us x 2^timeout_exponent)");
    return FALSE;
}

static struct cc_rule derive_rule(const struct rocev2 *roce, int64_t rate_bps)
{
    const struct rocev2_config *config = config_of(roce);
    int64_t window = config->window / config->common.payload / config->queue_pairs;
    struct cc_rule rule = {.initial =
                               CC_ONE * (config->window == 0 ? OPEN_WINDOW : MAX(window, 1))};

    roce->cc->derive(&config->cc, rate_bps, &rule);
    return rule;
}

/* NICs of one rate share a rule, and hosts mostly have NICs of one rate. */
static void derive_rules(struct rocev2 *roce)
{
    const struct host_nic *nics = &roce->connection.src->nics[roce->connection.first_nic];
    bool alike = true;

    roce->cc = cc_list[config_of(roce)->cc.kind];
    for (uint32_t nic = 1; nic < roce->connection.n_nics; nic++)
        alike &= nics[nic].rate_bps == nics[0].rate_bps;
    roce->n_rules = alike ? 1 : roce->connection.n_nics;
    roce->rules = g_new(struct cc_rule, roce->n_rules);
    for (uint32_t i = 0; i < roce->n_rules; i++)
        roce->rules[i] = derive_rule(roce, nics[i].rate_bps);
}

static void open_qp(struct rocev2 *roce, uint32_t index, struct random_stream *draws, uint32_t base)
{
    struct qp *qp = &roce->qps[index];

    host_sender_init(&roce->connection, &roce->senders[index],
                     (base + index) % roce->connection.n_nics, index);
    host_timer_init(roce->connection.src, &qp->timer, timer_fires);
    qp->source_port = FIRST_PORT + (uint32_t)random_below(draws, N_PORTS);
    qp->last_offset = -1;
    if (config_of(roce)->recovery == SELECTIVE_REPEAT)
        qp->repeat = g_new0(struct repeat, 1);
    qp->home = (uint16_t)roce->senders[index].nic;
    qp->rule = rule_of(roce, roce->senders[index].nic);
    roce->cc->start(qp->rule, &qp->cc);
}

/* Links that have been down for long are known to be. */
static void open_bond(struct rocev2 *roce)
{
    struct connection *connection = &roce->connection;

    roce->bond = g_malloc0(sizeof(struct bond) + connection->n_nics);
    *roce->bond = (struct bond){.watch = {.changed = bond_changed}, .roce = roce};
    host_timer_init(connection->src, &roce->bond->timer, bond_fires);
    host_watch_links(connection->src, &roce->bond->watch);
    bond_look(roce->bond);
    for (uint32_t index = 0; index < roce->n_qps; index++)
        move_qp(roce, &roce->qps[index], port_for(roce, roce->qps[index].home, index));
}

static void open(struct connection *connection)
{
    struct rocev2 *roce = (struct rocev2 *)connection;
    const struct rocev2_config *config = connection->config;
    struct random_stream draws =
        random_stream(connection->engine->seed, RANDOM_ENTROPY, connection->key);

    roce->n_qps = (uint32_t)config->queue_pairs;
    roce->senders = g_new0(struct sender, roce->n_qps);
    roce->qps = g_new0(struct qp, roce->n_qps);
    derive_rules(roce);
    roce->rto_ps = rto_of(config);
    roce->rto_less_ps = config->rto_low ? roce->rto_ps - config->rto_low : 0;
    /* two timeouts may be in one window of threads */
    connection->may_fail =
        config->retry_limit == 0 || roce->rto_ps - roce->rto_less_ps < EVENT_MOST_STEPS;
    uint32_t base = (uint32_t)random_below(&draws, connection->n_nics);

    for (uint32_t index = 0; index < roce->n_qps; index++)
        open_qp(roce, index, &draws, base);
    if (config->bond)
        open_bond(roce);
}

static void close_connection(struct connection *connection)
{
    struct rocev2 *roce = (struct rocev2 *)connection;

    if (roce->bond) {
        host_unwatch_links(&roce->bond->watch);
        engine_timer_cancel(connection->engine, &roce->bond->timer);
        g_free(roce->bond);
    }
    for (uint32_t index = 0; index < roce->n_qps; index++) {
        struct qp *qp = &roce->qps[index];

        host_sender_clear(connection, &roce->senders[index]);
        engine_timer_cancel(connection->engine, &qp->timer);
        g_free(qp->segments);
        if (qp->repeat) {
            g_free(qp->repeat->slots);
            g_free(qp->repeat->sent.items);
            g_free(qp->repeat->lost.items);
        }
        g_free(qp->repeat);
    }
    g_free(roce->senders);
    g_free(roce->qps);
    g_free(roce->rules);
}

/* --- on the wire ------------------------------------------------------------------------------ */

#define UDP_PORT      4791
#define OPCODE_FIRST  0x06 /* RDMA WRITE, reliable connection */
#define OPCODE_MIDDLE 0x07
#define OPCODE_LAST   0x08
#define OPCODE_ONLY   0x0a
#define OPCODE_ACK    0x11
#define OPCODE_CNP    0x81
#define CNP_RESERVED  16
#define BTH_MIGREQ    0x40
#define BTH_BECN      0x40
#define AETH_ACK      0x1f /* credits not limited */
#define AETH_NAK_PSN  0x60 /* PSN sequence error */
#define FIRST_QP      16   /* 0 and 1 are management's */

/* The number of a queue pair at one end: by the host at the other, and its index. */
static uint64_t qp_number(const struct host *other, uint32_t index)
{
    return ((uint64_t)other->number * MAX_QPS + index + FIRST_QP) & PSN_MASK;
}

static uint8_t *put_bth(uint8_t *bytes, uint8_t opcode, uint32_t pad, uint64_t qp, uint32_t psn,
                        bool ack_request)
{
    bytes = transport_put(bytes, opcode, 1);
    bytes = transport_put(bytes, BTH_MIGREQ | pad << 4, 1);
    bytes = transport_put(bytes, 0xffff, 2); /* the default partition */
    bytes = transport_put(bytes, opcode == OPCODE_CNP ? BTH_BECN : 0, 1);
    bytes = transport_put(bytes, qp, 3);
    bytes = transport_put(bytes, ack_request ? 0x80 : 0, 1);
    return transport_put(bytes, psn & PSN_MASK, 3);
}

/* Each part of a message that a queue pair carries is an RDMA WRITE of its own. */
static uint8_t *put_write(uint8_t *bytes, const struct packet *packet, const struct header *header)
{
    const struct rocev2_config *config = packet->connection->config;
    const struct message *message = header->message;
    int64_t n = transport_n_packets(message->bytes, config->common.payload), part = 0;
    int64_t n_parts = config->spread == ROTATE ? 1 : MIN(n, config->queue_pairs);

    while (n * (part + 1) / n_parts <= packet->sequence)
        part++;
    int64_t first = n * part / n_parts, last = n * (part + 1) / n_parts - 1;
    bool is_first = packet->sequence == first, is_last = packet->sequence == last;
    uint8_t opcode =
        is_first ? (is_last ? OPCODE_ONLY : OPCODE_FIRST) : (is_last ? OPCODE_LAST : OPCODE_MIDDLE);

    bytes =
        put_bth(bytes, opcode, -packet->payload & 3, qp_number(packet->connection->src, header->qp),
                header->psn, header->ack_request);
    if (!is_first)
        return bytes;
    int64_t end = MIN((last + 1) * config->common.payload, message->bytes);

    bytes = transport_put(bytes, (uint64_t)(first * config->common.payload), 8); /* address */
    bytes = transport_put(bytes, 0, 4);                                          /* R_Key */
    return transport_put(bytes, (uint64_t)(end - first * config->common.payload), 4);
}

/* A SACK's bits have no published format: on the wire it is a NAK. */
static uint8_t *put_answer(uint8_t *bytes, const struct packet *packet, const struct header *header)
{
    uint64_t qp = qp_number(packet->connection->dst, header->qp);
    bool nak = header->kind != KIND_ACK;

    if (header->kind == KIND_CNP) {
        bytes = put_bth(bytes, OPCODE_CNP, 0, qp, 0, false);
        memset(bytes, 0, CNP_RESERVED);
        return bytes + CNP_RESERVED;
    }
    /* `psn` is the one expected: that is what a NAK names; an ACK names the one before */
    bytes = put_bth(bytes, OPCODE_ACK, 0, qp, header->psn - !nak, false);
    bytes = transport_put(bytes, nak ? AETH_NAK_PSN : AETH_ACK, 1);
    return transport_put(bytes, 0, 3); /* MSN: not modelled */
}

static void encode(const struct packet *packet, uint8_t *bytes, struct transport_wire *wire)
{
    const struct header *header = (const struct header *)(const void *)packet->header;
    const uint8_t *end = header->kind == KIND_DATA ? put_write(bytes, packet, header)
                                                   : put_answer(bytes, packet, header);

    *wire = (struct transport_wire){
        .port = UDP_PORT, .icrc = true, .n_header = (uint32_t)(end - bytes)};
}

static const char *const totals[] = {"naks_sent", "rewinds_on_nak", "cnps_sent", "bond_moves",
                                     NULL};

static void report(const struct connection *connection, int64_t *sums)
{
    const struct rocev2 *roce = (const struct rocev2 *)connection;

    sums[0] += roce->n_naks;
    sums[1] += roce->n_nak_rewinds;
    sums[2] += roce->n_cnps;
    sums[3] += roce->n_moves;
}

static void sample(const struct connection *connection, struct transport_sample *sample_out)
{
    const struct rocev2 *roce = (const struct rocev2 *)connection;
    const struct rocev2_config *config = config_of(roce);
    bool selective = config->recovery == SELECTIVE_REPEAT;
    int64_t in_flight = 0;

    for (uint32_t index = 0; index < roce->n_qps; index++) {
        const struct qp *qp = &roce->qps[index];

        sample_out->window_bytes +=
            config->window ? window_packets(qp) * config->common.payload : 0;
        sample_out->rate_bps += qp->cc.rate_bps;
        in_flight += selective ? qp->in_flight : (int64_t)(qp->next - qp->una);
    }
    sample_out->in_flight_bytes = in_flight * config->common.payload;
}

static const struct param rocev2_params[] = {
    TRANSPORT_COMMON_PARAMS(
        struct rocev2_config, "82B",
        "Ethernet 38, IPv4 20, UDP 8, BTH 12, ICRC 4 (SOURCES.md 9.7); RETH left "
        "out: only a message's first packet has it",
        "84B", "the smallest Ethernet frame with preamble and gap"),
    PARAM(NUMBER, struct rocev2_config, queue_pairs, "1", "1", "32", NULL,
          "Queue pairs between two hosts; each stays on one plane and one path.",
          "SOURCES.md 3.5: 1 to 16 in use"),
    PARAM(CHOICE, struct rocev2_config, spread, "split", NULL, NULL, "split|rotate",
          "A message is split over the queue pairs, or messages rotate over them.",
          "SOURCES.md 3.5 (SIGCOMM 2024)"),
    PARAM(BYTES, struct rocev2_config, window, "512KiB", "0B", NULL, NULL,
          "Bytes a connection may have unacknowledged, shared evenly by its queue pairs (IRN's BDP "
          "cap, with selective repeat); 0: no window.",
          "our choice: one BDP at 400G and 10 us (SOURCES.md 9.8); IRN: about 110 packets at 40G"),
    PARAM(CHOICE, struct rocev2_config, recovery, "go_back_n", NULL, NULL,
          "go_back_n|selective_repeat", "What is sent again after a gap.", "SOURCES.md 3.3, 3.6"),
    PARAM(CHOICE, struct rocev2_config, nak, "once", NULL, NULL, "once|descent",
          "Go-back-N: one NAK per gap, or one whenever a PSN is not above the one before.",
          "SOURCES.md 3.3: NICs send one; descent is the closed form of 9.2"),
    PARAM(NUMBER, struct rocev2_config, ack_every, "4", "1", "1024", NULL,
          "Packets per acknowledgement; the last of a message asks for one.",
          "our choice; htsim acknowledges 16 KiB"),
    PARAM(NUMBER, struct rocev2_config, timeout_exponent, "10", "0", "24", NULL,
          "t of the timeout 4.096 us x 2^t.",
          "SOURCES.md 3.3: the effective least is some ms, so 10 = 4.2 ms; NCCL sets 20 = 4.3 s"),
    PARAM(TIME, struct rocev2_config, rto, "0ps", "0ps", "100s", NULL,
          "The timeout itself; 0: from timeout_exponent.",
          "our choice; IRN's RTO_high: 320us (SOURCES.md 3.6 [M])"),
    PARAM(TIME, struct rocev2_config, rto_low, "0ps", "0ps", "100s", NULL,
          "The timeout while at most rto_low_packets are in flight; 0: the same.",
          "our choice: NICs have one; IRN's RTO_low: 100us (SOURCES.md 3.6 [M])"),
    PARAM(CHOICE, struct rocev2_config, window_counts, "in_flight", NULL, NULL,
          "in_flight|sequence",
          "Selective repeat: the window bounds packets in flight, known losses not counted, or the "
          "PSNs from the oldest unacknowledged on, as IRN's cap does.",
          "our choice: the better of the two; SOURCES.md 3.6: IRN"),
    PARAM(CHOICE, struct rocev2_config, lost_resent, "order", NULL, NULL, "order|timeout",
          "Selective repeat: a lost retransmission is found by the order of transmissions, or only "
          "by "
          "the timeout, as in IRN.",
          "our choice: the better of the two; SOURCES.md 3.6: IRN"),
    PARAM(NUMBER, struct rocev2_config, rto_low_packets, "3", "0", "1000000", NULL,
          "Packets in flight up to which rto_low is used.", "IRN's N (SOURCES.md 3.6 [M])"),
    PARAM(BOOL, struct rocev2_config, rto_backoff, "off", NULL, NULL, NULL,
          "Double the timeout each time it expires in a row, at most 64 times.",
          "InfiniBand has a fixed timeout"),
    PARAM(NUMBER, struct rocev2_config, retry_limit, "7", "0", "1000000", NULL,
          "Timeouts in a row after which the queue pair fails.",
          "SOURCES.md 3.3: NCCL_IB_RETRY_CNT"),
    PARAM(BOOL, struct rocev2_config, bond, "off", NULL, NULL, NULL,
          "A bonded NIC: queue pairs leave a NIC port whose own link is down for ports on other "
          "planes, and return.",
          "our choice: off unless asked"),
    PARAM(TIME, struct rocev2_config, bond_delay, "10ms", NULL, "100s", NULL,
          "bond: for how long a link has to be down, or up again, before queue pairs move.",
          "our choice: before the 34 ms after which a queue pair fails; Linux bonding looks at "
          "links each 100 ms by custom"),
    PARAM(NUMBER, struct rocev2_config, bond_timeouts, "0", NULL, "1000", NULL,
          "bond: timeouts in a row after which a queue pair takes the next port for good, whatever "
          "its own link says; 0: never.",
          "our choice: the link alone"),
    CC_PARAMS(struct rocev2_config),
    PARAM_END,
};

static const char *const receiver_params[] = {"ack_every", "nak", "dcqcn_cnp_bytes", NULL};

/* The receiver paces its notifications as its own parameter set says. */
static void agree(const void *receiver, void *agreed)
{
    struct rocev2_config *config = agreed;
    struct cc_rule rule = {0};

    cc_list[config->cc.kind]->derive(&((const struct rocev2_config *)receiver)->cc, 1, &rule);
    config->cc.cnp_interval = rule.notify_interval_ps;
}

static void tell_need(const void *values, struct transport_need *need)
{
    const struct rocev2_config *config = values;
    int64_t n_each = need->n_out / config->queue_pairs + 1; /* in flight, of a queue pair */
    size_t qp_bytes = sizeof(struct qp) + sizeof(struct sender) + sizeof(struct segment);

    if (config->recovery == SELECTIVE_REPEAT)
        qp_bytes += sizeof(struct repeat) +
                    (size_t)transport_ring(FIRST_SLOTS, n_each) * sizeof(struct slot) +
                    (size_t)transport_ring(16, n_each) * sizeof(uint64_t);
    need->bytes = (double)(sizeof(struct rocev2) + sizeof(struct cc_rule)) +
                  (double)config->queue_pairs * (double)qp_bytes;
    need->n_replies = 1.0 / (double)config->ack_every;
    need->window_packets = config->window / config->common.payload;
    need->n_nics = MIN(config->queue_pairs, need->n_ports);
}

const struct transport_ops transport_rocev2 = {
    .name = "rocev2",
    .summary = "RoCEv2 reliable connections: go-back-N or selective repeat, window, DCQCN.",
    .source = "InfiniBand Architecture, annex A17; SOURCES.md 3",
    .config_size = sizeof(struct rocev2_config),
    .params = rocev2_params,
    .connection_size = sizeof(struct rocev2),
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
    .agree = agree,
    .sample = sample,
    .need = tell_need,
    .encode = encode,
};
