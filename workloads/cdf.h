/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A law of flow sizes: a cumulative distribution given as points "SIZE SHARE", between which sizes
 * are interpolated linearly. Two points of one size are a point mass, and so is a first point whose
 * share is above 0. Shares are fractions that end with 1 or percentages that end with 100; which
 * of the two follows from the last point. The same law gives the same draws in both.
 * Source of the form: the traffic generators of HPCC, ConWeave and the DCTCP simulations.
 */
#ifndef WEFT_WORKLOADS_CDF_H
#define WEFT_WORKLOADS_CDF_H

#include "sim/core/random.h"
#include <glib.h>
#include <stdbool.h>

struct cdf_point {
    int64_t bytes;
    int64_t share_ppt;   /* of flows of at most this size, parts per trillion */
    uint64_t share_bits; /* the same as a threshold for 64 uniform bits */
};

struct cdf {
    GArray *points; /* struct cdf_point, both rising */
    bool percent;   /* how it was written */
};

/*
 * Reads a file: a point a line, SIZE SHARE or SIZE INDEX SHARE, # begins a comment. `unit_bytes` is
 * what a size of 1 stands for. The error names file, line and what would be right.
 */
gboolean cdf_read(struct cdf *cdf, const char *path, int64_t unit_bytes, GError **error);

/* The same from text in which points end with ';' or a new line; `name` stands for the path. */
gboolean cdf_parse(struct cdf *cdf, const char *name, const char *text, int64_t unit_bytes,
                   GError **error);

/* All flows of one size. */
void cdf_constant(struct cdf *cdf, int64_t bytes);

void cdf_clear(struct cdf *cdf);

/* A size, 1 byte or more, to the nearest byte. One draw of the stream. */
int64_t cdf_draw(const struct cdf *cdf, struct random_stream *stream);

/* The mean under linear interpolation, exact, in units of 1 / (2 x 10^12) byte. */
unsigned __int128 cdf_mean(const struct cdf *cdf);
#define CDF_MEAN_UNIT 2000000000000 /* of them are a byte */

#endif
