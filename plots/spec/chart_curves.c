/* chart_curves.c - predicted curves with published points: runtime, power, SMs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three charts of one form: a curve with its interval in each panel, published points
 * over it. What differs between them is a row of a table.
 */
#include "model/try.h"
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "plots/chart/panel.h"

enum {
    SERIES_MAX = 1 + FULCRUM_PUBLISHED_MAX,
    NOTES_MAX = 16,
    TITLE_SIZE = 96,
    SEEN_STYLE = 7 /* grey: of any reference */
};

/* From these factors between the ends of an axis on, equal factors read better. */
static const double log_x_from_factor = 12.0;
static const double log_y_from_factor = 5.0;

struct panel_form {
    const char *title;     /* NULL: no such panel */
    bool is_relative;      /* the title goes on with the point referred to */
    bool is_log;           /* where values span much */
    const char *note_unit; /* after published values beside their marks; NULL: none */
};

struct form {
    const char *x_label;
    const char *x_unit;    /* what x counts, in titles */
    const char *top_label; /* of the second scale; NULL: none */
    struct panel_form panels[FULCRUM_CURVES_PANELS];
};

struct room {
    struct fulcrum_panel_series series[SERIES_MAX];
    struct fulcrum_panel_note notes[NOTES_MAX];
    char title[TITLE_SIZE];
};

struct picture {
    const struct form *form;
    const struct fulcrum_curves_data *data;
    struct fulcrum_panel panels[FULCRUM_CURVES_PANELS];
    struct room rooms[FULCRUM_CURVES_PANELS];
    struct fulcrum_stack stack;
    struct fulcrum_panel_top top;
};

/* The first entry of the same name. */
static size_t first_of_name(const struct fulcrum_curves_data *data, size_t i)
{
    size_t first = 0;
    while (strcmp(data->published[first].name, data->published[i].name) != 0) {
        first++;
    }
    return first;
}

/* Colours that stand out from the curve's come first. */
static size_t published_style(const struct fulcrum_curves_data *data, size_t i)
{
    static const size_t styles[FULCRUM_PUBLISHED_MAX] = {1, 3, 4, 2, 5, 6, 8, 7};
    return styles[first_of_name(data, i)];
}

/* Two references that say the same of a point say it once. */
static bool is_noted(const struct fulcrum_panel *panel, double x, const char *text)
{
    for (size_t i = 0; i < panel->note_count; i++) {
        if (fabs(panel->notes[i].spot.x - x) <= 1e-9 * fabs(x) &&
            strcmp(panel->notes[i].text, text) == 0) {
            return 1;
        }
    }
    return 0;
}

static void add_notes(struct fulcrum_panel *panel, struct fulcrum_panel_note *notes,
    const struct fulcrum_published *published, const char *unit)
{
    for (size_t k = 0; k < published->count && panel->note_count < NOTES_MAX; k++) {
        struct fulcrum_panel_note note = {
            .spot = {published->x[k], published->value[k]}};
        char value[24];
        fulcrum_si_text(value, sizeof value, published->value[k], 3, NULL);
        (void)snprintf(note.text, sizeof note.text, "%s%s", value, unit);
        if (!is_noted(panel, note.spot.x, note.text)) {
            notes[panel->note_count++] = note;
        }
    }
}

/* "Runtime relative to 80 SMs". */
static void write_title(const struct picture *picture, const struct panel_form *form,
    char title[TITLE_SIZE])
{
    double x = picture->data->relative_to_x;
    if (!form->is_relative || !isfinite(x)) {
        (void)snprintf(title, TITLE_SIZE, "%s", form->title);
        return;
    }
    char at[48];
    fulcrum_plain_text(at, sizeof at, x);
    (void)snprintf(
        title, TITLE_SIZE, "%s %s %s", form->title, at, picture->form->x_unit);
}

