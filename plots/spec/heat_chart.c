/* heat_chart.c - one metric over two fields, with contours and machines at their place.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each point of the sweep is a cell that reaches half-way to its neighbours. Contours
 * go through the points themselves and so end half a cell before the border: beyond the
 * outermost points nothing is known.
 */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/try.h"
#include "plots/chart/contour.h"
#include "plots/chart/page.h"

enum {
    COLOURS = 64,
    CANNOT_RUN = COLOURS, /* cells without a colour */
    NOT_KNOWN,
    LEVELS_MAX = 24,
    TAKEN_MAX = 2 * FULCRUM_HEAT_MACHINES_MAX + 1,
    RATIO_LINES_MOST = 6,
    LABEL_SIZE = 40
};

/* Of what is written, below which it is no grid: rather points strewn over two axes. */
static const double least_filled_frac = 0.25;
static const double near_best_frac = 0.01;
/* Cells reach this far below the next ones, or paper would show between them. */
static const double overlap_pt = 0.5;
static const double scale_overlap_pt = 0.25;
/* Shorter numbers in the file; a sixteenth is exact in binary. */
static const double grain_pt = 0.0625;
static const double label_margin_pt = 1.5;
static const double scale_pt = 11.0;
static const double scale_gap_pt = 10.0;
static const double pt_per_tick = 42.0;
static const double pt_per_y_tick = 22.0;
static const struct fulcrum_extent star_extent = {15.0, 15.0};
static const struct fulcrum_extent marker_extent = {9.0, 9.0};

/* One field, and its place on the page. */
struct along {
    double *values; /* increasing */
    size_t count;
    struct fulcrum_axis axis;
};

struct cell {
    double value; /* NAN: not known */
    double lo;
    double hi;
    double ratio_log2;
    bool is_filled;
    bool cannot_run; /* hatched, whatever the value */
    int colour;      /* which, or why it has none */
};

/* A contour, or a line of constant ratio. */
struct level {
    double value;
    bool is_ratio;
    char label[LABEL_SIZE];
};

/* Machines at one place share a tag. */
struct tag {
    const char *name;
    double x; /* values of the fields */
    double y;
    struct fulcrum_spot spot; /* on the page */
    struct fulcrum_label_place place;
    bool is_beyond; /* the ends of an axis */
    bool is_placed; /* its name has a place */
};

struct picture {
    const struct fulcrum_heat_chart_data *data;
    bool is_judged; /* some values are better than others */
    enum fulcrum_goal goal;
    struct along x;
    struct along y;
    struct cell *cells; /* y.count rows of x.count */
    size_t cell_count;
    struct fulcrum_limits span; /* of the values known */
    size_t cannot_run;          /* cells */
    size_t not_known;
    size_t best; /* the best cell; the count of cells: there is none */
    size_t usable;
    size_t near; /* the best */
    struct fulcrum_header header;
    struct fulcrum_rect body;    /* header, panel and scale */
    struct fulcrum_rect panel;   /* the cells */
    struct fulcrum_axis colours; /* from 0 to 1 */
    size_t level_count;
    struct level levels[LEVELS_MAX];
    struct fulcrum_contour contours[LEVELS_MAX]; /* owned */
    bool are_shares;                             /* levels: of the best value */
    size_t tag_count;
    struct tag tags[FULCRUM_HEAT_MACHINES_MAX];
    struct fulcrum_rect taken[TAKEN_MAX]; /* markers, and placed names */
    size_t taken_count;
};

/* How unequal steps are: variance over the square of their mean. */
static double unevenness(const double *values, size_t count, int of_logs)
{
    double sum = 0.0;
    double squares = 0.0;
    double steps = (double)(count - 1);
    for (size_t i = 1; i < count; i++) {
        double step =
            of_logs ? log(values[i] / values[i - 1]) : values[i] - values[i - 1];
        sum += step;
        squares += step * step;
    }
    return squares * steps / (sum * sum);
}

/* Logarithmic where the values grow rather by a factor than by a step. */
static enum fulcrum_axis_kind cells_kind(const double *values, size_t count)
{
    if (count < 2 || !(values[0] > 0.0) || values[count - 1] < 2.0 * values[0]) {
        return FULCRUM_AXIS_LINEAR;
    }
    int grows = count == 2
                    ? values[1] >= 4.0 * values[0]
                    : unevenness(values, count, 1) < unevenness(values, count, 0);
    size_t twos = 0;
    for (size_t i = 0; i < count; i++) {
        double power = log2(values[i]);
        twos += fabs(power - round(power)) < 1e-9 ? 1U : 0U;
    }
    if (!grows) {
        return FULCRUM_AXIS_LINEAR;
    }
    return 2 * twos > count ? FULCRUM_AXIS_LOG2 : FULCRUM_AXIS_LOG;
}

static double half_way(enum fulcrum_axis_kind kind, double a, double b)
{
    return kind == FULCRUM_AXIS_LINEAR ? a / 2.0 + b / 2.0 : sqrt(a) * sqrt(b);
}

/* No axis reaches farther. */
static const double largest = 1e300;

