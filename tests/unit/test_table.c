/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/core/table.c, in its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/table.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- writing ---------------------------------------------------------------------------------- */

static char *scratch_folder(void)
{
    char *folder = g_dir_make_tmp("weft-table-XXXXXX", NULL);

    assert_non_null(folder);
    return folder;
}

static guint count_files(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    guint n = 0;

    while (g_dir_read_name(dir))
        n++;
    g_dir_close(dir);
    return n;
}

static void writes_the_bytes_expected(void **state)
{
    g_autofree char *folder = scratch_folder();
    g_autofree char *path = g_build_filename(folder, "t.csv", NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    struct table_writer *writer = table_writer_new(path, &error);

    (void)state;
    assert_non_null(writer);
    for (int i = 0; i < 6; i++)
        table_writer_printf(writer, "c%d", i);
    table_writer_row(writer);
    table_writer_field(writer, "plain");
    table_writer_field(writer, "a,b");
    table_writer_field(writer, "say \"no\"");
    table_writer_field(writer, " edge");
    table_writer_field(writer, "");
    table_writer_field(writer, "two\nlines");
    table_writer_row(writer);
    table_writer_double(writer, 0.1);
    table_writer_double(writer, (double)NAN);
    table_writer_double(writer, 1e9);
    table_writer_time(writer, -1);
    table_writer_time(writer, INT64_MAX);
    table_writer_field(writer, "a;b c");
    table_writer_row(writer);
    assert_int_equal(count_files(folder), 1); /* the temporary one */
    assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    assert_true(table_writer_close(writer, &error));
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    assert_string_equal(text, "c0,c1,c2,c3,c4,c5\n"
                              "plain,\"a,b\",\"say \"\"no\"\"\",\" edge\",,\"two\nlines\"\n"
                              "0.1,,1e+09,,9223372036854775807,a;b c\n");
    assert_int_equal(count_files(folder), 1);
    g_unlink(path);
    g_rmdir(folder);
}

/* What is a number in JSON, by its grammar, is one; +1, 01, 1., .5, 1e and inf are not. */
static void writes_lines_of_json_beside_it(void **state)
{
    static const char *const rows[][3] = {{"0", "-12", "1.50"},      {"1e9", "1e-09", "-0.5E+3"},
                                          {"01", "+1", "1."},        {".5", "1e", "inf"},
                                          {"", "a\"b\\c\n", "\xff"}, {"-", "1 ", "0x1"}};
    g_autofree char *folder = scratch_folder();
    g_autofree char *path = g_build_filename(folder, "t.csv", NULL);
    g_autofree char *lines = table_json_lines_path(path), *text = NULL;
    struct table_writer *writer = table_writer_new_with(path, true, NULL);

    (void)state;
    assert_true(g_str_has_suffix(lines, "/t.jsonl"));
    table_writer_field(writer, "n");
    table_writer_field(writer, "a \"b\"");
    table_writer_field(writer, "c");
    table_writer_row(writer);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        for (int k = 0; k < 3; k++)
            table_writer_field(writer, rows[i][k]);
        table_writer_row(writer);
    }
    assert_int_equal(count_files(folder), 2);
    assert_true(table_writer_close(writer, NULL));
    assert_true(g_file_get_contents(lines, &text, NULL, NULL));
    assert_string_equal(
        text, "{\"n\":0,\"a \\\"b\\\"\":-12,\"c\":1.50}\n"
              "{\"n\":1e9,\"a \\\"b\\\"\":1e-09,\"c\":-0.5E+3}\n"
              "{\"n\":\"01\",\"a \\\"b\\\"\":\"+1\",\"c\":\"1.\"}\n"
              "{\"n\":\".5\",\"a \\\"b\\\"\":\"1e\",\"c\":\"inf\"}\n"
              "{\"n\":null,\"a \\\"b\\\"\":\"a\\\"b\\\\c\\u000a\",\"c\":\"\xef\xbf\xbd\"}\n"
              "{\"n\":\"-\",\"a \\\"b\\\"\":\"1 \",\"c\":\"0x1\"}\n");
    g_unlink(path);
    g_unlink(lines);
    table_writer_abort(table_writer_new_with(path, true, NULL));
    assert_int_equal(count_files(folder), 0);
    g_rmdir(folder);
}

static void abort_leaves_nothing_and_keeps_the_old(void **state)
{
    g_autofree char *folder = scratch_folder();
    g_autofree char *path = g_build_filename(folder, "t.csv", NULL);
    g_autofree char *text = NULL;
    struct table_writer *writer;

    (void)state;
    assert_true(g_file_set_contents(path, "old\n", -1, NULL));
    writer = table_writer_new(path, NULL);
    table_writer_field(writer, "new");
    table_writer_row(writer);
    table_writer_abort(writer);
    table_writer_abort(NULL);
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    assert_string_equal(text, "old\n");
    assert_int_equal(count_files(folder), 1);
    g_unlink(path);
    g_rmdir(folder);
}

static void errors_of_the_file_system_name_the_path(void **state)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) full = NULL;
    struct table_writer *writer;

    (void)state;
    assert_null(table_writer_new("/no/such/folder/t.csv", &error));
    assert_non_null(strstr(error->message, "/no/such/folder/t.csv"));

    /* rename onto a folder fails, and the temporary file goes */
    g_autofree char *folder = scratch_folder();
    g_autofree char *path = g_build_filename(folder, "is-a-folder", NULL);

    assert_int_equal(g_mkdir(path, 0755), 0);
    writer = table_writer_new(path, NULL);
    table_writer_field(writer, "x");
    table_writer_row(writer);
    assert_false(table_writer_close(writer, &full));
    assert_non_null(strstr(full->message, path));
    assert_int_equal(count_files(folder), 1);
    g_rmdir(path);
    g_rmdir(folder);
}

