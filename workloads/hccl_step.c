/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps of a training or inference program: matrix products, computations and collectives on
 * streams, the same on all ranks. A program is a list of items by ';':
 *
 *   gemm MxNxK TYPE | compute TIME | COLLECTIVE SIZE | alltoallv SMALLEST-LARGEST
 *   [xN] [stream=S] [id=NAME] [after=NAME] [start=launched|inline|fused]
 *
 * On a stream items come one after the other, streams run side by side. `after` waits for another
 * item of the step: repetition j for its repetition j where both have as many, for its last one
 * otherwise. A step ends, on each rank, when all its streams have; the next one begins then.
 * start: launched by the host; inline, a part of a work packet that runs already; fused: posted by
 * what has just made the bytes (docs/MODELS.md).
 *
 * alltoallv with a range stands for N calls whose sizes are the N quantiles (j + 1/2) / N of the
 * log-uniform law between the two: the law without the luck of a draw.
 * Left out: products that the host has to launch, streams that differ by rank.
 * Source: our choice; the sizes of the ready scenarios are MTIA 300's (SOURCES.md 2.4).
 */
#include "sim/core/units.h"
#include "workloads/hccl_config.h"
#include <string.h>

#define MOST_STREAMS 8

struct step_config {
    struct hccl_config hccl;
    char *program;
    int64_t steps, scale, skew, cached;
};

static const struct param params[] = {
    PARAM(TEXT, struct step_config, program,
          "gemm 4096x4096x4096 bf16 x4; allreduce 16MiB x4 stream=1", NULL, NULL, NULL,
          "Items by ';': gemm MxNxK TYPE, compute TIME, COLLECTIVE SIZE; with xN, stream=, id=, "
          "after=, start=.",
          "our choice: something that overlaps"),
    PARAM(NUMBER, struct step_config, steps, "1", "1", "100000", NULL, "Steps.", "our choice"),
    PARAM(RATIO, struct step_config, scale, "1", "0.000001", "1000", NULL,
          "Sizes of all collectives are multiplied by it: to play a part of a large step.",
          "our choice: whole"),
    PARAM(RATIO, struct step_config, skew, "0.5", "0", "1", NULL,
          "alltoallv: parts differ by up to this share of S / n.", "our choice"),
    PARAM(BOOL, struct step_config, cached, "on", NULL, NULL, NULL,
          "The device has the work packets already, from an earlier step.",
          "our choice: a step in the middle of a training"),
    HCCL_PARAMS(struct step_config),
    PARAM_END};

enum item_kind { ITEM_GEMM, ITEM_COMPUTE, ITEM_COLLECTIVE };

struct item {
    enum item_kind kind;
    enum hccl_kind collective;
    bool uneven; /* alltoallv */
    struct schedule_gemm gemm;
    int64_t duration_ps, bytes, most_bytes;
    uint32_t n, stream;
    int64_t start; /* enum hccl_start, or -1: launched or cached */
    char *id, *after;
    uint64_t *ends; /* [repetition n_ranks + rank], while a step is built */
};

struct step {
    const struct step_config *config;
    struct build *notes;
    struct schedule *schedule;
    struct hccl_layout layout;
    struct hccl_program program;
    GPtrArray *items;  /* struct item */
    GPtrArray *graphs; /* struct hccl_graph *, with what they were compiled from */
    uint64_t n_calls;
};

static void item_free(void *data)
{
    struct item *item = data;

    g_free(item->id);
    g_free(item->after);
    g_free(item->ends);
    g_free(item);
}

/* --- reading ---------------------------------------------------------------------------------- */

G_GNUC_PRINTF(3, 4)
static gboolean refuse(GError **error, const char *text, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    g_autofree char *what = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, BUILD_ERROR, 0, "program: '%s': %s", text, what);
    return FALSE;
}

