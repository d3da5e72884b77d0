/* chart_ratio.c - throughput and performance per watt against the CPU/GPU ratio. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/label.h"
#include "plots/metric.h"
#include "plots/palette.h"

enum { PANELS_MAX = 3, NOTE_SIZE = 2000, FLAG_TEXT_SIZE = 96 };

/* Names of machines get at most this share of the page's height. */
static const double flags_frac = 0.12;
/* Between their names and the panel. */
static const double flags_gap_pt = 3.0;

/* Everything the picture is made of, between measuring and drawing. */
struct picture {
    const struct fulcrum_ratio_data *data;
    struct fulcrum_page page;
    struct fulcrum_panel panels[PANELS_MAX];
    struct fulcrum_metric_panel rooms[PANELS_MAX];
    struct fulcrum_stack stack;
    struct fulcrum_ratio_machine machines[FULCRUM_RATIO_MACHINES_MAX]; /* by ratio */
    struct fulcrum_flag_post posts[FULCRUM_RATIO_MACHINES_MAX];
    double guides[FULCRUM_RATIO_MACHINES_MAX];
    size_t machine_count; /* those within the chart */
    char note[NOTE_SIZE];
};

/* What no picture can show is refused before anything is drawn. */
static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_ratio_data *data = given;
    if (data->machine_count > FULCRUM_RATIO_MACHINES_MAX) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%zu machines: a chart shows at most %d", data->machine_count,
            FULCRUM_RATIO_MACHINES_MAX);
    }
    for (size_t i = 0; i < data->machine_count; i++) {
        double ratio = data->machines[i].cpu_gpu_ratio;
        if (!isfinite(ratio) || ratio <= 0.0) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "cpu_gpu_ratio = %.4g of %s must be above 0", ratio,
                data->machines[i].name);
        }
    }
    return FULCRUM_OK;
}

/* Panels without a single known value are left out, not drawn empty. */
static void fill_panels(struct picture *picture)
{
    const struct fulcrum_ratio_data *data = picture->data;
    const struct fulcrum_metric metrics[] = {
        {.title = "Throughput, steps/s", .estimates = {data->steps_per_s}},
        {.title = "Per GPU watt, steps/J", .estimates = {data->steps_per_j_gpu}},
        {.title = "Per system watt, steps/J", .estimates = {data->steps_per_j_system}},
    };
    const struct fulcrum_metric_axis axis = {
        data->cpu_gpu_ratio, data->count, FULCRUM_AXIS_LOG, ""};
    picture->stack.panels = picture->panels;
    fulcrum_metrics_fill(&picture->stack, picture->rooms, metrics, PANELS_MAX, &axis);
    if (picture->stack.count > 0) {
        picture->panels[picture->stack.count - 1].x_label =
            data->x_label != NULL ? data->x_label
                                  : "CPU/GPU ratio (hardware threads / SMs)";
    }
}

/* Only what the panels show is explained. */
static void fill_legend(struct picture *picture)
{
    const struct fulcrum_ratio_data *data = picture->data;
    int interval =
        fulcrum_estimate_has_interval(&data->steps_per_s, data->count) ||
        fulcrum_estimate_has_interval(&data->steps_per_j_gpu, data->count) ||
        fulcrum_estimate_has_interval(&data->steps_per_j_system, data->count);
    fulcrum_page_explain(&picture->page, FULCRUM_SWATCH_LINE, 0, "predicted");
    if (interval) {
        fulcrum_page_explain(&picture->page, FULCRUM_SWATCH_BAND, 0,
            data->interval_name != NULL ? data->interval_name : "90 % interval");
    }
    fulcrum_metrics_explain(
        &picture->page, &picture->stack, "best, or smallest ratio within 1 % of it");
    if (picture->machine_count > 0) {
        fulcrum_page_explain(
            &picture->page, FULCRUM_SWATCH_GUIDE, 0, "existing machine at its ratio");
    }
}

/* For qsort; ratios were checked to be finite. */
static int compare_ratio(const void *a, const void *b)
{
    const struct fulcrum_ratio_machine *left = a;
    const struct fulcrum_ratio_machine *right = b;
    return (left->cpu_gpu_ratio > right->cpu_gpu_ratio) -
           (left->cpu_gpu_ratio < right->cpu_gpu_ratio);
}

/* Name and ratio, so that the number need not be read off the axis. */
static void flag_text(
    char *out, size_t size, const struct fulcrum_ratio_machine *machine)
{
    char ratio[48];
    fulcrum_plain_text(ratio, sizeof ratio, machine->cpu_gpu_ratio);
    (void)snprintf(out, size, "%s %s", machine->name, ratio);
}

/* Adds ", text", or a paragraph "intro text" where this is the first one. */
static void append(char *note, int first, const char *intro, const char *text)
{
    size_t used = strlen(note);
    const char *paragraph = used > 0 ? "\n" : "";
    (void)snprintf(note + used, NOTE_SIZE - used, "%s%s%s", first ? paragraph : ", ",
        first ? intro : "", text);
}

/* Beyond its ends an axis clamps, and a line there would stand at a wrong ratio. */
static int within(const struct fulcrum_axis *axis, double value)
{
    return value >= axis->lo && value <= axis->hi;
}

