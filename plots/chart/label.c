/* label.c - finds places for labels that overlap nothing, or says that there is none.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/label.h"

#include <math.h>
#include <stdbool.h>

#include "plots/chart/canvas.h"

static const double flag_gap_pt = 2.5;
/* Between the end of one flag and the next text or pole. */
static const double flag_space_pt = 4.0;

double fulcrum_flag_gap_pt(void)
{
    return flag_gap_pt;
}

struct reach {
    double x0;
    double x1;
};

/* Where the text of a post lies along the axis. */
static struct reach flag_reach(const struct fulcrum_flag_post *post)
{
    double near = post->to_left ? post->x - flag_gap_pt : post->x + flag_gap_pt;
    return post->to_left ? (struct reach){near - post->width_pt, near}
                         : (struct reach){near, near + post->width_pt};
}

/* Does the pole of `post`, which crosses the rows below its own, cut this flag? */
static int pole_cuts(
    const struct fulcrum_flag_post *post, const struct fulcrum_flag_post *flag)
{
    struct reach reach = flag_reach(flag);
    double margin = flag_gap_pt / 2.0;
    return post->row >= flag->row && post->x > reach.x0 - margin &&
           post->x < reach.x1 + margin;
}

/* Texts in one row need some space; a pole must not run through a text. */
static int clash(const struct fulcrum_flag_post *a, const struct fulcrum_flag_post *b)
{
    struct reach reach_a = flag_reach(a);
    struct reach reach_b = flag_reach(b);
    int overlap = a->row == b->row && reach_a.x0 < reach_b.x1 + flag_space_pt &&
                  reach_b.x0 < reach_a.x1 + flag_space_pt;
    return overlap || pole_cuts(a, b) || pole_cuts(b, a);
}

/* Against all that were placed before it. */
static int fits(const struct fulcrum_flag_post *posts, size_t count, size_t i,
    const struct fulcrum_flag_room *room)
{
    struct reach reach = flag_reach(&posts[i]);
    if (reach.x0 < room->x0 || reach.x1 > room->x1) {
        return 0;
    }
    for (size_t j = 0; j < count; j++) {
        if (j != i && posts[j].shown && clash(&posts[i], &posts[j])) {
            return 0;
        }
    }
    return 1;
}

/*
 * The lowest free row, as short poles leave more room to the panel: on the side it is
 * told first, then on the other.
 */
static void place_one(struct fulcrum_flag_post *posts, size_t count, size_t i,
    const struct fulcrum_flag_room *room)
{
    struct fulcrum_flag_post *post = &posts[i];
    for (size_t k = 0; k < 2 * room->row_count && !post->shown; k++) {
        post->row = k % room->row_count;
        post->to_left = k == room->row_count ? !post->to_left : post->to_left;
        post->shown = fits(posts, count, i, room);
    }
}

struct outcome {
    size_t shown;
    size_t rows;
};

/*
 * The first `split` flags fly to the left, the others to the right, and rows rise
 * towards the split from both ends: a pole then rises above the flags it would cross.
 */
static struct outcome place_around(struct fulcrum_flag_post *posts, size_t count,
    size_t split, const struct fulcrum_flag_room *room)
{
    for (size_t i = 0; i < count; i++) {
        posts[i].shown = 0;
        posts[i].to_left = i < split;
    }
    for (size_t i = 0; i < split; i++) {
        place_one(posts, count, i, room);
    }
    for (size_t i = count; i-- > split;) {
        place_one(posts, count, i, room);
    }
    struct outcome outcome = {0, 0};
    for (size_t i = 0; i < count; i++) {
        if (posts[i].shown) {
            outcome.shown++;
            outcome.rows =
                posts[i].row + 1 > outcome.rows ? posts[i].row + 1 : outcome.rows;
        }
    }
    return outcome;
}

/* Most names first, then fewest rows. */
size_t fulcrum_flag_posts_place(
    struct fulcrum_flag_post *posts, size_t count, const struct fulcrum_flag_room *room)
{
    size_t best_split = 0;
    struct outcome best = place_around(posts, count, 0, room);
    for (size_t split = 1; split <= count; split++) {
        struct outcome outcome = place_around(posts, count, split, room);
        if (outcome.shown > best.shown ||
            (outcome.shown == best.shown && outcome.rows < best.rows)) {
            best = outcome;
            best_split = split;
        }
    }
    return place_around(posts, count, best_split, room).rows;
}

