/* chart.h - the charts there are, and what their data have in common. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_CHART_H
#define FULCRUM_PLOTS_CHART_CHART_H

#include "plots/chart/canvas.h"

struct fulcrum_page;
struct fulcrum_result;
struct fulcrum_table;
struct fulcrum_line_chart; /* plots/spec/charts.h */

/* Texts around a chart; each may be NULL. */
struct fulcrum_chart_text {
    const char *title;
    const char *subtitle; /* workload, actors per thread, calibration, interval */
    const char *footnote; /* flags: what is extrapolated or assumed */
};

/* Less than this no chart can bear. */
#define FULCRUM_CHART_LEAST_WIDTH_PT  300.0
#define FULCRUM_CHART_LEAST_HEIGHT_PT 340.0

/* One kind of chart, and what fulcrum_chart_draw calls for it. */
struct fulcrum_chart {
    const char *name;
    const char *summary;
    const struct fulcrum_line_chart *lines; /* what a chart of lines shows; else NULL */
    /*
     * Draws on a page that has its texts. What no picture can show is refused before
     * anything is drawn; the canvas keeps what fails.
     *   data     of the chart's own type, never NULL
     */
    void (*draw)(
        struct fulcrum_canvas *canvas, struct fulcrum_page *page, const void *data);
};

/* A CSV file has one table, whatever its key would be. NULL: there is none. */
struct fulcrum_table *fulcrum_chart_table(
    const struct fulcrum_result *result, const char *key);

/* A text of a row; "" where there is none, or `key` is NULL. */
const char *fulcrum_chart_words(
    const struct fulcrum_table *table, size_t row, const char *key);

/* Index of a name, which is added where it is new; `most` where there is no room. */
size_t fulcrum_chart_index(
    const char **names, size_t *count, size_t most, const char *name);

/*
 * Draws on a fresh canvas.
 *   data     struct fulcrum_<name>_data, its texts first; NULL gives a page that says
 * "no data"
 *   fails    FULCRUM_ERR_RANGE (page too small, a value no chart can show),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_chart_draw(
    const struct fulcrum_chart *chart, struct fulcrum_canvas *canvas, const void *data,
    struct fulcrum_error *err);

#endif
