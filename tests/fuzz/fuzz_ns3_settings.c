/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations of the ns-3 family. */
#include "sim/app/settings_ns3.h"
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("ENABLE_QCN 1\nKMIN_MAP 2 25000000000 100 100000000000 400\nKMAX_MAP 2 25000000000 "
              "400 100000000000 1600\nPMAX_MAP 2 25000000000 0.2 100000000000 0.2\nLINK_DOWN 100 0 "
              "1\nCC_MODE 1\nRATE_AI 50Mb/s\n")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int file = fuzz_open(data, size, path, sizeof path);
    struct settings settings;
    GError *error = NULL;

    if (!settings_ns3_read(&settings, path, &error) && (!error || !*error->message))
        abort();
    g_clear_error(&error);
    settings_clear(&settings);
    close(file);
    return 0;
}

FUZZ_TARGET("ns3_settings", seeds, "ns3_hpcc/*config.txt", "negative/config*", "simai/*.conf")
