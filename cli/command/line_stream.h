/* line_stream.h - the lines of a file or pipe, in blocks, as they come. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_LINE_STREAM_H
#define FULCRUM_CLI_COMMAND_LINE_STREAM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/status.h"

/* The longest line that is kept, in bytes. */
#define FULCRUM_LINE_MOST_BYTE ((size_t)1 << 20)

struct fulcrum_line {
    const char *text; /* a zero byte in place of the line's end */
    size_t length;
    size_t number;    /* from 1, blank lines counted */
    bool is_too_long; /* the text was dropped */
};

struct fulcrum_line_stream;

/*
 *   path     "-" or NULL: standard input
 *   stop     set from outside to end the reading; borrowed
 *   out      the caller frees it with fulcrum_line_stream_free
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_line_stream_open(const char *path,
    const volatile sig_atomic_t *stop, struct fulcrum_line_stream **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_line_stream_free(struct fulcrum_line_stream *stream);

/*
 * The next lines that are not blank, at most `most`. Waits for the first one only, so
 * that who writes a line and waits for its answer is not kept waiting for a block to
 * fill. A byte-order mark is taken off.
 *   lines    their text is borrowed until the next call
 *   count    0: there are no more
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_line_stream_next(
    struct fulcrum_line_stream *stream, struct fulcrum_line *lines, size_t most,
    size_t *count, struct fulcrum_error *err);

/* The path, or "standard input". Borrowed. */
const char *fulcrum_line_stream_name(const struct fulcrum_line_stream *stream);

/* Share of a file that was read; NAN for a pipe or terminal. */
double fulcrum_line_stream_done_frac(const struct fulcrum_line_stream *stream);

/* Whether somebody types the lines. */
bool fulcrum_line_stream_is_terminal(const struct fulcrum_line_stream *stream);

#endif
