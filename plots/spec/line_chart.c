/* line_chart.c - charts of lines over one axis, as tables of a result's columns. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows are sorted into lines by the columns that tell lines apart, and along each line
 * by x; every panel draws its columns over that. Columns that are the same in all rows
 * are no part of a line's name. Axes follow from the values: doublings where x spans
 * more than a factor of twelve, logarithms where y would drown. Panels are stacked in
 * one cell, or in one for each group of rows.
 */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/string.h"
#include "model/try.h"
#include "plots/chart/page.h"
#include "plots/chart/panel.h"

enum {
    LINES_MAX = 12,
    PUBLISHED_MAX = 8,
    SERIES_MAX = LINES_MAX * FULCRUM_LINE_SERIES_MAX + PUBLISHED_MAX,
    PLACES_MAX = 2 * FULCRUM_LINE_CELLS_MAX,
    NOTES_MAX = 32,
    STYLES_MAX = 9, /* of canvas.h */
    STAR_STYLE = 5,
    GREY_STYLE = 7, /* of any line or reference */
    GUIDES_MAX = 16,
    LANDMARKS_MAX = 16
};

/* What the legend explains, in its order. */
enum slot {
    SLOT_IDEAL,
    SLOT_LINES,
    SLOT_POINTS = SLOT_LINES + LINES_MAX,
    SLOT_COLOURS = SLOT_POINTS + FULCRUM_LINE_SERIES_MAX,
    SLOT_FULL = SLOT_COLOURS + STYLES_MAX,
    SLOT_MARKS,
    SLOT_BARS = SLOT_MARKS + FULCRUM_LINE_MARKS_MAX,
    SLOT_INTERVAL,
    SLOT_IDEAL_BAND,
    SLOT_GUIDES,
    SLOT_PUBLISHED,
    SLOT_SEEN = SLOT_PUBLISHED + PUBLISHED_MAX,
    SLOT_STAR,
    SLOT_LANDMARKS
};

static const double log_x_from_factor = 12.0;
static const char interval_name[] = "90 % interval";
static const double log_y_from_factor = 20.0;
static const double log_relative_from_factor = 5.0;
/* Cells whose largest values differ by more have a scale each. */
static const double shared_scale_factor = 4.0;
static const double cell_gap_pt = 16.0;
/* Below this, ticks and titles leave nothing for the points. */
static const double least_cell_height_pt = 105.0;
/* Names of landmarks get at most this share of the page's height. */
static const double flags_frac = 0.12;
static const double flags_gap_pt = 3.0;

struct line {
    size_t count;
    size_t *rows; /* by x, one group's after another's */
    double *x;
};

/* A panel of one cell, and what it borrows. */
struct place {
    const struct fulcrum_line_panel *from;
    size_t which;      /* of the chart's panels, */
    size_t rank;       /* or of those in a cell of its own, as guides count them */
    const char *group; /* only these rows; NULL: all */
    struct fulcrum_panel panel;
    struct fulcrum_panel_series series[SERIES_MAX];
    struct fulcrum_panel_note notes[NOTES_MAX];
    double guides[GUIDES_MAX];
    /* Ends of the line that values are compared with. */
    struct fulcrum_panel_point ideal[2];
};

struct cell {
    const char *group; /* NULL: there is one for all rows */
    size_t first;      /* of its places */
    size_t count;
    struct fulcrum_stack stack;
};

/* A machine that people know. */
struct landmark {
    double x;         /* first, as they are sorted by it */
    const char *text; /* name and x, which need not be read off the axis */
};

/* One panel over all cells: whether some cell has it, and how far it goes. */
struct reach {
    bool is_known;
    struct fulcrum_limits values;
    struct fulcrum_limits largest; /* of the cells */
};

struct picture {
    struct fulcrum_canvas *canvas;
    struct fulcrum_page *page;
    const struct fulcrum_line_chart *chart;
    const struct fulcrum_table *table;
    const struct fulcrum_line_key *x;
    const char *x_name;                /* what it counts, in sentences */
    bool tells[FULCRUM_LINE_KEYS_MAX]; /* which of the chart's keys are in names */
    size_t line_count;
    const char *names[LINES_MAX];
    struct line lines[LINES_MAX];
    size_t group_count;
    const char *groups[FULCRUM_LINE_CELLS_MAX];
    size_t cell_count;
    struct cell cells[FULCRUM_LINE_CELLS_MAX];
    struct place places[PLACES_MAX];         /* cell by cell */
    struct fulcrum_panel panels[PLACES_MAX]; /* of those that are drawn */
    struct fulcrum_limits x_reach;
    struct reach reaches[FULCRUM_LINE_PANELS_MAX];
    const struct fulcrum_result *result;
    const struct fulcrum_table *published;
    double relative_x;
    size_t published_count;
    const char *published_names[PUBLISHED_MAX];
    struct fulcrum_panel_top top;
    struct landmark landmarks[LANDMARKS_MAX]; /* by x, those within the chart */
    struct fulcrum_flag_post posts[LANDMARKS_MAX];
    size_t landmark_count;
    double guides[LANDMARKS_MAX];
};

/* What the result says in place of a text of the table. */
static const char *said(
    const struct picture *picture, const char *key, const char *otherwise)
{
    const char *text = fulcrum_result_text_of(
        picture->result, fulcrum_canvas_print(picture->canvas, "label/%s", key));
    return text[0] != '\0' ? text : otherwise;
}

/* A part of the legend, at its place there. */
static void learn(struct picture *picture, size_t slot, enum fulcrum_swatch swatch,
    size_t style, const char *label)
{
    fulcrum_page_explain(picture->page, slot, swatch, style, label);
}

/* "; TEXT" in the footnote. */
static void add_footnote(struct picture *picture, const char *text)
{
    fulcrum_page_note(picture->canvas, picture->page, "", text);
}

static bool varies(const struct fulcrum_table *table, const char *column)
{
    struct fulcrum_cell first = fulcrum_table_at(table, 0, column);
    for (size_t i = 1; i < fulcrum_table_rows(table); i++) {
        struct fulcrum_cell cell = fulcrum_table_at(table, i, column);
        bool is_same =
            cell.number == first.number || (isnan(cell.number) && isnan(first.number));
        if (cell.text != NULL && first.text != NULL) {
            is_same = strcmp(cell.text, first.text) == 0;
        }
        if (!is_same) {
            return true;
        }
    }
    return false;
}

/* The first that varies, else the first there is. */
static const struct fulcrum_line_key *find_x(
    const struct fulcrum_line_chart *chart, const struct fulcrum_table *table)
{
    const struct fulcrum_line_key *found = NULL;
    for (size_t i = 0; i < FULCRUM_LINE_KEYS_MAX && chart->x[i].column != NULL; i++) {
        const struct fulcrum_line_key *key = &chart->x[i];
        if (varies(table, key->column)) {
            return key;
        }
        bool is_there =
            fulcrum_table_find(table, key->column) < fulcrum_table_columns(table);
        found = found == NULL && is_there ? key : found;
    }
    return found != NULL ? found : &chart->x[0];
}

