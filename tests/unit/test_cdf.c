/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of workloads/cdf.c and poisson.c, and of the exponential draws below them. The files
 * people have are read where they are (WEFT_INPUTS, by default ../shared/inputs); their exact means
 * stand in inputs/flow_cdf/README.md.
 */
#include "tests/unit/test_workload_player.h"

#include "workloads/cdf.h"
#include <math.h>
#include <stdlib.h>

#define WEBSEARCH                                                                                  \
    "0 0;10000 0.15;20000 0.2;30000 0.3;50000 0.4;80000 0.53;200000 0.6;1000000 0.7;2000000 0.8;"  \
    "5000000 0.9;10000000 0.97;30000000 1"
#define WEBSEARCH_PERCENT                                                                          \
    "0 0\n10000 15\n20000 20 # a comment\n\n30000\t30\r\n50000 40\n80000 53\n200000 60\n"          \
    "1000000 70\n2000000 80\n5000000 90\n10000000 97\n30000000 100\n"

/* --- random.h: exponential draws -------------------------------------------------------------- */

static void logarithms_are_exact_to_2_to_minus_46(void **state)
{
    struct random_stream stream = random_stream(3, RANDOM_WORKLOAD, 9);

    (void)state;
    assert_int_equal(random_minus_log2(1), UINT64_C(64) << 48);
    assert_int_equal(random_minus_log2(UINT64_C(1) << 63), UINT64_C(1) << 48);
    for (int i = 0; i < 10000; i++) {
        uint64_t x = random_next(&stream) >> random_below(&stream, 60) | 1;
        long double expected = 64 - log2l((long double)x);
        long double got = (long double)random_minus_log2(x) / 281474976710656.0L;

        assert_true(fabsl(got - expected) < 1.5e-14L);
    }
}

/* Mean 1 and variance 1; of 10^6 draws, sd of the mean 0.001 and of the variance 0.0028. */
static void exponential_draws_have_mean_and_variance_one(void **state)
{
    struct random_stream stream = random_stream(1, RANDOM_WORKLOAD, 77);
    double sum = 0, squares = 0;
    const int n = 1000000;

    (void)state;
    for (int i = 0; i < n; i++) {
        double x = (double)random_exponential(&stream) / 281474976710656.0;

        assert_true(x >= 0 && x < 44.5);
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / n - 1) < 0.003);
    assert_true(fabs(squares / n - sum / n * sum / n - 1) < 0.0085);
}

/* --- cdf.c ------------------------------------------------------------------------------------ */

static double mean_of(const struct cdf *cdf)
{
    return (double)cdf_mean(cdf) / (double)CDF_MEAN_UNIT;
}

static void both_conventions_give_the_same_draws(void **state)
{
    struct random_stream a = random_stream(1, RANDOM_WORKLOAD, 1), b = a;
    struct cdf fraction, percent;
    double sum = 0;

    (void)state;
    assert_true(cdf_parse(&fraction, "a", WEBSEARCH, 1, NULL));
    assert_true(cdf_parse(&percent, "b", WEBSEARCH_PERCENT, 1, NULL));
    assert_true(percent.percent && !fraction.percent);
    assert_true(cdf_mean(&fraction) == (unsigned __int128)1711250 * (uint64_t)CDF_MEAN_UNIT);
    assert_true(cdf_mean(&fraction) == cdf_mean(&percent));
    for (int i = 0; i < 100000; i++) {
        int64_t bytes = cdf_draw(&fraction, &a);

        assert_int_equal(bytes, cdf_draw(&percent, &b));
        assert_in_range(bytes, 1, 30000000);
        sum += (double)bytes;
    }
    assert_true(fabs(sum / 100000 - 1711250) < 3 * 3.8e6 / 316); /* sd of a size: 3.8 MB */
    cdf_clear(&fraction);
    cdf_clear(&percent);
}

/* 40 % of draws are exactly 1000: as the first point, or as two points of one size. */
static void a_point_mass_is_exact(void **state)
{
    static const char *const laws[] = {"1000 0.4; 2000 1", "0 0; 1000 0.2; 1000 0.6; 2000 1"};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(laws); i++) {
        struct random_stream stream = random_stream(i, RANDOM_WORKLOAD, 2);
        struct cdf cdf;
        int n = 0;

        assert_true(cdf_parse(&cdf, "law", laws[i], 1, NULL));
        for (int k = 0; k < 100000; k++)
            n += cdf_draw(&cdf, &stream) == 1000;
        /* beside the mass, at most 0.1 % round to 1000; sigma is 155 */
        assert_in_range(n, 40000 - 465, 40000 + 465 + 100);
        cdf_clear(&cdf);
    }
}

