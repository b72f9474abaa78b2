/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/fault.h"
#include "sim/core/table.h"
#include <string.h>

G_DEFINE_QUARK(weft - fault, fault_error)

static void release(void *fault)
{
    g_free(((struct fault *)fault)->name);
}

void fault_list_init(struct fault_list *list)
{
    list->faults = g_array_new(FALSE, FALSE, sizeof(struct fault));
    g_array_set_clear_func(list->faults, release);
}

void fault_list_clear(struct fault_list *list)
{
    g_clear_pointer(&list->faults, g_array_unref);
}

void fault_list_add(struct fault_list *list, const struct fault *fault)
{
    struct fault copy = *fault;

    copy.name = g_strdup(fault->name);
    g_array_append_val(list->faults, copy);
}

static gboolean refuse(const struct fault *fault, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static gboolean refuse(const struct fault *fault, GError **error, const char *format, ...)
{
    va_list list;
    g_autofree char *what = NULL;

    va_start(list, format);
    what = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, FAULT_ERROR, 0, "%s: %s", fault->name, what);
    return FALSE;
}

/* --- texts ------------------------------------------------------------------------------------ */

#define N_NUMBERS 4

/* Up to four numbers with `mark` between them; how many there are, 0 if the text is no such. */
static int parse_numbers(const char *text, char mark, uint32_t *numbers)
{
    for (int n = 0; n < N_NUMBERS; n++) {
        char *end;
        guint64 value = g_ascii_strtoull(text, &end, 10);

        if (!g_ascii_isdigit(*text) || value >= UINT32_MAX)
            return 0;
        numbers[n] = (uint32_t)value;
        if (*end == '\0')
            return n + 1;
        if (*end != mark)
            return 0;
        text = end + 1;
    }
    return 0;
}

static bool set_object(struct fault_object *object, enum fault_kind kind, const uint32_t *numbers)
{
    *object = (struct fault_object){kind, numbers[0], numbers[1], numbers[2], numbers[3]};
    return true;
}

bool fault_parse_object(const char *text, struct fault_object *object, const char **why)
{
    const char *colon = strchr(text, ':'), *rest = colon ? colon + 1 : text;
    uint32_t numbers[N_NUMBERS] = {0};

    *why = "an object is expected: link:N, link:NODE-NODE, nic:HOST.PORT, plane:N, switch:NODE, "
           "switch:sN, switch:TIER.PLANE.N or uplink:TIER.PLANE.N.K";
    if (g_str_has_prefix(text, "link:")) {
        if (parse_numbers(rest, '-', numbers) == 1)
            return set_object(object, FAULT_LINK, numbers);
        return parse_numbers(rest, '-', numbers) == 2 && set_object(object, FAULT_BETWEEN, numbers);
    }
    if (g_str_has_prefix(text, "nic:"))
        return parse_numbers(rest, '.', numbers) == 2 && set_object(object, FAULT_NIC, numbers);
    if (g_str_has_prefix(text, "plane:"))
        return parse_numbers(rest, '.', numbers) == 1 && set_object(object, FAULT_PLANE, numbers);
    if (g_str_has_prefix(text, "uplink:"))
        return parse_numbers(rest, '.', numbers) == 4 && set_object(object, FAULT_UPLINK, numbers);
    if (g_str_has_prefix(text, "switch:s"))
        return parse_numbers(rest + 1, '.', numbers) == 1 &&
               set_object(object, FAULT_SWITCH, numbers);
    if (g_str_has_prefix(text, "switch:")) {
        if (parse_numbers(rest, '.', numbers) == 1)
            return set_object(object, FAULT_NODE, numbers);
        return parse_numbers(rest, '.', numbers) == 3 &&
               set_object(object, FAULT_TIER_SWITCH, numbers);
    }
    return false;
}

static bool parse_rate(const char *text, struct fault *fault, const char **why)
{
    fault->change = FAULT_RATE;
    fault->is_share = !units_parse(UNITS_RATE, text, &fault->value, why);
    if (fault->is_share && !units_parse(UNITS_RATIO, text, &fault->value, why)) {
        *why = "a rate such as 100Gbps, or a share such as 50%, is expected";
        return false;
    }
    *why = "a rate above 0 is expected; a link without one is down";
    return fault->value > 0;
}

static bool parse_loss(const char *text, struct fault *fault, const char **why)
{
    fault->change = FAULT_LOSS;
    if (!units_parse(UNITS_RATIO, text, &fault->value, why))
        return false;
    *why = "a probability from 0 to 1 is expected";
    return fault->value >= 0 && fault->value <= UNITS_PPT;
}

