#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Experiments with MTIA 300 and the GPU it is compared with: plays the sweep mtia-NAME of workloads/ into
# results/mtia-NAME, takes from its summary.csv what is asked for into table.csv, and draws that.
#
#   plots/mtia.sh [--draw] [FOLDER=results] NAME...     --draw: draws the tables that are there
#
#   busbw         all-reduce over sizes and ranks: 8 + 2, 10 + 2, both networks and scale-up alone; H100
#   small         4 to 64 KiB by who begins a transfer
#   chain         1,000 dependent small calls
#   overlap       products and all-reduces alone and together
#   step          one step serial, by chunks, fused
#   splits        splits of the NICs in a rack, a training and an inference mix; NICs switched off
#   splits-racks  splits over two racks
#   dlrm          communication of a DLRM iteration on 40 accelerators; one difference at a time
#   racks         all-gather and all-reduce over 16 to 256 ranks, flat and in two levels
#   loss          the DLRM iteration under loss, RoCEv2 and MetaRoCE
#   ratio         compute : communication, from DLRM to inference
#
# Columns are explained in results/README.md. Seconds to two minutes each.
set -eu
cd "$(dirname "$0")/.."
weft=${WEFT:-build/weft}
all=(busbw small chain overlap step splits splits-racks dlrm racks loss ratio)
play=yes formats='png svg' folder=results wanted=()
for word in "$@"; do
    case $word in
    --draw) play=no formats=png ;;
    FOLDER=*) folder=${word#FOLDER=} ;;
    *) wanted+=("$word") ;;
    esac
