/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What node models need to know of a matrix product (sim/core/schedule.h). */
#ifndef WEFT_MODELS_GEMM_H
#define WEFT_MODELS_GEMM_H

#include "sim/core/schedule.h"

/* Bytes of an element by type, in the order of SCHEDULE_TYPES; TF32 lies in memory as FP32. */
static inline int64_t gemm_element_bytes(uint32_t type)
{
    static const int64_t sizes[] = {1, 2, 2, 4, 4};

    return sizes[type];
}

/* Operands and result, each once. */
static inline int64_t gemm_bytes(const struct schedule_gemm *gemm)
{
    int64_t m = gemm->m, n = gemm->n, k = gemm->k;

    return (m * k + k * n + m * n) * gemm_element_bytes(gemm->type);
}

/* Picoseconds of a product at a rate in Gflop/s. */
static inline int64_t gemm_ps(const struct schedule_gemm *gemm, int64_t gflops)
{
    unsigned __int128 n_flops = (unsigned __int128)2 * gemm->m * gemm->n * gemm->k;

    return (int64_t)(n_flops * 1000 / (uint64_t)gflops);
}

#endif
