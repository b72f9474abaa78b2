/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parameter tables: one row a parameter, from which a value is parsed, checked, printed, documented
 * and written back. A configuration struct holds an int64_t (or a char *) for each row.
 */
#ifndef WEFT_SIM_CORE_PARAM_H
#define WEFT_SIM_CORE_PARAM_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

enum param_type {
    PARAM_NUMBER, /* int64_t, plain */
    PARAM_TIME,   /* int64_t ps */
    PARAM_BYTES,  /* int64_t bytes */
    PARAM_RATE,   /* int64_t bit/s */
    PARAM_RATIO,  /* int64_t parts per trillion */
    PARAM_BOOL,   /* int64_t 0 or 1; on|off, true|false, yes|no */
    PARAM_CHOICE, /* int64_t index into `choices` */
    PARAM_TEXT,   /* char *, owned by the configuration */
};

struct param {
    const char *name;
    enum param_type type;
    size_t offset;       /* of the value in the configuration */
    const char *value;   /* the default, as a user would type it; "auto": see PARAM_AUTO */
    const char *least;   /* range, as typed; NULL: 0 */
    const char *most;    /* range, as typed; NULL: no limit */
    const char *choices; /* "a|b|c", for PARAM_CHOICE; of a quantity: a word it takes too */
    const char *help;    /* one sentence */
    const char *source; /* where the default is from; "our choice: why" when nobody published one */
};

/*
 * A row whose default is "auto" takes this word, whatever its range, and keeps PARAM_AUTO: another
 * parameter decides, as its help says. A quantity with a word in `choices`, such as "never", does
 * the same with that.
 */
#define PARAM_AUTO INT64_MIN

/* A row for member `member` of `struct type`; the rest in order of the fields above. */
#define PARAM(type_, struct_, member_, value_, least_, most_, choices_, help_, source_)            \
    {                                                                                              \
        .name = #member_, .type = PARAM_##type_, .offset = offsetof(struct_, member_),             \
        .value = value_, .least = least_, .most = most_, .choices = choices_, .help = help_,       \
        .source = source_                                                                          \
    }
#define PARAM_END                                                                                  \
    {                                                                                              \
        .name = NULL                                                                               \
    }

#define PARAM_ERROR param_error_quark()
GQuark param_error_quark(void);
enum param_error { PARAM_ERROR_VALUE, PARAM_ERROR_NAME };

/* Fills every value with its default. Tables are ours, so a bad default is an assert. */
void param_defaults(const struct param *table, void *config);

/* Frees the texts. */
void param_clear(const struct param *table, void *config);

/* Deep copy; `to` need not be initialised. */
void param_copy(const struct param *table, const void *from, void *to, size_t size);

/* The row called `name`, or NULL. */
const struct param *param_find(const struct param *table, const char *name);

/*
 * Sets `param` from `text`. The error says value and what would be right ("'7x': a time with its
 * unit is expected ..., such as 1.5us"); the caller puts file, group and key in front.
 */
gboolean param_set(const struct param *param, void *config, const char *text, GError **error);

/* The present value as param_set() would read it; g_free. */
char *param_get(const struct param *param, const void *config);

/* "ps", "bytes", "bit/s", "ratio", "on|off", "a|b|c", "text" or "" */
const char *param_unit(const struct param *param);

/* The name of `names` nearest to `wanted` by edit distance, or NULL if none is near. */
const char *param_nearest(const char *wanted, const char *const *names, size_t n_names);

#endif