static void units_scale_sizes(void **state)
{
    struct cdf cdf;

    (void)state;
    assert_true(cdf_parse(&cdf, "law", "0 0; 10 0.5; 30 1", 1000, NULL));
    assert_true(mean_of(&cdf) == 12500);
    cdf_clear(&cdf);
    assert_true(cdf_parse(&cdf, "law", "10KB 0; 30KiB 0 1", 1, NULL)); /* an index between */
    assert_true(mean_of(&cdf) == (10000 + 30720) / 2.0);
    cdf_clear(&cdf);
    cdf_constant(&cdf, 5000);
    assert_true(mean_of(&cdf) == 5000);
    cdf_clear(&cdf);
}

static void broken_laws_are_refused_with_their_line(void **state)
{
    static const char *const wrong[][2] = {
        {"0 0\n1000 50\n2000 90\n", "law:3: the last share is 90: 1, or 100"},
        {"0 0\n1000 0.5\n2000 0.9\n", "law:3: the last share is 0.9: 1, or 100"},
        {"0 0\n1000 0.5\n2000 1.5\n", "law:3: the last share is 1.5"},
        {"0 0\n1000 0.5\n1500 0.4\n2000 1\n", "law:3: not monotone: share 0.4 after 0.5"},
        {"0 0\n2000 0.5\n1500 0.7\n3000 1\n", "law:3: not monotone: size 1500 after 2000"},
        {"0 0\n-5 1\n", "law:2: size '-5'"},
        {"0 0\n5 -1\n7 1\n", "law:2: share '-1'"},
        {"0 0\n5 x\n7 1\n", "law:2: share 'x'"},
        {"0 0\n1000\n", "law:2: '1000': a point is a size and the share"},
        {"0 0 0 0\n", "a point is a size and the share"},
        {"# nothing\n", "there is no point"},
        {"0 0\n2TiB 1\n", "at most 1 TiB"}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        struct cdf cdf;

        assert_false(cdf_parse(&cdf, "law", wrong[i][0], 1, &error));
        if (!strstr(error->message, wrong[i][1]))
            fail_msg("'%s' is not in '%s'", wrong[i][1], error->message);
    }
}

static const char *inputs(void)
{
    const char *folder = g_getenv("WEFT_INPUTS");

    return folder && *folder ? folder : "../shared/inputs";
}

static void the_files_people_have_give_their_means(void **state)
{
    static const struct {
        const char *file;
        double mean;
    } files[] = {{"hpcc_WebSearch_distribution.txt", 1711250.0},
                 {"clove_DCTCP_CDF.txt", 1711250.0},
                 {"conweave_DCTCP_CDF.txt", 1711250.0},
                 {"hpcc_AliStorage2019.txt", 40869.8},
                 {"hpcc_GoogleRPC2008.txt", 2891.6},
                 {"conweave_search.txt", 1710004.4},
                 {"conweave_mining.txt", 7487883.7},
                 {"conweave_webserver.txt", 66121.0},
                 {"conweave_FbHdp2015.txt", 121848.9}};
    guint n = 0;

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(inputs(), "flow_cdf", files[i].file, NULL);
        g_autoptr(GError) error = NULL;
        struct cdf cdf;

        if (!g_file_test(path, G_FILE_TEST_EXISTS))
            continue;
        if (!cdf_read(&cdf, path, 1, &error))
            fail_msg("%s", error->message);
        if (fabs(mean_of(&cdf) - files[i].mean) > 0.06)
            fail_msg("%s: mean %.3f, not %.1f", path, mean_of(&cdf), files[i].mean);
        cdf_clear(&cdf);
        n++;
    }
    if (n == 0)
        printf("# skip: no flow_cdf files in %s; laws of our own above stand for them\n", inputs());
}

static void the_broken_file_is_refused(void **state)
{
    g_autofree char *path =
        g_build_filename(inputs(), "negative", "cdf_not_reaching_one.txt", NULL);
    g_autoptr(GError) error = NULL;
    struct cdf cdf;

    (void)state;
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        printf("# skip: no %s\n", path);
        return;
    }
    assert_false(cdf_read(&cdf, path, 1, &error));
    assert_non_null(strstr(error->message, ":3: the last share is 90"));
}

/* --- poisson.c -------------------------------------------------------------------------------- */

static void check_same_flows(const struct trial *a, const struct trial *b)
{
    assert_true(a->ok && b->ok);
    assert_int_equal(a->schedule.n_ops, b->schedule.n_ops);
    for (uint64_t i = 0; i < a->schedule.n_ops; i++) {
        struct schedule_op x = trial_op(a, i), y = trial_op(b, i);

        assert_true(x.rank == y.rank && x.peer == y.peer && x.bytes == y.bytes &&
                    x.start_ps == y.start_ps);
    }
}

