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
pick(wanted, value) = strcol(1) eq wanted ? value : NaN

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
# the others: bars, a row each; which columns say what and how long
if (name ne "busbw" && name ne "small") {
    set style fill solid 0.85
    set style data histograms
    unset key
    set boxwidth 0.7
    set xtics rotate by -35 noenhanced
    set ylabel "time [ms]"
    set yrange [0:*]
    set rmargin 8
    what = name eq "dlrm" ? 1 : 2
    time = name eq "dlrm" ? 5 : 5
    set title name eq "dlrm" ? "Communication of a DLRM iteration on 40 accelerators" : name
    plot table every ::1 using 0:(column(time) / 1e3):(name eq "dlrm" ? 3 : \
        strcol(1) eq "mtia" ? 3 : 1):xtic(name eq "dlrm" ? strcol(1) : strcol(1)." ".strcol(2)) \
        with boxes lc variable
}
