/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft explain: plays a run again and says where the time of its messages and collectives went. */
#include "sim/app/command.h"
#include "sim/app/explain.h"
#include "sim/app/replay.h"
#include "sim/core/units.h"
#include <stdio.h>
#include <stdlib.h>

#define SLOWEST       10
#define PORTS_PRINTED 5
#define PARTS_NAMED   3 /* of a flow that has one line */
#define GROUPS_TOLD   10

struct place { /* a part at one port */
    enum explain_part part;
    uint32_t port;
    int64_t ps;
};

static void print_time(int64_t ps, int width)
{
    g_autofree char *text = units_display(UNITS_TIME, (double)ps);

    printf("%*s", width, ps == 0 ? "-" : text);
}

static int64_t all_of(const struct explain *explain, enum explain_part part)
{
    int64_t ps = 0;

    for (int why = 0; why < EXPLAIN_N_WHYS; why++)
        ps += explain->part_ps[part][why];
    return ps;
}

/* --- parts ------------------------------------------------------------------------------------ */

static int by_time(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->ps != y->ps)
        return x->ps < y->ps ? 1 : -1;
    return x->port < y->port ? -1 : x->port > y->port;
}

/* How long `part` lasted at each port, the longest first: struct place. */
static GArray *places_of(const struct explain *explain, enum explain_part part)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(struct place));
    g_autoptr(GHashTable) index = g_hash_table_new(NULL, NULL);

    for (guint i = 0; i < explain->segments->len; i++) {
        const struct explain_segment *segment =
            &g_array_index(explain->segments, struct explain_segment, i);
        gpointer key = GUINT_TO_POINTER(segment->port + 1);
        guint at = GPOINTER_TO_UINT(g_hash_table_lookup(index, key));

        if (segment->part != part || segment->port == UINT32_MAX)
            continue;
        if (at == 0) {
            struct place place = {part, segment->port, 0};

            g_array_append_val(places, place);
            at = places->len;
            g_hash_table_insert(index, key, GUINT_TO_POINTER(at));
        }
        g_array_index(places, struct place, at - 1).ps += segment->to_ps - segment->from_ps;
    }
    g_array_sort(places, by_time);
    return places;
}

static void print_row(const char *name, int64_t ps, int64_t whole_ps)
{
    printf("  %-44s", name);
    print_time(ps, 12);
    printf("  %5.1f %%", whole_ps > 0 ? 100 * (double)ps / (double)whole_ps : 0);
}

static void print_places(const struct replay *replay, const struct explain *explain,
                         enum explain_part part)
{
    g_autoptr(GArray) places = places_of(explain, part);

    for (guint i = 0; i < MIN(places->len, PORTS_PRINTED); i++) {
        const struct place *place = &g_array_index(places, struct place, i);
        g_autofree char *port = replay_port_name(replay, place->port);
        g_autofree char *name = g_strdup_printf("  at %s", port);

        print_row(name, place->ps, explain->sum_ps);
        printf("\n");
    }
    if (places->len > PORTS_PRINTED)
        printf("    ... and at %u more ports\n", places->len - PORTS_PRINTED);
}

static void print_part(const struct replay *replay, const struct explain *explain,
                       enum explain_part part)
{
    int64_t all_ps = all_of(explain, part);

    if (all_ps == 0)
        return;
    print_row(explain_part_name(part), all_ps, explain->sum_ps);
    for (int why = 0; why < EXPLAIN_N_WHYS; why++)
        print_time(explain->part_ps[part][why], 15);
    printf("\n");
    if (part == EXPLAIN_QUEUE || part == EXPLAIN_PAUSE)
        print_places(replay, explain, part);
}

