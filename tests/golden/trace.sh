#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft trace: the story of a message to the byte, what it says of losses, and a trace that is JSON
# whose spans nest.
. "$(dirname "$0")/../tap.bash"

tree=$PWD
cd "$scratch" || exit 2

# two packets of 4178 and 986 B at 100 Gb/s over one switch (500 ns + 600 ns + 500 ns), the second
# lost once: nobody hears of it before the timeout, 20 us after the first packet was sent
printf 'flow,sequence,transmission,link\n0,1,1,0\n' >drops.csv
"$WEFT" run --topology star --workload list --set 'workload.flows=0>1 5000B' --set topology.hosts=2 \
    --set topology.link_rate=100Gbps --set transport.rto=20us --set loss.drop_file=drops.csv --out two --quiet
ok 'as text' exits 0 "$WEFT" trace two --flow 0
cat >expected <<'END2'
               0  flow 0 begins
               0  flow 0 is handed to the transport
               0  the sender on port 0 (host 0 -> switch 2) is ready: a message was posted
               0  packet 0 of flow 0, 4178 B, is sent by port 0 (host 0 -> switch 2) until 334240
          334240  packet 1 of flow 0, 986 B, is sent by port 0 (host 0 -> switch 2) until 413120
          413120  the sender on port 0 (host 0 -> switch 2) has nothing it may send
         1434240  packet 0 of flow 0, 4178 B, is sent by port 3 (switch 2 -> host 1) until 1768480
         1513120  packet 1 of flow 0 is LOST at port 0 (host 0 -> switch 2) (listed)
         2268480  packet 0 of flow 0 is taken by host 1
        20000000  the sender on port 0 (host 0 -> switch 2) is ready: a timer
END2
ok '(to the byte)' cmp expected <(head -10 out)
ok '(the end)' grep -q '^ *22[0-9]* *flow 0 is DELIVERED$' out
ok '(the answer)' grep -qE 'answer to packet 1 of flow 0, 84 B, is sent by port 2 \(host 1 -> switch 2\)' out
ok '(in order)' sort -sc -k1,1n out

"$WEFT" run --topology clos --workload allreduce --set topology.hosts=8 --set topology.hosts_per_leaf=4 \
    --set workload.bytes=64KiB --set host.issue_time=1us --out ring --quiet
ok 'for Chrome' exits 0 "$WEFT" trace ring --flow 0,9 --format chrome --out trace.json
cat >check.py <<'END2'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
open_spans, busy, names = {}, {}, set()
for e in events:
    names |= {e["name"], e.get("args", {}).get("name")}
    if e["ph"] in "be":
        key = (e["pid"], e["cat"], e["id"])
        if e["ph"] == "b":
            open_spans.setdefault((key, e["name"]), []).append(e["ts"])
        else:
            assert open_spans[(key, e["name"])].pop() <= e["ts"], e
    if e["ph"] == "X" and e["pid"] == 2:  # a wire carries one packet at a time
        busy.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
assert not any(open_spans.values())
for spans in busy.values():
    spans.sort()
    assert all(a[1] <= b[0] + 1e-9 for a, b in zip(spans, spans[1:])), spans
waiting = [e["args"]["bytes"] for e in events if e["ph"] == "C"]
assert all(b >= 0 for b in waiting) and (not waiting or waiting[-1] == 0)
assert bool(waiting) == (sys.argv[2] == "waits")
for name in sys.argv[3:] + ["flows", "ports and queues", "collectives", "ranks"]:
    assert name in names, name
END2
ok '(JSON, spans that end, wires that carry one packet at a time)' python3 check.py trace.json free 'flow 0' 'flow 9' allreduce issue

"$WEFT" run --topology star --workload incast --set workload.bytes=20KB --set transport.rto=100us --out incast --quiet
ok 'an incast for Chrome' exits 0 "$WEFT" trace incast --flow 0,1,2 --format chrome --out incast.json
ok '(what waits comes and goes)' python3 check.py incast.json waits 'flow 2'

WEFT_DATA=$tree "$WEFT" run mtia-small --set run.flows=on --out mtia --quiet
flow=$(sed -n 2p mtia/flows.csv | cut -d, -f1)
engines() { # elements of work queues in the tracks of their engines
    exits 0 "$WEFT" trace mtia --flow "$flow" --format chrome && grep -q '"name":"rank 0, engine 1"' out &&
        grep -q '"pid":5,.*"name":"WRITE","cat":"element"' out
}
ok 'message engines have tracks' engines

ok 'no flow' exits 2 "$WEFT" trace ring
ok 'no such flow' exits 2 "$WEFT" trace ring --flow 100000
ok 'no such format' exits 2 "$WEFT" trace ring --flow 0 --format xml
ok '(is said)' grep -q 'text or chrome is expected' err
ok 'a file that cannot be written' exits 2 "$WEFT" trace ring --flow 0 --out nowhere/x
ok '(is said)' grep -q 'cannot write nowhere/x' err
echo "1..$number"
exit $failed
