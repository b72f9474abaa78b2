# SPDX-License-Identifier: GPL-2.0-or-later
# The incast of workloads/incast-15.ini over time: a column a regime; queue, senders' rates, sum and
# victim, pauses and drops down the rows.
#
#   gnuplot -c incast-15.gp FOLDER PLOTS FORMAT
#
# Reads FOLDER/VARIANT/bins.csv and FOLDER/measures.csv (plots/incast-15.sh); writes
# FOLDER/incast-15.FORMAT. The first millisecond has `wide` of the time axis.
folder = ARG1
format = ARG3
width = 1280
height = 1080
load ARG2."/style.gp"
set output folder."/incast-15.".format

names = "dcqcn pfc-alone window irn"
titles = '"DCQCN, PFC as backstop" "PFC alone" "window of one BDP" "IRN"'
bins(c) = folder."/".word(names, c)."/bins.csv"

# what arithmetic says of the queue [KB], drawn dashed, and where its name stands
marks = '"K_{min}" "15 x Xoff" "15 W - BDP" "two BDP"'
low = "5 568.3 961.4 135"
beside = "3.2 370 620 87"

wide = 0.36
end = 50.0
place(ms) = ms < 1 ? wide * ms : wide + (1 - wide) * (ms - 1) / (end - 1)

# --- what was counted, for the notes in the lowest row --------------------------------------------
array pauses[4]
array drops[4]
do for [c = 1:4] {
    set datafile columnheaders
    stats folder."/measures.csv" every ::(c - 1)::(c - 1) using \
        (pauses[c] = column("pauses"), \
         drops[c] = column("drops"), 1) nooutput
}
unset datafile
set datafile separator ","
count(n, what) = n == 0 ? "no ".what : n < 1e6 ? sprintf("%.0f %s", n, what) : \
    sprintf("%.2f million %s", n / 1e6, what)

# --- the frame of a panel -------------------------------------------------------------------------
left(c) = 0.075 + (c - 1) * 0.231
right(c) = left(c) + 0.213
heights = "0.225 0.19 0.17 0.15"
tops = "0.875 0.622 0.404 0.206"
blue = "#0072B2"
orange = "#D55E00"
green = "#009E73"
purple = "#B0508A"
half(ms) = ms < 1 ? 0.01 : 0.25 # of a bin

set xrange [0:1]
set xtics font ",10"
set ytics font ",10"
unset key
set multiplot
set label 1 "15:1 incast at 100 Gb/s, 40 MB a sender" at screen 0.5, 0.972 center font ",15" \
    textcolor rgb ink
set label 2 "the first millisecond is stretched; band: least and most of a bin; dashed: what \
arithmetic says" \
    at screen 0.5, 0.943 center font ",10.5" textcolor rgb "#555555"
set label 3 "time [ms]" at screen 0.525, 0.018 center font ",12" textcolor rgb ink

