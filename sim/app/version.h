/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which weft this is; the Makefile says it to version.c alone. */
#ifndef WEFT_SIM_APP_VERSION_H
#define WEFT_SIM_APP_VERSION_H

const char *version_text(void);  /* from git: "1a2b3c4-dirty" */
const char *version_build(void); /* compiler's options: "-O2" */

#endif
