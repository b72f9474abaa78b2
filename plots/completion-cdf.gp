# SPDX-License-Identifier: GPL-2.0-or-later
# Completion times, cumulative: a curve a transport or variant. A curve that ends below 100 % has
# messages that did not finish.
#
#   gnuplot -c completion-cdf.gp FOLDER PLOTS FORMAT TITLE
#
# Reads FOLDER/completion-cdf.csv (variant, completion_us, share); writes
# FOLDER/completion-cdf.FORMAT. A mark stands on each curve at p50 and p99 of all messages.
folder = ARG1
format = ARG3
table = folder."/completion-cdf.csv"

set datafile separator ","
variants = ""
least = 1e300
most = 0
quoted(text) = '"'.text.'"'
add(list, text) = strstrt(list, quoted(text)) ? list : list." ".quoted(text)
longest = 0
seen(variant, us) = (variants = add(variants, variant), \
    longest = strlen(variant) > longest ? strlen(variant) : longest, least = us < least ? us : least, \
    most = us > most ? us : most, us)
stats table every ::1 using (seen(strcol(1), column(2))) nooutput
n_variants = words(variants)

columns = n_variants > 1 && longest < 36 ? 2 : 1
rows = (n_variants + columns - 1) / columns
width = 800
height = 520 + 24 * rows
load ARG2."/style.gp"
set output folder."/completion-cdf.".format

unit = most >= 2e6 ? 1e6 : most >= 2e3 ? 1e3 : 1.0
name = unit == 1e6 ? "s" : unit == 1e3 ? "ms" : "us"
left = 0.95 * least / unit
right = 1.05 * most / unit
is(v) = strcol(1) eq word(variants, v)

# the first point of each curve at or above p50 and p99
array p50[n_variants]
array p99[n_variants]
do for [v = 1:n_variants] {
    p50[v] = NaN
    p99[v] = NaN
    stats table every ::1 using (is(v) ? (p50[v] = p50[v] != p50[v] && $3 >= 0.5 ? $2 : p50[v], \
        p99[v] = p99[v] != p99[v] && $3 >= 0.99 ? $2 : p99[v], 1) : 1) nooutput
}

bottom = (96 + 24.0 * rows) / height
set multiplot
set label 1 ARG4 at screen 0.5, 1 - 27.0 / height center font title_font(ARG4, width) textcolor rgb ink noenhanced
set label 2 "marks: median and 99th percentile of all messages; where a curve ends below 100 %, the rest \
did not finish" at screen 0.5, 1 - 52.0 / height center font ",10" textcolor rgb "#555555"
set tmargin at screen 1 - 78.0 / height
set bmargin at screen bottom
set lmargin at screen 0.1
set rmargin at screen 0.965
set xrange [left:right]
if (right > 8 * left) { set logscale x }
set yrange [0:105]
set ytics (0, 25, 50, 75, 90, 100)
set xlabel "completion time of a message [".name."]" offset 0, 0.3
set ylabel "share of messages [%]" offset 1, 0
set grid xtics
set key at screen 0.5, screen bottom - 64.0 / height center top Left reverse font ",11"
set key maxrows rows
plot for [v = 1:n_variants] table every ::1 using (is(v) ? $2 / unit : NaN):(100 * $3) \
         with steps linetype v lw 1.6 notitle, \
     for [v = 1:n_variants] "+" using (p50[v] / unit):(50) every ::0::0 with points linetype v \
         notitle, \
     for [v = 1:n_variants] "+" using (p99[v] / unit):(99) every ::0::0 with points linetype v \
         notitle, \
     for [v = 1:n_variants] -1 with linespoints linetype v title word(variants, v) noenhanced
unset multiplot
