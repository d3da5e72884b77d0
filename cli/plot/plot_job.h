/* plot_job.h - one chart to be drawn: from which file, with which words, on what page.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_JOB_H
#define FULCRUM_CLI_PLOT_PLOT_JOB_H

#include "cli/plot/plot_breakdown.h"
#include "cli/plot/plot_data.h"
#include "cli/plot/plot_heat.h"
#include "cli/plot/plot_pareto.h"
#include "cli/plot/plot_source.h"

/* Gets drawn pages in place of a file. */
struct fulcrum_plot_taker {
    enum fulcrum_status (*take)(
        void *user, const struct fulcrum_canvas *canvas, struct fulcrum_error *err);
    void *user;
};

struct fulcrum_plot_job {
    struct fulcrum_plot_source source;
    struct fulcrum_plot_words words;
    struct fulcrum_plot_names references; /* to lay over a sweep */
    const char *machines;                 /* NULL: those that the chart knows best */
    struct fulcrum_plot_names more;       /* files beside the source, of a breakdown */
    struct fulcrum_plot_breakdown_options breakdown;
    struct fulcrum_plot_heat_options heat; /* but for its machines */
    const char *pareto; /* metrics of a front; NULL: those that the file names */
    const char *output_path;
    double width_pt;
    double height_pt;
    double width_px; /* of PNG; NAN: twice the points */
    /* NULL: pages go to output_path. Else they keep their captions. */
    const struct fulcrum_plot_taker *taker;
};

/*
 * Writes a page to a file that appears whole or not at all.
 *   options  may be NULL
 *   fails    as fulcrum_output_open and fulcrum_canvas_write
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_write(
    const struct fulcrum_canvas *canvas, const char *path,
    const struct fulcrum_save_options *options, struct fulcrum_error *err);

/*
 * Each makes the data of one chart from the source and saves it.
 *   fails    as the functions of plot_data.h that it calls, and fulcrum_plot_write
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_ratio(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

/* The same for the other charts of sweeps. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_actors(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_runtime(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_power(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_sm(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_heat(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_front(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

/* Of the source and of the other files, sweeps and predictions. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_breakdown(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

/* The same for charts of other files. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_gpu_time(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_components(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_memory(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_partition(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_node(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_scaling(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_parity(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_posterior(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_measured(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

/* Of a reference or of rows, as the source has it. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_stages(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_calibration(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_sm_time(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_tornado(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

#endif
