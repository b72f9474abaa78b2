/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/cdf.h"
#include "sim/core/build.h"
#include "sim/core/reader.h"
#include "sim/core/units.h"
#include <string.h>

#define MOST_BYTES (INT64_C(1) << 40) /* of a flow; our choice: far above any file's */

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
    const char *name;
    guint line;
    int64_t unit_bytes;
    struct cdf *cdf;
    GPtrArray *shares; /* char *, as written: percent or not is known at the end */
};

static gboolean refuse(const struct reading *reader, guint line, GError **error, const char *format,
                       ...) G_GNUC_PRINTF(4, 5);

static gboolean refuse(const struct reading *reader, guint line, GError **error, const char *format,
                       ...)
{
    va_list list;
    g_autofree char *what = NULL;

    va_start(list, format);
    what = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, BUILD_ERROR, 0, "%s:%u: %s", reader->name, line, what);
    return FALSE;
}

static gboolean read_size(const struct reading *reader, const char *text, int64_t *bytes,
                          GError **error)
{
    const char *why;

    if (!units_parse(UNITS_BYTES, text, bytes, &why))
        return refuse(reader, reader->line, error, "size '%s': %s", text, why);
    if (*bytes < 0)
        return refuse(reader, reader->line, error, "size '%s': 0 bytes or more are expected", text);
    if (*bytes > MOST_BYTES / reader->unit_bytes)
        return refuse(reader, reader->line, error, "size '%s': a flow has at most 1 TiB", text);
    *bytes *= reader->unit_bytes;
    return TRUE;
}

/* One point: SIZE SHARE or SIZE INDEX SHARE. */
static gboolean read_point(struct reading *reader, const char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit_set(text, " \t\r", -1);
    const char *word[4] = {NULL};
    struct cdf_point point = {0};
    guint n = 0;

    for (char **w = words; *w; w++)
        if (**w && n < G_N_ELEMENTS(word))
            word[n++] = *w;
    if (n == 0)
        return TRUE;
    if (n < 2 || n > 3)
        return refuse(reader, reader->line, error,
                      "'%s': a point is a size and the share of flows up to it, such as 10000 0.15",
                      text);
    if (!read_size(reader, word[0], &point.bytes, error))
        return FALSE;
    point.share_bits = reader->line; /* until shares are read */
    g_array_append_val(reader->cdf->points, point);
    g_ptr_array_add(reader->shares, g_strdup(word[n - 1]));
    return TRUE;
}

static gboolean read_share(const struct reading *reader, guint index, GError **error)
{
    struct cdf_point *point = &g_array_index(reader->cdf->points, struct cdf_point, index);
    const char *share = g_ptr_array_index(reader->shares, index), *why;
    g_autofree char *text = g_strconcat(share, reader->cdf->percent ? "%" : "", NULL);

    if (!units_parse(UNITS_RATIO, text, &point->share_ppt, &why))
        return refuse(reader, (guint)point->share_bits, error, "share '%s': %s", share, why);
    if (point->share_ppt < 0)
        return refuse(reader, (guint)point->share_bits, error, "share '%s': 0 or more is expected",
                      share);
    return TRUE;
}

/* The last share tells the convention: 1 or 100. */
static gboolean read_shares(struct reading *reader, GError **error)
{
    guint n = reader->cdf->points->len;
    int64_t last = 0;
    const char *why;

    if (n == 0)
        return refuse(reader, reader->line, error, "there is no point; SIZE SHARE is expected");
    reader->cdf->percent =
        units_parse(UNITS_RATIO, g_ptr_array_index(reader->shares, n - 1), &last, &why) &&
        last > UNITS_PPT;
    for (guint i = 0; i < n; i++)
        if (!read_share(reader, i, error))
            return FALSE;
    return TRUE;
}

static gboolean check(const struct reading *reader, GError **error)
{
    const GArray *points = reader->cdf->points;
    const struct cdf_point *last = &g_array_index(points, struct cdf_point, points->len - 1);

    for (guint i = 1; i < points->len; i++) {
        const struct cdf_point *a = &g_array_index(points, struct cdf_point, i - 1), *b = a + 1;
        const char *share = g_ptr_array_index(reader->shares, i);

        if (b->bytes < a->bytes)
            return refuse(reader, (guint)b->share_bits, error,
                          "not monotone: size %" G_GINT64_FORMAT " after %" G_GINT64_FORMAT
                          "; sizes that rise are expected",
                          b->bytes, a->bytes);
        if (b->share_ppt < a->share_ppt)
            return refuse(reader, (guint)b->share_bits, error,
                          "not monotone: share %s after %s; shares that rise are expected", share,
                          (const char *)g_ptr_array_index(reader->shares, i - 1));
    }
    if (last->share_ppt != UNITS_PPT)
        return refuse(reader, (guint)last->share_bits, error,
                      "the last share is %s: 1, or 100 where shares are percentages, is expected",
                      (const char *)g_ptr_array_index(reader->shares, points->len - 1));
    return TRUE;
}

