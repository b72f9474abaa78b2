/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions of flow sizes. */
#include "tests/fuzz/fuzz.h"
#include "workloads/cdf.h"

static const struct fuzz_seed seeds[] = {FUZZ_SEED("0 0\n1000 50\n1000 60\n2000 100\n"),
                                         FUZZ_SEED("10 1 0.5 # x\n20 2 1\n")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int file = fuzz_open(data, size, path, sizeof path);
    struct cdf cdf;
    GError *error = NULL;

    if (cdf_read(&cdf, path, 1000, &error)) {
        struct random_stream stream = random_stream(1, 0, 0);

        if (cdf_mean(&cdf) == 0 || cdf_draw(&cdf, &stream) < 1)
            abort();
        cdf_clear(&cdf);
    }
    g_clear_error(&error);
    close(file);
    return 0;
}

FUZZ_TARGET("sizes", seeds, "negative/cdf*", "flow_cdf/*")
