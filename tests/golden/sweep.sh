#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft sweep on one machine: the same bytes whatever happened on the way - kill -9 of the sweep and of
# its points, shards, added seeds and values, a full disk - and refusals that say what is wrong.
. "$(dirname "$0")/../tap.bash"

same() { # folders: all files but run.json, and nothing half done
    diff -r -x run.json "$scratch/$1" "$scratch/$2"
}
count() { # number, pattern, file: so many lines match
    local n
    n=$(grep -cE -- "$2" "$scratch/$3")
    [ "$n" = "$1" ] || { echo "$n lines match '$2', not $1"; false; }
}
sweep() { # folder, scenario, further arguments
    "$WEFT" sweep "$2" --out "$scratch/$1" "${@:3}"
}
empty() { # folder
    [ -z "$(ls -A "$scratch/$1")" ]
}
n_points() { # folder: whole ones
    ls "$scratch/$1/points" 2>/dev/null | wc -l
}
wait_points() { # folder, number
    for _ in $(seq 600); do
        [ "$(n_points "$1")" -ge "$2" ] && return
        sleep 0.05
    done
}
workers() { # folder
    pgrep -f "^$WEFT sweep --worker --out $scratch/$1\$"
}
tiny=tests/sweep/tiny-1000.ini

# --- a thousand points ------------------------------------------------------------------------------
ok 'says what it would do' exits 0 sweep none $tiny --dry-run
ok '(points, time and memory)' says out '^points +1000: 20 grid points x 50 seeds; 0 are over, 1000 to play' \
    '^estimate .* of CPU .* of memory a point'
ok '(and does nothing)' [ ! -e "$scratch/none" ]
ok 'plays a thousand points' exits 0 sweep whole $tiny
cp "$scratch/out" "$scratch/table"
ok '(plain progress where there is no terminal)' says err '^1000 of 1000 points'
ok '(a table for people)' says table \
    '^transport.name +workload.bytes +loss.rate_end_to_end +seeds +throughput +p50 +p99 +p99.9 +recovery' \
    '^rocev2 +1MiB +0 +50/50 '
ok '(a row a grid point)' [ "$(wc -l <"$scratch/whole/summary.csv")" = 21 ]
ok '(a row a point)' [ "$(wc -l <"$scratch/whole/points.csv")" = 1001 ]
columns=grid,transport.name,workload.bytes,loss.rate_end_to_end,seeds,complete,unfinished
for metric in throughput_bps completion_p50_ps completion_p99_ps completion_p999_ps recovery_time_ps; do
    columns+=,$metric,${metric}_sd,${metric}_ci95
done
head -1 "$scratch/whole/summary.csv" >"$scratch/header"
ok 'throughput, percentiles and recovery side by side, with deviation and interval' says header "^$columns,"
statistics() { # grid point 3 by hand: mean, sd, t(0.975, 49) = 2.009575 sd / sqrt(50)
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "throughput_bps") c = i; next }
        NR == FNR && $3 == 3 { n++; sum += $c; value[n] = $c }
        NR > FNR && $1 == 3 {
            for (i = 1; i <= n; i++) squares += (value[i] - sum / n) ^ 2
            mean = sum / n; sd = sqrt(squares / (n - 1)); ci = 2.009575 * sd / sqrt(n)
            print n, mean, sd, ci, "in the file:", $8, $9, $10
            fine = n == 50 && (mean / $8 - 1)^2 < 1e-14 && (sd / $9 - 1)^2 < 1e-14 && (ci / $10 - 1)^2 < 1e-11
        }
        END { exit !fine }' "$scratch/whole/points.csv" "$scratch/whole/summary.csv"
}
ok 'mean, deviation and interval are those of the points' statistics
one=$(awk -F, '$3 == 7 && $7 == 4 { print $2 }' "$scratch/whole/points.csv")
ok 'a point is what weft run plays' exits 0 "$WEFT" run "$scratch/whole/points/$one/scenario.ini" --quiet --out "$scratch/one"
ok '(byte for byte)' cmp "$scratch/one/summary.csv" "$scratch/whole/points/$one/summary.csv"
cat "$scratch"/whole/points/*/run.json >"$scratch/facts"
ok 'plays nothing twice' exits 0 sweep whole $tiny
ok '(no point was touched)' eval 'cat "$scratch"/whole/points/*/run.json | cmp - "$scratch/facts"'
ok '(the table is the same)' cmp "$scratch/out" "$scratch/table"

