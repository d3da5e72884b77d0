/* chart_actors.c - runtime, watts and performance per watt against the actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"
#include "plots/chart/canvas.h"
#include "plots/chart/label.h"
#include "plots/chart/metric.h"
#include "plots/spec/charts.h"

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
    struct fulcrum_panel panels[PANELS_MAX];
    struct fulcrum_metric_panel rooms[PANELS_MAX];
    struct fulcrum_stack stack;
};

static const struct time_unit *time_unit_for(const struct fulcrum_actors_data *data)
{
    static const struct time_unit units[] = {{300.0, 1.0, "Runtime, s"},
        {300.0 * 60.0, 60.0, "Runtime, minutes"},
        {200.0 * 3600.0, 3600.0, "Runtime, hours"},
        {INFINITY, 86400.0, "Runtime, days"}};
    struct fulcrum_limits span = fulcrum_limits_none();
    fulcrum_limits_add_all(&span, data->runtime_s.value, data->count);
    size_t i = 0;
    while (span.lo > units[i].longest_s) {
        i++;
    }
    return &units[i];
}

/*
 * People ask for the runtime, in a unit that suits the shortest; throughput stands in
 * where the work is not known.
 */
static struct fulcrum_metric first_metric(
    struct fulcrum_canvas *canvas, const struct fulcrum_actors_data *data)
{
    size_t count = data->count;
    double *runtime = NULL;
    if (fulcrum_estimate_is_known(&data->runtime_s, count)) {
        runtime = fulcrum_canvas_room(canvas, 3 * count, sizeof *runtime);
    }
    if (runtime == NULL) {
        return (struct fulcrum_metric){
            .title = "Throughput, steps/s", .estimates = {data->steps_per_s}};
    }
    const struct time_unit *unit = time_unit_for(data);
    const double *const sources[] = {
        data->runtime_s.value, data->runtime_s.lo, data->runtime_s.hi};
    for (size_t i = 0; i < 3 * count; i++) {
        const double *source = sources[i / count];
        runtime[i] = source != NULL ? source[i % count] / unit->unit_s : (double)NAN;
    }
    return (struct fulcrum_metric){.title = unit->title,
        .estimates = {{runtime, runtime + count, runtime + 2 * count}},
        .goal = FULCRUM_GOAL_LEAST};
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    struct picture *picture = room;
    const struct fulcrum_actors_data *data = given;
    const struct fulcrum_metric metrics[] = {
        first_metric(canvas, data),
        {.title = "Power, W",
            .estimates = {data->system_w, data->gpu_w},
            .unjudged = 1},
        {.title = "Performance per watt, steps/J",
            .estimates = {data->steps_per_j_system, data->steps_per_j_gpu},
            .subjects = {"system", "GPU"}},
    };
    /* Counts of 1..16 read well on a ruler, 1..512 do not. */
    bool doublings =
        fulcrum_values_span(data->actor_count, data->count, log_from_factor);
    const struct fulcrum_metric_axis axis = {data->actor_count, data->count,
        doublings ? FULCRUM_AXIS_LOG2 : FULCRUM_AXIS_LINEAR, "actors"};
    picture->stack.panels = picture->panels;
    fulcrum_metrics_fill(&picture->stack, picture->rooms, metrics, PANELS_MAX, &axis);
    /* Only what the panels show is explained. */
    bool gpu = fulcrum_estimate_is_known(&data->gpu_w, data->count) ||
               fulcrum_estimate_is_known(&data->steps_per_j_gpu, data->count);
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_LINE_AND_MARKER, 0, gpu ? "whole system" : "predicted");
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_LINE_AND_MARKER, 1, gpu ? "GPU alone" : NULL);
    const struct fulcrum_estimate *const estimates[] = {&data->runtime_s,
        &data->steps_per_s, &data->system_w, &data->gpu_w, &data->steps_per_j_system,
        &data->steps_per_j_gpu, NULL};
    fulcrum_intervals_explain(page, estimates, data->count,
        data->interval_name != NULL ? data->interval_name : "90 % interval");
    fulcrum_metrics_explain(
        page, &picture->stack, "best, or fewest actors within 1 % of it");
    fulcrum_stack_draw_on(canvas, &picture->stack,
        data->x_label != NULL ? data->x_label : "actors", page);
}

