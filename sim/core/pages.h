/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for what a run touches at random: from huge pages, if the system has them. With ordinary
 * ones each access would cost a miss of the page table, too.
 */
#ifndef WEFT_SIM_CORE_PAGES_H
#define WEFT_SIM_CORE_PAGES_H

#include <stddef.h>

#define PAGES_HUGE_BYTES ((size_t)1 << 21)

/* At least `bytes`, not zeroed, aligned to 128 or, from PAGES_HUGE_BYTES on, to that; free(). NULL
 * if there is none. */
void *pages_new(size_t bytes);

#endif
