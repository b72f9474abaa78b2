/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server as NCCL sees it (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE), several times on one switch a
 * plane. The file says what is in a server: GPUs, NICs, which NICs are near which GPU, their speed
 * and that of PCIe. It says nothing of the fabric beyond.
 *
 *   <system> <cpu> <pci class link_speed link_width>... ; class 0x0302.. or 0x0300.. is a GPU, as
 * is a pci with a <gpu> in it; 0x02.. or a <net> (speed in Mbit/s) is a NIC, as is a leaf without a
 *   class; other pci elements are switches and make a group of what they hold.
 *
 * Each GPU is a host with as many NIC ports, one a plane, as its group has NICs for each GPU. Where
 * GPUs share a NIC, each has its share of the rate, fixed. Where a file has no GPU (p5.48xlarge),
 * one is taken for each group of NICs. A port is no faster than the GPU's PCIe allows, or the
 * NIC's.
 *
 * Left out: NVLink, sockets, what PCIe costs beside its rate; uneven groups are taken together.
 * Source: NVIDIA/nccl, src/graph/xml.cc and topo.cc, 2026; PCIe 3 and later: 128 of 130 bits carry.
 */
#include "sim/core/reader.h"
#include "sim/core/units.h"
#include "topologies/tiers.h"
#include "topologies/topology.h"
#include <string.h>

#define MOST_DEPTH  64
#define MOST_BYTES  (64u << 20)
#define MOST_PLANES 16

struct nccl_config {
    char *file;
    int64_t servers, nic_rate, link_delay, switch_latency;
};

static const struct param params[] = {
    PARAM(TEXT, struct nccl_config, file, "", NULL, NULL, NULL,
          "Topology file of NCCL: one server. Each GPU is a host.",
          "our choice: no default can be meant"),
    PARAM(NUMBER, struct nccl_config, servers, "2", "1", "65536", NULL,
          "So many servers like this one.", "our choice: the least with a fabric between"),
    PARAM(RATE, struct nccl_config, nic_rate, "0bps", "0bps", "100Tbps", NULL,
          "Speed of a NIC; 0: the file's, or what its PCIe carries.",
          "our choice: few of the files say it"),
    PARAM(TIME, struct nccl_config, link_delay, "500ns", "0ns", "10s", NULL,
          "Propagation delay of each link.", "our choice: cable plus PHY"),
    PARAM(TIME, struct nccl_config, switch_latency, "600ns", "0ns", "1s", NULL,
          "Time from the last bit in to the first bit out of an idle switch.",
          "SOURCES.md 5: Tomahawk 5, secondary source"),
    PARAM_END};

enum device { DEVICE_UNKNOWN, DEVICE_GPU, DEVICE_NIC, DEVICE_SWITCH };

/* An open element, and what it holds if it is one that groups. */
struct element {
    bool is_pci, is_net;
    enum device device;
    int64_t pcie_bps, net_bps; /* 0: not said */
    uint32_t n_gpus, n_nics, n_pci;
};

struct nccl {
    const struct nccl_config *config;
    const char *path;
    struct element stack[MOST_DEPTH];
    uint32_t depth;
    uint32_t n_gpus, n_nics;
    uint32_t n_groups, n_nic_groups, n_bare_groups; /* with devices; with NICs; GPUs without */
    uint32_t least_nics, most_nics;                 /* for each GPU of a group, rounded down */
    int64_t gpu_pcie_bps, nic_pcie_bps, net_bps;    /* least seen; INT64_MAX: none */
};

/* --- attributes ------------------------------------------------------------------------------- */

static const char *attribute(const char **names, const char **values, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return values[i];
    return "";
}

/* "16 GT/s" of 16 lanes, in bit/s, to whole Mb/s; 0 where it is not said. */
static int64_t pcie_bps(const char *speed, const char *width)
{
    char *end;
    double giga = g_ascii_strtod(speed, &end);
    guint64 lanes = g_ascii_strtoull(width, NULL, 10);

    if (!(giga > 0) || giga > 1000 || lanes == 0 || lanes > 32 || !strstr(end, "GT/s"))
        return 0;
    int64_t per_lane = (int64_t)(giga * 1000) * 1000000;

    int64_t bps =
        giga < 8 ? per_lane * (int64_t)lanes / 10 * 8 : per_lane * (int64_t)lanes / 130 * 128;

    return bps / 1000000 * 1000000;
}

static enum device device_of(const char *class)
{
    if (g_str_has_prefix(class, "0x0302") || g_str_has_prefix(class, "0x0300"))
        return DEVICE_GPU;
    if (g_str_has_prefix(class, "0x02"))
        return DEVICE_NIC;
    return *class ? DEVICE_SWITCH : DEVICE_UNKNOWN;
}

/* --- elements --------------------------------------------------------------------------------- */