/* Keeps the machines within the axis, sorted; the others are named in the note. */
static void sort_machines(struct picture *picture)
{
    const struct fulcrum_ratio_data *data = picture->data;
    struct fulcrum_ratio_machine sorted[FULCRUM_RATIO_MACHINES_MAX];
    if (data->machine_count == 0) {
        return;
    }
    memcpy(sorted, data->machines, data->machine_count * sizeof sorted[0]);
    qsort(sorted, data->machine_count, sizeof sorted[0], compare_ratio);
    int first = 1;
    for (size_t i = 0; i < data->machine_count; i++) {
        if (within(&picture->panels[0].x, sorted[i].cpu_gpu_ratio)) {
            picture->guides[picture->machine_count] = sorted[i].cpu_gpu_ratio;
            picture->machines[picture->machine_count++] = sorted[i];
            continue;
        }
        char text[FLAG_TEXT_SIZE];
        flag_text(text, sizeof text, &sorted[i]);
        append(picture->note, first, "Beyond this chart: ", text);
        first = 0;
    }
}

/* Names of machines are stacked in rows of this height. */
static double flag_row_pt(const struct fulcrum_canvas *canvas)
{
    return fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_FLAG) + 0.5;
}

/* Names that found no place are listed in the note instead. */
static size_t place_flags(const struct fulcrum_canvas *canvas, struct picture *picture)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FLAG);
    struct fulcrum_extent extent = fulcrum_canvas_extent(canvas);
    const struct fulcrum_panel *panel = &picture->panels[0];
    for (size_t i = 0; i < picture->machine_count; i++) {
        char text[FLAG_TEXT_SIZE];
        flag_text(text, sizeof text, &picture->machines[i]);
        picture->posts[i].x = fulcrum_axis_at(&panel->x, picture->guides[i]);
        picture->posts[i].width_pt =
            fulcrum_canvas_measure(canvas, &style, text).width_pt;
    }
    double rows_max = floor(flags_frac * extent.height_pt / flag_row_pt(canvas));
    const struct fulcrum_flag_room room = {
        panel->header.x0, panel->header.x1, (size_t)rows_max};
    size_t rows =
        fulcrum_flag_posts_place(picture->posts, picture->machine_count, &room);
    int first = 1;
    for (size_t i = 0; i < picture->machine_count; i++) {
        if (!picture->posts[i].shown) {
            char text[FLAG_TEXT_SIZE];
            flag_text(text, sizeof text, &picture->machines[i]);
            append(picture->note, first, "Lines without a name: ", text);
            first = 0;
        }
    }
    return rows;
}

/*
 * Ticks and the width of the axes are settled first: names of machines need them, the
 * footnote needs to know which names found a place, and the panels get what is left.
 */
static void measure(const struct fulcrum_canvas *canvas, struct picture *picture)
{
    struct fulcrum_rect body = fulcrum_page_body(canvas, &picture->page);
    fulcrum_stack_fit(canvas, &picture->stack, body);
    fulcrum_stack_place(canvas, &picture->stack, body);
    if (picture->data->text.footnote != NULL) {
        (void)snprintf(picture->note, NOTE_SIZE, "%s", picture->data->text.footnote);
    }
    sort_machines(picture);
    size_t rows = place_flags(canvas, picture);
    for (size_t i = 0; i < picture->stack.count; i++) {
        picture->panels[i].guides = picture->guides;
        picture->panels[i].guide_count = picture->machine_count;
    }
    picture->panels[0].strip_pt =
        rows > 0 ? (double)rows * flag_row_pt(canvas) + flags_gap_pt : 0.0;
    picture->page.footnote = picture->note;
    fill_legend(picture);
    body = fulcrum_page_body(canvas, &picture->page);
    fulcrum_stack_place(canvas, &picture->stack, body);
}

/* Poles stand on the first panel; thin lines carry them on through all panels. */
static void draw_flags(struct fulcrum_canvas *canvas, const struct picture *picture)
{
    const struct fulcrum_pen pen = {
        .rgb = FULCRUM_TONE_MUTED, .width_pt = 0.6, .kind = FULCRUM_BOX_GUIDE};
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FLAG);
    double bottom = picture->panels[0].frame.y0;
    double row_pt = flag_row_pt(canvas);
    for (size_t i = 0; i < picture->machine_count; i++) {
        const struct fulcrum_flag_post *post = &picture->posts[i];
        if (!post->shown) {
            continue;
        }
        double top = bottom - flags_gap_pt - row_pt * (double)(post->row + 1);
        const struct fulcrum_spot pole[] = {{post->x, bottom}, {post->x, top + 1.5}};
        fulcrum_canvas_stroke(canvas, &pen, pole, 2);
        char text[FLAG_TEXT_SIZE];
        flag_text(text, sizeof text, &picture->machines[i]);
        double gap_pt = fulcrum_flag_gap_pt();
        style.anchor_x = post->to_left ? 1.0 : 0.0;
        fulcrum_canvas_text(canvas, &style,
            (struct fulcrum_spot){post->x + (post->to_left ? -gap_pt : gap_pt), top},
            text);
    }
}

static enum fulcrum_status draw(struct fulcrum_canvas *canvas, void *room,
    const void *data, struct fulcrum_error *err)
{
    struct picture *picture = room;
    picture->data = data;
    fulcrum_page_write(&picture->page, &picture->data->text);
    fill_panels(picture);
    if (picture->stack.count == 0) {
        fulcrum_page_draw_empty(canvas, &picture->page);
    } else {
        measure(canvas, picture);
        fulcrum_page_draw(canvas, &picture->page);
        draw_flags(canvas, picture);
        fulcrum_stack_draw(canvas, &picture->stack);
    }
    return fulcrum_canvas_status(canvas, err);
}

const struct fulcrum_chart fulcrum_chart_ratio = {.name = "ratio",
    .summary = "throughput and performance per watt against the CPU/GPU ratio",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
