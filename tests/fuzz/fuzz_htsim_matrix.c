/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connection matrices of htsim. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("Nodes 16\nConnections 2\nTriggers 1\n0->13 id 1 start 0 size 2000 send_done_trigger "
              "1\n1->2 trigger 1 size 5\ntrigger id 1 barrier count 1\n")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_workload("htsim", "file", "", data, size);
    fuzz_workload("htsim", "file", "lenient=on", data, size);
    return 0;
}

FUZZ_TARGET("htsim_matrix", seeds, "negative/cm*", "htsim_cm/csg*")
