/* plot_data.h - the data of each chart, from the files that fulcrum writes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_DATA_H
#define FULCRUM_CLI_PLOT_PLOT_DATA_H

#include "calibrate/reference/validation.h"
#include "cli/plot/plot_headline.h"
#include "cli/plot/plot_rows.h"
#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/status.h"
#include "plots/spec/charts.h"

/* A sweep over one field, sorted by x. Owns what the chart data borrow. */
struct fulcrum_plot_sweep;

/*
 *   rows     written by `fulcrum explore`; points that cannot run are left out;
 *            borrowed as long as `out` is used
 *   x        column of the x axis; other columns that vary make points ambiguous
 *   out      the caller frees it with fulcrum_plot_sweep_free
 *   fails    FULCRUM_ERR_FORMAT (a column is missing or no number, two points at one
 *            x), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_sweep_new(
    const struct fulcrum_plot_rows *rows, const char *x,
    struct fulcrum_plot_sweep **out, struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_sweep_free(struct fulcrum_plot_sweep *sweep);

/* Borrow from `sweep`, `words` and `machines`. */
struct fulcrum_ratio_data fulcrum_plot_ratio_data(struct fulcrum_plot_sweep *sweep,
    const struct fulcrum_plot_words *words,
    const struct fulcrum_ratio_machine *machines, size_t machine_count);
struct fulcrum_actors_data fulcrum_plot_actors_data(
    struct fulcrum_plot_sweep *sweep, const struct fulcrum_plot_words *words);

/* What the two panels of fulcrum_chart_runtime, _power and _sm show. */
enum fulcrum_plot_curves { FULCRUM_PLOT_RUNTIME, FULCRUM_PLOT_POWER, FULCRUM_PLOT_SM };

/*
 * Speed-ups and relative runtimes, which curves of both need: as the file has them,
 * with their intervals, or those of its predictions to one of them, without: the one
 * with the fewest actors, or with the most SMs.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_sweep_add_ratios(
    struct fulcrum_plot_sweep *sweep, struct fulcrum_error *err);

/* Borrow from `sweep` and `words`; published points are left to the caller. */
struct fulcrum_curves_data fulcrum_plot_curves_data(struct fulcrum_plot_sweep *sweep,
    const struct fulcrum_plot_words *words, enum fulcrum_plot_curves kind);

/* x of the point that the ratios of a sweep refer to; NAN: none is known. */
double fulcrum_plot_sweep_relative_x(const struct fulcrum_plot_sweep *sweep);

/* The predicted speed-up at x, between points too; NAN beyond the ends. */
double fulcrum_plot_sweep_speedup(const struct fulcrum_plot_sweep *sweep, double x);

/* A number that the sweep holds all along, such as "run.sm_count"; NAN: not known. */
double fulcrum_plot_sweep_constant(
    const struct fulcrum_plot_sweep *sweep, const char *path);

/* The name of the calibration behind the predictions; "" where it is not known. */
const char *fulcrum_plot_sweep_calibration(const struct fulcrum_plot_sweep *sweep);

/* A sentence for the footnote, once. */
void fulcrum_plot_sweep_add_note(struct fulcrum_plot_sweep *sweep, const char *text);

/* Borrowed. */
struct fulcrum_plot_names {
    const char *const *items;
    size_t count;
};

/* Points of references, as they go over a sweep. Owns what the chart data borrow. */
struct fulcrum_plot_published;

/*
 * Reads references and carries their points over to the sweep's own scale; the sweep's
 * footnote says what was left out and why.
 *   names    presets or files
 *   out      the caller frees it with fulcrum_plot_published_free
 *   fails    as fulcrum_reference_load; FULCRUM_ERR_UNSUPPORTED (a reference without a
 *            point for this chart; the detail says why), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_published_new(
    const struct fulcrum_plot_names *names, struct fulcrum_plot_sweep *sweep,
    enum fulcrum_plot_curves kind, struct fulcrum_plot_published **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_published_free(struct fulcrum_plot_published *published);

/* Borrowed. */
const struct fulcrum_published *fulcrum_plot_published_sets(
    const struct fulcrum_plot_published *published, size_t *count);

/* Samples and curves of one calibration. Owns what the chart data borrow. */
struct fulcrum_plot_calibration;

/*
 *   calibration  borrowed as long as `out` is used
 *   out          the caller frees it with fulcrum_plot_calibration_free
 *   fails        FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_calibration_new(
    const struct fulcrum_calibration *calibration,
    struct fulcrum_plot_calibration **out, struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_calibration_free(struct fulcrum_plot_calibration *plot);

struct fulcrum_calibration_data fulcrum_plot_calibration_data(
    struct fulcrum_plot_calibration *plot, const struct fulcrum_plot_words *words);

/* Training on many GPUs. Owns what the chart data borrow. */
struct fulcrum_plot_scaling;