/* True if the sum is the whole. */
static bool print_parts(const struct replay *replay, const struct explain *explain)
{
    int64_t whole_ps = explain->to_ps - explain->from_ps, why_ps[EXPLAIN_N_WHYS] = {0};

    printf("  %-44s%12s  %7s", "part", "time", "share");
    for (int why = 0; why < EXPLAIN_N_WHYS; why++)
        printf("%15s", explain_why_name((enum explain_why)why));
    printf("\n");
    for (int part = 0; part < EXPLAIN_N_PARTS; part++) {
        print_part(replay, explain, (enum explain_part)part);
        for (int why = 0; why < EXPLAIN_N_WHYS; why++)
            why_ps[why] += explain->part_ps[part][why];
    }
    print_row("sum", explain->sum_ps, whole_ps);
    for (int why = 0; why < EXPLAIN_N_WHYS; why++)
        print_time(why_ps[why], 15);
    printf("\n  sum of the parts %" G_GINT64_FORMAT " ps, whole %" G_GINT64_FORMAT " ps: %s\n",
           explain->sum_ps, whole_ps, explain->sum_ps == whole_ps ? "equal" : "NOT EQUAL");
    return explain->sum_ps == whole_ps;
}

/* --- one message ------------------------------------------------------------------------------ */

/* The longest stretch of queueing or pause on the chain. */
static const struct explain_segment *longest_wait(const struct explain *explain)
{
    const struct explain_segment *longest = NULL;

    for (guint i = 0; i < explain->segments->len; i++) {
        const struct explain_segment *segment =
            &g_array_index(explain->segments, struct explain_segment, i);
        bool waits = segment->part == EXPLAIN_QUEUE || segment->part == EXPLAIN_PAUSE ||
                     segment->part == EXPLAIN_NIC_OTHERS;

        if (waits &&
            (!longest || segment->to_ps - segment->from_ps > longest->to_ps - longest->from_ps))
            longest = segment;
    }
    return longest;
}

static void print_last(const struct replay *replay, const struct explain *explain)
{
    const struct journal_trip *last = explain->last;
    const struct explain_segment *wait = longest_wait(explain);

    if (last) {
        g_autofree char *port = replay_port_name(replay, last->hops[last->n_hops - 1].port);

        printf("  ended by packet %u of flow %" G_GUINT64_FORMAT
               ", transmission %u of it, over %s\n",
               last->sequence, last->flow, last->n_before + 1, port);
    }
    if (wait) {
        g_autofree char *port = replay_port_name(replay, wait->port);
        g_autofree char *time = units_display(UNITS_TIME, (double)(wait->to_ps - wait->from_ps));

        printf("  longest wait of a packet: %s in %s, from %" G_GINT64_FORMAT " ps on\n", time,
               port, wait->from_ps);
    }
}

static void print_flow_head(const struct replay *replay, uint64_t op)
{
    const struct schedule *schedule = &replay->experiment.schedule;
    const struct sink_flow *flow = replay_flow(replay, op);
    struct schedule_op is;

    schedule_op(schedule, op, &is);
    g_autofree char *bytes = units_display(UNITS_BYTES, (double)is.bytes);

    printf("flow %" G_GUINT64_FORMAT ": host %u -> host %u, %s", op, schedule->rank_host[is.rank],
           schedule->rank_host[is.peer], bytes);
    if (is.group != SCHEDULE_NO_GROUP)
        printf(", of %s", schedule_group(schedule, is.group)->name);
    printf("\n");
    if (!flow || flow->start_ps < 0 || flow->end_receiver_ps < 0)
        return;
    g_autofree char *time =
        units_display(UNITS_TIME, (double)(flow->end_receiver_ps - flow->start_ps));
    g_autofree char *ideal = units_display(UNITS_TIME, (double)flow->ideal_ps);

    printf("  %s from its post at %" G_GINT64_FORMAT " ps to the receiver; %.3g times its ideal of "
           "%s\n  %" G_GINT64_FORMAT " data packets sent, %" G_GINT64_FORMAT
           " of them again, %" G_GINT64_FORMAT " timeouts, %" G_GINT64_FORMAT " marked\n",
           time, flow->start_ps,
           (double)(flow->end_receiver_ps - flow->start_ps) / (double)flow->ideal_ps, ideal,
           flow->packets, flow->retransmitted_packets, flow->timeouts, flow->marked_packets);
}

