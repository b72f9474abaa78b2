#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weft plot and weft report: every figure is drawn from small runs made here, says what it shows with
# its units, and its table holds what the results say; the page is whole, self-contained and complete.
. "$(dirname "$0")/../tap.bash"

cat >"$scratch/incast.ini" <<'END2'
[scenario]
title = A <tag>, an & and a "quote"
[run]
series_step = 2us
series = flow,port
[topology]
kind = star
hosts = 8
link_rate = 100Gbps
[workload]
kind = incast
senders = 5
bytes = 400kB
[transport]
name = rocev2
cc = dcqcn
window = 0B
ack_every = 2
[queue]
kind = red
kmin = 5KB
kmax = 50KB
[pfc]
enable = on
END2
cat >"$scratch/planes.ini" <<'END2'
[scenario]
title = Plane 1 of 4
[run]
series_step = 20us
series = flow,plane
[topology]
kind = star
hosts = 8
planes = 4
link_rate = 100Gbps
[workload]
kind = permutation
bytes = 20MB
[transport]
name = metaroce
[fault:gone]
object = plane:1
at = 200us
until = 300us
END2
cat >"$scratch/loss.ini" <<'END2'
[scenario]
title = small
[topology]
kind = star
hosts = 4
[workload]
kind = alltoall
bytes = 256KiB
[compare]
title = A small comparison
vary = loss.rate_end_to_end
values = 0;0.01;0.1
seeds = 3
[case:all-to-all]
workload.order = linear
[case:strided]
workload.order = strided
workload.stride = 2
[variant:MetaRoCE]
transport.name = metaroce
[variant:RoCEv2 selective]
transport.name = rocev2
transport.recovery = selective_repeat
[curve:1-p]
form = selective_repeat
END2
cat >"$scratch/sweep.ini" <<'END2'
[scenario]
title = A small sweep
[run]
flows = on
[topology]
kind = star
hosts = 4
link_rate = 100Gbps
[workload]
kind = permutation
bytes = 1MB
[variant:MetaRoCE]
transport.name = metaroce
[variant:RoCEv2]
transport.name = rocev2
transport.queue_pairs = 4
[grid]
topology.planes = 1;2;4
loss.rate_per_link = 0;0.01
[sweep]
seeds = 1-3
END2

