/* axis.c - maps values to the page, with round ticks and labels that do not meet. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/axis.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

struct fulcrum_number_text fulcrum_plain_text(double value)
{
    struct fulcrum_number_text text = fulcrum_si_text(value, 3, NULL);
    if (fabs(value) >= 1000.0 && fabs(value) < 1e5) {
        (void)snprintf(text.chars, sizeof text.chars, "%.0f", value);
    }
    return text;
}

/* Relative slack for comparing computed tick values with limits. */
static const double slack = 1e-9;
static const double auto_log_decades = 3.0;

/* Beyond these, room around the values and steps between them would overflow. */
static const double largest = 1e300;
static const double smallest = 1e-300;
static const double most_decades = 304.0;

struct fulcrum_limits fulcrum_limits_none(void)
{
    return (struct fulcrum_limits){INFINITY, -INFINITY, INFINITY};
}

void fulcrum_limits_add(struct fulcrum_limits *span, double value)
{
    if (!isfinite(value)) {
        return;
    }
    double near = fabs(value) < smallest ? 0.0 : fmin(fmax(value, -largest), largest);
    span->lo = fmin(span->lo, near);
    span->hi = fmax(span->hi, near);
    if (near > 0.0) {
        span->lo_positive = fmin(span->lo_positive, near);
    }
}

void fulcrum_limits_add_all(
    struct fulcrum_limits *span, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fulcrum_limits_add(span, values[i]);
    }
}

/* Both kinds map by the logarithm; they differ in their ticks only. */
static bool is_log(enum fulcrum_axis_kind kind)
{
    return kind == FULCRUM_AXIS_LOG || kind == FULCRUM_AXIS_LOG2;
}

struct prefix {
    double factor;
    const char *sign;
};

/* The largest prefix not above |value|; below 1 only where a unit takes it. */
static struct prefix prefix_of(double value, const char *unit)
{
    static const struct prefix prefixes[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},
        {1e6, "M"}, {1e3, "k"}, {1.0, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"},
        {1e-12, "p"}};
    const size_t one = 5;
    size_t last =
        unit != NULL && value != 0.0 ? sizeof prefixes / sizeof prefixes[0] - 1 : one;
    size_t i = 0;
    while (i < last && fabs(value) < prefixes[i].factor * (1.0 - slack)) {
        i++;
    }
    return prefixes[i];
}

/* As many digits as tell the ticks of an axis apart that spans a millionth of it. */
static struct fulcrum_number_text round_text(double value, const char *unit)
{
    struct fulcrum_number_text text;
    struct prefix prefix = prefix_of(value, unit);
    bool with_unit = unit != NULL && value != 0.0;
    if (unit == NULL && value != 0.0 && fabs(value) < 1e-3 * (1.0 - slack)) {
        /* Plain decimals turn unreadable; "2e-5" is shorter. */
        double exponent = floor(log10(fabs(value)) + slack);
        (void)snprintf(text.chars, sizeof text.chars, "%.14ge%.0f",
            value / pow(10.0, exponent), exponent);
    } else {
        (void)snprintf(text.chars, sizeof text.chars, "%.14g%s%s%s",
            value / prefix.factor, with_unit ? " " : "", prefix.sign,
            with_unit ? unit : "");
    }
    return text;
}

struct fulcrum_number_text fulcrum_si_text(double value, int digits, const char *unit)
{
    if (!isfinite(value)) {
        return (struct fulcrum_number_text){"unknown"};
    }
    double exponent = value != 0.0 ? floor(log10(fabs(value)) + slack) : 0.0;
    double step = pow(10.0, exponent + 1.0 - digits);
    return round_text(round(value / step) * step, unit);
}

/* A tick among those kept; silently full only beyond FULCRUM_TICKS_MAX. */
static void add_tick(
    struct fulcrum_axis *axis, double value, int rank, const char *label)
{
    double margin = slack * fmax(fabs(axis->lo), fabs(axis->hi));
    if (axis->tick_count == FULCRUM_TICKS_MAX || value < axis->lo - margin ||
        value > axis->hi + margin) {
        return;
    }
    struct fulcrum_tick *tick = &axis->ticks[axis->tick_count++];
    tick->value = fmin(fmax(value, axis->lo), axis->hi);
    tick->rank = rank;
    (void)snprintf(
        tick->label, sizeof tick->label, "%.*s", (int)sizeof tick->label - 1, label);
}

