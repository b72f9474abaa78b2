/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chakra traces: one file that two ranks play, and with groups of ranks. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("\7\n\0050.0.4\x34\x12\2ar\x18\7R\16\n\11is_cpu_op\xd8\1\0R\r\n\11comm_"
              "typeH\0R\r\n\11comm_sizeH\x64")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_workload("chakra", "file", "ranks=2", data, size);
    return 0;
}

FUZZ_TARGET("chakra", seeds, "negative/et*", "chakra_et/*.et")
