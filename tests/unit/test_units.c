/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/core/units.c, in its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/random.h"
#include "sim/core/units.h"
#include <glib.h>
#include <string.h>

static void every_unit_is_exact(void **state)
{
    static const struct {
        enum units_kind kind;
        const char *text;
        int64_t value;
    } rows[] = {
        {UNITS_NUMBER, "0", 0},
        {UNITS_NUMBER, "16", 16},
        {UNITS_NUMBER, "-3", -3},
        {UNITS_NUMBER, "1e3", 1000},
        {UNITS_NUMBER, "9223372036854775807", INT64_MAX},
        {UNITS_TIME, "1ps", 1},
        {UNITS_TIME, "1ns", 1000},
        {UNITS_TIME, "1.5us", 1500000},
        {UNITS_TIME, "4.096us", 4096000},
        {UNITS_TIME, "1ms", INT64_C(1000000000)},
        {UNITS_TIME, "2s", INT64_C(2000000000000)},
        {UNITS_TIME, "9223372.036854775807s", INT64_MAX},
        {UNITS_BYTES, "4096", 4096},
        {UNITS_BYTES, "7B", 7},
        {UNITS_BYTES, "64kB", 64000},
        {UNITS_BYTES, "64KB", 64000},
        {UNITS_BYTES, "1MB", 1000000},
        {UNITS_BYTES, "1GB", 1000000000},
        {UNITS_BYTES, "1TB", INT64_C(1000000000000)},
        {UNITS_BYTES, "4KiB", 4096},
        {UNITS_BYTES, "16MiB", 16777216},
        {UNITS_BYTES, "1GiB", 1073741824},
        {UNITS_BYTES, "1TiB", INT64_C(1099511627776)},
        {UNITS_BYTES, "0.5KiB", 512},
        {UNITS_BYTES, "16 MiB", 16777216},
        {UNITS_RATE, "1bps", 1},
        {UNITS_RATE, "1kbps", 1000},
        {UNITS_RATE, "10Mbps", 10000000},
        {UNITS_RATE, "400Gbps", INT64_C(400000000000)},
        {UNITS_RATE, "400Gb/s", INT64_C(400000000000)},
        {UNITS_RATE, "1.6Tbps", INT64_C(1600000000000)},
        {UNITS_RATE, "1Bps", 8},
        {UNITS_RATE, "1kBps", 8000},
        {UNITS_RATE, "1MBps", 8000000},
        {UNITS_RATE, "1MB/s", 8000000},
        {UNITS_RATE, "12.5GBps", INT64_C(100000000000)},
        {UNITS_RATE, "50GB/s", INT64_C(400000000000)},
        {UNITS_RATE, "1TBps", INT64_C(8000000000000)},
        {UNITS_RATIO, "1", UNITS_PPT},
        {UNITS_RATIO, "0.01", UNITS_PPT / 100},
        {UNITS_RATIO, ".01", UNITS_PPT / 100},
        {UNITS_RATIO, "1e-3", UNITS_PPT / 1000},
        {UNITS_RATIO, "1E-3", UNITS_PPT / 1000},
        {UNITS_RATIO, "1%", UNITS_PPT / 100},
        {UNITS_RATIO, "0.1%", UNITS_PPT / 1000},
        {UNITS_RATIO, "100ppm", UNITS_PPT / 10000},
        {UNITS_RATIO, "1e-12", 1},
        {UNITS_RATIO, "0.000000000001", 1},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *why = NULL;
        int64_t value = -99;

        if (!units_parse(rows[i].kind, rows[i].text, &value, &why) || value != rows[i].value)
            fail_msg("'%s' gave %" G_GINT64_FORMAT " (%s)", rows[i].text, value, why);
    }
}