bool fault_parse_change(const char *text, struct fault *fault, const char **why)
{
    fault->value = 0;
    fault->is_share = false;
    if (strcmp(text, "down") == 0 || strcmp(text, "up") == 0) {
        fault->change = *text == 'd' ? FAULT_DOWN : FAULT_UP;
        return true;
    }
    if (g_str_has_prefix(text, "rate="))
        return parse_rate(text + strlen("rate="), fault, why);
    if (g_str_has_prefix(text, "loss="))
        return parse_loss(text + strlen("loss="), fault, why);
    *why = "a change is expected: down, up, rate=100Gbps, rate=50% or loss=0.01";
    return false;
}

static char *format_object(const struct fault_object *object)
{
    switch (object->kind) {
    case FAULT_LINK:
        return g_strdup_printf("link:%u", object->number);
    case FAULT_BETWEEN:
        return g_strdup_printf("link:%u-%u", object->number, object->second);
    case FAULT_NIC:
        return g_strdup_printf("nic:%u.%u", object->number, object->second);
    case FAULT_NODE:
        return g_strdup_printf("switch:%u", object->number);
    case FAULT_SWITCH:
        return g_strdup_printf("switch:s%u", object->number);
    case FAULT_TIER_SWITCH:
        return g_strdup_printf("switch:%u.%u.%u", object->number, object->second, object->third);
    case FAULT_UPLINK:
        return g_strdup_printf("uplink:%u.%u.%u.%u", object->number, object->second, object->third,
                               object->fourth);
    case FAULT_PLANE:
        break;
    }
    return g_strdup_printf("plane:%u", object->number);
}

char *fault_what(const struct fault *fault)
{
    g_autofree char *object = format_object(&fault->object);
    g_autofree char *value = units_format(
        fault->change == FAULT_RATE && !fault->is_share ? UNITS_RATE : UNITS_RATIO, fault->value);

    switch (fault->change) {
    case FAULT_DOWN:
        return g_strdup_printf("%s down", object);
    case FAULT_UP:
        return g_strdup_printf("%s up", object);
    case FAULT_RATE:
        return g_strdup_printf("%s rate=%s", object, value);
    case FAULT_LOSS:
        break;
    }
    return g_strdup_printf("%s loss=%s", object, value);
}

char *fault_describe(const struct fault *fault)
{
    g_autofree char *what = fault_what(fault), *at = units_format(UNITS_TIME, fault->at_ps);
    GString *text = g_string_new(NULL);

    g_string_printf(text, "%s at %s", what, at);
    if (fault->until_ps != FAULT_NEVER) {
        g_autofree char *until = units_format(UNITS_TIME, fault->until_ps);

        g_string_append_printf(text, " until %s", until);
    }
    if (fault->flap_period_ps) {
        g_autofree char *period = units_format(UNITS_TIME, fault->flap_period_ps);
        g_autofree char *time = units_format(UNITS_TIME, fault->flap_time_ps);

        g_string_append_printf(text, ", for %s of every %s", time, period);
        if (fault->flap_count)
            g_string_append_printf(text, ", %" G_GINT64_FORMAT " times", fault->flap_count);
    }
    return g_string_free(text, FALSE);
}

gboolean fault_check(const struct fault *fault, GError **error)
{
    bool flaps = fault->flap_period_ps > 0 || fault->flap_time_ps > 0;

    if (fault->change == FAULT_UP && (flaps || fault->until_ps != FAULT_NEVER))
        return refuse(fault, error, "change = up has no end and does not flap; down may");
    if (fault->until_ps <= fault->at_ps)
        return refuse(fault, error, "until: a time after at is expected");
    if (flaps && (fault->flap_time_ps <= 0 || fault->flap_time_ps >= fault->flap_period_ps))
        return refuse(fault, error, "flap_time: more than 0 and less than flap_period is expected");
    if (!flaps && fault->flap_count)
        return refuse(fault, error, "flap_count: flap_period and flap_time are expected too");
    return TRUE;
}

/* --- files ------------------------------------------------------------------------------------ */

enum column { TIME, OBJECT, CHANGE, N_NEEDED, UNTIL = N_NEEDED };
static const char *const column_names[] = {"time", "object", "change", "until"};

