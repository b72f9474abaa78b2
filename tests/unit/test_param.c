/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/core/param.c, in its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/param.h"
#include <string.h>

struct config {
    int64_t before;
    int64_t count, delay, size, rate, share, fast, kind;
    char *label;
    int64_t after;
};

static const struct param table[] = {
    PARAM(NUMBER, struct config, count, "4", "1", "32", NULL, "how many", "test"),
    PARAM(TIME, struct config, delay, "1.5us", "0ps", "1s", NULL, "how long", "test"),
    PARAM(BYTES, struct config, size, "4KiB", NULL, NULL, NULL, "how large", "test"),
    PARAM(RATE, struct config, rate, "400Gbps", "1bps", NULL, NULL, "how fast", "test"),
    PARAM(RATIO, struct config, share, "1%", "0", "1", NULL, "how much", "test"),
    PARAM(BOOL, struct config, fast, "on", NULL, NULL, NULL, "whether", "test"),
    PARAM(CHOICE, struct config, kind, "ring", NULL, NULL, "direct|ring|tree", "which", "test"),
    PARAM(TEXT, struct config, label, "none", NULL, NULL, NULL, "name", "test"),
    PARAM_END,
};

static void assert_defaults(const struct config *config)
{
    assert_int_equal(config->count, 4);
    assert_int_equal(config->delay, 1500000);
    assert_int_equal(config->size, 4096);
    assert_int_equal(config->rate, INT64_C(400000000000));
    assert_int_equal(config->share, INT64_C(10000000000));
    assert_int_equal(config->fast, 1);
    assert_int_equal(config->kind, 1);
    assert_string_equal(config->label, "none");
}

static void defaults_fill_every_row(void **state)
{
    struct config config;

    (void)state;
    memset(&config, 0x5a, sizeof config); /* need not be initialised */
    param_defaults(table, &config);
    assert_defaults(&config);
    assert_int_equal(config.before, INT64_C(0x5a5a5a5a5a5a5a5a));
    assert_int_equal(config.after, INT64_C(0x5a5a5a5a5a5a5a5a));
    param_clear(table, &config);
    assert_null(config.label);
}

static void copies_are_deep(void **state)
{
    struct config config, copy;

    (void)state;
    param_defaults(table, &config);
    param_copy(table, &config, &copy, sizeof config);
    assert_true(copy.label != config.label);
    param_clear(table, &config);
    assert_defaults(&copy);
    param_clear(table, &copy);
}

static void rows_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(param_find(table, "count"), &table[0]);
    assert_ptr_equal(param_find(table, "label"), &table[7]);
    assert_null(param_find(table, "labels"));
    assert_null(param_find(table, ""));
}

static void values_are_set_and_printed_back(void **state)
{
    static const struct {
        const char *name, *text, *back;
    } rows[] = {
        {"count", "32", "32"},    {"count", "1", "1"},          {"delay", "1500ns", "1.5us"},
        {"delay", "1s", "1s"},    {"size", "65536", "64KiB"},   {"rate", "12.5GBps", "100Gbps"},
        {"share", "3%", "0.03"},  {"share", "1", "1"},          {"fast", "off", "off"},
        {"fast", "true", "on"},   {"fast", "No", "off"},        {"fast", "1", "on"},
        {"kind", "tree", "tree"}, {"kind", "direct", "direct"}, {"label", "a b;c", "a b;c"},
        {"label", "", ""},
    };
    struct config config;

    (void)state;
    param_defaults(table, &config);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const struct param *param = param_find(table, rows[i].name);

        assert_true(param_set(param, &config, rows[i].text, NULL));
        g_autofree char *back = param_get(param, &config);

        assert_string_equal(back, rows[i].back);
        assert_true(param_set(param, &config, back, NULL));
    }
    param_clear(table, &config);
}

static void wrong_values_are_refused_and_change_nothing(void **state)
{
    static const struct {
        const char *name, *text, *says;
    } rows[] = {
        {"count", "0", "'0': out of range; 1 to 32 is possible"},
        {"count", "33", "'33': out of range; 1 to 32 is possible"},
        {"count", "4x", "'4x': a whole number is expected"},
        {"count", "-1", "'-1': out of range"},
        {"delay", "5", "'5': a time with its unit is expected (ps ns us ms s), such as 1.5us"},
        {"delay", "1.1s", "'1.1s': out of range; 0ps to 1s is possible"},
        {"size", "-1B", "'-1B': out of range; 0 to any size is possible"},
        {"rate", "0bps", "'0bps': out of range; 1bps to any size is possible"},
        {"share", "1.1", "'1.1': out of range; 0 to 1 is possible"},
        {"share", "101%", "'101%': out of range"},
        {"fast", "maybe", "'maybe': on or off is expected"},
        {"fast", "2", "'2': on or off is expected"},
        {"kind", "rign", "'rign': one of direct|ring|tree is expected; did you mean 'ring'?"},
        {"kind", "", "'': one of direct|ring|tree is expected"},
        {"kind", "direct|ring", "'direct|ring': one of"},
    };
    struct config config;

    (void)state;
    param_defaults(table, &config);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;

        if (param_set(param_find(table, rows[i].name), &config, rows[i].text, &error))
            fail_msg("%s took '%s'", rows[i].name, rows[i].text);
        assert_true(g_error_matches(error, PARAM_ERROR, PARAM_ERROR_VALUE));
        if (!g_str_has_prefix(error->message, rows[i].says))
            fail_msg("says \"%s\"", error->message);
        assert_defaults(&config);
    }
    param_clear(table, &config);
}

static void units_are_named(void **state)
{
    static const char *const units[] = {
        "", "time", "bytes", "bit/s", "ratio", "on|off", "direct|ring|tree", "text"};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        assert_string_equal(param_unit(&table[i]), units[i]);
}

static void the_nearest_name_is_offered(void **state)
{
    static const char *const names[] = {"queue_pairs", "rate", "rate_per_link", "recovery"};
    char long_name[200];

    (void)state;
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_string_equal(param_nearest("queue_pair", names, 4), "queue_pairs");
    assert_string_equal(param_nearest("QUEUE_PAIRS", names, 4), "queue_pairs");
    assert_string_equal(param_nearest("raet", names, 4), "rate");
    assert_string_equal(param_nearest("recvoery", names, 4), "recovery");
    assert_null(param_nearest("window", names, 4));
    assert_null(param_nearest(long_name, names, 4));
    assert_null(param_nearest("rate", names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_fill_every_row),
        cmocka_unit_test(copies_are_deep),
        cmocka_unit_test(rows_are_found_by_name),
        cmocka_unit_test(values_are_set_and_printed_back),
        cmocka_unit_test(wrong_values_are_refused_and_change_nothing),
        cmocka_unit_test(units_are_named),
        cmocka_unit_test(the_nearest_name_is_offered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
