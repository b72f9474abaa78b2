#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a packet-hop costs, next to a bare event loop of the same shape on the same machine; medians
# of five runs (WEFT_BENCH_RUNS). 2-tier Clos at 400G, 4 KiB packets, an acknowledgement every 4
# packets (and what MetaRoCE adds by its rules), RED, ECMP, statistics on. Instructions are counted
# by callgrind on a small case, as the difference of two sizes, so that set-up is taken off.
# Then what a host, a port, a path and a packet weigh, as differences of peak memory; and how the
# cost of a hop grows with hosts, planes, flows and paths (WEFT_BENCH=grow; drawn by plots/bench.gp).
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build}
runs=${WEFT_BENCH_RUNS:-5}
mkdir -p results/bench
make -s "$BUILD/tests/bench/bench" "$BUILD/tests/bench/bare" || exit 1
bench=$BUILD/tests/bench/bench bare=$BUILD/tests/bench/bare
median() { sort -g | sed -n $(((runs + 1) / 2))p; }
repeat() { for _ in $(seq "$runs"); do "$@"; done; }

# leaves hosts-per-leaf spines bytes kind -> settings
settings() {
    echo topology.kind=clos topology.hosts=$(($1 * $2)) topology.hosts_per_leaf="$2" \
        topology.spines="$3" topology.switch_latency=0ns queue.kind=red queue.limit=64MiB \
        workload.kind="$5" workload.bytes="${4}"B \
        $([ "$5" = permutation ] && echo workload.pattern=shift workload.shift=$(($1 * $2 / 2 + 3)))
}
instructions() { # of a run
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | sed -n 's/.*Collected : //p'
}
per_hop() { # kind setting...: difference of two sizes
    local small large kind=$1
    shift
    small="$(settings 4 8 8 200000 "$kind") $*" large="$(settings 4 8 8 400000 "$kind") $*"
    echo $((($(instructions "$bench" $large) - $(instructions "$bench" $small)) /
        ($("$bench" $large | cut -d' ' -f1) - $("$bench" $small | cut -d' ' -f1))))
}

# --- cost of a hop --------------------------------------------------------------------------------
row() { # name shape "leaves width spines bytes kind" setting...
    local name=$1 shape=$2 rows hops base times transport instr
    shift 2
    rows=$(repeat "$bare" $shape)
    base=$(echo "$rows" | cut -d' ' -f2 | median)
    hops=$(echo "$rows" | head -1 | cut -d' ' -f1)
    printf '%-24s %-9s %10s %8s\n' "$name" 'bare loop' "$hops" "$base"
    echo "$name,bare loop,$hops,$base,1,,,,1" >>$out
    for transport in rocev2 metaroce; do
        rows=$(repeat "$bench" $(settings $shape) transport.name=$transport "$@")
        local values=()
        for column in 1 2 3 4 5; do values+=("$(echo "$rows" | cut -d' ' -f$column | median)"); done
        instr=
        command -v valgrind >/dev/null &&
            instr=$(per_hop "${shape##* }" transport.name=$transport "$@")
        times=$(echo "${values[1]} $base" | awk '{printf "%.2f", $1 / $2}')
        printf '%-24s %-9s %10s %8s %8s %8s %9s %8s %6s\n' "$name" $transport "${values[@]:0:3}" \
            "$instr" "${values[@]:3:2}" "$times"
        (IFS=,; echo "$name,$transport,${values[*]:0:3},$instr,${values[*]:3:2},$times") >>$out
    done
}
cost() {
    out=results/bench/bench.csv.tmp
    echo "case,program,packet_hops,cpu_ns_per_hop,events_per_hop,instructions_per_hop,cpu_s_per_GB,peak_MB,times_bare" >$out
    printf '%-24s %-9s %10s %8s %8s %8s %9s %8s %6s\n' case program hops ns/hop ev/hop instr/hop s/GB 'peak MB' 'x bare'
    row 'permutation 128' '8 16 16 4000000 permutation'
    row 'permutation 1024' '32 32 32 1000000 permutation'
    row 'permutation 8192' '128 64 64 1000000 permutation'
    row 'incast 127:1' '8 16 16 500000 incast'
    row 'permutation 1024, PFC' '32 32 32 1000000 permutation' buffer.kind=shared \
        buffer.size=64MB pfc.enable=on queue.priorities=0,7,7
    mv $out results/bench/bench.csv
    echo results/bench/bench.csv
}