/* As far beyond the first or last value as its neighbour's cell is away. */
static double outer_edge(enum fulcrum_axis_kind kind, double end, double neighbour)
{
    double edge = half_way(kind, end, neighbour);
    if (kind == FULCRUM_AXIS_LINEAR) {
        return fmin(fmax(end - (edge - end), -largest), largest);
    }
    return fmin(fmax(end * (end / edge), 1.0 / largest), largest);
}

/* The border below cell i along an axis of that kind; i = count: above the last. */
static double cells_edge(
    const double *values, size_t count, enum fulcrum_axis_kind kind, size_t i)
{
    size_t last = count - 1;
    if (last == 0) {
        double half = values[0] == 0.0 ? 0.5 : fabs(values[0]) * 0.1;
        return i == 0 ? values[0] - half : values[0] + half;
    }
    if (i == 0) {
        return outer_edge(kind, values[0], values[1]);
    }
    return i > last ? outer_edge(kind, values[last], values[last - 1])
                    : half_way(kind, values[i - 1], values[i]);
}

/* From border to border; ticks are the values themselves where those are few. */
static void cells_fit(
    struct fulcrum_axis *out, const double *values, size_t count, double ticks_wanted)
{
    const struct fulcrum_axis_options options = {
        .kind = cells_kind(values, count), .ticks_wanted = ticks_wanted};
    struct fulcrum_limits span = fulcrum_limits_none();
    fulcrum_limits_add(&span, cells_edge(values, count, options.kind, 0));
    fulcrum_limits_add(&span, cells_edge(values, count, options.kind, count));
    fulcrum_axis_fit(out, &span, &options);
    if ((double)count <= fmin(ticks_wanted, FULCRUM_TICKS_MAX)) {
        /* Between few values round numbers would only distract. */
        out->tick_count = count;
        for (size_t i = 0; i < count; i++) {
            out->ticks[i] = (struct fulcrum_tick){.value = values[i]};
            (void)snprintf(out->ticks[i].label, sizeof out->ticks[i].label, "%.31s",
                fulcrum_plain_text(values[i]).chars);
        }
    }
}

/* The different numbers of a column. */
static enum fulcrum_status read_along(struct fulcrum_canvas *canvas,
    const struct fulcrum_table *table, const char *key, struct along *out)
{
    size_t rows = fulcrum_table_rows(table);
    double *values = fulcrum_canvas_room(canvas, rows, sizeof *values);
    size_t used = 0;
    TRY(fulcrum_table_check_numbers(table, key, fulcrum_canvas_failure(canvas)));
    for (size_t i = 0; i < rows; i++) {
        values[used] = fulcrum_table_at(table, i, key).number;
        used += isfinite(values[used]) ? 1U : 0U;
    }
    qsort(values, used, sizeof *values, fulcrum_compare_numbers);
    for (size_t i = 0; i < used; i++) {
        if (out->count == 0 || values[i] > values[out->count - 1]) {
            values[out->count++] = values[i];
        }
    }
    out->values = values;
    return FULCRUM_OK;
}

/* Where a value is; every finite one is there. */
static size_t index_of(const struct along *along, double value)
{
    const double *found = bsearch(&value, along->values, along->count,
        sizeof *along->values, fulcrum_compare_numbers);
    return found != NULL ? (size_t)(found - along->values) : along->count;
}

static enum fulcrum_status read_cells(
    struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_heat_chart_data *data = picture->data;
    const struct fulcrum_table *table = fulcrum_chart_table(data->result, "points");
    struct fulcrum_error *err = fulcrum_canvas_failure(canvas);
    size_t rows = fulcrum_table_rows(table);
    if (rows == 0) {
        return FULCRUM_OK; /* a page that says so */
    }
    TRY(read_along(canvas, table, data->x, &picture->x));
    TRY(read_along(canvas, table, data->y, &picture->y));
    TRY(fulcrum_table_check_numbers(table, data->metric, err));
    TRY(fulcrum_table_check_numbers(table, "cpu_gpu_ratio_used", err));
    picture->cell_count = picture->x.count * picture->y.count;
    FAIL_IF(rows >= 4 && (double)rows < least_filled_frac * (double)picture->cell_count,
        err, FULCRUM_ERR_FORMAT,
        "%zu points at %zu values of %s and %zu of %s are no grid: a heat map takes a "
        "sweep over every pair of values",
        rows, picture->x.count, data->x, picture->y.count, data->y);
    picture->cells =
        fulcrum_canvas_room(canvas, picture->cell_count, sizeof *picture->cells);
    for (size_t i = 0; i < picture->cell_count; i++) {
        picture->cells[i].value = (double)NAN;
        picture->cells[i].ratio_log2 = (double)NAN;
    }
    for (size_t row = 0; row < rows; row++) {
        double x = fulcrum_table_at(table, row, data->x).number;
        double y = fulcrum_table_at(table, row, data->y).number;
        FAIL_IF(!isfinite(x) || !isfinite(y), err, FULCRUM_ERR_FORMAT,
            "point %zu has no value of %s: every point of a heat map has its place",
            row + 1, isfinite(x) ? data->y : data->x);
        struct cell *cell =
            &picture->cells[index_of(&picture->y, y) * picture->x.count +
                            index_of(&picture->x, x)];
        FAIL_IF(cell->is_filled, err, FULCRUM_ERR_FORMAT,
            "two points at %s = %.6g, %s = %.6g: a heat map takes one for each pair of "
            "values",
            data->x, x, data->y, y);
        struct fulcrum_cell from = fulcrum_table_at(table, row, data->metric);
        const char *status = fulcrum_table_at(table, row, "status").text;
        double ratio = fulcrum_table_at(table, row, "cpu_gpu_ratio_used").number;
        bool has_status =
            fulcrum_table_find(table, "status") < fulcrum_table_columns(table);
        *cell = (struct cell){.value = from.number,
            .lo = from.lo,
            .hi = from.hi,
            .ratio_log2 = ratio > 0.0 ? log2(ratio) : (double)NAN,
            .is_filled = true,
            .cannot_run = has_status && (status == NULL || strcmp(status, "ok") != 0)};
    }
    return FULCRUM_OK;
}

