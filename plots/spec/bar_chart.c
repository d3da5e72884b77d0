/* bar_chart.c - charts of rows of bars, stacked or from end to end, as tables of a
 * result's columns. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a part of a bar is follows from the table: a column of one row, or a row of its
 * own. Colours are parts; where a part is told apart by what it ran on, that is height:
 * the upper half of a bar is the CPU's, the lower half the GPU's, so that the eye sees
 * where one of them stands still.
 */
#include "plots/spec/charts.h"

#include <math.h>
#include <string.h>

#include "model/try.h"

/* Of what only waits; busy parts are drawn in full. */
static const double pale_opacity = 0.35;
/* Less than nothing by rounding alone. */
static const double slack_frac = 1e-9;
/* Shares read off figures one by one need not add up to exactly 1. */
static const double shares_most = 1.1;
/* Far more than a GPU holds, and countable. */
static const double pieces_most = 1e6;

/* Pieces of one bar, from left to right. */
struct bar {
    size_t first; /* rows of the table */
    size_t end;
    bool is_known;
    bool has_failed;
    bool is_split; /* by CPU and GPU */
    double whole;
    double rest; /* what parts leave of it; below 0: there is none */
    double lo;   /* its interval; NAN: none */
    double hi;
    size_t count;
    struct fulcrum_row_part pieces[FULCRUM_ROW_BARS_MAX];
};

/* Bars of one panel that are not left out, by their first rows. */
struct panel {
    const struct fulcrum_bar_panel *from;
    const struct fulcrum_table *table;
    size_t first; /* row that texts of the whole panel stand in */
    size_t count;
    size_t *firsts;
    size_t shown;
    size_t left_out;
    struct fulcrum_rows beside;
};

struct picture {
    struct fulcrum_canvas *canvas;
    const struct fulcrum_bar_chart *chart;
    const struct fulcrum_result *result;
    const struct fulcrum_table *table;
    enum fulcrum_row_scale scale;
    size_t part_count;
    struct fulcrum_bar_part
        parts[FULCRUM_BAR_PARTS_MAX + 1]; /* one too many: no room */
    bool has_part[FULCRUM_BAR_PARTS_MAX + 1];
    bool has_interval;
    bool is_split;
    size_t panel_count;
    struct panel panels[FULCRUM_BAR_GROUPS_MAX];
    const char *finding; /* "": none */
};

static const char *words_at(const struct picture *picture, size_t row, const char *key)
{
    return fulcrum_chart_words(picture->table, row, key);
}

/* NAN where no such column is asked for. */
static double number_at(const struct picture *picture, size_t row, const char *key)
{
    return key != NULL ? fulcrum_table_at(picture->table, row, key).number
                       : (double)NAN;
}

/* Index of the part with that key; part_count: there is none. */
static size_t part_named(const struct picture *picture, const char *key)
{
    size_t k = 0;
    while (k < picture->part_count && strcmp(picture->parts[k].key, key) != 0) {
        k++;
    }
    return k;
}

/* The parts of the chart, or those that its rows name. */
static struct picture *begin(
    struct fulcrum_canvas *canvas, const struct fulcrum_bar_chart_data *data)
{
    static const size_t styles[] = {0, 1, 2, 3, 4, 6, 7, 5, 8};
    static const struct fulcrum_bar_chart none = {.table = ""};
    const struct fulcrum_bar_chart *chart = data->chart != NULL ? data->chart : &none;
    struct picture *picture = fulcrum_canvas_room(canvas, 1, sizeof *picture);
    *picture = (struct picture){.canvas = canvas,
        .chart = chart,
        .result = data->result,
        .table = fulcrum_chart_table(data->result, chart->table),
        .scale = data->as_shares ? FULCRUM_ROW_SHARE : chart->scale,
        .finding = ""};
    for (size_t k = 0; k < FULCRUM_BAR_PARTS_MAX && chart->parts[k].key != NULL; k++) {
        picture->parts[picture->part_count++] = chart->parts[k];
    }
    for (size_t i = 0; chart->part_column != NULL && chart->parts[0].key == NULL &&
                       i < fulcrum_table_rows(picture->table);
         i++) {
        const char *key = words_at(picture, i, chart->part_column);
        size_t k = part_named(picture, key);
        if (key[0] != '\0' && k == picture->part_count && k <= FULCRUM_BAR_PARTS_MAX) {
            picture->parts[picture->part_count++] =
                (struct fulcrum_bar_part){key, key, styles[k]};
        }
    }
    return picture;
}

