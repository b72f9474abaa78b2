# SPDX-License-Identifier: GPL-2.0-or-later
# How much each changed parameter moves the result: a panel a case, a pair of bars a parameter, the
# strongest on top, pairs of parameters left out.
#
#   gnuplot -c effects.gp FOLDER PLOTS FORMAT TITLE
#
# Reads FOLDER/effects.csv; writes FOLDER/effects.FORMAT.
folder = ARG1
format = ARG3
table = folder."/effects.csv"
most = 8 # parameters in a panel

set datafile separator ","
panels = ""
what = ""
quoted(text) = '"'.text.'"'
add(list, text) = strstrt(list, quoted(text)) ? list : list." ".quoted(text)
larger(a, b) = a > b ? a : b
rows = 0
shown(row) = column(2) <= most && strcol(4) eq "no"
stats table every ::1 using (shown(0) ? (rows = larger(rows, $2), 1) : 1) nooutput
name_of(text) = text eq "" ? "all" : text
stats table every ::1 using ($2 == 1 && $3 == 1 ? (panels = add(panels, name_of(strcol(1))), \
    what = what." ".strcol(7), 1) : 1) nooutput
n_panels = words(panels)
across = n_panels > 1 ? 2 : 1
down = (n_panels + across - 1) / across
panel_height = 92 + 34 * rows
width = across > 1 ? 1160 : 700
height = 70 + down * panel_height + 46
load ARG2."/style.gp"
set output folder."/effects.".format

y(pixels) = 1 - pixels / (1.0 * height)
slot = 1.0 / across
is(p) = name_of(strcol(1)) eq word(panels, p) && shown(0)
short(key) = key[1:10] eq "transport." ? key[11:*] : \
    key eq "queue.kmin & queue.kmax" ? "queue.kmin, kmax" : key
metric(p) = word(what, p) eq "recovery_time_ps" ? "recovery time" : "throughput"
wide(interval) = interval > 0 ? interval : 0
at(place, end) = -place + 0.30 - 0.3 * (end - 1)

set multiplot
set label 1 ARG4 at screen 0.5, y(25) center font title_font(ARG4, width) textcolor rgb ink noenhanced
set label 2 "change of the result against the run in which nothing is changed, same seeds; bars: 95 % interval" \
    at screen 0.5, y(50) center font ",10.5" textcolor rgb "#555555" noenhanced
unset key
set border 1
set grid noytics
set grid xtics lt -1 lw 0.5 lc rgb "#cccccc"
set style fill solid 0.85 noborder
do for [p = 1:n_panels] {
    column_ = (p - 1) % across
    row_ = (p - 1) / across
    top = 70 + row_ * panel_height
    set lmargin at screen (slot * column_ + 142.0 / width)
    set rmargin at screen (slot * (column_ + 1) - 66.0 / width)
    set tmargin at screen y(top + 30)
    set bmargin at screen y(top + panel_height - 34)
    low = 0
    high = 0
    names = ""
    stats table every ::1 using (is(p) && strcol(10) ne "" ? (low = $10 - wide($11) < low ? $10 - wide($11) : low, \
        high = larger(high, $10 + wide($11)), 1) : 1) nooutput
    stats table every ::1 using (is(p) && $3 == 1 ? (names = names." ".quoted(short(strcol(5))), 1) : 1) nooutput
    span = larger(high - low, 0.02)
    set xrange [100 * (low - 0.16 * span):100 * (high + 0.16 * span)]
    set yrange [-rows - 0.5:-0.4]
    step = span > 1.2 ? 50 : span > 0.6 ? 20 : span > 0.3 ? 10 : 5
    set xtics step format "%.0f %%" font ",10.5"
    set ytics scale 0 font ",10.5" noenhanced
    set ytics (0)
    do for [i = 1:words(names)] { set ytics add (word(names, i) -i + 0.15) }
    set arrow 1 from 0, graph 0 to 0, graph 1 nohead lw 1 lc rgb ink
    set label 3 word(panels, p).": ".metric(p) at graph 0.5, screen y(top + 16) center font ",12.5" \
        textcolor rgb ink noenhanced
    plot table every ::1 using (is(p) ? 50 * $10 : NaN):(at($2, $3)):(50 * abs($10)):(0.13) \
             with boxxyerror lc rgb "#56B4E9", \
         table every ::1 using (is(p) && $3 > 1 ? 50 * $10 : NaN):(at($2, $3)):(50 * abs($10)):(0.13) \
             with boxxyerror lc rgb "#D55E00", \
         table every ::1 using (is(p) ? 100 * $10 : NaN):(at($2, $3)):(100 * $11) \
             with xerrorbars lc rgb ink lw 1 pt -1, \
         table every ::1 using (is(p) ? 100 * ($10 + ($10 < 0 ? -1 : 1) * wide($11)) : NaN):(at($2, $3)):(is(p) && $10 < 0 ? "" : "  ".strcol(6)) \
             with labels left font ",9" textcolor rgb ink noenhanced, \
         table every ::1 using (is(p) ? 100 * ($10 + ($10 < 0 ? -1 : 1) * wide($11)) : NaN):(at($2, $3)):(is(p) && $10 < 0 ? strcol(6)."  " : "") \
             with labels right font ",9" textcolor rgb ink noenhanced
    unset label 1
    unset label 2
}
unset multiplot
