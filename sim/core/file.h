/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text file written whole or not at all: under a temporary name beside its own, then renamed. As
 * with tables, nothing is forced to the disk: that would cost more than a small run.
 */
#ifndef WEFT_SIM_CORE_FILE_H
#define WEFT_SIM_CORE_FILE_H

#include <glib.h>

#define FILE_ERROR file_error_quark()
GQuark file_error_quark(void);

/* The error names the path and why: "cannot write 'PATH': No space left on device". */
gboolean file_write(const char *path, const char *text, GError **error);

#endif
