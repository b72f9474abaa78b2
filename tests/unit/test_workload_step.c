/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of workloads/hccl_step.c, hccl_calls.c and hccl_config.c. */
#include "tests/unit/test_workload_player.h"

/* Operations of a kind. */
static uint64_t count(const struct trial *trial, enum schedule_kind kind)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < trial->schedule.n_ops; i++)
        n += trial_op(trial, i).kind == kind;
    return n;
}

static void items_become_operations_of_every_rank(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(
        &trial, "step",
        "program=gemm 64x32x16 bf16 x3 id=a; compute 5us; allreduce 4KiB x2 stream=1 after=a|"
        "steps=2",
        4, 1);
    assert_true(trial.ok);
    assert_int_equal(count(&trial, SCHEDULE_GEMM), 2 * 3 * 4);
    assert_int_equal(count(&trial, SCHEDULE_COMPUTE), 2 * 4);
    assert_int_equal(count(&trial, SCHEDULE_ENQUEUE), 2 * 2 * 4);
    assert_int_equal(trial.schedule.gemms->len, 1);
    assert_int_equal(trial.schedule.groups->len, 2 * 3);
    assert_int_equal(schedule_group(&trial.schedule, 2)->n_calls, 2);
    uint64_t n_ends = 0;

    for (uint64_t i = 0; i < trial.schedule.n_ops; i++)
        n_ends += trial_op(&trial, i).flags & SCHEDULE_ENDS_STEP ? 1 : 0;
    assert_int_equal(n_ends, 2 * 4);
    trial_clear(&trial);
}

static void fused_calls_need_no_host(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(&trial, "step", "program=compute 1us id=c; allreduce 4KiB after=c start=fused", 3,
               1);
    assert_true(trial.ok);
    assert_int_equal(count(&trial, SCHEDULE_ENQUEUE), 0);
    assert_int_equal(count(&trial, SCHEDULE_DISPATCH), 0);
    uint64_t n_fused = 0;

    for (uint64_t i = 0; i < trial.schedule.n_ops; i++)
        n_fused += trial_op(&trial, i).flags & SCHEDULE_FUSED ? 1 : 0;
    assert_int_equal(n_fused, 3 * 2); /* first WRITEs of the exchange; the others follow a sum */
    trial_clear(&trial);
}

/* Five quantiles of the law between 1 B and 10^10 B: 10^(1, 3, 5, 7, 9), less what integers lose.
 */
static void ranges_are_quantiles_of_a_law(void **state)
{
    struct trial trial;
    int64_t sum;

    (void)state;
    trial_init(&trial, "step",
               "program=alltoallv 1B-10GB x5|skew=0|chunk=1GB|slice=1GB|direct_limit=0B", 2, 1);
    assert_true(trial.ok);
    sum = schedule_group(&trial.schedule, 0)->bytes;
    assert_true(sum > INT64_C(1010101010) * 999 / 1000 && sum <= INT64_C(1010101010));
    trial_clear(&trial);
}

static void bad_programs_are_refused(void **state)
{
    (void)state;
    assert_refused("step", "program=;", 4, "at least one item");
    assert_refused("step", "program=gemm 64x64 bf16", 4, "MxNxK is expected");
    assert_refused("step", "program=gemm 64x64x64 int4", 4, "a type is expected");
    assert_refused("step", "program=compute", 4, "a time above 0");
    assert_refused("step", "program=allreduce", 4, "a size above 0");
    assert_refused("step", "program=allreduce 1KB-1MB", 4, "a range of sizes is for alltoallv");
    assert_refused("step", "program=reduce 1KB", 4, "gemm, compute, alltoallv or one of");
    assert_refused("step", "program=allreduce 1KB stream=8", 4, "stream=0 to 7");
    assert_refused("step", "program=allreduce 1KB after=x", 4, "no item before this one");
    assert_refused("step", "program=allreduce 1KB|ranks=2", 4, "at least 2 ranks");
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    assert_refused("collective", "begin=4KiB|end=1KiB", 4, "below begin");
    assert_refused("collective", "collective=broadcast|root=4", 4, "there are 4 ranks");
    assert_refused("collective", "algorithm=recursive_doubling", 3, "a power of two");
    assert_refused("collective", "networks=scale_out", 4, "no scale-out network");
    assert_refused("collective", "omit_set=100000|warmup=0", 4, "has fewer SETs");
}

/* begin, end, factor: sizes; groups as nccl-tests mean them. */
static void sizes_are_those_of_nccl_tests(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(&trial, "collective",
               "collective=allgather|begin=1KiB|end=10KiB|factor=2|iterations=3|warmup=1", 4, 1);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.groups->len, 4); /* 1, 2, 4, 8 KiB */
    for (uint32_t i = 0; i < 4; i++) {
        const struct schedule_group *group = schedule_group(&trial.schedule, i);

        assert_int_equal(group->bytes, 1024 << i);
        assert_int_equal(group->n_calls, 3);
        assert_int_equal(group->factor_n, 3);
        assert_int_equal(group->factor_d, 4);
        assert_int_equal(group->element_bytes, 4);
    }
    assert_int_equal(count(&trial, SCHEDULE_ENQUEUE), 4 * 4 * 4);
    trial_clear(&trial);
    trial_init(&trial, "collective", "begin=1KiB|iterations=5|warmup=0|compile=whole", 4, 1);
    assert_int_equal(count(&trial, SCHEDULE_ENQUEUE), 4);
    trial_clear(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_become_operations_of_every_rank),
        cmocka_unit_test(fused_calls_need_no_host),
        cmocka_unit_test(ranges_are_quantiles_of_a_law),
        cmocka_unit_test(bad_programs_are_refused),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(sizes_are_those_of_nccl_tests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