static bool is_known(const struct cell *cell)
{
    return !cell->cannot_run && isfinite(cell->value);
}

static void count_cells(struct picture *picture)
{
    picture->span = fulcrum_limits_none();
    for (size_t i = 0; i < picture->cell_count; i++) {
        const struct cell *cell = &picture->cells[i];
        if (is_known(cell)) {
            fulcrum_limits_add(&picture->span, cell->value);
        }
        picture->cannot_run += cell->cannot_run ? 1U : 0U;
        picture->not_known += !cell->cannot_run && !is_known(cell) ? 1U : 0U;
    }
}

static void find_best(struct picture *picture)
{
    bool most = picture->goal == FULCRUM_GOAL_MOST;
    double best = most ? picture->span.hi : picture->span.lo;
    picture->best = picture->cell_count;
    for (size_t i = picture->cell_count; i-- > 0;) {
        if (is_known(&picture->cells[i])) {
            double apart = fabs(picture->cells[i].value - best);
            picture->best = apart > 0.0 ? picture->best : i;
            picture->usable++;
            picture->near += apart <= near_best_frac * fabs(best) ? 1U : 0U;
        }
    }
}

/* A star where nothing differs would point at nothing. */
static bool has_star(const struct picture *picture)
{
    return picture->is_judged &&
           (picture->near < picture->usable || picture->usable == 1);
}

static bool is_end(const struct along *along, size_t i)
{
    return along->count > 1 && (i == 0 || i + 1 == along->count);
}

static const char *make_finding(
    struct fulcrum_canvas *canvas, const struct picture *picture)
{
    size_t i = picture->best % picture->x.count;
    size_t j = picture->best / picture->x.count;
    if (!picture->is_judged) {
        return NULL;
    }
    const struct fulcrum_number_text value =
        fulcrum_si_text(picture->cells[picture->best].value, 3, picture->data->unit);
    if (!has_star(picture)) {
        return fulcrum_canvas_print(
            canvas, "within 1 %% of %s everywhere", value.chars);
    }
    bool at_border = is_end(&picture->x, i) || is_end(&picture->y, j);
    return fulcrum_canvas_print(canvas,
        "best %s at (%s, %s)%s; %zu of %zu points within 1 %% of it", value.chars,
        fulcrum_plain_text(picture->x.values[i]).chars,
        fulcrum_plain_text(picture->y.values[j]).chars,
        at_border ? ", where the chart ends" : "", picture->near, picture->usable);
}

static struct fulcrum_spot best_spot(const struct picture *picture)
{
    size_t columns = picture->x.count;
    return (struct fulcrum_spot){
        fulcrum_axis_at(&picture->x.axis, picture->x.values[picture->best % columns]),
        fulcrum_axis_at(&picture->y.axis, picture->y.values[picture->best / columns])};
}

/*
 * A colour has no whiskers, and intervals of cells overlap nearly everywhere, because
 * one unknown number moves all of them together: hatching where they do would say less
 * than two figures.
 */
static void note_intervals(struct fulcrum_canvas *canvas, const struct picture *picture,
    struct fulcrum_page *page)
{
    double below_rel = 0.0;
    double above_rel = 0.0;
    const char *words = "";
    /* How far below and above their values intervals reach at most. */
    for (size_t i = 0; i < picture->cell_count; i++) {
        const struct cell *cell = &picture->cells[i];
        if (is_known(cell) && cell->lo < cell->hi && cell->value > 0.0) {
            below_rel = fmax(below_rel, 1.0 - cell->lo / cell->value);
            above_rel = fmax(above_rel, cell->hi / cell->value - 1.0);
        }
    }
    const struct cell *best = &picture->cells[picture->best];
    if (has_star(picture) && best->lo < best->hi) {
        words = fulcrum_canvas_print(canvas, "%s to %s at the best point, ",
            fulcrum_si_text(best->lo, 3, picture->data->unit).chars,
            fulcrum_si_text(best->hi, 3, picture->data->unit).chars);
    }
    if (below_rel > 0.0 || above_rel > 0.0) {
        fulcrum_page_note(canvas, page, "90 % interval: ",
            fulcrum_canvas_print(canvas,
                "%sat most %.0f %% below and %.0f %% above the value anywhere", words,
                100.0 * below_rel, 100.0 * above_rel));
    }
}

static bool at_one_place(const struct tag *tag, double x, double y)
{
    return fabs(tag->x - x) <= 1e-9 * fabs(tag->x) &&
           fabs(tag->y - y) <= 1e-9 * fabs(tag->y);
}

