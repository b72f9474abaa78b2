/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weft trace: plays a run again and tells the story of some of its messages, packet by packet. */
#include "sim/app/command.h"
#include "sim/app/trace.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct request {
    char *flows, *format, *out;
    GArray *ops; /* uint64_t */
};

static void clear(struct request *request)
{
    g_free(request->flows);
    g_free(request->format);
    g_free(request->out);
    if (request->ops)
        g_array_unref(request->ops);
}

static gboolean parse(struct request *request, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"flow", 'f', 0, G_OPTION_ARG_STRING, &request->flows,
         "Numbers of messages, by commas, as in flows.csv", "N[,N...]"},
        {"format", 0, 0, G_OPTION_ARG_STRING, &request->format,
         "text: a line an event; chrome: JSON for about:tracing and Perfetto", "text|chrome"},
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &request->out, "Where to write; otherwise here",
         "FILE"},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context =
        g_option_context_new("DIR - the story of a message, packet by packet");

    g_option_context_set_summary(
        context, "Plays the run of DIR again, recording, and writes what happened to the messages: "
                 "each packet and each answer\nto one, at each port, and what their senders waited "
                 "for.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, argc, argv, error))
        return FALSE;
    if (*argc != 2 || !request->flows) {
        g_set_error(error, COMMAND_ERROR, 1, "a folder of a run, and --flow N, are expected");
        return FALSE;
    }
    if (!request->format || strcmp(request->format, "text") == 0 ||
        strcmp(request->format, "chrome") == 0)
        return TRUE;
    g_set_error(error, COMMAND_ERROR, 1, "--format %s: text or chrome is expected",
                request->format);
    return FALSE;
}

static gboolean find_flows(struct request *request, const struct replay *replay, GError **error)
{
    g_auto(GStrv) words = g_strsplit(request->flows, ",", -1);

    request->ops = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (char **word = words; *word; word++) {
        uint64_t op;

        if (!replay_find_flow(replay, g_strstrip(*word), &op, error))
            return FALSE;
        g_array_append_val(request->ops, op);
    }
    return TRUE;
}

static gboolean write_trace(const struct request *request, const struct replay *replay,
                            GError **error)
{
    FILE *out = request->out ? fopen(request->out, "w") : stdout;
    bool failed = !out;

    if (out) {
        if (request->format && strcmp(request->format, "chrome") == 0)
            trace_chrome(replay, request->ops, out);
        else
            trace_text(replay, request->ops, out);
        failed = ferror(out) || (request->out ? fclose(out) : fflush(out)) != 0;
    }
    if (failed)
        g_set_error(error, COMMAND_ERROR, 1, "cannot write %s: %s",
                    request->out ? request->out : "the trace", g_strerror(errno));
    return !failed;
}

static gboolean trace(struct request *request, const char *folder, GError **error)
{
    struct replay replay;
    gboolean ok = replay_open(&replay, folder, error) && find_flows(request, &replay, error);

    if (ok) {
        replay_prepare(&replay);
        for (guint i = 0; i < request->ops->len; i++)
            replay_want(&replay, g_array_index(request->ops, uint64_t, i), 0, INT64_MAX);
        ok = replay_play(&replay, error) && write_trace(request, &replay, error);
    }
    replay_close(&replay);
    return ok;
}

int command_trace(int argc, char **argv)
{
    struct request request = {0};
    GError *error = NULL;
    int code = COMMAND_DONE;

    if (!parse(&request, &argc, &argv, &error) || !trace(&request, argv[1], &error))
        code = command_fail("trace", error);
    clear(&request);
    return code;
}
