/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/sweep_pool.h"
#include "sim/app/eta.h"
#include "sim/app/sweep_worker.h"
#include <gio/gio.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SAID_BYTES 4096 /* of a worker's standard error that are kept, at least */
#define NO_POINT   UINT32_MAX
#define N_ENDS     3 /* of a worker: both of its streams, and the process */

struct pool {
    struct sweep *sweep;
    const struct sweep_pool_config *config;
    const GArray *todo;
    guint next; /* of todo */
    uint32_t n_over, n_failed, n_alive;
    int64_t *cost_us;   /* by place in todo; 0 until it is over */
    uint32_t *number;   /* likewise, the point's index */
    GPtrArray *workers; /* struct worker *, those alive */
    GMainLoop *loop;
    int64_t start_us;
    bool stopped, terminal;
    GError *fatal; /* the first */
};

struct worker {
    struct pool *pool;
    GSubprocess *process;
    GDataInputStream *answers;
    GInputStream *errors;
    GString *said;
    char chunk[1024];
    uint32_t place; /* in todo, of what it plays; NO_POINT */
    int64_t start_us;
    uint32_t n_ends;
};

static void begin_worker(struct pool *pool);
static void await_answer(struct worker *worker);
static void await_errors(struct worker *worker);

/* --- progress --------------------------------------------------------------------------------- */

void sweep_show(uint32_t n_over, uint32_t n_all, uint32_t n_failed, double elapsed_s, double left_s,
                const char *more, bool terminal)
{
    fprintf(stderr, "%s%u of %u points", terminal ? "\r\033[K" : "", n_over, n_all);
    if (n_failed > 0)
        fprintf(stderr, ", %u failed", n_failed);
    fprintf(stderr, "; %.0f s", elapsed_s);
    if (left_s >= 0 && n_over < n_all)
        fprintf(stderr, ", about %.0f s left", left_s);
    fprintf(stderr, "%s%s", more, terminal ? "" : "\n");
    fflush(stderr);
}

static void show(const struct pool *pool)
{
    const struct sweep_pool_config *config = pool->config;
    double left_us = (double)eta_left_us(pool->cost_us, pool->number, pool->todo->len,
                                         config->strides, config->n_strides);
    double elapsed_us = (double)(g_get_monotonic_time() - pool->start_us);

    if (!config->quiet)
        sweep_show(pool->n_over, pool->todo->len, pool->n_failed, elapsed_us * 1e-6,
                   pool->n_over > 0 ? left_us * 1e-6 / config->n_jobs : -1, "", pool->terminal);
}

static gboolean on_tick(void *data)
{
    show(data);
    return G_SOURCE_CONTINUE;
}

/* --- points ----------------------------------------------------------------------------------- */

static struct sweep_point *point_at(const struct pool *pool, uint32_t place)
{
    return sweep_point(pool->sweep, g_array_index(pool->todo, uint32_t, place));
}

/* Lets all workers end: at once if something is wrong, or as soon as they are done. */
static void stop_all(struct pool *pool)
{
    pool->next = pool->todo->len;
    for (guint i = 0; i < pool->workers->len; i++) {
        const struct worker *worker = g_ptr_array_index(pool->workers, i);

        g_subprocess_send_signal(worker->process, SIGTERM);
    }
}

static void give_up(struct pool *pool, GError *error)
{
    if (pool->fatal)
        g_error_free(error);
    else
        pool->fatal = error;
    stop_all(pool);
}

static void end_point(struct worker *worker)
{
    struct pool *pool = worker->pool;

    pool->cost_us[worker->place] = MAX(g_get_monotonic_time() - worker->start_us, 1);
    pool->n_over++;
    worker->place = NO_POINT;
}

static void fail_point(struct worker *worker, const char *why)
{
    struct pool *pool = worker->pool;
    GError *error = NULL;

    if (!sweep_fail(pool->sweep, point_at(pool, worker->place), why, &error))
        give_up(pool, error);
    pool->n_failed++;
    end_point(worker);
}

