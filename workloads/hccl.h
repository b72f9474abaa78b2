/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HCCL: a collective call is compiled into a work packet, which message engines run without the
 * host. A work packet is a graph of lanes; a lane is a sequence of work-queue elements of one rank,
 * mapped onto one of its engines. Elements of a lane begin in order: each when the one before is
 * complete, or posted if that is a message. Between lanes there are flags: WAIT ends when as many
 * SETs and WRITEs have come to its flag as it asks for.
 *
 *   SEND    bytes to the peer's RECV          RECV    waits for the matching SEND
 *   WRITE   bytes to a place at the peer, and then its flag there
 *   WAIT, SET    a flag of this rank          REDUCE  to = a + b;  COPY  to = a
 *
 * What is compiled is plain data: checked (hccl_check), printed, run on real vectors by a test, and
 * lowered into a schedule (hccl_lower), one operation an element, for the player.
 * Leaves out the fields of real elements (wqe_sync, fence, rx_sync), immediate data, ordered trees.
 * Source: HCCL, arXiv 2608.00358, and MTIA 300, ISCA 2026 (SOURCES.md 2.2, 2.4); which algorithm
 * is taken when is unpublished: our choice, and a parameter.
 */
#ifndef WEFT_WORKLOADS_HCCL_H
#define WEFT_WORKLOADS_HCCL_H

#include "workloads/workload.h"

enum hccl_kind {
    HCCL_ALLREDUCE,
    HCCL_REDUCESCATTER,
    HCCL_ALLGATHER,
    HCCL_ALLTOALL,
    HCCL_BROADCAST,
    HCCL_N_KINDS
};
#define HCCL_KINDS "allreduce|reducescatter|allgather|alltoall|broadcast"

enum hccl_algorithm { HCCL_AUTO, HCCL_RING, HCCL_DIRECT, HCCL_DOUBLING, HCCL_HIERARCHICAL };
#define HCCL_ALGORITHMS "auto|ring|direct|recursive_doubling|hierarchical"

enum hccl_networks { HCCL_BOTH, HCCL_SCALE_UP, HCCL_SCALE_OUT };
#define HCCL_NETWORKS "both|scale_up|scale_out"

/* Who can talk to whom by which NIC ports: from the graph and the ranks. */
struct hccl_layout {
    /* Ranks; and the most that divides the ranks, behind one another, of every domain of scale-up:
     * so many are a domain for two-level algorithms. */
    uint32_t n_ranks, n_domain;
    uint32_t *domains;         /* each rank's; NULL: n_domain ranks have one */
    uint32_t first_up, n_up;   /* NIC ports of the scale-up network */
    uint32_t first_out, n_out; /* and of the scale-out network */
    bool alike;                /* ports of the two are equally fast: neighbours may use both */
};

/*
 * Fills a layout. Ranks are hosts `hosts[0 .. n-1]`; those behind one another that reach each other
 * by the scale-up network are a domain. Without such a network all ranks are one domain. Compiled
 * graphs borrow from it until hccl_layout_clear(). Fails with nothing to clear.
 */
gboolean hccl_layout_init(struct hccl_layout *layout, const struct graph *graph,
                          const uint32_t *hosts, uint32_t n, GError **error);
void hccl_layout_clear(struct hccl_layout *layout);

/* A call. Sizes as in nccl-tests: S, the larger of a rank's two buffers. */
struct hccl_call {
    enum hccl_kind kind;
    enum hccl_algorithm algorithm; /* never HCCL_AUTO once compiled */
    enum hccl_networks networks;   /* inside a domain */
    int64_t bytes;
    const int64_t *parts; /* all-to-all: parts[p n + q] from p to q; NULL: equal ones */
    uint32_t root;
    int64_t chunk_bytes;  /* of a message at most */
    int64_t slice_bytes;  /* a segment is spread over lanes of so many bytes at least */
    int64_t direct_bytes; /* auto: direct up to here */
    int64_t both_bytes;   /* neighbours use the scale-out ports, too, from here on */
    uint32_t n_engines;
    uint32_t depth; /* chunks of a way that are under way at a time, in rings; 0: all */
    bool all_ports; /* a message may use all NIC ports of its network; the transport spreads it */
    bool sends_wait, writes_wait; /* the first SEND, or WRITE into an output, for the receiver */
};