one_line() { # pattern: stderr is one line, and has it
    [ "$(wc -l <"$scratch/err")" = 1 ] && grep -q -- "$1" "$scratch/err" || { cat "$scratch/err"; return 1; }
}
is_png() { # file: signature, and a picture of a sensible size
    [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || return 1
    set -- $(od -An -tu1 -j16 -N8 "$1")
    [ $(($3 * 256 + $4)) -ge 1000 ] && [ $(($7 * 256 + $8)) -ge 700 ]
}
drawn() { # folder, figure, texts that the drawing has to have
    local stem=$scratch/$1/$2
    is_png "$stem.png" || { echo "no picture $stem.png"; return 1; }
    xmllint --noout "$stem.svg" || return 1
    [ "$(grep -c '<path' "$stem.svg")" -gt 5 ] || { echo "nothing drawn"; return 1; }
    # a tspan a piece: text as a reader sees it
    sed -E 's/<\/?[a-z][^>]*>//g' "$stem.svg" >"$scratch/texts"
    for text in "${@:3}"; do
        grep -qF -- "$text" "$scratch/texts" || { echo "no text '$text' in $stem.svg"; return 1; }
    done
}
table() { # folder, file, awk program: over a CSV file with v(name) for the present row
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        function v(name) {
            if (!(name in column)) { print "no column " name; exit 1 }
            return $column[name]
        }
        '"$3" "$scratch/$1/$2"
}

# --- played ----------------------------------------------------------------------------------------
ok "a run, incast" exits 0 "$WEFT" run "$scratch/incast.ini" -q --out "$scratch/incast"
ok "a run through a failure" exits 0 "$WEFT" run "$scratch/planes.ini" -q --out "$scratch/planes"
ok "a comparison" exits 0 "$WEFT" compare "$scratch/loss.ini" -q --out "$scratch/loss"
ok "a sweep" exits 0 "$WEFT" sweep "$scratch/sweep.ini" -q --out "$scratch/sweep"
rm "$scratch"/loss/throughput-loss.* "$scratch/loss/closed_form.csv"
for folder in incast planes loss sweep; do
    ok "$folder is drawn" exits 0 "$WEFT" plot "$scratch/$folder"
    cp "$scratch/out" "$scratch/$folder.said"
done

# --- drawn -----------------------------------------------------------------------------------------
ok "throughput against loss, of a comparison" drawn loss throughput-loss 'A small comparison' \
    'MetaRoCE' 'RoCEv2 selective' 'strided' 'throughput kept [%]' 'packet loss [%]' '95 %' '1-p'
ok "throughput against loss, of a sweep" drawn sweep throughput-loss 'A small sweep' \
    'MetaRoCE; planes = 2' 'packet loss on each link [%]'
ok "any sweep over its first axis" drawn sweep sweep 'against topology.planes' 'throughput [Gb/s]' \
    'completion of 99 % [us]' 'MetaRoCE; rate_per_link = 0.01'
ok "any comparison" drawn loss sweep 'against loss.rate_end_to_end' 'bus bandwidth [Gb/s]' \
    'strided; RoCEv2 selective'
ok "completion times" drawn sweep completion-cdf 'share of messages [%]' 'completion time of a message'
ok "fairness" drawn incast fairness 'A &lt;tag>, an &amp; and a "quote"' 'host 3 to 0' 'goodput of each flow [Gb/s]' "Jain's index" \
    'time [us]'
ok "planes through a failure" drawn planes plane-failure 'Plane 1 of 4' 'plane:1 down' \
    'end of plane:1 down' 'plane 3' 'each plane [' 'lost [packets]' 'time ['
ok "throughput against planes" drawn sweep plane-scaling 'throughput [Gb/s]' 'planes' 'ideal' \
    'least squares' 'RoCEv2; rate_per_link = 0.01'
ok "rates and queues, paced" drawn incast rates-queues 'rate at which a flow is paced [Gb/s]' \
    'longest queues [KB]' 'flow 4: host 5 to 0' 'port 1: node 8 to 0'
ok "rates and queues, not paced" drawn planes rates-queues 'payload sent by a flow [Gb/s]' 'plane 1'

# --- true ------------------------------------------------------------------------------------------
shares() { # of the sweep: ratio of means over seeds, by hand
    awk -F, 'FNR == 1 { delete column; for (i = 1; i <= NF; i++) column[$i] = i; next }
        FILENAME ~ /points/ {
            key = $column["variant"] "; planes = " $column["topology.planes"]
            sum[key, $column["loss.rate_per_link"] + 0] += $column["throughput_bps"]
            next
        }
        {
            n++
            want = sum[$2, $3 + 0] / sum[$2, 0]
            if (!(want > 0) || $4 / want > 1.00001 || $4 / want < 0.99999) { print $0 " is not " want; bad = 1 }
            if ($3 > 0 && !($5 > 0)) { print "no interval: " $0; bad = 1 }
        }
        END { exit bad || n != 12 }' "$scratch/sweep/points.csv" "$scratch/sweep/throughput-loss.csv"
}
fits() { # least squares by the normal equations
    awk -F, 'FNR == 1 { delete column; for (i = 1; i <= NF; i++) column[$i] = i; next }
        FILENAME ~ /points/ {
            key = $column["variant"] "; rate_per_link = " $column["loss.rate_per_link"]
            x = $column["topology.planes"]; y = $column["throughput_bps"]
            n[key]++; sx[key] += x; sy[key] += y; sxx[key] += x * x; sxy[key] += x * y
            next
        }
        {
            k = $2
            want = (n[k] * sxy[k] - sx[k] * sy[k]) / (n[k] * sxx[k] - sx[k] * sx[k])
            if ($3 != 9 || ($5 - want) ^ 2 > (1e-6 * want) ^ 2 || !($6 > 0) || !($7 <= 1)) {
                print $0 " is not " want; bad = 1
            }
            rows++
        }
        END { exit bad || rows != 4 }' "$scratch/sweep/points.csv" "$scratch/sweep/fit.csv"
}
ideal() {
    table sweep plane-scaling.csv 'v("planes") == 1 { first[v("variant")] = v("throughput_gbps") }
        { d = v("ideal_gbps") - first[v("variant")] * v("planes"); if (d * d > 1e-4) { print; bad = 1 } }
        END { exit bad }'
}
received() { # every point of every flow, from the series: bytes over the steps in which it was there
    local steps
    steps=$(sed -n '/fairness/,/rates/s/.*mean of \([0-9]*\) steps of 2us.*/\1/p' "$scratch/incast.said")
    awk -F, -v k="${steps:-1}" 'FILENAME ~ /series/ {
            if ($2 == "flow" && $4 == "received") {
                bin = int((int(($1 + 1999999) / 2000000) - 1) / k)
                bytes[bin, $3] += $5; n[bin, $3]++
                end = $1
            }
            next
        }
        FNR > 1 {
            bin = FNR - 2
            for (f = 0; f < 5; f++) {
                ps = n[bin, f] * 2000000
                if (ps > end - bin * k * 2000000) ps = end - bin * k * 2000000
                want = n[bin, f] ? bytes[bin, f] * 8000 / ps : ""
                if (want == "" ? $(6 + f) != "" : ($(6 + f) - want) ^ 2 > 1e-12 * want ^ 2 + 1e-12) {
                    print "bin " bin ", flow " f ": " $(6 + f) " is not " want; bad = 1
                }
                points++
            }
            if ($2 != "" && ($2 > 1 || $2 < 0.19 || $3 > 1 || $4 < 1)) { print; bad = 1 }
            shared += $2 != ""
        }
        END { exit bad || points < 300 || shared < 30 }' \
        "$scratch/incast/series.csv" "$scratch/incast/fairness.csv"
}
lost_plane() { # nothing arrives from a plane that is down, and it returns in the other figures
    table planes plane-failure.csv 'v("plane") == 1 && v("time_ms") > 0.22 && v("time_ms") < 0.3 {
            n++; if (v("goodput_gbps") > 0) { print; bad = 1 } }
        v("plane") == 1 && v("time_ms") < 0.19 && v("time_ms") > 0.05 && v("goodput_gbps") < 600 { print; bad = 1 }
        v("plane") == "all" { all[v("time_ms")] = v("goodput_gbps") }
        v("plane") != "all" { sum[v("time_ms")] += v("goodput_gbps") }
        END { for (t in all) if ((all[t] - sum[t]) ^ 2 > 1e-3) { print t; bad = 1 } exit bad || n < 3 }'
}
marked() {
    printf 'variant,time_ms,fault\n,0.2,plane:1 down\n,0.3,end of plane:1 down\n' |
        diff - "$scratch/planes/plane-failure-faults.csv"
}
whole_cdf() { # by curve: rises, ends at the share of flows that finished
    table sweep completion-cdf.csv 'v("share") < last[v("variant")] { print; bad = 1 }
        { last[v("variant")] = v("share") }
        END { for (k in last) { n++; if (last[k] != 1) { print k, last[k]; bad = 1 } } exit bad || n != 12 }'
}
unfinished_cdf() { # half of the flows have no end: the curve stops below
    mkdir -p "$scratch/half" && cp "$scratch"/incast/{summary.csv,scenario.ini} "$scratch/half" &&
        awk -F, -v OFS=, 'NR == 2 || NR == 4 { $7 = "" } { print }' "$scratch/incast/flows.csv" \
            >"$scratch/half/flows.csv" &&
        "$WEFT" plot "$scratch/half" --figure completion-cdf --format svg >"$scratch/half.said" &&
        grep -q '3 of 5 flows finished' "$scratch/half.said" &&
        tail -1 "$scratch/half/completion-cdf.csv" | grep -q ',0\.6$'
}
ok "shares of a sweep are ratios by seed, with intervals" shares
means() { # every mean and interval of the summary, in the units of the panels
    awk -F, 'FNR == 1 { delete column; for (i = 1; i <= NF; i++) column[$i] = i; next }
        FILENAME ~ /summary/ {
            key = $column["variant"] "; rate_per_link = " $column["loss.rate_per_link"] \
                SUBSEP $column["topology.planes"]
            mean[key, "throughput [Gb/s]"] = $column["throughput_bps"] * 1e-9
            ci95[key, "throughput [Gb/s]"] = $column["throughput_bps_ci95"] * 1e-9
            mean[key, "completion of 99 % [us]"] = $column["completion_p99_ps"] * 1e-6
            ci95[key, "completion of 99 % [us]"] = $column["completion_p99_ps_ci95"] * 1e-6
            next
        }
        ($2, $4, $1) in mean {
            n++
            if (($5 - mean[$2, $4, $1]) ^ 2 > 1e-12 * $5 ^ 2 || ($6 - ci95[$2, $4, $1]) ^ 2 > 1e-12 * $6 ^ 2) {
                print; bad = 1
            }
        }
        END { exit bad || n != 24 }' "$scratch/sweep/summary.csv" "$scratch/sweep/sweep.csv"
}
ok "means of a sweep are those of its summary" means
ok "the line is that of least squares" fits
ok "(and printed with interval and R^2)" grep -qE \
    'MetaRoCE; rate_per_link = 0: [0-9.]+ Gb/s a plane ± [0-9.]+ \(95 %\), R\^2 [01]\.[0-9]+' "$scratch/sweep.said"
