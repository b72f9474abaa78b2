#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bindings for other programs: installed header and library build docs/examples/ns3c_example.c,
# without a warning and far from the tree, and it says what arithmetic says: 200 packets of 83.56 ns
# one after the other and two links of 500 ns, after a first packet's 83.56 ns.
. "$(dirname "$0")/../tap.bash"
BUILD=${BUILD:-build}
[ -x "$BUILD/weft-ns3" ] || { echo "ok 1 - ns3c # SKIP no weft-ns3 here: libns3-dev"; exit 0; }
example=$PWD/docs/examples/ns3c_example.c
prefix=$scratch/stage/opt/weft

built() { # program, source, option...
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" "${@:3}" -o "$scratch/$1" "$2" \
        -L"$prefix/lib" -lns3c -lns3-point-to-point -lns3-internet -lns3-traffic-control -lns3-network \
        -lns3-core -lstdc++
}
example() {
    make -s BUILD="$BUILD" DESTDIR="$scratch/stage" PREFIX=/opt/weft install &&
        [ "$(wc -l <"$example")" -lt 60 ] && cd "$scratch" && built example "$example" &&
        ./example >said-example && cat said-example && grep -q '^200 received, the last after 17795560 ps;' said-example
}
same_in_both_forms() {
    sed 's/NS3C_IP/NS3C_P2P/' "$example" >"$scratch/p2p.c" && cd "$scratch" && built p2p p2p.c &&
        ./p2p | cmp - said-example
}
alone() { # the header needs nothing else, in C and in C++
    cd "$scratch" && echo '#include <ns3c.h>' >header.c && gcc -std=c11 -Wall -Wextra -Wpedantic -Werror \
        -I"$prefix/include" -c header.c && g++ -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" -x c++ -c header.c
}

ok 'the example is built from what is installed, and runs' example
ok 'both forms say the same' same_in_both_forms
ok 'the header stands alone' alone
echo "1..$number"
exit $failed