/* Sends the next point; without one the worker's input ends, and so does the worker. */
static void give_point(struct worker *worker)
{
    struct pool *pool = worker->pool;
    GOutputStream *orders = g_subprocess_get_stdin_pipe(worker->process);

    if (pool->next == pool->todo->len) {
        g_output_stream_close(orders, NULL, NULL);
        return;
    }
    worker->place = pool->next++;
    worker->start_us = g_get_monotonic_time();

    const struct sweep_point *point = point_at(pool, worker->place);
    g_autofree char *line =
        g_strdup_printf("%s %" G_GUINT64_FORMAT " %s\n",
                        sweep_grid(pool->sweep, point->grid)->identity, point->seed, point->name);

    /* a worker that is gone cannot take it; its end will be noticed */
    g_output_stream_write_all(orders, line, strlen(line), NULL, NULL, NULL);
}

/* --- a worker's end --------------------------------------------------------------------------- */

static void worker_free(struct worker *worker)
{
    g_object_unref(worker->answers);
    g_object_unref(worker->process);
    g_string_free(worker->said, TRUE);
    g_free(worker);
}

/* The last line that says anything. */
static char *last_words(const struct worker *worker)
{
    g_auto(GStrv) lines = g_strsplit(worker->said->str, "\n", -1);
    const char *last = "";

    for (char **line = lines; *line; line++)
        if (*g_strstrip(*line) != '\0')
            last = *line;
    return g_strdup(last);
}

