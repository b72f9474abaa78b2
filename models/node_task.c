/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/node_task.h"

static void fires(struct event_queue *queue, struct event *event)
{
    struct node_task *task = (struct node_task *)(void *)event;

    (void)queue;
    task->then(task);
}

struct node_task *node_task_new(struct node *node, uint64_t index, const struct schedule_op *op)
{
    struct node_task *task = g_new0(struct node_task, 1);

    task->node = node;
    task->index = index;
    task->op = *op;
    /* by the operation, as the player's own tasks: order does not tell when it was scheduled */
    event_init(&task->event, fires, EVENT_CLASS_TIMER | UINT64_C(1) << 59 | index);
    task->later = node->tasks;
    task->earlier_link = &node->tasks;
    if (task->later)
        task->later->earlier_link = &task->later;
    node->tasks = task;
    return task;
}

static void release(struct node_task *task)
{
    *task->earlier_link = task->later;
    if (task->later)
        task->later->earlier_link = task->earlier_link;
    g_free(task);
}

void node_task_at(struct node_task *task, int64_t at_ps, node_step *then)
{
    task->then = then;
    if (at_ps <= engine_now_ps(task->node->engine))
        then(task);
    else
        event_schedule(&task->node->engine->events, &task->event, at_ps);
}

void node_task_end(struct node_task *task, enum node_stage stage)
{
    struct node *node = task->node;
    uint64_t index = task->index;

    release(task);
    node_proceed(node, index, stage);
}

void node_task_clear(struct node *node)
{
    while (node->tasks)
        release(node->tasks);
}
