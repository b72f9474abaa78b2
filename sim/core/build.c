/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/build.h"

G_DEFINE_QUARK(weft - build, build_error)

void build_init(struct build *build, uint64_t seed, int64_t end_ps)
{
    *build = (struct build){
        .seed = seed, .end_ps = end_ps, .notes = g_ptr_array_new_with_free_func(g_free)};
    fault_list_init(&build->faults);
}

void build_clear(struct build *build)
{
    g_clear_pointer(&build->notes, g_ptr_array_unref);
    fault_list_clear(&build->faults);
}

void build_note(struct build *build, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    g_ptr_array_add(build->notes, g_strdup_vprintf(format, list));
    va_end(list);
}