static void what_is_wrong_is_refused(void **state)
{
    static const struct {
        enum units_kind kind;
        const char *text, *says;
    } rows[] = {
        {UNITS_NUMBER, "", "a whole number"},
        {UNITS_NUMBER, "x", "a whole number"},
        {UNITS_NUMBER, "1.5", "a whole number"},
        {UNITS_NUMBER, "1 2", "a whole number"},
        {UNITS_NUMBER, "0x10", "a whole number"},
        {UNITS_NUMBER, "--1", "a whole number"},
        {UNITS_NUMBER, "+1", "a whole number"},
        {UNITS_NUMBER, "9223372036854775808", "too large"},
        {UNITS_NUMBER, "1e19", "too large"},
        {UNITS_TIME, "5", "a time with its unit"},
        {UNITS_TIME, "1us ", "a time with its unit"},
        {UNITS_TIME, "1 us x", "a time with its unit"},
        {UNITS_TIME, "us", "a time with its unit"},
        {UNITS_TIME, ".us", "a time with its unit"},
        {UNITS_TIME, "1.2.3us", "a time with its unit"},
        {UNITS_TIME, "1US", "a time with its unit"},
        {UNITS_TIME, "1e99us", "a time with its unit"},
        {UNITS_TIME, "0.5ps", "finer than one picosecond"},
        {UNITS_TIME, "1.0001ns", "finer than one picosecond"},
        {UNITS_TIME, "9223372.036854775808s", "too large"},
        {UNITS_BYTES, "4kib", "a size with its unit"},
        {UNITS_BYTES, "1Gb", "a size with its unit"},
        {UNITS_BYTES, "0.3KiB", "not a whole number of bytes"},
        {UNITS_BYTES, "1.5", "not a whole number of bytes"},
        {UNITS_RATE, "400", "a rate with its unit"},
        {UNITS_RATE, "400G", "a rate with its unit"},
        {UNITS_RATE, "400gbps", "a rate with its unit"},
        {UNITS_RATE, "0.5bps", "not a whole number of bits"},
        {UNITS_RATIO, "1pct", "a ratio"},
        {UNITS_RATIO, "nan", "a ratio"},
        {UNITS_RATIO, "inf", "a ratio"},
        {UNITS_RATIO, "1e-13", "finer than one in 10^12"},
        {UNITS_RATIO, "1e", "a ratio"},
        {UNITS_NUMBER, "99999999999999999999999999999999999999999999", "a whole number"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *why = "";
        int64_t value = 0;

        if (units_parse(rows[i].kind, rows[i].text, &value, &why))
            fail_msg("'%s' was read as %" G_GINT64_FORMAT, rows[i].text, value);
        if (!g_str_has_prefix(why, rows[i].says))
            fail_msg("'%s' says '%s'", rows[i].text, why);
    }
}

static void prints_the_shortest_exact(void **state)
{
    static const struct {
        enum units_kind kind;
        int64_t value;
        const char *text;
    } rows[] = {
        {UNITS_NUMBER, -12, "-12"},
        {UNITS_TIME, 0, "0ps"},
        {UNITS_TIME, 1500000, "1.5us"},
        {UNITS_TIME, 1001, "1001ps"},
        {UNITS_TIME, INT64_C(1000000000000), "1s"},
        {UNITS_BYTES, 0, "0B"},
        {UNITS_BYTES, 4096, "4KiB"},
        {UNITS_BYTES, 64000, "64kB"},
        {UNITS_BYTES, 16777216, "16MiB"},
        {UNITS_BYTES, 4097, "4097B"},
        {UNITS_RATE, INT64_C(400000000000), "400Gbps"},
        {UNITS_RATE, INT64_C(1600000000000), "1.6Tbps"},
        {UNITS_RATIO, UNITS_PPT / 1000, "0.001"},
        {UNITS_RATIO, UNITS_PPT, "1"},
        {UNITS_RATIO, 0, "0"},
        {UNITS_RATIO, 1, "0.000000000001"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = units_format(rows[i].kind, rows[i].value);

        assert_string_equal(text, rows[i].text);
    }
}

/* What is printed is read back, for values of every length and for round ones. */
static void every_value_survives_printing(void **state)
{
    struct random_stream stream = random_stream(1, RANDOM_WORKLOAD, 0);

    (void)state;
    for (int i = 0; i < 100000; i++) {
        enum units_kind kind = (enum units_kind)(i % 5);
        int64_t value = (int64_t)(random_next(&stream) >> (1 + random_below(&stream, 62)));
        const char *why = NULL;
        int64_t back = -1;

        for (uint64_t zeros = random_below(&stream, 7); zeros > 0 && value < INT64_MAX / 10;
             zeros--)
            value *= 10;
        g_autofree char *text = units_format(kind, value);
        if (!units_parse(kind, text, &back, &why) || back != value)
            fail_msg("%" G_GINT64_FORMAT " printed as '%s' came back as %" G_GINT64_FORMAT ": %s",
                     value, text, back, why ? why : "");
    }
}

static void displays_for_people(void **state)
{
    static const struct {
        enum units_kind kind;
        double value;
        const char *text;
    } rows[] = {
        {UNITS_BYTES, 16777216, "16 MiB"}, {UNITS_BYTES, 1405091, "1.34 MiB"},
        {UNITS_TIME, 12500000, "12.5 us"}, {UNITS_TIME, 3e15, "3000 s"},
        {UNITS_RATE, 4e11, "400 Gb/s"},    {UNITS_RATIO, 1e10, "1 %"},
        {UNITS_TIME, 123456, "123 ns"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = units_display(rows[i].kind, rows[i].value);

        assert_string_equal(text, rows[i].text);
    }
}

/* One byte is 80, 20, 10, 5 ps at 100G, 400G, 800G, 1.6T; rounded to the nearest elsewhere. */
static void transmission_times(void **state)
{
    (void)state;
    assert_int_equal(units_transmission_ps(1, INT64_C(100000000000)), 80);
    assert_int_equal(units_transmission_ps(1, INT64_C(400000000000)), 20);
    assert_int_equal(units_transmission_ps(1, INT64_C(800000000000)), 10);
    assert_int_equal(units_transmission_ps(1, INT64_C(1600000000000)), 5);
    assert_int_equal(units_transmission_ps(1, 3), INT64_C(2666666666667));
    assert_int_equal(units_transmission_ps(1, INT64_C(3000000000000)), 3);
    assert_int_equal(units_transmission_ps(0, 1), 0);
    assert_true(units_transmission_ps(INT64_C(3144000000), INT64_C(100000000000)) ==
                INT64_C(251520000000));
    assert_true(units_transmission_ps(INT64_C(1) << 60, INT64_C(8000000000000)) == INT64_C(1)
                                                                                       << 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_is_exact),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(prints_the_shortest_exact),
        cmocka_unit_test(every_value_survives_printing),
        cmocka_unit_test(displays_for_people),
        cmocka_unit_test(transmission_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