/* Bands are no marks: a text on them reads well. */
static int covers_marks(const struct fulcrum_canvas *canvas, struct fulcrum_rect rect)
{
    size_t count = 0;
    const struct fulcrum_box *boxes = fulcrum_canvas_boxes(canvas, &count);
    for (size_t i = 0; i < count; i++) {
        int matters = boxes[i].kind == FULCRUM_BOX_TEXT ||
                      boxes[i].kind == FULCRUM_BOX_DATA ||
                      boxes[i].kind == FULCRUM_BOX_GUIDE;
        if (matters && fulcrum_rect_overlap(boxes[i].rect, rect)) {
            return 1;
        }
    }
    return 0;
}

static int inside(struct fulcrum_rect rect, struct fulcrum_rect bounds)
{
    return rect.x0 >= bounds.x0 && rect.x1 <= bounds.x1 && rect.y0 >= bounds.y0 &&
           rect.y1 <= bounds.y1;
}

void fulcrum_label_lead(
    struct fulcrum_canvas *canvas, struct fulcrum_spot mark, struct fulcrum_rect rect)
{
    const struct fulcrum_pen pen = {
        .rgb = FULCRUM_TONE_SOFT, .width_pt = 0.5, .kind = FULCRUM_BOX_GUIDE};
    struct fulcrum_spot end = {
        fmin(fmax(mark.x, rect.x0), rect.x1), fmin(fmax(mark.y, rect.y0), rect.y1)};
    double length = hypot(end.x - mark.x, end.y - mark.y);
    /* Leaves the mark itself free. */
    double start = fmin(1.0, 4.5 / fmax(length, 1e-6));
    struct fulcrum_spot line[] = {
        {mark.x + (end.x - mark.x) * start, mark.y + (end.y - mark.y) * start}, end};
    fulcrum_canvas_stroke(canvas, &pen, line, 2);
}

/* Around a mark: the nearest places first. */
enum { PLACE_COUNT = 32, PLACES_BESIDE = 8 };

static struct fulcrum_rect place_around_mark(
    size_t i, struct fulcrum_spot mark, struct fulcrum_extent extent)
{
    /* Above, right, left, below, then the diagonals: direction of the text's centre. */
    static const double directions[PLACES_BESIDE][2] = {
        {0, -1}, {1, 0}, {-1, 0}, {0, 1}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}};
    static const double distances_pt[PLACE_COUNT / PLACES_BESIDE] = {
        6.0, 13.0, 22.0, 34.0};
    const double *direction = directions[i % PLACES_BESIDE];
    double distance_pt = distances_pt[i / PLACES_BESIDE];
    double x = mark.x + direction[0] * (distance_pt + extent.width_pt / 2.0);
    double y = mark.y + direction[1] * (distance_pt + extent.height_pt / 2.0);
    return (struct fulcrum_rect){x - extent.width_pt / 2.0, y - extent.height_pt / 2.0,
        x + extent.width_pt / 2.0, y + extent.height_pt / 2.0};
}

static bool is_taken(const struct fulcrum_label_room *room, struct fulcrum_rect rect)
{
    for (size_t i = 0; i < room->taken_count; i++) {
        if (fulcrum_rect_overlap(room->taken[i], rect)) {
            return 1;
        }
    }
    return 0;
}

int fulcrum_label_find(const struct fulcrum_label_room *room, struct fulcrum_spot mark,
    struct fulcrum_extent extent, struct fulcrum_label_place *out)
{
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        struct fulcrum_rect rect = place_around_mark(i, mark, extent);
        if (inside(rect, room->bounds) && !is_taken(room, rect)) {
            *out = (struct fulcrum_label_place){rect, i >= PLACES_BESIDE};
            return 1;
        }
    }
    return 0;
}

int fulcrum_label_near(struct fulcrum_canvas *canvas, const struct fulcrum_text *style,
    struct fulcrum_spot mark, struct fulcrum_rect bounds, const char *text)
{
    struct fulcrum_text centred = *style;
    centred.anchor_x = 0.5;
    centred.anchor_y = 0.5;
    struct fulcrum_extent extent = fulcrum_canvas_measure(canvas, style, text);
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        struct fulcrum_rect rect = place_around_mark(i, mark, extent);
        if (!inside(rect, bounds) || covers_marks(canvas, rect)) {
            continue;
        }
        if (i >= PLACES_BESIDE) {
            fulcrum_label_lead(canvas, mark, rect);
        }
        struct fulcrum_spot centre = {
            (rect.x0 + rect.x1) / 2.0, (rect.y0 + rect.y1) / 2.0};
        fulcrum_canvas_text(canvas, &centred, centre, text);
        return 1;
    }
    return 0;
}
