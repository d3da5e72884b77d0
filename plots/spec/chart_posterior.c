/* chart_posterior.c - what a fit left of each prior, and the figures it was fitted to.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/try.h"
#include "plots/chart/canvas.h"
#include "plots/chart/page.h"
#include "plots/chart/rows.h"

/* Of a normal distribution, 90 % lie within so many standard deviations. */
static const double normal_90 = 1.645;
static const double block_gap_pt = 10.0;

enum style {
    STYLE_IDENTIFIED = 0,
    STYLE_OTHERS = 2,
    STYLE_OPEN = 4,
    STYLE_PUBLISHED = 5,
    STYLE_PRIOR = 7
};

enum { FINDING_SIZE = 80 };

static unsigned rgb_of(enum style style)
{
    return fulcrum_palette_pen((size_t)style).rgb;
}

static struct fulcrum_row_mark fitted_mark(double x)
{
    return (struct fulcrum_row_mark){.x = x,
        .marker = {FULCRUM_MARKER_DIAMOND, FULCRUM_MARKER_HOLLOW, 5.0},
        .rgb = FULCRUM_TONE_INK};
}

static struct fulcrum_row figure_row(const struct fulcrum_posterior_figure *from)
{
    return (struct fulcrum_row){.name = from->name,
        .text = from->text,
        .bar_count = 4,
        .bars = {{from->prior_lo, from->prior_hi, 0.06, 0.94, rgb_of(STYLE_PRIOR), 0.22,
                     ""},
            {from->others_lo, from->others_hi, 0.68, 0.86, rgb_of(STYLE_OTHERS), 0.85,
                ""},
            {from->posterior_lo, from->posterior_hi, 0.3, 0.62,
                rgb_of(STYLE_IDENTIFIED), 0.85, ""},
            {1.0 - from->sd, 1.0 + from->sd, 0.1, 0.24, FULCRUM_TONE_INK, 1.0, ""}},
        .mark_count = 1,
        .marks = {fitted_mark(from->fitted)}};
}

/* The prior is the same band in every row: that is what standard deviations are for. */
static struct fulcrum_row parameter_row(const struct fulcrum_posterior_row *from)
{
    enum style style = from->is_identified ? STYLE_IDENTIFIED : STYLE_OPEN;
    return (struct fulcrum_row){.name = from->name,
        .text = from->text,
        .bar_count = 2,
        .bars = {{-normal_90, normal_90, 0.1, 0.9, rgb_of(STYLE_PRIOR), 0.22, ""},
            {from->lo, from->hi, 0.3, 0.7, rgb_of(style), 0.85, ""}},
        .mark_count = 1,
        .marks = {fitted_mark(from->fitted)}};
}

/* Rows of figures are taller: they hold more. */
static void draw_blocks(struct fulcrum_canvas *canvas, struct fulcrum_rect body,
    const struct fulcrum_rows *parameters, const struct fulcrum_rows *figures)
{
    struct fulcrum_rect upper = body;
    struct fulcrum_rect lower = body;
    if (figures->count > 0 && parameters->count > 0) {
        double first_pt = fulcrum_rows_height_pt(canvas, parameters->count);
        double second_pt = fulcrum_rows_height_pt(canvas, 2 * figures->count);
        double share = first_pt / (first_pt + second_pt);
        upper.y1 = body.y0 + (body.y1 - body.y0 - block_gap_pt) * share;
        lower.y0 = upper.y1 + block_gap_pt;
    }
    if (parameters->count > 0) {
        fulcrum_rows_draw(canvas, parameters, upper);
    }
    if (figures->count > 0) {
        fulcrum_rows_draw(canvas, figures, lower);
    }
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    char *finding = room;
    const struct fulcrum_posterior_data *data = given;
    struct fulcrum_row *rows =
        fulcrum_rows_begin(canvas, page, data->row_count + data->figure_count);
    size_t identified = 0;
    bool has_open = 0;
    bool has_identified = 0;
    bool has_others = 0;
    if (rows == NULL) {
        return;
    }
    for (size_t i = 0; i < data->row_count; i++) {
        const struct fulcrum_posterior_row *from = &data->rows[i];
        rows[i] = parameter_row(from);
        identified += from->is_identified ? 1U : 0U;
        has_open |= !from->is_identified && isfinite(from->lo);
        has_identified |= from->is_identified && isfinite(from->lo);
    }
    for (size_t i = 0; i < data->figure_count; i++) {
        rows[data->row_count + i] = figure_row(&data->figures[i]);
        has_others |= isfinite(data->figures[i].others_lo);
        has_identified |= isfinite(data->figures[i].posterior_lo);
    }
    (void)snprintf(finding, FINDING_SIZE, "%zu of %zu told apart from their priors",
        identified, data->row_count);
    /* Only what some row shows is explained. */
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAND, STYLE_PRIOR, "prior, 90 %");
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, STYLE_IDENTIFIED,
        has_identified ? "posterior, 90 %" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, STYLE_OPEN,
        has_open ? "posterior of a parameter not told apart from its prior" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, STYLE_OTHERS,
        has_others ? "from the other figures alone, 90 %" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_DIAMOND, STYLE_PUBLISHED, "best fit");
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, STYLE_PUBLISHED,
        data->figure_count > 0 ? "published, one standard deviation" : NULL);
    const struct fulcrum_rows parameters = {
        .title = "Parameters: what the figures say of them",
        .finding = finding,
        .x_label = "prior standard deviations from the centre of the prior",
        .rows = rows,
        .count = data->row_count,
        .options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.04},
        .centre = 0.0};
    const struct fulcrum_rows figures = {
        .title = "Figures: before the fit, after it, and from each other",
        .x_label = "relative to what was published",
        .rows = rows + data->row_count,
        .count = data->figure_count,
        .options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.04},
        .centre = 1.0};
    fulcrum_page_draw(canvas, page);
    draw_blocks(canvas, fulcrum_page_body(canvas, page), &parameters, &figures);
}

const struct fulcrum_chart fulcrum_chart_posterior = {.name = "posterior",
    .summary = "prior and posterior of each parameter of a fit, and its figures",
    .room_byte = FINDING_SIZE,
    .draw = draw};
