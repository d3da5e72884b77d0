/* contour.c - lines of equal value through a grid of values. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marching squares (Lorensen and Cline's marching cubes, SIGGRAPH 1987, in two
 * dimensions). An edge of the grid is crossed at most once, so that lines are chains of
 * edges: every square links the edges that a line enters and leaves it by. The two ways
 * past a saddle are told apart by the bilinear value there (asymptotic decider, Nielson
 * and Hamann, IEEE Visualization 1991).
 */

#include "plots/chart/contour.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "model/try.h"

static const size_t no_edge = SIZE_MAX;

/* Edges by index: first those along rows, then those along columns. */
struct tracing {
    const struct fulcrum_contour_grid *grid;
    double level;
    size_t edge_count;
    size_t row_edge_count;
    size_t (*links)[2]; /* the edges that a line goes on to; no_edge: none */
};

static double value_at(const struct tracing *tracing, size_t i, size_t j)
{
    return tracing->grid->value[j * tracing->grid->x_count + i];
}

/* Where the level lies between the two ends of an edge that it crosses. */
static struct fulcrum_spot crossing(const struct tracing *tracing, size_t edge)
{
    const struct fulcrum_contour_grid *grid = tracing->grid;
    int along_row = edge < tracing->row_edge_count;
    size_t index = along_row ? edge : edge - tracing->row_edge_count;
    size_t per_row = along_row ? grid->x_count - 1 : grid->x_count;
    size_t i = index % per_row;
    size_t j = index / per_row;
    size_t next_i = along_row ? i + 1 : i;
    size_t next_j = along_row ? j : j + 1;
    double from = value_at(tracing, i, j);
    double to = value_at(tracing, next_i, next_j);
    double share = (tracing->level - from) / (to - from);
    return (struct fulcrum_spot){grid->x[i] + share * (grid->x[next_i] - grid->x[i]),
        grid->y[j] + share * (grid->y[next_j] - grid->y[j])};
}

/* Whatever stands there is replaced: `old` in the one direction, and in the other. */
static void replace_link(struct tracing *tracing, size_t from, size_t old, size_t to)
{
    size_t *links = tracing->links[from];
    links[links[0] == old ? 0 : 1] = to;
}

/*
 * Two opposite corners are above the level, two below. Where the bilinear saddle is on
 * the side of the first corner, this and its opposite hang together, and lines cut the
 * other two off. The saddle's sign is that of the difference of both products where the
 * first corner is above.
 */
static bool joins_first(const double corners[4])
{
    double first = corners[0] * corners[2];
    double second = corners[1] * corners[3];
    return corners[0] >= 0.0 ? first >= second : first > second;
}

/* Links the edges around the square whose lower corner is (i, j). */
static void link_square(struct tracing *tracing, size_t i, size_t j)
{
    /* From the lower left, counter-clockwise; edge k lies between k and k + 1. */
    const double corners[4] = {value_at(tracing, i, j) - tracing->level,
        value_at(tracing, i + 1, j) - tracing->level,
        value_at(tracing, i + 1, j + 1) - tracing->level,
        value_at(tracing, i, j + 1) - tracing->level};
    size_t columns = tracing->grid->x_count;
    size_t low = j * (columns - 1) + i;
    size_t left = tracing->row_edge_count + j * columns + i;
    const size_t edges[4] = {low, left + 1, low + columns - 1, left};
    size_t crossed[4];
    size_t count = 0;
    for (size_t k = 0; k < 4; k++) {
        if (!isfinite(corners[k])) {
            return;
        }
        if ((corners[k] >= 0.0) != (corners[(k + 1) % 4] >= 0.0)) {
            crossed[count++] = edges[k];
        }
    }
    size_t first = count == 4 && !joins_first(corners) ? 1 : 0;
    for (size_t k = first; k < first + count; k += 2) {
        size_t from = crossed[k % count];
        size_t to = crossed[(k + 1) % count];
        replace_link(tracing, from, no_edge, to);
        replace_link(tracing, to, no_edge, from);
    }
}

static size_t link_count(const struct tracing *tracing, size_t edge)
{
    const size_t *links = tracing->links[edge];
    return (links[0] != no_edge ? 1U : 0U) + (links[1] != no_edge ? 1U : 0U);
}

