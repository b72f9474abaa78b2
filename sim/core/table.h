/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables as comma-separated files (RFC 4180, by libcsv).
 *
 * A file is written whole or not at all: rows go to a temporary name in the same folder, which is
 * renamed at the end. A field is quoted only where it has to be, so numbers stay numbers to every
 * reader. A file is read whole and strictly: one header row, the same number of fields in every
 * row, no stray quotes; every row knows its line. Spaces around unquoted fields are dropped and
 * blank lines skipped (libcsv does both), and a byte order mark and CRLF are accepted.
 */
#ifndef WEFT_SIM_CORE_TABLE_H
#define WEFT_SIM_CORE_TABLE_H

#include "sim/core/units.h"
#include <glib.h>
#include <stdint.h>

#define TABLE_ERROR table_error_quark()
GQuark table_error_quark(void);
enum table_error { TABLE_ERROR_FILE, TABLE_ERROR_FORMAT, TABLE_ERROR_COLUMN, TABLE_ERROR_VALUE };

/* --- writing ---------------------------------------------------------------------------------- */

struct table_writer;

/* Opens a temporary file beside `path`; NULL with an error that names the path. */
struct table_writer *table_writer_new(const char *path, GError **error);

/*
 * The same; if `json_lines` is true every row is also written as a line of JSON, an object with the
 * fields of the first row for names: what is a number in JSON as one, an empty field as null, all
 * else as a string. That file is table_json_lines_path(path).
 */
struct table_writer *table_writer_new_with(const char *path, bool json_lines, GError **error);

/* "flows.jsonl" beside "flows.csv"; g_free. */
char *table_json_lines_path(const char *path);

/* One field of the present row. Write errors are kept and reported by table_writer_close(). */
void table_writer_field(struct table_writer *writer, const char *text);

/* Several fields, such as the names of columns; the row goes on. */
void table_writer_fields(struct table_writer *writer, const char *const *texts, size_t n);
void table_writer_printf(struct table_writer *writer, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* A number in at most nine significant digits, with a point in any locale; empty if not finite. */
void table_writer_double(struct table_writer *writer, double value);

/* A time that may never have come: empty if negative. */
void table_writer_time(struct table_writer *writer, int64_t time_ps);

/* Ends the present row. */
void table_writer_row(struct table_writer *writer);

/* Checks that all was written, renames the files to their paths, and frees the writer in any case.
 */
gboolean table_writer_close(struct table_writer *writer, GError **error);

/* Removes the temporary files and frees the writer; NULL is let pass. */
void table_writer_abort(struct table_writer *writer);

/* --- reading ---------------------------------------------------------------------------------- */

struct table;

/* Reads a file; the error names file and line. Free with table_free(). */
struct table *table_read(const char *path, GError **error);

/* The same from memory; `name` stands for the path in errors. */
struct table *table_parse(const char *name, const char *text, size_t length, GError **error);
void table_free(struct table *table);

uint32_t table_n_rows(const struct table *table); /* without the header */
uint32_t table_n_columns(const struct table *table);
const char *table_column_name(const struct table *table, uint32_t column);

/* The column called `name`, or -1. */
int table_column(const struct table *table, const char *name);

/* The same, with an error that lists what is there. */
gboolean table_need_column(const struct table *table, const char *name, uint32_t *column,
                           GError **error);

const char *table_field(const struct table *table, uint32_t row, uint32_t column);

/* The line of the file on which a row begins, from 1. */
uint32_t table_line(const struct table *table, uint32_t row);

/* Appends `text` as a string of JSON, quotes included; bytes that are no UTF-8 are replaced. */
void table_json_string(GString *json, const char *text);

/* A field as a quantity; the error names file, line, column, value and what would be right. */
gboolean table_quantity(const struct table *table, uint32_t row, uint32_t column,
                        enum units_kind kind, int64_t *value, GError **error);

/* Sets "FILE:LINE: column 'NAME': what is wrong"; for what only the reader of the table can know.
 */
void table_set_error(const struct table *table, uint32_t row, uint32_t column, GError **error,
                     const char *format, ...) G_GNUC_PRINTF(5, 6);

#endif
