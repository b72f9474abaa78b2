/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of workloads/list_csv.c, in its order, and 3000 mutations of a valid file. */
#include "tests/unit/scratch.h"
#include "tests/unit/test_workload_player.h"
#include <unistd.h>

static void drop(char *path)
{
    g_unlink(path);
    g_free(path);
}

static void trial_of_text(struct trial *trial, const char *text, uint32_t n_hosts)
{
    char *path = scratch_write("list.csv", text, strlen(text));
    g_autofree char *keys = g_strconcat("file=", path, NULL);

    trial_init(trial, "list", keys, n_hosts, 1);
    drop(path);
}

static void assert_text_refused(const char *text, const char *part)
{
    char *path = scratch_write("list.csv", text, strlen(text));
    g_autofree char *keys = g_strconcat("file=", path, NULL);

    assert_refused("list", keys, 4, part);
    drop(path);
}

/* --- one message ------------------------------------------------------------------------------ */

static void fields_have_units(void **state)
{
    struct trial trial;

    (void)state;
    trial_of_text(&trial,
                  "src,dst,bytes,start,transport,stream,after,id\n"
                  "0,1,1MiB,0,,,,\n"
                  "2,1,64KB,5us,b,3,,x\n"
                  "3,0,5000000000,1.5ns,b,0,,y\n",
                  4);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ops, 3);
    assert_int_equal(trial_op(&trial, 0).bytes, 1 << 20);
    assert_int_equal(trial_op(&trial, 0).profile, 0);
    assert_int_equal(trial_op(&trial, 1).bytes, 64000);
    assert_int_equal(trial_op(&trial, 1).start_ps, 5000000);
    assert_int_equal(trial_op(&trial, 1).stream, 3);
    assert_int_equal(trial_op(&trial, 1).profile, 1);
    assert_string_equal(g_ptr_array_index(trial.schedule.profiles, 1), "b");
    assert_int_equal(trial_op(&trial, 2).bytes, INT64_C(5000000000));
    assert_int_equal(trial_op(&trial, 2).start_ps, 1500);
    assert_int_equal(trial_op(&trial, 2).profile, 1);
    assert_true(trial_notes(&trial, "list: 3 messages"));
    trial_clear(&trial);
}

static void wrong_fields_name_line_column_and_value(void **state)
{
    (void)state;
    assert_text_refused("src,dst,bytes\n0,1,1MiB\n0,4,1MiB\n", "list.csv:3: column dst, value '4'");
    assert_text_refused("src,dst,bytes\n0,1,12x\n", "list.csv:2: column bytes, value '12x'");
    assert_text_refused("src,dst,bytes\n0,1,0\n", "at least 1 byte");
    assert_text_refused("src,dst,bytes\n0,1,-5\n", "at least 1 byte");
    assert_text_refused("src,dst,bytes\n0,1,99999999999999999999\n", "too large");
    assert_text_refused("src,dst,bytes\n-1,1,5\n", "hosts 0 to 3");
    assert_text_refused("src,dst,bytes\n1,1,5\n", "another host");
    assert_text_refused("src,dst,bytes\na,1,5\n", "whole number");
    assert_text_refused("src,dst,bytes,start\n0,1,5,7\n", "with its unit");
    assert_text_refused("src,dst,bytes,start\n0,1,5,-7us\n", "0 or later");
    assert_text_refused("src,dst,bytes,stream\n0,1,5,4294967296\n", "0 to 4294967295");
    assert_text_refused("src,dst,bytes,id\n0,1,5,a\n0,1,5,a\n", "earlier message");
    assert_text_refused("src,dst,bytes,id\n0,1,5,\n0,1,5,0\n", "earlier message");
    assert_text_refused("src,dst,bytes,after\n0,1,5,z\n", "no message has this id");
}

/* --- from a file ------------------------------------------------------------------------------ */

static void columns_and_rows_in_any_order(void **state)
{
    struct trial trial;

    (void)state;
    trial_of_text(&trial,
                  "\xef\xbb\xbf"
                  "bytes, start ,dst,src\r\n5kB,9us,1,0\r\n\r\n6kB,1us,0,1",
                  2);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ops, 2);
    assert_int_equal(trial_op(&trial, 0).start_ps, 9000000);
    assert_int_equal(trial_op(&trial, 1).bytes, 6000);
    assert_int_equal(trial_op(&trial, 1).rank, 1);
    trial_clear(&trial);
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    assert_text_refused("", "header row is expected");
    assert_text_refused("src,dst,bytes\n", "no message");
    assert_text_refused("src,dst\n0,1\n", "no column 'bytes'");
    assert_text_refused("src,dst,bytse\n0,1,5\n", "is 'bytes' meant?");
    assert_text_refused("src,dst,bytes,bytes\n0,1,5,5\n", "twice");
    assert_text_refused("src,dst,bytes\n0,1\n", "list.csv:2: 2 fields");
    assert_text_refused("src,dst,bytes\n0,1,\"5\n", "no closing quote");
    assert_refused("list", "file=/nowhere/list.csv", 4, "/nowhere/list.csv");
}

/* --- from the scenario ------------------------------------------------------------------------ */

