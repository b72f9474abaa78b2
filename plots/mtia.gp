# SPDX-License-Identifier: GPL-2.0-or-later
# Figures of plots/mtia.sh.
#
#   gnuplot -c mtia.gp FOLDER PLOTS FORMAT EXPERIMENT
#
# Reads FOLDER/table.csv, writes FOLDER/mtia-EXPERIMENT.FORMAT. Published figures are dashed and named.
folder = ARG1
format = ARG3
name = ARG4
table = folder."/table.csv"
is(a) = name eq a

width = 1080
height = is("busbw") ? 900 : is("small") ? 480 : is("racks") ? 520 : is("dlrm") ? 640 : is("splits") ? 620 : is("loss") ? 560 : 430
load ARG2."/style.gp"
set output folder."/mtia-".name.".".format
set datafile missing NaN
set label 1 at screen 0.5, 1 - 24.0 / height center font ",15" textcolor rgb ink noenhanced
set label 2 at screen 0.5, 1 - 48.0 / height center font ",10.5" textcolor rgb "#555555" noenhanced
set tics font ",11.5"
top = 1 - 78.0 / height

# --- lines -----------------------------------------------------------------------------------------
if (is("busbw")) {
    set label 1 "All-reduce: bus bandwidth by size and number of ranks"
    set label 2 "MTIA 300 in a rack by the split of its NICs; two servers of 8 H100"
    set logscale x 4
    set logscale y
    set xrange [800:1.5e9]
    set yrange [0.03:2500]
    set xtics ("1 KiB" 2**10, "16 KiB" 2**14, "256 KiB" 2**18, "4 MiB" 2**22, "64 MiB" 2**26, "1 GiB" 2**30)
    curves = '"MTIA 8 + 2" "MTIA 8 + 2: scale-up alone" "MTIA 10 + 2" "MTIA 10 + 2: scale-up alone" "H100"'
    types = "3 4 5 6 1"
    of(curve, n) = strcol(1) eq curve && $2 == n ? $5 : NaN
    set multiplot
    do for [i = 1:4] {
        n = 2 ** i
        west = (i % 2 == 1)
        north = (i <= 2)
        set lmargin at screen (west ? 0.09 : 0.58)
        set rmargin at screen (west ? 0.50 : 0.985)
        set tmargin at screen (north ? top - 0.03 : 0.485)
        set bmargin at screen (north ? 0.575 : 0.155)
        set label 3 sprintf("%d ranks", n) at graph 0.5, 1.05 center font ",13" textcolor rgb ink
        set xlabel (north ? "" : "size S")
        set ylabel (west ? "busbw [GB/s]" : "")
        unset arrow
        unset label 4
        if (n == 16) {
            set arrow from graph 0, first 940 to graph 1, first 940 nohead dt (4, 4) lc rgb ink
            set label 4 "940 GB/s, published with 8 + 2" at graph 0.04, first 560 font ",10.5" textcolor rgb ink
        }
        unset key
        plot for [c = 1:5] table every ::1 using 3:(of(word(curves, c), n)) with linespoints \
            linetype (word(types, c) + 0)
        unset label 1
        unset label 2
    }
    unset label
    unset arrow
    unset tics
    unset border
    unset grid
    unset xlabel
    unset ylabel
    unset logscale
    set lmargin at screen 0
    set rmargin at screen 1
    set bmargin at screen 0
    set tmargin at screen 0.09
    set xrange [0:1]
    set yrange [0:1]
    set key at screen 0.5, screen 0.07 center top horizontal maxcols 3 Left reverse font ",11.5"
    plot for [c = 1:5] -1 with linespoints linetype (word(types, c) + 0) title word(curves, c)
    unset multiplot
}
if (is("small")) {
    set label 1 "Small calls on 16 ranks, one at a time, by who begins a transfer"
    set label 2 "grey: published for PE-direct, 5 to 6 us"
    set logscale x 2
    set logscale y
    set xrange [3600:75000]
    set yrange [3:70]
    set xtics ("4 KiB" 4096, "8 KiB" 8192, "16 KiB" 16384, "32 KiB" 32768, "64 KiB" 65536)
    set ytics (3, 4, 5, 6, 8, 10, 20, 30, 50)
    starts = "host engine express pe_direct"
    names = '"host" "engine, ordinary doorbell" "engine, express doorbell" "PE-direct"'
    shift = "1.13 1.13 0.88 0.88" # of the names, above and below their lines
    of(kind, start) = strcol(1) eq kind && $2 == 16 && strcol(3) eq start ? $5 : NaN
    set object 1 rectangle from graph 0, first 5 to graph 1, first 6 behind fillcolor rgb "#dddddd" \
        fillstyle solid noborder
    set multiplot
    do for [i = 1:2] {
        kind = i == 1 ? "allreduce" : "alltoall"
        set lmargin at screen i == 1 ? 0.07 : 0.56
        set rmargin at screen i == 1 ? 0.49 : 0.98
        set tmargin at screen top - 0.05
        set bmargin at screen 0.14
        set label 3 (i == 1 ? "all-reduce" : "all-to-all") at graph 0.5, 1.04 center font ",13" textcolor rgb ink
        set ylabel i == 1 ? "time [us]" : ""
        set xlabel "size S"
        unset key
        plot for [s = 1:4] table every ::1 using 4:(of(kind, word(starts, s))) with linespoints, \
            for [s = 1:4] table every ::1 using \
                4:($4 == 16384 ? word(shift, s) * of(kind, word(starts, s)) : NaN):(word(names, s)) \
                with labels font ",11"
        unset label 1
        unset label 2
    }
    unset multiplot
}
if (is("racks")) {
    set label 1 "64 MiB over racks of 16 MTIA 300"
    set label 2 "40 ranks: four racks of 10; hollow diamonds: 16 + 16 + 8"
    set lmargin at screen 0.09
    set rmargin at screen 0.98
    set tmargin at screen top
    set bmargin at screen 0.24
    set xlabel "ranks"
    set ylabel "busbw [GB/s]"
    set logscale x 2
    set xrange [14:290]
    set xtics (16, 32, 40, 64, 128, 256)
    set yrange [0:*]
    set key at screen 0.5, screen 0.07 center horizontal maxcols 2 font ",11.5"
    of(kind, how) = strcol(1) eq kind && strcol(2) eq how && !($3 == 40 && $4 == 3) ? $6 : NaN
    unlike(kind, how) = strcol(1) eq kind && strcol(2) eq how && $3 == 40 && $4 == 3 ? $6 : NaN
    plot for [k = 1:2] for [h = 1:2] table every ::1 \
            using 3:(of(word("allgather allreduce", k), word('"two levels" "flat ring"', h))) \
            with linespoints linetype 2 * k + h title word("all-gather all-reduce", k).", ".word('"two levels" "flat ring"', h), \
        for [k = 1:2] table every ::1 using 3:(unlike(word("allgather allreduce", k), "two levels")) \
            with points pt 12 ps 1.6 lc rgb ink notitle
}

