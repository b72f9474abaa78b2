#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft sweep --slurm on the real thing: munged, slurmctld and two slurmd on the loopback address, as
# whoever runs the test. The result is that of a local sweep, byte for byte, whatever is killed on
# the way. Stops what it has started.
. "$(dirname "$0")/../tap.bash"

for program in munged slurmctld slurmd sbatch squeue scontrol scancel sinfo; do
    PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || missing+=" $program"
done
PATH=$PATH:/usr/sbin:/sbin
if [ -n "$missing" ]; then
    echo "not ok 1 - slurm: programs are missing:$missing (make test-deps)"
    exit 1
fi

# --- the cluster --------------------------------------------------------------------------------------
bed=$scratch/bed
port=$((20000 + $$ % 2500 * 4))
host=$(hostname -s)
mkdir -p "$bed"/{state,spool,log,run}
chmod 755 "$scratch" "$bed" "$bed/run"
cat >"$bed/slurm.conf" <<END
ClusterName=bed
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$bed/run/munge.sock,cred_expire=5
StateSaveLocation=$bed/state
SlurmdSpoolDir=$bed/spool/%n
SlurmctldPidFile=$bed/run/slurmctld.pid
SlurmdPidFile=$bed/run/slurmd-%n.pid
SlurmctldLogFile=$bed/log/slurmctld.log
SlurmdLogFile=$bed/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
ReturnToService=2
SlurmctldTimeout=5
SlurmdTimeout=3
KillWait=2
MinJobAge=300
MaxArraySize=10001
JobRequeue=1
PropagateResourceLimits=NONE
SlurmdParameters=config_overrides
NodeName=DEFAULT CPUs=3 RealMemory=1000 State=UNKNOWN
NodeName=n0 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1))
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2))
PartitionName=batch Nodes=n[0-1] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
END
export SLURM_CONF=$bed/slurm.conf

pid_of() { # daemon
    cat "$bed/run/$1.pid" 2>/dev/null
}
below() { # process: all that it has started, and what those have
    local child
    for child in $(pgrep -P "$1"); do
        below "$child"
        echo "$child"
    done
}
start_ctld() {
    slurmctld -f "$SLURM_CONF"
}
start_node() {
    slurmd -N "$1" -f "$SLURM_CONF"
}
wait_for() { # seconds, command
    local i
    for i in $(seq $(($1 * 10))); do
        "${@:2}" >/dev/null 2>&1 && return
        sleep 0.1
    done
    echo "after $1 s still not: ${*:2}"
    sinfo -N
    squeue
    false
}
nodes_up() {
    [ "$(sinfo -h -N -o %T 2>/dev/null | grep -cE '^(idle|mixed|allocated|completing)$')" = 2 ]
}
stop_bed() {
    local pid pids
    scancel --quiet --user "$(id -u)" 2>/dev/null
    pids="$(pgrep -f "slurm(stepd|script).*$bed") $(pid_of slurmd-n0) $(pid_of slurmd-n1) $(pid_of slurmctld) $(pid_of munged)"
    for pid in $pids; do kill "$pid" 2>/dev/null; done
    for _ in $(seq 50); do # where nobody fetches their status they stay as zombies
        ps -o stat= -p "$(echo $pids | tr ' ' ,)" 2>/dev/null | grep -qv '^Z' || break
        sleep 0.1
    done
    for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
}
trap 'stop_bed; rm -rf "$scratch"' EXIT
(umask 077; head -c 128 /dev/urandom >"$bed/munge.key")
start_bed() {
    munged --force --key-file="$bed/munge.key" --socket="$bed/run/munge.sock" --pid-file="$bed/run/munged.pid" \
        --log-file="$bed/log/munged.log" --seed-file="$bed/run/munged.seed" --num-threads=2 &&
        start_ctld && start_node n0 && start_node n1 && wait_for 20 nodes_up
}

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
running_on() { # node
    squeue -h -r -t R -w "$1" -o %A | grep .
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
below_jobs() { # node: the processes of its tasks, and what Slurm has put above them
    local job step
    for job in $(running_on "$1"); do
        for step in $(pgrep -f "slurmstepd: \[$job\.batch\]"); do
            below "$step"
            [ -n "$2" ] || echo "$step"
        done
    done
}
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
ok '(the node is seen to be down)' wait_for 90 node_down
ok '(and comes back)' start_node n0
ok 'a task, a node and the controller killed: exit 0' exits 0 wait $pid
ok '(it had joined the array)' grep -q '^weft sweep: joined array' "$scratch/rough.err"
ok '(what was missing was submitted again)' grep -qE '^weft sweep: submitted [0-9]+ points as array' "$scratch/rough.err"
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