static bool index_of(const char *choices, const char *word, uint32_t *index)
{
    g_auto(GStrv) names = g_strsplit(choices, "|", -1);

    for (*index = 0; names[*index]; (*index)++)
        if (strcmp(names[*index], word) == 0)
            return true;
    return false;
}

static gboolean read_quantity(enum units_kind kind, const char *word, const char *text,
                              int64_t *value, GError **error)
{
    const char *why = NULL;

    if (word && units_parse(kind, word, value, &why) && *value > 0)
        return TRUE;
    return refuse(error, text, "'%s': %s", word ? word : "",
                  kind == UNITS_TIME ? "a time above 0 is expected, such as 5us"
                                     : "a size above 0 is expected, such as 16MiB");
}

static gboolean read_gemm(struct item *item, char **words, const char *text, GError **error)
{
    g_auto(GStrv) sizes = g_strsplit(words[1] ? words[1] : "", "x", -1);
    uint64_t dims[3] = {0};

    for (int i = 0; i < 3; i++)
        if (g_strv_length(sizes) != 3 ||
            !g_ascii_string_to_unsigned(sizes[i], 10, 1, 1 << 24, &dims[i], NULL))
            return refuse(error, text, "MxNxK is expected, such as 4096x4096x4096");
    item->gemm = (struct schedule_gemm){(uint32_t)dims[0], (uint32_t)dims[1], (uint32_t)dims[2], 0};
    if (!words[1] || !words[2] || !index_of(SCHEDULE_TYPES, words[2], &item->gemm.type))
        return refuse(error, text, "a type is expected: one of %s", SCHEDULE_TYPES);
    item->kind = ITEM_GEMM;
    return TRUE;
}

/* "16MiB", or "1KB-1GB" for an alltoallv. */
static gboolean read_size(struct item *item, const char *word, const char *text, GError **error)
{
    g_auto(GStrv) ends = g_strsplit(word ? word : "", "-", 2);

    if (!read_quantity(UNITS_BYTES, ends[0], text, &item->bytes, error))
        return FALSE;
    item->most_bytes = item->bytes;
    if (!ends[0] || !ends[1])
        return TRUE;
    if (!item->uneven)
        return refuse(error, text, "a range of sizes is for alltoallv");
    if (!read_quantity(UNITS_BYTES, ends[1], text, &item->most_bytes, error))
        return FALSE;
    return item->most_bytes >= item->bytes ||
           refuse(error, text, "the smaller size is expected first");
}

/* What an item is, and the word at which its options begin. */
static gboolean read_what(struct item *item, char **words, const char *text, guint *next,
                          GError **error)
{
    uint32_t kind;

    *next = 2;
    if (strcmp(words[0], "gemm") == 0) {
        *next = 3;
        return read_gemm(item, words, text, error);
    }
    if (strcmp(words[0], "compute") == 0) {
        item->kind = ITEM_COMPUTE;
        return read_quantity(UNITS_TIME, words[1], text, &item->duration_ps, error);
    }
    item->uneven = strcmp(words[0], "alltoallv") == 0;
    if (!item->uneven && !index_of(HCCL_KINDS, words[0], &kind))
        return refuse(error, text, "gemm, compute, alltoallv or one of %s is expected", HCCL_KINDS);
    item->kind = ITEM_COLLECTIVE;
    item->collective = item->uneven ? HCCL_ALLTOALL : (enum hccl_kind)kind;
    return read_size(item, words[1], text, error);
}