/* --- reading ---------------------------------------------------------------------------------- */

static struct table *parse(const char *text, GError **error)
{
    return table_parse("t.csv", text, strlen(text), error);
}

static void reads_fields_columns_and_lines(void **state)
{
    struct table *table = parse("\xef\xbb\xbfid,name , size\r\n"
                                "\r\n"
                                "1,\"a,b\",4KiB\r\n"
                                "2,\"two\nlines\", 1MB \n"
                                "   \n"
                                "3,,7",
                                NULL);
    int64_t value;

    (void)state;
    assert_non_null(table);
    assert_int_equal(table_n_columns(table), 3);
    assert_int_equal(table_n_rows(table), 3);
    assert_string_equal(table_column_name(table, 1), "name");
    assert_int_equal(table_column(table, "size"), 2);
    assert_int_equal(table_column(table, "sizes"), -1);
    assert_string_equal(table_field(table, 0, 1), "a,b");
    assert_string_equal(table_field(table, 1, 1), "two\nlines");
    assert_string_equal(table_field(table, 2, 1), "");
    assert_int_equal(table_line(table, 0), 3);
    assert_int_equal(table_line(table, 1), 4);
    assert_int_equal(table_line(table, 2), 7);
    assert_true(table_quantity(table, 0, 2, UNITS_BYTES, &value, NULL));
    assert_int_equal(value, 4096);
    assert_true(table_quantity(table, 1, 2, UNITS_BYTES, &value, NULL));
    assert_int_equal(value, 1000000);
    table_free(table);
    table_free(NULL);
}

static void refuses_with_the_line(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "t.csv:1: empty"},
        {"\n\n", "t.csv:1: empty"},
        {"a,b\n1,2\n3\n", "t.csv:3: 1 fields, but the header names 2 columns"},
        {"a,b\n\n1,2,3\n", "t.csv:3: 3 fields"},
        {"a,b\n1,x\"y\n", "t.csv:2: a quote inside a field"},
        {"a,b\n1,\"xy\n\n\n", "t.csv:2: a quoted field has no closing quote"},
        {"a,b\n\"1\n2\",\"3\"4\n", "t.csv:3: a quote inside"},
        {"a,,c\n", "t.csv:1: column 2 of the header has no name"},
        {"a,b,a\n", "t.csv:1: the header names column 'a' twice"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;

        assert_null(parse(cases[i].text, &error));
        if (!g_str_has_prefix(error->message, cases[i].says))
            fail_msg("case %zu says '%s'", i, error->message);
    }
    assert_null(table_parse("t.csv", "a\n1\0\n", 5, NULL));
}

static void names_missing_columns_and_bad_values(void **state)
{
    struct table *table = parse("flow,start\n0,1us\n1,soon\n", NULL);
    g_autoptr(GError) column_error = NULL;
    g_autoptr(GError) value_error = NULL;
    g_autoptr(GError) own_error = NULL;
    uint32_t column = 9;
    int64_t value;

    (void)state;
    assert_true(table_need_column(table, "start", &column, NULL));
    assert_int_equal(column, 1);
    assert_false(table_need_column(table, "strat", &column, &column_error));
    assert_string_equal(column_error->message, "t.csv: no column 'strat'; the header has "
                                               "flow,start; is 'start' meant?");
    assert_false(table_quantity(table, 1, 1, UNITS_TIME, &value, &value_error));
    assert_true(g_str_has_prefix(value_error->message, "t.csv:3: column 'start': 'soon': a time"));
    table_set_error(table, 0, 0, &own_error, "flow %d is taken", 0);
    assert_string_equal(own_error->message, "t.csv:2: column 'flow': flow 0 is taken");
    table_free(table);
}

static void reads_what_it_wrote(void **state)
{
    static const char *const texts[] = {"",   "a",    ",",   "\"", "\"\"", " x ",
                                        "\n", "\r\n", "1;2", "'",  "\t"};
    g_autofree char *folder = scratch_folder();
    g_autofree char *path = g_build_filename(folder, "t.csv", NULL);
    struct table_writer *writer = table_writer_new(path, NULL);
    struct table *table;

    (void)state;
    table_writer_field(writer, "text");
    table_writer_row(writer);
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        table_writer_field(writer, texts[i]);
        table_writer_row(writer);
    }
    assert_true(table_writer_close(writer, NULL));
    table = table_read(path, NULL);
    assert_non_null(table);
    assert_int_equal(table_n_rows(table), G_N_ELEMENTS(texts));
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        assert_string_equal(table_field(table, (uint32_t)i, 0), texts[i]);
    table_free(table);
    g_unlink(path);
    g_rmdir(folder);

    g_autoptr(GError) error = NULL;

    assert_null(table_read("/no/such.csv", &error));
    assert_non_null(strstr(error->message, "/no/such.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_bytes_expected),
        cmocka_unit_test(writes_lines_of_json_beside_it),
        cmocka_unit_test(abort_leaves_nothing_and_keeps_the_old),
        cmocka_unit_test(errors_of_the_file_system_name_the_path),
        cmocka_unit_test(reads_fields_columns_and_lines),
        cmocka_unit_test(refuses_with_the_line),
        cmocka_unit_test(names_missing_columns_and_bad_values),
        cmocka_unit_test(reads_what_it_wrote),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
