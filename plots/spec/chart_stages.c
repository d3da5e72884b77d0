/* chart_stages.c - which stages the wall time of runs goes to, and on what. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One stacked bar per run. Colours are stages; what a stage ran on is height: the upper
 * half of a bar is the CPU's, the lower half the GPU's, so that the eye sees where one
 * of them stands still.
 */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/try.h"
#include "plots/chart/canvas.h"
#include "plots/chart/page.h"
#include "plots/chart/rows.h"

/* Colours of the stages, in their order, and of idle time. */
static const size_t stage_styles[FULCRUM_STAGE_WORK_COUNT] = {0, 1, 2, 3, 4};
enum { IDLE_STYLE = 7 };

/* Shares read off figures one by one need not add up to exactly 1. */
#define SHARES_MOST 1.1

/* A narrower label in the lower half would find its place over the upper one. */
#define LOWER_LABEL_FROM 0.12

static const double bar_top_frac = 0.2;
static const double bar_bottom_frac = 0.86;

/* Where the next piece of a bar begins. */
struct pen {
    struct fulcrum_row *row;
    double at;
};

static void add_piece(struct pen *pen, double share_frac, unsigned rgb,
    enum fulcrum_stage_where where, bool is_split)
{
    const double middle_frac = 0.5 * (bar_top_frac + bar_bottom_frac);
    int upper_only = is_split && where == FULCRUM_STAGE_CPU_ONLY;
    int lower_only = is_split && where == FULCRUM_STAGE_GPU_ONLY;
    if (!(share_frac > 0.0)) {
        return;
    }
    struct fulcrum_row_bar *bar = &pen->row->bars[pen->row->bar_count++];
    *bar = (struct fulcrum_row_bar){.lo = pen->at,
        .hi = pen->at + share_frac,
        .top_frac = lower_only ? middle_frac : bar_top_frac,
        .bottom_frac = upper_only ? middle_frac : bar_bottom_frac,
        .rgb = rgb};
    if (share_frac >= (lower_only ? LOWER_LABEL_FROM : 0.005)) {
        (void)snprintf(bar->text, sizeof bar->text, "%.0f %%", 100.0 * share_frac);
    }
    pen->at += share_frac;
}

static void fill_row(struct fulcrum_row *row, const struct fulcrum_stages_row *from)
{
    /* The part on both lies between its neighbours, so that halves stay together. */
    static const enum fulcrum_stage_where order[FULCRUM_STAGE_WHERE_COUNT] = {
        FULCRUM_STAGE_CPU_ONLY, FULCRUM_STAGE_CPU_AND_GPU, FULCRUM_STAGE_GPU_ONLY};
    struct pen pen = {.row = row};
    row->name = from->name;
    row->text = from->text;
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        unsigned rgb = fulcrum_palette_pen(stage_styles[k]).rgb;
        for (size_t w = 0; w < FULCRUM_STAGE_WHERE_COUNT; w++) {
            add_piece(
                &pen, from->share_frac[k][order[w]], rgb, order[w], from->is_split);
        }
    }
    add_piece(&pen, from->idle_frac, fulcrum_palette_pen(IDLE_STYLE).rgb,
        FULCRUM_STAGE_CPU_AND_GPU, 1);
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    (void)room;
    const struct fulcrum_stages_data *data = given;
    struct fulcrum_row *rows = fulcrum_rows_begin(canvas, page, data->count);
    double sums[FULCRUM_STAGE_WORK_COUNT] = {0.0};
    bool has_idle = 0;
    bool is_split = 0;
    if (rows == NULL) {
        return;
    }
    for (size_t i = 0; i < data->count; i++) {
        const struct fulcrum_stages_row *row = &data->rows[i];
        fill_row(&rows[i], row);
        has_idle |= row->idle_frac > 0.0;
        is_split |= row->is_split;
        for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
            for (size_t w = 0; w < FULCRUM_STAGE_WHERE_COUNT; w++) {
                sums[k] += row->share_frac[k][w];
            }
        }
    }
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        const char *name = fulcrum_stage_kind_name((enum fulcrum_stage_kind)k);
        fulcrum_page_explain(
            page, FULCRUM_SWATCH_STACK, stage_styles[k], sums[k] > 0.0 ? name : NULL);
    }
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_STACK, IDLE_STYLE, has_idle ? "no stage: all wait" : NULL);
    const struct fulcrum_rows picture = {.title = "Shares of wall time by stage",
        .finding = is_split
                       ? "upper half: CPU only, lower half: GPU only, full height: both"
                       : NULL,
        .x_label = "share of wall time",
        .rows = rows,
        .count = data->count,
        .options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.01, .from_zero = 1},
        .centre = (double)NAN};
    fulcrum_page_draw(canvas, page);
    fulcrum_rows_draw(canvas, &picture, fulcrum_page_body(canvas, page));
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_stages_data *data = given;
    for (size_t i = 0; i < data->count; i++) {
        const struct fulcrum_stages_row *row = &data->rows[i];
        double sum = row->idle_frac;
        double least = row->idle_frac;
        for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
            for (size_t w = 0; w < FULCRUM_STAGE_WHERE_COUNT; w++) {
                sum += row->share_frac[k][w];
                least = fmin(least, row->share_frac[k][w]);
            }
        }
        FAIL_IF(!(sum <= SHARES_MOST) || least < 0.0, err, FULCRUM_ERR_RANGE,
            "shares of %s add up to %g, the least of them is %g: expected at most %g, "
            "and 0 or more",
            row->name, sum, least, SHARES_MOST);
    }
    return FULCRUM_OK;
}

const struct fulcrum_chart fulcrum_chart_stages = {.name = "stages",
    .summary = "which stages the wall time of runs goes to, on CPU and GPU",
    .check = check,
    .draw = draw};
