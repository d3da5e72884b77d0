/* chart_actors.c - runtime, watts and performance per watt against the actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/charts.h"

#include <math.h>
#include <stdlib.h>

#include "model/try.h"
#include "plots/metric.h"

enum { PANELS_MAX = 3 };

/* From this factor between the largest and smallest count, doublings read better. */
static const double log_from_factor = 12.0;

/* What people give runtimes in. */
struct time_unit {
    double longest_s; /* for which it is chosen */
    double unit_s;
    const char *title;
};

struct picture {
    const struct fulcrum_actors_data *data;
    const struct time_unit *time_unit;
    double *runtime; /* value, lo, hi one after the other, in time_unit; owned */
    struct fulcrum_page page;
    struct fulcrum_panel panels[PANELS_MAX];
    struct fulcrum_metric_panel rooms[PANELS_MAX];
    struct fulcrum_stack stack;
};

/* Counts of 1..16 read well on a ruler, 1..512 do not. */
static enum fulcrum_axis_kind axis_kind(const struct fulcrum_actors_data *data)
{
    struct fulcrum_limits span = fulcrum_limits_none();
    for (size_t i = 0; i < data->count; i++) {
        fulcrum_limits_add(&span, data->actor_count[i]);
    }
    int doublings = span.lo > 0.0 && span.hi / span.lo >= log_from_factor;
    return doublings ? FULCRUM_AXIS_LOG2 : FULCRUM_AXIS_LINEAR;
}

static const struct time_unit *time_unit_for(const struct fulcrum_actors_data *data)
{
    static const struct time_unit units[] = {{300.0, 1.0, "Runtime, s"},
        {300.0 * 60.0, 60.0, "Runtime, minutes"},
        {200.0 * 3600.0, 3600.0, "Runtime, hours"},
        {INFINITY, 86400.0, "Runtime, days"}};
    struct fulcrum_limits span = fulcrum_limits_none();
    for (size_t i = 0; i < data->count; i++) {
        fulcrum_limits_add(&span, data->runtime_s.value[i]);
    }
    size_t i = 0;
    while (span.lo > units[i].longest_s) {
        i++;
    }
    return &units[i];
}

/* Copies runtimes into a unit that suits the shortest of them. */
static enum fulcrum_status scale_runtime(
    struct picture *picture, struct fulcrum_error *err)
{
    const struct fulcrum_actors_data *data = picture->data;
    if (data->count == 0 || !fulcrum_estimate_is_known(&data->runtime_s, data->count)) {
        return FULCRUM_OK;
    }
    picture->time_unit = time_unit_for(data);
    picture->runtime = calloc(3 * data->count, sizeof *picture->runtime);
    if (picture->runtime == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a chart");
    }
    const double *const sources[] = {
        data->runtime_s.value, data->runtime_s.lo, data->runtime_s.hi};
    for (size_t i = 0; i < 3 * data->count; i++) {
        const double *source = sources[i / data->count];
        picture->runtime[i] = source != NULL
                                  ? source[i % data->count] / picture->time_unit->unit_s
                                  : (double)NAN;
    }
    return FULCRUM_OK;
}

/* People ask for the runtime; throughput stands in where the work is not known. */
static struct fulcrum_metric first_metric(const struct picture *picture)
{
    const struct fulcrum_actors_data *data = picture->data;
    if (picture->runtime == NULL) {
        return (struct fulcrum_metric){
            .title = "Throughput, steps/s", .estimates = {data->steps_per_s}};
    }
    const double *runtime = picture->runtime;
    return (struct fulcrum_metric){.title = picture->time_unit->title,
        .estimates = {{runtime, runtime + data->count, runtime + 2 * data->count}},
        .goal = FULCRUM_GOAL_LEAST};
}

/* Panels without a single known value are left out, not drawn empty. */
static void fill_panels(struct picture *picture)
{
    const struct fulcrum_actors_data *data = picture->data;
    const struct fulcrum_metric metrics[] = {
        first_metric(picture),
        {.title = "Power, W",
            .estimates = {data->system_w, data->gpu_w},
            .unjudged = 1},
        {.title = "Performance per watt, steps/J",
            .estimates = {data->steps_per_j_system, data->steps_per_j_gpu},
            .subjects = {"system", "GPU"}},
    };
    const struct fulcrum_metric_axis axis = {
        data->actor_count, data->count, axis_kind(data), "actors"};
    picture->stack.panels = picture->panels;
    fulcrum_metrics_fill(&picture->stack, picture->rooms, metrics, PANELS_MAX, &axis);
}

/* A legend must not explain bands that are not there. */
static int any_interval(const struct fulcrum_actors_data *data)
{
    const struct fulcrum_estimate *const estimates[] = {&data->runtime_s,
        &data->steps_per_s, &data->system_w, &data->gpu_w, &data->steps_per_j_system,
        &data->steps_per_j_gpu};
    for (size_t i = 0; i < sizeof estimates / sizeof estimates[0]; i++) {
        if (fulcrum_estimate_has_interval(estimates[i], data->count)) {
            return 1;
        }
    }
    return 0;
}

/* Only what the panels show is explained. */
static void fill_legend(struct picture *picture)
{
    const struct fulcrum_actors_data *data = picture->data;
    int gpu = fulcrum_estimate_is_known(&data->gpu_w, data->count) ||
              fulcrum_estimate_is_known(&data->steps_per_j_gpu, data->count);
    fulcrum_page_explain(&picture->page, FULCRUM_SWATCH_LINE_AND_MARKER, 0,
        gpu ? "whole system" : "predicted");
    if (gpu) {
        fulcrum_page_explain(
            &picture->page, FULCRUM_SWATCH_LINE_AND_MARKER, 1, "GPU alone");
    }
    if (any_interval(data)) {
        fulcrum_page_explain(&picture->page, FULCRUM_SWATCH_BAND, 0,
            data->interval_name != NULL ? data->interval_name : "90 % interval");
    }
    fulcrum_metrics_explain(
        &picture->page, &picture->stack, "best, or fewest actors within 1 % of it");
}

static enum fulcrum_status draw(struct fulcrum_canvas *canvas, void *room,
    const void *data, struct fulcrum_error *err)
{
    struct picture *picture = room;
    picture->data = data;
    fulcrum_page_write(&picture->page, &picture->data->text);
    TRY(scale_runtime(picture, err));
    fill_panels(picture);
    fill_legend(picture);
    const char *x_label = picture->data->x_label;
    fulcrum_stack_draw_on(
        canvas, &picture->stack, x_label != NULL ? x_label : "actors", &picture->page);
    return fulcrum_canvas_status(canvas, err);
}

static void clear(void *room)
{
    struct picture *picture = room;
    free(picture->runtime);
}

const struct fulcrum_chart fulcrum_chart_actors = {.name = "actors",
    .summary = "runtime, watts and performance per watt against the actors",
    .room_byte = sizeof(struct picture),
    .draw = draw,
    .clear = clear};
