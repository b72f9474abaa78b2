/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/compare_plan.h"
#include "sim/core/param.h"
#include "sim/core/units.h"
#include <string.h>

G_DEFINE_QUARK(weft - compare, compare_error)

static void curve_free(void *data)
{
    g_free(((struct compare_curve *)data)->name);
    g_free(data);
}

void compare_plan_init(struct compare_plan *plan)
{
    *plan = (struct compare_plan){.n_seeds = 5};
    plan->values = g_ptr_array_new_with_free_func(g_free);
    plan->cases = choices_new();
    plan->variants = choices_new();
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

static gboolean refuse(const struct scenario_entry *entry, const char *right, GError **error)
{
    scenario_entry_error(entry, error, "%s", right);
    return FALSE;
}

static gboolean unknown_key(const struct scenario_entry *entry, const char *const *keys,
                            GError **error)
{
    g_autofree char *list = g_strjoinv(" ", (char **)(gpointer)keys);
    size_t n = g_strv_length((char **)(gpointer)keys);
    const char *near = param_nearest(entry->key, keys, n);

    scenario_entry_error(entry, error, "unknown key; there is %s%s%s%s", list,
                         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return FALSE;
}

static gboolean take_values(struct compare_plan *plan, const struct scenario_entry *entry,
                            GError **error)
{
    g_auto(GStrv) values = g_strsplit(entry->value, ";", -1);

    g_ptr_array_set_size(plan->values, 0);
    for (char **value = values; *value; value++)
        if (*g_strstrip(*value) != '\0')
            g_ptr_array_add(plan->values, g_strdup(*value));
    return plan->values->len > 0 || refuse(entry, "a list such as 0;0.01;0.1 is expected", error);
}

static gboolean take_compare(struct compare_plan *plan, const struct scenario_entry *entry,
                             GError **error)
{
    static const char *const keys[] = {"title", "vary", "values", "seeds", NULL};
    const char *why;
    int64_t n;

    if (strcmp(entry->key, "title") == 0) {
        g_free(plan->title);
        plan->title = g_strdup(entry->value);
        return TRUE;
    }
    if (strcmp(entry->key, "vary") == 0) {
        g_free(plan->vary);
        plan->vary = g_strdup(entry->value);
        return strchr(entry->value, '.') ||
               refuse(entry, "a key with its group is expected, such as loss.rate_end_to_end",
                      error);
    }
    if (strcmp(entry->key, "values") == 0)
        return take_values(plan, entry, error);
    if (strcmp(entry->key, "seeds") != 0)
        return unknown_key(entry, keys, error);
    if (!units_parse(UNITS_NUMBER, entry->value, &n, &why) || n < 1 || n > COMPARE_MAX_SEEDS)
        return refuse(entry, "a number from 1 to 1000 is expected", error);
    plan->n_seeds = (uint32_t)n;
    return TRUE;
}

/* The name behind the colon goes into legends, so it has to be plain. */
static gboolean check_name(const struct scenario_entry *entry, const char *name, GError **error)
{
    return (*name != '\0' && !strpbrk(name, ",\"\\\n;")) ||
           refuse(entry,
                  "the group needs a name without comma, semicolon, quote and backslash behind its "
                  "colon",
                  error);
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

static gboolean take_form(struct compare_curve *curve, const struct scenario_entry *entry,
                          GError **error)
{
    curve->form = closed_form_find(entry->value);
    return curve->form ||
           refuse(entry, "one of selective_repeat go_back_n nak_then_timeout is expected", error);
}

static gboolean take_window(struct compare_curve *curve, const struct scenario_entry *entry,
                            GError **error)
{
    char *end;

    curve->input.window_packets = g_ascii_strtod(entry->value, &end);
    return (*end == '\0' && curve->input.window_packets > 0) ||
           refuse(entry, "a positive number of packets is expected", error);
}

static gboolean take_curve(struct compare_plan *plan, const char *name,
                           const struct scenario_entry *entry, GError **error)
{
    static const char *const keys[] = {"form", "window", "rto", "packet_time", NULL};
    struct compare_curve *curve = find_curve(plan, name);
    const char *why = "a time above 0 is expected";
    int64_t time_ps;

    if (!check_name(entry, name, error))
        return FALSE;
    if (strcmp(entry->key, "form") == 0)
        return take_form(curve, entry, error);
    if (strcmp(entry->key, "window") == 0)
        return take_window(curve, entry, error);
    if (strcmp(entry->key, "rto") != 0 && strcmp(entry->key, "packet_time") != 0)
        return unknown_key(entry, keys, error);
    if (!units_parse(UNITS_TIME, entry->value, &time_ps, &why) || time_ps <= 0)
        return refuse(entry, why, error);
    *(entry->key[0] == 'r' ? &curve->input.rto_ps : &curve->input.packet_ps) = (double)time_ps;
    return TRUE;
}

gboolean compare_plan_take(struct compare_plan *plan, const struct scenario_entry *entry,
                           GError **error)
{
    const char *colon = strchr(entry->group, ':');

    if (!colon)
        return take_compare(plan, entry, error);
    if (g_str_has_prefix(entry->group, "curve:"))
        return take_curve(plan, colon + 1, entry, error);
    return check_name(entry, colon + 1, error) &&
           choices_take(g_str_has_prefix(entry->group, "case:") ? plan->cases : plan->variants,
                        colon + 1, entry, error);
}

static gboolean take_group(struct compare_plan *plan, const struct scenario *scenario,
                           const char *group, GError **error)
{
    g_autoptr(GPtrArray) entries = scenario_group_entries(scenario, group);

    for (guint i = 0; i < entries->len; i++)
        if (!compare_plan_take(plan, g_ptr_array_index(entries, i), error))
            return FALSE;
    return TRUE;
}

gboolean compare_plan_read(struct compare_plan *plan, const struct scenario *scenario,
                           GError **error)
{
    static const char *const prefixes[] = {"case:", "variant:", "curve:"};

    if (!take_group(plan, scenario, "compare", error))
        return FALSE;
    for (size_t k = 0; k < G_N_ELEMENTS(prefixes); k++) {
        g_autoptr(GPtrArray) groups = scenario_groups(scenario, prefixes[k]);

        for (guint i = 0; i < groups->len; i++)
            if (!take_group(plan, scenario, g_ptr_array_index(groups, i), error))
                return FALSE;
    }
    return compare_plan_finish(plan, error);
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
    if (plan->cases->len == 0)
        choices_add(plan->cases, "all");
    if (!plan->title)
        plan->title = g_strdup("Comparison");
    return TRUE;
}

/* Whether any choice of an axis replaces a key of `group`. */
static bool touches(const GPtrArray *choices, const char *group)
{
    size_t length = strlen(group);

    for (guint i = 0; i < choices->len; i++) {
        const struct choice *choice = g_ptr_array_index(choices, i);

        for (guint k = 0; k < choice->overrides->len; k++) {
            const struct scenario_entry *entry = g_ptr_array_index(choice->overrides, k);

            if (strncmp(entry->key, group, length) == 0 && entry->key[length] == '.')
                return true;
        }
    }
    return false;
}

typedef void write_line(const struct compare_plan *plan, const char *group, const char *line,
                        const void *data, GString *text);

/* Calls `write` for every line of a key file, with the group it is in. */
static void each_line(const struct compare_plan *plan, const char *file, write_line *write,
                      const void *data, GString *text)
{
    g_auto(GStrv) lines = g_strsplit(file, "\n", -1);
    g_autofree char *group = g_strdup("");

    for (char **line = lines; *line; line++) {
        if (**line == '[') {
            g_free(group);
            group = g_strndup(*line + 1, strcspn(*line + 1, "]"));
        }
        if (**line != '\0')
            write(plan, group, *line, data, text);
    }
}

static void write_base_line(const struct compare_plan *plan, const char *group, const char *line,
                            const void *data, GString *text)
{
    bool one_axis = touches(plan->cases, group) != touches(plan->variants, group);

    (void)data;
    if (!one_axis || !strchr(line, '=') || g_str_has_prefix(line, "kind =") ||
        g_str_has_prefix(line, "name ="))
        g_string_append_printf(text, "%s%s\n", *line == '[' ? "\n" : "", line);
}

/* `data`: the axis whose choice this is. */
static void write_choice_line(const struct compare_plan *plan, const char *group, const char *line,
                              const void *data, GString *text)
{
    const GPtrArray *own = data, *other = own == plan->cases ? plan->variants : plan->cases;

    if (strchr(line, '=') && touches(own, group) && !touches(other, group))
        g_string_append_printf(text, "%s.%s\n", group, line);
}

static void write_choices(const struct compare_plan *plan, const char *kind, const GPtrArray *own,
                          const char *const *resolved, GString *text)
{
    const GPtrArray *other = own == plan->cases ? plan->variants : plan->cases;

    for (guint i = 0; i < own->len; i++) {
        const struct choice *choice = g_ptr_array_index(own, i);

        if (choice->overrides->len == 0)
            continue;
        g_string_append_printf(text, "\n[%s:%s]\n", kind, choice->name);
        each_line(plan, resolved[i], write_choice_line, own, text);
        for (guint k = 0; k < choice->overrides->len; k++) {
            const struct scenario_entry *entry = g_ptr_array_index(choice->overrides, k);
            g_autofree char *group = g_strndup(entry->key, strcspn(entry->key, "."));

            if (touches(other, group))
                g_string_append_printf(text, "%s = %s\n", entry->key, entry->value);
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

char *compare_plan_text(const struct compare_plan *plan, const char *base, const char *const *cases,
                        const char *const *variants)
{
    GString *text = g_string_new(NULL);

    each_line(plan, base, write_base_line, NULL, text);
    g_string_append_printf(text, "\n[compare]\ntitle = %s\nvary = %s\nvalues = ", plan->title,
                           plan->vary);
    for (guint i = 0; i < plan->values->len; i++)
        g_string_append_printf(text, "%s%s", i ? ";" : "",
                               (const char *)g_ptr_array_index(plan->values, i));
    g_string_append_printf(text, "\nseeds = %u\n", plan->n_seeds);
    write_choices(plan, "case", plan->cases, cases, text);
    write_choices(plan, "variant", plan->variants, variants, text);
    for (guint i = 0; i < plan->curves->len; i++)
        write_curve(g_ptr_array_index(plan->curves, i), text);
    return g_string_free(text, FALSE);
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

const struct choice *compare_plan_case(const struct compare_plan *plan, uint32_t index)
{
    return g_ptr_array_index(plan->cases, index);
}

const struct choice *compare_plan_variant(const struct compare_plan *plan, uint32_t index)
{
    return g_ptr_array_index(plan->variants, index);
}

const char *compare_plan_value(const struct compare_plan *plan, uint32_t index)
{
    return g_ptr_array_index(plan->values, index);
}