ok "the ideal line is planes times one plane" ideal
ok "goodput of flows adds up, Jain's index is in its range" received
ok "a plane that is down delivers nothing; planes add up" lost_plane
ok "faults are marked at their times" marked
ok "distributions end at 1" whole_cdf
ok "flows that did not finish count among all" unfinished_cdf
ok "a table is drawn without what it was made from" bash -c "
    mkdir -p '$scratch/kept' && cp '$scratch/planes/'{summary.csv,plane-failure.csv} '$scratch/kept' &&
    '$WEFT' plot '$scratch/kept' --figure plane-failure --format svg && [ -s '$scratch/kept/plane-failure.svg' ]"
again() {
    cp "$scratch/incast/fairness.svg" "$scratch/incast/fairness.csv" "$scratch"
    "$WEFT" plot "$scratch/incast/" --figure fairness --format svg &&
        cmp "$scratch/fairness.svg" "$scratch/incast/fairness.svg" &&
        cmp "$scratch/fairness.csv" "$scratch/incast/fairness.csv"
}
ok "the same again" again
ok "a set of runs: a curve each" bash -c "
    mkdir -p '$scratch/both' && cp -r '$scratch/incast' '$scratch/planes' '$scratch/both' &&
    '$WEFT' plot '$scratch/both' --figure completion-cdf --format svg &&
    cut -d, -f1 '$scratch/both/completion-cdf.csv' | sort -u | paste -sd, | grep -qx 'incast,planes,variant'"

