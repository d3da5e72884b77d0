/* speed_report.h - how long solutions take, printed and drawn. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_SPEED_REPORT_H
#define FULCRUM_BENCH_SPEED_REPORT_H

#include <stdbool.h>

#include "bench/speed_case.h"
#include "cli/command.h"

struct fulcrum_speed {
    const struct fulcrum_speed_case *cases; /* those without samples are left out */
    size_t case_count;
    bool is_interrupted;
};

/*
 * Prints every case in the format of the context; JSON says on what machine.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_speed_print(
    const struct fulcrum_speed *speed, const struct fulcrum_context *context,
    struct fulcrum_error *err);

/* Where a chart goes, and how large. */
struct fulcrum_speed_chart {
    const char *path; /* ends in .svg, .pdf or .png */
    double width_pt;
    double height_pt;
};

/*
 * Draws the time of one solution against the number of actors.
 *   fails    as fulcrum_chart_draw and fulcrum_plot_write
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_speed_draw(
    const struct fulcrum_speed *speed, const struct fulcrum_speed_chart *chart,
    struct fulcrum_error *err);

#endif
