/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weft params: the parameter tables as they parse scenarios, for people and, with --markdown, as
 * docs/PARAMETERS.md.
 */
#include "sim/app/command.h"
#include "sim/app/kinds.h"
#include "sim/app/scenario_private.h"
#include "sim/app/sweep_plan.h"
#include <stdio.h>
#include <string.h>

/* One table with its names: "clos" in group [topology], or "queue" in [queue]. */
struct section {
    const char *name, *group, *key; /* key: the one that names the kind, or NULL */
    const char *summary, *source;   /* source may be NULL */
    const struct param *params;
};

static GArray *all_sections(void)
{
    GArray *sections = g_array_new(FALSE, FALSE, sizeof(struct section));
    struct section fixed[] = {
        {"scenario", "scenario", NULL, "What the file is called and what it is based on.", NULL,
         scenario_head_params},
        {"run", "run", NULL, "Seed, end and output of a run.", NULL, scenario_run_params},
    };

    g_array_append_vals(sections, fixed, G_N_ELEMENTS(fixed));
    for (int s = 0; s < KINDS_N_SEAMS; s++) {
        const struct seam *seam = &kinds_seams[s];
        struct kind kind;

        for (int i = 0; seam->at(i, &kind); i++) {
            struct section section = {kind.name,    seam->group, seam->key,
                                      kind.summary, kind.source, kind.params};

            g_array_append_val(sections, section);
        }
    }
    for (const struct model_group *group = model_groups; group->name; group++) {
        struct section section = {group->name,    group->name, NULL,
                                  group->summary, NULL,        group->params};

        g_array_append_val(sections, section);
    }
    struct section last[] = {
        {"hosts", "hosts:NAME", NULL, "What is particular to a group of hosts.", NULL,
         scenario_hosts_params},
        {"fault", "fault:NAME", NULL, "What happens to links during a run.", NULL,
         scenario_fault_params},
        {"sweep", "sweep", NULL, "Seeds of a sweep, and how a cluster plays it.", NULL,
         sweep_params},
    };

    g_array_append_vals(sections, last, G_N_ELEMENTS(last));
    return sections;
}

/* "1 .. 32"; empty where a type has no range. */
static char *range_text(const struct param *param)
{
    if (param->type == PARAM_BOOL || param->type == PARAM_CHOICE || param->type == PARAM_TEXT)
        return g_strdup("");
    const char *least = param->least ? param->least : "0", *word = param->choices;

    if (!param->most)
        return g_strdup_printf("from %s%s%s", least, word ? ", or " : "", word ? word : "");
    return g_strdup_printf("%s to %s%s%s", least, param->most, word ? ", or " : "",
                           word ? word : "");
}

/* --- for people ------------------------------------------------------------------------------- */

#define N_COLUMNS 6

static void print_rows(GPtrArray *cells)
{
    int width[N_COLUMNS] = {0};

    for (guint i = 0; i < cells->len; i++)
        width[i % N_COLUMNS] = MAX(width[i % N_COLUMNS], (int)strlen(g_ptr_array_index(cells, i)));
    for (guint i = 0; i < cells->len; i++) {
        bool last = i % N_COLUMNS == N_COLUMNS - 1;

        printf(last ? "%s\n" : "%s%*s  ", (char *)g_ptr_array_index(cells, i),
               last ? 0 : width[i % N_COLUMNS] - (int)strlen(g_ptr_array_index(cells, i)), "");
    }
}

static void print_section(const struct section *section)
{
    static const char *const heads[N_COLUMNS] = {"name",  "unit",    "default",
                                                 "range", "meaning", "source"};
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);

    if (section->key)
        printf("[%s] %s = %s\n", section->group, section->key, section->name);
    else
        printf("[%s]\n", section->group);
    printf("%s%s%s\n", section->summary, section->source ? " Source: " : "",
           section->source ? section->source : "");
    for (int i = 0; i < N_COLUMNS; i++)
        g_ptr_array_add(cells, g_strdup(heads[i]));
    for (const struct param *param = section->params; param->name; param++) {
        g_ptr_array_add(cells, g_strdup(param->name));
        g_ptr_array_add(cells, g_strdup(param_unit(param)));
        g_ptr_array_add(cells, g_strdup(*param->value ? param->value : "-"));
        g_ptr_array_add(cells, range_text(param));
        g_ptr_array_add(cells, g_strdup(param->help));
        g_ptr_array_add(cells, g_strdup(param->source));
    }
    print_rows(cells);
}

