#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make install into a folder of its own: the installed program finds its scenarios and plays one, far
# from the tree; the completion can be sourced and completes; the manual page is without fault; and
# uninstall leaves nothing.
cd "$(dirname "$0")/../.." || exit 2
BUILD=${BUILD:-build}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
number=0 failed=0

ok() { # title, command: one TAP line
    local title=$1
    shift
    number=$((number + 1))
    if ("$@") >"$scratch/said" 2>&1; then
        echo "ok $number - install: $title"
    else
        echo "not ok $number - install: $title"
        sed 's/^/# /' "$scratch/said" | tail -20
        failed=1
    fi
}
made() {
    make -s BUILD="$BUILD" DESTDIR="$scratch/stage" PREFIX=/opt/weft "$@"
}
prefix=$scratch/stage/opt/weft
weft=$prefix/bin/weft

files() {
    [ -x "$weft" ] && [ -s "$prefix/share/man/man1/weft.1" ] &&
        [ -s "$prefix/share/bash-completion/completions/weft" ] &&
        [ "$(cd "$prefix/share/weft" && ls topologies/*.ini workloads/*.ini plots/*.gp)" = \
            "$(ls topologies/*.ini workloads/*.ini plots/*.gp)" ]
}
plays() { # nothing of the tree is near: only ../share/weft is left
    cd "$scratch" && unset WEFT_DATA &&
        "$weft" list scenarios | grep -q leaf-spine-64 &&
        "$weft" run leaf-spine-64 --workload incast-victim --out played --quiet &&
        [ "$(wc -l <played/flows.csv)" = 8 ] &&
        "$weft" check main-comparison | grep -q '64 hosts'
}
lost() { # the test can fail: without share/weft there is no such scenario
    mkdir -p "$scratch/alone/bin" && cp "$weft" "$scratch/alone/bin/" && cd "$scratch" &&
        ! WEFT_DATA= alone/bin/weft run leaf-spine-64 --workload incast --out lost --quiet
}
complete_line() { # the line so far: what completion offers, one a line
    bash -c 'PATH=$1:$PATH
        . "$2" || exit 1
        complete -p weft >/dev/null || exit 1
        read -ra COMP_WORDS <<<"$3"
        [[ $3 == *" " ]] && COMP_WORDS+=("")
        COMP_LINE=$3 COMP_POINT=${#3} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _weft && printf "%s\n" "${COMPREPLY[@]}"' _ "$prefix/bin" \
        "$prefix/share/bash-completion/completions/weft" "$1"
}
offers() { # line, words...: all of them are among what is offered
    local line=$1 word
    complete_line "$line" >"$scratch/offered" || return 1
    for word in "${@:2}"; do
        grep -qx -- "$word" "$scratch/offered" || { echo "'$line': no $word"; cat "$scratch/offered"; return 1; }
    done
}
completes() {
    cd "$scratch" &&
        offers 'weft ' run check compare crosscheck list params selftest &&
        offers 'weft che' check &&
        offers 'weft run --s' --set= --seed= &&
        offers 'weft run leaf' leaf-spine-64 &&
        offers 'weft run --topology cl' clos &&
        offers 'weft run --workload po' poisson &&
        offers 'weft check --workload=al' allreduce alltoall &&
        offers 'weft run --engine ' native ns3 ns3:p2p ns3:ip &&
        offers 'weft run --engine=na' native &&
        offers 'weft run --engine ns3:' p2p ip &&
        offers 'weft crosscheck leaf' leaf-spine-64 &&
        offers 'weft list tr' transports &&
        offers 'weft params meta' metaroce &&
        offers 'weft run --set tr' transport. &&
        offers 'weft run --set run.' run.seed= run.series_step= &&
        offers 'weft run --set transport.na' transport.name= &&
        offers 'weft run --set transport.ack' transport.ack_every= &&
        offers 'weft run --set workload.se' workload.senders=
}
page() {
    groff -man -mdoc -Tutf8 -ww -z "$prefix/share/man/man1/weft.1" 2>"$scratch/warnings"
    cat "$scratch/warnings"
    [ ! -s "$scratch/warnings" ] &&
        groff -mdoc -Tascii "$prefix/share/man/man1/weft.1" | sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g' >"$scratch/page" &&
        for word in NAME SYNOPSIS DESCRIPTION ENVIRONMENT FILES 'EXIT STATUS' EXAMPLES series.csv; do
            grep -q "$word" "$scratch/page" || { echo "no $word"; return 1; }
        done
}
options() { # every option and command that the program knows stands in the page
    for command in run check compare crosscheck fluid params selftest; do
        grep -q "Cm $command" docs/weft.1 || { echo "no $command"; return 1; }
        for option in $("$weft" $command --help | sed -n 's/^ *\(-., \)\{0,1\}--\([a-z-]*\).*/\2/p'); do
            grep -q -- "-$option" docs/weft.1 || { echo "no --$option of $command"; return 1; }
        done
    done
}
removed() {
    made uninstall && [ -z "$(find "$scratch/stage" -type f)" ] && [ ! -e "$prefix/share/weft" ]
}

ok 'make install puts program, page, completion and scenarios in their places' eval 'made install && files'
ok 'the installed program plays a ready scenario' plays
ok 'a program without its scenarios says so' lost
ok 'the completion sources, and completes by what the program says' completes
if command -v groff >/dev/null; then
    ok 'the manual page has no fault' page
else
    number=$((number + 1))
    echo "ok $number - install: the manual page # SKIP no groff here"
fi
ok 'the manual page names every option' options
ok 'make uninstall leaves no file' removed
echo "1..$number"
exit $failed
