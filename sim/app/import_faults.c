/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/import_faults.h"
#include "sim/app/formats.h"
#include "sim/core/param.h"
#include "sim/core/reader.h"
#include "sim/core/units.h"
#include <string.h>

#define MOST_XML_BYTES (64u << 20)
#define MOST_CHANGES   1000000 /* of a file; our choice: 150 MB */

G_DEFINE_QUARK(weft - import, import_error)

/* --- profiles --------------------------------------------------------------------------------- */

struct point {
    int64_t time_ps;
    int64_t value; /* bytes a second, or 0 and 1 */
    uint32_t line;
};

struct profile {
    struct reader reader;
    GArray *points;     /* struct point */
    int64_t loop_ps;    /* from the last point to the first of the next round; 0: no loop */
    int64_t period_ps;  /* from round to round; 0: none */
    bool states;        /* all values are 0 or 1 */
    uint32_t loop_line; /* of the word that says so */
};

static gboolean take_seconds(const struct profile *profile, const char *text, int64_t *time_ps,
                             GError **error)
{
    g_autofree char *seconds = g_strconcat(text ? text : "", "s", NULL);
    const char *why = "";

    if (text && units_parse(UNITS_TIME, seconds, time_ps, &why) && *time_ps >= 0)
        return TRUE;
    return reader_refuse(&profile->reader, profile->reader.line, error,
                         "'%.40s': a time in seconds, 0 or later, is expected", text ? text : "");
}

static gboolean take_point(struct profile *profile, const char *time, GError **error)
{
    struct point point = {.line = profile->reader.line};
    const char *text, *why = NULL;
    g_autofree char *rate = NULL;
    int64_t bps;

    if (!take_seconds(profile, time, &point.time_ps, error))
        return FALSE;
    text = reader_word_in_line(&profile->reader);
    rate = g_strconcat(text ? text : "", "Bps", NULL);
    if (!text || !units_parse(UNITS_RATE, rate, &bps, &why) || bps < 0)
        return reader_refuse(&profile->reader, point.line, error,
                             "'%.40s': 0, 1 or bytes a second are expected", text ? text : "");
    point.value = bps / 8;
    if (profile->points->len &&
        point.time_ps <
            g_array_index(profile->points, struct point, profile->points->len - 1).time_ps)
        return reader_refuse(&profile->reader, point.line, error, "times that rise are expected");
    profile->states &= point.value <= 1;
    g_array_append_val(profile->points, point);
    return TRUE;
}

static gboolean read_profile(struct profile *profile, const char *path, GError **error)
{
    const char *word;

    profile->points = g_array_new(FALSE, FALSE, sizeof(struct point));
    profile->states = true;
    if (!reader_open_text(&profile->reader, path, "a profile of SimGrid", error))
        return FALSE;
    while ((word = reader_word(&profile->reader))) {
        bool loop = strcmp(word, "LOOPAFTER") == 0;

        if (*word == '#') {
            reader_skip_line(&profile->reader);
        } else if (loop || strcmp(word, "PERIODICITY") == 0) {
            profile->loop_line = profile->reader.line;
            if (!take_seconds(profile, reader_word_in_line(&profile->reader),
                              loop ? &profile->loop_ps : &profile->period_ps, error))
                return FALSE;
        } else if (!take_point(profile, word, error)) {
            return FALSE;
        }
    }
    if (profile->points->len)
        return TRUE;
    return reader_refuse(&profile->reader, 0, error, "no point in it; TIME VALUE is expected");
}

/* From one round to the next, or 0. */
static gboolean round_length(const struct profile *profile, int64_t *length_ps, GError **error)
{
    const struct point *points = (const struct point *)(void *)profile->points->data;
    int64_t span = points[profile->points->len - 1].time_ps - points[0].time_ps;

    *length_ps = profile->period_ps ? profile->period_ps
                 : profile->loop_ps ? profile->loop_ps + span
                                    : 0;
    if (profile->loop_line == 0 || (*length_ps > span || (*length_ps > 0 && span == 0)))
        return TRUE;
    return reader_refuse(&profile->reader, profile->loop_line, error,
                         "a loop longer than its points span is expected");
}

