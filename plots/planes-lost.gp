# SPDX-License-Identifier: GPL-2.0-or-later
# Goodput of all hosts over time in workloads/plane-failure.ini: a panel for 4 planes, for 8, and for
# a plane that does not return.
#
#   gnuplot -c planes-lost.gp FOLDER PLOTS FORMAT
#
# Reads FOLDER/VARIANT/goodput.csv (plots/planes-lost.sh); writes FOLDER/planes-lost.FORMAT.
folder = ARG1
format = ARG3
width = 960
height = 900
load ARG2."/style.gp"
set output folder."/planes-lost.".format

groups = "4-planes 8-planes for-good"
titles = '"4 planes of 100G, one away from 4 to 9 ms" "8 planes of 50G, one away from 4 to 9 ms" "4 planes, one away for good"'
shares = "0.75 0.875 0.75"
full = 8 * 400.0 * 4096 / 4226 # Gb/s, with MetaRoCE's headers
file(name, g) = folder."/".name."-".word(groups, g)."/goodput.csv"

set xrange [0:40]
set yrange [0:115]
set ytics 25
set multiplot layout 3,1 title "A plane dies: goodput of all hosts, % of what 400 Gb/s a host can carry"
do for [g = 1:3] {
    set title word(titles, g)
    set xlabel (g == 3 ? "ms" : "")
    if (g == 1) { set key top right opaque } else { unset key }
    share = 100.0 * word(shares, g)
    plot share with lines lw 1 dt (4,4) lc rgb grey title "(P - 1) / P", \
        file("rocev2", g) using 1:(100 * $2 / full) with lines ls 3 lt 3 title "RoCEv2", \
        file("bonded", g) using 1:(100 * $2 / full) with lines lt 5 title "RoCEv2, bonded NIC", \
        file("metaroce", g) using 1:(100 * $2 / full) with lines lt 1 title "MetaRoCE"
}
unset multiplot
