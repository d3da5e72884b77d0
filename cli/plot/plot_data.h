/* plot_data.h - the data of each chart, from the files that fulcrum writes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_DATA_H
#define FULCRUM_CLI_PLOT_PLOT_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/reference/validation.h"
#include "model/design/calibration.h"
#include "model/design/machine.h"
#include "model/design/reference.h"
#include "model/status.h"
#include "plots/chart/chart.h"
#include "plots/spec/charts.h"
#include "presets/result/result_io.h"

/* Words that replace the ones made from the data; each may be NULL. */
struct fulcrum_plot_words {
    const char *title;
    const char *subtitle;
};

/* Machines that people know, to be marked on charts. */

enum { FULCRUM_PLOT_LANDMARKS_MAX = 12 };

struct fulcrum_plot_landmarks {
    struct fulcrum_machine machines[FULCRUM_PLOT_LANDMARKS_MAX];
    char names[FULCRUM_PLOT_LANDMARKS_MAX][64]; /* as they were given */
    size_t count;
};

/*
 *   list     presets or files, separated by commas; "none"; NULL: the DGX systems
 *   fails    FULCRUM_ERR_RANGE (too many), as fulcrum_machine_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_landmarks_load(
    const char *list, struct fulcrum_plot_landmarks *out, struct fulcrum_error *err);

/* The data of each chart, from the files that fulcrum writes. */

/* What charts of a sweep with published points show: figures of Inci et al. 2020. */
enum fulcrum_plot_curves { FULCRUM_PLOT_RUNTIME, FULCRUM_PLOT_POWER, FULCRUM_PLOT_SM };

/* Borrowed. */
struct fulcrum_plot_names {
    const char *const *items;
    size_t count;
};

/*
 * Adds what those charts need to a sweep: speed-ups and relative runtimes where it has
 * none, and points of references, carried over to the sweep's own scale ("published");
 * its footnotes say what was left out and why.
 *   names    presets or files
 *   fails    as fulcrum_reference_load; FULCRUM_ERR_UNSUPPORTED (a reference without a
 *            point for this chart; the detail says why), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_published_add(
    struct fulcrum_result *result, const struct fulcrum_plot_names *names,
    enum fulcrum_plot_curves kind, struct fulcrum_error *err);

/*
 * Adds to what `fulcrum cluster` wrote how each row splits the network ("parallelism"),
 * and where hybrid begins to win ("guides").
 *   fails    FULCRUM_ERR_FORMAT (no row, a count that is none), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_scaling_add(
    struct fulcrum_result *result, struct fulcrum_error *err);

/*
 * Published speed-ups over as many machines, and what predicts them.
 *   validation   of a reference of kind node_scaling
 *   out          empty; gets its "rows"
 *   fails        FULCRUM_ERR_UNSUPPORTED (nothing was predicted), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_scaling_of_reference(
    const struct fulcrum_validation *validation, struct fulcrum_result *out,
    struct fulcrum_error *err);

/*
 * A calibration's sweep over SMs, and the curves that were fitted to it.
 *   out          empty; gets its "samples"
 *   fails        FULCRUM_ERR_UNSUPPORTED (it has no such sweep), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_sm_time_add(
    const struct fulcrum_calibration *calibration, struct fulcrum_result *out,
    struct fulcrum_error *err);

/*
 * Samples and curves of a calibration.
 *   out      empty; gets its "samples"
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_calibration_add(
    const struct fulcrum_calibration *calibration, struct fulcrum_result *out,
    struct fulcrum_error *err);

/*
 * Adds which points of a sweep no other beats, whether it was written with --pareto or
 * without.
 *   metrics  two or three columns, as --pareto takes them; the first goes up, the
 *            second along, the third has colours. NULL: those that the file names (rows
 *            of metric and better), or steps_per_s and system_w
 *   fails    FULCRUM_ERR_FORMAT (a column is missing or no number, a metric is better
 *            neither way), FULCRUM_ERR_RANGE (not two or three metrics, one twice, a
 *            front is too large), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_pareto_add(
    struct fulcrum_result *result, const char *metrics, struct fulcrum_error *err);

/*
 * Adds families, units and errors to the points of `fulcrum validate`.
 *   fails    FULCRUM_ERR_FORMAT (a cell that is no number), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_parity_add(
    struct fulcrum_result *result, struct fulcrum_error *err);

/* The same for points of `fulcrum measure`: series, errors and marks. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_measured_add(
    struct fulcrum_result *result, struct fulcrum_error *err);

/*
 * Points of a reference of throughput beside what predicts them, over the reference's
 * actors, or its environments where it has none.
 *   out      empty; gets its "points"
 *   fails    FULCRUM_ERR_UNSUPPORTED (no such point), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_measured_of_reference(
    const struct fulcrum_validation *validation, struct fulcrum_result *out,
    struct fulcrum_error *err);

/*
 * The data of the other charts.
 *   room     keeps what `out` borrows; its words replace those made from the data
 *   out      set on success only
 *   fails    FULCRUM_ERR_FORMAT (no row, a cell that is no number), FULCRUM_ERR_RANGE
 *            (more curves, rows or bars than the chart holds), and as told
 */

