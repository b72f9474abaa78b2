/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words with their lines out of files that may be hostile; what matching and circles rest on. */
#include "tests/unit/test_workload_player.h"

#include "sim/core/reader.h"
#include "tests/unit/scratch.h"
#include "workloads/circle.h"
#include "workloads/match.h"
#include "workloads/protobuf.h"

/* --- words ------------------------------------------------------------------------------------ */

static void words_know_their_lines(void **state)
{
    static const char text[] = "\xef\xbb\xbf  one\ttwo \r\n\n three\n# four five\nsix";
    static const struct {
        const char *word;
        uint32_t line;
    } words[] = {{"one", 1},  {"two", 1},  {"three", 3}, {"#", 4},
                 {"four", 4}, {"five", 4}, {"six", 5}};
    g_autofree char *path = scratch_write("words", text, sizeof text - 1);
    struct reader reader;

    (void)state;
    assert_true(reader_open_text(&reader, path, "words", NULL));
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        assert_string_equal(reader_word(&reader), words[i].word);
        assert_int_equal(reader.line, words[i].line);
    }
    assert_null(reader_word(&reader));
    assert_null(reader_word(&reader));
    reader_close(&reader);
    g_unlink(path);
}

static void a_line_ends_where_it_ends(void **state)
{
    static const char text[] = "a b \nc\n\nd e f\ng";
    g_autofree char *path = scratch_write("lines", text, sizeof text - 1);
    struct reader reader;

    (void)state;
    assert_true(reader_open_text(&reader, path, "lines", NULL));
    assert_string_equal(reader_word(&reader), "a");
    assert_false(reader_at_line_end(&reader));
    assert_string_equal(reader_word_in_line(&reader), "b");
    assert_true(reader_at_line_end(&reader));
    assert_null(reader_word_in_line(&reader));
    assert_string_equal(reader_word(&reader), "c");
    assert_null(reader_word_in_line(&reader));
    assert_string_equal(reader_word(&reader), "d");
    assert_int_equal(reader.line, 4);
    reader_skip_line(&reader);
    assert_string_equal(reader_word(&reader), "g");
    assert_int_equal(reader.line, 5);
    assert_null(reader_word_in_line(&reader));
    reader_close(&reader);
    g_unlink(path);
}

static void whole_numbers_only(void **state)
{
    uint64_t value;

    (void)state;
    assert_true(reader_is_whole("18446744073709551615", 0, UINT64_MAX, &value));
    assert_true(value == UINT64_MAX);
    assert_false(reader_is_whole("18446744073709551616", 0, UINT64_MAX, &value));
    assert_false(reader_is_whole("-1", 0, UINT64_MAX, &value));
    assert_false(reader_is_whole("+1", 0, UINT64_MAX, &value));
    assert_false(reader_is_whole("1x", 0, UINT64_MAX, &value));
    assert_false(reader_is_whole("", 0, UINT64_MAX, &value));
    assert_false(reader_is_whole(NULL, 0, UINT64_MAX, &value));
    assert_false(reader_is_whole("5", 6, 9, &value));
}

static void refused(const char *path, const char *part)
{
    struct reader reader;
    GError *error = NULL;

    assert_false(reader_open_text(&reader, path, "a thing", &error));
    assert_non_null(strstr(error->message, part));
    g_clear_error(&error);
    reader_close(&reader);
}

static void what_is_no_text_file_is_refused(void **state)
{
    g_autofree char *path = scratch_write("zero", "ab\0c", 4);

    (void)state;
    refused("", "a thing is expected");
    refused("/nowhere", "No such file");
    refused("/", "no regular file");
    refused("/dev/zero", "no regular file");
    refused(path, "a zero byte at offset 2");
    g_unlink(path);
}

/* --- matching --------------------------------------------------------------------------------- */

static void receives_take_sends_in_order(void **state)
{
    struct match_item items[] = {
        {MATCH_RECEIVE, 0, 1, MATCH_ANY, 0},         /* 0: any tag of 0 */
        {MATCH_RECEIVE, 0, 1, 7, 0},                 /* 1: exact, before it */
        {MATCH_SEND, 0, 1, 7, 0},                    /* 2 */
        {MATCH_SEND, 0, 1, 7, 0},                    /* 3 */
        {MATCH_SEND, 2, 1, 9, 0},                    /* 4 */
        {MATCH_RECEIVE, MATCH_ANY, 1, MATCH_ANY, 0}, /* 5: what is left */
        {MATCH_RECEIVE, MATCH_ANY, 1, 9, 0},         /* 6: before it */
        {MATCH_SEND, 2, 3, 9, 0},                    /* 7: of another rank */
        {MATCH_NEITHER, 0, 0, 0, 0},
        {MATCH_SEND, 4, 1, 1, 0}, /* 9 */
    };

    (void)state;
    match_all(items, G_N_ELEMENTS(items));
    assert_int_equal(items[1].other, 3);
    assert_int_equal(items[0].other, 4);
    assert_int_equal(items[6].other, 5);
    assert_int_equal(items[5].other, 10);
    assert_int_equal(items[9].other, 6);
    assert_int_equal(items[7].other, 0);
    assert_int_equal(items[8].other, 0);
}

