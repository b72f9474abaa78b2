/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sweep on disk: its points, and what the folder says of each. results/README.md describes the
 * folder. The files are the truth: a point with a folder of its own is finished, whoever played it.
 * A result appears whole, by a rename, so that a point may be played twice at a time, or be killed
 * anywhere, without harm.
 */
#ifndef WEFT_SIM_APP_SWEEP_H
#define WEFT_SIM_APP_SWEEP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SWEEP_ERROR sweep_error_quark()
GQuark sweep_error_quark(void);

enum sweep_status { SWEEP_WAITING, SWEEP_DONE, SWEEP_UNFINISHED, SWEEP_FAILED };
const char *sweep_status_name(enum sweep_status status);

/* One choice on every axis. */
struct sweep_grid {
    char **cells;   /* what the axes' columns say */
    char *identity; /* hash of the resolved scenario without seed; NULL if read from points.csv */
    char *text;     /* that scenario, resolved; NULL likewise */
};

/* A grid point with a seed. */
struct sweep_point {
    uint32_t grid;
    uint64_t seed;
    char *name; /* of its folder */
    enum sweep_status status;
    char *error; /* why it failed or is unfinished; NULL */
};

struct sweep {
    char *folder;
    char *version;      /* sweep_version(); NULL if read from points.csv */
    GPtrArray *columns; /* char *: names of the axes' columns */
    GArray *grid;       /* struct sweep_grid */
    GArray *points;     /* struct sweep_point, by grid point, then seed */
};

struct sweep *sweep_new(const char *folder);
void sweep_free(struct sweep *sweep);

struct sweep_grid *sweep_grid(const struct sweep *sweep, uint32_t index);
struct sweep_point *sweep_point(const struct sweep *sweep, uint32_t index);

/* "variant = MetaRoCE, loss.rate_end_to_end = 0.01, seed 3"; g_free. */
char *sweep_point_label(const struct sweep *sweep, const struct sweep_point *point);

/* --- names ------------------------------------------------------------------------------------ */

/* The program: its version, and for one that no version describes a hash of it; g_free. */
char *sweep_version(void);

/* What starts this very program again, even if its file has been replaced; g_free. */
char *sweep_program(void);

/* Of a grid point's scenario_identity() played by `version`, and of a point; g_free. */
char *sweep_identity(const char *version, const char *scenario_identity);
char *sweep_name(const char *identity, uint64_t seed);

/* Paths; g_free. */
char *sweep_path(const char *folder, const char *file);        /* FOLDER/file */
char *sweep_result_path(const char *folder, const char *name); /* FOLDER/points/NAME */
char *sweep_grid_path(const char *folder, const char *identity);

/* Where this process plays a point before it is whole. */
char *sweep_temporary_path(const char *folder, const char *name);

/* --- the folder ------------------------------------------------------------------------------- */

/* Reads the points of points.csv. */
gboolean sweep_load(struct sweep *sweep, GError **error);

/*
 * Makes the folder and keeps a second sweep out of it as long as the descriptor is open; -1 with an
 * error. Those that share it keep out only those that do not.
 */
int sweep_lock(const struct sweep *sweep, bool shared, GError **error);

/*
 * Writes what is needed to play the points into the folder, or refuses: because it holds
 * results of another version, or of another scenario at the same values.
 */
gboolean sweep_prepare(struct sweep *sweep, GError **error);

/* Sets status and error of every point from the files; DONE stands for UNFINISHED as well. */
void sweep_look(struct sweep *sweep);

/* Whether somebody has finished it. */
bool sweep_has_result(const struct sweep *sweep, const struct sweep_point *point);

/* Records that a point failed. */
gboolean sweep_fail(const struct sweep *sweep, struct sweep_point *point, const char *why,
                    GError **error);

/* Takes all records of failures of the points away: they are waiting again. */
void sweep_forget_failures(struct sweep *sweep);

/* Removes a folder of files; nothing where there is none. */
void sweep_remove_folder(const char *path);

/* Removes what processes of this machine that are no more left half done; with `all`, everything
 * half done. */
void sweep_clean(const struct sweep *sweep, bool all);

#endif
