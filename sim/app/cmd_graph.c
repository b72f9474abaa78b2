/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weft graph: the operations of a scenario's schedule and what each waits for, as text or for
 * Graphviz, and whether all of them can be done. Runs nothing. For collectives that are compiled
 * into work packets these are the elements of the message engines.
 */
#include "sim/app/command.h"
#include "sim/app/experiment.h"
#include <stdio.h>
#include <string.h>

#define STUCK_PRINTED 20

static const char *const when_names[] = {"", " (acknowledged)", " (posted)"};

/* "WRITE 4096 B to rank 3 by NIC 2", without rank, engine and lane. */
static char *what_of(const struct schedule_op *op)
{
    const char *name = schedule_element_name((enum schedule_element)op->element);
    g_autofree char *nic =
        op->n_nics > 0 ? g_strdup_printf(" by NIC %u", op->first_nic) : g_strdup("");

    switch (op->kind) {
    case SCHEDULE_MESSAGE:
        return g_strdup_printf("%s %" G_GINT64_FORMAT " B to rank %u%s", *name ? name : "message",
                               op->bytes, op->peer, nic);
    case SCHEDULE_REDUCE:
        return g_strdup_printf("%s %" G_GINT64_FORMAT " B", *name ? name : "reduce", op->bytes);
    case SCHEDULE_CONTROL:
        if (op->element == SCHEDULE_RECV)
            return g_strdup_printf("RECV %" G_GINT64_FORMAT " B from rank %u", op->bytes, op->peer);
        return op->bytes == UINT32_MAX
                   ? g_strdup_printf("%s of no flag", name)
                   : g_strdup_printf("%s flag %" G_GINT64_FORMAT, name, op->bytes);
    case SCHEDULE_COMPUTE:
        return g_strdup_printf("compute %" G_GINT64_FORMAT " ps", op->duration_ps);
    case SCHEDULE_GEMM:
        return g_strdup("matrix product");
    case SCHEDULE_ENQUEUE:
        return g_strdup(op->flags & SCHEDULE_CACHED ? "enqueue again" : "enqueue");
    case SCHEDULE_DISPATCH:
        return g_strdup("dispatch");
    case SCHEDULE_RETIRE:
        return g_strdup("retire");
    case SCHEDULE_JOIN:
        break;
    }
    return g_strdup("join");
}

/* "rank 0 engine 2 lane 5", as much of it as there is. */
static char *where_of(const struct schedule_op *op)
{
    if (op->element == SCHEDULE_NO_ELEMENT)
        return g_strdup_printf("rank %u", op->rank);
    return g_strdup_printf("rank %u engine %u lane %u", op->rank, op->engine, op->lane);
}

/* --- whether all can be done ------------------------------------------------------------------ */

/* Fires all edges that can fire; counts[i] = edges into operation i that fired. */
static uint64_t walk(const struct schedule *schedule, uint32_t *counts, bool *done)
{
    GArray *ready = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    enum schedule_when when;
    uint64_t index, next, n_done = 0;

    for (uint64_t k = 0; (index = schedule_root(schedule, k)) != SCHEDULE_NONE; k++)
        g_array_append_val(ready, index);
    while (ready->len > 0) {
        index = g_array_index(ready, uint64_t, ready->len - 1);
        g_array_set_size(ready, ready->len - 1);
        done[index] = true;
        n_done++;
        for (uint32_t k = 0;
             (next = schedule_successor(schedule, index, k, &when)) != SCHEDULE_NONE; k++) {
            struct schedule_op op;

            schedule_op(schedule, next, &op);
            if (++counts[next] == op.n_needed)
                g_array_append_val(ready, next);
        }
    }
    g_array_unref(ready);
    return n_done;
}