/* The i-th of ..., 0.5, 1, 2, 5, 10, ...; 1 is the 0th. */
static double nice_step(double i)
{
    static const double mantissas[] = {1.0, 2.0, 5.0};
    double decade = floor(i / 3.0);
    return mantissas[(int)(i - 3.0 * decade)] * pow(10.0, decade);
}

/* How many multiples of `step` the axis holds. */
static double ticks_between(const struct fulcrum_axis *axis, double step)
{
    return floor(axis->hi / step + slack) - ceil(axis->lo / step - slack) + 1.0;
}

/* Powers of ten, thinned by a stride where there are more than labels wanted. */
static void log_ticks(struct fulcrum_axis *axis, double wanted, const char *unit)
{
    double decades = log10(axis->hi) - log10(axis->lo);
    double stride = fmax(1.0, ceil(decades / wanted));
    double first = floor(log10(axis->lo) + slack);
    size_t count = (size_t)(ceil(log10(axis->hi) - slack) - first) + 1;
    /* Minor ticks beyond five decades are mud. */
    size_t mantissas = decades <= 5.0 ? 9 : 1;
    for (size_t i = 0; i < count; i++) {
        double power = first + (double)i;
        for (size_t mantissa = 1; mantissa <= mantissas; mantissa++) {
            double value = (double)mantissa * pow(10.0, power);
            bool has_label = mantissa == 1 || ((mantissa == 2 || mantissa == 5) &&
                                                  decades * 2.0 <= wanted);
            has_label = has_label && fmod(power, stride) == 0.0;
            add_tick(axis, value,
                !has_label      ? 9
                : mantissa == 1 ? 0
                                : 1,
                has_label ? round_text(value, unit).chars : "");
        }
    }
}

/* Whole powers of two; counts below a million are written out, as 1024 is a name. */
static void log2_ticks(struct fulcrum_axis *axis, double wanted, const char *unit)
{
    double first = ceil(log2(axis->lo) - slack);
    double count = fmax(0.0, floor(log2(axis->hi) + slack) - first + 1.0);
    double stride = fmax(1.0, ceil(count / wanted));
    for (size_t i = 0; i < (size_t)count; i++) {
        double power = first + (double)i;
        double value = exp2(power);
        bool has_label = fmod(power, stride) == 0.0;
        struct fulcrum_number_text label = fulcrum_si_text(value, 4, unit);
        if (value < 1e6 && unit == NULL) {
            (void)snprintf(label.chars, sizeof label.chars, "%.10g", value);
        }
        add_tick(axis, value, has_label ? 0 : 9, has_label ? label.chars : "");
    }
}

/* Limits around the span, never of zero length: of its logarithms, where it has any. */
static void fit_limits(struct fulcrum_axis *axis, const struct fulcrum_limits *span,
    const struct fulcrum_axis_options *options)
{
    bool has_logs = is_log(axis->kind);
    bool starts_at_zero = !has_logs && options->from_zero;
    bool is_any = has_logs ? isfinite(span->lo_positive) : span->lo <= span->hi;
    double lo = has_logs ? log10(span->lo_positive) : span->lo;
    double hi = has_logs ? log10(span->hi) : span->hi;
    lo = is_any ? lo : 0.0;
    hi = is_any ? hi : 1.0;
    lo = starts_at_zero && lo >= 0.0 ? 0.0 : lo;
    /* Less than a factor of 1.5 leaves too few powers for ticks; on a linear axis
     * rounding would show instead of data. */
    double least = has_logs ? 0.18 : fmax(fabs(lo), fabs(hi)) * 1e-6;
    if (hi - lo <= least) {
        double middle = lo + (hi - lo) / 2.0;
        double half = middle == 0.0 ? 0.5 : fabs(middle) * 0.1;
        half = has_logs ? log10(2.0) : half;
        lo = middle - half;
        hi = middle + half;
    }
    double pad = (hi - lo) * options->pad_frac;
    axis->lo = starts_at_zero && lo >= 0.0 && lo - pad < 0.0 ? 0.0 : lo - pad;
    axis->hi = hi + pad;
    if (has_logs) {
        axis->lo = pow(10.0, fmax(axis->lo, -most_decades));
        axis->hi = pow(10.0, fmin(axis->hi, most_decades));
    }
}

