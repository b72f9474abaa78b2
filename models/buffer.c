/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/buffer.h"
#include "sim/core/units.h"

int64_t buffer_share_bytes(const struct buffer *buffer, int64_t alpha_ppt)
{
    return (int64_t)((__int128)(buffer->pool_bytes - buffer->used_bytes) * alpha_ppt / UNITS_PPT);
}

static int64_t per_port_limit(const struct buffer_rule *rule, const struct buffer *buffer,
                              int64_t port_limit_bytes)
{
    (void)rule;
    (void)buffer;
    return port_limit_bytes;
}

static int64_t dynamic_limit(const struct buffer_rule *rule, const struct buffer *buffer,
                             int64_t port_limit_bytes)
{
    (void)port_limit_bytes;
    return buffer_share_bytes(buffer, rule->alpha_ppt);
}

static int64_t fixed_limit(const struct buffer_rule *rule, const struct buffer *buffer,
                           int64_t port_limit_bytes)
{
    (void)buffer;
    (void)port_limit_bytes;
    return rule->port_bytes;
}

static const struct buffer_ops per_port = {"per_port", "Each queue by itself.", per_port_limit};
static const struct buffer_ops dynamic = {"dynamic", "alpha x what is free.", dynamic_limit};
static const struct buffer_ops fixed = {"fixed", "The same for each queue.", fixed_limit};

const struct buffer_ops *buffer_choose(const struct buffer_config *config, struct buffer_rule *rule)
{
    *rule = (struct buffer_rule){.alpha_ppt = config->alpha, .port_bytes = config->port_size};
    if (config->kind == 0)
        return &per_port;
    return config->threshold == 0 ? &dynamic : &fixed;
}
