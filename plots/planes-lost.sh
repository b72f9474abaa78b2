#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The variants of workloads/plane-failure.ini: what was measured, and goodput over time.
#
#   plots/planes-lost.sh [--no-plot] [FOLDER]          FOLDER: results/plane-failure
#
# Leaves in FOLDER: VARIANT/series.csv and the other files of its run; measures.csv, a row a variant;
# VARIANT/goodput.csv (time_ms, Gb/s of all hosts together, then of each plane, 100 us a row);
# planes-lost.png and .svg.
set -eu
cd "$(dirname "$0")/.."
weft=${WEFT:-build/weft}
scenario=workloads/plane-failure.ini
draw=yes
if [ "${1:-}" = --no-plot ]; then
    draw=no
    shift
fi
folder=${1:-results/plane-failure}
mkdir -p "$folder"

settings() { # variant: its keys as arguments
    awk -v wanted="[variant:$1]" '/^\[/ { inside = $0 == wanted; next }
        inside && /=/ { sub(/ *= */, "="); print "--set"; print }' "$scenario"
}
goodput() { # series.csv: goodput.csv
    awk -F, -v OFS=, '
        function flush(  p, all, text) {
            for (p = 0; p < 8; p++) {
                all += got[p]
                text = text OFS got[p] * 8e-5
            }
            print now / 1e9 - 0.05, all * 8e-5 text
            delete got
        }
        $2 != "plane" || $4 != "goodput" { next }
        $1 != now { if (now) flush(); now = $1 }
        { got[$3] += $5 }
        END { flush() }' "$1"
}
measure() { # variant, its folder: a row of measures.csv
    awk -F, -v OFS=, -v variant="$1" '
        { value[$1] = $2 }
        function us(name) { return value[name] == "" ? "" : value[name] / 1e6 }
        function percent(name) { return value[name] == "" ? "" : 100 * value[name] }
        END {
            print variant, value["flows_finished"], value["flows_failed"],
                value["completion_max"] / 1e9, us("fault_plane_detection"),
                percent("fault_plane_dip"), percent("fault_plane_expected"),
                percent("fault_plane_reached"), us("fault_plane_recovery"),
                value["fault_plane_retransmitted"], percent("fault_plane_end_reached"),
                us("fault_plane_end_recovery"), value["dropped_link_down"]
        }' OFMT=%.5g "$2/summary.csv"
}

{
    printf 'variant,finished,failed,completion_ms,detection_us,dip_percent,expected_percent,'
    printf 'reached_percent,recovery_us,retransmitted_bytes,return_reached_percent,'
    printf 'return_recovery_us,lost_link_down_packets\n'
} >"$folder/measures.tmp"
sed -n 's/^\[variant:\(.*\)\]$/\1/p' "$scenario" | while read -r variant; do
    name=$(echo "$variant" | tr -d , | tr 'A-Z ' 'a-z-')
    mapfile -t changes < <(settings "$variant")
    "$weft" run "$scenario" --quiet --out "$folder/$name" --set run.series_step=100us \
        --set run.series=plane "${changes[@]}" 2>"$folder/$name.log" ||
        [ $? -eq 3 ] # a flow that fails is a result
    rm "$folder/$name.log"
    goodput "$folder/$name/series.csv" >"$folder/$name/goodput.csv"
    measure "\"$variant\"" "$folder/$name" >>"$folder/measures.tmp"
done
mv "$folder/measures.tmp" "$folder/measures.csv"
[ $draw = yes ] || exit 0
for format in png svg; do
    gnuplot -c plots/planes-lost.gp "$folder" plots $format
done
echo "$folder/planes-lost.png, .svg, measures.csv"
