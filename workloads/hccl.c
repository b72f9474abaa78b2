/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layout, choice of algorithm, building and checking of graphs; see hccl.h. */
#include "workloads/hccl.h"
#include "sim/core/units.h"
#include <string.h>

static const char *const kind_names[] = {"allreduce", "reducescatter", "allgather", "alltoall",
                                         "broadcast"};
static const char *const algorithm_names[] = {"auto", "ring", "direct", "recursive_doubling",
                                              "hierarchical"};

const char *hccl_kind_name(enum hccl_kind kind)
{
    return kind_names[kind];
}

const char *hccl_algorithm_name(enum hccl_algorithm algorithm)
{
    return algorithm_names[algorithm];
}

/* --- layout ----------------------------------------------------------------------------------- */

/* The switch of a host's first port: hosts of a domain share it. */
static uint32_t first_switch(const struct graph *graph, uint32_t host)
{
    return graph_port_peer(graph, graph_port(graph, host, 0));
}

static uint32_t domain_length(const struct graph *graph, const uint32_t *hosts, uint32_t n,
                              uint32_t from)
{
    uint32_t i = from + 1;

    while (i < n && first_switch(graph, hosts[i]) == first_switch(graph, hosts[from]))
        i++;
    return i - from;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b > 0) {
        uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static void find_domains(struct hccl_layout *layout, const struct graph *graph,
                         const uint32_t *hosts)
{
    uint32_t n = layout->n_ranks;

    layout->n_domain = 0;
    for (uint32_t i = 0; i < n; i += domain_length(graph, hosts, n, i))
        layout->n_domain = common_divisor(domain_length(graph, hosts, n, i), layout->n_domain);
    layout->domains = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        layout->domains[i] = first_switch(graph, hosts[i]);
}

gboolean hccl_layout_init(struct hccl_layout *layout, const struct graph *graph,
                          const uint32_t *hosts, uint32_t n, GError **error)
{
    uint32_t n_ports = graph_n_ports(graph, hosts[0]);

    *layout = (struct hccl_layout){.n_ranks = n, .n_domain = n};
    for (uint32_t i = 0; i < n; i++)
        if (graph_n_ports(graph, hosts[i]) != n_ports || n_ports == 0) {
            g_set_error(error, BUILD_ERROR, 0,
                        "host %u has %u NIC ports and host %u has %u; as many for all are expected",
                        hosts[0], n_ports, hosts[i], graph_n_ports(graph, hosts[i]));
            return FALSE;
        }
    while (layout->n_up < n_ports &&
           graph->links[graph_port(graph, hosts[0], layout->n_up) / 2].plane <
               graph->n_scale_up_planes)
        layout->n_up++;
    layout->first_out = layout->n_up;
    layout->n_out = n_ports - layout->n_up;
    if (layout->n_up == 0) {
        layout->n_up = n_ports;
        layout->first_out = layout->n_out = 0;
        return TRUE;
    }
    layout->alike = layout->n_out > 0 &&
                    graph->links[graph_port(graph, hosts[0], 0) / 2].rate_bps ==
                        graph->links[graph_port(graph, hosts[0], layout->n_up) / 2].rate_bps;
    find_domains(layout, graph, hosts);
    if (layout->n_domain < n && layout->n_out == 0) {
        g_set_error(error, BUILD_ERROR, 0,
                    "ranks 0 and %u are in different racks, and no network joins these",
                    domain_length(graph, hosts, n, 0));
        hccl_layout_clear(layout);
        return FALSE;
    }
    return TRUE;
}

void hccl_layout_clear(struct hccl_layout *layout)
{
    g_clear_pointer(&layout->domains, g_free);
}

static bool same_domain(const struct hccl_layout *layout, uint32_t p, uint32_t q)
{
    return layout->domains ? layout->domains[p] == layout->domains[q]
                           : p / layout->n_domain == q / layout->n_domain;
}

/* Whether neighbours use the ports of both networks. */
static bool uses_both(const struct hccl_graph *graph)
{
    return graph->call.networks == HCCL_BOTH && graph->layout.alike &&
           graph->call.bytes >= graph->call.both_bytes;
}

uint8_t hccl_nic(const struct hccl_graph *graph, uint32_t p, uint32_t q, uint32_t index)
{
    const struct hccl_layout *layout = &graph->layout;
    enum hccl_networks networks = graph->call.networks;

    if (!same_domain(layout, p, q) || networks == HCCL_SCALE_OUT)
        return (uint8_t)(layout->first_out + index % layout->n_out);
    if (!uses_both(graph))
        return (uint8_t)(layout->first_up + index % layout->n_up);
    return (uint8_t)(layout->first_up + index % (layout->n_up + layout->n_out));
}

/* --- sizes ------------------------------------------------------------------------------------ */

void hccl_segment(int64_t bytes, uint64_t n, uint64_t k, int64_t *offset, int64_t *length)
{
    uint64_t rest = (uint64_t)bytes % n;

    *offset = bytes / (int64_t)n * (int64_t)k + (int64_t)(rest * k / n);
    *length = bytes / (int64_t)n + (int64_t)(rest * (k + 1) / n - rest * k / n);
}

/* NIC ports that a rank may use side by side. */
static uint32_t n_ways_of(const struct hccl_graph *graph)
{
    const struct hccl_layout *layout = &graph->layout;
    bool both =
        graph->call.networks == HCCL_BOTH && layout->alike && layout->n_domain == layout->n_ranks;

    return graph->call.networks == HCCL_SCALE_OUT ? layout->n_out
           : both                                 ? layout->n_up + layout->n_out
                                                  : layout->n_up;
}

struct hccl_cut hccl_cut(const struct hccl_graph *graph, int64_t bytes)
{
    int64_t n_ways = CLAMP(bytes / graph->call.slice_bytes, 1, (int64_t)n_ways_of(graph));
    int64_t way = (bytes + n_ways - 1) / n_ways, chunk = graph->call.chunk_bytes;

    return (struct hccl_cut){(uint32_t)n_ways, (uint32_t)MAX((way + chunk - 1) / chunk, 1)};
}

void hccl_piece(struct hccl_cut cut, uint32_t piece, int64_t *offset, int64_t *length)
{
    int64_t way_offset, way_length, chunk_offset, chunk_length;

    hccl_segment(*length, cut.n_ways, piece / cut.n_chunks, &way_offset, &way_length);
    hccl_segment(way_length, cut.n_chunks, piece % cut.n_chunks, &chunk_offset, &chunk_length);
    *offset += way_offset + chunk_offset;
    *length = chunk_length;
}

int64_t hccl_part(const struct hccl_graph *graph, uint32_t p, uint32_t q, int64_t *from,
                  int64_t *to)
{
    const int64_t *parts = graph->call.parts;
    uint32_t n = graph->layout.n_ranks;
    int64_t length, sender_offset = 0, receiver_offset = 0;

    if (!parts) {
        hccl_segment(graph->call.bytes, n, q, from, &length);
        hccl_segment(graph->call.bytes, n, q, to, &length); /* each column has equal parts */
        *to = length * p;
        return length;
    }
    for (uint32_t k = 0; k < q; k++)
        sender_offset += parts[p * n + k];
    for (uint32_t k = 0; k < p; k++)
        receiver_offset += parts[k * n + q];
    *from = sender_offset;
    *to = receiver_offset;
    return parts[p * n + q];
}

/* --- building --------------------------------------------------------------------------------- */

void hccl_lane_begin(struct hccl_graph *graph, uint32_t rank, uint32_t number, uint32_t engine)
{
    struct hccl_lane lane = {rank, number, engine % graph->call.n_engines, graph->elements->len, 0};

    g_array_append_val(graph->lanes, lane);
}

static struct hccl_lane *lane_at(const struct hccl_graph *graph, uint32_t index)
{
    return &g_array_index(graph->lanes, struct hccl_lane, index);
}

static void add(struct hccl_graph *graph, struct hccl_element element)
{
    element.lane = graph->lanes->len - 1;
    element.match = UINT32_MAX;
    if (element.to.buffer == HCCL_SCRATCH)
        graph->scratch_bytes = MAX(graph->scratch_bytes, element.to.offset + element.bytes);
    if (element.flag != HCCL_NO_FLAG)
        graph->n_flags = MAX(graph->n_flags, element.flag + 1);
    g_array_append_val(graph->elements, element);
    lane_at(graph, element.lane)->n++;
}

void hccl_send(struct hccl_graph *graph, uint32_t peer, uint8_t nic, struct hccl_place from,
               int64_t bytes)
{
    if (bytes > 0)
        add(graph, (struct hccl_element){.kind = SCHEDULE_SEND,
                                         .peer = peer,
                                         .nic = nic,
                                         .a = from,
                                         .bytes = bytes,
                                         .flag = HCCL_NO_FLAG});
}

void hccl_recv(struct hccl_graph *graph, uint32_t peer, struct hccl_place to, int64_t bytes)
{
    if (bytes > 0)
        add(graph, (struct hccl_element){.kind = SCHEDULE_RECV,
                                         .peer = peer,
                                         .to = to,
                                         .bytes = bytes,
                                         .flag = HCCL_NO_FLAG});
}

void hccl_write(struct hccl_graph *graph, uint32_t peer, uint8_t nic, struct hccl_place from,
                struct hccl_place to, int64_t bytes, uint32_t flag)
{
    add(graph, (struct hccl_element){.kind = SCHEDULE_WRITE,
                                     .peer = peer,
                                     .nic = nic,
                                     .a = from,
                                     .to = to,
                                     .bytes = bytes,
                                     .flag = flag});
}

void hccl_wait(struct hccl_graph *graph, uint32_t setter, uint32_t flag, uint32_t value)
{
    if (value > 0)
        add(graph, (struct hccl_element){
                       .kind = SCHEDULE_WAIT, .peer = setter, .flag = flag, .value = value});
}

void hccl_set(struct hccl_graph *graph, uint32_t flag)
{
    add(graph, (struct hccl_element){.kind = SCHEDULE_SET,
                                     .peer = lane_at(graph, graph->lanes->len - 1)->rank,
                                     .flag = flag});
}

static void add_local(struct hccl_graph *graph, struct hccl_element element)
{
    if (element.bytes > 0)
        add(graph, element);
}

void hccl_reduce(struct hccl_graph *graph, struct hccl_place a, struct hccl_place b,
                 struct hccl_place to, int64_t bytes)
{
    add_local(graph, (struct hccl_element){.kind = SCHEDULE_REDUCED,
                                           .a = a,
                                           .b = b,
                                           .to = to,
                                           .bytes = bytes,
                                           .flag = HCCL_NO_FLAG});
}

void hccl_copy(struct hccl_graph *graph, struct hccl_place a, struct hccl_place to, int64_t bytes)
{
    add_local(graph,
              (struct hccl_element){
                  .kind = SCHEDULE_COPIED, .a = a, .to = to, .bytes = bytes, .flag = HCCL_NO_FLAG});
}

/* --- matching --------------------------------------------------------------------------------- */

struct end { /* the k-th SEND or RECV of a lane between two ranks */
    uint32_t from, to, lane, k;
};

static guint end_hash(gconstpointer key)
{
    const struct end *end = key;

    return end->from * 2654435761u ^ end->to * 40503u ^ end->lane * 97u ^ end->k * 31u;
}

static gboolean end_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(struct end)) == 0;
}