static char *cause_of_death(const struct worker *worker)
{
    GSubprocess *process = worker->process;
    g_autofree char *words = last_words(worker);
    g_autoptr(GString) text = g_string_new("");

    if (g_subprocess_get_if_signaled(process)) {
        int number = g_subprocess_get_term_sig(process);

        g_string_append_printf(text, "its process was ended by signal %d (%s)%s", number,
                               g_strsignal(number),
                               number == SIGKILL ? ": somebody's kill, or out of memory" : "");
    } else {
        g_string_append_printf(text, "its process ended with exit code %d",
                               g_subprocess_get_exit_status(process));
    }
    if (*words)
        g_string_append_printf(text, "; it said: %s", words);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void bury(struct worker *worker)
{
    struct pool *pool = worker->pool;
    bool had_point = worker->place != NO_POINT;

    g_ptr_array_remove_fast(pool->workers, worker);
    pool->n_alive--;
    if (had_point && sweep_has_result(pool->sweep, point_at(pool, worker->place))) {
        end_point(worker);
    } else if (had_point && !pool->stopped && !pool->fatal) {
        g_autofree char *why = cause_of_death(worker);

        fail_point(worker, why);
    }
    if (pool->next < pool->todo->len)
        begin_worker(pool);
    worker_free(worker);
    if (pool->n_alive == 0)
        g_main_loop_quit(pool->loop);
}

static void count_end(struct worker *worker)
{
    if (++worker->n_ends == N_ENDS)
        bury(worker);
}

static void on_exit_of(GObject *process, GAsyncResult *result, void *data)
{
    g_subprocess_wait_finish((GSubprocess *)process, result, NULL);
    count_end(data);
}

/* --- what a worker says ----------------------------------------------------------------------- */

static void on_errors(GObject *stream, GAsyncResult *result, void *data)
{
    struct worker *worker = data;
    gssize n = g_input_stream_read_finish((GInputStream *)stream, result, NULL);

    if (n <= 0) {
        count_end(worker);
        return;
    }
    g_string_append_len(worker->said, worker->chunk, n);
    if (worker->said->len > 2 * SAID_BYTES)
        g_string_erase(worker->said, 0, (gssize)(worker->said->len - SAID_BYTES));
    await_errors(worker);
}

static void await_errors(struct worker *worker)
{
    g_input_stream_read_async(worker->errors, worker->chunk, sizeof worker->chunk,
                              G_PRIORITY_DEFAULT, NULL, on_errors, worker);
}

static void take_answer(struct worker *worker, const char *line)
{
    struct pool *pool = worker->pool;

    if (worker->place == NO_POINT)
        return;
    if (strcmp(line, SWEEP_WORKER_DONE) == 0) {
        end_point(worker);
    } else if (g_str_has_prefix(line, SWEEP_WORKER_FAILED)) {
        fail_point(worker, line + strlen(SWEEP_WORKER_FAILED));
    } else {
        bool known = g_str_has_prefix(line, SWEEP_WORKER_CANNOT);

        give_up(pool, g_error_new_literal(SWEEP_ERROR, 0,
                                          known ? line + strlen(SWEEP_WORKER_CANNOT) : line));
        worker->place = NO_POINT;
    }
    give_point(worker);
}

static void on_answer(GObject *stream, GAsyncResult *result, void *data)
{
    struct worker *worker = data;
    g_autofree char *line =
        g_data_input_stream_read_line_finish((GDataInputStream *)stream, result, NULL, NULL);

    if (!line) {
        count_end(worker);
        return;
    }
    take_answer(worker, line);
    await_answer(worker);
}

static void await_answer(struct worker *worker)
{
    g_data_input_stream_read_line_async(worker->answers, G_PRIORITY_DEFAULT, NULL, on_answer,
                                        worker);
}

/* --- the pool --------------------------------------------------------------------------------- */

static void begin_worker(struct pool *pool)
{
    const GSubprocessFlags flags = G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                   G_SUBPROCESS_FLAGS_STDERR_PIPE;
    g_autofree char *program = sweep_program();
    GError *error = NULL;
    GSubprocess *process = g_subprocess_new(flags, &error, program, "sweep", "--worker", "--out",
                                            pool->sweep->folder, NULL);

    if (!process) {
        give_up(pool, error);
        return;
    }
    struct worker *worker = g_new0(struct worker, 1);

    *worker = (struct worker){.pool = pool, .process = process, .place = NO_POINT};
    worker->said = g_string_new("");
    worker->answers = g_data_input_stream_new(g_subprocess_get_stdout_pipe(process));
    worker->errors = g_subprocess_get_stderr_pipe(process);
    g_ptr_array_add(pool->workers, worker);
    pool->n_alive++;
    await_answer(worker);
    await_errors(worker);
    g_subprocess_wait_async(process, NULL, on_exit_of, worker);
    give_point(worker);
}

static gboolean on_signal(void *data)
{
    struct pool *pool = data;

    pool->stopped = true;
    stop_all(pool);
    return G_SOURCE_CONTINUE;
}

static void run(struct pool *pool)
{
    guint tick_ms = pool->terminal ? SWEEP_TERMINAL_UPDATE_MS : SWEEP_PLAIN_UPDATE_MS;
    guint sources[] = {g_timeout_add(tick_ms, on_tick, pool),
                       g_unix_signal_add(SIGINT, on_signal, pool),
                       g_unix_signal_add(SIGTERM, on_signal, pool)};

    signal(SIGPIPE, SIG_IGN);
    for (uint32_t i = 0; i < MIN(pool->config->n_jobs, pool->todo->len) && !pool->fatal; i++)
        begin_worker(pool);
    if (pool->n_alive > 0)
        g_main_loop_run(pool->loop);
    for (size_t i = 0; i < G_N_ELEMENTS(sources); i++)
        g_source_remove(sources[i]);
    show(pool);
    if (pool->terminal && !pool->config->quiet)
        fputc('\n', stderr);
}

gboolean sweep_pool_play(struct sweep *sweep, const GArray *todo,
                         const struct sweep_pool_config *config, bool *stopped, GError **error)
{
    struct pool pool = {.sweep = sweep,
                        .config = config,
                        .todo = todo,
                        .cost_us = g_new0(int64_t, todo->len),
                        .number = g_new(uint32_t, todo->len),
                        .workers = g_ptr_array_new(),
                        .loop = g_main_loop_new(NULL, FALSE),
                        .start_us = g_get_monotonic_time(),
                        .terminal = isatty(STDERR_FILENO)};

    for (guint i = 0; i < todo->len; i++)
        pool.number[i] = g_array_index(todo, uint32_t, i);
    if (todo->len > 0)
        run(&pool);
    sweep_clean(sweep, false);
    *stopped = pool.stopped;
    g_main_loop_unref(pool.loop);
    g_ptr_array_unref(pool.workers);
    g_free(pool.cost_us);
    g_free(pool.number);
    if (pool.fatal)
        g_propagate_error(error, pool.fatal);
    return !pool.fatal;
}