static gboolean read_row(struct fault_list *list, const struct table *table, const char *path,
                         uint32_t row, const uint32_t *columns, int until, GError **error)
{
    g_autofree char *name = g_strdup_printf("%s:%u", path, table_line(table, row));
    struct fault fault = {.name = name, .until_ps = FAULT_NEVER};
    const char *object = table_field(table, row, columns[OBJECT]), *why = NULL;
    const char *change = table_field(table, row, columns[CHANGE]);

    if (!table_quantity(table, row, columns[TIME], UNITS_TIME, &fault.at_ps, error))
        return FALSE;
    if (!fault_parse_object(object, &fault.object, &why)) {
        table_set_error(table, row, columns[OBJECT], error, "'%s': %s", object, why);
        return FALSE;
    }
    if (!fault_parse_change(change, &fault, &why)) {
        table_set_error(table, row, columns[CHANGE], error, "'%s': %s", change, why);
        return FALSE;
    }
    if (until >= 0 && *table_field(table, row, (uint32_t)until) &&
        !table_quantity(table, row, (uint32_t)until, UNITS_TIME, &fault.until_ps, error))
        return FALSE;
    if (fault.at_ps < 0)
        return refuse(&fault, error, "time: 0 or later is expected");
    if (!fault_check(&fault, error))
        return FALSE;
    fault_list_add(list, &fault);
    return TRUE;
}

static gboolean read_rows(struct fault_list *list, const struct table *table, const char *path,
                          GError **error)
{
    uint32_t columns[N_NEEDED];
    int until = table_column(table, column_names[UNTIL]);

    for (int i = 0; i < N_NEEDED; i++)
        if (!table_need_column(table, column_names[i], &columns[i], error))
            return FALSE;
    for (uint32_t row = 0; row < table_n_rows(table); row++)
        if (!read_row(list, table, path, row, columns, until, error))
            return FALSE;
    return TRUE;
}

gboolean fault_list_read(struct fault_list *list, const char *path, GError **error)
{
    struct table *table = table_read(path, error);
    gboolean ok = table && read_rows(list, table, path, error);

    table_free(table);
    return ok;
}

/* --- objects of a graph ----------------------------------------------------------------------- */

/* The switch that an object names, or UINT32_MAX. */
static uint32_t find_switch(const struct graph *graph, const struct fault_object *object)
{
    uint32_t n = 0;

    if (object->kind == FAULT_NODE)
        return object->number >= graph->n_hosts && object->number < graph->n_nodes ? object->number
                                                                                   : UINT32_MAX;
    if (object->kind == FAULT_SWITCH)
        return object->number < graph->n_nodes - graph->n_hosts ? graph->n_hosts + object->number
                                                                : UINT32_MAX;
    for (uint32_t node = graph->n_hosts; node < graph->n_nodes; node++)
        if (graph->nodes[node].tier == object->number &&
            graph->nodes[node].plane == object->second && n++ == object->third)
            return node;
    return UINT32_MAX;
}

/* The links of a node, all or those to `peer` (UINT32_MAX: all); a node out of range has none. */
static void add_of_node(const struct graph *graph, uint32_t node, uint32_t peer, GArray *links)
{
    for (uint32_t i = 0; node < graph->n_nodes && i < graph_n_ports(graph, node); i++) {
        uint32_t port = graph_port(graph, node, i), l = port / 2;

        if (peer == UINT32_MAX || graph_port_peer(graph, port) == peer)
            g_array_append_val(links, l);
    }
}

/* The first link to the neighbour number `which` above a node, neighbours in the order of ports. */
static void add_uplink(const struct graph *graph, uint32_t node, uint32_t which, GArray *links)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

    for (uint32_t i = 0; node < graph->n_nodes && i < graph_n_ports(graph, node); i++) {
        uint32_t port = graph_port(graph, node, i), l = port / 2;
        uint32_t peer = graph_port_peer(graph, port);

        if (graph->nodes[peer].tier <= graph->nodes[node].tier ||
            !g_hash_table_add(seen, GUINT_TO_POINTER(peer)) || which-- > 0)
            continue;
        g_array_append_val(links, l);
        return;
    }
}

static void add_of_plane(const struct graph *graph, uint32_t plane, GArray *links)
{
    for (uint32_t l = 0; l < graph->n_links; l++)
        if (graph->links[l].plane == plane)
            g_array_append_val(links, l);
}

