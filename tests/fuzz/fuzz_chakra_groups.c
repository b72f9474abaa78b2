/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of communicator groups, beside a trace that is read as it is. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {FUZZ_SEED("{\"0\": [0, 1, 2], \"1\": [3,4] }")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t trace[] = "\7\n\0050.0.4\1\10";
    char path[64], more[96];
    int file = fuzz_open(data, size, path, sizeof path);

    snprintf(more, sizeof more, "ranks=8|groups_file=%s", path);
    fuzz_workload("chakra", "file", more, trace, sizeof trace - 1);
    close(file);
    return 0;
}

FUZZ_TARGET("chakra_groups", seeds, "astra_sim/*.json")
