#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every file of the project's inputs is read or refused with the right answer. What weft says of each
# is a table in docs/FORMATS.md, which must be what comes out here (tests/golden/formats.sh --update
# writes it); beside it stand the answers that the broken ones must have, and small workloads are
# played with both transports.
. "$(dirname "$0")/../tap.bash"
inputs=${WEFT_INPUTS:-../shared/inputs}
if [ ! -d "$inputs" ]; then
    echo "ok 1 - formats # SKIP no inputs here"
    echo 1..1
    exit 0
fi
most_bytes=40000000 # of a workload that is played
small=negative/topo_units_us.txt

companions() { # file: what else it needs, as arguments of import; inputs are seen from their folder
    case $1 in
    ns3_hpcc/hpcc_flow.txt) echo ns3_hpcc/hpcc_topology.txt ;;
    ns3_hpcc/powertcp_flow*) echo ns3_hpcc/powertcp_topology.txt ;;
    negative/flow_*) echo $small ;;
    negative/cm_failure_ok.cm) echo htsim_topo/uet_fat_tree_128_1os.topo ;;
    negative/et_commsize_int32.* | negative/et_commsize_string.* | negative/et_commsize_zero.*) ;;
    negative/et_commsize_* | negative/et_no_is_cpu_op.*) echo --set workload.ranks=2 ;;
    esac
}

answer() { # file, more arguments: "format|answer|hosts|bytes" of a dry import; \ and | are kept out
    (cd "$inputs" && "$WEFT" import --dry-run "$@" >"$scratch/out" 2>"$scratch/err")
    status=$?
    local file=$1 format text hosts='' bytes=''
    format=$(sed -n "s|^file        $file: ||p" "$scratch/out" | head -1)
    if [ $status != 0 ]; then
        text="refused ($status): $(sed "s/^weft import: //; s|$file:* *||g; s/|/;/g" "$scratch/err")"
        case $text in *'; it is not read: '*) text="not read ($status): ${text##*; it is not read: }" ;; esac
    else
        text=$(sed -n -e 's/^topology  *[a-z0-9]*: //p' -e 's/^switches  *\(tier .*oversubscription.*\)/\1/p' \
            -e 's/^workload  *[a-z0-9]*: //p' -e 's/^sizes  *\(.*\) (sizes.*/\1/p' -e 's/^note  *platform [^:]*: \(.*clusters\);.*/\1/p' \
            -e 's/^fault  *//p' "$scratch/out" | tr '\n' '\1' | sed 's/\x01$//; s/\x01/; /g')
        [ -n "$text" ] || text="becomes a scenario of $(grep -c ' = ' "$scratch/out") keys"
        text+=$(sed -n 's/^note  *warning: /; warning: /p' "$scratch/out" | head -2 | tr -d '\n')
        read -r bytes hosts < <(sed -n 's/^workload .*(\([0-9]*\) B) over \([0-9]*\) hosts.*/\1 \2/p' "$scratch/out")
    fi
    echo "$format|$text|$hosts|$bytes"
}

play() { # hosts, file, more: "0 0" or so, the exit codes with rocev2 and metaroce
    local hosts=$1 codes='' fabric=(--topology star --set topology.hosts="$1") more=()
    shift
    local file=$1
    shift
    for word; do
        case $word in
        *topology*.txt | *topo_*.txt | *.topo) fabric=(--topology "$word") ;;
        *) more+=("$word") ;;
        esac
    done
    for transport in rocev2 metaroce; do
        (cd "$inputs" && timeout 300 "$WEFT" run --quiet "${fabric[@]}" --workload "$file" "${more[@]}" \
            --set transport.name=$transport --out "$scratch/run") >/dev/null 2>"$scratch/err"
        codes+=" $?"
    done
    echo "${codes# }"
}

table() {
    echo "| file | taken for | answer | played (rocev2, metaroce) |"
    echo "|---|---|---|---|"
    (cd "$inputs" && find . -type f ! -name README.md ! -name PROVENANCE.tsv | sed 's|^\./||' | LC_ALL=C sort) |
        while read -r file; do
            more=$(companions "$file")
            IFS='|' read -r format text hosts bytes < <(answer "$file" $more)
            codes=
            [ -n "$bytes" ] && [ "$bytes" -le $most_bytes ] && codes=$(play "$hosts" "$file" $more)
            echo "| \`$file\`${more:+ with \`$more\`} | ${format:--} | $text | ${codes:--} |"
        done
}

table >"$scratch/table"
begin='<!-- files -->'
if [ "$1" = --update ]; then
    { sed "/^$begin/,\$d" docs/FORMATS.md && echo "$begin" && cat "$scratch/table"; } >"$scratch/new" && cp "$scratch/new" docs/FORMATS.md
    exit
fi
sed "1,/^$begin/d" docs/FORMATS.md >"$scratch/expected"
ok 'the table of docs/FORMATS.md is what weft says of each file' diff "$scratch/expected" "$scratch/table"