/* A panel without a single known value is left out, not drawn empty. */
static void fill_panel(struct picture *picture, size_t which)
{
    const struct fulcrum_curves_data *data = picture->data;
    const struct panel_form *form = &picture->form->panels[which];
    const struct fulcrum_estimate *estimate = &data->estimates[which];
    if (form->title == NULL || !fulcrum_estimate_is_known(estimate, data->count)) {
        return;
    }
    struct room *room = &picture->rooms[which];
    bool log_x = fulcrum_values_span(data->x, data->count, log_x_from_factor);
    bool log_y = form->is_log &&
                 fulcrum_values_span(estimate->value, data->count, log_y_from_factor);
    write_title(picture, form, room->title);
    struct fulcrum_panel panel = {.title = room->title,
        .series = room->series,
        .series_count = 1,
        .notes = room->notes,
        .x_options = {.kind = log_x ? FULCRUM_AXIS_LOG2 : FULCRUM_AXIS_LINEAR,
            .pad_frac = 0.04},
        .y_options = {.kind = log_y ? FULCRUM_AXIS_LOG : FULCRUM_AXIS_LINEAR,
            .pad_frac = 0.08,
            .from_zero = 1},
        .weight = 1.0};
    room->series[0] =
        fulcrum_series_estimated(data->x, estimate, data->count, 0, FULCRUM_LOOK_LINE);
    for (size_t i = 0; i < data->published_count; i++) {
        const struct fulcrum_published *from = &data->published[i];
        if (from->panel != which) {
            continue;
        }
        /* Bars show how far rounding lets a published value be off. */
        const struct fulcrum_estimate values = {from->value, from->lo, from->hi};
        struct fulcrum_panel_series *series = &room->series[panel.series_count++];
        *series = fulcrum_series_estimated(from->x, &values, from->count,
            published_style(data, i), FULCRUM_LOOK_POINTS);
        series->hollow = from->is_fitted;
        if (form->note_unit != NULL) {
            add_notes(&panel, room->notes, from, form->note_unit);
        }
    }
    fulcrum_stack_add(&picture->stack, &panel);
}

/* Where a ratio lies on the x axis: ratios go with 1/x, nearly, so by logarithms. */
static double x_of_ratio(const struct fulcrum_curves_data *data, double ratio)
{
    const double *ratios = data->cpu_gpu_ratio;
    for (size_t i = 1; i < data->count; i++) {
        double from = ratios[i - 1];
        double to = ratios[i];
        if ((ratio - from) * (ratio - to) <= 0.0) {
            double share = log(ratio / from) / log(to / from);
            return data->x[i - 1] * pow(data->x[i] / data->x[i - 1], share);
        }
    }
    return (double)NAN;
}

/* A second scale needs ratios that rise, or fall, all along. */
static int ratios_are_usable(const struct fulcrum_curves_data *data)
{
    const double *ratios = data->cpu_gpu_ratio;
    if (ratios == NULL || data->count < 2 || !(data->x[0] > 0.0)) {
        return 0;
    }
    double direction = ratios[1] - ratios[0];
    for (size_t i = 0; i < data->count; i++) {
        /* Written so that NAN fails. */
        if (!(ratios[i] > 0.0) ||
            (i > 0 && !((ratios[i] - ratios[i - 1]) * direction > 0.0))) {
            return 0;
        }
    }
    return 1;
}

/* Round ratios at the places along x where they are reached. */
static void fill_top(const struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_curves_data *data = picture->data;
    if (picture->form->top_label == NULL || picture->stack.count == 0 ||
        !ratios_are_usable(data)) {
        return;
    }
    struct fulcrum_axis axis;
    struct fulcrum_limits span = fulcrum_limits_none();
    fulcrum_limits_add_all(&span, data->cpu_gpu_ratio, data->count);
    const struct fulcrum_axis_options options = {
        .kind = picture->panels[0].x_options.kind, .ticks_wanted = 8.0};
    fulcrum_axis_fit(&axis, &span, &options);
    for (size_t i = 0; i < axis.tick_count; i++) {
        struct fulcrum_tick tick = axis.ticks[i];
        tick.value = x_of_ratio(data, tick.value);
        if (picture->top.tick_count < FULCRUM_TOP_TICKS_MAX && isfinite(tick.value) &&
            tick.label[0] != '\0') {
            picture->top.ticks[picture->top.tick_count++] = tick;
        }
    }
    picture->top.label = picture->form->top_label;
    picture->panels[0].top = &picture->top;
    picture->panels[0].strip_pt = fulcrum_panel_top_pt(canvas);
}

