/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/core/fault.c, in its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/fault.h"
#include "tests/unit/scratch.h"
#include <string.h>

#define RATE INT64_C(100000000000)
#define END  INT64_C(1000000)

/*
 * Two planes; in each a leaf with two hosts and a spine: nodes 0 and 1, then leaf 2, spine 3 and
 * leaf 4, spine 5; links 0 and 1 to hosts and 2 up, then 3, 4 and 5.
 */
static void build(struct graph *graph)
{
    graph_init(graph);
    graph_add_host(graph);
    graph_add_host(graph);
    for (uint16_t plane = 0; plane < 2; plane++) {
        uint32_t leaf = graph_add_switch(graph, 1, plane, 0);
        uint32_t spine = graph_add_switch(graph, 2, plane, 0);

        for (uint32_t host = 0; host < 2; host++)
            graph_add_link(graph, host, leaf, RATE, 1000, 1, plane);
        graph_add_link(graph, leaf, spine, RATE, 1000, 2, plane);
    }
    assert_true(graph_finish(graph, NULL));
}

static void add(struct fault_list *list, const char *object, const char *change, int64_t at_ps,
                int64_t until_ps)
{
    g_autofree char *name = g_strdup_printf("f%u", list->faults->len);
    struct fault fault = {.name = name, .at_ps = at_ps, .until_ps = until_ps};
    const char *why = NULL;

    assert_true(fault_parse_object(object, &fault.object, &why));
    assert_true(fault_parse_change(change, &fault, &why));
    fault_list_add(list, &fault);
}

static void texts(void **state)
{
    static const char *const objects[] = {"link:12",      "link:3-17",     "nic:5.0",
                                          "plane:2",      "switch:7",      "switch:s06",
                                          "switch:2.0.6", "uplink:1.0.6.3"};
    static const char *const wrong[] = {
        "",       "12",       "link:",      "link:1-2-3",     "link:-1",
        "nic:5",  "nic:5.x",  "plane:1.2",  "switch:",        "switch:s",
        "host:1", "plane:1 ", "switch:1.2", "link:4294967295"};
    static const char *const changes[] = {"down", "up", "rate=100Gbps", "rate=0.5", "loss=0.01"};
    static const char *const bad[] = {"",         "Down",   "rate=",   "rate=0", "rate=0Gbps",
                                      "rate=1ms", "loss=2", "loss=-1", "loss",   "loss=1Gbps"};
    struct fault fault = {.until_ps = FAULT_NEVER};
    const char *why = NULL;

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(objects); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(changes); k++) {
            assert_true(fault_parse_object(objects[i], &fault.object, &why));
            assert_true(fault_parse_change(changes[k], &fault, &why));
            g_autofree char *what = fault_what(&fault);
            g_autofree char *expected = g_strdup_printf(
                "%s %s", strcmp(objects[i], "switch:s06") == 0 ? "switch:s6" : objects[i],
                changes[k]);

            assert_string_equal(what, expected);
        }
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        assert_false(fault_parse_object(wrong[i], &fault.object, &why));
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        assert_false(fault_parse_change(bad[i], &fault, &why));
    fault = (struct fault){.at_ps = 5000,
                           .until_ps = 9000,
                           .flap_period_ps = 1000,
                           .flap_time_ps = 10,
                           .flap_count = 3};
    g_autofree char *whole = fault_describe(&fault);
    assert_string_equal(whole, "link:0 down at 5ns until 9ns, for 10ps of every 1ns, 3 times");
}

static void checks(void **state)
{
    static const struct {
        struct fault fault;
        bool fine;
    } cases[] = {
        {{.until_ps = FAULT_NEVER}, true},
        {{.at_ps = 5, .until_ps = 6}, true},
        {{.at_ps = 5, .until_ps = 5}, false},
        {{.change = FAULT_UP, .until_ps = 5}, false},
        {{.until_ps = FAULT_NEVER, .flap_period_ps = 10, .flap_time_ps = 9}, true},
        {{.until_ps = FAULT_NEVER, .flap_period_ps = 10, .flap_time_ps = 10}, false},
        {{.until_ps = FAULT_NEVER, .flap_period_ps = 10}, false},
        {{.until_ps = FAULT_NEVER, .flap_time_ps = 10}, false},
        {{.until_ps = FAULT_NEVER, .flap_count = 10}, false},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;

        assert_int_equal(fault_check(&cases[i].fault, &error), cases[i].fine);
        assert_int_equal(error == NULL, cases[i].fine);
    }
}