static void add_point(struct build *build, const struct profile *profile, const struct point *point,
                      const struct fault_object *object, int64_t time_ps)
{
    g_autofree char *name = g_strdup_printf("%s:%u", profile->reader.path, point->line);
    struct fault fault = {.name = name,
                          .object = *object,
                          .change =
                              profile->states ? (point->value ? FAULT_UP : FAULT_DOWN) : FAULT_RATE,
                          .value = point->value * 8,
                          .at_ps = time_ps,
                          .until_ps = FAULT_NEVER};

    if (!profile->states && point->value == 0)
        fault.change = FAULT_DOWN;
    fault_list_add(&build->faults, &fault);
}

static gboolean add_rounds(const struct profile *profile, const struct fault_object *object,
                           int64_t end_ps, struct build *build, GError **error)
{
    int64_t length_ps, shift_ps = 0;
    guint n_before = build->faults.faults->len;

    if (!round_length(profile, &length_ps, error))
        return FALSE;
    do {
        for (guint i = 0; i < profile->points->len; i++) {
            const struct point *point = &g_array_index(profile->points, struct point, i);

            if (shift_ps > 0 &&
                (shift_ps > INT64_MAX - point->time_ps || point->time_ps + shift_ps >= end_ps))
                break;
            if (build->faults.faults->len >= MOST_CHANGES)
                return reader_refuse(&profile->reader, profile->loop_line, error,
                                     "more than %d changes; an earlier --end is expected",
                                     MOST_CHANGES);
            add_point(build, profile, point, object, point->time_ps + shift_ps);
        }
        shift_ps = shift_ps > end_ps ? shift_ps : shift_ps + length_ps;
    } while (length_ps > 0 && shift_ps < end_ps);
    g_autofree char *end = units_format(UNITS_TIME, end_ps);

    build_note(build, "%s profile %s: %u points, %u changes%s%s",
               profile->states ? "state" : "bandwidth", profile->reader.path, profile->points->len,
               build->faults.faults->len - n_before, length_ps ? ", its loop unrolled until " : "",
               length_ps ? end : "");
    return TRUE;
}

static gboolean add_profile(const char *path, const struct fault_object *object, int64_t end_ps,
                            struct build *build, GError **error)
{
    struct profile profile = {0};
    gboolean ok =
        read_profile(&profile, path, error) && add_rounds(&profile, object, end_ps, build, error);

    g_array_unref(profile.points);
    reader_close(&profile.reader);
    return ok;
}

/* --- platforms -------------------------------------------------------------------------------- */

struct platform {
    const char *path;
    char *folder;
    int64_t end_ps;
    struct build *build;
    uint32_t n_hosts, n_links, n_routes, n_clusters, n_missing;
};