# --- kill -9 ----------------------------------------------------------------------------------------
sweep killed $tiny >"$scratch/out" 2>"$scratch/err" &
wait_points killed 150
pid=$(pgrep -f "^$WEFT sweep $tiny --out $scratch/killed\$")
ok 'a second sweep is kept out' exits 2 sweep killed $tiny
ok '(and told why)' says err 'another weft sweep is at work'
kill -9 "$pid"
wait 2>/dev/null
ok 'kill -9 of the sweep leaves some points' [ "$(n_points killed)" -lt 1000 ]
"$WEFT" sweep $tiny --out "$scratch/killed" >"$scratch/out" 2>"$scratch/err" &
pid=$!
wait_points killed 400
kill -9 "$(workers killed | head -1)"
ok 'kill -9 of a point: the others go on, exit 1' exits 1 wait $pid
ok '(all others are done)' count 999 ',done,' killed/points.csv
ok '(its row says how it ended)' count 1 ',failed,.*its process was ended by signal 9' killed/points.csv
ok '(its grid point lacks a seed)' count 1 ',49,no,0,' killed/summary.csv
ok 'what failed is not played again unasked' exits 1 sweep killed $tiny
ok '(and named)' says err 'point [0-9]+ \(transport.name = .*, seed [0-9]+\): its process was ended by signal 9 \(Killed\)' \
    '1 point failed; weft sweep --retry-failed'
ok '--retry-failed plays it' exits 0 sweep killed $tiny --retry-failed
ok '(1 point)' says err '^1 of 1 points'
ok 'all bytes are those of the undisturbed sweep' same whole killed

"$WEFT" sweep $tiny --out "$scratch/stopped" >"$scratch/out" 2>"$scratch/err" &
pid=$!
wait_points stopped 100
kill -TERM $pid
ok 'SIGTERM: exit 1' exits 1 wait $pid
ok '(what is done is in the tables)' eval 'grep -q ",waiting," "$scratch/stopped/points.csv" &&
    grep -q ",done," "$scratch/stopped/points.csv" && grep -q ",no,0," "$scratch/stopped/summary.csv"'
ok '(nothing half done is left)' eval '! ls -A "$scratch/stopped/points" | grep "^[.]"'
ok '(nothing has failed)' empty stopped/failed

# --- named choices, linked keys; seeds and values are added -------------------------------------------
cat >"$scratch/small.ini" <<'END'
[run]
end = 1s
[topology]
kind = star
hosts = 8
link_rate = 100Gbps
[workload]
kind = incast
senders = 4
bytes = 20KB
[sweep]
seeds = 1-3
[variant:RoCE]
transport.name = rocev2
[variant:Meta]
transport.name = metaroce
[grid]
topology.hosts & workload.senders = 6 & 2; 8 & 7
loss.rate_per_link = 0; 1%
END
small=$scratch/small.ini
more='grid.loss.rate_per_link=0;0.5%;1%'
ok 'named choices, linked keys and a grid' exits 0 sweep small "$small"
ok '(2 x 2 x 2 grid points)' count 9 . small/summary.csv
ok '(the first)' count 1 '^1,RoCE,6,2,0,3,yes,' small/summary.csv
ok '(the last)' count 1 '^8,Meta,8,7,0.01,3,yes,' small/summary.csv
ok 'more seeds: only the new ones are played' exits 0 sweep small "$small" --seeds 1-5
ok '(16 of them)' says err '^16 of 16 points'
ok 'more values: likewise' exits 0 sweep small "$small" --seeds 1-5 --set "$more"
ok '(20 of them)' says err '^20 of 20 points'
ok 'as if all had been played at once' exits 0 sweep again "$small" --seeds 1-5 --set "$more"
ok '(same bytes)' same small again
ok '--filter plays what matches' exits 1 sweep fresh "$small" --filter 'variant=Me*' --filter seed=2
ok '(4 points)' says err '^4 of 4 points' '20 of 24 points are not played yet'
ok '(one seed has a mean and no deviation)' count 1 '^5,Meta,6,2,0,1,no,0,[0-9.e+]+,,,' fresh/summary.csv
ok 'the rest later' exits 0 sweep fresh "$small"
ok 'all by one process' exits 0 sweep alone "$small" --jobs 1
ok '(same bytes)' same fresh alone
ok 'weft run plays what all points have in common' exits 0 "$WEFT" run "$small" --out "$scratch/base"

