/* plot_data.h - what each chart needs beside the columns of a file. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_DATA_H
#define FULCRUM_CLI_PLOT_PLOT_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/reference/validation.h"
#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/status.h"
#include "plots/chart/chart.h"
#include "plots/spec/charts.h"
#include "presets/result/result_io.h"

/*
 * Each adds columns, words, guides and footnotes to a result: to one that was read, or
 * rows too to one that is empty.
 *   fails    FULCRUM_ERR_FORMAT (a cell that is no number), FULCRUM_ERR_RANGE (more, or
 *            other values, than the chart holds), FULCRUM_ERR_UNSUPPORTED (the chart is
 *            not drawn from such a reference or calibration), FULCRUM_ERR_NO_MEMORY
 */
typedef enum fulcrum_status fulcrum_plot_add(
    struct fulcrum_result *result, struct fulcrum_error *err);
typedef enum fulcrum_status fulcrum_plot_validation_add(
    const struct fulcrum_validation *validation, struct fulcrum_result *out,
    struct fulcrum_error *err);
typedef enum fulcrum_status fulcrum_plot_own_add(
    const struct fulcrum_calibration *calibration, struct fulcrum_result *out,
    struct fulcrum_error *err);

/* To files of `cluster`, `validate`, `measure`, `fit`, `sensitivity`, `memory` and
 * `partition`. */
fulcrum_plot_add fulcrum_plot_scaling_add, fulcrum_plot_parity_add,
    fulcrum_plot_measured_add, fulcrum_plot_fit_add, fulcrum_plot_tornado_add,
    fulcrum_plot_components_add, fulcrum_plot_partition_add;

/* References of speed-ups over machines, and of throughput. */
fulcrum_plot_validation_add fulcrum_plot_scaling_of_reference,
    fulcrum_plot_measured_of_reference;

/* Its samples and curves, and those of its sweep over SMs. */
fulcrum_plot_own_add fulcrum_plot_calibration_add, fulcrum_plot_sm_time_add;

/* Borrowed. */
struct fulcrum_plot_names {
    const char *const *items;
    size_t count;
};

/* What charts of a sweep with published points show: figures of Inci et al. 2020. */
enum fulcrum_plot_curves { FULCRUM_PLOT_RUNTIME, FULCRUM_PLOT_POWER, FULCRUM_PLOT_SM };

/*
 * Speed-ups and relative runtimes where a sweep has none, and points of the references
 * `names`, carried over to the sweep's own scale.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_published_add(
    struct fulcrum_result *result, const struct fulcrum_plot_names *names,
    enum fulcrum_plot_curves kind, struct fulcrum_error *err);

/*
 * Which points of a sweep no other beats.
 *   metrics  as --pareto takes them: up, along, by colour; NULL: those that the file
 *            names, or steps_per_s and system_w
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_pareto_add(
    struct fulcrum_result *result, const char *metrics, struct fulcrum_error *err);

/* What is asked for of a heat map; texts may be NULL. Borrowed. */
struct fulcrum_plot_heat_options {
    const char *metric; /* a column; NULL: steps_per_s */
    const char *x;      /* columns; NULL: the field that varies first, */
    const char *y;      /* and the other one */
    enum fulcrum_heat_contours contours;
    const char *machines; /* separated by commas, or "none"; NULL: those that one
                             knows, where both fields are a machine's */
};

/* The result keeps what `out` borrows. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_heat_data(
    struct fulcrum_result *result, const struct fulcrum_plot_heat_options *options,
    struct fulcrum_heat_chart_data *out, struct fulcrum_error *err);

/*
 * Machines that people know, at their values of fields, as rows of "landmarks", unless
 * there are some already.
 *   list     presets or files, separated by commas; "none"; NULL: the DGX systems
 *   x, y     paths; `y` NULL: `x` is any, and stands for the CPU/GPU ratio
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_landmarks_add(
    struct fulcrum_result *result, const char *list, const char *x, const char *y,
    struct fulcrum_error *err);

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
 * several files, what tells them apart; one without a name between groups.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_breakdown_add(
    const struct fulcrum_bar_chart *chart, const struct fulcrum_plot_file *files,
    size_t count, struct fulcrum_result *out, struct fulcrum_error *err);

/* Where the time of a reference's GPU goes, and what other `machines` make of it. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_gpu_time_add(
    const struct fulcrum_reference *reference, const char *machines,
    struct fulcrum_result *out, struct fulcrum_error *err);

/* One bar per point of a reference that gives shares like training_frac. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_stages_add(
    const struct fulcrum_reference *reference, struct fulcrum_result *out,
    struct fulcrum_error *err);

#endif