enum hccl_buffer { HCCL_INPUT, HCCL_OUTPUT, HCCL_SCRATCH, HCCL_N_BUFFERS };

struct hccl_place {
    enum hccl_buffer buffer;
    int64_t offset;
};

#define HCCL_NO_FLAG UINT32_MAX

struct hccl_element {
    enum schedule_element kind;
    uint32_t peer;              /* SEND, WRITE: to; RECV: from; WAIT: who sets, if not this rank */
    int64_t bytes;              /* 0: a WRITE of a flag alone */
    struct hccl_place a, b, to; /* sources; destination, at the peer for SEND and WRITE */
    uint32_t flag, value;       /* WAIT, SET: here; WRITE: at the peer. WAIT: how many */
    uint32_t match;             /* SEND, RECV: the other one; WRITE: none */
    uint32_t lane;
    uint8_t nic;
};

struct hccl_lane {
    uint32_t rank, number, engine; /* number: within the rank; the same at both ends of a SEND */
    uint32_t first, n;             /* elements */
};

struct hccl_graph {
    struct hccl_call call;
    struct hccl_layout layout;
    GArray *elements; /* struct hccl_element */
    GArray *lanes;    /* struct hccl_lane, by rank */
    int64_t scratch_bytes;
    uint32_t n_flags; /* numbers below are used, at any rank */
};

/*
 * Compiles a call; the error says why an algorithm cannot be had. hccl_clear() afterwards.
 */
gboolean hccl_compile(struct hccl_graph *graph, const struct hccl_layout *layout,
                      const struct hccl_call *call, GError **error);
void hccl_clear(struct hccl_graph *graph);

/* Bytes from rank p to rank q and where they begin in p's input and in q's output: all-to-all. */
int64_t hccl_part(const struct hccl_graph *graph, uint32_t p, uint32_t q, int64_t *from,
                  int64_t *to);

/* Segment k of n of S bytes. */
void hccl_segment(int64_t bytes, uint64_t n, uint64_t k, int64_t *offset, int64_t *length);

/*
 * Acyclic, every wait satisfied, every SEND with its RECV of the same size, as many bytes moved as
 * the algorithm has to. The error names rank, engine, lane and flag of what would wait for ever.
 */
gboolean hccl_check(const struct hccl_graph *graph, GError **error);

/* Takes SET number `number` (from 0) out of the graph: to see how a graph that hangs is told. */
gboolean hccl_omit_set(struct hccl_graph *graph, uint32_t number);

const char *hccl_kind_name(enum hccl_kind kind);
const char *hccl_algorithm_name(enum hccl_algorithm algorithm);

/* --- building, for the algorithms (hccl_*.c) --- */

/* Begins a lane; elements follow. */
void hccl_lane_begin(struct hccl_graph *graph, uint32_t rank, uint32_t number, uint32_t engine);
void hccl_send(struct hccl_graph *graph, uint32_t peer, uint8_t nic, struct hccl_place from,
               int64_t bytes);
void hccl_recv(struct hccl_graph *graph, uint32_t peer, struct hccl_place to, int64_t bytes);
void hccl_write(struct hccl_graph *graph, uint32_t peer, uint8_t nic, struct hccl_place from,
                struct hccl_place to, int64_t bytes, uint32_t flag);
/* `setter`: a rank that sets it, the rank itself for a flag between its lanes */
void hccl_wait(struct hccl_graph *graph, uint32_t setter, uint32_t flag, uint32_t value);
void hccl_set(struct hccl_graph *graph, uint32_t flag);
void hccl_reduce(struct hccl_graph *graph, struct hccl_place a, struct hccl_place b,
                 struct hccl_place to, int64_t bytes);
void hccl_copy(struct hccl_graph *graph, struct hccl_place a, struct hccl_place to, int64_t bytes);

/* The NIC port for lane `index` from rank p to rank q. */
uint8_t hccl_nic(const struct hccl_graph *graph, uint32_t p, uint32_t q, uint32_t index);

