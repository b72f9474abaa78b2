/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topologies of the ns-3 family, and the planes and tiers that are seen from links. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 12.5GBps 0.001ms 0.01\nprose\n"),
    FUZZ_SEED("5 2 1 1 4 H100\n2 3\n0 2 2400Gbps 0.000025ms 0\n1 2 2400Gbps 25ps 0\n0 3 100Gbps "
              "1us 0\n1 3 100Gbps 1us 0\n")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!fuzz_is_large(data, size, 4))
        fuzz_topology("ns3", "", data, size);
    if (!fuzz_is_large(data, size, 4))
        fuzz_topology("ns3", "count=all|scale_up=on|link_down=1us 0 2", data, size);
    return 0;
}

FUZZ_TARGET("ns3_topology", seeds, "negative/topo*", "simai/topo*", "ns3_hpcc/*topology.txt")
