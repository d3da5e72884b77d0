/* text_file.c - whole text files in memory. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "presets/io/text_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/status.h"
#include "model/try.h"

/* A calibration with every sample is some megabytes; more is no file of ours. */
#define MAX_BYTE  ((size_t)64 << 20)
#define MIN_CHUNK ((size_t)64 << 10)

static enum fulcrum_status fail_read(
    struct fulcrum_error *err, const char *path, int error)
{
    return fulcrum_fail(
        err, FULCRUM_ERR_FILE, "%s: cannot be read: %s", path, strerror(error));
}

struct buffer {
    char *text;
    size_t room;
    size_t used;
};

/* Room for at least one more byte and a zero byte; returns 0 where there is none. */
static int make_room(struct buffer *buffer)
{
    if (buffer->room - buffer->used >= 2) {
        return 1;
    }
    size_t room = buffer->room == 0 ? MIN_CHUNK : 2 * buffer->room;
    char *grown = realloc(buffer->text, room);
    if (grown == NULL) {
        return 0;
    }
    buffer->text = grown;
    buffer->room = room;
    return 1;
}

/* Pipes have no size to ask for: grows as it reads, little beyond the limit. */
static enum fulcrum_status read_stream(
    FILE *stream, const char *path, struct buffer *buffer, struct fulcrum_error *err)
{
    size_t got = 1;
    while (got > 0 && buffer->used <= MAX_BYTE) {
        FAIL_IF(!make_room(buffer), err, FULCRUM_ERR_NO_MEMORY, "%s", path);
        got = fread(
            buffer->text + buffer->used, 1, buffer->room - buffer->used - 1, stream);
        buffer->used += got;
    }
    if (ferror(stream)) {
        return fail_read(err, path, errno);
    }
    FAIL_IF(buffer->used > MAX_BYTE, err, FULCRUM_ERR_FILE, "%s: is larger than 64 MiB",
        path);
    buffer->text[buffer->used] = '\0';
    return FULCRUM_OK;
}

static enum fulcrum_status check_text(
    const char *path, const char *text, size_t length, struct fulcrum_error *err)
{
    FAIL_IF(length == 0, err, FULCRUM_ERR_FORMAT, "%s: is empty", path);
    FAIL_IF(strlen(text) != length, err, FULCRUM_ERR_FORMAT,
        "%s: byte %zu is zero: expected a text file", path, strlen(text) + 1);
    return FULCRUM_OK;
}

static enum fulcrum_status open_file(
    const char *path, FILE **out, struct fulcrum_error *err)
{
    struct stat there;
    if (stat(path, &there) != 0) {
        return fail_read(err, path, errno);
    }
    FAIL_IF(S_ISDIR(there.st_mode), err, FULCRUM_ERR_FILE,
        "%s: is a directory: expected a file", path);
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        return fail_read(err, path, errno);
    }
    *out = stream;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_text_file_read(
    const char *path, char **out, size_t *length, struct fulcrum_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *stream = stdin;
    TRY(is_stdin ? FULCRUM_OK : open_file(path, &stream, err));
    struct buffer buffer = {NULL, 0, 0};
    enum fulcrum_status status = read_stream(stream, path, &buffer, err);
    if (!is_stdin) {
        (void)fclose(stream);
    }
    if (status == FULCRUM_OK) {
        /* Without a byte order mark. */
        if (buffer.used >= 3 && memcmp(buffer.text, "\xef\xbb\xbf", 3) == 0) {
            buffer.used -= 3;
            memmove(buffer.text, buffer.text + 3, buffer.used + 1);
        }
        status = check_text(path, buffer.text, buffer.used, err);
    }
    if (status != FULCRUM_OK) {
        free(buffer.text);
        return status;
    }
    *out = buffer.text;
    *length = buffer.used;
    return FULCRUM_OK;
}
