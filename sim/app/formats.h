/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that people already have: how each is told from the others, by what is in it, and what
 * reads it. One table; `run`, `check` and `import` look in it, `weft list formats` prints it, and
 * docs/FORMATS.md is about it.
 */
#ifndef WEFT_SIM_APP_FORMATS_H
#define WEFT_SIM_APP_FORMATS_H

#include <glib.h>
#include <stdbool.h>

#define FORMATS_ERROR formats_error_quark()
GQuark formats_error_quark(void);

enum format_role {
    FORMAT_TOPOLOGY,
    FORMAT_WORKLOAD,
    FORMAT_SETTINGS, /* of a simulator: becomes keys of a scenario */
    FORMAT_FAULTS,   /* what happens to links */
    FORMAT_SCENARIO, /* a key file of weft */
    FORMAT_OTHER,    /* known, and not for reading: `instead` says what to do */
};

/* The beginning of a file. */
struct format_sample {
    const char *path;
    const char *text; /* zero-terminated; `length` bytes before that, zero bytes among them */
    size_t length;
    bool whole; /* the file is no longer than this */
};

struct format {
    const char *name;
    enum format_role role;
    const char *kind;    /* of topology or workload; NULL for other roles */
    const char *key;     /* of that kind, which takes the path */
    const char *summary; /* what it is, for people */
    const char *instead; /* FORMAT_OTHER */
    bool (*fits)(const struct format_sample *sample);
};

extern const struct format formats[]; /* ends with a NULL name; the first that fits is it */

/* "a topology", for sentences. */
const char *format_role_text(enum format_role role);

/*
 * The format of a file, by its content. The error says that it cannot be read, or that nothing
 * known begins so, and lists what is known.
 */
const struct format *format_recognise(const char *path, GError **error);

/* The key of a kind that takes the path of its file. */
const char *format_key_of_kind(const char *kind);

/*
 * What a user gives where `group` ("topology", "workload") is asked for: "FILE", or "KIND:FILE"
 * where the content shall not decide. Sets *kind, *key and *path (g_free), of a FORMAT_SCENARIO
 * only *path. `what` must name a file, or NULL comes back without an error: *no_file is then TRUE.
 */
gboolean format_choose(const char *group, const char *what, const char **kind, const char **key,
                       char **path, gboolean *no_file, GError **error);

#endif