static const enum fulcrum_series_look series_looks[] = {
    [FULCRUM_LINE_MARKED] = FULCRUM_LOOK_LINE,
    [FULCRUM_LINE_JOINED] = FULCRUM_LOOK_LINE,
    [FULCRUM_LINE_SMOOTH] = FULCRUM_LOOK_CURVE,
    [FULCRUM_LINE_BROKEN] = FULCRUM_LOOK_CURVE,
    [FULCRUM_LINE_STEPS_BEFORE] = FULCRUM_LOOK_CURVE,
    [FULCRUM_LINE_STEPS_AFTER] = FULCRUM_LOOK_CURVE,
    [FULCRUM_LINE_POINTS] = FULCRUM_LOOK_MARKERS,
    [FULCRUM_LINE_BARS] = FULCRUM_LOOK_POINTS,
};

static bool is_joined(enum fulcrum_line_look look)
{
    return look != FULCRUM_LINE_POINTS && look != FULCRUM_LINE_BARS;
}

static bool has_markers(enum fulcrum_line_look look)
{
    return series_looks[look] != FULCRUM_LOOK_CURVE;
}

/* "dgx-1, 2 learners": what tells the row's line from others. */
static const char *line_name(const struct picture *picture, size_t row)
{
    const struct fulcrum_line_key *keys = picture->chart->lines;
    const char *name = "";
    for (size_t k = 0; k < FULCRUM_LINE_KEYS_MAX && keys[k].column != NULL; k++) {
        struct fulcrum_cell cell =
            fulcrum_table_at(picture->table, row, keys[k].column);
        const char *text = cell.text;
        if (text == NULL && isfinite(cell.number)) {
            text = fulcrum_canvas_print(picture->canvas, "%.6g %s", cell.number,
                keys[k].words != NULL ? keys[k].words : "");
        }
        if (picture->tells[k]) {
            name = fulcrum_canvas_join(picture->canvas, name, ", ", text);
        }
    }
    return name;
}

struct spot_row {
    double x;
    size_t row;
    size_t line;
    const char *group; /* "": there are none */
};

/* 0 where both are of one line and group. */
static int compare_owners(const struct spot_row *left, const struct spot_row *right)
{
    return left->line != right->line ? (left->line < right->line ? -1 : 1)
                                     : strcmp(left->group, right->group);
}

