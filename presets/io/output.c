/* output.c - output files that appear whole or not at all. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "presets/io/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/try.h"

enum { MAX_LINKS = 32, MAX_ATTEMPTS = 1000 };

struct fulcrum_output {
    FILE *stream;
    char path[PATH_MAX];      /* where the file goes, links followed */
    char temporary[PATH_MAX]; /* "": written in place (standard output, devices) */
    bool is_stdout;
};

static enum fulcrum_status fail_write(
    struct fulcrum_error *err, const char *path, int error)
{
    return fulcrum_fail(
        err, FULCRUM_ERR_FILE, "%s: cannot be written: %s", path, strerror(error));
}

/* Length of the folder in front of the last part of a path, its '/' included. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/*
 * Renaming onto a symbolic link would replace the link: finds what it stands for,
 * which need not exist. Returns an errno value, 0 when done.
 */
static int follow_links(char path[PATH_MAX])
{
    for (int i = 0; i < MAX_LINKS; i++) {
        char link[PATH_MAX];
        ssize_t length = readlink(path, link, sizeof link - 1);
        if (length < 0) {
            return 0;
        }
        link[length] = '\0';
        size_t folder = link[0] == '/' ? 0 : folder_length(path);
        if (folder + (size_t)length >= PATH_MAX) {
            return ENAMETOOLONG;
        }
        memcpy(path + folder, link, (size_t)length + 1);
    }
    return ELOOP;
}

/* Links below /dev and /proc stand for open files, whatever file that is. */
static bool is_in_place(const char *path, const struct stat *there)
{
    return !S_ISREG(there->st_mode) || strncmp(path, "/dev/", 5) == 0 ||
           strncmp(path, "/proc/", 6) == 0;
}

/* O_EXCL with mode 0666 is mkstemp that heeds the umask. */
static int open_temporary(struct fulcrum_output *output)
{
    int folder = (int)folder_length(output->path);
    int descriptor = -1;
    for (unsigned i = 0; i < MAX_ATTEMPTS && descriptor < 0; i++) {
        int length = snprintf(output->temporary, sizeof output->temporary,
            "%.*s.fulcrum-%ld-%u.tmp", folder, output->path, (long)getpid(), i);
        if (length < 0 || (size_t)length >= sizeof output->temporary) {
            return ENAMETOOLONG;
        }
        descriptor =
            open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) {
            return errno;
        }
    }
    if (descriptor < 0) {
        return EEXIST;
    }
    output->stream = fdopen(descriptor, "w");
    if (output->stream == NULL) {
        (void)close(descriptor);
        (void)unlink(output->temporary);
        return ENOMEM;
    }
    return 0;
}

/* A file that is there keeps its mode, and stays if it may not be written. */
static int open_replacement(struct fulcrum_output *output, const struct stat *there)
{
    if (there != NULL && access(output->path, W_OK) != 0) {
        return errno;
    }
    int error = open_temporary(output);
    if (error == 0 && there != NULL) {
        /* Fails on file systems without modes, where there is nothing to keep. */
        (void)fchmod(fileno(output->stream), there->st_mode & 07777);
    }
    return error;
}

static int open_path(struct fulcrum_output *output, const char *path)
{
    size_t length = strlen(path);
    if (length == 0) {
        return ENOENT;
    }
    if (length >= sizeof output->path) {
        return ENAMETOOLONG;
    }
    memcpy(output->path, path, length + 1);
    struct stat there;
    int exists = stat(path, &there) == 0;
    if ((exists && S_ISDIR(there.st_mode)) || path[length - 1] == '/') {
        return EISDIR;
    }
    if (exists && is_in_place(path, &there)) {
        /* Devices and pipes. Appending leaves a file that a shell redirects to as it
         * is. */
        output->stream = fopen(path, "a");
        return output->stream != NULL ? 0 : errno;
    }
    int error = follow_links(output->path);
    return error != 0 ? error : open_replacement(output, exists ? &there : NULL);
}

