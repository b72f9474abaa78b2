/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of workloads, and what several of them share. A new workload is one line here. */
#include "sim/core/units.h"
#include "workloads/workload.h"
#include <string.h>

extern const struct workload_ops workload_list_csv, workload_permutation, workload_incast,
    workload_pairs, workload_allreduce, workload_reducescatter, workload_allgather,
    workload_alltoall, workload_htsim, workload_poisson, workload_ns3, workload_goal,
    workload_chakra, workload_simai, workload_reader, workload_collective, workload_step;

const struct workload_ops *const workload_list[] = {
    &workload_list_csv,   &workload_permutation, &workload_incast,
    &workload_pairs,      &workload_allreduce,   &workload_reducescatter,
    &workload_allgather,  &workload_alltoall,    &workload_htsim,
    &workload_poisson,    &workload_ns3,         &workload_goal,
    &workload_chakra,     &workload_simai,       &workload_reader,
    &workload_collective, &workload_step,        NULL};

const struct workload_ops *workload_find(const char *name)
{
    for (int i = 0; workload_list[i]; i++)
        if (strcmp(workload_list[i]->name, name) == 0)
            return workload_list[i];
    return NULL;
}

gboolean workload_finish(struct schedule *schedule, const struct graph *graph, GError **error)
{
    if (schedule_finish(schedule, graph->n_hosts, error))
        return TRUE;
    schedule_clear(schedule);
    return FALSE;
}

/* "7" or "4-7", spaces around it allowed. */
static bool parse_range(const char *text, uint64_t *first, uint64_t *last)
{
    char *end;

    text += strspn(text, " \t");
    if (!g_ascii_isdigit(*text))
        return false;
    *first = *last = g_ascii_strtoull(text, &end, 10);
    end += strspn(end, " \t");
    if (*end == '-') {
        end++;
        end += strspn(end, " \t");
        if (!g_ascii_isdigit(*end))
            return false;
        *last = g_ascii_strtoull(end, &end, 10);
        end += strspn(end, " \t");
    }
    return *end == '\0' && *first <= *last;
}

static gboolean add_range(GArray *ranks, bool *taken, const char *text, const struct graph *graph,
                          GError **error)
{
    uint64_t first, last;

    if (!parse_range(text, &first, &last)) {
        g_set_error(error, BUILD_ERROR, 0,
                    "ranks '%s': a host or a rising range is expected, such as 5 or 0-63", text);
        return FALSE;
    }
    if (last >= graph->n_hosts) {
        g_set_error(error, BUILD_ERROR, 0,
                    "ranks '%s': host %" G_GUINT64_FORMAT
                    " does not exist; the topology has %u hosts (0 to %u)",
                    text, last, graph->n_hosts, graph->n_hosts - 1);
        return FALSE;
    }
    for (uint32_t host = (uint32_t)first; host <= last; host++) {
        if (taken[host]) {
            g_set_error(error, BUILD_ERROR, 0, "ranks '%s': host %u is named twice", text, host);
            return FALSE;
        }
        taken[host] = true;
        g_array_append_val(ranks, host);
    }
    return TRUE;
}

uint32_t *workload_ranks(const char *text, const struct graph *graph, uint32_t *n, GError **error)
{
    g_autofree char *all = g_strdup_printf("0-%u", graph->n_hosts - 1);
    g_auto(GStrv) parts = g_strsplit(text && *text ? text : all, ",", -1);
    g_autofree bool *taken = g_new0(bool, graph->n_hosts);
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));

    for (int i = 0; parts[i]; i++)
        if (!add_range(ranks, taken, parts[i], graph, error)) {
            g_array_unref(ranks);
            return NULL;
        }
    *n = ranks->len;
    return (uint32_t *)(void *)g_array_free(ranks, FALSE);
}

int64_t *workload_sizes(const char *text, int64_t fallback, uint32_t *n, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text && *text ? text : "", ",", -1);
    int64_t *sizes = g_new(int64_t, g_strv_length(parts) + 1);
    const char *why = NULL;

    *n = 0;
    for (char **part = parts; *part; part++) {
        if (!units_parse(UNITS_BYTES, g_strstrip(*part), &sizes[*n], &why))
            sizes[*n] = 0;
        if (sizes[*n] < 1) {
            g_set_error(error, BUILD_ERROR, 0,
                        "sizes '%s': sizes of 1 byte or more are expected, such as 1MB,4MB", *part);
            g_free(sizes);
            return NULL;
        }
        (*n)++;
    }
    if (*n == 0)
        sizes[(*n)++] = fallback;
    return sizes;
}