/* What holds up others: some of what it waits for has come. */
static int print_stuck(const struct schedule *schedule)
{
    g_autofree uint32_t *counts = g_new0(uint32_t, schedule->n_ops + 1);
    g_autofree bool *done = g_new0(bool, schedule->n_ops + 1);
    uint64_t n_done = walk(schedule, counts, done);
    guint n_printed = 0;

    if (n_done == schedule->n_ops)
        return COMMAND_DONE;
    fprintf(stderr,
            "weft graph: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
            " operations can never begin\n",
            schedule->n_ops - n_done, schedule->n_ops);
    for (uint64_t i = 0; i < schedule->n_ops && n_printed < STUCK_PRINTED; i++) {
        struct schedule_op op;

        schedule_op(schedule, i, &op);
        if (done[i] || (counts[i] == 0 && op.n_needed > 0))
            continue;
        g_autofree char *where = where_of(&op), *what = what_of(&op);

        fprintf(stderr, "  %s waits in operation %" G_GUINT64_FORMAT ", %s: %u of %u came\n", where,
                i, what, counts[i], op.n_needed);
        n_printed++;
    }
    return COMMAND_UNFINISHED;
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_text(const struct schedule *schedule)
{
    enum schedule_when when;
    uint64_t next;

    printf("# operation: rank [engine lane]: what -> who waits for it\n");
    for (uint64_t i = 0; i < schedule->n_ops; i++) {
        struct schedule_op op;

        schedule_op(schedule, i, &op);
        g_autofree char *where = where_of(&op), *what = what_of(&op);

        printf("%" G_GUINT64_FORMAT ": %s: %s", i, where, what);
        for (uint32_t k = 0; (next = schedule_successor(schedule, i, k, &when)) != SCHEDULE_NONE;
             k++)
            printf("%s %" G_GUINT64_FORMAT "%s", k ? "," : " ->", next,
                   op.kind == SCHEDULE_MESSAGE ? when_names[when] : "");
        printf("\n");
    }
}

/* A box a rank; arrows that wait for less than the end are dashed. */
static void print_dot(const struct schedule *schedule)
{
    enum schedule_when when;
    uint64_t next;

    printf("digraph schedule {\n  rankdir=LR; node [shape=box, fontsize=10];\n");
    for (uint32_t rank = 0; rank < schedule->n_ranks; rank++) {
        printf("  subgraph cluster_%u {\n    label=\"rank %u\";\n", rank, rank);
        for (uint64_t i = 0; i < schedule->n_ops; i++) {
            struct schedule_op op;

            schedule_op(schedule, i, &op);
            if (op.rank != rank)
                continue;
            g_autofree char *what = what_of(&op);

            if (op.element == SCHEDULE_NO_ELEMENT)
                printf("    o%" G_GUINT64_FORMAT " [label=\"%s\"];\n", i, what);
            else
                printf("    o%" G_GUINT64_FORMAT " [label=\"engine %u lane %u\\n%s\"];\n", i,
                       op.engine, op.lane, what);
        }
        printf("  }\n");
    }
    for (uint64_t i = 0; i < schedule->n_ops; i++)
        for (uint32_t k = 0; (next = schedule_successor(schedule, i, k, &when)) != SCHEDULE_NONE;
             k++)
            printf("  o%" G_GUINT64_FORMAT " -> o%" G_GUINT64_FORMAT "%s;\n", i, next,
                   when == SCHEDULE_AT_RECEIVER ? "" : " [style=dashed]");
    printf("}\n");
}

int command_graph(int argc, char **argv)
{
    struct command_line line;
    struct scenario *scenario = NULL;
    struct experiment experiment;
    GError *error = NULL;
    int code = COMMAND_DONE;

    if (command_parse(&line, argc, argv, "[SCENARIO] - print the operations of a scenario",
                      "Prints each operation and who waits for it; with --dot for Graphviz. Ends "
                      "with 3, and says who\nwaits for what, when some can never begin.",
                      COMMAND_TAKES_DOT, &error))
        scenario = command_scenario(&line, &error);
    if (scenario) {
        if (experiment_init(&experiment, scenario, &error)) {
            if (line.dot)
                print_dot(&experiment.schedule);
            else
                print_text(&experiment.schedule);
            fflush(stdout);
            code = print_stuck(&experiment.schedule);
        }
        experiment_clear(&experiment);
    }
    if (error)
        code = command_fail("graph", error);
    scenario_free(scenario);
    command_clear(&line);
    return code;
}
