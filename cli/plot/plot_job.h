/* plot_job.h - one chart to be drawn: of which kind, from which file, on what page. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_JOB_H
#define FULCRUM_CLI_PLOT_PLOT_JOB_H

#include "calibrate/reference/validation.h"
#include "cli/option.h"
#include "cli/plot/plot_source.h"
#include "plots/spec/charts.h"

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
    fulcrum_plot_add *add;                /* NULL: the file has all that it needs */
    const struct fulcrum_bar_chart *bars; /* NULL: it has none */
    /* The column of a sweep, or the quantity of a reference, that asks for the chart
     * unless the user does. NULL: any. */
    const char *column;
};

/* The chart of that name, of that content or else of the first it has. NULL: none. */
const struct fulcrum_plot *fulcrum_plot_find(
    const char *chart, enum fulcrum_plot_content content);

/*
 * The chart that suits what the file holds.
 *   fails    FULCRUM_ERR_FORMAT (a sweep without points)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_choose(
    const struct fulcrum_plot_source *source, const struct fulcrum_plot **out,
    struct fulcrum_error *err);

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
};

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_draw(struct fulcrum_plot_job *job,
    struct fulcrum_canvas *canvas, struct fulcrum_error *err);

/*
 * Writes a page to a file that appears whole or not at all.
 *   options  may be NULL
 *   fails    as fulcrum_output_open and fulcrum_canvas_write
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_write(
    const struct fulcrum_canvas *canvas, const char *path,
    const struct fulcrum_save_options *options, struct fulcrum_error *err);

/* What each chart adds. */

/* Which points of a sweep no other beats. */
fulcrum_plot_add fulcrum_plot_pareto_add;
/* Axes and words, which fulcrum_plot_heat_data finds again; machines at their place. */
fulcrum_plot_add fulcrum_plot_heat_add;
/* Machines that people know, at their ratios. */
fulcrum_plot_add fulcrum_plot_ratio_add;
/* Speed-ups and relative runtimes where a sweep has none, and points of the references,
 * carried over to the sweep's own scale: figures of Inci et al. 2020. */
fulcrum_plot_add fulcrum_plot_published_add;
/* A row for each point that could run, named after what varies in its file and, of
 * several files, what tells them apart; one without a name between groups. */
fulcrum_plot_add fulcrum_plot_breakdown_add;
/* Where the time of a reference's GPU goes, and what other machines make of it. */
fulcrum_plot_add fulcrum_plot_gpu_time_add;
/* One bar per point of a reference that gives shares like training_frac. */
fulcrum_plot_add fulcrum_plot_stages_add;
/* A calibration's samples and curves, and those of its sweep over SMs. */
fulcrum_plot_add fulcrum_plot_calibration_add, fulcrum_plot_sm_time_add;
/* Speed-ups of `validation`, over as many machines. */
fulcrum_plot_add fulcrum_plot_efficiency_add;
/* Files of `measure`; throughput of `validation` where the source is a reference. */
fulcrum_plot_add fulcrum_plot_measured_add;
/* Files of `cluster`, `validate`, `fit`, `sensitivity`, `memory` and `partition`. */
fulcrum_plot_add fulcrum_plot_scaling_add, fulcrum_plot_parity_add,
    fulcrum_plot_fit_add, fulcrum_plot_tornado_add, fulcrum_plot_components_add,
    fulcrum_plot_partition_add;

/* The data of a heat map; all is borrowed from the job and the result. */
struct fulcrum_heat_chart_data fulcrum_plot_heat_data(
    const struct fulcrum_plot_job *job, const struct fulcrum_result *result);

#endif
