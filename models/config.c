/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The groups of a scenario that configure the models, and their parameter tables. */
#include "models/backend.h"

static const struct param queue_params[] = {
    PARAM(CHOICE, struct queue_config, kind, "droptail", NULL, NULL, "droptail|red|step",
          "Discipline of every switch port.", "our choice: ECN is switched on by name"),
    PARAM(BYTES, struct queue_config, limit, "1MiB", "0B", NULL, NULL,
          "Bytes that may wait at a port, without the packet in service.",
          "SOURCES.md 5: about 1.29 MB a 400G port of a 165 MB switch; our choice: below that"),
    PARAM(BYTES, struct queue_config, kmin, "100KB", "0B", NULL, NULL,
          "RED: no mark up to here; step: mark from here.",
          "SOURCES.md 1.5: 0.2 BDP at 400G, 10 us"),
    PARAM(BYTES, struct queue_config, kmax, "400KB", "0B", NULL, NULL,
          "RED: every packet marked from here on.", "SOURCES.md 1.5: 0.8 BDP at 400G, 10 us"),
    PARAM(RATIO, struct queue_config, pmax, "1", "0", "1", NULL,
          "RED: marking probability just below kmax.",
          "SOURCES.md 1.5: UE 1.0.3 for lossy fabrics"),
    PARAM(
        TEXT, struct queue_config, ecn_map, "", NULL, NULL, NULL,
        "RED and step: kmin, kmax and pmax by the rate of a port, such as 25Gbps 100KB 400KB 20%; "
        "100Gbps 400KB 1600KB 20%. Every switch port must find its rate.",
        "our choice: none; HPCC's KMIN_MAP, KMAX_MAP and PMAX_MAP"),
    PARAM(TEXT, struct queue_config, priorities, "0,0,0", NULL, NULL, NULL,
          "Strict priorities, 0 (lowest) to 7, of data, acknowledgements and other control (CNPs, "
          "probes); each priority has a queue of its own.",
          "our choice: one queue"),
    PARAM(CHOICE, struct queue_config, mark_at, "enqueue", NULL, NULL, "enqueue|dequeue",
          "When a packet is marked: by the bytes it finds waiting, or by those it leaves behind.",
          "our choice: enqueue; HPCC's code marks at dequeue"),
    PARAM(BOOL, struct queue_config, mark_last_hop, "on", NULL, NULL, NULL,
          "Whether switches mark on the links into hosts.",
          "our choice; SOURCES.md 4.1: MRC's fabrics switch it off, so that marks mean imbalance"),
    PARAM_END,
};

static const struct param buffer_params[] = {
    PARAM(CHOICE, struct buffer_config, kind, "per_port", NULL, NULL, "per_port|shared",
          "per_port: queue.limit alone; shared: the queues of a switch share its memory.",
          "our choice: what waits at one port does not touch another"),
    PARAM(BYTES, struct buffer_config, size, "32MB", "1B", NULL, NULL,
          "Memory of each switch for waiting packets, PFC's headroom included (shared kinds).",
          "SOURCES.md 3.2: HPCC's switch at 100G"),
    PARAM(CHOICE, struct buffer_config, threshold, "dynamic", NULL, NULL, "dynamic|fixed",
          "shared: a queue may hold alpha x what is free, or port_size.",
          "Choudhury and Hahne, IEEE/ACM ToN 1998"),
    PARAM(RATIO, struct buffer_config, alpha, "1", NULL, "128", NULL,
          "dynamic: limit of a queue as a multiple of the free shared memory.",
          "our choice: one full queue takes half of the memory"),
    PARAM(BYTES, struct buffer_config, port_size, "1MiB", "0B", NULL, NULL,
          "fixed: bytes a queue may hold, as long as the switch has them.",
          "our choice: that of queue.limit"),
    PARAM_END,
};