static const char *name_of(
    const struct picture *picture, const char *const *keys, size_t row)
{
    const char *name = "";
    for (size_t k = 0; k < FULCRUM_BAR_NAMES_MAX && keys[k] != NULL; k++) {
        const char *text = words_at(picture, row, keys[k]);
        double number = number_at(picture, row, keys[k]);
        if (text[0] == '\0' && isfinite(number)) {
            text = fulcrum_canvas_print(picture->canvas, "%.6g", number);
        }
        name = fulcrum_canvas_join(picture->canvas, name, ": ", text);
    }
    return name;
}

/* Behind the last row of the bar that begins there. */
static size_t bar_end(const struct picture *picture, size_t first)
{
    const char *const *keys = picture->chart->bar;
    size_t end = first + 1;
    while (keys[0] != NULL && end < fulcrum_table_rows(picture->table) &&
           strcmp(name_of(picture, keys, first), name_of(picture, keys, end)) == 0) {
        end++;
    }
    return end;
}

static void add_piece(struct bar *bar, struct fulcrum_row_part piece)
{
    if (piece.size > 0.0 && bar->count < FULCRUM_ROW_BARS_MAX) {
        bar->pieces[bar->count++] = piece;
    }
}

/* One part that is a row of the table. */
static void add_part_row(const struct picture *picture, struct bar *bar, size_t row,
    struct fulcrum_row_part piece)
{
    const struct fulcrum_bar_chart *chart = picture->chart;
    double upper = number_at(picture, row, chart->upper);
    double lower = number_at(picture, row, chart->lower);
    double busy = number_at(picture, row, chart->busy);
    double count = number_at(picture, row, chart->count);
    piece.opacity = isnan(busy) ? 1.0 : pale_opacity + (1.0 - pale_opacity) * busy;
    piece.is_apart = chart->count != NULL;
    if (bar->is_split && isfinite(upper) && isfinite(lower)) {
        /* What is on both lies between its neighbours: halves stay together. */
        const double sizes[] = {upper, piece.size - upper - lower, lower};
        static const enum fulcrum_row_half halves[] = {
            FULCRUM_ROW_UPPER, FULCRUM_ROW_FULL, FULCRUM_ROW_LOWER};
        for (size_t k = 0; k < sizeof halves / sizeof halves[0]; k++) {
            piece.size = sizes[k] > slack_frac ? sizes[k] : 0.0;
            piece.half = halves[k];
            add_piece(bar, piece);
        }
        return;
    }
    size_t pieces = count > 1.0 ? (size_t)fmin(count, FULCRUM_ROW_BARS_MAX) : 1;
    for (size_t n = 0; n < pieces; n++) {
        add_piece(bar, piece);
    }
}

/* Of what a row's columns say; unknown where one of them is. */
static void take_columns(struct picture *picture, struct bar *bar)
{
    double whole = picture->chart->whole != NULL
                       ? number_at(picture, bar->first, picture->chart->whole)
                       : 1.0;
    for (size_t k = 0; k < picture->part_count; k++) {
        double size = number_at(picture, bar->first, picture->parts[k].key);
        if (picture->parts[k].key[0] == '\0') {
            size = whole - bar->whole;
            size = size < 0.0 && size >= -slack_frac * bar->whole ? 0.0 : size;
            bar->rest = size;
        }
        picture->has_part[k] |= size > 0.0;
        bar->whole += size;
        add_piece(bar, (struct fulcrum_row_part){.size = size,
                           .rgb = fulcrum_palette_pen(picture->parts[k].style).rgb});
    }
    bar->is_known = isfinite(bar->whole);
}