static void set_thresholds(struct cdf *cdf)
{
    for (guint i = 0; i < cdf->points->len; i++) {
        struct cdf_point *point = &g_array_index(cdf->points, struct cdf_point, i);

        point->share_bits = random_threshold(point->share_ppt);
    }
}

static gboolean read_all(struct reading *reader, const char *text, GError **error)
{
    g_auto(GStrv) lines = g_strsplit_set(text, "\n;", -1);

    for (char **line = lines; *line; line++) {
        char *comment = strchr(*line, '#');

        reader->line++;
        if (comment)
            *comment = '\0';
        if (!read_point(reader, *line, error))
            return FALSE;
    }
    return read_shares(reader, error) && check(reader, error);
}

gboolean cdf_parse(struct cdf *cdf, const char *name, const char *text, int64_t unit_bytes,
                   GError **error)
{
    struct reading reader = {.name = name, .unit_bytes = unit_bytes, .cdf = cdf};
    gboolean fine;

    *cdf = (struct cdf){g_array_new(FALSE, FALSE, sizeof(struct cdf_point)), false};
    reader.shares = g_ptr_array_new_with_free_func(g_free);
    fine = read_all(&reader, text, error);
    if (fine)
        set_thresholds(cdf);
    else
        cdf_clear(cdf);
    g_ptr_array_unref(reader.shares);
    return fine;
}

gboolean cdf_read(struct cdf *cdf, const char *path, int64_t unit_bytes, GError **error)
{
    struct reader reader;
    gboolean ok = reader_open_text(&reader, path, "a law of flow sizes", error) &&
                  cdf_parse(cdf, path, reader.text + reader.next, unit_bytes, error);

    reader_close(&reader);
    return ok;
}

void cdf_constant(struct cdf *cdf, int64_t bytes)
{
    struct cdf_point point = {bytes, UNITS_PPT, UINT64_MAX};

    *cdf = (struct cdf){g_array_new(FALSE, FALSE, sizeof(struct cdf_point)), false};
    g_array_append_val(cdf->points, point);
}

void cdf_clear(struct cdf *cdf)
{
    g_clear_pointer(&cdf->points, g_array_unref);
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* The first point whose share is above `bits`; the last at most. */
static guint find_point(const struct cdf *cdf, uint64_t bits)
{
    guint low = 0, high = cdf->points->len - 1;

    while (low < high) {
        guint middle = low + (high - low) / 2;

        if (g_array_index(cdf->points, struct cdf_point, middle).share_bits > bits)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t cdf_draw(const struct cdf *cdf, struct random_stream *stream)
{
    uint64_t bits = random_next(stream);
    guint index = find_point(cdf, bits);
    const struct cdf_point *b = &g_array_index(cdf->points, struct cdf_point, index), *a = b - 1;

    if (index == 0 || a->bytes == b->bytes)
        return MAX(b->bytes, 1);
    uint64_t width = b->share_bits - a->share_bits;
    unsigned __int128 above =
        (unsigned __int128)(uint64_t)(b->bytes - a->bytes) * (bits - a->share_bits);

    return MAX(a->bytes + (int64_t)((above + width / 2) / width), 1);
}

unsigned __int128 cdf_mean(const struct cdf *cdf)
{
    const struct cdf_point *first = &g_array_index(cdf->points, struct cdf_point, 0);
    unsigned __int128 mean =
        2 * (unsigned __int128)(uint64_t)first->share_ppt * (uint64_t)MAX(first->bytes, 1);

    for (guint i = 1; i < cdf->points->len; i++) {
        const struct cdf_point *b = &g_array_index(cdf->points, struct cdf_point, i), *a = b - 1;

        mean += (unsigned __int128)(uint64_t)(b->share_ppt - a->share_ppt) *
                (uint64_t)(a->bytes + b->bytes);
    }
    return mean;
}
