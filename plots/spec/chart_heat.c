/* chart_heat.c - one metric over two fields, with contours and machines at their place.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each point of the sweep is a cell that reaches half-way to its neighbours. Contours
 * go through the points themselves and so end half a cell before the border: beyond the
 * outermost points nothing is known.
 */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"
#include "plots/chart/canvas.h"
#include "plots/chart/page.h"
#include "plots/spec/heat_frame.h"
#include "plots/spec/heat_tags.h"

enum {
    CANNOT_RUN = FULCRUM_HEAT_COLOURS, /* cells without a colour */
    NOT_KNOWN,
    NOTE_SIZE = 2400
};

static const double near_best_frac = 0.01;
/* Cells reach this far below the next ones, or paper would show between them. */
static const double overlap_pt = 0.5;
/* Shorter numbers in the file; a sixteenth is exact in binary. */
static const double grain_pt = 0.0625;

/* The best cell and how many come near it. */
struct best {
    size_t cell; /* the count of cells: there is none */
    size_t usable;
    size_t near;
    int at_border;
};

struct picture {
    const struct fulcrum_heat_data *data;
    struct fulcrum_heat_frame frame;
    struct fulcrum_heat_lines lines;
    struct fulcrum_heat_blocks blocks;
    struct best best;
    struct fulcrum_heat_tags tags;
    size_t cannot_run; /* cells */
    size_t not_known;
    char finding[300];
    char note[NOTE_SIZE];
};

static size_t cell_count(const struct fulcrum_heat_data *data)
{
    return data->x.count * data->y.count;
}

/* Only where there is a cell there are columns. */
static size_t column_of(const struct fulcrum_heat_data *data, size_t cell)
{
    return data->x.count > 0 ? cell % data->x.count : 0;
}

static size_t row_of(const struct fulcrum_heat_data *data, size_t cell)
{
    return data->x.count > 0 ? cell / data->x.count : 0;
}

static int cannot_run(const struct fulcrum_heat_data *data, size_t cell)
{
    return data->cannot_run != NULL && data->cannot_run[cell];
}

static bool is_known(const struct fulcrum_heat_data *data, size_t cell)
{
    return !cannot_run(data, cell) && isfinite(data->value[cell]);
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_heat_data *data = given;
    const struct fulcrum_heat_axis *const axes[] = {&data->x, &data->y};
    FAIL_IF(data->machine_count > FULCRUM_HEAT_MACHINES_MAX, err, FULCRUM_ERR_RANGE,
        "%zu machines: a chart shows at most %d", data->machine_count,
        (int)FULCRUM_HEAT_MACHINES_MAX);
    for (size_t k = 0; k < 2; k++) {
        const double *values = axes[k]->values;
        for (size_t i = 0; i < axes[k]->count; i++) {
            FAIL_IF(!isfinite(values[i]) || (i > 0 && !(values[i] > values[i - 1])),
                err, FULCRUM_ERR_RANGE,
                "%s: value %zu is %g: expected finite values that increase",
                axes[k]->label, i, values[i]);
        }
    }
    return FULCRUM_OK;
}

static bool is_better(const struct fulcrum_heat_data *data, size_t a, size_t b)
{
    return data->goal == FULCRUM_GOAL_MOST ? data->value[a] > data->value[b]
                                           : data->value[a] < data->value[b];
}

static void find_best(struct picture *picture)
{
    const struct fulcrum_heat_data *data = picture->data;
    struct best *best = &picture->best;
    best->cell = cell_count(data);
    for (size_t i = 0; i < cell_count(data); i++) {
        if (is_known(data, i) &&
            (best->cell == cell_count(data) || is_better(data, i, best->cell))) {
            best->cell = i;
        }
    }
    for (size_t i = 0; i < cell_count(data); i++) {
        if (is_known(data, i)) {
            double apart = fabs(data->value[i] - data->value[best->cell]);
            best->usable++;
            best->near +=
                apart <= near_best_frac * fabs(data->value[best->cell]) ? 1U : 0U;
        }
    }
    size_t i = column_of(data, best->cell);
    size_t j = row_of(data, best->cell);
    bool at_x = data->x.count > 1 && (i == 0 || i + 1 == data->x.count);
    bool at_y = data->y.count > 1 && (j == 0 || j + 1 == data->y.count);
    best->at_border = best->usable > 0 && (at_x || at_y);
}

