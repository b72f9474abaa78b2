/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/sweep_slurm.h"
#include "sim/app/commands.h"
#include "sim/app/sweep_pool.h"
#include "sim/core/file.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_POLL_MS      500
#define MOST_POLL_MS       10000
#define POLL_SHARE         20 /* of the time waited so far: squeue is not to be asked more often */
#define DEFAULT_ARRAY_SIZE 1001 /* Slurm's MaxArraySize unless configured */

/* How an array stands. */
struct queue {
    bool known; /* squeue has answered */
    uint32_t n_running, n_other;
    uint32_t n_stuck; /* requeued after a failed launch and held: they never start by themselves */
    bool cancelled;
};

struct cluster {
    struct sweep *sweep;
    const GArray *todo;
    const struct sweep_slurm_config *config;
    char *room;      /* the folder slurm/, absolute */
    char *job;       /* the array's id, or NULL */
    uint32_t number; /* of its submission */
    uint32_t points_per_task;
    int64_t start_us, shown_us;
    uint32_t n_before; /* points that were over at start_us */
    bool terminal;
};

/* --- commands --------------------------------------------------------------------------------- */

/* Runs a command; its output (g_free), or NULL with an error that has what it said. */
static char *ask(const char *const *arguments, GError **error)
{
    g_autofree char *said = NULL, *complaint = NULL;
    g_autoptr(GError) why = NULL;
    int status;

    if (!g_spawn_sync(NULL, (char **)(uintptr_t)arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                      &said, &complaint, &status, &why)) {
        g_set_error(error, SWEEP_ERROR, 0, "cannot run %s: %s", arguments[0], why->message);
        return NULL;
    }
    if (g_spawn_check_wait_status(status, NULL))
        return g_steal_pointer(&said);
    g_set_error(error, SWEEP_ERROR, 0, "%s failed: %s", arguments[0],
                g_strdelimit(g_strstrip(complaint), "\n", ' '));
    return NULL;
}

static bool is_over(const char *state)
{
    static const char *const over[] = {"COMPLETED", "FAILED",    "CANCELLED", "TIMEOUT",
                                       "NODE_FAIL", "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY",
                                       "PREEMPTED", "REVOKED",   NULL};

    return g_strv_contains(over, state);
}

/* Of all of the user's jobs, for asking after one that Slurm has forgotten is an error. */
static struct queue look_at_queue(const char *job)
{
    g_autofree char *user = g_strdup_printf("%u", (unsigned)getuid());
    const char *arguments[] = {"squeue", "-h", "-r", "-t",       "all",
                               "-u",     user, "-o", "%F %T|%r", NULL};
    g_autofree char *text = ask(arguments, NULL);
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    struct queue queue = {.known = text != NULL};
    size_t length = strlen(job);

    for (char **line = lines; *line; line++) {
        char *state = *line + length + 1, *reason;

        if (strncmp(*line, job, length) != 0 || (*line)[length] != ' ')
            continue;
        reason = state + strcspn(state, "|");
        if (*reason != '\0')
            *reason++ = '\0';
        queue.cancelled |= strcmp(state, "CANCELLED") == 0;
        if (strcmp(state, "RUNNING") == 0)
            queue.n_running++;
        else if (strcmp(reason, "launch failed requeued held") == 0 ||
                 strcmp(reason, "JobHeldAdmin") == 0) /* what it comes to after a while */
            queue.n_stuck++;
        else if (!is_over(state))
            queue.n_other++;
    }
    return queue;
}

static bool at_work(struct queue queue)
{
    return !queue.known || queue.n_running + queue.n_other > 0;
}

static uint32_t most_tasks(void)
{
    const char *arguments[] = {"scontrol", "show", "config", NULL};
    g_autofree char *text = ask(arguments, NULL);
    const char *line = text ? strstr(text, "MaxArraySize") : NULL;
    const char *equals = line ? strchr(line, '=') : NULL;
    gint64 size = equals ? g_ascii_strtoll(equals + 1, NULL, 10) : 0;

    return (uint32_t)(size > 1 ? MIN(size, 10000000) : DEFAULT_ARRAY_SIZE) - 1;
}

/* --- submitting ------------------------------------------------------------------------------- */

static char *room_file(const struct cluster *cluster, const char *format, ...) G_GNUC_PRINTF(2, 3);

static char *room_file(const struct cluster *cluster, const char *format, ...)
{
    va_list list;
    g_autofree char *name = NULL;

    va_start(list, format);
    name = g_strdup_vprintf(format, list);
    va_end(list);
    return g_build_filename(cluster->room, name, NULL);
}