row() { grep -F "| \`$1\`" "$scratch/table" | head -1; }
says() { # file, regular expression: the row says so
    row "$1" | grep -qE "$2" || { echo "$1: $2 is not in:"; row "$1"; return 1; }
}
all() { # pairs of file and expression
    local status=0
    while [ $# -gt 0 ]; do
        says "$1" "$2" || status=1
        shift 2
    done
    return $status
}

# --- the right answers of the broken files -------------------------------------------------------
ok 'clean after all: CRLF, spaces, no newline, large sizes, exact starts' all \
    negative/cm_crlf.cm '1 messages.*2000000 B.*0 0' negative/cm_double_space.cm '1 messages.*2000000 B.*0 0' \
    negative/cm_no_final_newline.cm '1 messages.*2000000 B.*0 0' negative/cm_size_over_2g.cm '3000000000 B' \
    negative/cm_size_over_4g.cm '5000000000 B' negative/cm_start_float.cm '2000000 B.*starts to 100000001us' \
    negative/flow_over_4g.txt '5000000000 B'
ok 'connection matrices: errors with their line' all \
    negative/cm_no_size.cm 'refused \(2\): 3: .*size' negative/cm_start_and_trigger.cm 'refused \(2\): 5:' \
    negative/cm_trigger_undefined.cm 'refused \(2\): 4: trigger 7' negative/cm_duplicate_id.cm 'refused \(2\): 4: id 1'
ok 'a trigger that never fires: read, and 3 when played' all negative/cm_trigger_never_fires.cm 'warning.*3 3'
ok 'ns-3 topologies: six spellings, one fabric' all \
    negative/topo_units_GBps_8x.txt '2 hosts, 1 plane, 1 tier, 1 switches \(0 unused\), 2 links' \
    negative/topo_units_bps.txt '2 hosts' negative/topo_units_ms.txt '2 hosts' negative/topo_units_us.txt '2 hosts' \
    negative/topo_trailing_comment.txt '2 hosts' negative/topo_link_count_wrong.txt 'refused \(2\): 4: 5 links are declared, the file holds 2' \
    negative/topo_node_out_of_range.txt "refused \\(2\\): 4: '9'" negative/topo_disconnected.txt '2 hosts.*warning: the hosts fall into 2 sets'
same() {
    local spelling
    for spelling in us GBps_8x bps ms; do
        (cd "$inputs" && "$WEFT" import "negative/topo_units_$spelling.txt" --out "$scratch/$spelling" >/dev/null) || return
        cmp "$scratch"/us/*.csv "$scratch/$spelling"/*.csv || return
    done
}
ok 'and their links are the same, byte by byte' same
ok 'ns-3 flows and settings' all negative/flow_to_switch.txt 'refused \(2\): 2: node 2 is a switch' \
    negative/flow_count_long.txt 'refused \(2\): 1: 1 flows are declared, the file holds 2' \
    negative/config_unknown_key.txt "refused \\(2\\): 1: unknown key 'CC_MOOD'; did you mean 'CC_MODE'"
ok 'GOAL: labels, peers and sizes' all negative/goal_duplicate_label.goal "refused \\(2\\): 4: label 'l1' is defined twice" \
    negative/goal_undefined_label.goal "refused \\(2\\): 4: label 'l9' is not defined" \
    negative/goal_peer_out_of_range.goal "refused \\(2\\): 3: '7'" negative/goal_size_mismatch.goal 'warning: .*200 B.*100 B'
ok 'GOAL: any source and tag, irequires and calc 0 are valid' all negative/goal_anysource_anytag.goal '0 0' \
    negative/goal_irequires.goal '0 0' negative/goal_calc_zero.goal '0 0'
ok 'GOAL: a receive that nobody serves is a deadlock' all negative/goal_unmatched_recv.goal '3 3'
ok 'Chakra: cut short, empty, without the node it depends on' all \
    negative/et_truncated.0.et 'refused \(2\): byte 61:' negative/et_empty.0.et 'refused \(2\): byte 0:' \
    negative/et_missing_dep.0.et 'refused \(2\): byte 8: node 1 .*99' negative/et_unmatched_send.1.et 'refused \(2\):' \
    negative/et_commsize_zero.0.et 'warning: .*comm_size of 0.*0 0'
encodings() {
    [ "$(grep -F '`negative/et_commsize_' "$scratch/table" | grep -v zero | grep -c '4 messages of 2 MiB in all (2097152 B) over 2 hosts.*| 0 0 |')" = 9 ] &&
        says negative/et_no_is_cpu_op.1.et '4 messages of 2 MiB in all .2097152 B.'
}
ok 'Chakra: every encoding of comm_size gives one result' encodings
ok 'SimAI and sizes' all negative/simai_unknown_collective.txt "refused \\(2\\): 3: 'ALLREDUCEALLTOALL'" \
    negative/cdf_not_reaching_one.txt 'refused \(2\): 3: the last share is 90' \
    flow_cdf/hpcc_WebSearch_distribution.txt 'mean 1711250.0 B' flow_cdf/clove_DCTCP_CDF.txt 'mean 1711250.0 B' \
    flow_cdf/conweave_webserver.txt 'mean 66121.0 B' flow_cdf/hpcc_GoogleRPC2008.txt 'mean 2891.6 B'

# --- what the good ones hold ---------------------------------------------------------------------
ok 'fabrics: hosts, switches, links, oversubscription' all \
    ns3_hpcc/hpcc_ali_32host_10rack.txt '320 hosts, .* 28 switches .* 800 links' \
    simai/topo_DCN+DualToR_128g_8gps_200Gbps_H100 'oversubscription 8 : 1' \
    simai/topo_Spectrum-X_128g_8gps_100Gbps_A100 'oversubscription 0.0625 : 1' \
    simai/topo_AlibabaHPN_64g_8gps_DualToR_DualPlane_200Gbps_H100 '64 hosts, 2 planes' \
    nccl_topo_xml/p5.48xl-topo.xml '16 hosts, 4 planes'
ok 'a published matrix that is broken' all htsim_cm/uet_a2a.cm 'refused \(2\): .*3600.*240'
ok 'failures of SimGrid' all simgrid_platform/link3_state.profile 'link:0 down at 13s.*link:0 up at 25s' \
    simgrid_platform/link1_bandwidth.profile 'rate=16Mbps at 2s'
pairs() { # GOAL text and its binary: the same messages
    local text name
    for text in "$inputs"/goal/*.bin; do
        name=$(basename "$text" .bin)
        "$WEFT" import "$text" --out "$scratch/bin" >/dev/null || return
        "$WEFT" import "${text%.bin}.goal" --out "$scratch/text" >/dev/null || return
        cut -d, -f1-7,9- "$scratch/bin/$name.bin.messages.csv" | cmp - <(cut -d, -f1-7,9- "$scratch/text/$name.goal.messages.csv") || return
    done
}
ok 'GOAL binaries hold what their texts hold' pairs
unknown() { # nothing that weft does not know
    ! grep 'no known file begins so' "$scratch/table"
}
ok 'all files are of a known format' unknown

# --- round trips ---------------------------------------------------------------------------------
round() { # topology, workload: the imported files play as the originals do
    local topology=$inputs/$1 workload=$inputs/$2
    shift 2
    rm -rf "$scratch/round"
    "$WEFT" import "$topology" "$workload" "$@" --out "$scratch/round" >/dev/null &&
        "$WEFT" run -q --topology "$topology" --workload "$workload" "$@" --out "$scratch/direct" &&
        "$WEFT" run -q --topology "$(ls "$scratch"/round/*.links.csv)" --workload "$(ls "$scratch"/round/*.messages.csv)" --out "$scratch/again" &&
        cmp "$scratch/direct/ports.csv" "$scratch/again/ports.csv" &&
        cut -d, -f1-12 "$scratch/direct/flows.csv" | cmp - <(cut -d, -f1-12 "$scratch/again/flows.csv")
}
ok 'a fat tree and a matrix with triggers, imported, play as before' round htsim_topo/uet_fat_tree_128_4os.topo htsim_cm/uet_alltoall_serial_16n.cm
ok 'ns-3: HPCC topology and flows' round ns3_hpcc/hpcc_topology.txt ns3_hpcc/hpcc_flow.txt --set workload.count=declared
ok 'SimAI: topology and layers' round simai/topo_Spectrum-X_8g_8gps_400Gbps_H100 simai/microAllReduce.txt
settings() { # HPCC's own configuration, with DCQCN, plays; a link that goes down is a fault
    printf '%s\n' 'CC_MODE 1' "TOPOLOGY_FILE $PWD/$inputs/ns3_hpcc/hpcc_topology.txt" "FLOW_FILE x" 'LINK_DOWN 100 0 3' >"$scratch/c.txt"
    grep -v 'CC_MODE\|TOPOLOGY\|FLOW_FILE\|LINK_DOWN' "$inputs/ns3_hpcc/hpcc_config.txt" >>"$scratch/c.txt"
    "$WEFT" run "$scratch/c.txt" --workload "$inputs/ns3_hpcc/hpcc_flow.txt" --set workload.count=declared --out "$scratch/hpcc" >"$scratch/hpcc.txt" 2>"$scratch/hpcc.err"
    [ $? = 3 ] && grep -q 'flow 1: host 2 to host 0 FAILED' "$scratch/hpcc.err" && # its link does not return
        grep -q 'nodes 0 and 3 go down at 2 s + 100 us' "$scratch/hpcc.txt" &&
        grep -q '^ecn_map = 25Gbps 100KB 400KB 0.2; 50Gbps 200KB 800KB 0.2; 100Gbps 400KB 1600KB 0.2' "$scratch/hpcc/scenario.ini" &&
        grep -q '^cc = dcqcn' "$scratch/hpcc/scenario.ini" && grep -q '^dcqcn_increase_timer = 900us' "$scratch/hpcc/scenario.ini"
}
ok 'a configuration of HPCC is a scenario' settings
echo "1..$number"
exit $failed