/*
 *   rows     those of `fulcrum cluster`: numbers of GPUs, or sets of parameters
 *   out      the caller frees it with fulcrum_plot_scaling_free
 *   fails    FULCRUM_ERR_FORMAT (a cell that is no number), FULCRUM_ERR_RANGE (more
 *            curves than a chart holds), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_scaling_new(
    const struct fulcrum_plot_rows *rows, struct fulcrum_plot_scaling **out,
    struct fulcrum_error *err);

/*
 * Speed-ups over machines beside what predicts them.
 *   validation   of a reference of kind node_scaling; its names are copied
 *   fails        also FULCRUM_ERR_UNSUPPORTED (nothing was predicted)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_scaling_of_reference(
    const struct fulcrum_validation *validation, struct fulcrum_plot_scaling **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_scaling_free(struct fulcrum_plot_scaling *plot);

/* Borrows from `plot` and `words`. */
struct fulcrum_lines_data fulcrum_plot_scaling_data(
    struct fulcrum_plot_scaling *plot, const struct fulcrum_plot_words *words);

/* A calibration's sweep over SMs. Owns what the chart data borrow. */
struct fulcrum_plot_sm_time;

/*
 *   calibration  borrowed as long as `out` is used, as is `words`
 *   out          the caller frees it with fulcrum_plot_sm_time_free
 *   fails        FULCRUM_ERR_UNSUPPORTED (it has no such sweep), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_sm_time_new(
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_plot_words *words, struct fulcrum_plot_sm_time **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_sm_time_free(struct fulcrum_plot_sm_time *plot);

/* Borrowed. */
const struct fulcrum_sm_time_data *fulcrum_plot_sm_time_data(
    const struct fulcrum_plot_sm_time *plot);

/* Points of a validation. Owns what the chart data borrow. */
struct fulcrum_plot_validation;

/*
 *   points   of `fulcrum validate`
 *   out      the caller frees it with fulcrum_plot_validation_free
 *   fails    FULCRUM_ERR_FORMAT (a cell is no number), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_validation_new(
    const struct fulcrum_plot_rows *points, struct fulcrum_plot_validation **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_validation_free(struct fulcrum_plot_validation *plot);

struct fulcrum_parity_data fulcrum_plot_validation_data(
    const struct fulcrum_plot_validation *plot, const struct fulcrum_plot_words *words);

/* Parameters and figures of a fit. Owns what the chart data borrow. */
struct fulcrum_plot_fit;

/*
 *   parameters, figures  of `fulcrum fit --format json`
 *   out      the caller frees it with fulcrum_plot_fit_free
 *   fails    FULCRUM_ERR_FORMAT (a cell is no number or missing, a scale that there is
 *            not), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_fit_new(
    const struct fulcrum_plot_rows *parameters, const struct fulcrum_plot_rows *figures,
    struct fulcrum_plot_fit **out, struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_fit_free(struct fulcrum_plot_fit *plot);

struct fulcrum_posterior_data fulcrum_plot_fit_data(
    const struct fulcrum_plot_fit *plot, const struct fulcrum_plot_words *words);

/* Where the time of a reference's GPU goes, and what other machines make of it. */
struct fulcrum_plot_gpu_time;

/*
 *   reference  one that gives gpu_time_frac of its components
 *   machines   presets or files to compare with, separated by commas; "none"
 *   out        the caller frees it with fulcrum_plot_gpu_time_free
 *   fails      FULCRUM_ERR_UNSUPPORTED (no such reference), as fulcrum_machine_load,
 *              FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_gpu_time_new(
    const struct fulcrum_reference *reference, const char *machines,
    struct fulcrum_plot_gpu_time **out, struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_gpu_time_free(struct fulcrum_plot_gpu_time *plot);

struct fulcrum_gpu_time_data fulcrum_plot_gpu_time_data(
    const struct fulcrum_plot_gpu_time *plot, const struct fulcrum_plot_words *words);

/* Components of GPU time and of runs. Owns what the chart data borrow. */
struct fulcrum_plot_components;

/*
 *   rows     "components" of `fulcrum memory`
 *   out      the caller frees it with fulcrum_plot_components_free
 *   fails    FULCRUM_ERR_FORMAT (a cell is no number, an unknown component, a machine
 *            without times), FULCRUM_ERR_RANGE (too many machines),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_components_new(
    const struct fulcrum_plot_rows *rows, struct fulcrum_plot_components **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_components_free(struct fulcrum_plot_components *plot);

struct fulcrum_gpu_time_data fulcrum_plot_components_data(
    const struct fulcrum_plot_components *plot, const struct fulcrum_plot_words *words);

/* Memory systems, or parameters that meet a gain. Owns what the chart data borrow. */
struct fulcrum_plot_memory;