done
[ ${#wanted[@]} -gt 0 ] || wanted=("${all[@]}")

# What each program below has: columns by name, times in us, shares of the accelerators' time. A run that
# did not finish has no times.
common='
function at(name) { return name in column ? $(column[name]) : "" }
function us(name) { return at(name) == "" ? "" : sprintf("%.3f", at(name) / 1e6) }
function group_us(name, n) {
    n = at("group_" name "_calls")
    return us("group_" name "_time_ps") == "" ? "" : us("group_" name "_time_ps") / (n ? n : 1)
}
function bytes(text) { # 64KiB; a column of bytes would have nine digits only
    return text * (text ~ /KiB/ ? 1024 : text ~ /MiB/ ? 1048576 : text ~ /GiB/ ? 1073741824 : 1)
}
function busbw(name) { return at("group_" name "_busbw_bps") / 8e9 }
function share(class) {
    return sprintf("%.4f", at("accelerator_" class "_time_s") / at("accelerator_time_s"))
}
function step_us() { return at("unfinished") > 0 ? "" : us("longest_step_ps") }
function ranks(n) { n = at("workload.ranks"); sub(/.*-/, "", n); return n + 1 }
function over(a, b) { return a == "" || b == "" ? "" : sprintf("%.4f", a / b) }
BEGIN { FS = OFS = "," }
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }'

busbw='
{ v[++n] = at("variant"); r[n] = ranks(); s[n] = bytes(at("workload.begin"))
  t[n] = group_us("allreduce"); b[n] = busbw("allreduce")
  if (v[n] == "H100") gpu[r[n], s[n]] = t[n] }
END { print "variant", "ranks", "size_bytes", "time_us", "busbw_GBps", "h100_time_over_this"
    for (i = 1; i <= n; i++)
        print v[i], r[i], sprintf("%d", s[i]), t[i], sprintf("%.2f", b[i]), over(gpu[r[i], s[i]], t[i]) }'
small='
NR == 2 { print "collective", "ranks", "start", "size_bytes", "time_us" }
{ kind = at("workload.collective")
  print kind, ranks(), at("mtia300.start"), bytes(at("workload.begin")), group_us(kind) }'
chain='
NR == 2 { print "compile", "start", "time_us_of_one" }
{ print at("workload.compile"), at("mtia300.start"), group_us("allreduce") }'
overlap='
{ split(at("variant"), part, ": "); node = part[1]; what = part[2]
  product = group_us("gemm"); call = group_us("allreduce")
  if (what == "products alone") p[node] = product
  if (what == "all-reduces alone") c[node] = call
  if (what == "products while all-reduces run") pt[node] = product
  if (what == "all-reduces while products run") ct[node] = call }
END { print "node", "product_alone_us", "product_together_us", "allreduce_alone_us", "allreduce_together_us", \
        "product_speed_kept", "allreduce_speed_kept", "efficiency"
    for (k = split("MTIA H100", nodes, " "); k > 0; k--) order[3 - k] = nodes[3 - k]
    for (k = 1; k <= 2; k++) { node = order[k]; a = over(p[node], pt[node]); b = over(c[node], ct[node])
        print node, p[node], pt[node], c[node], ct[node], a, b, a < b ? a : b } }'
step='
NR == 2 { print "variant", "step_us", "compute_idle_share", "nic_idle_share", "collective_share", "host_share", "network_share" }
{ print at("variant"), step_us(), 1 - share("compute"), at("nic_idle_share_ratio"), share("collective"), \
    share("host"), share("network") }'
splits='
NR == 2 { print "mix", "split", "step_us", "over_8_and_2", "nic_mJ_of_one" }
{ mix = at("case") == "" ? "training over 2 racks" : at("case"); if (at("variant") == "8 + 2") whole[mix] = step_us()
  racks = mix ~ /racks/ ? 2 : 1
  print mix, at("variant"), step_us(), over(step_us(), whole[mix]), sprintf("%.3f", 1e3 * at("nic_energy_J") / racks / 16) }'
splits_racks=$splits
dlrm='
{ v[++n] = at("variant"); s[n] = step_us(); r[n] = group_us("allreduce"); g[n] = group_us("allgather")
  a[n] = group_us("alltoallv"); total[v[n]] = s[n] }
END { print "variant", "allreduce_us", "allgather_us", "alltoallv_us", "total_us", "h100_over_this", "share_of_the_ratio"
    for (i = 1; i <= n; i++) { node = substr(v[i], 1, 4)
        # what the swap alone gains or loses, as a share of the logarithm of H100 / MTIA
        part = node == "H100" ? total["H100"] / s[i] : s[i] / total["MTIA"]
        print v[i], r[i], g[i], a[i], s[i], over(total["H100"], s[i]), \
            v[i] == node ? "" : sprintf("%.3f", log(part) / log(total["H100"] / total["MTIA"])) } }'
racks='
NR == 2 { print "collective", "algorithm", "ranks", "racks", "time_us", "busbw_GBps" }
{ kind = at("workload.collective")
  print kind, at("workload.algorithm") == "auto" ? "two levels" : "flat ring", ranks(), at("topology.racks"), \
    group_us(kind), sprintf("%.2f", busbw(kind)) }'
loss='
NR == 2 { print "case", "transport", "finished", "step_us", "step_us_ci95", "over_no_loss", "recovery_share" }
{ v = at("variant"); if (at("case") == "no loss") whole[v] = step_us()
  ended = at("unfinished") == 0
  print at("case"), v, ended ? "yes" : "no", step_us(), ended ? us("longest_step_ps_ci95") : "", \
    over(step_us(), whole[v]), \
    ended ? share("recovery") : "" }'
ratio='
{ what = at("case"); if (!(what in seen)) { seen[what] = 1; order[++n] = what }
  if (at("variant") == "H100") { gpu[what] = step_us(); gc[what] = share("compute") }
  else { mtia[what] = step_us(); mc[what] = share("compute") } }
END { print "case", "mtia_us", "h100_us", "h100_over_mtia", "mtia_compute_share", "h100_compute_share"
    for (i = 1; i <= n; i++) { w = order[i]
        print w, mtia[w], gpu[w], over(gpu[w], mtia[w]), mc[w], gc[w] } }'

for name in "${wanted[@]}"; do
    [[ " ${all[*]} " == *" $name "* ]] || { echo "plots/mtia.sh: $name: one of ${all[*]}" >&2; exit 2; }
    into=$folder/mtia-$name
    if [ $play = yes ]; then
        program=${name//-/_}
        "$weft" sweep "mtia-$name" --out "$into" >/dev/null
        awk "$common${!program}" "$into/summary.csv" >"$into/table.csv"
    fi
    for format in $formats; do
        gnuplot -c plots/mtia.gp "$into" plots $format "$name"
    done
    echo "$into/table.csv, mtia-$name.png"
done
