/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/file.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

G_DEFINE_QUARK(weft - file, file_error)

static bool write_all(int fd, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        ssize_t n = write(fd, text, left);

        if (n < 0 && errno != EINTR)
            return false;
        text += MAX(n, 0);
        left -= (size_t)MAX(n, 0);
    }
    return true;
}

gboolean file_write(const char *path, const char *text, GError **error)
{
    g_autofree char *temporary = g_strconcat(path, ".XXXXXX", NULL);
    int fd = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && write_all(fd, text);
    int code = errno;

    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        code = errno;
    }
    if (ok && g_rename(temporary, path) == 0)
        return TRUE;
    if (ok)
        code = errno;
    if (fd >= 0)
        g_unlink(temporary);
    g_set_error(error, FILE_ERROR, 0, "cannot write '%s': %s", path, g_strerror(code));
    return FALSE;
}
