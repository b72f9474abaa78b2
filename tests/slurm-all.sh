#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every ready sweep, locally and by Slurm, to the same bytes; and a sweep of 1,000 points of which a
# point, the sweep, a slurmd and slurmctld are killed with signal 9 on the way. Takes half an
# hour: `make slurm-all`, not `make test`. SEEDS=1-1 unless given; SWEEPS: names, all unless
# given, none if empty.
. "$(dirname "$0")/tap.bash"
. tests/slurm-bed.bash

seeds=${SEEDS:-1-1}
sweeps=${SWEEPS-$(grep -lE '^\[(sweep|grid|change|variant:)' topologies/*.ini workloads/*.ini |
    xargs grep -L '^\[compare\]' | xargs -n1 basename -s .ini)}

ok 'a cluster of two nodes' start_bed
same() { # two folders, but for what says where and when
    diff -rq -x run.json -x slurm "$1" "$2"
}
both() { # name
    rm -rf "${scratch:?}"/{local,slurm}
    "$WEFT" sweep "$1" --seeds "$seeds" --out "$scratch/local" >"$scratch/out" 2>"$scratch/err"
    local code=$?
    "$WEFT" sweep "$1" --seeds "$seeds" --out "$scratch/slurm" --slurm --slurm-option=--time=60 \
        >"$scratch/out" 2>"$scratch/err"
    [ $? = $code ] && [ $code != 2 ] && [ -s "$scratch/local/points.csv" ] && same "$scratch/local" "$scratch/slurm" ||
        { echo "exit $code"; tail -n 5 "$scratch/err"; return 1; }
}
for name in $sweeps; do
    ok "$name, seeds $seeds" both "$name"
    echo "# $name: $(($(wc -l <"$scratch/local/points.csv") - 1)) points"
done

# --- a thousand points, and four deaths ------------------------------------------------------------
tiny=tests/sweep/tiny-1000.ini
n_points() {
    ls "$scratch/rough/points" 2>/dev/null | wc -l
}
has_points() {
    [ "$(n_points)" -ge "$1" ]
}
worker() { # a process that plays a point, below Slurm's on a node
    local pids
    pids=$(below_jobs "$1" tasks | tail -n 1)
    [ -n "$pids" ] && kill -9 $pids
}
node() {
    running_on n0 >/dev/null || return 1
    kill -9 "$(pid_of slurmd-n0)"
    kill -9 $(below_jobs n0) 2>/dev/null
    true
}
down() {
    sinfo -h -n n0 -o %T | grep -q down
}
begin() { # the same command as ever, behind us
    "$WEFT" sweep $tiny --out "$scratch/rough" --slurm --jobs 4 >"$scratch/out" 2>"$scratch/err" &
    pid=$!
}
ok 'a thousand points locally' exits 0 "$WEFT" sweep $tiny --out "$scratch/tiny"
begin
ok '(some are played)' wait_for 60 has_points 100
ok '(a point is killed)' wait_for 20 worker n1
kill -9 $pid
wait $pid 2>/dev/null
ok "(the sweep is killed, at $(n_points) points)" [ "$(n_points)" -lt 1000 ]
begin
ok '(a slurmd is killed, with what it played)' wait_for 30 node
kill -9 "$(pid_of slurmctld)"
sleep 1.5
ok "(slurmctld is killed, at $(n_points) points, and started again)" start_ctld
ok '(the node is seen to be down)' wait_for 200 down
ok '(and comes back)' start_node n0
ok 'the sweep ends: exit 0' exits 0 wait $pid
ok '(same bytes)' same "$scratch/tiny" "$scratch/rough"
echo "1..$number"
exit $failed