static gboolean read_option(struct item *item, const char *word, const char *text, GError **error)
{
    uint64_t number;
    uint32_t start;

    if (*word == 'x' && g_ascii_string_to_unsigned(word + 1, 10, 1, 1000000, &number, NULL)) {
        item->n = (uint32_t)number;
    } else if (g_str_has_prefix(word, "stream=") &&
               g_ascii_string_to_unsigned(word + 7, 10, 0, MOST_STREAMS - 1, &number, NULL)) {
        item->stream = (uint32_t)number;
    } else if (g_str_has_prefix(word, "id=") && word[3]) {
        item->id = g_strdup(word + 3);
    } else if (g_str_has_prefix(word, "after=") && word[6]) {
        item->after = g_strdup(word + 6);
    } else if (g_str_has_prefix(word, "start=") &&
               index_of("launched|inline|fused", word + 6, &start)) {
        item->start = start == 0 ? HCCL_LAUNCHED : start == 1 ? HCCL_INLINE : HCCL_FUSED;
    } else {
        return refuse(error, text,
                      "'%s': xN, stream=0 to %d, id=, after= or start=launched|inline|fused is "
                      "expected",
                      word, MOST_STREAMS - 1);
    }
    return TRUE;
}

static gboolean read_item(struct step *step, const char *text, GError **error)
{
    g_auto(GStrv) all = g_strsplit_set(text, " \t", -1);
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    struct item *item = g_new0(struct item, 1);
    guint next;

    g_ptr_array_add(step->items, item);
    item->n = 1;
    item->start = -1;
    for (char **word = all; *word; word++)
        if (**word)
            g_ptr_array_add(words, *word);
    for (int i = 0; i < 4; i++)
        g_ptr_array_add(words, NULL);
    if (!read_what(item, (char **)words->pdata, text, &next, error))
        return FALSE;
    for (; words->pdata[next]; next++)
        if (!read_option(item, words->pdata[next], text, error))
            return FALSE;
    return TRUE;
}

static struct item *item_called(const struct step *step, const char *id, guint before)
{
    for (guint i = 0; i < before; i++) {
        struct item *item = g_ptr_array_index(step->items, i);

        if (item->id && strcmp(item->id, id) == 0)
            return item;
    }
    return NULL;
}

static gboolean read_program(struct step *step, GError **error)
{
    g_auto(GStrv) texts = g_strsplit(step->config->program, ";", -1);

    for (char **text = texts; *text; text++)
        if (*g_strstrip(*text) && !read_item(step, *text, error))
            return FALSE;
    if (step->items->len == 0)
        return refuse(error, step->config->program, "at least one item is expected");
    for (guint i = 0; i < step->items->len; i++) {
        const struct item *item = g_ptr_array_index(step->items, i);

        if (item->after && !item_called(step, item->after, i))
            return refuse(error, item->after, "after: no item before this one has that id");
    }
    return TRUE;
}

/* --- sizes ------------------------------------------------------------------------------------ */

#define ROOT_BITS 24

