/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The node seam: what a host does around its messages. The player hands an operation to the node
 * of its rank and is told when it is issued (a message: handed to its transport) or done (all
 * else), and when the program at the receiving end knows of a message. A node model is one
 * node_NAME.c, one line in models/node_list.c, and a group of parameters if it has any.
 *
 * A node is an object with state and events of its own: it may answer at once with a time from now,
 * or with NODE_LATER, and call node_proceed() when it is so.
 */
#ifndef WEFT_MODELS_NODE_H
#define WEFT_MODELS_NODE_H

#include "models/backend.h"
#include "models/engine.h"
#include "models/ledger.h"

#define NODE_LATER      INT64_MIN
#define NODE_MAX_TOTALS 24

struct node_ops;

/* posted: what follows a message in its lane may go on, it is on its way to the transport;
 * done: performed, or told of */
enum node_stage { NODE_POSTED, NODE_ISSUED, NODE_DONE };

struct node {
    const struct node_ops *ops;
    struct engine *engine;
    const struct backend_run *run;
    const struct host_config *config;
    uint32_t host;
    struct ledger *ledger; /* NULL where no time is accounted */
    struct player *player;
    struct node_task *tasks; /* open ones (models/node_task.h) */
};

struct node_ops {
    const char *name, *summary, *source;
    size_t size;   /* of the struct that begins with struct node; zeroed by the player */
    bool accounts; /* says to the ledger what it is busy with */
    bool posts;    /* tells of NODE_POSTED before NODE_ISSUED; otherwise the two are one */
    /* Whether nodes can play the run's schedule; may be NULL. */
    gboolean (*check)(const struct backend_run *run, GError **error);
    /* Both may be NULL. */
    void (*open)(struct node *node);
    void (*close)(struct node *node);
    /*
     * Each: picoseconds from now, or NODE_LATER. A message of this host's is handed to its
     * transport; another operation is done; this host, where a message has arrived, knows of it.
     */
    int64_t (*issue)(struct node *node, uint64_t index, const struct schedule_op *op);
    int64_t (*perform)(struct node *node, uint64_t index, const struct schedule_op *op);
    int64_t (*notify)(struct node *node, uint64_t index, const struct schedule_op *op);
    /* A message of this host's is acknowledged, or has failed; may be NULL. */
    void (*sent)(struct node *node, uint64_t index, const struct schedule_op *op);
    /* Names of its counters, NULL at the end, and the function that adds a node's; may be NULL. The
     * first are the work-queue elements that it handled, by kind, in the order of
     * schedule_element. */
    const char *const *totals;
    void (*report)(const struct node *node, int64_t *totals);
};

/*
 * What was answered with NODE_LATER is so now; the player goes on with it in this instant.
 * NODE_POSTED comes in between.
 */
void node_proceed(struct node *node, uint64_t index, enum node_stage stage);

extern const struct node_ops node_plain, node_mtia300, node_gpu;
extern const struct node_ops *const node_list[]; /* in the order of the choice host.node */

#endif
