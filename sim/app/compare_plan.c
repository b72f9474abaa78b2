/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/compare_plan.h"
#include "sim/core/param.h"
#include "sim/core/units.h"
#include <string.h>

G_DEFINE_QUARK(weft - compare, compare_error)

#define MAX_SEEDS 1000

static void choice_free(void *data)
{
    struct compare_choice *choice = data;

    g_free(choice->name);
    g_array_unref(choice->overrides);
    g_free(choice);
}

static void override_clear(void *data)
{
    struct compare_override *override = data;

    g_free(override->key);
    g_free(override->value);
}

static void curve_free(void *data)
{
    g_free(((struct compare_curve *)data)->name);
    g_free(data);
}

void compare_plan_init(struct compare_plan *plan)
{
    *plan = (struct compare_plan){.n_seeds = 5};
    plan->values = g_ptr_array_new_with_free_func(g_free);
    plan->cases = g_ptr_array_new_with_free_func(choice_free);
    plan->variants = g_ptr_array_new_with_free_func(choice_free);
    plan->curves = g_ptr_array_new_with_free_func(curve_free);
}

void compare_plan_clear(struct compare_plan *plan)
{
    g_free(plan->title);
    g_free(plan->vary);
    g_ptr_array_unref(plan->values);
    g_ptr_array_unref(plan->cases);
    g_ptr_array_unref(plan->variants);
    g_ptr_array_unref(plan->curves);
    *plan = (struct compare_plan){0};
}

gboolean compare_plan_owns(const char *group)
{
    return strcmp(group, "compare") == 0 || g_str_has_prefix(group, "case:") ||
           g_str_has_prefix(group, "variant:") || g_str_has_prefix(group, "curve:");
}

static gboolean refuse(GError **error, const char *group, const char *key, const char *value,
                       const char *right)
{
    g_set_error(error, COMPARE_ERROR, 0, "[%s] %s = %s: %s", group, key, value, right);
    return FALSE;
}

