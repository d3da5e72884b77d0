/* chart_node.c - machines with more and more of their GPUs at work. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One line a machine in three panels. A rack of 72 GPUs beside a server of eight needs
 * logarithms; machines that are alike are easier to read without. Markers stand where
 * there are few points, and at powers of two where there are many, so that those that
 * are hollow, because threads are short, can be seen.
 */
#include "model/try.h"
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "plots/chart/page.h"
#include "plots/chart/panel.h"

/* More points of a line than these have markers at some of them only. */
enum { FEW_POINTS = 16, MARKS_MOST = 64 };

/* Values that far apart share a logarithmic axis. */
#define LOG_SPAN 20.0

/* The points of a line that have markers. */
struct marks {
    size_t count;
    double x[MARKS_MOST];
    double y[FULCRUM_NODE_PANELS][MARKS_MOST];
    unsigned char hollow[MARKS_MOST];
};

struct picture {
    struct marks marks[FULCRUM_NODE_LINES_MAX];
    struct fulcrum_panel panels[FULCRUM_NODE_PANELS];
    struct fulcrum_panel_series series[FULCRUM_NODE_PANELS][2 * FULCRUM_NODE_LINES_MAX];
    struct fulcrum_stack stack;
};

static bool is_power_of_two(double x)
{
    int exponent = 0;
    return fabs(frexp(x, &exponent) - 0.5) < 1e-9;
}

static double value_of(const struct fulcrum_node_line *line, size_t panel, size_t i)
{
    const double *values = line->panels[panel].value;
    return values != NULL ? values[i] : (double)NAN;
}

static void mark_points(const struct fulcrum_node_line *line, struct marks *out)
{
    for (size_t i = 0; i < line->count && out->count < MARKS_MOST; i++) {
        if (line->count > FEW_POINTS && !is_power_of_two(line->x[i]) &&
            i + 1 < line->count) {
            continue;
        }
        size_t k = out->count++;
        out->x[k] = line->x[i];
        out->hollow[k] = line->hollow != NULL ? line->hollow[i] : 0;
        for (size_t panel = 0; panel < FULCRUM_NODE_PANELS; panel++) {
            out->y[panel][k] = value_of(line, panel, i);
        }
    }
}

static enum fulcrum_axis_kind y_kind_of(
    const struct fulcrum_node_data *data, size_t panel)
{
    double least = (double)INFINITY;
    double most = 0.0;
    for (size_t i = 0; i < data->line_count; i++) {
        for (size_t k = 0; k < data->lines[i].count; k++) {
            double value = value_of(&data->lines[i], panel, k);
            least = isfinite(value) && value > 0.0 ? fmin(least, value) : least;
            most = isfinite(value) ? fmax(most, value) : most;
        }
    }
    return most > LOG_SPAN * least ? FULCRUM_AXIS_LOG : FULCRUM_AXIS_LINEAR;
}

static void add_panel(
    struct picture *picture, const struct fulcrum_node_data *data, size_t panel)
{
    static const char *const titles[FULCRUM_NODE_PANELS] = {
        "Steps per second", "Steps per GPU joule", "Steps per system joule"};
    struct fulcrum_panel_series *series = picture->series[panel];
    size_t count = data->line_count;
    /* The lines first, so that no line covers a marker. */
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_node_line *line = &data->lines[i];
        const struct marks *marks = &picture->marks[i];
        struct fulcrum_estimate values = line->panels[panel];
        if (data->interval_name == NULL) {
            values.lo = NULL;
            values.hi = NULL;
        }
        series[i] = fulcrum_series_estimated(
            line->x, &values, line->count, i, FULCRUM_LOOK_CURVE);
        series[count + i] = fulcrum_series_of(
            marks->x, marks->y[panel], marks->count, i, FULCRUM_LOOK_MARKERS);
        series[count + i].hollow = marks->hollow;
    }
    fulcrum_stack_add(&picture->stack,
        &(struct fulcrum_panel){.title = titles[panel],
            .finding = data->findings[panel],
            .series = series,
            .series_count = 2 * count,
            .x_options = {.kind = data->x_kind, .pad_frac = 0.03},
            .y_options = {y_kind_of(data, panel), .pad_frac = 0.05, .from_zero = 1},
            .weight = panel == 0 ? 1.3 : 1.0});
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_node_data *data = given;
    FAIL_IF(data->line_count > FULCRUM_NODE_LINES_MAX, err, FULCRUM_ERR_RANGE,
        "%zu lines: a chart of machines holds at most %d", data->line_count,
        (int)FULCRUM_NODE_LINES_MAX);
    return FULCRUM_OK;
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    struct picture *picture = room;
    const struct fulcrum_node_data *data = given;
    picture->stack.panels = picture->panels;
    for (size_t i = 0; i < data->line_count; i++) {
        mark_points(&data->lines[i], &picture->marks[i]);
        fulcrum_page_explain(
            page, FULCRUM_SWATCH_LINE_AND_MARKER, i, data->lines[i].name);
    }
    for (size_t panel = 0; panel < FULCRUM_NODE_PANELS; panel++) {
        add_panel(picture, data, panel);
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_HOLLOW, 0, data->hollow_name);
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAND, 0, data->interval_name);
    fulcrum_stack_draw_on(canvas, &picture->stack, data->x_label, page);
}

const struct fulcrum_chart fulcrum_chart_node = {.name = "node",
    .summary = "machines with 1 to all of their GPUs: throughput, performance per watt",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