static const struct param pfc_params[] = {
    PARAM(BOOL, struct pfc_config, enable, "off", NULL, NULL, NULL,
          "Priority flow control on every link.", "our choice: off unless asked"),
    PARAM(TEXT, struct pfc_config, priorities, "0", NULL, NULL, NULL,
          "Priorities that PFC keeps from loss, such as 0,3; all.",
          "our choice: that of data by default"),
    PARAM(CHOICE, struct pfc_config, threshold, "static", NULL, NULL, "static|dynamic",
          "Xoff of an ingress port and priority: xoff, or alpha x the free shared memory.",
          "our choice; SOURCES.md 3.4: HPCC's is dynamic"),
    PARAM(BYTES, struct pfc_config, xoff, "37888B", "0B", NULL, NULL,
          "static: waiting bytes of an ingress port and priority from which its sender is paused.",
          "SOURCES.md 3.4: SONiC, Mellanox at 400G and 5 m, the part before headroom"),
    PARAM(RATIO, struct pfc_config, alpha, "0.125", NULL, "128", NULL,
          "dynamic: Xoff as a multiple of the free shared memory.",
          "SOURCES.md 3.4: HPCC, shift 3"),
    PARAM(BYTES, struct pfc_config, xon_offset, "3KB", "0B", NULL, NULL,
          "The sender may go on when so much below Xoff, and headroom is empty.",
          "SOURCES.md 3.4: HPCC"),
    PARAM(BYTES, struct pfc_config, headroom, "0B", "0B", NULL, NULL,
          "Memory of an ingress port and priority for what arrives after Xoff; 0: what its link "
          "needs.",
          "our choice: no guess; SOURCES.md 3.4: 150 KB at 400G and 1 us in HPCC"),
    PARAM(CHOICE, struct pfc_config, headroom_check, "error", NULL, NULL, "error|warn",
          "What happens if headroom is less than a link needs, or a pause may lapse before it is "
          "repeated.",
          "our choice: a class called lossless must not lose"),
    PARAM(TIME, struct pfc_config, response_time, "0ps", "0ps", "1ms", NULL,
          "Time from a pause frame's last bit to no further frame beginning.",
          "our choice: HPCC has none; IEEE 802.3 annex 31B allows microseconds"),
    PARAM(NUMBER, struct pfc_config, quanta, "65535", "1", "65535", NULL,
          "How long a pause frame silences its receiver, in 512 bit times.",
          "SOURCES.md 3.4: the most there is"),
    PARAM(RATIO, struct pfc_config, refresh, "0.5", "0", "1", NULL,
          "A pause is repeated after this share of its quanta; 0: never.", "our choice"),
    PARAM(BYTES, struct pfc_config, frame, "64B", "64B", "1500B", NULL,
          "Wire bytes of a pause frame.", "IEEE 802.3: the least frame, without preamble and gap"),
    PARAM_END,
};

