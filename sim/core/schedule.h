/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schedule contract: who does what after what. A directed acyclic graph of operations over
 * ranks, built by a workload and played by a backend; it knows nothing of packets.
 *
 * An operation becomes ready when `n_needed` of the edges into it have fired and the clock has
 * reached `start_ps`; further edges are ignored (that is how "the first of several" is said). An
 * edge fires when the operation it leaves is complete: a message at its receiver or, if the edge
 * says so, at its sender (all of it acknowledged).
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
};

enum schedule_when { SCHEDULE_AT_RECEIVER, SCHEDULE_AT_SENDER };

struct schedule_op {
    enum schedule_kind kind;
    uint32_t rank, peer;
    int64_t bytes;
    int64_t duration_ps;
    int64_t start_ps;  /* not before */
    uint32_t n_needed; /* edges that must fire; 0: a root */
    uint32_t group;    /* index into groups, or SCHEDULE_NO_GROUP */
    uint32_t profile;  /* index into profiles: which transport; 0 is the scenario's default */
    uint32_t stream;   /* ordered stream within a connection */
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
};

struct schedule {
    uint64_t n_ops;
    uint32_t n_ranks;
    uint32_t *rank_host; /* n_ranks hosts */
    GArray *groups;      /* struct schedule_group */
    GPtrArray *profiles; /* char *; [0] is "", the default */
    const struct schedule_source *source;
    void *data;
    struct schedule_store *store; /* private: stored operations and edges */
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

/* Computed form: takes `data`. */
void schedule_set_source(struct schedule *schedule, const struct schedule_source *source,
                         void *data, uint64_t n_ops);

/* Returns the group's number; takes nothing, copies the name. */
uint32_t schedule_add_group(struct schedule *schedule, const char *name, int64_t bytes,
                            uint32_t n_ranks, int64_t factor_n, int64_t factor_d);
struct schedule_group *schedule_group(const struct schedule *schedule, uint32_t index);

/* The number of the profile called `name`, added if new; NULL or "" is the default, 0. */
uint32_t schedule_profile(struct schedule *schedule, const char *name);

/* Sorts edges, finds roots, and checks ranks, hosts (n_hosts) and sizes; the error names the op. */
gboolean schedule_finish(struct schedule *schedule, uint32_t n_hosts, GError **error);

/* What the stored operations and edges take; 0 for a computed schedule. */
size_t schedule_bytes(const struct schedule *schedule);

void schedule_op(const struct schedule *schedule, uint64_t index, struct schedule_op *op);
uint64_t schedule_successor(const struct schedule *schedule, uint64_t index, uint32_t k,
                            enum schedule_when *when);
uint64_t schedule_root(const struct schedule *schedule, uint64_t k);

#endif
