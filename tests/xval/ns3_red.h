/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ns-3's RedQueueDisc at a constant queue, for C. */
#ifndef WEFT_TESTS_XVAL_NS3_RED_H
#define WEFT_TESTS_XVAL_NS3_RED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Marks among `n` packets that each find `waiting` others, one leaving for each that comes.
 * Thresholds in packets; no average (QW = 1), marks instead of drops, not gentle. ns-3's random
 * numbers are those of `seed`.
 */
int64_t ns3_red_marks(uint32_t seed, double least, double most, double most_probability,
                      uint32_t waiting, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
