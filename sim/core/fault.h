/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fault contract: what happens to links during a run. Plain data: a scenario, a file or a
 * builder asks for faults of objects; fault_list_resolve() lays them over a graph and gives the
 * changes of single links in the order of time, which is all that a backend plays.
 *
 * Objects, as users write them:
 *   link:12         a link by its number           link:3-17    all links between two nodes
 *   nic:5.0         port 0 of host 5: its link     plane:2      all links of a plane
 *   switch:70       a switch by its node's number: all its links
 *   switch:s6       the same by its number among the switches, as in graph files
 *   switch:2.0.6    the same by tier, plane and number among those
 *   uplink:1.0.6.3  of that switch, the first link to the fourth of the switches above it
 * Changes: down, up, rate=100Gbps, rate=50% (of what the topology says), loss=0.01 (each packet's
 * chance, each way, beside what [loss] says).
 *
 * An object is down from its last "down" to its next "up", and a link is down while any object that
 * holds it is: the link itself, either switch, its plane. Rate and loss of a link are those it was
 * given last. Both directions of a link change together. A fault with an end is undone there; what
 * is undone at an instant is undone before anything else happens at it.
 */
#ifndef WEFT_SIM_CORE_FAULT_H
#define WEFT_SIM_CORE_FAULT_H

#include "sim/core/graph.h"

#define FAULT_ERROR fault_error_quark()
GQuark fault_error_quark(void);

#define FAULT_NEVER INT64_MAX
#define FAULT_STEPS 4000000 /* changes of links in a run, at most; 40 bytes each */

enum fault_change { FAULT_DOWN, FAULT_UP, FAULT_RATE, FAULT_LOSS };

enum fault_kind {
    FAULT_LINK,        /* number */
    FAULT_BETWEEN,     /* nodes number, second */
    FAULT_NIC,         /* host number, port second */
    FAULT_NODE,        /* switch by node number */
    FAULT_SWITCH,      /* number among the switches */
    FAULT_TIER_SWITCH, /* tier number, plane second, number third */
    FAULT_UPLINK,      /* of that switch, to its neighbour above number fourth */
    FAULT_PLANE,
};

struct fault_object {
    enum fault_kind kind;
    uint32_t number, second, third, fourth;
};

struct fault {
    char *name; /* "fault:NAME" of a group, or "FILE:LINE"; for errors and results; the list's */
    struct fault_object object;
    enum fault_change change;
    bool is_share; /* FAULT_RATE: value is a share of the topology's rate */
    int64_t value; /* FAULT_RATE: bit/s, or parts per trillion; FAULT_LOSS: parts per trillion */
    int64_t at_ps;
    int64_t until_ps; /* undone then; FAULT_NEVER: not */
    /* flapping: in each period the change holds for flap_time_ps; 0: it holds all the time */
    int64_t flap_period_ps, flap_time_ps;
    int64_t flap_count; /* periods at most; 0: as many as fit */
};

struct fault_list {
    GArray *faults; /* struct fault */
};

/* One change of one link: of its directed ports 2 x link and 2 x link + 1. */
struct fault_step {
    int64_t time_ps;
    int64_t value; /* FAULT_RATE: bit/s; FAULT_LOSS: parts per trillion */
    uint32_t link;
    enum fault_change change;
    uint32_t fault; /* number in the list, of the fault that brought it about */
};

void fault_list_init(struct fault_list *list);
void fault_list_clear(struct fault_list *list);

/* Adds a copy; the list owns it and its name. */
void fault_list_add(struct fault_list *list, const struct fault *fault);

static inline const struct fault *fault_at(const struct fault_list *list, guint index)
{
    return &g_array_index(list->faults, struct fault, index);
}

/*
 * Adds the rows of a CSV file time,object,change and, optionally, until. Each is called FILE:LINE.
 * The error names file, line and column.
 */
gboolean fault_list_read(struct fault_list *list, const char *path, GError **error);

/* What users write. False: *why is a fixed text that says what would be right. */
bool fault_parse_object(const char *text, struct fault_object *object, const char **why);
bool fault_parse_change(const char *text, struct fault *fault, const char **why);

/* What ranges cannot say of one fault: its end, its flapping. The error begins with its name. */
gboolean fault_check(const struct fault *fault, GError **error);

/* "plane:2 down", and the whole: "plane:2 down at 1ms until 2ms"; g_free. */
char *fault_what(const struct fault *fault);
char *fault_describe(const struct fault *fault);

/*
 * The changes of links from 0 to end_ps: struct fault_step by time, those of an instant in the
 * order of the list; g_array_unref. A step is given only where the link's state changes, so a link
 * goes down and up in turn. NULL with an error that begins with the fault's name where an object is
 * not in the graph, or where flapping gives more than FAULT_STEPS.
 */
GArray *fault_list_resolve(const struct fault_list *list, const struct graph *graph, int64_t end_ps,
                           GError **error);

#endif
