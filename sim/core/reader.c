/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/reader.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

G_DEFINE_QUARK(weft - reader, reader_error)

gboolean reader_refuse(const struct reader *reader, uint32_t line, GError **error,
                       const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list arguments;

    va_start(arguments, format);
    what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (line)
        g_set_error(error, READER_ERROR, 0, "%s:%u: %s", reader->path, line, what);
    else
        g_set_error(error, READER_ERROR, 0, "%s: %s", reader->path, what);
    return FALSE;
}

/* --- opening ---------------------------------------------------------------------------------- */

static gboolean read_all(struct reader *reader, int file, GError **error)
{
    struct stat facts;

    if (fstat(file, &facts) != 0)
        return reader_refuse(reader, 0, error, "%s", g_strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return reader_refuse(reader, 0, error, "no regular file");
    if ((uint64_t)facts.st_size > READER_MOST_BYTES)
        return reader_refuse(reader, 0, error,
                             "%" G_GUINT64_FORMAT " B; files up to %" G_GUINT64_FORMAT
                             " B are read",
                             (uint64_t)facts.st_size, READER_MOST_BYTES);
    size_t room = (size_t)facts.st_size;

    reader->text = g_try_malloc(room + 1);
    if (!reader->text)
        return reader_refuse(reader, 0, error, "no memory for its %zu B", room);
    while (reader->length < room) {
        ssize_t n = pread(file, reader->text + reader->length, room - reader->length,
                          (off_t)reader->length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return reader_refuse(reader, 0, error, "%s", g_strerror(errno));
        if (n == 0)
            break;
        reader->length += (size_t)n;
    }
    reader->text[reader->length] = '\0';
    return TRUE;
}

gboolean reader_open(struct reader *reader, const char *path, GError **error)
{
    int file;
    gboolean ok;

    *reader = (struct reader){.path = g_strdup(path), .line = 1};
    file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return reader_refuse(reader, 0, error, "%s", g_strerror(errno));
    ok = read_all(reader, file, error);
    close(file);
    return ok;
}

gboolean reader_open_text(struct reader *reader, const char *path, const char *what, GError **error)
{
    *reader = (struct reader){0};
    if (!path || !*path) {
        g_set_error(error, READER_ERROR, 0, "file is not given; %s is expected", what);
        return FALSE;
    }
    if (!reader_open(reader, path, error))
        return FALSE;
    if (strlen(reader->text) != reader->length)
        return reader_refuse(reader, 0, error,
                             "a zero byte at offset %zu; this is no text file, and %s is expected",
                             strlen(reader->text), what);
    if (g_str_has_prefix(reader->text, "\xef\xbb\xbf"))
        reader->next = 3;
    return TRUE;
}

void reader_close(struct reader *reader)
{
    g_clear_pointer(&reader->path, g_free);
    g_clear_pointer(&reader->text, g_free);
}

/* --- words ------------------------------------------------------------------------------------ */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Cuts the word at `next` out, in place. */
static const char *cut(struct reader *reader)
{
    size_t start = reader->next, end = start;

    while (end < reader->length && !is_blank(reader->text[end]) && reader->text[end] != '\n')
        end++;
    reader->line_over = end < reader->length && reader->text[end] == '\n';
    reader->next = MIN(end + 1, reader->length);
    reader->text[end] = '\0';
    return reader->text + start;
}

static void skip_blanks(struct reader *reader)
{
    while (reader->next < reader->length && is_blank(reader->text[reader->next]))
        reader->next++;
}

const char *reader_word(struct reader *reader)
{
    reader->line += reader->line_over;
    reader->line_over = false;
    for (;; reader->next++) {
        skip_blanks(reader);
        if (reader->next >= reader->length)
            return NULL;
        if (reader->text[reader->next] != '\n')
            return cut(reader);
        reader->line++;
    }
}

bool reader_at_line_end(const struct reader *reader)
{
    size_t at = reader->next;

    while (at < reader->length && is_blank(reader->text[at]))
        at++;
    return reader->line_over || at >= reader->length || reader->text[at] == '\n';
}

const char *reader_word_in_line(struct reader *reader)
{
    if (reader_at_line_end(reader))
        return NULL;
    skip_blanks(reader);
    return cut(reader);
}

void reader_skip_line(struct reader *reader)
{
    while (!reader->line_over && reader->next < reader->length)
        reader->line_over = reader->text[reader->next++] == '\n';
}

bool reader_is_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    guint64 number = 0;

    if (!text || !g_ascii_isdigit(*text) ||
        !g_ascii_string_to_unsigned(text, 10, least, most, &number, NULL))
        return false;
    *value = number;
    return true;
}

gboolean reader_whole(struct reader *reader, const char *what, uint64_t least, uint64_t most,
                      uint64_t *value, GError **error)
{
    const char *text = reader_word(reader);

    if (reader_is_whole(text, least, most, value))
        return TRUE;
    if (!text)
        return reader_refuse(reader, reader->line, error, "the file ends where %s is expected",
                             what);
    return reader_refuse(reader, reader->line, error,
                         "'%.40s': %s, a whole number from %" G_GUINT64_FORMAT
                         " to %" G_GUINT64_FORMAT ", is expected",
                         text, what, least, most);
}
