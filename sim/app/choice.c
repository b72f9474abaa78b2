/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/choice.h"
#include <string.h>

static void choice_free(void *data)
{
    struct choice *choice = data;

    g_free(choice->name);
    g_ptr_array_unref(choice->overrides);
    g_free(choice);
}

GPtrArray *choices_new(void)
{
    return g_ptr_array_new_with_free_func(choice_free);
}

struct choice *choices_add(GPtrArray *choices, const char *name)
{
    struct choice *choice = g_new0(struct choice, 1);

    choice->name = g_strdup(name);
    choice->overrides = g_ptr_array_new();
    g_ptr_array_add(choices, choice);
    return choice;
}

static struct choice *find(const GPtrArray *choices, const char *name)
{
    for (guint i = 0; i < choices->len; i++)
        if (strcmp(((struct choice *)g_ptr_array_index(choices, i))->name, name) == 0)
            return g_ptr_array_index(choices, i);
    return NULL;
}

gboolean choices_take(GPtrArray *choices, const char *name, const struct scenario_entry *entry,
                      GError **error)
{
    struct choice *choice = find(choices, name);

    if (!choice)
        choice = choices_add(choices, name);
    g_ptr_array_add(choice->overrides, (gpointer)entry);
    if (strchr(entry->key, '.'))
        return TRUE;
    scenario_entry_error(entry, error, "the key needs its group in front, such as transport.name");
    return FALSE;
}

gboolean choice_apply(struct scenario *scenario, const struct choice *choice, GError **error)
{
    for (guint i = 0; i < choice->overrides->len; i++)
        if (!scenario_apply(scenario, g_ptr_array_index(choice->overrides, i), error))
            return FALSE;
    return TRUE;
}
