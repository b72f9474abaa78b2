/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/frame.h"
#include "models/pfc.h"
#include <string.h>

#define OVERHEAD_BYTES 24 /* of the model's wire bytes: preamble 8, FCS 4, gap 12 */
#define LEAST_BYTES    60
#define ETHERNET_BYTES 14
#define IPV4_BYTES     20
#define IPV6_BYTES     40
#define UDP_BYTES      8
#define ICRC_BYTES     4
#define UDP            17
#define HOPS           64
#define DSCP_DATA      26 /* AF31, as RoCE set-ups use */
#define DSCP_CONTROL   48 /* CS6 */

static void put(GByteArray *bytes, uint64_t value, int n_bytes)
{
    uint8_t text[8];

    transport_put(text, value, n_bytes);
    g_byte_array_append(bytes, text, (guint)n_bytes);
}

static void put_zeros(GByteArray *bytes, size_t n)
{
    guint before = bytes->len;

    g_byte_array_set_size(bytes, before + (guint)n);
    memset(bytes->data + before, 0, n);
}

/* --- checksums -------------------------------------------------------------------------------- */

static uint32_t crc_byte(uint32_t crc, uint8_t byte)
{
    /* four bits at a time, polynomial 0x04c11db7, lowest bit first */
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

    crc ^= byte;
    crc = crc >> 4 ^ table[crc & 15];
    return crc >> 4 ^ table[crc & 15];
}

uint32_t frame_icrc(const uint8_t *ip, size_t n)
{
    static const uint8_t variable[] = {
        1, 8, 10, 11, IPV4_BYTES + 6, IPV4_BYTES + 7, IPV4_BYTES + UDP_BYTES + 4};
    uint32_t crc = UINT32_MAX;
    size_t next = 0;

    for (int i = 0; i < 8; i++)
        crc = crc_byte(crc, 0xff);
    for (size_t i = 0; i < n; i++) {
        bool masked = next < sizeof variable && variable[next] == i;

        next += masked;
        crc = crc_byte(crc, masked ? 0xff : ip[i]);
    }
    return ~crc;
}

static uint32_t add_words(uint32_t sum, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum += (uint32_t)bytes[i] << (i & 1 ? 0 : 8);
    return sum;
}

static uint16_t fold(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* --- headers ---------------------------------------------------------------------------------- */

static void put_mac(GByteArray *bytes, uint32_t node)
{
    put(bytes, 0x0200, 2);
    put(bytes, node, 4);
}

static void put_ethernet(GByteArray *bytes, const struct frame_ends *ends, uint16_t type)
{
    put_mac(bytes, ends->peer);
    put_mac(bytes, ends->node);
    put(bytes, type, 2);
}

static uint8_t traffic_class(const struct packet *packet, enum packet_ecn ecn)
{
    static const uint8_t bits[] = {[PACKET_NOT_ECT] = 0, [PACKET_ECT] = 2, [PACKET_CE] = 3};

    return (uint8_t)((packet->class == PACKET_CONTROL ? DSCP_CONTROL : DSCP_DATA) << 2 | bits[ecn]);
}

static void put_ipv4_address(GByteArray *bytes, uint32_t plane, uint32_t host)
{
    put(bytes, 10u << 24 | (plane & 0xf) << 20 | (host & 0xfffff), 4);
}

static void put_ipv4(GByteArray *bytes, const struct frame_ends *ends, uint8_t class, size_t n)
{
    guint at = bytes->len;

    put(bytes, 0x45, 1);
    put(bytes, class, 1);
    put(bytes, IPV4_BYTES + n, 2);
    put(bytes, 0, 2);      /* identification */
    put(bytes, 0x4000, 2); /* may not be fragmented */
    put(bytes, HOPS, 1);
    put(bytes, UDP, 1);
    put(bytes, 0, 2);
    put_ipv4_address(bytes, ends->plane, ends->from_host);
    put_ipv4_address(bytes, ends->plane, ends->to_host);
    transport_put(bytes->data + at + 10, fold(add_words(0, bytes->data + at, IPV4_BYTES)), 2);
}

static void put_ipv6_address(GByteArray *bytes, uint32_t plane, uint32_t host)
{
    put(bytes, UINT64_C(0xfd) << 56, 8);
    put(bytes, plane, 4);
    put(bytes, host, 4);
}

static void put_ipv6(GByteArray *bytes, const struct frame_ends *ends, uint8_t class, size_t n)
{
    put(bytes, 6u << 28 | (uint32_t) class << 20, 4);
    put(bytes, n, 2);
    put(bytes, UDP, 1);
    put(bytes, HOPS, 1);
    put_ipv6_address(bytes, ends->plane, ends->from_host);
    put_ipv6_address(bytes, ends->plane, ends->to_host);
}

/* Over IPv6 a UDP checksum is a duty; over IPv4 RoCEv2 sends none. */
static void fill_udp_checksum(GByteArray *bytes, guint ip, guint udp)
{
    uint32_t n = bytes->len - udp;
    uint32_t sum = add_words(UDP + n, bytes->data + ip + 8, 32);
    uint16_t checksum = fold(add_words(sum, bytes->data + udp, n));

    transport_put(bytes->data + udp + 6, checksum ? checksum : 0xffff, 2);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void build_datagram(GByteArray *bytes, const struct packet *packet, enum packet_ecn ecn,
                           const struct frame_ends *ends)
{
    uint8_t header[TRANSPORT_WIRE_ROOM];
    struct transport_wire wire;

    packet->connection->ops->encode(packet, header, &wire);
    size_t pad = wire.icrc ? -packet->payload & 3 : 0;
    size_t n = UDP_BYTES + wire.n_header + packet->payload + pad + (wire.icrc ? ICRC_BYTES : 0);
    guint ip = bytes->len + ETHERNET_BYTES, udp = ip + (wire.ipv6 ? IPV6_BYTES : IPV4_BYTES);

    put_ethernet(bytes, ends, wire.ipv6 ? 0x86dd : 0x0800);
    if (wire.ipv6)
        put_ipv6(bytes, ends, traffic_class(packet, ecn), n);
    else
        put_ipv4(bytes, ends, traffic_class(packet, ecn), n);
    put(bytes, packet->source_port, 2);
    put(bytes, wire.port, 2);
    put(bytes, n, 2);
    put(bytes, 0, 2);
    g_byte_array_append(bytes, header, wire.n_header);
    put_zeros(bytes, packet->payload + pad);
    if (wire.ipv6)
        fill_udp_checksum(bytes, ip, udp);
    if (wire.icrc)
        put(bytes, GUINT32_SWAP_LE_BE(frame_icrc(bytes->data + ip, bytes->len - ip)), 4);
}

static void build_pause(GByteArray *bytes, const struct packet *packet,
                        const struct frame_ends *ends)
{
    uint8_t pause[PFC_WIRE_BYTES];

    put(bytes, UINT64_C(0x0180c2000001), 6);
    put_mac(bytes, ends->node);
    put(bytes, 0x8808, 2);
    pfc_encode(packet, pause);
    g_byte_array_append(bytes, pause, sizeof pause);
}

void frame_build(GByteArray *bytes, const struct packet *packet, enum packet_ecn ecn,
                 const struct frame_ends *ends)
{
    guint before = bytes->len, least;

    if (packet->class == PACKET_PFC)
        build_pause(bytes, packet, ends);
    else
        build_datagram(bytes, packet, ecn, ends);
    least = MAX(packet->bytes, LEAST_BYTES + OVERHEAD_BYTES) - OVERHEAD_BYTES;
    if (bytes->len - before < least)
        put_zeros(bytes, least - (bytes->len - before));
}
