/* test_contour.c - lines of equal value: circles, planes, saddles, holes, borders. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/contour.h"

#include <math.h>
#include <stdlib.h>

#include "tests/support/suite.h"

enum { SIDE_MOST = 201 };

/* A square grid from -1 to 1, filled from a function. */
struct square {
    double at[SIDE_MOST];
    double value[SIDE_MOST * SIDE_MOST];
    struct fulcrum_contour_grid grid;
};

static struct square *new_square(size_t side, double (*function)(double x, double y))
{
    struct square *square = calloc(1, sizeof *square);
    if (square == NULL) {
        abort(); /* nothing can be tested, and there is nothing to clean up */
    }
    for (size_t i = 0; i < side; i++) {
        square->at[i] = -1.0 + 2.0 * (double)i / (double)(side - 1);
    }
    for (size_t i = 0; i < side * side; i++) {
        square->value[i] = function(square->at[i % side], square->at[i / side]);
    }
    square->grid = (struct fulcrum_contour_grid){
        square->at, square->at, side, side, square->value};
    return square;
}

static bool is_closed(const struct fulcrum_contour_line *line)
{
    const struct fulcrum_spot *end = &line->spots[line->count - 1];
    return line->spots[0].x == end->x && line->spots[0].y == end->y;
}

static double radius(double x, double y)
{
    return hypot(x, y);
}

static double plane(double x, double y)
{
    return 2.0 * x + 3.0 * y;
}

static double saddle(double x, double y)
{
    return x * y;
}

static double hill(double x, double y)
{
    return exp(-6.0 * ((x - 0.4) * (x - 0.4) + y * y)) +
           exp(-6.0 * ((x + 0.4) * (x + 0.4) + y * y));
}

/* A pattern without any order, the same every time. */
static double noise(double x, double y)
{
    double wild = sin(12.9898 * x + 78.233 * y) * 43758.5453;
    return wild - floor(wild);
}

static struct fulcrum_contour traced(
    const struct fulcrum_contour_grid *grid, double level)
{
    struct fulcrum_contour contour = {.lines = NULL};
    ASSERT_OK(fulcrum_contour_trace(grid, level, &contour, NULL));
    return contour;
}

static struct fulcrum_contour contour_of(
    size_t side, double (*function)(double x, double y), double level)
{
    struct square *square = new_square(side, function);
    struct fulcrum_contour contour = traced(&square->grid, level);
    free(square);
    return contour;
}

/* Chords of a circle lose a share of its length that falls with the step squared. */
TEST(test_circle_has_its_length_and_radius)
{
    struct fulcrum_contour contour = contour_of(201, radius, 0.7);
    CU_ASSERT_EQUAL_FATAL(contour.line_count, 1);
    const struct fulcrum_contour_line *line = &contour.lines[0];
    CU_ASSERT(is_closed(line));
    assert_close("length", fulcrum_contour_length(line), 2.0 * acos(-1.0) * 0.7, 1e-4);
    for (size_t i = 0; i < line->count; i++) {
        assert_close("radius", hypot(line->spots[i].x, line->spots[i].y), 0.7, 1e-4);
    }
    fulcrum_contour_clear(&contour);
}

/* Beyond the corners' reach the circle is cut by the border into four arcs. */
TEST(test_circle_across_the_border_is_open)
{
    struct fulcrum_contour contour = contour_of(101, radius, 1.2);
    CU_ASSERT_EQUAL(contour.line_count, 4);
    double length = 0.0;
    for (size_t k = 0; k < contour.line_count; k++) {
        const struct fulcrum_contour_line *line = &contour.lines[k];
        const struct fulcrum_spot *ends[] = {
            &line->spots[0], &line->spots[line->count - 1]};
        CU_ASSERT(!is_closed(line));
        for (size_t e = 0; e < 2; e++) {
            assert_close("an end on the border",
                fmax(fabs(ends[e]->x), fabs(ends[e]->y)), 1.0, 1e-12);
        }
        length += fulcrum_contour_length(line);
    }
    double angle = acos(-1.0) / 2.0 - 2.0 * acos(1.0 / 1.2);
    assert_close("four arcs", length, 4.0 * 1.2 * angle, 1e-3);
    fulcrum_contour_clear(&contour);
}

