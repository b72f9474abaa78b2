/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sim/core/file.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/file.h"
#include "tests/unit/scratch.h"
#include <string.h>

static void writes_and_replaces(void **state)
{
    g_autofree char *path = g_build_filename(scratch_folder, "t", NULL);
    const char *const texts[] = {"one\n", "", "two"};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *text = NULL;

        assert_true(file_write(path, texts[i], NULL));
        assert_true(g_file_get_contents(path, &text, NULL, NULL));
        assert_string_equal(text, texts[i]);
    }
    g_unlink(path); /* and nothing else is left: the folder can be removed */
}

static void a_path_that_cannot_be_is_named(void **state)
{
    g_autofree char *path = g_build_filename(scratch_folder, "none", "t", NULL);
    g_autofree char *expected =
        g_strdup_printf("cannot write '%s': No such file or directory", path);
    g_autoptr(GError) error = NULL;

    (void)state;
    assert_false(file_write(path, "text", &error));
    assert_string_equal(error->message, expected);
    g_clear_error(&error);
    assert_false(file_write(scratch_folder, "text", &error)); /* it is a folder */
    assert_non_null(strstr(error->message, scratch_folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_replaces),
        cmocka_unit_test(a_path_that_cannot_be_is_named),
    };

    return cmocka_run_group_tests_name("file", tests, scratch_make, scratch_remove);
}
