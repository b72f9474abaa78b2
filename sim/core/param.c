/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/param.h"
#include "sim/core/units.h"
#include <assert.h>
#include <stdbool.h>
#include <string.h>

G_DEFINE_QUARK(weft - param, param_error)

static const enum units_kind kind_of_type[] = {[PARAM_NUMBER] = UNITS_NUMBER,
                                               [PARAM_TIME] = UNITS_TIME,
                                               [PARAM_BYTES] = UNITS_BYTES,
                                               [PARAM_RATE] = UNITS_RATE,
                                               [PARAM_RATIO] = UNITS_RATIO};

static int64_t *number_at(const struct param *param, void *config)
{
    return (int64_t *)(void *)((char *)config + param->offset);
}

static char **text_at(const struct param *param, void *config)
{
    return (char **)(void *)((char *)config + param->offset);
}

void param_defaults(const struct param *table, void *config)
{
    for (const struct param *param = table; param->name; param++) {
        GError *error = NULL;

        if (param->type == PARAM_TEXT)
            *text_at(param, config) = NULL;
        if (!param_set(param, config, param->value, &error))
            g_error("default of %s: %s", param->name, error->message);
    }
}

void param_clear(const struct param *table, void *config)
{
    for (const struct param *param = table; param->name; param++)
        if (param->type == PARAM_TEXT)
            g_clear_pointer(text_at(param, config), g_free);
}

void param_copy(const struct param *table, const void *from, void *to, size_t size)
{
    memcpy(to, from, size);
    for (const struct param *param = table; param->name; param++)
        if (param->type == PARAM_TEXT)
            *text_at(param, to) = g_strdup(*text_at(param, to));
}

const struct param *param_find(const struct param *table, const char *name)
{
    for (const struct param *param = table; param->name; param++)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

static gboolean set_choice(const struct param *param, int64_t *value, const char *text,
                           GError **error)
{
    g_auto(GStrv) names = g_strsplit(param->choices, "|", -1);

    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0) {
            *value = i;
            return TRUE;
        }
    const char *near = param_nearest(text, (const char *const *)names, g_strv_length(names));

    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "'%s': one of %s is expected%s%s%s", text,
                param->choices, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return FALSE;
}

static gboolean set_bool(int64_t *value, const char *text, GError **error)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};

    for (int i = 0; i < (int)G_N_ELEMENTS(words); i++)
        if (g_ascii_strcasecmp(words[i], text) == 0) {
            *value = i % 2;
            return TRUE;
        }
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "'%s': on or off is expected", text);
    return FALSE;
}

static gboolean in_range(const struct param *param, int64_t value, const char *text, GError **error)
{
    enum units_kind kind = kind_of_type[param->type];
    int64_t least = 0, most = INT64_MAX;
    const char *why = NULL;

    if (param->least && !units_parse(kind, param->least, &least, &why))
        g_error("range of %s", param->name);
    if (param->most && !units_parse(kind, param->most, &most, &why))
        g_error("range of %s", param->name);
    if (value >= least && value <= most)
        return TRUE;
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "'%s': out of range; %s to %s is possible",
                text, param->least ? param->least : "0", param->most ? param->most : "any size");
    return FALSE;
}

/* The word that a row takes in the place of a value, or NULL. In a text, "auto" is a text. */
static const char *word_of(const struct param *param)
{
    if (param->type != PARAM_TEXT && strcmp(param->value, "auto") == 0)
        return "auto";
    return param->type == PARAM_CHOICE ? NULL : param->choices;
}

gboolean param_set(const struct param *param, void *config, const char *text, GError **error)
{
    const char *why = NULL, *word = word_of(param);
    int64_t value = 0;

    if (word && strcmp(text, word) == 0) {
        *number_at(param, config) = PARAM_AUTO;
        return TRUE;
    }
    switch (param->type) {
    case PARAM_TEXT:
        g_free(*text_at(param, config));
        *text_at(param, config) = g_strdup(text);
        return TRUE;
    case PARAM_BOOL:
        return set_bool(number_at(param, config), text, error);
    case PARAM_CHOICE:
        return set_choice(param, number_at(param, config), text, error);
    case PARAM_NUMBER:
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_RATE:
    case PARAM_RATIO:
        break;
    }
    if (!units_parse(kind_of_type[param->type], text, &value, &why)) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "'%s': %s%s%s", text, why,
                    param->choices ? ", or " : "", param->choices ? param->choices : "");
        return FALSE;
    }
    if (!in_range(param, value, text, error))
        return FALSE;
    *number_at(param, config) = value;
    return TRUE;
}

char *param_get(const struct param *param, const void *config)
{
    const char *base = (const char *)config + param->offset;
    int64_t value = 0;

    if (param->type == PARAM_TEXT)
        return g_strdup(*(char *const *)(const void *)base);
    memcpy(&value, base, sizeof value);
    if (word_of(param) && value == PARAM_AUTO)
        return g_strdup(word_of(param));
    if (param->type == PARAM_BOOL)
        return g_strdup(value ? "on" : "off");
    if (param->type == PARAM_CHOICE) {
        g_auto(GStrv) names = g_strsplit(param->choices, "|", -1);

        return g_strdup(names[value]);
    }
    return units_format(kind_of_type[param->type], value);
}

const char *param_unit(const struct param *param)
{
    static const char *const units[] = {
        [PARAM_NUMBER] = "",    [PARAM_TIME] = "time",   [PARAM_BYTES] = "bytes",
        [PARAM_RATE] = "bit/s", [PARAM_RATIO] = "ratio", [PARAM_BOOL] = "on|off",
        [PARAM_TEXT] = "text",  [PARAM_CHOICE] = NULL};

    return param->type == PARAM_CHOICE ? param->choices : units[param->type];
}

/* Edit distance in which a swap of neighbours counts once (Damerau's), for short names. */
static unsigned edit_distance(const char *a, const char *b)
{
    enum { MOST = 64 };
    size_t n = strlen(b), m = strlen(a);
    unsigned rows[3][MOST], *two_ago = rows[0], *last = rows[1], *row = rows[2];

    if (n >= MOST || m >= MOST)
        return UINT_MAX;
    for (size_t j = 0; j <= n; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            char x = g_ascii_tolower(a[i - 1]), y = g_ascii_tolower(b[j - 1]);

            row[j] = MIN(last[j - 1] + (x != y), MIN(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == g_ascii_tolower(b[j - 2]) && g_ascii_tolower(a[i - 2]) == y)
                row[j] = MIN(row[j], two_ago[j - 2] + 1);
        }
        unsigned *oldest = two_ago;

        two_ago = last;
        last = row;
        row = oldest;
    }
    return last[n];
}

const char *param_nearest(const char *wanted, const char *const *names, size_t n_names)
{
    const char *nearest = NULL;
    unsigned least = (unsigned)strlen(wanted) / 2 + 1;

    for (size_t i = 0; i < n_names; i++) {
        unsigned distance = edit_distance(wanted, names[i]);

        if (distance < least) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
