-- SPDX-License-Identifier: GPL-2.0-or-later
-- A dissector of weft's experimental MetaRoCE header, for Wireshark and tshark:
--     tshark -X lua_script:docs/metaroce.lua -r capture.pcap
-- Meta has published no wire format. This one is ours: it holds what our model of MetaRoCE sends, in the
-- sizes that it counts (44 B before data, 54 B in an acknowledgement), behind UDP port 47910, in network order.
--
--   data, probe          kind 1, flags 1, path 2, csn 4, number 4, floor 4, sent_ns 4, stream 4, message 8,
--                        packet 4, message_bytes 8, then the payload
--   acknowledgement      kind 1, flags 1, path 2, expected 4, span 2, marks 4, share_mbps 4, echo_ns 4,
--                        bits 32 (a number of 256 bits, whose lowest is `expected`)
local metaroce = Proto("metaroce", "MetaRoCE (weft, experimental)")
local kinds = { [0] = "Data", [1] = "Probe", [2] = "Acknowledgement" }
local f = metaroce.fields

f.kind = ProtoField.uint8("metaroce.kind", "Kind", base.DEC, kinds)
f.ack_request = ProtoField.bool("metaroce.ack_request", "Acknowledgement requested", 8, nil, 0x01)
f.measured = ProtoField.bool("metaroce.measured", "Echo may be measured", 8, nil, 0x01)
f.path = ProtoField.uint16("metaroce.path", "Path")
f.csn = ProtoField.uint32("metaroce.csn", "Connection sequence number")
f.number = ProtoField.uint32("metaroce.number", "Number on the path")
f.floor = ProtoField.uint32("metaroce.floor", "Lowest unsettled number of the path")
f.sent = ProtoField.uint32("metaroce.sent_ns", "Sent at (ns, low 32 bits)")
f.stream = ProtoField.uint32("metaroce.stream", "Ordered stream")
f.message = ProtoField.uint64("metaroce.message", "Message (flow of weft)")
f.packet = ProtoField.uint32("metaroce.packet", "Packet of the message")
f.bytes = ProtoField.uint64("metaroce.message_bytes", "Bytes of the message")
f.expected = ProtoField.uint32("metaroce.expected", "Next number expected")
f.span = ProtoField.uint16("metaroce.span", "Numbers from there to behind the highest received")
f.marks = ProtoField.uint32("metaroce.marks", "Congestion marks so far")
f.share = ProtoField.uint32("metaroce.share_mbps", "Receiver's share (Mb/s)")
f.echo = ProtoField.uint32("metaroce.echo_ns", "Echo of sent_ns")
f.bits = ProtoField.bytes("metaroce.bits", "Received numbers")

-- fields in order: what, bytes
local data = { { f.csn, 4 }, { f.number, 4 }, { f.floor, 4 }, { f.sent, 4 }, { f.stream, 4 },
               { f.message, 8 }, { f.packet, 4 }, { f.bytes, 8 } }
local acknowledgement = { { f.expected, 4 }, { f.span, 2 }, { f.marks, 4 }, { f.share, 4 },
                          { f.echo, 4 }, { f.bits, 32 } }

function metaroce.dissector(buffer, pinfo, root)
    local kind = buffer(0, 1):uint()
    local tree = root:add(metaroce, buffer(), "MetaRoCE, " .. (kinds[kind] or "unknown"))
    local at = 4

    pinfo.cols.protocol = "MetaRoCE"
    tree:add(f.kind, buffer(0, 1))
    tree:add(kind == 2 and f.measured or f.ack_request, buffer(1, 1))
    tree:add(f.path, buffer(2, 2))
    for _, field in ipairs(kind == 2 and acknowledgement or data) do
        tree:add(field[1], buffer(at, field[2]))
        at = at + field[2]
    end
    if kind == 2 then
        pinfo.cols.info = string.format("Acknowledgement path=%d expected=%d", buffer(2, 2):uint(),
                                        buffer(4, 4):uint())
    else
        pinfo.cols.info = string.format("%s path=%d number=%d csn=%d", kinds[kind], buffer(2, 2):uint(),
                                        buffer(8, 4):uint(), buffer(4, 4):uint())
    end
end

DissectorTable.get("udp.port"):add(47910, metaroce)