static uint64_t square_root(unsigned __int128 x)
{
    uint64_t low = 0, high = UINT64_C(1) << 56;

    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;

        if ((unsigned __int128)middle * middle <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/*
 * low x (high / low)^(part / whole) in integers: the exponent's binary digits choose among repeated
 * square roots of the ratio, kept in 2^-32.
 */
static int64_t between(int64_t low, int64_t high, uint64_t part, uint64_t whole)
{
    uint64_t exponent = (part << ROOT_BITS) / whole; /* below 2^ROOT_BITS */
    unsigned __int128 root = ((unsigned __int128)(uint64_t)high << 32) / (uint64_t)low;
    unsigned __int128 value = (unsigned __int128)(uint64_t)low << 32;

    for (int bit = ROOT_BITS - 1; bit >= 0; bit--) {
        root = (unsigned __int128)square_root(root << 32);
        if (exponent >> bit & 1)
            value = value * root >> 32;
    }
    return (int64_t)(value >> 32);
}

static int64_t scaled(const struct step *step, int64_t bytes)
{
    return MAX((int64_t)((__int128)bytes * step->config->scale / UNITS_PPT), 1);
}

static int64_t bytes_of(const struct step *step, const struct item *item, uint32_t k)
{
    if (item->most_bytes == item->bytes)
        return scaled(step, item->bytes);
    return scaled(step, between(item->bytes, item->most_bytes, 2 * k + 1, 2 * (uint64_t)item->n));
}

/* --- building --------------------------------------------------------------------------------- */

struct kept_graph {
    struct hccl_graph graph;
    int64_t *parts;
};

static void kept_graph_free(void *data)
{
    struct kept_graph *kept = data;

    hccl_clear(&kept->graph);
    g_free(kept->parts);
    g_free(kept);
}

/* A graph for a call, from those that are compiled already if one is the same. */
static const struct hccl_graph *graph_for(struct step *step, const struct item *item, int64_t bytes,
                                          GError **error)
{
    struct hccl_call call = hccl_config_call(&step->config->hccl);
    struct kept_graph *kept;

    for (guint i = 0; !item->uneven && i < step->graphs->len; i++) {
        kept = g_ptr_array_index(step->graphs, i);
        if (!kept->parts && kept->graph.call.kind == item->collective &&
            kept->graph.call.bytes == bytes)
            return &kept->graph;
    }
    kept = g_new0(struct kept_graph, 1);
    call.kind = item->collective;
    call.bytes = bytes;
    if (item->uneven)
        call.parts = kept->parts = hccl_config_parts(
            bytes, step->layout.n_ranks, step->config->skew, step->notes->seed, step->n_calls);
    if (!hccl_compile(&kept->graph, &step->layout, &call, error)) {
        g_free(kept->parts);
        g_free(kept);
        return NULL;
    }
    g_ptr_array_add(step->graphs, kept);
    return hccl_check(&kept->graph, error) ? &kept->graph : NULL;
}

static uint64_t *last_of(const struct step *step, uint32_t stream)
{
    return &step->program.last[(gsize)stream * step->layout.n_ranks];
}

static void edge(const struct step *step, uint64_t from, uint64_t to)
{
    if (from != SCHEDULE_NONE)
        schedule_add_edge(step->schedule, from, to, SCHEDULE_AT_RECEIVER, false);
}

static void add_compute(struct step *step, const struct item *item, uint32_t group,
                        const uint64_t *after)
{
    uint64_t *last = last_of(step, item->stream);
    struct schedule_op op = {.kind = SCHEDULE_COMPUTE, .duration_ps = item->duration_ps};

    if (item->kind == ITEM_GEMM) {
        op.kind = SCHEDULE_GEMM;
        op.peer = schedule_gemm(step->schedule, &item->gemm);
    }
    op.group = group;
    for (uint32_t rank = 0; rank < step->layout.n_ranks; rank++) {
        uint64_t number;

        op.rank = rank;
        number = schedule_add_op(step->schedule, &op);
        edge(step, last[rank], number);
        edge(step, after ? after[rank] : SCHEDULE_NONE, number);
        last[rank] = number;
    }
}

/* What repetition k of an item waits for beside its stream: operations by rank, or NULL. */
static const uint64_t *after_of(const struct step *step, const struct item *item, uint32_t k)
{
    const struct item *other =
        item->after ? item_called(step, item->after, step->items->len) : NULL;

    if (!other)
        return NULL;
    return &other->ends[(gsize)(other->n == item->n ? k : other->n - 1) * step->layout.n_ranks];
}

static gboolean add_call(struct step *step, const struct item *item, uint32_t k, uint32_t group,
                         GError **error)
{
    const struct hccl_graph *graph = graph_for(step, item, bytes_of(step, item, k), error);
    enum hccl_start start = item->start >= 0       ? (enum hccl_start)item->start
                            : step->config->cached ? HCCL_CACHED
                                                   : HCCL_LAUNCHED;

    step->n_calls++;
    if (!graph)
        return FALSE;
    hccl_lower(&step->program, graph, group, item->stream, start, after_of(step, item, k));
    return TRUE;
}

/* One group for all repetitions; of different sizes they are one call of their sum. */
static uint32_t group_of(struct step *step, const struct item *item)
{
    struct hccl_call call = {.kind = item->collective};
    bool range = item->most_bytes != item->bytes;

    if (item->kind != ITEM_COLLECTIVE) {
        uint32_t number =
            schedule_add_group(step->schedule, item->kind == ITEM_GEMM ? "gemm" : "compute", 0,
                               step->layout.n_ranks, 0, 1);

        schedule_group(step->schedule, number)->n_calls = item->n;
        return number;
    }
    for (uint32_t k = 0; k < (range ? item->n : 1); k++)
        call.bytes += bytes_of(step, item, k);
    return hccl_config_group(step->schedule, &call,
                             item->uneven ? "alltoallv" : hccl_kind_name(item->collective),
                             step->layout.n_ranks, range ? 1 : item->n, 4);
}

static gboolean add_item(struct step *step, struct item *item, GError **error)
{
    uint32_t n = step->layout.n_ranks, group = group_of(step, item);

    if (!item->ends)
        item->ends = g_new(uint64_t, (gsize)item->n * n);
    for (uint32_t k = 0; k < item->n; k++) {
        if (item->kind != ITEM_COLLECTIVE)
            add_compute(step, item, group, after_of(step, item, k));
        else if (!add_call(step, item, k, group, error))
            return FALSE;
        memcpy(&item->ends[(gsize)k * n], last_of(step, item->stream), n * sizeof(uint64_t));
    }
    return TRUE;
}

/* The end of a step of each rank: behind it, all streams go on. */
static void end_step(struct step *step)
{
    for (uint32_t rank = 0; rank < step->layout.n_ranks; rank++) {
        uint64_t end =
            schedule_add_op(step->schedule, &(struct schedule_op){.kind = SCHEDULE_JOIN,
                                                                  .rank = rank,
                                                                  .peer = rank,
                                                                  .flags = SCHEDULE_ENDS_STEP,
                                                                  .group = SCHEDULE_NO_GROUP});

        for (uint32_t stream = 0; stream < MOST_STREAMS; stream++) {
            edge(step, last_of(step, stream)[rank], end);
            last_of(step, stream)[rank] = SCHEDULE_NONE;
        }
        for (uint32_t stream = 0; stream < MOST_STREAMS; stream++)
            last_of(step, stream)[rank] = end;
    }
}

static gboolean add_steps(struct step *step, GError **error)
{
    for (int64_t i = 0; i < step->config->steps; i++) {
        for (guint k = 0; k < step->items->len; k++)
            if (!add_item(step, g_ptr_array_index(step->items, k), error))
                return FALSE;
        end_step(step);
    }
    build_note(step->notes, "step: %u items on %u ranks, %" G_GINT64_FORMAT " steps, %u graphs",
               step->items->len, step->layout.n_ranks, step->config->steps, step->graphs->len);
    return TRUE;
}

static gboolean build(const void *data, const struct graph *graph, struct build *notes,
                      struct schedule *schedule, GError **error)
{
    struct step step = {.config = data, .notes = notes, .schedule = schedule};
    gboolean ok;

    if (!hccl_config_begin(&step.config->hccl, graph, MOST_STREAMS, &step.layout, schedule,
                           &step.program, error))
        return FALSE;
    step.items = g_ptr_array_new_with_free_func(item_free);
    step.graphs = g_ptr_array_new_with_free_func(kept_graph_free);
    ok = read_program(&step, error) && add_steps(&step, error);
    g_ptr_array_unref(step.items);
    g_ptr_array_unref(step.graphs);
    hccl_program_clear(&step.program);
    hccl_layout_clear(&step.layout);
    if (ok)
        return workload_finish(schedule, graph, error);
    schedule_clear(schedule);
    return FALSE;
}

const struct workload_ops workload_step = {
    .name = "step",
    .summary = "Steps of products, computations and collectives on streams.",
    .source = "our choice; MTIA 300, ISCA 2026, for the sizes of the ready ones",
    .config_size = sizeof(struct step_config),
    .params = params,
    .build = build,
};
