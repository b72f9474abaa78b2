/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/version.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif
#ifndef WEFT_BUILD
#define WEFT_BUILD "unknown"
#endif

const char *version_text(void)
{
    return WEFT_VERSION;
}

const char *version_build(void)
{
    return WEFT_BUILD;
}
