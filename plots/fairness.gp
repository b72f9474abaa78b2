# SPDX-License-Identifier: GPL-2.0-or-later
# An incast over time: what each flow gets, the shares of the least and the most favoured, and Jain's
# index.
#
#   gnuplot -c fairness.gp FOLDER PLOTS FORMAT TITLE
#
# Reads FOLDER/fairness.csv (time_ms, jain, share_least, share_most, mean_gbps, a column a flow); writes
# FOLDER/fairness.FORMAT.
folder = ARG1
format = ARG3
table = folder."/fairness.csv"

set datafile separator ","
stats table every ::1 using 1 nooutput
n_flows = STATS_columns - 5
end = STATS_max
array head[n_flows]
do for [k = 1:n_flows] { stats table every ::0::0 using (head[k] = strcol(k + 5), 1) nooutput }
width = 860
height = 900
load ARG2."/style.gp"
set output folder."/fairness.".format

few = n_flows <= 8
at(ms) = ms * time_scale(end)

set multiplot
set label 1 ARG4 at screen 0.5, 0.972 center font title_font(ARG4, width) textcolor rgb ink noenhanced
set label 2 (few ? "" : sprintf("a line a flow, %d of them, from the first (dark) to the last (light)", \
    n_flows)) at screen 0.5, 0.943 center font ",10.5" textcolor rgb "#555555"
set lmargin at screen 0.12
set tics font ",12"
set rmargin at screen (few ? 0.735 : 0.965)
set xrange [0:at(end)]
set format x ""

set tmargin at screen 0.915
set bmargin at screen 0.53
set yrange [0:*]
set label 9 "goodput of each flow [Gb/s]" at screen 0.022, graph 0.5 center rotate textcolor rgb ink
set key at screen 0.745, screen 0.92 left top Left reverse samplen 2.5 font ",10.5"
if (few) {
    plot for [k = 1:n_flows] table every ::1 using (at($1)):(column(k + 5)) with lines linetype k \
             lw 1.3 title whose(head[k]) noenhanced, \
         table every ::1 using (at($1)):5 with lines lc rgb ink lw 1.4 dt (14, 8) title "mean"
} else {
    set key inside right top
    set offsets graph 0, graph 0, graph 0.1, graph 0
    plot for [k = 1:n_flows] table every ::1 using (at($1)):(column(k + 5)) with lines \
             lc palette frac ((k - 1.0) / (n_flows - 1)) lw 0.9 dt 1 notitle, \
         table every ::1 using (at($1)):5 with lines lc rgb "#D55E00" lw 1.8 dt (14, 8) \
             title "mean"
}
unset label 1
unset label 2

set tmargin at screen 0.495
set bmargin at screen 0.305
set yrange [0:*]
set label 9 "share of the mean"
set key at screen 0.745, screen 0.5 left top Left reverse samplen 2.5 font ",10.5"
if (!few) {
    set key inside right top horizontal
    set offsets graph 0, graph 0, graph 0.3, graph 0
}
plot table every ::1 using (at($1)):4 with lines linetype 1 lw 1.3 dt 1 title "most favoured flow", \
     table every ::1 using (at($1)):3 with lines linetype 3 lw 1.3 dt (6, 2) title "least favoured flow", \
     1 with lines lc rgb ink lw 0.8 dt (14, 8) notitle

unset offsets
set tmargin at screen 0.27
set bmargin at screen 0.08
set yrange [0:1.05]
set ytics 0.25
set format x "%g"
set xlabel time_name(end) offset 0, 0.4
set label 9 "Jain's index"
unset key
plot table every ::1 using (at($1)):2 with lines linetype 5 lw 1.5, \
     1 with lines lc rgb ink lw 0.8 dt (14, 8)
unset multiplot