static int compare_spots(const void *a, const void *b)
{
    const struct spot_row *left = a;
    const struct spot_row *right = b;
    int order = compare_owners(left, right);
    order = order != 0 ? order : (left->x > right->x) - (left->x < right->x);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

/* What tells the row's panel; "" where nothing does. */
static const char *group_of(const struct picture *picture, size_t row)
{
    return fulcrum_chart_words(picture->table, row, picture->chart->group_column);
}

/* Which row belongs to which line, sorted; `spots` has room for every row. */
static size_t find_spots(struct picture *picture, struct spot_row *spots)
{
    size_t count = 0;
    for (size_t i = 0; i < fulcrum_table_rows(picture->table); i++) {
        double x = fulcrum_table_at(picture->table, i, picture->x->column).number;
        size_t line = LINES_MAX;
        if (isfinite(x)) {
            line = fulcrum_chart_index(
                picture->names, &picture->line_count, LINES_MAX, line_name(picture, i));
        }
        if (line < LINES_MAX) {
            spots[count++] = (struct spot_row){x, i, line, group_of(picture, i)};
        }
    }
    qsort(spots, count, sizeof *spots, compare_spots);
    return count;
}

/* Every column that panels show, and what lines go over. */
static enum fulcrum_status check_columns(const struct fulcrum_line_chart *chart,
    const struct fulcrum_table *table, const struct fulcrum_line_key *x,
    struct fulcrum_error *err)
{
    FAIL_IF(fulcrum_table_find(table, x->column) == fulcrum_table_columns(table), err,
        FULCRUM_ERR_FORMAT, "no column '%s', which the chart needs", x->column);
    TRY(fulcrum_table_check_numbers(table, x->column, err));
    for (size_t i = 0; i < fulcrum_table_rows(table) && x->least > 0.0; i++) {
        double value = fulcrum_table_at(table, i, x->column).number;
        char text[32] = " is not given";
        if (!isnan(value)) {
            (void)snprintf(text, sizeof text, " = %.6g", value);
        }
        FAIL_IF(!(value >= x->least), err, FULCRUM_ERR_FORMAT,
            "row %zu: %s%s: expected a number from %g", i + 1, x->column, text,
            x->least);
    }
    for (size_t i = 0; i < FULCRUM_LINE_PANELS_MAX; i++) {
        for (size_t k = 0; k < FULCRUM_LINE_SERIES_MAX; k++) {
            const char *y = chart->panels[i].series[k].y;
            TRY(y != NULL ? fulcrum_table_check_numbers(table, y, err) : FULCRUM_OK);
        }
    }
    return FULCRUM_OK;
}

/* Whether cells follow from the rows, as their panels are of no group. */
static bool has_free_cells(const struct fulcrum_line_chart *chart)
{
    return chart->has_cells && chart->panels[0].group == NULL;
}

/* One for each group, of the panels or of the rows. */
static void find_cells(struct picture *picture)
{
    const struct fulcrum_line_chart *chart = picture->chart;
    size_t rows = has_free_cells(chart) ? fulcrum_table_rows(picture->table) : 0;
    for (size_t i = 0; i < FULCRUM_LINE_PANELS_MAX + rows; i++) {
        const char *group = i < FULCRUM_LINE_PANELS_MAX
                                ? chart->panels[i].group
                                : group_of(picture, i - FULCRUM_LINE_PANELS_MAX);
        if (group != NULL && chart->has_cells) {
            (void)fulcrum_chart_index(
                picture->groups, &picture->group_count, FULCRUM_LINE_CELLS_MAX, group);
        }
    }
    picture->cell_count = chart->has_cells ? picture->group_count : 1;
    for (size_t i = 0; i < picture->cell_count; i++) {
        picture->cells[i].group = picture->groups[i];
    }
}

/* The lines of the picture with the rows of each, none where there are no rows. */
static enum fulcrum_status take_lines(struct picture *picture)
{
    struct fulcrum_error *err = fulcrum_canvas_failure(picture->canvas);
    size_t rows = fulcrum_table_rows(picture->table);
    struct spot_row *spots = fulcrum_canvas_room(picture->canvas, rows, sizeof *spots);
    size_t *order = fulcrum_canvas_room(picture->canvas, rows, sizeof *order);
    double *x = fulcrum_canvas_room(picture->canvas, rows, sizeof *x);
    TRY(rows > 0 ? check_columns(picture->chart, picture->table, picture->x, err)
                 : FULCRUM_OK);
    size_t count = find_spots(picture, spots);
    bool is_sweep = picture->chart->panels[0].series[0].look == FULCRUM_LINE_MARKED;
    size_t cells = count > 0 ? 1 : 0; /* of charts that have one line in each */
    for (size_t i = 1; i < count; i++) {
        bool is_next = compare_owners(&spots[i], &spots[i - 1]) == 0;
        cells += is_next ? 0 : 1;
        FAIL_IF(is_sweep && is_next && !(spots[i].x > spots[i - 1].x), err,
            FULCRUM_ERR_FORMAT,
            "two points at %s = %.6g: a chart takes a sweep over one field",
            picture->x->column, spots[i].x);
    }
    FAIL_IF(picture->line_count == LINES_MAX, err, FULCRUM_ERR_RANGE,
        "more than %d lines: too many for a chart", (int)LINES_MAX - 1);
    FAIL_IF(has_free_cells(picture->chart) && cells > FULCRUM_LINE_CELLS_MAX, err,
        FULCRUM_ERR_RANGE, "%zu %s: a chart holds at most %d", cells,
        picture->chart->cell_name, (int)FULCRUM_LINE_CELLS_MAX);
    for (size_t i = 0; i < count; i++) {
        struct line *line = &picture->lines[spots[i].line];
        order[i] = spots[i].row;
        x[i] = spots[i].x;
        line->rows = line->count == 0 ? &order[i] : line->rows;
        line->x = line->count == 0 ? &x[i] : line->x;
        line->count++;
    }
    return FULCRUM_OK;
}

/* What people give times in, by the least of them. */
static double time_unit(const struct picture *picture,
    const struct fulcrum_line_panel *panel, const char *y, const char **name)
{
    static const struct {
        double longest_s;
        double unit_s;
        const char *name;
    } units[] = {{300.0, 1.0, "s"}, {300.0 * 60.0, 60.0, "minutes"},
        {200.0 * 3600.0, 3600.0, "hours"}, {INFINITY, 86400.0, "days"}};
    double least = (double)INFINITY;
    *name = NULL;
    if (picture->chart->is_log || panel->y_axis != NULL ||
        strcmp(fulcrum_unit_of(y), "s") != 0) {
        return 1.0;
    }
    for (size_t i = 0; i < fulcrum_table_rows(picture->table); i++) {
        least = fmin(least, fulcrum_table_at(picture->table, i, y).number);
    }
    size_t i = 0;
    while (isfinite(least) && least > units[i].longest_s) {
        i++;
    }
    *name = units[i].name;
    return units[i].unit_s;
}

/* A line's values in one panel. */
struct values {
    struct fulcrum_panel_point *points;
    size_t count;
    bool has_ends; /* intervals along y, */
    bool has_bars; /* and along x, are drawn */
    bool is_known; /* one of them at least */
    bool has_interval;
    bool has_full; /* a point that is not grey */
};

/* What the row says of its point; a point that is not known has no mark. */
static void take_marks(
    struct picture *picture, struct values *values, size_t row, bool is_known)
{
    struct fulcrum_panel_point *point = &values->points[values->count - 1];
    bool is_marked = false;
    for (size_t k = 0; k < FULCRUM_LINE_MARKS_MAX; k++) {
        const struct fulcrum_line_mark *mark = &picture->chart->marks[k];
        bool is_set = mark->column != NULL &&
                      strcmp(fulcrum_chart_words(picture->table, row, mark->column),
                          mark->text) == 0;
        *(mark->is_disturbed ? &point->is_disturbed : &point->is_hollow) |= is_set;
        is_marked |= is_set;
        if (is_set && is_known) {
            learn(picture, SLOT_MARKS + k,
                mark->is_disturbed ? FULCRUM_SWATCH_DISTURBED : FULCRUM_SWATCH_HOLLOW,
                picture->chart->mark_style, said(picture, mark->text, mark->name));
        }
    }
    if (is_known && !is_marked) {
        learn(picture, SLOT_FULL, FULCRUM_SWATCH_MARKER, picture->chart->mark_style,
            picture->chart->full_name);
    }
    values->has_full = values->has_full || (is_known && !point->is_disturbed);
}

static void take_value(struct values *values, const struct fulcrum_cell *x,
    const struct fulcrum_cell *cell)
{
    double none = FULCRUM_UNKNOWN;
    values->points[values->count++] = (struct fulcrum_panel_point){.x = x->number,
        .y = cell->number,
        .lo = values->has_ends ? cell->lo : none,
        .hi = values->has_ends ? cell->hi : none,
        .x_lo = values->has_bars ? x->lo : none,
        .x_hi = values->has_bars ? x->hi : none};
    values->is_known |= isfinite(cell->number);
    values->has_interval |= values->has_ends && cell->hi > cell->lo;
}

/* A text beside a mark; two references that say the same say it once. */
static void add_note(struct place *place, struct fulcrum_spot spot, const char *text)
{
    struct fulcrum_panel *panel = &place->panel;
    for (size_t i = 0; i < panel->note_count; i++) {
        if (fabs(place->notes[i].spot.x - spot.x) <= 1e-9 * fabs(spot.x) &&
            strcmp(place->notes[i].text, text) == 0) {
            return;
        }
    }
    if (panel->note_count < NOTES_MAX && text[0] != '\0') {
        struct fulcrum_panel_note *note = &place->notes[panel->note_count++];
        note->spot = spot;
        (void)snprintf(note->text, sizeof note->text, "%.47s", text);
    }
}

/* For qsort: along the chart, as what is written first finds a place more easily. */
static int compare_notes(const void *a, const void *b)
{
    const struct fulcrum_spot *left = &((const struct fulcrum_panel_note *)a)->spot;
    const struct fulcrum_spot *right = &((const struct fulcrum_panel_note *)b)->spot;
    int order = (left->x > right->x) - (left->x < right->x);
    return order != 0 ? order : (left->y > right->y) - (left->y < right->y);
}

/* Values that are not known are gaps in a line, but nothing between points. */
static void take_values(struct picture *picture, struct values *values,
    struct place *place, const struct line *line,
    const struct fulcrum_line_series *from)
{
    const char *unit = NULL;
    double scale = time_unit(picture, place->from, from->y, &unit);
    for (size_t i = 0; i < line->count; i++) {
        size_t row = line->rows[i];
        struct fulcrum_cell cell = fulcrum_table_at(picture->table, row, from->y);
        struct fulcrum_cell x =
            fulcrum_table_at(picture->table, row, picture->x->column);
        bool is_known = isfinite(cell.number);
        if (!(place->group == NULL ||
                strcmp(group_of(picture, row), place->group) == 0) ||
            !(is_known || (from->look == FULCRUM_LINE_MARKED ||
                              from->look == FULCRUM_LINE_BROKEN))) {
            continue;
        }
        cell = (struct fulcrum_cell){
            cell.number / scale, cell.lo / scale, cell.hi / scale, NULL};
        take_value(values, &x, &cell);
        if (has_markers(from->look)) {
            take_marks(picture, values, row, is_known);
        }
        add_note(place, (struct fulcrum_spot){x.number, cell.number},
            fulcrum_chart_words(picture->table, row, picture->chart->note_column));
    }
}

/* Corners between points; `values` are twice as many afterwards, less one. */
static void make_steps(struct values *values, bool is_before)
{
    struct fulcrum_panel_point *points = values->points;
    size_t count = values->count;
    for (size_t i = count; i-- > 0;) {
        struct fulcrum_panel_point corner = points[i];
        points[2 * i] = corner;
        if (i > 0) {
            corner.x = is_before ? points[i - 1].x : corner.x;
            corner.y = is_before ? corner.y : points[i - 1].y;
            points[2 * i - 1] = corner;
        }
    }
    values->count = count > 0 ? 2 * count - 1 : 0;
}

/* No line is drawn as marks are that have no entry in the legend. */
static size_t line_style(const struct picture *picture, size_t line)
{
    return picture->chart->names_marks && line >= STAR_STYLE ? line + 1 : line;
}

/* What the legend is to say of a series that is drawn. */
static void learn_series(struct picture *picture, size_t line,
    const struct fulcrum_line_series *from, const struct values *values)
{
    bool has_own = from->colour > 0;
    bool joins = is_joined(from->look);
    bool is_named = from->look == FULCRUM_LINE_POINTS && from->label != NULL;
    bool has_marks = has_markers(from->look) && (has_own || !is_named);
    enum fulcrum_swatch swatch =
        has_marks ? FULCRUM_SWATCH_LINE_AND_MARKER : FULCRUM_SWATCH_LINE;
    swatch = joins ? swatch : FULCRUM_SWATCH_MARKER;
    if (has_own && (joins || values->has_full)) {
        learn(picture, SLOT_COLOURS + from->colour - 1, swatch, from->colour - 1,
            said(picture, from->y, from->label));
    } else if (!has_own && (joins || has_marks)) {
        learn(picture, SLOT_LINES + line, swatch, line_style(picture, line),
            picture->names[line][0] != '\0' ? picture->names[line] : "predicted");
    }
}

/* A line's values of one column; no series where there is no value. */
static void add_series(struct picture *picture, struct place *place,
    const struct line *line, const struct fulcrum_line_series *from)
{
    bool is_stair = from->look == FULCRUM_LINE_STEPS_BEFORE ||
                    from->look == FULCRUM_LINE_STEPS_AFTER;
    /* Bands of many lines would hide each other. */
    bool has_bands = picture->line_count == 1 || picture->chart->has_bands;
    bool has_bars = from->look == FULCRUM_LINE_BARS;
    struct values values = {
        .points = fulcrum_canvas_room(
            picture->canvas, (is_stair ? 2 : 1) * line->count, sizeof *values.points),
        .has_ends = has_bars || (has_bands && !is_stair),
        .has_bars = has_bars};
    take_values(picture, &values, place, line, from);
    if (!values.is_known) {
        return;
    }
    if (is_stair) {
        make_steps(&values, from->look == FULCRUM_LINE_STEPS_BEFORE);
    }
    size_t index = (size_t)(line - picture->lines);
    place->series[place->panel.series_count++] =
        (struct fulcrum_panel_series){.points = values.points,
            .count = values.count,
            .style = from->colour > 0 ? from->colour - 1 : line_style(picture, index),
            .look = series_looks[from->look]};
    learn_series(picture, index, from, &values);
    /* Intervals of differences are those of the values that differ. */
    if (values.has_interval && has_bars && !place->from->is_difference) {
        const char *name = picture->chart->bars_name;
        learn(picture, SLOT_BARS, FULCRUM_SWATCH_INTERVAL, picture->chart->mark_style,
            said(picture, "bars", name != NULL ? name : interval_name));
    } else if (values.has_interval && !has_bars) {
        learn(picture, SLOT_INTERVAL, FULCRUM_SWATCH_BAND,
            picture->line_count > 1 ? GREY_STYLE : 0, interval_name);
        add_footnote(picture, picture->chart->interval_footnote);
    }
}

/* Of one line alone: of several there are too many for one sentence. */
static void find_best(struct picture *picture, struct place *place)
{
    const struct fulcrum_line_panel *from = place->from;
    struct fulcrum_panel *panel = &place->panel;
    bool is_judged = picture->chart->best_name != NULL && !from->is_unjudged;
    if (picture->line_count != 1 || !is_judged || panel->series_count == 0) {
        return;
    }
    struct fulcrum_best best =
        fulcrum_best_find(place->series[0].points, place->series[0].count, from->goal);
    if (best.shape == FULCRUM_BEST_NONE) {
        return;
    }
    const char *subject = panel->series_count > 1 ? from->series[0].label : NULL;
    char sentence[128];
    fulcrum_best_sentence(sentence, sizeof sentence, &best, picture->x_name);
    panel->finding = fulcrum_canvas_print(picture->canvas, "%s%s%s",
        subject != NULL ? subject : "", subject != NULL ? ": " : "", sentence);
    /* A best value at an end of the chart gets no star. */
    if (best.shape == FULCRUM_BEST_PEAK || best.shape == FULCRUM_BEST_PLATEAU) {
        panel->best.spot = (struct fulcrum_spot){best.x, best.y};
        (void)snprintf(panel->best.text, sizeof panel->best.text, "%s",
            fulcrum_si_text(best.y, 3, NULL).chars);
        learn(picture, SLOT_STAR, FULCRUM_SWATCH_STAR, 0, picture->chart->best_name);
    }
}

struct span {
    struct fulcrum_limits x;
    struct fulcrum_limits y;
};

/* Of all points, whatever their intervals. */
static struct span span_of(const struct fulcrum_panel *panel)
{
    struct span span = {fulcrum_limits_none(), fulcrum_limits_none()};
    for (size_t i = 0; i < panel->series_count; i++) {
        for (size_t k = 0; k < panel->series[i].count; k++) {
            fulcrum_limits_add(&span.x, panel->series[i].points[k].x);
            fulcrum_limits_add(&span.y, panel->series[i].points[k].y);
        }
    }
    return span;
}

/* What is written beside a published point. */
static void note_point(const struct picture *picture, struct place *place,
    struct fulcrum_spot spot, const char *name)
{
    const char *unit = place->from->note_unit;
    if (picture->chart->names_marks) {
        add_note(place, spot, name);
    } else if (unit != NULL) {
        add_note(place, spot,
            fulcrum_canvas_print(
                picture->canvas, "%s%s", fulcrum_si_text(spot.y, 3, NULL).chars, unit));
    }
}

/* Points of references. Bars show how far rounding lets them be off. */
static void add_published(struct picture *picture, struct place *place)
{
    const struct fulcrum_table *table = picture->published;
    bool has_stars = picture->chart->names_marks;
    struct values values[PUBLISHED_MAX];
    size_t rows = fulcrum_table_rows(table);
    struct fulcrum_panel_point *points =
        fulcrum_canvas_room(picture->canvas, PUBLISHED_MAX * rows, sizeof *points);
    for (size_t k = 0; k < PUBLISHED_MAX; k++) {
        values[k] = (struct values){.points = points + k * rows, .has_ends = true};
    }
    for (size_t i = 0; i < rows; i++) {
        const char *name = fulcrum_chart_words(table, i, "name");
        size_t index = fulcrum_chart_index(
            picture->published_names, &picture->published_count, PUBLISHED_MAX, name);
        if (index < PUBLISHED_MAX &&
            fulcrum_table_at(table, i, "panel").number == (double)place->which) {
            /* A row of a reference that belongs to the panel. */
            struct fulcrum_cell x = fulcrum_table_at(table, i, "x");
            struct fulcrum_cell value = fulcrum_table_at(table, i, "value");
            take_value(&values[index], &x, &value);
            if (fulcrum_table_at(table, i, "is_fitted").number > 0.0) {
                values[index].points[values[index].count - 1].is_hollow = true;
                learn(picture, SLOT_SEEN, FULCRUM_SWATCH_HOLLOW, GREY_STYLE,
                    "hollow: the fit has seen it");
            }
            note_point(
                picture, place, (struct fulcrum_spot){x.number, value.number}, name);
        }
    }
    for (size_t i = 0; i < picture->published_count; i++) {
        /* Colours that stand out from the curve's come first. */
        static const size_t styles[PUBLISHED_MAX] = {1, 3, 4, 2, 5, 6, 8, 7};
        size_t style = has_stars ? STAR_STYLE : styles[i];
        learn(picture, SLOT_PUBLISHED + i, FULCRUM_SWATCH_MARKER, style,
            has_stars ? NULL : picture->published_names[i]);
        if (values[i].count > 0) {
            place->series[place->panel.series_count++] = (struct fulcrum_panel_series){
                values[i].points, values[i].count, style, FULCRUM_LOOK_POINTS};
        }
    }
}

/* Where a value of the second scale lies on the x axis: both go by logarithms, nearly.
 */
static double x_of_top(const struct picture *picture, const double *tops, double value)
{
    const struct line *line = &picture->lines[0];
    for (size_t i = 1; i < line->count; i++) {
        double from = tops[i - 1];
        double to = tops[i];
        if ((value - from) * (value - to) <= 0.0) {
            double share = log(value / from) / log(to / from);
            return line->x[i - 1] * pow(line->x[i] / line->x[i - 1], share);
        }
    }
    return FULCRUM_UNKNOWN;
}

/* A second scale needs values that rise, or fall, all along. */
static bool is_in_order(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        /* Written so that NAN fails. */
        if (!(values[i] > 0.0) ||
            (i > 0 && !((values[i] - values[i - 1]) * (values[1] - values[0]) > 0.0))) {
            return false;
        }
    }
    return count >= 2;
}