static gboolean unknown_key(GError **error, const char *group, const char *key,
                            const char *const *keys)
{
    size_t n = 0;

    while (keys[n])
        n++;
    const char *near = param_nearest(key, keys, n);
    g_autofree char *list = g_strjoinv(" ", (char **)(gpointer)keys);

    g_set_error(error, COMPARE_ERROR, 0, "[%s]: unknown key '%s'; there is %s%s%s%s", group, key,
                list, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return FALSE;
}

static gboolean take_values(struct compare_plan *plan, const char *group, const char *text,
                            GError **error)
{
    g_auto(GStrv) values = g_strsplit(text, ";", -1);

    g_ptr_array_set_size(plan->values, 0);
    for (char **value = values; *value; value++)
        if (*g_strstrip(*value) != '\0')
            g_ptr_array_add(plan->values, g_strdup(*value));
    if (plan->values->len > 0)
        return TRUE;
    return refuse(error, group, "values", text, "a list such as 0;0.01;0.1 is expected");
}

static gboolean take_compare(struct compare_plan *plan, const char *group, const char *key,
                             const char *value, GError **error)
{
    static const char *const keys[] = {"title", "vary", "values", "seeds", NULL};
    const char *why;
    int64_t n;

    if (strcmp(key, "title") == 0) {
        g_free(plan->title);
        plan->title = g_strdup(value);
        return TRUE;
    }
    if (strcmp(key, "vary") == 0) {
        if (!strchr(value, '.'))
            return refuse(error, group, key, value,
                          "a key with its group is expected, such as loss.rate_end_to_end");
        g_free(plan->vary);
        plan->vary = g_strdup(value);
        return TRUE;
    }
    if (strcmp(key, "values") == 0)
        return take_values(plan, group, value, error);
    if (strcmp(key, "seeds") != 0)
        return unknown_key(error, group, key, keys);
    if (!units_parse(UNITS_NUMBER, value, &n, &why) || n < 1 || n > MAX_SEEDS)
        return refuse(error, group, key, value, "a number from 1 to 1000 is expected");
    plan->n_seeds = (uint32_t)n;
    return TRUE;
}

/* The name behind the colon goes into CSV files and legends, so it has to be plain. */
static gboolean check_name(const char *group, const char *name, GError **error)
{
    if (*name != '\0' && !strpbrk(name, ",\"\\\n;"))
        return TRUE;
    g_set_error(error, COMPARE_ERROR, 0,
                "[%s]: a name without comma, semicolon, quote and backslash is expected behind the "
                "colon",
                group);
    return FALSE;
}

static gboolean take_override(GPtrArray *choices, const char *group, const char *name,
                              const char *key, const char *value, GError **error)
{
    struct compare_choice *choice = NULL;
    const struct compare_override override = {g_strdup(key), g_strdup(value)};

    for (guint i = 0; i < choices->len && !choice; i++)
        if (strcmp(((struct compare_choice *)g_ptr_array_index(choices, i))->name, name) == 0)
            choice = g_ptr_array_index(choices, i);
    if (!choice) {
        choice = g_new0(struct compare_choice, 1);
        choice->name = g_strdup(name);
        choice->overrides = g_array_new(FALSE, FALSE, sizeof(struct compare_override));
        g_array_set_clear_func(choice->overrides, override_clear);
        g_ptr_array_add(choices, choice);
    }
    g_array_append_val(choice->overrides, override);
    if (strchr(key, '.'))
        return check_name(group, name, error);
    return refuse(error, group, key, value,
                  "the key needs its group in front, such as transport.name");
}

static struct compare_curve *find_curve(struct compare_plan *plan, const char *name)
{
    for (guint i = 0; i < plan->curves->len; i++) {
        struct compare_curve *curve = g_ptr_array_index(plan->curves, i);

        if (strcmp(curve->name, name) == 0)
            return curve;
    }
    struct compare_curve *curve = g_new0(struct compare_curve, 1);

    curve->name = g_strdup(name);
    g_ptr_array_add(plan->curves, curve);
    return curve;
}

static gboolean take_curve(struct compare_plan *plan, const char *group, const char *key,
                           const char *value, GError **error)
{
    static const char *const keys[] = {"form", "window", "rto", "packet_time", NULL};
    struct compare_curve *curve = find_curve(plan, group + strlen("curve:"));
    const char *why = "a positive number of packets is expected";
    int64_t number;

    if (!check_name(group, curve->name, error))
        return FALSE;
    if (strcmp(key, "form") == 0) {
        curve->form = closed_form_find(value);
        return curve->form != NULL ||
               refuse(error, group, key, value,
                      "one of selective_repeat go_back_n nak_then_timeout is expected");
    }
    if (strcmp(key, "window") == 0) {
        char *end;

        curve->input.window_packets = g_ascii_strtod(value, &end);
        return (*end == '\0' && curve->input.window_packets > 0) ||
               refuse(error, group, key, value, why);
    }
    if (strcmp(key, "rto") != 0 && strcmp(key, "packet_time") != 0)
        return unknown_key(error, group, key, keys);
    if (!units_parse(UNITS_TIME, value, &number, &why) || number <= 0)
        return refuse(error, group, key, value, why);
    *(key[0] == 'r' ? &curve->input.rto_ps : &curve->input.packet_ps) = (double)number;
    return TRUE;
}

gboolean compare_plan_take(struct compare_plan *plan, const char *group, const char *key,
                           const char *value, GError **error)
{
    const char *name = strchr(group, ':');

    if (!name)
        return take_compare(plan, group, key, value, error);
    if (g_str_has_prefix(group, "curve:"))
        return take_curve(plan, group, key, value, error);
    return take_override(g_str_has_prefix(group, "case:") ? plan->cases : plan->variants, group,
                         name + 1, key, value, error);
}

static gboolean check_curve(const struct compare_curve *curve, GError **error)
{
    const char *missing = NULL;

    if (!curve->form)
        missing = "form";
    else if (curve->form->share != closed_form_selective_repeat && curve->input.window_packets <= 0)
        missing = "window";
    else if (curve->form->share == closed_form_nak_then_timeout && curve->input.rto_ps <= 0)
        missing = "rto";
    else if (curve->form->share == closed_form_nak_then_timeout && curve->input.packet_ps <= 0)
        missing = "packet_time";
    if (!missing)
        return TRUE;
    g_set_error(error, COMPARE_ERROR, 0, "[curve:%s] needs the key %s", curve->name, missing);
    return FALSE;
}

gboolean compare_plan_finish(struct compare_plan *plan, GError **error)
{
    const char *missing = !plan->vary                ? "the key vary in [compare]"
                          : plan->values->len == 0   ? "the key values in [compare]"
                          : plan->variants->len == 0 ? "a group [variant:NAME]"
                                                     : NULL;

    if (missing) {
        g_set_error(error, COMPARE_ERROR, 0, "a comparison needs %s", missing);
        return FALSE;
    }
    for (guint i = 0; i < plan->curves->len; i++)
        if (!check_curve(g_ptr_array_index(plan->curves, i), error))
            return FALSE;
    if (plan->cases->len == 0) {
        struct compare_choice *only = g_new0(struct compare_choice, 1);

        only->name = g_strdup("all");
        only->overrides = g_array_new(FALSE, FALSE, sizeof(struct compare_override));
        g_ptr_array_add(plan->cases, only);
    }
    if (!plan->title)
        plan->title = g_strdup("Comparison");
    return TRUE;
}

static void write_choices(const GPtrArray *choices, const char *kind, GString *text)
{
    for (guint i = 0; i < choices->len; i++) {
        const struct compare_choice *choice = g_ptr_array_index(choices, i);

        if (choice->overrides->len == 0)
            continue;
        g_string_append_printf(text, "\n[%s:%s]\n", kind, choice->name);
        for (guint k = 0; k < choice->overrides->len; k++) {
            const struct compare_override *override =
                &g_array_index(choice->overrides, struct compare_override, k);

            g_string_append_printf(text, "%s = %s\n", override->key, override->value);
        }
    }
}

static void write_curve(const struct compare_curve *curve, GString *text)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];

    g_string_append_printf(text, "\n[curve:%s]\nform = %s\n", curve->name, curve->form->name);
    if (curve->input.window_packets > 0)
        g_string_append_printf(text, "window = %s\n",
                               g_ascii_dtostr(number, sizeof number, curve->input.window_packets));
    if (curve->input.rto_ps > 0) {
        g_autofree char *rto = units_format(UNITS_TIME, (int64_t)curve->input.rto_ps);

        g_string_append_printf(text, "rto = %s\n", rto);
    }
    if (curve->input.packet_ps > 0) {
        g_autofree char *packet = units_format(UNITS_TIME, (int64_t)curve->input.packet_ps);

        g_string_append_printf(text, "packet_time = %s\n", packet);
    }
}

