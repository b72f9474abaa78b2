/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wire format of protobuf, as much as a reader of hostile files needs: fields one after the
 * other out of a span of bytes, never beyond its end. Groups (wire types 3 and 4), which proto3 has
 * not, are a fault.
 * Source: protobuf.dev, "Encoding".
 */
#ifndef WEFT_WORKLOADS_PROTOBUF_H
#define WEFT_WORKLOADS_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protobuf_span {
    const unsigned char *at, *end;
};

enum protobuf_wire {
    PROTOBUF_VARINT = 0,
    PROTOBUF_FIXED64 = 1,
    PROTOBUF_BYTES = 2,
    PROTOBUF_FIXED32 = 5
};

struct protobuf_field {
    uint32_t number;
    enum protobuf_wire wire;
    uint64_t value;             /* of a varint or a fixed number, its bits */
    struct protobuf_span bytes; /* of PROTOBUF_BYTES */
};

/* Takes a varint off the front; false if it is cut short or longer than 64 bits. */
bool protobuf_varint(struct protobuf_span *span, uint64_t *value);

/* Takes a field off the front; false at the end, with *fault set if it is not a clean one. */
bool protobuf_next(struct protobuf_span *span, struct protobuf_field *field, bool *fault);

/* The integer that a sint32 or sint64 of these bits means. */
int64_t protobuf_zigzag(uint64_t bits);

#endif