static enum fulcrum_status read_machines(
    struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_table *table =
        fulcrum_result_table_of(picture->data->result, "landmarks");
    struct fulcrum_error *err = fulcrum_canvas_failure(canvas);
    size_t count = fulcrum_table_rows(table);
    FAIL_IF(count > FULCRUM_HEAT_MACHINES_MAX, err, FULCRUM_ERR_RANGE,
        "%zu machines: a chart shows at most %d", count,
        (int)FULCRUM_HEAT_MACHINES_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *name = fulcrum_table_at(table, i, "name").text;
        double x = fulcrum_table_at(table, i, "x").number;
        double y = fulcrum_table_at(table, i, "y").number;
        size_t k = 0;
        while (k < picture->tag_count && !at_one_place(&picture->tags[k], x, y)) {
            k++;
        }
        if (k < picture->tag_count) {
            name = fulcrum_canvas_print(canvas, "%s, %s", picture->tags[k].name, name);
        }
        picture->tags[k] = (struct tag){.name = name, .x = x, .y = y};
        picture->tag_count = k == picture->tag_count ? k + 1 : picture->tag_count;
    }
    return FULCRUM_OK;
}

/* Beyond its ends an axis clamps, and a mark there would stand at a wrong value. */
static bool is_within(const struct fulcrum_axis *axis, double value)
{
    return value >= axis->lo && value <= axis->hi;
}

/* Markers of all machines keep their place, whatever the names need. */
static void place_markers(struct picture *picture)
{
    picture->taken_count = 0;
    if (has_star(picture)) {
        picture->taken[picture->taken_count++] =
            fulcrum_rect_around(best_spot(picture), star_extent);
    }
    for (size_t k = 0; k < picture->tag_count; k++) {
        struct tag *tag = &picture->tags[k];
        tag->is_beyond = !is_within(&picture->x.axis, tag->x) ||
                         !is_within(&picture->y.axis, tag->y);
        if (!tag->is_beyond) {
            tag->spot = (struct fulcrum_spot){fulcrum_axis_at(&picture->x.axis, tag->x),
                fulcrum_axis_at(&picture->y.axis, tag->y)};
            picture->taken[picture->taken_count++] =
                fulcrum_rect_around(tag->spot, marker_extent);
        }
    }
}

/* Names at one place may be many; they wrap before they cross the chart. */
static struct fulcrum_text name_style(const struct picture *picture)
{
    struct fulcrum_text style = fulcrum_palette_anchored(FULCRUM_TEXT_FLAG, 0.5, 0.5);
    style.rgb = FULCRUM_TONE_INK;
    style.width_max_pt = 0.6 * (picture->panel.x1 - picture->panel.x0);
    style.lines_max = 3;
    return style;
}

/* Names those without a mark, then those without a name. */
static void note_tags(struct fulcrum_canvas *canvas, const struct picture *picture,
    struct fulcrum_page *page)
{
    size_t count = picture->tag_count;
    for (size_t k = 0; k < 2 * count; k++) {
        const struct tag *tag = &picture->tags[k < count ? k : k - count];
        if (!tag->is_placed && tag->is_beyond == (k < count)) {
            fulcrum_page_note(canvas, page,
                tag->is_beyond ? "Beyond this chart: " : "Without a name: ",
                fulcrum_canvas_print(canvas, "%s at (%s, %s)", tag->name,
                    fulcrum_plain_text(tag->x).chars,
                    fulcrum_plain_text(tag->y).chars));
        }
    }
}

/* A text on a plate that makes it readable whatever lies below. */
static void draw_on_plate(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *plate, const struct fulcrum_text *style,
    struct fulcrum_rect rect, const char *text)
{
    fulcrum_canvas_fill_rect(canvas, plate, rect);
    fulcrum_canvas_text(canvas, style, fulcrum_rect_centre(rect), text);
}

/* Markers last: no line that leads to a name hides one. */
static void draw_tags(struct fulcrum_canvas *canvas, const struct picture *picture)
{
    static const struct fulcrum_marker marker = {
        FULCRUM_MARKER_CIRCLE, FULCRUM_MARKER_HOLLOW, 6.0};
    const struct fulcrum_pen ink = {
        .rgb = FULCRUM_TONE_INK, .width_pt = 1.4, .kind = FULCRUM_BOX_DATA};
    const struct fulcrum_pen plate = {
        .rgb = FULCRUM_GROUND_PAPER, .opacity = 0.85, .kind = FULCRUM_BOX_NONE};
    struct fulcrum_text style = name_style(picture);
    for (size_t k = 0; k < picture->tag_count; k++) {
        const struct tag *tag = &picture->tags[k];
        if (tag->is_placed && tag->place.is_far) {
            fulcrum_label_lead(canvas, tag->spot, tag->place.rect);
        }
        if (tag->is_placed) {
            draw_on_plate(canvas, &plate, &style, tag->place.rect, tag->name);
        }
    }
    for (size_t k = 0; k < picture->tag_count; k++) {
        if (!picture->tags[k].is_beyond) {
            fulcrum_canvas_marker(canvas, &ink, &marker, picture->tags[k].spot);
        }
    }
}