/* How many of this kind and peer the lane has before `index`. */
static uint32_t count_before(const struct hccl_graph *graph, uint32_t index)
{
    const struct hccl_element *element =
        &g_array_index(graph->elements, struct hccl_element, index);
    uint32_t n = 0;

    for (uint32_t i = lane_at(graph, element->lane)->first; i < index; i++) {
        const struct hccl_element *other = &g_array_index(graph->elements, struct hccl_element, i);

        n += other->kind == element->kind && other->peer == element->peer;
    }
    return n;
}

static struct end end_of(const struct hccl_graph *graph, uint32_t index)
{
    const struct hccl_element *element =
        &g_array_index(graph->elements, struct hccl_element, index);
    const struct hccl_lane *lane = lane_at(graph, element->lane);
    bool sends = element->kind == SCHEDULE_SEND;

    return (struct end){sends ? lane->rank : element->peer, sends ? element->peer : lane->rank,
                        lane->number, count_before(graph, index)};
}

/* Each SEND finds its RECV; a SEND's bytes go where the RECV says. */
static void match_all(struct hccl_graph *graph)
{
    g_autoptr(GHashTable) sends = g_hash_table_new_full(end_hash, end_equal, g_free, NULL);
    void *found;

    for (uint32_t i = 0; i < graph->elements->len; i++)
        if (g_array_index(graph->elements, struct hccl_element, i).kind == SCHEDULE_SEND) {
            struct end end = end_of(graph, i);

            g_hash_table_insert(sends, g_memdup2(&end, sizeof end), GUINT_TO_POINTER(i));
        }
    for (uint32_t i = 0; i < graph->elements->len; i++) {
        struct hccl_element *recv = &g_array_index(graph->elements, struct hccl_element, i);

        if (recv->kind != SCHEDULE_RECV)
            continue;
        struct end end = end_of(graph, i);

        if (g_hash_table_lookup_extended(sends, &end, NULL, &found)) {
            struct hccl_element *send =
                &g_array_index(graph->elements, struct hccl_element, GPOINTER_TO_UINT(found));

            recv->match = GPOINTER_TO_UINT(found);
            send->match = i;
            send->to = recv->to;
        }
    }
}

