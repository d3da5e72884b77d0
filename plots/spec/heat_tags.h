/* heat_tags.h - machines at their place on a heat map, and their names. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_SPEC_HEAT_TAGS_H
#define FULCRUM_PLOTS_SPEC_HEAT_TAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/status.h"
#include "plots/chart/axis.h"
#include "plots/chart/label.h"
#include "plots/spec/charts.h"

/* Cells of one colour, gathered into few rectangles. */

/* Columns from i0 and rows from j0, both up to but without their end. */
struct fulcrum_heat_block {
    size_t i0;
    size_t i1;
    size_t j0;
    size_t j1;
    int colour;
};

/* Owned by whoever gathered them. */
struct fulcrum_heat_blocks {
    struct fulcrum_heat_block *items;
    size_t count;
};

/*
 * Covers every cell of y_count x x_count colours (row-major) once, by rectangles of one
 * colour: runs along a row, joined with those that are alike in the row before. Sorted
 * by colour, then by row and column.
 *   out      set on success only; the caller frees items with free()
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_heat_blocks_gather(const int *colours,
    size_t x_count, size_t y_count, struct fulcrum_heat_blocks *out,
    struct fulcrum_error *err);

enum {
    FULCRUM_HEAT_NAME_SIZE = 300,
    FULCRUM_HEAT_TAKEN_MAX = 2 * FULCRUM_HEAT_MACHINES_MAX + 1
};

/* Machines at one place share a tag. */
struct fulcrum_heat_tag {
    char name[FULCRUM_HEAT_NAME_SIZE];
    double x; /* values of the fields */
    double y;
    struct fulcrum_spot spot; /* on the page; set by fulcrum_heat_tags_place, as are */
    struct fulcrum_label_place place;
    bool is_beyond; /* the ends of an axis */
    bool is_placed; /* its name has a place */
};

struct fulcrum_heat_tags {
    struct fulcrum_heat_tag items[FULCRUM_HEAT_MACHINES_MAX];
    size_t count;
    struct fulcrum_rect taken[FULCRUM_HEAT_TAKEN_MAX]; /* markers, and placed names */
    size_t taken_count;
};

/* What they stand on. Borrowed. */
struct fulcrum_heat_ground {
    const struct fulcrum_axis *x;
    const struct fulcrum_axis *y;
    struct fulcrum_rect frame;
    struct fulcrum_spot star; /* kept free; x NAN: there is none */
};

/*
 *   tags     empty
 *   count    at most FULCRUM_HEAT_MACHINES_MAX
 */
void fulcrum_heat_tags_gather(struct fulcrum_heat_tags *tags,
    const struct fulcrum_heat_machine *machines, size_t count);

/* Markers where they belong, names around them where nothing is in their way. */
void fulcrum_heat_tags_place(const struct fulcrum_canvas *canvas,
    struct fulcrum_heat_tags *tags, const struct fulcrum_heat_ground *ground);

/* How many are within both axes. */
size_t fulcrum_heat_tags_inside(const struct fulcrum_heat_tags *tags);

/* Adds a paragraph for those beyond the chart, and one for those without a name. */
void fulcrum_heat_tags_note(
    const struct fulcrum_heat_tags *tags, char *note, size_t size);

void fulcrum_heat_tags_draw(struct fulcrum_canvas *canvas,
    const struct fulcrum_heat_tags *tags, const struct fulcrum_heat_ground *ground);

#endif
