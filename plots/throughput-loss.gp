# SPDX-License-Identifier: GPL-2.0-or-later
# Throughput kept against loss: one panel a case, one line a variant, closed forms behind.
#
#   gnuplot -c throughput-loss.gp FOLDER PLOTS FORMAT TITLE
#
# Reads FOLDER/throughput-loss.csv (case, variant, loss, share_of_lossless, share_of_lossless_ci95)
# and, where it is, FOLDER/closed_form.csv (loss, a curve a column); writes
# FOLDER/throughput-loss.FORMAT. The loss is on a log axis, whose left end is broken off for loss 0.
# Points of one loss stand side by side, so that none hides another; their loss is that of the tick
# below.
folder = ARG1
format = ARG3
summary = folder."/throughput-loss.csv"
curves = folder."/closed_form.csv"

# --- what is there: cases, variants, losses ------------------------------------------------------
set datafile separator ","
cases = ""
variants = ""
losses = ""
least = 1e300
most = 0
quoted(text) = '"'.text.'"'
add(list, text) = strstrt(list, quoted(text)) ? list : list." ".quoted(text)
seen(case, variant, loss) = (cases = add(cases, case), variants = add(variants, variant), \
    losses = loss > 0 ? add(losses, sprintf("%g", loss)) : losses, \
    least = loss > 0 && loss < least ? loss : least, most = loss > most ? loss : most, loss)
stats summary every ::1 using (seen(strcol(1), strcol(2), column(3))) nooutput
n_cases = words(cases)
n_variants = words(variants)
if (least > most) { least = 1e-3; most = 1e-1; losses = "" }
n_curves = 0
if (system("test -s '".curves."' && echo yes") eq "yes") {
    stats curves every ::1 using 1 nooutput
    n_curves = STATS_columns - 1
}
key = ""
stats summary every ::0::0 using (key = strcol(3), 1) nooutput

width = n_cases > 1 ? 540 * n_cases : 760
height = 580
load ARG2."/style.gp"
set output folder."/throughput-loss.".format
set datafile columnheaders

# --- axes: 0 stands `gap` decades left of the least loss ------------------------------------------
gap = 0.75
zero = least / 10 ** gap
left = zero / 1.5
right = most * 1.9
place(loss) = loss > 0 ? loss : zero
beside(k) = 1.045 ** (k - (n_variants + 1) / 2.0)
percent(share) = 100 * share
is(case, variant) = strcol(1) eq word(cases, case) && strcol(2) eq word(variants, variant)

set logscale x
set xrange [left:right]
set yrange [0:108]
set xtics ("0" zero)
do for [loss in losses] { set xtics add (sprintf("%g", 100 * loss) loss + 0) }
set ytics 20
set xlabel (key eq "loss.rate_end_to_end" ? "end-to-end packet loss [%]" : \
            key eq "loss.rate_per_link" ? "packet loss on each link [%]" : key." [%]") offset 0, 0.3
set label 1 "//" at zero * 10 ** (gap / 2), graph 0 center font ",12" textcolor rgb ink front

# --- panels --------------------------------------------------------------------------------------
top = 0.86
columns = n_cases > 1 ? 2 : 1
rows = ceil(n_variants / (1.0 * columns)) > n_curves ? ceil(n_variants / (1.0 * columns)) : n_curves
bottom = 0.165 + 0.036 * rows
span = (1 - 60.0 / width) / n_cases
left_edge(c) = 80.0 / width + (c - 1) * span
right_edge(c) = left_edge(c) + span - 38.0 / width
dash(i) = word("1 2 3 4 5", (i - 1) % 5 + 1) + 0

set multiplot
set label 2 ARG4 at screen 0.5, 0.965 center font title_font(ARG4, width) textcolor rgb ink noenhanced
set label 3 "throughput against the same without loss; bars: 95 % interval over seeds". \
    (n_curves > 0 ? "; grey: arithmetic of one long flow" : "") at screen 0.5, 0.925 center \
    font (n_cases > 1 ? ",10.5" : ",9") textcolor rgb "#555555"
unset key
do for [c = 1:n_cases] {
    set lmargin at screen left_edge(c)
    set rmargin at screen right_edge(c)
    set tmargin at screen top
    set bmargin at screen bottom
    set label 4 word(cases, c) at graph 0.5, 1.03 center font ",13" textcolor rgb ink
    if (c == 1) {
        set ylabel "throughput kept [%]" offset 1, 0
    } else {
        unset ylabel
        unset label 2
        unset label 3
    }
    plot for [i = 1:n_curves] curves using (place($1)):(percent(column(i + 1))) with lines \
             lc rgb grey lw 1 dt dash(i) notitle, \
         for [v = 1:n_variants] summary using \
             (is(c, v) && $3 > 0 ? place($3) * beside(v) : NaN):(percent(column("share_of_lossless"))) \
             with lines linetype v notitle, \
         for [v = 1:n_variants] summary using (is(c, v) ? place($3) * beside(v) : NaN): \
             (percent(column("share_of_lossless"))):(percent(column("share_of_lossless_ci95"))) \
             with yerrorbars linetype v dt 1 notitle
}

# --- legend: variants to the left, closed forms to the right, below the panels ---------------------
unset label
unset xlabel
unset ylabel
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
set key Left reverse font ",11" maxrows ceil(n_variants / (1.0 * columns))
set key at screen (columns == 2 ? 0.36 : 0.28), screen bottom - 0.12 center top
plot for [v = 1:n_variants] -1 with linespoints linetype v title word(variants, v) noenhanced
set key maxrows rows
set key at screen (columns == 2 ? 0.83 : 0.75), screen bottom - 0.12 center top
if (n_curves > 0) {
    plot for [i = 1:n_curves] curves using (-1):(-1) with lines lc rgb grey lw 1 dt dash(i) \
        title columnheader(i + 1) noenhanced
}
unset multiplot