/* Where values equal the level at a corner, edges that meet there share one spot. */
static void add_spot(
    struct fulcrum_spot *spots, size_t *count, struct fulcrum_spot spot)
{
    bool is_same =
        *count > 0 && spots[*count - 1].x == spot.x && spots[*count - 1].y == spot.y;
    if (!is_same) {
        spots[(*count)++] = spot;
    }
}

/* Takes the line that an edge is on; one that shrinks to a spot is none. */
static void follow(struct tracing *tracing, size_t edge, struct fulcrum_contour *out,
    size_t *spot_count)
{
    struct fulcrum_spot *spots = out->spots + *spot_count;
    struct fulcrum_contour_line line = {.spots = spots};
    add_spot(spots, &line.count, crossing(tracing, edge));
    while (link_count(tracing, edge) > 0) {
        const size_t *links = tracing->links[edge];
        size_t next = links[0] != no_edge ? links[0] : links[1];
        replace_link(tracing, edge, next, no_edge);
        replace_link(tracing, next, edge, no_edge);
        edge = next;
        add_spot(spots, &line.count, crossing(tracing, edge));
    }
    if (line.count > 1) {
        out->lines[out->line_count++] = line;
        *spot_count += line.count;
    }
}

static enum fulcrum_status trace(
    struct tracing *tracing, struct fulcrum_contour *out, struct fulcrum_error *err)
{
    for (size_t edge = 0; edge < tracing->edge_count; edge++) {
        tracing->links[edge][0] = no_edge;
        tracing->links[edge][1] = no_edge;
    }
    for (size_t j = 0; j + 1 < tracing->grid->y_count; j++) {
        for (size_t i = 0; i + 1 < tracing->grid->x_count; i++) {
            link_square(tracing, i, j);
        }
    }
    size_t count = 0;
    for (size_t edge = 0; edge < tracing->edge_count; edge++) {
        count += link_count(tracing, edge) > 0 ? 1U : 0U;
    }
    /* A closed line needs a spot more than it has edges, of which it has 4 or more. */
    struct fulcrum_contour contour = {.lines = calloc(count + 1, sizeof *contour.lines),
        .spots = calloc(2 * count + 1, sizeof *contour.spots)};
    if (contour.lines == NULL || contour.spots == NULL) {
        fulcrum_contour_clear(&contour);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for contours");
    }
    /* Lines that end are taken from an end, then those that are left go round. */
    size_t spot_count = 0;
    for (size_t links = 1; links <= 2; links++) {
        for (size_t edge = 0; edge < tracing->edge_count; edge++) {
            if (link_count(tracing, edge) == links) {
                follow(tracing, edge, &contour, &spot_count);
            }
        }
    }
    *out = contour;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_contour_trace(const struct fulcrum_contour_grid *grid,
    double level, struct fulcrum_contour *out, struct fulcrum_error *err)
{
    FAIL_IF(!isfinite(level), err, FULCRUM_ERR_RANGE,
        "contour at %g: a level must be finite", level);
    if (grid->x_count < 2 || grid->y_count < 2) {
        *out = (struct fulcrum_contour){.lines = NULL};
        return FULCRUM_OK;
    }
    struct tracing tracing = {.grid = grid, .level = level};
    tracing.row_edge_count = (grid->x_count - 1) * grid->y_count;
    tracing.edge_count = tracing.row_edge_count + grid->x_count * (grid->y_count - 1);
    tracing.links = calloc(tracing.edge_count, sizeof *tracing.links);
    TRY_MEMORY(tracing.links, err, "no memory for contours");
    enum fulcrum_status status = trace(&tracing, out, err);
    free(tracing.links);
    return status;
}

void fulcrum_contour_clear(struct fulcrum_contour *contour)
{
    free(contour->lines);
    free(contour->spots);
    *contour = (struct fulcrum_contour){.lines = NULL};
}

double fulcrum_contour_length(const struct fulcrum_contour_line *line)
{
    double length = 0.0;
    for (size_t i = 1; i < line->count; i++) {
        length += hypot(line->spots[i].x - line->spots[i - 1].x,
            line->spots[i].y - line->spots[i - 1].y);
    }
    return length;
}

/* Labels are tried this far from each other. */
static const double stride_pt = 4.0;
/* Clearance to lines of others. */
static const double clearance_pt = 1.0;
/* Farther from everything is no better. */
static const double far_pt = 60.0;
/* A line that a label would hide is better without. */
static const double least_lengths = 1.6;

/* The part of a line inside one pair of parallel borders; Liang and Barsky 1984. */
static int clip(double from, double step, double lo, double hi, double range[2])
{
    if (step == 0.0) {
        return from > lo && from < hi;
    }
    double first = (lo - from) / step;
    double second = (hi - from) / step;
    range[0] = fmax(range[0], fmin(first, second));
    range[1] = fmin(range[1], fmax(first, second));
    return range[0] < range[1];
}

int fulcrum_rect_crossed(
    struct fulcrum_rect rect, struct fulcrum_spot from, struct fulcrum_spot to)
{
    double range[2] = {0.0, 1.0};
    return clip(from.x, to.x - from.x, rect.x0, rect.x1, range) &&
           clip(from.y, to.y - from.y, rect.y0, rect.y1, range);
}

static bool contour_crosses(
    const struct fulcrum_contour *contour, struct fulcrum_rect rect)
{
    for (size_t k = 0; k < contour->line_count; k++) {
        const struct fulcrum_contour_line *line = &contour->lines[k];
        for (size_t i = 1; i < line->count; i++) {
            if (fulcrum_rect_crossed(rect, line->spots[i - 1], line->spots[i])) {
                return true;
            }
        }
    }
    return false;
}

static bool others_cross(
    const struct fulcrum_line_crowd *crowd, size_t own, struct fulcrum_rect rect)
{
    struct fulcrum_rect wide = {rect.x0 - clearance_pt, rect.y0 - clearance_pt,
        rect.x1 + clearance_pt, rect.y1 + clearance_pt};
    bool is_free = true;
    for (size_t i = 0; i < crowd->count && is_free; i++) {
        is_free = i == own || !contour_crosses(&crowd->contours[i], wide);
    }
    return !is_free;
}

/* Between two rectangles; 0 or less where they meet. */
static double gap(struct fulcrum_rect a, struct fulcrum_rect b)
{
    return fmax(fmax(a.x0 - b.x1, b.x0 - a.x1), fmax(a.y0 - b.y1, b.y0 - a.y1));
}

int fulcrum_line_label_find(const struct fulcrum_line_crowd *crowd, size_t own,
    const struct fulcrum_label_room *room, struct fulcrum_extent extent,
    struct fulcrum_rect *out)
{
    const struct fulcrum_contour_line *line = NULL;
    double most = 0.0;
    for (size_t k = 0; k < crowd->contours[own].line_count; k++) {
        double length = fulcrum_contour_length(&crowd->contours[own].lines[k]);
        if (length > most) {
            most = length;
            line = &crowd->contours[own].lines[k];
        }
    }
    double best_pt = 0.0;
    double start_pt = 0.0; /* of a piece, along the line */
    size_t tried = 0;
    if (line == NULL || most < least_lengths * extent.width_pt) {
        return 0;
    }
    for (size_t i = 1; i < line->count; i++) {
        struct fulcrum_spot from = line->spots[i - 1];
        struct fulcrum_spot to = line->spots[i];
        double length_pt = hypot(to.x - from.x, to.y - from.y);
        while (((double)tried + 0.5) * stride_pt <= start_pt + length_pt) {
            double share = (((double)tried + 0.5) * stride_pt - start_pt) / length_pt;
            const struct fulcrum_spot centre = {
                from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)};
            struct fulcrum_rect rect = fulcrum_rect_around(centre, extent);
            /* Between a place and whatever is nearest; below 0 where it overlaps
             * something. */
            double clear_pt = far_pt;
            clear_pt = fmin(clear_pt, rect.x0 - room->bounds.x0);
            clear_pt = fmin(clear_pt, rect.y0 - room->bounds.y0);
            clear_pt = fmin(clear_pt, room->bounds.x1 - rect.x1);
            clear_pt = fmin(clear_pt, room->bounds.y1 - rect.y1);
            for (size_t k = 0; k < room->taken_count; k++) {
                clear_pt = fmin(clear_pt, gap(rect, room->taken[k]));
            }
            /* Rounding is no reason to prefer a place. */
            if (clear_pt > best_pt + 0.01 && !others_cross(crowd, own, rect)) {
                *out = rect;
                best_pt = clear_pt;
            }
            tried++;
        }
        start_pt += length_pt;
    }
    return best_pt > 0.0;
}
