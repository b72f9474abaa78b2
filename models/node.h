/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The node seam: what it costs a rank to issue a message, to reduce, and to be told. A node model
 * is one node_NAME.c and one line in models/node_list.c.
 */
#ifndef WEFT_MODELS_NODE_H
#define WEFT_MODELS_NODE_H

#include "models/backend.h"

struct node_ops {
    const char *name, *summary, *source;
    int64_t (*issue_ps)(const struct host_config *config, const struct schedule_op *op);
    int64_t (*reduce_ps)(const struct host_config *config, const struct schedule_op *op);
    int64_t (*notify_ps)(const struct host_config *config, const struct schedule_op *op);
};

extern const struct node_ops node_plain;
extern const struct node_ops *const node_list[]; /* in the order of the choice host.node */

#endif