void compare_plan_write(const struct compare_plan *plan, GString *text)
{
    g_string_append_printf(text, "\n[compare]\ntitle = %s\nvary = %s\nvalues = ", plan->title,
                           plan->vary);
    for (guint i = 0; i < plan->values->len; i++)
        g_string_append_printf(text, "%s%s", i ? ";" : "",
                               (const char *)g_ptr_array_index(plan->values, i));
    g_string_append_printf(text, "\nseeds = %u\n", plan->n_seeds);
    write_choices(plan->cases, "case", text);
    write_choices(plan->variants, "variant", text);
    for (guint i = 0; i < plan->curves->len; i++)
        write_curve(g_ptr_array_index(plan->curves, i), text);
}

uint32_t compare_plan_n_points(const struct compare_plan *plan)
{
    return plan->cases->len * plan->variants->len * plan->values->len;
}

struct compare_place compare_plan_place(const struct compare_plan *plan, uint32_t point)
{
    return (struct compare_place){point / plan->values->len / plan->variants->len,
                                  point / plan->values->len % plan->variants->len,
                                  point % plan->values->len};
}

const struct compare_choice *compare_plan_case(const struct compare_plan *plan, uint32_t index)
{
    return g_ptr_array_index(plan->cases, index);
}

const struct compare_choice *compare_plan_variant(const struct compare_plan *plan, uint32_t index)
{
    return g_ptr_array_index(plan->variants, index);
}

const char *compare_plan_value(const struct compare_plan *plan, uint32_t index)
{
    return g_ptr_array_index(plan->values, index);
}