quoted() { # a folder whose name the shell would trip over
    cp -r "$scratch/planes" "$scratch/it's a 'name" &&
        "$WEFT" plot "$scratch/it's a 'name" --figure plane-failure --format svg &&
        cmp "$scratch/planes/plane-failure.svg" "$scratch/it's a 'name/plane-failure.svg"
}
ok "a folder with quotes and spaces" quoted

# --- refused ---------------------------------------------------------------------------------------
mkdir "$scratch/empty" "$scratch/bin"
for program in sh bash env; do ln -s "$(command -v $program)" "$scratch/bin"; done
ok "no folder: exit 2" exits 2 "$WEFT" plot "$scratch/none"
ok "(one line)" one_line 'none: there is no such folder'
ok "an empty folder: exit 2" exits 2 "$WEFT" plot "$scratch/empty"
ok "(one line)" one_line 'empty: no results: the summary.csv of a run, a comparison or a sweep'
ok "a misspelt figure: exit 2" exits 2 "$WEFT" plot "$scratch/incast" --figure fairnes
ok "(the nearest)" one_line "there is no figure 'fairnes'; did you mean 'fairness'?"
ok "a figure without data: exit 2" exits 2 "$WEFT" plot "$scratch/incast" --figure plane-scaling
ok "(says what it needs)" one_line 'this run has no data for plane-scaling: it needs a comparison or a sweep'
ok "a wrong format: exit 2" exits 2 "$WEFT" plot "$scratch/incast" --format pdf
ok "(one line)" one_line -- '--format pdf: png, svg or both'
ok "no gnuplot: exit 2" exits 2 env PATH="$scratch/bin" "$WEFT" plot "$scratch/incast"
ok "(one line)" one_line 'gnuplot is not installed'
sed '3s/,.*/,x/' "$scratch/incast/series.csv" >"$scratch/half/series.csv"
ok "a broken series: exit 2" exits 2 "$WEFT" plot "$scratch/half"
ok "(names the line)" one_line 'series.csv:3: not a row of a series'
ok "nothing to draw: exit 2" bash -c "
    mkdir '$scratch/bare' && cp '$scratch/incast/summary.csv' '$scratch/bare' &&
    '$WEFT' plot '$scratch/bare' 2>'$scratch/err'; [ \$? = 2 ]"