void fulcrum_axis_fit(struct fulcrum_axis *axis, const struct fulcrum_limits *span,
    const struct fulcrum_axis_options *options)
{
    double wanted = fmax(2.0, fmin(options->ticks_wanted, 12.0));
    /* Zero or a negative value rules a logarithm out, however far values spread. */
    bool spans_decades =
        span->lo > 0.0 && log10(span->hi) - log10(span->lo) > auto_log_decades;
    axis->kind = options->kind;
    if (options->kind == FULCRUM_AXIS_AUTO) {
        axis->kind = spans_decades ? FULCRUM_AXIS_LOG : FULCRUM_AXIS_LINEAR;
    }
    fit_limits(axis, span, options);
    axis->tick_count = 0;
    if (axis->kind == FULCRUM_AXIS_LOG2) {
        log2_ticks(axis, wanted, options->unit);
    } else if (axis->kind == FULCRUM_AXIS_LOG) {
        log_ticks(axis, wanted, options->unit);
    }
    /* A logarithmic axis over less than a decade may have no power to label. */
    size_t labelled = 0;
    for (size_t i = 0; i < axis->tick_count; i++) {
        labelled += axis->ticks[i].label[0] != '\0' ? 1U : 0U;
    }
    if (labelled < 2) {
        axis->tick_count = 0;
        /* At most `wanted` ticks, but for axes where that would leave fewer than two.
         */
        double i = 3.0 * floor(log10((axis->hi - axis->lo) / wanted));
        while (ticks_between(axis, nice_step(i)) > wanted) {
            i++;
        }
        while (ticks_between(axis, nice_step(i)) < 2.0) {
            i--;
        }
        double step = nice_step(i);
        double first = ceil(axis->lo / step - slack);
        size_t count = (size_t)ticks_between(axis, step);
        for (size_t j = 0; j < count; j++) {
            double value = (first + (double)j) * step + 0.0; /* turns -0 into 0 */
            add_tick(axis, value, 0, round_text(value, options->unit).chars);
        }
    }
}

bool fulcrum_axis_shows(enum fulcrum_axis_kind kind, double value)
{
    return isfinite(value) && (!is_log(kind) || value > 0.0);
}

double fulcrum_axis_at(const struct fulcrum_axis *axis, double value)
{
    assert(fulcrum_axis_shows(axis->kind, value));
    double share = is_log(axis->kind) ? log(value / axis->lo) / log(axis->hi / axis->lo)
                                      : (value - axis->lo) / (axis->hi - axis->lo);
    return axis->from + (axis->to - axis->from) * fmin(fmax(share, 0.0), 1.0);
}

static const double tick_gap_pt = 5.5; /* from a side to the numbers of its ticks */
static const double label_gap_pt = 2.0;

static bool is_upright(enum fulcrum_side side)
{
    return side == FULCRUM_SIDE_LEFT || side == FULCRUM_SIDE_RIGHT;
}

double fulcrum_axis_height_pt(const struct fulcrum_canvas *canvas, bool has_label)
{
    return tick_gap_pt + fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_TICK) +
           (has_label ? fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_AXIS) + 1.0
                      : 0.0);
}

double fulcrum_axis_width_pt(const struct fulcrum_canvas *canvas,
    const struct fulcrum_axis *axis, bool has_label)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_TICK);
    double width_pt = 0.0;
    for (size_t i = 0; i < axis->tick_count; i++) {
        width_pt = fmax(width_pt,
            fulcrum_canvas_measure(canvas, &style, axis->ticks[i].label).width_pt);
    }
    return tick_gap_pt + width_pt +
           (has_label
                   ? fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_AXIS) + label_gap_pt
                   : 0.0);
}

