/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * htsim's fat-tree files (.topo), two or three tiers. One "key value" a line, keys in any case,
 * values whole numbers, words separated by spaces or tabs, '#' starts a comment:
 *
 *     Nodes n | Tiers 2|3 | Podsize hosts         in front of the first tier
 *     Tier 0|1|2                                   opens a tier; 0 is the ToR
 *     Downlink_speed_Gbps | Radix_Down | Radix_Up (not on the top tier) | Downlink_Latency_ns
 *     Switch_Latency_ns (default 0) | Bundle (default 1) | Oversubscribed (default: not said)
 *     Queue_Up | Queue_Down (bytes; default: as the scenario says)
 *
 * Wiring: a ToR has Bundle(tier 1) links to each of Radix_Up / Bundle aggregation switches of its
 * pod; of a pod's A aggregation switches number a reaches the cores a, a + A, a + 2A ... by
 * Bundle(tier 2) links each. Speed, latency and Bundle of a tier are those of its links downwards.
 * Queue_Up of a tier limits the queues of its ports upwards, Queue_Down those downwards.
 *
 * The counts of ports decide. They must meet (as many ports down as links arrive), and where
 * Oversubscribed differs from what they give, a note says so; htsim instead derives its numbers of
 * switches from Oversubscribed and asserts that the rest fits. Left out: Bundle at the hosts, which
 * htsim has not either. `planes` repeats the whole fabric and is ours.
 *
 * Source: grammar as in inputs/htsim_topo/README.md; wiring as in Broadcom/csg-htsim,
 * sim/datacenter/fat_tree_topology.cpp, commit 52ff02f.
 */
#include "sim/core/reader.h"
#include "topologies/tiers.h"
#include "topologies/topology.h"
#include <inttypes.h>
#include <string.h>

struct htsim_config {
    char *file;
    int64_t planes;
};

static const struct param params[] = {
    PARAM(TEXT, struct htsim_config, file, "", NULL, NULL, NULL,
          "Fabric in htsim's .topo format; it gives hosts, rates, delays and latencies.",
          "our choice: no default can be meant"),
    PARAM(
        NUMBER, struct htsim_config, planes, "1", "1", "16", NULL,
        "Independent copies of the file's fabric, each at the file's speeds; a host has a port on "
        "all.",
        "htsim has one plane"),
    PARAM_END};

enum key {
    NODES,
    TIERS,
    PODSIZE,
    TIER,
    SPEED,
    RADIX_DOWN,
    RADIX_UP,
    LINK_LATENCY,
    SWITCH_LATENCY,
    OVERSUBSCRIBED,
    BUNDLE,
    QUEUE_UP,
    QUEUE_DOWN,
    N_KEYS
};

static const char *const key_names[N_KEYS] = {
    [NODES] = "Nodes",
    [TIERS] = "Tiers",
    [PODSIZE] = "Podsize",
    [TIER] = "Tier",
    [SPEED] = "Downlink_speed_Gbps",
    [RADIX_DOWN] = "Radix_Down",
    [RADIX_UP] = "Radix_Up",
    [LINK_LATENCY] = "Downlink_Latency_ns",
    [SWITCH_LATENCY] = "Switch_Latency_ns",
    [OVERSUBSCRIBED] = "Oversubscribed",
    [BUNDLE] = "Bundle",
    [QUEUE_UP] = "Queue_Up",
    [QUEUE_DOWN] = "Queue_Down",
};

/* Ranges of the values. Our choice, as wide as the other topologies': 100 Tb/s, 10 s, 1 s. */
static const int64_t least[N_KEYS] = {
    [NODES] = 1,          [TIERS] = 2,          [PODSIZE] = 1,  [TIER] = 0,
    [SPEED] = 1,          [RADIX_DOWN] = 1,     [RADIX_UP] = 1, [LINK_LATENCY] = 0,
    [SWITCH_LATENCY] = 0, [OVERSUBSCRIBED] = 1, [BUNDLE] = 1,   [QUEUE_UP] = 1,
    [QUEUE_DOWN] = 1,
};
static const int64_t most[N_KEYS] = {
    [NODES] = 1048576,
    [TIERS] = 3,
    [PODSIZE] = 1048576,
    [TIER] = 2,
    [SPEED] = 100000,
    [RADIX_DOWN] = 65536,
    [RADIX_UP] = 65536,
    [LINK_LATENCY] = INT64_C(10000000000),
    [SWITCH_LATENCY] = 1000000000,
    [OVERSUBSCRIBED] = 65536,
    [BUNDLE] = 65536,
    [QUEUE_UP] = INT64_C(1) << 50,
    [QUEUE_DOWN] = INT64_C(1) << 50,
};

