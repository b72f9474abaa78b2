#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The 15:1 incast of workloads/incast-15.ini: DCQCN, PFC alone, a window and IRN each do what is
# published of them, or what arithmetic says (the scenario's comment).
. "$(dirname "$0")/../tap.bash"

holds() { # variant, condition of awk over the names of the columns
    awk -F, -v wanted="$1" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        function v(name) {
            if (!(name in column)) { print "no column " name; bad = 1 }
            return $column[name] + 0
        }
        $1 == wanted { seen = 1; print; if (!('"$2"')) bad = 1 }
        END { exit bad || !seen }' "$scratch/incast/measures.csv"
}
same_but() { # numbers, hosts, sizes and starts are the same in all
    for name in dcqcn pfc-alone window irn; do
        cut -d, -f1-3,5,6 "$scratch/incast/$name/flows.csv" | cmp - <(
            cut -d, -f1-3,5,6 "$scratch/incast/dcqcn/flows.csv") || return 1
    done
}

ok "all four are played" plots/incast-15.sh --no-plot "$scratch/incast"
ok "the same flows in all" same_but
for variant in DCQCN "PFC alone" window IRN; do
    ok "$variant: every flow finishes" holds "$variant" 'v("finished") == 16'
done
ok "DCQCN: the queue is between Kmin and Kmax, near the balance of a cycle (90.6 KB)" holds DCQCN \
    'v("late_queue_kb") > 0.75 * 90.6 && v("late_queue_kb") < 1.25 * 90.6 &&
     v("late_most_queue_kb") < 200'
ok "DCQCN: rates are within 20 % of the fair share, the link is full" holds DCQCN \
    'v("late_least_share") > 0.8 && v("late_most_share") < 1.2 && v("late_goodput_gbps") > 92'
ok "DCQCN: pauses at the start, none later, no drops; the victim has its NIC" holds DCQCN \
    'v("pauses") > 0 && v("pauses_after_1ms") == 0 && v("drops") == 0 && v("late_victim_gbps") > 80'
ok "PFC alone: the queue is between 15 Xoff and 15 (Xoff + headroom)" holds "PFC alone" \
    'v("late_queue_kb") > 568.3 && v("most_queue_kb") < 1106.6'
ok "PFC alone: pauses without end, no drops; the victim has a share of the incast" \
    holds "PFC alone" 'v("pauses_after_1ms") > 50 * v("incast_ms") && v("drops") == 0 &&
     v("retransmitted") == 0 && v("late_victim_gbps") < 7'
ok "window: a standing queue of 15 W - BDP (961 KB), no drops, no pauses" holds window \
    'v("most_queue_kb") > 951 && v("most_queue_kb") < 971 && v("late_queue_kb") > 942 &&
     v("drops") == 0 && v("pauses") == 0 && v("late_least_share") > 0.99'
ok "IRN: drops, no pauses, at most a BDP in flight each, the buffer full at times" holds IRN \
    'v("drops") > 0 && v("pauses") == 0 && v("most_in_flight_bytes") <= 64000 &&
     v("most_queue_kb") <= 135 && v("most_queue_kb") > 130 && v("timeouts") > 0'
ok "IRN: the incast takes at most 20 % longer than a full link (51.8 ms)" holds IRN \
    'v("incast_ms") < 1.20 * 51.84'
echo "1..$number"
exit $failed
