/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/pages.h"
#include <stdlib.h>
#include <sys/mman.h>

void *pages_new(size_t bytes)
{
    size_t alignment = bytes < PAGES_HUGE_BYTES ? 128 : PAGES_HUGE_BYTES;
    size_t whole = (bytes + alignment - 1) & ~(alignment - 1);
    void *memory = aligned_alloc(alignment, whole);

    if (memory && alignment == PAGES_HUGE_BYTES)
        madvise(memory, whole, MADV_HUGEPAGE); /* a wish: nothing depends on it */
    return memory;
}