static GArray *waiting(const struct cluster *cluster)
{
    GArray *points = g_array_new(FALSE, FALSE, sizeof(uint32_t));

    for (guint i = 0; i < cluster->todo->len; i++) {
        uint32_t index = g_array_index(cluster->todo, uint32_t, i);

        if (sweep_point(cluster->sweep, index)->status == SWEEP_WAITING)
            g_array_append_val(points, index);
    }
    return points;
}

/* A line "TASK IDENTITY SEED NAME" a point; how many tasks there are. */
static gboolean write_list(const struct cluster *cluster, const GArray *points, uint32_t per_task,
                           GError **error)
{
    g_autofree char *path = room_file(cluster, "%u.points", cluster->number);
    g_autoptr(GString) text = g_string_new("");

    for (guint i = 0; i < points->len; i++) {
        const struct sweep_point *point =
            sweep_point(cluster->sweep, g_array_index(points, uint32_t, i));

        g_string_append_printf(text, "%u %s %" G_GUINT64_FORMAT " %s\n", i / per_task + 1,
                               sweep_grid(cluster->sweep, point->grid)->identity, point->seed,
                               point->name);
    }
    return file_write(path, text->str, error);
}

static gboolean write_script(const struct cluster *cluster, GError **error)
{
    g_autofree char *path = room_file(cluster, "%u.sh", cluster->number);
    g_autofree char *list = room_file(cluster, "%u.points", cluster->number);
    g_autofree char *folder = g_path_get_dirname(cluster->room);
    g_autofree char *program = g_file_read_link("/proc/self/exe", error);

    if (!program)
        return FALSE;
    g_autofree char *q_program = g_shell_quote(program), *q_folder = g_shell_quote(folder);
    g_autofree char *q_list = g_shell_quote(list);
    g_autofree char *text = g_strdup_printf("#!/bin/sh\n"
                                            "# One task of the array: some points of a sweep.\n"
                                            "exec %s sweep --quiet --out %s --task "
                                            "%s:\"$SLURM_ARRAY_TASK_ID\"\n",
                                            q_program, q_folder, q_list);

    return file_write(path, text, error);
}

/* sbatch's answer is "ID" or "ID;CLUSTER". */
static gboolean call_sbatch(struct cluster *cluster, uint32_t n_tasks, GError **error)
{
    const struct sweep_slurm_config *config = cluster->config;
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *log = room_file(cluster, "%u-%%a.log", cluster->number);
    g_autofree char *job_file = room_file(cluster, "job"), *text = NULL, *answer = NULL;

    g_ptr_array_add(words, g_strdup("sbatch"));
    g_ptr_array_add(words, g_strdup("--parsable"));
    g_ptr_array_add(words, g_strdup_printf("--array=1-%u%%%u", n_tasks, config->tasks_at_once));
    g_ptr_array_add(words, g_strdup_printf("--job-name=weft-%s", config->name));
    g_ptr_array_add(words, g_strdup_printf("--output=%s", log));
    g_ptr_array_add(words, g_strdup("--open-mode=append"));
    g_ptr_array_add(words, g_strdup("--requeue"));
    for (char **option = config->options; option && *option; option++)
        g_ptr_array_add(words, g_strdup(*option));
    g_ptr_array_add(words, room_file(cluster, "%u.sh", cluster->number));
    g_ptr_array_add(words, NULL);
    answer = ask((const char *const *)words->pdata, error);
    if (!answer)
        return FALSE;
    g_strstrip(answer)[strcspn(answer, ";")] = '\0';
    g_free(cluster->job);
    cluster->job = g_steal_pointer(&answer);
    text = g_strdup_printf("%s %u\n", cluster->job, cluster->number);
    return file_write(job_file, text, error);
}

static gboolean submit(struct cluster *cluster, const GArray *points, GError **error)
{
    uint32_t most = most_tasks(), per_task = cluster->points_per_task;

    per_task = MAX(per_task, (points->len + most - 1) / most);
    cluster->number++;
    if (!write_list(cluster, points, per_task, error) || !write_script(cluster, error) ||
        !call_sbatch(cluster, (points->len + per_task - 1) / per_task, error))
        return FALSE;
    if (!cluster->config->quiet)
        fprintf(stderr, "weft sweep: submitted %u points as array %s, %u a task\n", points->len,
                cluster->job, per_task);
    return TRUE;
}

/* --- following -------------------------------------------------------------------------------- */

static uint32_t count_over(const struct cluster *cluster, uint32_t *n_failed)
{
    uint32_t n = 0;

    *n_failed = 0;
    for (guint i = 0; i < cluster->todo->len; i++) {
        enum sweep_status status =
            sweep_point(cluster->sweep, g_array_index(cluster->todo, uint32_t, i))->status;

        n += status != SWEEP_WAITING;
        *n_failed += status == SWEEP_FAILED;
    }
    return n;
}

