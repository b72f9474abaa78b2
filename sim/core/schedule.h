/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schedule contract: who does what after what. A directed acyclic graph of operations over
 * ranks, built by a workload and played by a backend; it knows nothing of packets.
 *
 * An operation becomes ready when `n_needed` of the edges into it have fired and the clock has
 * reached `start_ps`; further edges are ignored (that is how "the first of several" is said). An
 * edge fires when the operation it leaves is complete: a message at its receiver or, if the edge
 * says so, at its sender (all of it acknowledged), or as soon as it is on its way (issued).
 *
 * Operations and edges may be stored (schedule_add_op, schedule_add_edge) or computed from their
 * number by a source: a ring over 8,192 ranks has 134 million operations.
 */
#ifndef WEFT_SIM_CORE_SCHEDULE_H
#define WEFT_SIM_CORE_SCHEDULE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SCHEDULE_NONE     UINT64_MAX
#define SCHEDULE_NO_GROUP UINT32_MAX

enum schedule_kind {
    SCHEDULE_MESSAGE, /* `bytes` from `rank` to `peer` */
    SCHEDULE_COMPUTE, /* `rank` is busy for duration_ps */
    SCHEDULE_REDUCE,  /* `rank` reduces `bytes`; the node model says how long that takes */
    SCHEDULE_JOIN,    /* takes no time; joins edges */
    SCHEDULE_GEMM,    /* `rank` multiplies matrices; the node model says how long that takes */
    SCHEDULE_CONTROL, /* an element that moves no bytes: a receive, a wait or a set */
    /* a collective or a kernel on its way from the host program to the device of `rank` */
    SCHEDULE_ENQUEUE,  /* the host prepares it and hands it over */
    SCHEDULE_DISPATCH, /* the device begins it */
    SCHEDULE_RETIRE,   /* the device is done with it */
};

enum schedule_when { SCHEDULE_AT_RECEIVER, SCHEDULE_AT_SENDER, SCHEDULE_AT_ISSUE };

/* What an operation is as a work-queue element of a message engine. */
enum schedule_element {
    SCHEDULE_NO_ELEMENT,
    SCHEDULE_SEND,  /* a message for which the peer has posted a receive */
    SCHEDULE_WRITE, /* a message that the peer learns of by a flag */
    SCHEDULE_RECV,
    SCHEDULE_WAIT,
    SCHEDULE_SET,
    SCHEDULE_REDUCED, /* S = A + B */
    SCHEDULE_COPIED,  /* S = A */
    SCHEDULE_N_ELEMENTS
};

enum schedule_flag {
    SCHEDULE_CACHED = 1,    /* an enqueue of what the device has already */
    SCHEDULE_ENDS_STEP = 2, /* its end is the end of a step of `rank` */
    SCHEDULE_FUSED = 4,     /* the tile of a product that made the bytes posts the message itself */
};

#define SCHEDULE_TYPES "fp8|fp16|bf16|tf32|fp32"

/* m x k times k x n; `type` is an index into SCHEDULE_TYPES. */
struct schedule_gemm {
    uint32_t m, n, k, type;
};

struct schedule_op {
    enum schedule_kind kind;
    uint32_t rank, peer; /* peer of a SCHEDULE_GEMM: index into gemms */
    int64_t bytes;
    int64_t duration_ps;
    int64_t start_ps;  /* not before */
    uint32_t n_needed; /* edges that must fire; 0: a root */
    uint32_t group;    /* index into groups, or SCHEDULE_NO_GROUP */
    uint32_t profile;  /* index into profiles: which transport; 0 is the scenario's default */
    uint32_t stream;   /* ordered stream within a connection */
    /* of a message: it uses NIC ports first_nic ... of both ends; n_nics = 0: all that reach */
    uint8_t first_nic, n_nics;
    /* message engines of rank and peer that handle it, for nodes that have such */
    uint8_t engine, peer_engine;
    uint8_t element; /* enum schedule_element */
    uint8_t flags;   /* enum schedule_flag */
    uint16_t lane;   /* the sequence of elements to which it belongs, within (group, rank) */
};

/* A computed schedule. `data` is owned by the schedule and freed by `free`. */
struct schedule_source {
    void (*op)(const void *data, uint64_t index, struct schedule_op *op);
    /* successor number k of operation `index`, or SCHEDULE_NONE past the last; sets *when */
    uint64_t (*successor)(const void *data, uint64_t index, uint32_t k, enum schedule_when *when);
    /* root number k, or SCHEDULE_NONE past the last */
    uint64_t (*root)(const void *data, uint64_t k);
    void (*free)(void *data);
};

