/* heat_tags.c - machines at their place on a heat map, and their names. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/heat_tags.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/status.h"
#include "plots/chart/axis.h"
#include "plots/chart/canvas.h"
#include "plots/chart/label.h"
#include "plots/spec/charts.h"

/* Cells of one colour, gathered into few rectangles. */

/* `last`: by column, the block that began there last; the count of blocks: none. */
static void gather_row(struct fulcrum_heat_blocks *blocks, const int *row, size_t j,
    size_t *last, size_t x_count)
{
    size_t end = 0;
    for (size_t i = 0; i < x_count; i = end) {
        end = i + 1;
        while (end < x_count && row[end] == row[i]) {
            end++;
        }
        /* A run joins the block above it that begins and ends where it does. */
        struct fulcrum_heat_block *above =
            last[i] < blocks->count ? &blocks->items[last[i]] : NULL;
        if (above != NULL && above->i1 == end && above->j1 == j &&
            above->colour == row[i]) {
            above->j1 = j + 1;
        } else {
            last[i] = blocks->count;
            blocks->items[blocks->count++] =
                (struct fulcrum_heat_block){i, end, j, j + 1, row[i]};
        }
    }
}

/* For qsort; no two blocks begin in the same cell. */
static int compare(const void *a, const void *b)
{
    const struct fulcrum_heat_block *left = a;
    const struct fulcrum_heat_block *right = b;
    if (left->colour != right->colour) {
        return left->colour < right->colour ? -1 : 1;
    }
    if (left->j0 != right->j0) {
        return left->j0 < right->j0 ? -1 : 1;
    }
    return (left->i0 > right->i0) - (left->i0 < right->i0);
}

enum fulcrum_status fulcrum_heat_blocks_gather(const int *colours, size_t x_count,
    size_t y_count, struct fulcrum_heat_blocks *out, struct fulcrum_error *err)
{
    struct fulcrum_heat_blocks blocks = {
        .items = calloc(x_count * y_count + 1, sizeof *blocks.items)};
    size_t *last = calloc(x_count + 1, sizeof *last);
    if (blocks.items == NULL || last == NULL) {
        free(blocks.items);
        free(last);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a heat map");
    }
    for (size_t i = 0; i < x_count; i++) {
        last[i] = x_count * y_count;
    }
    for (size_t j = 0; j < y_count; j++) {
        gather_row(&blocks, colours + j * x_count, j, last, x_count);
    }
    free(last);
    qsort(blocks.items, blocks.count, sizeof *blocks.items, compare);
    *out = blocks;
    return FULCRUM_OK;
}

static const double plate_margin_pt = 1.5;
static const double star_half_pt = 7.5;
static const double marker_half_pt = 4.5;

/* Beyond its ends an axis clamps, and a mark there would stand at a wrong value. */
static int within(const struct fulcrum_axis *axis, double value)
{
    return value >= axis->lo && value <= axis->hi;
}

static int at_one_place(
    const struct fulcrum_heat_tag *tag, const struct fulcrum_heat_machine *machine)
{
    return fabs(tag->x - machine->x) <= 1e-9 * fabs(tag->x) &&
           fabs(tag->y - machine->y) <= 1e-9 * fabs(tag->y);
}

void fulcrum_heat_tags_gather(struct fulcrum_heat_tags *tags,
    const struct fulcrum_heat_machine *machines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < tags->count && !at_one_place(&tags->items[k], &machines[i])) {
            k++;
        }
        struct fulcrum_heat_tag *tag = &tags->items[k];
        size_t used = strlen(tag->name);
        (void)snprintf(tag->name + used, sizeof tag->name - used, "%s%s",
            used > 0 ? ", " : "", machines[i].name);
        tag->x = machines[i].x;
        tag->y = machines[i].y;
        tags->count = k == tags->count ? k + 1 : tags->count;
    }
}

static void take(struct fulcrum_heat_tags *tags, struct fulcrum_rect rect)
{
    tags->taken[tags->taken_count++] = rect;
}

static struct fulcrum_rect around(struct fulcrum_spot spot, double half_pt)
{
    return (struct fulcrum_rect){
        spot.x - half_pt, spot.y - half_pt, spot.x + half_pt, spot.y + half_pt};
}

/* Markers of all machines keep their place, whatever the names need. */
static void place_markers(
    struct fulcrum_heat_tags *tags, const struct fulcrum_heat_ground *ground)
{
    tags->taken_count = 0;
    if (isfinite(ground->star.x)) {
        take(tags, around(ground->star, star_half_pt));
    }
    for (size_t k = 0; k < tags->count; k++) {
        struct fulcrum_heat_tag *tag = &tags->items[k];
        tag->is_beyond = !within(ground->x, tag->x) || !within(ground->y, tag->y);
        if (!tag->is_beyond) {
            tag->spot = (struct fulcrum_spot){
                fulcrum_axis_at(ground->x, tag->x), fulcrum_axis_at(ground->y, tag->y)};
            take(tags, around(tag->spot, marker_half_pt));
        }
    }
}