static void print_chain(const struct replay *replay, const struct explain *explain)
{
    printf("  %16s %16s  %-14s %-24s %s\n", "from_ps", "to_ps", "why", "part", "where, what");
    for (guint i = explain->segments->len; i > 0; i--) {
        const struct explain_segment *segment =
            &g_array_index(explain->segments, struct explain_segment, i - 1);
        g_autofree char *port =
            segment->port == UINT32_MAX ? g_strdup("-") : replay_port_name(replay, segment->port);

        printf("  %16" G_GINT64_FORMAT " %16" G_GINT64_FORMAT "  %-14s %-24s %s", segment->from_ps,
               segment->to_ps, explain_why_name(segment->why), explain_part_name(segment->part),
               port);
        if (segment->trip && segment->trip->lane)
            printf(", packet %u of flow %" G_GUINT64_FORMAT, segment->trip->sequence,
                   segment->trip->flow);
        else if (segment->trip)
            printf(", an answer");
        printf("\n");
    }
}

/* How far a message has come that did not end: what arrived, what was lost, since when it stands.
 */
static void print_standstill(const struct replay *replay, uint64_t op)
{
    const GPtrArray *trips = replay->journal.trips;
    const struct journal_trip *last = NULL;
    uint64_t n_arrived = 0, n_lost[SINK_N_DROPS] = {0};

    for (guint i = 0; i < trips->len; i++) {
        const struct journal_trip *trip = g_ptr_array_index(trips, i);

        if (!trip->lane || trip->flow != op)
            continue;
        n_arrived += trip->fate == JOURNAL_HANDLED;
        if (trip->fate == JOURNAL_LOST)
            n_lost[trip->cause]++;
        last = trip; /* they are in the order in which they ended */
    }
    printf("  %" G_GUINT64_FORMAT " of its data packets arrived", n_arrived);
    for (int cause = 0; cause < SINK_N_DROPS; cause++)
        if (n_lost[cause] > 0)
            printf(", %" G_GUINT64_FORMAT " were lost (%s)", n_lost[cause],
                   sink_drop_name((enum sink_drop)cause));
    printf("\n");
    if (!last)
        return;
    g_autofree char *port = replay_port_name(
        replay, last->fate == JOURNAL_LOST ? last->lost_at : last->hops[last->n_hops - 1].port);
    const struct journal_period *period =
        &g_array_index(last->lane->periods, struct journal_period, last->lane->periods->len - 1);

    printf("  nothing of it has moved since %" G_GINT64_FORMAT
           " ps, when packet %u, transmission %u, %s %s\n",
           last->end_ps, last->sequence, last->n_before + 1,
           last->fate == JOURNAL_LOST ? "was lost at" : "arrived by", port);
    if (period->blocked_ps < INT64_MAX)
        printf("  its sender has had nothing it may send since %" G_GINT64_FORMAT " ps\n",
               period->blocked_ps);
}

/* What stands in the way of the messages that are not over. */
static int print_unfinished(const struct replay *replay, const struct explain *explain, uint64_t op)
{
    const GPtrArray *waits = replay->result.waits;

    printf("  no sum: %s\n", explain->broken);
    print_standstill(replay, op);
    for (guint i = 0; waits && i < MIN(waits->len, SLOWEST); i++)
        printf("  %s\n", (char *)g_ptr_array_index(waits, i));
    return COMMAND_UNFINISHED;
}

static int tell_flow(struct replay *replay, uint64_t op, bool chain, GError **error)
{
    struct explain explain;
    int code = COMMAND_DONE;

    replay_prepare(replay);
    replay_want(replay, op, 0, INT64_MAX);
    if (!replay_play(replay, error))
        return COMMAND_WRONG;
    explain_message(&explain, &replay->journal, op);
    print_flow_head(replay, op);
    if (explain.broken) {
        code = print_unfinished(replay, &explain, op);
    } else {
        print_last(replay, &explain);
        if (!print_parts(replay, &explain))
            code = COMMAND_BROKEN;
        if (chain)
            print_chain(replay, &explain);
    }
    explain_clear(&explain);
    return code;
}

/* --- the whole run ---------------------------------------------------------------------------- */

