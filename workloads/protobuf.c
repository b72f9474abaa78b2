/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/protobuf.h"

bool protobuf_varint(struct protobuf_span *span, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70 && span->at < span->end; shift += 7) {
        unsigned char byte = *span->at++;

        if (shift == 63 && byte > 1)
            return false;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool take_fixed(struct protobuf_span *span, int n_bytes, uint64_t *value)
{
    if (span->end - span->at < n_bytes)
        return false;
    *value = 0;
    for (int i = n_bytes - 1; i >= 0; i--)
        *value = *value << 8 | span->at[i];
    span->at += n_bytes;
    return true;
}

static bool take_bytes(struct protobuf_span *span, struct protobuf_span *bytes)
{
    uint64_t length;

    if (!protobuf_varint(span, &length) || length > (uint64_t)(span->end - span->at))
        return false;
    *bytes = (struct protobuf_span){span->at, span->at + length};
    span->at += length;
    return true;
}

bool protobuf_next(struct protobuf_span *span, struct protobuf_field *field, bool *fault)
{
    uint64_t tag;
    bool ok;

    *fault = false;
    if (span->at == span->end)
        return false;
    ok = protobuf_varint(span, &tag) && tag >> 3 > 0 && tag >> 3 <= UINT32_MAX >> 3;
    *field = (struct protobuf_field){.number = (uint32_t)(tag >> 3),
                                     .wire = (enum protobuf_wire)(tag & 7)};
    switch (ok ? tag & 7 : 3) {
    case PROTOBUF_VARINT:
        ok = protobuf_varint(span, &field->value);
        break;
    case PROTOBUF_FIXED64:
        ok = take_fixed(span, 8, &field->value);
        break;
    case PROTOBUF_FIXED32:
        ok = take_fixed(span, 4, &field->value);
        break;
    case PROTOBUF_BYTES:
        ok = take_bytes(span, &field->bytes);
        break;
    default:
        ok = false;
    }
    *fault = !ok;
    return ok;
}

int64_t protobuf_zigzag(uint64_t bits)
{
    return (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
}
