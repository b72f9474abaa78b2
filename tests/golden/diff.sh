#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft diff: what changed between two results, exit 0 the same, 1 different, 2 something is wrong.
. "$(dirname "$0")/../tap.bash"

lines() { # each is a whole line of the output
    for line in "$@"; do
        grep -qxF -- "$line" "$scratch/out" || { echo "no line '$line' in:"; cat "$scratch/out"; return 1; }
    done
}
play() { # folder, argument...
    "$WEFT" run --topology clos --workload permutation --set topology.hosts=16 \
        --set workload.bytes=64KiB --quiet --out "$scratch/$1" "${@:2}"
}
cd "$scratch" || exit 2

play one && play two && play slow --set topology.link_rate=200Gbps
ok 'two runs of one scenario are the same' exits 0 "$WEFT" diff one two
ok '(all of it)' grep -qE '^0 parameters differ, [0-9]+ are the same; 0 numbers differ, [0-9]+ are the same$' out
ok 'half the rate' exits 1 "$WEFT" diff one slow
ok '(the parameter)' lines 'parameter  [topology] link_rate: 400Gbps -> 200Gbps'
ok '(and numbers, with unit and ratio)' grep -qE '^number     completion_max: [0-9]+ -> [0-9]+ ps  \(\+[0-9.]+ %\)$' out
ok '--quiet says nothing' exits 1 "$WEFT" diff --quiet one slow
ok '(nothing)' [ ! -s out ]
ok 'where the time went' exits 1 "$WEFT" diff one slow --explain
ok '(part by part)' grep -qE '^part       serialisation +[0-9.]+ us -> +[0-9.]+ us  \+[0-9]+ ps$' out
ok '(and the largest)' grep -qE '^largest    [a-z ]+ -> [a-z ]+$' out
printf 'metric,value,unit\ncomplete,1,0|1\ncompletion_max,101,ps\nlast,,ps\n' >two/summary.csv
sed 's/101/100/' two/summary.csv >one/summary.csv
ok 'a number by 1 %' exits 1 "$WEFT" diff one two
ok '(is that)' lines 'number     completion_max: 100 -> 101 ps  (+1 %)'
ok 'above 0.9 %' exits 1 "$WEFT" diff one two --relative 0.9%
ok 'not above 1 %' exits 0 "$WEFT" diff one two --relative 1%
sed -i 's/^last,/last,5/' two/summary.csv
ok 'a number that was none' exits 1 "$WEFT" diff one two --relative 1
ok '(is said)' lines 'number     last: "" -> 5 ps'
echo 'more,7,packets' >>two/summary.csv
ok 'a number that only one has' exits 1 "$WEFT" diff one two
ok '(is said)' lines 'number     more: - -> 7 packets'

# a sweep with two grid points: 10 +- 3 and 14 +- 3 may be equal, sqrt(18) > 4; 15 +- 3 may not
sweep() { # folder, mean of the second point
    mkdir -p "$1/grid"
    printf 'grid,loss.rate,seeds,complete,time_ps,time_ps_sd,time_ps_ci95,single_ps,single_ps_sd,single_ps_ci95\n' >"$1/summary.csv"
    printf '1,0,5,yes,10,1,3,7,,\n2,1%%,5,yes,%s,1,3,7,,\n' "$2" >>"$1/summary.csv"
    printf '[loss]\nrate = 0\n[run]\nend = %s\n' "$3" >"$1/grid/0001.ini"
    printf '[loss]\nrate = 1%%\n[run]\nend = %s\n' "$3" >"$1/grid/0002.ini"
}
sweep a 10 1s && sweep b 14 1s && sweep c 15 2s
ok 'within the intervals' exits 0 "$WEFT" diff a b
ok 'beyond the intervals' exits 1 "$WEFT" diff a c
ok '(the number, at its point)' lines 'number     loss.rate = 1%: time_ps: 10 +- 3 -> 15 +- 3  (+50 %)' \
    'parameter  [run] end: 1s -> 2s  (in 2 grid points)' \
    '1 parameters differ, 2 are the same; 1 numbers differ, 7 are the same'
sed -i 's/,7,,$/,8,,/' c/summary.csv
ok 'one seed: no interval, the threshold holds' exits 1 "$WEFT" diff a c --relative 1%
ok '(is said)' lines 'number     loss.rate = 0: single_ps: 7 -> 8  (+14.3 %)'

ok 'a run and a sweep' exits 2 "$WEFT" diff one a
ok '(is said)' grep -q 'one is a run and a a comparison or sweep' err
ok 'no folder' exits 2 "$WEFT" diff one nowhere
ok '(is named)' grep -q 'nowhere/summary.csv' err
ok 'one folder' exits 2 "$WEFT" diff one
ok 'a ratio that is none' exits 2 "$WEFT" diff one two --relative much
echo 'x,y' >two/summary.csv
ok 'a table of another kind' exits 2 "$WEFT" diff one two
ok '(is said)' grep -q 'metric,value,unit' err
echo "1..$number"
exit $failed
