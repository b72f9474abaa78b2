#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Experiments with MTIA 300 and the GPU it is compared with.
#
#   plots/mtia.sh [--no-plot] EXPERIMENT... [FOLDER=results/mtia]
#
#   busbw    all-reduce over sizes and ranks: 8 + 2, scale-up alone, 10 + 2, H100
#   small    4 to 64 KiB by who begins a transfer; chains of 1,000
#   overlap  products and all-reduces alone and together; one step serial, by chunks, fused
#   splits   8 + 2, 10 + 2, 12 + 0, second scale-up: a training and an inference mix; NICs switched off
#   dlrm     communication of a DLRM iteration on 40 accelerators; one difference at a time
#   racks    all-gather and all-reduce over 16 to 256 ranks, flat and hierarchical
#   loss     the DLRM iteration under loss, RoCEv2 and MetaRoCE
#   ratio    compute : communication, from DLRM to inference
#
# Each leaves FOLDER/EXPERIMENT.csv and a figure of the same name. Seconds to minutes each.
set -eu
cd "$(dirname "$0")/.."
weft=${WEFT:-build/weft}
draw=yes folder=results/mtia wanted=()
for word in "$@"; do
    case $word in
    --no-plot) draw=no ;;
    FOLDER=*) folder=${word#FOLDER=} ;;
    *) wanted+=("$word") ;;
    esac
done
mkdir -p "$folder"

play() { # scenario, settings...: plays it, files are in $folder/run
    local scenario=$1 settings=()
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    "$weft" run "$scenario" --quiet --out "$folder/run" "${settings[@]}"
}
value() { # metric of the run
    awk -F, -v metric="$1" '$1 == metric { print $2 }' "$folder/run/summary.csv"
}
rows() { # columns in front: the rows of collectives.csv behind them
    tail -n +2 "$folder/run/collectives.csv" | sed "s/^/$1,/"
}
us() { # metric in ps, in us
    value "$1" | awk '{ printf "%.2f", $1 / 1e6 }'
}
span_us() { # of the longest step of a rank
    awk -F, 'NR > 1 && $4 - $3 > most { most = $4 - $3 } END { printf "%.2f", most / 1e6 }' \
        "$folder/run/steps.csv"
}
share() { # class of steps.csv: its share of the time of all ranks
    awk -F, -v class="$1_ps" 'NR == 1 { for (i = 5; i <= NF; i++) if ($i == class) column = i }
        NR > 1 { sum += $column; all += $4 - $3 }
        END { printf "%.4f", sum / all }' "$folder/run/steps.csv"
}
nic_idle() { # node: share of the rate of all NICs (1,000 or 450 + 50 GB/s a rank) not used for payload
    awk -v bytes="$(value delivered_bytes)" -v us="$(span_us)" -v gbps=$([ "$1" = mtia ] && echo 1000 || echo 500) \
        'BEGIN { printf "%.4f", 1 - bytes / (16 * gbps * 1e3 * us) }'
}
head_of() { # file, header
    echo "$2" >"$folder/$1.tmp"
}
row() { # file, fields
    local file=$1
    shift
    (IFS=, && echo "$*") >>"$folder/$file.tmp"
}