/* At the ends of the span a contour is a spot or the border. */
static void add_level(
    struct picture *picture, double value, bool is_ratio, const char *label)
{
    bool is_inside = value > picture->span.lo && value < picture->span.hi;
    if (picture->level_count < LEVELS_MAX && (is_ratio || is_inside)) {
        struct level *level = &picture->levels[picture->level_count++];
        *level = (struct level){.value = value, .is_ratio = is_ratio};
        (void)snprintf(level->label, sizeof level->label, "%s", label);
    }
}

static void choose_shares(struct picture *picture)
{
    static const double of_most[] = {0.5, 0.8, 0.9, 0.95, 0.99};
    static const double of_least[] = {2.0, 1.25, 1.1, 1.05, 1.01};
    bool most = picture->goal == FULCRUM_GOAL_MOST;
    picture->are_shares = true;
    for (size_t i = 0; i < sizeof of_most / sizeof of_most[0]; i++) {
        char label[LABEL_SIZE];
        double share = most ? of_most[i] : of_least[i];
        (void)snprintf(label, sizeof label, "%.0f %%", 100.0 * share);
        add_level(picture, share * (most ? picture->span.hi : picture->span.lo), false,
            label);
    }
}

/* Ratios are powers of four, or of sixteen where that would be too many lines. */
static void choose_ratios(struct picture *picture)
{
    struct fulcrum_limits twos = fulcrum_limits_none();
    for (size_t i = 0; i < picture->cell_count; i++) {
        fulcrum_limits_add(&twos, picture->cells[i].ratio_log2);
    }
    bool varies = twos.hi > twos.lo;
    double lines = varies ? ceil(twos.hi / 2.0) - floor(twos.lo / 2.0) - 1.0 : 0.0;
    double step = lines > RATIO_LINES_MOST ? 4.0 : 2.0;
    double first = varies ? floor(twos.lo / step) + 1.0 : 0.0;
    size_t count = varies ? (size_t)fmax(0.0, ceil(twos.hi / step) - first) : 0;
    for (size_t i = 0; i < count; i++) {
        double exponent = (first + (double)i) * step;
        char label[LABEL_SIZE];
        (void)snprintf(label, sizeof label, "ratio %s%.0f", exponent < 0.0 ? "1/" : "",
            exp2(fabs(exponent)));
        add_level(picture, exponent, true, label);
    }
}

/* Levels of the metric first, then those of the ratio. */
static void choose_levels(struct picture *picture)
{
    enum fulcrum_heat_contours contours = picture->data->contours;
    if (picture->x.count < 2 || picture->y.count < 2) {
        return;
    }
    bool has_shares = picture->is_judged && picture->span.lo > 0.0;
    if (contours == FULCRUM_HEAT_SHARES && has_shares) {
        choose_shares(picture);
    } else if (contours != FULCRUM_HEAT_PLAIN) {
        struct fulcrum_axis axis = {.kind = picture->colours.kind};
        const struct fulcrum_axis_options options = {.kind = picture->colours.kind,
            .ticks_wanted = 7.0,
            .unit = picture->data->unit};
        fulcrum_axis_fit(&axis, &picture->span, &options);
        for (size_t i = 0; i < axis.tick_count; i++) {
            if (axis.ticks[i].label[0] != '\0') {
                add_level(picture, axis.ticks[i].value, false, axis.ticks[i].label);
            }
        }
    }
    /* A ratio that is shown is drawn as colour; lines would only repeat that. */
    static const char ratio[] = "cpu_gpu_ratio";
    if (strncmp(picture->data->metric, ratio, sizeof ratio - 1) != 0) {
        choose_ratios(picture);
    }
}

/* Along either axis a ratio of the two is linear as a logarithm. */
static enum fulcrum_status trace_levels(
    struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct along *x = &picture->x;
    const struct along *y = &picture->y;
    struct fulcrum_error *err = fulcrum_canvas_failure(canvas);
    /* Places on the page, and the values to trace. */
    double *places = fulcrum_canvas_room(
        canvas, x->count + y->count + 2 * picture->cell_count, sizeof *places);
    double *value = places + x->count + y->count;
    double *ratio = value + picture->cell_count;
    for (size_t i = 0; i < x->count; i++) {
        places[i] = fulcrum_axis_at(&x->axis, x->values[i]);
    }
    for (size_t j = 0; j < y->count; j++) {
        places[x->count + j] = fulcrum_axis_at(&y->axis, y->values[j]);
    }
    for (size_t i = 0; i < picture->cell_count; i++) {
        const struct cell *cell = &picture->cells[i];
        value[i] = cell->cannot_run ? (double)NAN : cell->value;
        ratio[i] = cell->ratio_log2;
    }
    for (size_t i = 0; i < picture->level_count; i++) {
        const struct level *level = &picture->levels[i];
        const struct fulcrum_contour_grid grid = {places, places + x->count, x->count,
            y->count, level->is_ratio ? ratio : value};
        TRY(fulcrum_contour_trace(&grid, level->value, &picture->contours[i], err));
    }
    return FULCRUM_OK;
}

static void stroke_contour(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_contour *contour)
{
    for (size_t k = 0; k < contour->line_count; k++) {
        fulcrum_canvas_stroke(
            canvas, pen, contour->lines[k].spots, contour->lines[k].count);
    }
}

