/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schedules of failures: profiles, platforms and lists. */
#include "sim/app/import_faults.h"
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("13 0\n14 1\n15 0\n16 1\nLOOPAFTER 6\n"),
    FUZZ_SEED("2 2000000\n4 3000000\nPERIODICITY 8\n"),
    FUZZ_SEED("time,object,change\n1ms,link:0,down\n2ms,switch:s1,rate=50%\n"),
    FUZZ_SEED(
        "<platform version=\"4.1\"><zone><link id=\"3\" state_file=\"x\"/></zone></platform>")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int file = fuzz_open(data, size, path, sizeof path);
    struct build build;
    GError *error = NULL;

    build_init(&build, 1, 0);
    if (!import_faults(path, NULL, "1s", &build, &error) && (!error || !*error->message))
        abort();
    g_clear_error(&error);
    build_clear(&build);
    close(file);
    return 0;
}

FUZZ_TARGET("faults", seeds, "simgrid_platform/*.profile", "simgrid_platform/*.xml")
