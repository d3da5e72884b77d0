/* inline_svg.h - a page as an SVG element that stands in an HTML document. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_CHART_INLINE_SVG_H
#define FULCRUM_PLOTS_CHART_INLINE_SVG_H

#include <stdio.h>

#include "plots/chart/canvas.h"

/*
 * Writes the drawing of a canvas as <svg class="chart">: no prolog, no ids that could
 * meet those of another chart, no paper, as wide as what it stands in allows. Texts
 * stay texts in the document's own font, broken into lines as they were measured.
 * Colours are presentation attributes, which a style sheet can replace for a dark
 * screen: [fill="#1a1a1a"] { fill: ... } with the shades of canvas.h. Coordinates have
 * a tenth of a point.
 *   label    what the chart is, for who cannot see it; escaped here
 *
 *   fails    FULCRUM_ERR_NO_MEMORY, also of what was drawn; failures of `file` are left
 *            to its owner
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canvas_write_svg(
    const struct fulcrum_canvas *canvas, const char *label, FILE *file,
    struct fulcrum_error *err);

#endif
