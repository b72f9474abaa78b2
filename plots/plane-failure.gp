# SPDX-License-Identifier: GPL-2.0-or-later
# A run plane by plane: payload delivered over all planes, what hosts put into each plane, and what
# each plane lost. Dashed: when a fault comes or goes.
#
#   gnuplot -c plane-failure.gp FOLDER PLOTS FORMAT TITLE
#
# Reads FOLDER/plane-failure.csv (time_ms, delivered_gbps, "sent_gbps plane N" ..., "lost_packets plane
# N" ...) and FOLDER/plane-failure-faults.csv (time_ms, fault); writes FOLDER/plane-failure.FORMAT.
folder = ARG1
format = ARG3
table = folder."/plane-failure.csv"
faults = folder."/plane-failure-faults.csv"

set datafile separator ","
stats table every ::1 using 1 nooutput
n_planes = (STATS_columns - 2) / 2
end = STATS_max
stats table every ::1 using 2 nooutput
delivers = exists("STATS_max") && STATS_max > 0
lost_most = 0
do for [k = 1:n_planes] {
    stats table every ::1 using (column(2 + n_planes + k)) nooutput
    lost_most = STATS_max > lost_most ? STATS_max : lost_most
}
array head[n_planes]
do for [k = 1:n_planes] { stats table every ::0::0 using (head[k] = strcol(k + 2), 1) nooutput }
n_faults = 0
array when[100]
array what[100]
if (system("sed -n 2p '".faults."' 2>/dev/null") ne "") {
    stats faults every ::1 using (n_faults < 100 ? (n_faults = n_faults + 1, when[n_faults] = $1, \
        what[n_faults] = strcol(2), 1) : 1) nooutput
}
width = 860
height = 780 + (n_planes > 8 ? 40 : 0)
load ARG2."/style.gp"
set output folder."/plane-failure.".format

at(ms) = ms * time_scale(end)
marks(n) = n <= 12 # more would only blacken the figure

set multiplot
set label 1 ARG4 at screen 0.5, 0.967 center font ",15" textcolor rgb ink noenhanced
set label 2 "delivered: payload, all planes together; sent: on the wire, headers and acknowledgements \
included" at screen 0.5, 0.937 center font ",10" textcolor rgb "#555555"
set lmargin at screen 0.125
set tics font ",12"
set rmargin at screen 0.83
set xrange [0:at(end)]
set format x ""
do for [i = 1:(marks(n_faults) ? n_faults : 0)] {
    set arrow i from at(when[i]), graph 0 to at(when[i]), graph 1 nohead front lc rgb ink lw 0.9 dt (10, 6)
    set label 10 + i what[i] at at(when[i]), graph (i % 2 ? 1.03 : 1.1) center font ",10" \
        textcolor rgb ink noenhanced
}

# --- delivered ------------------------------------------------------------------------------------
set tmargin at screen 0.865
set bmargin at screen 0.66
set yrange [0:*]
set label 9 "delivered [Gb/s]" at screen 0.022, graph 0.5 center rotate textcolor rgb ink
unset key
if (delivers) {
    plot table every ::1 using (at($1)):2 with lines lc rgb ink lw 1.6 dt 1
} else {
    set label 3 "no series of flows" at graph 0.5, 0.5 center textcolor rgb "#555555"
    plot [0:at(end)] [0:1] NaN
    unset label 3
}
unset label 1
unset label 2
do for [i = 1:(marks(n_faults) ? n_faults : 0)] { unset label 10 + i }

# --- sent -----------------------------------------------------------------------------------------
top = 0.63
bottom = lost_most > 0 ? 0.29 : 0.09
set tmargin at screen top
set bmargin at screen bottom
set label 9 "sent into each plane [Gb/s]"
set key at screen 0.84, screen top left top Left reverse samplen 2.5 font ",11"
if (lost_most == 0) {
    set format x "%g"
    set xlabel time_name(end) offset 0, 0.4
}
plot for [k = 1:n_planes] table every ::1 using (at($1)):(column(k + 2)) with lines linetype k lw 1.5 \
         title whose(head[k])

# --- lost -----------------------------------------------------------------------------------------
if (lost_most > 0) {
    set tmargin at screen 0.26
    set bmargin at screen 0.09
    set format x "%g"
    set xlabel time_name(end) offset 0, 0.4
    set label 9 "lost [packets]"
    unset key
    plot for [k = 1:n_planes] table every ::1 using (at($1)):(column(k + 2 + n_planes)) with lines \
        linetype k lw 1.5
}
unset multiplot