/* --- compiling -------------------------------------------------------------------------------- */

/* What is taken where nothing else is asked for: by topology, kind and size. */
static enum hccl_algorithm choose(const struct hccl_layout *layout, const struct hccl_call *call)
{
    if (call->kind == HCCL_ALLTOALL || call->bytes <= call->direct_bytes)
        return HCCL_DIRECT;
    if (layout->n_domain < layout->n_ranks && layout->n_domain > 1 && call->kind != HCCL_BROADCAST)
        return HCCL_HIERARCHICAL;
    return HCCL_RING;
}

gboolean hccl_compile(struct hccl_graph *graph, const struct hccl_layout *layout,
                      const struct hccl_call *call, GError **error)
{
    gboolean ok;

    *graph = (struct hccl_graph){.call = *call, .layout = *layout};
    graph->elements = g_array_new(FALSE, FALSE, sizeof(struct hccl_element));
    graph->lanes = g_array_new(FALSE, FALSE, sizeof(struct hccl_lane));
    if (call->algorithm == HCCL_AUTO)
        graph->call.algorithm = choose(layout, call);
    if (call->networks == HCCL_SCALE_OUT && layout->n_out == 0) {
        g_set_error(error, BUILD_ERROR, 0,
                    "networks = scale_out: the topology has no scale-out network");
        ok = FALSE;
    } else {
        ok = graph->call.algorithm == HCCL_RING       ? hccl_ring(graph, error)
             : graph->call.algorithm == HCCL_DIRECT   ? hccl_direct(graph, error)
             : graph->call.algorithm == HCCL_DOUBLING ? hccl_doubling(graph, error)
                                                      : hccl_hierarchical(graph, error);
    }
    if (ok)
        match_all(graph);
    else
        hccl_clear(graph);
    return ok;
}