/* Round values of the second scale at the places along x where they are reached. */
static void find_top(struct picture *picture)
{
    const struct line *line = &picture->lines[0];
    const char *column = picture->chart->top_column;
    if (column == NULL || picture->line_count != 1 || !(line->x[0] > 0.0)) {
        return;
    }
    double *tops = fulcrum_canvas_room(picture->canvas, line->count, sizeof *tops);
    struct fulcrum_limits span = fulcrum_limits_none();
    struct fulcrum_axis axis;
    for (size_t i = 0; i < line->count; i++) {
        tops[i] = fulcrum_table_at(picture->table, line->rows[i], column).number;
    }
    if (!is_in_order(tops, line->count)) {
        return;
    }
    fulcrum_limits_add_all(&span, tops, line->count);
    const struct fulcrum_axis_options options = {
        .kind = picture->panels[0].x_options.kind, .ticks_wanted = 8.0};
    fulcrum_axis_fit(&axis, &span, &options);
    for (size_t i = 0; i < axis.tick_count; i++) {
        struct fulcrum_tick tick = axis.ticks[i];
        tick.value = x_of_top(picture, tops, tick.value);
        if (picture->top.tick_count < FULCRUM_TOP_TICKS_MAX && isfinite(tick.value) &&
            tick.label[0] != '\0') {
            picture->top.ticks[picture->top.tick_count++] = tick;
        }
    }
    picture->top.label = picture->chart->top_label;
    picture->panels[0].top = &picture->top;
    picture->panels[0].strip_pt = fulcrum_axis_height_pt(picture->canvas, true);
}