const struct fulcrum_chart fulcrum_chart_actors = {.name = "actors",
    .summary = "runtime, watts and performance per watt against the actors",
    .room_byte = sizeof(struct picture),
    .draw = draw};

/* Throughput and performance per watt against the CPU/GPU ratio. */

enum { NOTE_SIZE = 2000, FLAG_TEXT_SIZE = 96 };

/* Names of machines get at most this share of the page's height. */
static const double flags_frac = 0.12;
/* Between their names and the panel. */
static const double flags_gap_pt = 3.0;

/* Everything the picture is made of, between measuring and drawing. */
struct chart_ratio_picture {
    const struct fulcrum_ratio_data *data;
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
    FAIL_IF(data->machine_count > FULCRUM_RATIO_MACHINES_MAX, err, FULCRUM_ERR_RANGE,
        "%zu machines: a chart shows at most %d", data->machine_count,
        FULCRUM_RATIO_MACHINES_MAX);
    for (size_t i = 0; i < data->machine_count; i++) {
        double ratio = data->machines[i].cpu_gpu_ratio;
        FAIL_IF(!isfinite(ratio) || ratio <= 0.0, err, FULCRUM_ERR_RANGE,
            "cpu_gpu_ratio = %.4g of %s must be above 0", ratio,
            data->machines[i].name);
    }
    return FULCRUM_OK;
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

/* Adds ", machine", or a paragraph "intro machine" where this is the first one. */
static void append(char *note, int *first, const char *intro,
    const struct fulcrum_ratio_machine *machine)
{
    char text[FLAG_TEXT_SIZE];
    size_t used = strlen(note);
    const char *paragraph = used > 0 ? "\n" : "";
    flag_text(text, sizeof text, machine);
    (void)snprintf(note + used, NOTE_SIZE - used, "%s%s%s", *first ? paragraph : ", ",
        *first ? intro : "", text);
    *first = 0;
}

/* Keeps the machines within the axis, sorted; the others are named in the note. */
static void sort_machines(struct chart_ratio_picture *picture)
{
    const struct fulcrum_ratio_data *data = picture->data;
    const struct fulcrum_axis *axis = &picture->panels[0].x;
    struct fulcrum_ratio_machine sorted[FULCRUM_RATIO_MACHINES_MAX];
    if (data->machine_count == 0) {
        return;
    }
    memcpy(sorted, data->machines, data->machine_count * sizeof sorted[0]);
    qsort(sorted, data->machine_count, sizeof sorted[0], compare_ratio);
    int first = 1;
    for (size_t i = 0; i < data->machine_count; i++) {
        /* Beyond its ends an axis clamps: a line there would be at a wrong ratio. */
        double ratio = sorted[i].cpu_gpu_ratio;
        if (ratio >= axis->lo && ratio <= axis->hi) {
            picture->guides[picture->machine_count] = ratio;
            picture->machines[picture->machine_count++] = sorted[i];
            continue;
        }
        append(picture->note, &first, "Beyond this chart: ", &sorted[i]);
    }
}

/* Names of machines are stacked in rows of this height. */
static double flag_row_pt(const struct fulcrum_canvas *canvas)
{
    return fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_FLAG) + 0.5;
}

/* Names that found no place are listed in the note instead. */
static size_t place_flags(
    const struct fulcrum_canvas *canvas, struct chart_ratio_picture *picture)
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
            append(
                picture->note, &first, "Lines without a name: ", &picture->machines[i]);
        }
    }
    return rows;
}

/*
 * Ticks and the width of the axes are settled first: names of machines need them, the
 * footnote needs to know which names found a place, and the panels get what is left.
 */
