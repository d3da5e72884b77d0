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

struct picture {
    const struct fulcrum_posterior_data *data;
    struct fulcrum_page page;
    struct fulcrum_row *parameters; /* owned */
    struct fulcrum_row *figures;    /* owned */
    char finding[80];
};

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

static enum fulcrum_status fill(struct picture *picture, struct fulcrum_error *err)
{
    const struct fulcrum_posterior_data *data = picture->data;
    picture->parameters = calloc(data->row_count + 1, sizeof *picture->parameters);
    picture->figures = calloc(data->figure_count + 1, sizeof *picture->figures);
    FAIL_IF(picture->parameters == NULL || picture->figures == NULL, err,
        FULCRUM_ERR_NO_MEMORY, "no memory for a chart");
    size_t identified = 0;
    for (size_t i = 0; i < data->row_count; i++) {
        /* The prior is the same band in every row: that is what standard deviations are
         * for. */
        const struct fulcrum_posterior_row *from = &data->rows[i];
        enum style style = from->is_identified ? STYLE_IDENTIFIED : STYLE_OPEN;
        picture->parameters[i] = (struct fulcrum_row){.name = from->name,
            .text = from->text,
            .bar_count = 2,
            .bars = {{-normal_90, normal_90, 0.1, 0.9, rgb_of(STYLE_PRIOR), 0.22, ""},
                {from->lo, from->hi, 0.3, 0.7, rgb_of(style), 0.85, ""}},
            .mark_count = 1,
            .marks = {fitted_mark(from->fitted)}};
        identified += data->rows[i].is_identified ? 1U : 0U;
    }
    for (size_t i = 0; i < data->figure_count; i++) {
        picture->figures[i] = figure_row(&data->figures[i]);
    }
    (void)snprintf(picture->finding, sizeof picture->finding,
        "%zu of %zu told apart from their priors", identified, data->row_count);
    return FULCRUM_OK;
}

/* Only what some row shows is explained. */
static void fill_legend(struct picture *picture)
{
    const struct fulcrum_posterior_data *data = picture->data;
    struct fulcrum_page *page = &picture->page;
    int open = 0;
    int identified = 0;
    int others = 0;
    for (size_t i = 0; i < data->row_count; i++) {
        open = open || (!data->rows[i].is_identified && isfinite(data->rows[i].lo));
        identified =
            identified || (data->rows[i].is_identified && isfinite(data->rows[i].lo));
    }
    for (size_t i = 0; i < data->figure_count; i++) {
        others = others || isfinite(data->figures[i].others_lo);
        identified = identified || isfinite(data->figures[i].posterior_lo);
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAND, STYLE_PRIOR, "prior, 90 %");
    if (identified) {
        fulcrum_page_explain(
            page, FULCRUM_SWATCH_BAR, STYLE_IDENTIFIED, "posterior, 90 %");
    }
    if (open) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, STYLE_OPEN,
            "posterior of a parameter not told apart from its prior");
    }
    if (others) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, STYLE_OTHERS,
            "from the other figures alone, 90 %");
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_DIAMOND, STYLE_PUBLISHED, "best fit");
    if (data->figure_count > 0) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_BAR, STYLE_PUBLISHED,
            "published, one standard deviation");
    }
}

/* Rows of figures are taller: they hold more. */
static void draw_blocks(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_posterior_data *data = picture->data;
    struct fulcrum_rect body = fulcrum_page_body(canvas, &picture->page);
    double first_pt = fulcrum_rows_height_pt(canvas, data->row_count);
    double second_pt = fulcrum_rows_height_pt(canvas, 2 * data->figure_count);
    const struct fulcrum_rows parameters = {
        .title = "Parameters: what the figures say of them",
        .finding = picture->finding,
        .x_label = "prior standard deviations from the centre of the prior",
        .rows = picture->parameters,
        .count = data->row_count,
        .options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.04},
        .centre = 0.0};
    const struct fulcrum_rows figures = {
        .title = "Figures: before the fit, after it, and from each other",
        .x_label = "relative to what was published",
        .rows = picture->figures,
        .count = data->figure_count,
        .options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.04},
        .centre = 1.0};
    struct fulcrum_rect upper = body;
    struct fulcrum_rect lower = body;
    if (data->figure_count > 0 && data->row_count > 0) {
        double share = first_pt / (first_pt + second_pt);
        upper.y1 = body.y0 + (body.y1 - body.y0 - block_gap_pt) * share;
        lower.y0 = upper.y1 + block_gap_pt;
    }
    if (data->row_count > 0) {
        fulcrum_rows_draw(canvas, &parameters, upper);
    }
    if (data->figure_count > 0) {
        fulcrum_rows_draw(canvas, &figures, lower);
    }
}

static enum fulcrum_status draw(struct fulcrum_canvas *canvas, void *room,
    const void *data, struct fulcrum_error *err)
{
    struct picture *picture = room;
    picture->data = data;
    fulcrum_page_write(&picture->page, &picture->data->text);
    TRY(fill(picture, err));
    if (picture->data->row_count + picture->data->figure_count == 0) {
        fulcrum_page_draw_empty(canvas, &picture->page);
    } else {
        fill_legend(picture);
        fulcrum_page_draw(canvas, &picture->page);
        draw_blocks(canvas, picture);
    }
    return fulcrum_canvas_status(canvas, err);
}

static void clear(void *room)
{
    struct picture *picture = room;
    free(picture->parameters);
    free(picture->figures);
}

const struct fulcrum_chart fulcrum_chart_posterior = {.name = "posterior",
    .summary = "prior and posterior of each parameter of a fit, and its figures",
    .room_byte = sizeof(struct picture),
    .draw = draw,
    .clear = clear};
