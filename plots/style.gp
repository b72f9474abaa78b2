# SPDX-License-Identifier: GPL-2.0-or-later
# The look of every figure, loaded by each script after it has set `format` ("png" or "svg"), `width`
# and `height` in pixels. Palette of Okabe and Ito (2008), told apart by colour-blind readers; every
# series also has a point and a dash of its own, so that a grey print loses nothing.

font = "Liberation Sans,Arial,Helvetica,sans-serif"
if (format eq "svg") {
    set terminal svg size width, height dynamic font font.",14" background rgb "white" enhanced
} else {
    set terminal pngcairo size 2 * width, 2 * height font "Sans,13" fontscale 2 linewidth 2 \
        pointscale 2 background rgb "white" enhanced
}
set encoding utf8
set datafile separator ","

ink = "#222222"
grey = "#8a8a8a"

set linetype 1 lc rgb "#D55E00" lw 2.0 pt 4  ps 1.1 dt 1
set linetype 2 lc rgb "#E69F00" lw 2.0 pt 5  ps 1.1 dt (10,5)
set linetype 3 lc rgb "#0072B2" lw 2.0 pt 6  ps 1.2 dt 1
set linetype 4 lc rgb "#56B4E9" lw 2.0 pt 7  ps 1.2 dt (10,5)
set linetype 5 lc rgb "#009E73" lw 2.0 pt 9  ps 1.4 dt 1
set linetype 6 lc rgb "#CC79A7" lw 2.0 pt 10 ps 1.4 dt (2,2)
set linetype 7 lc rgb "#000000" lw 2.0 pt 12 ps 1.4 dt (12,4,2,4)
set linetype 8 lc rgb "#7A5C00" lw 2.0 pt 3  ps 1.2 dt (1,2)
# beyond eight the colours come again, with other points and dashes
set linetype 9  lc rgb "#D55E00" lw 1.6 pt 13 ps 1.3 dt (2,2)
set linetype 10 lc rgb "#E69F00" lw 1.6 pt 8  ps 1.3 dt 1
set linetype 11 lc rgb "#0072B2" lw 1.6 pt 11 ps 1.3 dt (2,2)
set linetype 12 lc rgb "#56B4E9" lw 1.6 pt 2  ps 1.3 dt 1
set linetype 13 lc rgb "#009E73" lw 1.6 pt 14 ps 1.3 dt (10,5)
set linetype 14 lc rgb "#CC79A7" lw 1.6 pt 15 ps 1.3 dt 1
set linetype 15 lc rgb "#000000" lw 1.6 pt 1  ps 1.3 dt (1,2)
set linetype 16 lc rgb "#7A5C00" lw 1.6 pt 7  ps 1.1 dt 1
set linetype cycle 16

set border 3 lw 1 lc rgb ink
set tics nomirror out scale 0.6 textcolor rgb ink
set grid ytics lt -1 lw 0.5 lc rgb "#cccccc"
set key textcolor rgb ink samplen 3 spacing 1.15
set errorbars small

# a title is set smaller if it would not fit
title_font(text, width) = sprintf(",%g", strlen(text) > (width - 50) / (0.7 * 15) ? \
    (width - 50) / (0.7 * strlen(text)) : 15)

# --- what figures over time share ------------------------------------------------------------------
# Times are in ms in the tables; a short run is drawn in us.
time_scale(end_ms) = end_ms < 1 ? 1000.0 : 1.0
time_name(end_ms) = end_ms < 1 ? "time [us]" : "time [ms]"
# "sent_gbps plane 0" is a quantity and whose it is
quantity(head) = word(head, 1)
whose(head) = head[strstrt(head, " ") + 1:*]
# many curves without a legend: from the first, dark, to the last, light (cividis)
set palette defined (0 "#00224e", 0.35 "#575d6d", 0.65 "#a59c74", 1 "#fee838")
unset colorbox
