#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft run --threads: every file but run.json (times, and the command) is that of one thread, to the
# byte, and so are the exit code and what is said; what needs one thread says why.
. "$(dirname "$0")/../tap.bash"

play() { # folder, threads, argument...
    "$WEFT" run "${@:3}" --quiet --threads "$2" --out "$scratch/$1" 2>"$scratch/$1.err"
    echo $? >>"$scratch/$1.err"
    sed -i "s,$scratch/$1,FOLDER," "$scratch/$1.err"
}
alike() { # argument...
    rm -rf "${scratch:?}"/{one,many}
    play one 1 "$@"
    for threads in 2 4 8; do
        play many $threads "$@"
        grep 'one thread' "$scratch/many.err" && return 1
        cmp "$scratch/one.err" "$scratch/many.err" && diff -rq -x run.json "$scratch/one" "$scratch/many" ||
            { echo "$threads threads"; cat "$scratch/many.err"; return 1; }
    done
}
refers() { # text, argument...: one thread plays it, says why, and does the same
    rm -rf "${scratch:?}"/{one,many}
    play one 1 "${@:2}"
    play many 4 "${@:2}"
    grep -q "one thread: .*$1" "$scratch/many.err" && diff -rq -x run.json "$scratch/one" "$scratch/many"
}
clos() { # hosts, a leaf
    echo --topology clos --set topology.hosts="$1" --set topology.hosts_per_leaf="$2"
}
meta="--set transport.name=metaroce"
pfc="--set pfc.enable=on --set buffer.kind=shared"

ok 'a permutation, MetaRoCE, loss on every link' alike $(clos 64 8) --workload permutation $meta \
    --set workload.bytes=1MB --set loss.rate_per_link=1%
ok 'a permutation, RoCEv2, go-back-N and loss' alike $(clos 64 8) --workload permutation \
    --set workload.bytes=256KB --set loss.rate_end_to_end=1% --set transport.rto=200us
ok 'selective repeat, four planes' alike --topology planes4-64 --workload alltoall \
    --set workload.bytes=16KiB --set transport.recovery=selective_repeat --set loss.rate_end_to_end=1%
ok 'DCQCN, marks by RED, an incast' alike $(clos 32 4) --workload incast --set workload.bytes=1MB \
    --set transport.cc=dcqcn --set queue.kind=red --set queue.limit=64MB
ok 'an incast, MetaRoCE on eight planes' alike --topology planes8-64 --workload incast $meta \
    --set workload.bytes=256KB
ok 'ring all-reduce' alike $(clos 32 4) --workload allreduce $meta --set workload.bytes=1MiB \
    --set loss.rate_end_to_end=0.1%
ok 'three tiers, sprayed, all-to-all' alike --topology fat-tree-128 --workload alltoall \
    --set workload.bytes=16KiB --set route.kind=spray $meta
ok 'starts by a Poisson process' alike $(clos 64 8) --workload websearch-30 \
    --set workload.duration=100us --set workload.load=0.5
ok 'clocks that drift, bursts of loss' alike $(clos 32 4) --workload permutation $meta \
    --set host.clock_drift=100e-6 --set loss.burst_length_packets=5 --set loss.burst_gap_packets=300 \
    --set workload.bytes=512KB
ok 'flows that fail' alike $(clos 32 4) --workload permutation --set workload.bytes=256KB \
    --set transport.retry_limit=1 --set transport.rto=100us --set loss.rate_per_link=10%
for retries in 0 1; do # the run ends as two messages fail at one timeout; elsewhere a timer is due soon after
    ok "messages that fail together, retry limit $retries" alike $(clos 32 4) --workload list \
        --set "workload.flows=0>5 64KB; 0>5 64KB; 17>18 4KB start=$((retries * 20000 + 300))ns" \
        --set transport.retry_limit=$retries --set transport.rto=20us --set loss.rate_per_link=100% --set loss.tiers=2
done
ok 'a bond that moves on timeouts' alike --topology planes4-64 --workload permutation --set workload.bytes=256KB \
    --set transport.bond=on --set transport.bond_timeouts=1 --set transport.rto=20us --set transport.cc=dcqcn \
    --set transport.queue_pairs=4 --set loss.rate_per_link=2% --set queue.kind=red
ok 'a run cut off at its end' alike $(clos 32 4) --workload permutation --set workload.bytes=4MB \
    --set run.end=60us $meta
ok 'messages to neighbours and afar, of one byte and at one instant' alike $(clos 16 4) --workload list \
    --set 'workload.flows=0>1 1MB; 2>3 100KB; 5>9 1MB start=3us; 9>5 10KB start=3us; 15>0 1B'

# --- what all parts stand still for: a look, a fault -------------------------------------------------
fault() { # name, object, change, at, until
    echo --set "fault:$1.object=$2" --set "fault:$1.change=$3" --set "fault:$1.at=$4" --set "fault:$1.until=$5"
}
ok 'a series' alike $(clos 32 4) --workload permutation $meta --set run.series_step=700ns \
    --set workload.bytes=256KB --set loss.rate_per_link=1%
