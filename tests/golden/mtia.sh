#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Accelerators: the ready scenarios are whole, tables of calls and steps are as documented and the
# same bytes each time, a graph is printed, and one that hangs ends with 3 and says who waits.
. "$(dirname "$0")/../tap.bash"
export WEFT_DATA=$PWD
scenarios=$PWD/workloads
cd "$scratch" || exit 2
small=(--set workload.begin=16KiB --set workload.end=0B --set workload.iterations=2
    --set workload.ranks=0-3)

checks() { # every ready scenario
    for file in "$scenarios"/{mtia,h100,metaroce-post}*.ini; do
        case $file in
        */mtia300.ini | */h100.ini | */metaroce-post.ini) set -- --workload collective ;;
        *) set -- ;;
        esac
        "$WEFT" check "$file" "$@" || return 1
    done
}
ok 'ready scenarios can be built' checks

calls() {
    "$WEFT" run mtia-small "${small[@]}" --out a >said && "$WEFT" run mtia-small "${small[@]}" -q \
        --out b && head -1 a/collectives.csv | grep -qx 'size_bytes,count,type,redop,root,time_us,algbw_GBps,busbw_GBps,collective,ranks,calls' &&
        grep -q '^16384,4096,float,sum,-1,.*,allreduce,4,2$' a/collectives.csv &&
        cmp a/collectives.csv b/collectives.csv && cmp a/steps.csv b/steps.csv &&
        cmp a/summary.csv b/summary.csv && grep -q 'algbw    busbw' said
}
ok 'collectives.csv, twice the same, and the table' calls

bandwidths() { # algbw = S / t, busbw = algbw x 2 (n - 1) / n
    awk -F, 'NR > 1 { a = $1 / $6 / 1e3; b = a * 2 * 3 / 4
        if ((a - $7) ^ 2 > 1e-12 || (b - $8) ^ 2 > 1e-12) bad = 1 } END { exit bad }' \
        a/collectives.csv
}
ok 'bandwidths as nccl-tests define them' bandwidths

steps() {
    awk -F, 'NR > 1 { if ($5 + $6 + $7 + $8 + $9 != $4 - $3) bad = 1; n++ }
        END { exit bad || n != 4 }' a/steps.csv &&
        "$WEFT" run mtia-small "${small[@]}" -q --out p --set host.node=plain && [ ! -e p/steps.csv ]
}
ok 'steps.csv: times add up; none where no node accounts' steps

price() {
    "$WEFT" run mtia-small "${small[@]}" -q --out c --set host.price=360000 &&
        awk -F, '{ v[$1] = $2 } END { idle = v["accelerator_idle_time"]
            exit !(idle > 0 && (v["accelerator_idle_cost"] - 100 * idle) ^ 2 < 1e-12) }' \
            c/summary.csv
}
ok 'idle accelerators cost what is said' price

graph() {
    "$WEFT" graph mtia-small "${small[@]}" >text && grep -q 'engine 1 lane 0: WRITE 4096 B to rank 1 by NIC 1' text &&
        "$WEFT" graph mtia-small "${small[@]}" --dot >dot && head -1 dot | grep -q '^digraph' &&
        grep -q 'style=dashed' dot && [ "$(tail -1 dot)" = '}' ]
}
ok 'a graph as text and for Graphviz' graph

hangs() {
    "$WEFT" graph mtia-small "${small[@]}" --set workload.omit_set=1 >/dev/null 2>said
    [ $? = 3 ] && grep -q 'rank 1 engine 1 lane 4 waits in operation .*WAIT flag 1: 1 of 2 came' said || return 1
    "$WEFT" run mtia-small "${small[@]}" --set workload.omit_set=1 --out h >/dev/null 2>said
    [ $? = 3 ] && grep -q 'rank 1: engine 1, lane 4, waits for flag 1: 0 of 1 sets have come' said &&
        grep -q '16384,.*,allreduce,4,2$' h/collectives.csv
}
ok 'a missing SET: exit 3, and which engine waits for what' hangs

# each experiment is a sweep, and its table has what it is asked for
planned() {
    for file in "$scenarios"/mtia-*.ini; do
        "$WEFT" sweep "$file" --dry-run --out dry >/dev/null || return 1
    done
}
ok 'every experiment is a sweep' planned

bases() { # a choice on a base of its own: the file below, its own keys above
    cat >based.ini <<'EOF'
[scenario]
base = mtia300
[workload]
kind = collective
ranks = 0-3
begin = 4KiB
[mtia300]
start = pe_direct
[sweep]
seeds = 1-1
[variant:MTIA]
[variant:H100]
scenario.base = h100
topology.racks = 3
EOF
    "$WEFT" sweep based.ini --out based >/dev/null && [ "$(ls based/grid | wc -l)" = 2 ] &&
        [ "$(grep -l '^node = gpu$' based/grid/*.ini | wc -l)" = 1 ] &&
        grep -q '^racks = 3$' "$(grep -l '^node = gpu$' based/grid/*.ini)" &&
        grep -q '^up_rate = 3.6Tbps$' "$(grep -l '^node = gpu$' based/grid/*.ini)" &&
        grep -q '^start = pe_direct$' "$(grep -l '^node = mtia300$' based/grid/*.ini)" || return 1
    sed 's/= h100$/= no-such/' based.ini >wrong.ini
    "$WEFT" sweep wrong.ini --out wrong >/dev/null 2>said
    [ $? = 2 ] && grep -q 'wrong.ini:.*scenario.base = no-such' said
}
ok 'a choice of a sweep on a base of its own' bases

drawn() { # cases and variants alone: over variants, a curve a case
    command -v gnuplot >/dev/null || return 0
    { cat based.ini && printf '[case:one]\n[case:two]\nworkload.begin = 1MiB\n'; } >cases.ini
    "$WEFT" sweep cases.ini --out cases >/dev/null &&
        WEFT_DATA=$WEFT_DATA "$WEFT" plot cases --format png >said && [ -s cases/sweep.png ] &&
        grep -q 'longest step \[us\], two: .* at MTIA, .* at H100' said
}
ok 'steps of a sweep of cases and variants are drawn' drawn

table() { # what the express doorbell saves is a read, 800 ns, in each of the two exchanges
    command -v gnuplot >/dev/null || return 0
    (cd "$WEFT_DATA" && WEFT=$WEFT plots/mtia.sh FOLDER="$scratch/tables" small) >/dev/null 2>&1 &&
        [ -s tables/mtia-small/mtia-small.png ] &&
        awk -F, '$1 == "allreduce" && $2 == 16 && $4 == 4096 { t[$3] = $5 }
            END { d = t["engine"] - t["express"]; exit !(d > 1.599 && d < 1.601) }' \
            tables/mtia-small/table.csv
}
ok 'plots/mtia.sh: table and figure' table
exit $failed