/* Counts of 1..16 read well on a ruler; 1..512, and doublings, do not. */
static enum fulcrum_axis_kind x_kind(
    const struct picture *picture, const struct fulcrum_panel *panel)
{
    struct fulcrum_limits x = span_of(panel).x;
    bool is_ratio = strstr(picture->x->column, "ratio") != NULL;
    bool doubles = x.lo > 0.0 && x.hi >= 4.0 * x.lo;
    for (size_t i = 0; i < panel->series_count; i++) {
        for (size_t k = 0; k < panel->series[i].count; k++) {
            int exponent = 0;
            doubles = doubles && frexp(panel->series[i].points[k].x, &exponent) == 0.5;
        }
    }
    if (x.lo > 0.0 && is_ratio) {
        return FULCRUM_AXIS_LOG;
    }
    return doubles || (x.lo > 0.0 && x.hi >= log_x_from_factor * x.lo)
               ? FULCRUM_AXIS_LOG2
               : FULCRUM_AXIS_LINEAR;
}

/* What values are compared with lies behind them: y = x or, of differences, 0. */
static void add_ideal(const struct picture *picture, struct place *place)
{
    const struct fulcrum_line_chart *chart = picture->chart;
    struct fulcrum_panel *panel = &place->panel;
    bool is_zero = place->from->is_difference;
    bool has_band = chart->ideal_frac > 0.0;
    struct span span = span_of(panel);
    if (panel->series_count == 0 || !(is_zero || chart->ideal_name != NULL)) {
        return;
    }
    if (!is_zero && has_band) {
        fulcrum_limits_add(&span.x, span.y.lo);
        fulcrum_limits_add(&span.x, span.y.hi);
    } else if (!is_zero) {
        panel->y_options.kind = panel->x_options.kind;
    }
    for (size_t i = 0; i < 2; i++) {
        double x = i == 0 ? span.x.lo : span.x.hi;
        double y = is_zero ? 0.0 : x;
        double half =
            has_band ? chart->ideal_frac * (is_zero ? 100.0 : y) : FULCRUM_UNKNOWN;
        place->ideal[i] = (struct fulcrum_panel_point){
            x, y, y - half, y + half, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, false, false};
    }
    memmove(&place->series[1], &place->series[0],
        panel->series_count++ * sizeof place->series[0]);
    place->series[0] =
        (struct fulcrum_panel_series){place->ideal, 2, GREY_STYLE, FULCRUM_LOOK_CURVE};
}

/* Thin vertical lines, and what there is to say of them. */
static void add_guides(struct picture *picture, struct place *place)
{
    struct fulcrum_panel *panel = &place->panel;
    const struct fulcrum_table *guides =
        fulcrum_result_table_of(picture->result, "guides");
    for (size_t i = 0; i < fulcrum_table_rows(guides) && panel->series_count > 0; i++) {
        const char *text = fulcrum_chart_words(guides, i, "text");
        const char *group = fulcrum_chart_words(guides, i, "group");
        double x = fulcrum_table_at(guides, i, "x").number;
        if (fulcrum_table_at(guides, i, "panel").number != (double)place->rank ||
            (group[0] != '\0' && place->group != NULL &&
                strcmp(group, place->group) != 0)) {
            continue;
        }
        if (isfinite(x) && panel->guide_count < GUIDES_MAX) {
            place->guides[panel->guide_count++] = x;
            learn(picture, SLOT_GUIDES, FULCRUM_SWATCH_GUIDE, 0,
                picture->chart->guide_name);
        }
        if (text[0] != '\0') {
            bool is_first = panel->finding == place->from->finding;
            panel->finding = fulcrum_canvas_join(
                picture->canvas, is_first ? "" : panel->finding, ", ", text);
        }
    }
    panel->guides = place->guides;
}

/* NULL: none. */
static const char *title_of(const struct picture *picture, const struct place *place)
{
    const struct fulcrum_line_panel *from = place->from;
    const char *title =
        place->which == 0 ? said(picture, "y", from->title) : from->title;
    const char *unit = NULL;
    (void)time_unit(picture, from, from->series[0].y, &unit);
    if (from->is_relative && isfinite(picture->relative_x)) {
        return fulcrum_canvas_print(picture->canvas, "%s %s %s", from->title,
            fulcrum_plain_text(picture->relative_x).chars, picture->x_name);
    }
    if (has_free_cells(picture->chart) && from->title[0] != '\0') {
        return fulcrum_canvas_print(
            picture->canvas, "%s, %s", place->group, from->title);
    }
    if (unit != NULL) {
        return fulcrum_canvas_print(picture->canvas, "%s, %s", title, unit);
    }
    return title[0] != '\0' ? title : NULL;
}