static void percent_and_fraction_give_the_same_flows(void **state)
{
    struct trial a, b;

    (void)state;
    trial_init(&a, "poisson", "duration=20ms|cdf=" WEBSEARCH, 32, 5);
    trial_init(&b, "poisson",
               "duration=20ms|cdf=0 0;10000 15;20000 20;30000 30;50000 40;80000 53;200000 60;"
               "1000000 70;2000000 80;5000000 90;10000000 97;30000000 100",
               32, 5);
    check_same_flows(&a, &b);
    assert_true(a.schedule.n_ops > 4000);
    trial_clear(&a);
    trial_clear(&b);
}

/* 16 hosts at 400 Gb/s, load 0.5, 10 kB, 1 ms: 40,000 flows; sigma 200. */
static void arrivals_are_poisson_and_uniform(void **state)
{
    uint32_t n_pairs[16][16] = {{0}};
    struct trial trial;
    int64_t before = 0;
    double gaps = 0, squares = 0, n;

    (void)state;
    trial_init(&trial, "poisson", "load=0.5|bytes=10kB|duration=1ms|start=7us", 16, 3);
    assert_true(trial.ok);
    n = (double)trial.schedule.n_ops;
    assert_true(fabs(n - 40000) < 600);
    for (uint64_t i = 0; i < trial.schedule.n_ops; i++) {
        struct schedule_op op = trial_op(&trial, i);
        double gap = (double)(op.start_ps - (i ? before : 7000000));

        assert_true(op.start_ps >= (i ? before : 7000000) && op.start_ps < 1007000000);
        assert_int_not_equal(op.rank, op.peer);
        n_pairs[op.rank][op.peer]++;
        gaps += gap;
        squares += gap * gap;
        before = op.start_ps;
    }
    /* the sum of Poisson processes is one: intervals have variance mean^2 */
    assert_true(fabs(squares / n / (gaps / n * gaps / n) - 2) < 0.07);
    for (int a = 0; a < 16; a++) /* 166.7 a pair; 4.5 sigma */
        for (int b = 0; b < 16; b++)
            assert_true(a == b || fabs(n_pairs[a][b] - 166.7) < 58);
    assert_true(trial_notes(&trial, "realised load 5") || trial_notes(&trial, "realised load 49"));
    trial_clear(&trial);
}

/* A host's flows depend on its own streams: others may come and go. */
static void hosts_draw_for_themselves(void **state)
{
    struct trial all, some;
    uint64_t k = 0;

    (void)state;
    trial_init(&all, "poisson", "bytes=10kB|duration=100us", 16, 3);
    trial_init(&some, "poisson", "bytes=10kB|duration=100us|ranks=3,5", 16, 3);
    for (uint64_t i = 0; i < some.schedule.n_ops; i++) {
        struct schedule_op op = trial_op(&some, i), other;

        assert_int_equal(op.peer, 1 - op.rank);
        do
            other = trial_op(&all, k++);
        while (other.rank != (op.rank ? 5 : 3));
        assert_int_equal(op.start_ps, other.start_ps);
    }
    assert_true(some.schedule.n_ops > 20);
    trial_clear(&all);
    trial_clear(&some);
}

static void impossible_arrivals_are_refused(void **state)
{
    (void)state;
    assert_refused("poisson", "cdf=0 0;1000 0.9", 4, "cdf:2: the last share is 0.9");
    assert_refused("poisson", "cdf=0 0;0 1", 4, "0 bytes");
    assert_refused("poisson", "cdf=0 0;9 1|cdf_file=x", 4, "both given");
    assert_refused("poisson", "cdf_file=/nonexistent/file", 4, "/nonexistent/file");
    assert_refused("poisson", "ranks=3", 4, "at least 2 hosts");
    assert_refused("poisson", "bytes=1B|duration=1s", 4, "more than 50000000 flows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms_are_exact_to_2_to_minus_46),
        cmocka_unit_test(exponential_draws_have_mean_and_variance_one),
        cmocka_unit_test(both_conventions_give_the_same_draws),
        cmocka_unit_test(a_point_mass_is_exact),
        cmocka_unit_test(units_scale_sizes),
        cmocka_unit_test(broken_laws_are_refused_with_their_line),
        cmocka_unit_test(the_files_people_have_give_their_means),
        cmocka_unit_test(the_broken_file_is_refused),
        cmocka_unit_test(percent_and_fraction_give_the_same_flows),
        cmocka_unit_test(arrivals_are_poisson_and_uniform),
        cmocka_unit_test(hosts_draw_for_themselves),
        cmocka_unit_test(impossible_arrivals_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