/*
 *   rows     "factors" or "family" of `fulcrum memory`
 *   out      the caller frees it with fulcrum_plot_memory_free
 *   fails    FULCRUM_ERR_FORMAT (a cell is no number), FULCRUM_ERR_RANGE (too many
 *            curves or points), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_memory_new(
    const struct fulcrum_plot_rows *rows, struct fulcrum_plot_memory **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_memory_free(struct fulcrum_plot_memory *plot);

struct fulcrum_lines_data fulcrum_plot_memory_data(
    const struct fulcrum_plot_memory *plot, const struct fulcrum_plot_words *words);

/* Placements of stages on a GPU. Owns what the chart data borrow. */
struct fulcrum_plot_partition;

/*
 *   rows     "parts" of `fulcrum partition`, one placement's next to each other
 *   out      the caller frees it with fulcrum_plot_partition_free
 *   fails    FULCRUM_ERR_FORMAT (a cell is no number), FULCRUM_ERR_RANGE (too many
 *            placements, parts or kinds of processes), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_partition_new(
    const struct fulcrum_plot_rows *rows, struct fulcrum_plot_partition **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_partition_free(struct fulcrum_plot_partition *plot);

struct fulcrum_partition_data fulcrum_plot_partition_data(
    const struct fulcrum_plot_partition *plot, const struct fulcrum_plot_words *words);

/* Machines with more and more GPUs. Owns what the chart data borrow. */
struct fulcrum_plot_node;

/*
 *   rows     of `fulcrum node`
 *   out      the caller frees it with fulcrum_plot_node_free
 *   fails    FULCRUM_ERR_FORMAT (a cell is no number, GPUs do not rise),
 *            FULCRUM_ERR_RANGE (too many lines or points), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_node_new(
    const struct fulcrum_plot_rows *rows, struct fulcrum_plot_node **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_node_free(struct fulcrum_plot_node *plot);

struct fulcrum_node_data fulcrum_plot_node_data(
    const struct fulcrum_plot_node *plot, const struct fulcrum_plot_words *words);

/* Shares of time by stage. Owns what the chart data borrow. */
struct fulcrum_plot_stages;

/*
 * One bar per point of a reference that gives shares like training_frac.
 *   out      the caller frees it with fulcrum_plot_stages_free
 *   fails    FULCRUM_ERR_UNSUPPORTED (no such reference), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_stages_of_reference(
    const struct fulcrum_reference *reference, struct fulcrum_plot_stages **out,
    struct fulcrum_error *err);

/*
 * One bar per run of the rows that fulcrum_stage_report_to_json writes as "stages".
 *   out      as above
 *   fails    FULCRUM_ERR_FORMAT (a cell is no number), FULCRUM_ERR_UNSUPPORTED (a run
 *            without shares), FULCRUM_ERR_RANGE (too many runs), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_stages_of_rows(
    const struct fulcrum_plot_rows *rows, struct fulcrum_plot_stages **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_stages_free(struct fulcrum_plot_stages *plot);

struct fulcrum_stages_data fulcrum_plot_stages_data(
    const struct fulcrum_plot_stages *plot, const struct fulcrum_plot_words *words);

/* Measured points and their predictions. Owns what the chart data borrow. */
struct fulcrum_plot_measured;

/*
 *   points   of `fulcrum measure`
 *   out      the caller frees it with fulcrum_plot_measured_free
 *   fails    FULCRUM_ERR_FORMAT (a cell is no number, actors are not above 0),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_measured_new(
    const struct fulcrum_plot_rows *points, struct fulcrum_plot_measured **out,
    struct fulcrum_error *err);

/*
 * Points of a reference of throughput, as fulcrum_validate predicts them: a panel for
 * each series. Names the reference's actors, or its environments where it has none.
 *   validation  borrowed during the call
 *   out         as above
 *   fails       FULCRUM_ERR_UNSUPPORTED (no such point), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_measured_of_reference(
    const struct fulcrum_validation *validation, struct fulcrum_plot_measured **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_measured_free(struct fulcrum_plot_measured *plot);

struct fulcrum_measured_data fulcrum_plot_measured_data(
    const struct fulcrum_plot_measured *plot, const struct fulcrum_plot_words *words);

/* What `fulcrum sensitivity` found. Owns what the chart data borrow. */
struct fulcrum_plot_tornado;

/*
 *   rows     a panel for each metric, whose rows follow each other
 *   out      the caller frees it with fulcrum_plot_tornado_free
 *   fails    FULCRUM_ERR_FORMAT (no number), FULCRUM_ERR_RANGE (too many metrics),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_tornado_new(
    const struct fulcrum_plot_rows *rows, struct fulcrum_plot_tornado **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_tornado_free(struct fulcrum_plot_tornado *plot);
/* Borrows from `plot` and `words`. */
struct fulcrum_tornado_data fulcrum_plot_tornado_data(
    const struct fulcrum_plot_tornado *plot, const struct fulcrum_plot_words *words);

#endif
