/* chart_sm_time.c - what a learner's work takes on a part of a GPU's SMs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both axes are logarithmic, so that time in proportion to 1 / SMs is a straight line
 * of the same slope anywhere, and what does not need the SMs is a flat one.
 */
#include "model/try.h"
#include "plots/spec/charts.h"

#include <stdbool.h>

#include "plots/chart/page.h"
#include "plots/chart/panel.h"

enum { PANELS = 2, SERIES_MAX = 2 * FULCRUM_SM_WORKS_MAX };

struct picture {
    struct fulcrum_panel panels[PANELS];
    struct fulcrum_panel_series series[PANELS][SERIES_MAX];
    struct fulcrum_stack stack;
    size_t style_count;
    bool has_disturbed;
};

/* A panel without a sample is left out. */
static void add_panel(struct picture *picture, struct fulcrum_page *page,
    const char *title, const struct fulcrum_sm_work *works, size_t work_count)
{
    struct fulcrum_panel_series *series = picture->series[picture->stack.count];
    size_t count = 0;
    for (size_t i = 0; i < work_count; i++) {
        /* Fitted curves first, so that samples lie on top of them. */
        const struct fulcrum_curve *fit = &works[i].fit;
        const struct fulcrum_chart_samples *samples = &works[i].samples;
        size_t style = picture->style_count++;
        if (fit->count > 0) {
            series[count++] = fulcrum_series_of(
                fit->x, fit->y, fit->count, style, FULCRUM_LOOK_CURVE);
        }
        if (samples->count > 0) {
            series[count] = fulcrum_series_of(
                samples->x, samples->y, samples->count, style, FULCRUM_LOOK_MARKERS);
            series[count++].disturbed = samples->disturbed;
            fulcrum_page_explain(page,
                fit->count > 0 ? FULCRUM_SWATCH_LINE_AND_MARKER : FULCRUM_SWATCH_MARKER,
                style, works[i].name);
        }
        picture->has_disturbed |= fulcrum_any_flag(samples->disturbed, samples->count);
    }
    fulcrum_stack_add(&picture->stack,
        &(struct fulcrum_panel){.title = title,
            .series = series,
            .series_count = count,
            .x_options = {.kind = FULCRUM_AXIS_LOG2, .pad_frac = 0.04},
            .y_options = {.kind = FULCRUM_AXIS_LOG, .pad_frac = 0.08, .unit = "s"},
            .weight = 1.0});
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_sm_time_data *data = given;
    FAIL_IF(data->inference_count > FULCRUM_SM_WORKS_MAX, err, FULCRUM_ERR_RANGE,
        "%zu batch sizes: a chart holds at most %d", data->inference_count,
        (int)FULCRUM_SM_WORKS_MAX);
    return FULCRUM_OK;
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    struct picture *picture = room;
    const struct fulcrum_sm_time_data *data = given;
    picture->stack.panels = picture->panels;
    add_panel(picture, page, "Inference: time of a batch", data->inference,
        data->inference_count);
    add_panel(picture, page, "Training: time of a step", &data->training, 1);
    fulcrum_page_explain(page, FULCRUM_SWATCH_DISTURBED, 0,
        picture->has_disturbed ? "disturbed sample" : NULL);
    fulcrum_stack_draw_on(canvas, &picture->stack, "SMs", page);
}

const struct fulcrum_chart fulcrum_chart_sm_time = {.name = "sm-time",
    .summary = "times of inference and training on a part of a GPU's SMs",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