/* Along a contour the colour below is the same: one ink does for all of it. */
static struct fulcrum_pen level_pen(
    const struct picture *picture, const struct level *level)
{
    double share = fulcrum_axis_at(&picture->colours, level->value);
    return fulcrum_palette_rule(fulcrum_palette_heat_ink(share), 1.0);
}

/* A plate of the colour below breaks the line, as if it left its label free. */
static void draw_label(struct fulcrum_canvas *canvas, const struct picture *picture,
    const struct level *level, struct fulcrum_rect rect)
{
    struct fulcrum_text style = fulcrum_palette_anchored(FULCRUM_TEXT_FLAG, 0.5, 0.5);
    struct fulcrum_pen plate = {.rgb = FULCRUM_GROUND_PAPER, .kind = FULCRUM_BOX_NONE};
    style.rgb = FULCRUM_TONE_INK;
    if (!level->is_ratio) {
        double share = fulcrum_axis_at(&picture->colours, level->value);
        plate.rgb = fulcrum_palette_heat(share);
        style.rgb = fulcrum_palette_heat_ink(share);
    }
    draw_on_plate(canvas, &plate, &style, rect, level->label);
}

static unsigned colour_at(int index)
{
    return fulcrum_palette_heat(((double)index + 0.5) / COLOURS);
}

/* Upright axes first: how wide their labels are says what is left for the other. */
static void lay_out(struct fulcrum_canvas *canvas, const struct fulcrum_page *page,
    struct picture *picture)
{
    struct along *x = &picture->x;
    struct along *y = &picture->y;
    struct fulcrum_rect body = fulcrum_page_body(canvas, page);
    struct fulcrum_rect panel = body;
    panel.y0 += fulcrum_header_height_pt(canvas, &picture->header, body.x1 - body.x0);
    panel.y1 -= fulcrum_axis_height_pt(canvas, true) + 1.0;
    double upright_ticks = (panel.y1 - panel.y0) / pt_per_y_tick;
    cells_fit(&y->axis, y->values, y->count, upright_ticks);
    /* What falls like 1/x would have one colour but for its largest values. */
    const double much = 20.0;
    bool falls = picture->is_judged && picture->goal == FULCRUM_GOAL_LEAST;
    bool is_wide =
        picture->span.lo > 0.0 && picture->span.hi >= much * picture->span.lo;
    const struct fulcrum_axis_options options = {
        .kind = falls && is_wide ? FULCRUM_AXIS_LOG : FULCRUM_AXIS_AUTO,
        .ticks_wanted = upright_ticks,
        .unit = picture->data->unit};
    fulcrum_axis_fit(&picture->colours, &picture->span, &options);
    panel.x0 += fulcrum_axis_width_pt(canvas, &y->axis, true);
    panel.x1 -= scale_gap_pt + scale_pt +
                fulcrum_axis_width_pt(canvas, &picture->colours, true);
    cells_fit(&x->axis, x->values, x->count, (panel.x1 - panel.x0) / pt_per_tick);
    picture->colours.from = 0.0;
    picture->colours.to = 1.0;
    x->axis.from = panel.x0;
    x->axis.to = panel.x1;
    y->axis.from = panel.y1;
    y->axis.to = panel.y0;
    picture->panel = panel;
    picture->body = body;
    struct fulcrum_text style = name_style(picture);
    place_markers(picture);
    for (size_t k = 0; k < picture->tag_count; k++) {
        struct tag *tag = &picture->tags[k];
        struct fulcrum_extent extent =
            fulcrum_canvas_measure(canvas, &style, tag->name);
        extent.width_pt += 2.0 * label_margin_pt;
        const struct fulcrum_label_room room = {
            picture->panel, picture->taken, picture->taken_count, NULL};
        tag->is_placed = !tag->is_beyond &&
                         fulcrum_label_find(&room, tag->spot, extent, &tag->place);
        if (tag->is_placed) {
            picture->taken[picture->taken_count++] = tag->place.rect;
        }
    }
}

