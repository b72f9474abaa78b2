#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# workloads/plane-failure.ini: what the scenario's comment derives of a plane that dies, and returns or
# does not, holds for MetaRoCE, RoCEv2 and RoCEv2 on a bonded NIC.
. "$(dirname "$0")/../tap.bash"

holds() { # variant, condition of awk over the names of the columns
    sed 's/^"\(.*\), \(.*\)"/\1 \2/' "$scratch/planes/measures.csv" |
        awk -F, -v wanted="$1" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        function v(name) {
            if (!(name in column)) { print "no column " name; bad = 1 }
            return $column[name] + 0
        }
        function none(name) { return $column[name] == "" }
        function near(name, value, part) {
            return v(name) > value * (1 - part) && v(name) < value * (1 + part)
        }
        $1 == wanted { seen = 1; print; if (!('"$2"')) bad = 1 }
        END { exit bad || !seen }'
}

ok "all variants are played" plots/planes-lost.sh --no-plot "$scratch/planes"
for planes in 4 8; do
    share=$(awk -v p=$planes 'BEGIN { print 100 * (p - 1) / p }')
    for transport in MetaRoCE RoCEv2 bonded; do
        ok "$transport, $planes planes: (P - 1) / P while it is away, all of it afterwards" \
            holds "$transport $planes planes" "v(\"finished\") == 8 && v(\"failed\") == 0 &&
                near(\"reached_percent\", $share, 0.01) && near(\"return_reached_percent\", 100, 0.01)"
    done
    ok "MetaRoCE, $planes planes: a timeout to notice, back with the switches, 3 % of the least time" \
        holds "MetaRoCE $planes planes" "v(\"detection_us\") == 50 && v(\"recovery_us\") <= 100 &&
            near(\"return_recovery_us\", 1050, 0.1) && near(\"completion_ms\", 20.64 + 6 / $planes, 0.03)"
    ok "RoCEv2, $planes planes: by its timeouts at 4.2 and 8.4 ms" holds "RoCEv2 $planes planes" \
        'near("detection_us", 4200, 0.01) && near("return_recovery_us", 3390, 0.02) &&
         near("completion_ms", 28.8, 0.01)'
    ok "bonded, $planes planes: by its delay" holds "bonded $planes planes" \
        'near("detection_us", 1000, 0.02) && near("return_recovery_us", 1000, 0.05) &&
         near("completion_ms", 23.9, 0.01)'
done
ok "MetaRoCE, for good: no application action, no flow lost" holds "MetaRoCE for good" \
    'v("finished") == 8 && near("reached_percent", 75, 0.01) && near("completion_ms", 26.2, 0.03)'
ok "RoCEv2, for good: every flow fails" holds "RoCEv2 for good" \
    'v("failed") == 8 && none("recovery_us")'
ok "bonded, for good: two queue pairs share a plane" holds "bonded for good" \
    'v("finished") == 8 && near("completion_ms", 36.8, 0.01)'
echo "1..$number"
exit $failed
