/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of scenarios: key files, layers, bases, kinds, profiles, errors, writing back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/app/experiment.h"
#include "sim/app/keyfile.h"
#include "sim/app/scenario.h"
#include <glib/gstdio.h>
#include <string.h>

#define WHOLE "[topology]\nkind = star\nhosts = 4\n[workload]\nkind = incast\n"

/* --- a folder with files ---------------------------------------------------------------------- */

static int make_folder(void **state)
{
    *state = g_dir_make_tmp("weft-scenario-XXXXXX", NULL);
    return *state == NULL;
}

static int remove_folder(void **state)
{
    GDir *dir = g_dir_open(*state, 0, NULL);
    const char *name;

    while ((name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(*state, name, NULL);

        g_unlink(path);
    }
    g_dir_close(dir);
    g_rmdir(*state);
    g_free(*state);
    return 0;
}

static char *put(void **state, const char *name, const char *text)
{
    char *path = g_build_filename(*state, name, NULL);

    assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

/* Loads and resolves `text`; NULL with an error. */
static struct scenario *read_text(void **state, const char *text, GError **error)
{
    g_autofree char *path = put(state, "s.ini", text);
    struct scenario *scenario = scenario_new();

    if (scenario_load(scenario, path, error) && scenario_resolve(scenario, error))
        return scenario;
    scenario_free(scenario);
    return NULL;
}

static struct scenario *must_read(void **state, const char *text)
{
    GError *error = NULL;
    struct scenario *scenario = read_text(state, text, &error);

    if (error)
        fail_msg("%s", error->message);
    return scenario;
}

/* The text is refused, and the message is the path followed by `tail` up to its end or "...". */
static void refused(void **state, const char *text, const char *tail)
{
    g_autoptr(GError) error = NULL;
    struct scenario *scenario = read_text(state, text, &error);
    g_autofree char *path = g_build_filename(*state, "s.ini", NULL);
    g_autofree char *pattern = g_strconcat(path, tail, NULL);

    assert_null(scenario);
    assert_non_null(error);
    if (!g_pattern_match_simple(pattern, error->message))
        fail_msg("'%s' is not '%s'", error->message, pattern);
    assert_null(strchr(error->message, '\n'));
}

/* The value of a key in the written scenario. */
static char *value_of(const struct scenario *scenario, const char *group, const char *key)
{
    g_autofree char *text = scenario_text(scenario, NULL);
    g_autoptr(GKeyFile) file = g_key_file_new();

    assert_true(g_key_file_load_from_data(file, text, (gsize)-1, G_KEY_FILE_NONE, NULL));
    return g_key_file_get_value(file, group, key, NULL);
}

static void assert_value(const struct scenario *scenario, const char *group, const char *key,
                         const char *value)
{
    g_autofree char *got = value_of(scenario, group, key);

    if (g_strcmp0(got, value) != 0)
        fail_msg("[%s] %s is %s, not %s", group, key, got ? got : "(absent)",
                 value ? value : "(absent)");
}

static void set(struct scenario *scenario, const char *text)
{
    GError *error = NULL;

    if (!scenario_set(scenario, text, &error))
        fail_msg("%s", error->message);
}

static void resolve(struct scenario *scenario)
{
    GError *error = NULL;

    if (!scenario_resolve(scenario, &error))
        fail_msg("%s", error->message);
}

/* --- key files -------------------------------------------------------------------------------- */

static void lines_are_known(void **state)
{
    g_autofree char *path =
        put(state, "k.ini", "\xef\xbb\xbf# head\r\n\r\n[a b]\r\n x = 1 = 2 \r\n# n\n[c]\ny=\n");
    GError *error = NULL;
    GPtrArray *lines = keyfile_read(path, &error);
    static const struct keyfile_line expected[] = {
        {(char *)(uintptr_t) "a b", NULL, NULL, 3},
        {(char *)(uintptr_t) "a b", (char *)(uintptr_t) "x", (char *)(uintptr_t) "1 = 2", 4},
        {(char *)(uintptr_t) "c", NULL, NULL, 6},
        {(char *)(uintptr_t) "c", (char *)(uintptr_t) "y", (char *)(uintptr_t) "", 7}};

    assert_non_null(lines);
    assert_int_equal(lines->len, G_N_ELEMENTS(expected));
    for (guint i = 0; i < lines->len; i++) {
        const struct keyfile_line *line = g_ptr_array_index(lines, i);

        assert_string_equal(line->group, expected[i].group);
        assert_true(g_strcmp0(line->key, expected[i].key) == 0);
        assert_true(g_strcmp0(line->value, expected[i].value) == 0);
        assert_int_equal(line->line, expected[i].line);
    }
    g_ptr_array_unref(lines);
}

static void broken_lines_are_refused(void **state)
{
    refused(state, "[run]\nseed = 1\n\n[run]\nend = 1s\n", ":4: [run]: the group is repeated*1*");
    refused(state, "[run]\nseed = 1\nseed = 2\n", ":3: [run] seed: the key is repeated*line 2*");
    refused(state, "seed = 1\n[run]\n", ":1: 'seed = 1': the key stands before the first*");
    refused(state, "[run]\nseed\n", ":2: 'seed': 'key = value'*is expected");
    refused(state, "[run]\n= 1\n", ":2: '= 1': 'key = value'*");
    refused(state, "[run\n", ":1: '[run': a group is written*");
    refused(state, "[run] # x\n", ":1: *a group is written*");
    refused(state, "[]\n", ":1: *a group is written*");
    refused(state, "[run]\nseed[de] = 1\n", ":2: [run] seed[de]: a key has no brackets");
    refused(state, "[run]\n; seed = 1\n", ":2: [run] ; seed = 1: *no key '; seed'*");
}

static void files_that_cannot_be_read_are_named(void **state)
{
    struct scenario *scenario = scenario_new();
    GError *error = NULL;

    assert_false(scenario_load(scenario, *state, &error));
    assert_non_null(strstr(error->message, *state));
    assert_non_null(strstr(error->message, "folder"));
    g_clear_error(&error);
    assert_false(scenario_load(scenario, "no/such/file.ini", &error));
    assert_non_null(strstr(error->message, "no/such/file.ini"));
    g_clear_error(&error);
    scenario_free(scenario);
}

/* --- values ----------------------------------------------------------------------------------- */

static void values_are_typed(void **state)
{
    struct scenario *scenario = must_read(
        state, "[scenario]\ntitle = A test\n" WHOLE "[run]\nseed = 7\nend = 1.5ms\nflows = off\n"
               "[queue]\nkind = step\nlimit = 64KiB\n[loss]\nrate_per_link = 1%\n");

    assert_string_equal(scenario->title, "A test");
    assert_int_equal(scenario->run.seed, 7);
    assert_int_equal(scenario->run.end, INT64_C(1500000000));
    assert_int_equal(scenario->run.flows, 0);
    assert_int_equal(scenario->run.ports, 1);
    assert_string_equal(scenario->topology->name, "star");
    assert_int_equal(((const struct topology_common *)scenario->topology_config)->hosts, 4);
    assert_string_equal(scenario->workload->name, "incast");
    assert_int_equal(scenario->model.queue.limit, 65536);
    assert_int_equal(scenario->model.loss.rate_per_link, INT64_C(10000000000));
    assert_int_equal(scenario->profiles->len, 1);
    scenario_free(scenario);
}

static void titles_have_a_fallback(void **state)
{
    struct scenario *scenario = must_read(state, WHOLE);
    GError *error = NULL;

    assert_string_equal(scenario->title, "s");
    scenario_free(scenario);
    scenario = scenario_new();
    assert_true(scenario_choose(scenario, "topology", "star", &error));
    assert_true(scenario_choose(scenario, "workload", "incast", &error));
    resolve(scenario);
    assert_string_equal(scenario->title, "incast on star");
    scenario_free(scenario);
}

static void wrong_values_are_refused(void **state)
{
    refused(state, WHOLE "[run]\nend = 5\n", ":7: [run] end = 5: a time*");
    refused(state, WHOLE "[loss]\nrate_per_link = 2\n",
            ":7: [loss] rate_per_link = 2: out of range; 0 to 1 is possible");
    refused(state, WHOLE "[queue]\nkind = reed\n",
            ":7: [queue] kind = reed: one of *; did you mean 'red'*");
    refused(state, WHOLE "[run]\nseed = 1 # one\n", ":7: *a comment needs a line of its own*");
    refused(state, "[topology]\nkind = stra\n[workload]\nkind = incast\n",
            ":2: [topology] kind = stra: no topology is called so*star*");
    refused(state, WHOLE "[transport]\nname = rocev\n",
            ":7: [transport] name = rocev: no transport*did you mean 'rocev2'?");
}

static void unknown_names_are_refused(void **state)
{
    refused(state, WHOLE "[queu]\nlimit = 1KB\n",
            ":6: there is no group [queu]; did you mean [queue]?");
    refused(state, WHOLE "[xyzzy-plugh]\n", ":6: there is no group [xyzzy-plugh]; there are*");
    refused(state, WHOLE "[transport:]\n", ":6: there is no group*");
    refused(state, WHOLE "[queue]\nlimt = 1KB\n",
            ":7: [queue] limt = 1KB: [queue] has no key 'limt'; did you mean 'limit'?*");
    refused(state, WHOLE "[transport]\npaylod = 1KB\n",
            ":7: [transport] paylod = 1KB: *did you mean 'payload'?*");
    refused(state, "[topology]\nkind = star\nhost = 4\n[workload]\nkind = incast\n",
            ":3: [topology] host = 4: 'star' has no key 'host'; did you mean 'hosts'?*");
    refused(state, WHOLE "[scenario]\ntitel = x\n", ":7: *did you mean 'title'?*");
}

static void kinds_must_be_named(void **state)
{
    g_autoptr(GError) error = NULL;

    assert_null(read_text(state, "[topology]\nkind = star\n", &error));
    assert_non_null(strstr(error->message, "no workload"));
    g_clear_error(&error);
    assert_null(read_text(state, "[workload]\nkind = incast\n", &error));
    assert_non_null(strstr(error->message, "no topology"));
}

/* --- layers ----------------------------------------------------------------------------------- */

static void later_layers_win(void **state)
{
    g_autofree G_GNUC_UNUSED char *low = put(state, "low.ini", WHOLE "[run]\nseed = 1\nend = 1s\n");
    g_autofree G_GNUC_UNUSED char *middle =
        put(state, "middle.ini", "[scenario]\nbase = low.ini\n[run]\nseed = 2\n");
    struct scenario *scenario =
        must_read(state, "[scenario]\nbase = middle.ini\n[topology]\nhosts = 8\n");

    assert_value(scenario, "run", "seed", "2");
    assert_value(scenario, "run", "end", "1s");
    assert_value(scenario, "topology", "hosts", "8");
    set(scenario, "run.seed=3");
    set(scenario, "run.seed = 4 ");
    resolve(scenario);
    assert_value(scenario, "run", "seed", "4");
    scenario_free(scenario);
}

static void several_bases_are_piled_up(void **state)
{
    g_autofree G_GNUC_UNUSED char *a = put(state, "a.ini", WHOLE "[run]\nseed = 1\nend = 1s\n");
    g_autofree G_GNUC_UNUSED char *b = put(state, "b.ini", "[run]\nseed = 2\n");
    struct scenario *scenario = must_read(state, "[scenario]\nbase = a.ini; b.ini\n");

    assert_value(scenario, "run", "seed", "2");
    assert_value(scenario, "run", "end", "1s");
    scenario_free(scenario);
}

static void bases_must_exist_and_end(void **state)
{
    g_autofree G_GNUC_UNUSED char *a = put(state, "a.ini", "[scenario]\nbase = s.ini\n");

    refused(state, "[scenario]\nbase = none.ini\n",
            ":2: [scenario] base = none.ini: there is no file 'none.ini'*");
    refused(state, "[scenario]\nbase = s.ini\n", ":2: *a cycle*");
    g_autofree char *beside = g_strdup_printf("%s/a.ini", (char *)*state);
    g_autoptr(GError) error = NULL;
    assert_null(read_text(state, "[scenario]\nbase = a.ini\n", &error));
    assert_true(g_str_has_prefix(error->message, beside));
    assert_non_null(strstr(error->message, "a cycle"));
}

static void a_base_may_come_twice(void **state)
{
    g_autofree G_GNUC_UNUSED char *root = put(state, "root.ini", WHOLE);
    g_autofree G_GNUC_UNUSED char *a =
        put(state, "a.ini", "[scenario]\nbase = root.ini\n[run]\nseed = 2\n");
    g_autofree G_GNUC_UNUSED char *b =
        put(state, "b.ini", "[scenario]\nbase = root.ini\n[run]\nend = 2s\n");
    struct scenario *scenario = must_read(state, "[scenario]\nbase = a.ini; b.ini\n");

    assert_value(scenario, "run", "seed", "2");
    assert_value(scenario, "run", "end", "2s");
    scenario_free(scenario);
}

static void settings_are_checked(void **state)
{
    struct scenario *scenario = must_read(state, WHOLE);
    static const char *const wrong[][2] = {
        {"run.seed", "--set run.seed: group.key=value*"},
        {"seed=1", "--set seed=1: group.key is expected*"},
        {".seed=1", "--set .seed=1: group.key*"},
        {"run.=1", "--set run.=1: group.key*"},
        {"runn.seed=1", "--set runn.seed=1: there is no group*did you mean [run]?"},
        {"scenario.base=x", "--set scenario.base=x: a base is named in a file"},
        {"scenario.title=a\nb", "--set *: a value is one line*"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;

        assert_false(scenario_set(scenario, wrong[i][0], &error));
        if (!g_pattern_match_simple(wrong[i][1], error->message))
            fail_msg("'%s' is not '%s'", error->message, wrong[i][1]);
    }
    g_autoptr(GError) error = NULL;
    set(scenario, "run.sed=1");
    assert_false(scenario_resolve(scenario, &error));
    assert_true(g_str_has_prefix(error->message, "--set run.sed=1: "));
    assert_non_null(strstr(error->message, "'seed'"));
    scenario_free(scenario);
}

static void copies_share_and_differ(void **state)
{
    struct scenario *base = must_read(state, WHOLE), *a, *b;

    set(base, "run.seed=5");
    a = scenario_copy(base);
    b = scenario_copy(base);
    set(a, "run.seed=6");
    scenario_begin_layer(b);
    set(b, "run.end=3s");
    resolve(a);
    resolve(b);
    resolve(base);
    assert_value(base, "run", "seed", "5");
    assert_value(a, "run", "seed", "6");
    assert_value(b, "run", "seed", "5");
    assert_value(b, "run", "end", "3s");
    assert_value(a, "run", "end", "10s");
    scenario_free(base); /* what copies share outlives it */
    resolve(a);
    assert_value(a, "topology", "hosts", "4");
    scenario_free(a);
    scenario_free(b);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static void another_kind_drops_keys_from_below(void **state)
{
    struct scenario *scenario = must_read(
        state, "[topology]\nkind = clos\nhosts = 16\nhosts_per_leaf = 4\n"
               "[workload]\nkind = incast\n[transport]\nname = rocev2\nqueue_pairs = 4\n");

    set(scenario, "topology.kind=star");
    set(scenario, "transport.name=metaroce");
    resolve(scenario);
    assert_string_equal(scenario->topology->name, "star");
    assert_value(scenario, "topology", "hosts", "16"); /* both have it */
    assert_value(scenario, "topology", "hosts_per_leaf", NULL);
    assert_value(scenario, "transport", "queue_pairs", NULL);
    scenario_free(scenario);
}

static void keys_of_another_kind_are_refused_beside_and_above(void **state)
{
    struct scenario *scenario;
    GError *error = NULL;

    refused(state, "[topology]\nkind = star\nhosts_per_leaf = 4\n[workload]\nkind = incast\n",
            ":3: [topology] hosts_per_leaf = 4: 'star' has no key*");
    scenario = must_read(state, WHOLE);
    set(scenario, "topology.hosts_per_leaf=4");
    set(scenario, "topology.kind=star"); /* the same layer, whatever the order */
    assert_false(scenario_resolve(scenario, &error));
    assert_true(g_str_has_prefix(error->message, "--set topology.hosts_per_leaf=4: 'star'"));
    g_clear_error(&error);
    scenario_free(scenario);
}

static void misspelt_keys_below_are_refused_too(void **state)
{
    struct scenario *scenario = scenario_new();
    g_autofree char *path = put(state, "s.ini",
                                "[topology]\nkind = clos\nhosts_pr_leaf = 4\n"
                                "[workload]\nkind = incast\n");
    g_autoptr(GError) error = NULL;

    assert_true(scenario_load(scenario, path, &error));
    set(scenario, "topology.kind=star");
    assert_false(scenario_resolve(scenario, &error));
    assert_non_null(strstr(error->message, "s.ini:3: [topology] hosts_pr_leaf"));
    scenario_free(scenario);
}

static void names_and_files_are_chosen_alike(void **state)
{
    g_autofree char *fragment = put(state, "f.ini", "[topology]\nkind = star\nhosts = 5\n");
    g_autofree char *csv = put(state, "w.csv", "src,dst,bytes\n0,1,1000\n");
    g_autofree char *matrix = put(state, "w.cm", "Nodes 2\nConnections 0\n");
    g_autofree char *plain = put(state, "matrix", "Nodes 2\nConnections 0\n");
    struct scenario *scenario = must_read(state, WHOLE);
    g_autoptr(GError) error = NULL;

    assert_true(scenario_choose(scenario, "topology", fragment, &error));
    assert_true(scenario_choose(scenario, "workload", csv, &error));
    resolve(scenario);
    assert_value(scenario, "topology", "hosts", "5");
    assert_string_equal(scenario->workload->name, "list");
    assert_value(scenario, "workload", "file", csv);
    assert_true(scenario_choose(scenario, "workload", matrix, &error));
    resolve(scenario);
    assert_string_equal(scenario->workload->name, "htsim");
    assert_true(scenario_choose(scenario, "workload", plain, &error));
    resolve(scenario);
    assert_value(scenario, "workload", "file", plain);
    assert_true(scenario_choose(scenario, "workload", "allreduce", &error));
    resolve(scenario);
    assert_string_equal(scenario->workload->name, "allreduce");
    assert_false(scenario_choose(scenario, "workload", "allredcue", &error));
    assert_non_null(strstr(error->message, "did you mean 'allreduce'?"));
    scenario_free(scenario);
}

/* --- transports ------------------------------------------------------------------------------- */

/* Two more workloads: one of the same kind draws other numbers; both are written back. */
static void traffic_is_put_beside(void **state)
{
    struct scenario *scenario =
        read_text(state,
                  "[topology]\nkind = star\nhosts = 16\n[workload]\nkind = permutation\n"
                  "[workload:more]\nkind = permutation\nbytes = 5B\n"
                  "[workload:rest]\nkind = list\nflows = 0>1 7B\n",
                  NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    struct experiment experiment;
    struct schedule_op op, other;
    uint32_t n_differ = 0;

    assert_non_null(scenario);
    assert_true(experiment_init(&experiment, scenario, NULL));
    assert_int_equal(experiment.schedule.n_ops, 33);
    for (uint64_t i = 0; i < 16; i++) {
        schedule_op(&experiment.schedule, i, &op);
        schedule_op(&experiment.schedule, 16 + i, &other);
        assert_int_equal(other.bytes, 5);
        assert_int_equal(other.rank, 16 + op.rank);
        n_differ += other.peer != 16 + op.peer;
    }
    assert_true(n_differ > 8);
    assert_string_equal(schedule_group(&experiment.schedule, 0)->name, "more");
    assert_int_equal(schedule_group(&experiment.schedule, 1)->bytes, 7);
    text = value_of(scenario, "workload:more", "bytes");
    assert_string_equal(text, "5B");
    experiment_clear(&experiment);
    scenario_free(scenario);
    assert_null(read_text(state, WHOLE "[workload:more]\nbytes = 1B\n", &error));
    assert_true(g_str_has_prefix(error->message, "no workload: [workload:more] kind is missing"));
}

static void profiles_inherit(void **state)
{
    struct scenario *scenario =
        must_read(state, WHOLE "[transport]\nname = rocev2\npayload = 1000B\nqueue_pairs = 4\n"
                               "[transport:plain]\n[transport:single]\nqueue_pairs = 1\n"
                               "[transport:other]\nname = metaroce\n");

    assert_int_equal(scenario->profiles->len, 4);
    assert_value(scenario, "transport:plain", "queue_pairs", "4");
    assert_value(scenario, "transport:single", "payload", "1kB");
    assert_value(scenario, "transport:single", "queue_pairs", "1");
    assert_value(scenario, "transport:other", "name", "metaroce");
    assert_value(scenario, "transport:other", "payload", "4KiB"); /* its own default */
    scenario_free(scenario);
}

static void profiles_follow_a_new_transport(void **state)
{
    struct scenario *scenario =
        must_read(state, WHOLE "[transport]\nname = rocev2\n[transport:many]\nqueue_pairs = 8\n");

    set(scenario, "transport.name=metaroce"); /* [transport:many] has no name of its own */
    resolve(scenario);
    assert_value(scenario, "transport:many", "name", "metaroce");
    assert_value(scenario, "transport:many", "queue_pairs", NULL);
    set(scenario, "transport:many.name=rocev2");
    set(scenario, "transport:many.queue_pairs=2");
    resolve(scenario);
    assert_value(scenario, "transport:many", "queue_pairs", "2");
    scenario_free(scenario);
}

static void profiles_are_found_by_name(void **state)
{
    struct scenario *scenario =
        must_read(state, WHOLE "[transport]\nname = rocev2\n[transport:b]\nqueue_pairs = 2\n");
    g_autoptr(GError) error = NULL;
    const struct transport_profile *first = g_ptr_array_index(scenario->profiles, 0);

    assert_ptr_equal(scenario_profile(scenario, "", &error), first);
    assert_ptr_equal(scenario_profile(scenario, "rocev2", &error), first);
    assert_ptr_not_equal(scenario_profile(scenario, "b", &error), first);
    assert_string_equal(scenario_profile(scenario, "metaroce", &error)->ops->name, "metaroce");
    assert_int_equal(scenario->profiles->len, 3); /* kept, so that it is written */
    assert_null(scenario_profile(scenario, "c", &error));
    assert_non_null(strstr(error->message, "[transport:c]"));
    scenario_free(scenario);
}

/* --- groups of compare ------------------------------------------------------------------------ */

static void raw_groups_are_kept(void **state)
{
    struct scenario *scenario = must_read(
        state, WHOLE "[compare]\nanything = goes\n[variant:b]\ntransport.name = metaroce\n"
                     "[variant:a c]\ntransport.name = rocev2\ntransport.queue_pairs = x\n");
    g_autoptr(GPtrArray) groups = scenario_groups(scenario, "variant:"), entries = NULL;
    g_autoptr(GError) error = NULL;

    assert_int_equal(groups->len, 2);
    assert_string_equal(g_ptr_array_index(groups, 0), "variant:b");
    entries = scenario_group_entries(scenario, "variant:a c");
    assert_int_equal(entries->len, 2);
    assert_string_equal(scenario_entry(scenario, "compare", "anything")->value, "goes");
    for (guint i = 0; i < entries->len; i++)
        assert_true(scenario_apply(scenario, g_ptr_array_index(entries, i), &error));
    assert_false(scenario_resolve(scenario, &error)); /* and the fault lies in the variant */
    assert_non_null(
        strstr(error->message, "s.ini:12: [variant:a c] transport.queue_pairs = x: a whole"));
    scenario_free(scenario);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void what_is_written_reads_back(void **state)
{
    g_autofree char *flows = put(state, "flows.csv", "src,dst,bytes\n0,1,1000\n");
    struct scenario *scenario =
        must_read(state, "[scenario]\ntitle = Round trip\n[topology]\nkind = star\nhosts = 4\n"
                         "link_rate = 12.5GBps\n[workload]\nkind = list\nfile = flows.csv\n"
                         "[transport]\nname = metaroce\n[transport:b]\nname = rocev2\n"
                         "[loss]\nrate_end_to_end = 1e-3\n");
    g_autofree char *path = g_build_filename(*state, "s.ini", NULL), *text = NULL, *again = NULL;
    g_autoptr(GError) error = NULL;
    struct scenario *second = scenario_new();

    assert_value(scenario, "workload", "file", flows); /* beside the scenario, not beside us */
    text = scenario_text(scenario, NULL);
    assert_true(scenario_write(scenario, path, &error));
    assert_true(scenario_load(second, path, &error));
    resolve(second);
    again = scenario_text(second, NULL);
    assert_string_equal(text, again);
    assert_null(strstr(text, "base ="));
    scenario_free(scenario);
    scenario_free(second);
}

/* Below the working folder paths are relative, so that a tree with its results can be moved. */
static void paths_below_the_working_folder_are_relative(void **state)
{
    g_autofree char *before = g_get_current_dir(), *text = NULL;
    g_autofree G_GNUC_UNUSED char *flows = put(state, "flows.csv", "src,dst,bytes\n0,1,1000\n");
    struct scenario *scenario;

    assert_int_equal(g_chdir(*state), 0);
    assert_int_equal(g_mkdir_with_parents("results/deep", 0777), 0);
    scenario = must_read(state, "[topology]\nkind = star\n[workload]\nkind = list\n");
    set(scenario, "workload.file=flows.csv");
    resolve(scenario);
    text = scenario_text(scenario, "results/deep");
    assert_non_null(strstr(text, "\nfile = ../../flows.csv\n"));
    g_free(text);
    text = scenario_text(scenario, ".");
    assert_non_null(strstr(text, "\nfile = flows.csv\n"));
    scenario_free(scenario);
    g_rmdir("results/deep");
    g_rmdir("results");
    assert_int_equal(g_chdir(before), 0);
}

static char *identity_of(void **state, const char *text)
{
    struct scenario *scenario = must_read(state, text);
    char *identity = scenario_identity(scenario);

    scenario_free(scenario);
    return identity;
}

static void identity_is_what_decides_the_result(void **state)
{
    static const char list[] = "[topology]\nkind = star\n[workload]\nkind = list\n"
                               "file = flows.csv\n%s";
    g_autofree char *plain = g_strdup_printf(list, "");
    g_autofree char *other = g_strdup_printf(list, "[scenario]\ntitle = Other\n[run]\nseed = 7\n");
    g_autofree char *wrong = g_strdup_printf(list, "[host]\nissue_time = 1ns\n");

    g_free(put(state, "flows.csv", "src,dst,bytes\n0,1,10\n"));
    g_autofree char *a = identity_of(state, plain), *b = identity_of(state, other);
    g_autofree char *c = identity_of(state, wrong);
    assert_string_equal(a, b); /* neither title nor seed */
    assert_string_not_equal(a, c);
    g_free(put(state, "flows.csv", "src,dst,bytes\n0,1,11\n"));
    g_autofree char *d = identity_of(state, plain);
    assert_string_not_equal(a, d); /* but what is in the file, not where it is */
    assert_null(strstr(d, "flows.csv"));
}

#define TEST(function_) cmocka_unit_test_setup_teardown(function_, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_are_known),
        TEST(broken_lines_are_refused),
        TEST(files_that_cannot_be_read_are_named),
        TEST(values_are_typed),
        TEST(titles_have_a_fallback),
        TEST(wrong_values_are_refused),
        TEST(unknown_names_are_refused),
        TEST(kinds_must_be_named),
        TEST(later_layers_win),
        TEST(several_bases_are_piled_up),
        TEST(bases_must_exist_and_end),
        TEST(a_base_may_come_twice),
        TEST(settings_are_checked),
        TEST(copies_share_and_differ),
        TEST(another_kind_drops_keys_from_below),
        TEST(keys_of_another_kind_are_refused_beside_and_above),
        TEST(misspelt_keys_below_are_refused_too),
        TEST(names_and_files_are_chosen_alike),
        TEST(traffic_is_put_beside),
        TEST(profiles_inherit),
        TEST(profiles_follow_a_new_transport),
        TEST(profiles_are_found_by_name),
        TEST(raw_groups_are_kept),
        TEST(what_is_written_reads_back),
        TEST(paths_below_the_working_folder_are_relative),
        TEST(identity_is_what_decides_the_result),
    };

    return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
