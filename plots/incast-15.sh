#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The four regimes of workloads/incast-15.ini over time.
#
#   plots/incast-15.sh [--no-plot] [FOLDER]          FOLDER: results/incast-15
#
# Plays every variant of the scenario into FOLDER/VARIANT and reads its series.csv (port 1 is the
# switch's towards host 0, the receiver; flow 15 is the victim). Leaves in FOLDER:
#   measures.csv       a row a variant: what docs and tests quote; `late` is from 20 to 40 ms
#   VARIANT/bins.csv   time_ms, queue mean, least and most [KB], sum of the senders, victim [Gb/s],
#                      pauses and drops [1/ms], the 15 senders [Gb/s]
#   incast-15.png, .svg
# Bins are a step, 20 us, in the first millisecond and 500 us after it.
set -eu
cd "$(dirname "$0")/.."
weft=${WEFT:-build/weft}
scenario=workloads/incast-15.ini
draw=yes
if [ "${1:-}" = --no-plot ]; then
    draw=no
    shift
fi
folder=${1:-results/incast-15}
mkdir -p "$folder"

settings() { # variant: its keys as arguments
    awk -v wanted="[variant:$1]" '/^\[/ { inside = $0 == wanted; next }
        inside && /=/ { sub(/ *= */, "="); print "--set"; print }' "$scenario"
}
bins() { # series.csv: bins.csv
    awk -F, -v OFS=, '
        function middle(b) { return b < 50 ? (b + 0.5) * 0.02 : 1 + (b - 50 + 0.5) * 0.5 }
        function length_ms(b) { return b < 50 ? 0.02 : 0.5 }
        NR == 1 { next }
        $1 != now {
            now = $1
            step = int((now - 1) / 20e6)
            bin = step < 50 ? step : 50 + int((step - 50) / 25)
            if (bin > last) last = bin
            n_steps[bin]++
        }
        $2 == "flow" && $4 == "received" { got[bin, $3] += $5 }
        $2 == "port" && $4 == "pauses" { pauses[bin] += $5 }
        $2 == "port" && $4 == "dropped_packets" { drops[bin] += $5 }
        $2 == "port" && $3 == 1 && $4 == "queue" {
            sum[bin] += $5
            n_seen[bin]++
            if (n_seen[bin] == 1 || $5 < least[bin]) least[bin] = $5
            if ($5 > most[bin]) most[bin] = $5
        }
        END {
            for (b = 0; b <= last; b++) {
                all = 0
                senders = ""
                scale = 8e-6 / length_ms(b)
                for (f = 0; f < 15; f++) {
                    all += got[b, f]
                    senders = senders OFS sprintf("%.4g", got[b, f] * scale)
                }
                if (n_seen[b] < n_steps[b]) least[b] = 0
                print middle(b), sprintf("%.5g", n_steps[b] ? sum[b] / n_steps[b] / 1e3 : 0),
                    least[b] / 1e3, most[b] / 1e3, sprintf("%.4g", all * scale),
                    sprintf("%.4g", got[b, 15] * scale), pauses[b] / length_ms(b),
                    drops[b] / length_ms(b) senders
            }
        }' "$1"
}
measure() { # variant, its folder: a row of measures.csv
    awk -F, -v OFS=, -v variant="$1" '
        FILENAME ~ /summary/ { value[$1] = $2; next }
        FILENAME ~ /flows/ {
            if (FNR > 1 && $1 < 15 && $7 > end) end = $7
            next
        }
        $2 == "flow" && $4 == "in_flight" && $3 < 15 && $5 > in_flight { in_flight = $5 }
        $2 == "port" && $4 == "pauses" { pauses += $5 }
        $2 == "port" && $4 == "pauses" && $1 > 1e9 { late_pauses += $5 }
        $1 <= 20e9 || $1 > 40e9 || FNR == 1 { next }
        $1 != now { now = $1; n++ }
        $2 == "port" && $3 == 1 && $4 == "queue" {
            sum += $5
            if ($5 > most) most = $5
        }
        $2 == "flow" && $4 == "received" && $3 == 15 { victim += $5 }
        $2 == "flow" && $4 == "received" && $3 < 15 { got[$3] += $5; all += $5 }
        END {
            fair = 100e9 * 1024 / 1106 / 15 * 20e-3 / 8
            low = 1e9
            for (f = 0; f < 15; f++) {
                share = got[f] / fair
                if (share < low) low = share
                if (share > high) high = share
            }
            drops = value["ports_dropped_queue"] + value["ports_dropped_headroom"]
            printf "%s,%.1f,%.1f,%.1f,%.3f,%.3f,%.2f,%d,%d,%d,%d,%d,%d,%.1f,%.1f,%d\n", variant,
                sum / n / 1e3, most / 1e3, value["max_queue"] / 1e3, low, high, all * 8 / 20e6,
                pauses, late_pauses, drops, value["retransmitted_packets"], value["timeouts"],
                in_flight, end / 1e9, victim * 8 / 20e6, value["flows_finished"]
        }' "$2/summary.csv" "$2/flows.csv" "$2/series.csv"
}

{
    printf 'variant,late_queue_kb,late_most_queue_kb,most_queue_kb,late_least_share,'
    printf 'late_most_share,late_goodput_gbps,pauses,pauses_after_1ms,drops,retransmitted,timeouts,'
    printf 'most_in_flight_bytes,incast_ms,late_victim_gbps,finished\n'
} >"$folder/measures.tmp"
sed -n 's/^\[variant:\(.*\)\]$/\1/p' "$scenario" | while read -r variant; do
    name=$(echo "$variant" | tr 'A-Z ' 'a-z-')
    mapfile -t changes < <(settings "$variant")
    "$weft" run "$scenario" --quiet --out "$folder/$name" --set run.series_step=20us \
        --set run.series=flow,port "${changes[@]}"
    bins "$folder/$name/series.csv" >"$folder/$name/bins.csv"
    measure "$variant" "$folder/$name" >>"$folder/measures.tmp"
done
mv "$folder/measures.tmp" "$folder/measures.csv"
[ $draw = yes ] || exit 0
for format in png svg; do
    gnuplot -c plots/incast-15.gp "$folder" plots $format
done
echo "$folder/incast-15.png, .svg, measures.csv"
