#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a packet-hop costs, next to a bare event loop of the same shape on the same machine; medians
# of five runs. 2-tier Clos at 400G, 4 KiB packets, an acknowledgement every 4 packets (and what
# MetaRoCE adds by its rules), RED, ECMP, statistics on. Instructions are counted by callgrind on a
# small case, as the difference of two sizes, so that set-up is taken off.
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build}
mkdir -p results/bench
make -s "$BUILD/tests/bench/bench" "$BUILD/tests/bench/bare" || exit 1
bench=$BUILD/tests/bench/bench bare=$BUILD/tests/bench/bare
out=results/bench/bench.csv.tmp
median() { sort -g | sed -n 3p; }
five() { for _ in 1 2 3 4 5; do "$@"; done; }
columns() { for c in 1 2 3 4 5; do echo "$1" | cut -d' ' -f$c | median; done | paste -sd' '; }

# leaves hosts-per-leaf spines bytes kind -> settings
settings() {
    echo topology.kind=clos topology.hosts=$(($1 * $2)) topology.hosts_per_leaf=$2 topology.spines=$3 \
        topology.switch_latency=0ns queue.kind=red queue.limit=64MiB workload.kind=$5 workload.bytes=${4}B \
        $([ "$5" = permutation ] && echo workload.pattern=shift workload.shift=$(($1 * $2 / 2 + 3)))
}
instructions() { # instructions of a run
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | sed -n 's/.*Collected : //p'
}
per_hop() { # difference of two sizes
    local a b ia ib
    a=$("$bench" $(settings $1 $2 $3 $4 $6) transport.name=$7 | cut -d' ' -f1)
    b=$("$bench" $(settings $1 $2 $3 $5 $6) transport.name=$7 | cut -d' ' -f1)
    ia=$(instructions "$bench" $(settings $1 $2 $3 $4 $6) transport.name=$7)
    ib=$(instructions "$bench" $(settings $1 $2 $3 $5 $6) transport.name=$7)
    echo $(((ib - ia) / (b - a)))
}
echo "case,program,packet_hops,cpu_ns_per_hop,events_per_hop,instructions_per_hop,cpu_s_per_GB,peak_MB,times_bare" >$out
printf '%-18s %-9s %10s %8s %8s %8s %9s %8s %6s\n' case program hops ns/hop ev/hop instr/hop s/GB 'peak MB' 'x bare'
row() { # name leaves width spines bytes kind
    local name=$1 shape="$2 $3 $4" rows base
    rows=$(five "$bare" $shape $5 $6)
    base=$(echo "$rows" | cut -d' ' -f2 | median)
    printf '%-18s %-9s %10s %8s\n' "$name" 'bare loop' "$(echo "$rows" | head -1 | cut -d' ' -f1)" "$base"
    echo "$name,bare loop,$(echo "$rows" | head -1 | cut -d' ' -f1),$base,1,,,,1" >>$out
    for transport in rocev2 metaroce; do
        rows=$(five "$bench" $(settings $shape $5 $6) transport.name=$transport)
        set -- "$name" $(columns "$rows") "$5" "$6" "$shape"
        instr=
        if command -v valgrind >/dev/null; then
            instr=$(per_hop 4 8 8 200000 400000 "$8" $transport)
        fi
        times=$(echo "$3 $base" | awk '{printf "%.2f", $1 / $2}')
        printf '%-18s %-9s %10s %8s %8s %8s %9s %8s %6s\n' "$name" $transport $2 $3 $4 "$instr" $5 $6 $times
        echo "$name,$transport,$2,$3,$4,$instr,$5,$6,$times" >>$out
        shift 0
        set -- "$name" x x x "$7" "$8"
    done
}
row 'permutation 128' 8 16 16 4000000 permutation
row 'permutation 1024' 32 32 32 1000000 permutation
row 'incast 127:1' 8 16 16 500000 incast
mv $out results/bench/bench.csv
echo "results/bench/bench.csv"
