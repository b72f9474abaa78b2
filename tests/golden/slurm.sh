#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft sweep --slurm on the real thing: munged, slurmctld and two slurmd on the loopback address, as
# whoever runs the test. The result is that of a local sweep, byte for byte, whatever is killed on
# the way. Stops what it has started.
. "$(dirname "$0")/../tap.bash"

. "$(dirname "$0")/../slurm-bed.bash"

# --- the sweep -------------------------------------------------------------------------------------------
cat >"$scratch/sweep.ini" <<'END'
# 40 points, each about 0.1 s of CPU, in 10 tasks
[run]
end = 1s
[topology]
kind = star
hosts = 8
link_rate = 100Gbps
[workload]
kind = alltoall
bytes = 32MiB
[transport]
name = metaroce
[sweep]
seeds = 1-10
points_per_task = 4
[grid]
workload.bytes = 24MiB; 32MiB
loss.rate_end_to_end = 0; 1%
END
sweep() { # folder, further arguments
    "$WEFT" sweep "$scratch/sweep.ini" --out "$scratch/$1" "${@:2}"
}
same() { # folder: all that a local sweep leaves but run.json
    diff -r -x run.json -x slurm "$scratch/local" "$scratch/$1"
}
n_points() {
    ls "$scratch/$1/points" 2>/dev/null | wc -l
}
has_points() { # folder, number
    [ "$(n_points "$1")" -ge "$2" ]
}
array_of() { # folder
    cut -d' ' -f1 "$scratch/$1/slurm/job"
}
array_there() {
    [ -s "$scratch/$1/slurm/job" ]
}
ok 'a cluster of two nodes' start_bed
ok 'the local sweep' exits 0 sweep local
ok 'the same by Slurm' exits 0 sweep plain --slurm --slurm-option=--time=10 --slurm-option=--comment=test
ok '(one array, several points a task)' says err '^weft sweep: submitted 40 points as array [0-9]+, 4 a task' \
    '^40 of 40 points'
ok '(ten tasks)' [ "$(cut -d' ' -f1 "$scratch/plain/slurm/1.points" | sort -u | wc -l)" = 10 ]
ok '(same bytes)' same plain

# Left, joined again; a task, a whole node and the controller killed on the way. What the killed task
# had to play is missing at the end and submitted again.
"$WEFT" sweep "$scratch/sweep.ini" --out "$scratch/rough" --slurm --jobs 4 >"$scratch/out" 2>"$scratch/err" &
pid=$!
wait_for 20 array_there rough
kill -INT $pid
ok 'can be left: exit 1' exits 1 wait $pid
"$WEFT" sweep "$scratch/sweep.ini" --out "$scratch/rough" --slurm --jobs 4 >"$scratch/rough.out" 2>"$scratch/rough.err" &
pid=$!
lose_task() { # kills the processes of n1's tasks, but not Slurm's above them: they fail
    local pids
    pids=$(below_jobs n1 tasks)
    [ -n "$pids" ] && kill -9 $pids
}
ok '(a task is killed)' wait_for 20 lose_task
lose_node() { # slurmd and all that runs below it
    running_on n0 >/dev/null || return 1
    kill -9 "$(pid_of slurmd-n0)"
    kill -9 $(below_jobs n0)
    true
}
ok '(a node with its tasks is lost)' wait_for 20 lose_node
sleep 0.5
kill -9 "$(pid_of slurmctld)"
sleep 1.5
ok '(the controller is killed, and started again)' start_ctld
node_down() {
    sinfo -h -n n0 -o %T | grep -q down
}
ok '(the node is seen to be down)' wait_for 200 node_down
ok '(and comes back)' start_node n0
ok 'a task, a node and the controller killed: exit 0' exits 0 wait $pid
ok '(it had joined the array)' grep -q '^weft sweep: joined array' "$scratch/rough.err"
made_up() { # by the sweep or, where the controller died before it had noted the lost task, by Slurm
    grep -qE '^weft sweep: submitted [0-9]+ points as array' "$scratch/rough.err" ||
        grep -q 'Requeuing JobId' "$bed/log/slurmctld.log"
}
ok '(what was missing was submitted again)' made_up
ok '(same bytes)' same rough
for node in n0 n1; do # Slurm drains a node that plays what the controller has forgotten
    scontrol update nodename=$node state=resume 2>/dev/null
done
ok '(both nodes work again)' wait_for 20 nodes_up

"$WEFT" sweep "$scratch/sweep.ini" --out "$scratch/cancelled" --slurm --jobs 1 >"$scratch/said" 2>"$scratch/cancelled.err" &
pid=$!
wait_for 20 has_points cancelled 3
scancel "$(array_of cancelled)"
ok 'scancel is obeyed: exit 1' exits 1 wait $pid
ok '(and said)' says cancelled.err 'array [0-9]+ was cancelled with [0-9]+ points missing; the same command submits them'
ok 'and the same command goes on' exits 0 sweep cancelled --slurm
ok '(same bytes)' same cancelled
mkdir "$scratch/lib" && : >"$scratch/lib/libcsv.so.3"
ok 'an array that finishes nothing is not submitted for ever: exit 1' exits 1 sweep broken --slurm \
    --filter seed=1 "--slurm-option=--export=ALL,LD_LIBRARY_PATH=$scratch/lib"
ok '(after one with a point a task it ends, with what a task said)' says err \
    'submitted 4 points as array [0-9]+, 4 a task' 'submitted 4 points as array [0-9]+, 1 a task' \
    'has finished none of the 4 points missing; .*/2-1.log says: .*libcsv'
ok 'sbatch that refuses: exit 1' exits 1 sweep refused --slurm --slurm-option=--partition=none
ok '(its word is passed on)' says err '^weft sweep: sbatch failed: .*partition'
echo "1..$number"
exit $failed