/* Why there is no such object: what the graph has. */
static gboolean not_there(const struct graph *graph, const struct fault *fault, GError **error)
{
    const struct fault_object *object = &fault->object;
    g_autofree char *name = format_object(object);

    switch (object->kind) {
    case FAULT_LINK:
        return refuse(fault, error, "%s: the links are 0 to %u", name, graph->n_links - 1);
    case FAULT_BETWEEN:
        return refuse(fault, error, "%s: no link joins these nodes", name);
    case FAULT_NIC:
        return refuse(fault, error, "%s: the hosts are 0 to %u, and this one's ports 0 to %d", name,
                      graph->n_hosts - 1,
                      object->number < graph->n_hosts
                          ? (int)graph_n_ports(graph, object->number) - 1
                          : (int)graph_n_ports(graph, 0) - 1);
    case FAULT_UPLINK:
        return refuse(fault, error, "%s: no such switch, or not so many switches above it", name);
    case FAULT_PLANE:
        return refuse(fault, error, "%s: the planes are 0 to %u", name, graph->n_planes - 1);
    case FAULT_NODE:
    case FAULT_SWITCH:
    case FAULT_TIER_SWITCH:
        break;
    }
    return refuse(fault, error,
                  "%s: no such switch with links; the switches are nodes %u to %u, or s0 to s%u",
                  name, graph->n_hosts, graph->n_nodes - 1, graph->n_nodes - graph->n_hosts - 1);
}

/* --- resolving -------------------------------------------------------------------------------- */

/* Why a link is down: a bit each. */
enum cause { BY_ITSELF = 1, BY_END_A = 2, BY_END_B = 4, BY_PLANE = 8 };

struct change { /* of an object, at an instant */
    int64_t time_ps, value;
    uint32_t fault;
    enum fault_change what;
    bool undone;
    bool is_share;
};

struct resolver {
    const struct graph *graph;
    uint64_t n_steps; /* at most */
    GArray *changes;  /* struct change */
    GArray **links;   /* by fault: uint32_t */
    uint32_t *node;   /* by fault: the switch, or UINT32_MAX */
    uint8_t *down;    /* by link: causes */
    int64_t *rate_bps, *loss_ppt;
    GArray *steps;
};

static GArray *find_links(struct resolver *resolver, const struct fault *fault, uint32_t index,
                          GError **error)
{
    const struct graph *graph = resolver->graph;
    const struct fault_object *object = &fault->object;
    GArray *links = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint32_t l = object->number;

    resolver->links[index] = links;
    resolver->node[index] = UINT32_MAX;
    switch (object->kind) {
    case FAULT_LINK:
        if (l < graph->n_links)
            g_array_append_val(links, l);
        break;
    case FAULT_BETWEEN:
        add_of_node(graph, object->number, object->second, links);
        break;
    case FAULT_NIC:
        if (object->number >= graph->n_hosts ||
            object->second >= graph_n_ports(graph, object->number))
            break;
        l = graph_port(graph, object->number, object->second) / 2;
        g_array_append_val(links, l);
        break;
    case FAULT_NODE:
    case FAULT_SWITCH:
    case FAULT_TIER_SWITCH:
        resolver->node[index] = find_switch(graph, object);
        add_of_node(graph, resolver->node[index], UINT32_MAX, links);
        break;
    case FAULT_UPLINK:
        add_uplink(graph, find_switch(graph, object), object->fourth, links);
        break;
    case FAULT_PLANE:
        add_of_plane(graph, object->number, links);
        break;
    }
    if (links->len == 0)
        not_there(graph, fault, error);
    return links->len > 0 ? links : NULL;
}

static void add_change(struct resolver *resolver, const struct fault *fault, uint32_t index,
                       int64_t time_ps, bool undone)
{
    struct change change = {time_ps, fault->value, index, fault->change, undone, fault->is_share};

    if (undone) { /* up again, the topology's rate, no loss */
        change.what = fault->change == FAULT_DOWN ? FAULT_UP : fault->change;
        change.value = fault->change == FAULT_RATE ? UNITS_PPT : 0;
        change.is_share = true;
    }
    g_array_append_val(resolver->changes, change);
}

static gboolean expand(struct resolver *resolver, const struct fault *fault, uint32_t index,
                       int64_t end_ps, GError **error)
{
    int64_t end = MIN(end_ps, fault->until_ps), at_ps = fault->at_ps, n = 0;
    bool flaps = fault->flap_period_ps > 0;

    if (at_ps > end_ps)
        return TRUE;
    do {
        int64_t over_ps = flaps && fault->flap_time_ps < fault->until_ps - at_ps
                              ? at_ps + fault->flap_time_ps
                              : fault->until_ps;

        resolver->n_steps += 2 * resolver->links[index]->len;
        if (resolver->n_steps > FAULT_STEPS)
            return refuse(fault, error,
                          "more than %d changes of links until the end of the run; a longer "
                          "flap_period or a flap_count is expected",
                          FAULT_STEPS);
        add_change(resolver, fault, index, at_ps, false);
        if (over_ps <= end_ps)
            add_change(resolver, fault, index, over_ps, true);
        n++;
        if (!flaps || fault->flap_period_ps >= end - at_ps)
            return TRUE;
        at_ps += fault->flap_period_ps;
    } while (!fault->flap_count || n < fault->flap_count);
    return TRUE;
}

