#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every output switch leaves a file with rows, and series.csv changes nothing else: with it, without
# it and at another step all other files are the same bytes. Its sums are those of the summary.
. "$(dirname "$0")/../tap.bash"

cat >"$scratch/busy.ini" <<'END'
[topology]
kind = clos
hosts = 16
hosts_per_leaf = 4
planes = 2
[workload]
kind = incast
senders = 6
first = 2
bytes = 300kB
victim = on
[queue]
kind = red
[loss]
rate_per_link = 0.001
END
play() { # folder, settings...: an unfinished run is a result too
    "$WEFT" run "$scratch/busy.ini" --quiet --out "$scratch/$1" "${@:2}" 2>/dev/null
    case $? in 0 | 3) ;; *) return 1 ;; esac
}
unmeasured() { # the summary without what is measured on the series of a contest
    grep -vE '^group_incast_(base_rtt|allowance_|goodput_|jain_)' "$scratch/$1/summary.csv"
}
same() { # two folders: all but run.json, scenario.ini, series.csv and what is measured on it
    for file in flows.csv ports.csv; do
        cmp "$scratch/$1/$file" "$scratch/$2/$file" || return 1
    done
    [ -n "$(unmeasured "$1")" ] && diff <(unmeasured "$1") <(unmeasured "$2")
}
unmoved() { # settings: the same run at steps 0, 1 us, 7 us and 100 ms, which is beyond its end
    play off "$@" && [ ! -e "$scratch/off/series.csv" ] || return 1
    for step in 1us 7777ns 100ms; do
        play on "$@" --set run.series_step=$step && same off on || return 1
        [ "$(wc -l <"$scratch/on/series.csv")" -gt 1 ] || { echo "no rows at $step"; return 1; }
    done
}
value() { # metric of the summary
    awk -F, -v m="$1" '$1 == m { print $2 }' "$scratch/sums/summary.csv"
}
sum() { # object, metric of the series
    awk -F, -v o="$1" -v m="$2" '$2 == o && $4 == m { s += $5 } END { printf "%.0f", s }' \
        "$scratch/sums/series.csv"
}
agree() { # object, metric, metric of the summary
    [ "$(sum "$1" "$2")" = "$(value "$3")" ] ||
        { echo "$1 $2: $(sum "$1" "$2"), $3: $(value "$3")"; return 1; }
}
sums() { # settings
    play sums --set run.series_step=3us "$@" &&
        agree flow sent_packets data_packets_sent &&
        agree flow retransmitted_packets retransmitted_packets &&
        agree flow received delivered_bytes &&
        agree flow timeouts timeouts &&
        agree flow marked_packets marked_packets &&
        agree plane goodput delivered_bytes &&
        agree host goodput delivered_bytes &&
        agree host retransmitted_packets retransmitted_packets &&
        agree port sent wire_bytes &&
        agree port marked_packets ports_marked_packets &&
        agree plane marked_packets ports_marked_packets || return 1
    [ "$(sum port dropped_packets)" = $(($(value ports_dropped_loss) + $(value ports_dropped_queue))) ] ||
        return 1
    [ "$(sum plane sent)" = "$(sum host sent)" ] && [ "$(sum host sent)" -gt 0 ] || return 1
    [ "$(sum flow marked_packets)" -gt 0 ] && [ "$(sum port queue)" -gt 0 ] || return 1
    [ "$(sum flow window)" -gt 0 ] && [ "$(sum flow in_flight)" -gt 0 ]
}
shape() { # times rise, the header is right, states stay below their bounds
    head -1 "$scratch/sums/series.csv" | grep -qx 'time_ps,object,id,metric,value,unit' &&
        awk -F, 'NR > 1 && ($1 < before || $5 < 0 || $6 == "") { print; bad = 1 } NR > 1 { before = $1 }
            $4 == "queue" && $2 == "port" && $5 > 1048576 { print; bad = 1 }
            $4 == "sent" && $2 == "port" && $5 > 150000 + 4178 { print; bad = 1 }
            END { exit bad }' "$scratch/sums/series.csv"
}
only() { # objects: these and no other
    play only --set run.series_step=10us --set "run.series=$1" &&
        [ "$(awk -F, 'NR > 1 { print $2 }' "$scratch/only/series.csv" | sort -u | paste -sd,)" = "$2" ]
}
refused() {
    "$WEFT" run "$scratch/busy.ini" --quiet --out "$scratch/no" --set run.series=flow,flux 2>"$scratch/err"
    [ $? -eq 2 ] && grep -q 'run.* series = flow,flux: some of flow, port, plane, host' "$scratch/err"
}
switch() { # switch, file
    play switched && [ "$(wc -l <"$scratch/switched/$2")" -gt 1 ] || return 1
    play switched --set "run.$1=off" && [ ! -e "$scratch/switched/$2" ]
}
dead() { # nothing is left to happen: the series ends with the events, not with run.end
    play dead --set transport.name=example --set loss.rate_per_link=0.5 --set run.series_step=1us
    [ "$(tail -1 "$scratch/dead/series.csv" | cut -d, -f1)" -lt 100000000 ]
}

for transport in rocev2 metaroce example; do
    ok "nothing else moves, $transport" unmoved --set transport.name=$transport
done
ok "nothing else moves, selective repeat" unmoved --set transport.recovery=selective_repeat
ok "sums are those of the summary, rocev2" sums
ok "sums are those of the summary, metaroce" sums --set transport.name=metaroce
ok "rows in order of time, with units, below line rate and limit" shape
without() { # series_file = off: no file, and the same numbers
    play with --set run.series_step=2us && play without --set run.series_step=2us --set run.series_file=off &&
        [ ! -e "$scratch/without/series.csv" ] && grep -q '^group_incast_jain_mean,0' "$scratch/without/summary.csv" &&
        cmp "$scratch/with/summary.csv" "$scratch/without/summary.csv"
}
ok "measured without the file" without
ok "flow alone, and the contest of its flows" only flow flow,group
ok "plane and host alone" only 'host, plane' host,plane
ok "an object that does not exist is refused" refused
ok "a dead run stays dead" dead
ok "flows.csv has rows, or is not there" switch flows flows.csv
ok "ports.csv has rows, or is not there" switch ports ports.csv
echo "1..$number"
exit $failed