static void choose_axes(const struct picture *picture, struct place *place)
{
    const struct fulcrum_line_chart *chart = picture->chart;
    const struct fulcrum_line_panel *from = place->from;
    struct fulcrum_panel *panel = &place->panel;
    const char *unit = fulcrum_unit_of(from->series[0].y);
    struct fulcrum_limits y = span_of(panel).y;
    double far = from->is_relative ? log_relative_from_factor : log_y_from_factor;
    bool is_far = y.lo > 0.0 && y.hi >= far * y.lo;
    bool is_falling = from->goal == FULCRUM_GOAL_LEAST || picture->line_count > 1;
    panel->x_options = (struct fulcrum_axis_options){.pad_frac = 0.03,
        .kind = chart->is_log ? FULCRUM_AXIS_LOG2 : x_kind(picture, panel)};
    panel->y_options =
        (struct fulcrum_axis_options){.pad_frac = chart->is_close_up ? 0.05 : 0.12,
            .from_zero = !chart->is_close_up,
            .unit = chart->is_log && strcmp(unit, "s") == 0 ? unit : NULL,
            .kind = chart->is_log || (is_far && is_falling) ? FULCRUM_AXIS_LOG
                                                            : FULCRUM_AXIS_AUTO};
    panel->x_options = from->x_axis != NULL ? *from->x_axis : panel->x_options;
    panel->y_options = from->y_axis != NULL ? *from->y_axis : panel->y_options;
}

static void find_place(struct picture *picture, struct place *place)
{
    const struct fulcrum_line_panel *from = place->from;
    struct fulcrum_panel *panel = &place->panel;
    *panel = (struct fulcrum_panel){.title = title_of(picture, place),
        .series = place->series,
        .finding = from->finding,
        .empty_text = from->empty_text,
        .notes = place->notes,
        .weight = from->weight > 0.0 ? from->weight : 1.0};
    panel->weight = place->which == 0 && from->weight == 0.0 ? 1.2 : panel->weight;
    for (size_t k = 0; k < FULCRUM_LINE_SERIES_MAX; k++) {
        for (size_t i = 0; i < picture->line_count && from->series[k].y != NULL; i++) {
            add_series(picture, place, &picture->lines[i], &from->series[k]);
        }
    }
    qsort(place->notes, panel->note_count, sizeof place->notes[0], compare_notes);
    choose_axes(picture, place);
    find_best(picture, place);
    add_ideal(picture, place);
    add_guides(picture, place);
    if (panel->series_count > 0) {
        add_published(picture, place);
    }
}

/* Whether the cell has that panel of the chart; `place` is the next one. */
static bool begin_place(const struct picture *picture, const struct cell *cell,
    size_t which, struct place *place)
{
    const struct fulcrum_line_panel *from = &picture->chart->panels[which];
    bool is_of_cell = cell->group == NULL || from->group == NULL ||
                      strcmp(from->group, cell->group) == 0;
    bool is_spare =
        from->is_stand_in && cell->count > 0 && (place - 1)->panel.series_count > 0;
    if (from->title == NULL || !is_of_cell || is_spare) {
        return false;
    }
    place->from = from;
    place->which = which;
    place->rank = picture->chart->has_cells ? cell->count : which;
    place->group = cell->group != NULL ? cell->group : from->group;
    return true;
}

/* The panels of every cell, whether they have a value or not. */
static void find_places(struct picture *picture)
{
    size_t count = 0;
    for (size_t c = 0; c < picture->cell_count; c++) {
        struct cell *cell = &picture->cells[c];
        cell->first = count;
        cell->count = 0;
        for (size_t p = 0; p < FULCRUM_LINE_PANELS_MAX && count < PLACES_MAX; p++) {
            if (begin_place(picture, cell, p, &picture->places[count])) {
                find_place(picture, &picture->places[count++]);
                cell->count++;
            }
        }
    }
}

static void add_reach(
    struct picture *picture, const struct place *place, struct reach *reach)
{
    struct span span = span_of(&place->panel);
    for (size_t k = 0; k < place->panel.series_count; k++) {
        const struct fulcrum_panel_series *series = &place->series[k];
        for (size_t i = 0; i < series->count; i++) {
            fulcrum_limits_add(&reach->values, series->points[i].lo);
            fulcrum_limits_add(&reach->values, series->points[i].hi);
        }
    }
    fulcrum_limits_add(&picture->x_reach, span.x.lo);
    fulcrum_limits_add(&picture->x_reach, span.x.hi);
    fulcrum_limits_add(&reach->values, span.y.lo);
    fulcrum_limits_add(&reach->values, span.y.hi);
    fulcrum_limits_add(&reach->largest, span.y.hi);
    reach->is_known = true;
}

static struct reach reach_of(struct picture *picture, size_t which)
{
    struct reach reach = {false, fulcrum_limits_none(), fulcrum_limits_none()};
    for (size_t c = 0; c < picture->cell_count; c++) {
        for (size_t i = 0; i < picture->cells[c].count; i++) {
            const struct place *place = &picture->places[picture->cells[c].first + i];
            if (place->which == which && !fulcrum_panel_is_empty(&place->panel)) {
                add_reach(picture, place, &reach);
            }
        }
    }
    return reach;
}

/*
 * Cells of what the rows say have scales that can be compared, unless small values
 * would drown in them. A panel that some cell has stays where another has nothing.
 */
static void share_scales(struct picture *picture, struct place *place)
{
    const struct reach *reach = &picture->reaches[place->which];
    bool is_alike = reach->largest.lo > 0.0 &&
                    reach->largest.hi <= shared_scale_factor * reach->largest.lo;
    place->panel.x_reach = &picture->x_reach;
    place->panel.y_reach =
        place->from->is_difference || is_alike ? &reach->values : NULL;
    if (place->from->is_difference) {
        place->ideal[0].x = picture->x_reach.lo;
        place->ideal[1].x = picture->x_reach.hi;
    }
}

static void stack_places(struct picture *picture)
{
    size_t used = 0;
    bool is_free = has_free_cells(picture->chart);
    bool is_any = false;
    picture->x_reach = fulcrum_limits_none();
    for (size_t p = 0; p < FULCRUM_LINE_PANELS_MAX; p++) {
        picture->reaches[p] = reach_of(picture, p);
        is_any |= picture->reaches[p].is_known;
    }
    for (size_t c = 0; c < picture->cell_count; c++) {
        struct cell *cell = &picture->cells[c];
        cell->stack.panels = &picture->panels[used];
        for (size_t i = cell->first; i < cell->first + cell->count; i++) {
            struct place *place = &picture->places[i];
            bool stays = is_free ? picture->reaches[place->which].is_known : is_any;
            if (is_free) {
                share_scales(picture, place);
            }
            if ((stays && place->from->empty_text != NULL) ||
                !fulcrum_panel_is_empty(&place->panel)) {
                cell->stack.panels[cell->stack.count++] = place->panel;
            }
        }
        used += cell->stack.count;
    }
}

/* A text of the result, or of all rows. */
static const char *text_of(const struct picture *picture, const char *key)
{
    const char *text = fulcrum_result_text_of(picture->result, key);
    bool is_other = text[0] != '\0' || varies(picture->table, key);
    return is_other ? text : fulcrum_chart_words(picture->table, 0, key);
}

/* "workload W; machine M; 40 actors", as far as the title does not say it. */
static const char *subtitle_of(const struct picture *picture)
{
    static const char *const keys[] = {
        "workload", "machine", "calibration", "actors_rule"};
    struct fulcrum_canvas *canvas = picture->canvas;
    double actors = fulcrum_table_constant(picture->table, "actor_count");
    const char *text = "";
    for (size_t i = picture->x->title != NULL ? 0 : 2; i < 4; i++) {
        const char *what = text_of(picture, keys[i]);
        if (i == 3 && isfinite(actors)) {
            what = fulcrum_canvas_print(canvas, "%.0f actors", actors);
        } else if (what[0] != '\0') {
            what = fulcrum_canvas_print(
                canvas, "%s %s", i == 3 ? "actors" : keys[i], what);
        }
        text = fulcrum_canvas_join(canvas, text, "; ", what);
    }
    return text;
}

