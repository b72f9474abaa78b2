# SPDX-License-Identifier: GPL-2.0-or-later
# Throughput against planes: one panel a case, one line a variant; behind it, in the same colour, the
# ideal line (dots) and the one by least squares (thin).
#
#   gnuplot -c plane-scaling.gp FOLDER PLOTS FORMAT TITLE
#
# Reads FOLDER/plane-scaling.csv (case, variant, planes, throughput_gbps, ci95_gbps, ideal_gbps,
# fit_gbps); writes FOLDER/plane-scaling.FORMAT.
folder = ARG1
format = ARG3
table = folder."/plane-scaling.csv"

set datafile separator ","
cases = ""
variants = ""
ticks = ""
most = 0
top = 0
quoted(text) = '"'.text.'"'
add(list, text) = strstrt(list, quoted(text)) ? list : list." ".quoted(text)
seen(case, variant, planes) = (cases = add(cases, case), variants = add(variants, variant), \
    ticks = add(ticks, sprintf("%g", planes)), most = planes > most ? planes : most, planes)
highest(value) = (top = value == value && value > top ? value : top, 1)
stats table every ::1 using (seen(strcol(1), strcol(2), column(3))) nooutput
stats table every ::1 using (highest($4)) nooutput
n_cases = words(cases)
n_variants = words(variants)
unit = top >= 2000 ? 1000.0 : 1.0

width = n_cases > 1 ? 540 * n_cases : 760
height = 560 + 26 * ((n_variants + 1) / 2)
load ARG2."/style.gp"
set output folder."/plane-scaling.".format

beside(k) = 0.012 * most * (k - (n_variants + 1) / 2.0)
is(case, variant) = strcol(1) eq word(cases, case) && strcol(2) eq word(variants, variant)
span = (1 - 70.0 / width) / n_cases
left_edge(c) = 92.0 / width + (c - 1) * span
right_edge(c) = left_edge(c) + span - 52.0 / width
bottom = (108 + 26.0 * ((n_variants + 1) / 2 + 1)) / height

set xrange [0:most * 1.08]
set yrange [0:1.3 * top / unit]
set xtics (0)
do for [tick in ticks] { set xtics add (tick tick + 0) }
set xlabel "planes" offset 0, 0.3
set multiplot
set label 2 ARG4 at screen 0.5, 0.962 center font title_font(ARG4, width) textcolor rgb ink noenhanced
set label 3 "bars: 95 % interval over seeds; dots: ideal, from the fewest planes; thin: least squares" \
    at screen 0.5, 0.92 center font (n_cases > 1 ? ",10.5" : ",9.5") textcolor rgb "#555555"
unset key
do for [c = 1:n_cases] {
    set lmargin at screen left_edge(c)
    set rmargin at screen right_edge(c)
    set tmargin at screen 0.855
    set bmargin at screen bottom
    set label 4 word(cases, c) at graph 0.5, 1.03 center font ",13" textcolor rgb ink noenhanced
    if (c == 1) {
        set ylabel (unit > 1 ? "throughput [Tb/s]" : \
                    "throughput [Gb/s]") offset 1, 0
    } else {
        unset ylabel
        unset label 2
        unset label 3
    }
    plot for [v = 1:n_variants] table every ::1 using (is(c, v) ? $3 : NaN):($6 / unit) \
             with lines linetype v lw 1.4 dt (2, 5) notitle, \
         for [v = 1:n_variants] table every ::1 using (is(c, v) ? $3 : NaN):($7 / unit) \
             with lines linetype v lw 0.8 dt 1 notitle, \
         for [v = 1:n_variants] table every ::1 using (is(c, v) ? $3 + beside(v) : NaN): \
             ($4 / unit):($5 / unit) with yerrorbars linetype v dt 1 notitle, \
         for [v = 1:n_variants] table every ::1 using (is(c, v) ? $3 + beside(v) : NaN): \
             ($4 / unit) with points linetype v notitle
}

# --- legend below ---------------------------------------------------------------------------------
unset label
unset xlabel
unset ylabel
unset tics
unset grid
unset border
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
set xrange [0:1]
set yrange [0:1]
set key at screen 0.5, screen (bottom - 74.0 / height) center top Left reverse maxcols 2 font ",11.5"
plot for [v = 1:n_variants] -1 with linespoints linetype v dt 1 title word(variants, v) noenhanced, \
     -1 with lines lc rgb "#555555" lw 1.4 dt (2, 5) title "ideal", \
     -1 with lines lc rgb "#555555" lw 0.8 dt 1 title "least squares"
unset multiplot
