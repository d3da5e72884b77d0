/* heat_chart.h - one metric over two fields, with contours and machines at their place.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_SPEC_HEAT_CHART_H
#define FULCRUM_PLOTS_SPEC_HEAT_CHART_H

#include "model/result.h"
#include "plots/chart/chart.h"

enum { FULCRUM_HEAT_MACHINES_MAX = 12 };

enum fulcrum_heat_contours {
    FULCRUM_HEAT_SHARES, /* of the best value; round ones where there is no best, or
                            values are not all above 0 */
    FULCRUM_HEAT_ROUND,
    FULCRUM_HEAT_PLAIN /* none */
};

/*
 * The result's table "points" has a row for each cell: columns x, y, metric with its
 * interval, status (other than "ok": cannot run) and cpu_gpu_ratio_used, for lines of
 * constant ratio. Machines that people know are rows of name, x and y in its table
 * "landmarks".
 */
struct fulcrum_heat_chart_data {
    struct fulcrum_chart_text text;
    const struct fulcrum_result *result;
    const char *x; /* columns; scales follow from the spacing of the values */
    const char *y;
    const char *metric;
    const char *x_label;
    const char *y_label;
    const char *value_name;
    const char *unit; /* of the value in sentences; NULL for none */
    enum fulcrum_heat_contours contours;
};

/*
 * Static.
 *   fails    also FULCRUM_ERR_FORMAT (a cell is no number, two points in one cell,
 *            points that are no grid), FULCRUM_ERR_RANGE (too many machines)
 */
extern const struct fulcrum_chart fulcrum_chart_heat;

#endif
