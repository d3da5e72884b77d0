/* chart_pareto.c - points that no other beats, and those that are beaten. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Of two metrics the front is a staircase: whatever lies behind a step is beaten by the
 * point at its corner. Of three it is a surface, seen along the third metric, which has
 * a colour: points behind others are there as they are better in it. Where points are
 * too many for bars to be told apart, those that are named have them.
 */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/try.h"
#include "plots/chart/page.h"
#include "plots/chart/panel.h"

enum {
    GROUPS_MAX = 4,   /* colours of the third metric */
    NOTES_MAX = 10,   /* points that are named, and have bars where not all do */
    BARS_MAX = 12,    /* points of the front that have bars all of them */
    BEATEN_MAX = 4000 /* points behind the front that are drawn */
};

/* Styles of canvas.h: the staircase, then the groups. */
enum { STYLE_STEPS = 0, STYLE_FIRST = 0 };

/* Points of one colour. */
struct group {
    double *columns; /* x, y, and the ends of both, each of `capacity` numbers */
    size_t capacity;
    size_t count;
    char label[120];
};

struct picture {
    const struct fulcrum_pareto_data *data;
    struct fulcrum_panel panel;
    struct fulcrum_stack stack;
    struct fulcrum_panel_series series[GROUPS_MAX + 2];
    struct fulcrum_panel_note notes[NOTES_MAX];
    size_t note_count;
    struct group groups[GROUPS_MAX];
    struct group beaten;
    struct group steps;
    unsigned char *grey; /* of the points that are beaten */
    size_t *order;       /* of the front, by x */
    size_t front_count;
    size_t group_count;
    double bounds[GROUPS_MAX + 1]; /* of the third metric */
    char finding[160];
};

enum column { X, Y, X_LO, X_HI, Y_LO, Y_HI, COLUMNS };

static double *column_of(const struct group *group, enum column column)
{
    return group->columns + (size_t)column * group->capacity;
}

/* Returns 0 where memory is short. */
static bool make_group(
    struct fulcrum_canvas *canvas, struct group *group, size_t capacity)
{
    group->capacity = capacity + 1;
    group->columns =
        fulcrum_canvas_room(canvas, COLUMNS * group->capacity, sizeof *group->columns);
    return group->columns != NULL;
}

static double end_of(const double *ends, size_t i)
{
    return ends != NULL ? ends[i] : (double)NAN;
}

static void add_point(
    struct group *group, const struct fulcrum_pareto_data *data, size_t i)
{
    size_t at = group->count++;
    column_of(group, X)[at] = data->x.estimate.value[i];
    column_of(group, Y)[at] = data->y.estimate.value[i];
    column_of(group, X_LO)[at] = end_of(data->x.estimate.lo, i);
    column_of(group, X_HI)[at] = end_of(data->x.estimate.hi, i);
    column_of(group, Y_LO)[at] = end_of(data->y.estimate.lo, i);
    column_of(group, Y_HI)[at] = end_of(data->y.estimate.hi, i);
}

static bool is_known(const struct fulcrum_pareto_data *data, size_t i)
{
    return isfinite(data->x.estimate.value[i]) && isfinite(data->y.estimate.value[i]) &&
           (data->third == NULL || isfinite(data->third[i]));
}

/* A point of the front, to be sorted. */
struct placed {
    double x;
    double y;
    size_t i;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *p = a;
    const struct placed *q = b;
    if (p->x < q->x || p->x > q->x) {
        return p->x < q->x ? -1 : 1;
    }
    if (p->y < q->y || p->y > q->y) {
        return p->y < q->y ? -1 : 1;
    }
    return (p->i > q->i) - (p->i < q->i);
}

/* The front, by x; ties by y. Returns 0 where memory is short. */
static bool sort_front(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_pareto_data *data = picture->data;
    struct placed *placed = fulcrum_canvas_room(canvas, data->count, sizeof *placed);
    if (placed == NULL) {
        return 0;
    }
    for (size_t i = 0; i < data->count; i++) {
        if (data->on_front[i] && is_known(data, i)) {
            placed[picture->front_count++] = (struct placed){
                data->x.estimate.value[i], data->y.estimate.value[i], i};
        }
    }
    qsort(placed, picture->front_count, sizeof *placed, compare_placed);
    for (size_t i = 0; i < picture->front_count; i++) {
        picture->order[i] = placed[i].i;
    }
    return 1;
}