static void start_element(GMarkupParseContext *context, const char *name, const char **names,
                          const char **values, void *data, GError **error)
{
    struct nccl *nccl = data;
    struct element element = {.is_pci = strcmp(name, "pci") == 0,
                              .is_net = strcmp(name, "net") == 0};
    struct element *parent = nccl->depth ? &nccl->stack[nccl->depth - 1] : NULL;

    (void)context;
    if (nccl->depth == MOST_DEPTH || (!parent && strcmp(name, "system") != 0)) {
        g_set_error(error, READER_ERROR, 0,
                    parent ? "elements %d deep; a topology of NCCL is not"
                           : "the outermost element is no <system> (%d)",
                    nccl->depth);
        return;
    }
    if (element.is_pci) {
        element.device = device_of(attribute(names, values, "class"));
        element.pcie_bps = pcie_bps(attribute(names, values, "link_speed"),
                                    attribute(names, values, "link_width"));
        parent->n_pci++;
    }
    if (element.is_net)
        element.net_bps =
            (int64_t)MIN(g_ascii_strtoull(attribute(names, values, "speed"), NULL, 10), 100000000) *
            1000000;
    if (strcmp(name, "gpu") == 0 && parent->is_pci)
        parent->device = DEVICE_GPU;
    nccl->stack[nccl->depth++] = element;
}

static void keep_least(int64_t *least, int64_t value)
{
    if (value > 0)
        *least = MIN(*least, value);
}

/* The nearest open element that groups: a PCIe switch, a cpu or the system. */
static struct element *group_above(struct nccl *nccl)
{
    for (uint32_t i = nccl->depth; i-- > 0;) {
        const struct element *element = &nccl->stack[i];

        if ((element->is_pci && element->n_pci > 0) || i <= 1)
            return &nccl->stack[i];
    }
    return NULL;
}

static void close_group(struct nccl *nccl, const struct element *group)
{
    nccl->n_groups += group->n_gpus + group->n_nics > 0;
    nccl->n_nic_groups += group->n_nics > 0;
    nccl->n_bare_groups += group->n_gpus > 0 && group->n_nics == 0;
    if (group->n_gpus == 0)
        return;
    nccl->least_nics = MIN(nccl->least_nics, group->n_nics / group->n_gpus);
    nccl->most_nics = MAX(nccl->most_nics, group->n_nics / group->n_gpus);
}

static void end_element(GMarkupParseContext *context, const char *name, void *data, GError **error)
{
    struct nccl *nccl = data;
    struct element element = nccl->stack[--nccl->depth];
    struct element *group = group_above(nccl);
    bool leaf = element.is_pci && element.n_pci == 0;

    (void)context;
    (void)name;
    (void)error;
    close_group(nccl, &element);
    if (!group)
        return;
    if (element.is_net && element.net_bps > 0) {
        keep_least(&nccl->net_bps, element.net_bps);
        if (nccl->depth >= 2 && nccl->stack[nccl->depth - 2].is_pci) {
            nccl->stack[nccl->depth - 2].device = DEVICE_NIC;
            return;
        }
        group->n_nics++;
        nccl->n_nics++;
    }
    if (leaf && element.device == DEVICE_GPU) {
        group->n_gpus++;
        nccl->n_gpus++;
        keep_least(&nccl->gpu_pcie_bps, element.pcie_bps);
    } else if (leaf && element.device != DEVICE_SWITCH) {
        group->n_nics++;
        nccl->n_nics++;
        keep_least(&nccl->nic_pcie_bps, element.pcie_bps);
    }
}

static gboolean parse(struct nccl *nccl, const struct reader *reader, GError **error)
{
    static const GMarkupParser parser = {.start_element = start_element,
                                         .end_element = end_element};
    g_autoptr(GMarkupParseContext) context = NULL;
    g_autoptr(GError) fault = NULL;
    int line = 0;

    if (reader->length > MOST_BYTES)
        return reader_refuse(reader, 0, error, "more than %u B of XML", MOST_BYTES);
    context = g_markup_parse_context_new(&parser, 0, nccl, NULL);
    if (!g_markup_parse_context_parse(context, reader->text + reader->next,
                                      (gssize)(reader->length - reader->next), &fault) ||
        !g_markup_parse_context_end_parse(context, &fault)) {
        g_markup_parse_context_get_position(context, &line, NULL);
        return reader_refuse(reader, (uint32_t)MAX(line, 1), error,
                             "a topology of NCCL is expected: %s", fault->message);
    }
    if (nccl->n_nics > 0)
        return TRUE;
    return reader_refuse(reader, 0, error, "%u GPUs, but no NIC (no pci of class 0x02, no net)",
                         nccl->n_gpus);
}

/* --- the graph -------------------------------------------------------------------------------- */

struct plan {
    uint32_t n_gpus, nics_each, n_sharing; /* n_sharing GPUs have one NIC together, 1: none do */
    int64_t nic_bps, port_bps;
};

