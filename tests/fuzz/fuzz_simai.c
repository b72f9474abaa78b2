/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workloads of SimAI. */
#include "tests/fuzz/fuzz.h"

static const struct fuzz_seed seeds[] = {FUZZ_SEED(
    "MICRO model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4 checkpoints: 1 0 "
    "checkpoint_initiates: 0\n1\na -1 10 ALLREDUCE 1000 1 ALLTOALL_EP 10 1 ALLGATHER_DP_EP 0 1\n")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_workload("simai", "file", "layers=4", data, size);
    return 0;
}

FUZZ_TARGET("simai", seeds, "negative/simai*", "simai/micro*")