void hccl_clear(struct hccl_graph *graph)
{
    g_clear_pointer(&graph->elements, g_array_unref);
    g_clear_pointer(&graph->lanes, g_array_unref);
}

gboolean hccl_omit_set(struct hccl_graph *graph, uint32_t number)
{
    for (uint32_t i = 0; i < graph->elements->len; i++) {
        struct hccl_element *element = &g_array_index(graph->elements, struct hccl_element, i);

        if (element->kind != SCHEDULE_SET || number-- > 0)
            continue;
        element->flag = HCCL_NO_FLAG;
        return TRUE;
    }
    return FALSE;
}

/* --- checking --------------------------------------------------------------------------------- */

struct walk { /* a run without bytes and time */
    const struct hccl_graph *graph;
    uint32_t *at;    /* by lane: elements done */
    uint32_t *flags; /* by rank and flag: sets so far */
    bool *sent;      /* by element */
};

static bool may_go(const struct walk *walk, const struct hccl_element *element, uint32_t rank)
{
    if (element->kind == SCHEDULE_WAIT)
        return walk->flags[rank * walk->graph->n_flags + element->flag] >= element->value;
    if (element->kind == SCHEDULE_RECV)
        return element->match != UINT32_MAX && walk->sent[element->match];
    return true;
}

static void go(const struct walk *walk, uint32_t index, uint32_t rank)
{
    const struct hccl_element *element =
        &g_array_index(walk->graph->elements, struct hccl_element, index);
    uint32_t where = element->kind == SCHEDULE_WRITE ? element->peer : rank;

    if ((element->kind == SCHEDULE_WRITE || element->kind == SCHEDULE_SET) &&
        element->flag != HCCL_NO_FLAG)
        walk->flags[where * walk->graph->n_flags + element->flag]++;
    walk->sent[index] = true;
}