static void plan_ports(const struct nccl *nccl, struct plan *plan, struct build *build)
{
    bool even = nccl->n_gpus > 0 && nccl->n_bare_groups == 0 && nccl->least_nics > 0 &&
                nccl->least_nics == nccl->most_nics;

    plan->n_gpus = nccl->n_gpus ? nccl->n_gpus : nccl->n_nic_groups;
    if (!nccl->n_gpus)
        build_note(build, "no GPU in the file: one is taken for each of the %u groups of NICs",
                   nccl->n_nic_groups);
    plan->nics_each = even ? nccl->least_nics : nccl->n_nics / plan->n_gpus;
    plan->n_sharing = plan->nics_each ? 1 : (plan->n_gpus + nccl->n_nics - 1) / nccl->n_nics;
    plan->nics_each = CLAMP(plan->nics_each, 1, MOST_PLANES);
    if (plan->n_sharing > 1)
        build_note(build, "%u GPUs share a NIC: each has its share of the rate", plan->n_sharing);
}

static gboolean plan_rates(const struct nccl *nccl, struct plan *plan, struct build *build,
                           GError **error)
{
    int64_t asked = nccl->config->nic_rate, cap = INT64_MAX;
    const char *from = asked ? "nic_rate" : nccl->net_bps < INT64_MAX ? "the file" : "its PCIe";

    plan->nic_bps = asked ? asked : nccl->net_bps < INT64_MAX ? nccl->net_bps : nccl->nic_pcie_bps;
    if (plan->nic_bps == INT64_MAX) {
        g_set_error(error, READER_ERROR, 0,
                    "%s: neither speeds of NICs nor of their PCIe; nic_rate is expected",
                    nccl->path);
        return FALSE;
    }
    if (nccl->gpu_pcie_bps < INT64_MAX)
        cap = nccl->gpu_pcie_bps / plan->nics_each;
    plan->port_bps = MIN(MIN(plan->nic_bps, nccl->nic_pcie_bps) / plan->n_sharing, cap);
    g_autofree char *nic = units_display(UNITS_RATE, (double)plan->nic_bps);
    g_autofree char *port = units_display(UNITS_RATE, (double)plan->port_bps);
    g_autofree char *pcie = units_display(UNITS_RATE, (double)nccl->gpu_pcie_bps);

    build_note(build, "a NIC has %s, as %s says; a port of a GPU %s%s%s", nic, from, port,
               nccl->gpu_pcie_bps < INT64_MAX ? ", PCIe of a GPU carries " : "",
               nccl->gpu_pcie_bps < INT64_MAX ? pcie : "");
    return TRUE;
}

static gboolean build_servers(const struct nccl *nccl, struct build *build, struct graph *graph,
                              GError **error)
{
    struct plan plan = {0};

    plan_ports(nccl, &plan, build);
    if (!plan_rates(nccl, &plan, build, error))
        return FALSE;
    struct tiers tiers = {.kind = "nccl",
                          .n_hosts = nccl->config->servers * plan.n_gpus,
                          .n_planes = plan.nics_each,
                          .n_tiers = 1,
                          .hosts_per_leaf = nccl->config->servers * plan.n_gpus,
                          .links = {{.n_parallel = 1,
                                     .rate_bps = plan.port_bps,
                                     .delay_ps = nccl->config->link_delay}},
                          .switch_latency_ps = {nccl->config->switch_latency}};

    build_note(build,
               "NCCL topology %s: %u GPUs, %u NICs, %u groups; %" G_GINT64_FORMAT
               " servers; each GPU is a host with %u port%s, one switch a plane joins all; NVLink "
               "is left out",
               nccl->path, nccl->n_gpus, nccl->n_nics, nccl->n_groups, nccl->config->servers,
               plan.nics_each, plan.nics_each == 1 ? "" : "s");
    return tiers_build(&tiers, build, graph, error);
}

static gboolean build_graph(const void *data, struct build *build, struct graph *graph,
                            GError **error)
{
    struct nccl nccl = {.config = data,
                        .least_nics = UINT32_MAX,
                        .gpu_pcie_bps = INT64_MAX,
                        .nic_pcie_bps = INT64_MAX,
                        .net_bps = INT64_MAX};
    struct reader reader;
    gboolean ok = reader_open_text(&reader, nccl.config->file, "a topology of NCCL", error);

    nccl.path = nccl.config->file;
    ok = ok && parse(&nccl, &reader, error) && build_servers(&nccl, build, graph, error);
    reader_close(&reader);
    return ok;
}

const struct topology_ops topology_nccl = {
    .name = "nccl",
    .summary = "Servers as a topology file of NCCL has them, on one switch a plane.",
    .source = "NVIDIA/nccl, src/graph/xml.cc",
    .config_size = sizeof(struct nccl_config),
    .params = params,
    .build = build_graph,
};
