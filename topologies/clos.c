/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One to 16 independent planes, each a Clos of one tier (a switch), two (leaves and spines) or
 * three (pods of leaves and spines, joined by cores). topologies/tiers.h says how they are wired;
 * here the counts are worked out.
 *
 * Three numbers describe what is above a leaf with D links of rate r down: the number of spines S,
 * the links L to each, and the oversubscription o, with S L r2 = D r / o. Those left at 0 follow
 * from the others: o is 1 unless S is given, L is 1 unless S and o both are. The same holds one
 * tier up for cores. Counts of hosts and leaves left at 0 are those of the smallest fabric of equal
 * switches (N hosts need leaves of sqrt(N/2) hosts in two tiers, of (N/4)^(1/3) in three; rounded
 * up to a divisor where one is near), or the most that `radix` ports allow.
 *
 * Leaves out switches of unequal size in a tier, hosts with ports on two leaves of a plane (make
 * those two planes), and links between planes.
 * Source: Clos by leaves and spines as in Al-Fares et al., SIGCOMM 2008; planes as in SOURCES.md 5.
 */
#include "sim/core/units.h"
#include "topologies/tiers.h"
#include "topologies/topology.h"
#include <inttypes.h>

struct clos_config {
    struct topology_common common;
    int64_t tiers;
    int64_t nics_per_plane;
    int64_t radix;
    int64_t hosts_per_leaf, pods, spines, cores;
    int64_t oversubscription, oversubscription_tier2;
    int64_t spine_links, core_links;
    int64_t tier2_rate, tier3_rate;   /* bit/s; 0: like link_rate */
    int64_t tier2_delay, tier3_delay; /* ps; 0: like link_delay */
};

#define COUNT(member_, most_, help_)                                                               \
    PARAM(NUMBER, struct clos_config, member_, "0", "0", most_, NULL, help_,                       \
          "our choice: derived, so that hosts alone gives a fabric without oversubscription")

static const struct param params[] = {
    TOPOLOGY_COMMON_PARAMS(struct clos_config, "64"),
    PARAM(NUMBER, struct clos_config, tiers, "2", "1", "3", NULL,
          "Tiers of switches in a plane: 1 a switch, 2 leaves and spines, 3 with cores.",
          "SOURCES.md 5: two tiers in the published multi-plane fabrics"),
    PARAM(NUMBER, struct clos_config, nics_per_plane, "1", "1", "16", NULL,
          "NIC ports of a host in one plane, all on one leaf.", "SOURCES.md 5: one port a plane"),
    COUNT(radix, "65536",
          "Ports of every switch: sizes what is left at 0, and a limit; 0: as many as needed."),
    COUNT(hosts_per_leaf, "1048576", "Hosts on a leaf; 0: derived from radix or hosts."),
    COUNT(pods, "1048576", "Pods, in three tiers; 0: derived from radix or hosts."),
    COUNT(spines, "1048576",
          "Switches of tier 2 in a plane, all pods together; 0: from oversubscription."),
    COUNT(cores, "1048576", "Switches of tier 3 in a plane; 0: from oversubscription_tier2."),
    COUNT(oversubscription, "1024",
          "Capacity below a leaf over capacity above it, 4 for 4:1; 0: as spines give, else 1."),
    COUNT(oversubscription_tier2, "1024",
          "Capacity below a spine over capacity above it; 0: as cores give, else 1."),
    COUNT(spine_links, "65536", "Parallel links between a leaf and a spine; 0: derived, else 1."),
    COUNT(core_links, "65536", "Parallel links between a spine and a core; 0: derived, else 1."),
    PARAM(RATE, struct clos_config, tier2_rate, "0bps", "0bps", "100Tbps", NULL,
          "Rate of a link between leaf and spine; 0bps: like link_rate.",
          "our choice: all links alike"),
    PARAM(RATE, struct clos_config, tier3_rate, "0bps", "0bps", "100Tbps", NULL,
          "Rate of a link between spine and core; 0bps: like link_rate.",
          "our choice: all links alike"),
    PARAM(TIME, struct clos_config, tier2_delay, "0ns", "0ns", "10s", NULL,
          "Delay of a link between leaf and spine; 0ns: like link_delay.",
          "our choice: all links alike"),
    PARAM(TIME, struct clos_config, tier3_delay, "0ns", "0ns", "10s", NULL,
          "Delay of a link between spine and core; 0ns: like link_delay.",
          "our choice: all links alike"),
    PARAM_END};

G_GNUC_PRINTF(4, 5)
static gboolean refuse(GError **error, const char *key, int64_t value, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    g_autofree char *what = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, BUILD_ERROR, 0, "%s = %" PRId64 ": %s", key, value, what);
    return FALSE;
}

