/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/replay.h"
#include "sim/app/version.h"
#include "sim/core/table.h"
#include <string.h>

G_DEFINE_QUARK(weft - replay, replay_error)

/* --- what was left ---------------------------------------------------------------------------- */

/* The version that wrote run.json, as output.c spells it; NULL with an error. g_free. */
static char *version_of(const char *folder, GError **error)
{
    static const char key[] = "\"version\": \"";
    g_autofree char *path = g_build_filename(folder, "run.json", NULL), *text = NULL;
    const char *from, *to;

    if (!g_file_get_contents(path, &text, NULL, error))
        return NULL;
    from = strstr(text, key);
    to = from ? strchr(from + strlen(key), '"') : NULL;
    if (!to) {
        g_set_error(error, REPLAY_ERROR, 0,
                    "%s: the version of weft that played the run is "
                    "expected in it",
                    path);
        return NULL;
    }
    return g_strndup(from + strlen(key), (gsize)(to - from - (gssize)strlen(key)));
}

static gboolean check_version(const char *folder, GError **error)
{
    g_autofree char *version = version_of(folder, error);

    if (!version)
        return FALSE;
    if (strcmp(version, version_text()) == 0)
        return TRUE;
    g_set_error(error, REPLAY_ERROR, 0,
                "%s was played by weft %s, and this is %s: the same version is expected, for "
                "another need not give the same run; weft run %s/scenario.ini plays it anew",
                folder, version, version_text(), folder);
    return FALSE;
}

gboolean replay_open(struct replay *replay, const char *folder, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "scenario.ini", NULL);

    *replay = (struct replay){.folder = g_strdup(folder), .scenario = scenario_new()};
    if (!check_version(folder, error) || !scenario_load(replay->scenario, path, error) ||
        !experiment_init(&replay->experiment, replay->scenario, error))
        return FALSE;
    if (scenario_backends[replay->scenario->run.backend] == &backend_native)
        return TRUE;
    g_set_error(error, REPLAY_ERROR, 0,
                "%s: [run] backend = %s: only runs of the backend native can be recorded", path,
                scenario_backends[replay->scenario->run.backend]->name);
    return FALSE;
}

/* --- playing ---------------------------------------------------------------------------------- */

static void on_flow(void *data, const struct sink_flow *flow)
{
    GHashTable *flows = data;
    struct sink_flow *copy = g_memdup2(flow, sizeof *flow);
    gint64 key = (gint64)flow->flow;

    copy->bytes_by_plane = NULL; /* what they point to lives only now */
    g_hash_table_replace(flows, g_memdup2(&key, sizeof key), copy);
}

static void forget(struct replay *replay)
{
    if (replay->has_journal)
        journal_clear(&replay->journal);
    replay->has_journal = false;
    g_clear_pointer(&replay->flows, g_hash_table_unref);
    backend_result_clear(&replay->result);
}

void replay_prepare(struct replay *replay)
{
    forget(replay);
    journal_init(&replay->journal, &replay->experiment);
    replay->has_journal = true;
    replay->flows = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

static gboolean same_number(const struct table *table, const char *metric, int64_t value,
                            GError **error)
{
    for (uint32_t row = 0; row < table_n_rows(table); row++)
        if (strcmp(table_field(table, row, 0), metric) == 0) {
            if (g_ascii_strtoll(table_field(table, row, 1), NULL, 10) == value)
                return TRUE;
            table_set_error(table, row, 1, error,
                            "%s = %s, but played again it is %" G_GINT64_FORMAT
                            ": this is not the run of the scenario.ini beside it",
                            metric, table_field(table, row, 1), value);
            return FALSE;
        }
    return TRUE;
}

static gboolean check_same(const struct replay *replay, GError **error)
{
    g_autofree char *path = g_build_filename(replay->folder, "summary.csv", NULL);
    struct table *table = table_read(path, error);
    gboolean same = table && table_n_columns(table) == 3 &&
                    same_number(table, "run_end", replay->result.end_ps, error) &&
                    same_number(table, "events", (int64_t)replay->result.n_events, error);

    if (table && table_n_columns(table) != 3)
        g_set_error(error, REPLAY_ERROR, 0,
                    "%s: the columns metric,value,unit of a run are "
                    "expected",
                    path);
    table_free(table);
    return same;
}

gboolean replay_play(struct replay *replay, GError **error)
{
    static const struct sink_ops ops = {.flow = on_flow};
    struct sink sink = {&ops, replay->flows};

    return experiment_play(&replay->experiment, &sink, NULL, NULL, &replay->result, error) &&
           check_same(replay, error);
}

void replay_close(struct replay *replay)
{
    forget(replay);
    experiment_clear(&replay->experiment);
    scenario_free(replay->scenario);
    g_free(replay->folder);
}

/* --- messages --------------------------------------------------------------------------------- */

const struct sink_flow *replay_flow(const struct replay *replay, uint64_t op)
{
    gint64 key = (gint64)op;

    return g_hash_table_lookup(replay->flows, &key);
}

gboolean replay_find_flow(const struct replay *replay, const char *text, uint64_t *op,
                          GError **error)
{
    const struct schedule *schedule = &replay->experiment.schedule;
    struct schedule_op is = {.kind = SCHEDULE_JOIN};
    char *end;

    *op = g_ascii_strtoull(text, &end, 10);
    if (g_ascii_isdigit(*text) && !*end && *op < schedule->n_ops)
        schedule_op(schedule, *op, &is);
    if (is.kind == SCHEDULE_MESSAGE)
        return TRUE;
    g_set_error(
        error, REPLAY_ERROR, 0,
        "flow '%s': the number of a message is expected, as in the column flow of "
        "flows.csv%s",
        text,
        g_ascii_isdigit(*text) && !*end && *op < schedule->n_ops ? "; this operation is none" : "");
    return FALSE;
}

void replay_want(struct replay *replay, uint64_t op, int64_t from_ps, int64_t to_ps)
{
    const struct schedule *schedule = &replay->experiment.schedule;
    struct schedule_op is;

    schedule_op(schedule, op, &is);
    if (is.kind == SCHEDULE_MESSAGE)
        journal_want(&replay->journal, schedule->rank_host[is.rank], schedule->rank_host[is.peer],
                     from_ps, to_ps);
}

/* --- names ------------------------------------------------------------------------------------ */

char *replay_node_name(const struct replay *replay, uint32_t node)
{
    return g_strdup_printf("%s %u", node < replay->experiment.graph.n_hosts ? "host" : "switch",
                           node);
}

char *replay_port_name(const struct replay *replay, uint32_t port)
{
    const struct graph *graph = &replay->experiment.graph;
    g_autofree char *from = replay_node_name(replay, graph_port_node(graph, port));
    g_autofree char *to = replay_node_name(replay, graph_port_peer(graph, port));

    return g_strdup_printf("port %u (%s -> %s)", port, from, to);
}
