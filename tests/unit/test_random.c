/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/core/random.h, in its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/random.h"
#include <stdbool.h>
#include <string.h>

/*
 * Known answers: random_mix is the finaliser of SplitMix64, so mix(golden x i) is its output number
 * i from seed 0 (Vigna, splitmix64.c: e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f). The
 * rest freezes our own construction: every result in the repository depends on it.
 */
static void known_answers(void **state)
{
    struct random_stream stream = random_stream(1, RANDOM_LOSS, 7);

    (void)state;
    assert_true(random_mix(RANDOM_GOLDEN) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(random_mix(2 * RANDOM_GOLDEN) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(random_mix(3 * RANDOM_GOLDEN) == UINT64_C(0x06c45d188009454f));
    assert_true(stream.key == UINT64_C(0x9d57b0ece8abd72c));
    assert_true(random_next(&stream) == UINT64_C(0xa19f4eabc8644214));
    assert_true(random_next(&stream) == UINT64_C(0x7af4cc8d7f6472f8));
    assert_true(stream.index == 2);
}

/* A draw depends on its stream and its index in it, not on what was drawn elsewhere or before. */
static void a_draw_is_its_stream_and_index(void **state)
{
    struct random_stream a = random_stream(5, RANDOM_LOSS, 1);
    struct random_stream b = random_stream(5, RANDOM_LOSS, 2);
    uint64_t alone[100];

    (void)state;
    for (int i = 0; i < 100; i++)
        alone[i] = random_next(&a);
    a = random_stream(5, RANDOM_LOSS, 1);
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < i % 3; k++)
            random_next(&b);
        assert_true(random_next(&a) == alone[i]);
        assert_true(random_draw(a.key, (uint64_t)(99 - i)) == alone[99 - i]);
    }
}

/* Streams that differ in seed, purpose or object by one bit share half their bits, 6 sigma. */
static void streams_are_independent(void **state)
{
    static const struct {
        uint64_t seed, purpose, object;
    } keys[] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {0, 0, 0}, {1, 1, UINT64_C(1) << 63},
                {2, 1, 2}, {1, 2, 2}};
    enum { N_KEYS = sizeof keys / sizeof keys[0], N_DRAWS = 10000 };

    (void)state;
    for (int a = 0; a < N_KEYS; a++)
        for (int b = a; b < N_KEYS; b++)
            for (uint64_t lag = a == b; lag < 3; lag++) {
                uint64_t key_a = random_key(keys[a].seed, keys[a].purpose, keys[a].object);
                uint64_t key_b = random_key(keys[b].seed, keys[b].purpose, keys[b].object);
                int n_equal = 0;

                for (uint64_t i = 0; i < N_DRAWS; i++)
                    n_equal += __builtin_popcountll(
                        ~(random_draw(key_a, i) ^ random_draw(key_b, i + lag)));
                /* sigma = sqrt(640000) / 2 = 400 */
                assert_in_range(n_equal, 320000 - 2400, 320000 + 2400);
            }
}

/* Chi-square over 256 cells, top and bottom bytes: mean 255, sd 22.6; asked 6 sd. */
static void draws_are_uniform(void **state)
{
    (void)state;
    for (int shift = 0; shift <= 56; shift += 8) {
        struct random_stream stream = random_stream(3, RANDOM_ECMP, 0);
        int cells[256] = {0};
        double chi2 = 0;

        for (int i = 0; i < 256000; i++)
            cells[random_next(&stream) >> shift & 255]++;
        for (int i = 0; i < 256; i++)
            chi2 += (cells[i] - 1000) * (cells[i] - 1000) / 1000.0;
        assert_true(chi2 > 255 - 136 && chi2 < 255 + 136);
    }
}

static void below_is_in_range_and_uniform(void **state)
{
    struct random_stream stream = random_stream(4, RANDOM_ECMP, 0);
    int cells[10] = {0};
    double chi2 = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_true(random_below(&stream, 1) == 0);
        assert_true(random_below(&stream, UINT64_MAX) < UINT64_MAX);
    }
    for (int i = 0; i < 100000; i++)
        cells[random_below(&stream, 10)]++;
    for (int i = 0; i < 10; i++)
        chi2 += (cells[i] - 10000) * (cells[i] - 10000) / 10000.0;
    assert_true(chi2 < 9 + 6 * 4.25); /* 9 degrees of freedom, sd sqrt(18) */
}

/* floor(ppt x 2^64 / 10^12), exactly; 0 never, 1 always (but one value in 2^64). */
static void thresholds_are_exact(void **state)
{
    static const int64_t samples[] = {
        1, 7, 1000000000, INT64_C(10000000000), INT64_C(333333333333), INT64_C(999999999999)};

    (void)state;
    assert_true(random_threshold(0) == 0);
    assert_true(random_threshold(INT64_C(1000000000000)) == UINT64_MAX);
    assert_true(random_threshold(INT64_C(500000000000)) == UINT64_C(1) << 63);
    assert_true(random_threshold(INT64_C(250000000000)) == UINT64_C(1) << 62);
    assert_true(random_threshold(INT64_C(10000000000)) == UINT64_C(184467440737095516)); /* 1 % */
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        unsigned __int128 product =
            (unsigned __int128)random_threshold(samples[i]) * UINT64_C(1000000000000);
        unsigned __int128 wanted = (unsigned __int128)(uint64_t)samples[i] << 64;

        assert_true(product <= wanted && wanted - product < UINT64_C(1000000000000));
    }
}

/* 1 % of 1,000,000 draws: mean 10,000, sd 99.5; asked 4 sd. */
static void a_threshold_hits_its_rate(void **state)
{
    struct random_stream stream = random_stream(6, RANDOM_LOSS, 0);
    uint64_t threshold = random_threshold(INT64_C(10000000000));
    int n_hits = 0;

    (void)state;
    for (int i = 0; i < 1000000; i++)
        n_hits += random_next(&stream) < threshold;
    assert_in_range(n_hits, 10000 - 398, 10000 + 398);
}

static void shuffle_permutes_fairly(void **state)
{
    struct random_stream stream = random_stream(7, RANDOM_WORKLOAD, 0);
    int counts[4][4] = {{0}};
    uint32_t none[1];

    (void)state;
    random_shuffle(&stream, none, 0);
    for (int trial = 0; trial < 40000; trial++) {
        uint32_t values[4] = {0, 1, 2, 3}, seen = 0;

        random_shuffle(&stream, values, 4);
        for (int i = 0; i < 4; i++) {
            counts[i][values[i]]++;
            seen |= 1u << values[i];
        }
        assert_int_equal(seen, 15);
    }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            assert_in_range(counts[i][k], 10000 - 433, 10000 + 433); /* 5 sd of 86.6 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(a_draw_is_its_stream_and_index),
        cmocka_unit_test(streams_are_independent),
        cmocka_unit_test(draws_are_uniform),
        cmocka_unit_test(below_is_in_range_and_uniform),
        cmocka_unit_test(thresholds_are_exact),
        cmocka_unit_test(a_threshold_hits_its_rate),
        cmocka_unit_test(shuffle_permutes_fairly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
