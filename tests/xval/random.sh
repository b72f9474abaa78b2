#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft crosscheck on scenarios drawn at random: fabrics, transports, patterns, queues near their
# thresholds, sprayed packets, loss, bursts, faults, with times that like to coincide. In the tests the
# same few each time; tests/xval/random.sh SEED COUNT draws others, and prints those that differ.
. "$(dirname "$0")/../tap.bash"
[ -x "$(dirname "$WEFT")/weft-ns3" ] || { echo "ok 1 - random # SKIP no weft-ns3 here: libns3-dev"; exit 0; }
seed=${1:-7} count=${2:-20}
RANDOM=$seed

one_of() { # sets $drawn
    shift $((RANDOM % $#))
    drawn=$1
}
set_one_of() { # key, values...
    one_of "${@:2}"
    options+=(--set "$1=$drawn")
}
chance() { [ $((RANDOM % 100)) -lt "$1" ]; }

draw_fabric() {
    one_of line star clos
    options=(--topology "$drawn")
    case $drawn in
    line) set_one_of topology.links 1 2 3 5 ;;
    star) set_one_of topology.hosts 2 3 8 ;;
    clos) options+=(--set topology.hosts=16 --set topology.hosts_per_leaf=4 --set topology.spines=2) ;;
    esac
    set_one_of topology.planes 1 1 2 4
    set_one_of topology.link_rate 50Gbps 100Gbps 400Gbps
    set_one_of topology.link_delay 0ns 80ns 500ns 1us
    set_one_of topology.switch_latency 0ns 80ns 400ns
    set_one_of route.kind ecmp ecmp spray
}
draw_traffic() {
    one_of permutation incast allreduce alltoall
    options+=(--workload "$drawn")
    set_one_of workload.bytes 100kB 300kB
    set_one_of transport.name metaroce rocev2 rocev2 example
    [ "$drawn" = rocev2 ] && set_one_of transport.cc dcqcn fixed
    set_one_of transport.payload 936B 1000B 4096B
    set_one_of queue.kind droptail red step
    set_one_of queue.limit 20kB 100kB 1MiB
    set_one_of queue.kmin 0B 4160B 10kB
    set_one_of queue.kmax 20kB 50kB
}
draw_trouble() {
    chance 50 && set_one_of loss.rate_per_link 0.1% 1% 10%
    chance 20 && options+=(--set loss.burst_length_time=1us --set loss.burst_gap_time=20us)
    chance 60 || return
    local at=$((80 * (1 + RANDOM % 500)))
    options+=(--set fault:x.object=link:0 --set fault:x.at=${at}ns)
    set_one_of fault:x.change down down rate=50% loss=0.2
    chance 30 && options+=(--set fault:x.flap_period=8us --set "fault:x.flap_time=$((80 * (1 + RANDOM % 90)))ns") ||
        options+=(--set "fault:x.until=$((at + 80 * (1 + RANDOM % 1000)))ns")
    set_one_of faults.convergence_time 0ns 80ns 10us 1ms
}

for _ in $(seq "$count"); do
    draw_fabric
    draw_traffic
    draw_trouble
    options+=(--seed "$RANDOM" --set run.end=20ms)
    ok "seed $seed: $(sed 's/--\(set\|topology\|workload\) //g' <<<"${options[*]}")" "$WEFT" crosscheck "${options[@]}"
done
echo "1..$number"
exit $failed