static int compare_numbers(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

/*
 * Up to GROUPS_MAX groups of about as many points, by the third metric. Returns 0 where
 * memory is short.
 */
static bool bound_groups(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_pareto_data *data = picture->data;
    size_t count = picture->front_count;
    double *sorted = fulcrum_canvas_room(canvas, count, sizeof *sorted);
    if (sorted == NULL) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = data->third != NULL ? data->third[picture->order[i]] : 0.0;
    }
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    for (size_t i = 0; i < GROUPS_MAX && count > 0; i++) {
        double from = sorted[i * count / GROUPS_MAX];
        if (i == 0 || from > picture->bounds[picture->group_count - 1]) {
            picture->bounds[picture->group_count++] = from;
        }
    }
    picture->bounds[picture->group_count] = INFINITY;
    return 1;
}

static size_t group_of(const struct picture *picture, size_t i)
{
    size_t group = 0;
    double value = picture->data->third != NULL ? picture->data->third[i] : 0.0;
    while (group + 1 < picture->group_count && value >= picture->bounds[group + 1]) {
        group++;
    }
    return group;
}

/* "16 to 40 hardware threads", by the values that the group has. */
static void name_group(struct picture *picture, size_t group)
{
    double lo = INFINITY;
    double hi = -INFINITY;
    char low[32];
    char high[32];
    struct group *out = &picture->groups[group];
    if (picture->data->third == NULL) {
        (void)snprintf(out->label, sizeof out->label, "on the front");
        return;
    }
    for (size_t i = 0; i < picture->front_count; i++) {
        size_t point = picture->order[i];
        if (group_of(picture, point) == group) {
            lo = fmin(lo, picture->data->third[point]);
            hi = fmax(hi, picture->data->third[point]);
        }
    }
    fulcrum_si_text(low, sizeof low, lo, 3, NULL);
    fulcrum_si_text(high, sizeof high, hi, 3, NULL);
    (void)snprintf(out->label, sizeof out->label, "%s: %s%s%s",
        picture->data->third_label, low, hi > lo ? " to " : "", hi > lo ? high : "");
}

/* Corners between neighbours of the front: nothing is as good there as both say. */
static void fill_steps(struct picture *picture)
{
    const struct fulcrum_pareto_data *data = picture->data;
    struct group *steps = &picture->steps;
    for (size_t i = 0; i < picture->front_count && data->third == NULL; i++) {
        double x = data->x.estimate.value[picture->order[i]];
        double y = data->y.estimate.value[picture->order[i]];
        if (i > 0) {
            size_t at = steps->count++;
            size_t before = picture->order[i - 1];
            /* What a point reaches, it reaches for more of a cost too. */
            column_of(steps, X)[at] =
                data->x.more_is_better ? data->x.estimate.value[before] : x;
            column_of(steps, Y)[at] =
                data->x.more_is_better ? y : data->y.estimate.value[before];
        }
        size_t at = steps->count++;
        column_of(steps, X)[at] = x;
        column_of(steps, Y)[at] = y;
    }
}

static bool make_groups(struct fulcrum_canvas *canvas, struct picture *picture)
{
    size_t count = picture->data->count;
    picture->order = fulcrum_canvas_room(canvas, count, sizeof *picture->order);
    picture->grey = fulcrum_canvas_room(canvas, count, sizeof *picture->grey);
    bool has_room = picture->order != NULL && picture->grey != NULL &&
                    make_group(canvas, &picture->beaten, count) &&
                    make_group(canvas, &picture->steps, 2 * count);
    for (size_t i = 0; i < GROUPS_MAX && has_room; i++) {
        has_room = make_group(canvas, &picture->groups[i], count);
    }
    return has_room && sort_front(canvas, picture) && bound_groups(canvas, picture);
}

/* How many points of the front are named, evenly along it, and which those are. */
static size_t note_count(const struct picture *picture)
{
    return picture->front_count < NOTES_MAX ? picture->front_count : NOTES_MAX;
}

static size_t noted_place(const struct picture *picture, size_t note)
{
    size_t count = note_count(picture);
    return count > 1 ? note * (picture->front_count - 1) / (count - 1) : 0;
}

/* Whether the point at that place of the front has bars. */
static bool is_marked(const struct picture *picture, size_t place)
{
    if (picture->front_count <= BARS_MAX) {
        return 1;
    }
    for (size_t i = 0; i < note_count(picture); i++) {
        if (noted_place(picture, i) == place) {
            return 1;
        }
    }
    return 0;
}

