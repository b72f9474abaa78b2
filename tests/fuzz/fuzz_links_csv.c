/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links as weft writes them. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("a,b,rate,delay,plane,tier,latency,loss,queue_a,queue_b\nh0,s0,100Gbps,1us,0,1,600ns,"
              "0.01,0B,1MB\nh1,s0,100Gbps,1us,0,1,,,,\n")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!fuzz_is_large(data, size, 4))
        fuzz_topology("graph", "", data, size);
    return 0;
}

FUZZ_TARGET("links_csv", seeds, "negative/none*")