do for [r = 1:4] {
    set tmargin at screen (word(tops, r) + 0)
    set bmargin at screen (word(tops, r) - word(heights, r))
    do for [c = 1:4] {
        set lmargin at screen left(c)
        set rmargin at screen right(c)
        set object 1 rectangle from graph 0, graph 0 to first place(1), graph 1 behind \
            fillcolor rgb "#f4f4f4" fillstyle solid noborder
        set label 4 (r == 1 ? word(titles, c) : "") at graph 0.5, 1.07 center font ",13" \
            textcolor rgb ink
        set label 5 "" at graph 0.97, 0.93 right font ",10" textcolor rgb ink front
        set label 6 "" at graph 0.97, 0.83 right font ",10" textcolor rgb ink front
        set label 7 "" at graph 0.97, 0.73 right font ",10" textcolor rgb ink front
        set format y (c == 1 ? "%g" : "")
        unset ylabel
        if (c == 1 && r == 1) { set ylabel "queue at receiver's port [KB]" offset 0.5, 0 }
        if (c == 1 && r == 2) { set ylabel "each sender [Gb/s]" offset -1, 0 }
        if (c == 1 && r == 3) { set ylabel "goodput [Gb/s]" offset -0.5, 0 }
        if (c == 1 && r == 4) { set ylabel "events [1/ms]" offset 0.5, 0 }
        if (r == 4) {
            set xtics ("0" place(0), "0.5" place(0.5), "1" place(1), "10" place(10), \
                       "20" place(20), "30" place(30), "40" place(40), "50" place(50))
        } else {
            set xtics ("" place(0), "" place(0.5), "" place(1), "" place(10), "" place(20), \
                       "" place(30), "" place(40), "" place(50))
        }
        if (r == 1) {
            set logscale y
            set yrange [1:3000]
            set label 5 word(marks, c) at first 0.97, word(beside, c) + 0
            if (c == 1) { set label 6 "K_{max}" at first 0.97, 310 }
            if (c == 2) { set label 6 "15 x (Xoff + headroom)" at first 0.97, 1700 }
            plot bins(c) using (place($1)):($3 > 1 ? $3 : 1):($4 > 1 ? $4 : 1) \
                     with filledcurves fillcolor rgb blue \
                     fillstyle transparent solid 0.25 noborder, \
                 bins(c) using (place($1)):($2 > 1 ? $2 : 1) with lines dt 1 lc rgb blue lw 1.6, \
                 word(low, c) + 0 with lines lc rgb ink lw 1 dt (6, 4), \
                 (c == 1 ? 200 : c == 2 ? 1106.6 : NaN) with lines lc rgb ink lw 1 dt (6, 4)
            unset logscale y
        }
        if (r == 2) {
            set logscale y
            set yrange [0.5:100]
            set ytics (0.5, 1, 2, 5, 10, 20, 50, 100)
            if (c == 1) {
                set label 5 "sender 1, beside the victim" textcolor rgb orange
                set label 6 "sender 2" textcolor rgb blue
                set label 7 "senders 3 to 15" textcolor rgb "#777777"
            }
            if (c == 2) { set label 5 "dashed: fair share" }
            plot for [f = 11:23] bins(c) using (place($1)):(column(f) > 0 ? column(f) : NaN) \
                     with lines dt 1 lc rgb "#aaaaaa" lw 0.5, \
                 bins(c) using (place($1)):($10 > 0 ? $10 : NaN) with lines dt 1 lc rgb blue lw 1, \
                 bins(c) using (place($1)):($9 > 0 ? $9 : NaN) \
                     with lines dt 1 lc rgb orange lw 1.2, \
                 100.0 * 1024 / 1106 / 15 with lines lc rgb ink lw 1 dt (6, 4)
            set ytics auto
            unset logscale y
        }
        if (r == 3) {
            set yrange [0:105]
            set ytics 25
            if (c == 2) {
                set label 5 "sum of the 15 senders" at graph 0.97, 0.74 textcolor rgb blue
                set label 6 "victim" at graph 0.97, 0.15 textcolor rgb green
            }
            plot bins(c) using (place($1)):5 with lines dt 1 lc rgb blue lw 1.6, \
                 bins(c) using (place($1)):($1 < 40 || $6 > 80 || c == 2 ? $6 : NaN) \
                     with lines dt 1 lc rgb green lw 1.6
            set ytics auto
        }
        if (r == 4) {
            set logscale y
            set yrange [1:1e7]
            set ytics 100
            set format y (c == 1 ? "10^{%T}" : "")
            set label 5 count(pauses[c], "pauses") textcolor rgb (pauses[c] > 0 ? purple : ink)
            set label 6 count(drops[c], "drops") textcolor rgb (drops[c] > 0 ? orange : ink) \
                at graph 0.97, 0.82
            plot bins(c) using (place($1)):($7 > 0 ? $7 : NaN):(2 * (place($1 + half($1)) - \
                     place($1))) with boxes fillstyle solid 1 noborder lc rgb purple, \
                 bins(c) using (place($1)):($8 > 0 ? $8 : NaN):(2 * (place($1 + half($1)) - \
                     place($1))) with boxes fillstyle solid 1 noborder lc rgb orange
            unset logscale y
            set ytics auto
        }
        set format y (c == 1 ? "%g" : "")
        unset label 1
        unset label 2
        unset label 3
    }
}
unset multiplot