static void draw_frame(struct fulcrum_canvas *canvas, const struct picture *picture)
{
    const struct fulcrum_pen line = fulcrum_palette_rule(FULCRUM_TONE_SOFT, 0.8);
    struct fulcrum_rect panel = picture->panel;
    const struct fulcrum_side_axis sides[] = {
        {&picture->y.axis, FULCRUM_SIDE_LEFT, panel, 0.0, 0.0, picture->data->y_label,
            FULCRUM_AXIS_TICKS | FULCRUM_AXIS_NUMBERS},
        {&picture->x.axis, FULCRUM_SIDE_BELOW, panel, picture->body.x0, panel.x1 + 10.0,
            picture->data->x_label, FULCRUM_AXIS_TICKS | FULCRUM_AXIS_NUMBERS}};
    fulcrum_header_draw(canvas, &picture->header, picture->body);
    fulcrum_canvas_record(canvas, FULCRUM_BOX_PANEL, panel);
    fulcrum_canvas_border(canvas, &line, panel);
    fulcrum_side_axis_draw(canvas, &sides[0]);
    fulcrum_side_axis_draw(canvas, &sides[1]);
    /* The scale of colours, with the contours on it: those without a label too. */
    struct fulcrum_rect bar = {panel.x1 + scale_gap_pt, panel.y0,
        panel.x1 + scale_gap_pt + scale_pt, panel.y1};
    double step_pt = (bar.y1 - bar.y0) / COLOURS;
    for (int k = 0; k < COLOURS; k++) {
        const struct fulcrum_pen pen = fulcrum_palette_rule(colour_at(k), 0.0);
        double low = bar.y1 - step_pt * (double)k;
        double high = fmax(bar.y0, low - step_pt - scale_overlap_pt);
        fulcrum_canvas_fill_rect(
            canvas, &pen, (struct fulcrum_rect){bar.x0, high, bar.x1, low});
    }
    struct fulcrum_axis axis = picture->colours;
    axis.from = bar.y1;
    axis.to = bar.y0;
    for (size_t i = 0; i < picture->level_count; i++) {
        const struct level *level = &picture->levels[i];
        if (!level->is_ratio) {
            const struct fulcrum_pen pen = level_pen(picture, level);
            double y = fulcrum_axis_at(&axis, level->value);
            fulcrum_canvas_line(canvas, &pen, (struct fulcrum_spot){bar.x0, y},
                (struct fulcrum_spot){bar.x1, y});
        }
    }
    fulcrum_canvas_border(canvas, &line, bar);
    const struct fulcrum_side_axis right = {.axis = &axis,
        .side = FULCRUM_SIDE_RIGHT,
        .frame = bar,
        .label = picture->data->value_name,
        .parts = FULCRUM_AXIS_TICKS | FULCRUM_AXIS_NUMBERS};
    fulcrum_side_axis_draw(canvas, &right);
}

/* On the page, the border below cell i. */
static double border_at(const struct along *along, size_t i)
{
    double edge = cells_edge(along->values, along->count, along->axis.kind, i);
    return round(fulcrum_axis_at(&along->axis, edge) / grain_pt) * grain_pt;
}

/*
 * Covers the cells of a colour once by rectangles: runs along a row, joined with those
 * that are alike in the row below. `last` has by column the rectangle that began there
 * last. Returns how many.
 */
static size_t find_rects(
    const struct picture *picture, int colour, struct fulcrum_rect *rects, size_t *last)
{
    size_t columns = picture->x.count;
    size_t count = 0;
    for (size_t k = 0; k < picture->cell_count; k++) {
        size_t i = k % columns;
        size_t j = k / columns;
        size_t end = k;
        while (end < (j + 1) * columns && picture->cells[end].colour == colour) {
            end++;
        }
        if (end == k) {
            continue;
        }
        const struct fulcrum_rect rect = {border_at(&picture->x, i),
            border_at(&picture->y, j + 1), border_at(&picture->x, end - j * columns),
            border_at(&picture->y, j)};
        struct fulcrum_rect *below = last[i] < count ? &rects[last[i]] : NULL;
        if (below != NULL && below->x0 == rect.x0 && below->x1 == rect.x1 &&
            below->y0 == rect.y1) {
            below->y0 = rect.y0;
        } else {
            last[i] = count;
            rects[count++] = rect;
        }
        k = end - 1;
    }
    return count;
}

/*
 * All cells of one colour, or of none, at once, in the order of colours: what has none
 * covers the little that they reach too far.
 */
static void draw_cells(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct fulcrum_pen paper = fulcrum_palette_rule(FULCRUM_GROUND_PAPER, 0.0);
    const struct fulcrum_pen line = fulcrum_palette_rule(FULCRUM_TONE_MUTED, 0.6);
    struct fulcrum_rect *rects =
        fulcrum_canvas_room(canvas, picture->cell_count, sizeof *rects);
    size_t *last = fulcrum_canvas_room(canvas, picture->x.count, sizeof *last);
    for (size_t i = 0; i < picture->cell_count; i++) {
        struct cell *cell = &picture->cells[i];
        cell->colour = cell->cannot_run ? CANNOT_RUN : NOT_KNOWN;
        if (is_known(cell)) {
            double share = fulcrum_axis_at(&picture->colours, cell->value);
            cell->colour = (int)fmin(floor(share * COLOURS), COLOURS - 1.0);
        }
    }
    for (int colour = 0; colour < COLOURS; colour++) {
        const struct fulcrum_pen pen = fulcrum_palette_rule(colour_at(colour), 0.0);
        size_t count = find_rects(picture, colour, rects, last);
        for (size_t k = 0; k < count; k++) {
            rects[k].x1 = fmin(rects[k].x1 + overlap_pt, picture->panel.x1);
            rects[k].y1 = fmin(rects[k].y1 + overlap_pt, picture->panel.y1);
        }
        fulcrum_canvas_fill_rects(canvas, &pen, rects, count);
    }
    size_t count = find_rects(picture, CANNOT_RUN, rects, last);
    for (size_t k = 0; k < count; k++) {
        fulcrum_canvas_fill_rect(canvas, &paper, rects[k]);
        fulcrum_canvas_hatch(canvas, &line, rects[k]);
    }
}

