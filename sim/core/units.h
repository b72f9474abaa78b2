/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quantities as users write them ("400Gbps", "12.5GBps", "1.5us", "4KiB", "64KB", "1%") and as the
 * simulator keeps them: int64 picoseconds, bytes, bits per second, parts per trillion. Parsing and
 * printing are exact decimal arithmetic; what does not fit a whole unit is refused, never rounded.
 */
#ifndef WEFT_SIM_CORE_UNITS_H
#define WEFT_SIM_CORE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

enum units_kind {
    UNITS_NUMBER, /* plain whole number */
    UNITS_TIME,   /* ps ns us ms s -> ps */
    UNITS_BYTES,  /* B kB KB MB GB TB, KiB MiB GiB TiB; a bare whole number is bytes -> bytes */
    UNITS_RATE,   /* bps kbps Mbps Gbps Tbps (bits), Bps kBps MBps GBps TBps (bytes) -> bit/s */
    UNITS_RATIO,  /* 0.01, 1e-3 or 1% -> parts per trillion */
};

#define UNITS_PPT INT64_C(1000000000000)

/*
 * Reads `text`. On failure returns false and sets *why to a fixed text that completes the sentence
 * "... is wrong: " (what would be right).
 */
bool units_parse(enum units_kind kind, const char *text, int64_t *value, const char **why);

/* The shortest exact spelling that units_parse() reads back; owned by the caller (g_free). */
char *units_format(enum units_kind kind, int64_t value);

/* For people, not for parsing: three significant digits ("1.34 MiB", "12.5 us"); g_free. */
char *units_display(enum units_kind kind, double value);

/* Picoseconds to send `bytes` at `rate_bps`, rounded to the nearest; bytes up to 2^60. */
static inline int64_t units_transmission_ps(int64_t bytes, int64_t rate_bps)
{
    unsigned __int128 bits_ps = (unsigned __int128)(uint64_t)bytes * UINT64_C(8000000000000);

    return (int64_t)((bits_ps + (uint64_t)rate_bps / 2) / (uint64_t)rate_bps);
}

#endif