struct value {
    int64_t number;
    uint32_t line; /* 0: not given */
};

struct topo {
    const char *path;
    uint32_t line;    /* being read */
    int current_tier; /* -1: still in the header */
    struct value header[TIER];
    struct value tiers[TIERS_MOST][N_KEYS]; /* [t][TIER]: where the tier is opened */
};

/* Sets "FILE:LINE: what is wrong"; line 0 stands for the whole file. */
G_GNUC_PRINTF(4, 5)
static gboolean refuse(const struct topo *topo, uint32_t line, GError **error, const char *format,
                       ...)
{
    va_list list;

    va_start(list, format);
    g_autofree char *what = g_strdup_vprintf(format, list);
    va_end(list);
    if (line)
        g_set_error(error, BUILD_ERROR, 0, "%s:%u: %s", topo->path, line, what);
    else
        g_set_error(error, BUILD_ERROR, 0, "%s: %s", topo->path, what);
    return FALSE;
}

/* --- reading lines ---------------------------------------------------------------------------- */

/* N_KEYS, with an error, where the word is no key. */
static enum key find_key(const struct topo *topo, const char *word, GError **error)
{
    for (int k = 0; k < N_KEYS; k++)
        if (g_ascii_strcasecmp(word, key_names[k]) == 0)
            return (enum key)k;
    const char *near = param_nearest(word, key_names, N_KEYS);

    refuse(topo, topo->line, error, "unknown key '%s'%s%s%s", word,
           near ? ", is '" : "; keys are Nodes, Tiers, Podsize, Tier and those of a tier",
           near ? near : "", near ? "' meant?" : "");
    return N_KEYS;
}

static gboolean parse_value(const struct topo *topo, enum key key, const char *text,
                            int64_t *number, GError **error)
{
    char *end;

    *number = g_ascii_strtoll(text, &end, 10);
    if (end == text || *end)
        return refuse(topo, topo->line, error, "%s '%s': a whole number is expected",
                      key_names[key], text);
    if (*number >= least[key] && *number <= most[key])
        return TRUE;
    return refuse(topo, topo->line, error,
                  "%s %s: out of range; %" PRId64 " to %" PRId64 " is possible", key_names[key],
                  text, least[key], most[key]);
}

/* Where the value of `key` belongs now, or NULL with an error. */
static struct value *find_place(struct topo *topo, enum key key, GError **error)
{
    if (key < TIER) {
        if (topo->current_tier < 0)
            return &topo->header[key];
        refuse(topo, topo->line, error, "%s belongs in front of the first Tier", key_names[key]);
        return NULL;
    }
    if (topo->current_tier >= 0)
        return &topo->tiers[topo->current_tier][key];
    refuse(topo, topo->line, error, "%s belongs to a tier; a line such as 'Tier 0' opens one",
           key_names[key]);
    return NULL;
}

static gboolean take(struct topo *topo, enum key key, int64_t number, GError **error)
{
    struct value *place;

    if (key == TIER)
        topo->current_tier = (int)number;
    place = find_place(topo, key, error);
    if (!place)
        return FALSE;
    if (place->line)
        return refuse(topo, topo->line, error, "%s is given twice%s; first in line %u",
                      key_names[key], key < TIER ? "" : " for one tier", place->line);
    *place = (struct value){number, topo->line};
    return TRUE;
}

static gboolean take_line(struct topo *topo, char *text, GError **error)
{
    char *comment = strchr(text, '#');
    enum key key;
    int64_t number;

    if (comment)
        *comment = '\0';
    g_strstrip(text);
    if (*text == '\0')
        return TRUE;
    size_t length = strcspn(text, " \t\r\f\v");
    char *value = text + length + (text[length] != '\0');

    text[length] = '\0';
    g_strchug(value);
    key = find_key(topo, text, error);
    if (key == N_KEYS)
        return FALSE;
    if (*value == '\0')
        return refuse(topo, topo->line, error, "%s has no value; a whole number is expected",
                      key_names[key]);
    return parse_value(topo, key, value, &number, error) && take(topo, key, number, error);
}

static gboolean read_lines(struct topo *topo, char *text, GError **error)
{
    while (text) {
        char *newline = strchr(text, '\n');

        if (newline)
            *newline++ = '\0';
        topo->line++;
        if (!take_line(topo, text, error))
            return FALSE;
        text = newline;
    }
    return TRUE;
}