static void show(struct cluster *cluster, struct queue queue, bool last)
{
    int64_t now_us = g_get_monotonic_time();
    uint32_t n_failed, n_over = count_over(cluster, &n_failed), n = n_over - cluster->n_before;
    double elapsed_s = (double)(now_us - cluster->start_us) * 1e-6;
    g_autofree char *more =
        queue.known ? g_strdup_printf("; Slurm %s: %u tasks running, %u waiting", cluster->job,
                                      queue.n_running, queue.n_other)
                    : g_strdup_printf("; Slurm %s: squeue does not answer", cluster->job);

    if (cluster->config->quiet ||
        (!last && !cluster->terminal && now_us - cluster->shown_us < 1000 * SWEEP_PLAIN_UPDATE_MS))
        return;
    cluster->shown_us = now_us;
    sweep_show(n_over, cluster->todo->len, n_failed, elapsed_s,
               n > 0 ? elapsed_s * (cluster->todo->len - n_over) / n : -1, last ? "" : more,
               cluster->terminal);
    if (last && cluster->terminal)
        fputc('\n', stderr);
}

/* Sleeps; true if a signal (blocked) came. */
static bool wait_a_little(const struct cluster *cluster, const sigset_t *signals)
{
    int64_t waited_ms = (g_get_monotonic_time() - cluster->start_us) / 1000;
    int64_t ms = CLAMP(waited_ms / POLL_SHARE, LEAST_POLL_MS, MOST_POLL_MS);
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

    return sigtimedwait(signals, NULL, &pause) > 0;
}

/* Tasks that will never start are taken out of the queue; their points are missing. */
static void drop_stuck(const struct cluster *cluster, struct queue queue)
{
    const char *arguments[] = {"scancel", cluster->job, NULL};

    if (queue.n_stuck > 0)
        g_free(ask(arguments, NULL));
}