busbw() {
    local name=busbw
    head_of $name variant,ranks,size_bytes,count,type,redop,root,time_us,algbw_GBps,busbw_GBps,collective,n,calls
    for ranks in 2 4 8 16; do
        for variant in "MTIA 8+2 both|mtia-busbw" \
            "MTIA 8+2 scale-up|mtia-busbw|workload.networks=scale_up" \
            "MTIA 10+2 both|mtia-busbw|topology.up_planes=5" "H100|h100-busbw"; do
            IFS='|' read -r title scenario setting <<<"$variant"
            play "$scenario" workload.ranks=0-$((ranks - 1)) ${setting:+"$setting"}
            rows "$title,$ranks" >>"$folder/$name.tmp"
            [ "$ranks" = 16 ] || continue
            play "$scenario" workload.ranks=0-15 workload.begin=1GiB workload.end=0B \
                workload.iterations=1 ${setting:+"$setting"}
            rows "$title,$ranks" >>"$folder/$name.tmp"
        done
    done
}
small() {
    local name=small
    head_of $name start,ranks,size_bytes,count,type,redop,root,time_us,algbw_GBps,busbw_GBps,collective,n,calls
    for start in host engine express pe_direct; do
        for ranks in 8 16; do
            for kind in allreduce alltoall; do
                play mtia-small mtia300.start=$start workload.ranks=0-$((ranks - 1)) \
                    workload.collective=$kind
                rows "$start,$ranks" >>"$folder/$name.tmp"
            done
        done
        for compile in calls whole; do
            play mtia-small mtia300.start=$start workload.iterations=1000 workload.begin=16KiB \
                workload.end=0B workload.ranks=0-7 workload.compile=$compile
            rows "$start chain of 1000 $compile,8" >>"$folder/$name.tmp"
        done
    done
}
overlap() {
    local name=overlap
    local gemm="gemm 4096x4096x4096 tf32" reduce="allreduce 64MiB"
    local part="gemm 2048x8192x8192 bf16 x8 id=part"
    head_of $name node,what,gemm_us,collective_us,step_us,compute_idle,nic_idle
    for node in mtia h100; do
        local n_gemms=8 n_calls=40
        [ $node = mtia ] || n_gemms=10 n_calls=20
        play $node-overlap "workload.program=$gemm x$n_gemms"
        row $name $node "products alone x$n_gemms" "$(us group_gemm_time)" "" "$(span_us)" ""
        play $node-overlap "workload.program=$reduce x$((n_calls / 2))"
        row $name $node "all-reduces alone x$((n_calls / 2))" "" "$(us group_allreduce_time)" \
            "$(span_us)" ""
        play $node-overlap "workload.program=$gemm x$n_gemms; $reduce x$n_calls stream=1"
        row $name $node "x$n_gemms products while all-reduces run" "$(us group_gemm_time)" \
            "$(us group_allreduce_time)" "$(span_us)" ""
        play $node-overlap \
            "workload.program=$gemm x$((3 * n_gemms)); $reduce x$((n_calls / 2)) stream=1"
        row $name $node "x$((n_calls / 2)) all-reduces while products run" \
            "$(us group_gemm_time)" "$(us group_allreduce_time)" "$(span_us)" ""
        # one step: eight parts of a product whose result, 256 MiB, is reduced over all
        play $node-overlap "workload.program=$part; allreduce 256MiB after=part"
        row $name $node "step serial" "$(us group_gemm_time)" "$(us group_allreduce_time)" \
            "$(span_us)" "$(share compute | awk '{ print 1 - $1 }')" \
            "$(nic_idle $node)"
        play $node-overlap "workload.program=$part; allreduce 32MiB x8 stream=1 after=part"
        row $name $node "step by chunks" "$(us group_gemm_time)" "$(us group_allreduce_time)" \
            "$(span_us)" "$(share compute | awk '{ print 1 - $1 }')" \
            "$(nic_idle $node)"
        [ $node = mtia ] || continue
        play $node-overlap \
            "workload.program=$part; allreduce 32MiB x8 stream=1 after=part start=fused"
        row $name $node "step fused" "$(us group_gemm_time)" "$(us group_allreduce_time)" \
            "$(span_us)" "$(share compute | awk '{ print 1 - $1 }')" \
            "$(nic_idle $node)"
    done
}
dlrm_row() { # title, scenario, settings...
    local title=$1
    shift
    play "$@"
    row dlrm "$title" "$(us group_allreduce_time)" "$(us group_allgather_time)" \
        "$(us group_alltoallv_time)" "$(span_us)"
}
dlrm() {
    head_of dlrm what,allreduce_us,allgather_us,alltoallv_us,total_us
    dlrm_row "MTIA" mtia-dlrm
    dlrm_row "H100" h100-dlrm
    # from the baseline, one difference at a time
    dlrm_row "H100: scale-out 200 GB/s" h100-dlrm topology.out_rate=1600Gbps gpu.pcie_rate=256GBps
    dlrm_row "H100: scale-up 800 GB/s" h100-dlrm topology.up_rate=800GBps
    dlrm_row "H100: 10 in a domain" h100-dlrm topology.racks=4 topology.accelerators=10
    dlrm_row "H100: no staging copies" h100-dlrm gpu.staging=off
    dlrm_row "H100: no proxy on the host" h100-dlrm gpu.proxy_time=0us gpu.proxy_poll_time=0us
    dlrm_row "H100: NIC beside memory" h100-dlrm gpu.nic_attach=memory
    dlrm_row "H100: all SMs for collectives" h100-dlrm gpu.collective_sms=132
    # from MTIA
    dlrm_row "MTIA: scale-out 50 GB/s" mtia-dlrm topology.out_rate=200Gbps
    dlrm_row "MTIA: scale-up 450 GB/s" mtia-dlrm topology.up_rate=450Gbps
    dlrm_row "MTIA: 8 in a domain" mtia-dlrm topology.racks=5 topology.accelerators=8
    dlrm_row "MTIA: express doorbell" mtia-dlrm mtia300.start=express
    dlrm_row "MTIA: host posts" mtia-dlrm mtia300.start=host
}
splits() {
    local name=splits mix
    local training="allreduce 256MiB; allgather 128MiB; alltoall 64MiB x2"
    local inference="allreduce 64KiB x20; alltoall 256KiB x20; allgather 1MiB x10"
    head_of $name mix,ranks,split,nics,total_us
    for split in "8+2|topology.up_planes=4" "10+2|topology.up_planes=5" \
        "12+0|topology.up_planes=6|topology.out_planes=0" \
        "8+2 as second scale-up|topology.up_planes=4|topology.fungible=on" \
        "10+2 as second scale-up|topology.up_planes=5|topology.fungible=on" \
        "8+0|topology.up_planes=4|topology.out_planes=0" \
        "6+0|topology.up_planes=3|topology.out_planes=0" \
        "4+0|topology.up_planes=2|topology.out_planes=0"; do
        IFS='|' read -r title first second <<<"$split"
        for mix in training inference; do
            play mtia-overlap "$first" ${second:+"$second"} "workload.program=${!mix}"
            row $name "$mix in a rack" 16 "$title" "${title%% *}" "$(span_us)"
        done
        [[ $title == *+2 ]] || continue
        play mtia-overlap "$first" topology.racks=2 "workload.program=$training"
        row $name "training over racks" 32 "$title" "${title%% *}" "$(span_us)"
    done
}
racks() {
    local name=racks
    head_of $name algorithm,ranks,size_bytes,count,type,redop,root,time_us,algbw_GBps,busbw_GBps,collective,n,calls
    for kind in allgather allreduce; do
        for shape in 1x16 2x16 4x10 4x16 8x16 16x16; do
            for algorithm in ring hierarchical; do
                [ $shape$algorithm != 1x16hierarchical ] || continue
                play mtia-busbw topology.racks=${shape%x*} topology.accelerators=${shape#*x} \
                    workload.collective=$kind workload.algorithm=$algorithm workload.begin=64MiB \
                    workload.end=0B workload.iterations=1 workload.warmup=0
                rows "$algorithm,$((${shape%x*} * ${shape#*x}))" >>"$folder/$name.tmp"
            done
        done
    done
}
loss() {
    local name=loss
    head_of $name transport,loss,total_us,recovery_share
    local patient="transport.rto=100us|transport.retry_limit=20"
    for transport in "RoCEv2 go-back-N|transport.name=rocev2|$patient" \
        "RoCEv2 selective repeat|transport.recovery=selective_repeat|$patient" \
        "MetaRoCE (what if)|transport.name=metaroce|workload.spread=transport"; do
        IFS='|' read -r title first second fourth <<<"$transport"
        for harm in "0|loss.rate_end_to_end=0" "0.1 %|loss.rate_end_to_end=0.001" \
            "1 %|loss.rate_end_to_end=0.01" \
            "a blade lost at 100 us|fault:blade.object=plane:1|fault:blade.at=100us|fault:blade.change=down"; do
            IFS='|' read -r what one two three <<<"$harm"
            if play mtia-dlrm "$first" ${second:+"$second"} workload.scale=0.02 \
                run.end=1s "$one" ${two:+"$two"} ${three:+"$three"} ${fourth:+"$fourth"}; then
                row $name "$title" "$what" "$(span_us)" "$(share recovery)"
            else
                [ -e "$folder/run/summary.csv" ] # it was played, but did not end
                row $name "$title" "$what" unfinished ""
            fi
        done
    done
}
ratio() {
    local name=ratio
    head_of $name program,mtia_us,h100_us,h100_over_mtia,mtia_compute_share
    for k in 0 512 2048 8192 32768 131072; do
        local program="gemm 8192x8192x$k bf16 x4 id=g; allreduce 64MiB x4 stream=1 after=g"
        [ $k -gt 0 ] || program="allreduce 64MiB x4"
        ratio_row "8192x8192x$k" "$program" 0-15
    done
    ratio_row "inference 8 ranks" \
        "gemm 64x8192x8192 bf16 x20 id=g; allreduce 64KiB x20 after=g" 0-7 mtia300.start=pe_direct
}
ratio_row() { # title, program, ranks, settings of MTIA
    local title=$1 program=$2 ranks=$3 mtia h100 compute
    shift 3
    play mtia-overlap "workload.program=$program" workload.ranks="$ranks" "$@"
    mtia=$(span_us) compute=$(share compute)
    play h100-overlap "workload.program=$program" workload.ranks="$ranks"
    h100=$(span_us)
    row ratio "$title" "$mtia" "$h100" "$(awk "BEGIN { printf \"%.3f\", $h100 / $mtia }")" "$compute"
}
[ ${#wanted[@]} -gt 0 ] || wanted=(busbw small overlap dlrm)
for name in "${wanted[@]}"; do
    "$name"
    mv "$folder/$name.tmp" "$folder/$name.csv"
    rm -rf "$folder/run"
    [ $draw = yes ] || continue
    for format in png svg; do
        gnuplot -c plots/mtia.gp "$folder" plots $format "$name"
    done
    echo "$folder/$name.csv, .png, .svg"
done