static void take_rows(struct picture *picture, const char *size_key, struct bar *bar)
{
    for (size_t i = bar->first; i < bar->end; i++) {
        double beyond = number_at(picture, i, size_key) -
                        number_at(picture, i, picture->chart->upper);
        bar->is_split |= beyond > slack_frac;
    }
    for (size_t k = 0; k < picture->part_count; k++) {
        struct fulcrum_row_part piece = {
            .rgb = fulcrum_palette_pen(picture->parts[k].style).rgb};
        for (size_t i = bar->first; i < bar->end; i++) {
            const char *key = words_at(picture, i, picture->chart->part_column);
            piece.size = number_at(picture, i, size_key);
            if (strcmp(key, picture->parts[k].key) == 0 && isfinite(piece.size)) {
                add_part_row(picture, bar, i, piece);
                bar->is_known = true;
                bar->whole += piece.size;
                picture->has_part[k] |= piece.size > 0.0;
            }
        }
    }
}

static struct bar bar_at(
    struct picture *picture, const struct fulcrum_bar_panel *panel, size_t first)
{
    struct bar bar = {.first = first, .end = bar_end(picture, first)};
    if (panel->is_whole) {
        bar.whole = number_at(picture, first, panel->size);
        bar.is_known = isfinite(bar.whole);
        add_piece(&bar,
            (struct fulcrum_row_part){.size = bar.whole, .rgb = FULCRUM_TONE_MUTED});
    } else if (panel->size == NULL) {
        take_columns(picture, &bar);
    } else {
        take_rows(picture, panel->size, &bar);
    }
    bar.has_failed = picture->chart->failed != NULL &&
                     isnan(number_at(picture, first, picture->chart->value));
    /* What runs without known parts has its rate, and no pieces. */
    bool may_be_empty = picture->chart->failed != NULL && !panel->is_whole;
    bar.is_known = (bar.is_known || may_be_empty) && !bar.has_failed;
    /* Relative to its own value, so that what parts do not add up to makes no shift. */
    const char *key = panel->interval != NULL ? panel->interval : "";
    struct fulcrum_cell of = fulcrum_table_at(picture->table, bar.first, key);
    bool is_amount = picture->scale == FULCRUM_ROW_AMOUNT || panel->is_whole;
    bar.lo = (double)NAN;
    bar.hi = (double)NAN;
    if (is_amount && of.number > 0.0 && of.lo > 0.0 && of.hi > 0.0) {
        double least = panel->is_inverse ? of.number / of.hi : of.lo / of.number;
        double most = panel->is_inverse ? of.number / of.lo : of.hi / of.number;
        bar.lo = bar.whole * least;
        bar.hi = bar.whole * most;
    }
    picture->has_interval |= bar.hi > bar.lo;
    picture->is_split |= bar.is_split;
    return bar;
}

