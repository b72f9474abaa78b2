/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/app/frame.c. What tshark makes of whole frames is in tests/golden/pcap.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/host.h"
#include "sim/app/frame.h"
#include <string.h>

/*
 * An RDMA WRITE of 8 bytes from 10.0.0.1 to 10.0.0.2, from its IPv4 header on. Its CRC was computed
 * by zlib over 8 bytes of 0xff and this with 0xff at 1, 8, 10, 11, 26, 27 and 32.
 */
static const uint8_t wanted[] = {
    0x45, 0x6a, 0x00, 0x44, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x26, 0x3d, 0x0a, 0x00, 0x00, 0x01,
    0x0a, 0x00, 0x00, 0x02, 0xc0, 0x00, 0x12, 0xb7, 0x00, 0x30, 0x00, 0x00, 0x0a, 0x40, 0xff, 0xff,
    0x00, 0x00, 0x00, 0x12, 0x80, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};

static void the_invariant_crc_is_invariant(void **state)
{
    static const size_t variable[] = {1, 8, 10, 11, 26, 27, 32};
    uint8_t bytes[sizeof wanted];

    (void)state;
    memcpy(bytes, wanted, sizeof bytes);
    assert_int_equal(frame_icrc(bytes, sizeof bytes), 0x61029ccc);
    for (size_t i = 0; i < G_N_ELEMENTS(variable); i++)
        bytes[variable[i]] ^= 0x5a;
    assert_int_equal(frame_icrc(bytes, sizeof bytes), 0x61029ccc);
    bytes[sizeof bytes - 1] ^= 1;
    assert_int_not_equal(frame_icrc(bytes, sizeof bytes), 0x61029ccc);
}

static void encode(const struct packet *packet, uint8_t *bytes, struct transport_wire *wire)
{
    (void)packet;
    memcpy(bytes, wanted + 28, 28);
    *wire = (struct transport_wire){.port = 4791, .icrc = true, .n_header = 28};
}

/* The same packet built, with a payload of zeros: headers as above, 4 B of CRC, 24 B not seen. */
static void a_frame_has_its_headers(void **state)
{
    static const struct transport_ops ops = {.encode = encode};
    struct host src = {.number = 1}, dst = {.number = 2};
    struct connection connection = {.ops = &ops, .src = &src, .dst = &dst};
    struct packet packet = {.connection = &connection,
                            .bytes = 14 + sizeof wanted + 4 + 24,
                            .payload = 8,
                            .class = PACKET_DATA,
                            .source_port = 0xc000};
    struct frame_ends ends = {.node = 1, .peer = 9, .from_host = 1, .to_host = 2};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    uint32_t crc;

    (void)state;
    frame_build(bytes, &packet, PACKET_ECT, &ends);
    assert_int_equal(bytes->len, packet.bytes - 24);
    assert_memory_equal(bytes->data, "\x02\x00\x00\x00\x00\x09\x02\x00\x00\x00\x00\x01\x08\x00",
                        14);
    assert_memory_equal(bytes->data + 14, wanted, sizeof wanted - 8);
    crc = frame_icrc(bytes->data + 14, sizeof wanted);
    for (guint i = 0; i < 4; i++)
        assert_int_equal(bytes->data[bytes->len - 4 + i], crc >> 8 * i & 0xff);

    /* marked, and of more bytes than it has: a trailer */
    packet.bytes += 6;
    g_byte_array_set_size(bytes, 0);
    frame_build(bytes, &packet, PACKET_CE, &ends);
    assert_int_equal(bytes->len, packet.bytes - 24);
    assert_int_equal(bytes->data[15], 0x6b);
    assert_memory_equal(bytes->data + bytes->len - 6, "\0\0\0\0\0\0", 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_invariant_crc_is_invariant),
        cmocka_unit_test(a_frame_has_its_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