static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    if (x->undone != y->undone)
        return x->undone ? -1 : 1;
    return (x->fault > y->fault) - (x->fault < y->fault);
}

static enum cause cause_of(const struct resolver *resolver, const struct fault *fault,
                           uint32_t index, uint32_t l)
{
    if (fault->object.kind == FAULT_PLANE)
        return BY_PLANE;
    if (resolver->node[index] == UINT32_MAX)
        return BY_ITSELF;
    return resolver->graph->links[l].a == resolver->node[index] ? BY_END_A : BY_END_B;
}

/* True if the link's state is another one now; *value is that. */
static bool apply(struct resolver *resolver, const struct fault *fault, const struct change *change,
                  uint32_t l, int64_t *value)
{
    uint8_t before = resolver->down[l], cause;
    int64_t *state = change->what == FAULT_RATE ? &resolver->rate_bps[l] : &resolver->loss_ppt[l];

    *value = 0;
    if (change->what == FAULT_DOWN || change->what == FAULT_UP) {
        cause = (uint8_t)cause_of(resolver, fault, change->fault, l);
        resolver->down[l] =
            (uint8_t)(change->what == FAULT_DOWN ? before | cause : before & ~cause);
        return (before != 0) != (resolver->down[l] != 0);
    }
    *value = change->value;
    if (change->what == FAULT_RATE && change->is_share)
        *value = MAX(
            (int64_t)((__int128)resolver->graph->links[l].rate_bps * change->value / UNITS_PPT), 1);
    if (*state == *value)
        return false;
    *state = *value;
    return true;
}

static void take(struct resolver *resolver, const struct fault_list *list,
                 const struct change *change)
{
    const GArray *links = resolver->links[change->fault];

    for (guint i = 0; i < links->len; i++) {
        struct fault_step step = {.time_ps = change->time_ps,
                                  .link = g_array_index(links, uint32_t, i),
                                  .change = change->what,
                                  .fault = change->fault};

        if (apply(resolver, fault_at(list, change->fault), change, step.link, &step.value))
            g_array_append_val(resolver->steps, step);
    }
}

static void resolver_init(struct resolver *resolver, const struct fault_list *list,
                          const struct graph *graph)
{
    *resolver = (struct resolver){.graph = graph};
    resolver->changes = g_array_new(FALSE, FALSE, sizeof(struct change));
    resolver->links = g_new0(GArray *, list->faults->len + 1);
    resolver->node = g_new(uint32_t, list->faults->len + 1);
    resolver->down = g_new0(uint8_t, graph->n_links + 1);
    resolver->rate_bps = g_new(int64_t, graph->n_links + 1);
    resolver->loss_ppt = g_new0(int64_t, graph->n_links + 1);
    resolver->steps = g_array_new(FALSE, FALSE, sizeof(struct fault_step));
    for (uint32_t l = 0; l < graph->n_links; l++)
        resolver->rate_bps[l] = graph->links[l].rate_bps;
}

static void resolver_clear(struct resolver *resolver, const struct fault_list *list)
{
    for (guint i = 0; i < list->faults->len; i++)
        if (resolver->links[i])
            g_array_unref(resolver->links[i]);
    g_array_unref(resolver->changes);
    g_free(resolver->links);
    g_free(resolver->node);
    g_free(resolver->down);
    g_free(resolver->rate_bps);
    g_free(resolver->loss_ppt);
}

GArray *fault_list_resolve(const struct fault_list *list, const struct graph *graph, int64_t end_ps,
                           GError **error)
{
    struct resolver resolver;
    gboolean ok = TRUE;

    resolver_init(&resolver, list, graph);
    for (guint i = 0; ok && i < list->faults->len; i++) {
        const struct fault *fault = fault_at(list, i);

        ok = fault_check(fault, error) && find_links(&resolver, fault, i, error) &&
             expand(&resolver, fault, i, end_ps, error);
    }
    g_array_sort(resolver.changes, by_time);
    for (guint i = 0; ok && i < resolver.changes->len; i++)
        take(&resolver, list, &g_array_index(resolver.changes, struct change, i));
    resolver_clear(&resolver, list);
    if (!ok)
        g_clear_pointer(&resolver.steps, g_array_unref);
    return resolver.steps;
}
