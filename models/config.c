/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The groups of a scenario that configure the models, and their parameter tables. */
#include "models/backend.h"

static const struct param queue_params[] = {
    PARAM(CHOICE, struct queue_config, kind, "droptail", NULL, NULL, "droptail|red|step",
          "Discipline of every switch port.", "our choice: ECN is switched on by name"),
    PARAM(BYTES, struct queue_config, limit, "1MiB", "0B", NULL, NULL,
          "Bytes that may wait at a port, without the packet in service.",
          "facts.md 5: about 1.29 MB a 400G port of a 165 MB switch; our choice: below that"),
    PARAM(BYTES, struct queue_config, kmin, "100KB", "0B", NULL, NULL,
          "RED: no mark up to here; step: mark from here.", "facts.md 1.5: 0.2 BDP at 400G, 10 us"),
    PARAM(BYTES, struct queue_config, kmax, "400KB", "0B", NULL, NULL,
          "RED: every packet marked from here on.", "facts.md 1.5: 0.8 BDP at 400G, 10 us"),
    PARAM(RATIO, struct queue_config, pmax, "1", "0", "1", NULL,
          "RED: marking probability just below kmax.", "facts.md 1.5: UE 1.0.3 for lossy fabrics"),
    PARAM_END,
};

static const struct param route_params[] = {
    PARAM(CHOICE, struct route_config, kind, "ecmp", NULL, NULL, "ecmp|spray",
          "How a switch chooses among equal-cost ports: ecmp by a hash of the 5-tuple, so that one "
          "flow is one path; spray at random for each packet.",
          "facts.md 5"),
    PARAM(CHOICE, struct route_config, seeds, "per_switch", NULL, NULL, "per_switch|equal",
          "Hash seeds of the switches; equal seeds polarise.", "facts.md 5"),
    PARAM_END,
};

static const struct param loss_params[] = {
    PARAM(RATIO, struct loss_config, rate_per_link, "0", "0", "1", NULL,
          "Probability that a packet is lost on one link, at each link it crosses.",
          "our choice: lossless unless asked"),
    PARAM(RATIO, struct loss_config, rate_end_to_end, "0", "0", "1", NULL,
          "Probability that a packet is lost on its way; drawn once, on the link into the "
          "receiving host.",
          "our choice: lossless unless asked"),
    PARAM(CHOICE, struct loss_config, class, "all", NULL, NULL, "all|data|ack",
          "Which packets are lost; ack stands for all that is no data.", "our choice"),
    PARAM(TEXT, struct loss_config, tiers, "all", NULL, NULL, NULL,
          "Tiers of links with rate_per_link, such as 1,2 (1: host links); all.", "our choice"),
    PARAM(TEXT, struct loss_config, planes, "all", NULL, NULL, NULL,
          "Planes with loss, such as 0,2-3; all.", "our choice"),
    PARAM(CHOICE, struct loss_config, direction, "both", NULL, NULL, "both|up|down",
          "Directions with rate_per_link: up is away from the hosts.", "our choice"),
    PARAM_END,
};

static const struct param host_params[] = {
    PARAM(
        RATIO, struct host_config, clock_drift, "0", "0", "0.001", NULL,
        "Each NIC's clock is slow by a uniform draw from 0 to this, such as 100ppm; constant in a "
        "run.",
        "our choice: 0 is exact; IEEE 802.3 allows 100 ppm either way, and the fastest is nominal "
        "here so that no flow beats its bound"),
    PARAM(CHOICE, struct host_config, node, "plain", NULL, NULL, "plain",
          "Model of what a host does around its messages.", "our choice"),
    PARAM(TIME, struct host_config, issue_time, "0ps", "0ps", "1s", NULL,
          "Time from an operation being ready to its message being handed to the transport.",
          "our choice: the network alone"),
    PARAM(TIME, struct host_config, notify_time, "0ps", "0ps", "1s", NULL,
          "Time from the last byte placed to the receiving program knowing it.",
          "our choice: the network alone"),
    PARAM(RATE, struct host_config, reduce_rate, "0bps", "0bps", NULL, NULL,
          "Speed of reductions, in bits of input per second; 0: they take no time.",
          "our choice: the network alone"),
    PARAM_END,
};

const struct model_group model_groups[] = {
    {"queue", "Queues of the switch ports, and ECN marking.", queue_params,
     offsetof(struct model_config, queue)},
    {"route", "Choice among equal-cost ports.", route_params, offsetof(struct model_config, route)},
    {"loss", "Random loss on the wires.", loss_params, offsetof(struct model_config, loss)},
    {"host", "NIC clocks and what a host does around its messages.", host_params,
     offsetof(struct model_config, host)},
    {NULL, NULL, NULL, 0},
};
