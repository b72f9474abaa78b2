#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs every test and counts the TAP lines they print; the C programs of ASAN_BUILD too, if it is
# set. WEFT_TESTS=unit runs the C programs alone, WEFT_TESTS=asan those with sanitizers alone.
# Failed lines are shown at once; the last line is "N passed, N failed".
cd "$(dirname "$0")/.." || exit 2
export BUILD=${BUILD:-build} WEFT_INPUTS=${WEFT_INPUTS:-../shared/inputs} CMOCKA_MESSAGE_OUTPUT=TAP
export WEFT=$BUILD/weft LC_ALL=C
programs=
for build in $([ "$WEFT_TESTS" = asan ] || echo "$BUILD") $ASAN_BUILD; do
    programs+=" $(ls "$build"/tests/unit/* "$build"/tests/physics/* "$build"/tests/fuzz/* "$build"/tests/xval/* 2>/dev/null | grep -v '\.d$')"
done
scripts=
[ -z "$WEFT_TESTS" ] && scripts=$(ls tests/*/*.sh)
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT

one() { # program: its TAP goes to a file of its own; a death without TAP is a failure
    local name=${1//\//_} status
    timeout 900 "$1" >"$out/$name" 2>"$out/$name.err"
    status=$?
    if [ $status -ne 0 ] && ! grep -q '^not ok' "$out/$name"; then
        echo "not ok - $1 ended with status $status" >>"$out/$name"
    fi
    if grep -q '^not ok' "$out/$name"; then
        echo "== $1"
        grep -A6 '^not ok' "$out/$name" | head -60
        tail -5 "$out/$name.err"
    fi
    grep -h '^# ' "$out/$name" | grep -v -e '^# ok' | sed "s,^#,$1:," | grep -i skip
}
export -f one
export out
printf '%s\n' $programs $scripts | xargs -P "$(nproc)" -I{} bash -c 'one {}'
passed=$(cat "$out"/* | grep -c '^ok')
failed=$(cat "$out"/* | grep -c '^not ok')
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
