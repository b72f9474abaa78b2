#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nothing that feeds a time or a decision calls libm: core, models, topologies and workloads have no
# undefined symbol of it. Shown to fail on an object that does.
names=$(nm -D --defined-only "$(ldconfig -p | sed -n 's/.* \(\/.*\/libm\.so\.6\)$/\1/p' | head -1)" |
    awk '{ sub(/@.*/, "", $3); print $3 }' | grep -v '^_' | sort -u)
check() { nm -u "$@" 2>/dev/null | awk 'NF == 2 { print $2 }' | sort -u | comm -12 - <(echo "$names"); }
found=$(check $(find "$BUILD/obj/sim/core" "$BUILD/obj/models" "$BUILD/obj/topologies" "$BUILD/obj/workloads" -name '*.o'))
[ -z "$found" ] && echo "ok - no libm below the application" || echo "not ok - libm below the application: $found"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo 'double pow(double, double); double f(double x) { return pow(x, 1.5); }' >"$folder/bad.c"
gcc -O1 -c -o "$folder/bad.o" "$folder/bad.c"
[ "$(check "$folder/bad.o")" = pow ] && echo "ok - it would be seen" || echo "not ok - it would be seen"
for flag in -ffp-contract=off; do
    grep -q -e "$flag" Makefile && echo "ok - $flag" || echo "not ok - $flag"
done
