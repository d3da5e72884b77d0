/* answer_writer.h - answers to a stream of networks, written as they come. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_ANSWER_WRITER_H
#define FULCRUM_CLI_ANSWER_WRITER_H

#include "cli/answer.h"
#include "cli/command.h"

/* Writes in the context's format: JSON and CSV at once, a table at the end. */
struct fulcrum_answer_writer;

/*
 *   context  borrowed
 *   out      the caller frees it with fulcrum_answer_writer_free
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_answer_writer_new(
    const struct fulcrum_context *context, struct fulcrum_answer_writer **out,
    struct fulcrum_error *err);

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