/* How many ways there are side by side for a segment of `bytes`, and chunks on each. */
struct hccl_cut {
    uint32_t n_ways, n_chunks;
};
struct hccl_cut hccl_cut(const struct hccl_graph *graph, int64_t bytes);

/* Piece `piece` (way x n_chunks + chunk) of a range. */
void hccl_piece(struct hccl_cut cut, uint32_t piece, int64_t *offset, int64_t *length);

/* Ranks base, base + stride, ...: a ring; `at` is this rank's place in it. */
struct hccl_view {
    uint32_t base, stride, n, at;
};

struct hccl_range {
    int64_t offset, length;
};

/*
 * The phases of rings, as elements of the lane that is open. ranges[k] is the part of the output
 * that place k ends with (reduce-scatter) or begins with (all-gather). `own` is where a rank's own
 * operand lies: the input, or the output if that holds sums already. `index` chooses the NIC.
 */
void hccl_ring_reduce(struct hccl_graph *graph, const struct hccl_view *view,
                      const struct hccl_range *ranges, enum hccl_buffer own, uint32_t index);
void hccl_ring_gather(struct hccl_graph *graph, const struct hccl_view *view,
                      const struct hccl_range *ranges, uint32_t index);

/*
 * Begins lane `number` of way x chunks lanes with the receiver's word: the first lane tells the
 * rank before in the view that it is ready and waits for the one behind; the others wait for the
 * first.
 */
void hccl_ready(struct hccl_graph *graph, const struct hccl_view *view, uint32_t number,
                uint32_t n_lanes, uint32_t first_flag, uint32_t index);

/*
 * A lane's turn among the chunks of its way: it waits until the one `depth` chunks before has
 * ended, which tells it by flag first_flag + piece. At the begin and at the end of the lane.
 */
void hccl_turn_begin(struct hccl_graph *graph, struct hccl_cut cut, uint32_t rank, uint32_t piece,
                     uint32_t first_flag);
void hccl_turn_end(struct hccl_graph *graph, struct hccl_cut cut, uint32_t piece,
                   uint32_t first_flag);

/* The algorithms. */
gboolean hccl_ring(struct hccl_graph *graph, GError **error);
gboolean hccl_direct(struct hccl_graph *graph, GError **error);
gboolean hccl_doubling(struct hccl_graph *graph, GError **error);
gboolean hccl_hierarchical(struct hccl_graph *graph, GError **error);

/* --- lowering --- */

/* Calls on their way into a schedule: what comes on a stream waits for what came before. */
struct hccl_program {
    struct schedule *schedule;
    uint32_t n_ranks, n_streams;
    uint32_t profile_up, profile_out; /* transports of the two networks */
    uint64_t *last;                   /* [stream n_ranks + rank]: SCHEDULE_NONE or an operation */
    bool timed_enqueue; /* a group's time begins with the host's first enqueue, not the dispatch */
    uint64_t gate;      /* what hosts wait for before they enqueue more; SCHEDULE_NONE: nothing */
};

void hccl_program_init(struct hccl_program *program, struct schedule *schedule, uint32_t n_ranks,
                       uint32_t n_streams);
void hccl_program_clear(struct hccl_program *program);

/* All ranks wait for all that is on the streams, and their hosts go on together. */
void hccl_barrier(struct hccl_program *program);

enum hccl_start {
    HCCL_LAUNCHED, /* the host enqueues it, the device dispatches it */
    HCCL_CACHED,   /* the same, and the device has the work packet already */
    HCCL_INLINE,   /* a part of a larger work packet: nobody has to do with it */
    HCCL_FUSED,    /* and its first transfers are posted by what makes their bytes */
};

/*
 * Adds a call. On each rank it waits for what is last on its stream and, if not NULL, for
 * after[rank] (SCHEDULE_NONE: nothing). Afterwards it is the last on its stream.
 */
void hccl_lower(struct hccl_program *program, const struct hccl_graph *graph, uint32_t group,
                uint32_t stream, enum hccl_start start, const uint64_t *after);

#endif
