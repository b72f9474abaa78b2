/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/table.h"
#include "sim/core/param.h"
#include "sim/core/reader.h"
#include <assert.h>
#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct out { /* a file on its way */
    char *path, *temporary;
    FILE *file;
};

struct table_writer {
    struct out csv, json; /* json.path is NULL where no lines of JSON are wanted */
    int saved_errno;      /* of the first write that failed; 0: none has */
    uint32_t n_fields;
    bool last_empty;
    GPtrArray *names; /* char *, of JSON: the first row */
    bool named;
    GString *line; /* of JSON: the present row */
};

struct table {
    char *name;
    GPtrArray *columns;  /* char * */
    GPtrArray *fields;   /* char *, row by row; owned by `texts` */
    GStringChunk *texts; /* the fields' bytes */
    GArray *lines;       /* uint32_t, one a row */
};

G_DEFINE_QUARK(weft - table, table_error)

/* --- writing ---------------------------------------------------------------------------------- */

static void set_file_error(GError **error, const char *what, const char *path, int code)
{
    g_set_error(error, TABLE_ERROR, TABLE_ERROR_FILE, "cannot %s '%s': %s", what, path,
                g_strerror(code));
}

static bool out_open(struct out *out, const char *path, GError **error)
{
    int fd;

    out->path = g_strdup(path);
    out->temporary = g_strconcat(path, ".XXXXXX", NULL);
    fd = g_mkstemp_full(out->temporary, O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0)
        out->file = fdopen(fd, "w");
    if (out->file)
        return true;
    set_file_error(error, "write", path, errno);
    if (fd >= 0) {
        close(fd);
        g_unlink(out->temporary);
    }
    return false;
}

static void out_clear(struct out *out)
{
    g_free(out->path);
    g_free(out->temporary);
}

static void writer_free(struct table_writer *writer)
{
    out_clear(&writer->csv);
    out_clear(&writer->json);
    if (writer->line) {
        g_string_free(writer->line, TRUE);
        g_ptr_array_unref(writer->names);
    }
    g_free(writer);
}

char *table_json_lines_path(const char *path)
{
    size_t length = strlen(path) - (g_str_has_suffix(path, ".csv") ? 4 : 0);

    return g_strdup_printf("%.*s.jsonl", (int)length, path);
}

struct table_writer *table_writer_new_with(const char *path, bool json_lines, GError **error)
{
    g_autofree char *json_path = table_json_lines_path(path);
    struct table_writer *writer = g_new0(struct table_writer, 1);

    if (json_lines) {
        writer->line = g_string_new("{");
        writer->names = g_ptr_array_new_with_free_func(g_free);
    }
    if (out_open(&writer->csv, path, error) &&
        (!json_lines || out_open(&writer->json, json_path, error)))
        return writer;
    table_writer_abort(writer);
    return NULL;
}

struct table_writer *table_writer_new(const char *path, GError **error)
{
    return table_writer_new_with(path, false, error);
}

static void keep_errno(struct table_writer *writer, bool ok)
{
    if (!ok && writer->saved_errno == 0)
        writer->saved_errno = errno ? errno : EIO;
}

static bool must_quote(const char *text, size_t length)
{
    return length > 0 && (strpbrk(text, ",\"\r\n") || g_ascii_isspace(text[0]) ||
                          g_ascii_isspace(text[length - 1]));
}

void table_json_string(GString *json, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);

    g_string_append_c(json, '"');
    for (const char *c = valid; *c; c++) {
        if (*c == '"' || *c == '\\')
            g_string_append_printf(json, "\\%c", *c);
        else if ((unsigned char)*c < ' ')
            g_string_append_printf(json, "\\u%04x", (unsigned)*c);
        else
            g_string_append_c(json, *c);
    }
    g_string_append_c(json, '"');
}

static const char *skip_digits(const char *text)
{
    return text + strspn(text, G_CSET_DIGITS);
}

