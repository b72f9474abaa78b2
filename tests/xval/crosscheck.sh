#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft crosscheck says "identical" on every fabric x transport x pattern, with no, 1 % and 10 % loss in
# turn, on both forms of ns-3; and for links that die and return. With --table it prints the rows of
# docs/VALIDATION.md instead: bytes ten times as many, one row after the other.
. "$(dirname "$0")/../tap.bash"
[ -x "$(dirname "$WEFT")/weft-ns3" ] || { echo "ok 1 - crosscheck # SKIP no weft-ns3 here: libns3-dev"; exit 0; }
[ "$1" = --table ] && table=0 || table=

fabric() { # name: options
    local planes=${1#clos}
    case $1 in
    line) echo --topology line --set topology.links=4 ;;
    star) echo --topology star ;;
    clos*) echo --topology clos --set topology.hosts=32 --set topology.hosts_per_leaf=4 \
        --set topology.spines=4 --set topology.planes="$planes" --set topology.link_rate=$((400 / planes))Gbps ;;
    esac
}
transport() {
    case $1 in
    metaroce) echo --set transport.name=metaroce ;;
    rocev2) echo --set transport.name=rocev2 --set transport.cc=fixed ;;
    dcqcn) echo --set transport.name=rocev2 --set transport.cc=dcqcn --set queue.kind=red ;;
    esac
}
pattern() { # name fabric
    local kilobytes=256
    case $2:$1 in
    clos*:incast) kilobytes=64 ;;
    line:* | star:*) kilobytes=1024 ;;
    esac
    [ -z "$table" ] || kilobytes=$((10 * kilobytes))
    echo --workload "$1" --set workload.bytes=${kilobytes}kB
}
loss() { echo --set loss.rate_end_to_end="$1"; }

row() { # name, options...: one line of the table, or a test
    local name=$1
    shift
    if [ -z "$table" ]; then
        ok "$name" "$WEFT" crosscheck "$@"
        return
    fi
    "$WEFT" crosscheck "$@" >"$scratch/said" 2>/dev/null
    local code=$?
    awk -v name="$name" -v code=$code '
        /^packet receptions/ { n = $3 }
        /^CPU, s/ { native = $3; p2p = $4; ip = $5 }
        /^  as multiple/ { ratio = $6 " / " $7 }
        /^verdict/ { verdict = verdict (verdict ? ", " : "") $3 }
        END { print "| " name " | " n " | " (code ? verdict : "identical") " | " native " | " p2p " | " ip " | " ratio " |" }' \
        "$scratch/said"
}

[ -z "$table" ] || printf '%s\n' \
    '| scenario | receptions | verdict | native, CPU s | p2p | ip | times native |' '|---|---|---|---|---|---|---|'
losses=(0 1% 10%)
turn=0
for fabric in line star clos1 clos4 clos8; do
    for transport in metaroce rocev2 dcqcn; do
        for pattern in permutation incast allreduce alltoall; do
            loss=${losses[turn++ % 3]}
            # shellcheck disable=SC2046
            row "$fabric, $transport, $pattern, loss $loss" $(fabric $fabric) $(transport $transport) \
                $(pattern $pattern $fabric) $(loss $loss)
        done
    done
    turn=$((turn + 1)) # the next fabric meets other losses
done

died() { # object: dies at 10 us, is rerouted around after 10 us, returns at 60 us
    echo --set fault:dies.object="$1" --set fault:dies.at=10us --set fault:dies.until=60us \
        --set faults.convergence_time=10us
}
for transport in metaroce rocev2 dcqcn; do
    # shellcheck disable=SC2046
    row "clos1, $transport, permutation, an uplink dies and returns" $(fabric clos1) \
        $(transport $transport) $(pattern permutation clos1) $(died uplink:1.0.0.0)
    # shellcheck disable=SC2046
    row "clos4, $transport, alltoall, loss 1%, a NIC's link dies and returns" $(fabric clos4) \
        $(transport $transport) $(pattern alltoall clos4) $(loss 1%) $(died nic:3.0)
done
[ -n "$table" ] || echo "1..$number"
exit $failed