ok 'a series of a run cut off' alike $(clos 32 4) --workload incast --set run.series_step=1us \
    --set workload.bytes=1MB --set run.end=40300ns
ok 'a plane fails and returns, with a series' alike --topology planes4-64 --workload permutation $meta \
    $(fault a plane:1 down 8us 40us) --set workload.bytes=512KB --set run.series_step=2us
ok 'links fail, switches choose again' alike $(clos 64 8) --workload permutation --set workload.bytes=512KB \
    $(fault a link:80 down 8us 20us) $(fault b link:81 down 8us 13us) --set faults.convergence_time=5us \
    --set transport.rto=100us
ok 'a switch has slow links while much waits for them' alike $(clos 64 8) --workload alltoall $meta \
    --set topology.spines=2 --set workload.bytes=512KB $(fault a switch:s8 rate=25% 8us 20us)
ok 'a link that loses, beside others that do' alike $(clos 64 8) --workload permutation $meta \
    --set workload.bytes=512KB $(fault a switch:s8 loss=20% 8us 20us) --set loss.rate_per_link=1%
ok 'a link that flaps, three tiers' alike --topology fat-tree-128 --workload permutation $meta \
    $(fault a link:300 down 5us 40us) --set fault:a.flap_period=6us --set fault:a.flap_time=2us \
    --set faults.convergence_time=1us --set faults.rehash=resilient --set workload.bytes=128KB
ok 'a bonded NIC' alike --topology planes4-64 --workload permutation --set workload.bytes=512KB \
    $(fault a link:1 down 8us 60us) --set transport.bond=on --set transport.bond_delay=10us \
    --set transport.queue_pairs=4 --set transport.rto=50us

# --- the form of port with priorities ----------------------------------------------------------------
ok 'PFC, all-to-all, few spines' alike $(clos 64 8) --workload alltoall $pfc --set topology.spines=4 \
    --set workload.bytes=512KB --set pfc.xoff=40KB --set pfc.xon_offset=20KB
ok 'PFC whose frames are lost, an incast' alike $(clos 64 8) --workload incast $pfc --set topology.spines=4 \
    --set workload.bytes=128KB --set pfc.xoff=40KB --set pfc.xon_offset=20KB --set loss.class=pfc \
    --set loss.rate_per_link=20%
ok 'PFC and slow links' alike $(clos 64 8) --workload alltoall $pfc --set topology.spines=2 \
    --set workload.bytes=256KB $(fault a switch:s8 rate=25% 8us 20us)
ok 'priorities, marks at dequeue, DCQCN' alike $(clos 64 8) --workload permutation --set workload.bytes=256KB \
    --set queue.mark_at=dequeue --set queue.kind=red --set queue.priorities=0,7,7 --set transport.cc=dcqcn
ok 'shared buffers and slow hosts' alike $(clos 32 4) --workload permutation --set buffer.kind=shared \
    --set buffer.size=1MB --set host.receive_rate=200Gbps --set workload.bytes=256KB

ok 'one switch' refers 'hang on the same switches' --topology star --set topology.hosts=8 --workload permutation
ok 'PFC and a series' refers 'series of a fabric with PFC' $(clos 16 4) --workload permutation $pfc \
    --set run.series_step=1us --set workload.bytes=64KB
{
    echo 'a,b,rate,delay,latency'
    for i in 0 1 2 3 4; do echo "h$i,s$i,100Gbps,100ns,0ns"; done
    for i in 0 1 2 3 4; do echo "s$i,s$(((i + 1) % 5)),100Gbps,100ns,0ns"; done
} >"$scratch/ring.csv"
ok 'a deadlock' refers 'circle of pauses' --topology graph:"$scratch/ring.csv" --workload list \
    --set 'workload.flows=0>2 4MB; 1>3 4MB; 2>4 4MB; 3>0 4MB; 4>1 4MB' --set pfc.enable=on
ok 'calls of a collective in a row' refers 'wait at once' $(clos 16 4) --workload allreduce \
    --set workload.bytes=64KB --set workload.iterations=2
ok 'a capture' refers 'capture' $(clos 16 4) --workload permutation --set workload.bytes=64KB --pcap 20
ok 'accelerators' refers 'accelerators' mtia-small --set workload.end=4KiB --set workload.ranks=0-3
ok 'links without delay' refers 'no delay' $(clos 16 4) --workload permutation \
    --set topology.link_delay=0ns --set topology.switch_latency=0ns --set workload.bytes=64KB
ok 'a drop list' refers 'drop list' $(clos 16 4) --workload permutation --set workload.bytes=64KB \
    --set loss.drop_file="$(echo 'flow,sequence,transmission,link' >"$scratch/drops.csv"; echo "$scratch/drops.csv")"
wrong() {
    exits 2 "$WEFT" run planes4-64 --workload permutation --threads "$1" --out "$scratch/no" &&
        says err "$2" && [ ! -e "$scratch/no" ]
}
ok 'no thread' wrong 0 '--threads 0: 1 to 64 is expected'
ok 'too many' wrong 65 '--threads 65: 1 to 64 is expected'
ok 'no number' wrong two "two"
exit $failed