static void flows_are_written_in_the_scenario(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(&trial, "list", "flows=0>1 1MiB; 2->1  64KB start=5us transport=b stream=1; ", 4, 1);
    assert_true(trial.ok);
    assert_int_equal(trial.schedule.n_ops, 2);
    assert_int_equal(trial_op(&trial, 0).bytes, 1 << 20);
    assert_int_equal(trial_op(&trial, 1).rank, 2);
    assert_int_equal(trial_op(&trial, 1).peer, 1);
    assert_int_equal(trial_op(&trial, 1).start_ps, 5000000);
    assert_int_equal(trial_op(&trial, 1).stream, 1);
    trial_clear(&trial);
}

static void wrong_flows_are_refused(void **state)
{
    (void)state;
    assert_refused("list", "flows=0>1", 4, "message 1: bytes");
    assert_refused("list", "flows=0>1 5kB; 0>1 start=5us", 4, "message 2: bytes");
    assert_refused("list", "flows=0 1 5kB", 4, "SRC>DST BYTES");
    assert_refused("list", "flows=0>1 5kB 6kB", 4, "'6kB' is not understood");
    assert_refused("list", "flows=0>1 5kB begin=6us", 4, "is not understood");
    assert_refused("list", "flows=0>1 5kB start=6us start=7us", 4, "given twice");
    assert_refused("list", "flows=0>>1 5kB", 4, "message 1: dst");
    assert_refused("list", "flows=>1 5kB", 4, "message 1: src");
    assert_refused("list", "flows= ; ;", 4, "no message");
    assert_refused("list", "flows=0>1 5kB|file=x.csv", 4, "both given");
    assert_refused("list", "", 4, "neither file nor flows");
}

/* --- the schedule ----------------------------------------------------------------------------- */

static void a_message_starts_after_those_it_names(void **state)
{
    struct trial trial;
    struct player player;

    (void)state;
    trial_init(&trial, "list",
               "flows=0>1 1kB after=b,2 start=3us; 1>2 1kB id=b; 2>3 1kB; 3>0 1kB after=0", 4, 1);
    assert_true(trial.ok);
    assert_int_equal(trial_op(&trial, 0).start_ps, 3000000);
    player_init(&player, &trial.schedule);
    player_roots(&player);
    assert_true(!player.started[0] && player.started[1] && player.started[2] && !player.started[3]);
    player_complete(&player, 1);
    assert_false(player.started[0]);
    player_deliver(&player, 2); /* delivery is enough */
    assert_true(player.started[0] && !player.started[3]);
    player_complete(&player, 0);
    assert_true(player.started[3]);
    player_clear(&player);
    trial_clear(&trial);
}

static void after_in_a_file_may_name_later_rows(void **state)
{
    struct trial trial;

    (void)state;
    trial_of_text(&trial, "src,dst,bytes,after,id\n0,1,1kB,b;c,a\n0,2,1kB,,b\n0,3,1kB,b,c\n", 4);
    assert_true(trial.ok);
    assert_int_equal(trial_op(&trial, 0).n_needed, 2);
    assert_int_equal(trial_op(&trial, 1).n_needed, 0);
    assert_int_equal(trial_op(&trial, 2).n_needed, 1);
    trial_clear(&trial);
}

static void circles_are_refused(void **state)
{
    (void)state;
    assert_refused("list", "flows=0>1 1kB after=0", 4, "message 1: after, value '0': a circle");
    assert_refused("list", "flows=0>1 1kB; 1>2 1kB after=2; 2>3 1kB after=1", 4, "a circle");
}

static void starts_beyond_the_end_are_noted(void **state)
{
    struct trial trial;

    (void)state;
    trial_init(&trial, "list", "flows=0>1 1kB start=2s", 4, 1);
    assert_true(trial.ok && trial_notes(&trial, "beyond the end of the run"));
    trial_clear(&trial);
}

/* --- mutations -------------------------------------------------------------------------------- */

static void no_mutation_crashes(void **state)
{
    static const char valid[] = "src,dst,bytes,start,transport,stream,after,id\n"
                                "0,1,1MiB,0,,,,a\n2,1,64KB,5us,b,3,\"a;c\",b\n3,0,5,1.5ns,b,0,,c\n";
    static const char odd[] = "\",;\n\r\t -.0123456789eEkMGiBusn\xff";
    struct random_stream stream = random_stream(1, RANDOM_WORKLOAD, 1);
    uint32_t n_ok = 0;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        char text[sizeof valid];
        size_t length = sizeof valid - 1;
        struct trial trial;

        memcpy(text, valid, sizeof valid);
        length = scratch_mutate(&stream, text, length, odd, sizeof odd);

        char *path = scratch_write("list.csv", text, length);
        g_autofree char *keys = g_strconcat("file=", path, NULL);
        trial_init(&trial, "list", keys, 4, 1);
        n_ok += (uint32_t)trial.ok;
        trial_clear(&trial);
        drop(path);
    }
    assert_in_range(n_ok, 100, 2900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_have_units),
        cmocka_unit_test(wrong_fields_name_line_column_and_value),
        cmocka_unit_test(columns_and_rows_in_any_order),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(flows_are_written_in_the_scenario),
        cmocka_unit_test(wrong_flows_are_refused),
        cmocka_unit_test(a_message_starts_after_those_it_names),
        cmocka_unit_test(after_in_a_file_may_name_later_rows),
        cmocka_unit_test(circles_are_refused),
        cmocka_unit_test(starts_beyond_the_end_are_noted),
        cmocka_unit_test(no_mutation_crashes),
    };

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