static char *find_profile(const struct platform *platform, const char *name)
{
    g_autofree char *base = g_path_get_basename(name);
    char *path = g_build_filename(platform->folder, name, NULL);

    if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return path;
    g_free(path);
    path = g_build_filename(platform->folder, base, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return path;
    g_free(path);
    return NULL;
}

static gboolean take_profiles(struct platform *platform, const struct fault_object *object,
                              const char *id, const char **names, const char **values,
                              GError **error)
{
    for (int i = 0; names[i]; i++) {
        g_autofree char *path = NULL;

        if (strcmp(names[i], "state_file") != 0 && strcmp(names[i], "bandwidth_file") != 0)
            continue;
        path = find_profile(platform, values[i]);
        if (!path) {
            platform->n_missing++;
            build_note(platform->build, "warning: %s: %s of '%s' is not there: %s", platform->path,
                       names[i], id, values[i]);
            continue;
        }
        build_note(platform->build, "'%s' of the platform is %s:%u%s", id,
                   object->kind == FAULT_NIC ? "nic" : "link", object->number,
                   object->kind == FAULT_NIC ? ".0" : "");
        if (!add_profile(path, object, platform->end_ps, platform->build, error))
            return FALSE;
    }
    return TRUE;
}

static const char *attribute(const char **names, const char **values, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return values[i];
    return "";
}

static void start_element(GMarkupParseContext *context, const char *element, const char **names,
                          const char **values, void *data, GError **error)
{
    struct platform *platform = data;
    struct fault_object object = {0};
    const char *id = attribute(names, values, "id");

    (void)context;
    platform->n_routes += strcmp(element, "route") == 0;
    platform->n_clusters += strcmp(element, "cluster") == 0;
    if (strcmp(element, "link") == 0)
        object = (struct fault_object){.kind = FAULT_LINK, .number = platform->n_links++};
    else if (strcmp(element, "host") == 0)
        object = (struct fault_object){.kind = FAULT_NIC, .number = platform->n_hosts++};
    else
        return;
    take_profiles(platform, &object, id, names, values, error);
}

static gboolean parse_platform(struct platform *platform, const struct reader *reader,
                               GError **error)
{
    static const GMarkupParser parser = {.start_element = start_element};
    g_autoptr(GMarkupParseContext) context = g_markup_parse_context_new(&parser, 0, platform, NULL);
    g_autoptr(GError) fault = NULL;
    int line = 0;

    if (reader->length > MOST_XML_BYTES)
        return reader_refuse(reader, 0, error, "a platform of more than %u B", MOST_XML_BYTES);
    if (g_markup_parse_context_parse(context, reader->text + reader->next,
                                     (gssize)(reader->length - reader->next), &fault) &&
        g_markup_parse_context_end_parse(context, &fault))
        return TRUE;
    if (fault->domain != G_MARKUP_ERROR) {
        g_propagate_error(error, g_steal_pointer(&fault));
        return FALSE;
    }
    g_markup_parse_context_get_position(context, &line, NULL);
    return reader_refuse(reader, (uint32_t)MAX(line, 1), error, "XML is expected: %s",
                         fault->message);
}

static gboolean add_platform(const char *path, int64_t end_ps, struct build *build, GError **error)
{
    struct platform platform = {.path = path, .end_ps = end_ps, .build = build};
    struct reader reader;
    gboolean ok = reader_open_text(&reader, path, "a platform of SimGrid", error);

    platform.folder = g_path_get_dirname(path);
    ok = ok && parse_platform(&platform, &reader, error);
    if (ok)
        build_note(build,
                   "platform %s: %u hosts, %u links, %u routes, %u clusters; %u changes of links. "
                   "Its routes are a fluid model's and are not read: write the wiring as links "
                   "(a,b,rate,delay)",
                   path, platform.n_hosts, platform.n_links, platform.n_routes, platform.n_clusters,
                   build->faults.faults->len);
    g_free(platform.folder);
    reader_close(&reader);
    return ok;
}

/* --- any -------------------------------------------------------------------------------------- */

gboolean import_faults(const char *path, const char *object, const char *end, struct build *build,
                       GError **error)
{
    const struct format *format = format_recognise(path, error);
    struct fault_object about = {.kind = FAULT_LINK};
    int64_t end_ps = INT64_C(10000000000000);
    const char *why = NULL;

    if (!format)
        return FALSE;
    if (end && (!units_parse(UNITS_TIME, end, &end_ps, &why) || end_ps <= 0)) {
        g_set_error(error, IMPORT_ERROR, 0, "--end %s: a time such as 10s is expected", end);
        return FALSE;
    }
    if (object && !fault_parse_object(object, &about, &why)) {
        g_set_error(error, IMPORT_ERROR, 0, "--object %s: %s", object, why);
        return FALSE;
    }
    if (strcmp(format->name, "faults-csv") == 0)
        return fault_list_read(&build->faults, path, error);
    if (strcmp(format->name, "simgrid-platform") == 0)
        return add_platform(path, end_ps, build, error);
    if (!object)
        build_note(build, "a profile does not say what it is about: link:0 is taken (--object)");
    return add_profile(path, &about, end_ps, build, error);
}
