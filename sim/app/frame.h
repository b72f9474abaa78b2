/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet of a run as the Ethernet frame it stands for, without preamble and FCS: Ethernet, IPv4
 * or IPv6, UDP, what its transport encodes, a payload of zeros and, for RoCEv2, the invariant CRC.
 *
 * Addresses are made up: node n is 02:00:nn:nn:nn:nn, a host's NIC on plane p is 10.ph.hh.hh (4
 * bits of plane, 20 of the host) or fd00::p:hhhh:hhhh. Data has ECT(0) or CE. What a model counts
 * beyond that (match bytes, the difference between its header size and the true one) follows as a
 * trailer; where the true packet is larger (a first packet's RETH), so is the frame.
 *
 * ICRC: InfiniBand Architecture, annex A17: CRC-32 of Ethernet over 8 bytes of ones and the packet
 * from IP on, with ones for what changes on the way: type of service, time to live, both checksums,
 * and the byte of BTH that carries congestion bits; it is sent with its lowest byte first.
 */
#ifndef WEFT_SIM_APP_FRAME_H
#define WEFT_SIM_APP_FRAME_H

#include "models/transport.h"

struct frame_ends { /* of the wire, and of the packet's whole way */
    uint32_t node, peer, from_host, to_host, plane;
};

/* Appends the frame to `bytes`. */
void frame_build(GByteArray *bytes, const struct packet *packet, enum packet_ecn ecn,
                 const struct frame_ends *ends);

/* The invariant CRC of a packet from its IPv4 header on, `n` bytes, its own 4 not among them. */
uint32_t frame_icrc(const uint8_t *ip, size_t n);

#endif
