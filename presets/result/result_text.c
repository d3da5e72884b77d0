/* result_text.c - a result as people read it in a terminal. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Facts are lines of title and value, tables are aligned: texts to the left, numbers to
 * the right, each in the unit that suits it, the interval in a column behind its value.
 * Columns that do not fit into the line are named below the table.
 */
#include "presets/result/result_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "presets/io/output.h"

enum { GAP = 2 };

/* A text runs on from a line that has room for so many characters of it. */
enum { RUN_ON = 20 };

/* With control characters, and bytes that are no UTF-8, made visible. */
static void print_text(FILE *stream, const char *text)
{
    static const struct fulcrum_escape escapes[] = {{'\x7F', "?"}, {'\0', NULL}};
    fulcrum_print_escaped(stream, text, escapes, "?");
}

/* Characters on the screen: bytes that do not continue a UTF-8 sequence. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xC0U) != 0x80U;
    }
    return width;
}

const char *fulcrum_shown_title(const char *title, const char *key)
{
    return title != NULL ? title : key;
}

bool fulcrum_cell_is_known(const struct fulcrum_cell *cell)
{
    return cell->text != NULL ? cell->text[0] != '\0' : !isnan(cell->number);
}

bool fulcrum_column_is_shown(const struct fulcrum_table *table, size_t column, bool all)
{
    struct fulcrum_column shown = fulcrum_table_column(table, column);
    bool says = false;
    for (size_t i = 0; i < fulcrum_table_rows(table) && !says; i++) {
        struct fulcrum_cell cell = fulcrum_table_cell(table, i, column);
        says = fulcrum_cell_is_known(&cell);
    }
    if (all) {
        return strcmp(shown.key, "unit") != 0; /* stands behind the values */
    }
    return says && shown.title != NULL && !shown.is_hidden;
}

void fulcrum_cell_show(const struct fulcrum_cell *cell, enum fulcrum_value_kind kind,
    const char *unit, enum fulcrum_style style, struct fulcrum_shown_cell *out)
{
    out->number[0] = '\0';
    out->range[0] = '\0';
    out->value = out->number;
    if (cell->text != NULL) {
        out->value = cell->text;
    } else if (kind == FULCRUM_VALUE_FLAG && !isnan(cell->number)) {
        out->value = cell->number != 0.0 ? "yes" : "no";
    } else if (style == FULCRUM_STYLE_WORDS) {
        fulcrum_quantity_words(cell->number, unit, out->number);
        fulcrum_range_words(cell->lo, cell->hi, cell->number, unit, out->range);
    } else if (kind != FULCRUM_VALUE_TEXT || !isnan(cell->number)) {
        fulcrum_quantity_plain(cell->number, unit, out->number);
        fulcrum_range_plain(cell->lo, cell->hi, cell->number, unit, out->range);
    }
}

/* One column on the screen: the values of a table's column, or its intervals. */
struct shown {
    size_t column;
    bool is_range;
    size_t width;
};

struct view {
    const struct fulcrum_table *table;
    struct shown *items;
    size_t count;
};

static const char *heading_of(const struct view *view, const struct shown *shown)
{
    struct fulcrum_column column = fulcrum_table_column(view->table, shown->column);
    return shown->is_range ? "90 % interval"
                           : fulcrum_shown_title(column.title, column.key);
}

static const char *text_of(const struct view *view, const struct shown *shown,
    size_t row, struct fulcrum_shown_cell *room)
{
    struct fulcrum_column column = fulcrum_table_column(view->table, shown->column);
    struct fulcrum_cell cell = fulcrum_table_cell(view->table, row, shown->column);
    const char *unit = fulcrum_table_unit(view->table, row, shown->column);
    fulcrum_cell_show(&cell, column.kind, unit, FULCRUM_STYLE_PLAIN, room);
    return shown->is_range ? room->range : room->value;
}

static bool has_range(const struct fulcrum_table *table, size_t column)
{
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        struct fulcrum_cell cell = fulcrum_table_cell(table, i, column);
        if (cell.lo < cell.hi) {
            return true;
        }
    }
    return false;
}

