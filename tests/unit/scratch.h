/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of readers: a folder of the test program's own, where the system keeps such folders,
 * and the mutations of a valid text.
 */
#ifndef WEFT_TESTS_UNIT_SCRATCH_H
#define WEFT_TESTS_UNIT_SCRATCH_H

#include "sim/core/random.h"
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>

static char *scratch_folder;

/* Set-up and tear-down of a group; the folder must be empty again at the end. */
static int scratch_make(void **state)
{
    (void)state;
    scratch_folder = g_dir_make_tmp("weft-test-XXXXXX", NULL);
    return scratch_folder ? 0 : -1;
}

static int scratch_remove(void **state)
{
    int status = g_rmdir(scratch_folder);

    (void)state;
    g_clear_pointer(&scratch_folder, g_free);
    return status;
}

/* Writes bytes to a file of the folder; its path (g_free). */
static G_GNUC_UNUSED char *scratch_write(const char *name, const char *bytes, size_t length)
{
    char *path = g_build_filename(scratch_folder, name, NULL);
    FILE *file = fopen(path, "w");

    g_assert_nonnull(file);
    g_assert_cmpuint(fwrite(bytes, 1, length, file), ==, length);
    fclose(file);
    return path;
}

/* Replaces up to 3 bytes by some of `odd`, and cuts one text in four short; the new length. */
static G_GNUC_UNUSED size_t scratch_mutate(struct random_stream *stream, char *text, size_t length,
                                           const char *odd, size_t n_odd)
{
    for (uint64_t k = random_below(stream, 4); k > 0; k--) {
        uint64_t at = random_below(stream, length);

        text[at] = odd[random_below(stream, n_odd)];
    }
    return random_below(stream, 4) == 0 ? random_below(stream, length) : length;
}

#endif
