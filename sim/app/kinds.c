/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/kinds.h"
#include "models/transport.h"
#include "topologies/topology.h"
#include "workloads/workload.h"
#include <string.h>

static bool topology_at(int index, struct kind *kind)
{
    const struct topology_ops *ops = topology_list[index];

    if (ops)
        *kind =
            (struct kind){ops->name, ops->summary, ops->source, ops->config_size, ops->params, ops};
    return ops != NULL;
}

static bool workload_at(int index, struct kind *kind)
{
    const struct workload_ops *ops = workload_list[index];

    if (ops)
        *kind =
            (struct kind){ops->name, ops->summary, ops->source, ops->config_size, ops->params, ops};
    return ops != NULL;
}

static bool transport_at(int index, struct kind *kind)
{
    const struct transport_ops *ops = transport_list[index];

    if (ops)
        *kind =
            (struct kind){ops->name, ops->summary, ops->source, ops->config_size, ops->params, ops};
    return ops != NULL;
}

const struct seam kinds_seams[KINDS_N_SEAMS] = {
    {"topology", "topologies", "kind", topology_at},
    {"workload", "workloads", "kind", workload_at},
    {"transport", "transports", "name", transport_at},
};

const struct seam *kinds_seam(const char *group)
{
    for (int i = 0; i < KINDS_N_SEAMS; i++)
        if (strcmp(kinds_seams[i].group, group) == 0)
            return &kinds_seams[i];
    return NULL;
}

bool kinds_find(const struct seam *seam, const char *name, struct kind *kind)
{
    for (int i = 0; seam->at(i, kind); i++)
        if (strcmp(kind->name, name) == 0)
            return true;
    return false;
}

const char **kinds_names(const struct seam *seam, size_t *n)
{
    GPtrArray *names = g_ptr_array_new();
    struct kind kind;

    for (int i = 0; seam->at(i, &kind); i++)
        g_ptr_array_add(names, (char *)(uintptr_t)kind.name);
    *n = names->len;
    return (const char **)g_ptr_array_free(names, FALSE);
}

bool kinds_any_has(const struct seam *seam, const char *key)
{
    struct kind kind;

    for (int i = 0; seam->at(i, &kind); i++)
        if (param_find(kind.params, key))
            return true;
    return false;
}
