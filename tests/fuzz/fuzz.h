/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets share. A target is one file that says what it feeds (FUZZ_TARGET) and is
 * used in three ways:
 *   without arguments   a smoke run, part of `make test`: its seeds, the project's inputs where
 * they are, and mutations of both; one line of TAP with files          plays each, to look at what
 * a fuzzer has found -DFUZZ_ENGINE       no main of its own: libFuzzer (or AFL++'s) calls
 * LLVMFuzzerTestOneInput; `make fuzz` Nothing is asked of an input but that it be read or refused
 * without a fault of ours.
 */
#ifndef WEFT_TESTS_FUZZ_FUZZ_H
#define WEFT_TESTS_FUZZ_FUZZ_H

#include "sim/core/random.h"
#include "topologies/topology.h"
#include "workloads/workload.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_HOSTS     64    /* of the graph that workloads are laid over */
#define FUZZ_MUTATIONS 40    /* of each seed, in a smoke run */
#define FUZZ_LARGEST   20000 /* bytes of a file that is mutated */

struct fuzz_seed {
    const char *bytes;
    size_t length;
};

#define FUZZ_SEED(text_)                                                                           \
    {                                                                                              \
        text_, sizeof text_ - 1                                                                    \
    }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- playing one input ------------------------------------------------------------------------ */

/* The bytes as a file; its name is valid until fuzz_close(). */
static int fuzz_open(const uint8_t *data, size_t size, char *path, size_t room)
{
    int file = memfd_create("fuzz", MFD_CLOEXEC);

    if (file < 0 || (size > 0 && write(file, data, size) != (ssize_t)size))
        abort();
    snprintf(path, room, "/proc/self/fd/%d", file);
    return file;
}

static inline void *fuzz_config(const struct param *params, size_t size, const char *key,
                                const char *path, const char *more)
{
    void *config = g_malloc0(size);
    g_auto(GStrv) parts = g_strsplit(more, "|", -1);

    param_defaults(params, config);
    if (!param_set(param_find(params, key), config, path, NULL))
        abort();
    for (int i = 0; parts[i] && *parts[i]; i++) {
        char *value = strchr(parts[i], '=');

        *value++ = '\0';
        if (!param_set(param_find(params, parts[i]), config, value, NULL))
            abort();
    }
    return config;
}

static inline void fuzz_topology(const char *kind, const char *more, const uint8_t *data,
                                 size_t size)
{
    const struct topology_ops *ops = topology_find(kind);
    char path[64];
    int file = fuzz_open(data, size, path, sizeof path);
    void *config = fuzz_config(ops->params, ops->config_size, "file", path, more);
    struct graph graph;
    struct build build;
    struct graph_facts facts;
    GError *error = NULL;

    graph_init(&graph);
    build_init(&build, 1, INT64_C(1000000000000));
    if (ops->build(config, &build, &graph, &error))
        graph_describe(&graph, &facts);
    else if (!error || !*error->message)
        abort(); /* a refusal says why */
    g_clear_error(&error);
    graph_clear(&graph);
    build_clear(&build);
    param_clear(ops->params, config);
    g_free(config);
    close(file);
}

/* Walks all operations and edges. */
static inline void fuzz_walk(const struct schedule *schedule)
{
    uint64_t next;
    enum schedule_when when;

    for (uint64_t i = 0; i < schedule->n_ops; i++) {
        struct schedule_op op;

        schedule_op(schedule, i, &op);
        if (op.rank >= schedule->n_ranks)
            abort();
        for (uint32_t k = 0; (next = schedule_successor(schedule, i, k, &when)) != SCHEDULE_NONE;
             k++)
            if (next >= schedule->n_ops)
                abort();
    }
}

static inline void fuzz_workload(const char *kind, const char *key, const char *more,
                                 const uint8_t *data, size_t size)
{
    const struct workload_ops *ops = workload_find(kind);
    char path[64];
    int file = fuzz_open(data, size, path, sizeof path);
    void *config = fuzz_config(ops->params, ops->config_size, key, path, more);
    struct graph graph = {.n_hosts = FUZZ_HOSTS, .n_nodes = FUZZ_HOSTS, .n_planes = 1};
    struct schedule schedule;
    struct build build;
    GError *error = NULL;

    build_init(&build, 1, INT64_C(1000000000000));
    if (ops->build(config, &graph, &build, &schedule, &error)) {
        fuzz_walk(&schedule);
        schedule_clear(&schedule);
    } else if (!error || !*error->message) {
        abort();
    }
    g_clear_error(&error);
    build_clear(&build);
    param_clear(ops->params, config);
    g_free(config);
    close(file);
}

/* Whether a text asks for much of anything: a fuzzer would only find that large is slow. */
static inline bool fuzz_is_large(const uint8_t *data, size_t size, unsigned most_digits)
{
    unsigned n_digits = 0;

    for (size_t i = 0; i < size; i++) {
        n_digits = g_ascii_isdigit(data[i]) ? n_digits + 1 : 0;
        if (n_digits > most_digits)
            return true;
    }
    return false;
}

/* --- the smoke run ---------------------------------------------------------------------------- */

#ifndef FUZZ_ENGINE

static uint64_t fuzz_n_played;

static void fuzz_mutate(struct random_stream *stream, uint8_t *bytes, size_t *length)
{
    static const char *const odd[] = {"-1", "0",  "99999999999999999999", "\n", "{", "}",
                                      ":",  "e9", "\xff\xff\xff\xff",     " ",  "<", "\"",
                                      ";"};

    for (uint64_t k = 1 + random_below(stream, 4); k > 0 && *length > 0; k--) {
        size_t at = (size_t)random_below(stream, *length);
        const char *text = odd[random_below(stream, G_N_ELEMENTS(odd))];
        size_t n = MIN(strlen(text), *length - at);

        switch (random_below(stream, 5)) {
        case 0:
            bytes[at] ^= (uint8_t)(1u << random_below(stream, 8));
            break;
        case 1:
            memcpy(bytes + at, text, n);
            break;
        case 2:
            *length = at;
            break;
        case 3: /* a piece once more, over what follows */
            memmove(bytes + at, bytes + at / 2, MIN(*length - at, (size_t)64));
            break;
        default:
            bytes[at] = (uint8_t)random_next(stream);
        }
    }
}

static void fuzz_play(const char *bytes, size_t length, bool mutate)
{
    struct random_stream stream = random_stream(20261130, 0, length);

    LLVMFuzzerTestOneInput((const uint8_t *)bytes, length);
    fuzz_n_played++;
    for (int i = 0; mutate && length <= FUZZ_LARGEST && i < FUZZ_MUTATIONS; i++) {
        uint8_t *own = g_malloc(length + 1); /* so that sanitizers see its end */
        size_t n = length;

        memcpy(own, bytes, length);
        fuzz_mutate(&stream, own, &n);
        own = g_realloc(own, MAX(n, 1));
        LLVMFuzzerTestOneInput(own, n);
        fuzz_n_played++;
        g_free(own);
    }
}

static int fuzz_file(const char *path, bool mutate)
{
    g_autofree char *bytes = NULL;
    gsize length;

    if (!g_file_get_contents(path, &bytes, &length, NULL)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    fuzz_play(bytes, length, mutate);
    return 0;
}

static int fuzz_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Files "FOLDER/BEGIN...END" of the inputs, in the order of their names. */
static void fuzz_inputs(const char *pattern)
{
    const char *inputs = g_getenv("WEFT_INPUTS");
    g_auto(GStrv) parts = g_strsplit(pattern, "/", 2);
    g_auto(GStrv) ends = g_strsplit(parts[1], "*", 2);
    g_autofree char *folder =
        g_build_filename(inputs ? inputs : "../shared/inputs", parts[0], NULL);
    g_autoptr(GDir) entries = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *name;

    while (entries && (name = g_dir_read_name(entries)))
        if (g_str_has_prefix(name, ends[0]) && g_str_has_suffix(name, ends[1]) &&
            strcmp(name, "README.md") != 0)
            g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(names, fuzz_compare);
    for (guint i = 0; i < names->len; i++)
        fuzz_file(g_ptr_array_index(names, i), true);
}

static int fuzz_main(int argc, char **argv, const char *name, const struct fuzz_seed *seeds,
                     size_t n_seeds, const char *const *patterns)
{
    int status = 0;

    for (int i = 1; i < argc; i++)
        status |= fuzz_file(argv[i], false);
    if (argc > 1)
        return status;
    for (size_t i = 0; i < n_seeds; i++)
        fuzz_play(seeds[i].bytes, seeds[i].length, true);
    for (; *patterns; patterns++)
        fuzz_inputs(*patterns);
    printf("ok 1 - fuzz %s: %" G_GUINT64_FORMAT " inputs read or refused\n1..1\n", name,
           fuzz_n_played);
    return 0;
}

#define FUZZ_TARGET(name_, seeds_, ...)                                                            \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const char *const patterns[] = {__VA_ARGS__, NULL};                                 \
                                                                                                   \
        return fuzz_main(argc, argv, name_, seeds_, G_N_ELEMENTS(seeds_), patterns);               \
    }

#else

/* The seeds go unused: a fuzzer begins with the inputs. */
#define FUZZ_TARGET(name_, seeds_, ...) const struct fuzz_seed *const fuzz_seeds = seeds_;

#endif
#endif
