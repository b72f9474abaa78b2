/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/remote_ns3.h"
#include "sim/app/records.h"
#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>

G_DEFINE_QUARK(weft - remote, remote_error)

#define PROGRAM       "weft-ns3"
#define FOLDERS_ABOVE 3
#define STREAM_BYTES  65536

/* --- the program ------------------------------------------------------------------------------ */

static char *find_program(GError **error)
{
    const char *named = g_getenv("WEFT_NS3");
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = g_path_get_dirname(self ? self : ".");

    if (named && *named)
        return g_strdup(named);
    for (int i = 0; i < FOLDERS_ABOVE; i++) {
        g_autofree char *path = g_build_filename(folder, PROGRAM, NULL);
        char *above;

        if (g_file_test(path, G_FILE_TEST_IS_EXECUTABLE))
            return g_steal_pointer(&path);
        above = g_path_get_dirname(folder);
        g_free(folder);
        folder = above;
    }
    g_set_error(error, REMOTE_ERROR, 0,
                "backend ns3: there is no program " PROGRAM
                " beside weft: install libns3-dev and g++ and run make, or name it in WEFT_NS3");
    return NULL;
}

/* The scenario in a file of its own, which goes when the run is over. */
static char *write_scenario(const char *text, GError **error)
{
    char *path = NULL;
    int file = g_file_open_tmp("weft-XXXXXX.ini", &path, error);

    if (file < 0)
        return NULL;
    close(file);
    if (g_file_set_contents(path, text, -1, error))
        return path;
    g_unlink(path);
    g_free(path);
    return NULL;
}

static GSubprocess *start(const char *form, const char *path, const struct recorder *recorder,
                          GError **error)
{
    g_autofree char *program = find_program(error);
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);

    if (!program)
        return NULL;
    g_ptr_array_add(argv, g_strdup(program));
    g_ptr_array_add(argv, g_strdup_printf("--form=%s", form));
    if (recorder)
        g_ptr_array_add(argv, g_strdup_printf("--record=%" G_GUINT64_FORMAT "+%" G_GUINT64_FORMAT,
                                              recorder->window_first, recorder->window_n));
    g_ptr_array_add(argv, g_strdup(path));
    g_ptr_array_add(argv, NULL);
    return g_subprocess_newv((const char *const *)argv->pdata, G_SUBPROCESS_FLAGS_STDOUT_PIPE,
                             error);
}

/* --- the run ---------------------------------------------------------------------------------- */

struct remote {
    const struct backend_run *run;
    GSubprocess *process;
    bool stopped;
};

static void report_progress(void *data, const struct backend_progress *progress)
{
    struct remote *remote = data;

    if (remote->stopped || !remote->run->progress)
        return;
    remote->stopped = !remote->run->progress(remote->run->progress_data, progress);
    if (remote->stopped)
        g_subprocess_send_signal(remote->process, SIGTERM);
}

/* Says how the program ended, where its stream did not say why. */
static void explain(GSubprocess *process, GError **error)
{
    if (!error || !*error || (*error)->code == 0)
        return;
    if (g_subprocess_get_if_signaled(process))
        g_prefix_error(error,
                       PROGRAM " was ended by signal %d: ", g_subprocess_get_term_sig(process));
    else
        g_prefix_error(error, PROGRAM " ended with %d: ", g_subprocess_get_exit_status(process));
}

static gboolean converse(struct remote *remote, const struct sink *sink,
                         struct backend_result *result, double *cpu_s, GError **error)
{
    g_autoptr(GInputStream) stream = g_buffered_input_stream_new_sized(
        g_subprocess_get_stdout_pipe(remote->process), STREAM_BYTES);
    struct records_reader reader = {.sink = sink,
                                    .recorder = remote->run->recorder,
                                    .progress = report_progress,
                                    .progress_data = remote};
    gboolean played = records_read(&reader, stream, result, error);

    g_input_stream_close(stream, NULL, NULL);
    g_subprocess_wait(remote->process, NULL, NULL);
    if (!played)
        explain(remote->process, error);
    *cpu_s = reader.cpu_s;
    return played;
}

gboolean remote_ns3_play(const char *form, const struct backend_run *run, const struct sink *sink,
                         struct backend_result *result, double *cpu_s, GError **error)
{
    struct remote remote = {.run = run};
    g_autofree char *path = NULL;
    gboolean played = FALSE;

    *result = (struct backend_result){0};
    if (run->observer && !run->recorder) {
        g_set_error(error, REMOTE_ERROR, 0,
                    "backend ns3:%s: packets and operations of another process cannot be looked "
                    "at; the native backend plays it",
                    form);
        return FALSE;
    }
    path = write_scenario(run->text, error);
    if (path)
        remote.process = start(form, path, run->recorder, error);
    if (remote.process)
        played = converse(&remote, sink, result, cpu_s, error);
    g_clear_object(&remote.process);
    if (path)
        g_unlink(path);
    return played;
}

static gboolean play_p2p(const struct backend_run *run, const struct sink *sink,
                         struct backend_result *result, GError **error)
{
    double cpu_s;

    return remote_ns3_play("p2p", run, sink, result, &cpu_s, error);
}

static gboolean play_ip(const struct backend_run *run, const struct sink *sink,
                        struct backend_result *result, GError **error)
{
    double cpu_s;

    return remote_ns3_play("ip", run, sink, result, &cpu_s, error);
}

const struct backend_ops remote_ns3_p2p = {
    .name = "ns3:p2p",
    .summary = "ns-3's simulator, point-to-point devices and channels (program weft-ns3).",
    .elsewhere = true,
    .play = play_p2p,
};

const struct backend_ops remote_ns3_ip = {
    .name = "ns3:ip",
    .summary = "The same with ns-3's IPv4 on every node (program weft-ns3).",
    .elsewhere = true,
    .play = play_ip,
};