TEST(test_plane_gives_straight_lines)
{
    struct fulcrum_contour contour = contour_of(17, plane, 0.37);
    CU_ASSERT_EQUAL_FATAL(contour.line_count, 1);
    const struct fulcrum_contour_line *line = &contour.lines[0];
    CU_ASSERT(!is_closed(line));
    for (size_t i = 0; i < line->count; i++) {
        assert_close("value", plane(line->spots[i].x, line->spots[i].y), 0.37, 1e-12);
    }
    const struct fulcrum_spot *end = &line->spots[line->count - 1];
    assert_close("no longer than its ends are apart", fulcrum_contour_length(line),
        hypot(end->x - line->spots[0].x, end->y - line->spots[0].y), 1e-12);
    fulcrum_contour_clear(&contour);
}

/* The middle of each chord is on the side of the corner that it cuts off. */
static void check_chords(const struct fulcrum_contour *contour, double sign)
{
    for (size_t k = 0; k < contour->line_count; k++) {
        const struct fulcrum_spot *spots = contour->lines[k].spots;
        double middle = (spots[0].x + spots[1].x) * (spots[0].y + spots[1].y) / 4.0;
        CU_ASSERT(middle * sign > 0.0);
    }
}

/* Of one square: x y above and below 0 joins the one pair of corners, then the other.
 */
TEST(test_saddle_joins_the_corners_that_belong_together)
{
    static const struct {
        double level;
        double sign; /* of x y along the lines */
    } cases[] = {{0.25, 1.0}, {-0.25, -1.0}};
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_contour contour = contour_of(2, saddle, cases[i].level);
        CU_ASSERT_EQUAL(contour.line_count, 2);
        check_chords(&contour, cases[i].sign);
        fulcrum_contour_clear(&contour);
    }
}

/* Uneven corners: the saddle of the bilinear surface decides, not the mean of them. */
TEST(test_saddle_is_decided_by_the_bilinear_value)
{
    static const double at[] = {0.0, 1.0};
    /* Saddle at (10 * 2 - 0 * 0.1) / 11.9 = 1.68; the mean is 3.03. */
    static const double value[] = {10.0, 0.0, 0.1, 2.0};
    const struct fulcrum_contour_grid grid = {at, at, 2, 2, value};
    static const struct {
        double level;
        int cuts_first; /* the corner (0, 0) off */
    } cases[] = {{1.6, 0}, {1.8, 1}};
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_contour contour = traced(&grid, cases[i].level);
        CU_ASSERT_EQUAL_FATAL(contour.line_count, 2);
        int found = 0;
        for (size_t k = 0; k < 2; k++) {
            const struct fulcrum_spot *spots = contour.lines[k].spots;
            /* One end on the lower edge, the other on the left one. */
            int low_left = fmin(spots[0].y, spots[1].y) <= 0.0 &&
                           fmin(spots[0].x, spots[1].x) <= 0.0;
            found = found || low_left;
        }
        CU_ASSERT_EQUAL(found, cases[i].cuts_first);
        fulcrum_contour_clear(&contour);
    }
}

static int at_border(const struct fulcrum_spot *spot)
{
    return fmax(fabs(spot->x), fabs(spot->y)) >= 1.0 - 1e-12;
}

/* Every line of any pattern is closed or ends at the border. */
static void check_ends(const struct fulcrum_contour *contour)
{
    for (size_t k = 0; k < contour->line_count; k++) {
        const struct fulcrum_contour_line *line = &contour->lines[k];
        CU_ASSERT(line->count >= 2);
        CU_ASSERT(is_closed(line) || at_border(&line->spots[0]));
        CU_ASSERT(is_closed(line) || at_border(&line->spots[line->count - 1]));
    }
}

/* Brute force: on each edge whose ends are on different sides of the level, one spot.
 */
static size_t crossed_edges(const struct fulcrum_contour_grid *grid, double level)
{
    size_t count = 0;
    for (size_t j = 0; j < grid->y_count; j++) {
        for (size_t i = 0; i < grid->x_count; i++) {
            const double *here = &grid->value[j * grid->x_count + i];
            int above = here[0] >= level;
            count += i + 1 < grid->x_count && above != (here[1] >= level) ? 1U : 0U;
            count += j + 1 < grid->y_count && above != (here[grid->x_count] >= level)
                         ? 1U
                         : 0U;
        }
    }
    return count;
}