static void files(void **state)
{
    static const char good[] = "time,object,change,until\n1us,plane:1,down,2us\n3us,link:0,up,\n";
    static const char *const wrong[][2] = {
        {"time,object\n", "change"},
        {"time,object,change\n1,link:0,down\n", "time"},
        {"time,object,change\n1us,link:x,down\n", ":2: column 'object': 'link:x': an object"},
        {"time,object,change\n1us,link:0,slow\n", ":2: column 'change': 'slow': a change"},
        {"time,object,change,until\n1us,link:0,down,1us\n", ":2: until: a time after"},
        {"time,object,change,until\n1us,link:0,up,2us\n", ":2: change = up has no end"},
        {"time,object,change\n-1us,link:0,down\n", ":2"},
    };
    struct fault_list list;

    (void)state;
    fault_list_init(&list);
    char *path = scratch_write("faults.csv", good, strlen(good));
    assert_true(fault_list_read(&list, path, NULL));
    assert_int_equal(list.faults->len, 2);
    assert_int_equal(fault_at(&list, 0)->until_ps, 2000000);
    assert_int_equal(fault_at(&list, 1)->until_ps, FAULT_NEVER);
    assert_true(g_str_has_suffix(fault_at(&list, 1)->name, "faults.csv:3"));
    g_free(path);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;

        path = scratch_write("faults.csv", wrong[i][0], strlen(wrong[i][0]));
        assert_false(fault_list_read(&list, path, &error));
        assert_non_null(strstr(error->message, wrong[i][1]));
        g_free(path);
    }
    path = g_build_filename(scratch_folder, "faults.csv", NULL);
    g_unlink(path);
    g_free(path);
    fault_list_clear(&list);
}

/* Mutated files are read, or refused with a reason; what is read resolves or is refused. */
static void odd_files(void **state)
{
    static const char text[] = "time,object,change,until\n1us,plane:1,down,2us\n"
                               "2us,nic:1.0,rate=10Gbps,\n3us,switch:2.0.0,loss=0.1,4us\n";
    struct random_stream stream = random_stream(1, RANDOM_WORKLOAD, 0);
    struct graph graph;
    uint32_t n_read = 0;

    (void)state;
    build(&graph);
    for (int i = 0; i < 2000; i++) {
        g_autofree char *copy = g_memdup2(text, sizeof text);
        size_t length = scratch_mutate(&stream, copy, sizeof text - 1, "0:.,-=\n\"x9\0", 12);
        g_autofree char *path = scratch_write("odd.csv", copy, length);
        g_autoptr(GError) error = NULL, unresolved = NULL;
        struct fault_list list;

        fault_list_init(&list);
        if (fault_list_read(&list, path, &error)) {
            GArray *steps = fault_list_resolve(&list, &graph, END, &unresolved);

            assert_int_equal(steps == NULL, unresolved != NULL);
            if (steps)
                g_array_unref(steps);
            n_read++;
        }
        fault_list_clear(&list);
        g_unlink(path);
    }
    assert_in_range(n_read, 200, 1800);
    graph_clear(&graph);
}

/* "time link change value; ..." */
static void check_steps(const struct fault_list *list, const char *expected)
{
    struct graph graph;
    GError *error = NULL;
    GString *text = g_string_new(NULL);

    build(&graph);
    GArray *steps = fault_list_resolve(list, &graph, END, &error);

    assert_null(error);
    for (guint i = 0; i < steps->len; i++) {
        const struct fault_step *step = &g_array_index(steps, struct fault_step, i);
        static const char *const names[] = {"down", "up", "rate", "loss"};

        g_string_append_printf(text, "%" G_GINT64_FORMAT " %u %s", step->time_ps, step->link,
                               names[step->change]);
        if (step->change >= FAULT_RATE)
            g_string_append_printf(text, " %" G_GINT64_FORMAT, step->value);
        g_string_append(text, "; ");
    }
    assert_string_equal(text->str, expected);
    g_string_free(text, TRUE);
    g_array_unref(steps);
    graph_clear(&graph);
}

static void objects_become_links(void **state)
{
    static const struct {
        const char *object, *expected;
    } cases[] = {
        {"link:4", "7 4 down; "},
        {"link:2-3", "7 2 down; "},
        {"link:3-2", "7 2 down; "},
        {"nic:1.1", "7 4 down; "},
        {"plane:1", "7 3 down; 7 4 down; 7 5 down; "},
        {"switch:3", "7 2 down; "},
        {"switch:s2", "7 3 down; 7 4 down; 7 5 down; "},
        {"switch:2.1.0", "7 5 down; "},
        {"uplink:1.1.0.0", "7 5 down; "},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fault_list list;

        fault_list_init(&list);
        add(&list, cases[i].object, "down", 7, FAULT_NEVER);
        check_steps(&list, cases[i].expected);
        fault_list_clear(&list);
    }
}