/* By JSON's grammar: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][-+]?[0-9]+)? */
static bool is_json_number(const char *text)
{
    const char *at = text + (*text == '-'), *end = skip_digits(at);

    if (end == at || (*at == '0' && end - at > 1))
        return false;
    if (*end == '.') {
        at = end + 1;
        end = skip_digits(at);
        if (end == at)
            return false;
    }
    if (*end == 'e' || *end == 'E') {
        at = end + 1 + (end[1] == '-' || end[1] == '+');
        end = skip_digits(at);
        if (end == at)
            return false;
    }
    return *end == '\0';
}

static void json_field(struct table_writer *writer, const char *text)
{
    if (!writer->named) {
        g_ptr_array_add(writer->names, g_strdup(text));
        return;
    }
    assert(writer->n_fields <= writer->names->len);
    if (writer->n_fields > 1)
        g_string_append_c(writer->line, ',');
    table_json_string(writer->line, g_ptr_array_index(writer->names, writer->n_fields - 1));
    g_string_append_c(writer->line, ':');
    if (!*text)
        g_string_append(writer->line, "null");
    else if (is_json_number(text))
        g_string_append(writer->line, text);
    else
        table_json_string(writer->line, text);
}

static void json_row(struct table_writer *writer)
{
    if (writer->named) {
        g_string_append(writer->line, "}\n");
        keep_errno(writer, fputs(writer->line->str, writer->json.file) != EOF);
        g_string_assign(writer->line, "{");
    }
    writer->named = true;
}

void table_writer_field(struct table_writer *writer, const char *text)
{
    size_t length = strlen(text);

    if (writer->n_fields++ > 0)
        keep_errno(writer, fputc(',', writer->csv.file) != EOF);
    writer->last_empty = length == 0;
    if (must_quote(text, length))
        keep_errno(writer, csv_fwrite(writer->csv.file, text, length) == 0);
    else
        keep_errno(writer, fwrite(text, 1, length, writer->csv.file) == length);
    if (writer->line)
        json_field(writer, text);
}

void table_writer_fields(struct table_writer *writer, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table_writer_field(writer, texts[i]);
}

void table_writer_printf(struct table_writer *writer, const char *format, ...)
{
    va_list list;
    g_autofree char *text = NULL;

    va_start(list, format);
    text = g_strdup_vprintf(format, list);
    va_end(list);
    table_writer_field(writer, text);
}

void table_writer_double(struct table_writer *writer, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE] = "";

    if (isfinite(value))
        g_ascii_formatd(text, sizeof text, "%.9g", value);
    table_writer_field(writer, text);
}

void table_writer_time(struct table_writer *writer, int64_t time_ps)
{
    char text[24] = "";

    if (time_ps >= 0)
        g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, time_ps);
    table_writer_field(writer, text);
}

void table_writer_row(struct table_writer *writer)
{
    /* a single empty field would be a blank line, which readers skip */
    if (writer->n_fields == 1 && writer->last_empty)
        keep_errno(writer, fputs("\"\"", writer->csv.file) >= 0);
    keep_errno(writer, fputc('\n', writer->csv.file) != EOF);
    if (writer->line)
        json_row(writer);
    writer->n_fields = 0;
}

gboolean table_writer_close(struct table_writer *writer, GError **error)
{
    struct out *const outs[] = {&writer->csv, &writer->json};
    const char *failed = writer->csv.path;

    assert(writer->n_fields == 0);
    for (size_t i = 0; i < G_N_ELEMENTS(outs); i++)
        if (outs[i]->file)
            keep_errno(writer, fclose(outs[i]->file) == 0);
    for (size_t i = 0; i < G_N_ELEMENTS(outs) && writer->saved_errno == 0; i++)
        if (outs[i]->file) {
            failed = outs[i]->path;
            keep_errno(writer, g_rename(outs[i]->temporary, outs[i]->path) == 0);
        }

    bool ok = writer->saved_errno == 0;
    if (!ok) {
        set_file_error(error, "write", failed, writer->saved_errno);
        for (size_t i = 0; i < G_N_ELEMENTS(outs); i++)
            if (outs[i]->file)
                g_unlink(outs[i]->temporary);
    }
    writer_free(writer);
    return ok;
}

