# SPDX-License-Identifier: GPL-2.0-or-later
# Goodput by plane over time. One run: goodput of all planes, of each plane, and what each lost, one
# below the other. Several: a panel each, all planes in black. Dashed: a fault comes or goes.
#
#   gnuplot -c plane-failure.gp FOLDER PLOTS FORMAT TITLE
#
# Reads FOLDER/plane-failure.csv (variant, plane or "all", time_ms, goodput_gbps, lost_packets) and
# FOLDER/plane-failure-faults.csv (variant, time_ms, fault); writes FOLDER/plane-failure.FORMAT.
folder = ARG1
format = ARG3
table = folder."/plane-failure.csv"
faults = folder."/plane-failure-faults.csv"

set datafile separator ","
variants = ""
n_planes = 0
lost_most = 0
quoted(text) = '"'.text.'"'
add(list, text) = strstrt(list, quoted(text)) ? list : list." ".quoted(text)
larger(a, b) = a > b ? a : b
seen(variant, plane, lost) = (variants = add(variants, variant), n_planes = plane eq "all" ? \
    n_planes : larger(n_planes, plane + 1), lost_most = larger(lost_most, lost), 1)
stats table every ::1 using (seen(strcol(1), strcol(2), $5)) nooutput
stats table every ::1 using 3 nooutput
end = STATS_max
stats table every ::1 using 4 nooutput
goodput_most = STATS_max
n_variants = words(variants)
single = n_variants == 1

n_faults = 0
array where[200]
array when[200]
array what[200]
if (system("sed -n 2p '".faults."' 2>/dev/null") ne "") {
    stats faults every ::1 using (n_faults < 200 ? (n_faults = n_faults + 1, when[n_faults] = $2, \
        where[n_faults] = strcol(1), what[n_faults] = strcol(3), 1) : 1) nooutput
}
width = 860
height = single ? 780 : 150 + 210 * n_variants
load ARG2."/style.gp"
set output folder."/plane-failure.".format

at(ms) = ms * time_scale(end)
is(v, plane) = strcol(1) eq word(variants, v) && strcol(2) eq plane
unit = goodput_most >= 2000 ? 1000.0 : 1.0
unit_name = unit > 1 ? "[Tb/s]" : "[Gb/s]"
y(pixels) = 1 - pixels / (1.0 * height)

set multiplot
set label 1 ARG4 at screen 0.5, y(27) center font title_font(ARG4, width) textcolor rgb ink noenhanced
set label 2 "goodput: payload that receivers placed; dashed: a fault comes or goes" \
    at screen 0.5, y(52) center font ",10" textcolor rgb "#555555"
set lmargin at screen 0.12
set rmargin at screen 0.84
set tics font ",12"
set xrange [0:at(end)]
set yrange [0:*]
set format x ""
unset key
n_panels = single ? (lost_most > 0 ? 3 : 2) : n_variants
do for [p = 1:n_panels] {
    v = single ? 1 : p
    last = p == n_panels
    top = single ? (p == 1 ? 112 : p == 2 ? 300 : 577) : 96 + 210 * (p - 1)
    tall = single ? (p == 1 ? 160 : p == 2 ? (lost_most > 0 ? 250 : 410) : 133) : 165
    set tmargin at screen y(top)
    set bmargin at screen y(top + tall)
    n_marked = 0
    do for [i = 1:n_faults] {
        if (where[i] eq word(variants, v)) { n_marked = n_marked + 1 }
    }
    k = 0
    do for [i = 1:n_faults] {
        if (where[i] eq word(variants, v) && n_marked <= 12) {
            k = k + 1
            set arrow k from at(when[i]), graph 0 to at(when[i]), graph 1 nohead front \
                lc rgb ink lw 0.9 dt (10, 6)
            if (p == 1) {
                set label 10 + k what[i] at at(when[i]), screen y(top - (k % 2 ? 10 : 24)) center \
                    font ",10" textcolor rgb ink noenhanced
            }
        }
    }
    if (last) {
        set format x "%g"
        set xlabel time_name(end) offset 0, 0.4
    }
    set label 9 (single && p == 1 ? "all planes ".unit_name : single && p == 3 ? "lost [packets]" : \
        single ? "each plane ".unit_name : "goodput ".unit_name) at screen 0.022, graph 0.5 center \
        rotate textcolor rgb ink
    if (!single) {
        set label 3 word(variants, v) at graph 0, 1.06 left font ",12" textcolor rgb ink noenhanced
    }
    if (single && p == 1) {
        plot table every ::1 using (is(v, "all") ? at($3) : NaN):($4 / unit) with lines lc rgb ink lw 1.6
    }
    if (single && p == 2) {
        plot for [k = 0:n_planes - 1] table every ::1 using (is(v, "".k) ? at($3) : NaN):($4 / unit) \
            with lines linetype k + 1 lw 1.5
    }
    if (single && p == 3) {
        plot for [k = 0:n_planes - 1] table every ::1 using (is(v, "".k) ? at($3) : NaN):5 \
            with lines linetype k + 1 lw 1.5
    }
    if (!single) {
        set yrange [0:1.06 * goodput_most / unit]
        plot table every ::1 using (is(v, "all") ? at($3) : NaN):($4 / unit) with lines lc rgb ink \
                 lw 1.8, \
             for [k = 0:n_planes - 1] table every ::1 using \
                 (is(v, "".k) ? at($3) : NaN):($4 / unit) with lines linetype k + 1 lw 1.3
    }
    do for [i = 1:k] {
        unset arrow i
        unset label 10 + i
    }
    unset label 1
    unset label 2
}

# --- legend: a plot of nothing over the whole canvas, so that it has room ----------------------------
unset label
unset xlabel
unset tics
unset grid
unset border
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
set yrange [0:1]
set key at screen 0.85, screen y(single ? 298 : 94) left top Left reverse samplen 2.5 font ",11"
plot for [k = 1:(single ? 0 : 1)] -1 with lines lc rgb ink lw 1.8 title "all planes", \
     for [k = 0:n_planes - 1] -1 with lines linetype k + 1 lw 1.5 title "plane ".k
unset multiplot