static void unknown_objects_are_named(void **state)
{
    static const char *const objects[] = {
        "link:6",         "link:0-1",       "nic:2.0",       "nic:0.2",      "plane:2",
        "switch:1",       "switch:6",       "switch:s4",     "switch:3.0.0", "switch:1.0.1",
        "uplink:1.0.0.1", "uplink:2.0.0.0", "uplink:1.0.1.0"};
    struct graph graph;

    (void)state;
    build(&graph);
    for (size_t i = 0; i < G_N_ELEMENTS(objects); i++) {
        struct fault_list list;
        g_autoptr(GError) error = NULL;

        fault_list_init(&list);
        add(&list, objects[i], "down", 7, FAULT_NEVER);
        assert_null(fault_list_resolve(&list, &graph, END, &error));
        assert_true(g_str_has_prefix(error->message, "f0: "));
        assert_non_null(strstr(error->message, objects[i]));
        fault_list_clear(&list);
    }
    graph_clear(&graph);
}

/* A link is down while anything that holds it is; what ends at an instant ends first. */
static void overlaps(void **state)
{
    struct fault_list list;

    (void)state;
    fault_list_init(&list);
    add(&list, "link:2", "down", 10, 30);
    add(&list, "switch:3", "down", 20, 50);
    add(&list, "plane:0", "down", 40, 60);
    add(&list, "nic:0.0", "down", 60, 70); /* link 0, at the instant at which the plane is back */
    check_steps(&list, "10 2 down; 40 0 down; 40 1 down; 60 0 up; 60 1 up; 60 2 up; 60 0 down; "
                       "70 0 up; ");
    fault_list_clear(&list);

    fault_list_init(&list);
    add(&list, "link:2", "up", 5, FAULT_NEVER); /* was up: nothing */
    add(&list, "link:2", "down", 10, FAULT_NEVER);
    add(&list, "link:2", "down", 11, FAULT_NEVER); /* is down: nothing */
    add(&list, "link:2", "up", 12, FAULT_NEVER);   /* once is enough */
    check_steps(&list, "10 2 down; 12 2 up; ");
    fault_list_clear(&list);
}

static void rates_and_losses(void **state)
{
    struct fault_list list;

    (void)state;
    fault_list_init(&list);
    add(&list, "link:2", "rate=50%", 10, 40);
    add(&list, "link:2", "rate=25Gbps", 20, FAULT_NEVER);
    add(&list, "link:2", "loss=0.01", 30, 50);
    add(&list, "link:2", "rate=100%", 60, FAULT_NEVER); /* has it already */
    check_steps(&list, "10 2 rate 50000000000; 20 2 rate 25000000000; 30 2 loss 10000000000; "
                       "40 2 rate 100000000000; 50 2 loss 0; ");
    fault_list_clear(&list);
}

static void flap(struct fault_list *list, int64_t until_ps, int64_t period_ps, int64_t count)
{
    add(list, "link:2", "down", 100, until_ps);

    struct fault *fault = &g_array_index(list->faults, struct fault, list->faults->len - 1);

    fault->flap_period_ps = period_ps;
    fault->flap_time_ps = 10;
    fault->flap_count = count;
}

static void flapping(void **state)
{
    struct fault_list list;
    struct graph graph;
    g_autoptr(GError) error = NULL;

    (void)state;
    fault_list_init(&list);
    flap(&list, FAULT_NEVER, 400000, 0); /* to the end of the run */
    check_steps(&list, "100 2 down; 110 2 up; 400100 2 down; 400110 2 up; 800100 2 down; 800110 2 "
                       "up; ");
    fault_list_clear(&list);
    fault_list_init(&list);
    flap(&list, FAULT_NEVER, 50, 2);
    check_steps(&list, "100 2 down; 110 2 up; 150 2 down; 160 2 up; ");
    fault_list_clear(&list);
    fault_list_init(&list);
    flap(&list, 155, 50, 0); /* the end cuts the second short */
    check_steps(&list, "100 2 down; 110 2 up; 150 2 down; 155 2 up; ");
    fault_list_clear(&list);

    fault_list_init(&list);
    flap(&list, FAULT_NEVER, 11, 0);
    build(&graph);
    assert_null(fault_list_resolve(&list, &graph, INT64_MAX, &error));
    assert_non_null(strstr(error->message, "f0: more than 4000000 changes"));
    graph_clear(&graph);
    fault_list_clear(&list);
}

static void after_the_end(void **state)
{
    struct fault_list list;

    (void)state;
    fault_list_init(&list);
    check_steps(&list, "");
    add(&list, "link:2", "down", END, FAULT_NEVER);
    add(&list, "link:3", "down", END + 1, FAULT_NEVER);
    add(&list, "link:4", "down", 1, END + 1);
    check_steps(&list, "1 4 down; 1000000 2 down; ");
    fault_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(checks),
        cmocka_unit_test(files),
        cmocka_unit_test(odd_files),
        cmocka_unit_test(objects_become_links),
        cmocka_unit_test(unknown_objects_are_named),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(rates_and_losses),
        cmocka_unit_test(flapping),
        cmocka_unit_test(after_the_end),
    };

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
