/* plot_heat.h - a heat map from a sweep over two fields. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_HEAT_H
#define FULCRUM_CLI_PLOT_PLOT_HEAT_H

#include "cli/plot/plot_headline.h"
#include "cli/plot/plot_rows.h"
#include "model/status.h"
#include "plots/spec/charts.h"

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
 *   rows     written by `fulcrum explore`
 *   room     keeps what `out` borrows
 *   fails    FULCRUM_ERR_FORMAT (a column is missing or no number, a third field
 *            varies, two points in one cell, points that are no grid),
 *            FULCRUM_ERR_UNSUPPORTED (machines without a value of these fields), as
 *            fulcrum_machine_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_heat_data(
    const struct fulcrum_plot_rows *rows,
    const struct fulcrum_plot_heat_options *options,
    const struct fulcrum_plot_words *words, struct fulcrum_plot_room *room,
    struct fulcrum_heat_data *out, struct fulcrum_error *err);

#endif
