#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft explain: sums that are exact, the parts of a known case, what is refused, exit codes.
. "$(dirname "$0")/../tap.bash"

cd "$scratch" || exit 2

# flow 1 waits at the switch for the packet of flow 0: 4178 B at 100 Gb/s
"$WEFT" run --topology star --workload list --set 'workload.flows=0>3 4096B; 1>3 4096B' \
    --set topology.hosts=4 --set topology.link_rate=100Gbps --out two --quiet
slow=$(awk -F, 'NR > 1 && $10 > 1 { print $1 }' two/flows.csv)
ok 'a flow' exits 0 "$WEFT" explain two "$slow"
ok '(the sum)' says out 'sum of the parts 2602720 ps, whole 2602720 ps: equal'
ok '(queueing, where)' grep -qE '^  queueing +334 ns +12\.8 % +334 ns +- +-$' out
ok '(the port)' grep -qE '^    at port [0-9]+ \(switch 4 -> host 3\) +334 ns +12\.8 %$' out
ok '(the last packet)' says out "ended by packet 0 of flow $slow, transmission 1 of it, over port"
ok 'its chain' exits 0 "$WEFT" explain two "$slow" --chain
chained() { # 6 segments that follow one another
    awk '/from_ps/ { on = 1; next }
         on { if (n++ && $1 != before) bad = 1; before = $2 }
         END { exit bad || n != 6 || before != 2602720 }' out
}
ok '(is one)' chained

"$WEFT" run --topology clos --workload allreduce --set topology.hosts=16 --set workload.bytes=256KiB \
    --set loss.rate_end_to_end=1% --set transport.name=metaroce --set topology.planes=2 --out ring --quiet
ok 'a run' exits 0 "$WEFT" explain ring
equal() { # every sum is the whole, none is missing: collective and run
    [ "$(grep -c ': equal$' out)" = 2 ] && ! grep -q 'NOT EQUAL' out && [ "$(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9]+ ' out)" = 10 ]
}
ok '(ten flows, the collective and the run)' equal
ok 'again: the same' bash -c "'$WEFT' explain ring | cmp - out"
same_file() { # the collective's time is that of summary.csv
    local time
    time=$(sed -n 's/^group_allreduce_time,\(.*\),ps/\1/p' ring/summary.csv)
    grep -qF "sum of the parts $time ps" out
}
ok '(the time of summary.csv)' same_file

"$WEFT" run --topology star --workload incast --set run.end=3us --out short --quiet 2>/dev/null
ok 'an unfinished flow: exit 3' exits 3 "$WEFT" explain short 0
ok '(and who waits)' says out 'no sum: it was not delivered' 'host 0 waits for'
printf 'flow,sequence,transmission,link\n0,0,1,0\n' >drop.csv
"$WEFT" run --topology star --workload list --set 'workload.flows=0>1 4096B' --set run.end=1ms \
    --set loss.drop_file=drop.csv --out stuck --quiet 2>/dev/null
ok 'a lost packet that nobody missed: exit 3' exits 3 "$WEFT" explain stuck 0
ok '(what is lost, where, since when)' says out '0 of its data packets arrived, 1 were lost .listed.' \
    'nothing of it has moved since 1183560 ps, when packet 0, transmission 1, was lost at port 0' \
    'its sender has had nothing it may send since 83560 ps'
ok 'an unfinished run: exit 3' exits 3 "$WEFT" explain short

ok 'no such flow' exits 2 "$WEFT" explain two 7
ok '(is said)' says err "flow '7': the number of a message is expected"
ok 'no folder' exits 2 "$WEFT" explain nowhere
ok '(is named)' says err 'nowhere/run.json'
ok 'nothing' exits 2 "$WEFT" explain
cp -r two other && sed -i 's/"version": "[^"]*"/"version": "v0"/' other/run.json
ok 'another version' exits 2 "$WEFT" explain other 0
ok '(is said)' says err 'other was played by weft v0'
cp -r two changed && sed -i 's/4096B/4095B/' changed/scenario.ini
ok 'another scenario' exits 2 "$WEFT" explain changed 0
ok '(is noticed)' says err 'this is not the run of the scenario.ini beside it'
echo "1..$number"
exit $failed
