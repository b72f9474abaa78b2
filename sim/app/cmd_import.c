/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weft import: says what files of other tools hold, and writes them as weft's own: a topology as
 * links, a workload as messages, what fails as faults, a configuration as a scenario. Nothing is
 * run. A workload is laid over the topology that is given with it, or over as many bare hosts as it
 * speaks of.
 */
#include "sim/app/command.h"
#include "sim/app/describe.h"
#include "sim/app/export.h"
#include "sim/app/formats.h"
#include "sim/app/import_faults.h"
#include "sim/app/kinds.h"
#include "workloads/cdf.h"
#include <stdio.h>
#include <string.h>

#define BARE_HOSTS (1u << 20) /* a workload without a topology may name hosts below */

/* One file and what was made of it. */
struct source {
    const struct format *format; /* NULL: KIND:FILE */
    const struct seam *seam;     /* topology or workload; NULL: neither */
    const char *kind, *key;
    char *path;
};

struct import {
    char **sets;
    gboolean dry;
    char *out;
    struct source topology, workload; /* path NULL: none */
    GPtrArray *faults;                /* char *, paths */
    char *settings, *object, *end;    /* object, end: for profiles, see import_faults.h */
    struct build build;
    struct graph graph;
    struct schedule schedule;
    bool graph_built, schedule_built;
};

/* --- which file is what ----------------------------------------------------------------------- */

static gboolean keep(struct source *place, const struct source *source, GError **error)
{
    if (place->path) {
        g_set_error(error, COMMAND_ERROR, 1, "%s and %s: one %s at a time is expected", place->path,
                    source->path, source->seam->group);
        return FALSE;
    }
    *place = *source;
    place->path = g_strdup(source->path);
    return TRUE;
}

/* "KIND:FILE" of either seam. */
static bool split_kind(const char *what, struct source *source)
{
    const char *colon = strchr(what, ':');
    g_autofree char *name = colon ? g_strndup(what, (gsize)(colon - what)) : NULL;
    struct kind kind;

    for (int s = 0; name && s < 2; s++)
        if (kinds_find(&kinds_seams[s], name, &kind) &&
            param_find(kind.params, format_key_of_kind(kind.name))) {
            *source = (struct source){.seam = &kinds_seams[s],
                                      .kind = kind.name,
                                      .key = format_key_of_kind(kind.name),
                                      .path = (char *)(uintptr_t)(colon + 1)};
            return true;
        }
    return false;
}

static gboolean take_file(struct import *import, char *what, GError **error)
{
    struct source source = {.path = what};

    if (g_file_test(what, G_FILE_TEST_EXISTS) || !split_kind(what, &source)) {
        source.format = format_recognise(what, error);
        if (!source.format)
            return FALSE;
        source.kind = source.format->kind;
        source.key = source.format->key;
        printf("file        %s: %s\n", what, source.format->summary);
    } else {
        printf("file        %s: read as %s %s, as asked\n", source.path, source.seam->group,
               source.kind);
    }
    switch (source.format                                 ? source.format->role
            : strcmp(source.seam->group, "topology") == 0 ? FORMAT_TOPOLOGY
                                                          : FORMAT_WORKLOAD) {
    case FORMAT_TOPOLOGY:
        source.seam = &kinds_seams[0];
        return keep(&import->topology, &source, error);
    case FORMAT_WORKLOAD:
        source.seam = &kinds_seams[1];
        return keep(&import->workload, &source, error);
    case FORMAT_FAULTS:
        g_ptr_array_add(import->faults, what);
        return TRUE;
    case FORMAT_SETTINGS:
        import->settings = what;
        return TRUE;
    case FORMAT_SCENARIO:
        g_set_error(error, COMMAND_ERROR, 1, "%s: a scenario of weft already; weft check %s", what,
                    what);
        return FALSE;
    case FORMAT_OTHER:
        break;
    }
    g_set_error(error, COMMAND_ERROR, 1, "%s: %s; it is not read: %s", what, source.format->summary,
                source.format->instead);
    return FALSE;
}

/* --- building --------------------------------------------------------------------------------- */

