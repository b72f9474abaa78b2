# SPDX-License-Identifier: GPL-2.0-or-later
# Sending rates of the flows over time, and the depth of the longest queues below.
#
#   gnuplot -c rates-queues.gp FOLDER PLOTS FORMAT TITLE
#
# Reads FOLDER/rates-queues.csv (time_ms, "paced_gbps flow N ..." or "sent_gbps flow N ..." or, without
# a series of flows, "wire_gbps host N", then "queue_kb port N ..."); writes
# FOLDER/rates-queues.FORMAT.
folder = ARG1
format = ARG3
table = folder."/rates-queues.csv"

set datafile separator ","
stats table every ::1 using 1 nooutput
n_columns = STATS_columns
end = STATS_max
array head[n_columns]
do for [k = 1:n_columns] { stats table every ::0::0 using (head[k] = strcol(k), 1) nooutput }
n_flows = 0
n_queues = 0
do for [k = 2:n_columns] {
    if (head[k][1:8] eq "queue_kb") { n_queues = n_queues + 1 } else { n_flows = n_flows + 1 }
}
paced = head[2][1:10] eq "paced_gbps"
hosts = head[2][1:9] eq "wire_gbps"
width = 860
height = n_queues > 0 ? 780 : 500
load ARG2."/style.gp"
set output folder."/rates-queues.".format

few = n_flows <= 8
at(ms) = ms * time_scale(end)
right = few || n_queues > 0 ? 0.71 : 0.965

set multiplot
set label 1 ARG4 at screen 0.5, 1 - 26.0 / height center font title_font(ARG4, width) textcolor rgb ink noenhanced
set label 2 (few ? "" : sprintf("a line a %s, %d of them, from the first (dark) to the last (light)", \
    hosts ? "host" : "flow", n_flows)) at screen 0.5, 1 - 50.0 / height center font ",10.5" textcolor rgb "#555555"
set lmargin at screen 0.12
set tics font ",12"
set rmargin at screen right
set xrange [0:at(end)]
set yrange [0:*]

set tmargin at screen 1 - 68.0 / height
set bmargin at screen (n_queues > 0 ? 0.5 : 0.13)
set label 9 (paced ? "rate at which a flow is paced [Gb/s]" : hosts ? "sent by a host, on the wire [Gb/s]" : \
    "payload sent by a flow [Gb/s]") \
    at screen 0.022, graph 0.5 center rotate textcolor rgb ink
if (n_queues > 0) {
    set format x ""
} else {
    set xlabel time_name(end) offset 0, 0.4
}
set key at screen 0.72, screen 1 - 64.0 / height left top Left reverse samplen 2.5 font ",10.5"
if (few) {
    plot for [k = 1:n_flows] table every ::1 using (at($1)):(column(k + 1)) with lines linetype k lw 1.4 \
        title whose(head[k + 1]) noenhanced
} else {
    unset key
    plot for [k = 1:n_flows] table every ::1 using (at($1)):(column(k + 1)) with lines \
        lc palette frac ((k - 1.0) / (n_flows - 1)) lw 0.9 dt 1
}
unset label 1
unset label 2

if (n_queues > 0) {
    set tmargin at screen 0.465
    set bmargin at screen 0.09
    set format x "%g"
    set xlabel time_name(end) offset 0, 0.4
    set label 9 "longest queues [KB]"
    set key at screen 0.72, screen 0.47 left top Left reverse samplen 2.5 font ",10.5"
    plot for [k = 1:n_queues] table every ::1 using (at($1)):(column(k + 1 + n_flows)) with lines \
        linetype k lw 1.4 title whose(head[k + 1 + n_flows]) noenhanced
}
unset multiplot
