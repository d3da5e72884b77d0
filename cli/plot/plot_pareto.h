/* plot_pareto.h - a chart of the front from the points of a sweep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_PARETO_H
#define FULCRUM_CLI_PLOT_PLOT_PARETO_H

#include "cli/plot/plot_headline.h"
#include "cli/plot/plot_rows.h"
#include "plots/spec/charts.h"

/*
 *   rows     written by `fulcrum explore`, with or without --pareto
 *   metrics  two or three columns, as --pareto takes them; the first goes up, the
 *            second along, the third has colours. NULL: those of `said`
 *   said     what the file says of its metrics (rows of metric and better), or NULL:
 *            steps_per_s and system_w
 *   room     keeps what `out` borrows
 *   fails    FULCRUM_ERR_FORMAT (a column is missing or no number, a metric is better
 *            neither way), FULCRUM_ERR_RANGE (not two or three metrics, one twice, a
 *            front is too large), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_pareto_data(
    const struct fulcrum_plot_rows *rows, const char *metrics,
    const struct fulcrum_plot_rows *said, const struct fulcrum_plot_words *words,
    struct fulcrum_plot_room *room, struct fulcrum_pareto_data *out,
    struct fulcrum_error *err);

#endif
