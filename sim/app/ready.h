/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ready scenarios: key files NAME.ini in the folders topologies/ and workloads/ of, in
 * this order, the working folder, the tree in which the program was built (the nearest folder above
 * the program that has topologies/ and workloads/) or share/weft beside the bin/ in which it is
 * installed, and the folder named by WEFT_DATA.
 */
#ifndef WEFT_SIM_APP_READY_H
#define WEFT_SIM_APP_READY_H

#include <glib.h>

/* The folders that may hold topologies/, workloads/, plots/; g_strfreev. */
char **ready_roots(void);

/*
 * The path of the ready scenario `name`, in the folder `plural` ("topologies") or, if that is NULL,
 * in any; NULL if there is none. g_free.
 */
char *ready_find(const char *plural, const char *name);

/* All of them, as paths, by folder and name; char *, g_ptr_array_unref. */
GPtrArray *ready_list(const char *plural);

/* What a path is called: without folder and without .ini; g_free. */
char *ready_name(const char *path);

#endif
