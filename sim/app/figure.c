/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/figure.h"
#include "sim/app/plot.h"
#include "sim/core/param.h"
#include <stdarg.h>
#include <string.h>

G_DEFINE_QUARK(weft - figure, figure_error)

static const struct figure *const figures[] = {
    &figure_sweep,         &figure_throughput_loss, &figure_completion_cdf, &figure_fairness,
    &figure_plane_failure, &figure_plane_scaling,   &figure_rates_queues,   &figure_effects,
};

const struct figure *figure_at(size_t index)
{
    return index < G_N_ELEMENTS(figures) ? figures[index] : NULL;
}

const struct figure *figure_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(figures) + 1] = {NULL}, *near;
    g_autofree char *all = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(figures); i++) {
        names[i] = figures[i]->name;
        if (strcmp(name, names[i]) == 0)
            return figures[i];
    }
    near = param_nearest(name, names, G_N_ELEMENTS(figures));
    all = g_strjoinv(", ", (char **)(uintptr_t)names);
    g_set_error(error, FIGURE_ERROR, FIGURE_ERROR_DATA,
                "there is no figure '%s'%s%s%s; there are %s", name, near ? "; did you mean '" : "",
                near ? near : "", near ? "'?" : "", all);
    return NULL;
}

/* A table that is kept without what it was made from, as results/reference has some, is drawn. */
static gboolean write_or_keep(const struct figure *figure, const struct results *results,
                              GString *notes, GError **error)
{
    g_autofree char *table = g_strconcat(figure->name, ".csv", NULL);
    GError *fault = NULL;

    if (figure->write(results, notes, &fault))
        return TRUE;
    if (g_error_matches(fault, FIGURE_ERROR, FIGURE_ERROR_NO_DATA) && results_has(results, table)) {
        g_error_free(fault);
        return TRUE;
    }
    g_propagate_error(error, fault);
    return FALSE;
}

gboolean figure_draw(const struct figure *figure, const struct results *results,
                     const char *const *formats, GString *notes, GError **error)
{
    g_autofree char *script = g_strconcat(figure->name, ".gp", NULL);

    return write_or_keep(figure, results, notes, error) &&
           plot_draw(script, results->folder, formats, results->title, error);
}

struct table_writer *figure_table(const struct results *results, const char *file, GError **error)
{
    g_autofree char *path = results_path(results, file);

    return table_writer_new(path, error);
}

gboolean figure_no_data(GError **error, const char *format, ...)
{
    va_list arguments;
    g_autofree char *text = NULL;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error_literal(error, FIGURE_ERROR, FIGURE_ERROR_NO_DATA, text);
    return FALSE;
}
