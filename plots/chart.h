/* chart.h - the charts there are, and what their data have in common. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_H
#define FULCRUM_PLOTS_CHART_H

#include "plots/canvas.h"

/* Texts around a chart; each may be NULL. */
struct fulcrum_chart_text {
    const char *title;
    const char *subtitle; /* workload, actors per thread, calibration, interval */
    const char *footnote; /* flags: what is extrapolated or assumed */
};

/* One value per x with its interval; NaN is unknown. Borrowed. */
struct fulcrum_estimate {
    const double *value; /* NULL: not part of the chart */
    const double *lo;    /* NULL: no interval, likewise */
    const double *hi;
};

/* Less than this no chart can bear. */
#define FULCRUM_CHART_LEAST_WIDTH_PT  300.0
#define FULCRUM_CHART_LEAST_HEIGHT_PT 340.0

/* One kind of chart. */
struct fulcrum_chart {
    const char *name;
    const char *summary;
    /*
     * Draws on a fresh canvas.
     *   data     struct fulcrum_<name>_data; NULL gives a page that says "no data"
     *   fails    FULCRUM_ERR_RANGE (page too small, a value no chart can show),
     *            FULCRUM_ERR_NO_MEMORY
     */
    enum fulcrum_status (*draw)(
        struct fulcrum_canvas *canvas, const void *data, struct fulcrum_error *err);
};

/* NULL-terminated, in the order of `fulcrum list charts`. Static. */
const struct fulcrum_chart *const *fulcrum_charts(void);

/* NULL if there is none of that name. */
const struct fulcrum_chart *fulcrum_chart_find(const char *name);

#endif