/* Sets the keys of --set that belong to the group. */
static gboolean apply_sets(const struct import *import, const char *group,
                           const struct param *params, void *config, GError **error)
{
    g_autofree char *prefix = g_strconcat(group, ".", NULL);

    for (char **set = import->sets; set && *set; set++) {
        const char *equals = strchr(*set, '=');

        if (!g_str_has_prefix(*set, prefix) || !equals)
            continue;
        const char *name = *set + strlen(prefix);
        g_autofree char *key = g_strndup(name, (gsize)(equals - name));
        const struct param *param = param_find(params, key);

        if (!param) {
            g_set_error(error, COMMAND_ERROR, 1, "--set %s: no such key (weft params)", *set);
            return FALSE;
        }
        if (!param_set(param, config, equals + 1, error)) {
            g_prefix_error(error, "--set %s: ", *set);
            return FALSE;
        }
    }
    return TRUE;
}

/* The configuration of a source's kind; g_free after param_clear. */
static void *configure(const struct import *import, const struct source *source, struct kind *kind,
                       GError **error)
{
    void *config;

    kinds_find(source->seam, source->kind, kind);
    config = g_malloc0(kind->config_size);
    param_defaults(kind->params, config);
    if (param_set(param_find(kind->params, source->key), config, source->path, error) &&
        apply_sets(import, source->seam->group, kind->params, config, error))
        return config;
    param_clear(kind->params, config);
    g_free(config);
    return NULL;
}

static gboolean build_topology(struct import *import, GError **error)
{
    struct kind kind;
    void *config = configure(import, &import->topology, &kind, error);
    const struct topology_ops *ops = kind.ops;
    gboolean ok;

    if (!config)
        return FALSE;
    ok = ops->build(config, &import->build, &import->graph, error);
    import->graph_built = ok;
    param_clear(kind.params, config);
    g_free(config);
    return ok;
}

/* Builds once over many bare hosts to hear how many the file speaks of, then over those. */
static gboolean build_bare(struct import *import, const struct workload_ops *ops,
                           const void *config, GError **error)
{
    struct graph bare = {.n_hosts = BARE_HOSTS, .n_nodes = BARE_HOSTS, .n_planes = 1};
    struct build first;
    gboolean ok;

    build_init(&first, import->build.seed, import->build.end_ps);
    ok = ops->build(config, &bare, &first, &import->schedule, error);
    if (ok) {
        schedule_clear(&import->schedule);
        bare.n_hosts = bare.n_nodes = first.n_hosts_named ? first.n_hosts_named : 2;
        ok = ops->build(config, &bare, &import->build, &import->schedule, error);
        import->graph.n_hosts = bare.n_hosts;
    }
    build_clear(&first);
    return ok;
}

static gboolean build_workload(struct import *import, GError **error)
{
    struct kind kind;
    void *config = configure(import, &import->workload, &kind, error);
    const struct workload_ops *ops = kind.ops;
    gboolean ok;

    if (!config)
        return FALSE;
    ok = import->graph_built
             ? ops->build(config, &import->graph, &import->build, &import->schedule, error)
             : build_bare(import, ops, config, error);
    import->schedule_built = ok;
    param_clear(kind.params, config);
    g_free(config);
    return ok;
}

/* --- saying ----------------------------------------------------------------------------------- */

static void describe_schedule(const struct import *import)
{
    const struct schedule *schedule = &import->schedule;
    double bytes = 0, compute_ps = 0;
    uint64_t n_of[4] = {0};
    int64_t last_ps = 0;

    for (uint64_t i = 0; i < schedule->n_ops; i++) {
        struct schedule_op op;

        schedule_op(schedule, i, &op);
        n_of[op.kind]++;
        bytes += op.kind == SCHEDULE_MESSAGE ? (double)op.bytes : 0;
        compute_ps += (double)op.duration_ps;
        last_ps = MAX(last_ps, op.start_ps);
    }
    g_autofree char *last = units_format(UNITS_TIME, last_ps);

    printf("workload    %s: %" G_GUINT64_FORMAT " messages", import->workload.kind,
           n_of[SCHEDULE_MESSAGE]);
    describe_quantity(" of ", UNITS_BYTES, bytes);
    printf(" in all (%.0f B) over %u hosts", bytes, import->graph.n_hosts);
    printf("; starts to %s\n", last);
    if (n_of[SCHEDULE_COMPUTE] + n_of[SCHEDULE_REDUCE])
        printf("            %" G_GUINT64_FORMAT " computations", n_of[SCHEDULE_COMPUTE]);
    if (n_of[SCHEDULE_COMPUTE] + n_of[SCHEDULE_REDUCE]) {
        describe_quantity(" of ", UNITS_TIME, compute_ps);
        printf(" in sum, %" G_GUINT64_FORMAT " reductions\n", n_of[SCHEDULE_REDUCE]);
    }
    if (n_of[SCHEDULE_MESSAGE] == 0)
        printf("bytes       over the fabric: 0\n");
    describe_groups(schedule);
}

