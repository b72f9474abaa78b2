#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line: help, exit codes 0 to 3, files that are whole and the same bytes each time, and
# one line for every fault, with its place and what would be right.
. "$(dirname "$0")/../tap.bash"
tree=$PWD
export WEFT_DATA=$tree # wherever the program was built
cd "$scratch" || exit 2

exits() { # code, argument...
    local code=$1 got
    shift
    timeout 60 "$WEFT" "$@" >out 2>err
    got=$?
    [ $got = "$code" ] || { echo "weft $*: exit $got, not $code"; tail -n 5 out err; return 1; }
}
refuses() { # text in the one line on stderr, argument...: exit 2, nothing on stdout, no results
    local text=$1
    shift
    rm -rf results
    exits 2 "$@" || return 1
    [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || { echo "not one line:"; cat out err; return 1; }
    grep -qF -- "$text" err || { echo "no '$text' in:"; cat err; return 1; }
    [ ! -e results ] || { echo "results were left"; return 1; }
}
says() { # file, text...
    local file=$1 text
    for text in "${@:2}"; do
        grep -qF -- "$text" "$file" || { echo "no '$text' in:"; cat "$file"; return 1; }
    done
}

# --- help and names -------------------------------------------------------------------------------

helps() {
    exits 0 "$1" --help && grep -q '^Usage:' out && grep -q "weft $1 \[OPTION" out && [ ! -s err ]
}
version() {
    exits 0 --version && grep -qE '^weft [^ ]+ \(-O' out
}
for command in run check graph list params compare sweep gather diff explain trace plot report import crosscheck fluid selftest; do
    ok "$command --help" helps $command
done
general_help() {
    exits 0 --help && says out 'weft run' 'weft check' 'weft list' 'weft params' 'weft compare' &&
        exits 2 && says err Usage:
}
ok 'help on stdout when asked for, on stderr when nothing is said' general_help
ok '--version' version
ok 'an unknown command: the nearest' refuses "did you mean 'check'?" chek
ok 'an unknown command far from any' refuses "no command 'xyzzyxyzzy'" xyzzyxyzzy
ok 'an unknown option' refuses '--bogus' run --bogus
ok 'an option without its value' refuses '--seed' run --seed

lists() {
    exits 0 list && says out transports topologies workloads queues routes nodes scenarios \
        rocev2 metaroce star incast droptail planes4-64 &&
        exits 0 list transports && says out rocev2 && ! grep -q star out
}
ok 'list' lists
ok 'list of something unknown' refuses "did you mean 'queues'?" list quues
params() {
    exits 0 params rocev2 && says out '[transport] name = rocev2' payload 'our choice' default range &&
        exits 0 params queue && says out '[queue]' 'droptail|red|step' &&
        exits 0 params && says out '[run]' 'kind = star' '[loss]' &&
        exits 0 params --markdown && says out '# Parameters' '## `[queue]`' '### `name = rocev2`'
}
ok 'params' params
ok 'params of something unknown' refuses "did you mean 'metaroce'?" params metarose
current() {
    [ ! -e "$tree/docs/PARAMETERS.md" ] || { exits 0 params --markdown && diff out "$tree/docs/PARAMETERS.md"; }
}
ok 'docs/PARAMETERS.md is what params --markdown prints' current

# --- a run ----------------------------------------------------------------------------------------

cat >f5.ini <<'EOF'
# Row F5 of the oracles: two links of 1 us, 100 Gb/s, 1000 + 48 bytes.
[scenario]
title = One flow
[topology]
kind = line
links = 2
link_rate = 100Gbps
link_delay = 1us
switch_latency = 0ps
[workload]
kind = list
flows = 0>1 4490B
[transport]
name = rocev2
payload = 1000B
header = 48B
ack_bytes = 84B
ack_every = 4
EOF
# 4 full packets: 4 x 83.84 ns on the first link; the last, 538 B, 43.04 ns on each: it ends at
# 335.36 + 43.04 + 1000 on the switch and 43.04 + 1000 later, but waits there behind the fourth for
# 83.84 - 43.04: 2462.24 ns. The last acknowledgement, 84 B: 2 x (6.72 + 1000) ns.
cat >f5.csv <<'EOF'
flow,src,dst,transport,bytes,start_ps,end_receiver_ps,end_sender_ps,ideal_ps,slowdown,packets,retransmitted_packets,spurious_retransmissions,timeouts,marked_packets,status,bytes_by_plane,group,goodput_bps,reason
0,0,1,rocev2,4490,0,2462240,4475680,2462240,1.000000,5,0,0,0,0,finished,4490,,14588342322,
EOF
whole_run() {
    exits 0 run f5.ini --out a && says out '1 of 1 finished' 'results     a' &&
        [ "$(ls a | tr '\n' ' ')" = "flows.csv ports.csv run.json scenario.ini summary.csv " ] &&
        diff f5.csv a/flows.csv
}
ok 'a run leaves its five files, flows.csv to the byte' whole_run
summary() {
    [ "$(head -1 a/summary.csv)" = metric,value,unit ] &&
        says a/summary.csv 'complete,1,0|1' 'flows_finished,1,flows' 'completion_max,2462240,ps' \
            'delivered_bytes,4490,bytes' 'host_sent_packets' 'in_flight_at_end,0' 'ties,' &&
        [ "$(wc -l <a/ports.csv)" = 5 ] && says a/ports.csv '0,0,2,0,1,5,4730,0,' &&
        says a/run.json '"version"' '"host"' '"peak_memory_bytes"' '"complete": true' \
            '"command": "weft run f5.ini --out a"'
}
ok 'summary.csv, ports.csv and run.json say what happened' summary
same_bytes() {
    for file in flows.csv ports.csv scenario.ini summary.csv; do
        cmp "$1/$file" "$2/$file" || return 1
    done
}
again() {
    exits 0 run f5.ini --out deep/b --quiet && [ ! -s out ] && [ ! -s err ] && same_bytes a deep/b
}
ok 'the same run again gives the same bytes, and --quiet says nothing' again
resolved() {
    exits 0 run a/scenario.ini --out c && same_bytes a c && ! grep -qi '^base' a/scenario.ini
}
ok 'the resolved scenario gives the same run' resolved
seeds() {
    local set=(--topology star --workload incast --set topology.hosts=4 --set loss.rate_per_link=1%)
    exits 0 run "${set[@]}" --seed 2 --out s2 && exits 0 run "${set[@]}" --set run.seed=2 --out s2b &&
        exits 0 run "${set[@]}" --seed 3 --out s3 && same_bytes s2 s2b && ! cmp -s s2/flows.csv s3/flows.csv
}
ok '--seed is run.seed, and another seed loses other packets' seeds
switched_off() {
    exits 0 run f5.ini --set run.flows=off --set run.ports=off --out c &&
        [ "$(ls c | tr '\n' ' ')" = "run.json scenario.ini summary.csv " ]
}
ok 'run.flows and run.ports switch files off, and stale ones go' switched_off
default_folder() {
    mkdir home && cp f5.ini home/ && cd home && exits 0 run f5.ini && [ -f results/f5/summary.csv ] &&
        exits 0 run --topology star --workload incast --set topology.hosts=4 --seed 1 &&
        [ -f results/run/summary.csv ]
}
ok 'results/NAME is the folder unless another is given' eval '(default_folder)'

examples() { # each block of docs/SCENARIOS.md, a comparison's groups on top of the first
    awk '/^```ini$/ { n++; inside = 1; next } /^```$/ { inside = 0 } inside { print >"example" n ".ini" }' \
        "$tree/docs/SCENARIOS.md" && [ "$(ls example*.ini | wc -l)" = 7 ] &&
        cat example1.ini >>example6.ini &&
        exits 0 run example1.ini --out e1 && says e1/flows.csv ',2462240,' &&
        exits 0 run example2.ini --out e2 && says e2/flows.csv 0,0,1,rocev2, 1,2,1,many, 2,3,1,metaroce, &&
        exits 0 run example3.ini --out e3 && says e3/flows.csv ,vendor_a, ,vendor_b, &&
        exits 0 run example4.ini --out e4 && says e4/summary.csv fault_plane_end_time,300000000, &&
        exits 0 check example5.ini &&
        exits 0 run example6.ini --out e6 && diff e1/flows.csv e6/flows.csv &&
        exits 0 sweep example7.ini --dry-run --out e7 && says out ' grid points x 10 seeds'
}
ok 'the examples of docs/SCENARIOS.md' examples

# --- a check --------------------------------------------------------------------------------------

check() {
    exits 0 check planes4-64 --workload allreduce &&
        says out '64 hosts, 4 planes, 2 tiers, 64 switches (0 unused)' 'host rate   400 Gb/s' \
            'oversubscription 1 : 1' 'bytes       tier 1' 'round trip' BDP 'of memory' 'of CPU' \
            'busbw = algbw x 126/64' && ! grep -q WARNING out && [ ! -e results ]
}
ok 'check says what was understood and runs nothing' check
paths() { # 4 planes x 8 spines between leaves, one way within a leaf; 5-tuples choose
    exits 0 check planes4-64 --workload permutation --paths 0 63 &&
        [ "$(grep -c '^  host 0 ' out)" = 32 ] && [ "$(grep -c '^  8 shortest paths$' out)" = 4 ] &&
        says out '4 links, 3.80 us of delay and latency' 'keeps one of them' '[128] switch 72 (tier 2)' &&
        exits 0 check planes4-64 --workload permutation --paths=0,7 &&
        [ "$(grep -c '^  1 shortest path$' out)" = 4 ] &&
        refuses 'two different hosts are expected, 0 to 63' check planes4-64 --workload permutation \
            --paths 0 64 &&
        refuses 'two different hosts' check planes4-64 --workload permutation --paths 5 5
}
ok 'check lists the paths between two hosts' paths
warnings() {
    exits 0 check --topology clos --workload list --set topology.hosts=16 \
        --set topology.hosts_per_leaf=8 --set topology.spines=4 --set 'workload.flows=0>9 1KB start=2s' \
        --set run.end=1s --set transport.name=rocev2 --set transport.rto=1us &&
        says out 'WARNING     tier 1 is oversubscribed 2 : 1' 'WARNING     1 messages start after' \
            'rto = 1us is below the unloaded round trip' &&
        exits 0 check --topology star --workload permutation --set topology.link_delay=3ms \
            --set transport.name=metaroce &&
        says out 'rto_max = 10ms is below the unloaded round trip of 12'
}
more_warnings() {
    exits 0 check --topology clos --workload allreduce --set topology.hosts=64 --set topology.tiers=3 \
        --set topology.hosts_per_leaf=4 --set workload.ranks=0-3 --set route.seeds=equal --set run.end=1ms \
        --set 'queue.ecn_map=100Gbps 400KB 1600KB 20%; 400Gbps 200KB 1600KB 20%' --set queue.kind=red &&
        says out 'WARNING     1 of 1 collectives, such as allreduce over 4 ranks, never leave the switch' \
            '(polarisation)' 'rocev2: the run ends at 1ms, before its timeout of 4194304ns (timeout_exponent)' \
            'ports of 100Gbps mark from 400000 to 1600000 B, those of 400Gbps from 200000 to 1600000 B' &&
        exits 0 check --topology clos --workload allreduce --set topology.hosts=64 --set topology.tiers=3 \
            --set topology.hosts_per_leaf=4 && ! grep WARNING out
}
ok 'check warns: a collective behind one switch, polarisation, marks, a run too short for its RTO' more_warnings
group_warnings() { # the timeout of a group of hosts, and a short one for few packets
    printf '%s\n' '[topology]' 'kind = star' '[workload]' 'kind = permutation' \
        '[transport:eager]' 'name = rocev2' 'rto = 1us' 'rto_low = 900ns' \
        '[hosts:some]' 'ranks = 0-3' 'transport = eager' >groups.ini
    exits 0 check groups.ini && says out 'eager: rto = 1us is below the unloaded' 'eager: rto_low = 900ns is below' &&
        ! grep 'rocev2: rto' out
}
ok 'check warns: an RTO below the round trip, by groups of hosts' group_warnings
ok 'check warns: oversubscription, a start after the end, an RTO below the round trip' warnings

# --- memory ---------------------------------------------------------------------------------------

limited() { # KiB of address space, exits and so on
    (ulimit -v "$1" && "${@:2}")
}
large=(--topology clos --set topology.hosts=8192 --workload permutation --set transport.name=metaroce)
too_large() { # 312 MiB are needed, 273 there; with nothing to do the run takes less than it says
    limited 280000 refuses 'of memory and 273 MiB are available' run "${large[@]}" &&
        limited 280000 exits 3 run "${large[@]}" --set run.memory=ignore --set run.end=1ns \
            --set run.flows=off --set run.ports=off --out m --quiet
}
ok 'a run that would not fit is refused with the numbers, unless told otherwise' too_large

# --- exit 1 and 3 ---------------------------------------------------------------------------------

unfinished() {
    exits 3 run f5.ini --set run.end=1us --out u && says out '0 of 1 finished' &&
        says err 'flow 0: host 1 waits for 4490 of 4490 B from host 0' &&
        says u/flows.csv ',unfinished,' '0,0,1,rocev2,4490,0,,,2462240,,' && says u/summary.csv complete,1
}
ok 'an unfinished flow: exit 3, and who waits for whom' unfinished
gave_up() {
    exits 3 run f5.ini --set loss.rate_per_link=1 --out u && says err FAILED 'host 0 to host 1' &&
        says u/flows.csv ',failed,' && says u/summary.csv flows_failed,1
}
ok 'a flow that gave up: exit 3' gave_up
stopped() { # signal
    local pid
    "$WEFT" run --topology star --workload alltoall --set topology.hosts=64 --set workload.bytes=4GiB \
        --out stop >out 2>err &
    pid=$!
    sleep 1
    kill "-$1" $pid
    wait $pid
    [ $? = 1 ] && says err 'marked incomplete' && says stop/summary.csv 'complete,0,' &&
        says stop/run.json '"complete": false' interrupted && [ -s stop/flows.csv ] &&
        ! ls stop | grep -v -e '\.csv$' -e '\.ini$' -e '\.json$' -e '^nccl.txt$'
}
ok 'SIGINT: exit 1, partial results marked so' stopped INT
ok 'SIGTERM: the same' stopped TERM

# --- faults: exit 2, one line, nothing left -------------------------------------------------------

fault() { # expected text, scenario text
    printf '%b' "$2" >x.ini
    refuses "$1" run x.ini && refuses "$1" check x.ini
}
base='[topology]\nkind = star\n[workload]\nkind = incast\n'
ok 'no such scenario' refuses "did you mean 'planes4-64'?" run planes4-65
ok 'two scenarios' refuses "'b'" run f5.ini b
ok 'no topology' refuses 'no topology: [topology] kind is missing' run --workload incast
ok 'no workload' refuses 'no workload: [workload] kind is missing' run --topology star
ok 'no such topology' refuses "--topology stra: no file, kind or ready scenario of that name; did you mean 'star'?" \
    run --topology stra
ok 'a misspelt key' fault "x.ini:6: [queue] limt = 1KB: [queue] has no key 'limt'; did you mean 'limit'?" \
    "$base[queue]\nlimt = 1KB\n"
ok 'a misspelt group' fault 'x.ini:5: there is no group [queu]; did you mean [queue]?' "$base[queu]\nlimit = 1KB\n"
ok 'a repeated group' fault 'x.ini:5: [topology]: the group is repeated; it began on line 1' "$base[topology]\n"
ok 'a repeated key' fault 'x.ini:7: [run] seed: the key is repeated; it stands on line 6' "$base[run]\nseed = 1\nseed = 1\n"
ok 'a key outside a group' fault "x.ini:1: 'seed = 1': the key stands before the first [group]" 'seed = 1\n'
ok 'a line that is none' fault "x.ini:2: 'seed': 'key = value'" '[run]\nseed\n'
ok 'a value out of range' fault 'x.ini:6: [loss] rate_per_link = 150%: out of range; 0 to 1 is possible' \
    "$base[loss]\nrate_per_link = 150%\n"
ok 'a value without its unit' fault 'x.ini:6: [run] end = 5: a time with its unit is expected' "$base[run]\nend = 5\n"
ok 'a value that is no choice' fault "x.ini:6: [queue] kind = redd: one of droptail|red|step is expected; did you mean 'red'?" \
    "$base[queue]\nkind = redd\n"
ok 'a kind that is none' fault 'x.ini:6: [transport] name = rocev1: no transport is called so' "$base[transport]\nname = rocev1\n"
ok 'a base that is not there' fault "x.ini:2: [scenario] base = none.ini: there is no file 'none.ini'" '[scenario]\nbase = none.ini\n'
ok 'a base that is itself' fault 'a cycle' '[scenario]\nbase = x.ini\n'
ok 'a file that is not text' fault 'x.ini: not a text file' '[run]\n\0001\0000\n'
ok 'what a builder refuses has its place' fault 'x.ini:4: [workload] kind = list: ' \
    '[topology]\nkind = star\n[workload]\nkind = list\nflows = 0>99999 1KB\n'
ok 'a file the workload names and does not find' fault 'none.csv' \
    '[topology]\nkind = star\n[workload]\nkind = list\nfile = none.csv\n'
ok 'a transport that the workload names and is none' fault '[transport:tcp]' \
    '[topology]\nkind = star\n[workload]\nkind = list\nflows = 0>1 1KB transport=tcp\n'
ok '--set without a value' refuses '--set run.seed: group.key=value is expected' run f5.ini --set run.seed
ok '--set of an unknown key' refuses "--set run.sed=1: [run] has no key 'sed'; did you mean 'seed'?" run f5.ini --set run.sed=1
ok '--set of a wrong value' refuses '--set run.seed=x: a whole number is expected' run f5.ini --set run.seed=x
ok '--seed of a wrong value' refuses '--seed x: a whole number' run f5.ini --seed x

# --- what other tools read ------------------------------------------------------------------------

foreign() { # every table as lines of JSON, fct.txt, and what nccl-tests print; gone when not wanted
    set -- run --topology clos --workload allreduce --set topology.hosts=16 --out foreign --quiet
    exits 0 "$@" --set run.json_lines=on --set run.fct=on --set run.series_step=100us || return 1
    for table in flows ports series summary; do
        [ "$(wc -l <foreign/$table.csv)" = $(($(wc -l <foreign/$table.jsonl) + 1)) ] &&
            ! grep -vq '^{"[a-z_]*":.*}$' foreign/$table.jsonl || { echo $table; return 1; }
    done
    [ "$(wc -l <foreign/fct.txt)" = "$(wc -l <foreign/flows.jsonl)" ] || return 1
    [ "$(awk '!/^#/ { print NF, $1, $3, $4, $5 }' foreign/nccl.txt)" = "13 16777216 float sum -1" ] ||
        { cat foreign/nccl.txt; return 1; }
    exits 0 "$@" --set run.flows=off || return 1
    ls foreign
    [ "$(ls foreign | tr '\n' ' ')" = "nccl.json nccl.txt ports.csv run.json scenario.ini summary.csv " ] || return 1
    exits 0 "$@" --workload permutation --set workload.bytes=4KiB || return 1
    [ "$(ls foreign | tr '\n' ' ')" = "flows.csv ports.csv run.json scenario.ini summary.csv " ]
}
ok 'lines of JSON, HPCC and nccl-tests' foreign
compared() { # a comparison has lines of JSON as well
    printf '%s\n' '[topology]' 'kind = star' 'hosts = 4' '[workload]' 'kind = permutation' \
        '[run]' 'json_lines = on' '[compare]' 'vary = loss.rate_per_link' 'values = 0;1%' 'seeds = 2' \
        '[variant:a]' 'transport.name = rocev2' >lines.ini
    exits 0 compare lines.ini --out lines -q &&
        [ "$(wc -l <lines/summary.jsonl) $(wc -l <lines/points.jsonl)" = "2 4" ] &&
        grep -q '^{"case":"[a-z]*","variant":"a","loss.rate_per_link":0,"seeds":2,"complete":"yes",' lines/summary.jsonl
}
ok 'lines of JSON of a comparison' compared

# --- the fluid model ------------------------------------------------------------------------------

fluid() { # two runs, the same bytes; the fixed points of SOURCES.md 9.1 for 100G and 8 flows
    for n in 1 2; do
        exits 0 fluid dcqcn-incast --set run.end=5ms --out fluid$n && [ ! -s err ] || return 1
    done
    says out 'queue 32.7 KB, p 0.00142' 'queue 39.6 KB, p 0.00178' || return 1
    for file in fluid.csv packets.csv points.csv scenario.ini; do
        [ -s fluid1/$file ] && cmp fluid1/$file fluid2/$file || return 1
    done
    command -v gnuplot >/dev/null || return 0
    [ -s fluid1/dcqcn-fluid.png ]
}
ok 'fluid: model, packets and fixed points' fluid
ok 'fluid: more than one receiver' refuses 'all messages go to one host' fluid dcqcn-incast --workload permutation
ok 'fluid: no DCQCN' refuses '[transport] cc: dcqcn is expected' fluid dcqcn-incast --set transport.cc=fixed
ok 'fluid: no RED' refuses '[queue] kind' fluid dcqcn-incast --set queue.kind=step
ok 'fluid: too long' refuses '[run] end' fluid dcqcn-incast --set run.end=2s

# --- faults: results that cannot be written -------------------------------------------------------

touch plain
ok 'a file where a folder should be' refuses "plain/deep: cannot make the folder" run f5.ini --out plain/deep
ok 'the folder is a file' refuses 'plain' run f5.ini --out plain
unwritable() { # also as root: a folder of the kernel's, in which nobody can make files
    exits 2 run f5.ini --out /proc/self && [ "$(wc -l <err)" = 1 ] && says err /proc/self && [ ! -s out ]
}
ok 'a folder that cannot be written, before the run' unwritable

echo "1..$number"
exit $failed