static const struct param route_params[] = {
    PARAM(CHOICE, struct route_config, kind, "ecmp", NULL, NULL, "ecmp|spray",
          "How a switch chooses among equal-cost ports: ecmp by a hash of the 5-tuple, so that one "
          "flow is one path; spray at random for each packet.",
          "SOURCES.md 5"),
    PARAM(CHOICE, struct route_config, seeds, "per_switch", NULL, NULL, "per_switch|equal",
          "Hash seeds of the switches; equal seeds polarise.", "SOURCES.md 5"),
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
    PARAM(CHOICE, struct loss_config, class, "all", NULL, NULL, "all|data|ack|control|pfc",
          "Which packets are lost; all: all but pfc; ack: of these, all that is no data; control: "
          "CNPs and probes; pfc: pause frames.",
          "our choice: pause frames are lost only when named"),
    PARAM(TEXT, struct loss_config, tiers, "all", NULL, NULL, NULL,
          "Tiers of links with rate_per_link, such as 1,2 (1: host links); all.", "our choice"),
    PARAM(TEXT, struct loss_config, planes, "all", NULL, NULL, NULL,
          "Planes with loss, such as 0,2-3; all.", "our choice"),
    PARAM(CHOICE, struct loss_config, direction, "both", NULL, NULL, "both|up|down",
          "Directions with rate_per_link: up is away from the hosts.", "our choice"),
    PARAM(NUMBER, struct loss_config, burst_length_packets, "0", NULL, NULL, NULL,
          "Gilbert-Elliott with a clock of packets: mean length of a burst, in packets; 0: off.",
          "our choice: off unless asked"),
    PARAM(NUMBER, struct loss_config, burst_gap_packets, "0", NULL, NULL, NULL,
          "Mean distance from a burst's end to the next one's begin, in packets.",
          "our choice: no default can be meant"),
    PARAM(TIME, struct loss_config, burst_length_time, "0ps", NULL, NULL, NULL,
          "Gilbert-Elliott with a clock of time: mean duration of a burst; 0: off.",
          "our choice: off unless asked"),
    PARAM(TIME, struct loss_config, burst_gap_time, "0ps", NULL, NULL, NULL,
          "Mean time from a burst's end to the next one's begin.",
          "our choice: no default can be meant"),
    PARAM(RATIO, struct loss_config, burst_loss, "1", "0", "1", NULL,
          "Probability that a packet is lost within a burst.", "Gilbert 1960: all are"),
    PARAM(TEXT, struct loss_config, drop_file, "", NULL, NULL, NULL,
          "CSV file flow,sequence,transmission,link: these data packets are lost, once each.",
          "our choice: none"),
    PARAM_END,
};

static const struct param faults_params[] = {
    PARAM(TEXT, struct faults_config, file, "", NULL, NULL, NULL,
          "CSV file time,object,change and, optionally, until: what happens to links in the run, "
          "beside the [fault:NAME] groups.",
          "our choice: none"),
    PARAM(TIME, struct faults_config, convergence_time, "1ms", NULL, NULL, "never",
          "From a link going down or coming back to every switch having new shortest paths.",
          "our choice: between a fail-over in hardware (microseconds) and a routing protocol's "
          "(SOURCES.md 4.1: a port's failure told to peers takes seconds)"),
    PARAM(CHOICE, struct faults_config, rehash, "modulo", NULL, NULL, "modulo|resilient",
          "What new paths do to flows on those that stay: each chooses anew among as many ports as "
          "are left, or only the flows of dead ports move.",
          "our choice: the plain hash; RFC 2992, 2 on modulo and its disruption"),
    PARAM(TIME, struct faults_config, window, "500us", "50ps", "10s", NULL,
          "Over which goodput is averaged to tell whether traffic has recovered.",
          "our choice: fifty round trips of 10 us, so that 1 % is more than chance"),
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
    PARAM(RATE, struct host_config, receive_rate, "0bps", "0bps", NULL, NULL,
          "Rate at which each NIC port takes in what has arrived; 0: at once.",
          "our choice: a host that keeps up"),
    PARAM(BYTES, struct host_config, receive_buffer, "1MiB", "0B", NULL, NULL,
          "Bytes that may wait in a NIC port to be taken in.", "our choice: as queue.limit"),
    PARAM_END,
};

const struct model_group model_groups[] = {
    {"queue", "Queues of the switch ports, and ECN marking.", queue_params,
     offsetof(struct model_config, queue)},
    {"buffer", "Memory of the switches.", buffer_params, offsetof(struct model_config, buffer)},
    {"pfc", "Priority flow control.", pfc_params, offsetof(struct model_config, pfc)},
    {"route", "Choice among equal-cost ports.", route_params, offsetof(struct model_config, route)},
    {"loss", "Loss on the wires: random, in bursts, by a list.", loss_params,
     offsetof(struct model_config, loss)},
    {"faults", "What switches make of links that fail during a run.", faults_params,
     offsetof(struct model_config, faults)},
    {"host", "NICs and what a host does around its messages.", host_params,
     offsetof(struct model_config, host)},
    {NULL, NULL, NULL, 0},
};