# --- memory ---------------------------------------------------------------------------------------
peak() { "$bench" "$@" | cut -d' ' -f5; } # MB of a run
weigh() { # what, target, MB of the larger, MB of the smaller, how many more, bytes to take off each
    awk -v what="$1" -v target="$2" -v a="$3" -v b="$4" -v n="$5" -v off="${6:-0}" 'BEGIN {
        bytes = (a - b) * 1048576 / n - off
        printf "%-28s %8.0f B   target %s\n", what, bytes, target
        printf "%s,%.0f,%s\n", what, bytes, target >>"results/bench/memory.csv.tmp" }'
}
memory() {
    local one='workload.kind=incast workload.senders=1 workload.bytes=4KB transport.name=rocev2'
    local clos='topology.kind=clos queue.kind=red queue.limit=64MiB'
    local wide="$clos topology.hosts=128 topology.planes=4 topology.link_rate=100Gbps \
        workload.kind=pairs workload.flows=4000 workload.bytes=1MB transport.name=metaroce"
    local full="$clos topology.hosts=512 workload.kind=incast workload.bytes=8MB transport.name=rocev2"
    local port # a host's NIC has two

    echo "thing,bytes,target" >results/bench/memory.csv.tmp
    # two planes more: 65,536 links; a fourth of the ports are NICs, which belong to hosts (88 B)
    weigh 'directed port' 256 "$(peak $clos $one topology.hosts=16384 topology.planes=4)" \
        "$(peak $clos $one topology.hosts=16384 topology.planes=2)" $((2 * 65536)) 22
    port=$(tail -n 1 results/bench/memory.csv.tmp | cut -d, -f2)
    weigh 'host (one NIC)' 2048 "$(peak topology.kind=star $one topology.hosts=262144)" \
        "$(peak topology.kind=star $one topology.hosts=131072)" 131072 $((2 * port))
    weigh 'path of a flow' 512 "$(peak $wide transport.paths=128)" "$(peak $wide transport.paths=64)" \
        $((4000 * 64))
    weigh 'packet, waiting' 128 "$(peak $full transport.window=2MiB)" \
        "$(peak $full transport.window=1MiB)" $((511 * 256))
    mv results/bench/memory.csv.tmp results/bench/memory.csv
    echo results/bench/memory.csv
}

# --- growth ---------------------------------------------------------------------------------------
grow() {
    local clos='topology.kind=clos queue.kind=red queue.limit=64MiB workload.kind=permutation'
    out=results/bench/growth.csv.tmp
    echo "what,n,transport,cpu_ns_per_hop,peak_MB" >$out
    point() { # what n setting...
        local what=$1 n=$2 transport values
        shift 2
        for transport in rocev2 metaroce; do
            values=$("$bench" $clos transport.name=$transport "$@" | cut -d' ' -f2,5 | tr ' ' ,)
            echo "$what,$n,$transport,$values" | tee -a $out
        done
    }
    for n in 32 128 512 2048 8192; do
        point hosts $n topology.hosts=$n workload.bytes=$((1024 * 1000000 / (n > 1024 ? n : 1024)))B
    done
    for n in 1 2 4 8; do
        point planes $n topology.hosts=512 topology.planes=$n topology.link_rate=$((400 / n))Gbps \
            workload.bytes=1MB
    done
    for n in 1 4 16 64; do
        point flows $n topology.hosts=512 workload.count=$n workload.bytes=$((1024 / n))KB
    done
    for n in 4 16 64 256; do
        values=$("$bench" $clos transport.name=metaroce topology.hosts=512 workload.bytes=1MB \
            transport.paths=$n | cut -d' ' -f2,5 | tr ' ' ,)
        echo "paths,$n,metaroce,$values" | tee -a $out
    done
    mv $out results/bench/growth.csv
    echo results/bench/growth.csv
}

case ${WEFT_BENCH:-all} in
cost | memory | grow) "$WEFT_BENCH" ;;
all) cost && memory ;;
*) echo "WEFT_BENCH is cost, memory, grow or all" >&2 && exit 2 ;;
esac