/* What the caller and the result leave open. */
static void write_words(struct picture *picture)
{
    struct fulcrum_page *page = picture->page;
    const struct fulcrum_result *result = picture->result;
    const char *workload = text_of(picture, "workload");
    const char *machine = text_of(picture, "machine");
    const char *title = fulcrum_result_text_of(result, "chart_title");
    const char *subtitle = fulcrum_result_text_of(result, "chart_subtitle");
    if (page->title == NULL && title[0] == '\0') {
        title =
            picture->x->title != NULL
                ? picture->x->title
                : fulcrum_canvas_print(picture->canvas, "%s%s%s", workload,
                      workload[0] != '\0' && machine[0] != '\0' ? " on " : "", machine);
    }
    page->title = page->title != NULL ? page->title : title;
    subtitle = subtitle[0] != '\0' ? subtitle : subtitle_of(picture);
    page->subtitle = page->subtitle != NULL ? page->subtitle : subtitle;
    struct fulcrum_string flags = {0};
    for (size_t i = 0; page->footnote == NULL && i < fulcrum_table_rows(picture->table);
         i++) {
        fulcrum_string_add_parts(
            &flags, fulcrum_table_at(picture->table, i, "flags").text);
    }
    add_footnote(picture, page->footnote == NULL ? picture->chart->footnote : NULL);
    add_footnote(picture, fulcrum_string_get(&flags));
    fulcrum_string_clear(&flags);
    const struct fulcrum_table *notes = fulcrum_result_table_of(result, "footnotes");
    for (size_t i = 0; i < fulcrum_table_rows(notes); i++) {
        add_footnote(picture, fulcrum_table_cell(notes, i, 0).text);
    }
}

/* Keeps the landmarks within the axis, by x; the footnote names the others. */
static void take_landmarks(struct picture *picture, const struct fulcrum_table *table)
{
    struct landmark *all = picture->landmarks;
    size_t count = 0;
    const struct fulcrum_axis *axis = &picture->panels[0].x;
    for (size_t i = 0; i < fulcrum_table_rows(table) && count < LANDMARKS_MAX; i++) {
        const char *name = fulcrum_table_at(table, i, "name").text;
        double x = fulcrum_table_at(table, i, "x").number;
        if (name != NULL && x > 0.0 && isfinite(x)) {
            all[count++] =
                (struct landmark){x, fulcrum_canvas_print(picture->canvas, "%s %s",
                                         name, fulcrum_plain_text(x).chars)};
        }
    }
    qsort(all, count, sizeof all[0], fulcrum_compare_numbers);
    for (size_t i = 0; i < count; i++) {
        /* Beyond its ends an axis clamps: a line there would be at a wrong x. */
        if (all[i].x >= axis->lo && all[i].x <= axis->hi) {
            picture->guides[picture->landmark_count] = all[i].x;
            all[picture->landmark_count++] = all[i];
        } else {
            fulcrum_page_note(
                picture->canvas, picture->page, "Beyond this chart: ", all[i].text);
        }
    }
}

/* Names are stacked in rows of this height. */
static double flag_row_pt(const struct fulcrum_canvas *canvas)
{
    return fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_FLAG) + 0.5;
}

/* Poles stand on the first panel; thin lines carry them on through all panels. */
static void draw_flags(const struct picture *picture)
{
    struct fulcrum_canvas *canvas = picture->canvas;
    const struct fulcrum_pen pen = {
        .rgb = FULCRUM_TONE_MUTED, .width_pt = 0.6, .kind = FULCRUM_BOX_GUIDE};
    double bottom = picture->panels[0].frame.y0;
    for (size_t i = 0; i < picture->landmark_count; i++) {
        const struct fulcrum_flag_post *post = &picture->posts[i];
        bool to_left = post->x0 < post->x;
        double top =
            bottom - flags_gap_pt - flag_row_pt(canvas) * (double)(post->row + 1);
        const struct fulcrum_text style =
            fulcrum_palette_anchored(FULCRUM_TEXT_FLAG, to_left ? 1.0 : 0.0, 0.0);
        if (post->is_shown) {
            fulcrum_canvas_line(canvas, &pen, (struct fulcrum_spot){post->x, bottom},
                (struct fulcrum_spot){post->x, top + 1.5});
            fulcrum_canvas_text(canvas, &style,
                (struct fulcrum_spot){to_left ? post->x1 : post->x0, top},
                picture->landmarks[i].text);
        }
    }
}

/*
 * Ticks and the width of the axes are settled: names of landmarks need them, the
 * footnote needs to know which names found a place, and the panels get what is left.
 */
static void place_landmarks(
    struct picture *picture, const struct fulcrum_table *landmarks)
{
    take_landmarks(picture, landmarks);
    /* The footnote lists those without a place. */
    struct fulcrum_canvas *canvas = picture->canvas;
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FLAG);
    struct fulcrum_flag_post *posts = picture->posts;
    const struct fulcrum_panel *panel = &picture->panels[0];
    for (size_t i = 0; i < picture->landmark_count; i++) {
        posts[i].x = fulcrum_axis_at(&panel->x, picture->landmarks[i].x);
        posts[i].width_pt =
            fulcrum_canvas_measure(canvas, &style, picture->landmarks[i].text).width_pt;
    }
    double rows_max = floor(
        flags_frac * fulcrum_canvas_extent(canvas).height_pt / flag_row_pt(canvas));
    const struct fulcrum_flag_room room = {
        panel->header.x0, panel->header.x1, (size_t)rows_max};
    size_t rows = fulcrum_flag_posts_place(posts, picture->landmark_count, &room);
    for (size_t i = 0; i < picture->landmark_count; i++) {
        fulcrum_page_note(canvas, picture->page, "Lines without a name: ",
            posts[i].is_shown ? NULL : picture->landmarks[i].text);
    }
    for (size_t i = 0; i < picture->cells[0].stack.count; i++) {
        picture->panels[i].guides = picture->guides;
        picture->panels[i].guide_count = picture->landmark_count;
    }
    picture->panels[0].strip_pt =
        rows > 0 ? (double)rows * flag_row_pt(picture->canvas) + flags_gap_pt : 0.0;
    learn(picture, SLOT_LANDMARKS, FULCRUM_SWATCH_GUIDE, 0,
        picture->landmark_count > 0 ? picture->chart->landmark_name : NULL);
    fulcrum_stack_place(picture->canvas, &picture->cells[0].stack,
        fulcrum_page_body(picture->canvas, picture->page));
}

/* Leaves out cells where nothing is drawn; returns how many there are. */
static size_t keep_cells(struct picture *picture)
{
    size_t kept = 0;
    for (size_t i = 0; i < picture->cell_count; i++) {
        if (picture->cells[i].stack.count > 0) {
            picture->cells[kept++] = picture->cells[i];
        }
    }
    picture->cell_count = kept;
    return kept;
}

/* Rectangles side by side, and such rows below each other. */
struct grid {
    size_t columns;
    size_t rows;
    double gap_pt; /* between columns; half as much between rows */
};