ok "(one line)" one_line 'bare: this run has nothing to draw'
ok "a report of nothing: exit 2" exits 2 "$WEFT" report "$scratch/empty"

# --- the page --------------------------------------------------------------------------------------
for folder in incast planes loss sweep both; do
    ok "report of $folder" exits 0 "$WEFT" report "$scratch/$folder"
done
alone() { # nothing is loaded: no address but the names of SVG, no scripts, no files
    ! sed 's|xmlns[:a-z]*="http://www.w3.org/[0-9a-z/]*"||g' "$1" |
        grep -nEi '(src|data|action|poster|srcset)=|<(script|link|iframe|object|embed|base|img|image)\b|https?://|@import|url\((["'\'']?)[^#)]|href=["'\''][^#]'
}
nested() { # every element is closed in its turn
    awk -v RS='<' 'NR > 1 {
            tag = $0; sub(/>.*/, "", tag)
            if (tag ~ /^!/) next
            name = tag; sub(/[ \n\/].*/, "", name)
            if (tag ~ /^\//) {
                name = substr(tag, 2)
                if (stack[depth] != name) { print "</" name "> closes " stack[depth]; exit bad = 1 }
                depth--
            } else if (tag !~ /\/$/ && name != "meta" && name != "br") stack[++depth] = name
        }
        END { if (depth != 0 && !bad) { print depth " are open, " stack[depth]; bad = 1 } exit bad }' "$1"
}
unique() {
    [ -z "$(grep -oE "[^-a-z]id=[\"'][^\"']*" "$1" | tr "'" '"' | sort | uniq -d)" ]
}
described() { # each drawing has a title and a text of its own
    local n
    n=$(grep -c '<svg role="img" aria-labelledby=' "$1")
    [ "$n" = "$2" ] && [ "$(grep -c '<title id=' "$1")" = "$n" ] && [ "$(grep -c '<desc id=' "$1")" = "$n" ] &&
        ! grep -q 'Produced by GNUPLOT' "$1"
}
for folder in incast planes loss sweep both; do
    page=$scratch/$folder/report.html
    ok "$folder: nothing is loaded" alone "$page"
    ok "$folder: elements are nested" nested "$page"
    ok "$folder: ids are unique" unique "$page"
    ok "$folder: UTF-8" iconv -f utf-8 -t utf-8 -o /dev/null "$page"
done
ok "a text with every drawing" described "$scratch/incast/report.html" 3
ok "(and in the sweep's)" described "$scratch/sweep/report.html" 4
complete() { # what differs from a scenario of defaults is on the page, and nothing that does not
    cat >"$scratch/default.ini" <<'END2'
[topology]
kind = star
[workload]
kind = incast
[transport]
name = rocev2
END2
    "$WEFT" run "$scratch/default.ini" -q --out "$scratch/default" || return 1
    for file in default incast; do
        awk '/^\[/ { group = substr($0, 2, length($0) - 2) } / = / && group != "scenario" { print group "." $0 }' \
            "$scratch/$file/scenario.ini" | sort >"$scratch/$file.keys"
    done
    comm -13 "$scratch/default.keys" "$scratch/incast.keys" | sed 's/ = /<\/code><\/td><td class="v">/' \
        >"$scratch/wanted"
    [ "$(wc -l <"$scratch/wanted")" -ge 10 ] || return 1
    while read -r row; do
        grep -qF "<code>$row</td>" "$scratch/incast/report.html" || { echo "no $row"; return 1; }
    done <"$scratch/wanted"
    # topology.kind, workload.kind and transport.name are choices, which are shown as well
    [ "$(grep -c '<td class="k"><code>' "$scratch/incast/report.html")" = $(($(wc -l <"$scratch/wanted") + 3)) ]
}
holds() { # page, texts
    for text in "${@:2}"; do
        grep -qF -- "$text" "$scratch/$1/report.html" || { echo "no '$text'"; return 1; }
    done
}
ok "every parameter that differs, and no other" complete
ok "titles are escaped" holds incast 'A &lt;tag&gt;, an &amp; and a &quot;quote&quot;'
ok "commands of figures" holds incast "weft plot $scratch/incast --figure fairness" \
    "weft run $scratch/incast/scenario.ini"
ok "a comparison's variants" holds loss 'selective_repeat (RoCEv2 selective)' 'metaroce (MetaRoCE)' \
    "weft compare $scratch/loss/scenario.ini" 'MetaRoCE</td>'
ok "a sweep's axes" holds sweep '<td class="v">1' '4 (RoCEv2)' 'throughput [Gb/s]' 'played by'
warned() {
    sed 's/^flows_unfinished,0/flows_unfinished,7/' "$scratch/incast/summary.csv" >"$scratch/half/summary.csv"
    rm "$scratch/half/series.csv"
    "$WEFT" report "$scratch/half" --out "$scratch/half.html" &&
        grep -q '<li>7 flows did not finish by the end of the run' "$scratch/half.html" &&
        [ ! -e "$scratch/half/report.html" ]
}
ok "warnings; --out" warned
ok "nothing to beware of" holds incast 'Nothing: all is complete'
ok "the same again" bash -c "cp '$scratch/sweep/report.html' '$scratch/before' &&
    '$WEFT' report '$scratch/sweep' && cmp '$scratch/before' '$scratch/sweep/report.html'"
ok "no gnuplot: a page without figures that says so" bash -c "
    PATH='$scratch/bin' '$WEFT' report '$scratch/incast' --out '$scratch/plain.html' 2>/dev/null &&
    grep -q 'is not drawn: gnuplot is not installed' '$scratch/plain.html'"
# --- what each change does -------------------------------------------------------------------------
cat >"$scratch/changes.ini" <<'END2'
[topology]
kind = star
hosts = 6
[workload]
kind = alltoall
bytes = 64KiB
[transport]
name = metaroce
[loss]
rate_per_link = 1%
[sweep]
seeds = 1-3
[change]
transport.rto_min = 20us; 1ms
transport.header = 1000B
transport.rto_min & transport.header = 1ms & 1000B
END2
effects() { # each ratio again from points.csv: means over the same seeds
    "$WEFT" sweep "$scratch/changes.ini" --out "$scratch/changes" >/dev/null 2>&1 &&
        "$WEFT" plot "$scratch/changes" --figure effects --format png,svg >"$scratch/told" &&
        [ -s "$scratch/changes/effects.png" ] && [ -s "$scratch/changes/effects.svg" ] &&
        grep -q 'throughput_bps: transport.rto_min = 20us +' "$scratch/told" &&
        [ "$(cut -d, -f2-6 "$scratch/changes/effects.csv" | tr '\n' ';')" = \
            'place,end,pair,changed_key,changed_value;1,1,no,transport.rto_min,20us;1,2,no,transport.rto_min,1ms;2,1,no,transport.header,1kB;3,1,yes,transport.rto_min & transport.header,1ms & 1kB;' ] &&
        awk -F, -v points="$scratch/changes/points.csv" '
            BEGIN {
                pair = "transport.rto_min & transport.header"
                getline <points
                for (i = split($0, name); i; i--) column[name[i]] = i
                while ((getline <points) > 0)
                    sum[$column["changed_key"] "=" $column["changed_value"]] += $column["throughput_bps"]
            }
            function ratio(what) { return sum[what] / sum["="] }
            function off(a, b) { return a < b - 1e-6 || a > b + 1e-6 }
            NR > 1 { bad += off($10, ratio($5 "=" $6) - 1); n += $13 == 3; told[$5] = $12; beyond[$5] = $14; change[$5] = $10; wide[$5] = $15 }
            END {
                both = ratio("transport.rto_min=1ms") * ratio("transport.header=1kB") - 1
                exit bad || n != 4 || told["transport.header"] != "" ||
                    off(told[pair], both) || beyond["transport.header"] != "" || wide[pair] <= 0 ||
                    off(beyond[pair], (1 + change[pair]) / (1 + both) - 1)
            }' "$scratch/changes/effects.csv"
}
ok "effects: strongest first, pairs behind, ratios of means" effects
ok "effects: a sweep that changes nothing has none" bash -c "
    '$WEFT' plot '$scratch/sweep' --figure effects 2>&1 | grep -q 'a sweep with .change.'"
kept() { # as results/reference keeps sweeps
    mkdir "$scratch/no-points" && cp "$scratch/sweep/summary.csv" "$scratch/no-points" &&
        "$WEFT" plot "$scratch/no-points" --format png && [ -s "$scratch/no-points/sweep.png" ] &&
        "$WEFT" report "$scratch/no-points" && grep -q 'No resolved scenario is kept' "$scratch/no-points/report.html"
}
ok "a sweep of which summary.csv alone is kept" kept
echo "1..$number"
exit $failed
