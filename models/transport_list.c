/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/transport.h"
#include <string.h>

extern const struct transport_ops transport_rocev2, transport_metaroce, transport_example;

const struct transport_ops *const transport_list[] = {
    &transport_rocev2,
    &transport_metaroce,
    &transport_example,
    NULL,
};

const struct transport_ops *transport_find(const char *name)
{
    for (int i = 0; transport_list[i]; i++)
        if (strcmp(transport_list[i]->name, name) == 0)
            return transport_list[i];
    return NULL;
}

const char *transport_fault(const struct transport_ops *ops)
{
    if (!ops->name || !ops->summary || !ops->source)
        return "a name, a summary or a source is missing";
    if (!ops->params || ops->config_size < sizeof(struct transport_common))
        return "its parameter table or the size of its configuration is missing";
    if (ops->connection_size < sizeof(struct connection))
        return "its connection does not begin with struct connection";
    if (!ops->open || !ops->close || !ops->post || !ops->pull || !ops->receive)
        return "one of open, close, post, pull, receive is missing";
    return NULL;
}

struct transport_need transport_need(const struct transport_profile *profile, int64_t n_ports,
                                     int64_t n_out, int64_t n_posted)
{
    struct transport_need need = {.n_ports = n_ports,
                                  .n_out = n_out,
                                  .n_posted = n_posted,
                                  .bytes = (double)profile->ops->connection_size,
                                  .n_replies = 1,
                                  .work = 1,
                                  .n_nics = 1};

    if (profile->ops->need)
        profile->ops->need(profile->config, &need);
    return need;
}

int64_t transport_frame_bytes(const struct transport_profile *profile)
{
    const struct transport_common *common = profile->config;

    return MAX(profile->ops->frame_bytes ? profile->ops->frame_bytes(profile->config)
                                         : common->payload + common->header,
               common->ack_bytes);
}