/* A star where nothing differs would point at nothing. */
static bool has_star(const struct picture *picture)
{
    return !picture->data->unjudged && picture->best.usable > 0 &&
           (picture->best.near < picture->best.usable || picture->best.usable == 1);
}

static void write_finding(struct picture *picture)
{
    const struct fulcrum_heat_data *data = picture->data;
    const struct best *best = &picture->best;
    char value[48];
    char x[48];
    char y[48];
    if (data->unjudged || best->usable == 0) {
        return;
    }
    fulcrum_si_text(value, sizeof value, data->value[best->cell], 3, data->unit);
    fulcrum_plain_text(x, sizeof x, data->x.values[column_of(data, best->cell)]);
    fulcrum_plain_text(y, sizeof y, data->y.values[row_of(data, best->cell)]);
    if (!has_star(picture)) {
        (void)snprintf(picture->finding, sizeof picture->finding,
            "within 1 %% of %s everywhere", value);
        return;
    }
    (void)snprintf(picture->finding, sizeof picture->finding,
        "best %s at (%s, %s)%s; %zu of %zu points within 1 %% of it", value, x, y,
        best->at_border ? ", where the chart ends" : "", best->near, best->usable);
}

static struct fulcrum_spot best_spot(const struct picture *picture)
{
    const struct fulcrum_heat_data *data = picture->data;
    size_t cell = picture->best.cell;
    return (struct fulcrum_spot){
        fulcrum_axis_at(&picture->frame.x, data->x.values[column_of(data, cell)]),
        fulcrum_axis_at(&picture->frame.y, data->y.values[row_of(data, cell)])};
}

static void fill_legend(struct fulcrum_page *page, const struct picture *picture)
{
    const struct fulcrum_heat_lines *lines = &picture->lines;
    const char *contour =
        lines->are_shares ? "percent of the best value" : "line of equal value";
    const char *ratio = "constant CPU/GPU ratio (hardware threads / SMs)";
    const char *machine = "existing machine at its own values";
    bool has_contour = 0;
    bool has_ratio = 0;
    for (size_t i = 0; i < lines->count; i++) {
        has_contour = has_contour || !lines->levels[i].is_ratio;
        has_ratio = has_ratio || lines->levels[i].is_ratio;
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_RULE, 0, has_contour ? contour : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_GUIDE, 0, has_ratio ? ratio : NULL);
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_STAR, 0, has_star(picture) ? "best" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_PLACE, 0,
        fulcrum_heat_tags_inside(&picture->tags) > 0 ? machine : NULL);
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_HATCH, 0, picture->cannot_run > 0 ? "cannot run" : NULL);
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_BLANK, 0, picture->not_known > 0 ? "not known" : NULL);
}

static struct fulcrum_heat_ground ground_of(const struct picture *picture)
{
    const struct fulcrum_spot nowhere = {(double)NAN, (double)NAN};
    return (struct fulcrum_heat_ground){&picture->frame.x, &picture->frame.y,
        picture->frame.panel, has_star(picture) ? best_spot(picture) : nowhere};
}

/* The interval of one value; 0 where it is not known. */
static int interval_of(
    const struct fulcrum_heat_data *data, size_t cell, double *lo, double *hi)
{
    if (data->lo == NULL || data->hi == NULL || !is_known(data, cell)) {
        return 0;
    }
    *lo = data->lo[cell];
    *hi = data->hi[cell];
    return *lo < *hi;
}

/*
 * A colour has no whiskers, and intervals of cells overlap nearly everywhere, because
 * one unknown number moves all of them together: hatching where they do would say less
 * than two figures.
 */
static void write_intervals(struct picture *picture)
{
    const struct fulcrum_heat_data *data = picture->data;
    double below_rel = 0.0;
    double above_rel = 0.0;
    double lo = 0.0;
    double hi = 0.0;
    char words[120] = "";
    /* How far below and above their values intervals reach at most. */
    for (size_t i = 0; i < cell_count(data); i++) {
        if (data->value[i] > 0.0 && interval_of(data, i, &lo, &hi)) {
            below_rel = fmax(below_rel, 1.0 - lo / data->value[i]);
            above_rel = fmax(above_rel, hi / data->value[i] - 1.0);
        }
    }
    if (has_star(picture) && interval_of(data, picture->best.cell, &lo, &hi)) {
        char from[48];
        char to[48];
        fulcrum_si_text(from, sizeof from, lo, 3, data->unit);
        fulcrum_si_text(to, sizeof to, hi, 3, data->unit);
        (void)snprintf(words, sizeof words, "%s to %s at the best point, ", from, to);
    }
    if (below_rel > 0.0 || above_rel > 0.0) {
        (void)snprintf(picture->note, sizeof picture->note,
            "%s: %sat most %.0f %% below and %.0f %% above the value anywhere",
            data->interval_name, words, 100.0 * below_rel, 100.0 * above_rel);
    }
}