TEST(test_every_crossing_is_on_one_line)
{
    struct square *square = new_square(60, noise);
    for (int k = 1; k < 10; k++) {
        double level = 0.1 * k;
        struct fulcrum_contour contour = traced(&square->grid, level);
        size_t spots = 0;
        for (size_t i = 0; i < contour.line_count; i++) {
            const struct fulcrum_contour_line *line = &contour.lines[i];
            spots += line->count - (is_closed(line) ? 1U : 0U);
        }
        CU_ASSERT_EQUAL(spots, crossed_edges(&square->grid, level));
        check_ends(&contour);
        fulcrum_contour_clear(&contour);
    }
    free(square);
}

TEST(test_two_hills_part_above_their_pass)
{
    double pass = hill(0.0, 0.0);
    struct fulcrum_contour below = contour_of(101, hill, 0.97 * pass);
    struct fulcrum_contour above = contour_of(101, hill, 1.03 * pass);
    CU_ASSERT_EQUAL(below.line_count, 1);
    CU_ASSERT_EQUAL(above.line_count, 2);
    check_ends(&below);
    check_ends(&above);
    fulcrum_contour_clear(&below);
    fulcrum_contour_clear(&above);
}

/* Spots are finite, and no nearer to the middle than that. */
static void check_clear(const struct fulcrum_contour *contour, double distance)
{
    size_t count = 0;
    for (size_t k = 0; k < contour->line_count; k++) {
        count += contour->lines[k].count;
    }
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_spot *spot = &contour->spots[i];
        CU_ASSERT(fmax(fabs(spot->x), fabs(spot->y)) > distance);
        CU_ASSERT(isfinite(spot->x) && isfinite(spot->y));
    }
}

/* Squares that touch a hole are not entered: the line ends at them. */
TEST(test_holes_are_never_crossed)
{
    enum { SIDE = 41, MIDDLE = SIDE * SIDE / 2 };
    struct square *square = new_square(SIDE, plane);
    double step = square->at[1] - square->at[0];
    square->value[MIDDLE] = (double)NAN; /* which the line passes */
    struct fulcrum_contour contour = traced(&square->grid, 0.01);
    CU_ASSERT_EQUAL(contour.line_count, 2);
    check_clear(&contour, step * (1.0 - 1e-9));
    fulcrum_contour_clear(&contour);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        square->value[i] = i % 3 == 0 ? (double)INFINITY : (double)NAN;
    }
    contour = traced(&square->grid, 0.01);
    CU_ASSERT_EQUAL(contour.line_count, 0);
    fulcrum_contour_clear(&contour);
    free(square);
}

TEST(test_levels_at_corners_give_no_spot_twice)
{
    static const double at[] = {0.0, 1.0, 2.0};
    static const double peak[] = {0, 0, 0, 0, 1, 0, 0, 0, 0};
    const struct fulcrum_contour_grid grid = {at, at, 3, 3, peak};
    struct fulcrum_contour contour = traced(&grid, 1.0);
    CU_ASSERT_EQUAL(contour.line_count, 0); /* it has shrunk to the peak */
    fulcrum_contour_clear(&contour);
    contour = traced(&grid, 0.5);
    CU_ASSERT_EQUAL_FATAL(contour.line_count, 1);
    CU_ASSERT_EQUAL(contour.lines[0].count, 5);
    assert_close(
        "a diamond", fulcrum_contour_length(&contour.lines[0]), 4.0 * sqrt(0.5), 1e-12);
    fulcrum_contour_clear(&contour);
}

