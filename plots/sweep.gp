# SPDX-License-Identifier: GPL-2.0-or-later
# A comparison or a sweep over one axis: a panel a quantity, a line a choice on the other axes.
#
#   gnuplot -c sweep.gp FOLDER PLOTS FORMAT TITLE
#
# Reads FOLDER/sweep.csv (quantity, variant, place, the key, value, ci95); writes FOLDER/sweep.FORMAT.
# Values of the key stand side by side in their order. A panel whose values span a factor of 30 or more
# has a log scale.
folder = ARG1
format = ARG3
table = folder."/sweep.csv"

set datafile separator ","
panels = ""
variants = ""
ticks = ""
n_places = 0
longest = 0
longest_tick = 0
quoted(text) = '"'.text.'"'
add(list, text) = strstrt(list, quoted(text)) ? list : list." ".quoted(text)
larger(a, b) = a > b ? a : b
seen(panel, variant, place, cell) = (panels = add(panels, panel), variants = add(variants, variant), \
    ticks = add(ticks, cell eq "" ? "-" : cell), n_places = larger(n_places, place), \
    longest = larger(longest, strlen(variant)), longest_tick = larger(longest_tick, strlen(cell)), 1)
stats table every ::1 using (seen(strcol(1), strcol(2), $3, strcol(4))) nooutput
key = ""
stats table every ::0::0 using (key = strcol(4), 1) nooutput
n_panels = words(panels)
n_variants = words(variants)

legend_columns = n_variants > 1 && longest < 38 ? 2 : 1
legend_rows = (n_variants + legend_columns - 1) / legend_columns
turned = n_places * longest_tick > 46
across = n_panels > 1 ? 2 : 1
down = (n_panels + across - 1) / across
panel_height = 270
turned_height = turned ? 6 * longest_tick : 0
width = across > 1 ? 1080 : 760
height = 84 + down * (panel_height + turned_height) + 24 + 23 * legend_rows
load ARG2."/style.gp"
set output folder."/sweep.".format

beside(v) = 0.05 * (v - (n_variants + 1) / 2.0)
is(p, v) = strcol(1) eq word(panels, p) && strcol(2) eq word(variants, v)
y(pixels) = 1 - pixels / (1.0 * height)
slot = 1.0 / across
joined = key ne "variant" && key ne "case" # between names there is nothing

set multiplot
set label 1 ARG4 at screen 0.5, y(27) center font title_font(ARG4, width) textcolor rgb ink noenhanced
set label 2 "against ".key.": means over seeds; bars: 95 % interval" at screen 0.5, y(53) center \
    font ",10.5" textcolor rgb "#555555" noenhanced
set xrange [0.6:n_places + 0.4]
set tics font ",11.5"
set xtics (0)
do for [i = 1:words(ticks)] { set xtics add (word(ticks, i) i) }
if (turned) { set xtics rotate by 40 right noenhanced } else { set xtics noenhanced }
unset key
do for [p = 1:n_panels] {
    column_ = (p - 1) % across
    row_ = (p - 1) / across
    top = 84 + row_ * (panel_height + turned_height)
    set lmargin at screen (slot * column_ + 106.0 / width)
    set rmargin at screen (slot * (column_ + 1) - 22.0 / width)
    set tmargin at screen y(top)
    set bmargin at screen y(top + panel_height - 52)
    least = 1e300
    most = 0
    reach = 0 # of the intervals
    stats table every ::1 using (strcol(1) eq word(panels, p) && $5 > 0 ? \
        (least = $5 < least ? $5 : least, most = larger(most, $5), \
        reach = larger(reach, $6 > 0 ? $5 + $6 : $5), 1) : 1) nooutput
    if (most > 30 * least) {
        set logscale y
        set yrange [least / 1.6:most * 1.6]
    } else {
        unset logscale y
        set yrange [0:(strstrt(word(panels, p), "Jain") ? 1.05 : 1.06 * (reach < 2.5 * most ? reach : 2.5 * most))]
    }
    set label 3 word(panels, p) at screen (slot * column_ + 22.0 / width), graph 0.5 center rotate \
        font ",13" textcolor rgb ink
    plot for [v = 1:n_variants] table every ::1 using (is(p, v) && joined ? $3 + beside(v) : NaN):5 \
             with lines linetype v lw 1.3, \
         for [v = 1:n_variants] table every ::1 using (is(p, v) ? $3 + beside(v) : NaN):5:6 \
             with yerrorbars linetype v dt 1, \
         for [v = 1:n_variants] table every ::1 using (is(p, v) ? $3 + beside(v) : NaN):5 \
             with points linetype v
    unset label 1
    unset label 2
}

# --- legend below ----------------------------------------------------------------------------------
unset label
unset xlabel
unset tics
unset grid
unset border
unset logscale
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
set xrange [0:1]
set yrange [0:1]
set key at screen 0.5, screen y(84 + down * (panel_height + turned_height) - 8) center top Left reverse \
    maxrows legend_rows font ",11"
if (n_variants > 1) {
    plot for [v = 1:n_variants] -1 with linespoints linetype v title word(variants, v) noenhanced
}
unset multiplot
