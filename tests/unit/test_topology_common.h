/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of topologies share: building one from "key=value" words, and looking at it. */
#ifndef WEFT_TESTS_UNIT_TEST_TOPOLOGY_COMMON_H
#define WEFT_TESTS_UNIT_TEST_TOPOLOGY_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "topologies/topology.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

struct built {
    struct graph graph;
    struct build build;
    struct graph_facts facts;
    GError *error; /* NULL: built */
};

/* Builds `kind` with settings such as "hosts=64 planes=4"; a fault of a key's value is ours. */
static inline void build_kind(struct built *built, const char *kind, const char *settings)
{
    const struct topology_ops *ops = topology_find(kind);
    g_auto(GStrv) words = g_strsplit(settings, " ", -1);

    assert_non_null(ops);
    void *config = g_malloc0(ops->config_size);

    param_defaults(ops->params, config);
    for (int i = 0; words[i]; i++) {
        g_auto(GStrv) pair = g_strsplit(words[i], "=", 2);

        if (words[i][0] == '\0')
            continue;
        const struct param *param = param_find(ops->params, pair[0]);
        GError *error = NULL;

        if (!param)
            fail_msg("%s has no key %s", kind, pair[0]);
        if (!param_set(param, config, pair[1], &error))
            fail_msg("%s: %s", pair[0], error->message);
    }
    *built = (struct built){.error = NULL};
    build_init(&built->build, 1, 0);
    graph_init(&built->graph);
    if (ops->build(config, &built->build, &built->graph, &built->error)) {
        assert_null(built->error);
        graph_describe(&built->graph, &built->facts);
    } else {
        assert_non_null(built->error);
    }
    param_clear(ops->params, config);
    g_free(config);
}

static inline void built_clear(struct built *built)
{
    graph_clear(&built->graph);
    build_clear(&built->build);
    g_clear_error(&built->error);
}

static inline void build_good(struct built *built, const char *kind, const char *settings)
{
    build_kind(built, kind, settings);
    if (built->error)
        fail_msg("%s %s: %s", kind, settings, built->error->message);
}

/* The build must fail with a message that has all of `words`, separated by '|'. */
static inline void build_bad(const char *kind, const char *settings, const char *words)
{
    struct built built;
    g_auto(GStrv) parts = g_strsplit(words, "|", -1);

    build_kind(&built, kind, settings);
    if (!built.error)
        fail_msg("%s %s: built, though '%s' is wrong", kind, settings, words);
    for (int i = 0; parts[i]; i++)
        if (!strstr(built.error->message, parts[i]))
            fail_msg("%s %s: '%s' lacks '%s'", kind, settings, built.error->message, parts[i]);
    built_clear(&built);
}

static inline bool has_note(const struct built *built, const char *text)
{
    for (guint i = 0; i < built->build.notes->len; i++)
        if (strstr(g_ptr_array_index(built->build.notes, i), text))
            return true;
    return false;
}

/* Switches of a tier, in all planes. */
static inline uint32_t count_tier(const struct graph *graph, uint8_t tier)
{
    uint32_t n = 0;

    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        n += graph->nodes[node].tier == tier;
    return n;
}

/* The links between two nodes. */
static inline uint32_t count_links(const struct graph *graph, uint32_t a, uint32_t b)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < graph_n_ports(graph, a); i++)
        n += graph_port_peer(graph, graph_port(graph, a, i)) == b;
    return n;
}

struct paths {
    uint32_t length; /* links; 0: none */
    uint64_t n;
};

/* Shortest paths between two hosts in one plane, parallel links told apart; hosts do not forward.
 */
static inline struct paths count_paths(const struct graph *graph, uint32_t from, uint32_t to,
                                       uint16_t plane)
{
    g_autofree struct paths *at = g_new0(struct paths, graph->n_nodes);
    g_autofree uint32_t *queue = g_new(uint32_t, graph->n_nodes);
    uint32_t tail = 0;

    at[from].n = 1;
    queue[tail++] = from;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t node = queue[head];

        if (node == to || (node != from && !graph->nodes[node].is_switch))
            continue;
        for (uint32_t i = 0; i < graph_n_ports(graph, node); i++) {
            uint32_t port = graph_port(graph, node, i), peer = graph_port_peer(graph, port);

            if (graph->links[port / 2].plane != plane || peer == from)
                continue;
            if (at[peer].n == 0) {
                at[peer].length = at[node].length + 1;
                queue[tail++] = peer;
            }
            if (at[peer].length == at[node].length + 1)
                at[peer].n += at[node].n;
        }
    }
    return at[to];
}

/*
 * Maximum flow, in units of `unit_bps`, from the first half of the hosts to the second, by
 * augmenting along shortest paths (Edmonds and Karp): the bisection in host order.
 */
static inline uint32_t bisection(const struct graph *graph, int64_t unit_bps)
{
    uint32_t n_ports = 2 * graph->n_links, half = graph->n_hosts / 2, flow = 0;
    g_autofree int64_t *left = g_new(int64_t, n_ports); /* capacity of port, that is direction */
    g_autofree uint32_t *came = g_new(uint32_t, graph->n_nodes);
    g_autofree uint32_t *queue = g_new(uint32_t, graph->n_nodes);

    for (uint32_t port = 0; port < n_ports; port++)
        left[port] = graph->links[port / 2].rate_bps / unit_bps;
    for (;; flow++) {
        uint32_t tail = 0, end = UINT32_MAX;

        memset(came, 0xff, graph->n_nodes * sizeof *came);
        for (uint32_t host = 0; host < half; host++) {
            queue[tail++] = host;
            came[host] = n_ports;
        }
        for (uint32_t head = 0; head < tail && end == UINT32_MAX; head++)
            for (uint32_t i = 0; i < graph_n_ports(graph, queue[head]); i++) {
                uint32_t port = graph_port(graph, queue[head], i);
                uint32_t peer = graph_port_peer(graph, port);

                if (left[port] == 0 || came[peer] != UINT32_MAX)
                    continue;
                came[peer] = port;
                if (!graph->nodes[peer].is_switch)
                    end = peer;
                else
                    queue[tail++] = peer;
            }
        if (end == UINT32_MAX)
            return flow;
        for (uint32_t node = end; came[node] != n_ports;) {
            uint32_t port = came[node];

            left[port]--;
            left[port ^ 1]++;
            node = graph_port_node(graph, port);
        }
    }
}

/* A file of its own in the folder for temporary files; g_free, and remove it. */
static inline char *write_file(const char *text, size_t length)
{
    GError *error = NULL;
    char *path = NULL;
    int fd = g_file_open_tmp("weft-topology-XXXXXX", &path, &error);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
    return path;
}

#endif
