# SPDX-License-Identifier: GPL-2.0-or-later
# Figures of plots/mtia.sh.
#
#   gnuplot -c mtia.gp FOLDER PLOTS FORMAT EXPERIMENT
#
# Reads FOLDER/EXPERIMENT.csv, writes FOLDER/EXPERIMENT.FORMAT.
folder = ARG1
format = ARG3
name = ARG4
width = 980
height = name eq "busbw" ? 620 : 560
load ARG2."/style.gp"
set output folder."/".name.".".format
table = folder."/".name.".csv"

if (name eq "busbw" || name eq "small") {
    set logscale x 2
    set format x "%.0b%BB"
    set xlabel "size S"
}
if (name eq "busbw") {
    set title "All-reduce on 16 ranks: bus bandwidth"
    set ylabel "busbw [GB/s]"
    set logscale y
    set key bottom right
    rank16(wanted) = strcol(1) eq wanted && $2 == 16 ? $10 : NaN
    set arrow from graph 0, first 940 to graph 1, first 940 nohead dt (4,4) lc rgb ink
    set label "940 GB/s, published" at graph 0.02, first 1150
    set datafile missing NaN
    plot table every ::1 using 3:(rank16("MTIA 8+2 both")) with linespoints lt 3 title "MTIA 8 + 2", \
        "" every ::1 using 3:(rank16("MTIA 8+2 scale-up")) with linespoints lt 4 \
            title "MTIA 8 + 2, scale-up alone", \
        "" every ::1 using 3:(rank16("MTIA 10+2 both")) with linespoints lt 5 title "MTIA 10 + 2", \
        "" every ::1 using 3:(rank16("H100")) with linespoints lt 1 title "H100"
}
if (name eq "small") {
    set title "All-reduce on 16 ranks, one call by who begins its transfers"
    set ylabel "time [us]"
    set logscale y
    set yrange [3:60]
    set key center right
    set datafile missing NaN
    rank16(wanted) = strcol(1) eq wanted && $2 == 16 && strcol(11) eq "allreduce" ? $8 : NaN
    plot for [i = 1:4] table every ::1 using 3:(rank16(word("host engine express pe_direct", i))) \
        with linespoints title word("host engine express PE-direct", i)
}
if (name eq "racks") {
    set title "64 MiB over racks of 16 (40 ranks: racks of 10)"
    set xlabel "ranks"
    set ylabel "busbw [GB/s]"
    set logscale x 2
    set yrange [0:*]
    set key top right
    set datafile missing NaN
    of(how, what) = strcol(1) eq how && strcol(11) eq what ? $10 : NaN
    plot for [what in "allgather allreduce"] for [how in "ring hierarchical"] \
        table every ::1 using 2:(of(how, what)) with linespoints title what.", ".how
}
# the others: bars, a row each
if (name ne "busbw" && name ne "small" && name ne "racks") {
    set style fill solid 0.85
    gpu(i) = substr(strcol(1), 1, 4) eq "H100" || strcol(1) eq "h100"
    unset key
    set yrange [*:*] reverse
    set xrange [0:*]
    set lmargin 44
    set grid noytics xtics
    set ytics noenhanced scale 0
    if (name eq "dlrm") {
        set title "Communication of a DLRM iteration, 40 accelerators"
        set xlabel "time [ms]"
        what(i) = strcol(1)
        bar(i) = $5 / 1e3
    }
    if (name eq "overlap") {
        set title "Products and all-reduces alone and together; one step three ways"
        set xlabel "time [ms]"
        what(i) = strcol(1)." ".strcol(2)
        bar(i) = $5 / 1e3
    }
    if (name eq "splits") {
        set title "Splits of the NICs"
        set xlabel "time [ms]"
        what(i) = strcol(3).": ".strcol(1)
        bar(i) = $5 / 1e3
    }
    if (name eq "loss") {
        set title "DLRM iteration under loss (1/50 of its sizes); no bar: unfinished"
        set xlabel "time [ms]"
        what(i) = strcol(1).", ".strcol(2)
        bar(i) = $3 / 1e3
    }
    if (name eq "ratio") {
        set title "Time on H100 / time on MTIA 300, by the product between all-reduces of 64 MiB"
        set xlabel "ratio"
        set arrow from 1, graph 0 to 1, graph 1 nohead dt (4,4) lc rgb ink
        what(i) = strcol(1)
        bar(i) = $4
    }
    plot table every ::1 using (0):0:(0):(bar(0)):($0 - 0.35):($0 + 0.35):\
        (gpu(0) ? 1 : 3):ytic(what(0)) \
        with boxxyerror lc variable
}
