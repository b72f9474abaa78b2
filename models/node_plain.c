/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plain host: constant times to issue and to notify, reductions at a constant rate, no limit on
 * how many run at once. All are 0 by default: the network alone. A matrix product takes no time,
 * and neither does the way from the host program to the device. Left out: queues of work requests,
 * doorbells, memory. Source: our choice.
 */
#include "models/node.h"
#include "sim/core/units.h"

static int64_t issue(struct node *node, uint64_t index, const struct schedule_op *op)
{
    (void)index, (void)op;
    return node->config->issue_time;
}

static int64_t perform(struct node *node, uint64_t index, const struct schedule_op *op)
{
    (void)index;
    if (op->kind == SCHEDULE_COMPUTE)
        return op->duration_ps;
    if (op->kind == SCHEDULE_REDUCE && node->config->reduce_rate)
        return units_transmission_ps(op->bytes, node->config->reduce_rate);
    return 0;
}

static int64_t notify(struct node *node, uint64_t index, const struct schedule_op *op)
{
    (void)index, (void)op;
    return node->config->notify_time;
}

const struct node_ops node_plain = {
    .name = "plain",
    .summary = "Constant issue and notify times, reductions at a constant rate.",
    .source = "our choice",
    .size = sizeof(struct node),
    .issue = issue,
    .perform = perform,
    .notify = notify,
};