/*
 * Adds what charts of a fit ("parameters" and "figures") and of a sensitivity ("rows")
 * show beside the columns of the file.
 *   fails    also FULCRUM_ERR_RANGE (a value or a prior that no chart can show)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_fit_add(
    struct fulcrum_result *result, struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_tornado_add(
    struct fulcrum_result *result, struct fulcrum_error *err);

/* A heat map from a sweep over two fields. */

/* What is asked for; texts may be NULL. Borrowed. */
struct fulcrum_plot_heat_options {
    const char *metric; /* a column; NULL: steps_per_s */
    const char *x;      /* columns; NULL: the field that varies first, */
    const char *y;      /* and the other one */
    enum fulcrum_heat_contours contours;
    const char *machines; /* separated by commas, or "none"; NULL: those that one
                             knows, where both fields are a machine's */
};

/*
 * Chooses the columns, and adds words and machines to the result.
 *   result   as long as `out` is used
 *   fails    FULCRUM_ERR_FORMAT (a column is missing or no number, a third field
 *            varies), FULCRUM_ERR_UNSUPPORTED (machines without a value of these
 *            fields), as fulcrum_machine_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_heat_data(
    struct fulcrum_result *result, const struct fulcrum_plot_heat_options *options,
    struct fulcrum_heat_chart_data *out, struct fulcrum_error *err);

/* What charts of stacked bars show. */

struct fulcrum_plot_breakdown_options {
    const struct fulcrum_bar_chart *parts; /* one of fulcrum_breakdowns */
    enum fulcrum_row_scale scale;
};

/* A sweep or a prediction, which becomes a group of bars. Borrowed. */
struct fulcrum_plot_file {
    const char *name;
    struct fulcrum_result *result; /* gets a table of points where it has none */
};

/*
 * A row for each point that could run, named after what varies in its file and, of
 * several files, what tells them apart; one without a name between groups. In these
 * functions the caller frees `out` with fulcrum_result_free.
 *   fails    as fulcrum_bar_chart_check; FULCRUM_ERR_UNSUPPORTED (no point has these
 *            parts); the detail names the file
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_breakdown_result(
    const struct fulcrum_bar_chart *chart, const struct fulcrum_plot_file *files,
    size_t count, struct fulcrum_result **out, struct fulcrum_error *err);

/*
 * Where the time of a reference's GPU goes, and what other machines make of it.
 *   reference  one that gives gpu_time_frac of its components
 *   machines   presets or files to compare with, separated by commas; "none"
 *   fails      FULCRUM_ERR_UNSUPPORTED (no such reference), as fulcrum_machine_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_gpu_time_result(
    const struct fulcrum_reference *reference, const char *machines,
    struct fulcrum_result **out, struct fulcrum_error *err);

/*
 * One bar per point of a reference that gives shares like training_frac.
 *   fails    FULCRUM_ERR_UNSUPPORTED (no such reference)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_stages_result(
    const struct fulcrum_reference *reference, struct fulcrum_result **out,
    struct fulcrum_error *err);

/*
 * Adds what a chart shows beside the columns of a file: words, and times relative to
 * the first machine's.
 *   result   of `fulcrum partition` or `fulcrum memory`
 *   fails    FULCRUM_ERR_FORMAT (an unknown component, a machine without times)
 */
void fulcrum_plot_partition_add(struct fulcrum_result *result);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_components_add(
    struct fulcrum_result *result, struct fulcrum_error *err);

#endif
