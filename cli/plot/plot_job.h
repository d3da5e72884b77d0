/* plot_job.h - one chart to be drawn: from which file, with which words, on what page.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_JOB_H
#define FULCRUM_CLI_PLOT_PLOT_JOB_H

#include "cli/plot/plot_data.h"
#include "cli/plot/plot_source.h"

/* Gets drawn pages in place of a file. */
struct fulcrum_plot_taker {
    enum fulcrum_status (*take)(
        void *user, const struct fulcrum_canvas *canvas, struct fulcrum_error *err);
    void *user;
};

struct fulcrum_plot_job {
    struct fulcrum_plot_source source;
    const struct fulcrum_chart *chart;    /* that fulcrum_plot_lines draws */
    struct fulcrum_plot_names references; /* to lay over a sweep */
    const char *machines;                 /* NULL: those that the chart knows best */
    struct fulcrum_plot_names more;       /* files beside the source, of a breakdown */
    struct fulcrum_plot_breakdown_options breakdown;
    struct fulcrum_plot_heat_options heat; /* but for its machines */
    const char *pareto; /* metrics of a front; NULL: those that the file names */
    const char *title;  /* in place of those made from the data; may be NULL */
    const char *subtitle;
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
 * Makes the data of one chart from the source, whatever it is drawn from, and saves it.
 * A breakdown is drawn from the other files too.
 */
typedef enum fulcrum_status fulcrum_plot_draw(
    struct fulcrum_plot_job *job, struct fulcrum_error *err);

fulcrum_plot_draw fulcrum_plot_lines, fulcrum_plot_heat, fulcrum_plot_breakdown,
    fulcrum_plot_gpu_time, fulcrum_plot_components, fulcrum_plot_partition,
    fulcrum_plot_efficiency, fulcrum_plot_posterior, fulcrum_plot_measured,
    fulcrum_plot_stages, fulcrum_plot_calibration, fulcrum_plot_sm_time,
    fulcrum_plot_tornado, fulcrum_plot_upgrade;

#endif
