# SPDX-License-Identifier: GPL-2.0-or-later
# How the cost of a packet-hop grows with hosts, planes, flows and paths: results/bench/growth.csv
# of WEFT_BENCH=grow tests/bench.sh. Usage: gnuplot plots/bench.gp
format = "png"
width = 900
height = 640
load "plots/style.gp"
set output "results/bench/growth.png"
set multiplot layout 2,2 title "CPU of a packet-hop (512 hosts at 400 Gb/s unless said otherwise)"
set logscale x 2
set yrange [0:*]
set ylabel "ns"
set key left top
do for [what in "hosts planes flows paths"] {
    set xlabel what
    plot for [transport in "rocev2 metaroce"] "results/bench/growth.csv" skip 1 \
        using (strcol(1) eq what && strcol(3) eq transport ? $2 : NaN):4 \
        with linespoints title transport
}
unset multiplot