/* `along` the side, and so far out of the frame. */
static struct fulcrum_spot spot_beside(
    const struct fulcrum_side_axis *at, double along, double out_pt)
{
    switch (at->side) {
    case FULCRUM_SIDE_LEFT:
        return (struct fulcrum_spot){at->frame.x0 - out_pt, along};
    case FULCRUM_SIDE_RIGHT:
        return (struct fulcrum_spot){at->frame.x1 + out_pt, along};
    case FULCRUM_SIDE_ABOVE:
        return (struct fulcrum_spot){along, at->frame.y0 - out_pt};
    case FULCRUM_SIDE_BELOW:
    default:
        return (struct fulcrum_spot){along, at->frame.y1 + out_pt};
    }
}

/* Lines from the side outwards, below 0 inwards; as long where ticks have a label. */
static void draw_ticks(struct fulcrum_canvas *canvas,
    const struct fulcrum_side_axis *at, const struct fulcrum_pen *pen,
    const double out_pt[2])
{
    for (size_t i = 0; i < at->axis->tick_count; i++) {
        double along = fulcrum_axis_at(at->axis, at->axis->ticks[i].value);
        double length_pt = out_pt[at->axis->ticks[i].label[0] != '\0' ? 0 : 1];
        if (fabs(length_pt) > 0.0) {
            fulcrum_canvas_line(canvas, pen, spot_beside(at, along, 0.0),
                spot_beside(at, along, length_pt));
        }
    }
}

/* The part of a text that is next to the frame lies on its spot. */
static struct fulcrum_text style_beside(
    enum fulcrum_side side, enum fulcrum_text_role role)
{
    static const double anchors[][2] = {[FULCRUM_SIDE_LEFT] = {1.0, 0.5},
        [FULCRUM_SIDE_RIGHT] = {0.0, 0.5},
        [FULCRUM_SIDE_ABOVE] = {0.5, 1.0},
        [FULCRUM_SIDE_BELOW] = {0.5, 0.0}};
    return fulcrum_palette_anchored(role, anchors[side][0], anchors[side][1]);
}

/* Numbers already put along an axis: from where to where. */
struct taken {
    double ends[FULCRUM_TICKS_MAX][2];
    size_t count;
};

/* Numbers keep a distance, or neighbours would read as one. */
static void draw_number(struct fulcrum_canvas *canvas,
    const struct fulcrum_side_axis *side, const struct fulcrum_tick *tick,
    struct taken *taken)
{
    const struct fulcrum_text style = style_beside(side->side, FULCRUM_TEXT_TICK);
    bool upright = is_upright(side->side);
    /* Along the axis: numbers are as long as wide, or as high. */
    struct fulcrum_extent extent = fulcrum_canvas_measure(canvas, &style, tick->label);
    double half = (upright ? extent.height_pt : extent.width_pt) / 2.0;
    double space_pt = upright ? 0.5 : 6.0;
    /* Upright ones may stick out of the frame, but not as far as a title above. */
    double from = upright ? side->frame.y0 - 3.5 : side->from;
    double to = upright ? side->frame.y1 + 5.0 : side->to;
    double at = fulcrum_axis_at(side->axis, tick->value);
    at = fmin(fmax(at, from + half), to - half);
    for (size_t k = 0; k < taken->count; k++) {
        if (at - half < taken->ends[k][1] + space_pt &&
            taken->ends[k][0] < at + half + space_pt) {
            return;
        }
    }
    taken->ends[taken->count][0] = at - half;
    taken->ends[taken->count++][1] = at + half;
    fulcrum_canvas_text(canvas, &style,
        spot_beside(side, at, tick_gap_pt - (upright ? 1.0 : 0.0)), tick->label);
}

static void draw_numbers(
    struct fulcrum_canvas *canvas, const struct fulcrum_side_axis *at)
{
    struct taken taken = {.count = 0};
    for (int rank = 0; rank <= 1; rank++) {
        for (size_t i = 0; i < at->axis->tick_count; i++) {
            const struct fulcrum_tick *tick = &at->axis->ticks[i];
            if (tick->rank == rank && tick->label[0] != '\0') {
                draw_number(canvas, at, tick, &taken);
            }
        }
    }
}

