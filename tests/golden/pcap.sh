#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft run --pcap: tshark reads what is captured without a complaint, and finds in it what the run
# says of its packets.
. "$(dirname "$0")/../tap.bash"
lua=$PWD/docs/metaroce.lua
cd "$scratch" || exit 2

dissect() { # field...: a line a packet, all checksums checked
    tshark -r "$capture" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -X "lua_script:$lua" \
        -T fields "${@/#/-e}" 2>/dev/null
}
quiet() { # no expert has anything to say, no packet is malformed, all checksums are right
    [ -n "$(dissect frame.number)" ] && dissect _ws.expert.message _ws.malformed >said &&
        ! grep -q '[^[:space:]]' said || { sort said | uniq -c; return 1; }
}
counts() { # opcode, how many packets
    [ "$(dissect infiniband.bth.opcode | grep -cx "$1")" = "$2" ] ||
        { echo "not $2 of opcode $1:"; dissect infiniband.bth.opcode | sort | uniq -c; return 1; }
}
value() { # run, metric
    sed -n "s/^$2,\([^,]*\),.*/\1/p" "$1/summary.csv"
}

# three messages to host 1: 5 packets with a rest, 1 packet, 40 packets in the way of the second
capture=roce/capture.pcap
"$WEFT" run --topology star --workload list --set topology.hosts=4 --set topology.link_rate=100Gbps \
    --set 'workload.flows=0>1 16387B; 2>1 3B start=50us; 2>1 163840B; 3>1 163840B' \
    --set queue.kind=red --set queue.kmin=10KB --set queue.kmax=40KB --set queue.pmax=1 \
    --set transport.cc=dcqcn --pcap 1 --out roce --quiet
ok 'RoCEv2: tshark has no complaint' quiet
ok '(writes: first)' counts 6 3
ok '(middle)' counts 7 $((3 + 38 + 38))
ok '(last)' counts 8 3
ok '(only)' counts 10 1
cnps() { [ "$(value roce rocev2_cnps_sent)" -gt 0 ] && counts 129 "$(value roce rocev2_cnps_sent)"; }
ok '(congestion notifications)' cnps
marks() { [ "$(dissect ip.dsfield.ecn | grep -cx 3)" = "$(value roce marked_packets)" ]; }
ok '(marks)' marks
numbers() { # PSNs of each queue pair follow one another; each message's length is in its first
    dissect infiniband.bth.opcode infiniband.bth.destqp infiniband.bth.psn infiniband.reth.dmalen |
        awk '$1 < 16 { if ($3 != next_psn[$2]++) bad = 1; sum += $4 }
             END { exit bad || sum != 16387 + 3 + 2 * 163840 }'
}
ok '(PSNs and lengths)' numbers
acknowledged() { # the last one to each host names its last packet
    dissect infiniband.bth.opcode ip.dst infiniband.bth.psn |
        awk '$1 == 17 { last[$2] = $3 }
             END { exit last["10.0.0.0"] != 4 || last["10.0.0.2"] != 40 || last["10.0.0.3"] != 39 }'
}
ok '(acknowledgements)' acknowledged
ports() { # each packet of the link is there
    [ "$(dissect frame.number | wc -l)" = "$(awk -F, '$1 == 2 || $1 == 3 { n += $6 } END { print n }' roce/ports.csv)" ]
}
ok '(all that crossed the link)' ports
stamps() { # the first: 4178 B of host 0 or 2 behind 500 + 600 ns, at 100 Gb/s there and here
    [ "$(dissect frame.time_epoch | head -1)" = 0.000001768 ] &&
        dissect frame.time_epoch | sort -C -n
}
ok '(when)' stamps

"$WEFT" run --topology star --workload list --set topology.hosts=4 --set 'workload.flows=0>1 40KB' \
    --set loss.rate_per_link=20% --seed 2 --set transport.rto=50us --pcap nic:0.0 --out lossy --quiet
capture=lossy/capture.pcap
ok 'lost packets: no complaint' quiet
naks() { # those that came to the host, and all that it sent again
    [ "$(dissect infiniband.aeth.syndrome | grep -cx 96)" -ge 1 ] &&
        [ "$(dissect infiniband.bth.opcode | grep -cxE '6|7|8')" = "$(value lossy data_packets_sent)" ]
}
ok '(NAKs, retransmissions)' naks

capture=meta/capture.pcap
"$WEFT" run --topology star --workload list --set topology.hosts=4 --set topology.planes=2 \
    --set 'workload.flows=0>1 100001B' --set transport.name=metaroce --pcap nic:1.0,nic:1.1 --out meta --quiet
ok "MetaRoCE: tshark, with docs/metaroce.lua, has no complaint" quiet
packets() { # 25 packets of 4096 B, each once
    dissect metaroce.kind metaroce.packet metaroce.message_bytes metaroce.csn |
        awk '$1 == 0 { if ($3 != 100001) bad = 1; seen[$2]++ } $1 == 2 { acks++ }
             END { for (i = 0; i < 25; i++) if (seen[i] != 1) bad = 1; exit bad || !acks }'
}
ok '(packets, acknowledgements)' packets
sizes() { # a full packet: 14 + 40 + 8 + 44 + 4096 as the model counts it, without 24 B
    [ "$(dissect frame.len | sort -n | tail -1)" = 4202 ] && [ "$(dissect frame.len | sort -n | head -1)" = 116 ]
}
ok '(sizes)' sizes

capture=pause/capture.pcap
"$WEFT" run --topology star --workload incast --set topology.hosts=8 --set pfc.enable=on \
    --set transport.window=0B --set workload.bytes=200KB --pcap 1 --out pause --quiet
ok 'pauses: no complaint' quiet
pauses() { [ "$(dissect macc.opcode | grep -c 0x0101)" = "$(awk -F, '$1 == 2 || $1 == 3 { n += $(NF - 2) } END { print n }' pause/ports.csv)" ]; }
ok '(all of them)' pauses

refuses() { # text, argument...
    "$WEFT" run --topology star --workload incast --out none "${@:2}" >out 2>err
    [ $? = 2 ] && grep -qF -- "$1" err || { cat err; return 1; }
}
ok 'no such link' refuses 'link:999' --pcap 999
ok 'no link at all' refuses "a link's number" --pcap foo
ok 'a transport without a format' refuses 'have no format' --pcap 1 --set transport.name=example
ok 'a run on ns-3' refuses 'not those of ns3:p2p' --pcap 1 --set run.backend=ns3:p2p
gone() { "$WEFT" run --topology star --workload incast --out roce --quiet && [ ! -e roce/capture.pcap ]; }
ok 'a run without takes away an earlier capture' gone
echo "1..$number"
exit $failed