/* One entry for each reference, however many panels it is in. */
static void fill_legend(
    struct fulcrum_page *page, const struct fulcrum_curves_data *data)
{
    const struct fulcrum_estimate *estimates[FULCRUM_CURVES_PANELS + 1] = {NULL};
    for (size_t i = 0; i < FULCRUM_CURVES_PANELS; i++) {
        estimates[i] = &data->estimates[i];
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_LINE_AND_MARKER, 0, "predicted");
    fulcrum_intervals_explain(page, estimates, data->count,
        data->interval_name != NULL ? data->interval_name : "interval");
    bool has_fitted = 0;
    for (size_t i = 0; i < data->published_count; i++) {
        const struct fulcrum_published *from = &data->published[i];
        fulcrum_page_explain(page, FULCRUM_SWATCH_MARKER, published_style(data, i),
            first_of_name(data, i) == i ? from->name : NULL);
        has_fitted |= fulcrum_any_flag(from->is_fitted, from->count);
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_HOLLOW, SEEN_STYLE,
        has_fitted ? "hollow: the fit has seen it" : NULL);
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_curves_data *data = given;
    FAIL_IF(data->published_count > FULCRUM_PUBLISHED_MAX, err, FULCRUM_ERR_RANGE,
        "%zu sets of published points: a chart holds at most %d", data->published_count,
        (int)FULCRUM_PUBLISHED_MAX);
    return FULCRUM_OK;
}

static void draw_form(struct fulcrum_canvas *canvas, struct fulcrum_page *page,
    struct picture *picture, const struct fulcrum_curves_data *data,
    const struct form *form)
{
    picture->form = form;
    picture->data = data;
    picture->stack.panels = picture->panels;
    for (size_t i = 0; i < FULCRUM_CURVES_PANELS; i++) {
        fill_panel(picture, i);
    }
    fill_top(canvas, picture);
    fill_legend(page, data);
    fulcrum_stack_draw_on(canvas, &picture->stack, form->x_label, page);
}

static void draw_runtime(struct fulcrum_canvas *canvas, struct fulcrum_page *page,
    void *room, const void *data)
{
    static const struct form form = {"actors", "actors", NULL,
        {{.title = "Runtime relative to", .is_relative = 1, .is_log = 1},
            {.title = "Speed-up over", .is_relative = 1, .note_unit = "x"}}};
    draw_form(canvas, page, room, data, &form);
}

static void draw_power(struct fulcrum_canvas *canvas, struct fulcrum_page *page,
    void *room, const void *data)
{
    static const struct form form = {"actors", "actors", NULL,
        {{.title = "GPU power, W", .note_unit = " W"},
            {.title = "Performance per GPU watt, steps/J", .note_unit = ""}}};
    draw_form(canvas, page, room, data, &form);
}

static void draw_sm(struct fulcrum_canvas *canvas, struct fulcrum_page *page,
    void *room, const void *data)
{
    static const struct form form = {"SMs of the GPU in use", "SMs",
        "CPU/GPU ratio: hardware threads / SMs in use",
        {{.title = "Runtime relative to",
            .is_relative = 1,
            .is_log = 1,
            .note_unit = ""}}};
    draw_form(canvas, page, room, data, &form);
}

const struct fulcrum_chart fulcrum_chart_runtime = {.name = "runtime",
    .summary = "runtime and speed-up against the actors, with published points",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw_runtime};

const struct fulcrum_chart fulcrum_chart_power = {.name = "power",
    .summary = "GPU watts and performance per GPU watt against the actors, with "
               "published points",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw_power};

const struct fulcrum_chart fulcrum_chart_sm = {.name = "sm",
    .summary = "slowdown against the SMs in use, with published points",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw_sm};
