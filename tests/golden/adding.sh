#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/ADDING.md: a new transport is one file and one line. Done in a copy of the source.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tar cf - --exclude=./build --exclude=./.git --exclude=./results . | tar xf - -C "$copy"
cd "$copy" || exit 1
sed 's/example/mine/g' models/transport_example.c >models/transport_mine.c
sed -i 's/transport_example;/transport_example, transport_mine;/; s/^    &transport_example,/&\n    \&transport_mine,/' \
    models/transport_list.c
changed=$(diff "$OLDPWD/models/transport_list.c" models/transport_list.c | grep -c '^>')
[ "$changed" -le 2 ] && echo "ok - one file and one line in a list" || echo "not ok - $changed lines changed in the list"
make -s -j2 BUILD="$copy/build" >make.log 2>&1 && echo "ok - it builds" || { echo "not ok - it builds"; tail -5 make.log; }
"$copy/build/weft" list transports | grep -q '^ *mine ' && echo "ok - it is listed" || echo "not ok - it is listed"
"$copy/build/weft" run --topology star --workload permutation --set topology.hosts=4 --set transport.name=mine \
    --out "$copy/out" >/dev/null && echo "ok - it plays" || echo "not ok - it plays"
grep -q ',mine,' "$copy/out/flows.csv" && echo "ok - its flows carry its name" || echo "not ok - its flows carry its name"
