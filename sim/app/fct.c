/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/fct.h"

#define FIRST_PORT 10000
#define PORT       100
#define PS_IN_NS   1000

void fct_init(struct fct *fct)
{
    fct->text = g_string_new(NULL);
    fct->flows = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

void fct_clear(struct fct *fct)
{
    if (!fct->text)
        return;
    g_string_free(fct->text, TRUE);
    g_hash_table_unref(fct->flows);
    fct->text = NULL;
}

static uint32_t address(uint32_t host)
{
    return 0x0b000001 + (host / 256 << 16) + (host % 256 << 8);
}

static int64_t nearest_ns(int64_t ps)
{
    return (ps + PS_IN_NS / 2) / PS_IN_NS;
}

/* How many flows of this pair came before. */
static guint number_of(struct fct *fct, const struct sink_flow *flow)
{
    gint64 pair = (gint64)((guint64)flow->src << 32 | flow->dst);
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(fct->flows, &pair));

    g_hash_table_replace(fct->flows, g_memdup2(&pair, sizeof pair), GUINT_TO_POINTER(n + 1));
    return n;
}

void fct_flow(struct fct *fct, const struct sink_flow *flow)
{
    guint number = number_of(fct, flow);

    if (flow->start_ps < 0 || flow->end_receiver_ps < 0)
        return;
    g_string_append_printf(fct->text,
                           "%08x %08x %u %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                           " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                           address(flow->src), address(flow->dst), FIRST_PORT + number, PORT,
                           flow->bytes, nearest_ns(flow->start_ps),
                           nearest_ns(flow->end_receiver_ps - flow->start_ps),
                           nearest_ns(flow->ideal_ps));
}
