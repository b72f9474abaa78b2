/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft crosscheck: plays a scenario on the native engine and on both forms of ns-3, and compares.
 */
#include "sim/app/command.h"
#include "sim/app/crosscheck.h"
#include <stdio.h>

#define CONTEXT 3 /* receptions shown on either side of the first that differs */

enum { NATIVE, P2P, IP, N_SIDES };

static const char *const engines[N_SIDES] = {"native", "p2p", "ip"};
static const char *const titles[N_SIDES] = {"native", "ns3:p2p", "ns3:ip"};

struct check {
    struct experiment experiment;
    struct crosscheck_side sides[N_SIDES];
    struct progress progress;
};

/* --- the table -------------------------------------------------------------------------------- */

static void print_row(const char *label, const char *const *cells)
{
    printf("%-26s", label);
    for (int i = 0; i < N_SIDES; i++)
        printf(" %20s", cells[i]);
    printf("\n");
}

/* A row of what `text_of` says of each side. */
static void print_each(const struct check *check, const char *label,
                       char *(*text_of)(const struct crosscheck_side *side))
{
    char *cells[N_SIDES];

    for (int i = 0; i < N_SIDES; i++)
        cells[i] = text_of(&check->sides[i]);
    print_row(label, (const char *const *)cells);
    for (int i = 0; i < N_SIDES; i++)
        g_free(cells[i]);
}

static void print_metric(const struct check *check, const char *label, const char *metric)
{
    const char *cells[N_SIDES];

    for (int i = 0; i < N_SIDES; i++) {
        cells[i] = summary_text(&check->sides[i].summary, metric);
        cells[i] = cells[i] && *cells[i] ? cells[i] : "-";
    }
    print_row(label, cells);
}

static char *receptions_of(const struct crosscheck_side *side)
{
    return g_strdup_printf("%" G_GUINT64_FORMAT, side->recorder.n);
}

static char *hash_of(const struct crosscheck_side *side)
{
    return g_strdup_printf("%016" G_GINT64_MODIFIER "x", side->recorder.hash);
}

/* What its transmitters have begun and what still waits for them; natively both are one count. */
static char *transmissions_of(const struct crosscheck_side *side)
{
    const struct recorder *recorder = &side->recorder;

    if (recorder->n_begun + recorder->n_waiting == 0)
        return g_strdup_printf("%" G_GUINT64_FORMAT, side->result.n_hops);
    return g_strdup_printf("%" G_GINT64_FORMAT "+%" G_GINT64_FORMAT, recorder->n_begun,
                           recorder->n_waiting);
}

static char *events_of(const struct crosscheck_side *side)
{
    return g_strdup_printf("%" G_GINT64_FORMAT, side->recorder.n_engine_events > 0
                                                    ? side->recorder.n_engine_events
                                                    : (int64_t)side->result.n_events);
}

static char *cpu_of(const struct crosscheck_side *side)
{
    return g_strdup_printf("%.3f", side->cpu_s);
}

static void print_ratio(const struct check *check)
{
    double native_s = MAX(check->sides[NATIVE].cpu_s, 1e-6);
    char *cells[N_SIDES];

    for (int i = 0; i < N_SIDES; i++)
        cells[i] = g_strdup_printf("%.1f", check->sides[i].cpu_s / native_s);
    print_row("  as multiple of native", (const char *const *)cells);
    for (int i = 0; i < N_SIDES; i++)
        g_free(cells[i]);
}

static void print_table(const struct check *check)
{
    printf("scenario    %s; seed %" G_GINT64_FORMAT "\n", check->experiment.scenario->title,
           check->experiment.scenario->run.seed);
    print_row("", titles);
    print_each(check, "packet receptions", receptions_of);
    print_each(check, "hash of all of them", hash_of);
    print_each(check, "transmissions (+ queued)", transmissions_of);
    print_metric(check, "marks", "ports_marked_packets");
    for (int cause = 0; cause < SINK_N_DROPS; cause++) {
        const char *name = sink_drop_name((enum sink_drop)cause);
        g_autofree char *metric = g_strdup_printf("ports_dropped_%s", name);
        g_autofree char *label = g_strdup_printf("dropped: %s", name);

        if (cause <= SINK_DROP_NO_ROUTE || check->sides[NATIVE].summary.dropped_packets[cause] > 0)
            print_metric(check, label, metric);
    }
    print_metric(check, "flows finished", "flows_finished");
    print_metric(check, "completion mean, ps", "completion_mean");
    print_metric(check, "completion p99, ps", "completion_p99_nearest_rank");
    print_metric(check, "completion max, ps", "completion_max");
    print_each(check, "events of the engine", events_of);
    print_each(check, "CPU, s", cpu_of);
    print_ratio(check);
}

/* --- what differs ----------------------------------------------------------------------------- */

static void print_reception(const struct experiment *experiment, const char *title,
                            const struct crosscheck_side *side, guint index, bool first)
{
    static const char *const classes[] = {"data", "ack", "control", "pfc"};
    static const char *const marks[] = {"not-ECT", "ECT", "CE"};

    if (index >= side->recorder.window->len) {
        printf("  %-8s nothing more\n", title);
        return;
    }
    const struct reception *r = &g_array_index(side->recorder.window, struct reception, index);

    printf(
        "%s %-8s %" G_GUINT64_FORMAT ": %" G_GINT64_FORMAT " ps, port %u (node %u to %u), %s, %s "
        "%" G_GUINT64_FORMAT ", %s %u, %s\n",
        first ? ">" : " ", title, side->recorder.window_first + index, r->time_ps, r->port,
        graph_port_node(&experiment->graph, r->port), graph_port_peer(&experiment->graph, r->port),
        classes[r->class], r->class == PACKET_DATA ? "flow" : "connection", r->flow,
        r->class == PACKET_DATA ? "sequence" : "source port", r->sequence, marks[r->ecn]);
}

