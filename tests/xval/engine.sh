#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft run --engine ns3 leaves the files that the native engine leaves, byte for byte where they say
# what happened; what ns-3 cannot play, and a weft-ns3 that is not there or breaks, are one line; and
# no object of ours in weft-ns3 uses GSL.
. "$(dirname "$0")/../tap.bash"
BUILD=$(realpath "${BUILD:-build}")
[ -x "$BUILD/weft-ns3" ] || { echo "ok 1 - engine # SKIP no weft-ns3 here: libns3-dev"; exit 0; }
cd "$scratch" || exit 2

scenario=(--topology clos --set topology.hosts=16 --set topology.planes=2 --workload incast
    --set workload.bytes=200kB --set queue.kind=red --set loss.rate_per_link=1%)
same_files() { # options: flows, ports, summary and series are those of the native engine
    local engine file
    "$WEFT" run "$@" --out native --quiet || return 1
    for engine in ns3 ns3:p2p ns3:ip; do
        "$WEFT" run "$@" --engine $engine --out $engine --quiet || return 1
        for file in native/*.csv; do
            cmp "$file" "$engine/${file#native/}" || return 1
        done
        [ "$(ls native)" = "$(ls $engine)" ] || return 1
        diff native/scenario.ini $engine/scenario.ini | grep '^[<>]' | grep -v 'backend = ' && return 1
    done
    grep -q 'backend = ns3:p2p' ns3/scenario.ini && grep -q '"outcome": "finished"' ns3:ip/run.json
}
series() {
    same_files "${scenario[@]}" --set run.series_step=5us && [ "$(wc -l <ns3/series.csv)" -gt 100 ]
}
again() { # the resolved scenario gives the same run
    "$WEFT" run ns3/scenario.ini --out again --quiet && cmp again/flows.csv ns3/flows.csv &&
        cmp again/scenario.ini ns3/scenario.ini
}
unfinished() { # exit 3 and the same words
    "$WEFT" run "${scenario[@]}" --set run.end=10us --out cut --quiet 2>native.err
    [ $? = 3 ] || return 1
    "$WEFT" run "${scenario[@]}" --set run.end=10us --out cut-ns3 --quiet --engine ns3:ip 2>ns3.err
    [ $? = 3 ] && cmp native.err ns3.err && cmp cut/flows.csv cut-ns3/flows.csv && cmp cut/ports.csv cut-ns3/ports.csv
}
refuses() { # text, command...: exit 2 and one line with the text
    local text=$1
    shift
    "$@" >out 2>err
    local code=$?
    [ $code = 2 ] || { echo "exit $code"; cat err; return 1; }
    [ "$(wc -l <err)" = 1 ] && [ ! -s out ] && grep -qF -- "$text" err || { cat out err; return 1; }
}
refused() { # text, settings...: by run and by crosscheck
    local text=$1 settings=()
    for setting in "${@:2}"; do settings+=(--set "$setting"); done
    refuses "$text" "$WEFT" run "${scenario[@]}" "${settings[@]}" --engine ns3 --out no --quiet &&
        refuses "$text" "$WEFT" crosscheck "${scenario[@]}" "${settings[@]}"
}
lonely() { # a weft without weft-ns3 in reach
    mkdir -p alone && cp "$WEFT" alone/weft && refuses 'there is no program weft-ns3' \
        alone/weft run "${scenario[@]}" --engine ns3 --out no --quiet
}
stopped() { # SIGTERM to weft: it stops, weft-ns3 is gone, what was done is there
    "$WEFT" run "${scenario[@]}" --set workload.bytes=1GB --engine ns3 --out stopped --quiet 2>err &
    local weft=$! child
    for _ in $(seq 100); do
        child=$(pgrep -P $weft weft-ns3) && break
        sleep 0.1
    done
    sleep 0.5
    kill -TERM $weft
    wait $weft
    [ $? = 1 ] && grep -q stopped err && grep -q '"complete": false' stopped/run.json && ! kill -0 "$child" 2>/dev/null
}
killed() { # the program dies on its way: one line that says so, no results
    printf '#!/bin/sh\nkill -SEGV $$\n' >dying && chmod +x dying
    WEFT_NS3=./dying refuses 'weft-ns3 was ended by signal 11' \
        "$WEFT" run "${scenario[@]}" --engine ns3 --out no --quiet && [ ! -e no/flows.csv ]
}
no_gsl() {
    ! nm -u "$BUILD"/obj/models/ns3/*.o "$BUILD"/obj/sim/app/main_ns3.o "$BUILD/weft-ns3" | grep gsl_ &&
        nm -u "$BUILD/weft" | grep -q gsl_
}
help_and_version() {
    "$BUILD/weft-ns3" --help | grep -q 'p2p|ip' && "$BUILD/weft-ns3" --version | grep -q '^weft-ns3 ' &&
        refuses 'p2p or ip is expected' "$BUILD/weft-ns3" --form=tcp none.ini &&
        refuses 'one scenario is expected' "$BUILD/weft-ns3" --form=ip &&
        refuses 'FIRST+COUNT is expected' "$BUILD/weft-ns3" --form=ip --record=x none.ini &&
        refuses 'none.ini' "$BUILD/weft-ns3" --form=ip none.ini
}

ok 'flows, ports, summary and series are the same bytes' series
ok 'a resolved scenario is played again' again
ok 'a run that ends before its flows: the same' unfinished
ok 'an unknown engine' refuses 'one of native|ns3:p2p|ns3:ip is expected' \
    "$WEFT" run "${scenario[@]}" --engine omnet --out no --quiet
ok 'refused: PFC' refused '[pfc] enable = on' pfc.enable=on
ok 'refused: shared buffers' refused '[buffer] kind' buffer.kind=shared
ok 'refused: priorities' refused '[queue] priorities = 0,7,7' queue.priorities=0,7,7
ok 'refused: marks at dequeue' refused '[queue] mark_at' queue.mark_at=dequeue
ok 'refused: slow hosts' refused '[host] receive_rate' host.receive_rate=100Gbps
ok 'refused: clock drift' refused '[host] clock_drift' host.clock_drift=100ppm
ok 'refused: a rate without whole picoseconds' refused 'link 0 of 300000000000 bit/s' topology.link_rate=300Gbps
ok 'refused: the same later' refused 'link 0 of 300000000000 bit/s' \
    fault:slow.object=link:0 fault:slow.change=rate=300Gbps fault:slow.at=1us
ok 'refused: a queue below a packet' refused '[queue] limit = 1000B' queue.limit=1000B
ok 'refused: packets below the headers' refuses 'size 20: 30 to' "$WEFT" run "${scenario[@]}" \
    --set transport.ack_bytes=20B --engine ns3:ip --out no --quiet
ok 'no weft-ns3' lonely
ok 'weft-ns3 that cannot be started' env WEFT_NS3=/nowhere/weft-ns3 bash -c \
    '! "$0" "$@" 2>&1 | grep -v "/nowhere/weft-ns3"' "$WEFT" run "${scenario[@]}" --engine ns3 --out no --quiet
ok 'weft-ns3 that dies' killed
ok 'stopped on its way' stopped
ok 'no object of ours in weft-ns3 uses GSL' no_gsl
ok 'weft-ns3 for people' help_and_version
echo "1..$number"
exit $failed