/* A key that speaks of a tier which is not there would be ignored; say so instead. */
static gboolean check_tiers(const struct clos_config *config, GError **error)
{
    const struct {
        const char *key;
        int64_t value, n_tiers;
    } uses[] = {{"spines", config->spines, 2},
                {"oversubscription", config->oversubscription, 2},
                {"spine_links", config->spine_links, 2},
                {"tier2_rate", config->tier2_rate, 2},
                {"tier2_delay", config->tier2_delay, 2},
                {"pods", config->pods, 3},
                {"cores", config->cores, 3},
                {"oversubscription_tier2", config->oversubscription_tier2, 3},
                {"core_links", config->core_links, 3},
                {"tier3_rate", config->tier3_rate, 3},
                {"tier3_delay", config->tier3_delay, 3}};

    for (size_t i = 0; i < G_N_ELEMENTS(uses); i++)
        if (uses[i].value && config->tiers < uses[i].n_tiers)
            return refuse(error, uses[i].key, uses[i].value,
                          "this needs tiers = %" PRId64 ", and tiers is %" PRId64, uses[i].n_tiers,
                          config->tiers);
    return TRUE;
}

/* --- how many below: hosts on a leaf, leaves in a pod ----------------------------------------- */

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The least number of links down of rate `down_bps` that makes a whole number of links up. */
static int64_t whole_step(int64_t down_bps, int64_t up_bps, int64_t ratio)
{
    return ratio * up_bps / greatest_divisor(down_bps, ratio * up_bps);
}

/*
 * Of `n` things, how many go together so that equal switches suffice: the least x with
 * 2 x^2 >= n (two tiers above) or 4 x^3 >= n (three), a multiple of `step`; rather a divisor of n
 * if one is below 2 x.
 */
static int64_t equal_share(int64_t n, int64_t step, int64_t n_tiers)
{
    int64_t least = step;

    if (step >= n)
        return n;
    while ((n_tiers == 3 ? 4 * least * least * least : 2 * least * least) < n)
        least += step;
    for (int64_t share = least; share < MIN(2 * least, n); share += step)
        if (n % share == 0)
            return share;
    return least;
}

/*
 * The most of `n` things, each with `n_links` links, below a switch of `radix` ports that has as
 * many above as the ratio asks for; a multiple of `step`, and at least that.
 */
static int64_t radix_share(int64_t n, int64_t step, int64_t n_links, int64_t radix,
                           const struct tiers_links *down, const struct tiers_links *up,
                           int64_t ratio)
{
    unsigned __int128 below = (unsigned __int128)(uint64_t)step * (uint64_t)n_links;
    unsigned __int128 above = below * (uint64_t)down->rate_bps /
                              ((unsigned __int128)(uint64_t)ratio * (uint64_t)up->rate_bps);
    int64_t n_steps = (int64_t)((unsigned __int128)(uint64_t)radix / (below + above));

    if (step >= n)
        return n;
    return MIN(MAX(n_steps, 1), (n + step - 1) / step) * step;
}

/* What is below a switch of `tier`: hosts on a leaf (1), leaves in a pod (2). */
static int64_t derive_share(const struct clos_config *config, const struct tiers *tiers, int tier,
                            int64_t n)
{
    const struct tiers_links *down = &tiers->links[tier - 1], *up = &tiers->links[tier];
    int64_t asked = tier == 1 ? config->oversubscription : config->oversubscription_tier2;
    int64_t n_links = MAX(down->n_parallel, 1), ratio = MAX(asked, 1);
    int64_t step = whole_step(down->rate_bps, up->rate_bps, ratio);

    step /= greatest_divisor(step, n_links);
    if (config->radix)
        return radix_share(n, step, n_links, config->radix, down, up, ratio);
    return equal_share(n, step, tier == 1 ? config->tiers : 2);
}

/* --- how many above: spines, cores ------------------------------------------------------------ */

/* What a full switch has above it; 0: to be derived. */
struct above {
    const char *node, *node_key, *links_key, *ratio_key; /* for errors */
    int64_t n_down;                                      /* links */
    int64_t n_nodes, n_links, ratio;                     /* as asked for; then as solved */
    int64_t scale;                                       /* node_key's value = n_nodes x scale */
};