static gboolean read_file(struct topo *topo, GError **error)
{
    struct reader file;
    gboolean ok = reader_open_text(&file, topo->path, "a .topo file of htsim", error) &&
                  read_lines(topo, file.text + file.next, error);

    reader_close(&file);
    return ok;
}

/* --- checking --------------------------------------------------------------------------------- */

static gboolean check_header(const struct topo *topo, GError **error)
{
    for (int key = 0; key < TIER; key++)
        if (topo->header[key].line == 0)
            return refuse(topo, 0, error, "no %s in front of the first Tier", key_names[key]);
    return TRUE;
}

static gboolean check_tier(const struct topo *topo, int tier, bool top, GError **error)
{
    static const enum key needed[] = {SPEED, RADIX_DOWN, LINK_LATENCY, RADIX_UP};
    const struct value *values = topo->tiers[tier];

    if (values[TIER].line == 0)
        return refuse(topo, 0, error, "no 'Tier %d'; Tiers %" PRId64 " needs Tier 0 to %" PRId64,
                      tier, topo->header[TIERS].number, topo->header[TIERS].number - 1);
    for (size_t i = 0; i < G_N_ELEMENTS(needed) - top; i++)
        if (values[needed[i]].line == 0)
            return refuse(topo, values[TIER].line, error, "Tier %d has no %s", tier,
                          key_names[needed[i]]);
    if (top && values[RADIX_UP].line)
        return refuse(topo, values[RADIX_UP].line, error,
                      "Radix_Up in Tier %d: nothing is above the top tier", tier);
    if (top && values[QUEUE_UP].line)
        return refuse(topo, values[QUEUE_UP].line, error,
                      "Queue_Up in Tier %d: nothing is above the top tier", tier);
    if (tier == 0 && values[BUNDLE].line && values[BUNDLE].number != 1)
        return refuse(topo, values[BUNDLE].line, error,
                      "Bundle %" PRId64 " in Tier 0: a host has one link to its ToR, 1 is expected",
                      values[BUNDLE].number);
    return TRUE;
}

static gboolean check_tiers(const struct topo *topo, GError **error)
{
    int n_tiers = (int)topo->header[TIERS].number;

    for (int tier = 0; tier < n_tiers; tier++)
        if (!check_tier(topo, tier, tier == n_tiers - 1, error))
            return FALSE;
    return TRUE;
}

/* Hosts fill pods, and a pod's hosts fill ToRs. */
static gboolean check_hosts(const struct topo *topo, GError **error)
{
    const struct value *nodes = &topo->header[NODES], *podsize = &topo->header[PODSIZE];
    const struct value *radix = &topo->tiers[0][RADIX_DOWN];

    if (topo->header[TIERS].number == 2 && podsize->number != nodes->number)
        return refuse(topo, podsize->line, error,
                      "Podsize %" PRId64 ": two tiers are one pod, %" PRId64 " is expected",
                      podsize->number, nodes->number);
    if (nodes->number % podsize->number != 0)
        return refuse(topo, podsize->line, error,
                      "Podsize %" PRId64 ": a divisor of Nodes %" PRId64 " is expected",
                      podsize->number, nodes->number);
    if (podsize->number % radix->number != 0)
        return refuse(topo, radix->line, error,
                      "Radix_Down %" PRId64 " in Tier 0: a divisor of Podsize %" PRId64
                      " is expected",
                      radix->number, podsize->number);
    return TRUE;
}

static int64_t bundle(const struct topo *topo, int tier)
{
    const struct value *value = &topo->tiers[tier][BUNDLE];

    return value->line ? value->number : 1;
}

/* The ports up of `tier` fill whole bundles, and the ports down of the next meet what arrives. */
static gboolean check_joint(const struct topo *topo, int tier, int64_t n_below, GError **error)
{
    const struct value *up = &topo->tiers[tier][RADIX_UP];
    const struct value *down = &topo->tiers[tier + 1][RADIX_DOWN];
    int64_t links = bundle(topo, tier + 1);

    if (up->number % links != 0)
        return refuse(topo, up->line, error,
                      "Radix_Up %" PRId64 " in Tier %d: a multiple of Bundle %" PRId64
                      " of Tier %d is expected",
                      up->number, tier, links, tier + 1);
    if (down->number != n_below * links)
        return refuse(topo, down->line, error,
                      "Radix_Down %" PRId64 " in Tier %d: %" PRId64 " %s below with %" PRId64
                      " link%s each need %" PRId64,
                      down->number, tier + 1, n_below, tier == 0 ? "ToRs" : "pods", links,
                      links == 1 ? "" : "s", n_below * links);
    return TRUE;
}

