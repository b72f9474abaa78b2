#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft compare: the same bytes for any number of jobs, the promised files, faults that are named, and
# what is left when it is interrupted.
. "$(dirname "$0")/../tap.bash"


cat >"$scratch/small.ini" <<'END'
[run]
end = 50ms
[topology]
kind = clos
hosts = 8
tiers = 2
hosts_per_leaf = 4
link_rate = 100Gbps
[workload]
kind = allreduce
bytes = 256KiB
[compare]
title = small
vary = loss.rate_end_to_end
values = 0;1%;0.1
seeds = 3
[case:ring]
workload.kind = allreduce
[case:direct]
workload.kind = alltoall
[variant:roce]
transport.name = rocev2
[variant:meta]
transport.name = metaroce
topology.planes = 2
topology.link_rate = 50Gbps
[curve:1-p]
form = selective_repeat
END

run() { # folder, further arguments
    "$WEFT" compare "$scratch/small.ini" --out "$scratch/$1" "${@:2}"
}
same() { # folders
    for file in summary.csv points.csv closed_form.csv; do
        cmp "$scratch/$1/$file" "$scratch/$2/$file" || return 1
    done
}
ok 'runs and exits 0' exits 0 run one --jobs 1
cp "$scratch/out" "$scratch/table"
ok 'prints a table a case' says table '^ring$' '^direct$' '^roce ' '^meta .* 10 % ' 'busbw GB/s'
ok 'with 3 jobs as well' exits 0 run three --jobs 3
ok 'the same bytes for 1 and 3 jobs' same one three
ok 'plain progress where there is no terminal' says err '^12 of 12 points, 36 of 36 runs'
ok 'a row a point' [ "$(wc -l <"$scratch/one/summary.csv")" = 13 ]
ok 'a row a run' [ "$(wc -l <"$scratch/one/points.csv")" = 37 ]
head -1 "$scratch/one/summary.csv" >"$scratch/header"
ok 'columns: varied keys, seeds, then pairs' says header \
    '^case,variant,loss.rate_end_to_end,seeds,complete,busbw_GBps,busbw_GBps_ci95,share_of_lossless,share_of_lossless_ci95,'
ok 'values are written in one way' grep -q '^ring,roce,0.01,3,yes,' "$scratch/one/summary.csv"
ok 'its own lossless share is 1' grep -q '^direct,meta,0,3,yes,[0-9.]*,[0-9.e-]*,1,0,' "$scratch/one/summary.csv"
ok 'the resolved scenario plays the same' exits 0 "$WEFT" compare "$scratch/one/scenario.ini" --out "$scratch/again"
ok 'byte for byte' same one again
ok 'further seeds leave the first as they were' exits 0 run more --seeds 4
ok '(their rows)' bash -c "grep -v ',4,' '$scratch/more/points.csv' | grep -c . >/dev/null &&
    comm -13 <(sort '$scratch/more/points.csv') <(sort '$scratch/one/points.csv') | (! grep .)"
ok '--set reaches all points' exits 0 run set --set workload.bytes=64KiB --seeds 1 --quiet
ok '(other results)' bash -c "! cmp -s '$scratch/set/points.csv' '$scratch/one/points.csv'"
ok '--quiet is silent' [ ! -s "$scratch/err" ]

ok 'unfinished flows are data: exit 0' exits 0 run late --set run.end=60us --seeds 2
ok '(and flagged)' says out ' !' '^! flows did not finish'
ok '(with busbw 0)' grep -q '^ring,roce,0,2,yes,0,0,,,' "$scratch/late/summary.csv"

PATH=$scratch/bin:$PATH
mkdir -p "$scratch/bin"
printf '#!/bin/sh\necho "no such terminal" >&2\nexit 1\n' >"$scratch/bin/gnuplot"
chmod +x "$scratch/bin/gnuplot"
ok 'a gnuplot that fails costs the figure alone' exits 0 run noplot --seeds 1
ok '(and it is said)' says out '^no plot: .*no such terminal'
ok '(the files are there)' [ -s "$scratch/noplot/summary.csv" ]
rm "$scratch/bin/gnuplot"

if command -v gnuplot >/dev/null; then
    ok 'figures' [ -s "$scratch/one/throughput-loss.png" -a -s "$scratch/one/throughput-loss.svg" ]
else
    echo "ok $((++number)) - compare: figures # SKIP no gnuplot here"
fi

refused() { # title, pattern, sed expression on the scenario, further arguments
    sed -E "$3" "$scratch/small.ini" >"$scratch/wrong.ini"
    ok "refuses $1" exits 2 "$WEFT" compare "$scratch/wrong.ini" --out "$scratch/wrong" "${@:4}"
    ok '(and says so)' says err "$2"
}
refused 'a key that is not known' 'transport.nam' 's/^transport.name = rocev2/transport.nam = rocev2/'
refused 'a value out of range, at its point' 'rate_end_to_end' 's/^values = .*/values = 0;2/'
refused 'a comparison of nothing' 'variant' '/^\[variant/,/^\[curve/{/^\[curve/!d}'
refused 'an unknown key of its own' "did you mean 'values'" 's/^values/valuse/'
refused 'a closed form that is none' 'selective_repeat' 's/^form = .*/form = cubic/'
refused '--set of the varied key' 'compare.values' '' --set loss.rate_end_to_end=0.5
refused 'two scenarios' 'one scenario' '' other.ini
ok 'refuses an absent file' exits 2 "$WEFT" compare "$scratch/none.ini"
ok '(and names it)' says err 'none.ini'
ok 'refuses a folder it cannot make' exits 2 run small.ini/x
ok '(and names it)' says err 'small.ini/x'

# Long enough that the signal comes first: 4000 seeds would take minutes.
"$WEFT" compare "$scratch/small.ini" --out "$scratch/stopped" --seeds 1000 --jobs 1 \
    >"$scratch/out" 2>"$scratch/err" &
pid=$!
for _ in $(seq 100); do
    [ -s "$scratch/stopped/scenario.ini" ] && break
    sleep 0.1
done
sleep 1
kill -TERM $pid
ok 'SIGTERM: exit 1' exits 1 wait $pid
ok '(what is done is kept, marked incomplete)' bash -c "
    grep -q ',no,' '$scratch/stopped/summary.csv' &&
    [ \$(wc -l <'$scratch/stopped/points.csv') -gt 1 ]"
ok '(whole files only)' bash -c "! ls '$scratch/stopped' | grep -vE '^(summary|points|closed_form)\.csv$|^scenario.ini$|^throughput-loss\.(csv|png|svg)$'"
echo "1..$number"
exit $failed
