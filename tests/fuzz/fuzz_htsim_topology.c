/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fat trees of htsim; sizes up to 999, for it builds what it is asked. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("Nodes 16\nTiers 2\nPodsize 16\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up "
              "4\nRadix_Down 4\nDownlink_Latency_ns 100\nTier 1\nDownlink_speed_Gbps "
              "100\nRadix_Down 4\nDownlink_Latency_ns 100\n")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!fuzz_is_large(data, size, 3))
        fuzz_topology("htsim", "", data, size);
    return 0;
}

FUZZ_TARGET("htsim_topology", seeds, "htsim_topo/*.topo")