static void explain_marks(struct fulcrum_page *page, const struct picture *picture)
{
    bool has_contour = false;
    bool has_ratio = false;
    bool has_machine = false;
    for (size_t i = 0; i < picture->level_count; i++) {
        has_contour |= !picture->levels[i].is_ratio;
        has_ratio |= picture->levels[i].is_ratio;
    }
    for (size_t k = 0; k < picture->tag_count; k++) {
        has_machine |= !picture->tags[k].is_beyond;
    }
    const struct {
        bool is_there;
        enum fulcrum_swatch swatch;
        const char *label;
    } entries[] = {
        {has_contour, FULCRUM_SWATCH_RULE,
            picture->are_shares ? "percent of the best value" : "line of equal value"},
        {has_ratio, FULCRUM_SWATCH_GUIDE,
            "constant CPU/GPU ratio (hardware threads / SMs)"},
        {has_star(picture), FULCRUM_SWATCH_STAR, "best"},
        {has_machine, FULCRUM_SWATCH_PLACE, "existing machine at its own values"},
        {picture->cannot_run > 0, FULCRUM_SWATCH_HATCH, "cannot run"},
        {picture->not_known > 0, FULCRUM_SWATCH_BLANK, "not known"}};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        fulcrum_page_explain(page, 0, entries[i].swatch, 0,
            entries[i].is_there ? entries[i].label : NULL);
    }
}

/*
 * The legend says which lines and marks there are, and the footnote which machines
 * found no place; both take room from the panel, so it is laid out again after each.
 */
static void draw_picture(
    struct fulcrum_canvas *canvas, struct fulcrum_page *page, struct picture *picture)
{
    lay_out(canvas, page, picture);
    choose_levels(picture);
    explain_marks(page, picture);
    lay_out(canvas, page, picture);
    note_intervals(canvas, picture, page);
    note_tags(canvas, picture, page);
    lay_out(canvas, page, picture);
    if (trace_levels(canvas, picture) == FULCRUM_OK) {
        fulcrum_page_draw(canvas, page);
        draw_cells(canvas, picture);
        struct fulcrum_pen paper = fulcrum_palette_rule(FULCRUM_GROUND_PAPER, 2.6);
        struct fulcrum_pen ink = fulcrum_palette_rule(FULCRUM_TONE_INK, 1.1);
        paper.opacity = 0.75;
        ink.dash = FULCRUM_DASH_DOT;
        for (size_t i = 0; i < picture->level_count; i++) {
            if (picture->levels[i].is_ratio) {
                stroke_contour(canvas, &paper, &picture->contours[i]);
                stroke_contour(canvas, &ink, &picture->contours[i]);
                continue;
            }
            const struct fulcrum_pen pen = level_pen(picture, &picture->levels[i]);
            stroke_contour(canvas, &pen, &picture->contours[i]);
        }
        draw_frame(canvas, picture);
        if (has_star(picture)) {
            fulcrum_canvas_star(canvas, best_spot(picture));
        }
        draw_tags(canvas, picture);
        /* Labels that find a place clear of machines and of each other. */
        const struct fulcrum_line_crowd crowd = {
            picture->contours, picture->level_count};
        struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FLAG);
        struct fulcrum_rect taken[TAKEN_MAX + LEVELS_MAX];
        struct fulcrum_label_room room = {
            picture->panel, taken, picture->taken_count, NULL};
        memcpy(taken, picture->taken, sizeof picture->taken);
        for (size_t i = 0; i < picture->level_count; i++) {
            struct fulcrum_extent extent =
                fulcrum_canvas_measure(canvas, &style, picture->levels[i].label);
            extent.width_pt += 2.0 * label_margin_pt;
            struct fulcrum_rect rect;
            if (fulcrum_line_label_find(&crowd, i, &room, extent, &rect)) {
                draw_label(canvas, picture, &picture->levels[i], rect);
                taken[room.taken_count++] = rect;
            }
        }
    }
}

static void draw_heat(
    struct fulcrum_canvas *canvas, struct fulcrum_page *page, const void *data)
{
    struct picture *picture = fulcrum_canvas_room(canvas, 1, sizeof *picture);
    picture->data = data;
    if (read_cells(canvas, picture) != FULCRUM_OK ||
        read_machines(canvas, picture) != FULCRUM_OK) {
        return;
    }
    count_cells(picture);
    if (!(picture->span.lo <= picture->span.hi)) {
        fulcrum_page_draw_empty(canvas, page);
        return;
    }
    /* What is good to have much or little of; the rest is neither. */
    enum { MOST_COUNT = 5 };
    static const char *const metrics[] = {"steps_per_s", "frames_per_s",
        "steps_per_j_gpu", "steps_per_j_system", "speedup", /* the more the better */
        "runtime_s", "runtime_rel", "gpu_j", "system_j"};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        if (strcmp(picture->data->metric, metrics[i]) == 0) {
            picture->is_judged = true;
            picture->goal = i < MOST_COUNT ? FULCRUM_GOAL_MOST : FULCRUM_GOAL_LEAST;
        }
    }
    find_best(picture);
    picture->header = (struct fulcrum_header){
        picture->data->value_name, make_finding(canvas, picture)};
    draw_picture(canvas, page, picture);
    for (size_t i = 0; i < picture->level_count; i++) {
        fulcrum_contour_clear(&picture->contours[i]);
    }
}

const struct fulcrum_chart fulcrum_chart_heat = {.name = "heat",
    .summary = "one metric over two fields, with contours and machines at their values",
    .draw = draw_heat};