/* What is no number cannot be drawn, and is named; NULL is no column. */
static enum fulcrum_status check_column(
    const struct picture *picture, const char *key, struct fulcrum_error *err)
{
    const struct fulcrum_table *table = picture->table;
    TRY(key != NULL ? fulcrum_table_check_numbers(table, key, err) : FULCRUM_OK);
    for (size_t i = 0; key != NULL && i < fulcrum_table_rows(table); i++) {
        double value = fulcrum_table_at(table, i, key).number;
        FAIL_IF(isinf(value) || value < 0.0, err, FULCRUM_ERR_RANGE,
            "row %zu: %s is %g: expected 0 or more", i + 1, key, value);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status need_column(
    const struct picture *picture, const char *key, struct fulcrum_error *err)
{
    FAIL_IF(key != NULL && fulcrum_table_find(picture->table, key) ==
                               fulcrum_table_columns(picture->table),
        err, FULCRUM_ERR_FORMAT, "no column '%s', which the chart needs", key);
    return check_column(picture, key, err);
}

static enum fulcrum_status check_columns(
    const struct picture *picture, struct fulcrum_error *err)
{
    const struct fulcrum_bar_chart *chart = picture->chart;
    const char *const own[] = {chart->upper, chart->lower, chart->count, chart->busy};
    for (size_t k = 0; k < FULCRUM_BAR_PARTS_MAX && chart->part_column == NULL; k++) {
        const char *key = chart->parts[k].key;
        TRY(need_column(picture, key != NULL && key[0] != '\0' ? key : NULL, err));
    }
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++) {
        TRY(check_column(picture, own[k], err));
    }
    TRY(need_column(picture, chart->whole, err));
    for (size_t i = 0; i < FULCRUM_BAR_PANELS_MAX; i++) {
        TRY(need_column(picture, chart->panels[i].size, err));
        TRY(check_column(picture, chart->panels[i].interval, err));
        TRY(check_column(picture, chart->panels[i].rate, err));
    }
    return FULCRUM_OK;
}

/* A part that is a row of the table. */
static enum fulcrum_status check_part(const struct picture *picture, const char *size,
    size_t row, struct fulcrum_error *err)
{
    const struct fulcrum_bar_chart *chart = picture->chart;
    double value = number_at(picture, row, size);
    double count = number_at(picture, row, chart->count);
    const char *key = words_at(picture, row, chart->part_column);
    const char *name = name_of(picture, chart->panels[0].names, row);
    bool is_part = part_named(picture, key) < picture->part_count;
    FAIL_IF(is_part && chart->need != NULL && isnan(value), err,
        FULCRUM_ERR_UNSUPPORTED, "%s %s: %s of %s is not known: %s", chart->bar[0],
        name, size, key, chart->need);
    FAIL_IF(isfinite(count) &&
                !(count >= 1.0 && count <= pieces_most && count == floor(count)),
        err, FULCRUM_ERR_RANGE, "%s: %s = %.6g: expected a whole number from 1 to %.0f",
        name, chart->count, count, pieces_most);
    const char *const shares[] = {size, chart->busy};
    for (size_t k = 0; k < 2 && chart->scale == FULCRUM_ROW_OF_ONE; k++) {
        double share = number_at(picture, row, shares[k]);
        FAIL_IF(share > shares_most, err, FULCRUM_ERR_RANGE,
            "%s: %s of %s is %g: expected a share of 1", name, shares[k], key, share);
    }
    return FULCRUM_OK;
}

/* "15.6 ms, 16.4k steps/s", "0.58 (0.38 to 0.89)". */
static const char *text_of(const struct picture *picture,
    const struct fulcrum_bar_panel *panel, const struct bar *bar)
{
    struct fulcrum_canvas *canvas = picture->canvas;
    double rate = number_at(picture, bar->first, panel->rate);
    const char *text = "";
    if (!bar->is_known) {
        return bar->has_failed ? picture->chart->failed : "";
    }
    if (panel->is_number) {
        text = isfinite(bar->lo) ? fulcrum_canvas_print(canvas, "%.2f (%.2f to %.2f)",
                                       bar->whole, bar->lo, bar->hi)
                                 : fulcrum_canvas_print(canvas, "%.2f", bar->whole);
    } else if (panel->unit != NULL) {
        text = fulcrum_canvas_print(
            canvas, "%s", fulcrum_si_text(bar->whole, 3, panel->unit).chars);
    }
    if (isfinite(rate)) {
        text = fulcrum_canvas_join(canvas, text, ", ",
            fulcrum_canvas_print(
                canvas, "%s steps/s", fulcrum_si_text(rate, 3, NULL).chars));
    }
    return fulcrum_canvas_join(
        canvas, text, ", ", words_at(picture, bar->first, panel->text));
}

/* Name, pieces, interval and words of one bar. */
static struct fulcrum_row row_at(
    struct picture *picture, const struct fulcrum_bar_panel *panel, size_t first)
{
    struct fulcrum_row row = {.name = name_of(picture, panel->names, first)};
    if (panel->spans[0].key != NULL) {
        for (size_t k = 0; k < FULCRUM_BAR_SPANS_MAX && panel->spans[k].key != NULL;
             k++) {
            const struct fulcrum_bar_span *span = &panel->spans[k];
            struct fulcrum_cell cell =
                fulcrum_table_at(picture->table, first, span->key);
            if (isfinite(cell.lo) && isfinite(cell.hi)) {
                row.bars[row.bar_count++] = (struct fulcrum_row_bar){cell.lo, cell.hi,
                    span->top_frac, span->bottom_frac,
                    fulcrum_palette_pen(span->style).rgb, span->opacity, ""};
            }
        }
        row.has_mark = panel->mark != NULL;
        row.mark = number_at(picture, first, panel->mark);
        row.detail = words_at(picture, first, panel->detail);
        row.lo_text = words_at(picture, first, panel->lo_text);
        row.hi_text = words_at(picture, first, panel->hi_text);
        row.text = words_at(picture, first, panel->text);
        return row;
    }
    const struct bar bar = bar_at(picture, panel, first);
    row.text = text_of(picture, panel, &bar);
    if (bar.is_known) {
        (void)fulcrum_row_stack(&row, bar.pieces, bar.count,
            panel->is_whole ? FULCRUM_ROW_AMOUNT : picture->scale);
        if (panel->is_whole) {
            row.bars[0].text[0] = '\0';
        }
        fulcrum_row_interval(&row, bar.lo, bar.hi);
    }
    return row;
}

/* Rows rise in rank; those without are but counted. Few: each moves up to its place. */
static void add_row_of(const struct picture *picture, struct panel *panel, size_t row)
{
    const char *rank = panel->from->rank;
    double own = number_at(picture, row, rank);
    size_t at = panel->count;
    if (rank != NULL && !isfinite(own)) {
        panel->left_out++;
        return;
    }
    for (; rank != NULL && at > 0 &&
           number_at(picture, panel->firsts[at - 1], rank) > own;
         at--) {
        panel->firsts[at] = panel->firsts[at - 1];
    }
    panel->firsts[at] = row;
    panel->count++;
}

/*
 * A panel for the rows from `first` on that are alike in its group; their end follows.
 * Bars of unknown parts are left out, unless they say so, or set groups apart.
 */
static enum fulcrum_status add_panel(struct picture *picture,
    const struct fulcrum_bar_panel *from, size_t *first, struct fulcrum_error *err)
{
    struct panel *panel = &picture->panels[picture->panel_count];
    size_t rows = fulcrum_table_rows(picture->table);
    const char *group = words_at(picture, *first, from->group);
    *panel = (struct panel){.from = from,
        .table = picture->table,
        .first = *first,
        .firsts =
            fulcrum_canvas_room(picture->canvas, rows - *first, sizeof *panel->firsts)};
    while (
        *first < rows && strcmp(group, words_at(picture, *first, from->group)) == 0) {
        size_t row = (*first)++;
        if (from->spans[0].key != NULL) {
            add_row_of(picture, panel, row);
            continue;
        }
        const struct bar bar = bar_at(picture, from, row);
        const struct fulcrum_bar_chart *chart = picture->chart;
        const char *name = name_of(picture, from->names, bar.first);
        FAIL_IF(chart->failed != NULL && !bar.is_known && !bar.has_failed, err,
            FULCRUM_ERR_RANGE, "%s: %s is not known", name, from->size);
        bool has_parts = chart->part_column != NULL && !from->is_whole;
        for (size_t i = bar.first; i < bar.end && has_parts; i++) {
            TRY(check_part(picture, from->size, i, err));
        }
        FAIL_IF(bar.rest < 0.0, err, FULCRUM_ERR_RANGE,
            "row %zu: what is left of %s is %g: expected 0 or more", bar.first + 1,
            chart->whole != NULL ? chart->whole : "the whole", bar.rest);
        FAIL_IF(bar.end - bar.first > FULCRUM_ROW_BARS_MAX, err, FULCRUM_ERR_RANGE,
            "%s: more than %d parts: too many for a bar", name,
            (int)FULCRUM_ROW_BARS_MAX);
        FAIL_IF(chart->scale == FULCRUM_ROW_OF_ONE && chart->count == NULL &&
                    !from->is_whole && !(bar.whole <= shares_most),
            err, FULCRUM_ERR_RANGE, "shares of %s add up to %g: expected at most %g",
            name, bar.whole, shares_most);
        if (bar.is_known || bar.has_failed ||
            name_of(picture, from->names, row)[0] == '\0') {
            panel->firsts[panel->count++] = row;
        }
        *first = bar.end;
    }
    panel->shown = panel->count;
    picture->panel_count += panel->count > 0 ? 1 : 0;
    return FULCRUM_OK;
}

/* Which bars the panels have. */
static enum fulcrum_status find_panels(
    struct picture *picture, struct fulcrum_error *err)
{
    const struct fulcrum_bar_chart *chart = picture->chart;
    TRY(fulcrum_table_rows(picture->table) > 0 ? check_columns(picture, err)
                                               : FULCRUM_OK);
    FAIL_IF(picture->part_count > FULCRUM_BAR_PARTS_MAX, err, FULCRUM_ERR_RANGE,
        "more than %d different %s: too many for a chart", (int)FULCRUM_BAR_PARTS_MAX,
        chart->part_column);
    for (size_t k = 0; k < FULCRUM_BAR_PANELS_MAX && chart->panels[k].x_label != NULL;
         k++) {
        const struct fulcrum_bar_panel *from = &chart->panels[k];
        size_t first = 0;
        picture->table = fulcrum_chart_table(
            picture->result, from->table != NULL ? from->table : chart->table);
        while (first < fulcrum_table_rows(picture->table) &&
               picture->panel_count < FULCRUM_BAR_GROUPS_MAX) {
            TRY(add_panel(picture, from, &first, err));
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_bar_chart_check(const void *data, struct fulcrum_error *err)
{
    struct fulcrum_canvas *canvas = NULL;
    TRY(fulcrum_canvas_new(
        &canvas, FULCRUM_CHART_LEAST_WIDTH_PT, FULCRUM_CHART_LEAST_HEIGHT_PT, err));
    enum fulcrum_status status = find_panels(begin(canvas, data), err);
    fulcrum_canvas_free(canvas);
    return status;
}

/* Of many points the first and the last, the others at equal distances. */
static const struct fulcrum_row *rows_of(struct picture *picture,
    const struct panel *panel, const struct fulcrum_bar_panel *from)
{
    size_t gaps = panel->shown > 1 ? panel->shown - 1 : 1;
    struct fulcrum_row *rows =
        fulcrum_canvas_room(picture->canvas, panel->shown, sizeof *rows);
    for (size_t i = 0; i < panel->shown; i++) {
        size_t k = panel->count <= panel->shown
                       ? i
                       : (i * (panel->count - 1) + gaps / 2) / gaps;
        rows[i] = row_at(picture, from, panel->firsts[k]);
    }
    return rows;
}

static struct fulcrum_rows lay_rows(struct picture *picture, const struct panel *panel,
    const struct fulcrum_bar_panel *from)
{
    picture->table = panel->table;
    bool is_share = picture->scale == FULCRUM_ROW_SHARE;
    bool is_stack = from->spans[0].key == NULL;
    double stack_pad_frac = from->is_number ? 0.03 : 0.01;
    double centre = is_stack && !(from->centre > 0.0) ? (double)NAN : from->centre;
    const char *unit = from->unit_column != NULL
                           ? words_at(picture, panel->first, from->unit_column)
                           : from->unit;
    bool has_unit = !is_share && unit != NULL && unit[0] != '\0';
    const char *finding = from->finding != NULL
                              ? words_at(picture, panel->first, from->finding)
                              : picture->finding;
    return (struct fulcrum_rows){
        .title = from->group != NULL ? words_at(picture, panel->first, from->group)
                                     : from->title,
        .finding = finding[0] != '\0' ? finding : NULL,
        .x_label = is_share ? "share of the whole" : from->x_label,
        .rows = rows_of(picture, panel, from),
        .count = panel->shown,
        .options = {.kind = FULCRUM_AXIS_LINEAR,
            .pad_frac = is_stack ? stack_pad_frac : 0.04,
            .from_zero = is_stack || from->reach > 0.0,
            .unit = has_unit ? unit : NULL},
        .centre = from->centre_column != NULL
                      ? number_at(picture, panel->first, from->centre_column)
                      : centre,
        .reach = from->reach > 0.0 ? from->reach : (double)NAN,
        .left_out = panel->left_out,
        .lines_per_row = from->lines_per_row,
        .row_most_pt = from->row_most_pt};
}

/* Whether some row that is shown has the span. */
static bool has_span(const struct panel *panel, const struct fulcrum_bar_span *span)
{
    for (size_t i = 0; i < panel->count; i++) {
        struct fulcrum_cell cell =
            fulcrum_table_at(panel->table, panel->firsts[i], span->key);
        if (isfinite(cell.lo) && isfinite(cell.hi)) {
            return true;
        }
    }
    return false;
}

static bool has_beside(const struct picture *picture, const struct panel *panel)
{
    return panel->from->beside != NULL && fulcrum_rows_have_beside(picture->canvas);
}

/* What several panels have is explained once. */
static void explain_spans(const struct panel *panel,
    const struct fulcrum_bar_panel *from, struct fulcrum_page *page)
{
    for (size_t k = 0; k < FULCRUM_BAR_SPANS_MAX && from->spans[k].key != NULL; k++) {
        const struct fulcrum_bar_span *span = &from->spans[k];
        fulcrum_page_explain(page, 0, span->swatch, span->style,
            has_span(panel, span) ? span->name : NULL);
    }
    fulcrum_page_explain(
        page, 0, FULCRUM_SWATCH_DIAMOND, FULCRUM_ROW_INTERVAL_STYLE, from->mark_name);
}

/* Parts that no bar has are not explained, nor what has no place. */
static void explain_bars(const struct picture *picture, struct fulcrum_page *page)
{
    for (size_t k = 0; k < picture->part_count; k++) {
        fulcrum_page_explain(page, 0, FULCRUM_SWATCH_STACK, picture->parts[k].style,
            picture->has_part[k] ? picture->parts[k].name : NULL);
    }
    fulcrum_page_explain(page, 0, FULCRUM_SWATCH_LINE, FULCRUM_ROW_INTERVAL_STYLE,
        picture->has_interval ? picture->chart->interval_name : NULL);
    for (size_t i = 0; i < picture->panel_count; i++) {
        const struct panel *panel = &picture->panels[i];
        explain_spans(panel, panel->from, page);
        if (has_beside(picture, panel)) {
            explain_spans(panel, panel->from->beside, page);
        }
    }
}

/* How many bars of a sweep find a place. */
static void thin_out(struct picture *picture, struct fulcrum_rect body)
{
    static const char words[] = "%zu of %zu points, a larger page has room for more";
    struct fulcrum_canvas *canvas = picture->canvas;
    /* Whether the sentence has a line of its own is settled with its longest form. */
    const struct fulcrum_header widest = {picture->chart->panels[0].title,
        fulcrum_canvas_print(canvas, words, (size_t)1000, (size_t)1000)};
    struct panel *panel = &picture->panels[0];
    size_t places = fulcrum_rows_room(canvas, &widest, body);
    if (picture->chart->is_sweep && places < panel->count) {
        panel->shown = places;
        picture->finding = fulcrum_canvas_print(canvas, words, places, panel->count);
    }
    if (picture->is_split) {
        picture->finding =
            "upper half: CPU only, lower half: GPU only, full height: both";
    }
}

void fulcrum_bar_chart_draw(
    struct fulcrum_canvas *canvas, struct fulcrum_page *page, const void *given)
{
    struct picture *picture = begin(canvas, given);
    struct fulcrum_rows rows[FULCRUM_BAR_GROUPS_MAX];
    if (find_panels(picture, fulcrum_canvas_failure(canvas)) != FULCRUM_OK) {
        return;
    }
    const struct {
        const char **text;
        const char *key;
        const char *own;
    } words[] = {{&page->title, "title", picture->chart->title},
        {&page->subtitle, "subtitle", picture->chart->subtitle},
        {&page->footnote, "footnote", picture->chart->footnote}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *said = fulcrum_result_text_of(picture->result, words[i].key);
        const char *text = said[0] != '\0' ? said : words[i].own;
        *words[i].text = *words[i].text != NULL ? *words[i].text : text;
    }
    if (picture->panel_count == 0) {
        fulcrum_page_draw_empty(canvas, page);
        return;
    }
    explain_bars(picture, page);
    struct fulcrum_rect body = fulcrum_page_body(canvas, page);
    thin_out(picture, body);
    fulcrum_page_draw(canvas, page);
    for (size_t i = 0; i < picture->panel_count; i++) {
        struct panel *panel = &picture->panels[i];
        rows[i] = lay_rows(picture, panel, panel->from);
        if (has_beside(picture, panel)) {
            panel->beside = lay_rows(picture, panel, panel->from->beside);
            rows[i].beside = &panel->beside;
        }
    }
    fulcrum_rows_draw(canvas, rows, picture->panel_count, body);
}