/* A receive of any source and a wrong tag must not be looked for again and again. */
static void many_wildcards_are_linear(void **state)
{
    enum { N = 400000 };
    struct match_item *items = g_new0(struct match_item, N);
    uint32_t n = 0;

    (void)state;
    for (uint32_t i = 0; i < N; i++)
        items[i] = i % 2 ? (struct match_item){MATCH_SEND, i, 1, 5, 0}
                         : (struct match_item){MATCH_RECEIVE, MATCH_ANY, 1, i % 4 ? 5 : 6, 0};
    match_all(items, N);
    for (uint32_t i = 0; i < N; i++)
        n += items[i].other != 0;
    assert_int_equal(n, N / 2);
    g_free(items);
}

/* --- circles ---------------------------------------------------------------------------------- */

static void build_joins(struct schedule *schedule, uint32_t n, const uint32_t (*edges)[2],
                        uint32_t n_edges)
{
    schedule_init(schedule, 1);
    for (uint32_t i = 0; i < n; i++)
        schedule_add_op(schedule,
                        &(struct schedule_op){.kind = SCHEDULE_JOIN, .group = SCHEDULE_NO_GROUP});
    for (uint32_t e = 0; e < n_edges; e++)
        schedule_add_edge(schedule, edges[e][0], edges[e][1], SCHEDULE_AT_RECEIVER, false);
}

static void circles_are_found(void **state)
{
    static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}};
    struct schedule schedule;
    GArray *circle;

    (void)state;
    build_joins(&schedule, 5, edges, 3);
    assert_true(schedule_finish(&schedule, 1, NULL));
    assert_null(circle_find(&schedule));
    schedule_clear(&schedule);

    build_joins(&schedule, 5, edges, 5);
    assert_true(schedule_finish(&schedule, 1, NULL));
    circle = circle_find(&schedule);
    assert_int_equal(circle->len, 3);
    for (guint i = 0; i < 3; i++)
        assert_in_range(g_array_index(circle, uint64_t, i), 1, 3);
    g_array_unref(circle);
    schedule_clear(&schedule);
}

/* What needs more edges than it has is no circle; nor is the first of several. */
static void missing_edges_are_no_circle(void **state)
{
    static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 1}};
    struct schedule schedule;

    (void)state;
    build_joins(&schedule, 3, edges, 2);
    schedule_set_needed(&schedule, 1, 9);
    assert_true(schedule_finish(&schedule, 1, NULL));
    assert_null(circle_find(&schedule));
    schedule_clear(&schedule);

    build_joins(&schedule, 3, edges, 3);
    schedule_set_needed(&schedule, 1, 1);
    assert_true(schedule_finish(&schedule, 1, NULL));
    assert_null(circle_find(&schedule));
    schedule_clear(&schedule);
}

/* --- protobuf --------------------------------------------------------------------------------- */

static void fields_end_where_the_bytes_end(void **state)
{
    static const unsigned char good[] = {0x08, 0x96, 0x01, 0x12, 2, 'a', 'b', 0x1d, 1, 0, 0, 0};
    static const unsigned char bad[][12] = {
        {1, 0x08},         /* a field without its value */
        {3, 0x12, 5, 'a'}, /* longer than what follows */
        {2, 0x0b, 0},      /* a group */
        {2, 0x00, 0},      /* field 0 */
        {11, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}, /* 65 bits */
        {4, 0x0d, 1, 2, 3},
    };
    struct protobuf_span span = {good, good + sizeof good};
    struct protobuf_field field;
    bool fault;

    (void)state;
    assert_true(protobuf_next(&span, &field, &fault) && field.number == 1 && field.value == 150);
    assert_true(protobuf_next(&span, &field, &fault) && field.number == 2);
    assert_int_equal(field.bytes.end - field.bytes.at, 2);
    assert_true(protobuf_next(&span, &field, &fault) && field.number == 3 && field.value == 1);
    assert_false(protobuf_next(&span, &field, &fault));
    assert_false(fault);
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        span = (struct protobuf_span){bad[i] + 1, bad[i] + 1 + bad[i][0]};
        assert_false(protobuf_next(&span, &field, &fault));
        assert_true(fault);
    }
    assert_int_equal(protobuf_zigzag(0), 0);
    assert_int_equal(protobuf_zigzag(1), -1);
    assert_int_equal(protobuf_zigzag(4294967294), 2147483647);
    assert_true(protobuf_zigzag(UINT64_MAX) == INT64_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_know_their_lines),
        cmocka_unit_test(a_line_ends_where_it_ends),
        cmocka_unit_test(whole_numbers_only),
        cmocka_unit_test(what_is_no_text_file_is_refused),
        cmocka_unit_test(receives_take_sends_in_order),
        cmocka_unit_test(many_wildcards_are_linear),
        cmocka_unit_test(circles_are_found),
        cmocka_unit_test(missing_edges_are_no_circle),
        cmocka_unit_test(fields_end_where_the_bytes_end),
    };

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
