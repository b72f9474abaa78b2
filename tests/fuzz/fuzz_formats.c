/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recogniser of formats: any bytes. */
#include "sim/app/formats.h"
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {FUZZ_SEED("3 1 2\n"),
                                         FUZZ_SEED("<?xml version='1.0'?><!-- x --><system>"),
                                         FUZZ_SEED("a,b,rate,delay\n")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int file = fuzz_open(data, size, path, sizeof path);
    GError *error = NULL;

    if (!format_recognise(path, &error) && (!error || !*error->message))
        abort();
    g_clear_error(&error);
    close(file);
    return 0;
}

FUZZ_TARGET("formats", seeds, "negative/*", "goal/*", "astra_sim/*", "nccl_tests_log/*",
            "booksim/*")
