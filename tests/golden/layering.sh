#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An #include may point down only (docs/ARCHITECTURE.md, Layers):
#   sim/core                                 itself; GLib and, in table.c alone, libcsv
#   models, topologies, workloads, sim/stats sim/core and itself; GSL in sim/stats alone
#   sim/app                                  all of them
# and ns-3's headers in the C++ of models/ns3 alone.
# The check is first shown a tree with one fault of each kind, and must name every one.
cd "$(dirname "$0")/../.." || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

check() { # tree: a line "FILE:LINE: what is wrong" for each fault
    (cd "$1" && find sim models topologies workloads \( -name '*.[ch]' -o -name '*.cc' \) 2>/dev/null | sort |
        xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null) |
    sed -E 's/^([^:]*):([0-9]*):[[:space:]]*#[[:space:]]*include[[:space:]]*/\1 \2 /' |
    while read -r file line header _; do
        room=${file%/*}
        case $room in models/*) room=models ;; esac
        name=${header//[\"<>]/}
        fault=
        case $header in
        \"*\")
            case $room:$name in
            sim/app:sim/*/*.h | sim/app:models/*.h | sim/app:topologies/*.h | \
                sim/app:workloads/*.h) ;;
            *:sim/core/*.h) ;;
            "$room:$room"/*.h) ;;
            *) fault="$room may not know $name" ;;
            esac
            [ -f "$1/$name" ] || fault="no file $name, seen from the top"
            ;;
        \<*\>)
            case $room:$name in
            sim/stats:gsl/*) ;;
            *:gsl/*) fault="GSL belongs to sim/stats" ;;
            esac
            case $file:$name in
            models/ns3/*.cc:ns3/*) ;;
            *:ns3/*) fault="ns-3's own headers belong to models/ns3/*.cc" ;;
            sim/core/table.c:csv.h) ;;
            *:csv.h) fault="libcsv belongs to sim/core/table.c" ;;
            esac
            ;;
        *) fault="an include by macro" ;;
        esac
        [ -n "$fault" ] && echo "$file:$line: $fault"
    done
}

bad=$scratch/bad
mkdir -p "$bad"/{sim/core,sim/stats,sim/app,models/ns3,topologies,workloads}
for header in sim/core/event sim/stats/stats sim/app/run models/port topologies/topology \
    workloads/workload; do
    echo '/* empty */' >"$bad/$header.h"
done
include() { printf '#include %s\n' "${@:2}" >"$bad/$1"; }
include sim/core/bad.c '"models/port.h"' '"sim/stats/stats.h"' '"topologies/topology.h"'
include sim/stats/bad.c '"models/port.h"' '"sim/app/run.h"'
include models/bad.c '"sim/app/run.h"' '"workloads/workload.h"' '<gsl/gsl_rng.h>' '"../sim/core/event.h"'
include models/ns3/bad.c '"sim/stats/stats.h"' '<ns3/node.h>'
include models/ns3/bad.cc '"sim/app/run.h"'
include models/ns3/good.cc '"models/port.h"' '<ns3/node.h>' '<vector>'
include topologies/bad.c '"models/port.h"' '"workloads/workload.h"' '<csv.h>'
include workloads/bad.h '"topologies/topology.h"' '"models/port.h"' '"sim/core/none.h"'
include sim/app/bad.c '<gsl/gsl_fit.h>' 'MACRO'
include sim/app/good.c '"models/port.h"' '"sim/stats/stats.h"' '"topologies/topology.h"' '<glib.h>'
include sim/stats/good.c '<gsl/gsl_fit.h>' '"sim/core/event.h"'
include models/good.c '"models/port.h"' '"sim/core/event.h"' '<stdint.h>'
include sim/core/table.c '<csv.h>' '"sim/core/event.h"'

check "$bad" >"$scratch/found"
expected=$(cd "$bad" && find . -name 'bad.[ch]*' -exec cat {} + | grep -c include)
found=$(grep -cE '/bad\.[ch]+:' "$scratch/found")
if [ "$found" = "$expected" ] && ! grep -vE '/bad\.[ch]+:' "$scratch/found"; then
    echo "ok 1 - layering: all $expected faults of a bad tree are found, and nothing else"
else
    echo "not ok 1 - layering: $found faults found of $expected"
    sed 's/^/# /' "$scratch/found"
fi

check . >"$scratch/found"
if [ -s "$scratch/found" ]; then
    echo "not ok 2 - layering: includes point down only"
    sed 's/^/# /' "$scratch/found"
else
    echo "ok 2 - layering: includes point down only"
fi
echo 1..2
[ ! -s "$scratch/found" ]