# --- shards -------------------------------------------------------------------------------------------
ok 'shard 1 of 2, in a folder of its own' exits 0 sweep left "$small" --shard 1/2
ok '(says how to go on)' says out 'weft gather'
ok 'gather with a shard missing: exit 1' exits 1 "$WEFT" gather "$scratch/left"
ok '(and says so)' says err '12 of 24 points are not played yet'
ok 'shard 2 of 2' exits 0 sweep right "$small" --shard 2/2
ok 'gathers both' exits 0 "$WEFT" gather "$scratch/left" "$scratch/right"
ok '(a row a grid point as from one sweep)' cmp "$scratch/left/summary.csv" "$scratch/fresh/summary.csv"
ok '(a row a point likewise)' cmp "$scratch/left/points.csv" "$scratch/fresh/points.csv"
sweep both "$small" --shard 1/2 --quiet &
sweep both "$small" --shard 2/2 --quiet
wait $!
ok 'two shards at a time in one folder' exits 0 "$WEFT" gather "$scratch/both"
ok '(same bytes)' same both fresh

# --- points without a result, and with half of one -----------------------------------------------------
ok 'a point that is refused stops no other' exits 1 sweep refused "$small" \
    --set 'grid.topology.hosts & workload.senders=6 & 2; 6 & 9'
ok '(its error is in its row)' count 12 ',failed,.*senders' refused/points.csv
ok '(the others are done)' count 12 ',done,,' refused/points.csv
ok '(in another folder it is the same)' exits 1 sweep refused-too "$small" --jobs 1 \
    --set 'grid.topology.hosts & workload.senders=6 & 2; 6 & 9'
ok '(same bytes)' same refused refused-too
ok 'unfinished flows are data: exit 0' exits 0 sweep late "$small" --set run.end=5us
ok '(who waits is in the row)' count 12 ',unfinished,[^,]*of 7 flows did not finish' late/points.csv
ok '(percentiles beyond the finished are empty)' count 1 '^3,RoCE,8,7,0,3,yes,3,[0-9.e+]+,[0-9.e+]+,[0-9.e+]+,,,,,,,' late/summary.csv
cat >"$scratch/huge.ini" <<'END'
[topology]
kind = star
[workload]
kind = incast
senders = 2
bytes = 1KB
[sweep]
seeds = 1-2
[grid]
topology.hosts = 4; 1000000; 5
END
short_of_memory() (
    ulimit -v 300000
    exits 1 sweep memory "$scratch/huge.ini"
)
ok 'a point that runs out of memory stops no other' short_of_memory
ok '(and says what it said)' count 2 ',failed,.*(allocate|memory)' memory/points.csv
ok '(the others are done)' count 4 ',done,,' memory/points.csv
cat >"$scratch/long.ini" <<'END'
[topology]
kind = star
hosts = 4
[workload]
kind = incast
senders = 2
[sweep]
seeds = 1-2
[grid]
workload.bytes = 1KB; 40GB
END
"$WEFT" sweep "$scratch/long.ini" --jobs 1 --out "$scratch/crash" >"$scratch/out" 2>"$scratch/err" &
pid=$!
wait_points crash 2
crash_next() { # crashes the worker that is there, and waits for the record
    kill -SEGV "$(workers crash)"
    for _ in $(seq 200); do
        [ "$(ls "$scratch/crash/failed" | wc -l)" -ge "$1" ] && workers crash >/dev/null && return
        sleep 0.05
    done
}
sleep 0.2
crash_next 1
sleep 0.2
kill -SEGV "$(workers crash)"
ok 'crashes: exit 1' exits 1 wait $pid
gone() { # folder: no worker of it is left
    for _ in $(seq 40); do
        workers "$1" >/dev/null || return 0
        sleep 0.05
    done
    false
}
ok '(each with its signal)' count 2 ',failed,its process was ended by signal 11' crash/points.csv
ok '(the others are done)' count 2 ',done,,' crash/points.csv
"$WEFT" sweep "$scratch/long.ini" --jobs 1 --out "$scratch/left-alone" >"$scratch/out" 2>"$scratch/err" &
pid=$!
wait_points left-alone 2
sleep 0.3
kill -9 $pid
wait $pid 2>/dev/null
ok 'kill -9 of the sweep ends what it plays' gone left-alone
ok '(half a point is left)' eval 'ls -A "$scratch/left-alone/points" | grep -q "^[.]"'
ok '(the next sweep there takes it away)' exits 1 sweep left-alone "$scratch/long.ini" --filter workload.bytes=1kB
ok '(whole points only)' eval '! ls -A "$scratch/left-alone/points" | grep "^[.]"'