/* --- for docs/PARAMETERS.md ------------------------------------------------------------------- */

/* In a cell a bar ends the cell. */
static char *cell(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, "|", -1);

    return g_strjoinv("\\|", parts);
}

static void print_markdown_row(const struct param *param)
{
    g_autofree char *unit = cell(param_unit(param)), *help = cell(param->help);
    g_autofree char *source = cell(param->source), *range = range_text(param);

    printf("| `%s` | %s | %s%s%s | %s | %s | %s |\n", param->name, unit, *param->value ? "`" : "",
           param->value, *param->value ? "`" : "", range, help, source);
}

static void print_markdown(const struct section *section)
{
    if (section->key)
        printf("\n### `%s = %s`\n%s", section->key, section->name, section->summary);
    else
        printf("\n## `[%s]`\n%s", section->group, section->summary);
    if (section->source)
        printf(" Source: %s%s", section->source, g_str_has_suffix(section->source, ".") ? "" : ".");
    printf("\n\n| name | unit | default | range | meaning | source |\n|---|---|---|---|---|---|\n");
    for (const struct param *param = section->params; param->name; param++)
        print_markdown_row(param);
}

static void print_page(const GArray *sections)
{
    const char *group = "";

    printf("<!-- Generated by `make docs` from the tables that parse scenarios; do not edit. -->\n"
           "# Parameters\n\n"
           "Every group and key of a scenario ([SCENARIOS.md](SCENARIOS.md)). Times, sizes, rates "
           "and ratios are written with\ntheir unit: `1.5us`, `4KiB`, `400Gbps`, `1%%`. A source "
           "\"our choice\" means that nobody published the value.\n");
    for (guint i = 0; i < sections->len; i++) {
        const struct section *section = &g_array_index(sections, struct section, i);

        if (section->key && strcmp(group, section->group) != 0)
            printf("\n## `[%s]`\n`%s` says which; the other keys belong to it.\n", section->group,
                   section->key);
        group = section->group;
        print_markdown(section);
    }
}

/* --- the command ------------------------------------------------------------------------------ */

static int print_named(const GArray *sections, const char *name, bool markdown)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    int n = 0;

    for (guint i = 0; i < sections->len; i++) {
        const struct section *section = &g_array_index(sections, struct section, i);

        g_ptr_array_add(names, (char *)(uintptr_t)section->name);
        if (strcmp(section->name, name) != 0 && strcmp(section->group, name) != 0)
            continue;
        if (n++ > 0 && !markdown)
            printf("\n");
        if (markdown)
            print_markdown(section);
        else
            print_section(section);
    }
    if (n > 0)
        return COMMAND_DONE;

    const char *near = param_nearest(name, (const char *const *)names->pdata, names->len);
    fprintf(stderr,
            "weft params: nothing with parameters is called '%s'%s%s%s; see weft list, or a group "
            "such as queue\n",
            name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return COMMAND_WRONG;
}

static int print_all(const GArray *sections, bool markdown)
{
    if (markdown)
        print_page(sections);
    for (guint i = 0; !markdown && i < sections->len; i++) {
        if (i > 0)
            printf("\n");
        print_section(&g_array_index(sections, struct section, i));
    }
    return COMMAND_DONE;
}

int command_params(int argc, char **argv)
{
    g_autoptr(GOptionContext) context =
        g_option_context_new("[NAME...] - parameters with unit, default, range and source");
    gboolean markdown = FALSE;
    const GOptionEntry entries[] = {{"markdown", 0, 0, G_OPTION_ARG_NONE, &markdown,
                                     "Write the text of docs/PARAMETERS.md", NULL},
                                    G_OPTION_ENTRY_NULL};
    g_autoptr(GArray) sections = all_sections();
    GError *error = NULL;
    int code = COMMAND_DONE;

    g_option_context_set_summary(context, "NAME is a transport, a topology, a workload (weft list) "
                                          "or a group of a scenario; all unless given.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return command_fail("params", error);
    for (int i = 1; i < argc && code == COMMAND_DONE; i++)
        code = print_named(sections, argv[i], markdown);
    return argc > 1 ? code : print_all(sections, markdown);
}