struct slow {
    uint64_t op;
    int64_t ps;
};

static int by_slowness(const void *a, const void *b)
{
    const struct slow *x = a, *y = b;

    if (x->ps != y->ps)
        return x->ps < y->ps ? 1 : -1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* The messages that took longest, of those that were delivered; all others are let go. */
static GArray *slowest(const struct replay *replay)
{
    GArray *slow = g_array_new(FALSE, FALSE, sizeof(struct slow));

    for (uint64_t op = 0; op < replay->experiment.schedule.n_ops; op++) {
        const struct journal_op *record = &replay->journal.ops[op];
        struct slow one = {op, record->delivered_ps - record->posted_ps};

        if (record->delivered_ps < 0)
            continue;
        g_array_append_val(slow, one);
        if (slow->len >= 1000 * SLOWEST) {
            g_array_sort(slow, by_slowness);
            g_array_set_size(slow, SLOWEST);
        }
    }
    g_array_sort(slow, by_slowness);
    g_array_set_size(slow, MIN(slow->len, SLOWEST));
    return slow;
}

/* What is to be recorded to explain a chain of operations. */
struct need {
    uint64_t op;
    int64_t from_ps, to_ps;
};

static void need_chain(GArray *needs, const struct explain *explain)
{
    for (guint i = 0; i < explain->chain->len; i++) {
        const struct explain_link *link = &g_array_index(explain->chain, struct explain_link, i);
        struct need need = {link->op, link->from_ps, link->to_ps};

        g_array_append_val(needs, need);
    }
}

/* The first play: which messages and chains are asked about. */
static GArray *find_needs(const struct replay *replay, const GArray *slow, guint n_groups)
{
    GArray *needs = g_array_new(FALSE, FALSE, sizeof(struct need));
    struct explain explain;

    for (guint i = 0; i < slow->len; i++) {
        uint64_t op = g_array_index(slow, struct slow, i).op;
        struct need need = {op, replay->journal.ops[op].posted_ps,
                            replay->journal.ops[op].delivered_ps};

        g_array_append_val(needs, need);
    }
    for (guint group = 0; group < n_groups; group++) {
        explain_group(&explain, &replay->journal, group, false);
        need_chain(needs, &explain);
        explain_clear(&explain);
    }
    explain_run(&explain, &replay->journal, false);
    need_chain(needs, &explain);
    explain_clear(&explain);
    return needs;
}

static gboolean play_twice(struct replay *replay, GArray **slow, guint n_groups, GError **error)
{
    g_autoptr(GArray) needs = NULL;

    replay_prepare(replay);
    if (!replay_play(replay, error))
        return FALSE;
    *slow = slowest(replay);
    needs = find_needs(replay, *slow, n_groups);
    replay_prepare(replay);
    for (guint i = 0; i < needs->len; i++) {
        const struct need *need = &g_array_index(needs, struct need, i);

        replay_want(replay, need->op, need->from_ps, need->to_ps);
    }
    return replay_play(replay, error);
}

/* "queueing 61 %, propagation 20 %, ..." */
static void print_largest(const struct explain *explain)
{
    bool told[EXPLAIN_N_PARTS] = {false};

    for (int n = 0; n < PARTS_NAMED; n++) {
        int largest = -1;

        for (int part = 0; part < EXPLAIN_N_PARTS; part++)
            if (!told[part] && all_of(explain, (enum explain_part)part) > 0 &&
                (largest < 0 || all_of(explain, (enum explain_part)part) >
                                    all_of(explain, (enum explain_part)largest)))
                largest = part;
        if (largest < 0)
            break;
        told[largest] = true;
        printf("%s%s %.0f %%", n ? ", " : "", explain_part_name((enum explain_part)largest),
               100 * (double)all_of(explain, (enum explain_part)largest) / (double)explain->sum_ps);
    }
}

static bool print_slow(const struct replay *replay, uint64_t op)
{
    const struct sink_flow *flow = replay_flow(replay, op);
    struct explain explain;
    bool exact;

    explain_message(&explain, &replay->journal, op);
    exact = explain.sum_ps == explain.to_ps - explain.from_ps;
    printf("  %8" G_GUINT64_FORMAT "  %6u  %6u", op, flow->src, flow->dst);
    print_time(explain.sum_ps, 12);
    printf("  %8.2f  ", (double)explain.sum_ps / (double)flow->ideal_ps);
    print_largest(&explain);
    printf("%s\n", exact ? "" : "  SUM NOT EQUAL");
    explain_clear(&explain);
    return exact;
}

static bool print_ops(const struct replay *replay, const struct explain *explain, bool chain)
{
    bool exact = true;

    g_autofree char *time = units_display(UNITS_TIME, (double)(explain->to_ps - explain->from_ps));

    if (explain->broken) {
        printf(": no sum: %s\n", explain->broken);
        return true;
    }
    printf(": %s from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " ps, a chain of %u operations",
           time, explain->from_ps, explain->to_ps, explain->chain->len);
    if (explain->n_open > 0)
        printf("; %" G_GUINT64_FORMAT " operations did not end", explain->n_open);
    printf("\n");
    exact = print_parts(replay, explain);
    if (chain)
        print_chain(replay, explain);
    return exact;
}

static int tell_run(struct replay *replay, bool chain, GError **error)
{
    guint n_all = replay->experiment.schedule.groups->len, n_groups = MIN(n_all, GROUPS_TOLD);
    g_autoptr(GArray) slow = NULL;
    struct explain explain;
    bool exact = true;

    if (!play_twice(replay, &slow, n_groups, error))
        return COMMAND_WRONG;
    printf("the slowest flows\n  %8s  %6s  %6s%12s  %8s  %s\n", "flow", "src", "dst", "time",
           "slowdown", "largest parts");
    for (guint i = 0; i < slow->len; i++)
        exact &= print_slow(replay, g_array_index(slow, struct slow, i).op);
    for (guint group = 0; group < n_groups; group++) {
        explain_group(&explain, &replay->journal, group, true);
        printf("\n%s", schedule_group(&replay->experiment.schedule, group)->name);
        exact &= print_ops(replay, &explain, chain);
        explain_clear(&explain);
    }
    if (n_all > n_groups)
        printf("\n... and %u more groups\n", n_all - n_groups);
    explain_run(&explain, &replay->journal, true);
    printf("\nthe run");
    exact &= print_ops(replay, &explain, chain);
    explain_clear(&explain);
    if (!exact)
        return COMMAND_BROKEN;
    return replay->result.outcome == BACKEND_FINISHED ? COMMAND_DONE : COMMAND_UNFINISHED;
}

/* --- the command ------------------------------------------------------------------------------ */

int command_explain(int argc, char **argv)
{
    gboolean chain = FALSE;
    const GOptionEntry entries[] = {
        {"chain", 'c', 0, G_OPTION_ARG_NONE, &chain,
         "Print every segment of the critical chain, from its beginning", NULL},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context =
        g_option_context_new("DIR [FLOW] - where the time of a run went");
    struct replay replay = {0};
    GError *error = NULL;
    uint64_t op;
    int code = COMMAND_WRONG;

    g_option_context_set_summary(
        context,
        "Plays the run of DIR again, recording, and cuts the time of FLOW (its number in "
        "flows.csv), or of the slowest\nflows, the collectives and the run, into parts that add up "
        "to it. Ends with 0, 1 if a sum is not exact,\n2 when something is wrong, 3 when flows did "
        "not finish.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return command_fail("explain", error);
    if (argc < 2 || argc > 3) {
        g_set_error(&error, COMMAND_ERROR, 1,
                    "a folder of a run, and at most one flow, are "
                    "expected");
        return command_fail("explain", error);
    }
    if (replay_open(&replay, argv[1], &error)) {
        if (argc == 2)
            code = tell_run(&replay, chain, &error);
        else if (replay_find_flow(&replay, argv[2], &op, &error))
            code = tell_flow(&replay, op, chain, &error);
    }
    if (error)
        code = command_fail("explain", error);
    replay_close(&replay);
    return code;
}
