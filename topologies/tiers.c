/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "topologies/tiers.h"
#include "sim/core/units.h"
#include <inttypes.h>

static int64_t divide_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

int64_t tiers_n_leaves(const struct tiers *tiers)
{
    return divide_up(tiers->n_hosts, tiers->hosts_per_leaf);
}

int64_t tiers_n_pods(const struct tiers *tiers)
{
    return tiers->n_tiers < 3 ? 1 : divide_up(tiers_n_leaves(tiers), tiers->leaves_per_pod);
}

int64_t tiers_n_spines(const struct tiers *tiers)
{
    return tiers->n_tiers < 2 ? 0 : tiers_n_pods(tiers) * tiers->spines_per_pod;
}

int64_t tiers_n_cores(const struct tiers *tiers)
{
    return tiers->n_tiers < 3 ? 0 : tiers->spines_per_pod * tiers->cores_per_spine;
}

/* --- what was built --------------------------------------------------------------------------- */

char *tiers_ratio(const struct tiers *tiers, int tier)
{
    const struct tiers_links *below = &tiers->links[tier - 1], *above = &tiers->links[tier];
    int64_t n_below = tier == 1 ? tiers->hosts_per_leaf : tiers->leaves_per_pod;
    int64_t n_above = tier == 1 ? tiers->spines_per_pod : tiers->cores_per_spine;
    unsigned __int128 down =
        (unsigned __int128)(uint64_t)(n_below * below->n_parallel) * (uint64_t)below->rate_bps;
    unsigned __int128 up =
        (unsigned __int128)(uint64_t)(n_above * above->n_parallel) * (uint64_t)above->rate_bps;
    unsigned __int128 a = down, b = up;

    while (b) {
        unsigned __int128 rest = a % b;

        a = b;
        b = rest;
    }
    if (down / a > 9999 || up / a > 9999)
        return g_strdup_printf("%.4g:1", (double)down / (double)up);
    return g_strdup_printf("%d:%d", (int)(down / a), (int)(up / a));
}

static void note_hosts(const struct tiers *tiers, struct build *build)
{
    const struct tiers_links *links = &tiers->links[0];
    g_autofree char *rate = units_format(UNITS_RATE, links->rate_bps);
    g_autofree char *sum =
        units_format(UNITS_RATE, links->rate_bps * links->n_parallel * tiers->n_planes);

    build_note(build,
               "%s: %" PRId64 " hosts, %" PRId64 " plane%s, %" PRId64
               " NIC port%s of %s in each (%s a host)",
               tiers->kind, tiers->n_hosts, tiers->n_planes, tiers->n_planes == 1 ? "" : "s",
               links->n_parallel, links->n_parallel == 1 ? "" : "s", rate, sum);
}

/* "32 switches of tier 1, each 4 x 1 x 100Gbps down and 4 x 1 x 100Gbps up (1:1)" */
static void note_switches(const struct tiers *tiers, int tier, int64_t n_switches, int64_t n_below,
                          int64_t n_above, struct build *build)
{
    const struct tiers_links *below = &tiers->links[tier - 1], *above = &tiers->links[tier];
    g_autofree char *down = units_format(UNITS_RATE, below->rate_bps);

    if (tier == tiers->n_tiers) {
        build_note(build,
                   "%s: a plane has %" PRId64 " switch%s of tier %d, the top: %" PRId64
                   " x %s down",
                   tiers->kind, n_switches, n_switches == 1 ? "" : "es", tier,
                   n_below * below->n_parallel, down);
        return;
    }
    g_autofree char *up = units_format(UNITS_RATE, above->rate_bps);
    g_autofree char *ratio = tiers_ratio(tiers, tier);

    build_note(build,
               "%s: a plane has %" PRId64 " switch%s of tier %d: %" PRId64 " x %s down, %" PRId64
               " x %s up, oversubscription %s",
               tiers->kind, n_switches, n_switches == 1 ? "" : "es", tier,
               n_below * below->n_parallel, down, n_above * above->n_parallel, up, ratio);
}

static void note_gaps(const struct tiers *tiers, struct build *build)
{
    int64_t n_leaves = tiers_n_leaves(tiers), n_pods = tiers_n_pods(tiers);
    int64_t last_hosts = tiers->n_hosts - (n_leaves - 1) * tiers->hosts_per_leaf;
    int64_t last_leaves = n_leaves - (n_pods - 1) * tiers->leaves_per_pod;

    if (tiers->n_tiers > 1 && n_leaves == 1)
        build_note(build, "warning: all hosts are on one leaf; the tiers above carry nothing");
    else if (tiers->n_tiers > 2 && n_pods == 1)
        build_note(build, "warning: all hosts are in one pod; tier 3 carries nothing");
    if (last_hosts != tiers->hosts_per_leaf)
        build_note(build, "%s: the last leaf has %" PRId64 " of %" PRId64 " hosts", tiers->kind,
                   last_hosts, tiers->hosts_per_leaf);
    if (tiers->n_tiers > 2 && last_leaves != tiers->leaves_per_pod)
        build_note(build, "%s: the last pod has %" PRId64 " of %" PRId64 " leaves", tiers->kind,
                   last_leaves, tiers->leaves_per_pod);
}

