/* answer.h - what comes of one line of a stream of networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OUTPUT_ANSWER_H
#define FULCRUM_CLI_OUTPUT_ANSWER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"
#include "model/exact/product_form.h"
#include "model/network/network.h"
#include "model/status.h"
#include "presets/load/network_line.h"

/* The lines of a file or pipe, in blocks, as they come. */

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
 *   fails    FULCRUM_ERR_FILE, FULCRUM_ERR_NO_MEMORY
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
 *   fails    FULCRUM_ERR_FILE, FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_INTERRUPTED
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

struct fulcrum_answer {
    struct fulcrum_network_line network; /* after a failure kind and name alone */
    enum fulcrum_status status;
    struct fulcrum_error failure;            /* one line, from "line N" on */
    struct fulcrum_solution solution;        /* of FULCRUM_KIND_NETWORK */
    double cycles_per_s;                     /* of FULCRUM_KIND_PRODUCT_FORM, as are */
    struct fulcrum_product_form_load *loads; /* one for each station, owned */
    char *json;                              /* one line; NULL until asked for */
};

/*
 * Reads and solves one line. Random streams derive from the seed and the line's number.
 * May run on several threads, each with its own line and answer.
 *   out      its owner calls fulcrum_answer_clear
 */
void fulcrum_answer_find(struct fulcrum_answer *out, const struct fulcrum_line *line,
    const struct fulcrum_solver_options *options);

/*
 * Makes the line of JSON that stands for the answer, or for why there is none.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_answer_make_json(
    struct fulcrum_answer *answer, struct fulcrum_error *err);

/* Frees what the answer owns. A zeroed answer is accepted. */
void fulcrum_answer_clear(struct fulcrum_answer *answer);

/* Answers to a stream of networks, written as they come. */

/* Writes in the context's format: JSON and CSV at once, a table at the end. */
struct fulcrum_answer_writer;

/* Borrows the context; the caller frees the writer with fulcrum_answer_writer_free. */
struct fulcrum_answer_writer *fulcrum_answer_writer_new(
    const struct fulcrum_context *context);

/* Accepts NULL. */
void fulcrum_answer_writer_free(struct fulcrum_answer_writer *writer);

/* An answer whose JSON text was made where the format is JSON. */
void fulcrum_answer_writer_add(
    struct fulcrum_answer_writer *writer, const struct fulcrum_answer *answer);

/*
 * Prints what was kept for the end.
 *   fails    FULCRUM_ERR_NO_MEMORY, now or at an earlier answer
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_answer_writer_end(
    struct fulcrum_answer_writer *writer, struct fulcrum_error *err);

#endif
