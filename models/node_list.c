/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/node.h"

/* The order is that of the choices of host.node in models/config.c. */
const struct node_ops *const node_list[] = {&node_plain, &node_mtia300, &node_gpu, NULL};
