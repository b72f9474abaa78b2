/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/fabric.h"

/* The order is that of the choices of route.kind in models/config.c. */
const struct route_ops *const route_list[] = {&route_ecmp, &route_spray, NULL};
