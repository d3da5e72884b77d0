/* plot_breakdown.h - stacked bars from sweeps and predictions. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_BREAKDOWN_H
#define FULCRUM_CLI_PLOT_PLOT_BREAKDOWN_H

#include "cli/plot/plot_headline.h"
#include "cli/plot/plot_rows.h"
#include "model/status.h"
#include "plots/spec/charts.h"

enum fulcrum_plot_parts {
    FULCRUM_PLOT_CYCLE, /* where the time of an actor's cycle goes */
    FULCRUM_PLOT_WATTS, /* what draws the power behind the plug */
    FULCRUM_PLOT_GPU,   /* what a GPU is busy with */
    FULCRUM_PLOT_PARTS
};

/* "cycle", "watts", "gpu"; NULL beyond the last one. Static. */
const char *fulcrum_plot_parts_name(int parts);

struct fulcrum_plot_breakdown_options {
    enum fulcrum_plot_parts parts;
    enum fulcrum_row_scale scale;
};

/* One file: a group of bars. Borrowed. */
struct fulcrum_plot_breakdown_file {
    const char *name;
    const struct fulcrum_plot_rows *rows;
};

/*
 * A bar for each point that could run, named after what varies in its file and, of
 * several files, what tells them apart.
 *   count    at least 1
 *   room     keeps what `out` borrows
 *   fails    FULCRUM_ERR_FORMAT (a column is missing or no number, a part below 0),
 *            FULCRUM_ERR_UNSUPPORTED (no point has these parts); the detail names the
 *            file
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_breakdown_data(
    const struct fulcrum_plot_breakdown_file *files, size_t count,
    const struct fulcrum_plot_breakdown_options *options,
    const struct fulcrum_plot_words *words, struct fulcrum_plot_room *room,
    struct fulcrum_breakdown_data *out, struct fulcrum_error *err);

#endif
