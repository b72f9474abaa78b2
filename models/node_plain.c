/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plain host: constant times to issue and to notify, reductions at a constant rate, no limit on
 * how many run at once. All are 0 by default: the network alone.
 * Left out: queues of work requests, doorbells, memory. Source: our choice.
 */
#include "models/node.h"
#include "sim/core/units.h"

static int64_t issue_ps(const struct host_config *config, const struct schedule_op *op)
{
    (void)op;
    return config->issue_time;
}

static int64_t reduce_ps(const struct host_config *config, const struct schedule_op *op)
{
    return config->reduce_rate ? units_transmission_ps(op->bytes, config->reduce_rate) : 0;
}

static int64_t notify_ps(const struct host_config *config, const struct schedule_op *op)
{
    (void)op;
    return config->notify_time;
}

const struct node_ops node_plain = {
    .name = "plain",
    .summary = "Constant issue and notify times, reductions at a constant rate.",
    .source = "our choice",
    .issue_ps = issue_ps,
    .reduce_ps = reduce_ps,
    .notify_ps = notify_ps,
};
