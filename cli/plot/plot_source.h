/* plot_source.h - the file behind a chart: what it holds, and what it says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_SOURCE_H
#define FULCRUM_CLI_PLOT_PLOT_SOURCE_H

#include <stdbool.h>

#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/status.h"
#include "model/string.h"
#include "presets/result/result_io.h"

/* "hardware threads (machine.cpu.thread_count)"; the path where it is no field. */
void fulcrum_plot_field_label(char *out, size_t size, const char *path);

/* What was read, as charts look at it. */

double fulcrum_plot_number(
    const struct fulcrum_table *table, size_t row, const char *key);
/* "" where there is none. */
const char *fulcrum_plot_text(
    const struct fulcrum_table *table, size_t row, const char *key);

/* Whether a cell is that text. */
bool fulcrum_plot_says(
    const struct fulcrum_table *table, size_t row, const char *key, const char *text);

/* A number with its interval, in the row at hand. */
void fulcrum_plot_cell_add(
    struct fulcrum_table *table, const char *key, struct fulcrum_cell cell);

/* A text of at most 399 bytes, made as by printf, likewise. */
void fulcrum_plot_print(struct fulcrum_table *table, const char *key,
    const char *format, ...) FULCRUM_PRINTF(3, 4);

/* Whether a row's "status" is "ok", or there is none. */
bool fulcrum_plot_ran(const struct fulcrum_table *table, size_t row);

/* A text of all rows, beside them or in the first; "" where there is none. */
const char *fulcrum_plot_text_of(const struct fulcrum_result *result,
    const struct fulcrum_table *table, const char *key);

/* Whether a field of machine, workload, calibration or run has more than one value. */
bool fulcrum_plot_varies(const struct fulcrum_table *table, size_t column);

/* The detail of a failure has columns that are near in name, or all there are. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_check_column(
    const struct fulcrum_table *table, const char *option, const char *column,
    struct fulcrum_error *err);

/* fulcrum_table_check_numbers of each column; the list ends with NULL. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_check_numbers(
    const struct fulcrum_table *table, const char *const *columns,
    struct fulcrum_error *err);

/*
 * A thin line in a panel of a chart of lines, or a text beside its title.
 *   group    the cell that it is in; NULL: there is but one
 *   x        FULCRUM_UNKNOWN: no line
 */
void fulcrum_plot_guide_add(struct fulcrum_result *result, int panel, const char *group,
    double x, const char *text);

/* The words, the text and the end, unless the text is "". */
void fulcrum_plot_say(
    struct fulcrum_string *out, const char *words, const char *text, const char *end);

/* "WORKLOAD on MACHINE", or the one that there is. */
void fulcrum_plot_title_add(struct fulcrum_result *out, const char *key,
    const char *workload, const char *machine);

/* Loads the machine at the front of a list with commas, as fulcrum_list_part. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_next_machine(const char **list,
    char name[64], struct fulcrum_design *out, struct fulcrum_error *err);

/* For qsort of numbers. */
int fulcrum_plot_compare(const void *a, const void *b);

/* Of two in one document the later is drawn, unless the earlier is asked for. */
enum fulcrum_plot_content {
    FULCRUM_PLOT_SWEEP,
    FULCRUM_PLOT_PREDICTION,
    FULCRUM_PLOT_VALIDATION,
    FULCRUM_PLOT_FIT,
    FULCRUM_PLOT_STAGES,
    FULCRUM_PLOT_MEASURED,
    FULCRUM_PLOT_NODE,
    FULCRUM_PLOT_SENSITIVITY,
    FULCRUM_PLOT_SCALING,
    FULCRUM_PLOT_UPGRADES,
    FULCRUM_PLOT_PLACEMENTS,
    FULCRUM_PLOT_MEMORY,
    FULCRUM_PLOT_COMPONENTS,
    FULCRUM_PLOT_CALIBRATION,
    FULCRUM_PLOT_REFERENCE,
    FULCRUM_PLOT_CONTENTS
};

/* An open file. Owned by whoever opened it. */
struct fulcrum_plot_source {
    const char *name; /* borrowed: a path or a preset's name */
    enum fulcrum_plot_content content;
    struct fulcrum_result *result; /* all that is in the file; NULL: of a preset */
    struct fulcrum_calibration *calibration; /* where it is one, else NULL */
    struct fulcrum_reference *reference;     /* likewise */
    bool is_lent;                            /* the result is another's */
};

/*
 * Reads what a chart is drawn from. What can be read but once, such as a pipe, is taken
 * for what is expected, and so is a document of two contents.
 *   expected  FULCRUM_PLOT_CONTENTS: any will do
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_source_open(const char *name,
    enum fulcrum_plot_content expected, struct fulcrum_plot_source *out,
    struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_plot_source_close(struct fulcrum_plot_source *source);

/* "a sweep of 'fulcrum explore'", ... Static. */
const char *fulcrum_plot_content_words(enum fulcrum_plot_content content);

#endif
