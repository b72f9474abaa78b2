#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each command of the README's tour works, in the order in which it stands there, in an empty folder.
here=$PWD
case $WEFT in /*) weft=$WEFT ;; *) weft=$here/$WEFT ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
n=0
while IFS= read -r line; do
    command=${line//build\/weft/$weft}
    if [[ $line == *"FILE.topo"* ]]; then
        [ -d "$here/$WEFT_INPUTS" ] || continue
        command=${command/FILE.topo/$here/$WEFT_INPUTS/htsim_topo/uet_fat_tree_128_1os.topo}
        command=${command/FILE.cm/$here/$WEFT_INPUTS/htsim_cm/uet_perm_128n_128c_2MB.cm}
    fi
    if bash -c "$command" >out 2>&1; then
        echo "ok - README: $line"
    else
        echo "not ok - README: $line (exit $?)"
        sed 's/^/# /' out | tail -3
    fi
    n=$((n + 1))
done < <(grep -E '^    (build/weft|head|printf)' "$here/README.md")
[ $n -ge 12 ] && echo "ok - README has a tour" || echo "not ok - README has a tour"
png=$here/$(sed -n 's/.*](\(results[^)]*png\)).*/\1/p' "$here/README.md")
[ -s "$png" ] && echo "ok - README's picture is there" || echo "not ok - README's picture is there"
"$weft" params --markdown | cmp -s - "$here/docs/PARAMETERS.md" &&
    echo "ok - docs/PARAMETERS.md is what the program says" ||
    echo "not ok - docs/PARAMETERS.md is what the program says (make docs)"
for link in $(grep -oh '](\([a-zA-Z/]*\.md\))' "$here/README.md" | tr -d ']()'); do
    [ -f "$here/$link" ] && echo "ok - $link is there" || echo "not ok - $link is there"
done
