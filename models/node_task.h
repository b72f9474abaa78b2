/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operation on its way through a node that has several stations: what it waits for is one event,
 * and what comes then is a function.
 */
#ifndef WEFT_MODELS_NODE_TASK_H
#define WEFT_MODELS_NODE_TASK_H

#include "models/node.h"

struct node_task;
typedef void node_step(struct node_task *task);

struct node_task {
    struct event event;
    struct node *node;
    uint64_t index;
    struct schedule_op op;
    node_step *then;
    struct node_task *next;                  /* in a queue of the node's */
    struct node_task *later, **earlier_link; /* in the list of the node's open tasks */
    int64_t mark_ps;                         /* the node's */
    uint32_t n_left, count;                  /* the node's */
};

/* A task for the operation; the first step is taken when node_task_at() says. */
struct node_task *node_task_new(struct node *node, uint64_t index, const struct schedule_op *op);

/* `then` is called at the instant `at_ps`, which may be now: then it is called at once. */
void node_task_at(struct node_task *task, int64_t at_ps, node_step *then);

/* The end: the player goes on with the operation. Frees the task. */
void node_task_end(struct node_task *task, enum node_stage stage);

/* Frees what is open when the run ends. */
void node_task_clear(struct node *node);

#endif
