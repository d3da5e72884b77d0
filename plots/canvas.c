/* canvas.c - keeps what was drawn on a page, and which boxes it covers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/palette.h"
#include "plots/render.h"

/*
 * A slanted line fills little of its bounding box; pieces this short make the recorded
 * boxes follow it.
 */
static const double piece_pt = 5.0;
static const double pi = 3.14159265358979323846;

/* A growing array of one kind of item. */
struct pool {
    void *items;
    size_t item_size;
    size_t count;
    size_t capacity;
};

struct fulcrum_canvas {
    struct fulcrum_extent extent;
    struct fulcrum_typesetter *typesetter;
    struct pool marks; /* struct fulcrum_mark */
    struct pool spots; /* struct fulcrum_spot */
    struct pool boxes; /* struct fulcrum_box */
    int keeps_captions;
    char *captions[FULCRUM_CAPTION_COUNT]; /* owned; NULL: none */
    enum fulcrum_status status;
};

/* Room for `count` more items, zeroed; NULL where memory is short. */
static void *pool_add(struct pool *pool, size_t count)
{
    size_t needed = pool->count + count;
    if (needed > pool->capacity) {
        size_t capacity = needed + pool->capacity + 64;
        void *items = calloc(capacity, pool->item_size);
        if (items == NULL) {
            return NULL;
        }
        if (pool->count > 0) {
            memcpy(items, pool->items, pool->count * pool->item_size);
        }
        free(pool->items);
        pool->items = items;
        pool->capacity = capacity;
    }
    unsigned char *base = pool->items;
    void *added = base + pool->count * pool->item_size;
    pool->count = needed;
    return added;
}

enum fulcrum_status fulcrum_canvas_new(struct fulcrum_canvas **out, double width_pt,
    double height_pt, struct fulcrum_error *err)
{
    const double least_pt = 240.0;
    const double most_pt = 4000.0;
    /* Written so that NaN fails. */
    if (!(width_pt >= least_pt && height_pt >= least_pt && width_pt <= most_pt &&
            height_pt <= most_pt)) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "page of %.4g x %.4g points: each side must be in [%g, %g]", width_pt,
            height_pt, least_pt, most_pt);
    }
    struct fulcrum_canvas *canvas = calloc(1, sizeof *canvas);
    struct fulcrum_typesetter *typesetter = fulcrum_typesetter_new();
    if (canvas == NULL || typesetter == NULL) {
        free(canvas);
        fulcrum_typesetter_free(typesetter);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a page");
    }
    canvas->extent = (struct fulcrum_extent){width_pt, height_pt};
    canvas->typesetter = typesetter;
    canvas->marks.item_size = sizeof(struct fulcrum_mark);
    canvas->spots.item_size = sizeof(struct fulcrum_spot);
    canvas->boxes.item_size = sizeof(struct fulcrum_box);
    *out = canvas;
    return FULCRUM_OK;
}

void fulcrum_canvas_free(struct fulcrum_canvas *canvas)
{
    if (canvas == NULL) {
        return;
    }
    const struct fulcrum_mark *marks = canvas->marks.items;
    for (size_t i = 0; i < canvas->marks.count; i++) {
        free(marks[i].text);
    }
    free(canvas->marks.items);
    free(canvas->spots.items);
    free(canvas->boxes.items);
    for (size_t i = 0; i < FULCRUM_CAPTION_COUNT; i++) {
        free(canvas->captions[i]);
    }
    fulcrum_typesetter_free(canvas->typesetter);
    free(canvas);
}

struct fulcrum_extent fulcrum_canvas_extent(const struct fulcrum_canvas *canvas)
{
    return canvas->extent;
}

const struct fulcrum_typesetter *fulcrum_canvas_typesetter(
    const struct fulcrum_canvas *canvas)
{
    return canvas->typesetter;
}

void fulcrum_canvas_keep_captions(struct fulcrum_canvas *canvas)
{
    canvas->keeps_captions = 1;
}

int fulcrum_canvas_keeps_captions(const struct fulcrum_canvas *canvas)
{
    return canvas->keeps_captions;
}