static void say(const struct import *import)
{
    struct graph_facts facts;

    if (import->graph_built) {
        graph_describe(&import->graph, &facts);
        describe_graph(&import->graph, &facts, import->topology.kind);
        if (facts.n_components > 1)
            printf(
                "note        warning: the hosts fall into %u sets that cannot reach each other\n",
                facts.n_components);
    }
    if (import->schedule_built)
        describe_schedule(import);
    for (guint i = 0; i < import->build.faults.faults->len; i++) {
        g_autofree char *text = fault_describe(fault_at(&import->build.faults, i));

        printf("fault       %s\n", text);
    }
    describe_notes(&import->build);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* DIR/NAME.WHAT of the file it comes from. */
static char *target(const struct import *import, const char *source, const char *what)
{
    g_autofree char *base = g_path_get_basename(source);
    g_autofree char *name = g_strconcat(base, ".", what, NULL);

    return g_build_filename(import->out ? import->out : ".", name, NULL);
}

static gboolean written(const char *path, gboolean ok)
{
    if (ok)
        printf("written     %s\n", path);
    return ok;
}

static gboolean write_all(const struct import *import, GError **error)
{
    const char *first =
        import->faults->len ? g_ptr_array_index(import->faults, 0) : import->topology.path;

    if (import->out && g_mkdir_with_parents(import->out, 0777) != 0) {
        g_set_error(error, COMMAND_ERROR, 1, "--out %s: the folder cannot be made", import->out);
        return FALSE;
    }
    if (import->graph_built) {
        g_autofree char *path = target(import, import->topology.path, "links.csv");

        if (!written(path, export_graph(&import->graph, path, error)))
            return FALSE;
    }
    if (import->schedule_built) {
        g_autofree char *path = target(import, import->workload.path, "messages.csv");

        if (!written(path, export_schedule(&import->schedule, path, error)))
            return FALSE;
    }
    if (import->build.faults.faults->len) {
        g_autofree char *path = target(import, first, "faults.csv");

        if (!written(path, export_faults(&import->build.faults, path, error)))
            return FALSE;
    }
    return TRUE;
}

/* --- settings --------------------------------------------------------------------------------- */

static char *layers_text(const struct scenario *scenario)
{
    g_autoptr(GPtrArray) groups = scenario_groups(scenario, "");
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < groups->len; i++) {
        const char *group = g_ptr_array_index(groups, i);
        g_autoptr(GPtrArray) entries = scenario_group_entries(scenario, group);

        g_string_append_printf(text, "[%s]\n", group);
        for (guint k = 0; k < entries->len; k++) {
            const struct scenario_entry *entry = g_ptr_array_index(entries, k);
            g_autofree char *path = strcmp(entry->key, "file") == 0
                                        ? g_canonicalize_filename(entry->value, NULL)
                                        : g_strdup(entry->value);

            g_string_append_printf(text, "%s = %s\n", entry->key, path);
        }
    }
    return g_string_free(text, FALSE);
}

/* A configuration is a scenario: its notes, and the keys that it sets as a key file. */
static gboolean import_settings(struct import *import, GError **error)
{
    struct scenario *scenario = scenario_new();
    g_autofree char *text = NULL, *path = target(import, import->settings, "ini");
    gboolean ok = scenario_load(scenario, import->settings, error);

    for (guint i = 0; ok && i < scenario->notes->len; i++)
        printf("note        %s\n", (char *)g_ptr_array_index(scenario->notes, i));
    text = ok ? layers_text(scenario) : NULL;
    if (ok && import->dry)
        printf("%s", text);
    else if (ok && import->out && g_mkdir_with_parents(import->out, 0777) != 0)
        g_set_error(error, COMMAND_ERROR, 1, "--out %s: the folder cannot be made", import->out);
    else if (ok)
        ok = written(path, g_file_set_contents(path, text, -1, error));
    scenario_free(scenario);
    return ok && !(error && *error);
}

