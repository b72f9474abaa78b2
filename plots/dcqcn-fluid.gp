# SPDX-License-Identifier: GPL-2.0-or-later
# DCQCN's fluid model behind a packet run: queue of the bottleneck and rates of the flows over time.
#
#   gnuplot -c dcqcn-fluid.gp FOLDER PLOTS FORMAT TITLE
#
# Reads FOLDER/packets.csv, FOLDER/fluid.csv and FOLDER/points.csv as `weft fluid` writes them; writes
# FOLDER/dcqcn-fluid.FORMAT. The first fifth of the run, when all start at line rate, may leave the
# panels at the top: their scale is that of the rest.
folder = ARG1
format = ARG3
packets = folder."/packets.csv"
fluid = folder."/fluid.csv"
points = folder."/points.csv"

set datafile separator ","
stats packets every ::1 using 1 nooutput
end = STATS_max
late(value) = $1 > 0.2 * end ? value : NaN
stats packets every ::1 using (late($2)) nooutput
queue_top = 1.1 * STATS_max / 1e3
stats packets every ::1 using (late($5)) nooutput
rate_top = 1.1 * STATS_max / 1e9
fluid_queue = NaN
cycle_queue = NaN
stats points every ::1 using (strcol(1) eq "fluid" ? (fluid_queue = $3 / 1e3) : \
    strcol(1) eq "cycle" ? (cycle_queue = $3 / 1e3) : 0) nooutput
width = 980
height = 700
load ARG2."/style.gp"
set output folder."/dcqcn-fluid.".format
set datafile columnheaders

ms(ps) = ps / 1e9
set lmargin at screen 0.09
set rmargin at screen 0.97
set xrange [0:ms(end)]
set multiplot
set label 1 ARG4 at screen 0.53, 0.965 center font title_font(ARG4, width) textcolor rgb ink

set tmargin at screen 0.88
set bmargin at screen 0.52
set yrange [0:queue_top]
set format x ""
set ylabel "queue of the bottleneck [KB]" offset 1, 0
set key at screen 0.53, 0.932 center top horizontal maxrows 1 font ",11" samplen 2
plot packets using (ms($1)):($2 / 1e3) with lines lc rgb "#56B4E9" lw 0.8 dt 1 title "packets", \
     fluid using (ms($1)):($2 / 1e3) with lines lc rgb "#D55E00" lw 2 dt 1 title "fluid model", \
     fluid_queue with lines lc rgb "#D55E00" lw 1.4 dt (2,3) title "its fixed point", \
     cycle_queue with lines lc rgb "#000000" lw 1.4 dt (8,4) title "balance of one cycle"

unset label 1
set key at screen 0.53, 0.497 center top horizontal maxrows 1 font ",11" samplen 2
set tmargin at screen 0.445
set bmargin at screen 0.09
set yrange [0:rate_top]
set format x "%g"
set xlabel "time [ms]" offset 0, 0.4
set ylabel "rate of a flow [Gb/s]" offset 1, 0
plot packets using (ms($1)):($4 / 1e9):($5 / 1e9) with filledcurves lc rgb "#cfe8f7" \
         title "packets: slowest to fastest flow", \
     packets using (ms($1)):($3 / 1e9) with lines lc rgb "#0072B2" lw 1 dt 1 title "packets: mean", \
     fluid using (ms($1)):($3 / 1e9) with lines lc rgb "#D55E00" lw 2 dt 1 title "fluid model"
unset multiplot