/* A copy; NULL where memory is short. */
static char *copy_of(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = calloc(size, 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

void fulcrum_canvas_set_caption(
    struct fulcrum_canvas *canvas, enum fulcrum_caption caption, const char *text)
{
    free(canvas->captions[caption]);
    canvas->captions[caption] = NULL;
    if (text == NULL || text[0] == '\0') {
        return;
    }
    canvas->captions[caption] = copy_of(text);
    if (canvas->captions[caption] == NULL) {
        canvas->status = FULCRUM_ERR_NO_MEMORY;
    }
}

const char *fulcrum_canvas_caption(
    const struct fulcrum_canvas *canvas, enum fulcrum_caption caption)
{
    return canvas->captions[caption];
}

struct fulcrum_drawing fulcrum_canvas_drawing(const struct fulcrum_canvas *canvas)
{
    return (struct fulcrum_drawing){.extent = canvas->extent,
        .marks = canvas->marks.items,
        .mark_count = canvas->marks.count,
        .spots = canvas->spots.items};
}

const struct fulcrum_box *fulcrum_canvas_boxes(
    const struct fulcrum_canvas *canvas, size_t *count)
{
    *count = canvas->boxes.count;
    return canvas->boxes.items;
}

enum fulcrum_status fulcrum_canvas_status(
    const struct fulcrum_canvas *canvas, struct fulcrum_error *err)
{
    if (canvas->status == FULCRUM_OK) {
        return FULCRUM_OK;
    }
    return fulcrum_fail(err, canvas->status, "no memory for a chart");
}

void fulcrum_canvas_out_of_memory(struct fulcrum_canvas *canvas)
{
    canvas->status = FULCRUM_ERR_NO_MEMORY;
}

int fulcrum_rect_overlap(struct fulcrum_rect a, struct fulcrum_rect b)
{
    return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

/* Boxes are for layout and tests; a canvas that failed records nothing more. */
static void record(struct fulcrum_canvas *canvas, struct fulcrum_box box)
{
    if (box.kind == FULCRUM_BOX_NONE || canvas->status != FULCRUM_OK) {
        return;
    }
    struct fulcrum_box *added = pool_add(&canvas->boxes, 1);
    if (added == NULL) {
        canvas->status = FULCRUM_ERR_NO_MEMORY;
        return;
    }
    *added = box;
}

void fulcrum_canvas_record(
    struct fulcrum_canvas *canvas, enum fulcrum_box_kind kind, struct fulcrum_rect rect)
{
    record(canvas, (struct fulcrum_box){kind, rect, NULL});
}

/* The new mark, its spots copied in; NULL after a failure. */
static struct fulcrum_mark *add_mark(struct fulcrum_canvas *canvas,
    enum fulcrum_mark_kind kind, const struct fulcrum_spot *spots, size_t count)
{
    if (canvas->status != FULCRUM_OK) {
        return NULL;
    }
    size_t first = canvas->spots.count;
    struct fulcrum_spot *kept = pool_add(&canvas->spots, count);
    struct fulcrum_mark *mark = pool_add(&canvas->marks, 1);
    if (kept == NULL || mark == NULL) {
        canvas->status = FULCRUM_ERR_NO_MEMORY;
        return NULL;
    }
    memcpy(kept, spots, count * sizeof *spots);
    mark->kind = kind;
    mark->first = first;
    mark->count = count;
    return mark;
}

/* Zero members of a pen mean the usual value, so that initialisers stay short. */
static struct fulcrum_pen pen_with_defaults(const struct fulcrum_pen *pen)
{
    struct fulcrum_pen full = *pen;
    full.opacity = pen->opacity > 0.0 ? pen->opacity : 1.0;
    full.width_pt = pen->width_pt > 0.0 ? pen->width_pt : 1.0;
    return full;
}

/* The box of two spots in any order. */
static struct fulcrum_rect rect_around(
    struct fulcrum_spot a, struct fulcrum_spot b, double margin)
{
    return (struct fulcrum_rect){fmin(a.x, b.x) - margin, fmin(a.y, b.y) - margin,
        fmax(a.x, b.x) + margin, fmax(a.y, b.y) + margin};
}

/* One box per short piece, half the line's width around it. */
static void record_line(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_spot a, struct fulcrum_spot b)
{
    double longest = fmax(fabs(b.x - a.x), fabs(b.y - a.y));
    size_t pieces = (size_t)fmax(1.0, ceil(longest / piece_pt));
    struct fulcrum_spot from = a;
    for (size_t i = 1; i <= pieces; i++) {
        double share = (double)i / (double)pieces;
        struct fulcrum_spot to = {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
        struct fulcrum_rect rect = rect_around(from, to, pen->width_pt / 2.0);
        fulcrum_canvas_record(canvas, pen->kind, rect);
        from = to;
    }
}

void fulcrum_canvas_stroke(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_spot *spots, size_t count)
{
    if (count < 2) {
        return;
    }
    struct fulcrum_mark *mark = add_mark(canvas, FULCRUM_MARK_STROKE, spots, count);
    if (mark == NULL) {
        return;
    }
    mark->pen = pen_with_defaults(pen);
    for (size_t i = 1; i < count && pen->kind != FULCRUM_BOX_NONE; i++) {
        record_line(canvas, &mark->pen, spots[i - 1], spots[i]);
    }
}

void fulcrum_canvas_line(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_spot from, struct fulcrum_spot to)
{
    const struct fulcrum_spot spots[] = {from, to};
    fulcrum_canvas_stroke(canvas, pen, spots, 2);
}

void fulcrum_canvas_fill(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_spot *spots, size_t count)
{
    if (count < 3) {
        return;
    }
    struct fulcrum_mark *mark = add_mark(canvas, FULCRUM_MARK_FILL, spots, count);
    if (mark != NULL) {
        mark->pen = pen_with_defaults(pen);
    }
}

void fulcrum_canvas_fill_rect(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *pen, struct fulcrum_rect rect)
{
    const struct fulcrum_spot spots[] = {
        {rect.x0, rect.y0}, {rect.x1, rect.y0}, {rect.x1, rect.y1}, {rect.x0, rect.y1}};
    fulcrum_canvas_fill(canvas, pen, spots, 4);
}

void fulcrum_canvas_fill_rects(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *pen, const struct fulcrum_rect *rects, size_t count)
{
    struct fulcrum_spot *spots = calloc(2 * count + 1, sizeof *spots);
    if (spots == NULL) {
        fulcrum_canvas_out_of_memory(canvas);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        spots[2 * i] = (struct fulcrum_spot){rects[i].x0, rects[i].y0};
        spots[2 * i + 1] = (struct fulcrum_spot){rects[i].x1, rects[i].y1};
    }
    struct fulcrum_mark *mark =
        count > 0 ? add_mark(canvas, FULCRUM_MARK_RECTS, spots, 2 * count) : NULL;
    if (mark != NULL) {
        mark->pen = pen_with_defaults(pen);
    }
    free(spots);
}

void fulcrum_canvas_hatch(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_rect rect)
{
    const double gap_pt = 5.0;
    /* Along a line x + y is the same; what it is at the first and last one inside. */
    double first = ceil((rect.x0 + rect.y0) / gap_pt);
    double last = floor((rect.x1 + rect.y1) / gap_pt);
    size_t count = last >= first ? (size_t)(last - first) + 1 : 0;
    for (size_t i = 0; i < count; i++) {
        double sum = (first + (double)i) * gap_pt;
        double left = fmax(rect.x0, sum - rect.y1);
        double right = fmin(rect.x1, sum - rect.y0);
        const struct fulcrum_spot line[] = {{left, sum - left}, {right, sum - right}};
        fulcrum_canvas_stroke(canvas, pen, line, 2);
    }
}

/* Corners on a circle, each `inner` as far out as the one before it in turn. */
struct outline {
    size_t corners;
    double start_turn; /* of the first corner, in turns from the right, downwards */
    double radius;     /* relative to half the marker's size */
    double inner;
};

enum { OUTLINE_CORNERS_MAX = 16 };

/* Writes corners + 1 spots. */
static void outline_spots(const struct outline *outline, struct fulcrum_spot centre,
    double half_pt, struct fulcrum_spot *spots)
{
    /* One more than corners closes the outline. */
    for (size_t i = 0; i <= outline->corners; i++) {
        double turn = outline->start_turn + (double)i / (double)outline->corners;
        double reach = half_pt * outline->radius * (i % 2 == 1 ? outline->inner : 1.0);
        spots[i].x = centre.x + reach * cos(2.0 * pi * turn);
        spots[i].y = centre.y + reach * sin(2.0 * pi * turn);
    }
}

void fulcrum_canvas_marker(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_marker *marker, struct fulcrum_spot spot)
{
    static const struct outline outlines[] = {
        [FULCRUM_MARKER_CIRCLE] = {16, 0.0, 1.0, 1.0},
        [FULCRUM_MARKER_SQUARE] = {4, 0.125, 1.25, 1.0},
        [FULCRUM_MARKER_TRIANGLE] = {3, 0.75, 1.3, 1.0},
        [FULCRUM_MARKER_DIAMOND] = {4, 0.0, 1.3, 1.0},
        [FULCRUM_MARKER_WEDGE] = {3, 0.25, 1.3, 1.0},
        [FULCRUM_MARKER_STAR] = {10, 0.75, 1.4, 0.45},
    };
    const struct outline *outline = &outlines[marker->shape];
    struct fulcrum_spot spots[OUTLINE_CORNERS_MAX + 1];
    double half_pt = marker->size_pt / 2.0;
    int hollow = marker->fill == FULCRUM_MARKER_HOLLOW;
    struct fulcrum_pen inside = *pen;
    /* A border of the inside's own colour is no more than some extra size. */
    double border_pt = hollow ? 0.0 : pen->width_pt / 2.0;
    inside.rgb = hollow ? FULCRUM_GROUND_PAPER : pen->rgb;
    outline_spots(outline, spot, half_pt + border_pt, spots);
    fulcrum_canvas_fill(canvas, &inside, spots, outline->corners);
    if (hollow) {
        struct fulcrum_pen border = *pen;
        border.kind = FULCRUM_BOX_NONE;
        fulcrum_canvas_stroke(canvas, &border, spots, outline->corners + 1);
    }
    fulcrum_canvas_record(canvas, pen->kind, rect_around(spot, spot, half_pt));
}

struct fulcrum_extent fulcrum_canvas_measure(const struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, const char *text)
{
    if (text == NULL || text[0] == '\0') {
        return (struct fulcrum_extent){0.0, 0.0};
    }
    return fulcrum_typesetter_extent(canvas->typesetter, style, text);
}

struct fulcrum_rect fulcrum_canvas_text_rect(const struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, struct fulcrum_spot spot, const char *text)
{
    struct fulcrum_extent extent = fulcrum_canvas_measure(canvas, style, text);
    double turn_rad = -style->rotation_deg * pi / 180.0;
    double left = -style->anchor_x * extent.width_pt;
    double top = -style->anchor_y * extent.height_pt;
    struct fulcrum_rect rect = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int corner = 0; corner < 4; corner++) {
        double x = left + (corner % 2 == 1 ? extent.width_pt : 0.0);
        double y = top + (corner / 2 == 1 ? extent.height_pt : 0.0);
        double turned_x = spot.x + x * cos(turn_rad) - y * sin(turn_rad);
        double turned_y = spot.y + x * sin(turn_rad) + y * cos(turn_rad);
        rect.x0 = fmin(rect.x0, turned_x);
        rect.y0 = fmin(rect.y0, turned_y);
        rect.x1 = fmax(rect.x1, turned_x);
        rect.y1 = fmax(rect.y1, turned_y);
    }
    return rect;
}

void fulcrum_canvas_text(struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, struct fulcrum_spot spot, const char *text)
{
    if (text == NULL || text[0] == '\0') {
        return;
    }
    struct fulcrum_mark *mark = add_mark(canvas, FULCRUM_MARK_TEXT, &spot, 1);
    if (mark == NULL) {
        return;
    }
    mark->text = copy_of(text);
    if (mark->text == NULL) {
        canvas->marks.count--;
        canvas->status = FULCRUM_ERR_NO_MEMORY;
        return;
    }
    mark->style = *style;
    struct fulcrum_rect rect = fulcrum_canvas_text_rect(canvas, style, spot, text);
    record(canvas, (struct fulcrum_box){FULCRUM_BOX_TEXT, rect, mark->text});
}
