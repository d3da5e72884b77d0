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
        if (!make_room(buffer)) {
            return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", path);
        }
        got = fread(
            buffer->text + buffer->used, 1, buffer->room - buffer->used - 1, stream);
        buffer->used += got;
    }
    if (ferror(stream)) {
        return fail_read(err, path, errno);
    }
    if (buffer->used > MAX_BYTE) {
        return fulcrum_fail(err, FULCRUM_ERR_FILE, "%s: is larger than 64 MiB", path);
    }
    buffer->text[buffer->used] = '\0';
    return FULCRUM_OK;
}

static enum fulcrum_status check_text(
    const char *path, const char *text, size_t length, struct fulcrum_error *err)
{
    if (length == 0) {
        return fulcrum_fail(err, FULCRUM_ERR_FORMAT, "%s: is empty", path);
    }
    if (strlen(text) != length) {
        return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
            "%s: byte %zu is zero: expected a text file", path, strlen(text) + 1);
    }
    return FULCRUM_OK;
}

static void drop_byte_order_mark(char *text, size_t *length)
{
    if (*length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        *length -= 3;
        memmove(text, text + 3, *length + 1);
    }
}

static enum fulcrum_status open_file(
    const char *path, FILE **out, struct fulcrum_error *err)
{
    struct stat there;
    if (stat(path, &there) != 0) {
        return fail_read(err, path, errno);
    }
    if (S_ISDIR(there.st_mode)) {
        return fulcrum_fail(
            err, FULCRUM_ERR_FILE, "%s: is a directory: expected a file", path);
    }
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
    enum fulcrum_status status = is_stdin ? FULCRUM_OK : open_file(path, &stream, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    struct buffer buffer = {NULL, 0, 0};
    status = read_stream(stream, path, &buffer, err);
    if (!is_stdin) {
        (void)fclose(stream);
    }
    if (status == FULCRUM_OK) {
        drop_byte_order_mark(buffer.text, &buffer.used);
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
