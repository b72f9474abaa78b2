/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft diff: what changed between two results. */
#include "sim/app/command.h"
#include "sim/app/diff.h"
#include "sim/app/explain.h"
#include "sim/app/replay.h"
#include "sim/core/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct request {
    char *relative;
    gboolean quiet, explain;
    double threshold;
};

/* "(+12.3 %)", nothing where there is no ratio. */
static void print_ratio(const struct diff_item *item)
{
    double a = item->a ? g_ascii_strtod(item->a, NULL) : 0;
    double b = item->b ? g_ascii_strtod(item->b, NULL) : 0;

    if (item->a && item->b && *item->a && *item->b && isfinite(b / a) && b != a)
        printf("  (%+.3g %%)", 100 * (b / a - 1));
}

static void print_value(const char *text, double ci95)
{
    printf("%s", !text ? "-" : *text ? text : "\"\"");
    if (isfinite(ci95))
        printf(" +- %.3g", ci95);
}

static void print_parameter(const struct diff_item *item)
{
    printf("parameter  %s %s: ", item->where, item->name);
    print_value(item->a, (double)NAN);
    printf(" -> ");
    print_value(item->b, (double)NAN);
    if (item->n_points > 1)
        printf("  (in %u grid points)", item->n_points);
    printf("\n");
}

static void print_number(const struct diff_item *item)
{
    printf("number     %s%s%s: ", item->where, *item->where ? ": " : "", item->name);
    print_value(item->a, item->a_ci95);
    printf(" -> ");
    print_value(item->b, item->b_ci95);
    printf("%s%s", *item->unit ? " " : "", item->unit);
    print_ratio(item);
    printf("\n");
}

static void print_diff(const struct diff *diff)
{
    for (guint i = 0; i < diff->parameters->len; i++)
        print_parameter(g_ptr_array_index(diff->parameters, i));
    for (guint i = 0; i < diff->numbers->len; i++)
        print_number(g_ptr_array_index(diff->numbers, i));
    printf("%u parameters differ, %u are the same; %u numbers differ, %u are the same\n",
           diff->parameters->len, diff->n_parameters_same, diff->numbers->len,
           diff->n_numbers_same);
}

/* --- parts of the time ------------------------------------------------------------------------ */

/* The critical chain of the run of a folder, in parts; played twice, the second time recording. */
static gboolean explain_folder(const char *folder, int64_t *part_ps, GError **error)
{
    struct replay replay;
    struct explain explain;
    gboolean ok = replay_open(&replay, folder, error);

    if (ok) {
        replay_prepare(&replay);
        ok = replay_play(&replay, error);
    }
    if (ok) {
        explain_run(&explain, &replay.journal, false);
        replay_prepare(&replay);
        for (guint i = 0; i < explain.chain->len; i++) {
            const struct explain_link *link = &g_array_index(explain.chain, struct explain_link, i);

            replay_want(&replay, link->op, link->from_ps, link->to_ps);
        }
        explain_clear(&explain);
        ok = replay_play(&replay, error);
    }
    if (ok) {
        explain_run(&explain, &replay.journal, true);
        for (int part = 0; part < EXPLAIN_N_PARTS; part++)
            for (int why = 0; why < EXPLAIN_N_WHYS; why++)
                part_ps[part] += explain.part_ps[part][why];
        if (explain.broken)
            g_set_error(error, COMMAND_ERROR, 1, "%s: cannot be explained: %s", folder,
                        explain.broken);
        ok = !explain.broken;
        explain_clear(&explain);
    }
    replay_close(&replay);
    return ok;
}

static void print_time(int64_t ps)
{
    g_autofree char *text = units_display(UNITS_TIME, (double)ps);

    printf("%14s", text);
}

static enum explain_part largest_of(const int64_t *part_ps)
{
    int largest = 0;

    for (int part = 1; part < EXPLAIN_N_PARTS; part++)
        if (part_ps[part] > part_ps[largest])
            largest = part;
    return (enum explain_part)largest;
}

/* How each part of the run's time moved, and which is the largest now. */
static gboolean print_parts(const char *a, const char *b, GError **error)
{
    int64_t was_ps[EXPLAIN_N_PARTS] = {0}, is_ps[EXPLAIN_N_PARTS] = {0}, sum_ps[2] = {0};

    if (!explain_folder(a, was_ps, error) || !explain_folder(b, is_ps, error))
        return FALSE;
    printf("critical chain of the run, by part\n");
    for (int part = 0; part < EXPLAIN_N_PARTS; part++) {
        sum_ps[0] += was_ps[part];
        sum_ps[1] += is_ps[part];
        if (was_ps[part] == 0 && is_ps[part] == 0)
            continue;
        printf("part       %-24s", explain_part_name((enum explain_part)part));
        print_time(was_ps[part]);
        printf(" ->");
        print_time(is_ps[part]);
        printf("  %+" G_GINT64_FORMAT " ps\n", is_ps[part] - was_ps[part]);
    }
    printf("part       %-24s", "sum");
    print_time(sum_ps[0]);
    printf(" ->");
    print_time(sum_ps[1]);
    printf("  %+" G_GINT64_FORMAT " ps\nlargest    %s -> %s\n", sum_ps[1] - sum_ps[0],
           explain_part_name(largest_of(was_ps)), explain_part_name(largest_of(is_ps)));
    return TRUE;
}

/* --- the command ------------------------------------------------------------------------------ */

static gboolean parse(struct request *request, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"relative", 'r', 0, G_OPTION_ARG_STRING, &request->relative,
         "Numbers without an interval differ if above this share of the larger; 0 unless given",
         "RATIO"},
        {"explain", 'e', 0, G_OPTION_ARG_NONE, &request->explain,
         "Of two runs: play both again and say how each part of the time moved (weft explain)",
         NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &request->quiet, "Only the exit code", NULL},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context =
        g_option_context_new("DIR DIR - what changed between two results");
    int64_t ppt = 0;
    const char *why;

    g_option_context_set_summary(
        context, "Two runs, or two comparisons or sweeps: parameters that differ, and numbers that "
                 "differ beyond their 95 %\nintervals or, without one, by more than --relative. "
                 "Ends with 0: the same, 1: different, 2: something is wrong.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, argc, argv, error))
        return FALSE;
    if (*argc != 3) {
        g_set_error(error, COMMAND_ERROR, 1, "two folders of results are expected, not %d",
                    *argc - 1);
        return FALSE;
    }
    if (request->relative &&
        (!units_parse(UNITS_RATIO, request->relative, &ppt, &why) || ppt < 0)) {
        g_set_error(error, COMMAND_ERROR, 1, "--relative %s: a ratio such as 1%% is expected",
                    request->relative);
        return FALSE;
    }
    request->threshold = (double)ppt / (double)UNITS_PPT;
    return TRUE;
}

int command_diff(int argc, char **argv)
{
    struct request request = {0};
    struct diff diff = {0};
    GError *error = NULL;
    int code;

    if (!parse(&request, &argc, &argv, &error)) {
        code = command_fail("diff", error);
    } else {
        if (!diff_make(&diff, argv[1], argv[2], request.threshold, &error)) {
            code = command_fail("diff", error);
        } else {
            if (!request.quiet)
                print_diff(&diff);
            code = diff.parameters->len + diff.numbers->len > 0 ? COMMAND_BROKEN : COMMAND_DONE;
            if (request.explain && !print_parts(argv[1], argv[2], &error))
                code = command_fail("diff", error);
        }
        diff_clear(&diff);
    }
    g_free(request.relative);
    return code;
}
