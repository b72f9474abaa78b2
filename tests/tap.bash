# SPDX-License-Identifier: GPL-2.0-or-later
# For the shell tests, which source it first: the folder is the tree's, WEFT the program's full path,
# $scratch a folder that goes away at the end, ok() prints a TAP line, and
# exits() and says() look at what a command returns and prints. End with: exit $failed
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
WEFT=$(realpath "${WEFT:-${BUILD:-build}/weft}")
export WEFT
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
number=0 failed=0
suite=$(basename "$0" .sh)

ok() { # title, command: one TAP line, and what the command said if it failed
    local title=$1
    shift
    number=$((number + 1))
    if "$@" >"$scratch/said" 2>&1; then
        echo "ok $number - $suite: $title"
    else
        echo "not ok $number - $suite: $title"
        sed 's/^/# /' "$scratch/said" | tail -n 20
        failed=1
    fi
}

exits() { # code, command: its output is in $scratch/out and $scratch/err
    local code=$1 got
    shift
    "$@" >"$scratch/out" 2>"$scratch/err"
    got=$?
    [ $got = "$code" ] || { echo "$*: exit $got, not $code"; tail -n 5 "$scratch/out" "$scratch/err"; false; }
}

says() { # out or err, regular expression...: each is found there
    local file=$1 pattern
    for pattern in "${@:2}"; do
        grep -qE -- "$pattern" "$scratch/$file" || { echo "no '$pattern' in:"; cat "$scratch/$file"; return 1; }
    done
}
