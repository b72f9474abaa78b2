/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A key file, read strictly. GLib's GKeyFile merges groups of the same name and lets the last of
 * two equal keys win without a word, so a scan of our own comes first: repeated groups and keys,
 * lines outside a group and lines that are neither are errors with their line.
 */
#ifndef WEFT_SIM_APP_KEYFILE_H
#define WEFT_SIM_APP_KEYFILE_H

#include <glib.h>

#define KEYFILE_ERROR keyfile_error_quark()
GQuark keyfile_error_quark(void);
enum keyfile_error { KEYFILE_ERROR_FILE, KEYFILE_ERROR_FORMAT };

/* "key = value", or the head of a group: then key and value are NULL. */
struct keyfile_line {
    char *group, *key, *value;
    guint line; /* from 1 */
};

/* The lines of a file, in order: struct keyfile_line *; g_ptr_array_unref. Errors say FILE:LINE. */
GPtrArray *keyfile_read(const char *path, GError **error);

#endif