# --- a full disk ---------------------------------------------------------------------------------------
disk=$scratch/disk
mkdir "$disk"
if mount -t tmpfs -o size=200k tmpfs "$disk" 2>/dev/null; then
    ok 'a full disk: exit 1' exits 1 sweep disk "$small" --jobs 1
    ok '(one line says it)' count 1 'No space left' err
    ok '(and that the rest can be played)' says err 'what is finished is kept; the same command plays the rest'
    ok '(whole points only)' eval 'for point in "$disk"/points/*; do
            [ -s "$point/point.csv" -a -s "$point/summary.csv" ] || exit 1; done'
    ok '(some are there)' [ "$(n_points disk)" -gt 2 ]
    ok '(none has failed)' empty disk/failed
    mount -o remount,size=20m "$disk"
    ok 'with room it goes on' exits 0 sweep disk "$small"
    ok '(same bytes)' same disk fresh
    umount "$disk"
else
    echo "ok $((++number)) - sweep: a full disk # SKIP no right to mount a tmpfs here"
fi
ok 'a folder that cannot be made: exit 2' exits 2 sweep small.ini/x "$small"
ok '(one line names it)' says err "cannot make the folder '.*small.ini/x/points': Not a directory"

# --- what is not mixed ------------------------------------------------------------------------------------
ok 'another scenario into the folder: exit 2' exits 2 sweep fresh "$small" --set workload.bytes=30KB
ok '(says where it differs)' says err '\[workload\] bytes = 20kB there, bytes = 30kB here' 'another --out'
cp "$scratch/fresh/version" "$scratch/version"
echo 0000000 >"$scratch/fresh/version"
ok 'another version of the program: exit 2' exits 2 sweep fresh "$small"
ok '(names both)' says err 'its 24 finished points were played by weft 0000000; this is weft '
cp "$scratch/version" "$scratch/fresh/version"
printf 'src,dst,bytes\n0,1,1000\n' >"$scratch/flows.csv"
cat >"$scratch/list.ini" <<'END'
[topology]
kind = star
hosts = 4
[workload]
kind = list
file = flows.csv
[sweep]
seeds = 1-2
END
ok 'a scenario that names a file' exits 0 sweep listed "$scratch/list.ini"
ok '(its axes are none)' count 1 '^1,2,yes,0,' listed/summary.csv
printf 'src,dst,bytes\n0,1,2000\n' >"$scratch/flows.csv"
ok 'with other contents: exit 2' exits 2 sweep listed "$scratch/list.ini"
ok '(says so)' says err 'a file that it names has other contents'

# --- [change] ----------------------------------------------------------------------------------------------
cat >"$scratch/change.ini" <<'END'
[topology]
kind = star
hosts = 4
[workload]
kind = incast
senders = 2
bytes = 10KB
[transport]
name = rocev2
[sweep]
seeds = 1-2
[change]
transport.payload = 1024; 4KiB
transport.ack_every & topology.hosts = 2 & 6
END
ok 'changes one at a time' exits 0 sweep change "$scratch/change.ini"
ok '(key and value of each, as the scenario writes it)' eval 'cut -d, -f1-4 "$scratch/change/summary.csv" >"$scratch/changes"
    printf "grid,changed_key,changed_value,seeds\n1,,,2\n2,transport.payload,1KiB,2\n3,transport.payload,4KiB,2\n4,transport.ack_every & topology.hosts,2 & 6,2\n" |
    diff - "$scratch/changes"'