static bool advance(const struct walk *walk, uint32_t index)
{
    const struct hccl_lane *lane = lane_at(walk->graph, index);
    bool moved = false;

    while (walk->at[index] < lane->n &&
           may_go(walk,
                  &g_array_index(walk->graph->elements, struct hccl_element,
                                 lane->first + walk->at[index]),
                  lane->rank)) {
        go(walk, lane->first + walk->at[index]++, lane->rank);
        moved = true;
    }
    return moved;
}

static gboolean stuck(const struct walk *walk, uint32_t index, GError **error)
{
    const struct hccl_lane *lane = lane_at(walk->graph, index);
    const struct hccl_element *element =
        &g_array_index(walk->graph->elements, struct hccl_element, lane->first + walk->at[index]);

    if (element->kind == SCHEDULE_WAIT)
        g_set_error(error, BUILD_ERROR, 0,
                    "rank %u: engine %u, lane %u, waits for flag %u: %u of %u sets come",
                    lane->rank, lane->engine, lane->number, element->flag,
                    walk->flags[lane->rank * walk->graph->n_flags + element->flag], element->value);
    else
        g_set_error(error, BUILD_ERROR, 0,
                    "rank %u: engine %u, lane %u, waits for a SEND of rank %u that does not come",
                    lane->rank, lane->engine, lane->number, element->peer);
    return FALSE;
}

/* Bytes that have to cross from rank to rank. */
static int64_t expected_bytes(const struct hccl_graph *graph)
{
    int64_t n = graph->layout.n_ranks, S = graph->call.bytes, sum = 0, from, to;

    if (graph->call.algorithm == HCCL_DOUBLING && graph->call.kind == HCCL_ALLREDUCE) {
        for (int64_t reach = 1; reach < n; reach *= 2)
            sum += n * S;
        return sum;
    }
    if (graph->call.kind != HCCL_ALLTOALL)
        return (graph->call.kind == HCCL_ALLREDUCE ? 2 : 1) * (n - 1) * S;
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t q = 0; q < n; q++)
            sum += p == q ? 0 : hccl_part(graph, p, q, &from, &to);
    return sum;
}

static gboolean check_bytes(const struct hccl_graph *graph, GError **error)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < graph->elements->len; i++) {
        const struct hccl_element *element =
            &g_array_index(graph->elements, struct hccl_element, i);

        if (element->kind == SCHEDULE_SEND || element->kind == SCHEDULE_WRITE)
            sum += element->bytes;
        if (element->kind == SCHEDULE_SEND &&
            (element->match == UINT32_MAX ||
             g_array_index(graph->elements, struct hccl_element, element->match).bytes !=
                 element->bytes)) {
            g_set_error(error, BUILD_ERROR, 0,
                        "element %u: no RECV of %" G_GINT64_FORMAT " B matches it", i,
                        element->bytes);
            return FALSE;
        }
    }
    if (sum == expected_bytes(graph))
        return TRUE;
    g_set_error(error, BUILD_ERROR, 0,
                "%s, %s: %" G_GINT64_FORMAT " B are moved, %" G_GINT64_FORMAT " are due",
                hccl_kind_name(graph->call.kind), hccl_algorithm_name(graph->call.algorithm), sum,
                expected_bytes(graph));
    return FALSE;
}

gboolean hccl_check(const struct hccl_graph *graph, GError **error)
{
    g_autofree uint32_t *at = g_new0(uint32_t, graph->lanes->len + 1);
    g_autofree uint32_t *flags =
        g_new0(uint32_t, (gsize)graph->layout.n_ranks * graph->n_flags + 1);
    g_autofree bool *sent = g_new0(bool, graph->elements->len + 1);
    struct walk walk = {graph, at, flags, sent};
    bool moved = true;

    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < graph->lanes->len; i++)
            moved |= advance(&walk, i);
    }
    for (uint32_t i = 0; i < graph->lanes->len; i++)
        if (at[i] < lane_at(graph, i)->n)
            return stuck(&walk, i, error);
    return check_bytes(graph, error);
}