static void measure(const struct fulcrum_canvas *canvas,
    struct chart_ratio_picture *picture, struct fulcrum_page *page)
{
    struct fulcrum_rect body = fulcrum_page_body(canvas, page);
    fulcrum_stack_fit(canvas, &picture->stack, body);
    fulcrum_stack_place(canvas, &picture->stack, body);
    if (page->footnote != NULL) {
        (void)snprintf(picture->note, NOTE_SIZE, "%s", page->footnote);
    }
    sort_machines(picture);
    size_t rows = place_flags(canvas, picture);
    for (size_t i = 0; i < picture->stack.count; i++) {
        picture->panels[i].guides = picture->guides;
        picture->panels[i].guide_count = picture->machine_count;
    }
    picture->panels[0].strip_pt =
        rows > 0 ? (double)rows * flag_row_pt(canvas) + flags_gap_pt : 0.0;
    page->footnote = picture->note;
    const struct fulcrum_ratio_data *data = picture->data;
    fulcrum_page_explain(page, FULCRUM_SWATCH_LINE, 0, "predicted");
    const struct fulcrum_estimate *const estimates[] = {
        &data->steps_per_s, &data->steps_per_j_gpu, &data->steps_per_j_system, NULL};
    fulcrum_intervals_explain(page, estimates, data->count,
        data->interval_name != NULL ? data->interval_name : "90 % interval");
    fulcrum_metrics_explain(
        page, &picture->stack, "best, or smallest ratio within 1 % of it");
    fulcrum_page_explain(page, FULCRUM_SWATCH_GUIDE, 0,
        picture->machine_count > 0 ? "existing machine at its ratio" : NULL);
    fulcrum_stack_place(canvas, &picture->stack, fulcrum_page_body(canvas, page));
}

static void chart_ratio_draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page,
    void *room, const void *given)
{
    struct chart_ratio_picture *picture = room;
    const struct fulcrum_ratio_data *data = given;
    const struct fulcrum_metric metrics[] = {
        {.title = "Throughput, steps/s", .estimates = {data->steps_per_s}},
        {.title = "Per GPU watt, steps/J", .estimates = {data->steps_per_j_gpu}},
        {.title = "Per system watt, steps/J", .estimates = {data->steps_per_j_system}},
    };
    const struct fulcrum_metric_axis axis = {
        data->cpu_gpu_ratio, data->count, FULCRUM_AXIS_LOG, ""};
    picture->data = data;
    picture->stack.panels = picture->panels;
    fulcrum_metrics_fill(&picture->stack, picture->rooms, metrics, PANELS_MAX, &axis);
    if (picture->stack.count == 0) {
        fulcrum_page_draw_empty(canvas, page);
        return;
    }
    picture->panels[picture->stack.count - 1].x_label =
        data->x_label != NULL ? data->x_label
                              : "CPU/GPU ratio (hardware threads / SMs)";
    measure(canvas, picture, page);
    fulcrum_page_draw(canvas, page);
    /* Poles stand on the first panel; thin lines carry them on through all panels. */
    const struct fulcrum_pen pen = {
        .rgb = FULCRUM_TONE_MUTED, .width_pt = 0.6, .kind = FULCRUM_BOX_GUIDE};
    double bottom = picture->panels[0].frame.y0;
    for (size_t i = 0; i < picture->machine_count; i++) {
        const struct fulcrum_flag_post *post = &picture->posts[i];
        if (!post->shown) {
            continue;
        }
        double top =
            bottom - flags_gap_pt - flag_row_pt(canvas) * (double)(post->row + 1);
        fulcrum_canvas_line(canvas, &pen, (struct fulcrum_spot){post->x, bottom},
            (struct fulcrum_spot){post->x, top + 1.5});
        char text[FLAG_TEXT_SIZE];
        flag_text(text, sizeof text, &picture->machines[i]);
        double gap_pt = post->to_left ? -fulcrum_flag_gap_pt() : fulcrum_flag_gap_pt();
        const struct fulcrum_text style =
            fulcrum_palette_anchored(FULCRUM_TEXT_FLAG, post->to_left ? 1.0 : 0.0, 0.0);
        fulcrum_canvas_text(
            canvas, &style, (struct fulcrum_spot){post->x + gap_pt, top}, text);
    }
    fulcrum_stack_draw(canvas, &picture->stack);
}

const struct fulcrum_chart fulcrum_chart_ratio = {.name = "ratio",
    .summary = "throughput and performance per watt against the CPU/GPU ratio",
    .room_byte = sizeof(struct chart_ratio_picture),
    .check = check,
    .draw = chart_ratio_draw};
