/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/queue.h"

/* The order is that of the choices of queue.kind in models/config.c. */
const struct queue_ops *const queue_list[] = {&queue_droptail, &queue_red, &queue_step, NULL};
