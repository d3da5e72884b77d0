/* plot_job.h - one chart to be drawn: of which kind, from which file, on what page. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_JOB_H
#define FULCRUM_CLI_PLOT_PLOT_JOB_H

#include <stdbool.h>

#include "calibrate/reference/validation.h"
#include "cli/option.h"
#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/string.h"
#include "plots/spec/charts.h"
#include "presets/result/result_io.h"

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

struct fulcrum_plot_job;

/*
 * Adds the columns, words, guides and footnotes that a chart needs beside those of its
 * file; rows too, to a result that is empty.
 *   fails    FULCRUM_ERR_FORMAT (a cell that is no number), FULCRUM_ERR_RANGE (more, or
 *            other values, than the chart holds), FULCRUM_ERR_UNSUPPORTED (the chart is
 *            not drawn from such a file), FULCRUM_ERR_NO_MEMORY
 */
typedef enum fulcrum_status fulcrum_plot_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err);

/* Where the rows of a chart come from. */
enum fulcrum_plot_rows {
    FULCRUM_PLOT_READ,     /* they are in the file, as are all faults */
    FULCRUM_PLOT_LAID,     /* likewise; what is laid over them has faults of its own */
    FULCRUM_PLOT_MADE,     /* `add` makes them */
    FULCRUM_PLOT_PREDICTED /* likewise, from what the model says of a reference */
};

/* A chart, and what it is drawn from. */
struct fulcrum_plot {
    const struct fulcrum_chart *chart;
    enum fulcrum_plot_content content;
    enum fulcrum_plot_rows rows;
    const char *numbers;   /* columns that must not hold texts, spaces between them */
    fulcrum_plot_add *add; /* NULL: the file has all that it needs */
    const struct fulcrum_bar_chart *bars; /* NULL: it has none */
    /* The column of a sweep, or the quantity of a reference, that asks for the chart
     * unless the user does. NULL: any. */
    const char *column;
    /*
     * Words around it; NULL, and where they come to nothing: those of the result or the
     * chart. "{key}" is a fact of the result, or what all its rows have in a column.
     * "[A|B]" is the first of which all keys are known, or nothing; at the beginning of
     * the text without what stands before a '^'.
     */
    const char *title;
    const char *subtitle;
};

/* The chart of that name, of that content or else of the first it has. NULL: none. */
const struct fulcrum_plot *fulcrum_plot_find(
    const char *chart, enum fulcrum_plot_content content);

/* What is asked for, as the options of `fulcrum plot` have it. Texts may be NULL. */
struct fulcrum_plot_job {
    const char *input;
    struct fulcrum_text_list more; /* sweeps and predictions beside it */
    const char *chart;             /* NULL: by what the file holds */
    const char *title;             /* in place of those made from the data */
    const char *subtitle;
    struct fulcrum_text_list references; /* to lay over a sweep */
    const char *machines; /* with commas, or "none"; NULL: those it knows best */
    const char *metric;   /* of a heat map: a column; NULL: steps_per_s */
    const char *x;        /* columns; NULL: the field that varies first, */
    const char *y;        /* and the other one */
    int contours;         /* of enum fulcrum_heat_contours */
    const char *pareto;   /* as --pareto takes it; NULL: what the file names, or
                             steps_per_s and system_w */
    int parts;            /* index of fulcrum_breakdowns */
    int scale;            /* of enum fulcrum_row_scale */
    double width_pt;
    double height_pt;
    double width_px; /* of PNG; NAN: twice the points */
    const struct fulcrum_plot *plot;
    struct fulcrum_plot_source source;
    struct fulcrum_validation validation; /* of the source, where it is predicted */
    struct fulcrum_result *made; /* what is drawn, where that is not the source's */
};

/*
 * Sets `plot`: the chart that is asked for, else the one that suits what the file
 * holds.
 *   fails    FULCRUM_ERR_FORMAT (a sweep without points)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_choose(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

/*
 * Adds what `plot` needs to the source's result, or makes one.
 *   fails    as `add` and fulcrum_validate; FULCRUM_ERR_FORMAT (no such rows)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_prepare(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

/*
 * The same, and draws it.
 *   fails    also as fulcrum_chart_draw
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_draw(struct fulcrum_plot_job *job,
    struct fulcrum_canvas *canvas, struct fulcrum_error *err);

/* Frees what the job has opened and made. */
void fulcrum_plot_clear(struct fulcrum_plot_job *job);

/*
 * Writes a page, as fulcrum_canvas_write, to a file that appears whole or not at all.
 *   fails    also as fulcrum_output_open
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_write(
    const struct fulcrum_canvas *canvas, const char *path, double png_width_px,
    struct fulcrum_error *err);

/* What each chart adds, as its file says. */
fulcrum_plot_add fulcrum_plot_pareto_add, fulcrum_plot_heat_add, fulcrum_plot_ratio_add,
    fulcrum_plot_published_add, fulcrum_plot_breakdown_add, fulcrum_plot_gpu_time_add,
    fulcrum_plot_stages_add, fulcrum_plot_calibration_add, fulcrum_plot_sm_time_add,
    fulcrum_plot_coverage_add, fulcrum_plot_efficiency_add, fulcrum_plot_measured_add,
    fulcrum_plot_scaling_add, fulcrum_plot_parity_add, fulcrum_plot_fit_add,
    fulcrum_plot_tornado_add, fulcrum_plot_components_add;

/* Draws a heat map, whose axes are those of the job. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_heat_draw(
    const struct fulcrum_plot_job *job, const struct fulcrum_result *result,
    const struct fulcrum_chart_text *text, struct fulcrum_canvas *canvas,
    struct fulcrum_error *err);

/* Columns that are fields of machine, workload, calibration or run and vary. */
struct fulcrum_plot_fields {
    size_t count;
    size_t columns[8]; /* the first of them */
};

struct fulcrum_plot_fields fulcrum_plot_fields_of(const struct fulcrum_table *table);

/* Adds "64 actors, 2 GPUs, knee 0.5": what the fields are in a row. */
void fulcrum_plot_fields_name(struct fulcrum_string *out,
    const struct fulcrum_table *table, const struct fulcrum_plot_fields *fields,
    size_t row);

double fulcrum_plot_number(
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

/* Adds the flags of rows that ran; returns how many did not. */
size_t fulcrum_plot_flags_add(
    struct fulcrum_string *out, const struct fulcrum_table *table);

/* A text of all rows, beside them or in the first; "" where there is none. */
const char *fulcrum_plot_text_of(const struct fulcrum_result *result,
    const struct fulcrum_table *table, const char *key);

/*
 * A thin line in a panel of a chart of lines, or a text beside its title.
 *   group    the cell that it is in; NULL: there is but one
 *   x        FULCRUM_UNKNOWN: no line
 */
void fulcrum_plot_guide_add(struct fulcrum_result *result, int panel, const char *group,
    double x, const char *text);

/* Loads the machine at the front of a list with commas, as fulcrum_list_part. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_next_machine(const char **list,
    char name[64], struct fulcrum_design *out, struct fulcrum_error *err);

#endif