/* The i-th, row by row, of those that share a rectangle. */
static struct fulcrum_rect grid_cell(
    const struct grid *grid, struct fulcrum_rect rect, size_t i)
{
    double gap_pt = grid->gap_pt;
    double columns = (double)grid->columns;
    double rows = (double)grid->rows;
    double width_pt = (rect.x1 - rect.x0 - gap_pt * (columns - 1.0)) / columns;
    double height_pt = (rect.y1 - rect.y0 - 0.5 * gap_pt * (rows - 1.0)) / rows;
    double x0 = rect.x0 + (double)(i % grid->columns) * (width_pt + gap_pt);
    size_t row = i / grid->columns;
    double y0 = rect.y0 + (double)row * (height_pt + 0.5 * gap_pt);
    return (struct fulcrum_rect){x0, y0, x0 + width_pt, y0 + height_pt};
}

static bool has_room(const struct picture *picture, struct fulcrum_extent cell)
{
    return cell.width_pt >= picture->chart->cell_least_pt &&
           cell.height_pt >= least_cell_height_pt;
}

/* The number of columns that leaves cells largest, of those with room for them. */
static struct grid choose_grid(
    const struct picture *picture, struct fulcrum_rect body, struct fulcrum_extent *out)
{
    size_t count = picture->cell_count;
    struct grid best = {1, count, cell_gap_pt};
    double best_pt = -INFINITY;
    *out = (struct fulcrum_extent){0.0, 0.0};
    for (size_t columns = 1; columns <= count; columns++) {
        struct grid grid = {columns, (count + columns - 1) / columns, cell_gap_pt};
        struct fulcrum_rect first = grid_cell(&grid, body, 0);
        struct fulcrum_extent cell = {first.x1 - first.x0, first.y1 - first.y0};
        double size_pt =
            fmin(cell.width_pt / picture->chart->cell_aspect, cell.height_pt);
        if (has_room(picture, cell) == has_room(picture, *out)
                ? size_pt > best_pt
                : has_room(picture, cell)) {
            best = grid;
            best_pt = size_pt;
            *out = cell;
        }
    }
    return best;
}

/* Cells of what the rows say name their axis once below each column. */
static void label_cells(struct picture *picture, const struct grid *grid)
{
    size_t count = picture->cell_count;
    /* A row above an empty place names its axis in all cells: frames stay in line. */
    size_t first_named = grid->rows - (count % grid->columns != 0 ? 2 : 1);
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_line_panel *from =
            picture->places[picture->cells[i].first].from;
        bool is_named =
            !has_free_cells(picture->chart) || i / grid->columns >= first_named;
        const char *label = from->x_label != NULL ? from->x_label : picture->x->words;
        picture->cells[i].stack.panels[picture->cells[i].stack.count - 1].x_label =
            is_named ? said(picture, "x", label) : "";
    }
}

static void draw_cells(struct picture *picture)
{
    struct fulcrum_canvas *canvas = picture->canvas;
    struct fulcrum_rect body = fulcrum_page_body(canvas, picture->page);
    struct fulcrum_extent extent = fulcrum_canvas_extent(canvas);
    struct fulcrum_extent cell = {0.0, 0.0};
    struct grid grid = {1, 1, 0.0};
    if (picture->chart->has_cells) {
        grid = choose_grid(picture, body, &cell);
    }
    if (has_free_cells(picture->chart) && !has_room(picture, cell)) {
        (void)fulcrum_fail(fulcrum_canvas_failure(canvas), FULCRUM_ERR_RANGE,
            "%zu panels on a page of %.4g x %.4g points: each would have %.0f x %.0f, "
            "expected at least %g x %g: a larger page has room",
            picture->cell_count, extent.width_pt, extent.height_pt, cell.width_pt,
            cell.height_pt, picture->chart->cell_least_pt, least_cell_height_pt);
        return;
    }
    for (size_t i = 0; i < picture->cell_count; i++) {
        if (cell.height_pt < picture->chart->strip_from_pt) {
            picture->cells[i].stack.count = 1;
        }
    }
    label_cells(picture, &grid);
    /* Frames of all cells begin at one distance, so that columns are in line. */
    double left_pt = 0.0;
    for (size_t i = 0; i < picture->cell_count; i++) {
        struct fulcrum_stack *stack = &picture->cells[i].stack;
        fulcrum_stack_fit(picture->canvas, stack, grid_cell(&grid, body, i));
        left_pt = fmax(left_pt, stack->left_pt);
    }
    for (size_t i = 0; i < picture->cell_count; i++) {
        struct fulcrum_stack *stack = &picture->cells[i].stack;
        stack->left_pt = left_pt;
        fulcrum_stack_place(picture->canvas, stack, grid_cell(&grid, body, i));
    }
    const struct fulcrum_table *landmarks =
        fulcrum_result_table_of(picture->result, "landmarks");
    if (fulcrum_table_rows(landmarks) > 0) {
        place_landmarks(picture, landmarks);
    }
    fulcrum_page_draw(canvas, picture->page);
    draw_flags(picture);
    for (size_t i = 0; i < picture->cell_count; i++) {
        fulcrum_stack_draw(canvas, &picture->cells[i].stack);
    }
}

void fulcrum_line_chart_draw(
    struct fulcrum_canvas *canvas, struct fulcrum_page *page, const void *given)
{
    struct picture *picture = fulcrum_canvas_room(canvas, 1, sizeof *picture);
    const struct fulcrum_line_chart_data *data = given;
    const struct fulcrum_line_key *keys = data->chart->lines->lines;
    picture->canvas = canvas;
    picture->page = page;
    picture->chart = data->chart->lines;
    picture->result = data->result;
    picture->table = fulcrum_chart_table(data->result, picture->chart->table);
    picture->published = fulcrum_result_table_of(data->result, "published");
    picture->relative_x = fulcrum_result_number_of(data->result, "relative_x");
    picture->x = find_x(picture->chart, picture->table);
    const char *x_name = picture->chart->x_name;
    picture->x_name = x_name != NULL ? x_name : picture->x->words;
    for (size_t k = 0; k < FULCRUM_LINE_KEYS_MAX && keys[k].column != NULL; k++) {
        picture->tells[k] = strcmp(keys[k].column, picture->x->column) != 0 &&
                            (k == 0 || varies(picture->table, keys[k].column));
    }
    if (take_lines(picture) != FULCRUM_OK) {
        return;
    }
    write_words(picture);
    find_cells(picture);
    find_places(picture);
    stack_places(picture);
    if (keep_cells(picture) == 0) {
        fulcrum_page_draw_empty(canvas, page);
        return;
    }
    const struct fulcrum_line_chart *chart = picture->chart;
    bool has_band = chart->ideal_frac > 0.0;
    learn(picture, has_band ? SLOT_IDEAL_BAND : SLOT_IDEAL,
        has_band ? FULCRUM_SWATCH_BAND : FULCRUM_SWATCH_LINE, GREY_STYLE,
        chart->ideal_name);
    /* What points of a line's own colour are. */
    for (size_t k = 0; k < FULCRUM_LINE_SERIES_MAX; k++) {
        const struct fulcrum_line_series *series = &chart->panels[0].series[k];
        bool is_points = series->look == FULCRUM_LINE_POINTS && series->colour == 0;
        learn(picture, SLOT_POINTS + k, FULCRUM_SWATCH_MARKER, 0,
            is_points ? series->label : NULL);
    }
    find_top(picture);
    draw_cells(picture);
}