/* Below what the caller has to say. */
static void write_note(struct fulcrum_page *page, struct picture *picture)
{
    const char *footnote = page->footnote;
    picture->note[0] = '\0';
    write_intervals(picture);
    size_t used = strlen(picture->note);
    if (footnote != NULL && footnote[0] != '\0') {
        (void)snprintf(picture->note + used, sizeof picture->note - used, "%s%s",
            used > 0 ? "\n" : "", footnote);
    }
    fulcrum_heat_tags_note(&picture->tags, picture->note, sizeof picture->note);
    page->footnote = picture->note;
}

/* Places for the page as it is laid out now. */
static void place(const struct fulcrum_canvas *canvas, const struct fulcrum_page *page,
    struct picture *picture)
{
    struct fulcrum_rect body = fulcrum_page_body(canvas, page);
    fulcrum_heat_frame_lay_out(canvas, &picture->frame, body);
    struct fulcrum_heat_ground ground = ground_of(picture);
    fulcrum_heat_tags_place(canvas, &picture->tags, &ground);
}

/*
 * The legend says which lines and marks there are, and the footnote which machines
 * found no place; both take room from the panel, so it is laid out again after each.
 */
static enum fulcrum_status measure(
    struct fulcrum_canvas *canvas, struct fulcrum_page *page, struct picture *picture)
{
    fulcrum_heat_tags_gather(
        &picture->tags, picture->data->machines, picture->data->machine_count);
    place(canvas, page, picture);
    fulcrum_heat_lines_choose(&picture->lines, &picture->frame);
    fill_legend(page, picture);
    place(canvas, page, picture);
    write_note(page, picture);
    place(canvas, page, picture);
    return fulcrum_heat_lines_trace(
        &picture->lines, &picture->frame, fulcrum_canvas_failure(canvas));
}

static double snapped(double x)
{
    return round(x / grain_pt) * grain_pt;
}

static struct fulcrum_rect block_rect(
    const struct picture *picture, const struct fulcrum_heat_block *block)
{
    const struct fulcrum_heat_data *data = picture->data;
    double left = fulcrum_heat_axis_edge(&data->x, picture->frame.x.kind, block->i0);
    double right = fulcrum_heat_axis_edge(&data->x, picture->frame.x.kind, block->i1);
    double low = fulcrum_heat_axis_edge(&data->y, picture->frame.y.kind, block->j0);
    double high = fulcrum_heat_axis_edge(&data->y, picture->frame.y.kind, block->j1);
    return (struct fulcrum_rect){snapped(fulcrum_axis_at(&picture->frame.x, left)),
        snapped(fulcrum_axis_at(&picture->frame.y, high)),
        snapped(fulcrum_axis_at(&picture->frame.x, right)),
        snapped(fulcrum_axis_at(&picture->frame.y, low))};
}

/* Which of the colours a cell has, or why it has none. */
static int colour_of(const struct picture *picture, size_t cell)
{
    if (cannot_run(picture->data, cell)) {
        return CANNOT_RUN;
    }
    if (!is_known(picture->data, cell)) {
        return NOT_KNOWN;
    }
    double share = fulcrum_axis_at(&picture->frame.colours, picture->data->value[cell]);
    return (int)fmin(floor(share * FULCRUM_HEAT_COLOURS), FULCRUM_HEAT_COLOURS - 1.0);
}

static enum fulcrum_status gather_blocks(
    struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_heat_data *data = picture->data;
    int *colours = fulcrum_canvas_room(canvas, cell_count(data), sizeof *colours);
    if (colours == NULL) {
        return FULCRUM_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < cell_count(data); i++) {
        colours[i] = colour_of(picture, i);
    }
    return fulcrum_heat_blocks_gather(colours, data->x.count, data->y.count,
        &picture->blocks, fulcrum_canvas_failure(canvas));
}

/*
 * All blocks of one colour, or of none, at once, in the order of colours: what has none
 * covers the little that they reach too far.
 */
