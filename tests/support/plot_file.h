/* plot_file.h - a file of results, opened as `fulcrum plot` does it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_PLOT_FILE_H
#define FULCRUM_TESTS_PLOT_FILE_H

#include "cli/plot/plot_data.h"
#include "cli/plot/plot_source.h"
#include "tests/support/scratch.h"

/* An open file in a folder of its own. */
struct plot_file {
    struct scratch scratch;
    char *path;
    struct fulcrum_plot_source source;
};

/*
 * Writes `text` and opens it, whatever it holds.
 *   out      plot_file_close frees what it owns, also after a failure
 */
enum fulcrum_status plot_file_try(struct plot_file *out, const char *name,
    const char *text, struct fulcrum_error *err);

/* The same, where it has to succeed. */
void plot_file_open(struct plot_file *out, const char *name, const char *text);

/* The same, with all that the file holds as a result, which the caller frees. */
void plot_file_result(struct plot_file *out, const char *name, const char *text,
    struct fulcrum_result **result);

void plot_file_close(struct plot_file *file);

#endif