/* In the middle of the frame, or as near to it as a long one can be. */
static void draw_label(
    struct fulcrum_canvas *canvas, const struct fulcrum_side_axis *at)
{
    struct fulcrum_rect frame = at->frame;
    bool upright = is_upright(at->side);
    struct fulcrum_text style = style_beside(at->side, FULCRUM_TEXT_AXIS);
    style.is_upright = upright;
    if (upright) {
        style.anchor_x = 0.5;
        style.anchor_y = at->side == FULCRUM_SIDE_LEFT ? 1.0 : 0.0;
        style.width_max_pt = frame.y1 - frame.y0;
        fulcrum_canvas_text(canvas, &style,
            spot_beside(at, (frame.y0 + frame.y1) / 2.0,
                fulcrum_axis_width_pt(canvas, at->axis, false) + label_gap_pt),
            at->label);
        return;
    }
    style.width_max_pt = at->to - at->from;
    double half = fulcrum_canvas_measure(canvas, &style, at->label).width_pt / 2.0;
    double middle = fmin((frame.x0 + frame.x1) / 2.0, at->to - half);
    fulcrum_canvas_text(canvas, &style,
        spot_beside(at, fmax(middle, at->from + half),
            fulcrum_axis_height_pt(canvas, false) +
                (at->side == FULCRUM_SIDE_BELOW ? 1.0 : 0.0)),
        at->label);
}

void fulcrum_side_axis_draw(
    struct fulcrum_canvas *canvas, const struct fulcrum_side_axis *at)
{
    const struct fulcrum_pen grid = fulcrum_palette_rule(FULCRUM_TONE_GRID, 0.6);
    const struct fulcrum_pen line = fulcrum_palette_rule(FULCRUM_TONE_SOFT, 0.8);
    if ((at->parts & FULCRUM_AXIS_GRID) != 0) {
        double depth_pt = is_upright(at->side) ? at->frame.x1 - at->frame.x0
                                               : at->frame.y1 - at->frame.y0;
        draw_ticks(canvas, at, &grid, (double[]){-depth_pt, 0.0});
    }
    if ((at->parts & FULCRUM_AXIS_LINE) != 0) {
        fulcrum_canvas_line(canvas, &line, spot_beside(at, at->axis->from, 0.0),
            spot_beside(at, at->axis->to, 0.0));
    }
    if ((at->parts & FULCRUM_AXIS_TICKS) != 0) {
        draw_ticks(canvas, at, &line, (double[]){3.5, 2.0});
    }
    if ((at->parts & FULCRUM_AXIS_NUMBERS) != 0) {
        draw_numbers(canvas, at);
    }
    if (at->label != NULL) {
        draw_label(canvas, at);
    }
}

static const double flag_gap_pt = 2.5; /* between a pole and its text */
/* Between the end of one flag and the next text or pole. */
static const double flag_space_pt = 4.0;

/* Does the pole of `post`, which crosses the rows below its own, cut this flag? */
static bool pole_cuts(
    const struct fulcrum_flag_post *post, const struct fulcrum_flag_post *flag)
{
    double margin = flag_gap_pt / 2.0;
    return post->row >= flag->row && post->x > flag->x0 - margin &&
           post->x < flag->x1 + margin;
}

/*
 * Against all that were placed before it: texts in one row need some space, and a pole
 * must not run through a text.
 */
static bool flag_fits(const struct fulcrum_flag_post *posts, size_t count,
    const struct fulcrum_flag_post *post, const struct fulcrum_flag_room *room)
{
    bool is_free = post->x0 >= room->x0 && post->x1 <= room->x1;
    for (size_t j = 0; j < count && is_free; j++) {
        const struct fulcrum_flag_post *other = &posts[j];
        bool overlaps = post->row == other->row &&
                        post->x0 < other->x1 + flag_space_pt &&
                        other->x0 < post->x1 + flag_space_pt;
        is_free = other == post || !other->is_shown ||
                  !(overlaps || pole_cuts(post, other) || pole_cuts(other, post));
    }
    return is_free;
}

/*
 * The first `split` flags fly to the left, the others to the right, and rows rise
 * towards the split from both ends: a pole then rises above the flags it would cross.
 * Each takes the lowest free row, as short poles leave more room to the panel; one that
 * finds none tries the other side. Returns the number of rows in use.
 */
