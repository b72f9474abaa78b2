#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make fuzz: each fuzzer for so many seconds, on all cores, from what it has found before and the
# project's inputs. What breaks a reader is left in build/fuzz/found and named; then this fails.
cd "$(dirname "$0")/.." || exit 2
export seconds=$1 WEFT_INPUTS=${WEFT_INPUTS:-../shared/inputs}
shift
mkdir -p build/fuzz/found

one() { # fuzzer
    local name corpus
    name=$(basename "$1")
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus"
    [ -d "$WEFT_INPUTS" ] && [ -z "$(ls "$corpus")" ] && find "$WEFT_INPUTS" -type f -size -64k -exec cp --backup=numbered -t "$corpus" {} +
    if "$1" -max_total_time="$seconds" -max_len=20000 -timeout=20 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/found/$name-" "$corpus" >"build/fuzz/$name.log" 2>&1; then
        echo "ok - $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$name.log") inputs"
    else
        echo "not ok - $name: $(grep -m1 -E 'ERROR|SUMMARY|ALARM' "build/fuzz/$name.log"); see build/fuzz/$name.log"
    fi
}
export -f one
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'one {}' | tee build/fuzz/summary
! grep -q '^not ok' build/fuzz/summary
