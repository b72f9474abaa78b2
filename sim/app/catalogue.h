/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that has a name and one sentence: for `weft list`. */
#ifndef WEFT_SIM_APP_CATALOGUE_H
#define WEFT_SIM_APP_CATALOGUE_H

#include "sim/app/kinds.h"

struct catalogue {
    const char *plural;  /* "queues" */
    const char *setting; /* the key that takes one of them: "queue.kind" */
    /* Name, summary and source of number `index`; false past the last. */
    bool (*at)(int index, struct kind *kind);
};

extern const struct catalogue catalogue_list[]; /* ends with plural == NULL */

#endif
