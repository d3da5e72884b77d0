/* plot_file.h - a file of results, opened as `fulcrum plot` does it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_PLOT_FILE_H
#define FULCRUM_TESTS_PLOT_FILE_H

#include "cli/plot/plot_data.h"
#include "cli/plot/plot_rows.h"
#include "cli/plot/plot_source.h"
#include "tests/support/scratch.h"

/* A file in a folder of its own, and its rows. */
struct plot_file {
    struct scratch scratch;
    char *path;
    struct fulcrum_plot_source source;
    struct fulcrum_plot_rows *rows;
};

/*
 * Writes `text` and opens it, whatever it holds.
 *   key      of the array of rows, in JSON
 *   out      plot_file_close frees what it owns, also after a failure
 */
enum fulcrum_status plot_file_try(struct plot_file *out, const char *name,
    const char *text, const char *key, struct fulcrum_error *err);

/* The same, where it has to succeed. */
void plot_file_open(
    struct plot_file *out, const char *name, const char *text, const char *key);

/* The same, with all that the file holds as a result, which the caller frees. */
void plot_file_result(struct plot_file *out, const char *name, const char *text,
    struct fulcrum_result **result);

void plot_file_close(struct plot_file *file);

/* Memory of the chart data at hand, without words; one for all tests of a program. */
struct fulcrum_plot_room *plot_file_room(void);

#endif
