#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft crosscheck can fail: weft-ns3 is built with one line changed, and the verdict must turn. The
# changes are made in copies of the source; no program of ours has a switch for them.
. "$(dirname "$0")/../tap.bash"
BUILD=${BUILD:-build}
[ -x "$BUILD/weft-ns3" ] || { echo "ok 1 - negative # SKIP no weft-ns3 here: libns3-dev"; exit 0; }

objects="$BUILD/obj/models/ns3/ns3c.o $BUILD/obj/models/ns3/engine_ns3.o $BUILD/obj/sim/app/main_ns3.o"
mutate() { # program, source, sed expression: the program with the source so changed
    local changed=$scratch/$1.c
    sed "$3" "$2" >"$changed"
    cmp -s "$2" "$changed" && { echo "'$3' changes nothing in $2"; return 1; }
    # shellcheck disable=SC2046,SC2086
    gcc -std=c11 -D_GNU_SOURCE -O1 -I. $(pkg-config --cflags glib-2.0) -c -o "$scratch/$1.o" "$changed" &&
        gcc -o "$scratch/$1" "$scratch/$1.o" ${objects//"$BUILD/obj/${2%.c}.o"/} "$BUILD/libweft.a" \
            $(pkg-config --libs glib-2.0 gio-2.0) -lcsv -lm -lns3-point-to-point -lns3-internet \
            -lns3-traffic-control -lns3-network -lns3-core -lstdc++
}

# Full packets are 4178 B, so three of them that wait are kmin; eight hosts send in lock step.
scenario=(--topology star --workload incast --set workload.bytes=200kB --set transport.name=rocev2
    --set transport.payload=4096B --set transport.header=82B --set queue.kind=step
    --set queue.kmin=12534B --set queue.limit=100kB)
ends() { # program, exit code
    WEFT_NS3=$1 "$WEFT" crosscheck "${scenario[@]}"
    local code=$?
    [ $code = "$2" ] || { echo "exit $code, not $2"; return 1; }
}
differs() { # program, source, sed expression
    mutate "$@" && ends "$scratch/$1" 1 >"$scratch/verdict" && grep -q 'ns3:p2p: DIFFERENT' "$scratch/verdict" &&
        grep -q 'ns3:ip: DIFFERENT' "$scratch/verdict" &&
        grep -q 'the first reception that differs is number' "$scratch/verdict" &&
        grep -q '^> native ' "$scratch/verdict" && grep -q '^> ns3:ip ' "$scratch/verdict"
}
same() { # built as the others are, with a change that does nothing
    mutate same models/queue_step.c 's/Step marking/Marking by a step/' && ends "$scratch/same" 0
}

ok 'unchanged: identical' same
ok 'a mark from more than kmin waiting on, not from kmin' differs mark models/queue_step.c \
    's/waiting_bytes >= rule->kmin_bytes/waiting_bytes > rule->kmin_bytes/'
ok 'arrivals of an instant by port, not by the keyed hash' differs ties models/ns3/engine_ns3.c \
    's/event_order_arrival(events, now_ps, (uint32_t)device)/EVENT_CLASS_ARRIVAL | (uint32_t)device/'
ok 'a picosecond more in every switch' differs late models/ns3/engine_ns3.c \
    's/graph->nodes\[node\].latency_ps/& + 1/'
echo "1..$number"
exit $failed