static void add_shown(struct view *view, size_t column, bool is_range)
{
    struct shown *shown = &view->items[view->count++];
    *shown = (struct shown){column, is_range, 0};
    shown->width = width_of(heading_of(view, shown));
    for (size_t i = 0; i < fulcrum_table_rows(view->table); i++) {
        struct fulcrum_shown_cell room;
        size_t width = width_of(text_of(view, shown, i, &room));
        shown->width = width > shown->width ? width : shown->width;
    }
}

/* Of those in `view`; one at least. A long text at the end may run on. */
static size_t count_fitting(const struct view *view, size_t width)
{
    size_t used = 0;
    size_t count = 0;
    while (count < view->count &&
           (width == 0 || count == 0 || used + view->items[count].width <= width)) {
        used += view->items[count++].width + GAP;
    }
    bool runs_on = count < view->count && used + RUN_ON <= width &&
                   fulcrum_table_column(view->table, view->items[count].column).kind ==
                       FULCRUM_VALUE_TEXT;
    return count + (runs_on ? 1 : 0);
}

/* Intervals behind the first one give way before columns do. */
static size_t drop_ranges(struct view *view)
{
    size_t kept = 0;
    size_t ranges = 0;
    for (size_t j = 0; j < view->count; j++) {
        ranges += view->items[j].is_range ? 1 : 0;
        if (!view->items[j].is_range || ranges == 1) {
            view->items[kept++] = view->items[j];
        }
    }
    size_t dropped = view->count - kept;
    view->count = kept;
    return dropped;
}

/* No line ends in blanks: neither in padding nor in empty cells. */
static void print_line(
    const struct view *view, size_t count, FILE *stream, size_t row, bool is_heading)
{
    size_t blanks = 0;
    for (size_t j = 0; j < count; j++) {
        struct fulcrum_shown_cell room;
        const struct shown *shown = &view->items[j];
        struct fulcrum_column column = fulcrum_table_column(view->table, shown->column);
        const char *text =
            is_heading ? heading_of(view, shown) : text_of(view, shown, row, &room);
        size_t rest = shown->width - width_of(text);
        bool is_right = column.kind == FULCRUM_VALUE_NUMBER;
        blanks += is_right ? rest : 0;
        if (text[0] != '\0') {
            (void)fprintf(stream, "%*s", (int)blanks, "");
            print_text(stream, text);
            blanks = 0;
        }
        blanks += (is_right ? 0 : rest) + GAP;
    }
    (void)fputc('\n', stream);
}

static void print_left_out(
    const struct view *view, size_t count, size_t dropped, FILE *stream)
{
    const char *between = "";
    if (count == view->count && dropped == 0) {
        return;
    }
    (void)fputs("not shown (--all shows it): ", stream);
    if (dropped > 0) {
        (void)fputs("further intervals", stream);
        between = ", ";
    }
    for (size_t j = count; j < view->count; j++) {
        if (!view->items[j].is_range) {
            (void)fputs(between, stream);
            print_text(stream, heading_of(view, &view->items[j]));
            between = ", ";
        }
    }
    (void)fputc('\n', stream);
}

static void print_table(const struct fulcrum_table *table,
    const struct fulcrum_text_layout *layout, FILE *stream)
{
    size_t columns = fulcrum_table_columns(table);
    struct view view = {
        .table = table, .items = calloc(2 * columns + 1, sizeof *view.items)};
    if (view.items == NULL) {
        return;
    }
    for (size_t j = 0; j < columns; j++) {
        if (fulcrum_column_is_shown(table, j, layout->all)) {
            add_shown(&view, j, false);
            if (has_range(table, j)) {
                add_shown(&view, j, true);
            }
        }
    }
    size_t width = layout->all ? 0 : layout->width;
    size_t count = count_fitting(&view, width);
    size_t dropped = count < view.count ? drop_ranges(&view) : 0;
    count = count_fitting(&view, width);
    if (view.count > 0) {
        print_line(&view, count, stream, 0, true);
    }
    for (size_t i = 0; i < fulcrum_table_rows(table) && view.count > 0; i++) {
        print_line(&view, count, stream, i, false);
    }
    print_left_out(&view, count, dropped, stream);
    free(view.items);
}