static void fill_groups(struct picture *picture)
{
    const struct fulcrum_pareto_data *data = picture->data;
    for (size_t i = 0; i < picture->front_count; i++) {
        size_t point = picture->order[i];
        struct group *group = &picture->groups[group_of(picture, point)];
        add_point(group, data, point);
        for (enum column k = X_LO; k < COLUMNS && !is_marked(picture, i); k++) {
            column_of(group, k)[group->count - 1] = (double)NAN;
        }
    }
    /* Of very many, some stand for all, evenly over the sweep. */
    size_t stride = data->count / BEATEN_MAX + 1;
    for (size_t i = 0; i < data->count; i += stride) {
        if (!data->on_front[i] && is_known(data, i)) {
            picture->grey[picture->beaten.count] = 1;
            add_point(&picture->beaten, data, i);
        }
    }
    fill_steps(picture);
    for (size_t i = 0; i < picture->group_count; i++) {
        name_group(picture, i);
    }
}

static bool has_bars(const struct fulcrum_pareto_data *data)
{
    return data->x.estimate.lo != NULL || data->y.estimate.lo != NULL;
}

static struct fulcrum_panel_series series_of(
    const struct group *group, size_t style, enum fulcrum_series_look look)
{
    return fulcrum_series_of(
        column_of(group, X), column_of(group, Y), group->count, style, look);
}

/* What is beaten lies below, then the steps, then the front. */
static size_t fill_series(struct picture *picture)
{
    size_t count = 0;
    if (picture->beaten.count > 0) {
        picture->series[count] =
            series_of(&picture->beaten, STYLE_FIRST, FULCRUM_LOOK_MARKERS);
        picture->series[count++].disturbed = picture->grey;
    }
    if (picture->steps.count > 1) {
        picture->series[count++] =
            series_of(&picture->steps, STYLE_STEPS, FULCRUM_LOOK_CURVE);
    }
    for (size_t i = 0; i < picture->group_count; i++) {
        const struct group *group = &picture->groups[i];
        struct fulcrum_panel_series series = series_of(group, STYLE_FIRST + i,
            has_bars(picture->data) ? FULCRUM_LOOK_POINTS : FULCRUM_LOOK_MARKERS);
        if (has_bars(picture->data)) {
            series.x_lo = column_of(group, X_LO);
            series.x_hi = column_of(group, X_HI);
            series.lo = column_of(group, Y_LO);
            series.hi = column_of(group, Y_HI);
        }
        picture->series[count++] = series;
    }
    return count;
}

/* Some points of the front by name, evenly along it, its ends among them. */
static void fill_notes(struct picture *picture)
{
    const struct fulcrum_pareto_data *data = picture->data;
    for (size_t i = 0; i < note_count(picture) && data->labels != NULL; i++) {
        size_t point = picture->order[noted_place(picture, i)];
        struct fulcrum_panel_note *note = &picture->notes[picture->note_count++];
        note->spot = (struct fulcrum_spot){
            data->x.estimate.value[point], data->y.estimate.value[point]};
        (void)snprintf(note->text, sizeof note->text, "%s", data->labels[point]);
    }
}

static void fill_legend(struct fulcrum_page *page, const struct picture *picture)
{
    const char *interval =
        picture->front_count > BARS_MAX ? "90 % interval of some" : "90 % interval";
    for (size_t i = 0; i < picture->group_count; i++) {
        fulcrum_page_explain(
            page, FULCRUM_SWATCH_MARKER, STYLE_FIRST + i, picture->groups[i].label);
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_DISTURBED, STYLE_FIRST,
        picture->beaten.count > 0 ? "beaten by one of them" : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_INTERVAL, STYLE_FIRST,
        has_bars(picture->data) ? interval : NULL);
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    struct picture *picture = room;
    const struct fulcrum_pareto_data *data = given;
    picture->data = data;
    if (!make_groups(canvas, picture)) {
        return;
    }
    fill_groups(picture);
    picture->stack.panels = &picture->panel;
    if (picture->front_count > 0) {
        (void)snprintf(picture->finding, sizeof picture->finding,
            "%zu of %zu points are on the front", picture->front_count, data->count);
        fill_notes(picture);
        fulcrum_stack_add(&picture->stack,
            &(struct fulcrum_panel){.title = data->y.label,
                .finding = picture->beaten.count > 0 ? picture->finding : NULL,
                .series = picture->series,
                .series_count = fill_series(picture),
                .x_options = {.kind = FULCRUM_AXIS_AUTO, .pad_frac = 0.06},
                .y_options = {.kind = FULCRUM_AXIS_AUTO, .pad_frac = 0.08},
                .notes = picture->notes,
                .note_count = picture->note_count,
                .weight = 1.0});
        fill_legend(page, picture);
    }
    fulcrum_stack_draw_on(canvas, &picture->stack, data->x.label, page);
}

const struct fulcrum_chart fulcrum_chart_pareto = {.name = "pareto",
    .summary = "designs that no other beats in two or three metrics",
    .room_byte = sizeof(struct picture),
    .draw = draw};
