/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/nccl.h"
#include "sim/core/table.h"
#include <math.h>
#include <string.h>

#define ELEMENT_BYTES 4 /* of float, the type that the nccl-tests use unless told */

/* By the names that workloads give their groups. */
static bool reduces(const char *name)
{
    return g_str_has_prefix(name, "allreduce") || g_str_has_prefix(name, "reduce");
}

static bool has_root(const char *name)
{
    return g_str_has_prefix(name, "broadcast") || strcmp(name, "reduce") == 0;
}

static const char *type_of(uint32_t bytes)
{
    return bytes == 1 ? "int8" : bytes == 2 ? "half" : bytes == 8 ? "double" : "float";
}

struct nccl_row nccl_row(const struct sink_group *group)
{
    bool shares = group->factor_n == group->n_ranks - 1 && group->factor_d == group->n_ranks;
    double n_calls = (double)MAX(group->n_calls, 1);
    int64_t element_bytes = group->element_bytes ? (int64_t)group->element_bytes : ELEMENT_BYTES;

    return (struct nccl_row){.count = group->bytes / element_bytes / (shares ? group->n_ranks : 1),
                             .type = type_of((uint32_t)element_bytes),
                             .redop = reduces(group->name) ? "sum" : "none",
                             .root = has_root(group->name) ? MAX(group->root, 0) : -1,
                             .time_us = (double)(group->end_ps - group->start_ps) / 1e6 / n_calls,
                             .algbw = summary_algbw_bps(group) / 8e9,
                             .busbw = summary_busbw_bps(group) / 8e9,
                             .finished = group->end_ps >= 0};
}

static const struct sink_group *group_at(const GArray *groups, guint i)
{
    return &g_array_index(groups, struct sink_group, i);
}

static bool is_collective(const struct sink_group *group)
{
    return group->factor_n > 0;
}

bool nccl_has(const GArray *groups)
{
    for (guint i = 0; i < groups->len; i++)
        if (is_collective(group_at(groups, i)))
            return true;
    return false;
}

/* Over the collectives that ended, as the nccl-tests take the mean over their rows. */
static double mean_busbw(const GArray *groups)
{
    double sum = 0;
    guint n = 0;

    for (guint i = 0; i < groups->len; i++)
        if (is_collective(group_at(groups, i)) && group_at(groups, i)->end_ps >= 0) {
            sum += nccl_row(group_at(groups, i)).busbw;
            n++;
        }
    return n ? sum / n : 0;
}

/* As many decimals, two at most, as `width` leaves room for. */
static void put_number(GString *text, double value, int width)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    int whole = g_snprintf(digits, sizeof digits, "%.0f", floor(value));
    const char *format = whole + 3 <= width ? "%.2f" : whole + 2 <= width ? "%.1f" : "%.0f";

    g_string_append_printf(text, "  %*s", width,
                           g_ascii_formatd(digits, sizeof digits, format, value));
}

/* --- the table -------------------------------------------------------------------------------- */

static void put_head(GString *text, const struct sink_group *group)
{
    static const char *const titles[] = {"time", "algbw", "busbw", "#wrong"};
    static const char *const units[] = {"(us)", "(GB/s)", "(GB/s)", ""};

    g_string_append_printf(text, "# Collective: %s over %u ranks\n#\n", group->name,
                           group->n_ranks);
    g_string_append_printf(text, "# %10s  %12s  %8s  %6s  %6s  %-31s  %s\n", "", "", "", "", "",
                           "         out-of-place", "          in-place");
    g_string_append_printf(text, "# %10s  %12s  %8s  %6s  %6s", "size", "count", "type", "redop",
                           "root");
    for (int i = 0; i < 8; i++)
        g_string_append_printf(text, "  %*s", i % 4 ? 6 : 7, titles[i % 4]);
    g_string_append_printf(text, "\n# %10s  %12s  %8s  %6s  %6s", "(B)", "(elements)", "", "", "");
    for (int i = 0; i < 8; i++)
        g_string_append_printf(text, "  %*s", i % 4 ? 6 : 7, units[i % 4]);
    g_string_append_c(text, '\n');
}

