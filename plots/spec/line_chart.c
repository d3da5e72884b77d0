/* line_chart.c - charts of lines over one axis, as tables of a result's columns. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows are sorted into lines by the columns that tell lines apart, and along each line
 * by x; every panel draws its columns over that. Columns that are the same in all rows
 * are no part of a line's name. Axes follow from the values: doublings where x spans
 * more than a factor of twelve, logarithms where y would drown.
 */
#include "plots/spec/line_chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "model/string.h"
#include "model/try.h"
#include "plots/chart/label.h"
#include "plots/chart/page.h"
#include "plots/chart/panel.h"

enum {
    LINES_MAX = 12,
    PUBLISHED_MAX = 8,
    SERIES_MAX = LINES_MAX * FULCRUM_LINE_SERIES_MAX + PUBLISHED_MAX,
    NOTES_MAX = 16,
    STAR_STYLE = 5,
    GREY_STYLE = 7, /* of any line or reference */
    GUIDES_MAX = 16,
    NAME_SIZE = 96,
    SENTENCE_SIZE = 200,
    WORDS_SIZE = 2000,
    LANDMARKS_MAX = 16
};

static const double log_x_from_factor = 12.0;
static const double log_y_from_factor = 20.0;
static const double log_relative_from_factor = 5.0;
/* Names of landmarks get at most this share of the page's height. */
static const double flags_frac = 0.12;
static const double flags_gap_pt = 3.0;

struct line {
    char name[NAME_SIZE];
    size_t count;
    size_t *rows; /* by x, one group's after another's */
    double *x;
    bool has_line; /* in one of the panels */
    bool has_marks;
};

struct panel_room {
    struct fulcrum_panel_series series[SERIES_MAX];
    struct fulcrum_panel_note notes[NOTES_MAX];
    struct fulcrum_spot best;
    double guides[GUIDES_MAX];
    double ideal[2];
    char title[NAME_SIZE];
    char finding[SENTENCE_SIZE];
    char best_text[48];
};

/* A machine that people know. */
struct landmark {
    char text[NAME_SIZE]; /* name and x, which need not be read off the axis */
    double x;
    struct fulcrum_flag_post post;
};

struct picture {
    const struct fulcrum_line_chart *chart;
    const struct fulcrum_table *table;
    const struct fulcrum_line_key *x;
    bool tells[FULCRUM_LINE_KEYS_MAX]; /* which of the chart's keys are in names */
    size_t line_count;
    struct line lines[LINES_MAX];
    struct fulcrum_panel panels[FULCRUM_LINE_PANELS_MAX];
    struct panel_room rooms[FULCRUM_LINE_PANELS_MAX];
    struct fulcrum_stack stack;
    bool has_hollow;
    bool has_interval;
    bool has_guides;
    const struct fulcrum_result *result;
    const struct fulcrum_table *published;
    double relative_x;
    size_t published_count;
    const char *published_names[PUBLISHED_MAX];
    bool has_seen;
    struct fulcrum_panel_top top;
    struct landmark landmarks[LANDMARKS_MAX]; /* by x, those within the chart */
    size_t landmark_count;
    double guides[LANDMARKS_MAX];
    char title[SENTENCE_SIZE];
    char subtitle[WORDS_SIZE];
    char footnote[WORDS_SIZE];
};

