/* sweep_writer.h - points of a sweep, written as they come. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_SWEEP_WRITER_H
#define FULCRUM_CLI_SWEEP_WRITER_H

#include "cli/command.h"
#include "model/sweep.h"

/* What is the same for every point; borrowed. */
struct fulcrum_sweep_head {
    const char *machine;
    const char *workload;
    const char *calibration;
    const char *actors_rule; /* how the number of actors was chosen */
    const struct fulcrum_sweep_plan *plan;
    const char *columns; /* comma-separated names to keep; NULL: all */
};

/* Writes in the context's format: CSV and JSON stream, a table is printed at the end.
 */
struct fulcrum_sweep_writer;

/*
 *   context  borrowed; its exit code becomes 2 where a column is not known
 *   out      the caller frees it with fulcrum_sweep_writer_free
 *   fails    FULCRUM_ERR_UNKNOWN_NAME (a column), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_writer_new(
    const struct fulcrum_sweep_head *head, struct fulcrum_context *context,
    struct fulcrum_sweep_writer **out, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_sweep_writer_free(struct fulcrum_sweep_writer *writer);

void fulcrum_sweep_writer_add(
    struct fulcrum_sweep_writer *writer, const struct fulcrum_sweep_point *point);

/*
 * Ends the output: whole, whatever the number of points so far.
 *   finding   one sentence, or NULL
 *   complete  0: the sweep was interrupted
 *   fails     FULCRUM_ERR_NO_MEMORY, now or at an earlier point
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_writer_end(
    struct fulcrum_sweep_writer *writer, const char *finding, int complete,
    struct fulcrum_error *err);

#endif
