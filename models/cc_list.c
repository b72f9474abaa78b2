/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/cc.h"

const struct cc_ops *const cc_list[] = {&cc_fixed, &cc_dcqcn, NULL};

const char *cc_fault(const struct cc_ops *ops)
{
    if (!ops->name || !ops->summary || !ops->source)
        return "a name, a summary or a source is missing";
    if (!ops->derive || !ops->start)
        return "derive or start is missing";
    if (ops->notified && !ops->sent)
        return "it reacts to notifications, but never brings its rate up to date";
    return NULL;
}