/* The links up that the ratio asks for, which must be whole. */
static gboolean ratio_links(const struct above *above, int64_t down_bps, int64_t up_bps,
                            int64_t *n_up, GError **error)
{
    unsigned __int128 down = (unsigned __int128)(uint64_t)above->n_down * (uint64_t)down_bps;
    unsigned __int128 up = (unsigned __int128)(uint64_t)above->ratio * (uint64_t)up_bps;
    g_autofree char *down_text = units_format(UNITS_RATE, down_bps);
    g_autofree char *up_text = units_format(UNITS_RATE, up_bps);

    *n_up = (int64_t)(down / up);
    if (down % up == 0)
        return TRUE;
    return refuse(error, above->ratio_key, above->ratio,
                  "%" PRId64 " links of %s below %s need %.4g links of %s above it; a whole number "
                  "is expected (a multiple of %" PRId64 " links below gives one)",
                  above->n_down, down_text, above->node, (double)down / (double)up, up_text,
                  whole_step(down_bps, up_bps, above->ratio));
}

/* Nodes and links, as asked for, that do not make up the links that the ratio asks for. */
static gboolean refuse_above(const struct above *above, int64_t n_up, GError **error)
{
    int64_t n_nodes = above->n_nodes, n_links = above->n_links;

    if (n_nodes == 0)
        return refuse(error, above->links_key, n_links,
                      "%s has %" PRId64 " links up at %s %" PRId64
                      "; a divisor of that is expected",
                      above->node, n_up, above->ratio_key, MAX(above->ratio, 1));
    if (n_links == 0)
        return refuse(error, above->node_key, n_nodes * above->scale,
                      "%" PRId64 " of them are above %s, which has %" PRId64
                      " links up at %s %" PRId64 "; the one must divide the other",
                      n_nodes, above->node, n_up, above->ratio_key, above->ratio);
    return refuse(error, above->node_key, n_nodes * above->scale,
                  "%s has %" PRId64 " links up at %s %" PRId64 ", but %" PRId64
                  " nodes above it with %s %" PRId64 " make %" PRId64
                  "; leave one of the three at 0",
                  above->node, n_up, above->ratio_key, above->ratio, n_nodes, above->links_key,
                  n_links, n_nodes * n_links);
}

/* Finds those of nodes, links and ratio that were left at 0. */
static gboolean solve_above(struct above *above, int64_t down_bps, int64_t up_bps, GError **error)
{
    const struct above asked = *above;
    int64_t n_up;

    above->n_links = MAX(asked.n_links, 1);
    if (asked.ratio == 0 && asked.n_nodes > 0)
        return TRUE;
    above->ratio = MAX(asked.ratio, 1);
    if (!ratio_links(above, down_bps, up_bps, &n_up, error))
        return FALSE;
    if (asked.n_nodes == 0)
        above->n_nodes = n_up / above->n_links;
    else if (asked.n_links == 0)
        above->n_links = n_up / above->n_nodes;
    if (above->n_nodes * above->n_links == n_up)
        return TRUE;
    return refuse_above(&asked, n_up, error);
}

/* --- the counts, tier by tier ----------------------------------------------------------------- */

static void set_links(const struct clos_config *config, struct tiers *tiers)
{
    const struct topology_common *common = &config->common;
    const int64_t rates_bps[] = {common->link_rate, config->tier2_rate, config->tier3_rate};
    const int64_t delays_ps[] = {common->link_delay, config->tier2_delay, config->tier3_delay};

    for (int tier = 0; tier < TIERS_MOST; tier++) {
        tiers->links[tier].rate_bps = rates_bps[tier] ? rates_bps[tier] : common->link_rate;
        tiers->links[tier].delay_ps = delays_ps[tier] ? delays_ps[tier] : common->link_delay;
        tiers->switch_latency_ps[tier] = common->switch_latency;
    }
    tiers->links[0].n_parallel = config->nics_per_plane;
}

static gboolean set_leaves(const struct clos_config *config, struct tiers *tiers, GError **error)
{
    int64_t n_hosts = config->common.hosts;

    if (config->tiers == 1) {
        tiers->hosts_per_leaf = n_hosts;
        if (config->hosts_per_leaf && config->hosts_per_leaf != n_hosts)
            return refuse(error, "hosts_per_leaf", config->hosts_per_leaf,
                          "one tier is one switch with all %" PRId64 " hosts; leave it at 0, or "
                          "use tiers = 2",
                          n_hosts);
        return TRUE;
    }
    if (config->hosts_per_leaf > n_hosts)
        return refuse(error, "hosts_per_leaf", config->hosts_per_leaf,
                      "more than there are hosts (%" PRId64 ")", n_hosts);
    tiers->hosts_per_leaf =
        config->hosts_per_leaf ? config->hosts_per_leaf : derive_share(config, tiers, 1, n_hosts);
    return TRUE;
}