# --- bars, a row each -------------------------------------------------------------------------------
bars = !(is("busbw") || is("small") || is("racks"))
if (bars) {
    set style fill solid 0.85 noborder
    unset key
    set xrange [0:*]
    set tmargin at screen top
    set bmargin at screen 78.0 / height
    set rmargin at screen 0.96
    set lmargin at screen 0.30
    set grid noytics xtics
    set ytics noenhanced scale 0
    blue = 0x0072B2
    vermillion = 0xD55E00
    machine(text) = strstrt(text, "H100") == 1 ? vermillion : blue
}
if (is("chain")) {
    set label 1 "1,000 dependent all-reduces of 16 KiB on 8 MTIA 300: time of one"
    set label 2 "each a work packet that the host enqueues, or all in one"
    set xlabel "time [us]"
    set yrange [7.6:-0.6]
    set xrange [0:44]
    what(i) = strcol(2)." (".(strcol(1) eq "calls" ? "a call each" : "one packet").")"
    plot table every ::1 using (0):0:(0):3:($0 - 0.35):($0 + 0.35):(blue):ytic(what(0)) with boxxyerror lc rgb variable, \
        "" every ::1 using 3:0:(sprintf(" %.1f", $3)) with labels left font ",11"
}
if (is("overlap")) {
    set label 1 "Products of 4096^3 (TF32) and all-reduces of 64 MiB at the same time on 16 ranks"
    set label 2 "speed together over speed alone; the worse of the two is the efficiency; grey: published, 98 %, and 70 to 80 %"
    set xlabel "speed kept [%]"
    set yrange [3.6:-0.6]
    set xrange [0:112]
    set style fill solid 0.85 noborder
    set ytics ("MTIA 300: products" 0, "MTIA 300: all-reduces" 1, "H100: products" 2, "H100: all-reduces" 3)
    set object 1 rectangle from 97.7, -0.55 to 98.3, 1.5 front fillcolor rgb "#bbbbbb" fillstyle solid noborder
    set object 2 rectangle from 70, 1.5 to 80, 3.55 front fillcolor rgb "#bbbbbb" fillstyle transparent solid 0.6 noborder
    plot for [side = 0:1] table every ::1 using (0):(2 * $0 + side):(0):(100 * column(6 + side)):\
            (2 * $0 + side - 0.35):(2 * $0 + side + 0.35):($0 == 0 ? blue : vermillion) with boxxyerror lc rgb variable, \
        for [side = 0:1] table every ::1 using (100 * column(6 + side)):(2 * $0 + side):\
            (sprintf(" %.1f", 100 * column(6 + side))) with labels left font ",11"
}
if (is("step")) {
    set label 1 "One step: eight parts of a product, 256 MiB of results reduced over 16 ranks"
    set label 2 "bars: time; beside them idle shares of compute and of NICs"
    set xlabel "time of the step [us]"
    stats table every ::1 using 2 nooutput
    set yrange [4.6:-0.6]
    set xrange [0:1.7 * STATS_max]
    plot table every ::1 using (0):0:(0):2:($0 - 0.35):($0 + 0.35):(machine(strcol(1))):ytic(strcol(1)) with boxxyerror lc rgb variable, \
        "" every ::1 using 2:0:(sprintf("  idle: compute %.1f %%, NICs %.1f %%", 100 * $3, 100 * $4)) with labels left noenhanced font ",11"
}
if (is("splits") || is("splits-racks")) {
    set label 1 is("splits") ? "Splits of the NICs in a rack: time of a mix of collectives" : \
        "Splits of the NICs over two racks: time of the training mix"
    set label 2 "scale-up + scale-out NICs of 800 Gb/s; in brackets: over 8 + 2"
    n = is("splits") ? 16 : 4
    set xlabel "time [us]"
    set yrange [n - 0.4:-0.6]
    set xrange [0:is("splits") ? 2500 : 1800]
    tint(text) = text eq "inference" ? 0x009E73 : blue
    plot table every ::1 using (0):0:(0):3:($0 - 0.35):($0 + 0.35):(tint(strcol(1))):ytic(strcol(2)." (".strcol(1).")") with boxxyerror lc rgb variable, \
        "" every ::1 using 3:0:(sprintf(" %.0f (%.2f)", $3, $4)) with labels left font ",11"
}
if (is("dlrm")) {
    set label 1 "Communication of a DLRM iteration on 40 accelerators, a quarter of its sizes"
    set label 2 "in brackets: H100 over this (published: 3.9 for MTIA); what the swap alone does as a share of the log of that"
    set lmargin at screen 0.36
    set xlabel "time [ms]"
    stats table every ::1 using 5 nooutput
    set yrange [STATS_records - 0.4:-0.6]
    set xrange [0:STATS_max / 1e3 * 1.3]
    set bmargin at screen 100.0 / height
    set key at screen 0.62, screen 24.0 / height center horizontal font ",11.5"
    plot table every ::1 using (0):0:(0):($2 / 1e3):($0 - 0.35):($0 + 0.35):ytic(strcol(1)) with boxxyerror lc rgb "#009E73" title "all-reduce", \
        "" every ::1 using ($2 / 1e3):0:($2 / 1e3):(($2 + $3) / 1e3):($0 - 0.35):($0 + 0.35) with boxxyerror lc rgb "#E69F00" title "all-gather", \
        "" every ::1 using (($2 + $3) / 1e3):0:(($2 + $3) / 1e3):($5 / 1e3):($0 - 0.35):($0 + 0.35) with boxxyerror lc rgb "#56B4E9" title "35 all-to-all-v", \
        "" every ::1 using ($5 / 1e3):0:\
            (sprintf(" %.1f (%.2f)", $5 / 1e3, $6).(valid(7) ? sprintf(", share %.0f %%", 100 * column(7)) : "")) \
            with labels left font ",11" notitle
}
if (is("loss")) {
    set label 1 "The DLRM iteration, a fiftieth of its sizes, on 40 MTIA 300 under loss"
    set label 2 "means of five seeds with 95 % intervals; in brackets: over the same without loss; MetaRoCE on MTIA 300 is a what-if"
    set lmargin at screen 0.38
    set xlabel "time [ms]"
    set yrange [15.6:-0.6]
    set xrange [0:7]
    tint(text) = strstrt(text, "MetaRoCE") ? 0x009E73 : strstrt(text, "bonded") ? 0xCC79A7 : strstrt(text, "selective") ? 0x56B4E9 : blue
    ms(row) = strcol(3) eq "yes" ? real(strcol(4)) / 1e3 : 0
    end_(row) = strcol(3) eq "yes" ? sprintf(" %.2f ± %.2f (%.2f)", ms(row), real(strcol(5)) / 1e3, real(strcol(6))) : " does not finish"
    plot table every ::1 using (0):0:(0):(ms(0)):($0 - 0.35):($0 + 0.35):(tint(strcol(2))):ytic(strcol(1)."; ".strcol(2)) with boxxyerror lc rgb variable, \
        "" every ::1 using (ms(0)):0:(end_(0)) with labels left font ",11"
}
if (is("ratio")) {
    set label 1 "H100 time over MTIA 300 time, by the product between all-reduces of 64 MiB"
    set label 2 "products of 8192 x 8192 x K, 16 ranks; in brackets: share of computation on MTIA"
    set xlabel "ratio"
    set yrange [7.6:-0.6]
    set xrange [0:3.2]
    set arrow from 1, graph 0 to 1, graph 1 nohead dt (4, 4) lc rgb ink front
    plot table every ::1 using (0):0:(0):4:($0 - 0.35):($0 + 0.35):($4 > 1 ? blue : vermillion):ytic(strcol(1)) with boxxyerror lc rgb variable, \
        "" every ::1 using ($4 > 1 ? $4 : 1):0:(sprintf("  %.2f (%.0f %%)", $4, 100 * $5)) with labels left noenhanced font ",11"
}
