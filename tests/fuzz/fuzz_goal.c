/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GOAL schedules, text and binary. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("num_ranks 2\nrank 0 {\n// c\na: send 10b to 1 tag 5\nb: calc 3 cpu 0\nb irequires "
              "a\n}\nrank 1 {\n/* c */ a: recv 10b from -1 tag -1\n}\n"),
    FUZZ_SEED(
        "\x7f\x10\0\0\0\0\0\0\1\0\0\0\0\0\26\0\0\0\0\0\0\0\65\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_workload("goal", "file", "", data, size);
    return 0;
}

FUZZ_TARGET("goal", seeds, "negative/goal*", "goal/*.bin", "goal/*.goal")
