#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No writable data at file scope, nor static inside a function: many runs share a process. Read from
# the symbols of our objects: nothing in .data, .bss, common or thread-local storage. (Constant
# tables that hold pointers are in .data.rel.ro, which is read-only once the program is loaded.)
# One exception, not ours: the 4 bytes "q.N" in which GLib's G_DEFINE_QUARK keeps the number of a name.
# Not looked at: models/ns3/ns3c.cc, for ns-3 has one simulator a process.
# The check is first shown an object with one fault of each kind.
cd "$(dirname "$0")/../.." || exit 2
BUILD=${BUILD:-build}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

check() { # objects: a line "OBJECT: SYMBOL in SECTION" for each writable datum
    for object; do
        nm -f sysv "$object" | awk -F'|' -v object="$object" '
            function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
            NF >= 7 && trim($3) ~ /^[bBdDCsSgGVvu]$/ {
                name = trim($1); section = trim($7); bytes = trim($5)
                if (section ~ /^\.data\.rel\.ro/) next
                if (name ~ /^q\.[0-9]+$/ && bytes ~ /^0*4$/) next
                print object ": " name " in " section
            }'
    done
}

cat >"$scratch/bad.c" <<'END'
int bad_zero;
int bad_set = 1;
static int bad_static;
static int bad_static_set = 2;
_Thread_local int bad_thread;
const char *bad_pointer = "points to a constant, and is none";
int bad_array[1000];
__attribute__((weak)) int bad_weak = 3;
static const int good_number = 4;
const char *const good_table[] = {"a", "b"};
static const char *const good_static_table[] = {"c", "d"};
int good_function(int i);
int good_function(int i)
{
    static int bad_local;
    static const char *const good_local[] = {"e", "f"};

    return bad_static++ + bad_static_set++ + bad_local++ + good_number + good_local[i & 1][0] +
           good_static_table[i & 1][0];
}
END
for flags in "-O0" "-O2 -fcommon" "-O2 -fPIE" "-O2 -fno-PIE"; do
    # shellcheck disable=SC2086
    ${CC:-gcc} $flags -c "$scratch/bad.c" -o "$scratch/bad${flags//[^a-zA-Z0-9]/_}.o" || exit 2
done
check "$scratch"/bad*.o >"$scratch/found"
found=$(grep -c ': bad_' "$scratch/found")
if [ "$found" = 36 ] && ! grep -q ': good' "$scratch/found"; then
    echo "ok 1 - globals: the 9 faults of a bad object are found under 4 sets of flags, and no other"
else
    echo "not ok 1 - globals: $found faults found of 36"
    sed 's/^/# /' "$scratch/found"
fi

objects=()
for source in sim/*/*.c models/*.c models/ns3/*.c topologies/*.c workloads/*.c; do
    [ -f "$BUILD/obj/${source%.c}.o" ] && objects+=("$BUILD/obj/${source%.c}.o")
done
check "${objects[@]}" >"$scratch/found"
if [ ${#objects[@]} -lt 10 ]; then
    echo "not ok 2 - globals: only ${#objects[@]} objects in $BUILD/obj; is it built?"
    echo none >"$scratch/found"
elif [ -s "$scratch/found" ]; then
    echo "not ok 2 - globals: no writable data in ${#objects[@]} objects"
    sed 's/^/# /' "$scratch/found"
else
    echo "ok 2 - globals: no writable data in ${#objects[@]} objects"
fi
echo 1..2
[ ! -s "$scratch/found" ]
