/* plot_data.h - the data of each chart, from the files that fulcrum writes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_DATA_H
#define FULCRUM_CLI_PLOT_DATA_H

#include "model/calibration.h"
#include "model/status.h"
#include "plots/chart_actors.h"
#include "plots/chart_calibration.h"
#include "plots/chart_ratio.h"
#include "presets/table.h"

/* Words that replace the ones made from the data; each may be NULL. */
struct fulcrum_plot_words {
    const char *title;
    const char *subtitle;
};

/* A sweep over one field, sorted by x. Owns what the chart data borrow. */
struct fulcrum_plot_sweep;

/*
 *   table    written by `fulcrum explore --format csv`; points that cannot run are left
 *            out
 *   x        column of the x axis; other columns that vary make points ambiguous
 *   out      the caller frees it with fulcrum_plot_sweep_free
 *   fails    FULCRUM_ERR_FORMAT (a column is missing or no number, two points at one
 *            x), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_sweep_new(
    const struct fulcrum_table *table, const char *x, struct fulcrum_plot_sweep **out,
    struct fulcrum_error *err);
/* Accepts NULL. */
void fulcrum_plot_sweep_free(struct fulcrum_plot_sweep *sweep);

/* Borrow from `sweep`, `words` and `machines`. */
struct fulcrum_ratio_data fulcrum_plot_ratio_data(struct fulcrum_plot_sweep *sweep,
    const struct fulcrum_plot_words *words,
    const struct fulcrum_ratio_machine *machines, size_t machine_count);
struct fulcrum_actors_data fulcrum_plot_actors_data(
    struct fulcrum_plot_sweep *sweep, const struct fulcrum_plot_words *words);

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

#endif
