/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages as weft writes them. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("op,src,dst,bytes,start,transport,stream,after,duration,needs\nmessage,0,1,1000,0ps,,"
              "0,,,\ncompute,1,,,,,,0,5us,\njoin,,,,,,,\"0@sent;1\",,1\nreduce,2,,100,,,,2,,\n")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_workload("list", "file", "", data, size);
    return 0;
}

FUZZ_TARGET("messages_csv", seeds, "negative/none*")