/* Names at one place may be many; they wrap before they cross the chart. */
static struct fulcrum_text name_style(const struct fulcrum_heat_ground *ground)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FLAG);
    style.rgb = FULCRUM_TONE_INK;
    style.width_max_pt = 0.6 * (ground->frame.x1 - ground->frame.x0);
    style.lines_max = 3;
    return style;
}

void fulcrum_heat_tags_place(const struct fulcrum_canvas *canvas,
    struct fulcrum_heat_tags *tags, const struct fulcrum_heat_ground *ground)
{
    struct fulcrum_text style = name_style(ground);
    place_markers(tags, ground);
    for (size_t k = 0; k < tags->count; k++) {
        struct fulcrum_heat_tag *tag = &tags->items[k];
        struct fulcrum_extent extent =
            fulcrum_canvas_measure(canvas, &style, tag->name);
        extent.width_pt += 2.0 * plate_margin_pt;
        const struct fulcrum_label_room room = {
            ground->frame, tags->taken, tags->taken_count};
        tag->is_placed = !tag->is_beyond &&
                         fulcrum_label_find(&room, tag->spot, extent, &tag->place);
        if (tag->is_placed) {
            take(tags, tag->place.rect);
        }
    }
}

size_t fulcrum_heat_tags_inside(const struct fulcrum_heat_tags *tags)
{
    size_t inside = 0;
    for (size_t k = 0; k < tags->count; k++) {
        inside += tags->items[k].is_beyond ? 0U : 1U;
    }
    return inside;
}

/* Names a tag at its values: first in a paragraph of its own, then after a "; ". */
static void append(char *note, size_t size, const char *intro, int *count,
    const struct fulcrum_heat_tag *tag)
{
    char x[48];
    char y[48];
    size_t used = strlen(note);
    const char *paragraph = used > 0 ? "\n" : "";
    fulcrum_plain_text(x, sizeof x, tag->x);
    fulcrum_plain_text(y, sizeof y, tag->y);
    (void)snprintf(note + used, size - used, "%s%s%s at (%s, %s)",
        *count == 0 ? paragraph : "; ", *count == 0 ? intro : "", tag->name, x, y);
    (*count)++;
}

void fulcrum_heat_tags_note(
    const struct fulcrum_heat_tags *tags, char *note, size_t size)
{
    int beyond = 0;
    int nameless = 0;
    for (size_t k = 0; k < tags->count; k++) {
        if (tags->items[k].is_beyond) {
            append(note, size, "Beyond this chart: ", &beyond, &tags->items[k]);
        }
    }
    for (size_t k = 0; k < tags->count; k++) {
        if (!tags->items[k].is_beyond && !tags->items[k].is_placed) {
            append(note, size, "Without a name: ", &nameless, &tags->items[k]);
        }
    }
}

static void draw_name(struct fulcrum_canvas *canvas, const struct fulcrum_heat_tag *tag,
    const struct fulcrum_text *style)
{
    const struct fulcrum_pen plate = {
        .rgb = FULCRUM_GROUND_PAPER, .opacity = 0.85, .kind = FULCRUM_BOX_NONE};
    struct fulcrum_rect rect = tag->place.rect;
    if (tag->place.is_far) {
        fulcrum_label_lead(canvas, tag->spot, rect);
    }
    fulcrum_canvas_fill_rect(canvas, &plate, rect);
    fulcrum_canvas_text(canvas, style,
        (struct fulcrum_spot){(rect.x0 + rect.x1) / 2.0, (rect.y0 + rect.y1) / 2.0},
        tag->name);
}

/* Markers last: no line that leads to a name hides one. */
void fulcrum_heat_tags_draw(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_tags *tags, const struct fulcrum_heat_ground *ground)
{
    static const struct fulcrum_marker marker = {
        FULCRUM_MARKER_CIRCLE, FULCRUM_MARKER_HOLLOW, 6.0};
    const struct fulcrum_pen ink = {
        .rgb = FULCRUM_TONE_INK, .width_pt = 1.4, .kind = FULCRUM_BOX_DATA};
    struct fulcrum_text style = name_style(ground);
    style.anchor_x = 0.5;
    style.anchor_y = 0.5;
    for (size_t k = 0; k < tags->count; k++) {
        if (tags->items[k].is_placed) {
            draw_name(canvas, &tags->items[k], &style);
        }
    }
    for (size_t k = 0; k < tags->count; k++) {
        if (!tags->items[k].is_beyond) {
            fulcrum_canvas_marker(canvas, &ink, &marker, tags->items[k].spot);
        }
    }
}