static void draw_cells(struct fulcrum_canvas *canvas, const struct picture *picture)
{
    const struct fulcrum_pen paper = fulcrum_palette_rule(FULCRUM_GROUND_PAPER, 0.0);
    const struct fulcrum_pen line = fulcrum_palette_rule(FULCRUM_TONE_MUTED, 0.6);
    const struct fulcrum_heat_block *items = picture->blocks.items;
    size_t count = picture->blocks.count;
    struct fulcrum_rect *rects = fulcrum_canvas_room(canvas, count, sizeof *rects);
    size_t run = 0;
    for (size_t i = 0; rects != NULL && i < count; i++) {
        struct fulcrum_rect rect = block_rect(picture, &items[i]);
        if (items[i].colour == CANNOT_RUN) {
            fulcrum_canvas_fill_rect(canvas, &paper, rect);
            fulcrum_canvas_hatch(canvas, &line, rect);
        }
        rect.x1 = fmin(rect.x1 + overlap_pt, picture->frame.panel.x1);
        rect.y1 = fmin(rect.y1 + overlap_pt, picture->frame.panel.y1);
        rects[run++] = rect;
        if (i + 1 < count && items[i + 1].colour == items[i].colour) {
            continue;
        }
        if (items[i].colour < FULCRUM_HEAT_COLOURS) {
            const struct fulcrum_pen pen =
                fulcrum_palette_rule(fulcrum_heat_colour(items[i].colour), 0.0);
            fulcrum_canvas_fill_rects(canvas, &pen, rects, run);
        }
        run = 0;
    }
}

static void draw_star(struct fulcrum_canvas *canvas, const struct picture *picture)
{
    static const struct fulcrum_marker halo = {
        FULCRUM_MARKER_STAR, FULCRUM_MARKER_FULL, 13.5};
    static const struct fulcrum_marker star = {
        FULCRUM_MARKER_STAR, FULCRUM_MARKER_FULL, 9.0};
    const struct fulcrum_pen paper = fulcrum_palette_rule(FULCRUM_GROUND_PAPER, 1.0);
    const struct fulcrum_pen ink = {
        .rgb = FULCRUM_TONE_INK, .width_pt = 0.5, .kind = FULCRUM_BOX_DATA};
    if (has_star(picture)) {
        fulcrum_canvas_marker(canvas, &paper, &halo, best_spot(picture));
        fulcrum_canvas_marker(canvas, &ink, &star, best_spot(picture));
    }
}

static void count_cells(struct picture *picture)
{
    const struct fulcrum_heat_data *data = picture->data;
    picture->frame.span = fulcrum_limits_none();
    for (size_t i = 0; i < cell_count(data); i++) {
        if (is_known(data, i)) {
            fulcrum_limits_add(&picture->frame.span, data->value[i]);
        } else if (cannot_run(data, i)) {
            picture->cannot_run++;
        } else {
            picture->not_known++;
        }
    }
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *data)
{
    struct picture *picture = room;
    struct fulcrum_heat_frame *frame = &picture->frame;
    picture->data = data;
    frame->data = data;
    count_cells(picture);
    if (!(frame->span.lo <= frame->span.hi)) {
        fulcrum_page_draw_empty(canvas, page);
        return;
    }
    find_best(picture);
    write_finding(picture);
    frame->header = (struct fulcrum_header){
        frame->data->value_name, picture->finding[0] != '\0' ? picture->finding : NULL};
    if (measure(canvas, page, picture) == FULCRUM_OK &&
        gather_blocks(canvas, picture) == FULCRUM_OK) {
        const struct fulcrum_label_room free_room = {
            frame->panel, picture->tags.taken, picture->tags.taken_count};
        struct fulcrum_heat_ground ground = ground_of(picture);
        fulcrum_page_draw(canvas, page);
        draw_cells(canvas, picture);
        fulcrum_heat_lines_draw(canvas, &picture->lines, frame);
        fulcrum_heat_frame_draw(canvas, frame, &picture->lines);
        draw_star(canvas, picture);
        fulcrum_heat_tags_draw(canvas, &picture->tags, &ground);
        fulcrum_heat_lines_label(canvas, &picture->lines, frame, &free_room);
    }
    fulcrum_heat_lines_clear(&picture->lines);
    free(picture->blocks.items);
}

const struct fulcrum_chart fulcrum_chart_heat = {.name = "heat",
    .summary = "one metric over two fields, with contours and machines at their values",
    .room_byte = sizeof(struct picture),
    .check = check,
    .draw = draw};