/* Until all points are over, the array is gone, or a signal comes (true). */
static bool follow(struct cluster *cluster, const sigset_t *signals, struct queue *queue)
{
    uint32_t n_failed;

    for (;;) {
        *queue = look_at_queue(cluster->job);
        sweep_look(cluster->sweep);
        if (count_over(cluster, &n_failed) == cluster->todo->len || !at_work(*queue)) {
            drop_stuck(cluster, *queue);
            return false;
        }
        show(cluster, *queue, false);
        if (wait_a_little(cluster, signals))
            return true;
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Sets job and number from the folder, if an array was left there. */
static void recall(struct cluster *cluster)
{
    g_autofree char *path = room_file(cluster, "job"), *text = NULL;
    g_auto(GStrv) words = NULL;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        return;
    words = g_strsplit(g_strstrip(text), " ", -1);
    if (g_strv_length(words) != 2)
        return;
    cluster->job = g_strdup(words[0]);
    cluster->number = (uint32_t)g_ascii_strtoull(words[1], NULL, 10);
}

/* The last line of the log of the task that should have played a point; g_free. */
static char *log_words(const struct cluster *cluster)
{
    g_autofree char *path = room_file(cluster, "%u-1.log", cluster->number), *text = NULL;
    const char *line;

    if (!g_file_get_contents(path, &text, NULL, NULL) || !*g_strstrip(text))
        return g_strdup_printf("%s says nothing", path);
    line = strrchr(text, '\n');
    return g_strdup_printf("%s says: %s", path, line ? line + 1 : text);
}

static gboolean refuse_more(const struct cluster *cluster, struct queue queue, guint n_missing,
                            GError **error)
{
    g_autofree char *words = log_words(cluster);

    if (queue.cancelled)
        g_set_error(error, SWEEP_ERROR, 0,
                    "Slurm's array %s was cancelled with %u points missing; the same command "
                    "submits them",
                    cluster->job, n_missing);
    else
        g_set_error(error, SWEEP_ERROR, 0,
                    "Slurm's array %s is gone and has finished none of the %u points missing; %s",
                    cluster->job, n_missing, words);
    return FALSE;
}

/*
 * Submits what is missing until nothing is. An array that finished no point is followed by one with
 * a point a task, so that a point that takes its task along stops no other; one of these that
 * finished none is the last.
 */
static gboolean play(struct cluster *cluster, const sigset_t *signals, bool *left, GError **error)
{
    bool joins = cluster->job && at_work(look_at_queue(cluster->job));

    for (;;) {
        g_autoptr(GArray) before = waiting(cluster), after = NULL;
        struct queue queue;

        if (before->len == 0)
            return TRUE;
        if (!joins && !submit(cluster, before, error))
            return FALSE;
        if (joins && !cluster->config->quiet)
            fprintf(stderr, "weft sweep: joined array %s\n", cluster->job);
        *left = follow(cluster, signals, &queue);
        if (*left)
            return TRUE;
        after = waiting(cluster);

        bool in_vain = !joins && after->len == before->len;
        if (after->len > 0 && (queue.cancelled || (in_vain && cluster->points_per_task == 1)))
            return refuse_more(cluster, queue, after->len, error);
        if (in_vain)
            cluster->points_per_task = 1;
        joins = false;
    }
}

static gboolean begin(struct cluster *cluster, GError **error)
{
    g_autofree char *folder = realpath(cluster->sweep->folder, NULL);
    uint32_t n_failed;

    cluster->room = g_build_filename(folder ? folder : cluster->sweep->folder, "slurm", NULL);
    cluster->start_us = g_get_monotonic_time();
    cluster->terminal = isatty(STDERR_FILENO);
    cluster->points_per_task = cluster->config->points_per_task;
    cluster->n_before = count_over(cluster, &n_failed);
    if (g_mkdir_with_parents(cluster->room, 0777) != 0) {
        g_set_error(error, SWEEP_ERROR, 0, "cannot make the folder '%s': %s", cluster->room,
                    g_strerror(errno));
        return FALSE;
    }
    recall(cluster);
    return TRUE;
}

gboolean sweep_slurm_play(struct sweep *sweep, const GArray *todo,
                          const struct sweep_slurm_config *config, bool *left, GError **error)
{
    struct cluster cluster = {.sweep = sweep, .todo = todo, .config = config};
    sigset_t signals, before;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    *left = false;
    gboolean ok = begin(&cluster, error) && play(&cluster, &signals, left, error);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok && todo->len > 0)
        show(&cluster, (struct queue){0}, true);
    if (*left)
        fprintf(stderr,
                "weft sweep: left; Slurm's array %s goes on, the same command joins it again, "
                "scancel %s ends it\n",
                cluster.job, cluster.job);
    else if (ok && cluster.job && !at_work(look_at_queue(cluster.job)))
        sweep_clean(sweep, true);
    g_free(cluster.room);
    g_free(cluster.job);
    return ok;
}

/* --- a task ----------------------------------------------------------------------------------- */

/* Adds the point of a line "TASK IDENTITY SEED NAME" that is the task's. */
static gboolean take_line(struct sweep *sweep, const char *line, const char *task)
{
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    guint64 seed;

    if (g_strv_length(words) != 4 ||
        !g_ascii_string_to_unsigned(words[2], 10, 0, G_MAXUINT64, &seed, NULL))
        return *line == '\0';
    if (strcmp(words[0], task) != 0)
        return TRUE;
    struct sweep_grid grid = {.identity = g_strdup(words[1]), .cells = g_new0(char *, 1)};
    struct sweep_point point = {.grid = sweep->grid->len, .seed = seed, .name = g_strdup(words[3])};

    g_array_append_val(sweep->grid, grid);
    g_array_append_val(sweep->points, point);
    return TRUE;
}

static gboolean read_list(struct sweep *sweep, const char *path, const char *task, GError **error)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    if (!g_file_get_contents(path, &text, NULL, error))
        return FALSE;
    lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        if (!take_line(sweep, *line, task)) {
            g_set_error(error, SWEEP_ERROR, 0, "%s: '%s': TASK IDENTITY SEED NAME is expected",
                        path, *line);
            return FALSE;
        }
    return TRUE;
}

int sweep_slurm_task(const char *folder, const char *task, uint32_t n_jobs)
{
    struct sweep *sweep = sweep_new(folder);
    g_autoptr(GArray) todo = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    const uint32_t strides[] = {1};
    struct sweep_pool_config config = {
        .n_jobs = n_jobs, .quiet = true, .strides = strides, .n_strides = G_N_ELEMENTS(strides)};
    const char *colon = strrchr(task, ':');
    g_autofree char *path = g_strndup(task, colon ? (gsize)(colon - task) : strlen(task));
    g_autoptr(GError) error = NULL;
    bool stopped = false;

    gboolean ok = read_list(sweep, path, colon ? colon + 1 : "", &error);

    sweep_look(sweep);
    for (uint32_t i = 0; i < sweep->points->len; i++)
        if (sweep_point(sweep, i)->status == SWEEP_WAITING)
            g_array_append_val(todo, i);
    ok = ok && sweep_pool_play(sweep, todo, &config, &stopped, &error);
    if (error)
        fprintf(stderr, "weft sweep: %s\n", error->message);
    sweep_free(sweep);
    return ok && !stopped ? COMMAND_DONE : COMMAND_BROKEN;
}
