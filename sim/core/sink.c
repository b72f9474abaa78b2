/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/sink.h"

const char *sink_drop_name(enum sink_drop cause)
{
    static const char *const names[] = {
        [SINK_DROP_LOSS] = "loss",         [SINK_DROP_QUEUE] = "queue",
        [SINK_DROP_NO_ROUTE] = "no_route", [SINK_DROP_BUFFER] = "buffer",
        [SINK_DROP_HEADROOM] = "headroom", [SINK_DROP_LISTED] = "listed",
        [SINK_DROP_HOST] = "host",         [SINK_DROP_LINK_DOWN] = "link_down"};

    return names[cause];
}

const char *sink_status_name(enum sink_status status)
{
    static const char *const names[] = {
        [SINK_FINISHED] = "finished", [SINK_UNFINISHED] = "unfinished", [SINK_FAILED] = "failed"};

    return names[status];
}

const char *sink_time_name(enum sink_time time)
{
    static const char *const names[] = {[SINK_TIME_COMPUTE] = "compute",
                                        [SINK_TIME_COLLECTIVE] = "collective",
                                        [SINK_TIME_HOST] = "host",
                                        [SINK_TIME_NETWORK] = "network",
                                        [SINK_TIME_RECOVERY] = "recovery"};

    return names[time];
}
