/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft list: names, one line each. */
#include "sim/app/catalogue.h"
#include "sim/app/command.h"
#include "sim/app/ready.h"
#include <stdio.h>
#include <string.h>

#define READY "scenarios"

/* The title of a ready scenario or, as most have none, its first comment. */
static char *ready_summary(const char *path)
{
    struct scenario *scenario = scenario_new();
    const struct scenario_entry *title = NULL;
    g_autofree char *text = NULL, *found = NULL;

    if (scenario_load(scenario, path, NULL))
        title = scenario_entry(scenario, "scenario", "title");
    found = title ? g_strdup(title->value) : NULL;
    scenario_free(scenario);
    if (found || !g_file_get_contents(path, &text, NULL, NULL))
        return g_steal_pointer(&found);

    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line && **line == '#'; line++) {
        char *words = g_strstrip(*line + 1);

        if (*words && !g_str_has_prefix(words, "SPDX"))
            return g_strdup(words);
    }
    return NULL;
}

static void list_ready(void)
{
    g_autoptr(GPtrArray) paths = ready_list(NULL);

    printf("%s (weft run NAME, base = NAME, --topology NAME, --workload NAME)\n", READY);
    for (guint i = 0; i < paths->len; i++) {
        const char *path = g_ptr_array_index(paths, i);
        g_autofree char *name = ready_name(path), *summary = ready_summary(path);

        printf("  %-22s %s\n", name, summary ? summary : path);
    }
}

static void list_catalogue(const struct catalogue *catalogue)
{
    struct kind kind;

    printf("%s (%s)\n", catalogue->plural, catalogue->setting);
    for (int i = 0; catalogue->at(i, &kind); i++)
        printf("  %-22s %s\n", kind.name, kind.summary);
}

static int list_all(void)
{
    for (const struct catalogue *catalogue = catalogue_list; catalogue->plural; catalogue++) {
        list_catalogue(catalogue);
        printf("\n");
    }
    list_ready();
    return COMMAND_DONE;
}

static int list_one(const char *what)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *near;

    if (strcmp(what, READY) == 0) {
        list_ready();
        return COMMAND_DONE;
    }
    g_ptr_array_add(names, (char *)(uintptr_t)READY);
    for (const struct catalogue *catalogue = catalogue_list; catalogue->plural; catalogue++) {
        if (strcmp(catalogue->plural, what) == 0) {
            list_catalogue(catalogue);
            return COMMAND_DONE;
        }
        g_ptr_array_add(names, (char *)(uintptr_t)catalogue->plural);
    }
    near = param_nearest(what, (const char *const *)names->pdata, names->len);
    g_ptr_array_add(names, NULL);

    g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);
    fprintf(stderr, "weft list: there is no list '%s'%s%s%s; there are %s\n", what,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", all);
    return COMMAND_WRONG;
}

int command_list(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new("[WHAT] - names, one line each");
    GError *error = NULL;

    g_option_context_set_summary(context,
                                 "WHAT is transports, topologies, workloads, queues, "
                                 "routes, nodes, backends or scenarios; all unless given.");
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return command_fail("list", error);
    for (int i = 1; i < argc; i++) {
        int code = list_one(argv[i]);

        if (code != COMMAND_DONE)
            return code;
    }
    return argc > 1 ? COMMAND_DONE : list_all();
}