void table_writer_abort(struct table_writer *writer)
{
    if (!writer)
        return;
    struct out *const outs[] = {&writer->csv, &writer->json};

    for (size_t i = 0; i < G_N_ELEMENTS(outs); i++)
        if (outs[i]->file) {
            fclose(outs[i]->file);
            g_unlink(outs[i]->temporary);
        }
    writer_free(writer);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
    struct table *table;
    GPtrArray *row;    /* char *, the fields of the present row */
    uint32_t line;     /* being parsed */
    uint32_t row_line; /* where the present row began */
    bool row_open;
    bool header_done;
    GError *error; /* the first; the rest of the input is parsed but dropped */
};

static void set_line_error(struct reading *reading, uint32_t line, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static void set_line_error(struct reading *reading, uint32_t line, const char *format, ...)
{
    va_list list;

    if (reading->error)
        return;
    va_start(list, format);
    reading->error = g_error_new_valist(TABLE_ERROR, TABLE_ERROR_FORMAT, format, list);
    va_end(list);
    g_prefix_error(&reading->error, "%s:%u: ", reading->table->name, line);
}

static void on_field(void *text, size_t length, void *data)
{
    struct reading *reading = data;

    g_ptr_array_add(reading->row, g_string_chunk_insert_len(reading->table->texts, text ? text : "",
                                                            (gssize)length));
}

static void take_header(struct reading *reading)
{
    struct table *table = reading->table;

    reading->header_done = true;
    for (uint32_t i = 0; i < reading->row->len; i++) {
        char *name = g_ptr_array_index(reading->row, i);

        if (*name == '\0')
            set_line_error(reading, reading->row_line, "column %u of the header has no name",
                           i + 1);
        else if (table_column(table, name) >= 0)
            set_line_error(reading, reading->row_line, "the header names column '%s' twice", name);
        g_ptr_array_add(table->columns, name);
    }
}

static void on_row(int terminator, void *data)
{
    struct reading *reading = data;
    struct table *table = reading->table;

    (void)terminator;
    reading->row_open = false;
    if (!reading->header_done) {
        take_header(reading);
    } else if (reading->row->len != table->columns->len) {
        set_line_error(reading, reading->row_line, "%u fields, but the header names %u columns",
                       reading->row->len, table->columns->len);
    } else {
        for (uint32_t i = 0; i < reading->row->len; i++)
            g_ptr_array_add(table->fields, g_ptr_array_index(reading->row, i));
        g_array_append_val(table->lines, reading->row_line);
    }
    g_ptr_array_set_size(reading->row, 0);
}

/* Line by line, so that every row and every error knows its line. */
static void parse_lines(struct reading *reading, struct csv_parser *parser, const char *text,
                        size_t length)
{
    const char *end = text + length;

    while (text < end && !reading->error) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t n = newline ? (size_t)(newline + 1 - text) : (size_t)(end - text);

        reading->line++;
        if (!reading->row_open) {
            reading->row_line = reading->line;
            reading->row_open = strspn(text, " \t\r\n") < n;
        }
        if (memchr(text, '\0', n))
            set_line_error(reading, reading->line, "a zero byte; this is no text file");
        else if (csv_parse(parser, text, n, on_field, on_row, reading) != n)
            set_line_error(reading, reading->line,
                           "a quote inside a field; put the whole field in "
                           "quotes and double those inside it");
        text += n;
    }
}

static void parse_text(struct reading *reading, const char *text, size_t length)
{
    struct csv_parser parser;

    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
        g_error("csv_init");
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        length -= 3;
    }
    parse_lines(reading, &parser, text, length);
    if (!reading->error && csv_fini(&parser, on_field, on_row, reading) != 0)
        set_line_error(reading, reading->row_line, "a quoted field has no closing quote");
    if (!reading->header_done)
        set_line_error(reading, 1, "empty; a header row is expected");
    csv_free(&parser);
}