# --- faults ------------------------------------------------------------------------------------------------
cat >"$scratch/fault.ini" <<'END'
[run]
end = 5ms
[topology]
kind = star
hosts = 4
planes = 4
link_rate = 100Gbps
[workload]
kind = permutation
bytes = 60MB
[faults]
convergence_time = 100us
window = 50us
[fault:plane]
object = plane:1
change = down
at = 300us
until = 900us
[sweep]
seeds = 1-2
[variant:MetaRoCE, 4 planes]
transport.name = metaroce
END
ok 'a plane that fails and returns, and a name with a comma' exits 0 sweep fault "$scratch/fault.ini"
recovery() { # recovery_time_ps is that of the first change
    sed 's/, 4 planes//' "$scratch/fault/summary.csv" |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        { time = $c["recovery_time_ps"]; begin = $c["fault_plane_recovery_ps"]; end = $c["fault_plane_end_recovery_ps"] }
        END { print time, begin, end; exit !(time > 0 && time == begin && time != end) }'
}
ok '(how soon it recovers stands beside throughput and percentiles)' recovery

lines() { # every table as lines of JSON too, a line a row
    sweep lines "$small" -q --set run.json_lines=on &&
        [ "$(wc -l <"$scratch/lines/summary.jsonl")" = $(($(wc -l <"$scratch/lines/summary.csv") - 1)) ] &&
        [ "$(wc -l <"$scratch/lines/points.jsonl")" = $(($(wc -l <"$scratch/lines/points.csv") - 1)) ] &&
        [ ! -e "$scratch/one/summary.jsonl" ]
}
ok 'tables as lines of JSON on request' lines

# --- refusals ------------------------------------------------------------------------------------------------
refused() { # title, pattern, sed expression on the scenario, further arguments
    sed -E "$3" "$small" >"$scratch/wrong.ini"
    ok "refuses $1" exits 2 sweep wrong "$scratch/wrong.ini" "${@:4}"
    ok '(and says so)' says err "$2"
    ok '(on one line)' [ "$(wc -l <"$scratch/err")" = 1 ]
}
refused 'a misspelt key of the grid' "wrong.ini:19: \[grid\] loss.rate_per_lnk = 0: .*did you mean 'rate_per_link'" 's/rate_per_link/rate_per_lnk/'
refused 'a misspelt key of its own' "wrong.ini:12: \[sweep\] seds .*did you mean 'seeds'" 's/^seeds/seds/'
refused 'a misspelt group' "did you mean \[grid\]" 's/^\[grid\]/[grd]/'
refused 'a value out of range' 'rate_per_link = 2' 's/= 0; 1%/= 0; 2/'
refused 'linked values that are not as many as keys' 'as many values joined by & as there are keys' 's/8 & 7/8/'
refused 'a key on two axes' 'the key is on two axes' 's/^loss.rate_per_link = .*/topology.hosts = 4; 5/'
refused 'seeds among the keys' 'seeds belong into \[sweep\] seeds' 's/^loss.rate_per_link/run.seed/'
refused 'no seeds' '--seeds 0: seeds are a count, a range or a list' '' --seeds 0
refused 'seeds twice' 'without repetition' '' --seeds 1-5,3
refused '--set of a varied key' "--set grid.loss.rate_per_link='...' gives other values" '' --set loss.rate_per_link=0.5
refused 'a filter of no column' 'COLUMN one of seed, variant, topology.hosts' '' --filter loss=0
refused 'a shard that is none' 'K/N is expected' '' --shard 3/2
refused 'a comparison' 'weft compare plays it' 's/^\[sweep\]/[compare]/'
ok 'refuses an absent scenario' exits 2 sweep none "$scratch/none.ini"
ok 'gather refuses a folder that is no sweep' exits 2 "$WEFT" gather "$scratch/one"
ok '(and names the file it misses)' says err 'points.csv'
echo "1..$number"
exit $failed