static void put_row(GString *text, const struct sink_group *group)
{
    struct nccl_row row = nccl_row(group);

    if (!row.finished) {
        g_string_append_printf(text, "# %" G_GINT64_FORMAT " B: unfinished\n", group->bytes);
        return;
    }
    g_string_append_printf(text, "%12" G_GINT64_FORMAT "  %12" G_GINT64_FORMAT "  %8s  %6s  %6d",
                           group->bytes, row.count, row.type, row.redop, row.root);
    for (int place = 0; place < 2; place++) {
        put_number(text, row.time_us, 7);
        put_number(text, row.algbw, 6);
        put_number(text, row.busbw, 6);
        g_string_append_printf(text, "  %6s", "N/A");
    }
    g_string_append_c(text, '\n');
}

static bool same_head(const struct sink_group *a, const struct sink_group *b)
{
    return strcmp(a->name, b->name) == 0 && a->n_ranks == b->n_ranks;
}

char *nccl_table(const GArray *groups)
{
    GString *text = g_string_new(NULL);
    const struct sink_group *before = NULL;
    char mean[G_ASCII_DTOSTR_BUF_SIZE];

    for (guint i = 0; i < groups->len; i++) {
        const struct sink_group *group = group_at(groups, i);

        if (!is_collective(group))
            continue;
        if (!before || !same_head(before, group))
            put_head(text, group);
        put_row(text, group);
        before = group;
    }
    g_string_append_printf(text, "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : %s\n#\n",
                           g_ascii_formatd(mean, sizeof mean, "%g", mean_busbw(groups)));
    return g_string_free(text, FALSE);
}

/* --- the report ------------------------------------------------------------------------------- */

static void put_pair(GString *json, const char *name, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    g_string_append_printf(json, "\"%s\": %s", name,
                           g_ascii_formatd(text, sizeof text, "%.9g", value));
}

static void put_place(GString *json, const char *name, const struct nccl_row *row)
{
    g_string_append_printf(json, ",\n     \"%s\": ", name);
    if (!row->finished) {
        g_string_append(json, "null");
        return;
    }
    g_string_append_c(json, '{');
    put_pair(json, "time", row->time_us);
    put_pair(g_string_append(json, ", "), "alg_bw", row->algbw);
    put_pair(g_string_append(json, ", "), "bus_bw", row->busbw);
    g_string_append(json, ", \"nwrong\": null}");
}

static void put_result(GString *json, const struct sink_group *group)
{
    struct nccl_row row = nccl_row(group);

    g_string_append_printf(json,
                           "    {\"size\": %" G_GINT64_FORMAT ", \"count\": %" G_GINT64_FORMAT
                           ", \"type\": \"%s\", \"redop\": \"%s\", \"root\": \"%d\"",
                           group->bytes, row.count, row.type, row.redop, row.root);
    put_place(json, "out_of_place", &row);
    put_place(json, "in_place", &row);
    g_string_append_printf(json, ",\n     \"ranks\": %u, \"actual_iterations\": %u, ",
                           group->n_ranks, MAX(group->n_calls, 1));
    g_string_append(json, "\"experiment_name\": ");
    table_json_string(json, group->name);
    g_string_append_c(json, '}');
}

char *nccl_json(const GArray *groups)
{
    GString *json = g_string_new("{\n  \"version\": \"weft\",\n  \"results\": [\n");
    bool first = true;

    for (guint i = 0; i < groups->len; i++) {
        if (!is_collective(group_at(groups, i)))
            continue;
        g_string_append(json, first ? "" : ",\n");
        put_result(json, group_at(groups, i));
        first = false;
    }
    g_string_append(json, "\n  ],\n  \"out_of_bounds\": {\"count\": 0, \"okay\": true},\n"
                          "  \"average_bus_bandwidth\": {");
    put_pair(json, "bandwidth", mean_busbw(groups));
    g_string_append(json, ", \"okay\": \"unchecked\"}\n}\n");
    return g_string_free(json, FALSE);
}