static gboolean check_counts(const struct topo *topo, GError **error)
{
    int64_t n_tors = topo->header[PODSIZE].number / topo->tiers[0][RADIX_DOWN].number;
    int64_t n_pods = topo->header[NODES].number / topo->header[PODSIZE].number;

    return check_joint(topo, 0, n_tors, error) &&
           (topo->header[TIERS].number == 2 || check_joint(topo, 1, n_pods, error));
}

/* --- the graph -------------------------------------------------------------------------------- */

static struct tiers_links links_below(const struct topo *topo, int tier)
{
    const struct value *values = topo->tiers[tier];

    return (struct tiers_links){.n_parallel = bundle(topo, tier),
                                .rate_bps = values[SPEED].number * 1000000000,
                                .delay_ps = values[LINK_LATENCY].number * 1000,
                                .queue_up_bytes = tier ? topo->tiers[tier - 1][QUEUE_UP].number : 0,
                                .queue_down_bytes = values[QUEUE_DOWN].number};
}

static struct tiers count_tiers(const struct topo *topo, int64_t n_planes)
{
    struct tiers tiers = {.kind = "htsim",
                          .n_hosts = topo->header[NODES].number,
                          .n_planes = n_planes,
                          .n_tiers = topo->header[TIERS].number};

    tiers.hosts_per_leaf = topo->tiers[0][RADIX_DOWN].number;
    tiers.leaves_per_pod = topo->header[PODSIZE].number / tiers.hosts_per_leaf;
    tiers.spines_per_pod = topo->tiers[0][RADIX_UP].number / bundle(topo, 1);
    if (tiers.n_tiers == 3)
        tiers.cores_per_spine = topo->tiers[1][RADIX_UP].number / bundle(topo, 2);
    for (int tier = 0; tier < tiers.n_tiers; tier++) {
        tiers.links[tier] = links_below(topo, tier);
        tiers.switch_latency_ps[tier] = topo->tiers[tier][SWITCH_LATENCY].number * 1000;
    }
    return tiers;
}

/* Oversubscribed is what the file's author meant; the counts are what is wired. */
static void note_oversubscription(const struct topo *topo, const struct tiers *tiers,
                                  struct build *build)
{
    int top = (int)tiers->n_tiers - 1;

    for (int tier = 0; tier < top; tier++) {
        const struct value *said = &topo->tiers[tier][OVERSUBSCRIBED];
        g_autofree char *ratio = tiers_ratio(tiers, tier + 1);
        g_autofree char *said_ratio = g_strdup_printf("%" PRId64 ":1", said->number);

        if (said->line && strcmp(ratio, said_ratio) != 0)
            build_note(build,
                       "%s:%u: Oversubscribed %" PRId64
                       " in Tier %d, but the counts of ports give %s, which is what is built",
                       topo->path, said->line, said->number, tier, ratio);
    }
    if (topo->tiers[top][OVERSUBSCRIBED].line)
        build_note(build, "%s:%u: Oversubscribed in Tier %d is ignored: nothing is above it",
                   topo->path, topo->tiers[top][OVERSUBSCRIBED].line, top);
    if (top == 1 && topo->tiers[2][TIER].line)
        build_note(build, "%s:%u: Tier 2 is ignored: Tiers is 2", topo->path,
                   topo->tiers[2][TIER].line);
}

static gboolean build_htsim(const void *data, struct build *build, struct graph *graph,
                            GError **error)
{
    const struct htsim_config *config = data;
    struct topo topo = {.path = config->file, .current_tier = -1};
    struct tiers tiers;

    if (!read_file(&topo, error) || !check_header(&topo, error) || !check_tiers(&topo, error) ||
        !check_hosts(&topo, error) || !check_counts(&topo, error))
        return FALSE;
    tiers = count_tiers(&topo, config->planes);
    note_oversubscription(&topo, &tiers, build);
    return tiers_build(&tiers, build, graph, error);
}

const struct topology_ops topology_htsim = {
    .name = "htsim",
    .summary = "A fat tree or leaf-spine from one of htsim's .topo files.",
    .source = "Broadcom/csg-htsim and ultraethernet/uet-htsim, sim/datacenter/topologies",
    .config_size = sizeof(struct htsim_config),
    .params = params,
    .build = build_htsim,
};