TEST(test_small_and_constant_grids_have_no_line)
{
    static const double at[] = {0.0, 1.0, 2.0};
    static const double value[] = {1, 2, 3, 1, 1, 1, 1, 1, 1};
    static const struct {
        size_t x_count;
        size_t y_count;
        size_t first;
    } cases[] = {{1, 1, 0}, {3, 1, 0}, {1, 3, 0}, {0, 0, 0}, {3, 2, 3}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct fulcrum_contour_grid grid = {
            at, at, cases[i].x_count, cases[i].y_count, value + cases[i].first};
        struct fulcrum_contour contour = traced(&grid, 1.0);
        CU_ASSERT_EQUAL(contour.line_count, 0);
        fulcrum_contour_clear(&contour);
    }
    const struct fulcrum_contour_grid grid = {at, at, 3, 3, value};
    struct fulcrum_contour contour = {.lines = NULL};
    CU_ASSERT_EQUAL(
        fulcrum_contour_trace(&grid, NAN, &contour, NULL), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NULL(contour.lines);
}

/* Positions may fall, as those of rows do on a page. */
TEST(test_positions_may_fall)
{
    static const double x[] = {0.0, 10.0};
    static const double y[] = {300.0, 100.0};
    static const double value[] = {0.0, 0.0, 4.0, 4.0};
    const struct fulcrum_contour_grid grid = {x, y, 2, 2, value};
    struct fulcrum_contour contour = traced(&grid, 1.0);
    CU_ASSERT_EQUAL_FATAL(contour.line_count, 1);
    assert_close("y", contour.lines[0].spots[0].y, 250.0, 1e-12);
    assert_close("y", contour.lines[0].spots[1].y, 250.0, 1e-12);
    fulcrum_contour_clear(&contour);
}

TEST(test_lines_cross_a_rectangle_or_do_not)
{
    const struct fulcrum_rect rect = {1.0, 1.0, 3.0, 2.0};
    static const struct {
        struct fulcrum_spot from;
        struct fulcrum_spot to;
        int crosses;
    } cases[] = {{{0, 0}, {4, 3}, 1}, {{0, 0}, {4, 0.5}, 0}, {{2, 1.5}, {2, 1.6}, 1},
        {{2, 0}, {2, 5}, 1}, {{0, 1.5}, {0.9, 1.5}, 0}, {{0, 1}, {4, 1}, 0},
        {{0.5, 1.4}, {1.4, 0.5}, 0}, {{0.5, 1.9}, {1.9, 0.5}, 1}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        CU_ASSERT_EQUAL(
            fulcrum_rect_crossed(rect, cases[i].from, cases[i].to), cases[i].crosses);
        CU_ASSERT_EQUAL(
            fulcrum_rect_crossed(rect, cases[i].to, cases[i].from), cases[i].crosses);
    }
}

/* One line across the room, and another that leaves only its right half free. */
TEST(test_labels_keep_clear_of_other_lines)
{
    const struct fulcrum_spot own[] = {{0, 50}, {200, 50}};
    const struct fulcrum_spot other[] = {{0, 45}, {100, 45}};
    struct fulcrum_contour_line lines[] = {{own, 2}, {other, 2}};
    const struct fulcrum_contour contours[] = {
        {.lines = &lines[0], .line_count = 1}, {.lines = &lines[1], .line_count = 1}};
    const struct fulcrum_line_crowd crowd = {contours, 2};
    const struct fulcrum_extent extent = {20.0, 12.0};
    const struct fulcrum_rect taken = {140.0, 0.0, 200.0, 100.0};
    struct fulcrum_label_room room = {{0, 0, 200, 100}, &taken, 0, NULL};
    struct fulcrum_rect rect = {0, 0, 0, 0};
    CU_ASSERT(fulcrum_line_label_find(&crowd, 0, &room, extent, &rect));
    CU_ASSERT(rect.x0 > 100.0 && rect.x1 < 200.0);
    assert_close("on the line", (rect.y0 + rect.y1) / 2.0, 50.0, 1e-12);
    /* What is taken narrows it down to the gap between both. */
    room.taken_count = 1;
    CU_ASSERT(fulcrum_line_label_find(&crowd, 0, &room, extent, &rect));
    CU_ASSERT(rect.x0 > 100.0 && rect.x1 <= 140.0);
    /* No room at all, and a line that its label would hide. */
    const struct fulcrum_extent wide = {60.0, 12.0};
    const struct fulcrum_extent longer = {150.0, 12.0};
    CU_ASSERT(!fulcrum_line_label_find(&crowd, 0, &room, wide, &rect));
    room.taken_count = 0;
    CU_ASSERT(!fulcrum_line_label_find(&crowd, 0, &room, longer, &rect));
}