static void note_all(const struct tiers *tiers, struct build *build)
{
    note_hosts(tiers, build);
    note_switches(tiers, 1, tiers_n_leaves(tiers), tiers->hosts_per_leaf, tiers->spines_per_pod,
                  build);
    if (tiers->n_tiers > 1)
        note_switches(tiers, 2, tiers_n_spines(tiers), tiers->leaves_per_pod,
                      tiers->cores_per_spine, build);
    if (tiers->n_tiers > 2)
        note_switches(tiers, 3, tiers_n_cores(tiers), tiers_n_pods(tiers), 0, build);
    note_gaps(tiers, build);
}

/* --- wiring ----------------------------------------------------------------------------------- */

static gboolean check_size(const struct tiers *tiers, GError **error)
{
    typedef __int128 wide; /* products of three counts of 2^31 */
    wide n_links = (wide)tiers->n_hosts * (wide)tiers->links[0].n_parallel;

    if (tiers->n_tiers > 1)
        n_links += (wide)tiers_n_leaves(tiers) * (wide)tiers->spines_per_pod *
                   (wide)tiers->links[1].n_parallel;
    if (tiers->n_tiers > 2)
        n_links += (wide)tiers_n_spines(tiers) * (wide)tiers->cores_per_spine *
                   (wide)tiers->links[2].n_parallel;
    n_links *= (wide)tiers->n_planes;
    if (n_links <= TIERS_MOST_LINKS)
        return TRUE;
    g_set_error(error, BUILD_ERROR, 0,
                "%s: %.0f links in all (%" PRId64 " hosts, %" PRId64 " planes); at most %" PRId64
                " are possible",
                tiers->kind, (double)n_links, tiers->n_hosts, tiers->n_planes, TIERS_MOST_LINKS);
    return FALSE;
}

/* The links between two nodes: `lower` of tier `tier` and `upper` of the next. */
static void wire(const struct tiers *tiers, struct graph *graph, uint32_t lower, uint32_t upper,
                 int tier, uint16_t plane)
{
    const struct tiers_links *links = &tiers->links[tier];

    for (int64_t i = 0; i < links->n_parallel; i++) {
        uint32_t link = graph_add_link(graph, lower, upper, links->rate_bps, links->delay_ps,
                                       (uint8_t)(tier + 1), plane);

        graph->links[link].queue_bytes_a = links->queue_up_bytes;
        graph->links[link].queue_bytes_b = links->queue_down_bytes;
    }
}

/* Adds `n` switches of a tier; returns the first. */
static uint32_t add_switches(const struct tiers *tiers, struct graph *graph, int64_t n, int tier,
                             uint16_t plane)
{
    uint32_t first = graph->n_nodes;

    for (int64_t i = 0; i < n; i++)
        graph_add_switch(graph, (uint8_t)tier, plane, tiers->switch_latency_ps[tier - 1]);
    return first;
}

static void wire_plane(const struct tiers *tiers, struct graph *graph, uint16_t plane)
{
    uint32_t n_leaves = (uint32_t)tiers_n_leaves(tiers), n_spines = (uint32_t)tiers_n_spines(tiers);
    uint32_t per_leaf = (uint32_t)tiers->hosts_per_leaf, per_pod = (uint32_t)tiers->leaves_per_pod;
    uint32_t width = (uint32_t)tiers->spines_per_pod;
    uint32_t leaves = add_switches(tiers, graph, n_leaves, 1, plane);
    uint32_t spines = add_switches(tiers, graph, n_spines, 2, plane);
    uint32_t cores = add_switches(tiers, graph, tiers_n_cores(tiers), 3, plane);

    for (uint32_t host = 0; host < graph->n_hosts; host++)
        wire(tiers, graph, host, leaves + host / per_leaf, 0, plane);
    for (uint32_t leaf = 0; tiers->n_tiers > 1 && leaf < n_leaves; leaf++)
        for (uint32_t s = 0; s < width; s++)
            wire(tiers, graph, leaves + leaf, spines + leaf / per_pod * width + s, 1, plane);
    for (uint32_t spine = 0; tiers->n_tiers > 2 && spine < n_spines; spine++)
        for (uint32_t i = 0; i < (uint32_t)tiers->cores_per_spine; i++)
            wire(tiers, graph, spines + spine, cores + spine % width + i * width, 2, plane);
}

gboolean tiers_build(const struct tiers *tiers, struct build *build, struct graph *graph,
                     GError **error)
{
    if (!check_size(tiers, error))
        return FALSE;
    for (int64_t host = 0; host < tiers->n_hosts; host++)
        graph_add_host(graph);
    for (int64_t plane = 0; plane < tiers->n_planes; plane++)
        wire_plane(tiers, graph, (uint16_t)plane);
    note_all(tiers, build);
    return graph_finish(graph, error);
}
