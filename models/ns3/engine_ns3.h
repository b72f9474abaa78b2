/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weft's fabric on ns-3: the same hosts, transports and player, on ns-3's simulator, packets,
 * devices, queues and channels (ns3c.h).
 *
 * What is ns-3's: the clock; when a transmission begins and ends; what waits in a queue, what fits,
 * and in which order it leaves; propagation; in the form `ip` also IPv4, its headers, its marks and
 * its forwarding. What is weft's: the tables and the choice among equal-cost ports, the rule by
 * which a packet is marked and the draw by which it is lost, asked of weft at the places where ns-3
 * asks; and the order within an instant: what ns-3 has for an instant is put into weft's event
 * queue, which one last event of the instant plays.
 *
 * Leaves out, with an error before the run: PFC, shared buffers, priorities, marks at dequeue, slow
 * hosts, clock drift, rates at which a byte takes no whole number of picoseconds.
 */
#ifndef WEFT_MODELS_NS3_ENGINE_NS3_H
#define WEFT_MODELS_NS3_ENGINE_NS3_H

#include "models/backend.h"

extern const struct backend_ops backend_ns3_p2p, backend_ns3_ip;

#endif
