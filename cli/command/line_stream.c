/* line_stream.c - the lines of a file or pipe, in blocks, as they come. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "cli/command/line_stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"
#include "model/number.h"
#include "model/try.h"

/*
 * One buffer holds what was read and not yet handed out. It grows with the longest line
 * up to a limit, beyond which a line is dropped as it comes, so that memory is bounded
 * whatever the input is. read() is used and not stdio, because it returns what there is
 * instead of waiting for a full buffer, and because a signal ends the wait.
 */

enum { CHUNK_BYTE = 1 << 18, POLL_MS = 200 };

struct fulcrum_line_stream {
    const char *name; /* for messages */
    const volatile sig_atomic_t *stop;
    int descriptor;
    bool is_owned;
    bool is_at_end;
    bool is_skipping; /* inside a line that is too long */
    double size_byte; /* NAN: not a file */
    double read_byte;
    size_t line_number; /* of the last line seen */
    char *text;
    size_t room;
    size_t start; /* of what was not handed out yet */
    size_t end;
};

static enum fulcrum_status fail_read(
    const struct fulcrum_line_stream *stream, int error, struct fulcrum_error *err)
{
    return fulcrum_fail(
        err, FULCRUM_ERR_FILE, "%s: cannot be read: %s", stream->name, strerror(error));
}

enum fulcrum_status fulcrum_line_stream_open(const char *path,
    const volatile sig_atomic_t *stop, struct fulcrum_line_stream **out,
    struct fulcrum_error *err)
{
    struct fulcrum_line_stream *stream = fulcrum_allocate(1, sizeof *stream);
    stream->name = "standard input";
    stream->stop = stop;
    stream->size_byte = FULCRUM_UNKNOWN;
    stream->descriptor = STDIN_FILENO;
    if (path != NULL && strcmp(path, "-") != 0) {
        stream->name = path;
        stream->descriptor = open(path, O_RDONLY | O_CLOEXEC);
        stream->is_owned = 1;
    }
    struct stat found = {.st_mode = 0};
    int error = stream->descriptor < 0 || fstat(stream->descriptor, &found) != 0 ? errno
                : S_ISDIR(found.st_mode) ? EISDIR
                                         : 0;
    if (error != 0) {
        enum fulcrum_status status = fail_read(stream, error, err);
        fulcrum_line_stream_free(stream);
        return status;
    }
    if (S_ISREG(found.st_mode) && found.st_size > 0) {
        stream->size_byte = (double)found.st_size;
    }
    *out = stream;
    return FULCRUM_OK;
}

void fulcrum_line_stream_free(struct fulcrum_line_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    if (stream->is_owned && stream->descriptor >= 0) {
        (void)close(stream->descriptor);
    }
    free(stream->text);
    free(stream);
}

/*
 * A signal between a look at the flag and read() would leave it waiting: poll() bounds
 * the wait.
 */
static enum fulcrum_status wait_for_input(
    const struct fulcrum_line_stream *stream, struct fulcrum_error *err)
{
    struct pollfd input = {stream->descriptor, POLLIN, 0};
    int ready = 0;
    while (ready == 0 && *stream->stop == 0) {
        ready = poll(&input, 1, POLL_MS);
        if (ready < 0 && errno != EINTR) {
            return fail_read(stream, errno, err);
        }
        ready = ready < 0 ? 0 : ready;
    }
    return *stream->stop == 0 ? FULCRUM_OK
                              : fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED,
                                    "%s: reading was stopped", stream->name);
}

static enum fulcrum_status read_more(
    struct fulcrum_line_stream *stream, struct fulcrum_error *err)
{
    /* Moves what is left to the front; leaves room for a chunk and a zero byte. */
    size_t kept = stream->end - stream->start;
    if (kept > 0 && stream->start > 0) {
        memmove(stream->text, stream->text + stream->start, kept);
    }
    stream->start = 0;
    stream->end = kept;
    if (!(stream->room - kept > CHUNK_BYTE)) {
        size_t room = stream->room == 0 ? 2 * (size_t)CHUNK_BYTE : 2 * stream->room;
        char *grown = realloc(stream->text, room);
        TRY_MEMORY(grown, err, "%s: a line", stream->name);
        stream->text = grown;
        stream->room = room;
    }
    ssize_t got = -1;
    while (got < 0) {
        TRY(wait_for_input(stream, err));
        got = read(stream->descriptor, stream->text + stream->end, CHUNK_BYTE);
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            return fail_read(stream, errno, err);
        }
    }
    static const char mark[] = "\xef\xbb\xbf";
    stream->end += (size_t)got;
    stream->read_byte += (double)got;
    stream->is_at_end = got == 0;
    bool was_short = stream->read_byte - (double)got < (double)strlen(mark);
    if (was_short && stream->start == 0 && stream->end >= strlen(mark) &&
        memcmp(stream->text, mark, strlen(mark)) == 0) {
        stream->start = strlen(mark);
    }
    return FULCRUM_OK;
}

/*
 * Takes one line off the buffer, or what is left at the end of the input. Returns 0
 * where more must be read first.
 */
static int take_line(struct fulcrum_line_stream *stream, struct fulcrum_line *out)
{
    size_t kept = stream->end - stream->start;
    char *text = stream->text + stream->start;
    char *newline = kept > 0 ? memchr(text, '\n', kept) : NULL;
    bool is_last = newline == NULL && stream->is_at_end;
    if (newline == NULL && !(is_last && (kept > 0 || stream->is_skipping))) {
        return 0;
    }
    size_t length = newline != NULL ? (size_t)(newline - text) : kept;
    stream->start += length + (newline != NULL ? 1 : 0);
    stream->line_number++;
    bool is_too_long = stream->is_skipping || length > FULCRUM_LINE_MOST_BYTE;
    length = is_too_long ? 0 : length;
    text[length] = '\0';
    *out = (struct fulcrum_line){text, length, stream->line_number, is_too_long};
    stream->is_skipping = 0;
    return 1;
}

enum fulcrum_status fulcrum_line_stream_next(struct fulcrum_line_stream *stream,
    struct fulcrum_line *lines, size_t most, size_t *count, struct fulcrum_error *err)
{
    assert(most > 0);
    enum fulcrum_status status = FULCRUM_OK;
    *count = 0;
    for (;;) {
        struct fulcrum_line line;
        while (*count < most && take_line(stream, &line)) {
            lines[*count] = line;
            bool is_blank = strspn(line.text, " \t\r") == line.length;
            *count += line.is_too_long || !is_blank ? 1 : 0;
        }
        if (*count > 0 || stream->is_at_end || status != FULCRUM_OK) {
            return status;
        }
        /* What is left has no end of line: where it is too long already, it is dropped.
         */
        if (stream->is_skipping ||
            stream->end - stream->start > FULCRUM_LINE_MOST_BYTE) {
            stream->is_skipping = 1;
            stream->start = stream->end;
        }
        status = read_more(stream, err);
    }
}

const char *fulcrum_line_stream_name(const struct fulcrum_line_stream *stream)
{
    return stream->name;
}

double fulcrum_line_stream_done_frac(const struct fulcrum_line_stream *stream)
{
    double left_byte = (double)(stream->end - stream->start);
    double done_frac = (stream->read_byte - left_byte) / stream->size_byte;
    return done_frac > 1.0 ? 1.0 : done_frac;
}

bool fulcrum_line_stream_is_terminal(const struct fulcrum_line_stream *stream)
{
    return isatty(stream->descriptor);
}
