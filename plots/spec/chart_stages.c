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

struct picture {
    const struct fulcrum_stages_data *data;
    struct fulcrum_page page;
    struct fulcrum_row *rows; /* owned */
};

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

static bool has_stage(const struct fulcrum_stages_data *data, size_t k)
{
    double sum = 0.0;
    for (size_t i = 0; i < data->count; i++) {
        for (size_t w = 0; w < FULCRUM_STAGE_WHERE_COUNT; w++) {
            sum += data->rows[i].share_frac[k][w];
        }
    }
    return sum > 0.0;
}

/* Returns whether some row tells CPU and GPU apart. */
static int fill_legend(struct picture *picture)
{
    const struct fulcrum_stages_data *data = picture->data;
    int any_idle = 0;
    int any_split = 0;
    for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
        if (has_stage(data, k)) {
            fulcrum_page_explain(&picture->page, FULCRUM_SWATCH_STACK, stage_styles[k],
                fulcrum_stage_kind_name((enum fulcrum_stage_kind)k));
        }
    }
    for (size_t i = 0; i < data->count; i++) {
        any_idle = any_idle || data->rows[i].idle_frac > 0.0;
        any_split = any_split || data->rows[i].is_split;
    }
    if (any_idle) {
        fulcrum_page_explain(
            &picture->page, FULCRUM_SWATCH_STACK, IDLE_STYLE, "no stage: all wait");
    }
    return any_split;
}

static void draw_picture(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_stages_data *data = picture->data;
    for (size_t i = 0; i < data->count; i++) {
        /* The part on both lies between its neighbours, so that halves stay together.
         */
        static const enum fulcrum_stage_where order[FULCRUM_STAGE_WHERE_COUNT] = {
            FULCRUM_STAGE_CPU_ONLY, FULCRUM_STAGE_CPU_AND_GPU, FULCRUM_STAGE_GPU_ONLY};
        const struct fulcrum_stages_row *from = &picture->data->rows[i];
        struct fulcrum_row *row = &picture->rows[i];
        struct pen pen = {.row = row};
        *row = (struct fulcrum_row){.name = from->name, .text = from->text};
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
    int any_split = fill_legend(picture);
    const struct fulcrum_rows rows = {.title = "Shares of wall time by stage",
        .finding = any_split
                       ? "upper half: CPU only, lower half: GPU only, full height: both"
                       : NULL,
        .x_label = "share of wall time",
        .rows = picture->rows,
        .count = data->count,
        .options = {.kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.01, .from_zero = 1},
        .centre = (double)NAN};
    fulcrum_page_draw(canvas, &picture->page);
    fulcrum_rows_draw(canvas, &rows, fulcrum_page_body(canvas, &picture->page));
}

static enum fulcrum_status check_row(
    const struct fulcrum_stages_row *row, struct fulcrum_error *err)
{
    double sum = row->idle_frac;
    double least = row->idle_frac;
    const size_t count = (size_t)FULCRUM_STAGE_WORK_COUNT * FULCRUM_STAGE_WHERE_COUNT;
    for (size_t i = 0; i < count; i++) {
        double share = row->share_frac[i / FULCRUM_STAGE_WHERE_COUNT]
                                      [i % FULCRUM_STAGE_WHERE_COUNT];
        sum += share;
        least = fmin(least, share);
    }
    FAIL_IF(!(sum <= SHARES_MOST) || least < 0.0, err, FULCRUM_ERR_RANGE,
        "shares of %s add up to %g, the least of them is %g: expected at most %g, "
        "and 0 or more",
        row->name, sum, least, SHARES_MOST);
    return FULCRUM_OK;
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_stages_data *data = given;
    for (size_t i = 0; i < data->count; i++) {
        TRY(check_row(&data->rows[i], err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status draw(struct fulcrum_canvas *canvas, void *room,
    const void *data, struct fulcrum_error *err)
{
    struct picture *picture = room;
    picture->data = data;
    fulcrum_page_write(&picture->page, &picture->data->text);
    picture->rows = fulcrum_rows_begin(canvas, &picture->page, picture->data->count);
    if (picture->rows != NULL) {
        draw_picture(canvas, picture);
    }
    free(picture->rows);
    return fulcrum_canvas_status(canvas, err);
}

const struct fulcrum_chart fulcrum_chart_stages = {.name = "stages",
    .summary = "which stages the wall time of runs goes to, on CPU and GPU",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
