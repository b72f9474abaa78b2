/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of other tools, read whole into memory and handed out as words with their lines. They may
 * be hostile: a file is a regular one of at most READER_MOST_BYTES, a text has no zero byte, and
 * nothing is read past its end. Words are separated by spaces, tabs and line ends; a byte order
 * mark and CRLF are accepted.
 */
#ifndef WEFT_SIM_CORE_READER_H
#define WEFT_SIM_CORE_READER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define READER_ERROR reader_error_quark()
GQuark reader_error_quark(void);

#define READER_MOST_BYTES (UINT64_C(1) << 32) /* our choice: above the largest published trace */

struct reader {
    char *path;
    char *text; /* length bytes and a zero; words are cut out of it in place */
    size_t length;
    uint32_t line;  /* of the last word, from 1 */
    size_t next;    /* where the search for the next word begins */
    bool line_over; /* a line end stood right behind the last word */
};

/* Opens a file of bytes; the error names it. reader_close() in any case. */
gboolean reader_open(struct reader *reader, const char *path, GError **error);

/* The same for a text: no zero byte in it; a byte order mark is skipped. An empty path is an error
 * that asks for `what`. */
gboolean reader_open_text(struct reader *reader, const char *path, const char *what,
                          GError **error);
void reader_close(struct reader *reader);

/* Sets "FILE:LINE: what is wrong", or "FILE: ..." for line 0; returns FALSE. */
gboolean reader_refuse(const struct reader *reader, uint32_t line, GError **error,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);

/* The next word, NULL at the end of the text; valid until reader_close(). */
const char *reader_word(struct reader *reader);

/* The next word of the present line, NULL at its end. */
const char *reader_word_in_line(struct reader *reader);

/* Whether the next word, if any, stands on a later line; and passes over what is left of a line. */
bool reader_at_line_end(const struct reader *reader);
void reader_skip_line(struct reader *reader);

/* Whether the text is a whole number in decimal digits, from `least` to `most`. */
bool reader_is_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* The next word as such a number; the error says `what` was expected ("a node"). */
gboolean reader_whole(struct reader *reader, const char *what, uint64_t least, uint64_t most,
                      uint64_t *value, GError **error);

#endif
