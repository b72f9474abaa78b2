/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/memory.h"
#include "sim/core/units.h"
#include <math.h>
#include <string.h>
#include <sys/resource.h>

/* The number behind `label` in a text such as /proc/meminfo; infinity if there is none. */
static double number_after(const char *text, const char *label)
{
    const char *at = strstr(text, label);

    if (at)
        at += strlen(label) + strspn(at + strlen(label), " \t");
    return at && g_ascii_isdigit(*at) ? g_ascii_strtod(at, NULL) : (double)INFINITY;
}

static double number_in_file(const char *path, const char *label)
{
    g_autofree char *text = NULL;

    return g_file_get_contents(path, &text, NULL, NULL) ? number_after(text, label)
                                                        : (double)INFINITY;
}

/* What the control group of this process may have: lines of /proc/self/cgroup are "N:NAMES:PATH".
 */
static double group_limit_bytes(void)
{
    static const struct {
        const char *mark, *folder, *file;
    } versions[] = {{":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                    {"0::", "/sys/fs/cgroup", "memory.max"}};
    g_autofree char *text = NULL;
    double least = (double)INFINITY;

    if (!g_file_get_contents("/proc/self/cgroup", &text, NULL, NULL))
        return least;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    for (char **line = lines; *line; line++)
        for (size_t i = 0; i < G_N_ELEMENTS(versions); i++) {
            const char *at = strstr(*line, versions[i].mark);

            if (!at)
                continue;
            g_autofree char *path = g_build_filename(
                versions[i].folder, at + strlen(versions[i].mark), versions[i].file, NULL);

            least = MIN(least, number_in_file(path, ""));
        }
    return least;
}

static double address_limit_bytes(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
               ? (double)limit.rlim_cur
               : (double)INFINITY;
}

double memory_available_bytes(void)
{
    double system = 1024 * (number_in_file("/proc/meminfo", "MemAvailable:") +
                            number_in_file("/proc/self/status", "VmRSS:"));

    return MIN(system, MIN(group_limit_bytes(), address_limit_bytes()));
}

gboolean memory_check(const struct experiment *experiment, const struct survey *survey,
                      GError **error)
{
    double available = memory_available_bytes();

    if (experiment->scenario->run.memory == RUN_MEMORY_IGNORE || survey->need.bytes <= available)
        return TRUE;
    g_autofree char *need_text = units_display(UNITS_BYTES, survey->need.bytes);
    g_autofree char *available_text = units_display(UNITS_BYTES, available);

    g_set_error(error, EXPERIMENT_ERROR, 1,
                "the run needs about %s of memory and %s are available (weft check says what for); "
                "a smaller run is expected, or [run] memory = ignore",
                need_text, available_text);
    return FALSE;
}