static gboolean set_pods(const struct clos_config *config, struct tiers *tiers, GError **error)
{
    int64_t n_leaves = tiers_n_leaves(tiers);

    tiers->leaves_per_pod = n_leaves;
    if (config->tiers < 3)
        return TRUE;
    if (config->pods == 0) {
        tiers->links[1].n_parallel = config->spine_links;
        tiers->leaves_per_pod = derive_share(config, tiers, 2, n_leaves);
        return TRUE;
    }
    if (n_leaves % config->pods != 0)
        return refuse(error, "pods", config->pods,
                      "a divisor of the number of leaves is expected, which is %" PRId64
                      " (%" PRId64 " hosts, %" PRId64 " a leaf)",
                      n_leaves, tiers->n_hosts, tiers->hosts_per_leaf);
    tiers->leaves_per_pod = n_leaves / config->pods;
    return TRUE;
}

static gboolean set_spines(const struct clos_config *config, struct tiers *tiers, GError **error)
{
    int64_t n_pods = tiers_n_pods(tiers);
    struct above above = {.node = "a leaf",
                          .node_key = "spines",
                          .links_key = "spine_links",
                          .ratio_key = "oversubscription",
                          .n_down = tiers->hosts_per_leaf * config->nics_per_plane,
                          .n_nodes = config->spines / n_pods,
                          .n_links = config->spine_links,
                          .ratio = config->oversubscription,
                          .scale = n_pods};

    if (config->spines % n_pods != 0)
        return refuse(error, "spines", config->spines,
                      "a multiple of the number of pods, %" PRId64 ", is expected", n_pods);
    if (!solve_above(&above, tiers->links[0].rate_bps, tiers->links[1].rate_bps, error))
        return FALSE;
    tiers->spines_per_pod = above.n_nodes;
    tiers->links[1].n_parallel = above.n_links;
    return TRUE;
}

static gboolean set_cores(const struct clos_config *config, struct tiers *tiers, GError **error)
{
    int64_t per_pod = tiers->spines_per_pod;
    struct above above = {.node = "a spine",
                          .node_key = "cores",
                          .links_key = "core_links",
                          .ratio_key = "oversubscription_tier2",
                          .n_down = tiers->leaves_per_pod * tiers->links[1].n_parallel,
                          .n_nodes = config->cores / per_pod,
                          .n_links = config->core_links,
                          .ratio = config->oversubscription_tier2,
                          .scale = per_pod};

    if (config->cores % per_pod != 0)
        return refuse(error, "cores", config->cores,
                      "a multiple of the spines of a pod, %" PRId64
                      ", is expected: each position has cores of its own",
                      per_pod);
    if (!solve_above(&above, tiers->links[1].rate_bps, tiers->links[2].rate_bps, error))
        return FALSE;
    tiers->cores_per_spine = above.n_nodes;
    tiers->links[2].n_parallel = above.n_links;
    return TRUE;
}

static gboolean check_radix(const struct clos_config *config, const struct tiers *tiers,
                            GError **error)
{
    const struct tiers_links *links = tiers->links;
    const int64_t n_ports[] = {
        tiers->hosts_per_leaf * links[0].n_parallel + tiers->spines_per_pod * links[1].n_parallel,
        tiers->leaves_per_pod * links[1].n_parallel + tiers->cores_per_spine * links[2].n_parallel,
        tiers_n_pods(tiers) * links[2].n_parallel};

    for (int tier = 1; config->radix && tier <= config->tiers; tier++)
        if (n_ports[tier - 1] > config->radix)
            return refuse(error, "radix", config->radix,
                          "a switch of tier %d needs %" PRId64 " ports for %" PRId64
                          " hosts; more ports, fewer hosts%s are expected",
                          tier, n_ports[tier - 1], tiers->n_hosts,
                          config->tiers < 3 ? " or more tiers" : "");
    return TRUE;
}

static gboolean build_clos(const void *data, struct build *build, struct graph *graph,
                           GError **error)
{
    const struct clos_config *config = data;
    struct tiers tiers = {.kind = "clos",
                          .n_hosts = config->common.hosts,
                          .n_planes = config->common.planes,
                          .n_tiers = config->tiers};

    set_links(config, &tiers);
    return check_tiers(config, error) && set_leaves(config, &tiers, error) &&
           set_pods(config, &tiers, error) &&
           (config->tiers < 2 || set_spines(config, &tiers, error)) &&
           (config->tiers < 3 || set_cores(config, &tiers, error)) &&
           check_radix(config, &tiers, error) && tiers_build(&tiers, build, graph, error) &&
           topology_slow_plane(&config->common, build, graph, error);
}

const struct topology_ops topology_clos = {
    .name = "clos",
    .summary = "Planes of one, two or three tiers of switches: leaf-spine, fat tree.",
    .source = "Al-Fares et al., SIGCOMM 2008; planes as in SOURCES.md 5",
    .config_size = sizeof(struct clos_config),
    .params = params,
    .build = build_clos,
};