/* --- the command ------------------------------------------------------------------------------ */

/* A distribution of sizes is an input of poisson as it is. */
static gboolean describe_sizes(const char *path, GError **error)
{
    struct cdf cdf;

    if (!cdf_read(&cdf, path, 1, error))
        return FALSE;
    const struct cdf_point *first = &g_array_index(cdf.points, struct cdf_point, 0);
    const struct cdf_point *last =
        &g_array_index(cdf.points, struct cdf_point, cdf.points->len - 1);

    printf("sizes       %u points, shares as %s; ", cdf.points->len,
           cdf.percent ? "percentages" : "fractions");
    printf("%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " B, mean %.1f B (sizes counted in bytes; "
           "workload.size_unit says otherwise)\n",
           first->bytes, last->bytes, (double)cdf_mean(&cdf) / (2.0 * (double)UNITS_PPT));
    printf("note        it is read as it is: --workload %s, or workload.kind = poisson and "
           "workload.cdf_file\n",
           path);
    cdf_clear(&cdf);
    return TRUE;
}

static gboolean import_all(struct import *import, char **files, GError **error)
{
    for (; *files; files++)
        if (!take_file(import, *files, error))
            return FALSE;
    if (import->settings && !import_settings(import, error))
        return FALSE;
    if (import->topology.path && !build_topology(import, error))
        return FALSE;
    if (import->workload.path && strcmp(import->workload.key, "cdf_file") == 0) {
        if (!describe_sizes(import->workload.path, error))
            return FALSE;
    } else if (import->workload.path && !build_workload(import, error)) {
        return FALSE;
    }
    for (guint i = 0; i < import->faults->len; i++)
        if (!import_faults(g_ptr_array_index(import->faults, i), import->object, import->end,
                           &import->build, error))
            return FALSE;
    say(import);
    return import->dry || write_all(import, error);
}

static gboolean parse(struct import *import, int argc, char **argv, char ***files, GError **error)
{
    g_autoptr(GOptionContext) context =
        g_option_context_new("[KIND:]FILE... - read other tools' files");
    const GOptionEntry entries[] = {
        {"dry-run", 'n', 0, G_OPTION_ARG_NONE, &import->dry,
         "Say what was understood, write nothing", NULL},
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &import->out,
         "Folder to write to; the present one unless given", "DIR"},
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &import->sets,
         "Set a key of the topology or workload; repeatable", "GROUP.KEY=VALUE"},
        {"object", 0, 0, G_OPTION_ARG_STRING, &import->object,
         "What a profile of SimGrid is about; link:0 unless given", "OBJECT"},
        {"end", 0, 0, G_OPTION_ARG_STRING, &import->end,
         "Until when a profile that loops is unrolled; 10s unless given", "TIME"},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, files, NULL, NULL},
        G_OPTION_ENTRY_NULL};

    g_option_context_set_summary(
        context, "A topology, a workload, lists of faults and a configuration, recognised by their "
                 "content (weft list\nformats) or read as KIND. Writes FILE.links.csv, "
                 "FILE.messages.csv, FILE.faults.csv and FILE.ini,\nwhich weft reads.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, error))
        return FALSE;
    if (*files)
        return TRUE;
    g_set_error(error, COMMAND_ERROR, 1, "a file is expected");
    return FALSE;
}

int command_import(int argc, char **argv)
{
    struct import import = {0};
    g_auto(GStrv) files = NULL;
    GError *error = NULL;
    int code = COMMAND_DONE;

    import.faults = g_ptr_array_new();
    build_init(&import.build, 1, INT64_MAX);
    graph_init(&import.graph);
    if (!parse(&import, argc, argv, &files, &error) || !import_all(&import, files, &error)) {
        fflush(stdout);
        code = command_fail("import", error);
    }
    if (import.schedule_built)
        schedule_clear(&import.schedule);
    graph_clear(&import.graph);
    build_clear(&import.build);
    g_ptr_array_unref(import.faults);
    g_free(import.topology.path);
    g_free(import.workload.path);
    g_free(import.out);
    g_free(import.object);
    g_free(import.end);
    g_strfreev(import.sets);
    return code;
}