struct table *table_parse(const char *name, const char *text, size_t length, GError **error)
{
    struct table *table = g_new0(struct table, 1);
    struct reading reading = {.table = table, .row = g_ptr_array_new()};

    table->name = g_strdup(name);
    table->columns = g_ptr_array_new();
    table->fields = g_ptr_array_new();
    table->texts = g_string_chunk_new(4096);
    table->lines = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    parse_text(&reading, text, length);
    g_ptr_array_unref(reading.row);
    if (!reading.error)
        return table;
    g_propagate_error(error, reading.error);
    table_free(table);
    return NULL;
}

struct table *table_read(const char *path, GError **error)
{
    g_autoptr(GError) fault = NULL;
    struct reader reader;
    struct table *table = NULL;

    if (reader_open(&reader, path, &fault))
        table = table_parse(path, reader.text, reader.length, error);
    else
        g_set_error_literal(error, TABLE_ERROR, TABLE_ERROR_FILE, fault->message);
    reader_close(&reader);
    return table;
}

void table_free(struct table *table)
{
    if (!table)
        return;
    g_free(table->name);
    g_ptr_array_unref(table->columns);
    g_ptr_array_unref(table->fields);
    g_string_chunk_free(table->texts);
    g_array_unref(table->lines);
    g_free(table);
}

uint32_t table_n_rows(const struct table *table)
{
    return table->lines->len;
}

uint32_t table_n_columns(const struct table *table)
{
    return table->columns->len;
}

const char *table_column_name(const struct table *table, uint32_t column)
{
    assert(column < table->columns->len);
    return g_ptr_array_index(table->columns, column);
}

int table_column(const struct table *table, const char *name)
{
    for (uint32_t i = 0; i < table->columns->len; i++)
        if (strcmp(g_ptr_array_index(table->columns, i), name) == 0)
            return (int)i;
    return -1;
}

gboolean table_need_column(const struct table *table, const char *name, uint32_t *column,
                           GError **error)
{
    int found = table_column(table, name);

    if (found >= 0) {
        *column = (uint32_t)found;
        return TRUE;
    }
    g_autoptr(GString) names = g_string_new(NULL);
    const char *near =
        param_nearest(name, (const char *const *)table->columns->pdata, table->columns->len);

    for (uint32_t i = 0; i < table->columns->len; i++)
        g_string_append_printf(names, "%s%s", i ? "," : "", table_column_name(table, i));
    g_set_error(error, TABLE_ERROR, TABLE_ERROR_COLUMN,
                "%s: no column '%s'; the header has %s%s%s%s", table->name, name, names->str,
                near ? "; is '" : "", near ? near : "", near ? "' meant?" : "");
    return FALSE;
}

const char *table_field(const struct table *table, uint32_t row, uint32_t column)
{
    assert(row < table->lines->len && column < table->columns->len);
    return g_ptr_array_index(table->fields, (size_t)row * table->columns->len + column);
}

uint32_t table_line(const struct table *table, uint32_t row)
{
    assert(row < table->lines->len);
    return g_array_index(table->lines, uint32_t, row);
}

gboolean table_quantity(const struct table *table, uint32_t row, uint32_t column,
                        enum units_kind kind, int64_t *value, GError **error)
{
    const char *text = table_field(table, row, column);
    const char *why;

    if (units_parse(kind, text, value, &why))
        return TRUE;
    table_set_error(table, row, column, error, "'%s': %s", text, why);
    return FALSE;
}

void table_set_error(const struct table *table, uint32_t row, uint32_t column, GError **error,
                     const char *format, ...)
{
    va_list list;
    g_autofree char *what = NULL;

    va_start(list, format);
    what = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, TABLE_ERROR, TABLE_ERROR_VALUE, "%s:%u: column '%s': %s", table->name,
                table_line(table, row), table_column_name(table, column), what);
}
