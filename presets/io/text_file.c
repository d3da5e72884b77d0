/* text_file.c - whole text files in memory. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "presets/io/text_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "model/string.h"
#include "model/try.h"

/* A calibration with every sample is some megabytes; more is no file of ours. */
#define MAX_BYTE   ((size_t)64 << 20)
#define CHUNK_BYTE ((size_t)64 << 10)

static enum fulcrum_status fail_read(
    struct fulcrum_error *err, const char *path, int error)
{
    return fulcrum_fail(
        err, FULCRUM_ERR_FILE, "%s: cannot be read: %s", path, strerror(error));
}

/* Pipes have no size to ask for: grows as it reads, little beyond the limit. */
static enum fulcrum_status read_stream(FILE *stream, const char *path,
    struct fulcrum_string *text, struct fulcrum_error *err)
{
    size_t got = 1;
    while (got > 0 && text->length <= MAX_BYTE) {
        char *end = fulcrum_string_room(text, CHUNK_BYTE);
        TRY_MEMORY(end, err, "%s", path);
        got = fread(end, 1, CHUNK_BYTE, stream);
        text->length += got;
        end[got] = '\0';
    }
    if (ferror(stream)) {
        return fail_read(err, path, errno);
    }
    FAIL_IF(text->length > MAX_BYTE, err, FULCRUM_ERR_FILE, "%s: is larger than 64 MiB",
        path);
    /* Without a byte order mark. */
    if (text->length >= 3 && memcmp(text->chars, "\xef\xbb\xbf", 3) == 0) {
        text->length -= 3;
        memmove(text->chars, text->chars + 3, text->length + 1);
    }
    FAIL_IF(text->length == 0, err, FULCRUM_ERR_FORMAT, "%s: is empty", path);
    FAIL_IF(strlen(text->chars) != text->length, err, FULCRUM_ERR_FORMAT,
        "%s: byte %zu is zero: expected a text file", path, strlen(text->chars) + 1);
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
    struct fulcrum_string text = {0};
    enum fulcrum_status status = read_stream(stream, path, &text, err);
    if (!is_stdin) {
        (void)fclose(stream);
    }
    if (status != FULCRUM_OK) {
        fulcrum_string_clear(&text);
        return status;
    }
    *out = text.chars;
    *length = text.length;
    return FULCRUM_OK;
}
