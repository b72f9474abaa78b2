/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow files of the ns-3 family. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("2\n0 1 3 100 1000 2\n1 0 3 100 5000000000 2.5\nprose\n")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_workload("ns3", "file", "", data, size);
    fuzz_workload("ns3", "file", "count=all", data, size);
    return 0;
}

FUZZ_TARGET("ns3_flows", seeds, "negative/flow*", "ns3_hpcc/powertcp_flow*")