static bool is_fact(const struct fulcrum_item *item, bool all)
{
    return item->table == NULL && item->key[0] != '\0' &&
           (all || (item->title != NULL && fulcrum_cell_is_known(&item->cell)));
}

/* What facts that follow each other take: of titles, and of values with intervals. */
struct fact_widths {
    size_t title;
    size_t value;
};

static void show_fact(const struct fulcrum_item *item, struct fulcrum_shown_cell *out)
{
    fulcrum_cell_show(
        &item->cell, item->kind, fulcrum_unit_of(item->key), FULCRUM_STYLE_PLAIN, out);
}

static void widen(struct fact_widths *widths, const struct fulcrum_item *item)
{
    struct fulcrum_shown_cell cell;
    show_fact(item, &cell);
    size_t title = width_of(fulcrum_shown_title(item->title, item->key));
    size_t value = width_of(cell.value);
    widths->title = title > widths->title ? title : widths->title;
    widths->value = item->has_ends && value > widths->value ? value : widths->value;
}

static void print_fact(
    const struct fulcrum_item *item, const struct fact_widths *widths, FILE *stream)
{
    struct fulcrum_shown_cell cell;
    show_fact(item, &cell);
    const char *title = fulcrum_shown_title(item->title, item->key);
    size_t width = width_of(cell.value);
    size_t rest = widths->value > width ? widths->value - width : 0;
    (void)fprintf(
        stream, "%s%*s", title, (int)(widths->title - width_of(title) + GAP), "");
    print_text(stream, cell.value);
    if (item->has_ends && cell.range[0] != '\0') {
        (void)fprintf(stream, "%*s(90 %%: %s)", (int)rest + GAP, "", cell.range);
    }
    (void)fputc('\n', stream);
}

/* Facts that follow each other are aligned with each other; `between` becomes "\n". */
static size_t print_facts(const struct fulcrum_result *result, size_t from,
    const struct fulcrum_text_layout *layout, const char **between, FILE *stream)
{
    struct fact_widths widths = {0, 0};
    size_t end = from;
    const char *gap = *between;
    for (; end < fulcrum_result_count(result); end++) {
        const struct fulcrum_item *item = fulcrum_result_item(result, end);
        if (item->table != NULL || (item->key[0] == '\0' && end > from)) {
            break;
        }
        if (is_fact(item, layout->all)) {
            widen(&widths, item);
        }
    }
    for (size_t i = from; i < end; i++) {
        const struct fulcrum_item *item = fulcrum_result_item(result, i);
        if (is_fact(item, layout->all)) {
            (void)fputs(gap, stream);
            gap = "";
            *between = "\n";
            print_fact(item, &widths, stream);
        }
    }
    return end;
}

static bool is_shown_table(const struct fulcrum_item *item, bool all)
{
    if (item->is_list) {
        return fulcrum_table_rows(item->table) > 0 &&
               fulcrum_table_cell(item->table, 0, 0).text != NULL;
    }
    return fulcrum_table_rows(item->table) > 0 &&
           (all ? item->key[0] != '\0' : item->title != NULL);
}

/* Facts, tables and notes, an empty line between them. */
void fulcrum_result_text_write(const struct fulcrum_result *result,
    const struct fulcrum_text_layout *layout, FILE *stream)
{
    const char *between = "";
    for (size_t i = 0; i < fulcrum_result_count(result);) {
        const struct fulcrum_item *item = fulcrum_result_item(result, i);
        if (item->table == NULL) {
            i = print_facts(result, i, layout, &between, stream);
            continue;
        }
        i++;
        if (!is_shown_table(item, layout->all)) {
            continue;
        }
        (void)fputs(between, stream);
        between = "\n";
        if (item->is_list) {
            for (size_t k = 0; k < fulcrum_table_rows(item->table); k++) {
                (void)fputs("note: ", stream);
                print_text(stream, fulcrum_table_cell(item->table, k, 0).text);
                (void)fputc('\n', stream);
            }
            continue;
        }
        const char *title = fulcrum_shown_title(item->title, item->key);
        if (title[0] != '\0') {
            (void)fprintf(stream, "%s\n", title);
        }
        print_table(item->table, layout, stream);
    }
}
