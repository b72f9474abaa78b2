/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topologies of NCCL. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {
    FUZZ_SEED("<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"a\" class=\"0x060400\" "
              "link_speed=\"16 GT/s\" link_width=\"16\"><pci class=\"0x030200\" link_speed=\"16 "
              "GT/s\" link_width=\"16\"/><pci class=\"0x020700\" link_speed=\"16 GT/s\" "
              "link_width=\"16\"><nic><net speed=\"100000\"/></nic></pci></pci></cpu></system>")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_topology("nccl", "", data, size);
    return 0;
}

FUZZ_TARGET("nccl", seeds, "nccl_topo_xml/*.xml", "simgrid_platform/*.xml")
