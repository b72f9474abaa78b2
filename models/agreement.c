/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/agreement.h"
#include <string.h>

struct agreement {
    const struct transport_profile *from, *to;
    void *config;
};

static void agreement_free(void *data)
{
    struct agreement *agreement = data;

    param_clear(agreement->from->ops->params, agreement->config);
    g_free(agreement->config);
    g_free(agreement);
}

void agreements_init(struct agreements *agreements)
{
    agreements->list = g_ptr_array_new_with_free_func(agreement_free);
}

void agreements_clear(struct agreements *agreements)
{
    g_clear_pointer(&agreements->list, g_ptr_array_unref);
}

/* Takes one parameter over from the receiver's settings, by its own spelling. */
static void take(const struct transport_ops *ops, const char *name, const void *receiver,
                 void *config)
{
    const struct param *param = param_find(ops->params, name);
    g_autofree char *value = NULL;
    gboolean read_back;

    assert(param);
    value = param_get(param, receiver);
    read_back = param_set(param, config, value, NULL);
    assert(read_back);
}

static void *make_config(const struct transport_profile *from, const struct transport_profile *to)
{
    const struct transport_ops *ops = from->ops;
    void *config = g_malloc0(ops->config_size);
    struct transport_common *common = config;
    const struct transport_common *receiver = to->config;

    param_copy(ops->params, from->config, config, ops->config_size);
    common->payload = MIN(common->payload, receiver->payload);
    common->ack_bytes = receiver->ack_bytes;
    for (int i = 0; ops->receiver_params && ops->receiver_params[i]; i++)
        take(ops, ops->receiver_params[i], to->config, config);
    if (ops->agree)
        ops->agree(to->config, config);
    return config;
}

const void *agreements_find(struct agreements *agreements, const struct transport_profile *from,
                            const struct transport_profile *to, GError **error)
{
    struct agreement *agreement;

    if (from->config == to->config)
        return from->config;
    for (guint i = 0; i < agreements->list->len; i++) {
        agreement = g_ptr_array_index(agreements->list, i);
        if (agreement->from->config == from->config && agreement->to->config == to->config)
            return agreement->config;
    }
    agreement = g_new(struct agreement, 1);
    *agreement = (struct agreement){from, to, make_config(from, to)};
    g_ptr_array_add(agreements->list, agreement);
    if (from->ops->check && !from->ops->check(agreement->config, error)) {
        g_prefix_error(error, "transport '%s' to transport '%s': ", from->name, to->name);
        return NULL;
    }
    return agreement->config;
}
