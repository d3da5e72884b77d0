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
    const struct fulcrum_sm_time_data *data;
    struct fulcrum_page page;
    struct fulcrum_panel panels[PANELS];
    struct fulcrum_panel_series series[PANELS][SERIES_MAX];
    struct fulcrum_stack stack;
};

/* A panel without a sample is left out. */
static void add_panel(struct picture *picture, const char *title,
    const struct fulcrum_sm_work *works, size_t work_count, size_t first_style)
{
    size_t which = picture->stack.count;
    size_t series_count = 0;
    for (size_t i = 0; i < work_count; i++) {
        /* Fitted curves first, so that samples lie on top of them. */
        struct fulcrum_panel_series *series = picture->series[which];
        const struct fulcrum_sm_work *work = &works[i];
        size_t style = first_style + i;
        if (work->fit.count > 0) {
            series[(series_count)++] = (struct fulcrum_panel_series){.x = work->fit.x,
                .y = work->fit.y,
                .count = work->fit.count,
                .style = style,
                .look = FULCRUM_LOOK_CURVE};
        }
        if (work->samples.count > 0) {
            series[(series_count)++] =
                (struct fulcrum_panel_series){.x = work->samples.x,
                    .y = work->samples.y,
                    .disturbed = work->samples.disturbed,
                    .count = work->samples.count,
                    .style = style,
                    .look = FULCRUM_LOOK_MARKERS};
        }
    }
    const struct fulcrum_panel panel = {.title = title,
        .series = picture->series[which],
        .series_count = series_count,
        .x_options = {.kind = FULCRUM_AXIS_LOG2, .pad_frac = 0.04},
        .y_options = {.kind = FULCRUM_AXIS_LOG, .pad_frac = 0.08, .unit = "s"},
        .weight = 1.0};
    fulcrum_stack_add(&picture->stack, &panel);
}

static bool has_disturbed(const struct fulcrum_chart_samples *samples)
{
    for (size_t i = 0; samples->disturbed != NULL && i < samples->count; i++) {
        if (samples->disturbed[i]) {
            return 1;
        }
    }
    return 0;
}

static void explain_work(
    struct fulcrum_page *page, const struct fulcrum_sm_work *work, size_t style)
{
    if (work->samples.count > 0) {
        enum fulcrum_swatch swatch = work->fit.count > 0
                                         ? FULCRUM_SWATCH_LINE_AND_MARKER
                                         : FULCRUM_SWATCH_MARKER;
        fulcrum_page_explain(page, swatch, style, work->name);
    }
}

static void fill_legend(struct picture *picture)
{
    const struct fulcrum_sm_time_data *data = picture->data;
    int disturbed = has_disturbed(&data->training.samples);
    for (size_t i = 0; i < data->inference_count; i++) {
        explain_work(&picture->page, &data->inference[i], i);
        disturbed |= has_disturbed(&data->inference[i].samples);
    }
    explain_work(&picture->page, &data->training, data->inference_count);
    if (disturbed) {
        fulcrum_page_explain(
            &picture->page, FULCRUM_SWATCH_DISTURBED, 0, "disturbed sample");
    }
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_sm_time_data *data = given;
    FAIL_IF(data->inference_count > FULCRUM_SM_WORKS_MAX, err, FULCRUM_ERR_RANGE,
        "%zu batch sizes: a chart holds at most %d", data->inference_count,
        (int)FULCRUM_SM_WORKS_MAX);
    return FULCRUM_OK;
}

static enum fulcrum_status draw(struct fulcrum_canvas *canvas, void *room,
    const void *data, struct fulcrum_error *err)
{
    struct picture *picture = room;
    const struct fulcrum_sm_time_data *given = data;
    picture->data = given;
    fulcrum_page_write(&picture->page, &given->text);
    picture->stack.panels = picture->panels;
    add_panel(picture, "Inference: time of a batch", given->inference,
        given->inference_count, 0);
    add_panel(picture, "Training: time of a step", &given->training, 1,
        given->inference_count);
    fill_legend(picture);
    fulcrum_stack_draw_on(canvas, &picture->stack, "SMs", &picture->page);
    return fulcrum_canvas_status(canvas, err);
}

const struct fulcrum_chart fulcrum_chart_sm_time = {.name = "sm-time",
    .summary = "times of inference and training on a part of a GPU's SMs",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