/* A CSV file has one table, whatever its key would be. */
static const struct fulcrum_table *table_of(
    const struct fulcrum_result *result, const char *key)
{
    const struct fulcrum_table *table = fulcrum_result_table_of(result, key);
    return table != NULL ? table : fulcrum_result_table_of(result, "rows");
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

static const struct fulcrum_line_key *find_x(
    const struct fulcrum_line_chart *chart, const struct fulcrum_table *table)
{
    for (size_t i = 0; i < FULCRUM_LINE_KEYS_MAX && chart->x[i].column != NULL; i++) {
        if (varies(table, chart->x[i].column)) {
            return &chart->x[i];
        }
    }
    for (size_t i = 0; i < FULCRUM_LINE_KEYS_MAX && chart->x[i].column != NULL; i++) {
        if (fulcrum_table_find(table, chart->x[i].column) <
            fulcrum_table_columns(table)) {
            return &chart->x[i];
        }
    }
    return &chart->x[0];
}

/* What is asked, of what; what the lines go over, and what tells them apart. */
static void begin(struct picture *picture, const struct fulcrum_line_chart_data *data)
{
    const struct fulcrum_line_key *keys = data->chart->lines->lines;
    picture->chart = data->chart->lines;
    picture->table = table_of(data->result, picture->chart->table);
    picture->x = find_x(picture->chart, picture->table);
    picture->result = data->result;
    picture->published = fulcrum_result_table_of(data->result, "published");
    picture->relative_x = fulcrum_result_number_of(data->result, "relative_x");
    for (size_t k = 0; k < FULCRUM_LINE_KEYS_MAX && keys[k].column != NULL; k++) {
        picture->tells[k] = strcmp(keys[k].column, picture->x->column) != 0 &&
                            (k == 0 || varies(picture->table, keys[k].column));
    }
}

/* "dgx-1, 2 learners": what tells the row's line from others. */
static void name_line(const struct picture *picture, size_t row, char out[NAME_SIZE])
{
    const struct fulcrum_line_key *keys = picture->chart->lines;
    size_t used = 0;
    out[0] = '\0';
    for (size_t k = 0; k < FULCRUM_LINE_KEYS_MAX && keys[k].column != NULL; k++) {
        struct fulcrum_cell cell =
            fulcrum_table_at(picture->table, row, keys[k].column);
        if (!picture->tells[k]) {
            continue;
        }
        const char *between = used > 0 ? ", " : "";
        if (cell.text != NULL) {
            (void)snprintf(out + used, NAME_SIZE - used, "%s%s", between, cell.text);
        } else if (isfinite(cell.number)) {
            (void)snprintf(out + used, NAME_SIZE - used, "%s%.6g %s", between,
                cell.number, keys[k].words != NULL ? keys[k].words : "");
        }
        used = strlen(out);
    }
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
    int owners = compare_owners(left, right);
    return owners != 0 ? owners : (left->x > right->x) - (left->x < right->x);
}

/* What tells the row's panel; "" where nothing does. */
static const char *group_of(const struct picture *picture, size_t row)
{
    const char *column = picture->chart->group_column;
    const char *text =
        column != NULL ? fulcrum_table_at(picture->table, row, column).text : NULL;
    return text != NULL ? text : "";
}

/* Index of the line of that name, new where there is none; LINES_MAX: too many. */
static size_t line_of(struct picture *picture, const char *name)
{
    size_t i = 0;
    while (i < picture->line_count && strcmp(picture->lines[i].name, name) != 0) {
        i++;
    }
    if (i == picture->line_count && i < LINES_MAX) {
        (void)snprintf(picture->lines[i].name, NAME_SIZE, "%s", name);
        picture->line_count++;
    }
    return i;
}

/* Which row belongs to which line, sorted; `spots` has room for every row. */
static size_t find_spots(struct picture *picture, struct spot_row *spots)
{
    size_t count = 0;
    for (size_t i = 0; i < fulcrum_table_rows(picture->table); i++) {
        char name[NAME_SIZE];
        double x = fulcrum_table_at(picture->table, i, picture->x->column).number;
        name_line(picture, i, name);
        size_t line = isfinite(x) ? line_of(picture, name) : LINES_MAX;
        if (line < LINES_MAX) {
            spots[count++] = (struct spot_row){x, i, line, group_of(picture, i)};
        }
    }
    qsort(spots, count, sizeof *spots, compare_spots);
    return count;
}

/* What is no number cannot be drawn, and is named. */
static enum fulcrum_status check_column(
    const struct fulcrum_table *table, const char *key, struct fulcrum_error *err)
{
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        struct fulcrum_cell cell = fulcrum_table_at(table, i, key);
        FAIL_IF(cell.text != NULL && cell.text[0] != '\0', err, FULCRUM_ERR_FORMAT,
            "row %zu: %s = '%.40s': expected a number", i + 1, key, cell.text);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check_columns(const struct fulcrum_line_chart *chart,
    const struct fulcrum_table *table, const char *x, struct fulcrum_error *err)
{
    FAIL_IF(fulcrum_table_find(table, x) == fulcrum_table_columns(table), err,
        FULCRUM_ERR_FORMAT, "no column '%s', which the chart needs", x);
    TRY(check_column(table, x, err));
    for (size_t i = 0; i < FULCRUM_LINE_PANELS_MAX; i++) {
        for (size_t k = 0; k < FULCRUM_LINE_SERIES_MAX; k++) {
            const char *y = chart->panels[i].series[k].y;
            TRY(y != NULL ? check_column(table, y, err) : FULCRUM_OK);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check_spots(
    struct picture *picture, struct spot_row *spots, struct fulcrum_error *err)
{
    size_t count = find_spots(picture, spots);
    bool is_sweep = picture->chart->panels[0].series[0].look == FULCRUM_LINE_MARKED;
    for (size_t i = 1; i < count && is_sweep; i++) {
        FAIL_IF(compare_owners(&spots[i], &spots[i - 1]) == 0 &&
                    !(spots[i].x > spots[i - 1].x),
            err, FULCRUM_ERR_FORMAT,
            "two points at %s = %.6g: a chart takes a sweep over one field",
            picture->x->column, spots[i].x);
    }
    FAIL_IF(picture->line_count == LINES_MAX, err, FULCRUM_ERR_RANGE,
        "more than %d lines: too many for a chart", (int)LINES_MAX - 1);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_line_chart_check(
    const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_line_chart_data *data = given;
    struct picture *picture = calloc(1, sizeof *picture);
    struct spot_row *spots = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_MEMORY(picture, err, "a chart");
    begin(picture, data);
    size_t rows = fulcrum_table_rows(picture->table);
    if (rows == 0) {
        goto end; /* a page that says so */
    }
    TRY_OR_END(check_columns(picture->chart, picture->table, picture->x->column, err));
    spots = calloc(rows, sizeof *spots);
    status = spots != NULL ? check_spots(picture, spots, err)
                           : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a chart");
end:
    free(spots);
    free(picture);
    return status;
}

/* The lines of the picture with the rows of each. */
static bool take_lines(struct fulcrum_canvas *canvas, struct picture *picture)
{
    size_t rows = fulcrum_table_rows(picture->table);
    struct spot_row *spots = fulcrum_canvas_room(canvas, rows, sizeof *spots);
    size_t *order = fulcrum_canvas_room(canvas, rows, sizeof *order);
    double *x = fulcrum_canvas_room(canvas, rows, sizeof *x);
    if (spots == NULL || order == NULL || x == NULL) {
        return false;
    }
    size_t count = find_spots(picture, spots);
    for (size_t i = 0; i < count; i++) {
        struct line *line = &picture->lines[spots[i].line];
        order[i] = spots[i].row;
        x[i] = spots[i].x;
        line->rows = line->count == 0 ? &order[i] : line->rows;
        line->x = line->count == 0 ? &x[i] : line->x;
        line->count++;
    }
    return true;
}

/* What people give times in, by the least of them. */
static double time_unit(const struct picture *picture, const char *y, const char **name)
{
    static const struct {
        double longest_s;
        double unit_s;
        const char *name;
    } units[] = {{300.0, 1.0, "s"}, {300.0 * 60.0, 60.0, "minutes"},
        {200.0 * 3600.0, 3600.0, "hours"}, {INFINITY, 86400.0, "days"}};
    double least = (double)INFINITY;
    *name = NULL;
    if (picture->chart->is_log || strcmp(fulcrum_unit_of(y), "s") != 0) {
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
    double *x;
    double *y;
    double *lo;
    double *hi;
    unsigned char *hollow;
    size_t count;
    bool is_known; /* one of them at least */
    bool has_interval;
};

static void take_value(struct picture *picture, struct values *values,
    const struct fulcrum_cell *cell, size_t row)
{
    const struct fulcrum_line_chart *chart = picture->chart;
    const char *mark =
        chart->hollow_column != NULL
            ? fulcrum_table_at(picture->table, row, chart->hollow_column).text
            : NULL;
    size_t i = values->count++;
    values->y[i] = cell->number;
    values->lo[i] = cell->lo;
    values->hi[i] = cell->hi;
    values->hollow[i] = mark != NULL && strcmp(mark, chart->hollow_text) == 0;
    values->is_known = values->is_known || isfinite(cell->number);
    values->has_interval = values->has_interval || cell->hi > cell->lo;
    picture->has_hollow =
        picture->has_hollow || (values->hollow[i] && isfinite(cell->number));
}

/* Values that are not known are gaps in a line, but nothing between points. */
static void take_values(struct picture *picture, struct values *values,
    const struct line *line, const struct fulcrum_line_panel *panel,
    const struct fulcrum_line_series *from)
{
    const char *unit = NULL;
    double scale = time_unit(picture, from->y, &unit);
    for (size_t i = 0; i < line->count; i++) {
        size_t row = line->rows[i];
        struct fulcrum_cell cell = fulcrum_table_at(picture->table, row, from->y);
        bool is_here =
            panel->group == NULL || strcmp(group_of(picture, row), panel->group) == 0;
        if (is_here && (from->look == FULCRUM_LINE_MARKED || isfinite(cell.number))) {
            cell = (struct fulcrum_cell){
                cell.number / scale, cell.lo / scale, cell.hi / scale, NULL};
            values->x[values->count] = line->x[i];
            take_value(picture, values, &cell, row);
        }
    }
}

/* No line is drawn as marks are that have no entry in the legend. */
static size_t line_style(const struct picture *picture, size_t line)
{
    return picture->chart->names_marks && line >= STAR_STYLE ? line + 1 : line;
}

/* A line's values of one column; no series where there is no memory, or no value. */
static void add_series(struct fulcrum_canvas *canvas, struct picture *picture,
    struct fulcrum_panel *panel, struct line *line,
    const struct fulcrum_line_series *from)
{
    static const enum fulcrum_series_look looks[] = {
        [FULCRUM_LINE_MARKED] = FULCRUM_LOOK_LINE,
        [FULCRUM_LINE_SMOOTH] = FULCRUM_LOOK_CURVE,
        [FULCRUM_LINE_POINTS] = FULCRUM_LOOK_MARKERS,
    };
    const struct fulcrum_line_chart *chart = picture->chart;
    const struct fulcrum_line_panel *which = &chart->panels[panel - picture->panels];
    double *numbers = fulcrum_canvas_room(canvas, 4 * line->count, sizeof *numbers);
    struct values values = {
        .hollow = fulcrum_canvas_room(canvas, line->count, sizeof *values.hollow)};
    if (numbers == NULL || values.hollow == NULL) {
        return;
    }
    values.x = numbers;
    values.y = numbers + line->count;
    values.lo = numbers + 2 * line->count;
    values.hi = numbers + 3 * line->count;
    take_values(picture, &values, line, which, from);
    if (!values.is_known) {
        return;
    }
    bool is_one = picture->line_count == 1;
    /* Bands of many lines would hide each other. */
    bool has_band = is_one || chart->has_bands;
    bool is_own = is_one && from->look == FULCRUM_LINE_MARKED;
    struct fulcrum_panel_series *series =
        &picture->rooms[picture->stack.count].series[panel->series_count++];
    const struct fulcrum_estimate estimate = {
        values.y, has_band ? values.lo : NULL, has_band ? values.hi : NULL};
    *series = fulcrum_series_estimated(values.x, &estimate, values.count,
        is_own ? (size_t)(from - which->series)
               : line_style(picture, (size_t)(line - picture->lines)),
        looks[from->look]);
    series->hollow = chart->is_disturbed ? NULL : values.hollow;
    series->disturbed = chart->is_disturbed ? values.hollow : NULL;
    picture->has_interval = picture->has_interval || (has_band && values.has_interval);
    line->has_line = line->has_line || from->look != FULCRUM_LINE_POINTS;
    line->has_marks = line->has_marks || from->look == FULCRUM_LINE_MARKED ||
                      (from->look == FULCRUM_LINE_POINTS && from->label == NULL);
}

/* Of one line alone: of several there are too many for one sentence. */
static void find_best(struct picture *picture, const struct fulcrum_line_panel *from,
    struct fulcrum_panel *panel)
{
    struct panel_room *room = &picture->rooms[picture->stack.count];
    const struct fulcrum_panel_series *series = &room->series[0];
    if (picture->line_count != 1 || from->is_unjudged || panel->series_count == 0) {
        return;
    }
    struct fulcrum_best best =
        fulcrum_best_find(series->x, series->y, series->count, from->goal);
    if (best.shape == FULCRUM_BEST_NONE) {
        return;
    }
    const char *subject = panel->series_count > 1 ? from->series[0].label : NULL;
    char sentence[128];
    fulcrum_best_sentence(
        sentence, sizeof sentence, &best, picture->chart->x_name, NULL);
    (void)snprintf(room->finding, sizeof room->finding, "%s%s%s",
        subject != NULL ? subject : "", subject != NULL ? ": " : "", sentence);
    panel->finding = room->finding;
    /* A best value at an end of the chart gets no star. */
    if (best.shape == FULCRUM_BEST_PEAK || best.shape == FULCRUM_BEST_PLATEAU) {
        room->best = (struct fulcrum_spot){best.x, best.y};
        fulcrum_si_text(room->best_text, sizeof room->best_text, best.y, 3, NULL);
        panel->best = &room->best;
        panel->best_text = room->best_text;
    }
}

static bool spans(
    const struct fulcrum_panel_series *series, size_t count, double factor)
{
    struct fulcrum_limits span = fulcrum_limits_none();
    for (size_t i = 0; i < count; i++) {
        fulcrum_limits_add_all(&span, series[i].y, series[i].count);
    }
    return span.lo > 0.0 && span.hi >= factor * span.lo;
}

/* Index of a reference, new where there is none; PUBLISHED_MAX: too many. */
static size_t published_index(struct picture *picture, const char *name)
{
    size_t i = 0;
    while (i < picture->published_count &&
           strcmp(picture->published_names[i], name) != 0) {
        i++;
    }
    if (i == picture->published_count && i < PUBLISHED_MAX) {
        picture->published_names[picture->published_count++] = name;
    }
    return i;
}

/* Colours that stand out from the curve's come first. */
static size_t published_style(size_t index)
{
    static const size_t styles[PUBLISHED_MAX] = {1, 3, 4, 2, 5, 6, 8, 7};
    return styles[index];
}

/* The value or the name beside a mark; two references that say the same say it once. */
static void add_note(struct fulcrum_panel *panel, struct fulcrum_panel_note *notes,
    struct fulcrum_spot spot, const char *text)
{
    for (size_t i = 0; i < panel->note_count; i++) {
        if (fabs(notes[i].spot.x - spot.x) <= 1e-9 * fabs(spot.x) &&
            strcmp(notes[i].text, text) == 0) {
            return;
        }
    }
    if (panel->note_count < NOTES_MAX) {
        struct fulcrum_panel_note *note = &notes[panel->note_count++];
        note->spot = spot;
        (void)snprintf(note->text, sizeof note->text, "%.47s", text);
    }
}

/* What is written beside a published point. */
static void note_point(struct picture *picture, struct fulcrum_panel *panel,
    struct fulcrum_spot spot, const char *name)
{
    struct panel_room *room = &picture->rooms[picture->stack.count];
    const char *unit = picture->chart->panels[panel - picture->panels].note_unit;
    char text[64];
    if (picture->chart->names_marks) {
        add_note(panel, room->notes, spot, name);
    } else if (unit != NULL) {
        char value[24];
        fulcrum_si_text(value, sizeof value, spot.y, 3, NULL);
        (void)snprintf(text, sizeof text, "%s%s", value, unit);
        add_note(panel, room->notes, spot, text);
    }
}

/* Points of one reference in one panel. Bars show how far rounding lets them be off. */
static void add_published_series(struct fulcrum_canvas *canvas, struct picture *picture,
    struct fulcrum_panel *panel, size_t which, size_t index)
{
    struct panel_room *room = &picture->rooms[picture->stack.count];
    size_t rows = fulcrum_table_rows(picture->published);
    double *numbers = fulcrum_canvas_room(canvas, 4 * rows, sizeof *numbers);
    unsigned char *hollow = fulcrum_canvas_room(canvas, rows, 1);
    size_t count = 0;
    if (numbers == NULL || hollow == NULL || panel->series_count == SERIES_MAX) {
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        const struct fulcrum_table *table = picture->published;
        const char *name = fulcrum_table_at(table, i, "name").text;
        struct fulcrum_cell value = fulcrum_table_at(table, i, "value");
        if (name == NULL ||
            fulcrum_table_at(table, i, "panel").number != (double)which ||
            published_index(picture, name) != index) {
            continue;
        }
        numbers[count] = fulcrum_table_at(table, i, "x").number;
        numbers[rows + count] = value.number;
        numbers[2 * rows + count] = value.lo;
        numbers[3 * rows + count] = value.hi;
        hollow[count] = fulcrum_table_at(table, i, "is_fitted").number > 0.0;
        picture->has_seen = picture->has_seen || hollow[count];
        note_point(
            picture, panel, (struct fulcrum_spot){numbers[count], value.number}, name);
        count++;
    }
    if (count > 0) {
        const struct fulcrum_estimate values = {
            numbers + rows, numbers + 2 * rows, numbers + 3 * rows};
        struct fulcrum_panel_series *series = &room->series[panel->series_count++];
        *series = fulcrum_series_estimated(numbers, &values, count,
            picture->chart->names_marks ? STAR_STYLE : published_style(index),
            FULCRUM_LOOK_POINTS);
        series->hollow = hollow;
    }
}

static void add_published(struct fulcrum_canvas *canvas, struct picture *picture,
    struct fulcrum_panel *panel, size_t which)
{
    for (size_t i = 0; i < fulcrum_table_rows(picture->published); i++) {
        const char *name = fulcrum_table_at(picture->published, i, "name").text;
        (void)published_index(picture, name != NULL ? name : "");
    }
    panel->notes = picture->rooms[picture->stack.count].notes;
    for (size_t index = 0; index < picture->published_count; index++) {
        add_published_series(canvas, picture, panel, which, index);
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
static void fill_top(struct fulcrum_canvas *canvas, struct picture *picture)
{
    const struct line *line = &picture->lines[0];
    const char *column = picture->chart->top_column;
    if (column == NULL || picture->stack.count == 0 || picture->line_count != 1 ||
        !(line->x[0] > 0.0)) {
        return;
    }
    double *tops = fulcrum_canvas_room(canvas, line->count, sizeof *tops);
    struct fulcrum_limits span = fulcrum_limits_none();
    struct fulcrum_axis axis;
    for (size_t i = 0; tops != NULL && i < line->count; i++) {
        tops[i] = fulcrum_table_at(picture->table, line->rows[i], column).number;
    }
    if (tops == NULL || !is_in_order(tops, line->count)) {
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
    picture->panels[0].strip_pt = fulcrum_panel_top_pt(canvas);
}

/* Counts of 1..16 read well on a ruler; 1..512, and doublings, do not. */
static enum fulcrum_axis_kind x_kind(
    const struct picture *picture, const struct fulcrum_limits *x)
{
    bool is_ratio = strstr(picture->x->column, "ratio") != NULL;
    bool doubles = x->lo > 0.0 && x->hi >= 4.0 * x->lo;
    for (size_t i = 0; i < picture->line_count; i++) {
        for (size_t k = 0; k < picture->lines[i].count; k++) {
            int exponent = 0;
            doubles = doubles && frexp(picture->lines[i].x[k], &exponent) == 0.5;
        }
    }
    if (x->lo > 0.0 && is_ratio) {
        return FULCRUM_AXIS_LOG;
    }
    return doubles || (x->lo > 0.0 && x->hi >= log_x_from_factor * x->lo)
               ? FULCRUM_AXIS_LOG2
               : FULCRUM_AXIS_LINEAR;
}

/* y = x, as far as lines go. */
static void add_ideal(struct picture *picture, struct fulcrum_panel *panel,
    const struct fulcrum_limits *x)
{
    struct panel_room *room = &picture->rooms[picture->stack.count];
    room->ideal[0] = fmin(1.0, x->lo);
    room->ideal[1] = x->hi;
    if (panel->series_count > 0 && picture->chart->ideal_name != NULL) {
        panel->y_options.kind = panel->x_options.kind;
        room->series[panel->series_count++] = fulcrum_series_of(
            room->ideal, room->ideal, 2, GREY_STYLE, FULCRUM_LOOK_CURVE);
    }
}

/* Thin vertical lines, and what there is to say of them. */
static void add_guides(
    struct picture *picture, struct fulcrum_panel *panel, size_t which)
{
    struct panel_room *room = &picture->rooms[picture->stack.count];
    const struct fulcrum_table *guides =
        fulcrum_result_table_of(picture->result, "guides");
    for (size_t i = 0; i < fulcrum_table_rows(guides) && panel->series_count > 0; i++) {
        const char *text = fulcrum_table_at(guides, i, "text").text;
        size_t used = strlen(room->finding);
        if (fulcrum_table_at(guides, i, "panel").number != (double)which ||
            panel->guide_count == GUIDES_MAX) {
            continue;
        }
        room->guides[panel->guide_count++] = fulcrum_table_at(guides, i, "x").number;
        (void)snprintf(room->finding + used, sizeof room->finding - used, "%s%s",
            used > 0 ? ", " : "", text != NULL ? text : "");
        panel->finding = room->finding;
        picture->has_guides = true;
    }
    panel->guides = room->guides;
}

static void write_title(struct picture *picture, const struct fulcrum_line_panel *from)
{
    struct panel_room *room = &picture->rooms[picture->stack.count];
    const char *unit = NULL;
    (void)time_unit(picture, from->series[0].y, &unit);
    if (from->is_relative && isfinite(picture->relative_x)) {
        char at[48];
        fulcrum_plain_text(at, sizeof at, picture->relative_x);
        (void)snprintf(room->title, sizeof room->title, "%s %s %s", from->title, at,
            picture->chart->x_name);
    } else {
        (void)snprintf(room->title, sizeof room->title, "%s%s%s", from->title,
            unit != NULL ? ", " : "", unit != NULL ? unit : "");
    }
}

static void choose_axes(const struct picture *picture,
    const struct fulcrum_line_panel *from, struct fulcrum_panel *panel,
    const struct fulcrum_limits *x)
{
    const struct fulcrum_line_chart *chart = picture->chart;
    const char *unit = fulcrum_unit_of(from->series[0].y);
    bool is_far = spans(panel->series, panel->series_count,
        from->is_relative ? log_relative_from_factor : log_y_from_factor);
    bool is_falling = from->goal == FULCRUM_GOAL_LEAST || picture->line_count > 1;
    panel->x_options = (struct fulcrum_axis_options){.pad_frac = 0.03,
        .kind = chart->is_log ? FULCRUM_AXIS_LOG2 : x_kind(picture, x)};
    panel->y_options =
        (struct fulcrum_axis_options){.pad_frac = chart->is_close_up ? 0.05 : 0.12,
            .from_zero = !chart->is_close_up,
            .unit = chart->is_log && strcmp(unit, "s") == 0 ? unit : NULL,
            .kind = chart->is_log || (is_far && is_falling) ? FULCRUM_AXIS_LOG
                                                            : FULCRUM_AXIS_AUTO};
}

static void add_panel(
    struct fulcrum_canvas *canvas, struct picture *picture, size_t which)
{
    const struct fulcrum_line_panel *from = &picture->chart->panels[which];
    struct panel_room *room = &picture->rooms[picture->stack.count];
    struct fulcrum_limits x = fulcrum_limits_none();
    if (from->title == NULL || (from->is_stand_in && picture->stack.count > 0)) {
        return;
    }
    write_title(picture, from);
    struct fulcrum_panel *panel = &picture->panels[which];
    *panel = (struct fulcrum_panel){
        .title = room->title, .series = room->series, .weight = which == 0 ? 1.2 : 1.0};
    for (size_t k = 0; k < FULCRUM_LINE_SERIES_MAX; k++) {
        for (size_t i = 0; i < picture->line_count && from->series[k].y != NULL; i++) {
            add_series(canvas, picture, panel, &picture->lines[i], &from->series[k]);
            fulcrum_limits_add_all(&x, picture->lines[i].x, picture->lines[i].count);
        }
    }
    choose_axes(picture, from, panel, &x);
    find_best(picture, from, panel);
    add_ideal(picture, panel, &x);
    add_guides(picture, panel, which);
    if (panel->series_count > 0) {
        add_published(canvas, picture, panel, which);
    }
    const struct fulcrum_panel filled = *panel;
    fulcrum_stack_add(&picture->stack, &filled);
}

/* "; BEFORE WHAT" behind what is there, once. */
static void append(char *out, size_t size, const char *before, const char *what)
{
    size_t used = strlen(out);
    if (what != NULL && what[0] != '\0' && strstr(out, what) == NULL) {
        (void)snprintf(
            out + used, size - used, "%s%s%s", used > 0 ? "; " : "", before, what);
    }
}

static void replace(char *out, size_t size, const char *text)
{
    if (text != NULL && text[0] != '\0') {
        (void)snprintf(out, size, "%s", text);
    }
}

/* Each flag of "first; second" once. */
static void append_flags(struct picture *picture, const char *flags)
{
    while (flags != NULL && *flags != '\0') {
        char flag[SENTENCE_SIZE];
        size_t length = strcspn(flags, ";");
        (void)snprintf(flag, sizeof flag, "%.*s", (int)length, flags);
        append(picture->footnote, sizeof picture->footnote, "", flag);
        flags += length;
        flags += strspn(flags, "; ");
    }
}

/* A text of the result, or of the first row. */
static const char *text_of(const struct fulcrum_result *result,
    const struct fulcrum_table *table, const char *key)
{
    const char *text = fulcrum_result_text_of(result, key);
    const char *cell = fulcrum_table_at(table, 0, key).text;
    return text[0] != '\0' || cell == NULL || varies(table, key) ? text : cell;
}

static void write_words(struct picture *picture, struct fulcrum_page *page,
    const struct fulcrum_line_chart_data *data)
{
    static const struct {
        const char *key;
        const char *before;
    } parts[] = {{"workload", "workload "}, {"machine", "machine "},
        {"calibration", "calibration "}};
    const struct fulcrum_result *result = data->result;
    const char *workload = text_of(result, picture->table, "workload");
    const char *machine = text_of(result, picture->table, "machine");
    (void)snprintf(picture->title, sizeof picture->title, "%s%s%s", workload,
        workload[0] != '\0' && machine[0] != '\0' ? " on " : "", machine);
    for (size_t i = picture->x->title != NULL ? 0 : 2;
         i < sizeof parts / sizeof parts[0]; i++) {
        append(picture->subtitle, sizeof picture->subtitle, parts[i].before,
            text_of(result, picture->table, parts[i].key));
    }
    double actors = fulcrum_table_constant(picture->table, "actor_count");
    char count[48];
    (void)snprintf(count, sizeof count, "%.0f actors", actors);
    append(picture->subtitle, sizeof picture->subtitle, isnan(actors) ? "actors " : "",
        isnan(actors) ? text_of(result, picture->table, "actors_rule") : count);
    append(picture->footnote, sizeof picture->footnote, "",
        page->footnote != NULL ? page->footnote : picture->chart->footnote);
    for (size_t i = 0; page->footnote == NULL && i < fulcrum_table_rows(picture->table);
         i++) {
        append_flags(picture, fulcrum_table_at(picture->table, i, "flags").text);
    }
    const struct fulcrum_table *notes = fulcrum_result_table_of(result, "footnotes");
    for (size_t i = 0; i < fulcrum_table_rows(notes); i++) {
        append(picture->footnote, sizeof picture->footnote, "",
            fulcrum_table_cell(notes, i, 0).text);
    }
    replace(picture->title, sizeof picture->title, picture->x->title);
    replace(picture->title, sizeof picture->title,
        fulcrum_result_text_of(result, "chart_title"));
    replace(picture->subtitle, sizeof picture->subtitle,
        fulcrum_result_text_of(result, "chart_subtitle"));
    page->title = page->title != NULL ? page->title : picture->title;
    page->subtitle = page->subtitle != NULL ? page->subtitle : picture->subtitle;
    page->footnote = picture->footnote;
}

static void explain_line(
    const struct picture *picture, size_t i, struct fulcrum_page *page)
{
    const struct line *line = &picture->lines[i];
    enum fulcrum_swatch swatch =
        line->has_marks ? FULCRUM_SWATCH_LINE_AND_MARKER : FULCRUM_SWATCH_LINE;
    if (line->has_line || line->has_marks) {
        fulcrum_page_explain(page, line->has_line ? swatch : FULCRUM_SWATCH_MARKER,
            line_style(picture, i), line->name[0] != '\0' ? line->name : "predicted");
    }
}

/* The series of the last panel with two of them, else of the first panel. */
static const struct fulcrum_line_series *explained(const struct picture *picture)
{
    const struct fulcrum_line_series *series = picture->chart->panels[0].series;
    for (size_t i = 0; i < FULCRUM_LINE_PANELS_MAX; i++) {
        bool has_two = picture->chart->panels[i].series[1].y != NULL;
        series = has_two ? picture->chart->panels[i].series : series;
    }
    return series;
}

/* Each line, or each column where there is but one line of several columns. */
static void explain_lines(struct picture *picture, struct fulcrum_page *page)
{
    const struct fulcrum_line_series *series = explained(picture);
    bool has_points = series[1].look == FULCRUM_LINE_POINTS;
    bool by_column = picture->line_count == 1 && series[1].y != NULL && !has_points;
    for (size_t k = 0; k < FULCRUM_LINE_SERIES_MAX && by_column; k++) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_LINE_AND_MARKER, k, series[k].label);
    }
    for (size_t i = 0; i < picture->line_count && !by_column; i++) {
        explain_line(picture, i, page);
    }
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_MARKER, 0, has_points ? series[1].label : NULL);
}

static void fill_legend(struct picture *picture, struct fulcrum_page *page)
{
    const struct fulcrum_line_chart *chart = picture->chart;
    fulcrum_page_explain(page, FULCRUM_SWATCH_LINE, GREY_STYLE, chart->ideal_name);
    explain_lines(picture, page);
    fulcrum_page_explain(page,
        chart->is_disturbed ? FULCRUM_SWATCH_DISTURBED : FULCRUM_SWATCH_HOLLOW, 0,
        picture->has_hollow ? chart->hollow_name : NULL);
    fulcrum_page_explain(page, FULCRUM_SWATCH_BAND,
        picture->line_count > 1 ? GREY_STYLE : 0,
        picture->has_interval ? "90 % interval" : NULL);
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_GUIDE, 0, picture->has_guides ? chart->guide_name : NULL);
    append(picture->footnote, sizeof picture->footnote, "",
        picture->has_interval ? chart->interval_footnote : NULL);
    for (size_t i = 0; i < picture->published_count && !chart->names_marks; i++) {
        fulcrum_page_explain(page, FULCRUM_SWATCH_MARKER, published_style(i),
            picture->published_names[i]);
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_HOLLOW, GREY_STYLE,
        picture->has_seen ? "hollow: the fit has seen it" : NULL);
    for (size_t i = 0; i < picture->stack.count; i++) {
        if (picture->panels[i].best != NULL) {
            fulcrum_page_explain(page, FULCRUM_SWATCH_STAR, 0, chart->best_name);
            break;
        }
    }
}

/* For qsort. */
static int compare_landmarks(const void *a, const void *b)
{
    const struct landmark *left = a;
    const struct landmark *right = b;
    return (left->x > right->x) - (left->x < right->x);
}

/* ", landmark" behind a paragraph of the footnote, which begins with `intro`. */
static void tell(struct picture *picture, bool *first, const char *intro,
    const struct landmark *landmark)
{
    size_t used = strlen(picture->footnote);
    (void)snprintf(picture->footnote + used, sizeof picture->footnote - used, "%s%s%s",
        *first && used > 0 ? "\n" : "", *first ? intro : ", ", landmark->text);
    *first = false;
}

/* Keeps the landmarks within the axis, by x; the footnote names the others. */
static void take_landmarks(struct picture *picture, const struct fulcrum_table *table)
{
    struct landmark all[LANDMARKS_MAX] = {{.x = 0.0}};
    size_t count = 0;
    bool first = true;
    const struct fulcrum_axis *axis = &picture->panels[0].x;
    for (size_t i = 0; i < fulcrum_table_rows(table) && count < LANDMARKS_MAX; i++) {
        const char *name = fulcrum_table_at(table, i, "name").text;
        double x = fulcrum_table_at(table, i, "x").number;
        if (name != NULL && x > 0.0 && isfinite(x)) {
            char number[48];
            fulcrum_plain_text(number, sizeof number, x);
            (void)snprintf(
                all[count].text, sizeof all[count].text, "%s %s", name, number);
            all[count++].x = x;
        }
    }
    qsort(all, count, sizeof all[0], compare_landmarks);
    for (size_t i = 0; i < count; i++) {
        /* Beyond its ends an axis clamps: a line there would be at a wrong x. */
        if (all[i].x >= axis->lo && all[i].x <= axis->hi) {
            picture->guides[picture->landmark_count] = all[i].x;
            picture->landmarks[picture->landmark_count++] = all[i];
        } else {
            tell(picture, &first, "Beyond this chart: ", &all[i]);
        }
    }
}

/* Names are stacked in rows of this height. */
static double flag_row_pt(const struct fulcrum_canvas *canvas)
{
    return fulcrum_palette_height_pt(canvas, FULCRUM_TEXT_FLAG) + 0.5;
}

/* Returns the rows that names take; the footnote lists those without a place. */
static size_t place_flags(const struct fulcrum_canvas *canvas, struct picture *picture)
{
    struct fulcrum_text style = fulcrum_palette_text(FULCRUM_TEXT_FLAG);
    struct fulcrum_extent extent = fulcrum_canvas_extent(canvas);
    struct fulcrum_flag_post posts[LANDMARKS_MAX];
    const struct fulcrum_panel *panel = &picture->panels[0];
    for (size_t i = 0; i < picture->landmark_count; i++) {
        posts[i] = (struct fulcrum_flag_post){
            .x = fulcrum_axis_at(&panel->x, picture->landmarks[i].x),
            .width_pt =
                fulcrum_canvas_measure(canvas, &style, picture->landmarks[i].text)
                    .width_pt};
    }
    double rows_max = floor(flags_frac * extent.height_pt / flag_row_pt(canvas));
    const struct fulcrum_flag_room room = {
        panel->header.x0, panel->header.x1, (size_t)rows_max};
    size_t rows = fulcrum_flag_posts_place(posts, picture->landmark_count, &room);
    bool first = true;
    for (size_t i = 0; i < picture->landmark_count; i++) {
        picture->landmarks[i].post = posts[i];
        if (!posts[i].shown) {
            tell(picture, &first, "Lines without a name: ", &picture->landmarks[i]);
        }
    }
    return rows;
}

/* Poles stand on the first panel; thin lines carry them on through all panels. */
static void draw_flags(struct fulcrum_canvas *canvas, const struct picture *picture)
{
    const struct fulcrum_pen pen = {
        .rgb = FULCRUM_TONE_MUTED, .width_pt = 0.6, .kind = FULCRUM_BOX_GUIDE};
    double bottom = picture->panels[0].frame.y0;
    for (size_t i = 0; i < picture->landmark_count; i++) {
        const struct fulcrum_flag_post *post = &picture->landmarks[i].post;
        if (!post->shown) {
            continue;
        }
        double top =
            bottom - flags_gap_pt - flag_row_pt(canvas) * (double)(post->row + 1);
        double gap_pt = post->to_left ? -fulcrum_flag_gap_pt() : fulcrum_flag_gap_pt();
        const struct fulcrum_text style =
            fulcrum_palette_anchored(FULCRUM_TEXT_FLAG, post->to_left ? 1.0 : 0.0, 0.0);
        fulcrum_canvas_line(canvas, &pen, (struct fulcrum_spot){post->x, bottom},
            (struct fulcrum_spot){post->x, top + 1.5});
        fulcrum_canvas_text(canvas, &style,
            (struct fulcrum_spot){post->x + gap_pt, top}, picture->landmarks[i].text);
    }
}

/*
 * Ticks and the width of the axes are settled first: names of landmarks need them, the
 * footnote needs to know which names found a place, and the panels get what is left.
 */
static void draw_with_landmarks(struct fulcrum_canvas *canvas, struct picture *picture,
    struct fulcrum_page *page, const struct fulcrum_table *landmarks)
{
    struct fulcrum_rect body = fulcrum_page_body(canvas, page);
    picture->panels[picture->stack.count - 1].x_label = picture->x->words;
    fulcrum_stack_fit(canvas, &picture->stack, body);
    fulcrum_stack_place(canvas, &picture->stack, body);
    take_landmarks(picture, landmarks);
    size_t rows = place_flags(canvas, picture);
    for (size_t i = 0; i < picture->stack.count; i++) {
        picture->panels[i].guides = picture->guides;
        picture->panels[i].guide_count = picture->landmark_count;
    }
    picture->panels[0].strip_pt =
        rows > 0 ? (double)rows * flag_row_pt(canvas) + flags_gap_pt : 0.0;
    fulcrum_page_explain(page, FULCRUM_SWATCH_GUIDE, 0,
        picture->landmark_count > 0 ? picture->chart->landmark_name : NULL);
    fulcrum_stack_place(canvas, &picture->stack, fulcrum_page_body(canvas, page));
    fulcrum_page_draw(canvas, page);
    draw_flags(canvas, picture);
    fulcrum_stack_draw(canvas, &picture->stack);
}

void fulcrum_line_chart_draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page,
    void *room, const void *given)
{
    struct picture *picture = fulcrum_canvas_room(canvas, 1, sizeof *picture);
    const struct fulcrum_line_chart_data *data = given;
    (void)room;
    if (picture == NULL) {
        return;
    }
    begin(picture, data);
    picture->stack.panels = picture->panels;
    write_words(picture, page, data);
    if (fulcrum_table_rows(picture->table) > 0 && !take_lines(canvas, picture)) {
        return;
    }
    for (size_t i = 0; i < FULCRUM_LINE_PANELS_MAX; i++) {
        add_panel(canvas, picture, i);
    }
    if (picture->stack.count > 0) {
        fill_legend(picture, page);
        fill_top(canvas, picture);
    }
    const struct fulcrum_table *landmarks =
        fulcrum_result_table_of(data->result, "landmarks");
    if (picture->stack.count > 0 && fulcrum_table_rows(landmarks) > 0) {
        draw_with_landmarks(canvas, picture, page, landmarks);
    } else {
        fulcrum_stack_draw_on(canvas, &picture->stack, picture->x->words, page);
    }
}