enum fulcrum_status fulcrum_output_open(
    const char *path, struct fulcrum_output **out, struct fulcrum_error *err)
{
    struct fulcrum_output *output = calloc(1, sizeof *output);
    TRY_MEMORY(output, err, "an output file");
    if (path == NULL || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        (void)snprintf(output->path, sizeof output->path, "standard output");
        output->stream = stdout;
        output->is_stdout = 1;
    } else {
        int error = open_path(output, path);
        if (error != 0) {
            free(output);
            return fail_write(err, path, error);
        }
    }
    *out = output;
    return FULCRUM_OK;
}

FILE *fulcrum_output_stream(struct fulcrum_output *output)
{
    return output->stream;
}

/*
 * Returns an errno value, 0 when every byte arrived. Errors of earlier writes show in
 * ferror, of buffered ones in fflush, of some network file systems in fclose alone. The
 * data must be on the disk before the name is, or a crash leaves an empty file.
 */
static int finish_stream(struct fulcrum_output *output)
{
    errno = 0;
    int failed = ferror(output->stream);
    if (fflush(output->stream) != 0 ||
        (output->temporary[0] != '\0' && fsync(fileno(output->stream)) != 0)) {
        failed = 1;
    }
    int error = errno;
    if (!output->is_stdout && fclose(output->stream) != 0) {
        failed = 1;
        error = error != 0 ? error : errno;
    }
    if (!failed) {
        return 0;
    }
    return error != 0 ? error : EIO;
}

enum fulcrum_status fulcrum_output_commit(
    struct fulcrum_output *output, struct fulcrum_error *err)
{
    int error = finish_stream(output);
    if (output->temporary[0] != '\0') {
        if (error == 0 && rename(output->temporary, output->path) != 0) {
            error = errno;
        }
        if (error != 0) {
            (void)unlink(output->temporary);
        }
    }
    enum fulcrum_status status =
        error != 0 ? fail_write(err, output->path, error) : FULCRUM_OK;
    free(output);
    return status;
}

enum fulcrum_status fulcrum_output_text(
    const char *path, const char *text, struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    TRY(fulcrum_output_open(path, &output, err));
    assert(output != NULL);
    (void)fputs(text, fulcrum_output_stream(output));
    return fulcrum_output_commit(output, err);
}

void fulcrum_print_escaped(FILE *stream, const char *text,
    const struct fulcrum_escape *escapes, const char *replacement)
{
    while (*text != '\0') {
        const char *piece = NULL;
        size_t length = 0;
        text += fulcrum_escape_next(text, escapes, replacement, &piece, &length);
        (void)fwrite(piece, 1, length, stream);
    }
}

void fulcrum_output_discard(struct fulcrum_output *output)
{
    if (output == NULL) {
        return;
    }
    if (!output->is_stdout) {
        (void)fclose(output->stream);
    }
    if (output->temporary[0] != '\0') {
        (void)unlink(output->temporary);
    }
    free(output);
}

enum fulcrum_status fulcrum_output_check(const char *path, struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    enum fulcrum_status status = fulcrum_output_open(path, &output, err);
    fulcrum_output_discard(output);
    return status;
}

const char *fulcrum_output_temporary(const struct fulcrum_output *output)
{
    return output->temporary;
}

int fulcrum_output_replaces(const char *path, const char *input)
{
    struct stat out;
    struct stat in;
    return stat(path, &out) == 0 && stat(input, &in) == 0 && !is_in_place(path, &out) &&
           out.st_dev == in.st_dev && out.st_ino == in.st_ino;
}

/* The folder of a path; 0: there is none. */
static int stat_folder(const char *path, struct stat *out)
{
    char folder[PATH_MAX];
    int length = (int)folder_length(path);
    int written = length > 0 ? snprintf(folder, sizeof folder, "%.*s", length, path)
                             : snprintf(folder, sizeof folder, ".");
    return written > 0 && (size_t)written < sizeof folder && stat(folder, out) == 0;
}

bool fulcrum_output_is_same(const char *left, const char *right)
{
    struct stat a;
    struct stat b;
    if (stat(left, &a) == 0 || stat(right, &b) == 0) {
        return fulcrum_output_replaces(left, right);
    }
    return strcmp(left, "-") != 0 &&
           strcmp(left + folder_length(left), right + folder_length(right)) == 0 &&
           stat_folder(left, &a) && stat_folder(right, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}
