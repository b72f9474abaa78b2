/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/units.h"
#include <ctype.h>
#include <glib.h>
#include <string.h>

/* A unit is worth numerator / denominator of the kept unit; largest first, for printing. */
struct unit {
    const char *name;
    int64_t worth;
    bool printed;
};

static const struct unit time_units[] = {{"s", INT64_C(1000000000000), true},
                                         {"ms", 1000000000, true},
                                         {"us", 1000000, true},
                                         {"ns", 1000, true},
                                         {"ps", 1, true},
                                         {NULL, 0, false}};
static const struct unit byte_units[] = {{"TiB", INT64_C(1) << 40, true},
                                         {"TB", INT64_C(1000000000000), true},
                                         {"GiB", 1 << 30, true},
                                         {"GB", 1000000000, true},
                                         {"MiB", 1 << 20, true},
                                         {"MB", 1000000, true},
                                         {"KiB", 1 << 10, true},
                                         {"KB", 1000, false},
                                         {"kB", 1000, true},
                                         {"B", 1, true},
                                         {"", 1, false},
                                         {NULL, 0, false}};
static const struct unit rate_units[] = {{"TBps", INT64_C(8000000000000), false},
                                         {"Tbps", INT64_C(1000000000000), true},
                                         {"GBps", INT64_C(8000000000), false},
                                         {"Gbps", 1000000000, true},
                                         {"Gb/s", 1000000000, false},
                                         {"GB/s", INT64_C(8000000000), false},
                                         {"MBps", 8000000, false},
                                         {"Mbps", 1000000, true},
                                         {"Mb/s", 1000000, false},
                                         {"MB/s", 8000000, false},
                                         {"kBps", 8000, false},
                                         {"kbps", 1000, true},
                                         {"Bps", 8, false},
                                         {"bps", 1, true},
                                         {"TB/s", INT64_C(8000000000000), false},
                                         {"Tb/s", INT64_C(1000000000000), false},
                                         {"GiB/s", INT64_C(8) << 30, false},
                                         {"Gib/s", 1 << 30, false},
                                         {"MiB/s", 8 << 20, false},
                                         {"Mib/s", 1 << 20, false},
                                         {"KiB/s", 8 << 10, false},
                                         {"Kib/s", 1 << 10, false},
                                         {"KBps", 8000, false},
                                         {"KB/s", 8000, false},
                                         {"kB/s", 8000, false},
                                         {"Kbps", 1000, false},
                                         {"Kb/s", 1000, false},
                                         {"kb/s", 1000, false},
                                         {"B/s", 8, false},
                                         {"b/s", 1, false},
                                         {NULL, 0, false}};
static const struct unit ratio_units[] = {{"", UNITS_PPT, true},
                                          {"%", UNITS_PPT / 100, false},
                                          {"ppm", 1000000, false},
                                          {NULL, 0, false}};
static const struct unit number_units[] = {{"", 1, true}, {NULL, 0, false}};

struct kind_facts {
    const struct unit *units;
    const char *expected;
    const char *too_fine;
};

static const struct kind_facts kinds[] = {
    [UNITS_NUMBER] = {number_units, "a whole number is expected, such as 16",
                      "a whole number is expected, such as 16"},
    [UNITS_TIME] = {time_units, "a time with its unit is expected (ps ns us ms s), such as 1.5us",
                    "finer than one picosecond; write a whole number of ps"},
    [UNITS_BYTES] =
        {byte_units,
         "a size with its unit is expected (B kB MB GB TB KiB MiB GiB TiB), such as 4KiB",
         "not a whole number of bytes"},
    [UNITS_RATE] = {rate_units,
                    "a rate with its unit is expected (Gbps counts bits, GBps bytes), such as "
                    "400Gbps",
                    "not a whole number of bits per second"},
    [UNITS_RATIO] = {ratio_units, "a ratio is expected, such as 0.01, 1e-3 or 1%",
                     "finer than one in 10^12"},
};