/*
 * What a user looks at as one thing, such as one collective call. busbw = bytes / time x
 * factor_n / factor_d, with the definitions of nccl-tests.
 */
struct schedule_group {
    char *name;    /* "allreduce" */
    int64_t bytes; /* nccl-tests' size S, per rank */
    uint32_t n_ranks;
    int64_t factor_n, factor_d; /* 0 / 1 where busbw has no meaning */
    uint64_t n_ops; /* operations that belong to it; all must end for the group to end */
    bool contest;   /* its messages compete for one receiver: how fairly they share is measured */
    /* set after adding, where they mean something: */
    uint32_t n_calls;       /* calls of `bytes` each, one after the other; 1 */
    uint32_t element_bytes; /* of a value, for a row as nccl-tests print it; 0: no such row */
    int32_t root;           /* -1: none */
};

struct schedule {
    uint64_t n_ops;
    uint32_t n_ranks;
    uint32_t *rank_host; /* n_ranks hosts */
    GArray *groups;      /* struct schedule_group */
    GPtrArray *profiles; /* char *; [0] is "", the default */
    GArray *gemms;       /* struct schedule_gemm */
    bool elements;       /* some operation is an element of a message engine */
    bool issue_edges;    /* some edge fires at SCHEDULE_AT_ISSUE */
    const struct schedule_source *source;
    void *data;
    struct schedule_store *store; /* private: stored operations and edges */
    GHashTable *sayings;          /* operation -> char *; NULL: none. Looked up, never walked */
};

#define SCHEDULE_ERROR schedule_error_quark()
GQuark schedule_error_quark(void);

/* An empty stored schedule; rank r is on host r until rank_host is changed. */
void schedule_init(struct schedule *schedule, uint32_t n_ranks);
void schedule_clear(struct schedule *schedule);

/* Stored form. Adding returns the operation's number; edges go into op.n_needed by themselves
 * unless `optional`, for operations that need fewer than all. */
uint64_t schedule_add_op(struct schedule *schedule, const struct schedule_op *op);
void schedule_add_edge(struct schedule *schedule, uint64_t from, uint64_t to,
                       enum schedule_when when, bool optional);

/* Sets what `op` needs, after its edges: for "first of several" and "k-th of several". */
void schedule_set_needed(struct schedule *schedule, uint64_t op, uint32_t n_needed);

/*
 * What to tell the user if `op` never begins, where a file knows more than the graph does ("rank 0
 * waits for 8 B from rank 3, tag 0: nobody sends it"). schedule_saying(): that, or NULL.
 */
void schedule_say(struct schedule *schedule, uint64_t op, const char *text);
const char *schedule_saying(const struct schedule *schedule, uint64_t op);

/* Computed form: takes `data`. */
void schedule_set_source(struct schedule *schedule, const struct schedule_source *source,
                         void *data, uint64_t n_ops);

/* Returns the group's number; takes nothing, copies the name. */
uint32_t schedule_add_group(struct schedule *schedule, const char *name, int64_t bytes,
                            uint32_t n_ranks, int64_t factor_n, int64_t factor_d);
struct schedule_group *schedule_group(const struct schedule *schedule, uint32_t index);

/* The number of the profile called `name`, added if new; NULL or "" is the default, 0. */
uint32_t schedule_profile(struct schedule *schedule, const char *name);

/* The number of a matrix product, added if new. */
uint32_t schedule_gemm(struct schedule *schedule, const struct schedule_gemm *gemm);

/* "SEND", ...; "" where there is none. */
const char *schedule_element_name(enum schedule_element element);
/*
 * Adds all of `from`, which is finished, to `into`, which is stored and is not: its ranks come to
 * be `first_rank` and up, whose hosts are set here. What belongs to no group there goes into a
 * group called `name`, if that is not NULL.
 */
void schedule_append(struct schedule *into, const struct schedule *from, uint32_t first_rank,
                     const char *name);

/* Sorts edges, finds roots, and checks ranks, hosts (n_hosts) and sizes; the error names the op. */
gboolean schedule_finish(struct schedule *schedule, uint32_t n_hosts, GError **error);

/* What the stored operations and edges take; 0 for a computed schedule. */
size_t schedule_bytes(const struct schedule *schedule);

void schedule_op(const struct schedule *schedule, uint64_t index, struct schedule_op *op);
uint64_t schedule_successor(const struct schedule *schedule, uint64_t index, uint32_t k,
                            enum schedule_when *when);
uint64_t schedule_root(const struct schedule *schedule, uint64_t k);

#endif