/* Plays both again with a window on the block and shows the first that differs. */
static gboolean show_reception(struct check *check, int number, uint64_t block, GError **error)
{
    const int both[] = {NATIVE, number};
    struct crosscheck_side again[2] = {{0}};
    /* a few of the block before, for context */
    uint64_t first = block * RECORDER_BLOCK - MIN(block * RECORDER_BLOCK, CONTEXT);
    gboolean played = TRUE;

    for (int i = 0; played && i < 2; i++)
        played = crosscheck_play(&again[i], engines[both[i]], &check->experiment, first,
                                 RECORDER_BLOCK + 2 * CONTEXT, &check->progress, error);
    if (played) {
        guint index = crosscheck_first_difference(&again[0], &again[1]);

        printf("the first reception that differs is number %" G_GUINT64_FORMAT ":\n",
               first + index);
        for (int i = 0; i < 2; i++)
            for (guint k = index - MIN(index, CONTEXT); k <= index + CONTEXT; k++)
                print_reception(&check->experiment, titles[both[i]], &again[i], k, k == index);
    }
    crosscheck_clear(&again[0]);
    crosscheck_clear(&again[1]);
    return played;
}

static void show_record(const struct check *check, int number, guint index)
{
    const int both[] = {NATIVE, number};

    printf("all receptions are alike; the first record that differs is number %u:\n", index);
    for (int i = 0; i < 2; i++) {
        const GPtrArray *records = check->sides[both[i]].records;
        g_autofree char *text = index < records->len
                                    ? g_variant_print(g_ptr_array_index(records, index), FALSE)
                                    : g_strdup("nothing more");

        printf("  %-8s %s\n", titles[both[i]], text);
    }
}

/* Says how one form did; *same is false if it differs. */
static gboolean judge(struct check *check, int number, bool *same, GError **error)
{
    uint64_t where = 0;
    enum crosscheck_verdict verdict =
        crosscheck_compare(&check->sides[NATIVE], &check->sides[number], &where);

    printf("verdict     %s: %s\n", titles[number],
           verdict == CROSSCHECK_IDENTICAL ? "identical" : "DIFFERENT");
    *same &= verdict == CROSSCHECK_IDENTICAL;
    if (verdict == CROSSCHECK_RECEPTIONS)
        return show_reception(check, number, where, error);
    if (verdict == CROSSCHECK_RECORDS)
        show_record(check, number, (guint)where);
    if (verdict == CROSSCHECK_TRANSMISSIONS)
        printf(
            "receptions and records are alike, but ns-3's transmitters have counted otherwise\n");
    return TRUE;
}

/* --- the command ------------------------------------------------------------------------------ */

static int compare(struct check *check, GError **error)
{
    static const int order[N_SIDES] = {P2P, NATIVE, IP}; /* what ns-3 refuses is not played here */
    bool same = true;

    for (int turn = 0; turn < N_SIDES; turn++) {
        int i = order[turn];

        if (!crosscheck_play(&check->sides[i], engines[i], &check->experiment, 0, 0,
                             &check->progress, error))
            return check->sides[i].result.outcome == BACKEND_BROKEN ? COMMAND_BROKEN
                                                                    : COMMAND_WRONG;
        if (check->sides[i].result.outcome == BACKEND_INTERRUPTED) {
            fprintf(stderr, "weft crosscheck: stopped\n");
            return COMMAND_BROKEN;
        }
    }
    progress_end(&check->progress);
    print_table(check);
    for (int i = P2P; i < N_SIDES; i++)
        if (!judge(check, i, &same, error))
            return COMMAND_BROKEN;
    return same ? COMMAND_DONE : COMMAND_BROKEN;
}

static int crosscheck(struct scenario *scenario)
{
    struct check check = {.sides = {{0}}};
    GError *error = NULL;
    int code = COMMAND_WRONG;

    progress_begin(&check.progress, false, 0);
    if (experiment_init(&check.experiment, scenario, &error))
        code = compare(&check, &error);
    progress_end(&check.progress);
    if (error)
        command_fail("crosscheck", error);
    for (int i = 0; i < N_SIDES; i++)
        crosscheck_clear(&check.sides[i]);
    experiment_clear(&check.experiment);
    return code;
}

int command_crosscheck(int argc, char **argv)
{
    struct command_line line;
    struct scenario *scenario = NULL;
    GError *error = NULL;
    int code;

    if (command_parse(&line, argc, argv, "[SCENARIO] - compare the native engine with ns-3",
                      "Plays the scenario on the native engine and, by weft-ns3, on both forms of "
                      "ns-3. Ends with 0 if\nevery reception and every record is the same, 1 if "
                      "not, 2 if ns-3 cannot play it.",
                      COMMAND_TAKES_NO_MORE, &error))
        scenario = command_scenario(&line, &error);
    code = scenario ? crosscheck(scenario) : command_fail("crosscheck", error);
    scenario_free(scenario);
    command_clear(&line);
    return code;
}