/* Digits, at most one point, an optional exponent; sets mantissa and decimal exponent. */
static const char *scan_decimal(const char *text, unsigned __int128 *mantissa, int *exponent)
{
    const char *p = text;
    int n_digits = 0;

    *mantissa = 0;
    *exponent = 0;
    for (bool point = false; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (*mantissa > (unsigned __int128)UINT64_MAX * 1000)
            return NULL;
        *mantissa = *mantissa * 10 + (unsigned)(*p - '0');
        *exponent -= point;
        n_digits++;
    }
    if (n_digits == 0)
        return NULL;
    if ((*p == 'e' || *p == 'E') &&
        (isdigit((unsigned char)p[1]) ||
         ((p[1] == '-' || p[1] == '+') && isdigit((unsigned char)p[2])))) {
        char *end;
        gint64 power = g_ascii_strtoll(p + 1, &end, 10);

        if (power < -40 || power > 40)
            return NULL;
        *exponent += (int)power;
        p = end;
    }
    return p;
}

bool units_parse(enum units_kind kind, const char *text, int64_t *value, const char **why)
{
    const struct kind_facts *facts = &kinds[kind];
    unsigned __int128 number;
    int exponent;
    const char *rest;
    const struct unit *unit = facts->units;
    bool negative = *text == '-';

    *why = facts->expected;
    rest = scan_decimal(text + negative, &number, &exponent);
    if (!rest)
        return false;
    while (*rest == ' ')
        rest++;
    while (unit->name && strcmp(unit->name, rest) != 0)
        unit++;
    if (!unit->name)
        return false;
    number *= (unsigned __int128)(uint64_t)unit->worth;
    for (; exponent < 0; exponent++) {
        if (number % 10 != 0) {
            *why = facts->too_fine;
            return false;
        }
        number /= 10;
    }
    for (; exponent > 0 && number <= INT64_MAX; exponent--)
        number *= 10;
    if (number > INT64_MAX) {
        *why = "too large: the largest whole number kept is 9223372036854775807 base units";
        return false;
    }
    *value = negative ? -(int64_t)number : (int64_t)number;
    return true;
}

/* "value / worth" in at most `places` decimals, NULL if more would be needed. */
static char *exact_decimal(uint64_t value, uint64_t worth, int places)
{
    GString *text = g_string_new(NULL);
    uint64_t rest = value % worth;

    g_string_append_printf(text, "%" G_GUINT64_FORMAT, value / worth);
    if (rest)
        g_string_append_c(text, '.');
    for (; rest && places > 0; places--) {
        unsigned __int128 ten = (unsigned __int128)rest * 10;

        g_string_append_c(text, (char)('0' + (int)(ten / worth)));
        rest = (uint64_t)(ten % worth);
    }
    return g_string_free(text, rest != 0);
}

char *units_format(enum units_kind kind, int64_t value)
{
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    char *best = NULL;
    const char *name = "";

    for (const struct unit *unit = kinds[kind].units; unit->name; unit++) {
        if (!unit->printed ||
            (magnitude < (uint64_t)unit->worth && unit->worth != 1 && kind != UNITS_RATIO))
            continue;
        char *text = exact_decimal(magnitude, (uint64_t)unit->worth, kind == UNITS_RATIO ? 12 : 3);

        if (text && (!best || strlen(text) < strlen(best))) {
            g_free(best);
            best = text;
            name = unit->name;
        } else {
            g_free(text);
        }
    }
    char *result = g_strconcat(value < 0 ? "-" : "", best, name, NULL);

    g_free(best);
    return result;
}

char *units_display(enum units_kind kind, double value)
{
    static const char *const decimal[] = {"", "k", "M", "G", "T", "P"};
    static const char *const binary[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    static const char *const times[] = {"ps", "ns", "us", "ms", "s"};
    double step = kind == UNITS_BYTES ? 1024 : 1000;
    int top = kind == UNITS_TIME ? 4 : 5, i = 0;

    if (kind == UNITS_RATIO)
        return g_strdup_printf("%.3g %%", value / 1e10);
    for (; i < top && (value >= step || value <= -step); i++)
        value /= step;
    const char *name = kind == UNITS_BYTES ? binary[i] : kind == UNITS_TIME ? times[i] : decimal[i];
    int precision = value == (double)(int)value ? 0 : value >= 100 ? 0 : value >= 10 ? 1 : 2;

    return g_strdup_printf("%.*f %s%s", precision, value, name, kind == UNITS_RATE ? "b/s" : "");
}
