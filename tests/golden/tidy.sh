#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tree, tested like code: what style.md asks for and a machine can see. The check is first shown
# a tree with faults, and must name every one.
cd "$(dirname "$0")/../.." || exit 2
BUILD=$(realpath -m "${BUILD:-build}")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

sources() { # all that people write here
    find sim models topologies workloads tests plots bench docs/examples .ci Makefile 2>/dev/null -type f \
        \( -name '*.[ch]' -o -name '*.cc' -o -name '*.sh' -o -name '*.gp' -o -name '*.ini' -o -name Makefile \
        -o -path .ci/run \) | sort
}
c_sources() {
    sources | grep -E '\.([ch]|cc)$'
}
report() { # what is wrong; stdin: FILE:LINE:text or FILE
    sed -E "s|^([^:]*)(:[0-9]+)?.*|\1\2: $1|"
}

check_texts() { # in the present folder: a line for each fault
    for file in $(sources); do
        head -2 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || echo "$file"
    done | report 'no SPDX line'
    c_sources | LC_ALL=C.UTF-8 xargs -r grep -nE '^.{101}' /dev/null | report 'over 100 columns'
    c_sources | xargs -r grep -nP '\t' /dev/null | report 'a tab'
    c_sources | xargs -r grep -nE '[[:space:]]+$' /dev/null | report 'space at the end of a line'
    c_sources | xargs -r grep -nE '^[[:space:]]*#[[:space:]]*if[[:space:]]+0' /dev/null |
        report 'code switched off by #if 0'
    sources | grep -v '^tests/golden/tidy\.sh$' | xargs -r grep -nwE 'TODO|FIXME|XXX|HACK' /dev/null |
        report 'unfinished business'
    find models topologies workloads -name '*.[ch]' -o -name '*.cc' |
        xargs -r grep -nE '\b(v?printf|v?fprintf|puts|putchar|fputs|fwrite|g_print|g_printerr)[[:space:]]*\(' \
            /dev/null | report 'output belongs to sim/app and to tables'
    find models topologies workloads sim/core sim/stats -name '*.[ch]' -o -name '*.cc' |
        xargs -r grep -nE '\b(exit|_exit|abort)[[:space:]]*\(' /dev/null | report 'exit below main'
}

# A plug-in exports nothing but const ops. A .c with a .h of its own is a module and may export more,
# as may its parts: what module_part.c exports is declared in module.h. The lists name the plug-ins.
check_plugins() { # objects' folder
    for source in topologies/*.c workloads/*.c models/{transport,queue,route,cc,node}_*.c; do
        case $source in *list.c | *'*'*) continue ;; esac
        [ -f "${source%.c}.h" ] && continue
        [ -f "$1/${source%.c}.o" ] || continue
        module=${source%/*}/$(basename "${source%%_*}").h
        exported=$(nm -g --defined-only "$1/${source%.c}.o" | awk 'NF == 3 { print $2 " " $3 }')
        [ -n "$exported" ] || echo "$source: exports nothing"
        echo "$exported" | grep -v '^[RD] ' | while read -r _ name; do
            [ -n "$name" ] || continue
            grep -qw "$name" "$module" 2>/dev/null || echo "$source: exports $name, which is no ops"
        done
    done
}

verdict() { # number, title; stdin: faults
    faults=$(cat)
    if [ -z "$faults" ]; then
        echo "ok $1 - tidy: $2"
    else
        echo "not ok $1 - tidy: $2"
        echo "$faults" | sed 's/^/# /'
        touch "$scratch/failed"
    fi
}

bad=$scratch/bad
mkdir -p "$bad"/{sim/core,sim/stats,models,topologies,workloads,tests/unit,obj/models}
spdx='/* SPDX-License-Identifier: GPL-2.0-or-later */'
echo 'int unlicensed;' >"$bad/sim/core/a.c"
echo "title = unlicensed" >"$bad/workloads/a.ini"
printf '%s\n%0101d\n' "$spdx" 0 >"$bad/sim/core/b.c"
printf '%s\n%0100d\n' "$spdx" 0 >"$bad/sim/core/good.c"
printf '%s\n\tint tab;\nint space; \n#if 0\n#endif\n/* TODO */\n' "$spdx" >"$bad/tests/unit/c.c"
printf '%s\nprintf("x");\nfprintf(f, "x");\ng_snprintf(b, 1, "x");\nexit(1);\n' "$spdx" >"$bad/models/d.h"
cat >"$scratch/expected" <<'END'
models/d.h:2: output belongs to sim/app and to tables
models/d.h:3: output belongs to sim/app and to tables
models/d.h:5: exit below main
models/transport_bad.c: exports leak, which is no ops
sim/core/a.c: no SPDX line
sim/core/b.c:2: over 100 columns
tests/unit/c.c:2: a tab
tests/unit/c.c:3: space at the end of a line
tests/unit/c.c:4: code switched off by #if 0
tests/unit/c.c:6: unfinished business
workloads/a.ini: no SPDX line
END
printf '%s\nstruct o { int (*f)(void); };\nint leak(void);\nint leak(void)\n{\n    return 1;\n}\nextern const struct o transport_bad;\nconst struct o transport_bad = {leak};\n' \
    "$spdx" >"$bad/models/transport_bad.c"
sed -e 's/^int leak(void);//' -e 's/^int leak/static int leak/' -e 's/transport_bad/transport_good/' \
    "$bad/models/transport_bad.c" >"$bad/models/transport_good.c"
for name in bad good; do
    ${CC:-gcc} -c "$bad/models/transport_$name.c" -o "$bad/obj/models/transport_$name.o" || exit 2
done
(cd "$bad" && { check_texts; check_plugins obj; } | sort | diff "$scratch/expected" -) |
    verdict 1 'all faults of a bad tree are found, and nothing else'

check_texts | verdict 2 'licences, width, spaces, leftovers, output and exits where they belong'
check_plugins "$BUILD/obj" | verdict 3 'a plug-in exports its ops alone'
if command -v clang-format >/dev/null; then
    c_sources | xargs clang-format --dry-run 2>&1 | grep -oE '^[^:]+:[0-9]+' | sort -u -t: -k1,1 |
        report 'not as clang-format lays it out (make format)' | verdict 4 'layout'
else
    echo "ok 4 - tidy: layout # SKIP no clang-format here"
fi
echo 1..4
[ ! -e "$scratch/failed" ]
