/* plot_file.h - a file, opened and drawn as `fulcrum plot` does it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_PLOT_FILE_H
#define FULCRUM_TESTS_PLOT_FILE_H

#include "cli/plot/plot_job.h"
#include "tests/support/scratch.h"

/* An open file, and what is made of it. */
struct plot_file {
    struct scratch scratch;
    struct fulcrum_plot_job job; /* its source is the file; tests set its options */
    struct fulcrum_canvas *canvas;
};

/*
 * Writes `text` and opens it, whatever it holds.
 *   text     NULL: `name` is a preset
 *   out      plot_file_close frees what it owns, also after a failure
 */
enum fulcrum_status plot_file_try(struct plot_file *out, const char *name,
    const char *text, struct fulcrum_error *err);

/* The same, where it has to succeed. */
void plot_file_open(struct plot_file *out, const char *name, const char *text);

/* What a chart adds to the rows of its file, or the rows that it makes. */
enum fulcrum_status plot_file_add(
    struct plot_file *file, const char *chart, struct fulcrum_error *err);

/* The whole chart, on a page of 900 x 700 points where the job gives none. */
enum fulcrum_status plot_file_draw(
    struct plot_file *file, const char *chart, struct fulcrum_error *err);

/* Opens and draws. */
enum fulcrum_status plot_file_show(struct plot_file *out, const char *name,
    const char *text, const char *chart, struct fulcrum_error *err);

/* A cell of a table, or of the only one of a CSV file. */
struct fulcrum_cell plot_file_cell(
    const struct plot_file *file, const char *table, size_t row, const char *key);

/* Rows of that table. */
size_t plot_file_rows(const struct plot_file *file, const char *table);

/* A text of the result, or the first of a list. */
const char *plot_file_text(const struct plot_file *file, const char *key);

/* What a drawing says, how often; {NULL}: the end. */
struct said {
    const char *words;
    size_t count;
};

/* Asserts it, and prints what differs. */
void assert_said(const struct fulcrum_canvas *canvas, const struct said *said);

void plot_file_close(struct plot_file *file);

/* What a drawing is to say. */
struct drawing {
    const char *name; /* of a preset where there is no text */
    const char *text;
    struct said said[18];
};

/* Asserts it; the source is no option. */
void assert_drawing(const char *chart, const struct drawing *drawing,
    const struct fulcrum_plot_job *options);

/* Of several, without options. */
void assert_drawings(const char *chart, const struct drawing *cases, size_t count);

/* A file that is no chart, and words of the refusal. */
struct refusal {
    const char *text; /* NULL: the name is a preset */
    enum fulcrum_status status;
    const char *part;
};

/* Asserts that the chart is refused. */
void assert_refusal(const char *chart, const char *name, const struct refusal *refusal,
    const struct fulcrum_plot_job *options);

/* Of several, without options. */
void assert_refusals(
    const char *chart, const char *name, const struct refusal *cases, size_t count);

/* What is in a cell; of a column, or "KEY_lo" and "KEY_hi". */
struct wanted {
    size_t row;
    const char *key;
    double number; /* NAN: nothing is known */
};

void assert_cells(const struct plot_file *file, const char *table,
    const struct wanted *cells, size_t count);

struct wanted_text {
    size_t row;
    const char *key;
    const char *text;
};

void assert_cell_texts(const struct plot_file *file, const char *table,
    const struct wanted_text *cells, size_t count);

#endif
