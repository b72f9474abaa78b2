# SPDX-License-Identifier: GPL-2.0-or-later
# A cluster of two nodes for the tests that source this behind tap.bash: munged, slurmctld and two
# slurmd on the loopback address, as whoever runs the test. start_bed starts it; what runs is stopped
# when the test ends.
for program in munged slurmctld slurmd sbatch squeue scontrol scancel sinfo; do
    PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || missing+=" $program"
done
PATH=$PATH:/usr/sbin:/sbin
if [ -n "$missing" ]; then
    echo "not ok 1 - $suite: programs are missing:$missing (make test-deps)"
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
steps() { # of a job, or of all: slurmstepd of this bed, since other beds number their jobs alike
    local step
    for step in $(pgrep -f "slurmstepd: \[${1:-[0-9]+}\.batch\]"); do
        [ "$(readlink "/proc/$step/cwd")" = "$bed/log" ] && echo "$step"
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
    local pid pids step
    scancel --quiet --user "$(id -u)" 2>/dev/null
    pids="$(for step in $(steps); do below "$step"; echo "$step"; done) $(pid_of slurmd-n0) $(pid_of slurmd-n1) $(pid_of slurmctld) $(pid_of munged)"
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
running_on() { # node
    squeue -h -r -t R -w "$1" -o %A | grep .
}
below_jobs() { # node: the processes of its tasks, and what Slurm has put above them
    local job step
    for job in $(running_on "$1"); do
        for step in $(steps "$job"); do
            below "$step"
            [ -n "$2" ] || echo "$step"
        done
    done
}
