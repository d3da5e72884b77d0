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

/* Which bytes are well-formed UTF-8. */

size_t fulcrum_utf8_length(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    static const struct {
        unsigned char first_least;
        unsigned char first_most;
        unsigned char second_least;
        unsigned char second_most;
        unsigned char length;
    } forms[] = {
        {0x01, 0x7f, 0x00, 0x00, 1},
        {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    size_t i = 0;
    while (i < sizeof forms / sizeof forms[0] &&
           (byte[0] < forms[i].first_least || byte[0] > forms[i].first_most)) {
        i++;
    }
    if (i == sizeof forms / sizeof forms[0]) {
        return 0;
    }
    size_t length = forms[i].length;
    if (length > 1 &&
        (byte[1] < forms[i].second_least || byte[1] > forms[i].second_most)) {
        return 0;
    }
    for (size_t j = 2; j < length; j++) {
        if ((byte[j] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

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