static size_t place_around(struct fulcrum_flag_post *posts, size_t count, size_t split,
    const struct fulcrum_flag_room *room)
{
    double rows = 0.0;
    for (size_t i = 0; i < count; i++) {
        posts[i].is_shown = false;
    }
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_flag_post *post = &posts[i < split ? i : count - 1 + split - i];
        for (size_t k = 0; k < 2 * room->row_count && !post->is_shown; k++) {
            bool to_left = (i < split) == (k < room->row_count);
            post->row = k < room->row_count ? k : k - room->row_count;
            post->x0 = to_left ? post->x - flag_gap_pt - post->width_pt
                               : post->x + flag_gap_pt;
            post->x1 = post->x0 + post->width_pt;
            post->is_shown = flag_fits(posts, count, post, room);
        }
        rows = fmax(rows, post->is_shown ? (double)post->row + 1.0 : 0.0);
    }
    return (size_t)rows;
}

/* Most names first, then fewest rows. */
size_t fulcrum_flag_posts_place(
    struct fulcrum_flag_post *posts, size_t count, const struct fulcrum_flag_room *room)
{
    size_t best_split = 0;
    double best = -INFINITY;
    for (size_t split = 0; split <= count; split++) {
        double rows = (double)place_around(posts, count, split, room);
        double score = -rows / (1.0 + (double)room->row_count);
        for (size_t i = 0; i < count; i++) {
            score += posts[i].is_shown ? 1.0 : 0.0;
        }
        best_split = score > best ? split : best_split;
        best = fmax(score, best);
    }
    return place_around(posts, count, best_split, room);
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
    mark.x += direction[0] * (distance_pt + extent.width_pt / 2.0);
    mark.y += direction[1] * (distance_pt + extent.height_pt / 2.0);
    return fulcrum_rect_around(mark, extent);
}

static bool is_taken(const struct fulcrum_label_room *room, struct fulcrum_rect rect)
{
    size_t count = 0;
    const struct fulcrum_box *boxes =
        room->canvas != NULL ? fulcrum_canvas_boxes(room->canvas, &count) : NULL;
    bool is_free = true;
    for (size_t i = 0; i < room->taken_count && is_free; i++) {
        is_free = !fulcrum_rect_overlap(room->taken[i], rect);
    }
    for (size_t i = 0; i < count && is_free; i++) {
        /* Bands are no marks: a text on them reads well. */
        bool matters = boxes[i].kind == FULCRUM_BOX_TEXT ||
                       boxes[i].kind == FULCRUM_BOX_DATA ||
                       boxes[i].kind == FULCRUM_BOX_GUIDE;
        is_free = !matters || !fulcrum_rect_overlap(boxes[i].rect, rect);
    }
    return !is_free;
}

int fulcrum_label_find(const struct fulcrum_label_room *room, struct fulcrum_spot mark,
    struct fulcrum_extent extent, struct fulcrum_label_place *out)
{
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        struct fulcrum_rect rect = place_around_mark(i, mark, extent);
        if ((rect.x0 >= room->bounds.x0 && rect.x1 <= room->bounds.x1 &&
                rect.y0 >= room->bounds.y0 && rect.y1 <= room->bounds.y1) &&
            !is_taken(room, rect)) {
            *out = (struct fulcrum_label_place){rect, i >= PLACES_BESIDE};
            return 1;
        }
    }
    return 0;
}

int fulcrum_label_near(struct fulcrum_canvas *canvas, const struct fulcrum_text *style,
    struct fulcrum_spot mark, struct fulcrum_rect bounds, const char *text)
{
    const struct fulcrum_label_room room = {.bounds = bounds, .canvas = canvas};
    struct fulcrum_extent extent = fulcrum_canvas_measure(canvas, style, text);
    struct fulcrum_text centred = *style;
    struct fulcrum_label_place place;
    centred.anchor_x = 0.5;
    centred.anchor_y = 0.5;
    if (!fulcrum_label_find(&room, mark, extent, &place)) {
        return 0;
    }
    if (place.is_far) {
        fulcrum_label_lead(canvas, mark, place.rect);
    }
    fulcrum_canvas_text(canvas, &centred, fulcrum_rect_centre(place.rect), text);
    return 1;
}
